//! Loops that only look for a byte, like `while (text[n]) n++`: all iterations over plain bytes but the last at once.

use std::iter::repeat_n;

use branchwise_program::code::{
    Address, Binary, BinaryOp, Block, CompareOp, Edge, Instruction, Operand, Scaled, Terminator,
};
use branchwise_program::map::Event;
use branchwise_program::{BlockId, RegisterId};

use super::Machine;
use super::decode::{Decoder, LONGEST_CHAIN, slot_of};
use super::fuse;
use super::operation::Slot;
use crate::value::{Pointer, Value};

#[derive(Debug)]
pub(super) struct Scan {
    cursor: Cursor,
    /// The byte that ends the loop.
    stop: u8,
    /// Instructions of an iteration.
    cost: u32,
    /// What an iteration reports.
    event: Option<Event>,
}

/// What each iteration adds 1 to.
#[derive(Debug, Copy, Clone)]
enum Cursor {
    Pointer(Slot),
    /// Of 64 bits, into what a pointer points to.
    Index {
        base: Slot,
        index: Slot,
    },
}

impl Decoder<'_> {
    /// The scan that a loop with this head does, if it does nothing else.
    pub(super) fn scan(&mut self, head: BlockId, block: &Block) -> Option<Scan> {
        let condition = fuse::condition(block, &self.uses)?;
        let Terminator::Branch { then, otherwise, .. } = &block.terminator else { return None };
        let (edge, outcome) = match condition.op {
            CompareOp::Ne => (then, 1),
            CompareOp::Eq => (otherwise, 0),
            _ => return None,
        };
        let (Operand::Register(byte), Operand::Constant(stop), 8) = (condition.left, condition.right, condition.width)
        else {
            return None;
        };
        let (cursor, moving) = self.cursor(&block.instructions[..condition.first], byte)?;
        let cost = block.instructions.len() as u32 + 1 + self.way_back(edge, head, moving)?;
        let event = condition.marker.map(|marker| Event { marker, outcome });
        Some(Scan { cursor, stop: u8::try_from(stop).ok()?, cost, event })
    }

    /// Where instructions that only load a byte do so, and the register that must move on for the next one.
    fn cursor(&mut self, instructions: &[Instruction], byte: RegisterId) -> Option<(Cursor, RegisterId)> {
        match instructions {
            [Instruction::Load { out, width: 8, address: Operand::Register(pointer) }]
                if *out == byte && self.uses[byte] == 1 =>
            {
                Some((Cursor::Pointer(slot_of(*pointer)?), *pointer))
            }
            [
                Instruction::Address(Address { out: place, base, constant: 0, scaled }),
                Instruction::Load { out, width: 8, address },
            ] if *out == byte && self.uses[byte] == 1 && self.only(address, *place) => {
                let [Scaled { index: Operand::Register(index), width: 64, scale: 1 }] = scaled[..] else { return None };
                (*base != Operand::Register(index)).then_some(())?;
                Some((Cursor::Index { base: self.slot(base)?, index: slot_of(index)? }, index))
            }
            _ => None,
        }
    }

    /// How many instructions lead back along an edge to a loop's head, if they only add 1 to a register.
    fn way_back(&self, edge: &Edge, head: BlockId, moving: RegisterId) -> Option<u32> {
        let mut edge = edge;
        for empty in 0..=LONGEST_CHAIN as u32 {
            if !edge.copies.is_empty() || edge.back {
                return None;
            }
            let block = &self.block_of(edge.target);
            let Terminator::Jump(next) = &block.terminator else { return None };
            if let [step] = &block.instructions[..] {
                let moved = successor(step, moving)?;
                let returns = next.target == head && next.copies[..] == [(moving, Operand::Register(moved))];
                return (returns && self.uses[moved] == 1).then_some(empty + 2);
            }
            if !block.instructions.is_empty() {
                return None;
            }
            edge = next;
        }
        None
    }
}

/// What an instruction writes that only adds 1 to a register.
fn successor(step: &Instruction, register: RegisterId) -> Option<RegisterId> {
    match step {
        Instruction::Binary(Binary { op: BinaryOp::Add, width: 64, out, left, right, no_signed_wrap: false })
            if *left == Operand::Register(register) && *right == Operand::Constant(1) =>
        {
            Some(*out)
        }
        Instruction::Address(Address { out, base, constant: 1, scaled })
            if *base == Operand::Register(register) && scaled.is_empty() =>
        {
            Some(*out)
        }
        _ => None,
    }
}

impl Machine<'_, '_, '_, '_> {
    /// Does as many iterations as there are plain bytes before the wanted one, and before the next look at the limits.
    /// The loop itself does the rest, and all where iterations are counted.
    #[inline(never)]
    pub(super) fn scan(&mut self, scan: u32) -> Option<()> {
        let Scan { cursor, stop, cost, event } = &self.decoded.scans[scan as usize];
        let at = match *cursor {
            Cursor::Pointer(pointer) => self.pointer(pointer)?,
            Cursor::Index { base, index } => {
                let Pointer { object, offset } = self.pointer(base)?;
                Pointer { object, offset: offset.wrapping_add(self.bits(index)?) }
            }
        };
        let most = self.executor.pause.checked_sub(self.executor.instructions)? / u64::from(*cost);
        let count = self.executor.memory.readable(at.object)?.plain_before(at.offset as usize, *stop, most as usize);
        if count == 0 || self.counts_loops {
            return None;
        }
        match *cursor {
            Cursor::Pointer(pointer) => {
                let offset = at.offset.wrapping_add(count as u64);
                self.set(pointer, Value::Pointer(Pointer { object: at.object, offset }));
            }
            Cursor::Index { index, .. } => {
                let moved = self.bits(index)?.wrapping_add(count as u64);
                self.set(index, Value::Bits(moved));
            }
        }
        self.executor.instructions += count as u64 * u64::from(*cost);
        self.executor.events.extend(event.iter().flat_map(|&event| repeat_n(event, count)));
        Some(())
    }
}
