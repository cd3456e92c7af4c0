//! The constructors of terms. Each returns the simplest equal term that it can find by looking a bounded
//! number of levels down; none walks a term, so building stays cheap however deep terms grow.
//!
//! The normal forms that the rules agree on:
//! - a constant operand of a commutative operator stands right; otherwise the smaller id stands left;
//! - subtraction of a constant is addition; multiplication by a power of two is a shift;
//! - a logical or arithmetic right shift by a constant, and a low mask, are an extension of an extract;
//! - a comparison with a constant is `=` or strict; `≠` is the negation of `=`;
//! - a concatenation is nested to the right, and one with leading zeros is a zero extension;
//! - a choice between 1 and 0 is the zero extension of its condition.

mod arithmetic;
mod bitwise;
mod comparison;
mod floats;
mod selection;
mod shape;

use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, UnaryOp};

impl Terms {
    /// The value is truncated to the width.
    pub fn constant(&mut self, value: u128, width: u32) -> TermId {
        self.intern(TermKind::Constant(semantics::truncate(value, width)), width)
    }

    pub fn boolean(&mut self, value: bool) -> TermId {
        self.constant(u128::from(value), 1)
    }

    /// Both operands have the width of the result. The meaning is SMT-LIB's: division by zero is all ones, the
    /// remainder by zero the dividend, and a shift by the width or more gives zeros (copies of the sign).
    pub fn binary(&mut self, op: BinaryOp, a: TermId, b: TermId) -> TermId {
        self.assert_same_width(a, b);
        if let Some(folded) = self.fold_binary(op, a, b) {
            return folded;
        }
        match op {
            BinaryOp::Add => self.simplified_add(a, b),
            BinaryOp::Sub => self.simplified_sub(a, b),
            BinaryOp::Mul => self.simplified_mul(a, b),
            BinaryOp::UDiv => self.simplified_unsigned_division(a, b),
            BinaryOp::URem => self.simplified_unsigned_remainder(a, b),
            BinaryOp::SDiv => self.simplified_signed_division(a, b),
            BinaryOp::SRem => self.simplified_signed_remainder(a, b),
            BinaryOp::And => self.simplified_and(a, b),
            BinaryOp::Or => self.simplified_or(a, b),
            BinaryOp::Xor => self.simplified_xor(a, b),
            BinaryOp::Shl => self.simplified_shift_left(a, b),
            BinaryOp::LShr => self.simplified_logical_shift_right(a, b),
            BinaryOp::AShr => self.simplified_arithmetic_shift_right(a, b),
        }
    }

    pub fn unary(&mut self, op: UnaryOp, term: TermId) -> TermId {
        match op {
            UnaryOp::Not => self.not(term),
            UnaryOp::Neg => self.neg(term),
        }
    }

    pub fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(BinaryOp::Add, a, b)
    }

    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(BinaryOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// Bitwise, and so the conjunction at width 1.
    pub fn and(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(BinaryOp::And, a, b)
    }

    /// Bitwise, and so the disjunction at width 1.
    pub fn or(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(BinaryOp::Or, a, b)
    }

    pub fn xor(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(BinaryOp::Xor, a, b)
    }

    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        let not_a = self.not(a);
        self.or(not_a, b)
    }

    /// The conjunction of booleans; true when there are none.
    pub fn conjunction(&mut self, terms: &[TermId]) -> TermId {
        let truth = self.boolean(true);
        terms.iter().fold(truth, |all, &term| self.and(all, term))
    }

    /// The disjunction of booleans; false when there are none.
    pub fn disjunction(&mut self, terms: &[TermId]) -> TermId {
        let falsehood = self.boolean(false);
        terms.iter().fold(falsehood, |any, &term| self.or(any, term))
    }

    pub fn equal(&mut self, a: TermId, b: TermId) -> TermId {
        self.compare(CompareOp::Eq, a, b)
    }

    pub fn not_equal(&mut self, a: TermId, b: TermId) -> TermId {
        let equal = self.equal(a, b);
        self.not(equal)
    }

    pub fn unsigned_less(&mut self, a: TermId, b: TermId) -> TermId {
        self.compare(CompareOp::Ult, a, b)
    }

    pub fn unsigned_less_or_equal(&mut self, a: TermId, b: TermId) -> TermId {
        self.compare(CompareOp::Ule, a, b)
    }

    pub fn signed_less(&mut self, a: TermId, b: TermId) -> TermId {
        self.compare(CompareOp::Slt, a, b)
    }

    pub fn signed_less_or_equal(&mut self, a: TermId, b: TermId) -> TermId {
        self.compare(CompareOp::Sle, a, b)
    }

    pub fn unsigned_greater(&mut self, a: TermId, b: TermId) -> TermId {
        self.unsigned_less(b, a)
    }

    pub fn unsigned_greater_or_equal(&mut self, a: TermId, b: TermId) -> TermId {
        self.unsigned_less_or_equal(b, a)
    }

    pub fn signed_greater(&mut self, a: TermId, b: TermId) -> TermId {
        self.signed_less(b, a)
    }

    pub fn signed_greater_or_equal(&mut self, a: TermId, b: TermId) -> TermId {
        self.signed_less_or_equal(b, a)
    }

    /// Constants fold, and an operator moves into a choice between constants when the other side is constant.
    fn fold_binary(&mut self, op: BinaryOp, a: TermId, b: TermId) -> Option<TermId> {
        let width = self.width(a);
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return Some(self.constant(semantics::binary(op, x, y, width), width));
        }
        if let (Some(choice), Some(y)) = (self.constant_choice(a), self.as_constant(b)) {
            return Some(self.map_choice(choice, width, |x| semantics::binary(op, x, y, width)));
        }
        if let (Some(x), Some(choice)) = (self.as_constant(a), self.constant_choice(b)) {
            return Some(self.map_choice(choice, width, |y| semantics::binary(op, x, y, width)));
        }
        None
    }

    /// `if condition then constant else constant`.
    fn constant_choice(&self, term: TermId) -> Option<ConstantChoice> {
        let TermKind::IfThenElse { condition, then, otherwise } = *self.kind(term) else {
            return None;
        };
        let (then, otherwise) = (self.as_constant(then)?, self.as_constant(otherwise)?);
        Some(ConstantChoice { condition, then, otherwise })
    }

    fn map_choice(&mut self, choice: ConstantChoice, width: u32, f: impl Fn(u128) -> u128) -> TermId {
        let then = self.constant(f(choice.then), width);
        let otherwise = self.constant(f(choice.otherwise), width);
        self.if_then_else(choice.condition, then, otherwise)
    }

    /// The interned binary term, with commutative operands in their canonical order.
    fn intern_binary(&mut self, op: BinaryOp, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        let (a, b) = if op.is_commutative() { self.ordered(a, b) } else { (a, b) };
        self.intern(TermKind::Binary(op, a, b), width)
    }

    /// A constant right, otherwise the older term left.
    fn ordered(&self, a: TermId, b: TermId) -> (TermId, TermId) {
        let swap = match (self.as_constant(a), self.as_constant(b)) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => b < a,
        };
        if swap { (b, a) } else { (a, b) }
    }

    /// `term = operand op constant`.
    fn as_binary_with_constant(&self, op: BinaryOp, term: TermId) -> Option<(TermId, u128)> {
        match *self.kind(term) {
            TermKind::Binary(have, a, b) if have == op => Some((a, self.as_constant(b)?)),
            _ => None,
        }
    }

    fn as_binary(&self, op: BinaryOp, term: TermId) -> Option<(TermId, TermId)> {
        match *self.kind(term) {
            TermKind::Binary(have, a, b) if have == op => Some((a, b)),
            _ => None,
        }
    }

    fn as_unary(&self, op: UnaryOp, term: TermId) -> Option<TermId> {
        match *self.kind(term) {
            TermKind::Unary(have, a) if have == op => Some(a),
            _ => None,
        }
    }

    fn as_zero_extend(&self, term: TermId) -> Option<TermId> {
        match *self.kind(term) {
            TermKind::ZeroExtend(inner) => Some(inner),
            _ => None,
        }
    }

    fn zero(&mut self, width: u32) -> TermId {
        self.constant(0, width)
    }

    fn ones(&mut self, width: u32) -> TermId {
        self.constant(u128::MAX, width)
    }

    fn assert_same_width(&self, a: TermId, b: TermId) {
        let (left, right) = (self.width(a), self.width(b));
        assert!(left == right, "operands of different widths {left} and {right}");
    }
}

#[derive(Copy, Clone)]
struct ConstantChoice {
    condition: TermId,
    then: u128,
    otherwise: u128,
}
