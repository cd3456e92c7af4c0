//! The rim towards clang: parses the user's C, builds the map, puts the markers in and compiles the marked text.
//!
//! Nothing outside this crate names clang. The map says what llvm-cov will count because clang's own coverage mapping
//! is asked; see `coverage`.

mod aliasing;
mod allocations;
mod analyse;
mod assembly;
mod callees;
mod cfg;
mod clang;
mod classes;
mod columns;
mod compile_commands;
mod conditions;
mod containers;
mod coverage;
mod ctypes;
mod dataflow;
mod derived;
mod drivers;
mod error;
mod flags;
mod functions;
mod hierarchy;
mod inputs;
mod instances;
mod kept;
mod language;
mod load;
pub mod lower;
mod macros;
mod making;
mod marking;
mod neighbours;
mod objects;
mod observers;
mod places;
mod plan;
mod preconditions;
mod preprocess;
mod probes;
mod replaceable;
mod signatures;
mod stubs;
mod syntax;
mod taken_for;
mod toolchain;
mod unmarked;
mod unsequenced;
mod usage;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use branchwise_program::map::{Domain, Language, Map};
use branchwise_tools::KeyBuilder;
use serde::{Deserialize, Serialize};

pub use allocations::{allocates, let_allocations_fail};
pub use columns::{UserColumns, with_user_columns};
pub use compile_commands::{CompileCommand, CompileCommands, CompileCommandsError, Recipe};
pub use error::FrontendError;
pub use flags::{CheckedFlags, Harm, RefusedFlag, check_flags};
pub use language::{NO_ACCESS_CONTROL, language_of};
pub use load::{LoadError, LoadOptions, LoadedUnit, OwnedSource, load};
pub use lower::library::{is_modelled, may_call_back};
pub use neighbours::{LinkedFile, Neighbours};
pub use toolchain::Toolchain;
pub use worker::{Reader, WORKER, worker_main};

/// A C or C++ file and the compiler flags it is built with.
#[derive(Debug, Copy, Clone)]
pub struct Source<'a> {
    pub path: &'a Path,
    pub flags: &'a [String],
    /// Static variables of the file are inputs too, whatever the program would let them be.
    pub set_statics: bool,
    /// Instances of templates that are units of their own.
    pub instances: &'a [String],
}

/// One analysed translation unit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Unit {
    pub map: Map,
    /// Preprocessed text with markers, their declarations and the drivers; compiles as preprocessed text.
    pub marked: String,
    /// Includes the user's file and has the same drivers but no markers; compiles as the file does. What llvm-cov measures.
    pub plain: String,
    /// Leads from the compiler's locations in the marked text to the user's.
    ///
    /// Only the process that reads the file needs it.
    #[serde(skip)]
    pub columns: UserColumns,
    /// The user's flags without what concerns output, optimisation and warnings.
    pub flags: Vec<String>,
    pub language: Language,
}

/// What is declared of functions outside their file, by name: added to what comments in the file say.
pub type Declarations = BTreeMap<String, Domain>;

/// Parses the file, finds its conditions and marks them.
pub fn analyse(toolchain: &Toolchain, source: &Source<'_>) -> Result<Unit, FrontendError> {
    analyse_declared(toolchain, source, &Declarations::new())
}

/// The same for a file of whose functions more is declared than it says itself.
pub fn analyse_declared(
    toolchain: &Toolchain,
    source: &Source<'_>,
    declarations: &Declarations,
) -> Result<Unit, FrontendError> {
    analyse_linked(toolchain, source, declarations, &BTreeSet::new())
}

/// The same for a file that is linked with others, which define these names for it.
pub fn analyse_linked(
    toolchain: &Toolchain,
    source: &Source<'_>,
    declarations: &Declarations,
    provided: &BTreeSet<String>,
) -> Result<Unit, FrontendError> {
    analyse::analyse(toolchain, source, declarations, provided, false)
}

/// The same with a probe at every comparison of numbers that is a condition.
pub fn analyse_relations(
    toolchain: &Toolchain,
    source: &Source<'_>,
    declarations: &Declarations,
    provided: &BTreeSet<String>,
) -> Result<Unit, FrontendError> {
    analyse::analyse(toolchain, source, declarations, provided, true)
}

/// Compiles the marked text to LLVM bitcode, unoptimised but ready to be optimised.
pub fn compile_bitcode(toolchain: &Toolchain, unit: &Unit, to: &Path) -> Result<(), FrontendError> {
    let flags = unit.flags.iter().map(String::as_str).chain(BITCODE_FLAGS);
    let name = to.file_name().unwrap_or_default().as_encoded_bytes();
    let key = KeyBuilder::new("bitcode 1").with(name).with(language::preprocessed(unit.language)).with_all(flags);
    toolchain.make_once(key.with(&unit.marked), to, || run_for_bitcode(toolchain, unit, to))
}

fn run_for_bitcode(toolchain: &Toolchain, unit: &Unit, to: &Path) -> Result<(), FrontendError> {
    let failed = |cause: String| FrontendError::ToolFailed { tool: toolchain.clang.display().to_string(), cause };
    let folder = tempfile::tempdir().map_err(|cause| failed(cause.to_string()))?;
    let text = folder.path().join("marked.i");
    std::fs::write(&text, &unit.marked).map_err(|cause| failed(cause.to_string()))?;
    let mut arguments = unit.flags.clone();
    arguments.extend(BITCODE_FLAGS.map(String::from));
    arguments.extend(["-x", language::preprocessed(unit.language), "-o"].map(String::from));
    arguments.extend([to.display().to_string(), text.display().to_string()]);
    let output = toolchain.run_writing(&arguments, to.parent().unwrap_or(Path::new(".")))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

/// Without `optnone`, passes may run over the bitcode later; line tables lead findings back to the source.
const BITCODE_FLAGS: [&str; 7] =
    ["-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only", "-w", "-emit-llvm", "-c"];
