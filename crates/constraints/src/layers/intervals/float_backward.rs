//! The ranges of float operands from the range of the result. A result between two bounds comes from an exact value
//! between the numbers beside them; the inverse is computed from those and moved outwards by one more number, because it
//! is rounded itself. Each function returns operands without values that cannot give a result in range, or `None` when
//! no values are left.

use super::float_range::{FloatRange, after, before, bottom, compute, infinity, number, place_of};
use super::library;
use super::range::Range;
use crate::floats::FloatOp;

pub(super) type FloatPair = (FloatRange, FloatRange);

/// `same`: both operands are one term.
pub(super) fn arithmetic(
    op: FloatOp,
    result: FloatRange,
    a: FloatRange,
    b: FloatRange,
    same: bool,
) -> Option<FloatPair> {
    if let FloatOp::Library(function) = op {
        return library::backward(function, result, a, b);
    }
    // A NaN may come from many operands.
    if result.nan {
        return Some((a, b));
    }
    let (a, b) = (a.without_nan()?, b.without_nan()?);
    let exact = FloatRange::numbers(before(result.low, a.width), after(result.high, a.width), a.width);
    match op {
        FloatOp::Add => {
            let a = a.meet(difference(exact, b))?;
            Some((a, b.meet(difference(exact, a))?))
        }
        FloatOp::Sub => {
            let a = a.meet(difference(exact, b.negated()))?;
            Some((a, b.meet(difference(exact.negated(), a.negated()))?))
        }
        FloatOp::Mul if same => {
            let a = a.meet(factor(exact))?;
            Some((a, a))
        }
        FloatOp::Mul => {
            let a = a.meet(quotient(exact, b))?;
            Some((a, b.meet(quotient(exact, a))?))
        }
        FloatOp::Div => {
            let a = a.meet(product(exact, b))?;
            Some((a, b.meet(divisor(exact, a))?))
        }
        FloatOp::Sqrt => Some((a.meet(square(result, exact))?, b)),
        FloatOp::Floor | FloatOp::Ceil | FloatOp::Trunc | FloatOp::RoundEven | FloatOp::RoundAway => {
            Some((a.meet(near(result))?, b))
        }
        _ => Some((a, b)),
    }
}

/// Numbers whose ends were rounded, with room for that; everything if an end is no number.
fn widened(ends: Option<(i64, i64)>, width: u32) -> FloatRange {
    match ends {
        Some((low, high)) => FloatRange::numbers(before(low, width), after(high, width), width).with_both_zeros(),
        None => FloatRange::full(width),
    }
}

/// All `x` with `x + b` in `exact`, as numbers without rounding.
fn difference(exact: FloatRange, b: FloatRange) -> FloatRange {
    let width = exact.width;
    let low = compute(FloatOp::Sub, &[exact.low, b.high], width).unwrap_or(bottom(width));
    let high = compute(FloatOp::Sub, &[exact.high, b.low], width).unwrap_or(infinity(width));
    // The far end of an infinite operand says nothing of the others.
    let low = if exact.low == bottom(width) || b.high == infinity(width) { bottom(width) } else { low };
    let high = if exact.high == infinity(width) || b.low == bottom(width) { infinity(width) } else { high };
    widened(Some((low, high)), width)
}

fn from_corners(op: FloatOp, a: FloatRange, b: FloatRange) -> FloatRange {
    let corners = [[a.low, b.low], [a.low, b.high], [a.high, b.low], [a.high, b.high]];
    let places: Option<Vec<i64>> = corners.iter().map(|corner| compute(op, corner, a.width)).collect();
    let ends = places.and_then(|places| Some((*places.iter().min()?, *places.iter().max()?)));
    widened(ends, a.width)
}

/// All `x` with `x * b` in `exact`.
fn quotient(exact: FloatRange, b: FloatRange) -> FloatRange {
    let has_zero = b.low <= 0 && b.high >= -1;
    if has_zero || unlimited(b) {
        return FloatRange::full(exact.width);
    }
    from_corners(FloatOp::Div, exact, b)
}

/// All `x` with `a / x` in `exact`: an infinite one gives a zero, and a zero an infinite quotient.
fn divisor(exact: FloatRange, a: FloatRange) -> FloatRange {
    let has_zero = exact.low <= 0 && exact.high >= -1;
    if has_zero || unlimited(exact) || unlimited(a) {
        return FloatRange::full(exact.width);
    }
    from_corners(FloatOp::Div, a, exact)
}

/// All `x` with `x / b` in `exact`.
fn product(exact: FloatRange, b: FloatRange) -> FloatRange {
    if unlimited(b) || unlimited(exact) {
        return FloatRange::full(exact.width);
    }
    from_corners(FloatOp::Mul, exact, b)
}

fn unlimited(range: FloatRange) -> bool {
    range.low == bottom(range.width) || range.high == infinity(range.width)
}

/// All `x` with `x * x` in `exact`.
fn factor(exact: FloatRange) -> FloatRange {
    let end = compute(FloatOp::Sqrt, &[exact.high.max(0)], exact.width);
    let high = end.map_or(infinity(exact.width), |end| after(end, exact.width));
    FloatRange::numbers(-1 - high, high, exact.width)
}

/// All `x` whose root is in `result`.
fn square(result: FloatRange, exact: FloatRange) -> FloatRange {
    let width = result.width;
    let squared = |place: i64| compute(FloatOp::Mul, &[place, place], width);
    let low = match exact.low > 0 {
        true => squared(exact.low).map_or(-1, |low| before(low, width)),
        false => -1,
    };
    let high = squared(exact.high.max(0)).map_or(infinity(width), |high| after(high, width));
    FloatRange::numbers(low, high, width)
}

/// All `x` that are rounded to an integer in `result`: none is farther than 1.
fn near(result: FloatRange) -> FloatRange {
    let width = result.width;
    let one = place_of(1.0, width);
    let low = compute(FloatOp::Sub, &[result.low, one], width).unwrap_or(bottom(width));
    let high = compute(FloatOp::Add, &[result.high, one], width).unwrap_or(infinity(width));
    widened(Some((low, high)), width)
}

/// The float that the result is the magnitude of: on each side of zero.
pub(super) fn magnitude(result: FloatRange, a: FloatRange) -> Option<FloatRange> {
    let a = if result.nan { a } else { a.without_nan()? };
    let positive = a.meet(result);
    let negative = if result.has_numbers() { a.meet(result.negated()) } else { None };
    match (positive, negative) {
        (Some(positive), Some(negative)) => Some(positive.hull(negative)),
        (one, other) => one.or(other),
    }
}

/// The float that was converted to another width.
pub(super) fn convert(result: FloatRange, a: FloatRange) -> Option<FloatRange> {
    let a = if result.nan { a } else { a.without_nan()? };
    if !result.has_numbers() {
        return a.only_nan();
    }
    let (low, high) = (before(result.low, result.width), after(result.high, result.width));
    let end = |place: i64| place_of(number(place, result.width), a.width);
    let inner = widened(Some((end(low), end(high))), a.width);
    a.meet(FloatRange { nan: true, ..inner })
}

/// The integer that was converted to a float.
pub(super) fn from_integer(op: FloatOp, result: FloatRange, a: Range) -> Option<Range> {
    if !result.has_numbers() {
        return None;
    }
    let low = number(before(result.low, result.width), result.width).floor();
    let high = number(after(result.high, result.width), result.width).ceil();
    match op {
        FloatOp::FromSigned => a.meet(Range::signed(low as i128, high as i128, a.width)?),
        _ if high < 0.0 => None,
        _ => a.meet(Range::unsigned(low as u128, high as u128, a.width)?),
    }
}

/// The float that was converted to an integer, where the result cannot come from one out of range.
pub(super) fn to_integer(op: FloatOp, result: Range, a: FloatRange) -> Option<FloatRange> {
    let width = result.width;
    let fits = match op {
        // Out of range gives the smallest number.
        FloatOp::ToSigned => matches!(width, 32 | 64) && result.least > -(1 << (width - 1)),
        _ => matches!(width, 32 | 64) && fits_unsigned(a, width),
    };
    if !fits {
        return Some(a);
    }
    let (least, most) = match op {
        FloatOp::ToSigned => (result.least, result.most),
        _ => (result.low as i128, result.high as i128),
    };
    let digits = if a.width == 64 { 53 } else { 24 };
    let exact = |value: i128| value.unsigned_abs() < 1 << digits;
    let low = match least {
        1.. if exact(least) => place_of(least as f64, a.width),
        _ if exact(least - 1) => after(place_of((least - 1) as f64, a.width), a.width),
        _ => before(place_of((least - 1) as f64, a.width), a.width),
    };
    let high = match most {
        ..0 if exact(most) => place_of(most as f64, a.width),
        _ if exact(most + 1) => before(place_of((most + 1) as f64, a.width), a.width),
        _ => after(place_of((most + 1) as f64, a.width), a.width),
    };
    a.meet(FloatRange::numbers(low, high, a.width).with_both_zeros())
}

fn fits_unsigned(a: FloatRange, width: u32) -> bool {
    let (low, high) = (number(a.low, a.width), number(a.high, a.width));
    !a.nan && a.has_numbers() && low > -1.0 && high < 2_f64.powi(width as i32)
}

/// `same`: both operands are one term.
pub(super) fn compare(op: FloatOp, truth: bool, a: FloatRange, b: FloatRange, same: bool) -> Option<FloatPair> {
    match (op, truth) {
        (FloatOp::Unordered, true) if same => a.only_nan().map(|nan| (nan, nan)),
        (FloatOp::Unordered, true) => Some((a, b)),
        (FloatOp::Unordered, false) => Some((a.without_nan()?, b.without_nan()?)),
        (FloatOp::Equal, false) => different(a, b),
        (_, true) => ordered(op, a.without_nan()?, b.without_nan()?),
        (FloatOp::Less, false) => unless_nan(FloatOp::LessOrEqual, b, a).map(|(b, a)| (a, b)),
        (_, false) => unless_nan(FloatOp::Less, b, a).map(|(b, a)| (a, b)),
    }
}

/// In order, or one of them a NaN: then nothing is known of the other.
fn unless_nan(op: FloatOp, a: FloatRange, b: FloatRange) -> Option<FloatPair> {
    let numbers = |range: FloatRange| range.without_nan();
    let narrowed = numbers(a).zip(numbers(b)).and_then(|(a, b)| ordered(op, a, b));
    match (a.nan, b.nan) {
        (false, false) => narrowed,
        (true, true) => Some((a, b)),
        (true, false) => Some((with_nan(narrowed.map(|pair| pair.0), a.width), b)),
        (false, true) => Some((a, with_nan(narrowed.map(|pair| pair.1), b.width))),
    }
}

fn with_nan(numbers: Option<FloatRange>, width: u32) -> FloatRange {
    numbers.map_or(FloatRange::nothing_but_nan(width), |range| FloatRange { nan: true, ..range })
}

/// Both are numbers.
fn ordered(op: FloatOp, a: FloatRange, b: FloatRange) -> Option<FloatPair> {
    let (width, full) = (a.width, FloatRange::full(a.width));
    let below = |high: i64| FloatRange::numbers(full.low, high, width);
    let above = |low: i64| FloatRange::numbers(low, full.high, width);
    match op {
        // Nothing is below negative infinity, and nothing above infinity.
        FloatOp::Less if b.high == full.low || a.low == full.high => None,
        FloatOp::Less => Some((a.meet(below(before(b.high, width)))?, b.meet(above(after(a.low, width)))?)),
        FloatOp::LessOrEqual => {
            let (highest, lowest) = (below(b.high).with_both_zeros(), above(a.low).with_both_zeros());
            Some((a.meet(highest)?, b.meet(lowest)?))
        }
        _ => {
            let (left, right) = (a.with_both_zeros(), b.with_both_zeros());
            Some((a.meet(right)?, b.meet(left)?))
        }
    }
}

/// Without a number that is an end of the range, where the other is that number.
fn different(a: FloatRange, b: FloatRange) -> Option<FloatPair> {
    match (a.as_number(), b.as_number()) {
        (_, Some(number)) => Some((without(a, number)?, b)),
        (Some(number), None) => Some((a, without(b, number)?)),
        (None, None) => Some((a, b)),
    }
}

fn without(range: FloatRange, number: i64) -> Option<FloatRange> {
    let zero = |place: i64| place == 0 || place == -1;
    let is_it = |place: i64| place == number || (zero(place) && zero(number));
    let mut left = range;
    while left.has_numbers() && is_it(left.low) {
        left.low += 1;
    }
    while left.has_numbers() && is_it(left.high) {
        left.high -= 1;
    }
    (left.nan || left.has_numbers()).then_some(left)
}
