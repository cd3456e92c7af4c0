//! Whole traces as goals see them, and depth-first search for criteria whose goals are paths. That search belongs to the
//! first round alone: larger bounds would only repeat loops more often.

use std::rc::Rc;

use branchwise_goals::GoalId;
use branchwise_search::{Candidate, DepthFirst, Executed, Inserted};
use branchwise_symbolic::Path;

use super::Exploration;
use crate::replayed::{called, predicted_trace};

impl Exploration<'_, '_> {
    /// Makes this round look for paths, if they are goals.
    pub(crate) fn follow_paths(&mut self) {
        if self.ledger.wants_paths() {
            self.paths.get_or_insert_default();
            self.limitations.followed_paths = true;
        }
    }

    /// The goals that the path reaches first.
    pub(super) fn note_trace(&mut self, path: &Path) -> Vec<GoalId> {
        let calls = called(path, self.session.function);
        let noted = self.ledger.note_trace(&predicted_trace(path, &calls));
        self.limitations.lost |= noted.lost;
        self.limitations.unseen |= noted.unseen;
        self.limitations.doubtful.extend(noted.doubtful);
        noted.fresh
    }

    pub(super) fn add_path(&mut self, path: &Path, inserted: &Inserted) {
        let Some(paths) = &mut self.paths else { return };
        let calls = called(path, self.session.function);
        let executed = Rc::new(Executed { calls, events: path.events.clone() });
        let events_before: Vec<usize> = path.decisions.iter().map(|decision| decision.events_before).collect();
        self.footprint.add_events(executed.events.len());
        paths.add(&self.tree, inserted, &executed, &events_before);
    }

    /// What to try next: towards single goals first, then towards new paths.
    pub(super) fn next_candidate(&mut self) -> Option<Candidate> {
        let plain = self.paths.as_ref().is_some_and(DepthFirst::is_plain);
        let towards_goal = if plain { None } else { self.frontier.next(&self.tree, self.ledger) };
        towards_goal.or_else(|| self.paths.as_mut().and_then(|paths| paths.next(&self.tree, self.ledger)))
    }

    /// The alternatives that nobody took and that could matter.
    pub(super) fn remaining(&self) -> Vec<Candidate> {
        let mut remaining = self.frontier.remaining(&self.tree);
        let paths = self.paths.iter().flat_map(|paths| paths.remaining(&self.tree, self.ledger));
        remaining.extend(paths);
        remaining.sort();
        remaining.dedup();
        remaining
    }

    /// Whether what the solver could not decide still matters.
    pub(super) fn has_open_goals(&self) -> bool {
        self.ledger.open() > 0 || self.ledger.wants_paths() && self.paths.is_some()
    }
}
