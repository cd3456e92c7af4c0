use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Decide, Query};
use crate::answer::{Answer, Layer, Reason, Solved, Statistics};
use crate::model::{Evaluator, Model};
use crate::smt::{Backend, Verdict};

/// The SMT solver, in this process or in another. A model is checked on its slice already here, so
/// that a wrong one is not remembered by the layers above.
pub(crate) struct Smt {
    backend: Box<dyn Backend>,
    interrupt: Arc<AtomicBool>,
    evaluator: Evaluator,
}

impl Smt {
    pub(crate) fn new(backend: Box<dyn Backend>, interrupt: Arc<AtomicBool>) -> Self {
        Self { backend, interrupt, evaluator: Evaluator::new() }
    }
}

impl Decide for Smt {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        if self.interrupt.load(Ordering::Relaxed) {
            return Solved::unknown(Reason::Interrupted, Layer::Smt);
        }
        let start = Instant::now();
        let verdict = self.backend.solve(query.terms, query.constraints);
        statistics.count_smt_call(start.elapsed());
        let solved = match verdict {
            Verdict::Sat(model) => checked(query, &model, &mut self.evaluator, Layer::Smt),
            Verdict::Unsat(core) => Solved::unsat(core, Layer::Smt),
            Verdict::Unknown(reason) => Solved::unknown(reason, Layer::Smt),
        };
        match &solved.answer {
            // The solver takes results of float arithmetic for anything, so that only its refutations count.
            Answer::Unknown(Reason::Interrupted) => solved,
            Answer::Unknown(_) if query.has_floats() => Solved::unknown(Reason::FloatingPoint, Layer::Smt),
            _ => solved,
        }
    }
}

/// The model of a solver, if it satisfies the slice.
pub(super) fn checked(query: &Query<'_>, model: &Model, evaluator: &mut Evaluator, layer: Layer) -> Solved {
    let model = completed(query, model);
    evaluator.reset();
    let mut fails = |constraint| evaluator.evaluate(query.terms, &model, constraint) != 1;
    match query.constraints.iter().find(|&&constraint| fails(constraint)) {
        Some(&constraint) => Solved::unknown(Reason::ModelRejected { layer, constraint }, layer),
        None => Solved::sat(model, layer),
    }
}

/// A value for each variable of the slice: the hint's where the solver says that it does not matter.
fn completed(query: &Query<'_>, model: &Model) -> Model {
    let mut completed = Model::new();
    for &constraint in query.constraints {
        for &variable in query.terms.variables(constraint).iter() {
            let value = model.assigned(variable).unwrap_or_else(|| query.hint.get(variable));
            completed.set(variable, value);
        }
    }
    completed
}
