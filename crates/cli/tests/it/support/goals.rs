//! The goals of a program that a test writes, from the command line.

use crate::support::folder;
use std::fs;

use expect_test::Expect;
use serde_json::Value as Json;

use super::tool;

/// Every goal of a function with its verdict, one line each; a disagreement is an error.
pub fn goals(program: &str, function: &str, arguments: &[&str]) -> Json {
    let folder = folder::temporary();
    let file = folder.path().join("unit.c");
    fs::write(&file, program).expect("the temporary folder can be written");
    let mut all = vec!["--function", function, "--steps", "2000", "--findings", "none"];
    all.extend(arguments);
    let json = tool::generate(&file, &all, &[], folder.path()).json().expect("it runs");
    assert_eq!(json["replay"]["disagreements"], Json::Array(Vec::new()));
    json
}

pub fn check(program: &str, function: &str, arguments: &[&str], expected: Expect) {
    let json = goals(program, function, arguments);
    let mut lines = String::new();
    for goal in json["functions"][0]["goals"].as_array().expect("goals") {
        let outcome = goal["outcome"].as_bool().map_or(String::new(), |outcome| format!(" {outcome}"));
        let text = |key: &str| goal[key].as_str().unwrap_or_default().to_string();
        lines += &format!("{} {} {}{outcome}: {}\n", goal["line"], text("kind"), text("text"), text("verdict"));
    }
    expected.assert_eq(&lines);
}
