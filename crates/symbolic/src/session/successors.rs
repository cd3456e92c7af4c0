//! Which markers the map's control-flow graph lets follow each other. Conclusions about what can be reached rest on that
//! graph, so every executed path is checked against it.

use branchwise_program::map::{Cfg, EdgeLabel, Event, Map, NodeKind};
use branchwise_program::{FunctionId, Id, IdVec, MarkerId, NodeId};

/// Filled as paths ask; looked up at every event, so it is dense.
#[derive(Debug)]
pub(super) struct Successors {
    after_entry: IdVec<FunctionId, Option<Vec<MarkerId>>>,
    /// By marker, then by outcome.
    after_event: IdVec<MarkerId, Vec<Option<Vec<MarkerId>>>>,
}

impl Successors {
    pub(super) fn new(map: &Map) -> Self {
        Successors {
            after_entry: map.functions.ids().map(|_| None).collect(),
            after_event: map.markers.values().map(|marker| vec![None; marker.outcomes() as usize]).collect(),
        }
    }

    /// Whether a marker may be the next one after an event of the same activation (`None`: after its entry).
    pub(super) fn allows(&mut self, map: &Map, function: FunctionId, after: Option<Event>, marker: MarkerId) -> bool {
        let slot = match after {
            None => &mut self.after_entry[function],
            Some(event) => &mut self.after_event[event.marker][event.outcome as usize],
        };
        slot.get_or_insert_with(|| next_markers(map, function, after)).contains(&marker)
    }
}

fn next_markers(map: &Map, function: FunctionId, after: Option<Event>) -> Vec<MarkerId> {
    let cfg = &map.functions[function].cfg;
    let mut open = match after {
        None => vec![cfg.entry],
        Some(event) => targets(cfg, event),
    };
    let mut seen = vec![false; cfg.nodes.len()];
    let mut markers = Vec::new();
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node.index()], true) {
            continue;
        }
        match cfg.nodes[node].kind {
            NodeKind::Condition(marker) | NodeKind::Switch(marker) => markers.push(marker),
            NodeKind::Entry | NodeKind::Exit | NodeKind::Statement => open.extend(successors(cfg, node)),
        }
    }
    markers
}

fn targets(cfg: &Cfg, event: Event) -> Vec<NodeId> {
    cfg.edges.values().filter(|edge| edge.label == EdgeLabel::Outcome(event)).map(|edge| edge.to).collect()
}

fn successors(cfg: &Cfg, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    cfg.edges.values().filter(move |edge| edge.from == node).map(|edge| edge.to)
}
