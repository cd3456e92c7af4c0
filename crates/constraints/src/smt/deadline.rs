//! How long a solver in another process is waited for.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::answer::Reason;
use crate::solver::Limits;

/// How long an interrupt may go unseen.
pub(super) const STEP: Duration = Duration::from_millis(20);

/// When to stop waiting.
pub(super) struct Deadline<'a> {
    at: Instant,
    milliseconds: u64,
    interrupt: &'a AtomicBool,
}

impl<'a> Deadline<'a> {
    pub(super) fn new(limits: &Limits, interrupt: &'a AtomicBool) -> Self {
        let at = Instant::now() + Duration::from_millis(limits.milliseconds);
        Self { at, milliseconds: limits.milliseconds, interrupt }
    }

    /// Repeats an operation that gives up after [`STEP`] until it moves some bytes, or it is time to stop.
    pub(super) fn attempt(&self, operation: impl FnMut() -> io::Result<usize>) -> Result<usize, Reason> {
        match self.attempt_or_end(operation)? {
            0 => Err(Reason::SolverCrashed),
            moved => Ok(moved),
        }
    }

    /// The same, where no bytes are the end of them.
    pub(super) fn attempt_or_end(&self, mut operation: impl FnMut() -> io::Result<usize>) -> Result<usize, Reason> {
        loop {
            match operation() {
                Ok(moved) => return Ok(moved),
                Err(error) if is_temporary(&error) => self.check()?,
                Err(_) => return Err(Reason::SolverCrashed),
            }
        }
    }

    fn check(&self) -> Result<(), Reason> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Reason::Interrupted);
        }
        if Instant::now() >= self.at {
            return Err(Reason::TimeLimit { milliseconds: self.milliseconds });
        }
        Ok(())
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
