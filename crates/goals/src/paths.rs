//! Criteria whose goals are paths. Which there are is found out while they are covered: a path that a trace shows first
//! becomes a goal, and one more goal stands for all others.

use std::collections::BTreeMap;
use std::sync::Arc;

use branchwise_program::FunctionId;
use branchwise_program::map::{Event, Map, Place};

use crate::abstraction::{Abstraction, Decisions, TreeArc};
use crate::ahead::{Covered, Outlook};
use crate::course::{Step, Trace, TraceEnd};
use crate::fragments::{Fragments, Order, Rank};
use crate::graphs::Graphs;
use crate::{Criterion, Goal, GoalId, GoalKind, Needs};

/// What is shared by all units of a program.
#[derive(Debug)]
pub struct Structure {
    pub(crate) graphs: Arc<Graphs>,
    pub(crate) decisions: Decisions,
    pub(crate) fragments: Fragments,
}

impl Structure {
    pub fn of(map: &Map) -> Self {
        Structure { graphs: Arc::new(Graphs::of(map)), decisions: Decisions::of(map), fragments: Fragments::of(map) }
    }
}

/// The paths of one unit for one criterion.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    unit: FunctionId,
    place: Place,
    criterion: Criterion,
    structure: Arc<Structure>,
    abstraction: Abstraction,
    /// Paths with more iterations of a loop are no goals.
    most_iterations: Option<u64>,
    order: Option<Order>,
    covered: Covered,
    known: BTreeMap<Vec<TreeArc>, GoalId>,
    ranks: Vec<(GoalId, Rank)>,
}

/// A path as a criterion sees it.
struct Seen {
    arcs: Vec<TreeArc>,
    steps: Vec<Step>,
}

impl Paths {
    /// `None` for a criterion whose goals are no paths.
    pub fn of(map: &Map, unit: FunctionId, criterion: Criterion, k: u64, structure: &Arc<Structure>) -> Option<Self> {
        let (abstraction, most_iterations, order) = match criterion {
            Criterion::AllPaths => (Abstraction::EXPANDED, None, None),
            Criterion::KPath => (Abstraction::EXPANDED, Some(k), None),
            Criterion::MinimalAllPaths => (Abstraction::MINIMAL, None, None),
            Criterion::EmptyElse => (Abstraction::EXPANDED, None, Some(Order::EmptyElse)),
            Criterion::MaxIterations => (Abstraction::EXPANDED, None, Some(Order::Iterations)),
            _ => return None,
        };
        let (covered, known, ranks) = Default::default();
        let structure = Arc::clone(structure);
        let place = map.functions[unit].place;
        Some(Paths { unit, place, criterion, structure, abstraction, most_iterations, order, covered, known, ranks })
    }

    /// How a decision came to its value makes no other path.
    pub fn hides_decisions(&self) -> bool {
        self.abstraction == Abstraction::MINIMAL && self.most_iterations.is_none() && self.order.is_none()
    }

    /// The goal that stands for all paths that no test takes.
    pub fn others(&self) -> Goal {
        let text = match self.most_iterations {
            Some(k) => format!("any other path with at most {k} iterations of each loop"),
            None => "any other path".to_string(),
        };
        self.goal(GoalKind::OtherPaths, text)
    }

    fn goal(&self, kind: GoalKind, text: String) -> Goal {
        let Paths { unit, place, criterion, .. } = *self;
        Goal { function: unit, criterion, kind, outcome: None, place, spelled: place, text, needs: Needs::Path }
    }

    /// The path of the unit under test that a trace shows from its entry to its end; `None` if it is no goal.
    fn seen(&self, trace: &Trace<'_>) -> Option<Seen> {
        if trace.end == TraceEnd::Stopped {
            return None;
        }
        let course = self.structure.graphs.follow(trace);
        let steps = of_last_call(course.steps, trace.calls.len());
        let fits = |most| self.structure.fragments.most_iterations(&steps) <= most;
        let is_goal = !course.lost && course.doubts.is_empty() && self.most_iterations.is_none_or(fits);
        is_goal.then(|| Seen { arcs: self.arcs(&steps), steps })
    }

    fn arcs(&self, steps: &[Step]) -> Vec<TreeArc> {
        let mut depth: usize = 0;
        let mut arcs = Vec::new();
        for step in steps {
            match *step {
                Step::Enter(_) => depth += 1,
                Step::Leave => depth = depth.saturating_sub(1),
                Step::Take(event) => {
                    arcs.extend(self.structure.decisions.arc(self.abstraction, event, depth.saturating_sub(1)));
                }
                Step::Node(_) | Step::Call(_) => {}
            }
        }
        arcs
    }

    /// The goal of a path that no trace has shown before; it gets this id.
    pub fn note(&mut self, trace: &Trace<'_>, id: GoalId) -> Option<Goal> {
        let seen = self.seen(trace)?;
        if !self.covered.add(&seen.arcs) {
            return None;
        }
        if let Some(order) = self.order {
            let Structure { decisions, fragments, .. } = &*self.structure;
            self.ranks.push((id, fragments.rank(order, decisions, &seen.steps)));
        }
        let text = self.structure.decisions.notation(self.abstraction, &seen.steps);
        self.known.insert(seen.arcs, id);
        Some(self.goal(GoalKind::Path, text))
    }

    /// The goal that a trace reaches.
    pub fn reached(&self, trace: &Trace<'_>) -> Option<GoalId> {
        self.seen(trace).and_then(|seen| self.known.get(&seen.arcs).copied())
    }

    /// Whether a partial path can be the beginning of one that is not covered (Williams 2010, section 5, points 1 to 3).
    pub fn may_be_new(&self, calls: &[FunctionId], events: &[Event]) -> bool {
        let Structure { graphs, decisions, fragments } = &*self.structure;
        let Some((steps, point)) = graphs.follow_prefix(calls, events) else { return true };
        if self.most_iterations.is_some_and(|most| fragments.most_iterations(&steps) > most) {
            return false;
        }
        let outlook = Outlook { graphs, decisions, abstraction: self.abstraction, covered: &self.covered };
        outlook.may_be_new(&self.arcs(&steps), point)
    }

    /// Paths that another one of the same abstract path is longer than: they need not be covered.
    pub fn shorter(&self) -> impl Iterator<Item = GoalId> {
        let is_shorter = |rank: &Rank| self.ranks.iter().any(|(_, other)| rank.is_shorter_than(other));
        self.ranks.iter().filter(move |(_, rank)| is_shorter(rank)).map(|(id, _)| *id)
    }
}

/// What happens in the last of the calls of a test.
fn of_last_call(steps: Vec<Step>, calls: usize) -> Vec<Step> {
    let (mut depth, mut begun, mut from) = (0, 0, steps.len());
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Enter(_) => {
                begun += usize::from(depth == 0);
                if depth == 0 && begun == calls {
                    from = index;
                }
                depth += 1;
            }
            Step::Leave => depth -= 1,
            _ => {}
        }
    }
    steps[from..].to_vec()
}
