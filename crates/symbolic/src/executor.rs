//! One path: registers, memory, decisions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use branchwise_constraints::{CompareOp, Evaluator, Model, TermId};
use branchwise_program::assumption::Assumption;
use branchwise_program::code::{Code, Location, Operand};
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, FeedId, FunctionId, GlobalId, Id, RegisterId};

use crate::changes::Change;
use crate::frames::{Frame, Frames, LoopCount};
use crate::inputs::ShapeId;
use crate::leaks::Allocations;
use crate::memory::Memory;
use crate::path::{Alternative, AlternativeKind, Decision, Fault, FaultKind, Notes, Output, Path, PathEnd, Position};
use crate::possible::PossibleFaults;
use crate::probes::Probes;
use crate::registers::Registers;
use crate::session::{RunLimits, Session, global_object};
use crate::streams::Streams;
use crate::value::{ObjectId, Pointer, Value};
use crate::varargs::VariableArguments;

/// What a step may end with: the end of the path. Boxed, because every instruction returns one of these and hardly any
/// ends its path.
pub(crate) type Step<T> = Result<T, Box<PathEnd>>;

pub(crate) struct Executor<'s, 'p> {
    pub session: &'s mut Session<'p>,
    pub code: &'p Code,
    model: &'s Model,
    evaluator: Evaluator,
    pub limits: &'s RunLimits<'s>,
    pub memory: Memory,
    pub frames: Frames<'p>,
    /// The frames' registers and constants, and behind them what a window over the last frame spans.
    pub registers: Vec<Value>,
    /// End of the innermost frame's registers.
    pub top: usize,
    /// Room for the phi copies of one jump.
    pub copy_buffer: Vec<Value>,
    /// Start of the innermost frame's registers.
    pub base: usize,
    /// Conditions that this path has decided, and their negations.
    pub decided: HashMap<TermId, bool>,
    /// Those of them that a marker told of, and the condition that held there.
    marked: HashMap<TermId, TermId>,
    /// Decisions of the path that repeat one of those.
    repeated: usize,
    pub shape_objects: HashMap<ShapeId, ObjectId>,
    pub function_objects: HashMap<CodeFunctionId, ObjectId>,
    pub filled: HashSet<ShapeId>,
    /// Global objects that this path wrote as a whole: earlier calls do not matter to what they hold.
    pub overwritten: HashSet<ObjectId>,
    /// Objects that the program gave back.
    pub freed: HashSet<ObjectId>,
    pub allocations: Allocations,
    pub touched: BTreeMap<Touchable, Touched>,
    pub domain: Vec<TermId>,
    decisions: Vec<Decision>,
    pub events: Vec<Event>,
    pub outputs: Vec<Output>,
    /// How many values of each feed were asked for.
    pub feeds_taken: BTreeMap<FeedId, u32>,
    /// How many calls of each stub were made, and what they change.
    pub stub_calls: BTreeMap<usize, u32>,
    pub changes: Vec<Change>,
    /// How often the path has asked for a change.
    pub asked: usize,
    /// What was done at fixed addresses.
    pub registers_used: Registers,
    /// The functions that were called before the one under test.
    pub calls: Vec<FunctionId>,
    /// So many calls fewer than the session has.
    pub skipped_calls: u32,
    /// The function whose driver runs.
    pub calling: FunctionId,
    /// How many calls follow the current one.
    pub calls_to_come: u32,
    /// The bounds allow no more of a sequence that a test makes, so that the next value of a feed must end it.
    pub ends_sequence: bool,
    /// How many events came before the call under test.
    pub events_before_unit: usize,
    /// How many there were when the call under test was over.
    pub events_up_to_end: Option<usize>,
    /// Standard input and the streams that the test gives; what is read is the one selected.
    pub input: Streams,
    /// Streams that the program opened for writing, and those that it closed.
    pub opened: Vec<ObjectId>,
    pub closed: Vec<ObjectId>,
    pub wrote_files: bool,
    pub notes: Notes,
    pub possible: PossibleFaults,
    pub probes: Probes,
    pub instructions: u64,
    /// The limits are looked at when this many instructions have been executed.
    pub pause: u64,
    /// The arguments of calls with variable ones, by the depth of the callee.
    pub variable_arguments: BTreeMap<usize, VariableArguments>,
    /// The instruction being executed, within the innermost frame's block.
    pub instruction: u32,
    /// Where no model leads, and the ways of all inputs are followed at once ([`crate::united`]).
    pub union: Option<InUnion>,
}

/// What is to know of the one of many ways that is being followed.
#[derive(Debug, Default)]
pub(crate) struct InUnion {
    /// What holds for all inputs.
    pub domain: Vec<TermId>,
    /// What an input must satisfy to come here.
    pub condition: Vec<TermId>,
    /// The alternatives at which execution stopped because no model leads.
    pub forked: Option<Vec<Alternative>>,
    /// Pairs of which some way has noted that they might share an object, and whether both were used at their start alone.
    pub noted: HashSet<(Touchable, Touchable, bool)>,
}

/// What two pointers might both point to.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Touchable {
    Input(ShapeId),
    Global(GlobalId),
}

#[derive(Debug, Copy, Clone, Default)]
pub(crate) struct Touched {
    pub written: bool,
    /// It was used behind its first element.
    pub beyond: bool,
}

impl<'s, 'p> Executor<'s, 'p> {
    pub(crate) fn new(session: &'s mut Session<'p>, model: &'s Model, limits: &'s RunLimits<'s>) -> Self {
        Executor {
            code: &session.program.code,
            model,
            evaluator: Evaluator::new(),
            limits,
            memory: session.shared.image.clone(),
            frames: Frames::default(),
            registers: std::mem::take(&mut session.registers),
            top: 0,
            copy_buffer: Vec::new(),
            base: 0,
            decided: HashMap::new(),
            marked: HashMap::new(),
            repeated: 0,
            shape_objects: HashMap::new(),
            function_objects: HashMap::new(),
            filled: HashSet::new(),
            overwritten: HashSet::new(),
            freed: HashSet::new(),
            allocations: Allocations::default(),
            touched: BTreeMap::new(),
            domain: Vec::new(),
            decisions: Vec::new(),
            events: Vec::new(),
            outputs: Vec::new(),
            feeds_taken: BTreeMap::new(),
            stub_calls: BTreeMap::new(),
            changes: Vec::new(),
            asked: 0,
            registers_used: Registers::default(),
            calls: Vec::new(),
            skipped_calls: 0,
            calling: session.function,
            calls_to_come: 0,
            ends_sequence: false,
            events_before_unit: 0,
            events_up_to_end: None,
            input: Streams::default(),
            opened: Vec::new(),
            closed: Vec::new(),
            wrote_files: false,
            notes: Notes::default(),
            possible: PossibleFaults::default(),
            probes: Probes::default(),
            instructions: 0,
            pause: 0,
            variable_arguments: BTreeMap::new(),
            instruction: 0,
            union: None,
            session,
        }
    }

    pub(crate) fn run(mut self) -> Path {
        let end = self.make_calls();
        let end_positions = self.positions();
        let before_unit = self.is_before_unit();
        let end = self.judged(end);
        self.note_aliases();
        self.notes.caveats.looks_at_addresses = self.session.looks_at_addresses;
        self.session.registers = self.registers;
        Path {
            decisions: self.decisions,
            domain: self.domain,
            events_before_unit: match before_unit || self.notes.ended_in_precondition {
                true => self.events.len(),
                false => self.events_before_unit,
            },
            events_up_to_end: self.events_up_to_end,
            events: self.events,
            end,
            end_positions,
            outputs: self.outputs,
            feeds_taken: self.feeds_taken,
            changes: self.changes,
            registers: self.registers_used,
            calls: self.calls,
            skipped_calls: self.skipped_calls,
            called_unit: !before_unit,
            streams: self.input.given_streams(),
            standard_input: self.input.standard_input(),
            notes: self.notes,
            possible: self.possible.all,
            readings: self.probes.readings,
            probed: self.probes.probed,
            instructions: self.instructions,
        }
    }

    /// Whether no model leads.
    pub(crate) fn unites(&self) -> bool {
        self.union.is_some()
    }

    pub(crate) fn frame(&mut self) -> &mut Frame<'p> {
        self.frames.last_mut().expect("a path without frames has ended")
    }

    pub(crate) fn value(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Register(register) => self.registers[self.base + register.index()],
            Operand::Constant(bits) => Value::Bits(*bits as u64),
            Operand::Global(id, offset) => {
                Value::Pointer(Pointer { object: global_object(*id), offset: *offset as u64 })
            }
            Operand::Function(id) => Value::Function(*id),
            Operand::Undefined => Value::Undefined,
        }
    }

    /// An operand of a width above 64 bits, whose constants do not fit into plain bits.
    pub(crate) fn wide_value(&mut self, operand: &Operand, width: u32) -> Value {
        match operand {
            Operand::Constant(bits) if width > 64 => Value::Term(self.session.terms.constant(*bits, width)),
            other => self.value(other),
        }
    }

    pub(crate) fn set(&mut self, register: RegisterId, value: Value) {
        let at = self.base + register.index();
        self.registers[at] = value;
    }

    /// A term as a value: constants of up to 64 bits become immediate.
    pub(crate) fn term_value(&self, term: TermId) -> Value {
        match self.session.terms.as_constant(term) {
            Some(bits) if self.session.terms.width(term) <= 64 => Value::Bits(bits as u64),
            _ => Value::Term(term),
        }
    }

    pub(crate) fn as_term(&mut self, value: &Value, width: u32) -> TermId {
        self.memory.as_term(self.session, value, width)
    }

    /// The value of a term for the inputs that lead this path.
    pub(crate) fn evaluate(&mut self, term: TermId) -> u128 {
        self.evaluator.evaluate(&self.session.terms, self.model, term)
    }

    pub(crate) fn location(&self) -> Option<Location> {
        let site = self.site();
        let block = &self.code.functions[site.function].blocks[site.block];
        block.locations.get(site.instruction as usize).copied().flatten()
    }

    pub(crate) fn fault(&self, kind: FaultKind, message: impl Into<String>) -> Fault {
        let message = match self.called_model() {
            Some(model) => format!("in {model}(): {}", message.into()),
            None => message.into(),
        };
        Fault { kind, site: self.site(), location: self.location(), message, assumption: None }
    }

    /// What every input satisfies that comes here.
    pub(crate) fn held(&self) -> Vec<TermId> {
        let taken = self.decisions.iter().map(|decision| decision.alternatives[decision.taken].constraint);
        let union = self.union.iter().flat_map(|union| union.domain.iter().chain(&union.condition));
        taken.chain(union.copied()).collect()
    }

    /// Notes that the path takes a statement for granted here, and could go on otherwise without it.
    pub(crate) fn rest_on(&mut self, assumption: Assumption) {
        let positions = self.positions();
        self.notes.caveats.assumed.entry(assumption).or_default().insert(&positions);
    }

    pub(crate) fn fail<T>(&self, kind: FaultKind, message: impl Into<String>) -> Step<T> {
        Err(Box::new(PathEnd::Fault(self.fault(kind, message))))
    }

    pub(crate) fn unsupported<T>(&self, what: impl Into<String>) -> Step<T> {
        Err(Box::new(PathEnd::Unsupported { what: what.into(), location: self.location() }))
    }

    pub(crate) fn event(&mut self, event: Event) {
        let frame = self.frame();
        let (function, after) = (frame.map_function, frame.last_event.replace(event));
        let others = std::mem::take(&mut frame.other_events);
        let mut before = [after].into_iter().chain(others);
        let follows = |function| before.any(|after| self.session.map_allows(function, after, event.marker));
        if !function.is_some_and(follows) {
            self.notes.caveats.off_the_map.get_or_insert(event);
        }
        self.events.push(event);
    }

    /// Which way a condition (1 bit) goes. `kinds`: what it means to be false, and to be true.
    pub(crate) fn decide(&mut self, condition: TermId, kinds: [AlternativeKind; 2]) -> Step<bool> {
        if let Some(known) = self.session.terms.as_boolean(condition) {
            return Ok(known);
        }
        let known = self.decided.get(&condition).copied();
        let keeps_it = self.repeated < self.session.most_repeated && self.marked.contains_key(&condition);
        if let Some(known) = known.filter(|_| !keeps_it) {
            return Ok(known);
        }
        let negation = self.session.terms.not(condition);
        let alternatives = vec![
            Alternative { constraint: negation, kind: kinds[0] },
            Alternative { constraint: condition, kind: kinds[1] },
        ];
        Ok(self.choose(alternatives)? == 1)
    }

    /// Takes the alternative that the model satisfies, and remembers the others.
    pub(crate) fn choose(&mut self, alternatives: Vec<Alternative>) -> Step<usize> {
        if alternatives.iter().any(|alternative| self.session.is_garbage(alternative.constraint)) {
            return self.fail(FaultKind::UninitialisedRead, "a value that was never written decides what happens next");
        }
        if self.unites() {
            return self.choose_or_fork(alternatives);
        }
        let mut taken = None;
        for (index, alternative) in alternatives.iter().enumerate() {
            let holds = taken.is_none()
                && self.evaluator.evaluate(&self.session.terms, self.model, alternative.constraint) == 1;
            self.decided.insert(alternative.constraint, holds);
            taken = taken.or(holds.then_some(index));
        }
        let Some(taken) = taken else { return self.unsupported("alternatives that do not cover all inputs") };
        let repeats = self.repeats(&alternatives, taken);
        let decision = Decision {
            domain: std::mem::take(&mut self.domain),
            taken,
            alternatives,
            positions: self.positions(),
            events_before: self.events.len(),
            in_earlier_call: self.is_before_unit(),
            repeats,
        };
        self.decisions.push(decision);
        match repeats {
            None => self.note_open_loops(),
            Some(_) => self.repeated += 1,
        }
        Ok(taken)
    }

    /// The condition by which a marker has decided this before; if none has, this is the first to do so.
    fn repeats(&mut self, alternatives: &[Alternative], taken: usize) -> Option<TermId> {
        let known = self.marked.get(&alternatives[taken].constraint).copied();
        if known.is_none() && alternatives.iter().any(|it| matches!(it.kind, AlternativeKind::Event(_))) {
            let holds = alternatives[taken].constraint;
            self.marked.extend(alternatives.iter().map(|alternative| (alternative.constraint, holds)));
        }
        known
    }

    /// Without a model: the alternative that was decided before the step began, or else the step ends here, to be repeated
    /// for each of them.
    fn choose_or_fork(&mut self, alternatives: Vec<Alternative>) -> Step<usize> {
        let decided = |alternative: &Alternative| self.decided.get(&alternative.constraint) == Some(&true);
        if let Some(index) = alternatives.iter().position(decided) {
            return Ok(index);
        }
        if let Some(union) = &mut self.union {
            union.forked = Some(alternatives);
        }
        Err(Box::new(PathEnd::Interrupted))
    }

    pub(crate) fn decision_count(&self) -> usize {
        self.decisions.len()
    }

    /// Whether calls that lead to the state which the tested one needs are being made.
    pub(crate) fn is_before_unit(&self) -> bool {
        self.calls_to_come > 0 || self.makes_objects()
    }

    /// Whether the driver makes the objects that a call needs.
    pub(crate) fn makes_objects(&self) -> bool {
        self.frames.first().is_some_and(|driver| driver.makes_objects)
    }

    pub(crate) fn positions(&self) -> Rc<[Position]> {
        // The function under test is still to come: everything can follow.
        if self.in_precondition() {
            return Rc::new([]);
        }
        // Behind the outermost frame wait the calls to come.
        let to_come = self.is_before_unit().then_some(Position { function: self.session.function, after: None });
        // In C++ what makes the arguments of the call runs between its driver and the function under test.
        let outermost = self.frames.iter().find_map(|frame| frame.map_function);
        let ahead = outermost.is_some_and(|function| function != self.session.function);
        let ahead = ahead.then_some(Position { function: self.session.function, after: None });
        to_come.or(ahead).into_iter().chain(self.frames.iter().flat_map(Frame::positions)).collect()
    }

    /// A decision in a block that may leave a loop: this iteration need not have been.
    pub(crate) fn note_open_loops(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        for &head in frame.decoded.exits.left_by(frame.block) {
            match frame.loops.iter_mut().find(|count| count.head == head) {
                Some(count) => count.open = true,
                None => frame.loops.push(LoopCount { head, iterations: 0, open: true }),
            }
        }
    }

    /// A number that the executor must know: one after the other, the values tried so far are asked for, then the
    /// model's; all others stay open.
    pub(crate) fn concretise(&mut self, value: &Value, width: u32) -> Step<u64> {
        if let Value::Bits(bits) = value {
            return Ok(*bits);
        }
        let term = self.as_term(value, width);
        if self.unites() {
            return self.unsupported("a number that must be known, on many ways at once");
        }
        let chosen = self.evaluate(term);
        for index in 0.. {
            let candidate = self.session.concrete_value(term, index, chosen);
            let constant = self.session.terms.constant(candidate, width);
            let equal = self.session.terms.compare(CompareOp::Eq, term, constant);
            if self.decide(equal, [AlternativeKind::Continue; 2])? {
                return Ok(candidate as u64);
            }
        }
        unreachable!("the model's own value is among the candidates")
    }
}
