//! Tests of the crate from outside, in one executable.

use std::fs;
use std::path::Path;

use branchwise_results::{DETAILS, Folder, INDEX, Pieces, Report, headings, is_details_path, load, schema};
use expect_test::expect_file;
use serde_json::{Value, json};

/// `UPDATE_EXPECT=1` writes the schema anew.
#[test]
fn the_schema_in_docs_is_that_of_the_types() {
    expect_file!["../../../../docs/report.schema.json"].assert_eq(&format!("{:#}\n", schema()));
}

fn function(name: &str, file: &str) -> Value {
    json!({
        "name": name, "file": file, "line": 3, "language": "c++",
        "summary": { "goals": 2, "covered": 1, "infeasible": 0, "infeasible_within_bounds": 1,
            "under_assumptions_alone": 0, "unknown": 0, "tests": 1 },
        "criteria": [{ "name": "branch", "goals": 2, "complete": false, "within_bounds": [1], "open": [] }],
        "goals": [goal(file, 9, "covered"), goal(file, 4, "infeasible_within_bounds")],
        "tests": [{
            "id": 1, "inputs": { "x": 0.1, "buffer": { "elements": vec![0; 100] }, "wide": 18_446_744_073_709_551_615_u64 }, "observed": { "end": "returned" },
            "path": [
                { "marker": 7 },
                { "marker": 1, "line": 4, "column": 9, "outcome": true },
                { "marker": 2, "line": 5, "column": 9, "outcome": "case 3" },
            ],
            "path_length": 3, "path_text": "4+",
            "constraint": {
                "inputs": ["x (64 bits)"], "domain": [], "branches": [{ "outcome": null, "condition": "x < 1" }], "more": 0,
            },
            "source": "concolic", "covers": [0], "kept_for": [0], "calls": "other",
        }],
        "work": work(),
        "timing": {
            "method": "counted", "tests": [{ "test": 1, "instructions": null }],
            "slowest": { "test": 1, "instructions": 5, "call": "f(1)" }, "trouble": "none",
        },
        "preconditions": ["x < 3"], "interrupted": true, "trouble": "a union",
    })
}

fn goal(file: &str, line: u32, verdict: &str) -> Value {
    let mut goal = json!({
        "id": 0, "function": "f", "criterion": "branch", "kind": "condition", "file": file, "line": line, "column": 9,
        "text": "x > 3", "outcome": true, "verdict": verdict, "tests": [1], "view": "integration", "from": "main",
        "pair": ["TF", "FF"],
    });
    goal["evidence"] = match verdict {
        "covered" => json!({ "proof": "replayed" }),
        _ => json!({
            "proof": "refuted", "paths": 3, "refuted_prefixes": 2,
            "assumptions": [{ "name": "precondition", "subject": "x < 3", "text": "precondition: x < 3" }],
            "infeasible_prefix": "4+", "bounds": [{ "what": "calls", "limit": 2 }],
        }),
    };
    goal
}

fn work() -> Value {
    json!({
        "paths": 1, "redundant_tests": 0, "infeasible_prefixes": 0, "skipped_alternatives": 0, "solver_calls": { "smt": 2 },
        "instructions": 0, "fault_queries": 0, "edges": 4, "unconstrained_edges": 2, "aimed": 0,
        "suite": { "candidates": 3, "smallest": true },
        "trees": {
            "grown": 0, "partial": 0, "paths": 0, "lines": 0, "nodes": 0, "symbols": 0, "linear": 0, "smt": 0,
            "undecided": 0, "refuted": 0, "missed": 0,
        },
        "seconds": 0.30000000000000004,
    })
}

fn finding(function: &str, file: &str, line: u32) -> Value {
    json!({
        "kind": "null_dereference", "file": file, "line": line, "column": null, "test": null, "message": "null",
        "function": function, "function_file": file, "inputs": { "p": null }, "columns": [3, 5], "also_in": ["g"],
        "confirmed": true, "confirmed_by": "SIGSEGV", "observed": { "end": "signal" },
    })
}

fn run() -> Value {
    json!({
        "branchwise": "0.1.0", "compiler": "clang 19",
        "options": {
            "criteria": ["branch"], "scope": "unit", "strategy": "hybrid", "aim": "all", "findings": "search", "seed": 0,
            "budget": { "time": 2.5 }, "memory_megabytes": 1024, "k": 2, "data_dependence": true, "attack": 3.0, "measure": false,
            "set_statics": false, "functions": ["f"], "config": { "path": "b.toml", "sha256": "" },
        },
        "sources": [{ "path": "a.cpp", "flags": ["-DX"], "sha256": "00", "fingerprint": "11" }],
    })
}

fn report_of(functions: Vec<Value>, findings: Vec<Value>) -> Value {
    json!({
        "version": 1, "format": "report", "run": run(), "functions": functions, "findings": findings,
        "replay": {
            "compiler": "clang 19", "branch_outcomes": 4, "covered": 2, "covered_llvm_cov": 2,
            "disagreements": [{ "function": "f", "test": 1, "what": "it differs" }],
            "sandbox": { "mode": "auto", "files": "none", "calls": "none", "namespaces": [], "missing": ["Landlock"] },
        },
    })
}

fn typed(report: &Value) -> Report {
    serde_json::from_value(report.clone()).expect("it is a report")
}

fn pieces_of(report: &Value) -> Pieces {
    Pieces::of(&typed(report)).expect("each finding has its function")
}

fn write(folder: &Path, pieces: &Pieces) {
    fs::create_dir_all(folder.join(DETAILS)).expect("a writable folder");
    for file in &pieces.details {
        fs::write(folder.join(&file.path), &file.text).expect("a writable folder");
    }
    fs::write(folder.join(INDEX), serde_json::to_string(&pieces.index).expect("JSON")).expect("a writable folder");
}

/// Names that are alike, in a file system where case does not count, or once what is no letter is left out.
const NAMES: [&str; 8] = ["f(int)", "f(long)", "F(int)", "f", "../../f", "operator<", "operator>", "Ü"];

#[test]
fn an_index_and_its_files_make_the_report_again() {
    let functions = ["a.cpp", "b.cpp"].map(|file| NAMES.map(|name| function(name, file))).concat();
    let findings = vec![finding("f", "b.cpp", 4), finding("f", "a.cpp", 1), finding("f", "b.cpp", 2)];
    let report = report_of(functions, findings);
    assert_eq!(serde_json::to_value(typed(&report)).expect("JSON"), report, "no key is lost");
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), &pieces_of(&report));
    assert_eq!(serde_json::to_value(load(folder.path()).expect("just written")).expect("JSON"), report);
    let entries = headings(folder.path()).expect("just written");
    assert_eq!((entries.len(), entries[3].name.as_str(), entries[3].finished), (16, "f", false));
}

#[test]
fn every_function_has_a_safe_name_of_its_own() {
    let long = format!("a::{}", "template<int>".repeat(100));
    let mut functions = NAMES.map(|name| function(name, "a.cpp")).to_vec();
    functions.extend([function("f", "b.cpp"), function(&long, "a.cpp"), function("", "a.cpp")]);
    let pieces = pieces_of(&report_of(functions, Vec::new()));
    let mut names: Vec<String> = pieces.details.iter().map(|file| file.path.to_lowercase()).collect();
    assert!(names.iter().all(|name| is_details_path(name) && name.len() < 100), "{names:?}");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 11);
}

#[test]
fn a_name_stays_as_long_as_the_result_does() {
    let paths = |function: Value| pieces_of(&report_of(vec![function], Vec::new())).details.remove(0).path;
    let (same, mut slower, mut other) = (function("f", "a.cpp"), function("f", "a.cpp"), function("f", "a.cpp"));
    slower["work"]["seconds"] = json!(9.5);
    other["goals"][0]["verdict"] = json!("unknown");
    let path = paths(same);
    assert!(path.starts_with("report/f-") && path.ends_with(".json"), "{path}");
    assert_eq!(paths(slower), path, "times stand in the index");
    assert_ne!(paths(other), path, "a file never changes");
}

#[test]
fn a_finding_without_its_function_is_an_error() {
    let report = report_of(vec![function("f", "a.cpp")], vec![finding("f", "b.cpp", 1)]);
    let error = Pieces::of(&typed(&report)).expect_err("nobody has it").to_string();
    assert_eq!(error, "a finding names 'f' of b.cpp, which is not in the report");
}

#[test]
fn only_plain_files_of_the_folder_are_functions_files() {
    assert!(is_details_path("report/f-0123456789abcdef.json"));
    let others = ["report.json", "report/", "report/.json", "report/../x.json", "report/a/b.json", "/report/f.json"];
    for path in others.into_iter().chain(["report/f.c", "report/a b.json", "other/f.json", "report/..json"]) {
        assert!(!is_details_path(path), "{path}");
    }
}

#[test]
fn pieces_that_do_not_fit_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pieces = pieces_of(&report_of(vec![function("f", "a.cpp")], vec![finding("f", "a.cpp", 1)]));
    write(folder.path(), &pieces);
    let said = |folder: &Path| load(folder).expect_err("it is damaged").message;
    let index = folder.path().join(INDEX);
    let text = fs::read_to_string(&index).expect("it is there");
    fs::write(&index, text.replace("\"position\":0", "\"position\":1")).expect("ours");
    assert!(said(folder.path()).contains("its finding 1 of report/f-"));
    write(folder.path(), &pieces);
    let file = folder.path().join(&pieces.details[0].path);
    fs::write(&file, pieces.details[0].text.replace("0.1", "0.2")).expect("ours");
    assert!(said(folder.path()).contains("is not the file that the index names: its SHA-256 is another one"));
    fs::remove_file(&file).expect("it is there");
    assert!(said(folder.path()).contains("which the index names: No such file"));
    let opened = Folder::open(folder.path()).expect("the index is whole");
    assert_eq!(opened.index.functions[0].places[0].first, 4);
    assert_eq!(opened.index.functions[0].places[0].last, 9);
}
