//! Test cases, the native harness that replays them in sandboxed children, and llvm-cov's measure of what they cover.
//!
//! A [`Harness`] is built once per translation unit from the front end's two texts: one reports markers
//! ([`Harness::run`]), one counts for llvm-cov ([`Harness::measure`]). Every test runs in a forked child of its own; log,
//! outputs and profile counters lie in memory shared with the child, so a crash or an endless loop loses none of them.

mod batch;
mod case;
mod compile;
mod counting;
mod coverage;
mod elf;
mod error;
mod harness;
mod layout;
mod md5;
mod objects;
mod observe;
mod process;
mod sanitize;
mod tools;

pub use branchwise_confine::{Layers, MissingLayer, Mode, Sandbox};
pub use case::{
    Blob, Call, Change, ForeignPointer, FunctionAt, NativeEnd, Object, Observation, PointerAt, Register, State,
    StreamContents, TestCase, Within,
};
pub use compile::{OtherObject, REGISTERS, Sources};
pub use coverage::{BranchCount, Coverage, FunctionCoverage, absolute};
pub use error::ReplayError;
pub use harness::{Harness, Limits};
pub use objects::MISSING_BYTES;
pub use sanitize::{SanitizedRun, SanitizerReport, Sanitizers};
pub use tools::Tools;
