//! Criteria that ask about values (`boundary`, `labels`) and variables (`def-use`), from the command line.

use crate::support::goals as support;
use expect_test::expect;

use support::{check, goals};

const BOUNDARIES: &str = "void branchwise_label(int);
static int below(signed char c, unsigned b) { return !(c < b); }
int unit(int a, unsigned char b, double d, float *f) {
    int n = 0;
    while (n < 3 && a >= n)
        n++;
    if (a == 2147483647 || d > 1.5)
        n += 8;
    if (f && *f <= 0.0f && b > 254)
        n += 16;
    branchwise_label(n == 27);
    branchwise_label(n == 8 && b == 7);
    branchwise_label(n == 9 && a > 0);
    return n + (below(a, b) ? 1 : 0);
}
";

pub fn a_comparison_has_equal_operands_and_neighbours() {
    check(
        BOUNDARIES,
        "unit",
        &["--criterion", "boundary", "--scope", "reachable"],
        expect![[r#"
            5 boundary n < 3: equal: covered
            5 boundary n < 3: just below: covered
            5 boundary n < 3: just above: infeasible
            5 boundary a >= n: equal: covered
            5 boundary a >= n: just below: covered
            5 boundary a >= n: just above: covered
            7 boundary a == 2147483647: equal: covered
            7 boundary a == 2147483647: just below: covered
            7 boundary a == 2147483647: just above: infeasible
            7 boundary d > 1.5: equal: covered
            7 boundary d > 1.5: just below: covered
            7 boundary d > 1.5: just above: covered
            9 boundary *f <= 0.0f: equal: covered
            9 boundary *f <= 0.0f: just below: covered
            9 boundary *f <= 0.0f: just above: covered
            9 boundary b > 254: equal: covered
            9 boundary b > 254: just below: covered
            9 boundary b > 254: just above: covered
            12 boundary n == 8: equal: covered
            12 boundary n == 8: just below: infeasible
            12 boundary n == 8: just above: covered
            12 boundary b == 7: equal: covered
            12 boundary b == 7: just below: covered
            12 boundary b == 7: just above: covered
            13 boundary n == 9: equal: covered
            13 boundary n == 9: just below: covered
            13 boundary n == 9: just above: covered
            13 boundary a > 0: equal: covered
            13 boundary a > 0: just below: infeasible
            13 boundary a > 0: just above: infeasible
        "#]],
    );
}

pub fn a_label_of_the_user_is_a_goal() {
    check(
        BOUNDARIES,
        "unit",
        &["--criterion", "labels"],
        expect![[r#"
        11 label n == 27: covered
        12 label n == 8 && b == 7: covered
        13 label n == 9 && a > 0: infeasible
    "#]],
    );
}

/// What a comparison does at its boundary is what every input shows that reaches it: all of them are tried.
pub fn boundaries_that_are_infeasible_never_happen() {
    const PROGRAM: &str = "int unit(signed char a, signed char b) {
    int n = 0;
    if (a * 3 == b)
        n = 1;
    if (a + b > 100 && a < b - 50)
        n = 2;
    if ((unsigned char)(a ^ b) <= 2)
        n = 3;
    return n;
}
";
    type Operands = fn(i32, i32) -> Option<(i32, i32)>;
    let comparisons: [(&str, Operands); 4] = [
        ("a * 3 == b", |a, b| Some((a * 3, b))),
        ("a + b > 100", |a, b| Some((a + b, 100))),
        ("a < b - 50", |a, b| (a + b > 100).then_some((a, b - 50))),
        ("(unsigned char)(a ^ b) <= 2", |a, b| Some(((a ^ b) & 0xff, 2))),
    ];
    let json = goals(PROGRAM, "unit", &["--criterion", "boundary"]);
    let inputs = || (-128..128).flat_map(|a| (-128..128).map(move |b| (a, b)));
    let reported = json["functions"][0]["goals"].as_array().expect("goals");
    assert_eq!(reported.len(), 3 * comparisons.len());
    for (text, operands) in comparisons {
        for (word, distance) in [("equal", 0), ("just below", -1), ("just above", 1)] {
            let text = format!("{text}: {word}");
            let happens = inputs().filter_map(|(a, b)| operands(a, b)).any(|(left, right)| left - right == distance);
            let goal = reported.iter().find(|goal| goal["text"] == text.as_str()).expect("a goal for each");
            assert_eq!(goal["verdict"], if happens { "covered" } else { "infeasible" }, "{text}");
        }
    }
}

const DEFINITIONS: &str = "static int kept;
int unit(int a, int n) {
    int x = a, y;
    if (a > 3)
        x = 2 * a;
    y = a > 9 ? x : n;
    while (n-- > 0)
        x += y;
    if (x < 5 && a > 3)
        kept = kept + 1;
    switch (y) {
    case 1: x++;
    default: y = (x = 3);
    }
    return x + y;
}
";

pub fn a_definition_reaches_the_uses_that_it_can_reach() {
    check(
        DEFINITIONS,
        "unit",
        &["--criterion", "def-use"],
        expect![[r#"
        10 def_use kept of line 2 in kept = kept + 1: covered
        3 def_use a of line 2 in int x = a, y: covered
        4 def_use a of line 2 in a > 3 false: covered
        4 def_use a of line 2 in a > 3 true: covered
        5 def_use a of line 2 in x = 2 * a: covered
        6 def_use a of line 2 in a > 9 false: covered
        6 def_use a of line 2 in a > 9 true: covered
        9 def_use a of line 2 in a > 3 false: covered
        9 def_use a of line 2 in a > 3 true: covered
        7 def_use n of line 2 in n-- > 0 false: covered
        7 def_use n of line 2 in n-- > 0 true: covered
        7 def_use n of line 7 in n-- > 0 false: covered
        7 def_use n of line 7 in n-- > 0 true: covered
        8 def_use x of line 3 in x += y: covered
        9 def_use x of line 3 in x < 5 false: infeasible_within_bounds
        9 def_use x of line 3 in x < 5 true: covered
        12 def_use x of line 3 in x++: infeasible_within_bounds
        8 def_use x of line 5 in x += y: covered
        9 def_use x of line 5 in x < 5 false: covered
        9 def_use x of line 5 in x < 5 true: covered
        12 def_use x of line 5 in x++: infeasible_within_bounds
        8 def_use x of line 8 in x += y: covered
        9 def_use x of line 8 in x < 5 false: covered
        9 def_use x of line 8 in x < 5 true: covered
        12 def_use x of line 8 in x++: covered
        15 def_use x of line 13 in return x + y: covered
        8 def_use y of line 6 in x += y: covered
        11 def_use y of line 6 in switch (y) (outcome 0): covered
        11 def_use y of line 6 in switch (y) (outcome 1): covered
        15 def_use y of line 13 in return x + y: covered
    "#]],
    );
}
