//! What DOT and SVG draw: vertices and arcs with their text, whichever graph they stand for.

use branchwise_program::graph::{DominatorTree, edge_dominators, edge_graph, edge_postdominators, reachable_nodes};
use branchwise_program::map::{EdgeLabel, Function, Map, MarkerKind, NodeKind};
use branchwise_program::{EdgeId, FunctionId, Id, IdVec, NodeId};

use super::{Graph, Selection, abstraction, words};

#[derive(Debug)]
pub(super) struct Picture {
    pub title: String,
    pub vertices: Vec<Vertex>,
    pub arcs: Vec<Arc>,
    /// Where a reader begins.
    pub root: usize,
}

#[derive(Debug)]
pub(super) struct Vertex {
    /// Unique in the picture, e.g. `n3`.
    pub name: String,
    pub shape: Shape,
    pub lines: Vec<Line>,
    /// An unconstrained edge.
    pub marked: bool,
    /// Nothing reaches it.
    pub faded: bool,
}

#[derive(Debug)]
pub(super) struct Line {
    /// The line of the source.
    pub number: Option<u32>,
    pub text: String,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Rounded,
    Box,
    Hexagon,
}

#[derive(Debug)]
pub(super) struct Arc {
    pub from: usize,
    pub to: usize,
    pub label: Option<String>,
    pub tone: Tone,
    pub marked: bool,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    True,
    False,
    Case,
}

/// One for each function.
pub(super) fn pictures(map: &Map, selection: Selection, graph: Graph) -> Vec<(FunctionId, Picture)> {
    let shown = selection.shown(map, graph);
    let marks = selection.marks(&shown);
    let one = |(id, _)| (id, picture(&shown, id, graph, (&marks[id], map.functions[id].mccabe())));
    selection.functions(&shown).into_iter().map(one).collect()
}

/// With its unconstrained edges and McCabe's number.
pub(super) fn picture(map: &Map, id: FunctionId, graph: Graph, (marked, mccabe): (&[EdgeId], i64)) -> Picture {
    let function = &map.functions[id];
    let (what, picture) = match graph {
        Graph::Abstract => return abstraction::picture(map, id, function),
        Graph::Cfg => ("control-flow graph", control_flow(map, function, marked)),
        Graph::Edges => ("edge graph", edges(map, function, marked)),
        Graph::Dominators => {
            let tree = edge_dominators(&function.cfg);
            ("dominator tree of edges", tree_of_edges(map, function, marked, &tree, "entry edge"))
        }
        Graph::Postdominators => {
            let tree = edge_postdominators(&function.cfg);
            ("post-dominator tree of edges", tree_of_edges(map, function, marked, &tree, "exit edge"))
        }
    };
    let place = format!("{}:{}", words::file(map, function.place.file), function.place.line);
    let unconstrained = format!("{} unconstrained {}", marked.len(), if marked.len() == 1 { "edge" } else { "edges" });
    let title = format!("{} — {place} — {what}, McCabe {mccabe}, {unconstrained} (heavy)", function.name);
    Picture { title, ..picture }
}

fn control_flow(map: &Map, function: &Function, unconstrained: &[EdgeId]) -> Picture {
    let cfg = &function.cfg;
    let reachable = reachable_nodes(cfg);
    let runs = straight_runs(function);
    let mut vertex_of: IdVec<NodeId, usize> = cfg.nodes.ids().map(|_| 0).collect();
    let mut before: IdVec<NodeId, Option<NodeId>> = cfg.nodes.ids().map(|_| None).collect();
    let mut vertices = Vec::new();
    for run in &runs {
        run.iter().for_each(|node| vertex_of[*node] = vertices.len());
        run.windows(2).for_each(|pair| before[pair[1]] = Some(pair[0]));
        let first = run[0];
        let lines = run.iter().map(|node| line(function, *node)).collect();
        let shape = shape(cfg.nodes[first].kind);
        vertices.push(Vertex { name: first.to_string(), shape, lines, marked: false, faded: !reachable[first] });
    }
    let mut arcs = Vec::new();
    for id in edges_left_to_right(function) {
        let edge = &cfg.edges[id];
        if before[edge.to] != Some(edge.from) {
            let (label, tone) = arc_label(map, edge.label);
            let marked = unconstrained.binary_search(&id).is_ok();
            arcs.push(Arc { from: vertex_of[edge.from], to: vertex_of[edge.to], label, tone, marked });
        }
    }
    Picture { title: String::new(), vertices, arcs, root: vertex_of[cfg.entry] }
}

/// True before false, cases in their order: what a reader expects to find left and right.
fn edges_left_to_right(function: &Function) -> Vec<EdgeId> {
    let cfg = &function.cfg;
    let mut edges: Vec<EdgeId> = cfg.edges.ids().collect();
    edges.sort_by_key(|id| {
        let edge = &cfg.edges[*id];
        let order = match (cfg.nodes[edge.from].kind, edge.label) {
            (NodeKind::Condition(_), EdgeLabel::Outcome(event)) => u32::from(event.outcome == 0),
            (_, EdgeLabel::Outcome(event)) => event.outcome,
            (_, EdgeLabel::Always) => 0,
        };
        (edge.from, order, *id)
    });
    edges
}

/// Statements that always follow each other share a box; every other node has its own.
fn straight_runs(function: &Function) -> Vec<Vec<NodeId>> {
    let cfg = &function.cfg;
    let mut out: IdVec<NodeId, Vec<NodeId>> = cfg.nodes.ids().map(|_| Vec::new()).collect();
    let mut into: IdVec<NodeId, Vec<NodeId>> = cfg.nodes.ids().map(|_| Vec::new()).collect();
    for edge in cfg.edges.values() {
        out[edge.from].push(edge.to);
        into[edge.to].push(edge.from);
    }
    let statement = |node: NodeId| cfg.nodes[node].kind == NodeKind::Statement;
    let follower = |node: NodeId| match out[node][..] {
        [next] if statement(node) && statement(next) && next != node && into[next].len() == 1 => Some(next),
        _ => None,
    };
    let follows = |node: NodeId| into[node].first().is_some_and(|before| follower(*before) == Some(node));
    let mut placed: IdVec<NodeId, bool> = cfg.nodes.ids().map(|_| false).collect();
    let mut runs = Vec::new();
    // The second round finds rings of statements that nothing else leads to.
    for first in cfg.nodes.ids().filter(|node| !follows(*node)).chain(cfg.nodes.ids()) {
        let mut run = Vec::new();
        let mut next = Some(first);
        while let Some(node) = next.filter(|node| !placed[*node]) {
            placed[node] = true;
            run.push(node);
            next = follower(node);
        }
        if !run.is_empty() {
            runs.push(run);
        }
    }
    runs
}

fn line(function: &Function, id: NodeId) -> Line {
    let node = &function.cfg.nodes[id];
    match node.kind {
        NodeKind::Entry => Line { number: Some(node.place.line), text: function.name.clone() },
        NodeKind::Exit => Line { number: None, text: "exit".to_string() },
        _ => Line { number: Some(node.place.line), text: node.text.clone() },
    }
}

fn shape(kind: NodeKind) -> Shape {
    match kind {
        NodeKind::Entry | NodeKind::Exit => Shape::Rounded,
        NodeKind::Statement => Shape::Box,
        NodeKind::Condition(_) | NodeKind::Switch(_) | NodeKind::Handler(_) => Shape::Hexagon,
    }
}

fn arc_label(map: &Map, label: EdgeLabel) -> (Option<String>, Tone) {
    let EdgeLabel::Outcome(event) = label else { return (None, Tone::Plain) };
    match (map.markers.get(event.marker).map(|marker| &marker.kind), event.outcome) {
        (Some(MarkerKind::Condition { .. }), 0) => (Some("F".to_string()), Tone::False),
        (Some(MarkerKind::Condition { .. }), _) => (Some("T".to_string()), Tone::True),
        _ => (Some(words::outcome(map, event)), Tone::Case),
    }
}

/// The vertices of the pictures over edges: the edges that are drawn, then annex C's entry and exit edge.
fn edge_vertex(map: &Map, function: &Function, id: EdgeId, marked: bool) -> Vertex {
    let edge = &function.cfg.edges[id];
    let from = &function.cfg.nodes[edge.from];
    let ends = Line { number: Some(from.place.line), text: format!("{id}: {} → {}", edge.from, edge.to) };
    let condition = words::edge_condition(map, edge.label).map(|text| Line { number: None, text });
    let lines = std::iter::once(ends).chain(condition).collect();
    Vertex { name: id.to_string(), shape: Shape::Box, lines, marked, faded: false }
}

fn outer_vertex(name: &str, text: &str) -> Vertex {
    let lines = vec![Line { number: None, text: text.to_string() }];
    Vertex { name: name.to_string(), shape: Shape::Rounded, lines, marked: false, faded: false }
}

fn plain_arc(from: usize, to: usize) -> Arc {
    Arc { from, to, label: None, tone: Tone::Plain, marked: false }
}

fn edges(map: &Map, function: &Function, unconstrained: &[EdgeId]) -> Picture {
    let graph = edge_graph(&function.cfg);
    let mut vertex_of: IdVec<EdgeId, usize> = function.cfg.edges.ids().map(|_| 0).collect();
    let mut vertices = vec![outer_vertex("entry_edge", "entry edge")];
    for &edge in &graph.vertices {
        vertex_of[edge] = vertices.len();
        vertices.push(edge_vertex(map, function, edge, unconstrained.binary_search(&edge).is_ok()));
    }
    let end = vertices.len();
    vertices.push(outer_vertex("exit_edge", "exit edge"));
    let first = graph.first.iter().map(|edge| plain_arc(0, vertex_of[*edge]));
    let inner = graph.arcs.iter().map(|(from, to)| plain_arc(vertex_of[*from], vertex_of[*to]));
    let last = graph.last.iter().map(|edge| plain_arc(vertex_of[*edge], end));
    let arcs = first.chain(inner).chain(last).collect();
    Picture { title: String::new(), vertices, arcs, root: 0 }
}

fn tree_of_edges(
    map: &Map,
    function: &Function,
    unconstrained: &[EdgeId],
    tree: &DominatorTree<EdgeId>,
    root: &str,
) -> Picture {
    let mut vertices = vec![outer_vertex("root", root)];
    let mut vertex_of = vec![0; function.cfg.edges.len()];
    for edge in tree.ids() {
        vertex_of[edge.index()] = vertices.len();
        vertices.push(edge_vertex(map, function, edge, unconstrained.binary_search(&edge).is_ok()));
    }
    let arc = |edge: EdgeId| {
        let above = tree.immediate(edge).map_or(0, |above| vertex_of[above.index()]);
        plain_arc(above, vertex_of[edge.index()])
    };
    let arcs = tree.ids().map(arc).collect();
    Picture { title: String::new(), vertices, arcs, root: 0 }
}
