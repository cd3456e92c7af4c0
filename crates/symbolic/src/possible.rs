//! Undefined arithmetic: where a path goes on behind it, and where it ends there.
//!
//! Undefined behaviour after which the machine goes on, and which another input may show where this one does not. A path
//! only remembers where and of what; the conditions are made when somebody looks for such an input, because most are
//! never asked for.

use std::collections::HashMap;

use branchwise_constraints::{BinaryOp as TermOp, CompareOp as TermCompare, TermId, Terms};
use branchwise_program::assumption::Assumption;
use branchwise_program::assumption::catalogue::PRECONDITION;
use branchwise_program::code::BinaryOp;

use crate::executor::{Executor, Step};
use crate::path::{AlternativeKind, FaultKind, Site, UndefinedFrom};
use crate::session::Session;

/// Of one instruction in a loop, so many of the first times and the last time are remembered.
const FIRST_TIMES: usize = 4;

/// What paths do where arithmetic is undefined.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
pub enum Undefined {
    /// They go on as the machine does.
    #[default]
    Follow,
    /// They end there.
    Forbid,
    /// The same, and operands for which that is plain are an alternative of their own, because conditions on these are easier to
    /// solve.
    Avoid,
}

/// An instruction that a path executed and that has undefined behaviour for some operands.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub struct PossibleFault {
    pub site: Site,
    pub kind: FaultKind,
    /// How many decisions of the path came before.
    pub decisions: usize,
    /// How many of the conditions on shapes that became active since the last of them.
    pub domain: usize,
    operands: Operands,
}

/// What decides whether it is undefined.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
enum Operands {
    /// The exact result does not fit the width of the operands.
    Arithmetic { op: BinaryOp, left: TermId, right: TermId },
    /// The distance of a shift is the width or more.
    Distance(TermId),
    /// This holds.
    Condition(TermId),
}

/// The possible faults of a path, a few of each instruction.
#[derive(Debug, Default)]
pub(crate) struct PossibleFaults {
    pub all: Vec<PossibleFault>,
    /// How often each instruction was met, and where its last one stands.
    met: HashMap<(Site, FaultKind), (usize, usize)>,
}

impl PossibleFaults {
    fn add(&mut self, fault: PossibleFault) {
        let (times, last) = self.met.entry((fault.site, fault.kind)).or_insert((0, 0));
        *times += 1;
        if *times > FIRST_TIMES + 1 {
            self.all[*last] = fault;
            return;
        }
        *last = self.all.len();
        self.all.push(fault);
    }
}

impl Executor<'_, '_> {
    /// A sum, difference or product of terms; `is_here`: the input of this path overflows.
    pub(crate) fn may_overflow(&mut self, (op, left, right): (BinaryOp, TermId, TermId), is_here: bool) -> Step<()> {
        let message = overflow_message(op);
        self.may_be_undefined((FaultKind::SignedOverflow, message), Operands::Arithmetic { op, left, right }, is_here)
    }

    pub(crate) fn may_shift_too_far(&mut self, distance: TermId, is_here: bool) -> Step<()> {
        self.may_be_undefined((FaultKind::ShiftTooFar, TOO_FAR), Operands::Distance(distance), is_here)
    }

    pub(crate) fn may_not_fit(&mut self, outside: TermId, is_here: bool) -> Step<()> {
        self.may_be_undefined((FaultKind::FloatOutOfRange, NOT_FITTING), Operands::Condition(outside), is_here)
    }

    fn may_be_undefined(&mut self, what: (FaultKind, &str), operands: Operands, is_here: bool) -> Step<()> {
        match (self.session.undefined, is_here) {
            (Undefined::Forbid | Undefined::Avoid, _) => self.forbid(what, operands),
            (Undefined::Follow, true) => self.note_undefined(what.0, what.1),
            (Undefined::Follow, false) => {
                self.remember(what.0, operands);
                Ok(())
            }
        }
    }

    /// Ends the path where it does what is undefined; the way past that is an alternative of its own.
    fn forbid(&mut self, (kind, message): (FaultKind, &str), operands: Operands) -> Step<()> {
        let condition = exact_condition(&mut self.session.terms, operands);
        if self.in_precondition() || self.in_model() || self.session.is_garbage(condition) {
            return Ok(());
        }
        if self.session.terms.as_boolean(condition) != Some(false) {
            self.rest_on(forbidden());
        }
        let avoids = self.session.undefined == Undefined::Avoid;
        let inside = if avoids { far_inside(&mut self.session.terms, operands) } else { None };
        if let Some(inside) = inside
            && self.decide(inside, [AlternativeKind::Continue; 2])?
        {
            return Ok(());
        }
        if self.decide_fault(condition, kind)? { self.fail(kind, message) } else { Ok(()) }
    }

    /// Undefined behaviour after which the machine goes on.
    pub(crate) fn note_undefined(&mut self, kind: FaultKind, message: &str) -> Step<()> {
        if self.in_precondition() {
            return Ok(());
        }
        if self.session.undefined != Undefined::Follow && !self.in_model() {
            self.rest_on(forbidden());
            return self.fail(kind, message);
        }
        // What one of many ways does is looked for on the path of an input.
        if self.unites() {
            return Ok(());
        }
        let fault = self.fault(kind, message);
        let (events, readings) = (self.events.len(), self.probes.readings.len());
        self.notes.undefined_from.get_or_insert_with(|| UndefinedFrom { events, readings, fault: fault.clone() });
        let earlier = if self.is_before_unit() { 0 } else { self.notes.undefined_in_earlier_calls };
        if self.notes.undefined[earlier..].iter().any(|known| known.site == fault.site && known.kind == kind) {
            return Ok(());
        }
        self.notes.undefined.push(fault);
        if self.is_before_unit() {
            self.notes.undefined_in_earlier_calls = self.notes.undefined.len();
        }
        Ok(())
    }

    /// Only in the call under test, and only in the user's code: what a model computes is not what the library does.
    fn remember(&mut self, kind: FaultKind, operands: Operands) {
        if self.is_before_unit() || self.in_precondition() || self.in_model() {
            return;
        }
        let decisions = self.decision_count();
        let fault = PossibleFault { site: self.site(), kind, decisions, domain: self.domain.len(), operands };
        self.possible.add(fault);
    }
}

/// The precondition that the user states with `--undefined forbid`.
fn forbidden() -> Assumption {
    PRECONDITION.about("no undefined arithmetic (--undefined forbid)").stated()
}

pub(crate) const TOO_FAR: &str = "shift by the width of the type or more";
const NOT_FITTING: &str = "a float that does not fit the integer it is converted to";

pub(crate) fn overflow_message(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "signed overflow in an addition",
        BinaryOp::Sub => "signed overflow in a subtraction",
        BinaryOp::Mul => "signed overflow in a multiplication",
        _ => "signed overflow",
    }
}

/// The condition under which it is undefined.
fn exact_condition(terms: &mut Terms, operands: Operands) -> TermId {
    match operands {
        Operands::Arithmetic { op, left, right } => overflow(terms, op, left, right),
        Operands::Distance(distance) => {
            let width = terms.width(distance);
            let first = terms.constant(u128::from(width), width);
            terms.compare(TermCompare::Ule, first, distance)
        }
        Operands::Condition(condition) => condition,
    }
}

impl Session<'_> {
    /// Conditions on inputs that come there the same way, each of which is enough to show the fault; the last one holds for
    /// all inputs that do, those before are easier to solve. None where it depends on values that were never written.
    pub fn conditions_of(&mut self, fault: &PossibleFault) -> Vec<TermId> {
        let terms = &mut self.terms;
        let mut conditions = Vec::new();
        if let Operands::Arithmetic { op, left, right } = fault.operands {
            conditions.extend(far_outside(terms, op, left, right));
        }
        conditions.push(exact_condition(terms, fault.operands));
        conditions.retain(|&condition| self.terms.as_boolean(condition) != Some(false));
        if conditions.iter().any(|&condition| self.is_garbage(condition)) { Vec::new() } else { conditions }
    }
}

/// Bounds on each operand alone that make the result too large: half of the largest for sums and differences, its root for
/// products. With a constant operand the exact condition is as easy.
fn far_outside(terms: &mut Terms, op: BinaryOp, left: TermId, right: TermId) -> Option<TermId> {
    if terms.as_constant(left).is_some() || terms.as_constant(right).is_some() {
        return None;
    }
    let width = terms.width(left);
    let far = 1_u128 << if op == BinaryOp::Mul { width / 2 } else { width - 2 };
    let least = terms.constant(far, width);
    let left = terms.compare(TermCompare::Sle, least, left);
    let right = match op {
        BinaryOp::Sub => {
            let most = terms.constant(far.wrapping_neg(), width);
            terms.compare(TermCompare::Sle, right, most)
        }
        _ => terms.compare(TermCompare::Sle, least, right),
    };
    Some(terms.and(left, right))
}

/// Bounds on each operand alone that keep the result within the type. `None` where the exact condition is as easy.
fn far_inside(terms: &mut Terms, operands: Operands) -> Option<TermId> {
    let Operands::Arithmetic { op, left, right } = operands else { return None };
    if terms.as_constant(left).is_some() || terms.as_constant(right).is_some() {
        return None;
    }
    let width = terms.width(left);
    let limit = 1_u128 << if op == BinaryOp::Mul { width / 2 - 1 } else { width - 2 };
    let (least, most) = (terms.constant(limit.wrapping_neg(), width), terms.constant(limit - 1, width));
    let sides = [left, right].map(|side| {
        let (above, below) =
            (terms.compare(TermCompare::Sle, least, side), terms.compare(TermCompare::Sle, side, most));
        terms.and(above, below)
    });
    Some(terms.and(sides[0], sides[1]))
}

/// Computed with as many bits as the exact result needs, it lies outside.
fn overflow(terms: &mut Terms, op: BinaryOp, left: TermId, right: TermId) -> TermId {
    let width = terms.width(left);
    let (op, wide) = match op {
        BinaryOp::Add => (TermOp::Add, width + 1),
        BinaryOp::Sub => (TermOp::Sub, width + 1),
        _ => (TermOp::Mul, 2 * width),
    };
    let (left, right) = (terms.sign_extend(left, wide), terms.sign_extend(right, wide));
    let exact = terms.binary(op, left, right);
    let limit = 1_u128 << (width - 1);
    let (smallest, largest) = (terms.constant(limit.wrapping_neg(), wide), terms.constant(limit - 1, wide));
    let below = terms.compare(TermCompare::Slt, exact, smallest);
    let above = terms.compare(TermCompare::Slt, largest, exact);
    terms.or(below, above)
}

#[cfg(test)]
mod tests {
    use branchwise_constraints::{Evaluator, Model};

    use super::*;

    /// The condition holds for exactly the operands whose exact result does not fit, the easier one only for such.
    #[test]
    fn overflow_is_what_does_not_fit() {
        let mut terms = Terms::new();
        let (left, right) = (terms.variable("left", 8), terms.variable("right", 8));
        let variables = [left, right].map(|term| terms.variable_id(term).expect("a variable"));
        for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul] {
            let condition = overflow(&mut terms, op, left, right);
            let easier = far_outside(&mut terms, op, left, right).expect("no operand is constant");
            let mut easy = 0;
            for (a, b) in (-128..128_i32).flat_map(|a| (-128..128_i32).map(move |b| (a, b))) {
                let exact = match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Sub => a - b,
                    _ => a * b,
                };
                let model: Model = variables.into_iter().zip([a as u8, b as u8].map(u128::from)).collect();
                let holds = |condition| Evaluator::new().evaluate(&terms, &model, condition) == 1;
                assert_eq!(holds(condition), i8::try_from(exact).is_err(), "{op:?} of {a} and {b}");
                assert!(holds(condition) || !holds(easier), "{op:?} of {a} and {b}");
                easy += u32::from(holds(easier));
            }
            assert!(easy > 0, "the easier condition of {op:?} is not empty");
        }
    }

    #[test]
    fn of_a_loop_the_first_times_and_the_last_are_kept() {
        let mut terms = Terms::new();
        let distance = terms.variable("n", 32);
        let site = Site {
            function: branchwise_program::CodeFunctionId(0),
            block: branchwise_program::BlockId(0),
            instruction: 0,
        };
        let mut possible = PossibleFaults::default();
        for decisions in 0..100 {
            let kind = FaultKind::ShiftTooFar;
            possible.add(PossibleFault { site, kind, decisions, domain: 0, operands: Operands::Distance(distance) });
        }
        let kept: Vec<usize> = possible.all.iter().map(|fault| fault.decisions).collect();
        assert_eq!(kept, [0, 1, 2, 3, 99]);
    }
}
