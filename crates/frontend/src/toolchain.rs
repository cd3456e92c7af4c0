//! Where clang is, and how it is run.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::FrontendError;
use crate::find_tool::{VERSION, find_tool};

#[derive(Debug, Clone)]
pub struct Toolchain {
    pub clang: PathBuf,
    /// Beside clang; `replay` measures with them.
    pub llvm_cov: PathBuf,
    pub llvm_profdata: PathBuf,
}

impl Toolchain {
    pub fn find() -> Result<Toolchain, FrontendError> {
        Ok(Toolchain { clang: find("clang")?, llvm_cov: find("llvm-cov")?, llvm_profdata: find("llvm-profdata")? })
    }

    /// Runs clang; `Err` only if it could not be started.
    pub(crate) fn run(&self, arguments: &[String]) -> Result<Output, FrontendError> {
        // Ctrl-C is for us alone, who finish what is running.
        Command::new(&self.clang).args(arguments).process_group(0).output().map_err(|cause| {
            FrontendError::ToolMissing { tool: self.clang.display().to_string(), cause: cause.to_string() }
        })
    }
}

fn find(name: &str) -> Result<PathBuf, FrontendError> {
    find_tool(name).map_err(|cause| FrontendError::ToolMissing { tool: format!("{name}-{VERSION}"), cause })
}
