//! What earlier rounds found, as inputs to begin the next one with.

use std::collections::{HashMap, HashSet};

use branchwise_constraints::{Model, VariableId};
use branchwise_program::MarkerId;

use super::{Attempt, Budget, Exploration, OnGoals};

/// Inputs of earlier rounds that one round begins with.
const MOST_SEEDS: usize = 16;

/// Code that sees more of an input asks for more of it; so often it is given what it asks for.
const MOST_LOOKS: usize = 8;

/// The values of an input by the names of its variables: rounds number these as they meet them.
pub(super) type Named = Vec<(String, u128)>;

impl Exploration<'_, '_> {
    /// Executes the inputs of earlier rounds that came to the conditions of open goals. They are inputs like any other, so
    /// nothing depends on whether they still do the same.
    pub(super) fn begin_with(&mut self, earlier: &[Attempt], budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let mut conditions: HashSet<MarkerId> = self.open_outcomes().iter().map(|event| event.marker).collect();
        let mut seeds = Vec::new();
        for attempt in earlier.iter().rev() {
            let before = conditions.len();
            attempt.path.events.iter().for_each(|event| {
                conditions.remove(&event.marker);
            });
            if conditions.len() < before {
                seeds.push(&attempt.named);
            }
        }
        for seed in seeds.into_iter().take(MOST_SEEDS) {
            self.execute_named(seed, budget, on_goals);
        }
    }

    fn execute_named(&mut self, named: &Named, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let values: HashMap<&str, u128> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let mut last = Model::new();
        for _ in 0..MOST_LOOKS {
            let model = self.model_of(&values);
            if model == last || self.must_stop(budget) {
                break;
            }
            self.execute(model.clone(), true, budget, on_goals);
            last = model;
        }
    }

    fn model_of(&self, values: &HashMap<&str, u128>) -> Model {
        let terms = &self.session.terms;
        let variables = (0..terms.variable_count()).map(VariableId::from_index);
        variables.filter_map(|variable| Some((variable, *values.get(terms.variable_name(variable))?))).collect()
    }

    /// Where two variables have one name, the first is meant.
    pub(super) fn named(&self, model: &Model) -> Named {
        let terms = &self.session.terms;
        let mut names = HashSet::new();
        let first = model.iter().filter(|(variable, _)| names.insert(terms.variable_name(*variable)));
        first.map(|(variable, value)| (terms.variable_name(variable).to_string(), value)).collect()
    }
}
