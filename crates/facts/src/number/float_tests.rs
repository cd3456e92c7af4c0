//! Every operation on floats against its evaluation, on members of sets near their ends and on special values.

use branchwise_constraints::{FloatOp, FloatRange, MathFunction, float_value};
use branchwise_program::code::{BinaryOp, FloatPredicate};
use proptest::prelude::*;

use super::{Number, mask};
use crate::thresholds::Thresholds;

const PREDICATES: [FloatPredicate; 14] = {
    use FloatPredicate::*;
    [
        Equal,
        Greater,
        GreaterOrEqual,
        Less,
        LessOrEqual,
        Different,
        Ordered,
        Unordered,
        UnorderedOrEqual,
        UnorderedOrGreater,
        UnorderedOrGreaterOrEqual,
        UnorderedOrLess,
        UnorderedOrLessOrEqual,
        UnorderedOrDifferent,
    ]
};

const UNARY: [FloatOp; 8] = [
    FloatOp::Sqrt,
    FloatOp::Floor,
    FloatOp::Ceil,
    FloatOp::Trunc,
    FloatOp::RoundEven,
    FloatOp::RoundAway,
    FloatOp::Library(MathFunction::Sin),
    FloatOp::Library(MathFunction::Exp),
];

const BINARY: [FloatOp; 6] = [
    FloatOp::Add,
    FloatOp::Sub,
    FloatOp::Mul,
    FloatOp::Div,
    FloatOp::Library(MathFunction::Fmod),
    FloatOp::Library(MathFunction::Atan2),
];

/// As C defines the comparison, without a look at our own order of floats.
fn holds(predicate: FloatPredicate, width: u32, left: u64, right: u64) -> bool {
    let value = |bits: u64| if width == 64 { f64::from_bits(bits) } else { f32::from_bits(bits as u32).into() };
    let (a, b) = (value(left), value(right));
    let unordered = a.is_nan() || b.is_nan();
    match predicate {
        FloatPredicate::Equal => a == b,
        FloatPredicate::Greater => a > b,
        FloatPredicate::GreaterOrEqual => a >= b,
        FloatPredicate::Less => a < b,
        FloatPredicate::LessOrEqual => a <= b,
        FloatPredicate::Different => !unordered && a != b,
        FloatPredicate::Ordered => !unordered,
        FloatPredicate::Unordered => unordered,
        FloatPredicate::UnorderedOrEqual => unordered || a == b,
        FloatPredicate::UnorderedOrGreater => unordered || a > b,
        FloatPredicate::UnorderedOrGreaterOrEqual => unordered || a >= b,
        FloatPredicate::UnorderedOrLess => unordered || a < b,
        FloatPredicate::UnorderedOrLessOrEqual => unordered || a <= b,
        FloatPredicate::UnorderedOrDifferent => unordered || a != b,
    }
}

fn bits(value: f64, width: u32) -> u64 {
    if width == 64 { value.to_bits() } else { u64::from((value as f32).to_bits()) }
}

/// How a set of floats is made: from members or from two ends, with a NaN or without.
#[derive(Debug, Clone)]
enum Recipe {
    Members(Vec<f64>),
    Ends(f64, f64, bool),
    Anything,
}

fn special() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            3.0,
            1e30,
            -1e30,
            5e-324,
            -1e-310,
            f64::from(f32::MAX),
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            2_147_483_648.0,
            -9_223_372_036_854_775_808.0,
        ]),
        -100.0..100.0,
        any::<f64>().prop_filter("a number", |value| !value.is_nan()),
    ]
}

fn recipe() -> impl Strategy<Value = Recipe> {
    prop_oneof![
        4 => prop::collection::vec(special(), 1..20).prop_map(Recipe::Members),
        8 => (special(), special(), any::<bool>()).prop_map(|(low, high, nan)| Recipe::Ends(low, high, nan)),
        1 => Just(Recipe::Anything),
    ]
}

fn number(width: u32, recipe: &Recipe) -> Number {
    let constant = |value: f64| FloatRange::of_constant(bits(value, width), width);
    match recipe {
        Recipe::Members(members) => {
            Number::one_of(width, members.iter().map(|&value| bits(value, width))).expect("there are members")
        }
        Recipe::Ends(low, high, nan) => {
            let ends = constant(*low).join(constant(*high));
            Number::of_float(if *nan { ends.join(constant(f64::NAN)) } else { ends })
        }
        Recipe::Anything => Number::any(width),
    }
}

/// Members near the ends, zeros, infinities and NaN of both signs, as far as they are in the set.
fn members(set: &Number) -> Vec<u64> {
    let width = set.width;
    let ends = set.as_float().ends().into_iter().flat_map(|(low, high)| [low, high, low / 2.0 + high / 2.0]);
    let special = [0.0, -0.0, 1.0, -1.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN];
    let candidates = ends.chain(special).map(|value| bits(value, width));
    let near = candidates.flat_map(|bits| [bits, bits.wrapping_add(1), bits.wrapping_sub(1)]);
    let near = near.map(|bits| bits & mask(width)).chain(set.few().into_iter().flatten().copied());
    near.filter(|&bits| set.contains(bits)).collect()
}

/// Which NaN comes out is not followed.
fn has(set: &Number, result: u64) -> bool {
    let constant = FloatRange::of_constant(result, set.width);
    if constant.has_nan() { set.as_float().has_nan() } else { set.contains(result) }
}

fn check_pair(left: &Number, right: &Number) {
    let width = left.width;
    let (lefts, rights) = (members(left), members(right));
    let pairs: Vec<(u64, u64)> = lefts.iter().flat_map(|&l| rights.iter().map(move |&r| (l, r))).collect();
    for op in BINARY {
        let made = Number::float_result(op, &[left, right], width, false);
        for &(l, r) in &pairs {
            let result = float_value(op, width, width, &[l.into(), r.into()]) as u64;
            assert!(has(&made, result), "{op:?} of {l:x} and {r:x} is {result:x}, not in {made:?}");
        }
        let squared = Number::float_result(op, &[left, left], width, true);
        for &l in &lefts {
            let result = float_value(op, width, width, &[l.into(), l.into()]) as u64;
            assert!(has(&squared, result), "{op:?} of {l:x} with itself is {result:x}, not in {squared:?}");
        }
    }
    for predicate in PREDICATES {
        check_predicate(predicate, left, right, &pairs);
    }
    let (joined, met) = (left.join(right), left.meet(right));
    let thresholds = Thresholds { floats: vec![-7.5, 0.0, 10.0, 100.0], integers: vec![0] };
    let widened = left.widen(right, &thresholds);
    for &member in lefts.iter().chain(&rights) {
        assert!(joined.contains(member) && widened.contains(member), "{member:x} of {left:?} and {right:?}");
        let in_both = left.contains(member) && right.contains(member);
        assert!(!in_both || met.as_ref().is_some_and(|met| met.contains(member)), "{member:x} of {left:?}, {right:?}");
    }
}

fn check_predicate(predicate: FloatPredicate, left: &Number, right: &Number, pairs: &[(u64, u64)]) {
    let width = left.width;
    let outcomes = Number::float_compare(predicate, left, right, false);
    let with_itself = Number::float_compare(predicate, left, left, true);
    for &(l, r) in pairs {
        let truth = holds(predicate, width, l, r);
        assert!(outcomes.contains(truth.into()), "{l:x} {predicate:?} {r:x}");
        assert!(with_itself.contains(holds(predicate, width, l, l).into()), "{l:x} {predicate:?} itself");
        let restricted = Number::float_restricted(predicate, truth, [left, right], false);
        let kept = restricted.is_some_and(|[left, right]| left.contains(l) && right.contains(r));
        assert!(kept, "{l:x} {predicate:?} {r:x} is {truth}");
    }
}

fn check_single(set: &Number) {
    let width = set.width;
    let sign = 1_u64 << (width - 1);
    let negated = Number::binary(BinaryOp::Xor, set, &Number::constant(width, sign.into())).expect("a result");
    let absolute = Number::binary(BinaryOp::And, set, &Number::constant(width, (sign - 1).into())).expect("a result");
    let other = 96 - width;
    let converted = Number::float_result(FloatOp::Convert, &[set], other, false);
    for member in members(set) {
        for op in UNARY {
            let made = Number::float_result(op, &[set], width, false);
            let result = float_value(op, width, width, &[member.into()]) as u64;
            assert!(has(&made, result), "{op:?} of {member:x} is {result:x}, not in {made:?}");
        }
        assert!(negated.contains(member ^ sign) && absolute.contains(member & (sign - 1)), "{member:x} of {set:?}");
        let before = set.before_absolute(&absolute);
        assert!(before.is_some_and(|before| before.contains(member)), "{member:x} of {set:?}");
        assert!(has(&converted, float_value(FloatOp::Convert, width, other, &[member.into()]) as u64));
        for (op, to) in
            [FloatOp::ToSigned, FloatOp::ToUnsigned].into_iter().flat_map(|op| [8, 32, 64].map(|to| (op, to)))
        {
            let result = float_value(op, width, to, &[member.into()]) as u64;
            assert!(set.float_to_integer(op, to).contains(result), "{op:?} of {member:x} to {to} bits");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sets_contain_every_result(left in recipe(), right in recipe(), wide in any::<bool>()) {
        let width = if wide { 64 } else { 32 };
        check_pair(&number(width, &left), &number(width, &right));
        check_single(&number(width, &left));
    }

    #[test]
    fn integers_become_floats_in_the_set(low in any::<i64>(), high in any::<i64>(), inner in any::<i64>()) {
        let (least, most) = (low.min(high), low.max(high));
        let set = Number::signed_range(64, least, most).expect("a range");
        let value = inner.clamp(least, most) as u64;
        for (op, to) in [FloatOp::FromSigned, FloatOp::FromUnsigned].into_iter().flat_map(|op| [32, 64].map(|to| (op, to))) {
            let made = Number::float_result(op, &[&set], to, false);
            prop_assert!(made.contains(float_value(op, 64, to, &[value.into()]) as u64));
        }
    }

    #[test]
    fn widening_comes_to_an_end(first in recipe(), more in prop::collection::vec(recipe(), 200)) {
        let thresholds = Thresholds { floats: vec![-1.0, 0.0, 1.0, 64.0], integers: vec![0] };
        let mut now = number(64, &first).taken_for_float();
        let steps = more.iter().filter(|recipe| {
            let next = now.widen(&number(64, recipe).taken_for_float(), &thresholds);
            std::mem::replace(&mut now, next.clone()) != next
        });
        prop_assert!(steps.count() <= 20);
    }
}

#[test]
fn ends_are_those_of_ieee() {
    let float = |value: f64| Number::constant(64, value.to_bits().into());
    let range = |low, high| float(low).join(&float(high)).taken_for_float();
    let unit = Number::of_float(range(0.0, 1.0).as_float());
    let sum = Number::float_result(FloatOp::Add, &[&unit, &float(16.0)], 64, false);
    assert_eq!(sum.to_string(), "from 16.0 to 17.0");
    let root = Number::float_result(FloatOp::Sqrt, &[&Number::of_float(range(-1.0, 4.0).as_float())], 64, false);
    assert_eq!(root.to_string(), "from -0.0 to 2.0 or a NaN");
    let tenths = Number::float_result(FloatOp::Add, &[&float(0.1), &float(0.2)], 64, false);
    assert_eq!(tenths.to_string(), "0.30000000000000004");
    let quotient = Number::float_result(FloatOp::Div, &[&unit, &float(0.0)], 64, false);
    assert_eq!(quotient.to_string(), "at least 0.0 or a NaN");
}
