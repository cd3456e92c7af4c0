//! `branchwise generate`: from files to a table, JSON and a written suite.

use std::io::{IsTerminal, Stderr, Write, stderr, stdout};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use branchwise_constraints::QueryLog;
use branchwise_frontend::{LinkedFile, language_of};
use branchwise_generate::{FunctionSettings, Settings, WantedGoals, WantedPlace, is_on_longest_paths};
use branchwise_goals::Criterion;
use branchwise_report::{FileReport, LinkedSource, Origin, ProgressView, Style, TableTime, Totals, WrittenSuite};
use branchwise_results::{Report, Run};
use branchwise_tools::{LARGEST_TEXT, read_text};

use crate::arguments::{ExternalSolver, GenerateArguments};
use crate::config::Config;
use crate::error::CliError;
use crate::exit::{Ending, Exit};
use crate::how_made;
use crate::interrupt::Interrupt;
use crate::keeper::{Keeper, Opened};
use crate::out_folder::OutFolder;
use crate::pipeline::Workshop;
use crate::schedule::{self, Found, GeneratedFile, Results, Work};
use crate::seed_test;
use crate::sources::{self, SourceFile, Sources};

/// Runs the command: generates, writes the suite and prints.
pub fn generate(arguments: &GenerateArguments) -> Result<Exit, CliError> {
    let interrupt = Interrupt::watch()?;
    let Sources { files: sources, mut failures, notes } = Sources::of(arguments)?;
    tell_all(arguments, &notes);
    let config_path = Config::find(arguments.config.as_deref(), sources.first().map(|source| source.path.as_path()));
    let config = Config::read(config_path.as_deref())?.with_allowed_calls(&arguments.allow_calls);
    if sources.is_empty() && failures.len() == 1 {
        return Err(failures.remove(0));
    }
    let settings = settings(arguments, &config, &interrupt)?;
    let run = how_made::before(arguments, &config, config_path.as_deref(), &settings);
    let folder = OutFolder::open(&arguments.out)?;
    let task = Task { arguments, config: &config, config_path: config_path.as_deref(), folder: &folder, run };
    if sources.is_empty() {
        return task.finish(Vec::new(), failures, &interrupt).map(|finished| finished.exit);
    }
    let relations = settings.criteria.contains(&Criterion::Boundary);
    let sandbox = arguments.sandbox.choose()?;
    let workshop = Workshop::find(sandbox, arguments.reading.rules(sandbox.layers))?.with_relations(relations);
    let compiler = workshop.compiler_version()?;
    let Opened { keeper, notes } = task.keeper(&compiler, &settings)?;
    tell_all(arguments, &notes);
    let work = Work {
        workshop: &workshop,
        sources: &sources,
        names: &arguments.functions,
        config: &config,
        settings: &settings,
        interrupt: &interrupt,
        keeper: &keeper,
        searches: !arguments.salvage,
        compiler: &compiler,
        set_statics: arguments.set_statics,
        instances: &arguments.instances,
        jobs: jobs(arguments),
    };
    let found = task.run(&work)?;
    let finished = task.finish(found, failures, &interrupt)?;
    task.leave(keeper, finished, &interrupt)
}

/// What the user asked for, and the folder that the results go to.
struct Task<'a> {
    arguments: &'a GenerateArguments,
    config: &'a Config,
    config_path: Option<&'a Path>,
    folder: &'a OutFolder,
    /// How the results are made, without the files.
    run: Run,
}

/// What came of the command.
struct Finished {
    exit: Exit,
    /// Another run would find no more.
    is_complete: bool,
}

impl Task<'_> {
    /// Opens the journal. What decides results in all files stands in `settings` and here.
    fn keeper(&self, compiler: &str, settings: &Settings) -> Result<Opened, CliError> {
        let GenerateArguments { set_statics, instances, resume, salvage, .. } = self.arguments;
        // Where they are differs from run to run, and no result depends on it.
        let settings = Settings { interrupt: Arc::default(), worker: None, query_log: None, ..settings.clone() };
        let options = (settings, self.config, set_statics, instances);
        Keeper::open(self.folder, *resume || *salvage, compiler, &options)
    }

    fn run(&self, work: &Work<'_>) -> Result<Results, CliError> {
        let progress = Mutex::new(progress_view(self.arguments));
        let view = || progress.lock().unwrap_or_else(PoisonError::into_inner);
        let salvage = |known: Results| {
            if let Err(error) = self.finish(known, Vec::new(), work.interrupt) {
                error.tell();
            }
            self.folder.unlock();
        };
        let found = schedule::run(work, &|event| view().show(event), &salvage);
        view().finish();
        let Found { files, remarks } = found?;
        tell_all(self.arguments, &remarks);
        Ok(files)
    }

    /// Removes the journal, or says how to go on with it.
    fn leave(&self, keeper: Keeper, finished: Finished, interrupt: &Interrupt) -> Result<Exit, CliError> {
        if finished.is_complete {
            keeper.discard()?;
        } else if interrupt.is_raised() {
            let note = "interrupted; the same command with --resume goes on from here";
            tell_all(self.arguments, &[note.to_owned()]);
        }
        Ok(finished.exit)
    }

    /// Writes and prints the results.
    fn finish(&self, found: Results, mut failures: Vec<CliError>, interrupt: &Interrupt) -> Result<Finished, CliError> {
        let unread = found.iter().filter(|file| file.is_none()).count();
        let mut files = Vec::new();
        for result in found.into_iter().flatten() {
            match result {
                Ok(file) => files.push(file),
                Err(error) => failures.push(error),
            }
        }
        if files.is_empty() && failures.len() == 1 {
            return Err(failures.remove(0));
        }
        let run = how_made::with_sources(&self.run, &files);
        let linked: Vec<Vec<LinkedSource<'_>>> = files.iter().map(linked_sources).collect();
        let files: Vec<FileReport> =
            files.iter().zip(&linked).map(|(file, linked)| file_report(file, linked)).collect();
        let interrupted = interrupt.is_raised();
        let is_cut = interrupted || self.arguments.salvage;
        let report = branchwise_report::results(&files, run);
        let written = self.write(&files, &report, is_cut)?;
        print(self.arguments, &files, &report, &written)?;
        tell_unusable(self.arguments, &files);
        failures.iter().for_each(CliError::tell);
        if unread > 0 {
            sources::tell(&format!("interrupted before {unread} files were read"));
        }
        let exit = exit(self.arguments, &files, &failures, interrupted);
        let is_complete = !is_cut && unread == 0 && exit != Exit::OurFault;
        Ok(Finished { exit, is_complete })
    }

    /// Writes the suite; a lesser one goes beside a fuller one.
    fn write(&self, files: &[FileReport], report: &Report, is_cut: bool) -> Result<WrittenSuite, CliError> {
        let GenerateArguments { emit, set_statics, instances, replace, .. } = self.arguments;
        let started_in = std::env::current_dir().unwrap_or_else(|_| Path::new(".").to_owned());
        let origin = Origin {
            folder: &started_in,
            config: self.config_path,
            set_statics: *set_statics,
            instances,
            allow_calls: &self.arguments.allow_calls,
        };
        let formats: Vec<_> = emit.iter().map(|format| (*format).into()).collect();
        let folder = self.folder.path();
        let place = if *replace { folder.to_owned() } else { branchwise_report::place_of(folder, files, is_cut) };
        let written = branchwise_report::write_suite(&place, origin, files, report, &formats)?;
        if place != folder {
            let (folder, place) = (folder.display(), place.display());
            let note = format!("{folder} holds a fuller result, so this one is in {place}; --replace would replace it");
            tell_all(self.arguments, &[note]);
        }
        Ok(written)
    }
}

/// As many as the user wants, or as there are processors.
fn jobs(arguments: &GenerateArguments) -> NonZeroUsize {
    let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    arguments.jobs.unwrap_or_else(processors)
}

fn tell_all(arguments: &GenerateArguments, notes: &[String]) {
    if !arguments.quiet {
        notes.iter().for_each(|note| sources::tell(note));
    }
}

/// The command line, then the configuration, then the defaults.
fn settings(arguments: &GenerateArguments, config: &Config, interrupt: &Interrupt) -> Result<Settings, CliError> {
    let defaults = Settings::default();
    let time = arguments.time.map(Duration::from_secs_f64);
    let strategy = arguments.strategy.map(branchwise_generate::Strategy::from);
    // A time on the command line is a budget instead of the file's steps.
    let steps = arguments.steps.or(if time.is_some() { None } else { config.defaults.steps });
    let given = time.is_some() || arguments.steps.is_some();
    let functions = config.function_settings().into_iter().map(|(name, own)| {
        let own = if given { FunctionSettings { time: None, steps: None, ..own } } else { own };
        (name, FunctionSettings { seed: arguments.seed.or(own.seed), strategy: strategy.or(own.strategy), ..own })
    });
    let wanted = wanted(arguments)?;
    Ok(Settings {
        time: time.or(config.defaults.time).unwrap_or(defaults.time),
        steps,
        seed: arguments.seed.or(config.defaults.seed).unwrap_or(defaults.seed),
        functions: functions.collect(),
        memory_megabytes: arguments.memory,
        worker: std::env::current_exe().ok(),
        external_solver: match &arguments.external_solver {
            ExternalSolver::None => None,
            ExternalSolver::Found(solver) => Some(solver.clone()),
        },
        without: arguments.without.iter().map(|&layer| layer.into()).collect(),
        query_log: arguments.queries.as_deref().map(|folder| Arc::new(QueryLog::new(folder))),
        interrupt: Arc::clone(interrupt.flag()),
        findings: arguments.findings.map(Into::into).or(config.findings).unwrap_or_default(),
        undefined: arguments.undefined.map(Into::into).or(config.undefined).unwrap_or_default(),
        strategy: strategy.or(config.defaults.strategy).unwrap_or_default(),
        measure: arguments.measure,
        data_dependence: !arguments.no_data_dependence,
        attack: arguments.attack.unwrap_or(defaults.attack),
        aim: arguments.aim.map(Into::into).unwrap_or_default(),
        k: arguments.k.unwrap_or(defaults.k),
        accepted: config.accepted(&arguments.assume)?,
        criteria: criteria(arguments, &wanted)?,
        wanted,
        scope: arguments.scope.map(Into::into).or(config.scope).unwrap_or_default(),
        seed_test: match &arguments.seed_test {
            Some(path) => seed_test::read(path)?,
            None => Vec::new(),
        },
    })
}

/// The goals that the user names.
fn wanted(arguments: &GenerateArguments) -> Result<WantedGoals, CliError> {
    let mut paths = arguments.paths.clone();
    if let Some(file) = &arguments.paths_file {
        let text = read_text(file, LARGEST_TEXT)
            .map_err(|cause| CliError::input(format!("cannot read {}", file.display())).with_cause(cause))?;
        paths.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(WantedGoals { places: arguments.goals.clone(), paths })
}

/// Each once, in the order in which they were named; those of single goals, where nothing else is said.
fn criteria(arguments: &GenerateArguments, wanted: &WantedGoals) -> Result<Vec<Criterion>, CliError> {
    let of_place = |place: &WantedPlace| match place.outcome {
        Some(_) => Criterion::Branch,
        None => Criterion::Statement,
    };
    let mut named: Vec<Criterion> = arguments.criterion.iter().map(|&criterion| criterion.into()).collect();
    let on_paths = named.contains(&Criterion::Path);
    if named.iter().all(|&criterion| criterion == Criterion::Path) {
        named.extend(wanted.places.iter().map(of_place));
    }
    match (on_paths, wanted.paths.is_empty()) {
        (true, true) => {
            return Err(CliError::usage("the criterion path needs a path").with_hint("name one with --path"));
        }
        (false, false) => named.push(Criterion::Path),
        _ => {}
    }
    if named.is_empty() {
        named.push(Criterion::Branch);
    }
    if arguments.measure && !named.iter().any(|&criterion| is_on_longest_paths(criterion)) {
        let message = "--measure counts instructions of longest paths, for which no criterion asks";
        return Err(CliError::usage(message).with_hint("add --criterion max-iterations or empty-else"));
    }
    let mut criteria: Vec<Criterion> = Vec::new();
    for criterion in named {
        if !criteria.contains(&criterion) {
            criteria.push(criterion);
        }
    }
    Ok(criteria)
}

fn progress_view(arguments: &GenerateArguments) -> ProgressView<Stderr> {
    match (arguments.quiet, stderr().is_terminal()) {
        (true, _) => ProgressView::hidden(),
        (false, true) => ProgressView::bar(),
        (false, false) => ProgressView::lines(stderr()),
    }
}

fn linked_sources(file: &GeneratedFile) -> Vec<LinkedSource<'_>> {
    fn linked(other: &LinkedFile) -> LinkedSource<'_> {
        let renamed = other.own.iter().filter_map(|name| Some((name.as_str(), other.renamed.get(name)?.as_str())));
        let language = language_of(&other.path);
        LinkedSource { path: &other.path, flags: &other.flags, language, renamed: renamed.collect() }
    }
    file.linked.iter().map(linked).collect()
}

fn file_report<'a>(file: &'a GeneratedFile, linked: &'a [LinkedSource<'a>]) -> FileReport<'a> {
    let SourceFile { path: source, flags } = &file.source;
    let GeneratedFile { map, report, keeps_state, missing, .. } = file;
    FileReport { map, report, source, flags, keeps_state: *keeps_state, linked, missing }
}

/// The report says which functions could not be treated because of what the user wrote about them; where it is not
/// printed as a table, standard error does.
fn tell_unusable(arguments: &GenerateArguments, files: &[FileReport]) {
    if !arguments.quiet && !arguments.json {
        return;
    }
    for file in files {
        for unit in &file.report.functions {
            if let Some(trouble) = unit.trouble.as_ref().filter(|trouble| trouble.fault_of_input) {
                let name = &file.map.functions[unit.function].name;
                CliError::input(format!("{name}: {}", trouble.what)).tell();
            }
        }
    }
}

fn print(
    arguments: &GenerateArguments,
    files: &[FileReport],
    report: &Report,
    written: &WrittenSuite,
) -> Result<(), CliError> {
    let text = match (arguments.json, arguments.quiet) {
        (true, _) => as_json(report)?,
        (false, true) => return Ok(()),
        (false, false) => {
            let no_color = std::env::var("NO_COLOR").ok();
            let style = Style::detect(stdout().is_terminal(), no_color.as_deref());
            branchwise_report::summary(files, written, TableTime::Measured, style)
        }
    };
    print_text(&text)
}

fn as_json(report: &Report) -> Result<String, CliError> {
    let text = serde_json::to_string_pretty(report);
    let text = text.map_err(|cause| CliError::our_fault("the results are no JSON").with_cause(cause))?;
    Ok(text + "\n")
}

/// A reader that goes away early, such as `head`, is no error.
pub fn print_text(text: &str) -> Result<(), CliError> {
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::input("cannot write to standard output").with_cause(error))
        }
        _ => Ok(()),
    }
}

fn exit(arguments: &GenerateArguments, files: &[FileReport], failures: &[CliError], interrupted: bool) -> Exit {
    let reached = Totals::of_files(files).percent_of_feasible();
    let functions = || files.iter().flat_map(|file| &file.report.functions);
    let troubles = || functions().filter_map(|function| function.trouble.as_ref());
    let our_fault = troubles().any(|trouble| trouble.fault_of_ours);
    let unusable = troubles().any(|trouble| trouble.fault_of_input);
    let ending = Ending {
        interrupted,
        our_fault,
        failed: failures.iter().map(|failure| failure.kind.exit()).max(),
        unusable,
        disagrees: files.iter().any(|file| !file.report.replay.disagreements.is_empty()),
        missed: arguments.require.is_some_and(|required| reached < required),
    };
    ending.exit()
}
