//! Calls: markers, inline assembly, intrinsics and plain calls.

use branchwise_program::code::{Call, Callee, Instruction, Operand, Passing};
use branchwise_program::{FeedId, MarkerId, ProbeId};

use super::Unsupported;
use super::function::FunctionLowering;
use super::instructions::Parts;
use super::llvm::{TypeKind, Value, ValueKind};
use super::module::behind;

/// The declaration that every trap calls.
pub const TRAP: &str = "llvm.trap";

pub fn is_trap(name: &str) -> bool {
    matches!(name, "llvm.trap" | "llvm.debugtrap" | "llvm.ubsantrap")
}

const CONDITION: &str = "__bw_condition";
const SWITCH: &str = "__bw_switch";
const PROBE: &str = "__bw_probe";
const INPUT: &str = "__bw_input";
const OUTPUT: &str = "__bw_output";
const FEED: &str = "__bw_feed";
const ASSUME: &str = "__bw_assume";

/// The functions that the front end's marked source and its drivers call.
pub fn is_marker_call(name: &str) -> bool {
    matches!(name, CONDITION | SWITCH | PROBE | INPUT | OUTPUT | FEED | ASSUME)
}

impl<'m> FunctionLowering<'_, 'm> {
    pub fn call(&mut self, value: Value<'m>) -> Parts {
        let Some(called) = value.called_value() else { return Err(Unsupported::new("a call of nothing")) };
        if let Some((code, constraints)) = called.inline_assembly() {
            return self.inline_assembly(value, &code, &constraints);
        }
        let callee = behind(called);
        if callee.kind() != ValueKind::LLVMFunctionValueKind {
            let pointer = self.scalar(callee)?;
            return self.plain_call(value, Callee::Indirect(pointer));
        }
        match self.module.function(callee) {
            Some(id) => {
                self.check_signature(value, callee)?;
                self.plain_call(value, Callee::Direct(id))
            }
            None if callee.is_intrinsic() => self.intrinsic(value, &callee.name()),
            None => self.marker_call(value, &callee.name()),
        }
    }

    pub fn trap(&mut self) -> Parts {
        let callee = Callee::Direct(self.module.trap.ok_or_else(|| Unsupported::new("a trap"))?);
        self.emit.push(Instruction::Call(Call {
            outs: Vec::new(),
            callee,
            arguments: Vec::new(),
            argument_widths: Vec::new(),
            passing: Vec::new(),
        }));
        Ok(Vec::new())
    }

    fn plain_call(&mut self, value: Value<'m>, callee: Callee) -> Parts {
        let mut arguments = Vec::new();
        let mut argument_widths = Vec::new();
        let mut passing = Vec::new();
        for (index, argument) in value.arguments().into_iter().enumerate() {
            arguments.extend(self.parts(argument)?);
            let shape = self.shape(argument)?;
            argument_widths.extend(shape.iter().map(|part| part.width));
            if value.called_type().is_variadic() {
                passing.extend(vec![self.passing(value, index as u32, argument); shape.len()]);
            }
        }
        let shape = self.shape(value)?;
        let is_used = value.users().next().is_some();
        let outs = if is_used { self.registers(&shape) } else { Vec::new() };
        let results = match is_used {
            true => outs.iter().copied().map(Operand::Register).collect(),
            false => vec![Operand::Undefined; shape.len()],
        };
        self.emit.push(Instruction::Call(Call { outs, callee, arguments, argument_widths, passing }));
        Ok(results)
    }

    /// The class of an argument in the calling convention of x86-64, where the compiler has taken structures apart.
    fn passing(&self, call: Value<'m>, index: u32, argument: Value<'m>) -> Passing {
        let view = self.module.view;
        if let Some(ty) = call.by_value_argument(index) {
            // Every argument on the stack takes whole words.
            return Passing::ByValue { size: view.abi_size(ty), alignment: view.abi_alignment(ty).max(8) };
        }
        match argument.ty().kind() {
            TypeKind::LLVMHalfTypeKind
            | TypeKind::LLVMFloatTypeKind
            | TypeKind::LLVMDoubleTypeKind
            | TypeKind::LLVMVectorTypeKind => Passing::Float,
            TypeKind::LLVMX86_FP80TypeKind => Passing::Stack { alignment: 16 },
            _ => Passing::General,
        }
    }

    /// A call through an old-style declaration may not fit the definition, which is undefined in C.
    fn check_signature(&mut self, value: Value<'m>, callee: Value<'m>) -> Result<(), Unsupported> {
        let mismatch = || Unsupported(format!("a call of {} with other types than it has", callee.name()));
        let results = self.module.shapes.of(callee.value_type().result())?;
        let mut expected = Vec::new();
        for parameter in callee.parameters() {
            expected.extend(self.shape(parameter)?.iter().map(|part| part.width));
        }
        let mut given = Vec::new();
        for argument in value.arguments() {
            given.extend(self.shape(argument)?.iter().map(|part| part.width));
        }
        let same_results = self.shape(value)?.iter().map(|part| part.width).eq(results.iter().map(|part| part.width));
        if same_results && given.starts_with(&expected) { Ok(()) } else { Err(mismatch()) }
    }

    /// An empty text is a barrier for the compiler: memory stays, and so does what a tied operand hands through.
    fn inline_assembly(&mut self, value: Value<'m>, code: &str, constraints: &str) -> Parts {
        let in_memory = |marks: &str| constraints.split(',').filter(|one| one.starts_with(marks)).count();
        let (written, read) = (in_memory("=*"), in_memory("*"));
        let mut constraints = constraints.split(',');
        let in_register = |output: &str| output.starts_with('=') && !output.contains('*');
        let tied = constraints.next().is_some_and(in_register) && constraints.next() == Some("0");
        match value.arguments().as_slice() {
            _ if !code.trim().is_empty() => Err(Unsupported::new("inline assembly")),
            // What is listed as an output and not as an input may be anything behind it.
            _ if written > read => Err(Unsupported::new("inline assembly")),
            _ if value.ty().is_void() => Ok(Vec::new()),
            [only] if tied && only.ty() == value.ty() => self.parts(*only),
            _ => Err(Unsupported::new("inline assembly")),
        }
    }

    fn marker_call(&mut self, value: Value<'m>, name: &str) -> Parts {
        let arguments = value.arguments();
        match (name, arguments.as_slice()) {
            (CONDITION, &[marker, condition]) => self.mark_condition(marker, condition),
            (SWITCH, &[marker, condition]) => self.mark_switch(value, marker, condition),
            (PROBE, &[probe, answer]) => self.probe(probe, answer),
            (INPUT, &[address, index]) => self.input(address, index),
            (OUTPUT, &[address, index, size]) => self.output(address, index, size),
            (FEED, &[address, feed, size]) => self.feed(address, feed, size),
            (ASSUME, &[condition]) => self.assume(condition),
            _ => Err(Unsupported(format!("a call of {name} with other arguments than it takes"))),
        }
    }

    fn mark_condition(&mut self, marker: Value<'m>, condition: Value<'m>) -> Parts {
        let marker = MarkerId(small_constant(marker)?);
        let value = self.scalar_of_width(condition, 32)?;
        let out = self.emit.register(32);
        self.emit.push(Instruction::MarkCondition { out, marker, value });
        Ok(vec![Operand::Register(out)])
    }

    fn mark_switch(&mut self, call: Value<'m>, marker: Value<'m>, condition: Value<'m>) -> Parts {
        let marker = MarkerId(small_constant(marker)?);
        let value = self.scalar_of_width(condition, 64)?;
        self.emit.push(Instruction::MarkSwitch { marker, value });
        Ok(if call.ty().is_void() { Vec::new() } else { vec![value] })
    }

    fn probe(&mut self, probe: Value<'m>, answer: Value<'m>) -> Parts {
        let probe = ProbeId(small_constant(probe)?);
        let value = self.scalar_of_width(answer, 32)?;
        self.emit.push(Instruction::Probe { probe, value });
        Ok(vec![value])
    }

    fn input(&mut self, address: Value<'m>, index: Value<'m>) -> Parts {
        let (index, address) = (small_constant(index)?, self.scalar(address)?);
        self.emit.push(Instruction::Input { index, address });
        Ok(Vec::new())
    }

    fn output(&mut self, address: Value<'m>, index: Value<'m>, size: Value<'m>) -> Parts {
        let (index, size) = (small_constant(index)?, u64::from(small_constant(size)?));
        let address = self.scalar(address)?;
        self.emit.push(Instruction::Output { index, address, size });
        Ok(Vec::new())
    }

    fn feed(&mut self, address: Value<'m>, feed: Value<'m>, size: Value<'m>) -> Parts {
        let (feed, size) = (FeedId(small_constant(feed)?), u64::from(small_constant(size)?));
        let address = self.scalar(address)?;
        self.emit.push(Instruction::Feed { feed, address, size });
        Ok(Vec::new())
    }

    fn assume(&mut self, condition: Value<'m>) -> Parts {
        let condition = self.scalar_of_width(condition, 32)?;
        self.emit.push(Instruction::Assume { condition });
        Ok(Vec::new())
    }

    fn scalar_of_width(&mut self, value: Value<'m>, width: u32) -> Result<Operand, Unsupported> {
        if self.width(value)? != width {
            return Err(Unsupported::new("a marker with a value of another width"));
        }
        self.scalar(value)
    }
}

fn small_constant(value: Value<'_>) -> Result<u32, Unsupported> {
    let number = value.integer().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| Unsupported::new("a marker whose number is not constant"))
}
