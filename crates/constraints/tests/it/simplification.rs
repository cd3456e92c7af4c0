//! `evaluate(simplify(t)) = evaluate(t)` for random terms of all operators and widths.

use crate::common;

use branchwise_constraints::{Evaluator, evaluate};
use common::{Construction, MODELS, steps};
use proptest::prelude::*;

fn widths() -> impl Strategy<Value = Vec<u32>> {
    let width =
        prop_oneof![2 => Just(1u32), 3 => Just(8), 3 => Just(32), 1 => Just(64), 1 => Just(128), 4 => 1u32..=64];
    prop::collection::vec(width, 3)
}

fn values() -> impl Strategy<Value = Vec<[u128; MODELS]>> {
    let value = prop_oneof![any::<u128>(), 0u128..4, (0u128..4).prop_map(|v| v.wrapping_neg())];
    prop::collection::vec(prop::array::uniform4(value), 3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn simplified_terms_keep_their_values(widths in widths(), values in values(), steps in steps(40)) {
        let mut construction = Construction::new(&widths, &values);
        construction.run(&steps);
        for (index, model) in construction.models.iter().enumerate() {
            let mut evaluator = Evaluator::new();
            for pair in &construction.pairs {
                let value = evaluator.evaluate(&construction.terms, model, pair.term);
                prop_assert_eq!(
                    value, pair.values[index],
                    "{} under {:?}", construction.terms.display(pair.term), model
                );
            }
        }
    }

    #[test]
    fn variables_are_those_that_matter(widths in widths(), values in values(), steps in steps(20)) {
        let mut construction = Construction::new(&widths, &values);
        construction.run(&steps);
        let last = construction.pairs.last().expect("there are variables").term;
        let variables = construction.terms.variables(last);
        prop_assert!(variables.windows(2).all(|pair| pair[0] < pair[1]));
        // Only the listed variables taken from the first model: the value must be the same.
        let restricted = variables.iter().map(|&v| (v, construction.models[0].get(v))).collect();
        let value = evaluate(&construction.terms, &construction.models[0], last);
        prop_assert_eq!(value, evaluate(&construction.terms, &restricted, last));
    }
}
