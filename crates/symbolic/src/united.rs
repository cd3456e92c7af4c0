//! All ways through a unit at once: where a condition is not decided, both sides are followed; where ways meet again,
//! their states become one, in which conditions decide between values. What a point of the program demands of the
//! inputs is then one formula over all paths that lead there (a *partial branch coverability condition*), its size
//! grows with the code that was executed and not with the number of paths, and one query settles all of them.
//!
//! The steps are those of the executor that follows a single path. It stops where no condition is known to decide, and
//! the step is repeated for each alternative.

mod join;
mod pending;
mod state;
mod tree;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use branchwise_constraints::{Answer, Model, Reason, Solver, TermId, holds};
use branchwise_program::code::{Call, Callee, Instruction};
use branchwise_program::graph::BlockOrder;
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, Id, RegisterId};

use crate::executor::{Executor, InUnion};
use crate::path::{Alternative, AlternativeKind, Caveats, FaultKind, PathEnd, Position};
use crate::plain::Place;
use crate::session::{RunLimits, Session};
use crate::value::Value;
pub use pending::PendingUnion;
use pending::Unanswered;
use state::State;
pub use tree::{ExecutionTree, Fate, Reach, TreeLimits, TreeNode};

/// How much all ways together may cost.
#[derive(Debug, Copy, Clone)]
pub struct UnionLimits<'a> {
    /// Of every single way.
    pub run: RunLimits<'a>,
    /// Raised when it is time to stop, unless little is left to follow.
    pub pause: &'a AtomicBool,
    /// States that are followed at the same time.
    pub states: usize,
    /// Operations of all ways together; three times as many where little is left.
    pub steps: u64,
}

/// What is asked of all ways together.
pub struct Quest<'a> {
    /// Outcomes for which inputs are looked for.
    pub watched: HashSet<Event>,
    /// Whether anything that matters can follow an outcome taken here, or going on without one.
    pub matters: &'a dyn Fn(Option<Event>, &[Position]) -> bool,
    /// For what must be known: whether a loop goes on, and whether a watched outcome can be taken.
    pub solver: &'a mut Solver,
}

/// What following all ways has shown.
#[derive(Debug, Default)]
pub struct Union {
    /// Inputs that reach watched outcomes.
    pub reached: Vec<(Event, Model)>,
    /// Ways that ended where nothing may be concluded from their end, and outcomes of which it is not known whether an
    /// input reaches them.
    pub obstacles: Vec<UnionObstacle>,
    pub caveats: Caveats,
    /// All ways were followed to their ends.
    pub complete: bool,
    pub work: UnionWork,
}

/// A point behind which something was not followed.
#[derive(Debug, Clone)]
pub struct UnionObstacle {
    pub kind: UnionObstacleKind,
    /// Where the functions on the call stack stood, innermost last.
    pub positions: Rc<[Position]>,
}

#[derive(Debug, Clone)]
pub enum UnionObstacleKind {
    End(PathEnd),
    /// The solver could not say whether this outcome can be taken.
    Undecided {
        event: Event,
        condition: TermId,
        reason: Reason,
    },
}

#[derive(Debug, Copy, Clone, Default, PartialEq, Eq)]
pub struct UnionWork {
    pub steps: u64,
    pub forks: u64,
    pub joins: u64,
    /// Alternatives that no input takes.
    pub refuted: u64,
    pub most_states: usize,
}

impl<'p> Session<'p> {
    /// Follows all ways of the unit at once, or the rest of those that an earlier call has left, within the limits, and
    /// finds inputs for the watched outcomes, of which there must be no others than at the first call. What is known counts
    /// for all calls together, inputs and work for this one. `None` where a test consists of several calls.
    pub fn unite(
        &mut self,
        rest: Option<PendingUnion<'p>>,
        quest: Quest<'_>,
        limits: &UnionLimits<'_>,
    ) -> Option<(Union, Option<PendingUnion<'p>>)> {
        self.with_uniter(quest, limits, |uniter| {
            match rest {
                Some(rest) => uniter.take_up(rest),
                None => uniter.begin(),
            }
            uniter.run();
            uniter.leave_off()
        })
    }

    fn with_uniter<T>(
        &mut self,
        quest: Quest<'_>,
        limits: &UnionLimits<'_>,
        work: impl FnOnce(&mut Uniter<'_, '_, 'p>) -> T,
    ) -> Option<T> {
        if self.calls_before() > 0 {
            return None;
        }
        self.garbage_used = 0;
        self.looks_at_addresses = false;
        let driver = self.shared.driver_of(self.function)?;
        let no_model = Model::new();
        let mut executor = Executor::new(self, &no_model, &limits.run);
        executor.union = Some(InUnion::default());
        executor.enter(driver, &[]);
        let mut uniter = Uniter {
            executor,
            quest,
            limits,
            waiting: BTreeMap::new(),
            running: Vec::new(),
            orders: HashMap::new(),
            lineages: 0,
            unanswered: Vec::new(),
            union: Union::default(),
        };
        let made = work(&mut uniter);
        let executor = uniter.executor;
        executor.session.registers = executor.registers;
        Some(made)
    }
}

/// States that are kept apart because they will go different ways.
const MOST_APART: usize = 8;

/// Where so many times as many states were followed before, little is left.
const LITTLE: usize = 4;

/// The limits are looked at when so many steps have been made.
const STEPS_BETWEEN_LOOKS: u64 = 1024;

/// Where a state waits for others: lexicographic order is the order in which states are followed.
type Key = Vec<u64>;

struct Uniter<'e, 's, 'p> {
    /// Works on one state after the other.
    executor: Executor<'s, 'p>,
    quest: Quest<'e>,
    limits: &'e UnionLimits<'e>,
    waiting: BTreeMap<Key, Vec<State<'p>>>,
    running: Vec<State<'p>>,
    orders: HashMap<CodeFunctionId, Rc<BlockOrder>>,
    lineages: u32,
    unanswered: Vec<Unanswered>,
    union: Union,
}

/// A point where ways meet, and the registers whose values decide most of what follows.
struct Meeting {
    deciding: Vec<RegisterId>,
    /// A loop begins anew.
    again: bool,
}

/// What a step led to.
enum Stop {
    Meeting(Meeting),
    Fork(Vec<Alternative>),
    End(PathEnd),
}

impl<'p> Uniter<'_, '_, 'p> {
    fn begin(&mut self) {
        let start = self.executor.set_aside(Some(Rc::new(Model::new())));
        self.running.push(start);
    }

    fn run(&mut self) {
        while let Some(state) = self.next_state() {
            if self.is_over() {
                return self.running.push(state);
            }
            self.follow(state);
        }
        self.union.complete = true;
    }

    /// Ways that have not met anybody yet come first; of the others, those that all others can still reach come last.
    fn next_state(&mut self) -> Option<State<'p>> {
        if let Some(state) = self.running.pop() {
            return Some(state);
        }
        while let Some((_, mut states)) = self.waiting.pop_first() {
            let mut apart: Vec<State<'p>> = Vec::new();
            while let Some(state) = states.pop() {
                self.join_with_one(&mut apart, state);
            }
            apart.retain_mut(|state| self.goes_on(state));
            self.running = apart;
            if let Some(state) = self.running.pop() {
                return Some(state);
            }
        }
        None
    }

    /// Whether any input begins a loop anew; nobody but the solver may know, and ways that no input goes would not end.
    fn goes_on(&mut self, state: &mut State<'p>) -> bool {
        if !state.again || state.witness.is_some() {
            return true;
        }
        match self.query(&state.condition, &Model::new()) {
            Answer::Unsat(_) => {
                self.union.work.refuted += 1;
                return false;
            }
            Answer::Sat(model) => state.witness = Some(Rc::new(model)),
            Answer::Unknown(_) => {}
        }
        true
    }

    fn join_with_one(&mut self, apart: &mut Vec<State<'p>>, mut state: State<'p>) {
        for _ in 0..apart.len() {
            let Some(other) = apart.pop() else { break };
            if apart.len() < MOST_APART && are_decided_differently(&other, &state) {
                apart.insert(0, other);
                continue;
            }
            match self.executor.join(other, state) {
                Ok(joined) => {
                    self.union.work.joins += 1;
                    apart.push(joined);
                    return;
                }
                Err(both) => {
                    let [other, same] = *both;
                    apart.insert(0, other);
                    state = same;
                }
            }
        }
        apart.push(state);
    }

    fn is_over(&mut self) -> bool {
        let states = self.running.len() + self.waiting.values().map(Vec::len).sum::<usize>() + 1;
        let work = &mut self.union.work;
        work.most_states = work.most_states.max(states);
        let (raised, limits) = (|flag: &AtomicBool| flag.load(Ordering::Relaxed), self.limits);
        let little = states.saturating_mul(LITTLE) <= work.most_states;
        let paused = raised(limits.pause) || work.steps > limits.steps;
        let stopped = raised(limits.run.interrupt) || work.steps > limits.steps.saturating_mul(3);
        let terms = self.executor.session.terms.len();
        stopped || (paused && !little) || states > limits.states || terms > limits.run.terms
    }

    fn follow(&mut self, state: State<'p>) {
        let mut witness = self.executor.go_on_with(state);
        self.lineages += 1;
        self.executor.memory.begin_lineage(self.lineages);
        loop {
            let (stop, undo) = self.step();
            self.take_in_domain(&mut witness);
            match stop {
                None => self.note_events(),
                Some(Stop::Meeting(Meeting { deciding, again })) => {
                    self.take_in_caveats();
                    self.note_events();
                    let key = self.key();
                    let state = State { deciding, again, ..self.executor.set_aside(witness) };
                    self.waiting.entry(key).or_default().push(state);
                    return;
                }
                Some(Stop::Fork(alternatives)) => return self.fork(undo, witness, &alternatives),
                Some(Stop::End(end)) => return self.end(end),
            }
            if self.union.work.steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && self.is_over() {
                let state = self.executor.set_aside(witness);
                self.running.push(state);
                return;
            }
        }
    }

    /// Executes one operation. Where it may change anything before it stops at a fork, the state before it comes with it.
    fn step(&mut self) -> (Option<Stop>, Option<Box<State<'p>>>) {
        self.union.work.steps += 1;
        let depth = self.executor.frames.len();
        let frame = self.executor.frame();
        let (operation, function, outs) = (frame.next, frame.function, frame.outs);
        let last_events = (frame.last_event, frame.other_events.clone());
        let place = frame.decoded.place(operation);
        let undo = self.needs_undo(function, place).then(|| Box::new(self.copy_state()));
        let result = self.executor.general_step(place, operation + 1);
        if let Some(alternatives) = self.executor.union.as_mut().and_then(|union| union.forked.take()) {
            if undo.is_none() {
                let frame = self.executor.frame();
                frame.next = operation;
                (frame.last_event, frame.other_events) = last_events;
            }
            self.executor.events.clear();
            return (Some(Stop::Fork(alternatives)), undo);
        }
        if let Err(end) = result {
            return (Some(Stop::End(*end)), None);
        }
        let now = self.executor.frames.len();
        if now < depth {
            return (Some(Stop::Meeting(Meeting { deciding: outs.to_vec(), again: false })), None);
        }
        let code = self.executor.code;
        let jumped = place.end as usize > code.functions[function].blocks[place.block].instructions.len();
        let meeting = if now == depth && jumped { self.note_jump(place) } else { None };
        (meeting.map(Stop::Meeting), None)
    }

    /// All other instructions decide before they change anything, or change nothing that repeating them would not.
    fn needs_undo(&self, function: CodeFunctionId, place: Place) -> bool {
        let code = self.executor.code;
        let instructions = &code.functions[function].blocks[place.block].instructions;
        let end = instructions.len().min(place.end as usize);
        // What follows a volatile read is part of it.
        let from = (place.first as usize).saturating_sub(1).min(end);
        let reads = |instruction: &Instruction| matches!(instruction, Instruction::VolatileRead { .. });
        instructions[from..end].iter().any(reads)
            || instructions[place.first as usize..end].iter().any(|instruction| match instruction {
                Instruction::Call(Call { callee: Callee::Direct(callee), .. }) => {
                    code.functions[*callee].is_declaration()
                }
                Instruction::Call(_)
                | Instruction::Input { .. }
                | Instruction::Feed { .. }
                | Instruction::Output { .. }
                | Instruction::VariadicStart { .. } => true,
                _ => false,
            })
    }

    fn copy_state(&mut self) -> State<'p> {
        let state = self.executor.set_aside(None);
        let copy = state.clone();
        self.executor.go_on_with(state);
        copy
    }

    /// Counts the loops that the jump has begun anew; where ways meet at its target, the registers that decide there.
    fn note_jump(&mut self, place: Place) -> Option<Meeting> {
        let function = self.executor.frame().function;
        let order = self.order(function);
        let frame = self.executor.frame();
        let (from, to) = (place.block, frame.block);
        let again = order.around[from].contains(&to);
        let known = std::mem::take(&mut frame.passes);
        let passes = |head: &branchwise_program::BlockId| {
            let before = known.iter().find(|(other, _)| other == head).map_or(0, |(_, passes)| *passes);
            (*head, if again && *head == to { before + 1 } else { before })
        };
        frame.passes = order.around[to].iter().map(passes).collect();
        order.joins[to].then(|| Meeting { deciding: order.deciding[to].clone(), again })
    }

    fn order(&mut self, function: CodeFunctionId) -> Rc<BlockOrder> {
        let code = self.executor.code;
        let make = || Rc::new(BlockOrder::of(&code.functions[function]));
        Rc::clone(self.orders.entry(function).or_insert_with(make))
    }

    fn key(&mut self) -> Key {
        let mut key = Vec::new();
        for index in 0..self.executor.frames.len() {
            let order = self.order(self.executor.frames[index].function);
            let frame = &self.executor.frames[index];
            key.push(u64::from(frame.function.0));
            for &(head, passes) in &frame.passes {
                key.extend([order.position[head], passes]);
            }
            key.extend([order.position[frame.block], frame.next as u64]);
        }
        // A function that was called comes before what follows the call.
        key.push(u64::MAX);
        key
    }

    /// Conditions that became known to hold for all inputs; a witness that breaks one is no input.
    fn take_in_domain(&mut self, witness: &mut Option<Rc<Model>>) {
        if self.executor.domain.is_empty() {
            return;
        }
        let new = std::mem::take(&mut self.executor.domain);
        let terms = &self.executor.session.terms;
        if witness.as_ref().is_some_and(|model| !holds(terms, model, &new)) {
            *witness = None;
        }
        let Some(union) = &mut self.executor.union else { return };
        for condition in new {
            if !union.domain.contains(&condition) {
                union.domain.push(condition);
            }
        }
    }

    /// What limits conclusions from the present way so far. Taken in wherever something is concluded from it, since a way
    /// that is refuted, or that nothing which matters follows, comes to no end.
    /// From the present way, which goes on without them: whatever becomes of it, they are known.
    fn take_in_caveats(&mut self) {
        self.executor.note_aliases();
        self.union.caveats.add(&std::mem::take(&mut self.executor.notes.caveats));
        self.union.caveats.looks_at_addresses |= self.executor.session.looks_at_addresses;
    }

    /// These conditions with those that hold for all inputs.
    fn with_domain(&self, condition: &[TermId]) -> Vec<TermId> {
        let domain = self.executor.union.as_ref().map_or(&[][..], |union| &union.domain);
        domain.iter().chain(condition).copied().collect()
    }

    fn query(&mut self, condition: &[TermId], hint: &Model) -> Answer {
        let constraints = self.with_domain(condition);
        self.quest.solver.check(&self.executor.session.terms, &constraints, hint).answer
    }

    /// Whether an input comes to where the present way is.
    fn query_here(&mut self) -> Answer {
        let condition = self.executor.union.as_ref().map_or(Vec::new(), |union| union.condition.clone());
        self.query(&condition, &Model::new())
    }

    /// Inputs for the watched outcomes that the present state has just taken.
    fn note_events(&mut self) {
        for event in std::mem::take(&mut self.executor.events) {
            if !self.quest.watched.contains(&event) {
                continue;
            }
            self.take_in_caveats();
            let condition = self.executor.union.as_ref().map_or(Vec::new(), |union| union.condition.clone());
            let positions = self.executor.positions();
            self.ask_for(Unanswered { event, condition, positions });
        }
    }

    /// The step is to be repeated for each of these.
    fn fork(&mut self, undo: Option<Box<State<'p>>>, witness: Option<Rc<Model>>, alternatives: &[Alternative]) {
        self.union.work.forks += 1;
        self.take_in_caveats();
        if let Some(state) = undo {
            self.executor.go_on_with(*state);
        }
        let positions = self.executor.positions();
        let must_know = self.decides_recursion();
        self.executor.note_open_loops();
        let mut base = self.executor.set_aside(None);
        base.decided.extend(alternatives.iter().map(|alternative| (alternative.constraint, false)));
        let asked: Vec<Asked> = alternatives
            .iter()
            .map(|alternative| {
                let matters = self.matters(alternative.kind, &positions);
                Asked { constraint: alternative.constraint, matters, must_know }
            })
            .collect();
        let ways = self.ways(&base.condition, &asked, witness.as_ref());
        let refuted = ways.iter().filter(|way| matches!(way, Way::Refuted)).count();
        self.union.work.refuted += refuted as u64;
        // What all inputs that come here do tells nothing of them.
        let implied = refuted + 1 == ways.len();
        for (way, alternative) in ways.into_iter().zip(alternatives).rev() {
            let Way::Open(witness) = way else { continue };
            let mut state = base.clone();
            state.decided.insert(alternative.constraint, true);
            if !implied {
                state.condition.push(alternative.constraint);
            }
            state.witness = witness;
            self.running.push(state);
        }
    }

    fn matters(&self, kind: AlternativeKind, positions: &[Position]) -> bool {
        match kind {
            AlternativeKind::Rejected => false,
            // Behind the bound of an input, more than a fault may follow.
            AlternativeKind::Fault(_, kind) => matches!(kind, FaultKind::OutOfBounds | FaultKind::BeforeStart),
            AlternativeKind::Event(event) => (self.quest.matters)(Some(event), positions),
            AlternativeKind::Continue | AlternativeKind::Cut(_) => (self.quest.matters)(None, positions),
        }
    }

    /// What becomes of the alternatives of one decision.
    fn ways(&mut self, condition: &[TermId], asked: &[Asked], witness: Option<&Rc<Model>>) -> Vec<Way> {
        let terms = &self.executor.session.terms;
        let taken = |asked: &Asked| witness.filter(|model| holds(terms, model, &[asked.constraint]));
        let witnesses: Vec<Option<&Rc<Model>>> = asked.iter().map(taken).collect();
        let rest = asked.iter().zip(&witnesses).filter(|(_, witness)| witness.is_none());
        let rest: Vec<TermId> = rest.map(|(asked, _)| asked.constraint).collect();
        let mut excluded = self.excluded(condition, &rest).into_iter();
        let mut ways = Vec::with_capacity(asked.len());
        for (asked, taken) in asked.iter().zip(witnesses) {
            ways.push(match taken {
                Some(_) if !asked.matters => Way::Left,
                Some(model) => Way::Open(Some(Rc::clone(model))),
                None if excluded.next() == Some(true) => Way::Refuted,
                None => self.way(condition, asked, witness),
            });
        }
        ways
    }

    /// Which of these bounds exclude.
    fn excluded(&mut self, condition: &[TermId], alternatives: &[TermId]) -> Vec<bool> {
        if alternatives.is_empty() {
            return Vec::new();
        }
        let conditions = self.with_domain(condition);
        let session = &mut *self.executor.session;
        session.exclusions.of(&session.terms, &conditions, alternatives)
    }

    /// What becomes of an alternative that neither the witness takes nor bounds exclude.
    fn way(&mut self, condition: &[TermId], asked: &Asked, witness: Option<&Rc<Model>>) -> Way {
        if !asked.matters {
            return Way::Left;
        }
        if !asked.must_know {
            return Way::Open(None);
        }
        let hint = witness.cloned().unwrap_or_default();
        let constraints: Vec<TermId> = condition.iter().copied().chain([asked.constraint]).collect();
        match self.query(&constraints, &hint) {
            Answer::Unsat(_) => Way::Refuted,
            Answer::Sat(model) => Way::Open(Some(Rc::new(model))),
            Answer::Unknown(_) => Way::Open(None),
        }
    }

    /// Whether what is decided here says how long a recursion goes on: a way that no input takes must end then.
    fn decides_recursion(&mut self) -> bool {
        let function = self.executor.frame().function;
        self.executor.frames.iter().filter(|frame| frame.function == function).count() > 1
    }

    fn end(&mut self, end: PathEnd) {
        self.take_in_caveats();
        self.note_events();
        let positions = self.executor.positions();
        let end = self.executor.judged(end);
        let proper = match &end {
            PathEnd::Returned | PathEnd::Exited { .. } | PathEnd::Rejected => true,
            PathEnd::Fault(fault) => fault.kind != FaultKind::UninitialisedRead && fault.assumption.is_none(),
            _ => false,
        };
        let matters = (self.quest.matters)(None, &positions);
        if proper || !matters || self.query_here().is_unsat() {
            return;
        }
        self.union.obstacles.push(UnionObstacle { kind: UnionObstacleKind::End(end), positions });
    }
}

/// Their values are known and differ where they decide what follows: that is simpler to follow apart.
fn are_decided_differently(first: &State<'_>, second: &State<'_>) -> bool {
    let Some(base) = first.frames.last().map(|frame| frame.base) else { return false };
    first.deciding.iter().any(|register| {
        let at = base + register.index();
        match (first.registers.get(at), second.registers.get(at)) {
            (Some(Value::Bits(here)), Some(Value::Bits(there))) => here != there,
            _ => false,
        }
    })
}

/// An alternative of which it is asked what becomes of it.
struct Asked {
    constraint: TermId,
    /// Something that matters may follow it.
    matters: bool,
    /// Nobody but the solver may know whether an input takes it, and it is to be known.
    must_know: bool,
}

/// What becomes of an alternative.
enum Way {
    /// It is followed; an input that takes it, where one is known.
    Open(Option<Rc<Model>>),
    /// Nothing that matters follows it.
    Left,
    /// No input takes it.
    Refuted,
}
