//! Contraction against enumeration: random graphs of all operators over two integers of 8 bits, or one of 16, whose 65,536
//! points are all tried. At every solution every node has a value within its bounds, and where there are no bounds there is
//! no solution. `BRANCHWISE_SOUNDNESS=N` takes N times as many problems.

use super::boxes::variable_nodes;
use super::library_tests::{Random, cases};
use super::order::contract_by_order;
use super::propagation::Propagation;
use super::ratio::contract_by_ratios;
use super::soundness_tests::float_widths;
use crate::floats::FloatOp;
use crate::library::MathFunction;
use crate::model::node_value;
use crate::smt::wire::{Graph, GraphNode};
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, UnaryOp, VariableId};

const POINTS: u32 = 1 << 16;

/// A graph that grows at its end.
struct Problem {
    graph: Graph,
}

impl Problem {
    fn random(random: &mut Random) -> Self {
        let widths: &[u32] = if random.below(3) == 0 { &[16] } else { &[8, 8] };
        let variable = |number: usize| TermKind::Variable(VariableId(number as u32));
        let nodes = widths.iter().enumerate().map(|(number, &width)| GraphNode { kind: variable(number), width });
        let graph = Graph { nodes: nodes.collect(), variable_count: widths.len() as u32, constraints: Vec::new() };
        let mut problem = Self { graph };
        for _ in 0..4 + random.below(12) {
            problem.grow(random);
        }
        problem.constrain(random);
        problem
    }

    fn add(&mut self, kind: TermKind, width: u32) -> TermId {
        self.graph.nodes.push(GraphNode { kind, width });
        TermId(self.graph.nodes.len() as u32 - 1)
    }

    fn width(&self, term: TermId) -> u32 {
        self.graph.nodes[term.index()].width
    }

    /// A node, the last ones more often.
    fn pick(&self, random: &mut Random) -> TermId {
        let count = self.graph.nodes.len() as u64;
        let back = random.below(count).min(random.below(count));
        TermId((count - 1 - back) as u32)
    }

    /// A node of this width, or a constant.
    fn pick_of(&mut self, random: &mut Random, width: u32) -> TermId {
        let fitting: Vec<TermId> = (0..self.graph.nodes.len() as u32).map(TermId).collect();
        let fitting: Vec<TermId> = fitting.into_iter().filter(|&term| self.width(term) == width).collect();
        if fitting.is_empty() || random.below(5) == 0 {
            let is_float = matches!(width, 32 | 64) && random.below(2) == 0;
            let value = if is_float { random.float(width) } else { random.integer(width) };
            return self.add(TermKind::Constant(value), width);
        }
        fitting[random.below(fitting.len() as u64) as usize]
    }

    fn grow(&mut self, random: &mut Random) {
        let a = self.pick(random);
        let width = self.width(a);
        let mut one_of = |count: usize| random.below(count as u64) as usize;
        let [binary, compare, unary] = [BinaryOp::ALL.len(), CompareOp::ALL.len(), UnaryOp::ALL.len()].map(&mut one_of);
        match one_of(12) {
            0..3 => {
                let b = self.pick_of(random, width);
                self.add(TermKind::Binary(BinaryOp::ALL[binary], a, b), width);
            }
            3..5 => {
                let b = self.pick_of(random, width);
                self.add(TermKind::Compare(CompareOp::ALL[compare], a, b), 1);
            }
            5 => {
                self.add(TermKind::Unary(UnaryOp::ALL[unary], a), width);
            }
            6 => {
                let (condition, otherwise) = (self.pick_of(random, 1), self.pick_of(random, width));
                self.add(TermKind::IfThenElse { condition, then: a, otherwise }, width);
            }
            7 => self.change_width(random, a),
            8 => {
                let function = MathFunction::ALL[random.below(MathFunction::ALL.len() as u64) as usize];
                self.add_float(random, FloatOp::Library(function));
            }
            _ => {
                let op = FloatOp::PLAIN[random.below(FloatOp::PLAIN.len() as u64) as usize];
                self.add_float(random, op);
            }
        }
    }

    fn change_width(&mut self, random: &mut Random, a: TermId) {
        let width = self.width(a);
        let wider: Vec<u32> = [8, 16, 32, 64].into_iter().filter(|&wide| wide > width).collect();
        let wide = wider.get(random.below(4) as usize).copied();
        match (random.below(4), wide) {
            (0, Some(wide)) => self.add(TermKind::ZeroExtend(a), wide),
            (1, Some(wide)) => self.add(TermKind::SignExtend(a), wide),
            (2, _) if width <= 32 => {
                let b = self.pick_of(random, width);
                self.add(TermKind::Concat { high: a, low: b }, 2 * width)
            }
            _ => {
                let narrow = 1 + random.below(u64::from(width)) as u32;
                let low = random.below(u64::from(width - narrow) + 1) as u32;
                self.add(TermKind::Extract { term: a, low }, narrow)
            }
        };
    }

    fn add_float(&mut self, random: &mut Random, op: FloatOp) {
        let widths: Vec<(u32, u32)> = float_widths(op).into_iter().filter(|(from, to)| from.max(to) <= &64).collect();
        let (from, to) = widths[random.below(widths.len() as u64) as usize];
        let operands: [Option<TermId>; 3] =
            std::array::from_fn(|place| (place < op.arity()).then(|| self.pick_of(random, from)));
        let [Some(a), b, c] = operands else { return };
        self.add(TermKind::Float(op, a, b, c), to);
    }

    /// Conditions as they are at some point; sometimes one as it is not there.
    fn constrain(&mut self, random: &mut Random) {
        let values = self.values(random.below(u64::from(POINTS)) as u32);
        let booleans: Vec<TermId> =
            (0..values.len() as u32).map(TermId).filter(|&term| self.width(term) == 1).collect();
        for &term in booleans.iter().rev().take(4) {
            let holds = (values[term.index()] == 1) ^ (random.below(12) == 0);
            let constraint = if holds { term } else { self.add(TermKind::Unary(UnaryOp::Not, term), 1) };
            self.graph.constraints.push(constraint);
        }
    }

    /// Of all nodes at a point, whose bits are those of the variables.
    fn values(&self, point: u32) -> Vec<u128> {
        let mut values: Vec<u128> = Vec::with_capacity(self.graph.nodes.len());
        let variable =
            |id: VariableId| u128::from(if self.width(TermId(0)) == 8 { point >> (8 * id.0) } else { point });
        for node in &self.graph.nodes {
            let known = |term: TermId| Ok::<_, ()>(values[term.index()]);
            let value = node_value(&node.kind, node.width, known, |term| self.width(term), variable);
            values.push(value.expect("operands come first"));
        }
        values
    }

    fn contracted(&self) -> Option<Propagation<'_>> {
        let mut propagation = Propagation::new(&self.graph);
        propagation.contract()?;
        contract_by_order(&mut propagation)?;
        contract_by_ratios(&mut propagation, &variable_nodes(&self.graph))?;
        Some(propagation)
    }
}

#[test]
fn contraction_keeps_every_solution() {
    let mut random = Random(61);
    let (mut solutions, mut refuted) = (0_u64, 0_u64);
    for number in 0..cases(200) {
        let problem = Problem::random(&mut random);
        let contracted = problem.contracted();
        refuted += u64::from(contracted.is_none());
        for point in 0..POINTS {
            let values = problem.values(point);
            if problem.graph.constraints.iter().any(|constraint| values[constraint.index()] != 1) {
                continue;
            }
            solutions += 1;
            let Some(bounds) = &contracted else { panic!("problem {number} has {point:#x}: {:?}", problem.graph) };
            for (place, &value) in values.iter().enumerate() {
                let float = bounds.floats[place].is_none_or(|float| float.contains(value));
                let kept = float && bounds.ranges[place].contains(value);
                assert!(kept, "problem {number}, point {point:#x}, node {place}: {:?}", problem.graph);
            }
        }
    }
    assert!(solutions > 1_000_000 && refuted > 5, "{solutions} solutions, {refuted} problems refuted");
}
