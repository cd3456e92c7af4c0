//! From a file to a verified program: front end, lowering, verifier.

use std::path::Path;

use branchwise_frontend::{Declarations, FrontendError, Source, Toolchain, Unit, lower};
use branchwise_program::map::{Language, Map};
use branchwise_program::{FunctionId, Program};
use branchwise_replay::{Harness, Limits, ReplayError, Sources, Tools};

use crate::config::Config;
use crate::error::CliError;

/// A file that was analysed and lowered.
pub struct Loaded {
    pub program: Program,
    /// The texts that the native harness is built from.
    unit: Unit,
}

/// The tools that every file needs, found once.
pub struct Workshop {
    toolchain: Toolchain,
    tools: Tools,
}

impl Loaded {
    /// From now on, whether an allocation fails is an input.
    pub fn with_failing_allocations(mut self) -> Self {
        branchwise_frontend::let_allocations_fail(&mut self.unit);
        self.program.map = self.unit.map.clone();
        self
    }
}

impl Workshop {
    pub fn find() -> Result<Self, CliError> {
        let toolchain = Toolchain::find().map_err(|error| frontend_error(&error))?;
        let tools = Tools::find().map_err(|error| replay_error(&error))?;
        Ok(Workshop { toolchain, tools })
    }

    pub fn load(&self, source: Source<'_>, config: &Config) -> Result<Loaded, CliError> {
        let file = source.path;
        let mut unit = analyse(&self.toolchain, source, &config.declarations())?;
        unit.map.stub_results = config.stub_results.clone();
        let folder =
            tempfile::tempdir().map_err(|cause| CliError::input("cannot make a temporary folder").with_cause(cause))?;
        let bitcode = folder.path().join("unit.bc");
        branchwise_frontend::compile_bitcode(&self.toolchain, &unit, &bitcode).map_err(|error| {
            CliError::our_fault(format!("the marked text of {} does not compile", file.display())).with_cause(error)
        })?;
        let code = lower::lower_bitcode(&bitcode).map_err(|error| {
            CliError::our_fault(format!("cannot read the bitcode of {}", file.display())).with_cause(error)
        })?;
        let code = branchwise_frontend::with_user_columns(code, &unit.columns, &unit.map);
        let program = Program { map: unit.map.clone(), code };
        branchwise_program::verify(&program).map_err(|error| {
            CliError::our_fault(format!("the program of {} is inconsistent", file.display())).with_cause(error)
        })?;
        Ok(Loaded { program, unit })
    }

    pub fn harness(&self, loaded: &Loaded) -> Result<Harness, CliError> {
        let Unit { marked, plain, flags, .. } = &loaded.unit;
        let sources = Sources { marked, plain, flags, language: Language::C, map: &loaded.program.map };
        Harness::build(&self.tools, &sources, Limits::default()).map_err(|error| replay_error(&error))
    }

    pub fn compiler_version(&self) -> Result<String, CliError> {
        self.tools.compiler_version().map_err(|error| replay_error(&error))
    }
}

/// The map alone, for `branchwise map`.
pub fn load_map(file: &Path, flags: &[String]) -> Result<Map, CliError> {
    let toolchain = Toolchain::find().map_err(|error| frontend_error(&error))?;
    let source = Source { path: file, flags, set_statics: false };
    Ok(analyse(&toolchain, source, &Declarations::new())?.map)
}

fn analyse(toolchain: &Toolchain, source: Source<'_>, declarations: &Declarations) -> Result<Unit, CliError> {
    branchwise_frontend::analyse_declared(toolchain, &source, declarations).map_err(|error| frontend_error(&error))
}

/// The functions that the user names, of one file; where none is named, all that the configuration wants.
pub fn selected(map: &Map, names: &[String], config: &Config) -> Vec<FunctionId> {
    let wanted = |name: &String| if names.is_empty() { config.wants(name) } else { names.contains(name) };
    map.functions.iter().filter(|(_, function)| wanted(&function.name)).map(|(id, _)| id).collect()
}

fn frontend_error(error: &FrontendError) -> CliError {
    with_hint(CliError::input(error.to_string()), error.hint())
}

pub fn replay_error(error: &ReplayError) -> CliError {
    with_hint(CliError::input(error.to_string()), error.hint())
}

fn with_hint(error: CliError, hint: Option<impl Into<String>>) -> CliError {
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}
