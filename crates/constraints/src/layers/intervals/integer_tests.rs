//! Three-valued logic and relations between intervals, as the document defines them.

use super::forward;
use super::range::Range;
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, UnaryOp};

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
