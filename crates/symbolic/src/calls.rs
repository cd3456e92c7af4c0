//! Calls and returns.

use branchwise_program::code::{Call, Callee, Operand};
use branchwise_program::{CodeFunctionId, RegisterId};

use crate::executor::{Executor, Step};
use crate::path::PathEnd;
use crate::plain::WINDOW;
use crate::value::Value;

impl<'p> Executor<'_, 'p> {
    pub(crate) fn call(&mut self, call: &'p Call) -> Step<()> {
        let callee = match &call.callee {
            Callee::Direct(function) => *function,
            Callee::Indirect(operand) => {
                let pointer = self.value(operand);
                self.called_function(&pointer)?
            }
        };
        let widths = call.argument_widths.iter().copied().chain(std::iter::repeat(64));
        let arguments: Vec<Value> =
            call.arguments.iter().zip(widths).map(|(argument, width)| self.wide_value(argument, width)).collect();
        self.let_outside_act(callee, &arguments);
        self.let_threads_act(callee);
        self.note_weak(callee);
        self.note_library(callee, &call.outs);
        if self.code.functions[callee].is_declaration() {
            return self.call_library(callee, &arguments, &call.outs);
        }
        if self.frames.len() as u64 >= self.limits.call_depth {
            return Err(Box::new(PathEnd::CallDepth { location: self.location(), bound: self.limits.call_depth }));
        }
        self.keep_variable_arguments(callee, call, &arguments);
        let parameters = &self.code.functions[callee].parameters;
        self.enter(callee, &call.outs);
        for (register, argument) in parameters.iter().zip(arguments) {
            self.set(*register, argument);
        }
        Ok(())
    }

    /// Makes a frame for a function whose parameters nobody has written yet.
    pub(crate) fn enter(&mut self, function: CodeFunctionId, outs: &'p [RegisterId]) {
        let mut registers = std::mem::take(&mut self.registers);
        self.enter_with(&mut registers, function, outs);
        self.registers = registers;
    }

    /// The same where the registers are apart from the rest.
    pub(crate) fn enter_with(&mut self, registers: &mut Vec<Value>, function: CodeFunctionId, outs: &'p [RegisterId]) {
        let decoded = self.session.decoded(function);
        self.base = self.top;
        self.top += decoded.frame().len();
        if registers.len() < self.top + WINDOW {
            registers.resize((self.top + WINDOW).next_power_of_two(), Value::Undefined);
        }
        registers[self.base..self.top].copy_from_slice(decoded.frame());
        let map_function = self.session.shared.map_functions[function];
        self.frames.enter(function, map_function, self.base, outs, decoded);
    }

    pub(crate) fn leave(&mut self, values: &[Operand]) -> Step<()> {
        let widths = &self.code.functions[self.frame().function].results;
        let results: Vec<Value> =
            values.iter().zip(widths).map(|(value, &width)| self.wide_value(value, width)).collect();
        let outs = self.drop_frame();
        if self.frames.is_empty() {
            return Err(Box::new(PathEnd::Returned));
        }
        for (register, value) in outs.iter().zip(results) {
            self.set(*register, value);
        }
        Ok(())
    }

    /// Ends the innermost activation; hands back where its caller wants the results.
    pub(crate) fn drop_frame(&mut self) -> &'p [RegisterId] {
        let frame = self.frames.leave().expect("a path without frames has ended");
        frame.stack_objects.iter().for_each(|&object| self.memory.end_lifetime(object));
        frame.stack_objects.clear();
        self.top = frame.base;
        let (outs, left) = (frame.outs, frame.map_function);
        if self.frames.len() == 1 && left == Some(self.session.function) && !self.is_before_unit() {
            self.events_up_to_end.get_or_insert(self.events.len());
        }
        self.base = self.frames.last().map_or(0, |caller| caller.base);
        outs
    }
}
