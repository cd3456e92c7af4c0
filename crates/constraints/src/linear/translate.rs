//! From and/or formulas to the parts of a program.
//!
//! Negations are pushed to the comparisons (De Morgan), and every comparison of linear sums becomes bounds on a sum. What
//! is not linear becomes false where a model is wanted, so that every solution is one of the formula, and true or an unknown
//! of its own where a refutation is wanted, so that every model of the formula is a solution.

use std::rc::Rc;

use super::budget::{Budget, Stop};
use super::builder::{Builder, NodeId};
use super::cases::Cases;
use super::orders::Orders;
use super::program::{Column, ColumnId, Order, Program};
use super::sum::Sum;
use crate::formula::{Formula, Junction, Step};
use crate::hash::FastMap;
use crate::layers::Bounds;
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, UnaryOp, VariableId};

/// On which side a translation may err.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Aim {
    /// Solutions are models, but some models may be missing.
    Models,
    /// Models are solutions, but some solutions may be no models.
    Refutation,
}

/// What was left out, and what was looked at so that nothing had to be.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    /// Conditions that are not linear.
    pub not_linear: u64,
    /// Sums that the bounds of the columns keep within the range of their width.
    pub sums_within_range: u64,
    /// Sums for which each number of wrap-arounds is an alternative.
    pub sums_split: u64,
    /// Terms that are not linear and became unknowns.
    pub opaque: u64,
}

/// A program and how far it is the formula's.
pub(super) struct Translation {
    pub program: Program,
    pub tally: Tally,
    /// Alternatives of the formula, and those of them that are linear.
    pub paths: u64,
    pub linear_paths: u64,
}

impl Translation {
    /// Solutions and models correspond.
    pub(super) fn is_exact(&self) -> bool {
        self.tally.not_linear == 0 && self.tally.opaque == 0
    }
}

/// A part, and whether something was left out of it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Part {
    pub node: NodeId,
    pub lossy: bool,
}

/// Terms of more bits are not taken for numbers: sums of them would not fit 128 bits.
const WIDEST: u32 = 96;

pub(super) struct Translator<'a> {
    pub terms: &'a Terms,
    pub aim: Aim,
    orders: Orders,
    bounds: &'a FastMap<VariableId, Bounds>,
    pub builder: Builder,
    columns: FastMap<TermId, ColumnId>,
    conditions: FastMap<(TermId, bool), Part>,
    pub leaves: FastMap<TermId, Option<Rc<Cases>>>,
    /// How many readings of terms within terms are under way.
    pub depth: usize,
    pub tally: Tally,
}

pub(super) fn translate(
    terms: &Terms,
    formula: &Formula,
    domain: &[TermId],
    bounds: &FastMap<VariableId, Bounds>,
    aim: Aim,
    budget: &Budget<'_>,
) -> Result<Translation, Stop> {
    let mut roots = domain.to_vec();
    formula.fold(&mut |step| {
        if let Step::<()>::Condition(term) = step {
            roots.push(term);
        }
    });
    let mut translator = Translator {
        terms,
        aim,
        orders: Orders::of(terms, &roots),
        bounds,
        builder: Builder::new(),
        columns: FastMap::default(),
        conditions: FastMap::default(),
        leaves: FastMap::default(),
        depth: 0,
        tally: Tally::default(),
    };
    let mut certain: Vec<NodeId> = domain.iter().map(|&term| translator.domain_condition(term)).collect();
    let mut running = Ok(());
    let whole = formula.fold(&mut |step| {
        if running.is_ok() {
            running = budget.check();
        }
        match running {
            Ok(()) => translator.step(step),
            Err(_) => Folded { node: NodeId::FALSE, paths: 0, linear_paths: 0 },
        }
    });
    running?;
    certain.push(whole.node);
    let root = translator.builder.all(certain);
    let program = translator.builder.program(root);
    Ok(Translation { program, tally: translator.tally, paths: whole.paths, linear_paths: whole.linear_paths })
}

struct Folded {
    node: NodeId,
    paths: u64,
    linear_paths: u64,
}

impl Translator<'_> {
    fn step(&mut self, step: Step<Folded>) -> Folded {
        let (junction, parts) = match step {
            Step::Condition(term) => {
                let part = self.condition(term, true);
                let linear = !(part.lossy && part.node == NodeId::FALSE);
                return Folded { node: part.node, paths: 1, linear_paths: u64::from(linear) };
            }
            Step::Junction(junction, parts) => (junction, parts),
        };
        let count = |number: fn(&Folded) -> u64| match junction {
            Junction::All => parts.iter().map(number).fold(1, u64::saturating_mul),
            Junction::Any => parts.iter().map(number).fold(0, u64::saturating_add),
        };
        let (paths, linear_paths) = (count(|part| part.paths), count(|part| part.linear_paths));
        let nodes = parts.iter().map(|part| part.node).collect();
        let node = match junction {
            Junction::All => self.builder.all(nodes),
            Junction::Any => self.builder.any(nodes),
        };
        Folded { node, paths, linear_paths }
    }

    /// A condition of the domain that is not linear would leave no model; it is left to the evaluation of the model.
    fn domain_condition(&mut self, term: TermId) -> NodeId {
        let part = self.condition(term, true);
        if part.lossy && self.aim == Aim::Models { NodeId::TRUE } else { part.node }
    }

    /// The part that holds when the condition has this truth. With a stack of its own, because conditions nest deeply.
    pub(super) fn condition(&mut self, root: TermId, truth: bool) -> Part {
        let mut stack = vec![(root, truth)];
        while let Some(&(term, truth)) = stack.last() {
            let known = |key: &(TermId, bool)| self.conditions.contains_key(key);
            let missing: Vec<_> = self.operands(term, truth).into_iter().filter(|key| !known(key)).collect();
            if !known(&(term, truth)) && !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            stack.pop();
            if !known(&(term, truth)) {
                let part = self.made(term, truth);
                self.conditions.insert((term, truth), part);
            }
        }
        self.conditions[&(root, truth)]
    }

    /// The conditions that a condition is made of.
    fn operands(&self, term: TermId, truth: bool) -> Vec<(TermId, bool)> {
        let both = |a, b| vec![(a, true), (a, false), (b, true), (b, false)];
        match *self.terms.kind(term) {
            TermKind::Unary(UnaryOp::Not, a) => vec![(a, !truth)],
            TermKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => vec![(a, truth), (b, truth)],
            TermKind::Binary(BinaryOp::Xor, a, b) => both(a, b),
            TermKind::Compare(CompareOp::Eq, a, b) if self.terms.width(a) == 1 => both(a, b),
            TermKind::IfThenElse { condition, then, otherwise } => {
                vec![(condition, true), (condition, false), (then, truth), (otherwise, truth)]
            }
            _ => Vec::new(),
        }
    }

    fn made(&mut self, term: TermId, truth: bool) -> Part {
        if self.builder.is_full() {
            return self.left_out();
        }
        match *self.terms.kind(term) {
            TermKind::Constant(value) => whole(if (value == 1) == truth { NodeId::TRUE } else { NodeId::FALSE }),
            TermKind::Unary(UnaryOp::Not, a) => self.conditions[&(a, !truth)],
            TermKind::Binary(BinaryOp::And, a, b) => self.joined(truth, &[(a, truth), (b, truth)]),
            TermKind::Binary(BinaryOp::Or, a, b) => self.joined(!truth, &[(a, truth), (b, truth)]),
            TermKind::Binary(BinaryOp::Xor, a, b) => self.either([(a, true), (b, !truth)], [(a, false), (b, truth)]),
            TermKind::Compare(CompareOp::Eq, a, b) if self.terms.width(a) == 1 => {
                self.either([(a, true), (b, truth)], [(a, false), (b, !truth)])
            }
            TermKind::IfThenElse { condition, then, otherwise } => {
                self.either([(condition, true), (then, truth)], [(condition, false), (otherwise, truth)])
            }
            TermKind::Compare(op, a, b) => self.comparison(op, a, b, truth).unwrap_or_else(|| self.opaque(term, truth)),
            TermKind::Variable(_) => self.boolean_column(term, truth).map_or_else(|| self.left_out(), whole),
            TermKind::Extract { term: inner, low } if low + 1 == self.terms.width(inner) => {
                self.sign(inner, truth).unwrap_or_else(|| self.opaque(term, truth))
            }
            TermKind::Extract { term: inner, low } => {
                self.bit(inner, low, truth).unwrap_or_else(|| self.opaque(term, truth))
            }
            _ => self.opaque(term, truth),
        }
    }

    fn joined(&mut self, all: bool, parts: &[(TermId, bool)]) -> Part {
        let parts: Vec<Part> = parts.iter().map(|key| self.conditions[key]).collect();
        let nodes = parts.iter().map(|part| part.node).collect();
        let node = if all { self.builder.all(nodes) } else { self.builder.any(nodes) };
        Part { node, lossy: parts.iter().any(|part| part.lossy) }
    }

    fn either(&mut self, first: [(TermId, bool); 2], second: [(TermId, bool); 2]) -> Part {
        let (first, second) = (self.joined(true, &first), self.joined(true, &second));
        Part { node: self.builder.any(vec![first.node, second.node]), lossy: first.lossy || second.lossy }
    }

    fn left_out(&mut self) -> Part {
        self.tally.not_linear += 1;
        let node = match self.aim {
            Aim::Models => NodeId::FALSE,
            Aim::Refutation => NodeId::TRUE,
        };
        Part { node, lossy: true }
    }

    /// A condition that is not linear: for a refutation an unknown truth, the same wherever it occurs.
    fn opaque(&mut self, term: TermId, truth: bool) -> Part {
        match self.aim {
            Aim::Models => self.left_out(),
            Aim::Refutation => match self.boolean_column(term, truth) {
                Some(node) => {
                    self.tally.opaque += 1;
                    Part { node, lossy: true }
                }
                None => self.left_out(),
            },
        }
    }

    fn boolean_column(&mut self, term: TermId, truth: bool) -> Option<NodeId> {
        let column = self.column(term)?;
        let value = i128::from(truth);
        self.builder.between(&Sum::column(column), value, value)
    }

    /// The unknown that stands for the term, in the order in which it is mostly read.
    pub(super) fn column(&mut self, term: TermId) -> Option<ColumnId> {
        if let Some(&column) = self.columns.get(&term) {
            return Some(column);
        }
        let width = self.terms.width(term);
        if width > WIDEST {
            return None;
        }
        let (low, high) = self.column_bounds(term, width)?;
        let name = self.terms.display(term).at_most(NAME_PIECES).to_string();
        let column = self.builder.add_column(Column { term: Some(term), name, low, high });
        self.columns.insert(term, column);
        Some(column)
    }

    fn column_bounds(&self, term: TermId, width: u32) -> Option<(i128, i128)> {
        let known = self.terms.variable_id(term).and_then(|variable| self.bounds.get(&variable));
        match (self.orders.order(self.terms, term), known) {
            (Order::Signed, Some(bounds)) => Some(bounds.signed),
            (Order::Unsigned, Some(bounds)) => {
                Some((i128::try_from(bounds.unsigned.0).ok()?, i128::try_from(bounds.unsigned.1).ok()?))
            }
            (Order::Signed, None) => Some((
                semantics::signed(semantics::signed_minimum(width), width),
                semantics::signed_maximum(width) as i128,
            )),
            (Order::Unsigned, None) => Some((0, i128::try_from(semantics::mask(width)).ok()?)),
        }
    }
}

/// Names of unknowns stay readable.
const NAME_PIECES: usize = 40;

fn whole(node: NodeId) -> Part {
    Part { node, lossy: false }
}
