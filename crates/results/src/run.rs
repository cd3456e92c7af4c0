//! How results were made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Versions, options and sources of a run. Choices that no result depends on, such as `--jobs`, are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The version of Branchwise.
    pub branchwise: String,
    /// The first line of the compiler's `--version`; empty where nothing was compiled.
    pub compiler: String,
    pub options: Options,
    /// The files under test, with their flags and hashes.
    pub sources: Vec<Source>,
}

/// The choices of the user: command line, then configuration, then defaults.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Options {
    pub criteria: Vec<String>,
    pub scope: String,
    pub strategy: String,
    pub aim: String,
    pub findings: String,
    /// Executions end where arithmetic is undefined.
    #[serde(default, skip_serializing_if = "crate::function::is_false")]
    pub forbid_undefined: bool,
    pub seed: u64,
    /// The budget of each function that has none of its own in the configuration.
    pub budget: Budget,
    pub memory_megabytes: u64,
    /// Repetitions in execution trees and k-paths.
    pub k: u32,
    pub data_dependence: bool,
    /// The share of each function's time, in percent, in which what is called infeasible is attacked; where the user chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attack: Option<f64>,
    /// Instructions of tests of longest paths are counted.
    pub measure: bool,
    pub set_statics: bool,
    /// The assumptions that the user accepts, as `--assume` names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assume: Vec<String>,
    /// The functions that the command line names; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// The only goals, where the command line names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_calls: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_solver: Option<String>,
    /// The file with preconditions, domains and settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigFile>,
}

/// A configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigFile {
    pub path: String,
    /// The SHA-256 of the file's bytes.
    pub sha256: String,
}

/// A limit of the search for each function.
#[derive(Debug, Copy, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// Executed paths and refuted prefixes; results repeat.
    Steps(u64),
    /// Results depend on the machine.
    Time(f64),
}

impl Default for Budget {
    fn default() -> Self {
        Budget::Steps(0)
    }
}

/// A file under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// As the user named it.
    pub path: String,
    /// The compiler flags.
    pub flags: Vec<String>,
    /// The SHA-256 of the file's bytes.
    pub sha256: String,
    /// A hash of 128 bits (FNV-1a) of all that is read: the file with its includes, flags, preconditions and linked files.
    /// It depends on the folder that the file is in and on the version of Branchwise.
    pub fingerprint: String,
}
