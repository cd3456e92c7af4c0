//! The range of a float result from the ranges of its operands. Rounding to nearest is monotone, so the ends of the
//! result are the results of the ends, without any widening. The sign of a zero is left open where operands of both signs
//! multiply or divide.

use super::float_range::{FloatRange, bottom, compute, infinity, is_nan, number, place, place_of};
use super::library;
use super::range::Range;
use crate::floats::{FloatOp, float_value};

/// The result of an operator between floats of one width. `same`: both operands are one term.
pub(super) fn arithmetic(op: FloatOp, a: FloatRange, b: FloatRange, same: bool) -> FloatRange {
    match op {
        FloatOp::Library(function) => library::forward(function, a, b),
        _ if !a.has_numbers() || !b.has_numbers() => FloatRange::nothing_but_nan(a.width),
        FloatOp::Add => sum(a, b),
        FloatOp::Sub if same => nothing(a),
        FloatOp::Sub => sum(a, b.negated()),
        FloatOp::Mul if same => square(a),
        FloatOp::Mul => product(a, b),
        FloatOp::Div => quotient(a, b),
        FloatOp::Sqrt => root(a),
        FloatOp::Floor | FloatOp::Ceil | FloatOp::Trunc | FloatOp::RoundEven | FloatOp::RoundAway => monotone(op, a),
        _ => FloatRange::full(a.width),
    }
}

impl FloatRange {
    fn has(&self, place: i64) -> bool {
        self.low <= place && place <= self.high
    }

    fn has_zero(&self) -> bool {
        self.has(0) || self.has(-1)
    }

    fn has_infinity(&self) -> bool {
        self.has(infinity(self.width)) || self.has(bottom(self.width))
    }

    /// The negative numbers and the others, with the zeros of their sign.
    fn by_sign(self) -> impl Iterator<Item = Self> {
        let parts = [(self.low, self.high.min(-1)), (self.low.max(0), self.high)];
        parts.into_iter().filter(|(low, high)| low <= high).map(move |(low, high)| Self::numbers(low, high, self.width))
    }

    /// All values have one sign, zeros too.
    fn has_one_sign(&self) -> bool {
        self.low >= 0 || self.high < 0
    }

    /// As [`FloatRange::negated`]; what has no numbers stays so.
    pub(super) fn negated_numbers(self) -> Self {
        if self.has_numbers() { self.negated() } else { self }
    }
}

/// From the results at the corners; if one of them is a NaN nothing is known of the numbers.
fn from_corners(op: FloatOp, corners: &[[i64; 2]], width: u32, nan: bool) -> FloatRange {
    let places: Option<Vec<i64>> = corners.iter().map(|corner| compute(op, corner, width)).collect();
    let ends = places.and_then(|places| Some((*places.iter().min()?, *places.iter().max()?)));
    match ends {
        Some((low, high)) => FloatRange { width, low, high, nan },
        None => FloatRange::full(width),
    }
}

fn corners(a: FloatRange, b: FloatRange) -> [[i64; 2]; 4] {
    [[a.low, b.low], [a.low, b.high], [a.high, b.low], [a.high, b.high]]
}

/// A sum is the negative zero only if both operands are, and then it is at the lower corner or above it.
fn sum(a: FloatRange, b: FloatRange) -> FloatRange {
    let (top, bottom) = (infinity(a.width), bottom(a.width));
    let nan = a.nan || b.nan || (a.has(top) && b.has(bottom)) || (a.has(bottom) && b.has(top));
    from_corners(FloatOp::Add, &[[a.low, b.low], [a.high, b.high]], a.width, nan)
}

/// A number less itself, where it is finite.
fn nothing(a: FloatRange) -> FloatRange {
    match a.low > bottom(a.width) && a.high < infinity(a.width) {
        true => FloatRange { nan: a.nan, ..FloatRange::numbers(0, 0, a.width) },
        false if a.low == a.high => FloatRange::nothing_but_nan(a.width),
        false => FloatRange { nan: true, ..FloatRange::numbers(0, 0, a.width) },
    }
}

/// A number less what it is rounded to, which is exact but for `floor` and `ceil` of tiny numbers: those may give 1.
pub(super) fn fraction(rounding: FloatOp, a: FloatRange) -> FloatRange {
    let (low, high) = match rounding {
        FloatOp::Floor => (-0.0, 1.0),
        FloatOp::Ceil => (-1.0, 0.0),
        FloatOp::RoundEven | FloatOp::RoundAway => (-0.5, 0.5),
        _ => (-1.0, 1.0),
    };
    let nan = a.nan || !a.has_numbers() || a.has_infinity();
    FloatRange { nan, ..FloatRange::numbers(place_of(low, a.width), place_of(high, a.width), a.width) }
}

/// `from + part * (to - from)` lies between the two, where the part is below 1 and the difference does not overflow. Let
/// the difference be `e`, rounded `d >= 0`. If `d <= e`, so is `part * d`. Otherwise `d` was rounded up by at most half a
/// unit in the last place, and `part * d` is less than `d` by more than that, so that it is rounded to less than `e`.
/// Infinite numbers give a NaN or the infinite end.
pub(super) fn interpolated(from: FloatRange, to: FloatRange, part: FloatRange) -> FloatRange {
    let width = from.width;
    let below_one = part.has_numbers() && part.low >= -1 && part.high < place_of(1.0, width);
    let finite = |place: i64| place.clamp(bottom(width) + 1, infinity(width) - 1);
    let overflows = |a: i64, b: i64| {
        let difference = compute(FloatOp::Sub, &[finite(a), finite(b)], width);
        difference.is_none_or(|place| place == infinity(width) || place == bottom(width))
    };
    if !below_one || !from.has_numbers() || !to.has_numbers() {
        return FloatRange::full(width);
    }
    if overflows(to.high, from.low) || overflows(to.low, from.high) {
        return FloatRange::full(width);
    }
    FloatRange { nan: true, ..from.hull(to).with_both_zeros() }
}

fn product(a: FloatRange, b: FloatRange) -> FloatRange {
    let nan = a.nan || b.nan || (a.has_zero() && b.has_infinity()) || (a.has_infinity() && b.has_zero());
    // Zero times infinity counts as zero: what is near it is a zero, or is at another corner.
    let products = corners(a, b).map(|corner| compute(FloatOp::Mul, &corner, a.width).unwrap_or(0));
    let (low, high) = products.into_iter().fold((i64::MAX, i64::MIN), |(low, high), p| (low.min(p), high.max(p)));
    let range = FloatRange { width: a.width, low, high, nan };
    if a.has_one_sign() && b.has_one_sign() { range } else { range.with_both_zeros() }
}

/// The factors are equal, so there is no zero times infinity and the sign is known.
fn square(a: FloatRange) -> FloatRange {
    let size = a.magnitude();
    from_corners(FloatOp::Mul, &[[size.low, size.low], [size.high, size.high]], a.width, a.nan)
}

/// Of each pair of signs by itself.
fn quotient(a: FloatRange, b: FloatRange) -> FloatRange {
    let nan = a.nan || b.nan || (a.has_infinity() && b.has_infinity()) || (a.has_zero() && b.has_zero());
    let pairs = a.by_sign().flat_map(|a| b.by_sign().map(move |b| quotient_of_one_sign(a, b)));
    FloatRange { nan, ..pairs.reduce(FloatRange::hull).unwrap_or(FloatRange::full(a.width)) }
}

/// The greatest is the greatest dividend by the least divisor; a NaN there stands for anything of the sign.
fn quotient_of_one_sign(a: FloatRange, b: FloatRange) -> FloatRange {
    let (x, y) = (a.magnitude(), b.magnitude());
    let least = compute(FloatOp::Div, &[x.low, y.high], a.width).unwrap_or(0);
    let most = compute(FloatOp::Div, &[x.high, y.low], a.width).unwrap_or(infinity(a.width));
    let range = FloatRange::numbers(least, most, a.width);
    if (a.high < 0) == (b.high < 0) { range } else { range.negated() }
}

fn root(a: FloatRange) -> FloatRange {
    let nan = a.nan || a.low < -1;
    if a.high < -1 {
        return FloatRange::nothing_but_nan(a.width);
    }
    let low = a.low.max(-1);
    from_corners(FloatOp::Sqrt, &[[low, 0], [a.high, 0]], a.width, nan)
}

/// Rounding to integers keeps the sign, of zeros too.
fn monotone(op: FloatOp, a: FloatRange) -> FloatRange {
    from_corners(op, &[[a.low, 0], [a.high, 0]], a.width, a.nan)
}

/// `a * b + c`, rounded once: for each sum the product is extreme at a corner.
pub(super) fn multiply_add(a: FloatRange, b: FloatRange, c: FloatRange) -> FloatRange {
    let (width, all) = (a.width, [a, b, c]);
    if all.iter().any(|range| !range.has_numbers()) {
        return FloatRange::nothing_but_nan(width);
    }
    let at = |summand: i64| corners(a, b).map(|[x, y]| compute(FloatOp::FusedMultiplyAdd, &[x, y, summand], width));
    let least: Option<Vec<i64>> = at(c.low).into_iter().collect();
    let most: Option<Vec<i64>> = at(c.high).into_iter().collect();
    let nan = all.iter().any(|range| range.nan || range.has_infinity());
    match (least.and_then(|least| least.into_iter().min()), most.and_then(|most| most.into_iter().max())) {
        (Some(low), Some(high)) => FloatRange { width, low, high, nan }.with_both_zeros(),
        _ => FloatRange::full(width),
    }
}

pub(super) fn convert(a: FloatRange, width: u32) -> FloatRange {
    if !a.has_numbers() {
        return FloatRange { width, ..a };
    }
    let end = |place| place_of(number(place, a.width), width);
    FloatRange { width, low: end(a.low), high: end(a.high), nan: a.nan }
}

/// From integers of the range.
pub(super) fn from_integer(op: FloatOp, a: Range, width: u32) -> FloatRange {
    let (low, high) = match op {
        FloatOp::FromSigned => (a.least as u128, a.most as u128),
        _ => (a.low, a.high),
    };
    let end = |value| place(float_value(op, a.width, width, &[crate::semantics::truncate(value, a.width)]), width);
    FloatRange::numbers(end(low), end(high), width)
}

/// To integers: known only if all values fit.
pub(super) fn to_integer(op: FloatOp, a: FloatRange, width: u32) -> Range {
    let full = Range::full(width);
    if a.nan || !a.has_numbers() || width > 64 {
        return full;
    }
    let (low, high) = (number(a.low, a.width).trunc(), number(a.high, a.width).trunc());
    let limit = 2_f64.powi(width as i32 - 1);
    let range = match op {
        FloatOp::ToSigned if low >= -limit && high < limit => Range::signed(low as i128, high as i128, width),
        FloatOp::ToUnsigned if low >= 0.0 && high < 2.0 * limit => Range::unsigned(low as u128, high as u128, width),
        _ => None,
    };
    range.unwrap_or(full)
}

/// What a comparison says, if it says one thing for all values. `same`: both operands are one term.
pub(super) fn compare(op: FloatOp, a: FloatRange, b: FloatRange, same: bool) -> Range {
    let numbers = a.has_numbers() && b.has_numbers();
    let nan = a.nan || b.nan;
    let (low, high) = ((a.low, b.low), (a.high, b.high));
    let ((always, never), reflexive) = match op {
        FloatOp::Unordered => return unordered(a, b),
        FloatOp::Less => ((less(high.0, low.1), !less(low.0, high.1)), false),
        FloatOp::LessOrEqual => ((!less(low.1, high.0), less(high.1, low.0)), true),
        _ => {
            let apart = less(high.0, low.1) || less(high.1, low.0);
            ((a.as_number().is_some() && a.as_number().map(joined) == b.as_number().map(joined), apart), true)
        }
    };
    match () {
        () if !numbers || never => Range::boolean(false),
        () if (always || (same && reflexive)) && !nan => Range::boolean(true),
        () => Range::full(1),
    }
}

fn unordered(a: FloatRange, b: FloatRange) -> Range {
    match () {
        () if !a.nan && !b.nan => Range::boolean(false),
        () if !a.has_numbers() || !b.has_numbers() => Range::boolean(true),
        () => Range::full(1),
    }
}

/// In the order of numbers, where the zeros are equal.
fn less(a: i64, b: i64) -> bool {
    joined(a) < joined(b)
}

/// Both zeros at one place.
fn joined(place: i64) -> i64 {
    if place == -1 { 0 } else { place }
}

/// The range of a constant.
pub(super) fn constant(value: u128, width: u32) -> FloatRange {
    match is_nan(value, width) {
        true => FloatRange::nothing_but_nan(width),
        false => FloatRange::numbers(place(value, width), place(value, width), width),
    }
}
