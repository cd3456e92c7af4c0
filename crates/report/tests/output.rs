//! Snapshots of the terminal output and of the JSON.

mod common;
#[path = "common/shape.rs"]
mod shape;

use branchwise_report::{Style, TableTime, explain, json, summary};
use expect_test::{expect, expect_file};

#[test]
fn the_summary_shows_every_kind_of_verdict() {
    let unit = shape::shape();
    let written = ["out/shape_test.c".to_owned()];
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
          shape.c:13:9: 'total * total == 7' false: infeasible within bounds: elements behind pointer 'p' at most 16

        Findings:
          shape.c:30:12: null_dereference: reads through a null pointer
            with sum(p = NULL, n = 1)
            not confirmed: nobody tried

        Disagreements (a fault of ours, please report):
          sum test 2: llvm-cov misses 11:12 true

        5 of 8 branch outcomes covered (62.5 %) by 4 tests; 1 infeasible, so 71.4 % of what can be covered
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
    let coloured = summary(&[unit.file_report()], &[], TableTime::Measured, Style::Colour);
    assert!(coloured.contains("\x1b[33msum"));
}

#[test]
fn the_json_has_the_keys_of_version_1() {
    let unit = shape::shape();
    let text = format!("{:#}\n", json(&[unit.file_report()]));
    expect_file!["shape.json"].assert_eq(&text);
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
    let report = json(&[unit.file_report()]);
    let explained = |wanted| explain(&report, wanted).unwrap_or_else(|error| error.to_string());
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
          assumptions: 'n' is any int
          bounds: elements behind pointer 'p' at most 16
    "#]]
    .assert_eq(&explained("13:9"));
    expect![[r#"
        classify:2  shape.c:4:9  'n > 20' true
          verdict: infeasible
          proof: every path was explored
          paths: 3
          refuted prefixes: 2
          assumptions: 'n' is any int
    "#]]
    .assert_eq(&explained("classify:2"));
    expect![[r#"
        classify:0  shape.c:2:9  'n > 10' true
          verdict: covered
          test 1: inputs {"n":11}
          proof: replayed
    "#]]
    .assert_eq(&explained("shape.c:2:9:true"));
    expect!["no goal '99:1' in this report"].assert_eq(&explained("99:1"));
}
