//! The criteria on the programs of the papers: our strategies against plain depth-first search that stops when the criterion
//! holds.

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

/// For each function.
const STEPS: &str = "100";

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

pub fn criteria_table() {
    println!(
        "| criterion | strategy | goals | covered | infeasible | tests | redundant | infeasible prefixes | solver calls | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut all = [Sums::default(); 2];
    for criterion in CRITERIA {
        let both = ["hybrid", "depth-first"].map(|strategy| over_programs(criterion, strategy));
        for ((sums, name), all) in both.iter().zip(["ours", "depth first"]).zip(&mut all) {
            println!("| `{criterion}` | {name} | {} |", sums.cells());
            all.add(*sums);
        }
    }
    for (sums, name) in all.iter().zip(["ours", "depth first"]) {
        println!("| all | {name} | {} |", sums.cells());
    }
}

/// All programs as one file, so that it is compiled once for each row.
fn over_programs(criterion: &str, strategy: &str) -> Sums {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = |(program, _): &(&str, &str)| {
        std::fs::read_to_string(programs().join(program).with_extension("c")).expect("a program of the papers")
    };
    let file = folder.path().join("programs.c");
    std::fs::write(&file, PROGRAMS.iter().map(text).collect::<String>()).expect("a writable folder");
    let mut arguments = vec!["--criterion", criterion, "--strategy", strategy];
    arguments.extend(["--steps", STEPS, "--findings", "none", "--seed", "1", "--jobs", "1"]);
    arguments.extend(PROGRAMS.iter().flat_map(|(_, function)| ["--function", function]));
    Sums::of(&report(file.to_str().expect("a name that is text"), &arguments))
}
