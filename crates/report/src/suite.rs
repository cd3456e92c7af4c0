//! Writes a suite into a folder: the emitted tests, the report, and `suite.json` for later runs.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use branchwise_results::{DETAILS, Report};
use branchwise_tools::{LARGEST_FILE, read_ordinary};

use crate::emit::{
    EmittedFile, Kind, emit_c, emit_cpp_catch2, emit_cpp_gtest, emit_gtest, emit_reproducers, is_reproducers,
};
use crate::file_report::FileReport;
use crate::journal::JOURNAL;
use crate::published::StagedReport;
use crate::standing::LESSER;
use crate::suite_data::Suite;
use crate::whole::{Staged, stage};

/// What tests are written as.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum EmitFormat {
    /// Plain C or C++ without a framework.
    Plain,
    /// C++, or C behind C++.
    GoogleTest,
    /// Of C++; tests of C are plain.
    Catch2,
}

/// What was written, each path with its folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenSuite {
    pub tests: Vec<PathBuf>,
    /// Files of inputs that show what lies behind undefined behaviour.
    pub reproducers: Vec<PathBuf>,
    pub report: PathBuf,
    pub suite: PathBuf,
}

/// A suite that could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteError {
    pub message: String,
    pub hint: Option<String>,
}

impl SuiteError {
    pub(crate) fn cannot_read(path: &Path, cause: &impl Display) -> Self {
        let hint = "give a folder that `branchwise generate --out` wrote".to_owned();
        SuiteError { message: format!("cannot read {}: {cause}", path.display()), hint: Some(hint) }
    }

    pub(crate) fn not_a_suite(path: &Path, cause: &impl Display) -> Self {
        let hint = "generate the suite again with this version".to_owned();
        SuiteError { message: format!("{} is not a suite: {cause}", path.display()), hint: Some(hint) }
    }

    pub(crate) fn changed(source: &Path, function: &str, what: &str) -> Self {
        let message = format!("'{function}' in {} does not fit the suite: {what}", source.display());
        SuiteError { message, hint: Some("generate the suite again".to_owned()) }
    }

    pub(crate) fn cannot_write(path: &Path, cause: &io::Error) -> Self {
        let is_full = matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let hint = "make room; the finished functions are in the journal, and --resume goes on from there".to_owned();
        SuiteError { message: format!("cannot write {}: {cause}", path.display()), hint: is_full.then_some(hint) }
    }
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SuiteError {}

/// Where a run started, and with which configuration: what is needed to read its files in the same way again.
#[derive(Debug, Copy, Clone)]
pub struct Origin<'a> {
    /// The folder that relative sources and flags refer to.
    pub folder: &'a Path,
    /// The file with preconditions and domains, where there was one.
    pub config: Option<&'a Path>,
    /// The tests set static variables.
    pub set_statics: bool,
    /// Instances of templates that were tested on their own.
    pub instances: &'a [String],
    /// Functions that act on the world and yet ran.
    pub allow_calls: &'a [String],
}

/// Returns a link at one of the places in `folder` to which results are written: it may lead to anybody's files.
pub fn link_in(folder: &Path) -> Option<PathBuf> {
    let lesser = folder.join(LESSER);
    let places = [folder.join(JOURNAL), folder.join(DETAILS), lesser.join(DETAILS), lesser];
    places.into_iter().find(|place| place.is_symlink())
}

/// Writes everything into `folder`, which is made where it does not exist. Every file appears whole, and none before all are
/// written. `report` holds the results of the files.
pub fn write_suite(
    folder: &Path,
    origin: Origin<'_>,
    files: &[FileReport],
    report: &Report,
    formats: &[EmitFormat],
) -> Result<WrittenSuite, SuiteError> {
    fs::create_dir_all(folder).map_err(|cause| SuiteError::cannot_write(folder, &cause))?;
    let Emitted { tests, reproducers } = emitted_files(folder, files, formats);
    let staged = |emitted: &[EmittedFile]| {
        emitted.iter().map(|file| stage(folder.join(&file.name), &file.text)).collect::<Result<Vec<_>, _>>()
    };
    let (tests, reproducers) = (staged(&tests)?, staged(&reproducers)?);
    let suite = stage(folder.join("suite.json"), &suite_text(folder, files, origin)?)?;
    let report = StagedReport::stage(folder, report)?;
    // Everything is written: what can still go wrong needs no room.
    let published = |staged: Vec<Staged>| staged.into_iter().map(Staged::publish).collect::<Result<Vec<_>, _>>();
    let (tests, reproducers) = (published(tests)?, published(reproducers)?);
    remove_outdated(folder, files, &reproducers);
    Ok(WrittenSuite { tests, reproducers, suite: suite.publish()?, report: report.publish()? })
}

/// Removes the reproducers that an earlier run wrote for one of the files, where this run has none.
fn remove_outdated(folder: &Path, files: &[FileReport], written: &[PathBuf]) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_named_so = |path: &PathBuf| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.is_some_and(|stem| stem.ends_with("_reproducers")) && !written.contains(path)
    };
    for path in entries.filter(is_named_so) {
        let Ok(text) = read_ordinary(&path, LARGEST_FILE) else { continue };
        if files.iter().any(|file| is_reproducers(&text, file)) {
            // A file that cannot be removed is in nobody's way.
            let _ = fs::remove_file(&path);
        }
    }
}

fn suite_text(folder: &Path, files: &[FileReport], origin: Origin<'_>) -> Result<String, SuiteError> {
    let suite = serde_json::to_string_pretty(&Suite::new(files, origin));
    let suite = suite.map_err(|cause| SuiteError::cannot_write(&folder.join("suite.json"), &cause.into()))?;
    Ok(suite + "\n")
}

/// The files to write.
#[derive(Default)]
struct Emitted {
    tests: Vec<EmittedFile>,
    reproducers: Vec<EmittedFile>,
}

fn emitted_files(folder: &Path, files: &[FileReport], formats: &[EmitFormat]) -> Emitted {
    let mut stems = BTreeSet::new();
    let mut emitted = Emitted::default();
    for file in files.iter().filter(|file| file.report.functions.iter().any(|unit| !unit.tests.is_empty())) {
        let stem = free_stem(file.source, &mut stems);
        emitted.reproducers.extend(emit_reproducers(file, folder, &stem));
        let mut tests = file.report.functions.iter().flat_map(|unit| &unit.tests);
        if !tests.any(|test| Kind::of(test) == Kind::Suite) {
            continue;
        }
        for format in formats.iter().collect::<BTreeSet<_>>() {
            match format {
                EmitFormat::GoogleTest if file.is_cpp() => emitted.tests.push(emit_cpp_gtest(file, folder, &stem)),
                EmitFormat::GoogleTest => emitted.tests.extend(emit_gtest(file, folder, &stem)),
                EmitFormat::Catch2 if file.is_cpp() => emitted.tests.extend(emit_cpp_catch2(file, folder, &stem)),
                EmitFormat::Plain | EmitFormat::Catch2 => emitted.tests.push(emit_c(file, folder, &stem)),
            }
        }
    }
    // Several formats may need the same file.
    let mut names = BTreeSet::new();
    emitted.tests.retain(|file| names.insert(file.name.clone()));
    emitted
}

/// Two files of one name in two folders must not overwrite each other's tests.
fn free_stem(source: &Path, taken: &mut BTreeSet<String>) -> String {
    let stem = source.file_stem().map_or("unit".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let numbered = (2..).map(|number| format!("{stem}_{number}"));
    let free = std::iter::once(stem.clone()).chain(numbered).find(|stem| !taken.contains(stem)).unwrap_or(stem);
    taken.insert(free.clone());
    free
}
