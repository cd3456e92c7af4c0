//! A function under test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Goal, Test, Timing, Work};

/// All results for one function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Function {
    pub name: String,
    pub file: String,
    pub line: u32,
    pub language: Language,
    pub summary: Summary,
    /// One entry for each criterion.
    pub criteria: Vec<Completeness>,
    pub goals: Vec<Goal>,
    pub tests: Vec<Test>,
    pub work: Work,
    /// With `--measure`: the instructions of the tests of longest paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// The conditions that the user demands of inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<String>,
    /// An interrupt ended the search.
    #[serde(default, skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// The reason why the whole function could not be treated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// Lets a flag stand in JSON only where it is set.
pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

/// Lets a number stand in JSON only where there is something to count.
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// The language of a function.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Language {
    #[serde(rename = "c")]
    C,
    #[serde(rename = "c++")]
    Cpp,
}

/// The number of goals by verdict, and of tests.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub goals: usize,
    pub covered: usize,
    /// Those of them that tests reach only behind undefined behaviour, where there are some. Percentages leave them out.
    #[serde(default, skip_serializing_if = "is_none")]
    pub through_undefined: usize,
    pub infeasible: usize,
    pub infeasible_within_bounds: usize,
    /// Those of them that no bound in numbers limits, but assumptions alone.
    #[serde(default)]
    pub under_assumptions_alone: usize,
    pub unknown: usize,
    pub tests: usize,
    /// Those of them that are reproducers, where there are some.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reproducers: usize,
}

/// How far the tests of a function satisfy a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completeness {
    /// The name of the criterion.
    pub name: String,
    pub goals: usize,
    /// Every goal is covered or infeasible.
    pub complete: bool,
    /// Goals that are infeasible within bounds.
    pub within_bounds: Vec<u32>,
    /// Goals that are unknown.
    pub open: Vec<u32>,
}
