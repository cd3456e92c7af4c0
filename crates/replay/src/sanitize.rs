//! Builds with sanitizers, made when there are findings to confirm: every case runs in a process of its own, so that what
//! the sanitizers write belongs to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use branchwise_program::map::Language;
use branchwise_tools::ToolRun;

use crate::batch::{Answer, Batch, Counters, Purpose};
use crate::case::{NativeEnd, TestCase};
use crate::compile::{OtherObject, build_sanitized};
use crate::harness::built_in;
use crate::process::{Build, Process};
use crate::tools::joined;
use crate::{Harness, ReplayError, Sources};

/// Which sanitizers a build has. No build can have all of them.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Sanitizers {
    /// AddressSanitizer and UndefinedBehaviorSanitizer.
    Usual,
    /// MemorySanitizer, which sees values that were never written.
    Memory,
    /// LeakSanitizer, which looks after each test for objects that nobody can reach.
    Leaks,
}

/// The sanitized builds, which all threads share.
#[derive(Debug)]
pub(crate) struct Sanitizer {
    pub(crate) sources: LaterSources,
    /// Made when the first finding is to be confirmed; or why it could not be.
    usual: OnceLock<Result<PathBuf, String>>,
    memory: OnceLock<Result<PathBuf, String>>,
    leaks: OnceLock<Result<PathBuf, String>>,
}

/// What builds are made from that not every run needs.
#[derive(Debug)]
pub(crate) struct LaterSources {
    pub marked: String,
    pub plain: String,
    pub flags: Vec<String>,
    pub language: Language,
    pub drivers: Vec<String>,
    pub others: Vec<OtherObject>,
    /// Functions that act on the world and yet run.
    pub allowed: BTreeSet<String>,
}

impl Sanitizer {
    /// `drivers` in the order of the table through which the native side calls them.
    pub(crate) fn new(sources: &Sources, drivers: Vec<String>) -> Self {
        let Sources { marked, plain, flags, language, others, .. } = *sources;
        let (marked, plain) = (marked.to_owned(), plain.to_owned());
        let (flags, others) = (flags.to_vec(), others.to_vec());
        let allowed = sources.map.allowed_calls.clone();
        let sources = LaterSources { marked, plain, flags, language, drivers, others, allowed };
        Sanitizer { sources, usual: OnceLock::new(), memory: OnceLock::new(), leaks: OnceLock::new() }
    }

    fn executable(&self, sanitizers: Sanitizers) -> &OnceLock<Result<PathBuf, String>> {
        match sanitizers {
            Sanitizers::Usual => &self.usual,
            Sanitizers::Memory => &self.memory,
            Sanitizers::Leaks => &self.leaks,
        }
    }
}

/// One complaint of a sanitizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SanitizerReport {
    /// `AddressSanitizer`, `UndefinedBehaviorSanitizer`, `MemorySanitizer` or `LeakSanitizer`.
    pub sanitizer: &'static str,
    /// E.g. `heap-use-after-free`, `signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'`.
    pub what: String,
    /// The line of the user's file, where the sanitizer knows it.
    pub line: Option<u32>,
}

/// What a run on the sanitized build showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SanitizedRun {
    pub end: NativeEnd,
    pub reports: Vec<SanitizerReport>,
}

impl Harness {
    /// Runs each case on a sanitized build, which the first call of all threads makes.
    pub fn run_sanitized(
        &mut self,
        sanitizers: Sanitizers,
        cases: &[TestCase],
    ) -> Result<Vec<SanitizedRun>, ReplayError> {
        self.run_sanitized_while(sanitizers, cases, &|| true)
    }

    /// The same for the first cases, until there is no reason to go on.
    pub fn run_sanitized_while(
        &mut self,
        sanitizers: Sanitizers,
        cases: &[TestCase],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Vec<SanitizedRun>, ReplayError> {
        let executable = self.sanitized(sanitizers)?;
        let purpose = if sanitizers == Sanitizers::Leaks { Purpose::FindLeaks } else { Purpose::Sanitize };
        let mut runs = Vec::with_capacity(cases.len());
        for (index, case) in cases.iter().enumerate().take_while(|_| goes_on()) {
            runs.push(self.run_one_sanitized(&executable, purpose, case, index)?);
        }
        self.with_lines(&executable, runs)
    }

    /// Makes a sanitized build, unless another thread has.
    pub fn prepare_sanitized(&self, sanitizers: Sanitizers) -> Result<(), ReplayError> {
        self.sanitized(sanitizers).map(drop)
    }

    fn sanitized(&self, sanitizers: Sanitizers) -> Result<PathBuf, ReplayError> {
        let sanitizer = Arc::clone(&self.sanitizer);
        if sanitizers == Sanitizers::Memory && !sanitizer.sources.others.is_empty() {
            let message = "MemorySanitizer does not see what the other files write".to_string();
            return Err(ReplayError::Harness { message });
        }
        let built = sanitizer.executable(sanitizers).get_or_init(|| {
            let built = build_sanitized(&self.tools, &sanitizer.sources, sanitizers, &built_in(&self.folder));
            built.map_err(|error| error.to_string())
        });
        built.clone().map_err(|message| ReplayError::Harness { message })
    }

    fn run_one_sanitized(
        &mut self,
        executable: &Path,
        purpose: Purpose,
        case: &TestCase,
        index: usize,
    ) -> Result<(NativeEnd, Vec<Complaint>), ReplayError> {
        let reports = self.own.path().join(format!("reports{}", self.batches));
        fs::create_dir_all(&reports).map_err(ReplayError::io("make a temporary folder"))?;
        let mut batch = Batch::new();
        self.add_group(&mut batch, Counters::All, std::slice::from_ref(case), index)?;
        let written = self.write_batch(&mut batch, purpose)?;
        let file = reports.join("report");
        let build = if purpose == Purpose::FindLeaks { Build::Leaks(file) } else { Build::Sanitized(file) };
        let mut process = Process::start(self, executable, written, &build)?;
        let end = loop {
            match process.next()? {
                Answer::Started | Answer::Group(_) => {}
                Answer::Test(raw) => break raw.end,
                Answer::End => return Err(ReplayError::Harness { message: "it ran no test".to_string() }),
                Answer::Died => break NativeEnd::Signal(self.signal_of_death(&mut process)?),
            }
        };
        drop(process);
        let complaints = read_complaints(executable, &reports);
        // Only to save room: the folder goes at the end anyway.
        let _ = fs::remove_dir_all(&reports);
        Ok((end, complaints))
    }

    /// The runs with the lines of all stacks, which one process finds out.
    fn with_lines(
        &self,
        executable: &Path,
        runs: Vec<(NativeEnd, Vec<Complaint>)>,
    ) -> Result<Vec<SanitizedRun>, ReplayError> {
        let stacks = runs.iter().flat_map(|(_, complaints)| complaints).filter_map(Complaint::stack);
        let addresses: BTreeSet<&String> = stacks.flatten().collect();
        let lines = self.user_lines(executable, &addresses)?;
        let run = |(end, complaints): &(NativeEnd, Vec<Complaint>)| {
            let reports = complaints.iter().flat_map(|complaint| complaint.reports(&lines)).collect();
            SanitizedRun { end: *end, reports }
        };
        Ok(runs.iter().map(run).collect())
    }

    /// The lines of the addresses that are neither the sanitizer's nor the harness's.
    fn user_lines(
        &self,
        executable: &Path,
        addresses: &BTreeSet<&String>,
    ) -> Result<BTreeMap<String, u32>, ReplayError> {
        if addresses.is_empty() {
            return Ok(BTreeMap::new());
        }
        let symbolizer = self.tools.symbolizer()?;
        let mut command = ToolRun::new(&symbolizer);
        command.args(["--functions=none", "--no-inlines", "--output-style=GNU"]);
        command.arg(joined("--obj=", executable)).args(addresses);
        let output = self.tools.succeed("llvm-symbolizer", &command)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let known = addresses.iter().zip(text.lines());
        Ok(known.filter_map(|(address, place)| Some(((*address).clone(), user_line(place)?))).collect())
    }
}

/// What a sanitizer has written, before the lines of stacks are known.
#[derive(Debug)]
enum Complaint {
    WithLine(SanitizerReport),
    /// With the addresses of the frames, innermost first.
    Uninitialised(Vec<String>),
    Leak(Vec<String>),
}

impl Complaint {
    fn stack(&self) -> Option<&Vec<String>> {
        match self {
            Complaint::WithLine(_) => None,
            Complaint::Uninitialised(stack) | Complaint::Leak(stack) => Some(stack),
        }
    }

    fn reports(&self, lines: &BTreeMap<String, u32>) -> Vec<SanitizerReport> {
        let lines_of = |stack: &[String]| stack.iter().filter_map(|address| lines.get(address).copied()).collect();
        match self {
            Complaint::WithLine(report) => vec![report.clone()],
            Complaint::Uninitialised(stack) => {
                let known: Vec<u32> = lines_of(stack);
                let what = "use-of-uninitialized-value".to_string();
                vec![SanitizerReport { sanitizer: "MemorySanitizer", what, line: known.first().copied() }]
            }
            // What is allocated in a header of the library is allocated by whoever called it.
            Complaint::Leak(stack) => {
                let known: Vec<u32> = lines_of(stack);
                let leak = |line| {
                    let what = "memory leak".to_string();
                    SanitizerReport { sanitizer: "LeakSanitizer", what, line: Some(line) }
                };
                known.into_iter().map(leak).collect()
            }
        }
    }
}

fn read_complaints(executable: &Path, folder: &Path) -> Vec<Complaint> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    files.sort();
    let mut complaints = Vec::new();
    for file in files {
        let text = String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned();
        complaints.extend(text.lines().filter_map(report).map(Complaint::WithLine));
        complaints.extend(stacks_behind(UNINITIALISED, executable, &text).into_iter().map(Complaint::Uninitialised));
        complaints.extend(stacks_behind(LEAK, executable, &text).into_iter().map(Complaint::Leak));
    }
    complaints
}

/// How reports with a stack begin.
const UNINITIALISED: &str = "WARNING: MemorySanitizer: use-of-uninitialized-value";
const LEAK: &str = "Direct leak of ";

/// The stacks of such reports, as addresses within the executable, innermost first. A sanitizer writes a line with the
/// head, then lines `#0 ADDRESS (EXECUTABLE+OFFSET) …`.
fn stacks_behind(head: &str, executable: &Path, text: &str) -> Vec<Vec<String>> {
    let within = format!("({}+", executable.display());
    let mut stacks: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        let frame = line.trim_start().starts_with('#').then_some(line);
        if line.contains(head) {
            stacks.push(Vec::new());
        } else if let (Some(stack), Some((_, rest))) = (stacks.last_mut(), frame.and_then(|at| at.split_once(&within)))
        {
            stack.extend(rest.split(')').next().map(str::to_owned));
        }
    }
    stacks
}

/// `FILE:LINE` as the symbolizer writes it, unless the file is the harness's or nobody knows it.
fn user_line(place: &str) -> Option<u32> {
    let (file, line) = place.split_once(" (discriminator").map_or(place, |(place, _)| place).rsplit_once(':')?;
    let ours = ["/runtime.c", "/registers.c"].iter().any(|name| file.ends_with(name))
        || file.contains("compiler-rt/lib/")
        || file.starts_with("??");
    line.parse().ok().filter(|&line: &u32| line > 0 && !ours)
}

/// `==12==ERROR: AddressSanitizer: KIND on address …`, or `FILE:LINE:COLUMN: runtime error: TEXT`.
fn report(line: &str) -> Option<SanitizerReport> {
    if let Some((place, what)) = line.split_once(": runtime error: ") {
        let line = place.rsplit(':').nth(1).and_then(|number| number.parse().ok());
        return Some(SanitizerReport { sanitizer: "UndefinedBehaviorSanitizer", what: without_addresses(what), line });
    }
    let (_, what) = line.split_once("ERROR: AddressSanitizer: ")?;
    let kind = what.split(" on ").next().unwrap_or(what);
    Some(SanitizerReport { sanitizer: "AddressSanitizer", what: without_addresses(kind), line: None })
}

/// The same text in every run.
fn without_addresses(text: &str) -> String {
    let words = text.split(' ').map(|word| if word.starts_with("0x") { "ADDRESS" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_both_sanitizers_are_read() {
        let overflow = report("a.c:3:14: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented");
        let overflow = overflow.expect("a report");
        assert_eq!((overflow.line, overflow.sanitizer), (Some(3), "UndefinedBehaviorSanitizer"));
        assert!(overflow.what.starts_with("signed integer overflow"));
        let freed = report("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602 at pc 0x1");
        assert_eq!(freed.expect("a report").what, "heap-use-after-free");
        assert_eq!(report("    #0 0x1 in f a.c:3"), None);
    }

    #[test]
    fn the_stacks_of_the_memory_sanitizer_are_read() {
        let text = "==7==WARNING: MemorySanitizer: use-of-uninitialized-value\n    #0 0x4c7dbf  (/t/x+0x4c7dbf) (BuildId: e)\n    \
                    #1 0x7f12  (/lib/libc.so.6+0x27) (BuildId: f)\n    #2 0x4302d0  (/t/x+0x4302d0) (BuildId: e)\n\nSUMMARY: \
                    MemorySanitizer: use-of-uninitialized-value (/t/x+0x4c7dbf)\n";
        let stacks = |text| stacks_behind(UNINITIALISED, Path::new("/t/x"), text);
        assert_eq!(stacks(text), [["0x4c7dbf", "0x4302d0"]]);
        assert_eq!(stacks("    #0 0x1  (/t/x+0x1)\n"), Vec::<Vec<String>>::new());
        assert_eq!(
            ["/a.c:3", "a b.c:4 (discriminator 2)", "/tmp/runtime.c:9", "??:0"].map(user_line),
            [Some(3), Some(4), None, None]
        );
    }
}
