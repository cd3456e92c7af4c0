//! The execution trees of single goals.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use branchwise_constraints::{Solver, SolverSettings, Terms};
use branchwise_goals::{Goal, Ledger};
use branchwise_program::map::{Event, Map, MarkerKind};
use branchwise_program::{FunctionId, Program};
use branchwise_search::{Branch, Guidance, Position, Routes};
use branchwise_symbolic::{ExecutionTree, Quest, RunLimits, Session, TreeLimits, UnionLimits};

use crate::settings::Bounds;

const MOST_STATES: usize = 512;
const MOST_NODES: usize = 20_000;

/// Operations on all ways of one tree.
const MOST_OPERATIONS: u64 = 500_000;

/// Trees of one function, for whoever wants to look at them.
pub struct GoalTrees<'a> {
    pub session: Session<'a>,
    routes: &'a Routes,
    interrupt: &'a AtomicBool,
}

impl<'a> GoalTrees<'a> {
    /// `None` where the function cannot be called.
    pub fn of(
        program: &'a Program,
        routes: &'a Routes,
        function: FunctionId,
        interrupt: &'a AtomicBool,
    ) -> Option<Self> {
        let session = Session::new(program, function, Bounds::FIRST.pointer_elements)?;
        Some(GoalTrees { session, routes, interrupt })
    }

    pub fn tree(&mut self, goal: &Goal, k: u32) -> Option<ExecutionTree> {
        let run = RunLimits {
            instructions: Bounds::FIRST.instructions,
            loop_iterations: Bounds::FIRST.loop_iterations,
            call_depth: Bounds::FIRST.call_depth,
            standard_input: Bounds::FIRST.standard_input,
            terms: usize::MAX,
            interrupt: self.interrupt,
        };
        let mut solver = Solver::new(SolverSettings::default());
        tree_of(&mut self.session, self.routes, goal, k, run, &mut solver)
    }

    /// Those that the conditions of the trees are made of.
    pub fn terms(&mut self) -> &mut Terms {
        &mut self.session.terms
    }
}

/// All ways to the goal that repeat no decision more than k times.
pub(crate) fn tree_of(
    session: &mut Session<'_>,
    routes: &Routes,
    goal: &Goal,
    k: u32,
    run: RunLimits<'_>,
    solver: &mut Solver,
) -> Option<ExecutionTree> {
    let limits =
        TreeLimits { ways: UnionLimits { run, states: MOST_STATES, steps: MOST_OPERATIONS }, nodes: MOST_NODES };
    let watched: HashSet<Event> = outcomes(&session.program.map, goal).collect();
    let guidance = Guidance::new(routes, session.function, &Ledger::new(vec![goal.clone()]));
    let matters = |event: Option<Event>, positions: &[branchwise_symbolic::Position]| {
        let position = |at: &branchwise_symbolic::Position| Position { function: at.function, after: at.after };
        let positions: Vec<Position> = positions.iter().map(position).collect();
        guidance.after(&Branch { event, fault: false, cut: false, mixed: false }, &positions).is_some()
    };
    session.execution_tree(Quest { watched, matters: &matters, solver }, k, &limits)
}

/// Those that reach the goal.
pub(crate) fn outcomes(map: &Map, goal: &Goal) -> impl Iterator<Item = Event> {
    let count = match &map.markers[goal.marker].kind {
        MarkerKind::Condition { .. } => 2,
        MarkerKind::Switch { labels, .. } => labels.len() as u32 + 1,
    };
    let goal = goal.clone();
    (0..count).map(move |outcome| Event { marker: goal.marker, outcome }).filter(move |&event| goal.reached_by(event))
}
