//! What the operators mean, on values kept as the low `width` bits of a `u128`.
//!
//! The semantics is SMT-LIB's QF_BV: every operator is total. Division by zero and over-long shifts have the
//! values that SMT-LIB gives them; whether a C program may divide by zero is the executor's business.

use crate::terms::{BinaryOp, CompareOp, UnaryOp};

/// The low `width` bits set.
pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

pub(crate) fn truncate(value: u128, width: u32) -> u128 {
    value & mask(width)
}

/// The value read as two's complement.
pub(crate) fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

/// The most negative value of a width, as bits.
pub(crate) fn signed_minimum(width: u32) -> u128 {
    1 << (width - 1)
}

/// The most positive value of a width, as bits.
pub(crate) fn signed_maximum(width: u32) -> u128 {
    mask(width - 1) & mask(width)
}

pub(crate) fn unary(op: UnaryOp, a: u128, width: u32) -> u128 {
    match op {
        UnaryOp::Not => truncate(!a, width),
        UnaryOp::Neg => truncate(a.wrapping_neg(), width),
    }
}

pub(crate) fn binary(op: BinaryOp, a: u128, b: u128, width: u32) -> u128 {
    let wide = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::UDiv => a.checked_div(b).unwrap_or(u128::MAX),
        BinaryOp::URem => a.checked_rem(b).unwrap_or(a),
        BinaryOp::SDiv => signed_quotient(signed(a, width), signed(b, width)) as u128,
        BinaryOp::SRem => signed_remainder(signed(a, width), signed(b, width)) as u128,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => shift_distance(b, width).map_or(0, |distance| a << distance),
        BinaryOp::LShr => shift_distance(b, width).map_or(0, |distance| a >> distance),
        BinaryOp::AShr => arithmetic_shift(signed(a, width), b, width) as u128,
    };
    truncate(wide, width)
}

pub(crate) fn compare(op: CompareOp, a: u128, b: u128, width: u32) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ult => a < b,
        CompareOp::Ule => a <= b,
        CompareOp::Slt => signed(a, width) < signed(b, width),
        CompareOp::Sle => signed(a, width) <= signed(b, width),
    }
}

/// SMT-LIB: `bvsdiv` by zero is -1 for a non-negative dividend and 1 for a negative one.
fn signed_quotient(a: i128, b: i128) -> i128 {
    match b {
        0 if a < 0 => 1,
        0 => -1,
        _ => a.wrapping_div(b),
    }
}

/// The sign follows the dividend, as in C; by zero it is the dividend.
fn signed_remainder(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

fn shift_distance(b: u128, width: u32) -> Option<u32> {
    (b < u128::from(width)).then_some(b as u32)
}

fn arithmetic_shift(a: i128, b: u128, width: u32) -> i128 {
    match shift_distance(b, width) {
        Some(distance) => a >> distance,
        None if a < 0 => -1,
        None => 0,
    }
}

/// Newton's iteration modulo 2^128: each step doubles the number of right bits, from 3.
pub(crate) fn inverse_of_odd(odd: u128) -> u128 {
    let mut inverse = odd;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2_u128.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse
}
