//! Reads at a symbolic offset: an if-then-else over the values that lie there. Neighbours with the same value share one
//! range, and the ranges are compared with the index that the offset was made from, so that a look into a table of
//! character classes is a few comparisons of the character.

use branchwise_constraints::{BinaryOp, CompareOp, TermId, TermKind};

use crate::executor::{Executor, Step};
use crate::value::{ObjectId, Value};

/// More ranges than this are not worth an if-then-else: the index is made concrete.
const MOST_RANGES: usize = 256;
/// How deep an offset is looked into.
const DEPTH: u32 = 8;

/// A term of up to 64 bits whose value, read as a signed number, is exactly `scale · x + constant`.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
struct Affine {
    /// The term whose value is `x`, read as a signed number or not.
    inner: TermId,
    signed: bool,
    /// What `x` may be.
    low: i128,
    high: i128,
    /// Above 0.
    scale: i128,
    constant: i128,
}

impl Affine {
    fn of_term(inner: TermId, width: u32, signed: bool) -> Option<Affine> {
        let values = 1i128 << width.min(64);
        let (low, high) = if signed { (-values / 2, values / 2 - 1) } else { (0, values - 1) };
        (width <= 32).then_some(Affine { inner, signed, low, high, scale: 1, constant: 0 })
    }

    fn at(&self, x: i128) -> i128 {
        self.scale * x + self.constant
    }

    /// Whether all its values are signed numbers of this width: then no arithmetic on the way there wrapped around.
    fn fits(&self, width: u32) -> bool {
        let limit = 1i128 << (width - 1);
        -limit <= self.at(self.low) && self.at(self.high) < limit
    }
}

impl Executor<'_, '_> {
    /// The offsets up to `last` that a term may have, where its form bounds them: the first, the step between them and
    /// the last.
    pub(crate) fn bounded_places(&self, offset: TermId, last: u64) -> Option<(u64, u64, u64)> {
        let affine = self.affine(offset, DEPTH)?;
        let first = affine.low.max(-affine.constant.div_euclid(affine.scale));
        let end = affine.high.min((i128::from(last) - affine.constant).div_euclid(affine.scale));
        // No place at all where the last lies before the first.
        let none = (1, 1, 0);
        Some(if first > end { none } else { (affine.at(first) as u64, affine.scale as u64, affine.at(end) as u64) })
    }

    /// Reads `size` bytes at one of these places, in rising order, as the offset (64 bits) says.
    pub(crate) fn read_one_of(&mut self, object: ObjectId, offset: TermId, places: &[u64], size: u64) -> Step<Value> {
        let mut ranges: Vec<(u64, TermId)> = Vec::new();
        for &place in places {
            let value = self.memory.read(self.session, object, place, size);
            if !matches!(value, Value::Bits(_) | Value::Term(_)) || ranges.len() > MOST_RANGES {
                let offset = self.concretise(&Value::Term(offset), 64)?;
                return Ok(self.memory.read(self.session, object, offset, size));
            }
            let value = self.as_term(&value, 8 * size as u32);
            let value = self.seen_at(offset, place, value);
            match ranges.last_mut() {
                Some((last, same)) if *same == value => *last = place,
                _ => ranges.push((place, value)),
            }
        }
        let whole = self.choice_by_range(offset, &ranges);
        Ok(whole.map_or(Value::Undefined, |term| self.term_value(term)))
    }

    /// The value of a place where the offset is that place: what was last written there at the same offset is it, for all
    /// places alike.
    fn seen_at(&mut self, offset: TermId, place: u64, value: TermId) -> TermId {
        let TermKind::IfThenElse { condition, then, otherwise } = *self.session.terms.kind(value) else { return value };
        let here = self.is_at(offset, place);
        if condition == here {
            return then;
        }
        if condition == self.session.terms.not(here) { otherwise } else { value }
    }

    /// Halves the ranges until one is left: each is (its last offset, the value there).
    fn choice_by_range(&mut self, offset: TermId, ranges: &[(u64, TermId)]) -> Option<TermId> {
        if let [(_, value)] = ranges {
            return Some(*value);
        }
        let (low, high) = ranges.split_at(ranges.len() / 2);
        let below = self.is_at_most(offset, low.last()?.0);
        let (low, high) = (self.choice_by_range(offset, low)?, self.choice_by_range(offset, high)?);
        Some(self.session.terms.if_then_else(below, low, high))
    }

    /// Whether the offset, which is one of the places, is not behind this one.
    fn is_at_most(&mut self, offset: TermId, place: u64) -> TermId {
        let (term, bound, op) = match self.affine(offset, DEPTH) {
            Some(affine) => {
                let op = if affine.signed { CompareOp::Sle } else { CompareOp::Ule };
                (affine.inner, (i128::from(place) - affine.constant).div_euclid(affine.scale), op)
            }
            None => (offset, i128::from(place), CompareOp::Ule),
        };
        let width = self.session.terms.width(term);
        let bound = self.session.terms.constant(bound as u128, width);
        self.session.terms.compare(op, term, bound)
    }

    fn affine(&self, term: TermId, depth: u32) -> Option<Affine> {
        let width = self.session.terms.width(term);
        let deeper = if depth == 0 { None } else { self.affine_operation(term, depth - 1) };
        deeper.filter(|affine| affine.fits(width)).or_else(|| Affine::of_term(term, width, true))
    }

    fn affine_operation(&self, term: TermId, depth: u32) -> Option<Affine> {
        let terms = &self.session.terms;
        match *terms.kind(term) {
            TermKind::SignExtend(inner) => self.affine(inner, depth),
            TermKind::ZeroExtend(inner) => {
                let signed = self.affine(inner, depth).filter(|affine| affine.at(affine.low) >= 0);
                signed.or_else(|| Affine::of_term(inner, terms.width(inner), false))
            }
            TermKind::Binary(BinaryOp::Add, operand, by) => {
                let by = self.signed_constant(by)?;
                let affine = self.affine(operand, depth)?;
                Some(Affine { constant: affine.constant + by, ..affine })
            }
            TermKind::Binary(BinaryOp::Mul, operand, by) => {
                let by = self.signed_constant(by)?;
                self.scaled(operand, by, depth)
            }
            TermKind::Binary(BinaryOp::Shl, operand, by) => {
                let by = self.signed_constant(by).filter(|by| (0..32).contains(by))?;
                self.scaled(operand, 1 << by, depth)
            }
            _ => None,
        }
    }

    fn scaled(&self, operand: TermId, by: i128, depth: u32) -> Option<Affine> {
        let affine = self.affine(operand, depth)?;
        let small = (1..1 << 32).contains(&by) && affine.scale < 1 << 32;
        small.then_some(Affine { scale: affine.scale * by, constant: affine.constant * by, ..affine })
    }

    /// Terms keep a constant operand on the right.
    fn signed_constant(&self, term: TermId) -> Option<i128> {
        let width = self.session.terms.width(term);
        let bits = self.session.terms.as_constant(term)?;
        (width <= 64).then(|| i128::from(crate::value::signed(bits as u64, width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_may_wrap_around_does_not_fit() {
        let mut terms = branchwise_constraints::Terms::new();
        let character = terms.variable("c", 8);
        let affine = Affine::of_term(character, 8, true).expect("narrow");
        assert_eq!((affine.at(affine.low), affine.at(affine.high)), (-128, 127));
        assert!(affine.fits(8));
        assert!(!Affine { constant: 1, ..affine }.fits(8));
        assert!(Affine { scale: 2, constant: 256, ..affine }.fits(32));
    }
}
