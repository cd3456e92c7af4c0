//! The SMT solver, Z3, behind one trait: in this process, or in a worker process that can be killed.
//! Both read the same encoded query, so that tests in one process exercise what the worker does. Beside it solvers of
//! other people that read SMT-LIB text.

mod child;
mod deadline;
mod external;
mod extremes;
mod floats;
mod in_process;
mod narrowing;
#[cfg(test)]
pub(crate) mod oracle;
pub(crate) mod script;
mod translate;
pub(crate) mod wire;
mod worker;

pub use child::Workers;
pub use external::ExternalSolver;
pub use worker::smt_worker_main;

use crate::answer::Reason;
use crate::model::Model;
use crate::solver::{Limits, SolverSettings};
use crate::terms::{TermId, TermKind, Terms};

/// The SMT solver's answer, before anyone has checked it. A model may leave out variables that do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sat(Model),
    /// Constraints of the query that already contradict each other, in the order of the query.
    Unsat(Vec<TermId>),
    Unknown(Reason),
}

pub(crate) trait Backend: Send {
    fn solve(&mut self, terms: &Terms, constraints: &[TermId]) -> Verdict;
}

/// Of the steps, what a query with floats gets: results of their arithmetic may be anything here, so that what can be refuted
/// is so soon, and models are guesses.
const SHARE_FOR_FLOATS: u32 = 8;

/// Steps for each result of float arithmetic. A query that has more of them is not worth its translation: bounds and the order
/// of floats have refuted what depends on little else.
const STEPS_PER_FLOAT: u32 = 16_384;

/// The limits for a query; `None` if it is left undecided.
fn limits_for(graph: &wire::Graph, limits: &Limits) -> Option<Limits> {
    let is_float = |node: &&wire::GraphNode| matches!(node.kind, TermKind::Float(..));
    let is_result = |node: &&wire::GraphNode| matches!(node.kind, TermKind::Float(op, ..) if !op.is_comparison());
    let results = graph.nodes.iter().filter(is_result).count();
    if results as u64 > u64::from(limits.resource / STEPS_PER_FLOAT) {
        return None;
    }
    let share = if graph.nodes.iter().any(|node| is_float(&node)) { SHARE_FOR_FLOATS } else { 1 };
    Some(Limits { resource: limits.resource / share, ..*limits })
}

pub(crate) fn backend(settings: &SolverSettings) -> Box<dyn Backend> {
    match &settings.workers {
        Some(workers) => Box::new(child::Child::new(workers.clone(), settings.limits, settings.interrupt.clone())),
        None => Box::new(in_process::InProcess::new(settings.limits)),
    }
}

/// The external solver, if there is one.
pub(crate) fn external(settings: &SolverSettings) -> Option<Box<dyn Backend>> {
    let solver = settings.external.clone()?;
    Some(Box::new(external::External::new(solver, settings.limits, settings.interrupt.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floats::FloatOp;
    use crate::solver::Procedure;

    const LIMITS: Limits =
        Limits { milliseconds: 60_000, resource: 400_000, memory_megabytes: 512, procedure: Procedure::Eager };

    /// The factors of a 62-bit product of two primes, and conditions that so many products of floats made of one are positive.
    fn factors(products: u32) -> (Terms, Vec<TermId>) {
        let mut terms = Terms::new();
        let [x, y] = ["x", "y"].map(|name| terms.variable(name, 32));
        let [wide_x, wide_y] = [x, y].map(|factor| terms.zero_extend(factor, 64));
        let product = terms.mul(wide_x, wide_y);
        let (number, one) = (terms.constant(2_147_483_647 * 2_147_483_629, 64), terms.constant(1, 32));
        let mut constraints =
            vec![terms.equal(product, number), terms.unsigned_less(one, x), terms.unsigned_less(x, y)];
        for number in 1..=products {
            let [zero, factor] = [0.0, f64::from(number)].map(|value| terms.constant(value.to_bits().into(), 64));
            let product = terms.float(FloatOp::Mul, 64, &[wide_x, factor]);
            constraints.push(terms.float(FloatOp::Less, 1, &[zero, product]));
        }
        (terms, constraints)
    }

    fn limits_of(products: u32) -> Option<Limits> {
        let (terms, constraints) = factors(products);
        limits_for(&wire::graph(&terms, &constraints).0, &LIMITS)
    }

    #[test]
    fn floats_get_a_share_of_the_steps_and_nothing_if_they_are_many() {
        assert_eq!(limits_of(0), Some(LIMITS));
        let share = Some(Limits { resource: 50_000, ..LIMITS });
        // 400,000 steps are enough for 24 results.
        assert_eq!([1, 24, 25].map(limits_of), [share, share, None]);
    }

    /// Nothing but the steps can stop it here: it would take hours, and there is a minute.
    #[test]
    fn a_hard_query_ends_at_its_limit() {
        let unknown = |products: u32| {
            let (terms, constraints) = factors(products);
            in_process::InProcess::new(LIMITS).solve(&terms, &constraints)
        };
        let ended = |steps: u32| Verdict::Unknown(Reason::ResourceLimit { steps });
        let many = Verdict::Unknown(Reason::FloatingPoint);
        assert_eq!([0, 1, 25].map(unknown), [ended(400_000), ended(50_000), many]);
    }
}
