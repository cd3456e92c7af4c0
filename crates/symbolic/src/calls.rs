//! Calls and returns.

use branchwise_program::code::{Call, Callee, Operand};
use branchwise_program::{CodeFunctionId, Id, RegisterId};

use crate::executor::{Executor, Frame, Step};
use crate::path::PathEnd;
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
        self.notes.caveats.calls_stubs |= self.session.shared.stubs[callee];
        let widths = call.argument_widths.iter().copied().chain(std::iter::repeat(64));
        let arguments: Vec<Value> =
            call.arguments.iter().zip(widths).map(|(argument, width)| self.wide_value(argument, width)).collect();
        if self.code.functions[callee].is_declaration() {
            return self.call_library(callee, &arguments, &call.outs);
        }
        if self.frames.len() as u64 >= self.limits.call_depth {
            return Err(Box::new(PathEnd::CallDepth { location: self.location(), bound: self.limits.call_depth }));
        }
        self.keep_variable_arguments(callee, call, &arguments);
        self.enter(callee, arguments, &call.outs);
        Ok(())
    }

    pub(crate) fn enter(&mut self, function: CodeFunctionId, arguments: Vec<Value>, outs: &'p [RegisterId]) {
        let code = &self.code.functions[function];
        let decoded = self.session.decoded(function);
        let base = self.registers.len();
        self.registers.extend_from_slice(decoded.frame());
        for (register, argument) in code.parameters.iter().zip(arguments) {
            self.registers[base + register.index()] = argument;
        }
        self.base = base;
        self.frames.push(Frame {
            function,
            map_function: self.session.shared.map_functions[function],
            base,
            block: branchwise_program::BlockId::new(0),
            next: 0,
            stack_objects: Vec::new(),
            outs,
            last_event: None,
            switched: None,
            decoded,
            loops: Vec::new(),
        });
    }

    pub(crate) fn leave(&mut self, values: &[Operand]) -> Step<()> {
        let widths = &self.code.functions[self.frame().function].results;
        let results: Vec<Value> =
            values.iter().zip(widths).map(|(value, &width)| self.wide_value(value, width)).collect();
        let Some(frame) = self.frames.pop() else { return Err(Box::new(PathEnd::Returned)) };
        frame.stack_objects.into_iter().for_each(|object| self.memory.end_lifetime(object));
        self.registers.truncate(frame.base);
        let Some(caller) = self.frames.last() else { return Err(Box::new(PathEnd::Returned)) };
        self.base = caller.base;
        for (register, value) in frame.outs.iter().zip(results) {
            self.set(*register, value);
        }
        Ok(())
    }
}
