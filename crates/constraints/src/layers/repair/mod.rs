//! Repair of the hint by evaluation alone.

mod floats;
mod moves;

use crate::answer::{Layer, Solved, Statistics};
use crate::hash::FastMap;
use crate::layers::{Decide, Query, Switch};
use crate::model::{Evaluator, Model};
use crate::terms::{TermId, Terms, VariableId};

use moves::{Move, conjuncts, moves};

/// How many moves are tried for one slice, and how many conjuncts are evaluated for them. A move that misses costs a
/// hundredth of a call of the SMT solver, and two queries of three have no model to find.
const MOST_TRIALS: u32 = 200;
const MOST_EVALUATIONS: u32 = 3000;

/// How many moves are made one after the other, and how often one variable.
const MOST_STEPS: u32 = 12;
const MOST_CHANGES: u32 = 2;

/// How many times as much is done where floats are compared: the SMT solver knows nothing of their arithmetic.
const FLOAT_EFFORT: u32 = 5;

/// How many moves are kept that change nothing yet.
const MOST_SIDEWAYS: usize = 4;

/// How many of the violated conjuncts are looked at before a move is made.
const MOST_TARGETS: usize = 3;

/// Changes one variable of the hint at a time until the slice holds. The hint comes from a path that shares all but
/// the last condition, so mostly one condition is violated and one change is enough; and the change is small, which
/// makes a nicer test than the SMT solver's bit patterns.
pub(crate) struct Repair<Inner> {
    inner: Inner,
    switch: Switch,
    evaluators: Evaluators,
}

/// Of the model as it is, and of the model with a move tried on it.
#[derive(Default)]
struct Evaluators {
    present: Evaluator,
    trial: Evaluator,
}

impl<Inner> Repair<Inner> {
    pub(crate) fn new(inner: Inner, switch: Switch) -> Self {
        Self { inner, switch, evaluators: Evaluators::default() }
    }
}

impl<Inner: Decide> Decide for Repair<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        if self.switch == Switch::Off {
            return self.inner.decide(query, statistics);
        }
        match Climb::new(query, &mut self.evaluators).run() {
            Some(model) => Solved::sat(model, Layer::Repair),
            None => self.inner.decide(query, statistics),
        }
    }
}

/// Hill climbing with the number of violated conjuncts as the height. A move that leaves it the same is made too, or
/// a chain such as `a < b < c` could not be pushed along.
struct Climb<'a> {
    terms: &'a Terms,
    conjuncts: Vec<TermId>,
    by_variable: FastMap<VariableId, Vec<usize>>,
    model: Model,
    violated: Vec<bool>,
    evaluators: &'a mut Evaluators,
    changes: FastMap<VariableId, u32>,
    trials: u32,
    evaluations: u32,
    /// Whether a condition is about floats: then no other layer may decide, and more is tried.
    floats: bool,
    /// Moves that left the target violated and nothing else: two of them may do what one cannot.
    sideways: Vec<Move>,
}

impl<'a> Climb<'a> {
    fn new(query: &Query<'a>, evaluators: &'a mut Evaluators) -> Self {
        let mut parts = Vec::new();
        query.constraints.iter().for_each(|&constraint| conjuncts(query.terms, constraint, &mut parts));
        let mut by_variable: FastMap<VariableId, Vec<usize>> = FastMap::default();
        let mut model = Model::new();
        for (index, &conjunct) in parts.iter().enumerate() {
            for &variable in query.terms.variables(conjunct).iter() {
                by_variable.entry(variable).or_default().push(index);
                model.set(variable, query.hint.get(variable));
            }
        }
        let mut climb = Self {
            terms: query.terms,
            violated: vec![false; parts.len()],
            conjuncts: parts,
            by_variable,
            model,
            evaluators,
            changes: FastMap::default(),
            trials: 0,
            evaluations: 0,
            floats: query.has_floats(),
            sideways: Vec::new(),
        };
        climb.look_again();
        climb
    }

    fn run(mut self) -> Option<Model> {
        for _ in 0..self.limit(MOST_STEPS) {
            let height = self.height();
            if height == 0 {
                return Some(self.model);
            }
            let best = self.best_move(height).or_else(|| self.sideways.pop())?;
            self.make(best);
        }
        (self.height() == 0).then_some(self.model)
    }

    fn height(&self) -> usize {
        self.violated.iter().filter(|&&violated| violated).count()
    }

    fn make(&mut self, best: Move) {
        self.model.set(best.variable, best.value);
        *self.changes.entry(best.variable).or_default() += 1;
        self.look_again();
    }

    fn look_again(&mut self) {
        self.evaluators.present.reset();
        for (violated, &conjunct) in self.violated.iter_mut().zip(&self.conjuncts) {
            *violated = self.evaluators.present.evaluate(self.terms, &self.model, conjunct) != 1;
        }
    }

    /// The first of the moves that leave the fewest violated, if it leaves no more than there are.
    fn best_move(&mut self, height: usize) -> Option<Move> {
        let mut best = None;
        let mut most = height;
        self.sideways.clear();
        let targets: Vec<usize> = (0..self.conjuncts.len()).rev().filter(|&index| self.violated[index]).collect();
        for &target in targets.iter().take(MOST_TARGETS) {
            let conjunct = self.conjuncts[target];
            for tried in moves(self.terms, &self.model, &mut self.evaluators.present, conjunct) {
                if self.trials >= self.limit(MOST_TRIALS) || self.evaluations >= self.limit(MOST_EVALUATIONS) {
                    return best;
                }
                if let Some(left) = self.attempt(tried, target, height, most) {
                    best = Some(tried);
                    if left == 0 {
                        return best;
                    }
                    most = left - 1;
                } else if self.floats && self.may_change(tried.variable) && self.keeps_others(tried, target) {
                    self.sideways.push(tried);
                }
            }
        }
        self.sideways.reverse();
        best
    }

    fn limit(&self, usual: u32) -> u32 {
        if self.floats { FLOAT_EFFORT * usual } else { usual }
    }

    fn may_change(&self, variable: VariableId) -> bool {
        let most = self.limit(MOST_CHANGES);
        self.changes.get(&variable).is_none_or(|&changes| changes < most)
    }

    /// Whether the move violates nothing that holds.
    fn keeps_others(&mut self, tried: Move, target: usize) -> bool {
        if self.sideways.len() >= MOST_SIDEWAYS {
            return false;
        }
        let before = self.model.get(tried.variable);
        self.model.set(tried.variable, tried.value);
        self.evaluators.trial.reset();
        let affected = self.by_variable.get(&tried.variable).cloned().unwrap_or_default();
        let keeps = affected.iter().all(|&index| index == target || self.violated[index] || !self.violates(index));
        self.model.set(tried.variable, before);
        keeps
    }

    /// How many are violated after the move, if the target is not and they are at most `most`.
    fn attempt(&mut self, tried: Move, target: usize, height: usize, most: usize) -> Option<usize> {
        if !self.may_change(tried.variable) {
            return None;
        }
        self.trials += 1;
        let before = self.model.get(tried.variable);
        self.model.set(tried.variable, tried.value);
        self.evaluators.trial.reset();
        let left = self.count_after(tried.variable, target, height, most);
        self.model.set(tried.variable, before);
        left
    }

    fn count_after(&mut self, variable: VariableId, target: usize, height: usize, most: usize) -> Option<usize> {
        if self.violates(target) {
            return None;
        }
        let affected = self.by_variable.get(&variable).cloned().unwrap_or_default();
        let mut left = height - affected.iter().filter(|&&index| self.violated[index]).count();
        // The newest first: the oldest conditions are those of the domain, which rarely fail.
        for &index in affected.iter().rev().filter(|&&index| index != target) {
            left += usize::from(self.violates(index));
            if left > most {
                return None;
            }
        }
        (left <= most).then_some(left)
    }

    fn violates(&mut self, index: usize) -> bool {
        self.evaluations += 1;
        self.evaluators.trial.evaluate(self.terms, &self.model, self.conjuncts[index]) != 1
    }
}
