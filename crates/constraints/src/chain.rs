//! The policy of the solver, top to bottom.

use crate::answer::Layer;
use crate::layers::{
    Boxes, Cache, Constants, External, Intervals, Logged, RecentModels, Repair, Slices, Smt, Switch, Verified,
};
use crate::smt::{Backend, backend, external};
use crate::solver::SolverSettings;

/// A query falls through, outermost first, until a layer can answer it.
pub(crate) type Chain =
    Verified<Constants<Slices<RecentModels<Cache<Logged<Intervals<Repair<Boxes<External<Smt>>>>>>>>>>;

pub(crate) fn build_chain(settings: SolverSettings) -> Chain {
    chain_over(backend(&settings), settings)
}

pub(crate) fn chain_over(backend: Box<dyn Backend>, settings: SolverSettings) -> Chain {
    let switch = |layer: Layer| if settings.without.contains(&layer) { Switch::Off } else { Switch::On };
    let smt = Smt::new(backend, settings.interrupt.clone());
    let external = External::new(smt, external(&settings));
    let boxes = Boxes::new(external, switch(Layer::Boxes), &settings);
    let repair = Repair::new(boxes, switch(Layer::Repair));
    let intervals = Intervals::new(repair, switch(Layer::Intervals));
    let logged = Logged::new(intervals, settings.log.clone());
    let cache = Cache::new(logged);
    let recent_models = RecentModels::new(cache);
    let slices = Slices::new(recent_models);
    let constants = Constants::new(slices);
    Verified::new(constants)
}
