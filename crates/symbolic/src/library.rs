//! The C library as the executor sees it: models are code like any other (`frontend/library`), but what happens in one
//! is told of the user's call; and the functions that no C code can be a model of.

use std::borrow::Cow;

use branchwise_program::assumption::catalogue;
use branchwise_program::library::readable;
use branchwise_program::{CodeFunctionId, RegisterId};

use crate::executor::{Executor, Step};
use crate::frames::Frame;
use crate::making::OBJECTS;
use crate::path::{FaultKind, PathEnd, Site};
use crate::value::{Pointer, Value};

impl Executor<'_, '_> {
    /// The instruction of the user's code that is executed: inside a model, the call that led there.
    pub(crate) fn site(&self) -> Site {
        let innermost = self.frames.len().saturating_sub(1);
        let user = self.user_frame().unwrap_or(innermost);
        let frame = &self.frames[user];
        let called = |next: usize| next.checked_sub(1).map_or(0, |call| frame.decoded.place(call).first);
        let instruction = if user == innermost { self.instruction } else { called(frame.next) };
        Site { function: frame.function, block: frame.block, instruction }
    }

    /// The innermost frame that is no model's, no stub's and not of the headers of the C++ library.
    pub(crate) fn user_frame(&self) -> Option<usize> {
        self.frames.iter().rposition(|frame| !self.is_foreign(frame.function))
    }

    fn is_foreign(&self, function: CodeFunctionId) -> bool {
        let code = &self.code.functions[function];
        let unknown = || self.session.shared.map_functions[function].is_none();
        code.library || self.session.shared.stubs[function] || code.name.starts_with("_Z") && unknown()
    }

    /// The function that the user's code has called and that is not the user's, while it has not returned yet.
    pub(crate) fn called_model(&self) -> Option<Cow<'_, str>> {
        let frame = self.frames.get(self.user_frame()? + 1)?;
        Some(readable(&self.code.functions[frame.function].name))
    }

    pub(crate) fn in_model(&self) -> bool {
        let generated = |function| self.code.functions[function].library || self.session.shared.stubs[function];
        self.frames.last().is_some_and(|frame| generated(frame.function))
    }

    /// A call of a function without a body.
    pub(crate) fn call_library(
        &mut self,
        callee: CodeFunctionId,
        arguments: &[Value],
        outs: &[RegisterId],
    ) -> Step<()> {
        let known = match self.call_stream(callee, arguments, outs)? {
            None => self.call_mathematics(callee, arguments)?,
            known => known,
        };
        if let Some(value) = known {
            outs.iter().for_each(|&out| self.set(out, value));
            return Ok(());
        }
        let name = self.code.functions[callee].name.as_str();
        let result = match (name, arguments) {
            ("abort" | "llvm.trap", _) => self.fail(FaultKind::Abort, format!("'{name}' was called")),
            ("__bw_terminate", [uncaught]) => {
                let uncaught = *uncaught;
                self.end_by_terminate(&uncaught)
            }
            ("__bw_pure_virtual", _) => self.fail(FaultKind::PureVirtualCall, "a pure virtual method was called"),
            ("__assert_fail", _) => self.fail(FaultKind::AssertFailed, "an assertion failed"),
            ("_exit" | "_Exit", _) => Err(Box::new(PathEnd::Exited { status: exit_status(arguments) })),
            ("__bw_allocation_fails", []) => self.allocation_fails().map(Some),
            ("__bw_jumps_back", [state, Value::Bits(bytes)]) => self.jumps_back(state, *bytes).map(Some),
            ("__bw_new_fails", []) => Ok(Some(self.new_fails())),
            ("__bw_otherwise", [name]) => {
                let name = self.literal(name);
                Ok(Some(self.not_otherwise(&name)))
            }
            ("__bw_allocate", [size, alignment, contents]) => self.allocate(size, alignment, contents).map(Some),
            ("__bw_resize", [object, size]) => self.resize(object, size).map(Some),
            ("__bw_release", [object]) => self.release(object).map(|()| None),
            // The call has left marks at what the stub leaves alone.
            ("__bw_left_alone", [_, _]) | ("__bw_outside", []) => Ok(None),
            ("__bw_act", [_, arguments]) => {
                let arguments = *arguments;
                self.act(&arguments);
                Ok(None)
            }
            ("__bw_act_again", [_, arguments]) => {
                let arguments = *arguments;
                self.act_again(&arguments);
                Ok(None)
            }
            ("__bw_may_call", []) => Ok(Some(Value::Bits(u64::from(self.may_call())))),
            ("__bw_looks_at", [_, Value::Bits(named)]) => Ok(Some(Value::Bits(self.variable_places(*named as usize)))),
            ("__bw_throws", []) => {
                self.note_reach();
                Ok(None)
            }
            ("__bw_handles", []) => {
                self.note_leaks();
                Ok(None)
            }
            ("__bw_threw", []) => {
                self.notes.threw |= !self.is_before_unit();
                self.note_leaks();
                Ok(None)
            }
            (name, arguments) if name.starts_with(OBJECTS) => self.call_of_maker(&name[OBJECTS.len()..], arguments),
            ("__bw_largest_object", [Value::Bits(bound)]) => {
                Err(Box::new(PathEnd::ObjectBound { location: self.location(), bound: *bound }))
            }
            ("__bw_require", [holds]) => {
                let holds = self.as_term(holds, 1);
                self.require(holds).map(|()| None)
            }
            ("__bw_unsupported", [what]) => {
                let what = self.literal(what);
                self.unsupported(what)
            }
            _ => self.unsupported(format!("call of '{}', which is not defined in this file", readable(name))),
        };
        if let (Some(value), [out, ..]) = (result?, outs) {
            self.set(*out, value);
        }
        Ok(())
    }

    /// `__bw_otherwise(name)`: no test does what the assumption of this name excludes.
    fn not_otherwise(&mut self, name: &str) -> Value {
        if let Some(known) = catalogue::ALL.iter().find(|known| known.name == name) {
            self.rest_on(known.assumed());
        }
        Value::Bits(0)
    }

    /// The compiler calls `terminate` where an exception comes to the end of what must not throw.
    fn end_by_terminate<T>(&self, uncaught: &Value) -> Step<T> {
        let by_compiler = |frame: &Frame| self.code.functions[frame.function].name == "__clang_call_terminate";
        if !self.frames.iter().any(by_compiler) {
            return self.fail(FaultKind::Terminate, "'std::terminate' was called");
        }
        match uncaught {
            Value::Bits(0) => self.fail(FaultKind::UncaughtException, "an exception leaves what must not throw"),
            _ => {
                let message = "a destructor throws while another exception is on its way";
                self.fail(FaultKind::ExceptionWhileUnwinding, message)
            }
        }
    }

    /// The text of a string literal of a model.
    pub(crate) fn literal(&mut self, text: &Value) -> String {
        let Value::Pointer(Pointer { object, offset }) = *text else { return String::new() };
        let size = self.memory.get(object).map_or(0, |object| object.size);
        let mut bytes = Vec::new();
        for at in offset..size {
            match self.memory.read(self.session, object, at, 1) {
                Value::Bits(byte) if byte != 0 => bytes.push(byte as u8),
                _ => break,
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn exit_status(arguments: &[Value]) -> Option<i32> {
    match arguments.first() {
        Some(Value::Bits(bits)) => Some(*bits as i32),
        _ => None,
    }
}
