//! Emitting instructions into the current block; constants fold on the way.

use branchwise_program::RegisterId;
use branchwise_program::code::{
    Address, Binary, BinaryOp, Cast, CastOp, Changes, Compare, CompareOp, Instruction, Location, Operand, Width,
};

use branchwise_program::IdVec;

/// The registers of a function and the instructions of its current block.
#[derive(Default)]
pub struct Emitter {
    pub registers: IdVec<RegisterId, Width>,
    pub instructions: Vec<Instruction>,
    pub locations: Vec<Option<Location>>,
    /// Where the instruction that is being lowered stands.
    pub location: Option<Location>,
}

/// The lowest `width` bits.
pub fn mask(width: Width) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// A constant of `width` bits, read as signed.
pub fn signed(value: u128, width: Width) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    ((value << shift) as i128) >> shift
}

impl Emitter {
    pub fn register(&mut self, width: Width) -> RegisterId {
        self.registers.push(width)
    }

    pub fn push(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
        self.locations.push(self.location);
    }

    pub fn weak_reference(&mut self, symbol: Operand) -> Operand {
        let out = self.register(64);
        self.push(Instruction::WeakReference { out, symbol });
        Operand::Register(out)
    }

    pub fn binary(&mut self, op: BinaryOp, width: Width, left: Operand, right: Operand) -> Operand {
        if let Some(folded) = fold_binary(op, width, left, right) {
            return folded;
        }
        self.arithmetic(op, width, left, right, false)
    }

    /// Arithmetic of the program itself, which stays as it is written.
    pub fn arithmetic(
        &mut self,
        op: BinaryOp,
        width: Width,
        left: Operand,
        right: Operand,
        no_signed_wrap: bool,
    ) -> Operand {
        let out = self.register(width);
        self.push(Instruction::Binary(Binary { op, width, out, left, right, no_signed_wrap }));
        Operand::Register(out)
    }

    pub fn compare(&mut self, op: CompareOp, width: Width, left: Operand, right: Operand) -> Operand {
        let out = self.register(1);
        self.push(Instruction::Compare(Compare { op, width, out, left, right }));
        Operand::Register(out)
    }

    pub fn select(&mut self, width: Width, condition: Operand, then: Operand, otherwise: Operand) -> Operand {
        let out = self.register(width);
        self.push(Instruction::Select { out, width, condition, then, otherwise });
        Operand::Register(out)
    }

    pub fn cast(&mut self, op: CastOp, from: Width, to: Width, value: Operand) -> Operand {
        if let Some(folded) = fold_cast(op, from, to, value) {
            return folded;
        }
        let out = self.register(to);
        self.push(Instruction::Cast(Cast { op, from, to, out, value }));
        Operand::Register(out)
    }

    /// The same number in another width: zero-extended, truncated or as it is.
    pub fn resize(&mut self, from: Width, to: Width, value: Operand) -> Operand {
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.cast(CastOp::ZeroExtend, from, to, value),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.cast(CastOp::Truncate, from, to, value),
        }
    }

    /// An address; without variable parts, globals and constants fold to an operand.
    pub fn address(&mut self, address: PendingAddress) -> Operand {
        let PendingAddress { base, constant, scaled } = address;
        if scaled.is_empty() {
            match base {
                Operand::Global(id, offset) => return Operand::Global(id, offset.wrapping_add(constant)),
                Operand::Constant(value) => {
                    return Operand::Constant(u128::from((value as u64).wrapping_add_signed(constant)));
                }
                _ if constant == 0 => return base,
                _ => {}
            }
        }
        let out = self.register(64);
        self.push(Instruction::Address(Address { out, base, constant, scaled }));
        Operand::Register(out)
    }

    /// The next load is one of a volatile object, or an atomic one.
    pub fn volatile_read(&mut self, address: Operand, by: Changes) {
        self.push(Instruction::VolatileRead { address, by });
    }

    /// The next store is one to a volatile object.
    pub fn volatile_write(&mut self, address: Operand) {
        self.push(Instruction::VolatileWrite { address });
    }

    pub fn load(&mut self, width: Width, address: Operand) -> Operand {
        // Memory is bytes: an odd width is read with its padding bits and cut down.
        let bytes = width.next_multiple_of(8);
        let out = self.register(bytes);
        self.push(Instruction::Load { out, width: bytes, address });
        self.resize(bytes, width, Operand::Register(out))
    }

    pub fn store(&mut self, width: Width, value: Operand, address: Operand) {
        let bytes = width.next_multiple_of(8);
        let value = self.resize(width, bytes, value);
        self.push(Instruction::Store { width: bytes, value, address });
    }
}

/// An address before it is emitted.
#[derive(Debug, Clone)]
pub struct PendingAddress {
    pub base: Operand,
    pub constant: i64,
    pub scaled: Vec<branchwise_program::code::Scaled>,
}

/// An index before its sign extension.
#[derive(Debug, Copy, Clone)]
pub struct PendingIndex {
    pub index: Operand,
    pub width: Width,
}

/// Folds what constant expressions and our own expansions are made of.
fn fold_binary(op: BinaryOp, width: Width, left: Operand, right: Operand) -> Option<Operand> {
    match (op, left, right) {
        (BinaryOp::Add, Operand::Global(id, offset), Operand::Constant(value))
        | (BinaryOp::Add, Operand::Constant(value), Operand::Global(id, offset))
            if width == 64 =>
        {
            Some(Operand::Global(id, offset.wrapping_add(value as i64)))
        }
        (BinaryOp::Sub, Operand::Global(id, offset), Operand::Constant(value)) if width == 64 => {
            Some(Operand::Global(id, offset.wrapping_sub(value as i64)))
        }
        (BinaryOp::Sub, Operand::Global(left, from), Operand::Global(right, to)) if width == 64 && left == right => {
            Some(Operand::Constant(u128::from(from.wrapping_sub(to) as u64)))
        }
        (BinaryOp::Or | BinaryOp::Xor | BinaryOp::Add, other, Operand::Constant(0))
        | (BinaryOp::Or | BinaryOp::Xor | BinaryOp::Add, Operand::Constant(0), other)
        | (BinaryOp::Sub | BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr, other, Operand::Constant(0)) => Some(other),
        (_, Operand::Constant(left), Operand::Constant(right)) => fold_constants(op, width, left, right),
        _ => None,
    }
}

fn fold_constants(op: BinaryOp, width: Width, left: u128, right: u128) -> Option<Operand> {
    let value = match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl if right < u128::from(width) => left << right,
        BinaryOp::LShr if right < u128::from(width) => left >> right,
        _ => return None,
    };
    Some(Operand::Constant(value & mask(width)))
}

fn fold_cast(op: CastOp, from: Width, to: Width, value: Operand) -> Option<Operand> {
    match (op, value) {
        (_, Operand::Undefined) => Some(Operand::Undefined),
        (CastOp::Copy, Operand::Constant(_) | Operand::Global(..) | Operand::Function(_)) => Some(value),
        (CastOp::Copy, _) => None,
        (CastOp::Truncate | CastOp::ZeroExtend, Operand::Constant(value)) => Some(Operand::Constant(value & mask(to))),
        (CastOp::SignExtend, Operand::Constant(value)) => {
            Some(Operand::Constant(signed(value, from) as u128 & mask(to)))
        }
        _ => None,
    }
}
