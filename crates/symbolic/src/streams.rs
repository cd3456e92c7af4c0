//! `stdio.h`: standard input and the streams that a test gives as inputs, standard output and error as places where
//! nobody looks.

mod arguments;
mod bytes;
mod calls;
mod float_text;
mod given;
mod input;
mod pieces;
mod print;
mod print_format;
mod scan;
mod scan_format;
mod scan_number;

pub use given::GivenStream;
pub use pieces::{Notation, StreamPiece};

pub(crate) use given::Streams;
pub(crate) use pieces::StreamVariables;
