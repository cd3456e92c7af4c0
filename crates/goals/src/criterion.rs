//! What tests shall cover.

use serde::{Deserialize, Serialize};

/// A coverage criterion. `docs/criteria.md` defines each in terms of an abstract tree.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Criterion {
    Branch,
    Statement,
    Decision,
    Condition,
    ConditionDecision,
    Function,
    Call,
    Loop,
    MultipleCondition,
    Mcdc,
    McdcMasking,
    /// Single paths that somebody names.
    Path,
    AllPaths,
    KPath,
    MinimalAllPaths,
    MinimalAllConditions,
    MinimalAllDecisions,
    EmptyElse,
    MaxIterations,
    Boundary,
    Labels,
    DefUse,
}

impl Criterion {
    /// As the command line and the JSON name it.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Branch => "branch",
            Criterion::Statement => "statement",
            Criterion::Decision => "decision",
            Criterion::Condition => "condition",
            Criterion::ConditionDecision => "condition/decision",
            Criterion::Function => "function",
            Criterion::Call => "call",
            Criterion::Loop => "loop",
            Criterion::MultipleCondition => "multiple-condition",
            Criterion::Mcdc => "mcdc",
            Criterion::McdcMasking => "mcdc-masking",
            Criterion::Path => "path",
            Criterion::AllPaths => "all-paths",
            Criterion::KPath => "k-path",
            Criterion::MinimalAllPaths => "minimal-all-paths",
            Criterion::MinimalAllConditions => "minimal-all-conditions",
            Criterion::MinimalAllDecisions => "minimal-all-decisions",
            Criterion::EmptyElse => "empty-else",
            Criterion::MaxIterations => "max-iterations",
            Criterion::Boundary => "boundary",
            Criterion::Labels => "labels",
            Criterion::DefUse => "def-use",
        }
    }

    /// Its goals are outcomes of the unit under test that the graph of its structure leads to: breadth first finds them.
    pub fn is_minimal_on_arcs(self) -> bool {
        matches!(self, Criterion::MinimalAllConditions | Criterion::MinimalAllDecisions)
    }
}
