//! Writes the folder of a report so that, at every moment, the index and the files that it names are of one run.
//!
//! A function's file has a hash of its text in its name. So the files of a new run stand beside those of the earlier one,
//! under other names, until the new index takes the place of the old one. Then the files go that only the old index names.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use branchwise_results::{DETAILS, Details, Folder, INDEX, Pieces, Report, is_details_path, sha256};
use branchwise_tools::{LARGEST_FILE, make_folder, read_ordinary};

use crate::suite::SuiteError;
use crate::whole::{Staged, stage, sync_names};

/// The files of a report, written and not yet to be seen.
#[derive(Debug)]
pub(crate) struct StagedReport {
    folder: PathBuf,
    details: Vec<Staged>,
    index: Staged,
    /// The files of the earlier report that the new one does not name, each with its hash.
    outdated: Vec<(String, String)>,
}

impl StagedReport {
    /// Writes all files beside their places.
    pub(crate) fn stage(folder: &Path, report: &Report) -> Result<Self, SuiteError> {
        let staged = Self::stage_all(folder, report);
        if staged.is_err() {
            // Only if it is empty.
            let _ = fs::remove_dir(folder.join(DETAILS));
        }
        staged
    }

    fn stage_all(folder: &Path, report: &Report) -> Result<Self, SuiteError> {
        let path = folder.join(INDEX);
        let unwritable = |cause: serde_json::Error| SuiteError::cannot_write(&path, &cause.into());
        let pieces = Pieces::of(report).map_err(unwritable)?;
        let text = serde_json::to_string_pretty(&pieces.index).map_err(unwritable)?;
        let details = folder.join(DETAILS);
        make_folder(&details).map_err(|cause| SuiteError::cannot_write(&details, &cause))?;
        let outdated = outdated(folder, &pieces.details);
        let details = pieces.details.iter().map(|file| stage(folder.join(&file.path), &file.text));
        let details = details.collect::<Result<Vec<_>, _>>()?;
        let index = stage(path, &(text + "\n"))?;
        Ok(StagedReport { folder: folder.to_owned(), details, index, outdated })
    }

    /// Gives the files their names, the index last.
    pub(crate) fn publish(self) -> Result<PathBuf, SuiteError> {
        let StagedReport { folder, details, index, outdated } = self;
        for file in details {
            file.publish()?;
        }
        sync_names(&folder.join(DETAILS));
        let index = index.publish()?;
        sync_names(&folder);
        for (path, hash) in outdated {
            remove_unchanged(&folder.join(path), &hash);
        }
        Ok(index)
    }
}

fn outdated(folder: &Path, details: &[Details]) -> Vec<(String, String)> {
    let kept: BTreeSet<&str> = details.iter().map(|file| file.path.as_str()).collect();
    let Ok(earlier) = Folder::open(folder) else { return Vec::new() };
    let named = earlier.index.functions.into_iter().map(|function| (function.details, function.sha256));
    named.filter(|(path, _)| is_details_path(path) && !kept.contains(path.as_str())).collect()
}

/// Removes a file of ours. A file that somebody changed since is no longer ours.
fn remove_unchanged(path: &Path, hash: &str) {
    if read_ordinary(path, LARGEST_FILE).is_ok_and(|text| sha256(&text) == hash) {
        // A file that cannot be removed is in nobody's way.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use branchwise_results::load;

    use super::*;

    /// A report, and another one in which every function differs.
    fn reports() -> [Report; 2] {
        let first: Report = serde_json::from_str(include_str!("../tests/it/shape.json")).expect("a report");
        let mut second = first.clone();
        second.functions.iter_mut().for_each(|function| function.goals[0].text.push('!'));
        second.replay.covered += 1;
        [first, second]
    }

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder.join(DETAILS)).expect("it is there").count()
    }

    #[test]
    fn a_run_that_is_killed_before_its_index_leaves_the_earlier_report_whole() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        let [first, second] = reports();
        StagedReport::stage(folder, &first).and_then(StagedReport::publish).expect("a writable folder");
        let StagedReport { details, index, .. } = StagedReport::stage(folder, &second).expect("a writable folder");
        assert_eq!(load(folder), Ok(first.clone()), "nothing is to be seen yet");
        for file in details {
            file.publish().expect("a writable folder");
            assert_eq!(load(folder), Ok(first.clone()), "the old index names the old files");
        }
        drop(index);
        StagedReport::stage(folder, &second).and_then(StagedReport::publish).expect("a writable folder");
        assert_eq!((load(folder), names(folder)), (Ok(second), 2), "the new report, and nothing of the old one");
    }

    #[test]
    fn a_report_that_cannot_be_written_leaves_no_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [mut report, _] = reports();
        report.findings[0].function_file = "elsewhere.c".to_owned();
        StagedReport::stage(folder.path(), &report).expect_err("a finding without its function");
        assert!(!folder.path().join(DETAILS).exists());
    }
}
