//! The ledger: which goals there are and what is known of each.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_program::MarkerId;
use branchwise_program::map::Event;

use crate::{Goal, GoalId, GoalKind};

/// The goals of one unit under test and which of them a trace has reached.
#[derive(Debug, Clone)]
pub struct Ledger {
    goals: Vec<Goal>,
    reached: Vec<bool>,
    /// What no execution can reach; nobody need look for it.
    excluded: Vec<bool>,
    /// What a search tries first; all, unless it is told otherwise.
    aimed: Vec<bool>,
    by_marker: BTreeMap<MarkerId, Vec<GoalId>>,
    open: usize,
}

impl Ledger {
    pub fn new(goals: Vec<Goal>) -> Self {
        let mut by_marker: BTreeMap<MarkerId, Vec<GoalId>> = BTreeMap::new();
        for (index, goal) in goals.iter().enumerate() {
            by_marker.entry(goal.marker).or_default().push(GoalId(index as u32));
        }
        Ledger {
            reached: vec![false; goals.len()],
            excluded: vec![false; goals.len()],
            aimed: vec![true; goals.len()],
            open: goals.len(),
            goals,
            by_marker,
        }
    }

    pub fn goals(&self) -> impl Iterator<Item = (GoalId, &Goal)> {
        self.goals.iter().enumerate().map(|(index, goal)| (GoalId(index as u32), goal))
    }

    pub fn goal(&self, id: GoalId) -> &Goal {
        &self.goals[id.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.goals.len()
    }

    pub fn is_empty(&self) -> bool {
        self.goals.is_empty()
    }

    /// How many goals no trace has reached and nothing excludes.
    pub fn open(&self) -> usize {
        self.open
    }

    pub fn is_reached(&self, id: GoalId) -> bool {
        self.reached[id.0 as usize]
    }

    /// How many goals a trace has reached.
    pub fn reached(&self) -> usize {
        self.reached.iter().filter(|reached| **reached).count()
    }

    /// Whether it is neither reached nor excluded.
    pub fn is_open(&self, id: GoalId) -> bool {
        !self.is_reached(id) && !self.excluded[id.0 as usize]
    }

    /// Notes a proof that nothing reaches a goal.
    pub fn exclude(&mut self, id: GoalId) {
        if self.is_open(id) {
            self.open -= 1;
        }
        self.excluded[id.0 as usize] = true;
    }

    /// The goals that this event reaches.
    pub fn reached_by(&self, event: Event) -> impl Iterator<Item = GoalId> {
        let candidates = self.by_marker.get(&event.marker).map_or(&[][..], Vec::as_slice);
        candidates.iter().copied().filter(move |&id| self.goal(id).reached_by(event))
    }

    /// Whether this event would reach a goal that is still open.
    pub fn would_help(&self, event: Event) -> bool {
        self.reached_by(event).any(|id| self.is_open(id))
    }

    /// Whether this event would reach a goal that is still open and aimed at.
    pub fn is_aimed_at(&self, event: Event) -> bool {
        self.reached_by(event).any(|id| self.is_open(id) && self.aimed[id.0 as usize])
    }

    /// Aims at the goals that are these outcomes, and no longer at the others. That a switch goes elsewhere than to one
    /// label is what its other outcomes reach.
    pub fn aim_at(&mut self, outcomes: &BTreeSet<Event>) {
        for (goal, aimed) in self.goals.iter().zip(&mut self.aimed) {
            let is_outcome = goal.outcome || goal.kind == GoalKind::Condition;
            *aimed = is_outcome && outcomes.iter().any(|&event| goal.reached_by(event));
        }
    }

    /// How many goals are aimed at, reached or not.
    pub fn aimed(&self) -> usize {
        self.aimed.iter().filter(|aimed| **aimed).count()
    }

    /// Notes a trace; returns the goals that it reaches first.
    pub fn note(&mut self, trace: &[Event]) -> Vec<GoalId> {
        let mut fresh = Vec::new();
        for &event in trace {
            let reached: Vec<GoalId> = self.reached_by(event).filter(|&id| !self.is_reached(id)).collect();
            for id in reached {
                if self.is_open(id) {
                    self.open -= 1;
                }
                self.reached[id.0 as usize] = true;
                fresh.push(id);
            }
        }
        fresh
    }
}
