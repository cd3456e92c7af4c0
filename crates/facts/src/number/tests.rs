//! Every operation against its concrete evaluation: all members of sets of eight bits, and members of wider ones.

use branchwise_program::code::{BinaryOp, CastOp, CompareOp};
use proptest::prelude::*;

use super::arithmetic::evaluate;
use super::{Number, mask, signed};
use crate::thresholds::Thresholds;

const OPERATIONS: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::UDiv,
    BinaryOp::SDiv,
    BinaryOp::URem,
    BinaryOp::SRem,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::LShr,
    BinaryOp::AShr,
];

const COMPARISONS: [CompareOp; 10] = [
    CompareOp::Eq,
    CompareOp::Ne,
    CompareOp::Ult,
    CompareOp::Ule,
    CompareOp::Ugt,
    CompareOp::Uge,
    CompareOp::Slt,
    CompareOp::Sle,
    CompareOp::Sgt,
    CompareOp::Sge,
];

fn integers(thresholds: &[i128]) -> Thresholds {
    Thresholds { integers: thresholds.to_vec(), ..Thresholds::default() }
}

fn holds(op: CompareOp, width: u32, left: u64, right: u64) -> bool {
    let (l, r) = (signed(left, width), signed(right, width));
    match op {
        CompareOp::Eq => left == right,
        CompareOp::Ne => left != right,
        CompareOp::Ult => left < right,
        CompareOp::Ule => left <= right,
        CompareOp::Ugt => left > right,
        CompareOp::Uge => left >= right,
        CompareOp::Slt => l < r,
        CompareOp::Sle => l <= r,
        CompareOp::Sgt => l > r,
        CompareOp::Sge => l >= r,
    }
}

/// How a set is made: from members, or from bounds and a congruence.
#[derive(Debug, Clone)]
enum Recipe {
    Members(Vec<u64>),
    Unsigned(u64, u64, u64),
    Signed(u64, u64),
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let edge = prop_oneof![any::<u64>(), 0_u64..20, (0_u64..20).prop_map(|back| u64::MAX - back)];
    prop_oneof![
        prop::collection::vec(edge.clone(), 1..24).prop_map(Recipe::Members),
        (edge.clone(), edge.clone(), 1_u64..9).prop_map(|(low, high, step)| Recipe::Unsigned(low, high, step)),
        (edge.clone(), edge).prop_map(|(least, most)| Recipe::Signed(least, most)),
    ]
}

fn number(width: u32, recipe: &Recipe) -> Number {
    match recipe {
        Recipe::Members(members) => Number::one_of(width, members.iter().copied()).expect("there are members"),
        Recipe::Unsigned(low, high, step) => {
            let (low, high) = (low & mask(width), high & mask(width));
            let range = Number::unsigned_range(width, low.min(high), low.max(high)).expect("a range");
            let stepping = Number { modulus: *step, remainder: low.min(high) % step, ..range.without_members() };
            stepping.normal().expect("its lowest member is in it")
        }
        Recipe::Signed(least, most) => {
            let (least, most) = (signed(least & mask(width), width), signed(most & mask(width), width));
            Number::signed_range(width, least.min(most), least.max(most)).expect("a range")
        }
    }
}

/// All members of eight bits; of wider sets those near the bounds.
fn members(set: &Number) -> Vec<u64> {
    let width = set.width;
    let candidates: Vec<u64> = match width {
        0..=8 => (0..=mask(width)).collect(),
        _ => {
            let ends = [set.low, set.high, set.least as u64, set.most as u64, 0, mask(width) >> 1];
            let near = |end: u64| (0..12).flat_map(move |by| [end.wrapping_add(by), end.wrapping_sub(by)]);
            ends.into_iter().flat_map(near).map(|bits| bits & mask(width)).collect()
        }
    };
    candidates.into_iter().filter(|&bits| set.contains(bits)).collect()
}

fn check_pair(left: &Number, right: &Number) {
    let width = left.width;
    let (lefts, rights) = (members(left), members(right));
    for op in OPERATIONS {
        let made = Number::binary(op, left, right);
        for (&l, &r) in lefts.iter().flat_map(|l| rights.iter().map(move |r| (l, r))) {
            if let Some(result) = evaluate(op, width, l, r) {
                let found = made.as_ref().is_some_and(|made| made.contains(result));
                assert!(found, "{op:?} of {l} in {left} and {r} in {right} is {result}, not in {made:?}");
            }
        }
    }
    for op in COMPARISONS {
        let outcomes = Number::compare(op, left, right);
        let restricted = Number::restricted(op, left, right);
        for (&l, &r) in lefts.iter().flat_map(|l| rights.iter().map(move |r| (l, r))) {
            let outcome = holds(op, width, l, r);
            assert_ne!(outcome, holds(op.negated(), width, l, r));
            assert!(outcomes.contains(outcome.into()), "{l} {op:?} {r}");
            if outcome {
                let kept = restricted.as_ref().is_some_and(|(left, right)| left.contains(l) && right.contains(r));
                assert!(kept, "{l} in {left} {op:?} {r} in {right}");
            }
        }
    }
    let (joined, met) = (left.join(right), left.meet(right));
    let widened = left.widen(right, &integers(&[-7, 0, 10, 100]));
    for &member in lefts.iter().chain(&rights) {
        assert!(joined.contains(member) && widened.contains(member), "{member} of {left} and {right}");
        let in_both = left.contains(member) && right.contains(member);
        assert!(!in_both || met.as_ref().is_some_and(|met| met.contains(member)), "{member} of {left} and {right}");
    }
    let is_within = |part: &Number, whole: &Number| part.join(whole) == *whole;
    assert!(is_within(left, &joined) && is_within(right, &joined) && is_within(&joined, &widened));
}

fn check_casts(set: &Number, narrow: u32, broad: u32) {
    for member in members(set) {
        let extended = signed(member, set.width) as u64 & mask(broad);
        assert!(set.cast(CastOp::Truncate, narrow).contains(member & mask(narrow)), "{member} of {set}");
        assert!(set.cast(CastOp::ZeroExtend, broad).contains(member), "{member} of {set}");
        assert!(set.cast(CastOp::SignExtend, broad).contains(extended), "{member} of {set}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn eight_bits_contain_every_result(left in recipe(), right in recipe()) {
        check_pair(&number(8, &left), &number(8, &right));
        check_casts(&number(8, &left), 3, 16);
    }

    #[test]
    fn other_widths_contain_the_results_near_their_bounds(left in recipe(), right in recipe(), width in 1_u32..=64) {
        check_pair(&number(width, &left), &number(width, &right));
        check_casts(&number(32, &left), 8, 64);
        check_casts(&number(33, &left), 32, 64);
    }

    #[test]
    fn widening_comes_to_an_end(first in recipe(), more in prop::collection::vec(recipe(), 200)) {
        let mut now = number(32, &first);
        let steps = more.iter().filter(|recipe| {
            let next = now.widen(&number(32, recipe), &integers(&[-1, 0, 1, 64]));
            std::mem::replace(&mut now, next.clone()) != next
        });
        prop_assert!(steps.count() <= 40);
    }
}

fn text(number: Option<Number>) -> String {
    number.map_or("nothing".to_string(), |number| number.to_string())
}

#[test]
fn sums_keep_congruences_and_wrap_around() {
    let even = Number { modulus: 2, remainder: 0, ..Number::signed_range(32, 0, 1000).unwrap().without_members() };
    let two = Number::constant(32, 2);
    assert_eq!(text(Number::binary(BinaryOp::Add, &even, &two)), "from 2 to 1002 and 0 modulo 2");
    let seven = Number::constant(32, 7);
    assert_eq!(Number::compare(CompareOp::Eq, &even, &seven).as_constant(), Some(0));
    let top = Number::unsigned_range(8, 200, 255).unwrap();
    assert_eq!(text(Number::binary(BinaryOp::Add, &top, &Number::constant(8, 100))), "from 44 to 99");
    assert_eq!(text(Number::binary(BinaryOp::UDiv, &top, &Number::constant(8, 0))), "nothing");
}

#[test]
fn integers_of_more_than_64_bits_are_anything() {
    let wide = Number::constant(128, 3);
    assert_eq!(Number::binary(BinaryOp::Add, &wide, &wide), Some(Number::any(128)));
    assert_eq!(wide.cast(CastOp::Truncate, 32), Number::any(32));
    assert_eq!(Number::compare(CompareOp::Eq, &wide, &wide), Number::any(1));
}
