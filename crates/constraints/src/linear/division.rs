//! Quotients and remainders by constants, with the quotient as an unknown: `sum = divisor · quotient + remainder`. Also for
//! sums that can wrap around many times, where the quotient is the number of wrap-arounds.

use super::builder::NodeId;
use super::cases::{Case, Cases};
use super::program::{Column, Order};
use super::sum::{Sum, floor_division};
use super::translate::{Part, Translator};
use crate::semantics;
use crate::terms::{BinaryOp, TermId};

pub(super) struct Division {
    pub quotient: Sum,
    pub remainder: Sum,
    pub given: NodeId,
}

impl Translator<'_> {
    /// With the remainder from `least` to `least + divisor − 1`, for the values of the sum within `range`.
    pub(super) fn floored_division(
        &mut self,
        sum: &Sum,
        (low, high): (i128, i128),
        divisor: i128,
        least: i128,
    ) -> Option<Division> {
        let first = floor_division(low.checked_sub(least)?, divisor);
        let last = floor_division(high.checked_sub(least)?, divisor);
        let quotient = if first == last {
            Sum::constant(first)
        } else {
            let name = "quotient".to_owned();
            Sum::column(self.builder.add_column(Column { term: None, name, low: first, high: last }))
        };
        let remainder = sum.plus(&quotient, divisor.checked_neg()?)?;
        let given = self.builder.between(&remainder, least, least.checked_add(divisor - 1)?)?;
        Some(Division { quotient, remainder, given })
    }

    /// A division or a right shift by a constant.
    pub(super) fn constant_division(&mut self, op: BinaryOp, a: TermId, b: TermId) -> Option<Cases> {
        let (width, constant) = (self.terms.width(a), self.terms.as_constant(b)?);
        let power = || i128::try_from(constant).ok().filter(|&by| by < i128::from(width)).map(|by| 1_i128 << by);
        let unsigned = i128::try_from(constant).ok().filter(|&divisor| divisor > 0);
        match op {
            BinaryOp::UDiv => self.divided(a, Order::Unsigned, unsigned?, |division| division.quotient),
            BinaryOp::URem => self.divided(a, Order::Unsigned, unsigned?, |division| division.remainder),
            BinaryOp::LShr => self.divided(a, Order::Unsigned, power()?, |division| division.quotient),
            BinaryOp::AShr => self.divided(a, Order::Signed, power()?, |division| division.quotient),
            BinaryOp::SDiv => self.truncated(a, semantics::signed(constant, width), |division| division.quotient),
            BinaryOp::SRem => {
                // The remainder has the sign of the dividend, whatever that of the divisor.
                let divisor = semantics::signed(constant, width).checked_abs()?;
                self.truncated(a, divisor, |division| division.remainder)
            }
            _ => None,
        }
    }

    /// The bits from `low` on, as a number that has the bits of the term above them too.
    pub(super) fn upper_bits(&mut self, term: TermId, low: u32) -> Option<Cases> {
        self.divided(term, Order::Unsigned, 1_i128.checked_shl(low)?, |division| division.quotient)
    }

    /// One bit of the term is set, or not.
    pub(super) fn bit(&mut self, term: TermId, low: u32, truth: bool) -> Option<Part> {
        let cases = match low {
            0 => self.congruent(&[(term, 1)], self.terms.width(term))?,
            _ => self.upper_bits(term, low)?,
        };
        self.alternatives(&cases, |translator, case| {
            let range = case.sum.range(&translator.builder.columns)?;
            let division = translator.floored_division(&case.sum, range, 2, 0)?;
            let value = i128::from(truth);
            let bit = translator.builder.between(&division.remainder, value, value)?;
            Some(translator.builder.all(vec![division.given, bit]))
        })
    }

    fn divided(&mut self, a: TermId, order: Order, divisor: i128, part: fn(Division) -> Sum) -> Option<Cases> {
        let read = self.reading(a, order)?;
        let mut list = Vec::with_capacity(read.list.len());
        for case in &read.list {
            let range = case.sum.range(&self.builder.columns)?;
            self.push_division(&mut list, case, (&case.sum, range, divisor), part, 1)?;
        }
        Some(Cases { list, lossy: read.lossy })
    }

    /// Towards zero, as C divides: the halves of the dividend apart.
    fn truncated(&mut self, a: TermId, divisor: i128, part: fn(Division) -> Sum) -> Option<Cases> {
        let size = divisor.checked_abs().filter(|&size| size > 0)?;
        let read = self.reading(a, Order::Signed)?;
        let mut list = Vec::new();
        for case in &read.list {
            let (low, high) = case.sum.range(&self.builder.columns)?;
            for sign in [1, -1] {
                let (least, most) = if sign > 0 { (low.max(0), high) } else { (low, high.min(-1)) };
                if least > most {
                    continue;
                }
                let inside = self.builder.between(&case.sum, least, most)?;
                let half = Case { sum: case.sum.clone(), given: self.builder.all(vec![case.given, inside]) };
                let magnitude = Sum::default().plus(&case.sum, sign)?;
                let range = if sign > 0 { (least, most) } else { (most.checked_neg()?, least.checked_neg()?) };
                self.push_division(&mut list, &half, (&magnitude, range, size), part, sign * divisor.signum())?;
            }
        }
        Some(Cases { list, lossy: read.lossy })
    }

    fn push_division(
        &mut self,
        list: &mut Vec<Case>,
        case: &Case,
        (sum, range, divisor): (&Sum, (i128, i128), i128),
        part: fn(Division) -> Sum,
        sign: i128,
    ) -> Option<()> {
        let division = self.floored_division(sum, range, divisor, 0)?;
        let given = self.builder.all(vec![case.given, division.given]);
        let sum = Sum::default().plus(&part(division), sign)?;
        list.push(Case { sum, given });
        Some(())
    }
}
