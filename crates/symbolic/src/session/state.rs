//! Which globals the program may write: what they hold depends on the calls before.

use std::collections::HashMap;

use branchwise_program::code::{Callee, CastOp, Code, Function, Instruction, Operand, Terminator};
use branchwise_program::{GlobalId, IdVec, RegisterId};

/// True for each global that some instruction may write, directly or because its address goes somewhere unknown.
pub(super) fn written_globals(code: &Code) -> IdVec<GlobalId, bool> {
    let mut written: IdVec<GlobalId, bool> = code.globals.ids().map(|_| false).collect();
    for function in code.functions.values() {
        let mut scan = Scan { derived: HashMap::new(), written: &mut written };
        scan.function(function);
    }
    for global in code.globals.values() {
        for (_, operand) in global.initializer.iter().flat_map(|initializer| &initializer.addresses) {
            if let Operand::Global(id, _) = operand {
                written[*id] = true;
            }
        }
    }
    written
}

struct Scan<'a> {
    /// Registers that point into a global.
    derived: HashMap<RegisterId, GlobalId>,
    written: &'a mut IdVec<GlobalId, bool>,
}

impl Scan<'_> {
    fn function(&mut self, function: &Function) {
        // Blocks are in no particular order: an address may be used in an earlier block than the one that makes it.
        for block in function.blocks.values() {
            for instruction in &block.instructions {
                self.derive(instruction);
            }
        }
        for block in function.blocks.values() {
            block.instructions.iter().for_each(|instruction| self.instruction(instruction));
            self.terminator(&block.terminator);
        }
    }

    fn derive(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Address(address) => self.derived_from(address.out, &address.base),
            Instruction::Cast(cast) if cast.op == CastOp::Copy => self.derived_from(cast.out, &cast.value),
            _ => {}
        }
    }

    fn derived_from(&mut self, out: RegisterId, base: &Operand) {
        if let Some(global) = self.global(base) {
            self.derived.insert(out, global);
        }
    }

    fn global(&self, operand: &Operand) -> Option<GlobalId> {
        match operand {
            Operand::Global(id, _) => Some(*id),
            Operand::Register(register) => self.derived.get(register).copied(),
            _ => None,
        }
    }

    fn escapes(&mut self, operand: &Operand) {
        if let Some(global) = self.global(operand) {
            self.written[global] = true;
        }
    }

    /// Loads, copies from, comparisons and further address computations only look.
    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Store { value, address, .. } => {
                [value, address].into_iter().for_each(|operand| self.escapes(operand))
            }
            Instruction::CopyMemory { to, .. } | Instruction::SetMemory { to, .. } => self.escapes(to),
            Instruction::VariadicStart { list } => self.escapes(list),
            Instruction::Call(call) => {
                call.arguments.iter().for_each(|argument| self.escapes(argument));
                if let Callee::Indirect(operand) = &call.callee {
                    self.escapes(operand);
                }
            }
            Instruction::Select { then, otherwise, .. } => {
                [then, otherwise].into_iter().for_each(|operand| self.escapes(operand))
            }
            Instruction::Binary(binary) => {
                [&binary.left, &binary.right].into_iter().for_each(|operand| self.escapes(operand))
            }
            Instruction::Cast(cast) if cast.op != CastOp::Copy => self.escapes(&cast.value),
            _ => {}
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        for edge in terminator.edges() {
            edge.copies.iter().for_each(|(_, operand)| self.escapes(operand));
        }
        if let Terminator::Return(values) = terminator {
            values.iter().for_each(|value| self.escapes(value));
        }
    }
}
