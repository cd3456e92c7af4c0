//! The random campaign: units with surroundings, linked with environments that do whatever the language lets them do; see
//! `support/surroundings`. Nothing that is said of them may be wrong, and a missing assumption must be seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use libtest_mimic::Trial;

use crate::support::surroundings::judged::{GIVEN, Judged, judge};
use crate::support::{case, share};

/// How many units a test run takes, and how many a soak takes at the least.
const UNITS: [u64; 2] = [4, 2000];

/// How many turns it takes until every assumption had its own.
const TURNS: u64 = 4;

/// For each assumption units of which some verdict would be wrong without it. One that shows it is enough.
const LACKING: [(&str, &[u64]); 8] = [
    ("callees-leave-globals", &[61, 14, 266]),
    ("callees-write-one-level", &[43]),
    ("callees-respect-const", &[473, 446, 64]),
    ("callees-do-not-call-back", &[94]),
    ("calls-do-not-nest", &[4, 17]),
    ("earlier-calls-returned", &[122, 4, 590]),
    ("output-succeeds", &[218]),
    ("weak-definitions-stay", &[14, 230, 91]),
];

/// What was judged in this run.
static SEEN: Mutex<Figures> = Mutex::new(Figures { units: 0, verdicts: BTreeMap::new(), noticed: BTreeSet::new() });

#[derive(Debug)]
struct Figures {
    units: usize,
    verdicts: BTreeMap<String, usize>,
    noticed: BTreeSet<String>,
}

/// Returns a case for each unit of this run, and for each assumption whose turn it is.
pub fn cases() -> Vec<Trial> {
    let unit = |seed: u64| case::case(format!("campaign::unit_{seed}"), move || case::result(wrong(seed)));
    let lacking = LACKING.into_iter().filter(|(name, _)| share::has_turn(name, TURNS));
    let without = |(name, units): (&'static str, &'static [u64])| {
        case::case(format!("campaign::without_{name}"), move || case::result(unseen(name, units)))
    };
    share::seeds(UNITS[0], UNITS[1]).map(unit).chain(lacking.map(without)).collect()
}

/// Returns what is wrong with the verdicts on one unit.
fn wrong(seed: u64) -> Vec<String> {
    match judge(seed, &[]) {
        Ok(judged) => {
            let wrong = judged.wrong.iter().map(|what| format!("unit {seed}: {what}")).collect();
            note(judged);
            wrong
        }
        Err(error) => vec![format!("unit {seed}: {error}")],
    }
}

fn note(judged: Judged) {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.units += 1;
    judged.verdicts.into_iter().for_each(|(verdict, count)| *seen.verdicts.entry(verdict).or_default() += count);
    seen.noticed.extend(judged.noticed);
}

/// The campaign would see that an assumption is missing: where it is accepted, a native run contradicts a verdict.
fn unseen(name: &str, units: &[u64]) -> Vec<String> {
    let mut errors = vec![format!("no environment of the units {units:?} shows that {name} is missing")];
    for &seed in units {
        match judge(seed, &["--assume", name]).map(|judged| judged.wrong) {
            Ok(wrong) if wrong.iter().any(|what| what.contains(GIVEN)) => return Vec::new(),
            Ok(_) => {}
            Err(error) => errors.push(format!("unit {seed}: {error}")),
        }
    }
    errors
}

/// Returns what is wrong with the campaign as a whole: each assumption that it can break must have been broken.
pub fn of_all() -> Result<(), String> {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let Figures { units, verdicts, noticed } = &*seen;
    println!("campaign: {units} units; verdicts {verdicts:?}; some would be wrong without any of {noticed:?}");
    let unseen: Vec<&str> = LACKING.iter().map(|(name, _)| *name).filter(|name| !noticed.contains(*name)).collect();
    match unseen.is_empty() {
        true => Ok(()),
        false => Err(format!("no environment shows that one of these is missing: {unseen:?}")),
    }
}
