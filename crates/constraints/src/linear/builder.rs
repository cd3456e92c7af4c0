//! The and/or structure while it grows, and the program made of it.

use super::program::{
    Alternative, AlternativeId, Bound, Choice, ChoiceId, Column, ColumnId, Form, FormId, Program, Subject,
};
use super::sum::{Sum, ceiling_division, floor_division, greatest_common_divisor, range_of};
use crate::hash::FastMap;

/// A part of the structure. Parts are shared, so it is an acyclic graph.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct NodeId(u32);

impl NodeId {
    pub(super) const TRUE: NodeId = NodeId(0);
    pub(super) const FALSE: NodeId = NodeId(1);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Node {
    Bound(Bound),
    All(Vec<NodeId>),
    Any(Vec<NodeId>),
}

/// A program of more parts than this is none that a solver would finish.
const MOST_NODES: usize = 1_000_000;

pub(super) struct Builder {
    pub columns: Vec<Column>,
    forms: Vec<Form>,
    forms_by_terms: FastMap<Vec<(ColumnId, i128)>, FormId>,
    nodes: Vec<Node>,
    numbers: FastMap<Node, NodeId>,
}

impl Builder {
    pub(super) fn new() -> Self {
        let mut builder = Self {
            columns: Vec::new(),
            forms: Vec::new(),
            forms_by_terms: FastMap::default(),
            nodes: Vec::new(),
            numbers: FastMap::default(),
        };
        builder.intern(Node::All(Vec::new()));
        builder.intern(Node::Any(Vec::new()));
        builder
    }

    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() > MOST_NODES
    }

    pub(super) fn add_column(&mut self, column: Column) -> ColumnId {
        self.columns.push(column);
        ColumnId::from_index(self.columns.len() - 1)
    }

    /// `low ≤ sum ≤ high`; none if the numbers are too large.
    pub(super) fn between(&mut self, sum: &Sum, low: i128, high: i128) -> Option<NodeId> {
        let (low, high) = (low.checked_sub(sum.constant)?, high.checked_sub(sum.constant)?);
        let Some(&(first, factor)) = sum.terms.first() else {
            return Some(if low <= 0 && 0 <= high { NodeId::TRUE } else { NodeId::FALSE });
        };
        let divisor =
            sum.terms.iter().fold(0, |divisor, &(_, factor)| greatest_common_divisor(divisor as i128, factor));
        let divisor = i128::try_from(divisor).ok()?;
        let (low, high) = match factor > 0 {
            true => (low, high),
            false => (high.checked_neg()?, low.checked_neg()?),
        };
        let (low, high) = (ceiling_division(low, divisor), floor_division(high, divisor));
        let unit = if factor > 0 { divisor } else { -divisor };
        let subject = match sum.terms.len() {
            1 => Subject::Column(first),
            _ => self.form(sum.terms.iter().map(|&(column, factor)| (column, factor / unit)).collect())?,
        };
        Some(self.bound(subject, low, high))
    }

    fn form(&mut self, terms: Vec<(ColumnId, i128)>) -> Option<Subject> {
        if let Some(&form) = self.forms_by_terms.get(&terms) {
            return Some(Subject::Form(form));
        }
        let (low, high) = range_of(&terms, &self.columns)?;
        let form = FormId::from_index(self.forms.len());
        self.forms.push(Form { terms: terms.clone(), low, high });
        self.forms_by_terms.insert(terms, form);
        Some(Subject::Form(form))
    }

    fn bound(&mut self, subject: Subject, low: i128, high: i128) -> NodeId {
        let (least, most) = match subject {
            Subject::Column(column) => (self.columns[column.index()].low, self.columns[column.index()].high),
            Subject::Form(form) => (self.forms[form.index()].low, self.forms[form.index()].high),
        };
        let (low, high) = (low.max(least), high.min(most));
        if low > high {
            return NodeId::FALSE;
        }
        if (low, high) == (least, most) {
            return NodeId::TRUE;
        }
        self.intern(Node::Bound(Bound { subject, low, high }))
    }

    pub(super) fn all(&mut self, parts: Vec<NodeId>) -> NodeId {
        match absorbed(parts, NodeId::TRUE, NodeId::FALSE) {
            Ok(parts) => self.intern(Node::All(parts)),
            Err(only) => only,
        }
    }

    pub(super) fn any(&mut self, parts: Vec<NodeId>) -> NodeId {
        match absorbed(parts, NodeId::FALSE, NodeId::TRUE) {
            Ok(parts) => self.intern(Node::Any(parts)),
            Err(only) => only,
        }
    }

    fn intern(&mut self, node: Node) -> NodeId {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 parts"));
        self.nodes.push(node.clone());
        self.numbers.insert(node, number);
        number
    }

    /// The program whose solutions satisfy `root`.
    pub(super) fn program(self, root: NodeId) -> Program {
        let mut assembly = Assembly {
            nodes: &self.nodes,
            alternatives: vec![Alternative::default()],
            choices: Vec::new(),
            alternative_of: FastMap::default(),
            choice_of: FastMap::default(),
            pending: vec![(Program::ROOT, root)],
        };
        while let Some((alternative, node)) = assembly.pending.pop() {
            assembly.fill(alternative, node);
        }
        let (alternatives, choices) = (assembly.alternatives, assembly.choices);
        Program { columns: self.columns, forms: self.forms, alternatives, choices }
    }
}

/// The parts without repetitions and neutral ones, in their order, or the one that they come to.
fn absorbed(parts: Vec<NodeId>, neutral: NodeId, absorbing: NodeId) -> Result<Vec<NodeId>, NodeId> {
    if parts.contains(&absorbing) {
        return Err(absorbing);
    }
    let mut seen = FastMap::default();
    let kept: Vec<NodeId> =
        parts.into_iter().filter(|&part| part != neutral && seen.insert(part, ()).is_none()).collect();
    match kept[..] {
        [] => Err(neutral),
        [only] => Err(only),
        _ => Ok(kept),
    }
}

/// Conjunctions are dissolved into the alternative they stand in, disjunctions in disjunctions into their outer one.
struct Assembly<'a> {
    nodes: &'a [Node],
    alternatives: Vec<Alternative>,
    choices: Vec<Choice>,
    alternative_of: FastMap<NodeId, AlternativeId>,
    choice_of: FastMap<NodeId, ChoiceId>,
    pending: Vec<(AlternativeId, NodeId)>,
}

impl Assembly<'_> {
    fn fill(&mut self, alternative: AlternativeId, node: NodeId) {
        let mut seen = FastMap::default();
        let mut filled = Alternative::default();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if seen.insert(node, ()).is_some() {
                continue;
            }
            match &self.nodes[node.0 as usize] {
                Node::Bound(bound) => filled.bounds.push(*bound),
                Node::All(parts) => stack.extend(parts.iter().rev()),
                Node::Any(_) => filled.choices.push(self.choice(node)),
            }
        }
        self.alternatives[alternative.index()] = filled;
    }

    fn choice(&mut self, node: NodeId) -> ChoiceId {
        if let Some(&choice) = self.choice_of.get(&node) {
            return choice;
        }
        let mut alternatives = Vec::new();
        let mut seen = FastMap::default();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if seen.insert(node, ()).is_some() {
                continue;
            }
            match &self.nodes[node.0 as usize] {
                Node::Any(parts) => stack.extend(parts.iter().rev()),
                Node::Bound(_) | Node::All(_) => alternatives.push(self.alternative(node)),
            }
        }
        let choice = ChoiceId::from_index(self.choices.len());
        self.choices.push(Choice { alternatives });
        self.choice_of.insert(node, choice);
        choice
    }

    fn alternative(&mut self, node: NodeId) -> AlternativeId {
        if let Some(&alternative) = self.alternative_of.get(&node) {
            return alternative;
        }
        let alternative = AlternativeId::from_index(self.alternatives.len());
        self.alternatives.push(Alternative::default());
        self.alternative_of.insert(node, alternative);
        self.pending.push((alternative, node));
        alternative
    }
}
