//! What the outcomes of single conditions decide, with `&&` and `||` evaluated from left to right.

use branchwise_program::map::{Event, Formula};

/// The events that end the evaluation of a formula with this value. Where a leaf is evaluated, its outcome alone says what
/// comes next, whatever the leaves before it were.
pub(crate) fn deciding(formula: &Formula, value: bool) -> Vec<Event> {
    let leaves = formula.leaves().into_iter();
    let events = leaves.flat_map(|marker| [1, 0].map(|outcome| Event { marker, outcome }));
    events.filter(|event| formula.value_after(event.marker, event.outcome == 1) == Some(value)).collect()
}

#[cfg(test)]
mod tests {
    use branchwise_program::MarkerId;

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
