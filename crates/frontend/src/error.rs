//! What can go wrong between a user's file and its analysis, in words for the user.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub enum FrontendError {
    /// The file is not there or cannot be read.
    CannotRead { path: PathBuf, cause: String },
    /// The compiler refused the file; its own words.
    DoesNotCompile { path: PathBuf, messages: String },
    /// Reading the file took more than it may; the reason as a sentence.
    Exceeded { path: Option<PathBuf>, why: String },
    /// The compiler or its library crashed on the file.
    Crashed { path: PathBuf, how: String },
    /// A program or library of the toolchain is not installed.
    ToolMissing { tool: String, cause: String },
    /// A program of the toolchain ended in a way that says nothing about the user's file.
    ToolFailed { tool: String, cause: String },
}

impl FrontendError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            FrontendError::CannotRead { .. } => None,
            FrontendError::DoesNotCompile { messages, .. } => hint_for_messages(messages),
            FrontendError::ToolMissing { tool, .. } if tool == "libclang" => Some(
                "install libclang-19 (Debian: apt install libclang-19-dev), or let LIBCLANG_PATH name its folder"
                    .into(),
            ),
            FrontendError::ToolMissing { tool, .. } => {
                Some(format!("install clang 19 (Debian: apt install clang-19 llvm-19), or put {tool} on the PATH"))
            }
            FrontendError::Exceeded { .. } => {
                Some("raise --read-time or --read-memory if the file is meant to take so much".into())
            }
            FrontendError::Crashed { .. } => {
                Some("it may be nested too deeply, or need more memory than --read-memory gives".into())
            }
            FrontendError::ToolFailed { .. } => None,
        }
    }
}

/// A missing header is the usual reason why a file that compiles elsewhere does not compile here.
fn hint_for_messages(messages: &str) -> Option<String> {
    if messages.contains("file not found") {
        return Some("give the flags that the file is built with after `--`, e.g. `-- -Iinclude -DNAME=1`".into());
    }
    None
}

impl fmt::Display for FrontendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrontendError::CannotRead { path, cause } => write!(f, "cannot read {}: {cause}", path.display()),
            FrontendError::DoesNotCompile { path, messages } => {
                write!(f, "{} does not compile:\n{}", path.display(), messages.trim_end())
            }
            FrontendError::Exceeded { path: Some(path), why } => {
                write!(f, "reading {} was ended: {why}", path.display())
            }
            FrontendError::Exceeded { path: None, why } => write!(f, "the compiler was ended: {why}"),
            FrontendError::Crashed { path, how } => write!(f, "the compiler crashed on {}: {how}", path.display()),
            FrontendError::ToolMissing { tool, cause } => write!(f, "cannot find {tool}: {cause}"),
            FrontendError::ToolFailed { tool, cause } => write!(f, "{tool} failed: {}", cause.trim_end()),
        }
    }
}

impl std::error::Error for FrontendError {}
