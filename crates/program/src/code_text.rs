//! The text form of the code.
