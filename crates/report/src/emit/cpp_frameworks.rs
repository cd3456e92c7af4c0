//! Tests of C++ for GoogleTest and Catch2: one file that includes the file under test.

use std::collections::BTreeSet;
use std::path::Path;

use branchwise_program::map::Language;

use super::EmittedFile;
use super::comment::harmless;
use super::dialect::Dialect;
use super::gtest::{LEAVE, cpp_test};
use super::names::identifier;
use super::needs;
use super::plain_c::{Others, begin, begin_function, flags_text, has_checks, others, surroundings};
use super::runner::{self, Part};
use super::test_function::{End, TestFunction, plain_name, test_functions};
use super::unit_include::{END, unit_include};
use crate::file_report::FileReport;

/// `NAME_gtest.cpp`.
pub fn emit_cpp_gtest(file: &FileReport, folder: &Path, stem: &str) -> EmittedFile {
    let name = format!("{stem}_gtest.cpp");
    let tests = test_functions(file, |_| Dialect::GoogleTest);
    let includes = "#include <csignal>\n#include <cstdio>\n\n#include <unistd.h>\n\n#include <gtest/gtest.h>\n";
    let libraries = "-lgtest -lgtest_main -lpthread";
    let mut text = beginning(file, &folder.join(&name), &format!("{stem}_gtest"), ("GoogleTest", "", libraries));
    text +=
        &format!("{includes}\n{}{}", unit_include(file, folder, &name, &needs::SYMBOLS), surroundings(file, &tests));
    let begin = begin_function(&begin(file), "static ");
    text += &begin;
    let leaves = |test: &TestFunction| test.end == End::EndsAnyhow || is_apart(file, test) && test.end == End::Returns;
    if tests.iter().any(leaves) {
        text += LEAVE;
    }
    let mut names = TestNames::default();
    for test in &tests {
        let (suite, case) = names.of(test);
        let head = format!("TEST({suite}, {case})\n");
        text.push('\n');
        text += &match is_apart(file, test) {
            true => {
                let begin = if begin.is_empty() { "" } else { "branchwise_begin(); " };
                let run = cpp_test(&format!("{begin}{}();", test.name), test.end, file.needs_processes());
                format!("{}\n{head}{{\n    {run}\n}}\n", test.definition("static "))
            }
            false => format!("{}\n{head}{}", test.comment, begun(test, &begin)),
        };
    }
    EmittedFile { name, text: text + END }
}

/// `NAME_catch2.cpp`, and the `main` for it.
pub fn emit_cpp_catch2(file: &FileReport, folder: &Path, stem: &str) -> [EmittedFile; 2] {
    let name = format!("{stem}_catch2.cpp");
    let begins = begin_function(&begin(file), "static ");
    let apart = |end: End| file.needs_processes() || end != End::Returns;
    let tests = test_functions(file, |end| if apart(end) { Dialect::Assert } else { Dialect::Catch2 });
    let main = folder.join(CATCH2_MAIN).display().to_string();
    let program = format!("{stem}_catch2");
    let mut text = beginning(file, &folder.join(&name), &program, ("Catch2", &format!(" {main}"), CATCH2_LIBRARY));
    text += CATCH2_INCLUDE;
    text += &unit_include(file, folder, &name, &needs::SYMBOLS);
    text += &surroundings(file, &tests);
    text += &begins;
    let separate: Vec<&TestFunction> = tests.iter().filter(|test| is_apart(file, test)).collect();
    if !separate.is_empty() {
        let parts = BTreeSet::from([Part::InChild]);
        text += &runner::counters(&parts, has_checks(&tests));
        text += &runner::functions(&parts, !begins.is_empty());
        text += AS_OBSERVED;
    }
    let mut names = TestNames::default();
    for test in &tests {
        let (suite, case) = names.of(test);
        let head = format!("TEST_CASE(\"{suite}: {case}\", \"[{suite}]\")\n");
        text.push('\n');
        text += &match is_apart(file, test) {
            true => {
                let (name, end) = (&test.name, runner::end_text(test.end));
                let run = format!("CHECK(branchwise_as_observed(\"{name}\", {name}, {end}));");
                format!("{}\n{head}{{\n    {run}\n}}\n", test.definition("static "))
            }
            false => format!("{}\n{head}{}", test.comment, begun(test, &begins)),
        };
    }
    [
        EmittedFile { name, text: text + END },
        EmittedFile { name: CATCH2_MAIN.to_owned(), text: CATCH2_MAIN_TEXT.to_owned() },
    ]
}

/// Its statements, after what comes before each test.
fn begun(test: &TestFunction, begin: &str) -> String {
    match begin.is_empty() {
        true => test.block.clone(),
        false => test.block.replacen("{\n", "{\n    branchwise_begin();\n", 1),
    }
}

/// It runs in a process of its own.
fn is_apart(file: &FileReport, test: &TestFunction) -> bool {
    file.needs_processes() || test.end != End::Returns
}

fn beginning(
    file: &FileReport,
    path: &Path,
    program: &str,
    (framework, more, libraries): (&str, &str, &str),
) -> String {
    let (flags, source) = (harmless(&flags_text(file.flags)), harmless(&file.source.display().to_string()));
    let (path, more) = (harmless(&path.display().to_string()), harmless(more));
    let Others { before, objects } = others(file, program, Some(Language::Cpp));
    format!(
        "\
/* Tests for {source}, generated by Branchwise from what its functions were observed to do; {framework} runs them.

   Compile and run:
{before}       c++ {flags}-o {program} {path}{more}{objects} {libraries} && ./{program} */

"
    )
}

const CATCH2_MAIN: &str = "catch2_main.cpp";

/// The third version is a library, the second one all header.
const CATCH2_LIBRARY: &str = "$(pkg-config --libs catch2-with-main 2>/dev/null)";

const CATCH2_INCLUDE: &str = "\
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

";

const CATCH2_MAIN_TEXT: &str = "\
/* The main function of tests for Catch2. Its third version has one in a library, which then takes the place of this file. */
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
";

const AS_OBSERVED: &str = "
static bool branchwise_as_observed(const char *name, void (*test)(void), enum branchwise_end end, int detail)
{
    int failed = branchwise_failed;
    branchwise_run_in_child(name, test, end, detail);
    return branchwise_failed == failed;
}
";

/// Tests by class and method: `Account`, `withdraw_1`. No two have the same name.
#[derive(Default)]
struct TestNames {
    taken: BTreeSet<(String, String)>,
}

impl TestNames {
    fn of(&mut self, test: &TestFunction) -> (String, String) {
        let unit = &test.unit;
        let scope = unit[..unit.find('(').unwrap_or(unit.len())].rfind("::");
        let (suite, case) = match scope {
            Some(at) => (identifier(&unit[..at]), identifier(&unit[at + 2..].replace('~', "destructor_of_"))),
            None => (plain_name(unit), "test".to_owned()),
        };
        let mut name = (suite, format!("{case}_{}", test.number));
        while !self.taken.insert(name.clone()) {
            name.1 += "_again";
        }
        name
    }
}
