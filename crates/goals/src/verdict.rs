//! How a goal ends.

use branchwise_program::assumption::{Assumption, KnownAssumption};
use serde::{Deserialize, Serialize};

/// Number of a test within its function, from 1.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TestId(pub u32);

/// A goal ends as exactly one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// By these tests, replayed and measured.
    Covered {
        tests: Vec<TestId>,
        /// The undefined behaviour that comes before it in each of them, such as `signed overflow at 33:20`. `None` where a test
        /// reaches it without.
        through: Option<String>,
    },
    /// No execution takes it, under the preconditions that the user states.
    Infeasible(Evidence),
    /// No input takes it within these bounds, and under the assumptions of the evidence.
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

impl Evidence {
    /// Tells whether it rests on nothing that the user has not stated.
    pub fn is_plain(&self) -> bool {
        self.assumptions.iter().all(|assumption| assumption.accepted)
    }

    /// The assumptions that the user has not accepted.
    pub fn open_assumptions(&self) -> impl Iterator<Item = &Assumption> {
        self.assumptions.iter().filter(|assumption| !assumption.accepted)
    }
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
    /// The verdict that no execution takes a goal, by evidence that holds within bounds. It is plain only without bounds, and
    /// where the user accepts every assumption of the evidence. No other place makes these verdicts.
    pub fn excluded(evidence: Evidence, bounds: Vec<Bound>) -> Self {
        match bounds.is_empty() && evidence.is_plain() {
            true => Verdict::Infeasible(evidence),
            false => Verdict::InfeasibleWithinBounds { bounds, evidence },
        }
    }

    /// The verdict where it also rests on these bounds and assumptions. Others than those that exclude do not change.
    pub fn resting_on(self, more: &[Bound], assumptions: &[Assumption]) -> Self {
        let (mut bounds, mut evidence) = match self {
            Verdict::Infeasible(evidence) => (Vec::new(), evidence),
            Verdict::InfeasibleWithinBounds { bounds, evidence } => (bounds, evidence),
            other => return other,
        };
        bounds.extend_from_slice(more);
        bounds.sort();
        bounds.dedup();
        evidence.assumptions.extend_from_slice(assumptions);
        evidence.assumptions.sort();
        evidence.assumptions.dedup();
        Verdict::excluded(evidence, bounds)
    }

    /// The verdict where the user states an assumption, whatever its subject.
    pub fn given(self, known: KnownAssumption) -> Self {
        let (bounds, evidence) = match self {
            Verdict::InfeasibleWithinBounds { bounds, evidence } => (bounds, evidence),
            other => return other,
        };
        let stated = |assumption| if known.is(&assumption) { assumption.stated() } else { assumption };
        let assumptions = evidence.assumptions.into_iter().map(stated).collect();
        Verdict::excluded(Evidence { assumptions, ..evidence }, bounds)
    }

    /// Tells whether it is infeasible within bounds, where no bound is a number: assumptions alone limit it.
    pub fn is_under_assumptions_alone(&self) -> bool {
        matches!(self, Verdict::InfeasibleWithinBounds { bounds, .. } if bounds.is_empty())
    }

    /// Tells whether tests reach it only behind undefined behaviour.
    pub fn is_only_undefined(&self) -> bool {
        matches!(self, Verdict::Covered { through: Some(_), .. })
    }

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
