//! How much memory an exploration holds, by what it keeps: an estimate that is the same in every run, whatever else the
//! process does at the same time.

use branchwise_replay::TestCase;
use branchwise_search::Choice;
use branchwise_symbolic::Path;

/// A node, its place in the index, its set of variables, and what evaluators and solver layers keep of it.
const TERM: u64 = 320;
/// A node of the tree with its lists, its constraints and its places in the frontier.
const CHOICE: u64 = 480;
const BRANCH: u64 = 160;
const POSITION: u64 = 16;
const MODEL_VALUE: u64 = 48;
const DECISION: u64 = 192;
const EVENT: u64 = 8;
/// A query that was asked: its key in the cache and its answer, for each constraint.
const ASKED: u64 = 16;

/// A place where a fault may be looked for.
const SUSPECT: u64 = 240;

/// Bytes that are held beside the terms.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    bytes: u64,
}

impl Footprint {
    pub(crate) fn add_choices(&mut self, new: &[Choice]) {
        for choice in new {
            self.bytes += CHOICE + BRANCH * choice.branches.len() as u64 + POSITION * choice.positions.len() as u64;
        }
    }

    pub(crate) fn add_model(&mut self, variables: usize) {
        self.bytes += MODEL_VALUE * variables as u64;
    }

    pub(crate) fn add_query(&mut self, constraints: usize) {
        self.bytes += ASKED * constraints as u64;
    }

    /// Events of a path that are kept beside the tree.
    pub(crate) fn add_events(&mut self, events: usize) {
        self.bytes += EVENT * events as u64;
    }

    pub(crate) fn add_suspect(&mut self) {
        self.bytes += SUSPECT;
    }

    /// An attempt that is kept for the replay.
    pub(crate) fn add_attempt(&mut self, path: &Path, case: &TestCase) {
        let objects: usize = case.objects.iter().map(|object| object.blob.bytes.len()).sum();
        self.bytes += DECISION * path.decisions.len() as u64 + EVENT * path.events.len() as u64 + objects as u64;
    }

    /// With this many terms.
    pub(crate) fn bytes(self, terms: usize) -> u64 {
        self.bytes + TERM * terms as u64
    }

    /// How many terms fit under the limit.
    pub(crate) fn room_for_terms(self, limit: u64) -> usize {
        (limit.saturating_sub(self.bytes) / TERM) as usize
    }
}
