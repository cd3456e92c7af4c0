//! The solver as its users see it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::answer::{Layer, Solved, Statistics};
use crate::chain::{Chain, build_chain};
use crate::layers::{BoxTactics, Decide, Query, QueryLog};
use crate::model::Model;
use crate::smt::{ExternalSolver, Workers};
use crate::terms::{TermId, Terms};

/// How the SMT solver decides what comes to it. Either is the faster one by far for some queries.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Procedure {
    /// All bits at once: conditions on paths.
    #[default]
    Eager,
    /// Equalities first, bits where they matter: many equal arguments of functions.
    Lazy,
}

/// How much one query may cost, and how it is spent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall clock, per call of the SMT solver. A worker that overruns is killed.
    pub milliseconds: u64,
    /// Steps as the SMT solver counts them: the limit that gives the same answer on a slow machine. The default
    /// took about 0.4 s on a hard query (`benches/queries.rs`), and 1.4 s on a machine with three times more to do than
    /// it has cores: it strikes before the default wall clock there too.
    pub resource: u32,
    /// Address space of the worker process.
    pub memory_megabytes: u64,
    pub procedure: Procedure,
}

impl Limits {
    pub const DEFAULT: Limits =
        Limits { milliseconds: 2000, resource: 2_000_000, memory_megabytes: 2048, procedure: Procedure::Eager };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[derive(Clone, Debug, Default)]
pub struct SolverSettings {
    pub limits: Limits,
    /// Where the SMT solver runs. Without workers it runs in this process, where it cannot be killed.
    pub workers: Option<Workers>,
    /// Asked about what all layers leave open.
    pub external: Option<ExternalSolver>,
    /// Layers that do nothing, to see what they are worth: intervals, repair and boxes can be left out.
    pub without: Vec<Layer>,
    pub tactics: BoxTactics,
    /// Where queries are written to.
    pub log: Option<Arc<QueryLog>>,
    /// Raised from outside, it makes a running [`Solver::check`] return within about 20 ms (with a worker).
    pub interrupt: Arc<AtomicBool>,
}

/// The chain of layers, from the cheapest to SMT. Its answers depend on the queries asked before (it reuses
/// models and answers), but on nothing else: the same queries in the same order give the same answers, unless
/// the wall-clock limit strikes.
///
/// It remembers answers by [`TermId`], so all queries to one solver are over one [`Terms`] arena.
pub struct Solver {
    chain: Chain,
    statistics: Statistics,
}

impl Solver {
    pub fn new(settings: SolverSettings) -> Self {
        Self { chain: build_chain(settings), statistics: Statistics::default() }
    }

    /// Decides the conjunction of `constraints`, terms of width 1. A model keeps the values of `hint` in every
    /// independent slice that the hint satisfies and for every variable that does not occur.
    pub fn check(&mut self, terms: &Terms, constraints: &[TermId], hint: &Model) -> Solved {
        let solved = self.chain.decide(&Query { terms, constraints, hint }, &mut self.statistics);
        self.statistics.count(&solved);
        solved
    }

    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    #[cfg(test)]
    pub(crate) fn with_backend(backend: Box<dyn crate::smt::Backend>) -> Self {
        let chain = crate::chain::chain_over(backend, SolverSettings::default());
        Self { chain, statistics: Statistics::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Answer, Layer, Reason};
    use crate::smt::{Backend, Verdict};

    /// Says that everything is 1.
    struct Liar;

    impl Backend for Liar {
        fn solve(&mut self, terms: &Terms, constraints: &[TermId]) -> Verdict {
            let variables = terms.variables(constraints[0]);
            Verdict::Sat(variables.iter().map(|&variable| (variable, 1)).collect())
        }
    }

    #[test]
    fn a_wrong_model_is_rejected_and_not_reused() {
        let mut terms = Terms::new();
        let x = terms.variable("x", 32);
        // Squares, because no cheaper layer finds their roots.
        let square = terms.mul(x, x);
        let (one, squared_five) = (terms.constant(1, 32), terms.constant(25, 32));
        let (is_one, is_five) = (terms.equal(square, one), terms.equal(square, squared_five));
        let mut solver = Solver::with_backend(Box::new(Liar));
        assert!(solver.check(&terms, &[is_one], &Model::new()).answer.is_sat());
        for _ in 0..2 {
            let solved = solver.check(&terms, &[is_five], &Model::new());
            let rejected = Reason::ModelRejected { layer: Layer::Smt, constraint: is_five };
            assert_eq!(solved.answer, Answer::Unknown(rejected));
        }
        assert_eq!(solver.statistics().unknown, 2);
    }
}
