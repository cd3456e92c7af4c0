//! Judges what the tool says of a random unit by native runs. An outcome that is called infeasible, and that a run takes, is a
//! wrong verdict, unless it names an assumption that the environment broke in that run, or a bound. What is called covered must
//! be shown by the emitted tests.

use crate::support::folder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use super::classes::classes;
use super::environment::{Capability, LOG, LOGGING, arguments, place};
use super::unit::{Unit, unit};
use crate::support::tool;

/// How many environments of each capability a unit meets.
const ENVIRONMENTS: &str = "100";

const STEPS: &str = "400";

/// The log of all capabilities.
const ALL_LOGS: usize = 64 * LOG;

/// What the tool says of one outcome.
#[derive(Debug, Clone)]
struct Said {
    line: usize,
    outcome: bool,
    verdict: String,
    function: String,
    text: String,
    /// The names of assumptions that are not accepted.
    names: BTreeSet<String>,
    /// Some are accepted.
    given: bool,
    /// The number of calls that a test makes, if that limits the verdict.
    calls: Option<u64>,
    /// Another number limits the verdict.
    bounded: bool,
}

/// What the tool says of one unit, and what native runs do.
#[derive(Debug)]
pub struct Judged {
    pub wrong: Vec<String>,
    /// By verdict, how many outcomes have it.
    pub verdicts: BTreeMap<String, usize>,
    /// The assumptions without which some verdict would have been wrong, as a native run shows.
    pub noticed: BTreeSet<String>,
}

/// Every third unit is one of C++.
fn program(seed: u64) -> Unit {
    if seed.is_multiple_of(3) { classes(seed) } else { unit(seed) }
}

/// Generates tests for the unit of a seed, and compares all that is said of it with what it does.
pub fn judge(seed: u64, options: &[&str]) -> Result<Judged, String> {
    let folder = folder::temporary();
    judge_in(seed, options, folder.path())
}

fn judge_in(seed: u64, options: &[&str], folder: &Path) -> Result<Judged, String> {
    let unit = program(seed);
    let path = folder.join(format!("unit.{}", unit.extension));
    write(&path, &unit.plain)?;
    write(&folder.join("unit.h"), &unit.header)?;
    let json =
        tool::generate(&path, &[&["--steps", STEPS, "--findings", "none"], options].concat(), &[], folder).json()?;
    let said = said(&json);
    write(&path, &unit.logged)?;
    write(&folder.join("log.h"), LOGGING)?;
    let taken = taken(&unit, folder)?;
    let mut wrong = said.iter().flat_map(|said| contradictions(said, &taken)).collect::<Vec<_>>();
    wrong.extend(unshown(&said, &shown_by_tests(&unit, folder)?));
    let mut verdicts = BTreeMap::new();
    said.iter().for_each(|said| *verdicts.entry(said.verdict.clone()).or_default() += 1);
    Ok(Judged { wrong, verdicts, noticed: said.iter().flat_map(|said| noticed(said, &taken)).collect() })
}

fn said(json: &Json) -> Vec<Said> {
    let functions = json["functions"].as_array().into_iter().flatten();
    let goals = functions.flat_map(|function| function["goals"].as_array().into_iter().flatten());
    goals.map(goal).collect()
}

fn goal(goal: &Json) -> Said {
    let text = |key: &str| goal[key].as_str().unwrap_or_default().to_owned();
    let evidence = &goal["evidence"];
    let bounds = || evidence["bounds"].as_array().into_iter().flatten();
    let assumptions = evidence["assumptions"].as_array().into_iter().flatten();
    let (given, open): (Vec<&Json>, Vec<&Json>) = assumptions.partition(|assumption| assumption["accepted"] == true);
    Said {
        line: goal["line"].as_u64().unwrap_or(0) as usize,
        outcome: goal["outcome"] == true,
        // What only undefined behaviour reaches is in no suite.
        verdict: text("verdict") + if goal["through"].is_string() { " through undefined behaviour" } else { "" },
        function: text("function"),
        text: text("text"),
        given: !given.is_empty(),
        names: open.iter().filter_map(|assumption| assumption["name"].as_str().map(str::to_owned)).collect(),
        calls: bounds().find(|bound| bound["what"] == CALLS).and_then(|bound| bound["limit"].as_u64()),
        bounded: bounds().any(|bound| bound["what"] != CALLS),
    }
}

/// The bound that a session keeps or does not keep.
const CALLS: &str = "calls in one test";

/// By capability, the outcomes that native runs take.
type Taken = BTreeMap<Capability, Vec<u8>>;

/// Returns whether an outcome was taken, within the number of calls that limits its verdict.
fn has(log: &[u8], said: &Said) -> bool {
    let within = said.calls.map_or(u8::MAX, |calls| ((1u32 << calls.min(7)) - 1) as u8);
    log.get(2 * said.line + usize::from(said.outcome)).is_some_and(|taken| taken & within != 0)
}

/// Links the unit with its environment, and runs it.
fn taken(unit: &Unit, folder: &Path) -> Result<Taken, String> {
    write(&folder.join(format!("environment.{}", unit.extension)), &unit.environment)?;
    let (replaces, others): (Vec<Capability>, Vec<Capability>) =
        unit.capabilities.iter().partition(|capability| **capability == Capability::ReplacesWeak);
    let mut log = run_environment(unit, folder, &others, &[])?;
    if !replaces.is_empty() {
        let replaced = run_environment(unit, folder, &replaces, &["-DREPLACE_WEAK"])?;
        log.iter_mut().zip(replaced).for_each(|(one, other)| *one |= other);
    }
    let part = |&capability: &Capability| (capability, log[place(capability)..place(capability) + LOG].to_vec());
    Ok(Capability::ALL.iter().map(part).collect())
}

fn run_environment(unit: &Unit, folder: &Path, capabilities: &[Capability], flags: &[&str]) -> Result<Vec<u8>, String> {
    let program = folder.join("environment");
    let mut compile = compiler(unit);
    compile.args(["-fno-builtin", "-DENVIRONMENT", "-o"]).arg(&program).args(flags);
    let file = |name: &str| folder.join(format!("{name}.{}", unit.extension));
    succeed(compile.arg(file("environment")).arg(file("unit")), folder)?;
    let mut run = Command::new(&program);
    run.arg(ENVIRONMENTS).args(arguments(capabilities));
    logged(run, folder)
}

fn compiler(unit: &Unit) -> Command {
    let mut compiler = Command::new(if unit.extension == "c" { "clang-19" } else { "clang++-19" });
    compiler.args(["-w", "-O0"]);
    compiler
}

/// Compiles and runs the emitted tests on the unit that logs.
fn shown_by_tests(unit: &Unit, folder: &Path) -> Result<Vec<u8>, String> {
    let program = folder.join("emitted");
    let mut compile = compiler(unit);
    compile.arg("-I").arg(folder).arg("-o").arg(&program);
    succeed(compile.arg(folder.join(format!("out/unit_test.{}", unit.extension))), folder)?;
    logged(Command::new(&program), folder)
}

/// Runs a program whose outcomes are logged; returns the log.
fn logged(mut run: Command, folder: &Path) -> Result<Vec<u8>, String> {
    let log = folder.join("outcomes");
    fs::write(&log, vec![0; ALL_LOGS]).map_err(|error| error.to_string())?;
    succeed(run.env("OUTCOMES", &log), folder)?;
    fs::read(&log).map_err(|error| error.to_string())
}

fn succeed(command: &mut Command, folder: &Path) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.current_dir(folder).output().map_err(|error| format!("{name}: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{name}: {}: {errors}", output.status)) }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Marks a verdict under accepted assumptions.
pub const GIVEN: &str = " given others";

/// The capabilities that show that a verdict is wrong.
fn contradictions(said: &Said, taken: &Taken) -> Vec<String> {
    let shows = |(capability, log): &(&Capability, &Vec<u8>)| {
        let permitted =
            capability.concerns_objects() || capability.breaks().iter().any(|name| said.names.contains(*name));
        has(log, said)
            && match said.verdict.as_str() {
                "infeasible" => true,
                "infeasible_within_bounds" => !said.bounded && !permitted,
                _ => false,
            }
    };
    let what = |(capability, _): (&Capability, &Vec<u8>)| {
        let names: Vec<&str> = said.names.iter().map(String::as_str).collect();
        let Said { line, outcome, verdict, function, text, .. } = said;
        let given = if said.given { GIVEN } else { "" };
        format!(
            "{capability:?}: line {line} of {function}: '{text}' {outcome} is {verdict} [{}]{given}, but happens",
            names.join(" ")
        )
    };
    taken.iter().filter(shows).map(what).collect()
}

/// Outcomes that are called covered and that the emitted tests do not take.
fn unshown(said: &[Said], log: &[u8]) -> Vec<String> {
    let covered = said.iter().filter(|said| said.verdict == "covered" && !has(log, said));
    covered
        .map(|said| {
            format!(
                "line {} of {}: {} is covered, but no emitted test takes it",
                said.line, said.function, said.outcome
            )
        })
        .collect()
}

/// The assumptions that the verdict may not lack: a native run takes the outcome, and breaks no other that the verdict names.
fn noticed(said: &Said, taken: &Taken) -> BTreeSet<String> {
    let lacking = |name: &String| {
        let names = said.names.iter().filter(|other| *other != name).cloned().collect();
        let weaker = Said { names, ..said.clone() };
        said.verdict == "infeasible_within_bounds" && !contradictions(&weaker, taken).is_empty()
    };
    let is_right = contradictions(said, taken).is_empty();
    said.names.iter().filter(|name| is_right && lacking(name)).cloned().collect()
}
