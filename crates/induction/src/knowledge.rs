//! What is known while a function is looked at: instances of contracts, of the order and of unfoldings, for the elements that play a part.

use std::collections::BTreeSet;

use branchwise_constraints::{TermId, TermKind};
use branchwise_program::CodeFunctionId;

use crate::body::Understood;
use crate::claims::{Claim, Transition};
use crate::observers::Parts;
use crate::proof::{Moment, Proof, Step};
use crate::theory::Map;

impl Proof<'_> {
    /// Lists of an element and values for the parameters of an observer.
    pub(crate) fn instances(&self, index: usize, pointers: &[TermId]) -> Vec<Vec<TermId>> {
        let with = |pointer: TermId| {
            self.exact[index].iter().map(move |exact| std::iter::once(pointer).chain(exact.iter().copied()).collect())
        };
        pointers.iter().copied().flat_map(with).collect()
    }

    /// What these writes preserve, if that is claimed of the function.
    pub(crate) fn assume_writes(&mut self, function: CodeFunctionId, steps: &[Step], pointers: &[TermId]) {
        for step in steps {
            for &index in self.active {
                let claim = Claim::Preserves(index);
                if !self.contracts.has(function, &claim) {
                    continue;
                }
                for keys in self.instances(index, pointers) {
                    let good = self.is_good(index, &step.before, &keys);
                    let still = self.says_the_same(index, &step.before[index], &keys, &step.after.ghosts[index], &keys);
                    let fact = self.theory.terms.implies(good, still);
                    self.assume(step.guard, fact);
                }
            }
        }
    }

    pub(crate) fn assume(&mut self, guard: TermId, fact: TermId) {
        let fact = self.theory.terms.implies(guard, fact);
        self.assumptions.push(fact);
    }

    /// The bodies of the observers in those moments that one of the maps is of, for these elements.
    pub(crate) fn assume_unfolded(
        &mut self,
        index: usize,
        moments: &BTreeSet<Map>,
        pointers: &[TermId],
    ) -> Understood<()> {
        let instances = self.instances(index, pointers);
        for moment in self.moments.clone() {
            if moments.contains(&moment.ghosts[index].holds) {
                instances.iter().try_for_each(|keys| self.assume_unfolded_at(&moment, index, keys))?;
            }
        }
        Ok(())
    }

    /// The elements that play a part now: not those that were read before a call that changed the array, and none that is one
    /// of several.
    pub(crate) fn present(&self) -> Vec<TermId> {
        let is_choice = |pointer: TermId| matches!(self.theory.terms.kind(pointer), TermKind::IfThenElse { .. });
        let pointers = self.pointers.iter().copied();
        pointers.filter(|pointer| !self.before_calls.contains(pointer) && !is_choice(*pointer)).collect()
    }

    /// What the observer says of null, with these values of the parameters that its ghost depends on.
    fn assume_unfolded_at_null(&mut self, moment: &Moment, index: usize, exact: &[TermId]) -> Understood<()> {
        let null = self.theory.terms.constant(0, 64);
        let keys: Vec<TermId> = std::iter::once(null).chain(exact.iter().copied()).collect();
        match self.nulls.insert((moment.ghosts[index].holds, keys.clone())) {
            true => self.assume_unfolded_at(moment, index, &keys),
            false => Ok(()),
        }
    }

    /// What the observers say of null whenever they look.
    pub(crate) fn assume_unfolded_nulls(&mut self) -> Understood<()> {
        for moment in self.moments.clone() {
            for &index in self.active {
                for exact in self.exact[index].clone() {
                    self.assume_unfolded_at_null(&moment, index, &exact)?;
                }
            }
        }
        Ok(())
    }

    fn assume_unfolded_at(&mut self, moment: &Moment, index: usize, keys: &[TermId]) -> Understood<()> {
        let ghost = &moment.ghosts[index];
        let observer = &self.observers[index];
        let holds = self.theory.value(ghost.holds, keys);
        let says_value = observer.says_value();
        let unfolded = self.unfold(index, keys, &moment.memory, ghost, Parts::AsTheyAre)?;
        let mut known = unfolded.content;
        if says_value {
            let value = self.theory.value(ghost.value, keys);
            let same = self.theory.terms.equal(value, unfolded.value);
            known = self.theory.terms.and(known, same);
        }
        let fact = self.theory.terms.implies(holds, known);
        self.assumptions.push(fact);
        // Who goes on behind null would go on for ever.
        if self.theory.terms.as_constant(keys[0]).is_none() {
            for part in &unfolded.parts {
                self.assume_unfolded_at_null(moment, index, &part.keys[1..])?;
            }
        }
        if !observer.any.is_empty() || !self.closes {
            return Ok(());
        }
        let unfolded = self.unfold(index, keys, &moment.memory, ghost, Parts::Content)?;
        let mut shown = vec![unfolded.content];
        for part in unfolded.parts {
            let holds = self.theory.value(ghost.holds, &part.keys);
            let fine = self.theory.terms.and(part.fits, holds);
            shown.push(self.theory.terms.implies(part.guard, fine));
        }
        let shown = self.theory.terms.conjunction(&shown);
        let mut known = holds;
        if says_value {
            let value = self.theory.value(ghost.value, keys);
            let same = self.theory.terms.equal(value, unfolded.value);
            known = self.theory.terms.and(known, same);
        }
        let fact = self.theory.terms.implies(shown, known);
        self.assumptions.push(fact);
        Ok(())
    }

    /// The order holds when the function is called, and whenever it has called another.
    pub(crate) fn assume_order(&mut self, calls: &[Transition], pointers: &[TermId]) {
        let begins = self.moments.first().map(|moment| (moment.guard, moment.memory.clone()));
        let calls = calls.iter().map(|call| (call.guard, call.after.0.clone()));
        for (guard, memory) in begins.into_iter().chain(calls) {
            for &field in &self.contracts.orders {
                for &pointer in pointers {
                    let ordered = self.order(field, &memory, pointer);
                    self.assume(guard, ordered);
                }
            }
        }
    }

    pub(crate) fn assume_contracts(&mut self, calls: &[Transition], pointers: &[TermId]) {
        for call in calls {
            for claim in self.contracts.claims(call.function) {
                if claim.observer().is_some_and(|index| !self.active.contains(&index)) {
                    continue;
                }
                let instances = match claim.observer() {
                    _ if !claim.is_about_all() => vec![Vec::new()],
                    Some(index) => self.instances(index, pointers),
                    None => pointers.iter().map(|pointer| vec![*pointer]).collect(),
                };
                for keys in instances {
                    let fact = self.claimed(&claim, call, &keys);
                    self.assume(call.guard, fact);
                }
            }
        }
    }

    /// What is known of the calls and writes of the function, for all elements that play a part.
    pub(crate) fn assume_all(&mut self, function: CodeFunctionId) {
        self.assume_known(function, &self.pointers.clone());
    }

    pub(crate) fn assume_known(&mut self, function: CodeFunctionId, pointers: &[TermId]) {
        let (calls, writes) = (self.transitions.clone(), self.writes.clone());
        self.assume_order(&calls, pointers);
        self.assume_contracts(&calls, pointers);
        self.assume_writes(function, &writes, pointers);
    }
}
