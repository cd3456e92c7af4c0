//! The temporary folder of this process: all others lie in it, so that the next start can remove what a kill left.
//!
//! The folder has a lock file, and its owner holds the lock until it ends, however that happens. A folder whose lock is
//! free has no owner. Process numbers would not do: they are used again.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use crate::error::CliError;

/// How its name begins.
const PREFIX: &str = "branchwise-process-";

/// How its name begins once it has no owner. It is renamed before anything in it is removed: the lock may be gone first, and
/// whoever removes it may be killed.
const ABANDONED: &str = "branchwise-abandoned-";

const LOCK: &str = "lock";

/// A folder may be removed by another start between its making and its locking; then a new one is made.
const MOST_TRIES: u32 = 100;

/// A process that is still ending may add a file while its folder is removed.
const MOST_REMOVALS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

static OWN: OnceLock<PathBuf> = OnceLock::new();

/// The folder of this process, while it lives.
#[derive(Debug)]
pub struct TemporaryFolder {
    _lock: File,
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        remove();
    }
}

/// Makes the folder in which all temporary files are from now on, and removes those of processes that were killed.
pub fn enter() -> Result<TemporaryFolder, CliError> {
    let parent = std::env::temp_dir();
    remove_orphans(&parent);
    let failed = |cause: io::Error| {
        let error = CliError::input(format!("cannot make a temporary folder in {}", parent.display()));
        error.with_cause(cause).with_hint("name a folder that can be written in the environment variable TMPDIR")
    };
    // Tests run in folders of their own, so the path must not depend on where this process is.
    let parent = parent.canonicalize().map_err(failed)?;
    let (path, lock) = make(&parent).map_err(failed)?;
    let path = OWN.get_or_init(|| path);
    // Only the first call counts, and there is no other.
    let _ = tempfile::env::override_temp_dir(path);
    Ok(TemporaryFolder { _lock: lock })
}

/// Removes the folder of this process, before it ends without a return from `main`.
pub fn remove() {
    if let Some(path) = OWN.get() {
        abandon(path);
    }
}

fn make(parent: &Path) -> io::Result<(PathBuf, File)> {
    for _ in 0..MOST_TRIES {
        // Only its owner may read it, so nobody else can put a link into it.
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        if let Some(lock) = lock(folder.path()) {
            return Ok((folder.keep(), lock));
        }
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, "other processes take every folder that is made"))
}

/// Locks a folder that was just made. Returns `None` if another start took it for one without an owner.
fn lock(folder: &Path) -> Option<File> {
    let path = folder.join(LOCK);
    let file = open_lock(&path, true).ok()?;
    // Where the file system has no locks, no start removes anything.
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    let is_there = std::fs::symlink_metadata(&path).ok()?.ino() == file.metadata().ok()?.ino();
    (!is_taken && is_there).then_some(file)
}

fn open_lock(path: &Path, create: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(create).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path)
}

fn remove_orphans(parent: &Path) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let (name, path) = (entry.file_name(), entry.path());
        match name.to_string_lossy() {
            name if name.starts_with(ABANDONED) && is_own(&path) => remove_folder(&path),
            name if name.starts_with(PREFIX) && is_own(&path) => remove_orphan(&path),
            _ => {}
        }
    }
}

/// Whether it is a folder, and of this user.
fn is_own(path: &Path) -> bool {
    // SAFETY: it has no preconditions.
    let user = unsafe { libc::geteuid() };
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user)
}

/// Removes a folder if its owner is gone.
fn remove_orphan(folder: &Path) {
    match open_lock(&folder.join(LOCK), false) {
        // Until it is renamed nobody else can have the lock.
        Ok(lock) if lock.try_lock().is_ok() => abandon(folder),
        Ok(_) => {}
        // Its owner ended before it made a lock; one that is still about to make it makes another folder.
        Err(_) => drop(std::fs::remove_dir(folder)),
    }
}

/// Removes a folder that nobody needs. A kill in the middle leaves it with a name by which the next start knows it.
fn abandon(folder: &Path) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let renamed = folder.with_file_name(name.replacen(PREFIX, ABANDONED, 1));
    match std::fs::rename(folder, &renamed) {
        Ok(()) => remove_folder(&renamed),
        Err(_) => remove_folder(folder),
    }
}

/// Removes a folder with all that is in it. Links in it are removed, not followed.
fn remove_folder(folder: &Path) {
    for _ in 0..MOST_REMOVALS {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
}
