//! If-then-else.

use crate::semantics;
use crate::terms::{TermId, TermKind, Terms, UnaryOp};

impl Terms {
    /// `condition` has width 1, the branches one common width.
    pub fn if_then_else(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        self.assert_same_width(then, otherwise);
        assert!(self.width(condition) == 1, "the condition of a choice is a boolean");
        if let Some(known) = self.as_constant(condition) {
            return if known == 1 { then } else { otherwise };
        }
        if let Some(negated) = self.as_unary(UnaryOp::Not, condition) {
            return self.if_then_else(negated, otherwise, then);
        }
        let then = self.branch_under(condition, then, Outcome::Holds);
        let otherwise = self.branch_under(condition, otherwise, Outcome::Fails);
        if then == otherwise {
            return then;
        }
        if self.width(then) == 1 {
            return self.boolean_choice(condition, then, otherwise);
        }
        self.vector_choice(condition, then, otherwise)
    }

    /// A branch that asks the same condition again knows the answer.
    fn branch_under(&self, known: TermId, branch: TermId, outcome: Outcome) -> TermId {
        match (*self.kind(branch), outcome) {
            (TermKind::IfThenElse { condition, then, .. }, Outcome::Holds) if condition == known => then,
            (TermKind::IfThenElse { condition, otherwise, .. }, Outcome::Fails) if condition == known => otherwise,
            _ => branch,
        }
    }

    fn boolean_choice(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        match (self.as_boolean(then), self.as_boolean(otherwise)) {
            (Some(true), _) => self.or(condition, otherwise),
            (_, Some(false)) => self.and(condition, then),
            (Some(false), _) => {
                let negated = self.not(condition);
                self.and(negated, otherwise)
            }
            (_, Some(true)) => self.implies(condition, then),
            _ if then == condition => self.or(condition, otherwise),
            _ if otherwise == condition => self.and(condition, then),
            _ => self.intern(TermKind::IfThenElse { condition, then, otherwise }, 1),
        }
    }

    fn vector_choice(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        let width = self.width(then);
        let ones = semantics::mask(width);
        match (self.as_constant(then), self.as_constant(otherwise)) {
            (Some(1), Some(0)) => self.zero_extend(condition, width),
            (Some(0), Some(1)) => self.extend_negation(condition, width, Self::zero_extend),
            (Some(value), Some(0)) if value == ones => self.sign_extend(condition, width),
            (Some(0), Some(value)) if value == ones => self.extend_negation(condition, width, Self::sign_extend),
            _ => self.merged_choice(condition, then, otherwise),
        }
    }

    fn extend_negation(
        &mut self,
        condition: TermId,
        width: u32,
        extend: fn(&mut Self, TermId, u32) -> TermId,
    ) -> TermId {
        let negated = self.not(condition);
        extend(self, negated, width)
    }

    /// `if c then x else (if d then x else y)` is `if c or d then x else y`. Two branches extended from one width
    /// are chosen between before the extension, where comparisons look first.
    fn merged_choice(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        let width = self.width(then);
        if let TermKind::IfThenElse { condition: second, then: same, otherwise: rest } = *self.kind(otherwise)
            && same == then
        {
            let either = self.or(condition, second);
            return self.intern(TermKind::IfThenElse { condition: either, then, otherwise: rest }, width);
        }
        match (*self.kind(then), *self.kind(otherwise)) {
            (TermKind::ZeroExtend(x), TermKind::ZeroExtend(y)) if self.width(x) == self.width(y) => {
                let narrow = self.if_then_else(condition, x, y);
                self.zero_extend(narrow, width)
            }
            (TermKind::SignExtend(x), TermKind::SignExtend(y)) if self.width(x) == self.width(y) => {
                let narrow = self.if_then_else(condition, x, y);
                self.sign_extend(narrow, width)
            }
            _ => self.intern(TermKind::IfThenElse { condition, then, otherwise }, width),
        }
    }

    /// The condition of a zero-extended boolean.
    pub(super) fn as_zero_extended_boolean(&self, term: TermId) -> Option<TermId> {
        self.as_zero_extend(term).filter(|inner| self.width(*inner) == 1)
    }
}

#[derive(Copy, Clone)]
enum Outcome {
    Holds,
    Fails,
}
