//! The files that the user means, each with its compiler flags.

use std::path::{Path, PathBuf};

use branchwise_frontend::{CompileCommand, CompileCommands, NO_ACCESS_CONTROL, Recipe, language_of};
use branchwise_program::map::Language;

use crate::arguments::GenerateArguments;
use crate::error::CliError;
use crate::reading::{FlagNotes, ReadArguments, not_read};

/// A C file and the flags it is compiled with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub path: PathBuf,
    pub flags: Vec<String>,
}

/// What the arguments name.
#[derive(Debug, Default)]
pub struct Sources {
    pub files: Vec<SourceFile>,
    /// Files that cannot be used, before anybody has read them.
    pub failures: Vec<CliError>,
    /// What the user should know, and what is no error.
    pub notes: Vec<String>,
}

impl Sources {
    pub fn of(arguments: &GenerateArguments) -> Result<Self, CliError> {
        let mut sources = match &arguments.project {
            Some(folder) => of_project(folder, arguments)?,
            None => of_files(&arguments.files, &arguments.flags),
        };
        if arguments.private {
            let of_cpp = |file: &&mut SourceFile| language_of(&file.path) == Language::Cpp;
            sources.files.iter_mut().filter(of_cpp).for_each(|file| file.flags.push(NO_ACCESS_CONTROL.to_owned()));
        }
        Ok(sources.checked().with_usable_flags(&arguments.reading))
    }

    /// Leaves out flags that nobody should take from a stranger, and files that cannot be read without them.
    fn with_usable_flags(mut self, reading: &ReadArguments) -> Self {
        let mut notes = FlagNotes::default();
        for file in std::mem::take(&mut self.files) {
            match reading.usable(file, &mut notes) {
                Ok(file) => self.files.push(file),
                Err(error) => self.failures.push(error),
            }
        }
        self.notes.extend(notes.sentences());
        self
    }

    /// A path that is wrong is the commonest mistake, and clang's words for it are not the clearest.
    fn checked(mut self) -> Self {
        let files = std::mem::take(&mut self.files);
        for file in files {
            match unreadable(&file.path) {
                Some(error) => self.failures.push(error),
                None => self.files.push(file),
            }
        }
        self
    }

    fn add(&mut self, path: &Path, command: &CompileCommand, more: &[String]) {
        let name = path.display();
        match &command.recipe {
            Recipe::Known { flags } => {
                let flags = flags.iter().chain(more).cloned().collect();
                self.files.push(SourceFile { path: path.to_owned(), flags });
            }
            Recipe::Other { language } => self.notes.push(format!("{name} is left out: it is {language}")),
            Recipe::Refused(refused) => self.failures.push(not_read(path, refused)),
            Recipe::Unusable { why } => {
                let error = CliError::input(format!("the flags of {name} are not known: {why}"));
                self.failures.push(error.with_hint("build the project first, or give the flags after -- without -p"));
            }
        }
    }
}

fn of_files(files: &[PathBuf], flags: &[String]) -> Sources {
    let file = |path: &PathBuf| SourceFile { path: path.clone(), flags: flags.to_vec() };
    Sources { files: files.iter().map(file).collect(), ..Sources::default() }
}

fn of_project(folder: &Path, arguments: &GenerateArguments) -> Result<Sources, CliError> {
    let database = CompileCommands::read(folder, arguments.reading.trust_flags)
        .map_err(|error| CliError::input(error.message.clone()).with_hint(error.hint.clone()))?;
    let mut sources = Sources { notes: database.notes.clone(), ..Sources::default() };
    for path in &arguments.files {
        match database.find(path) {
            Some(command) => sources.add(path, command, &arguments.flags),
            None if unreadable(path).is_some() => sources.failures.extend(unreadable(path)),
            None => sources.failures.push(not_in_project(path, folder, &database)),
        }
    }
    if arguments.files.is_empty() {
        for command in &database.commands {
            sources.add(&shown(&command.file), command, &arguments.flags);
        }
    }
    if sources.files.is_empty() && sources.failures.is_empty() {
        sources.notes.iter().for_each(|note| tell(note));
        return Err(CliError::input(format!("no file of C or C++ in the compile commands of {}", folder.display()))
            .with_hint("name the folder of a build that compiles one"));
    }
    Ok(sources)
}

/// As the user would write it: from here where it lies below, from the root otherwise.
fn shown(file: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| file.strip_prefix(here).ok().map(Path::to_owned));
    below.unwrap_or_else(|| file.to_owned())
}

fn not_in_project(path: &Path, folder: &Path, database: &CompileCommands) -> CliError {
    let message = format!("{} is not in the compile commands of {}", path.display(), folder.display());
    let names: Vec<String> =
        database.commands.iter().map(|command| shown(&command.file).display().to_string()).collect();
    let same_name = database.commands.iter().find(|command| command.file.file_name() == path.file_name());
    let nearest = same_name.map(|command| shown(&command.file).display().to_string()).or_else(|| {
        let written = path.display().to_string();
        branchwise_report::did_you_mean(&written, names.iter().map(String::as_str)).map(str::to_owned)
    });
    CliError::input(message).with_hint(match nearest {
        Some(nearest) => format!("did you mean {nearest}? Without -p, give the flags after --"),
        None => "give its flags after -- without -p".to_owned(),
    })
}

fn unreadable(file: &Path) -> Option<CliError> {
    let error = |message: &str| CliError::input(format!("cannot read {}: {message}", file.display()));
    match std::fs::metadata(file) {
        Ok(metadata) if metadata.is_dir() => Some(error("it is a folder").with_hint("name the C files in it")),
        Ok(metadata) if !metadata.is_file() => Some(error("it is no file but a device, a pipe or a socket")),
        Ok(_) => None,
        Err(cause) => Some(error(&cause.to_string())),
    }
}

/// A line on standard error that is no error.
pub fn tell(note: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "Note: {note}");
}
