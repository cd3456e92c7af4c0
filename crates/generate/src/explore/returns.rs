//! Tests that return, for goals that only paths have reached which do not.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use branchwise_constraints::Model;
use branchwise_goals::GoalId;
use branchwise_program::map::Event;
use branchwise_search::{Candidate, Status};
use branchwise_symbolic::{AlternativeKind, Path, PathEnd};

use super::{Budget, Exploration};
use crate::replayed::{called, predicted_trace};

/// Ways out of unfinished paths that one round tries.
const MOST_WAYS_OUT: usize = 16;

/// Inputs that one round tries instead of those that end in faults, and ways that it tries behind one fault.
const MOST_MENDS: usize = 64;
const MOST_LAST_WAYS: usize = 4;

impl Exploration<'_, '_> {
    /// A loop that does not end may be left on another way behind the same goal. No verdict rests on these paths: the goals
    /// are reached, and what is not found is only a better test.
    pub(super) fn look_for_returns(&mut self, budget: &mut Budget<'_>) {
        let mut returned = BTreeSet::new();
        for attempt in self.attempts.iter().filter(|attempt| returns(&attempt.path)) {
            returned.extend(self.goals_of(&attempt.path));
        }
        let (mut ways_left, mut mends_left) = (MOST_WAYS_OUT, MOST_MENDS);
        for index in 0..self.attempts.len() {
            let path = &self.attempts[index].path;
            let (unfinished, faulty) = (is_unfinished(path), is_faulty(path));
            if !unfinished && !faulty {
                continue;
            }
            let path = path.clone();
            for goal in self.goals_of(&path) {
                if returned.contains(&goal) {
                    continue;
                }
                returned.extend(match unfinished {
                    true => self.return_behind(goal, &path, &mut ways_left, budget),
                    false => self.mended(goal, &path, &mut mends_left, budget),
                });
            }
        }
    }

    /// The same behind the goal of a path that ends in a fault: where an array was too short a longer one is tried, where an
    /// index was too large a smaller one, and again where that comes to another fault.
    fn mended(
        &mut self,
        goal: GoalId,
        path: &Path,
        mends_left: &mut usize,
        budget: &mut Budget<'_>,
    ) -> BTreeSet<GoalId> {
        let mut faulty = Some(path.clone());
        while let Some(path) = faulty.take() {
            for candidate in self.last_ways(goal, &path) {
                if *mends_left == 0 || self.must_stop(budget) || budget.spent() >= 1.0 {
                    return BTreeSet::new();
                }
                *mends_left -= 1;
                let Some((found, model, reached)) = self.tried(goal, candidate, budget) else { continue };
                if returns(&found) {
                    self.keep(found, &model, true);
                    return reached;
                }
                if is_faulty(&found) {
                    self.insert(&found, &Rc::new(model));
                    faulty = Some(found);
                    break;
                }
            }
        }
        BTreeSet::new()
    }

    /// The last alternatives behind the goal that nobody took and that are no faults.
    fn last_ways(&mut self, goal: GoalId, path: &Path) -> Vec<Candidate> {
        let goes_on = |kind| matches!(kind, AlternativeKind::Event(_) | AlternativeKind::Continue);
        let untaken = self.untaken_behind(goal, path).into_iter().rev();
        untaken.filter(|(kind, _)| goes_on(*kind)).map(|(_, way)| way).take(MOST_LAST_WAYS).collect()
    }

    /// Whether it is the first path that returns from a goal which others have reached.
    pub(super) fn returns_first(&mut self, path: &Path, fresh: &[GoalId]) -> bool {
        if !returns(path) {
            self.unreturned.extend(fresh);
            return false;
        }
        if self.unreturned.is_empty() {
            return false;
        }
        let reached = self.goals_of(path);
        let before = self.unreturned.len();
        self.unreturned.retain(|goal| !reached.contains(goal));
        self.unreturned.len() < before
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
            let tried = self.tried(goal, candidate, budget);
            if let Some((found, model, reached)) = tried.filter(|(found, ..)| returns(found)) {
                self.keep(found, &model, true);
                return reached;
            }
        }
        BTreeSet::new()
    }

    /// The path that takes an alternative, its input and all that it reaches, if the goal is among that.
    fn tried(
        &mut self,
        goal: GoalId,
        candidate: Candidate,
        budget: &mut Budget<'_>,
    ) -> Option<(Path, Model, BTreeSet<GoalId>)> {
        budget.steps += 1;
        let model = self.solve(candidate)?;
        let found = self.run_path(&model, budget);
        let reached = self.goals_of(&found);
        (reached.contains(&goal) && !self.is_no_test(&found)).then_some((found, model, reached))
    }

    /// The alternatives behind the goal that nobody took: of each outcome the first and the last.
    fn ways_out(&mut self, goal: GoalId, path: &Path) -> Vec<Candidate> {
        let mut ways: BTreeMap<Event, (Candidate, Candidate)> = BTreeMap::new();
        for (kind, candidate) in self.untaken_behind(goal, path) {
            if let AlternativeKind::Event(event) = kind {
                ways.entry(event).or_insert((candidate, candidate)).1 = candidate;
            }
        }
        let mut ways: Vec<Candidate> = ways.into_values().flat_map(|(first, last)| [first, last]).collect();
        ways.sort();
        ways.dedup();
        ways
    }

    /// The alternatives of a path's decisions behind the goal that nobody took, in their order.
    fn untaken_behind(&mut self, goal: GoalId, path: &Path) -> Vec<(AlternativeKind, Candidate)> {
        let reached = |event: &Event| self.ledger.goal(goal).helped_by(*event);
        let Some(first) = path.events.iter().position(reached) else { return Vec::new() };
        let choices = self.choices(path);
        let nodes = self.tree.insert(&choices).nodes;
        let behind = path.decisions.iter().zip(nodes).filter(|(decision, _)| decision.events_before > first);
        let ways = behind.flat_map(|(decision, node)| {
            let alternatives = decision.alternatives.iter().enumerate();
            alternatives.map(move |(branch, alternative)| (alternative.kind, Candidate { node, branch }))
        });
        let is_untaken =
            |way: &Candidate| matches!(self.tree.status(way.node, way.branch), Status::Open | Status::Skipped);
        ways.filter(|(_, way)| is_untaken(way)).collect()
    }
}

fn returns(path: &Path) -> bool {
    path.end == PathEnd::Returned
}

fn is_faulty(path: &Path) -> bool {
    matches!(path.end, PathEnd::Fault(_) | PathEnd::SizeBound { .. })
}

/// A limit ended it, so that natively it may go on for ever.
fn is_unfinished(path: &Path) -> bool {
    matches!(path.end, PathEnd::LoopBound { .. } | PathEnd::InstructionLimit { .. } | PathEnd::CallDepth { .. })
}
