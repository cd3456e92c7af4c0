//! Leaks on unwinding: what the call under test allocated, what the program could reach when an exception was thrown, and
//! what nobody can reach where the exception is handled.

use std::collections::HashSet;

use crate::executor::Executor;
use crate::path::{Fault, FaultKind};
use crate::value::ObjectId;

/// What the call under test has allocated so far.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    /// Each with the leak that it would be.
    made: Vec<(ObjectId, Fault)>,
    /// What could be reached when the last exception was thrown.
    within_reach: HashSet<ObjectId>,
}

impl Executor<'_, '_> {
    pub(crate) fn note_allocation(&mut self, object: ObjectId) {
        if self.unites() || self.is_before_unit() || self.in_precondition() {
            return;
        }
        let message = "what is allocated here is out of reach when the exception is handled";
        self.allocations.made.push((
            object,
            Fault {
                kind: FaultKind::LeakOnUnwinding,
                site: self.site(),
                location: self.location(),
                message: message.to_owned(),
                assumption: None,
            },
        ));
    }

    /// An exception is thrown.
    pub(crate) fn note_reach(&mut self) {
        self.allocations.within_reach = match self.allocations.made.is_empty() {
            true => HashSet::new(),
            false => self.reachable().unwrap_or_default(),
        };
    }

    /// A handler has taken an exception.
    pub(crate) fn note_leaks(&mut self) {
        if self.allocations.within_reach.is_empty() {
            return;
        }
        let Some(reachable) = self.reachable() else { return };
        let Allocations { made, within_reach } = &self.allocations;
        let lost = |object: &ObjectId| {
            within_reach.contains(object) && !reachable.contains(object) && self.memory.get(*object).is_some()
        };
        for (_, leak) in made.iter().filter(|(object, _)| lost(object)) {
            if !self.notes.leaks.iter().any(|known| known.site == leak.site) {
                self.notes.leaks.push(leak.clone());
            }
        }
    }

    /// The objects that the program can come to. `None` where that is not known: it has looked at addresses as numbers,
    /// and might make pointers of them again.
    fn reachable(&self) -> Option<HashSet<ObjectId>> {
        if self.session.looks_at_addresses || self.unites() {
            return None;
        }
        self.memory.reachable(&self.registers[..self.top])
    }
}
