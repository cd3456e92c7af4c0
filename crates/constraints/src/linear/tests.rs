use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use expect_test::expect;

use super::program::{Relation, Row};
use super::*;
use crate::floats::FloatOp;
use crate::terms::BinaryOp;

fn ask(terms: &Terms, formula: &Formula, domain: &[TermId]) -> LinearSolved {
    decide(&LinearQuery { terms, formula, domain, hint: &Model::new() }, &LinearLimits::default())
}

fn condition(terms: &Terms, term: TermId) -> LinearAnswer {
    ask(terms, &Formula::Condition(term), &[]).answer
}

fn is_model(answer: &LinearAnswer) -> bool {
    matches!(answer, LinearAnswer::Model(_))
}

fn is_exact_refutation(answer: &LinearAnswer) -> bool {
    matches!(answer, LinearAnswer::Infeasible(LinearEvidence::Exact { .. } | LinearEvidence::Bounds))
}

/// Lapierre 1998, annex A, figure 6, and the domain of what `getchar` returns.
fn figure_6(terms: &mut Terms) -> (Formula, Vec<TermId>, [TermId; 2]) {
    let (x1, x2) = (terms.variable("X1", 32), terms.variable("X2", 32));
    let mut compare = |x: TermId, character: i128, equal: bool| {
        let constant = terms.constant(character as u128, 32);
        Formula::Condition(if equal { terms.equal(x, constant) } else { terms.not_equal(x, constant) })
    };
    let (newline, tab, blank, end) = (10, 9, 32, -1);
    let begin = [(x2, end), (x1, tab), (x1, blank), (x1, newline), (x1, end)].map(|(x, c)| compare(x, c, false));
    let second = |compare: &mut dyn FnMut(TermId, i128, bool) -> Formula| {
        [newline, tab, blank].map(|character| compare(x2, character, false)).to_vec()
    };
    let mut first_path = second(&mut compare);
    first_path.push(compare(x1, newline, true));
    let second_path = second(&mut compare);
    let paths = Formula::Any(vec![Formula::All(first_path), Formula::All(second_path)]);
    let formula = Formula::All(vec![Formula::All(begin.to_vec()), paths]);
    let (least, most) = (terms.constant(u128::MAX, 32), terms.constant(255, 32));
    let mut domain = Vec::new();
    for x in [x1, x2] {
        domain.extend([terms.signed_less_or_equal(least, x), terms.signed_less_or_equal(x, most)]);
    }
    (formula, domain, [x1, x2])
}

#[test]
fn figures_6_and_7_give_two_characters_of_a_word() {
    let mut terms = Terms::new();
    let (formula, domain, characters) = figure_6(&mut terms);
    expect![
        "X2 != -1 ∧ X1 != 9 ∧ X1 != 32 ∧ X1 != 10 ∧ X1 != -1 ∧ \
         ((X2 != 10 ∧ X2 != 9 ∧ X2 != 32 ∧ X1 == 10) ∨ (X2 != 10 ∧ X2 != 9 ∧ X2 != 32))"
    ]
    .assert_eq(&formula.simplified(&terms).display(&terms).to_string());
    let solved = ask(&terms, &formula, &domain);
    let LinearAnswer::Model(model) = &solved.answer else {
        panic!("no model: {:?}", solved.answer);
    };
    for character in characters {
        let value = model.get(terms.variable_id(character).expect("a variable"));
        assert!(value <= 255 && ![9, 10, 32].contains(&value), "{value}");
    }
    assert_eq!((solved.counts.columns, solved.counts.alternatives, solved.counts.dropped), (2, 2, 0));
}

#[test]
fn figure_7_as_text() {
    let mut terms = Terms::new();
    let (formula, domain, _) = figure_6(&mut terms);
    let query = LinearQuery { terms: &terms, formula: &formula, domain: &domain, hint: &Model::new() };
    let program = program(&query).expect("bounds that agree");
    expect![[r#"
        Minimize
         obj:
        Subject To
         c1: + y1 + y2 >= 1
         c2: + y3 + y4 >= 1
         c3: + y5 + y6 >= 1
         c4: + y7 + y8 >= 1
         c5: + X1 + 247 y1 <= 255
         c6: + X1 - 10 y2 >= 0
         c7: + X1 + 224 y3 <= 255
         c8: + X1 - 33 y4 >= 0
         c9: + X1 + 246 y5 <= 255
         c10: + X1 - 11 y6 >= 0
         c11: + X1 + 245 y7 <= 255
         c12: + X1 - 10 y7 >= 0
         c13: + y9 + y10 - y7 >= 0
         c14: + y11 + y12 - y7 >= 0
         c15: + y13 + y14 - y7 >= 0
         c16: + y9 + y10 - y8 >= 0
         c17: + y11 + y12 - y8 >= 0
         c18: + y13 + y14 - y8 >= 0
         c19: + X2 + 246 y9 <= 255
         c20: + X2 - 11 y10 >= 0
         c21: + X2 + 247 y11 <= 255
         c22: + X2 - 10 y12 >= 0
         c23: + X2 + 224 y13 <= 255
         c24: + X2 - 33 y14 >= 0
        Bounds
         0 <= X1 <= 255
         0 <= X2 <= 255
        Generals
         X1
         X2
        Binaries
         y1
         y2
         y3
         y4
         y5
         y6
         y7
         y8
         y9
         y10
         y11
         y12
         y13
         y14
        End
    "#]]
    .assert_eq(&program.lp_text().expect("small numbers"));
}

#[test]
fn names_and_mps() {
    let mut terms = Terms::new();
    let (a, b) = (terms.variable("a[0]", 8), terms.variable("a[1]", 8));
    let five = terms.constant(5, 8);
    let either = [terms.unsigned_less(a, five), terms.unsigned_less(five, b)].map(Formula::Condition);
    let formula = Formula::Any(either.to_vec());
    let query = LinearQuery { terms: &terms, formula: &formula, domain: &[], hint: &Model::new() };
    let program = program(&query).expect("bounds that agree");
    let lp = program.lp_text().expect("small numbers");
    assert!(lp.starts_with("\\ a_0 is a[0]\n\\ a_1 is a[1]\nMinimize"), "{lp}");
    expect![[r#"
        NAME pbcc
        ROWS
         N obj
         G c1
         L c2
         G c3
        COLUMNS
         MARKER 'MARKER' 'INTORG'
         a_0 c2 1
         a_1 c3 1
         y1 c1 1
         y1 c2 251
         y2 c1 1
         y2 c3 -6
         MARKER 'MARKER' 'INTEND'
        RHS
         RHS c1 1
         RHS c2 255
        BOUNDS
         LO BND a_0 0
         UP BND a_0 255
         LO BND a_1 0
         UP BND a_1 255
         BV BND y1
         BV BND y2
        ENDATA
    "#]]
    .assert_eq(&program.mps_text().expect("small numbers"));
}

fn row_holds(row: &Row, point: &[i128]) -> bool {
    let sum: i128 = row.terms.iter().map(|&(unknown, factor)| factor * point[unknown]).sum();
    match row.relation {
        Relation::AtMost => sum <= row.constant,
        Relation::AtLeast => sum >= row.constant,
    }
}

/// The values of `x`, of 4 bits and in a column, for which the 0-1 variables can be chosen so that all rows hold.
fn solutions_of_rows(program: &Program) -> Vec<i128> {
    let rows = program.rows().expect("small numbers");
    assert_eq!(rows.len(), program.row_count());
    let [column] = &program.columns[..] else {
        panic!("one column, not {:?}", program.columns);
    };
    let solves = |&x: &i128| {
        (0..1_u32 << program.binaries()).any(|bits| {
            let binaries = (0..program.binaries()).map(|place| i128::from((bits >> place) & 1));
            let point: Vec<i128> = [x].into_iter().chain(binaries).collect();
            rows.iter().all(|row| row_holds(row, &point))
        })
    };
    (column.low..=column.high).filter(solves).collect()
}

/// Big-M rows say what the formula says: by enumeration of all points.
#[test]
fn rows_have_the_models_of_the_formula() {
    let mut terms = Terms::new();
    let x = terms.variable("x", 4);
    let id = terms.variable_id(x).expect("a variable");
    let mut random = 1_u64;
    let mut below = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % bound
    };
    for _ in 0..300 {
        let mut leaf = |terms: &mut Terms| {
            let (c, d) = (terms.constant(u128::from(below(16)), 4), terms.constant(u128::from(below(16)), 4));
            let sum = terms.add(x, c);
            Formula::Condition(match below(4) {
                0 => terms.not_equal(x, c),
                1 => terms.signed_less(x, c),
                2 => terms.signed_less(sum, d),
                _ => terms.signed_less_or_equal(c, x),
            })
        };
        let mut pair = |terms: &mut Terms| Formula::All(vec![leaf(terms), leaf(terms)]);
        let inner = Formula::Any(vec![pair(&mut terms), pair(&mut terms)]);
        let formula = Formula::Any(vec![Formula::All(vec![inner, pair(&mut terms)]), pair(&mut terms)]);
        let query = LinearQuery { terms: &terms, formula: &formula, domain: &[], hint: &Model::new() };
        let Some(program) = program(&query).filter(|program| (1..12).contains(&program.binaries())) else {
            continue;
        };
        let holds = |value: &i128| {
            let model = [(id, *value as u128 & 15)].into_iter().collect();
            formula.holds(&terms, &model, &mut Evaluator::new())
        };
        let expected: Vec<i128> = (-8..8).filter(holds).collect();
        assert_eq!(solutions_of_rows(&program), expected, "{}", formula.display(&terms));
    }
}

#[test]
fn empty_junctions() {
    let terms = Terms::new();
    assert!(is_model(&ask(&terms, &Formula::truth(), &[]).answer));
    assert!(is_exact_refutation(&ask(&terms, &Formula::falsehood(), &[]).answer));
    let nested = Formula::All(vec![Formula::truth(), Formula::Any(vec![Formula::falsehood()])]);
    assert!(is_exact_refutation(&ask(&terms, &nested, &[]).answer));
}

/// Satisfiable only because sums wrap around.
#[test]
fn wrap_around_is_no_contradiction() {
    for width in [8, 32, 64] {
        let mut terms = Terms::new();
        let (x, y) = (terms.variable("x", width), terms.variable("y", width));
        let (one, seven) = (terms.constant(1, width), terms.constant(7, width));
        let next = terms.add(x, one);
        let (unsigned, signed) = (terms.unsigned_less(next, x), terms.signed_less(next, x));
        assert!(is_model(&condition(&terms, unsigned)));
        assert!(is_model(&condition(&terms, signed)));
        let sum = terms.add(x, y);
        let smaller = [terms.unsigned_less(sum, x), terms.unsigned_less(sum, y)].map(Formula::Condition);
        assert!(is_model(&ask(&terms, &Formula::All(smaller.to_vec()), &[]).answer));
        // Times seven is a bijection: every value is reached, most of them by wrapping around.
        let product = terms.mul(x, seven);
        let fraction = terms.equal(product, one);
        assert!(is_model(&condition(&terms, fraction)), "{width}");
        let equal = terms.equal(next, x);
        assert_eq!(terms.as_boolean(equal), Some(false));
    }
}

/// Without room to wrap around the same conditions are refuted.
#[test]
fn bounds_exclude_wrap_around() {
    let mut terms = Terms::new();
    let x = terms.variable("x", 8);
    let (one, hundred) = (terms.constant(1, 8), terms.constant(100, 8));
    let next = terms.add(x, one);
    let (less, small) = (terms.unsigned_less(next, x), terms.unsigned_less(x, hundred));
    let answer = ask(&terms, &Formula::Condition(less), &[small]).answer;
    assert!(is_exact_refutation(&answer), "{answer:?}");
    let zero = terms.constant(0, 8);
    let negative = terms.signed_less(x, zero);
    let both = Formula::All(vec![Formula::Condition(less), Formula::Condition(negative)]);
    let solved = ask(&terms, &both, &[]);
    assert!(is_model(&solved.answer), "x = 255 is negative and wraps around");
}

#[test]
fn unsigned_comparisons_of_negative_numbers() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 32), terms.variable("y", 32));
    let zero = terms.constant(0, 32);
    let facts = [terms.signed_less(x, zero), terms.signed_less(zero, y)].map(Formula::Condition);
    let below = Formula::Condition(terms.unsigned_less(y, x));
    let above = Formula::Condition(terms.unsigned_less(x, y));
    let with = |last: Formula| Formula::All(facts.iter().cloned().chain([last]).collect());
    assert!(is_model(&ask(&terms, &with(below), &[]).answer));
    assert!(is_exact_refutation(&ask(&terms, &with(above), &[]).answer));
}

#[test]
fn not_equal_leaves_the_other_values() {
    let mut terms = Terms::new();
    let x = terms.variable("x", 3);
    let values = |terms: &mut Terms, count: u128| {
        let different = (0..count).map(|value| {
            let value = terms.constant(value, 3);
            Formula::Condition(terms.not_equal(x, value))
        });
        Formula::All(different.collect())
    };
    let (seven, eight) = (values(&mut terms, 7), values(&mut terms, 8));
    let LinearAnswer::Model(model) = ask(&terms, &seven, &[]).answer else {
        panic!("7 is left");
    };
    assert_eq!(model.get(terms.variable_id(x).expect("a variable")), 7);
    assert!(is_exact_refutation(&ask(&terms, &eight, &[]).answer));
}

/// A parity that no rational relaxation sees, and a system that only exact arithmetic refutes.
#[test]
fn integers_are_not_rationals() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 16), terms.variable("y", 16));
    let (wide_x, wide_y) = (terms.sign_extend(x, 64), terms.sign_extend(y, 64));
    let scaled = |terms: &mut Terms, x, factor: i64| {
        let factor = terms.constant(factor as u128, 64);
        terms.mul(x, factor)
    };
    let (a, b) = (scaled(&mut terms, wide_x, 6), scaled(&mut terms, wide_y, 9));
    let sum = terms.add(a, b);
    let four = terms.constant(4, 64);
    let odd = terms.equal(sum, four);
    assert!(is_exact_refutation(&condition(&terms, odd)));
    // 94906267 x - 94906266 y = 0 and = 1 differ by less than a double can tell from zero after scaling.
    let (p, q) = (scaled(&mut terms, wide_x, 94_906_267), scaled(&mut terms, wide_y, 94_906_266));
    let difference = terms.sub(p, q);
    let one = terms.constant(1, 64);
    let (is_one, positive) = (terms.equal(difference, one), terms.signed_less(four, wide_x));
    assert!(is_model(&condition(&terms, is_one)), "x = y = 1");
    let larger = Formula::All(vec![Formula::Condition(is_one), Formula::Condition(positive)]);
    assert!(is_exact_refutation(&ask(&terms, &larger, &[]).answer));
}

#[test]
fn numbers_near_the_limits() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 64), terms.variable("y", 64));
    let large = terms.constant(u128::from(u64::MAX / 3), 64);
    let (a, b) = (terms.mul(x, large), terms.mul(y, large));
    let sum = terms.add(a, b);
    let parts = [terms.signed_less(sum, x), terms.unsigned_less(y, sum)].map(Formula::Condition);
    let formula = Formula::All(parts.to_vec());
    let solved = ask(&terms, &formula, &[]);
    if let LinearAnswer::Model(model) = &solved.answer {
        assert!(formula.holds(&terms, model, &mut Evaluator::new()));
    }
    assert!(!matches!(solved.answer, LinearAnswer::Infeasible(_)), "x = -1, y = 0: 2^64 - 2^64/3 is between");
}

#[test]
fn what_is_not_linear_is_dropped_or_left_open() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 32), terms.variable("y", 32));
    let (zero, ten) = (terms.constant(0, 32), terms.constant(10, 32));
    let product = terms.mul(x, y);
    let square = terms.equal(product, ten);
    let (positive, negative) = (terms.signed_less(zero, x), terms.signed_less(x, zero));
    assert_eq!(condition(&terms, square), LinearAnswer::NotLinear);
    let path = |conditions: &[TermId]| Formula::All(conditions.iter().copied().map(Formula::Condition).collect());
    let solved = ask(&terms, &Formula::Any(vec![path(&[square, negative]), path(&[positive])]), &[]);
    assert!(is_model(&solved.answer));
    assert_eq!((solved.counts.alternatives, solved.counts.dropped), (2, 1));
    // The linear one is refuted, the other one not.
    let solved = ask(&terms, &Formula::Any(vec![path(&[square]), path(&[positive, negative])]), &[]);
    let gap = LinearAnswer::NoLinearSolution { why: LinearGap::NotLinear { alternatives: 1 } };
    assert_eq!(solved.answer, gap);
    // What is linear in every alternative contradicts itself, and so does a product that is two things at once.
    let larger = terms.signed_less(ten, product);
    for contradiction in [path(&[square, positive, negative]), path(&[square, larger])] {
        let both = Formula::Any(vec![contradiction, path(&[positive, negative])]);
        let answer = ask(&terms, &both, &[]).answer;
        assert!(matches!(answer, LinearAnswer::Infeasible(LinearEvidence::Relaxed { .. })), "{answer:?}");
    }
}

#[test]
fn a_domain_that_is_not_linear_is_only_evaluated() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 32), terms.variable("y", 32));
    let (zero, ten) = (terms.constant(0, 32), terms.constant(10, 32));
    let product = terms.mul(x, y);
    let (small, ten_is) = (terms.unsigned_less(product, ten), terms.equal(product, ten));
    let positive = Formula::Condition(terms.signed_less(zero, x));
    assert!(is_model(&ask(&terms, &positive, &[small]).answer), "y = 0");
    let gap = LinearAnswer::NoLinearSolution { why: LinearGap::Domain };
    assert_eq!(ask(&terms, &positive, &[ten_is]).answer, gap);
}

#[test]
fn floats_divisions_and_wide_numbers_are_not_linear() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 64), terms.variable("y", 64));
    let (wide, other) = (terms.variable("wide", 128), terms.variable("other", 128));
    let float = terms.float(FloatOp::Less, 1, &[x, y]);
    let quotient = terms.binary(BinaryOp::SDiv, x, y);
    let (zero, sum) = (terms.constant(5, 64), terms.add(wide, other));
    let conditions = [float, terms.equal(quotient, zero), terms.signed_less(sum, wide), terms.not_equal(wide, other)];
    for term in conditions {
        assert_eq!(condition(&terms, term), LinearAnswer::NotLinear, "{}", terms.display(term));
    }
}

/// Quotients and remainders by constants are unknowns of the program.
#[test]
fn divisions_by_constants_are_linear() {
    let mut terms = Terms::new();
    let x = terms.variable("x", 32);
    let constant = |terms: &mut Terms, value: i32| terms.constant(value as u128, 32);
    let (seven, three, minus_three) = (constant(&mut terms, 7), constant(&mut terms, 3), constant(&mut terms, -3));
    let remainder = terms.binary(BinaryOp::SRem, x, seven);
    let (is_three, is_minus_three) = (terms.equal(remainder, three), terms.equal(remainder, minus_three));
    assert!(is_model(&condition(&terms, is_three)));
    assert!(is_model(&condition(&terms, is_minus_three)));
    let both = Formula::All(vec![Formula::Condition(is_three), Formula::Condition(is_minus_three)]);
    assert!(is_exact_refutation(&ask(&terms, &both, &[]).answer));
    let zero = constant(&mut terms, 0);
    let positive = Formula::Condition(terms.signed_less(zero, x));
    let negative_remainder = Formula::All(vec![positive, Formula::Condition(is_minus_three)]);
    assert!(is_exact_refutation(&ask(&terms, &negative_remainder, &[]).answer));
}

#[test]
fn limits_hold() {
    let mut terms = Terms::new();
    let numbers: Vec<TermId> = (0..12).map(|number| terms.variable(&format!("x{number}"), 32)).collect();
    let (ten, zero) = (terms.constant(11, 32), terms.constant(0, 32));
    let domain: Vec<TermId> = numbers.iter().map(|&x| terms.unsigned_less(x, ten)).collect();
    let mut different = Vec::new();
    for (place, &a) in numbers.iter().enumerate() {
        different.extend(numbers[..place].iter().map(|&b| Formula::Condition(terms.not_equal(a, b))));
    }
    different.push(Formula::Condition(terms.signed_less_or_equal(zero, numbers[0])));
    let formula = Formula::All(different);
    let query = LinearQuery { terms: &terms, formula: &formula, domain: &domain, hint: &Model::new() };
    let steps = LinearLimits { steps: 100, ..LinearLimits::default() };
    assert_eq!(decide(&query, &steps).answer, LinearAnswer::Unknown(Reason::ResourceLimit { steps: 100 }));
    let time = LinearLimits { milliseconds: 20, steps: u32::MAX, ..LinearLimits::default() };
    let solved = decide(&query, &time);
    assert_eq!(solved.answer, LinearAnswer::Unknown(Reason::TimeLimit { milliseconds: 20 }));
    assert!(solved.counts.time.as_millis() < 5000, "{:?}", solved.counts.time);
    let no_time = LinearLimits { milliseconds: 0, ..LinearLimits::default() };
    let overdue = LinearAnswer::Unknown(Reason::TimeLimit { milliseconds: 0 });
    assert_eq!(decide(&query, &no_time).answer, overdue);
    let forever = LinearLimits { milliseconds: u64::MAX, steps: 100, ..LinearLimits::default() };
    assert_eq!(decide(&query, &forever).answer, LinearAnswer::Unknown(Reason::ResourceLimit { steps: 100 }));
    let raised = LinearLimits { interrupt: Arc::new(AtomicBool::new(true)), ..LinearLimits::default() };
    assert_eq!(decide(&query, &raised).answer, LinearAnswer::Unknown(Reason::Interrupted));
}

/// Ten thousand junctions within each other, satisfiable at the bottom only.
#[test]
fn deep_formulas() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 32), terms.variable("y", 32));
    let bottom = terms.constant(20_000, 32);
    let deepest = terms.equal(x, bottom);
    let mut formula = Formula::Condition(deepest);
    for depth in 0..10_000_u128 {
        let value = terms.constant(depth, 32);
        let (not_here, below) = (terms.not_equal(x, value), terms.signed_less(y, x));
        let same = terms.equal(x, y);
        let never = Formula::All(vec![Formula::Condition(below), Formula::Condition(same)]);
        formula = Formula::Any(vec![never, Formula::All(vec![Formula::Condition(not_here), formula])]);
    }
    let patient = LinearLimits { milliseconds: 60_000, ..LinearLimits::default() };
    let query = LinearQuery { terms: &terms, formula: &formula, domain: &[], hint: &Model::new() };
    let solved = decide(&query, &patient);
    assert!(is_model(&solved.answer), "{:?} {:?}", solved.answer, solved.counts);
}

#[test]
fn the_hint_is_kept_where_it_can_be() {
    let mut terms = Terms::new();
    let (x, y, z) = (terms.variable("x", 32), terms.variable("y", 32), terms.variable("z", 8));
    let id = |term| terms.variable_id(term).expect("a variable");
    let (x_id, y_id, z_id) = (id(x), id(y), id(z));
    let hint: Model = [(x_id, 40), (y_id, u128::from(u32::MAX)), (z_id, 3)].into_iter().collect();
    let less = Formula::Condition(terms.signed_less(y, x));
    let query = LinearQuery { terms: &terms, formula: &less, domain: &[], hint: &hint };
    assert_eq!(decide(&query, &LinearLimits::default()).answer, LinearAnswer::Model(hint));
}
