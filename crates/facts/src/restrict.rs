//! What a decision says of the values that it was made from.

use branchwise_program::RegisterId;
use branchwise_program::code::{BinaryOp, CastOp, CompareOp, Instruction, Operand};

use crate::interpreter::Run;
use crate::number::{Number, mask};
use crate::state::State;

/// Longer chains of definitions are not followed.
const LONGEST_CHAIN: usize = 24;

impl Run<'_, '_> {
    /// Only executions in which the operand is one of these go on; `false` if there are none.
    pub(crate) fn restrict(&self, state: &mut State, operand: &Operand, allowed: &Number) -> bool {
        self.restrict_within(state, operand, allowed, LONGEST_CHAIN)
    }

    /// Only executions in which the operand is not this constant go on.
    pub(crate) fn exclude(&self, state: &mut State, operand: &Operand, constant: &Number) -> bool {
        self.hold(state, CompareOp::Ne, [operand, &constant_operand(constant)], constant.width(), LONGEST_CHAIN)
    }

    pub(crate) fn restrict_within(&self, state: &mut State, operand: &Operand, allowed: &Number, chain: usize) -> bool {
        let value = self.value(state, operand, allowed.width());
        let Some(number) = value.number.meet(allowed) else { return false };
        let Operand::Register(register) = operand else { return true };
        if number == value.number && state.registers.contains_key(register) && !self.is_decided(*register, &number) {
            return true;
        }
        if state.registers.contains_key(register) {
            self.note(state, *register, &number);
        }
        chain == 0 || self.follow_definition(state, *register, &number, chain - 1)
    }

    /// A bit that was known before may still say something of what it was made from, after that became better known.
    fn is_decided(&self, register: RegisterId, number: &Number) -> bool {
        self.function.registers[register] == 1 && number.as_constant().is_some()
    }

    /// The register, and what it is a copy of.
    fn note(&self, state: &mut State, register: RegisterId, number: &Number) {
        let mirrors = match state.mirrored(register) {
            Some(place) => {
                state.memory.restrict(place.object, place.at, place.size, number);
                state.mirrors_of(place)
            }
            None => vec![register],
        };
        for mirror in mirrors {
            if let Some(value) = state.registers.get_mut(&mirror)
                && let Some(met) = value.number.meet(number)
            {
                value.number = met;
            }
        }
    }

    fn follow_definition(&self, state: &mut State, register: RegisterId, number: &Number, chain: usize) -> bool {
        match self.definition(register) {
            Some(Instruction::Cast(cast)) => {
                let source = self.value(state, &cast.value, cast.from).number;
                let Some(allowed) = before_cast(cast.op, cast.from, &source, number) else { return true };
                allowed.is_some_and(|allowed| self.restrict_within(state, &cast.value, &allowed, chain))
            }
            Some(Instruction::Compare(compare)) => match number.as_constant() {
                Some(truth) => {
                    let op = if truth == 1 { compare.op } else { compare.op.negated() };
                    self.hold(state, op, [&compare.left, &compare.right], compare.width, chain)
                }
                None => true,
            },
            Some(Instruction::MarkCondition { value, .. }) => match number.as_constant() {
                Some(0) => self.restrict_within(state, value, &Number::constant(32, 0), chain),
                _ if number.contains(0) => true,
                _ => self.hold(state, CompareOp::Ne, [value, &Operand::Constant(0)], 32, chain),
            },
            Some(Instruction::Binary(binary)) => {
                self.before_binary(state, binary.op, [&binary.left, &binary.right], number, chain)
            }
            Some(Instruction::Float(float)) => self.before_float(state, float, number, chain),
            None => match state.brought(register) {
                Some(from) => self.restrict_within(state, &Operand::Register(from), number, chain),
                None => true,
            },
            _ => true,
        }
    }

    /// A comparison holds.
    fn hold(&self, state: &mut State, op: CompareOp, sides: [&Operand; 2], width: u32, chain: usize) -> bool {
        let [left, right] = sides.map(|side| self.value(state, side, width).number);
        let Some((left, right)) = Number::restricted(op, &left, &right) else { return false };
        self.restrict_within(state, sides[0], &left, chain) && self.restrict_within(state, sides[1], &right, chain)
    }

    fn before_binary(
        &self,
        state: &mut State,
        op: BinaryOp,
        [left, right]: [&Operand; 2],
        number: &Number,
        chain: usize,
    ) -> bool {
        let width = number.width();
        match (op, right) {
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor, Operand::Constant(bits)) => {
                let inverse = match op {
                    BinaryOp::Add => BinaryOp::Sub,
                    BinaryOp::Sub => BinaryOp::Add,
                    other => other,
                };
                let before = Number::binary(inverse, number, &Number::constant(width, *bits));
                before.is_none_or(|before| self.restrict_within(state, left, &before, chain))
            }
            (BinaryOp::And, Operand::Constant(bits)) if number.is_float() && *bits == u128::from(mask(width) >> 1) => {
                let before = self.value(state, left, width).number.before_absolute(number);
                before.is_some_and(|before| self.restrict_within(state, left, &before, chain))
            }
            (BinaryOp::And, _) if width == 1 && number.as_constant() == Some(1) => {
                [left, right].iter().all(|side| self.restrict_within(state, side, number, chain))
            }
            (BinaryOp::Or, _) if number.as_constant() == Some(0) => {
                [left, right].iter().all(|side| self.restrict_within(state, side, number, chain))
            }
            _ => true,
        }
    }
}

fn constant_operand(number: &Number) -> Operand {
    Operand::Constant(number.as_constant().map_or(0, u128::from))
}

/// The sources that a cast makes one of these numbers of; `None` if that says nothing.
fn before_cast(op: CastOp, from: u32, source: &Number, number: &Number) -> Option<Option<Number>> {
    if from > 64 || number.width() > 64 {
        return None;
    }
    let whole = mask(number.width());
    match op {
        CastOp::Copy => Some(Some(number.clone())),
        CastOp::ZeroExtend => {
            let fitting = Number::unsigned_range(number.width(), 0, mask(from))?;
            Some(number.meet(&fitting).map(|fitting| fitting.cast(CastOp::Truncate, from)))
        }
        CastOp::SignExtend => {
            let (least, most) = Number::any(from).signed_bounds();
            let fitting = Number::signed_range(number.width(), least, most)?;
            Some(number.meet(&fitting).map(|fitting| fitting.cast(CastOp::Truncate, from)))
        }
        CastOp::Truncate if source.unsigned_bounds().1 <= whole => Some(Some(number.cast(CastOp::ZeroExtend, from))),
        CastOp::Truncate => {
            let (least, most) = Number::any(number.width()).signed_bounds();
            let (low, high) = source.signed_bounds();
            let fits = low >= least && high <= most;
            fits.then(|| Some(number.cast(CastOp::SignExtend, from)))
        }
    }
}
