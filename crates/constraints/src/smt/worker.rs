//! The worker process: reads queries from standard input, answers on standard output.
//!
//! Each query has a Z3 context of its own, so that its answer does not depend on the queries before it or on when a
//! worker had to be replaced. The context is made before the query is read, while the client does something else:
//! made afterwards it would add a millisecond or two to each answer, and a fork per query was slower still.
//!
//! Measured on the queries of real programs that reach this process: translation is 3 % of its time, contexts up to a
//! quarter, but one kept for 64 queries gained nothing that stood out from the noise. So
//! neither is kept from one query to the next, and no history shows in the models.

use std::io;
use std::process::ExitCode;

use super::translate::{in_new_context, solve};
use super::wire;
use crate::solver::Limits;

/// The whole life of a worker: returns when standard input closes. For a program that was started with the one
/// argument `smt-worker`, before it reads anything.
pub fn smt_worker_main() -> ExitCode {
    die_with_parent();
    loop {
        match in_new_context(serve_one) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return ExitCode::SUCCESS,
            Err(_) => return ExitCode::FAILURE,
        }
    }
}

fn serve_one() -> io::Result<()> {
    let (graph, limits) = wire::decode_query(&wire::read_message(&mut io::stdin().lock())?)?;
    limit_memory(&limits);
    let reply = solve(&graph, &limits);
    wire::write_message(&mut io::stdout().lock(), &wire::encode_reply(&reply))
}

/// Standard input closes when the parent ends, but a process in the middle of a query would not look there.
pub(super) fn die_with_parent() {
    // SAFETY: this request takes a signal number and touches no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Best effort: without the limit the wall clock still stops the worker.
pub(super) fn limit_memory(limits: &Limits) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid structure that lives through both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_AS, &mut limit) == 0 {
            let bytes = limits.memory_megabytes.saturating_mul(1 << 20);
            limit.rlim_cur = bytes.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_AS, &limit);
        }
    }
}
