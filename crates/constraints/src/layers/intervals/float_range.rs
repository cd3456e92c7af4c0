//! Sets of floats that are an interval of the order of numbers, with or without NaN.

use super::range::Range;
use crate::floats::{FloatOp, float_value};
use crate::semantics;

/// Floats of one width. Numbers are kept by their place in the order, in which −0 comes just before +0; there are none
/// if `low > high`. Never empty: what would be is `None`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FloatRange {
    pub(super) width: u32,
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) nan: bool,
}

/// The bits of positive infinity.
fn infinity_bits(width: u32) -> u128 {
    if width == 64 { u128::from(f64::INFINITY.to_bits()) } else { u128::from(f32::INFINITY.to_bits()) }
}

pub(super) fn infinity(width: u32) -> i64 {
    infinity_bits(width) as i64
}

/// The place of negative infinity.
pub(super) fn bottom(width: u32) -> i64 {
    -1 - infinity(width)
}

/// The place of a number in the order.
pub(super) fn place(bits: u128, width: u32) -> i64 {
    let magnitude = (bits & semantics::mask(width - 1)) as i64;
    if bits >> (width - 1) == 0 { magnitude } else { -1 - magnitude }
}

/// The number at a place.
pub(super) fn bits(place: i64, width: u32) -> u128 {
    if place >= 0 { place as u128 } else { (-1 - place) as u128 | semantics::signed_minimum(width) }
}

pub(super) fn is_nan(bits: u128, width: u32) -> bool {
    bits & semantics::mask(width - 1) > infinity_bits(width)
}

pub(super) fn number(place: i64, width: u32) -> f64 {
    let bits = bits(place, width);
    if width == 64 { f64::from_bits(bits as u64) } else { f64::from(f32::from_bits(bits as u32)) }
}

/// The place of the nearest float of the width; the value is no NaN.
pub(super) fn place_of(value: f64, width: u32) -> i64 {
    let bits = if width == 64 { u128::from(value.to_bits()) } else { u128::from((value as f32).to_bits()) };
    place(bits, width)
}

/// The next smaller number, where both zeros count as one; negative infinity has none.
pub(super) fn before(place: i64, width: u32) -> i64 {
    (if place == 0 { -2 } else { place - 1 }).max(bottom(width))
}

/// The next greater number, where both zeros count as one; infinity has none.
pub(super) fn after(place: i64, width: u32) -> i64 {
    (if place == -1 { 1 } else { place + 1 }).min(infinity(width))
}

impl FloatRange {
    pub(super) fn full(width: u32) -> Self {
        Self { width, low: bottom(width), high: infinity(width), nan: true }
    }

    pub(super) fn numbers(low: i64, high: i64, width: u32) -> Self {
        Self { width, low, high, nan: false }
    }

    pub(super) fn nothing_but_nan(width: u32) -> Self {
        Self { width, low: 1, high: 0, nan: true }
    }

    pub(super) fn has_numbers(&self) -> bool {
        self.low <= self.high
    }

    /// Both ends moved outwards over a zero: which of the two a result is does not follow from its ends.
    pub(super) fn with_both_zeros(mut self) -> Self {
        self.low -= i64::from(self.low == 0);
        self.high += i64::from(self.high == -1);
        self
    }

    pub(super) fn contains(&self, bits: u128) -> bool {
        if is_nan(bits, self.width) {
            return self.nan;
        }
        (self.low..=self.high).contains(&place(bits, self.width))
    }

    /// The only number, if there is one and no NaN; both zeros are one.
    pub(super) fn as_number(&self) -> Option<i64> {
        let one = self.low == self.high || (self.low == -1 && self.high == 0);
        (one && !self.nan).then_some(self.high)
    }

    pub(super) fn meet(self, other: Self) -> Option<Self> {
        let met = Self {
            width: self.width,
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            nan: self.nan && other.nan,
        };
        (met.nan || met.has_numbers()).then_some(met)
    }

    pub(super) fn hull(self, other: Self) -> Self {
        let nan = self.nan || other.nan;
        match (self.has_numbers(), other.has_numbers()) {
            (false, _) => Self { nan, ..other },
            (_, false) => Self { nan, ..self },
            _ => Self { width: self.width, low: self.low.min(other.low), high: self.high.max(other.high), nan },
        }
    }

    pub(super) fn without_nan(self) -> Option<Self> {
        Self { nan: false, ..self }.meet(Self::full(self.width))
    }

    pub(super) fn only_nan(self) -> Option<Self> {
        self.nan.then_some(Self::nothing_but_nan(self.width))
    }

    pub(super) fn negated(self) -> Self {
        Self { low: -1 - self.high, high: -1 - self.low, ..self }
    }

    /// Of the absolute values.
    pub(super) fn magnitude(self) -> Self {
        match self {
            _ if !self.has_numbers() || self.low >= 0 => self,
            _ if self.high < 0 => self.negated(),
            _ => Self { low: 0, high: self.high.max(-1 - self.low), ..self },
        }
    }

    /// The floats whose bit patterns are in a range.
    pub(super) fn of_bits(range: Range) -> Option<Self> {
        let width = range.width;
        let (sign, infinity) = (semantics::signed_minimum(width), infinity_bits(width));
        let mut found: Option<Self> = None;
        for (first, last) in [(range.low, range.high.min(sign - 1)), (range.low.max(sign), range.high)] {
            if first > last {
                continue;
            }
            let (first, last, base) = (first & (sign - 1), last & (sign - 1), first & sign);
            let part = Self { width, low: first as i64, high: last.min(infinity) as i64, nan: last > infinity };
            let part = if base == 0 || !part.has_numbers() { part } else { part.negated() };
            found = Some(found.map_or(part, |other| other.hull(part)));
        }
        found
    }

    /// A range of bit patterns that holds all its floats.
    pub(super) fn to_bits(self) -> Option<Range> {
        let width = self.width;
        let (sign, infinity) = (semantics::signed_minimum(width), infinity_bits(width));
        let mut ends: Option<(u128, u128)> = None;
        let mut add = |first: u128, last: u128| {
            ends = Some(ends.map_or((first, last), |(low, high)| (low.min(first), high.max(last))));
        };
        if self.has_numbers() && self.high >= 0 {
            add(bits(self.low.max(0), width), bits(self.high, width));
        }
        if self.has_numbers() && self.low < 0 {
            add(bits(self.high.min(-1), width), bits(self.low, width));
        }
        if self.nan {
            add(infinity + 1, sign - 1);
            add(sign | (infinity + 1), semantics::mask(width));
        }
        let (low, high) = ends?;
        Range::unsigned(low, high, width)
    }

    /// A float of the range: this one if it is inside, otherwise a round one near the end that it is beyond.
    pub(super) fn nearest(&self, hint: u128) -> u128 {
        if self.contains(hint) {
            return hint;
        }
        if !self.has_numbers() {
            return infinity_bits(self.width) | (infinity_bits(self.width) >> 1);
        }
        let (low, high) = (number(self.low, self.width), number(self.high, self.width));
        let below = is_nan(hint, self.width) || place(hint, self.width) < self.low;
        let end = if below { low } else { high };
        // Adding zero turns a negative zero into the usual one.
        let integer = if below { low.ceil() + 0.0 } else { high.floor() + 0.0 };
        let zero = if is_nan(hint, self.width) { 0.0 } else { integer };
        let middle = low / 2.0 + high / 2.0;
        // An integer first, then the middle if the interval is too narrow for one, then the end itself.
        let inside = |value: &f64| value.is_finite() && self.contains(bits(place_of(*value, self.width), self.width));
        let chosen = [zero, integer, middle].into_iter().find(inside).unwrap_or(end);
        bits(place_of(chosen, self.width), self.width)
    }
}

/// The place of the result of a float operation on numbers; `None` for a NaN.
pub(super) fn compute(op: FloatOp, operands: &[i64], width: u32) -> Option<i64> {
    let operands: [u128; 3] = std::array::from_fn(|index| operands.get(index).map_or(0, |&place| bits(place, width)));
    let result = float_value(op, width, width, &operands);
    (!is_nan(result, width)).then(|| place(result, width))
}
