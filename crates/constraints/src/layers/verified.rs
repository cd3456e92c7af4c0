use super::{Decide, Query};
use crate::answer::{Answer, Reason, Solved, Statistics};
use crate::model::Evaluator;
use crate::terms::TermId;

/// No model leaves the chain unless it satisfies the query as the caller asked it, by plain evaluation.
pub(crate) struct Verified<Inner> {
    inner: Inner,
    evaluator: Evaluator,
}

impl<Inner> Verified<Inner> {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner, evaluator: Evaluator::new() }
    }
}

impl<Inner: Decide> Decide for Verified<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        let solved = self.inner.decide(query, statistics);
        let Answer::Sat(model) = &solved.answer else {
            return solved;
        };
        self.evaluator.reset();
        let mut fails = |constraint| self.evaluator.evaluate(query.terms, model, constraint) != 1;
        match query.constraints.iter().copied().find(|&constraint| fails(constraint)) {
            Some(constraint) => rejected(&solved, constraint),
            None => solved,
        }
    }
}

fn rejected(solved: &Solved, constraint: TermId) -> Solved {
    Solved::unknown(Reason::ModelRejected { layer: solved.layer, constraint }, solved.layer)
}
