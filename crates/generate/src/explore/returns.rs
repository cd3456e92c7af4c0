//! Tests that return, for goals that only unfinished paths have reached.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_goals::GoalId;
use branchwise_program::map::Event;
use branchwise_search::{Candidate, Status};
use branchwise_symbolic::{AlternativeKind, Path, PathEnd};

use super::{Budget, Exploration};
use crate::replayed::{called, predicted_trace};

/// Ways out of unfinished paths that one round tries.
const MOST_WAYS_OUT: usize = 16;

impl Exploration<'_, '_> {
    /// A loop that does not end may be left on another way behind the same goal. No verdict rests on these paths: the goals
    /// are reached, and what is not found is only a better test.
    pub(super) fn look_for_returns(&mut self, budget: &mut Budget<'_>) {
        let mut returned = BTreeSet::new();
        for attempt in self.attempts.iter().filter(|attempt| returns(&attempt.path)) {
            returned.extend(self.goals_of(&attempt.path));
        }
        let mut ways_left = MOST_WAYS_OUT;
        for index in 0..self.attempts.len() {
            let path = &self.attempts[index].path;
            if !is_unfinished(path) {
                continue;
            }
            let path = path.clone();
            for goal in self.goals_of(&path) {
                if !returned.contains(&goal) {
                    returned.extend(self.return_behind(goal, &path, &mut ways_left, budget));
                }
            }
        }
    }

    fn goals_of(&self, path: &Path) -> BTreeSet<GoalId> {
        let calls = called(path, self.session.function);
        self.ledger.reached_by_trace(&predicted_trace(path, &calls))
    }

    /// Keeps the first test found that reaches the goal as `path` does and returns; says what it reaches.
    fn return_behind(
        &mut self,
        goal: GoalId,
        path: &Path,
        ways_left: &mut usize,
        budget: &mut Budget<'_>,
    ) -> BTreeSet<GoalId> {
        for candidate in self.ways_out(goal, path) {
            if *ways_left == 0 || self.must_stop(budget) || budget.spent() >= 1.0 {
                break;
            }
            *ways_left -= 1;
            budget.steps += 1;
            let Some(model) = self.solve(candidate) else { continue };
            let found = self.run_path(&model, budget);
            let reached = self.goals_of(&found);
            if returns(&found) && reached.contains(&goal) && !self.is_no_test(&found) {
                self.keep(found, &model, true);
                return reached;
            }
        }
        BTreeSet::new()
    }

    /// The alternatives behind the goal that nobody took: of each outcome the first and the last.
    fn ways_out(&mut self, goal: GoalId, path: &Path) -> Vec<Candidate> {
        let reached = |event: &Event| self.ledger.goal(goal).helped_by(*event);
        let Some(first) = path.events.iter().position(reached) else { return Vec::new() };
        let choices = self.choices(path);
        let nodes = self.tree.insert(&choices).nodes;
        let mut ways: BTreeMap<Event, (Candidate, Candidate)> = BTreeMap::new();
        for (decision, &node) in path.decisions.iter().zip(&nodes).filter(|(it, _)| it.events_before > first) {
            for (branch, alternative) in decision.alternatives.iter().enumerate() {
                let candidate = Candidate { node, branch };
                if let (AlternativeKind::Event(event), Status::Open | Status::Skipped) =
                    (&alternative.kind, self.tree.status(node, branch))
                {
                    ways.entry(*event).or_insert((candidate, candidate)).1 = candidate;
                }
            }
        }
        let mut ways: Vec<Candidate> = ways.into_values().flat_map(|(first, last)| [first, last]).collect();
        ways.sort();
        ways.dedup();
        ways
    }
}

fn returns(path: &Path) -> bool {
    path.end == PathEnd::Returned
}

/// A limit ended it, so that natively it may go on for ever.
fn is_unfinished(path: &Path) -> bool {
    matches!(path.end, PathEnd::LoopBound { .. } | PathEnd::InstructionLimit { .. } | PathEnd::CallDepth { .. })
}
