//! Float terms. Few of the laws of numbers hold for floats, so that little is simplified: constants, the order of
//! operands where it does not matter, and comparisons of a term with itself.

use crate::floats::{FloatOp, float_value};
use crate::semantics;
use crate::terms::{BinaryOp, TermId, TermKind, Terms};

impl Terms {
    /// An operator on the bit patterns of floats (or of integers, for conversions from them): operands of one width,
    /// as many as the operator takes, and a result of this width, which is 1 for comparisons.
    pub fn float(&mut self, op: FloatOp, width: u32, operands: &[TermId]) -> TermId {
        assert_eq!(operands.len(), op.arity(), "operands of {op:?}");
        operands[1..].iter().for_each(|&operand| self.assert_same_width(operands[0], operand));
        let from = self.width(operands[0]);
        let constants: Option<Vec<u128>> = operands.iter().map(|&operand| self.as_constant(operand)).collect();
        if let Some(values) = constants {
            return self.constant(float_value(op, from, width, &values), width);
        }
        if let Some(compared) = self.compared_operands_of_difference(op, operands) {
            return compared;
        }
        match (op, operands) {
            (FloatOp::Less, [a, b]) if a == b => self.boolean(false),
            (FloatOp::Equal | FloatOp::LessOrEqual, &[a, b]) if a == b => {
                let unordered = self.float(FloatOp::Unordered, 1, &[a, a]);
                self.not(unordered)
            }
            (FloatOp::Unordered, &[a, b]) if a != b => self.unordered(a, b),
            // The sum of two NaNs is the first one, so that only comparisons may be turned.
            (FloatOp::Equal, &[a, b]) => {
                let (a, b) = self.ordered(a, b);
                self.intern(TermKind::Float(op, a, Some(b), None), 1)
            }
            _ => {
                let operand = |index: usize| operands.get(index).copied();
                self.intern(TermKind::Float(op, operands[0], operand(1), operand(2)), width)
            }
        }
    }

    /// A difference compared with zero, or a sum, which is one: it is zero only for equal numbers, because small
    /// differences are exact, and has the sign that their order says. Equal infinities differ by a NaN, which is no zero.
    fn compared_operands_of_difference(&mut self, op: FloatOp, operands: &[TermId]) -> Option<TermId> {
        if !matches!(op, FloatOp::Equal | FloatOp::Less | FloatOp::LessOrEqual) {
            return None;
        }
        let &[a, b] = operands else { return None };
        let difference = if self.is_float_zero(b) { a } else { b };
        if difference == b && !self.is_float_zero(a) {
            return None;
        }
        let [x, y] = self.as_difference(difference)?;
        let compared = self.float(op, 1, &if difference == a { [x, y] } else { [y, x] });
        if op == FloatOp::Less {
            return Some(compared);
        }
        let unordered = self.float(FloatOp::Unordered, 1, &[difference, difference]);
        let ordered = self.not(unordered);
        Some(self.and(compared, ordered))
    }

    fn as_difference(&mut self, term: TermId) -> Option<[TermId; 2]> {
        match *self.kind(term) {
            TermKind::Float(FloatOp::Sub, x, Some(y), _) => Some([x, y]),
            TermKind::Float(FloatOp::Add, x, Some(y), _) => {
                let width = self.width(y);
                let sign = self.constant(semantics::signed_minimum(width), width);
                Some([x, self.binary(BinaryOp::Xor, y, sign)])
            }
            _ => None,
        }
    }

    fn is_float_zero(&self, term: TermId) -> bool {
        let width = self.width(term);
        self.as_constant(term).is_some_and(|value| value & semantics::mask(width - 1) == 0)
    }

    /// Each side on its own: mostly one is a constant.
    fn unordered(&mut self, a: TermId, b: TermId) -> TermId {
        let left = self.float(FloatOp::Unordered, 1, &[a, a]);
        let right = self.float(FloatOp::Unordered, 1, &[b, b]);
        self.or(left, right)
    }
}
