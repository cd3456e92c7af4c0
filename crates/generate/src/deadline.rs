//! When the native runs of one function must be over: replays and the confirmation of findings.

use std::time::{Duration, Instant};

use branchwise_replay::Harness;

use crate::settings::Settings;

/// The part of a function's time that its search leaves to native runs, and the most that this can be.
const SHARE: f64 = 0.2;
const MOST_LEFT: Duration = Duration::from_secs(1);

/// By so much the native runs may be late: what was found shall not be lost for a little time.
const LATE: Duration = Duration::from_millis(500);

/// A run that still goes on after so many milliseconds is stopped, where little time is left.
const SHORTEST_RUN: u64 = 150;

/// The end of the native runs. Where steps are counted there is none, so that each run shows the same.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// The one of a function whose search has just ended. What all functions profit from may have made that late.
    pub(crate) fn of(settings: &Settings, started: Instant) -> Self {
        let end = || (started + settings.time).max(Instant::now() + left_for_native_runs(settings)) + LATE;
        Deadline(settings.steps.is_none().then(end))
    }

    pub(crate) fn none() -> Self {
        Deadline(None)
    }

    #[cfg(test)]
    pub(crate) fn in_the_past() -> Self {
        Deadline(Some(Instant::now()))
    }

    pub(crate) fn is_limited(self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// The same, later by what somebody has done for all functions since then.
    pub(crate) fn later_by(self, elapsed: Duration) -> Self {
        Deadline(self.0.map(|end| end + elapsed))
    }

    /// Does something while each native run may take at most one of so many parts of what is left.
    pub(crate) fn within<T>(self, harness: &mut Harness, parts: usize, work: impl FnOnce(&mut Harness) -> T) -> T {
        let usual = harness.milliseconds();
        harness.set_milliseconds(self.milliseconds(usual, parts as u64));
        let done = work(harness);
        harness.set_milliseconds(usual);
        done
    }

    fn milliseconds(self, usual: u64, parts: u64) -> u64 {
        let left = self.0.map(|end| end.saturating_duration_since(Instant::now()).as_millis() as u64);
        left.map_or(usual, |left| (left / parts.max(1)).max(SHORTEST_RUN).min(usual))
    }
}

/// What the search for tests leaves to their native runs.
pub(crate) fn left_for_native_runs(settings: &Settings) -> Duration {
    if settings.steps.is_some() { Duration::ZERO } else { settings.time.mul_f64(SHARE).min(MOST_LEFT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_less_time_is_left_the_shorter_is_a_run() {
        let settings = Settings { time: Duration::from_secs(2), steps: None, ..Settings::default() };
        let soon = Deadline::of(&settings, Instant::now());
        assert!(soon.is_limited() && !soon.is_over());
        assert_eq!(soon.milliseconds(1000, 2), 1000);
        assert!(soon.milliseconds(1000, 5) < 1000, "each of five gets its part");
        assert_eq!(Deadline::in_the_past().milliseconds(1000, 1), SHORTEST_RUN);
        assert!(Deadline::in_the_past().is_over());
        assert!(!Deadline::in_the_past().later_by(Duration::from_secs(60)).is_over());
    }

    #[test]
    fn where_steps_are_counted_nothing_is_left_out() {
        let settings = Settings { steps: Some(10), ..Settings::default() };
        let none = Deadline::of(&settings, Instant::now());
        assert!(!none.is_limited() && !none.is_over());
        assert_eq!(none.milliseconds(1000, 9), 1000);
        assert_eq!(left_for_native_runs(&settings), Duration::ZERO);
    }
}
