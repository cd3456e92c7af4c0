//! Why a goal has its verdict, read from a stored report.

use std::fmt;

use branchwise_results::{
    Bound, Constraint, Evidence, Folder, Function, Goal, IndexedFunction, Lines, LoadError, Proof, Reason,
};

/// Why there is no explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExplainError {
    /// The report has no such goal.
    NoGoal { wanted: String },
    /// The file of a function cannot be read.
    Unreadable(LoadError),
}

impl ExplainError {
    pub fn hint(&self) -> &str {
        match self {
            ExplainError::NoGoal { .. } => {
                "name a goal as FUNCTION:ID, LINE:COLUMN or FILE:LINE:COLUMN, as the files of the report list them"
            }
            ExplainError::Unreadable(error) => &error.hint,
        }
    }
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExplainError::NoGoal { wanted } => write!(f, "no goal '{wanted}' in this report"),
            ExplainError::Unreadable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExplainError {}

/// The goals that a user names.
struct Wanted<'a> {
    place: &'a str,
    outcome: Option<bool>,
}

/// Explains the goals that `wanted` names: `FUNCTION:ID`, `LINE`, `LINE:COLUMN`, `FILE:LINE:COLUMN` or their text, each with an
/// optional `:true` or `:false` at the end.
///
/// Only the functions are read that have goals in such a place. Where none of them has the goal, it may be named by its
/// text, and the others are read too.
pub fn explain(folder: &Folder, wanted: &str) -> Result<String, ExplainError> {
    let goals = match wanted.rsplit_once(':') {
        Some((place, "true")) => Wanted { place, outcome: Some(true) },
        Some((place, "false")) => Wanted { place, outcome: Some(false) },
        _ => Wanted { place: wanted, outcome: None },
    };
    let functions = folder.index.functions.iter();
    let (near, others): (Vec<_>, Vec<_>) = functions.partition(|function| goals.may_be_in(function));
    let mut found = explanations(folder, &near, &goals)?;
    if found.is_empty() {
        found = explanations(folder, &others, &goals)?;
    }
    if found.is_empty() {
        return Err(ExplainError::NoGoal { wanted: wanted.to_owned() });
    }
    Ok(found.join("\n"))
}

fn explanations(
    folder: &Folder,
    functions: &[&IndexedFunction],
    wanted: &Wanted<'_>,
) -> Result<Vec<String>, ExplainError> {
    let mut found = Vec::new();
    for indexed in functions {
        let function = folder.function(indexed).map_err(ExplainError::Unreadable)?.function;
        let goals = function.goals.iter().filter(|goal| wanted.names(&function, goal));
        found.extend(goals.map(|goal| explanation(&function, goal)));
    }
    Ok(found)
}

impl Wanted<'_> {
    /// Tells from the index alone whether a function may have such a goal, unless its text names it.
    fn may_be_in(&self, function: &IndexedFunction) -> bool {
        let by_number = self.place.rsplit_once(':').is_some_and(|(name, _)| name == function.name);
        by_number || function.places.iter().any(|lines| self.may_be_between(lines))
    }

    fn may_be_between(&self, lines: &Lines) -> bool {
        let in_file = self.place.strip_prefix(&lines.file).and_then(|place| place.strip_prefix(':'));
        let line = in_file.unwrap_or(self.place).split(':').next().unwrap_or_default();
        line.parse().is_ok_and(|line: u32| (lines.first..=lines.last).contains(&line))
    }

    fn names(&self, function: &Function, goal: &Goal) -> bool {
        let Goal { id, file, line, column, text, .. } = goal;
        let names = [
            format!("{}:{id}", function.name),
            line.to_string(),
            format!("{line}:{column}"),
            format!("{file}:{line}"),
            format!("{file}:{line}:{column}"),
            text.clone(),
        ];
        let outcome_fits = self.outcome.is_none() || goal.outcome == self.outcome;
        outcome_fits && names.iter().any(|name| name == self.place)
    }
}

fn explanation(function: &Function, goal: &Goal) -> String {
    let Goal { id, file, line, column, text, .. } = goal;
    let outcome = goal.outcome.map_or(String::new(), |outcome| format!(" {outcome}"));
    let mut lines = vec![
        format!("{}:{id}  {file}:{line}:{column}  '{text}'{outcome}", function.name),
        format!("  verdict: {}", goal.verdict.name()),
    ];
    if let Some(through) = &goal.through {
        lines.push(format!("  through: {through}; no test was found that covers it without undefined behaviour"));
    }
    for (index, id) in goal.tests.iter().enumerate() {
        lines.extend(test_lines(function, *id, index == 0));
    }
    lines.extend(goal.refuted.iter().flat_map(|refuted| constraint_lines(refuted, "refuted path constraint")));
    match &goal.evidence {
        Some(Evidence::Replayed(replayed)) => lines.push(format!("  proof: {}", replayed.proof)),
        Some(Evidence::Proved(proof)) => lines.extend(proof_lines(proof)),
        None => {}
    }
    lines.extend(goal.reason.iter().flat_map(reason_lines));
    lines.join("\n") + "\n"
}

fn proof_lines(proof: &Proof) -> Vec<String> {
    let mut lines = vec![
        format!("  proof: {}", proof.proof),
        format!("  paths: {}", proof.paths),
        format!("  refuted prefixes: {}", proof.refuted_prefixes),
    ];
    for assumption in &proof.assumptions {
        let key = assumption.subject.as_ref().map_or(String::new(), |subject| format!(":{subject}"));
        let stated = if assumption.accepted { "given" } else { "assumption" };
        lines.push(format!("  {stated}: {}{key}: {}", assumption.name, assumption.text));
    }
    lines.extend(proof.infeasible_prefix.iter().map(|prefix| format!("  infeasible prefix: {prefix}")));
    let attacked = proof.attacked.iter();
    lines.extend(
        attacked.map(|runs| format!("  attacked: {runs} native executions with random inputs did not take it")),
    );
    if !proof.bounds.is_empty() {
        lines.push(format!("  bounds: {}", proof.bounds.iter().map(bound_text).collect::<Vec<_>>().join("; ")));
    }
    lines
}

fn bound_text(bound: &Bound) -> String {
    format!("{} at most {}", bound.what, bound.limit)
}

fn reason_lines(reason: &Reason) -> Vec<String> {
    let mut lines = vec![format!("  message: {}", reason.message)];
    lines.extend(reason.blocking.iter().map(|blocking| format!("  blocking: {blocking}")));
    lines.push(format!("  paths: {}", reason.paths));
    lines.push(format!("  solver calls: {}", reason.solver_calls));
    lines.extend(reason.closest_test.iter().map(|test| format!("  closest test: {test}")));
    lines
}

/// A test with its path, and the first also with what an input must satisfy to take it.
fn test_lines(function: &Function, id: u32, is_first: bool) -> Vec<String> {
    let Some(test) = function.tests.iter().find(|test| test.id == id) else {
        return vec![format!("  test {id}: not stored")];
    };
    let inputs = serde_json::Value::Object(test.inputs.clone());
    let mut lines = vec![format!("  test {id}: inputs {inputs}")];
    if !test.path_text.is_empty() {
        lines.push(format!("    path: {}", test.path_text));
    }
    if is_first {
        lines.extend(constraint_lines(&test.constraint, "path constraint"));
    }
    lines
}

/// The definitions of the inputs, then what the branches demand.
fn constraint_lines(constraint: &Constraint, title: &str) -> Vec<String> {
    if constraint.branches.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("    {title}:"), format!("      inputs: {}", constraint.inputs.join(", "))];
    lines.extend(constraint.domain.iter().map(|condition| format!("      always: {condition}")));
    for branch in &constraint.branches {
        lines.push(format!("      {}  {}", branch.outcome.as_deref().unwrap_or("·"), branch.condition));
    }
    if constraint.more > 0 {
        lines.push(format!("      and {} more", constraint.more));
    }
    lines
}
