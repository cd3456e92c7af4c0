//! Extraction, concatenation, extension: what loads, stores and conversions are made of. A value that is stored
//! byte by byte and loaded again comes out as the value itself.

use crate::semantics;
use crate::terms::{BinaryOp, TermId, TermKind, Terms};

/// How many choices one concatenation may rebuild, so that joining two long chains of choices stays cheap.
const REBUILT_CHOICES: u32 = 64;

impl Terms {
    /// Bits `low .. low + width`.
    pub fn extract(&mut self, term: TermId, low: u32, width: u32) -> TermId {
        let whole = self.width(term);
        assert!(width >= 1 && low + width <= whole, "bits {low}..{} of a term of width {whole}", low + width);
        if width == whole {
            return term;
        }
        match *self.kind(term) {
            TermKind::Constant(value) => self.constant(value >> low, width),
            TermKind::Extract { term: inner, low: offset } => self.extract(inner, low + offset, width),
            TermKind::Concat { high, low: tail } => self.extract_from_concat(high, tail, low, width),
            TermKind::ZeroExtend(inner) => self.extract_from_zero_extend(inner, low, width),
            TermKind::SignExtend(inner) => self.extract_from_sign_extend(inner, low, width),
            TermKind::IfThenElse { .. } => self.extract_from_choice(term, low, width),
            TermKind::Binary(op, a, b) => self.extract_from_binary(term, (op, a, b), low, width),
            _ => self.intern(TermKind::Extract { term, low }, width),
        }
    }

    pub fn truncate(&mut self, term: TermId, to_width: u32) -> TermId {
        self.extract(term, 0, to_width)
    }

    /// `high` above `low`; at most 128 bits together.
    pub fn concat(&mut self, high: TermId, low: TermId) -> TermId {
        let mut rebuilt = REBUILT_CHOICES;
        self.concat_within(high, low, &mut rebuilt)
    }

    pub fn zero_extend(&mut self, term: TermId, to_width: u32) -> TermId {
        let width = self.width(term);
        assert!(to_width >= width, "zero extension of {width} bits to {to_width}");
        if to_width == width {
            return term;
        }
        match *self.kind(term) {
            TermKind::Constant(value) => self.constant(value, to_width),
            TermKind::ZeroExtend(inner) => self.intern(TermKind::ZeroExtend(inner), to_width),
            _ => match self.constant_choice(term) {
                Some(choice) => self.map_choice(choice, to_width, |value| value),
                None => self.intern(TermKind::ZeroExtend(term), to_width),
            },
        }
    }

    pub fn sign_extend(&mut self, term: TermId, to_width: u32) -> TermId {
        let width = self.width(term);
        assert!(to_width >= width, "sign extension of {width} bits to {to_width}");
        if to_width == width {
            return term;
        }
        let extended = |value| semantics::truncate(semantics::signed(value, width) as u128, to_width);
        match *self.kind(term) {
            TermKind::Constant(value) => self.constant(extended(value), to_width),
            TermKind::SignExtend(inner) => self.intern(TermKind::SignExtend(inner), to_width),
            TermKind::ZeroExtend(inner) => self.intern(TermKind::ZeroExtend(inner), to_width),
            _ => match self.constant_choice(term) {
                Some(choice) => self.map_choice(choice, to_width, extended),
                None => self.intern(TermKind::SignExtend(term), to_width),
            },
        }
    }

    fn extract_from_concat(&mut self, high: TermId, tail: TermId, low: u32, width: u32) -> TermId {
        let tail_width = self.width(tail);
        if low >= tail_width {
            return self.extract(high, low - tail_width, width);
        }
        if low + width <= tail_width {
            return self.extract(tail, low, width);
        }
        let upper = self.extract(high, 0, low + width - tail_width);
        let lower = self.extract(tail, low, tail_width - low);
        self.concat(upper, lower)
    }

    fn extract_from_zero_extend(&mut self, inner: TermId, low: u32, width: u32) -> TermId {
        let inner_width = self.width(inner);
        if low >= inner_width {
            return self.zero(width);
        }
        let kept = self.extract(inner, low, width.min(inner_width - low));
        self.zero_extend(kept, width)
    }

    fn extract_from_sign_extend(&mut self, inner: TermId, low: u32, width: u32) -> TermId {
        let inner_width = self.width(inner);
        let low = low.min(inner_width - 1);
        let kept = self.extract(inner, low, width.min(inner_width - low));
        self.sign_extend(kept, width)
    }

    /// Into the branches only where both give way at once, else the extraction would walk a chain of choices.
    fn extract_from_choice(&mut self, term: TermId, low: u32, width: u32) -> TermId {
        match *self.kind(term) {
            TermKind::IfThenElse { condition, then, otherwise }
                if self.gives_way(then) && self.gives_way(otherwise) =>
            {
                let then = self.extract(then, low, width);
                let otherwise = self.extract(otherwise, low, width);
                self.if_then_else(condition, then, otherwise)
            }
            _ => self.intern(TermKind::Extract { term, low }, width),
        }
    }

    fn gives_way(&self, term: TermId) -> bool {
        use TermKind::{Concat, Constant, Extract, SignExtend, ZeroExtend};
        matches!(self.kind(term), Constant(_) | ZeroExtend(_) | SignExtend(_) | Concat { .. } | Extract { .. })
    }

    fn extract_from_binary(&mut self, term: TermId, parts: (BinaryOp, TermId, TermId), low: u32, width: u32) -> TermId {
        let (op, a, b) = parts;
        if let Some((x, distance)) = self.as_binary_with_constant(BinaryOp::Shl, term) {
            return self.extract_from_shift(term, x, distance as u32, low, width);
        }
        let bitwise = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        let modular = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        let narrow = self.is_extended_from(a, low + width) && self.is_extended_from(b, low + width);
        if narrow && (bitwise || (modular && low == 0)) {
            let (a, b) = (self.extract(a, low, width), self.extract(b, low, width));
            return self.binary(op, a, b);
        }
        self.intern(TermKind::Extract { term, low }, width)
    }

    fn extract_from_shift(&mut self, term: TermId, x: TermId, distance: u32, low: u32, width: u32) -> TermId {
        if low >= distance {
            return self.extract(x, low - distance, width);
        }
        if low + width <= distance {
            return self.zero(width);
        }
        self.intern(TermKind::Extract { term, low }, width)
    }

    /// A constant, or an extension from at most `width` bits: its low bits cost nothing to take.
    fn is_extended_from(&self, term: TermId, width: u32) -> bool {
        match *self.kind(term) {
            TermKind::Constant(_) => true,
            TermKind::ZeroExtend(inner) | TermKind::SignExtend(inner) => self.width(inner) <= width,
            _ => false,
        }
    }

    fn concat_within(&mut self, high: TermId, low: TermId, rebuilt: &mut u32) -> TermId {
        let width = self.width(high) + self.width(low);
        if self.as_constant(high) == Some(0) {
            return self.zero_extend(low, width);
        }
        if let Some(joined) = self.joined(high, low) {
            return joined;
        }
        if let TermKind::Concat { high: first, low: second } = *self.kind(high) {
            let tail = self.concat_within(second, low, rebuilt);
            return self.concat_within(first, tail, rebuilt);
        }
        if let TermKind::Concat { high: head, low: tail } = *self.kind(low)
            && let Some(joined) = self.joined(high, head)
        {
            return self.concat_within(joined, tail, rebuilt);
        }
        if let Some(choice) = self.concat_of_choices(high, low, rebuilt) {
            return choice;
        }
        self.intern(TermKind::Concat { high, low }, width)
    }

    /// Two constants, or two neighbouring pieces of one term, are one piece.
    fn joined(&mut self, high: TermId, low: TermId) -> Option<TermId> {
        let (high_width, low_width) = (self.width(high), self.width(low));
        let width = high_width + low_width;
        if let (Some(h), Some(l)) = (self.as_constant(high), self.as_constant(low)) {
            return Some(self.constant((h << low_width) | l, width));
        }
        let TermKind::Extract { term, low: high_start } = *self.kind(high) else {
            return None;
        };
        let (whole, low_start) = match *self.kind(low) {
            TermKind::Extract { term, low } => (term, low),
            _ => (low, 0),
        };
        (whole == term && low_start + low_width == high_start).then(|| self.extract(term, low_start, width))
    }

    fn concat_of_choices(&mut self, high: TermId, low: TermId, rebuilt: &mut u32) -> Option<TermId> {
        let TermKind::IfThenElse { condition, then: high_then, otherwise: high_otherwise } = *self.kind(high) else {
            return None;
        };
        let TermKind::IfThenElse { condition: same, then: low_then, otherwise: low_otherwise } = *self.kind(low) else {
            return None;
        };
        if condition != same || *rebuilt == 0 {
            return None;
        }
        *rebuilt -= 1;
        let then = self.concat_within(high_then, low_then, rebuilt);
        let otherwise = self.concat_within(high_otherwise, low_otherwise, rebuilt);
        Some(self.if_then_else(condition, then, otherwise))
    }
}
