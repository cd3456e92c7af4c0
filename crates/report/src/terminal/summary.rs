//! Everything below and including the final table.

use std::collections::BTreeSet;
use std::path::PathBuf;

use branchwise_generate::{Confirmation, FunctionReport, GoalReport, Timing};
use branchwise_goals::{Bound, Criterion, Evidence, TestId, UnknownReason, Verdict};
use branchwise_program::assumption::catalogue::PRECONDITION;
use branchwise_program::assumption::{Assumption, KnownAssumption, catalogue};

use super::table::{percent_text, table};
use super::{Colour, Style, TableTime};
use crate::emit::input_line;
use crate::file_report::{Completeness, FileReport, Totals, View, completeness};
use crate::findings::{Listed, listed};
use crate::suite::WrittenSuite;

/// The table, the goals that are not covered and why, the findings, and where the suite was written.
pub fn summary(files: &[FileReport], written: &WrittenSuite, time: TableTime, style: Style) -> String {
    let mut lines = table(files, time, style);
    section(&mut lines, "Not covered", files.iter().flat_map(|file| open_goals(file, style)).collect());
    let undefined = files.iter().flat_map(|file| undefined_goals(file, style)).collect();
    section(&mut lines, "Covered only through undefined behaviour", undefined);
    section(&mut lines, "Assumptions (--assume NAME accepts one)", assumptions(files));
    section(&mut lines, "Findings", files.iter().flat_map(|file| findings(file, style)).collect());
    section(&mut lines, "Longest paths", files.iter().flat_map(slowest_tests).collect());
    section(&mut lines, "Disagreements (a fault of ours, please report)", disagreements(files));
    lines.push(String::new());
    lines.push(covered_line(files));
    lines.extend(completeness_lines(files));
    lines.extend(shortfall(files).map(|shortfall| format!("Note: {shortfall}")));
    let WrittenSuite { tests, reproducers, .. } = written;
    lines.extend((!tests.is_empty()).then(|| format!("Tests written to {}", listed_paths(tests))));
    let reproducers = (!reproducers.is_empty()).then(|| listed_paths(reproducers));
    lines.extend(reproducers.map(|paths| format!("Reproducers of undefined behaviour written to {paths}")));
    lines.join("\n") + "\n"
}

fn listed_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// What was not guaranteed while tests ran.
fn shortfall(files: &[FileReport]) -> Option<String> {
    files.iter().find_map(|file| file.report.replay.sandbox)?.shortfall()
}

fn section(lines: &mut Vec<String>, title: &str, entries: Vec<String>) {
    if !entries.is_empty() {
        lines.push(String::new());
        lines.push(format!("{title}:"));
        lines.extend(entries);
    }
}

fn covered_line(files: &[FileReport]) -> String {
    let totals = Totals::of_files(files);
    let mut line = format!(
        "{} of {} {} covered ({} %) by {}",
        totals.covered_defined(),
        totals.goals,
        goals_word(files),
        percent_text(totals.percent()),
        counted(totals.tests - totals.reproducers, "test"),
    );
    if totals.through_undefined > 0 {
        line += &format!("; {} only through undefined behaviour, left out of the percentage", totals.through_undefined);
    }
    if totals.infeasible > 0 {
        line += &format!(
            "; {} infeasible, so {} % of what can be covered",
            totals.infeasible,
            percent_text(totals.percent_of_feasible())
        );
    }
    line
}

/// For each criterion whether nothing is left to find; what is open stands among what is not covered.
fn completeness_lines(files: &[FileReport]) -> Vec<String> {
    let criteria = files.first().map_or(&[][..], |file| &file.report.criteria);
    let line = |(index, criterion): (usize, &Criterion)| {
        let units = files.iter().flat_map(|file| &file.report.functions);
        let found: Vec<_> = units.map(|unit| completeness(criteria, unit).swap_remove(index)).collect();
        let count = |of: fn(&Completeness) -> usize| found.iter().map(of).sum::<usize>();
        let (open, within_bounds) = (count(|it| it.open.len()), count(|it| it.within_bounds.len()));
        let words = match (open, within_bounds) {
            (0, 0) => "complete: every goal is covered or infeasible".to_string(),
            (0, _) => "complete within the bounds that are named above".to_string(),
            _ => format!("not complete: {} unknown, named above", counted(open, "goal")),
        };
        format!("{}: {words}", criterion.name())
    };
    criteria.iter().enumerate().map(line).collect()
}

/// What the goals are.
fn goals_word(files: &[FileReport]) -> String {
    match files.first().map_or(&[][..], |file| &file.report.criteria) {
        [] | [Criterion::Branch] => "branch outcomes".to_string(),
        criteria => {
            let names: Vec<&str> = criteria.iter().map(|criterion| criterion.name()).collect();
            format!("goals ({})", names.join(", "))
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn open_goals(file: &FileReport, style: Style) -> Vec<String> {
    let unit_lines = |unit: &FunctionReport| {
        let trouble = unit.trouble.iter().map(|trouble| format!("  {}: {}", file.function_name(unit), trouble.what));
        let open = unit.goals.iter().filter(|goal| !matches!(goal.verdict, Verdict::Covered { .. }));
        // Where the whole function could not be treated, every goal has the same reason: one line says it.
        let open = open.filter(|_| unit.trouble.is_none()).map(|goal| goal_line(file, unit, goal, style));
        trouble.chain(open).collect::<Vec<_>>()
    };
    file.report.functions.iter().flat_map(unit_lines).collect()
}

fn undefined_goals(file: &FileReport, style: Style) -> Vec<String> {
    let of_unit = |unit: &FunctionReport| {
        let found = unit.goals.iter().filter(|goal| goal.verdict.is_only_undefined());
        found.map(|goal| goal_line(file, unit, goal, style)).collect::<Vec<_>>()
    };
    file.report.functions.iter().flat_map(of_unit).collect()
}

fn goal_line(file: &FileReport, unit: &FunctionReport, found: &GoalReport, style: Style) -> String {
    let goal = &found.goal;
    let (verdict, colour, why) = match &found.verdict {
        Verdict::Covered { tests, through } => ("covered", Colour::Yellow, covered_text(tests, through.as_deref())),
        Verdict::Infeasible(evidence) => ("infeasible", Colour::Green, proof_text(evidence)),
        Verdict::InfeasibleWithinBounds { bounds, evidence } => limited(bounds, evidence),
        Verdict::Unknown(reason) => ("unknown", Colour::Yellow, unknown_text(reason)),
    };
    let verdict = match file.view(unit, found) {
        View::From(function) => style.paint(colour, &format!("{verdict} from {function}()")),
        View::Unit | View::ThroughCallers => style.paint(colour, verdict),
    };
    format!("  {}: {}: {verdict}: {why}", file.place(goal.place), goal.title())
}

fn covered_text(tests: &[TestId], through: Option<&str>) -> String {
    let by = tests.first().map_or(String::new(), |test| format!("by test {}", test.0));
    through.map_or(by.clone(), |through| format!("{by} through {through}"))
}

/// The proof, with the preconditions and accepted assumptions that it rests on.
fn proof_text(evidence: &Evidence) -> String {
    let stated = evidence.assumptions.iter().filter(|assumption| assumption.accepted);
    let stated: Vec<String> = stated
        .map(|assumption| match &assumption.subject {
            Some(condition) if PRECONDITION.is(assumption) => condition.clone(),
            _ => assumption.key(),
        })
        .collect();
    match stated.is_empty() {
        true => evidence.proof.clone(),
        false => format!("{}, given {}", evidence.proof, stated.join(" and ")),
    }
}

/// A verdict that holds within bounds or under assumptions, its colour, and both.
fn limited(bounds: &[Bound], evidence: &Evidence) -> (&'static str, Colour, String) {
    let assumed: Vec<String> = evidence.open_assumptions().map(Assumption::key).collect();
    let bounds: Vec<String> = bounds.iter().map(|bound| format!("{} at most {}", bound.what, bound.limit)).collect();
    match (bounds.is_empty(), assumed.is_empty()) {
        (true, _) => ("infeasible if", Colour::Yellow, assumed.join(", ")),
        (false, true) => ("infeasible within bounds", Colour::Yellow, bounds.join(", ")),
        (false, false) => {
            ("infeasible within bounds", Colour::Yellow, format!("{}; if {}", bounds.join(", "), assumed.join(", ")))
        }
    }
}

/// Each assumption that a verdict rests on, once.
fn assumptions(files: &[FileReport]) -> Vec<String> {
    let goals = files.iter().flat_map(|file| &file.report.functions).flat_map(|unit| &unit.goals);
    let evidence = goals.filter_map(|goal| match &goal.verdict {
        Verdict::InfeasibleWithinBounds { evidence, .. } => Some(evidence),
        _ => None,
    });
    let used: BTreeSet<&Assumption> = evidence.flat_map(Evidence::open_assumptions).collect();
    let lines = catalogue::ALL.iter().filter_map(|known: &KnownAssumption| {
        let mut texts = used.iter().filter(|assumption| known.is(assumption));
        let first = texts.next()?;
        let more = match texts.count() {
            0 => String::new(),
            more => format!(" (and {more} more of this name)"),
        };
        Some(format!("  {}: {}{more}", known.name, first.text))
    });
    lines.collect()
}

fn unknown_text(reason: &UnknownReason) -> String {
    let blocking = reason.blocking.iter().map(|blocking| format!("; blocked by '{blocking}'"));
    let closest = reason.closest.iter().map(|test| format!("; test {} came closest", test.0));
    reason.reason.clone() + &blocking.chain(closest).collect::<String>()
}

fn findings(file: &FileReport, style: Style) -> Vec<String> {
    listed(file).iter().map(|found| finding_line(file, found, style)).collect()
}

fn finding_line(file: &FileReport, listed: &Listed, style: Style) -> String {
    let Listed { unit, finding, columns, also_in } = listed;
    let function = &file.map.functions[unit.function];
    let place = file.place(finding.place.unwrap_or(function.place));
    let kind = style.paint(Colour::Red, finding.kind.name());
    let call = input_line(file.map, &finding.case);
    let confirmation = match &finding.confirmation {
        Confirmation::Confirmed { by } => format!("confirmed by {by}"),
        Confirmation::NotConfirmed { why } => format!("not confirmed: {why}"),
    };
    let others = columns.iter().filter(|&&column| finding.place.is_some_and(|place| place.column != column));
    let others: Vec<String> = others.map(|column| format!("column {column}")).collect();
    let also: Vec<&str> = others.iter().map(String::as_str).chain(also_in.iter().copied()).collect();
    let also = if also.is_empty() { String::new() } else { format!("\n    also in {}", also.join(", ")) };
    format!("  {place}: {kind}: {}\n    with {call}\n    {confirmation}{also}", finding.message)
}

/// For each function whose tests were timed, the slowest.
fn slowest_tests(file: &FileReport) -> Vec<String> {
    let timed = file.report.functions.iter().filter_map(|unit| Some((unit, unit.timing.as_ref()?)));
    let line = |(unit, timing): (&FunctionReport, &Timing)| {
        let name = &file.map.functions[unit.function].name;
        let words = match (&timing.trouble, timing.slowest()) {
            (Some(trouble), _) => format!("not counted: {trouble}"),
            (None, None) => "no test of a longest path returns".to_string(),
            (None, Some((slowest, count))) => {
                let case = unit.tests.iter().find(|test| test.id == slowest).map(|test| &test.case);
                let call = case.map(|case| input_line(file.map, case)).unwrap_or_default();
                let of = counted(timing.instructions.len(), "test");
                format!("slowest of {of} is test {}: {count} instructions\n    with {call}", slowest.0)
            }
        };
        format!("  {name}: {words}")
    };
    timed.map(line).collect()
}

fn disagreements(files: &[FileReport]) -> Vec<String> {
    let all = files.iter().flat_map(|file| file.report.replay.disagreements.iter().map(move |found| (file, found)));
    let line = |(file, found): (&FileReport, &branchwise_generate::Disagreement)| {
        let test = found.test.map(|test| format!(" test {}", test.0)).unwrap_or_default();
        let call = found.case.as_ref().map(|case| format!("\n    with {}", input_line(file.map, case)));
        format!("  {}{test}: {}{}", found.function, found.what, call.unwrap_or_default())
    };
    all.map(line).collect()
}
