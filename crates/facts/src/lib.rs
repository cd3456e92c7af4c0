//! Facts about all executions of the code, whatever the number of iterations: an abstract interpretation.
//!
//! A value is a set of integers (bounds, a congruence, single members) or of floats (bounds, NaN) with the objects that it
//! may point to; memory is
//! followed object by object as long as its address is. Blocks are interpreted until nothing changes, loops are widened
//! to the constants of their function, calls are followed with what the caller knows. What is not followed may be
//! anything, so that an outcome which the interpretation does not come to is one that no execution takes. Executions are
//! those of the executor: arithmetic wraps around, and a path ends at an access outside an object, through a null pointer and at a
//! division by zero.

mod calls;
mod contents;
mod floats;
mod interpreter;
mod layout;
mod memory;
mod number;
mod observed;
mod restrict;
mod state;
mod thresholds;
mod unit;
mod value;
mod walk;

pub use unit::{Facts, UnitFacts};
