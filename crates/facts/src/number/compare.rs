//! Comparisons of sets of integers, and what their outcome says of the operands.

use branchwise_program::code::CompareOp;

use super::{Number, signed};

impl Number {
    /// The outcomes that the comparison may have, as a number of one bit.
    pub(crate) fn compare(op: CompareOp, left: &Number, right: &Number) -> Number {
        let possible = |op| Number::restricted(op, left, right).is_some();
        let outcomes = [(possible(op), 1), (possible(op.negated()), 0)];
        let outcomes = outcomes.into_iter().filter(|(possible, _)| *possible).map(|(_, outcome)| outcome);
        Number::one_of(1, outcomes).unwrap_or_else(|| Number::any(1))
    }

    /// The operands where the comparison holds; `None` if it never does.
    pub(crate) fn restricted(op: CompareOp, left: &Number, right: &Number) -> Option<(Number, Number)> {
        if !left.is_followed() {
            return Some((left.clone(), right.clone()));
        }
        let (new_left, new_right) = (left.limited(op, right)?, right.limited(op.turned(), left)?);
        Some((new_left, new_right))
    }

    /// The members for which the comparison with some member of the other holds, at least.
    fn limited(&self, op: CompareOp, other: &Number) -> Option<Number> {
        let width = self.width;
        let unsigned = |low, high| self.meet(&Number::unsigned_range(width, low, high)?);
        let by_sign = |least, most| self.meet(&Number::signed_range(width, least, most)?);
        let any = Number::any(width);
        match op {
            CompareOp::Eq => self.meet(other),
            CompareOp::Ne => match other.as_constant() {
                Some(constant) => self.without(constant),
                None => Some(self.clone()),
            },
            CompareOp::Ult => unsigned(0, other.high.checked_sub(1)?),
            CompareOp::Ule => unsigned(0, other.high),
            CompareOp::Ugt => unsigned(other.low.checked_add(1).filter(|&low| low <= any.high)?, any.high),
            CompareOp::Uge => unsigned(other.low, any.high),
            CompareOp::Slt => by_sign(any.least, other.most.checked_sub(1).filter(|&most| most >= any.least)?),
            CompareOp::Sle => by_sign(any.least, other.most),
            CompareOp::Sgt => by_sign(other.least.checked_add(1).filter(|&least| least <= any.most)?, any.most),
            CompareOp::Sge => by_sign(other.least, any.most),
        }
    }

    fn without(&self, member: u64) -> Option<Number> {
        if let Some(few) = &self.few {
            return Number::one_of(self.width, few.iter().copied().filter(|&one| one != member));
        }
        let mut rest = self.clone();
        let reading = signed(member, self.width);
        if rest.low == member {
            rest.low += 1;
        } else if rest.high == member {
            rest.high -= 1;
        }
        if rest.least == reading {
            rest.least += 1;
        } else if rest.most == reading {
            rest.most -= 1;
        }
        rest.normal()
    }
}
