//! No bound of integers may lose a value, at the widths that programs have and where they wrap around. The small widths are
//! gone through from end to end beside the rules; here values and ranges are random, with all corners.
//! `BRANCHWISE_SOUNDNESS=N` takes N times as many cases.

use super::library_tests::{Random, cases};
use super::range::Range;
use super::{backward, forward};
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, UnaryOp};

const WIDTHS: [u32; 10] = [1, 7, 8, 16, 31, 32, 48, 63, 64, 128];

/// A range that holds the value: up to other values in the unsigned order, in the signed one, or in both.
fn around(random: &mut Random, value: u128, width: u32) -> Range {
    let point = Range::point(value, width);
    let other = |random: &mut Random| {
        let near = value.wrapping_add(u128::from(random.below(64))).wrapping_sub(32);
        let value = if random.below(2) == 0 { random.integer(width) } else { semantics::truncate(near, width) };
        Range::point(value, width)
    };
    let hull = (0..random.below(3)).fold(point, |hull, _| hull.hull(other(random)));
    let full = Range::full(width);
    match random.below(3) {
        0 => Range { low: full.low, high: full.high, ..hull }.meet(full).unwrap_or(full),
        1 => Range { least: full.least, most: full.most, ..hull }.meet(full).unwrap_or(full),
        _ => hull,
    }
}

#[test]
fn operators_lose_no_value_at_any_width() {
    let mut random = Random(41);
    for _ in 0..cases(40_000) {
        let width = WIDTHS[random.below(WIDTHS.len() as u64) as usize];
        let (x, y) = (random.integer(width), random.integer(width));
        let (a, b) = (around(&mut random, x, width), around(&mut random, y, width));
        assert!(a.contains(x) && b.contains(y));
        for op in BinaryOp::ALL {
            let value = semantics::binary(op, x, y, width);
            assert!(forward::binary(op, a, b).contains(value), "{op:?} {a:?} {b:?} {x:#x} {y:#x}");
            let result = around(&mut random, value, width);
            let kept = backward::binary(op, result, a, b);
            let kept = kept.is_some_and(|(a, b)| a.contains(x) && b.contains(y));
            assert!(kept, "{op:?} {result:?} {a:?} {b:?} {x:#x} {y:#x}");
        }
        for op in CompareOp::ALL {
            let truth = semantics::compare(op, x, y, width);
            assert!(forward::compare(op, a, b).contains(u128::from(truth)), "{op:?} {a:?} {b:?} {x:#x} {y:#x}");
            let kept = backward::compare(op, truth, a, b).is_some_and(|(a, b)| a.contains(x) && b.contains(y));
            assert!(kept, "{op:?} {truth} {a:?} {b:?} {x:#x} {y:#x}");
        }
        for op in UnaryOp::ALL {
            assert!(forward::unary(op, a).contains(semantics::unary(op, x, width)), "{op:?} {a:?} {x:#x}");
        }
    }
}

/// Between all pairs of widths: longer with and without a sign, shorter from any place, and put together.
#[test]
fn casts_lose_no_value_between_any_widths() {
    let mut random = Random(42);
    for (narrow, wide) in WIDTHS.into_iter().flat_map(|a| WIDTHS.map(|b| (a, b))).filter(|(a, b)| a < b) {
        for _ in 0..cases(200) {
            let x = random.integer(narrow);
            let a = around(&mut random, x, narrow);
            let sign = semantics::truncate(semantics::signed(x, narrow) as u128, wide);
            assert!(forward::zero_extend(a, wide).contains(x), "{a:?} {x:#x} {wide}");
            assert!(forward::sign_extend(a, wide).contains(sign), "{a:?} {x:#x} {wide}");
            let (zero, signed) = (around(&mut random, x, wide), around(&mut random, sign, wide));
            assert!(backward::zero_extend(zero, a).is_some_and(|kept| kept.contains(x)), "{zero:?} {a:?} {x:#x}");
            assert!(backward::sign_extend(signed, a).is_some_and(|kept| kept.contains(x)), "{signed:?} {a:?} {x:#x}");
            let y = random.integer(wide);
            let b = around(&mut random, y, wide);
            let low = random.below(u64::from(wide - narrow) + 1) as u32;
            let part = semantics::truncate(y >> low, narrow);
            assert!(forward::extract(b, low, narrow).contains(part), "{b:?} {y:#x} {low} {narrow}");
            let result = around(&mut random, part, narrow);
            let kept = backward::extract(result, b, low);
            assert!(kept.is_some_and(|kept| kept.contains(y)), "{result:?} {b:?} {y:#x} {low}");
            if narrow + wide <= 128 {
                let joined = (x << wide) | y;
                assert!(forward::concat(a, b).contains(joined), "{a:?} {b:?} {x:#x} {y:#x}");
                let result = around(&mut random, joined, narrow + wide);
                let kept = backward::concat(result, a, b).is_some_and(|(a, b)| a.contains(x) && b.contains(y));
                assert!(kept, "{result:?} {a:?} {b:?} {x:#x} {y:#x}");
            }
        }
    }
}

/// Sy and Deville's boolean intervals: false, unknown, true.
fn truths() -> [Range; 3] {
    [Range::boolean(false), Range::full(1), Range::boolean(true)]
}

/// Definitions 2 to 4 of the document: connectives on boolean intervals are exactly what their members give.
#[test]
fn connectives_are_those_of_three_valued_logic() {
    let [no, maybe, yes] = truths();
    let negated = truths().map(|a| forward::unary(UnaryOp::Not, a));
    assert_eq!(negated, [yes, maybe, no]);
    let table = |op: BinaryOp| truths().map(|a| truths().map(|b| forward::binary(op, a, b)));
    assert_eq!(table(BinaryOp::And), [[no, no, no], [no, maybe, maybe], [no, maybe, yes]]);
    assert_eq!(table(BinaryOp::Or), [[no, maybe, yes], [maybe, maybe, yes], [yes, yes, yes]]);
    assert_eq!(table(BinaryOp::Xor), [[no, maybe, yes], [maybe, maybe, maybe], [yes, maybe, no]]);
}

/// A relation between intervals is true if it holds for all their members, false if for none, and unknown otherwise.
#[test]
fn relations_between_intervals_are_those_of_their_members() {
    let values = |range: Range| (0..8_u128).filter(move |&value| range.contains(value));
    let ranges = || (0..8).flat_map(|low| (low..8).filter_map(move |high| Range::unsigned(low, high, 3)));
    for (a, b) in ranges().flat_map(|a| ranges().map(move |b| (a, b))) {
        for op in [CompareOp::Eq, CompareOp::Ult, CompareOp::Ule] {
            let mut outcomes = values(a).flat_map(|x| values(b).map(move |y| semantics::compare(op, x, y, 3)));
            let (some, all) = (outcomes.clone().any(|truth| truth), outcomes.all(|truth| truth));
            let [no, maybe, yes] = truths();
            let expected = if all {
                yes
            } else if some {
                maybe
            } else {
                no
            };
            assert_eq!(forward::compare(op, a, b), expected, "{op:?} {a:?} {b:?}");
        }
    }
}
