//! Tests of the crate from outside, in one executable.

mod measure;
mod run;
mod support;
