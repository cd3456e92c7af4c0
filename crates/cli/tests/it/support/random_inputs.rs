//! Inputs that nobody solved for: every variable of a function's inputs drawn at random, within what inputs can be.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use branchwise_facts::Facts;
use branchwise_generate::{Drawing, disagreement, test_case};
use branchwise_program::map::Event;
use branchwise_replay::TestCase;
use branchwise_symbolic::{Path, Prepared};

use super::fixture::Fixture;
use super::native::Subject;

/// How often an input is drawn until it satisfies the preconditions.
const TRIES: usize = 8;

const POINTER_ELEMENTS: u64 = 8;

/// Inputs that were drawn in all fixtures of this run, and those that were asked for.
static DRAWN: AtomicUsize = AtomicUsize::new(0);
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// What random inputs showed of one file.
#[derive(Debug, Default)]
struct Compared {
    wrong: Vec<String>,
}

/// Runs the entry of a fixture on so many random inputs; returns where the native runs differ from the prediction.
pub fn differences(fixture: &Fixture, subject: &mut Subject, inputs: u64) -> Result<Vec<String>, String> {
    let mut compared = Compared::default();
    WANTED.fetch_add(inputs as usize, Ordering::Relaxed);
    compared.fixture(fixture, subject, inputs)?;
    Ok(compared.wrong.into_iter().map(|wrong| format!("random inputs: {wrong}")).collect())
}

/// Returns what is wrong with the comparison of all fixtures together: nine inputs of ten are tests.
pub fn of_all() -> Result<(), String> {
    let (drawn, wanted) = (DRAWN.load(Ordering::Relaxed), WANTED.load(Ordering::Relaxed));
    if drawn * 10 >= wanted * 9 { Ok(()) } else { Err(format!("only {drawn} of {wanted} random inputs are tests")) }
}

impl Compared {
    fn fixture(&mut self, fixture: &Fixture, subject: &mut Subject, inputs: u64) -> Result<(), String> {
        let function = subject.function(&fixture.entry).ok_or("the entry is not in the file")?;
        let prepared = Prepared::new(&subject.program);
        let mut predicted: Vec<(TestCase, Path)> = Vec::new();
        for input in 0..inputs {
            // Every other test calls something else first, where that can change what the function looks at.
            let Some(session) = prepared.session(function, POINTER_ELEMENTS) else { break };
            let mut session = session.with_calls_before((input % 2) as u32);
            let mut drawing = Drawing::new(input + 1, Vec::new());
            let drawn = (0..TRIES).find_map(|_| drawing.input(&mut session, &HashMap::new()));
            predicted.extend(drawn.map(|(model, path)| (test_case(&session, &model, &path), path)));
        }
        let cases: Vec<TestCase> = predicted.iter().map(|(case, _)| case.clone()).collect();
        let observed = subject.harness.run(&cases).map_err(|error| error.to_string())?;
        DRAWN.fetch_add(cases.len(), Ordering::Relaxed);
        let facts = Facts::new(&subject.program).of_unit(function, &AtomicBool::new(false));
        for ((case, path), observation) in predicted.iter().zip(&observed) {
            let excluded = |event: &&Event| facts.as_ref().is_some_and(|facts| facts.excludes(**event));
            let refuted = path.events.iter().chain(&observation.events).find(excluded);
            self.wrong.extend(refuted.map(|event| format!("{event:?} was proved to be impossible; {case:?}")));
            self.wrong.extend(disagreement(path, observation).map(|what| format!("{what} with {case:?}")));
        }
        Ok(())
    }
}
