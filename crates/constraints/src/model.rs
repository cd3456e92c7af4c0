//! Assignments of values to variables, and the value of a term under one.

use crate::floats::float_value;
use crate::semantics;
use crate::terms::{TermId, TermKind, Terms, VariableId};

/// A value for each variable. A variable without one reads as 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// By variable; never ends in `None`, so that equal assignments compare equal.
    values: Vec<Option<u128>>,
}

impl Model {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn get(&self, variable: VariableId) -> u128 {
        self.assigned(variable).unwrap_or(0)
    }

    /// The value, if one was set.
    pub fn assigned(&self, variable: VariableId) -> Option<u128> {
        self.values.get(variable.index()).copied().flatten()
    }

    /// The value is the caller's to keep within the width of the variable; evaluation truncates.
    pub fn set(&mut self, variable: VariableId, value: u128) {
        if self.values.len() <= variable.index() {
            self.values.resize(variable.index() + 1, None);
        }
        self.values[variable.index()] = Some(value);
    }

    /// What `other` assigns takes precedence.
    pub fn overlay(&mut self, other: &Model) {
        for (variable, value) in other.iter() {
            self.set(variable, value);
        }
    }

    /// The assigned variables, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (VariableId, u128)> + '_ {
        let assigned = |(index, value): (usize, &Option<u128>)| value.map(|v| (VariableId::from_index(index), v));
        self.values.iter().enumerate().filter_map(assigned)
    }
}

impl FromIterator<(VariableId, u128)> for Model {
    fn from_iter<I: IntoIterator<Item = (VariableId, u128)>>(assignments: I) -> Self {
        let mut model = Model::new();
        assignments.into_iter().for_each(|(variable, value)| model.set(variable, value));
        model
    }
}

/// The value of a term under a model. For many terms under one model an [`Evaluator`] costs less.
pub fn evaluate(terms: &Terms, model: &Model, term: TermId) -> u128 {
    match *terms.kind(term) {
        TermKind::Constant(value) => value,
        TermKind::Variable(id) => semantics::truncate(model.get(id), terms.width(term)),
        _ => Evaluator::new().evaluate(terms, model, term),
    }
}

/// Whether the model satisfies all the constraints (terms of width 1).
pub fn holds(terms: &Terms, model: &Model, constraints: &[TermId]) -> bool {
    let mut evaluator = Evaluator::new();
    constraints.iter().all(|&constraint| evaluator.evaluate(terms, model, constraint) == 1)
}

/// Evaluation that remembers the values of shared operands. The memory is for one model and one arena: call
/// [`Evaluator::reset`] before another. It keeps its own stack, because terms nest deeper than threads do.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    /// By term; meaningful where the stamp is the current generation.
    values: Vec<u128>,
    stamps: Vec<u32>,
    generation: u32,
    stack: Vec<TermId>,
}

impl Evaluator {
    pub fn new() -> Self {
        Self { generation: 1, ..Self::default() }
    }

    /// Forget all values, at no cost: for the next model.
    pub fn reset(&mut self) {
        match self.generation.checked_add(1) {
            Some(next) => self.generation = next,
            None => *self = Self::new(),
        }
    }

    pub fn evaluate(&mut self, terms: &Terms, model: &Model, term: TermId) -> u128 {
        self.make_room(terms.len());
        self.stack.push(term);
        while let Some(&top) = self.stack.last() {
            match self.step(terms, model, top) {
                Step::Value(value) => self.finish(top, value),
                Step::Needs(operand) => self.stack.push(operand),
            }
        }
        self.values[term.index()]
    }

    /// The first tables are asked for as zeros, which the system has ready, and not filled: most of a large arena is
    /// never looked at.
    fn make_room(&mut self, length: usize) {
        if self.stamps.is_empty() {
            self.stamps = vec![0; length];
            self.values = vec![0; length];
        } else if self.stamps.len() < length {
            self.stamps.resize(length, 0);
            self.values.resize(length, 0);
        }
    }

    fn finish(&mut self, term: TermId, value: u128) {
        self.values[term.index()] = value;
        self.stamps[term.index()] = self.generation;
        self.stack.pop();
    }

    fn step(&self, terms: &Terms, model: &Model, term: TermId) -> Step {
        match self.value(terms, model, term) {
            Ok(value) => Step::Value(value),
            Err(operand) => Step::Needs(operand),
        }
    }

    /// The value, or the first operand whose value is missing.
    fn value(&self, terms: &Terms, model: &Model, term: TermId) -> Result<u128, TermId> {
        let known = |operand| self.known(operand);
        node_value(terms.kind(term), terms.width(term), known, |operand| terms.width(operand), |id| model.get(id))
    }

    fn known(&self, term: TermId) -> Result<u128, TermId> {
        match self.stamps[term.index()] == self.generation {
            true => Ok(self.values[term.index()]),
            false => Err(term),
        }
    }
}

enum Step {
    Value(u128),
    Needs(TermId),
}

/// The value of a node from those of its operands, or the error of the first one that has none. A choice needs only the
/// branch it takes.
pub(crate) fn node_value<Missing>(
    kind: &TermKind,
    width: u32,
    known: impl Fn(TermId) -> Result<u128, Missing>,
    width_of: impl Fn(TermId) -> u32,
    variable: impl Fn(VariableId) -> u128,
) -> Result<u128, Missing> {
    Ok(match *kind {
        TermKind::Constant(value) => value,
        TermKind::Variable(id) => semantics::truncate(variable(id), width),
        TermKind::Unary(op, a) => semantics::unary(op, known(a)?, width),
        TermKind::Binary(op, a, b) => semantics::binary(op, known(a)?, known(b)?, width),
        TermKind::Compare(op, a, b) => u128::from(semantics::compare(op, known(a)?, known(b)?, width_of(a))),
        TermKind::IfThenElse { condition, then, otherwise } => {
            known(if known(condition)? == 1 { then } else { otherwise })?
        }
        TermKind::Extract { term, low } => semantics::truncate(known(term)? >> low, width),
        TermKind::Concat { high, low } => (known(high)? << width_of(low)) | known(low)?,
        TermKind::ZeroExtend(a) => known(a)?,
        TermKind::SignExtend(a) => semantics::truncate(semantics::signed(known(a)?, width_of(a)) as u128, width),
        TermKind::Float(op, a, b, c) => {
            let optional = |term: Option<TermId>| term.map_or(Ok(0), &known);
            float_value(op, width_of(a), width, &[known(a)?, optional(b)?, optional(c)?])
        }
    })
}
