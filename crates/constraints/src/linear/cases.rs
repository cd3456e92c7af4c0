//! Terms as linear sums, by cases.
//!
//! Additions, subtractions and multiplications by constants are exact modulo 2^width, whatever wraps around on the way.
//! Only where the value is read as a number (compared, extended) does it matter which of the congruent sums it is: the one
//! within the range of the width. If the bounds of the columns leave several numbers of wrap-arounds, each is a case, or
//! the number is an unknown.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::builder::NodeId;
use super::program::Order;
use super::sum::{Sum, ceiling_division, floor_division};
use super::translate::{Aim, Part, Translator};
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, UnaryOp};

/// The term is this sum if the part holds.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub sum: Sum,
    pub given: NodeId,
}

/// Together they are all there are, unless something was left out.
#[derive(Clone, Debug)]
pub(super) struct Cases {
    pub list: Vec<Case>,
    pub lossy: bool,
}

/// Beyond this many cases a term is not linear.
const MOST_CASES: usize = 16;

/// Up to this many numbers of wrap-arounds are cases, which keeps factors small; more are an unknown.
const MOST_WRAPS: i128 = 4;

/// Readings within readings: extensions of sums of extensions and so on. It bounds the recursion here.
const DEEPEST: usize = 48;

/// Values of one width read in one order: `2^width` numbers from `least` on.
#[derive(Copy, Clone)]
struct Window {
    size: i128,
    least: i128,
}

impl Window {
    /// None for widths whose sums would not fit 128 bits.
    fn of(width: u32, order: Order) -> Option<Self> {
        let size = 1_i128.checked_shl(width).filter(|&size| size > 0 && width < 120)?;
        Some(Self { size, least: if order == Order::Signed { -(size / 2) } else { 0 } })
    }

    /// How many sizes a number lies above the window.
    fn wraps(self, number: i128) -> Option<i128> {
        Some(floor_division(number.checked_sub(self.least)?, self.size))
    }
}

impl Translator<'_> {
    /// None if an operand is not linear.
    pub(super) fn comparison(&mut self, op: CompareOp, a: TermId, b: TermId, truth: bool) -> Option<Part> {
        if self.terms.width(a) == 1 {
            return None;
        }
        // The negation of < is ≤ with the sides exchanged, and the other way round.
        let (a, b) = if truth { (a, b) } else { (b, a) };
        match op {
            CompareOp::Eq => self.equality(a, b, truth),
            CompareOp::Slt => self.ordering(a, b, Order::Signed, truth),
            CompareOp::Sle => self.ordering(a, b, Order::Signed, !truth),
            CompareOp::Ult => self.ordering(a, b, Order::Unsigned, truth),
            CompareOp::Ule => self.ordering(a, b, Order::Unsigned, !truth),
        }
    }

    /// The term is negative, or not.
    pub(super) fn sign(&mut self, term: TermId, negative: bool) -> Option<Part> {
        let Window { least, size } = Window::of(self.terms.width(term), Order::Signed)?;
        let (low, high) = if negative { (least, -1) } else { (0, least + size - 1) };
        let cases = self.reading(term, Order::Signed)?;
        self.alternatives(&cases, |translator, case| translator.builder.between(&case.sum, low, high))
    }

    /// The disjunction over the cases of what `make` says of each.
    pub(super) fn alternatives(
        &mut self,
        cases: &Cases,
        mut make: impl FnMut(&mut Self, &Case) -> Option<NodeId>,
    ) -> Option<Part> {
        let mut parts = Vec::with_capacity(cases.list.len());
        for case in &cases.list {
            let node = make(self, case)?;
            parts.push(self.builder.all(vec![case.given, node]));
        }
        Some(Part { node: self.builder.any(parts), lossy: cases.lossy })
    }

    /// `a < b` if `strict`, else `a ≤ b`.
    fn ordering(&mut self, a: TermId, b: TermId, order: Order, strict: bool) -> Option<Part> {
        let (left, right) = (self.reading(a, order)?, self.reading(b, order)?);
        let differences = self.combined(&left, &right, -1)?;
        self.alternatives(&differences, |translator, case| {
            let (low, _) = case.sum.range(&translator.builder.columns)?;
            let most = if strict { -1 } else { 0 };
            translator.builder.between(&case.sum, low.min(most), most)
        })
    }

    /// The operands are equal if their difference is a multiple of 2^width.
    fn equality(&mut self, a: TermId, b: TermId, truth: bool) -> Option<Part> {
        let width = self.terms.width(a);
        let Window { size, .. } = Window::of(width, Order::Unsigned)?;
        let cases = self.congruent(&[(a, 1), (b, -1)], width)?;
        self.alternatives(&cases, |translator, case| {
            let (low, high) = case.sum.range(&translator.builder.columns)?;
            let first = if truth { ceiling_division(low, size) } else { floor_division(low, size) };
            let last = floor_division(high, size);
            let (least, most) = if truth { (0, 0) } else { (1, size - 1) };
            let Some(wraps) = translator.few_wraps(first, last)? else {
                let division = translator.floored_division(&case.sum, (low, high), size, 0)?;
                return translator.builder.between(&division.remainder, least, most);
            };
            let mut parts = Vec::with_capacity(wraps.len());
            for wrap in wraps {
                let base = wrap.checked_mul(size)?;
                parts.push(translator.builder.between(&case.sum, base.checked_add(least)?, base.checked_add(most)?)?);
            }
            Some(translator.builder.any(parts))
        })
    }

    /// The numbers of wrap-arounds, if they are few; no wrap-around first.
    fn few_wraps(&mut self, first: i128, last: i128) -> Option<Option<Vec<i128>>> {
        self.count_sum(last > first);
        if last.checked_sub(first)? >= MOST_WRAPS {
            return Some(None);
        }
        let (below, above) = (first..0.min(last + 1), 0.max(first)..last + 1);
        Some(Some(above.chain(below.rev()).collect()))
    }

    fn count_sum(&mut self, split: bool) {
        let counter = if split { &mut self.tally.sums_split } else { &mut self.tally.sums_within_range };
        *counter += 1;
    }

    /// The value of the term as a number in this order.
    pub(super) fn reading(&mut self, term: TermId, order: Order) -> Option<Cases> {
        let width = self.terms.width(term);
        if width == 1 {
            return self.truth_value(term, order);
        }
        let window = Window::of(width, order)?;
        let cases = self.congruent(&[(term, 1)], width)?;
        let mut read = Cases { list: Vec::new(), lossy: cases.lossy };
        for case in &cases.list {
            let (low, high) = case.sum.range(&self.builder.columns)?;
            let Some(wraps) = self.few_wraps(window.wraps(low)?, window.wraps(high)?)? else {
                let division = self.floored_division(&case.sum, (low, high), window.size, window.least)?;
                let given = self.builder.all(vec![case.given, division.given]);
                read.list.push(Case { sum: division.remainder, given });
                continue;
            };
            for wrap in wraps {
                let base = wrap.checked_mul(window.size)?;
                let least = base.checked_add(window.least)?;
                let inside = self.builder.between(&case.sum, least, least.checked_add(window.size - 1)?)?;
                let given = self.builder.all(vec![case.given, inside]);
                if given != NodeId::FALSE {
                    read.list.push(Case { sum: case.sum.plus(&Sum::constant(base), -1)?, given });
                }
            }
        }
        (read.list.len() <= MOST_CASES).then_some(read)
    }

    /// A boolean as a number: true is 1, or -1 with a sign.
    fn truth_value(&mut self, term: TermId, order: Order) -> Option<Cases> {
        let (yes, no) =
            self.nested(|translator| (translator.condition(term, true), translator.condition(term, false)))?;
        let one = if order == Order::Signed { -1 } else { 1 };
        let case = |part: Part, value| Case { sum: Sum::constant(value), given: part.node };
        Some(Cases { list: vec![case(yes, one), case(no, 0)], lossy: yes.lossy || no.lossy })
    }

    fn nested<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        Some(result)
    }

    /// A sum of terms with factors, up to multiples of 2^width.
    pub(super) fn congruent(&mut self, terms: &[(TermId, i128)], width: u32) -> Option<Cases> {
        let mut constant = 0_i128;
        // Operands have smaller ids than their users, so the greatest one has all its factors together.
        let mut pending: BTreeMap<TermId, i128> = BTreeMap::new();
        let add = |pending: &mut BTreeMap<TermId, i128>, term, factor: i128| {
            let sum = pending.entry(term).or_insert(0);
            *sum = sum.wrapping_add(factor);
        };
        terms.iter().for_each(|&(term, factor)| add(&mut pending, term, factor));
        let mut total = Cases { list: vec![Case { sum: Sum::default(), given: NodeId::TRUE }], lossy: false };
        while let Some((term, factor)) = pending.pop_last() {
            let factor = reduced(factor, width);
            if factor == 0 {
                continue;
            }
            match *self.terms.kind(term) {
                TermKind::Constant(value) => constant = constant.wrapping_add(factor.wrapping_mul(value as i128)),
                TermKind::Unary(UnaryOp::Neg, a) => add(&mut pending, a, factor.wrapping_neg()),
                TermKind::Unary(UnaryOp::Not, a) => {
                    constant = constant.wrapping_sub(factor);
                    add(&mut pending, a, factor.wrapping_neg());
                }
                TermKind::Extract { term: inner, low: 0 } => add(&mut pending, inner, factor),
                TermKind::Binary(op, a, b) => match self.modular_operands(op, a, b) {
                    Some(operands) => {
                        operands
                            .into_iter()
                            .for_each(|(part, more)| add(&mut pending, part, factor.wrapping_mul(more)));
                    }
                    None => total = self.with_leaf(&total, term, factor)?,
                },
                _ => total = self.with_leaf(&total, term, factor)?,
            }
        }
        let constant = Sum::constant(reduced(constant, width));
        for case in &mut total.list {
            case.sum = case.sum.plus(&constant, 1)?;
        }
        Some(total)
    }

    /// The operands with their factors, where the operator is linear.
    fn modular_operands(&self, op: BinaryOp, a: TermId, b: TermId) -> Option<Vec<(TermId, i128)>> {
        match op {
            BinaryOp::Add => Some(vec![(a, 1), (b, 1)]),
            BinaryOp::Sub => Some(vec![(a, 1), (b, -1)]),
            BinaryOp::Mul => match (self.terms.as_constant(a), self.terms.as_constant(b)) {
                (_, Some(factor)) => Some(vec![(a, factor as i128)]),
                (Some(factor), None) => Some(vec![(b, factor as i128)]),
                (None, None) => None,
            },
            BinaryOp::Shl => {
                let distance = self.terms.as_constant(b)?;
                let factor = semantics::binary(BinaryOp::Shl, 1, distance, self.terms.width(a));
                Some(vec![(a, factor as i128)])
            }
            _ => None,
        }
    }

    fn with_leaf(&mut self, total: &Cases, term: TermId, factor: i128) -> Option<Cases> {
        let leaf = match self.leaves.get(&term) {
            Some(known) => known.clone(),
            None => {
                let cases = self.nested(|translator| translator.leaf(term)).flatten().map(Rc::new);
                self.leaves.insert(term, cases.clone());
                cases
            }
        };
        self.combined(total, leaf.as_deref()?, factor)
    }

    /// A term that is no sum of others: what it is, or an unknown for a refutation.
    fn leaf(&mut self, term: TermId) -> Option<Cases> {
        let cases = match *self.terms.kind(term) {
            TermKind::Variable(_) => return self.unknown(term),
            TermKind::ZeroExtend(a) => self.reading(a, Order::Unsigned),
            TermKind::SignExtend(a) => self.reading(a, Order::Signed),
            TermKind::Concat { high, low } => self.concatenation(high, low),
            TermKind::IfThenElse { condition, then, otherwise } => self.choice(condition, then, otherwise),
            TermKind::Extract { term, low } => self.upper_bits(term, low),
            TermKind::Binary(op, a, b) => self.constant_division(op, a, b),
            _ => None,
        };
        if cases.is_some() || self.aim == Aim::Models {
            return cases;
        }
        self.tally.opaque += 1;
        self.unknown(term)
    }

    fn unknown(&mut self, term: TermId) -> Option<Cases> {
        let sum = Sum::column(self.column(term)?);
        Some(Cases { list: vec![Case { sum, given: NodeId::TRUE }], lossy: false })
    }

    fn concatenation(&mut self, high: TermId, low: TermId) -> Option<Cases> {
        let upper = self.reading(high, Order::Unsigned)?;
        let lower = self.reading(low, Order::Unsigned)?;
        self.combined(&lower, &upper, 1_i128.checked_shl(self.terms.width(low))?)
    }

    fn choice(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> Option<Cases> {
        let width = self.terms.width(then);
        let mut chosen = Cases { list: Vec::new(), lossy: false };
        for (truth, term) in [(true, then), (false, otherwise)] {
            let part = self.condition(condition, truth);
            let cases = self.congruent(&[(term, 1)], width)?;
            chosen.lossy |= part.lossy || cases.lossy;
            for case in cases.list {
                let given = self.builder.all(vec![part.node, case.given]);
                chosen.list.push(Case { sum: case.sum, given });
            }
        }
        chosen.list.retain(|case| case.given != NodeId::FALSE);
        (chosen.list.len() <= MOST_CASES).then_some(chosen)
    }

    /// Each case of the one with each of the other: `a + factor · b`.
    fn combined(&mut self, a: &Cases, b: &Cases, factor: i128) -> Option<Cases> {
        if a.list.len() * b.list.len() > MOST_CASES {
            return None;
        }
        let mut list = Vec::with_capacity(a.list.len() * b.list.len());
        for left in &a.list {
            for right in &b.list {
                let given = self.builder.all(vec![left.given, right.given]);
                if given != NodeId::FALSE {
                    list.push(Case { sum: left.sum.plus(&right.sum, factor)?, given });
                }
            }
        }
        Some(Cases { list, lossy: a.lossy || b.lossy })
    }
}

/// The number nearest to zero that is the same modulo 2^width.
fn reduced(number: i128, width: u32) -> i128 {
    semantics::signed(semantics::truncate(number as u128, width), width)
}
