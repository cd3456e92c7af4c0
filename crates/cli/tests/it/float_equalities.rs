//! Equalities that few floats satisfy, from the command line: each of these conditions is made true by a test, or proved never to be.

use crate::support::folder;
use crate::support::tool;
use std::fs;

use serde_json::Value as Json;

/// A name, parameters, and a condition that is a single goal for each of its operands.
const FOUND: [(&str, &str, &str); 30] = [
    ("thirds", "double x", "x == x / 3 + x / 3 + x / 3 && x > 1 && x != 3"),
    ("absorbed", "double x", "16.0 + x == 16.0 && x > 0"),
    ("hypotenuse", "double a, double b", "sqrt(a * a + b * b) == 5.0 && a > 1 && b > a"),
    ("near_top", "double x", "sin(x) > 0.99 && x * x < 3"),
    ("celsius", "double f", "(f - 32.0) * 5.0 / 9.0 == 37.5"),
    ("both_scales", "double c", "c * 9.0 / 5.0 + 32.0 == c"),
    ("cube", "double x", "x * x * x == 27.0"),
    ("reciprocal", "double x", "1.0 / x == x && x < 0"),
    ("circle", "double r", "3.141592653589793 * r * r == 78.53981633974483"),
    ("mean", "double a, double b", "(a + b) / 2 == 7.25 && a * b == 50.0625 && a < b"),
    ("sum_and_product", "double x, double y", "x + y == 10.0 && x * y == 21.0"),
    ("exponential", "double x", "exp(x) == 1.0 && x != 0"),
    ("logarithm", "double x", "log(x) == 0.0"),
    ("power", "double x", "pow(x, 3.0) == 8.0"),
    ("quarter", "double x", "floor(x) == 41.0 && x - floor(x) == 0.25"),
    ("rest", "double x", "fmod(x, 7.0) == 3.5 && x > 100"),
    ("narrow", "float x", "x * 3.0f == 1.0f"),
    ("widened", "float x, double y", "x == y && y * 8 == 1.5"),
    ("lost", "double x", "x + 1.0 == x && x < 1e17"),
    ("negative_zero", "double x", "x == 0.0 && 1.0 / x < 0"),
    ("smallest", "double x", "x > 0 && x / 2 == 0"),
    ("opposite", "double a, double b", "a + b == 0 && a * b == -2.25"),
    ("angle", "double y, double x", "atan2(y, x) == 0.0 && y == 0 && x > 3"),
    ("cancelled", "double x", "(1.0 + x) - 1.0 == 0.0 && x > 1e-17"),
    ("cut", "double x", "(int)(x * 100.0) == 1998 && x == 19.99"),
    ("not_associative", "double a, double b", "(a + b) + 0.3 != a + (b + 0.3) && a + b == 0.5"),
    ("wide_integer", "unsigned long n", "(double)n == 9007199254740992.0 && n != 9007199254740992"),
    ("percent", "double part, double all", "part / all * 100.0 == 12.5 && all == 48.0"),
    ("interest", "double rate", "1000.0 * (1.0 + rate) * (1.0 + rate) == 1210.0"),
    ("rounded_up", "float x", "(double)x > 0.1 && x == 0.1f"),
];

/// What no float satisfies, and how many operands of it are never true or never false.
const REFUTED: [(&str, &str, &str, usize); 8] = [
    ("root_of_two", "double x", "x * x == 2.0 && x > 0", 1),
    ("tenth", "double x", "x * 10.0 == 1.0 && x != 0.1", 1),
    ("no_single", "float x, double y", "x == y && y * 10 == 1.5", 1),
    ("below_full", "double x", "(int)(x * 100.0) == 1999 && x == 19.99", 1),
    ("three_quarters", "double x", "x > 0 && x < 1e300 && (x / 2 + x) / 2 == x && x > 1e-300", 1),
    ("middle", "double a, double b", "a < b && b < 1e300 && a > -1e300 && (a + b) / 2 > b", 1),
    (
        "between",
        "double a, double b, double t",
        "t >= 0 && t < 1 && a > 1 && b < 9 && b > 2 && a < 9 && a + t * (b - a) > 9",
        1,
    ),
    ("reciprocals", "double a, double b", "a > 0 && b > a && 1 / a - 1 / b < 0", 1),
];

fn run(conditions: impl Iterator<Item = (&'static str, &'static str, &'static str)>) -> Json {
    let folder = folder::temporary();
    let function = |(name, parameters, condition)| {
        format!("int {name}({parameters}) {{\n    if ({condition})\n        return 1;\n    return 0;\n}}\n")
    };
    let text: String = conditions.map(function).collect();
    let unit = folder.path().join("unit.c");
    fs::write(&unit, format!("#include <math.h>\n{text}")).expect("the temporary folder can be written");
    let arguments = ["--steps", "400", "--findings", "none"];
    tool::generate(&unit, &arguments, &[], folder.path()).json().expect("it runs")
}

/// By function: its name, and the verdicts of its goals.
fn verdicts(report: &Json) -> Vec<(&str, Vec<&str>)> {
    let functions = report["functions"].as_array().expect("functions");
    functions.iter().map(|function| (function["name"].as_str().expect("a name"), goals(function))).collect()
}

fn goals(function: &Json) -> Vec<&str> {
    let goals = function["goals"].as_array().expect("goals");
    goals.iter().filter_map(|goal| goal["verdict"].as_str()).collect()
}

pub fn what_few_floats_satisfy_is_found() {
    let report = run(FOUND.into_iter());
    let verdicts = verdicts(&report);
    assert_eq!(verdicts.len(), FOUND.len());
    for (name, goals) in verdicts {
        assert!(goals.len() >= 2 && goals.iter().all(|&verdict| verdict == "covered"), "{name}: {goals:?}");
    }
}

pub fn what_no_float_satisfies_is_proved() {
    let report = run(REFUTED.into_iter().map(|(name, parameters, condition, _)| (name, parameters, condition)));
    let verdicts = verdicts(&report);
    assert_eq!(verdicts.len(), REFUTED.len());
    for ((name, goals), (.., never)) in verdicts.into_iter().zip(REFUTED) {
        let infeasible = goals.iter().filter(|&&verdict| verdict == "infeasible").count();
        let covered = goals.iter().filter(|&&verdict| verdict == "covered").count();
        assert!(infeasible >= never && infeasible + covered == goals.len(), "{name}: {goals:?}");
    }
}
