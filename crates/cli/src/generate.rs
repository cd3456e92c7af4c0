//! `branchwise generate`: from files to a table, JSON and a written suite.

use std::io::{IsTerminal, Stderr, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use branchwise_generate::{FunctionSettings, Generation, Progress, Report, Settings};
use branchwise_program::map::Map;
use branchwise_report::{FileReport, ProgressView, Style, TableTime, Totals, WrittenSuite};

use crate::arguments::GenerateArguments;
use crate::config::Config;
use crate::error::CliError;
use crate::exit::Exit;
use crate::interrupt;
use crate::pipeline::{Loaded, Workshop, selected};

/// What was found in one file, with everything that the report needs of it.
#[derive(Debug)]
pub struct GeneratedFile {
    pub source: PathBuf,
    pub map: Map,
    pub report: Report,
    /// See [`branchwise_report::keeps_state`].
    pub keeps_state: bool,
}

/// Runs the command: generates, writes the suite and prints.
pub fn generate(arguments: &GenerateArguments) -> Result<Exit, CliError> {
    check_files(&arguments.files)?;
    let interrupted = interrupt::watch()?;
    let mut progress = progress_view(arguments);
    let generated = run_generate(arguments, &interrupted, &mut |event| progress.show(event));
    progress.finish();
    let Generated { files, failures } = generated?;
    let files: Vec<FileReport> = files.iter().map(|file| file_report(file, &arguments.flags)).collect();
    let written = write(arguments, &files)?;
    print(arguments, &files, &written)?;
    tell_unusable(arguments, &files);
    failures.iter().for_each(CliError::tell);
    let worst = failures.iter().map(|failure| failure.kind.exit()).max();
    Ok(worst.unwrap_or_else(|| exit(arguments, &files, interrupted.load(Ordering::SeqCst))))
}

/// Everything that was found, and the files that could not be used.
pub struct Generated {
    pub files: Vec<GeneratedFile>,
    pub failures: Vec<CliError>,
}

/// Analyses each file, generates tests for its functions and replays them. Stops early, with what was found, when
/// `interrupted` is set. A file that cannot be used does not stop the others.
fn run_generate(
    arguments: &GenerateArguments,
    interrupted: &Arc<AtomicBool>,
    show: &mut dyn FnMut(&Progress),
) -> Result<Generated, CliError> {
    let workshop = Workshop::find()?;
    let config = Config::find(arguments.config.as_deref(), &arguments.files)?;
    let (loaded, mut failures) = load_files(arguments, &workshop, &config);
    check_names(arguments, &loaded)?;
    check_config(arguments, &config, &loaded)?;
    let settings = settings(arguments, &config, interrupted);
    let mut files = Vec::new();
    for (source, loaded) in loaded {
        match generate_file(&workshop, &source, loaded, Chosen { arguments, config: &config }, &settings, show) {
            Ok(file) => files.push(file),
            Err(error) => failures.push(error),
        }
    }
    if files.is_empty() && failures.len() == 1 {
        return Err(failures.remove(0));
    }
    Ok(Generated { files, failures })
}

fn load_files(
    arguments: &GenerateArguments,
    workshop: &Workshop,
    config: &Config,
) -> (Vec<(PathBuf, Loaded)>, Vec<CliError>) {
    let (mut loaded, mut failures) = (Vec::new(), Vec::new());
    for file in &arguments.files {
        match workshop.load(file, &arguments.flags, config) {
            Ok(unit) if unit.program.map.functions.is_empty() => failures.push(no_functions(file)),
            Ok(unit) => loaded.push((file.clone(), unit)),
            Err(error) => failures.push(error),
        }
    }
    (loaded, failures)
}

fn no_functions(file: &Path) -> CliError {
    CliError::input(format!("{} defines no function", file.display())).with_hint("name a file with function bodies")
}

/// Every name that the user gives must be a function of some file.
fn check_names(arguments: &GenerateArguments, loaded: &[(PathBuf, Loaded)]) -> Result<(), CliError> {
    if loaded.is_empty() {
        return Ok(());
    }
    let known: Vec<&str> = loaded
        .iter()
        .flat_map(|(_, unit)| unit.program.map.functions.values())
        .map(|function| function.name.as_str())
        .collect();
    for name in &arguments.functions {
        if !known.contains(&name.as_str()) {
            let files: Vec<String> = loaded.iter().map(|(file, _)| file.display().to_string()).collect();
            return Err(CliError::no_such_function(name, &files.join(", "), known.iter().copied()));
        }
    }
    Ok(())
}

/// What the configuration names must exist; what may belong to other files is only remarked.
fn check_config(arguments: &GenerateArguments, config: &Config, loaded: &[(PathBuf, Loaded)]) -> Result<(), CliError> {
    let maps: Vec<&Map> = loaded.iter().map(|(_, unit)| &unit.program.map).collect();
    let unused = if maps.is_empty() { Vec::new() } else { config.check(&maps)? };
    if !arguments.quiet {
        unused.iter().for_each(|remark| drop(writeln!(stderr(), "{remark}")));
    }
    Ok(())
}

/// The command line, then the configuration, then the defaults.
fn settings(arguments: &GenerateArguments, config: &Config, interrupted: &Arc<AtomicBool>) -> Settings {
    let defaults = Settings::default();
    let time = arguments.time.map(Duration::from_secs_f64);
    // A time on the command line is a budget instead of the file's steps.
    let steps = arguments.steps.or(if time.is_some() { None } else { config.defaults.steps });
    let given = time.is_some() || arguments.steps.is_some();
    let functions = config.function_settings().into_iter().map(|(name, own)| {
        let own = if given { FunctionSettings { time: None, steps: None, ..own } } else { own };
        (name, FunctionSettings { seed: arguments.seed.or(own.seed), ..own })
    });
    Settings {
        time: time.or(config.defaults.time).unwrap_or(defaults.time),
        steps,
        seed: arguments.seed.or(config.defaults.seed).unwrap_or(defaults.seed),
        functions: functions.collect(),
        worker: std::env::current_exe().ok(),
        interrupt: Arc::clone(interrupted),
        scope: arguments.scope.map(Into::into).or(config.scope).unwrap_or_default(),
    }
}

/// Where the choice of functions comes from.
#[derive(Copy, Clone)]
struct Chosen<'a> {
    arguments: &'a GenerateArguments,
    config: &'a Config,
}

fn generate_file(
    workshop: &Workshop,
    source: &Path,
    loaded: Loaded,
    chosen: Chosen<'_>,
    settings: &Settings,
    show: &mut dyn FnMut(&Progress),
) -> Result<GeneratedFile, CliError> {
    let functions = selected(&loaded.program.map, &chosen.arguments.functions, chosen.config);
    show(&Progress::FileLoaded { functions: functions.len() });
    let mut harness = workshop.harness(&loaded)?;
    let compiler = workshop.compiler_version()?;
    let generation = Generation { program: &loaded.program, harness: &mut harness, settings, compiler };
    let report = branchwise_generate::generate(generation, &functions, &mut |event| show(&event));
    let keeps_state = branchwise_report::keeps_state(&loaded.program);
    Ok(GeneratedFile { source: source.to_owned(), map: loaded.program.map, report, keeps_state })
}

/// A path that is wrong is the commonest mistake, and clang's words for it are not the clearest.
fn check_files(files: &[PathBuf]) -> Result<(), CliError> {
    for file in files {
        let error = |message: &str| CliError::input(format!("cannot read {}: {message}", file.display()));
        match std::fs::metadata(file) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(error("it is a folder").with_hint("name the C files in it"));
            }
            Ok(_) => {}
            Err(cause) => return Err(error(&cause.to_string())),
        }
    }
    Ok(())
}

fn progress_view(arguments: &GenerateArguments) -> ProgressView<Stderr> {
    match (arguments.quiet, stderr().is_terminal()) {
        (true, _) => ProgressView::hidden(),
        (false, true) => ProgressView::bar(),
        (false, false) => ProgressView::lines(stderr()),
    }
}

fn file_report<'a>(file: &'a GeneratedFile, flags: &'a [String]) -> FileReport<'a> {
    FileReport { map: &file.map, report: &file.report, source: &file.source, flags, keeps_state: file.keeps_state }
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

fn write(arguments: &GenerateArguments, files: &[FileReport]) -> Result<WrittenSuite, CliError> {
    let started_in = std::env::current_dir().unwrap_or_else(|_| Path::new(".").to_owned());
    let formats: Vec<_> = arguments.emit.iter().map(|format| (*format).into()).collect();
    Ok(branchwise_report::write_suite(&arguments.out, &started_in, files, &formats)?)
}

fn print(arguments: &GenerateArguments, files: &[FileReport], written: &WrittenSuite) -> Result<(), CliError> {
    let text = match (arguments.json, arguments.quiet) {
        (true, _) => format!("{:#}\n", branchwise_report::json(files)),
        (false, true) => return Ok(()),
        (false, false) => {
            let no_color = std::env::var("NO_COLOR").ok();
            let style = Style::detect(stdout().is_terminal(), no_color.as_deref());
            let paths: Vec<String> = written.tests.iter().map(|path| path.display().to_string()).collect();
            branchwise_report::summary(files, &paths, TableTime::Measured, style)
        }
    };
    print_text(&text)
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

fn exit(arguments: &GenerateArguments, files: &[FileReport], interrupted: bool) -> Exit {
    let reached = Totals::of_files(files).percent_of_feasible();
    let functions = || files.iter().flat_map(|file| &file.report.functions);
    let troubles = || functions().filter_map(|function| function.trouble.as_ref());
    let our_fault = troubles().any(|trouble| trouble.fault_of_ours);
    let unusable = troubles().any(|trouble| trouble.fault_of_input);
    match arguments.require {
        _ if interrupted => Exit::Interrupted,
        _ if our_fault => Exit::OurFault,
        _ if unusable => Exit::InputUnusable,
        Some(required) if reached < required => Exit::RequirementMissed,
        _ => Exit::Done,
    }
}
