//! All ways at once, for the goals that following one path after the other does not settle.

use std::collections::HashSet;

use branchwise_program::map::{Event, MarkerKind};
use branchwise_program::{FunctionId, MarkerId};
use branchwise_search::{Branch, Guidance, Position};
use branchwise_symbolic::{PendingUnion, Quest, RunLimits, Union, UnionLimits, UnionObstacle, UnionObstacleKind};

use super::{
    Budget, Exploration, GOING_ON, Limitations, OPERATIONS_PER_STEP, Obstacle, ObstacleKind, OnGoals, PATIENT, position,
};
use crate::goal_tree::{Foresight, outcomes};
use crate::settings::Strategy;

/// So many steps without a new goal: single paths do not get on.
const STALLED: u64 = 64;

/// The part of what is left of the budget that following all ways may take.
const SHARE: f64 = 0.3;

/// So many times as much where little is left to follow, and for a query: what it has cost is lost where it is stopped.
const LONGER: f64 = 2.5;

/// The same where it goes on.
const NEXT_SHARE: f64 = 0.6;

/// Single paths are followed for so much of the time in between.
const PAUSE: f64 = 0.6;

/// The same at the end.
const LAST_SHARE: f64 = 0.9;

const MOST_STATES: usize = 512;

/// Where inputs could share no more pairs of objects than these, all ways are followed with them shared from the start.
const FEW_PAIRS: usize = 2;

/// How far following all ways at once has come.
#[derive(Default)]
pub(super) struct Uniting<'p> {
    begun: bool,
    /// What is left to follow.
    rest: Option<PendingUnion<'p>>,
    /// Not before this part of the budget is spent, nor if single paths have found something since that many steps.
    go_on_at: f64,
    left_off_at: u64,
    /// Outcomes that some path took, where goals are more than outcomes: the others are steps on the way to them.
    taken: HashSet<Event>,
    /// Outcomes to which models did not lead that should have.
    diverged: Vec<Event>,
    /// What limits the conclusions from it.
    limitations: Option<Limitations>,
    /// These are all that is to know within the bounds.
    pub(super) settled: bool,
}

impl Uniting<'_> {
    /// Ways are not followed at once at all.
    pub(super) fn never() -> Self {
        Uniting { begun: true, ..Uniting::default() }
    }
}

impl Exploration<'_, '_> {
    pub(super) fn should_unite(&self, budget: &Budget<'_>) -> bool {
        let uniting = &self.uniting;
        let paused = || budget.spent() >= uniting.go_on_at && self.last_progress <= uniting.left_off_at;
        let again = || budget.settings.strategy == Strategy::Hybrid && uniting.rest.is_some() && paused();
        let due = !uniting.begun || again();
        let wanted = || self.has_open_outcomes() || !self.stepping_stones().is_empty();
        !budget.settings.strategy.is_path_by_path() && due && self.is_stalled(budget) && wanted()
    }

    /// Remembers the outcomes of a path.
    pub(super) fn note_taken(&mut self, events: &[Event]) {
        if !self.ledger.open_are_events() {
            self.uniting.taken.extend(events);
        }
    }

    /// Outcomes that no path took yet, of functions with goals that single outcomes do not reach (a statement, a pair of
    /// tests): the goals may lie behind them.
    fn stepping_stones(&self) -> HashSet<Event> {
        let map = &self.session.program.map;
        let open = self.ledger.goals().filter(|(id, goal)| self.ledger.is_open(*id) && !goal.is_an_event());
        let functions: HashSet<FunctionId> = open.map(|(_, goal)| goal.function).collect();
        let markers = functions.into_iter().flat_map(|function| &map.functions[function].markers);
        let outcomes =
            |marker: MarkerId| (0..map.markers[marker].outcomes()).map(move |outcome| Event { marker, outcome });
        let all = markers.copied().filter(|&marker| !matches!(map.markers[marker].kind, MarkerKind::Handler));
        all.flat_map(outcomes).filter(|event| !self.uniting.taken.contains(event)).collect()
    }

    /// Single paths do not get on.
    pub(super) fn is_stalled(&self, budget: &Budget<'_>) -> bool {
        budget.steps >= self.last_progress + STALLED
    }

    /// Following all ways would have to be done again with objects that inputs share; that covers those without as well.
    pub(crate) fn shares_first(&self) -> bool {
        let known = &self.session.inputs.sharing.shared;
        let new = self.limitations.caveats.could.shared.difference(known).count();
        !self.uniting.begun && (1..=FEW_PAIRS).contains(&new)
    }

    /// Follows all ways at once; what it finds is executed like any other input, and what it shows of the rest is kept as
    /// the result of a round of its own.
    pub(super) fn unite(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let before = budget.spent();
        self.unite_with(if self.uniting.begun { NEXT_SHARE } else { SHARE }, budget, on_goals);
        let now = budget.spent();
        self.uniting.go_on_at = now + PAUSE * (now - before);
        self.uniting.left_off_at = budget.steps;
    }

    /// Does nothing but that, with most of what is left.
    pub(crate) fn unite_at_last(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        self.unite_with(LAST_SHARE, budget, on_goals);
    }

    fn unite_with(&mut self, share: f64, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        self.uniting.begun = true;
        let rest = self.uniting.rest.take();
        let part = budget.part(share);
        let longer = budget.part((LONGER * share).min(LAST_SHARE));
        let mut solver = budget.solver_within(&longer, self.workers.clone(), PATIENT);
        let limits = UnionLimits {
            run: RunLimits { interrupt: longer.flag(), ..self.run_limits(budget) },
            pause: part.flag(),
            states: MOST_STATES,
            steps: part.steps().saturating_mul(OPERATIONS_PER_STEP),
        };
        let foresight = Foresight::new(self.routes, self.session.function, self.ledger);
        let matters = |event: Option<Event>, positions: &[_]| foresight.matters(event, positions);
        let (wanted, stones) = (self.open_outcomes(), self.stepping_stones());
        let watched = wanted.union(&stones).copied().collect();
        let quest = Quest { watched, matters: &matters, solver: &mut solver };
        let Some((union, rest)) = self.session.unite(rest, quest, &limits) else { return };
        self.uniting.rest = rest.filter(|rest| rest.fits(&limits));
        budget.steps += solver.statistics().total() + union.work.steps / OPERATIONS_PER_STEP;
        self.counters.count_calls(&solver);
        self.counters.refuted += union.work.refuted;
        let mut limitations = self.limitations_of(&union, budget);
        for (event, model) in union.reached {
            let is_new_step = stones.contains(&event) && !self.uniting.taken.contains(&event);
            if is_new_step || self.ledger.would_help(event) {
                self.execute(model, true, budget, on_goals);
            }
            if self.ledger.would_help(event) {
                self.uniting.diverged.push(event);
            }
        }
        for &event in &self.uniting.diverged {
            let branch = Branch { event: Some(event), ..GOING_ON };
            limitations.add(ObstacleKind::Diverged, branch, &[]);
        }
        self.uniting.settled = self.settles(&limitations);
        self.uniting.limitations = (!wanted.is_empty()).then_some(limitations);
    }

    /// Whether nothing but bounds keeps it from deciding all goals that are still open.
    fn settles(&self, limitations: &Limitations) -> bool {
        let guidance = Guidance::new(self.routes, self.session.function, self.ledger);
        let in_the_way = |obstacle: &Obstacle| guidance.after(&obstacle.branch, &obstacle.positions).is_some();
        if !self.ledger.open_are_events() {
            return false;
        }
        let only_bounds = limitations.obstacles.iter().all(|obstacle| obstacle.is_named() || !in_the_way(obstacle));
        only_bounds && !limitations.caveats.looks_at_addresses && limitations.caveats.off_the_map.is_none()
    }

    /// What following all ways has shown, apart from the round's limitations. Where it has settled everything, these are
    /// its own.
    pub(crate) fn union_beside(&mut self, limitations: &mut Limitations) -> Option<Limitations> {
        let union = self.take_union()?;
        if !self.uniting.settled {
            return Some(union);
        }
        let (interrupted, out_of_memory) = (limitations.interrupted, limitations.out_of_memory);
        *limitations = Limitations { interrupted, out_of_memory, ..union };
        None
    }

    pub(crate) fn take_union(&mut self) -> Option<Limitations> {
        self.uniting.limitations.take()
    }

    /// Whether single outcomes can still reach a goal; asked at every step.
    pub(super) fn has_open_outcomes(&self) -> bool {
        self.ledger.goals().any(|(id, goal)| goal.is_an_event() && self.ledger.is_open(id))
    }

    /// Outcomes that reach a goal which is still open.
    pub(super) fn open_outcomes(&self) -> HashSet<Event> {
        let map = &self.session.program.map;
        let open = self.ledger.goals().filter(|(id, _)| self.ledger.is_open(*id));
        open.flat_map(|(_, goal)| outcomes(map, goal)).collect()
    }

    fn limitations_of(&self, union: &Union, budget: &Budget<'_>) -> Limitations {
        let within = Limitations::within(&self.bounds);
        let mut limitations = Limitations { caveats: union.caveats.clone(), united: true, ..within };
        for UnionObstacle { kind, positions } in &union.obstacles {
            match kind {
                UnionObstacleKind::End(end) => {
                    let Some(kind) = self.obstacle_at_end(end, budget) else { continue };
                    limitations.add(kind, GOING_ON, &self.positions_left_by(end, positions));
                }
                UnionObstacleKind::Undecided { event, condition, reason } => {
                    let condition = self.session.terms.display(*condition).at_most(40).to_string();
                    let kind = ObstacleKind::Unsolved { condition, reason: reason.to_string() };
                    let positions: Vec<Position> = positions.iter().map(position).collect();
                    limitations.add(kind, Branch { event: Some(*event), ..GOING_ON }, &positions);
                }
            }
        }
        limitations
    }
}
