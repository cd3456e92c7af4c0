//! How a goal ends.

use serde::{Deserialize, Serialize};

use crate::Assumption;

/// Number of a test within its function, from 1.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TestId(pub u32);

/// A goal ends as exactly one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// By these tests, replayed and measured.
    Covered {
        tests: Vec<TestId>,
    },
    /// No input that the declared domains allow takes it.
    Infeasible(Evidence),
    /// No input within these bounds takes it.
    InfeasibleWithinBounds {
        bounds: Vec<Bound>,
        evidence: Evidence,
    },
    Unknown(UnknownReason),
}

/// Why no input can take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// How it was shown, e.g. "every path was explored".
    pub proof: String,
    /// Paths executed and prefixes refuted in that proof.
    pub paths: u64,
    pub refuted_prefixes: u64,
    /// The statements that the proof takes for granted.
    pub assumptions: Vec<Assumption>,
    /// Of a path: its shortest prefix that no input takes.
    pub infeasible_prefix: Option<String>,
}

/// A bound that cut the search.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bound {
    /// E.g. "iterations of the loop at shape.c:12", "elements behind pointer 'p'".
    pub what: String,
    pub limit: u64,
}

/// What stopped us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownReason {
    /// One sentence.
    pub reason: String,
    /// The condition that blocks, as text, where one is known.
    pub blocking: Option<String>,
    /// Solver calls and paths spent.
    pub paths: u64,
    pub solver_calls: u64,
    /// The test that came closest.
    pub closest: Option<TestId>,
}

impl UnknownReason {
    /// Something was in the way before anything was tried.
    pub fn trouble(reason: String) -> Self {
        UnknownReason { reason, blocking: None, paths: 0, solver_calls: 0, closest: None }
    }
}

impl Verdict {
    /// As the JSON names it.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Covered { .. } => "covered",
            Verdict::Infeasible(_) => "infeasible",
            Verdict::InfeasibleWithinBounds { .. } => "infeasible_within_bounds",
            Verdict::Unknown(_) => "unknown",
        }
    }
}
