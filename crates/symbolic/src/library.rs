//! The C library as the executor sees it: models are code like any other (`frontend/library`), but what happens in one
//! is told of the user's call; and the functions that no C code can be a model of.

use branchwise_program::CodeFunctionId;

use crate::executor::{Executor, Step};
use crate::path::{FaultKind, PathEnd, Site};
use crate::step::Flow;
use crate::value::Value;

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
    pub(crate) fn call_library(&mut self, callee: CodeFunctionId, arguments: &[Value]) -> Step<Flow> {
        let name = self.code.functions[callee].name.as_str();
        match name {
            "abort" | "llvm.trap" => self.fail(FaultKind::Abort, format!("'{name}' was called")),
            "__assert_fail" => self.fail(FaultKind::AssertFailed, "an assertion failed"),
            "exit" | "_exit" | "_Exit" | "quick_exit" => {
                Err(Box::new(PathEnd::Exited { status: exit_status(arguments) }))
            }
            _ => self.unsupported(format!("call of '{name}', which is not defined in this file")),
        }
    }
}

fn exit_status(arguments: &[Value]) -> Option<i32> {
    match arguments.first() {
        Some(Value::Bits(bits)) => Some(*bits as i32),
        _ => None,
    }
}
