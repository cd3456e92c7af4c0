//! The layers of the chain. Each answers what it can and asks the next one otherwise.

mod cache;
mod constants;
mod external;
mod intervals;
mod logged;
mod recent_models;
mod repair;
mod slices;
mod smt;
mod verified;

pub(crate) use cache::Cache;
pub(crate) use constants::Constants;
pub(crate) use external::External;
pub use intervals::{
    Bounds, BoxTactics, Exclusions, Filtering, FloatRange, FloatRelation, SplittingOrder, Traversal, bounds,
};
pub(crate) use intervals::{Boxes, Intervals, graph_bounds, variable_bounds};
pub(crate) use logged::Logged;
pub use logged::QueryLog;
pub(crate) use recent_models::RecentModels;
pub(crate) use repair::Repair;
pub(crate) use slices::{Slices, connected};
pub(crate) use smt::Smt;
pub(crate) use verified::Verified;

use crate::answer::{Solved, Statistics};
use crate::model::Model;
use crate::terms::{TermId, Terms};

/// A conjunction and the model to stay close to.
#[derive(Copy, Clone)]
pub(crate) struct Query<'a> {
    pub terms: &'a Terms,
    pub constraints: &'a [TermId],
    pub hint: &'a Model,
}

impl Query<'_> {
    /// Whether a float operator occurs in it.
    pub(crate) fn has_floats(&self) -> bool {
        self.constraints.iter().any(|&constraint| self.terms.has_floats(constraint))
    }
}

/// Whether a layer does anything.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    On,
    Off,
}

/// Below [`Slices`] a model assigns the variables of the query that matter; above, it is the whole hint with
/// those replaced.
pub(crate) trait Decide {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved;
}
