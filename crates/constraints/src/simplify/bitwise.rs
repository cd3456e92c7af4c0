//! Complement, conjunction, disjunction, exclusive or, shifts.

use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, UnaryOp};

impl Terms {
    /// The complement; the negation of a boolean. A negated ordering is the converse ordering, so that the two
    /// outcomes of a branch are two plain comparisons.
    pub fn not(&mut self, term: TermId) -> TermId {
        let width = self.width(term);
        match *self.kind(term) {
            TermKind::Constant(value) => self.constant(!value, width),
            TermKind::Unary(UnaryOp::Not, inner) => inner,
            TermKind::Compare(CompareOp::Ult, a, b) => self.compare(CompareOp::Ule, b, a),
            TermKind::Compare(CompareOp::Ule, a, b) => self.compare(CompareOp::Ult, b, a),
            TermKind::Compare(CompareOp::Slt, a, b) => self.compare(CompareOp::Sle, b, a),
            TermKind::Compare(CompareOp::Sle, a, b) => self.compare(CompareOp::Slt, b, a),
            _ => self.complement(term, width),
        }
    }

    fn complement(&mut self, term: TermId, width: u32) -> TermId {
        match self.constant_choice(term) {
            Some(choice) => self.map_choice(choice, width, |value| semantics::unary(UnaryOp::Not, value, width)),
            None => self.intern(TermKind::Unary(UnaryOp::Not, term), width),
        }
    }

    pub(super) fn simplified_and(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        let (a, b) = self.ordered(a, b);
        if a == b {
            return a;
        }
        if self.are_complements(a, b) {
            return self.zero(width);
        }
        if let Some(constant) = self.as_constant(b) {
            return self.and_constant(a, constant);
        }
        self.absorbed(BinaryOp::And, a, b)
    }

    fn and_constant(&mut self, a: TermId, constant: u128) -> TermId {
        let width = self.width(a);
        if constant == 0 {
            return self.zero(width);
        }
        if constant == semantics::mask(width) {
            return a;
        }
        if let Some((x, c)) = self.as_binary_with_constant(BinaryOp::And, a) {
            return self.and_constant(x, c & constant);
        }
        if let Some(inner) = self.as_zero_extend(a) {
            let narrow = semantics::truncate(constant, self.width(inner));
            let conjunction = self.and_constant(inner, narrow);
            return self.zero_extend(conjunction, width);
        }
        if (constant + 1).is_power_of_two() {
            return self.keep_low_bits(a, constant.count_ones());
        }
        let constant = self.constant(constant, width);
        self.intern_binary(BinaryOp::And, a, constant)
    }

    pub(super) fn simplified_or(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        let (a, b) = self.ordered(a, b);
        if a == b {
            return a;
        }
        if self.are_complements(a, b) {
            return self.ones(width);
        }
        if let Some(constant) = self.as_constant(b) {
            return self.or_constant(a, constant);
        }
        self.absorbed(BinaryOp::Or, a, b)
    }

    fn or_constant(&mut self, a: TermId, constant: u128) -> TermId {
        let width = self.width(a);
        if constant == 0 {
            return a;
        }
        if constant == semantics::mask(width) {
            return self.ones(width);
        }
        if let Some((x, c)) = self.as_binary_with_constant(BinaryOp::Or, a) {
            return self.or_constant(x, c | constant);
        }
        if let Some(narrow) = self.narrowed_constant(BinaryOp::Or, a, constant) {
            return narrow;
        }
        let constant = self.constant(constant, width);
        self.intern_binary(BinaryOp::Or, a, constant)
    }

    pub(super) fn simplified_xor(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        let (a, b) = self.ordered(a, b);
        if a == b {
            return self.zero(width);
        }
        if self.are_complements(a, b) {
            return self.ones(width);
        }
        if let Some(constant) = self.as_constant(b) {
            return self.xor_constant(a, constant);
        }
        self.absorbed(BinaryOp::Xor, a, b)
    }

    fn xor_constant(&mut self, a: TermId, constant: u128) -> TermId {
        let width = self.width(a);
        if constant == 0 {
            return a;
        }
        if constant == semantics::mask(width) {
            return self.not(a);
        }
        if let Some((x, c)) = self.as_binary_with_constant(BinaryOp::Xor, a) {
            return self.xor_constant(x, c ^ constant);
        }
        if let Some(narrow) = self.narrowed_constant(BinaryOp::Xor, a, constant) {
            return narrow;
        }
        let constant = self.constant(constant, width);
        self.intern_binary(BinaryOp::Xor, a, constant)
    }

    /// `zext(x) op c = zext(x op c)` for a constant that fits the width of `x`.
    fn narrowed_constant(&mut self, op: BinaryOp, a: TermId, constant: u128) -> Option<TermId> {
        let width = self.width(a);
        let inner = self.as_zero_extend(a)?;
        let inner_width = self.width(inner);
        if constant > semantics::mask(inner_width) {
            return None;
        }
        let constant = self.constant(constant, inner_width);
        let narrow = self.binary(op, inner, constant);
        Some(self.zero_extend(narrow, width))
    }

    /// No constants, operands ordered: absorb a repeated operand, and operate at the narrower width.
    fn absorbed(&mut self, op: BinaryOp, a: TermId, b: TermId) -> TermId {
        for (x, y) in [(a, b), (b, a)] {
            match self.as_binary(op, y) {
                Some((p, q)) if op == BinaryOp::Xor && p == x => return q,
                Some((p, q)) if op == BinaryOp::Xor && q == x => return p,
                Some((p, q)) if p == x || q == x => return y,
                _ => {}
            }
        }
        if let Some(shorter) = self.absorbed_in_dual(op, a, b) {
            return shorter;
        }
        if let (Some(x), Some(y)) = (self.as_zero_extend(a), self.as_zero_extend(b))
            && self.width(x) == self.width(y)
        {
            let width = self.width(a);
            let narrow = self.binary(op, x, y);
            return self.zero_extend(narrow, width);
        }
        self.intern_binary(op, a, b)
    }

    /// `x | (x & y)` is `x`, and `x | (!x & y)` is `x | y`; the same with the operators exchanged.
    fn absorbed_in_dual(&mut self, op: BinaryOp, a: TermId, b: TermId) -> Option<TermId> {
        let dual = match op {
            BinaryOp::And => BinaryOp::Or,
            BinaryOp::Or => BinaryOp::And,
            _ => return None,
        };
        for (x, y) in [(a, b), (b, a)] {
            let Some((p, q)) = self.as_binary(dual, y) else { continue };
            if p == x || q == x {
                return Some(x);
            }
            if self.are_complements(x, p) {
                return Some(self.binary(op, x, q));
            }
            if self.are_complements(x, q) {
                return Some(self.binary(op, x, p));
            }
        }
        None
    }

    fn are_complements(&self, a: TermId, b: TermId) -> bool {
        if self.as_unary(UnaryOp::Not, a) == Some(b) || self.as_unary(UnaryOp::Not, b) == Some(a) {
            return true;
        }
        match (*self.kind(a), *self.kind(b)) {
            (TermKind::Compare(p, x, y), TermKind::Compare(q, z, w)) => are_converse(p, q) && x == w && y == z,
            _ => false,
        }
    }

    pub(super) fn simplified_shift_left(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(0), _) => a,
            (_, Some(distance)) => self.shift_left_by(a, clamp_distance(distance, width)),
            _ => self.intern_binary(BinaryOp::Shl, a, b),
        }
    }

    pub(super) fn shift_left_by(&mut self, a: TermId, distance: u32) -> TermId {
        let width = self.width(a);
        if distance == 0 {
            return a;
        }
        if distance >= width {
            return self.zero(width);
        }
        if let Some((x, earlier)) = self.as_binary_with_constant(BinaryOp::Shl, a) {
            return self.shift_left_by(x, clamp_distance(earlier + u128::from(distance), width));
        }
        let distance = self.constant(u128::from(distance), width);
        match self.fold_binary(BinaryOp::Shl, a, distance) {
            Some(folded) => folded,
            None => self.intern_binary(BinaryOp::Shl, a, distance),
        }
    }

    pub(super) fn simplified_logical_shift_right(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(0), _) => a,
            (_, Some(distance)) => self.logical_shift_right_by(a, clamp_distance(distance, width)),
            _ => self.intern_binary(BinaryOp::LShr, a, b),
        }
    }

    pub(super) fn logical_shift_right_by(&mut self, a: TermId, distance: u32) -> TermId {
        let width = self.width(a);
        if distance >= width {
            return self.zero(width);
        }
        let kept = self.extract(a, distance, width - distance);
        self.zero_extend(kept, width)
    }

    pub(super) fn simplified_arithmetic_shift_right(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        if width == 1 {
            return a;
        }
        let Some(distance) = self.as_constant(b) else {
            return self.intern_binary(BinaryOp::AShr, a, b);
        };
        let distance = clamp_distance(distance, width - 1);
        let kept = self.extract(a, distance, width - distance);
        self.sign_extend(kept, width)
    }

    /// `a mod 2^count`.
    pub(super) fn keep_low_bits(&mut self, a: TermId, count: u32) -> TermId {
        let width = self.width(a);
        if count == 0 {
            return self.zero(width);
        }
        let low = self.extract(a, 0, count);
        self.zero_extend(low, width)
    }
}

fn are_converse(p: CompareOp, q: CompareOp) -> bool {
    use CompareOp::{Sle, Slt, Ule, Ult};
    matches!((p, q), (Ult, Ule) | (Ule, Ult) | (Slt, Sle) | (Sle, Slt))
}

fn clamp_distance(distance: u128, most: u32) -> u32 {
    distance.min(u128::from(most)) as u32
}
