//! What all paths of one unit under test share.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use branchwise_constraints::{Model, TermId, Terms, VariableId};
use branchwise_program::code::{Code, Global, Initializer, Operand};
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, FunctionId, GlobalId, Id, IdVec, MarkerId, Program};

use crate::executor::Executor;
use crate::inputs::InputSpace;
use crate::loops::LoopExits;
use crate::memory::{Contents, Memory, Origin};
use crate::path::Path;
use crate::value::{ObjectId, Pointer, Value};

mod garbage;
mod state;
mod successors;

use successors::Successors;

/// Bounds of one run.
#[derive(Debug, Copy, Clone)]
pub struct RunLimits<'a> {
    pub instructions: u64,
    /// Iterations of one loop whose end was open.
    pub loop_iterations: u64,
    pub call_depth: u64,
    pub interrupt: &'a AtomicBool,
}

/// The terms, inputs and initial memory of one unit under test.
pub struct Session<'p> {
    pub program: &'p Program,
    pub function: FunctionId,
    pub terms: Terms,
    pub inputs: InputSpace,
    /// Elements that a pointer input may point to at most.
    pub pointer_elements: u64,
    pub(crate) image: Memory,
    pub(crate) loops: IdVec<CodeFunctionId, Option<Rc<LoopExits>>>,
    pub(crate) map_functions: IdVec<CodeFunctionId, Option<FunctionId>>,
    /// Generated functions that stand for what nobody defines.
    pub(crate) stubs: IdVec<CodeFunctionId, bool>,
    driver: CodeFunctionId,
    garbage: Vec<TermId>,
    garbage_variables: HashSet<VariableId>,
    concrete_values: HashMap<TermId, Vec<u128>>,
    successors: Successors,
    /// How many garbage variables the current run has used.
    pub(crate) garbage_used: usize,
    /// The current run used the number of an address.
    pub(crate) looks_at_addresses: bool,
}

impl<'p> Session<'p> {
    /// `None` if the function has no driver.
    pub fn new(program: &'p Program, function: FunctionId, pointer_elements: u64) -> Option<Self> {
        let driver = program.map.functions[function].driver.as_ref().ok()?;
        let driver = program.code.function_named(driver)?;
        Some(Session {
            program,
            function,
            terms: Terms::new(),
            inputs: InputSpace::default(),
            pointer_elements,
            image: initial_memory(&program.code),
            loops: program.code.functions.ids().map(|_| None).collect(),
            map_functions: map_functions(program),
            stubs: stubs(program),
            driver,
            garbage: Vec::new(),
            garbage_variables: HashSet::new(),
            concrete_values: HashMap::new(),
            successors: Successors::new(&program.map),
            garbage_used: 0,
            looks_at_addresses: false,
        })
    }

    /// Executes the path that the model's inputs take.
    pub fn run(&mut self, model: &Model, limits: &RunLimits<'_>) -> Path {
        self.garbage_used = 0;
        self.looks_at_addresses = false;
        let driver = self.driver;
        Executor::new(self, model, limits).run(driver)
    }

    pub(crate) fn loop_exits(&mut self, function: CodeFunctionId) -> Rc<LoopExits> {
        let code = &self.program.code.functions[function];
        self.loops[function].get_or_insert_with(|| Rc::new(LoopExits::of(code))).clone()
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
    pub(crate) fn map_allows(&mut self, function: FunctionId, after: Option<Event>, marker: MarkerId) -> bool {
        self.successors.allows(&self.program.map, function, after, marker)
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
    let by_symbol: HashMap<&str, FunctionId> =
        program.map.functions.iter().map(|(id, function)| (function.symbol.as_str(), id)).collect();
    program.code.functions.values().map(|function| by_symbol.get(function.name.as_str()).copied()).collect()
}

fn stubs(program: &Program) -> IdVec<CodeFunctionId, bool> {
    let symbols: HashSet<&str> = program.map.stubs.iter().map(|stub| stub.symbol.as_str()).collect();
    program.code.functions.values().map(|function| symbols.contains(function.name.as_str())).collect()
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
    let state = !global.constant && written;
    let contents = if global.initializer.is_some() { Contents::Zero } else { Contents::Uninitialised };
    memory.allocate(global.size, global.alignment, Origin::Global { id, state }, contents);
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
