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
pub(crate) type Named = Vec<(String, u128)>;

impl Exploration<'_, '_> {
    /// Executes the seed test; without one, the smallest input.
    pub(super) fn begin(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let given = &budget.settings.seed_test;
        let mut model = Model::new();
        // Which variables an input has shows where they are looked at.
        for _ in 0..if given.is_empty() { 0 } else { MOST_LOOKS } {
            let limits = self.run_limits(budget);
            self.session.run(&model, &limits);
            let fuller = self.seeded(given);
            if fuller == model {
                break;
            }
            model = fuller;
        }
        self.execute(model, false, budget, on_goals);
    }

    fn seeded(&self, given: &[(String, i128)]) -> Model {
        let terms = &self.session.terms;
        let variables = (0..terms.variable_count()).map(VariableId::from_index);
        let seeded = variables.filter_map(|variable| {
            let value = seed_value(given, &as_written(terms.variable_name(variable)))?;
            let width = terms.variable_width(variable);
            Some((variable, value as u128 & (u128::MAX >> (128 - width))))
        });
        seeded.collect()
    }

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

    pub(super) fn execute_named(&mut self, named: &Named, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let values = by_name(named);
        let mut last = None;
        for _ in 0..MOST_LOOKS {
            let model = self.model_of(&values);
            if last.as_ref() == Some(&model) || self.must_stop(budget) {
                break;
            }
            self.execute(model.clone(), true, budget, on_goals);
            last = Some(model);
        }
    }

    pub(super) fn model_of(&self, values: &HashMap<&str, u128>) -> Model {
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

pub(super) fn by_name(named: &Named) -> HashMap<&str, u128> {
    named.iter().map(|(name, value)| (name.as_str(), *value)).collect()
}

/// The name of a variable as C writes it: `(*a)[1]` is `a[1]`, and `(*p)` is `*p`.
fn as_written(name: &str) -> String {
    let Some(inner) = name.strip_prefix("(*") else { return name.to_string() };
    match inner.split_once(')') {
        Some((pointer, rest)) if rest.starts_with('[') => format!("{pointer}{rest}"),
        Some((pointer, "")) => format!("*{pointer}"),
        _ => name.to_string(),
    }
}

/// What a seed test says of a variable.
fn seed_value(given: &[(String, i128)], name: &str) -> Option<i128> {
    if let Some((_, value)) = given.iter().find(|(written, _)| written == name) {
        return Some(*value);
    }
    // How many elements there are beyond the first.
    let array = format!("{}[", name.strip_suffix(".extra")?);
    let indices = given.iter().filter_map(|(written, _)| written.strip_prefix(&array)?.split_once(']'));
    indices.filter_map(|(index, _)| index.parse::<i128>().ok()).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_test_names_inputs_as_c_does() {
        assert_eq!(as_written("(*a)[1]"), "a[1]");
        assert_eq!(as_written("(*p)"), "*p");
        assert_eq!(as_written("x"), "x");
        let given = [("a[1]".to_string(), 5), ("a[3]".to_string(), -1)];
        assert_eq!(seed_value(&given, "a[1]"), Some(5));
        assert_eq!(seed_value(&given, "a.extra"), Some(3));
        assert_eq!(seed_value(&given, "b.extra"), None);
        assert_eq!(seed_value(&given, "a[0]"), None);
    }
}
