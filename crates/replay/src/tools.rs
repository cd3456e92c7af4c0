//! The programs of LLVM 19 that a replay needs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use branchwise_tools::{Cache, Key, KeyBuilder, ToolFailure, ToolOutput, ToolRules, ToolRun, find_tool};

use crate::ReplayError;

#[derive(Debug, Clone)]
pub struct Tools {
    pub clang: PathBuf,
    pub profdata: PathBuf,
    pub cov: PathBuf,
    pub objcopy: PathBuf,
    /// How they run.
    pub rules: ToolRules,
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
            rules: ToolRules::default(),
            cache: Cache::from_environment(),
        })
    }

    /// Runs programs under other rules from now on.
    pub fn with_rules(self, rules: ToolRules) -> Self {
        Tools { rules, ..self }
    }

    /// Only what the memory sanitizer says needs it.
    pub(crate) fn symbolizer(&self) -> Result<PathBuf, ReplayError> {
        find("llvm-symbolizer")
    }

    /// The first line of `clang --version`.
    pub fn compiler_version(&self) -> Result<String, ReplayError> {
        let key = || KeyBuilder::new("compiler version").with_installed(&self.clang).finish();
        let text = self.kept(key, || {
            let output = self.output_of("clang", ToolRun::new(&self.clang).arg("--version"))?;
            Ok(output.stdout)
        })?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().next().unwrap_or_default().trim().to_string())
    }

    /// Takes a text from the cache, or makes it and keeps it there.
    pub(crate) fn kept(
        &self,
        key: impl FnOnce() -> Key,
        make: impl FnOnce() -> Result<Vec<u8>, ReplayError>,
    ) -> Result<Vec<u8>, ReplayError> {
        match &self.cache {
            Some(cache) => cache.text(&key(), make),
            None => make(),
        }
    }

    /// Runs a tool to its end; an exit status other than 0 is left to the caller.
    pub(crate) fn output_of(&self, tool: &'static str, run: &ToolRun<'_>) -> Result<ToolOutput, ReplayError> {
        run.run(&self.rules).map_err(|failure| match failure {
            ToolFailure::CannotStart(cause) => ReplayError::io(format!("start {tool}"))(cause),
            ToolFailure::Exceeded(excess) => ReplayError::Tool { tool, message: excess.to_string() },
        })
    }

    /// Runs a tool that must succeed.
    pub(crate) fn succeed(&self, tool: &'static str, run: &ToolRun<'_>) -> Result<ToolOutput, ReplayError> {
        let output = self.output_of(tool, run)?;
        if output.status.success() {
            return Ok(output);
        }
        Err(ReplayError::Tool { tool, message: error_text(&output) })
    }
}

fn find(name: &str) -> Result<PathBuf, ReplayError> {
    find_tool(name)
        .map_err(|cause| ReplayError::ToolMissing { tool: format!("{name}-{}", branchwise_tools::VERSION), cause })
}

/// What a failed tool said; its status when it said nothing.
pub(crate) fn error_text(output: &ToolOutput) -> String {
    let text = String::from_utf8_lossy(&output.stderr).trim().to_string();
    if text.is_empty() { output.status.to_string() } else { text }
}

/// `prefix` and a path as one argument.
pub(crate) fn joined(prefix: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = OsStr::new(prefix).to_os_string();
    argument.push(path);
    argument
}
