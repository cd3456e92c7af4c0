//! What data dependence leaves out changes no verdict, and is strictly less work where anything can be saved.

use crate::support::fixture;
use crate::support::folder;
use crate::support::goals as support;
use crate::support::tool;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use fixture::Fixture;
use support::goals;

/// The document's example, from an input of its first path.
const WILLIAMS: &str = include_str!("../../../../benches/programs/pathcrawler_fg.c");

fn work(json: &Json, key: &str) -> u64 {
    json["functions"][0]["work"][key].as_u64().expect("a number")
}

fn solver_calls(json: &Json) -> u64 {
    let layers = json["functions"][0]["work"]["solver_calls"].as_object().expect("layers");
    layers.values().filter_map(Json::as_u64).sum()
}

/// Each goal of a function with its verdict.
fn verdicts(function: &Json) -> BTreeMap<String, String> {
    let goals = function["goals"].as_array().into_iter().flatten();
    let name = |goal: &Json| {
        let part = |key: &str| goal[key].to_string();
        let text = if goal["kind"] == "path" { abstract_path(&part("text")) } else { part("text") };
        ["criterion", "kind", "line", "column", "outcome"].map(part).join(" ") + &text
    };
    goals.map(|goal| (name(goal), goal["verdict"].as_str().unwrap_or_default().to_string())).collect()
}

/// A path without what abstract nodes contain: which of the paths they stand for is shown depends on which came first.
fn abstract_path(path: &str) -> String {
    let mut depth = 0;
    let mut kept = String::new();
    for sign in path.chars() {
        depth += i32::from(sign == '<' || sign == '{');
        if depth == 0 || "<>{}".contains(sign) {
            kept.push(sign);
        }
        depth -= i32::from(sign == '>' || sign == '}');
    }
    kept.replace("{}", "")
}

pub fn the_document_s_example_takes_strictly_less() {
    let folder = folder::temporary();
    let seed = folder.path().join("seed");
    let seed_name = seed.to_str().expect("a name that is text");
    for x in [2, 5] {
        fs::write(&seed, format!("A[0] = 1\nA[1] = 2\ne = 3\nx = {x}\n")).expect("the folder can be written");
        for criterion in ["minimal-all-paths", "minimal-all-conditions", "minimal-all-decisions", "branch", "mcdc"] {
            let arguments = ["--criterion", criterion, "--seed-test", seed_name];
            let with = goals(WILLIAMS, "f", &arguments);
            let without = goals(WILLIAMS, "f", &[&arguments[..], &["--no-data-dependence"]].concat());
            assert_eq!(with["functions"][0]["criteria"][0]["complete"], true, "{criterion}");
            assert_eq!(verdicts(&with["functions"][0]), verdicts(&without["functions"][0]), "{criterion}");
            assert_eq!(work(&without, "skipped_alternatives"), 0, "{criterion}");
            assert!(solver_calls(&with) < solver_calls(&without), "{criterion}, x = {x}");
            for key in ["infeasible_prefixes", "redundant_tests", "paths"] {
                assert!(work(&with, key) <= work(&without, key), "{criterion}, x = {x}: {key}");
            }
            if criterion == "minimal-all-conditions" {
                assert!(work(&with, "infeasible_prefixes") <= 10 && work(&with, "redundant_tests") <= 1, "x = {x}");
            }
        }
    }
}

/// What a later condition may depend on, in every way that must not be overlooked.
const DEPENDENT: &str = "int state;
int idle(int a, int b, int c) {
    int n = 0;
    if (a > 0) n = 1;
    if (b > 0) n = 2;
    if (c > 7) n += 4;
    if (a == 100 && a == 101) return 7;
    return n;
}
int used(int a, int b) {
    int n = 0;
    if (a > 0) n = 1;
    if (b > 5) n += 1;
    if (n == 2 && a == 3) return 1;
    if (n == 3) return 5;
    return 0;
}
int same_input(int x) {
    int n = 0;
    if (x > 10) n = 1;
    if (x > 20) return 2;
    if (n && x < 5) return 3;
    return n;
}
int divides(int a, int b) {
    int n = 0;
    if (a > 0) n = 1;
    if (b > 0) b = 7 / n;
    if (b == 9) return 1;
    if (b == 7) return 2;
    if (a < -5) return 9;
    return n;
}
int stores(int a, int b) {
    if (a > 0) state = 1; else state = 2;
    if (b > 3 || b < -8) b = 0;
    if (state == 3) return 1;
    if (state == 1 && b == 2) return 3;
    return 0;
}
int through_pointer(int a, int b) {
    int n = 0, *p = b > 0 ? &n : &state;
    if (a > 0) *p = 5;
    if (n == 5 && b == 3) return 1;
    if (n == 5 && b == 0) return 2;
    return 0;
}
int value(int a, int b) {
    int v = a > 3 || b > 3;
    if (v && a == 9 && b == 0) return 1;
    if (!v && a > 4) return 2;
    return 0;
}
int assigns_in_a_condition(int a, int b) {
    int n = 0;
    if (a > 0 || (n = b) > 0) b = 1;
    if (n == 4) return 1;
    if (n == 4 && a > 0) return 2;
    if (n == -4) return 3;
    return 0;
}
int loop(int a, int n) {
    int s = 0;
    for (int i = 0; i < n && i < 4; i++) {
        if (a == i || a == i + 10) s++;
        if (a > 3) a++;
    }
    if (s == 3) return 1;
    if (a == 77 && s == 2) return 3;
    return 0;
}
int index(int a, int b) {
    int values[3] = {1, 2, 3}, i = 0;
    if (a > 0) i = 1;
    if (b > 0 || b == -7) i++;
    if (values[i] == 3 && a == 5) return 1;
    if (values[i] == 4) return 2;
    return 0;
}
static int sign(int a) { if (a < 0) return -1; return 1; }
int calls(int a, int b) {
    int n = 1;
    if (b > 0 || b == -7) n = sign(a);
    if (n == -1 && a == -4) return 1;
    if (n == 1 && a == -4 && b == 6) return 2;
    return 0;
}
void stop(int);
int stops(int a, int b) {
    int n = 0;
    if (a > 3) n = 1;
    if (n && b > 0) __builtin_trap();
    if (a == 7 && b == 5) return 1;
    if (a == 3 && b == 5) return 2;
    return n;
}
int undefined(int a, int b) {
    int n;
    if (a > 3) n = 1;
    if (a > 5 && n) b++;
    if (b == 7 && a == 6) return 1;
    return 0;
}
int switched(int a, int b) {
    int n = 0;
    switch (a) { case 1: n = 1; break; case 2: n = 2; break; case 3: break; }
    if (b > 4) n = n * 2;
    if (b == 9 && a == 1) return 1;
    if (b == 9 && b == 8) return 2;
    return n;
}
";

const CRITERIA: [&str; 4] = ["branch", "decision,condition", "mcdc", "minimal-all-paths"];

/// All functions of a program.
fn generated(program: &str, arguments: &[&str]) -> Json {
    let folder = folder::temporary();
    let file = folder.path().join("unit.c");
    fs::write(&file, program).expect("the temporary folder can be written");
    let all = [&["--findings", "none"], arguments].concat();
    let json = tool::generate(&file, &all, &[], folder.path()).json().expect("it runs");
    assert_eq!(json["replay"]["disagreements"], Json::Array(Vec::new()));
    json
}

pub fn verdicts_are_those_of_exhaustive_search() {
    for criterion in CRITERIA {
        let question = ["--steps", "2000", "--criterion", criterion];
        let with = generated(DEPENDENT, &question);
        let exhaustive = generated(DEPENDENT, &[&question[..], &["--strategy", "depth-first"]].concat());
        let functions = |json: &Json| json["functions"].as_array().expect("functions").clone();
        let mut skipped = 0;
        for (function, expected) in functions(&with).iter().zip(functions(&exhaustive)) {
            let message = format!("{}, {criterion}", function["name"]);
            assert_eq!(verdicts(function), verdicts(&expected), "{message}");
            skipped += function["work"]["skipped_alternatives"].as_u64().expect("a number");
        }
        assert!(skipped > 5, "{criterion}: {skipped}");
    }
}

/// What follows in a callback of the library the graphs do not tell; no query is asked for it once every goal is reached.
pub fn nothing_is_asked_when_nothing_is_open() {
    let median = include_str!("../../../../tests/fixtures/stdlib_sort.c");
    let json = goals(median, "median", &["--criterion", "function"]);
    assert_eq!((work(&json, "paths"), solver_calls(&json)), (1, 0));
}

/// What whole paths decide is never left out.
pub fn criteria_on_whole_paths_explore_all() {
    for criterion in ["all-paths", "k-path", "empty-else", "max-iterations", "def-use", "loop"] {
        let json = goals(DEPENDENT, "idle", &["--criterion", criterion]);
        assert_eq!(work(&json, "skipped_alternatives"), 0, "{criterion}");
    }
}

/// Each iteration decides what the one before has decided, in the first function with no decision that anything is left out
/// of, in the second with one.
const ENDLESS: &str = "int level;
void climb(void) {
    while (level < 10)
        if (level < 5) level++;
}
int spin(int a, int b) {
    int n = 0;
    while (a < 10)
        if (a < 5 || a == 7) {
            if (b > 3) n++;
        } else
            a++;
    if (a == 12 && b == 2) return 4;
    return n;
}
";

pub fn loops_without_an_end_leave_time_for_the_rest() {
    let json = generated(ENDLESS, &["--time", "20"]);
    for function in json["functions"].as_array().expect("functions") {
        let verdicts = verdicts(function);
        assert!(verdicts.values().all(|verdict| verdict == "covered"), "{}: {verdicts:?}", function["name"]);
    }
}

/// Fixtures in which something is left out; `BRANCHWISE_FIXTURES=TEXT` takes all whose name contains the text.
const FIXTURES: [&str; 12] = [
    "ctype_classes",
    "empty_bodies",
    "finding_guarded",
    "float_casts",
    "infeasible_order",
    "int_bits",
    "int_casts",
    "int_multiplication",
    "int_sign_compare",
    "macro_in_condition",
    "stub_nature",
    "stub_verifier",
];

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let wanted = std::env::var("BRANCHWISE_FIXTURES").ok();
    let entries = fs::read_dir(folder).expect("the folder of fixtures can be read").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"));
    paths.retain(|path| match &wanted {
        Some(text) => fixture::file_name(path).contains(text),
        None => FIXTURES.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)),
    });
    paths.sort();
    paths
}

/// All that exhaustive search decides has the same verdict with data dependence, unless the strategy does not decide it
/// without either.
fn differences(path: &Path) -> Result<(Vec<String>, u64), String> {
    let fixture = Fixture::read(path)?;
    if fixture.trouble.is_some() {
        return Ok((Vec::new(), 0));
    }
    let run = |more: &[&str]| {
        let folder = folder::temporary();
        let mut arguments = vec!["--function", &fixture.entry, "--steps", "600", "--findings", "none"];
        arguments.extend(fixture.scope.iter().flat_map(|scope| ["--scope", scope]));
        arguments.extend(fixture.options.iter().map(String::as_str));
        arguments.extend(["--criterion", "branch,decision,mcdc"]);
        arguments.extend(more);
        tool::generate(&fixture.path, &arguments, &fixture.flags, folder.path()).json()
    };
    let (with, exhaustive) = (run(&["--strategy", "concolic"])?, run(&["--strategy", "depth-first"])?);
    let (found, expected) = (verdicts(&with["functions"][0]), verdicts(&exhaustive["functions"][0]));
    let decided = |verdict: &str| verdict == "covered" || verdict == "infeasible";
    let differs = |goal: &str, verdict: &String| decided(verdict) && found.get(goal) != Some(verdict);
    if !expected.iter().any(|(goal, verdict)| differs(goal, verdict)) {
        return Ok((Vec::new(), work(&with, "skipped_alternatives")));
    }
    let without = run(&["--strategy", "concolic", "--no-data-dependence"])?;
    let without = verdicts(&without["functions"][0]);
    let differing =
        expected.iter().filter(|(goal, verdict)| differs(goal, verdict) && found.get(*goal) != without.get(*goal));
    let line = |(goal, verdict): (&String, &String)| {
        format!("{}: {goal}: {verdict}, not {:?}", fixture::file_name(path), found.get(goal))
    };
    Ok((differing.map(line).collect(), work(&with, "skipped_alternatives")))
}

pub fn fixtures_have_the_verdicts_of_exhaustive_search() {
    let (mut wrong, mut skipped) = (Vec::new(), 0);
    for path in &fixtures() {
        match differences(path) {
            Ok((differing, left_out)) => {
                wrong.extend(differing);
                skipped += left_out;
            }
            Err(error) => wrong.push(format!("{}: {error}", fixture::file_name(path))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(skipped > 0 || std::env::var("BRANCHWISE_FIXTURES").is_ok(), "nothing was left out");
}
