//! Why a goal has its verdict, read from a stored report.

use std::fmt;

use serde_json::Value as Json;

/// What was asked for is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainError {
    pub message: String,
    pub hint: String,
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExplainError {}

/// Explains the goals that `wanted` names: `FUNCTION:ID`, `LINE`, `LINE:COLUMN`, `FILE:LINE:COLUMN` or their text, each with an
/// optional `:true` or `:false` at the end.
pub fn explain(report: &Json, wanted: &str) -> Result<String, ExplainError> {
    let (place, outcome) = match wanted.rsplit_once(':') {
        Some((place, "true")) => (place, Some(true)),
        Some((place, "false")) => (place, Some(false)),
        _ => (wanted, None),
    };
    let mut found = Vec::new();
    for function in items(&report["functions"]) {
        for goal in items(&function["goals"]) {
            let outcome_fits = outcome.is_none_or(|outcome| goal["outcome"] == outcome);
            if outcome_fits && is_named(function, goal, place) {
                found.push(explanation(function, goal));
            }
        }
    }
    if found.is_empty() {
        let hint = "name a goal as FUNCTION:ID, LINE:COLUMN or FILE:LINE:COLUMN, as report.json lists them";
        return Err(ExplainError { message: format!("no goal '{wanted}' in this report"), hint: hint.to_owned() });
    }
    Ok(found.join("\n"))
}

fn items(array: &Json) -> &[Json] {
    array.as_array().map_or(&[], Vec::as_slice)
}

fn is_named(function: &Json, goal: &Json, place: &str) -> bool {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let (line, column) = (&goal["line"], &goal["column"]);
    let names = [
        format!("{}:{}", text(&function["name"]), goal["id"]),
        line.to_string(),
        format!("{line}:{column}"),
        format!("{}:{line}", text(&goal["file"])),
        format!("{}:{line}:{column}", text(&goal["file"])),
        text(&goal["text"]),
    ];
    names.iter().any(|name| name == place)
}

fn explanation(function: &Json, goal: &Json) -> String {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut lines = vec![
        format!(
            "{}:{}  {}:{}:{}  '{}'{}",
            text(&function["name"]),
            goal["id"],
            text(&goal["file"]),
            goal["line"],
            goal["column"],
            text(&goal["text"]),
            goal["outcome"].as_bool().map_or(String::new(), |outcome| format!(" {outcome}"))
        ),
        format!("  verdict: {}", text(&goal["verdict"])),
    ];
    let tests = items(&goal["tests"]);
    for (index, id) in tests.iter().enumerate() {
        lines.extend(test_lines(function, id, index == 0));
    }
    lines.extend(constraint_lines(&goal["refuted"], "refuted path constraint"));
    for part in [&goal["evidence"], &goal["reason"]] {
        for (key, value) in part.as_object().into_iter().flatten().filter(|(_, value)| !is_empty(value)) {
            lines.push(format!("  {}: {}", key.replace('_', " "), part_text(value)));
        }
    }
    lines.join("\n") + "\n"
}

fn is_empty(value: &Json) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

fn part_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(values) => values.iter().map(part_text).collect::<Vec<_>>().join("; "),
        Json::Object(bound) if bound.contains_key("what") => {
            format!("{} at most {}", part_text(&bound["what"]), bound.get("limit").unwrap_or(&Json::Null))
        }
        other => other.to_string(),
    }
}

/// A test with its path, and the first also with what an input must satisfy to take it.
fn test_lines(function: &Json, id: &Json, is_first: bool) -> Vec<String> {
    let Some(test) = items(&function["tests"]).iter().find(|test| test["id"] == *id) else {
        return vec![format!("  test {id}: not stored")];
    };
    let mut lines = vec![format!("  test {id}: inputs {}", test["inputs"])];
    lines.extend(test["path_text"].as_str().filter(|path| !path.is_empty()).map(|path| format!("    path: {path}")));
    if is_first {
        lines.extend(constraint_lines(&test["constraint"], "path constraint"));
    }
    lines
}

/// The definitions of the inputs, then what the branches demand.
fn constraint_lines(constraint: &Json, title: &str) -> Vec<String> {
    if items(&constraint["branches"]).is_empty() {
        return Vec::new();
    }
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let list = |values: &Json| items(values).iter().map(text).collect::<Vec<_>>();
    let mut lines = vec![format!("    {title}:"), format!("      inputs: {}", list(&constraint["inputs"]).join(", "))];
    lines.extend(list(&constraint["domain"]).iter().map(|condition| format!("      always: {condition}")));
    for branch in items(&constraint["branches"]) {
        let outcome = branch["outcome"].as_str().unwrap_or("·");
        lines.push(format!("      {outcome}  {}", text(&branch["condition"])));
    }
    if let Some(more) = constraint["more"].as_u64().filter(|more| *more > 0) {
        lines.push(format!("      and {more} more"));
    }
    lines
}
