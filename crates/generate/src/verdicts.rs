//! What follows for a goal that no test reached.

use std::collections::BTreeSet;

use branchwise_goals::{Bound, Evidence, Goal, Ledger, TestId, UnknownReason, Verdict};
use branchwise_program::Program;
use branchwise_program::code::Location;
use branchwise_search::Guidance;

use crate::explore::{Counters, Limitations, Obstacle, ObstacleKind};

/// What holds for all inputs and paths that a verdict speaks of.
const ASSUMPTIONS: [&str; 3] = [
    "integer arithmetic wraps around as the machine's does",
    "a path ends at an access outside an object, through a null pointer, and at a division by zero",
    "pointers point to the start of an object",
];

/// Everything that the verdicts of one function rest on.
pub(crate) struct Judge<'a> {
    pub program: &'a Program,
    /// Of every round, the last one with the largest bounds.
    pub rounds: &'a [Limitations],
    pub counters: &'a Counters,
    pub closest: Option<TestId>,
}

impl Judge<'_> {
    /// The verdict for a goal that no test of the exploration reached. Where the last round was not finished, what the
    /// one before it showed within its own bounds still holds.
    pub(crate) fn unreached(&self, goal: &Goal) -> Verdict {
        let guidance = Guidance::new(&self.program.map, &Ledger::new(vec![goal.clone()]));
        let mut verdicts = self.rounds.iter().rev().map(|round| self.after_round(round, &guidance));
        let last = verdicts.next().unwrap_or_else(|| self.unknown("nothing was explored".to_string(), None));
        match last {
            Verdict::Unknown(_) => verdicts.find(|verdict| !matches!(verdict, Verdict::Unknown(_))).unwrap_or(last),
            decided => decided,
        }
    }

    fn after_round(&self, round: &Limitations, guidance: &Guidance) -> Verdict {
        let in_the_way = |obstacle: &&Obstacle| guidance.after(&obstacle.branch, &obstacle.positions).is_some();
        let obstacles: Vec<&Obstacle> = round.obstacles.iter().filter(in_the_way).collect();
        if let Some((reason, blocking)) = self.what_stopped_us(round, &obstacles) {
            return self.unknown(reason, blocking);
        }
        let bounds = bounds(round, &obstacles);
        let evidence = self.evidence(round);
        if bounds.is_empty() {
            Verdict::Infeasible(evidence)
        } else {
            Verdict::InfeasibleWithinBounds { bounds, evidence }
        }
    }

    fn unknown(&self, reason: String, blocking: Option<String>) -> Verdict {
        let solver_calls = self.counters.solver_calls.values().sum();
        Verdict::Unknown(UnknownReason {
            reason,
            blocking,
            paths: self.counters.paths,
            solver_calls,
            closest: self.closest,
        })
    }

    /// A reason for which nothing follows from the round, with the condition that blocks.
    fn what_stopped_us(&self, round: &Limitations, obstacles: &[&Obstacle]) -> Option<(String, Option<String>)> {
        if round.interrupted {
            return Some(("interrupted".to_string(), None));
        }
        if round.off_the_map {
            return Some(("a path is not in the control-flow graph (a fault of Branchwise)".to_string(), None));
        }
        let reasons = obstacles.iter().filter_map(|obstacle| self.reason(&obstacle.kind));
        let worst = reasons.min_by_key(|(rank, ..)| *rank).map(|(_, reason, blocking)| (reason, blocking));
        let addresses =
            round.looks_at_addresses.then(|| ("a path depends on the numbers of addresses".to_string(), None));
        worst.or(addresses)
    }

    /// Why an obstacle leaves a goal unknown, the most telling reason with the smallest rank; `None` for a bound.
    fn reason(&self, kind: &ObstacleKind) -> Option<(u32, String, Option<String>)> {
        match kind {
            ObstacleKind::Cut(_) => None,
            ObstacleKind::Unsupported { what, location } => {
                Some((0, format!("not supported yet: {what}{}", self.place(*location)), None))
            }
            ObstacleKind::Unsolved { condition, reason } => {
                Some((1, format!("a condition was not decided: {reason}"), Some(condition.clone())))
            }
            ObstacleKind::Uninitialised { location } => {
                Some((2, format!("a value that was never written decides{}", self.place(*location)), None))
            }
            ObstacleKind::Diverged => Some((3, "execution did not follow its model".to_string(), None)),
            ObstacleKind::OutOfBudget => {
                Some((4, "the budget of this function was used up before all paths were explored".to_string(), None))
            }
        }
    }

    fn place(&self, location: Option<Location>) -> String {
        let Some(location) = location else { return String::new() };
        let file = self.program.code.files.get(location.file as usize).map_or("", String::as_str);
        format!(" at {file}:{}", location.line)
    }

    fn evidence(&self, round: &Limitations) -> Evidence {
        let mut assumptions = ASSUMPTIONS.map(String::from).to_vec();
        if round.calls_stubs {
            assumptions.push(
                "functions that nobody defines return any value of their type and change nothing but what their \
                 parameters point to"
                    .to_string(),
            );
        }
        Evidence {
            proof: "every path that could lead there was executed or its condition refuted".to_string(),
            paths: self.counters.paths,
            refuted_prefixes: self.counters.refuted,
            assumptions,
        }
    }
}

fn bounds(round: &Limitations, obstacles: &[&Obstacle]) -> Vec<Bound> {
    let cut = |obstacle: &&Obstacle| match &obstacle.kind {
        ObstacleKind::Cut(bound) => Some(bound.clone()),
        _ => None,
    };
    let mut bounds: BTreeSet<Bound> = obstacles.iter().filter_map(cut).collect();
    if round.reads_state {
        bounds.insert(Bound { what: "calls in one test".to_string(), limit: 1 });
    }
    if round.reads_volatile {
        bounds.insert(Bound { what: "values of a volatile object in one test".to_string(), limit: 1 });
    }
    if let Some(limits) = round.arguments_of_main {
        bounds.insert(Bound { what: "arguments of main".to_string(), limit: limits.arguments });
        bounds.insert(Bound { what: "characters of an argument of main".to_string(), limit: limits.characters });
    }
    for (left, right) in &round.may_alias {
        bounds.insert(Bound { what: format!("objects shared by '{left}' and '{right}'"), limit: 0 });
    }
    for name in &round.always_null {
        bounds.insert(Bound { what: format!("objects behind '{name}'"), limit: 0 });
    }
    bounds.into_iter().collect()
}
