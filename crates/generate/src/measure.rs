//! The suites measured by llvm-cov, and compared with what the marker logs say.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use branchwise_goals::{Criterion, Goal, Verdict, branch_goals};
use branchwise_program::map::{Cfg, Event, Map, MarkerKind, NoDriver, NodeKind, Place};
use branchwise_program::{FunctionId, Id, MarkerId, NodeId};
use branchwise_replay::{Coverage, FunctionCoverage, Harness, NativeEnd, Observation, ReplayError, TestCase, absolute};

use crate::result::{Disagreement, FunctionReport, GoalReport, ReplaySummary, Test};
use crate::settings::Scope;
use crate::unit::Subject;

/// Runs every suite on the instrumented build and sums up; differences become disagreements.
pub(crate) fn measure(
    subject: &Subject<'_>,
    harness: &mut Harness,
    reports: &[FunctionReport],
) -> Result<ReplaySummary, ReplayError> {
    let (map, scope) = (&subject.program.map, subject.settings.scope);
    let mut summary = ReplaySummary::default();
    let suites: Vec<(FunctionId, Vec<TestCase>)> = reports
        .iter()
        .map(|report| (report.function, report.tests.iter().map(|test| test.case.clone()).collect()))
        .collect();
    let coverages = match scope {
        Scope::Unit => vec![harness.measure_units(&suites)?],
        Scope::Reachable => harness.measure_many(&suites.into_iter().map(|(_, cases)| cases).collect::<Vec<_>>())?,
    };
    for (index, report) in reports.iter().enumerate() {
        let coverage = if coverages.len() == 1 { &coverages[0] } else { &coverages[index] };
        let shown = Shown { report, outcomes: branch_outcomes(subject, report) };
        let mut compared = compare(map, &shown, coverage);
        if !compared.disagreements.is_empty() && report.tests.len() > 1 {
            compared = compare(map, &shown, &one_by_one(harness, report)?);
        }
        summary.add(compared);
    }
    Ok(summary)
}

/// What objects of C++ show after the tests that return.
pub(crate) fn observe_states(
    map: &Map,
    harness: &mut Harness,
    reports: &mut [FunctionReport],
) -> Result<(), ReplayError> {
    let shows = |test: &Test| {
        let observed =
            map.functions[test.case.function].usage.as_ref().is_some_and(|usage| !usage.observers.is_empty());
        observed && !test.undefined && test.observation.end == NativeEnd::Returned && test.observation.threw.is_none()
    };
    let mut tests: Vec<&mut Test> =
        reports.iter_mut().flat_map(|report| &mut report.tests).filter(|test| shows(test)).collect();
    let cases: Vec<TestCase> = tests.iter().map(|test| test.case.clone()).collect();
    for (test, state) in tests.iter_mut().zip(harness.states(&cases)?) {
        test.observation.state = state;
    }
    Ok(())
}

/// Where control comes back to the middle of a function (`longjmp`), the derived counts of one test hide what another one
/// shows: counted apart, they do not.
fn one_by_one(harness: &mut Harness, report: &FunctionReport) -> Result<Coverage, ReplayError> {
    let suites: Vec<Vec<TestCase>> = report.tests.iter().map(|test| vec![test.case.clone()]).collect();
    let mut whole = Coverage::default();
    for coverage in harness.measure_many(&suites)? {
        whole.add(coverage);
    }
    Ok(whole)
}

/// The branch outcomes that llvm-cov should know, and whether the marker logs of the suite show them.
struct Shown<'a> {
    report: &'a FunctionReport,
    outcomes: Vec<(Goal, bool)>,
}

fn branch_outcomes(subject: &Subject<'_>, report: &FunctionReport) -> Vec<(Goal, bool)> {
    let is_covered = |goal: &GoalReport| matches!(goal.verdict, Verdict::Covered { .. });
    if subject.settings.criteria.contains(&Criterion::Branch) && subject.settings.wanted.is_empty() {
        let goals = report.goals.iter().filter(|goal| goal.goal.criterion == Criterion::Branch);
        return goals.map(|goal| (goal.goal.clone(), is_covered(goal))).collect();
    }
    let functions = match subject.settings.scope {
        Scope::Unit => vec![report.function],
        Scope::Reachable => subject.routes.reachable(report.function),
    };
    let goals = functions.into_iter().flat_map(|function| branch_goals(&subject.program.map, function));
    // What is not defined may go other ways in the build that llvm-cov measures.
    let defined = report.tests.iter().filter(|test| !test.undefined);
    let taken: HashSet<Event> = defined.flat_map(|test| test.path.iter().copied()).collect();
    goals.map(|goal| (goal.clone(), taken.iter().any(|&event| goal.reached_by(event)))).collect()
}

fn compare(map: &Map, shown: &Shown<'_>, coverage: &Coverage) -> ReplaySummary {
    let mut summary = ReplaySummary::default();
    Comparison { map, shown, coverage, summary: &mut summary }.run();
    summary
}

/// Outcomes at one place of the source: a macro used twice puts several there.
#[derive(Debug, Default)]
struct Outcomes {
    goals: u64,
    covered_goals: u64,
    /// Goals in code that never runs. llvm-cov derives counts by subtraction and credits some of those outcomes.
    never_run: u64,
    /// Goals that may lie behind a `try` whose end nobody counts.
    behind_try: u64,
    regions: u64,
    covered_regions: u64,
}

type Key = (PathBuf, u32, u32, bool);

struct Comparison<'a> {
    map: &'a Map,
    shown: &'a Shown<'a>,
    coverage: &'a Coverage,
    summary: &'a mut ReplaySummary,
}

impl Comparison<'_> {
    fn run(&mut self) {
        let mut functions: Vec<FunctionId> = self.shown.outcomes.iter().map(|(goal, _)| goal.function).collect();
        functions.push(self.shown.report.function);
        functions.sort();
        functions.dedup();
        for function in functions {
            self.function(function);
        }
    }

    fn function(&mut self, function: FunctionId) {
        if matches!(self.map.functions[function].driver, Err(NoDriver::Unwatched(_))) {
            return;
        }
        let mut outcomes: BTreeMap<Key, Outcomes> = BTreeMap::new();
        let never_run = self.map.never_run(function);
        let behind_try = self.behind_quiet_tries(function);
        for (goal, covered) in self.shown.outcomes.iter().filter(|(goal, _)| goal.function == function) {
            let entry = outcomes.entry(self.key(goal)).or_default();
            entry.goals += 1;
            entry.covered_goals += u64::from(*covered);
            entry.never_run += u64::from(goal.markers().iter().any(|marker| never_run.contains(marker)));
            entry.behind_try += u64::from(self.places(goal).any(|node| behind_try[node.index()]));
        }
        let untested = self.shown.report.tests.is_empty();
        let measured = self.coverage.function_named(&self.map.functions[function].symbol);
        if let Some(measured) = measured.filter(|measured| !untested || !measured.branches.is_empty()) {
            count_regions(measured, &mut outcomes);
        } else if untested {
            // Of a template llvm-cov knows the instances, of an inline function its code: there may be none.
            outcomes.values_mut().for_each(|outcome| outcome.regions = outcome.goals);
        } else if !outcomes.is_empty() {
            self.disagree(function, "llvm-cov does not know this function".to_string());
        }
        for (key, outcome) in outcomes {
            self.compare(function, &key, &outcome);
        }
        if let Some(measured) = measured.filter(|_| self.all_returned()) {
            self.statements(function, measured, &behind_try);
        }
    }

    /// A statement that is called covered lies in code that llvm-cov saw run. The converse says nothing: a call may not
    /// return to the statements behind it, which are one region with it.
    fn statements(&mut self, function: FunctionId, measured: &FunctionCoverage, behind_try: &[bool]) {
        let covered = self.shown.report.goals.iter().filter(|report| {
            let Goal { criterion, function: of, .. } = &report.goal;
            let is_claimed = matches!(report.verdict, Verdict::Covered { .. });
            *criterion == Criterion::Statement && *of == function && is_claimed
        });
        for report in covered {
            let Place { file, line, column } = report.goal.place;
            let path = absolute(&self.map.files[file].path);
            let is_counted = !self.places(&report.goal).any(|node| behind_try[node.index()]);
            if is_counted && measured.count_at(&path, (line, column)) == Some(0) {
                let place = format!("{}:{line}:{column}", path.display());
                self.disagree(function, format!("{place}: covered by the marker log, not by llvm-cov"));
            }
        }
    }

    /// The nodes of a goal.
    fn places(&self, goal: &Goal) -> impl Iterator<Item = NodeId> {
        let conditions = goal.markers().into_iter().map(|marker| self.map.markers[marker].node);
        goal.nodes().to_vec().into_iter().chain(conditions)
    }

    fn key(&self, goal: &Goal) -> Key {
        let Place { file, line, column } = goal.spelled;
        (absolute(&self.map.files[file].path), line, column, goal.outcome == Some(true))
    }

    fn compare(&mut self, function: FunctionId, key: &Key, outcome: &Outcomes) {
        self.summary.branch_outcomes += outcome.regions;
        self.summary.covered += outcome.covered_goals;
        self.summary.covered_llvm_cov += outcome.covered_regions;
        let (file, line, column, value) = key;
        let place = format!("{}:{line}:{column} {value}", file.display());
        if outcome.goals != outcome.regions {
            self.disagree(
                function,
                format!("{place}: {} goals, {} outcomes counted by llvm-cov", outcome.goals, outcome.regions),
            );
        } else if outcome.covered_goals > outcome.covered_regions + outcome.behind_try
            || (outcome.covered_goals + outcome.never_run < outcome.covered_regions && self.all_returned())
        {
            self.disagree(
                function,
                format!(
                    "{place}: {} covered by the marker log, {} by llvm-cov",
                    outcome.covered_goals, outcome.covered_regions
                ),
            );
        }
    }

    /// A run that ends inside a call, or leaves one by an exception, credits outcomes that were never taken: llvm-cov derives
    /// counts by subtraction. What is not defined may go other ways in the build that llvm-cov measures.
    fn all_returned(&self) -> bool {
        let threw =
            |seen: &Observation| seen.threw.is_some() || seen.events.iter().any(|it| self.is_handler(it.marker));
        let returned = |test: &Test| test.observation.end == NativeEnd::Returned && !test.undefined;
        self.shown.report.tests.iter().all(|test| returned(test) && !threw(&test.observation))
    }

    /// For each node, by index, whether it may lie behind a `try` none of whose handlers was entered. Where Clang knows that
    /// the body cannot throw, it emits no handlers, and no counter for what follows the statement: every count that is
    /// derived from that one is too low.
    fn behind_quiet_tries(&self, function: FunctionId) -> Vec<bool> {
        let cfg = &self.map.functions[function].cfg;
        let entered = self.entered_handlers();
        let is_quiet = |kind: NodeKind| matches!(kind, NodeKind::Handler(marker) if !entered.contains(&marker));
        let quiet = cfg.nodes.iter().filter(|(_, node)| is_quiet(node.kind)).map(|(id, _)| id);
        cfg.reached_from(quiet.flat_map(|handler| guarded(cfg, handler)).collect())
    }

    fn entered_handlers(&self) -> HashSet<MarkerId> {
        let events = self.shown.report.tests.iter().flat_map(|test| &test.observation.events);
        events.map(|event| event.marker).filter(|&marker| self.is_handler(marker)).collect()
    }

    fn is_handler(&self, marker: MarkerId) -> bool {
        matches!(self.map.markers[marker].kind, MarkerKind::Handler)
    }

    fn disagree(&mut self, function: FunctionId, what: String) {
        let function = self.map.functions[function].name.clone();
        self.summary.disagreements.push(Disagreement { function, test: None, what, case: None });
    }
}

/// The nodes from which a handler is entered. An empty body has none: then it may stand anywhere.
fn guarded(cfg: &Cfg, handler: NodeId) -> Vec<NodeId> {
    let nodes: Vec<NodeId> = cfg.edges.values().filter(|edge| edge.to == handler).map(|edge| edge.from).collect();
    if nodes.is_empty() { vec![cfg.entry] } else { nodes }
}

fn count_regions(measured: &FunctionCoverage, outcomes: &mut BTreeMap<Key, Outcomes>) {
    for branch in &measured.branches {
        for (outcome, count) in [(true, branch.true_count), (false, branch.false_count)] {
            let entry = outcomes.entry((absolute(&branch.file), branch.line, branch.column, outcome)).or_default();
            entry.regions += 1;
            entry.covered_regions += u64::from(count > 0);
        }
    }
}
