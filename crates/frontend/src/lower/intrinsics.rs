//! LLVM's intrinsics.

use branchwise_program::code::{BinaryOp, CompareOp, FloatOp, FloatPredicate, Instruction, Operand, Width};

use super::Unsupported;
use super::bits::Checked;
use super::calls::is_trap;
use super::emit::{Emitter, mask};
use super::function::FunctionLowering;
use super::instructions::Parts;
use super::llvm::Value;

/// What an intrinsic does; its name carries its types behind, as in `llvm.smax.i32`.
#[derive(Debug, Copy, Clone)]
enum Intrinsic {
    /// Hints and annotations.
    Nothing,
    FirstArgument,
    /// The stack pointer and the like: nobody looks inside.
    Zero,
    ObjectSize,
    CopyMemory,
    SetMemory,
    VariadicStart,
    VariadicCopy,
    Absolute,
    Extreme(CompareOp),
    Checked(Checked),
    Saturated(Checked),
    FunnelShift {
        left: bool,
    },
    ByteSwap,
    BitReverse,
    PopulationCount,
    LeadingZeros,
    TrailingZeros,
    FloatAbsolute,
    FloatCopySign,
    Float(FloatOp),
    MultiplyAdd,
    FloatExtreme(FloatPredicate),
    FloatRoundToInteger(FloatOp),
    FloatClass,
    PointerMask,
}

fn known(stem: &str) -> Option<Intrinsic> {
    use Intrinsic::*;
    Some(match stem {
        "lifetime.start"
        | "lifetime.end"
        | "dbg.declare"
        | "dbg.value"
        | "dbg.assign"
        | "dbg.label"
        | "assume"
        | "donothing"
        | "var.annotation"
        | "experimental.noalias.scope.decl"
        | "invariant.end"
        | "prefetch"
        | "sideeffect"
        | "pseudoprobe"
        | "stackrestore"
        | "va_end"
        | "clear_cache" => Nothing,
        "expect"
        | "expect.with.probability"
        | "annotation"
        | "ptr.annotation"
        | "threadlocal.address"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "ssa.copy"
        | "preserve.array.access.index" => FirstArgument,
        "stacksave" | "is.constant" | "invariant.start" => Zero,
        "objectsize" => ObjectSize,
        "memcpy" | "memcpy.inline" | "memmove" => CopyMemory,
        "memset" | "memset.inline" => SetMemory,
        "va_start" => VariadicStart,
        "va_copy" => VariadicCopy,
        "abs" => Absolute,
        "smax" => Extreme(CompareOp::Sgt),
        "smin" => Extreme(CompareOp::Slt),
        "umax" => Extreme(CompareOp::Ugt),
        "umin" => Extreme(CompareOp::Ult),
        "sadd.with.overflow" => Checked(self::Checked::SignedAdd),
        "ssub.with.overflow" => Checked(self::Checked::SignedSub),
        "smul.with.overflow" => Checked(self::Checked::SignedMul),
        "uadd.with.overflow" => Checked(self::Checked::UnsignedAdd),
        "usub.with.overflow" => Checked(self::Checked::UnsignedSub),
        "umul.with.overflow" => Checked(self::Checked::UnsignedMul),
        "sadd.sat" => Saturated(self::Checked::SignedAdd),
        "ssub.sat" => Saturated(self::Checked::SignedSub),
        "uadd.sat" => Saturated(self::Checked::UnsignedAdd),
        "usub.sat" => Saturated(self::Checked::UnsignedSub),
        "fshl" => FunnelShift { left: true },
        "fshr" => FunnelShift { left: false },
        "bswap" => ByteSwap,
        "bitreverse" => BitReverse,
        "ctpop" => PopulationCount,
        "ctlz" => LeadingZeros,
        "cttz" => TrailingZeros,
        "fabs" => FloatAbsolute,
        "copysign" => FloatCopySign,
        "sqrt" => Float(FloatOp::Sqrt),
        "floor" => Float(FloatOp::Floor),
        "ceil" => Float(FloatOp::Ceil),
        "trunc" => Float(FloatOp::Trunc),
        "rint" | "nearbyint" | "roundeven" => Float(FloatOp::RoundEven),
        "round" => Float(FloatOp::RoundAway),
        "fma" => Float(FloatOp::FusedMultiplyAdd),
        "fmuladd" => MultiplyAdd,
        "minnum" => FloatExtreme(FloatPredicate::Less),
        "maxnum" => FloatExtreme(FloatPredicate::Greater),
        "lround" | "llround" => FloatRoundToInteger(FloatOp::RoundAway),
        "lrint" | "llrint" => FloatRoundToInteger(FloatOp::RoundEven),
        "is.fpclass" => FloatClass,
        "ptrmask" => PointerMask,
        _ => return None,
    })
}

/// Drops the types at the end of the name until what is left is known.
fn find(name: &str) -> Option<Intrinsic> {
    let mut stem = name.strip_prefix("llvm.")?;
    loop {
        if let Some(intrinsic) = known(stem) {
            return Some(intrinsic);
        }
        stem = stem.rsplit_once('.')?.0;
    }
}

impl<'m> FunctionLowering<'_, 'm> {
    pub fn intrinsic(&mut self, call: Value<'m>, name: &str) -> Parts {
        if is_trap(name) {
            return self.trap();
        }
        let Some(intrinsic) = find(name) else { return Err(Unsupported(format!("intrinsic {name}"))) };
        let arguments = call.arguments();
        let arguments = arguments.as_slice();
        match intrinsic {
            Intrinsic::Nothing => Ok(Vec::new()),
            Intrinsic::FirstArgument => self.parts(argument(arguments, 0)?),
            Intrinsic::Zero => self.each(call, |_, _, _| Operand::Constant(0), &[]),
            Intrinsic::ObjectSize => self.object_size(call, argument(arguments, 1)?),
            Intrinsic::CopyMemory => self.copy_memory(arguments),
            Intrinsic::SetMemory => self.set_memory(arguments),
            Intrinsic::VariadicStart => self.variadic_start(arguments),
            Intrinsic::VariadicCopy => self.variadic_copy(arguments),
            Intrinsic::Absolute => self.absolute(call, arguments),
            Intrinsic::Extreme(op) => self.binary_each(call, arguments, |e, w, a, b| e.extreme(op, w, a, b)),
            Intrinsic::Checked(op) => self.checked(op, arguments),
            Intrinsic::Saturated(op) => self.binary_each(call, arguments, |e, w, a, b| e.saturated(op, w, a, b)),
            Intrinsic::FunnelShift { left } => self.funnel_shift(call, arguments, left),
            Intrinsic::ByteSwap => self.unary_each(call, arguments, Emitter::byte_swap),
            Intrinsic::BitReverse => self.unary_each(call, arguments, Emitter::bit_reverse),
            Intrinsic::PopulationCount => self.unary_each(call, arguments, Emitter::population_count),
            Intrinsic::LeadingZeros => self.unary_each(call, arguments, Emitter::leading_zeros),
            Intrinsic::TrailingZeros => self.unary_each(call, arguments, Emitter::trailing_zeros),
            Intrinsic::FloatAbsolute => self.unary_each(call, arguments, clear_sign),
            Intrinsic::FloatCopySign => self.binary_each(call, arguments, copy_sign),
            Intrinsic::Float(op) => self.float_intrinsic(op, call, arguments),
            Intrinsic::MultiplyAdd => self.multiply_add(call, arguments),
            Intrinsic::FloatExtreme(predicate) => self.float_extreme(call, arguments, predicate),
            Intrinsic::FloatRoundToInteger(op) => self.float_round_to_integer(op, call, arguments),
            Intrinsic::FloatClass => self.float_class(call, arguments),
            Intrinsic::PointerMask => self.binary_each(call, arguments, |e, w, a, b| e.binary(BinaryOp::And, w, a, b)),
        }
    }

    /// Runs an expansion for every element of the result, with that element of every argument.
    pub fn each(
        &mut self,
        call: Value<'m>,
        mut expand: impl FnMut(&mut Emitter, Width, &[Operand]) -> Operand,
        arguments: &[Value<'m>],
    ) -> Parts {
        let shape = self.shape(call)?;
        let mut columns = Vec::new();
        for &argument in arguments {
            let parts = self.parts(argument)?;
            if parts.len() != shape.len() {
                return Err(Unsupported::new("an intrinsic over vectors of unequal length"));
            }
            columns.push(parts);
        }
        let rows = shape.iter().enumerate();
        let row = |index: usize| columns.iter().map(|column| column[index]).collect::<Vec<_>>();
        Ok(rows.map(|(index, part)| expand(&mut self.emit, part.width, &row(index))).collect())
    }

    fn unary_each(
        &mut self,
        call: Value<'m>,
        arguments: &[Value<'m>],
        expand: impl Fn(&mut Emitter, Width, Operand) -> Operand,
    ) -> Parts {
        self.each(call, |emit, width, values| expand(emit, width, values[0]), &[argument(arguments, 0)?])
    }

    fn binary_each(
        &mut self,
        call: Value<'m>,
        arguments: &[Value<'m>],
        expand: impl Fn(&mut Emitter, Width, Operand, Operand) -> Operand,
    ) -> Parts {
        let pair = [argument(arguments, 0)?, argument(arguments, 1)?];
        self.each(call, |emit, width, values| expand(emit, width, values[0], values[1]), &pair)
    }

    fn funnel_shift(&mut self, call: Value<'m>, arguments: &[Value<'m>], left: bool) -> Parts {
        let all = [argument(arguments, 0)?, argument(arguments, 1)?, argument(arguments, 2)?];
        self.each(call, |emit, width, v| emit.funnel_shift(width, [v[0], v[1], v[2]], left), &all)
    }

    fn absolute(&mut self, call: Value<'m>, arguments: &[Value<'m>]) -> Parts {
        let no_signed_wrap = argument(arguments, 1)?.integer() == Some(1);
        self.unary_each(call, arguments, |emit, width, value| emit.absolute(width, value, no_signed_wrap))
    }

    /// All results first, then all overflow bits, as in the structure that the intrinsic returns.
    fn checked(&mut self, op: Checked, arguments: &[Value<'m>]) -> Parts {
        let (left, right) = (argument(arguments, 0)?, argument(arguments, 1)?);
        let shape = self.shape(left)?;
        let pairs: Vec<_> = self.parts(left)?.into_iter().zip(self.parts(right)?).collect();
        let elements = shape.iter().zip(pairs);
        let (mut results, overflows): (Vec<_>, Vec<_>) =
            elements.map(|(part, (left, right))| self.emit.checked(op, part.width, left, right)).unzip();
        results.extend(overflows);
        Ok(results)
    }

    /// "Unknown": the largest size, or zero where the least is asked for.
    fn object_size(&mut self, call: Value<'m>, least: Value<'m>) -> Parts {
        let unknown = if least.integer() == Some(1) { 0 } else { u128::MAX };
        self.each(call, |_, width, _| Operand::Constant(unknown & mask(width)), &[])
    }

    fn copy_memory(&mut self, arguments: &[Value<'m>]) -> Parts {
        let to = self.scalar(argument(arguments, 0)?)?;
        let from = self.scalar(argument(arguments, 1)?)?;
        let size = self.size(argument(arguments, 2)?)?;
        self.emit.push(Instruction::CopyMemory { to, from, size });
        Ok(Vec::new())
    }

    fn variadic_start(&mut self, arguments: &[Value<'m>]) -> Parts {
        let list = self.scalar(argument(arguments, 0)?)?;
        self.emit.push(Instruction::VariadicStart { list });
        Ok(Vec::new())
    }

    fn variadic_copy(&mut self, arguments: &[Value<'m>]) -> Parts {
        let (to, from) = (self.scalar(argument(arguments, 0)?)?, self.scalar(argument(arguments, 1)?)?);
        self.emit.push(Instruction::CopyMemory { to, from, size: Operand::Constant(VARIADIC_LIST) });
        Ok(Vec::new())
    }

    fn set_memory(&mut self, arguments: &[Value<'m>]) -> Parts {
        let to = self.scalar(argument(arguments, 0)?)?;
        let byte = self.scalar(argument(arguments, 1)?)?;
        let size = self.size(argument(arguments, 2)?)?;
        self.emit.push(Instruction::SetMemory { to, byte, size });
        Ok(Vec::new())
    }

    fn size(&mut self, value: Value<'m>) -> Result<Operand, Unsupported> {
        let width = self.width(value)?;
        let size = self.scalar(value)?;
        Ok(self.emit.resize(width, 64, size))
    }
}

/// Bytes of a `va_list` in the convention of x86-64.
const VARIADIC_LIST: u128 = 24;

fn argument<'m>(arguments: &[Value<'m>], index: usize) -> Result<Value<'m>, Unsupported> {
    arguments.get(index).copied().ok_or_else(|| Unsupported::new("an intrinsic without its arguments"))
}

fn clear_sign(emit: &mut Emitter, width: Width, value: Operand) -> Operand {
    emit.binary(BinaryOp::And, width, value, Operand::Constant(mask(width) >> 1))
}

fn copy_sign(emit: &mut Emitter, width: Width, magnitude: Operand, sign: Operand) -> Operand {
    let magnitude = clear_sign(emit, width, magnitude);
    let sign = emit.binary(BinaryOp::And, width, sign, Operand::Constant(1 << (width - 1)));
    emit.binary(BinaryOp::Or, width, magnitude, sign)
}
