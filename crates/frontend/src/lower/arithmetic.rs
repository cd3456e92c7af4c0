//! Arithmetic, comparisons, selections and casts, element by element for vectors.

use branchwise_program::code::{BinaryOp, CastOp, CompareOp, Operand};

use super::Unsupported;
use super::emit::{PendingIndex, mask};
use super::function::FunctionLowering;
use super::instructions::{Parts, operand};
use super::llvm::{IntPredicate, Opcode, Value, ValueKind};

impl<'m> FunctionLowering<'_, 'm> {
    pub fn binary(&mut self, op: BinaryOp, value: Value<'m>) -> Parts {
        let (left, right) = self.pair(value)?;
        let shape = self.shape(value)?;
        // The program's arithmetic stays as written; constant expressions fold to addresses where they can.
        let folds = value.kind() == ValueKind::LLVMConstantExprValueKind;
        let wraps = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl);
        let no_signed_wrap = wraps && value.no_signed_wrap();
        let emit = &mut self.emit;
        let element = |((part, left), right): ((&super::shape::Part, Operand), Operand)| match folds {
            true => emit.binary(op, part.width, left, right),
            false => emit.arithmetic(op, part.width, left, right, no_signed_wrap),
        };
        Ok(shape.iter().zip(left).zip(right).map(element).collect())
    }

    pub fn compare(&mut self, value: Value<'m>) -> Parts {
        let (left, right) = self.pair(value)?;
        let shape = self.shape(operand(value, 0)?)?;
        let op = comparison(value.predicate());
        let sides = shape.iter().zip(left).zip(right);
        Ok(sides.map(|((part, left), right)| self.emit.compare(op, part.width, left, right)).collect())
    }

    pub fn select(&mut self, value: Value<'m>) -> Parts {
        let shape = self.shape(value)?;
        let conditions = self.parts(operand(value, 0)?)?;
        let then = self.parts(operand(value, 1)?)?;
        let otherwise = self.parts(operand(value, 2)?)?;
        if conditions.is_empty() {
            return Err(Unsupported::new("a selection without a condition"));
        }
        // One condition chooses a whole aggregate; a vector of conditions chooses element by element.
        let conditions = conditions.into_iter().cycle();
        let choices = shape.iter().zip(conditions).zip(then.into_iter().zip(otherwise));
        Ok(choices
            .map(|((part, condition), (then, other))| self.emit.select(part.width, condition, then, other))
            .collect())
    }

    pub fn cast(&mut self, op: CastOp, value: Value<'m>) -> Parts {
        let source = operand(value, 0)?;
        let (from, to) = (self.shape(source)?, self.shape(value)?);
        let values = self.parts(source)?;
        let elements = from.iter().zip(to.iter()).zip(values);
        Ok(elements.map(|((from, to), value)| self.emit.cast(op, from.width, to.width, value)).collect())
    }

    /// Clang extends every `int` index before it computes an address; the address extends it anyway.
    pub fn sign_extend(&mut self, value: Value<'m>) -> Parts {
        if value.sole_user_in_block().is_some_and(|user| user.opcode() == Some(Opcode::LLVMGetElementPtr)) {
            let source = operand(value, 0)?;
            let index = PendingIndex { index: self.scalar(source)?, width: self.width(source)? };
            self.pending_indices.insert(value, index);
            return Ok(Vec::new());
        }
        self.cast(CastOp::SignExtend, value)
    }

    /// Pointer to integer and back: the same bits, or as many as fit.
    pub fn pointer_cast(&mut self, value: Value<'m>) -> Parts {
        let source = operand(value, 0)?;
        let (from, to) = (self.shape(source)?, self.shape(value)?);
        let values = self.parts(source)?;
        let convert = |((from, to), value): ((&super::shape::Part, &super::shape::Part), Operand)| {
            let op = match from.width.cmp(&to.width) {
                std::cmp::Ordering::Less => CastOp::ZeroExtend,
                std::cmp::Ordering::Equal => CastOp::Copy,
                std::cmp::Ordering::Greater => CastOp::Truncate,
            };
            self.emit.cast(op, from.width, to.width, value)
        };
        Ok(from.iter().zip(to.iter()).zip(values).map(convert).collect())
    }

    /// The sign is a bit of the pattern, for NaN too, so this needs no floating-point arithmetic.
    pub fn float_negate(&mut self, value: Value<'m>) -> Parts {
        let shape = self.shape(value)?;
        let values = self.parts(operand(value, 0)?)?;
        let negate = |(part, value): (&super::shape::Part, Operand)| {
            let sign = Operand::Constant(mask(part.width) & !mask(part.width - 1));
            self.emit.binary(BinaryOp::Xor, part.width, value, sign)
        };
        Ok(shape.iter().zip(values).map(negate).collect())
    }

    fn pair(&mut self, value: Value<'m>) -> Result<(Vec<Operand>, Vec<Operand>), Unsupported> {
        Ok((self.parts(operand(value, 0)?)?, self.parts(operand(value, 1)?)?))
    }
}

fn comparison(predicate: IntPredicate) -> CompareOp {
    match predicate {
        IntPredicate::LLVMIntEQ => CompareOp::Eq,
        IntPredicate::LLVMIntNE => CompareOp::Ne,
        IntPredicate::LLVMIntUGT => CompareOp::Ugt,
        IntPredicate::LLVMIntUGE => CompareOp::Uge,
        IntPredicate::LLVMIntULT => CompareOp::Ult,
        IntPredicate::LLVMIntULE => CompareOp::Ule,
        IntPredicate::LLVMIntSGT => CompareOp::Sgt,
        IntPredicate::LLVMIntSGE => CompareOp::Sge,
        IntPredicate::LLVMIntSLT => CompareOp::Slt,
        IntPredicate::LLVMIntSLE => CompareOp::Sle,
    }
}
