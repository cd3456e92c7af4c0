//! Files that a reader sees whole or not at all: each is written beside its place and then renamed.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use branchwise_results::DETAILS;
use tempfile::{NamedTempFile, TempPath};

use crate::suite::SuiteError;

/// How the name of a file begins that is not written to its end.
const UNFINISHED: &str = ".branchwise-unfinished-";

/// A file that is written and has no name yet.
#[derive(Debug)]
pub(crate) struct Staged {
    /// Closed, because a report may have more files than a process may open.
    file: TempPath,
    path: PathBuf,
}

/// Writes `text` beside `path`. Nobody sees it before [`Staged::publish`].
pub(crate) fn stage(path: PathBuf, text: &str) -> Result<Staged, SuiteError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = unfinished(folder).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file.into_temp_path())
    });
    let file = written.map_err(|cause| SuiteError::cannot_write(&path, &cause))?;
    Ok(Staged { file, path })
}

fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    // Readable for all whom the user's umask lets read, as any file that a tool writes.
    let permissions = Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(UNFINISHED).permissions(permissions).tempfile_in(folder)
}

impl Staged {
    /// Gives the file its name, in place of what had it before.
    pub(crate) fn publish(self) -> Result<PathBuf, SuiteError> {
        let persisted = self.file.persist(&self.path);
        persisted.map_err(|error| SuiteError::cannot_write(&self.path, &error.error))?;
        Ok(self.path)
    }
}

/// Makes the names in a folder as lasting as the files.
pub(crate) fn sync_names(folder: &Path) {
    // Some file systems cannot do that for folders; then a power failure may bring the old names back.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Removes the unfinished files of a run that was killed while it wrote. Nobody else may be writing to the folder.
pub fn remove_unfinished(folder: &Path) {
    remove_unfinished_in(folder);
    let details = folder.join(DETAILS);
    if !details.is_symlink() {
        remove_unfinished_in(&details);
    }
}

fn remove_unfinished_in(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_unfinished = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(UNFINISHED);
    for entry in entries.filter(|entry| is_unfinished(&entry.file_name())) {
        // What cannot be removed is in nobody's way.
        let _ = fs::remove_file(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_with_the_usual_permissions() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("report.json");
        fs::write(&path, "before").expect("a writable folder");
        let staged = stage(path.clone(), "after").expect("it can be written");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "before");
        staged.publish().expect("it can be renamed");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "after");
        let other = folder.path().join("other");
        fs::write(&other, "").expect("a writable folder");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode(&path), mode(&other));
    }

    #[test]
    fn unfinished_files_go_and_others_stay() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (_, left) = unfinished(folder.path()).expect("it can be made").keep().expect("it can be kept");
        let details = folder.path().join(DETAILS);
        fs::create_dir(&details).expect("a writable folder");
        let (_, left_inside) = unfinished(&details).expect("it can be made").keep().expect("it can be kept");
        let other = folder.path().join("notes.txt");
        fs::write(&other, "").expect("a writable folder");
        remove_unfinished(folder.path());
        assert!(!left.exists() && !left_inside.exists() && other.exists());
    }
}
