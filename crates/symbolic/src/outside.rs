//! What a function that nobody defines may do beside what its stub does: write what others see, keep pointers and write
//! through them later, call the unit.
//!
//! A call leaves a mark at every byte that it may have written. A path that reads such a byte, before the program has
//! written it again, asks the test for a value where one can be given ([`crate::changes`]), and otherwise rests on an
//! assumption from there on. What is never read again costs nothing.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use branchwise_program::assumption::catalogue::{
    ALLOCATION_SUCCEEDS, ALLOCATORS_ARE_DEFAULT, CALLEES_DO_NOT_CALL_BACK, CALLEES_DO_NOT_JUMP, CALLEES_DO_NOT_THROW,
    CALLEES_KEEP_NO_POINTERS, CALLEES_LEAVE_GLOBALS, CALLEES_RESPECT_CONST, CALLEES_WRITE_ONE_LEVEL, CALLS_DO_NOT_NEST,
    EARLIER_CALLS_RETURNED, ERRNO_KEPT_ON_SUCCESS, INLINE_DEFINITIONS_AGREE, LIBRARY_AS_HERE, LOCALE_IS_C,
    NO_INTERPOSITION, NO_SPURIOUS_FAILURE, ONE_THREAD, PADDING_IS_KEPT, RESULTS_ARE_SEPARATE, WEAK_DEFINITIONS_STAY,
};
use branchwise_program::assumption::{Assumption, KnownAssumption};
use branchwise_program::code::Operand;
use branchwise_program::library::otherwise::Errno;
use branchwise_program::library::{acquires, is_try_lock, releases};
use branchwise_program::map::Stub;
use branchwise_program::{CodeFunctionId, RegisterId};

use crate::executor::{Executor, Step};
use crate::memory::Origin;
use crate::session::global_object;
use crate::value::{ObjectId, Value};

/// What allocates objects in C++.
const ALLOCATOR: &str = "operator new";

/// The variable of the models that is `errno`.
pub(crate) const ERRNO: &str = "__bw_errno";

/// Variables that functions of the C library write.
const LIBRARY_VARIABLES: [&str; 13] = [
    ERRNO,
    "optarg",
    "optind",
    "opterr",
    "optopt",
    "environ",
    "__environ",
    "tzname",
    "timezone",
    "daylight",
    "signgam",
    "stdin",
    "stdout",
];

/// How a function that nobody defines came to a byte that it may have written.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Way {
    /// It names the variable.
    Variable,
    /// It called the unit, which wrote.
    CallBack,
    /// It was given a pointer before, or its caller knows one.
    KeptPointer,
    /// A pointer of this call leads there.
    Pointer,
    /// The same, and the pointer is one to constant data.
    ConstantPointer,
    /// The program wrote through a pointer that came from it.
    Result,
    /// It is a function of the library that succeeded, and may change `errno` all the same.
    Success,
    /// It is one of `math.h`, which tells errors so.
    Error,
    /// It waits for other threads, and one of them wrote.
    OtherThread,
    /// It is `operator new` of another file, which may do what it likes.
    Allocator,
}

/// A mark: who may have written, and how.
pub(crate) type Mark = (CodeFunctionId, Way);

impl Way {
    fn assumption(self) -> KnownAssumption {
        match self {
            Way::Variable => CALLEES_LEAVE_GLOBALS,
            Way::CallBack => CALLS_DO_NOT_NEST,
            Way::KeptPointer => CALLEES_KEEP_NO_POINTERS,
            Way::Pointer => CALLEES_WRITE_ONE_LEVEL,
            Way::ConstantPointer => CALLEES_RESPECT_CONST,
            Way::Result => RESULTS_ARE_SEPARATE,
            Way::Success | Way::Error => ERRNO_KEPT_ON_SUCCESS,
            Way::OtherThread => ONE_THREAD,
            Way::Allocator => ALLOCATORS_ARE_DEFAULT,
        }
    }
}

impl<'p> Executor<'_, 'p> {
    /// A function is called that nobody may define: it may have written whatever it comes to.
    pub(crate) fn let_outside_act(&mut self, callee: CodeFunctionId, arguments: &[Value]) {
        if self.in_precondition() {
            return;
        }
        let Some(stub) = self.session.shared.interfering(callee) else {
            self.let_library_act(callee, arguments);
            return;
        };
        if self.writes_half_done() {
            self.rest_everywhere_on(CALLS_DO_NOT_NEST.about(stub.subject()));
            self.rest_everywhere_on(EARLIER_CALLS_RETURNED.about(stub.subject()));
        }
        if self.session.shared.reacts_to_exceptions() {
            self.rest_everywhere_on(CALLEES_DO_NOT_THROW.about(stub.subject()));
        }
        let given = self.given(stub, arguments);
        if given.iter().any(|(object, _)| self.is_function_of_unit(*object))
            || arguments.iter().any(|argument| self.holds_function_of_unit(argument))
        {
            self.rest_everywhere_on(CALLEES_DO_NOT_CALL_BACK.about(stub.subject()));
        }
        let given_ids: HashSet<ObjectId> = given.iter().map(|(object, _)| *object).collect();
        for (object, way) in self.seen_outside() {
            if !given_ids.contains(&object) {
                self.memory.outdate(object, (callee, way));
            }
        }
        for (object, way) in given {
            self.memory.outdate(object, (callee, way));
            self.memory.make_known_outside(object, callee);
        }
    }

    /// A function returns that tries a lock: where it got the lock, it might have failed.
    pub(crate) fn note_tried_lock(&mut self, values: &[Operand]) {
        let [.., caller, tried] = &self.frames[..] else { return };
        let (caller, tried) = (&self.code.functions[caller.function], &self.code.functions[tried.function]);
        if !is_try_lock(&tried.name) || acquires(&caller.name) {
            return;
        }
        let failed = values.first().is_some_and(|value| matches!(self.value(value), Value::Bits(1..)));
        if failed || self.in_precondition() {
            return;
        }
        self.rest_on(NO_SPURIOUS_FAILURE.assumed());
        let lock = tried.parameters.first().map(|lock| self.value(&Operand::Register(*lock)));
        if !lock.is_some_and(|lock| self.is_own_place(&lock)) {
            self.rest_on(ONE_THREAD.assumed());
        }
    }

    /// A function that waits for other threads is called: they may have written what others see, where they could go on.
    pub(crate) fn let_threads_act(&mut self, callee: CodeFunctionId) {
        let stubs = &self.session.program.map.stubs;
        let symbol = &self.code.functions[callee].name;
        let name = stubs.iter().find(|stub| stub.symbol == *symbol).map_or(symbol.as_str(), |stub| stub.name.as_str());
        self.memory.released |= releases(name);
        if self.in_precondition() || !acquires(name) || !self.memory.released {
            return;
        }
        for (object, _) in self.seen_outside() {
            self.memory.outdate(object, (callee, Way::OtherThread));
        }
    }

    /// `operator new` is called: another file may have replaced it by one that writes the variables it can name, calls the
    /// unit or throws.
    pub(crate) fn let_allocator_act(&mut self) {
        let Some(allocator) = self.frames.last().map(|frame| frame.function) else { return };
        if self.in_precondition() {
            return;
        }
        if self.writes_half_done() {
            self.rest_everywhere_on(ALLOCATORS_ARE_DEFAULT.about(ALLOCATOR));
            self.rest_everywhere_on(ALLOCATION_SUCCEEDS.about(ALLOCATOR));
        }
        let globals =
            self.code.globals.iter().filter(|(_, global)| !global.constant && !global.name.starts_with("__bw_"));
        for (id, _) in globals {
            let object = global_object(id);
            let is_variable =
                matches!(self.memory.get(object).map(|object| object.origin), Some(Origin::Global { .. }));
            if is_variable && self.memory.is_used(object) {
                self.memory.outdate(object, (allocator, Way::Allocator));
            }
        }
    }

    /// A function of the C library that has no model writes what its pointers lead to, and variables of the library.
    fn let_library_act(&mut self, callee: CodeFunctionId, arguments: &[Value]) {
        let Some(stub) = self.session.shared.of_library(callee) else { return };
        for (object, way) in self.given(stub, arguments) {
            if way == Way::Pointer {
                self.memory.outdate(object, (callee, way));
            }
        }
        let globals = self.code.globals.iter().filter(|(_, global)| LIBRARY_VARIABLES.contains(&&*global.name));
        for (id, _) in globals {
            self.memory.outdate(global_object(id), (callee, Way::Variable));
        }
    }

    /// The path writes to an object that came from outside: it may be one that was given away.
    pub(crate) fn outdate_given(&mut self, object: ObjectId) {
        if !matches!(self.memory.get(object).map(|object| object.origin), Some(Origin::Input(_))) {
            return;
        }
        for given in self.memory.ids().collect::<Vec<_>>() {
            if let Some(callee) = self.memory.known_outside(given).filter(|_| given != object && self.is_own(given)) {
                self.memory.outdate(given, (callee, Way::Result));
            }
        }
    }

    /// The path compares two places: one may be an object that was given away, the other what came from outside.
    pub(crate) fn note_separate(&mut self, left: ObjectId, right: ObjectId) {
        for (own, other) in [(left, right), (right, left)] {
            let came = matches!(self.memory.get(other).map(|object| object.origin), Some(Origin::Input(_)));
            let given = self.memory.known_outside(own).filter(|_| came && self.is_own(own));
            if let Some(stub) = given.and_then(|callee| self.session.shared.interfering(callee)) {
                self.rest_on(RESULTS_ARE_SEPARATE.about(stub.subject()));
            }
        }
    }

    /// Whether an object belongs to the driver, which stands for the caller: in C++, arguments are made there.
    pub(crate) fn is_of_driver(&self, object: ObjectId) -> bool {
        self.frames.first().is_some_and(|driver| driver.stack_objects.contains(&object))
    }

    /// Whether the program made an object itself.
    fn is_own(&self, object: ObjectId) -> bool {
        matches!(self.memory.get(object).map(|object| object.origin), Some(Origin::Stack | Origin::Heap))
    }

    /// `__bw_jumps_back()`: in no test does somebody jump back to a `setjmp`. Where nobody can, nothing rests on that.
    /// The registers that it stores are not known.
    pub(crate) fn jumps_back(&mut self, state: &Value, bytes: u64) -> Step<Value> {
        self.write(state, bytes, Value::Undefined)?;
        if self.session.shared.may_jump {
            let frame = self.user_frame().and_then(|frame| self.frames.get(frame));
            let name = frame.map_or("setjmp", |frame| self.code.functions[frame.function].name.as_str());
            self.rest_on(CALLEES_DO_NOT_JUMP.about(name));
        }
        Ok(Value::Bits(0))
    }

    /// A function is called whose definition the linker may replace, or choose.
    pub(crate) fn note_weak(&mut self, callee: CodeFunctionId) {
        let program = self.session.program;
        if !program.is_replaceable(callee) {
            return;
        }
        let found = &self.code.functions[callee];
        let name = &found.name;
        let known = match () {
            () if program.map.inline_functions.contains(name) => INLINE_DEFINITIONS_AGREE,
            () if program.map.is_interposable => NO_INTERPOSITION,
            () if found.weak && !found.library => WEAK_DEFINITIONS_STAY,
            () => LIBRARY_AS_HERE,
        };
        self.rest_on(known.about(name));
    }

    /// The path reads bytes that belong to no member of a structure.
    pub(crate) fn note_padding(&mut self, object: ObjectId, offset: u64, size: u64) {
        if self.memory.is_padding(object, offset, size) {
            self.rest_on(PADDING_IS_KEPT.assumed());
        }
    }

    /// The path reads bytes of an object.
    pub(crate) fn note_outdated(&mut self, object: ObjectId, offset: u64, size: u64) -> Step<()> {
        if self.ask_for_change(object, offset, size) {
            return Ok(());
        }
        let marks: Vec<Mark> = self.memory.outdated(object, offset, size).collect();
        for (callee, way) in marks {
            if way == Way::OtherThread {
                self.rest_on(ONE_THREAD.assumed());
                continue;
            }
            if way == Way::Allocator {
                self.rest_on(ALLOCATORS_ARE_DEFAULT.about(ALLOCATOR));
                continue;
            }
            let shared = &self.session.shared;
            let name = self.code.functions[callee].name.as_str();
            let subject = shared.interfering(callee).or_else(|| shared.of_library(callee)).map(Stub::subject);
            match (way, subject) {
                (Way::Error, _) => return self.unsupported(format!("errno after {name}()")),
                (Way::Success, _) => self.rest_on(ERRNO_KEPT_ON_SUCCESS.about(name)),
                (_, Some(subject)) => self.rest_on(way.assumption().about(subject)),
                (_, None) => {}
            }
        }
        Ok(())
    }

    /// A function of the C library is called by code that is none of its models.
    pub(crate) fn note_library(&mut self, callee: CodeFunctionId, outs: &[RegisterId]) {
        let Some(call) = self.session.shared.library_calls.get(&callee).copied() else { return };
        if self.in_model() {
            return;
        }
        if let (Some(_), Some(&out)) = (call.fixed, outs.first()) {
            let (caller, left_open) = (self.frame().function, Rc::clone(&self.session.shared.left_open));
            left_open.looked_at(caller, out).for_each(|name| self.rest_on(LIBRARY_AS_HERE.about(name)));
        }
        if let Some(known) = call.result {
            self.rest_on(if known == LOCALE_IS_C {
                known.assumed()
            } else {
                known.about(&self.code.functions[callee].name)
            });
        }
        let way = match call.errno {
            Errno::AsModelled => return,
            Errno::MayChange => Way::Success,
            Errno::TellsErrors => Way::Error,
        };
        if let Some((id, _)) = self.code.globals.iter().find(|(_, global)| global.name == ERRNO) {
            self.memory.outdate(global_object(id), (callee, way));
            self.memory.forget_change(global_object(id));
        }
    }

    /// A call begins: the variables are as the calls before have left them.
    pub(crate) fn begin_call(&mut self) {
        if self.session.shared.can_be_interrupted() {
            for index in 0..self.code.globals.len() {
                self.memory.forget_writes(ObjectId(index as u32));
            }
        }
    }

    /// Whether the call has written a variable that only the unit can write.
    fn writes_half_done(&self) -> bool {
        let globals = self.code.globals.iter().filter(|(_, global)| global.internal && !global.constant);
        let own = globals.filter(|(_, global)| !global.name.starts_with("__bw_"));
        own.map(|(id, _)| global_object(id)).any(|object| self.memory.is_half_written(object))
    }

    /// The objects that the pointers of a call lead to.
    fn given(&self, stub: &Stub, arguments: &[Value]) -> Vec<(ObjectId, Way)> {
        let mut given: Vec<(ObjectId, Way)> = Vec::new();
        let mut first: HashSet<ObjectId> = HashSet::new();
        let same = stub.parameters.len() == arguments.len();
        for (index, argument) in arguments.iter().enumerate() {
            let is_constant = same && leads_to_constant(&stub.parameters[index].spelling);
            let way = if is_constant { Way::ConstantPointer } else { Way::Pointer };
            for object in self.memory.pointees(argument) {
                match given.iter_mut().find(|(known, _)| *known == object) {
                    Some((_, known)) => *known = (*known).min(way),
                    None => given.push((object, way)),
                }
                first.insert(object);
            }
        }
        let all = self.memory.reached_from(first.iter().copied());
        given.extend(all.difference(&first.into_iter().collect()).map(|object| (*object, Way::Pointer)));
        given
    }

    /// The objects that others can come to at any time, each with how.
    fn seen_outside(&self) -> Vec<(ObjectId, Way)> {
        let mut seen: Vec<(ObjectId, Way)> = Vec::new();
        for (id, global) in self.code.globals.iter().filter(|(_, global)| !global.constant) {
            let object = global_object(id);
            if matches!(self.memory.get(object).map(|object| object.origin), Some(Origin::Global { .. })) {
                let is_errno = global.name == ERRNO;
                let way = match global.internal && !global.elsewhere && !self.session.shared.escaping[id] {
                    _ if is_errno => Way::Variable,
                    true => Way::CallBack,
                    false => Way::Variable,
                };
                if is_errno || !global.name.starts_with("__bw_") {
                    seen.push((object, way));
                }
            }
        }
        // What the test gives its caller has; what a call was given before may have been kept.
        let is_known = |object: &ObjectId| match self.memory.get(*object).map(|object| object.origin) {
            Some(Origin::Input(shape)) => !self.is_stream_shape(shape),
            _ => self.memory.known_outside(*object).is_some() || self.is_of_driver(*object),
        };
        let known: Vec<ObjectId> = self.memory.ids().filter(is_known).collect();
        let roots = known.iter().copied().chain(seen.iter().map(|(object, _)| *object));
        let reached = self.memory.reached_from(roots);
        let listed: BTreeSet<ObjectId> = seen.iter().map(|(object, _)| *object).collect();
        let way = |object: ObjectId| match self.memory.get(object).map(|object| object.origin) {
            Some(Origin::Input(shape)) if self.session.inputs.shape(shape).variable => Way::Variable,
            _ => Way::KeptPointer,
        };
        seen.extend(reached.difference(&listed).map(|&object| (object, way(object))));
        // What the path has not looked at yet may be anything when it does.
        let is_fresh = |object: ObjectId| {
            let from_test = matches!(self.memory.get(object).map(|object| object.origin), Some(Origin::Input(_)));
            from_test && !self.memory.is_used(object)
        };
        seen.retain(|(object, _)| !is_fresh(*object));
        seen
    }

    fn holds_function_of_unit(&self, value: &Value) -> bool {
        match value {
            Value::Function(function) => self.is_of_unit(*function),
            value => self.memory.pointees(value).into_iter().any(|object| self.is_function_of_unit(object)),
        }
    }

    /// Whether an object is a function of the unit, or holds the address of one.
    fn is_function_of_unit(&self, object: ObjectId) -> bool {
        let Some(object) = self.memory.get(object) else { return false };
        if let Origin::Function(function) = object.origin {
            return self.is_of_unit(function);
        }
        object.pointers().any(|value| matches!(value, Value::Function(function) if self.is_of_unit(function)))
    }

    fn is_of_unit(&self, function: CodeFunctionId) -> bool {
        self.session.shared.map_functions[function].is_some()
    }

    /// Notes that every goal rests on a statement: what happens without it begins in some other function.
    pub(crate) fn rest_everywhere_on(&mut self, assumption: Assumption) {
        self.notes.caveats.assumed.entry(assumption).or_default().add_everywhere();
    }
}

/// Whether a parameter with this type is a pointer to constant data.
fn leads_to_constant(spelling: &str) -> bool {
    spelling.rfind('*').is_some_and(|star| spelling[..star].split([' ', '*']).any(|word| word == "const"))
}

#[cfg(test)]
mod tests {
    use super::leads_to_constant;

    #[test]
    fn constant_is_what_the_last_star_leads_to() {
        assert!(leads_to_constant("const int *") && leads_to_constant("char const*"));
        assert!(!leads_to_constant("int *const") && !leads_to_constant("int") && !leads_to_constant("constant *"));
    }
}
