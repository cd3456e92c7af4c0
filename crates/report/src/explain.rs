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

/// Explains the goals that `wanted` names: `FUNCTION:ID`, `LINE`, `LINE:COLUMN` or `FILE:LINE:COLUMN`, each with an
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
    if !tests.is_empty() {
        lines.extend(tests.iter().map(|id| format!("  test {id}: {}", test_line(function, id))));
    }
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

fn test_line(function: &Json, id: &Json) -> String {
    let test = items(&function["tests"]).iter().find(|test| test["id"] == *id);
    test.map_or_else(|| "not stored".to_owned(), |test| format!("inputs {}", test["inputs"]))
}
