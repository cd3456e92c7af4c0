//! What can go wrong around a replay. (What goes wrong *inside* a test is an observation, not an error.)

use std::fmt;
use std::io;

#[derive(Debug)]
pub enum ReplayError {
    /// A program of LLVM 19 is not installed.
    ToolMissing {
        tool: String,
        cause: String,
    },
    /// The compiler refused one of the texts.
    Compile {
        what: &'static str,
        message: String,
    },
    Link {
        message: String,
    },
    /// A tool of LLVM ran and failed.
    Tool {
        tool: &'static str,
        message: String,
    },
    /// A driver that the map promises is not in the compiled unit.
    MissingDriver {
        driver: String,
    },
    /// A test of a function that has no driver.
    NoDriver {
        function: String,
        reason: String,
    },
    /// A test case that does not fit the function's inputs; `case` counts from 0 within the call.
    Case {
        case: usize,
        message: String,
    },
    /// The harness process itself failed.
    Harness {
        message: String,
    },
    Io {
        doing: String,
        source: io::Error,
    },
}

impl ReplayError {
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> ReplayError {
        let doing = doing.into();
        move |source| ReplayError::Io { doing, source }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ReplayError::ToolMissing { .. } => {
                Some("install LLVM 19: apt-get install clang-19 llvm-19 libclang-rt-19-dev")
            }
            ReplayError::Compile { .. } => Some("give the flags this file is normally compiled with after `--`"),
            ReplayError::Link { .. } => Some("missing libraries can be given as flags (-L, -l) after `--`"),
            ReplayError::Io { .. } => Some("is there room, and may we write, in the temporary directory ($TMPDIR)?"),
            ReplayError::Tool { .. }
            | ReplayError::MissingDriver { .. }
            | ReplayError::NoDriver { .. }
            | ReplayError::Case { .. }
            | ReplayError::Harness { .. } => None,
        }
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::ToolMissing { tool, cause } => write!(f, "cannot find {tool}: {cause}"),
            ReplayError::Compile { what, message } => write!(f, "cannot compile the {what} for replay:\n{message}"),
            ReplayError::Link { message } => write!(f, "cannot link the test harness:\n{message}"),
            ReplayError::Tool { tool, message } => write!(f, "{tool} failed: {message}"),
            ReplayError::MissingDriver { driver } => write!(f, "the compiled unit does not define '{driver}'"),
            ReplayError::NoDriver { function, reason } => write!(f, "'{function}' cannot be called: {reason}"),
            ReplayError::Case { case, message } => write!(f, "test case {case} does not fit: {message}"),
            ReplayError::Harness { message } => write!(f, "the test harness failed: {message}"),
            ReplayError::Io { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReplayError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
