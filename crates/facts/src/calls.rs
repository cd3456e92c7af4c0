//! Calls: of functions with a body, through pointers, and of what the C library does.

use branchwise_program::code::{Call, Callee, Operand};
use branchwise_program::library::left_open::Fixed;
use branchwise_program::library::otherwise::Errno;
use branchwise_program::library::{acquires, is_stream_function, jumps, releases};
use branchwise_program::map::FeedOrigin;
use branchwise_program::{CodeFunctionId, RegisterId};

use crate::interpreter::{Arguments, Found, Run, Stop, all_variables};
use crate::number::Number;
use crate::state::State;
use crate::value::{ObjectId, Targets, Value, not_null};

/// A pointer that may lead to more functions than this is not followed.
const MOST_CANDIDATES: usize = 24;

impl Run<'_, '_> {
    /// The states in which the call may have returned.
    pub(crate) fn call(&mut self, call: &Call, mut state: State) -> Found<Vec<State>> {
        let widths = call.argument_widths.iter().copied().chain(std::iter::repeat(64));
        let values =
            call.arguments.iter().zip(widths).map(|(argument, width)| self.value(&state, argument, width)).collect();
        let arguments = Arguments { values, equal: self.equal_arguments(call, &state) };
        state.forget_all_mirrors();
        match &call.callee {
            Callee::Direct(function) => self.call_function(*function, call, &arguments, state),
            Callee::Indirect(pointer) => {
                let pointer = self.value(&state, pointer, 64);
                self.call_through(&pointer, call, &arguments, state)
            }
        }
    }

    /// Arguments that are the same value.
    fn equal_arguments(&self, call: &Call, state: &State) -> Vec<(usize, usize)> {
        let earlier = |(second, operand): (usize, &Operand)| {
            let equal = |first: &Operand| state.are_equal(self.function, first, operand);
            call.arguments[..second].iter().position(equal).map(|first| (first, second))
        };
        call.arguments.iter().enumerate().filter_map(earlier).collect()
    }

    fn call_through(&mut self, pointer: &Value, call: &Call, arguments: &Arguments, state: State) -> Found<Vec<State>> {
        let known = pointer.targets.known.keys();
        let mut candidates: Vec<CodeFunctionId> = known
            .filter_map(|object| match object {
                ObjectId::Function(function) => Some(*function),
                ObjectId::Global(_) | ObjectId::Stack(..) => None,
            })
            .collect();
        let elsewhere = crate::memory::points_elsewhere(pointer);
        if elsewhere {
            let fits = |function: &CodeFunctionId| {
                let function = &self.code.functions[*function];
                let count = function.parameters.len();
                count == arguments.values.len() || (function.variadic && count < arguments.values.len())
            };
            candidates.extend(self.interpreter.callable().iter().copied().filter(fits));
            candidates.sort_unstable();
            candidates.dedup();
        }
        if candidates.len() > MOST_CANDIDATES {
            return Err(Stop::TooMuchWork);
        }
        let mut after = Vec::new();
        for function in candidates {
            after.extend(self.call_function(function, call, arguments, state.clone())?);
        }
        if elsewhere {
            after.push(self.outside_call(call, &arguments.values, state));
        }
        Ok(after)
    }

    /// What holds after a call, whatever the C library is.
    fn call_function(
        &mut self,
        function: CodeFunctionId,
        call: &Call,
        arguments: &Arguments,
        state: State,
    ) -> Found<Vec<State>> {
        let mut after = self.call_known(function, call, arguments, state)?;
        let subject = self.interpreter.subject;
        let Some(library) = subject.library_calls.get(&function).filter(|_| !self.function.library) else {
            return Ok(after);
        };
        let errno = subject.errno.filter(|_| library.errno != Errno::AsModelled);
        for state in &mut after {
            match library.fixed {
                Some(Fixed::Sign) => call.outs.iter().for_each(|&out| widen_to_sign(state, out)),
                Some(Fixed::Truth) => call.outs.iter().for_each(|&out| widen_to_truth(state, out)),
                Some(Fixed::Table) | None => {}
            }
            if library.result.is_some() {
                call.outs.iter().for_each(|&out| state.set(out, Value::any(self.function.registers[out])));
            }
            if let Some(errno) = errno {
                let place = Value::address(self.code, ObjectId::Global(errno), 0);
                state.forget_mirrors(&place, 4);
                state.memory.smear(self.code, &place, &Targets::unknown());
            }
        }
        Ok(after)
    }

    fn call_known(
        &mut self,
        function: CodeFunctionId,
        call: &Call,
        arguments: &Arguments,
        mut state: State,
    ) -> Found<Vec<State>> {
        let callee = &self.code.functions[function];
        let replaceable = self.interpreter.program.is_replaceable(function);
        if callee.is_declaration() && replaceable {
            return Ok(vec![self.outside_call(call, &arguments.values, state)]);
        }
        if callee.is_declaration() {
            if let Some(number) = self.mathematics(function, call, &arguments.values) {
                call.outs.iter().for_each(|&out| state.set(out, Value::plain(number.clone())));
                return Ok(vec![state]);
            }
            return self.call_library(&callee.name, call, &arguments.values, state);
        }
        let interferes = self.interpreter.subject.interfering.contains(&function);
        let stub = self.interpreter.program.stub(function);
        let (is_stub, of_library) = (stub.is_some(), stub.is_some_and(|stub| stub.is_of_library()));
        for argument in arguments.values.iter().skip(callee.parameters.len()) {
            state.memory.escape(self.code, &argument.targets);
            if is_stub {
                state.memory.smear(self.code, argument, &Targets::unknown());
            }
        }
        if self.interpreter.is_general(function) {
            self.interpreter.generalise(function)?;
            state.memory.escape(self.code, &all_variables(self.code));
            return Ok(vec![self.unknown_call(call, &arguments.values, state)]);
        }
        self.synchronise_at(stub.map_or(&callee.name, |stub| &stub.name), &mut state);
        if interferes {
            self.let_outside_act(&arguments.values, &mut state);
        } else if of_library {
            // It writes what it is given, and variables of the library.
            arguments.values.iter().for_each(|argument| state.memory.escape(self.code, &argument.targets));
            state.memory.havoc(self.code);
        }
        let outcome = self.interpreter.call(function, arguments.clone(), state.memory.clone())?;
        if let Some(observed) = &mut self.observed {
            observed.add(&outcome.observed);
        }
        let replaced = replaceable.then(|| self.outside_call(call, &arguments.values, state.clone()));
        let returned = outcome.exits.iter().map(|exit| {
            let mut state = state.with_memory(exit.memory.clone());
            let results = exit.results.iter().map(Some).chain(std::iter::repeat(None));
            for (&out, result) in call.outs.iter().zip(results) {
                let any = || Value::any(self.function.registers[out]);
                state.set(out, result.cloned().unwrap_or_else(any));
            }
            if interferes || of_library {
                // It may also write after it has called the unit, and over what its feeds say.
                state.memory.havoc(self.code);
            }
            state
        });
        Ok(returned.chain(replaced).collect())
    }

    /// A function that nobody defines begins: it knows what it is given and whatever has escaped, may write all of that,
    /// and may call the unit.
    fn let_outside_act(&mut self, arguments: &[Value], state: &mut State) {
        arguments.iter().for_each(|argument| state.memory.escape(self.code, &argument.targets));
        state.memory.escape_locals_behind_variables(self.code);
        state.memory.havoc(self.code);
        self.interpreter.interrupt_here(&state.memory);
        state.memory = self.interpreter.after_calls_from_outside(&state.memory);
    }

    /// A call of a function that waits for other threads, or lets them go on: what they wrote meanwhile is to be seen then.
    fn synchronise_at(&mut self, name: &str, state: &mut State) {
        state.memory.released |= releases(name);
        if acquires(name) && state.memory.released {
            self.let_outside_act(&[], state);
        }
    }

    /// An atomic operation: what other threads wrote before theirs is to be seen now. Nobody shares an object that only this
    /// function knows.
    pub(crate) fn synchronise(&mut self, state: &mut State, address: &Operand) {
        let address = self.value(state, address, 64);
        let memory = &state.memory;
        let is_own = |object: &ObjectId| matches!(object, ObjectId::Stack(..)) && !memory.has_escaped(*object);
        if !address.targets.unknown && !address.targets.known.is_empty() && address.targets.known.keys().all(is_own) {
            return;
        }
        state.forget_all_mirrors();
        self.let_outside_act(&[], state);
    }

    /// A function that is not known: beside what an unknown call does, it may call the unit.
    fn outside_call(&mut self, call: &Call, arguments: &[Value], mut state: State) -> State {
        self.let_outside_act(arguments, &mut state);
        self.unknown_call(call, arguments, state)
    }

    /// It may write whatever its arguments lead to and whatever has escaped, and return anything.
    fn unknown_call(&self, call: &Call, arguments: &[Value], mut state: State) -> State {
        arguments.iter().for_each(|argument| state.memory.escape(self.code, &argument.targets));
        state.memory.havoc(self.code);
        for &out in &call.outs {
            state.set(out, Value::any(self.function.registers[out]));
        }
        state
    }

    /// A stub has written so many bytes behind a pointer; the real function may write the rest.
    fn leave_alone(&self, state: &mut State, arguments: &[Value]) {
        let [pointer, written] = arguments else { return };
        let rest = pointer.single_target().and_then(|(object, offset)| {
            let size = state.memory.contents(self.code, object)?.size;
            size.checked_sub(offset.as_constant()?)
        });
        let all = rest.zip(written.number.as_constant()).is_some_and(|(rest, written)| rest <= written);
        if !all {
            state.memory.smear(self.code, pointer, &Targets::unknown());
        }
    }

    /// The state behind a call that answers yes or no, or always no.
    fn with_answer(&self, call: &Call, mut state: State, may_be_yes: bool) -> State {
        for &out in &call.outs {
            let width = self.function.registers[out];
            let no = Number::constant(width, 0);
            let answer = if may_be_yes { no.join(&Number::constant(width, 1)) } else { no };
            state.set(out, Value::plain(answer));
        }
        state
    }

    fn call_library(&mut self, name: &str, call: &Call, arguments: &[Value], mut state: State) -> Found<Vec<State>> {
        match name {
            "__bw_terminate" | "__bw_pure_virtual" => Ok(Vec::new()),
            "abort" | "llvm.trap" | "__assert_fail" | "_exit" | "_Exit" => Ok(Vec::new()),
            "__bw_release" | "__bw_outside" | "__bw_act" | "__bw_act_again" | "__bw_threw" | "__bw_throws"
            | "__bw_handles" => Ok(vec![state]),
            _ if name.starts_with("__bw_objects_") => {
                call.outs.iter().for_each(|&out| state.set(out, Value::any(32)));
                Ok(vec![state])
            }
            // Only tests ask a stub to do that; the call itself counts as calling any function of the unit.
            "__bw_looks_at" | "__bw_may_call" => Ok(vec![self.with_answer(call, state, false)]),
            "__bw_left_alone" => {
                self.leave_alone(&mut state, arguments);
                Ok(vec![state])
            }
            "__bw_allocate" | "__bw_resize" => {
                arguments.iter().for_each(|argument| state.memory.escape(self.code, &argument.targets));
                call.outs.iter().for_each(|&out| {
                    state.set(out, Value { number: not_null(), targets: Targets::unknown() });
                });
                Ok(vec![state])
            }
            "__bw_allocation_fails" => {
                let feeds = &self.interpreter.program.map.feeds;
                let may_fail = feeds.values().any(|feed| feed.origin == FeedOrigin::AllocationFails);
                Ok(vec![self.with_answer(call, state, may_fail)])
            }
            "__bw_jumps_back" => {
                arguments.iter().for_each(|argument| state.memory.smear(self.code, argument, &Targets::unknown()));
                let may_jump = self.interpreter.program.may_jump_back();
                Ok(vec![self.with_answer(call, state, may_jump)])
            }
            // It may be otherwise than in tests.
            "__bw_otherwise" => Ok(vec![self.with_answer(call, state, true)]),
            "__bw_new_fails" => {
                // Another file may have replaced `operator new`.
                self.let_outside_act(&[], &mut state);
                let matters = self.interpreter.subject.reacts_to_exceptions;
                Ok(vec![self.with_answer(call, state, matters)])
            }
            _ => {
                let closed = &self.interpreter.program.map.closed_functions;
                match !jumps(name) && (is_stream_function(name) || closed.contains(name)) {
                    true if acquires(name) || releases(name) => {
                        self.synchronise_at(name, &mut state);
                        Ok(vec![self.unknown_call(call, arguments, state)])
                    }
                    true => Ok(vec![self.unknown_call(call, arguments, state)]),
                    false => Err(Stop::Unsupported),
                }
            }
        }
    }
}

/// A result of which the standard fixes the sign alone.
fn widen_to_sign(state: &mut State, out: RegisterId) {
    let Some(value) = state.registers.get(&out) else { return };
    let (width, (least, most)) = (value.number.width(), value.number.signed_bounds());
    let (lowest, highest) = Number::any(width).signed_bounds();
    let bounds = (if least < 0 { lowest } else { least.min(1) }, if most > 0 { highest } else { most.max(-1) });
    let number = Number::signed_range(width, bounds.0, bounds.1).unwrap_or_else(|| Number::any(width));
    state.set(out, Value::plain(number));
}

/// A result of which the standard fixes alone whether it is zero.
pub(crate) fn widen_to_truth(state: &mut State, out: RegisterId) {
    let Some(value) = state.registers.get(&out).filter(|value| value.number.as_constant() != Some(0)) else { return };
    let number = Number::any(value.number.width());
    state.set(out, Value::plain(number));
}
