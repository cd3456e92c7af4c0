//! The command line of a compiler: its words, and which of them decide what a file means.

use std::path::Path;

use branchwise_program::map::Language;

use super::{Recipe, absolute, identity};
use crate::language_of;

/// Response files may name response files, but not without end.
const MOST_NESTED: usize = 8;
/// The most that one of them may hold.
const MOST_BYTES: u64 = 4 << 20;
/// The most words that a command may have with them.
const MOST_WORDS: usize = 1 << 20;

/// Options whose value is the next word, and is a path.
const PATH_OPTIONS: &[&str] = &[
    "-I",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "--sysroot",
    "-F",
    "-iframework",
    "-L",
    "-B",
    "-include",
    "-imacros",
    "-include-pch",
];

/// Options that may carry their path in the same word.
const JOINED_PATH_OPTIONS: &[&str] =
    &["-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot=", "-iframework", "-I", "-F", "-L", "-B"];

/// Other options whose value is the next word.
const VALUE_OPTIONS: &[&str] = &[
    "-D",
    "-U",
    "-A",
    "-l",
    "-T",
    "-u",
    "-z",
    "-arch",
    "-target",
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xlinker",
    "-mllvm",
    "--param",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
];

/// Options about output and dependencies whose value is the next word.
const DROPPED_WITH_VALUE: &[&str] = &["-o", "-MF", "-MT", "-MQ", "-MJ", "-x", "--output", "--serialize-diagnostics"];

/// Options about output, dependencies and speed of the build.
const DROPPED: &[&str] = &["-c", "-S", "-E", "-pipe", "--", "-g", "-save-temps", "-fsyntax-only"];
const DROPPED_PREFIXES: &[&str] =
    &["-o", "-M", "-Wp,-M", "--output=", "-save-temps=", "-x", "-g", "-fdiagnostics-", "-fdebug-prefix-map"];

/// Splits a command as a shell does: blanks, quotes, backslashes.
pub(super) fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => word.get_or_insert_default().extend(characters.by_ref().take_while(|&inner| inner != '\'')),
            '"' => double_quoted(&mut characters, word.get_or_insert_default()),
            '\\' => word.get_or_insert_default().extend(characters.next()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

fn double_quoted(characters: &mut impl Iterator<Item = char>, word: &mut String) {
    while let Some(character) = characters.next() {
        match character {
            '"' => return,
            '\\' => match characters.next() {
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => word.push('\\'),
            },
            other => word.push(other),
        }
    }
}

/// Puts the words of response files (`@FILE`) in their places.
pub(super) fn with_response_files(arguments: Vec<String>, directory: &Path) -> Result<Vec<String>, String> {
    let mut expanded = arguments;
    for _ in 0..MOST_NESTED {
        if !expanded.iter().any(|argument| is_response_file(argument)) {
            return Ok(expanded);
        }
        let mut next = Vec::new();
        for argument in expanded {
            if next.len() > MOST_WORDS {
                return Err("its response files hold too many words".to_owned());
            }
            match argument.strip_prefix('@').filter(|name| !name.is_empty()) {
                Some(name) => next.extend(response_file(&absolute(Path::new(name), directory))?),
                None => next.push(argument),
            }
        }
        expanded = next;
    }
    Err("its response files name each other without end".to_owned())
}

/// Whether a word stands for the words in a file.
pub(super) fn is_response_file(argument: &str) -> bool {
    argument.len() > 1 && argument.starts_with('@')
}

fn response_file(path: &Path) -> Result<Vec<String>, String> {
    let text = branchwise_tools::read_limited(path, MOST_BYTES);
    text.map(|text| words(&String::from_utf8_lossy(&text)))
        .map_err(|cause| format!("cannot read its response file {}: {cause}", path.display()))
}

/// What the arguments of a compiler say about one of the files that they name.
pub(super) fn recipe(arguments: &[String], file: &Path, directory: &Path) -> Recipe {
    // The compiler, and what it is started by, such as ccache.
    let programs = arguments.iter().take_while(|argument| !argument.starts_with('-') && !is(argument, file, directory));
    let programs = programs.count();
    let (programs, options) = arguments.split_at(programs);
    match language(programs, options, file) {
        Some(language) => Recipe::Other { language },
        None => Recipe::Known { flags: flags(options, directory) },
    }
}

fn is(argument: &str, file: &Path, directory: &Path) -> bool {
    identity(&absolute(Path::new(argument), directory)) == identity(file)
}

/// What is in the way: another language than C and C++, or another one than the name of the file says.
fn language(programs: &[String], options: &[String], file: &Path) -> Option<String> {
    let after_x = options.iter().position(|option| option == "-x").and_then(|at| options.get(at + 1));
    let joined_x = || options.iter().find_map(|option| option.strip_prefix("-x").filter(|name| !name.is_empty()));
    let extension = file.extension().map_or(String::new(), |extension| extension.to_string_lossy().into_owned());
    let named = match extension.as_str() {
        "c" | "i" => Language::C,
        _ if language_of(file) == Language::Cpp => Language::Cpp,
        "s" | "S" | "asm" => return Some("assembler".to_owned()),
        _ => return Some("neither C nor C++".to_owned()),
    };
    let compiled = match after_x.map(String::as_str).or_else(joined_x) {
        Some("c" | "cpp-output") => Language::C,
        Some("c++" | "c++-cpp-output") => Language::Cpp,
        Some(other) => return Some(other.to_owned()),
        None if programs.iter().any(|program| program.contains("++")) => Language::Cpp,
        None => named,
    };
    match (named, compiled) {
        (Language::C, Language::Cpp) => Some("C++ under the name of a C file".to_owned()),
        (Language::Cpp, Language::C) => Some("C under the name of a C++ file".to_owned()),
        _ => None,
    }
}

fn flags(options: &[String], directory: &Path) -> Vec<String> {
    let mut flags = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match option.as_str() {
            dropped if DROPPED_WITH_VALUE.contains(&dropped) => drop(rest.next()),
            kept if PATH_OPTIONS.contains(&kept) => {
                flags.push(kept.to_owned());
                flags.extend(rest.next().map(|path| path_value(kept, path, directory)));
            }
            kept if VALUE_OPTIONS.contains(&kept) => {
                flags.push(kept.to_owned());
                flags.extend(rest.next().cloned());
            }
            dropped if DROPPED.contains(&dropped) => {}
            dropped if DROPPED_PREFIXES.iter().any(|prefix| dropped.starts_with(prefix)) => {}
            // Files to compile or to link.
            file if !file.starts_with('-') || file == "-" => {}
            kept => flags.push(joined_path(kept, directory)),
        }
    }
    flags
}

fn joined_path(option: &str, directory: &Path) -> String {
    let joined = JOINED_PATH_OPTIONS.iter().find_map(|name| Some((name, option.strip_prefix(name)?)));
    match joined.filter(|(_, path)| !path.is_empty()) {
        Some((name, path)) => format!("{name}{}", path_value(name, path, directory)),
        None => option.to_owned(),
    }
}

/// The path as it is meant from anywhere.
fn path_value(option: &str, path: &str, directory: &Path) -> String {
    let whole = absolute(Path::new(path), directory);
    // `=` and `$SYSROOT` stand for the system root; a file to include may also be found like any header.
    let searched = option.starts_with("-include") || option == "-imacros";
    if path.starts_with(['=', '$']) || (searched && !whole.exists()) {
        return path.to_owned();
    }
    whole.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_by_a_shell() {
        let split = words(r#"cc  -DA='x y' -DB="a\"b\n" -DC=\"q\" "" '-I a'\ b"#);
        assert_eq!(split, ["cc", "-DA=x y", r#"-DB=a"b\n"#, r#"-DC="q""#, "", "-I a b"]);
    }

    #[test]
    fn response_files_are_read_and_cycles_end() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a writable folder");
        write("flags", "-DA=1 '-DB=x y'\n@more");
        write("more", "-Iinclude");
        write("cycle", "@cycle");
        let expand = |argument: &str| with_response_files(vec!["cc".into(), argument.into()], folder.path());
        assert_eq!(expand("@flags"), Ok(["cc", "-DA=1", "-DB=x y", "-Iinclude"].map(String::from).to_vec()));
        assert!(expand("@cycle").is_err_and(|why| why.contains("without end")));
        assert!(expand("@none").is_err_and(|why| why.contains("none")));
    }

    #[test]
    fn flags_about_output_and_other_files_are_dropped() {
        let options =
            "-Wp,-MD,a.d -MMD -MP -MT x -g3 -O2 -Wall -fPIC -Xclang -load other.o b.c -lm -L lib -isystem../s";
        let options: Vec<String> = options.split(' ').map(String::from).collect();
        let expected = ["-O2", "-Wall", "-fPIC", "-Xclang", "-load", "-lm", "-L", "/p/q/lib", "-isystem/p/s"];
        assert_eq!(flags(&options, Path::new("/p/q")), expected);
    }
}
