//! Bitcode to register code.
//!
//! Reads what clang compiled, promotes scalar locals to registers without using undefined behaviour ([`passes`]) and
//! lowers every function and global. What the executor cannot run becomes [`Instruction::Unsupported`] in place, so
//! that only the paths through it end there; nothing in a user's program makes the lowering itself fail.
//!
//! [`Instruction::Unsupported`]: branchwise_program::code::Instruction::Unsupported

mod aggregates;
mod arithmetic;
mod atomics;
mod bits;
mod calls;
mod constants;
mod dominators;
mod emit;
mod exceptions;
mod floats;
mod function;
mod instructions;
mod intrinsics;
pub(crate) mod library;
mod linking;
mod llvm;
mod memory;
mod module;
mod padding;
mod passes;
mod shape;
mod startup;
mod wide;

use std::fmt;
use std::path::{Path, PathBuf};

pub use linking::{LinkedBitcode, Symbols, symbols};

use branchwise_program::code::Code;
use inkwell::context::Context;
use inkwell::module::Module;

/// Lowers a bitcode file that clang wrote (`-O0 -Xclang -disable-O0-optnone -gline-tables-only -emit-llvm -c`).
pub fn lower_bitcode(path: &Path) -> Result<Code, LowerError> {
    lower_linked(path, &[])
}

/// The same for a file that is linked with others.
pub fn lower_linked(path: &Path, others: &[LinkedBitcode<'_>]) -> Result<Code, LowerError> {
    let failed = |what: String| LowerError { path: path.to_owned(), what };
    let context = Context::create();
    let module = Module::parse_bitcode_from_path(path, &context).map_err(|error| failed(error.to_string()))?;
    let elsewhere = match others {
        [] => Default::default(),
        others => linking::link(&module, &context, others).map_err(failed)?,
    };
    library::link(&module).map_err(failed)?;
    startup::define(&module);
    exceptions::lower(&module).map_err(failed)?;
    passes::run(&module).map_err(failed)?;
    let mut code = module::lower(llvm::ModuleView::new(&module));
    for (_, global) in code.globals.iter_mut() {
        global.elsewhere = elsewhere.contains(&global.name);
    }
    Ok(code)
}

/// Why a bitcode file could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LowerError {
    pub path: PathBuf,
    pub what: String,
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read the bitcode {}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for LowerError {}

/// The name of something that the executor cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unsupported(String);

impl Unsupported {
    fn new(what: impl Into<String>) -> Self {
        Unsupported(what.into())
    }
}
