//! Branch and prune: what contraction and repair leave of a query with floats.

mod cell;
mod descent;
mod effort;
mod evaluation;
mod search;
mod tactics;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::answer::{Layer, Solved, Statistics};
use crate::layers::{Decide, Query, Switch};
use crate::smt::wire;
use crate::solver::{Limits, SolverSettings};

#[cfg(test)]
pub(super) use cell::variable_nodes;
use effort::Effort;
use search::{Found, Search};
pub use tactics::{BoxTactics, Filtering, SplittingOrder, Traversal};

/// Sy and Deville's solving of path constraints: contract the box of all inputs, look for a solution among a few of its
/// points, bisect it, go on with the halves. When no box is left there is no model; a point counts only if it satisfies
/// the slice by evaluation. What the steps do not suffice for goes to the next layer.
pub(crate) struct Boxes<Inner> {
    inner: Inner,
    switch: Switch,
    tactics: BoxTactics,
    limits: Limits,
    interrupt: Arc<AtomicBool>,
}

impl<Inner> Boxes<Inner> {
    pub(crate) fn new(inner: Inner, switch: Switch, settings: &SolverSettings) -> Self {
        let SolverSettings { tactics, limits, .. } = *settings;
        Self { inner, switch, tactics, limits, interrupt: settings.interrupt.clone() }
    }
}

impl<Inner: Decide> Decide for Boxes<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        if self.switch == Switch::Off || !query.has_floats() {
            return self.inner.decide(query, statistics);
        }
        let (graph, variables) = wire::graph(query.terms, query.constraints);
        let hint: Vec<u128> = variables.iter().map(|&variable| query.hint.get(variable)).collect();
        let effort = Effort::new(&self.limits, &self.interrupt);
        match Search::new(&graph, &hint, effort, self.tactics).run() {
            Found::Point(point) => Solved::sat(variables.into_iter().zip(point).collect(), Layer::Boxes),
            Found::Nothing => Solved::unsat(query.constraints.to_vec(), Layer::Boxes),
            Found::Open => self.inner.decide(query, statistics),
        }
    }
}
