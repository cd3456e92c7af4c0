//! Atomic operations as sequences, which is what they are in a program with one thread. Each says that it is one: other
//! threads may have changed what it reads.

use branchwise_program::code::{BinaryOp, Changes, CompareOp, Operand, Width};

use super::Unsupported;
use super::emit::{Emitter, mask};
use super::function::FunctionLowering;
use super::instructions::{Parts, operand};
use super::llvm::{RmwOp, Value};

impl<'m> FunctionLowering<'_, 'm> {
    pub fn atomic_update(&mut self, value: Value<'m>) -> Parts {
        let address = self.scalar(operand(value, 0)?)?;
        let change = self.scalar(operand(value, 1)?)?;
        let width = self.width(value)?;
        self.emit.volatile_read(address, Changes::Threads);
        let old = self.emit.load(width, address);
        let new = updated(&mut self.emit, value.rmw_op(), width, old, change)?;
        self.emit.store(width, new, address);
        Ok(vec![old])
    }

    pub fn compare_exchange(&mut self, value: Value<'m>) -> Parts {
        let address = self.scalar(operand(value, 0)?)?;
        let expected = operand(value, 1)?;
        let width = self.width(expected)?;
        let expected = self.scalar(expected)?;
        let new = self.scalar(operand(value, 2)?)?;
        let by = if value.is_weak_exchange() { Changes::ThreadsOrChance } else { Changes::Threads };
        self.emit.volatile_read(address, by);
        let old = self.emit.load(width, address);
        let equal = self.emit.compare(CompareOp::Eq, width, old, expected);
        let stored = self.emit.select(width, equal, new, old);
        self.emit.store(width, stored, address);
        Ok(vec![old, equal])
    }
}

fn updated(emit: &mut Emitter, op: RmwOp, width: Width, old: Operand, change: Operand) -> Result<Operand, Unsupported> {
    let mut binary = |op| Ok(emit.binary(op, width, old, change));
    match op {
        RmwOp::LLVMAtomicRMWBinOpXchg => Ok(change),
        RmwOp::LLVMAtomicRMWBinOpAdd => binary(BinaryOp::Add),
        RmwOp::LLVMAtomicRMWBinOpSub => binary(BinaryOp::Sub),
        RmwOp::LLVMAtomicRMWBinOpAnd => binary(BinaryOp::And),
        RmwOp::LLVMAtomicRMWBinOpOr => binary(BinaryOp::Or),
        RmwOp::LLVMAtomicRMWBinOpXor => binary(BinaryOp::Xor),
        RmwOp::LLVMAtomicRMWBinOpNand => {
            let both = emit.binary(BinaryOp::And, width, old, change);
            Ok(emit.binary(BinaryOp::Xor, width, both, Operand::Constant(mask(width))))
        }
        RmwOp::LLVMAtomicRMWBinOpMax => Ok(emit.extreme(CompareOp::Sgt, width, old, change)),
        RmwOp::LLVMAtomicRMWBinOpMin => Ok(emit.extreme(CompareOp::Slt, width, old, change)),
        RmwOp::LLVMAtomicRMWBinOpUMax => Ok(emit.extreme(CompareOp::Ugt, width, old, change)),
        RmwOp::LLVMAtomicRMWBinOpUMin => Ok(emit.extreme(CompareOp::Ult, width, old, change)),
        RmwOp::LLVMAtomicRMWBinOpFAdd
        | RmwOp::LLVMAtomicRMWBinOpFSub
        | RmwOp::LLVMAtomicRMWBinOpFMax
        | RmwOp::LLVMAtomicRMWBinOpFMin => Err(Unsupported::new("atomic float arithmetic")),
        _ => Err(Unsupported::new("an atomic update of an unknown kind")),
    }
}
