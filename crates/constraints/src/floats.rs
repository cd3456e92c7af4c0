//! What the float operators mean: IEEE 754 bit patterns in, bit patterns out, as x86-64 computes them.
//!
//! Rust's arithmetic is IEEE's, rounded to nearest, but leaves open which NaN comes out; here it is the one that the SSE
//! unit gives: the first operand that is a NaN, made quiet, and the negative default NaN for an invalid operation.

use crate::library::MathFunction;
use crate::operators::operators;

operators! {
    /// Operators on floats of 32 or 64 bits. The widths are those of the operand and of the result.
    FloatOp,
    /// All but the functions of the library.
    PLAIN {
        Add,
        Sub,
        Mul,
        Div,
        Sqrt,
        Floor,
        Ceil,
        Trunc,
        /// To the nearest integer, ties to even.
        RoundEven,
        /// To the nearest integer, ties away from zero.
        RoundAway,
        /// `a * b + c`, rounded once.
        FusedMultiplyAdd,
        /// Comparisons: a boolean, false if one is a NaN.
        Equal,
        Less,
        LessOrEqual,
        /// One is a NaN.
        Unordered,
        /// To an integer, rounded towards zero; out of range and for a NaN what the machine's instructions give.
        ToSigned,
        ToUnsigned,
        /// From an integer.
        FromSigned,
        FromUnsigned,
        /// To the other width of floats.
        Convert,
        ..
        /// A function of the C library.
        Library(MathFunction),
    }
}

impl FloatOp {
    pub fn arity(self) -> usize {
        use FloatOp::*;
        match self {
            Add | Sub | Mul | Div | Equal | Less | LessOrEqual | Unordered => 2,
            FusedMultiplyAdd => 3,
            Library(function) => function.arity(),
            Sqrt | Floor | Ceil | Trunc | RoundEven | RoundAway => 1,
            ToSigned | ToUnsigned | FromSigned | FromUnsigned | Convert => 1,
        }
    }

    /// What a function of `math.h` computes, and the width of its floats, if the library is there. Most of the exact ones
    /// arrive as instructions, but not if the compiler was told to know no functions.
    pub fn of_function(name: &str) -> Option<(Self, u32)> {
        if let Some((function, width)) = MathFunction::named(name) {
            return Some((FloatOp::Library(function), width));
        }
        let (stem, width) = match name.strip_suffix('f').filter(|stem| exact_function(stem).is_some()) {
            Some(stem) => (stem, 32),
            None => (name, 64),
        };
        exact_function(stem).map(|op| (op, width))
    }

    pub fn is_comparison(self) -> bool {
        matches!(self, FloatOp::Equal | FloatOp::Less | FloatOp::LessOrEqual | FloatOp::Unordered)
    }

    /// The name in texts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FloatOp::Add => "+.",
            FloatOp::Sub => "-.",
            FloatOp::Mul => "*.",
            FloatOp::Div => "/.",
            FloatOp::Sqrt => "sqrt",
            FloatOp::Floor => "floor",
            FloatOp::Ceil => "ceil",
            FloatOp::Trunc => "trunc",
            FloatOp::RoundEven => "rint",
            FloatOp::RoundAway => "round",
            FloatOp::FusedMultiplyAdd => "fma",
            FloatOp::Equal => "==.",
            FloatOp::Less => "<.",
            FloatOp::LessOrEqual => "<=.",
            FloatOp::Unordered => "unordered",
            FloatOp::ToSigned => "to_signed",
            FloatOp::ToUnsigned => "to_unsigned",
            FloatOp::FromSigned => "from_signed",
            FloatOp::FromUnsigned => "from_unsigned",
            FloatOp::Convert => "convert",
            FloatOp::Library(function) => function.name(),
        }
    }
}

fn exact_function(name: &str) -> Option<FloatOp> {
    Some(match name {
        "sqrt" => FloatOp::Sqrt,
        "floor" => FloatOp::Floor,
        "ceil" => FloatOp::Ceil,
        "trunc" => FloatOp::Trunc,
        "round" => FloatOp::RoundAway,
        "rint" | "nearbyint" | "roundeven" => FloatOp::RoundEven,
        "fma" => FloatOp::FusedMultiplyAdd,
        _ => return None,
    })
}

/// The value of an operator on operands of width `from`, with a result of width `to`.
pub fn float_value(op: FloatOp, from: u32, to: u32, operands: &[u128]) -> u128 {
    let [a, b, c] = std::array::from_fn(|index| operands.get(index).copied().unwrap_or(0));
    match op {
        FloatOp::FromSigned => from_signed(crate::semantics::signed(a, from), to),
        FloatOp::FromUnsigned => from_unsigned(a, to),
        _ if from == 64 => double(op, to, a as u64, b as u64, c as u64),
        _ => single(op, to, a as u32, b as u32, c as u32),
    }
}

fn from_signed(value: i128, to: u32) -> u128 {
    if to == 64 { u128::from((value as f64).to_bits()) } else { u128::from((value as f32).to_bits()) }
}

fn from_unsigned(value: u128, to: u32) -> u128 {
    if to == 64 { u128::from((value as f64).to_bits()) } else { u128::from((value as f32).to_bits()) }
}

/// Truncation as `cvttsd2si` does it: what does not fit, and a NaN, gives the smallest number.
fn truncated(value: f64, width: u32) -> i128 {
    let smallest = -(1_i128 << (width - 1));
    let limit = -(smallest as f64);
    let truncated = value.trunc();
    if truncated >= -limit && truncated < limit { truncated as i128 } else { smallest }
}

/// The compiler converts to fewer than 32 bits through 32.
fn to_signed(value: f64, to: u32) -> u128 {
    match to {
        // A call of the compiler's library. What does not fit is the caller's to exclude.
        128 => value as i128 as u128,
        _ => crate::semantics::truncate(truncated(value, to.max(32)) as u128, to),
    }
}

/// The compiler converts to 32 bits through 64 signed ones, to fewer through 32. `less_limit` is the value less 2^63,
/// rounded in its own width, which the sequence for 64 bits computes.
fn to_unsigned(value: f64, less_limit: f64, to: u32) -> u128 {
    let bits = match to {
        64 => {
            let low = truncated(value, 64) as u64;
            let high = truncated(less_limit, 64) as u64;
            // All ones where the first conversion did not fit or the value is negative.
            let mask = ((low as i64) >> 63) as u64;
            u128::from((high & mask) | low)
        }
        128 => value as u128,
        32.. => truncated(value, 64) as u128,
        _ => truncated(value, 32) as u128,
    };
    crate::semantics::truncate(bits, to)
}

macro_rules! operations {
    ($name:ident, $float:ty, $bits:ty, $quiet:expr, $invalid:expr, $convert:ident, $library:ident) => {
        fn $name(op: FloatOp, to: u32, a: $bits, b: $bits, c: $bits) -> u128 {
            let (x, y, z) = (<$float>::from_bits(a), <$float>::from_bits(b), <$float>::from_bits(c));
            // The first NaN among the operands, quiet; the default one if an operation on numbers gives a NaN.
            let arithmetic = |nan: Option<$bits>, value: $float| match nan {
                Some(nan) => u128::from(nan | $quiet),
                None if value.is_nan() => u128::from($invalid as $bits),
                None => u128::from(value.to_bits()),
            };
            let nan = |bits: $bits| <$float>::from_bits(bits).is_nan().then_some(bits);
            let (one, two) = (nan(a), nan(a).or(nan(b)));
            match op {
                FloatOp::Add => arithmetic(two, x + y),
                FloatOp::Sub => arithmetic(two, x - y),
                FloatOp::Mul => arithmetic(two, x * y),
                FloatOp::Div => arithmetic(two, x / y),
                FloatOp::Sqrt => arithmetic(one, x.sqrt()),
                FloatOp::Floor => arithmetic(one, x.floor()),
                FloatOp::Ceil => arithmetic(one, x.ceil()),
                FloatOp::Trunc => arithmetic(one, x.trunc()),
                FloatOp::RoundEven => arithmetic(one, x.round_ties_even()),
                FloatOp::RoundAway => arithmetic(one, x.round()),
                FloatOp::FusedMultiplyAdd => arithmetic(two.or(nan(c)), x.mul_add(y, z)),
                FloatOp::Equal => u128::from(x == y),
                FloatOp::Less => u128::from(x < y),
                FloatOp::LessOrEqual => u128::from(x <= y),
                FloatOp::Unordered => u128::from(two.is_some()),
                FloatOp::ToSigned => to_signed(f64::from(x), to),
                FloatOp::ToUnsigned => to_unsigned(f64::from(x), f64::from(x - 9_223_372_036_854_775_808.0), to),
                FloatOp::Convert => $convert(a),
                FloatOp::Library(function) => u128::from(function.$library(x, y).to_bits()),
                FloatOp::FromSigned | FloatOp::FromUnsigned => u128::from(a),
            }
        }
    };
}

operations!(double, f64, u64, 1_u64 << 51, 0xfff8_0000_0000_0000_u64, narrowed, double);
operations!(single, f32, u32, 1_u32 << 22, 0xffc0_0000_u32, widened, single);

/// A NaN keeps its sign and the upper bits of its payload, and is quiet.
fn narrowed(bits: u64) -> u128 {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        let sign = (bits >> 63) as u32;
        return u128::from((sign << 31) | 0x7fc0_0000 | (((bits >> 29) as u32) & 0x003f_ffff));
    }
    u128::from((value as f32).to_bits())
}

fn widened(bits: u32) -> u128 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        let sign = u64::from(bits >> 31);
        return u128::from((sign << 63) | 0x7ff8_0000_0000_0000 | (u64::from(bits & 0x003f_ffff) << 29));
    }
    u128::from(f64::from(value).to_bits())
}
