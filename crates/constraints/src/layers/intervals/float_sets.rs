//! Ranges of floats for those who follow values through a program: what operators make of them, and what a result says
//! of its operands. The same bounds as those of the solver chain.

use super::float_range::{FloatRange, bits, bottom, infinity, number, place_of};
use super::range::Range;
use super::{float_backward, float_forward};
use crate::floats::FloatOp;

/// How two floats stand to each other: exactly one of these holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FloatRelation {
    Less,
    Equal,
    Greater,
    /// One is a NaN.
    Unordered,
}

impl FloatRelation {
    pub const ALL: [Self; 4] = [Self::Less, Self::Equal, Self::Greater, Self::Unordered];
}

impl FloatRange {
    /// All floats of 32 or 64 bits.
    pub fn any(width: u32) -> Self {
        Self::full(width)
    }

    /// The float of a bit pattern; a NaN stands for all of them.
    pub fn of_constant(value: u64, width: u32) -> Self {
        float_forward::constant(value.into(), width)
    }

    /// The floats whose bit patterns lie between two.
    pub fn of_patterns(low: u64, high: u64, width: u32) -> Option<Self> {
        Self::of_bits(Range::unsigned(low.into(), high.into(), width)?)
    }

    /// Bit patterns between which all its floats lie.
    pub fn patterns(self) -> Option<(u64, u64)> {
        self.to_bits().map(|range| (range.low as u64, range.high as u64))
    }

    /// The bit patterns of its numbers in ascending order, if there is no NaN and there are at most so many.
    pub fn few_patterns(self, most: usize) -> Option<Vec<u64>> {
        let count = i128::from(self.high) - i128::from(self.low) + 1;
        let few = !self.nan && count <= most as i128;
        few.then(|| (self.low..=self.high).map(|place| bits(place, self.width) as u64).collect())
    }

    pub fn width(self) -> u32 {
        self.width
    }

    pub fn has_pattern(self, value: u64) -> bool {
        self.contains(value.into())
    }

    pub fn has_nan(self) -> bool {
        self.nan
    }

    /// The least and the greatest number.
    pub fn ends(self) -> Option<(f64, f64)> {
        self.has_numbers().then(|| (number(self.low, self.width), number(self.high, self.width)))
    }

    /// What is in one of them, and what lies between.
    pub fn join(self, other: Self) -> Self {
        self.hull(other)
    }

    /// What is in both; `None` if nothing is.
    pub fn common(self, other: Self) -> Option<Self> {
        self.meet(other)
    }

    /// An upper bound of both: an end that moves goes on to the next of the thresholds, or to infinity. Those are in
    /// ascending order.
    pub fn widened(self, next: Self, thresholds: &[f64]) -> Self {
        let joined = self.hull(next);
        if !self.has_numbers() || !joined.has_numbers() {
            return joined;
        }
        let width = self.width;
        let mut places = thresholds.iter().map(|&threshold| place_of(threshold, width));
        let mut reversed = thresholds.iter().rev().map(|&threshold| place_of(threshold, width));
        let low = match joined.low < self.low {
            true => reversed.find(|&place| place <= joined.low).unwrap_or(bottom(width)),
            false => joined.low,
        };
        let high = match joined.high > self.high {
            true => places.find(|&place| place >= joined.high).unwrap_or(infinity(width)),
            false => joined.high,
        };
        Self { low, high, ..joined }.with_both_zeros()
    }

    pub fn opposite(self) -> Self {
        self.negated_numbers()
    }

    pub fn absolute(self) -> Self {
        self.magnitude()
    }

    /// The floats whose absolute value is in `result`.
    pub fn before_absolute(self, result: Self) -> Option<Self> {
        float_backward::magnitude(result, self)
    }

    /// What an operator from floats to floats of one width makes of operands. `same`: both are one value.
    pub fn result(op: FloatOp, operands: &[Self], same: bool) -> Self {
        match *operands {
            [a] => float_forward::arithmetic(op, a, a, false),
            [a, b] => float_forward::arithmetic(op, a, b, same),
            [a, b, c] => float_forward::multiply_add(a, b, c),
            _ => Self::full(64),
        }
    }

    /// The operands of such an operator, of which there are one or two, that give a result in range.
    pub fn operands(op: FloatOp, result: Self, [a, b]: [Self; 2], same: bool) -> Option<[Self; 2]> {
        float_backward::arithmetic(op, result, a, b, same).map(|(a, b)| [a, b])
    }

    pub fn converted(self, width: u32) -> Self {
        float_forward::convert(self, width)
    }

    pub fn before_conversion(self, result: Self) -> Option<Self> {
        float_backward::convert(result, self)
    }

    /// What integers of a width become between two bounds, read with a sign (`FromSigned`) or without.
    pub fn of_integers(op: FloatOp, (low, high): (i128, i128), from: u32, width: u32) -> Self {
        let range = match op {
            FloatOp::FromSigned => Range::signed(low, high, from),
            _ => Range::unsigned(low as u128, high as u128, from),
        };
        float_forward::from_integer(op, range.unwrap_or(Range::full(from)), width)
    }

    /// The bounds of the integers of a width that the floats become; `None` if they are not all sure to fit.
    pub fn integers(self, op: FloatOp, width: u32) -> Option<(i128, i128)> {
        let range = float_forward::to_integer(op, self, width);
        let bounds = match op {
            FloatOp::ToSigned => (range.least, range.most),
            _ => (range.low as i128, range.high as i128),
        };
        (range != Range::full(width)).then_some(bounds)
    }

    /// The floats that become integers between two bounds, read as the conversion does.
    pub fn before_integers(self, op: FloatOp, (low, high): (i128, i128), width: u32) -> Option<Self> {
        let range = match op {
            FloatOp::ToSigned => Range::signed(low, high, width),
            _ => Range::unsigned(low as u128, high as u128, width),
        };
        float_backward::to_integer(op, range?, self)
    }

    /// The operands that stand so to each other, at least; `None` if none do. `same`: both are one value.
    pub fn related(relation: FloatRelation, a: Self, b: Self, same: bool) -> Option<[Self; 2]> {
        let ordered = |op, a: Self, b: Self| float_backward::compare(op, true, a, b, same);
        let pair = match relation {
            FloatRelation::Less | FloatRelation::Greater if same => None,
            FloatRelation::Less => ordered(FloatOp::Less, a, b),
            FloatRelation::Greater => ordered(FloatOp::Less, b, a).map(|(b, a)| (a, b)),
            FloatRelation::Equal => ordered(FloatOp::Equal, a, b),
            FloatRelation::Unordered if same => a.only_nan().map(|nan| (nan, nan)),
            FloatRelation::Unordered => match (a.only_nan(), b.only_nan()) {
                (None, None) => None,
                (Some(nan), None) => Some((nan, b)),
                (None, Some(nan)) => Some((a, nan)),
                (Some(_), Some(_)) => Some((a, b)),
            },
        };
        pair.map(|(a, b)| [a, b])
    }
}
