//! Addition, subtraction, multiplication, division. A sum keeps its constant outermost: `(x + y) + c`.

use crate::semantics;
use crate::terms::{BinaryOp, TermId, TermKind, Terms, UnaryOp};

impl Terms {
    /// Two's complement.
    pub fn neg(&mut self, term: TermId) -> TermId {
        let width = self.width(term);
        if width == 1 {
            return term;
        }
        match *self.kind(term) {
            TermKind::Constant(value) => self.constant(value.wrapping_neg(), width),
            TermKind::Unary(UnaryOp::Neg, inner) => inner,
            TermKind::Binary(BinaryOp::Sub, a, b) => self.intern_binary(BinaryOp::Sub, b, a),
            _ => self.intern(TermKind::Unary(UnaryOp::Neg, term), width),
        }
    }

    pub(super) fn simplified_add(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        if width == 1 {
            return self.xor(a, b);
        }
        let (a, b) = self.ordered(a, b);
        if let Some(constant) = self.as_constant(b) {
            return self.add_constant(a, constant);
        }
        if a == b {
            return self.shift_left_by(a, 1);
        }
        if let Some((x, c)) = self.as_binary_with_constant(BinaryOp::Add, a) {
            let sum = self.add(x, b);
            return self.add_constant(sum, c);
        }
        if let Some((x, c)) = self.as_binary_with_constant(BinaryOp::Add, b) {
            let sum = self.add(a, x);
            return self.add_constant(sum, c);
        }
        self.add_without_constants(a, b)
    }

    fn add_without_constants(&mut self, a: TermId, b: TermId) -> TermId {
        for (x, y) in [(a, b), (b, a)] {
            if let Some(negated) = self.as_unary(UnaryOp::Neg, y) {
                return self.sub(x, negated);
            }
            if let Some((minuend, subtrahend)) = self.as_binary(BinaryOp::Sub, y)
                && subtrahend == x
            {
                return minuend;
            }
        }
        self.intern_binary(BinaryOp::Add, a, b)
    }

    pub(super) fn add_constant(&mut self, a: TermId, constant: u128) -> TermId {
        let width = self.width(a);
        let (base, total) = match self.as_binary_with_constant(BinaryOp::Add, a) {
            Some((x, c)) => (x, c.wrapping_add(constant)),
            None => (a, constant),
        };
        let total = semantics::truncate(total, width);
        if total == 0 {
            return base;
        }
        let total = self.constant(total, width);
        if let Some(folded) = self.fold_binary(BinaryOp::Add, base, total) {
            return folded;
        }
        self.intern_binary(BinaryOp::Add, base, total)
    }

    pub(super) fn simplified_sub(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        if a == b {
            return self.zero(width);
        }
        if width == 1 {
            return self.xor(a, b);
        }
        if let Some(constant) = self.as_constant(b) {
            return self.add_constant(a, constant.wrapping_neg());
        }
        if self.as_constant(a) == Some(0) {
            return self.neg(b);
        }
        if let Some((x, c)) = self.as_binary_with_constant(BinaryOp::Add, a) {
            let difference = self.sub(x, b);
            return self.add_constant(difference, c);
        }
        if let Some((x, c)) = self.as_binary_with_constant(BinaryOp::Add, b) {
            let difference = self.sub(a, x);
            return self.add_constant(difference, c.wrapping_neg());
        }
        self.sub_without_constants(a, b)
    }

    fn sub_without_constants(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(negated) = self.as_unary(UnaryOp::Neg, b) {
            return self.add(a, negated);
        }
        match self.as_binary(BinaryOp::Add, a) {
            Some((x, y)) if x == b => return y,
            Some((x, y)) if y == b => return x,
            _ => {}
        }
        match self.as_binary(BinaryOp::Add, b) {
            Some((x, y)) if x == a => return self.neg(y),
            Some((x, y)) if y == a => return self.neg(x),
            _ => {}
        }
        match self.as_binary(BinaryOp::Sub, a) {
            Some((x, y)) if x == b => return self.neg(y),
            _ => {}
        }
        match self.as_binary(BinaryOp::Sub, b) {
            Some((x, y)) if x == a => return y,
            _ => {}
        }
        self.intern_binary(BinaryOp::Sub, a, b)
    }

    pub(super) fn simplified_mul(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        if width == 1 {
            return self.and(a, b);
        }
        let (a, b) = self.ordered(a, b);
        match self.as_constant(b) {
            Some(constant) => self.mul_constant(a, constant),
            None => self.intern_binary(BinaryOp::Mul, a, b),
        }
    }

    fn mul_constant(&mut self, a: TermId, constant: u128) -> TermId {
        let width = self.width(a);
        if constant == 0 {
            return self.zero(width);
        }
        if constant == semantics::mask(width) {
            return self.neg(a);
        }
        if constant.is_power_of_two() {
            return self.shift_left_by(a, constant.trailing_zeros());
        }
        if let Some(condition) = self.as_zero_extended_boolean(a) {
            let (then, otherwise) = (self.constant(constant, width), self.zero(width));
            return self.if_then_else(condition, then, otherwise);
        }
        let (base, factor) = match self.as_binary_with_constant(BinaryOp::Mul, a) {
            Some((x, c)) => (x, semantics::truncate(c.wrapping_mul(constant), width)),
            None => (a, constant),
        };
        if base != a {
            return self.mul_constant(base, factor);
        }
        let factor = self.constant(factor, width);
        self.intern_binary(BinaryOp::Mul, base, factor)
    }

    pub(super) fn simplified_unsigned_division(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        let Some(divisor) = self.as_constant(b) else {
            return self.intern_binary(BinaryOp::UDiv, a, b);
        };
        if divisor == 0 {
            return self.ones(width);
        }
        if divisor.is_power_of_two() {
            return self.logical_shift_right_by(a, divisor.trailing_zeros());
        }
        if let Some(inner) = self.as_zero_extend(a) {
            let narrow = self.divide_narrow(BinaryOp::UDiv, inner, divisor);
            return match narrow {
                Some(quotient) => self.zero_extend(quotient, width),
                None => self.zero(width),
            };
        }
        self.intern_binary(BinaryOp::UDiv, a, b)
    }

    pub(super) fn simplified_unsigned_remainder(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        if a == b {
            return self.zero(width);
        }
        let Some(divisor) = self.as_constant(b) else {
            return self.intern_binary(BinaryOp::URem, a, b);
        };
        if divisor == 0 {
            return a;
        }
        if divisor.is_power_of_two() {
            return self.keep_low_bits(a, divisor.trailing_zeros());
        }
        if let Some(inner) = self.as_zero_extend(a) {
            let narrow = self.divide_narrow(BinaryOp::URem, inner, divisor);
            return narrow.map_or(a, |remainder| self.zero_extend(remainder, width));
        }
        self.intern_binary(BinaryOp::URem, a, b)
    }

    /// The operation at the operand's own width; none when the divisor is larger than every value of it.
    fn divide_narrow(&mut self, op: BinaryOp, a: TermId, divisor: u128) -> Option<TermId> {
        let width = self.width(a);
        if divisor > semantics::mask(width) {
            return None;
        }
        let divisor = self.constant(divisor, width);
        Some(self.binary(op, a, divisor))
    }

    pub(super) fn simplified_signed_division(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        match self.as_constant(b) {
            Some(1) if width > 1 => a,
            Some(divisor) if width > 1 && divisor == semantics::mask(width) => self.neg(a),
            Some(divisor) if self.both_non_negative(a, divisor) => self.binary(BinaryOp::UDiv, a, b),
            _ => self.intern_binary(BinaryOp::SDiv, a, b),
        }
    }

    pub(super) fn simplified_signed_remainder(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        match self.as_constant(b) {
            _ if a == b => self.zero(width),
            Some(0) => a,
            Some(1) => self.zero(width),
            Some(divisor) if divisor == semantics::mask(width) => self.zero(width),
            Some(divisor) if self.both_non_negative(a, divisor) => self.binary(BinaryOp::URem, a, b),
            _ => self.intern_binary(BinaryOp::SRem, a, b),
        }
    }

    /// A zero extension is strictly wider than what it extends, so its sign bit is clear.
    fn both_non_negative(&self, a: TermId, divisor: u128) -> bool {
        self.as_zero_extend(a).is_some() && divisor > 0 && divisor <= semantics::signed_maximum(self.width(a))
    }
}
