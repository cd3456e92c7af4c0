//! Variables that need fewer bits than they have. Conditions over many paths compare and choose between numbers of 32 bits
//! that are places in a small array, or of which only the order counts.

use super::wire::{Graph, GraphNode};
use crate::layers::graph_bounds;
use crate::terms::{CompareOp, TermId, TermKind};

/// By variable, how many of its low bits are not zero in all models that need to be looked at; `None`: perhaps all.
pub(super) type Widths = Vec<Option<u32>>;

/// Widths that keep a model for each subset of the constraints that has one, so that cores stay what they are.
pub(super) fn widths_by_order(graph: &Graph) -> Widths {
    let mut classes = Classes::of(graph);
    let mut widths = vec![None; graph.variable_count as usize];
    for (place, node) in graph.nodes.iter().enumerate() {
        if let TermKind::Variable(id) = node.kind {
            widths[id.0 as usize] = classes.width(place).filter(|&bits| bits < node.width);
        }
    }
    widths
}

/// The same where the constraints are one whole: what bounds exclude no model has.
pub(super) fn widths_by_bounds(graph: &Graph) -> Widths {
    let mut widths = widths_by_order(graph);
    let Some(bounds) = graph_bounds(graph) else { return widths };
    let variables = graph.nodes.iter().filter(|node| matches!(node.kind, TermKind::Variable(_)));
    for ((width, bounds), variable) in widths.iter_mut().zip(bounds).zip(variables) {
        let bits = bits_of(bounds.unsigned.1);
        if width.is_none() && bits < variable.width {
            *width = Some(bits);
        }
    }
    widths
}

fn bits_of(greatest: u128) -> u32 {
    (u128::BITS - greatest.leading_zeros()).max(1)
}

/// In which order the numbers of a class are compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Order {
    /// They are only asked whether they are equal.
    None,
    Signed,
    Unsigned,
    /// In both, or more than their order counts.
    Mixed,
}

impl Order {
    fn and(self, other: Order) -> Order {
        match (self, other) {
            (Order::None, order) | (order, Order::None) => order,
            (here, there) if here == there => here,
            _ => Order::Mixed,
        }
    }
}

/// Nodes that are chosen between or compared with each other. Where a class has nothing but n variables, such choices
/// and comparisons in one order, each of its nodes is one of the variables in every model, and replacing their values by
/// others in the same order changes no comparison: the numbers below n are enough (the small model property of
/// formulas over an order). They are in that order whether they have a sign or not, since the bit of the sign is zero.
struct Classes {
    /// By node; a root is its own.
    parents: Vec<usize>,
    /// Of roots.
    orders: Vec<Order>,
    variables: Vec<u32>,
}

impl Classes {
    fn of(graph: &Graph) -> Self {
        let count = graph.nodes.len();
        let mut classes =
            Classes { parents: (0..count).collect(), orders: vec![Order::None; count], variables: vec![0; count] };
        for (place, node) in graph.nodes.iter().enumerate() {
            classes.add(graph, place, node);
        }
        classes
    }

    fn add(&mut self, graph: &Graph, place: usize, node: &GraphNode) {
        match node.kind {
            TermKind::Variable(_) => self.variables[place] = 1,
            TermKind::IfThenElse { then, otherwise, .. } => {
                self.unite(place, then);
                self.unite(place, otherwise);
            }
            // Equal truths are no numbers.
            TermKind::Compare(_, a, _) if graph.nodes[a.index()].width == 1 => {}
            TermKind::Compare(op, a, b) => {
                self.unite(a.index(), b);
                self.note(a.index(), order_of(op));
            }
            kind => {
                self.note(place, Order::Mixed);
                kind.operands().for_each(|operand| self.note(operand.index(), Order::Mixed));
            }
        }
    }

    fn root(&mut self, mut place: usize) -> usize {
        while self.parents[place] != place {
            // Path halving.
            self.parents[place] = self.parents[self.parents[place]];
            place = self.parents[place];
        }
        place
    }

    fn note(&mut self, place: usize, order: Order) {
        let root = self.root(place);
        self.orders[root] = self.orders[root].and(order);
    }

    fn unite(&mut self, place: usize, other: TermId) {
        let roots = (self.root(place), self.root(other.index()));
        let (root, gone) = (roots.0.min(roots.1), roots.0.max(roots.1));
        if root != gone {
            self.parents[gone] = root;
            self.variables[root] += self.variables[gone];
            self.note(root, self.orders[gone]);
        }
    }

    /// The bits that the numbers of this class need.
    fn width(&mut self, place: usize) -> Option<u32> {
        let root = self.root(place);
        let greatest = u128::from(self.variables[root].saturating_sub(1));
        (self.orders[root] != Order::Mixed).then(|| bits_of(greatest))
    }
}

fn order_of(op: CompareOp) -> Order {
    match op {
        CompareOp::Eq => Order::None,
        CompareOp::Ult | CompareOp::Ule => Order::Unsigned,
        CompareOp::Slt | CompareOp::Sle => Order::Signed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, holds};
    use crate::smt::wire::graph;
    use crate::terms::{BinaryOp, Terms, VariableId};

    const WIDTH: u32 = 3;
    const VARIABLES: u32 = 4;

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }
    }

    /// Choices between variables and comparisons of them; one in three with comparisons in both orders, constants or sums
    /// among them.
    fn random_constraints(random: &mut Random, terms: &mut Terms) -> Vec<TermId> {
        let mut known: Vec<TermId> = (0..VARIABLES).map(|_| terms.variable("x", WIDTH)).collect();
        let strange = random.below(3) == 0;
        let signed = random.below(2) == 0;
        let mut constraints = Vec::new();
        for _ in 0..8 {
            let (a, b) = (known[random.below(known.len())], known[random.below(known.len())]);
            let signed = if strange { random.below(2) == 0 } else { signed };
            let op = match (random.below(3), signed) {
                (0, _) => CompareOp::Eq,
                (1, true) => CompareOp::Slt,
                (_, true) => CompareOp::Sle,
                (1, false) => CompareOp::Ult,
                (_, false) => CompareOp::Ule,
            };
            let mut compared = terms.compare(op, a, b);
            if random.below(2) == 0 {
                compared = terms.not(compared);
            }
            match random.below(if strange { 4 } else { 2 }) {
                0 => constraints.push(compared),
                1 => {
                    let [then, otherwise] = [0; 2].map(|_| known[random.below(known.len())]);
                    known.push(terms.if_then_else(compared, then, otherwise));
                }
                2 => known.push(terms.constant(random.below(8) as u128, WIDTH)),
                _ => known.push(terms.binary(BinaryOp::Add, a, b)),
            }
        }
        constraints
    }

    fn has_model(terms: &Terms, constraints: &[TermId], most: &[u128]) -> bool {
        let points = most.iter().map(|most| most + 1).product::<u128>();
        let model = |mut point: u128| -> Model {
            let digits = most.iter().map(|most| {
                let digit = point % (most + 1);
                point /= most + 1;
                digit
            });
            (0..).map(VariableId).zip(digits).collect()
        };
        (0..points).any(|point| holds(terms, &model(point), constraints))
    }

    /// The greatest value of each variable of the arena under the widths.
    fn most(widths: &Widths, variables: &[VariableId]) -> Vec<u128> {
        let mut most = vec![(1 << WIDTH) - 1; VARIABLES as usize];
        for (width, variable) in widths.iter().zip(variables) {
            most[variable.0 as usize] = (1 << width.unwrap_or(WIDTH)) - 1;
        }
        most
    }

    /// By all points of random graphs, also for parts of the constraints.
    #[test]
    fn narrowed_variables_have_a_model_if_there_is_one() {
        let (mut random, mut narrowed, mut refuted) = (Random(5), 0, 0);
        for _ in 0..3_000 {
            let mut terms = Terms::new();
            let constraints = random_constraints(&mut random, &mut terms);
            let (graph, variables) = graph(&terms, &constraints);
            let all = vec![(1 << WIDTH) - 1; VARIABLES as usize];
            let feasible = has_model(&terms, &constraints, &all);
            refuted += usize::from(!feasible);
            let by_order = widths_by_order(&graph);
            narrowed += by_order.iter().flatten().count();
            for widths in [&by_order, &widths_by_bounds(&graph)] {
                assert_eq!(has_model(&terms, &constraints, &most(widths, &variables)), feasible, "{constraints:?}");
            }
            let part: Vec<TermId> = constraints.iter().copied().filter(|_| random.below(2) == 0).collect();
            let narrow = has_model(&terms, &part, &most(&by_order, &variables));
            assert_eq!(narrow, has_model(&terms, &part, &all), "{part:?}");
        }
        assert!(narrowed > 2_000 && refuted > 300, "{narrowed} variables narrowed, {refuted} refuted");
    }

    #[test]
    fn more_than_the_order_keeps_all_bits() {
        let mut terms = Terms::new();
        let [x, y, z, limit] = ["x", "y", "z", "limit"].map(|name| terms.variable(name, 32));
        let sum = terms.add(z, limit);
        let nine = terms.constant(9, 32);
        let constraints = [terms.signed_less(x, y), terms.unsigned_less(z, nine), terms.unsigned_less(nine, sum)];
        let (graph, _) = graph(&terms, &constraints);
        assert_eq!(widths_by_order(&graph), [Some(1), Some(1), None, None]);
        assert_eq!(widths_by_bounds(&graph), [Some(1), Some(1), Some(4), None]);
    }
}
