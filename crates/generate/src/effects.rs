//! Goals that two evaluations of a decision show together (MC/DC): which pair does, and what follows where none does.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_goals::{Bound, Effect, Evidence, GoalId, Ledger, TestId, Verdict};
use branchwise_program::assumption::Assumption;

use crate::replayed::Replayed;
use crate::result::Test;

/// For every goal of this kind that native runs show, the pair that does.
pub(crate) struct Effects<'a> {
    ledger: &'a Ledger,
    pairs: BTreeMap<GoalId, (GoalId, GoalId)>,
}

impl<'a> Effects<'a> {
    /// Pairs without undefined behaviour are preferred, then those that share evaluations: they need fewer tests.
    pub(crate) fn shown(ledger: &'a Ledger, replayed: &[Replayed]) -> Self {
        let defined: BTreeSet<GoalId> = replayed.iter().flat_map(|test| test.defined.iter().copied()).collect();
        let covered: BTreeSet<GoalId> = replayed.iter().flat_map(|test| test.covers.iter().copied()).collect();
        let (mut pairs, mut used) = (BTreeMap::new(), BTreeSet::new());
        for Effect { goal, pairs: possible } in ledger.effects() {
            let shown = possible.iter().filter(|(left, right)| covered.contains(left) && covered.contains(right));
            let new = |(left, right): &(GoalId, GoalId)| {
                usize::from(!used.contains(left)) + usize::from(!used.contains(right))
            };
            let undefined = |(left, right): &(GoalId, GoalId)| !defined.contains(left) || !defined.contains(right);
            if let Some(&(left, right)) = shown.min_by_key(|&pair| (undefined(pair), new(pair))) {
                pairs.insert(*goal, (left, right));
                used.extend([left, right]);
            }
        }
        Effects { ledger, pairs }
    }

    /// Parts that belong to no pair that is shown are nothing to keep a test for.
    pub(crate) fn keep_pairs(&self, covers: &mut Vec<GoalId>) {
        let used: BTreeSet<GoalId> = self.pairs.values().flat_map(|&(left, right)| [left, right]).collect();
        covers.retain(|id| !self.ledger.goal(*id).is_part() || used.contains(id));
    }

    /// In reports, tests cover the goals and not their parts.
    pub(crate) fn name_goals(&self, tests: &mut [Test]) {
        let goals = |parts: &[GoalId]| {
            let mut goals: BTreeSet<GoalId> =
                parts.iter().copied().filter(|&id| !self.ledger.goal(id).is_part()).collect();
            let shown = |(left, right): &(GoalId, GoalId)| parts.contains(left) || parts.contains(right);
            goals.extend(self.pairs.iter().filter(|(_, pair)| shown(pair)).map(|(goal, _)| *goal));
            goals.into_iter().collect()
        };
        for test in tests {
            (test.covers, test.kept_for) = (goals(&test.covers), goals(&test.kept_for));
        }
    }

    /// The two evaluations that show a goal, in words.
    pub(crate) fn pair(&self, goal: GoalId) -> Option<[String; 2]> {
        let &(left, right) = self.pairs.get(&goal)?;
        Some([left, right].map(|part| self.ledger.goal(part).text.clone()))
    }

    /// The verdict on a goal of this kind, from those on its parts; `None` for other goals.
    pub(crate) fn verdict(&self, id: GoalId, tests: &[Test], part: &dyn Fn(GoalId) -> Verdict) -> Option<Verdict> {
        let effect = self.ledger.effects().iter().find(|effect| effect.goal == id)?;
        if let Some(&(left, right)) = self.pairs.get(&id) {
            let first = |part| tests.iter().find(|test| test.covers.contains(&part)).map(|test| test.id);
            let by: BTreeSet<TestId> = [left, right].into_iter().filter_map(first).collect();
            let through = [left, right].into_iter().find_map(|side| match part(side) {
                Verdict::Covered { through, .. } => through,
                _ => None,
            });
            return Some(Verdict::Covered { tests: by.into_iter().collect(), through });
        }
        Some(unshown(&effect.pairs, part))
    }
}

/// Of every pair one evaluation must be impossible.
fn unshown(pairs: &[(GoalId, GoalId)], part: &dyn Fn(GoalId) -> Verdict) -> Verdict {
    let (mut bounds, mut assumptions): (Vec<Bound>, Vec<Assumption>) = (Vec::new(), Vec::new());
    let mut proof = None;
    for &(left, right) in pairs {
        let both = [part(left), part(right)];
        let excluded = both.iter().filter_map(|verdict| match verdict {
            Verdict::Infeasible(evidence) => Some((&[][..], evidence)),
            Verdict::InfeasibleWithinBounds { bounds, evidence } => Some((&bounds[..], evidence)),
            Verdict::Covered { .. } | Verdict::Unknown(_) => None,
        });
        let Some((more, evidence)) = excluded.min_by_key(|(bounds, evidence)| (bounds.len(), !evidence.is_plain()))
        else {
            let [left, right] = both;
            return if matches!(left, Verdict::Covered { .. }) { right } else { left };
        };
        bounds.extend_from_slice(more);
        assumptions.extend_from_slice(&evidence.assumptions);
        proof = Some(evidence.clone());
    }
    let proof = proof.unwrap_or_else(|| Evidence {
        proof: "no two evaluations of its decision differ by this condition alone".to_string(),
        paths: 0,
        refuted_prefixes: 0,
        assumptions: Vec::new(),
        infeasible_prefix: None,
    });
    let proof = Evidence { proof: format!("of every pair of evaluations one is impossible: {}", proof.proof), ..proof };
    Verdict::excluded(proof, Vec::new()).resting_on(&bounds, &assumptions)
}
