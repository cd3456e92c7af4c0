//! The benchmark table: `cargo bench -p branchwise-cli --bench table`, with `-- execution` (or `programs`, `unconstrained`,
//! `trees`, `floats`, `solvers`, `criteria`, `fixtures`, `consistency`, `functions`) for one of its tables. Prints Markdown; nothing here is
//! a test.
//!
//! The first table is the whole tool on the programs of the three papers, the second aims at their unconstrained edges and
//! at all goals alike, `trees` is annex C of the paper that they come from, `floats` is the whole tool on functions whose
//! decisions are about floats, `solvers` what the layers of the solver are worth, `criteria` compares the strategies for every
//! criterion with plain depth-first search, `fixtures` does the same on fixtures, `consistency` asks for every node of Sy and Deville's programs as a single goal,
//! the next is concrete execution against the
//! same loops compiled by clang -O0, as a ratio measured in one run, the last is the whole tool on files of more and more
//! functions.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use branchwise_constraints::Model;
use branchwise_frontend::{Source, Toolchain, analyse, compile_bitcode, lower};
use branchwise_program::Program;
use branchwise_symbolic::{PathEnd, RunLimits, Session};
use serde_json::Value;

#[path = "table/consistency.rs"]
mod consistency;
#[path = "table/criteria.rs"]
mod criteria;
#[path = "table/floats.rs"]
mod floats;
#[path = "table/solvers.rs"]
mod solvers;
#[path = "table/trees.rs"]
mod trees;

const PROGRAMS: [(&str, &str); 12] = [
    ("trityp", "trityp"),
    ("pathcrawler_fg", "f"),
    ("sy_bsearch", "bsearch_int"),
    ("sy_sample1", "sample1"),
    ("sy_sample2", "sample2"),
    ("quicksort", "quicksort"),
    ("patternmatcher", "patternmatcher"),
    ("histogramme", "histogramme"),
    ("prog6", "prog6"),
    ("nombre", "nombre"),
    ("what", "what"),
    ("minpath", "minpath"),
];

const KERNELS: [&str; 6] = ["arithmetic", "arrays", "calls", "pointers", "switches", "records"];

/// Times that each loop is executed: the best one says what the others would take on a machine with nothing else to do.
const RUNS: usize = 15;

/// Functions of one generated file; each is twice the one before.
const SIZES: [usize; 4] = [50, 100, 200, 400];

const TABLES: [(&str, fn()); 10] = [
    ("programs", programs_table),
    ("unconstrained", unconstrained_table),
    ("trees", trees::trees_table),
    ("floats", floats::floats_table),
    ("solvers", solvers::solvers_table),
    ("criteria", criteria::criteria_table),
    ("fixtures", criteria::fixtures_table),
    ("consistency", consistency::consistency_table),
    ("execution", kernels_table),
    ("functions", scaling_table),
];

fn main() {
    // Cargo adds `--bench`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    for (name, table) in TABLES {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            table();
            println!();
        }
    }
}

/// The whole tool on files of more and more functions: time must grow with their number, so the ratio should stay near 2.
fn scaling_table() {
    println!("| functions | seconds | ratio to half as many |");
    println!("|---|---|---|");
    let mut before: Option<f64> = None;
    for functions in SIZES {
        let seconds = seconds_for(functions);
        let ratio = before.map_or("–".to_owned(), |before| format!("{:.2}", seconds / before));
        println!("| {functions} | {seconds:.2} | {ratio} |");
        before = Some(seconds);
    }
}

/// One function at a time, so that the number of processors does not matter.
fn seconds_for(functions: usize) -> f64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("many.c");
    std::fs::write(&file, many_functions(functions)).expect("a writable folder");
    let started = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_branchwise"))
        .args(["generate", "--quiet", "--steps", "60", "--jobs", "1", "--out"])
        .arg(folder.path())
        .arg(&file)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "branchwise runs");
    started.elapsed().as_secs_f64()
}

/// In groups of ten that call each other in a row.
fn many_functions(count: usize) -> String {
    let function = |index: usize| {
        let call = if index.is_multiple_of(10) { "i".to_owned() } else { format!("f{}(i, y)", index - 1) };
        format!(
            "int f{index}(int x, int y) {{\n    int s = 0;\n    if (x * 3 + y == {index}) s += 1;\n    \
             if (x > y && y > {index}) s += 2;\n    for (int i = 0; i < x && i < 4; i++) s += {call};\n    \
             if ((x ^ y) * x == {index} * 7 + 3) return s * 2;\n    return s;\n}}\n"
        )
    };
    (0..count).map(function).collect()
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/programs")
}

fn programs_table() {
    println!("| program | outcomes | covered | infeasible | unknown | tests | seconds | paths | solver calls |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (program, function) in PROGRAMS {
        println!("{}", program_row(program, function));
    }
}

/// All functions of the programs, aiming at unconstrained edges first and at all goals alike: `first / alike`.
fn unconstrained_table() {
    println!(
        "| program | edges | unconstrained | goals | covered | infeasible | tests | paths | solver calls | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut total = [[0.0; COLUMNS.len()]; 2];
    for (program, _) in PROGRAMS {
        let both = ["unconstrained", "all"].map(|aim| aimed_at(program, aim));
        println!("| {program} {}", aim_row(&both));
        for (total, of_program) in total.iter_mut().zip(both) {
            total.iter_mut().zip(of_program).for_each(|(total, number)| *total += number);
        }
    }
    println!("| all {}", aim_row(&total));
}

const COLUMNS: [&str; 9] =
    ["edges", "unconstrained_edges", "goals", "covered", "infeasible", "tests", "paths", "solver_calls", "seconds"];

fn aim_row(both: &[[f64; COLUMNS.len()]; 2]) -> String {
    let cell = |column: usize| match (COLUMNS[column], both[0][column], both[1][column]) {
        ("edges" | "unconstrained_edges" | "goals", one, _) => format!("| {one} "),
        ("seconds", one, other) => format!("| {one:.2} / {other:.2} "),
        (_, one, other) => format!("| {one} / {other} "),
    };
    (0..COLUMNS.len()).map(cell).collect::<String>() + "|"
}

/// The columns for one file.
fn aimed_at(program: &str, aim: &str) -> [f64; COLUMNS.len()] {
    numbers(program, &["--time", "5", "--findings", "none", "--seed", "1", "--jobs", "1", "--aim", aim])
}

fn numbers(program: &str, arguments: &[&str]) -> [f64; COLUMNS.len()] {
    let report = report(program, arguments);
    let functions = report["functions"].as_array().expect("functions");
    let number = |value: &Value| match value {
        Value::Object(by_layer) => by_layer.values().filter_map(Value::as_f64).sum(),
        one => one.as_f64().unwrap_or(0.0),
    };
    let of_function = |function: &Value, column: &str| {
        let summary = &function["summary"][column];
        number(if summary.is_null() { &function["work"][column] } else { summary })
    };
    COLUMNS.map(|column| functions.iter().map(|function| of_function(function, column)).sum())
}

fn program_row(program: &str, function: &str) -> String {
    let report = report(program, &["--function", function]);
    let unit = &report["functions"][0];
    let (summary, work) = (&unit["summary"], &unit["work"]);
    let calls = work["solver_calls"].as_object().expect("solver calls by layer");
    let calls: Vec<String> = calls.iter().map(|(layer, count)| format!("{layer} {count}")).collect();
    format!(
        "| {program} | {} | {} | {} | {} | {} | {:.2} | {} | {} |",
        summary["goals"],
        summary["covered"],
        summary["infeasible"],
        summary["unknown"],
        summary["tests"],
        work["seconds"].as_f64().unwrap_or(0.0),
        work["paths"],
        calls.join(", ")
    )
}

fn report(program: &str, arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_branchwise"))
        .args(["generate", "--json", "--quiet", "--out"])
        .arg(folder.path())
        .args(arguments)
        .arg(programs().join(program).with_extension("c"))
        .output()
        .expect("branchwise runs");
    serde_json::from_slice(&output.stdout).expect("a JSON report")
}

fn kernels_table() {
    let program = load(&programs().join("kernels.c"));
    println!("| loop | instructions | million instructions/s | ratio to native -O0 |");
    println!("|---|---|---|---|");
    for kernel in KERNELS {
        println!("{}", kernel_row(&program, kernel));
    }
}

fn load(file: &Path) -> Program {
    let toolchain = Toolchain::find().expect("clang-19");
    let unit = analyse(&toolchain, &Source { path: file, flags: &[], set_statics: false, instances: &[] })
        .expect("the kernels compile");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bitcode = folder.path().join("kernels.bc");
    compile_bitcode(&toolchain, &unit, &bitcode).expect("the marked kernels compile");
    let code = lower::lower_bitcode(&bitcode).expect("bitcode of this LLVM");
    Program { map: unit.map, code }
}

/// The best times of several executions, ours and the native ones in turn: so both see the machine in the same states.
fn kernel_row(program: &Program, kernel: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let executable = native_kernel(folder.path(), kernel);
    let (mut instructions, mut ours, mut native) = (0, f64::INFINITY, f64::INFINITY);
    for _ in 0..RUNS {
        let (executed, seconds) = executed(program, kernel);
        (instructions, ours) = (executed, ours.min(seconds));
        native = native.min(native_seconds(&executable));
    }
    format!("| {kernel} | {instructions} | {:.0} | {:.1} |", instructions as f64 / ours / 1e6, ours / native)
}

/// Instructions and seconds of one execution.
fn executed(program: &Program, kernel: &str) -> (u64, f64) {
    let function = program.map.function_named(kernel).expect("a kernel");
    let interrupt = AtomicBool::new(false);
    let limits = RunLimits {
        instructions: u64::MAX,
        loop_iterations: u64::MAX,
        call_depth: 100,
        terms: usize::MAX,
        standard_input: u64::MAX,
        interrupt: &interrupt,
    };
    let mut session = Session::new(program, function, 8).expect("a driver");
    let started = Instant::now();
    let path = session.run(&Model::new(), &limits);
    assert_eq!(path.end, PathEnd::Returned);
    (path.instructions, started.elapsed().as_secs_f64())
}

/// Calls that a native run measures together.
const NATIVE_CALLS: u32 = 20;

/// Compiles a program that prints how many seconds the calls take.
fn native_kernel(folder: &Path, kernel: &str) -> PathBuf {
    let main = folder.join("main.c");
    let text = format!(
        "#include \"{}\"\n#include <stdio.h>\n#include <time.h>\nint main(void) {{\n    struct timespec a, b;\n    \
         volatile int sink = 0;\n    clock_gettime(CLOCK_MONOTONIC, &a);\n    for (int i = 0; i < {NATIVE_CALLS}; i++) sink += {kernel}();\n    \
         clock_gettime(CLOCK_MONOTONIC, &b);\n    printf(\"%f\", (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9);\n    return 0;\n}}\n",
        programs().join("kernels.c").display()
    );
    std::fs::write(&main, text).expect("a writable folder");
    let executable = folder.join("main");
    let compiled = Command::new("clang-19").args(["-O0", "-w", "-o"]).arg(&executable).arg(&main).status();
    assert!(compiled.is_ok_and(|status| status.success()), "the kernels compile natively");
    executable
}

/// Seconds of one native call.
fn native_seconds(executable: &Path) -> f64 {
    let output = Command::new(executable).output().expect("the kernels run");
    let seconds = String::from_utf8_lossy(&output.stdout).parse::<f64>().expect("seconds");
    seconds / f64::from(NATIVE_CALLS)
}
