//! Facts about all executions against what a fixture says that tests do: nothing that is covered is excluded, for any
//! function of its file, and what is excluded is what the fixture calls infeasible.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use branchwise_facts::{Facts, UnitFacts};
use branchwise_goals::{Goal, branch_goals};
use branchwise_program::Program;
use branchwise_program::map::{Event, Map};

use super::fixture::{self, Fixture};

/// How many outcomes the facts excluded in all fixtures of this run.
static EXCLUDED: AtomicUsize = AtomicUsize::new(0);
/// The least number of them in all fixtures: a comparison of nothing shows nothing.
const LEAST: usize = 40;

/// What the facts say of one fixture.
#[derive(Debug, Default)]
struct Judged {
    excluded: usize,
    wrong: Vec<String>,
}

/// Returns where the facts contradict what the fixture says.
pub fn differences(fixture: &Fixture, program: &Program) -> Result<Vec<String>, String> {
    let mut judged = Judged::default();
    judged.fixture(fixture, program)?;
    EXCLUDED.fetch_add(judged.excluded, Ordering::Relaxed);
    Ok(judged.wrong.into_iter().map(|wrong| format!("facts: {wrong}")).collect())
}

/// Returns what is wrong with the comparison of all fixtures together.
pub fn of_all() -> Result<(), String> {
    let excluded = EXCLUDED.load(Ordering::Relaxed);
    if excluded >= LEAST { Ok(()) } else { Err(format!("facts exclude only {excluded} outcomes of all fixtures")) }
}

impl Judged {
    fn fixture(&mut self, fixture: &Fixture, program: &Program) -> Result<(), String> {
        if fixture.trouble.is_some() {
            return Ok(());
        }
        let map = &program.map;
        let entry = map.function_named(&fixture.entry).ok_or("the entry is not in the file")?;
        let facts = Facts::new(program).of_unit(entry, &AtomicBool::new(false));
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
