//! Where clang is, and how it is run.

use std::path::{Path, PathBuf};

use branchwise_tools::{Cache, Key, KeyBuilder, ToolFailure, ToolOutput, ToolRules, ToolRun, VERSION, find_tool};

use crate::FrontendError;

#[derive(Debug, Clone)]
pub struct Toolchain {
    pub clang: PathBuf,
    /// Beside clang; `replay` measures with them.
    pub llvm_cov: PathBuf,
    pub llvm_profdata: PathBuf,
    /// How clang runs.
    pub rules: ToolRules,
    /// Keeps what clang makes of a text, where a test run asks for that.
    cache: Option<Cache>,
}

impl Toolchain {
    pub fn find() -> Result<Toolchain, FrontendError> {
        Ok(Toolchain {
            clang: find("clang")?,
            llvm_cov: find("llvm-cov")?,
            llvm_profdata: find("llvm-profdata")?,
            rules: ToolRules::default(),
            cache: Cache::from_environment(),
        })
    }

    /// Runs programs under other rules from now on.
    pub fn with_rules(self, rules: ToolRules) -> Self {
        Toolchain { rules, ..self }
    }

    #[cfg(test)]
    pub(crate) fn with_cache(self, cache: Cache) -> Self {
        Toolchain { cache: Some(cache), ..self }
    }

    /// Where test runs keep what is costly to make.
    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
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
        let key = self.key_here(key);
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
        let Some(cache) = &self.cache else { return print() };
        cache.text(&self.key_here(key), print)
    }

    /// What the compiler makes has the names of files as they are seen from here.
    fn key_here(&self, key: KeyBuilder) -> Key {
        let here = std::env::current_dir().unwrap_or_default();
        key.with(here.as_os_str().as_encoded_bytes()).with_installed(&self.clang).finish()
    }

    /// Runs clang, which writes to no file; `Err` only if it did not run to its end.
    pub(crate) fn run(&self, arguments: &[String]) -> Result<ToolOutput, FrontendError> {
        self.finish(ToolRun::new(&self.clang).args(arguments))
    }

    /// Runs clang, which writes to files in this folder.
    pub(crate) fn run_writing(&self, arguments: &[String], folder: &Path) -> Result<ToolOutput, FrontendError> {
        self.finish(ToolRun::new(&self.clang).args(arguments).writes_to(folder))
    }

    /// Runs clang on a text that it reads as a file without a name.
    pub(crate) fn run_on(&self, arguments: &[String], text: &str) -> Result<ToolOutput, FrontendError> {
        self.finish(ToolRun::new(&self.clang).args(arguments).input(text.as_bytes()))
    }

    fn finish(&self, run: &ToolRun<'_>) -> Result<ToolOutput, FrontendError> {
        run.run(&self.rules).map_err(|failure| match failure {
            ToolFailure::CannotStart(cause) => {
                FrontendError::ToolMissing { tool: self.clang.display().to_string(), cause: cause.to_string() }
            }
            ToolFailure::Exceeded(excess) => FrontendError::Exceeded { path: None, why: excess.to_string() },
        })
    }
}

fn find(name: &str) -> Result<PathBuf, FrontendError> {
    find_tool(name).map_err(|cause| FrontendError::ToolMissing { tool: format!("{name}-{VERSION}"), cause })
}
