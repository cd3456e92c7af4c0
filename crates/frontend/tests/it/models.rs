//! The models of library functions against the C library: both run natively on the same inputs.

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;

use branchwise_frontend::{Toolchain, is_modelled, lower, may_call_back};
use branchwise_program::library::{self, Model, Row};

/// What no input can be compared for: it ends the program, needs its end, or is the same code under another name. Models
/// of streams are compared by the replay of the fixtures that use them.
const NOT_COMPARED: [&str; 19] = [
    "__assert",
    "__chk_fail",
    "__errno_location",
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    "__stack_chk_fail",
    "_longjmp",
    "asprintf",
    "at_quick_exit",
    "atexit",
    "exit",
    "getdelim",
    "getline",
    "longjmp",
    "quick_exit",
    "siglongjmp",
    "vasprintf",
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
        common::run(&[clang, "-w", "-O0", "-fno-builtin", "-no-pie", source, models, "-o", to, "-lm"]);
        let output = common::run(&[to]);
        compared.extend(output.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name.to_owned()));
    }
    let missing: Vec<&str> = defined(&models)
        .filter(|name| !compared.contains(*name) && !NOT_COMPARED.contains(name) && is_modelled(name))
        .collect();
    assert!(missing.is_empty(), "models without a comparison: {missing:?}");
}

/// The names of the functions with a body in the lowered code of a text.
fn lowered(text: &str) -> Vec<(String, bool)> {
    let toolchain = Toolchain::find().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [source, bitcode] = ["unit.c", "unit.bc"].map(|name| folder.path().join(name));
    std::fs::write(&source, text).unwrap();
    let [clang, from, to] = [&toolchain.clang, &source, &bitcode].map(|path| path.to_str().unwrap());
    let flags = ["-O0", "-Xclang", "-disable-O0-optnone", "-fno-builtin", "-w", "-emit-llvm", "-c", "-o"];
    common::run(&[&[clang][..], &flags, &[to, from]].concat());
    let code = lower::lower_bitcode(&bitcode).unwrap();
    let mut names: Vec<(String, bool)> = code
        .functions
        .values()
        .filter(|function| !function.is_declaration())
        .map(|function| (function.name.clone(), function.library))
        .collect();
    names.sort();
    names
}

fn named(names: &[(&str, bool)]) -> Vec<(String, bool)> {
    names.iter().map(|&(name, library)| (name.to_owned(), library)).collect()
}

#[test]
fn only_what_is_called_is_linked() {
    let text = "char *strcpy(char *, const char *); char *f(char *a) { return strcpy(a, a); }";
    assert_eq!(lowered(text), named(&[("f", false), ("stpcpy", true), ("strcpy", true)]));
    assert_eq!(lowered("int f(int x) { return x; }"), named(&[("f", false)]));
}

#[test]
fn what_the_user_defines_wins_and_the_models_keep_their_own() {
    let text = "char *strcpy(char *, const char *); static char *stpcpy(char *a, char *b) { return b; }
                char *f(char *a) { return strcpy(a, stpcpy(a, a)); }";
    let expected = [("__bw_model_stpcpy", true), ("f", false), ("stpcpy", false), ("strcpy", true)];
    assert_eq!(lowered(text), named(&expected));
    let variable = "extern int strlen; int f(void) { return strlen; }";
    assert_eq!(lowered(variable), named(&[("f", false)]));
}

#[test]
fn the_list_of_models_has_no_helpers() {
    assert!(["strlen", "malloc", "isalpha", "__ctype_b_loc", "abort", "_exit"].iter().all(|name| is_modelled(name)));
    assert!(["__bw_allocate", "merge_sort", "rand", "llvm.memmove.p0.p0.i64"].iter().all(|name| !is_modelled(name)));
}

#[test]
fn the_table_of_the_library_and_the_models_name_the_same_functions() {
    let executed = |row: &&Row| matches!(row.model, Model::Code | Model::Executor);
    let lost: Vec<&str> =
        library::rows().filter(executed).map(|row| row.name).filter(|name| !is_modelled(name)).collect();
    assert!(lost.is_empty(), "rows without a model: {lost:?}");
    let models = std::fs::read_to_string(concat!(env!("OUT_DIR"), "/models.ll")).unwrap();
    let unlisted = |name: &&str| is_modelled(name) && !library::row(name).as_ref().is_some_and(executed);
    assert_eq!(defined(&models).find(unlisted), None);
}

#[test]
fn models_that_call_through_a_pointer_are_known_to_call_back() {
    let models = std::fs::read_to_string(concat!(env!("OUT_DIR"), "/models.ll")).unwrap();
    let mut calling: BTreeSet<&str> = BTreeSet::new();
    // Callers of such functions are found in as many rounds as there are calls between them.
    for _ in 0..4 {
        for body in models.split("\ndefine ").skip(1) {
            let name = body.split_once('@').and_then(|(_, rest)| rest.split_once('(')).unwrap().0;
            let calls = body.lines().filter(|line| line.contains(" call "));
            let mut called = calls.map(|line| line.split_once('(').unwrap().0.rsplit(' ').next().unwrap());
            let back = |called: &str| match called.strip_prefix('@') {
                Some(model) => calling.contains(model),
                None => called.starts_with('%'),
            };
            if called.any(back) {
                calling.insert(name);
            }
        }
    }
    assert!(calling.contains("qsort"));
    assert!(calling.iter().filter(|name| is_modelled(name)).all(|name| may_call_back(name)), "{calling:?}");
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
