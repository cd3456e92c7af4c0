//! Functions one after the other: explore in rounds, replay, minimise, conclude.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use branchwise_goals::{GoalId, Ledger, TestId, UnknownReason, Verdict, branch_goals};
use branchwise_program::code::Location;
use branchwise_program::map::Place;
use branchwise_program::{FunctionId, Program};
use branchwise_replay::{Harness, NativeEnd, ReplayError};
use branchwise_symbolic::{Fault, FaultKind, PathEnd, Session};

use crate::confirm::confirm;
use crate::explore::{Attempt, Budget, Counters, Exploration, Limitations};
use crate::measure::measure;
use crate::replayed::{Replayed, replay};
use crate::result::{
    Confirmation, Disagreement, Finding, FindingKind, FunctionReport, GoalReport, Progress, ReplaySummary, Report,
    Test, TestSource, Trouble, Work,
};
use crate::settings::{Bounds, Scope, Settings};
use crate::suite::{Coverer, minimise};
use crate::verdicts::Judge;

/// What generation works on.
pub struct Generation<'a> {
    pub program: &'a Program,
    pub harness: &'a mut Harness,
    pub settings: &'a Settings,
    /// First line of the compiler's `--version`.
    pub compiler: String,
}

/// Generates, replays and measures tests for these functions of a program.
pub fn generate(
    mut generation: Generation<'_>,
    functions: &[FunctionId],
    on_progress: &mut dyn FnMut(Progress),
) -> Report {
    let mut reports = Vec::new();
    let mut disagreements = Vec::new();
    for &function in functions {
        let mut unit = Unit { generation: &mut generation, function, disagreements: &mut disagreements };
        reports.push(unit.run(on_progress));
    }
    confirm(generation.harness, &mut reports);
    on_progress(Progress::Replaying { tests: reports.iter().map(|report| report.tests.len()).sum() });
    let measured = measure(&generation.program.map, generation.harness, &reports, generation.settings.scope);
    let mut replay = measured.unwrap_or_else(|error| unmeasured(&error));
    replay.compiler = generation.compiler;
    disagreements.append(&mut replay.disagreements);
    replay.disagreements = disagreements;
    Report { functions: reports, replay }
}

/// The suites could not be measured: what was found is kept, and the report says so.
fn unmeasured(error: &ReplayError) -> ReplaySummary {
    let what = format!("the suites could not be measured: {error}");
    ReplaySummary {
        disagreements: vec![Disagreement { function: String::new(), test: None, what }],
        ..ReplaySummary::default()
    }
}

struct Unit<'a, 'g> {
    generation: &'a mut Generation<'g>,
    function: FunctionId,
    disagreements: &'a mut Vec<Disagreement>,
}

impl Unit<'_, '_> {
    fn run(&mut self, on_progress: &mut dyn FnMut(Progress)) -> FunctionReport {
        let name = self.generation.program.map.functions[self.function].name.clone();
        let mut ledger = Ledger::new(self.goals());
        on_progress(Progress::FunctionStarted { name: name.clone(), goals: ledger.len() });
        let started = Instant::now();
        let report = match &self.generation.program.map.functions[self.function].driver {
            Err(limit) => Err(self.without_driver(limit.clone())),
            Ok(_) => self.guarded(&mut ledger, started, &name, on_progress),
        };
        on_progress(Progress::FunctionFinished { name });
        report.unwrap_or_else(|trouble| troubled(self.function, &ledger, trouble))
    }

    /// One function's trouble never stops another: a fault of ours ends this function only.
    fn guarded(
        &mut self,
        ledger: &mut Ledger,
        started: Instant,
        name: &str,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<FunctionReport, Trouble> {
        let attempt = AssertUnwindSafe(|| self.explore_and_conclude(ledger, started, name, on_progress));
        match std::panic::catch_unwind(attempt) {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(error)) => Err(Trouble::of_ours(format!("the replay failed: {error}"))),
            Err(_) => Err(Trouble::of_ours("a fault of Branchwise ended it".to_string())),
        }
    }

    /// There is no driver: a limit of ours, or a precondition that does not compile.
    fn without_driver(&self, what: String) -> Trouble {
        let domain = self.generation.program.map.domain(self.function);
        let fault_of_input = domain.is_some_and(|domain| domain.errors().next().is_some());
        Trouble { what, fault_of_ours: false, fault_of_input }
    }

    fn goals(&self) -> Vec<branchwise_goals::Goal> {
        let map = &self.generation.program.map;
        match self.generation.settings.scope {
            Scope::Unit => branch_goals(map, self.function),
            Scope::Reachable => reachable(self.generation.program, self.function)
                .into_iter()
                .flat_map(|function| branch_goals(map, function))
                .collect(),
        }
    }

    fn explore_and_conclude(
        &mut self,
        ledger: &mut Ledger,
        started: Instant,
        name: &str,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<FunctionReport, ReplayError> {
        let mut counters = Counters::default();
        let mut on_goals =
            |reached, goals| on_progress(Progress::GoalsReached { name: name.to_string(), reached, goals });
        let (attempts, rounds) = self.explore(ledger, &mut counters, started, &mut on_goals);
        let replayed = replay(self.generation.harness, attempts, ledger)?;
        self.note_disagreements(name, &replayed);
        let mut report = conclude(self.generation.program, self.function, ledger, replayed, &rounds, &counters);
        report.work.seconds = started.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Rounds with growing bounds, until everything is decided or the budget is spent.
    fn explore(
        &self,
        ledger: &mut Ledger,
        counters: &mut Counters,
        started: Instant,
        on_goals: &mut dyn FnMut(usize, usize),
    ) -> (Vec<Attempt>, Vec<Limitations>) {
        let name = &self.generation.program.map.functions[self.function].name;
        let settings = self.generation.settings.of_function(name);
        let mut budget = Budget { settings: &settings, started, steps: 0 };
        let mut bounds = Bounds::FIRST;
        let (mut attempts, mut rounds) = (Vec::new(), Vec::new());
        while let Some(session) = Session::new(self.generation.program, self.function, bounds.pointer_elements) {
            let share = round_share(&budget);
            let mut exploration = Exploration::new(session, ledger, counters, bounds, &settings);
            exploration.run(&mut budget, share, on_goals);
            attempts.append(&mut exploration.attempts);
            let limitations = std::mem::take(&mut exploration.limitations);
            let could_grow = limitations.is_cut() && !limitations.interrupted && bounds != bounds.grown();
            rounds.push(limitations);
            if ledger.open() == 0 || !could_grow || budget.spent() >= 1.0 {
                break;
            }
            bounds = bounds.grown();
        }
        (attempts, rounds)
    }

    fn note_disagreements(&mut self, name: &str, replayed: &[Replayed]) {
        for what in replayed.iter().filter_map(Replayed::disagreement) {
            self.disagreements.push(Disagreement { function: name.to_string(), test: None, what });
        }
    }
}

/// A round that is not over by then was cut by its bounds too: the next one gets half of what is left.
fn round_share(budget: &Budget<'_>) -> f64 {
    let spent = budget.spent();
    let half = spent + (1.0 - spent) / 2.0;
    if half > 0.95 { 1.0 } else { half }
}

/// A function for which nothing could be done.
fn troubled(function: FunctionId, ledger: &Ledger, trouble: Trouble) -> FunctionReport {
    let reason =
        UnknownReason { reason: trouble.what.clone(), blocking: None, paths: 0, solver_calls: 0, closest: None };
    let unknown = || Verdict::Unknown(reason.clone());
    let goals = ledger.goals().map(|(id, goal)| GoalReport { id, goal: goal.clone(), verdict: unknown() }).collect();
    FunctionReport {
        function,
        goals,
        tests: Vec::new(),
        findings: Vec::new(),
        work: Work::default(),
        trouble: Some(trouble),
    }
}

fn conclude(
    program: &Program,
    function: FunctionId,
    ledger: &Ledger,
    replayed: Vec<Replayed>,
    rounds: &[Limitations],
    counters: &Counters,
) -> FunctionReport {
    let coverers: Vec<Coverer<'_>> =
        replayed.iter().map(|test| Coverer { covers: &test.covers, clean: test.is_clean() }).collect();
    let kept = minimise(&coverers);
    let tests = suite(&replayed, &kept);
    let findings = findings(program, &replayed, &kept);
    let closest = tests.iter().max_by_key(|test| (test.covers.len(), std::cmp::Reverse(test.id))).map(|test| test.id);
    let judge = Judge { program, function, rounds, counters, closest };
    if let Some(trouble) = unsatisfied(&judge) {
        return FunctionReport { work: work(counters), ..troubled(function, ledger, trouble) };
    }
    let verdict = |id: GoalId| {
        let by: Vec<TestId> = tests.iter().filter(|test| test.covers.contains(&id)).map(|test| test.id).collect();
        match (by.is_empty(), ledger.is_reached(id)) {
            (false, _) => Verdict::Covered { tests: by },
            (true, true) => not_reproduced(counters, closest),
            (true, false) => judge.unreached(ledger.goal(id)),
        }
    };
    let goals = ledger.goals().map(|(id, goal)| GoalReport { id, goal: goal.clone(), verdict: verdict(id) }).collect();
    FunctionReport { function, goals, tests, findings, work: work(counters), trouble: None }
}

/// No input satisfies the preconditions: then nothing follows for the goals.
fn unsatisfied(judge: &Judge<'_>) -> Option<Trouble> {
    let domain = judge.program.map.domain(judge.function)?;
    if judge.counters.accepted > 0 || domain.preconditions.is_empty() {
        return None;
    }
    let texts: Vec<String> =
        domain.preconditions.iter().map(|one| format!("`{}` ({})", one.expression, one.written)).collect();
    let named = match texts.as_slice() {
        [one] => format!("the precondition {one}"),
        all => format!("the preconditions {}", all.join(" and ")),
    };
    let together = if texts.len() > 1 { " together" } else { "" };
    let reason = judge.why_all_rejected();
    let fault_of_input = reason.is_none();
    let what = match reason {
        None => format!("{named} cannot be satisfied{together}"),
        Some(reason) => format!("no input was found that satisfies {named}: {reason}"),
    };
    Some(Trouble { what, fault_of_ours: false, fault_of_input })
}

/// Execution reached it, the native run did not.
fn not_reproduced(counters: &Counters, closest: Option<TestId>) -> Verdict {
    let reason = "the native run did not follow the predicted path".to_string();
    Verdict::Unknown(UnknownReason { reason, blocking: None, paths: counters.paths, solver_calls: 0, closest })
}

fn work(counters: &Counters) -> Work {
    Work {
        paths: counters.paths,
        redundant_tests: counters.redundant,
        infeasible_prefixes: counters.refuted,
        solver_calls: counters.solver_calls.iter().map(|(layer, count)| (layer.clone(), *count)).collect(),
        instructions: counters.instructions,
        seconds: 0.0,
    }
}

fn suite(replayed: &[Replayed], kept: &[usize]) -> Vec<Test> {
    let mut seen = BTreeSet::new();
    let mut tests = Vec::new();
    for (number, &index) in kept.iter().enumerate() {
        let test = &replayed[index];
        let kept_for = test.covers.iter().copied().filter(|&goal| seen.insert(goal)).collect();
        tests.push(Test {
            id: TestId(number as u32 + 1),
            case: test.attempt.case.clone(),
            observation: test.observation.clone(),
            source: if test.attempt.solved { TestSource::Concolic } else { TestSource::Initial },
            covers: test.covers.clone(),
            kept_for,
            path: test.observation.events.clone(),
        });
    }
    tests
}

/// One finding for each place and kind, with the first input that shows it.
fn findings(program: &Program, replayed: &[Replayed], kept: &[usize]) -> Vec<Finding> {
    let mut findings: BTreeMap<(FindingKind, Option<Place>), Finding> = BTreeMap::new();
    for (index, test) in replayed.iter().enumerate() {
        let id = kept.iter().position(|&kept| kept == index).map(|position| TestId(position as u32 + 1));
        for (kind, place, message) in shown(program, test) {
            findings.entry((kind, place)).or_insert_with(|| Finding {
                kind,
                place,
                message,
                case: test.attempt.case.clone(),
                test: id,
                observation: Some(test.observation.clone()),
                confirmation: Confirmation::default(),
            });
        }
    }
    findings.into_values().collect()
}

fn shown(program: &Program, test: &Replayed) -> Vec<(FindingKind, Option<Place>, String)> {
    let path = &test.attempt.path;
    let ending = match &path.end {
        PathEnd::Fault(fault) | PathEnd::SizeBound { fault, .. } => Some(fault),
        _ => None,
    };
    let describe = |fault: &Fault| (finding_kind(fault.kind), place(program, fault.location), fault.message.clone());
    let mut shown: Vec<_> = path.notes.undefined.iter().chain(ending).map(describe).collect();
    shown.extend(
        endless(&path.end, test.observation.end)
            .map(|(location, message)| (FindingKind::DoesNotReturn, place(program, location), message.to_string())),
    );
    shown
}

/// Where a run that never returns was when it was stopped.
fn endless(predicted: &PathEnd, native: NativeEnd) -> Option<(Option<Location>, &'static str)> {
    match (predicted, native) {
        (PathEnd::CallDepth { location, .. }, NativeEnd::Signal(_)) => {
            Some((*location, "the recursion goes on until the stack is full"))
        }
        (PathEnd::InstructionLimit { location, .. } | PathEnd::LoopBound { location, .. }, NativeEnd::TimeLimit) => {
            Some((*location, "still running when the replay was stopped"))
        }
        (_, NativeEnd::TimeLimit) => Some((None, "still running when the replay was stopped")),
        _ => None,
    }
}

fn finding_kind(kind: FaultKind) -> FindingKind {
    match kind {
        FaultKind::OutOfBounds => FindingKind::OutOfBounds,
        FaultKind::NullDereference => FindingKind::NullDereference,
        FaultKind::InvalidPointer => FindingKind::InvalidPointer,
        FaultKind::DivisionByZero => FindingKind::DivisionByZero,
        FaultKind::DivisionOverflow | FaultKind::SignedOverflow => FindingKind::SignedOverflow,
        FaultKind::WriteToConstant => FindingKind::WriteToConstant,
        FaultKind::UseAfterReturn => FindingKind::UseAfterReturn,
        FaultKind::UninitialisedRead => FindingKind::UninitialisedRead,
        FaultKind::Abort => FindingKind::Abort,
        FaultKind::AssertFailed => FindingKind::AssertFailed,
        FaultKind::ShiftTooFar => FindingKind::ShiftTooFar,
    }
}

/// A location of the code as a place of the map; `None` outside the user's files.
fn place(program: &Program, location: Option<Location>) -> Option<Place> {
    let location = location?;
    let name = program.code.files.get(location.file as usize)?;
    let same = |path: &std::path::Path| {
        path.as_os_str() == name.as_str()
            || std::path::Path::new(name).ends_with(path.strip_prefix(".").unwrap_or(path))
            || path.ends_with(name)
    };
    let file = program.map.files.iter().find(|(_, file)| same(&file.path)).map(|(id, _)| id)?;
    Some(Place { file, line: location.line, column: location.column })
}

/// The functions that a function can reach by calls, itself first.
fn reachable(program: &Program, from: FunctionId) -> Vec<FunctionId> {
    let mut order = vec![from];
    let mut next = 0;
    while let Some(&function) = order.get(next) {
        next += 1;
        for call in &program.map.functions[function].calls {
            let callees: Vec<FunctionId> = match &call.callee {
                Some(name) => program.map.function_named(name).into_iter().collect(),
                // A call through a pointer may reach any function.
                None => program.map.functions.ids().collect(),
            };
            for callee in callees {
                if !order.contains(&callee) {
                    order.push(callee);
                }
            }
        }
    }
    order
}
