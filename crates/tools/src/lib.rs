//! The programs of LLVM that the front end and the replay run: where they are, how they run, a cache of what they make,
//! and access to files in folders that they write to.

mod cache;
mod files;
mod find;
mod run;

pub use cache::{Cache, Key, KeyBuilder, VARIABLE, fingerprint, line_markers};
pub use files::{
    LARGEST_SOURCE, LARGEST_TEXT, append_ordinary, make_executable, make_folder, read_limited, read_ordinary,
    read_text, write_new,
};
pub use find::{FOLDER, VERSION, find_tool};
pub use run::{Excess, LARGEST_FILE, Pipes, ToolFailure, ToolOutput, ToolRules, ToolRun};
