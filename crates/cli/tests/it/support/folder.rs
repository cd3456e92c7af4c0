//! Folders of cases. A case gets the same folders in every run, so that the cache knows what was compiled in them.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::TempDir;

/// An empty folder that goes when its owner goes.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Where the name is another one in every run.
    _random: Option<TempDir>,
}

impl Folder {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The next run begins with an empty folder anyway.
        let _ = fs::remove_dir_all(&self.path);
    }
}

thread_local! {
    /// The name of the case that runs in this thread, and how many folders it has made.
    static CASE: RefCell<(String, usize)> = const { RefCell::new((String::new(), 0)) };
}

/// Says which case the folders made from now on belong to.
pub fn begin(case: &str) {
    CASE.set((case.to_owned(), 0));
}

/// Makes an empty folder.
pub fn temporary() -> Folder {
    let (case, number) = CASE.with_borrow_mut(|(case, made)| {
        *made += 1;
        (case.replace("::", "-"), *made)
    });
    let known = CASES.as_ref().filter(|_| !case.is_empty());
    let path = known.map(|cases| cases.path.join(format!("{case}-{number}")));
    if let Some(path) = path.filter(|path| make_private(path).is_ok()) {
        return Folder { path, _random: None };
    }
    let random = tempfile::tempdir().expect("a temporary folder can be made");
    Folder { path: random.path().to_owned(), _random: Some(random) }
}

fn make_private(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// The folder of all cases; `None` while another run of this checkout has it.
static CASES: LazyLock<Option<Cases>> = LazyLock::new(|| Cases::take().ok());

struct Cases {
    path: PathBuf,
    /// Locked for as long as the run lasts.
    _lock: File,
}

impl Cases {
    fn take() -> io::Result<Cases> {
        // A path of always the same length, whatever the checkout's is.
        let checkout = branchwise_tools::KeyBuilder::new("checkout").with(env!("CARGO_MANIFEST_DIR")).finish();
        let path = std::env::temp_dir().join(format!("branchwise-cases-{}", &checkout.as_str()[..8]));
        match fs::DirBuilder::new().mode(0o755).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let found = fs::symlink_metadata(&path)?;
        if !found.is_dir() || found.uid() != fs::metadata("/proc/self")?.uid() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let lock = File::create(path.join("lock"))?;
        lock.try_lock()?;
        for left in fs::read_dir(&path)?.flatten().filter(|left| left.file_name() != "lock") {
            fs::remove_dir_all(left.path())?;
        }
        Ok(Cases { path, _lock: lock })
    }
}
