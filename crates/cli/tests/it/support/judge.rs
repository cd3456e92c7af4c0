//! Compares what the tool says of a fixture with the answers in it. Both must be complete: a goal without an annotation
//! is as wrong as an annotation without a goal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value as Json;

use super::fixture::{Answer, ExpectedFinding, Fixture, file_name, verdict_of};

/// Everything that differs, one line each: `file:line: expected …, got …`.
pub fn differences(fixture: &Fixture, json: &Json) -> Vec<String> {
    let mut judge = Judge { fixture, differences: Vec::new() };
    match function(json, &fixture.entry) {
        Some(function) => judge.function(function),
        None => judge.complain("the entry is not in the JSON".to_string()),
    }
    judge.findings(json);
    judge.replay(json);
    judge.differences
}

/// A condition or label: where it is, and the verdicts of its outcomes.
struct Seen {
    place: (String, u64),
    column: u64,
    text: String,
    answer: Answer,
}

/// What a line's annotation says and what counts on it.
#[derive(Default)]
struct Line<'a> {
    expected: &'a [Answer],
    got: Vec<&'a Seen>,
}

struct Judge<'a> {
    fixture: &'a Fixture,
    differences: Vec<String>,
}

impl Judge<'_> {
    fn complain(&mut self, what: String) {
        self.differences.push(format!("{}: {what}", file_name(&self.fixture.path)));
    }

    fn function(&mut self, function: &Json) {
        self.trouble(function["trouble"].as_str());
        match seen(function) {
            Ok(seen) => self.answers(&seen),
            Err(error) => self.complain(error),
        }
    }

    fn trouble(&mut self, got: Option<&str>) {
        match (self.fixture.trouble.as_deref(), got) {
            (None, None) => {}
            (Some(expected), Some(got)) if got.contains(expected) => {}
            (expected, got) => self.complain(format!("expected trouble {expected:?}, got {got:?}")),
        }
    }

    fn answers(&mut self, seen: &[Seen]) {
        let mut by_place: BTreeMap<&(String, u64), Line<'_>> = BTreeMap::new();
        for (place, answers) in &self.fixture.answers {
            by_place.entry(place).or_default().expected = answers;
        }
        for seen in seen {
            by_place.entry(&seen.place).or_default().got.push(seen);
        }
        let lines = by_place.into_iter().flat_map(|(place, mut line)| {
            line.got.sort_by_key(|seen| seen.column);
            line_differences(line.expected, &line.got)
                .into_iter()
                .map(move |what| format!("{}:{}: {what}", place.0, place.1))
        });
        self.differences.extend(lines);
    }

    fn findings(&mut self, json: &Json) {
        let got: BTreeSet<(String, u64)> = json["findings"].as_array().into_iter().flatten().map(finding).collect();
        let fixture = self.fixture;
        let listed = |kind: &str| kind != "signed_overflow" || fixture.overflow_listed;
        let fits = |expected: &ExpectedFinding, (kind, line): &(String, u64)| {
            *kind == expected.kind && (expected.first..=expected.last).contains(line)
        };
        for found in got.iter().filter(|(kind, _)| listed(kind)) {
            if !fixture.findings.iter().any(|expected| fits(expected, found)) {
                self.complain(format!("finding {}@{} is not listed", found.0, found.1));
            }
        }
        for expected in &fixture.findings {
            if !got.iter().any(|found| fits(expected, found)) {
                self.complain(format!("no finding {}@{}", expected.kind, expected.first));
            }
        }
    }

    fn replay(&mut self, json: &Json) {
        let replay = &json["replay"];
        for disagreement in replay["disagreements"].as_array().into_iter().flatten() {
            self.complain(format!("disagreement: {}", disagreement["what"].as_str().unwrap_or_default()));
        }
        let summary = function(json, &self.fixture.entry).map_or(&Json::Null, |function| &function["summary"]);
        for (ours, native) in [("goals", "branch_outcomes"), ("covered", "covered")] {
            if summary[ours] != replay[native] || !summary[ours].is_u64() {
                self.complain(format!("summary.{ours} is {}, replay.{native} is {}", summary[ours], replay[native]));
            }
        }
    }
}

fn function<'a>(json: &'a Json, entry: &str) -> Option<&'a Json> {
    json["functions"].as_array()?.iter().find(|function| function["name"] == entry)
}

/// The goals come in pairs: true, then false.
fn seen(function: &Json) -> Result<Vec<Seen>, String> {
    let goals = function["goals"].as_array().ok_or("no goals in the JSON")?;
    goals.chunks(2).map(pair).collect()
}

fn pair(goals: &[Json]) -> Result<Seen, String> {
    let [when_true, when_false] = goals else { return Err("an odd number of goals".to_string()) };
    let same = ["line", "column", "file", "kind"].iter().all(|key| when_true[key] == when_false[key]);
    if !same || when_true["outcome"] != true || when_false["outcome"] != false {
        return Err(format!("goals {} and {} are no pair", when_true["id"], when_false["id"]));
    }
    let text = |value: &Json| value.as_str().unwrap_or_default().to_string();
    Ok(Seen {
        place: (file_name(Path::new(&text(&when_true["file"]))), when_true["line"].as_u64().unwrap_or(0)),
        column: when_true["column"].as_u64().unwrap_or(0),
        text: text(&when_true["text"]),
        answer: Answer { when_true: verdict_of(when_true), when_false: verdict_of(when_false) },
    })
}

fn line_differences(expected: &[Answer], got: &[&Seen]) -> Vec<String> {
    if expected.len() == got.len() {
        let pairs = expected.iter().zip(got);
        let wrong = pairs.filter(|(expected, got)| !expected.fits(&got.answer));
        return wrong
            .map(|(expected, got)| format!("`{}` expected {}, got {}", got.text, shown(expected), shown(&got.answer)))
            .collect();
    }
    let texts: Vec<String> = got.iter().map(|seen| format!("`{}` {}", seen.text, shown(&seen.answer))).collect();
    vec![match (expected, got) {
        ([], _) => format!("not annotated: {}", texts.join(" | ")),
        (_, []) => "annotated, but nothing counts here".to_string(),
        _ => format!("{} annotated, {} count: {}", expected.len(), got.len(), texts.join(" | ")),
    }]
}

fn shown(answer: &Answer) -> String {
    format!("true: {}, false: {}", answer.when_true, answer.when_false)
}

fn finding(finding: &Json) -> (String, u64) {
    (finding["kind"].as_str().unwrap_or_default().to_string(), finding["line"].as_u64().unwrap_or(0))
}
