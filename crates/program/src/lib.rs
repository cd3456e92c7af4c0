//! One program, two views: the [`map`] that people see (statements, conditions, decisions, loops, calls) and the
//! [`code`] that runs (register code lowered from what clang compiled). Markers tie them together: the same
//! [`MarkerId`] names a condition in the map, an instruction in the code and an entry in a native trace.
//!
//! This crate knows nothing of clang, solvers, processes or output formats. A [`Program`] is verified once by
//! [`verify`] and immutable afterwards.

pub mod assumption;
pub mod code;
mod code_text;
pub mod graph;
pub mod hierarchy;
mod ids;
pub mod library;
pub mod map;
mod stored;
pub mod types;
mod unwinding;
pub mod usage;
mod verify;

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
        found.weak && !found.library && self.stub(function).is_none()
            || is_model && self.map.freestanding.has(&found.name)
    }

    /// Tells whether somebody may jump back to a `setjmp`: the program itself, or a function that nobody defines.
    pub fn may_jump_back(&self) -> bool {
        const JUMPS: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
        let jumps = JUMPS.iter().any(|name| self.code.function_named(name).is_some());
        jumps || self.map.stubs.iter().any(|stub| self.map.may_interfere(stub))
    }
}
