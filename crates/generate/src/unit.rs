//! One function: explore in rounds, replay, minimise, conclude.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use branchwise_constraints::Workers;
use branchwise_facts::Facts;
use branchwise_goals::{Aim, Criterion, Goal, GoalId, Ledger, Structure, TestId, UnknownReason, Verdict, goals};
use branchwise_induction::{Excluded, Question, applies, excluded};
use branchwise_program::assumption::catalogue::INPUTS_DO_NOT_OVERLAP;
use branchwise_program::code::Location;
use branchwise_program::map::{Event, NoDriver, Place};
use branchwise_program::{FunctionId, Id, Program};
use branchwise_replay::{Harness, NativeEnd, ReplayError, TestCase};
use branchwise_search::Routes;
use branchwise_symbolic::{Fault, FaultKind, PathEnd, Prepared, SharedPair, Sharing, Undefined};

use crate::attack::{Attack, Extent, Plan, targets};
use crate::conclude::UnitReport;
use crate::confirm::confirm;
use crate::deadline::{Deadline, left_for_native_runs};
use crate::drawing::{Drawing, constants};
use crate::effects::Effects;
use crate::explore::{Attempt, Budget, Counters, Exploration, FaultRecord, Found, Limitations, Means, Named};
use crate::goal_tree::outcomes;
use crate::hosts::{self, Unreached};
use crate::replayed::{Replayed, Replays, replay};
use crate::result::{
    Confirmation, Disagreement, Finding, FindingKind, FunctionReport, GoalReport, Progress, SuiteWork, Test,
    TestSource, Trouble, Work,
};
use crate::settings::{AimAt, Bounds, FindingsMode, Scope, Settings, Strategy};
use crate::suite::{Coverer, Smallest, minimise};
use crate::verdicts::Judge;

mod defined;

use defined::{SHARE_AT_FIRST, SHARE_AT_LAST};

/// Of what is left, what a proof by induction may take, and what the first round may take where one will be tried: what inputs
/// are found easily for is found by then.
const SHARE_OF_INDUCTION: f64 = 0.9;
const FIRST_SHARE_BEFORE_INDUCTION: f64 = 0.1;

/// Before so much of the budget is spent, larger bounds come first.
const SPENT_BEFORE_OTHER_WAYS: f64 = 0.35;

/// A program under test, as all threads see it.
pub struct Subject<'a> {
    pub program: &'a Program,
    pub settings: &'a Settings,
    /// Those of the program's map.
    pub routes: Routes,
    /// What criteria other than `branch` need to know of the program.
    pub structure: Option<Arc<Structure>>,
}

/// What one thread works with on one program, from function to function. Nothing of it depends on the functions that it
/// was used for before, so it does not matter which thread takes which function.
pub struct Workplace<'a> {
    subject: &'a Subject<'a>,
    prepared: Prepared<'a>,
    facts: RefCell<Facts<'a>>,
    workers: Option<Workers>,
    harness: Harness,
}

impl<'a> Workplace<'a> {
    /// The workers belong to the calling thread; see [`Workers`].
    pub fn new(subject: &'a Subject<'a>, harness: Harness, workers: Option<Workers>) -> Self {
        let facts = RefCell::new(Facts::new(subject.program));
        let prepared = Prepared::new(subject.program).accepting(&subject.settings.accepted);
        Workplace { subject, prepared, facts, workers, harness }
    }

    /// Generates and replays tests for one function.
    pub fn generate(&mut self, function: FunctionId, on_progress: &mut dyn FnMut(Progress)) -> UnitReport {
        let mut disagreements = Vec::new();
        let report =
            Unit { place: self, function, goals_of: function, disagreements: &mut disagreements }.run(on_progress);
        UnitReport { report, disagreements }
    }

    /// Attacks all branch outcomes of a function as if each were called infeasible. Returns those that native runs take, each
    /// with the input of one.
    pub fn attack(&mut self, function: FunctionId, executions: u64) -> Result<Vec<(Goal, TestCase)>, ReplayError> {
        let Workplace { subject, prepared, harness, .. } = self;
        let ledger = Ledger::new(goals(&subject.program.map, function, Criterion::Branch));
        let targets = ledger.goals().map(|(id, _)| id).collect();
        let plan = Plan::of_executions(executions);
        let drawing = Drawing::new(subject.settings.seed, constants(subject.program, &[function]));
        let undefined = subject.settings.undefined;
        let attack = Attack { prepared, function, ledger: &ledger, targets, plan, drawing, undefined };
        let taken = attack.run(harness)?.taken.into_iter();
        Ok(taken.map(|(id, case)| (ledger.goal(id).clone(), case)).collect())
    }

    /// Reports a function that nobody began to search, because of an interrupt.
    pub fn skip(&mut self, function: FunctionId) -> UnitReport {
        let mut disagreements = Vec::new();
        let report = Unit { place: self, function, goals_of: function, disagreements: &mut disagreements }.skipped();
        UnitReport { report, disagreements }
    }
}

/// Goals that no execution reaches, with what excludes them.
type Proved = BTreeMap<GoalId, String>;

/// What the rounds brought.
struct Explored {
    attempts: Vec<Attempt>,
    rounds: Vec<Limitations>,
    proved: Proved,
}

/// What verdicts rest on.
struct Known {
    rounds: Vec<Limitations>,
    proved: Proved,
    counters: Counters,
    /// Of a function that is tested through others: what is said of goals that were not reached.
    unreached: Unreached,
    /// Goals that inputs reach for whose native runs no time was left.
    left_out: BTreeSet<GoalId>,
}

struct Unit<'u, 'a> {
    place: &'u mut Workplace<'a>,
    /// The one that tests call.
    function: FunctionId,
    /// The one whose goals they shall reach: the same, unless no test can call it.
    goals_of: FunctionId,
    disagreements: &'u mut Vec<Disagreement>,
}

impl<'a> Unit<'_, 'a> {
    fn run(&mut self, on_progress: &mut dyn FnMut(Progress)) -> FunctionReport {
        let function = &self.place.subject.program.map.functions[self.function];
        let name = function.name.clone();
        let (mut ledger, unknown_goal) = match self.goals() {
            Ok(goals) => (self.ledger(goals), None),
            Err(what) => (Ledger::new(Vec::new()), Some(what)),
        };
        let aim = self.aim();
        if self.place.subject.settings.aim == AimAt::Unconstrained {
            ledger.aim_at(&aim.outcomes);
        }
        on_progress(Progress::FunctionStarted { name: name.clone(), goals: ledger.len() });
        let started = Instant::now();
        let report = match (&function.driver, unknown_goal.or_else(|| self.foreign_seed())) {
            (_, Some(what)) => Err(Trouble { what, fault_of_ours: false, fault_of_input: true }),
            (Err(why), None) => self.through_hosts(&mut ledger, started, &name, why, on_progress),
            (Ok(_), None) => self.guarded(&mut ledger, started, &name, &[self.function], on_progress),
        };
        let (reached, goals) = (ledger.reached(), ledger.len());
        on_progress(Progress::FunctionFinished { name, reached, goals });
        let mut report = report.unwrap_or_else(|trouble| troubled(self.goals_of, &ledger, trouble));
        report.work.edges = aim.edges as u64;
        report.work.unconstrained_edges = aim.unconstrained_edges as u64;
        report.work.aimed = ledger.aimed() as u64;
        report
    }

    fn skipped(&self) -> FunctionReport {
        let ledger = self.ledger(self.goals().unwrap_or_default());
        let reason = Trouble::of_ours("it was not searched".to_owned());
        FunctionReport { trouble: None, interrupted: true, ..troubled(self.goals_of, &ledger, reason) }
    }

    /// Goals of a function that no test can call are looked for from its callers.
    fn through_hosts(
        &mut self,
        ledger: &mut Ledger,
        started: Instant,
        name: &str,
        why: &NoDriver,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<FunctionReport, Trouble> {
        let Subject { program, routes, .. } = self.place.subject;
        let trouble = self.without_driver(why.reason().to_owned());
        if matches!(why, NoDriver::Unwatched(_)) {
            return Err(trouble);
        }
        let hosts = hosts::hosts(&program.map, routes, self.goals_of);
        if ledger.is_empty() && !trouble.fault_of_input {
            return Ok(FunctionReport { trouble: None, ..troubled(self.goals_of, ledger, trouble) });
        }
        // A path begins at the entry of the function whose goal it is.
        if hosts.is_empty() || trouble.fault_of_input || ledger.wants_paths() {
            return Err(trouble);
        }
        self.guarded(ledger, started, name, &hosts, on_progress)
    }

    /// One function's trouble never stops another: a fault of ours ends this function only.
    fn guarded(
        &mut self,
        ledger: &mut Ledger,
        started: Instant,
        name: &str,
        hosts: &[FunctionId],
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<FunctionReport, Trouble> {
        let attempt = AssertUnwindSafe(|| self.explore_and_conclude(ledger, started, name, hosts, on_progress));
        match std::panic::catch_unwind(attempt) {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(error)) => Err(Trouble::of_ours(format!("the replay failed: {error}"))),
            Err(_) => Err(Trouble::of_ours("a fault of Branchwise ended it".to_string())),
        }
    }

    /// There is no driver: a limit of ours, or a precondition that does not compile.
    fn without_driver(&self, what: String) -> Trouble {
        let domain = self.place.subject.program.map.domain(self.function);
        let fault_of_input = domain.is_some_and(|domain| domain.errors().next().is_some());
        Trouble { what, fault_of_ours: false, fault_of_input }
    }

    /// The seed test gives something a value that is no input of the function.
    fn foreign_seed(&self) -> Option<String> {
        let Subject { program, settings, .. } = self.place.subject;
        let function = &program.map.functions[self.function];
        let input = |name: &str| name.trim_start_matches('*').split(['[', '.', '-']).next().map(str::to_string);
        let known = |name: &str| function.inputs.iter().any(|known| input(name).as_deref() == Some(&known.name));
        let (foreign, _) = settings.seed_test.iter().find(|(name, _)| !known(name))?;
        Some(format!("the seed test names '{foreign}', which is no input of {}", function.name))
    }

    fn ledger(&self, goals: Vec<Goal>) -> Ledger {
        let Subject { program, settings, structure, .. } = self.place.subject;
        let criteria = (settings.criteria.as_slice(), u64::from(settings.k));
        match structure {
            None => Ledger::new(goals),
            Some(structure) => Ledger::observing(goals, &program.map, self.function, criteria, structure),
        }
    }

    /// Or what the user names and is none.
    fn goals(&self) -> Result<Vec<Goal>, String> {
        let Subject { program, settings, routes, .. } = self.place.subject;
        let own = [self.goals_of];
        let functions = match settings.scope {
            _ if self.is_hosted() => own.to_vec(),
            Scope::Unit if settings.wanted.is_empty() => own.to_vec(),
            _ => routes.reachable(self.function),
        };
        let of_criterion = |&criterion: &Criterion| {
            let functions = if criterion.is_minimal_on_arcs() { &own } else { functions.as_slice() };
            functions.iter().flat_map(move |&function| goals(&program.map, function, criterion)).collect::<Vec<_>>()
        };
        settings.wanted.choose(&program.map, self.function, settings.criteria.iter().flat_map(of_criterion).collect())
    }

    fn aim(&self) -> Aim {
        let Subject { program, settings, .. } = self.place.subject;
        match settings.scope {
            Scope::Unit => Aim::in_function(&program.map, self.goals_of),
            Scope::Reachable => Aim::in_program(&program.map, self.function),
        }
    }

    fn explore_and_conclude(
        &mut self,
        ledger: &mut Ledger,
        started: Instant,
        name: &str,
        hosts: &[FunctionId],
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<FunctionReport, ReplayError> {
        let mut counters = Counters::default();
        let mut on_goals =
            |reached, goals| on_progress(Progress::GoalsReached { name: name.to_string(), reached, goals });
        let (attempts, known) = match *hosts {
            [own] if own == self.goals_of => {
                let Explored { attempts, rounds, proved } =
                    self.explore(ledger, &mut counters, (started, 1), &mut on_goals);
                let (unreached, left_out) = (Unreached::default(), BTreeSet::new());
                (attempts, Known { rounds, proved, counters, unreached, left_out })
            }
            _ => self.explore_hosts(ledger, counters, hosts, &mut on_goals),
        };
        let settings = self.place.subject.settings.of_function(name);
        let (findings, deadline) = (settings.findings, Deadline::of(&settings, started));
        let Replays { mut replayed, left_out } = replay(&mut self.place.harness, attempts, ledger, findings, deadline)?;
        if settings.undefined == Undefined::Forbid {
            replayed.iter_mut().for_each(Replayed::forget_undefined);
        }
        self.note_disagreements(name, &replayed);
        self.note_refuted(name, ledger, &known.proved);
        let earlier: Vec<Named> = replayed.iter().map(|test| test.attempt.named.clone()).collect();
        let known = Known { left_out, ..known };
        let mut report = self.report(ledger, replayed, &known);
        let steps = known.counters.paths + known.counters.refuted;
        if let Some(extent) = Extent::of(&settings, steps, started.elapsed()) {
            let shared = self.may_share(&known.rounds);
            self.attack(ledger, &mut report, Plan { extent, deadline, earlier, shared });
        }
        report.work.seconds = started.elapsed().as_secs_f64();
        if findings != FindingsMode::None {
            confirm(&mut self.place.harness, &mut report.findings, deadline);
        }
        Ok(report)
    }

    /// Attacks what the report calls infeasible. What an execution takes is unknown, and a disagreement. Where nothing can run,
    /// the report stays as it is, and names no number of executions.
    fn attack(&mut self, ledger: &Ledger, report: &mut FunctionReport, plan: Plan) {
        let targets = targets(ledger, report);
        if targets.is_empty() {
            return;
        }
        let function = self.function;
        let Workplace { subject, prepared, harness, .. } = &mut *self.place;
        let constants = constants(subject.program, &subject.routes.reachable(function));
        let drawing = Drawing::new(subject.settings.seed ^ (u64::from(function.0) << 32), constants);
        let undefined = subject.settings.undefined;
        let attack = Attack { prepared, function, ledger, targets, plan, drawing, undefined };
        let Ok(attacked) = attack.run(harness) else { return };
        let name = &subject.program.map.functions[self.goals_of].name;
        self.disagreements.extend(attacked.judge(ledger, report, name));
    }

    /// Names of inputs that may share objects, unless the user says that they do not.
    fn may_share(&self, rounds: &[Limitations]) -> Sharing {
        let mut sharing = Sharing::default();
        if !self.place.subject.settings.accepted.accepts_all(INPUTS_DO_NOT_OVERLAP) {
            for round in rounds {
                sharing.grow(&round.caveats.could);
            }
        }
        sharing
    }

    /// From one host after the other, each with its part of the time, until everything is reached.
    fn explore_hosts(
        &mut self,
        ledger: &mut Ledger,
        mut counters: Counters,
        hosts: &[FunctionId],
        on_goals: &mut dyn FnMut(usize, usize),
    ) -> (Vec<Attempt>, Known) {
        let map = &self.place.subject.program.map;
        let bound = hosts::bound(map, self.goals_of, hosts);
        let mut unreached = Unreached::of(&map.functions[self.goals_of]);
        let (mut attempts, mut rounds) = (Vec::new(), Vec::new());
        for &host in hosts {
            if ledger.open() == 0 {
                break;
            }
            self.function = host;
            let mut explored = self.explore(ledger, &mut counters, (Instant::now(), hosts.len() as u32), on_goals);
            attempts.append(&mut explored.attempts);
            let judge = self.judge(&explored.rounds, &counters, None);
            let open = ledger.goals().filter(|(id, _)| !ledger.is_reached(*id));
            open.for_each(|(id, goal)| unreached.add(id, judge.unreached(id, goal), &bound));
            rounds.append(&mut explored.rounds);
        }
        (attempts, Known { rounds, proved: Proved::default(), counters, unreached, left_out: BTreeSet::new() })
    }

    fn is_hosted(&self) -> bool {
        self.place.subject.program.map.functions[self.goals_of].driver.is_err()
    }

    /// Rounds with growing bounds, until everything is decided or the budget is spent.
    fn explore(
        &self,
        ledger: &mut Ledger,
        counters: &mut Counters,
        (started, parts): (Instant, u32),
        on_goals: &mut dyn FnMut(usize, usize),
    ) -> Explored {
        let Workplace { subject, prepared, workers, .. } = &*self.place;
        let means = Means { routes: &subject.routes, workers: workers.clone() };
        let mut settings = subject.settings.of_function(&subject.program.map.functions[self.goals_of].name);
        settings.time = (settings.time - left_for_native_runs(&settings)) / parts;
        let mut budget = Budget::new(&settings, started);
        let mut bounds = Bounds::FIRST;
        let (mut attempts, mut rounds) = (Vec::new(), Vec::new());
        let mut proved: Option<Proved> = None;
        let mut sharing = Sharing::default();
        let (mut faults, mut ways) = (FaultRecord::default(), OtherWays::default());
        let mut put_off: Option<Bounds> = None;
        let can_prove = !settings.strategy.is_path_by_path() && !self.is_hosted() && !self.makes_objects();
        let induces = can_prove && applies(subject.program, self.function);
        while let Some(session) = prepared.session(self.function, bounds.pointer_elements) {
            let mut session = session.with_calls_before(bounds.calls - 1);
            session.inputs.sharing = sharing.clone();
            session.inputs.varied = ways.begin();
            (session.object_calls, session.undefined) = (bounds.object_calls, settings.undefined);
            let before_proof = induces && rounds.is_empty();
            let share = if before_proof { FIRST_SHARE_BEFORE_INDUCTION } else { round_share(&budget) };
            let found = Found { counters, faults: &mut faults };
            let mut exploration = Exploration::new(session, &means, ledger, found, bounds, &budget);
            if rounds.is_empty() {
                exploration.follow_paths();
            }
            if before_proof {
                exploration.end_before_uniting();
            }
            exploration.run(&attempts, &mut budget, share, on_goals);
            attempts.extend(exploration.take_attempts());
            let mut limitations = std::mem::take(&mut exploration.limitations);
            rounds.extend(exploration.union_beside(&mut limitations));
            let next = match exploration.shares_first() || before_proof {
                true => bounds,
                false => larger(bounds, &limitations, exploration.state_has_writers()),
            };
            let tried = sharing.clone();
            let shares_more = sharing.grow(&limitations.caveats.could);
            let stopped = limitations.interrupted || limitations.out_of_memory;
            ways.could_be(&limitations.caveats.could_vary);
            rounds.push(limitations);
            // What one host cannot reach another may.
            if !self.is_hosted() {
                if proved.is_none() && ledger.open() > 0 {
                    let mut all = self.prove(ledger, &rounds, counters, &mut budget);
                    if induces && ledger.open() > 0 {
                        all.extend(self.prove_by_induction(ledger, &rounds, counters, &mut budget));
                    }
                    proved = Some(all);
                }
                self.close_infeasible_paths(ledger, &rounds, counters);
            }
            if rounds.len() == 1 && ledger.open() > 0 && !stopped {
                let found = Found { counters, faults: &mut faults };
                self.look_for_defined(ledger, (&means, &tried), found, &mut attempts, (&mut budget, SHARE_AT_FIRST));
            }
            let same = next == bounds && !shares_more && !before_proof && put_off.is_none();
            let tries_ways = ways.are_next(same, &budget);
            if ledger.open() == 0 || (same && !tries_ways) || stopped || budget.spent() >= 1.0 {
                break;
            }
            bounds = match (tries_ways, put_off.take()) {
                (true, _) if same => bounds,
                (true, _) => {
                    put_off = Some(next);
                    bounds.for_other_ways()
                }
                (false, waiting) => waiting.unwrap_or(next),
            };
        }
        if ledger.open() > 0 && rounds.iter().all(|round| !round.is_finished()) && !budget.interrupted() {
            let found = Found { counters, faults: &mut faults };
            let small = self.smallest(&means, ledger, found, &mut budget, on_goals);
            small.into_iter().for_each(|(inputs, limitations)| {
                attempts.extend(inputs);
                rounds.insert(0, limitations);
            });
        }
        if !budget.interrupted() {
            let found = Found { counters, faults: &mut faults };
            self.look_for_defined(ledger, (&means, &sharing), found, &mut attempts, (&mut budget, SHARE_AT_LAST));
        }
        counters.fault_queries = faults.queries();
        Explored { attempts, rounds, proved: proved.unwrap_or_default() }
    }

    /// Excludes the goals that the rounds leave open and that no execution reaches, whatever the bounds. What was reached
    /// must not be among them: if it is, nothing is concluded.
    fn prove(
        &self,
        ledger: &mut Ledger,
        rounds: &[Limitations],
        counters: &Counters,
        budget: &mut Budget<'_>,
    ) -> Proved {
        let Workplace { subject, facts, .. } = &*self.place;
        let map = &subject.program.map;
        let already = self.settled(ledger, rounds, counters);
        if self.is_beyond_proof(rounds) || already.len() == ledger.open() {
            return Proved::default();
        }
        budget.without(|| facts.borrow_mut().prepare(&subject.settings.interrupt));
        let found = facts.borrow_mut().of_unit(self.function, &subject.settings.interrupt);
        let Some(facts) = found else { return Proved::default() };
        // By function: the nodes that no way leads to without an outcome that is never taken.
        let mut lost: BTreeMap<FunctionId, Vec<bool>> = BTreeMap::new();
        let excluded = |(id, goal): (GoalId, &Goal)| {
            let reaching: Vec<Event> = outcomes(map, goal).collect();
            let never_taken = !reaching.is_empty() && reaching.iter().all(|&event| facts.excludes(event));
            if goal.is_an_event() {
                return never_taken.then(|| (id, facts.reason(reaching[0].marker)));
            }
            let nodes = goal.needed_nodes()?;
            let lost = lost.entry(goal.function).or_insert_with(|| {
                let cfg = &map.functions[goal.function].cfg;
                let left = cfg.reached_without(|event| facts.excludes(event));
                cfg.reached_from_entry().into_iter().zip(left).map(|(reached, left)| reached && !left).collect()
            });
            let reason = || "outcomes that no execution takes lead there".to_string();
            nodes.iter().all(|node| lost[node.index()]).then(|| (id, reason()))
        };
        let others = ledger.goals().filter(|(id, _)| !already.contains(id));
        let proved: Proved = others.filter_map(excluded).collect();
        if proved.keys().all(|&id| ledger.is_open(id)) {
            proved.keys().for_each(|&id| ledger.exclude(id));
        }
        proved
    }

    /// The goals that the rounds show to be infeasible.
    fn settled(&self, ledger: &Ledger, rounds: &[Limitations], counters: &Counters) -> BTreeSet<GoalId> {
        let judge = self.judge(rounds, counters, None);
        let is_settled = |(id, goal): &(GoalId, &Goal)| {
            !ledger.is_reached(*id) && matches!(judge.unreached(*id, goal), Verdict::Infeasible(_))
        };
        ledger.goals().filter(is_settled).map(|(id, _)| id).collect()
    }

    /// Whether executions do what the map does not show, or the driver makes objects: what is proved of these holds for these alone.
    fn is_beyond_proof(&self, rounds: &[Limitations]) -> bool {
        self.makes_objects() || rounds.iter().any(|round| round.caveats.off_the_map.is_some())
    }

    fn makes_objects(&self) -> bool {
        let usage = &self.place.subject.program.map.functions[self.function].usage;
        usage.as_ref().is_some_and(|usage| !usage.steps.is_empty())
    }

    /// Excludes those of the goals that are still open which contradict what recursive functions do, by induction over their calls.
    fn prove_by_induction(
        &self,
        ledger: &mut Ledger,
        rounds: &[Limitations],
        counters: &mut Counters,
        budget: &mut Budget<'_>,
    ) -> Proved {
        let Workplace { subject, workers, .. } = &*self.place;
        let map = &subject.program.map;
        if self.is_beyond_proof(rounds) {
            return Proved::default();
        }
        let settled = self.settled(ledger, rounds, counters);
        let is_asked =
            |(id, goal): &(GoalId, &Goal)| ledger.is_open(*id) && !settled.contains(id) && goal.is_an_event();
        let reaching = |(id, goal): (GoalId, &Goal)| (id, outcomes(map, goal).collect::<Vec<Event>>());
        let asked: Vec<(GoalId, Vec<Event>)> = ledger.goals().filter(is_asked).map(reaching).collect();
        let reached = ledger.goals().filter(|(id, goal)| ledger.is_reached(*id) && goal.is_an_event());
        let question = Question {
            function: self.function,
            outcomes: asked.iter().flat_map(|(_, events)| events.iter().copied()).collect(),
            witness: reached.flat_map(|(_, goal)| outcomes(map, goal)).max(),
        };
        let part = budget.part(SHARE_OF_INDUCTION);
        let solver = budget.for_proofs(&part, workers.clone());
        let Excluded { outcomes, solver_calls } = excluded(subject.program, &question, &solver);
        budget.steps += solver_calls.values().sum::<u64>();
        counters.count_queries(&solver_calls);
        let is_excluded = |(_, events): &&(GoalId, Vec<Event>)| {
            !events.is_empty() && events.iter().all(|event| outcomes.contains_key(event))
        };
        let proved: Proved =
            asked.iter().filter(is_excluded).map(|(id, events)| (*id, outcomes[&events[0]].clone())).collect();
        proved.keys().for_each(|&id| ledger.exclude(id));
        proved
    }

    /// Nobody need look again for a path that no input takes.
    fn close_infeasible_paths(&self, ledger: &mut Ledger, rounds: &[Limitations], counters: &Counters) {
        let judge = self.judge(rounds, counters, None);
        let is_settled = |id: &GoalId| {
            ledger.is_open(*id) && matches!(judge.unreached(*id, ledger.goal(*id)), Verdict::Infeasible(_))
        };
        let settled: Vec<GoalId> = ledger.prefixes().map(|(id, _)| id).filter(is_settled).collect();
        settled.into_iter().for_each(|id| ledger.exclude(id));
    }

    /// An execution did what was proved to be impossible.
    fn note_refuted(&mut self, name: &str, ledger: &Ledger, proved: &Proved) {
        for id in proved.keys().filter(|&&id| ledger.is_reached(id)) {
            let goal = ledger.goal(*id);
            let outcome = goal.outcome.map_or(String::new(), |outcome| format!(" {outcome}"));
            let what = format!("'{}' was proved to be never{outcome}, but a path takes it", goal.text);
            self.disagreements.push(Disagreement { function: name.to_string(), test: None, what, case: None });
        }
    }

    /// Nothing is known of all inputs within the bounds: what about the smallest ones?
    fn smallest(
        &self,
        means: &Means<'_>,
        ledger: &mut Ledger,
        found: Found<'_>,
        budget: &mut Budget<'_>,
        on_goals: &mut dyn FnMut(usize, usize),
    ) -> Option<(Vec<Attempt>, Limitations)> {
        let bounds = Bounds::LEAST;
        if budget.settings.strategy.is_path_by_path() {
            return None;
        }
        let mut session = self.place.prepared.session(self.function, bounds.pointer_elements)?;
        session.undefined = budget.settings.undefined;
        let mut exploration = Exploration::new(session, means, ledger, found, bounds, budget);
        exploration.unite_at_last(budget, on_goals);
        let attempts = exploration.take_attempts();
        let mut limitations = exploration.take_union()?;
        limitations.least = true;
        Some((attempts, limitations))
    }

    fn note_disagreements(&mut self, name: &str, replayed: &[Replayed]) {
        for what in replayed.iter().filter_map(Replayed::disagreement) {
            self.disagreements.push(Disagreement { function: name.to_string(), test: None, what, case: None });
        }
    }

    fn judge<'j>(&'j self, rounds: &'j [Limitations], counters: &'j Counters, closest: Option<TestId>) -> Judge<'j> {
        let Subject { program, routes, settings, .. } = self.place.subject;
        let accepted = &settings.accepted;
        let exceptions_matter = self.place.prepared.reacts_to_exceptions();
        let order_of_calls = OnceCell::new();
        let function = self.function;
        Judge { program, routes, function, rounds, counters, closest, accepted, order_of_calls, exceptions_matter }
    }

    fn report(
        &self,
        ledger: &Ledger,
        replayed: Vec<Replayed>,
        Known { rounds, proved, counters, unreached, left_out }: &Known,
    ) -> FunctionReport {
        let Subject { program, .. } = self.place.subject;
        let function = self.goals_of;
        let dropped = ledger.dropped();
        let effects = Effects::shown(ledger, &replayed);
        let mut replayed = replayed;
        let reached: BTreeSet<GoalId> = replayed.iter().flat_map(|test| test.covers.iter().copied()).collect();
        let defined: BTreeSet<GoalId> = replayed.iter().flat_map(|test| test.defined.iter().copied()).collect();
        for test in &mut replayed {
            // What another test reaches without undefined behaviour is nothing that this one shows behind it.
            test.covers.retain(|goal| !dropped.contains(goal) && test.defined.contains(goal) == defined.contains(goal));
            effects.keep_pairs(&mut test.covers);
        }
        let parts: Vec<(Vec<GoalId>, Vec<GoalId>)> =
            replayed.iter().map(|test| test.covers.iter().partition(|goal| defined.contains(goal))).collect();
        let coverers = replayed.iter().zip(&parts);
        let coverers =
            coverers.map(|(test, (covers, undefined))| Coverer { covers, undefined, clean: test.is_clean() });
        let Smallest { kept, reproducers, exact } = minimise(&coverers.collect::<Vec<_>>());
        let mut tests = suite(&replayed, &kept, &reproducers);
        // Those of a host are found when it is tested itself.
        let findings = if self.is_hosted() { Vec::new() } else { findings(program, &replayed, &kept) };
        let closest =
            tests.iter().max_by_key(|test| (test.covers.len(), std::cmp::Reverse(test.id))).map(|test| test.id);
        let judge = self.judge(rounds, counters, closest);
        if let Some(trouble) = unsatisfied(&judge) {
            return FunctionReport { work: work(counters), ..troubled(function, ledger, trouble) };
        }
        let verdict = |id: GoalId| {
            let by: Vec<TestId> = tests.iter().filter(|test| test.covers.contains(&id)).map(|test| test.id).collect();
            match (by.is_empty() && !reached.contains(&id), ledger.is_reached(id)) {
                (false, _) => {
                    let witness = by.first().filter(|_| !defined.contains(&id)).map(|test| kept[test.0 as usize - 1]);
                    let through = witness.and_then(|index| through(program, ledger.goal(id), &replayed[index]));
                    Verdict::Covered { tests: by, through }
                }
                (true, true) => not_shown(counters, closest, left_out.contains(&id)),
                (true, false) => match (proved.get(&id).filter(|_| !ledger.is_open(id)), unreached.get(id)) {
                    (Some(reason), _) => judge.excluded(ledger.goal(id), reason),
                    (None, Some(said)) => said.clone(),
                    (None, None) => judge.unreached(id, ledger.goal(id)),
                },
            }
        };
        let limits = hosts::Usage::of(&program.map, self.function, &self.place.subject.settings.accepted);
        let of_goal = |id: GoalId| match effects.verdict(id, &tests, &verdict) {
            Some(covered @ Verdict::Covered { .. }) => covered,
            Some(_) if ledger.is_reached(id) => not_shown(counters, closest, left_out.contains(&id)),
            Some(derived) => derived,
            None => verdict(id),
        };
        let is_reported = |(id, goal): &(GoalId, &Goal)| !dropped.contains(id) && !goal.is_part();
        let goal = |(id, goal): (GoalId, &Goal)| GoalReport {
            id,
            goal: goal.clone(),
            verdict: limits.limit(of_goal(id)),
            pair: effects.pair(id),
            refuted: judge.refuted(id),
            attacked: None,
        };
        let goals = ledger.goals().filter(is_reported).map(goal).collect();
        effects.name_goals(&mut tests);
        // Which pair shows an effect is chosen before, and not in all ways.
        let suite = SuiteWork { candidates: replayed.len() as u64, smallest: exact && ledger.effects().is_empty() };
        FunctionReport {
            function,
            goals,
            tests,
            findings,
            work: Work { suite, ..work(counters) },
            timing: None,
            trouble: None,
            interrupted: false,
        }
    }
}

/// The bounds for another round: what limited the last one grows. Without functions that write the state which it
/// read, more calls make no difference.
fn larger(bounds: Bounds, limitations: &Limitations, state_has_writers: bool) -> Bounds {
    let caveats = &limitations.caveats;
    let grown = if limitations.is_cut() || caveats.cut_containers { bounds.grown() } else { bounds };
    let grown = if caveats.cut_calls { grown.with_more_object_calls() } else { grown };
    if limitations.caveats.reads_state && state_has_writers { grown.with_more_calls() } else { grown }
}

/// What drivers may do in other ways than the first. One round tries these: as soon as there are no larger bounds, within those of
/// the round before, or when much of the budget is spent, within small ones, so that it can still be finished.
#[derive(Default)]
struct OtherWays {
    known: BTreeSet<SharedPair>,
    next: bool,
    tried: bool,
}

impl OtherWays {
    fn could_be(&mut self, ways: &BTreeSet<SharedPair>) {
        self.known.extend(ways.iter().cloned());
    }

    /// Decides whether the next round tries them.
    fn are_next(&mut self, no_larger_bounds: bool, budget: &Budget<'_>) -> bool {
        let wanted = !self.known.is_empty() && (no_larger_bounds || budget.spent() >= SPENT_BEFORE_OTHER_WAYS);
        self.next = wanted && !self.tried;
        self.next
    }

    /// Those that the round which begins may take.
    fn begin(&mut self) -> BTreeSet<SharedPair> {
        let tries = std::mem::take(&mut self.next);
        self.tried |= tries;
        if tries { self.known.clone() } else { BTreeSet::new() }
    }
}

/// A round that is not over by then was cut by its bounds too: it gets half of what is left. Along decision graphs a quarter,
/// because what is nearest is tried first there, and what that does not reach in a while needs larger bounds.
fn round_share(budget: &Budget<'_>) -> f64 {
    let spent = budget.spent();
    let part = if budget.settings.strategy == Strategy::Dependence { 0.25 } else { 0.5 };
    let share = spent + (1.0 - spent) * part;
    if share > 0.95 { 1.0 } else { share }
}

/// A function for which nothing could be done.
fn troubled(function: FunctionId, ledger: &Ledger, trouble: Trouble) -> FunctionReport {
    let reason = UnknownReason::trouble(trouble.what.clone());
    let unknown = || Verdict::Unknown(reason.clone());
    let goal = |(id, goal): (GoalId, &Goal)| GoalReport {
        id,
        goal: goal.clone(),
        verdict: unknown(),
        pair: None,
        refuted: None,
        attacked: None,
    };
    let goals = ledger.goals().map(goal).filter(|report| !report.goal.is_part()).collect();
    FunctionReport {
        function,
        goals,
        tests: Vec::new(),
        findings: Vec::new(),
        work: Work::default(),
        timing: None,
        trouble: Some(trouble),
        interrupted: false,
    }
}

/// No input satisfies the preconditions: then nothing follows for the goals.
fn unsatisfied(judge: &Judge<'_>) -> Option<Trouble> {
    let domain = judge.program.map.domain(judge.function)?;
    if judge.counters.accepted > 0 || domain.preconditions.is_empty() {
        return None;
    }
    let texts: Vec<String> =
        domain.preconditions.iter().map(|one| format!("`{}` ({})", one.expression, one.written)).collect();
    let named = match texts.as_slice() {
        [one] => format!("the precondition {one}"),
        all => format!("the preconditions {}", all.join(" and ")),
    };
    let together = if texts.len() > 1 { " together" } else { "" };
    let reason = judge.why_all_rejected();
    let fault_of_input = reason.is_none();
    let what = match reason {
        None => format!("{named} cannot be satisfied{together}"),
        Some(reason) => format!("no input was found that satisfies {named}: {reason}"),
    };
    Some(Trouble { what, fault_of_ours: false, fault_of_input })
}

/// Execution reached it, the native run did not, or there was none.
fn not_shown(counters: &Counters, closest: Option<TestId>, left_out: bool) -> Verdict {
    let reason = match left_out {
        true => "an input reaches it, and no time was left for its native run".to_string(),
        false => "the native run did not follow the predicted path".to_string(),
    };
    Verdict::Unknown(UnknownReason { reason, blocking: None, paths: counters.paths, solver_calls: 0, closest })
}

fn work(counters: &Counters) -> Work {
    Work {
        paths: counters.paths,
        redundant_tests: counters.redundant,
        infeasible_prefixes: counters.refuted,
        skipped_alternatives: counters.skipped,
        solver_calls: counters.solver_calls.iter().map(|(layer, count)| (layer.clone(), *count)).collect(),
        instructions: counters.instructions,
        fault_queries: counters.fault_queries,
        trees: counters.trees,
        ..Work::default()
    }
}

/// The undefined behaviour that comes before everything that a test shows of a goal, such as `signed overflow at 33:20`.
fn through(program: &Program, goal: &Goal, test: &Replayed) -> Option<String> {
    let fault = test.attempt.path.undefined_behaviour()?.fault;
    let kind = finding_kind(fault.kind).name().replace('_', " ");
    let Some(place) = place(program, fault.location) else { return Some(kind) };
    let file = match place.file == goal.place.file {
        true => String::new(),
        false => format!("{}:", program.map.files[place.file].path.display()),
    };
    Some(format!("{kind} at {file}{}:{}", place.line, place.column))
}

/// Each goal is what the first test is kept for that covers it; one that returns comes before one that does not, and one that
/// is a reproducer comes last.
fn suite(replayed: &[Replayed], kept: &[usize], reproducers: &[usize]) -> Vec<Test> {
    let mut order = kept.to_vec();
    order.sort_by_key(|index| (reproducers.contains(index), !replayed[*index].is_clean()));
    let mut kept_for: BTreeMap<GoalId, usize> = BTreeMap::new();
    for index in order {
        replayed[index].covers.iter().for_each(|&goal| {
            kept_for.entry(goal).or_insert(index);
        });
    }
    let mut tests = Vec::new();
    for (number, &index) in kept.iter().enumerate() {
        let test = &replayed[index];
        let kept_for = test.covers.iter().copied().filter(|goal| kept_for.get(goal) == Some(&index)).collect();
        tests.push(Test {
            id: TestId(number as u32 + 1),
            case: test.attempt.case.clone(),
            observation: test.expected(),
            undefined: test.is_undefined(),
            reproducer: reproducers.contains(&index),
            source: if test.attempt.solved { TestSource::Concolic } else { TestSource::Initial },
            covers: test.covers.clone(),
            kept_for,
            path: test.observation.events.clone(),
            before_unit: test.attempt.path.events_before_unit,
            constraint: test.attempt.constraint.clone(),
        });
    }
    tests
}

/// One finding for each place and kind, with the first input that shows it.
fn findings(program: &Program, replayed: &[Replayed], kept: &[usize]) -> Vec<Finding> {
    let mut findings: BTreeMap<(FindingKind, Option<Place>), Finding> = BTreeMap::new();
    for (index, test) in replayed.iter().enumerate() {
        let id = kept.iter().position(|&kept| kept == index).map(|position| TestId(position as u32 + 1));
        for (kind, place, message) in shown(program, test) {
            findings.entry((kind, place)).or_insert_with(|| Finding {
                kind,
                place,
                message,
                case: test.attempt.case.clone(),
                test: id,
                observation: Some(test.observation.clone()),
                confirmation: Confirmation::default(),
            });
        }
    }
    findings.into_values().collect()
}

fn shown(program: &Program, test: &Replayed) -> Vec<(FindingKind, Option<Place>, String)> {
    let path = &test.attempt.path;
    let describe = |fault: &Fault| (finding_kind(fault.kind), place(program, fault.location), fault.message.clone());
    let mut shown: Vec<_> = path.faults().map(describe).collect();
    shown.extend(
        endless(&path.end, test.observation.end)
            .map(|(location, message)| (FindingKind::DoesNotReturn, place(program, location), message.to_string())),
    );
    shown
}

/// Where a run that never returns was when it was stopped.
fn endless(predicted: &PathEnd, native: NativeEnd) -> Option<(Option<Location>, &'static str)> {
    match (predicted, native) {
        (PathEnd::CallDepth { location, .. }, NativeEnd::Signal(_)) => {
            Some((*location, "the recursion goes on until the stack is full"))
        }
        (PathEnd::InstructionLimit { location, .. } | PathEnd::LoopBound { location, .. }, NativeEnd::TimeLimit) => {
            Some((*location, "still running when the replay was stopped"))
        }
        (_, NativeEnd::TimeLimit) => Some((None, "still running when the replay was stopped")),
        _ => None,
    }
}

fn finding_kind(kind: FaultKind) -> FindingKind {
    match kind {
        FaultKind::OutOfBounds | FaultKind::BeforeStart => FindingKind::OutOfBounds,
        FaultKind::NullDereference => FindingKind::NullDereference,
        FaultKind::InvalidPointer => FindingKind::InvalidPointer,
        FaultKind::DivisionByZero => FindingKind::DivisionByZero,
        FaultKind::DivisionOverflow | FaultKind::SignedOverflow => FindingKind::SignedOverflow,
        FaultKind::WriteToConstant => FindingKind::WriteToConstant,
        FaultKind::UseAfterReturn => FindingKind::UseAfterReturn,
        FaultKind::UseAfterFree => FindingKind::UseAfterFree,
        FaultKind::DoubleFree => FindingKind::DoubleFree,
        FaultKind::InvalidFree => FindingKind::InvalidFree,
        FaultKind::UninitialisedRead => FindingKind::UninitialisedRead,
        FaultKind::Abort => FindingKind::Abort,
        FaultKind::Terminate => FindingKind::Terminate,
        FaultKind::UncaughtException => FindingKind::UncaughtException,
        FaultKind::ExceptionWhileUnwinding => FindingKind::ExceptionWhileUnwinding,
        FaultKind::PureVirtualCall => FindingKind::PureVirtualCall,
        FaultKind::LeakOnUnwinding => FindingKind::LeakOnUnwinding,
        FaultKind::AssertFailed => FindingKind::AssertFailed,
        FaultKind::ShiftTooFar => FindingKind::ShiftTooFar,
        FaultKind::FloatOutOfRange => FindingKind::FloatOutOfRange,
    }
}

/// A location of the code as a place of the map; `None` outside the user's files.
fn place(program: &Program, location: Option<Location>) -> Option<Place> {
    let location = location?;
    let name = program.code.files.get(location.file as usize)?;
    let same = |path: &std::path::Path| match (std::path::Path::new(name).canonicalize(), path.canonicalize()) {
        // Files that are there can be compared; names alone may end alike.
        (Ok(left), Ok(right)) => left == right,
        _ => {
            path.as_os_str() == name.as_str()
                || std::path::Path::new(name).ends_with(path.strip_prefix(".").unwrap_or(path))
                || path.ends_with(name)
        }
    };
    let file = program.map.files.iter().find(|(_, file)| same(&file.path)).map(|(id, _)| id)?;
    Some(Place { file, line: location.line, column: location.column })
}
