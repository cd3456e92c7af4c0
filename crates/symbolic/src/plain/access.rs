//! Groups of instructions that are one operation: addresses with the only access through them, loads with the extension of
//! what they read, updates of a number in memory, comparisons with their markers.

use branchwise_program::RegisterId;
use branchwise_program::code::{Address, Binary, BinaryOp, Cast, CastOp, Instruction, Operand};

use super::decode::{Decoder, fork, slot_of, unused};
use super::fuse;
use super::operation::{Indexed, Operation, Slot, Step};

impl Decoder<'_> {
    /// The operation for the first of these instructions and some after it, and how many they are.
    pub(super) fn group(&mut self, instructions: &[Instruction]) -> Option<(Operation, usize)> {
        self.update(instructions).or_else(|| self.access(instructions)).or_else(|| self.marked(instructions))
    }

    /// A load, a computation and a store to the same place, if nothing else reads what lies between.
    fn update(&mut self, instructions: &[Instruction]) -> Option<(Operation, usize)> {
        let (address, length) = self.computed(instructions).unwrap_or((None, 0));
        let [
            Instruction::Load { out: loaded, width, address: from },
            Instruction::Binary(binary),
            Instruction::Store { width: stored, value, address: to },
            ..,
        ] = instructions.get(length..)?
        else {
            return None;
        };
        let joined = from == to && self.only(&binary.left, *loaded) && self.only(value, binary.out);
        if !joined || (binary.width, *stored) != (*width, *width) {
            return None;
        }
        let address = match address {
            Some((out, address)) if *from == Operand::Register(out) && self.uses[out] == 2 => address,
            Some(_) => return None,
            None => Indexed { base: self.slot(from)?, ..self.nowhere()? },
        };
        let (step, right) = (step_of(binary)?, self.slot(&binary.right)?);
        let operation = match width {
            8 => Operation::Update1 { step, right, address },
            16 => Operation::Update2 { step, right, address },
            32 => Operation::Update4 { step, right, address },
            64 => Operation::Update8 { step, right, address },
            _ => return None,
        };
        Some((operation, length + 3))
    }

    fn marked(&mut self, instructions: &[Instruction]) -> Option<(Operation, usize)> {
        let marked = fuse::marked(instructions, &self.uses)?;
        let compare = marked.compare;
        let op = if marked.negated { compare.op.negated() } else { compare.op };
        let three = self.three(marked.out, &compare.left, &compare.right, compare.width)?;
        let fork = fork(self.reports(marked.marker, 2));
        Some((Operation::MarkCompare { op, three, fork }, marked.length))
    }

    /// An access with what computes its address, or what extends the number that it reads.
    fn access(&mut self, instructions: &[Instruction]) -> Option<(Operation, usize)> {
        let (address, length) = self.computed(instructions).unwrap_or((None, 0));
        let rest = &instructions[length..];
        match (rest.first()?, address) {
            (Instruction::Load { out, width, address: operand }, address) => {
                let address = match address {
                    Some((through, address)) => self.only(operand, through).then_some(address),
                    None => None,
                };
                if length > 0 && address.is_none() {
                    return self.index(instructions);
                }
                if let Some(cast) = self.extension(rest.get(1), *out) {
                    let address = match address {
                        Some(address) => address,
                        None => Indexed { base: self.slot(operand)?, ..self.nowhere()? },
                    };
                    if let Some(operation) = extended(*width, cast, address) {
                        return Some((operation, length + 2));
                    }
                }
                Some((load_indexed(*width, slot_of(*out)?, address?)?, length + 1))
            }
            (Instruction::Store { width, value, address: operand }, Some((through, address)))
                if self.only(operand, through) =>
            {
                Some((store_indexed(*width, self.slot(value)?, address)?, length + 1))
            }
            _ => self.index(instructions),
        }
    }

    /// An address whose index is extended before, where there is no single access through it.
    fn index(&mut self, instructions: &[Instruction]) -> Option<(Operation, usize)> {
        let (Some((out, address)), 2) = self.computed(instructions)? else { return None };
        Some((Operation::Index { out: slot_of(out)?, address }, 2))
    }

    /// The address that the first instructions compute, and how many they are.
    fn computed(&mut self, instructions: &[Instruction]) -> Option<(Option<(RegisterId, Indexed)>, usize)> {
        match instructions {
            [Instruction::Address(address), ..] => Some((Some((address.out, self.indexed(address)?)), 1)),
            [
                Instruction::Cast(Cast { op: CastOp::ZeroExtend, from, out, value, to: 64 }),
                Instruction::Address(address),
                ..,
            ] => {
                let [scaled] = &address.scaled[..] else { return None };
                if !self.only(&scaled.index, *out) || unused(*from).is_none() {
                    return None;
                }
                // Zeros above a number are not to be seen in its bits.
                let indexed = Indexed { index: self.slot(value)?, ..self.indexed(address)? };
                Some((Some((address.out, indexed)), 2))
            }
            _ => None,
        }
    }

    /// Whether an operand is this register, and nothing else reads it.
    pub(super) fn only(&self, operand: &Operand, register: RegisterId) -> bool {
        *operand == Operand::Register(register) && self.uses[register] == 1
    }

    fn extension<'i>(&self, next: Option<&'i Instruction>, loaded: RegisterId) -> Option<&'i Cast> {
        let Some(Instruction::Cast(cast)) = next else { return None };
        let extends = matches!(cast.op, CastOp::SignExtend | CastOp::ZeroExtend);
        (extends && self.only(&cast.value, loaded)).then_some(cast)
    }

    pub(super) fn address(&mut self, address: &Address) -> Option<Operation> {
        let out = slot_of(address.out)?;
        if !address.scaled.is_empty() {
            return Some(Operation::Index { out, address: self.indexed(address)? });
        }
        let constant = i32::try_from(address.constant).ok()?;
        Some(Operation::Offset { out, base: self.slot(&address.base)?, constant })
    }

    /// An address that is no more than its base, which is still to be said.
    fn nowhere(&mut self) -> Option<Indexed> {
        Some(Indexed { base: 0, index: self.slot(&Operand::Constant(0))?, scale: 0, constant: 0, unused: 0 })
    }

    fn indexed(&mut self, address: &Address) -> Option<Indexed> {
        let constant = i32::try_from(address.constant).ok()?;
        let base = self.slot(&address.base)?;
        match &address.scaled[..] {
            [] => Some(Indexed { base, constant, ..self.nowhere()? }),
            [scaled] => {
                let scale = i32::try_from(scaled.scale).ok()?;
                let (index, unused) = (self.slot(&scaled.index)?, unused(scaled.width)?);
                Some(Indexed { base, index, scale, constant, unused })
            }
            _ => None,
        }
    }
}

fn step_of(binary: &Binary) -> Option<Step> {
    match (binary.op, binary.no_signed_wrap) {
        (BinaryOp::Add, false) => Some(Step::Add),
        (BinaryOp::Sub, false) => Some(Step::Sub),
        (BinaryOp::Add, true) => Some(Step::AddSigned),
        (BinaryOp::Sub, true) => Some(Step::SubSigned),
        (BinaryOp::And, _) => Some(Step::And),
        (BinaryOp::Or, _) => Some(Step::Or),
        (BinaryOp::Xor, _) => Some(Step::Xor),
        _ => None,
    }
}

fn extended(width: u32, cast: &Cast, address: Indexed) -> Option<Operation> {
    let out = slot_of(cast.out)?;
    match (cast.op, width, cast.to) {
        (CastOp::ZeroExtend, 8, ..=64) => Some(Operation::LoadUnsigned1 { out, address }),
        (CastOp::ZeroExtend, 16, ..=64) => Some(Operation::LoadUnsigned2 { out, address }),
        (CastOp::ZeroExtend, 32, ..=64) => Some(Operation::LoadUnsigned4 { out, address }),
        (CastOp::SignExtend, 8, 32) => Some(Operation::LoadSigned1To4 { out, address }),
        (CastOp::SignExtend, 16, 32) => Some(Operation::LoadSigned2To4 { out, address }),
        (CastOp::SignExtend, 8, 64) => Some(Operation::LoadSigned1To8 { out, address }),
        (CastOp::SignExtend, 16, 64) => Some(Operation::LoadSigned2To8 { out, address }),
        (CastOp::SignExtend, 32, 64) => Some(Operation::LoadSigned4To8 { out, address }),
        _ => None,
    }
}

pub(super) fn load(width: u32, out: Slot, address: Slot) -> Option<Operation> {
    match width {
        8 => Some(Operation::Load1 { out, address }),
        16 => Some(Operation::Load2 { out, address }),
        32 => Some(Operation::Load4 { out, address }),
        64 => Some(Operation::Load8 { out, address }),
        _ => None,
    }
}

pub(super) fn store(width: u32, value: Slot, address: Slot) -> Option<Operation> {
    match width {
        8 => Some(Operation::Store1 { value, address }),
        16 => Some(Operation::Store2 { value, address }),
        32 => Some(Operation::Store4 { value, address }),
        64 => Some(Operation::Store8 { value, address }),
        _ => None,
    }
}

fn load_indexed(width: u32, out: Slot, address: Indexed) -> Option<Operation> {
    match width {
        8 => Some(Operation::LoadIndexed1 { out, address }),
        16 => Some(Operation::LoadIndexed2 { out, address }),
        32 => Some(Operation::LoadIndexed4 { out, address }),
        64 => Some(Operation::LoadIndexed8 { out, address }),
        _ => None,
    }
}

fn store_indexed(width: u32, value: Slot, address: Indexed) -> Option<Operation> {
    match width {
        8 => Some(Operation::StoreIndexed1 { value, address }),
        16 => Some(Operation::StoreIndexed2 { value, address }),
        32 => Some(Operation::StoreIndexed4 { value, address }),
        64 => Some(Operation::StoreIndexed8 { value, address }),
        _ => None,
    }
}
