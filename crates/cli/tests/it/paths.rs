//! Single goals by name: statements, outcomes and paths, from the command line.

use crate::support::folder;
use crate::support::tool;
use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

/// Runs the tool on `unit.c` with these goals; a disagreement is an error.
fn run(files: &[(&str, &str)], function: &str, arguments: &[&str]) -> Json {
    let folder = folder::temporary();
    run_in(folder.path(), files, function, arguments)
}

fn run_in(folder: &Path, files: &[(&str, &str)], function: &str, arguments: &[&str]) -> Json {
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("the temporary folder can be written");
    }
    let config = folder.join("branchwise.toml").display().to_string();
    let mut all = vec!["--function", function, "--steps", "2000", "--findings", "none"];
    if files.iter().any(|(name, _)| *name == "branchwise.toml") {
        all.extend(["--config", &config]);
    }
    all.extend(arguments);
    let json = tool::generate(&folder.join("unit.c"), &all, &[], folder).json().expect("it runs");
    assert_eq!(json["replay"]["disagreements"], json!([]));
    json
}

/// Each goal's text and verdict, with the prefix that no input takes.
fn verdicts(report: &Json) -> Vec<(String, String, Option<String>)> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let goals = report["functions"][0]["goals"].as_array().expect("goals").iter();
    let of = |goal: &Json| {
        let prefix = text(&goal["evidence"]["infeasible_prefix"]);
        (text(&goal["text"]).expect("a text"), text(&goal["verdict"]).expect("a verdict"), prefix)
    };
    goals.map(of).collect()
}

fn verdict(report: &Json, path: &str) -> (String, Option<String>) {
    let all = verdicts(report);
    let found = all.iter().find(|(text, ..)| text == path).unwrap_or_else(|| panic!("no goal {path} in {all:?}"));
    (found.1.clone(), found.2.clone())
}

fn covered() -> (String, Option<String>) {
    ("covered".to_string(), None)
}

fn infeasible(prefix: &str) -> (String, Option<String>) {
    ("infeasible".to_string(), Some(prefix.to_string()))
}

/// Calls, references to elements whose index is an input, a halt in a callee, and a loop.
const SHELF: &str = "#include <stdlib.h>
int next_slot(void);
static int checked(int slot) {
    if (slot >= 0 && slot <= 5)
        return slot;
    exit(1);
}
static void order(double *low, double *high) {
    double kept;
    if (*low > *high) {
        kept = *low;
        *low = *high;
        *high = kept;
    }
}
static void pair(double weight[6]) {
    int i = next_slot(), j = next_slot();
    if (checked(i) < checked(j))
        order(&weight[i], &weight[j]);
    else
        order(&weight[j], &weight[i]);
}
void arrange(double weight[6], int times) {
    int n = 0;
    while (n < times) {
        pair(weight);
        n = n + 1;
    }
}
";

const SHELF_DOMAIN: &str = "
[function.arrange]
assume = [\"weight[0] >= 5 && weight[0] <= 20 && weight[1] >= 5 && weight[1] <= 20 && weight[2] >= 5 && weight[2] <= 20\",
          \"weight[3] >= 5 && weight[3] <= 20 && weight[4] >= 5 && weight[4] <= 20 && weight[5] >= 5 && weight[5] <= 20\"]
inputs.times = { min = 1, max = 10 }

[stub.next_slot]
min = -5
max = 20
";

const SWAP_ONCE: &str = "25+ 4+ 4b+ 4+ 4b+ 18+ 10+ 25-";

pub fn a_path_through_calls_and_arrays_gets_a_test_within_the_domains() {
    let files = [("unit.c", SHELF), ("branchwise.toml", SHELF_DOMAIN)];
    let report = run(&files, "arrange", &["--criterion", "path", "--path", SWAP_ONCE]);
    assert_eq!(verdict(&report, SWAP_ONCE), covered());
    let test = &report["functions"][0]["tests"][0];
    assert_eq!(test["path_text"], SWAP_ONCE);
    assert_eq!(test["inputs"]["times"], 1);
    let weights: Vec<f64> =
        test["inputs"]["weight"]["elements"].as_array().expect("an array").iter().filter_map(Json::as_f64).collect();
    assert!(weights.len() == 6 && weights.iter().all(|weight| (5.0..=20.0).contains(weight)), "{weights:?}");
    let conditions = test["constraint"]["branches"].as_array().expect("branches");
    let of = |outcome: &str| conditions.iter().find(|branch| branch["outcome"] == outcome).map(|it| &it["condition"]);
    assert_eq!(of("25-"), Some(&json!("times <s 2")));
    assert_eq!(of("18+"), Some(&json!("next_slot() #1 <s next_slot() #2")));
}

pub fn a_path_that_no_input_takes_names_its_shortest_prefix() {
    let report = run(
        &[("unit.c", SHELF), ("branchwise.toml", SHELF_DOMAIN)],
        "arrange",
        &["--path", "25-", "--path", "25+ 4+ 4b- 18+", "--path", "25+ 4+ 4b+ 4+ 4b+ 18- 10- 25+ 4- 4b+ 4+"],
    );
    // The domain demands one iteration; a slot too high ends the program; `&&` is over after its first operand.
    assert_eq!(verdict(&report, "25-"), infeasible("25-"));
    assert_eq!(verdict(&report, "25+ 4+ 4b- 18+"), infeasible("25+ 4+ 4b- 18+"));
    let long = "25+ 4+ 4b+ 4+ 4b+ 18- 10- 25+ 4- 4b+ 4+";
    // `next_slot` may know the array and write to it meanwhile.
    let within_bounds = ("infeasible_within_bounds".to_owned(), infeasible("25+ 4+ 4b+ 4+ 4b+ 18- 10- 25+ 4- 4b+").1);
    assert_eq!(verdict(&report, long), within_bounds);
}

const CONTRADICTION: &str = "int unit(int a, int b) {
    int n = 0;
    if (a > b)
        n = 1;
    if (b > 3)
        n = 2;
    if (a < 3)
        n = 3;
    return n;
}
";

pub fn what_was_refuted_can_be_read() {
    let folder = folder::temporary();
    let report = run_in(folder.path(), &[("unit.c", CONTRADICTION)], "unit", &["--path", "3+ 5+ 7+"]);
    assert_eq!(verdict(&report, "3+ 5+ 7+"), infeasible("3+ 5+ 7+"));
    let explained = std::process::Command::new(env!("CARGO_BIN_EXE_branchwise"))
        .arg("explain")
        .arg(folder.path().join("out"))
        .arg("3+ 5+ 7+")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&explained.stdout);
    for line in
        ["refuted path constraint:", "inputs: a (32 bits), b (32 bits)", "3+  b <s a", "5+  b >s 3", "7+  a <s 3"]
    {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

const SWITCHES: &str = "#include \"half.h\"
int unit(int a, int b) {
    int n = half(a); if (n) n = 1;
    switch (b) {
    case 1: case 12: n = 2; break;
    case 2: n = a > 3 && b > 1;
    }
    return n;
}
";

const HALF: &str = "static int half(int a) {

    if (a > 100)
        return 0;
    return a / 2;
}
";

pub fn a_path_can_be_copied_from_a_report() {
    let files = [("unit.c", SWITCHES), ("half.h", HALF)];
    let first = run(&files, "unit", &["--criterion", "all-paths"]);
    let tests = first["functions"][0]["tests"].as_array().expect("tests");
    let paths: Vec<&str> = tests.iter().filter_map(|test| test["path_text"].as_str()).collect();
    assert!(paths.iter().any(|path| path.starts_with("half.h:3+ 3- 4:case 12")), "{paths:?}");
    assert!(paths.iter().any(|path| path.ends_with("4:no label")), "{paths:?}");
    let arguments: Vec<&str> = paths.iter().flat_map(|path| ["--path", path]).collect();
    let second = run(&files, "unit", &arguments);
    assert_eq!(verdicts(&second).len(), paths.len());
    for path in paths {
        assert_eq!(verdict(&second, path), covered());
    }
    // As `minimal-all-paths` writes it, with brackets around what happens inside.
    let abstract_path = run(&files, "unit", &["--path", "{half.h:3-} 3+ 4:case 2 <<6+ 6b+>>+"]);
    assert_eq!(verdict(&abstract_path, "half.h:3- 3+ 4:case 2 6+ 6b+"), covered());
}

const STATE: &str = "static int level;
static int is_even(int a) { if (a % 2) return 0; return 1; }
void raise(int by) { if (by > 0) level += 1; }
int unit(int a) {
    if (level > 1)
        return is_even(a);
    return 3;
}
";

pub fn calls_and_preconditions_before_the_unit_are_no_part_of_its_path() {
    let domain = "[function.unit]\nassume = \"is_even(a)\"\n";
    let files = [("unit.c", STATE), ("branchwise.toml", domain)];
    let report = run(&files, "unit", &["--path", "5+ 2-", "--path", "5+ 2+"]);
    assert_eq!(verdict(&report, "5+ 2-"), covered());
    let (odd, prefix) = verdict(&report, "5+ 2+");
    assert_eq!((odd.as_str(), prefix.as_deref()), ("infeasible_within_bounds", Some("5+ 2+")));
    let tests = report["functions"][0]["tests"].as_array().expect("tests");
    assert!(tests.iter().any(|test| test["path_text"] == "5+ 2-"), "{tests:?}");
}

pub fn statements_and_outcomes_of_callees_are_goals_by_their_place() {
    let files = [("unit.c", SHELF), ("branchwise.toml", SHELF_DOMAIN)];
    let report = run(&files, "arrange", &["--goal", "unit.c:13", "--goal", "10:9:false", "--goal", "6"]);
    let goals: Vec<(String, String)> =
        verdicts(&report).into_iter().map(|(text, verdict, _)| (text, verdict)).collect();
    let expected = [("*high = kept", "covered"), ("exit(1)", "covered"), ("*low > *high", "covered")];
    assert_eq!(goals.len(), 3, "{goals:?}");
    for (text, verdict) in expected {
        assert!(goals.contains(&(text.to_string(), verdict.to_string())), "{text} in {goals:?}");
    }
}

pub fn what_is_no_goal_is_said() {
    let trouble = |arguments: &[&str]| {
        let folder = folder::temporary();
        let file = folder.path().join("unit.c");
        fs::write(&file, CONTRADICTION).expect("the temporary folder can be written");
        let ran = tool::generate(&file, &[&["--function", "unit"], arguments].concat(), &[], folder.path());
        assert_eq!(ran.status, Some(3));
        let report: Json = serde_json::from_str(&ran.output).expect("a report");
        report["functions"][0]["trouble"].as_str().unwrap_or_default().to_string()
    };
    assert_eq!(trouble(&["--path", "3+ 5x"]), "no path '3+ 5x': '5x' begins with no outcome of a condition or switch");
    assert_eq!(
        trouble(&["--goal", "3:1:true"]),
        "nothing that it runs is a goal at 3:1:true (on this line there are goals at column 9)"
    );
}

pub fn decision_graphs_change_the_order_and_no_verdict() {
    let programs = [(SHELF, "arrange"), (CONTRADICTION, "unit"), (STATE, "unit")];
    for (program, function) in programs {
        let of = |strategy: &str| {
            let arguments = ["--strategy", strategy, "--scope", "reachable", "--criterion", "branch,statement"];
            verdicts(&run(&[("unit.c", program)], function, &arguments))
        };
        assert_eq!(of("dependence"), of("hybrid"), "{program}");
    }
}

const FACTORS: &str = "int unit(unsigned long a, unsigned long b) {
    if (a > 1 && b > 1)
        if ((unsigned __int128)a * b == ((unsigned __int128)0x6a09e667f3bcc908 << 64 | 0xb2fb1366ea957d3f))
            return 1;
    return 0;
}
";

pub fn an_unknown_outcome_names_the_condition_that_was_not_decided() {
    let folder = folder::temporary();
    let file = folder.path().join("unit.c");
    fs::write(&file, FACTORS).expect("the temporary folder can be written");
    let arguments = ["--function", "unit", "--time", "4", "--findings", "none", "--goal", "3:13:true"];
    let report = tool::generate(&file, &arguments, &[], folder.path()).json().expect("it runs");
    let reason = &report["functions"][0]["goals"][0]["reason"];
    let words = format!("{} {}", reason["message"], reason["blocking"]);
    assert!(words.contains("unit.c:3:13 '(unsigned __int128)a * b == ((unsigned __int128)0x6a09e667f"), "{words}");
}

const CHAIN: &str = "struct cell { struct cell *next; int value; };
int unit(const struct cell *c) {
    if (c->next->next->value == 7)
        return 1;
    return 0;
}
";

/// Only pointers were looked at when the budget ended, so that no outcome stands in the way.
pub fn an_unknown_outcome_names_where_the_budget_ended() {
    let folder = folder::temporary();
    let file = folder.path().join("unit.c");
    fs::write(&file, CHAIN).expect("the temporary folder can be written");
    let arguments = ["--function", "unit", "--steps", "1", "--findings", "none", "--goal", "3:9:true"];
    let report = tool::generate(&file, &arguments, &[], folder.path()).json().expect("it runs");
    let goal = &report["functions"][0]["goals"][0];
    assert_eq!((&goal["verdict"], &goal["reason"]["blocking"]), (&json!("unknown"), &json!("the entry of unit")));
}

/// Figure 1 of Sy and Deville 2003 in our words: two slots are read, not returned by a stub.
const READING: &str = "#include <stdio.h>
#include <stdlib.h>
static int checked(int slot) {
    if (slot >= 0 && slot <= 5)
        return slot;
    exit(1);
}
void pair(double weight[6]) {
    int i, j;
    double factor;
    if (scanf(\"%d %d %lf\", &i, &j, &factor) != 3)
        exit(2);
    if (checked(i) < checked(j) && weight[i] > weight[j])
        weight[i] = weight[j] * factor;
}
";

const READ_DOMAIN: &str = "
[function.pair]
read = [{ min = -5, max = 20 }, { min = 3 }, { min = 0.5, max = 0.75 }]
inputs.\"weight[0]\" = { min = 5, max = 20 }
inputs.\"weight[1]\" = { min = 5, max = 20 }
inputs.\"weight[2]\" = { min = 5, max = 20 }
inputs.\"weight[3]\" = { min = 5, max = 20 }
inputs.\"weight[4]\" = { min = 5, max = 20 }
inputs.\"weight[5]\" = { min = 5, max = 20 }
";

pub fn numbers_that_are_read_are_in_their_domains() {
    let files = [("unit.c", READING), ("branchwise.toml", READ_DOMAIN)];
    let path = "11- 4+ 4b+ 4+ 4b+ 13+ 13b+";
    let report = run(&files, "pair", &["--criterion", "path", "--path", path]);
    assert_eq!(verdict(&report, path), covered());
    let text = report["functions"][0]["tests"][0]["inputs"]["stdin"].as_str().expect("standard input").to_owned();
    let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    assert!((0.0..=4.0).contains(&numbers[0]) && (3.0..=5.0).contains(&numbers[1]), "{text}");
    assert!((0.5..=0.75).contains(&numbers[2]), "{text}");
    // The second slot is never negative, and the verdict names what it rests on.
    let report = run(&files, "pair", &["--path", "11- 4+ 4b+ 4-"]);
    assert_eq!(verdict(&report, "11- 4+ 4b+ 4-"), infeasible("11- 4+ 4b+ 4-"));
    let demands = report["functions"][0]["preconditions"].to_string();
    assert!(demands.contains("the 2. number read is at least 3"), "{demands}");
}

pub fn a_stub_with_one_bound_has_all_values_beyond_it() {
    let unit =
        "int next(void);\nint unit(void) {\n    int n = next();\n    if (n > 7) return 1;\n    return n < 0;\n}\n";
    let files = [("unit.c", unit), ("branchwise.toml", "[stub.next]\nmin = 3\n")];
    let report = run(&files, "unit", &["--path", "4+", "--path", "4-"]);
    assert_eq!((verdict(&report, "4+"), verdict(&report, "4-")), (covered(), covered()));
}

pub fn registers_hold_what_is_declared() {
    let unit = "int unit(void) {\n    unsigned n = *(volatile unsigned *)0x40001000;\n    if (n == 7) return 1;\n    \
                return n == 3;\n}\n";
    let files = [("unit.c", unit), ("branchwise.toml", "[register.0x40001000]\nvalues = [3, 4]\n")];
    let report = run(&files, "unit", &["--path", "3+", "--path", "3-"]);
    assert_eq!((verdict(&report, "3+"), verdict(&report, "3-")), (infeasible("3+"), covered()));
    let demands = report["functions"][0]["preconditions"].to_string();
    let place = demands.split_once("register 0x40001000 holds 3 or 4 (").map(|(_, place)| place);
    assert!(place.is_some_and(|place| place.contains("branchwise.toml:1:11)")), "{demands}");
}
