//! The solver process: its limits hold whatever it does. This program is both the tests and, when started with
//! the argument `smt-worker`, the solver process, so it has its own `main`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use branchwise_constraints::{
    Answer, Limits, Model, Reason, Solver, SolverSettings, TermId, Terms, Workers, smt_worker_main,
};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("smt-worker") {
        return smt_worker_main();
    }
    let tests: [(&str, fn()); 11] = [
        ("answers_as_in_process", answers_as_in_process),
        ("a_hard_query_ends_at_the_resource_limit", a_hard_query_ends_at_the_resource_limit),
        ("a_hard_query_ends_at_the_wall_clock", a_hard_query_ends_at_the_wall_clock),
        ("a_large_query_ends_at_the_memory_limit", a_large_query_ends_at_the_memory_limit),
        ("a_worker_that_hangs_is_killed", a_worker_that_hangs_is_killed),
        ("a_worker_that_does_not_read_is_killed", a_worker_that_does_not_read_is_killed),
        ("a_worker_that_crashes_is_an_answer", a_worker_that_crashes_is_an_answer),
        ("a_worker_that_babbles_is_an_answer", a_worker_that_babbles_is_an_answer),
        ("solvers_share_a_worker", solvers_share_a_worker),
        ("a_missing_worker_is_an_answer", a_missing_worker_is_an_answer),
        ("an_interrupt_is_seen_at_once", an_interrupt_is_seen_at_once),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn settings(worker: PathBuf, milliseconds: u64) -> SolverSettings {
    let limits = Limits { milliseconds, resource: u32::MAX, ..Limits::default() };
    SolverSettings { limits, workers: Some(Workers::new(&worker)), ..SolverSettings::default() }
}

fn this_program() -> PathBuf {
    std::env::current_exe().expect("a test program has a path")
}

/// A worker written in shell, in a folder that lives as long as it is used.
fn script(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("worker.sh");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a writable temporary folder");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
    path
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a writable temporary folder")
}

/// The square of x is 25: easy, but nothing that the layers before the SMT solver find.
fn easy() -> (Terms, Vec<TermId>) {
    let mut terms = Terms::new();
    let x = terms.variable("x", 32);
    let square = terms.mul(x, x);
    let constant = terms.constant(25, 32);
    let equal = terms.equal(square, constant);
    (terms, vec![equal])
}

/// The factors of a 62-bit product of two primes, without overflow: hours for a SAT solver.
fn hard() -> (Terms, Vec<TermId>) {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 32), terms.variable("y", 32));
    let (wide_x, wide_y) = (terms.zero_extend(x, 64), terms.zero_extend(y, 64));
    let product = terms.mul(wide_x, wide_y);
    let number = terms.constant(2_147_483_647 * 2_147_483_629, 64);
    let one = terms.constant(1, 32);
    let equal = terms.equal(product, number);
    let constraints = vec![equal, terms.unsigned_less(one, x), terms.unsigned_less(x, y)];
    (terms, constraints)
}

fn timed(solver: &mut Solver, query: &(Terms, Vec<TermId>)) -> (Answer, Duration) {
    let start = Instant::now();
    let answer = solver.check(&query.0, &query.1, &Model::new()).answer;
    (answer, start.elapsed())
}

fn assert_stopped_in_time(answer: &Answer, elapsed: Duration, milliseconds: u64) {
    assert_eq!(*answer, Answer::Unknown(Reason::TimeLimit { milliseconds }));
    assert!(elapsed < Duration::from_millis(milliseconds + 500), "took {elapsed:?}");
}

fn answers_as_in_process() {
    let (terms, constraints) = easy();
    let mut child = Solver::new(settings(this_program(), 5000));
    let mut here = Solver::new(SolverSettings::default());
    let hint = Model::new();
    assert_eq!(child.check(&terms, &constraints, &hint), here.check(&terms, &constraints, &hint));
}

fn a_hard_query_ends_at_the_resource_limit() {
    let limits = Limits { resource: 200_000, milliseconds: 20_000, ..Limits::default() };
    let mut solver = Solver::new(SolverSettings { limits, ..settings(this_program(), 0) });
    let (answer, _) = timed(&mut solver, &hard());
    assert_eq!(answer, Answer::Unknown(Reason::ResourceLimit { steps: 200_000 }));
}

fn a_hard_query_ends_at_the_wall_clock() {
    let mut solver = Solver::new(settings(this_program(), 300));
    let (answer, elapsed) = timed(&mut solver, &hard());
    assert_stopped_in_time(&answer, elapsed, 300);
    // A solver that was killed is replaced.
    assert!(timed(&mut solver, &easy()).0.is_sat());
}

/// More clauses than fit: that is said, and the next query has a worker.
fn a_large_query_ends_at_the_memory_limit() {
    let limits = Limits { resource: u32::MAX, milliseconds: 60_000, memory_megabytes: 160, ..Limits::DEFAULT };
    let mut solver = Solver::new(SolverSettings { limits, ..settings(this_program(), 0) });
    let mut terms = Terms::new();
    let x = terms.variable("x", 128);
    let mut power = x;
    for _ in 0..200 {
        let square = terms.mul(power, power);
        power = terms.xor(square, x);
    }
    let constant = terms.constant(3, 128);
    let constraint = terms.equal(power, constant);
    let (answer, _) = timed(&mut solver, &(terms, vec![constraint]));
    assert_eq!(answer, Answer::Unknown(Reason::MemoryLimit { megabytes: 160 }));
    assert!(timed(&mut solver, &easy()).0.is_sat());
}

fn a_worker_that_hangs_is_killed() {
    let folder = folder();
    let mut solver = Solver::new(settings(script(&folder, "exec sleep 60"), 200));
    let (answer, elapsed) = timed(&mut solver, &easy());
    assert_stopped_in_time(&answer, elapsed, 200);
}

/// The query is longer than any pipe holds, so that writing it must not wait either.
fn a_worker_that_does_not_read_is_killed() {
    let folder = folder();
    let mut solver = Solver::new(settings(script(&folder, "exec sleep 60"), 200));
    let mut terms = Terms::new();
    let mut value = terms.variable("x", 32);
    for number in 0..200_000u128 {
        let constant = terms.constant(number * 77_777 + 1, 32);
        let product = terms.mul(value, constant);
        value = terms.xor(product, constant);
    }
    let constant = terms.constant(12, 32);
    let constraint = terms.equal(value, constant);
    let (answer, _) = timed(&mut solver, &(terms, vec![constraint]));
    assert_eq!(answer, Answer::Unknown(Reason::TimeLimit { milliseconds: 200 }));
}

fn a_worker_that_crashes_is_an_answer() {
    let folder = folder();
    let mut solver = Solver::new(settings(script(&folder, "head -c 4 >/dev/null; kill -SEGV $$"), 5000));
    for _ in 0..2 {
        assert_eq!(timed(&mut solver, &easy()).0, Answer::Unknown(Reason::SolverCrashed));
    }
}

fn a_worker_that_babbles_is_an_answer() {
    let folder = folder();
    let mut solver = Solver::new(settings(script(&folder, "echo 'usage: worker FILE'; exec sleep 60"), 5000));
    assert_eq!(timed(&mut solver, &easy()).0, Answer::Unknown(Reason::SolverCrashed));
}

/// Each start of the worker leaves a line; two solvers after each other need one, and one more after it was killed.
fn solvers_share_a_worker() {
    let folder = folder();
    let starts = folder.path().join("starts");
    let text = format!("echo started >> {}\nexec {} smt-worker", starts.display(), this_program().display());
    let settings = settings(script(&folder, &text), 500);
    let counted = || fs::read_to_string(&starts).expect("the worker was started").lines().count();
    for _ in 0..2 {
        assert!(timed(&mut Solver::new(settings.clone()), &easy()).0.is_sat());
    }
    assert_eq!(counted(), 1);
    let (answer, _) = timed(&mut Solver::new(settings.clone()), &hard());
    assert_eq!(answer, Answer::Unknown(Reason::TimeLimit { milliseconds: 500 }));
    assert!(timed(&mut Solver::new(settings.clone()), &easy()).0.is_sat());
    assert_eq!(counted(), 2);
}

fn a_missing_worker_is_an_answer() {
    let mut solver = Solver::new(settings(PathBuf::from("/nonexistent/worker"), 200));
    let (answer, _) = timed(&mut solver, &easy());
    assert!(matches!(answer, Answer::Unknown(Reason::WorkerUnavailable { .. })), "{answer:?}");
}

fn an_interrupt_is_seen_at_once() {
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut solver = Solver::new(SolverSettings { interrupt: interrupt.clone(), ..settings(this_program(), 20_000) });
    let raise = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        interrupt.store(true, Ordering::Relaxed);
    });
    let (answer, elapsed) = timed(&mut solver, &hard());
    raise.join().expect("the thread only sleeps");
    assert_eq!(answer, Answer::Unknown(Reason::Interrupted));
    assert!(elapsed < Duration::from_secs(2), "took {elapsed:?}");
}
