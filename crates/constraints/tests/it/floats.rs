//! What the chain decides of conditions on floats, in the words of the programs that they come from.

use branchwise_constraints::{
    Answer, FloatOp, Layer, MathFunction, Model, Solver, SolverSettings, TermId, Terms, evaluate, float_value, holds,
};

/// Conditions on doubles, written close to C.
struct Doubles {
    terms: Terms,
}

impl Doubles {
    fn new() -> (Self, TermId, TermId) {
        let mut terms = Terms::new();
        let (x, y) = (terms.variable("x", 64), terms.variable("y", 64));
        (Self { terms }, x, y)
    }

    fn number(&mut self, value: f64) -> TermId {
        self.terms.constant(u128::from(value.to_bits()), 64)
    }

    fn op(&mut self, op: FloatOp, operands: &[TermId]) -> TermId {
        self.terms.float(op, 64, operands)
    }

    fn call(&mut self, function: MathFunction, operands: &[TermId]) -> TermId {
        self.op(FloatOp::Library(function), operands)
    }

    fn equal(&mut self, a: TermId, value: f64) -> TermId {
        let value = self.number(value);
        self.terms.float(FloatOp::Equal, 1, &[a, value])
    }

    fn above(&mut self, a: TermId, value: f64) -> TermId {
        let value = self.number(value);
        self.terms.float(FloatOp::Less, 1, &[value, a])
    }

    fn below(&mut self, a: TermId, value: f64) -> TermId {
        let value = self.number(value);
        self.terms.float(FloatOp::Less, 1, &[a, value])
    }

    fn check(&self, constraints: &[TermId]) -> (Answer, Layer) {
        let solved = Solver::new(SolverSettings::default()).check(&self.terms, constraints, &Model::new());
        (solved.answer, solved.layer)
    }

    fn found(&self, constraints: &[TermId]) {
        let (answer, layer) = self.check(constraints);
        let model = answer.model();
        assert!(model.is_some_and(|model| holds(&self.terms, model, constraints)), "{layer}: {answer:?}");
    }

    fn refuted(&self, constraints: &[TermId]) {
        let (answer, layer) = self.check(constraints);
        assert!(answer.is_unsat(), "{layer}: {answer:?}");
    }
}

#[test]
fn equalities_that_only_floats_satisfy_are_found() {
    let (mut d, x, y) = Doubles::new();
    let three = d.number(3.0);
    let third = d.op(FloatOp::Div, &[x, three]);
    let twice = d.op(FloatOp::Add, &[third, third]);
    let thrice = d.op(FloatOp::Add, &[twice, third]);
    let same = d.terms.float(FloatOp::Equal, 1, &[x, thrice]);
    let (large, small) = (d.above(x, 1e10), d.below(x, 1e-300));
    let positive = d.above(x, 0.0);
    d.found(&[same, large]);
    d.found(&[same, positive, small]);

    let sixteen = d.number(16.0);
    let sum = d.op(FloatOp::Add, &[sixteen, x]);
    let absorbed = d.equal(sum, 16.0);
    d.found(&[absorbed, positive]);

    let sine = d.call(MathFunction::Sin, &[x]);
    let square = d.op(FloatOp::Mul, &[x, x]);
    let (high, narrow) = (d.above(sine, 0.99), d.below(square, 3.0));
    d.found(&[high, narrow]);

    let other = d.op(FloatOp::Mul, &[y, y]);
    let sum = d.op(FloatOp::Add, &[square, other]);
    let norm = d.op(FloatOp::Sqrt, &[sum]);
    let five = d.equal(norm, 5.0);
    let (right, above) = (d.above(x, 1.25), d.above(y, 1.75));
    d.found(&[five, right, above]);
}

/// No algebra leads there: nearly equal numbers with arbitrary last digits do.
#[test]
fn what_only_rounding_makes_true_is_found() {
    let (mut d, x, y) = Doubles::new();
    let z = d.terms.variable("z", 64);
    let inside: Vec<TermId> = [x, y, z].into_iter().flat_map(|one| [d.above(one, 1.0), d.below(one, 2.0)]).collect();
    let (three, one) = (d.number(3.0), d.number(1.0));
    let first = d.op(FloatOp::Add, &[x, y]);
    let sum = d.op(FloatOp::Add, &[first, z]);
    let mean = d.op(FloatOp::Div, &[sum, three]);
    let below = [x, y, z].map(|one| d.terms.float(FloatOp::Less, 1, &[mean, one]));
    d.found(&[&inside[..], &below[..]].concat());

    let product = d.op(FloatOp::Mul, &[x, y]);
    let back = d.op(FloatOp::Div, &[product, y]);
    let inverse = d.op(FloatOp::Div, &[one, x]);
    let whole = d.op(FloatOp::Mul, &[inverse, x]);
    let rest = d.op(FloatOp::Sub, &[first, x]);
    for (value, other) in [(back, x), (whole, one), (rest, y)] {
        let same = d.terms.float(FloatOp::Equal, 1, &[value, other]);
        let differs = d.terms.not(same);
        d.found(&[&inside[..], &[differs]].concat());
        d.found(&[&inside[..], &[same]].concat());
    }
}

#[test]
fn what_no_double_satisfies_is_refuted() {
    let (mut d, x, y) = Doubles::new();
    let sine = d.call(MathFunction::Sin, &[x]);
    let too_high = d.above(sine, 1.0);
    d.refuted(&[too_high]);
    let power = d.call(MathFunction::Exp, &[x]);
    let negative = d.below(power, 0.0);
    d.refuted(&[negative]);
    let one = d.number(1.0);
    let sum = d.op(FloatOp::Add, &[one, power]);
    let share = d.op(FloatOp::Div, &[one, sum]);
    let whole = d.above(share, 1.0);
    d.refuted(&[whole]);
    // x * x + 1 < 2 * x has no solution, and bounds of each term alone do not show it.
    let (square, two) = (d.op(FloatOp::Mul, &[x, x]), d.number(2.0));
    let (left, right) = (d.op(FloatOp::Add, &[square, one]), d.op(FloatOp::Mul, &[two, x]));
    let less = d.terms.float(FloatOp::Less, 1, &[left, right]);
    let (low, high) = (d.above(x, 1.5), d.below(x, 1e6));
    d.refuted(&[less, low, high]);
    let hypotenuse = d.call(MathFunction::Hypot, &[x, y]);
    let (short, long) = (d.below(hypotenuse, 1.0), d.above(y, 2.0));
    d.refuted(&[short, long]);
}

#[test]
fn answers_do_not_depend_on_the_clock() {
    let (mut d, x, y) = Doubles::new();
    let (sum, product) = (d.op(FloatOp::Add, &[x, y]), d.op(FloatOp::Mul, &[x, y]));
    let (is_sum, is_product) = (d.equal(sum, 7.25), d.equal(product, 12.75));
    let first = d.check(&[is_sum, is_product]);
    for _ in 0..3 {
        assert_eq!(d.check(&[is_sum, is_product]), first);
    }
}

/// Terms that are made simpler when they are built, on all pairs of special values and their neighbours.
#[test]
fn comparisons_of_sums_and_differences_with_zero_mean_what_they_say() {
    let special = [0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1.0, 1.5, 1e300, f64::MAX, f64::INFINITY, f64::NAN];
    let neighbours = |value: f64| [value.next_down(), value, value.next_up()];
    let values: Vec<u128> = special
        .into_iter()
        .flat_map(neighbours)
        .flat_map(|value| [value, -value])
        .map(|value| u128::from(value.to_bits()))
        .collect();
    let (mut d, x, y) = Doubles::new();
    let ids = [x, y].map(|term| d.terms.variable_id(term).expect("a variable"));
    for zero in [0.0, -0.0].map(f64::to_bits).map(u128::from) {
        let zero_term = d.terms.constant(zero, 64);
        for combined_by in [FloatOp::Sub, FloatOp::Add] {
            let combined = d.op(combined_by, &[x, y]);
            for op in [FloatOp::Equal, FloatOp::Less, FloatOp::LessOrEqual] {
                let left = d.terms.float(op, 1, &[combined, zero_term]);
                let right = d.terms.float(op, 1, &[zero_term, combined]);
                for (&a, &b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
                    let model: Model = ids.into_iter().zip([a, b]).collect();
                    let result = float_value(combined_by, 64, 64, &[a, b]);
                    let expected = [[result, zero], [zero, result]].map(|pair| float_value(op, 64, 1, &pair));
                    let values = [left, right].map(|term| evaluate(&d.terms, &model, term));
                    assert_eq!(values, expected, "{combined_by:?} {op:?} {a:#x} {b:#x}");
                }
            }
        }
    }
}
