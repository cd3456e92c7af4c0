//! The open alternatives of a tree in the order in which they are worth trying.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use branchwise_goals::Ledger;
use branchwise_program::map::Event;

use crate::decisions::DecisionGraph;
use crate::guidance::Guidance;
use crate::tree::{Branch, Inserted, Status, Tree, TreeNodeId};

/// An alternative that nobody took yet.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    pub node: TreeNodeId,
    pub branch: usize,
}

/// Smaller is tried earlier.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    class: Class,
    /// Distance to an open goal, and how often the same outcome was tried without success.
    effort: u32,
    mixed: bool,
    /// Near the entry first in one order, far from it first in the other.
    depth: i64,
    order: u64,
}

/// Loops need both: the shortest way in, and one iteration more than ever before.
const ORDERS: [i64; 2] = [1, -1];

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// It is an open goal that is aimed at.
    Goal,
    /// One can follow.
    TowardsGoal,
    /// It is another open goal.
    OtherGoal,
    /// Only others can follow.
    TowardsOther,
    /// A bound that the path may hit, with goals behind it.
    Cut,
}

/// The strategy: aim at what is uncovered, near goals first (those that
/// are aimed at before the others), and now and then anywhere. Faults lead to no goal.
#[derive(Debug, Clone)]
pub struct Frontier {
    guidance: Guidance,
    /// The same candidates in two orders, taken in turn; what one of them handed out is skipped in the other.
    heaps: [BinaryHeap<Reverse<(Rank, Candidate)>>; 2],
    turn: usize,
    /// How often an outcome was tried since a goal was reached last.
    tried: BTreeMap<Event, u32>,
    random: u64,
    order: u64,
    breadth_first: bool,
    decisions: Option<Decisions>,
}

/// Distances along decision graphs, to the goals that are open.
#[derive(Debug, Clone)]
struct Decisions {
    graph: DecisionGraph,
    distances: HashMap<Event, u32>,
}

/// Outcomes that are in no decision graph come behind those that are, and hard conditions behind easy ones; not for ever,
/// as what was tried without success falls back.
const BEYOND: u32 = 8;
const HARD: u32 = 32;

/// Every so many steps a candidate is drawn at random, so that a misleading distance cannot starve the rest.
const RANDOM_EVERY: u64 = 5;

impl Frontier {
    pub fn new(guidance: Guidance, seed: u64) -> Self {
        Frontier {
            guidance,
            heaps: Default::default(),
            turn: 0,
            tried: BTreeMap::new(),
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            order: 0,
            breadth_first: false,
            decisions: None,
        }
    }

    /// Open goals first, breadth first; then whatever can lead to one, the latest choices of paths first, so that one that
    /// comes near a goal is varied to its end (Williams 2010, section 5: the two passes of strategies on arcs).
    pub fn breadth_first(self) -> Self {
        Frontier { breadth_first: true, ..self }
    }

    /// Along decision graphs: the fewer decisions are left to a goal the earlier; nothing is drawn at random.
    pub fn along_decisions(self, graph: DecisionGraph, ledger: &Ledger) -> Self {
        let distances = graph.distances(ledger);
        Frontier { decisions: Some(Decisions { graph, distances }), ..self }
    }

    /// Takes in the new nodes of a path.
    pub fn add(&mut self, tree: &Tree, ledger: &Ledger, inserted: &Inserted) {
        for &node in &inserted.nodes[inserted.first_new..] {
            for branch in 0..tree.branches(node).len() {
                self.push(tree, ledger, Candidate { node, branch });
            }
        }
    }

    /// An alternative that was handed out is open again.
    pub fn again(&mut self, tree: &Tree, ledger: &Ledger, candidate: Candidate) {
        self.push(tree, ledger, candidate);
    }

    fn push(&mut self, tree: &Tree, ledger: &Ledger, candidate: Candidate) {
        if tree.status(candidate.node, candidate.branch) != Status::Open {
            return;
        }
        let branch = tree.branches(candidate.node)[candidate.branch];
        let Some((class, effort)) = self.class(tree, ledger, candidate, &branch) else { return };
        self.order += 1;
        let orders = match (self.breadth_first, class) {
            (false, _) => ORDERS,
            (true, Class::Goal) => [1, 1],
            (true, _) => [-1, -1],
        };
        for (heap, direction) in self.heaps.iter_mut().zip(orders) {
            let depth = direction * i64::from(tree.depth(candidate.node));
            let rank = Rank { class, effort, mixed: branch.mixed, depth, order: self.order };
            heap.push(Reverse((rank, candidate)));
        }
    }

    fn class(&self, tree: &Tree, ledger: &Ledger, candidate: Candidate, branch: &Branch) -> Option<(Class, u32)> {
        let tried = branch.event.and_then(|event| self.tried.get(&event)).copied().unwrap_or(0);
        if self.breadth_first {
            return self.pass(tree, ledger, candidate, branch).map(|class| (class, 0));
        }
        if branch.event.is_some_and(|event| ledger.is_aimed_at(event)) {
            return Some((Class::Goal, tried));
        }
        let positions = tree.positions(candidate.node);
        let (class, distance) = match self.guidance.towards_aim(branch, positions) {
            Some(distance) => (Class::TowardsGoal, distance),
            None if branch.event.is_some_and(|event| ledger.would_help(event)) => (Class::OtherGoal, 0),
            None => (Class::TowardsOther, self.guidance.after(branch, positions)?),
        };
        let class = if branch.cut { Class::Cut } else { class };
        Some((class, self.in_decisions(branch, distance).saturating_add(tried)))
    }

    fn in_decisions(&self, branch: &Branch, distance: u32) -> u32 {
        match (&self.decisions, branch.event) {
            (Some(decisions), Some(event)) => {
                let left = decisions.distances.get(&event).copied();
                let hard = if branch.hard { HARD } else { 0 };
                left.unwrap_or_else(|| distance.saturating_add(BEYOND)).saturating_add(hard)
            }
            _ => distance,
        }
    }

    /// In which of the two passes an alternative is tried.
    fn pass(&self, tree: &Tree, ledger: &Ledger, candidate: Candidate, branch: &Branch) -> Option<Class> {
        if branch.event.is_some_and(|event| ledger.would_help(event)) {
            return Some(Class::Goal);
        }
        self.guidance.after(branch, tree.positions(candidate.node))?;
        Some(if branch.cut { Class::Cut } else { Class::TowardsGoal })
    }

    /// Goals were reached: what is worth trying has changed.
    pub fn goals_changed(&mut self, tree: &Tree, ledger: &Ledger, guidance: Guidance) {
        self.guidance = guidance;
        if let Some(decisions) = &mut self.decisions {
            decisions.distances = decisions.graph.distances(ledger);
        }
        let [heap, other] = std::mem::take(&mut self.heaps);
        let mut candidates: Vec<Candidate> =
            heap.into_iter().chain(other).map(|Reverse((_, candidate))| candidate).collect();
        candidates.sort();
        candidates.dedup();
        self.tried.clear();
        candidates.into_iter().for_each(|candidate| self.push(tree, ledger, candidate));
    }

    /// The next alternative to try; `None` when nothing that could matter is left.
    pub fn next(&mut self, tree: &Tree, ledger: &Ledger) -> Option<Candidate> {
        if let Some(candidate) = self.random_candidate(tree, ledger) {
            return Some(candidate);
        }
        self.turn = (self.turn + 1) % self.heaps.len();
        while let Some(Reverse((rank, candidate))) = self.heaps[self.turn].pop() {
            if tree.status(candidate.node, candidate.branch) != Status::Open {
                continue;
            }
            let branch = tree.branches(candidate.node)[candidate.branch];
            let Some((class, effort)) = self.class(tree, ledger, candidate, &branch) else { continue };
            if (class, effort) > (rank.class, rank.effort) {
                self.heaps[self.turn].push(Reverse((Rank { class, effort, ..rank }, candidate)));
                continue;
            }
            if let Some(event) = branch.event {
                *self.tried.entry(event).or_default() += 1;
            }
            return Some(candidate);
        }
        None
    }

    /// The alternatives towards goals that nobody took, in a fixed order.
    pub fn remaining(&self, tree: &Tree) -> Vec<Candidate> {
        let open = |candidate: &Candidate| tree.status(candidate.node, candidate.branch) == Status::Open;
        let candidates = self.heaps[0].iter().map(|Reverse((_, candidate))| *candidate);
        let mut remaining: Vec<Candidate> = candidates.filter(open).collect();
        remaining.sort();
        remaining
    }

    /// Now and then a random candidate that may lead to a goal.
    fn random_candidate(&mut self, tree: &Tree, ledger: &Ledger) -> Option<Candidate> {
        if self.breadth_first
            || self.decisions.is_some()
            || self.heaps[0].len() < 2
            || !self.next_random().is_multiple_of(RANDOM_EVERY)
        {
            return None;
        }
        let index = (self.next_random() % self.heaps[0].len() as u64) as usize;
        let &Reverse((_, candidate)) = self.heaps[0].iter().nth(index)?;
        let branch = tree.branches(candidate.node)[candidate.branch];
        let open = tree.status(candidate.node, candidate.branch) == Status::Open;
        let class = self.class(tree, ledger, candidate, &branch).map(|(class, _)| class);
        (open && class == Some(Class::TowardsGoal)).then_some(candidate)
    }

    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }
}
