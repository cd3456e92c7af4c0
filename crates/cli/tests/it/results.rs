//! Results as data: the index, the files of the functions, the object that `--json` prints, and their schema.

use crate::support::folder;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use branchwise_results::{Folder, Report, load};
use serde_json::Value as Json;

use crate::support::schema;
use crate::support::tree;

/// A run in a folder of its own.
struct Scene(folder::Folder);

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = folder::temporary();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a writable folder");
            fs::write(path, text).expect("a writable folder");
        }
        Scene(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
        command.args(arguments).current_dir(self.0.path()).env("NO_COLOR", "1");
        command.output().expect("branchwise runs")
    }

    /// Returns the object that `--json` prints.
    fn generate(&self, arguments: &[&str]) -> Json {
        let base = ["generate", "--json", "--quiet", "--steps", "40", "--out", "out"];
        let output = self.run(&[&base, arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    }

    fn explain(&self, goal: &str) -> Result<String, String> {
        let output = self.run(&["explain", "out", goal]);
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            assert_eq!(output.status.code(), Some(if output.stderr.starts_with(b"Error: no goal") { 2 } else { 3 }));
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("out")
    }

    fn index(&self) -> Folder {
        Folder::open(&self.out()).expect("an index")
    }

    /// The file of the only function of this name.
    fn details(&self, name: &str) -> PathBuf {
        let index = self.index().index;
        let function = index.functions.iter().find(|function| function.name == name).expect("it is in the index");
        self.out().join(&function.details)
    }
}

/// Verdicts of every kind, findings, streams, stubs, timings and notes of every kind.
const RICH: &str = "#include <stdio.h>\n#include <stdlib.h>\nint sensor(int *value);\nstatic int state;\n\
    int step(int x) { if (x == 3) state++; return state > 1; }\n\
    int read_one(void) { int v; if (sensor(&v) && v == 77) return 1; return 0; }\n\
    int from_stream(FILE *f) { if (f && fgetc(f) == 'x') return 1; return 0; }\n\
    int last(int *marks, int n) { if (n > 0 && marks[n] == 5) return 1; return 0; }\n\
    // assume: low <= high\n\
    int clamp(double x, int low, int high) { if (low > high) return -1; return x < low ? low : x > high ? high : x; }\n\
    int kind(unsigned x) { switch (x * 3) { case 42: return 1; case 0: return 2; default: if (x < 0) return 7; return 0; } }\n";

const OVERLOADS: &str = "struct Pair { int a, b; };\nnamespace shapes { int area(int a) { return a > 3; }\nint area(long a) { return a > 4; } }\n\
    int Area(int a) { return a > 5; }\nint area(int a) { return a > 6; }\n\
    template <class T> T larger(T a, T b) { return a < b ? b : a; }\nint use(int a) { return larger(a, 7); }\n";

fn schema_of_docs() -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    let text = fs::read_to_string(path).expect("the schema is in docs");
    serde_json::from_str(&text).expect("the schema is JSON")
}

/// The printed object, the files of the folder and the schema say the same.
fn assert_consistent(scene: &Scene, printed: &Json) {
    let stored = load(&scene.out()).expect("a whole report");
    assert_eq!(serde_json::to_value(&stored).expect("JSON"), *printed, "index and files hold what --json printed");
    let typed: Report = serde_json::from_value(printed.clone()).expect("the types fit");
    assert_eq!(serde_json::to_value(typed).expect("JSON"), *printed, "the types know every key");
    let schema = schema_of_docs();
    assert_eq!(schema::errors(&part(&schema, "Report"), printed), Vec::<String>::new());
    for (name, text) in tree::texts(&scene.out()) {
        let kind = match name.as_str() {
            "report.json" => "Index",
            name if name.starts_with("report/") => "FunctionFile",
            _ => continue,
        };
        let value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(schema::errors(&part(&schema, kind), &value), Vec::<String>::new(), "{name}");
    }
    let named: BTreeSet<String> = scene.index().index.functions.into_iter().map(|function| function.details).collect();
    let files = tree::texts(&scene.out()).into_keys().filter(|name| name.starts_with("report/"));
    assert_eq!(files.collect::<BTreeSet<_>>(), named, "no file is left over");
}

/// Returns the definition of one kind of object, with all definitions that it refers to.
fn part(schema: &Json, kind: &str) -> Json {
    let mut part = schema["$defs"][kind].clone();
    part["$defs"] = schema["$defs"].clone();
    part
}

pub fn what_is_printed_is_what_the_files_hold() {
    let scene = Scene::new(&[("rich.c", RICH), ("overloads.cpp", OVERLOADS)]);
    let printed = scene.generate(&["rich.c", "overloads.cpp"]);
    let verdicts: BTreeSet<&str> = printed["functions"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|function| function["goals"].as_array().into_iter().flatten())
        .filter_map(|goal| goal["verdict"].as_str())
        .collect();
    assert!(verdicts.contains("covered") && verdicts.contains("infeasible"), "{verdicts:?}");
    assert!(printed["findings"].as_array().is_some_and(|findings| !findings.is_empty()));
    assert_consistent(&scene, &printed);
}

pub fn timings_and_other_criteria_are_described_too() {
    let loops = "int sum(int n) { int s = 0; for (int i = 0; i < n && i < 5; i++) if (i % 2) s += i; return s; }\n";
    let scene = Scene::new(&[("loops.c", loops)]);
    let criteria = ["--criterion", "branch,mcdc,max-iterations,def-use", "--measure", "--scope", "reachable"];
    let printed = scene.generate(&[&["loops.c"], &criteria[..]].concat());
    assert!(printed["functions"][0]["timing"]["tests"].is_array(), "{printed:#}");
    assert_consistent(&scene, &printed);
}

pub fn the_run_says_how_results_were_made() {
    let config = "[function.f]\nassume = \"x < 9\"\n";
    let scene = Scene::new(&[
        ("f.c", "int f(int x) { if (x > 8) return 2; return x > LIMIT ? 1 : 0; }\n"),
        ("branchwise.toml", config),
    ]);
    let run = scene.generate(&["f.c", "--seed", "7", "--", "-DLIMIT=3"])["run"].take();
    assert_eq!(run["options"]["budget"], serde_json::json!({ "steps": 40 }));
    assert_eq!((&run["options"]["seed"], &run["options"]["strategy"]), (&7.into(), &"hybrid".into()));
    assert_eq!(run["sources"][0]["flags"], serde_json::json!(["-DLIMIT=3"]));
    let source = fs::read(scene.0.path().join("f.c")).expect("it is there");
    assert_eq!(run["sources"][0]["sha256"], branchwise_results::sha256(&source));
    assert_eq!(run["options"]["config"]["sha256"], branchwise_results::sha256(config.as_bytes()));
    assert!(run["compiler"].as_str().is_some_and(|compiler| compiler.contains("clang")), "{run:#}");
    let goals = scene.index().report().expect("a report").functions.remove(0).goals;
    let assumed = serde_json::to_value(&goals).expect("JSON").to_string();
    let precondition = r#"{"name":"precondition","subject":"x < 9 (branchwise.toml:2:11)","text":"precondition: x < 9 (branchwise.toml:2:11)","accepted":true}"#;
    assert!(assumed.contains(precondition), "{assumed}");
}

pub fn functions_of_one_name_have_files_of_their_own() {
    let helper = "static int helper(int x) { return x > 2; }\n";
    let one = format!("{helper}int one(int x) {{ return helper(x); }}\n");
    let two = format!("{helper}int two(int x) {{ return helper(x); }}\n");
    let scene = Scene::new(&[("a/f.c", &one), ("b/f.c", &two), ("overloads.cpp", OVERLOADS)]);
    let printed = scene.generate(&["a/f.c", "b/f.c", "overloads.cpp"]);
    assert_consistent(&scene, &printed);
    let index = scene.index().index;
    let paths: BTreeSet<String> = index.functions.iter().map(|function| function.details.to_lowercase()).collect();
    assert_eq!(paths.len(), index.functions.len(), "also where case does not count: {paths:?}");
}

pub fn explain_reads_only_the_functions_it_needs() {
    let scene = Scene::new(&[(
        "f.c",
        "int f(int x) { return x > 3 ? 1 : 2; }\nint g(int x) {\n    return x > 4 ? 1 : 2;\n}\n",
    )]);
    scene.generate(&["f.c"]);
    fs::write(scene.details("g"), "no JSON").expect("it can be written");
    for goal in ["f:0", "1", "f.c:1:true"] {
        let text = scene.explain(goal).unwrap_or_else(|error| panic!("{goal}: {error}"));
        assert!(text.contains("f:0  f.c:1:") && !text.contains("g:0"), "{text}");
    }
    let path = scene.details("g").strip_prefix(scene.0.path()).expect("in the folder").display().to_string();
    let error = scene.explain("g:0").expect_err("it is damaged");
    assert!(error.contains(&format!("Error: {path} is not the file that the index names: its SHA-256")), "{error}");
    assert!(error.contains("Hint: "), "{error}");
    fs::remove_file(scene.details("g")).expect("it is there");
    let error = scene.explain("3").expect_err("it is gone");
    assert!(error.contains(&format!("Error: cannot read {path}, which the index names: No such file")), "{error}");
}

pub fn a_goal_is_explained_by_its_text() {
    let scene = Scene::new(&[(
        "f.c",
        "int f(int x) { if (x > 3) return 1; return 0; }\nint g(int x) { if (x > 4) return 1; return 0; }\n",
    )]);
    scene.generate(&["f.c"]);
    let text = scene.explain("x > 4:false").expect("it is there");
    assert!(text.starts_with("g:1  f.c:2:") && text.lines().nth(1) == Some("  verdict: covered"), "{text}");
    assert!(scene.explain("x > 5").expect_err("it is not").contains("no goal 'x > 5' in this report"));
}

pub fn indexes_that_are_none_are_named() {
    let scene = Scene::new(&[("f.c", "int f(int x) { return x > 3 ? 1 : 2; }\n")]);
    let printed = scene.generate(&["f.c"]);
    let index = fs::read_to_string(scene.out().join("report.json")).expect("it is there");
    let said = |text: &str| {
        fs::write(scene.out().join("report.json"), text).expect("it can be written");
        let error = scene.explain("f:0").expect_err("this is no index");
        assert!(error.starts_with("Error: out/report.json is no index of results: "), "{error}");
        assert!(error.contains("\nHint: "), "{error}");
        error
    };
    let old = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stored/old/report.json"));
    assert!(said(&old.expect("it is there")).contains("an earlier version of Branchwise wrote it"));
    assert!(said(&printed.to_string()).contains("it is a whole report, as --json prints it"));
    assert!(said("{}").contains("Branchwise did not write it"));
    assert!(said(&index[..index.len() / 2]).contains("EOF while parsing"));
    assert!(said(&index.replace("\"version\": 1", "\"version\": 9")).contains("version 9 is not known"));
    assert!(said(&index.replace("report/f-", "../report/f-")).contains("is no path of a function's file"));
    fs::write(scene.out().join("report.json"), &index).expect("it can be written");
    scene.explain("f:0").expect("all is well again");
}

/// A fuller result of an earlier version is not replaced by a lesser one.
pub fn a_report_of_an_earlier_version_counts_as_a_result() {
    let scene = Scene::new(&[(
        "shape.c",
        "int classify(int n) { return n > 10; }\nint sum(int n) { return n > 3 ? 1 : 2; }\n",
    )]);
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stored/old/report.json");
    fs::create_dir(scene.out()).expect("a writable folder");
    fs::copy(old, scene.out().join("report.json")).expect("a writable folder");
    scene.generate(&["shape.c", "--function", "sum"]);
    assert!(scene.out().join("partial/report.json").exists());
    scene.generate(&["shape.c"]);
    assert_eq!(scene.index().index.functions.len(), 2);
}

pub fn only_files_that_the_earlier_index_names_are_removed() {
    let scene =
        Scene::new(&[("f.c", "int f(int x) { return x > 3 ? 1 : 2; }\nint g(int x) { return x > 4 ? 1 : 2; }\n")]);
    scene.generate(&["f.c"]);
    let (outdated, changed) = (scene.details("f"), scene.details("g"));
    fs::write(&changed, "notes of the user").expect("it can be written");
    let own = scene.out().join("report/mine-0123456789abcdef.json");
    fs::write(&own, "{}").expect("it can be written");
    fs::write(scene.0.path().join("f.c"), "int f(int x) { return x > 5 ? 1 : 2; }\nint h(int x) { return x; }\n")
        .expect("ours");
    scene.generate(&["f.c", "--replace"]);
    assert!(!outdated.exists(), "nobody names it any more");
    assert!(changed.exists() && own.exists(), "these are the user's");
    load(&scene.out()).expect("the new report is whole");
}
