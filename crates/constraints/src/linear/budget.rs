//! How long a search may go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::answer::Reason;

/// How much the linear layer may spend on one formula.
#[derive(Clone, Debug)]
pub struct LinearLimits {
    /// Wall clock for the whole.
    pub milliseconds: u64,
    /// Pivots and decisions: the limit that gives the same answer on a slow machine.
    pub steps: u32,
    /// Raised from outside, it ends the search at the next step.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for LinearLimits {
    fn default() -> Self {
        Self { milliseconds: 2000, steps: 50_000, interrupt: Arc::default() }
    }
}

/// Why a search ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Limit(Reason),
    /// A number did not fit 128 bits.
    NumbersTooLarge,
}

/// What is left of the limits.
pub(super) struct Budget<'a> {
    limits: &'a LinearLimits,
    deadline: Instant,
    steps: u32,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a LinearLimits, start: Instant) -> Self {
        let deadline = start + Duration::from_millis(limits.milliseconds);
        Self { limits, deadline, steps: 0 }
    }

    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        let reason = if self.steps > self.limits.steps {
            Reason::ResourceLimit { steps: self.limits.steps }
        } else if self.limits.interrupt.load(Ordering::Relaxed) {
            Reason::Interrupted
        } else if Instant::now() > self.deadline {
            Reason::TimeLimit { milliseconds: self.limits.milliseconds }
        } else {
            return Ok(());
        };
        Err(Stop::Limit(reason))
    }
}
