//! Memory at fixed addresses: registers of devices, and whatever else lies where the program puts no object.
//!
//! A volatile read there is an input of its own each time, since the device may have changed the register. A plain read
//! finds what the path has left there, or an input that stays as it is. What is written is kept for plain reads only.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_constraints::TermId;
use branchwise_program::assumption::catalogue::MEMORY_IS_OURS;
use branchwise_program::code::Instruction;

use crate::executor::{Executor, Step};
use crate::path::{AlternativeKind, Fault, FaultKind, PathEnd};
use crate::value::{Pointer, Value};

/// Objects of the program have higher addresses, here as in replays.
pub(crate) const END_OF_REGISTERS: u64 = 1 << 44;
/// Addresses below this are null plus a member's offset.
pub(crate) const NULL_PAGE: u64 = 4096;
/// What is mapped as a whole.
const PAGE: u64 = 4096;
/// Larger pieces are copied in several accesses.
const WIDEST: u64 = 8;
/// More bytes are not copied from or to fixed addresses.
const LARGEST_COPY: u64 = 4096;

/// A path does not use more addresses than a test has room for.
const MOST_ADDRESSES: usize = 128;

/// What a path did at fixed addresses.
#[derive(Debug, Clone, Default)]
pub struct Registers {
    /// By address: what volatile reads got, in order.
    pub read: BTreeMap<u64, Vec<RegisterValue>>,
    /// What plain reads found that the path had not written.
    pub found: BTreeMap<u64, RegisterValue>,
    /// Addresses that were written.
    pub written: BTreeSet<u64>,
    /// By address: how many bytes the path has left there, and what, where plain reads can tell.
    left: BTreeMap<u64, (u64, Option<Value>)>,
}

/// An input that a read at a fixed address gets.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct RegisterValue {
    pub bytes: u64,
    pub term: TermId,
}

impl Registers {
    /// Whether both got the same inputs.
    pub(crate) fn is_like(&self, other: &Registers) -> bool {
        self.read == other.read && self.found == other.found
    }

    /// Joins two states that got the same inputs: where they have left different values, none is known.
    pub(crate) fn join(&mut self, other: &Registers) {
        self.written.extend(&other.written);
        let same = |at, size, value: &Option<Value>| match (other.left.get(at), value) {
            (Some((of, Some(there))), Some(here)) => *of == size && is_same(here, there),
            _ => false,
        };
        for (at, (size, value)) in &mut self.left {
            *value = value.filter(|_| same(at, *size, value));
        }
        for (at, (size, _)) in &other.left {
            self.left.entry(*at).or_insert((*size, None));
        }
    }

    /// What lies in this range and is no value of exactly that range.
    fn is_mixed(&self, address: u64, size: u64) -> bool {
        self.overlapping(address, size).any(|(at, of)| (at, of) != (address, size))
    }

    fn overlapping(&self, address: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
        let near = self.left.range(address.saturating_sub(WIDEST)..address + size);
        near.map(|(&at, &(of, _))| (at, of)).filter(move |(at, of)| at + of > address)
    }

    fn leave(&mut self, address: u64, size: u64, value: Value) {
        for (at, of) in self.overlapping(address, size).filter(|place| *place != (address, size)).collect::<Vec<_>>() {
            self.left.insert(at, (of, None));
        }
        self.left.insert(address, (size, Some(value)));
    }
}

/// Whether two values are the same number.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Bits(left), Value::Bits(right)) => left == right,
        (Value::Term(left), Value::Term(right)) => left == right,
        _ => false,
    }
}

impl Executor<'_, '_> {
    /// Reads where no object is.
    pub(crate) fn read_register(&mut self, address: u64, size: u64) -> Step<Value> {
        self.check_register(address, size)?;
        if self.is_volatile_access() {
            return self.read_device(address, size);
        }
        if self.registers_used.read.contains_key(&address) || self.registers_used.is_mixed(address, size) {
            return self.unsupported("reads at one fixed address in different ways");
        }
        match self.registers_used.left.get(&address) {
            Some((_, Some(value))) => return Ok(*value),
            Some((_, None)) => return self.unsupported("a read at a fixed address that different paths have written"),
            None => {}
        }
        let term = self.register_input(address, size, None)?;
        self.registers_used.found.insert(address, RegisterValue { bytes: size, term });
        self.registers_used.leave(address, size, Value::Term(term));
        Ok(Value::Term(term))
    }

    fn read_device(&mut self, address: u64, size: u64) -> Step<Value> {
        if self.registers_used.found.contains_key(&address) {
            return self.unsupported("reads at one fixed address in different ways");
        }
        let nth = self.registers_used.read.get(&address).map_or(0, Vec::len);
        let term = self.register_input(address, size, Some(nth))?;
        self.registers_used.read.entry(address).or_default().push(RegisterValue { bytes: size, term });
        self.registers_used.leave(address, size, Value::Term(term));
        Ok(Value::Term(term))
    }

    /// Writes where no object is.
    pub(crate) fn write_register(&mut self, address: u64, size: u64, value: Value) -> Step<()> {
        self.check_register(address, size)?;
        if Self::is_pointer(&value) {
            // Whoever is there may write to the object later.
            self.rest_everywhere_on(MEMORY_IS_OURS.about(&format!("{address:#x}")));
        }
        self.registers_used.written.insert(address);
        self.registers_used.leave(address, size, value);
        Ok(())
    }

    /// Copies from a fixed address into an object.
    pub(crate) fn read_registers(&mut self, address: u64, to: Pointer, size: u64) -> Step<()> {
        for (at, size) in self.register_pieces(address, size)? {
            let value = self.read_register(address + at, size)?;
            self.memory.write(self.session, to.object, to.offset + at, size, value);
        }
        Ok(())
    }

    /// Copies from an object to a fixed address.
    pub(crate) fn write_registers(&mut self, address: u64, from: Pointer, size: u64) -> Step<()> {
        for (at, size) in self.register_pieces(address, size)? {
            let value = self.memory.read(self.session, from.object, from.offset + at, size);
            self.write_register(address + at, size, value)?;
        }
        Ok(())
    }

    /// Writes one byte everywhere from a fixed address on.
    pub(crate) fn set_registers(&mut self, address: u64, byte: Value, size: u64) -> Step<()> {
        for at in 0..self.register_pieces(address, size)?.last().map_or(0, |(at, size)| at + size) {
            self.write_register(address + at, 1, byte)?;
        }
        Ok(())
    }

    /// The widest aligned accesses that a range consists of.
    fn register_pieces(&self, address: u64, size: u64) -> Step<Vec<(u64, u64)>> {
        if size > LARGEST_COPY {
            return self.unsupported("a large copy from or to a fixed address");
        }
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < size {
            let aligned = 1 << (address + at).trailing_zeros().min(WIDEST.trailing_zeros());
            let piece = (size - at + 1).next_power_of_two() / 2;
            pieces.push((at, piece.min(aligned)));
            at += piece.min(aligned);
        }
        Ok(pieces)
    }

    /// Whether a test can have memory there.
    fn check_register(&self, address: u64, size: u64) -> Step<()> {
        if address < NULL_PAGE && !self.is_volatile_access() {
            return self.fail(FaultKind::NullDereference, "null pointer dereferenced");
        }
        if !(NULL_PAGE..END_OF_REGISTERS).contains(&address) {
            let message = format!("access to address {address:#x}, where no object is");
            let assumption = Some(MEMORY_IS_OURS.about(&format!("{address:#x}")));
            let fault = self.fault(FaultKind::InvalidPointer, message);
            return Err(Box::new(PathEnd::Fault(Fault { assumption, ..fault })));
        }
        let used = &self.registers_used;
        if used.written.len() + used.read.len() + used.found.len() > MOST_ADDRESSES {
            return self.unsupported("accesses at many fixed addresses");
        }
        if address / PAGE != (address + size - 1) / PAGE {
            return self.unsupported("an access across a page at a fixed address");
        }
        Ok(())
    }

    /// There may be code at a fixed address. It may return, or call the unit.
    pub(crate) fn call_of_register<T>(&mut self, address: u64) -> Step<T> {
        let assumption = MEMORY_IS_OURS.about(&format!("{address:#x}"));
        self.rest_everywhere_on(assumption.clone());
        let fault =
            self.fault(FaultKind::InvalidPointer, format!("call of address {address:#x}, where no function is"));
        Err(Box::new(PathEnd::Fault(Fault { assumption: Some(assumption), ..fault })))
    }

    /// Whether the instruction is an access to a volatile object.
    fn is_volatile_access(&self) -> bool {
        let site = self.site();
        let instructions = &self.code.functions[site.function].blocks[site.block].instructions;
        let before = site.instruction.checked_sub(1).and_then(|before| instructions.get(before as usize));
        matches!(before, Some(Instruction::VolatileRead { .. } | Instruction::VolatileWrite { .. }))
    }

    /// The input of a read: the one with this number of those that volatile reads there get, or what plain reads find.
    fn register_input(&mut self, address: u64, size: u64, nth: Option<usize>) -> Step<TermId> {
        let session = &mut *self.session;
        let term = session.inputs.register_for(&mut session.terms, address, size, nth);
        let Some(domain) = session.program.map.registers.get(&address) else { return Ok(term) };
        let within = self.within(term, &domain.ranges, false);
        match self.decide(within, [AlternativeKind::Rejected, AlternativeKind::Continue])? {
            true => Ok(term),
            false => Err(Box::new(PathEnd::Rejected)),
        }
    }
}
