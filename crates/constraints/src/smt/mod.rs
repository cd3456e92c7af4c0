//! The SMT solver, Z3, behind one trait: in this process, or in a worker process that can be killed.
//! Both read the same encoded query, so that tests in one process exercise what the worker does. Beside it solvers of
//! other people that read SMT-LIB text.

mod child;
mod deadline;
mod external;
mod floats;
mod in_process;
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
use crate::solver::SolverSettings;
use crate::terms::{TermId, Terms};

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
