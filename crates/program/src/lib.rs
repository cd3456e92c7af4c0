//! One program, two views: the [`map`] that people see (statements, conditions, decisions, loops, calls) and the
//! [`code`] that runs (register code lowered from what clang compiled). Markers tie them together: the same
//! [`MarkerId`] names a condition in the map, an instruction in the code and an entry in a native trace.
//!
//! This crate knows nothing of clang, solvers, processes or output formats. A [`Program`] is verified once by
//! [`verify`] and immutable afterwards.

pub mod aliasing;
pub mod assumption;
pub mod code;
mod code_text;
pub mod effects;
pub mod graph;
pub mod hierarchy;
mod ids;
pub mod library;
pub mod map;
pub mod padding;
mod stored;
pub mod types;
mod unwinding;
pub mod usage;
mod verify;

use std::collections::BTreeSet;

pub use ids::*;
pub use verify::{VerifyError, verify};

/// Everything the later stages may know about the files under test.
#[derive(Debug, Clone)]
pub struct Program {
    pub map: map::Map,
    pub code: code::Code,
}

impl Program {
    /// Returns the stub that a function of the code is, where it stands for one that nobody defines.
    pub fn stub(&self, function: CodeFunctionId) -> Option<&map::Stub> {
        let name = &self.code.functions[function].name;
        self.map.stubs.iter().find(|stub| stub.symbol == *name)
    }

    /// Returns the stub, where what it stands for may do what no feed says.
    pub fn interfering_stub(&self, function: CodeFunctionId) -> Option<&map::Stub> {
        self.stub(function).filter(|stub| self.map.may_interfere(stub))
    }

    /// Tells whether the linker may take another definition of a function than that of the file.
    pub fn is_replaceable(&self, function: CodeFunctionId) -> bool {
        let found = &self.code.functions[function];
        let is_model = found.library || found.is_declaration();
        let other = found.weak || self.map.inline_functions.contains(&found.name);
        other && !found.library && self.stub(function).is_none() || is_model && self.map.freestanding.has(&found.name)
    }

    /// Returns how reports name the pairs of calls whose order only this compiler chose, where the order can matter to what a
    /// function does.
    pub fn order_of_calls_in(&self, function: FunctionId) -> BTreeSet<&str> {
        if self.map.unordered_calls.is_empty() {
            return BTreeSet::new();
        }
        let symbol = |id: FunctionId| self.code.function_named(&self.map.functions[id].symbol);
        let reached = self.code.reachable(symbol(function));
        let runs = |pair: &&map::UnorderedCalls| symbol(pair.function).is_some_and(|id| reached.contains(&id));
        let effects = |name: &str| Some(effects::Effects::of(&self.code, self.code.function_named(name)?));
        let matters = |pair: &&map::UnorderedCalls| {
            let [left, right] = &pair.symbols;
            effects(left).zip(effects(right)).is_some_and(|(left, right)| left.meet(&right))
        };
        self.map.unordered_calls.iter().filter(runs).filter(matters).map(|pair| pair.text.as_str()).collect()
    }

    /// Notes in the code what other files may make of the variables that none of the given ones defines.
    pub fn note_outside(map: &map::Map, code: &mut code::Code) {
        let others = map.undefined_variables.iter().filter(|variable| !variable.tentative);
        let undefined = |name: &str| others.clone().find(|variable| variable.name == name);
        let found: Vec<(GlobalId, TypeId)> = code
            .globals
            .iter()
            .filter_map(|(id, global)| Some((id, undefined(&global.name).filter(|_| !global.internal)?.type_id)))
            .collect();
        for &(id, type_id) in &found {
            let shares =
                |&&(other, its): &&(GlobalId, TypeId)| other != id && map.aliasing.may_share(&map.types, type_id, its);
            let may_be = found.iter().filter(shares).map(|(other, _)| *other).collect();
            code.globals[id].outside = code::Outside { goes_on: types::is_flexible(&map.types, type_id), may_be };
        }
    }

    /// Tells whether the program installs handlers of signals.
    pub fn handles_signals(&self) -> bool {
        const INSTALLS: [&str; 5] = ["signal", "__sysv_signal", "bsd_signal", "sigset", "sigaction"];
        let stubbed = |name: &str| self.map.stubs.iter().any(|stub| stub.name == name);
        INSTALLS.iter().any(|name| self.code.function_named(name).is_some() || stubbed(name))
    }

    /// Tells whether somebody may jump back to a `setjmp`: the program itself, or a function that nobody defines.
    pub fn may_jump_back(&self) -> bool {
        const JUMPS: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
        let jumps = JUMPS.iter().any(|name| self.code.function_named(name).is_some());
        jumps || self.map.stubs.iter().any(|stub| self.map.may_interfere(stub))
    }
}
