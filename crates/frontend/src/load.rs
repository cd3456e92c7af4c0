//! From a file to its texts and its code: everything that reads what the user wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use branchwise_program::Program;
use branchwise_program::code::Code;
use branchwise_program::map::ResultDomain;
use serde::{Deserialize, Serialize};

use crate::analyse::analyse;
use crate::lower::{LinkedBitcode, Symbols, lower_linked, symbols};
use crate::{Declarations, FrontendError, LinkedFile, Source, Toolchain, Unit, compile_bitcode, with_user_columns};

/// A file and its flags, as [`Source`] names them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OwnedSource {
    pub path: PathBuf,
    pub flags: Vec<String>,
    pub set_statics: bool,
    pub instances: Vec<String>,
}

impl OwnedSource {
    pub(crate) fn borrowed(&self) -> Source<'_> {
        let OwnedSource { path, flags, set_statics, instances } = self;
        Source { path, flags, set_statics: *set_statics, instances }
    }
}

impl From<Source<'_>> for OwnedSource {
    fn from(source: Source<'_>) -> Self {
        OwnedSource {
            path: source.path.to_owned(),
            flags: source.flags.to_vec(),
            set_statics: source.set_statics,
            instances: source.instances.to_vec(),
        }
    }
}

/// How a file is read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LoadOptions {
    /// What is declared of functions beside the comments in the file.
    pub declarations: Declarations,
    /// What is declared of the results of functions that nobody defines.
    pub stub_results: BTreeMap<String, ResultDomain>,
    /// What registers at fixed addresses may hold.
    pub registers: BTreeMap<u64, ResultDomain>,
    /// Functions that act on the world and yet run.
    pub allowed_calls: BTreeSet<String>,
    /// Names that other files of the run define.
    pub provided: BTreeSet<String>,
    /// There is a probe at every comparison of numbers that is a condition.
    pub relations: bool,
}

/// A file that was read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoadedUnit {
    pub unit: Unit,
    pub code: Code,
    /// The other files that it is linked with.
    pub linked: Vec<LinkedFile>,
}

/// The reason why a file could not be read.
#[derive(Debug, Serialize, Deserialize)]
pub enum LoadError {
    Frontend(FrontendError),
    /// A fault of Branchwise.
    Ours {
        message: String,
        cause: String,
    },
}

impl From<FrontendError> for LoadError {
    fn from(error: FrontendError) -> Self {
        LoadError::Frontend(error)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Frontend(error) => error.fmt(f),
            LoadError::Ours { message, cause } => write!(f, "{message}: {cause}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// Reads a file in this process. `needed` gets the symbols of the file where others provide something, and returns those
/// that it is linked with. Bitcode is written to `folder`.
pub fn load(
    toolchain: &Toolchain,
    source: &Source<'_>,
    options: &LoadOptions,
    folder: &Path,
    needed: impl FnOnce(&Symbols) -> Result<Vec<LinkedFile>, LoadError>,
) -> Result<LoadedUnit, LoadError> {
    let file = source.path.display();
    let ours = |message: String, cause: String| LoadError::Ours { message, cause };
    let mut unit = analyse(toolchain, source, &options.declarations, &options.provided, options.relations)?;
    unit.map.stub_results = options.stub_results.clone();
    unit.map.registers = options.registers.clone();
    unit.map.allowed_calls = options.allowed_calls.clone();
    let bitcode = folder.join("unit.bc");
    compile_bitcode(toolchain, &unit, &bitcode).map_err(|error| match error {
        FrontendError::ToolFailed { .. } => {
            ours(format!("the marked text of {file} does not compile"), error.to_string())
        }
        error => LoadError::from(error),
    })?;
    let unreadable = |cause: String| ours(format!("cannot read the bitcode of {file}"), cause);
    let linked =
        if options.provided.is_empty() { Vec::new() } else { needed(&symbols(&bitcode).map_err(unreadable)?)? };
    let others: Vec<LinkedBitcode<'_>> =
        linked.iter().map(|file| LinkedBitcode { path: &file.bitcode, renamed: &file.renamed }).collect();
    let code = lower_linked(&bitcode, &others).map_err(|error| unreadable(error.to_string()))?;
    let mut code = with_user_columns(code, &unit.columns, &unit.map);
    Program::note_outside(&unit.map, &mut code);
    Ok(LoadedUnit { unit, code, linked })
}
