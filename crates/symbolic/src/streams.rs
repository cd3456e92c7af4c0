//! `stdio.h`: standard input as an input of the test, standard output and error as places where nobody looks.

mod arguments;
mod bytes;
mod calls;
mod float_text;
mod input;
mod pieces;
mod print;
mod print_format;
mod scan;
mod scan_format;
mod scan_number;

pub use pieces::{Notation, StreamPiece};

pub(crate) use input::StandardInput;
pub(crate) use pieces::StreamVariables;
