//! The order of floats loses no solution: random terms, and conditions that hold at a random point.

use super::boxes::variable_nodes;
use super::float_forward;
use super::float_range::{bits, infinity, place_of};
use super::library_tests::{Random, cases};
use super::order::contract_by_order;
use super::propagation::Propagation;
use super::ratio::contract_by_ratios;
use crate::floats::{FloatOp, float_value};
use crate::model::{Model, evaluate, node_value};
use crate::semantics;
use crate::smt::wire::{self, Graph};
use crate::terms::{BinaryOp, TermId, Terms, VariableId};

/// Variables with their values, and terms over them.
struct Scene {
    terms: Terms,
    floats: Vec<TermId>,
    model: Model,
    width: u32,
}

impl Scene {
    fn random(random: &mut Random) -> Self {
        let width = [32, 64][random.below(2) as usize];
        let mut scene = Scene { terms: Terms::new(), floats: Vec::new(), model: Model::new(), width };
        for name in ["x", "y", "z"] {
            let term = scene.terms.variable(name, width);
            let value = match scene.floats.first() {
                Some(&first) if random.below(3) == 0 => {
                    let near = evaluate(&scene.terms, &scene.model, first).wrapping_add(u128::from(random.below(3)));
                    near & semantics::mask(width)
                }
                _ => random.float(width),
            };
            let variable = scene.terms.variable_id(term).expect("a variable");
            scene.model.set(variable, value);
            scene.floats.push(term);
        }
        for value in [0.5, 1.0, 2.0, -0.0] {
            let term = scene.terms.constant(bits(place_of(value, width), width), width);
            scene.floats.push(term);
        }
        for _ in 0..2 + random.below(8) {
            scene.grow(random);
        }
        scene
    }

    fn grow(&mut self, random: &mut Random) {
        use FloatOp::{Add, Ceil, Div, Floor, Mul, RoundEven, Sqrt, Sub, Trunc};
        let ops = [Add, Sub, Mul, Div, Add, Sub, Mul, Div, Sqrt, Floor, Ceil, Trunc, RoundEven];
        let op = ops[random.below(ops.len() as u64) as usize];
        let (a, b) = (self.pick(random), self.pick(random));
        let term = match random.below(9) {
            0 => {
                let less = self.terms.float(FloatOp::Less, 1, &[a, b]);
                self.terms.if_then_else(less, a, b)
            }
            1 => {
                let (sum, half) = (self.terms.float(Add, self.width, &[a, b]), self.floats[3]);
                self.terms.float(Mul, self.width, &[sum, half])
            }
            2 => {
                let sign = self.terms.constant(semantics::signed_minimum(self.width), self.width);
                self.terms.binary(BinaryOp::Xor, a, sign)
            }
            4 => {
                let magnitude = self.terms.extract(a, 0, self.width - 1);
                self.terms.zero_extend(magnitude, self.width)
            }
            3 => {
                let distance = self.terms.float(Sub, self.width, &[b, a]);
                let part = self.pick(random);
                let part = self.terms.float(Mul, self.width, &[part, distance]);
                self.terms.float(Add, self.width, &[a, part])
            }
            _ => self.terms.float(op, self.width, &[a, b][..op.arity()]),
        };
        self.floats.push(term);
    }

    fn pick(&self, random: &mut Random) -> TermId {
        self.floats[random.below(self.floats.len() as u64) as usize]
    }

    /// Comparisons, each as it is at the point.
    fn constraints(&mut self, random: &mut Random) -> Vec<TermId> {
        let mut constraints = Vec::new();
        for _ in 0..2 + random.below(6) {
            let op = [FloatOp::Less, FloatOp::LessOrEqual, FloatOp::Equal][random.below(3) as usize];
            let (a, b) = (self.pick(random), self.pick(random));
            let condition = self.terms.float(op, 1, &[a, b]);
            let truth = evaluate(&self.terms, &self.model, condition) == 1;
            constraints.push(if truth { condition } else { self.terms.not(condition) });
        }
        constraints
    }
}

fn node_values(graph: &Graph, variables: &[VariableId], model: &Model) -> Vec<u128> {
    let mut values: Vec<u128> = Vec::new();
    for node in &graph.nodes {
        let known = |term: TermId| Ok::<_, ()>(values[term.index()]);
        let width_of = |term: TermId| graph.nodes[term.index()].width;
        let value = node_value(&node.kind, node.width, known, width_of, |id| model.get(variables[id.index()]));
        values.push(value.expect("operands come first"));
    }
    values
}

#[test]
fn order_loses_no_solution() {
    let mut random = Random(41);
    let mut found = 0;
    for case in 0..cases(60_000) {
        let mut scene = Scene::random(&mut random);
        let constraints = scene.constraints(&mut random);
        let (graph, variables) = wire::graph(&scene.terms, &constraints);
        let mut propagation = Propagation::new(&graph);
        let shown: Vec<String> =
            constraints.iter().map(|&constraint| scene.terms.display(constraint).to_string()).collect();
        let context = || format!("case {case}: {shown:?} at {:?}", scene.model);
        assert!(propagation.contract().is_some(), "contraction: {}", context());
        assert!(contract_by_order(&mut propagation).is_some(), "{}", context());
        let bases: Vec<TermId> = variable_nodes(&graph);
        assert!(contract_by_ratios(&mut propagation, &bases).is_some(), "ratios: {}", context());
        found += propagation.ordered.len();
        let values = node_values(&graph, &variables, &scene.model);
        for (place, &value) in values.iter().enumerate() {
            assert!(propagation.ranges[place].contains(value), "node {place}, {}", context());
            let float = propagation.floats[place];
            assert!(float.is_none_or(|float| float.contains(value)), "node {place}, {}", context());
        }
        for &(a, b) in &propagation.ordered {
            let width = graph.nodes[a.index()].width;
            let pair = [values[a.index()], values[b.index()]];
            assert_eq!(float_value(FloatOp::LessOrEqual, width, 1, &pair), 1, "{a:?} {b:?}, {}", context());
        }
    }
    assert!(found > 1000, "only {found} pairs of results are ordered");
}

/// Differences that are rounded up just above a power of two, and parts just below 1, are where it is closest.
#[test]
fn interpolation_stays_between() {
    let mut random = Random(43);
    for _ in 0..cases(400_000) {
        let width = [32, 64][random.below(2) as usize];
        let one = place_of(1.0, width);
        let part = bits(one - 1 - (random.below(1 << 20) >> random.below(21)) as i64, width);
        let from = random.float(width);
        let to = match random.below(3) {
            0 => random.float(width),
            1 => from.wrapping_add(u128::from(random.below(9))).wrapping_sub(4) & semantics::mask(width),
            _ => {
                let power = bits(place_of(2_f64.powi(random.below(60) as i32 - 30), width), width);
                let sum = float_value(FloatOp::Add, width, width, &[from, power]);
                sum.wrapping_add(u128::from(random.below(5))).wrapping_sub(2) & semantics::mask(width)
            }
        };
        let [a, b, t] = [from, to, part].map(|value| float_forward::constant(value, width));
        let apply = |op: FloatOp, x: u128, y: u128| float_value(op, width, width, &[x, y]);
        let result = apply(FloatOp::Add, from, apply(FloatOp::Mul, part, apply(FloatOp::Sub, to, from)));
        let range = float_forward::interpolated(a, b, t);
        assert!(range.contains(result), "{from:#x} {to:#x} {part:#x}: {result:#x} not in {range:?}");
    }
    // A part of 1 may go beyond, and so may a difference that overflows.
    let full = float_forward::interpolated(
        float_forward::constant(bits(-1 - (infinity(64) - 1), 64), 64),
        float_forward::constant(bits(infinity(64) - 1, 64), 64),
        float_forward::constant(bits(place_of(0.5, 64), 64), 64),
    );
    assert!(full.contains(bits(infinity(64), 64)));
}

/// A sum of multiples of one number, in the whole range in which it does not overflow.
#[test]
fn ratios_refute_for_all_sizes() {
    for (least, most, refuted) in
        [(1.0, 1e300, true), (-1e300, -1e-300, true), (1.0, f64::MAX, false), (0.0, 1.0, false)]
    {
        let mut terms = Terms::new();
        let x = terms.variable("x", 64);
        let [two, least, most] = [2.0_f64, least, most].map(|value| terms.constant(u128::from(value.to_bits()), 64));
        let half = terms.float(FloatOp::Div, 64, &[x, two]);
        let sum = terms.float(FloatOp::Add, 64, &[half, x]);
        let part = terms.float(FloatOp::Div, 64, &[sum, two]);
        let constraints = [
            terms.float(FloatOp::LessOrEqual, 1, &[least, x]),
            terms.float(FloatOp::LessOrEqual, 1, &[x, most]),
            terms.float(FloatOp::Equal, 1, &[part, x]),
        ];
        let (graph, _) = wire::graph(&terms, &constraints);
        let mut propagation = Propagation::new(&graph);
        assert!(propagation.contract().is_some(), "bounds suffice");
        assert_eq!(contract_by_ratios(&mut propagation, &variable_nodes(&graph)).is_none(), refuted, "{least:?}");
    }
}

/// What no bounds of single terms exclude.
#[test]
fn contradictions_in_the_order_are_found() {
    let excluded = |build: &dyn Fn(&mut Terms, TermId, TermId) -> Vec<TermId>| {
        let mut terms = Terms::new();
        let (x, y) = (terms.variable("x", 64), terms.variable("y", 64));
        let constraints = build(&mut terms, x, y);
        let (graph, _) = wire::graph(&terms, &constraints);
        let mut propagation = Propagation::new(&graph);
        propagation.contract().is_none() || contract_by_order(&mut propagation).is_none()
    };
    let constant = |terms: &mut Terms, value: f64| terms.constant(u128::from(value.to_bits()), 64);
    let binary = |terms: &mut Terms, op: FloatOp, a, b| terms.float(op, 64, &[a, b]);
    let less = |terms: &mut Terms, a, b| terms.float(FloatOp::Less, 1, &[a, b]);
    assert!(excluded(&|terms, x, y| vec![less(terms, x, y), less(terms, y, x)]));
    // A lens: 1 / x < 1 / y although y > x > 0.
    assert!(excluded(&|terms, x, y| {
        let (zero, one) = (constant(terms, 0.0), constant(terms, 1.0));
        let (left, right) = (binary(terms, FloatOp::Div, one, x), binary(terms, FloatOp::Div, one, y));
        let difference = binary(terms, FloatOp::Sub, left, right);
        vec![less(terms, zero, x), less(terms, x, y), less(terms, difference, zero)]
    }));
    // A number that is not positive, the opposite of another that its magnitude is above.
    assert!(excluded(&|terms, x, y| {
        let zero = constant(terms, 0.0);
        let sign = terms.constant(semantics::signed_minimum(64), 64);
        let negative = terms.binary(BinaryOp::Xor, y, sign);
        let magnitude = terms.extract(x, 0, 63);
        let magnitude = terms.zero_extend(magnitude, 64);
        let equal = terms.float(FloatOp::Equal, 1, &[x, negative]);
        vec![terms.float(FloatOp::LessOrEqual, 1, &[x, zero]), less(terms, y, magnitude), equal]
    }));
    // Half of a number of at least 1 that is not below it.
    assert!(excluded(&|terms, x, _| {
        let (zero, one, two) = (constant(terms, 0.0), constant(terms, 1.0), constant(terms, 2.0));
        let sum = binary(terms, FloatOp::Add, zero, x);
        let half = binary(terms, FloatOp::Div, sum, two);
        let half = binary(terms, FloatOp::Mul, one, half);
        let equal = terms.float(FloatOp::Equal, 1, &[half, x]);
        vec![terms.float(FloatOp::LessOrEqual, 1, &[one, x]), less(terms, x, half), terms.not(equal)]
    }));
    // A mean beyond the greater of two numbers below 1000.
    assert!(excluded(&|terms, x, y| {
        let (two, most) = (constant(terms, 2.0), constant(terms, 1000.0));
        let sum = binary(terms, FloatOp::Add, x, y);
        let mean = binary(terms, FloatOp::Div, sum, two);
        vec![less(terms, x, y), less(terms, y, most), less(terms, y, mean)]
    }));
    // Of any numbers it is not excluded: the sum may overflow.
    assert!(!excluded(&|terms, x, y| {
        let two = constant(terms, 2.0);
        let sum = binary(terms, FloatOp::Add, x, y);
        let mean = binary(terms, FloatOp::Div, sum, two);
        vec![less(terms, x, y), less(terms, y, mean)]
    }));
}

/// The same operator on floats of both widths: neither result is known to be below the other.
#[test]
fn floats_of_two_widths_have_no_common_order() {
    let mut terms = Terms::new();
    let mut constraints = Vec::new();
    for width in [32, 64] {
        let variable = terms.variable("x", width);
        let floor = terms.float(FloatOp::Floor, width, &[variable]);
        let ends = [3.0, 50.0].map(|end| terms.constant(bits(place_of(end, width), width), width));
        constraints.push(terms.float(FloatOp::LessOrEqual, 1, &[ends[0], floor]));
        constraints.push(terms.float(FloatOp::LessOrEqual, 1, &[floor, ends[1]]));
    }
    let (graph, _) = wire::graph(&terms, &constraints);
    let mut propagation = Propagation::new(&graph);
    assert!(propagation.contract().is_some() && contract_by_order(&mut propagation).is_some());
    assert_eq!(propagation.ordered, []);
}
