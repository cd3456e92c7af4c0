//! The fast algorithms against the definitions, on random graphs.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::map::{Cfg, Edge, EdgeLabel, Event, Node, NodeKind, Place};
use crate::{EdgeId, FileId, Id, MarkerId, NodeId};

/// Node 0 is the entry and node 1 the exit. Edges of a node with several carry outcomes of a marker of that node.
pub(super) fn cfg(nodes: usize, edges: &[(usize, usize)]) -> Cfg {
    let place = Place { file: FileId(0), line: 1, column: 1 };
    let node = |index: usize| {
        let branches = edges.iter().filter(|edge| edge.0 == index).count() > 1;
        let kind = if branches { NodeKind::Condition(MarkerId::new(index)) } else { NodeKind::Statement };
        Node { kind, place, text: String::new() }
    };
    let edge = |index: usize| {
        let (from, to) = edges[index];
        let outcome = edges[..index].iter().filter(|earlier| earlier.0 == from).count() as u32;
        let branches = edges.iter().filter(|other| other.0 == from).count() > 1;
        let event = Event { marker: MarkerId::new(from), outcome };
        let label = if branches { EdgeLabel::Outcome(event) } else { EdgeLabel::Always };
        Edge { from: NodeId::new(from), to: NodeId::new(to), label }
    };
    Cfg {
        nodes: (0..nodes).map(node).collect(),
        edges: (0..edges.len()).map(edge).collect(),
        entry: NodeId(0),
        exit: NodeId(1),
    }
}

fn random_digraph() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (2usize..10).prop_flat_map(|nodes| (Just(nodes), prop::collection::vec((0..nodes, 0..nodes), 0..2 * nodes)))
}

/// As front ends make them: nothing leaves the exit.
pub(super) fn random_cfg() -> impl Strategy<Value = Cfg> {
    random_digraph().prop_map(|(nodes, mut edges)| {
        edges.retain(|edge| edge.0 != 1);
        cfg(nodes, &edges)
    })
}

/// Which vertices a path from `starts` reaches without touching `without`.
fn reached_without(graph: &Digraph, starts: &[usize], without: usize) -> Vec<bool> {
    let edges: Vec<_> = graph.edges().filter(|(from, to)| *from != without && *to != without).collect();
    let root = graph.vertex_count();
    let starts = starts.iter().filter(|start| **start != without).map(|start| (root, *start));
    Digraph::new(root + 1, &edges.iter().copied().chain(starts).collect::<Vec<_>>()).reachable_from(root)
}

/// `above` is on every path from `starts` to `below`, and there is one.
fn on_every_path(graph: &Digraph, starts: &[usize], above: usize, below: usize) -> bool {
    let nowhere = usize::MAX;
    reached_without(graph, starts, nowhere)[below] && !reached_without(graph, starts, above)[below]
}

pub(super) struct NaiveEdges {
    pub(super) reachable: Vec<EdgeId>,
    graph: Digraph,
    first: Vec<usize>,
    last: Vec<usize>,
}

impl NaiveEdges {
    pub(super) fn new(cfg: &Cfg) -> Self {
        let EdgeGraph { vertices, arcs, first, last } = edge_graph(cfg);
        let arcs: Vec<_> = arcs.iter().map(|(from, to)| (from.index(), to.index())).collect();
        let index = |edges: Vec<EdgeId>| edges.iter().map(|edge| edge.index()).collect();
        let graph = Digraph::new(cfg.edges.len(), &arcs);
        NaiveEdges { reachable: vertices, graph, first: index(first), last: index(last) }
    }
    fn dominates(&self, above: EdgeId, below: EdgeId) -> bool {
        on_every_path(&self.graph, &self.first, above.index(), below.index())
    }
    fn postdominates(&self, above: EdgeId, below: EdgeId) -> bool {
        on_every_path(&self.graph.reversed(), &self.last, above.index(), below.index())
    }
    /// Every complete execution through `edge` takes `other`: a prefix and a suffix that avoid it make one that does
    /// not.
    pub(super) fn implies(&self, edge: EdgeId, other: EdgeId) -> bool {
        self.dominates(other, edge) || self.postdominates(other, edge)
    }
    fn covered_by(&self, goals: &[EdgeId]) -> BTreeSet<EdgeId> {
        let covered = |edge: &EdgeId| goals.iter().any(|goal| self.implies(*goal, *edge));
        self.reachable.iter().copied().filter(covered).collect()
    }
    /// The edges that are implied only by edges that they imply themselves; of those that imply each other, the one
    /// that all others dominate.
    fn unconstrained(&self) -> Vec<EdgeId> {
        let unconstrained = |edge: EdgeId| {
            self.reachable
                .iter()
                .all(|&other| !self.implies(other, edge) || (self.implies(edge, other) && self.dominates(other, edge)))
        };
        self.reachable.iter().copied().filter(|edge| unconstrained(*edge)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn immediate_dominators_are_the_nearest_on_every_path((vertices, edges) in random_digraph()) {
        let graph = Digraph::new(vertices, &edges);
        let immediate = immediate_dominators(&graph, 0);
        for (below, found) in immediate.into_iter().enumerate() {
            let strict: Vec<_> =
                (0..vertices).filter(|&above| above != below && on_every_path(&graph, &[0], above, below)).collect();
            let nearest = strict.iter().copied().find(|&candidate| {
                strict.iter().all(|&other| on_every_path(&graph, &[0], other, candidate))
            });
            prop_assert_eq!(found, nearest);
        }
    }

    #[test]
    fn components_are_mutually_reachable((vertices, edges) in random_digraph()) {
        let graph = Digraph::new(vertices, &edges);
        let component = graph.components();
        let reach: Vec<_> = (0..vertices).map(|vertex| graph.reachable_from(vertex)).collect();
        for from in 0..vertices {
            for to in 0..vertices {
                prop_assert_eq!(component[from] == component[to], reach[from][to] && reach[to][from]);
                prop_assert!(!reach[from][to] || component[from] >= component[to]);
            }
        }
    }

    #[test]
    fn node_trees_are_the_definition(cfg in random_cfg()) {
        let graph = control::node_digraph(&cfg);
        let dominators = node_dominators(&cfg);
        let reachable = reachable_nodes(&cfg);
        for endless in [EndlessLoops::StopAnywhere, EndlessLoops::StopAtHeads] {
            let postdominators = node_postdominators(&cfg, endless);
            let ends: Vec<_> = final_nodes(&cfg, endless).iter().map(|node| node.index()).collect();
            for above in cfg.nodes.ids() {
                prop_assert_eq!(reachable[above], postdominators.contains(above));
                prop_assert_eq!(reachable[above], dominators.contains(above));
                for below in cfg.nodes.ids() {
                    let (a, b) = (above.index(), below.index());
                    prop_assert_eq!(dominators.dominates(above, below), on_every_path(&graph, &[0], a, b));
                    let naive = reachable[above] && reachable[below] && on_every_path(&graph.reversed(), &ends, a, b);
                    prop_assert_eq!(postdominators.dominates(above, below), naive);
                }
            }
        }
    }

    #[test]
    fn control_dependence_is_the_definition(cfg in random_cfg()) {
        let postdominators = node_postdominators(&cfg, EndlessLoops::StopAtHeads);
        let mut naive = Vec::new();
        for node in cfg.nodes.ids() {
            for (edge, Edge { from, to, label }) in cfg.edges.iter() {
                let strictly = node != *from && postdominators.dominates(node, *from);
                if *label != EdgeLabel::Always && postdominators.dominates(node, *to) && !strictly {
                    naive.push(ControlDependence { node, on: *from, edge });
                }
            }
        }
        naive.sort();
        naive.retain(|dependence| postdominators.contains(dependence.on));
        prop_assert_eq!(control_dependence(&cfg), naive);
    }

    #[test]
    fn edge_trees_are_the_definition(cfg in random_cfg()) {
        let naive = NaiveEdges::new(&cfg);
        let (dominators, postdominators) = (edge_dominators(&cfg), edge_postdominators(&cfg));
        for above in cfg.edges.ids() {
            prop_assert_eq!(dominators.contains(above), naive.reachable.contains(&above));
            prop_assert_eq!(postdominators.contains(above), naive.reachable.contains(&above));
            for below in cfg.edges.ids() {
                prop_assert_eq!(dominators.dominates(above, below), naive.dominates(above, below));
                prop_assert_eq!(postdominators.dominates(above, below), naive.postdominates(above, below));
            }
        }
    }

    #[test]
    fn unconstrained_edges_cover_everything_and_none_is_spare(cfg in random_cfg()) {
        let naive = NaiveEdges::new(&cfg);
        let unconstrained = unconstrained_edges(&cfg);
        prop_assert_eq!(&unconstrained, &naive.unconstrained());
        let all: BTreeSet<_> = naive.reachable.iter().copied().collect();
        prop_assert_eq!(&naive.covered_by(&unconstrained), &all);
        for dropped in &unconstrained {
            let rest: Vec<_> = unconstrained.iter().copied().filter(|edge| edge != dropped).collect();
            prop_assert!(naive.covered_by(&rest).len() < all.len());
        }
    }

    #[test]
    fn natural_loops_are_entered_at_their_head(cfg in random_cfg()) {
        let dominators = node_dominators(&cfg);
        for natural_loop in natural_loops(&cfg) {
            prop_assert!(natural_loop.body.iter().all(|node| dominators.dominates(natural_loop.head, *node)));
            for edge in natural_loop.back_edges {
                prop_assert_eq!(cfg.edges[edge].to, natural_loop.head);
                prop_assert!(natural_loop.body.contains(&cfg.edges[edge].from));
            }
        }
    }
}

fn edges(ids: &[u32]) -> Vec<EdgeId> {
    ids.iter().map(|id| EdgeId(*id)).collect()
}

/// `while (c) body;`: whoever takes the back edge has taken everything.
#[test]
fn a_loop_needs_its_back_edge_only() {
    let cfg = cfg(4, &[(0, 2), (2, 3), (3, 2), (2, 1)]);
    assert_eq!(unconstrained_edges(&cfg), edges(&[2]));
    assert_eq!(
        natural_loops(&cfg),
        [NaturalLoop { head: NodeId(2), back_edges: edges(&[2]), body: vec![NodeId(2), NodeId(3)] }]
    );
}

/// `if (c) a; else b;`: both ways, each named by its last edge.
#[test]
fn a_branch_needs_both_ways() {
    let cfg = cfg(5, &[(0, 2), (2, 3), (2, 4), (3, 1), (4, 1)]);
    assert_eq!(unconstrained_edges(&cfg), edges(&[3, 4]));
}

/// `while (1) { if (c) a; b; }`: `b` runs whatever `c` is, although nothing reaches the exit.
#[test]
fn in_an_endless_loop_only_the_guarded_depends() {
    let cfg = cfg(6, &[(0, 2), (2, 3), (3, 4), (3, 5), (4, 5), (5, 2)]);
    let dependence = |edge| ControlDependence { node: NodeId(4), on: NodeId(3), edge: EdgeId(edge) };
    assert_eq!(control_dependence(&cfg), [dependence(2)]);
    assert_eq!(final_nodes(&cfg, EndlessLoops::StopAtHeads), [NodeId(1), NodeId(2)]);
    assert_eq!(final_nodes(&cfg, EndlessLoops::StopAnywhere).len(), 5);
}

/// Nothing recurses: a long function must not end the stack.
#[test]
fn a_long_function_is_no_problem() {
    let last = 200_000;
    let mut pairs: Vec<_> = (2..last).map(|node| (node, node + 1)).collect();
    pairs.extend([(0, 2), (last, 1), (last, 2)]);
    let place = Place { file: FileId(0), line: 1, column: 1 };
    let long = Cfg {
        nodes: (0..=last).map(|_| Node { kind: NodeKind::Statement, place, text: String::new() }).collect(),
        edges: pairs
            .iter()
            .map(|&(from, to)| Edge { from: NodeId::new(from), to: NodeId::new(to), label: EdgeLabel::Always })
            .collect(),
        entry: NodeId(0),
        exit: NodeId(1),
    };
    assert_eq!(unconstrained_edges(&long), [EdgeId::new(pairs.len() - 1)]);
    assert_eq!(natural_loops(&long).len(), 1);
    assert!(node_postdominators(&long, EndlessLoops::StopAnywhere).dominates(NodeId(1), NodeId(0)));
}
