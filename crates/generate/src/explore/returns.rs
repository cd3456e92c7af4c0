//! Tests that return, for goals that only paths have reached which do not.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use branchwise_constraints::{Model, holds};
use branchwise_goals::GoalId;
use branchwise_program::map::Event;
use branchwise_search::{Candidate, Status};
use branchwise_symbolic::{AlternativeKind, Fault, FaultKind, Path, PathEnd};

use super::seeds::{Named, by_name};
use super::{Budget, Exploration, OnGoals};
use crate::replayed::{called, predicted_trace};

/// Ways out of unfinished paths that one round tries.
const MOST_WAYS_OUT: usize = 16;

/// Inputs that are tried at once instead of those that end in faults, and ways behind one fault.
const MOST_MENDS: usize = 1024;
const MOST_FIRST_WAYS: usize = 2;
const MOST_LAST_WAYS: usize = 4;

/// The part of what is left of the budget that they may take.
const SHARE: f64 = 0.2;

/// What may still be tried instead of inputs that end in faults.
struct Mends {
    left: usize,
    until: f64,
}

impl Mends {
    fn within(budget: &Budget<'_>) -> Mends {
        let spent = budget.spent();
        Mends { left: MOST_MENDS, until: spent + SHARE * (1.0 - spent) }
    }

    fn are_over(&self, budget: &Budget<'_>) -> bool {
        self.left == 0 || budget.spent() >= self.until
    }
}

/// An alternative that nobody took, of one of a path's decisions.
#[derive(Clone, Copy)]
struct Untaken {
    kind: AlternativeKind,
    decision: usize,
    way: Candidate,
}

impl Exploration<'_, '_> {
    /// A loop that does not end may be left on another way behind the same goal. No verdict rests on these paths: the goals
    /// are reached, and what is not found is only a better test.
    pub(super) fn look_for_returns(&mut self, budget: &mut Budget<'_>) {
        let mut returned = BTreeSet::new();
        for attempt in self.attempts.iter().filter(|attempt| returns(&attempt.path)) {
            returned.extend(self.goals_of(&attempt.path));
        }
        let (mut ways_left, mut mends) = (MOST_WAYS_OUT, Mends::within(budget));
        for index in 0..self.attempts.len() {
            let path = &self.attempts[index].path;
            let (unfinished, faulty) = (is_unfinished(path), is_faulty(path));
            if !unfinished && !faulty {
                continue;
            }
            let (path, reached) = (path.clone(), self.goals_of(path));
            if !reached.is_subset(&returned) {
                self.add_attempt(index, &path);
            }
            for goal in reached {
                if returned.contains(&goal) {
                    continue;
                }
                returned.extend(match unfinished {
                    true => self.return_behind(goal, &path, &mut ways_left, budget),
                    false => self.mended(goal, &path, &mut mends, budget),
                });
            }
        }
        self.unreturned.retain(|goal| !returned.contains(goal));
    }

    /// Adds the path of an attempt to the tree, where it may be missing: inputs are followed beyond the bounds without it.
    fn add_attempt(&mut self, index: usize, path: &Path) {
        let model = Rc::new(self.model_of(&by_name(&self.attempts[index].named)));
        self.insert(path, &model);
    }

    /// The same for goals that were reached by inputs which are too short for what follows, with room for longer ones.
    pub(super) fn look_for_longer(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let starts = self.too_short();
        if starts.is_empty() || self.must_stop(budget) {
            return;
        }
        let mut mends = Mends::within(budget);
        self.with_more_room(budget, |above, budget| {
            let mut returned = BTreeSet::new();
            for (goal, start) in starts {
                if returned.contains(&goal) || mends.are_over(budget) {
                    continue;
                }
                let Some(path) = above.start_again(goal, &start, budget, on_goals) else { continue };
                returned.extend(above.mended(goal, &path, &mut mends, budget));
            }
        });
    }

    /// The path of an input that reaches the goal and ends in a fault; where it does so without null pointers too, that one.
    fn start_again(
        &mut self,
        goal: GoalId,
        start: &Named,
        budget: &mut Budget<'_>,
        on_goals: &mut OnGoals<'_>,
    ) -> Option<Path> {
        self.execute_named(start, budget, on_goals);
        let model = self.model_of(&by_name(start));
        let without_null = self.without_null(&model);
        without_null.into_iter().chain([model]).find_map(|model| {
            let path = self.run_path(&model, budget);
            let fits = is_faulty(&path) && self.goals_of(&path).contains(&goal);
            self.insert(&path, &Rc::new(model));
            fits.then_some(path)
        })
    }

    fn without_null(&self, model: &Model) -> Option<Model> {
        let (terms, inputs) = (&self.session.terms, &self.session.inputs);
        let mut without = model.clone();
        for (variable, value) in model.iter().filter(|(variable, _)| inputs.says_null(terms, *variable)) {
            if value != 0 {
                without.set(variable, 0);
            }
        }
        (without != *model).then_some(without)
    }

    /// The goals from which no path returns, each with an input that leads there and behind the end of an array.
    fn too_short(&self) -> Vec<(GoalId, Named)> {
        let mut goals = self.unreturned.clone();
        let mut starts = Vec::new();
        for attempt in self.attempts.iter().filter(|attempt| is_out_of_bounds(&attempt.path)) {
            let reached = self.goals_of(&attempt.path);
            starts.extend(reached.intersection(&goals).map(|&goal| (goal, attempt.named.clone())));
            goals.retain(|goal| !reached.contains(goal));
        }
        starts
    }

    /// The same behind the goal of a path that ends in a fault: where an array was too short a longer one is tried, where an
    /// index was too large a smaller one, and again where that comes to another fault or does not end.
    fn mended(&mut self, goal: GoalId, path: &Path, mends: &mut Mends, budget: &mut Budget<'_>) -> BTreeSet<GoalId> {
        let mut astray = Some((path.clone(), 0));
        while let Some((path, mended)) = astray.take() {
            for Untaken { decision, way, .. } in self.ways_around(goal, &path, mended) {
                if mends.are_over(budget) || self.must_stop(budget) {
                    return BTreeSet::new();
                }
                mends.left -= 1;
                let Some((found, model, reached)) = self.tried(goal, way, budget) else { continue };
                if returns(&found) {
                    self.keep(found, &model, true);
                    return reached;
                }
                if is_faulty(&found) || is_unfinished(&found) {
                    self.insert(&found, &Rc::new(model));
                    astray = Some((found, decision));
                    break;
                }
            }
        }
        BTreeSet::new()
    }

    /// Alternatives behind the goal that nobody took and that are no faults: the first outcomes behind the place that was
    /// mended last, since that may leave a loop, and the last of all.
    fn ways_around(&self, goal: GoalId, path: &Path, mended: usize) -> Vec<Untaken> {
        let is_outcome = |way: &Untaken| matches!(way.kind, AlternativeKind::Event(_));
        let mut untaken = self.untaken_behind(goal, path);
        untaken.retain(|way| is_outcome(way) || way.kind == AlternativeKind::Continue);
        let leaving = untaken.iter().filter(|way| way.decision > mended && is_outcome(way)).take(MOST_FIRST_WAYS);
        leaving.chain(untaken.iter().rev().take(MOST_LAST_WAYS)).copied().collect()
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
        let model = self.roomier(candidate, &model).unwrap_or(model);
        let found = self.run_path(&model, budget);
        let reached = self.goals_of(&found);
        (reached.contains(&goal) && !self.is_no_test(&found)).then_some((found, model, reached))
    }

    /// The same with twice as many elements as before where the last condition asks for more: what is read one by one asks for
    /// one more each time, and the solver gives as many as it likes.
    fn roomier(&self, candidate: Candidate, model: &Model) -> Option<Model> {
        let (terms, constraints) = (&self.session.terms, self.constraints(candidate));
        let variables = terms.variables(*constraints.last()?);
        let before = &self.knowledge[candidate.node.0 as usize].model;
        let mut roomier = model.clone();
        for &variable in variables.iter().filter(|&&variable| self.session.inputs.counts_elements(terms, variable)) {
            roomier.set(variable, 2 * before.get(variable) + 1);
        }
        (roomier != *model && holds(terms, &roomier, &constraints)).then_some(roomier)
    }

    /// The alternatives behind the goal that nobody took: of each outcome the first and the last.
    fn ways_out(&self, goal: GoalId, path: &Path) -> Vec<Candidate> {
        let mut ways: BTreeMap<Event, (Candidate, Candidate)> = BTreeMap::new();
        for Untaken { kind, way, .. } in self.untaken_behind(goal, path) {
            if let AlternativeKind::Event(event) = kind {
                ways.entry(event).or_insert((way, way)).1 = way;
            }
        }
        let mut ways: Vec<Candidate> = ways.into_values().flat_map(|(first, last)| [first, last]).collect();
        ways.sort();
        ways.dedup();
        ways
    }

    /// The alternatives of a path's decisions behind the goal that nobody took, in their order. The path is in the tree.
    fn untaken_behind(&self, goal: GoalId, path: &Path) -> Vec<Untaken> {
        let reached = |event: &Event| self.ledger.goal(goal).helped_by(*event);
        let Some(first) = path.events.iter().position(reached) else { return Vec::new() };
        let nodes = self.tree.nodes_along(path.decisions.iter().map(|decision| decision.taken));
        let mut untaken = Vec::new();
        for (number, (decision, node)) in path.decisions.iter().zip(nodes).enumerate() {
            let alternatives = decision.alternatives.iter().enumerate().filter(|_| decision.events_before > first);
            for (branch, alternative) in alternatives {
                if matches!(self.tree.status(node, branch), Status::Open | Status::Skipped) {
                    let way = Candidate { node, branch };
                    untaken.push(Untaken { kind: alternative.kind, decision: number, way });
                }
            }
        }
        untaken
    }
}

fn returns(path: &Path) -> bool {
    path.end == PathEnd::Returned
}

fn is_faulty(path: &Path) -> bool {
    fault(path).is_some()
}

fn is_out_of_bounds(path: &Path) -> bool {
    fault(path).is_some_and(|fault| fault.kind == FaultKind::OutOfBounds)
}

fn fault(path: &Path) -> Option<&Fault> {
    match &path.end {
        PathEnd::Fault(fault) | PathEnd::SizeBound { fault, .. } => Some(fault),
        _ => None,
    }
}

/// A limit ended it, so that natively it may go on for ever.
fn is_unfinished(path: &Path) -> bool {
    matches!(path.end, PathEnd::LoopBound { .. } | PathEnd::InstructionLimit { .. } | PathEnd::CallDepth { .. })
}
