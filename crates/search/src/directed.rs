//! Given paths, followed decision by decision: what leaves a path is not tried, and what is refuted ends it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use branchwise_goals::{GoalId, Ledger};
use branchwise_program::map::Event;

use crate::frontier::Candidate;
use crate::tree::{Inserted, Status, Tree};

/// Larger is tried earlier: the longest prefix of the path, and there the outcome that comes next.
type Rank = (usize, bool, u32, Reverse<u64>);

/// The ways along the paths that are goals.
#[derive(Debug, Clone, Default)]
pub struct Directed {
    followed: Vec<Followed>,
}

#[derive(Debug, Clone)]
struct Followed {
    goal: GoalId,
    wanted: Vec<Event>,
    open: BinaryHeap<(Rank, Candidate)>,
    /// How many events of the path come before each alternative that does not leave it.
    along: BTreeMap<Candidate, usize>,
}

impl Directed {
    pub fn of(ledger: &Ledger) -> Self {
        let followed = ledger.prefixes().map(|(goal, wanted)| Followed {
            goal,
            wanted: wanted.to_vec(),
            open: BinaryHeap::new(),
            along: BTreeMap::new(),
        });
        Directed { followed: followed.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.followed.is_empty()
    }

    /// Takes in the new nodes of a path with these events of the unit under test; for each choice of it, how many of them
    /// came before, `None` before the call of the unit.
    pub fn add(&mut self, tree: &Tree, inserted: &Inserted, events: &[Event], before: &[Option<usize>]) {
        for followed in &mut self.followed {
            let shared = followed.shared(events);
            let new = inserted.nodes.iter().zip(before).skip(inserted.first_new);
            for (&node, &before) in new.filter(|(_, before)| before.is_none_or(|before| before <= shared)) {
                for (branch, way) in tree.branches(node).iter().enumerate() {
                    let next = before.and_then(|before| followed.wanted.get(before));
                    let stays = match (before, way.event) {
                        (Some(before), None) => before < followed.wanted.len(),
                        (Some(_), Some(event)) => next == Some(&event),
                        (None, _) => true,
                    };
                    if !way.fault && stays && tree.status(node, branch) == Status::Open {
                        let candidate = Candidate { node, branch };
                        let order = Reverse(followed.along.len() as u64);
                        let rank = (before.unwrap_or(0), way.event.is_some(), tree.depth(node), order);
                        followed.open.push((rank, candidate));
                        followed.along.insert(candidate, before.unwrap_or(0));
                    }
                }
            }
        }
    }

    /// The next alternative along a path that is still open.
    pub fn next(&mut self, tree: &Tree, ledger: &Ledger) -> Option<Candidate> {
        let open = |candidate: &Candidate| tree.status(candidate.node, candidate.branch) == Status::Open;
        self.followed
            .iter_mut()
            .filter(|followed| ledger.is_open(followed.goal))
            .find_map(|followed| std::iter::from_fn(|| followed.open.pop()).map(|(_, candidate)| candidate).find(open))
    }

    /// The alternatives along open paths that nobody took.
    pub fn remaining<'a>(&'a self, tree: &'a Tree, ledger: &'a Ledger) -> impl Iterator<Item = Candidate> + 'a {
        let followed = self.followed.iter().filter(|followed| ledger.is_open(followed.goal));
        let candidates = followed.flat_map(|followed| followed.along.keys().copied());
        candidates.filter(|candidate| tree.status(candidate.node, candidate.branch) == Status::Open)
    }

    /// The paths that an alternative does not leave, and how many of their events come before it.
    pub fn along(&self, candidate: Candidate) -> impl Iterator<Item = (GoalId, usize)> {
        self.followed.iter().filter_map(move |followed| Some((followed.goal, *followed.along.get(&candidate)?)))
    }

    /// How much of each path these events of the unit are, from its beginning on, and whether they leave it then.
    pub fn shared(&self, events: &[Event]) -> impl Iterator<Item = (GoalId, Shared)> {
        self.followed.iter().map(move |followed| {
            let length = followed.shared(events);
            (followed.goal, Shared { length, leaves: length < events.len().min(followed.wanted.len()) })
        })
    }
}

/// What a run has in common with a path.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Shared {
    pub length: usize,
    /// It takes another outcome then.
    pub leaves: bool,
}

impl Followed {
    fn shared(&self, events: &[Event]) -> usize {
        self.wanted.iter().zip(events).take_while(|(wanted, event)| wanted == event).count()
    }
}
