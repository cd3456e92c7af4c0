use super::{Decide, Query};
use crate::answer::{Answer, Layer, Solved, Statistics};
use crate::hash::FastMap;
use crate::model::{Evaluator, Model};
use crate::terms::{TermId, Terms, VariableId};

/// Splits a query into slices that share no variable, keeps the hint in the slices that it satisfies, and asks
/// for the others one by one.
pub(crate) struct Slices<Inner> {
    inner: Inner,
    evaluator: Evaluator,
}

impl<Inner> Slices<Inner> {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner, evaluator: Evaluator::new() }
    }

    fn hint_satisfies(&mut self, query: &Query<'_>, slice: &[TermId]) -> bool {
        slice.iter().all(|&constraint| self.evaluator.evaluate(query.terms, query.hint, constraint) == 1)
    }
}

impl<Inner: Decide> Decide for Slices<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        self.evaluator.reset();
        let mut merged = query.hint.clone();
        let mut costliest = Layer::RecentModels;
        let mut unknown = None;
        for slice in independent_slices(query) {
            if self.hint_satisfies(query, &slice) {
                continue;
            }
            let solved = self.inner.decide(&Query { constraints: &slice, ..*query }, statistics);
            match &solved.answer {
                Answer::Sat(model) => merge(&mut merged, query, &slice, model),
                Answer::Unsat(_) => return solved,
                // A later slice may still be refuted, and that would be an answer.
                Answer::Unknown(_) => unknown = unknown.or(Some(solved.clone())),
            }
            costliest = costliest.max(solved.layer);
        }
        unknown.unwrap_or_else(|| Solved::sat(merged, costliest))
    }
}

/// Only the variables of the slice: the model may be an older one that says something about others too.
fn merge(merged: &mut Model, query: &Query<'_>, slice: &[TermId], model: &Model) {
    for &constraint in slice {
        for &variable in query.terms.variables(constraint).iter() {
            if let Some(value) = model.assigned(variable) {
                merged.set(variable, value);
            }
        }
    }
}

/// The constraints grouped by connected variables; groups in the order of their first constraint.
fn independent_slices(query: &Query<'_>) -> Vec<Vec<TermId>> {
    let mut groups = UnionFind::default();
    for &constraint in query.constraints {
        let variables = query.terms.variables(constraint);
        variables.windows(2).for_each(|pair| groups.unite(pair[0], pair[1]));
    }
    let mut slices: Vec<Vec<TermId>> = Vec::new();
    let mut slice_of: FastMap<Option<VariableId>, usize> = FastMap::default();
    for &constraint in query.constraints {
        let root = query.terms.variables(constraint).first().map(|&variable| groups.find(variable));
        let slice = *slice_of.entry(root).or_insert(slices.len());
        if slice == slices.len() {
            slices.push(Vec::new());
        }
        slices[slice].push(constraint);
    }
    slices
}

/// Those that have variables in common with one of the constraints, or with another one that has, in their order.
pub(crate) fn connected(terms: &Terms, others: &[TermId], constraints: &[TermId]) -> Vec<TermId> {
    let mut variables: FastMap<VariableId, ()> = FastMap::default();
    for &constraint in constraints {
        variables.extend(terms.variables(constraint).iter().map(|&variable| (variable, ())));
    }
    let mut is_connected = vec![false; others.len()];
    loop {
        let before = variables.len();
        for (other, connected) in others.iter().zip(&mut is_connected).filter(|(_, connected)| !**connected) {
            let own = terms.variables(*other);
            if own.iter().any(|variable| variables.contains_key(variable)) {
                *connected = true;
                variables.extend(own.iter().map(|&variable| (variable, ())));
            }
        }
        if variables.len() == before {
            break;
        }
    }
    others.iter().zip(is_connected).filter(|(_, connected)| *connected).map(|(&other, _)| other).collect()
}

#[derive(Default)]
struct UnionFind {
    parents: FastMap<VariableId, VariableId>,
}

impl UnionFind {
    fn find(&mut self, variable: VariableId) -> VariableId {
        let mut current = variable;
        while let Some(&parent) = self.parents.get(&current) {
            // Path halving.
            if let Some(&grandparent) = self.parents.get(&parent) {
                self.parents.insert(current, grandparent);
            }
            current = parent;
        }
        current
    }

    /// The smaller id is the root: order is decided, not by size.
    fn unite(&mut self, a: VariableId, b: VariableId) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.parents.insert(a.max(b), a.min(b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::connected;
    use crate::terms::Terms;
    use crate::{CompareOp, TermId};

    #[test]
    fn what_is_connected_shares_variables_also_through_others() {
        let mut terms = Terms::new();
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| terms.variable(name, 8));
        let mut below = |left: TermId, right: TermId| terms.compare(CompareOp::Ult, left, right);
        let (far, near, other, new) = (below(b, c), below(a, b), below(d, e), below(c, a));
        assert_eq!(connected(&terms, &[far, near, other], &[new]), [far, near]);
        assert_eq!(connected(&terms, &[far, near], &[other]), []);
        assert_eq!(connected(&terms, &[far, near, other], &[new, other]), [far, near, other]);
    }
}
