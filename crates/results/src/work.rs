//! The cost of results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The work done for one function.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Paths that were executed.
    pub paths: u64,
    pub redundant_tests: u64,
    pub infeasible_prefixes: u64,
    /// Alternatives that cannot affect an open goal.
    pub skipped_alternatives: u64,
    /// Queries by the solver's layer that settled them.
    pub solver_calls: BTreeMap<String, u64>,
    pub instructions: u64,
    /// Queries about faults.
    pub fault_queries: u64,
    /// Edges whose outcomes are goals, and the unconstrained ones among them.
    pub edges: u64,
    pub unconstrained_edges: u64,
    /// Goals that the search aimed at first.
    pub aimed: u64,
    pub suite: SuiteWork,
    pub trees: TreeWork,
    /// The time of the search. A function's file leaves it out, so that equal results have equal bytes; the index has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// The choice of a suite.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteWork {
    /// The tests that it was chosen from.
    pub candidates: u64,
    /// No smaller choice covers as much.
    pub smallest: bool,
}

/// The cost and the gain of execution trees.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeWork {
    pub grown: u64,
    /// Trees that a limit kept from being whole.
    pub partial: u64,
    /// Paths to goals, and the lines of the program on them.
    pub paths: u64,
    pub lines: u64,
    pub nodes: u64,
    /// Inputs in the conditions.
    pub symbols: u64,
    /// Conditions that the linear layer decided.
    pub linear: u64,
    /// Conditions that the chain of solvers decided.
    pub smt: u64,
    pub undecided: u64,
    /// Decided conditions that no input satisfies.
    pub refuted: u64,
    /// Inputs that did not reach their goal.
    pub missed: u64,
}

/// Instructions of the tests of longest paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    pub method: String,
    pub tests: Vec<TestTiming>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<Slowest>,
    /// The reason why nothing was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// The instructions of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestTiming {
    pub test: u32,
    /// Null for a test that does not return in time.
    pub instructions: Option<u64>,
}

/// The test that executes most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slowest {
    pub test: u32,
    pub instructions: u64,
    /// The call as C would write it.
    pub call: Option<String>,
}
