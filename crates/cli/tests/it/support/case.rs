//! Cases, and how long each of them took.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use super::folder;

/// How many of the slowest cases are named at the end.
const SLOWEST: usize = 12;

static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// Makes a case whose time is taken.
pub fn case(name: impl Into<String>, check: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    let name = name.into();
    let shown = name.clone();
    Trial::test(name, move || {
        let begin = Instant::now();
        folder::begin(&shown);
        let result = check();
        TIMES.lock().unwrap_or_else(PoisonError::into_inner).push((begin.elapsed(), shown));
        result
    })
}

/// Passes where nothing is wrong.
pub fn result(wrong: Vec<String>) -> Result<(), Failed> {
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Returns a line for each of the slowest cases.
pub fn slowest() -> Vec<String> {
    let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    times.sort_by(|one, other| other.cmp(one));
    times.iter().take(SLOWEST).map(|(time, name)| format!("{:6.1} s  {name}", time.as_secs_f64())).collect()
}
