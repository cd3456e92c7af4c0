//! The measures of the native runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The measures over all functions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The first line of the compiler's `--version`.
    pub compiler: String,
    /// As llvm-cov counts them in the functions under test.
    pub branch_outcomes: u64,
    /// By the log of the native runs.
    pub covered: u64,
    pub covered_llvm_cov: u64,
    pub disagreements: Vec<Disagreement>,
    /// The confinement of the native runs; absent where nothing ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
}

/// A difference between prediction, run and measure: a fault of Branchwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    pub function: String,
    pub test: Option<u32>,
    pub what: String,
    /// The call that shows it, where no test does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// The confinement of native runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sandbox {
    /// The user's choice.
    pub mode: String,
    /// The layer that guards files.
    pub files: String,
    /// The layer that guards system calls.
    pub calls: String,
    pub namespaces: Vec<String>,
    /// Layers that the machine does not have.
    pub missing: Vec<String>,
}
