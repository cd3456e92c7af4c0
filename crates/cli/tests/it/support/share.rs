//! Slow campaigns take turns: a test run does a share of each, another one every day, and a soak does all of them.
//!
//! `BRANCHWISE_TURN=N` repeats the share of another day. `BRANCHWISE_SOAK=N` does everything, with N times as many random
//! programs and inputs.

use std::time::{SystemTime, UNIX_EPOCH};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

/// Returns how many times the usual number of random programs a soak asks for; `None` in a test run.
pub fn soak() -> Option<u64> {
    number("BRANCHWISE_SOAK")
}

/// Returns the number of the day, or the one that the environment names.
pub fn turn() -> u64 {
    let days = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / (24 * 60 * 60));
    number("BRANCHWISE_TURN").unwrap_or_else(days)
}

/// Returns whether the item with this name has its turn, which comes once in `period` turns.
pub fn has_turn(name: &str, period: u64) -> bool {
    soak().is_some() || (hash(name) + turn()).is_multiple_of(period)
}

/// Returns the choice of this turn for an item, of so many; `None` in a soak, which takes all of them.
pub fn choice(name: &str, choices: u64) -> Option<u64> {
    if soak().is_some() { None } else { Some((hash(name) + turn()) % choices) }
}

/// Returns seeds for so many random programs: others in each turn, and more of them in a soak.
pub fn seeds(in_a_run: u64, in_a_soak: u64) -> std::ops::Range<u64> {
    match soak() {
        Some(times) => 1..1 + in_a_soak * times,
        None => 1 + turn() * in_a_run..1 + (turn() + 1) * in_a_run,
    }
}

/// FNV-1a: the same in every version of the standard library.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
        % (1 << 32)
}
