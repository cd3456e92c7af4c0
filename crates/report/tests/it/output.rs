//! Snapshots of the terminal output and of the JSON.

use crate::common;
use crate::shape;
use crate::surroundings;

use std::path::Path;

use branchwise_generate::{Confirmation, Finding, FindingKind};
use branchwise_program::map::Place;
use branchwise_report::{
    EmitFormat, FileReport, Origin, Style, TableTime, WrittenSuite, explain, results, summary, write_suite,
};
use branchwise_results::{Folder, Run};
use common::{Unit, place};
use expect_test::{expect, expect_file};

/// The object that `--json` prints.
fn json(files: &[FileReport]) -> serde_json::Value {
    serde_json::to_value(results(files, Run::default())).expect("results are JSON")
}

#[test]
fn the_summary_shows_every_kind_of_verdict() {
    let unit = shape::shape();
    let written = WrittenSuite { tests: vec!["out/shape_test.c".into()], ..WrittenSuite::default() };
    let text = summary(&[unit.file_report()], &written, TableTime::Fixed(0.3), Style::Plain);
    expect![[r#"
        function  goals  covered     %  infeasible  within bounds  unknown  tests   time
        ────────────────────────────────────────────────────────────────────────────────
        classify      4        3  75.0           1              0        0      2  0.3 s
        sum           4        2  50.0           0              1        1      2  0.3 s
        ────────────────────────────────────────────────────────────────────────────────
        total         8        5  62.5           1              1        1      4  0.3 s

        Not covered:
          shape.c:4:9: 'n > 20' true: infeasible: every path was explored
          shape.c:13:9: 'total * total == 7' true: unknown: time ran out; blocked by 'total * total == 7'; test 1 came closest
          shape.c:13:9: 'total * total == 7' false: infeasible within bounds: elements behind pointer 'p' at most 16; if any-int

        Findings:
          shape.c:30:12: null_dereference: reads through a null pointer
            with sum(p = NULL, n = 1)
            not confirmed: nobody tried

        Disagreements (a fault of ours, please report):
          sum test 2: llvm-cov misses 11:12 true

        5 of 8 branch outcomes covered (62.5 %) by 4 tests; 1 infeasible, so 71.4 % of what can be covered
        branch: not complete: 1 goal unknown, named above
        Tests written to out/shape_test.c
    "#]].assert_eq(&text);
}

#[test]
fn colour_only_where_it_was_asked_for() {
    assert_eq!(Style::detect(true, None), Style::Colour);
    assert_eq!(Style::detect(true, Some("")), Style::Colour);
    assert_eq!(Style::detect(true, Some("1")), Style::Plain);
    assert_eq!(Style::detect(false, None), Style::Plain);
    let unit = shape::shape();
    let coloured = summary(&[unit.file_report()], &WrittenSuite::default(), TableTime::Measured, Style::Colour);
    assert!(coloured.contains("\x1b[33msum"));
}

#[test]
fn the_json_has_the_keys_of_version_1() {
    let unit = shape::shape();
    let text = format!("{:#}\n", json(&[unit.file_report()]));
    expect_file!["shape.json"].assert_eq(&text);
}

#[test]
fn what_else_a_test_gives_stands_among_its_inputs() {
    let unit = surroundings::surroundings(Path::new("surroundings.c"));
    let object = json(&[unit.file_report()]);
    let functions = object["functions"].as_array().expect("an array");
    let mut lines = String::new();
    for name in ["pop", "average", "apply", "sum_input", "first_line"] {
        let function = functions.iter().find(|function| function["name"] == name).expect("a unit");
        for test in function["tests"].as_array().expect("an array") {
            lines += &format!("{name} {}\n", test["inputs"]);
        }
    }
    expect![[r#"
        pop {"value":{"object":0,"elements":[0]},"before":[{"function":"push","inputs":{"value":8}},{"function":"push","inputs":{"value":9}},{"function":"pop","inputs":{"value":{"object":1,"elements":[0]}}}]}
        average {"channels":3,"verbosity":2,"*value of read_sensor()":[10,-20,70],"read_sensor()":[0,1]}
        average {"channels":2,"verbosity":0}
        apply {"function":{"function":"twice"},"x":21}
        apply {"function":{"function":"branchwise_function_1"},"x":21,"__bw_function_1()":[-9]}
        sum_input {"stdin":"12 7\n-9\nend\n"}
        sum_input {}
        first_line {"line":{"object":0,"text":"","elements":[0,0,0,0,0,0,0,0]},"stdin":"a?\nÿ"}
    "#]].assert_eq(&lines);
}

#[test]
fn a_finding_names_the_calls_before_and_what_was_given() {
    let mut unit = surroundings::surroundings(Path::new("surroundings.c"));
    for (line, name) in (40..).zip(["pop", "average", "sum_input"]) {
        add_finding_at(&mut unit, name, place(line, 12));
    }
    let text = summary(&[unit.file_report()], &WrittenSuite::default(), TableTime::Fixed(0.3), Style::Plain);
    let lines: String =
        text.lines().filter(|line| line.contains(" with ")).map(|line| format!("{}\n", line.trim())).collect();
    expect![[r#"
        with push(value = 8), then push(value = 9), then pop(value = &0), then pop(value = &0)
        with average(channels = 3) and verbosity = 2, given *value of read_sensor() = 10, -20, 70; read_sensor() = 0, 1
        with sum_input(), given standard input "12 7\n" "-9\n" "end\n"
    "#]]
    .assert_eq(&lines);
}

fn add_finding_at<'a>(unit: &'a mut Unit, name: &str, place: Place) -> &'a mut Finding {
    let function = unit.map.function_named(name).expect("a unit");
    let case = unit.report.functions[function.0 as usize].tests[0].case.clone();
    unit.add_finding(function, FindingKind::SignedOverflow, "too much", case);
    let finding = unit.report.functions[function.0 as usize].findings.last_mut().expect("just added");
    finding.place = Some(place);
    finding
}

/// Each line once, by what is confirmed and then by the function that it belongs to; in the order of the lines.
#[test]
fn findings_of_one_line_are_one() {
    let mut unit = surroundings::surroundings(Path::new("surroundings.c"));
    let start = |unit: &Unit, name| unit.map.functions[unit.map.function_named(name).expect("a unit")].place;
    let own = start(&unit, "average");
    add_finding_at(&mut unit, "sum_input", place(own.line, 30));
    add_finding_at(&mut unit, "average", place(own.line, 40));
    add_finding_at(&mut unit, "average", place(own.line, 20));
    add_finding_at(&mut unit, "average", place(200, 5));
    let confirmed = add_finding_at(&mut unit, "pop", place(200, 9));
    confirmed.confirmation = Confirmation::Confirmed { by: "a signal".to_string() };
    let key = |found: &serde_json::Value| {
        ["function", "line", "column", "columns", "also_in"].map(|key| found[key].to_string()).join(" ")
    };
    let object = json(&[unit.file_report()]);
    let listed: Vec<String> = object["findings"].as_array().into_iter().flatten().map(key).collect();
    let first = format!(r#""average" {} 20 [20,30,40] ["sum_input"]"#, own.line);
    assert_eq!(listed, [first.as_str(), r#""pop" 200 9 [5,9] ["average"]"#]);
    unit.report.lists_findings = false;
    assert_eq!(json(&[unit.file_report()])["findings"], serde_json::json!([]));
}

#[test]
fn several_files_are_concatenated_and_their_replays_summed() {
    let (left, right) = (shape::shape(), shape::shape());
    let object = json(&[left.file_report(), right.file_report()]);
    assert_eq!(object["functions"].as_array().map(Vec::len), Some(4));
    assert_eq!(object["replay"]["branch_outcomes"], 16);
    assert_eq!(object["findings"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_goal_is_explained_by_number_or_place() {
    let unit = shape::shape();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let origin =
        Origin { folder: Path::new("/started"), config: None, set_statics: false, instances: &[], allow_calls: &[] };
    let files = [unit.file_report()];
    let report = results(&files, Run::default());
    write_suite(folder.path(), origin, &files, &report, &[EmitFormat::Plain]).expect("a writable folder");
    let stored = Folder::open(folder.path()).expect("just written");
    assert_eq!(stored.report(), Ok(report));
    let explained = |wanted| explain(&stored, wanted).unwrap_or_else(|error| error.to_string());
    expect![[r#"
        sum:2  shape.c:13:9  'total * total == 7' true
          verdict: unknown
          message: time ran out
          blocking: total * total == 7
          paths: 40
          solver calls: 12
          closest test: 1

        sum:3  shape.c:13:9  'total * total == 7' false
          verdict: infeasible_within_bounds
          proof: every path was explored
          paths: 3
          refuted prefixes: 2
          assumption: any-int: 'n' is any int
          bounds: elements behind pointer 'p' at most 16
    "#]]
    .assert_eq(&explained("13:9"));
    expect![[r#"
        classify:2  shape.c:4:9  'n > 20' true
          verdict: infeasible
          proof: every path was explored
          paths: 3
          refuted prefixes: 2
          assumption: any-int: 'n' is any int
    "#]]
    .assert_eq(&explained("classify:2"));
    expect![[r#"
        classify:0  shape.c:2:9  'n > 10' true
          verdict: covered
          test 1: inputs {"n":11}
            path: 2+
          proof: replayed
    "#]]
    .assert_eq(&explained("shape.c:2:9:true"));
    expect!["no goal '99:1' in this report"].assert_eq(&explained("99:1"));
}
