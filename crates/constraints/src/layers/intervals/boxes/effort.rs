use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::solver::Limits;

/// How many nodes may be looked at. The count decides, the same on every machine; the clock is there for a machine
/// that is too slow for it, and the flag for a user who has seen enough.
pub(super) struct Effort<'a> {
    left: u64,
    until_look: u64,
    deadline: Instant,
    interrupt: &'a AtomicBool,
}

/// Steps of the SMT solver that are given for looking at a node. Four times as many nodes decided no more of the
/// benchmark's outcomes, and took from whole paths the time that decided some.
const STEPS_PER_NODE: u32 = 32;

/// Nodes between two looks at the clock.
const LOOK: u64 = 50_000;

impl<'a> Effort<'a> {
    pub(super) fn new(limits: &Limits, interrupt: &'a AtomicBool) -> Self {
        let deadline = Instant::now() + Duration::from_millis(limits.milliseconds);
        Self { left: u64::from(limits.resource / STEPS_PER_NODE), until_look: LOOK, deadline, interrupt }
    }

    pub(super) fn left(&self) -> u64 {
        self.left
    }

    pub(super) fn spend(&mut self, nodes: u64) {
        self.left = self.left.saturating_sub(nodes);
        match self.until_look.checked_sub(nodes) {
            Some(rest) => self.until_look = rest,
            None => {
                self.until_look = LOOK;
                if self.interrupt.load(Ordering::Relaxed) || Instant::now() >= self.deadline {
                    self.left = 0;
                }
            }
        }
    }
}
