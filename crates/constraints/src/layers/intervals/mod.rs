//! Refutation by bounds.

mod backward;
mod forward;
mod propagation;
mod range;

use crate::answer::{Layer, Solved, Statistics};
use crate::layers::{Decide, Query};
use crate::model::{Evaluator, Model};
use crate::smt::wire;
use crate::terms::VariableId;

use propagation::contracted;
use range::Range;

/// Bounds each term of the slice in the unsigned and in the signed order, from the variables up and from the
/// constraints down. A term without values refutes the slice. Bounds never prove that there is a model, but the values
/// of the hint moved within them are tried.
pub(crate) struct Intervals<Inner> {
    inner: Inner,
    evaluator: Evaluator,
}

impl<Inner> Intervals<Inner> {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner, evaluator: Evaluator::new() }
    }

    fn satisfies(&mut self, query: &Query<'_>, model: &Model) -> bool {
        self.evaluator.reset();
        let mut newest_first = query.constraints.iter().rev();
        newest_first.all(|&constraint| self.evaluator.evaluate(query.terms, model, constraint) == 1)
    }
}

impl<Inner: Decide> Decide for Intervals<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        let (graph, variables) = wire::graph(query.terms, query.constraints);
        let Some(bounds) = contracted(&graph) else {
            return Solved::unsat(query.constraints.to_vec(), Layer::Intervals);
        };
        let model = nearest_model(query, &variables, &bounds);
        if self.satisfies(query, &model) {
            return Solved::sat(model, Layer::Intervals);
        }
        self.inner.decide(query, statistics)
    }
}

/// The hint, each value moved to the nearest one within its bounds.
fn nearest_model(query: &Query<'_>, variables: &[VariableId], bounds: &[Range]) -> Model {
    let nearest = |(&variable, bounds): (&VariableId, &Range)| (variable, bounds.nearest(query.hint.get(variable)));
    variables.iter().zip(bounds).map(nearest).collect()
}
