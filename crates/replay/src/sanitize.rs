//! A third build with sanitizers, made when there are findings to confirm: every case runs in a process of its own, so
//! that what the sanitizers write belongs to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use branchwise_program::map::Language;

use crate::batch::{Answer, Batch, Counters, Purpose};
use crate::case::{NativeEnd, TestCase};
use crate::compile::{OtherObject, build_sanitized};
use crate::harness::{Process, WORK};
use crate::{Harness, ReplayError, Sources};

/// The sanitized build, which all threads share.
#[derive(Debug)]
pub(crate) struct Sanitizer {
    sources: SanitizerSources,
    /// Made when the first finding is to be confirmed; or why it could not be.
    executable: OnceLock<Result<PathBuf, String>>,
}

/// What the sanitized build is made from.
#[derive(Debug)]
pub(crate) struct SanitizerSources {
    pub marked: String,
    pub flags: Vec<String>,
    pub language: Language,
    pub drivers: Vec<String>,
    pub others: Vec<OtherObject>,
}

impl Sanitizer {
    /// `drivers` in the order of the table through which the native side calls them.
    pub(crate) fn new(sources: &Sources, drivers: Vec<String>) -> Self {
        let Sources { marked, flags, language, others, .. } = *sources;
        let (marked, flags, others) = (marked.to_owned(), flags.to_vec(), others.to_vec());
        let sources = SanitizerSources { marked, flags, language, drivers, others };
        Sanitizer { sources, executable: OnceLock::new() }
    }
}

/// One complaint of a sanitizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SanitizerReport {
    /// `AddressSanitizer` or `UndefinedBehaviorSanitizer`.
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
    /// Runs each case on the sanitized build, which the first call of all threads makes.
    pub fn run_sanitized(&mut self, cases: &[TestCase]) -> Result<Vec<SanitizedRun>, ReplayError> {
        let sanitizer = Arc::clone(&self.sanitizer);
        let built = sanitizer.executable.get_or_init(|| {
            build_sanitized(&self.tools, &sanitizer.sources, self.folder.path()).map_err(|error| error.to_string())
        });
        let executable = built.as_ref().map_err(|message| ReplayError::Harness { message: message.clone() })?;
        cases.iter().enumerate().map(|(index, case)| self.run_one_sanitized(executable, case, index)).collect()
    }

    fn run_one_sanitized(
        &mut self,
        executable: &Path,
        case: &TestCase,
        index: usize,
    ) -> Result<SanitizedRun, ReplayError> {
        let reports = self.own.path().join(format!("reports{}", self.batches));
        fs::create_dir_all(&reports).map_err(ReplayError::io("make a temporary folder"))?;
        let mut batch = Batch::new();
        self.add_group(&mut batch, Counters::All, std::slice::from_ref(case), index)?;
        let (file, prefix) = self.write_batch(&mut batch, Purpose::Sanitize)?;
        let work = self.own.path().join(WORK);
        let mut process = Process::start_sanitized(executable, &file, prefix, &work, &reports.join("report"))?;
        let end = loop {
            match process.next()? {
                Answer::Started | Answer::Group(_) => {}
                Answer::Test(raw) => break raw.end,
                Answer::End => return Err(ReplayError::Harness { message: "it ran no test".to_string() }),
                Answer::Died => break NativeEnd::Signal(process.signal_of_death()?),
            }
        };
        drop(process);
        let run = SanitizedRun { end, reports: read_reports(&reports) };
        // Only to save room: the folder goes at the end anyway.
        let _ = fs::remove_dir_all(&reports);
        Ok(run)
    }
}

fn read_reports(folder: &Path) -> Vec<SanitizerReport> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    files.sort();
    let texts = files.iter().map(|file| String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned());
    texts.flat_map(|text| text.lines().filter_map(report).collect::<Vec<_>>()).collect()
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
}
