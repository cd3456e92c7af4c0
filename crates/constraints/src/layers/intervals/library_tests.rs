//! Random values for the tests of soundness, and rows of neighbours for the library's functions.
//! `BRANCHWISE_SOUNDNESS=N` takes N times as many cases.

use super::float_range::{FloatRange, bits, bottom, infinity, is_nan, place, place_of};
use super::range::Range;
use super::{float_forward, library};
use crate::floats::{FloatOp, float_value};
use crate::library::MathFunction;
use crate::semantics;

/// Splitmix: the same cases in every run.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Any bits, a number of usual size, a special one, or a neighbour of one.
    pub(super) fn float(&mut self, width: u32) -> u128 {
        const SPECIAL: [f64; 24] = [
            0.0,
            1.0,
            0.5,
            2.0,
            3.0,
            10.0,
            0.1,
            1e-3,
            709.782712893384,
            88.72,
            1024.0,
            128.0,
            5e-324,
            1e-45,
            1e-310,
            2.2e-308,
            1.1754944e-38,
            3.4e38,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            std::f64::consts::FRAC_PI_2,
            std::f64::consts::PI,
            4.71238898038469,
        ];
        let sign = u128::from(self.below(2)) << (width - 1);
        let value = match self.below(8) {
            0 => return u128::from(self.next()) & semantics::mask(width),
            1 | 2 => self.below(4000) as f64 / 64.0,
            3 | 4 => (self.below(1 << 53) as f64 / (1_u64 << 53) as f64) * 10_f64.powi(self.below(9) as i32 - 4),
            5 => 10_f64.powf(self.below(640) as f64 - 320.0),
            _ => {
                let special = encoded(SPECIAL[self.below(24) as usize], width);
                return (special.wrapping_add(u128::from(self.below(7))).wrapping_sub(3) & semantics::mask(width))
                    ^ sign;
            }
        };
        encoded(value, width) ^ sign
    }

    /// Any bits, few of them at one end or the other, where things wrap around, or about as many as a shift may have.
    pub(super) fn integer(&mut self, width: u32) -> u128 {
        let wide = (u128::from(self.next()) << 64) | u128::from(self.next());
        let value = match self.below(5) {
            0 => wide,
            1 => wide & 0xf,
            2 => !(wide & 0xf),
            3 => wide % u128::from(width + 4),
            _ => semantics::signed_minimum(width).wrapping_add(wide & 3).wrapping_sub(2),
        };
        semantics::truncate(value, width)
    }

    /// A range that holds the value: up to other values in the unsigned order, in the signed one, or in both.
    pub(super) fn integers_around(&mut self, value: u128, width: u32) -> Range {
        let other = |random: &mut Self| {
            let near = value.wrapping_add(u128::from(random.below(64))).wrapping_sub(32);
            let value = if random.below(2) == 0 { random.integer(width) } else { semantics::truncate(near, width) };
            Range::point(value, width)
        };
        let hull = (0..self.below(3)).fold(Range::point(value, width), |hull, _| hull.hull(other(self)));
        let full = Range::full(width);
        match self.below(3) {
            0 => Range { low: full.low, high: full.high, ..hull }.meet(full).unwrap_or(full),
            1 => Range { least: full.least, most: full.most, ..hull }.meet(full).unwrap_or(full),
            _ => hull,
        }
    }

    /// A range that holds the value: up to another float, or to a near one, on each side.
    pub(super) fn around(&mut self, value: u128, width: u32) -> FloatRange {
        let mut range = float_forward::constant(value, width);
        for _ in 0..2 {
            let other = match self.below(4) {
                0 => value,
                1 if !is_nan(value, width) => {
                    let (far, near) = (self.below(20), self.below(8));
                    let distance = self.below(1 << far) as i64 - (1 << near);
                    bits((place(value, width) + distance).clamp(bottom(width), infinity(width)), width)
                }
                _ => self.float(width),
            };
            range = range.hull(float_forward::constant(other, width));
        }
        range
    }
}

fn encoded(value: f64, width: u32) -> u128 {
    if width == 64 { u128::from(value.to_bits()) } else { u128::from((value as f32).to_bits()) }
}

/// Cases for each operator and width.
pub(super) fn cases(usual: u64) -> u64 {
    let times = std::env::var("BRANCHWISE_SOUNDNESS").ok().and_then(|text| text.parse::<u64>().ok());
    usual * times.unwrap_or(1)
}

/// Numbers in a row, where a library that is not quite monotone would show it: through the usual sizes, about the
/// anchors, and at the ends.
#[test]
fn neighbours_are_in_order_up_to_the_margin() {
    let mut random = Random(2);
    let functions = MathFunction::ALL.iter().filter(|function| function.arity() == 1);
    for (&function, width) in functions.flat_map(|function| [(function, 32), (function, 64)]) {
        for _ in 0..cases(40) {
            let first = match random.below(3) {
                0 => place_of([0.0, 1.0, -1.0, 2.0][random.below(4) as usize], width) - random.below(200) as i64,
                _ => {
                    let float = random.float(width);
                    if is_nan(float, width) { 0 } else { place(float, width) }
                }
            };
            let low = first.clamp(bottom(width), infinity(width) - 200);
            let range = library::forward(function, numbers(low, low + 200, width), numbers(low, low + 200, width));
            for place in low..=low + 200 {
                let result = float_value(FloatOp::Library(function), width, width, &[bits(place, width)]);
                assert!(
                    range.contains(result),
                    "{function:?} of {width} bits, from {low} at {place}: {result:#x} {range:?}"
                );
            }
        }
    }
}

fn numbers(low: i64, high: i64, width: u32) -> FloatRange {
    FloatRange::numbers(low, high, width)
}

/// What the bounds are for: each of these would be refuted by nothing else.
#[test]
fn bounds_say_something() {
    let range = |low: f64, high: f64| numbers(place_of(low, 64), place_of(high, 64), 64);
    let inside = |function, a: FloatRange, low: f64, high: f64| {
        let result = library::forward(function, a, a);
        let bounds = range(low, high);
        assert!(bounds.low <= result.low && result.high <= bounds.high && !result.nan, "{function:?} {a:?} {result:?}");
    };
    inside(MathFunction::Sin, range(-1e300, 1e300), -1.0, 1.0);
    inside(MathFunction::Sin, range(0.0, 1.0), -0.0, 0.8415);
    inside(MathFunction::Cos, range(3.0, 3.5), -1.0, -0.93);
    inside(MathFunction::Tan, range(0.1, 1.5), 0.1, 14.2);
    inside(MathFunction::Exp, range(-1.0, 1.0), 0.367, 2.72);
    inside(MathFunction::Exp, range(-1e9, 0.0), -0.0, 1.0);
    inside(MathFunction::Log, range(1.0, 10.0), -0.0, 2.303);
    inside(MathFunction::Acos, range(0.0, 1.0), -0.0, 1.571);
    let kept = library::backward(MathFunction::Sin, range(0.99, 1.0), range(-1.73, 1.73), range(-1.73, 1.73));
    assert!(kept.is_some_and(|(a, _)| a.low > place_of(1.42, 64) && a.high < place_of(1.72, 64)), "{kept:?}");
    let kept = library::backward(MathFunction::Log, range(0.0, 1.0), FloatRange::full(64), FloatRange::full(64));
    assert!(kept.is_some_and(|(a, _)| !a.nan && a.low > place_of(0.99, 64) && a.high < place_of(2.72, 64)), "{kept:?}");
}
