//! Errors for a person: what, where, what next.

use std::fmt;
use std::io::Write;

use branchwise_report::{ExplainError, SuiteError};
use branchwise_results::LoadError;

use crate::exit::Exit;

/// What kind of error it is sets the exit code.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    Usage,
    Input,
    OurFault,
}

impl ErrorKind {
    pub fn exit(self) -> Exit {
        match self {
            ErrorKind::Usage => Exit::WrongUsage,
            ErrorKind::Input => Exit::InputUnusable,
            ErrorKind::OurFault => Exit::OurFault,
        }
    }
}

/// An error that ends the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    pub kind: ErrorKind,
    pub message: String,
    /// What led to it, outermost first.
    pub causes: Vec<String>,
    pub hint: Option<String>,
}

impl CliError {
    pub fn usage(message: impl Into<String>) -> Self {
        CliError::new(ErrorKind::Usage, message.into())
    }

    pub fn input(message: impl Into<String>) -> Self {
        CliError::new(ErrorKind::Input, message.into())
    }

    pub fn our_fault(message: impl Into<String>) -> Self {
        let hint = "please report it with the command and the file";
        CliError::new(ErrorKind::OurFault, message.into()).with_hint(hint)
    }

    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        CliError { hint: Some(hint.into()), ..self }
    }

    pub fn with_cause(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// A function that the files do not have, with the nearest name that they do have.
    #[allow(dead_code, reason = "generate::run_generate needs it as soon as it knows the files' functions")]
    pub fn no_such_function<'a>(name: &str, files: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let error = CliError::usage(format!("no function '{name}' in {files}"));
        match branchwise_report::did_you_mean(name, known) {
            Some(nearest) => error.with_hint(format!("did you mean '{nearest}'?")),
            None => error,
        }
    }

    /// Writes it to standard error; there is nobody left to tell when that is closed.
    pub fn tell(&self) {
        let _ = write!(std::io::stderr(), "{self}");
    }

    fn new(kind: ErrorKind, message: String) -> Self {
        CliError { kind, message, causes: Vec::new(), hint: None }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Error: {}", self.message)?;
        for cause in &self.causes {
            writeln!(f, "Caused by: {cause}")?;
        }
        match &self.hint {
            Some(hint) => writeln!(f, "Hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<SuiteError> for CliError {
    fn from(error: SuiteError) -> Self {
        CliError { hint: error.hint, ..CliError::input(error.message) }
    }
}

impl From<ExplainError> for CliError {
    fn from(error: ExplainError) -> Self {
        match error {
            ExplainError::NoGoal { .. } => CliError::usage(error.to_string()).with_hint(error.hint()),
            ExplainError::Unreadable(error) => error.into(),
        }
    }
}

impl From<LoadError> for CliError {
    fn from(error: LoadError) -> Self {
        CliError::input(error.message).with_hint(error.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn an_error_says_what_why_and_what_next() {
        let error = CliError::input("cannot compile shape.c").with_cause("shape.c:3:1: unknown type name 'in'");
        expect![[r#"
            Error: cannot compile shape.c
            Caused by: shape.c:3:1: unknown type name 'in'
            Hint: give the flags it needs after --
        "#]]
        .assert_eq(&error.with_hint("give the flags it needs after --").to_string());
    }

    #[test]
    fn a_mistyped_function_gets_a_suggestion() {
        let error = CliError::no_such_function("clasify", "shape.c", ["classify", "main"]);
        assert_eq!(error.kind.exit(), Exit::WrongUsage);
        expect![[r#"
            Error: no function 'clasify' in shape.c
            Hint: did you mean 'classify'?
        "#]]
        .assert_eq(&error.to_string());
    }
}
