//! No bound may lose a value: random operands in random ranges, with all the special values.

use proptest::prelude::*;

use super::float_range::{FloatRange, is_nan, place};
use super::range::Range;
use super::{float_backward, float_forward};
use crate::floats::{FloatOp, float_value};
use crate::semantics;

const ARITHMETIC: [FloatOp; 10] = {
    use FloatOp::*;
    [Add, Sub, Mul, Div, Sqrt, Floor, Ceil, Trunc, RoundEven, RoundAway]
};

const COMPARISONS: [FloatOp; 4] = [FloatOp::Equal, FloatOp::Less, FloatOp::LessOrEqual, FloatOp::Unordered];

/// The bits of a float: any, a small number, a special one, or a neighbour of one.
fn float(width: u32) -> impl Strategy<Value = u128> {
    let encode = move |value: f64| match width {
        64 => u128::from(value.to_bits()),
        _ => u128::from((value as f32).to_bits()),
    };
    let smallest = if width == 64 { 5e-324 } else { 1e-45 };
    let largest = if width == 64 { f64::MAX } else { f64::from(f32::MAX) };
    let special = prop::sample::select(vec![
        0.0,
        1.0,
        0.5,
        2.0,
        3.0,
        10.0,
        0.1,
        smallest,
        largest,
        f64::INFINITY,
        f64::NAN,
        2147483648.0,
        9223372036854775808.0,
        4294967296.0,
        1e-310,
        1e300,
    ]);
    prop_oneof![
        3 => any::<u64>().prop_map(move |bits| u128::from(bits) & semantics::mask(width)),
        3 => (-100i32..100).prop_map(move |value| encode(f64::from(value) / 4.0)),
        4 => (special, any::<bool>(), -2i64..3).prop_map(move |(value, negative, step)| {
            let value = if negative { -value } else { value };
            encode(value).wrapping_add_signed(i128::from(step)) & semantics::mask(width)
        }),
    ]
}

/// A range that holds the value: between it and two others, with NaN if one of the three is one.
fn around(value: u128, others: [u128; 2], width: u32) -> FloatRange {
    let hull = |a: FloatRange, b: u128| a.hull(float_forward::constant(b, width));
    others.into_iter().fold(float_forward::constant(value, width), hull)
}

fn width() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![32u32, 64])
}

/// Two values, and the others that make their ranges.
fn operands() -> impl Strategy<Value = (u32, [u128; 9])> {
    width().prop_flat_map(|width| (Just(width), prop::array::uniform9(float(width))))
}

fn with_range(range: FloatRange, point: bool, value: u128) -> FloatRange {
    if point { float_forward::constant(value, range.width) } else { range }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn arithmetic_loses_no_value((width, v) in operands(), points in 0u8..4, same in any::<bool>()) {
        let (x, y) = if same { (v[0], v[0]) } else { (v[0], v[1]) };
        let a = with_range(around(x, [v[2], v[3]], width), points & 1 != 0, x);
        let b = if same { a } else { with_range(around(y, [v[4], v[5]], width), points & 2 != 0, y) };
        for op in ARITHMETIC {
            // A second operand that is not there is the first.
            let (y, b) = if op.arity() == 1 { (x, a) } else { (y, b) };
            let result = float_value(op, width, width, &[x, y]);
            let range = float_forward::arithmetic(op, a, b, same);
            prop_assert!(range.contains(result), "{op:?} {a:?} {b:?}: {x:#x} {y:#x} gives {result:#x}, not in {range:?}");
            for wanted in [around(result, [v[6], v[7]], width), around(result, [result, v[8]], width), around(result, [result; 2], width)] {
                let kept = float_backward::arithmetic(op, wanted, a, b, same);
                prop_assert!(
                    kept.is_some_and(|(a, b)| a.contains(x) && b.contains(y)),
                    "{op:?} {wanted:?} {a:?} {b:?}: {x:#x} {y:#x} {kept:?}"
                );
            }
        }
    }

    #[test]
    fn comparisons_lose_no_value((width, v) in operands(), points in 0u8..4, same in any::<bool>()) {
        let (x, y) = if same { (v[0], v[0]) } else { (v[0], v[1]) };
        let a = with_range(around(x, [v[2], v[3]], width), points & 1 != 0, x);
        let b = if same { a } else { with_range(around(y, [v[4], v[5]], width), points & 2 != 0, y) };
        for op in COMPARISONS {
            let truth = float_value(op, width, 1, &[x, y]);
            prop_assert!(float_forward::compare(op, a, b, same).contains(truth), "{op:?} {a:?} {b:?} {x:#x} {y:#x}");
            let kept = float_backward::compare(op, truth == 1, a, b, same);
            prop_assert!(
                kept.is_some_and(|(a, b)| a.contains(x) && b.contains(y)),
                "{op:?} {truth} {a:?} {b:?}: {x:#x} {y:#x} {kept:?}"
            );
        }
    }

    #[test]
    fn conversions_lose_no_value((width, v) in operands(), integer in any::<u128>(), low in any::<u128>(), high in any::<u128>()) {
        let x = v[0];
        let a = around(x, [v[1], v[2]], width);
        let other = 96 - width;
        let converted = float_value(FloatOp::Convert, width, other, &[x]);
        prop_assert!(float_forward::convert(a, other).contains(converted), "{a:?} {x:#x} {converted:#x}");
        let near = [float_value(FloatOp::Convert, width, other, &[v[3]]), converted];
        for wanted in [around(converted, near, other), around(converted, [converted; 2], other)] {
            let kept = float_backward::convert(wanted, a);
            prop_assert!(kept.is_some_and(|a| a.contains(x)), "{wanted:?} {a:?} {x:#x} {kept:?}");
        }
        for (op, to) in [FloatOp::ToSigned, FloatOp::ToUnsigned].into_iter().flat_map(|op| [8, 16, 32, 64].map(|to| (op, to))) {
            let result = float_value(op, width, to, &[x]);
            prop_assert!(float_forward::to_integer(op, a, to).contains(result), "{op:?} {to} {a:?} {x:#x} {result:#x}");
            let (low, high) = (low & semantics::mask(to), high & semantics::mask(to));
            let hulls = [Range::point(low, to).hull(Range::point(result, to)), Range::point(high, to).hull(Range::point(result, to)), Range::point(result, to)];
            for wanted in hulls {
                let kept = float_backward::to_integer(op, wanted, a);
                prop_assert!(kept.is_some_and(|a| a.contains(x)), "{op:?} {wanted:?} {a:?} {x:#x} {kept:?}");
            }
        }
        for (op, from) in [FloatOp::FromSigned, FloatOp::FromUnsigned].into_iter().flat_map(|op| [8, 32, 64, 128].map(|from| (op, from))) {
            let [integer, low, high] = [integer, low, high].map(|value| value & semantics::mask(from));
            let range = Range::point(integer, from).hull(Range::point(low, from));
            let result = float_value(op, from, width, &[integer]);
            prop_assert!(float_forward::from_integer(op, range, width).contains(result), "{op:?} {range:?} {integer}");
            let beyond = float_value(op, from, width, &[high]);
            for wanted in [around(result, [beyond, v[1]], width), around(result, [result; 2], width)] {
                let kept = float_backward::from_integer(op, wanted, range);
                prop_assert!(kept.is_some_and(|range| range.contains(integer)), "{op:?} {wanted:?} {range:?} {integer} {kept:?}");
            }
        }
    }

    #[test]
    fn bit_patterns_and_signs_lose_no_value((width, v) in operands(), hint in any::<u64>()) {
        let x = v[0];
        let a = around(x, [v[1], v[2]], width);
        prop_assert!(a.to_bits().is_some_and(|range| range.contains(x)), "{a:?} {x:#x}");
        let range = Range::point(x, width).hull(Range::point(v[3], width));
        prop_assert!(FloatRange::of_bits(range).is_some_and(|a| a.contains(x)), "{range:?} {x:#x}");
        let sign = semantics::signed_minimum(width);
        prop_assert!(a.negated_numbers().contains(x ^ sign), "{a:?} {x:#x}");
        prop_assert!(a.magnitude().contains(x & (sign - 1)), "{a:?} {x:#x}");
        let wanted = around(x & (sign - 1), [v[4] & (sign - 1), x & (sign - 1)], width);
        let kept = float_backward::magnitude(wanted, a);
        prop_assert!(kept.is_some_and(|kept| kept.contains(x)), "{wanted:?} {a:?} {x:#x} {kept:?}");
        for rounding in [FloatOp::Floor, FloatOp::Ceil, FloatOp::Trunc, FloatOp::RoundEven, FloatOp::RoundAway] {
            let rounded = float_value(rounding, width, width, &[x]);
            let fraction = float_value(FloatOp::Sub, width, width, &[x, rounded]);
            prop_assert!(float_forward::fraction(rounding, a).contains(fraction), "{rounding:?} {a:?} {x:#x}");
        }
        let nearest = a.nearest(u128::from(hint) & semantics::mask(width));
        prop_assert!(a.contains(nearest), "{a:?} {hint:#x} {nearest:#x}");
        prop_assert!(is_nan(x, width) || super::float_range::bits(place(x, width), width) == x);
    }
}
