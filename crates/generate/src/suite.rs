//! The smallest suite of the tests that were found: tests that return cleanly first, for all that such tests cover, then
//! others for the rest. Exact where that is quick to find, greedy otherwise; whatever adds nothing is dropped.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_goals::GoalId;

/// A test as far as minimisation is concerned.
pub(crate) struct Coverer<'a> {
    pub covers: &'a [GoalId],
    /// What it reaches behind undefined behaviour, and no test without.
    pub undefined: &'a [GoalId],
    pub clean: bool,
}

/// A suite that covers what all tests together cover.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Smallest {
    /// The indices to keep, in the given order.
    pub kept: Vec<usize>,
    /// Those of them that are kept for nothing but what lies behind undefined behaviour.
    pub reproducers: Vec<usize>,
    /// No smaller choice covers as much; otherwise it is the greedy one, or a better one that was met.
    pub exact: bool,
}

/// So many choices are looked at before greed has to do.
const MOST_CHOICES: usize = 20_000;

pub(crate) fn minimise(tests: &[Coverer<'_>]) -> Smallest {
    let (mut kept, mut covered, mut exact) = (Vec::new(), BTreeSet::<GoalId>::new(), true);
    for clean in [true, false] {
        let fits = |test: &Coverer<'_>| test.clean || !clean;
        let chosen = smallest(tests, fits, |test| test.covers, &covered, &mut exact);
        covered.extend(chosen.iter().flat_map(|&index| tests[index].covers));
        kept.extend(chosen);
    }
    drop_superfluous(tests, &mut kept);
    covered.extend(kept.iter().flat_map(|&index| tests[index].undefined));
    let mut reproducers = smallest(tests, |_| true, |test| test.undefined, &covered, &mut exact);
    reproducers.sort_unstable();
    kept.extend(&reproducers);
    kept.sort_unstable();
    Smallest { kept, reproducers, exact }
}

/// The fewest of the tests that fit for all that these cover and nothing has covered yet; with `exact` still true, none fewer do.
fn smallest<'a>(
    tests: &[Coverer<'a>],
    fits: impl Fn(&Coverer<'a>) -> bool,
    covers: impl Fn(&Coverer<'a>) -> &'a [GoalId],
    covered: &BTreeSet<GoalId>,
    exact: &mut bool,
) -> Vec<usize> {
    let rest = |test| covers(test).iter().copied().filter(|id| !covered.contains(id)).collect();
    let fitting = tests.iter().enumerate().filter(|(_, test)| fits(test));
    let candidates: Vec<(usize, BTreeSet<GoalId>)> = fitting.map(|(index, test)| (index, rest(test))).collect();
    let mut search = Search::over(&candidates);
    search.choose(&mut Vec::new(), &search.goals());
    *exact &= search.choices < MOST_CHOICES;
    search.best
}

/// Branch and bound: the goal that the fewest tests cover is covered by one of them.
struct Search<'a> {
    candidates: &'a [(usize, BTreeSet<GoalId>)],
    coverers: BTreeMap<GoalId, Vec<usize>>,
    /// Indices of tests.
    best: Vec<usize>,
    choices: usize,
}

impl<'a> Search<'a> {
    fn over(candidates: &'a [(usize, BTreeSet<GoalId>)]) -> Self {
        let mut coverers: BTreeMap<GoalId, Vec<usize>> = BTreeMap::new();
        for (position, (_, covers)) in candidates.iter().enumerate() {
            covers.iter().for_each(|&goal| coverers.entry(goal).or_default().push(position));
        }
        let best = greedy(candidates);
        Search { candidates, coverers, best, choices: 0 }
    }

    fn goals(&self) -> BTreeSet<GoalId> {
        self.coverers.keys().copied().collect()
    }

    fn choose(&mut self, chosen: &mut Vec<usize>, missing: &BTreeSet<GoalId>) {
        self.choices += 1;
        let Some(goal) = missing.iter().min_by_key(|goal| self.coverers[goal].len()) else {
            if chosen.len() < self.best.len() {
                self.best.clone_from(chosen);
            }
            return;
        };
        let gain = |position: &usize| self.candidates[*position].1.intersection(missing).count();
        let most = (0..self.candidates.len()).map(|position| gain(&position)).max().unwrap_or(0).max(1);
        if chosen.len() + missing.len().div_ceil(most) >= self.best.len() {
            return;
        }
        let mut coverers = self.coverers[goal].clone();
        coverers.sort_by_key(|position| (std::cmp::Reverse(gain(position)), *position));
        for position in coverers {
            if self.choices >= MOST_CHOICES {
                return;
            }
            let (index, covers) = &self.candidates[position];
            chosen.push(*index);
            self.choose(chosen, &missing.difference(covers).copied().collect());
            chosen.pop();
        }
    }
}

/// The test that covers most of what is missing, again and again; the earlier one of equals.
fn greedy(candidates: &[(usize, BTreeSet<GoalId>)]) -> Vec<usize> {
    let (mut chosen, mut covered) = (Vec::new(), BTreeSet::<GoalId>::new());
    loop {
        let gains = candidates.iter().map(|(index, covers)| {
            let gain = covers.difference(&covered).count();
            (gain, std::cmp::Reverse(*index), covers)
        });
        match gains.max_by_key(|(gain, index, _)| (*gain, *index)) {
            Some((1.., index, covers)) => {
                covered.extend(covers);
                chosen.push(index.0);
            }
            _ => return chosen,
        }
    }
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
        let coverers: Vec<Coverer<'_>> = covers
            .iter()
            .zip(tests)
            .map(|(covers, (_, clean))| Coverer { covers, undefined: &[], clean: *clean })
            .collect();
        minimise(&coverers).kept
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
    fn what_lies_behind_undefined_behaviour_has_tests_of_its_own() {
        let (one, two, three) = (goals(&[1]), goals(&[2]), goals(&[3]));
        let coverers = [
            Coverer { covers: &one, undefined: &[], clean: true },
            Coverer { covers: &two, undefined: &[], clean: false },
            Coverer { covers: &[], undefined: &three, clean: false },
        ];
        let found = minimise(&coverers);
        assert_eq!((found.kept, found.reproducers), (vec![0, 1, 2], vec![2]));
    }

    #[test]
    fn a_test_of_the_suite_that_shows_it_is_enough() {
        let (one, three) = (goals(&[1]), goals(&[3]));
        let coverers = [
            Coverer { covers: &one, undefined: &three, clean: false },
            Coverer { covers: &[], undefined: &three, clean: false },
        ];
        let found = minimise(&coverers);
        assert_eq!((found.kept, found.reproducers), (vec![0], vec![]));
    }

    #[test]
    fn a_test_without_goals_is_dropped() {
        assert_eq!(kept(&[(&[], true), (&[4], true)]), [1]);
    }

    #[test]
    fn the_smallest_suite_is_found_where_greed_misses_it() {
        let tests: [(&[u32], bool); 4] = [(&[1, 2, 3, 4], true), (&[1, 2, 5], true), (&[3, 4, 6], true), (&[5], false)];
        assert_eq!(kept(&tests), [1, 2]);
    }

    /// Every choice is looked at.
    #[test]
    fn no_smaller_suite_covers_as_much() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let covers: Vec<Vec<GoalId>> =
                (0..random(9)).map(|_| (0..10).filter(|_| random(3) == 0).map(GoalId).collect()).collect();
            let coverers: Vec<Coverer<'_>> =
                covers.iter().map(|covers| Coverer { covers, undefined: &[], clean: true }).collect();
            let covered = |chosen: &mut dyn Iterator<Item = usize>| -> BTreeSet<GoalId> {
                chosen.flat_map(|index| covers[index].iter().copied()).collect()
            };
            let all = covered(&mut (0..covers.len()));
            let smallest = (0_u32..1 << covers.len())
                .filter(|bits| covered(&mut (0..covers.len()).filter(|index| bits >> index & 1 == 1)) == all)
                .map(u32::count_ones)
                .min();
            let found = minimise(&coverers);
            assert!(found.exact);
            assert_eq!(covered(&mut found.kept.iter().copied()), all, "nothing is lost");
            assert_eq!(Some(found.kept.len() as u32), smallest);
        }
    }
}
