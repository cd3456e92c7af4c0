use super::Digraph;
use super::control::{EndlessLoops, final_nodes, reachable_nodes};
use super::dominators::{DominatorTree, Position, immediate_dominators};
use crate::map::Cfg;
use crate::{EdgeId, Id, IdVec};

/// Annex C, 2.1.2 (`CFG_edges`): a vertex for each edge of the control-flow graph that can be reached from its entry,
/// and an arc where control can pass directly from one edge to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeGraph {
    /// The edges that can be reached.
    pub vertices: Vec<EdgeId>,
    /// In the order of sources. Their number is that of the pairs (edge into, edge out of) over all nodes, which can
    /// be much more than the number of edges; the dominator trees are computed without them.
    pub arcs: Vec<(EdgeId, EdgeId)>,
    /// Where executions begin: successors of annex C's entry edge (2.7).
    pub first: Vec<EdgeId>,
    /// Where executions can end: predecessors of annex C's exit edge (2.7).
    pub last: Vec<EdgeId>,
}

pub fn edge_graph(cfg: &Cfg) -> EdgeGraph {
    let reachable = reachable_nodes(cfg);
    let mut out: IdVec<_, Vec<EdgeId>> = cfg.nodes.ids().map(|_| Vec::new()).collect();
    let vertices: Vec<EdgeId> = cfg.edges.ids().filter(|edge| reachable[cfg.edges[*edge].from]).collect();
    for &edge in &vertices {
        out[cfg.edges[edge].from].push(edge);
    }
    let arcs = vertices.iter().flat_map(|&from| out[cfg.edges[from].to].iter().map(move |&to| (from, to))).collect();
    let mut ends: IdVec<_, bool> = cfg.nodes.ids().map(|_| false).collect();
    for node in final_nodes(cfg, EndlessLoops::StopAnywhere) {
        ends[node] = true;
    }
    let last = vertices.iter().copied().filter(|edge| ends[cfg.edges[*edge].to]).collect();
    EdgeGraph { vertices, arcs, first: out[cfg.entry].clone(), last }
}

/// Annex C, 2.7: e₁ dominates e₂ if it is on every edge path from the entry edge to e₂.
pub fn edge_dominators(cfg: &Cfg) -> DominatorTree<EdgeId> {
    let mut subdivided = Vec::with_capacity(2 * cfg.edges.len());
    for (id, edge) in cfg.edges.iter() {
        subdivided.push((edge.from.index(), vertex_of(cfg, id)));
        subdivided.push((vertex_of(cfg, id), edge.to.index()));
    }
    let graph = Digraph::new(cfg.nodes.len() + cfg.edges.len(), &subdivided);
    edge_tree(cfg, &immediate_dominators(&graph, cfg.entry.index()))
}

/// Annex C, 2.7: e₁ post-dominates e₂ if it is on every edge path from e₂ to the exit edge. Where the exit cannot be
/// reached, executions may stop anywhere in the endless loop ([`EndlessLoops::StopAnywhere`]).
pub fn edge_postdominators(cfg: &Cfg) -> DominatorTree<EdgeId> {
    edge_tree(cfg, &immediate_postdominators(cfg))
}

fn immediate_postdominators(cfg: &Cfg) -> Vec<Option<usize>> {
    let end = cfg.nodes.len() + cfg.edges.len();
    let reachable = reachable_nodes(cfg);
    let mut turned = Vec::with_capacity(2 * cfg.edges.len() + 1);
    for (id, edge) in cfg.edges.iter().filter(|(_, edge)| reachable[edge.from]) {
        turned.push((vertex_of(cfg, id), edge.from.index()));
        turned.push((edge.to.index(), vertex_of(cfg, id)));
    }
    for node in final_nodes(cfg, EndlessLoops::StopAnywhere) {
        turned.push((end, node.index()));
    }
    immediate_dominators(&Digraph::new(end + 1, &turned), end)
}

/// Dominance is computed on the graph in which every edge is cut in two by a vertex of its own. Its paths between
/// such vertices are the edge paths, so dominance between them is that of the edge graph, but it has only two arcs
/// for each edge where the edge graph has a product for each node.
fn vertex_of(cfg: &Cfg, edge: EdgeId) -> usize {
    cfg.nodes.len() + edge.index()
}

/// The tree over edges alone: the nodes of the subdivided graph between them are skipped.
fn edge_tree(cfg: &Cfg, immediate: &[Option<usize>]) -> DominatorTree<EdgeId> {
    let mut nearest = NearestEdge::new(cfg, immediate);
    let position = |edge: EdgeId| match immediate[vertex_of(cfg, edge)] {
        None => Position::Outside,
        Some(above) => nearest.from(above),
    };
    DominatorTree::new(cfg.edges.ids().map(position).collect())
}

/// Finds the nearest edge at or above a vertex of a dominator tree, each vertex looked at once.
struct NearestEdge<'a> {
    cfg: &'a Cfg,
    immediate: &'a [Option<usize>],
    known: Vec<Option<Position<EdgeId>>>,
}

impl<'a> NearestEdge<'a> {
    fn new(cfg: &'a Cfg, immediate: &'a [Option<usize>]) -> Self {
        NearestEdge { cfg, immediate, known: vec![None; immediate.len()] }
    }

    fn from(&mut self, vertex: usize) -> Position<EdgeId> {
        let edges = self.cfg.nodes.len()..self.cfg.nodes.len() + self.cfg.edges.len();
        let mut passed = Vec::new();
        let mut at = vertex;
        let found = loop {
            if edges.contains(&at) {
                break Position::Below(EdgeId::new(at - edges.start));
            }
            if let Some(known) = self.known[at] {
                break known;
            }
            passed.push(at);
            match self.immediate[at] {
                Some(above) => at = above,
                None => break Position::Root,
            }
        };
        for vertex in passed {
            self.known[vertex] = Some(found);
        }
        found
    }
}

/// The unconstrained edges: a smallest set of edges whose coverage covers every edge that can be reached. In the order
/// of ids.
///
/// The claim is for executions that end where the graph says, and in which calls come back: see
/// [`Implications`](super::Implications) for a program with calls that do not.
///
/// Annex C, 3.6 and figure 6: the leaves of the dominator tree that are extended leaves of the post-dominator tree.
/// Of a straight run of edges this takes the last one, which stands for the others even if a run stops half-way.
pub fn unconstrained_edges(cfg: &Cfg) -> Vec<EdgeId> {
    let dominators = edge_dominators(cfg);
    let immediate = immediate_postdominators(cfg);
    let postdominators = edge_tree(cfg, &immediate);
    let entry = NearestEdge::new(cfg, &immediate).from(cfg.entry.index());
    let unconstrained = |edge: EdgeId| dominators.is_leaf(edge) && is_extended_leaf(edge, &postdominators, entry);
    cfg.edges.ids().filter(|edge| unconstrained(*edge)).collect()
}

/// Whether the post-dominator tree below `edge` is one straight path down to a leaf (annex C, figure 6). `entry` is
/// where annex C's entry edge hangs in that tree: it is no edge of the map, but a child like others where a loop
/// leads back to the entry.
fn is_extended_leaf(edge: EdgeId, postdominators: &DominatorTree<EdgeId>, entry: Position<EdgeId>) -> bool {
    let mut at = edge;
    loop {
        match postdominators.children(at) {
            [] => return true,
            [only] if entry != Position::Below(at) => at = *only,
            _ => return false,
        }
    }
}
