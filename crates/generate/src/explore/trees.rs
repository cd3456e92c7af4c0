//! Execution trees: for each goal that is still open, one condition over all short ways that lead to it.

use std::collections::HashSet;
use std::sync::Arc;

use branchwise_constraints::linear::{self, LinearAnswer, LinearLimits, LinearQuery};
use branchwise_constraints::{Answer, Formula, Limits, Model, Solver, Terms};
use branchwise_goals::GoalId;
use branchwise_symbolic::{ExecutionTree, RunLimits};

use super::{Budget, Exploration, OPERATIONS_PER_STEP, OnGoals, Part};
use crate::goal_tree::{outcomes, tree_of};
use crate::settings::Strategy;

/// The part of what is left of the budget that all trees together may take.
const SHARE: f64 = 0.3;

impl Exploration<'_, '_> {
    pub(super) fn should_grow_trees(&self, budget: &Budget<'_>) -> bool {
        budget.settings.strategy == Strategy::Tree && !self.grown && self.ledger.open() > 0
    }

    pub(super) fn grow_trees(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        self.grown = true;
        self.grow_for_goals(budget, on_goals);
        // Single paths are to show now whether they get on.
        self.last_progress = budget.steps;
    }

    /// With few repetitions first, for all open goals; those that the search aims at before the others.
    fn grow_for_goals(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let part = budget.part(SHARE);
        let enough = budget.steps.saturating_add(part.steps());
        let mut solver = budget.solver_within(&part, self.workers.clone(), Limits::default());
        let mut goals: Vec<GoalId> = self.ledger.goals().map(|(id, _)| id).collect();
        let map = &self.session.program.map;
        let is_aimed_at = |id| outcomes(map, self.ledger.goal(id)).any(|event| self.ledger.is_aimed_at(event));
        goals.sort_by_key(|&id| !is_aimed_at(id));
        // Trees that larger numbers of repetitions do not change.
        let mut fully_grown: HashSet<GoalId> = HashSet::new();
        for k in 0..=budget.settings.k {
            for &goal in &goals {
                let stopped = part.flag().load(std::sync::atomic::Ordering::Relaxed);
                if stopped || budget.steps >= enough || self.must_stop(budget) {
                    self.counters.count_calls(&solver);
                    return;
                }
                if !self.ledger.is_open(goal) || fully_grown.contains(&goal) {
                    continue;
                }
                let Some(tree) = self.tree_for(goal, k, &part, &mut solver, budget) else {
                    self.counters.count_calls(&solver);
                    return;
                };
                if tree.whole && !tree.could_grow() {
                    fully_grown.insert(goal);
                }
                if let Some(model) = self.solve_tree(&tree, &part, &mut solver, budget) {
                    self.execute(model, true, budget, on_goals);
                    self.counters.trees.missed += u64::from(!self.ledger.is_reached(goal));
                }
            }
        }
        self.counters.count_calls(&solver);
    }

    fn tree_for(
        &mut self,
        goal: GoalId,
        k: u32,
        part: &Part,
        solver: &mut Solver,
        budget: &mut Budget<'_>,
    ) -> Option<ExecutionTree> {
        let run = RunLimits { interrupt: part.flag(), ..self.run_limits(budget) };
        let goal = self.ledger.goal(goal).clone();
        let tree = tree_of(&mut self.session, self.routes, &goal, k, run, solver)?;
        budget.steps += 1 + tree.steps / OPERATIONS_PER_STEP;
        let work = &mut self.counters.trees;
        work.grown += 1;
        work.partial += u64::from(!tree.whole);
        work.paths += tree.paths() as u64;
        work.lines += tree.lines();
        work.nodes += tree.nodes.len() as u64;
        Some(tree)
    }

    /// An input that goes one of the tree's ways.
    fn solve_tree(
        &mut self,
        tree: &ExecutionTree,
        part: &Part,
        solver: &mut Solver,
        budget: &mut Budget<'_>,
    ) -> Option<Model> {
        if tree.paths() == 0 {
            return None;
        }
        let formula = tree.condition().simplified(&self.session.terms);
        self.counters.trees.symbols += symbols(&formula, &self.session.terms);
        let defaults = LinearLimits::default();
        let limits = LinearLimits {
            milliseconds: defaults.milliseconds * part.slack,
            interrupt: Arc::clone(part.alarm.flag()),
            ..defaults
        };
        let hint = Model::new();
        let query = LinearQuery { terms: &self.session.terms, formula: &formula, domain: &tree.domain, hint: &hint };
        budget.steps += 1;
        match linear::decide(&query, &limits).answer {
            LinearAnswer::Model(model) => {
                self.counters.trees.linear += 1;
                return Some(model);
            }
            LinearAnswer::Infeasible(_) => {
                self.counters.trees.linear += 1;
                self.counters.trees.refuted += 1;
                return None;
            }
            LinearAnswer::NoLinearSolution { .. } | LinearAnswer::NotLinear | LinearAnswer::Unknown(_) => {}
        }
        let condition = formula.term(&mut self.session.terms);
        let constraints: Vec<_> = tree.domain.iter().copied().chain([condition]).collect();
        self.footprint.add_query(constraints.len());
        budget.steps += 1;
        let work = &mut self.counters.trees;
        match solver.check(&self.session.terms, &constraints, &hint).answer {
            Answer::Sat(model) => {
                work.smt += 1;
                return Some(model);
            }
            Answer::Unsat(_) => (work.smt, work.refuted) = (work.smt + 1, work.refuted + 1),
            Answer::Unknown(_) => work.undecided += 1,
        }
        None
    }
}

fn symbols(formula: &Formula, terms: &Terms) -> u64 {
    let mut variables = HashSet::new();
    for condition in formula.conditions() {
        variables.extend(terms.variables(condition).iter().copied());
    }
    variables.len() as u64
}
