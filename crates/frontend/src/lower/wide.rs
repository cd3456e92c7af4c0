//! Integers of more than 128 bits, each a list of words. Clang reads and writes a long run of bit-fields in a packed
//! structure as one such integer; what these accesses are made of is lowered here. Arithmetic (`_BitInt(256)`) is not.

use branchwise_program::code::{BinaryOp, CastOp, Operand, Width};

use super::Unsupported;
use super::function::FunctionLowering;
use super::instructions::{Parts, operand};
use super::llvm::{Opcode, Type, Value};
use super::shape::Part;

/// Registers have at most so many bits.
const WIDEST: Width = 128;
const WORD: Width = 64;

/// An integer that fits no register.
pub fn is_wide(ty: Type<'_>) -> bool {
    ty.integer_width().is_some_and(|width| width > WIDEST)
}

/// The words of an integer of this width, the lowest first; the last has what is left.
pub fn words(width: Width) -> impl Iterator<Item = Part> {
    let starts = (0..width).step_by(WORD as usize);
    starts.map(move |start| Part { width: WORD.min(width - start), bit_offset: u64::from(start) })
}

/// An instruction that makes or takes such an integer.
pub fn concerns_wide(value: Value<'_>) -> bool {
    let operands = 0..value.operand_count();
    is_wide(value.ty()) || operands.filter_map(|index| value.operand(index)).any(|operand| is_wide(operand.ty()))
}

/// Bits in words, which may begin anywhere.
struct Words {
    parts: Vec<Part>,
    values: Vec<Operand>,
    /// The number of bits.
    width: Width,
}

impl<'m> FunctionLowering<'_, 'm> {
    pub fn wide(&mut self, opcode: Opcode, value: Value<'m>) -> Parts {
        match opcode {
            Opcode::LLVMAnd => self.binary(BinaryOp::And, value),
            Opcode::LLVMOr => self.binary(BinaryOp::Or, value),
            Opcode::LLVMXor => self.binary(BinaryOp::Xor, value),
            Opcode::LLVMLoad => self.load(value),
            Opcode::LLVMStore => self.store(value),
            Opcode::LLVMSelect => self.select(value),
            Opcode::LLVMFreeze => self.parts(operand(value, 0)?),
            Opcode::LLVMShl => self.wide_shift_left(value),
            Opcode::LLVMLShr => self.wide_shift_right(value, false),
            Opcode::LLVMAShr => self.wide_shift_right(value, true),
            Opcode::LLVMTrunc | Opcode::LLVMZExt => self.wide_cast(value, false),
            Opcode::LLVMSExt => self.wide_cast(value, true),
            _ => Err(Unsupported::new("arithmetic on integers of more than 128 bits")),
        }
    }

    fn wide_shift_left(&mut self, value: Value<'m>) -> Parts {
        let mut words = self.words(operand(value, 0)?)?;
        let distance = distance(value, words.width)?;
        words.parts.iter_mut().for_each(|part| part.bit_offset += u64::from(distance));
        self.gathered(&words, value, 0)
    }

    fn wide_shift_right(&mut self, value: Value<'m>, signed: bool) -> Parts {
        let mut words = self.words(operand(value, 0)?)?;
        let distance = distance(value, words.width)?;
        if signed {
            self.extend_sign(&mut words, distance);
        }
        self.gathered(&words, value, distance)
    }

    fn wide_cast(&mut self, value: Value<'m>, signed: bool) -> Parts {
        let mut words = self.words(operand(value, 0)?)?;
        if signed {
            let bits = value.ty().integer_width().map_or(0, |width| width - words.width);
            self.extend_sign(&mut words, bits);
        }
        self.gathered(&words, value, 0)
    }

    fn words(&mut self, value: Value<'m>) -> Result<Words, Unsupported> {
        let width = value.ty().integer_width().ok_or_else(|| Unsupported::new("a vector of wide integers"))?;
        Ok(Words { parts: self.shape(value)?.to_vec(), values: self.parts(value)?, width })
    }

    /// Puts so many copies of the sign above the number, and maybe more.
    fn extend_sign(&mut self, words: &mut Words, bits: Width) {
        let (Some(top), Some(&value)) = (words.parts.last(), words.values.last()) else { return };
        let last_bit = Operand::Constant(u128::from(top.width - 1));
        let sign = self.emit.binary(BinaryOp::AShr, top.width, value, last_bit);
        let sign = if top.width < WORD { self.emit.cast(CastOp::SignExtend, top.width, WORD, sign) } else { sign };
        let width = if top.width < WORD { WORD } else { top.width };
        for above in (0..bits).step_by(width as usize) {
            words.parts.push(Part { width, bit_offset: u64::from(words.width + above) });
            words.values.push(sign);
        }
    }

    /// The bits from `start` on, as the registers of the value.
    fn gathered(&mut self, words: &Words, value: Value<'m>, start: Width) -> Parts {
        let shape = self.shape(value)?;
        let from = |part: &Part| Part { bit_offset: part.bit_offset + u64::from(start), ..*part };
        Ok(shape.iter().map(|part| self.gather(&words.parts, &words.values, &from(part))).collect())
    }
}

fn distance(value: Value<'_>, width: Width) -> Result<Width, Unsupported> {
    let constant = operand(value, 1)?.integer_words().filter(|words| words[1..].iter().all(|&word| word == 0));
    let distance = constant.and_then(|words| Width::try_from(words[0]).ok()).filter(|&distance| distance < width);
    distance.ok_or_else(|| Unsupported::new("a shift of an integer of more than 128 bits"))
}
