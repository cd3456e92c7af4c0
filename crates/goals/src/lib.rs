//! Criteria turn the map into goals; the ledger keeps the verdict of each.
//!
//! This crate knows the map and nothing of execution, solvers or processes.

mod abstraction;
mod ahead;
mod aim;
mod branch;
mod combinations;
mod course;
mod criterion;
mod definitions;
mod fragments;
mod goal;
mod graphs;
mod ledger;
mod loops;
mod nesting;
mod notation;
mod observer;
mod outcomes;
mod paths;
mod structural;
mod verdict;

pub use abstraction::{Abstraction, Decisions, TreeArc};
pub use aim::Aim;
pub use branch::branch_goals;
pub use course::{Course, Step, Trace, TraceEnd};
pub use criterion::Criterion;
pub use goal::{Goal, GoalId, GoalKind, Iterations, Needs};
pub use graphs::Graphs;
pub use ledger::{Effect, Ledger, Noted};
pub use nesting::{AbstractKind, AbstractNode, abstract_nodes};
pub use notation::{Notation, NotationError};
pub use paths::Structure;
pub use structural::goals;
pub use verdict::{Bound, Evidence, TestId, UnknownReason, Verdict};
