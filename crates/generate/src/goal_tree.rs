//! The execution trees of single goals.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

use branchwise_constraints::{Answer, Model, Solver, SolverSettings, TermId, Terms};
use branchwise_goals::{Goal, Ledger};
use branchwise_program::map::{Event, Map};
use branchwise_program::{FunctionId, MarkerId, Program};
use branchwise_search::{Guidance, Position, Routes};
use branchwise_symbolic::{ExecutionTree, Fate, Quest, Reach, RunLimits, Session, TreeLimits, UnionLimits};

use crate::explore::{can_follow, position};
use crate::settings::Bounds;

const MOST_STATES: usize = 256;
const MOST_NODES: usize = 6_000;

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
        Target::new(&self.session, self.routes, goal).tree(&mut self.session, k, run, &mut solver)
    }

    /// Those that the conditions of the trees are made of.
    pub fn terms(&mut self) -> &mut Terms {
        &mut self.session.terms
    }
}

/// An outcome, or going on without one, and where the functions on the call stack stand.
type Junction = (Option<Event>, Vec<Position>);

/// What can still follow where a tree grows, asked once for each junction.
pub(crate) struct Foresight {
    guidance: Guidance,
    answers: RefCell<HashMap<Junction, bool>>,
}

impl Foresight {
    pub(crate) fn new(routes: &Routes, function: FunctionId, goals: &Ledger) -> Self {
        Foresight { guidance: Guidance::new(routes, function, goals), answers: RefCell::default() }
    }

    pub(crate) fn matters(&self, event: Option<Event>, positions: &[branchwise_symbolic::Position]) -> bool {
        let junction: Junction = (event, positions.iter().map(position).collect());
        if let Some(&known) = self.answers.borrow().get(&junction) {
            return known;
        }
        let answer = can_follow(&self.guidance, junction.0, &junction.1);
        self.answers.borrow_mut().insert(junction, answer);
        answer
    }

    /// Whether all that was asked of this one has the same answer for the other.
    fn is_as_of(&self, other: &Foresight) -> bool {
        let same = |((event, positions), answer): (&Junction, &bool)| {
            can_follow(&other.guidance, *event, positions) == *answer
        };
        self.answers.borrow().iter().all(same)
    }
}

/// A goal that a tree of its own is to lead to.
pub(crate) struct Target {
    ledger: Ledger,
    outcomes: HashSet<Event>,
    foresight: Foresight,
}

impl Target {
    pub(crate) fn new(session: &Session<'_>, routes: &Routes, goal: &Goal) -> Self {
        let ledger = Ledger::new(vec![goal.clone()]);
        let foresight = Foresight::new(routes, session.function, &ledger);
        Target { ledger, outcomes: outcomes(&session.program.map, goal).collect(), foresight }
    }

    /// All ways to the goal that repeat no decision more than k times.
    pub(crate) fn tree(
        &self,
        session: &mut Session<'_>,
        k: u32,
        run: RunLimits<'_>,
        solver: &mut Solver,
    ) -> Option<ExecutionTree> {
        tree_to(session, (&self.ledger, Reach::Goal), &self.foresight, k, run, solver)
    }
}

/// Targets to which trees with the same k do not lead. Where nothing that a tree asked of its goal tells that from another,
/// the other's tree is the same.
#[derive(Default)]
pub(crate) struct Missed {
    trees: Vec<(Target, HashSet<Event>)>,
}

impl Missed {
    pub(crate) fn add(&mut self, target: Target, tree: &ExecutionTree) {
        if tree.paths() == 0 {
            self.trees.push((target, tree.nodes.iter().filter_map(|node| node.event).collect()));
        }
    }

    /// Whether the tree of this one would be one of them.
    pub(crate) fn contains(&self, target: &Target) -> bool {
        let is_same = |(known, taken): &(Target, HashSet<Event>)| {
            taken.is_disjoint(&target.outcomes) && known.foresight.is_as_of(&target.foresight)
        };
        self.trees.iter().any(is_same)
    }
}

/// All ways to the open goals that repeat no decision more than k times, in one tree.
pub(crate) fn common_tree(
    session: &mut Session<'_>,
    routes: &Routes,
    goals: &Ledger,
    k: u32,
    run: RunLimits<'_>,
    solver: &mut Solver,
) -> Option<ExecutionTree> {
    let foresight = Foresight::new(routes, session.function, goals);
    tree_to(session, (goals, Reach::Beyond), &foresight, k, run, solver)
}

fn tree_to(
    session: &mut Session<'_>,
    (goals, reach): (&Ledger, Reach),
    foresight: &Foresight,
    k: u32,
    run: RunLimits<'_>,
    solver: &mut Solver,
) -> Option<ExecutionTree> {
    let pause = run.interrupt;
    let ways = UnionLimits { run, pause, states: MOST_STATES, steps: MOST_OPERATIONS };
    let open = goals.goals().filter(|(id, _)| goals.is_open(*id));
    let watched: HashSet<Event> = open.flat_map(|(_, goal)| outcomes(&session.program.map, goal)).collect();
    let matters = |event: Option<Event>, positions: &[_]| foresight.matters(event, positions);
    let limits = TreeLimits { ways, nodes: MOST_NODES, reach };
    session.execution_tree(Quest { watched, matters: &matters, solver }, k, &limits)
}

/// The events that alone reach the goal.
pub(crate) fn outcomes(map: &Map, goal: &Goal) -> impl Iterator<Item = Event> {
    let count = |marker: MarkerId| map.markers[marker].outcomes();
    let events = goal.markers().into_iter();
    let events = events.flat_map(move |marker| (0..count(marker)).map(move |outcome| Event { marker, outcome }));
    let goal = goal.clone();
    events.filter(move |&event| goal.reached_by(event))
}

/// A tree as text, for whoever draws it.
#[derive(Debug, Clone)]
pub struct TreeDrawing {
    pub goal: Goal,
    pub k: u32,
    pub whole: bool,
    /// What an input must satisfy to go one of its ways.
    pub condition: String,
    /// The root first, every other node behind its parent.
    pub nodes: Vec<DrawnNode>,
}

#[derive(Debug, Clone)]
pub struct DrawnNode {
    pub parent: Option<usize>,
    /// What leads here; `None`: all inputs at the parent do.
    pub condition: Option<String>,
    pub event: Option<Event>,
    pub way: DrawnWay,
}

/// What becomes of a way at a node.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum DrawnWay {
    GoesOn,
    /// It takes the goal, and an input goes it.
    Feasible,
    /// No input goes it.
    Infeasible,
    /// It takes the goal; whether an input goes it is not known.
    Undecided,
    /// It would repeat a decision too often.
    Repeats,
    /// The goal cannot follow, or did not.
    Elsewhere,
    /// A limit stopped it.
    Unfinished,
}

/// Longer conditions are cut.
const LONGEST_CONDITION: usize = 60;

impl GoalTrees<'_> {
    /// The tree as text. Each way to the goal is decided on its own.
    pub fn drawing(&mut self, goal: &Goal, k: u32) -> Option<TreeDrawing> {
        let tree = self.tree(goal, k)?;
        let mut solver = Solver::new(SolverSettings::default());
        let terms = &self.session.terms;
        let nodes = tree.nodes.iter().enumerate().map(|(index, node)| DrawnNode {
            parent: node.parent,
            condition: node.condition.map(|term| terms.display(term).at_most(LONGEST_CONDITION).to_string()),
            event: node.event,
            way: match node.fate {
                Fate::Inner => DrawnWay::GoesOn,
                Fate::Goal => decided(&mut solver, terms, &tree, index),
                Fate::Refuted => DrawnWay::Infeasible,
                Fate::Repeated => DrawnWay::Repeats,
                Fate::Left | Fate::Bounded | Fate::Ended(_) => DrawnWay::Elsewhere,
                Fate::Unfinished => DrawnWay::Unfinished,
            },
        });
        let nodes = nodes.collect();
        let condition = tree.condition().simplified(terms).display(terms).to_string();
        Some(TreeDrawing { goal: goal.clone(), k, whole: tree.whole, condition, nodes })
    }
}

fn decided(solver: &mut Solver, terms: &Terms, tree: &ExecutionTree, leaf: usize) -> DrawnWay {
    let way = std::iter::successors(Some(leaf), |&node| tree.nodes[node].parent);
    let conditions = way.filter_map(|node| tree.nodes[node].condition);
    let constraints: Vec<TermId> = tree.domain.iter().copied().chain(conditions).collect();
    match solver.check(terms, &constraints, &Model::new()).answer {
        Answer::Sat(_) => DrawnWay::Feasible,
        Answer::Unsat(_) => DrawnWay::Infeasible,
        Answer::Unknown(_) => DrawnWay::Undecided,
    }
}
