//! What calls of a function read and write that others see, as far as the order of two calls can matter.

use std::collections::{BTreeSet, HashMap};

use crate::code::{Code, Function, Instruction, Operand};
use crate::{CodeFunctionId, GlobalId, RegisterId};

/// What a function and all that it calls may do to memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    reads: BTreeSet<GlobalId>,
    writes: BTreeSet<GlobalId>,
    /// Through pointers to anything.
    reads_anywhere: bool,
    writes_anywhere: bool,
}

/// Where an address leads.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Place {
    Global(GlobalId),
    Own,
    Anywhere,
}

impl Effects {
    /// The effects of a call, with those of the functions that it reaches by name.
    pub fn of(code: &Code, function: CodeFunctionId) -> Effects {
        let mut effects = Effects::default();
        let mut open = vec![function];
        let mut seen = BTreeSet::from([function]);
        while let Some(id) = open.pop() {
            effects.add(code, &code.functions[id]);
            let called = code.functions[id].calls().filter_map(|call| call.callee.function());
            open.extend(called.filter(|callee| seen.insert(*callee)));
        }
        effects
    }

    /// Tells whether it matters which of two calls comes first.
    pub fn meet(&self, other: &Effects) -> bool {
        let changes = |writer: &Effects, reader: &Effects| {
            let sees_anything = !reader.reads.is_empty() || !reader.writes.is_empty() || reader.reads_anywhere;
            let known = writer.writes.iter().any(|it| reader.reads.contains(it) || reader.writes.contains(it));
            let pointed = reader.reads_anywhere || reader.writes_anywhere;
            known || !writer.writes.is_empty() && pointed || writer.writes_anywhere && sees_anything
        };
        changes(self, other) || changes(other, self) || self.writes_anywhere && other.writes_anywhere
    }

    fn add(&mut self, code: &Code, function: &Function) {
        let places = places(function);
        for instruction in function.blocks.values().flat_map(|block| &block.instructions) {
            match instruction {
                Instruction::Load { address, .. } => self.read(code, place(&places, address)),
                Instruction::Store { address, .. } => self.write(code, place(&places, address)),
                Instruction::SetMemory { to, .. } => self.write(code, place(&places, to)),
                Instruction::CopyMemory { to, from, .. } => {
                    self.read(code, place(&places, from));
                    self.write(code, place(&places, to));
                }
                _ => {}
            }
        }
    }

    fn read(&mut self, code: &Code, place: Place) {
        match place {
            Place::Global(id) if code.globals[id].constant || is_of_models(code, id) => {}
            Place::Global(id) => drop(self.reads.insert(id)),
            Place::Own => {}
            Place::Anywhere => self.reads_anywhere = true,
        }
    }

    fn write(&mut self, code: &Code, place: Place) {
        match place {
            Place::Global(id) if is_of_models(code, id) => {}
            Place::Global(id) => drop(self.writes.insert(id)),
            Place::Own => {}
            Place::Anywhere => self.writes_anywhere = true,
        }
    }
}

fn is_of_models(code: &Code, id: GlobalId) -> bool {
    code.globals[id].name.starts_with("__bw_")
}

/// What registers point to, where one instruction says so.
fn places(function: &Function) -> HashMap<RegisterId, Place> {
    let mut places = HashMap::new();
    for instruction in function.blocks.values().flat_map(|block| &block.instructions) {
        match instruction {
            Instruction::StackObject { out, .. } => drop(places.insert(*out, Place::Own)),
            Instruction::Address(address) => {
                let base = place(&places, &address.base);
                places.insert(address.out, base);
            }
            _ => {}
        }
    }
    places
}

fn place(places: &HashMap<RegisterId, Place>, address: &Operand) -> Place {
    match address {
        Operand::Global(id, _) => Place::Global(*id),
        Operand::Register(register) => places.get(register).copied().unwrap_or(Place::Anywhere),
        _ => Place::Anywhere,
    }
}
