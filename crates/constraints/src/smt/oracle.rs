//! A second opinion on floats for tests: Z3's own theory of them. It is far too slow for use, but it shares nothing
//! with our bounds.

use z3::{SatResult, Solver};

use super::script::{is_exact, script};
use super::translate::in_new_timed_context;
use super::wire::Graph;
use crate::solver::Limits;

/// Whether the constraints have a model, if Z3 finds out; where its theory does not know all, only that there is none.
pub(crate) fn has_model(graph: &Graph, milliseconds: u64) -> Option<bool> {
    // Z3 finds out itself what is in it, and does not know the names of all logics.
    let text: String = script(graph).lines().filter(|line| !line.starts_with("(set-logic")).collect();
    let limits = Limits { milliseconds, ..Limits::default() };
    in_new_timed_context(&limits, || {
        let solver = Solver::new();
        solver.from_string(text.clone());
        match solver.check() {
            SatResult::Sat => is_exact(graph).then_some(true),
            SatResult::Unsat => Some(false),
            SatResult::Unknown => None,
        }
    })
}
