use super::dominators::{DominatorTree, Position, immediate_dominators};
use super::{Digraph, back_edges};
use crate::map::{Cfg, EdgeLabel};
use crate::{EdgeId, Id, NodeId};

/// Where an execution that never leaves the function may be thought to stop.
///
/// Post-dominance is about paths to the end, so a region without a way to the exit needs an end of its own.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum EndlessLoops {
    /// At any node of the region: claims nothing about what a run does before it is stopped. For coverage.
    StopAnywhere,
    /// At the heads of its loops only: between two rounds. For control dependence, where stopping anywhere would make
    /// the rest of an endless loop depend on every condition in it.
    StopAtHeads,
}

/// The nodes where executions end: the exit, nodes without successors, and for each region that is never left those
/// that `endless` says. Every reachable node reaches one of them.
pub fn final_nodes(cfg: &Cfg, endless: EndlessLoops) -> Vec<NodeId> {
    let graph = node_digraph(cfg);
    let component = graph.components();
    let mut left = vec![false; graph.vertex_count()];
    let mut cyclic = vec![false; graph.vertex_count()];
    for (from, to) in graph.edges() {
        left[component[from]] |= component[from] != component[to];
        cyclic[component[from]] |= component[from] == component[to];
    }
    let mut ends = vec![false; graph.vertex_count()];
    for node in cfg.nodes.ids() {
        let of = component[node.index()];
        ends[node.index()] = node == cfg.exit || (!left[of] && (!cyclic[of] || endless == EndlessLoops::StopAnywhere));
    }
    if endless == EndlessLoops::StopAtHeads {
        for head in heads(cfg, &graph) {
            ends[head] |= !left[component[head]];
        }
    }
    cfg.nodes.ids().filter(|node| ends[node.index()]).collect()
}

/// The first node of every cyclic component in the order of a depth-first search, and the heads of natural loops.
/// The former keeps loops with several entrances from having none.
fn heads(cfg: &Cfg, graph: &Digraph) -> Vec<usize> {
    let component = graph.components();
    let mut seen = vec![false; graph.vertex_count()];
    let (order, _) = graph.depth_first(cfg.entry.index());
    let mut heads: Vec<usize> =
        order.into_iter().filter(|&node| !std::mem::replace(&mut seen[component[node]], true)).collect();
    heads.extend(back_edges(cfg).into_iter().map(|edge| cfg.edges[edge].to.index()));
    heads
}

pub(super) fn node_digraph(cfg: &Cfg) -> Digraph {
    let edges: Vec<_> = cfg.edges.values().map(|edge| (edge.from.index(), edge.to.index())).collect();
    Digraph::new(cfg.nodes.len(), &edges)
}

/// For each node, whether a path leads to it from the entry.
pub fn reachable_nodes(cfg: &Cfg) -> crate::IdVec<NodeId, bool> {
    node_digraph(cfg).reachable_from(cfg.entry.index()).into_iter().collect()
}

pub fn node_dominators(cfg: &Cfg) -> DominatorTree<NodeId> {
    let immediate = immediate_dominators(&node_digraph(cfg), cfg.entry.index());
    let position = |node: NodeId| match immediate[node.index()] {
        Some(above) => Position::Below(NodeId::new(above)),
        None if node == cfg.entry => Position::Root,
        None => Position::Outside,
    };
    DominatorTree::new(cfg.nodes.ids().map(position).collect())
}

/// Of the nodes that the entry reaches; code that nothing reaches must not weaken what is said of code that runs.
pub fn node_postdominators(cfg: &Cfg, endless: EndlessLoops) -> DominatorTree<NodeId> {
    let end = cfg.nodes.len();
    let reachable = reachable_nodes(cfg);
    let turned =
        cfg.edges.values().filter(|edge| reachable[edge.from]).map(|edge| (edge.to.index(), edge.from.index()));
    let ends = final_nodes(cfg, endless).into_iter().filter(|node| reachable[*node]).map(|node| (end, node.index()));
    let edges: Vec<_> = turned.chain(ends).collect();
    let immediate = immediate_dominators(&Digraph::new(end + 1, &edges), end);
    let position = |node: NodeId| match immediate[node.index()] {
        Some(above) if above == end => Position::Root,
        Some(above) => Position::Below(NodeId::new(above)),
        None => Position::Outside,
    };
    DominatorTree::new(cfg.nodes.ids().map(position).collect())
}

/// Whether `node` runs is decided where `on` leaves by `edge`.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControlDependence {
    pub node: NodeId,
    pub on: NodeId,
    pub edge: EdgeId,
}

/// Ferrante, Ottenstein, Warren 1987: a node depends on an edge that it post-dominates the target of, without strictly
/// post-dominating the source. Sorted by node. Only edges that carry an outcome decide anything.
pub fn control_dependence(cfg: &Cfg) -> Vec<ControlDependence> {
    let postdominators = node_postdominators(cfg, EndlessLoops::StopAtHeads);
    let mut dependences = Vec::new();
    for (id, edge) in cfg.edges.iter() {
        if edge.label == EdgeLabel::Always || !postdominators.contains(edge.from) {
            continue;
        }
        let stop = postdominators.immediate(edge.from);
        let mut at = Some(edge.to);
        while let Some(node) = at.filter(|_| at != stop) {
            dependences.push(ControlDependence { node, on: edge.from, edge: id });
            at = postdominators.immediate(node);
        }
    }
    dependences.sort();
    dependences
}
