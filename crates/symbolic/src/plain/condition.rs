//! Conditions: a comparison, perhaps of what is read from memory for it, its marker and the branch on it.

use branchwise_program::code::{self, Block, CompareOp, Terminator};
use branchwise_program::map::Event;

use super::decode::{Decoded, Decoder, fork, numbered, unused};
use super::fuse::{Condition, Loaded};
use super::operation::{Operation, Test, TestLoaded};

/// An edge that alone leads to its target, and the operation that it leaves.
pub(super) struct Reload {
    operation: u32,
    edge: u32,
}

impl<'f> Decoder<'f> {
    /// The edges of a condition.
    fn outcomes(&mut self, block: &'f Block, condition: &Condition) -> Option<u32> {
        let Terminator::Branch { then, otherwise, .. } = &block.terminator else { return None };
        let edges = self.edges(block, &[otherwise, then])?;
        for (outcome, marker) in (0..2).zip(condition.marker.into_iter().cycle()) {
            self.reporting(edges + outcome, Event { marker, outcome });
        }
        Some(edges)
    }

    /// A condition on a number that is read from memory for it.
    pub(super) fn test_loaded(
        &mut self,
        block: &'f Block,
        condition: &Condition,
        loaded: &Loaded,
    ) -> Option<Operation> {
        let Terminator::Branch { then, otherwise, .. } = &block.terminator else { return None };
        let unused = unused(condition.width)?;
        let (base, right) = (self.slot(&loaded.base)?, self.slot(&condition.right)?);
        let constant = i32::try_from(loaded.constant).ok()?;
        let out = numbered(self.function.registers.len())?;
        let edges = self.outcomes(block, condition)?;
        let operation = self.decoded.operations.len() as u32;
        for (edge, way) in (edges..).zip([otherwise, then]) {
            if self.leads_alone(way) {
                self.reloads.push(Reload { operation, edge });
            }
        }
        let test = TestLoaded {
            op: condition.op,
            sign_extended: loaded.sign_extended,
            unused,
            out,
            base,
            right,
            constant,
            fork: fork(edges),
        };
        match loaded.width {
            8 => Some(Operation::TestLoaded1(test)),
            16 => Some(Operation::TestLoaded2(test)),
            32 => Some(Operation::TestLoaded4(test)),
            _ => None,
        }
    }

    /// Whether nothing else leads to where an edge does, and it copies nothing.
    fn leads_alone(&self, edge: &code::Edge) -> bool {
        let mut edge = edge;
        loop {
            if !edge.copies.is_empty() || self.predecessors[edge.target] != 1 {
                return false;
            }
            let block = &self.function.blocks[edge.target];
            match &block.terminator {
                Terminator::Jump(next) if block.instructions.is_empty() => edge = next,
                _ => return true,
            }
        }
    }

    pub(super) fn test(&mut self, block: &'f Block, condition: &Condition) -> Option<Operation> {
        let unused = unused(condition.width)?;
        let (left, right) = (self.slot(&condition.left)?, self.slot(&condition.right)?);
        let edges = self.outcomes(block, condition)?;
        let equality = unused == 0 && matches!(condition.op, CompareOp::Eq | CompareOp::Ne);
        let test = Test { left, right, fork: fork(edges), unused, equality };
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

    /// Where the number that a test reads is read again right behind its edge: the test writes it there, and the edge
    /// leads past the second load. Nothing else than that block reads it, and nothing but that edge leads to the block.
    pub(super) fn join_loads(&mut self, reload: &Reload) {
        let scratch = numbered(self.function.registers.len());
        let Decoded { operations, edges, .. } = &mut self.decoded;
        let edge = &mut edges[reload.edge as usize];
        let again = operations[edge.target as usize];
        let (size, test) = match &mut operations[reload.operation as usize] {
            Operation::TestLoaded1(test) => (1, test),
            Operation::TestLoaded2(test) => (2, test),
            Operation::TestLoaded4(test) => (4, test),
            _ => return,
        };
        let (again_size, out, base, constant) = match again {
            Operation::Load1 { out, address } => (1, out, address, 0),
            Operation::Load2 { out, address } => (2, out, address, 0),
            Operation::Load4 { out, address } => (4, out, address, 0),
            Operation::LoadUnsigned1 { out, address } if address.scale == 0 => (1, out, address.base, address.constant),
            Operation::LoadUnsigned2 { out, address } if address.scale == 0 => (2, out, address.base, address.constant),
            Operation::LoadUnsigned4 { out, address } if address.scale == 0 => (4, out, address.base, address.constant),
            _ => return,
        };
        let same = (size, test.base, test.constant) == (again_size, base, constant);
        if same && !test.sign_extended && Some(test.out) == scratch {
            test.out = out;
            edge.target += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use branchwise_program::code::{Cast, CastOp, Compare, Function, Instruction, Operand};
    use branchwise_program::{BlockId, CodeFunctionId, Program, RegisterId};

    use super::*;

    const BASE: RegisterId = RegisterId(0);
    const AGAIN: u16 = 4;
    /// Behind all registers.
    const SCRATCH: u16 = 5;

    fn block(instructions: Vec<Instruction>, terminator: Terminator) -> Block {
        Block { locations: vec![None; instructions.len() + 1], instructions, terminator }
    }

    fn load(out: u32) -> Instruction {
        Instruction::Load { out: RegisterId(out), width: 8, address: Operand::Register(BASE) }
    }

    /// `if (*base) return *base; return 0;` where the second edge leads to this block.
    fn twice(otherwise: u32) -> Decoded {
        let register = |number| Operand::Register(RegisterId(number));
        let edge = |target| code::Edge { target: BlockId(target), copies: Vec::new(), back: false };
        let (left, right) = (register(1), Operand::Constant(0));
        let compare = Compare { op: CompareOp::Ne, width: 8, out: RegisterId(2), left, right };
        let extension =
            Cast { op: CastOp::ZeroExtend, from: 8, to: 32, out: RegisterId(AGAIN.into()), value: register(3) };
        let branch = Terminator::Branch { condition: register(2), then: edge(1), otherwise: edge(otherwise) };
        let returned = |operand| Terminator::Return(vec![operand]);
        let blocks = [
            block(vec![load(1), Instruction::Compare(compare)], branch),
            block(vec![load(3), Instruction::Cast(extension)], returned(register(AGAIN.into()))),
            block(Vec::new(), returned(Operand::Constant(0))),
        ];
        let function = Function {
            name: "twice".to_owned(),
            parameters: vec![BASE],
            registers: [64, 8, 1, 8, 32].into_iter().collect(),
            results: vec![32],
            variadic: false,
            library: false,
            weak: false,
            padding: Default::default(),
            blocks: blocks.into_iter().collect(),
        };
        let mut program = Program { map: Default::default(), code: Default::default() };
        program.code.functions.push(function);
        Decoded::of(&program, CodeFunctionId(0))
    }

    #[test]
    fn what_a_test_reads_is_not_read_again_behind_it() {
        let decoded = twice(2);
        let Operation::TestLoaded1(test) = decoded.operations[0] else { panic!("{:?}", decoded.operations) };
        assert_eq!(test.out, AGAIN);
        let starts = [2, 1].map(|block| decoded.start(BlockId(block)) as u32);
        assert_eq!(test.fork.targets, [starts[0], starts[1] + 1]);
    }

    #[test]
    fn a_block_with_two_ways_to_it_reads_for_itself() {
        let decoded = twice(1);
        let Operation::TestLoaded1(test) = decoded.operations[0] else { panic!("{:?}", decoded.operations) };
        assert_eq!(test.out, SCRATCH);
        assert_eq!(test.fork.targets, [decoded.start(BlockId(1)) as u32; 2]);
    }
}
