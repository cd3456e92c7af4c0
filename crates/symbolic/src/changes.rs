//! What functions that nobody defines write beside what their feeds say, explored: variables that others can name, errno,
//! and what their arguments lead to.
//!
//! Nothing is chosen at the call. A path that reads a byte which such a call may have written asks there for a value of the
//! test: the byte may be what it was, or anything else. The stub of the test then writes it in that call. So what is never
//! read costs nothing. Pointers are not written so, and where a place has no name that a test could use, the path rests on an
//! assumption instead ([`crate::outside`]).

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use branchwise_constraints::{CompareOp as TermCompare, TermId};
use branchwise_program::RegisterId;
use branchwise_program::assumption::catalogue::{
    CALLEES_DO_NOT_CALL_BACK, CALLEES_LEAVE_GLOBALS, CALLEES_WRITE_ONE_LEVEL,
};
use branchwise_program::code::{Cast, CastOp, Compare, CompareOp, Function, Instruction, Operand};
use branchwise_program::map::ChangedPlace;

use crate::executor::Executor;
use crate::memory::Origin;
use crate::outside::{Mark, Way};
use crate::session::global_object;
use crate::value::{ObjectId, Pointer, Value};

/// A call of a stub: of one with this number in the map, which so many others came before.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StubCall {
    pub stub: usize,
    pub calls_before: u32,
}

/// A value that a stub may write.
#[derive(Debug, Clone)]
pub struct Change {
    pub call: StubCall,
    pub place: ChangedPlace,
    pub bytes: u64,
    /// 1 bit: it does. `None`: always, since nobody has written there before.
    pub happens: Option<TermId>,
    pub value: TermId,
}

/// How a call comes to the first byte of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Access {
    call: StubCall,
    start: ChangedPlace,
}

/// A way from an argument to the start of an object, as in [`ChangedPlace::Argument`].
struct Steps {
    object: ObjectId,
    number: u64,
    offsets: Vec<i64>,
}

impl Steps {
    /// On through a pointer that stands at this offset of the object.
    fn on(&self, at: u64, target: Pointer) -> Steps {
        let mut offsets = self.offsets.clone();
        offsets.last_mut().into_iter().for_each(|last| *last += at as i64);
        offsets.push(-(target.offset as i64));
        Steps { object: target.object, number: self.number, offsets }
    }
}

/// Values that one path asks for; what it reads after that rests on assumptions.
const MOST_CHANGES: usize = 128;
/// Objects that a call comes to through its arguments.
const MOST_OBJECTS: usize = 64;
/// Pointers on the way to one of them.
const MOST_POINTERS: usize = 6;

/// How the program uses what it reads.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Use {
    Boolean,
    Number,
    Other,
}

impl Executor<'_, '_> {
    /// `__bw_act()`: the stub that runs may change what it comes to by now.
    pub(crate) fn act(&mut self, arguments: &Value) {
        let Some(function) = self.frames.last().map(|frame| frame.function) else { return };
        let Some(stub) = self.session.shared.stub_number(function) else { return };
        let made = self.stub_calls.entry(stub).or_default();
        let call = StubCall { stub, calls_before: *made };
        *made += 1;
        if self.in_precondition() {
            return;
        }
        if self.session.shared.is_open(stub, CALLEES_LEAVE_GLOBALS) {
            for (start, id) in Rc::clone(&self.session.shared.variables).iter() {
                self.let_change(global_object(*id), (function, Way::Variable), call, start.clone());
            }
        }
        if self.session.shared.is_open(stub, CALLEES_WRITE_ONE_LEVEL) {
            for (object, start) in self.places_behind(arguments) {
                self.let_change(object, (function, Way::Pointer), call, start);
            }
        }
    }

    /// The same, after the stub has called a function of the unit, whose writes it may write over.
    pub(crate) fn act_again(&mut self, arguments: &Value) {
        let Some(function) = self.frames.last().map(|frame| frame.function) else { return };
        let parameters = &self.code.functions[function].parameters;
        let given: Vec<Value> = parameters.iter().map(|parameter| self.value(&Operand::Register(*parameter))).collect();
        self.let_outside_act(function, &given);
        self.act(arguments);
    }

    /// Tells whether the stub that runs may call the functions that it was given.
    pub(crate) fn may_call(&self) -> bool {
        let stub = self.frames.last().and_then(|frame| self.session.shared.stub_number(frame.function));
        !self.in_precondition() && stub.is_some_and(|stub| self.session.shared.is_open(stub, CALLEES_DO_NOT_CALL_BACK))
    }

    /// A call with this mark at an object can change it.
    fn let_change(&mut self, object: ObjectId, mark: Mark, call: StubCall, start: ChangedPlace) {
        if self.memory.is_marked(object, mark) {
            self.memory.let_change(object, &Rc::new(Access { call, start }));
        }
    }

    /// The objects that a list of places of arguments leads to, each with the first way to its start.
    fn places_behind(&self, arguments: &Value) -> Vec<(ObjectId, ChangedPlace)> {
        let Value::Pointer(list) = arguments else { return Vec::new() };
        let Some(places) = self.memory.get(list.object).map(|object| object.pointer_places()) else {
            return Vec::new();
        };
        let listed = |object: ObjectId| places.iter().filter(|(_, slot)| slot.object == object).count();
        let is_variable = |object: ObjectId| listed(object) > 1;
        let most = if self.session.program.map.is_cpp() { 1 } else { MOST_POINTERS };
        let mut open: VecDeque<Steps> = VecDeque::new();
        for (at, slot) in places.iter().copied() {
            let argument = Steps { object: slot.object, number: at / 8, offsets: vec![-(slot.offset as i64)] };
            let pointers = self.memory.get(slot.object).map(|object| object.pointer_places()).unwrap_or_default();
            // Variable arguments stand in one array.
            let own = |(at, _): &(u64, Pointer)| slot.offset == *at || !is_variable(slot.object);
            open.extend(pointers.into_iter().filter(own).map(|(at, target)| argument.on(at, target)));
        }
        let mut seen: BTreeSet<ObjectId> = BTreeSet::new();
        let mut found = Vec::new();
        while let Some(way) = open.pop_front() {
            if !seen.insert(way.object) || self.is_behind_the_scenes(way.object) || found.len() >= MOST_OBJECTS {
                continue;
            }
            if let Some(known) = self.memory.get(way.object).filter(|_| way.offsets.len() <= most) {
                open.extend(known.pointer_places().into_iter().map(|(at, target)| way.on(at, target)));
            }
            found.push((way.object, ChangedPlace::Argument { number: way.number, offsets: way.offsets }));
        }
        found
    }

    /// Nobody looks into streams and functions.
    fn is_behind_the_scenes(&self, object: ObjectId) -> bool {
        match self.memory.get(object).map(|object| object.origin) {
            Some(Origin::Input(shape)) => self.is_stream_shape(shape),
            Some(Origin::Function(_)) | None => true,
            Some(_) => false,
        }
    }

    /// The path reads bytes that a call may have written: the test says what they are. Tells whether it can.
    pub(crate) fn ask_for_change(&mut self, object: ObjectId, offset: u64, size: u64) -> bool {
        let Some(access) = self.memory.access(object, offset, size) else { return false };
        if self.asked >= MOST_CHANGES {
            return false;
        }
        let old = self.memory.read(self.session, object, offset, size);
        let used = self.use_of_read();
        let fits = match size {
            1 | 2 | 4 => true,
            8 => used == Use::Number || matches!(old, Value::Bits(1..)),
            _ => false,
        };
        if !fits || matches!(old, Value::Pointer(_) | Value::Choice(_) | Value::Function(_)) {
            return false;
        }
        self.asked += 1;
        let place = access.start.behind(offset as i64);
        let change = self.change(access.call, place, size, used == Use::Boolean);
        let unwritten = match old {
            Value::Undefined => true,
            Value::Term(term) => self.session.is_garbage(term),
            _ => false,
        };
        let new = match change.happens.filter(|_| !unwritten) {
            Some(happens) => {
                let old = self.as_term(&old, 8 * size as u32);
                self.session.terms.if_then_else(happens, change.value, old)
            }
            None => change.value,
        };
        let new = self.term_value(new);
        self.memory.write(self.session, object, offset, size, new);
        if !self.unites() {
            let happens = change.happens.filter(|_| !unwritten);
            self.changes.push(Change { happens, ..change });
        }
        true
    }

    /// The variables of a change; the same for all paths of a session.
    fn change(&mut self, call: StubCall, place: ChangedPlace, bytes: u64, boolean: bool) -> Change {
        let name = &self.session.program.map.stubs[call.stub].name;
        let key = (call, place, bytes, boolean);
        if let Some(change) = self.session.changes.get(&key) {
            return change.clone();
        }
        let name = format!("what {name}() #{} changes", call.calls_before + 1);
        let terms = &mut self.session.terms;
        let happens = terms.variable(&format!("{name}, or not"), 1);
        let width = 8 * bytes as u32;
        let value = terms.variable(&name, if boolean { 1 } else { width });
        let value = terms.zero_extend(value, width);
        // No function of the library sets errno to zero.
        let of_library = self.session.program.map.stubs[call.stub].is_of_library();
        let happens = match key.1 == ChangedPlace::Errno && of_library {
            true => {
                let zero = terms.constant(0, width);
                let is_zero = terms.compare(TermCompare::Eq, value, zero);
                let is_set = terms.not(is_zero);
                terms.and(happens, is_set)
            }
            false => happens,
        };
        let happens = Some(happens);
        let change = Change { call, place: key.1.clone(), bytes, happens, value };
        self.session.changes.insert(key, change.clone());
        change
    }

    /// How the function that runs uses what the instruction that runs reads.
    fn use_of_read(&self) -> Use {
        let Some(frame) = self.frames.last() else { return Use::Other };
        let function = &self.code.functions[frame.function];
        match function.blocks[frame.block].instructions.get(self.instruction as usize) {
            Some(Instruction::Load { out, .. }) => use_of(function, *out),
            _ => Use::Other,
        }
    }
}

/// Only numbers are calculated with, put in an order, or compared with numbers.
fn use_of(function: &Function, register: RegisterId) -> Use {
    let is_it = |operand: &Operand| *operand == Operand::Register(register);
    let constant = |operand: &Operand| matches!(operand, Operand::Constant(1..));
    let mut found = Use::Other;
    for instruction in function.blocks.values().flat_map(|block| &block.instructions) {
        found = match instruction {
            Instruction::Cast(Cast { op: CastOp::Truncate, to: 1, value, .. }) if is_it(value) => return Use::Boolean,
            Instruction::Cast(Cast { op: CastOp::Copy, .. }) => found,
            Instruction::Cast(Cast { value, .. }) if is_it(value) => Use::Number,
            Instruction::Compare(Compare { op, left, right, .. }) if is_it(left) || is_it(right) => match op {
                CompareOp::Eq | CompareOp::Ne if !constant(left) && !constant(right) => found,
                _ => Use::Number,
            },
            Instruction::Binary(binary) if is_it(&binary.left) || is_it(&binary.right) => Use::Number,
            Instruction::Float(float) if float.operands.iter().any(is_it) => Use::Number,
            Instruction::MarkSwitch { value, .. } if is_it(value) => Use::Number,
            Instruction::Load { address, .. } | Instruction::Store { address, .. } if is_it(address) => {
                return Use::Other;
            }
            Instruction::Address(address) if is_it(&address.base) => return Use::Other,
            _ => found,
        };
    }
    found
}

/// The variables that stubs can change, as they are in the code.
pub(crate) fn changeable(program: &branchwise_program::Program) -> Vec<(ChangedPlace, branchwise_program::GlobalId)> {
    let numbered = |symbol: &str| program.map.variables.iter().position(|variable| variable.symbol == symbol);
    let place = |name: &str| match name {
        crate::outside::ERRNO => Some(ChangedPlace::Errno),
        name => numbered(name).map(|number| ChangedPlace::Variable { number, offset: 0 }),
    };
    let globals = program.code.globals.iter().filter(|(_, global)| !global.constant);
    globals.filter_map(|(id, global)| Some((place(&global.name)?, id))).collect()
}
