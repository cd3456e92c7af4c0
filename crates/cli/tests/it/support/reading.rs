//! A C file as the executor sees it.

use std::path::Path;

use branchwise_frontend::{
    Source, Toolchain, Unit, allocates, analyse, compile_bitcode, let_allocations_fail, lower, with_user_columns,
};
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
    let mut unit = analyse(&toolchain, &source).map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bitcode = folder.path().join("unit.bc");
    compile_bitcode(&toolchain, &unit, &bitcode).map_err(|error| error.to_string())?;
    let code = lower::lower_bitcode(&bitcode).map_err(|error| error.to_string())?;
    let code = with_user_columns(code, &unit.columns, &unit.map);
    if options.allocations_fail && allocates(&code) {
        let_allocations_fail(&mut unit);
    }
    let program = Program { map: std::mem::take(&mut unit.map), code };
    verify(&program).map_err(|error| error.to_string())?;
    Ok((unit, program))
}
