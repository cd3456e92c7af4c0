//! Tests of the crate from outside, in one executable.

mod behaviour;
mod columns;
mod common;
mod errors;
mod graph;
mod inputs;
mod llvm_cov;
mod lower;
mod models;
mod places;
