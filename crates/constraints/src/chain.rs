//! The policy of the solver, top to bottom.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::layers::{Boxes, Cache, Constants, Intervals, RecentModels, Repair, Slices, Smt, Verified};
use crate::smt::{Backend, backend};
use crate::solver::{Limits, SolverSettings};

/// A query falls through, outermost first, until a layer can answer it.
pub(crate) type Chain = Verified<Constants<Slices<RecentModels<Cache<Intervals<Repair<Boxes<Smt>>>>>>>>;

pub(crate) fn build_chain(settings: SolverSettings) -> Chain {
    let (limits, interrupt) = (settings.limits, settings.interrupt.clone());
    chain_over(backend(settings), limits, interrupt)
}

pub(crate) fn chain_over(backend: Box<dyn Backend>, limits: Limits, interrupt: Arc<AtomicBool>) -> Chain {
    let smt = Smt::new(backend, interrupt.clone());
    let boxes = Boxes::new(smt, limits, interrupt);
    let repair = Repair::new(boxes);
    let intervals = Intervals::new(repair);
    let cache = Cache::new(intervals);
    let recent_models = RecentModels::new(cache);
    let slices = Slices::new(recent_models);
    let constants = Constants::new(slices);
    Verified::new(constants)
}
