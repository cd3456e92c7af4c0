//! Depth first, for criteria whose goals are paths: one path at a time can be covered, whatever else it contains.

use std::collections::BTreeMap;
use std::rc::Rc;

use branchwise_goals::Ledger;
use branchwise_program::FunctionId;
use branchwise_program::map::Event;

use crate::frontier::Candidate;
use crate::tree::{Inserted, Status, Tree};

/// An executed path, as far as its alternatives need it.
#[derive(Debug)]
pub struct Executed {
    /// The functions that the test calls, the unit under test last.
    pub calls: Vec<FunctionId>,
    pub events: Vec<Event>,
}

#[derive(Debug, Clone)]
struct OpenWay {
    candidate: Candidate,
    path: Rc<Executed>,
    events_before: usize,
}

/// The alternatives that nobody took, those of the latest path first and there the deepest first.
#[derive(Debug, Clone, Default)]
pub struct DepthFirst {
    stack: Vec<OpenWay>,
    /// What was handed out, in case it is open again.
    handed_out: BTreeMap<Candidate, OpenWay>,
    /// It takes all of them, as long as anything is left to reach.
    plain: bool,
}

impl DepthFirst {
    /// Depth first without looking ahead.
    pub fn plain() -> Self {
        DepthFirst { plain: true, ..DepthFirst::default() }
    }

    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Takes in the new nodes of a path; for each choice of it, how many events came before.
    pub fn add(&mut self, tree: &Tree, inserted: &Inserted, path: &Rc<Executed>, events_before: &[usize]) {
        let new = inserted.nodes.iter().zip(events_before).skip(inserted.first_new);
        for (&node, &events_before) in new {
            for (branch, way) in tree.branches(node).iter().enumerate() {
                if !way.fault && tree.status(node, branch) == Status::Open {
                    let candidate = Candidate { node, branch };
                    self.stack.push(OpenWay { candidate, path: Rc::clone(path), events_before });
                }
            }
        }
    }

    /// The next alternative that can lead to a path which is a goal and not covered.
    pub fn next(&mut self, tree: &Tree, ledger: &Ledger) -> Option<Candidate> {
        while let Some(way) = self.stack.pop() {
            if self.is_worth_trying(&way, tree, ledger) {
                let candidate = way.candidate;
                if !self.plain {
                    self.handed_out.insert(candidate, way);
                }
                return Some(candidate);
            }
        }
        None
    }

    /// An alternative that was handed out is open again, and the next.
    pub fn again(&mut self, candidate: Candidate) {
        self.stack.extend(self.handed_out.remove(&candidate));
    }

    fn is_worth_trying(&self, way: &OpenWay, tree: &Tree, ledger: &Ledger) -> bool {
        let Candidate { node, branch } = way.candidate;
        let is_open = tree.status(node, branch) == Status::Open;
        match self.plain {
            true => is_open && (ledger.open() > 0 || ledger.wants_paths()),
            false => is_open && way.may_be_new(tree, ledger),
        }
    }

    /// All of them, in a fixed order.
    pub fn remaining(&self, tree: &Tree, ledger: &Ledger) -> Vec<Candidate> {
        self.stack.iter().filter(|way| self.is_worth_trying(way, tree, ledger)).map(|way| way.candidate).collect()
    }
}

impl OpenWay {
    fn may_be_new(&self, tree: &Tree, ledger: &Ledger) -> bool {
        let Candidate { node, branch } = self.candidate;
        let mut events = self.path.events[..self.events_before].to_vec();
        events.extend(tree.branches(node)[branch].event);
        ledger.may_be_new(&self.path.calls, &events)
    }
}
