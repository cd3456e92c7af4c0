//! Emitted tests of fixtures: they compile without a warning, and pass. A test run takes one compiler and framework for each
//! fixture, others in each turn; a soak takes all of them.

use crate::support::folder;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use branchwise_tools::{Cache, KeyBuilder};

use crate::support::fixture::{Fixture, file_name};
use crate::support::{share, tool};

/// Fixtures of C whose plain tests are compiled.
const IN_PLAIN_C: [&str; 32] = [
    "array_parameter.c",
    "array_variable_length_parameter.c",
    "bad_exit.c",
    "bad_null.c",
    "calendar.c",
    "global_array_elsewhere.c",
    "global_elsewhere.c",
    "global_input.c",
    "global_struct.c",
    "heap_aligned.c",
    "heap_may_fail.c",
    "if_chain.c",
    "int_bool.c",
    "int_long_long.c",
    "pointer_list.c",
    "pointer_output.c",
    "static_function.c",
    "stream_given.c",
    "stream_given_in_struct.c",
    "stream_given_position.c",
    "stream_given_written.c",
    "struct_bit_fields.c",
    "struct_by_value.c",
    "struct_result.c",
    "struct_unnamed.c",
    "struct_unnamed_result.c",
    "stub_emitted.c",
    "stub_pointer_parameter.c",
    "stub_types.c",
    "switch_on_char.c",
    "triangle.c",
    "union_parameter.c",
];

/// Fixtures of C whose tests for GoogleTest are compiled.
const FOR_GOOGLE_TEST: [&str; 5] =
    ["if_chain.c", "stream_given_written.c", "struct_by_value.c", "stub_emitted.c", "triangle.c"];

const C_COMPILERS: [&str; 2] = ["clang-19", "gcc"];
const COMPILERS: [&str; 2] = ["clang++-19", "g++"];

/// A fixture of C++ has its turn once in so many, because a compiler takes seconds for one.
const PERIOD_OF_CPP: u64 = 2;

/// How tests are written, with how the names of the files end.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Format {
    Plain,
    GoogleTest,
    Catch2,
}

const FORMATS: [Format; 3] = [Format::Plain, Format::GoogleTest, Format::Catch2];

/// Returns what is wrong with the tests that a run for a fixture has left in `FOLDER/out`.
pub fn differences(fixture: &Fixture, folder: &Path) -> Vec<String> {
    let name = file_name(&fixture.path);
    let checked = match name.ends_with(".cpp") {
        true if !share::has_turn(&name, PERIOD_OF_CPP) => Ok(()),
        true => turns(&name, (FORMATS.len() * COMPILERS.len()) as u64).into_iter().try_for_each(|turn| {
            let (format, compiler) = (FORMATS[turn % FORMATS.len()], COMPILERS[turn / FORMATS.len()]);
            in_cpp(fixture, format, compiler, folder).map_err(|error| format!("{format:?}: {error}"))
        }),
        false => in_c(fixture, &name, folder),
    };
    checked.err().map(|error| format!("{name}: {error}")).into_iter().collect()
}

/// What has its turn of so many choices.
fn turns(name: &str, choices: u64) -> Vec<usize> {
    let chosen = share::choice(name, choices).map_or(0..choices, |choice| choice..choice + 1);
    chosen.map(|choice| choice as usize).collect()
}

fn in_c(fixture: &Fixture, name: &str, folder: &Path) -> Result<(), String> {
    if IN_PLAIN_C.contains(&name) {
        let sources = emitted(folder, ".c");
        for turn in turns(name, C_COMPILERS.len() as u64) {
            compiles_and_passes(C_COMPILERS[turn], &sources, &[], &[&fixture.path], folder)?;
        }
    }
    if FOR_GOOGLE_TEST.contains(&name) {
        let steps = fixture.steps.to_string();
        let arguments = ["--json", "--function", &fixture.entry, "--steps", &steps, "--emit", "gtest"];
        let folder = folder::temporary();
        tool::generate_files(&fixture.path, &arguments, &fixture.flags, folder.path()).json()?;
        for turn in turns(name, C_COMPILERS.len() as u64) {
            google_test_of_c(C_COMPILERS[turn], COMPILERS[turn], folder.path())?;
        }
    }
    Ok(())
}

/// Compiles what is written in C as C, and links it with the C++ tests.
fn google_test_of_c(c_compiler: &str, compiler: &str, folder: &Path) -> Result<(), String> {
    let mut sources = emitted(folder, ".cc");
    sources.extend(emitted(folder, ".cpp"));
    if sources.is_empty() {
        return Err("no tests for GoogleTest were written".to_string());
    }
    for source in emitted(folder, ".c") {
        let object = source.with_extension("o");
        compile(c_compiler, &["-c".into(), source.into(), "-o".into(), object.clone().into()], folder)?;
        sources.push(object);
    }
    let libraries = ["-lgtest", "-lgtest_main", "-lpthread"].map(OsString::from);
    compiles_and_passes(compiler, &sources, &libraries, &[], folder)
}

fn in_cpp(fixture: &Fixture, format: Format, compiler: &str, folder: &Path) -> Result<(), String> {
    let framework = Framework::get(format, compiler)?;
    let sources = emitted(folder, framework.ending);
    if sources.is_empty() {
        return Err(format!("no file *{} was written", framework.ending));
    }
    let opens_classes = fixture.options.iter().any(|option| option == "--private");
    let mut flags = framework.flags.clone();
    flags.extend(opens_classes.then(|| "-fno-access-control".into()));
    flags.extend(framework.libraries.clone());
    compiles_and_passes(compiler, &sources, &flags, &[&fixture.path], folder)
}

fn emitted(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("out")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| file_name(path).ends_with(ending));
    paths.sort();
    paths
}

/// Runs a compiler that must accept everything without a warning.
fn compile(compiler: &str, arguments: &[OsString], folder: &Path) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror"]).args(arguments);
    let compiled = tool::run(command, folder);
    if compiled.status == Some(0) {
        Ok(())
    } else {
        Err(format!("{compiler} does not accept it:\n{}", compiled.errors))
    }
}

/// Compiles and runs. A program that was made from the same texts before is only run; `included`: what the sources include.
fn compiles_and_passes(
    compiler: &str,
    sources: &[PathBuf],
    flags: &[OsString],
    included: &[&Path],
    folder: &Path,
) -> Result<(), String> {
    let program = folder.join("program");
    let make = || {
        let mut arguments: Vec<OsString> = sources.iter().map(|path| path.clone().into()).collect();
        arguments.extend(flags.iter().cloned().chain(["-o".into(), program.clone().into()]));
        compile(compiler, &arguments, folder)
    };
    let headers = headers_beside(included);
    let texts = sources.iter().chain(&headers).map(PathBuf::as_path).chain(included.iter().copied());
    let key = texts.fold(installed(compiler), KeyBuilder::with_file);
    make_once(key.with_all(flags.iter().map(|flag| flag.as_encoded_bytes())), &program, make)?;
    let passed = tool::run(Command::new(&program), folder);
    let said = || format!("{}{}", passed.output, passed.errors);
    if passed.status == Some(0) { Ok(()) } else { Err(format!("the tests do not pass ({compiler}):\n{}", said())) }
}

/// The files in the folder `include` beside these.
fn headers_beside(files: &[&Path]) -> Vec<PathBuf> {
    let folders = files.iter().map(|file| file.with_file_name("include"));
    let mut headers: Vec<PathBuf> = folders
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .collect();
    headers.sort();
    headers
}

fn installed(compiler: &str) -> KeyBuilder {
    KeyBuilder::new("emitted tests 1").with(compiler).with_installed(&Path::new("/usr/bin").join(compiler))
}

fn make_once(key: KeyBuilder, file: &Path, make: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let Some(cache) = Cache::from_environment() else { return make() };
    let (key, folder) = (key.finish(), file.parent().unwrap_or(Path::new("/")));
    if !cache.fetch(&key, folder) {
        make()?;
        cache.store(&key, &[file.to_owned()]);
    }
    Ok(())
}

/// What the tests of a framework need, made once for each compiler.
#[derive(Debug, Clone)]
struct Framework {
    /// How the names of its test files end.
    ending: &'static str,
    /// Flags that take the precompiled header.
    flags: Vec<OsString>,
    libraries: Vec<OsString>,
}

impl Framework {
    fn get(format: Format, compiler: &str) -> Result<Framework, String> {
        let (libraries, header) = match format {
            Format::Plain => return Ok(Framework { ending: "_test.cpp", flags: Vec::new(), libraries: Vec::new() }),
            Format::GoogleTest => {
                (["-lgtest", "-lgtest_main", "-lpthread"].map(OsString::from).to_vec(), "gtest/gtest.h")
            }
            Format::Catch2 => (vec![catch2_main(compiler)?.into()], "catch2/catch.hpp"),
        };
        let ending = if format == Format::GoogleTest { "_gtest.cpp" } else { "_catch2.cpp" };
        Ok(Framework { ending, flags: precompiled(compiler, header)?, libraries })
    }
}

/// Compiles a header once and returns the flags that take it.
fn precompiled(compiler: &str, header: &str) -> Result<Vec<OsString>, String> {
    let text = format!("#include <{header}>\n");
    let made = made_once(compiler, &header.replace(['/', '.'], "-"), "hpp", "gch", &text, &["-x", "c++-header"])?;
    Ok(match compiler {
        "g++" => vec!["-include".into(), made.with_extension("").into()],
        _ => vec!["-include-pch".into(), made.into()],
    })
}

fn catch2_main(compiler: &str) -> Result<PathBuf, String> {
    let text = "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n";
    made_once(compiler, "catch2-main", "cpp", "o", text, &["-c"])
}

/// Compiles a text that many tests need, in the folder for the tests' own files, where the next run finds it.
fn made_once(
    compiler: &str,
    name: &str,
    extension: &str,
    made: &str,
    text: &str,
    flags: &[&str],
) -> Result<PathBuf, String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let key = installed(compiler).with(text).with_installed(Path::new("/usr/include/gtest/gtest.h"));
    let key = key.with_installed(Path::new("/usr/include/catch2/catch.hpp")).finish();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("framework-{}", key.as_str()));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let source = folder.join(name).with_extension(extension);
    let (target, unfinished) = (folder.join(format!("{name}.{extension}.{made}")), folder.join("unfinished"));
    if !target.exists() {
        fs::write(&source, text).map_err(|error| error.to_string())?;
        let mut arguments: Vec<OsString> = flags.iter().map(OsString::from).collect();
        arguments.extend([source.into(), "-o".into(), unfinished.clone().into()]);
        compile(compiler, &arguments, &folder)?;
        fs::rename(&unfinished, &target).map_err(|error| error.to_string())?;
    }
    Ok(target)
}
