//! Abstract nodes within which some paths are longer than others (Williams 2010, section 4): conditionals without an
//! else, and loops without a condition in their body.

use std::collections::{BTreeSet, HashMap, HashSet};

use branchwise_program::graph::{EndlessLoops, node_postdominators};
use branchwise_program::map::{Decision, DecisionKind, EdgeLabel, Event, Function, Map};
use branchwise_program::{FunctionId, IdVec, NodeId};

use crate::abstraction::{Abstraction, Decisions, TreeArc};
use crate::course::Step;
use crate::loops::{Laps, LoopShape};
use crate::outcomes::deciding;

/// How the concrete paths of one abstract path are ordered.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// One that takes the empty side of every conditional without an else is shorter than those that do not.
    EmptyElse,
    /// One with fewer iterations of a loop without a condition in its body, and nowhere more, is shorter.
    Iterations,
}

/// What the order looks at on one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rank {
    /// The arcs outside the abstract nodes.
    outside: Vec<TreeArc>,
    /// For conditionals whether any was not empty; for loops the iterations of each, one after the other.
    lengths: Vec<u64>,
}

impl Rank {
    pub fn is_shorter_than(&self, other: &Rank) -> bool {
        self.outside == other.outside
            && self.lengths.len() == other.lengths.len()
            && self.lengths != other.lengths
            && self.lengths.iter().zip(&other.lengths).all(|(own, other)| own <= other)
    }
}

/// The abstract nodes of every function.
#[derive(Debug)]
pub(crate) struct Fragments {
    functions: IdVec<FunctionId, FunctionFragments>,
}

#[derive(Debug, Default)]
struct FunctionFragments {
    loops: Vec<LoopShape>,
    /// Those without a condition in their body.
    plain_loops: BTreeSet<usize>,
    in_plain_loop: HashSet<NodeId>,
    in_empty_else: HashSet<NodeId>,
    /// The outcomes that enter the side that is not empty.
    not_empty: HashSet<Event>,
}

impl Fragments {
    pub fn of(map: &Map) -> Self {
        Fragments { functions: map.functions.values().map(|function| FunctionFragments::of(map, function)).collect() }
    }

    /// The most iterations that any loop on the way begins.
    pub fn most_iterations(&self, steps: &[Step]) -> u64 {
        let mut most = 0;
        self.count(steps, |_, _| {}, |_, laps| most = laps.running().map(|(_, count)| count).fold(most, u64::max));
        most
    }

    pub fn rank(&self, order: Order, decisions: &Decisions, steps: &[Step]) -> Rank {
        match order {
            Order::EmptyElse => {
                let (outside, inside) = self.split(decisions, steps, |function| &function.in_empty_else);
                let not_empty =
                    |(function, event): &(FunctionId, Event)| self.functions[*function].not_empty.contains(event);
                Rank { outside, lengths: vec![u64::from(inside.iter().any(not_empty))] }
            }
            Order::Iterations => {
                let (outside, _) = self.split(decisions, steps, |function| &function.in_plain_loop);
                let mut lengths = Vec::new();
                let left = |function: FunctionId, left: &[(usize, u64)]| {
                    let plain = left.iter().filter(|(index, _)| self.functions[function].plain_loops.contains(index));
                    lengths.extend(plain.map(|(_, count)| *count));
                };
                self.count(steps, left, |_, _| {});
                Rank { outside, lengths }
            }
        }
    }

    /// Counts iterations along the way; says which loops are left, and how the counts stand after every step.
    fn count(
        &self,
        steps: &[Step],
        mut left: impl FnMut(FunctionId, &[(usize, u64)]),
        mut stands: impl FnMut(FunctionId, &Laps),
    ) {
        let mut stack: Vec<(FunctionId, Laps)> = Vec::new();
        for step in steps {
            match *step {
                Step::Enter(function) => stack.push((function, Laps::of(&self.functions[function].loops))),
                Step::Leave => {
                    if let Some((function, mut laps)) = stack.pop() {
                        left(function, &laps.end());
                    }
                    continue;
                }
                _ => {}
            }
            let Some((function, laps)) = stack.last_mut() else { continue };
            let loops = &self.functions[*function].loops;
            match *step {
                Step::Node(node) => left(*function, &laps.arrive(loops, node)),
                Step::Take(event) => laps.take(loops, event),
                Step::Enter(_) | Step::Leave | Step::Call(_) => {}
            }
            stands(*function, laps);
        }
    }

    /// The arcs outside the nodes that are inside abstract ones, and the events inside. What such a node calls is inside
    /// too.
    fn split<'a>(
        &'a self,
        decisions: &Decisions,
        steps: &[Step],
        inside: impl Fn(&'a FunctionFragments) -> &'a HashSet<NodeId>,
    ) -> (Vec<TreeArc>, Vec<(FunctionId, Event)>) {
        let (mut outside, mut hidden) = (Vec::new(), Vec::new());
        let mut stack: Vec<(FunctionId, bool)> = Vec::new();
        let mut within = vec![false];
        for step in steps {
            match *step {
                Step::Enter(function) => {
                    stack.push((function, *within.last().unwrap_or(&false)));
                    within.push(stack.last().is_some_and(|(_, around)| *around));
                }
                Step::Leave => {
                    stack.pop();
                    within.pop();
                }
                Step::Node(node) => {
                    if let (Some((function, around)), Some(within)) = (stack.last(), within.last_mut()) {
                        *within = *around || inside(&self.functions[*function]).contains(&node);
                    }
                }
                Step::Take(event) => match (within.last(), stack.last()) {
                    (Some(true), Some((function, _))) => hidden.push((*function, event)),
                    _ => outside.extend(decisions.arc(Abstraction::EXPANDED, event, 0)),
                },
                Step::Call(_) => {}
            }
        }
        (outside, hidden)
    }
}

impl FunctionFragments {
    fn of(map: &Map, function: &Function) -> Self {
        let loops = function.loops.iter().map(|found| LoopShape::of(map, function, found)).collect();
        let mut fragments = FunctionFragments { loops, ..FunctionFragments::default() };
        for index in 0..fragments.loops.len() {
            if is_plain(map, function, &fragments.loops[index]) {
                fragments.plain_loops.insert(index);
                fragments.in_plain_loop.extend(&fragments.loops[index].body);
            }
        }
        let after = node_postdominators(&function.cfg, EndlessLoops::StopAtHeads);
        let mut successors: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut targets: HashMap<Event, NodeId> = HashMap::new();
        for edge in function.cfg.edges.values() {
            successors.entry(edge.from).or_default().push(edge.to);
            if let EdgeLabel::Outcome(event) = edge.label {
                targets.insert(event, edge.to);
            }
        }
        for decision in function.decisions.iter().filter(|decision| decision.kind == DecisionKind::If) {
            let Some(first) = decision.formula.leaves().first().map(|&leaf| map.markers[leaf].node) else { continue };
            let Some(join) = after.immediate(first) else { continue };
            if let Some(not_empty) = side_that_is_not_empty(decision, &targets, join) {
                fragments.not_empty.extend(deciding(&decision.formula, not_empty));
                fragments.in_empty_else.extend(between(&successors, first, join));
            }
        }
        fragments
    }
}

/// No condition in its body but its own, not in what it calls either.
fn is_plain(map: &Map, function: &Function, found: &LoopShape) -> bool {
    let Some(condition) = &found.condition else { return false };
    let own: HashSet<_> = condition.iter().map(|event| event.marker).collect();
    let decision = function.decisions.iter().find(|it| it.formula.leaves().iter().any(|leaf| own.contains(leaf)));
    let leaves = decision.map(|decision| decision.formula.leaves()).unwrap_or_default();
    let inside = |node: NodeId| found.body.contains(&node);
    let others =
        function.markers.iter().filter(|&&marker| inside(map.markers[marker].node) && !leaves.contains(&marker));
    let calls = function.calls.iter().filter(|call| inside(call.node));
    let known = |name: &str| map.closed_functions.contains(name);
    let mut opaque = calls.filter(|call| !call.callee.as_deref().is_some_and(known));
    others.count() == 0 && opaque.next().is_none()
}

/// The value with which a decision enters a side that is not empty, where its other side is.
fn side_that_is_not_empty(decision: &Decision, targets: &HashMap<Event, NodeId>, join: NodeId) -> Option<bool> {
    let is_empty = |value| {
        let events = deciding(&decision.formula, value);
        !events.is_empty() && events.iter().all(|event| targets.get(event) == Some(&join))
    };
    match (is_empty(true), is_empty(false)) {
        (false, true) => Some(true),
        (true, false) => Some(false),
        _ => None,
    }
}

/// The nodes from the first on that are not behind the join.
pub(crate) fn between(successors: &HashMap<NodeId, Vec<NodeId>>, first: NodeId, join: NodeId) -> HashSet<NodeId> {
    let mut found = HashSet::new();
    let mut open = vec![first];
    while let Some(node) = open.pop() {
        if node != join && found.insert(node) {
            open.extend(successors.get(&node).into_iter().flatten());
        }
    }
    found
}
