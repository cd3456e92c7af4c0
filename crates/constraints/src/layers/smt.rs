use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Decide, Query};
use crate::answer::{Layer, Reason, Solved, Statistics};
use crate::model::{Evaluator, Model};
use crate::smt::{Backend, Verdict};
use crate::terms::{TermId, TermKind};

/// The last layer: the SMT solver, in this process or in another. A model is checked on its slice already here, so
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

    fn checked(&mut self, query: &Query<'_>, model: &Model) -> Solved {
        let model = completed(query, model);
        self.evaluator.reset();
        let mut fails = |constraint| self.evaluator.evaluate(query.terms, &model, constraint) != 1;
        match query.constraints.iter().find(|&&constraint| fails(constraint)) {
            Some(&constraint) => rejected(constraint),
            None => Solved::sat(model, Layer::Smt),
        }
    }
}

impl Decide for Smt {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        if self.interrupt.load(Ordering::Relaxed) {
            return Solved::unknown(Reason::Interrupted, Layer::Smt);
        }
        if has_floats(query) {
            return Solved::unknown(Reason::FloatingPoint, Layer::Smt);
        }
        let start = Instant::now();
        let verdict = self.backend.solve(query.terms, query.constraints);
        statistics.count_smt_call(start.elapsed());
        match verdict {
            Verdict::Sat(model) => self.checked(query, &model),
            Verdict::Unsat(core) => Solved::unsat(core, Layer::Smt),
            Verdict::Unknown(reason) => Solved::unknown(reason, Layer::Smt),
        }
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

fn has_floats(query: &Query<'_>) -> bool {
    let (graph, _) = crate::smt::wire::graph(query.terms, query.constraints);
    graph.nodes.iter().any(|node| matches!(node.kind, TermKind::Float(..)))
}

fn rejected(constraint: TermId) -> Solved {
    let layer = Layer::Smt;
    Solved::unknown(Reason::ModelRejected { layer, constraint }, layer)
}
