//! Execution trees: for each goal that is still open, one condition over all short ways that lead to it.

use std::collections::HashSet;
use std::sync::Arc;

use branchwise_constraints::linear::{self, LinearAnswer, LinearLimits, LinearQuery};
use branchwise_constraints::{Answer, Formula, Limits, Model, Solver, TermId, Terms, Workers};
use branchwise_goals::GoalId;
use branchwise_program::assumption::catalogue::MATH_AS_HERE;
use branchwise_program::map::Event;
use branchwise_symbolic::{ExecutionTree, RunLimits};

use super::{Budget, Exploration, OPERATIONS_PER_STEP, OnGoals, Part};
use crate::goal_tree::{Missed, Target, common_tree, outcomes};
use crate::settings::Strategy;

/// The part of what is left of the budget that all trees together may take.
const SHARE: f64 = 0.3;

/// The same where trees come only when single paths do not get on, and all goals share them.
const COMMON_SHARE: f64 = 0.2;

/// For conditions of trees: one that is not decided soon is about more ways than others will need. On those of `quicksort`
/// the usual limits cost three seconds, and decided none more.
const HASTY: Limits = Limits { milliseconds: 300, resource: 300_000, ..Limits::DEFAULT };

/// So many trees in a row that are not whole and do not come to their goals: the goals are too far away for this k.
const MOST_IN_VAIN: usize = 3;

/// What growing trees may spend, and the solver that it asks.
struct Growth {
    part: Part,
    enough: u64,
    solver: Solver,
    /// Where one tree for all goals is too large, each goal gets one of its own.
    for_each_goal: bool,
}

impl Growth {
    fn new(workers: Option<Workers>, budget: &Budget<'_>) -> Self {
        let for_each_goal = budget.settings.strategy == Strategy::Tree;
        let part = budget.part(if for_each_goal { SHARE } else { COMMON_SHARE });
        let enough = budget.steps.saturating_add(part.steps());
        let solver = budget.solver_within(&part, workers, HASTY);
        Growth { part, enough, solver, for_each_goal }
    }

    fn is_over(&self, budget: &Budget<'_>) -> bool {
        budget.steps >= self.enough || self.part.flag().load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// Whether a larger k could help.
enum Progress {
    GoesOn,
    Done,
}

impl Exploration<'_, '_> {
    pub(super) fn should_grow_trees(&self, budget: &Budget<'_>) -> bool {
        let due = match budget.settings.strategy {
            Strategy::Tree => true,
            Strategy::Hybrid => self.is_stalled(budget),
            Strategy::Concolic | Strategy::Dependence | Strategy::DepthFirst => false,
        };
        due && !self.grown && self.has_open_outcomes()
    }

    pub(super) fn grow_trees(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        self.grown = true;
        self.grow_for_goals(budget, on_goals);
        if budget.settings.strategy == Strategy::Tree {
            // Single paths are to show now whether they get on.
            self.last_progress = budget.steps;
        }
    }

    /// With few repetitions first, for all open goals; those that the search aims at before the others.
    fn grow_for_goals(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let mut growth = Growth::new(self.workers.clone(), budget);
        let mut goals: Vec<GoalId> = self.ledger.goals().map(|(id, _)| id).collect();
        let map = &self.session.program.map;
        let is_aimed_at = |id| outcomes(map, self.ledger.goal(id)).any(|event| self.ledger.is_aimed_at(event));
        goals.sort_by_key(|&id| !is_aimed_at(id));
        for k in 0..=budget.settings.k {
            let open = self.ledger.open();
            let Some(Progress::GoesOn) = self.grow_with(k, &mut goals, &mut growth, budget, on_goals) else { break };
            if !growth.for_each_goal && k > 0 && self.ledger.open() == open {
                break;
            }
        }
        self.counters.count_calls(&growth.solver);
    }

    /// One tree for all goals; where that is too large to be whole, one for each goal that it does not settle. `None` when
    /// there is nothing left to spend.
    fn grow_with(
        &mut self,
        k: u32,
        goals: &mut Vec<GoalId>,
        growth: &mut Growth,
        budget: &mut Budget<'_>,
        on_goals: &mut OnGoals<'_>,
    ) -> Option<Progress> {
        goals.retain(|&goal| self.ledger.is_open(goal));
        if goals.is_empty() {
            return Some(Progress::Done);
        }
        let common = self.grown(growth, budget, |it, run, solver| {
            common_tree(&mut it.session, it.routes, it.ledger, k, run, solver)
        })?;
        for &goal in goals.iter() {
            self.try_tree(goal, &common, growth, budget, on_goals)?;
        }
        if common.whole && !common.could_grow() {
            return Some(Progress::Done);
        }
        if common.whole || !growth.for_each_goal {
            return Some(Progress::GoesOn);
        }
        self.grow_for_each(k, goals, growth, budget, on_goals)?;
        Some(Progress::GoesOn)
    }

    fn grow_for_each(
        &mut self,
        k: u32,
        goals: &[GoalId],
        growth: &mut Growth,
        budget: &mut Budget<'_>,
        on_goals: &mut OnGoals<'_>,
    ) -> Option<()> {
        let (mut missed, mut in_vain) = (Missed::default(), 0);
        for &id in goals {
            let target = Target::new(&self.session, self.routes, self.ledger.goal(id));
            if !self.ledger.is_open(id) || missed.contains(&target) {
                continue;
            }
            let tree = self.grown(growth, budget, |it, run, solver| target.tree(&mut it.session, k, run, solver))?;
            self.try_tree(id, &tree, growth, budget, on_goals)?;
            in_vain = if tree.whole || tree.paths() > 0 { 0 } else { in_vain + 1 };
            if in_vain == MOST_IN_VAIN {
                break;
            }
            missed.add(target, &tree);
        }
        Some(())
    }

    fn grown(
        &mut self,
        growth: &mut Growth,
        budget: &mut Budget<'_>,
        grow: impl FnOnce(&mut Self, RunLimits<'_>, &mut Solver) -> Option<ExecutionTree>,
    ) -> Option<ExecutionTree> {
        if growth.is_over(budget) || self.must_stop(budget) {
            return None;
        }
        let run = RunLimits { interrupt: growth.part.flag(), ..self.run_limits(budget) };
        let tree = grow(self, run, &mut growth.solver)?;
        budget.steps += 1 + tree.steps / OPERATIONS_PER_STEP;
        let work = &mut self.counters.trees;
        work.grown += 1;
        work.partial += u64::from(!tree.whole);
        work.nodes += tree.nodes.len() as u64;
        Some(tree)
    }

    /// Executes an input that goes one of the tree's ways to the goal, if there is one.
    fn try_tree(
        &mut self,
        goal: GoalId,
        tree: &ExecutionTree,
        growth: &mut Growth,
        budget: &mut Budget<'_>,
        on_goals: &mut OnGoals<'_>,
    ) -> Option<()> {
        if growth.is_over(budget) || self.must_stop(budget) {
            return None;
        }
        let ways: HashSet<Event> = outcomes(&self.session.program.map, self.ledger.goal(goal)).collect();
        let paths = tree.paths_to(&ways) as u64;
        if paths == 0 || !self.ledger.is_open(goal) {
            return Some(());
        }
        self.counters.trees.paths += paths;
        self.counters.trees.lines += tree.lines_to(&ways);
        if let Some(model) = self.solve_tree(tree.condition_of(&ways), &tree.domain, growth, budget) {
            self.execute(model, true, budget, on_goals);
            self.counters.trees.missed += u64::from(!self.ledger.is_reached(goal));
        }
        Some(())
    }

    /// An input that goes one of the tree's ways.
    fn solve_tree(
        &mut self,
        condition: Formula,
        domain: &[TermId],
        growth: &mut Growth,
        budget: &mut Budget<'_>,
    ) -> Option<Model> {
        let formula = condition.simplified(&self.session.terms);
        self.counters.trees.symbols += symbols(&formula, &self.session.terms);
        let defaults = LinearLimits::default();
        let limits = LinearLimits {
            milliseconds: defaults.milliseconds * growth.part.slack,
            interrupt: Arc::clone(growth.part.alarm.flag()),
            ..defaults
        };
        let hint = Model::new();
        let query = LinearQuery { terms: &self.session.terms, formula: &formula, domain, hint: &hint };
        budget.steps += 1;
        match linear::decide(&query, &limits).answer {
            LinearAnswer::Model(model) => {
                self.counters.trees.linear += 1;
                return Some(model);
            }
            LinearAnswer::Infeasible(_) => {
                self.counters.trees.linear += 1;
                self.counters.trees.refuted += 1;
                self.note_rounded_anywhere(&formula);
                return None;
            }
            LinearAnswer::NoLinearSolution { .. } | LinearAnswer::NotLinear | LinearAnswer::Unknown(_) => {}
        }
        let condition = formula.term(&mut self.session.terms);
        let constraints: Vec<_> = domain.iter().copied().chain([condition]).collect();
        self.footprint.add_query(constraints.len());
        budget.steps += 1;
        let work = &mut self.counters.trees;
        match growth.solver.check(&self.session.terms, &constraints, &hint).answer {
            Answer::Sat(model) => {
                work.smt += 1;
                return Some(model);
            }
            Answer::Unsat(_) => {
                (work.smt, work.refuted) = (work.smt + 1, work.refuted + 1);
                self.note_rounded_anywhere(&formula);
            }
            Answer::Unknown(_) => work.undecided += 1,
        }
        None
    }

    /// Of a formula over whole trees of paths nobody knows where it was refuted.
    fn note_rounded_anywhere(&mut self, formula: &Formula) {
        let conditions: Vec<TermId> = formula.conditions().collect();
        for function in self.session.mathematics(&conditions) {
            self.limitations.caveats.assumed.entry(MATH_AS_HERE.about(function.name())).or_default().add_everywhere();
        }
    }
}

fn symbols(formula: &Formula, terms: &Terms) -> u64 {
    let mut variables = HashSet::new();
    for condition in formula.conditions() {
        variables.extend(terms.variables(condition).iter().copied());
    }
    variables.len() as u64
}
