//! The models of library functions against the C library: both run natively on the same inputs.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use branchwise_frontend::{Toolchain, is_modelled};

/// What no input can be compared for: it ends the program, needs its end, or is the same code under another name.
const NOT_COMPARED: [&str; 15] = [
    "__assert",
    "__chk_fail",
    "__errno_location",
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    "__stack_chk_fail",
    "_longjmp",
    "at_quick_exit",
    "atexit",
    "exit",
    "longjmp",
    "quick_exit",
    "siglongjmp",
];

#[test]
fn every_model_does_what_the_c_library_does() {
    let toolchain = Toolchain::find().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let models = std::fs::read_to_string(concat!(env!("OUT_DIR"), "/models.ll")).unwrap();
    let renamed = folder.path().join("models.ll");
    std::fs::write(&renamed, with_prefix(&models)).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    let mut compared = BTreeSet::new();
    for source in std::fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path()) {
        let program = folder.path().join("compare");
        let [clang, source, models, to] =
            [&toolchain.clang, &source, &renamed, &program].map(|path| path.to_str().unwrap());
        common::run(&[clang, "-w", "-O0", "-fno-builtin", "-no-pie", source, models, "-o", to]);
        let output = common::run(&[to]);
        compared.extend(output.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name.to_owned()));
    }
    let missing: Vec<&str> = defined(&models)
        .filter(|name| !compared.contains(*name) && !NOT_COMPARED.contains(name) && is_modelled(name))
        .collect();
    assert!(missing.is_empty(), "models without a comparison: {missing:?}");
}

/// `@name` becomes `@model_name`, so that models and C library can be linked together.
fn with_prefix(text: &str) -> String {
    let mut parts = text.split('@');
    let mut renamed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        renamed += if part.starts_with("llvm.") { "@" } else { "@model_" };
        renamed += part;
    }
    renamed
}

/// The functions that the text defines for others.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| line.starts_with("define ") && !line.contains(" internal "));
    lines.filter_map(|line| line.split_once('@')?.1.split_once('(')).map(|(name, _)| name)
}
