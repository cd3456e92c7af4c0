//! The C library as the executor sees it: models are code like any other (`frontend/library`), but what happens in one
//! is told of the user's call; and the functions that no C code can be a model of.

use branchwise_program::{CodeFunctionId, RegisterId};

use crate::executor::{Executor, Step};
use crate::path::{FaultKind, PathEnd, Site};
use crate::step::Flow;
use crate::value::{Pointer, Value};

impl Executor<'_, '_> {
    /// The instruction of the user's code that is executed: inside a model, the call that led there.
    pub(crate) fn site(&self) -> Site {
        let innermost = self.frames.len().saturating_sub(1);
        let user = self.user_frame().unwrap_or(innermost);
        let frame = &self.frames[user];
        let instruction = if user == innermost { self.instruction } else { (frame.next as u32).saturating_sub(1) };
        Site { function: frame.function, block: frame.block, instruction }
    }

    /// The innermost frame that is no model's and no stub's.
    fn user_frame(&self) -> Option<usize> {
        let generated = |function| self.code.functions[function].library || self.session.stubs[function];
        self.frames.iter().rposition(|frame| !generated(frame.function))
    }

    /// The library function that the user's code has called and that has not returned yet.
    pub(crate) fn called_model(&self) -> Option<&str> {
        let frame = self.frames.get(self.user_frame()? + 1)?;
        Some(self.code.functions[frame.function].name.as_str())
    }

    /// A call of a function without a body.
    pub(crate) fn call_library(
        &mut self,
        callee: CodeFunctionId,
        arguments: &[Value],
        outs: &[RegisterId],
    ) -> Step<Flow> {
        let name = self.code.functions[callee].name.as_str();
        let result = match (name, arguments) {
            ("abort" | "llvm.trap", _) => self.fail(FaultKind::Abort, format!("'{name}' was called")),
            ("__assert_fail", _) => self.fail(FaultKind::AssertFailed, "an assertion failed"),
            ("_exit" | "_Exit", _) => Err(Box::new(PathEnd::Exited { status: exit_status(arguments) })),
            ("__bw_allocate", [size, alignment, contents]) => self.allocate(size, alignment, contents).map(Some),
            ("__bw_resize", [object, size]) => self.resize(object, size).map(Some),
            ("__bw_release", [object]) => self.release(object).map(|()| None),
            ("__bw_unsupported", [what]) => {
                let what = self.literal(what);
                self.unsupported(what)
            }
            _ => self.unsupported(format!("call of '{name}', which is not defined in this file")),
        };
        if let (Some(value), [out, ..]) = (result?, outs) {
            self.set(*out, value);
        }
        Ok(Flow::Next)
    }

    /// The text of a string literal of a model.
    fn literal(&mut self, text: &Value) -> String {
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
