//! `report.json` and the files of the functions beside it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::function::is_false;
use crate::{Completeness, Finding, Function, Goal, Language, Replay, Run, Summary};

/// The content of `report.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Index {
    pub version: u32,
    pub format: IndexFormat,
    pub run: Run,
    /// In the order of the files, and of the functions within them.
    pub functions: Vec<IndexedFunction>,
    pub findings: Vec<IndexedFinding>,
    pub replay: Replay,
}

/// Tells an index from a whole report.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexFormat {
    Index,
}

/// A function, and where its file is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexedFunction {
    pub name: String,
    pub file: String,
    pub line: u32,
    pub language: Language,
    pub summary: Summary,
    /// One entry for each criterion.
    pub criteria: Vec<Completeness>,
    /// The lines that have goals, one entry for each source file.
    pub places: Vec<Lines>,
    /// The time of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// An interrupt ended the search.
    #[serde(default, skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// The reason why the whole function could not be treated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The function's file, relative to the folder of the index.
    pub details: String,
    /// The SHA-256 of that file's bytes.
    pub sha256: String,
}

/// The lines of a source file from the first goal to the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lines {
    pub file: String,
    pub first: u32,
    pub last: u32,
}

/// A finding without its input, and where that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexedFinding {
    pub kind: String,
    pub file: String,
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// The test of the suite that shows it, where there is one.
    pub test: Option<u32>,
    pub message: String,
    /// The function whose input shows it.
    pub function: String,
    /// The file of that function.
    pub function_file: String,
    /// A native run or a sanitizer shows it.
    pub confirmed: bool,
    /// The file with the whole finding, relative to the folder of the index.
    pub details: String,
    /// The position among the findings of that file, from 0.
    pub position: usize,
}

/// The content of a function's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionFile {
    pub version: u32,
    pub format: FunctionFormat,
    pub function: Function,
    /// The findings that inputs of this function show.
    pub findings: Vec<Finding>,
}

/// Tells a function's file from other objects.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FunctionFormat {
    Function,
}

impl IndexedFunction {
    pub(crate) fn new(function: &Function, details: String, sha256: String) -> Self {
        IndexedFunction {
            name: function.name.clone(),
            file: function.file.clone(),
            line: function.line,
            language: function.language,
            summary: function.summary,
            criteria: function.criteria.clone(),
            places: places(&function.goals),
            seconds: function.work.seconds,
            interrupted: function.interrupted,
            trouble: function.trouble.clone(),
            details,
            sha256,
        }
    }
}

fn places(goals: &[Goal]) -> Vec<Lines> {
    let mut places: Vec<Lines> = Vec::new();
    for goal in goals {
        match places.iter_mut().find(|lines| lines.file == goal.file) {
            Some(lines) => {
                lines.first = lines.first.min(goal.line);
                lines.last = lines.last.max(goal.line);
            }
            None => places.push(Lines { file: goal.file.clone(), first: goal.line, last: goal.line }),
        }
    }
    places
}

impl IndexedFinding {
    pub(crate) fn new(finding: &Finding, details: String, position: usize) -> Self {
        IndexedFinding {
            kind: finding.kind.clone(),
            file: finding.file.clone(),
            line: finding.line,
            column: finding.column,
            test: finding.test,
            message: finding.message.clone(),
            function: finding.function.clone(),
            function_file: finding.function_file.clone(),
            confirmed: finding.confirmed,
            details,
            position,
        }
    }
}
