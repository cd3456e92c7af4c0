//! The verifier.

use std::fmt;

use crate::Program;

/// A property that a [`Program`] must have and does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyError {
    pub what: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a program once.
pub fn verify(program: &Program) -> Result<(), VerifyError> {
    let _ = program;
    Ok(())
}
