use super::propagation::{contracted, excluded};
use crate::hash::FastMap;
use crate::layers::connected;
use crate::smt::wire;
use crate::terms::{TermId, Terms};

/// When full it starts anew: simple, and the same on every machine.
const MOST_ENTRIES: usize = 20_000;

/// Conditions, and alternatives under them.
type Question = (Vec<TermId>, Vec<TermId>);

/// Which alternatives contradict the conditions on the way to them, as far as bounds show it. Answers are remembered: an
/// execution tree has the ways of the trees with fewer repetitions.
///
/// It remembers them by [`TermId`], so all questions are over one [`Terms`] arena.
#[derive(Debug, Default)]
pub struct Exclusions {
    known: FastMap<Question, Vec<bool>>,
}

impl Exclusions {
    /// For each alternative, whether going through the terms a few times shows that it contradicts the conditions. Only
    /// those are looked at that have variables in common with an alternative, or with another one that is.
    pub fn of(&mut self, terms: &Terms, conditions: &[TermId], alternatives: &[TermId]) -> Vec<bool> {
        let question = (connected(terms, conditions, alternatives), alternatives.to_vec());
        if let Some(known) = self.known.get(&question) {
            return known.clone();
        }
        let answer = found(terms, &question.0, alternatives);
        if self.known.len() >= MOST_ENTRIES {
            self.known.clear();
        }
        self.known.insert(question, answer.clone());
        answer
    }
}

fn found(terms: &Terms, conditions: &[TermId], alternatives: &[TermId]) -> Vec<bool> {
    let all: Vec<TermId> = conditions.iter().chain(alternatives).copied().collect();
    let (mut graph, _) = wire::graph(terms, &all);
    // Of a single one, the bounds under the conditions alone would serve nobody else.
    if alternatives.len() == 1 {
        return vec![contracted(&graph).is_none()];
    }
    let alternatives = graph.constraints.split_off(conditions.len());
    excluded(&graph, &alternatives)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_excluded_each_by_itself() {
        let mut terms = Terms::new();
        let [x, y] = ["x", "y"].map(|name| terms.variable(name, 32));
        let [five, nine] = [5, 9].map(|value| terms.constant(value, 32));
        let small = terms.unsigned_less(x, five);
        let above = terms.unsigned_less(nine, x);
        let (below, far) = (terms.not(above), terms.unsigned_less(nine, y));
        let mut exclusions = Exclusions::default();
        for _ in 0..2 {
            assert_eq!(exclusions.of(&terms, &[small], &[above, below, far]), [true, false, false]);
            assert_eq!(exclusions.of(&terms, &[small], &[above]), [true]);
            assert_eq!(exclusions.of(&terms, &[], &[above, below]), [false, false]);
            assert_eq!(exclusions.of(&terms, &[small, above], &[below, far]), [true, true]);
        }
    }
}
