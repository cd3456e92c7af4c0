//! For each criterion a run ends with "complete", or names what is open: as the verdicts of its goals are.

use crate::support::folder;
use crate::support::tool;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::{Expect, expect};
use serde_json::Value as Json;

const CRITERIA: &str = "branch,mcdc,statement,loop,minimal-all-conditions,minimal-all-paths";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name).with_extension("c")
}

/// The goals of a criterion with this verdict.
fn ids(function: &Json, criterion: &Json, verdict: &str) -> Vec<Json> {
    let goals = function["goals"].as_array().expect("goals").iter();
    let of_criterion = goals.filter(|goal| goal["criterion"] == *criterion && goal["verdict"] == verdict);
    of_criterion.map(|goal| goal["id"].clone()).collect()
}

/// One line for each criterion, which must be what the verdicts say.
fn lines(function: &Json) -> String {
    let mut lines = String::new();
    for found in function["criteria"].as_array().expect("criteria") {
        let list = |verdict: &str| ids(function, &found["name"], verdict);
        let (open, within) = (list("unknown"), list("infeasible_within_bounds"));
        assert_eq!(found["open"], Json::Array(open.clone()), "{found}");
        assert_eq!(found["within_bounds"], Json::Array(within.clone()), "{found}");
        assert_eq!(found["complete"], open.is_empty() && within.is_empty(), "{found}");
        let [covered, infeasible] = ["covered", "infeasible"].map(|verdict| list(verdict).len());
        assert_eq!(found["goals"], covered + infeasible + open.len() + within.len(), "{found}");
        let name = found["name"].as_str().expect("a name");
        let counts = [(infeasible, "infeasible"), (within.len(), "within bounds"), (open.len(), "open")];
        let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}"));
        lines += &format!("{name}: {covered} covered{}\n", counts.collect::<String>());
    }
    lines
}

fn check(name: &str, entry: &str, expected: Expect) {
    let folder = folder::temporary();
    let arguments = ["--function", entry, "--steps", "300", "--findings", "none", "--criterion", CRITERIA];
    let json = tool::generate(&fixture(name), &arguments, &[], folder.path()).json().expect("it runs");
    expected.assert_eq(&lines(&json["functions"][0]));
}

pub fn criteria_are_complete_or_name_what_is_open() {
    check(
        "logic_nested",
        "both",
        expect![[r#"
        branch: 12 covered
        mcdc: 6 covered
        statement: 5 covered
        loop: 0 covered
        minimal-all-conditions: 12 covered
        minimal-all-paths: 3 covered, 1 infeasible
    "#]],
    );
    check(
        "logic_short_circuit",
        "guarded",
        expect![[r#"
        branch: 10 covered, 2 infeasible
        mcdc: 3 covered, 3 infeasible
        statement: 7 covered, 1 infeasible
        loop: 0 covered
        minimal-all-conditions: 10 covered, 2 infeasible
        minimal-all-paths: 2 covered, 1 infeasible
    "#]],
    );
    check(
        "triangle",
        "triangle",
        expect![[r#"
        branch: 29 covered, 1 infeasible
        mcdc: 14 covered, 1 infeasible
        statement: 12 covered, 1 infeasible
        loop: 0 covered
        minimal-all-conditions: 29 covered, 1 infeasible
        minimal-all-paths: 6 covered, 1 infeasible
    "#]],
    );
    check(
        "early_return",
        "validate",
        expect![[r#"
        branch: 9 covered, 1 infeasible
        mcdc: 4 covered, 1 infeasible
        statement: 8 covered, 1 infeasible
        loop: 0 covered
        minimal-all-conditions: 9 covered, 1 infeasible
        minimal-all-paths: 4 covered, 1 infeasible
    "#]],
    );
    check(
        "nested_loops",
        "cell",
        expect![[r#"
        branch: 7 covered, 1 infeasible
        mcdc: 3 covered, 1 infeasible
        statement: 11 covered, 1 infeasible
        loop: 2 covered, 4 infeasible
        minimal-all-conditions: 7 covered, 1 infeasible
        minimal-all-paths: 10 covered, 1 infeasible
    "#]],
    );
    check(
        "call_in_condition",
        "both",
        expect![[r#"
        branch: 7 covered, 1 infeasible
        mcdc: 2 covered, 2 infeasible
        statement: 5 covered, 1 infeasible
        loop: 0 covered
        minimal-all-conditions: 7 covered, 1 infeasible
        minimal-all-paths: 2 covered, 1 infeasible
    "#]],
    );
    check(
        "calendar",
        "days",
        expect![[r#"
        branch: 11 covered, 1 infeasible
        mcdc: 5 covered, 1 infeasible
        statement: 5 covered
        loop: 0 covered
        minimal-all-conditions: 11 covered, 1 infeasible
        minimal-all-paths: 3 covered, 1 infeasible
    "#]],
    );
    check(
        "bad_endless_loop",
        "stuck",
        expect![[r#"
            branch: 4 covered
            mcdc: 2 covered
            statement: 5 covered
            loop: 3 covered
            minimal-all-conditions: 4 covered
            minimal-all-paths: 9 covered, 1 open
        "#]],
    );
    check(
        "pointer_into_array",
        "replaced",
        expect![[r#"
        branch: 7 covered, 1 within bounds
        mcdc: 3 covered, 1 within bounds
        statement: 6 covered, 1 within bounds
        loop: 0 covered
        minimal-all-conditions: 7 covered, 1 within bounds
        minimal-all-paths: 3 covered, 1 within bounds
    "#]],
    );
    check(
        "switch_nested",
        "cell",
        expect![[r#"
        branch: 17 covered, 1 infeasible
        mcdc: 0 covered, 1 infeasible
        statement: 10 covered, 1 infeasible
        loop: 0 covered
        minimal-all-conditions: 9 covered, 1 infeasible
        minimal-all-paths: 6 covered, 1 infeasible
    "#]],
    );
    check(
        "do_loop",
        "rounds",
        expect![[r#"
        branch: 5 covered, 1 infeasible
        mcdc: 2 covered, 1 infeasible
        statement: 8 covered, 1 infeasible
        loop: 2 covered
        minimal-all-conditions: 5 covered, 1 infeasible
        minimal-all-paths: 8 covered, 1 infeasible
    "#]],
    );
}

/// What the terminal says at the end.
fn last_words(name: &str, entry: &str, criteria: &str) -> Vec<String> {
    let folder = folder::temporary();
    let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    command.arg("generate").arg(fixture(name)).args(["--function", entry, "--steps", "300", "--findings", "none"]);
    command.args(["--criterion", criteria, "--out"]).arg(folder.path().join("out"));
    let output = tool::run(command, folder.path()).output;
    let of_criterion = |line: &&str| criteria.split(',').any(|criterion| line.starts_with(&format!("{criterion}: ")));
    output.lines().filter(of_criterion).map(str::to_string).collect()
}

pub fn the_terminal_says_whether_a_criterion_is_complete() {
    let complete = last_words("triangle", "triangle", "mcdc,decision");
    assert_eq!(complete, ["mcdc", "decision"].map(|it| format!("{it}: complete: every goal is covered or infeasible")));
    let open = last_words("bad_endless_loop", "stuck", "all-paths");
    assert!(open.iter().all(|line| !line.contains("every goal")) && open.len() == 1, "{open:?}");
}
