//! What the tests of this crate share.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use branchwise_frontend::{Source, Toolchain, Unit, analyse};

/// The sample programs, and those of a further folder that `BRANCHWISE_SAMPLES` names.
pub fn samples() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples"))];
    folders.extend(std::env::var_os("BRANCHWISE_SAMPLES").map(PathBuf::from));
    let mut samples: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    samples.sort();
    assert!(!samples.is_empty());
    samples
}

pub fn analyse_sample(toolchain: &Toolchain, path: &Path) -> Unit {
    analyse(toolchain, &Source { path, flags: &[] }).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a program and gives its output; its failure fails the test with what it said.
pub fn run(command: &[&str]) -> String {
    let output = Command::new(command[0]).args(&command[1..]).output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
