//! Constraints over bit-vectors and floats: terms, models, and a chain of solvers.
//!
//! - [`Terms`] is a hash-consed arena; its constructors simplify.
//! - [`Model`] assigns values to variables; [`evaluate`] gives the value of a term under one.
//! - [`Solver`] decides conjunctions. Every answer names the [`Layer`] that gave it, and every model was evaluated
//!   on the whole query before it is returned.
//! - [`Formula`] is an and/or formula over conditions; [`linear`] decides one as a mixed-integer linear program.
//!
//! This crate knows nothing of programs, paths or goals. Only the module `smt` knows which SMT solvers are used.

mod answer;
mod chain;
mod display;
mod floats;
mod formula;
mod hash;
mod layers;
mod library;
pub mod linear;
mod model;
mod operators;
mod semantics;
mod simplify;
mod smt;
mod solver;
mod terms;

pub use answer::{Answer, Evidence, Layer, Reason, Solved, Statistics};
pub use display::Displayed;
pub use floats::{FloatOp, float_value};
pub use formula::Formula;
pub use hash::{FastHasher, FastMap};
pub use layers::{
    Bounds, BoxTactics, Exclusions, Filtering, FloatRange, FloatRelation, QueryLog, SplittingOrder, Traversal, bounds,
};
pub use library::MathFunction;
pub use model::{Evaluator, Model, evaluate, holds};
pub use smt::{ExternalSolver, Workers, smt_worker_main};
pub use solver::{Limits, Procedure, Solver, SolverSettings};
pub use terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, UnaryOp, VariableId};
