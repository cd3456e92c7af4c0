//! All ways at once, for the goals that following one path after the other does not settle.

use std::collections::HashSet;

use branchwise_program::map::Event;
use branchwise_search::{Branch, Guidance, Position};
use branchwise_symbolic::{Quest, RunLimits, Union, UnionLimits, UnionObstacle, UnionObstacleKind};

use super::{
    Budget, Exploration, GOING_ON, Limitations, OPERATIONS_PER_STEP, Obstacle, ObstacleKind, OnGoals, PATIENT, Part,
    can_follow, position,
};
use crate::goal_tree::outcomes;
use crate::settings::Strategy;

/// So many steps without a new goal: single paths do not get on.
const STALLED: u64 = 64;

/// The part of what is left of the budget that following all ways may take.
const SHARE: f64 = 0.3;

/// The same at the end.
const LAST_SHARE: f64 = 0.9;

const MOST_STATES: usize = 512;

impl Exploration<'_, '_> {
    pub(super) fn should_unite(&self, budget: &Budget<'_>) -> bool {
        let wait = match budget.settings.strategy {
            Strategy::Concolic => return false,
            Strategy::Tree => 0,
            Strategy::Hybrid => STALLED,
        };
        !self.united && self.ledger.open() > 0 && budget.steps >= self.last_progress + wait
    }

    /// Follows all ways at once; what it finds is executed like any other input, and what it shows of the rest is kept as
    /// the result of a round of its own.
    pub(super) fn unite(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        self.unite_with(budget.part(SHARE), budget, on_goals);
    }

    /// Does nothing but that, with most of what is left.
    pub(crate) fn unite_at_last(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        self.unite_with(budget.part(LAST_SHARE), budget, on_goals);
    }

    fn unite_with(&mut self, part: Part, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        self.united = true;
        let mut solver = part.solver(self.workers.clone(), PATIENT);
        let limits = UnionLimits {
            run: RunLimits { interrupt: part.flag(), ..self.run_limits(budget) },
            states: MOST_STATES,
            steps: part.steps().saturating_mul(OPERATIONS_PER_STEP),
        };
        let guidance = Guidance::new(self.routes, self.session.function, self.ledger);
        let matters = |event: Option<Event>, positions: &[_]| can_follow(&guidance, event, positions);
        let quest = Quest { watched: self.open_outcomes(), matters: &matters, solver: &mut solver };
        let Some(union) = self.session.unite(quest, &limits) else { return };
        budget.steps += solver.statistics().total() + union.work.steps / OPERATIONS_PER_STEP;
        self.counters.count_calls(&solver);
        self.counters.refuted += union.work.refuted;
        let mut limitations = self.limitations_of(&union, budget);
        for (event, model) in union.reached {
            if self.ledger.would_help(event) {
                self.execute(model, true, budget, on_goals);
            }
            if self.ledger.would_help(event) {
                let branch = Branch { event: Some(event), ..GOING_ON };
                limitations.add(ObstacleKind::Diverged, branch, &[]);
            }
        }
        self.settled = self.settles(&limitations);
        self.union = Some(limitations);
    }

    /// Whether nothing but bounds keeps it from deciding all goals that are still open.
    fn settles(&self, limitations: &Limitations) -> bool {
        let guidance = Guidance::new(self.routes, self.session.function, self.ledger);
        let in_the_way = |obstacle: &Obstacle| guidance.after(&obstacle.branch, &obstacle.positions).is_some();
        let only_bounds = limitations.obstacles.iter().all(|obstacle| obstacle.is_bound() || !in_the_way(obstacle));
        only_bounds && !limitations.caveats.looks_at_addresses && limitations.caveats.off_the_map.is_none()
    }

    /// What following all ways has shown, apart from the round's limitations. Where it has settled everything, these are
    /// its own.
    pub(crate) fn union_beside(&mut self, limitations: &mut Limitations) -> Option<Limitations> {
        let union = self.take_union()?;
        if !self.settled {
            return Some(union);
        }
        let (interrupted, out_of_memory) = (limitations.interrupted, limitations.out_of_memory);
        *limitations = Limitations { interrupted, out_of_memory, ..union };
        None
    }

    pub(crate) fn take_union(&mut self) -> Option<Limitations> {
        self.union.take()
    }

    /// Outcomes that reach a goal which is still open.
    fn open_outcomes(&self) -> HashSet<Event> {
        let map = &self.session.program.map;
        let open = self.ledger.goals().filter(|(id, _)| self.ledger.is_open(*id));
        open.flat_map(|(_, goal)| outcomes(map, goal)).collect()
    }

    fn limitations_of(&self, union: &Union, budget: &Budget<'_>) -> Limitations {
        let mut limitations = Limitations {
            calls: self.bounds.calls,
            caveats: union.caveats.clone(),
            united: true,
            ..Limitations::default()
        };
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
