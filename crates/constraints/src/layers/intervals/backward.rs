//! The ranges of operands from the range of the result. Each function returns operands without values that cannot give
//! a result in range, or `None` when no values are left.

use super::forward;
use super::range::{Range, signed_limits};
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp};

pub(super) type Pair = (Range, Range);

pub(super) fn binary(op: BinaryOp, result: Range, a: Range, b: Range) -> Option<Pair> {
    match op {
        BinaryOp::Add => {
            let a = a.meet(forward::sub(result, b))?;
            Some((a, b.meet(forward::sub(result, a))?))
        }
        BinaryOp::Sub => {
            let a = a.meet(forward::add(result, b))?;
            Some((a, b.meet(forward::sub(a, result))?))
        }
        BinaryOp::Xor => {
            let a = a.meet(forward::binary(op, result, b))?;
            Some((a, b.meet(forward::binary(op, result, a))?))
        }
        BinaryOp::Mul => multiplication(result, a, b),
        BinaryOp::Shl => Some((shifted_left(result, a, b)?, b)),
        BinaryOp::LShr => Some((shifted_right(result, a, b)?, b)),
        BinaryOp::And if a.width == 1 => conjunction(result, a, b),
        BinaryOp::Or if a.width == 1 => disjunction(result, a, b),
        BinaryOp::And => at_least(result.low, a, b),
        BinaryOp::Or => at_most(result.high, a, b),
        BinaryOp::UDiv => Some((unsigned_dividend(result, a, b)?, b)),
        BinaryOp::SDiv => Some((signed_dividend(result, a, b)?, b)),
        BinaryOp::URem | BinaryOp::SRem | BinaryOp::AShr => Some((a, b)),
    }
}

/// A constant factor, where no product wraps around.
fn multiplication(result: Range, a: Range, b: Range) -> Option<Pair> {
    if let Some(factor) = b.as_point() {
        return Some((factor_of(result, a, factor, semantics::signed(factor, b.width))?, b));
    }
    if let Some(factor) = a.as_point() {
        return Some((a, factor_of(result, b, factor, semantics::signed(factor, a.width))?));
    }
    Some((a, b))
}

fn shifted_left(result: Range, a: Range, b: Range) -> Option<Range> {
    match forward::distance(b).filter(|&distance| distance < 127) {
        Some(distance) => factor_of(result, a, 1 << distance, 1 << distance),
        None => Some(a),
    }
}

/// `a` with `a * factor = result`, the factor in both readings.
fn factor_of(result: Range, a: Range, factor: u128, signed_factor: i128) -> Option<Range> {
    let mut left = a;
    let mask = semantics::mask(a.width);
    if factor > 0 && a.high.checked_mul(factor).is_some_and(|most| most <= mask) {
        left = left.meet(Range::unsigned(result.low.div_ceil(factor), result.high / factor, a.width)?)?;
    }
    if signed_factor > 0 && forward::signed_products(a, (signed_factor, signed_factor)).is_some() {
        let (least, most) = (ceiling(result.least, signed_factor), result.most.div_euclid(signed_factor));
        left = left.meet(Range::signed(least, most, a.width)?)?;
    }
    Some(left)
}

/// The quotient by a positive number, rounded up.
fn ceiling(value: i128, divisor: i128) -> i128 {
    value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) != 0)
}

fn shifted_right(result: Range, a: Range, b: Range) -> Option<Range> {
    match forward::distance(b) {
        Some(distance) => high_bits(result.low, result.high, a, distance),
        None => Some(a),
    }
}

/// `a` with `low <= a >> distance <= high`.
fn high_bits(low: u128, high: u128, a: Range, distance: u32) -> Option<Range> {
    let greatest = semantics::mask(a.width) >> distance;
    if low > greatest {
        return None;
    }
    let high = (high.min(greatest) << distance) | semantics::mask(distance);
    a.meet(Range::unsigned(low << distance, high, a.width)?)
}

fn conjunction(result: Range, a: Range, b: Range) -> Option<Pair> {
    match (result.is_true(), result.is_false()) {
        (true, _) => Some((a.meet(Range::boolean(true))?, b.meet(Range::boolean(true))?)),
        (_, true) if a.is_true() => Some((a, b.meet(Range::boolean(false))?)),
        (_, true) if b.is_true() => Some((a.meet(Range::boolean(false))?, b)),
        _ => Some((a, b)),
    }
}

fn disjunction(result: Range, a: Range, b: Range) -> Option<Pair> {
    match (result.is_true(), result.is_false()) {
        (_, true) => Some((a.meet(Range::boolean(false))?, b.meet(Range::boolean(false))?)),
        (true, _) if a.is_false() => Some((a, b.meet(Range::boolean(true))?)),
        (true, _) if b.is_false() => Some((a.meet(Range::boolean(true))?, b)),
        _ => Some((a, b)),
    }
}

/// Each operand of `and` is at least the result.
fn at_least(low: u128, a: Range, b: Range) -> Option<Pair> {
    let bound = Range::unsigned(low, semantics::mask(a.width), a.width)?;
    Some((a.meet(bound)?, b.meet(bound)?))
}

/// Each operand of `or` is at most the result.
fn at_most(high: u128, a: Range, b: Range) -> Option<Pair> {
    let bound = Range::unsigned(0, high, a.width)?;
    Some((a.meet(bound)?, b.meet(bound)?))
}

fn unsigned_dividend(result: Range, a: Range, b: Range) -> Option<Range> {
    let Some(divisor) = b.as_point().filter(|&divisor| divisor > 0) else {
        return Some(a);
    };
    let low = result.low.checked_mul(divisor)?;
    let high = result.high.saturating_mul(divisor).saturating_add(divisor - 1);
    a.meet(Range::unsigned(low, high, a.width)?)
}

/// By a positive constant: the quotient is rounded towards zero.
fn signed_dividend(result: Range, a: Range, b: Range) -> Option<Range> {
    let divisor = b.least;
    if divisor <= 0 || b.as_point().is_none() {
        return Some(a);
    }
    let (least, most) = (result.least.saturating_mul(divisor), result.most.saturating_mul(divisor));
    let least = if result.least > 0 { least } else { least.saturating_sub(divisor - 1) };
    let most = if result.most < 0 { most } else { most.saturating_add(divisor - 1) };
    a.meet(Range::signed(least, most, a.width)?)
}

pub(super) fn compare(op: CompareOp, truth: bool, a: Range, b: Range) -> Option<Pair> {
    match (op, truth) {
        (CompareOp::Eq, true) => a.meet(b).map(|same| (same, same)),
        (CompareOp::Eq, false) => different(a, b),
        (CompareOp::Ult, true) => unsigned_order(a, b, 1),
        (CompareOp::Ule, true) => unsigned_order(a, b, 0),
        (CompareOp::Slt, true) => signed_order(a, b, 1),
        (CompareOp::Sle, true) => signed_order(a, b, 0),
        (CompareOp::Ult, false) => unsigned_order(b, a, 0).map(swapped),
        (CompareOp::Ule, false) => unsigned_order(b, a, 1).map(swapped),
        (CompareOp::Slt, false) => signed_order(b, a, 0).map(swapped),
        (CompareOp::Sle, false) => signed_order(b, a, 1).map(swapped),
    }
}

fn swapped((b, a): Pair) -> Pair {
    (a, b)
}

fn different(a: Range, b: Range) -> Option<Pair> {
    match (a.as_point(), b.as_point()) {
        (_, Some(value)) => Some((a.without(value)?, b)),
        (Some(value), None) => Some((a, b.without(value)?)),
        (None, None) => Some((a, b)),
    }
}

/// `below + gap <= above`.
fn unsigned_order(below: Range, above: Range, gap: u128) -> Option<Pair> {
    let most = above.high.checked_sub(gap)?;
    let least = below.low.checked_add(gap)?;
    let mask = semantics::mask(below.width);
    let (lower, upper) = (Range::unsigned(0, most, below.width)?, Range::unsigned(least, mask, below.width)?);
    Some((below.meet(lower)?, above.meet(upper)?))
}

fn signed_order(below: Range, above: Range, gap: i128) -> Option<Pair> {
    let (smallest, greatest) = signed_limits(below.width);
    let most = above.most.checked_sub(gap)?;
    let least = below.least.checked_add(gap)?;
    let (lower, upper) = (Range::signed(smallest, most, below.width)?, Range::signed(least, greatest, below.width)?);
    Some((below.meet(lower)?, above.meet(upper)?))
}

/// The term that bits were taken from: its upper bits, or its lower ones when the others are zeros or copies of the sign.
pub(super) fn extract(result: Range, a: Range, low: u32) -> Option<Range> {
    let mut left = a;
    if low + result.width == a.width {
        left = high_bits(result.low, result.high, left, low)?;
    }
    if low == 0 && a.high <= semantics::mask(result.width) {
        left = left.meet(Range::unsigned(result.low, result.high, a.width)?)?;
    }
    let (smallest, greatest) = signed_limits(result.width);
    if low == 0 && smallest <= a.least && a.most <= greatest {
        left = left.meet(Range::signed(result.least, result.most, a.width)?)?;
    }
    Some(left)
}

pub(super) fn concat(result: Range, high: Range, low: Range) -> Option<Pair> {
    let (first, last) = (result.low >> low.width, result.high >> low.width);
    let upper = high.meet(Range::unsigned(first, last, high.width)?)?;
    if first != last {
        return Some((upper, low));
    }
    let part = |value| semantics::truncate(value, low.width);
    Some((upper, low.meet(Range::unsigned(part(result.low), part(result.high), low.width)?)?))
}

pub(super) fn zero_extend(result: Range, a: Range) -> Option<Range> {
    a.meet(Range::unsigned(result.low, result.high, a.width)?)
}

pub(super) fn sign_extend(result: Range, a: Range) -> Option<Range> {
    a.meet(Range::signed(result.least, result.most, a.width)?)
}

/// Condition and branches of a choice. A branch is contracted only when it is the one chosen.
pub(super) fn choice(result: Range, condition: Range, then: Range, otherwise: Range) -> Option<(Range, Range, Range)> {
    let mut condition = condition;
    if result.meet(then).is_none() {
        condition = condition.meet(Range::boolean(false))?;
    }
    if result.meet(otherwise).is_none() {
        condition = condition.meet(Range::boolean(true))?;
    }
    match (condition.is_true(), condition.is_false()) {
        (true, _) => Some((condition, then.meet(result)?, otherwise)),
        (_, true) => Some((condition, then, otherwise.meet(result)?)),
        _ => Some((condition, then, otherwise)),
    }
}
