//! `branchwise generate`: from files to a table, JSON and a written suite.

use std::io::{IsTerminal, Stderr, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use branchwise_generate::{Progress, Report};
use branchwise_program::map::Map;
use branchwise_report::{FileReport, ProgressView, Style, TableTime, Totals, WrittenSuite};

use crate::arguments::GenerateArguments;
use crate::error::CliError;
use crate::exit::Exit;
use crate::interrupt;

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
    let generated = generated?;
    let files: Vec<FileReport> = generated.iter().map(|file| file_report(file, &arguments.flags)).collect();
    let written = write(arguments, &files)?;
    print(arguments, &files, &written)?;
    Ok(exit(arguments, &files, interrupted.load(Ordering::SeqCst)))
}

/// Analyses each file, generates tests for its functions and replays them. Stops early, with what was found, when
/// `interrupted` is set. Names in `arguments.functions` that no file has end as [`CliError::no_such_function`].
pub fn run_generate(
    arguments: &GenerateArguments,
    interrupted: &AtomicBool,
    show: &mut dyn FnMut(&Progress),
) -> Result<Vec<GeneratedFile>, CliError> {
    let _ = (interrupted, show);
    let files: Vec<String> = arguments.files.iter().map(|file| file.display().to_string()).collect();
    Err(CliError::input(format!("cannot generate tests for {} yet", files.join(", "))))
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
    match arguments.require {
        _ if interrupted => Exit::Interrupted,
        Some(required) if reached < required => Exit::RequirementMissed,
        _ => Exit::Done,
    }
}
