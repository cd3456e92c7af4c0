//! Comparisons. With a constant they become `=` or strict, at the narrowest width that decides them.

use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, UnaryOp};

impl Terms {
    /// A term of width 1.
    pub fn compare(&mut self, op: CompareOp, a: TermId, b: TermId) -> TermId {
        self.assert_same_width(a, b);
        if let Some(folded) = self.fold_compare(op, a, b) {
            return folded;
        }
        if self.width(a) == 1 {
            return self.compare_booleans(op, a, b);
        }
        if op == CompareOp::Eq {
            return self.simplified_equality(a, b);
        }
        if let Some(narrowed) = self.compare_extended(op, a, b) {
            return narrowed;
        }
        match (self.as_constant(a), self.as_constant(b)) {
            (None, Some(bound)) => self.compare_below(op, a, bound),
            (Some(bound), None) => self.compare_above(op, bound, b),
            _ => self.intern(TermKind::Compare(op, a, b), 1),
        }
    }

    fn fold_compare(&mut self, op: CompareOp, a: TermId, b: TermId) -> Option<TermId> {
        let width = self.width(a);
        if a == b {
            return Some(self.boolean(!matches!(op, CompareOp::Ult | CompareOp::Slt)));
        }
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return Some(self.boolean(semantics::compare(op, x, y, width)));
        }
        if let (Some(choice), Some(y)) = (self.constant_choice(a), self.as_constant(b)) {
            return Some(self.map_choice(choice, 1, |x| u128::from(semantics::compare(op, x, y, width))));
        }
        if let (Some(x), Some(choice)) = (self.as_constant(a), self.constant_choice(b)) {
            return Some(self.map_choice(choice, 1, |y| u128::from(semantics::compare(op, x, y, width))));
        }
        None
    }

    /// At width 1, signed, true is -1 and so is the smaller.
    fn compare_booleans(&mut self, op: CompareOp, a: TermId, b: TermId) -> TermId {
        match op {
            CompareOp::Eq => self.equivalence(a, b),
            CompareOp::Ule => self.implies(a, b),
            CompareOp::Sle => self.implies(b, a),
            CompareOp::Ult => self.and_not(b, a),
            CompareOp::Slt => self.and_not(a, b),
        }
    }

    fn and_not(&mut self, a: TermId, b: TermId) -> TermId {
        let not_b = self.not(b);
        self.and(a, not_b)
    }

    fn equivalence(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.ordered(a, b);
        match self.as_constant(b) {
            Some(0) => self.not(a),
            Some(_) => a,
            None => self.intern(TermKind::Compare(CompareOp::Eq, a, b), 1),
        }
    }

    fn simplified_equality(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.ordered(a, b);
        let simpler = match self.as_constant(b) {
            Some(constant) => self.equality_with_constant(a, constant),
            None => self.equality_of_sums(a, b).or_else(|| self.equality_of_extensions(a, b)),
        };
        simpler.unwrap_or_else(|| self.intern(TermKind::Compare(CompareOp::Eq, a, b), 1))
    }

    /// Solves for the operand below `a` where the operator is a bijection; splits a concatenation.
    fn equality_with_constant(&mut self, a: TermId, constant: u128) -> Option<TermId> {
        match *self.kind(a) {
            TermKind::Binary(op, x, y) => self.binary_equality_with_constant(op, x, y, constant),
            TermKind::Unary(op, x) => Some(self.equal_to_constant(x, semantics::unary(op, constant, self.width(a)))),
            TermKind::ZeroExtend(inner) => Some(self.extension_equality(inner, constant, constant)),
            TermKind::SignExtend(inner) => Some(self.sign_extension_equality(inner, self.width(a), constant)),
            TermKind::Concat { high, low } => Some(self.concat_equality(high, low, constant)),
            _ => None,
        }
    }

    fn binary_equality_with_constant(&mut self, op: BinaryOp, x: TermId, y: TermId, constant: u128) -> Option<TermId> {
        let width = self.width(x);
        let operand = self.as_constant(y);
        match (op, operand) {
            (BinaryOp::Add, Some(c)) => Some(self.equal_to_constant(x, constant.wrapping_sub(c))),
            (BinaryOp::Xor, Some(c)) => Some(self.equal_to_constant(x, constant ^ c)),
            (BinaryOp::Mul, Some(c)) if c & 1 == 1 => {
                Some(self.equal_to_constant(x, constant.wrapping_mul(semantics::inverse_of_odd(c))))
            }
            (BinaryOp::Shl, Some(distance)) => Some(self.shifted_equality(x, distance as u32, constant)),
            (BinaryOp::And, Some(c)) if constant & !c != 0 => Some(self.boolean(false)),
            (BinaryOp::Or, Some(c)) if c & !constant != 0 => Some(self.boolean(false)),
            (BinaryOp::Or, None) if constant == 0 => {
                let zero = self.zero(width);
                let (left, right) = (self.bare_equality(x, zero), self.bare_equality(y, zero));
                Some(self.and(left, right))
            }
            (BinaryOp::Sub | BinaryOp::Xor, None) if constant == 0 => Some(self.bare_equality(x, y)),
            (BinaryOp::Sub, None) => self.as_constant(x).map(|c| self.equal_to_constant(y, c.wrapping_sub(constant))),
            _ => None,
        }
    }

    fn equal_to_constant(&mut self, a: TermId, constant: u128) -> TermId {
        let constant = self.constant(constant, self.width(a));
        self.bare_equality(a, constant)
    }

    /// Equality without looking below the operands again: solving for an operand of an operand of … would
    /// walk a chain of additions and exclusive ors as long as the program makes it.
    fn bare_equality(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold_compare(CompareOp::Eq, a, b) {
            return folded;
        }
        if self.width(a) == 1 {
            return self.equivalence(a, b);
        }
        if let (Some(inner), Some(constant)) = (self.as_zero_extend(a), self.as_constant(b)) {
            return self.extension_equality(inner, constant, constant);
        }
        if let (TermKind::SignExtend(inner), Some(constant)) = (*self.kind(a), self.as_constant(b)) {
            return self.sign_extension_equality(inner, self.width(a), constant);
        }
        let (a, b) = self.ordered(a, b);
        self.intern(TermKind::Compare(CompareOp::Eq, a, b), 1)
    }

    /// The extension has this value when no bit of `excess` lies above the operand and the operand has its low bits.
    fn extension_equality(&mut self, inner: TermId, constant: u128, excess: u128) -> TermId {
        let width = self.width(inner);
        if excess & !semantics::mask(width) != 0 {
            return self.boolean(false);
        }
        let constant = self.constant(constant, width);
        self.compare(CompareOp::Eq, inner, constant)
    }

    /// Whether the operand, extended by its sign to this width, has this value.
    fn sign_extension_equality(&mut self, inner: TermId, width: u32, constant: u128) -> TermId {
        let again = semantics::signed(semantics::truncate(constant, self.width(inner)), self.width(inner));
        let again = semantics::truncate(again as u128, width);
        self.extension_equality(inner, constant, constant ^ again)
    }

    fn concat_equality(&mut self, high: TermId, low: TermId, constant: u128) -> TermId {
        let low_width = self.width(low);
        let high_constant = self.constant(constant >> low_width, self.width(high));
        let low_constant = self.constant(constant, low_width);
        let high_equal = self.compare(CompareOp::Eq, high, high_constant);
        let low_equal = self.compare(CompareOp::Eq, low, low_constant);
        self.and(high_equal, low_equal)
    }

    fn shifted_equality(&mut self, x: TermId, distance: u32, constant: u128) -> TermId {
        if constant & semantics::mask(distance) != 0 {
            return self.boolean(false);
        }
        let kept = self.width(x) - distance;
        let moved = self.extract(x, 0, kept);
        let constant = self.constant(constant >> distance, kept);
        self.bare_equality(moved, constant)
    }

    fn equality_of_sums(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        for (x, sum) in [(a, b), (b, a)] {
            match self.as_binary(BinaryOp::Add, sum) {
                Some((p, q)) if p == x => return Some(self.equal_to_zero(q)),
                Some((p, q)) if q == x => return Some(self.equal_to_zero(p)),
                _ => {}
            }
        }
        let (x, c) = self.as_binary_with_constant(BinaryOp::Add, a)?;
        let (y, d) = self.as_binary_with_constant(BinaryOp::Add, b)?;
        let shifted = self.add_constant(y, d.wrapping_sub(c));
        Some(self.bare_equality(x, shifted))
    }

    fn equal_to_zero(&mut self, a: TermId) -> TermId {
        self.equal_to_constant(a, 0)
    }

    fn equality_of_extensions(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        if let (Some(x), Some(y)) = (self.as_unary(UnaryOp::Not, a), self.as_unary(UnaryOp::Not, b)) {
            return Some(self.bare_equality(x, y));
        }
        let (x, y, _) = self.same_extension(a, b)?;
        Some(self.compare(CompareOp::Eq, x, y))
    }

    /// Two extensions of the same kind from the same width, and whether they are of signs.
    fn same_extension(&self, a: TermId, b: TermId) -> Option<(TermId, TermId, bool)> {
        let pair = match (*self.kind(a), *self.kind(b)) {
            (TermKind::ZeroExtend(x), TermKind::ZeroExtend(y)) => (x, y, false),
            (TermKind::SignExtend(x), TermKind::SignExtend(y)) => (x, y, true),
            _ => return None,
        };
        (self.width(pair.0) == self.width(pair.1)).then_some(pair)
    }

    /// Orderings of extended operands, decided at the width before the extension. Both extensions preserve the
    /// unsigned order; the sign extension preserves the signed order, and after a zero extension the signed
    /// order is the unsigned one.
    fn compare_extended(&mut self, op: CompareOp, a: TermId, b: TermId) -> Option<TermId> {
        if let Some((x, y, signs)) = self.same_extension(a, b) {
            let op = if signs { op } else { unsigned(op) };
            return Some(self.compare(op, x, y));
        }
        match (*self.kind(a), self.as_constant(b)) {
            (TermKind::ZeroExtend(x), Some(_)) => {
                return Some(self.compare_zero_extended(op, x, b, Side::Left));
            }
            (TermKind::SignExtend(x), Some(_)) => {
                return self.compare_sign_extended(op, x, b, Side::Left);
            }
            _ => {}
        }
        match (self.as_constant(a), *self.kind(b)) {
            (Some(_), TermKind::ZeroExtend(x)) => Some(self.compare_zero_extended(op, x, a, Side::Right)),
            (Some(_), TermKind::SignExtend(x)) => self.compare_sign_extended(op, x, a, Side::Right),
            _ => None,
        }
    }

    /// `side` is where the extended term stands; the bound is a constant of the extended width.
    fn compare_zero_extended(&mut self, op: CompareOp, x: TermId, bound: TermId, side: Side) -> TermId {
        let inner_width = self.width(x);
        let constant = self.as_constant(bound).unwrap_or_default();
        if constant > semantics::mask(inner_width) {
            return self.compare_zero_with(op, bound, side);
        }
        let constant = self.constant(constant, inner_width);
        self.compare_on(unsigned(op), x, constant, side)
    }

    fn compare_sign_extended(&mut self, op: CompareOp, x: TermId, bound: TermId, side: Side) -> Option<TermId> {
        let (width, inner_width) = (self.width(bound), self.width(x));
        let constant = self.as_constant(bound).unwrap_or_default();
        let narrow = semantics::truncate(constant, inner_width);
        if semantics::signed(narrow, inner_width) == semantics::signed(constant, width) {
            let narrow = self.constant(narrow, inner_width);
            return Some(self.compare_on(op, x, narrow, side));
        }
        // In the unsigned order such a bound lies between the two halves of the extended values.
        matches!(op, CompareOp::Slt | CompareOp::Sle).then(|| self.compare_zero_with(op, bound, side))
    }

    /// The bound lies outside an interval around zero that holds all values, so zero decides for all.
    fn compare_zero_with(&mut self, op: CompareOp, bound: TermId, side: Side) -> TermId {
        let zero = self.zero(self.width(bound));
        self.compare_on(op, zero, bound, side)
    }

    fn compare_on(&mut self, op: CompareOp, x: TermId, constant: TermId, side: Side) -> TermId {
        match side {
            Side::Left => self.compare(op, x, constant),
            Side::Right => self.compare(op, constant, x),
        }
    }

    /// `a op bound`.
    fn compare_below(&mut self, op: CompareOp, a: TermId, bound: u128) -> TermId {
        let width = self.width(a);
        let (least, most) = range(op, width);
        if matches!(op, CompareOp::Ule | CompareOp::Sle) {
            return match bound == most {
                true => self.boolean(true),
                false => self.compare_below(strict(op), a, semantics::truncate(bound.wrapping_add(1), width)),
            };
        }
        if bound == least {
            return self.boolean(false);
        }
        if bound == semantics::truncate(least.wrapping_add(1), width) {
            let least = self.constant(least, width);
            return self.compare(CompareOp::Eq, a, least);
        }
        let bound = self.constant(bound, width);
        self.intern(TermKind::Compare(op, a, bound), 1)
    }

    /// `bound op b`.
    fn compare_above(&mut self, op: CompareOp, bound: u128, b: TermId) -> TermId {
        let width = self.width(b);
        let (least, most) = range(op, width);
        if matches!(op, CompareOp::Ule | CompareOp::Sle) {
            return match bound == least {
                true => self.boolean(true),
                false => self.compare_above(strict(op), semantics::truncate(bound.wrapping_sub(1), width), b),
            };
        }
        if bound == most {
            return self.boolean(false);
        }
        if bound == semantics::truncate(most.wrapping_sub(1), width) {
            let most = self.constant(most, width);
            return self.compare(CompareOp::Eq, b, most);
        }
        // `0 < b`: the form of "not zero" that equality shares.
        if op == CompareOp::Ult && bound == 0 {
            let zero = self.zero(width);
            return self.not_equal(b, zero);
        }
        let bound = self.constant(bound, width);
        self.intern(TermKind::Compare(op, bound, b), 1)
    }
}

#[derive(Copy, Clone)]
enum Side {
    Left,
    Right,
}

fn unsigned(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Slt => CompareOp::Ult,
        CompareOp::Sle => CompareOp::Ule,
        CompareOp::Eq | CompareOp::Ult | CompareOp::Ule => op,
    }
}

fn strict(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Ule => CompareOp::Ult,
        CompareOp::Sle => CompareOp::Slt,
        CompareOp::Eq | CompareOp::Ult | CompareOp::Slt => op,
    }
}

/// The least and the greatest value in the order that the operator compares by.
fn range(op: CompareOp, width: u32) -> (u128, u128) {
    match op {
        CompareOp::Slt | CompareOp::Sle => (semantics::signed_minimum(width), semantics::signed_maximum(width)),
        CompareOp::Eq | CompareOp::Ult | CompareOp::Ule => (0, semantics::mask(width)),
    }
}
