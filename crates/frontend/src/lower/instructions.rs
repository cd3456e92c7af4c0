//! The dispatch over LLVM's instructions. It serves constant expressions too, which share their opcodes.

use branchwise_program::code::{BinaryOp, CastOp, FloatOp, Operand};

use super::Unsupported;
use super::function::FunctionLowering;
use super::llvm::{Opcode, Value};
use super::wide::concerns_wide;

pub type Parts = Result<Vec<Operand>, Unsupported>;

impl<'m> FunctionLowering<'_, 'm> {
    /// Emits one instruction and gives the operands that stand for its value.
    pub fn instruction(&mut self, value: Value<'m>) -> Parts {
        let Some(opcode) = value.opcode() else { return Err(Unsupported::new("a value of an unknown kind")) };
        if concerns_wide(value) {
            return self.wide(opcode, value);
        }
        match opcode {
            Opcode::LLVMAdd => self.binary(BinaryOp::Add, value),
            Opcode::LLVMSub => self.binary(BinaryOp::Sub, value),
            Opcode::LLVMMul => self.binary(BinaryOp::Mul, value),
            Opcode::LLVMUDiv => self.binary(BinaryOp::UDiv, value),
            Opcode::LLVMSDiv => self.binary(BinaryOp::SDiv, value),
            Opcode::LLVMURem => self.binary(BinaryOp::URem, value),
            Opcode::LLVMSRem => self.binary(BinaryOp::SRem, value),
            Opcode::LLVMAnd => self.binary(BinaryOp::And, value),
            Opcode::LLVMOr => self.binary(BinaryOp::Or, value),
            Opcode::LLVMXor => self.binary(BinaryOp::Xor, value),
            Opcode::LLVMShl => self.binary(BinaryOp::Shl, value),
            Opcode::LLVMLShr => self.binary(BinaryOp::LShr, value),
            Opcode::LLVMAShr => self.binary(BinaryOp::AShr, value),
            Opcode::LLVMICmp => self.compare(value),
            Opcode::LLVMSelect => self.select(value),
            Opcode::LLVMTrunc => self.cast(CastOp::Truncate, value),
            Opcode::LLVMZExt => self.cast(CastOp::ZeroExtend, value),
            Opcode::LLVMSExt => self.sign_extend(value),
            Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr => self.pointer_cast(value),
            Opcode::LLVMBitCast => self.bit_cast(value),
            Opcode::LLVMAddrSpaceCast | Opcode::LLVMFreeze => self.parts(operand(value, 0)?),
            Opcode::LLVMFNeg => self.float_negate(value),
            Opcode::LLVMFAdd => self.float_binary(FloatOp::Add, value),
            Opcode::LLVMFSub => self.float_binary(FloatOp::Sub, value),
            Opcode::LLVMFMul => self.float_binary(FloatOp::Mul, value),
            Opcode::LLVMFDiv => self.float_binary(FloatOp::Div, value),
            Opcode::LLVMFRem => self.float_binary(FloatOp::Rem, value),
            Opcode::LLVMFCmp => self.float_compare(value),
            Opcode::LLVMFPToUI => self.float_cast(FloatOp::ToUnsigned, value),
            Opcode::LLVMFPToSI => self.float_cast(FloatOp::ToSigned, value),
            Opcode::LLVMUIToFP => self.float_cast(FloatOp::FromUnsigned, value),
            Opcode::LLVMSIToFP => self.float_cast(FloatOp::FromSigned, value),
            Opcode::LLVMFPTrunc | Opcode::LLVMFPExt => self.float_cast(FloatOp::Convert, value),
            Opcode::LLVMAlloca => self.stack_object(value),
            Opcode::LLVMLoad => self.load(value),
            Opcode::LLVMStore => self.store(value),
            Opcode::LLVMGetElementPtr => self.element_address(value),
            Opcode::LLVMFence => Ok(Vec::new()),
            Opcode::LLVMAtomicRMW => self.atomic_update(value),
            Opcode::LLVMAtomicCmpXchg => self.compare_exchange(value),
            Opcode::LLVMExtractValue => self.extract_value(value),
            Opcode::LLVMInsertValue => self.insert_value(value),
            Opcode::LLVMExtractElement => self.extract_element(value),
            Opcode::LLVMInsertElement => self.insert_element(value),
            Opcode::LLVMShuffleVector => self.shuffle(value),
            Opcode::LLVMCall => self.call(value),
            other => Err(Unsupported::new(unsupported_name(other))),
        }
    }
}

/// An operand of an instruction that cannot lack it.
pub fn operand<'m>(value: Value<'m>, index: u32) -> Result<Value<'m>, Unsupported> {
    value.operand(index).ok_or_else(|| Unsupported::new("an instruction without its operands"))
}

fn unsupported_name(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::LLVMVAArg => "va_arg",
        _ => "exception handling",
    }
}
