//! The standing attack finds witnesses that are planted, finds none where there is none, and says how many runs it made.

use crate::support::folder;
use std::collections::BTreeSet;
use std::fs;

use branchwise_generate::{Routes, Settings, Subject, Workplace};

use crate::support::native;
use crate::support::reading::Options;
use crate::support::tool;

const EXECUTIONS: u64 = 300;

/// The outcomes of `f` that an attack takes in a program, as `TEXT OUTCOME`.
fn taken(program: &str) -> BTreeSet<String> {
    let folder = folder::temporary();
    let path = folder.path().join("program.c");
    fs::write(&path, program).expect("the program is written");
    let options = Options { flags: &[], allocations_fail: true, set_statics: false };
    let subject = native::Subject::load(&path, &options).expect("the program is built");
    let function = subject.function("f").expect("f");
    let (program, settings) = (&subject.program, Settings::default());
    let routes = Routes::of(&program.map);
    let unit = Subject { program, settings: &settings, routes, structure: None };
    let found = Workplace::new(&unit, subject.harness, None).attack(function, EXECUTIONS).expect("native runs");
    found.into_iter().map(|(goal, _)| goal.title()).collect()
}

fn assert_taken(program: &str, expected: &[&str], not: &[&str]) {
    let taken = taken(program);
    expected.iter().for_each(|title| assert!(taken.contains(*title), "{title} of {taken:?}"));
    not.iter().for_each(|title| assert!(!taken.contains(*title), "{title} of {taken:?}"));
}

pub fn numbers_that_the_program_names_are_tried() {
    let program = "int f(int x, unsigned char c) {
        if (x == 471177) return 1;
        if (x > 5 && x < 3) return 2;
        if (c * 2 == 511) return 3;
        return 4;
    }";
    let taken = ["'x == 471177' true", "'x == 471177' false", "'x > 5' true", "'x < 3' false"];
    assert_taken(program, &taken, &["'x < 3' true", "'c * 2 == 511' true"]);
}

pub fn calls_before_the_tested_one_are_tried() {
    let program = "static int n;
    void add(void) { n++; }
    void clear(void) { n = 0; }
    int f(void) { if (n == 2) return 1; if (n < 0) return 2; return 0; }";
    assert_taken(program, &["'n == 2' true", "'n < 0' false"], &["'n < 0' true"]);
}

pub fn stubs_and_allocations_that_fail_are_tried() {
    let program = "#include <stdlib.h>
    int read_it(void);
    int f(void) {
        char *p = malloc(8);
        if (!p) return 1;
        int one = read_it(), other = read_it();
        free(p);
        if (one != other) return 2;
        return 3;
    }";
    assert_taken(program, &["'!p' true", "'!p' false", "'one != other' true"], &[]);
}

/// The marked build has no sanitizers: an overrun may write anywhere, and what follows shows nothing.
pub fn behind_undefined_behaviour_nothing_counts() {
    let program = "int f(unsigned i, int v) {
        volatile int before = 0; volatile int a[2] = {0}; volatile int after = 0;
        a[i & 7] = v;
        if (before) return 1;
        if (after) return 2;
        return 3;
    }";
    assert_taken(program, &["'before' false"], &["'before' true"]);
}

pub fn preconditions_hold_in_every_run() {
    let program = "// assume: x > 10
    int f(int x) { if (x == 10) return 1; return 2; }";
    assert_taken(program, &["'x == 10' false"], &["'x == 10' true"]);
}

/// The number of executions stands in the evidence, the same in each run, and `--attack 0` makes none.
pub fn the_evidence_says_how_many_runs_it_survived() {
    let folder = folder::temporary();
    let file = folder.path().join("unit.c");
    fs::write(&file, "int f(int x) { if (x > 5 && x < 3) return 1; return 0; }").expect("the program is written");
    let attacked = |share: &[&str]| {
        let json = tool::generate(&file, &[&["--steps", "800"], share].concat(), &[], folder.path()).json();
        let json = json.expect("a report");
        let goals = json["functions"][0]["goals"].as_array().expect("goals").clone();
        let goal = goals.into_iter().find(|goal| goal["verdict"] == "infeasible").expect("an infeasible outcome");
        goal["evidence"]["attacked"].as_u64()
    };
    assert_eq!(attacked(&["--attack", "0"]), None);
    let usual = attacked(&[]);
    assert!(usual.is_some_and(|runs| runs >= 16), "{usual:?}");
    assert_eq!(attacked(&["--attack", "3"]), usual);
}
