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
        if let Some(event) = event {
            self.settle_pair(*event, event.marker);
        }
        self.executor.instructions += count as u64 * u64::from(*cost);
        self.executor.events.extend(event.iter().flat_map(|&event| repeat_n(event, count)));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use branchwise_program::code::{Compare, Function};
    use branchwise_program::{CodeFunctionId, Program};

    use super::super::Decoded;
    use super::*;

    const BASE: RegisterId = RegisterId(0);
    const INDEX: RegisterId = RegisterId(1);
    const PLACE: RegisterId = RegisterId(2);
    const BYTE: RegisterId = RegisterId(3);
    const GOES_ON: RegisterId = RegisterId(4);
    const NEXT: RegisterId = RegisterId(5);

    fn edge(target: u32, copies: Vec<(RegisterId, Operand)>, back: bool) -> Edge {
        Edge { target: BlockId(target), copies, back }
    }

    fn block(instructions: Vec<Instruction>, terminator: Terminator) -> Block {
        Block { locations: vec![None; instructions.len() + 1], instructions, terminator }
    }

    /// `while (base[index]) index++; return index;` with a step of that size, and more instructions in the body.
    fn length(step: u128, more: Vec<Instruction>) -> Program {
        let register = Operand::Register;
        let scaled = vec![Scaled { index: register(INDEX), width: 64, scale: 1 }];
        let head = vec![
            Instruction::Address(Address { out: PLACE, base: register(BASE), constant: 0, scaled }),
            Instruction::Load { out: BYTE, width: 8, address: register(PLACE) },
            Instruction::Compare(Compare {
                op: CompareOp::Ne,
                width: 8,
                out: GOES_ON,
                left: register(BYTE),
                right: Operand::Constant(0),
            }),
        ];
        let (then, otherwise) = (edge(2, Vec::new(), false), edge(3, Vec::new(), false));
        let (left, right) = (register(INDEX), Operand::Constant(step));
        let mut body = more;
        let add = Binary { op: BinaryOp::Add, width: 64, out: NEXT, left, right, no_signed_wrap: false };
        body.push(Instruction::Binary(add));
        let blocks = [
            block(Vec::new(), Terminator::Jump(edge(1, vec![(INDEX, Operand::Constant(0))], false))),
            block(head, Terminator::Branch { condition: register(GOES_ON), then, otherwise }),
            block(body, Terminator::Jump(edge(1, vec![(INDEX, register(NEXT))], true))),
            block(Vec::new(), Terminator::Return(vec![register(INDEX)])),
        ];
        let function = Function {
            name: "length".to_owned(),
            parameters: vec![BASE],
            registers: [64, 64, 64, 8, 1, 64].into_iter().collect(),
            results: vec![64],
            variadic: false,
            library: false,
            weak: false,
            padding: Default::default(),
            blocks: blocks.into_iter().collect(),
        };
        let mut program = Program { map: Default::default(), code: Default::default() };
        program.code.functions.push(function);
        program
    }

    #[test]
    fn only_a_loop_that_looks_for_a_byte_is_a_scan() {
        let scans = |program: Program| Decoded::of(&program, CodeFunctionId(0)).scans;
        let found = scans(length(1, Vec::new()));
        assert!(
            matches!(found[..], [Scan { cursor: Cursor::Index { base: 0, index: 1 }, stop: 0, cost: 6, event: None }]),
            "{found:?}"
        );
        assert!(scans(length(2, Vec::new())).is_empty());
        let (value, address) = (Operand::Constant(1), Operand::Register(BASE));
        assert!(scans(length(1, vec![Instruction::Store { width: 8, value, address }])).is_empty());
    }
}
