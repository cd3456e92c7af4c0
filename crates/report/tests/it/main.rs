//! Tests of the crate from outside, in one executable.

mod common;
mod emitted_code;
mod kinds;
mod output;
mod shape;
mod surroundings;
