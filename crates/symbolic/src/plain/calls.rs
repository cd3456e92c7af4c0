//! Calls and returns that only move values from one frame to another.

use branchwise_program::Id;
use branchwise_program::code::Instruction;

use super::decode::Decoded;
use crate::executor::Executor;
use crate::value::Value;

impl Executor<'_, '_> {
    /// Makes the call that an operation stands for. `None`, and nothing done: one more frame is too many.
    pub(super) fn call_plain(
        &mut self,
        registers: &mut Vec<Value>,
        decoded: &Decoded,
        operation: usize,
        call: u32,
    ) -> Option<()> {
        if self.frames.len() as u64 >= self.limits.call_depth {
            return None;
        }
        let call = &decoded.calls[call as usize];
        let place = decoded.place(operation);
        let frame = self.frames.last_mut()?;
        let code = self.code;
        let instruction = &code.functions[frame.function].blocks[place.block].instructions[place.first as usize];
        let Instruction::Call(instruction) = instruction else { return None };
        (frame.block, frame.next) = (place.block, operation + 1);
        self.instructions += u64::from(call.cost);
        let caller = self.base;
        self.enter_with(registers, call.callee, &instruction.outs);
        for &(parameter, argument) in &call.arguments {
            registers[self.base + parameter.index()] = registers[caller + usize::from(argument)].by_parts();
        }
        Some(())
    }

    /// Goes back to the caller. `None`, and nothing done, where there is none or a limit is reached.
    pub(super) fn return_plain(
        &mut self,
        registers: &mut [Value],
        decoded: &Decoded,
        results: u32,
        cost: u32,
    ) -> Option<()> {
        let instructions = self.instructions + u64::from(cost);
        if instructions > self.pause || self.frames.len() < 2 {
            return None;
        }
        self.instructions = instructions;
        let callee = self.base;
        let outs = self.drop_frame();
        for (&out, &result) in outs.iter().zip(&decoded.results[results as usize]) {
            registers[self.base + out.index()] = registers[callee + usize::from(result)].by_parts();
        }
        Some(())
    }
}
