//! Tests of the crate from outside, in one executable.

mod confined;
mod measure;
mod run;
mod support;
