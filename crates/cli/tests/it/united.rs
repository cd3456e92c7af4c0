//! Following all ways of a unit at once, left off and taken up again: the same outcome as in one go.

use crate::support::load;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use branchwise_constraints::{Solver, SolverSettings};
use branchwise_program::Program;
use branchwise_program::map::Event;
use branchwise_symbolic::{PendingUnion, Prepared, Quest, RunLimits, Session, Union, UnionLimits};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

/// Follows ways for at most so many operations.
fn unite<'p>(
    session: &mut Session<'p>,
    rest: Option<PendingUnion<'p>>,
    watched: &BTreeSet<Event>,
    solver: &mut Solver,
    steps: u64,
) -> (Union, Option<PendingUnion<'p>>) {
    let never = AtomicBool::new(false);
    let run = RunLimits {
        instructions: 500_000,
        loop_iterations: 8,
        call_depth: 64,
        standard_input: 16,
        terms: usize::MAX,
        interrupt: &never,
    };
    let quest = Quest { watched: watched.iter().copied().collect(), matters: &|_, _| true, solver };
    session.unite(rest, quest, &UnionLimits { run, pause: &never, states: 512, steps }).expect("a test of one call")
}

/// Both outcomes of every condition.
fn outcomes(program: &Program) -> BTreeSet<Event> {
    let markers = program.map.markers.iter().map(|(marker, _)| marker);
    markers.flat_map(|marker| [0, 1].map(|outcome| Event { marker, outcome })).collect()
}

fn reached(union: &Union) -> BTreeSet<Event> {
    union.reached.iter().map(|(event, _)| *event).collect()
}

/// What all calls together reach, and how many there were.
fn in_pieces(program: &Program, function: &str, steps: u64) -> (BTreeSet<Event>, usize, usize) {
    let prepared = Prepared::new(program);
    let id = program.map.function_named(function).expect("the function");
    let mut session = prepared.session(id, 8).expect("a driver");
    let mut solver = Solver::new(SolverSettings::default());
    let (mut open, mut found) = (outcomes(program), BTreeSet::new());
    let (mut rest, mut calls) = (None, 0);
    loop {
        let (union, left) = unite(&mut session, rest.take(), &open, &mut solver, steps);
        calls += 1;
        found.extend(reached(&union));
        open.retain(|event| !found.contains(event));
        rest = left;
        if rest.is_none() {
            assert!(union.complete);
            return (found, union.obstacles.len(), calls);
        }
    }
}

pub fn pieces_are_as_good_as_the_whole() {
    for (file, function) in [("united_many_conditions.c", "votes"), ("united_pointers.c", "hand_over")] {
        let program = load::load(&fixture(file));
        let (whole, obstacles, calls) = in_pieces(&program, function, u64::MAX);
        assert_eq!(calls, 1, "{file}");
        let (pieces, obstacles_of_pieces, calls) = in_pieces(&program, function, 40);
        assert!(calls > 2, "{file}: {calls} calls");
        assert_eq!((pieces, obstacles_of_pieces), (whole, obstacles), "{file}");
    }
}

/// A question that there was no time for stands in the way, and is asked again.
pub fn what_was_not_answered_is_asked_again() {
    let program = load::load(&fixture("united_many_conditions.c"));
    let prepared = Prepared::new(&program);
    let id = program.map.function_named("votes").expect("the function");
    let mut session = prepared.session(id, 8).expect("a driver");
    let watched = outcomes(&program);
    let raised = Arc::new(AtomicBool::new(true));
    let mut solver = Solver::new(SolverSettings { interrupt: Arc::clone(&raised), ..SolverSettings::default() });
    let (first, rest) = unite(&mut session, None, &watched, &mut solver, u64::MAX);
    assert!(rest.is_some() && !first.obstacles.is_empty());
    raised.store(false, Ordering::Relaxed);
    let found = reached(&first);
    let open = watched.iter().copied().filter(|event| !found.contains(event)).collect();
    let (second, rest) = unite(&mut session, rest, &open, &mut solver, u64::MAX);
    assert!(rest.is_none());
    let (whole, obstacles, _) = in_pieces(&program, "votes", u64::MAX);
    let together: BTreeSet<_> = found.union(&reached(&second)).copied().collect();
    assert_eq!((together, second.obstacles.len()), (whole, obstacles));
}
