//! The folder of `--out`: checked and locked before the search begins, so that nothing is found that cannot be written.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::CliError;

const LOCK: &str = ".branchwise-lock";

/// A smaller result is rare.
const ROOM: usize = 1 << 18;

/// The lock file may be removed by its last owner just before it is locked; then the next one is tried.
const MOST_TRIES: u32 = 100;

/// The folder, while this process alone may write to it.
#[derive(Debug)]
pub struct OutFolder {
    path: PathBuf,
    lock: File,
    /// It was not there before.
    is_new: bool,
}

impl OutFolder {
    /// Makes the folder if need be, locks it and tries whether it can be written.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        let is_new = !path.exists();
        make(path)?;
        let lock = match lock(path) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Err(in_use(path)),
            Err(cause) => return Err(cannot_write(path, cause)),
        };
        let folder = OutFolder { path: path.to_owned(), lock, is_new };
        if let Some(link) = branchwise_report::link_in(path) {
            let error = CliError::input(format!("{} is a link, and nothing is written through it", link.display()));
            return Err(error.with_hint("remove the link, or name another folder with --out"));
        }
        branchwise_report::remove_unfinished(path);
        folder.write_probe().map_err(|cause| cannot_write(path, cause))?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the lock file, and the folder if nothing is in it that was not there before.
    pub fn unlock(&self) {
        // The lock is held until the file is gone, so nobody removes the file of another owner.
        let _ = std::fs::remove_file(self.path.join(LOCK));
        if self.is_new {
            // Only if nothing was written.
            let _ = std::fs::remove_dir(&self.path);
        }
    }

    /// Writes who has the lock, and is sure that there is room.
    fn write_probe(&self) -> io::Result<()> {
        let mut file = tempfile::tempfile_in(&self.path)?;
        file.write_all(&vec![b' '; ROOM])?;
        file.sync_data()?;
        self.lock.set_len(0)?;
        writeln!(&self.lock, "{}", std::process::id())
    }
}

impl Drop for OutFolder {
    fn drop(&mut self) {
        self.unlock();
    }
}

fn make(path: &Path) -> Result<(), CliError> {
    let hint = "name another folder with --out";
    match std::fs::create_dir_all(path) {
        Err(_) if path.exists() && !path.is_dir() => {
            Err(CliError::input(format!("{} is no folder", path.display())).with_hint(hint))
        }
        Err(cause) => {
            let error = CliError::input(format!("cannot make the folder {}", path.display()));
            Err(error.with_cause(cause).with_hint(hint))
        }
        Ok(()) => Ok(()),
    }
}

/// Returns `None` if another process has the lock.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    for _ in 0..MOST_TRIES {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // A file system without locks is no reason to find nothing.
            Ok(()) | Err(TryLockError::Error(_)) if is_at(&file, &path) => return Ok(Some(file)),
            _ => {}
        }
    }
    Ok(None)
}

/// Whether the path still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    let there = std::fs::symlink_metadata(path).map(|metadata| metadata.ino()).ok();
    there.is_some() && there == file.metadata().map(|metadata| metadata.ino()).ok()
}

fn in_use(folder: &Path) -> CliError {
    let mut owner = String::new();
    let read = File::open(folder.join(LOCK)).and_then(|mut file| file.read_to_string(&mut owner));
    let process = match read {
        Ok(_) if !owner.trim().is_empty() => format!(" (process {})", owner.trim()),
        _ => String::new(),
    };
    let message = format!("another run of Branchwise{process} is writing to {}", folder.display());
    CliError::input(message).with_hint("wait until it has ended, or name another folder with --out")
}

fn cannot_write(folder: &Path, cause: io::Error) -> CliError {
    let error = CliError::input(format!("cannot write to the folder {}", folder.display()));
    error.with_cause(cause).with_hint("name another folder with --out, or make room in this one")
}
