//! Inputs that nobody solved for: every variable of a function's inputs drawn at random, within what inputs can be.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use branchwise_constraints::{Model, TermId, VariableId, evaluate, holds};
use branchwise_facts::Facts;
use branchwise_generate::{disagreement, test_case};
use branchwise_program::map::Event;
use branchwise_replay::TestCase;
use branchwise_symbolic::{Path, PathEnd, Prepared, RunLimits, Session};

use super::fixture::Fixture;
use super::native::Subject;
use super::random_c::Random;

/// A path shows new inputs (what a pointer points to, the next value of a feed), which are drawn for the next run.
const RUNS: usize = 6;

/// How often an input is drawn until it satisfies the preconditions.
const TRIES: usize = 8;

/// How often a condition on the inputs is tried with smaller values.
const REDRAWS: u32 = 8;

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
            let mut random = Random::new(input + 1);
            let drawn = (0..TRIES).find_map(|_| draw(&mut session, &mut random));
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

/// An input at random and its path. `None` if the values that were drawn are not within what inputs can be, or break a
/// precondition: then they are no test.
fn draw(session: &mut Session<'_>, random: &mut Random) -> Option<(Model, Path)> {
    let interrupt = AtomicBool::new(false);
    let limits = RunLimits {
        instructions: 200_000,
        loop_iterations: 1 << 8,
        call_depth: 1 << 8,
        terms: 1 << 18,
        standard_input: 64,
        interrupt: &interrupt,
    };
    let mut model = Model::new();
    let mut drawn = 0;
    for _ in 0..RUNS {
        let path = session.run(&model, &limits);
        for index in drawn..session.terms.variable_count() {
            let variable = VariableId::from_index(index);
            model.set(variable, value(random, session.terms.variable_width(variable)));
        }
        drawn = session.terms.variable_count();
        satisfy(session, random, &mut model, &domain(&path));
    }
    for _ in 0..RUNS {
        let path = session.run(&model, &limits);
        let domain = domain(&path);
        if holds(&session.terms, &model, &domain) {
            let is_test = path.end != PathEnd::Rejected && !path.notes.ended_in_precondition;
            return is_test.then_some((model, path));
        }
        satisfy(session, random, &mut model, &domain);
    }
    None
}

/// What inputs can be, as far as the path looked at them.
fn domain(path: &Path) -> Vec<TermId> {
    let before = path.decisions.iter().flat_map(|decision| &decision.domain);
    before.chain(&path.domain).copied().collect()
}

/// Draws smaller and smaller values for what breaks a condition.
fn satisfy(session: &Session<'_>, random: &mut Random, model: &mut Model, domain: &[TermId]) {
    for &condition in domain {
        for redraw in 1..=REDRAWS {
            if evaluate(&session.terms, model, condition) == 1 {
                break;
            }
            for &variable in session.terms.variables(condition).iter() {
                model.set(variable, u128::from(random.below(1 << (REDRAWS - redraw))));
            }
        }
    }
}

/// Small numbers of both signs, bytes of texts, numbers near powers of two, and any.
fn value(random: &mut Random, width: u32) -> u128 {
    let small = u128::from(random.below(9));
    let value = match random.below(6) {
        0 => small,
        1 => small.wrapping_neg(),
        2 => u128::from(b' ') + u128::from(random.below(95)),
        3 => (1u128 << random.below(u64::from(width))).wrapping_add(small).wrapping_sub(4),
        4 => u128::from(random.below(256)),
        _ => u128::from(random.below(1 << 40)) << 24 ^ u128::from(random.below(1 << 40)),
    };
    if width < 128 { value & ((1 << width) - 1) } else { value }
}
