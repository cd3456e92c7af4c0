//! One round of exploration: execute, remember what was not taken, solve for it, execute again.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use branchwise_constraints::{Answer, Layer, Limits, Model, Reason, Solver, TermId, Workers};
use branchwise_goals::{Bound, GoalId, Ledger};
use branchwise_program::MarkerId;
use branchwise_program::assumption::Assumption;
use branchwise_program::assumption::catalogue::MATH_AS_HERE;
use branchwise_program::code::Location;
use branchwise_program::map::Event;
use branchwise_replay::TestCase;
use branchwise_search::{
    Branch, Candidate, Choice, Frontier, Guidance, Inserted, Position, Routes, Status, Tree, TreeNodeId,
};
use branchwise_symbolic::{
    Alternative, AlternativeKind, Caveats, Decision, FaultKind, Path, PathEnd, RunLimits, Session, Site,
};

use crate::case::test_case;
use crate::footprint::Footprint;
use crate::replayed::has_ended;
use crate::result::{PathConstraint, TreeWork};
use crate::settings::{Bounds, FindingsMode};

mod budget;
mod climb;
mod constraint;
mod dependence;
mod ends;
mod faults;
mod further;
mod paths;
mod questions;
mod returns;
mod seeds;
mod trees;
mod unite;

pub(crate) use budget::Budget;
use budget::{PATIENT, Part};
use dependence::{Dependence, Query};
pub(crate) use faults::FaultRecord;
use faults::{QUICK, Suspects};
use further::Followed;
pub(crate) use paths::Along;
use paths::{PathSearch, frontier};
use questions::Questions;
pub(crate) use seeds::Named;
use unite::Uniting;

/// How many paths without a proper end are replayed in the hope that they natively reach more.
const MOST_UNFINISHED: usize = 24;

/// A test with more objects than this is not replayed: each has pages of its own, and a process may have only so many.
const MOST_OBJECTS: usize = 8192;

/// A path of this many instructions costs as much as one step more.
const INSTRUCTIONS_PER_STEP: u64 = 20_000;

/// So many operations, on many ways together, cost as much as one step.
const OPERATIONS_PER_STEP: u64 = 50;

/// An executed input that is worth replaying.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub case: TestCase,
    pub path: Path,
    /// Found by solving, not the first input.
    pub solved: bool,
    pub constraint: PathConstraint,
    /// The input by the names of its variables.
    pub named: Named,
}

/// What limits the conclusions of a round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limitations {
    /// Points behind which something was not explored.
    pub obstacles: Vec<Obstacle>,
    known: HashSet<Obstacle>,
    pub caveats: Caveats,
    /// Calls of one test, the one under test included.
    pub calls: u32,
    /// Calls on an object.
    pub object_calls: u32,
    /// Elements of a container.
    pub elements: u64,
    pub interrupted: bool,
    /// It ended at the memory limit.
    pub out_of_memory: bool,
    /// All ways were followed at once, not one path after the other.
    pub united: bool,
    /// Its bounds are below the first documented ones, so that they prove nothing to anybody.
    pub least: bool,
    /// The marker log of a path did not tell all that it did.
    pub lost: bool,
    /// A path may have run functions without leaving a trace.
    pub unseen: bool,
    /// Goals that a path may have reached behind its last event.
    pub doubtful: BTreeSet<GoalId>,
    /// Every path that is a goal was looked for.
    pub followed_paths: bool,
    /// What was found out about single paths that are goals.
    pub along: BTreeMap<GoalId, Along>,
}

/// A point behind which something was not explored, and why. It matters for the goals that can follow it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Obstacle {
    pub kind: ObstacleKind,
    pub branch: Branch,
    pub positions: Rc<[Position]>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ObstacleKind {
    /// A bound ended the path.
    Cut(Bound),
    /// The path ended here, and could go on without this assumption.
    Assumed(Assumption),
    /// The solver could not decide the condition.
    Unsolved {
        condition: String,
        reason: String,
    },
    Unsupported {
        what: String,
        location: Option<Location>,
    },
    /// A value that nobody wrote decided what came next.
    Uninitialised {
        location: Option<Location>,
    },
    /// Execution did not go where the solver's model should lead it.
    Diverged,
    /// The budget ended before this was tried.
    OutOfBudget,
    /// The memory limit ended the exploration before this was tried.
    OutOfMemory {
        megabytes: u64,
    },
}

impl Obstacle {
    fn is_bound(&self) -> bool {
        matches!(self.kind, ObstacleKind::Cut(_))
    }

    /// Tells whether it limits a conclusion without making it void: a bound or an assumption.
    fn is_named(&self) -> bool {
        matches!(self.kind, ObstacleKind::Cut(_) | ObstacleKind::Assumed(_))
    }
}

impl Limitations {
    fn add(&mut self, kind: ObstacleKind, branch: Branch, positions: &[Position]) {
        let obstacle = Obstacle { kind, branch, positions: positions.into() };
        if self.known.insert(obstacle.clone()) {
            self.obstacles.push(obstacle);
        }
    }

    /// Whether another round could do better with larger bounds, or with objects that inputs share.
    fn could_go_further(&self) -> bool {
        self.is_cut() || !self.caveats.could.is_empty() || !self.caveats.could_vary.is_empty()
    }

    /// Whether nothing but bounds and assumptions kept it from looking at everything.
    pub(crate) fn is_finished(&self) -> bool {
        !self.interrupted && !self.out_of_memory && self.obstacles.iter().all(Obstacle::is_named)
    }

    /// Nothing, so far, of a round with these bounds.
    fn within(bounds: &Bounds) -> Limitations {
        Limitations {
            calls: bounds.calls,
            object_calls: bounds.object_calls,
            elements: bounds.pointer_elements,
            ..Limitations::default()
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.obstacles.iter().any(Obstacle::is_bound)
    }
}

const NO_TIME: &str = "no time left";
const NO_TIME_FOR_FLOATS: &str = "a floating-point condition, and no time left";

/// Going on without an event of its own.
const GOING_ON: Branch = Branch { event: None, fault: false, cut: false, mixed: false, hard: false };

/// Counters over all rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    pub paths: u64,
    /// Those whose inputs satisfy the preconditions.
    pub accepted: u64,
    pub redundant: u64,
    pub refuted: u64,
    /// Alternatives that were left out because others show all that they can.
    pub skipped: u64,
    pub instructions: u64,
    /// Conditions of faults that were asked for.
    pub fault_queries: u64,
    pub solver_calls: BTreeMap<String, u64>,
    pub trees: TreeWork,
    /// Rounds in which climbing reached nothing.
    climbs_in_vain: i32,
}

impl Counters {
    fn count_calls(&mut self, solver: &Solver) {
        self.count_queries(&solver.statistics().queries);
    }

    pub(crate) fn count_queries(&mut self, queries: &BTreeMap<Layer, u64>) {
        for (layer, count) in queries {
            *self.solver_calls.entry(layer.name().to_string()).or_default() += count;
        }
    }
}

/// Called when goals are reached for the first time.
pub(crate) type OnGoals<'a> = dyn FnMut(usize, usize) + 'a;

pub(crate) struct Exploration<'a, 'p> {
    session: Session<'p>,
    routes: &'a Routes,
    workers: Option<Workers>,
    solver: Solver,
    tree: Tree,
    frontier: Frontier,
    paths: PathSearch,
    dependence: Dependence,
    ledger: &'a mut Ledger,
    /// What leads to each node of the tree.
    knowledge: Vec<Knowledge>,
    findings: FindingsMode,
    record: &'a mut FaultRecord,
    suspects: Suspects,
    questions: Questions,
    /// Bounds on the size of an input that paths may meet, and those that one has met.
    cuts: HashSet<Cut>,
    known_cuts: HashSet<Cut>,
    bounds: Bounds,
    attempts: Vec<Attempt>,
    /// Those of other sessions, whose terms nobody here knows.
    foreign: Vec<Attempt>,
    unfinished: usize,
    pub limitations: Limitations,
    /// Undecided alternatives that were not tried with patience yet, and those that were.
    undecided: VecDeque<Candidate>,
    given_up: Vec<(Candidate, String)>,
    patient: Option<Solver>,
    /// For faults.
    quick: Option<Solver>,
    footprint: Footprint,
    counters: &'a mut Counters,
    /// Trees were grown for the open goals.
    grown: bool,
    /// Conditions that no input decides were looked for.
    climbed: bool,
    /// Goals that were reached, by no path that returns.
    unreturned: BTreeSet<GoalId>,
    /// By condition, how often an input came there at most, and which one.
    visitors: HashMap<MarkerId, (usize, Rc<Model>)>,
    uniting: Uniting<'p>,
    /// A proof is tried before all ways are followed at once.
    ends_before_uniting: bool,
    /// Steps that were spent when a goal was reached last.
    last_progress: u64,
    /// Inputs that were followed beyond the bound on iterations.
    followed: Followed,
}

/// What all rounds of one function add to, beside the ledger.
pub(crate) struct Found<'a> {
    pub counters: &'a mut Counters,
    pub faults: &'a mut FaultRecord,
}

/// What explorations of one program use and do not own.
pub(crate) struct Means<'a> {
    pub routes: &'a Routes,
    pub workers: Option<Workers>,
}

/// The constraints of one node and a model that reaches it.
struct Knowledge {
    domain: Vec<TermId>,
    branches: Vec<TermId>,
    /// Where one of its branches meets a bound.
    cut: Option<Cut>,
    model: Rc<Model>,
}

impl<'a, 'p> Exploration<'a, 'p> {
    pub(crate) fn new(
        mut session: Session<'p>,
        means: &Means<'a>,
        ledger: &'a mut Ledger,
        found: Found<'a>,
        bounds: Bounds,
        budget: &Budget<'_>,
    ) -> Self {
        let frontier = frontier(means.routes, &session, ledger, budget.settings);
        let dependence = Dependence::of(ledger, budget.settings, &bounds);
        session.most_repeated = dependence.most_repeated();
        Exploration {
            session,
            routes: means.routes,
            workers: means.workers.clone(),
            solver: budget.solver(means.workers.clone(), Limits::default()),
            tree: Tree::new(),
            frontier,
            paths: PathSearch::of(ledger, budget.settings),
            dependence,
            ledger,
            knowledge: Vec::new(),
            findings: budget.settings.findings,
            record: found.faults,
            suspects: Suspects::default(),
            questions: Questions::default(),
            cuts: HashSet::new(),
            known_cuts: HashSet::new(),
            bounds,
            attempts: Vec::new(),
            foreign: Vec::new(),
            unfinished: 0,
            limitations: Limitations::within(&bounds),
            undecided: VecDeque::new(),
            given_up: Vec::new(),
            patient: None,
            quick: None,
            footprint: Footprint::default(),
            counters: found.counters,
            grown: false,
            climbed: false,
            unreturned: BTreeSet::new(),
            visitors: HashMap::new(),
            uniting: Uniting::default(),
            ends_before_uniting: false,
            last_progress: budget.steps,
            followed: Followed::default(),
        }
    }

    /// Explores until nothing that could matter is left or the budget's share is spent.
    pub(crate) fn run(&mut self, earlier: &[Attempt], budget: &mut Budget<'_>, share: f64, on_goals: &mut OnGoals<'_>) {
        self.begin(budget, on_goals);
        self.begin_with(earlier, budget, on_goals);
        while !self.is_over(budget, share) {
            self.follow_further(budget, on_goals);
            if self.should_climb(budget) {
                self.climb(budget, on_goals);
                continue;
            }
            if self.should_grow_trees(budget) {
                self.grow_trees(budget, on_goals);
                continue;
            }
            if self.should_unite(budget) {
                if self.shares_first() || self.ends_before_uniting {
                    break;
                }
                self.unite(budget, on_goals);
                continue;
            }
            if self.ask(budget, on_goals) {
                continue;
            }
            let solved = match self.next_candidate() {
                Some(candidate) => self.solve(candidate).map(|model| (candidate, model)),
                None => match self.undecided.pop_front() {
                    Some(candidate) if self.has_open_goals() && !self.is_left_out(candidate) => {
                        self.solve_patiently(candidate, budget).map(|model| (candidate, model))
                    }
                    _ => break,
                },
            };
            budget.steps += 1;
            if let Some((candidate, model)) = solved {
                self.execute(model, true, budget, on_goals);
                self.check_arrival(candidate, budget);
            }
        }
        self.note_what_is_left(budget);
        self.end_dependence();
        self.look_for_returns(budget);
        self.look_for_longer(budget, on_goals);
        self.look_for_faults(budget, on_goals);
        self.count_solver_calls();
    }

    /// A proof is tried before all ways are followed at once: the round ends then.
    pub(crate) fn end_before_uniting(&mut self) {
        self.ends_before_uniting = true;
    }

    /// Looks for nothing but goals, on single paths, and leaves hard conditions alone: for tests that would be better than others.
    pub(crate) fn hurry(&mut self, budget: &Budget<'_>) {
        self.findings = FindingsMode::None;
        self.solver = budget.solver(self.workers.clone(), QUICK);
        self.patient = Some(budget.solver(self.workers.clone(), QUICK));
        self.uniting = Uniting::never();
        self.grown = true;
    }

    /// What was found.
    pub(crate) fn take_attempts(&mut self) -> Vec<Attempt> {
        let mut attempts = std::mem::take(&mut self.attempts);
        attempts.append(&mut self.foreign);
        attempts
    }

    /// Whether calls before the one under test can change the state that it looks at.
    pub(crate) fn state_has_writers(&self) -> bool {
        self.session.state_has_writers()
    }

    fn is_over(&mut self, budget: &Budget<'_>, share: f64) -> bool {
        // Only then can another round do better than going on with this one.
        let share = if self.limitations.could_go_further() { share } else { 1.0 };
        self.must_stop(budget) || self.uniting.settled || budget.spent() >= share
    }

    fn must_stop(&mut self, budget: &Budget<'_>) -> bool {
        self.limitations.interrupted |= budget.interrupted();
        self.limitations.out_of_memory |= self.footprint.bytes(self.session.terms.len()) > budget.memory();
        self.limitations.interrupted || self.limitations.out_of_memory
    }

    /// Alternatives that nobody took, and those that the solver could not decide.
    fn note_what_is_left(&mut self, budget: &Budget<'_>) {
        let rest = match self.limitations.out_of_memory {
            true => ObstacleKind::OutOfMemory { megabytes: budget.settings.memory_megabytes },
            false => ObstacleKind::OutOfBudget,
        };
        let unsolved =
            self.given_up.drain(..).chain(self.undecided.drain(..).map(|candidate| (candidate, NO_TIME.to_string())));
        for (candidate, reason) in unsolved.collect::<Vec<_>>() {
            let constraint = self.knowledge[candidate.node.0 as usize].branches[candidate.branch];
            let condition = self.session.terms.display(constraint).at_most(40).to_string();
            let reason = match reason == NO_TIME && self.session.terms.has_floats(constraint) {
                true => NO_TIME_FOR_FLOATS.to_string(),
                false => reason,
            };
            self.obstacle(ObstacleKind::Unsolved { condition, reason }, candidate);
        }
        self.note_unasked(&rest);
        self.reopen_stale();
        for candidate in self.remaining() {
            self.obstacle(rest.clone(), candidate);
        }
    }

    fn obstacle(&mut self, kind: ObstacleKind, candidate: Candidate) {
        let branch = Branch { mixed: false, hard: false, ..self.tree.branches(candidate.node)[candidate.branch] };
        self.note_obstacle_along(&kind, branch, candidate);
        self.limitations.add(kind, branch, self.tree.positions(candidate.node));
    }

    /// These conditions exclude the candidate where the library's results are those of this machine.
    fn note_rounded(&mut self, candidate: Candidate, conditions: &[TermId]) {
        let functions = self.session.mathematics(conditions);
        if functions.is_empty() || self.is_refuted_by_others(conditions) {
            return;
        }
        for function in functions {
            self.obstacle(ObstacleKind::Assumed(MATH_AS_HERE.about(function.name())), candidate);
        }
    }

    /// Whether the conditions without such results exclude each other.
    fn is_refuted_by_others(&mut self, conditions: &[TermId]) -> bool {
        let mut others = conditions.to_vec();
        others.retain(|&condition| self.session.mathematics(&[condition]).is_empty());
        let answer = self.solver.check(&self.session.terms, &others, &Model::new()).answer;
        !others.is_empty() && matches!(answer, Answer::Unsat(_))
    }

    fn count_solver_calls(&mut self) {
        let solvers = [Some(&self.solver), self.patient.as_ref(), self.quick.as_ref()];
        solvers.into_iter().flatten().for_each(|solver| self.counters.count_calls(solver));
    }

    fn run_limits<'b>(&self, budget: &'b Budget<'_>) -> RunLimits<'b> {
        RunLimits {
            instructions: self.bounds.instructions,
            loop_iterations: self.bounds.loop_iterations,
            call_depth: self.bounds.call_depth,
            standard_input: self.bounds.standard_input,
            terms: self.footprint.room_for_terms(budget.memory()),
            interrupt: budget.alarm.flag(),
        }
    }

    /// A model for the candidate's prefix, or `None` with the reason noted.
    fn solve(&mut self, candidate: Candidate) -> Option<Model> {
        if self.is_known_cut(candidate) {
            self.tree.set_status(candidate.node, candidate.branch, Status::Unsolved);
            return None;
        }
        let query = self.query(candidate);
        let hint = self.knowledge[candidate.node.0 as usize].model.clone();
        self.footprint.add_query(query.constraints.len());
        let answer = self.solver.check(&self.session.terms, &query.constraints, &hint).answer;
        self.settle((candidate, query), answer, |this, _| {
            this.tree.set_status(candidate.node, candidate.branch, Status::Unsolved);
            this.undecided.push_back(candidate);
        })
    }

    /// A bound that a path has met at the same place, with the same functions waiting: what can follow is noted already.
    fn is_known_cut(&self, candidate: Candidate) -> bool {
        let cut = &self.knowledge[candidate.node.0 as usize].cut;
        self.tree.branches(candidate.node)[candidate.branch].cut
            && !self.is_along(candidate)
            && cut.as_ref().is_some_and(|cut| self.known_cuts.contains(cut))
    }

    /// A second try with more time, for what nothing else depends on any more.
    fn solve_patiently(&mut self, candidate: Candidate, budget: &Budget<'_>) -> Option<Model> {
        let query = self.query(candidate);
        let hint = self.knowledge[candidate.node.0 as usize].model.clone();
        self.footprint.add_query(query.constraints.len());
        let patient = self.patient.get_or_insert_with(|| budget.patient_solver(self.workers.clone()));
        let answer = patient.check(&self.session.terms, &query.constraints, &hint).answer;
        self.settle((candidate, query), answer, |this, reason| {
            let reason = match reason {
                Reason::Interrupted => NO_TIME.to_string(),
                other => other.to_string(),
            };
            this.given_up.push((candidate, reason));
        })
    }

    /// Notes an answer in the tree; a model is handed on, to be executed.
    fn settle(
        &mut self,
        (candidate, query): (Candidate, Query),
        answer: Answer,
        undecided: impl FnOnce(&mut Self, Reason),
    ) -> Option<Model> {
        match answer {
            Answer::Sat(model) => {
                self.tree.set_status(candidate.node, candidate.branch, Status::Open);
                return Some(model);
            }
            Answer::Unsat(evidence) => {
                self.counters.refuted += 1;
                self.note_refuted_along(candidate);
                self.note_rounded(candidate, &evidence.core);
                self.note_refuted(candidate, &query, &evidence.core);
                self.tree.set_status(candidate.node, candidate.branch, Status::Refuted);
            }
            Answer::Unknown(reason) => undecided(self, reason),
        }
        None
    }

    /// Everything that must hold to go the candidate's way, from the entry on.
    fn constraints(&self, candidate: Candidate) -> Vec<TermId> {
        let mut constraints = Vec::new();
        let mut at = Some((candidate.node, candidate.branch));
        while let Some((node, branch)) = at {
            let knowledge = &self.knowledge[node.0 as usize];
            constraints.push(knowledge.branches[branch]);
            constraints.extend(knowledge.domain.iter().rev());
            at = self.tree.parent(node);
        }
        constraints.reverse();
        constraints
    }

    fn run_path(&mut self, model: &Model, budget: &mut Budget<'_>) -> Path {
        let limits = self.run_limits(budget);
        let path = self.session.run(model, &limits);
        budget.steps += 1;
        self.count_path(&path, budget);
        path
    }

    fn count_path(&mut self, path: &Path, budget: &mut Budget<'_>) {
        budget.steps += path.instructions / INSTRUCTIONS_PER_STEP;
        self.counters.paths += 1;
        self.counters.instructions += path.instructions;
        self.limitations.out_of_memory |= path.end == PathEnd::MemoryLimit;
    }

    fn execute(&mut self, model: Model, solved: bool, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let path = self.run_path(&model, budget);
        self.take_in(path, Rc::new(model), solved, budget, on_goals);
    }

    /// Adds a path to what is known, and keeps its input where that is worth it.
    fn take_in(
        &mut self,
        path: Path,
        model: Rc<Model>,
        solved: bool,
        budget: &mut Budget<'_>,
        on_goals: &mut OnGoals<'_>,
    ) -> Inserted {
        let inserted = self.insert(&path, &model);
        self.note_end(&path, budget);
        self.frontier.add(&self.tree, self.ledger, &inserted);
        self.add_path(&path, &inserted, budget);
        if self.is_no_test(&path) {
            return inserted;
        }
        self.counters.accepted += 1;
        self.note_taken(&path.events);
        self.note_visits(&path, &model);
        let fresh = self.note_goals(&path, budget, on_goals);
        self.note_cut(&path, &model);
        let returns_first = self.returns_first(&path, &fresh);
        if self.is_worth_keeping(&path, &fresh) || returns_first {
            self.keep(path, &model, solved);
        } else {
            self.counters.redundant += 1;
        }
        inserted
    }

    /// The goals that the path reaches first; the search is for the others from now on.
    fn note_goals(&mut self, path: &Path, budget: &Budget<'_>, on_goals: &mut OnGoals<'_>) -> Vec<GoalId> {
        let fresh = self.note_trace(path);
        if !fresh.is_empty() {
            self.goals_changed(budget);
            on_goals(self.ledger.reached(), self.ledger.len());
        }
        fresh
    }

    fn goals_changed(&mut self, budget: &Budget<'_>) {
        self.last_progress = budget.steps;
        let guidance = Guidance::new(self.routes, self.session.function, self.ledger);
        self.frontier.goals_changed(&self.tree, self.ledger, guidance);
        self.goals_changed_for_dependence();
    }

    /// Inputs that break a precondition, or that no test can have.
    fn is_no_test(&self, path: &Path) -> bool {
        path.end == PathEnd::Rejected || path.notes.ended_in_precondition || self.outgrows_a_variable(&path.end)
    }

    /// It needs more elements of an array than tests have, of which nobody says how long it is: that is no fault of the
    /// function, and no test.
    fn outgrows_a_variable(&self, end: &PathEnd) -> bool {
        matches!(end, PathEnd::SizeBound { shape, .. } if self.session.inputs.shape(*shape).variable)
    }

    /// Adds a path to the tree, with what is to be known of its new nodes.
    fn insert(&mut self, path: &Path, model: &Rc<Model>) -> Inserted {
        let choices = self.choices(path);
        let inserted = self.tree.insert(&choices);
        self.footprint.add_choices(&choices[inserted.first_new..]);
        self.footprint.add_model(self.session.terms.variable_count());
        for (decision, &node) in path.decisions.iter().zip(&inserted.nodes).skip(inserted.first_new) {
            self.close_rejected(decision, node);
            self.close_repeated(decision, node);
            let branches = decision.alternatives.iter().map(|alternative| alternative.constraint).collect();
            let cut = decision.alternatives.iter().find_map(|alternative| match alternative.kind {
                AlternativeKind::Cut(site) => Some(cut_at((site, Side::Behind), &decision.positions)),
                AlternativeKind::Fault(site, FaultKind::BeforeStart) => {
                    Some(cut_at((site, Side::Before), &decision.positions))
                }
                _ => None,
            });
            self.knowledge.push(Knowledge { domain: decision.domain.clone(), branches, cut, model: model.clone() });
        }
        self.note_histories(&inserted, path);
        self.suspect(path, &inserted, model);
        self.question(path, &inserted, model);
        inserted
    }

    /// No input may break a precondition: there is nothing to look for.
    fn close_rejected(&mut self, decision: &Decision, node: TreeNodeId) {
        for (index, alternative) in decision.alternatives.iter().enumerate() {
            if alternative.kind == AlternativeKind::Rejected && index != decision.taken {
                self.tree.set_status(node, index, Status::Refuted);
            }
        }
    }

    fn choices(&mut self, path: &Path) -> Vec<Choice> {
        // Of every marker, the way that the path went there last.
        let mut last: HashMap<MarkerId, u32> = HashMap::new();
        let mut events = path.events.iter().enumerate().peekable();
        let mut choices = Vec::with_capacity(path.decisions.len());
        for decision in &path.decisions {
            while let Some((_, event)) = events.next_if(|(index, _)| *index < decision.events_before) {
                last.insert(event.marker, event.outcome);
            }
            choices.push(self.choice(decision, &last));
        }
        choices
    }

    fn choice(&mut self, decision: &Decision, last: &HashMap<MarkerId, u32>) -> Choice {
        Choice {
            taken: decision.taken,
            branches: decision
                .alternatives
                .iter()
                .map(|alternative| self.branch(alternative, &decision.positions, last))
                .collect(),
            positions: decision.positions.iter().map(position).collect(),
        }
    }

    fn branch(
        &mut self,
        alternative: &Alternative,
        positions: &[branchwise_symbolic::Position],
        last: &HashMap<MarkerId, u32>,
    ) -> Branch {
        match alternative.kind {
            AlternativeKind::Event(event) => {
                let mixed = last.get(&event.marker).is_some_and(|&outcome| outcome != event.outcome);
                let hard = self.session.terms.has_floats(alternative.constraint);
                Branch { event: Some(event), mixed, hard, ..GOING_ON }
            }
            // Only for tests it is a fault: one of each kind shows whether goals could follow.
            AlternativeKind::Fault(site, FaultKind::BeforeStart) => {
                Branch { cut: !self.cuts.insert(cut_at((site, Side::Before), positions)), ..GOING_ON }
            }
            AlternativeKind::Fault(..) => Branch { fault: true, ..GOING_ON },
            AlternativeKind::Continue | AlternativeKind::Rejected => GOING_ON,
            // One of each kind is tried like any other way to go on; it shows whether the bound is in the way.
            AlternativeKind::Cut(site) => {
                Branch { cut: !self.cuts.insert(cut_at((site, Side::Behind), positions)), ..GOING_ON }
            }
        }
    }

    /// Notes what the end of a path means for the conclusions of the round.
    fn note_end(&mut self, path: &Path, budget: &Budget<'_>) {
        self.limitations.caveats.add(&path.notes.caveats);
        let known_cut = match &path.end {
            PathEnd::SizeBound { fault, .. } => Some((fault.site, Side::Behind)),
            PathEnd::Fault(fault) if fault.kind == FaultKind::BeforeStart => Some((fault.site, Side::Before)),
            _ => None,
        };
        self.known_cuts.extend(known_cut.map(|place| cut_at(place, &path.end_positions)));
        self.limitations.interrupted |= path.end == PathEnd::Interrupted && budget.interrupted();
        if let Some(kind) = self.obstacle_at_end(&path.end, budget) {
            let positions = self.positions_left_by(&path.end, &path.end_positions);
            self.limitations.add(kind, GOING_ON, &positions);
        }
    }

    /// Whether an input reaches something new, shows a fault first, or may natively go further than predicted.
    fn is_worth_keeping(&mut self, path: &Path, fresh: &[GoalId]) -> bool {
        let new_fault = self.shows_new_fault(path);
        let unfinished = !has_ended(path) && self.unfinished < MOST_UNFINISHED;
        self.unfinished += usize::from(unfinished);
        !fresh.is_empty() || new_fault || unfinished || self.attempts.is_empty()
    }

    fn keep(&mut self, path: Path, model: &Model, solved: bool) {
        let case = test_case(&self.session, model, &path);
        if case.objects.len() > MOST_OBJECTS {
            return;
        }
        self.footprint.add_attempt(&path, &case);
        let (named, constraint) = (self.named(model), self.constraint_of_path(&path));
        self.attempts.push(Attempt { case, path, solved, constraint, named });
    }

    fn shows_new_fault(&mut self, path: &Path) -> bool {
        if self.findings == FindingsMode::None {
            return false;
        }
        let new = path.faults().filter(|fault| self.record.note_shown(fault));
        new.count() > 0
    }

    /// Execution must go where the model was solved to lead it; if not, nothing may be concluded from this prefix. A path
    /// that a limit stopped may just not have come there.
    fn check_arrival(&mut self, candidate: Candidate, budget: &Budget<'_>) {
        let Candidate { node, branch } = candidate;
        if self.tree.status(node, branch) != Status::Open {
            return;
        }
        if self.has_arrived(candidate) {
            return;
        }
        let stopped = budget.alarm.flag().load(std::sync::atomic::Ordering::Relaxed) || self.limitations.out_of_memory;
        if !stopped && self.has_widened(candidate) {
            return self.distrust_from(candidate);
        }
        self.tree.set_status(node, branch, Status::Unsolved);
        self.obstacle(if stopped { ObstacleKind::OutOfBudget } else { ObstacleKind::Diverged }, candidate);
    }
}

/// An access that may lie outside the object that tests give, and where the functions stand that wait for its own.
type Cut = (Site, Side, Vec<Position>);

/// Where an access lies: behind the bound on the object's size, or before the element that the pointer points to.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
enum Side {
    Behind,
    Before,
}

fn cut_at((site, side): (Site, Side), positions: &[branchwise_symbolic::Position]) -> Cut {
    let waiting = positions.split_last().map_or(&[][..], |(_, waiting)| waiting);
    (site, side, waiting.iter().map(position).collect())
}

/// Whether an open goal can follow an outcome taken here, or going on without one.
pub(crate) fn can_follow(guidance: &Guidance, event: Option<Event>, positions: &[Position]) -> bool {
    guidance.after(&Branch { event, ..GOING_ON }, positions).is_some()
}

pub(crate) fn position(position: &branchwise_symbolic::Position) -> Position {
    Position { function: position.function, after: position.after }
}
