use super::smt::checked;
use super::{Decide, Query};
use crate::answer::{Answer, Layer, Reason, Solved, Statistics};
use crate::model::Evaluator;
use crate::smt::{Backend, Verdict};

/// Asks another solver about what the inner layer leaves open, if there is one.
pub(crate) struct External<Inner> {
    inner: Inner,
    backend: Option<Box<dyn Backend>>,
    evaluator: Evaluator,
}

impl<Inner> External<Inner> {
    pub(crate) fn new(inner: Inner, backend: Option<Box<dyn Backend>>) -> Self {
        Self { inner, backend, evaluator: Evaluator::new() }
    }
}

impl<Inner: Decide> Decide for External<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        let solved = self.inner.decide(query, statistics);
        let (Some(backend), Answer::Unknown(reason)) = (&mut self.backend, &solved.answer) else { return solved };
        if *reason == Reason::Interrupted {
            return solved;
        }
        let other = match backend.solve(query.terms, query.constraints) {
            Verdict::Sat(model) => checked(query, &model, &mut self.evaluator, Layer::External),
            Verdict::Unsat(core) => Solved::unsat(core, Layer::External),
            Verdict::Unknown(Reason::Interrupted) => Solved::unknown(Reason::Interrupted, Layer::External),
            Verdict::Unknown(_) => return solved,
        };
        // A model that fails is no answer: what it leaves open has the reason that it had.
        if matches!(other.answer, Answer::Unknown(Reason::ModelRejected { .. })) { solved } else { other }
    }
}
