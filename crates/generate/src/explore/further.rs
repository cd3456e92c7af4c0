//! Inputs whose paths the bound on iterations ended, followed further.

use std::rc::Rc;

use branchwise_constraints::{Model, TermId, VariableId, bounds, holds};
use branchwise_symbolic::{Path, PathEnd, RunLimits};

use super::{Budget, Exploration, INSTRUCTIONS_PER_STEP, OnGoals};

/// So many steps without a new goal come first: while single paths get on, what they reach has its alternatives in the tree.
/// Gauss-Jacobi quadrature needed more steps when it was followed at once.
const STEPS_WITHOUT_PROGRESS: u64 = 64;

/// Inputs that one round follows further, with others beside each.
const MOST_FOLLOWED: usize = 16;

/// Variables of one input that are moved.
const MOST_MOVED: usize = 4;

/// What all of them may execute in one round: as much as twenty steps.
const MOST_INSTRUCTIONS: u64 = 20 * INSTRUCTIONS_PER_STEP;

/// And one of them: a bisection of `double`s comes to its end in that, whatever their size.
const MOST_INSTRUCTIONS_OF_ONE: u64 = 5 * INSTRUCTIONS_PER_STEP;

/// How far a round has followed inputs beyond its bound on iterations.
#[derive(Default)]
pub(super) struct Followed {
    inputs: usize,
    waiting: Vec<(Path, Rc<Model>)>,
    instructions: u64,
}

impl Exploration<'_, '_> {
    /// Keeps an input whose path the bound ended, to be followed later.
    pub(super) fn note_cut(&mut self, path: &Path, model: &Rc<Model>) {
        let is_cut = matches!(path.end, PathEnd::LoopBound { .. });
        if is_cut && !self.ledger.wants_paths() && self.followed.inputs < MOST_FOLLOWED {
            self.followed.inputs += 1;
            self.followed.waiting.push((path.clone(), model.clone()));
        }
    }

    /// The bound is there because of the alternatives along a path; the path of one input alone costs little. What it reaches
    /// need not wait for the rounds with larger bounds, which begin when so much of the budget is spent. Solved for a few
    /// iterations, an input seldom makes many more, so that others are followed too: those at its ends, such as with a
    /// tolerance as small as it may be, and their neighbours. None of their alternatives is added to the tree: the
    /// conclusions of the round are those within its bounds.
    pub(super) fn follow_further(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        if budget.steps < self.last_progress + STEPS_WITHOUT_PROGRESS {
            return;
        }
        for (path, model) in std::mem::take(&mut self.followed.waiting) {
            for model in self.beside(&path, &model) {
                self.follow(&model, budget, on_goals);
            }
        }
    }

    fn follow(&mut self, model: &Model, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let left = MOST_INSTRUCTIONS.saturating_sub(self.followed.instructions);
        if self.ledger.open() == 0 || left == 0 || self.must_stop(budget) {
            return;
        }
        let instructions = left.min(MOST_INSTRUCTIONS_OF_ONE);
        let limits = RunLimits { instructions, loop_iterations: u64::MAX, ..self.run_limits(budget) };
        let path = self.session.run(model, &limits);
        self.followed.instructions += path.instructions;
        self.count_path(&path, budget);
        self.limitations.caveats.add(&path.notes.caveats);
        if !self.is_no_test(&path) && !self.note_goals(&path, budget, on_goals).is_empty() {
            self.keep(path, model, true);
        }
    }

    /// The input, those at its ends, and with each of these the ones in which another variable is the next greater.
    fn beside(&self, path: &Path, model: &Model) -> Vec<Model> {
        let (constraints, moved) = (constraints_of(path), self.last_decisive(path));
        let mut models = vec![model.clone()];
        for &variable in &moved {
            for end in self.at_ends(variable, &constraints, model) {
                let others = moved.iter().filter(|&&other| other != variable);
                models.extend(others.map(|&other| with(&end, other, end.get(other).wrapping_add(1))));
                models.push(end);
            }
        }
        models
    }

    /// The variables of the last decisions.
    fn last_decisive(&self, path: &Path) -> Vec<VariableId> {
        let mut decisive = Vec::new();
        for decision in path.decisions.iter().rev() {
            for &variable in self.session.terms.variables(decision.alternatives[decision.taken].constraint).iter() {
                if !decisive.contains(&variable) && decisive.len() < MOST_MOVED {
                    decisive.push(variable);
                }
            }
        }
        decisive
    }

    /// The input with one variable at the ends of its bounds, where it takes the same path.
    fn at_ends(&self, variable: VariableId, constraints: &[TermId], model: &Model) -> Vec<Model> {
        let terms = &self.session.terms;
        let Some(bounds) = bounds(terms, constraints, terms.variable_term(variable)) else { return Vec::new() };
        let mut ends = vec![bounds.unsigned.0, bounds.unsigned.1];
        ends.retain(|&end| end != model.get(variable));
        let moved = ends.into_iter().map(|end| with(model, variable, end));
        moved.filter(|moved| holds(terms, moved, constraints)).collect()
    }
}

/// The model with another value of one variable, of which only the bits of its width count.
fn with(model: &Model, variable: VariableId, value: u128) -> Model {
    let mut changed = model.clone();
    changed.set(variable, value);
    changed
}

fn constraints_of(path: &Path) -> Vec<TermId> {
    let of_decisions = path.decisions.iter().flat_map(|decision| {
        let taken = decision.alternatives[decision.taken].constraint;
        decision.domain.iter().copied().chain([taken])
    });
    of_decisions.chain(path.domain.iter().copied()).collect()
}
