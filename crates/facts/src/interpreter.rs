//! The fixpoint over a function, and what all functions share.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use branchwise_program::code::{Code, Function, Initializer, Operand};
use branchwise_program::library::left_open::LeftOpen;
use branchwise_program::library::otherwise::LibraryCall;
use branchwise_program::{BlockId, CodeFunctionId, GlobalId, IdVec, Program, RegisterId};

use crate::layout::Layout;
use crate::memory::Memory;
use crate::observed::Observed;
use crate::state::State;
use crate::thresholds::Thresholds;
use crate::value::{ObjectId, Targets, Value};

/// A loop's head is widened from this visit on, and without thresholds from the other on.
const WIDENED_FROM: u32 = 3;
const WIDENED_TO_THE_END_FROM: u32 = 40;

/// Passes that take back what widening added.
const DESCENDING: usize = 3;

/// Nested calls that are followed, each with what its caller knows.
const DEEPEST: usize = 24;

/// Of each function, so many calls are remembered.
const REMEMBERED: usize = 12;

/// Why nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Interrupted,
    TooMuchWork,
    /// Something whose effect nobody knows.
    Unsupported,
}

pub(crate) type Found<T> = Result<T, Stop>;

/// What a call leads to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub exits: Vec<Exit>,
    pub observed: Observed,
}

#[derive(Debug, Clone)]
pub(crate) struct Exit {
    pub results: Vec<Value>,
    pub memory: Memory,
}

/// What a call hands over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub values: Vec<Value>,
    /// Pairs that are the same value, the earlier one first.
    pub equal: Vec<(usize, usize)>,
}

impl Arguments {
    pub(crate) fn any(function: &Function) -> Self {
        let any = |&parameter: &RegisterId| Value::any(function.registers[parameter]);
        Arguments { values: function.parameters.iter().map(any).collect(), equal: Vec::new() }
    }
}

struct Remembered {
    arguments: Arguments,
    memory: Memory,
    outcome: Rc<Outcome>,
}

/// What is interpreted, and what all interpretations know of it.
pub(crate) struct Subject<'p> {
    pub program: &'p Program,
    /// An exception takes outcomes, or the program goes on otherwise after it.
    pub reacts_to_exceptions: bool,
    /// Stubs of functions that may write what others see, and call the unit.
    pub interfering: BTreeSet<CodeFunctionId>,
    /// Library functions that may do what their models do not.
    pub library_calls: BTreeMap<CodeFunctionId, LibraryCall>,
    /// Where the code looks at what the standard leaves open of their results.
    pub left_open: LeftOpen,
    /// The variable of the models that is `errno`.
    pub errno: Option<GlobalId>,
}

impl<'p> Subject<'p> {
    pub(crate) fn new(program: &'p Program) -> Self {
        let functions = program.code.functions.ids();
        let interfering = functions.filter(|&function| program.interfering_stub(function).is_some());
        let left_open = LeftOpen::of(program);
        let errno = program.code.globals.iter().find(|(_, global)| global.name == "__bw_errno");
        Subject {
            program,
            reacts_to_exceptions: program.reacts_to_exceptions(),
            interfering: interfering.collect(),
            library_calls: program.library_calls(&left_open),
            left_open,
            errno: errno.map(|(id, _)| id),
        }
    }
}

pub(crate) struct Interpreter<'p> {
    pub subject: &'p Subject<'p>,
    pub program: &'p Program,
    pub code: &'p Code,
    /// What calls from outside find, and may leave.
    between: Memory,
    /// In what calls from outside found while a call was under way, or after one that was left.
    pub interrupted: Option<Memory>,
    layouts: HashMap<CodeFunctionId, Rc<Layout>>,
    /// The functions that are being interpreted.
    stack: Vec<CodeFunctionId>,
    remembered: HashMap<CodeFunctionId, Vec<Remembered>>,
    /// Functions that were interpreted for any arguments and memory, because they call themselves.
    general: BTreeSet<CodeFunctionId>,
    /// What was observed in those.
    pub in_general: Observed,
    callable: Rc<[CodeFunctionId]>,
    /// More states than this at one block become one.
    most_states: usize,
    work: u64,
    limit: u64,
    interrupt: &'p AtomicBool,
}

impl<'p> Interpreter<'p> {
    /// Calls from outside find the variables as `between` says.
    pub(crate) fn new(
        subject: &'p Subject<'p>,
        between: Memory,
        most_states: usize,
        limit: u64,
        interrupt: &'p AtomicBool,
    ) -> Self {
        let program = subject.program;
        Interpreter {
            subject,
            program,
            code: &program.code,
            between,
            interrupted: None,
            layouts: HashMap::new(),
            stack: Vec::new(),
            remembered: HashMap::new(),
            general: BTreeSet::new(),
            in_general: Observed::default(),
            callable: address_taken(program).into(),
            most_states,
            work: 0,
            limit,
            interrupt,
        }
    }

    /// What is done from now on may cost so much.
    pub(crate) fn allow(&mut self, limit: u64) {
        self.limit = self.work.saturating_add(limit);
    }

    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Somebody outside may call the unit now, or an exception leaves it: what others find then is between two calls too.
    pub(crate) fn interrupt_here(&mut self, memory: &Memory) {
        let kept = memory.kept(self.code);
        let all = self.interrupted.as_ref().map_or_else(|| kept.clone(), |known| known.join(self.code, &kept));
        self.interrupted = Some(all);
    }

    /// The same state after somebody outside may have called the unit.
    pub(crate) fn after_calls_from_outside(&self, memory: &Memory) -> Memory {
        memory.join(self.code, &self.between)
    }

    pub(crate) fn layout(&mut self, function: CodeFunctionId) -> Rc<Layout> {
        let code = self.code;
        let make = || Rc::new(Layout::of(code, &code.functions[function]));
        Rc::clone(self.layouts.entry(function).or_insert_with(make))
    }

    /// The functions that a pointer which is not followed may lead to.
    pub(crate) fn callable(&self) -> Rc<[CodeFunctionId]> {
        Rc::clone(&self.callable)
    }

    pub(crate) fn spend(&mut self, work: u64) -> Found<()> {
        self.work += work;
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted);
        }
        if self.work > self.limit { Err(Stop::TooMuchWork) } else { Ok(()) }
    }

    /// Whether a call of this function is not followed with what its caller knows.
    pub(crate) fn is_general(&self, function: CodeFunctionId) -> bool {
        self.stack.len() >= DEEPEST || self.stack.contains(&function)
    }

    /// Interprets a call.
    pub(crate) fn call(
        &mut self,
        function: CodeFunctionId,
        arguments: Arguments,
        memory: Memory,
    ) -> Found<Rc<Outcome>> {
        let known = self.remembered.entry(function).or_default();
        let same = |one: &&Remembered| one.arguments == arguments && one.memory == memory;
        if let Some(found) = known.iter().find(same) {
            return Ok(Rc::clone(&found.outcome));
        }
        self.stack.push(function);
        let outcome = self.interpret(function, &arguments, memory.clone());
        self.stack.pop();
        let outcome = Rc::new(outcome?);
        let known = self.remembered.entry(function).or_default();
        if known.len() >= REMEMBERED {
            known.remove(0);
        }
        known.push(Remembered { arguments, memory, outcome: Rc::clone(&outcome) });
        Ok(outcome)
    }

    /// Interprets a function for any arguments and any memory, once.
    pub(crate) fn generalise(&mut self, function: CodeFunctionId) -> Found<()> {
        if !self.general.insert(function) {
            return Ok(());
        }
        let code = self.code;
        let body = &code.functions[function];
        let waiting = std::mem::replace(&mut self.stack, vec![function]);
        let outcome = self.interpret(function, &Arguments::any(body), anything(code));
        self.stack = waiting;
        self.in_general.add(&outcome?.observed);
        Ok(())
    }

    fn interpret(&mut self, function: CodeFunctionId, arguments: &Arguments, memory: Memory) -> Found<Outcome> {
        let layout = self.layout(function);
        let body = &self.code.functions[function];
        let mut entry = State::new(memory);
        for (register, argument) in body.parameters.iter().zip(&arguments.values) {
            entry.set(*register, argument.clone());
        }
        for &(first, second) in &arguments.equal {
            if let (Some(&first), Some(&second)) = (body.parameters.get(first), body.parameters.get(second)) {
                entry.copy(second, first);
            }
        }
        Run::new(self, function, body, layout, entry).run()
    }
}

/// Nothing is known of any variable.
pub(crate) fn anything(code: &Code) -> Memory {
    let mut memory = Memory::default();
    memory.escape(code, &all_variables(code));
    memory
}

pub(crate) fn all_variables(code: &Code) -> Targets {
    let any = crate::number::Number::any(64);
    let variables = code.globals.iter().filter(|(_, global)| !global.constant);
    Targets { known: variables.map(|(id, _)| (ObjectId::Global(id), any.clone())).collect(), unknown: true }
}

/// All functions whose address stands somewhere, or that a test may hand to the program.
fn address_taken(program: &Program) -> Vec<CodeFunctionId> {
    let mut taken = BTreeSet::new();
    let mut take = |operand: &Operand| {
        if let Operand::Function(function) = operand {
            taken.insert(*function);
        }
    };
    for block in program.code.functions.values().flat_map(|function| function.blocks.values()) {
        for instruction in &block.instructions {
            match instruction {
                branchwise_program::code::Instruction::Call(call) => call.arguments.iter().for_each(&mut take),
                other => other.for_each_operand(&mut take),
            }
        }
        block.terminator.for_each_operand(&mut take);
    }
    let initializers = program.code.globals.values().filter_map(|global| global.initializer.as_ref());
    initializers.flat_map(|Initializer { addresses, .. }| addresses).for_each(|(_, operand)| take(operand));
    let symbols: BTreeSet<&str> = program.map.callables.values().map(|callable| callable.symbol.as_str()).collect();
    let named = program.code.functions.iter().filter(|(_, function)| symbols.contains(function.name.as_str()));
    taken.extend(named.map(|(id, _)| id));
    taken.into_iter().collect()
}

/// What tells states of one block apart: the constants and objects that registers hold.
type Key = Vec<(RegisterId, Token)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Token {
    Constant(u64),
    Object(ObjectId),
}

type States = BTreeMap<Key, State>;

/// One interpretation of one function.
pub(crate) struct Run<'i, 'p> {
    pub interpreter: &'i mut Interpreter<'p>,
    pub id: CodeFunctionId,
    pub function: &'p Function,
    pub layout: Rc<Layout>,
    pub code: &'p Code,
    /// Where the last pass notes what it sees.
    pub observed: Option<Observed>,
    entry: State,
    states: IdVec<BlockId, States>,
    /// What each edge brings, by its block and number.
    arriving: IdVec<BlockId, BTreeMap<(BlockId, usize), States>>,
    visits: IdVec<BlockId, u32>,
    /// Blocks with too many states: they have one.
    crowded: BTreeSet<BlockId>,
    exits: BTreeMap<BlockId, Vec<Exit>>,
}

impl<'i, 'p> Run<'i, 'p> {
    fn new(
        interpreter: &'i mut Interpreter<'p>,
        id: CodeFunctionId,
        function: &'p Function,
        layout: Rc<Layout>,
        entry: State,
    ) -> Self {
        Run {
            code: interpreter.code,
            interpreter,
            id,
            function,
            layout,
            observed: None,
            entry,
            states: function.blocks.ids().map(|_| States::new()).collect(),
            arriving: function.blocks.ids().map(|_| BTreeMap::new()).collect(),
            visits: function.blocks.ids().map(|_| 0).collect(),
            crowded: BTreeSet::new(),
            exits: BTreeMap::new(),
        }
    }

    fn run(mut self) -> Found<Outcome> {
        self.ascend()?;
        for pass in 0..DESCENDING {
            if pass + 1 == DESCENDING {
                self.observed = Some(Observed::default());
            }
            for block in Rc::clone(&self.layout).blocks.iter() {
                self.states[*block] = self.merged(*block);
                self.follow(*block)?;
            }
        }
        let exits = std::mem::take(&mut self.exits).into_values().flatten().collect();
        Ok(Outcome { exits: self.distinguished(exits), observed: self.observed.unwrap_or_default() })
    }

    /// Until nothing changes: always the first block in the order that has something new.
    fn ascend(&mut self) -> Found<()> {
        let layout = Rc::clone(&self.layout);
        let mut open = BTreeSet::from([layout.order.position[BlockId(0)]]);
        while let Some(position) = open.pop_first() {
            let block = layout.blocks[position as usize];
            let mut states = self.merged(block);
            self.visits[block] += 1;
            if layout.is_head(block) {
                states = self.widened(block, states);
            }
            if self.visits[block] > 1 && states == self.states[block] {
                continue;
            }
            self.states[block] = states;
            let changed = self.follow(block)?;
            open.extend(changed.into_iter().map(|target| layout.order.position[target]));
        }
        Ok(())
    }

    fn merged(&mut self, block: BlockId) -> States {
        let mut arriving: Vec<(Key, State)> = Vec::new();
        for states in self.arriving[block].values() {
            arriving.extend(states.iter().map(|(key, state)| (key.clone(), state.clone())));
        }
        if block == BlockId(0) {
            arriving.push((Key::new(), self.entry.clone()));
        }
        self.grouped(block, arriving)
    }

    /// One state for each key, or one for all if there are too many.
    fn grouped(&mut self, block: BlockId, states: Vec<(Key, State)>) -> States {
        let mut grouped = States::new();
        for (key, state) in states {
            let key = if self.crowded.contains(&block) { Key::new() } else { key };
            let joined = grouped.get(&key).map_or_else(|| state.clone(), |old| old.join(self.code, &state));
            grouped.insert(key, joined);
        }
        if grouped.len() > self.interpreter.most_states {
            self.crowded.insert(block);
            let all = grouped.into_values().map(|state| (Key::new(), state)).collect();
            return self.grouped(block, all);
        }
        grouped
    }

    fn widened(&mut self, block: BlockId, next: States) -> States {
        let visits = self.visits[block];
        let none = Thresholds::default();
        let thresholds = match visits {
            WIDENED_TO_THE_END_FROM.. => &none,
            _ => &self.layout.thresholds,
        };
        let old = &self.states[block];
        let crowded = self.crowded.contains(&block);
        let mut widened = if crowded && !old.contains_key(&Key::new()) { States::new() } else { old.clone() };
        for (key, state) in next {
            let state = match widened.get(&key) {
                None => state,
                Some(old) if visits < WIDENED_FROM => old.join(self.code, &state),
                Some(old) => old.widen(self.code, &state, thresholds),
            };
            widened.insert(key, state);
        }
        if widened.len() > self.interpreter.most_states {
            let all = widened.into_iter().collect();
            return self.grouped(block, all);
        }
        widened
    }

    /// Interprets a block; says which blocks get something else from it than before.
    fn follow(&mut self, block: BlockId) -> Found<Vec<BlockId>> {
        let states: Vec<State> = self.states[block].values().cloned().collect();
        // A state is copied for each edge.
        let size: usize = states.iter().map(|state| state.registers.len() + state.memory.len() + 1).sum();
        self.interpreter.spend(size as u64)?;
        let (leaving, exits) = self.block(block, states)?;
        self.exits.insert(block, exits);
        let mut by_edge: BTreeMap<usize, Vec<(Key, State)>> = BTreeMap::new();
        let edges = self.function.blocks[block].terminator.edges();
        for (edge, mut state) in leaving {
            let live = &self.layout.live[edges[edge].target];
            state.keep(|register| live.contains(&register));
            let key = self.key(&state);
            by_edge.entry(edge).or_default().push((key, state));
        }
        let mut changed = Vec::new();
        for (index, edge) in edges.iter().enumerate() {
            let states = by_edge.remove(&index).unwrap_or_default();
            let states = self.grouped(edge.target, states);
            if self.arriving[edge.target].get(&(block, index)) != Some(&states) {
                self.arriving[edge.target].insert((block, index), states);
                changed.push(edge.target);
            }
        }
        Ok(changed)
    }

    fn key(&self, state: &State) -> Key {
        let telling = |(register, value): (&RegisterId, &Value)| {
            let telling = self.layout.telling.contains(register);
            telling.then(|| token(value)).flatten().map(|token| (*register, token))
        };
        state.registers.iter().filter_map(telling).collect()
    }

    /// One exit for each constant that is returned.
    fn distinguished(&self, exits: Vec<Exit>) -> Vec<Exit> {
        let mut by_token: BTreeMap<Option<Token>, Exit> = BTreeMap::new();
        let count = exits.len();
        let tokens: BTreeSet<Option<Token>> = exits.iter().map(|exit| exit.results.first().and_then(token)).collect();
        let crowded = count > 1 && tokens.len() > self.interpreter.most_states;
        for mut exit in exits {
            exit.memory.leave(self.id);
            let token = exit.results.first().and_then(token).filter(|_| !crowded);
            let joined = match by_token.remove(&token) {
                None => exit,
                Some(old) => Exit {
                    results: old.results.iter().zip(&exit.results).map(|(old, new)| old.join(new)).collect(),
                    memory: old.memory.join(self.code, &exit.memory),
                },
            };
            by_token.insert(token, joined);
        }
        by_token.into_values().collect()
    }
}

fn token(value: &Value) -> Option<Token> {
    let constant = value.number.as_constant().map(Token::Constant);
    constant.or_else(|| value.single_target().map(|(object, _)| Token::Object(object)))
}
