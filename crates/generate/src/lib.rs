//! The loop: goals, search, execution, replay. What it finds comes out as a [`Report`]; how it goes on, as [`Progress`] events.

mod result;

pub use result::*;
