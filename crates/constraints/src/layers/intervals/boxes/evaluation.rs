//! The values of all nodes at one point, and how far the point is from satisfying the constraints.

use crate::floats::FloatOp;
use crate::layers::intervals::float_range::{is_nan, place};
use crate::model::node_value;
use crate::semantics;
use crate::smt::wire::{Graph, GraphNode};
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, UnaryOp};

/// How far a truth value is that no small change makes: about that of numbers at opposite ends.
const FAR: f64 = 65.0;

/// What is missing to make a boolean true, and to make it false; one of them is 0. The distance of numbers in steps
/// (units in the last place for floats), as a logarithm, so that no condition drowns the others.
#[derive(Copy, Clone, Default)]
struct Distance {
    to_true: f64,
    to_false: f64,
}

impl Distance {
    fn boolean(value: bool) -> Self {
        Self::to(!value, 1.0)
    }

    /// From a value that is true, or from one that is false.
    fn to(wanted: bool, distance: f64) -> Self {
        match wanted {
            true => Self { to_true: distance, to_false: 0.0 },
            false => Self { to_true: 0.0, to_false: distance },
        }
    }

    fn negated(self) -> Self {
        Self { to_true: self.to_false, to_false: self.to_true }
    }

    fn and(self, other: Self) -> Self {
        Self { to_true: self.to_true + other.to_true, to_false: self.to_false.min(other.to_false) }
    }

    fn or(self, other: Self) -> Self {
        self.negated().and(other.negated()).negated()
    }

    fn xor(self, other: Self) -> Self {
        self.and(other.negated()).or(self.negated().and(other))
    }
}

fn steps(distance: u128) -> f64 {
    (distance as f64 + 1.0).log2()
}

#[derive(Default)]
pub(super) struct Evaluation {
    values: Vec<u128>,
    distances: Vec<Distance>,
}

impl Evaluation {
    /// The distance of a point (a value for each variable) from satisfying all constraints; 0 if it does.
    pub(super) fn distance(&mut self, graph: &Graph, point: &[u128]) -> f64 {
        self.evaluate(graph, point);
        self.distances.clear();
        for (index, node) in graph.nodes.iter().enumerate() {
            let distance = if node.width == 1 { self.node_distance(graph, index, node) } else { Distance::default() };
            self.distances.push(distance);
        }
        graph.constraints.iter().map(|constraint| self.distances[constraint.index()].to_true).sum()
    }

    /// Whether the point satisfies all constraints.
    pub(super) fn satisfies(&mut self, graph: &Graph, point: &[u128]) -> bool {
        self.evaluate(graph, point);
        graph.constraints.iter().all(|constraint| self.values[constraint.index()] == 1)
    }

    fn evaluate(&mut self, graph: &Graph, point: &[u128]) {
        self.values.clear();
        for node in &graph.nodes {
            let known = |term: TermId| Ok::<_, ()>(self.values[term.index()]);
            let width_of = |term: TermId| graph.nodes[term.index()].width;
            let value = node_value(&node.kind, node.width, known, width_of, |id| point[id.index()]);
            self.values.push(value.unwrap_or(0));
        }
    }

    fn value(&self, term: TermId) -> u128 {
        self.values[term.index()]
    }

    fn node_distance(&self, graph: &Graph, index: usize, node: &GraphNode) -> Distance {
        let of = |term: TermId| self.distances[term.index()];
        let value = self.values[index] == 1;
        match node.kind {
            TermKind::Unary(UnaryOp::Not, a) => of(a).negated(),
            TermKind::Binary(BinaryOp::And, a, b) => of(a).and(of(b)),
            TermKind::Binary(BinaryOp::Or, a, b) => of(a).or(of(b)),
            TermKind::Binary(BinaryOp::Xor, a, b) => of(a).xor(of(b)),
            TermKind::Compare(op, a, b) => match graph.nodes[a.index()].width {
                1 if op == CompareOp::Eq => of(a).xor(of(b)).negated(),
                width => Distance::to(!value, between_integers(op, self.value(a), self.value(b), width)),
            },
            TermKind::IfThenElse { condition, then, otherwise } => {
                of(condition).and(of(then)).or(of(condition).negated().and(of(otherwise)))
            }
            TermKind::Float(op, a, b, _) if op.is_comparison() => {
                let width = graph.nodes[a.index()].width;
                Distance::to(!value, between_floats(op, self.value(a), self.value(b.unwrap_or(a)), width))
            }
            _ => Distance::boolean(value),
        }
    }
}

/// How far a comparison is from turning.
fn between_integers(op: CompareOp, a: u128, b: u128, width: u32) -> f64 {
    let unsigned = a.abs_diff(b);
    let signed = semantics::signed(a, width).abs_diff(semantics::signed(b, width));
    match op {
        CompareOp::Eq if a == b => 1.0,
        CompareOp::Eq => steps(unsigned.min(signed)),
        CompareOp::Ult | CompareOp::Ule => steps(unsigned.saturating_add(1)),
        CompareOp::Slt | CompareOp::Sle => steps(signed.saturating_add(1)),
    }
}

fn between_floats(op: FloatOp, a: u128, b: u128, width: u32) -> f64 {
    if op == FloatOp::Unordered || is_nan(a, width) || is_nan(b, width) {
        return FAR;
    }
    let distance = u128::from(place(a, width).abs_diff(place(b, width)));
    match op {
        FloatOp::Equal if distance <= 1 => 1.0,
        FloatOp::Equal => steps(distance),
        _ => steps(distance + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smt::wire;
    use crate::terms::Terms;

    #[test]
    fn a_point_is_at_no_distance_exactly_when_it_satisfies() {
        let mut terms = Terms::new();
        let (x, y) = (terms.variable("x", 8), terms.variable("y", 8));
        let (small, equal) = (terms.signed_less(x, y), terms.equal(x, y));
        let zero = terms.constant(0, 8);
        let positive = terms.unsigned_less(zero, y);
        let either = terms.or(small, equal);
        let other = terms.if_then_else(positive, small, equal);
        let (graph, _) = wire::graph(&terms, &[either, other]);
        let mut evaluation = Evaluation::default();
        for (x, y) in (0..=255).flat_map(|x| (0..=255).map(move |y| (x, y))) {
            let satisfies = evaluation.satisfies(&graph, &[x, y]);
            assert_eq!(evaluation.distance(&graph, &[x, y]) == 0.0, satisfies, "{x} {y}");
        }
    }

    #[test]
    fn nearer_floats_are_at_a_smaller_distance() {
        let mut terms = Terms::new();
        let x = terms.variable("x", 64);
        let ten = terms.constant(u128::from(10_f64.to_bits()), 64);
        let equal = terms.float(FloatOp::Equal, 1, &[x, ten]);
        let (graph, _) = wire::graph(&terms, &[equal]);
        let mut evaluation = Evaluation::default();
        let mut at = |x: f64| evaluation.distance(&graph, &[u128::from(x.to_bits())]);
        let distances = [at(f64::NAN), at(-10.0), at(0.0), at(9.0), at(9.99), at(10_f64.next_up().next_up()), at(10.0)];
        assert!(distances.windows(2).all(|pair| pair[0] > pair[1]), "{distances:?}");
    }
}
