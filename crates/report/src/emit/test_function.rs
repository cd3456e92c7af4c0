//! One emitted test: its name, what it is for, its statements and how it ends.

use std::collections::BTreeSet;

use branchwise_generate::{Finding, FindingKind, FunctionReport, GoalReport, Test};
use branchwise_goals::{Notation, Verdict};
use branchwise_program::map::Function;
use branchwise_replay::NativeEnd;

use super::allocations;
use super::body::{Expected, body};
use super::comment::{harmless, wrapped};
use super::dialect::Dialect;
use super::names::identifier;
use super::needs::Needs;
use crate::file_report::FileReport;

/// A test as a C function, whatever framework runs it.
#[derive(Debug)]
pub struct TestFunction {
    /// `test_trityp_1`
    pub name: String,
    /// The function under test and the number of the test.
    pub unit: String,
    pub number: u32,
    /// What it is for.
    pub comment: String,
    /// Its statements, in braces.
    pub block: String,
    pub end: End,
    pub needs: Needs,
}

impl TestFunction {
    /// A function without parameters or result; `storage` is what stands before it.
    pub fn definition(&self, storage: &str) -> String {
        format!("{}\n{storage}void {}(void)\n{}", self.comment, self.name, self.block)
    }
}

/// How the test function ends when all is as observed.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum End {
    Returns,
    Exits(i32),
    EndsBySignal(i32),
    RunsOn,
    /// Undefined behaviour: nothing can be expected.
    EndsAnyhow,
}

/// Outcomes of a path that a comment lists.
const MOST_OUTCOMES: usize = 24;

/// Which tests of a file are written.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Those that must pass.
    Suite,
    /// Those that are kept for what lies behind undefined behaviour.
    Reproducers,
}

impl Kind {
    /// The kind of a test.
    pub fn of(test: &Test) -> Kind {
        if test.reproducer { Kind::Reproducers } else { Kind::Suite }
    }
}

/// The tests of a suite; `dialect` says in which their expectations are written, by how they end.
pub fn test_functions(file: &FileReport, dialect: impl Fn(End) -> Dialect) -> Vec<TestFunction> {
    functions_of_kind(file, Kind::Suite, dialect)
}

/// All tests of a file that are of a kind.
pub fn functions_of_kind(file: &FileReport, kind: Kind, dialect: impl Fn(End) -> Dialect) -> Vec<TestFunction> {
    let notation = Notation::of(file.map);
    let mut taken: BTreeSet<String> = file.map.functions.values().map(|function| function.name.clone()).collect();
    let mut functions = Vec::new();
    for unit in &file.report.functions {
        let Some(function) = file.map.functions.get(unit.function) else { continue };
        for test in unit.tests.iter().filter(|test| Kind::of(test) == kind && is_emitted(file, test)) {
            let path = notation.beginning(test.unit_path(), MOST_OUTCOMES);
            let name = free_name(&function.name, test.id.0, &mut taken);
            functions.push(test_function(file, (unit, function, test), name, &path, &dialect));
        }
    }
    functions
}

/// A test that called what acts on the world ended there. Outside of the harness nothing would stop it.
fn is_emitted(file: &FileReport, test: &Test) -> bool {
    let refused = test.observation.end == NativeEnd::Signal(REFUSED);
    !refused && allocations::is_emitted(file, &test.case)
}

/// `SIGSYS`: the end of a test that calls what no test may call.
const REFUSED: i32 = 31;

fn test_function(
    file: &FileReport,
    (unit, function, test): (&FunctionReport, &Function, &Test),
    name: String,
    path: &str,
    dialect: &impl Fn(End) -> Dialect,
) -> TestFunction {
    let findings: Vec<&Finding> = unit.findings.iter().filter(|finding| finding.test == Some(test.id)).collect();
    let end = end(test, &findings);
    let expected = if end == End::EndsAnyhow { Expected::Nothing } else { Expected::Observed };
    let body = body(file.map, &file.map.functions[test.case.function], test, expected, dialect(end));
    let comment = comment(file, unit, test, (&findings, path), end).join("\n");
    let mut block = "{\n".to_owned();
    for line in &body.lines {
        block += &wrapped(line, "    ");
        block.push('\n');
    }
    block += "}\n";
    TestFunction { name, unit: function.name.clone(), number: test.id.0, comment, block, end, needs: body.needs }
}

fn free_name(function: &str, number: u32, taken: &mut BTreeSet<String>) -> String {
    let mut name = format!("test_{}_{number}", plain_name(function));
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// In C a name is an identifier already; in C++ it may have scopes and parameters.
pub fn plain_name(function: &str) -> String {
    let plain = function.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain { function.to_owned() } else { identifier(function) }
}

fn end(test: &Test, findings: &[&Finding]) -> End {
    if test.reproducer || findings.iter().any(|finding| is_open_ended(finding.kind)) {
        return End::EndsAnyhow;
    }
    match test.observation.end {
        NativeEnd::Returned | NativeEnd::Exited(_) if test.undefined => End::EndsAnyhow,
        NativeEnd::Returned => End::Returns,
        NativeEnd::Exited(status) => End::Exits(status),
        NativeEnd::Signal(number) => End::EndsBySignal(number),
        NativeEnd::TimeLimit => End::RunsOn,
        // No suite keeps such a test.
        NativeEnd::Rejected => End::EndsAnyhow,
    }
}

/// Where what happens depends on what lies in memory beside the inputs, or on the optimiser. A null pointer and a
/// division by zero end by their signal in practice.
fn is_open_ended(kind: FindingKind) -> bool {
    match kind {
        FindingKind::OutOfBounds
        | FindingKind::InvalidPointer
        | FindingKind::SignedOverflow
        | FindingKind::ShiftTooFar
        | FindingKind::FloatOutOfRange
        | FindingKind::UseAfterReturn
        | FindingKind::UseAfterFree
        | FindingKind::DoubleFree
        | FindingKind::InvalidFree
        | FindingKind::UninitialisedRead => true,
        FindingKind::NullDereference
        | FindingKind::DivisionByZero
        | FindingKind::WriteToConstant
        | FindingKind::AssertFailed
        | FindingKind::Abort
        | FindingKind::Terminate
        | FindingKind::UncaughtException
        | FindingKind::ExceptionWhileUnwinding
        | FindingKind::PureVirtualCall
        | FindingKind::LeakOnUnwinding
        | FindingKind::DoesNotReturn => false,
    }
}

/// What the test is for, what it shows and how it ends.
fn comment(
    file: &FileReport,
    unit: &FunctionReport,
    test: &Test,
    (findings, path): (&[&Finding], &str),
    end: End,
) -> Vec<String> {
    let goal = |id| unit.goals.iter().find(|goal: &&GoalReport| goal.id == id);
    let goals: Vec<String> =
        test.kept_for.iter().filter_map(|id| goal(*id)).map(|found| goal_text(file, found)).collect();
    let mut parts = Vec::new();
    if !goals.is_empty() {
        parts.push(format!("for: {}", goals.join("; ")));
    }
    let demands = file.map.demands(test.case.function);
    parts.extend(demands.into_iter().map(|demand| format!("precondition: {demand}")));
    parts.extend(findings.iter().map(|finding| finding_text(file, finding)));
    parts.extend(end_text(end));
    if !path.is_empty() {
        parts.push(format!("path: {path}"));
    }
    if parts.is_empty() {
        parts.push("another way through the function".to_owned());
    }
    let last = parts.len() - 1;
    let mut lines: Vec<String> = parts.iter().map(|part| wrapped(&harmless(part), "   ")).collect();
    lines[0].replace_range(..3, "/* ");
    lines[last] += " */";
    lines
}

fn goal_text(file: &FileReport, found: &GoalReport) -> String {
    let goal = &found.goal;
    let place = goal.place;
    let elsewhere = file.map.files.get(place.file).is_some_and(|other| other.path != file.source);
    let prefix = if elsewhere { format!("{}:", file.file_name(place)) } else { String::new() };
    let through = match &found.verdict {
        Verdict::Covered { through: Some(through), .. } => format!(", only through {through}"),
        _ => String::new(),
    };
    format!("{prefix}{}:{} {}{through}", place.line, place.column, goal.title())
}

fn finding_text(file: &FileReport, finding: &Finding) -> String {
    let place = finding.place.map(|place| format!(" at {}", file.place(place))).unwrap_or_default();
    format!("finding: {}{place}: {}", finding.kind.name(), finding.message)
}

fn end_text(end: End) -> Option<String> {
    match end {
        End::Returns => None,
        End::Exits(status) => Some(format!("observed: exits with status {status}")),
        End::EndsBySignal(number) => Some(format!("observed: ends with {}", super::signal_name(number))),
        End::RunsOn => Some("observed: did not return within a second".to_owned()),
        End::EndsAnyhow => Some("undefined behaviour: nothing is expected of what follows".to_owned()),
    }
}
