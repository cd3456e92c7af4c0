//! Compilers, linkers and other tools that make files from files that nobody vouches for.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::start::{self, Started};
use crate::{Files, Layers, calls, files};

/// A tool and what it begins with. It reads whatever its user may read and starts programs. It writes only to its own
/// folders, has no network, and signals nobody outside.
#[derive(Debug)]
pub struct ToolLaunch<'a> {
    pub program: &'a Path,
    /// Without the program's name.
    pub arguments: Vec<OsString>,
    /// Variables beside those of this process, which they replace.
    pub environment: Vec<(OsString, OsString)>,
    /// The folders that it may write to; temporary files go to the first.
    pub writable: Vec<PathBuf>,
    pub domain: ToolDomain,
}

/// Where the confinement of a tool comes from.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum ToolDomain {
    /// It gets limits and these layers.
    New(Layers, ToolLimits),
    /// It has those of this process, which was itself started as a tool.
    Inherited,
}

/// What each process of a tool may use.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct ToolLimits {
    /// Bytes of address space.
    pub memory: u64,
    /// Seconds of processor time.
    pub seconds: u64,
    /// Bytes in one file.
    pub file_bytes: u64,
}

/// The other ends of what a tool reads and writes.
#[derive(Debug)]
pub struct ToolPipes {
    pub input: File,
    pub output: File,
    pub errors: File,
}

impl ToolLaunch<'_> {
    /// Starts the tool, confined from its first instruction on.
    pub fn start(&self) -> io::Result<(Started, ToolPipes)> {
        let ToolDomain::New(layers, _) = self.domain else { return start::start_tool(self, None, &[]) };
        let rules = files::rules(layers, &self.files())?;
        let filters = if layers.filter { calls::tool_filters(layers)? } else { &[] };
        start::start_tool(self, rules, filters)
    }

    fn files(&self) -> Files {
        let all = vec![PathBuf::from("/")];
        let devices = Files::of_the_system().devices;
        Files { readable: all.clone(), executable: all, writable: self.writable.clone(), devices, ..Files::default() }
    }

    pub(crate) fn limits(&self) -> Vec<(libc::__rlimit_resource_t, u64)> {
        let ToolDomain::New(_, limits) = self.domain else { return Vec::new() };
        let ToolLimits { memory, seconds, file_bytes } = limits;
        vec![
            (libc::RLIMIT_CORE, 0),
            (libc::RLIMIT_AS, memory),
            (libc::RLIMIT_CPU, seconds),
            (libc::RLIMIT_FSIZE, file_bytes),
        ]
    }

    /// Returns the program and its arguments.
    pub(crate) fn words(&self) -> impl Iterator<Item = &OsStr> {
        std::iter::once(self.program.as_os_str()).chain(self.arguments.iter().map(OsString::as_os_str))
    }

    /// Returns the variables of the environment, as `NAME=VALUE`.
    pub(crate) fn variables(&self) -> impl Iterator<Item = OsString> {
        let temporary = self.writable.first().map(|folder| (OsString::from("TMPDIR"), folder.clone().into_os_string()));
        let own: Vec<_> = self.environment.iter().cloned().chain(temporary).collect();
        let inherited: Vec<_> =
            std::env::vars_os().filter(|(name, _)| !own.iter().any(|(replaced, _)| replaced == name)).collect();
        inherited.into_iter().chain(own).map(|(name, value)| {
            let mut variable = name;
            variable.push("=");
            variable.push(value);
            variable
        })
    }
}
