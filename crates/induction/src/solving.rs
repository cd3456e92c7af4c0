//! The solver as proofs ask it: each query by a solver of its own, since each proof has terms of its own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use branchwise_constraints::{Answer, Layer, Model, Procedure, Solver, SolverSettings, TermId, Terms};

pub(crate) struct Solving<'a> {
    settings: &'a SolverSettings,
    calls: RefCell<BTreeMap<Layer, u64>>,
}

impl<'a> Solving<'a> {
    pub(crate) fn new(settings: &'a SolverSettings) -> Self {
        Solving { settings, calls: RefCell::default() }
    }

    /// Whether the conditions have a model.
    pub(crate) fn check(&self, terms: &Terms, conditions: &[TermId]) -> Answer {
        let mut settings = self.settings.clone();
        settings.limits.procedure = Procedure::Lazy;
        let solved = Solver::new(settings).check(terms, conditions, &Model::new());
        *self.calls.borrow_mut().entry(solved.layer).or_default() += 1;
        solved.answer
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.settings.interrupt.load(Ordering::Relaxed)
    }

    /// How many queries were asked, by the layer that answered.
    pub(crate) fn calls(self) -> BTreeMap<Layer, u64> {
        self.calls.into_inner()
    }
}
