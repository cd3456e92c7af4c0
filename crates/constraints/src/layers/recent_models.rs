use std::collections::VecDeque;

use super::{Decide, Query};
use crate::answer::{Answer, Layer, Solved, Statistics};
use crate::model::{Evaluator, Model};

/// More models find a few more answers, but every miss pays for all of them.
const KEPT_MODELS: usize = 16;

/// Tries the models of the last slices. Neighbouring paths differ in one condition, and an input found for one
/// often takes the other side of another.
pub(crate) struct RecentModels<Inner> {
    inner: Inner,
    /// The latest first.
    models: VecDeque<Model>,
    evaluator: Evaluator,
}

impl<Inner> RecentModels<Inner> {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner, models: VecDeque::new(), evaluator: Evaluator::new() }
    }

    fn find(&mut self, query: &Query<'_>) -> Option<usize> {
        (0..self.models.len()).find(|&index| self.satisfies(query, index))
    }

    /// The newest constraint first: it is the one that the models found so far were not made for.
    fn satisfies(&mut self, query: &Query<'_>, index: usize) -> bool {
        self.evaluator.reset();
        let mut constraints = query.constraints.iter().rev();
        constraints.all(|&constraint| self.evaluator.evaluate(query.terms, &self.models[index], constraint) == 1)
    }

    fn keep(&mut self, hint: &Model, solved: &Model) {
        let mut whole = hint.clone();
        whole.overlay(solved);
        self.models.push_front(whole);
        self.models.truncate(KEPT_MODELS);
    }
}

impl<Inner: Decide> Decide for RecentModels<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        if let Some(index) = self.find(query) {
            let model = complete(query, &self.models[index]);
            return Solved::sat(model, Layer::RecentModels);
        }
        let solved = self.inner.decide(query, statistics);
        if let Answer::Sat(model) = &solved.answer {
            self.keep(query.hint, model);
        }
        solved
    }
}

/// A variable that the model leaves out counted as 0 when it was tried, so 0 it must be.
fn complete(query: &Query<'_>, model: &Model) -> Model {
    let mut completed = Model::new();
    for &constraint in query.constraints {
        for &variable in query.terms.variables(constraint).iter() {
            completed.set(variable, model.get(variable));
        }
    }
    completed
}
