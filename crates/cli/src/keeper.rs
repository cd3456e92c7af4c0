//! Keeps what is found: the journal of this run, and what an earlier one left there.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use branchwise_generate::UnitReport;
use branchwise_program::FunctionId;
use branchwise_report::{Entry, Fingerprint, Journal, Key, Recovered};

use crate::error::CliError;
use crate::out_folder::OutFolder;
use crate::pipeline::Loaded;
use crate::sources::SourceFile;

/// The journal of a run, as its threads share it.
pub struct Keeper {
    journal: Mutex<Journal>,
    /// What an earlier run found.
    earlier: Vec<Entry>,
    /// Why the journal cannot be written any more.
    failure: Mutex<Option<CliError>>,
    program: String,
    options: String,
}

/// A keeper and what the user should know of the journal that was there.
pub struct Opened {
    pub keeper: Keeper,
    pub notes: Vec<String>,
}

impl Keeper {
    /// Opens the journal in the folder; what is there is used only if the run resumes an earlier one. All that results
    /// depend on, whatever the file, is in `compiler` and `options`.
    pub fn open(folder: &OutFolder, resume: bool, compiler: &str, options: &dyn Debug) -> Result<Opened, CliError> {
        let (journal, earlier, notes) = match resume {
            true => {
                let (journal, recovered) = Journal::resume(folder.path())?;
                let notes = resumed(folder.path(), &recovered);
                (journal, recovered.entries, notes)
            }
            false => {
                let (journal, moved) = Journal::begin(folder.path())?;
                (journal, Vec::new(), moved.iter().map(|path| not_resumed(path)).collect())
            }
        };
        let keeper = Keeper {
            journal: Mutex::new(journal),
            earlier,
            failure: Mutex::default(),
            program: hash(&(this_build(), compiler)),
            options: hash(options),
        };
        Ok(Opened { keeper, notes })
    }

    /// Returns the key of entries of this file.
    pub fn key(&self, source: &SourceFile, loaded: &Loaded) -> Key {
        Key {
            file: source.path.clone(),
            program: self.program.clone(),
            options: self.options.clone(),
            source: hash(&(&source.flags, loaded.fingerprint().to_string())),
        }
    }

    /// Returns what an earlier run found with this key; and why what it found in this file is not used, if it is not.
    pub fn earlier(&self, key: &Key) -> (BTreeMap<FunctionId, UnitReport>, Option<String>) {
        let of_file = || self.earlier.iter().filter(|entry| entry.key.file == key.file);
        let found: BTreeMap<_, _> = of_file()
            .filter(|entry| entry.key == *key)
            .map(|entry| (entry.unit.function(), entry.unit.clone()))
            .collect();
        let other = of_file().map(|entry| entry.key.difference(key)).min();
        let remark = other
            .filter(|_| found.is_empty())
            .map(|why| format!("{}: what an earlier run found is not used, because {why}", key.file.display()));
        (found, remark)
    }

    /// Writes what was found for a function. Returns false if that is not possible; see [`Keeper::failure`].
    pub fn keep(&self, key: &Key, function: &str, unit: &UnitReport) -> bool {
        let entry = Entry { key: key.clone(), function: function.to_owned(), unit: unit.clone() };
        match lock(&self.journal).append(&entry) {
            Ok(()) => true,
            Err(error) => {
                lock(&self.failure).get_or_insert(error.into());
                false
            }
        }
    }

    /// Why something that was found could not be kept.
    pub fn failure(&self) -> Option<CliError> {
        lock(&self.failure).clone()
    }

    /// Removes the journal: all that it holds is in a complete report.
    pub fn discard(self) -> Result<(), CliError> {
        let journal = self.journal.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(journal.remove()?)
    }
}

fn resumed(folder: &Path, recovered: &Recovered) -> Vec<String> {
    let Recovered { entries, foreign, damaged, .. } = recovered;
    let place = folder.join(branchwise_report::JOURNAL);
    let place = place.display();
    let mut notes = match entries.len() {
        0 => vec![format!("there is nothing to resume in {place}: starting from the beginning")],
        1 => vec![format!("resuming with the function that {place} holds")],
        several => vec![format!("resuming with the {several} functions that {place} holds")],
    };
    if *foreign > 0 {
        notes.push(format!("{foreign} entries of {place} are not used: another version of Branchwise wrote them"));
    }
    if *damaged > 0 {
        notes.push(format!("{damaged} entries of {place} are not used: they are damaged"));
    }
    notes
}

fn not_resumed(moved: &Path) -> String {
    let journal = branchwise_report::JOURNAL;
    let moved = moved.display();
    format!(
        "an earlier run did not finish; its journal is now {moved} (rename it to {journal} and give --resume to use it)"
    )
}

/// What tells one build of this program from another: its version alone does not.
fn this_build() -> String {
    let metadata = std::env::current_exe().and_then(std::fs::metadata);
    let file = metadata.map(|metadata| (metadata.len(), metadata.modified().ok()));
    format!("{} {:?}", env!("CARGO_PKG_VERSION"), file.ok())
}

fn hash(value: &dyn Debug) -> String {
    let mut hash = Fingerprint::default();
    // Writing to a hash cannot fail.
    let _ = write!(hash, "{value:?}");
    hash.to_string()
}

/// A thread that panicked while it held a lock left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
