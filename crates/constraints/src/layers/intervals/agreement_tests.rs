//! What the text for other solvers says is what we evaluate, and no verdict of the chain is the opposite of theirs.

use std::time::{Duration, Instant};

use super::float_range::is_nan;
use super::library_tests::{Random, cases};
use crate::answer::{Answer, Layer, Reason};
use crate::floats::{FloatOp, float_value};
use crate::model::{Model, evaluate, holds};
use crate::semantics;
use crate::smt::{self, Backend, ExternalSolver, Verdict};
use crate::solver::{Limits, Solver, SolverSettings};
use crate::terms::{BinaryOp, CompareOp, TermId, Terms, UnaryOp};

fn cvc5(milliseconds: u64) -> Box<dyn Backend> {
    let external = ExternalSolver::named("cvc5").expect("cvc5, which scripts/setup installs");
    let limits = Limits { milliseconds, resource: u32::MAX, ..Limits::default() };
    let settings = SolverSettings { external: Some(external), limits, ..SolverSettings::default() };
    smt::external(&settings).expect("an external solver")
}

/// Variables that are equal to these constants, so that nothing is evaluated before the solver sees it.
struct Points {
    terms: Terms,
    constraints: Vec<TermId>,
    /// That some operation has another value than we compute.
    wrong: Vec<TermId>,
}

impl Points {
    fn new() -> Self {
        Self { terms: Terms::new(), constraints: Vec::new(), wrong: Vec::new() }
    }

    fn variable(&mut self, value: u128, width: u32) -> TermId {
        let variable = self.terms.variable("x", width);
        let constant = self.terms.constant(value, width);
        self.constraints.push(self.terms.equal(variable, constant));
        variable
    }

    fn expect(&mut self, result: TermId, value: u128) {
        let expected = self.terms.constant(value, self.terms.width(result));
        let wrong = self.terms.not_equal(result, expected);
        self.wrong.push(wrong);
    }

    fn expect_nan(&mut self, result: TermId) {
        let is_nan = self.terms.float(FloatOp::Unordered, 1, &[result, result]);
        self.wrong.push(self.terms.not(is_nan));
    }

    fn check(mut self, what: &str) {
        let mut solver = cvc5(60_000);
        let points = solver.solve(&self.terms, &self.constraints);
        assert!(matches!(points, Verdict::Sat(_)), "{what}: the points themselves: {points:?}");
        let no = self.terms.boolean(false);
        let wrong = std::mem::take(&mut self.wrong);
        let any = wrong.into_iter().fold(no, |any, wrong| self.terms.or(any, wrong));
        self.constraints.push(any);
        let verdict = solver.solve(&self.terms, &self.constraints);
        match verdict {
            Verdict::Unsat(_) => {}
            other => panic!("{what}: {other:?}"),
        }
    }
}

fn widths(op: FloatOp) -> Vec<(u32, u32)> {
    const INTEGERS: [u32; 7] = [1, 8, 16, 31, 32, 48, 64];
    let floats = [32, 64];
    match op {
        FloatOp::Convert => vec![(32, 64), (64, 32)],
        FloatOp::FromSigned | FloatOp::FromUnsigned => {
            INTEGERS.into_iter().chain([128]).flat_map(|from| floats.map(|to| (from, to))).collect()
        }
        FloatOp::ToSigned | FloatOp::ToUnsigned => {
            floats.into_iter().flat_map(|from| INTEGERS.map(|to| (from, to))).collect()
        }
        _ if op.is_comparison() => vec![(32, 1), (64, 1)],
        _ => vec![(32, 32), (64, 64)],
    }
}

/// Every float operator and conversion of all widths: the text means what `float_value` computes.
#[test]
fn cvc5_reads_floats_as_we_evaluate_them() {
    let mut random = Random(31);
    for op in FloatOp::PLAIN {
        for (from, to) in widths(op) {
            let mut points = Points::new();
            let is_integer = matches!(op, FloatOp::FromSigned | FloatOp::FromUnsigned);
            for _ in 0..cases(12) {
                let value = |random: &mut Random| match is_integer {
                    true => random.integer(from),
                    false => random.float(from),
                };
                let values: Vec<u128> = (0..op.arity()).map(|_| value(&mut random)).collect();
                let operands: Vec<TermId> = values.iter().map(|&value| points.variable(value, from)).collect();
                let result = points.terms.float(op, to, &operands);
                let computed = float_value(op, from, to, &values);
                let has_float_result = !op.is_comparison() && !matches!(op, FloatOp::ToSigned | FloatOp::ToUnsigned);
                match has_float_result && is_nan(computed, to) {
                    true => points.expect_nan(result),
                    false => points.expect(result, computed),
                }
            }
            points.check(&format!("{op:?} from {from} to {to}"));
        }
    }
}

/// The same for integers.
#[test]
fn cvc5_reads_integers_as_we_evaluate_them() {
    let mut random = Random(32);
    for width in [1, 7, 8, 32, 64, 128] {
        let mut points = Points::new();
        for _ in 0..cases(3) {
            let (a, b) = (random.integer(width), random.integer(width));
            let [x, y] = [a, b].map(|value| points.variable(value, width));
            for op in BinaryOp::ALL {
                let result = points.terms.binary(op, x, y);
                points.expect(result, semantics::binary(op, a, b, width));
            }
            for op in CompareOp::ALL {
                let result = points.terms.compare(op, x, y);
                points.expect(result, u128::from(semantics::compare(op, a, b, width)));
            }
            for op in UnaryOp::ALL {
                let result = points.terms.unary(op, x);
                points.expect(result, semantics::unary(op, a, width));
            }
        }
        points.check(&format!("width {width}"));
    }
}

/// A process that does not answer is not waited for.
#[test]
fn an_external_solver_is_killed_when_its_time_is_over() {
    let mut terms = Terms::new();
    let factors = [0, 1].map(|_| terms.variable("x", 32));
    let wide = factors.map(|factor| terms.zero_extend(factor, 64));
    let product = terms.mul(wide[0], wide[1]);
    let (number, one) = (terms.constant(4_611_685_989_973_229_543, 64), terms.constant(1, 32));
    let above = factors.map(|factor| terms.unsigned_less(one, factor));
    let query = [terms.equal(product, number), above[0], above[1]];
    let started = Instant::now();
    let verdict = cvc5(300).solve(&terms, &query);
    assert_eq!(verdict, Verdict::Unknown(Reason::TimeLimit { milliseconds: 300 }));
    assert!(started.elapsed() < Duration::from_secs(20));
}

/// In the chain it answers what the others leave: that a difference of numbers between 1 and 2 is exact.
#[test]
fn what_the_other_layers_leave_is_decided_by_the_external_solver() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable("x", 32), terms.variable("y", 32));
    let [one, two] = [1.0_f32, 2.0].map(|value| terms.constant(u128::from(value.to_bits()), 32));
    let difference = terms.float(FloatOp::Sub, 32, &[x, y]);
    let sum = terms.float(FloatOp::Add, 32, &[difference, y]);
    let mut query = vec![terms.float(FloatOp::Less, 1, &[sum, x])];
    for variable in [x, y] {
        query.push(terms.float(FloatOp::LessOrEqual, 1, &[one, variable]));
        query.push(terms.float(FloatOp::LessOrEqual, 1, &[variable, two]));
    }
    let external = ExternalSolver::named("cvc5");
    let limits = Limits { milliseconds: 60_000, resource: 40_000_000, ..Limits::default() };
    for (external, layer) in [(None, Layer::Smt), (external, Layer::External)] {
        let mut solver = Solver::new(SolverSettings { external, limits, ..SolverSettings::default() });
        let solved = solver.check(&terms, &query, &Model::new());
        assert_eq!((solved.layer, solved.answer.is_unsat()), (layer, layer == Layer::External), "{:?}", solved.answer);
    }
}

/// Terms over two floats and two integers, with conversions between them.
struct Problem {
    terms: Terms,
    floats: Vec<TermId>,
    integers: Vec<TermId>,
}

impl Problem {
    fn random(random: &mut Random) -> (Terms, Vec<TermId>) {
        let mut terms = Terms::new();
        let floats = ["x", "y"].map(|name| terms.variable(name, 32)).to_vec();
        let integers = ["i", "j"].map(|name| terms.variable(name, 8)).to_vec();
        let mut problem = Problem { terms, floats, integers };
        for _ in 0..2 + random.below(4) {
            problem.grow(random);
        }
        let constraints = (0..1 + random.below(3)).map(|_| problem.condition(random)).collect();
        (problem.terms, constraints)
    }

    fn grow(&mut self, random: &mut Random) {
        let [a, b, c] = [0; 3].map(|_| self.floats[random.below(self.floats.len() as u64) as usize]);
        let [i, j] = [0; 2].map(|_| self.integers[random.below(self.integers.len() as u64) as usize]);
        let plain = FloatOp::PLAIN[random.below(11) as usize];
        match random.below(8) {
            0..3 => self.floats.push(self.terms.float(plain, 32, &[a, b, c][..plain.arity()])),
            3 => self.floats.push(self.terms.float(FloatOp::FromSigned, 32, &[i])),
            4 => self.integers.push(self.terms.float(FloatOp::ToSigned, 8, &[a])),
            5 => self.integers.push(self.terms.float(FloatOp::ToUnsigned, 8, &[a])),
            _ => {
                let op = BinaryOp::ALL[random.below(13) as usize];
                self.integers.push(self.terms.binary(op, i, j));
            }
        }
    }

    fn condition(&mut self, random: &mut Random) -> TermId {
        let wanted = random.below(2) == 0;
        let condition = match random.below(2) {
            0 => {
                let a = *self.floats.last().expect("two at least");
                let b = self.other(random, a);
                let op = [FloatOp::Equal, FloatOp::Less, FloatOp::LessOrEqual][random.below(3) as usize];
                self.terms.float(op, 1, &[a, b])
            }
            _ => {
                let a = *self.integers.last().expect("two at least");
                let b = self.other(random, a);
                self.terms.compare(CompareOp::ALL[random.below(5) as usize], a, b)
            }
        };
        if wanted { condition } else { self.terms.not(condition) }
    }

    /// Another term of the same kind, or the value of the term at some point.
    fn other(&mut self, random: &mut Random, term: TermId) -> TermId {
        let width = self.terms.width(term);
        if random.below(2) == 0 {
            let all = if width == 8 { &self.integers } else { &self.floats };
            return all[random.below(all.len() as u64) as usize];
        }
        let variables = [self.floats[0], self.floats[1], self.integers[0], self.integers[1]];
        let value = |random: &mut Random, width: u32| if width == 8 { random.integer(8) } else { random.float(32) };
        let point = variables.map(|variable| {
            let id = self.terms.variable_id(variable).expect("a variable");
            (id, value(random, self.terms.width(variable)))
        });
        let value = evaluate(&self.terms, &point.into_iter().collect(), term);
        self.terms.constant(value, width)
    }
}

/// A refutation of ours is never a model of theirs, and the other way round: their models are evaluated, ours too.
#[test]
fn no_verdict_of_the_chain_contradicts_cvc5() {
    let mut random = Random(33);
    let mut solver = cvc5(1500);
    let (mut models, mut refutations) = (0_u64, 0_u64);
    for number in 0..cases(40) {
        let (terms, constraints) = Problem::random(&mut random);
        let ours = Solver::new(SolverSettings::default()).check(&terms, &constraints, &Model::new());
        let shown = || constraints.iter().map(|&c| terms.display(c).to_string()).collect::<Vec<_>>().join(" and ");
        match (&ours.answer, solver.solve(&terms, &constraints)) {
            (Answer::Unsat(_), Verdict::Sat(model)) => {
                assert!(!holds(&terms, &model, &constraints), "{number}: {} by {}: {model:?}", shown(), ours.layer);
            }
            (Answer::Sat(model), Verdict::Unsat(_)) => panic!("{number}: {}: {model:?}", shown()),
            (Answer::Sat(_), Verdict::Sat(_)) => models += 1,
            (Answer::Unsat(_), Verdict::Unsat(_)) => refutations += 1,
            _ => {}
        }
    }
    assert!(models > 5 && refutations > 5, "{models} models, {refutations} refutations");
}
