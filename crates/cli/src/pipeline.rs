//! From a file to a verified program: front end, lowering, verifier.

use std::fmt::Write;

use branchwise_frontend::lower::Symbols;
use branchwise_frontend::{
    FrontendError, LinkedFile, LoadError, LoadOptions, LoadedUnit, Neighbours, Reader, Source, Toolchain, Unit,
};
use branchwise_program::map::Map;
use branchwise_program::{FunctionId, Program};
use branchwise_replay::{Harness, Limits, OtherObject, ReplayError, Sandbox, Sources, Tools};
use branchwise_report::Fingerprint;
use branchwise_tools::ToolRules;

use crate::config::Config;
use crate::error::CliError;
use crate::sources::SourceFile;

/// A file that was analysed and lowered.
pub struct Loaded {
    pub program: Program,
    /// The other files that it is linked with.
    pub linked: Vec<LinkedFile>,
    /// The texts that the native harness is built from.
    unit: Unit,
    /// The SHA-256 of the file, as it was when it was read.
    pub sha256: String,
}

/// One of several files that are given together.
#[derive(Debug, Copy, Clone)]
pub struct Member<'a> {
    pub neighbours: &'a Neighbours,
    pub index: usize,
}

/// The tools that every file needs, found once.
pub struct Workshop {
    reader: Reader,
    tools: Tools,
    sandbox: Sandbox,
    /// Files are read with a probe at every comparison.
    relations: bool,
}

impl Loaded {
    /// Tells whether the program calls `malloc()` or its like.
    pub fn allocates(&self) -> bool {
        branchwise_frontend::allocates(&self.program.code)
    }

    /// From now on, whether an allocation fails is an input.
    pub fn with_failing_allocations(mut self) -> Self {
        branchwise_frontend::let_allocations_fail(&mut self.unit);
        self.program.map = self.unit.map.clone();
        self
    }

    /// A hash of the file with all that it includes, and of the files that it is linked with.
    pub fn fingerprint(&self) -> Fingerprint {
        let Unit { marked, plain, flags, .. } = &self.unit;
        let linked = self.linked.iter().map(|file| (&file.path, &file.flags, &file.renamed, &file.own));
        let mut hash = Fingerprint::default();
        hash.add(marked.as_bytes());
        hash.add(plain.as_bytes());
        // Comments with preconditions are in the map only. Writing to a hash cannot fail.
        let _ = write!(hash, "{flags:?} {:?} {:?}", self.program.map, linked.collect::<Vec<_>>());
        if !self.linked.is_empty() {
            let _ = write!(hash, "{:#}", self.program.code);
        }
        hash
    }
}

impl Workshop {
    /// Finds the tools; native runs are confined as `sandbox` says, compilers as `rules` say.
    pub fn find(sandbox: Sandbox, rules: ToolRules) -> Result<Self, CliError> {
        let tools = Tools::find().map_err(|error| replay_error(&error))?;
        Ok(Workshop { reader: reader(rules)?, tools: tools.with_rules(rules), sandbox, relations: false })
    }

    /// Reads files so that comparisons tell how their operands lie to each other.
    pub fn with_relations(self, relations: bool) -> Self {
        Workshop { relations, ..self }
    }

    /// What all files share, so that each can be linked with the others.
    pub fn neighbours(&self, sources: &[Source<'_>], jobs: usize) -> Result<Neighbours, CliError> {
        Neighbours::read(&self.reader, sources, jobs).map_err(|error| frontend_error(&error))
    }

    pub fn load(&self, source: Source<'_>, config: &Config, member: Member<'_>) -> Result<Loaded, CliError> {
        let file = source.path;
        // What the user declares of the results of a function is declared of a stub.
        let mut provided = member.neighbours.provided_to(member.index);
        provided.retain(|name| !config.stub_results.contains_key(name));
        // The library provides what may run.
        let allowed_calls = config.allowed_calls();
        provided.extend(allowed_calls.iter().cloned());
        let options = LoadOptions {
            declarations: config.declarations(),
            stub_results: config.stub_results.clone(),
            registers: config.registers.clone(),
            allowed_calls,
            provided: provided.clone(),
            relations: self.relations,
        };
        let needed = |symbols: &Symbols| member.neighbours.needed(member.index, symbols, &provided);
        let loaded = self.reader.load(source, options, needed).map_err(load_error)?;
        let LoadedUnit { unit, code, linked } = loaded;
        let program = Program { map: unit.map.clone(), code };
        branchwise_program::verify(&program).map_err(|error| {
            CliError::our_fault(format!("the program of {} is inconsistent", file.display())).with_cause(error)
        })?;
        // Only now is it known that the file is not too large to be read.
        let text = branchwise_tools::read_limited(file, branchwise_tools::LARGEST_SOURCE);
        let text =
            text.map_err(|cause| CliError::input(format!("cannot read {}", file.display())).with_cause(cause))?;
        Ok(Loaded { program, linked, unit, sha256: branchwise_results::sha256(&text) })
    }

    pub fn harness(&self, loaded: &Loaded) -> Result<Harness, CliError> {
        let Unit { marked, plain, flags, language, .. } = &loaded.unit;
        let object = |file: &LinkedFile| OtherObject { path: file.object.clone(), renamed: file.renamed.clone() };
        let others: Vec<OtherObject> = loaded.linked.iter().map(object).collect();
        let map = &loaded.program.map;
        let sources = Sources { marked, plain, flags, language: *language, map, others: &others };
        let limits = Limits { sandbox: self.sandbox, ..Limits::default() };
        Harness::build(&self.tools, &sources, limits).map_err(|error| replay_error(&error))
    }

    pub fn compiler_version(&self) -> Result<String, CliError> {
        self.tools.compiler_version().map_err(|error| replay_error(&error))
    }
}

fn reader(rules: ToolRules) -> Result<Reader, CliError> {
    let program = std::env::current_exe()
        .map_err(|cause| CliError::input("cannot find the program of Branchwise itself").with_cause(cause))?;
    let toolchain = Toolchain::find().map_err(|error| frontend_error(&error))?;
    Ok(Reader::new(&program, toolchain.with_rules(rules)))
}

/// The map alone, for `branchwise map`.
pub fn load_map(file: &SourceFile, rules: ToolRules) -> Result<Map, CliError> {
    reader(rules)?.map(source_of(file)).map_err(load_error)
}

/// The program of one file without configuration and neighbours, to look at it.
pub fn load_alone(file: &SourceFile, rules: ToolRules) -> Result<Loaded, CliError> {
    let workshop = Workshop::find(Sandbox::auto(), rules)?;
    let neighbours = Neighbours::default();
    workshop.load(source_of(file), &Config::default(), Member { neighbours: &neighbours, index: 0 })
}

fn source_of(file: &SourceFile) -> Source<'_> {
    Source { path: &file.path, flags: &file.flags, set_statics: false, instances: &[] }
}

/// The functions that the user names, of one file; where none is named, all that the configuration wants.
pub fn selected(map: &Map, names: &[String], config: &Config) -> Vec<FunctionId> {
    let named: Vec<&str> = names.iter().map(|name| full_name(map, name)).collect();
    let wanted = |name: &String| if names.is_empty() { config.wants(name) } else { named.contains(&name.as_str()) };
    map.functions.iter().filter(|(_, function)| wanted(&function.name)).map(|(id, _)| id).collect()
}

/// A C++ function may be named by the end of its name, without scopes and parameters, where that means one function.
pub fn full_name<'a>(map: &'a Map, name: &'a str) -> &'a str {
    match meant(map, name).as_slice() {
        [only] => only,
        _ => name,
    }
}

/// The functions that a name may mean: the one that bears it, or all whose names end with it.
pub fn meant<'a>(map: &'a Map, name: &str) -> Vec<&'a str> {
    let names = || map.functions.values().map(|function| function.name.as_str());
    if let Some(exact) = names().find(|known| *known == name) {
        return vec![exact];
    }
    let bare = |known: &str| known.split('(').next().unwrap_or(known).to_owned();
    let ends = |known: &str| {
        known == name
            || known.ends_with(&format!("::{name}"))
            || bare(known) == name
            || bare(known).ends_with(&format!("::{name}"))
    };
    names().filter(|known| ends(known)).collect()
}

fn load_error(error: LoadError) -> CliError {
    match error {
        LoadError::Frontend(error) => frontend_error(&error),
        LoadError::Ours { message, cause } => CliError::our_fault(message).with_cause(cause),
    }
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
