//! The programs of LLVM that the front end and the replay run: where they are, how they run, and a cache of what they make.

mod cache;
mod find;
mod run;

pub use cache::{Cache, Key, KeyBuilder, VARIABLE};
pub use find::{FOLDER, VERSION, find_tool};
pub use run::{Excess, Pipes, ToolFailure, ToolOutput, ToolRules, ToolRun};
