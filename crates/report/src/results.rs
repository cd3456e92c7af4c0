//! Builds the results as data: the object that `--json` prints and the files of a report hold.

use branchwise_generate::{
    BranchConstraint, Confirmation, FunctionReport, GoalReport, PathConstraint, ReplaySummary, Test, Timing, TreeWork,
};
use branchwise_goals::{Bound, Evidence, GoalId, Notation, TestId, UnknownReason, Verdict};
use branchwise_program::assumption::Assumption;
use branchwise_program::map::{Event, Function, Language, Map, MarkerKind};
use branchwise_replay::Sandbox;
use branchwise_results as results;

use crate::emit::input_line;
use crate::file_report::{Completeness, FileReport, Totals, View, completeness};
use crate::findings::{Listed, listed};
use crate::json_values;

/// A longer trace is cut here; `path_length` says how long it was.
const PATH_LIMIT: usize = 1000;

/// Returns the results of all files as data. `run` says how they were made.
pub fn results(files: &[FileReport], run: results::Run) -> results::Report {
    results::Report {
        version: results::VERSION,
        format: results::ReportFormat::Report,
        run,
        functions: files.iter().flat_map(functions).collect(),
        findings: files.iter().flat_map(findings).collect(),
        replay: replay(files),
    }
}

fn functions(file: &FileReport) -> Vec<results::Function> {
    let notation = Notation::of(file.map);
    file.report.functions.iter().filter_map(|unit| function(file, unit, &notation)).collect()
}

fn function(file: &FileReport, unit: &FunctionReport, notation: &Notation) -> Option<results::Function> {
    let function = file.map.functions.get(unit.function)?;
    Some(results::Function {
        name: function.name.clone(),
        file: file.file_name(function.place),
        line: function.place.line,
        language: match function.language {
            Language::C => results::Language::C,
            Language::Cpp => results::Language::Cpp,
        },
        summary: summary(Totals::of_function(unit)),
        criteria: completeness(&file.report.criteria, unit).iter().map(criterion).collect(),
        goals: unit.goals.iter().map(|found| goal(file, unit, found, notation)).collect(),
        tests: unit.tests.iter().map(|found| test(file, unit, found, notation)).collect(),
        work: work(unit),
        timing: unit.timing.as_ref().map(|found| timing(file.map, unit, found)),
        preconditions: file.map.demands(unit.function),
        interrupted: unit.interrupted,
        trouble: unit.trouble.as_ref().map(|trouble| trouble.what.clone()),
    })
}

fn timing(map: &Map, unit: &FunctionReport, timing: &Timing) -> results::Timing {
    let instructions = timing.instructions.iter();
    results::Timing {
        method: "single steps from entry to return, clang -O0".to_owned(),
        tests: instructions.map(|&(test, instructions)| results::TestTiming { test: test.0, instructions }).collect(),
        slowest: timing.slowest().map(|(test, instructions)| slowest(map, unit, test, instructions)),
        trouble: timing.trouble.clone(),
    }
}

fn slowest(map: &Map, unit: &FunctionReport, slowest: TestId, instructions: u64) -> results::Slowest {
    let test = unit.tests.iter().find(|test| test.id == slowest);
    results::Slowest { test: slowest.0, instructions, call: test.map(|test| input_line(map, &test.case)) }
}

fn criterion(found: &Completeness) -> results::Completeness {
    results::Completeness {
        name: found.criterion.name().to_owned(),
        goals: found.goals,
        complete: found.is_complete(),
        within_bounds: goal_ids(&found.within_bounds),
        open: goal_ids(&found.open),
    }
}

fn summary(totals: Totals) -> results::Summary {
    results::Summary {
        goals: totals.goals,
        covered: totals.covered,
        through_undefined: totals.through_undefined,
        infeasible: totals.infeasible,
        infeasible_within_bounds: totals.infeasible_within_bounds,
        under_assumptions_alone: totals.under_assumptions_alone,
        unknown: totals.unknown,
        tests: totals.tests,
        reproducers: totals.reproducers,
    }
}

fn goal(file: &FileReport, unit: &FunctionReport, found: &GoalReport, notation: &Notation) -> results::Goal {
    let goal = &found.goal;
    let view = file.view(unit, found);
    let refuted = found.refuted.as_ref().filter(|_| !matches!(found.verdict, Verdict::Covered { .. }));
    results::Goal {
        id: found.id.0,
        function: file.map.functions.get(goal.function).map(|function| function.name.clone()),
        criterion: goal.criterion.name().to_owned(),
        kind: goal.kind.name().to_owned(),
        file: file.file_name(goal.place),
        line: goal.place.line,
        column: goal.place.column,
        text: goal.text.clone(),
        outcome: goal.outcome,
        verdict: verdict(&found.verdict),
        tests: tests_of(&found.verdict),
        through: match &found.verdict {
            Verdict::Covered { through, .. } => through.clone(),
            _ => None,
        },
        view: match view {
            View::Unit => results::View::Unit,
            View::From(_) | View::ThroughCallers => results::View::Integration,
        },
        from: match view {
            View::From(function) => Some(function.to_owned()),
            View::Unit | View::ThroughCallers => None,
        },
        pair: found.pair.clone(),
        refuted: refuted.map(|refuted| constraint(refuted, notation)),
        evidence: evidence(found),
        reason: match &found.verdict {
            Verdict::Unknown(reason) => Some(unknown(reason)),
            _ => None,
        },
    }
}

fn verdict(verdict: &Verdict) -> results::Verdict {
    match verdict {
        Verdict::Covered { .. } => results::Verdict::Covered,
        Verdict::Infeasible(_) => results::Verdict::Infeasible,
        Verdict::InfeasibleWithinBounds { .. } => results::Verdict::InfeasibleWithinBounds,
        Verdict::Unknown(_) => results::Verdict::Unknown,
    }
}

fn tests_of(verdict: &Verdict) -> Vec<u32> {
    match verdict {
        Verdict::Covered { tests, .. } => tests.iter().map(|test| test.0).collect(),
        _ => Vec::new(),
    }
}

fn evidence(found: &GoalReport) -> Option<results::Evidence> {
    let proof = |evidence, bounds| results::Evidence::Proved(proof(evidence, bounds, found.attacked));
    match &found.verdict {
        Verdict::Covered { .. } => {
            Some(results::Evidence::Replayed(results::Replayed { proof: "replayed".to_owned() }))
        }
        Verdict::Infeasible(evidence) => Some(proof(evidence, &[])),
        Verdict::InfeasibleWithinBounds { bounds, evidence } => Some(proof(evidence, bounds)),
        Verdict::Unknown(_) => None,
    }
}

fn proof(evidence: &Evidence, bounds: &[Bound], attacked: Option<u64>) -> results::Proof {
    results::Proof {
        proof: evidence.proof.clone(),
        paths: evidence.paths,
        refuted_prefixes: evidence.refuted_prefixes,
        assumptions: evidence.assumptions.iter().map(assumption).collect(),
        infeasible_prefix: evidence.infeasible_prefix.clone(),
        bounds: bounds.iter().map(bound).collect(),
        attacked,
    }
}

fn assumption(assumption: &Assumption) -> results::Assumption {
    let Assumption { name, subject, text, accepted } = assumption.clone();
    results::Assumption { name, subject, text, accepted }
}

fn bound(bound: &Bound) -> results::Bound {
    results::Bound { what: bound.what.clone(), limit: bound.limit }
}

fn unknown(reason: &UnknownReason) -> results::Reason {
    results::Reason {
        message: reason.reason.clone(),
        blocking: reason.blocking.clone(),
        paths: reason.paths,
        solver_calls: reason.solver_calls,
        closest_test: reason.closest.map(|test| test.0),
    }
}

fn constraint(constraint: &PathConstraint, notation: &Notation) -> results::Constraint {
    results::Constraint {
        inputs: constraint.inputs.clone(),
        domain: constraint.domain.clone(),
        branches: constraint.branches.iter().map(|found| branch(found, notation)).collect(),
        more: constraint.more,
    }
}

fn branch(branch: &BranchConstraint, notation: &Notation) -> results::Branch {
    results::Branch { outcome: branch.event.map(|event| notation.outcome(event)), condition: branch.condition.clone() }
}

fn test(file: &FileReport, unit: &FunctionReport, test: &Test, notation: &Notation) -> results::Test {
    let function = &file.map.functions[test.case.function];
    results::Test {
        id: test.id.0,
        inputs: json_values::inputs(file.map, function, &test.case),
        observed: json_values::observed(file.map, function, &test.case, &test.observation),
        path: test.path.iter().take(PATH_LIMIT).map(|event| step(file.map, *event)).collect(),
        path_length: test.path.len(),
        path_text: notation.beginning(test.unit_path(), PATH_LIMIT),
        constraint: constraint(&test.constraint, notation),
        source: test.source.name().to_owned(),
        reproducer: test.reproducer,
        covers: goal_ids(&test.covers),
        kept_for: goal_ids(&test.kept_for),
        calls: (test.case.function != unit.function).then(|| function.name.clone()),
    }
}

fn goal_ids(goals: &[GoalId]) -> Vec<u32> {
    goals.iter().map(|goal| goal.0).collect()
}

fn step(map: &Map, event: Event) -> results::Step {
    let Some(marker) = map.markers.get(event.marker) else {
        return results::Step { marker: event.marker.0, line: None, column: None, outcome: None };
    };
    results::Step {
        marker: event.marker.0,
        line: Some(marker.place.line),
        column: Some(marker.place.column),
        outcome: Some(outcome(&marker.kind, event.outcome)),
    }
}

fn outcome(kind: &MarkerKind, outcome: u32) -> results::Outcome {
    match kind {
        MarkerKind::Condition { .. } => results::Outcome::Truth(outcome == 1),
        MarkerKind::Handler => results::Outcome::Label("catch".to_owned()),
        MarkerKind::Switch { labels, .. } => {
            let label = labels.get(outcome as usize);
            results::Outcome::Label(label.map_or("no label", |label| label.text.as_str()).to_owned())
        }
    }
}

fn work(unit: &FunctionReport) -> results::Work {
    let work = &unit.work;
    results::Work {
        paths: work.paths,
        redundant_tests: work.redundant_tests,
        infeasible_prefixes: work.infeasible_prefixes,
        skipped_alternatives: work.skipped_alternatives,
        solver_calls: work.solver_calls.iter().cloned().collect(),
        instructions: work.instructions,
        fault_queries: work.fault_queries,
        edges: work.edges,
        unconstrained_edges: work.unconstrained_edges,
        aimed: work.aimed,
        suite: results::SuiteWork { candidates: work.suite.candidates, smallest: work.suite.smallest },
        trees: trees(&work.trees),
        seconds: Some(work.seconds),
    }
}

fn trees(work: &TreeWork) -> results::TreeWork {
    results::TreeWork {
        grown: work.grown,
        partial: work.partial,
        paths: work.paths,
        lines: work.lines,
        nodes: work.nodes,
        symbols: work.symbols,
        linear: work.linear,
        smt: work.smt,
        undecided: work.undecided,
        refuted: work.refuted,
        missed: work.missed,
    }
}

fn findings(file: &FileReport) -> Vec<results::Finding> {
    listed(file).iter().map(|found| finding(file, found)).collect()
}

fn finding(file: &FileReport, listed: &Listed) -> results::Finding {
    let Listed { unit, finding, columns, also_in } = listed;
    let function: &Function = &file.map.functions[unit.function];
    let place = finding.place;
    let observation = finding.observation.as_ref();
    let (by, why) = match &finding.confirmation {
        Confirmation::Confirmed { by } => (Some(by.clone()), None),
        Confirmation::NotConfirmed { why } => (None, Some(why.clone())),
    };
    results::Finding {
        kind: finding.kind.name().to_owned(),
        file: file.file_name(place.unwrap_or(function.place)),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        test: finding.test.map(|test| test.0),
        message: finding.message.clone(),
        function: function.name.clone(),
        function_file: file.file_name(function.place),
        inputs: json_values::inputs(file.map, function, &finding.case),
        columns: if columns.len() > 1 { columns.clone() } else { Vec::new() },
        also_in: also_in.iter().map(|name| (*name).to_owned()).collect(),
        confirmed: by.is_some(),
        confirmed_by: by,
        not_confirmed_because: why,
        observed: observation.map(|seen| json_values::observed(file.map, function, &finding.case, seen)),
    }
}

/// Sums the measures of all files.
fn replay(files: &[FileReport]) -> results::Replay {
    let summaries: Vec<&ReplaySummary> = files.iter().map(|file| &file.report.replay).collect();
    let compiler = summaries.iter().map(|summary| &summary.compiler).find(|compiler| !compiler.is_empty());
    results::Replay {
        compiler: compiler.cloned().unwrap_or_default(),
        branch_outcomes: summaries.iter().map(|summary| summary.branch_outcomes).sum(),
        covered: summaries.iter().map(|summary| summary.covered).sum(),
        covered_llvm_cov: summaries.iter().map(|summary| summary.covered_llvm_cov).sum(),
        disagreements: files.iter().flat_map(disagreements).collect(),
        sandbox: summaries.iter().find_map(|summary| summary.sandbox).map(sandbox_results),
    }
}

/// Returns how native runs were confined.
pub fn sandbox_results(sandbox: Sandbox) -> results::Sandbox {
    let Sandbox { mode, layers } = sandbox;
    results::Sandbox {
        mode: mode.name().to_owned(),
        files: layers.files(),
        calls: layers.calls().to_owned(),
        namespaces: layers.namespace_kinds().iter().map(|&kind| kind.to_owned()).collect(),
        missing: layers.missing().iter().map(|layer| layer.to_string()).collect(),
    }
}

fn disagreements(file: &FileReport) -> Vec<results::Disagreement> {
    let found = file.report.replay.disagreements.iter();
    found
        .map(|found| results::Disagreement {
            function: found.function.clone(),
            test: found.test.map(|test| test.0),
            what: found.what.clone(),
            call: found.case.as_ref().map(|case| input_line(file.map, case)),
        })
        .collect()
}
