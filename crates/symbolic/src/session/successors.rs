//! Which markers the map's control-flow graph lets follow each other. Conclusions about what can be reached rest on that
//! graph, so every executed path is checked against it.

use std::collections::{HashMap, HashSet};

use branchwise_program::map::{Cfg, EdgeLabel, Event, Map, NodeKind};
use branchwise_program::{FunctionId, Id, MarkerId, NodeId};

/// Filled as paths ask.
#[derive(Debug, Default)]
pub(super) struct Successors {
    known: HashMap<(FunctionId, Option<Event>), HashSet<MarkerId>>,
}

impl Successors {
    /// Whether a marker may be the next one after an event of the same activation (`None`: after its entry).
    pub(super) fn allows(&mut self, map: &Map, function: FunctionId, after: Option<Event>, marker: MarkerId) -> bool {
        let next = self.known.entry((function, after)).or_insert_with(|| next_markers(map, function, after));
        next.contains(&marker)
    }
}

fn next_markers(map: &Map, function: FunctionId, after: Option<Event>) -> HashSet<MarkerId> {
    let cfg = &map.functions[function].cfg;
    let mut open = match after {
        None => vec![cfg.entry],
        Some(event) => targets(cfg, event),
    };
    let mut seen = vec![false; cfg.nodes.len()];
    let mut markers = HashSet::new();
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node.index()], true) {
            continue;
        }
        match cfg.nodes[node].kind {
            NodeKind::Condition(marker) | NodeKind::Switch(marker) => drop(markers.insert(marker)),
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
