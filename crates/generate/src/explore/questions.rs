//! Answers of probes that are goals: on every way to a probe, the solver is asked once for each answer that is wanted. What
//! the way goes on with does not matter, so no alternative of the tree stands for an answer.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use branchwise_constraints::{Answer, CompareOp, Model, TermId};
use branchwise_program::ProbeId;
use branchwise_program::assumption::catalogue::MATH_AS_HERE;
use branchwise_search::{Candidate, Inserted, TreeNodeId};
use branchwise_symbolic::{Path, Probed};

use super::{Budget, Exploration, GOING_ON, ObstacleKind, OnGoals, position};

/// The last decision before a probe and how it went.
type Behind = Option<(TreeNodeId, usize)>;

/// A way to a probe.
struct Question {
    behind: Behind,
    /// Conditions on shapes that became active behind that decision.
    domain: Vec<TermId>,
    probed: Probed,
    /// It goes this way.
    model: Rc<Model>,
}

#[derive(Default)]
pub(super) struct Questions {
    open: VecDeque<Question>,
    known: HashSet<(Behind, ProbeId, TermId)>,
}

impl Exploration<'_, '_> {
    /// Notes the probes of a path that is in the tree now and whose other answers are wanted.
    pub(super) fn question(&mut self, path: &Path, inserted: &Inserted, model: &Rc<Model>) {
        for probed in path.probed.iter().filter(|probed| !self.ledger.wanted_of(probed.probe).is_empty()) {
            let last = probed.decisions.checked_sub(1);
            let behind = last.map(|last| (inserted.nodes[last], path.decisions[last].taken));
            if self.questions.known.insert((behind, probed.probe, probed.value)) {
                let active = path.decisions.get(probed.decisions).map_or(&path.domain, |decision| &decision.domain);
                let domain = active[..probed.domain].to_vec();
                self.footprint.add_suspect();
                let question = Question { behind, domain, probed: probed.clone(), model: model.clone() };
                self.questions.open.push_back(question);
            }
        }
    }

    /// Asks for the wanted answers on one way to a probe; whether there was one.
    pub(super) fn ask(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) -> bool {
        let Some(question) = self.questions.open.pop_front() else { return false };
        let before = question.behind.map(|(node, branch)| self.constraints(Candidate { node, branch }));
        let before: Vec<TermId> = before.into_iter().flatten().chain(question.domain.iter().copied()).collect();
        for value in self.ledger.wanted_of(question.probed.probe) {
            // An input for another answer may have given this one on its way.
            if self.ledger.wanted_of(question.probed.probe).contains(&value) {
                self.ask_for(value, &question, &before, budget, on_goals);
            }
        }
        true
    }

    fn ask_for(
        &mut self,
        value: u32,
        question: &Question,
        before: &[TermId],
        budget: &mut Budget<'_>,
        on_goals: &mut OnGoals<'_>,
    ) {
        let terms = &mut self.session.terms;
        let wanted = terms.constant(u128::from(value), 32);
        let condition = terms.compare(CompareOp::Eq, question.probed.value, wanted);
        if terms.as_boolean(condition) == Some(false) {
            return;
        }
        let constraints = [before, &[condition]].concat();
        self.footprint.add_query(constraints.len());
        budget.steps += 1;
        match self.solver.check(&self.session.terms, &constraints, &question.model).answer {
            Answer::Sat(model) => {
                self.execute(model, true, budget, on_goals);
                if self.ledger.wanted_of(question.probed.probe).contains(&value) {
                    self.obstacle_at(ObstacleKind::Diverged, &question.probed);
                }
            }
            Answer::Unsat(evidence) => {
                self.counters.refuted += 1;
                for function in self.session.mathematics(&evidence.core) {
                    self.obstacle_at(ObstacleKind::Assumed(MATH_AS_HERE.about(function.name())), &question.probed);
                }
            }
            Answer::Unknown(reason) => {
                let condition = self.session.terms.display(condition).at_most(40).to_string();
                self.obstacle_at(ObstacleKind::Unsolved { condition, reason: reason.to_string() }, &question.probed);
            }
        }
    }

    /// What was not asked when the budget ended.
    pub(super) fn note_unasked(&mut self, rest: &ObstacleKind) {
        for question in std::mem::take(&mut self.questions.open) {
            if !self.ledger.wanted_of(question.probed.probe).is_empty() {
                self.obstacle_at(rest.clone(), &question.probed);
            }
        }
    }

    fn obstacle_at(&mut self, kind: ObstacleKind, probed: &Probed) {
        let positions: Vec<_> = probed.positions.iter().map(position).collect();
        self.limitations.add(kind, GOING_ON, &positions);
    }
}
