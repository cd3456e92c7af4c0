//! The range of a result from the ranges of its operands. Where wrap-around may happen for some of the values and not
//! for others, the bounds of that order are the full ones.

use super::range::{Range, signed_limits};
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, UnaryOp};

pub(super) fn unary(op: UnaryOp, a: Range) -> Range {
    match op {
        UnaryOp::Not => {
            let mask = semantics::mask(a.width);
            Range { width: a.width, low: mask - a.high, high: mask - a.low, least: -1 - a.most, most: -1 - a.least }
        }
        UnaryOp::Neg => sub(Range::point(0, a.width), a),
    }
}

pub(super) fn binary(op: BinaryOp, a: Range, b: Range) -> Range {
    if let (Some(left), Some(right)) = (a.as_point(), b.as_point()) {
        return Range::point(semantics::binary(op, left, right, a.width), a.width);
    }
    match op {
        BinaryOp::Add => add(a, b),
        BinaryOp::Sub => sub(a, b),
        BinaryOp::Mul => mul(a, b),
        BinaryOp::UDiv => unsigned_division(a, b),
        BinaryOp::URem => unsigned_remainder(a, b),
        BinaryOp::SDiv => signed_division(a, b),
        BinaryOp::SRem => signed_remainder(a, b),
        BinaryOp::And => and(a, b),
        BinaryOp::Or => or(a, b),
        BinaryOp::Xor => bounded(Some((0, filled(a.high | b.high))), None, a.width),
        BinaryOp::Shl => shift_left(a, b),
        BinaryOp::LShr => logical_shift_right(a, b),
        BinaryOp::AShr => arithmetic_shift_right(a, b),
    }
}

/// From the bounds that are known in each order. They hold for at least one value, so they are not empty; should they
/// be, nothing is claimed.
fn bounded(unsigned: Option<(u128, u128)>, signed: Option<(i128, i128)>, width: u32) -> Range {
    let full = Range::full(width);
    let (low, high) = unsigned.unwrap_or((full.low, full.high));
    let (least, most) = signed.unwrap_or((full.least, full.most));
    Range { width, low, high, least, most }.meet(full).unwrap_or(full)
}

/// The signed bounds, if neither end wraps around.
fn signed_within(least: Option<i128>, most: Option<i128>, width: u32) -> Option<(i128, i128)> {
    let (smallest, greatest) = signed_limits(width);
    let (least, most) = (least?, most?);
    (smallest <= least && most <= greatest).then_some((least, most))
}

pub(super) fn add(a: Range, b: Range) -> Range {
    let mask = semantics::mask(a.width);
    let high = a.high.checked_add(b.high).filter(|&high| high <= mask);
    let unsigned = match (a.low.checked_add(b.low), high) {
        (Some(low), Some(high)) => Some((low, high)),
        // Every sum wraps around, and only once.
        (low, None) if low.is_none_or(|low| low > mask) => {
            Some((a.low.wrapping_add(b.low) & mask, a.high.wrapping_add(b.high) & mask))
        }
        _ => None,
    };
    let signed = signed_within(a.least.checked_add(b.least), a.most.checked_add(b.most), a.width);
    bounded(unsigned, signed, a.width)
}

pub(super) fn sub(a: Range, b: Range) -> Range {
    let mask = semantics::mask(a.width);
    let all_or_none_wrap = a.low >= b.high || a.high < b.low;
    let unsigned = all_or_none_wrap.then(|| (a.low.wrapping_sub(b.high) & mask, a.high.wrapping_sub(b.low) & mask));
    let signed = signed_within(a.least.checked_sub(b.most), a.most.checked_sub(b.least), a.width);
    bounded(unsigned, signed, a.width)
}

fn mul(a: Range, b: Range) -> Range {
    let high = a.high.checked_mul(b.high).filter(|&high| high <= semantics::mask(a.width));
    let unsigned = high.map(|high| (a.low.wrapping_mul(b.low), high));
    bounded(unsigned, signed_products(a, (b.least, b.most)), a.width)
}

/// The extreme products of the signed bounds, if none overflows.
pub(super) fn signed_products(a: Range, (least, most): (i128, i128)) -> Option<(i128, i128)> {
    let corners = [(a.least, least), (a.least, most), (a.most, least), (a.most, most)];
    let (mut low, mut high) = (i128::MAX, i128::MIN);
    for (left, right) in corners {
        let product = left.checked_mul(right)?;
        (low, high) = (low.min(product), high.max(product));
    }
    signed_within(Some(low), Some(high), a.width)
}

/// A factor that stands for a shift, in both readings.
fn shift_left(a: Range, b: Range) -> Range {
    let Some(distance) = distance(b).filter(|&distance| distance < 127) else {
        return Range::full(a.width);
    };
    let high = a.high.checked_mul(1 << distance).filter(|&high| high <= semantics::mask(a.width));
    let unsigned = high.map(|high| (a.low << distance, high));
    bounded(unsigned, signed_products(a, (1 << distance, 1 << distance)), a.width)
}

/// A shift distance that is known and below the width.
pub(super) fn distance(b: Range) -> Option<u32> {
    b.as_point().filter(|&distance| distance < u128::from(b.width)).map(|distance| distance as u32)
}

fn unsigned_division(a: Range, b: Range) -> Range {
    let unsigned = (b.low > 0).then(|| (a.low / b.high, a.high / b.low));
    bounded(unsigned, None, a.width)
}

/// By zero it is the dividend, which is why that is a bound in any case.
fn unsigned_remainder(a: Range, b: Range) -> Range {
    let unsigned = match b.low {
        0 => (0, a.high),
        low if a.high < low => (a.low, a.high),
        _ => (0, a.high.min(b.high - 1)),
    };
    bounded(Some(unsigned), None, a.width)
}

fn signed_division(a: Range, b: Range) -> Range {
    if b.least <= 0 {
        return Range::full(a.width);
    }
    let least = a.least / if a.least < 0 { b.least } else { b.most };
    let most = a.most / if a.most < 0 { b.most } else { b.least };
    bounded(None, Some((least, most)), a.width)
}

/// It has the sign of the dividend and is nearer to zero than the dividend and, unless that is zero, the divisor.
fn signed_remainder(a: Range, b: Range) -> Range {
    let (mut least, mut most) = (a.least.min(0), a.most.max(0));
    if b.least > 0 && a.least >= 0 && a.most < b.least {
        return bounded(None, Some((a.least, a.most)), a.width);
    }
    if b.least > 0 || b.most < 0 {
        // One less than the magnitude, computed so that it fits also for the smallest number.
        let below = |bound: i128| if bound < 0 { -1 - bound } else { bound - 1 };
        let magnitude = below(b.least).max(below(b.most));
        (least, most) = (least.max(-magnitude), most.min(magnitude));
    }
    bounded(None, Some((least, most)), a.width)
}

fn and(a: Range, b: Range) -> Range {
    let low = if a.width == 1 { a.low & b.low } else { 0 };
    bounded(Some((low, a.high.min(b.high))), None, a.width)
}

fn or(a: Range, b: Range) -> Range {
    bounded(Some((a.low.max(b.low), filled(a.high | b.high))), None, a.width)
}

/// All bits up to the highest set one.
fn filled(value: u128) -> u128 {
    u128::MAX.checked_shr(value.leading_zeros()).unwrap_or(0)
}

fn logical_shift_right(a: Range, b: Range) -> Range {
    let unsigned = match distance(b) {
        Some(distance) => (a.low >> distance, a.high >> distance),
        None => (0, a.high),
    };
    bounded(Some(unsigned), None, a.width)
}

fn arithmetic_shift_right(a: Range, b: Range) -> Range {
    let signed = match distance(b) {
        Some(distance) => (a.least >> distance, a.most >> distance),
        None => (a.least.min(0), a.most.max(-1)),
    };
    bounded(None, Some(signed), a.width)
}

pub(super) fn compare(op: CompareOp, a: Range, b: Range) -> Range {
    let (always, never) = match op {
        CompareOp::Eq => (a.as_point().is_some() && a.as_point() == b.as_point(), a.meet(b).is_none()),
        CompareOp::Ult => (a.high < b.low, a.low >= b.high),
        CompareOp::Ule => (a.high <= b.low, a.low > b.high),
        CompareOp::Slt => (a.most < b.least, a.least >= b.most),
        CompareOp::Sle => (a.most <= b.least, a.least > b.most),
    };
    if always || never { Range::boolean(always) } else { Range::full(1) }
}

/// Bits `low .. low + width`.
pub(super) fn extract(a: Range, low: u32, width: u32) -> Range {
    let block = |value: u128| value.checked_shr(low + width).unwrap_or(0);
    // Within one block of the bits above, the bits rise with the value.
    let unsigned = (block(a.low) == block(a.high))
        .then(|| (semantics::truncate(a.low >> low, width), semantics::truncate(a.high >> low, width)));
    let signed = if low == 0 { signed_within(Some(a.least), Some(a.most), width) } else { None };
    bounded(unsigned, signed, width)
}

pub(super) fn concat(high: Range, low: Range) -> Range {
    let joined = ((high.low << low.width) | low.low, (high.high << low.width) | low.high);
    bounded(Some(joined), None, high.width + low.width)
}

pub(super) fn zero_extend(a: Range, width: u32) -> Range {
    bounded(Some((a.low, a.high)), None, width)
}

pub(super) fn sign_extend(a: Range, width: u32) -> Range {
    bounded(None, Some((a.least, a.most)), width)
}
