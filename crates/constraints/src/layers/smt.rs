use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Decide, Query};
use crate::answer::{Layer, Reason, Solved, Statistics};
use crate::smt::{Backend, Verdict};

/// The last layer: the SMT solver, in this process or in another.
pub(crate) struct Smt {
    backend: Box<dyn Backend>,
    interrupt: Arc<AtomicBool>,
}

impl Smt {
    pub(crate) fn new(backend: Box<dyn Backend>, interrupt: Arc<AtomicBool>) -> Self {
        Self { backend, interrupt }
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
        match verdict {
            Verdict::Sat(model) => Solved::sat(model, Layer::Smt),
            Verdict::Unsat => Solved::unsat(query.constraints.to_vec(), Layer::Smt),
            Verdict::Unknown(reason) => Solved::unknown(reason, Layer::Smt),
        }
    }
}
