//! The JSON object, version 1. Keys may be added, never renamed.

use branchwise_generate::{
    BranchConstraint, Confirmation, Disagreement, FunctionReport, GoalReport, PathConstraint, ReplaySummary, Test,
    Timing, TreeWork,
};
use branchwise_goals::{Bound, Evidence, Notation, TestId, UnknownReason, Verdict};
use branchwise_program::map::{Event, Language, MarkerKind, Place};
use branchwise_replay::Sandbox;
use serde_json::{Map as JsonMap, Value as Json, json};

use crate::emit::input_line;
use crate::file_report::{Completeness, FileReport, Totals, View, completeness};
use crate::findings::{Listed, listed};
use crate::json_values;

/// A longer trace is cut here; `path_length` says how long it was.
const PATH_LIMIT: usize = 1000;

/// The object that `--json` prints and `report.json` holds.
pub fn json(files: &[FileReport]) -> Json {
    let functions = files.iter().flat_map(|file| {
        let notation = Notation::of(file.map);
        let functions = file.report.functions.iter();
        functions.map(move |found| function(file, found, &notation)).collect::<Vec<_>>()
    });
    let findings = files.iter().flat_map(|file| listed(file).into_iter().map(|found| finding(file, &found)));
    json!({
        "version": 1,
        "functions": functions.collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "replay": replay(files),
    })
}

fn function(file: &FileReport, unit: &FunctionReport, notation: &Notation) -> Json {
    let Some(function) = file.map.functions.get(unit.function) else { return Json::Null };
    let mut object = json!({
        "name": function.name,
        "file": file.file_name(function.place),
        "line": function.place.line,
        "language": match function.language { Language::C => "c", Language::Cpp => "c++" },
        "summary": summary(Totals::of_function(unit)),
        "criteria": completeness(&file.report.criteria, unit).iter().map(criterion).collect::<Vec<_>>(),
        "goals": unit.goals.iter().map(|found| goal(file, unit, found, notation)).collect::<Vec<_>>(),
        "tests": unit.tests.iter().map(|found| test(file, unit, found, notation)).collect::<Vec<_>>(),
        "work": work(unit),
    });
    if let Some(found) = &unit.timing {
        object["timing"] = timing(file, unit, found);
    }
    let preconditions = file.map.demands(unit.function);
    if !preconditions.is_empty() {
        object["preconditions"] = json!(preconditions);
    }
    if unit.interrupted {
        object["interrupted"] = json!(true);
    }
    if let Some(trouble) = &unit.trouble {
        object["trouble"] = json!(trouble.what);
    }
    object
}

fn timing(file: &FileReport, unit: &FunctionReport, timing: &Timing) -> Json {
    let test = |&(test, count): &(TestId, Option<u64>)| json!({ "test": test.0, "instructions": count });
    let mut object = json!({
        "method": "single steps from entry to return, clang -O0",
        "tests": timing.instructions.iter().map(test).collect::<Vec<_>>(),
    });
    if let Some((slowest, count)) = timing.slowest() {
        let case = unit.tests.iter().find(|test| test.id == slowest).map(|test| &test.case);
        let call = case.map(|case| input_line(file.map, case));
        object["slowest"] = json!({ "test": slowest.0, "instructions": count, "call": call });
    }
    if let Some(trouble) = &timing.trouble {
        object["trouble"] = json!(trouble);
    }
    object
}

fn criterion(found: &Completeness) -> Json {
    json!({
        "name": found.criterion.name(),
        "goals": found.goals,
        "complete": found.is_complete(),
        "within_bounds": found.within_bounds.iter().map(|goal| goal.0).collect::<Vec<_>>(),
        "open": found.open.iter().map(|goal| goal.0).collect::<Vec<_>>(),
    })
}

fn summary(totals: Totals) -> Json {
    json!({
        "goals": totals.goals,
        "covered": totals.covered,
        "infeasible": totals.infeasible,
        "infeasible_within_bounds": totals.infeasible_within_bounds,
        "unknown": totals.unknown,
        "tests": totals.tests,
    })
}

fn goal(file: &FileReport, unit: &FunctionReport, found: &GoalReport, notation: &Notation) -> Json {
    let goal = &found.goal;
    let mut object = json!({
        "id": found.id.0,
        "function": file.map.functions.get(goal.function).map(|function| &function.name),
        "criterion": goal.criterion.name(),
        "kind": goal.kind.name(),
        "file": file.file_name(goal.place),
        "line": goal.place.line,
        "column": goal.place.column,
        "text": goal.text,
        "outcome": goal.outcome,
        "verdict": found.verdict.name(),
        "tests": [],
    });
    match file.view(unit, found) {
        View::Unit => object["view"] = json!("unit"),
        View::From(function) => {
            object["view"] = json!("integration");
            object["from"] = json!(function);
        }
        View::ThroughCallers => object["view"] = json!("integration"),
    }
    if let Some(pair) = &found.pair {
        object["pair"] = json!(pair);
    }
    if let Some(refuted) = found.refuted.as_ref().filter(|_| !matches!(found.verdict, Verdict::Covered { .. })) {
        object["refuted"] = constraint(refuted, notation);
    }
    match &found.verdict {
        Verdict::Covered { tests } => {
            object["tests"] = test_ids(tests);
            object["evidence"] = json!({ "proof": "replayed" });
        }
        Verdict::Infeasible(proof) => object["evidence"] = evidence(proof),
        Verdict::InfeasibleWithinBounds { bounds, evidence: proof } => {
            object["evidence"] = evidence(proof);
            object["evidence"]["bounds"] = bounds.iter().map(bound).collect();
        }
        Verdict::Unknown(reason) => object["reason"] = unknown(reason),
    }
    object
}

fn test_ids(tests: &[TestId]) -> Json {
    tests.iter().map(|test| Json::from(test.0)).collect()
}

fn evidence(evidence: &Evidence) -> Json {
    let mut object = json!({
        "proof": evidence.proof,
        "paths": evidence.paths,
        "refuted_prefixes": evidence.refuted_prefixes,
        "assumptions": evidence.assumptions,
    });
    if let Some(prefix) = &evidence.infeasible_prefix {
        object["infeasible_prefix"] = json!(prefix);
    }
    object
}

fn bound(bound: &Bound) -> Json {
    json!({ "what": bound.what, "limit": bound.limit })
}

fn unknown(reason: &UnknownReason) -> Json {
    json!({
        "message": reason.reason,
        "blocking": reason.blocking,
        "paths": reason.paths,
        "solver_calls": reason.solver_calls,
        "closest_test": reason.closest.map(|test| test.0),
    })
}

fn constraint(constraint: &PathConstraint, notation: &Notation) -> Json {
    let branch = |branch: &BranchConstraint| json!({ "outcome": branch.event.map(|event| notation.outcome(event)), "condition": branch.condition });
    json!({
        "inputs": constraint.inputs,
        "domain": constraint.domain,
        "branches": constraint.branches.iter().map(branch).collect::<Vec<_>>(),
        "more": constraint.more,
    })
}

fn test(file: &FileReport, unit: &FunctionReport, test: &Test, notation: &Notation) -> Json {
    let function = &file.map.functions[test.case.function];
    let mut object = json!({
        "id": test.id.0,
        "inputs": json_values::inputs(file.map, function, &test.case),
        "observed": json_values::observed(file.map, function, &test.case, &test.observation),
        "path": test.path.iter().take(PATH_LIMIT).map(|event| step(file, *event)).collect::<Vec<_>>(),
        "path_length": test.path.len(),
        "path_text": notation.beginning(test.unit_path(), PATH_LIMIT),
        "constraint": constraint(&test.constraint, notation),
        "source": test.source.name(),
        "covers": test.covers.iter().map(|goal| goal.0).collect::<Vec<_>>(),
        "kept_for": test.kept_for.iter().map(|goal| goal.0).collect::<Vec<_>>(),
    });
    if test.case.function != unit.function {
        object["calls"] = json!(function.name);
    }
    object
}

fn step(file: &FileReport, event: Event) -> Json {
    let Some(marker) = file.map.markers.get(event.marker) else { return json!({ "marker": event.marker.0 }) };
    let outcome = match &marker.kind {
        MarkerKind::Condition { .. } => Json::Bool(event.outcome == 1),
        MarkerKind::Handler => Json::from("catch"),
        MarkerKind::Switch { labels, .. } => {
            let label = labels.get(event.outcome as usize);
            Json::from(label.map_or("no label", |label| label.text.as_str()))
        }
    };
    json!({
        "marker": event.marker.0,
        "line": marker.place.line,
        "column": marker.place.column,
        "outcome": outcome,
    })
}

fn work(unit: &FunctionReport) -> Json {
    let work = &unit.work;
    let layers = work.solver_calls.iter().map(|(layer, calls)| (layer.clone(), Json::from(*calls)));
    json!({
        "paths": work.paths,
        "redundant_tests": work.redundant_tests,
        "infeasible_prefixes": work.infeasible_prefixes,
        "skipped_alternatives": work.skipped_alternatives,
        "solver_calls": layers.collect::<JsonMap<String, Json>>(),
        "instructions": work.instructions,
        "fault_queries": work.fault_queries,
        "edges": work.edges,
        "unconstrained_edges": work.unconstrained_edges,
        "aimed": work.aimed,
        "suite": { "candidates": work.suite.candidates, "smallest": work.suite.smallest },
        "trees": trees(&work.trees),
        "seconds": work.seconds,
    })
}

fn trees(work: &TreeWork) -> Json {
    json!({
        "grown": work.grown,
        "partial": work.partial,
        "paths": work.paths,
        "lines": work.lines,
        "nodes": work.nodes,
        "symbols": work.symbols,
        "linear": work.linear,
        "smt": work.smt,
        "undecided": work.undecided,
        "refuted": work.refuted,
        "missed": work.missed,
    })
}

fn finding(file: &FileReport, listed: &Listed) -> Json {
    let Listed { unit, finding, columns, also_in } = listed;
    let function = &file.map.functions[unit.function];
    let place = finding.place;
    let name = |place: Place| file.file_name(place);
    let mut object = json!({
        "kind": finding.kind.name(),
        "file": place.map_or_else(|| name(function.place), name),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "test": finding.test.map(|test| test.0),
        "message": finding.message,
        "function": function.name,
        "inputs": json_values::inputs(file.map, function, &finding.case),
    });
    if columns.len() > 1 {
        object["columns"] = json!(columns);
    }
    if !also_in.is_empty() {
        object["also_in"] = json!(also_in);
    }
    object["confirmed"] = json!(matches!(finding.confirmation, Confirmation::Confirmed { .. }));
    match &finding.confirmation {
        Confirmation::Confirmed { by } => object["confirmed_by"] = json!(by),
        Confirmation::NotConfirmed { why } => object["not_confirmed_because"] = json!(why),
    }
    if let Some(observation) = &finding.observation {
        object["observed"] = json_values::observed(file.map, function, &finding.case, observation);
    }
    object
}

/// The measures of all files, summed.
fn replay(files: &[FileReport]) -> Json {
    let summaries = || files.iter().map(|file| &file.report.replay);
    let sum = |count: fn(&ReplaySummary) -> u64| summaries().map(count).sum::<u64>();
    let compiler = summaries().map(|summary| summary.compiler.as_str()).find(|compiler| !compiler.is_empty());
    let mut object = json!({
        "compiler": compiler.unwrap_or_default(),
        "branch_outcomes": sum(|summary| summary.branch_outcomes),
        "covered": sum(|summary| summary.covered),
        "covered_llvm_cov": sum(|summary| summary.covered_llvm_cov),
        "disagreements": summaries().flat_map(|summary| &summary.disagreements).map(disagreement).collect::<Vec<_>>(),
    });
    if let Some(sandbox) = summaries().find_map(|summary| summary.sandbox) {
        object["sandbox"] = sandbox_json(sandbox);
    }
    object
}

/// How native runs were confined.
pub fn sandbox_json(sandbox: Sandbox) -> Json {
    let Sandbox { mode, layers } = sandbox;
    json!({
        "mode": mode.name(),
        "files": layers.files(),
        "calls": layers.calls(),
        "namespaces": layers.namespace_kinds(),
        "missing": layers.missing().iter().map(|layer| layer.to_string()).collect::<Vec<_>>(),
    })
}

fn disagreement(disagreement: &Disagreement) -> Json {
    json!({
        "function": disagreement.function,
        "test": disagreement.test.map(|test| test.0),
        "what": disagreement.what,
    })
}
