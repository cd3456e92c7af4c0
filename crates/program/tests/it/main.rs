//! Tests of the crate from outside, in one executable.

mod assumptions;
mod library;
mod verify;
