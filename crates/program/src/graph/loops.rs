use super::node_dominators;
use crate::map::Cfg;
use crate::{EdgeId, Id, NodeId};

/// The natural loop of a head: all nodes from which a back edge can be reached without passing the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NaturalLoop {
    pub head: NodeId,
    pub back_edges: Vec<EdgeId>,
    /// In the order of ids, the head included.
    pub body: Vec<NodeId>,
}

/// The reachable edges whose target dominates their source.
pub fn back_edges(cfg: &Cfg) -> Vec<EdgeId> {
    let dominators = node_dominators(cfg);
    cfg.edges.iter().filter(|(_, edge)| dominators.dominates(edge.to, edge.from)).map(|(id, _)| id).collect()
}

/// One loop for each head, in the order of the heads' ids. A cycle that can be entered at several nodes (only `goto`
/// and jumps into a loop make one) has no head and is no natural loop.
pub fn natural_loops(cfg: &Cfg) -> Vec<NaturalLoop> {
    let mut by_head: Vec<(NodeId, EdgeId)> =
        back_edges(cfg).into_iter().map(|edge| (cfg.edges[edge].to, edge)).collect();
    by_head.sort();
    let predecessors = super::control::node_digraph(cfg).reversed();
    let reachable = super::reachable_nodes(cfg);
    by_head
        .chunk_by(|left, right| left.0 == right.0)
        .map(|group| {
            let head = group[0].0;
            let back_edges: Vec<EdgeId> = group.iter().map(|(_, edge)| *edge).collect();
            let mut inside = vec![false; cfg.nodes.len()];
            inside[head.index()] = true;
            let mut waiting: Vec<usize> = back_edges.iter().map(|edge| cfg.edges[*edge].from.index()).collect();
            while let Some(node) = waiting.pop() {
                if reachable[NodeId::new(node)] && !std::mem::replace(&mut inside[node], true) {
                    waiting.extend(predecessors.successors(node));
                }
            }
            let body = cfg.nodes.ids().filter(|node| inside[node.index()]).collect();
            NaturalLoop { head, back_edges, body }
        })
        .collect()
}
