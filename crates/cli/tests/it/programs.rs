//! The programs of the benchmarks: what the tool says of all their functions has the golden hashes.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::support::fixture::file_name;
use crate::support::{case, folder, golden, share, tool};

/// Enough to decide most outcomes, and few enough to take seconds.
const STEPS: &str = "60";

/// Its loops run for millions of iterations, which takes as long as most other programs together. It has its turn once in
/// so many.
const LONGEST: &str = "kernels.c";
const PERIOD: u64 = 4;

pub fn cases() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/programs");
    let entries = fs::read_dir(folder).expect("the folder of programs can be read").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.retain(|path| golden::is_alone() || file_name(path) != LONGEST || share::has_turn(LONGEST, PERIOD));
    let trial =
        |path: PathBuf| case::case(format!("programs::{}", file_name(&path)), move || case::result(differences(&path)));
    paths.into_iter().map(trial).collect()
}

fn differences(path: &Path) -> Vec<String> {
    let folder = folder::temporary();
    let run = tool::generate_files(path, &["--steps", STEPS], &[], folder.path());
    let name = format!("benches/programs/{}", file_name(path));
    let checked = run.report(folder.path()).and_then(|_| golden::differences(&name, folder.path()));
    checked.err().into_iter().collect()
}
