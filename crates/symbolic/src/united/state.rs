//! One of the states that are followed at once: what an executor works on, set aside.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use branchwise_constraints::{Model, TermId};
use branchwise_program::{CodeFunctionId, FeedId, FunctionId, RegisterId};

use crate::executor::{Executor, Touchable, Touched};
use crate::frames::Frame;
use crate::inputs::ShapeId;
use crate::memory::Memory;
use crate::path::Notes;
use crate::registers::Registers;
use crate::streams::Streams;
use crate::value::{ObjectId, Value};
use crate::varargs::VariableArguments;

/// A state of the program and the inputs that lead there.
#[derive(Clone)]
pub(super) struct State<'p> {
    /// What an input must satisfy to get here, beside the domain of all inputs. States that are followed at the same time
    /// exclude each other.
    pub condition: Vec<TermId>,
    /// An input that gets here, where one is known.
    pub witness: Option<Rc<Model>>,
    /// Registers of the innermost frame that decide what follows: the results of a function that returns, the condition
    /// of the next branch.
    pub deciding: Vec<RegisterId>,
    /// A loop begins anew.
    pub again: bool,
    pub memory: Memory,
    pub frames: Vec<Frame<'p>>,
    pub registers: Vec<Value>,
    pub decided: HashMap<TermId, bool>,
    pub shape_objects: HashMap<ShapeId, ObjectId>,
    pub function_objects: HashMap<CodeFunctionId, ObjectId>,
    pub filled: HashSet<ShapeId>,
    pub overwritten: HashSet<ObjectId>,
    pub freed: HashSet<ObjectId>,
    pub touched: BTreeMap<Touchable, Touched>,
    pub feeds_taken: BTreeMap<FeedId, u32>,
    pub stub_calls: BTreeMap<usize, u32>,
    pub asked: usize,
    pub registers_used: Registers,
    pub calls: Vec<FunctionId>,
    pub input: Streams,
    pub opened: Vec<ObjectId>,
    pub closed: Vec<ObjectId>,
    pub wrote_files: bool,
    pub notes: Notes,
    pub variable_arguments: BTreeMap<usize, VariableArguments>,
    pub instructions: u64,
}

impl<'p> Executor<'_, 'p> {
    /// Sets the present state aside.
    pub(super) fn set_aside(&mut self, witness: Option<Rc<Model>>) -> State<'p> {
        let condition = self.union.as_mut().map_or(Vec::new(), |union| std::mem::take(&mut union.condition));
        let depth = self.frames.len();
        self.variable_arguments.retain(|&callee, _| callee < depth);
        State {
            condition,
            witness,
            deciding: Vec::new(),
            again: false,
            memory: std::mem::replace(&mut self.memory, Memory::new()),
            frames: self.frames.to_vec(),
            registers: self.registers[..self.top].to_vec(),
            decided: std::mem::take(&mut self.decided),
            shape_objects: std::mem::take(&mut self.shape_objects),
            function_objects: std::mem::take(&mut self.function_objects),
            filled: std::mem::take(&mut self.filled),
            overwritten: std::mem::take(&mut self.overwritten),
            freed: std::mem::take(&mut self.freed),
            touched: std::mem::take(&mut self.touched),
            feeds_taken: std::mem::take(&mut self.feeds_taken),
            stub_calls: std::mem::take(&mut self.stub_calls),
            asked: self.asked,
            registers_used: std::mem::take(&mut self.registers_used),
            calls: std::mem::take(&mut self.calls),
            input: std::mem::take(&mut self.input),
            opened: std::mem::take(&mut self.opened),
            closed: std::mem::take(&mut self.closed),
            wrote_files: self.wrote_files,
            notes: std::mem::take(&mut self.notes),
            variable_arguments: std::mem::take(&mut self.variable_arguments),
            instructions: self.instructions,
        }
    }

    /// Goes on with a state; hands back its witness, of which the executor knows nothing.
    pub(super) fn go_on_with(&mut self, state: State<'p>) -> Option<Rc<Model>> {
        if let Some(union) = &mut self.union {
            union.condition = state.condition;
        }
        self.top = state.registers.len();
        if self.registers.len() < self.top {
            self.registers.resize(self.top, Value::Undefined);
        }
        self.registers[..self.top].copy_from_slice(&state.registers);
        self.base = state.frames.last().map_or(0, |frame| frame.base);
        self.frames.replace(state.frames);
        self.memory = state.memory;
        self.decided = state.decided;
        self.shape_objects = state.shape_objects;
        self.function_objects = state.function_objects;
        self.filled = state.filled;
        self.overwritten = state.overwritten;
        self.freed = state.freed;
        self.touched = state.touched;
        self.feeds_taken = state.feeds_taken;
        self.stub_calls = state.stub_calls;
        self.asked = state.asked;
        self.registers_used = state.registers_used;
        self.calls = state.calls;
        self.input = state.input;
        self.opened = state.opened;
        self.closed = state.closed;
        self.wrote_files = state.wrote_files;
        self.notes = state.notes;
        self.variable_arguments = state.variable_arguments;
        self.instructions = state.instructions;
        self.outputs.clear();
        state.witness
    }
}
