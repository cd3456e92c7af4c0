//! How a decision can be evaluated, and which two evaluations show that a condition matters (MC/DC).

use branchwise_program::MarkerId;
use branchwise_program::map::{Event, Formula};

/// One evaluation of a decision: the outcomes of the leaves that are looked at, in order.
pub(crate) type Evaluation = Vec<Event>;

/// Decisions with more evaluations than this have no goals of this kind: nobody reads that many.
const MOST_EVALUATIONS: usize = 512;

/// All evaluations, with `&&` and `||` from left to right; none where they are too many.
pub(crate) fn evaluations(formula: &Formula) -> Vec<Evaluation> {
    let Some(&first) = formula.leaves().first() else { return Vec::new() };
    let mut done = Vec::new();
    let mut open: Vec<Evaluation> = both(first).map(|event| vec![event]).into();
    while let Some(evaluation) = open.pop() {
        if done.len() + open.len() > MOST_EVALUATIONS {
            return Vec::new();
        }
        let Some(&last) = evaluation.last() else { continue };
        match next_leaf(formula, last) {
            None => done.push(evaluation),
            Some(leaf) => open.extend(both(leaf).map(|event| [evaluation.as_slice(), &[event]].concat())),
        }
    }
    done.sort_by(|left, right| right.cmp(left));
    done
}

fn both(marker: MarkerId) -> [Event; 2] {
    [0, 1].map(|outcome| Event { marker, outcome })
}

/// The leaf that is evaluated after this event, if the decision is still open.
fn next_leaf(formula: &Formula, after: Event) -> Option<MarkerId> {
    if formula.value_after(after.marker, after.outcome == 1).is_some() {
        return None;
    }
    match formula {
        Formula::Leaf(_) | Formula::Constant(_) => None,
        Formula::Not(inner) => next_leaf(inner, after),
        Formula::And(left, right) | Formula::Or(left, right) => {
            let within = if left.leaves().contains(&after.marker) { left } else { right };
            // An operand that is done without deciding the connective hands over to the other one.
            next_leaf(within, after).or_else(|| right.leaves().first().copied())
        }
    }
}

/// The value that an evaluation ends with.
pub(crate) fn value(formula: &Formula, evaluation: &[Event]) -> Option<bool> {
    evaluation.last().and_then(|last| formula.value_after(last.marker, last.outcome == 1))
}

/// What else may differ between the two evaluations that show a condition's effect.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing that both evaluate.
    Unique,
    /// What has no effect on the value, where it stands.
    Masking,
}

/// The pairs of evaluations that show that this leaf alone makes the decision true or false.
pub(crate) fn pairs(formula: &Formula, leaf: MarkerId, cause: Cause) -> Vec<(Evaluation, Evaluation)> {
    let all = evaluations(formula);
    let of = |wanted: u32| {
        let event = Event { marker: leaf, outcome: wanted };
        all.iter().filter(move |evaluation| evaluation.contains(&event))
    };
    let shows = |left: &Evaluation, right: &Evaluation| {
        let masked = |event: &Event| {
            cause == Cause::Masking && is_masked(formula, left, event.marker) && is_masked(formula, right, event.marker)
        };
        let differs =
            |event: &&Event| event.marker != leaf && right.contains(&Event { outcome: 1 - event.outcome, ..**event });
        value(formula, left) != value(formula, right) && left.iter().filter(differs).all(masked)
    };
    of(1)
        .flat_map(|left| of(0).filter(move |right| shows(left, right)).map(move |right| (left.clone(), right.clone())))
        .collect()
}

/// Formulas with more leaves that were not evaluated are taken for unmasked.
const MOST_UNEVALUATED: usize = 8;

/// Whether the decision has the same value with the other outcome of this leaf, whatever was not evaluated is.
fn is_masked(formula: &Formula, evaluation: &[Event], leaf: MarkerId) -> bool {
    let known = |marker| evaluation.iter().find(|event| event.marker == marker).map(|event| event.outcome == 1);
    let unevaluated: Vec<MarkerId> = formula.leaves().into_iter().filter(|&marker| known(marker).is_none()).collect();
    if unevaluated.len() > MOST_UNEVALUATED {
        return false;
    }
    (0..1_u32 << unevaluated.len()).all(|bits| {
        let truth = |flipped: bool| {
            whole(formula, &|marker| match known(marker) {
                Some(outcome) => outcome != (flipped && marker == leaf),
                None => unevaluated.iter().position(|&it| it == marker).is_some_and(|at| bits >> at & 1 == 1),
            })
        };
        truth(false) == truth(true)
    })
}

fn whole(formula: &Formula, leaf: &dyn Fn(MarkerId) -> bool) -> bool {
    match formula {
        Formula::Leaf(marker) => leaf(*marker),
        Formula::Constant(value) => *value,
        Formula::Not(inner) => !whole(inner, leaf),
        Formula::And(left, right) => whole(left, leaf) && whole(right, leaf),
        Formula::Or(left, right) => whole(left, leaf) || whole(right, leaf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(number: u32) -> Box<Formula> {
        Box::new(Formula::Leaf(MarkerId(number)))
    }

    fn shown(evaluation: &Evaluation) -> String {
        evaluation.iter().map(|event| format!("{}{}", event.marker.0, ['-', '+'][event.outcome as usize])).collect()
    }

    fn shown_pairs(formula: &Formula, leaf: u32, cause: Cause) -> Vec<String> {
        let pairs = pairs(formula, MarkerId(leaf), cause);
        pairs.iter().map(|(left, right)| format!("{} {}", shown(left), shown(right))).collect()
    }

    #[test]
    fn a_decision_is_evaluated_as_far_as_needed() {
        // (m0 || m1) && m2
        let formula = Formula::And(Box::new(Formula::Or(leaf(0), leaf(1))), leaf(2));
        let all: Vec<String> = evaluations(&formula).iter().map(shown).collect();
        assert_eq!(all, ["0+2+", "0+2-", "0-1+2+", "0-1+2-", "0-1-"]);
        assert_eq!(shown_pairs(&formula, 0, Cause::Unique), ["0+2+ 0-1-"]);
        assert_eq!(shown_pairs(&formula, 1, Cause::Unique), ["0-1+2+ 0-1-"]);
        assert_eq!(shown_pairs(&formula, 2, Cause::Unique), ["0+2+ 0+2-", "0-1+2+ 0-1+2-"]);
    }

    #[test]
    fn masking_lets_differ_what_has_no_effect() {
        // (m0 && m1) || (m2 && m3)
        let formula = Formula::Or(Box::new(Formula::And(leaf(0), leaf(1))), Box::new(Formula::And(leaf(2), leaf(3))));
        assert_eq!(shown_pairs(&formula, 3, Cause::Unique), ["0+1-2+3+ 0+1-2+3-", "0-2+3+ 0-2+3-"]);
        let masking = shown_pairs(&formula, 3, Cause::Masking);
        assert!(masking.len() >= 2, "{masking:?}");
        for unique in shown_pairs(&formula, 3, Cause::Unique) {
            assert!(masking.contains(&unique));
        }
    }
}
