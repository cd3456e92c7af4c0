//! A content-addressed store of files that are costly to make: what the compiler makes of one text with one set of flags.
//!
//! An entry is a folder whose name is the hash of everything that its files depend on, so it is never wrong and never
//! changed. The store is for test runs, which compile the same texts again and again. It is used where the environment
//! variable `BRANCHWISE_CACHE` names a folder. A store that cannot be read or written costs time, never a result.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::files::{LARGEST_SOURCE, read_limited};

/// The environment variable that names the folder.
pub const VARIABLE: &str = "BRANCHWISE_CACHE";

/// A folder of entries, which several processes may use at the same time.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// The name of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

/// Collects everything that an entry depends on.
#[derive(Debug, Clone)]
pub struct KeyBuilder(Sha256);

impl Cache {
    /// The store that the environment names, if it names one.
    pub fn from_environment() -> Option<Cache> {
        let folder = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty())?;
        Some(Cache::new(folder))
    }

    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: folder.into() }
    }

    /// Puts all files of an entry into a folder. Returns whether there is such an entry and all of it came through.
    pub fn fetch(&self, key: &Key, into: &Path) -> bool {
        self.copy_entry(key, into).is_ok()
    }

    fn copy_entry(&self, key: &Key, into: &Path) -> io::Result<()> {
        let entry = self.entry(key);
        for file in fs::read_dir(&entry)? {
            let file = file?;
            if !file.file_type()?.is_file() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let target = into.join(file.file_name());
            // A link costs nothing; across file systems only a copy works.
            fs::hard_link(file.path(), &target).or_else(|_| fs::copy(file.path(), &target).map(drop))?;
        }
        // Entries that nobody has used for long can be told by their time. A confined process may not set it, and the
        // entry is as good without.
        let _ = File::open(&entry).and_then(|entry| entry.set_modified(SystemTime::now()));
        Ok(())
    }

    /// Keeps copies of files as an entry. An entry appears as a whole or not at all.
    pub fn store(&self, key: &Key, files: &[PathBuf]) {
        // The next run makes the files once more; that is all that a failure costs.
        let _ = self.try_store(key, files);
    }

    fn try_store(&self, key: &Key, files: &[PathBuf]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let beside = tempfile::Builder::new().prefix("new-").tempdir_in(&self.folder)?;
        for file in files {
            let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            if !fs::symlink_metadata(file)?.is_file() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            fs::copy(file, beside.path().join(name))?;
        }
        // Where another process was first, its entry stays and this one goes.
        fs::rename(beside.path(), self.entry(key))?;
        let _ = beside.keep();
        Ok(())
    }

    fn entry(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.0)
    }
}

impl KeyBuilder {
    /// `kind` names what the files are and the version of how they are made.
    pub fn new(kind: &str) -> KeyBuilder {
        KeyBuilder(Sha256::new()).with(kind)
    }

    /// Adds one thing that the files depend on. Two parts never run into each other.
    pub fn with(mut self, part: impl AsRef<[u8]>) -> KeyBuilder {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// Adds a list, with its length.
    pub fn with_all<P: AsRef<[u8]>>(self, parts: impl IntoIterator<Item = P>) -> KeyBuilder {
        let mut count = 0u64;
        let builder = parts.into_iter().fold(self, |builder, part| {
            count += 1;
            builder.with(part)
        });
        builder.with(count.to_le_bytes())
    }

    /// Adds the contents of a file; a file that cannot be read differs from every other one.
    pub fn with_file(self, path: &Path) -> KeyBuilder {
        match read_limited(path, LARGEST_SOURCE) {
            Ok(bytes) => self.with("file").with(bytes),
            Err(error) => self.with("no file").with(path.as_os_str().as_encoded_bytes()).with(error.to_string()),
        }
    }

    /// Adds an installed file by its path, size and time: a compiler, a header of the system.
    pub fn with_installed(self, path: &Path) -> KeyBuilder {
        let builder = self.with(path.as_os_str().as_encoded_bytes());
        let known = |data: fs::Metadata| Some((data.len(), data.modified().ok()?));
        match fs::metadata(path).ok().and_then(known) {
            Some((size, time)) => builder.with(format!("{size} {time:?}")),
            None => builder.with("not there"),
        }
    }

    /// Adds all files that the line markers of a preprocessed text name: the texts that its columns come from. Headers of
    /// the system are told by their sizes and times.
    pub fn with_sources_of(self, preprocessed: &str) -> KeyBuilder {
        let files: BTreeSet<&str> = preprocessed.lines().filter_map(named_file).collect();
        files.into_iter().filter(|file| !file.starts_with('<')).map(Path::new).fold(self, |builder, path| {
            match path.starts_with("/usr") {
                true => builder.with_installed(path),
                false => builder.with(path.as_os_str().as_encoded_bytes()).with_file(path),
            }
        })
    }

    pub fn finish(self) -> Key {
        let hash = self.0.finalize();
        Key(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The file of a line marker, `# 12 "file.c" 2`.
fn named_file(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix("# ")?.split_once(" \"")?;
    number.parse::<u64>().ok()?;
    rest.rsplit_once('"').map(|(file, _)| file)
}

impl Key {
    /// The hash in hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[&str]) -> Key {
        KeyBuilder::new("test 1").with_all(parts).finish()
    }

    #[test]
    fn an_entry_comes_back_as_it_was_stored_and_only_under_its_key() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (from, into) = (folder.path().join("from"), folder.path().join("into"));
        for path in [&from, &into] {
            fs::create_dir(path).expect("a folder can be made");
        }
        fs::write(from.join("program"), "bytes").expect("writable");
        let cache = Cache::new(folder.path().join("cache"));
        assert!(!cache.fetch(&key(&["a"]), &into));
        cache.store(&key(&["a"]), &[from.join("program")]);
        cache.store(&key(&["a"]), &[from.join("program")]);
        assert!(!cache.fetch(&key(&["b"]), &into));
        assert!(cache.fetch(&key(&["a"]), &into));
        assert_eq!(fs::read_to_string(into.join("program")).expect("was fetched"), "bytes");
        let left = fs::read_dir(folder.path().join("cache")).expect("a folder").count();
        assert_eq!(left, 1, "nothing half made is left");
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["a", ""]), key(&["a"]));
        let twice = |one: &[&str], other: &[&str]| KeyBuilder::new("").with_all(one).with_all(other).finish();
        assert_ne!(twice(&["a", "b"], &["c"]), twice(&["a"], &["b", "c"]));
    }

    #[test]
    fn a_changed_source_file_changes_the_key() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("a.c");
        let text = format!("# 1 \"{}\" 2\nint x;\n", file.display());
        let key = || KeyBuilder::new("test 1").with_sources_of(&text).finish();
        fs::write(&file, "int x;").expect("writable");
        let before = key();
        assert_eq!(before, key());
        fs::write(&file, "int  x;").expect("writable");
        assert_ne!(before, key());
    }

    #[test]
    fn a_store_that_cannot_be_written_changes_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("file");
        fs::write(&file, "no folder").expect("writable");
        let cache = Cache::new(&file);
        cache.store(&key(&["a"]), std::slice::from_ref(&file));
        assert!(!cache.fetch(&key(&["a"]), folder.path()));
    }
}
