//! Test code that a person could have written: one file for each file under test, plain or for GoogleTest or Catch2.

mod allocations;
mod body;
mod callbacks;
mod changes;
mod checks;
mod comment;
mod cpp_frameworks;
mod declare;
mod dialect;
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
mod state;
mod stubs;
mod symbols;
mod test_function;
mod unit_include;
mod usage;

pub use cpp_frameworks::{emit_cpp_catch2, emit_cpp_gtest};
pub use gtest::emit_gtest;
pub use inline::input_line;
pub use literal::{float as float_text, signal_name};
pub use plain_c::{emit_c, emit_reproducers, is_reproducers};
pub use stubs::callable_name;
pub use test_function::Kind;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmittedFile {
    /// Without folder.
    pub name: String,
    pub text: String,
}
