//! Single changes of a model that may make a violated constraint true: the wanted value is pushed down from the
//! constraint, through the inverse of each operator with the other operands as they are, to a variable.

use std::collections::VecDeque;

use crate::hash::FastMap;
use crate::model::{Evaluator, Model};
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, VariableId};

/// How many wanted values are pushed down for one constraint.
const MOST_WISHES: usize = 400;

/// How many constants of the constraint, and how many of its variables, are combined when inversion has not helped.
const MOST_CONSTANTS: usize = 8;
const MOST_VARIABLES: usize = 8;

/// Give this variable this value.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub variable: VariableId,
    pub value: u128,
}

/// The moves for one violated constraint, the most promising first: exact inverses and nearest bounds, then the
/// constants of the constraint and its neighbours, then round values. The evaluator is that of the model.
pub(super) fn moves(terms: &Terms, model: &Model, evaluator: &mut Evaluator, constraint: TermId) -> Vec<Move> {
    let mut wishes = Wishes { terms, model, evaluator, pending: VecDeque::new(), seen: FastMap::default() };
    let mut found = wishes.push_down(constraint);
    found.extend(guesses(terms, constraint));
    let mut seen = FastMap::default();
    found.retain(|found| model.get(found.variable) != found.value && seen.insert(*found, ()).is_none());
    found
}

/// A term and the value that it should have.
type Wish = (TermId, u128);

pub(super) struct Wishes<'a> {
    pub terms: &'a Terms,
    model: &'a Model,
    evaluator: &'a mut Evaluator,
    /// First in, first out: short ways to a variable are tried before long ones.
    pending: VecDeque<Wish>,
    seen: FastMap<Wish, ()>,
}

impl Wishes<'_> {
    fn push_down(&mut self, constraint: TermId) -> Vec<Move> {
        let mut found = Vec::new();
        self.wish(constraint, 1);
        while let Some((term, wanted)) = self.pending.pop_front() {
            match *self.terms.kind(term) {
                TermKind::Variable(variable) => found.push(Move { variable, value: wanted }),
                kind => self.invert(kind, self.terms.width(term), wanted),
            }
        }
        found
    }

    pub(super) fn wish(&mut self, term: TermId, wanted: u128) {
        if self.terms.as_constant(term).is_some() || self.seen.len() >= MOST_WISHES || self.value(term) == wanted {
            return;
        }
        if self.seen.insert((term, wanted), ()).is_none() {
            self.pending.push_back((term, wanted));
        }
    }

    pub(super) fn value(&mut self, term: TermId) -> u128 {
        self.evaluator.evaluate(self.terms, self.model, term)
    }

    fn invert(&mut self, kind: TermKind, width: u32, wanted: u128) {
        match kind {
            TermKind::Constant(_) | TermKind::Variable(_) => {}
            TermKind::Unary(op, a) => self.wish(a, semantics::unary(op, wanted, width)),
            TermKind::Binary(op, a, b) => self.invert_binary(op, a, b, width, wanted),
            TermKind::Compare(op, a, b) => self.invert_compare(op, a, b, wanted == 1),
            TermKind::IfThenElse { condition, then, otherwise } => {
                self.invert_choice(condition, then, otherwise, wanted)
            }
            TermKind::Extract { term, low } => self.invert_extract(term, low, width, wanted),
            TermKind::Concat { high, low } => self.invert_concat(high, low, wanted),
            TermKind::ZeroExtend(a) => {
                self.invert_extension(a, wanted, semantics::truncate(wanted, self.terms.width(a)))
            }
            TermKind::SignExtend(a) => self.invert_sign_extension(a, width, wanted),
            TermKind::Float(op, a, b, c) => self.invert_float(op, [Some(a), b, c], width, wanted),
        }
    }

    fn invert_choice(&mut self, condition: TermId, then: TermId, otherwise: TermId, wanted: u128) {
        let chosen = self.value(condition);
        let (taken, other) = if chosen == 1 { (then, otherwise) } else { (otherwise, then) };
        self.wish(taken, wanted);
        if self.value(other) == wanted {
            self.wish(condition, 1 - chosen);
        }
    }

    fn invert_extract(&mut self, term: TermId, low: u32, width: u32, wanted: u128) {
        let cleared = self.value(term) & !(semantics::mask(width) << low);
        self.wish(term, cleared | (wanted << low));
    }

    /// Both parts when both are wrong: neither alone is enough, but the parts may be one variable.
    fn invert_concat(&mut self, high: TermId, low: TermId, wanted: u128) {
        let low_width = self.terms.width(low);
        self.wish(high, wanted >> low_width);
        self.wish(low, semantics::truncate(wanted, low_width));
    }

    fn invert_extension(&mut self, a: TermId, wanted: u128, narrow: u128) {
        if narrow == wanted {
            self.wish(a, narrow);
        }
    }

    fn invert_sign_extension(&mut self, a: TermId, width: u32, wanted: u128) {
        let narrow_width = self.terms.width(a);
        let narrow = semantics::truncate(wanted, narrow_width);
        if semantics::truncate(semantics::signed(narrow, narrow_width) as u128, width) == wanted {
            self.wish(a, narrow);
        }
    }

    fn invert_binary(&mut self, op: BinaryOp, a: TermId, b: TermId, width: u32, wanted: u128) {
        let (left, right) = (self.value(a), self.value(b));
        if let Some(value) = left_operand(op, left, right, width, wanted) {
            self.wish(a, semantics::truncate(value, width));
        }
        if let Some(value) = right_operand(op, left, right, width, wanted) {
            self.wish(b, semantics::truncate(value, width));
        }
    }

    fn invert_compare(&mut self, op: CompareOp, a: TermId, b: TermId, wanted: bool) {
        let signed = matches!(op, CompareOp::Slt | CompareOp::Sle);
        match (op, wanted) {
            (CompareOp::Eq, true) => self.make_equal(a, b),
            (CompareOp::Eq, false) => self.make_different(a, b),
            (CompareOp::Ult | CompareOp::Slt, true) => self.make_ordered(a, b, 1, signed),
            (CompareOp::Ule | CompareOp::Sle, true) => self.make_ordered(a, b, 0, signed),
            (CompareOp::Ult | CompareOp::Slt, false) => self.make_ordered(b, a, 0, signed),
            (CompareOp::Ule | CompareOp::Sle, false) => self.make_ordered(b, a, 1, signed),
        }
    }

    fn make_equal(&mut self, a: TermId, b: TermId) {
        let (left, right) = (self.value(a), self.value(b));
        self.wish(a, right);
        self.wish(b, left);
    }

    fn make_different(&mut self, a: TermId, b: TermId) {
        let mask = semantics::mask(self.terms.width(a));
        let same = self.value(a);
        for value in [same.wrapping_add(1), same.wrapping_sub(1), 0, 1] {
            self.wish(a, value & mask);
            self.wish(b, value & mask);
        }
    }

    /// `below + gap <= above`. The nearest value first, then zero, then some room, then the end of the range.
    fn make_ordered(&mut self, below: TermId, above: TermId, gap: u128, signed: bool) {
        let width = self.terms.width(below);
        let mask = semantics::mask(width);
        // Flipping the sign bit turns the signed order into the unsigned one.
        let flip = if signed { semantics::signed_minimum(width) } else { 0 };
        let (least, most) = (self.value(below) ^ flip, self.value(above) ^ flip);
        let highest = most.checked_sub(gap);
        let lowest = least.checked_add(gap).filter(|&value| value <= mask);
        for place in 0..4 {
            if let Some(highest) = highest {
                let zero = if flip <= highest { flip } else { highest };
                let choice = [highest, zero, highest.saturating_sub(100), 0][place];
                self.wish(below, choice ^ flip);
            }
            if let Some(lowest) = lowest {
                let zero = if flip >= lowest { flip } else { lowest };
                let choice = [lowest, zero, lowest.saturating_add(100).min(mask), mask][place];
                self.wish(above, choice ^ flip);
            }
        }
    }
}

/// A left operand that gives the wanted result with this right one, as near to the present one as is easy.
fn left_operand(op: BinaryOp, left: u128, right: u128, width: u32, wanted: u128) -> Option<u128> {
    match op {
        BinaryOp::Add => Some(wanted.wrapping_sub(right)),
        BinaryOp::Sub => Some(wanted.wrapping_add(right)),
        BinaryOp::Xor => Some(wanted ^ right),
        BinaryOp::Mul => factor(right, width, wanted),
        BinaryOp::And => (wanted & !right == 0).then_some((left & !right) | wanted),
        BinaryOp::Or => (right & !wanted == 0).then_some((wanted & !right) | (left & right)),
        BinaryOp::UDiv | BinaryOp::SDiv => Some(wanted.wrapping_mul(right)),
        BinaryOp::URem | BinaryOp::SRem => {
            Some(left.wrapping_sub(semantics::binary(op, left, right, width)).wrapping_add(wanted))
        }
        BinaryOp::Shl => {
            let distance = u32::try_from(right).ok().filter(|&distance| distance < width)?;
            let lost = left & !semantics::mask(width - distance);
            Some((wanted >> distance) | lost)
        }
        BinaryOp::LShr | BinaryOp::AShr => {
            let distance = u32::try_from(right).ok().filter(|&distance| distance < width)?;
            Some((wanted << distance) | (left & semantics::mask(distance)))
        }
    }
}

fn right_operand(op: BinaryOp, left: u128, right: u128, width: u32, wanted: u128) -> Option<u128> {
    match op {
        BinaryOp::Add | BinaryOp::Xor | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or => {
            left_operand(op, right, left, width, wanted)
        }
        BinaryOp::Sub => Some(left.wrapping_sub(wanted)),
        BinaryOp::UDiv => left.checked_div(wanted),
        BinaryOp::SDiv => Some(semantics::binary(BinaryOp::SDiv, left, wanted, width)),
        BinaryOp::URem | BinaryOp::SRem => Some(left.wrapping_sub(wanted)),
        BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => {
            let distances = 0..=u128::from(width);
            distances.into_iter().find(|&distance| semantics::binary(op, left, distance, width) == wanted)
        }
    }
}

/// `x` with `x * known = wanted`, if division by the even part of `known` leaves nothing over.
fn factor(known: u128, width: u32, wanted: u128) -> Option<u128> {
    let zeros = known.trailing_zeros();
    if zeros >= width || wanted & semantics::mask(zeros) != 0 {
        return None;
    }
    Some((wanted >> zeros).wrapping_mul(semantics::inverse_of_odd(known >> zeros)))
}

/// Values that programs like to compare with, for the few variables of a constraint.
fn guesses(terms: &Terms, constraint: TermId) -> Vec<Move> {
    let variables = terms.variables(constraint);
    let constants = constants(terms, constraint);
    let mut found = Vec::new();
    for &variable in variables.iter().take(MOST_VARIABLES) {
        let mask = semantics::mask(terms.variable_width(variable));
        let near =
            constants.iter().flat_map(|&constant| [constant, constant.wrapping_add(1), constant.wrapping_sub(1)]);
        let values = [0, 1].into_iter().chain(near).chain([mask]);
        found.extend(values.map(|value| Move { variable, value: value & mask }));
    }
    found
}

fn constants(terms: &Terms, constraint: TermId) -> Vec<u128> {
    let mut seen = FastMap::default();
    let mut pending = VecDeque::from([constraint]);
    let mut found = Vec::new();
    while let Some(term) = pending.pop_front() {
        if found.len() >= MOST_CONSTANTS || seen.len() >= MOST_WISHES || seen.insert(term, ()).is_some() {
            continue;
        }
        match terms.kind(term) {
            TermKind::Constant(value) if !found.contains(value) => found.push(*value),
            kind => pending.extend(kind.operands()),
        }
    }
    found
}

/// The conjuncts of a constraint, each a step on the way.
pub(super) fn conjuncts(terms: &Terms, constraint: TermId, found: &mut Vec<TermId>) {
    let mut pending = vec![constraint];
    while let Some(term) = pending.pop() {
        match *terms.kind(term) {
            TermKind::Binary(BinaryOp::And, a, b) => pending.extend([b, a]),
            _ => found.push(term),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inverse_holds(op: BinaryOp, width: u32) {
        for left in 0..1u128 << width {
            for right in 0..1u128 << width {
                let wanted = semantics::binary(op, left, right, width);
                let found = left_operand(op, left, right, width, wanted).map(|value| semantics::truncate(value, width));
                let again = found.map(|value| semantics::binary(op, value, right, width));
                assert!(again.is_none_or(|again| again == wanted), "{op:?} {left} {right} {found:?}");
            }
        }
    }

    /// A wrong inverse is only a wasted evaluation, but these should never be wrong where a solution exists.
    #[test]
    fn inverses_of_reachable_values_are_right() {
        use BinaryOp::{Add, And, LShr, Mul, Or, Shl, Sub, URem, Xor};
        for op in [Add, Sub, Mul, And, Or, Xor, Shl, LShr, URem] {
            inverse_holds(op, 4);
        }
    }

    #[test]
    fn negated_terms_are_inverted() {
        let mut terms = Terms::new();
        let x = terms.variable("x", 8);
        let id = terms.variable_id(x).expect("a variable");
        let (three, seven) = (terms.constant(3, 8), terms.constant(7, 8));
        let product = terms.mul(x, three);
        let negated = terms.neg(product);
        let sum = terms.add(negated, x);
        let constraint = terms.equal(sum, seven);
        let (model, mut evaluator) = (Model::new(), Evaluator::new());
        let found = moves(&terms, &model, &mut evaluator, constraint);
        assert!(found.iter().any(|found| found.variable == id));
    }
}
