//! Every fixture of `tests/fixtures`: the program, the question and the answer in one file. One case checks all that is
//! said of a fixture: verdicts, golden hashes, the emitted tests, the facts and random inputs.

use crate::support::folder::{self, Folder};
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use libtest_mimic::Trial;
use serde_json::Value as Json;

use crate::emitted;
use crate::support::fixture::{Fixture, file_name};
use crate::support::native::Subject;
use crate::support::reading::Options;
use crate::support::tool::{self, Run};
use crate::support::{case, facts, golden, judge, random_inputs, share};

/// How many random inputs a fixture gets; a soak takes so many times as many as it is asked for.
const RANDOM_INPUTS: u64 = 2;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

/// Returns a case for each fixture, those of C++ first, which take the longest.
pub fn cases() -> Vec<Trial> {
    let entries = fs::read_dir(folder()).expect("the folder of fixtures can be read").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| is_c(path) || is_cpp(path));
    paths.sort_by_key(|path| (is_c(path), path.clone()));
    let trial =
        |path: PathBuf| case::case(format!("fixtures::{}", file_name(&path)), move || case::result(everything(&path)));
    paths.into_iter().map(trial).collect()
}

fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c")
}

fn is_cpp(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cpp")
}

/// Returns all that is wrong with a fixture, or with what the tool says of it.
fn everything(path: &Path) -> Vec<String> {
    let folder = temporary();
    let checked = Fixture::read(path).and_then(|fixture| {
        let formats =
            if is_cpp(path) { ["--emit", "c", "--emit", "gtest", "--emit", "catch2"].as_slice() } else { &[] };
        let json = generate(&fixture, formats, folder.path()).report(folder.path())?;
        let name = format!("tests/fixtures/{}", file_name(path));
        let mut wrong: Vec<String> = golden::differences(&name, folder.path()).err().into_iter().collect();
        if golden::is_alone() {
            return Ok(wrong);
        }
        wrong.extend(judge::differences(&fixture, &json));
        if has_tests(&json) {
            wrong.extend(emitted::differences(&fixture, folder.path()));
        }
        if is_c(path) {
            wrong.extend(in_process(&fixture)?);
        }
        Ok(wrong)
    });
    checked.unwrap_or_else(|error| vec![format!("{}: {error}", file_name(path))])
}

/// Returns whether there is anything to emit.
fn has_tests(report: &Json) -> bool {
    let functions = report["functions"].as_array().into_iter().flatten();
    functions.flat_map(|function| function["tests"].as_array()).any(|tests| !tests.is_empty())
}

/// Loads the fixture once more, for what the command line does not show.
fn in_process(fixture: &Fixture) -> Result<Vec<String>, String> {
    let has = |wanted: &str| fixture.options.iter().any(|option| option == wanted);
    let options = Options {
        flags: &fixture.flags,
        allocations_fail: !has("allocation-succeeds"),
        set_statics: has("--set-statics"),
    };
    let mut subject = Subject::load(&fixture.path, &options)?;
    let mut wrong = facts::differences(fixture, &subject.program)?;
    let inputs = RANDOM_INPUTS * share::soak().map_or(1, |times| 50 * times);
    wrong.extend(random_inputs::differences(fixture, &mut subject, inputs)?);
    Ok(wrong)
}

fn named(name: &str) -> Fixture {
    Fixture::read(&folder().join(name)).expect("a fixture")
}

fn temporary() -> Folder {
    folder::temporary()
}

/// Runs the tool on a fixture as it asks for; standard output is what people see.
fn generate(fixture: &Fixture, more: &[&str], folder: &Path) -> Run {
    let steps = fixture.steps.to_string();
    let mut arguments = vec!["--function", &fixture.entry, "--steps", &steps];
    arguments.extend(fixture.scope.iter().flat_map(|scope| ["--scope", scope]));
    arguments.extend(fixture.options.iter().map(String::as_str));
    arguments.extend(more);
    tool::generate_files(&fixture.path, &arguments, &fixture.flags, folder)
}

/// Returns what the judge says of a file.
fn differences(path: &Path) -> Vec<String> {
    let folder = temporary();
    let judged = Fixture::read(path).and_then(|fixture| {
        Ok(judge::differences(&fixture, &generate(&fixture, &[], folder.path()).report(folder.path())?))
    });
    judged.unwrap_or_else(|error| vec![format!("{}: {error}", file_name(path))])
}

pub fn wrong_missing_and_superfluous_answers_are_reported() {
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

/// Objects by name, what they show, and the class of what is thrown.
pub fn tests_of_cpp_read_as_people_write_them() {
    let folder = temporary();
    let fixture = named("cpp_observed_state.cpp");
    generate(&fixture, &["--emit", "gtest", "--emit", "catch2"], folder.path())
        .report(folder.path())
        .expect("a report");
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

/// The loop of `endless_or_not` is met first with a step that never leaves it.
pub fn a_test_that_returns_is_preferred() {
    let folder = temporary();
    let fixture = named("endless_or_not.c");
    let json = generate(&fixture, &[], folder.path()).report(folder.path()).expect("a report");
    let tests = json["functions"][0]["tests"].as_array().expect("tests");
    assert!(!tests.is_empty());
    assert!(tests.iter().all(|test| test["observed"]["end"] == "returned"), "{tests:?}");
}

/// What is not aimed at may be feasible where what implies it is not: every goal keeps its verdict.
pub fn the_aim_changes_no_verdict() {
    let names = ["call_reachable", "do_loop", "if_nested", "infeasible_assignments", "infeasible_flag", "paper_climb"];
    for name in names {
        let (folder, fixture) = (temporary(), named(&format!("{name}.c")));
        let run = generate(&fixture, &["--aim", "unconstrained"], folder.path());
        let json = run.report(folder.path()).expect("a report");
        assert_eq!(judge::differences(&fixture, &json), Vec::<String>::new());
        let work = &json["functions"][0]["work"];
        let goals = json["functions"][0]["summary"]["goals"].as_u64();
        let implied = work["aimed"].as_u64() < goals && work["unconstrained_edges"].as_u64() < work["edges"].as_u64();
        assert!(implied, "{}: nothing is implied: {work}", fixture.entry);
    }
}
