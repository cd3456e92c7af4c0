//! Bad input is normal input: what is said, the exit status, and that the other functions are still treated.

use crate::support::folder::{self, Folder};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};

use crate::support::tool;

/// Runs `branchwise generate` in a folder with these files.
fn generate(files: &[(&str, &str)], arguments: &[&str]) -> (Folder, Output) {
    let folder = folder::temporary();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a writable folder");
    }
    let output = command(folder.path(), arguments).output().expect("branchwise runs");
    (folder, output)
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    // One function at a time: progress lines come in the order of the functions then.
    command.args(["generate", "--jobs", "1"]).args(arguments).current_dir(folder).env("NO_COLOR", "1");
    command
}

fn check(files: &[(&str, &str)], arguments: &[&str], expected: Expect) {
    let (folder, output) = generate(files, arguments);
    let real = folder.path().canonicalize().expect("the folder is there");
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&format!("{}/", real.display()), "");
        text.lines().map(without_time).collect::<Vec<_>>().join("\n")
    };
    let shown = format!(
        "---- stdout\n{}\n---- stderr\n{}\n---- exit status {}\n",
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap_or(-1)
    );
    expected.assert_eq(&shown);
}

/// Seconds at the end of a row differ from run to run; so does the width of their column.
fn without_time(line: &str) -> String {
    if line.starts_with('─') {
        return "─".to_string();
    }
    let seconds =
        |text: &str| text.strip_suffix(" s").and_then(|row| row.rsplit_once(' ').map(|(row, _)| row.to_string()));
    match seconds(line) {
        Some(row) => format!("{} TIME", row.trim_end()),
        None => line.strip_suffix("time").map_or(line.to_string(), |header| format!("{} time", header.trim_end())),
    }
}

pub fn a_name_that_several_overloads_have() {
    let text = "class Stack {\npublic:\n    void push(int) {}\n    void push(const char *) {}\n};\n";
    check(
        &[("stack.cpp", text)],
        &["stack.cpp", "--function", "push"],
        expect![[r#"
        ---- stdout

        ---- stderr
        Error: 'push' may be several functions of stack.cpp
        Hint: name one of 'Stack::push(int)', 'Stack::push(const char *)'
        ---- exit status 2
    "#]],
    );
}

pub fn an_instance_of_no_template() {
    let text = "template <class T> T twice(T x) { return x > 0 ? 2 * x : x; }\nint f(int x) { return twice(x); }\n";
    check(
        &[("twice.cpp", text)],
        &["twice.cpp", "--instance", "thrice<int>"],
        expect![[r#"
        ---- stdout

        ---- stderr
        Error: there is no 'thrice<int>' to test
        Hint: name a template of the file with its arguments, such as 'clamp<double>' or 'Stack<int>'
        ---- exit status 2
    "#]],
    );
}

pub fn code_that_does_not_compile() {
    check(
        &[("broken.c", "int f(int x)\n{\n    retrun x;\n}\n")],
        &["broken.c"],
        expect![[r#"
            ---- stdout

            ---- stderr
            Error: broken.c does not compile:
            broken.c:3:5: error: use of undeclared identifier 'retrun'
            ---- exit status 3
        "#]],
    );
}

pub fn a_missing_header() {
    check(
        &[("needs.c", "#include \"not_here.h\"\nint f(void) { return 0; }\n")],
        &["needs.c"],
        expect![[r#"
        ---- stdout

        ---- stderr
        Error: needs.c does not compile:
        needs.c:1:10: fatal error: 'not_here.h' file not found
            1 | #include "not_here.h"
              |          ^~~~~~~~~~~~
        1 error generated.
        Hint: give the flags that the file is built with after `--`, e.g. `-- -Iinclude -DNAME=1`
        ---- exit status 3
    "#]],
    );
}

/// A folder or a file of a stranger's must not fill the memory, and nobody waits for a pipe.
pub fn devices_and_pipes_in_the_place_of_files() {
    let folder = folder::temporary();
    let [results, suite] = ["report.json", "suite.json"].map(|name| folder.path().join(name));
    std::os::unix::fs::symlink("/dev/zero", &results).expect("a writable folder");
    let pipe = Command::new("mkfifo").arg(&suite).status().expect("mkfifo starts");
    assert!(pipe.success());
    let program = folder.path().join("unit.c");
    std::fs::write(&program, "int f(int x) { return x > 3; }\n").expect("a writable folder");
    let program = program.display().to_string();
    let named = folder.path().display().to_string();
    let calls = [
        vec!["explain", &named, "1"],
        vec!["replay", &named],
        vec!["generate", &program, "--config", "/dev/zero"],
        vec!["generate", &program, "--function", "f", "--seed-test", "/dev/zero"],
    ];
    for arguments in calls {
        let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
        command.args(&arguments).current_dir(folder.path());
        let run = tool::run(command, folder.path());
        let says = ["it is no ordinary file", "it is larger than"].iter().any(|words| run.errors.contains(words));
        assert!(run.status == Some(3) && says, "{arguments:?}: {:?} {}", run.status, run.errors);
    }
}

pub fn an_empty_file() {
    check(
        &[("empty.c", "")],
        &["empty.c"],
        expect![[r#"
        ---- stdout

        ---- stderr
        Error: empty.c defines no function
        Hint: name a file with function bodies
        ---- exit status 3
    "#]],
    );
}

pub fn a_mistyped_function() {
    check(
        &[("shape.c", "int trityp(int x) { return x > 0; }\n")],
        &["shape.c", "--function", "trytip"],
        expect![[r#"
        ---- stdout

        ---- stderr
        Error: no function 'trytip' in shape.c
        Hint: did you mean 'trityp'?
        ---- exit status 2
    "#]],
    );
}

pub fn one_file_of_two_does_not_compile() {
    check(
        &[("broken.c", "int f(int x) { retrun x; }\n"), ("good.c", "int g(int x) { return x > 3 ? 1 : 0; }\n")],
        &["broken.c", "good.c"],
        expect![[r#"
            ---- stdout
            function  goals  covered    %  infeasible  unknown  tests time
            ─
            g             2        2  100           0        0      2 TIME
            ─
            total         2        2  100           0        0      2 TIME

            2 of 2 branch outcomes covered (100 %) by 2 tests
            branch: complete: every goal is covered or infeasible
            Tests written to branchwise-out/good_test.c
            ---- stderr
            [1/1] g: 2 of 2 goals reached
            replaying 2 tests
            Error: broken.c does not compile:
            broken.c:1:16: error: use of undeclared identifier 'retrun'
            ---- exit status 3
        "#]],
    );
}

pub fn a_function_that_loops_for_ever() {
    check(
        &[(
            "forever.c",
            "int f(int x)\n{\n    while (x != 3)\n        ;\n    return x;\n}\nint g(int y) { return y > 4 ? 1 : 0; }\n",
        )],
        &["forever.c", "--steps", "300"],
        expect![[r#"
            ---- stdout
            function  goals  covered    %  infeasible  unknown  tests time
            ─
            f             2        2  100           0        0      2 TIME
            g             2        2  100           0        0      2 TIME
            ─
            total         4        4  100           0        0      4 TIME

            Findings:
              forever.c:3:5: does_not_return: still running when the replay was stopped
                with f(x = 0)
                confirmed by the native run, which was stopped at its time limit

            4 of 4 branch outcomes covered (100 %) by 4 tests
            branch: complete: every goal is covered or infeasible
            Tests written to branchwise-out/forever_test.c
            ---- stderr
            [1/2] f: 2 of 2 goals reached
            [2/2] g: 2 of 2 goals reached
            replaying 4 tests
            ---- exit status 0
        "#]],
    );
}

pub fn recursion_without_end() {
    check(
        &[(
            "deep.c",
            "int f(int n)\n{\n    if (n == 0)\n        return 1;\n    return f(n) + 1;\n}\nint g(int y) { return y > 4 ? 1 : 0; }\n",
        )],
        &["deep.c", "--steps", "300"],
        expect![[r#"
            ---- stdout
            function  goals  covered    %  infeasible  unknown  tests time
            ─
            f             2        2  100           0        0      2 TIME
            g             2        2  100           0        0      2 TIME
            ─
            total         4        4  100           0        0      4 TIME

            Findings:
              deep.c:5:12: does_not_return: the recursion goes on until the stack is full
                with f(n = 1)
                confirmed by signal SIGSEGV of the native run

            4 of 4 branch outcomes covered (100 %) by 4 tests
            branch: complete: every goal is covered or infeasible
            Tests written to branchwise-out/deep_test.c
            ---- stderr
            [1/2] f: 2 of 2 goals reached
            [2/2] g: 2 of 2 goals reached
            replaying 4 tests
            ---- exit status 0
        "#]],
    );
}

pub fn inline_assembly_and_functions_that_nobody_defines() {
    let text = "int sensor(int);\n\
                int f(int x) { int y; __asm__(\"movl %1, %0\" : \"=r\"(y) : \"r\"(x)); return y == 7 ? 1 : 0; }\n\
                int g(int x) { if (x > 100) return 1; return sensor(x) > 3 ? 2 : 3; }\n\
                int h(int y) { return y > 4 ? 1 : 0; }\n";
    check(
        &[("odd.c", text)],
        &["odd.c", "--steps", "300"],
        expect![[r#"
            ---- stdout
            function  goals  covered     %  infeasible  unknown  tests time
            ─
            f             2        1  50.0           0        1      1 TIME
            g             4        4   100           0        0      3 TIME
            h             2        2   100           0        0      2 TIME
            ─
            total         8        7  87.5           0        1      6 TIME

            Not covered:
              odd.c:2:73: 'y == 7' true: unknown: not supported yet: inline assembly at odd.c:2; test 1 came closest

            7 of 8 branch outcomes covered (87.5 %) by 6 tests
            branch: not complete: 1 goal unknown, named above
            Tests written to branchwise-out/odd_test.c
            ---- stderr
            [1/3] f: 0 of 2 goals reached
            [2/3] g: 4 of 4 goals reached
            [3/3] h: 2 of 2 goals reached
            replaying 6 tests
            ---- exit status 0
        "#]],
    );
}

pub fn a_requirement_that_is_missed() {
    let text = "int f(int x) {\n    if (x > 100) return 1;\n    __asm__(\"incl %0\" : \"+r\"(x));\n    \
                return x == 7 ? 2 : 3;\n}\n";
    check(
        &[("half.c", text)],
        &["half.c", "--require", "90", "--steps", "300"],
        expect![[r#"
            ---- stdout
            function  goals  covered     %  infeasible  unknown  tests time
            ─
            f             4        3  75.0           0        1      2 TIME
            ─
            total         4        3  75.0           0        1      2 TIME

            Not covered:
              half.c:4:12: 'x == 7' true: unknown: not supported yet: inline assembly at half.c:3; test 1 came closest

            3 of 4 branch outcomes covered (75.0 %) by 2 tests
            branch: not complete: 1 goal unknown, named above
            Tests written to branchwise-out/half_test.c
            ---- stderr
            [1/1] f: 2 of 4 goals reached
            replaying 2 tests
            ---- exit status 1
        "#]],
    );
}

pub fn an_interrupt_keeps_what_was_found() {
    let folder = folder::temporary();
    let text = "int f(unsigned a, unsigned b)\n{\n    if (a > 5)\n        a = 5;\n    unsigned long long p = (unsigned long long)a * b;\n    \
                for (unsigned i = 0; i < b; i++)\n        if (p * p + i == 0x123456789abcdefull * (i + 3))\n            return 1;\n    return 0;\n}\n";
    std::fs::write(folder.path().join("long.c"), text).expect("a writable folder");
    let mut child = command(folder.path(), &["long.c", "--time", "100", "--out", "out"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("branchwise starts");
    std::thread::sleep(Duration::from_secs(10));
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(interrupted.success());
    let sent = Instant::now();
    let status = child.wait().expect("branchwise ends");
    assert_eq!(status.code(), Some(130));
    assert!(sent.elapsed() < Duration::from_secs(60), "an interrupt is answered soon");
    let report = std::fs::read_to_string(folder.path().join("out/report.json")).expect("a report is written");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert!(report["functions"][0]["summary"]["covered"].as_u64() >= Some(3), "{report:#}");
    assert!(folder.path().join("out/long_test.c").exists());
}

const SHAPES: &str = "struct box { int width; struct box *inner; };\n\
    int area(const struct box *box, unsigned scale) { return box && scale > 3 ? box->width : 0; }\n\
    int count(const int *items, int n) { return n > 0 && items[n - 1] == 7; }\n";

/// Error and hint for a `branchwise.toml`, without the exit status, which is checked to be 3.
fn configuration_error(text: &str) -> String {
    let (_folder, output) = generate(&[("shapes.c", SHAPES), ("branchwise.toml", text)], &["shapes.c", "-q"]);
    assert_eq!(output.status.code(), Some(3), "{text}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn errors_of_the_configuration_point_into_it() {
    let texts = [
        "tiem = 3\n",
        "time = -1\n",
        "scope = \"all\"\n",
        "findings = \"all\"\n",
        "[function.area\n",
        "[function.area]\nasume = \"scale > 1\"\n",
        "[function.aera]\nskip = true\n",
        "[function.area.inputs]\nscael.min = 1\n",
        "[function.area.inputs]\nscale.min = \"1\"\n",
        "[function.area.inputs]\nscale.min = -1\n",
        "[function.area.inputs]\nscale.elements = 4\n",
        "[function.area.inputs]\nbox.min = 4\n",
        "[function.area.inputs]\n\"box->widht\".min = 4\n",
        "[function.area.inputs]\n\"box->inner[2].inner\".null = false\n",
        "[function.count.inputs]\nitems.elements = { min = 5, max = 2 }\n",
        "[function.count.inputs]\nn.values = []\n",
    ];
    let errors: Vec<String> = texts.iter().map(|text| configuration_error(text)).collect();
    expect![[r#"
        Error: branchwise.toml:1:1: unknown key 'tiem'
        Hint: did you mean 'time'?
        Error: branchwise.toml:1:8: 'time' is a number of seconds above 0
        Error: branchwise.toml:1:9: 'scope' is "unit" or "reachable"
        Error: branchwise.toml:1:12: 'findings' is "none", "met" or "search"
        Error: branchwise.toml:1:15: unclosed table, expected `]`
        Error: branchwise.toml:2:1: unknown key 'asume'
        Hint: did you mean 'assume'?
        Error: branchwise.toml:1:11: no function 'aera' in the given files
        Hint: did you mean 'area'?
        Error: branchwise.toml:2:1: 'area' has no input 'scael'
        Hint: did you mean 'scale'?
        Error: branchwise.toml:2:13: 'min' is a number, not this string
        Error: branchwise.toml:2:13: -1 is no value of 'unsigned int'
        Hint: it has values from 0 to 4294967295
        Error: branchwise.toml:2:1: 'scale' is no pointer but 'unsigned int'
        Hint: 'elements' and 'null' speak of pointers; use 'min', 'max' and 'values' here
        Error: branchwise.toml:2:1: 'box' is no number but 'const struct box *'
        Hint: name a value behind it, as 'box[0]' or '*box'; 'elements' limits how many
        Error: branchwise.toml:2:1: 'struct box' has no member 'widht'
        Hint: did you mean 'width'?
        Error: branchwise.toml:2:1: 'box->inner[2].inner' names one element
        Hint: what is said of a pointer holds for those of all elements
        Error: branchwise.toml:2:18: 'elements' is from 1 to 4096, 'min' not above 'max'
        Error: branchwise.toml:2:12: 'values' lists at least one number
    "#]]
    .assert_eq(&errors.concat());
}

pub fn preconditions_that_cannot_be_used_stop_only_their_function() {
    check(
        &[(
            "pre.c",
            "// assume: x >\nint f(int x) { return x ? 1 : 2; }\n\
             // assume: x = 3\nint g(int x) { return x ? 1 : 2; }\n\
             // assume: x > 3\n// assume: x < 2\nint h(int x) { return x ? 1 : 2; }\n\
             // assume: x\nint i(int x) { return x ? 1 : 2; }\n",
        )],
        &["pre.c"],
        expect![[r#"
            ---- stdout
            function  goals  covered     %  infeasible  unknown  tests time
            ─
            f             2        0   0.0           0        2      0 TIME
            g             2        0   0.0           0        2      0 TIME
            h             2        0   0.0           0        2      0 TIME
            i             2        1  50.0           1        0      1 TIME
            ─
            total         8        1  12.5           1        6      1 TIME

            Not covered:
              f: its precondition cannot be used: pre.c:1:12: error: expected expression in `x >`
              g: its precondition cannot be used: pre.c:3:12: error: cannot assign to variable 'x' with const-qualified type 'const typeof(int)' (aka 'const int') in `x = 3`
              h: the preconditions `x > 3` (pre.c:5:12) and `x < 2` (pre.c:6:12) cannot be satisfied together
              pre.c:9:23: 'x' false: infeasible: every path that could lead there was executed or its condition refuted, given x (pre.c:8:12)

            1 of 8 branch outcomes covered (12.5 %) by 1 test; 1 infeasible, so 14.2 % of what can be covered
            branch: not complete: 6 goals unknown, named above
            Tests written to branchwise-out/pre_test.c
            ---- stderr
            [1/4] f: 0 of 2 goals reached
            [2/4] g: 0 of 2 goals reached
            [3/4] h: 0 of 2 goals reached
            [4/4] i: 1 of 2 goals reached
            replaying 1 tests
            ---- exit status 3
        "#]],
    );
}

pub fn the_configuration_limits_inputs_and_chooses_functions() {
    let toml = "steps = 2000\nexclude = [\"sk*\"]\n\
        [function.area.inputs]\nscale = { min = 1, max = 3 }\n\"box->width\".values = [4, 5]\n\
        [function.count]\nassume = \"n < 9\"\ninputs.items = { elements = 8, null = false }\n";
    check(
        &[("shapes.c", &format!("{SHAPES}int skipped(int x) {{ return x ? 1 : 2; }}\n")), ("branchwise.toml", toml)],
        &["shapes.c"],
        expect![[r#"
            ---- stdout
            function  goals  covered     %  infeasible  unknown  tests time
            ─
            area          4        3  75.0           1        0      2 TIME
            count         4        4   100           0        0      3 TIME
            ─
            total         8        7  87.5           1        0      5 TIME

            Not covered:
              shapes.c:2:65: 'scale > 3' true: infeasible: every path that could lead there was executed or its condition refuted, given !box || (box->width == 4 || box->width == 5) (branchwise.toml:5:1) and scale >= 1 && scale <= 3 (branchwise.toml:4:1)

            7 of 8 branch outcomes covered (87.5 %) by 5 tests; 1 infeasible, so 100 % of what can be covered
            branch: complete: every goal is covered or infeasible
            Tests written to branchwise-out/shapes_test.c
            ---- stderr
            [1/2] area: 3 of 4 goals reached
            [2/2] count: 4 of 4 goals reached
            replaying 5 tests
            ---- exit status 0
        "#]],
    );
}

pub fn declared_results_of_stubs_and_names_of_other_files() {
    let toml = "[stub.sensor]\nmin = 0\nmax = 3\n[function.elsewhere]\nskip = true\n";
    check(
        &[
            ("sense.c", "int sensor(void);\nint sense(void) { return sensor() > 3 ? 1 : 2; }\n"),
            ("branchwise.toml", toml),
        ],
        &["sense.c"],
        expect![[r#"
            ---- stdout
            function  goals  covered     %  infeasible  unknown  tests time
            ─
            sense         2        1  50.0           1        0      1 TIME
            ─
            total         2        1  50.0           1        0      1 TIME

            Not covered:
              sense.c:2:26: 'sensor() > 3' true: infeasible: every path that could lead there was executed or its condition refuted, given sensor() returns 0 to 3 (branchwise.toml:1:7)

            1 of 2 branch outcomes covered (50.0 %) by 1 test; 1 infeasible, so 100 % of what can be covered
            branch: complete: every goal is covered or infeasible
            Tests written to branchwise-out/sense_test.c
            ---- stderr
            [1/1] sense: 1 of 2 goals reached
            replaying 1 tests
            Note: branchwise.toml:4:11: no function 'elsewhere' in the given files
            ---- exit status 0
        "#]],
    );
}

pub fn settings_of_functions_count_unless_the_command_line_says_otherwise() {
    // The first path is one step: nothing more is tried with a budget of one.
    let source = "int f(int x) { return x == 77 ? 1 : 2; }\nint g(int x) { return x == 77 ? 1 : 2; }\n";
    let files = [("f.c", source), ("branchwise.toml", "steps = 100\n[function.f]\nsteps = 1\n")];
    let covered = |arguments: &[&str]| {
        let (folder, _output) = generate(&files, arguments);
        let report = std::fs::read_to_string(folder.path().join("branchwise-out/report.json")).expect("a report");
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        [0, 1].map(|index| report["functions"][index]["summary"]["covered"].as_u64())
    };
    assert_eq!(covered(&["f.c"]), [Some(1), Some(2)]);
    assert_eq!(covered(&["f.c", "--steps", "100"]), [Some(2), Some(2)]);
}

pub fn a_suite_is_replayed_with_its_configuration() {
    // The precondition makes the global an input of `f`, which does not look at it.
    let source = "int limit;\nint f(int x) { return x > 3 ? 1 : 2; }\n";
    let files = [("f.c", source), ("other.toml", "[function.f]\nassume = \"x < limit\"\n")];
    let (folder, output) = generate(&files, &["f.c", "-q", "--config", "other.toml"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    command.args(["replay", "branchwise-out"]).current_dir(folder.path());
    let replayed = command.output().expect("the tool runs");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    let row: Vec<&str> = text.lines().nth(1).unwrap_or_default().split_whitespace().collect();
    assert_eq!(row, ["f", "2", "2", "2", "2", "2"], "{text}{}", String::from_utf8_lossy(&replayed.stderr));
}
