//! A running executable that works through a batch, confined, and watched while it is silent.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use branchwise_confine::{Confinement, Files, Guard, Launch, Layers, Started, TestDomain};

use crate::batch::{Answer, Bounds, out_of_step, read_answer};
use crate::harness::{Harness, RESULTS, WORK};
use crate::{Limits, ReplayError};

/// The most that a test may write to one file.
const FILE_BYTES: u64 = 64 << 20;
/// How often a silent process is looked at.
const WATCH_MILLISECONDS: i32 = 50;
/// What the harness may take for itself before and between tests.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for each test, on average.
const BETWEEN_TESTS: Duration = Duration::from_secs(1);
/// How long a process may take to end that has closed its answers.
const END: Duration = Duration::from_secs(5);
/// The least memory that tests may use together where no limit of address space can be set.
const WATCHED_MEGABYTES: u64 = 1024;

/// A batch in its file.
#[derive(Debug)]
pub(crate) struct Written {
    pub file: PathBuf,
    /// How the names of the files begin that the run writes.
    pub prefix: PathBuf,
    /// The limit of each test.
    pub milliseconds: u64,
    pub bounds: Bounds,
}

impl Written {
    /// Returns how long one test may take by the clock.
    fn longest_test(&self) -> Duration {
        Duration::from_millis(3 * self.milliseconds)
    }

    /// Returns how long all of it may take.
    fn longest(&self) -> Duration {
        let items = u32::try_from(self.bounds.tests + self.bounds.groups).unwrap_or(u32::MAX);
        (self.longest_test() + BETWEEN_TESTS).saturating_mul(items).saturating_add(2 * PATIENCE)
    }
}

/// The builds that need more than others.
#[derive(Debug)]
pub(crate) enum Build {
    Ordinary,
    /// Counts the instructions of the function at this address.
    Counting(u64),
    /// Sanitizers write what they find to this file.
    Sanitized(PathBuf),
    /// The same; the leak sanitizer stops the test from another process.
    Leaks(PathBuf),
}

impl Build {
    fn reports(&self) -> Option<&Path> {
        match self {
            Build::Sanitized(file) | Build::Leaks(file) => Some(file),
            Build::Ordinary | Build::Counting(_) => None,
        }
    }

    fn finds_leaks(&self) -> bool {
        matches!(self, Build::Leaks(_))
    }

    fn traces(&self) -> bool {
        matches!(self, Build::Leaks(_) | Build::Counting(_))
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        // The environment of whoever runs us must not change what a test does.
        let usual = [("PATH", "/usr/bin:/bin"), ("LC_ALL", "C"), ("TZ", "UTC0")];
        let sanitizers = [
            ("ASAN_OPTIONS", "detect_leaks=0:handle_abort=1:symbolize=0"),
            ("UBSAN_OPTIONS", "print_stacktrace=0:symbolize=0"),
            ("MSAN_OPTIONS", "halt_on_error=0:symbolize=0"),
            ("LSAN_OPTIONS", "leak_check_at_exit=0:symbolize=0"),
        ];
        let sanitizers = sanitizers.into_iter().filter(|_| self.reports().is_some());
        usual.into_iter().chain(sanitizers).map(|(name, value)| (name, value.to_owned())).collect()
    }
}

#[derive(Debug)]
pub(crate) struct Process {
    answers: BufReader<Answers>,
    pub prefix: PathBuf,
    started: bool,
    /// What it may still answer.
    left: Bounds,
    /// How long one answer may take.
    longest_answer: Duration,
    /// Until when all answers must be there.
    deadline: Instant,
}

impl Process {
    pub(crate) fn start(
        harness: &Harness,
        executable: &Path,
        written: Written,
        build: &Build,
    ) -> Result<Process, ReplayError> {
        let doing = || format!("start '{}'", executable.display());
        let work = harness.own.path().join(WORK);
        let layers = harness.limits.sandbox.layers;
        let confinement = confinement(harness, executable, &written, build);
        let test_files = Files { devices: Files::of_the_system().devices, ..work_files(harness) };
        let tests = TestDomain::new(layers, &test_files, build.finds_leaks());
        let tests = tests.map_err(ReplayError::io(doing()))?;
        let reports = build.reports().map(|path| File::options().append(true).create(true).open(path)).transpose();
        let launch = Launch {
            program: executable,
            arguments: arguments(&written, &work, &tests, build),
            environment: build.environment(),
            folder: &work,
            tests: Some(&tests),
            reports: reports.map_err(ReplayError::io(doing()))?,
        };
        let (child, output) = confinement.start(&launch).map_err(ReplayError::io(doing()))?;
        let guard = guard(&harness.limits, child.id(), work);
        let deadline = Instant::now() + written.longest();
        let answers = Answers { child, output, guard, deadline, silenced: false };
        Ok(Process {
            answers: BufReader::with_capacity(1 << 16, answers),
            longest_answer: written.longest_test() + PATIENCE,
            left: written.bounds,
            prefix: written.prefix,
            started: false,
            deadline,
        })
    }

    /// Returns its next answer; an error if it is not one that this batch can have.
    pub(crate) fn next(&mut self) -> Result<Answer, ReplayError> {
        self.answers.get_mut().deadline = self.deadline.min(Instant::now() + self.longest_answer);
        let answer = read_answer(&mut self.answers, &self.left)?;
        let left = match &answer {
            Answer::Started if self.started => None,
            Answer::Started => {
                self.started = true;
                Some(0)
            }
            Answer::Test(_) => count_down(&mut self.left.tests),
            Answer::Group(_) => count_down(&mut self.left.groups),
            Answer::End | Answer::Died => Some(0),
        };
        left.map(|_| answer).ok_or_else(out_of_step)
    }

    /// Whether it was ended because it did not answer in time.
    pub(crate) fn is_silenced(&self) -> bool {
        self.answers.get_ref().silenced
    }

    /// After [`Answer::Died`]. An error unless a test can have done it.
    pub(crate) fn signal_of_death(&mut self) -> Result<i32, ReplayError> {
        use std::os::unix::process::ExitStatusExt;
        let answers = self.answers.get_mut();
        if !answers.child.ends_within(END) {
            answers.silenced = true;
            answers.child.kill();
        }
        let status = answers.child.wait().map_err(ReplayError::io("wait for the test harness"))?;
        match status.signal() {
            Some(signal) if self.started && signal != libc::SIGINT => Ok(signal),
            _ if answers.silenced => {
                let message = "it came to no test in time (does a constructor of the file not end?)".to_string();
                Err(ReplayError::Harness { message })
            }
            _ => Err(ReplayError::Harness { message: format!("it stopped early ({status})") }),
        }
    }
}

fn count_down(left: &mut u64) -> Option<u64> {
    *left = left.checked_sub(1)?;
    Some(*left)
}

fn arguments(written: &Written, work: &Path, tests: &TestDomain, build: &Build) -> Vec<OsString> {
    let reports = if build.reports().is_some() { Launch::REPORTS } else { -1 };
    let address = match build {
        Build::Counting(address) => Some(OsString::from(format!("{address:x}"))),
        _ => None,
    };
    let files = [&*written.file, &*written.prefix, work].map(|path| path.as_os_str().to_owned());
    let numbers = tests.arguments().into_iter().chain([OsString::from(reports.to_string())]);
    files.into_iter().chain(numbers).chain(address).collect()
}

/// Returns what the harness may do, with what runs in it before the first test.
fn confinement(harness: &Harness, executable: &Path, written: &Written, build: &Build) -> Confinement {
    let mut files = Files { writable: work_files(harness).writable, ..Files::of_the_system() };
    files.executable.push(executable.to_owned());
    files.readable.push(written.file.clone());
    files.readable.extend(harness.library_folders());
    // Sanitizers read the map of the memory; nobody can read that of a process that is not confined alike.
    if build.reports().is_some() || harness.limits.memory_megabytes == 0 {
        files.readable.push(PathBuf::from("/proc"));
    }
    files.results.push(harness.own.path().join(RESULTS));
    Confinement {
        layers: harness.limits.sandbox.layers,
        files,
        traces: build.traces(),
        // The leak sanitizer looks up its numbers in /proc.
        own_numbers: !build.finds_leaks(),
        file_bytes: FILE_BYTES,
    }
}

/// Returns the files that a test may write.
fn work_files(harness: &Harness) -> Files {
    Files { writable: vec![harness.own.path().join(WORK)], ..Files::default() }
}

/// How many looks find the harness clearing its folder, in one batch.
const LOOKS_WHILE_CLEARING: u32 = 40;

fn guard(limits: &Limits, process: i32, folder: PathBuf) -> Option<Guard> {
    let megabytes = 2 * limits.memory_megabytes.max(WATCHED_MEGABYTES);
    let guard = Guard {
        process,
        memory: megabytes << 20,
        folder,
        files: limits.output_megabytes << 20,
        largest_file: FILE_BYTES,
        patience: LOOKS_WHILE_CLEARING,
    };
    Some(guard).filter(|_| limits.sandbox.layers != Layers::NONE)
}

/// What a process answers.
#[derive(Debug)]
struct Answers {
    child: Started,
    output: File,
    guard: Option<Guard>,
    /// Until when the next answer must be there as a whole.
    deadline: Instant,
    silenced: bool,
}

impl Answers {
    /// Returns whether there is something to read within the time between two looks.
    fn is_ready(&self) -> io::Result<bool> {
        let mut wanted = libc::pollfd { fd: self.output.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: there is one structure, and it lives until the call returns.
        match unsafe { libc::poll(&raw mut wanted, 1, WATCH_MILLISECONDS) } {
            -1 => Err(io::Error::last_os_error()),
            count => Ok(count > 0),
        }
    }
}

impl Read for Answers {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            if Instant::now() > self.deadline {
                self.silenced = true;
                self.child.kill();
                return Err(io::ErrorKind::TimedOut.into());
            }
            if self.is_ready()? {
                return self.output.read(to);
            }
            if let Some(guard) = &mut self.guard {
                guard.look();
            }
        }
    }
}
