//! Branch and prune against enumeration: variables that may be one of a few neighbouring floats, or of all small
//! integers, under random conditions.

use std::sync::atomic::AtomicBool;

use super::effort::Effort;
use super::evaluation::Evaluation;
use super::search::{Found, Search};
use super::{BoxTactics, Filtering, SplittingOrder, Traversal};
use crate::floats::{FloatOp, float_value};
use crate::layers::intervals::float_range::{bits, bottom, infinity, is_nan, place};
use crate::layers::intervals::library_tests::{Random, cases};
use crate::library::MathFunction;
use crate::model::{Model, evaluate, holds};
use crate::smt::oracle;
use crate::smt::wire::{self, Graph};
use crate::solver::Limits;
use crate::terms::{TermId, Terms, VariableId};

/// Neighbouring floats that a variable may be.
const WINDOW: i64 = 40;

struct Problem {
    terms: Terms,
    /// A float, another one, and an integer of 8 bits, each with the values that it may have.
    variables: Vec<(TermId, Vec<u128>)>,
    constraints: Vec<TermId>,
}

impl Problem {
    fn random(random: &mut Random) -> Self {
        let width = [32, 64][random.below(2) as usize];
        let mut problem = Problem { terms: Terms::new(), variables: Vec::new(), constraints: Vec::new() };
        for name in ["x", "y"] {
            problem.add_float(random, name, width);
        }
        let small = problem.terms.variable("i", 8);
        problem.variables.push((small, (0..256).collect()));
        let mut floats: Vec<TermId> = problem.variables[..2].iter().map(|(term, _)| *term).collect();
        floats.push(problem.terms.float(FloatOp::FromSigned, width, &[small]));
        for _ in 0..1 + random.below(4) {
            let term = problem.operation(random, &floats, width);
            floats.push(term);
        }
        for _ in 0..1 + random.below(3) {
            let constraint = problem.condition(random, &floats, width);
            problem.constraints.push(constraint);
        }
        problem
    }

    /// A variable between two places of the order, or a NaN.
    fn add_float(&mut self, random: &mut Random, name: &str, width: u32) {
        let first = random.float(width);
        let (low, high) = match is_nan(first, width) {
            true => (0, 5),
            false => {
                let low = place(first, width).clamp(bottom(width), infinity(width) - WINDOW);
                (low, low + random.below(WINDOW as u64) as i64)
            }
        };
        let term = self.terms.variable(name, width);
        let ends = [low, high].map(|place| self.terms.constant(bits(place, width), width));
        let above = self.terms.float(FloatOp::LessOrEqual, 1, &[ends[0], term]);
        let below = self.terms.float(FloatOp::LessOrEqual, 1, &[term, ends[1]]);
        self.constraints.extend([above, below]);
        // The other zero passes for one that is an end.
        let zeros = (low == 0).then_some(-1).into_iter().chain((high == -1).then_some(0));
        let values = (low..=high).chain(zeros).map(|place| bits(place, width)).collect();
        self.variables.push((term, values));
    }

    fn operation(&mut self, random: &mut Random, floats: &[TermId], width: u32) -> TermId {
        use FloatOp::{Add, Ceil, Div, Floor, FusedMultiplyAdd, Library, Mul, RoundEven, Sqrt, Sub};
        let mut pick = || floats[random.below(floats.len() as u64) as usize];
        let (a, b, c) = (pick(), pick(), pick());
        let function = MathFunction::ALL[random.below(MathFunction::ALL.len() as u64) as usize];
        let plain = [Add, Sub, Mul, Div, Add, Sub, Mul, Div, Sqrt, Floor, Ceil, RoundEven, FusedMultiplyAdd];
        match random.below(18) as usize {
            choice @ 0..13 => self.terms.float(plain[choice], width, &[a, b, c][..plain[choice].arity()]),
            13 => {
                let integer = self.terms.float(FloatOp::ToSigned, 32, &[a]);
                self.terms.float(FloatOp::FromSigned, width, &[integer])
            }
            14 => {
                let less = self.terms.float(FloatOp::Less, 1, &[a, b]);
                self.terms.if_then_else(less, a, c)
            }
            _ => self.terms.float(Library(function), width, &[a, b][..function.arity()]),
        }
    }

    /// A comparison with another term, or with what a term is at some point.
    fn condition(&mut self, random: &mut Random, floats: &[TermId], width: u32) -> TermId {
        let a = floats[floats.len() - 1 - random.below(2) as usize];
        let b = match random.below(3) {
            0 => floats[random.below(floats.len() as u64) as usize],
            _ => {
                let model = self.point(random);
                let value = evaluate(&self.terms, &model, a);
                self.terms.constant(value, width)
            }
        };
        let op = [FloatOp::Equal, FloatOp::Equal, FloatOp::Less, FloatOp::LessOrEqual][random.below(4) as usize];
        let condition = self.terms.float(op, 1, &[a, b]);
        if random.below(4) == 0 { self.terms.not(condition) } else { condition }
    }

    fn point(&self, random: &mut Random) -> Model {
        let choose = |(term, values): &(TermId, Vec<u128>), random: &mut Random| {
            let value = values[random.below(values.len() as u64) as usize];
            self.terms.variable_id(*term).map(|id| (id, value))
        };
        self.variables.iter().filter_map(|variable| choose(variable, random)).collect()
    }

    /// By enumeration of the points; a variable that does not occur has no part in it.
    fn has_solution(&self, graph: &Graph, variables: &[VariableId]) -> bool {
        let values_of = |id: &VariableId| {
            let of = |(term, _): &&(TermId, Vec<u128>)| self.terms.variable_id(*term) == Some(*id);
            self.variables.iter().find(of).map(|(_, values)| &values[..])
        };
        let values: Vec<&[u128]> = variables.iter().filter_map(values_of).collect();
        let count: usize = values.iter().map(|values| values.len()).product();
        let mut evaluation = Evaluation::default();
        (0..count).any(|mut number| {
            let digit = |values: &&[u128]| {
                let value = values[number % values.len()];
                number /= values.len();
                value
            };
            let point: Vec<u128> = values.iter().map(digit).collect();
            evaluation.satisfies(graph, &point)
        })
    }
}

/// Conditions on floats of any size, where there is nothing to enumerate.
fn unbounded(random: &mut Random) -> Problem {
    let mut problem = Problem { terms: Terms::new(), variables: Vec::new(), constraints: Vec::new() };
    for name in ["x", "y"] {
        let term = problem.terms.variable(name, 32);
        let values = (0..40).map(|_| random.float(32)).collect();
        problem.variables.push((term, values));
    }
    let mut floats: Vec<TermId> = problem.variables.iter().map(|(term, _)| *term).collect();
    for _ in 0..1 + random.below(3) {
        let term = problem.operation(random, &floats, 32);
        floats.push(term);
    }
    for _ in 0..2 + random.below(3) {
        let constraint = problem.condition(random, &floats, 32);
        problem.constraints.push(constraint);
    }
    problem
}

/// Z3 is slow on floats, but what it says must not be the opposite.
#[test]
fn no_verdict_contradicts_z3() {
    let mut random = Random(13);
    let never = AtomicBool::new(false);
    let (mut agreed, mut refuted) = (0_u64, 0_u64);
    for number in 0..cases(60) {
        let problem = unbounded(&mut random);
        let (graph, variables) = wire::graph(&problem.terms, &problem.constraints);
        let hint = vec![0; variables.len()];
        let found = Search::new(&graph, &hint, Effort::new(&Limits::default(), &never), BoxTactics::default()).run();
        let ours = match found {
            Found::Point(_) => true,
            Found::Nothing => false,
            Found::Open => continue,
        };
        let Some(theirs) = oracle::has_model(&graph, 300) else { continue };
        assert_eq!(ours, theirs, "problem {number}: {}", shown(&problem));
        agreed += 1;
        refuted += u64::from(!ours);
    }
    assert!(agreed > 5 && refuted > 0, "{agreed} agreed, {refuted} of them refuted");
}

#[test]
fn no_solution_is_lost_and_most_problems_are_decided() {
    let mut random = Random(11);
    let never = AtomicBool::new(false);
    let tactics = [
        BoxTactics::default(),
        BoxTactics { filtering: Filtering::BothEnds, ..BoxTactics::default() },
        BoxTactics { split: SplittingOrder::InTurn, traversal: Traversal::DepthFirst, ..BoxTactics::default() },
        BoxTactics { split: SplittingOrder::MostUsed, ..BoxTactics::default() },
    ];
    let (mut found, mut refuted, mut open) = (0_u64, 0_u64, 0_u64);
    for number in 0..cases(400) {
        let problem = Problem::random(&mut random);
        let (graph, variables) = wire::graph(&problem.terms, &problem.constraints);
        let hint = vec![0; variables.len()];
        let effort = Effort::new(&Limits { resource: 800_000, ..Limits::default() }, &never);
        match Search::new(&graph, &hint, effort, tactics[number as usize % tactics.len()]).run() {
            Found::Point(point) => {
                let model: Model = variables.into_iter().zip(point).collect();
                assert!(holds(&problem.terms, &model, &problem.constraints), "problem {number}");
                found += 1;
            }
            Found::Nothing => {
                assert!(!problem.has_solution(&graph, &variables), "problem {number}: {}", shown(&problem));
                refuted += 1;
            }
            Found::Open => open += 1,
        }
    }
    assert!(found > 50 && refuted > 50 && open * 20 < found + refuted, "{found} found, {refuted} refuted, {open} open");
}

fn shown(problem: &Problem) -> String {
    let texts: Vec<String> = problem.constraints.iter().map(|&c| problem.terms.display(c).to_string()).collect();
    texts.join(" and ")
}

/// What a float is rounded to is one float: evaluation and bounds speak of the same operators.
#[test]
fn a_single_point_is_refuted_or_found() {
    let mut random = Random(12);
    let never = AtomicBool::new(false);
    for _ in 0..cases(2000) {
        let width = [32, 64][random.below(2) as usize];
        let (x, y) = (random.float(width), random.float(width));
        let op = [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div][random.below(4) as usize];
        let result = float_value(op, width, width, &[x, y]);
        if is_nan(x, width) || is_nan(y, width) || is_nan(result, width) {
            continue;
        }
        let mut terms = Terms::new();
        let variable = terms.variable("x", width);
        let [x, y, result] = [x, y, result].map(|value| terms.constant(value, width));
        let value = terms.float(op, width, &[variable, y]);
        let same = terms.equal(variable, x);
        for wanted in [terms.equal(value, result), terms.not_equal(value, result)] {
            let (graph, variables) = wire::graph(&terms, &[same, wanted]);
            let hint = vec![0; variables.len()];
            let found =
                Search::new(&graph, &hint, Effort::new(&Limits::default(), &never), BoxTactics::default()).run();
            let is_equal = terms.equal(value, result) == wanted;
            assert_eq!(matches!(found, Found::Point(_)), is_equal);
            assert_eq!(matches!(found, Found::Nothing), !is_equal);
        }
    }
}

/// A sum that is neither positive nor not: only a NaN is, and it is tried even where contraction has used up the effort.
#[test]
fn a_nan_is_tried_without_any_effort() {
    let mut terms = Terms::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| terms.variable(name, 64));
    let zero = terms.constant(0, 64);
    let product = terms.float(FloatOp::Mul, 64, &[x, y]);
    let sum = terms.float(FloatOp::Add, 64, &[product, z]);
    let (above, below) =
        (terms.float(FloatOp::Less, 1, &[zero, sum]), terms.float(FloatOp::LessOrEqual, 1, &[sum, zero]));
    let constraints = [above, below].map(|condition| terms.not(condition));
    let (graph, _) = wire::graph(&terms, &constraints);
    let never = AtomicBool::new(false);
    let effort = Effort::new(&Limits { resource: 0, ..Limits::default() }, &never);
    let found = Search::new(&graph, &[u128::from(2.0_f64.to_bits()); 3], effort, BoxTactics::default()).run();
    assert!(matches!(found, Found::Point(_)));
}
