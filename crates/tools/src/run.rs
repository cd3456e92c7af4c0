//! How programs of the toolchain run: confined, with limits, and watched.
//!
//! What they read comes from users who may not know it themselves. A file may include a device that never ends or a pipe to
//! which nobody writes, and templates may want all memory.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use branchwise_confine::{Layers, Started, ToolDomain, ToolLaunch, ToolLimits, ToolPipes, processor_time};

/// What programs of the toolchain may use, all those together that treat one file.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct ToolRules {
    domain: ToolDomain,
    time: Duration,
}

impl ToolRules {
    /// The time that the reading of one file may take.
    pub const TIME: Duration = Duration::from_secs(300);
    /// The memory that one process may take for it.
    pub const MEGABYTES: u64 = 4096;

    /// Confines programs with these layers.
    pub fn new(layers: Layers, time: Duration, megabytes: u64) -> ToolRules {
        let seconds = time.as_secs().max(1);
        let limits = ToolLimits { memory: (megabytes + RESERVED_MEGABYTES) << 20, seconds, file_bytes: LARGEST_FILE };
        ToolRules { domain: ToolDomain::New(layers, limits), time }
    }

    /// Leaves programs in the confinement that this process has, and to whoever watches it.
    pub fn inherited() -> ToolRules {
        ToolRules { domain: ToolDomain::Inherited, time: Duration::MAX }
    }
}

impl Default for ToolRules {
    fn default() -> ToolRules {
        ToolRules::new(Layers::of_this_machine(), ToolRules::TIME, ToolRules::MEGABYTES)
    }
}

/// Address space for stacks and libraries, most of which is never used.
const RESERVED_MEGABYTES: u64 = 1024;
/// The most that a program may write to one file.
pub const LARGEST_FILE: u64 = 2 << 30;
/// The most that a program may print.
const MOST_OUTPUT: u64 = 512 << 20;
const MOST_ERRORS: u64 = 16 << 20;
/// A program that waits this long for something other than the processor waits for ever.
const SILENCE: Duration = Duration::from_secs(10);
/// How often a program is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// A program of the toolchain that is to run.
#[derive(Debug)]
pub struct ToolRun<'a> {
    program: &'a Path,
    arguments: Vec<OsString>,
    input: &'a [u8],
    writable: Vec<PathBuf>,
}

/// The result of a program that ran to its end.
#[derive(Debug)]
pub struct ToolOutput {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// The reason why a program did not run to its end.
#[derive(Debug)]
pub enum ToolFailure {
    CannotStart(io::Error),
    Exceeded(Excess),
}

/// A limit that a program did not keep to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excess {
    Time(Duration),
    Silence,
    Output,
    Memory,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Time(limit) => write!(f, "it took more than {} s", limit.as_secs()),
            Excess::Silence => {
                write!(f, "it waited {} s for something (does it include a pipe or a device?)", SILENCE.as_secs())
            }
            Excess::Output => write!(f, "its text grew beyond {} MB", MOST_OUTPUT >> 20),
            Excess::Memory => write!(f, "there was not enough memory"),
        }
    }
}

impl<'a> ToolRun<'a> {
    pub fn new(program: &'a Path) -> ToolRun<'a> {
        ToolRun { program, arguments: Vec::new(), input: &[], writable: Vec::new() }
    }

    pub fn arg(&mut self, argument: impl Into<OsString>) -> &mut Self {
        self.arguments.push(argument.into());
        self
    }

    pub fn args<A: Into<OsString>>(&mut self, arguments: impl IntoIterator<Item = A>) -> &mut Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Gives the program something to read.
    pub fn input(&mut self, input: &'a [u8]) -> &mut Self {
        self.input = input;
        self
    }

    /// Lets the program write to a folder. Its temporary files go to the first one.
    pub fn writes_to(&mut self, folder: &Path) -> &mut Self {
        self.writable.push(folder.to_owned());
        self
    }

    /// Runs the program to its end.
    pub fn run(&self, rules: &ToolRules) -> Result<ToolOutput, ToolFailure> {
        let talk = |mut pipes: Pipes<'_>| {
            // A program that does not read to the end has its reasons, and says them.
            let _ = pipes.input.take().map(|mut input| input.write_all(self.input));
            pipes.rest()
        };
        let (stdout, ended) = self.converse(rules, talk)?;
        Ok(ToolOutput { stdout: stdout.map_err(ToolFailure::CannotStart)?, ..ended })
    }

    /// Runs the program while `talk` writes to it and reads from it. Returns its last word, and how the program ended, without
    /// what `talk` has read.
    pub fn converse<T: Send>(
        &self,
        rules: &ToolRules,
        talk: impl FnOnce(Pipes<'_>) -> T + Send,
    ) -> Result<(T, ToolOutput), ToolFailure> {
        let launch = ToolLaunch {
            program: self.program,
            arguments: self.arguments.clone(),
            // Messages are read by us, too: always in English.
            environment: vec![("LC_ALL".into(), "C".into())],
            writable: self.writable.clone(),
            domain: rules.domain,
        };
        let (mut started, pipes) = launch.start().map_err(ToolFailure::CannotStart)?;
        let watch = Watch { started: &started, limit: rules.time, excess: Mutex::default() };
        let (said, errors) = watch.over(rules.domain, |watch| talk_to(pipes, watch, talk));
        let excess = watch.excess.into_inner().unwrap_or_else(PoisonError::into_inner);
        let status = started.wait().map_err(ToolFailure::CannotStart)?;
        let output = ToolOutput { status, stdout: Vec::new(), stderr: errors };
        match excess.or_else(|| output.excess(rules)) {
            Some(excess) => Err(ToolFailure::Exceeded(excess)),
            None => Ok((said, output)),
        }
    }
}

impl ToolOutput {
    /// Returns the limit that ended the program itself, or one that it started, as far as that shows.
    fn excess(&self, rules: &ToolRules) -> Option<Excess> {
        let out_of_memory = ["out of memory", "memory allocation of", "std::bad_alloc", "memory exhausted"];
        let errors = String::from_utf8_lossy(&self.stderr);
        if self.status.success() {
            None
        } else if out_of_memory.iter().any(|words| errors.contains(words)) {
            Some(Excess::Memory)
        } else if self.status.signal() == Some(libc::SIGXCPU) || errors.contains("CPU time limit exceeded") {
            Some(Excess::Time(rules.time))
        } else if self.status.signal() == Some(libc::SIGXFSZ) {
            Some(Excess::Output)
        } else {
            None
        }
    }
}

/// What a running program reads and writes.
#[derive(Debug)]
pub struct Pipes<'a> {
    input: Option<File>,
    output: File,
    watch: &'a Watch<'a>,
}

impl Pipes<'_> {
    /// Returns where the program reads from. It reads to the end when this goes.
    pub fn input(&mut self) -> Option<&mut File> {
        self.input.as_mut()
    }

    /// Returns what it prints until it ends. A program that prints too much is ended.
    fn rest(&mut self) -> io::Result<Vec<u8>> {
        read_limited(&mut self.output, MOST_OUTPUT, self.watch)
    }
}

impl Read for Pipes<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.output.read(to)
    }
}

fn talk_to<T>(pipes: ToolPipes, watch: &Watch<'_>, talk: impl FnOnce(Pipes<'_>) -> T) -> (T, Vec<u8>) {
    let ToolPipes { input, output, mut errors } = pipes;
    std::thread::scope(|scope| {
        let errors = scope.spawn(move || read_limited(&mut errors, MOST_ERRORS, watch).unwrap_or_default());
        let said = talk(Pipes { input: Some(input), output, watch });
        (said, errors.join().unwrap_or_default())
    })
}

fn read_limited(from: &mut File, most: u64, watch: &Watch<'_>) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(most).read_to_end(&mut text)?;
    if text.len() as u64 == most {
        watch.end(Excess::Output);
    }
    Ok(text)
}

/// Ends a program that exceeds a limit.
#[derive(Debug)]
struct Watch<'a> {
    started: &'a Started,
    limit: Duration,
    excess: Mutex<Option<Excess>>,
}

impl Watch<'_> {
    /// Watches the program while `work` talks to it, and until it has ended.
    fn over<T>(&self, domain: ToolDomain, work: impl FnOnce(&Self) -> T) -> T {
        if domain == ToolDomain::Inherited {
            let done = work(self);
            self.started.wait_for_end();
            return done;
        }
        let (end, ended) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || self.look_until(&ended));
            let done = work(self);
            self.started.wait_for_end();
            drop(end);
            done
        })
    }

    fn look_until(&self, ended: &Receiver<()>) {
        let begin = Instant::now();
        let (mut ticks, mut last_change) = (0, begin);
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            // Reading /proc costs something, and most programs end soon.
            if last_change.elapsed() > SILENCE / 4 {
                let now = processor_time(self.started.id());
                if now != ticks {
                    (ticks, last_change) = (now, Instant::now());
                }
            }
            if last_change.elapsed() > SILENCE {
                self.end(Excess::Silence);
            } else if begin.elapsed() > self.limit {
                self.end(Excess::Time(self.limit));
            }
        }
    }

    fn end(&self, excess: Excess) {
        self.excess.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(excess);
        self.started.kill();
    }
}
