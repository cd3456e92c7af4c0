//! In which order the bits of a variable are mostly read. A column is a number in one order; a reading in the other order
//! has to tell the halves of the values apart, so the frequent one is the better choice.

use super::program::Order;
use crate::hash::FastMap;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, UnaryOp};

#[derive(Copy, Clone, Default)]
struct Readings {
    signed: u32,
    unsigned: u32,
}

/// The orders of the terms that are read more often without a sign.
pub(super) struct Orders {
    unsigned: FastMap<TermId, ()>,
}

impl Orders {
    pub(super) fn of(terms: &Terms, roots: &[TermId]) -> Self {
        let mut readings: FastMap<TermId, Readings> = FastMap::default();
        let mut unsigned = FastMap::default();
        // Those that use a term before the term.
        for term in terms.reachable(roots).into_iter().rev() {
            let own = readings.get(&term).copied().unwrap_or_default();
            if own.unsigned > own.signed {
                unsigned.insert(term, ());
            }
            pass_on(terms, term, own, |operand, more| {
                let sum = readings.entry(operand).or_default();
                sum.signed = sum.signed.saturating_add(more.signed);
                sum.unsigned = sum.unsigned.saturating_add(more.unsigned);
            });
        }
        Self { unsigned }
    }

    pub(super) fn order(&self, terms: &Terms, term: TermId) -> Order {
        match terms.width(term) == 1 || self.unsigned.contains_key(&term) {
            true => Order::Unsigned,
            false => Order::Signed,
        }
    }
}

fn pass_on(terms: &Terms, term: TermId, own: Readings, mut give: impl FnMut(TermId, Readings)) {
    const SIGNED: Readings = Readings { signed: 1, unsigned: 0 };
    const UNSIGNED: Readings = Readings { signed: 0, unsigned: 1 };
    match *terms.kind(term) {
        TermKind::Compare(CompareOp::Slt | CompareOp::Sle, a, b) => [a, b].map(|operand| give(operand, SIGNED)),
        TermKind::Compare(CompareOp::Ult | CompareOp::Ule, a, b) => [a, b].map(|operand| give(operand, UNSIGNED)),
        TermKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => [a, b].map(|part| give(part, own)),
        TermKind::IfThenElse { then, otherwise, .. } => [then, otherwise].map(|part| give(part, own)),
        TermKind::Binary(BinaryOp::Shl, a, _) => [give(a, own), ()],
        TermKind::Unary(UnaryOp::Neg | UnaryOp::Not, a) => [give(a, own), ()],
        TermKind::SignExtend(a) => [give(a, SIGNED), ()],
        TermKind::ZeroExtend(a) | TermKind::Concat { low: a, .. } => [give(a, UNSIGNED), ()],
        _ => [(), ()],
    };
}
