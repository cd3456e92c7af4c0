//! Tests of the crate from outside, in one executable.

mod common;
mod floats;
mod linear;
mod simplification;
mod solver;
mod terms;
