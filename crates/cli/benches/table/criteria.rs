//! The criteria on the programs of the papers and on fixtures: our strategies against plain depth-first search that stops when
//! the criterion holds.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{PROGRAMS, programs, report};

const CRITERIA: [&str; 20] = [
    "branch",
    "statement",
    "decision",
    "condition",
    "condition/decision",
    "call",
    "loop",
    "multiple-condition",
    "mcdc",
    "mcdc-masking",
    "boundary",
    "def-use",
    "minimal-all-conditions",
    "minimal-all-decisions",
    "minimal-all-paths",
    "k-path",
    "all-paths",
    "empty-else",
    "max-iterations",
    "function",
];

/// For each function of the papers, and for each fixture.
const STEPS: [&str; 2] = ["100", "50"];

/// Of the fixtures, in the order of their names, one of so many is taken.
const ONE_OF: usize = 2;

/// What the first line of a fixture asks for beside its function, and one file of many cannot have.
const OF_ITS_OWN: [&str; 5] = [" scope: ", " flags: ", " options: ", " with: ", " trouble: "];

/// What one run, or many together, took and gave.
#[derive(Debug, Copy, Clone, Default)]
struct Sums {
    goals: u64,
    covered: u64,
    infeasible: u64,
    tests: u64,
    redundant: u64,
    refuted: u64,
    calls: u64,
    seconds: f64,
}

impl Sums {
    fn of(report: &Value) -> Sums {
        let mut sums = Sums::default();
        for function in report["functions"].as_array().into_iter().flatten() {
            let work = |key: &str| function["work"][key].as_u64().unwrap_or_default();
            let verdicts =
                function["goals"].as_array().into_iter().flatten().filter_map(|goal| goal["verdict"].as_str());
            let verdicts: Vec<&str> = verdicts.collect();
            sums.goals += verdicts.len() as u64;
            sums.covered += verdicts.iter().filter(|verdict| **verdict == "covered").count() as u64;
            sums.infeasible += verdicts.iter().filter(|verdict| verdict.starts_with("infeasible")).count() as u64;
            sums.tests += function["tests"].as_array().map_or(0, Vec::len) as u64;
            sums.redundant += work("redundant_tests");
            sums.refuted += work("infeasible_prefixes");
            let layers = function["work"]["solver_calls"].as_object().into_iter().flatten();
            sums.calls += layers.filter_map(|(_, calls)| calls.as_u64()).sum::<u64>();
            sums.seconds += function["work"]["seconds"].as_f64().unwrap_or_default();
        }
        sums
    }

    fn add(&mut self, other: Sums) {
        self.goals += other.goals;
        self.covered += other.covered;
        self.infeasible += other.infeasible;
        self.tests += other.tests;
        self.redundant += other.redundant;
        self.refuted += other.refuted;
        self.calls += other.calls;
        self.seconds += other.seconds;
    }

    fn cells(&self) -> String {
        let Sums { goals, covered, infeasible, tests, redundant, refuted, calls, seconds } = self;
        format!("{goals} | {covered} | {infeasible} | {tests} | {redundant} | {refuted} | {calls} | {seconds:.1}")
    }
}

/// Functions of several programs in one file, so that it is compiled once for each row.
struct Together {
    text: String,
    functions: Vec<String>,
}

pub fn criteria_table() {
    let text = |(program, _): &(&str, &str)| {
        std::fs::read_to_string(programs().join(program).with_extension("c")).expect("a program of the papers")
    };
    let functions = PROGRAMS.iter().map(|(_, function)| (*function).to_string()).collect();
    table_of(&Together { text: PROGRAMS.iter().map(text).collect(), functions }, STEPS[0]);
}

pub fn fixtures_table() {
    let together = fixtures();
    println!("{} fixtures", together.functions.len());
    table_of(&together, STEPS[1]);
}

/// Fixtures in C that can stand in one file: each of the sample that compiles behind those before it.
fn fixtures() -> Together {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let entries = std::fs::read_dir(folder).expect("the fixtures").flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "c")).collect();
    paths.sort();
    let texts = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    let fixtures = texts.filter_map(|text| entry_of(&text).map(|entry| (entry, text)));
    let mut together = Together { text: String::new(), functions: Vec::new() };
    for (entry, text) in fixtures.step_by(ONE_OF) {
        let longer = format!("{}{text}\n", together.text);
        if compiles(&longer) {
            together.text = longer;
            together.functions.push(entry);
        }
    }
    together
}

/// The function that a fixture is about, unless it needs a file or options of its own.
fn entry_of(text: &str) -> Option<String> {
    let question = text.lines().next()?.strip_prefix("// entry: ")?;
    let alone = OF_ITS_OWN.iter().any(|key| question.contains(key)) || text.contains("#include \"");
    question.split_whitespace().next().filter(|_| !alone).map(str::to_string)
}

fn compiles(text: &str) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("together.c");
    std::fs::write(&file, text).expect("a writable folder");
    let mut clang = Command::new("clang-19");
    clang.args(["-fsyntax-only", "-w"]).arg(file).stderr(Stdio::null());
    clang.status().is_ok_and(|status| status.success())
}

fn table_of(together: &Together, steps: &str) {
    println!(
        "| criterion | strategy | goals | covered | infeasible | tests | redundant | infeasible prefixes | solver calls | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut all = [Sums::default(); 2];
    for criterion in CRITERIA {
        let both = ["hybrid", "depth-first"].map(|strategy| sums(together, criterion, strategy, steps));
        for ((sums, name), all) in both.iter().zip(["ours", "depth first"]).zip(&mut all) {
            println!("| `{criterion}` | {name} | {} |", sums.cells());
            all.add(*sums);
        }
    }
    for (sums, name) in all.iter().zip(["ours", "depth first"]) {
        println!("| all | {name} | {} |", sums.cells());
    }
}

fn sums(together: &Together, criterion: &str, strategy: &str, steps: &str) -> Sums {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("together.c");
    std::fs::write(&file, &together.text).expect("a writable folder");
    let mut arguments = vec!["--criterion", criterion, "--strategy", strategy];
    arguments.extend(["--steps", steps, "--findings", "none", "--seed", "1"]);
    arguments.extend(together.functions.iter().flat_map(|function| ["--function", function]));
    Sums::of(&report(file.to_str().expect("a name that is text"), &arguments))
}
