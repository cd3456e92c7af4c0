//! Refutation by bounds.

#[cfg(test)]
mod agreement_tests;
mod backward;
mod boxes;
mod domain;
#[cfg(test)]
mod enumeration_tests;
mod exclusions;
mod float_backward;
mod float_forward;
mod float_propagation;
mod float_range;
mod float_sets;
#[cfg(test)]
mod float_tests;
mod forward;
#[cfg(test)]
mod integer_tests;
mod library;
#[cfg(test)]
mod library_tests;
mod order;
#[cfg(test)]
mod order_tests;
mod propagation;
mod range;
mod ratio;
#[cfg(test)]
mod soundness_tests;

use crate::answer::{Layer, Solved, Statistics};
use crate::hash::FastMap;
use crate::layers::{Decide, Query, Switch, connected};
use crate::model::{Evaluator, Model};
use crate::smt::wire;
use crate::terms::{TermId, Terms, VariableId};

pub(crate) use boxes::Boxes;
pub use boxes::{BoxTactics, Filtering, SplittingOrder, Traversal};
use domain::{Domain, Points};
pub use exclusions::Exclusions;
pub use float_range::FloatRange;
pub use float_sets::FloatRelation;
use propagation::contracted;
use range::Range;

/// Bounds each term of the slice in the unsigned and in the signed order, from the variables up and from the
/// constraints down. A term without values refutes the slice. Bounds never prove that there is a model, but the values
/// of the hint moved within them are tried, and a box of few points is searched from end to end.
pub(crate) struct Intervals<Inner> {
    inner: Inner,
    switch: Switch,
    evaluator: Evaluator,
}

impl<Inner> Intervals<Inner> {
    pub(crate) fn new(inner: Inner, switch: Switch) -> Self {
        Self { inner, switch, evaluator: Evaluator::new() }
    }

    fn satisfies(&mut self, query: &Query<'_>, model: &Model) -> bool {
        self.evaluator.reset();
        let mut newest_first = query.constraints.iter().rev();
        newest_first.all(|&constraint| self.evaluator.evaluate(query.terms, model, constraint) == 1)
    }
}

impl<Inner: Decide> Decide for Intervals<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        if self.switch == Switch::Off {
            return self.inner.decide(query, statistics);
        }
        let (graph, variables) = wire::graph(query.terms, query.constraints);
        let Some((bounds, floats)) = contracted(&graph) else {
            return Solved::unsat(query.constraints.to_vec(), Layer::Intervals);
        };
        let model = nearest_model(query, &variables, &bounds, &floats);
        if self.satisfies(query, &model) {
            return Solved::sat(model, Layer::Intervals);
        }
        let domains: Vec<Domain> =
            bounds.iter().zip(&floats).map(|(&range, &float)| Domain::of(range, float)).collect();
        match Points::of(&domains) {
            Some(points) if points.count.saturating_mul(graph.nodes.len() as u128) <= LARGEST_SEARCH => {
                let mut models = points.map(|point| variables.iter().copied().zip(point).collect());
                match models.find(|model| self.satisfies(query, model)) {
                    Some(model) => Solved::sat(model, Layer::Intervals),
                    None => Solved::unsat(query.constraints.to_vec(), Layer::Intervals),
                }
            }
            _ => self.inner.decide(query, statistics),
        }
    }
}

/// Bounds of a term, in both orders.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Bounds {
    pub unsigned: (u128, u128),
    pub signed: (i128, i128),
}

impl From<Range> for Bounds {
    fn from(range: Range) -> Self {
        Bounds { unsigned: (range.low, range.high), signed: (range.least, range.most) }
    }
}

/// The bounds of a term in all models of the constraints, as far as going through the terms a few times shows; `None` if
/// that shows that there is no model. Constraints on other variables say nothing of them.
pub fn bounds(terms: &Terms, constraints: &[TermId], term: TermId) -> Option<Bounds> {
    let mut slice = connected(terms, constraints, &[term]);
    slice.push(term);
    let (mut graph, _) = wire::graph(terms, &slice);
    let place = graph.constraints.pop()?;
    propagation::contracted_range(&graph, place).map(Bounds::from)
}

/// The bounds of the variables that occur in the constraints; none if the constraints exclude each other.
pub(crate) fn variable_bounds(terms: &Terms, constraints: &[TermId]) -> Option<FastMap<VariableId, Bounds>> {
    let (graph, variables) = wire::graph(terms, constraints);
    Some(variables.into_iter().zip(graph_bounds(&graph)?).collect())
}

/// The bounds of the variables of a graph, by their numbers; none if its constraints exclude each other.
pub(crate) fn graph_bounds(graph: &wire::Graph) -> Option<Vec<Bounds>> {
    let (ranges, _) = contracted(graph)?;
    Some(ranges.into_iter().map(Bounds::from).collect())
}

/// Evaluations of one term that are quicker than a call of the SMT solver: they take some 50 milliseconds.
const LARGEST_SEARCH: u128 = 2_000_000;

/// The hint, each value moved to the nearest one within its bounds.
fn nearest_model(
    query: &Query<'_>,
    variables: &[VariableId],
    bounds: &[Range],
    floats: &[Option<FloatRange>],
) -> Model {
    let nearest = |(&variable, (bounds, float)): (&VariableId, (&Range, &Option<FloatRange>))| {
        let hint = query.hint.get(variable);
        let value = match float {
            Some(float) => float.nearest(hint),
            None => bounds.nearest(hint),
        };
        (variable, value)
    };
    variables.iter().zip(bounds.iter().zip(floats)).map(nearest).collect()
}
