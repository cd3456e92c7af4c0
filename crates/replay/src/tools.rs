//! The programs of LLVM 19 that a replay needs.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use branchwise_tools::{Cache, find_tool};

use crate::ReplayError;

#[derive(Debug, Clone)]
pub struct Tools {
    pub clang: PathBuf,
    pub profdata: PathBuf,
    pub cov: PathBuf,
    pub objcopy: PathBuf,
    /// Keeps the executables that are built, where a test run asks for that.
    pub(crate) cache: Option<Cache>,
}

impl Tools {
    pub fn find() -> Result<Tools, ReplayError> {
        Ok(Tools {
            clang: find("clang")?,
            profdata: find("llvm-profdata")?,
            cov: find("llvm-cov")?,
            objcopy: find("llvm-objcopy")?,
            cache: Cache::from_environment(),
        })
    }

    /// Only what the memory sanitizer says needs it.
    pub(crate) fn symbolizer(&self) -> Result<PathBuf, ReplayError> {
        find("llvm-symbolizer")
    }

    /// The first line of `clang --version`.
    pub fn compiler_version(&self) -> Result<String, ReplayError> {
        let output = output_of("clang", Command::new(&self.clang).arg("--version"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().next().unwrap_or_default().trim().to_string())
    }
}

fn find(name: &str) -> Result<PathBuf, ReplayError> {
    find_tool(name)
        .map_err(|cause| ReplayError::ToolMissing { tool: format!("{name}-{}", branchwise_tools::VERSION), cause })
}

/// Runs a tool to its end with nothing to read; an exit status other than 0 is left to the caller.
pub(crate) fn output_of(tool: &'static str, command: &mut Command) -> Result<Output, ReplayError> {
    // Messages are read by us, too: always in English. Ctrl-C is for us alone, who finish what is running.
    command
        .env("LC_ALL", "C")
        .process_group(0)
        .stdin(Stdio::null())
        .output()
        .map_err(ReplayError::io(format!("start {tool}")))
}

/// Runs a tool that must succeed.
pub(crate) fn succeed(tool: &'static str, command: &mut Command) -> Result<Output, ReplayError> {
    let output = output_of(tool, command)?;
    match output.status.success() {
        true => Ok(output),
        false => Err(ReplayError::Tool { tool, message: error_text(&output) }),
    }
}

/// What a failed tool said; its status when it said nothing.
pub(crate) fn error_text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).trim().to_string();
    if text.is_empty() { output.status.to_string() } else { text }
}

/// `prefix` and a path as one argument.
pub(crate) fn joined(prefix: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = OsStr::new(prefix).to_os_string();
    argument.push(path);
    argument
}
