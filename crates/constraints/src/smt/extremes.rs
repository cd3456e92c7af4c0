//! Choices that are the smaller or the greater of two numbers, perhaps under further conditions. What follows from that holds
//! for all values, but the SMT solver would find it out bit by bit, for each pair of numbers again.

use super::wire::Graph;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind};

/// So many parts of a condition are looked at.
const MOST_PARTS: usize = 16;

/// The first is never greater than the second.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Ordered {
    pub(super) least: TermId,
    pub(super) most: TermId,
    pub(super) signed: bool,
}

/// What each choice between two numbers says of itself and one of them, by its condition.
pub(super) fn extremes(graph: &Graph) -> Vec<Ordered> {
    let numbers = (0..).map(TermId).zip(&graph.nodes).filter(|(_, node)| node.width > 1);
    numbers
        .filter_map(|(choice, node)| match node.kind {
            TermKind::IfThenElse { condition, then, otherwise } => extreme(graph, choice, condition, [then, otherwise]),
            _ => None,
        })
        .collect()
}

fn extreme(graph: &Graph, choice: TermId, condition: TermId, [then, otherwise]: [TermId; 2]) -> Option<Ordered> {
    // Where all parts hold, the first is chosen: what a comparison among them says of both holds then.
    let all = parts(graph, condition, BinaryOp::And).into_iter();
    // Where none holds, the second is chosen: then the opposite of what a comparison among them says holds of both.
    let any = parts(graph, condition, BinaryOp::Or).into_iter();
    let bound_by = |bound: TermId| {
        move |part: TermId| {
            let (a, b, signed) = comparison(graph, part)?;
            match [a, b] {
                _ if [a, b] == [then, otherwise] => Some(Ordered { least: choice, most: bound, signed }),
                _ if [a, b] == [otherwise, then] => Some(Ordered { least: bound, most: choice, signed }),
                _ => None,
            }
        }
    };
    all.filter_map(bound_by(otherwise)).next().or_else(|| any.filter_map(bound_by(then)).next())
}

/// The numbers that are compared, the smaller one first.
fn comparison(graph: &Graph, term: TermId) -> Option<(TermId, TermId, bool)> {
    match graph.nodes[term.index()].kind {
        TermKind::Compare(CompareOp::Slt | CompareOp::Sle, a, b) => Some((a, b, true)),
        TermKind::Compare(CompareOp::Ult | CompareOp::Ule, a, b) => Some((a, b, false)),
        _ => None,
    }
}

/// What the operator joins to this condition, as far as it is looked at.
fn parts(graph: &Graph, condition: TermId, op: BinaryOp) -> Vec<TermId> {
    let (mut parts, mut pending) = (Vec::new(), vec![condition]);
    while let Some(term) = pending.pop() {
        match graph.nodes[term.index()].kind {
            TermKind::Binary(joint, a, b) if joint == op && parts.len() + pending.len() < MOST_PARTS => {
                pending.extend([a, b]);
            }
            _ => parts.push(term),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, evaluate};
    use crate::semantics;
    use crate::smt::wire::graph;
    use crate::terms::{Terms, VariableId};

    const WIDTH: u32 = 3;

    /// Choices between two numbers under a comparison of them, also in parts of a condition and negated.
    fn choices(terms: &mut Terms) -> Vec<TermId> {
        let [x, y] = ["x", "y"].map(|name| terms.variable(name, WIDTH));
        let other = terms.variable("other", 1);
        let mut choices = Vec::new();
        for op in CompareOp::ALL {
            for (a, b) in [(x, y), (y, x)] {
                let compared = terms.compare(op, a, b);
                let (both, either) = (terms.and(compared, other), terms.or(compared, other));
                let (not_both, not_either) = (terms.not(both), terms.not(either));
                for condition in [compared, both, either, not_both, not_either] {
                    choices.push(terms.if_then_else(condition, x, y));
                }
            }
        }
        choices
    }

    #[test]
    fn what_choices_say_of_themselves_holds_for_all_values() {
        let mut terms = Terms::new();
        let zero = terms.constant(0, WIDTH);
        let mut found = 0;
        for choice in choices(&mut terms) {
            let constraint = [terms.equal(choice, zero)];
            let (graph, _) = graph(&terms, &constraint);
            // The nodes of a graph are in the order of these.
            let nodes: Vec<TermId> = terms.reachable(&constraint).into_iter().collect();
            for ordered in extremes(&graph) {
                found += 1;
                for point in 0..1 << 7 {
                    let values = [point & 7, (point >> 3) & 7, point >> 6];
                    let model: Model = (0..).map(VariableId).zip(values).collect();
                    let [least, most] =
                        [ordered.least, ordered.most].map(|node| evaluate(&terms, &model, nodes[node.index()]));
                    let op = if ordered.signed { CompareOp::Sle } else { CompareOp::Ule };
                    assert!(semantics::compare(op, least, most, WIDTH), "{ordered:?} at {values:?}");
                }
            }
        }
        assert!(found >= 40, "{found}");
    }
}
