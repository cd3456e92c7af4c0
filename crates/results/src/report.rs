//! The results of a whole run as one object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, Function, Replay, Run};

/// The object that `branchwise generate --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub version: u32,
    pub format: ReportFormat,
    pub run: Run,
    /// In the order of the files, and of the functions within them.
    pub functions: Vec<Function>,
    pub findings: Vec<Finding>,
    pub replay: Replay,
}

/// Tells a whole report from an index.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    Report,
}
