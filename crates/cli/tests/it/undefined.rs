//! Outcomes that only undefined behaviour reaches: how they are reported, and where the inputs that show them stand.

use crate::support::folder;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::tool::{self, Run};
use serde_json::Value as Json;

const PROGRAM: &str = "\
int grows(int x, unsigned step) {
    int next = x + 1;
    if (next < x)
        return -1;
    if (step > 4)
        return next * 2;
    return next;
}
int residue(int x, int z) {
    int product = x * z;
    if (product % 7 == 3)
        return 1;
    return 0;
}
";

fn generate(program: &str, arguments: &[&str], folder: &Path) -> Run {
    let file = folder.join("unit.c");
    fs::write(&file, program).expect("the folder of a run can be written");
    tool::generate_files(&file, &[&["--steps", "800"], arguments].concat(), &[], folder)
}

fn branchwise(command: &str, folder: &Path, arguments: &[&str]) -> Output {
    let mut run = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    run.arg(command).arg(folder.join("out")).args(arguments).output().expect("the tool runs")
}

pub fn a_goal_says_through_what_it_is_covered() {
    let folder = folder::temporary();
    let run = generate(PROGRAM, &["--require", "100"], folder.path());
    let report = run.report(folder.path()).expect("nothing that can be covered without is left");
    let function = &report["functions"][0];
    assert_eq!(function["goals"][0]["verdict"], "covered");
    assert_eq!(function["goals"][0]["through"], "signed overflow at 2:18");
    assert!(function["goals"][1]["through"].is_null(), "{function}");
    let (summary, other) = (&function["summary"], &report["functions"][1]["summary"]);
    assert_eq!((&summary["covered"], &summary["through_undefined"]), (&4.into(), &1.into()));
    assert_eq!((&other["covered"], &other["through_undefined"]), (&2.into(), &Json::Null));
    let witness = &function["goals"][0]["tests"][0];
    let tests = function["tests"].as_array().expect("tests");
    let reproducers: Vec<&Json> =
        tests.iter().filter(|test| test["reproducer"] == true).map(|test| &test["id"]).collect();
    assert_eq!(reproducers, [witness]);
    assert!(
        run.output.contains("5 of 6 branch outcomes covered (100 %) by 4 tests; 1 only through undefined"),
        "{}",
        run.output
    );
    let explained = branchwise("explain", folder.path(), &["grows:0"]).stdout;
    assert!(String::from_utf8_lossy(&explained).contains("through: signed overflow at 2:18"));
    let replayed = branchwise("replay", folder.path(), &["--json"]);
    let replayed: Json = serde_json::from_slice(&replayed.stdout).expect("replay prints JSON");
    assert_eq!(replayed["functions"][0]["covered"], 4, "{replayed}");
}

pub fn reproducers_stand_beside_the_suite() {
    let folder = folder::temporary();
    generate(PROGRAM, &[], folder.path());
    let run = |name: &str| {
        let (source, program) = (folder.path().join("out").join(name), folder.path().join("program"));
        let compiled = Command::new("clang-19").args(["-fsanitize=undefined", "-o"]).arg(&program).arg(source).status();
        assert!(compiled.is_ok_and(|status| status.success()), "{name} compiles");
        let output = Command::new(program).output().expect("it runs");
        assert!(output.status.success(), "{name}");
        String::from_utf8_lossy(&output.stderr).contains("signed integer overflow")
    };
    assert!(!run("unit_test.c"), "no test of the suite does what is undefined");
    assert!(run("unit_reproducers.c"));
}

pub fn without_such_outcomes_there_are_no_reproducers() {
    let folder = folder::temporary();
    let run = generate(PROGRAM, &["--undefined", "forbid", "--function", "grows"], folder.path());
    assert!(!folder.path().join("out/unit_reproducers.c").exists());
    let report = run.report(folder.path()).expect("a report");
    let goal = &report["functions"][0]["goals"][0];
    assert_eq!(goal["verdict"], "infeasible");
    let given = &goal["evidence"]["assumptions"][0];
    assert_eq!((&given["name"], &given["accepted"]), (&"precondition".into(), &true.into()));
    assert_eq!(report["run"]["options"]["forbid_undefined"], true);
}

pub fn reproducers_of_an_earlier_run_go() {
    let folder = folder::temporary();
    let out = folder.path().join("out");
    generate(PROGRAM, &["--function", "grows"], folder.path());
    let text = std::fs::read_to_string(out.join("unit_reproducers.c")).expect("a file of the first run");
    let others =
        [("other_reproducers.c", text.replace("unit.c", "other.c")), ("my_reproducers.c", format!("\n{text}"))];
    others.iter().for_each(|(name, text)| std::fs::write(out.join(name), text).expect("a writable folder"));
    generate(PROGRAM, &["--undefined", "forbid", "--function", "grows"], folder.path());
    assert!(!out.join("unit_reproducers.c").exists(), "the second run has none");
    assert!(others.iter().all(|(name, _)| out.join(name).exists()), "files of others stay");
}

/// Goals that are paths, and those that two tests show together, are looked for without undefined behaviour too.
pub fn paths_and_pairs_are_looked_for_without() {
    let through = |report: &Json, function: usize| -> usize {
        let goals = report["functions"][function]["goals"].as_array().expect("goals");
        goals.iter().filter(|goal| goal["through"].is_string()).count()
    };
    for (criterion, only) in [("all-paths", 1), ("mcdc", 1)] {
        let folder = folder::temporary();
        let run = generate(PROGRAM, &["--criterion", criterion], folder.path());
        let report = run.report(folder.path()).expect("a report");
        assert_eq!((through(&report, 0), through(&report, 1)), (only, 0), "{criterion}: {report:#}");
    }
}
