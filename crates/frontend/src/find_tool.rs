//! Where the tools of LLVM are; also used when the models of library functions are compiled.

use std::path::{Path, PathBuf};

/// The one version whose coverage mapping, bitcode and syntax trees this crate was checked against.
pub(crate) const VERSION: &str = "19";

/// The versioned name on the PATH first, because that is what the user can change; then where LLVM's packages install.
/// `Err` says where it was looked for.
pub(crate) fn find_tool(name: &str) -> Result<PathBuf, String> {
    let versioned = format!("{name}-{VERSION}");
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let installed = PathBuf::from(format!("/usr/lib/llvm-{VERSION}/bin")).join(name);
    std::env::split_paths(&on_path)
        .map(|folder| folder.join(&versioned))
        .chain([installed])
        .find(|candidate| is_file(candidate))
        .ok_or_else(|| format!("neither on the PATH nor in /usr/lib/llvm-{VERSION}/bin"))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file())
}
