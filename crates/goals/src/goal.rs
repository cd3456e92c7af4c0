//! What a test shall do, and what a trace must contain to do it.

use branchwise_program::map::{Event, Map, Place, Reading};
use branchwise_program::{FunctionId, Id, MarkerId, NodeId};
use serde::{Deserialize, Serialize};

use crate::Criterion;

/// Position of a goal in its ledger.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GoalId(pub u32);

/// Something that a test shall do: for the criterion `branch`, one outcome as llvm-cov counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    pub function: FunctionId,
    pub criterion: Criterion,
    pub kind: GoalKind,
    /// `None` where it is not one of two outcomes.
    pub outcome: Option<bool>,
    /// In the user's file, where the condition, label or statement stands.
    pub place: Place,
    /// Where llvm-cov reports it.
    pub spelled: Place,
    /// The condition, label or statement as the user wrote it.
    pub text: String,
    pub needs: Needs,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GoalKind {
    /// A leaf condition is true, or false.
    Condition,
    /// The switch jumps to the label with this index (true), or elsewhere (false).
    Label(u32),
    /// The switch has no `default` and jumps past all labels (true), or to one (false).
    ImplicitDefault(u32),
    /// A whole condition of the source, with all its connectives, is true, or false.
    Decision,
    Statement,
    /// A function is entered.
    Function,
    Call,
    /// A loop of the function, by its index, makes this many iterations from an entry to its end.
    Loop(usize, Iterations),
    /// All conditions of a decision that are evaluated have these outcomes.
    Combination,
    /// A condition alone makes its decision true, and false.
    Effect,
    /// The operands of a comparison are equal, or neighbours.
    Boundary,
    /// A label of the user holds.
    UserLabel,
    /// A definition of a variable reaches a use, by their index among those of the function.
    DefUse(usize),
    /// A path from entry to end, as abstract as its criterion.
    Path,
    /// Any path that is not among the goals.
    OtherPaths,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Iterations {
    Zero,
    One,
    /// Two or more.
    Many,
}

/// What every trace that reaches a goal contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Needs {
    /// The outcome of this marker that the goal's kind names, and no more.
    Outcome(MarkerId),
    /// One of these events, and no more.
    AnyOf(Vec<Event>),
    /// One of these events or nodes of the goal's function; whether it is enough, only the whole trace tells. No choice
    /// behind the last of them matters.
    Trace { events: Vec<Event>, nodes: Vec<NodeId> },
    /// These events in one evaluation of their decision, and no others.
    Evaluation(Vec<Event>),
    /// Both evaluations of one of these pairs, in the same test or in different ones.
    Pairs(Vec<(Vec<Event>, Vec<Event>)>),
    /// A probe of this node has this answer, and no more.
    Reading { reading: Reading, node: NodeId },
    /// Its trace begins with these events, where the unit under test begins.
    Prefix(Vec<Event>),
    /// It is a whole path, or all that are left.
    Path,
}

impl GoalKind {
    /// As the JSON names it.
    pub fn name(self) -> &'static str {
        match self {
            GoalKind::Condition => "condition",
            GoalKind::Label(_) => "case",
            GoalKind::ImplicitDefault(_) => "default",
            GoalKind::Decision => "decision",
            GoalKind::Statement => "statement",
            GoalKind::Function => "function",
            GoalKind::Call => "call",
            GoalKind::Loop(..) => "loop",
            GoalKind::Combination => "combination",
            GoalKind::Effect => "effect",
            GoalKind::Boundary => "boundary",
            GoalKind::UserLabel => "label",
            GoalKind::DefUse(_) => "def_use",
            GoalKind::Path => "path",
            GoalKind::OtherPaths => "other_paths",
        }
    }
}

impl Goal {
    /// Whether this event of a trace reaches the goal.
    pub fn reached_by(&self, event: Event) -> bool {
        match &self.needs {
            Needs::Outcome(marker) => event.marker == *marker && self.is_taken(event.outcome) == self.outcome,
            Needs::AnyOf(events) => events.contains(&event),
            Needs::Trace { .. }
            | Needs::Evaluation(_)
            | Needs::Pairs(_)
            | Needs::Reading { .. }
            | Needs::Prefix(_)
            | Needs::Path => false,
        }
    }

    fn is_taken(&self, outcome: u32) -> Option<bool> {
        match self.kind {
            GoalKind::Label(label) | GoalKind::ImplicitDefault(label) => Some(outcome == label),
            _ => Some(outcome == 1),
        }
    }

    /// Whether this event reaches the goal or may be a part of what does.
    pub fn helped_by(&self, event: Event) -> bool {
        match &self.needs {
            Needs::Trace { events, .. } | Needs::Evaluation(events) => events.contains(&event),
            _ => self.reached_by(event),
        }
    }

    /// The markers of the events that reach or help it.
    pub fn markers(&self) -> Vec<MarkerId> {
        let mut markers = match &self.needs {
            Needs::Outcome(marker) => return vec![*marker],
            Needs::Pairs(_) | Needs::Reading { .. } | Needs::Prefix(_) | Needs::Path => return Vec::new(),
            Needs::AnyOf(events) | Needs::Trace { events, .. } | Needs::Evaluation(events) => {
                events.iter().map(|event| event.marker).collect::<Vec<_>>()
            }
        };
        markers.sort();
        markers.dedup();
        markers
    }

    /// The nodes of its function that lead to it, beside its events.
    pub fn nodes(&self) -> &[NodeId] {
        match &self.needs {
            Needs::Trace { nodes, .. } => nodes,
            Needs::Reading { node, .. } => std::slice::from_ref(node),
            _ => &[],
        }
    }

    /// The nodes of its function one of which every trace that reaches it runs, where no event can stand for them.
    pub fn needed_nodes(&self) -> Option<&[NodeId]> {
        match &self.needs {
            Needs::Trace { events, nodes } if events.is_empty() && !nodes.is_empty() => Some(nodes),
            Needs::Reading { .. } => Some(self.nodes()),
            _ => None,
        }
    }

    /// A path that a test shall begin with.
    pub fn of_path(unit: FunctionId, place: Place, text: String, events: Vec<Event>) -> Self {
        let needs = Needs::Prefix(events);
        let (criterion, kind) = (Criterion::Path, GoalKind::Path);
        Goal { function: unit, criterion, kind, outcome: None, place, spelled: place, text, needs }
    }

    /// A single event tells whether it is reached.
    pub fn is_an_event(&self) -> bool {
        matches!(self.needs, Needs::Outcome(_) | Needs::AnyOf(_))
    }

    /// The answer of a probe that reaches it.
    pub fn reading(&self) -> Option<Reading> {
        match self.needs {
            Needs::Reading { reading, .. } => Some(reading),
            _ => None,
        }
    }

    /// Whether no way of its function's graph leads to anything that reaches it.
    pub fn never_runs(&self, map: &Map) -> bool {
        if matches!(self.needs, Needs::Pairs(_) | Needs::Prefix(_) | Needs::Path) {
            return false;
        }
        let reached = map.functions[self.function].cfg.reached_from_entry();
        let runs = |node: NodeId| reached[node.index()];
        !self.nodes().iter().copied().any(runs) && !self.markers().iter().any(|&id| runs(map.markers[id].node))
    }

    /// It is no goal of the user's, but a part of some.
    pub fn is_part(&self) -> bool {
        self.kind == GoalKind::Combination && self.criterion != Criterion::MultipleCondition
    }

    /// The text with its outcome, as reports show it.
    pub fn title(&self) -> String {
        match self.outcome {
            Some(outcome) => format!("'{}' {outcome}", self.text),
            None => format!("'{}'", self.text),
        }
    }
}
