//! The policy of the solver, top to bottom.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::layers::{Cache, Constants, Intervals, RecentModels, Repair, Slices, Smt, Verified};
use crate::smt::{Backend, backend};
use crate::solver::SolverSettings;

/// A query falls through, outermost first, until a layer can answer it.
pub(crate) type Chain = Verified<Constants<Slices<RecentModels<Cache<Intervals<Repair<Smt>>>>>>>;

pub(crate) fn build_chain(settings: SolverSettings) -> Chain {
    let interrupt = settings.interrupt.clone();
    chain_over(backend(settings), interrupt)
}

pub(crate) fn chain_over(backend: Box<dyn Backend>, interrupt: Arc<AtomicBool>) -> Chain {
    let smt = Smt::new(backend, interrupt);
    let repair = Repair::new(smt);
    let intervals = Intervals::new(repair);
    let cache = Cache::new(intervals);
    let recent_models = RecentModels::new(cache);
    let slices = Slices::new(recent_models);
    let constants = Constants::new(slices);
    Verified::new(constants)
}
