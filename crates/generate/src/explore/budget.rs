//! What one function may spend, and parts of it.

use std::time::Instant;

use branchwise_constraints::{Limits, Solver, SolverSettings, Workers};

use crate::alarm::Alarm;
use crate::settings::{FindingsMode, Settings};

/// For conditions that the usual limits leave undecided.
pub(super) const PATIENT: Limits =
    Limits { milliseconds: 20_000, resource: 40_000_000, memory_megabytes: 4096, ..Limits::DEFAULT };

/// The part of a function's budget that the search for goals leaves to that for faults.
const LEFT_FOR_FAULTS: f64 = 0.05;

/// The part that is left to inputs of the smallest size, where nothing is known of larger ones.
const LEFT_FOR_SMALL: f64 = 0.07;

/// By how much the clock's limits are larger where steps are counted.
const CLOCK_SLACK: u64 = 10;

/// What one function may still spend.
pub(crate) struct Budget<'a> {
    pub settings: &'a Settings,
    pub started: Instant,
    pub steps: u64,
    /// Raised when the time is over, so that a long path and a hard query end then too.
    pub(super) alarm: Alarm,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(settings: &'a Settings, started: Instant) -> Self {
        let alarm = match settings.steps {
            Some(_) => Alarm::on(&settings.interrupt),
            None => Alarm::at(started + settings.time, &settings.interrupt),
        };
        Budget { settings, started, steps: 0, alarm }
    }

    /// Does what all functions of the file profit from: it is nothing that one of them spends.
    pub(crate) fn without(&mut self, work: impl FnOnce()) {
        let begun = Instant::now();
        work();
        self.started += begun.elapsed();
        if self.settings.steps.is_none() {
            self.alarm = Alarm::at(self.started + self.settings.time, &self.settings.interrupt);
        }
    }

    pub(crate) fn interrupted(&self) -> bool {
        self.settings.interrupt.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// A solver with these limits. Where steps are what counts, the clock shall not: the solver's own step limit strikes
    /// first then, also on a machine with more to do than it has cores.
    pub(super) fn solver(&self, workers: Option<Workers>, limits: Limits) -> Solver {
        Solver::new(self.solver_settings(workers, limits, &self.alarm))
    }

    /// The same for a part of what is left.
    pub(super) fn solver_within(&self, part: &Part, workers: Option<Workers>, limits: Limits) -> Solver {
        Solver::new(self.solver_settings(workers, limits, &part.alarm))
    }

    /// A solver for what others left open: with larger limits, and with the help of another solver if there is one.
    pub(super) fn patient_solver(&self, workers: Option<Workers>) -> Solver {
        let settings = self.solver_settings(workers, PATIENT, &self.alarm);
        Solver::new(SolverSettings { external: self.settings.external_solver.clone(), ..settings })
    }

    fn solver_settings(&self, workers: Option<Workers>, limits: Limits, alarm: &Alarm) -> SolverSettings {
        SolverSettings {
            limits: Limits { milliseconds: limits.milliseconds * self.clock_slack(), ..limits },
            workers,
            without: self.settings.without.clone(),
            log: self.settings.query_log.clone(),
            interrupt: alarm.flag().clone(),
            ..SolverSettings::default()
        }
    }

    /// A solver's settings for proofs, within a part of what is left.
    pub(crate) fn for_proofs(&self, part: &Part, workers: Option<Workers>) -> SolverSettings {
        self.solver_settings(workers, PATIENT, &part.alarm)
    }

    /// By how much the clock's limits are larger than where time is what counts.
    pub(super) fn clock_slack(&self) -> u64 {
        if self.settings.steps.is_some() { CLOCK_SLACK } else { 1 }
    }

    /// A part of what is left, for one undertaking.
    pub(crate) fn part(&self, share: f64) -> Part {
        let alarm = match self.settings.steps {
            Some(_) => Alarm::on(&self.settings.interrupt),
            None => {
                let left = self.settings.time.saturating_sub(self.started.elapsed());
                Alarm::at(Instant::now() + left.mul_f64(share), &self.settings.interrupt)
            }
        };
        let steps =
            self.settings.steps.map_or(u64::MAX, |steps| (steps.saturating_sub(self.steps) as f64 * share) as u64);
        Part { alarm, steps, slack: self.clock_slack() }
    }

    pub(super) fn memory(&self) -> u64 {
        self.settings.memory_megabytes.saturating_mul(1 << 20)
    }

    /// The part of the budget for goals that is spent, 1.0 when there is none left.
    pub(crate) fn spent(&self) -> f64 {
        let for_faults = if self.settings.findings == FindingsMode::Search { LEFT_FOR_FAULTS } else { 0.0 };
        let for_small = if self.settings.strategy.is_path_by_path() { 0.0 } else { LEFT_FOR_SMALL };
        self.spent_of_all() / (1.0 - for_faults - for_small)
    }

    /// The part of the whole budget that is spent.
    pub(super) fn spent_of_all(&self) -> f64 {
        let time = self.started.elapsed().as_secs_f64() / self.settings.time.as_secs_f64().max(1e-9);
        match self.settings.steps {
            Some(steps) => self.steps as f64 / steps.max(1) as f64,
            None => time,
        }
    }
}

/// What one undertaking within a function's budget may spend.
pub(crate) struct Part {
    pub(super) alarm: Alarm,
    steps: u64,
    pub(super) slack: u64,
}

impl Part {
    pub(super) fn flag(&self) -> &std::sync::atomic::AtomicBool {
        self.alarm.flag()
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Its time is over.
    pub(super) fn is_raised(&self) -> bool {
        self.flag().load(std::sync::atomic::Ordering::Relaxed)
    }
}
