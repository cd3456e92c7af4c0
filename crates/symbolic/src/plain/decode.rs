//! From a function's code to operations on the slots of its frame.

use std::ops::Range;

use branchwise_constraints::FastMap;
use branchwise_program::code::{
    self, Address, Binary, BinaryOp, Block, Cast, CastOp, Compare, CompareOp, Function, Instruction, Operand,
    Terminator,
};
use branchwise_program::{BlockId, Id, IdVec, RegisterId};

use super::fuse::{self, Condition};
use super::operation::{Edge, Indexed, Operation, Place, Slot, Test, Three};
use crate::loops::LoopExits;
use crate::session::global_object;
use crate::value::{Pointer, Value};

/// A function as it is executed.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(super) operations: Vec<Operation>,
    pub(super) edges: Vec<Edge>,
    /// To and from.
    pub(super) moves: Vec<(Slot, Slot)>,
    /// By operation.
    places: Vec<Place>,
    /// The first operation of each block.
    starts: IdVec<BlockId, u32>,
    /// What the slots hold when the function is entered: registers nobody wrote, then constants, then one slot for
    /// copies that go round in a circle.
    frame: Vec<Value>,
    pub(crate) exits: LoopExits,
}

/// The start of a block that is not decoded yet.
const NOWHERE: u32 = u32::MAX;
/// Stands for the last slot of the frame until that is known.
const CIRCLE: Slot = Slot::MAX;
/// Edges through more empty blocks than this are left as they are.
const LONGEST_CHAIN: usize = 8;

impl Decoded {
    pub(crate) fn of(function: &Function) -> Self {
        let mut decoder = Decoder {
            function,
            uses: fuse::uses(function),
            is_head: function.blocks.ids().map(|_| false).collect(),
            constants: FastMap::default(),
            counted: 0,
            predecessors: function.blocks.ids().map(|_| 0).collect(),
            decoded: Decoded {
                operations: Vec::new(),
                edges: Vec::new(),
                moves: Vec::new(),
                places: Vec::new(),
                starts: function.blocks.ids().map(|_| NOWHERE).collect(),
                frame: vec![Value::Undefined; function.registers.len()],
                exits: LoopExits::of(function),
            },
        };
        decoder.function();
        decoder.decoded
    }

    pub(crate) fn frame(&self) -> &[Value] {
        &self.frame
    }

    pub(crate) fn place(&self, operation: usize) -> Place {
        self.places[operation]
    }

    pub(crate) fn start(&self, block: BlockId) -> usize {
        self.starts[block] as usize
    }
}

struct Decoder<'f> {
    function: &'f Function,
    /// How often each register is read.
    uses: IdVec<RegisterId, u32>,
    is_head: IdVec<BlockId, bool>,
    constants: FastMap<(u8, u128), Slot>,
    /// The end of the instructions that are counted already, in the current block: its last call. Negative: so many of
    /// the blocks before are not counted yet.
    counted: isize,
    /// How many edges lead to each block.
    predecessors: IdVec<BlockId, u32>,
    decoded: Decoded,
}

impl<'f> Decoder<'f> {
    fn function(&mut self) {
        let function = self.function;
        for block in function.blocks.values() {
            for edge in block.terminator.edges() {
                self.is_head[edge.target] |= edge.back;
                self.predecessors[edge.target] += 1;
            }
        }
        for id in function.blocks.ids() {
            self.counted = 0;
            let mut open = (self.decoded.starts[id] == NOWHERE).then_some(id);
            while let Some(block) = open {
                open = self.block(block, &function.blocks[block]);
            }
        }
        for edge in &mut self.decoded.edges {
            edge.target = self.decoded.starts[edge.block];
        }
        self.decoded.frame.push(Value::Undefined);
        let circle = self.decoded.frame.len() as Slot - 1;
        for (to, from) in &mut self.decoded.moves {
            [to, from].into_iter().filter(|slot| **slot == CIRCLE).for_each(|slot| *slot = circle);
        }
    }

    /// Decodes a block; hands back the one to which it only leads on, to be decoded right behind it.
    fn block(&mut self, id: BlockId, block: &'f Block) -> Option<BlockId> {
        self.decoded.starts[id] = self.decoded.operations.len() as u32;
        let count = block.instructions.len();
        let condition = fuse::condition(block, &self.uses);
        let fused = condition.as_ref().map_or(count, |condition| condition.first);
        self.instructions(id, 0..fused);
        if let Some(operation) = condition.and_then(|condition| self.test(block, &condition)) {
            self.push(id, fused, count + 1, operation);
            return None;
        }
        self.instructions(id, fused..count);
        if let Some(next) = self.continuation(block) {
            self.counted -= count as isize + 1;
            return Some(next);
        }
        let operation = self.terminator(block).unwrap_or(Operation::General);
        self.push(id, count, count + 1, operation);
        None
    }

    /// The block to which a block jumps, if nothing else does and there is nothing to do on the way.
    fn continuation(&self, block: &Block) -> Option<BlockId> {
        let Terminator::Jump(edge) = &block.terminator else { return None };
        let first = edge.target.index() == 0 || self.decoded.starts[edge.target] != NOWHERE;
        (self.predecessors[edge.target] == 1 && edge.copies.is_empty() && !edge.back && !first).then_some(edge.target)
    }

    fn instructions(&mut self, id: BlockId, range: Range<usize>) {
        let instructions = &self.function.blocks[id].instructions[..range.end];
        let mut at = range.start;
        while let Some(instruction) = instructions.get(at) {
            let pair = instructions.get(at + 1).and_then(|next| self.access(instruction, next));
            let end = at + 1 + usize::from(pair.is_some());
            let operation = pair.or_else(|| self.instruction(instruction)).unwrap_or(Operation::General);
            self.push(id, at, end, operation);
            if matches!(instruction, Instruction::Call(_)) {
                self.counted = end as isize;
            }
            at = end;
        }
    }

    fn push(&mut self, block: BlockId, first: usize, end: usize, operation: Operation) {
        let instructions = &self.function.blocks[block].instructions;
        let counts = end > instructions.len() || matches!(instructions[first], Instruction::Call(_));
        let cost = if counts { (end as isize - self.counted) as u32 } else { 0 };
        self.decoded.places.push(Place { block, first: first as u32, end: end as u32, cost });
        self.decoded.operations.push(operation);
    }

    /// The slot of an operand of at most 64 bits.
    fn slot(&mut self, operand: &Operand) -> Option<Slot> {
        let (key, value) = match *operand {
            Operand::Register(register) => return Some(register.0),
            Operand::Constant(bits) => ((0, bits), Value::Bits(u64::try_from(bits).ok()?)),
            Operand::Global(id, offset) => {
                let pointer = Pointer { object: global_object(id), offset: offset as u64 };
                ((1, u128::from(id.0) << 64 | u128::from(offset as u64)), Value::Pointer(pointer))
            }
            Operand::Function(id) => ((2, u128::from(id.0)), Value::Function(id)),
            Operand::Undefined => ((3, 0), Value::Undefined),
        };
        let frame = &mut self.decoded.frame;
        Some(*self.constants.entry(key).or_insert_with(|| {
            frame.push(value);
            frame.len() as Slot - 1
        }))
    }

    fn three(&mut self, out: RegisterId, left: &Operand, right: &Operand, width: u32) -> Option<Three> {
        let unused = unused(width)?;
        Some(Three { out: out.0, left: self.slot(left)?, right: self.slot(right)?, unused })
    }

    fn instruction(&mut self, instruction: &Instruction) -> Option<Operation> {
        match instruction {
            Instruction::Binary(binary) => self.binary(binary),
            Instruction::Compare(compare) => self.compare(compare),
            Instruction::Cast(cast) => self.cast(cast),
            Instruction::Select { out, width, condition, then, otherwise } => {
                unused(*width)?;
                let (condition, then, otherwise) = (self.slot(condition)?, self.slot(then)?, self.slot(otherwise)?);
                Some(Operation::Select { out: out.0, condition, then, otherwise })
            }
            Instruction::Load { out, width, address } => {
                let (out, address) = (out.0, self.slot(address)?);
                match width {
                    8 => Some(Operation::Load1 { out, address }),
                    16 => Some(Operation::Load2 { out, address }),
                    32 => Some(Operation::Load4 { out, address }),
                    64 => Some(Operation::Load8 { out, address }),
                    _ => None,
                }
            }
            Instruction::Store { width, value, address } => {
                let (value, address) = (self.slot(value)?, self.slot(address)?);
                match width {
                    8 => Some(Operation::Store1 { value, address }),
                    16 => Some(Operation::Store2 { value, address }),
                    32 => Some(Operation::Store4 { value, address }),
                    64 => Some(Operation::Store8 { value, address }),
                    _ => None,
                }
            }
            Instruction::Address(address) => self.address(address),
            Instruction::MarkCondition { out, marker, value } => {
                Some(Operation::Mark { out: out.0, value: self.slot(value)?, marker: *marker })
            }
            _ => None,
        }
    }

    fn binary(&mut self, binary: &Binary) -> Option<Operation> {
        let three = self.three(binary.out, &binary.left, &binary.right, binary.width)?;
        Some(match (binary.op, binary.no_signed_wrap) {
            (BinaryOp::Add, false) => Operation::Add(three),
            (BinaryOp::Sub, false) => Operation::Sub(three),
            (BinaryOp::Mul, false) => Operation::Mul(three),
            (BinaryOp::Add, true) => Operation::AddSigned(three),
            (BinaryOp::Sub, true) => Operation::SubSigned(three),
            (BinaryOp::Mul, true) => Operation::MulSigned(three),
            (BinaryOp::UDiv, _) => Operation::UDiv(three),
            (BinaryOp::URem, _) => Operation::URem(three),
            (BinaryOp::SDiv, _) => Operation::SDiv(three),
            (BinaryOp::SRem, _) => Operation::SRem(three),
            (BinaryOp::And, _) => Operation::And(three),
            (BinaryOp::Or, _) => Operation::Or(three),
            (BinaryOp::Xor, _) => Operation::Xor(three),
            (BinaryOp::Shl, _) => Operation::Shl(three),
            (BinaryOp::LShr, _) => Operation::LShr(three),
            (BinaryOp::AShr, _) => Operation::AShr(three),
        })
    }

    fn compare(&mut self, compare: &Compare) -> Option<Operation> {
        let three = self.three(compare.out, &compare.left, &compare.right, compare.width)?;
        let swapped = Three { left: three.right, right: three.left, ..three };
        Some(match compare.op {
            CompareOp::Eq => Operation::Eq(three),
            CompareOp::Ne => Operation::Ne(three),
            CompareOp::Ult => Operation::Ult(three),
            CompareOp::Ule => Operation::Ule(three),
            CompareOp::Ugt => Operation::Ult(swapped),
            CompareOp::Uge => Operation::Ule(swapped),
            CompareOp::Slt => Operation::Slt(three),
            CompareOp::Sle => Operation::Sle(three),
            CompareOp::Sgt => Operation::Slt(swapped),
            CompareOp::Sge => Operation::Sle(swapped),
        })
    }

    fn cast(&mut self, cast: &Cast) -> Option<Operation> {
        let (unused_from, unused_to) = (unused(cast.from)?, unused(cast.to)?);
        let (out, from) = (cast.out.0, self.slot(&cast.value)?);
        Some(match cast.op {
            CastOp::Copy => Operation::Move { out, from },
            CastOp::ZeroExtend => Operation::ZeroExtend { out, from },
            CastOp::Truncate => Operation::Truncate { out, from, unused: unused_to },
            CastOp::SignExtend => Operation::SignExtend { out, from, unused_from, unused_to },
        })
    }

    fn address(&mut self, address: &Address) -> Option<Operation> {
        let out = address.out.0;
        if !address.scaled.is_empty() {
            return Some(Operation::Index { out, address: self.indexed(address)? });
        }
        let constant = i32::try_from(address.constant).ok()?;
        Some(Operation::Offset { out, base: self.slot(&address.base)?, constant })
    }

    fn indexed(&mut self, address: &Address) -> Option<Indexed> {
        let constant = i32::try_from(address.constant).ok()?;
        let base = self.slot(&address.base)?;
        match &address.scaled[..] {
            [] => Some(Indexed { base, index: self.slot(&Operand::Constant(0))?, scale: 0, constant, unused: 0 }),
            [scaled] => {
                let scale = i32::try_from(scaled.scale).ok()?;
                let (index, unused) = (self.slot(&scaled.index)?, unused(scaled.width)?);
                Some(Indexed { base, index, scale, constant, unused })
            }
            _ => None,
        }
    }

    /// An address and the access after it, if nothing else reads the address.
    fn access(&mut self, address: &Instruction, access: &Instruction) -> Option<Operation> {
        let Instruction::Address(address) = address else { return None };
        let through = |operand: &Operand| *operand == Operand::Register(address.out) && self.uses[address.out] == 1;
        match access {
            Instruction::Load { out, width, address: operand } if through(operand) => {
                let (out, address) = (out.0, self.indexed(address)?);
                match width {
                    8 => Some(Operation::LoadIndexed1 { out, address }),
                    16 => Some(Operation::LoadIndexed2 { out, address }),
                    32 => Some(Operation::LoadIndexed4 { out, address }),
                    64 => Some(Operation::LoadIndexed8 { out, address }),
                    _ => None,
                }
            }
            Instruction::Store { width, value, address: operand } if through(operand) => {
                let (value, address) = (self.slot(value)?, self.indexed(address)?);
                match width {
                    8 => Some(Operation::StoreIndexed1 { value, address }),
                    16 => Some(Operation::StoreIndexed2 { value, address }),
                    32 => Some(Operation::StoreIndexed4 { value, address }),
                    64 => Some(Operation::StoreIndexed8 { value, address }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn terminator(&mut self, block: &'f Block) -> Option<Operation> {
        match &block.terminator {
            Terminator::Jump(edge) => {
                let edge = self.edges(block, &[edge])?;
                Some(Operation::Jump { edge })
            }
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.slot(condition)?;
                let edges = self.edges(block, &[otherwise, then])?;
                Some(Operation::Branch { condition, edges })
            }
            _ => None,
        }
    }

    fn test(&mut self, block: &'f Block, condition: &Condition) -> Option<Operation> {
        let Terminator::Branch { then, otherwise, .. } = &block.terminator else { return None };
        let unused = unused(condition.width)?;
        let (left, right) = (self.slot(&condition.left)?, self.slot(&condition.right)?);
        let edges = self.edges(block, &[otherwise, then])?;
        let equality = unused == 0 && matches!(condition.op, CompareOp::Eq | CompareOp::Ne);
        let test = Test { left, right, marker: condition.marker, edges, unused, equality };
        let swapped = Test { left: right, right: left, ..test };
        Some(match condition.op {
            CompareOp::Eq => Operation::BranchEq(test),
            CompareOp::Ne => Operation::BranchNe(test),
            CompareOp::Ult => Operation::BranchUlt(test),
            CompareOp::Ule => Operation::BranchUle(test),
            CompareOp::Ugt => Operation::BranchUlt(swapped),
            CompareOp::Uge => Operation::BranchUle(swapped),
            CompareOp::Slt => Operation::BranchSlt(test),
            CompareOp::Sle => Operation::BranchSle(test),
            CompareOp::Sgt => Operation::BranchSlt(swapped),
            CompareOp::Sge => Operation::BranchSle(swapped),
        })
    }

    /// Decodes edges that leave a block, one after the other; the index of the first.
    fn edges(&mut self, block: &Block, edges: &[&'f code::Edge]) -> Option<u32> {
        let first = self.decoded.edges.len();
        let cost = (block.instructions.len() as isize + 1 - self.counted) as u32;
        for edge in edges {
            let Some(edge) = self.edge(edge, cost) else {
                self.decoded.edges.truncate(first);
                return None;
            };
            self.decoded.edges.push(edge);
        }
        Some(first as u32)
    }

    /// Goes on through blocks that only jump. That is not seen: where a limit ends the path among them, the general
    /// step takes them one by one.
    fn edge(&mut self, edge: &'f code::Edge, mut cost: u32) -> Option<Edge> {
        let (mut last, mut copies) = (edge, &edge.copies);
        for _ in 0..LONGEST_CHAIN {
            let between = &self.function.blocks[last.target];
            let Terminator::Jump(next) = &between.terminator else { break };
            let carries = !copies.is_empty() && !next.copies.is_empty();
            if !between.instructions.is_empty() || self.is_head[last.target] || carries {
                break;
            }
            copies = if copies.is_empty() { &next.copies } else { copies };
            last = next;
            cost += 1;
        }
        let first_move = self.decoded.moves.len() as u32;
        let moves = self.moves(copies)?;
        self.decoded.moves.extend(moves);
        Some(Edge {
            target: 0,
            block: last.target,
            cost,
            first_move,
            end_move: self.decoded.moves.len() as u32,
            enters_loop: self.is_head[last.target],
            back: last.back,
        })
    }

    /// The copies of an edge, in the order in which they are done.
    fn moves(&mut self, copies: &[(RegisterId, Operand)]) -> Option<Vec<(Slot, Slot)>> {
        let mut moves = Vec::new();
        for (register, operand) in copies {
            let wide = self.function.registers[*register] > 64 && !matches!(operand, Operand::Register(_));
            moves.push((register.0, self.slot(operand).filter(|_| !wide)?));
        }
        Some(one_by_one(moves))
    }
}

/// Copies that are meant to be done all at once, in an order in which they can be done one by one. `CIRCLE` is the slot
/// that opens circles.
fn one_by_one(mut open: Vec<(Slot, Slot)>) -> Vec<(Slot, Slot)> {
    open.retain(|(to, from)| to != from);
    let mut ordered = Vec::new();
    while !open.is_empty() {
        let free = open.iter().position(|(to, _)| open.iter().all(|(_, from)| from != to));
        let next = free.unwrap_or_else(|| {
            let to = open[0].0;
            ordered.push((CIRCLE, to));
            open.iter_mut().filter(|(_, from)| *from == to).for_each(|(_, from)| *from = CIRCLE);
            0
        });
        ordered.push(open.remove(next));
    }
    ordered
}

/// 64 less the width, for what fits into plain bits.
fn unused(width: u32) -> Option<u8> {
    (1..=64).contains(&width).then(|| (64 - width) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to copy four slots into each other, circles among them.
    #[test]
    fn copies_one_by_one_do_what_they_do_at_once() {
        for choice in 0..4_u32.pow(4) {
            let copies: Vec<(Slot, Slot)> = (0..4).map(|to| (to, choice / 4_u32.pow(to) % 4)).collect();
            let mut slots = [10, 11, 12, 13];
            let expected: Vec<u32> = copies.iter().map(|(_, from)| slots[*from as usize]).collect();
            let mut circle = 0;
            for (to, from) in one_by_one(copies) {
                let value = if from == CIRCLE { circle } else { slots[from as usize] };
                *(if to == CIRCLE { &mut circle } else { &mut slots[to as usize] }) = value;
            }
            assert_eq!(slots[..], expected);
        }
    }
}
