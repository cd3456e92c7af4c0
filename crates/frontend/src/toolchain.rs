//! Where clang is, and how it is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::FrontendError;

/// The one version whose coverage mapping, bitcode and syntax trees this crate was checked against.
pub(crate) const VERSION: &str = "19";

#[derive(Debug, Clone)]
pub struct Toolchain {
    pub clang: PathBuf,
    /// Beside clang; `replay` measures with them.
    pub llvm_cov: PathBuf,
    pub llvm_profdata: PathBuf,
}

impl Toolchain {
    pub fn find() -> Result<Toolchain, FrontendError> {
        Ok(Toolchain {
            clang: find_tool("clang")?,
            llvm_cov: find_tool("llvm-cov")?,
            llvm_profdata: find_tool("llvm-profdata")?,
        })
    }

    /// Runs clang; `Err` only if it could not be started.
    pub(crate) fn run(&self, arguments: &[String]) -> Result<Output, FrontendError> {
        Command::new(&self.clang).args(arguments).output().map_err(|cause| FrontendError::ToolMissing {
            tool: self.clang.display().to_string(),
            cause: cause.to_string(),
        })
    }
}

/// The versioned name on the PATH first, because that is what the user can change; then where LLVM's packages install.
fn find_tool(name: &str) -> Result<PathBuf, FrontendError> {
    let versioned = format!("{name}-{VERSION}");
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let installed = PathBuf::from(format!("/usr/lib/llvm-{VERSION}/bin")).join(name);
    std::env::split_paths(&on_path)
        .map(|folder| folder.join(&versioned))
        .chain([installed])
        .find(|candidate| is_file(candidate))
        .ok_or_else(|| FrontendError::ToolMissing {
            tool: versioned,
            cause: format!("neither on the PATH nor in /usr/lib/llvm-{VERSION}/bin"),
        })
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file())
}
