//! Following all ways can be left off and taken up again.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use branchwise_constraints::{Answer, Reason, TermId};
use branchwise_program::CodeFunctionId;
use branchwise_program::graph::BlockOrder;
use branchwise_program::map::Event;

use super::state::State;
use super::{Key, Union, UnionLimits, UnionObstacle, UnionObstacleKind, Uniter};
use crate::path::{PathEnd, Position};

/// What was not followed to its end when following all ways was left off.
pub struct PendingUnion<'p> {
    waiting: BTreeMap<Key, Vec<State<'p>>>,
    running: Vec<State<'p>>,
    orders: HashMap<CodeFunctionId, Rc<BlockOrder>>,
    lineages: u32,
    domain: Vec<TermId>,
    unanswered: Vec<Unanswered>,
    /// What is known so far, without the inputs that were handed out.
    union: Union,
}

/// An outcome of which the solver was not given the time to say whether it can be taken.
pub(super) struct Unanswered {
    pub event: Event,
    pub condition: Vec<TermId>,
    pub positions: Rc<[Position]>,
}

impl<'p> Uniter<'_, '_, 'p> {
    /// Goes on where it was left off.
    pub(super) fn take_up(&mut self, pending: PendingUnion<'p>) {
        let PendingUnion { waiting, running, orders, lineages, domain, unanswered, union } = pending;
        // Whatever was read uninitialised so far stays apart from what will be.
        self.executor.session.garbage_used = self.executor.session.garbage.len();
        self.executor.session.looks_at_addresses = union.caveats.looks_at_addresses;
        (self.waiting, self.running, self.orders, self.lineages) = (waiting, running, orders, lineages);
        self.union = union;
        if let Some(union) = &mut self.executor.union {
            union.domain = domain;
        }
        for one in unanswered {
            if self.quest.watched.contains(&one.event) {
                self.ask_for(one);
            }
        }
    }

    /// Looks for an input that takes the outcome under this condition.
    pub(super) fn ask_for(&mut self, asked: Unanswered) {
        match self.query(&asked.condition, &branchwise_constraints::Model::new()) {
            Answer::Sat(model) => {
                self.quest.watched.remove(&asked.event);
                self.union.reached.push((asked.event, model));
            }
            Answer::Unsat(_) => {}
            Answer::Unknown(Reason::Interrupted) => self.unanswered.push(asked),
            Answer::Unknown(reason) => {
                let obstacle = self.undecided(&asked, reason);
                self.union.obstacles.push(obstacle);
            }
        }
    }

    fn undecided(&mut self, asked: &Unanswered, reason: Reason) -> UnionObstacle {
        let condition = self.executor.session.terms.conjunction(&asked.condition);
        let kind = UnionObstacleKind::Undecided { event: asked.event, condition, reason };
        UnionObstacle { kind, positions: Rc::clone(&asked.positions) }
    }

    /// What was found, and what is left to follow if there is anything. Nobody knows where that leads.
    pub(super) fn leave_off(&mut self) -> (Union, Option<PendingUnion<'p>>) {
        let known = std::mem::take(&mut self.union);
        if known.complete && self.unanswered.is_empty() {
            return (known, None);
        }
        let Union { reached, obstacles, caveats, work, .. } = known;
        self.union = Union { obstacles: obstacles.clone(), caveats: caveats.clone(), ..Union::default() };
        let unanswered = std::mem::take(&mut self.unanswered);
        for asked in &unanswered {
            let obstacle = self.undecided(asked, Reason::Interrupted);
            self.union.obstacles.push(obstacle);
        }
        let waiting = self.waiting.values().flatten();
        for state in self.running.iter().chain(waiting).cloned().collect::<Vec<_>>() {
            self.note_left(state);
        }
        let shown = Union { reached, work, ..std::mem::take(&mut self.union) };
        let pending = PendingUnion {
            waiting: std::mem::take(&mut self.waiting),
            running: std::mem::take(&mut self.running),
            orders: std::mem::take(&mut self.orders),
            lineages: self.lineages,
            domain: self.executor.union.as_ref().map_or(Vec::new(), |union| union.domain.clone()),
            unanswered,
            union: Union { obstacles, caveats, ..Union::default() },
        };
        (shown, Some(pending))
    }

    fn note_left(&mut self, state: State<'p>) {
        self.executor.go_on_with(state);
        self.take_in_caveats();
        let positions = self.executor.positions();
        if (self.quest.matters)(None, &positions) {
            let kind = UnionObstacleKind::End(PathEnd::Interrupted);
            self.union.obstacles.push(UnionObstacle { kind, positions });
        }
    }
}

impl PendingUnion<'_> {
    /// States that are left to follow.
    pub fn states(&self) -> usize {
        self.running.len() + self.waiting.values().map(Vec::len).sum::<usize>()
    }

    /// Whether there is room to follow them.
    pub fn fits(&self, limits: &UnionLimits<'_>) -> bool {
        self.states() <= limits.states
    }
}
