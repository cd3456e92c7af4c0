//! What all paths of one unit under test share.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use branchwise_constraints::{Exclusions, MathFunction, Model, TermId, Terms, VariableId};
use branchwise_program::assumption::{Accepted, KnownAssumption};
use branchwise_program::code::{Code, Global, Initializer, Operand};
use branchwise_program::graph::CodeIndex;
use branchwise_program::library::left_open::LeftOpen;
use branchwise_program::library::otherwise::{LibraryCall, looks_at_errno};
use branchwise_program::map::{ChangedPlace, Event, Language, Stub};
use branchwise_program::{CodeFunctionId, FunctionId, GlobalId, Id, IdVec, MarkerId, Program};

use crate::changes::{Change, StubCall, changeable};
use crate::executor::Executor;
use crate::inputs::{InputSpace, ShapeId};
use crate::memory::{Contents, Memory, Origin};
use crate::path::Path;
use crate::plain::Decoded;
use crate::possible::Undefined;
use crate::streams::StreamVariables;
use crate::value::{ObjectId, Pointer, Value};

mod garbage;
mod state;
mod successors;

use state::CallGraph;
pub(crate) use successors::Successors;

/// Calls before the one under test go to so many functions at most: more make more sequences than anyone can try.
const MOST_CALLERS: usize = 16;

/// How the names of the functions begin that check preconditions.
const CHECK_PREFIX: &str = "__bw_pre_";

/// What runs all constructors, once.
const START: &str = "__bw_start";

/// What the model of `operator new` asks first.
const NEW_FAILS: &str = "__bw_new_fails";

/// Bounds of one run.
#[derive(Debug, Copy, Clone)]
pub struct RunLimits<'a> {
    pub instructions: u64,
    /// Iterations of one loop whose end was open.
    pub loop_iterations: u64,
    pub call_depth: u64,
    /// Terms of the session, those of earlier runs included: what bounds its memory.
    pub terms: usize,
    /// Bytes and numbers of standard input, and of every stream that a test gives.
    pub standard_input: u64,
    pub interrupt: &'a AtomicBool,
}

/// The terms, inputs and initial memory of one unit under test.
pub struct Session<'p> {
    pub program: &'p Program,
    pub function: FunctionId,
    pub terms: Terms,
    pub inputs: InputSpace,
    pub(crate) exclusions: Exclusions,
    /// Elements that a pointer input may point to at most.
    pub pointer_elements: u64,
    /// Calls that a test makes at most on an object which it gives.
    pub object_calls: u32,
    pub undefined: Undefined,
    pub(crate) shared: Prepared<'p>,
    /// Paths tell also of so many decisions that follow from what markers told of before.
    pub most_repeated: usize,
    /// How many calls a test makes before the one under test.
    pub(crate) calls_before: u32,
    /// The functions that those calls may go to: they write state that the unit looks at.
    pub(crate) callers_of_state: Rc<[FunctionId]>,
    /// There are more such functions than this, which are all that those calls go to.
    pub(crate) cut_callers: Option<u64>,
    call_choices: Vec<TermId>,
    pub(crate) stream_variables: StreamVariables,
    /// By call, place, bytes and whether they are a truth: what stubs change.
    pub(crate) changes: BTreeMap<(StubCall, ChangedPlace, u64, bool), Change>,
    pub(crate) garbage: Vec<TermId>,
    garbage_variables: HashSet<VariableId>,
    concrete_values: HashMap<TermId, Vec<u128>>,
    /// How many garbage variables the current run has used.
    pub(crate) garbage_used: usize,
    /// The current run used the number of an address.
    pub(crate) looks_at_addresses: bool,
    /// Terms are about functions of `math.h` that other libraries compute otherwise.
    pub(crate) asks_mathematics: bool,
    /// By term, which of them.
    pub(crate) known_mathematics: HashMap<TermId, BTreeSet<MathFunction>>,
    /// Room for the frames of a run, kept from one to the next.
    pub(crate) registers: Vec<Value>,
}

/// Functions that some path has entered.
type DecodedTable = IdVec<CodeFunctionId, Option<Rc<Decoded>>>;

/// What all sessions of one program and thread share, worked out once: its cost grows with the whole program, while that
/// of a session shall grow with the function alone.
#[derive(Clone)]
pub struct Prepared<'p> {
    program: &'p Program,
    drivers: Rc<HashMap<&'p str, CodeFunctionId>>,
    /// The initial memory.
    pub(crate) image: Memory,
    decoded: Rc<RefCell<DecodedTable>>,
    calls: Rc<OnceCell<CallGraph>>,
    code_index: Rc<OnceCell<Rc<CodeIndex>>>,
    pub(crate) map_functions: Rc<IdVec<CodeFunctionId, Option<FunctionId>>>,
    /// Which functions are generated to check preconditions.
    pub(crate) preconditions: Rc<IdVec<CodeFunctionId, bool>>,
    pub(crate) successors: Rc<RefCell<Successors>>,
    /// The objects of standard input, output and error, where the program names them.
    streams: Rc<[(ObjectId, Stream)]>,
    /// The user's code asks for `errno`.
    pub(crate) looks_at_errno: bool,
    /// Library functions whose calls are more than their models.
    pub(crate) library_calls: Rc<BTreeMap<CodeFunctionId, LibraryCall>>,
    /// Where the code looks at what the standard leaves open of their results.
    pub(crate) left_open: Rc<LeftOpen>,
    /// Generated functions that stand for what nobody defines.
    pub(crate) stubs: Rc<IdVec<CodeFunctionId, bool>>,
    /// Somebody may jump back to a `setjmp`.
    pub(crate) may_jump: bool,
    /// The program installs handlers of signals.
    pub(crate) handles_signals: bool,
    /// What runs all constructors.
    pub(crate) start: Option<CodeFunctionId>,
    /// Those of them that stand for functions which may do what no feed says.
    interfering: Rc<HashMap<CodeFunctionId, &'p Stub>>,
    /// Those that stand for other functions of the C library.
    of_library: Rc<HashMap<CodeFunctionId, &'p Stub>>,
    /// By their functions, the numbers of stubs in the map.
    stub_numbers: Rc<HashMap<CodeFunctionId, usize>>,
    /// What the user states: tests do not let stubs do otherwise.
    accepted: Rc<Accepted>,
    /// The variables that stubs can change, with how tests name them.
    pub(crate) variables: Rc<[(ChangedPlace, GlobalId)]>,
    /// For each global, whether its address may be known to others.
    pub(crate) escaping: Rc<IdVec<GlobalId, bool>>,
    /// Variables with values that code computes before anything else runs.
    pub(crate) computed_at_start: Rc<BTreeSet<GlobalId>>,
    /// The program allocates objects by `operator new` of the library.
    allocates_objects: bool,
    /// Worked out when it is first asked for.
    reacts_to_exceptions: Rc<OnceCell<bool>>,
}

impl<'p> Prepared<'p> {
    pub fn new(program: &'p Program) -> Self {
        let by_name = program.code.functions.iter().map(|(id, function)| (function.name.as_str(), id));
        let decoded: DecodedTable = program.code.functions.ids().map(|_| None).collect();
        let mut image = initial_memory(&program.code);
        let streams = open_streams(&mut image, &program.code).into();
        let left_open = LeftOpen::of(program);
        Prepared {
            program,
            drivers: Rc::new(by_name.collect()),
            image,
            streams,
            looks_at_errno: looks_at_errno(&program.code),
            library_calls: Rc::new(program.library_calls(&left_open)),
            left_open: Rc::new(left_open),
            stubs: Rc::new(stubs(program)),
            may_jump: program.may_jump_back(),
            handles_signals: program.handles_signals(),
            start: program.code.function_named(START),
            interfering: Rc::new(stubs_where(program, |stub| program.map.may_interfere(stub))),
            of_library: Rc::new(stubs_where(program, |stub| stub.is_of_library() && !program.map.may_interfere(stub))),
            stub_numbers: Rc::new(stub_numbers(program)),
            accepted: Rc::default(),
            variables: changeable(program).into(),
            escaping: Rc::new(state::escaping_globals(&program.code)),
            computed_at_start: Rc::new(state::computed_at_start(&program.code)),
            allocates_objects: program.code.function_named(NEW_FAILS).is_some(),
            reacts_to_exceptions: Rc::default(),
            decoded: Rc::new(RefCell::new(decoded)),
            calls: Rc::default(),
            code_index: Rc::default(),
            map_functions: Rc::new(map_functions(program)),
            preconditions: Rc::new(preconditions(&program.code)),
            successors: Rc::new(RefCell::new(Successors::new(&program.map))),
        }
    }

    /// The same, where the user accepts assumptions.
    pub fn accepting(self, accepted: &Accepted) -> Self {
        Prepared { accepted: Rc::new(accepted.clone()), ..self }
    }

    /// Tells whether a test may let a stub do what an assumption says that nobody does.
    pub(crate) fn is_open(&self, stub: usize, known: KnownAssumption) -> bool {
        let subject = self.program.map.stubs[stub].subject();
        !self.accepted.judged(known.about(subject)).accepted
    }

    /// The stub that a function is, where what it stands for may do what no feed says.
    pub(crate) fn interfering(&self, function: CodeFunctionId) -> Option<&'p Stub> {
        self.interfering.get(&function).copied()
    }

    /// The same, where that is a function of the C library.
    pub(crate) fn of_library(&self, function: CodeFunctionId) -> Option<&'p Stub> {
        self.of_library.get(&function).copied()
    }

    pub(crate) fn stub_number(&self, function: CodeFunctionId) -> Option<usize> {
        self.stub_numbers.get(&function).copied()
    }

    /// Whether code of other files may run in the middle of a call.
    pub(crate) fn can_be_interrupted(&self) -> bool {
        self.allocates_objects || !self.interfering.is_empty()
    }

    /// Tells whether outcomes can be taken, or the program goes on otherwise, because `new` threw an exception.
    pub fn reacts_to_exceptions(&self) -> bool {
        *self.reacts_to_exceptions.get_or_init(|| self.program.reacts_to_exceptions())
    }

    pub(crate) fn driver_of(&self, function: FunctionId) -> Option<CodeFunctionId> {
        let driver = self.program.map.functions[function].driver.as_ref().ok()?;
        self.drivers.get(driver.as_str()).copied()
    }

    /// `None` if the function has no driver.
    pub fn session(&self, function: FunctionId, pointer_elements: u64) -> Option<Session<'p>> {
        self.driver_of(function)?;
        Some(Session {
            program: self.program,
            function,
            terms: Terms::new(),
            inputs: InputSpace::default(),
            exclusions: Exclusions::default(),
            pointer_elements,
            object_calls: 0,
            changes: BTreeMap::new(),
            undefined: Undefined::default(),
            shared: self.clone(),
            most_repeated: 0,
            calls_before: 0,
            callers_of_state: Rc::from([]),
            cut_callers: None,
            call_choices: Vec::new(),
            stream_variables: StreamVariables::default(),
            garbage: Vec::new(),
            garbage_variables: HashSet::new(),
            concrete_values: HashMap::new(),
            garbage_used: 0,
            looks_at_addresses: false,
            asks_mathematics: false,
            known_mathematics: HashMap::new(),
            registers: Vec::new(),
        })
    }
}

impl<'p> Session<'p> {
    /// `None` if the function has no driver. For many functions of one program use [`Prepared::session`].
    pub fn new(program: &'p Program, function: FunctionId, pointer_elements: u64) -> Option<Self> {
        Prepared::new(program).session(function, pointer_elements)
    }

    /// Tests make so many calls before the one under test, to functions that write state that the unit looks at. No
    /// such function: no such calls.
    pub fn with_calls_before(mut self, calls: u32) -> Self {
        let mut callers = if calls == 0 { Vec::new() } else { self.writers_of_state() };
        self.cut_callers = (callers.len() > MOST_CALLERS).then_some(MOST_CALLERS as u64);
        callers.truncate(MOST_CALLERS);
        self.callers_of_state = callers.into();
        self.calls_before = if self.callers_of_state.is_empty() { 0 } else { calls };
        self
    }

    /// A session on the same unit with tests of the same kind, in which nothing is known yet. `None` never, as this one has
    /// its driver.
    pub fn afresh(&self, pointer_elements: u64) -> Option<Session<'p>> {
        let mut session = self.shared.session(self.function, pointer_elements)?;
        session.inputs.sharing = self.inputs.sharing.clone();
        (session.object_calls, session.undefined) = (self.object_calls, self.undefined);
        Some(session.with_calls_before(self.calls_before))
    }

    fn writers_of_state(&self) -> Vec<FunctionId> {
        let graph = self.shared.calls.get_or_init(|| CallGraph::of(&self.program.code));
        graph.writers_of_state(self.program, self.function, &self.shared.map_functions)
    }

    /// Where markers stand in the code.
    pub fn code_index(&self) -> &Rc<CodeIndex> {
        self.shared.code_index.get_or_init(|| Rc::new(CodeIndex::of(&self.program.code)))
    }

    /// The function of the map that code belongs to.
    pub fn map_function(&self, function: CodeFunctionId) -> Option<FunctionId> {
        self.shared.map_functions[function]
    }

    /// Whether anybody but the driver looks at what a function returns, or the driver does more than hand it out.
    pub fn results_matter(&self, function: CodeFunctionId) -> bool {
        let handed_out = self.map_function(function) == Some(self.function)
            && self.program.map.functions[self.function].language == Language::C;
        let driver = self.shared.driver_of(self.function);
        !(handed_out && driver.is_some_and(|driver| self.code_index().only_caller(driver, function)))
    }

    /// Whether a call before the one under test can change the state that the unit looks at.
    pub fn state_has_writers(&self) -> bool {
        self.calls_before > 0 || !self.writers_of_state().is_empty()
    }

    /// How many calls a test makes before the one under test.
    pub fn calls_before(&self) -> u32 {
        self.calls_before
    }

    /// The variable that decides which function the call with this number goes to.
    pub(crate) fn call_choice(&mut self, number: u32) -> TermId {
        while self.call_choices.len() <= number as usize {
            let term = self.terms.variable(&format!("call {}", self.call_choices.len() + 1), 8);
            self.call_choices.push(term);
        }
        self.call_choices[number as usize]
    }

    /// Executes the path that the model's inputs take.
    pub fn run(&mut self, model: &Model, limits: &RunLimits<'_>) -> Path {
        self.garbage_used = 0;
        self.looks_at_addresses = false;
        Executor::new(self, model, limits).run()
    }

    pub(crate) fn stream_of(&self, object: ObjectId) -> Option<Stream> {
        self.shared.streams.iter().find(|(stream, _)| *stream == object).map(|(_, stream)| *stream)
    }

    pub(crate) fn decoded(&mut self, function: CodeFunctionId) -> Rc<Decoded> {
        let mut table = self.shared.decoded.borrow_mut();
        Rc::clone(
            table[function]
                .get_or_insert_with(|| Rc::new(Decoded::with(self.program, &self.shared.library_calls, function))),
        )
    }

    /// A value that nobody wrote: a variable that no test can set. Runs use the same ones in the same order.
    pub(crate) fn garbage(&mut self, width: u32) -> TermId {
        let found =
            (self.garbage_used..self.garbage.len()).find(|&index| self.terms.width(self.garbage[index]) == width);
        if let Some(index) = found {
            self.garbage.swap(index, self.garbage_used);
        } else {
            let term = self.terms.variable("uninitialised", width);
            self.garbage_variables.extend(self.terms.variable_id(term));
            self.garbage.push(term);
            let last = self.garbage.len() - 1;
            self.garbage.swap(last, self.garbage_used);
        }
        self.garbage_used += 1;
        self.garbage[self.garbage_used - 1]
    }

    /// Whether the map has a way from an event to a marker of the same activation.
    #[inline]
    pub(crate) fn map_allows(&mut self, function: FunctionId, after: Option<Event>, marker: MarkerId) -> bool {
        self.shared.successors.borrow_mut().allows(&self.program.map, function, after, marker)
    }

    /// Whether the value of a term depends on bits that nobody wrote.
    pub(crate) fn is_garbage(&self, term: TermId) -> bool {
        garbage::depends_on(&self.terms, &self.garbage_variables, term)
    }

    /// The constant to compare a term with when its value must be known: the `index`-th that this session tried, or a
    /// new one. A fixed order makes the questions at one point of the tree the same in every run.
    pub(crate) fn concrete_value(&mut self, term: TermId, index: usize, value: u128) -> u128 {
        let tried = self.concrete_values.entry(term).or_default();
        if index == tried.len() {
            tried.push(value);
        }
        tried[index]
    }
}

fn map_functions(program: &Program) -> IdVec<CodeFunctionId, Option<FunctionId>> {
    let by_symbol: HashMap<&str, FunctionId> = program
        .map
        .functions
        .iter()
        .flat_map(|(id, function)| function.symbols().map(move |name| (name, id)))
        .collect();
    program.code.functions.values().map(|function| by_symbol.get(function.name.as_str()).copied()).collect()
}

fn preconditions(code: &Code) -> IdVec<CodeFunctionId, bool> {
    code.functions.values().map(|function| function.name.starts_with(CHECK_PREFIX)).collect()
}

/// Bytes of a `FILE`, which nobody looks into.
pub(crate) const FILE_SIZE: u64 = 216;

/// The streams that every program has, and those that a test gives.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Stream {
    Input,
    Output,
    Error,
    Given(ShapeId),
}

/// The C library's variables `stdin`, `stdout` and `stderr` and what they point to.
fn open_streams(memory: &mut Memory, code: &Code) -> Vec<(ObjectId, Stream)> {
    let names = [("stdin", Stream::Input), ("stdout", Stream::Output), ("stderr", Stream::Error)];
    let mut streams = Vec::new();
    for (name, stream) in names {
        let declared = |(_, global): &(GlobalId, &Global)| global.name == name && global.initializer.is_none();
        let Some((id, _)) = code.globals.iter().find(declared) else { continue };
        let object = memory.allocate(FILE_SIZE, 16, Origin::Stack, Contents::Uninitialised);
        if let Some(variable) = memory.get_mut(global_object(id)) {
            // It is defined elsewhere, but what it holds is known.
            variable.origin = Origin::Stack;
            variable.put_pointer(0, Value::Pointer(Pointer { object, offset: 0 }));
        }
        streams.push((object, stream));
    }
    streams
}

fn stubs(program: &Program) -> IdVec<CodeFunctionId, bool> {
    let symbols: HashSet<&str> = program.map.stubs.iter().map(|stub| stub.symbol.as_str()).collect();
    program.code.functions.values().map(|function| symbols.contains(function.name.as_str())).collect()
}

fn stub_numbers(program: &Program) -> HashMap<CodeFunctionId, usize> {
    let numbers = program.map.stubs.iter().enumerate();
    let numbers: HashMap<&str, usize> = numbers.rev().map(|(number, stub)| (stub.symbol.as_str(), number)).collect();
    let functions = program.code.functions.iter();
    functions.filter_map(|(id, function)| Some((id, *numbers.get(function.name.as_str())?))).collect()
}

fn stubs_where(program: &Program, holds: impl Fn(&Stub) -> bool) -> HashMap<CodeFunctionId, &Stub> {
    let ids = program.code.functions.ids();
    ids.filter_map(|function| Some((function, program.stub(function).filter(|stub| holds(stub))?))).collect()
}

/// The object of a global has the global's number.
pub(crate) fn global_object(id: GlobalId) -> ObjectId {
    ObjectId(id.index() as u32)
}

fn initial_memory(code: &Code) -> Memory {
    let mut memory = Memory::new();
    let written = state::written_globals(code);
    for (id, global) in code.globals.iter() {
        allocate_global(&mut memory, id, global, written[id]);
    }
    for (id, global) in code.globals.iter() {
        if let Some(initializer) = &global.initializer {
            initialise(&mut memory, global_object(id), initializer);
        }
        if let Some(object) = memory.get_mut(global_object(id)) {
            object.writable = !global.constant;
        }
    }
    memory
}

fn allocate_global(memory: &mut Memory, id: GlobalId, global: &Global, written: bool) {
    // What a function does never depends on the runtime's own data.
    let state = !global.constant && (written || global.elsewhere) && !global.name.starts_with("__bw_own_");
    let contents = if global.initializer.is_some() { Contents::Zero } else { Contents::Uninitialised };
    let object = memory.allocate(global.size, global.alignment, Origin::Global { id, state }, contents);
    memory.set_padding(object, &global.padding);
    if !global.outside.may_be.is_empty() {
        memory.set_other_names(object);
    }
}

fn initialise(memory: &mut Memory, object: ObjectId, initializer: &Initializer) {
    let Some(target) = memory.get_mut(object) else { return };
    target.write_bytes(0, &initializer.bytes);
    for (offset, operand) in &initializer.addresses {
        let value = match operand {
            Operand::Global(id, at) => Value::Pointer(Pointer { object: global_object(*id), offset: *at as u64 }),
            Operand::Function(id) => Value::Function(*id),
            _ => continue,
        };
        target.put_pointer(*offset, value);
    }
}
