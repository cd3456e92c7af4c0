//! Where the programs of LLVM are.

use std::path::{Path, PathBuf};

/// The one version whose coverage mapping, bitcode and syntax trees Branchwise was checked against.
pub const VERSION: &str = "19";

/// Where LLVM's packages install their programs.
pub const FOLDER: &str = "/usr/lib/llvm-19/bin";

/// Returns the path of a program: the versioned name on the PATH, because that is what the user can change, or else the
/// one in [`FOLDER`]. The error says where it was looked for.
pub fn find_tool(name: &str) -> Result<PathBuf, String> {
    let versioned = format!("{name}-{VERSION}");
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&on_path)
        .map(|folder| folder.join(&versioned))
        .chain([Path::new(FOLDER).join(name)])
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| format!("neither on the PATH nor in {FOLDER}"))
}
