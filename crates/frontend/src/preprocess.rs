//! The runs of clang before libclang takes over: preprocessing and the coverage mapping.

use std::collections::BTreeSet;
use std::path::Path;

use branchwise_program::library;
use branchwise_program::map::{Freestanding, Language};
use branchwise_tools::KeyBuilder;

use crate::language;
use crate::{FrontendError, Toolchain};

/// The user's flags without what concerns the output, optimisation, dependency files and warnings: what is left decides
/// what the text means.
pub(crate) fn clean_flags(flags: &[String]) -> Vec<String> {
    let mut cleaned = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        match flag.as_str() {
            "-o" | "-MF" | "-MT" | "-MQ" | "-MJ" | "-x" => drop(rest.next()),
            "-c" | "-S" | "-E" | "-pipe" | "-emit-llvm" | "-fsyntax-only" | "-save-temps" => {}
            "-pedantic-errors" | "-coverage" | "--coverage" => {}
            other if DROPPED_PREFIXES.iter().any(|prefix| other.starts_with(prefix)) => {}
            other => cleaned.push(other.to_owned()),
        }
    }
    cleaned.extend(macros_of_level(flags).iter().map(|flag| (*flag).to_owned()));
    cleaned
}

/// What the level of optimisation tells the preprocessor. The text is compiled without optimisation all the same, and so are
/// the inline functions of the headers that only optimised builds use.
fn macros_of_level(flags: &[String]) -> &'static [&'static str] {
    let level = flags.iter().rev().find_map(|flag| flag.strip_prefix("-O"));
    match level {
        None | Some("0") => &[],
        Some("s" | "z") => &["-D__OPTIMIZE__=1", "-D__OPTIMIZE_SIZE__=1", UNCHECKED],
        Some(_) => &["-D__OPTIMIZE__=1", UNCHECKED],
    }
}

/// Otherwise the headers would replace functions by others that check sizes first.
const UNCHECKED: &str = "-D_FORTIFY_SOURCE=0";

/// The functions of the C library that the flags make ordinary ones.
pub(crate) fn freestanding(flags: &[String]) -> Freestanding {
    const ALL: [&str; 6] = ["-ffreestanding", "-fno-hosted", "-fno-builtin", "-nostdlib", "-nolibc", "-nodefaultlibs"];
    if flags.iter().any(|flag| ALL.contains(&flag.as_str())) {
        return Freestanding::All;
    }
    let names: BTreeSet<String> =
        flags.iter().filter_map(|flag| flag.strip_prefix("-fno-builtin-")).map(str::to_owned).collect();
    if names.is_empty() { Freestanding::Hosted } else { Freestanding::Names(names) }
}

/// The flag by which calls of a function of the library are calls of what a file defines, also where the compiler knows
/// what the function does.
pub(crate) fn calls_of_own<'n>(defined: impl Iterator<Item = &'n str>) -> Vec<String> {
    let own: BTreeSet<&str> = defined.filter(|name| library::row(name).is_some()).collect();
    own.into_iter().map(|name| format!("-fno-builtin-{name}")).collect()
}

/// OpenMP demands loop conditions of a certain form, which markers would break; without it the loops just run.
const DROPPED_PREFIXES: &[&str] = &[
    "-o",
    "-O",
    "-M",
    "-Werror",
    "-Wfatal-errors",
    "-flto",
    "-fprofile-",
    "-fcoverage-",
    "-save-temps=",
    "-x",
    "-fopenmp",
];

/// The text after preprocessing, with line markers. Bytes that are not UTF-8 (they can only stand in literals) become
/// octal escapes, which mean the same byte.
pub(crate) fn preprocess(
    toolchain: &Toolchain,
    path: &Path,
    language: Language,
    flags: &[String],
) -> Result<String, FrontendError> {
    let mut arguments = flags.to_vec();
    arguments.extend(["-E", "-w", "-x", language::written(language)].map(String::from));
    arguments.push(path.display().to_string());
    let output = toolchain.run(&arguments)?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(FrontendError::DoesNotCompile { path: path.to_owned(), messages });
    }
    let mut text = escape_invalid(output.stdout);
    if language == Language::Cpp {
        HELD_BACK.iter().for_each(|declaration| text = text.replace(declaration, &" ".repeat(declaration.len())));
    }
    Ok(text)
}

/// Where these stand, what the headers define is left to the shared library, where nobody can look at it. Headers have them
/// unconditionally; streams stay, which have models.
const HELD_BACK: [&str; 2] = ["extern template class basic_string<char>;", "extern template class allocator<char>;"];

fn escape_invalid(bytes: Vec<u8>) -> String {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\{byte:03o}"));
        }
    }
    text
}

/// Returns clang's dump of the coverage mapping of `text`, a file given on standard input. `preprocessed` is the text of
/// the unit that it includes.
pub(crate) fn coverage_dump(
    toolchain: &Toolchain,
    text: &str,
    preprocessed: &str,
    language: Language,
    flags: &[String],
) -> Result<String, FrontendError> {
    let mut arguments = flags.to_vec();
    arguments.extend(COVERAGE_FLAGS.map(String::from));
    if language == Language::Cpp {
        // Methods that nobody calls have regions too.
        arguments.push("-femit-all-decls".to_owned());
    }
    let key = KeyBuilder::new("coverage dump 1").with_all(&arguments).with(language::written(language)).with(text);
    let key = key.with(preprocessed).with_sources_of(preprocessed);
    let printed = toolchain.print_once(key, || run_on_text(toolchain, text, language, &arguments))?;
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

const COVERAGE_FLAGS: [&str; 10] = [
    "-O0",
    "-w",
    "-fprofile-instr-generate",
    "-fcoverage-mapping",
    "-Xclang",
    "-dump-coverage-mapping",
    "-c",
    "-Xclang",
    "-emit-llvm-only",
    "-o/dev/null",
];

/// `text` after preprocessing in the context of what it includes, from the line `start` on.
pub(crate) fn preprocess_from(
    toolchain: &Toolchain,
    text: &str,
    start: &str,
    language: Language,
    flags: &[String],
) -> Result<String, FrontendError> {
    let mut arguments = flags.to_vec();
    arguments.extend(["-E", "-w"].map(String::from));
    let output = escape_invalid(run_on_text(toolchain, text, language, &arguments)?);
    let failed =
        |cause: &str| FrontendError::ToolFailed { tool: toolchain.clang.display().to_string(), cause: cause.into() };
    let (_, rest) = output.rsplit_once(start).ok_or_else(|| failed("the end of the preprocessed text is missing"))?;
    Ok(rest.to_owned())
}

/// What clang prints for a file given on standard input.
fn run_on_text(
    toolchain: &Toolchain,
    text: &str,
    language: Language,
    arguments: &[String],
) -> Result<Vec<u8>, FrontendError> {
    let arguments: Vec<String> =
        arguments.iter().cloned().chain(["-x", language::written(language), "-"].map(String::from)).collect();
    let output = toolchain.run_on(&arguments, text)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let cause = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(FrontendError::ToolFailed { tool: toolchain.clang.display().to_string(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_concern_the_output_are_dropped() {
        let flags = "-c -Iinc -DX=1 -o a.o -O2 -MMD -MF a.d -Werror=all -std=c99 -x c".split(' ').map(String::from);
        let defines = ["-D__OPTIMIZE__=1", "-D_FORTIFY_SOURCE=0"];
        assert_eq!(clean_flags(&flags.collect::<Vec<_>>()), [&["-Iinc", "-DX=1", "-std=c99"][..], &defines].concat());
    }

    #[test]
    fn bytes_that_are_not_utf8_become_octal_escapes() {
        assert_eq!(escape_invalid(b"\"\xe9\"".to_vec()), "\"\\351\"");
    }
}
