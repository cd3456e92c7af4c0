//! Two results for one folder: which of them is the fuller one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use branchwise_generate::FunctionReport;
use branchwise_results::Heading;

use crate::file_report::FileReport;

/// The folder for a lesser result, inside that of the fuller one.
pub(crate) const LESSER: &str = "partial";

/// A function by the file it is in and its name.
type Function = (String, String);

/// Returns where a result is to be written: to `folder`, or beside the fuller result that is there.
///
/// A result is lesser if it lacks a function that the other finished, and is about the same files or `is_cut`. A
/// function that its file no longer has is not lacking.
pub fn place_of(folder: &Path, files: &[FileReport], is_cut: bool) -> PathBuf {
    let lacks =
        branchwise_results::headings(folder).is_ok_and(|there| is_lesser(files, is_cut, &finished_there(there)));
    if lacks { folder.join(LESSER) } else { folder.to_owned() }
}

fn is_lesser(files: &[FileReport], is_cut: bool, there: &BTreeSet<Function>) -> bool {
    let finished = finished_here(files);
    let defined = defined(files);
    let is_gone = |(file, name): &Function| defined.get(file).is_some_and(|names| !names.contains(name));
    let lacks = there.iter().any(|function| !finished.contains(function) && !is_gone(function));
    // Where nothing could be read, it is about any files.
    let same_files = defined.is_empty() || there.iter().any(|(file, _)| defined.contains_key(file));
    lacks && (is_cut || same_files)
}

/// By file: the functions that it defines.
fn defined(files: &[FileReport]) -> BTreeMap<String, BTreeSet<String>> {
    let mut defined: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        for function in file.map.functions.values() {
            defined.entry(file.file_name(function.place)).or_default().insert(function.name.clone());
        }
    }
    defined
}

fn finished_here(files: &[FileReport]) -> BTreeSet<Function> {
    let name = |file: &FileReport, unit: &FunctionReport| {
        let function = &file.map.functions[unit.function];
        (file.file_name(function.place), function.name.clone())
    };
    let finished = |file: &&FileReport| {
        let done = file.report.functions.iter().filter(|unit| !unit.interrupted && unit.trouble.is_none());
        done.map(|unit| name(file, unit)).collect::<Vec<_>>()
    };
    files.iter().collect::<Vec<_>>().iter().flat_map(finished).collect()
}

fn finished_there(headings: Vec<Heading>) -> BTreeSet<Function> {
    let finished = headings.into_iter().filter(|heading| heading.finished);
    finished.map(|heading| (heading.file, heading.name)).collect()
}
