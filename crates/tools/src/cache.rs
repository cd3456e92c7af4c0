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

/// The name of the file in an entry that is one text.
const TEXT: &str = "text";

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
        mark_as_used(&entry);
        Ok(())
    }

    /// Returns the text of an entry, or makes it and keeps it.
    pub fn text<E>(&self, key: &Key, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        if let Some(text) = self.find_text(key) {
            return Ok(text);
        }
        let text = make()?;
        self.store_text(key, &text);
        Ok(text)
    }

    /// Returns the text of an entry, if there is one.
    pub fn find_text(&self, key: &Key) -> Option<Vec<u8>> {
        let entry = self.entry(key);
        let text = read_limited(&entry.join(TEXT), LARGEST_SOURCE).ok()?;
        mark_as_used(&entry);
        Some(text)
    }

    /// Keeps a text as an entry.
    pub fn store_text(&self, key: &Key, text: &[u8]) {
        self.store_made(key, |folder| fs::write(folder.join(TEXT), text));
    }

    /// Keeps copies of files as an entry.
    pub fn store(&self, key: &Key, files: &[PathBuf]) {
        self.store_made(key, |folder| {
            for file in files {
                let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
                if !fs::symlink_metadata(file)?.is_file() {
                    return Err(io::ErrorKind::InvalidInput.into());
                }
                fs::copy(file, folder.join(name))?;
            }
            Ok(())
        });
    }

    fn store_made(&self, key: &Key, make: impl FnOnce(&Path) -> io::Result<()>) {
        // The next run makes it once more; that is all that a failure costs.
        let _ = self.try_store(key, make);
    }

    /// An entry appears as a whole or not at all.
    fn try_store(&self, key: &Key, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let beside = tempfile::Builder::new().prefix("new-").tempdir_in(&self.folder)?;
        make(beside.path())?;
        // Where another process was first, its entry stays and this one goes.
        fs::rename(beside.path(), self.entry(key))?;
        let _ = beside.keep();
        Ok(())
    }

    fn entry(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.0)
    }
}

/// Entries that nobody has used for long can be told by their time. A confined process may not set it, and the entry is as
/// good without.
fn mark_as_used(entry: &Path) {
    let _ = File::open(entry).and_then(|entry| entry.set_modified(SystemTime::now()));
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

/// Returns the line markers of a preprocessed text, one for each file: as short a text that names the same files.
pub fn line_markers(preprocessed: &str) -> String {
    let files: BTreeSet<&str> = preprocessed.lines().filter_map(named_file).collect();
    files.into_iter().map(|file| format!("# 1 \"{file}\"\n")).collect()
}

/// The file of a line marker, `# 12 "file.c" 2`.
fn named_file(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix("# ")?.split_once(" \"")?;
    number.parse::<u64>().ok()?;
    rest.rsplit_once('"').map(|(file, _)| file)
}

/// Returns a hash of all files in folders, for a build script: of the code that decides what a build makes, so that a kept
/// file is as a new one would be.
///
/// # Panics
///
/// If a folder cannot be read.
pub fn fingerprint(folders: &[&str]) -> String {
    let mut folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let (within, plain): (Vec<_>, Vec<_>) =
            entries.flatten().map(|entry| entry.path()).partition(|path| path.is_dir());
        folders.extend(within);
        files.extend(plain);
    }
    files.sort();
    files.iter().fold(KeyBuilder::new("fingerprint"), |key, file| key.with_file(file)).finish().0
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
    fn a_text_is_made_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let cache = Cache::new(folder.path().join("cache"));
        let made = cache.text(&key(&["a"]), || Ok::<_, ()>(b"made".to_vec()));
        let kept = cache.text(&key(&["a"]), || Err(()));
        assert_eq!((made, kept), (Ok(b"made".to_vec()), Ok(b"made".to_vec())));
        assert_eq!(cache.text(&key(&["b"]), || Err("fails")), Err("fails"));
    }

    #[test]
    fn line_markers_name_the_same_files() {
        let text = "# 1 \"b.h\" 1\nint x;\n# 7 \"a.c\" 2\n# 9 \"b.h\" 1 3\n";
        assert_eq!(line_markers(text), "# 1 \"a.c\"\n# 1 \"b.h\"\n");
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
