//! The programs of the benchmarks: what the tool says of all their functions has the golden hashes.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::support::fixture::file_name;
use crate::support::{case, golden, tool};

/// Enough to decide most outcomes, and few enough to take seconds.
const STEPS: &str = "60";

pub fn cases() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/programs");
    let entries = fs::read_dir(folder).expect("the folder of programs can be read").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let trial =
        |path: PathBuf| case::case(format!("programs::{}", file_name(&path)), move || case::result(differences(&path)));
    paths.into_iter().map(trial).collect()
}

fn differences(path: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let run = tool::generate_files(path, &["--steps", STEPS], &[], folder.path());
    let name = format!("benches/programs/{}", file_name(path));
    let checked = run.report(folder.path()).and_then(|_| golden::differences(&name, folder.path()));
    checked.err().into_iter().collect()
}
