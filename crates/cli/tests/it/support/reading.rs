//! A C file as the executor sees it.

use std::path::Path;

use branchwise_frontend::{LoadOptions, LoadedUnit, Reader, Source, Toolchain, Unit, allocates, let_allocations_fail};
use branchwise_program::{Program, verify};

/// What a file is loaded with.
#[derive(Debug, Copy, Clone)]
pub struct Options<'a> {
    pub flags: &'a [String],
    /// Whether an allocation fails is an input.
    pub allocations_fail: bool,
    /// Static variables are inputs.
    pub set_statics: bool,
}

/// The file as the executor sees it, and the texts that the machine runs. The program has the unit's map.
pub fn read(file: &Path, options: &Options<'_>) -> Result<(Unit, Program), String> {
    let toolchain = Toolchain::find().map_err(|error| error.to_string())?;
    let source = Source { path: file, flags: options.flags, set_statics: options.set_statics, instances: &[] };
    let reader = Reader::new(Path::new(env!("CARGO_BIN_EXE_branchwise")), toolchain);
    let loaded = reader.load(source, LoadOptions::default(), |_| Vec::new()).map_err(|error| error.to_string())?;
    let LoadedUnit { mut unit, code, .. } = loaded;
    if options.allocations_fail && allocates(&code) {
        let_allocations_fail(&mut unit);
    }
    let program = Program { map: std::mem::take(&mut unit.map), code };
    verify(&program).map_err(|error| error.to_string())?;
    Ok((unit, program))
}
