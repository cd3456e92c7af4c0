//! Bounds of the functions of the C library. Nothing is claimed that does not hold for the library that computes them: a
//! function that is monotone on paper is so up to a few neighbouring numbers, and where it passes through an exact value
//! (`exp(0) = 1`) or never leaves a range (`|sin| <= 1`) the library keeps to that. `library_tests` looks for exceptions.

use super::float_range::{FloatRange, after, before, bottom, compute, infinity, number, place_of};
use crate::floats::FloatOp;
use crate::library::MathFunction;

/// How many numbers the library may be off the order that the function has on paper: twice its greatest error, which
/// glibc gives as 10 units in the last place for `tgamma` and as 5 at most for the others, and room to spare.
const MARGIN: i64 = 64;

/// Where angles are too large to count half turns in a `double`.
const LARGEST_ANGLE: f64 = 1e5;

/// More than the error of a number of half turns.
const TURN_ERROR: f64 = 1e-9;

/// The range of a function. A function of one operand gets it twice.
pub(super) fn forward(function: MathFunction, a: FloatRange, b: FloatRange) -> FloatRange {
    if let (Some(x), Some(y)) = (point(a), point(b)) {
        return match compute(FloatOp::Library(function), &[x, y], a.width) {
            Some(place) => FloatRange::numbers(place, place, a.width),
            None => FloatRange::nothing_but_nan(a.width),
        };
    }
    if let Some(shape) = Monotone::of(function) {
        return shape.range(function, a);
    }
    match function {
        MathFunction::Sin | MathFunction::Cos => wave(function, a),
        MathFunction::Tan => tangent(a),
        MathFunction::Tgamma => gamma(a),
        MathFunction::Pow => power(a, b),
        MathFunction::Hypot => hypotenuse(a, b),
        _ if !a.has_numbers() || !b.has_numbers() => FloatRange::nothing_but_nan(a.width),
        MathFunction::Atan2 => angle(a, b),
        MathFunction::Fmod => remainder_towards_zero(a, b),
        MathFunction::Remainder => nearest_remainder(a, b),
        MathFunction::Fdim => positive_difference(a, b),
        MathFunction::Nextafter => neighbour(a, b),
        _ => FloatRange::full(a.width),
    }
}

/// Operands without the values at both ends that cannot give a result in range: the document's filtering of a box, on
/// the operator alone.
pub(super) fn backward(
    function: MathFunction,
    result: FloatRange,
    a: FloatRange,
    b: FloatRange,
) -> Option<(FloatRange, FloatRange)> {
    if function.arity() == 1 {
        let a = filtered(a, |part| forward(function, part, part).meet(result).is_some())?;
        return Some((a, a));
    }
    let a = filtered(a, |part| forward(function, part, b).meet(result).is_some())?;
    let b = filtered(b, |part| forward(function, a, part).meet(result).is_some())?;
    Some((a, b))
}

/// The range without the parts at its ends that are not possible, and without NaN if that is not.
pub(super) fn filtered(range: FloatRange, possible: impl Fn(FloatRange) -> bool) -> Option<FloatRange> {
    let nan = range.only_nan().is_some_and(&possible);
    let nothing = nan.then_some(FloatRange::nothing_but_nan(range.width));
    if !range.has_numbers() {
        return nothing;
    }
    let numbers = |low: i64, high: i64| FloatRange::numbers(low, high, range.width);
    let (mut low, mut high) = (range.low, range.high);
    if !possible(numbers(low, high)) {
        return nothing;
    }
    // Each step is half the one before, whatever came of it: parts may be impossible one by one without end.
    let mut step = first_step(low, high, possible(numbers(low, low)));
    while step > 0 {
        low += if possible(numbers(low, low + step - 1)) { 0 } else { step };
        step /= 2;
    }
    let mut step = first_step(low, high, possible(numbers(high, high)));
    while step > 0 {
        high -= if possible(numbers(high - step + 1, high)) { 0 } else { step };
        step /= 2;
    }
    Some(FloatRange { nan, ..numbers(low, high) })
}

/// Half the range, or nothing if the end is possible or the only number.
fn first_step(low: i64, high: i64, end_is_possible: bool) -> i64 {
    if end_is_possible || low == high { 0 } else { ((i128::from(high) - i128::from(low)) / 2).max(1) as i64 }
}

fn point(range: FloatRange) -> Option<i64> {
    (range.low == range.high && !range.nan).then_some(range.low)
}

/// Between the two, which may be off by the margin.
fn between(low: i64, high: i64, width: u32) -> FloatRange {
    let low = low.saturating_sub(MARGIN).max(bottom(width));
    FloatRange::numbers(low, high.saturating_add(MARGIN).min(infinity(width)), width)
}

/// Between the least and the greatest value at the corners; any number if one of them is a NaN.
fn among(function: MathFunction, corners: &[[i64; 2]], width: u32) -> FloatRange {
    let places: Option<Vec<i64>> =
        corners.iter().map(|corner| compute(FloatOp::Library(function), corner, width)).collect();
    match places.and_then(|places| Some((*places.iter().min()?, *places.iter().max()?))) {
        Some((low, high)) => between(low, high, width),
        None => FloatRange::numbers(bottom(width), infinity(width), width),
    }
}

fn corners(a: FloatRange, b: FloatRange) -> [[i64; 2]; 4] {
    [[a.low, b.low], [a.low, b.high], [a.high, b.low], [a.high, b.high]]
}

impl FloatRange {
    fn finite(self) -> Self {
        let width = self.width;
        Self { low: self.low.max(bottom(width) + 1), high: self.high.min(infinity(width) - 1), ..self }
    }

    /// Without what is beyond the bounds, of which one value at least is left.
    fn clamped(self, low: i64, high: i64) -> Self {
        Self { low: self.low.max(low).min(high), high: self.high.min(high).max(low), ..self }
    }
}

/// A function of one operand that rises, or falls, wherever it is a number.
struct Monotone {
    falls: bool,
    /// It rises with the magnitude of its operand.
    even: bool,
    /// Outside it is a NaN.
    domain: (f64, f64),
    /// Points that it passes through exactly, or comes close to without passing.
    anchors: &'static [(f64, f64)],
}

const EVERYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Monotone {
    fn of(function: MathFunction) -> Option<Self> {
        use MathFunction::*;
        let rising = |domain, anchors| Some(Self { falls: false, even: false, domain, anchors });
        match function {
            Atan | Sinh | Asinh | Cbrt => rising(EVERYWHERE, &[(0.0, 0.0)]),
            Asin | Atanh => rising((-1.0, 1.0), &[(0.0, 0.0)]),
            Tanh | Erf => rising(EVERYWHERE, &[(f64::NEG_INFINITY, -1.0), (0.0, 0.0), (f64::INFINITY, 1.0)]),
            Exp | Exp2 => rising(EVERYWHERE, &[(f64::NEG_INFINITY, 0.0), (0.0, 1.0)]),
            Expm1 => rising(EVERYWHERE, &[(f64::NEG_INFINITY, -1.0), (0.0, 0.0)]),
            Log | Log2 | Log10 => rising((-0.0, f64::INFINITY), &[(1.0, 0.0)]),
            Log1p => rising((-1.0, f64::INFINITY), &[(0.0, 0.0)]),
            Acosh => rising((1.0, f64::INFINITY), &[(1.0, 0.0)]),
            Acos => Some(Self { falls: true, even: false, domain: (-1.0, 1.0), anchors: &[(1.0, 0.0)] }),
            Erfc => Some(Self {
                falls: true,
                even: false,
                domain: EVERYWHERE,
                anchors: &[(f64::NEG_INFINITY, 2.0), (0.0, 1.0), (f64::INFINITY, 0.0)],
            }),
            Cosh => Some(Self { falls: false, even: true, domain: EVERYWHERE, anchors: &[(0.0, 1.0)] }),
            Logb => Some(Self { falls: false, even: true, domain: EVERYWHERE, anchors: &[] }),
            _ => None,
        }
    }

    fn range(&self, function: MathFunction, a: FloatRange) -> FloatRange {
        let width = a.width;
        let a = if self.even { a.magnitude() } else { a };
        let (first, last) = (place_of(self.domain.0, width), place_of(self.domain.1, width));
        let (low, high) = (a.low.max(first), a.high.min(last));
        if low > high {
            return FloatRange::nothing_but_nan(width);
        }
        let nan = a.nan || a.low < first || a.high > last;
        let mut range = among(function, &[[low, low], [high, high]], width);
        for &(x, y) in self.anchors {
            range = self.held_by(range, (low, high), x, y);
        }
        FloatRange { nan, ..range }.with_both_zeros()
    }

    /// On one side of the anchor the function stays on one side of its value.
    fn held_by(&self, range: FloatRange, operand: (i64, i64), x: f64, y: f64) -> FloatRange {
        let width = range.width;
        // Of the two zeros the one that is farther, for either side.
        let (x_low, x_high) = (place_of(x, width) - i64::from(x == 0.0), place_of(x, width));
        let (y_low, y_high) = (place_of(y, width) - i64::from(y == 0.0), place_of(y, width));
        let (above, below) = match self.falls {
            false => (operand.0 >= x_low, operand.1 <= x_high),
            true => (operand.1 <= x_high, operand.0 >= x_low),
        };
        let range = if above { range.clamped(y_low, infinity(width)) } else { range };
        if below { range.clamped(bottom(width), y_high) } else { range }
    }
}

/// The first and the last half turn that the finite operands lie in, where half turns begin at `shift`; none if there are
/// too many.
fn half_turns(a: FloatRange, shift: f64) -> Option<(i64, i64)> {
    let (low, high) = (number(a.low, a.width), number(a.high, a.width));
    if low < -LARGEST_ANGLE || high > LARGEST_ANGLE {
        return None;
    }
    let turns = |x: f64| x / std::f64::consts::PI - shift;
    Some(((turns(low) - TURN_ERROR).floor() as i64, (turns(high) + TURN_ERROR).floor() as i64))
}

/// Of the sine and the cosine, which rise in one half turn and fall in the next.
fn wave(function: MathFunction, a: FloatRange) -> FloatRange {
    let (width, finite) = (a.width, a.finite());
    if !finite.has_numbers() {
        return FloatRange::nothing_but_nan(width);
    }
    let (least, most) = (place_of(-1.0, width), place_of(1.0, width));
    let nan = a.nan || finite.low != a.low || finite.high != a.high;
    let shift = if function == MathFunction::Sin { 0.5 } else { 0.0 };
    let range = match half_turns(finite, shift) {
        Some((first, last)) if last - first <= 1 => {
            let ends = among(function, &[[finite.low; 2], [finite.high; 2]], width);
            match (last - first, last.rem_euclid(2)) {
                (0, _) => ends,
                (_, 0) => FloatRange { high: most, ..ends },
                _ => FloatRange { low: least, ..ends },
            }
        }
        _ => FloatRange::numbers(least, most, width),
    };
    let range = if function == MathFunction::Sin { with_sign_near_zero(range, finite) } else { range };
    FloatRange { nan, ..range.clamped(least, most) }.with_both_zeros()
}

/// The sine and the tangent have the sign of their operand in the middle of their first half turn.
fn with_sign_near_zero(range: FloatRange, a: FloatRange) -> FloatRange {
    let width = a.width;
    if number(a.low, width) < -1.5 || number(a.high, width) > 1.5 {
        return range;
    }
    let range = if a.low >= -1 { range.clamped(-1, infinity(width)) } else { range };
    if a.high <= 0 { range.clamped(bottom(width), 0) } else { range }
}

fn tangent(a: FloatRange) -> FloatRange {
    let (width, finite) = (a.width, a.finite());
    if !finite.has_numbers() {
        return FloatRange::nothing_but_nan(width);
    }
    let nan = a.nan || finite.low != a.low || finite.high != a.high;
    let range = match half_turns(finite, 0.5) {
        Some((first, last)) if first == last => {
            with_sign_near_zero(among(MathFunction::Tan, &[[finite.low; 2], [finite.high; 2]], width), finite)
        }
        _ => FloatRange::numbers(bottom(width), infinity(width), width),
    };
    FloatRange { nan, ..range }.with_both_zeros()
}

/// It rises from 2 on, and is above 0.88 on all positive numbers.
fn gamma(a: FloatRange) -> FloatRange {
    let width = a.width;
    if !a.has_numbers() {
        return FloatRange::nothing_but_nan(width);
    }
    let range = match a.low {
        low if low >= place_of(2.0, width) => among(MathFunction::Tgamma, &[[low; 2], [a.high; 2]], width),
        0.. => FloatRange::numbers(place_of(0.88, width), infinity(width), width),
        _ => return FloatRange::full(width),
    };
    FloatRange { nan: a.nan, ..range }
}

/// For a base that is not negative it is monotone in each operand. A NaN gives a NaN unless the other operand makes the
/// result 1.
fn power(base: FloatRange, exponent: FloatRange) -> FloatRange {
    let width = base.width;
    let one = FloatRange::numbers(place_of(1.0, width), place_of(1.0, width), width);
    let nan = base.nan || exponent.nan;
    if !base.has_numbers() || !exponent.has_numbers() {
        return FloatRange { nan: true, ..one };
    }
    let range = match (base.low >= 0, exponent.low == exponent.high) {
        (true, _) => among(MathFunction::Pow, &corners(base, exponent), width).clamped(0, infinity(width)),
        (false, true) => match integral_power(base, exponent) {
            Some(range) => range.with_both_zeros(),
            None => return FloatRange::full(width),
        },
        (false, false) => return FloatRange::full(width),
    };
    if nan { FloatRange { nan, ..range.hull(one) } } else { range }
}

/// A positive integer as the only exponent.
fn integral_power(base: FloatRange, exponent: FloatRange) -> Option<FloatRange> {
    let (width, n) = (base.width, number(exponent.low, exponent.width));
    if !(1.0..=1e6).contains(&n) || n.fract() != 0.0 {
        return None;
    }
    let even = n % 2.0 == 0.0;
    let operand = if even { base.magnitude() } else { base };
    let range = among(MathFunction::Pow, &[[operand.low, exponent.low], [operand.high, exponent.low]], width);
    Some(if even { range.clamped(0, infinity(width)) } else { range })
}

/// It rises with both magnitudes; an infinite operand makes it infinite, beside a NaN too.
fn hypotenuse(a: FloatRange, b: FloatRange) -> FloatRange {
    let (width, top) = (a.width, infinity(a.width));
    let (x, y) = (a.magnitude(), b.magnitude());
    let range = match a.has_numbers() && b.has_numbers() {
        true => among(MathFunction::Hypot, &[[x.low, y.low], [x.high, y.high]], width).clamped(0, top),
        false => FloatRange::nothing_but_nan(width),
    };
    let beside_nan = (a.nan && b.has_numbers() && y.high == top) || (b.nan && a.has_numbers() && x.high == top);
    let range = if beside_nan { range.hull(FloatRange::numbers(top, top, width)) } else { range };
    FloatRange { nan: a.nan || b.nan, ..range }
}

/// The angle of a point: monotone in each coordinate on each side of an axis that it does not cross. Where both are
/// crossed it turns all the way round.
fn angle(y: FloatRange, x: FloatRange) -> FloatRange {
    let width = y.width;
    let one_side = x.low >= 0 || y.low >= 0 || y.high < 0;
    let range = match one_side {
        true => among(MathFunction::Atan2, &corners(y, x), width),
        false => {
            let half = place_of(std::f64::consts::PI, width);
            between(-1 - half, half, width)
        }
    };
    let range = if y.low >= 0 { range.clamped(0, infinity(width)) } else { range };
    let range = if y.high < 0 { range.clamped(bottom(width), -1) } else { range };
    FloatRange { nan: y.nan || x.nan, ..range }.with_both_zeros()
}

fn is_invalid_division(a: FloatRange, b: FloatRange) -> bool {
    let (finite, magnitude) = (a.finite(), b.magnitude());
    a.nan || b.nan || finite.low != a.low || finite.high != a.high || magnitude.low <= 0
}

/// `fmod` is exact: smaller than the divisor, no greater than the dividend, and with its sign.
fn remainder_towards_zero(a: FloatRange, b: FloatRange) -> FloatRange {
    let (width, nan, finite) = (a.width, is_invalid_division(a, b), a.finite());
    let divisor = b.magnitude();
    if !finite.has_numbers() || divisor.high <= 0 {
        return FloatRange::nothing_but_nan(width);
    }
    if finite.magnitude().high < divisor.low {
        return FloatRange { nan, ..finite };
    }
    let most = finite.magnitude().high.min(divisor.high - 1);
    let low = if finite.low >= 0 { 0 } else { -1 - most };
    let high = if finite.high < 0 { -1 } else { most };
    FloatRange { nan, ..FloatRange::numbers(low, high, width) }
}

/// `remainder` is exact too: at most half the divisor.
fn nearest_remainder(a: FloatRange, b: FloatRange) -> FloatRange {
    let (width, nan, finite) = (a.width, is_invalid_division(a, b), a.finite());
    let divisor = b.magnitude();
    if !finite.has_numbers() || divisor.high <= 0 {
        return FloatRange::nothing_but_nan(width);
    }
    let half = after(place_of(number(divisor.high, width) / 2.0, width), width);
    let most = finite.magnitude().high.min(half);
    FloatRange { nan, ..FloatRange::numbers(-1 - most, most, width) }
}

/// `fdim` is the rounded difference where that is positive, and zero otherwise.
fn positive_difference(a: FloatRange, b: FloatRange) -> FloatRange {
    let width = a.width;
    let ends = [[a.low, b.high], [a.high, b.low]];
    let ends = ends.map(|end| compute(FloatOp::Library(MathFunction::Fdim), &end, width));
    let range = match ends {
        [Some(low), Some(high)] => FloatRange::numbers(low, high, width).with_both_zeros(),
        _ => FloatRange::numbers(bottom(width), infinity(width), width),
    };
    FloatRange { nan: a.nan || b.nan, ..range }
}

fn neighbour(a: FloatRange, b: FloatRange) -> FloatRange {
    let (low, high) = (before(a.low, a.width), after(a.high, a.width));
    FloatRange { nan: a.nan || b.nan, ..FloatRange::numbers(low, high, a.width) }.with_both_zeros()
}
