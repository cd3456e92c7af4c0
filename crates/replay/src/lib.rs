//! Test cases, the native harness that replays them in sandboxed children, and llvm-cov's measure of what they cover.

mod case;

pub use case::{Blob, NativeEnd, Object, Observation, PointerAt, TestCase};
