//! The text form of the code. `{:#}` adds source locations.
//!
//! ```text
//! function @trityp(%0: 32, %1: 32) -> 32
//! block0:
//!   %3 = compare sle 32 %0, 0
//!   branch %3 block1 block2
//! ```

use std::fmt::{self, Display, Formatter};

use crate::code::{
    Address, Binary, BinaryOp, Call, Callee, Cast, CastOp, Changes, Code, Compare, CompareOp, Edge, Float, FloatOp,
    FloatPredicate, Function, Global, Instruction, Location, Operand, Terminator,
};
use crate::{CodeFunctionId, GlobalId};

impl Display for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for global in self.globals.values() {
            write_global(f, self, global)?;
        }
        let locations = f.alternate();
        for (index, (id, _)) in self.functions.iter().enumerate() {
            if index > 0 || !self.globals.is_empty() {
                writeln!(f)?;
            }
            write_function(f, self, id, locations)?;
        }
        Ok(())
    }
}

impl Code {
    /// The text form of one function.
    pub fn function_text(&self, id: CodeFunctionId) -> impl Display + '_ {
        FunctionText { code: self, id }
    }
}

struct FunctionText<'a> {
    code: &'a Code,
    id: CodeFunctionId,
}

impl Display for FunctionText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_function(f, self.code, self.id, f.alternate())
    }
}

/// Something that needs the code to name functions and globals.
struct Named<'a, T>(&'a Code, T);

fn write_function(f: &mut Formatter<'_>, code: &Code, id: CodeFunctionId, locations: bool) -> fmt::Result {
    let Some(function) = code.functions.get(id) else { return writeln!(f, "function {id}?") };
    write_signature(f, function)?;
    for (id, block) in function.blocks.iter() {
        writeln!(f, "{id}:")?;
        for (index, instruction) in block.instructions.iter().enumerate() {
            write!(f, "  {}", Named(code, instruction))?;
            write_location(f, locations, block.locations.get(index))?;
        }
        write!(f, "  {}", Named(code, &block.terminator))?;
        write_location(f, locations, block.locations.get(block.instructions.len()))?;
    }
    Ok(())
}

fn write_signature(f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
    write!(f, "{} @{}(", if function.is_declaration() { "declare" } else { "function" }, function.name)?;
    for (index, &parameter) in function.parameters.iter().enumerate() {
        write!(f, "{}{parameter}: ", separator(index))?;
        match function.registers.get(parameter) {
            Some(width) => write!(f, "{width}")?,
            None => write!(f, "?")?,
        }
    }
    if function.variadic {
        write!(f, "{}...", separator(function.parameters.len()))?;
    }
    write!(f, ")")?;
    for (index, width) in function.results.iter().enumerate() {
        write!(f, "{}{width}", if index == 0 { " -> " } else { ", " })?;
    }
    writeln!(f)
}

fn write_location(f: &mut Formatter<'_>, wanted: bool, location: Option<&Option<Location>>) -> fmt::Result {
    match location {
        Some(Some(Location { file, line, column })) if wanted => writeln!(f, "  ; {file}:{line}:{column}"),
        _ => writeln!(f),
    }
}

fn write_global(f: &mut Formatter<'_>, code: &Code, global: &Global) -> fmt::Result {
    let internal = if global.internal { "internal " } else { "" };
    let constant = if global.constant { "constant" } else { "global" };
    write!(f, "{internal}{constant} @{}: {} bytes align {}", global.name, global.size, global.alignment)?;
    let Some(initializer) = &global.initializer else { return writeln!(f, " declared") };
    if initializer.bytes.iter().all(|&byte| byte == 0) {
        write!(f, " = zero")?;
    } else {
        write!(f, " = \"")?;
        // Trailing zeros are as long as the size says.
        let used = initializer.bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        write!(f, "{}\"", initializer.bytes[..used].escape_ascii())?;
    }
    for (offset, address) in &initializer.addresses {
        write!(f, ", {offset}: {}", Named(code, address))?;
    }
    writeln!(f)
}

fn separator(index: usize) -> &'static str {
    if index == 0 { "" } else { ", " }
}

impl Display for Named<'_, CodeFunctionId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.functions.get(self.1) {
            Some(function) => write!(f, "@{}", function.name),
            None => write!(f, "{}?", self.1),
        }
    }
}

impl Display for Named<'_, GlobalId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.globals.get(self.1) {
            Some(global) => write!(f, "@{}", global.name),
            None => write!(f, "{}?", self.1),
        }
    }
}

impl Display for Named<'_, &Operand> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self.1 {
            Operand::Register(register) => write!(f, "{register}"),
            // Large constants are masks and bit patterns more often than counts.
            Operand::Constant(value) if value > u128::from(u32::MAX) => write!(f, "{value:#x}"),
            Operand::Constant(value) => write!(f, "{value}"),
            Operand::Global(id, 0) => write!(f, "{}", Named(self.0, id)),
            Operand::Global(id, offset) => write!(f, "{}{offset:+}", Named(self.0, id)),
            Operand::Function(id) => write!(f, "{}", Named(self.0, id)),
            Operand::Undefined => write!(f, "undefined"),
        }
    }
}

impl Display for Named<'_, &Instruction> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let code = self.0;
        let name = |operand| Named(code, operand);
        match self.1 {
            Instruction::Binary(binary) => write!(f, "{}", Named(code, binary)),
            Instruction::Compare(compare) => write!(f, "{}", Named(code, compare)),
            Instruction::Cast(cast) => write!(f, "{}", Named(code, cast)),
            Instruction::Float(float) => write!(f, "{}", Named(code, float)),
            Instruction::Select { out, width, condition, then, otherwise } => {
                write!(f, "{out} = select {width} {}, {}, {}", name(condition), name(then), name(otherwise))
            }
            Instruction::StackObject { out, size, count, alignment } => {
                write!(f, "{out} = stack {size} x {} align {alignment}", name(count))
            }
            Instruction::Load { out, width, address } => write!(f, "{out} = load {width} {}", name(address)),
            Instruction::Store { width, value, address } => {
                write!(f, "store {width} {} to {}", name(value), name(address))
            }
            Instruction::Address(address) => write!(f, "{}", Named(code, address)),
            Instruction::Call(call) => write!(f, "{}", Named(code, call)),
            Instruction::CopyMemory { to, from, size } => {
                write!(f, "copy_memory {} from {} size {}", name(to), name(from), name(size))
            }
            Instruction::SetMemory { to, byte, size } => {
                write!(f, "set_memory {} byte {} size {}", name(to), name(byte), name(size))
            }
            Instruction::MarkCondition { out, marker, value } => write!(f, "{out} = mark {marker} {}", name(value)),
            Instruction::Probe { probe, value } => write!(f, "probe {probe} {}", name(value)),
            Instruction::MarkSwitch { marker, value } => write!(f, "mark_switch {marker} {}", name(value)),
            Instruction::Input { index, address } => write!(f, "input {index} at {}", name(address)),
            Instruction::Feed { feed, address, size } => write!(f, "{feed} at {} size {size}", name(address)),
            Instruction::Assume { condition } => write!(f, "assume {}", name(condition)),
            Instruction::Output { index, address, size } => {
                write!(f, "output {index} at {} size {size}", name(address))
            }
            Instruction::VariadicStart { list } => write!(f, "variadic_start {}", name(list)),
            Instruction::VolatileRead { address, by } => {
                let word = match by {
                    Changes::Hardware => "volatile",
                    Changes::Threads => "atomic",
                    Changes::ThreadsOrChance => "atomic weak",
                };
                write!(f, "{word} {}", name(address))
            }
            Instruction::VolatileWrite { address } => write!(f, "volatile write {}", name(address)),
            Instruction::WeakReference { out, symbol } => write!(f, "{out} = weak {}", name(symbol)),
            Instruction::Unsupported { what } => write!(f, "unsupported \"{}\"", what.escape_debug()),
        }
    }
}

impl Display for Named<'_, &Binary> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Binary { op, width, out, left, right, no_signed_wrap } = self.1;
        let flag = if *no_signed_wrap { " nsw" } else { "" };
        write!(f, "{out} = {op}{flag} {width} {}, {}", Named(self.0, left), Named(self.0, right))
    }
}

impl Display for Named<'_, &Compare> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Compare { op, width, out, left, right } = self.1;
        write!(f, "{out} = compare {op} {width} {}, {}", Named(self.0, left), Named(self.0, right))
    }
}

impl Display for Named<'_, &Cast> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Cast { op, from, to, out, value } = self.1;
        write!(f, "{out} = {op} {from} -> {to} {}", Named(self.0, value))
    }
}

impl Display for Named<'_, &Float> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Float { op, from, to, out, operands } = self.1;
        write!(f, "{out} = float {op} {from}")?;
        if from != to && !matches!(op, FloatOp::Compare(_)) {
            write!(f, " -> {to}")?;
        }
        for (index, operand) in operands.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { " " } else { ", " }, Named(self.0, operand))?;
        }
        Ok(())
    }
}

impl Display for Named<'_, &Address> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Address { out, base, constant, scaled } = self.1;
        write!(f, "{out} = address {}", Named(self.0, base))?;
        for term in scaled {
            write!(f, " + {}:{} * {}", Named(self.0, &term.index), term.width, term.scale)?;
        }
        if *constant != 0 {
            let sign = if *constant < 0 { '-' } else { '+' };
            write!(f, " {sign} {}", constant.unsigned_abs())?;
        }
        Ok(())
    }
}

impl Display for Named<'_, &Call> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Call { outs, callee, arguments, argument_widths, passing: _ } = self.1;
        for (index, out) in outs.iter().enumerate() {
            write!(f, "{}{out}", separator(index))?;
        }
        let equals = if outs.is_empty() { "" } else { " = " };
        match callee {
            Callee::Direct(id) => write!(f, "{equals}call {}(", Named(self.0, *id))?,
            Callee::Indirect(operand) => write!(f, "{equals}call indirect {}(", Named(self.0, operand))?,
        }
        for (index, argument) in arguments.iter().enumerate() {
            write!(f, "{}{}", separator(index), Named(self.0, argument))?;
            if let Some(width) = argument_widths.get(index) {
                write!(f, ": {width}")?;
            }
        }
        write!(f, ")")
    }
}

impl Display for Named<'_, &Terminator> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let edge = |edge| Named(self.0, edge);
        match self.1 {
            Terminator::Jump(target) => write!(f, "jump {}", edge(target)),
            Terminator::Branch { condition, then, otherwise } => {
                write!(f, "branch {} {} {}", Named(self.0, condition), edge(then), edge(otherwise))
            }
            Terminator::Switch { value, width, cases, default } => {
                write!(f, "switch {width} {}", Named(self.0, value))?;
                for (label, target) in cases {
                    write!(f, " {label}: {},", edge(target))?;
                }
                write!(f, " default: {}", edge(default))
            }
            Terminator::Return(values) => {
                write!(f, "return")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { " " } else { ", " }, Named(self.0, value))?;
                }
                Ok(())
            }
            Terminator::Unreachable => write!(f, "unreachable"),
        }
    }
}

impl Display for Named<'_, &Edge> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Edge { target, copies, back } = self.1;
        write!(f, "{target}")?;
        if !copies.is_empty() {
            write!(f, "(")?;
            for (index, (out, value)) in copies.iter().enumerate() {
                write!(f, "{}{out} = {}", separator(index), Named(self.0, value))?;
            }
            write!(f, ")")?;
        }
        if *back { write!(f, " back") } else { Ok(()) }
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::UDiv => "udiv",
            BinaryOp::SDiv => "sdiv",
            BinaryOp::URem => "urem",
            BinaryOp::SRem => "srem",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::Shl => "shl",
            BinaryOp::LShr => "lshr",
            BinaryOp::AShr => "ashr",
        })
    }
}

impl Display for CompareOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Ult => "ult",
            CompareOp::Ule => "ule",
            CompareOp::Ugt => "ugt",
            CompareOp::Uge => "uge",
            CompareOp::Slt => "slt",
            CompareOp::Sle => "sle",
            CompareOp::Sgt => "sgt",
            CompareOp::Sge => "sge",
        })
    }
}

impl Display for CastOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CastOp::Copy => "copy",
            CastOp::Truncate => "truncate",
            CastOp::ZeroExtend => "zero_extend",
            CastOp::SignExtend => "sign_extend",
        })
    }
}

impl Display for FloatOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FloatOp::Add => "add",
            FloatOp::Sub => "sub",
            FloatOp::Mul => "mul",
            FloatOp::Div => "div",
            FloatOp::Rem => "rem",
            FloatOp::Sqrt => "sqrt",
            FloatOp::Floor => "floor",
            FloatOp::Ceil => "ceil",
            FloatOp::Trunc => "trunc",
            FloatOp::RoundEven => "round_even",
            FloatOp::RoundAway => "round_away",
            FloatOp::FusedMultiplyAdd => "fused_multiply_add",
            FloatOp::Compare(predicate) => return write!(f, "compare {predicate}"),
            FloatOp::ToSigned => "to_signed",
            FloatOp::ToUnsigned => "to_unsigned",
            FloatOp::FromSigned => "from_signed",
            FloatOp::FromUnsigned => "from_unsigned",
            FloatOp::Convert => "convert",
        })
    }
}

impl Display for FloatPredicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FloatPredicate::Equal => "oeq",
            FloatPredicate::Greater => "ogt",
            FloatPredicate::GreaterOrEqual => "oge",
            FloatPredicate::Less => "olt",
            FloatPredicate::LessOrEqual => "ole",
            FloatPredicate::Different => "one",
            FloatPredicate::Ordered => "ord",
            FloatPredicate::Unordered => "uno",
            FloatPredicate::UnorderedOrEqual => "ueq",
            FloatPredicate::UnorderedOrGreater => "ugt",
            FloatPredicate::UnorderedOrGreaterOrEqual => "uge",
            FloatPredicate::UnorderedOrLess => "ult",
            FloatPredicate::UnorderedOrLessOrEqual => "ule",
            FloatPredicate::UnorderedOrDifferent => "une",
        })
    }
}
