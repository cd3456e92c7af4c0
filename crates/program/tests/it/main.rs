//! Tests of the crate from outside, in one executable.

mod library;
mod verify;
