//! A test of the suite.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Constraint;

/// One input of a function, and the native run with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// The number of the test within its function.
    pub id: u32,
    /// The inputs by name, as values that read like those of C. In a function's file, eight or more equal elements of an array
    /// stand as one, `{"(times)": 573, "(value)": 0}`.
    pub inputs: Map<String, Value>,
    /// The end of the call, its result and its effects.
    pub observed: Map<String, Value>,
    /// The decisions of the native run; `path_length` counts those that are left out at the end, too.
    pub path: Vec<Step>,
    pub path_length: usize,
    /// The decisions from the call under test on, in the form that `--path` reads.
    pub path_text: String,
    pub constraint: Constraint,
    pub source: String,
    /// All that the test is kept for lies behind undefined behaviour. It is no part of the emitted suite, and stands in a file of
    /// its own.
    #[serde(default, skip_serializing_if = "crate::function::is_false")]
    pub reproducer: bool,
    /// The goals that the test reaches.
    pub covers: Vec<u32>,
    /// The goals that no earlier test of the suite reaches.
    pub kept_for: Vec<u32>,
    /// The function that the test calls, where it is not the one under test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<String>,
}

/// One decision of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The number of the condition, label or handler within its file.
    pub marker: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// The way that a decision went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Outcome {
    /// Of a condition.
    Truth(bool),
    /// The label of a switch, or `catch`.
    Label(String),
}
