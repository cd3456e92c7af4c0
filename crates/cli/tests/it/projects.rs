//! Many files and functions: projects by their compile commands, several functions at a time, and limits that hold.

use crate::support::folder::{self, Folder};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::support::tree;
use expect_test::{Expect, expect};
use serde_json::{Value as Json, json};

const FIRST: &str = "int helper(int x) { if (x > 3) return 1; return 0; }\n\
                     int first(int a, int b) { if (a + b == 391 && a > 1 && b > 1) return helper(a); return 2; }\n\
                     int loops(int n) { int s = 0; for (int i = 0; i < n && i < 20; i++) s += i; return s == 45; }\n";
const SECOND: &str = "#ifndef LIMIT\n#error no limit\n#endif\n#include \"second.h\"\n\
                      int second(int x) { if (x == LIMIT + OFFSET) return 1; return 0; }\n";

struct Project {
    folder: Folder,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = folder::temporary();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
            std::fs::write(path, text).expect("a writable folder");
        }
        Project { folder }
    }

    fn with_commands(files: &[(&str, &str)], commands: &Json) -> Self {
        let project = Project::new(files);
        let text = commands.to_string().replace("ROOT", &project.root().display().to_string());
        std::fs::write(project.folder.path().join("compile_commands.json"), text).expect("a writable folder");
        project
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().canonicalize().expect("the folder is there")
    }

    fn generate(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
        command.arg("generate").args(arguments).current_dir(self.folder.path()).env("NO_COLOR", "1");
        command.output().expect("branchwise runs")
    }

    /// Runs the lines that the head of emitted tests tells to compile and run them, with compilers of two makers.
    fn compile_as_told(&self, emitted: &str) {
        let text = std::fs::read_to_string(self.folder.path().join("branchwise-out").join(emitted));
        let text = text.expect("the emitted tests");
        let told = text.split_once("Compile and run:\n").expect("a head").1;
        let lines: Vec<&str> = told.lines().map_while(|line| line.strip_prefix("       ")).collect();
        assert!(!lines.is_empty(), "{text}");
        for (c, cpp) in [("gcc ", "g++ "), ("clang-19 ", "clang++-19 ")] {
            for line in &lines {
                let line = match line.strip_prefix("cc ") {
                    Some(rest) => format!("{c}{rest}"),
                    None => line.replacen("c++ ", cpp, 1),
                };
                let output = Command::new("sh").args(["-c", &line]).current_dir(self.folder.path()).output();
                let output = output.expect("a shell");
                assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }

    /// Messages, exit status and the functions of the JSON report.
    fn check(&self, arguments: &[&str], expected: Expect) {
        let output = self.generate(&[&["--json", "--steps", "50", "--jobs", "1", "--replace"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr).replace(&self.root().display().to_string(), "ROOT");
        let progress = |line: &&str| !line.starts_with('[') && !line.starts_with("replaying");
        let errors: Vec<&str> = errors.lines().filter(progress).collect();
        let report: Json = serde_json::from_slice(&output.stdout).unwrap_or(Json::Null);
        let functions = report["functions"].as_array().into_iter().flatten();
        let summary = |function: &Json| {
            let (file, name, summary) = (&function["file"], &function["name"], &function["summary"]);
            format!("{file} {name}: {} of {}", summary["covered"], summary["goals"])
        };
        let functions: Vec<String> = functions.map(summary).collect();
        let status = output.status.code().unwrap_or(-1);
        expected.assert_eq(&format!("{}\n{}\nexit status {status}\n", functions.join("\n"), errors.join("\n")));
    }
}

/// Everything that a run leaves and prints, without the seconds.
fn result_of(project: &Project, arguments: &[&str]) -> BTreeMap<String, String> {
    let out = project.folder.path().join("out");
    let _ = std::fs::remove_dir_all(&out);
    let output = project.generate(&[&["--json", "--quiet", "--out", "out"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let timeless = |text: &str| {
        let lines = text.lines().filter(|line| !line.contains("\"seconds\""));
        lines.collect::<Vec<_>>().join("\n")
    };
    let mut result = BTreeMap::from([("stdout".to_owned(), timeless(&String::from_utf8_lossy(&output.stdout)))]);
    result.extend(tree::texts(&out).into_iter().map(|(name, text)| (name, timeless(&text))));
    result
}

pub fn the_number_of_jobs_does_not_show_in_the_result() {
    let files =
        [("a/unit.c", FIRST), ("b/unit.c", FIRST), ("third.c", "int third(int x) { return x == 7 ? 1 : 2; }\n")];
    let project = Project::new(&files);
    let run = |jobs: &str| {
        let arguments = ["a/unit.c", "b/unit.c", "third.c", "--steps", "80", "--seed", "5", "--jobs", jobs];
        result_of(&project, &arguments)
    };
    let alone = run("1");
    let names: Vec<&str> = alone.keys().map(String::as_str).filter(|name| !name.starts_with("report/")).collect();
    assert_eq!(names, ["report.json", "stdout", "suite.json", "third_test.c", "unit_2_test.c", "unit_test.c"]);
    assert!(alone["unit_2_test.c"].contains("b/unit.c"), "the tests of the second file are those of the second file");
    for jobs in ["2", "5"] {
        assert_eq!(run(jobs), alone);
    }
}

pub fn a_project_is_read_from_its_compile_commands() {
    let commands = json!([
        { "directory": "ROOT/build", "file": "../src/second.c",
          "command": "gcc -I../include -DLIMIT=40 -O2 -MD -MF second.d -o second.o -c ../src/second.c" },
        { "directory": "ROOT", "file": "first.c", "arguments": ["cc", "-c", "first.c", "-o", "first.o"] },
        { "directory": "ROOT", "file": "first.c", "arguments": ["cc", "-DTWICE", "-c", "first.c"] },
        { "directory": "ROOT", "file": "shapes.cpp", "arguments": ["c++", "-c", "shapes.cpp"] },
        { "directory": "ROOT", "file": "gone.c", "arguments": ["cc", "-c", "gone.c"] },
        { "directory": "ROOT", "file": "listed.c", "arguments": ["cc", "@flags.txt", "-c", "listed.c"] },
        { "directory": "ROOT", "file": "lost.c", "arguments": ["cc", "@lost.txt", "-c", "lost.c"] },
    ]);
    let listed = "#ifdef ON\nint listed(int x) { return x ? 1 : 2; }\n#endif\n";
    let files = [
        ("first.c", FIRST),
        ("src/second.c", SECOND),
        ("include/second.h", "#define OFFSET 2\n"),
        ("shapes.cpp", "class A {};\nint area(int x) { if (x > 3) return 1; return 0; }\n"),
        ("flags.txt", "-DON\n"),
        ("listed.c", listed),
        ("lost.c", listed),
        ("other/first.c", FIRST),
    ];
    let project = Project::with_commands(&files, &commands);
    std::fs::create_dir(project.folder.path().join("build")).expect("a writable folder");
    project.check(&["-p", ".", "--trust-flags"], expect![[r#"
        "src/second.c" "second": 2 of 2
        "first.c" "helper": 2 of 2
        "first.c" "first": 6 of 6
        "first.c" "loops": 4 of 4
        "shapes.cpp" "area": 2 of 2
        "listed.c" "listed": 2 of 2
        Note: ROOT/first.c has several compile commands: the first one is used
        Error: the flags of lost.c are not known: cannot read its response file ROOT/lost.txt: No such file or directory (os error 2)
        Hint: build the project first, or give the flags after -- without -p
        Error: cannot read gone.c: No such file or directory (os error 2)
        exit status 3
    "#]]);
    project.check(
        &["-p", ".", "src/second.c", "--", "-ULIMIT", "-DLIMIT=50"],
        expect![[r#"
        "src/second.c" "second": 2 of 2
        Note: ROOT/first.c has several compile commands: the first one is used
        exit status 0
    "#]],
    );
    project.check(
        &["-p", ".", "other/first.c", "first.c"],
        expect![[r#"
        "first.c" "helper": 2 of 2
        "first.c" "first": 6 of 6
        "first.c" "loops": 4 of 4
        Note: ROOT/first.c has several compile commands: the first one is used
        Error: other/first.c is not in the compile commands of .
        Hint: did you mean first.c? Without -p, give the flags after --
        exit status 3
    "#]],
    );
}

pub fn compile_commands_that_cannot_be_used() {
    let project = Project::new(&[
        ("first.c", FIRST),
        ("broken/compile_commands.json", "[\n  { \"file\": \"a.c\",, }\n]\n"),
        ("empty/compile_commands.json", "[]"),
        ("object/compile_commands.json", "{}"),
    ]);
    project.check(&["-p", "."], expect![[r#"

        Error: cannot read ./compile_commands.json: No such file or directory (os error 2)
        Hint: name the folder with compile_commands.json (CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, other builds under `bear -- make`)
        exit status 3
    "#]]);
    project.check(
        &["-p", "broken"],
        expect![[r#"

        Error: broken/compile_commands.json is not valid JSON: key must be a string at line 2 column 19
        Hint: let the build write it again
        exit status 3
    "#]],
    );
    project.check(&["-p", "empty"], expect![[r#"

        Error: empty/compile_commands.json has no entries
        Hint: name the folder with compile_commands.json (CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, other builds under `bear -- make`)
        exit status 3
    "#]]);
    project.check(&["-p", "object", "first.c"], expect![[r#"

        Error: object/compile_commands.json is not a list of compile commands
        Hint: name the folder with compile_commands.json (CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, other builds under `bear -- make`)
        exit status 3
    "#]]);
}

/// Every bit of `x` doubles the number of paths, and none of them reaches the goal behind.
const EXPLODING: &str = "int explode(unsigned long x) {\n    int n = 0;\n\
    for (int i = 0; i < 60; i++) { if (x >> i & 1) n++; }\n\
    return n > 60 ? 1 : 0;\n}\nint small(int x) { return x > 4 ? 1 : 2; }\n";

fn reasons(output: &Output) -> Vec<String> {
    let report: Json = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let goals = report["functions"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|function| function["goals"].as_array().cloned().unwrap_or_default());
    goals.filter_map(|goal| goal["reason"]["message"].as_str().map(str::to_owned)).collect()
}

pub fn the_memory_limit_ends_a_function_and_keeps_what_was_found() {
    let project = Project::new(&[("explode.c", EXPLODING)]);
    let limits = ["--memory", "4", "--steps", "1000000", "--strategy", "concolic"];
    let output = project.generate(&[&["explode.c", "--json", "--quiet"][..], &limits].concat());
    assert!(output.status.success());
    let reasons = reasons(&output);
    assert!(!reasons.is_empty() && reasons.iter().all(|reason| reason.starts_with("memory limit")), "{reasons:?}");
    let report: Json = serde_json::from_slice(&output.stdout).expect("a JSON report");
    assert!(report["functions"][0]["summary"]["tests"].as_u64() > Some(0));
    assert_eq!(report["functions"][1]["summary"]["covered"], 2);
}

pub fn what_single_paths_never_end_with_is_decided_by_all_ways_at_once() {
    let project = Project::new(&[("explode.c", EXPLODING)]);
    let output = project.generate(&["explode.c", "--json", "--quiet", "--steps", "2000"]);
    let report: Json = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let summary = &report["functions"][0]["summary"];
    assert_eq!((&summary["infeasible"], &summary["unknown"]), (&1.into(), &0.into()), "{summary}");
}

/// One path of many million instructions, on values that are symbolic from the first of them on.
const LONG: &str = "int longest(unsigned x) {\n    unsigned s = x;\n\
    for (unsigned i = 0; i < 400000000u; i++) s = s * 1664525u + (s >> 7) + i;\n\
    return s == 77 ? 1 : 0;\n}\n";

pub fn the_time_limit_holds_within_one_path() {
    let project = Project::new(&[("long.c", LONG)]);
    let started = Instant::now();
    let output = project.generate(&["long.c", "--json", "--quiet", "--time", "1"]);
    assert!(output.status.success());
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    // The end of the path was not reached, so what comes there is open, by the time or by a bound.
    let report: Json = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let summary = &report["functions"][0]["summary"];
    assert!(
        summary["unknown"].as_u64() > Some(0) || summary["infeasible_within_bounds"].as_u64() > Some(0),
        "{summary}"
    );
    assert_eq!(summary["infeasible"], 0);
    assert!(Path::new(&project.folder.path().join("branchwise-out/report.json")).exists());
}

const APPLICATION: &str = "int scaled(int x);\nint next_number(void);\nint setting(void);\nint nobody(int x);\nextern int limit;\n\
    static int helper(int x) { return x + 1; }\n\
    int is_even(int x) { if (x % 2 == 0) return 1; return 0; }\n\
    int classify(int x) { if (scaled(x) == 84) return 1; if (scaled(x) == 43) return 2; return x > limit; }\n\
    int own(int x) { if (helper(x) == 8) return 1; return nobody(x) == 3; }\n\
    int numbered(void) { if (next_number() == 3) return 1; return 0; }\n\
    int set(void) { if (setting() == 5) return 1; return 0; }\n\
    int main(void) { return classify(3); }\n";
const PARTS: &str = "#include <stdlib.h>\nint is_even(int x);\nint never_there(void);\nint limit = 7, chosen = 3;\nstatic int counter;\n\
    int helper(int x) { return 2 * x; }\n\
    int scaled(int x) { int *p = malloc(4), r; if (!p) abort(); *p = is_even(x) ? helper(x) : x; r = *p; free(p); return r; }\n\
    int next_number(void) { return ++counter; }\n\
    int setting(void) { return chosen; }\n\
    int elsewhere(void) { return never_there(); }\n\
    int main(void) { return scaled(1); }\n";

/// A function of another given file runs; static names stay apart, and what nobody defines is a stub as ever.
pub fn files_given_together_are_linked() {
    let project = Project::new(&[("app.c", APPLICATION), ("parts.c", PARTS)]);
    let functions = ["classify", "own", "numbered", "set"].map(|name| ["--function", name]).concat();
    project.check(
        &[&["app.c", "parts.c"], &functions[..]].concat(),
        expect![[r#"
        "app.c" "classify": 4 of 4
        "app.c" "own": 2 of 2
        "app.c" "numbered": 2 of 2
        "app.c" "set": 1 of 2
        Note: not linked, because several files define it: main (app.c, parts.c)
        exit status 0
    "#]],
    );
    let report = branchwise_results::load(&project.folder.path().join("branchwise-out")).expect("a report");
    let report = serde_json::to_value(report).expect("JSON");
    let goals = report["functions"].as_array().into_iter().flatten().flat_map(|function| function["goals"].as_array());
    let open: Vec<String> = goals
        .flatten()
        .filter(|goal| goal["verdict"] != "covered")
        .map(|goal| format!("{} {}: {}", goal["text"], goal["outcome"], goal["verdict"]))
        .collect();
    expect![[r#""setting() == 5" true: "infeasible_within_bounds""#]].assert_eq(&open.join("\n"));
    project.compile_as_told("app_test.c");
    let mut replay = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    let output = replay.args(["replay", "branchwise-out"]).current_dir(project.folder.path()).output();
    expect![[r#"
        function  tests  returned  outcomes  covered  llvm-cov
        classify      3         3         4        4         4
        own           2         2         2        2         2
        numbered      1         1         2        2         2
        set           1         1         2        1         1
    "#]]
    .assert_eq(&String::from_utf8_lossy(&output.expect("branchwise runs").stdout));
}

const HEADER: &str = "#include <string>\nextern int opened;\nextern \"C\" int fee(int amount);\n\
    class account {\npublic:\n    explicit account(std::string owner);\n    bool withdraw(int amount);\n\
    int balance() const { return balance_; }\n    const std::string &owner() const { return owner_; }\n    void deposit(int amount);\n\
    private:\n    std::string owner_;\n    int balance_ = 0;\n};\n\
    template <class T> T larger(T a, T b) { return a < b ? b : a; }\n";
const ACCOUNT: &str = "#include \"account.h\"\n#include <stdexcept>\nint opened = 3;\nstatic std::string prefix(\"nr \");\n\
    account::account(std::string owner) : owner_(prefix + owner) { if (opened < 9) opened++; }\n\
    bool account::withdraw(int amount) {\n    if (amount > balance_) return false;\n    balance_ -= amount;\n    return true;\n}\n\
    void account::deposit(int amount) {\n    if (amount <= 0 || amount > 1000) throw std::invalid_argument(\"amount\");\n\
    balance_ += larger(amount, 5) - fee(amount);\n}\n";
const TRANSFER: &str = "#include \"account.h\"\n#include <stdexcept>\nint transfer(int first, int amount) {\n    account from(\"7\");\n\
    try {\n        from.deposit(first);\n        if (!from.withdraw(amount)) return -1;\n    } catch (const std::invalid_argument &) {\n\
    return -2;\n    }\n    if (larger(from.balance(), 7) == 100 && opened == 4) return 1;\n    return from.owner() == \"nr 7\" ? 2 : 3;\n}\n";

/// Methods, constructors of global objects, exceptions and instances of templates across files, one of them C.
pub fn files_of_cpp_given_together_are_linked() {
    let fee = "int fee(int amount) { if (amount > 500) return 2; return 1; }\n";
    let files = [("account.h", HEADER), ("account.cpp", ACCOUNT), ("transfer.cpp", TRANSFER), ("fee.c", fee)];
    let project = Project::new(&files);
    project.check(
        &["transfer.cpp", "account.cpp", "fee.c"],
        expect![[r#"
        "./account.h" "account::balance": 0 of 0
        "./account.h" "account::owner": 0 of 0
        "./account.h" "larger": 2 of 2
        "transfer.cpp" "transfer": 7 of 8
        "./account.h" "account::balance": 0 of 0
        "./account.h" "account::owner": 0 of 0
        "./account.h" "larger": 2 of 2
        "account.cpp" "account::account": 2 of 2
        "account.cpp" "account::withdraw": 2 of 2
        "account.cpp" "account::deposit": 4 of 4
        "fee.c" "fee": 2 of 2

        exit status 0
    "#]],
    );
    project.compile_as_told("transfer_test.cpp");
}
