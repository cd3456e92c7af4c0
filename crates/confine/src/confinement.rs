//! What a program may do, and what it is started with.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::start::{self, Started};
use crate::{Layers, calls, files};

/// What a program, and whatever it starts, may do.
#[derive(Debug, Clone)]
pub struct Confinement {
    pub layers: Layers,
    pub files: Files,
    /// It may trace processes of its own, as debuggers and the leak sanitizer do.
    pub traces: bool,
    /// Its processes may be numbered in a namespace of their own. A program that looks up its numbers in /proc fails then.
    pub own_numbers: bool,
    /// The most bytes that it may write to one file.
    pub file_bytes: u64,
}

/// The files that a program may use. Those that are not there are left out.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// Files and folders, with what is below.
    pub readable: Vec<PathBuf>,
    /// Programs and loaders.
    pub executable: Vec<PathBuf>,
    /// Folders in which everything is allowed but devices and sockets.
    pub writable: Vec<PathBuf>,
    /// Folders in which plain files may be made and written, and nothing be removed.
    pub results: Vec<PathBuf>,
    /// Devices that hold nothing, such as /dev/null.
    pub devices: Vec<PathBuf>,
}

impl Files {
    /// Returns what every program may use: libraries of the system, their loader, and devices that hold nothing.
    pub fn of_the_system() -> Files {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        Files {
            readable: paths(&["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"]),
            executable: paths(&["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]),
            devices: paths(&["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]),
            ..Files::default()
        }
    }
}

/// What the processes of single tests may do, which is less than their parent may. The parent hands it over by its own calls,
/// after its fork: the rules with `landlock_restrict_self`, the filter with `seccomp`, where it puts the process's number in
/// the places of [`TestDomain::OWN_PROCESS`].
#[derive(Debug)]
pub struct TestDomain {
    pub(crate) rules: Option<OwnedFd>,
    pub(crate) filter: Option<&'static File>,
}

impl TestDomain {
    /// Stands in the filter for the number of the process that it is set in.
    pub const OWN_PROCESS: u32 = calls::OWN_PROCESS;
    /// The open files as the started program finds them.
    pub const RULES: i32 = 198;
    pub const FILTER: i32 = 199;

    /// Makes the rules and the filter. Tests write nothing but these files, start no process, and signal none but
    /// themselves. They read what their parent may read.
    pub fn new(layers: Layers, files: &Files, traces: bool) -> io::Result<TestDomain> {
        Ok(TestDomain {
            rules: files::rules_on_writing(layers, files)?,
            filter: if layers.filter { Some(calls::test_filter_file(traces)?) } else { None },
        })
    }

    /// Returns the two arguments by which a program learns what it got: the number of an open file, or -1.
    pub fn arguments(&self) -> [OsString; 2] {
        let number = |there: bool, number: i32| OsString::from(if there { number } else { -1 }.to_string());
        [number(self.rules.is_some(), Self::RULES), number(self.filter.is_some(), Self::FILTER)]
    }
}

/// A program and what it begins with. It reads nothing and its errors go nowhere; its output is a pipe.
#[derive(Debug)]
pub struct Launch<'a> {
    pub program: &'a Path,
    /// Without the program's name.
    pub arguments: Vec<OsString>,
    pub environment: Vec<(&'a str, String)>,
    pub folder: &'a Path,
    pub tests: Option<&'a TestDomain>,
    /// An open file that the program finds as number [`Launch::REPORTS`].
    pub reports: Option<File>,
}

impl Launch<'_> {
    pub const REPORTS: i32 = 197;
}

impl Confinement {
    /// Returns the limits that it sets beside those that the harness sets for itself.
    pub(crate) fn limits(&self) -> Vec<(libc::__rlimit_resource_t, u64)> {
        if self.layers.landlock == 0 && !self.layers.filter {
            return Vec::new();
        }
        vec![(libc::RLIMIT_CORE, 0), (libc::RLIMIT_FSIZE, self.file_bytes)]
    }

    /// Starts a program that is confined from its first instruction on. Returns it with what it writes.
    pub fn start(&self, launch: &Launch<'_>) -> io::Result<(Started, File)> {
        let rules = files::rules(self.layers, &self.files)?;
        let filters = if self.layers.filter { calls::filters(self.layers, self.traces)? } else { &[] };
        start::start(self, launch, rules, filters)
    }
}
