//! Criteria turn the map into goals; the ledger keeps the verdict of each.
//!
//! This crate knows the map and nothing of execution, solvers or processes.

mod aim;
mod branch;
mod ledger;
mod verdict;

pub use aim::Aim;
pub use branch::branch_goals;
pub use ledger::Ledger;
pub use verdict::{Bound, Evidence, TestId, UnknownReason, Verdict};

use branchwise_program::map::{Event, Place};
use branchwise_program::{FunctionId, MarkerId};

/// Position of a goal in its ledger.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoalId(pub u32);

/// Something that a test shall do: for the criterion `branch`, one outcome as llvm-cov counts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    pub function: FunctionId,
    pub kind: GoalKind,
    pub marker: MarkerId,
    pub outcome: bool,
    /// In the user's file, where the condition or label stands.
    pub place: Place,
    /// Where llvm-cov reports it.
    pub spelled: Place,
    /// The condition or label as the user wrote it.
    pub text: String,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum GoalKind {
    /// A leaf condition is true, or false.
    Condition,
    /// The switch jumps to the label with this index (true), or elsewhere (false).
    Label(u32),
    /// The switch has no `default` and jumps past all labels (true), or to one (false).
    ImplicitDefault(u32),
}

impl GoalKind {
    /// As the JSON names it.
    pub fn name(self) -> &'static str {
        match self {
            GoalKind::Condition => "condition",
            GoalKind::Label(_) => "case",
            GoalKind::ImplicitDefault(_) => "default",
        }
    }
}

impl Goal {
    /// Whether this event of a trace reaches the goal.
    pub fn reached_by(&self, event: Event) -> bool {
        let matches = match self.kind {
            GoalKind::Condition => event.outcome == 1,
            GoalKind::Label(label) | GoalKind::ImplicitDefault(label) => event.outcome == label,
        };
        event.marker == self.marker && matches == self.outcome
    }
}
