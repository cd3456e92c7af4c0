//! Loops of the source: what belongs to one, and what begins an iteration of it.

use std::collections::BTreeSet;

use branchwise_program::map::{Decision, DecisionKind, Event, Function, Loop, LoopKind, Map, NodeKind};
use branchwise_program::{Id, NodeId};

use crate::outcomes::deciding;

#[derive(Debug, Clone)]
pub(crate) struct LoopShape {
    pub head: NodeId,
    /// The head and all nodes from which it can be repeated.
    pub body: BTreeSet<NodeId>,
    /// The sources of the edges that repeat it.
    pub back: BTreeSet<NodeId>,
    /// The events that begin an iteration, where a condition stands in front of each; otherwise arriving at the head does.
    pub condition: Option<Vec<Event>>,
}

impl LoopShape {
    pub fn of(map: &Map, function: &Function, found: &Loop) -> Self {
        let back = found.back_edges.iter().map(|&edge| function.cfg.edges[edge].from).collect();
        let body = body(function, found.head, &back);
        let condition = condition(map, function, found, &body).map(|decision| deciding(&decision.formula, true));
        LoopShape { head: found.head, body, back, condition }
    }
}

fn body(function: &Function, head: NodeId, back: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let mut predecessors: Vec<Vec<NodeId>> = vec![Vec::new(); function.cfg.nodes.len()];
    for edge in function.cfg.edges.values() {
        predecessors[edge.to.index()].push(edge.from);
    }
    let reached = function.cfg.reached_from_entry();
    let mut body = BTreeSet::from([head]);
    let mut open: Vec<NodeId> = back.iter().copied().collect();
    while let Some(node) = open.pop() {
        if reached[node.index()] && body.insert(node) {
            open.extend(&predecessors[node.index()]);
        }
    }
    body
}

/// The decision in front of every iteration: the first behind the loop's keyword that belongs to such a statement.
fn condition<'a>(map: &Map, function: &'a Function, found: &Loop, body: &BTreeSet<NodeId>) -> Option<&'a Decision> {
    let kind = match found.kind {
        LoopKind::While => DecisionKind::While,
        LoopKind::For => DecisionKind::For,
        LoopKind::Do | LoopKind::Goto => return None,
    };
    // `for (;;)` and `while (1)` have a node of their own to come back to.
    let head = &function.cfg.nodes[found.head];
    if head.kind == NodeKind::Statement && head.place == found.place {
        return None;
    }
    let behind = |decision: &&Decision| {
        decision.kind == kind && decision.place.file == found.place.file && decision.place >= found.place
    };
    let decision = function.decisions.iter().filter(behind).min_by_key(|decision| decision.place)?;
    let first = *decision.formula.leaves().first()?;
    body.contains(&map.markers[first].node).then_some(decision)
}

/// Counts the iterations of an activation's loops.
#[derive(Debug, Clone)]
pub(crate) struct Laps {
    at: Option<NodeId>,
    /// Iterations begun so far, of every loop that it is in.
    counts: Vec<Option<u64>>,
}

impl Laps {
    pub fn of(loops: &[LoopShape]) -> Self {
        Laps { at: None, counts: vec![None; loops.len()] }
    }

    /// The loops that the activation is in, with the iterations that they have begun.
    pub fn running(&self) -> impl Iterator<Item = (usize, u64)> {
        self.counts.iter().enumerate().filter_map(|(index, count)| count.map(|count| (index, count)))
    }

    /// Arriving at a node leaves the loops that do not contain it, which are returned, and enters or repeats one whose
    /// head it is.
    pub fn arrive(&mut self, loops: &[LoopShape], node: NodeId) -> Vec<(usize, u64)> {
        let left = self.leave(|index| !loops[index].body.contains(&node));
        for (shape, count) in loops.iter().zip(&mut self.counts).filter(|(shape, _)| shape.head == node) {
            let repeats = self.at.is_some_and(|from| shape.back.contains(&from));
            let without_condition = u64::from(shape.condition.is_none());
            match count {
                Some(count) if repeats => *count += without_condition,
                Some(_) => {}
                None => *count = Some(without_condition),
            }
        }
        self.at = Some(node);
        left
    }

    /// An outcome may begin an iteration.
    pub fn take(&mut self, loops: &[LoopShape], event: Event) {
        for (shape, count) in loops.iter().zip(&mut self.counts) {
            let begins = shape.condition.as_ref().is_some_and(|begins| begins.contains(&event));
            if let (true, Some(count)) = (begins, count) {
                *count += 1;
            }
        }
    }

    /// The activation ends, and all its loops with it.
    pub fn end(&mut self) -> Vec<(usize, u64)> {
        self.leave(|_| true)
    }

    fn leave(&mut self, is_left: impl Fn(usize) -> bool) -> Vec<(usize, u64)> {
        let counts = self.counts.iter_mut().enumerate().filter(|(index, _)| is_left(*index));
        counts.filter_map(|(index, count)| count.take().map(|count| (index, count))).collect()
    }
}
