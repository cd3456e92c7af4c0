//!

pub mod lower;
