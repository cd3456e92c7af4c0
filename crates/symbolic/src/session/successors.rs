//! Which markers the map's control-flow graph lets follow each other. Conclusions about what can be reached rest on that
//! graph, so every executed path is checked against it.

use branchwise_program::map::{Cfg, EdgeLabel, Event, Map, NodeKind};
use branchwise_program::{FunctionId, Id, IdVec, MarkerId, NodeId};

/// Filled as paths ask; looked up at every event, so it is dense.
#[derive(Debug)]
pub(crate) struct Successors {
    /// By entry of a function, then by marker and outcome.
    next: Vec<Option<Vec<MarkerId>>>,
    /// For each of these the marker that was last found there: hardly ever is there another one.
    last: Vec<Option<MarkerId>>,
    /// Where a marker's outcomes begin.
    outcomes: IdVec<MarkerId, usize>,
}

impl Successors {
    pub(super) fn new(map: &Map) -> Self {
        let mut count = map.functions.len();
        let outcomes = map.markers.values().map(|marker| {
            let first = count;
            count += marker.outcomes() as usize;
            first
        });
        let outcomes = outcomes.collect();
        Successors { next: vec![None; count], last: vec![None; count], outcomes }
    }

    /// The place of what comes after an event of an activation (`None`: after its entry).
    fn place(&self, function: FunctionId, after: Option<Event>) -> usize {
        match after {
            None => function.index(),
            Some(event) => self.after(event),
        }
    }

    fn after(&self, event: Event) -> usize {
        self.outcomes[event.marker] + event.outcome as usize
    }

    /// Whether the last marker that was found at a place is this one: then it may be the next.
    fn is_usual(&self, place: usize, marker: MarkerId) -> bool {
        self.last[place] == Some(marker)
    }

    /// Whether a marker may be the next one after an event of the same activation (`None`: after its entry).
    pub(crate) fn allows(&mut self, map: &Map, function: FunctionId, after: Option<Event>, marker: MarkerId) -> bool {
        let place = self.place(function, after);
        self.is_usual(place, marker) || self.find(place, map, function, after, marker)
    }

    #[cold]
    fn find(&mut self, place: usize, map: &Map, function: FunctionId, after: Option<Event>, marker: MarkerId) -> bool {
        let next = self.next[place].get_or_insert_with(|| next_markers(map, function, after));
        let allowed = next.contains(&marker);
        if allowed {
            self.last[place] = Some(marker);
        }
        allowed
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
            NodeKind::Condition(marker) | NodeKind::Switch(marker) | NodeKind::Handler(marker) => markers.push(marker),
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
