//! `compile_commands.json`: which files a project has and with which flags each of them is compiled.

mod command_line;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde_json::Value as Json;

use crate::flags::{Harm, RefusedFlag};

/// The usual name of the file.
const FILE_NAME: &str = "compile_commands.json";

/// A compilation database.
#[derive(Debug, Clone)]
pub struct CompileCommands {
    /// In the order of the database, one for each file.
    pub commands: Vec<CompileCommand>,
    /// What was left out, one sentence each.
    pub notes: Vec<String>,
    /// Index into `commands`, by identity.
    known: HashMap<PathBuf, usize>,
}

/// How one file is compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileCommand {
    /// Absolute.
    pub file: PathBuf,
    pub recipe: Recipe,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipe {
    /// A file of C or C++, with the flags that decide what its text means. Paths in them are absolute.
    Known { flags: Vec<String> },
    /// Assembler and its like, or a file whose name says C and whose command says C++.
    Other { language: String },
    /// Why the flags cannot be known.
    Unusable { why: String },
    /// It may mean something else without this flag, and nobody vouches for it.
    Refused(RefusedFlag),
}

/// The database cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileCommandsError {
    pub message: String,
    pub hint: String,
}

impl fmt::Display for CompileCommandsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompileCommandsError {}

impl CompileCommands {
    /// Reads the database in a folder; `place` may also be the file itself. The files with flags that it names are read if
    /// `trusted`.
    pub fn read(place: &Path, trusted: bool) -> Result<Self, CompileCommandsError> {
        let path = if place.is_dir() || !place.exists() { place.join(FILE_NAME) } else { place.to_owned() };
        let error = |message: String, hint: &str| CompileCommandsError { message, hint: hint.to_owned() };
        let text = branchwise_tools::read_limited(&path, MOST_BYTES)
            .map_err(|cause| error(format!("cannot read {}: {cause}", path.display()), HOW_TO_GET_ONE))?;
        let json: Json = serde_json::from_slice(&text).map_err(|cause| {
            error(format!("{} is not valid JSON: {cause}", path.display()), "let the build write it again")
        })?;
        let Json::Array(entries) = json else {
            return Err(error(format!("{} is not a list of compile commands", path.display()), HOW_TO_GET_ONE));
        };
        if entries.is_empty() {
            return Err(error(format!("{} has no entries", path.display()), HOW_TO_GET_ONE));
        }
        let folder = absolute(path.parent().unwrap_or(Path::new(".")), &current_folder());
        Ok(CompileCommands::of_entries(&entries, &folder, &path, trusted))
    }

    fn of_entries(entries: &[Json], folder: &Path, path: &Path, trusted: bool) -> Self {
        let mut database = CompileCommands { commands: Vec::new(), notes: Vec::new(), known: HashMap::new() };
        for (index, entry) in entries.iter().enumerate() {
            match command(entry, folder, trusted) {
                Ok(command) => database.add(command),
                Err(what) => {
                    database.notes.push(format!("{}: entry {} is left out: {what}", path.display(), index + 1));
                }
            }
        }
        database
    }

    fn add(&mut self, command: CompileCommand) {
        match self.known.entry(identity(&command.file)) {
            Entry::Vacant(place) => {
                place.insert(self.commands.len());
                self.commands.push(command);
            }
            Entry::Occupied(_) => {
                let file = command.file.display();
                self.notes.push(format!("{file} has several compile commands: the first one is used"));
            }
        }
    }

    /// The command of a file, however its path is written.
    pub fn find(&self, file: &Path) -> Option<&CompileCommand> {
        self.known.get(&identity(&absolute(file, &current_folder()))).map(|&index| &self.commands[index])
    }
}

/// Larger databases are no databases.
const MOST_BYTES: u64 = 1 << 30;

const HOW_TO_GET_ONE: &str = "name the folder with compile_commands.json (CMake writes it with \
                              -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, other builds under `bear -- make`)";

fn command(entry: &Json, folder: &Path, trusted: bool) -> Result<CompileCommand, String> {
    let text = |key: &str| entry[key].as_str();
    let file = text("file").ok_or("it has no \"file\"")?;
    let directory = absolute(Path::new(text("directory").unwrap_or(".")), folder);
    let arguments = match (&entry["arguments"], text("command")) {
        (Json::Array(arguments), _) => {
            let words = arguments.iter().map(|argument| argument.as_str().map(str::to_owned));
            words.collect::<Option<Vec<String>>>().ok_or("its \"arguments\" are not all strings")?
        }
        (_, Some(command)) => command_line::words(command),
        _ => return Err("it has neither \"arguments\" nor \"command\"".to_owned()),
    };
    let path = absolute(Path::new(file), &directory);
    let refused = arguments.iter().find(|word| !trusted && command_line::is_response_file(word)).cloned();
    let recipe = match refused {
        Some(flag) => Recipe::Refused(RefusedFlag { flag, harm: Harm::LoadsCode }),
        None => match command_line::with_response_files(arguments, &directory) {
            Ok(arguments) => command_line::recipe(&arguments, &path, &directory),
            Err(why) => Recipe::Unusable { why },
        },
    };
    Ok(CompileCommand { file: path, recipe })
}

/// The path from the root, without `.` and `..` where that needs no look at the disk.
fn absolute(path: &Path, directory: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for component in directory.join(path).components() {
        match component {
            Component::CurDir => {}
            // Behind a link `..` leads elsewhere than the text says.
            Component::ParentDir if !whole.is_symlink() && whole.pop() => {}
            other => whole.push(other),
        }
    }
    whole
}

/// Two paths with one identity are one file.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn current_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(entries: Json) -> CompileCommands {
        let entries = entries.as_array().expect("a list").clone();
        CompileCommands::of_entries(&entries, Path::new("/build"), Path::new("/build/compile_commands.json"), true)
    }

    fn c(file: &str, flags: &[&str]) -> CompileCommand {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        CompileCommand { file: PathBuf::from(file), recipe: Recipe::Known { flags } }
    }

    #[test]
    fn both_forms_of_an_entry() {
        let database = of(json!([
            { "directory": "/p/build", "file": "../src/a.c",
              "command": "/usr/bin/cc -I../include -DNAME=\\\"a\\ b\\\" -std=c99 -O2 -MD -MF a.d -o a.o -c ../src/a.c" },
            { "directory": "/p", "file": "b.c", "arguments": ["ccache", "gcc", "-I", "inc", "-c", "b.c", "-ob.o"] },
            { "file": "c.c", "command": "cc c.c" },
        ]));
        let expected = [
            c("/p/src/a.c", &["-I/p/include", "-DNAME=\"a b\"", "-std=c99", "-O2"]),
            c("/p/b.c", &["-I", "/p/inc"]),
            c("/build/c.c", &[]),
        ];
        assert_eq!(database.commands, expected);
        assert!(database.notes.is_empty());
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let database = of(json!([
            { "directory": "/p", "file": "a.c", "arguments": ["cc", "-DONE", "a.c"] },
            { "directory": "/p", "file": "./a.c", "arguments": ["cc", "-DTWO", "a.c"] },
            { "directory": "/p", "command": "cc x.c" },
            { "directory": "/p", "file": "x.c" },
            { "directory": "/p", "file": "b.cpp", "command": "c++ -c b.cpp" },
            { "directory": "/p", "file": "c.c", "command": "g++ -c c.c" },
            { "directory": "/p", "file": "d.c", "command": "cc -x c++ -c d.c" },
            { "directory": "/p", "file": "e.S", "command": "cc -c e.S" },
            { "directory": "/p", "file": "f.c", "command": "cc @/nowhere/flags -c f.c" },
        ]));
        assert_eq!(database.commands[0], c("/p/a.c", &["-DONE"]));
        let recipe = |index: usize| &database.commands[index].recipe;
        assert!(matches!(recipe(1), Recipe::Known { .. }));
        for index in [2, 3] {
            assert_eq!(*recipe(index), Recipe::Other { language: "C++ under the name of a C file".to_owned() });
        }
        assert!(matches!(recipe(4), Recipe::Other { .. }));
        assert!(matches!(recipe(5), Recipe::Unusable { why } if why.contains("/nowhere/flags")));
        assert_eq!(
            database.notes,
            [
                "/p/a.c has several compile commands: the first one is used",
                "/build/compile_commands.json: entry 3 is left out: it has no \"file\"",
                "/build/compile_commands.json: entry 4 is left out: it has neither \"arguments\" nor \"command\"",
            ]
        );
    }
}
