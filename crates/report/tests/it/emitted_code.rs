//! Emitted tests compile without a warning, with both compilers, and pass.

use crate::common;
use crate::kinds;
use crate::surroundings;

use std::path::{Path, PathBuf};
use std::process::Command;

use branchwise_report::{EmitFormat, FileReport, Origin, Suite, emit_c, emit_gtest, results, write_suite};
use branchwise_results::Run;
use common::Unit;
use expect_test::expect_file;

fn fixture() -> PathBuf {
    source("kinds.c")
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures").join(name)
}

/// Runs a command in a folder; its output, or what it printed when it failed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text) } else { Err(format!("{program} {arguments:?}: {text}")) }
}

const STRICT: [&str; 3] = ["-Wall", "-Wextra", "-Werror"];

fn compile_and_run_c(file: &FileReport, compiler: &str, level: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let emitted = emit_c(file, folder.path(), "kinds");
    std::fs::write(folder.path().join(&emitted.name), &emitted.text).expect("writable");
    let arguments = [&STRICT[..], &[level, "-o", "kinds_test", &emitted.name, "-lm"]].concat();
    run(folder.path(), compiler, &arguments)?;
    run(folder.path(), "./kinds_test", &[])
}

#[test]
fn the_c_file_reads_as_written_by_hand() {
    let unit = kinds::kinds(Path::new("kinds.c"));
    let emitted = emit_c(&unit.file_report(), Path::new("."), "kinds");
    expect_file!["fixtures/kinds_test.c"].assert_eq(&emitted.text);
}

#[test]
fn the_c_file_passes_with_both_compilers() {
    let unit = kinds::kinds(&fixture());
    for compiler in ["clang-19", "gcc"] {
        let output = compile_and_run_c(&unit.file_report(), compiler, "-O0").unwrap_or_else(|error| panic!("{error}"));
        assert!(output.ends_with("30 passed, 0 failed\n"), "{compiler}: {output}");
    }
}

#[test]
fn what_surrounds_a_call_reads_as_written_by_hand() {
    let unit = surroundings::surroundings(Path::new("surroundings.c"));
    let emitted = emit_c(&unit.file_report(), Path::new("."), "surroundings");
    expect_file!["fixtures/surroundings_test.c"].assert_eq(&emitted.text);
}

#[test]
fn stubs_input_and_earlier_calls_work_with_both_compilers() {
    let unit = surroundings::surroundings(&source("surroundings.c"));
    for (compiler, level) in [("clang-19", "-O0"), ("gcc", "-O2")] {
        let output = compile_and_run_c(&unit.file_report(), compiler, level).unwrap_or_else(|error| panic!("{error}"));
        assert!(output.ends_with("26 passed, 0 failed\n"), "{compiler}: {output}");
    }
}

#[test]
fn a_stub_stands_in_also_where_the_real_function_is_linked() {
    let unit = surroundings::surroundings(&source("surroundings.c"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let emitted = emit_c(&unit.file_report(), folder.path(), "unit");
    std::fs::write(folder.path().join(&emitted.name), &emitted.text).expect("writable");
    let real = "int read_sensor(int channel, int *value) { *value = 99; return channel; }\nint verbosity = 7;\n";
    std::fs::write(folder.path().join("real.c"), real).expect("writable");
    for compiler in ["clang-19", "gcc"] {
        run(folder.path(), compiler, &["-o", "tests", "unit_test.c", "real.c"])
            .unwrap_or_else(|error| panic!("{error}"));
        let output = run(folder.path(), "./tests", &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(output.ends_with("26 passed, 0 failed\n"), "{compiler}: {output}");
    }
}

#[test]
fn tests_that_keep_state_apart_pass_too() {
    let mut unit = kinds::kinds(&fixture());
    unit.keeps_state = true;
    let output = compile_and_run_c(&unit.file_report(), "gcc", "-O2").unwrap_or_else(|error| panic!("{error}"));
    assert!(output.ends_with("30 passed, 0 failed\n"), "{output}");
}

#[test]
fn a_wrong_expectation_fails_and_says_where() {
    let mut unit = kinds::kinds(&fixture());
    unit.report.functions.truncate(1);
    unit.report.functions[0].tests[0].observation.result = Some(common::ints(&[99]));
    let output = compile_and_run_c(&unit.file_report(), "gcc", "-O0").expect_err("one test fails");
    assert!(output.contains("failed: result == 99\nFAILED: test_trityp_1\n1 passed, 1 failed"), "{output}");
}

#[test]
fn google_test_runs_them_as_well() {
    for keeps_state in [false, true] {
        let mut unit = kinds::kinds(&fixture());
        unit.keeps_state = keeps_state;
        let output = compile_and_run_gtest(&unit).unwrap_or_else(|error| panic!("{error}"));
        assert!(output.contains("[  PASSED  ] 30 tests."), "{output}");
    }
}

fn compile_and_run_gtest(unit: &Unit) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for emitted in emit_gtest(&unit.file_report(), folder.path(), "kinds") {
        std::fs::write(folder.path().join(&emitted.name), &emitted.text).expect("writable");
    }
    let cases = [&STRICT[..], &["-c", "-o", "cases.o", "kinds_gtest.c"]].concat();
    run(folder.path(), "gcc", &cases)?;
    let runner = [&STRICT[..], &["-o", "runner", "kinds_gtest.cpp", "cases.o"]].concat();
    run(folder.path(), "g++", &[&runner[..], &["-lgtest", "-lgtest_main", "-lpthread"]].concat())?;
    run(folder.path(), "./runner", &[])
}

#[test]
fn google_test_gives_what_surrounds_a_call() {
    let unit = surroundings::surroundings(&source("surroundings.c"));
    let output = compile_and_run_gtest(&unit).unwrap_or_else(|error| panic!("{error}"));
    assert!(output.contains("[  PASSED  ] 26 tests."), "{output}");
}

#[test]
fn the_google_test_file_is_short() {
    let mut unit = kinds::kinds(Path::new("kinds.c"));
    unit.report.functions.retain(|function| function.tests.iter().any(|test| test.observation.result.is_none()));
    let emitted = emit_gtest(&unit.file_report(), Path::new("."), "kinds");
    expect_file!["fixtures/kinds_gtest.cpp"].assert_eq(&emitted[1].text);
}

#[test]
fn a_stored_suite_comes_back_as_it_was() {
    let unit = kinds::kinds(&fixture());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("new/folder");
    let formats = [EmitFormat::GoogleTest, EmitFormat::Plain];
    let origin =
        Origin { folder: Path::new("/started"), config: None, set_statics: false, instances: &[], allow_calls: &[] };
    let files = [unit.file_report()];
    let report = results(&files, Run::default());
    let written = write_suite(&out, origin, &files, &report, &formats).expect("writable");
    let names: Vec<_> = written.tests.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(names, ["kinds_test.c", "kinds_gtest.c", "kinds_gtest.cpp"]);
    let suite = Suite::load(&out).expect("just written");
    let cases = suite.files[0].cases(&unit.map).expect("the same map");
    let original = unit.report.functions.iter().flat_map(|unit| &unit.tests);
    for ((_, id, case), test) in cases.iter().zip(original) {
        assert_eq!((*id, &case.inputs), (test.id, &test.case.inputs));
        assert_eq!(case.objects.len(), test.case.objects.len());
    }
}

#[test]
fn a_folder_without_a_suite_is_an_error_with_a_hint() {
    let error = Suite::load(Path::new("/nowhere")).expect_err("there is none");
    assert_eq!(error.message, "cannot read /nowhere/suite.json: No such file or directory (os error 2)");
    assert_eq!(error.hint.as_deref(), Some("give a folder that `branchwise generate --out` wrote"));
}
