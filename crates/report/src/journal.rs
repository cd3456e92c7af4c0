//! The journal of a run: a line for each function as it finishes, so that a run which was killed can go on.
//!
//! A line is one JSON object, `{"sum":"…","entry":{…}}`. The sum is that of the bytes of the entry. A line that was not
//! written to its end has no newline, or a wrong sum: [`Journal::resume`] drops it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use branchwise_generate::UnitReport;
use branchwise_tools::{append_ordinary, read_ordinary};
use serde::{Deserialize, Serialize};

use crate::suite::SuiteError;

/// The name of the journal in the folder of a suite.
pub const JOURNAL: &str = "journal.jsonl";

/// The name of the journal of an earlier run that nobody resumed.
const PREVIOUS: &str = "journal.previous.jsonl";

const BEFORE_SUM: &[u8] = b"{\"sum\":\"";
const BEFORE_ENTRY: &[u8] = b"\",\"entry\":";
const BEHIND_ENTRY: &[u8] = b"}\n";

/// Digits of a [`Fingerprint`].
const SUM_DIGITS: usize = 32;

/// A power failure may take what was written since the last time; a kill takes nothing.
const SYNC_AFTER: Duration = Duration::from_secs(1);

/// One function that was finished.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    pub key: Key,
    /// The name of the function, for people who read the journal.
    pub function: String,
    pub unit: UnitReport,
}

/// Everything that the result of a function depends on. An entry is used only where all of it is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// Which build of Branchwise, and which compiler.
    pub program: String,
    /// Options, configuration, seed and budget.
    pub options: String,
    /// The file with all that it includes, its flags, and the files that it is linked with.
    pub source: String,
}

/// A hash of 128 bits (FNV-1a) over text that is written to it. It notices accidents; it is no defence against people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(u128);

/// The journal of a run that is going on.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The length of all lines that are whole.
    length: u64,
    synced: Instant,
}

/// The readable part of a journal.
#[derive(Debug, Default)]
pub struct Recovered {
    pub entries: Vec<Entry>,
    /// Lines of another version of Branchwise.
    pub foreign: usize,
    /// Lines whose sum is wrong.
    pub damaged: usize,
    /// Where the last whole line ends.
    end: usize,
}

/// What keeps an entry from being used, the least difference first.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    Source,
    Options,
    Program,
}

impl Key {
    /// Returns the greatest difference to another key of the same file, which is not the same.
    pub fn difference(&self, other: &Key) -> Difference {
        match other {
            _ if self.program != other.program => Difference::Program,
            _ if self.options != other.options => Difference::Options,
            _ => Difference::Source,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difference::Source => "the file, what it includes or its flags have changed",
            Difference::Options => "options, configuration or budget differ",
            Difference::Program => "Branchwise or the compiler is another one",
        })
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fingerprint {
    fn of(bytes: &[u8]) -> Self {
        let mut sum = Fingerprint::default();
        sum.add(bytes);
        sum
    }

    /// Adds bytes, and that they end here.
    pub fn add(&mut self, bytes: &[u8]) {
        const PRIME: u128 = (1 << 88) + 0x13b;
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
}

impl fmt::Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Journal {
    /// Begins a new journal in `folder`. Returns also where the journal of an earlier run was moved to, if it holds entries.
    pub fn begin(folder: &Path) -> Result<(Self, Option<PathBuf>), SuiteError> {
        let path = folder.join(JOURNAL);
        let kept = match read(&path)?.entries.is_empty() {
            true => None,
            false => {
                let previous = folder.join(PREVIOUS);
                fs::rename(&path, &previous).map_err(|cause| SuiteError::cannot_write(&path, &cause))?;
                Some(previous)
            }
        };
        Ok((Journal::open(path, 0)?, kept))
    }

    /// Goes on with the journal in `folder`, behind its last whole line.
    pub fn resume(folder: &Path) -> Result<(Self, Recovered), SuiteError> {
        let path = folder.join(JOURNAL);
        let recovered = read(&path)?;
        Ok((Journal::open(path, recovered.end as u64)?, recovered))
    }

    fn open(path: PathBuf, length: u64) -> Result<Self, SuiteError> {
        let opened = append_ordinary(&path);
        let cut = opened.and_then(|file| file.set_len(length).map(|()| file));
        let file = cut.map_err(|cause| SuiteError::cannot_write(&path, &cause))?;
        Ok(Journal { path, file, length, synced: Instant::now() })
    }

    /// Writes an entry. After an error the journal is as it was before.
    pub fn append(&mut self, entry: &Entry) -> Result<(), SuiteError> {
        let line = line_of(entry).map_err(|cause| SuiteError::cannot_write(&self.path, &cause.into()))?;
        match self.file.write_all(&line).and_then(|()| self.sync()) {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(())
            }
            Err(cause) => {
                // Half a line is no harm at the end, but the next one must not begin behind it.
                let _ = self.file.set_len(self.length);
                Err(SuiteError::cannot_write(&self.path, &cause))
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.synced.elapsed() < SYNC_AFTER {
            return Ok(());
        }
        self.synced = Instant::now();
        self.file.sync_data()
    }

    /// Removes the journal: everything in it is in the report.
    pub fn remove(self) -> Result<(), SuiteError> {
        fs::remove_file(&self.path).map_err(|cause| SuiteError::cannot_write(&self.path, &cause))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.length == 0 {
            // An empty journal says nothing.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn read(path: &Path) -> Result<Recovered, SuiteError> {
    match read_ordinary(path, u64::MAX) {
        Ok(bytes) => Ok(recovered(&bytes)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Recovered::default()),
        Err(cause) => Err(SuiteError::cannot_read(path, &cause)),
    }
}

fn recovered(bytes: &[u8]) -> Recovered {
    let mut recovered = Recovered::default();
    for line in bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        recovered.end += line.len();
        match entry_text(line).map(serde_json::from_slice) {
            Some(Ok(entry)) => recovered.entries.push(entry),
            Some(Err(_)) => recovered.foreign += 1,
            None => recovered.damaged += 1,
        }
    }
    recovered
}

fn line_of(entry: &Entry) -> serde_json::Result<Vec<u8>> {
    let text = serde_json::to_vec(entry)?;
    let sum = Fingerprint::of(&text).to_string();
    Ok([BEFORE_SUM, sum.as_bytes(), BEFORE_ENTRY, &text, BEHIND_ENTRY].concat())
}

/// Returns the entry of a line, if its sum is right.
fn entry_text(line: &[u8]) -> Option<&[u8]> {
    let (sum, rest) = line.strip_prefix(BEFORE_SUM)?.split_at_checked(SUM_DIGITS)?;
    let text = rest.strip_prefix(BEFORE_ENTRY)?.strip_suffix(BEHIND_ENTRY)?;
    (Fingerprint::of(text).to_string().as_bytes() == sum).then_some(text)
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
