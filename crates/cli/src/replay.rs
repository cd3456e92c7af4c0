//! `branchwise replay`: a stored suite, run and measured again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use branchwise_frontend::{Neighbours, Source};
use branchwise_goals::{Ledger, branch_goals};
use branchwise_program::FunctionId;
use branchwise_program::map::Map;
use branchwise_replay::{Coverage, Harness, NativeEnd, Observation, Sandbox, TestCase};
use branchwise_report::{StoredFile, Suite, sandbox_results};
use serde_json::json;

use crate::arguments::ReplayArguments;
use crate::config::Config;
use crate::error::CliError;
use crate::exit::Exit;
use crate::generate::print_text;
use crate::pipeline::{Member, Workshop, replay_error};
use crate::reading::{FlagNotes, ReadArguments};
use crate::sources::{self, SourceFile};

pub fn replay(arguments: &ReplayArguments) -> Result<Exit, CliError> {
    let suite = with_usable_flags(Suite::load(&arguments.folder)?, &arguments.reading)?;
    let sandbox = arguments.sandbox.choose()?;
    let workshop = Workshop::find(sandbox, arguments.reading.rules(sandbox.layers))?;
    let mut rows = Vec::new();
    let neighbours = neighbours(&workshop, &suite)?;
    for (index, file) in suite.files.iter().enumerate() {
        rows.extend(replay_file(&workshop, file, Member { neighbours: &neighbours, index })?);
    }
    print_text(&if arguments.json { as_json(&rows, sandbox) } else { as_text(&rows, sandbox) })?;
    Ok(Exit::Done)
}

/// A suite may come from a stranger, and its flags with it.
fn with_usable_flags(suite: Suite, reading: &ReadArguments) -> Result<Suite, CliError> {
    let mut notes = FlagNotes::default();
    let mut usable = |file: StoredFile| {
        let source = SourceFile { path: file.source.clone(), flags: file.flags.clone() };
        Ok(StoredFile { flags: reading.usable(source, &mut notes)?.flags, ..file })
    };
    let files = suite.files.into_iter().map(&mut usable).collect::<Result<_, CliError>>()?;
    notes.sentences().for_each(|note| sources::tell(&note));
    Ok(Suite { files, ..suite })
}

/// The files of a suite were generated together.
fn neighbours(workshop: &Workshop, suite: &Suite) -> Result<Neighbours, CliError> {
    if let Some(file) = suite.files.first() {
        enter(&file.folder)?;
    }
    let source = |file: &StoredFile| file.folder.join(&file.source);
    let paths: Vec<PathBuf> = suite.files.iter().map(source).collect();
    let source = |(file, path)| {
        let StoredFile { flags, set_statics, instances, .. }: &StoredFile = file;
        Source { path, flags, set_statics: *set_statics, instances }
    };
    let paths = paths.iter().map(PathBuf::as_path);
    let sources: Vec<Source<'_>> = suite.files.iter().zip(paths).map(source).collect();
    workshop.neighbours(&sources, std::thread::available_parallelism().map_or(1, usize::from))
}

fn enter(folder: &Path) -> Result<(), CliError> {
    std::env::set_current_dir(folder)
        .map_err(|cause| CliError::input(format!("cannot enter {}", folder.display())).with_cause(cause))
}

/// One function of a stored suite, run again.
struct Row {
    function: String,
    tests: usize,
    returned: usize,
    outcomes: usize,
    covered: usize,
    covered_llvm_cov: usize,
}

fn replay_file(workshop: &Workshop, file: &StoredFile, member: Member<'_>) -> Result<Vec<Row>, CliError> {
    let source = file.folder.join(&file.source);
    enter(&file.folder)?;
    let config = Config::read(file.config.as_deref())?.with_allowed_calls(&file.allow_calls);
    let path = existing(&source, &file.source);
    let source = Source { path, flags: &file.flags, set_statics: file.set_statics, instances: &file.instances };
    let loaded = workshop.load(source, &config, member)?;
    // A suite says for each test which allocations fail; where it says nothing, none does.
    let loaded = loaded.with_failing_allocations();
    let map = &loaded.program.map;
    let mut by_function: BTreeMap<FunctionId, Vec<TestCase>> = BTreeMap::new();
    for (function, _, case) in file.cases(map)? {
        by_function.entry(function).or_default().push(case);
    }
    let mut harness = workshop.harness(&loaded)?;
    let suites: Vec<(FunctionId, Vec<TestCase>)> = by_function.into_iter().collect();
    let coverage = harness.measure_units(&suites).map_err(|error| replay_error(&error))?;
    suites.iter().map(|(function, cases)| row(map, &mut harness, &coverage, *function, cases)).collect()
}

/// The file as the user named it where that leads there, so that messages use the user's words.
fn existing<'a>(absolute: &'a Path, named: &'a Path) -> &'a Path {
    if named.exists() { named } else { absolute }
}

fn row(
    map: &Map,
    harness: &mut Harness,
    coverage: &Coverage,
    function: FunctionId,
    cases: &[TestCase],
) -> Result<Row, CliError> {
    let observations: Vec<Observation> = harness.run(cases).map_err(|error| replay_error(&error))?;
    let mut ledger = Ledger::new(branch_goals(map, function));
    observations.iter().for_each(|observation| drop(ledger.note(&observation.events)));
    let measured = coverage.function_named(&map.functions[function].symbol);
    let counts = measured
        .iter()
        .flat_map(|function| &function.branches)
        .flat_map(|branch| [branch.true_count, branch.false_count]);
    Ok(Row {
        function: map.functions[function].name.clone(),
        tests: cases.len(),
        returned: observations.iter().filter(|observation| observation.end == NativeEnd::Returned).count(),
        outcomes: ledger.len(),
        covered: ledger.reached(),
        covered_llvm_cov: counts.filter(|&count| count > 0).count(),
    })
}

fn as_text(rows: &[Row], sandbox: Sandbox) -> String {
    let width = rows.iter().map(|row| row.function.len()).chain(["function".len()]).max().unwrap_or(0);
    let mut text = format!("{:width$}  tests  returned  outcomes  covered  llvm-cov\n", "function");
    for row in rows {
        text += &format!(
            "{:width$}  {:>5}  {:>8}  {:>8}  {:>7}  {:>8}\n",
            row.function, row.tests, row.returned, row.outcomes, row.covered, row.covered_llvm_cov
        );
    }
    if let Some(shortfall) = sandbox.shortfall() {
        text += &format!("Note: {shortfall}\n");
    }
    text
}

fn as_json(rows: &[Row], sandbox: Sandbox) -> String {
    let functions: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.function, "tests": row.tests, "returned": row.returned, "branch_outcomes": row.outcomes,
                "covered": row.covered, "covered_llvm_cov": row.covered_llvm_cov,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "version": 1, "functions": functions, "sandbox": sandbox_results(sandbox) }))
}
