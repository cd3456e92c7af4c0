//! Test code that a person could have written: one C file for each file under test, or the same behind GoogleTest.

mod allocations;
mod body;
mod checks;
mod comment;
mod declare;
mod gtest;
mod initializer;
mod inline;
mod literal;
mod names;
mod needs;
mod object_text;
mod objects;
mod plain_c;
mod runner;
mod stubs;
mod symbols;
mod test_function;
mod unit_include;
mod usage;

pub use gtest::emit_gtest;
pub use inline::input_line;
pub use literal::{float as float_text, signal_name};
pub use plain_c::emit_c;
pub use stubs::callable_name;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmittedFile {
    /// Without folder.
    pub name: String,
    pub text: String,
}
