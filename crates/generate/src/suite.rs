//! The smallest suite we find: greedy, tests that return cleanly first, then whatever adds nothing is dropped.

use std::collections::BTreeSet;

use branchwise_goals::GoalId;

/// A test as far as minimisation is concerned.
pub(crate) struct Coverer<'a> {
    pub covers: &'a [GoalId],
    pub clean: bool,
}

/// The indices to keep, in the given order.
pub(crate) fn minimise(tests: &[Coverer<'_>]) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut covered = BTreeSet::new();
    for clean in [true, false] {
        while let Some(best) = best_gain(tests, &covered, clean) {
            covered.extend(tests[best].covers);
            chosen.push(best);
        }
    }
    drop_superfluous(tests, &mut chosen);
    chosen.sort_unstable();
    chosen
}

/// The test that covers most of what is missing; the earlier one of equals.
fn best_gain(tests: &[Coverer<'_>], covered: &BTreeSet<GoalId>, clean: bool) -> Option<usize> {
    let gain = |test: &Coverer<'_>| test.covers.iter().filter(|goal| !covered.contains(goal)).count();
    let candidates = tests.iter().enumerate().filter(|(_, test)| test.clean || !clean);
    let best = candidates.map(|(index, test)| (gain(test), std::cmp::Reverse(index))).max()?;
    (best.0 > 0).then_some(best.1.0)
}

fn drop_superfluous(tests: &[Coverer<'_>], chosen: &mut Vec<usize>) {
    let mut position = 0;
    while position < chosen.len() {
        let others: BTreeSet<GoalId> = chosen
            .iter()
            .filter(|&&other| other != chosen[position])
            .flat_map(|&other| tests[other].covers)
            .copied()
            .collect();
        if tests[chosen[position]].covers.iter().all(|goal| others.contains(goal)) {
            chosen.remove(position);
        } else {
            position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goals(numbers: &[u32]) -> Vec<GoalId> {
        numbers.iter().map(|&number| GoalId(number)).collect()
    }

    fn kept(tests: &[(&[u32], bool)]) -> Vec<usize> {
        let covers: Vec<Vec<GoalId>> = tests.iter().map(|(numbers, _)| goals(numbers)).collect();
        let coverers: Vec<Coverer<'_>> =
            covers.iter().zip(tests).map(|(covers, (_, clean))| Coverer { covers, clean: *clean }).collect();
        minimise(&coverers)
    }

    #[test]
    fn a_larger_test_replaces_smaller_ones() {
        assert_eq!(kept(&[(&[1], true), (&[2], true), (&[1, 2, 3], true)]), [2]);
    }

    #[test]
    fn a_clean_test_is_preferred_to_one_that_crashes() {
        assert_eq!(kept(&[(&[1, 2], false), (&[1], true), (&[2], true)]), [1, 2]);
        assert_eq!(kept(&[(&[1, 2, 3], false), (&[1], true)]), [0]);
    }

    #[test]
    fn a_test_without_goals_is_dropped() {
        assert_eq!(kept(&[(&[], true), (&[4], true)]), [1]);
    }
}
