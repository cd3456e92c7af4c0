//! The net under changes: two hashes of all that the tool says of each fixture and program, compared with `tests/golden.txt`.
//!
//! *Facts* are verdicts, tests and evidence as data; *texts* are the report, the table on the terminal and the emitted files.
//! A change leaves them as they are, or `scripts/golden --update` writes the new ones and the commit says why.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use branchwise_tools::KeyBuilder;
use serde_json::{Map, Value as Json, json};

use super::fixture::file_name;
use super::tool::stored;

/// How many hexadecimal digits of a hash are kept for one program.
const DIGITS: usize = 12;

/// By name of the program.
type Hashes = BTreeMap<String, (String, String)>;

/// The hashes of this run.
static SEEN: Mutex<Hashes> = Mutex::new(BTreeMap::new());

/// Returns what is wrong with the files that a run left, as far as hashes tell. `folder`: of the run, with `stdout` and `out`.
pub fn differences(name: &str, folder: &Path) -> Result<(), String> {
    let json = stored(folder)?;
    let (facts, texts) = (hash(&facts(&json).to_string()), hash(&texts(json, folder)));
    let seen = (facts.clone(), texts.clone());
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), seen);
    let expected = read();
    let Some((expected_facts, expected_texts)) = expected.get(name).filter(|_| !is_updating()) else {
        return match is_updating() {
            true => Ok(()),
            false => Err(format!("{name} is not in tests/golden.txt; {HOW}")),
        };
    };
    match (facts == *expected_facts, texts == *expected_texts) {
        (true, true) => Ok(()),
        (false, _) => Err(format!("the facts about {name} changed (golden hash {expected_facts}, now {facts}); {HOW}")),
        (true, false) => Err(format!("texts about {name} changed (golden hash {expected_texts}, now {texts}); {HOW}")),
    }
}

const HOW: &str = "if that is meant, run scripts/golden --update and say in the commit what changed and why";

/// Writes the hashes of this run, where it was asked for; returns the two hashes over all programs.
pub fn finish() -> Option<(String, String)> {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if is_updating() {
        let mut hashes = read();
        hashes.extend(seen.clone());
        hashes.retain(|name, _| program(name).is_file());
        write(&hashes);
    }
    (!seen.is_empty()).then(|| totals(&seen))
}

/// Returns whether only the hashes are asked for.
pub fn is_alone() -> bool {
    std::env::var_os("BRANCHWISE_GOLDEN").is_some()
}

fn is_updating() -> bool {
    std::env::var_os("BRANCHWISE_GOLDEN").is_some_and(|mode| mode == "update")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The file that a name in the list stands for.
fn program(name: &str) -> PathBuf {
    root().join(name)
}

fn list() -> PathBuf {
    root().join("tests/golden.txt")
}

/// Lines `NAME FACTS TEXTS` behind the two lines with the hashes over all.
fn read() -> Hashes {
    let text = fs::read_to_string(list()).unwrap_or_default();
    let mut hashes = Hashes::new();
    for line in text.lines() {
        if let [name, facts, texts] = line.split_whitespace().collect::<Vec<_>>()[..] {
            hashes.insert(name.to_owned(), (facts.to_owned(), texts.to_owned()));
        }
    }
    hashes
}

fn write(hashes: &Hashes) {
    let (facts, texts) = totals(hashes);
    let mut text = format!("facts {facts}\ntexts {texts}\n");
    for (name, (facts, texts)) in hashes {
        text += &format!("{name} {facts} {texts}\n");
    }
    fs::write(list(), text).expect("tests/golden.txt can be written");
}

fn totals(hashes: &Hashes) -> (String, String) {
    let all = |part: fn(&(String, String)) -> &String| {
        let lines: Vec<String> = hashes.iter().map(|(name, both)| format!("{name} {}", part(both))).collect();
        hash(&lines.join("\n"))
    };
    (all(|both| &both.0), all(|both| &both.1))
}

fn hash(text: &str) -> String {
    KeyBuilder::new("golden").with(text).finish().as_str()[..DIGITS].to_owned()
}

/// Returns what a report says as data: places, verdicts, tests and the numbers of the evidence, without its words.
fn facts(report: &Json) -> Json {
    let functions = report["functions"].as_array().into_iter().flatten();
    let function = |function: &Json| {
        let list = |key: &str, one: fn(&Json) -> Json| {
            Json::Array(function[key].as_array().into_iter().flatten().map(one).collect())
        };
        json!([function["name"], function["summary"], list("goals", goal), list("tests", test)])
    };
    let findings = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|finding| only(finding, &["kind", "line", "column", "function", "inputs", "confirmed"]));
    json!({ "functions": functions.map(function).collect::<Vec<_>>(), "findings": findings.collect::<Vec<_>>() })
}

fn goal(goal: &Json) -> Json {
    let keys = ["id", "function", "criterion", "kind", "line", "column", "outcome", "verdict", "tests", "view", "from"];
    json!([only(goal, &keys), without_words(&goal["evidence"]), without_words(&goal["reason"])])
}

fn test(test: &Json) -> Json {
    only(test, &["id", "inputs", "before", "observed", "path", "source", "covers"])
}

fn only(object: &Json, keys: &[&str]) -> Json {
    let kept = keys.iter().filter_map(|&key| Some((key.to_owned(), object.get(key)?.clone())));
    Json::Object(kept.collect::<Map<String, Json>>())
}

/// Numbers, lists, objects and names as they are; of a text only that there is one.
fn without_words(evidence: &Json) -> Json {
    match evidence {
        Json::String(_) => json!(""),
        Json::Array(items) => items.iter().map(without_words).collect(),
        Json::Object(entries) => {
            let kept = |key: &str, value: &Json| if key == "name" { value.clone() } else { without_words(value) };
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), kept(key, value))).collect())
        }
        other => other.clone(),
    }
}

/// Everything that a run wrote for people and for other programs, in the same words on every machine and at every speed. The
/// report is one object, however it is spread over files.
fn texts(report: Json, folder: &Path) -> String {
    let entries = fs::read_dir(folder.join("out")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files.insert(0, folder.join("stdout"));
    let mut report = Some(report);
    let mut texts = String::new();
    for file in files {
        let is_report = file_name(&file) == "report.json";
        let whole = report.take_if(|_| is_report).map(of_any_machine);
        let text = whole.unwrap_or_else(|| fs::read_to_string(&file).unwrap_or_default());
        texts += &format!("== {}\n{}", file_name(&file), timeless(&text, folder));
    }
    texts
}

/// Returns a report without versions, hashes of what is installed and layers of confinement: those are of one machine.
fn of_any_machine(mut report: Json) -> String {
    for (part, of_machine) in [("replay", ["compiler", "sandbox"]), ("run", ["compiler", "branchwise"])] {
        if let Some(part) = report[part].as_object_mut() {
            part.retain(|key, _| !of_machine.contains(&key.as_str()));
        }
    }
    for source in report["run"]["sources"].as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
        source.remove("fingerprint");
    }
    format!("{report:#}")
}

/// The text without times, and without the folders of this machine.
fn timeless(text: &str, folder: &Path) -> String {
    let text = without_seconds(text);
    let folders = [(folder.to_path_buf(), "RUN"), (root(), "ROOT")];
    let absolute = folders.iter().filter_map(|(path, name)| Some((path.canonicalize().ok()?, *name)));
    // The way there may end with the absolute path.
    let shown = way_to_root(folder).into_iter().chain(folders.iter().cloned()).chain(absolute.collect::<Vec<_>>());
    shown.fold(text, |text, (path, name)| text.replace(&path.display().to_string(), name))
}

/// The way from the folder of the emitted files to the project, as they include the files under test.
fn way_to_root(folder: &Path) -> Option<(PathBuf, &'static str)> {
    let (from, to) = (folder.join("out").canonicalize().ok()?, root().canonicalize().ok()?);
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    Some((up.chain(to.components().skip(common)).collect(), "ROOT"))
}

/// `"seconds": 0.1` of the report, and the column `0.1 s` of the table with the blanks and lines around it.
fn without_seconds(text: &str) -> String {
    let timeless = |line: &str| {
        let line = line.split("\"seconds\":").next().unwrap_or(line);
        let measured = line.strip_suffix(" s").and_then(|line| line.rsplit_once(' ')).filter(|(_, time)| is_time(time));
        measured.map_or(line, |(line, _)| line).split_whitespace().collect::<Vec<_>>().join(" ").replace('─', "")
    };
    text.lines().map(|line| timeless(line) + "\n").collect()
}

fn is_time(text: &str) -> bool {
    text.split_once('.').is_some_and(|(seconds, part)| seconds.parse::<u64>().is_ok() && part.parse::<u64>().is_ok())
}
