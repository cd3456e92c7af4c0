//! What holds at one point of one activation.

use std::collections::BTreeMap;

use branchwise_program::code::{Code, Function, Operand, Width};
use branchwise_program::{RegisterId, code};

use crate::memory::Memory;
use crate::number::Number;
use crate::thresholds::Thresholds;
use crate::value::{ObjectId, Value};

/// A register that is not listed may hold anything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    pub registers: BTreeMap<RegisterId, Value>,
    pub memory: Memory,
    /// Registers that hold what stands at a place in memory: what is found out of one holds for the other.
    mirrors: BTreeMap<RegisterId, Place>,
    /// Registers that hold the same as a parameter of the function, which nothing changes while it runs.
    copies: BTreeMap<RegisterId, RegisterId>,
    /// What the edge into this block wrote, and the register that it wrote, while nothing else has been written since: `a`
    /// of `a && b` is a constant on one edge, and `b` is what the other brings.
    brought: Option<(RegisterId, RegisterId)>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub object: ObjectId,
    pub at: u64,
    pub size: u64,
}

impl State {
    pub(crate) fn new(memory: Memory) -> Self {
        State { memory, ..State::default() }
    }

    pub(crate) fn with_memory(&self, memory: Memory) -> Self {
        State { memory, ..self.clone() }
    }

    pub(crate) fn value(&self, code: &Code, function: &Function, operand: &Operand, width: Width) -> Value {
        match operand {
            Operand::Register(register) => self.register(function, *register),
            Operand::Constant(bits) => Value::plain(Number::constant(width, *bits)),
            Operand::Global(id, offset) => Value::address(code, ObjectId::Global(*id), *offset),
            Operand::Function(id) => Value::address(code, ObjectId::Function(*id), 0),
            Operand::Undefined => Value::any(width),
        }
    }

    pub(crate) fn register(&self, function: &Function, register: RegisterId) -> Value {
        self.registers.get(&register).cloned().unwrap_or_else(|| Value::any(function.registers[register]))
    }

    pub(crate) fn set(&mut self, register: RegisterId, value: Value) {
        self.mirrors.remove(&register);
        self.copies.remove(&register);
        self.brought = None;
        self.registers.insert(register, value);
    }

    pub(crate) fn leave_block(&mut self) {
        self.brought = None;
    }

    /// The edge wrote nothing but this register, from the other.
    pub(crate) fn bring(&mut self, register: RegisterId, from: RegisterId) {
        self.brought = Some((register, from));
    }

    /// The register that the edge into this block wrote to this one.
    pub(crate) fn brought(&self, register: RegisterId) -> Option<RegisterId> {
        self.brought.filter(|(to, _)| *to == register).map(|(_, from)| from)
    }

    /// The register holds what the parameter holds.
    pub(crate) fn copy(&mut self, register: RegisterId, parameter: RegisterId) {
        self.copies.insert(register, parameter);
    }

    /// The parameter that an operand is, or is a copy of.
    pub(crate) fn parameter(&self, function: &Function, operand: &Operand) -> Option<RegisterId> {
        let Operand::Register(register) = operand else { return None };
        let itself = || function.parameters.contains(register).then_some(*register);
        self.copies.get(register).copied().or_else(itself)
    }

    /// Whether two operands hold the same, whatever that is.
    pub(crate) fn are_equal(&self, function: &Function, left: &Operand, right: &Operand) -> bool {
        let same_register =
            matches!((left, right), (Operand::Register(left), Operand::Register(right)) if left == right);
        let parameter = self.parameter(function, left);
        same_register
            || self.are_mirrors(left, right)
            || parameter.is_some() && parameter == self.parameter(function, right)
    }

    /// Whether two registers hold what stands at one place.
    fn are_mirrors(&self, left: &Operand, right: &Operand) -> bool {
        let place = |operand: &Operand| match operand {
            Operand::Register(register) => self.mirrored(*register),
            _ => None,
        };
        place(left).is_some() && place(left) == place(right)
    }

    pub(crate) fn mirror(&mut self, register: RegisterId, place: Place) {
        self.mirrors.insert(register, place);
    }

    pub(crate) fn mirrored(&self, register: RegisterId) -> Option<Place> {
        self.mirrors.get(&register).copied()
    }

    pub(crate) fn mirrors_of(&self, place: Place) -> Vec<RegisterId> {
        self.mirrors.iter().filter(|(_, other)| **other == place).map(|(register, _)| *register).collect()
    }

    /// A store through this address may have changed what registers are mirrors of.
    pub(crate) fn forget_mirrors(&mut self, address: &Value, size: u64) {
        if self.mirrors.is_empty() {
            return;
        }
        let elsewhere = crate::memory::points_elsewhere(address);
        let memory = &self.memory;
        self.mirrors.retain(|_, place| {
            let touched = address.targets.known.get(&place.object).is_some_and(|offset| {
                let (low, high) = offset.unsigned_bounds();
                low < place.at + place.size && place.at < high.saturating_add(size)
            });
            !(touched || elsewhere && memory.has_escaped(place.object))
        });
    }

    pub(crate) fn forget_all_mirrors(&mut self) {
        self.mirrors.clear();
    }

    /// Drops the registers that are not wanted.
    pub(crate) fn keep(&mut self, wanted: impl Fn(RegisterId) -> bool) {
        self.registers.retain(|register, _| wanted(*register));
        self.mirrors.retain(|register, _| wanted(*register));
        self.copies.retain(|register, _| wanted(*register));
    }

    pub(crate) fn join(&self, code: &code::Code, other: &State) -> State {
        let memory = self.memory.join(code, &other.memory);
        self.merge(other, memory, Value::join)
    }

    pub(crate) fn widen(&self, code: &code::Code, next: &State, thresholds: &Thresholds) -> State {
        let memory = self.memory.widen(code, &next.memory, thresholds);
        self.merge(next, memory, |old, new| old.widen(new, thresholds))
    }

    fn merge(&self, other: &State, memory: Memory, merge: impl Fn(&Value, &Value) -> Value) -> State {
        let both = self.registers.iter().filter_map(|(register, left)| {
            let right = other.registers.get(register)?;
            let value = if left == right { left.clone() } else { merge(left, right) };
            Some((*register, value))
        });
        let mirrors = self.mirrors.iter().filter(|(register, place)| other.mirrors.get(register) == Some(place));
        let copies = self.copies.iter().filter(|(register, parameter)| other.copies.get(register) == Some(parameter));
        State {
            registers: both.collect(),
            memory,
            brought: self.brought.filter(|brought| other.brought == Some(*brought)),
            mirrors: mirrors.map(|(register, place)| (*register, *place)).collect(),
            copies: copies.map(|(register, parameter)| (*register, *parameter)).collect(),
        }
    }
}
