//! What the outcomes of single conditions decide, with `&&` and `||` evaluated from left to right.

use branchwise_program::MarkerId;
use branchwise_program::map::{Event, Formula};

/// The events that end the evaluation of a formula with this value. Where a leaf is evaluated, its outcome alone says what
/// comes next, whatever the leaves before it were.
pub(crate) fn deciding(formula: &Formula, value: bool) -> Vec<Event> {
    let leaves = formula.leaves().into_iter();
    let events = leaves.flat_map(|marker| [1, 0].map(|outcome| Event { marker, outcome }));
    events.filter(|event| value_after(formula, event.marker, event.outcome == 1) == Some(value)).collect()
}

/// The value of the formula once this leaf has this outcome; `None` if another leaf is evaluated then.
pub(crate) fn value_after(formula: &Formula, leaf: MarkerId, outcome: bool) -> Option<bool> {
    match formula {
        Formula::Leaf(marker) => (*marker == leaf).then_some(outcome),
        Formula::Constant(_) => None,
        Formula::Not(inner) => value_after(inner, leaf, outcome).map(|value| !value),
        Formula::And(left, right) => connective(left, right, false, leaf, outcome),
        Formula::Or(left, right) => connective(left, right, true, leaf, outcome),
    }
}

/// A connective that its left operand decides where that has the value `decisive`.
fn connective(left: &Formula, right: &Formula, decisive: bool, leaf: MarkerId, outcome: bool) -> Option<bool> {
    if !left.leaves().contains(&leaf) {
        return value_after(right, leaf, outcome);
    }
    match value_after(left, leaf, outcome)? {
        value if value == decisive => Some(decisive),
        _ => constant(right),
    }
}

/// The value of a formula that no leaf can change any more when its evaluation begins.
fn constant(formula: &Formula) -> Option<bool> {
    match formula {
        Formula::Leaf(_) => None,
        Formula::Constant(value) => Some(*value),
        Formula::Not(inner) => constant(inner).map(|value| !value),
        Formula::And(left, right) => match constant(left)? {
            false => Some(false),
            true => constant(right),
        },
        Formula::Or(left, right) => match constant(left)? {
            true => Some(true),
            false => constant(right),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(number: u32) -> Box<Formula> {
        Box::new(Formula::Leaf(MarkerId(number)))
    }

    fn shown(events: Vec<Event>) -> Vec<(u32, u32)> {
        events.into_iter().map(|event| (event.marker.0, event.outcome)).collect()
    }

    #[test]
    fn only_the_last_leaf_of_a_conjunction_makes_it_true() {
        // (m0 || m1) && !(m2 && 1)
        let either = Box::new(Formula::Or(leaf(0), leaf(1)));
        let both = Box::new(Formula::Not(Box::new(Formula::And(leaf(2), Box::new(Formula::Constant(true))))));
        let formula = Formula::And(either, both);
        assert_eq!(shown(deciding(&formula, true)), [(2, 0)]);
        assert_eq!(shown(deciding(&formula, false)), [(1, 0), (2, 1)]);
    }

    #[test]
    fn a_constant_operand_can_leave_one_value_out() {
        let formula = Formula::Or(leaf(0), Box::new(Formula::Constant(true)));
        assert_eq!(shown(deciding(&formula, true)), [(0, 1), (0, 0)]);
        assert_eq!(shown(deciding(&formula, false)), []);
    }
}
