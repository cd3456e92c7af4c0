//! Proofs by induction over calls: what recursive functions do to structures whose nodes are elements of a static array.
//!
//! A contract says what holds of every call of a function that returns. It is guessed ([`candidates`]) and then looked whether
//! it follows from the function's body, where calls do what the contracts say: that is an induction over the length of
//! executions. What does not follow is dropped, until what is left does (Houdini). Contracts speak of what *observers* say, recursive functions that
//! look at a structure and change nothing of it: that a transformation preserves what they say, that a constructor makes
//! what they accept, that a comparison means that they say the same.
//!
//! Executions are those of the executor: arithmetic wraps around, and a path ends at an access outside an object, through
//! a null pointer and at a division by zero.

mod body;
mod calls;
mod candidates;
mod claims;
mod knowledge;
mod memory;
mod observers;
mod proof;
mod refutation;
mod regions;
mod solving;
mod theory;
mod unit;

pub use unit::{Excluded, Question, applies, excluded};
