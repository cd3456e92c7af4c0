//! A fixture: one C file with the program, the question (its first lines) and the answer (`//~` on the lines it is about).
//!
//! The first line asks: `// entry: NAME   criterion: branch`, and more `key: value` pairs, set apart by two or more blanks:
//! - `scope: reachable`: the goals of every function that the entry can reach;
//! - `with: FILE`: annotations of that included file count too;
//! - `steps: N`: the budget, 4000 unless given;
//! - `flags: -DX=1 …`: for clang;
//! - `options: --set-statics …`: for the tool;
//! - `finding: KIND@LINE` or `KIND@FIRST-LAST`, repeated: all findings there are, apart from `signed_overflow`;
//! - `overflow: listed`: findings of `signed_overflow` are listed too;
//! - `trouble: TEXT`: nothing can be done for this unit, and the message contains the text.
//!
//! An annotation `//~ true: VERDICT, false: VERDICT` speaks of the condition or label on its line; where there are
//! several, their parts are set apart by ` | ` in the order of their columns. A verdict is `covered`, `infeasible`, `unknown`,
//! `within-bounds` (whatever the bounds and assumptions), `infeasible if NAME + NAME`: under these assumptions alone, or
//! `covered through signed overflow`: only behind that undefined behaviour.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const DEFAULT_STEPS: u64 = 4000;

/// Before the kind of undefined behaviour.
const THROUGH: &str = "covered through ";

/// Before the names of assumptions.
const IF: &str = "infeasible if ";

#[derive(Debug)]
pub struct Fixture {
    pub path: PathBuf,
    pub entry: String,
    pub scope: Option<String>,
    pub steps: u64,
    pub flags: Vec<String>,
    pub options: Vec<String>,
    pub findings: Vec<ExpectedFinding>,
    pub overflow_listed: bool,
    pub trouble: Option<String>,
    /// By name of the file and line.
    pub answers: BTreeMap<(String, u64), Vec<Answer>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedFinding {
    pub kind: String,
    pub first: u64,
    pub last: u64,
}

/// The verdicts of both outcomes, as the JSON names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub when_true: String,
    pub when_false: String,
}

impl Answer {
    /// Tells whether the verdicts of a goal are as expected.
    pub fn fits(&self, got: &Answer) -> bool {
        let fits = |expected: &str, got: &str| {
            expected == got || expected == "infeasible_within_bounds" && got.starts_with(IF)
        };
        fits(&self.when_true, &got.when_true) && fits(&self.when_false, &got.when_false)
    }
}

/// The verdict of a goal in JSON as fixtures write it.
pub fn verdict_of(goal: &serde_json::Value) -> String {
    let verdict = goal["verdict"].as_str().unwrap_or_default();
    let evidence = &goal["evidence"];
    let names = evidence["assumptions"].as_array().into_iter().flatten();
    let open = names.filter(|assumption| assumption["accepted"] != true).filter_map(|it| it["name"].as_str());
    let open: BTreeSet<&str> = open.collect();
    if let Some(through) = goal["through"].as_str() {
        let kind = through.split_once(" at ").map_or(through, |(kind, _)| kind);
        return format!("{THROUGH}{kind}");
    }
    match verdict {
        "infeasible_within_bounds" if evidence["bounds"].is_null() => {
            format!("{IF}{}", open.into_iter().collect::<Vec<_>>().join(" + "))
        }
        other => other.to_owned(),
    }
}

impl Fixture {
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let mut fixture = Self::question(path, text.lines().next().unwrap_or_default())?;
        fixture.add_answers(path, &text)?;
        Ok(fixture)
    }

    fn question(path: &Path, line: &str) -> Result<Self, String> {
        let mut fixture = Fixture {
            path: path.to_path_buf(),
            entry: String::new(),
            scope: None,
            steps: DEFAULT_STEPS,
            flags: Vec::new(),
            options: Vec::new(),
            findings: Vec::new(),
            overflow_listed: false,
            trouble: None,
            answers: BTreeMap::new(),
        };
        let line = line.strip_prefix("//").ok_or("the first line must be `// entry: NAME …`")?;
        for pair in line.split("  ").map(str::trim).filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once(": ").ok_or_else(|| format!("'{pair}' is no `key: value`"))?;
            fixture.option(key, value)?;
        }
        if fixture.entry.is_empty() { Err("no `entry:`".to_string()) } else { Ok(fixture) }
    }

    fn option(&mut self, key: &str, value: &str) -> Result<(), String> {
        match (key, value) {
            ("entry", name) => self.entry = name.to_string(),
            ("criterion", "branch") => {}
            ("scope", scope) => self.scope = Some(scope.to_string()),
            ("steps", steps) => self.steps = steps.parse().map_err(|_| format!("'{steps}' is no number of steps"))?,
            ("flags", flags) => self.flags = flags.split(' ').map(str::to_string).collect(),
            ("options", options) => self.options = options.split(' ').map(str::to_string).collect(),
            ("finding", finding) => self.findings.push(expected_finding(finding)?),
            ("overflow", "listed") => self.overflow_listed = true,
            ("trouble", text) => self.trouble = Some(text.to_string()),
            ("with", included) => return self.include(included),
            _ => return Err(format!("unknown option `{key}: {value}`")),
        }
        Ok(())
    }

    fn include(&mut self, name: &str) -> Result<(), String> {
        let path = self.path.with_file_name("").join(name);
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        self.add_answers(&path, &text)
    }

    fn add_answers(&mut self, path: &Path, text: &str) -> Result<(), String> {
        for (number, line) in (1..).zip(text.lines()) {
            let Some((_, annotation)) = line.split_once("//~") else { continue };
            let answers = annotation.split('|').map(answer).collect::<Result<_, _>>();
            let answers = answers.map_err(|error| format!("line {number}: {error}"))?;
            self.answers.insert((file_name(path), number), answers);
        }
        Ok(())
    }
}

/// The name of a file without its folder.
pub fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn expected_finding(text: &str) -> Result<ExpectedFinding, String> {
    let wrong = || format!("'{text}' is no `KIND@LINE` or `KIND@FIRST-LAST`");
    let (kind, lines) = text.split_once('@').ok_or_else(wrong)?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let number = |text: &str| text.parse().map_err(|_| wrong());
    Ok(ExpectedFinding { kind: kind.to_string(), first: number(first)?, last: number(last)? })
}

/// `true: V, false: V`
fn answer(text: &str) -> Result<Answer, String> {
    let wrong = || format!("'{}' is no `true: VERDICT, false: VERDICT`", text.trim());
    let (when_true, when_false) = text.split_once(',').ok_or_else(wrong)?;
    let when_true = when_true.trim().strip_prefix("true: ").ok_or_else(wrong)?;
    let when_false = when_false.trim().strip_prefix("false: ").ok_or_else(wrong)?;
    Ok(Answer { when_true: verdict(when_true)?, when_false: verdict(when_false)? })
}

fn verdict(text: &str) -> Result<String, String> {
    match text.trim() {
        "within-bounds" => Ok("infeasible_within_bounds".to_string()),
        verdict @ ("covered" | "infeasible" | "unknown") => Ok(verdict.to_string()),
        other if other.starts_with(IF) || other.starts_with(THROUGH) => Ok(other.to_string()),
        other => Err(format!("'{other}' is no verdict")),
    }
}
