use super::{Decide, Query};
use crate::answer::{Layer, Solved, Statistics};
use crate::hash::FastMap;
use crate::terms::{TermId, TermKind, Terms, UnaryOp};

/// Answers what the simplifier has already decided, and hands down the conjuncts: sorted, without repetition
/// and without the constant true, so that the same conjunction is the same list for the layers below.
pub(crate) struct Constants<Inner> {
    inner: Inner,
}

impl<Inner> Constants<Inner> {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner }
    }
}

impl<Inner: Decide> Decide for Constants<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        let conjuncts: Vec<TermId> = undecided(query.terms, query.constraints);
        if let Some(core) = contradiction(query.terms, &conjuncts) {
            return Solved::unsat(core, Layer::Constants);
        }
        if conjuncts.is_empty() {
            return Solved::sat(query.hint.clone(), Layer::Constants);
        }
        self.inner.decide(&Query { constraints: &conjuncts, ..*query }, statistics)
    }
}

fn undecided(terms: &Terms, constraints: &[TermId]) -> Vec<TermId> {
    let is_true = |&term: &TermId| terms.as_boolean(term) == Some(true);
    let mut conjuncts: Vec<TermId> = constraints.iter().copied().filter(|term| !is_true(term)).collect();
    conjuncts.sort_unstable();
    conjuncts.dedup();
    conjuncts
}

/// The constant false, or a constraint together with its negation. Only `not` is looked for: the simplifier
/// makes the negation of an ordering another ordering, which SMT refutes at once.
fn contradiction(terms: &Terms, conjuncts: &[TermId]) -> Option<Vec<TermId>> {
    if let Some(&falsehood) = conjuncts.iter().find(|&&term| terms.as_boolean(term) == Some(false)) {
        return Some(vec![falsehood]);
    }
    let present: FastMap<TermId, ()> = conjuncts.iter().map(|&term| (term, ())).collect();
    conjuncts.iter().find_map(|&term| match *terms.kind(term) {
        TermKind::Unary(UnaryOp::Not, inner) if present.contains_key(&inner) => Some(vec![inner, term]),
        _ => None,
    })
}
