//! A C file as the executor sees it and as the machine runs it.

use std::path::Path;

use branchwise_frontend::{
    Source, Toolchain, analyse, compile_bitcode, let_allocations_fail, lower, with_user_columns,
};
use branchwise_program::map::Language;
use branchwise_program::{FunctionId, Program, verify};
use branchwise_replay::{Harness, Limits, Sources, Tools};

pub struct Subject {
    pub program: Program,
    pub harness: Harness,
}

/// What a file is loaded with.
#[derive(Debug, Copy, Clone)]
pub struct Options<'a> {
    pub flags: &'a [String],
    /// Whether an allocation fails is an input.
    pub allocations_fail: bool,
}

impl Subject {
    pub fn load(file: &Path, options: &Options<'_>) -> Result<Self, String> {
        let toolchain = Toolchain::find().map_err(|error| error.to_string())?;
        let tools = Tools::find().map_err(|error| error.to_string())?;
        let source = Source { path: file, flags: options.flags, set_statics: false };
        let mut unit = analyse(&toolchain, &source).map_err(|error| error.to_string())?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let bitcode = folder.path().join("unit.bc");
        compile_bitcode(&toolchain, &unit, &bitcode).map_err(|error| error.to_string())?;
        let code = lower::lower_bitcode(&bitcode).map_err(|error| error.to_string())?;
        let code = with_user_columns(code, &unit.columns, &unit.map);
        if options.allocations_fail {
            let_allocations_fail(&mut unit);
        }
        let program = Program { map: unit.map, code };
        verify(&program).map_err(|error| error.to_string())?;
        let sources = Sources {
            marked: &unit.marked,
            plain: &unit.plain,
            flags: &unit.flags,
            language: Language::C,
            map: &program.map,
            others: &[],
        };
        let harness = Harness::build(&tools, &sources, Limits::default()).map_err(|error| error.to_string())?;
        Ok(Subject { program, harness })
    }

    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.program.map.functions.iter().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }
}
