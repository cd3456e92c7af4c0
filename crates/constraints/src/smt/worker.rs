//! The worker process: reads queries from standard input, answers on standard output.

use std::io;
use std::process::ExitCode;

use super::translate::solve_graph;
use super::wire;
use crate::solver::Limits;

/// The whole life of a worker: returns when standard input closes. For a program that was started with the one
/// argument `smt-worker`, before it reads anything or starts a thread.
pub fn smt_worker_main() -> ExitCode {
    die_with_parent();
    match serve(&mut io::stdin().lock(), &mut io::stdout().lock()) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
        Ok(never) => match never {},
    }
}

fn serve(input: &mut impl io::Read, output: &mut impl io::Write) -> io::Result<std::convert::Infallible> {
    let mut limited = None;
    loop {
        let (graph, limits) = wire::decode_query(&wire::read_message(input)?)?;
        if limited != Some(limits.memory_megabytes) {
            limit_memory(&limits);
            limited = Some(limits.memory_megabytes);
        }
        let reply = solve_graph(&graph, &limits);
        wire::write_message(output, &wire::encode_reply(&reply))?;
    }
}

/// Standard input closes when the parent ends, but a worker in the middle of a query would not look there.
fn die_with_parent() {
    // SAFETY: this request takes a signal number and touches no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Best effort: without the limit the wall clock still stops the worker.
fn limit_memory(limits: &Limits) {
    let bytes = limits.memory_megabytes.saturating_mul(1 << 20);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a valid structure that lives through the call.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
}
