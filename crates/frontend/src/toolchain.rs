//! Where clang is, and how it is run.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use branchwise_tools::{Cache, KeyBuilder, VERSION, find_tool};

use crate::FrontendError;

#[derive(Debug, Clone)]
pub struct Toolchain {
    pub clang: PathBuf,
    /// Beside clang; `replay` measures with them.
    pub llvm_cov: PathBuf,
    pub llvm_profdata: PathBuf,
    /// Keeps what clang makes of a text, where a test run asks for that.
    cache: Option<Cache>,
}

impl Toolchain {
    pub fn find() -> Result<Toolchain, FrontendError> {
        Ok(Toolchain {
            clang: find("clang")?,
            llvm_cov: find("llvm-cov")?,
            llvm_profdata: find("llvm-profdata")?,
            cache: Cache::from_environment(),
        })
    }

    /// Makes one file from texts and flags, or takes it from the cache. `key` holds everything but the compiler that the
    /// file depends on.
    pub(crate) fn make_once<E>(
        &self,
        key: KeyBuilder,
        file: &Path,
        make: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let (Some(cache), Some(folder)) = (&self.cache, file.parent()) else { return make() };
        // What the compiler makes has the names of files as they are seen from here.
        let here = std::env::current_dir().unwrap_or_default();
        let key = key.with(here.as_os_str().as_encoded_bytes()).with_installed(&self.clang).finish();
        if !cache.fetch(&key, folder) {
            make()?;
            cache.store(&key, &[file.to_owned()]);
        }
        Ok(())
    }

    /// Returns the text that clang prints, or takes it from the cache; as [`Toolchain::make_once`].
    pub(crate) fn print_once(
        &self,
        key: KeyBuilder,
        print: impl FnOnce() -> Result<Vec<u8>, FrontendError>,
    ) -> Result<Vec<u8>, FrontendError> {
        let folder = tempfile::tempdir().map_err(|cause| self.failed(&cause))?;
        let file = folder.path().join("printed");
        let write = || fs::write(&file, print()?).map_err(|cause| self.failed(&cause));
        self.make_once(key, &file, write)?;
        fs::read(&file).map_err(|cause| self.failed(&cause))
    }

    fn failed(&self, cause: &std::io::Error) -> FrontendError {
        FrontendError::ToolFailed { tool: self.clang.display().to_string(), cause: cause.to_string() }
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
