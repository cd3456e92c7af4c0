//! Instructions that belong together: what the front end makes of one condition is a comparison, negations, a marker,
//! and a branch on what the marker hands back.

use branchwise_program::code::{
    Binary, BinaryOp, Block, Cast, CastOp, Compare, CompareOp, Function, Instruction, Operand, Terminator,
};
use branchwise_program::{IdVec, MarkerId, RegisterId};

/// A comparison that the block's branch follows, and that a marker may report: the second edge if it holds.
#[derive(Debug)]
pub(super) struct Condition {
    pub op: CompareOp,
    pub width: u32,
    pub left: Operand,
    pub right: Operand,
    pub marker: Option<MarkerId>,
    /// The first of the block's instructions that only serve this condition; the others up to the end do as well.
    pub first: usize,
}

/// The condition that a block ends with, if what computes it is read nowhere else.
pub(super) fn condition(block: &Block, uses: &IdVec<RegisterId, u32>) -> Option<Condition> {
    marked_condition(block, uses).or_else(|| plain_condition(block, uses))
}

fn plain_condition(block: &Block, uses: &IdVec<RegisterId, u32>) -> Option<Condition> {
    let Terminator::Branch { condition: Operand::Register(branched), .. } = block.terminator else { return None };
    let mut tail = Tail { block, uses, end: block.instructions.len(), wanted: branched };
    let Instruction::Compare(compare) = tail.pop()? else { return None };
    Some(tail.comparison(compare, false, None))
}

fn marked_condition(block: &Block, uses: &IdVec<RegisterId, u32>) -> Option<Condition> {
    let Terminator::Branch { condition: Operand::Register(branched), .. } = block.terminator else { return None };
    let mut tail = Tail { block, uses, end: block.instructions.len(), wanted: branched };
    let Instruction::Compare(Compare { op: CompareOp::Ne, left: Operand::Register(marked), right, .. }) = tail.pop()?
    else {
        return None;
    };
    tail.wanted = *marked;
    let Instruction::MarkCondition { marker, value: Operand::Register(value), .. } = tail.pop()? else { return None };
    if *right != Operand::Constant(0) {
        return None;
    }
    tail.wanted = *value;
    let Instruction::Cast(Cast { op: CastOp::ZeroExtend, from: 1, value: Operand::Register(bit), .. }) = tail.pop()?
    else {
        return None;
    };
    tail.wanted = *bit;
    let mut negated = false;
    loop {
        match tail.pop() {
            Some(Instruction::Binary(Binary {
                op: BinaryOp::Xor,
                width: 1,
                left: Operand::Register(bit),
                right: Operand::Constant(1),
                ..
            })) => {
                negated = !negated;
                tail.wanted = *bit;
            }
            Some(Instruction::Compare(compare)) => return Some(tail.comparison(compare, negated, Some(*marker))),
            _ => return None,
        }
    }
}

/// What a condition compares, where that is a number which is read from memory for it.
#[derive(Debug)]
pub(super) struct Loaded {
    pub width: u32,
    pub base: Operand,
    pub constant: i64,
    /// To the width of the comparison; else by zeros.
    pub sign_extended: bool,
    /// The first of the block's instructions that only serve this; the others up to the condition's do as well.
    pub first: usize,
}

/// Not for numbers of 64 bits: those may be pointers.
pub(super) fn loaded(block: &Block, condition: &Condition, uses: &IdVec<RegisterId, u32>) -> Option<Loaded> {
    let Operand::Register(compared) = condition.left else { return None };
    let only = |operand: &Operand, wanted: RegisterId| *operand == Operand::Register(wanted) && uses[wanted] == 1;
    let mut before = &block.instructions[..condition.first];
    let (mut wanted, mut extension) = (compared, None);
    if let [rest @ .., Instruction::Cast(cast)] = before
        && matches!(cast.op, CastOp::SignExtend | CastOp::ZeroExtend)
        && only(&condition.left, cast.out)
        && let Operand::Register(narrow) = cast.value
    {
        (before, wanted, extension) = (rest, narrow, Some(cast.op));
    }
    let [rest @ .., Instruction::Load { out, width, address }] = before else { return None };
    if !only(&Operand::Register(wanted), *out) || !matches!(width, 8 | 16 | 32) {
        return None;
    }
    let (mut base, mut constant, mut first) = (*address, 0, rest.len());
    if let [rest @ .., Instruction::Address(place)] = rest
        && place.scaled.is_empty()
        && only(address, place.out)
    {
        (base, constant, first) = (place.base, place.constant, rest.len());
    }
    Some(Loaded { width: *width, base, constant, sign_extended: extension == Some(CastOp::SignExtend), first })
}

/// A comparison that a marker reports, for what else than a branch follows.
#[derive(Debug)]
pub(super) struct Marked<'f> {
    pub compare: &'f Compare,
    pub negated: bool,
    pub marker: MarkerId,
    /// 1 bit: the outcome.
    pub out: RegisterId,
    /// How many instructions it consists of.
    pub length: usize,
}

/// The comparison with a marker with which the instructions begin, if what lies between is read nowhere else.
pub(super) fn marked<'f>(instructions: &'f [Instruction], uses: &IdVec<RegisterId, u32>) -> Option<Marked<'f>> {
    let (Instruction::Compare(compare), mut rest) = instructions.split_first()? else { return None };
    let only = |operand: &Operand, wanted: RegisterId| *operand == Operand::Register(wanted) && uses[wanted] == 1;
    let (mut bit, mut negated) = (compare.out, false);
    while let [
        Instruction::Binary(Binary { op: BinaryOp::Xor, width: 1, out, left, right: Operand::Constant(1), .. }),
        ..,
    ] = rest
        && only(left, bit)
    {
        (bit, negated, rest) = (*out, !negated, &rest[1..]);
    }
    let [
        Instruction::Cast(Cast { op: CastOp::ZeroExtend, from: 1, out: wide, value, .. }),
        Instruction::MarkCondition { out: mark, marker, value: reported },
        Instruction::Compare(Compare { op: CompareOp::Ne, left, right: Operand::Constant(0), out, .. }),
        behind @ ..,
    ] = rest
    else {
        return None;
    };
    let joined = only(value, bit) && only(reported, *wide) && only(left, *mark);
    let length = instructions.len() - behind.len();
    joined.then_some(Marked { compare, negated, marker: *marker, out: *out, length })
}

/// A block's switch, the marker before it, and the extension of its value for that.
#[derive(Debug)]
pub(super) struct MarkedSwitch {
    pub marker: MarkerId,
    /// The value is extended by zeros, not by its sign.
    pub zero_extended: bool,
    pub first: usize,
}

pub(super) fn marked_switch(block: &Block, uses: &IdVec<RegisterId, u32>) -> Option<MarkedSwitch> {
    let Terminator::Switch { value: switched, width, .. } = &block.terminator else { return None };
    let [.., before, Instruction::MarkSwitch { marker, value }] = &block.instructions[..] else { return None };
    let last = block.instructions.len() - 1;
    match before {
        Instruction::Cast(Cast {
            op: op @ (CastOp::SignExtend | CastOp::ZeroExtend),
            from,
            out,
            value: narrow,
            ..
        }) if *value == Operand::Register(*out) && uses[*out] == 1 && narrow == switched && from == width => {
            Some(MarkedSwitch { marker: *marker, zero_extended: *op == CastOp::ZeroExtend, first: last - 1 })
        }
        _ => None,
    }
}

/// The end of a block, read backwards.
struct Tail<'a> {
    block: &'a Block,
    uses: &'a IdVec<RegisterId, u32>,
    end: usize,
    wanted: RegisterId,
}

impl<'a> Tail<'a> {
    /// The instruction before, if it makes the wanted register and that is read once.
    fn pop(&mut self) -> Option<&'a Instruction> {
        let instruction = self.block.instructions[..self.end].last()?;
        let out = match instruction {
            Instruction::Binary(binary) => binary.out,
            Instruction::Compare(compare) => compare.out,
            Instruction::Cast(cast) => cast.out,
            Instruction::MarkCondition { out, .. } => *out,
            _ => return None,
        };
        if out != self.wanted || self.uses[out] != 1 {
            return None;
        }
        self.end -= 1;
        Some(instruction)
    }

    fn comparison(&self, compare: &Compare, negated: bool, marker: Option<MarkerId>) -> Condition {
        let op = if negated { compare.op.negated() } else { compare.op };
        Condition { op, width: compare.width, left: compare.left, right: compare.right, marker, first: self.end }
    }
}

/// How often each register is read.
pub(super) fn uses(function: &Function) -> IdVec<RegisterId, u32> {
    let mut uses: IdVec<RegisterId, u32> = function.registers.ids().map(|_| 0).collect();
    let mut count = |operand: &Operand| {
        if let Operand::Register(register) = operand {
            uses[*register] += 1;
        }
    };
    for block in function.blocks.values() {
        block.instructions.iter().for_each(|instruction| instruction.for_each_operand(&mut count));
        block.terminator.for_each_operand(&mut count);
    }
    uses
}
