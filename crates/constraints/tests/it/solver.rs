//! The chain never contradicts enumeration, nor a solver without a history.

use crate::common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use branchwise_constraints::{
    Answer, BinaryOp, Evidence, Layer, Model, Reason, Solver, SolverSettings, TermId, Terms, holds,
};
use common::{Construction, Pair, steps};
use proptest::prelude::*;

fn solver() -> Solver {
    Solver::new(SolverSettings::default())
}

/// Boolean constraints out of a construction: every step that is one, and one bit of the others.
fn constraints(construction: &mut Construction, most: usize) -> Vec<TermId> {
    let pairs: Vec<Pair> = construction.pairs.iter().rev().take(most).cloned().collect();
    pairs.iter().map(|pair| construction.fitted(pair, 1, false).term).collect()
}

fn enumerate(terms: &Terms, variables: &[TermId], constraints: &[TermId]) -> bool {
    let ids: Vec<_> = variables.iter().filter_map(|&term| terms.variable_id(term)).collect();
    let bits: u32 = ids.iter().map(|&id| terms.variable_width(id)).sum();
    (0..1u128 << bits).any(|mut word| {
        let mut model = Model::new();
        for &id in &ids {
            let width = terms.variable_width(id);
            model.set(id, word & common::mask(width));
            word >>= width;
        }
        holds(terms, &model, constraints)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn agrees_with_enumeration(steps in steps(12), how_many in 1usize..5) {
        let mut construction = Construction::new(&[4, 4], &[[0; 4], [0; 4]]);
        construction.run(&steps);
        let variables: Vec<TermId> = construction.pairs[..2].iter().map(|pair| pair.term).collect();
        let constraints = constraints(&mut construction, how_many);
        let expected = enumerate(&construction.terms, &variables, &constraints);
        let solved = solver().check(&construction.terms, &constraints, &Model::new());
        match solved.answer {
            Answer::Sat(model) => {
                prop_assert!(expected);
                prop_assert!(holds(&construction.terms, &model, &constraints));
            }
            Answer::Unsat(Evidence { core, .. }) => {
                prop_assert!(!expected);
                prop_assert!(core.iter().all(|term| constraints.contains(term)));
                prop_assert!(!enumerate(&construction.terms, &variables, &core));
            }
            Answer::Unknown(reason) => prop_assert!(false, "unknown: {reason}"),
        }
    }

    /// Many queries to one solver, which slices, reuses models and caches, against a fresh solver for each.
    #[test]
    fn history_never_changes_the_verdict(steps in steps(25), picks in prop::collection::vec(any::<[u8; 3]>(), 1..12)) {
        let mut construction = Construction::new(&[4, 5, 3, 6], &[[0; 4]; 4]);
        construction.run(&steps);
        let all = constraints(&mut construction, 25);
        let mut experienced = solver();
        let mut hint = Model::new();
        for pick in picks {
            let query: Vec<TermId> = pick.iter().map(|&index| all[index as usize % all.len()]).collect();
            let answer = experienced.check(&construction.terms, &query, &hint).answer;
            let fresh = solver().check(&construction.terms, &query, &Model::new()).answer;
            prop_assert_eq!(answer.is_sat(), fresh.is_sat());
            prop_assert_eq!(answer.is_unsat(), fresh.is_unsat());
            match answer {
                Answer::Sat(model) => hint = model,
                Answer::Unsat(Evidence { core, .. }) => {
                    prop_assert!(core.iter().all(|term| query.contains(term)));
                    prop_assert!(solver().check(&construction.terms, &core, &Model::new()).answer.is_unsat());
                    let more = [core, vec![all[0], all[all.len() - 1]]].concat();
                    prop_assert!(experienced.check(&construction.terms, &more, &hint).answer.is_unsat());
                }
                Answer::Unknown(reason) => prop_assert!(false, "unknown: {reason}"),
            }
        }
    }
}

fn two_variables() -> (Terms, TermId, TermId) {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 32), terms.variable("y", 32));
    (terms, x, y)
}

fn equals(terms: &mut Terms, x: TermId, value: u128) -> TermId {
    let value = terms.constant(value, 32);
    terms.equal(x, value)
}

#[test]
fn the_hint_is_kept_where_it_holds() {
    let (mut terms, x, y) = two_variables();
    let unused = terms.variable("unused", 8);
    let id = |term| terms.variable_id(term).expect("a variable");
    let (x_id, y_id, unused_id) = (id(x), id(y), id(unused));
    let hint: Model = [(x_id, 7), (y_id, 9), (unused_id, 3)].into_iter().collect();
    let (seven, ten) = (terms.constant(7, 32), terms.constant(10, 32));
    let x_small = terms.signed_less_or_equal(x, seven);
    let y_large = terms.signed_less_or_equal(ten, y);
    let solved = solver().check(&terms, &[x_small, y_large], &hint);
    let model = solved.answer.model().expect("satisfiable");
    assert_eq!((model.get(x_id), model.get(unused_id)), (7, 3));
    assert_eq!(model.get(y_id), 10, "the smallest change");
    assert_eq!(solved.layer, Layer::Intervals);
}

#[test]
fn bounds_that_exclude_each_other_refute() {
    let (mut terms, n, at) = two_variables();
    let (zero, one, two, nine) =
        (terms.constant(0, 32), terms.constant(1, 32), terms.constant(2, 32), terms.constant(9, 64));
    let half = terms.binary(BinaryOp::SDiv, n, two);
    let small = terms.signed_less(half, one);
    let next = terms.add(n, at);
    let wide = terms.sign_extend(next, 64);
    let query = [
        terms.signed_less(zero, n),
        small,
        terms.signed_less_or_equal(zero, at),
        terms.signed_less(at, two),
        terms.signed_less(nine, wide),
    ];
    let solved = solver().check(&terms, &query, &Model::new());
    assert!(solved.answer.is_unsat());
    assert_eq!(solved.layer, Layer::Intervals);
}

#[test]
fn each_layer_answers_what_it_can() {
    let (mut terms, x, y) = two_variables();
    let x_is_five = equals(&mut terms, x, 5);
    let x_is_not_five = terms.not(x_is_five);
    let product = terms.binary(BinaryOp::Mul, x, y);
    let composite = equals(&mut terms, product, 35);
    let odd_square = {
        let square = terms.mul(x, x);
        equals(&mut terms, square, 3)
    };
    let mut solver = solver();
    let zero = Model::new();
    let mut layer = |constraints: &[TermId]| solver.check(&terms, constraints, &zero).layer;
    assert_eq!(layer(&[]), Layer::Constants);
    assert_eq!(layer(&[x_is_five, x_is_not_five]), Layer::Constants);
    assert_eq!(layer(&[x_is_not_five]), Layer::RecentModels);
    assert_eq!(layer(&[x_is_five, composite]), Layer::Repair);
    assert_eq!(layer(&[composite]), Layer::RecentModels);
    assert_eq!(layer(&[odd_square]), Layer::Smt);
    assert_eq!(layer(&[odd_square]), Layer::Cache);
    assert_eq!(layer(&[odd_square, composite]), Layer::Cache);
    assert_eq!(solver.statistics().total(), 8);
    assert_eq!(solver.statistics().smt_calls, 1);
}

/// `x² = 3` has no root; the conditions on `x` and `y` beside it have nothing to do with that.
#[test]
fn a_core_leaves_out_what_does_not_matter() {
    let (mut terms, x, y) = two_variables();
    let square = terms.mul(x, x);
    let no_root = equals(&mut terms, square, 3);
    let (ordered, ten) = (terms.signed_less(x, y), terms.constant(10, 32));
    let (small, large) = (terms.signed_less(x, ten), terms.signed_less(ten, y));
    let mut solver = solver();
    let solved = solver.check(&terms, &[small, no_root, ordered], &Model::new());
    assert_eq!(solved.answer, Answer::Unsat(Evidence { layer: Layer::Smt, core: vec![no_root] }));
    let solved = solver.check(&terms, &[no_root, large, ordered], &Model::new());
    assert_eq!(solved.answer, Answer::Unsat(Evidence { layer: Layer::Cache, core: vec![no_root] }));
}

#[test]
fn a_raised_interrupt_is_an_answer() {
    let (mut terms, x, _) = two_variables();
    let square = terms.mul(x, x);
    let square_is_25 = equals(&mut terms, square, 25);
    let interrupt = Arc::new(AtomicBool::new(true));
    let mut solver = Solver::new(SolverSettings { interrupt, ..SolverSettings::default() });
    let solved = solver.check(&terms, &[square_is_25], &Model::new());
    assert_eq!(solved.answer, Answer::Unknown(Reason::Interrupted));
}

#[test]
fn wide_values_survive_the_way_to_the_solver_and_back() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 128), terms.variable("y", 128));
    let (sum, difference) = (terms.add(x, y), terms.sub(x, y));
    let high = terms.constant(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210, 128);
    let low = terms.constant(0x0000_1111_2222_3333_4444_5555_6666_7778, 128);
    let query = [terms.equal(sum, high), terms.equal(difference, low)];
    let solved = solver().check(&terms, &query, &Model::new());
    assert_eq!(solved.layer, Layer::Smt, "neither equation can be mended alone");
    assert!(solved.answer.is_sat());
}

#[test]
fn one_more_condition_is_repaired_with_a_small_change() {
    let (mut terms, x, y) = two_variables();
    let (low, high) = (terms.constant(0xffff_fff0, 32), terms.constant(100, 32));
    let (above, below) = (terms.signed_less(low, x), terms.signed_less(x, high));
    let sum = terms.add(x, y);
    let masked = terms.extract(sum, 0, 8);
    let wanted = terms.constant(250, 8);
    let (ordered, exact) = (terms.signed_less(x, y), terms.equal(masked, wanted));
    let solved = solver().check(&terms, &[above, below, ordered, exact], &Model::new());
    let model = solved.answer.model().expect("satisfiable");
    let value = |term| model.get(terms.variable_id(term).expect("a variable"));
    assert_eq!((solved.layer, value(x), value(y)), (Layer::Repair, 0, 250));
}
