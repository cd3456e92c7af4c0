//! The invariants of docs/architecture.md that can be read off the manifests and the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each crate may use of the workspace.
const ALLOWED: [(&str, &[&str]); 15] = [
    ("tools", &["confine"]),
    ("program", &[]),
    ("confine", &[]),
    ("results", &[]),
    ("constraints", &[]),
    ("frontend", &["tools", "program"]),
    ("facts", &["program", "constraints"]),
    ("induction", &["program", "constraints"]),
    ("goals", &["program"]),
    ("search", &["program", "goals"]),
    ("symbolic", &["program", "constraints"]),
    ("replay", &["tools", "program", "confine"]),
    ("generate", &["program", "goals", "search", "constraints", "facts", "induction", "symbolic", "replay"]),
    ("report", &["tools", "program", "goals", "replay", "generate", "results"]),
    ("cli", &["tools", "program", "goals", "constraints", "replay", "frontend", "generate", "results", "report"]),
];

/// Libraries that only one crate may name.
const OWNED: [(&str, &str); 7] = [
    ("clang-sys", "frontend"),
    ("inkwell", "frontend"),
    ("z3", "constraints"),
    ("clap", "cli"),
    ("schemars", "results"),
    ("landlock", "confine"),
    ("seccompiler", "confine"),
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The ordinary dependencies of every crate of the workspace, by short name.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(workspace())
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    packages.iter().map(|package| (short(package["name"].as_str().unwrap_or_default()), ordinary(package))).collect()
}

fn ordinary(package: &serde_json::Value) -> BTreeSet<String> {
    let dependencies = package["dependencies"].as_array().expect("dependencies");
    dependencies
        .iter()
        .filter(|one| one["kind"].is_null())
        .map(|one| short(one["name"].as_str().unwrap_or_default()))
        .collect()
}

fn short(name: &str) -> String {
    name.strip_prefix("branchwise-").unwrap_or(name).to_string()
}

pub fn crates_depend_on_each_other_only_as_designed() {
    let dependencies = dependencies();
    let known: BTreeSet<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    assert_eq!(dependencies.keys().map(String::as_str).collect::<BTreeSet<_>>(), known, "the table lists every crate");
    for (name, allowed) in ALLOWED {
        let used = dependencies[name].iter().filter(|used| known.contains(used.as_str()));
        for used in used {
            assert!(allowed.contains(&used.as_str()), "crate {name} must not use {used}");
        }
    }
}

pub fn clang_solver_and_argument_libraries_have_one_owner() {
    for (name, used) in dependencies() {
        for (library, owner) in OWNED {
            assert!(name == owner || !used.contains(library), "only {owner} may use {library}, not {name}");
        }
    }
}

/// The lines of all sources of a crate, without those of its unit tests.
fn source_lines(name: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![workspace().join("crates").join(name).join("src")];
    let mut lines = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a source folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.to_string_lossy().ends_with("tests.rs")
            {
                let text = std::fs::read_to_string(&path).expect("a source file");
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                lines.extend(code.lines().map(|line| (path.clone(), line.to_string())));
            }
        }
    }
    lines
}

fn assert_absent(words: &[&str], allowed: &[&str]) {
    for (name, _) in ALLOWED.iter().filter(|(name, _)| !allowed.contains(name)) {
        for (path, line) in source_lines(name) {
            let found = words.iter().find(|word| line.contains(**word) && !line.trim_start().starts_with("//"));
            assert!(found.is_none(), "{}: {line}", path.display());
        }
    }
}

pub fn only_confinement_and_solver_start_processes() {
    assert_absent(&["process::Command", "Command::new"], &["constraints", "cli"]);
    let doctor = |path: &Path| path.ends_with("doctor.rs");
    let started = source_lines("cli").into_iter().find(|(path, line)| line.contains("Command::new") && !doctor(path));
    assert!(started.is_none(), "{started:?}");
}

pub fn only_report_and_cli_print() {
    assert_absent(&["println!", "print!(", "eprintln!", "eprint!("], &["report", "cli"]);
}

pub fn only_the_module_smt_names_the_solver() {
    for (path, line) in source_lines("constraints") {
        let inside = path.components().any(|part| part.as_os_str() == "smt") || path.ends_with("smt.rs");
        let names = ["z3::", "cvc5", "bitwuzla"].iter().any(|name| line.contains(name));
        assert!(inside || !names || line.trim_start().starts_with("//"), "{}: {line}", path.display());
    }
}
