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
        Self { milliseconds: 2000, steps: 200_000, interrupt: Arc::default() }
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
    /// None if it is further away than the clock counts.
    deadline: Option<Instant>,
    steps: u32,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a LinearLimits, start: Instant) -> Self {
        let deadline = start.checked_add(Duration::from_millis(limits.milliseconds));
        Self { limits, deadline, steps: 0 }
    }

    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(1);
        if self.steps > self.limits.steps {
            return Err(Stop::Limit(Reason::ResourceLimit { steps: self.limits.steps }));
        }
        self.check()
    }

    /// Clock and flag, for work that is no step.
    pub(super) fn check(&self) -> Result<(), Stop> {
        if self.limits.interrupt.load(Ordering::Relaxed) {
            return Err(Stop::Limit(Reason::Interrupted));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(Stop::Limit(Reason::TimeLimit { milliseconds: self.limits.milliseconds }));
        }
        Ok(())
    }
}
