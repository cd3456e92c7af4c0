//! Facts about all executions against what the fixtures say that tests do: nothing that is covered is excluded, for any
//! function of a file, and what is excluded is what the fixture calls infeasible.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use branchwise_facts::{Facts, UnitFacts};
use branchwise_goals::{Goal, branch_goals};
use branchwise_program::map::{Event, Map};

use fixture::Fixture;
use reading::Options;

#[path = "support/fixture.rs"]
mod fixture;
#[path = "support/reading.rs"]
mod reading;
#[path = "support/workers.rs"]
mod workers;

/// What the facts say of one fixture.
#[derive(Debug, Default)]
struct Judged {
    excluded: usize,
    wrong: Vec<String>,
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let entries = fs::read_dir(folder).expect("the folder of fixtures can be read").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    paths.sort();
    paths
}

#[test]
fn nothing_that_a_test_covers_is_excluded() {
    let judged = workers::map(&fixtures(), |path| judge(path));
    let excluded: usize = judged.iter().map(|judged| judged.excluded).sum();
    let wrong: Vec<String> = judged.into_iter().flat_map(|judged| judged.wrong).collect();
    println!("{excluded} outcomes excluded");
    assert!(wrong.is_empty(), "{} of {excluded}:\n{}\n", wrong.len(), wrong.join("\n"));
    assert!(excluded >= 40, "only {excluded} outcomes are excluded");
}

fn judge(path: &Path) -> Judged {
    let name = fixture::file_name(path);
    let mut judged = Judged::default();
    if let Err(error) = Fixture::read(path).and_then(|fixture| judged.fixture(&fixture)) {
        judged.wrong.push(error);
    }
    judged.wrong.iter_mut().for_each(|wrong| *wrong = format!("{name}: {wrong}"));
    judged
}

impl Judged {
    fn fixture(&mut self, fixture: &Fixture) -> Result<(), String> {
        if fixture.trouble.is_some() {
            return Ok(());
        }
        let has = |wanted: &str| fixture.options.iter().any(|option| option == wanted);
        let options = Options {
            flags: &fixture.flags,
            allocations_fail: has("--malloc-may-fail"),
            set_statics: has("--set-statics"),
        };
        let (_, program) = reading::read(&fixture.path, &options)?;
        let map = &program.map;
        let entry = map.function_named(&fixture.entry).ok_or("the entry is not in the file")?;
        let facts = Facts::new(&program).of_unit(entry, &AtomicBool::new(false));
        let Some(facts) = facts else { return Ok(()) };
        // With scope `unit` only the entry is annotated.
        let functions = match fixture.scope.as_deref() {
            Some("reachable") => map.functions.ids().collect(),
            _ => vec![entry],
        };
        for function in functions {
            self.goals(fixture, map, &facts, &branch_goals(map, function));
        }
        Ok(())
    }

    fn goals(&mut self, fixture: &Fixture, map: &Map, facts: &UnitFacts<'_>, goals: &[Goal]) {
        for goal in goals {
            let Some(&marker) = goal.markers().first() else { continue };
            let outcomes = 0..=map.markers[marker].outcomes();
            let mut reaching =
                outcomes.map(|outcome| Event { marker, outcome }).filter(|event| goal.reached_by(*event));
            if !reaching.all(|event| facts.excludes(event)) {
                continue;
            }
            self.excluded += 1;
            let expected = expected(fixture, map, goals, goal);
            if expected.as_deref().is_some_and(|expected| !expected.starts_with("infeasible")) {
                let (line, text, outcome) = (goal.place.line, &goal.text, goal.outcome == Some(true));
                let reason = facts.reason(marker);
                self.wrong
                    .push(format!("{line}: '{text}' {outcome} is {}, but {reason}", expected.unwrap_or_default()));
            }
        }
    }
}

/// What the fixture says of a goal.
fn expected(fixture: &Fixture, map: &Map, goals: &[Goal], goal: &Goal) -> Option<String> {
    let place = (fixture::file_name(&map.files[goal.place.file].path), u64::from(goal.place.line));
    let answers = fixture.answers.get(&place)?;
    let beside =
        goals.iter().filter(|other| (other.place.file, other.place.line) == (goal.place.file, goal.place.line));
    let mut columns: Vec<u32> =
        beside.filter(|other| other.outcome == Some(true)).map(|other| other.place.column).collect();
    columns.sort_unstable();
    let answer = answers.get(columns.iter().position(|&column| column == goal.place.column)?)?;
    Some(if goal.outcome == Some(true) { answer.when_true.clone() } else { answer.when_false.clone() })
}
