//! What tests shall cover.

/// A coverage criterion. `docs/criteria.md` defines each in terms of an abstract tree.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Criterion {
    Branch,
    Statement,
    Decision,
    Condition,
    ConditionDecision,
    Function,
    Call,
    Loop,
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
        }
    }
}
