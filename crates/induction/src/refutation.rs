//! Whether what a function owes follows from what is known.

use std::collections::BTreeSet;

use branchwise_constraints::{Answer, TermId, evaluate};
use branchwise_program::CodeFunctionId;

use crate::body::Understood;
use crate::claims::Claim;
use crate::observers::Parts;
use crate::proof::{Proof, Step};
use crate::solving::Solving;

impl Proof<'_> {
    /// What of all that is owed does not follow, or nobody knows whether it does.
    pub(crate) fn refuted(&self, function: CodeFunctionId, solver: &Solving<'_>) -> Understood<BTreeSet<Claim>> {
        let mut wrong = BTreeSet::new();
        let is_open = |index: &usize| {
            self.contracts.open.get(&function).is_some_and(|open| open.contains(&Claim::Preserves(*index)))
        };
        for (number, step) in self.writes.iter().enumerate() {
            for index in self.active.iter().copied().filter(is_open) {
                wrong.extend(self.preserving(function, number, step, index)?.not_following(solver));
            }
        }
        for group in self.groups() {
            let mut end = self.clone();
            end.obligations = group;
            let of_ends = end.obligations.iter().any(|(claim, _)| claim.observer().is_some() && !claim.is_about_all());
            let pointers = if of_ends || self.active.is_empty() { &self.pointers[..] } else { &self.pointers[..1] };
            end.assume_known(function, pointers);
            if of_ends {
                end.exact.clone_from(&self.own_exact);
                for &index in self.active {
                    end.assume_unfolded(index, &self.ends, &self.present()[1..])?;
                }
            }
            wrong.extend(end.not_following(solver));
        }
        Ok(wrong)
    }

    /// What is owed at the end and in calls, as it is asked for together.
    fn groups(&self) -> Vec<Vec<(Claim, TermId)>> {
        let chained = |claim: &Claim| claim.observer().is_some() && claim.is_about_all();
        let (all, single): (Vec<_>, Vec<_>) = self.obligations.iter().cloned().partition(|(claim, _)| chained(claim));
        [all, single].into_iter().filter(|group| !group.is_empty()).collect()
    }

    /// That writes do not change what an observer says, with what is known before them.
    fn preserving(&self, function: CodeFunctionId, number: usize, step: &Step, index: usize) -> Understood<Self> {
        let mut part = self.clone();
        part.obligations.clear();
        part.assume_order(&self.transitions[..step.calls], &step.pointers);
        part.assume_contracts(&self.transitions[..step.calls], &step.pointers);
        part.assume_writes(function, &self.writes[..number], &step.pointers);
        for &index in self.active {
            let before = self.theory.parts(step.before[index].holds);
            part.assume_unfolded(index, &before, &step.pointers)?;
        }
        part.owe_write(step, index)?;
        Ok(part)
    }

    /// What writes must not change: where an observer was content, its body is too, with what it said of the parts, all of which
    /// come later in the array, so that this is an induction over the elements from the last one on.
    fn owe_write(&mut self, step: &Step, index: usize) -> Understood<()> {
        let claim = Claim::Preserves(index);
        let keys = self.own_keys(&claim);
        let good = self.is_good(index, &step.before, &keys);
        let ghost = step.before[index].clone();
        let unfolded = self.unfold(index, &keys, &step.after.memory, &ghost, Parts::Content)?;
        let mut owed = vec![unfolded.content];
        if self.observers[index].says_value() {
            let value = self.theory.value(ghost.value, &keys);
            owed.push(self.theory.terms.equal(value, unfolded.value));
        }
        for part in unfolded.parts {
            let good = self.is_good(index, &step.before, &part.keys);
            let later = self.is_later(keys[0], part.keys[0]);
            let fine = self.theory.terms.conjunction(&[part.fits, good, later]);
            owed.push(self.theory.terms.implies(part.guard, fine));
        }
        let owed = self.theory.terms.conjunction(&owed);
        let owed = self.theory.terms.implies(good, owed);
        self.owe(claim, step.guard, owed);
        Ok(())
    }

    /// What a model of the assumptions makes wrong of what is owed; nothing if there is none, and everything if nobody knows.
    fn not_following(mut self, solver: &Solving<'_>) -> BTreeSet<Claim> {
        let failures: Vec<TermId> = self.obligations.iter().map(|(_, owed)| *owed).collect();
        let failures: Vec<TermId> = failures.into_iter().map(|owed| self.theory.terms.not(owed)).collect();
        let failure = self.theory.terms.disjunction(&failures);
        let query = self.query(failure);
        let answer = solver.check(&self.theory.terms, &query);
        match answer {
            Answer::Unsat(_) => BTreeSet::new(),
            Answer::Unknown(_) => self.obligations.iter().map(|(claim, _)| claim.clone()).collect(),
            Answer::Sat(model) => {
                let wrong = |owed: TermId| evaluate(&self.theory.terms, &model, owed) == 0;
                let obligations = self.obligations.iter().filter(|(_, owed)| wrong(*owed));
                obligations.map(|(claim, _)| claim.clone()).collect()
            }
        }
    }

    /// The condition together with all that is known.
    pub(crate) fn query(&mut self, condition: TermId) -> Vec<TermId> {
        let congruences = self.theory.congruences();
        self.assumptions.iter().copied().chain(congruences).chain([condition]).collect()
    }
}
