//! Floating-point arithmetic, comparisons, conversions and intrinsics, element by element for vectors.

use branchwise_program::code::{BinaryOp, CompareOp, Float, FloatOp, FloatPredicate, Instruction, Operand, Width};

use super::Unsupported;
use super::emit::{Emitter, mask};
use super::function::FunctionLowering;
use super::instructions::{Parts, operand};
use super::llvm::{RealPredicate, Type, TypeKind, Value};

impl<'m> FunctionLowering<'_, 'm> {
    pub fn float_binary(&mut self, op: FloatOp, value: Value<'m>) -> Parts {
        self.float_width(value.ty())?;
        let arguments = [operand(value, 0)?, operand(value, 1)?];
        self.each(value, |emit, width, values| emit.float(op, width, width, values), &arguments)
    }

    pub fn float_compare(&mut self, value: Value<'m>) -> Parts {
        let left = operand(value, 0)?;
        let width = self.float_width(left.ty())?;
        let arguments = [left, operand(value, 1)?];
        match predicate(value.real_predicate()) {
            Compared::Always(truth) => self.each(value, |_, _, _| Operand::Constant(u128::from(truth)), &[]),
            Compared::By(predicate) => {
                let op = FloatOp::Compare(predicate);
                self.each(value, |emit, to, values| emit.float(op, width, to, values), &arguments)
            }
        }
    }

    pub fn float_cast(&mut self, op: FloatOp, value: Value<'m>) -> Parts {
        let source = operand(value, 0)?;
        let (from, to) = (element(source.ty()), element(value.ty()));
        let float = if matches!(op, FloatOp::FromSigned | FloatOp::FromUnsigned) { to } else { from };
        self.float_width(float)?;
        if op == FloatOp::Convert {
            self.float_width(to)?;
        }
        let integer = if float == to { from } else { to };
        if let Some(width) = integer.integer_width()
            && !matches!(width, 1 | 8 | 16 | 32 | 64 | 128)
        {
            return Err(Unsupported(format!("conversions between floats and integers of {width} bits")));
        }
        let width = self.module.view.bits(from) as Width;
        self.each(value, |emit, to, values| emit.float(op, width, to, values), &[source])
    }

    /// The width of a float type, or of the elements of a vector of floats, if it is one that can be computed with.
    pub fn float_width(&mut self, ty: Type<'m>) -> Result<Width, Unsupported> {
        let ty = element(ty);
        match (ty.kind(), ty.float_width()) {
            (_, Some(width @ (32 | 64))) => Ok(width),
            (TypeKind::LLVMX86_FP80TypeKind, _) => Err(Unsupported::new("long double arithmetic")),
            _ => Err(Unsupported(format!("arithmetic of type {}", ty.spelling()))),
        }
    }

    /// An intrinsic that is one float operation.
    pub fn float_intrinsic(&mut self, op: FloatOp, call: Value<'m>, arguments: &[Value<'m>]) -> Parts {
        self.float_width(call.ty())?;
        let arguments = arguments.get(..op.arity()).ok_or_else(|| Unsupported::new("a float intrinsic"))?;
        self.each(call, |emit, width, values| emit.float(op, width, width, values), arguments)
    }

    /// `a * b + c`, fused only where the compiler was told that the machine can.
    pub fn multiply_add(&mut self, call: Value<'m>, arguments: &[Value<'m>]) -> Parts {
        self.float_width(call.ty())?;
        let [a, b, c, ..] = *arguments else { return Err(Unsupported::new("a float intrinsic")) };
        let fused = self.fuses;
        self.each(
            call,
            |emit, width, v| match fused {
                true => emit.float(FloatOp::FusedMultiplyAdd, width, width, v),
                false => {
                    let product = emit.float(FloatOp::Mul, width, width, &v[..2]);
                    emit.float(FloatOp::Add, width, width, &[product, v[2]])
                }
            },
            &[a, b, c],
        )
    }

    /// `fmin` and `fmax` as the compiler expands them: the other operand if one is a NaN, the first of two zeros.
    pub fn float_extreme(&mut self, call: Value<'m>, arguments: &[Value<'m>], predicate: FloatPredicate) -> Parts {
        self.float_width(call.ty())?;
        let [a, b, ..] = *arguments else { return Err(Unsupported::new("a float intrinsic")) };
        self.each(call, |emit, width, v| emit.float_extreme(predicate, width, v[0], v[1]), &[a, b])
    }

    /// `lround` and its family: rounded, then converted.
    pub fn float_round_to_integer(&mut self, op: FloatOp, call: Value<'m>, arguments: &[Value<'m>]) -> Parts {
        let [value, ..] = *arguments else { return Err(Unsupported::new("a float intrinsic")) };
        let width = self.float_width(value.ty())?;
        self.each(
            call,
            |emit, to, v| {
                let rounded = emit.float(op, width, width, v);
                emit.float(FloatOp::ToSigned, width, to, &[rounded])
            },
            &[value],
        )
    }

    /// Whether the value is of one of the classes in a mask, by its bits.
    pub fn float_class(&mut self, call: Value<'m>, arguments: &[Value<'m>]) -> Parts {
        let [value, classes, ..] = *arguments else { return Err(Unsupported::new("a float intrinsic")) };
        let width = self.float_width(value.ty())?;
        let classes = classes.integer().ok_or_else(|| Unsupported::new("a float class that is not constant"))?;
        self.each(call, |emit, _, v| emit.float_class(width, v[0], classes as u32), &[value])
    }
}

impl Emitter {
    pub fn float(&mut self, op: FloatOp, from: Width, to: Width, operands: &[Operand]) -> Operand {
        let out = self.register(to);
        self.push(Instruction::Float(Float { op, from, to, out, operands: operands.to_vec() }));
        Operand::Register(out)
    }

    fn float_extreme(&mut self, predicate: FloatPredicate, width: Width, a: Operand, b: Operand) -> Operand {
        let second = self.float(FloatOp::Compare(predicate), width, 1, &[b, a]);
        let extreme = self.select(width, second, b, a);
        let no_first = self.float(FloatOp::Compare(FloatPredicate::Unordered), width, 1, &[a, a]);
        self.select(width, no_first, b, extreme)
    }

    /// The ten classes of LLVM, from the lowest bit of the mask: signalling and quiet NaN; negative infinity, normal,
    /// subnormal and zero; positive zero, subnormal, normal and infinity.
    fn float_class(&mut self, width: Width, value: Operand, classes: u32) -> Operand {
        let fraction = if width == 64 { 52 } else { 23 };
        let (infinity, sign) = (mask(width - 1) & !mask(fraction), 1 << (width - 1));
        let quiet = infinity | (1 << (fraction - 1));
        let normal = 1 << fraction;
        let (largest, subnormal) = (infinity - 1, normal - 1);
        let magnitudes = [(infinity + 1, quiet - 1), (quiet, sign - 1)];
        let whole = [
            (sign | infinity, sign | infinity),
            (sign | normal, sign | largest),
            (sign | 1, sign | subnormal),
            (sign, sign),
            (0, 0),
            (1, subnormal),
            (normal, largest),
            (infinity, infinity),
        ];
        let magnitude = self.binary(BinaryOp::And, width, value, Operand::Constant(sign - 1));
        let of_magnitude = magnitudes.into_iter().map(|range| (magnitude, range));
        let of_value = whole.into_iter().map(|range| (value, range));
        let mut found = Operand::Constant(0);
        for (class, (bits, (low, high))) in of_magnitude.chain(of_value).enumerate() {
            if classes & (1 << class) != 0 {
                let inside = self.in_range(width, bits, low, high);
                found = self.binary(BinaryOp::Or, 1, found, inside);
            }
        }
        found
    }

    fn in_range(&mut self, width: Width, value: Operand, low: u128, high: u128) -> Operand {
        let above = self.compare(CompareOp::Uge, width, value, Operand::Constant(low));
        let below = self.compare(CompareOp::Ule, width, value, Operand::Constant(high));
        self.binary(BinaryOp::And, 1, above, below)
    }
}

fn element(ty: Type<'_>) -> Type<'_> {
    ty.elements().map_or(ty, |(element, _)| element)
}

enum Compared {
    By(FloatPredicate),
    Always(bool),
}

fn predicate(predicate: RealPredicate) -> Compared {
    Compared::By(match predicate {
        RealPredicate::LLVMRealPredicateFalse => return Compared::Always(false),
        RealPredicate::LLVMRealPredicateTrue => return Compared::Always(true),
        RealPredicate::LLVMRealOEQ => FloatPredicate::Equal,
        RealPredicate::LLVMRealOGT => FloatPredicate::Greater,
        RealPredicate::LLVMRealOGE => FloatPredicate::GreaterOrEqual,
        RealPredicate::LLVMRealOLT => FloatPredicate::Less,
        RealPredicate::LLVMRealOLE => FloatPredicate::LessOrEqual,
        RealPredicate::LLVMRealONE => FloatPredicate::Different,
        RealPredicate::LLVMRealORD => FloatPredicate::Ordered,
        RealPredicate::LLVMRealUNO => FloatPredicate::Unordered,
        RealPredicate::LLVMRealUEQ => FloatPredicate::UnorderedOrEqual,
        RealPredicate::LLVMRealUGT => FloatPredicate::UnorderedOrGreater,
        RealPredicate::LLVMRealUGE => FloatPredicate::UnorderedOrGreaterOrEqual,
        RealPredicate::LLVMRealULT => FloatPredicate::UnorderedOrLess,
        RealPredicate::LLVMRealULE => FloatPredicate::UnorderedOrLessOrEqual,
        RealPredicate::LLVMRealUNE => FloatPredicate::UnorderedOrDifferent,
    })
}
