//! Random programs without undefined behaviour: what the executor predicts is what the compiled program does, no finding
//! is reported, and no outcome that is called infeasible is ever taken natively, however many inputs are thrown at it.
//! Programs of csmith: the same decisions and the same checksum. Every fixture on random inputs: the same path and results.

use crate::support::case;
use crate::support::csmith;
use crate::support::folder;
use crate::support::random_c;
use crate::support::share;
use crate::support::tool;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use csmith::Outcome as Csmith;
use libtest_mimic::Trial;
use serde_json::Value as Json;

use random_c::{Program, Size};

/// How many random programs a test run takes, and how many a soak takes at the least.
const CSMITH_PROGRAMS: [u64; 2] = [4, 500];
const CSMITH_PROGRAMS_TO_GENERATE_FOR: [u64; 2] = [1, 20];
const LARGE_PROGRAMS: [u64; 2] = [3, 100];
const SMALL_PROGRAMS: [u64; 2] = [3, 150];
const NATIVE_CALLS: u32 = 300_000;

/// Programs of csmith that were executed, and those that the executor did not follow to their end.
static EXECUTED: AtomicUsize = AtomicUsize::new(0);
static ENDLESS: AtomicUsize = AtomicUsize::new(0);
static UNSUPPORTED: AtomicUsize = AtomicUsize::new(0);

/// Returns a case for each random program of this run.
pub fn cases() -> Vec<Trial> {
    let of = |kind: &'static str, [in_a_run, in_a_soak]: [u64; 2], check: fn(u64) -> Vec<String>| {
        share::seeds(in_a_run, in_a_soak).map(move |seed| {
            let name = format!("differential::{kind}_{seed}");
            case::case(name, move || case::result(check(seed)))
        })
    };
    of("csmith_means_what_it_does_natively", CSMITH_PROGRAMS, csmith_differences)
        .chain(of("tests_are_generated_for_csmith", CSMITH_PROGRAMS_TO_GENERATE_FOR, generation_differences))
        .chain(of("large_program_behaves_as_predicted", LARGE_PROGRAMS, |seed| differences(seed, Size::Large)))
        .chain(of("small_program_does_nothing_infeasible", SMALL_PROGRAMS, |seed| differences(seed, Size::Small)))
        .collect()
}

fn csmith_differences(seed: u64) -> Vec<String> {
    EXECUTED.fetch_add(1, Ordering::Relaxed);
    match csmith::compare(seed) {
        Csmith::Same => return Vec::new(),
        Csmith::Endless => ENDLESS.fetch_add(1, Ordering::Relaxed),
        Csmith::Unsupported(_) => UNSUPPORTED.fetch_add(1, Ordering::Relaxed),
        Csmith::Different(what) => return vec![format!("csmith --seed {seed}: {what}")],
    };
    Vec::new()
}

/// Returns what is wrong with all programs of csmith together: most of them must be followed to their end.
pub fn of_all() -> Result<(), String> {
    let [all, endless, unsupported] = [&EXECUTED, &ENDLESS, &UNSUPPORTED].map(|count| count.load(Ordering::Relaxed));
    let found = format!("of {all} programs of csmith {endless} are endless and {unsupported} unsupported");
    println!("{found}");
    if unsupported * 20 <= all && endless * 5 <= all { Ok(()) } else { Err(found) }
}

/// Their functions have inputs of every shape: structures of bit-fields, unions, pointers to pointers.
fn generation_differences(seed: u64) -> Vec<String> {
    let folder = folder::temporary();
    let json = csmith::write(seed, folder.path())
        .and_then(|path| tool::generate(&path, &["--steps", "20"], &csmith::flags_of_units(), folder.path()).json());
    let wrong = match json {
        Ok(json) => disagreements(&json),
        Err(error) => vec![error],
    };
    wrong.into_iter().map(|what| format!("csmith --seed {seed}: {what}")).collect()
}

pub fn the_same_seed_gives_the_same_program() {
    assert_eq!(random_c::program(7, Size::Small).text, random_c::program(7, Size::Small).text);
    assert_ne!(random_c::program(7, Size::Small).text, random_c::program(8, Size::Small).text);
}

/// What is wrong with the answers for the program of this seed.
fn differences(seed: u64, size: Size) -> Vec<String> {
    let program = random_c::program(seed, size);
    let folder = folder::temporary();
    let path = folder.path().join("program.c");
    fs::write(&path, &program.text).expect("the temporary folder can be written");
    let compared = compare(&program, size, &path, folder.path());
    let wrong = compared.unwrap_or_else(|error| vec![error]);
    wrong.into_iter().map(|what| format!("{size:?} program {seed}: {what}")).collect()
}

fn compare(program: &Program, size: Size, path: &Path, folder: &Path) -> Result<Vec<String>, String> {
    let steps = if size == Size::Small { "600" } else { "60" };
    let counts = native_counts(program, size, folder)?;
    let mut wrong = Vec::new();
    for strategy in ["concolic", "tree"] {
        let arguments = ["--function", "f", "--steps", steps, "--strategy", strategy];
        let json = tool::generate(path, &arguments, &["-w".to_string()], folder).json()?;
        let found = report_differences(&json).into_iter().chain(wrongly_infeasible(&json, &counts));
        wrong.extend(found.map(|what| format!("--strategy {strategy}: {what}")));
    }
    Ok(wrong)
}

fn report_differences(json: &Json) -> Vec<String> {
    let mut wrong = disagreements(json);
    for finding in json["findings"].as_array().into_iter().flatten() {
        wrong.push(format!("finding {} at line {} in a program that is defined", finding["kind"], finding["line"]));
    }
    let summary = &json["functions"][0]["summary"];
    for (ours, native) in [("goals", "branch_outcomes"), ("covered", "covered")] {
        if summary[ours] != json["replay"][native] || !summary[ours].is_u64() {
            wrong.push(format!("summary.{ours} is {}, replay.{native} is {}", summary[ours], json["replay"][native]));
        }
    }
    wrong
}

fn disagreements(json: &Json) -> Vec<String> {
    let disagreements = json["replay"]["disagreements"].as_array().into_iter().flatten();
    disagreements.map(|disagreement| format!("disagreement: {}", disagreement["what"])).collect()
}

type Outcome = (u64, u64, bool);

/// Outcomes that are called infeasible, at whatever bounds, and that a native run took.
fn wrongly_infeasible(json: &Json, native: &BTreeMap<Outcome, u64>) -> Vec<String> {
    let goals = json["functions"][0]["goals"].as_array().into_iter().flatten();
    let infeasible =
        goals.filter(|goal| goal["verdict"].as_str().is_some_and(|verdict| verdict.starts_with("infeasible")));
    let taken = infeasible.filter(|goal| native.get(&outcome(goal)).is_some_and(|&count| count > 0));
    taken
        .map(|goal| {
            format!(
                "line {} column {}: {} is {}, but happens",
                goal["line"], goal["column"], goal["outcome"], goal["verdict"]
            )
        })
        .collect()
}

fn outcome(goal: &Json) -> Outcome {
    let number = |key: &str| goal[key].as_u64().unwrap_or(0);
    (number("line"), number("column"), goal["outcome"].as_bool().unwrap_or(false))
}

/// How often each outcome was taken when the program was called with many inputs.
fn native_counts(program: &Program, size: Size, folder: &Path) -> Result<BTreeMap<Outcome, u64>, String> {
    let file = |name: &str| folder.join(name);
    fs::write(file("caller.c"), caller(program, size)).map_err(|error| error.to_string())?;
    let mut compile = Command::new("clang-19");
    compile.args(["-w", "-O1", "-fprofile-instr-generate", "-fcoverage-mapping", "-o"]);
    compile.arg(file("caller")).arg(file("caller.c"));
    succeed(compile, folder)?;
    let mut run = Command::new(file("caller"));
    run.env("LLVM_PROFILE_FILE", file("raw"));
    succeed(run, folder)?;
    let mut merge = Command::new("llvm-profdata-19");
    merge.args(["merge", "-o"]).arg(file("merged")).arg(file("raw"));
    succeed(merge, folder)?;
    let mut export = Command::new("llvm-cov-19");
    export.args(["export", "-instr-profile"]).arg(file("merged")).arg(file("caller"));
    let exported: Json = serde_json::from_str(&succeed(export, folder)?).map_err(|error| error.to_string())?;
    Ok(counts(&exported, &file("program.c")))
}

fn succeed(command: Command, folder: &Path) -> Result<String, String> {
    let run = tool::run(command, folder);
    if run.status == Some(0) { Ok(run.output) } else { Err(format!("native run failed: {}", run.errors)) }
}

/// The branches of `f`, each with its two counts.
fn counts(exported: &Json, file: &PathBuf) -> BTreeMap<Outcome, u64> {
    let mut counts = BTreeMap::new();
    for function in exported["data"][0]["functions"].as_array().into_iter().flatten() {
        let here = function["filenames"]
            .as_array()
            .is_some_and(|names| names.iter().any(|name| Path::new(name.as_str().unwrap_or_default()) == file));
        for branch in function["branches"].as_array().into_iter().flatten().filter(|_| here) {
            let number = |at: usize| branch[at].as_u64().unwrap_or(0);
            *counts.entry((number(0), number(1), true)).or_default() += number(4);
            *counts.entry((number(0), number(1), false)).or_default() += number(5);
        }
    }
    counts
}

/// A program that calls `f`: with all inputs of a small program, with many of a large one.
fn caller(program: &Program, size: Size) -> String {
    let draw = if size == Size::Small { "(long)(i >> SHIFT)" } else { "number()" };
    let argument = |(at, ty): (usize, &&str)| format!("({ty}){}", draw.replace("SHIFT", &(8 * at).to_string()));
    let arguments: Vec<String> = program.parameters.iter().enumerate().map(argument).collect();
    let calls = if size == Size::Small { 1 << 16 } else { NATIVE_CALLS };
    let arguments = arguments.join(", ");
    format!("{CALLER}    for (unsigned i = 0; i < {calls}; i++)\n        f({arguments}, out);\n    return 0;\n}}\n")
}

/// Draws small numbers, numbers near powers of two, bytes and any numbers.
const CALLER: &str = "#include \"program.c\"
static unsigned long state = 88172645463325252ul;
static unsigned long draw(void) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state >> 3;
}
long number(void) {
    switch (draw() & 3) {
    case 0: return (long)(draw() % 33) - 16;
    case 1: return (long)(1ul << draw() % 64) + (long)(draw() % 3) - 1;
    case 2: return (long)(draw() & 255);
    default: return (long)(draw() << 3);
    }
}
int main(void) {
    int out[4];
";
