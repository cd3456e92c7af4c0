//! Criteria other than `branch`, from the command line: which goals there are and how each ends.

use crate::support::folder;
use crate::support::goals as support;
use crate::support::tool;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use expect_test::expect;
use serde_json::Value as Json;

use support::{check, goals};

const DECISIONS: &str = "int unit(int a, int b) {
    int n = 0;
    if (a > 0 && (b > 0 || a > 5))
        n = 1;
    switch (b) {
    case 1: n = 2; break;
    case 2: n = 3;
    }
    return n || a;
}
";

pub fn a_decision_is_its_whole_condition() {
    check(
        DECISIONS,
        "unit",
        &["--criterion", "decision"],
        expect![[r#"
            3 decision a > 0 && (b > 0 || a > 5) true: covered
            3 decision a > 0 && (b > 0 || a > 5) false: covered
            5 default b true: covered
            6 case case 1 true: covered
            7 case case 2 true: covered
            9 decision n || a true: covered
            9 decision n || a false: covered
        "#]],
    );
}

pub fn several_criteria_are_treated_together() {
    check(
        DECISIONS,
        "unit",
        &["--criterion", "condition,function"],
        expect![[r#"
        3 condition a > 0 true: covered
        3 condition a > 0 false: covered
        3 condition b > 0 true: covered
        3 condition b > 0 false: covered
        3 condition a > 5 true: covered
        3 condition a > 5 false: covered
        9 condition n true: covered
        9 condition n false: covered
        9 condition a true: covered
        9 condition a false: covered
        1 function unit: covered
    "#]],
    );
}

const ENDS: &str = "#include <stdio.h>
#include <stdlib.h>
static int own(int a) { return a + 1; }
static int sign(int a) { if (a < 0) return -1; return 1; }
static void stop(int a) {
    if (a == 7) {
        printf(\"%d\\n\", a);
        exit(1);
        a = 3;
    }
}
int unit(int a, int b, int c) {
    int x = sign(a) + (b && c ? 2 : 3);
    stop(x + a);
    if (a > 5 && a < 3)
        x = 4;
    return own(x);
}
int faults(int *p) {
    int v = *p;
    v = v / (v - v);
    return v;
}
";

pub fn statements_and_calls_run_only_where_the_log_shows_it() {
    check(
        ENDS,
        "unit",
        &["--criterion", "statement", "--scope", "reachable"],
        expect![[r#"
        13 statement int x = sign(a) + (b && c ? 2 : 3): covered
        14 statement stop(x + a): covered
        15 statement if (a > 5 && a < 3): covered
        16 statement x = 4: infeasible
        17 statement return own(x): covered
        4 statement if (a < 0): covered
        4 statement return -1: covered
        4 statement return 1: covered
        6 statement if (a == 7): covered
        7 statement printf("%d\n", a): covered
        8 statement exit(1): covered
        9 statement a = 3: infeasible
        3 statement return a + 1: covered
    "#]],
    );
    check(
        ENDS,
        "unit",
        &["--criterion", "call,function", "--scope", "reachable"],
        expect![[r#"
        13 call sign(): covered
        14 call stop(): covered
        17 call own(): covered
        7 call printf(): covered
        8 call exit(): covered
        12 function unit: covered
        4 function sign: covered
        5 function stop: covered
        3 function own: covered
    "#]],
    );
}

pub fn what_lies_behind_a_certain_fault_is_not_called_infeasible() {
    check(
        ENDS,
        "faults",
        &["--criterion", "statement"],
        expect![[r#"
            20 statement int v = *p: covered
            21 statement v = v / (v - v): unknown
            22 statement return v: unknown
        "#]],
    );
}

const POINTERS: &str = "static int own(int a) { return a + 1; }
static int apply(int (*call)(int), int a) { return call(a); }
int unit(int a) { return apply(own, a); }
";

pub fn a_function_that_runs_without_a_trace_is_unknown() {
    check(
        POINTERS,
        "unit",
        &["--criterion", "function", "--scope", "reachable"],
        expect![[r#"
        3 function unit: covered
        2 function apply: covered
        1 function own: unknown
    "#]],
    );
}

const LOOPS: &str = "int unit(int n) {
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += i;
    while (n > 0 && sum < 10) {
        n--;
        sum++;
    }
    do {
        sum--;
        if (n == -3)
            break;
    } while (sum > 5);
    for (;;) {
        if (sum++ > 6)
            return sum;
    }
}
";

pub fn a_loop_is_left_after_no_iteration_one_and_more() {
    check(
        LOOPS,
        "unit",
        &["--criterion", "loop"],
        expect![[r#"
        3 loop for: no iteration: infeasible
        3 loop for: one iteration: infeasible
        3 loop for: two or more iterations: covered
        5 loop while: no iteration: covered
        5 loop while: one iteration: covered
        5 loop while: two or more iterations: covered
        9 loop do: one iteration: covered
        9 loop do: two or more iterations: covered
        14 loop for: one iteration: infeasible
        14 loop for: two or more iterations: covered
    "#]],
    );
}

/// Williams 2010, figure 1.
const WILLIAMS: &str = "int g(int i, int x) {
    if (i == x)
        return 2;
    else
        return i * x + 1;
}
int f(int A[2], int e, int x) {
    int i, res;
    res = 0;
    if ((x < -1) || (x > 1)) {
        i = 0;
        while ((i < 2) && (res == 0)) {
            if (e == A[i])
                res = g(i + 1, x);
            else
                i++;
        }
    }
    if (res == 2)
        return 1;
    else
        return 0;
}
";

pub fn the_document_s_example_has_the_document_s_paths() {
    check(
        WILLIAMS,
        "f",
        &["--criterion", "all-paths"],
        expect![[r#"
        7 other_paths any other path: infeasible
        7 path 10- 10b- 19-: covered
        7 path 10- 10b+ 12+ 12b+ 13+ 2- 12+ 12b- 19-: covered
        7 path 10- 10b+ 12+ 12b+ 13- 12+ 12b+ 13- 12- 19-: covered
        7 path 10- 10b+ 12+ 12b+ 13- 12+ 12b+ 13+ 2+ 12+ 12b- 19+: covered
        7 path 10- 10b+ 12+ 12b+ 13- 12+ 12b+ 13+ 2- 12+ 12b- 19-: covered
        7 path 10+ 12+ 12b+ 13+ 2- 12+ 12b- 19-: covered
        7 path 10+ 12+ 12b+ 13- 12+ 12b+ 13- 12- 19-: covered
        7 path 10+ 12+ 12b+ 13- 12+ 12b+ 13+ 2- 12+ 12b- 19-: covered
    "#]],
    );
    check(
        WILLIAMS,
        "f",
        &["--criterion", "minimal-all-paths"],
        expect![[r#"
        7 other_paths any other path: infeasible
        7 path <10- 10b->- 19-: covered
        7 path <10- 10b+>+ <<12+ 12b+>>+ 13+ {2-} <<12+ 12b->>- 19-: covered
        7 path <10- 10b+>+ <<12+ 12b+>>+ 13- <<12+ 12b+>>+ 13- <<12->>- 19-: covered
        7 path <10- 10b+>+ <<12+ 12b+>>+ 13- <<12+ 12b+>>+ 13+ {2+} <<12+ 12b->>- 19+: covered
        7 path <10- 10b+>+ <<12+ 12b+>>+ 13- <<12+ 12b+>>+ 13+ {2-} <<12+ 12b->>- 19-: covered
    "#]],
    );
}

pub fn abstract_nodes_are_drawn_as_they_contain_each_other() {
    let folder = folder::temporary();
    fs::write(folder.path().join("unit.c"), WILLIAMS).expect("the temporary folder can be written");
    let map = |form: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
        command.current_dir(folder.path()).args(["map", "unit.c", "--function", "f", "--graph", "abstract"]).args(form);
        tool::run(command, folder.path()).output
    };
    expect![[r#"
        f  unit.c:7
          ITE 10
            OR
              10 (x < -1)
              10b (x > 1)
            LOOP 12
              AND
                12 (i < 2)
                12b (res == 0)
              ITE 13
                13 e == A[i]
                CALL 14 g()
          ITE 19
            19 res == 2
    "#]]
    .assert_eq(&map(&[]));
    let dot = map(&["--dot"]);
    assert!(dot.contains("LOOP 12") && dot.contains("->"), "{dot}");
}

/// Tests that were redundant, and prefixes that were refuted, at most.
fn check_work(criterion: &str, refuted: u64, redundant: u64) {
    let json = goals(WILLIAMS, "f", &["--criterion", criterion]);
    let function = &json["functions"][0];
    assert_eq!(function["criteria"][0]["complete"], true, "{criterion}");
    let work = |key: &str| function["work"][key].as_u64().expect("a number");
    assert!(work("infeasible_prefixes") <= refuted, "{criterion}: {}", function["work"]);
    assert!(work("redundant_tests") <= redundant, "{criterion}: {}", function["work"]);
}

pub fn strategies_cost_no_more_than_the_document_s() {
    check_work("minimal-all-paths", 27, 3);
    check_work("minimal-all-conditions", 10, 1);
}

const LONGER: &str = "int unit(int a, int n) {
    int s = 0;
    if (a > 5)
        s = 1;
    if (a > 9)
        s = 2;
    for (int i = 0; i < n && i < 3; i++)
        s++;
    return s;
}
int endless(int n) {
    while (n > 0)
        n--;
    return n;
}
";

pub fn only_the_longest_of_comparable_paths_are_goals() {
    check(
        LONGER,
        "unit",
        &["--criterion", "empty-else"],
        expect![[r#"
        1 other_paths any other path: infeasible
        1 path 3+ 5- 7-: covered
        1 path 3+ 5- 7+ 7b+ 7+ 7b+ 7+ 7b+ 7+ 7b-: covered
        1 path 3+ 5- 7+ 7b+ 7+ 7b+ 7+ 7b+ 7-: covered
        1 path 3+ 5- 7+ 7b+ 7+ 7b+ 7-: covered
        1 path 3+ 5- 7+ 7b+ 7-: covered
        1 path 3+ 5+ 7-: covered
        1 path 3+ 5+ 7+ 7b+ 7+ 7b+ 7+ 7b+ 7+ 7b-: covered
        1 path 3+ 5+ 7+ 7b+ 7+ 7b+ 7+ 7b+ 7-: covered
        1 path 3+ 5+ 7+ 7b+ 7+ 7b+ 7-: covered
        1 path 3+ 5+ 7+ 7b+ 7-: covered
    "#]],
    );
    check(
        LONGER,
        "unit",
        &["--criterion", "max-iterations"],
        expect![[r#"
        1 other_paths any other path: infeasible
        1 path 3- 5- 7+ 7b+ 7+ 7b+ 7+ 7b+ 7-: covered
        1 path 3- 5- 7+ 7b+ 7+ 7b+ 7+ 7b+ 7+ 7b-: covered
        1 path 3+ 5- 7+ 7b+ 7+ 7b+ 7+ 7b+ 7+ 7b-: covered
        1 path 3+ 5- 7+ 7b+ 7+ 7b+ 7+ 7b+ 7-: covered
        1 path 3+ 5+ 7+ 7b+ 7+ 7b+ 7+ 7b+ 7+ 7b-: covered
        1 path 3+ 5+ 7+ 7b+ 7+ 7b+ 7+ 7b+ 7-: covered
    "#]],
    );
    check(
        LONGER,
        "unit",
        &["--criterion", "k-path", "-k", "1"],
        expect![[r#"
        1 other_paths any other path with at most 1 iterations of each loop: infeasible
        1 path 3- 5- 7-: covered
        1 path 3- 5- 7+ 7b+ 7-: covered
        1 path 3+ 5- 7-: covered
        1 path 3+ 5- 7+ 7b+ 7-: covered
        1 path 3+ 5+ 7-: covered
        1 path 3+ 5+ 7+ 7b+ 7-: covered
    "#]],
    );
}

pub fn paths_without_end_are_complete_within_a_bound() {
    check(
        LONGER,
        "endless",
        &["--criterion", "all-paths"],
        expect![[r#"
        11 other_paths any other path: infeasible_within_bounds
        11 path 12-: covered
        11 path 12+ 12-: covered
        11 path 12+ 12+ 12-: covered
        11 path 12+ 12+ 12+ 12-: covered
        11 path 12+ 12+ 12+ 12+ 12-: covered
        11 path 12+ 12+ 12+ 12+ 12+ 12-: covered
        11 path 12+ 12+ 12+ 12+ 12+ 12+ 12-: covered
        11 path 12+ 12+ 12+ 12+ 12+ 12+ 12+ 12-: covered
        11 path 12+ 12+ 12+ 12+ 12+ 12+ 12+ 12+ 12-: covered
    "#]],
    );
}

const COUPLED: &str = "int unit(int a, int b) {
    if ((a > 0 && b > 0) || a > 5)
        return 1;
    return a > 3 && a > 1;
}
";

pub fn a_condition_has_an_effect_where_two_evaluations_show_it() {
    check(
        COUPLED,
        "unit",
        &["--criterion", "multiple-condition"],
        expect![[r#"
        2 combination a > 0 true, b > 0 true true: covered
        2 combination a > 0 true, b > 0 false, a > 5 true true: covered
        2 combination a > 0 true, b > 0 false, a > 5 false false: covered
        2 combination a > 0 false, a > 5 true true: infeasible
        2 combination a > 0 false, a > 5 false false: covered
        4 combination a > 3 true, a > 1 true true: covered
        4 combination a > 3 true, a > 1 false false: infeasible
        4 combination a > 3 false false: covered
    "#]],
    );
    check(
        COUPLED,
        "unit",
        &["--criterion", "mcdc"],
        expect![[r#"
        2 effect a > 0: covered
        2 effect b > 0: covered
        2 effect a > 5: covered
        4 effect a > 3: covered
        4 effect a > 1: infeasible
    "#]],
    );
    check(
        COUPLED,
        "unit",
        &["--criterion", "mcdc-masking"],
        expect![[r#"
        2 effect a > 0: covered
        2 effect b > 0: covered
        2 effect a > 5: covered
        4 effect a > 3: covered
        4 effect a > 1: infeasible
    "#]],
    );
    let json = goals(COUPLED, "unit", &["--criterion", "mcdc"]);
    let first = &json["functions"][0]["goals"][0];
    expect![[r#"["a > 0 true, b > 0 true","a > 0 false, a > 5 false"]"#]].assert_eq(&first["pair"].to_string());
}

/// However long the events go on, the level stays within its limits.
const INVARIANT: &str = "int read_event(void);
int unit(void) {
    int level = 0;
    int event;
    while ((event = read_event()) != 0) {
        if (event > 0 && level < 3)
            level++;
        if (level > 3)
            return 1;
    }
    return level;
}
";

pub fn a_statement_behind_what_no_execution_takes_is_infeasible() {
    check(
        INVARIANT,
        "unit",
        &["--criterion", "statement"],
        expect![[r#"
            3 statement int level = 0: covered
            5 statement while ((event = read_event()) != 0): covered
            6 statement if (event > 0 && level < 3): covered
            7 statement level++: covered
            8 statement if (level > 3): covered
            9 statement return 1: infeasible
            11 statement return level: covered
        "#]],
    );
}

pub fn an_unknown_criterion_is_an_error_that_lists_the_known_ones() {
    let folder = folder::temporary();
    let run = tool::generate(&folder.path().join("unit.c"), &["--criterion", "brunch"], &[], folder.path());
    assert_eq!(run.status, Some(2));
    for name in ["branch", "statement", "decision", "condition", "condition/decision", "function", "call", "loop"] {
        assert!(run.errors.contains(name), "{name} is named in\n{}", run.errors);
    }
}

/// Stronger criteria and what they subsume.
const SUBSUMED: [(&str, &str); 12] = [
    ("branch", "condition/decision"),
    ("branch", "call"),
    ("condition/decision", "decision"),
    ("decision", "statement"),
    ("statement", "function"),
    ("multiple-condition", "mcdc"),
    ("mcdc", "condition"),
    ("minimal-all-paths", "minimal-all-decisions"),
    ("all-paths", "minimal-all-paths"),
    ("all-paths", "minimal-all-conditions"),
    ("all-paths", "def-use"),
    ("all-paths", "branch"),
];

pub fn stronger_criteria_cover_what_weaker_ones_ask() {
    let all: BTreeSet<&str> = SUBSUMED.iter().flat_map(|&(stronger, weaker)| [stronger, weaker]).collect();
    let all = all.into_iter().collect::<Vec<_>>().join(",");
    for program in [DECISIONS, COUPLED] {
        let json = goals(program, "unit", &["--criterion", &all]);
        for (stronger, weaker) in SUBSUMED {
            check_subsumed(&json["functions"][0], stronger, weaker);
        }
    }
}

/// The tests that the first criterion would keep alone cover all goals of the second that can be covered.
fn check_subsumed(function: &Json, stronger: &str, weaker: &str) {
    let of = |criterion: &str| -> Vec<&Json> {
        let goals = function["goals"].as_array().expect("goals").iter();
        goals.filter(|goal| goal["criterion"] == criterion && goal["verdict"] == "covered").collect()
    };
    let is_shown_by_a_pair = |goal: &Json| goal["kind"] == "effect";
    let tests = |goal: &Json| -> Vec<u64> {
        goal["tests"].as_array().expect("tests").iter().filter_map(Json::as_u64).collect()
    };
    let needed = |goal: &&Json| match is_shown_by_a_pair(goal) {
        true => tests(goal),
        false => tests(goal)[..1].to_vec(),
    };
    let kept: BTreeSet<u64> = of(stronger).iter().flat_map(needed).collect();
    for goal in of(weaker) {
        let covered = match is_shown_by_a_pair(goal) {
            true => tests(goal).iter().all(|test| kept.contains(test)),
            false => tests(goal).iter().any(|test| kept.contains(test)),
        };
        assert!(covered, "{stronger} misses {goal}");
    }
}

/// The first path of the document's example is that of this input.
const FIRST_PATH: &str = "# P1: 11- 11b+, and e is not found
A[0] = 1
A[1] = 2
e = 3
x = 2
";

pub fn the_first_path_is_that_of_the_seed_test() {
    let folder = folder::temporary();
    let seed = folder.path().join("seed");
    fs::write(&seed, FIRST_PATH).expect("the temporary folder can be written");
    let seed = seed.to_str().expect("a name that is text");
    let json = goals(WILLIAMS, "f", &["--criterion", "all-paths", "--seed-test", seed]);
    let first = &json["functions"][0]["goals"][1];
    assert_eq!(first["text"], "10- 10b+ 12+ 12b+ 13- 12+ 12b+ 13- 12- 19-", "{first}");
    for (criterion, refuted, redundant) in [("minimal-all-paths", 27, 3), ("minimal-all-conditions", 10, 1)] {
        let json = goals(WILLIAMS, "f", &["--criterion", criterion, "--seed-test", seed]);
        let function = &json["functions"][0];
        let work = |key: &str| function["work"][key].as_u64().expect("a number");
        assert_eq!(function["criteria"][0]["complete"], true, "{criterion}");
        assert!(work("infeasible_prefixes") <= refuted && work("redundant_tests") <= redundant, "{}", function["work"]);
    }
    let foreign = folder.path().join("foreign");
    fs::write(&foreign, "z = 1").expect("the temporary folder can be written");
    let file = folder.path().join("unit.c");
    fs::write(&file, WILLIAMS).expect("the temporary folder can be written");
    let arguments = ["--function", "f", "--seed-test", foreign.to_str().expect("a name that is text")];
    let run = tool::generate(&file, &arguments, &[], folder.path());
    let said = run.output + &run.errors;
    assert!(run.status != Some(0) && said.contains("the seed test names 'z', which is no input of f"), "{said}");
}

/// `count` conditionals in a row, each on a bit of its own.
fn row(count: u32) -> String {
    (0..count).map(|bit| format!("    if (x & {}u)\n        n += {};\n", 1_u32 << bit, bit + 1)).collect()
}

/// 2^16 paths through the callees, and three times as many for each of three decisions.
pub fn a_million_expanded_paths_are_few_abstract_ones() {
    let program = format!(
        "static int weight(unsigned x) {{
    int n = 0;
{}    return n;
}}
int unit(unsigned a, unsigned b, unsigned c) {{
    int n = weight(a) + weight(b);
    if (n > 5 || c == 7)
        n++;
    if ((c & 4) && (c & 8))
        n += 2;
    if (a > b || (c & 16))
        n += 4;
    return n;
}}
",
        row(8)
    );
    let complete = |criterion: &str| {
        let json = goals(&program, "unit", &["--criterion", criterion]);
        let function = &json["functions"][0];
        let work = function["work"]["paths"].as_u64().expect("a number");
        (function["criteria"][0]["complete"].as_bool().expect("a truth"), work)
    };
    let (paths_complete, paths) = complete("minimal-all-paths");
    assert!(paths_complete && paths < 50, "{paths}");
    let (mcdc_complete, paths) = complete("mcdc");
    assert!(mcdc_complete && paths < 50, "{paths}");
    let (all_complete, _) = complete("all-paths");
    assert!(!all_complete, "no run of 2000 steps takes a million paths");
}

pub fn twenty_conditionals_in_a_row_need_a_handful_of_tests() {
    let program = format!("int unit(unsigned x) {{\n    int n = 0;\n{}    return n;\n}}\n", row(20));
    for criterion in ["branch", "mcdc"] {
        let json = goals(&program, "unit", &["--criterion", criterion]);
        let function = &json["functions"][0];
        assert_eq!(function["criteria"][0]["complete"], true, "{criterion}");
        assert!(function["tests"].as_array().expect("tests").len() <= 4, "{criterion}");
    }
}

/// The suite is as small as the tests that were found allow, and says so.
pub fn a_small_suite_is_the_smallest() {
    let json = goals(DECISIONS, "unit", &["--criterion", "branch,boundary"]);
    let function = &json["functions"][0];
    assert_eq!(function["work"]["suite"]["smallest"], true);
    let kept = function["tests"].as_array().expect("tests").len() as u64;
    assert!(kept <= function["work"]["suite"]["candidates"].as_u64().expect("a number"));
    for goal in function["goals"].as_array().expect("goals").iter().filter(|goal| goal["verdict"] == "covered") {
        assert!(!goal["tests"].as_array().expect("tests").is_empty(), "{goal}");
    }
}

fn timed(most: u32) -> Json {
    let program = format!(
        "static int twice(int i) {{ return i + i; }}
int unit(int n) {{
    int s = 0;
    for (int i = 0; i < n && i < {most}; i++)
        s += twice(i);
    return s;
}}
"
    );
    goals(&program, "unit", &["--criterion", "max-iterations", "--measure"])["functions"][0]["timing"].take()
}

pub fn the_slowest_of_the_longest_paths_is_measured() {
    let timings = [3, 4, 5].map(timed);
    let slowest = timings.each_ref().map(|timing| timing["slowest"]["instructions"].as_u64().expect("a count"));
    assert_eq!(slowest[1] - slowest[0], slowest[2] - slowest[1], "every iteration takes the same: {slowest:?}");
    assert!(slowest[0] > 3 * 4 && slowest[1] - slowest[0] > 4, "callees count: {slowest:?}");
    for timing in &timings {
        let tests = timing["tests"].as_array().expect("tests").iter();
        assert_eq!(
            tests.filter_map(|test| test["instructions"].as_u64()).max(),
            timing["slowest"]["instructions"].as_u64()
        );
        assert!(timing["slowest"]["call"].as_str().is_some_and(|call| call.starts_with("unit(n = ")), "{timing}");
    }
    assert_eq!(timings[0], timed(3), "the same in every run");
}

pub fn only_longest_paths_are_measured() {
    let folder = folder::temporary();
    let file = folder.path().join("unit.c");
    fs::write(&file, LONGER).expect("the temporary folder can be written");
    let run = tool::generate(&file, &["--criterion", "branch", "--measure"], &[], folder.path());
    assert_eq!(run.status, Some(2), "{}", run.errors);
    assert!(run.errors.contains("add --criterion max-iterations or empty-else"), "{}", run.errors);
    let json = goals(LONGER, "endless", &["--criterion", "max-iterations"]);
    assert_eq!(json["functions"][0]["timing"], Json::Null);
}
