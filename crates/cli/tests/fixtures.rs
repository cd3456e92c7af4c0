//! Every fixture of `tests/fixtures`: the program, the question and the answer in one C file.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use expect_test::expect;
use tempfile::TempDir;

use fixture::Fixture;
use tool::Run;

#[path = "support/fixture.rs"]
mod fixture;
#[path = "support/judge.rs"]
mod judge;
#[path = "support/tool.rs"]
mod tool;
#[path = "support/workers.rs"]
mod workers;

/// Each test runs its own workers: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

/// All fixtures by name; `BRANCHWISE_FIXTURES=TEXT` takes only those whose name contains the text.
fn all_fixtures() -> Vec<PathBuf> {
    let wanted = std::env::var("BRANCHWISE_FIXTURES").unwrap_or_default();
    let entries = fs::read_dir(folder()).expect("the folder of fixtures can be read").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"));
    paths.retain(|path| fixture::file_name(path).contains(&wanted));
    paths.sort();
    paths
}

fn folder_of(name: &str) -> PathBuf {
    folder().join(name)
}

fn named(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| folder().join(name).with_extension("c")).collect()
}

/// Checks the files on a few workers; panics with everything that is wrong, in the order of the files.
fn check_all(paths: &[PathBuf], check: impl Fn(&Path) -> Vec<String> + Sync) {
    let mut wrong: Vec<String> = workers::map(paths, |path| check(path)).into_iter().flatten().collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{} differences in {} files:\n{}\n", wrong.len(), paths.len(), wrong.join("\n"));
}

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

fn generate(fixture: &Fixture, more: &[&str], folder: &Path) -> Run {
    let steps = fixture.steps.to_string();
    let mut arguments = vec!["--function", &fixture.entry, "--steps", &steps];
    arguments.extend(fixture.scope.iter().flat_map(|scope| ["--scope", scope]));
    arguments.extend(fixture.options.iter().map(String::as_str));
    arguments.extend(more);
    tool::generate(&fixture.path, &arguments, &fixture.flags, folder)
}

/// What is wrong with a fixture, or with what the tool says of it.
fn differences(path: &Path) -> Vec<String> {
    let folder = temporary();
    let judged = Fixture::read(path).and_then(|fixture| {
        let json = generate(&fixture, &[], folder.path()).json()?;
        Ok(judge::differences(&fixture, &json))
    });
    judged.unwrap_or_else(|error| vec![format!("{}: {error}", fixture::file_name(path))])
}

#[test]
fn every_fixture_has_its_answers() {
    let _alone = alone();
    let paths = all_fixtures();
    assert!(!paths.is_empty(), "no fixtures in {}", folder().display());
    check_all(&paths, differences);
}

#[test]
fn wrong_missing_and_superfluous_answers_are_reported() {
    let _alone = alone();
    let folder = temporary();
    let path = folder.path().join("broken.c");
    let text = "// entry: broken   criterion: branch   finding: null_dereference@3
int broken(int x) {
    if (x > 10)   //~ true: covered, false: infeasible
        return 1;
    if (x > 20)
        return 2;
    return 0;   //~ true: covered, false: covered
}
";
    fs::write(&path, text).expect("the temporary folder can be written");
    expect![[r#"
        broken.c:3: `x > 10` expected true: covered, false: infeasible, got true: covered, false: covered
        broken.c:5: not annotated: `x > 20` true: infeasible, false: covered
        broken.c:7: annotated, but nothing counts here
        broken.c: no finding null_dereference@3"#]]
    .assert_eq(&differences(&path).join("\n"));
}

/// A compiler that must accept a file without a warning.
fn strict(compiler: &str, arguments: &[OsString]) -> Command {
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror"]).args(arguments);
    command
}

/// Compiles with every warning an error, and runs.
fn compiles_and_passes(compiler: &str, sources: &[PathBuf], libraries: &[&str], folder: &Path) -> Result<(), String> {
    let program = folder.join("program");
    let mut arguments: Vec<_> = sources.iter().map(|path| path.clone().into_os_string()).collect();
    arguments.extend(["-o".into(), program.clone().into_os_string()]);
    arguments.extend(libraries.iter().map(Into::into));
    let compiled = tool::run(strict(compiler, &arguments), folder);
    if compiled.status != Some(0) {
        return Err(format!("{compiler} does not accept the tests:\n{}", compiled.errors));
    }
    let passed = tool::run(Command::new(&program), folder);
    let text = || format!("{}{}", passed.output, passed.errors);
    if passed.status == Some(0) { Ok(()) } else { Err(format!("the tests do not pass ({compiler}):\n{}", text())) }
}

fn emitted(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("out")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| extensions.iter().any(|extension| path.extension().is_some_and(|found| found == *extension)));
    paths.sort();
    paths
}

fn check_emitted(path: &Path, check: impl Fn(&Fixture, &Path) -> Result<(), String>, emit: &[&str]) -> Vec<String> {
    let folder = temporary();
    let checked = Fixture::read(path).and_then(|fixture| {
        generate(&fixture, emit, folder.path()).json()?;
        check(&fixture, folder.path())
    });
    checked.err().map(|error| format!("{}: {error}", fixture::file_name(path))).into_iter().collect()
}

#[test]
fn emitted_tests_in_plain_c_compile_without_a_warning_and_pass() {
    let _alone = alone();
    let paths = named(&[
        "array_parameter",
        "array_variable_length_parameter",
        "bad_exit",
        "bad_null",
        "calendar",
        "global_array_elsewhere",
        "global_elsewhere",
        "global_input",
        "global_struct",
        "heap_aligned",
        "heap_may_fail",
        "if_chain",
        "int_bool",
        "int_long_long",
        "pointer_list",
        "pointer_output",
        "static_function",
        "stream_given",
        "stream_given_in_struct",
        "stream_given_position",
        "stream_given_written",
        "struct_bit_fields",
        "struct_by_value",
        "struct_result",
        "struct_unnamed",
        "struct_unnamed_result",
        "stub_emitted",
        "stub_pointer_parameter",
        "stub_types",
        "switch_on_char",
        "triangle",
        "union_parameter",
    ]);
    let check = |_: &Fixture, folder: &Path| {
        let sources = emitted(folder, &["c"]);
        ["clang-19", "gcc"].into_iter().try_for_each(|compiler| compiles_and_passes(compiler, &sources, &[], folder))
    };
    check_all(&paths, |path| check_emitted(path, check, &[]));
}

/// What the tests of a framework include, compiled once for each compiler.
struct Framework {
    /// How the names of its test files end.
    ending: &'static str,
    /// Flags that take the precompiled header.
    flags: Vec<OsString>,
    libraries: Vec<OsString>,
}

impl Framework {
    fn google_test(compiler: &str, folder: &Path) -> Self {
        let flags = precompiled(compiler, "#include <gtest/gtest.h>\n", &folder.join(format!("gtest-{compiler}.hpp")));
        let libraries = ["-lgtest", "-lgtest_main", "-lpthread"].map(OsString::from).to_vec();
        Framework { ending: "_gtest.cpp", flags, libraries }
    }

    fn catch2(compiler: &str, folder: &Path) -> Self {
        let header = folder.join(format!("catch2-{compiler}.hpp"));
        let flags = precompiled(compiler, "#include <catch2/catch.hpp>\n", &header);
        let source = folder.join("main.cpp");
        fs::write(&source, "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n").expect("writable");
        let object = folder.join(format!("main-{compiler}.o"));
        run_compiler(compiler, &["-c".into(), source.into(), "-o".into(), object.clone().into()], folder);
        Framework { ending: "_catch2.cpp", flags, libraries: vec![object.into()] }
    }
}

fn precompiled(compiler: &str, text: &str, header: &Path) -> Vec<OsString> {
    fs::write(header, text).expect("writable");
    let mut output = header.to_path_buf().into_os_string();
    output.push(".gch");
    let arguments = ["-x".into(), "c++-header".into(), header.into(), "-o".into(), output.clone()];
    run_compiler(compiler, &arguments, header.parent().expect("in a folder"));
    match compiler {
        "g++" => vec!["-include".into(), header.into()],
        _ => vec!["-include-pch".into(), output],
    }
}

fn run_compiler(compiler: &str, arguments: &[OsString], folder: &Path) {
    let compiled = tool::run(strict(compiler, arguments), folder);
    assert_eq!(compiled.status, Some(0), "{compiler}: {}", compiled.errors);
}

/// Every fixture of C++ as plain tests and for both frameworks; the compilers take turns.
#[test]
fn emitted_tests_in_cpp_compile_without_a_warning_and_pass() {
    let _alone = alone();
    let mut paths = all_fixtures();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cpp"));
    let headers = temporary();
    let compilers = ["clang++-19", "g++"];
    let frameworks = compilers.map(|compiler| {
        [Framework::google_test(compiler, headers.path()), Framework::catch2(compiler, headers.path())]
    });
    let check = |turn: usize, fixture: &Fixture, folder: &Path| {
        let opens_classes = fixture.options.iter().any(|option| option == "--private");
        let plain = Framework { ending: "_test.cpp", flags: Vec::new(), libraries: Vec::new() };
        let (one, other) = (turn % 2, (turn + 1) % 2);
        let google_test = (other, &frameworks[other][0]);
        let catch2 = (turn / 2 % 2, &frameworks[turn / 2 % 2][1]);
        for (compiler, framework) in [(one, &plain), google_test, catch2] {
            let is_its = |path: &PathBuf| fixture::file_name(path).ends_with(framework.ending);
            let mut sources: Vec<PathBuf> = emitted(folder, &["cpp"]).into_iter().filter(is_its).collect();
            assert!(!sources.is_empty(), "no {} in {}", framework.ending, folder.display());
            sources.extend(framework.flags.iter().map(PathBuf::from));
            sources.extend(opens_classes.then(|| PathBuf::from("-fno-access-control")));
            let libraries: Vec<&str> = framework.libraries.iter().filter_map(|name| name.to_str()).collect();
            compiles_and_passes(compilers[compiler], &sources, &libraries, folder)
                .map_err(|error| format!("{}: {error}", framework.ending))?;
        }
        Ok(())
    };
    let formats = ["--emit", "c", "--emit", "gtest", "--emit", "catch2"];
    let turn = |path: &Path| paths.iter().position(|other| other == path).unwrap_or(0);
    check_all(&paths, |path| check_emitted(path, |fixture, folder| check(turn(path), fixture, folder), &formats));
}

/// Objects by name, what they show, and the class of what is thrown.
#[test]
fn tests_of_cpp_read_as_people_write_them() {
    let _alone = alone();
    let folder = temporary();
    let fixture = Fixture::read(&folder_of("cpp_observed_state.cpp")).expect("a fixture");
    generate(&fixture, &["--emit", "gtest", "--emit", "catch2"], folder.path()).json().expect("a report");
    let emitted = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).expect("was written");
    let tests_of = |text: &str, head: &str| {
        let from = text.find(head).unwrap_or_default();
        text[from..].lines().filter(|line| !line.starts_with(['#', '/', ' ']) || line.starts_with("    ")).fold(
            String::new(),
            |kept, line| match line.is_empty() {
                true => kept,
                false => kept + line + "\n",
            },
        )
    };
    expect![[r#"
        TEST(Shelf, take_1)
        {
            unsigned int count = 0;
            Shelf shelf{};
            EXPECT_THROW(shelf.take(count), std::out_of_range);
        }
        TEST(Shelf, take_2)
        {
            unsigned int count = 0;
            Shelf shelf{};
            std::string name;
            shelf.put(name, 1);
            EXPECT_EQ(shelf.take(count), "");
            EXPECT_EQ(shelf.total(), 1u);
            EXPECT_FALSE(shelf.empty());
            EXPECT_EQ(shelf.level(), Level::few);
            EXPECT_EQ(shelf.names(), std::vector<std::string>{""});
        }
        TEST(Shelf, take_3)
        {
            unsigned int count = 2;
            Shelf shelf{};
            std::string name;
            shelf.put(name, 1);
            EXPECT_EQ(shelf.take(count), "too many");
            EXPECT_EQ(shelf.total(), 1u);
            EXPECT_FALSE(shelf.empty());
            EXPECT_EQ(shelf.level(), Level::few);
            EXPECT_EQ(shelf.names(), std::vector<std::string>{""});
        }
        TEST(Shelf, take_4)
        {
            unsigned int count = 1;
            Shelf shelf{};
            std::string name{"a"};
            shelf.put(name, 1);
            EXPECT_EQ(shelf.take(count), "a");
            EXPECT_EQ(shelf.total(), 0u);
            EXPECT_TRUE(shelf.empty());
            EXPECT_EQ(shelf.level(), Level::none);
            EXPECT_EQ(shelf.names(), std::vector<std::string>{});
        }
    "#]]
    .assert_eq(&tests_of(&emitted("cpp_observed_state_gtest.cpp"), "TEST("));
    expect![[r#"
        TEST_CASE("Shelf: take_1", "[Shelf]")
        {
            unsigned int count = 0;
            Shelf shelf{};
            CHECK_THROWS_AS(shelf.take(count), std::out_of_range);
        }
        TEST_CASE("Shelf: take_2", "[Shelf]")
        {
            unsigned int count = 0;
            Shelf shelf{};
            std::string name;
            shelf.put(name, 1);
            CHECK(shelf.take(count) == "");
            CHECK(shelf.total() == 1u);
            CHECK_FALSE(shelf.empty());
            CHECK(shelf.level() == Level::few);
            CHECK(shelf.names() == std::vector<std::string>{""});
        }
        TEST_CASE("Shelf: take_3", "[Shelf]")
        {
            unsigned int count = 2;
            Shelf shelf{};
            std::string name;
            shelf.put(name, 1);
            CHECK(shelf.take(count) == "too many");
            CHECK(shelf.total() == 1u);
            CHECK_FALSE(shelf.empty());
            CHECK(shelf.level() == Level::few);
            CHECK(shelf.names() == std::vector<std::string>{""});
        }
        TEST_CASE("Shelf: take_4", "[Shelf]")
        {
            unsigned int count = 1;
            Shelf shelf{};
            std::string name{"a"};
            shelf.put(name, 1);
            CHECK(shelf.take(count) == "a");
            CHECK(shelf.total() == 0u);
            CHECK(shelf.empty());
            CHECK(shelf.level() == Level::none);
            CHECK(shelf.names() == std::vector<std::string>{});
        }
    "#]]
    .assert_eq(&tests_of(&emitted("cpp_observed_state_catch2.cpp"), "TEST_CASE("));
}

#[test]
fn emitted_tests_for_google_test_compile_without_a_warning_and_pass() {
    let _alone = alone();
    let paths = named(&["if_chain", "stream_given_written", "struct_by_value", "stub_emitted", "triangle"]);
    check_all(&paths, |path| check_emitted(path, google_test, &["--emit", "gtest"]));
}

/// What is written in C is compiled as C, and linked with the C++ tests.
fn google_test(_: &Fixture, folder: &Path) -> Result<(), String> {
    for (c_compiler, compiler) in [("gcc", "g++"), ("clang-19", "clang++-19")] {
        let mut sources = emitted(folder, &["cc", "cpp"]);
        if sources.is_empty() {
            return Err("no tests for GoogleTest were written".to_string());
        }
        for source in emitted(folder, &["c"]) {
            let object = source.with_extension("o");
            let arguments = ["-c".into(), source.into_os_string(), "-o".into(), object.clone().into_os_string()];
            let compiled = tool::run(strict(c_compiler, &arguments), folder);
            if compiled.status != Some(0) {
                return Err(format!("{c_compiler} does not accept the tests:\n{}", compiled.errors));
            }
            sources.push(object);
        }
        compiles_and_passes(compiler, &sources, &["-lgtest", "-lgtest_main", "-lpthread"], folder)?;
    }
    Ok(())
}

/// Everything that a run leaves behind, without the seconds it took.
fn traces(fixture: &Fixture, folder: &Path) -> Vec<(String, String)> {
    let run = generate(fixture, &[], folder);
    let mut traces = vec![("standard output".to_string(), without_seconds(&run.output))];
    for path in emitted(folder, &["c", "json"]) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        traces.push((fixture::file_name(&path), without_seconds(&text)));
    }
    let _ = fs::remove_dir_all(folder.join("out"));
    traces
}

fn without_seconds(text: &str) -> String {
    let mut parts = text.split("\"seconds\":");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |kept, part| {
        let end = part.find([',', '}', '\n']).unwrap_or(part.len());
        kept + &part[end..]
    })
}

#[test]
fn the_same_seed_and_steps_give_the_same_bytes() {
    let _alone = alone();
    let paths = named(&[
        "array_write",
        "bad_division",
        "hard_hash",
        "if_chain",
        "loop_bubble_sort",
        "loop_string_length",
        "pointer_walk",
        "struct_copy",
        "switch_duff",
        "triangle",
    ]);
    check_all(&paths, |path| {
        let folder = temporary();
        let fixture = match Fixture::read(path) {
            Ok(fixture) => fixture,
            Err(error) => return vec![error],
        };
        let (first, second) = (traces(&fixture, folder.path()), traces(&fixture, folder.path()));
        let name = fixture::file_name(path);
        if first.len() < 2 {
            return vec![format!("{name}: nothing was written")];
        }
        let differ = first.iter().zip(&second).filter(|(first, second)| first != second);
        differ.map(|(first, _)| format!("{name}: {} differs between two runs", first.0)).collect()
    });
}

/// The loop of `endless_or_not` is met first with a step that never leaves it.
#[test]
fn a_test_that_returns_is_preferred() {
    let _alone = alone();
    let folder = temporary();
    let fixture = Fixture::read(&named(&["endless_or_not"])[0]).expect("a fixture");
    let json = generate(&fixture, &[], folder.path()).json().expect("a report");
    let tests = json["functions"][0]["tests"].as_array().expect("tests");
    assert!(!tests.is_empty());
    assert!(tests.iter().all(|test| test["observed"]["end"] == "returned"), "{tests:?}");
}

/// What is not aimed at may be feasible where what implies it is not: every goal keeps its verdict.
#[test]
fn the_aim_changes_no_verdict() {
    let _alone = alone();
    let names = ["call_reachable", "do_loop", "if_nested", "infeasible_assignments", "infeasible_flag", "paper_climb"];
    check_all(&named(&names), |path| {
        let folder = temporary();
        let judged = Fixture::read(path).and_then(|fixture| {
            let json = generate(&fixture, &["--aim", "unconstrained"], folder.path()).json()?;
            let work = &json["functions"][0]["work"];
            let goals = json["functions"][0]["summary"]["goals"].as_u64();
            let mut wrong = judge::differences(&fixture, &json);
            if work["aimed"].as_u64() >= goals || work["unconstrained_edges"].as_u64() >= work["edges"].as_u64() {
                wrong.push(format!("{}: nothing is implied: {work}", fixture.entry));
            }
            Ok(wrong)
        });
        judged.unwrap_or_else(|error| vec![format!("{}: {error}", fixture::file_name(path))])
    });
}
