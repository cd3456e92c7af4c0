//! Instructions that belong together: what the front end makes of one condition is a comparison, negations, a marker,
//! and a branch on what the marker hands back.

use branchwise_program::code::{
    Binary, BinaryOp, Block, Cast, CastOp, Compare, CompareOp, Function, Instruction, Operand, Terminator,
};
use branchwise_program::{IdVec, MarkerId, RegisterId};

/// A comparison that a marker reports and the block's branch follows: the second edge if it holds.
#[derive(Debug)]
pub(super) struct Condition {
    pub op: CompareOp,
    pub width: u32,
    pub left: Operand,
    pub right: Operand,
    pub marker: MarkerId,
    /// The first of the block's instructions that only serve this condition; the others up to the end do as well.
    pub first: usize,
}

/// The condition that a block ends with, if what computes it is read nowhere else.
pub(super) fn condition(block: &Block, uses: &IdVec<RegisterId, u32>) -> Option<Condition> {
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
            Some(Instruction::Compare(compare)) => return Some(tail.comparison(compare, negated, *marker)),
            _ => return None,
        }
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

    fn comparison(&self, compare: &Compare, negated: bool, marker: MarkerId) -> Condition {
        let op = if negated { negation(compare.op) } else { compare.op };
        Condition { op, width: compare.width, left: compare.left, right: compare.right, marker, first: self.end }
    }
}

fn negation(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Ult => CompareOp::Uge,
        CompareOp::Ule => CompareOp::Ugt,
        CompareOp::Ugt => CompareOp::Ule,
        CompareOp::Uge => CompareOp::Ult,
        CompareOp::Slt => CompareOp::Sge,
        CompareOp::Sle => CompareOp::Sgt,
        CompareOp::Sgt => CompareOp::Sle,
        CompareOp::Sge => CompareOp::Slt,
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
