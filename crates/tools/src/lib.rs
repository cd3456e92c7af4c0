//! The programs of LLVM that the front end and the replay run: where they are, and a cache of what they make.

mod cache;
mod find;

pub use cache::{Cache, Key, KeyBuilder, VARIABLE};
pub use find::{FOLDER, VERSION, find_tool};
