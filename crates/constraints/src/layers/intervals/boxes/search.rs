use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::cell::{Cell, End, Values, pivots, variable_nodes};
use super::descent::Descent;
use super::effort::Effort;
use super::evaluation::Evaluation;
use super::tactics::{BoxTactics, Filtering, SplittingOrder, Traversal};
use crate::floats::FloatOp;
use crate::layers::intervals::domain::{Domain, Points};
use crate::layers::intervals::order::contract_by_order;
use crate::layers::intervals::propagation::Propagation;
use crate::layers::intervals::ratio::contract_by_ratios;
use crate::smt::wire::{Graph, GraphNode};
use crate::terms::{TermId, TermKind};

/// A box of so few points is searched from end to end.
const FEW_POINTS: u128 = 32;

/// How many boxes are split between two looks for a point by labelling.
const BOXES_PER_LABELLING: u64 = 16;

/// What overflows, and what is neither less nor greater than anything.
const SPECIALS: [f64; 5] = [f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

pub(super) enum Found {
    /// A value for each variable that satisfies the constraints.
    Point(Vec<u128>),
    /// No box is left.
    Nothing,
    Open,
}

/// A box that is still to be split, and the distance of a point of it.
struct Pending {
    distance: f64,
    number: u64,
    cell: Cell,
    /// The variable whose turn it is to be split.
    turn: usize,
}

pub(super) struct Search<'a> {
    graph: &'a Graph,
    hint: &'a [u128],
    effort: Effort<'a>,
    tactics: BoxTactics,
    /// How often each variable occurs.
    uses: Vec<u32>,
    /// Floats of which other terms are taken for multiples.
    bases: Vec<TermId>,
    /// Of the variables, and after them the pivots.
    nodes: Vec<TermId>,
    variables: usize,
    /// Of going through all nodes once, both ways.
    cost: u64,
    /// Bounds that hold for all boxes.
    root: Propagation<'a>,
    present: Propagation<'a>,
    evaluation: Evaluation,
    pending: BinaryHeap<Pending>,
    boxes: u64,
    /// A box could not be searched to its end.
    open: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a Graph, hint: &'a [u128], effort: Effort<'a>, tactics: BoxTactics) -> Self {
        let root = Propagation::new(graph);
        let nodes = variable_nodes(graph);
        Self {
            graph,
            hint,
            effort,
            tactics,
            uses: uses(graph, &nodes),
            bases: Vec::new(),
            variables: nodes.len(),
            nodes,
            cost: graph.nodes.iter().map(node_cost).sum(),
            present: root.clone(),
            root,
            evaluation: Evaluation::default(),
            pending: BinaryHeap::new(),
            boxes: 0,
            open: false,
        }
    }

    pub(super) fn run(mut self) -> Found {
        let Some(cell) = self.contract_root() else { return Found::Nothing };
        let whole = self.effort.left();
        if let Some(point) =
            self.label(&cell).or_else(|| self.special_point(&cell)).or_else(|| self.push(cell.clone(), 0))
        {
            return Found::Point(point);
        }
        // Most refutations need few boxes; after those a descent finds what bisection would take long to.
        if let Some(found) = self.branch(whole / 8 * 7) {
            return found;
        }
        let mut descent =
            Descent::new(self.graph, self.hint, &cell[..self.variables], &mut self.evaluation, &mut self.effort);
        if let Some(point) = descent.run(whole / 8 * 5).or_else(|| descent.scatter(whole / 8 * 4)) {
            return Found::Point(point);
        }
        self.branch(0).unwrap_or(Found::Open)
    }

    fn contract_root(&mut self) -> Option<Cell> {
        self.root.contract()?;
        let looks = contract_by_order(&mut self.root)?;
        self.effort.spend(looks);
        self.present.ordered.clone_from(&self.root.ordered);
        self.bases = bases(&self.uses, &self.nodes, &self.root);
        self.spend_rounds();
        self.nodes.extend(pivots(self.graph, &self.root));
        Some(self.nodes.iter().map(|&node| Values::of(&self.root, node)).collect())
    }

    fn middle(&self, cell: &Cell) -> Vec<u128> {
        cell[..self.variables].iter().map(|values| values.middle()).collect()
    }

    fn spend_rounds(&mut self) {
        let rounds = self.root.rounds + self.present.rounds;
        (self.root.rounds, self.present.rounds) = (0, 0);
        self.effort.spend(rounds * self.cost);
    }

    fn spend_evaluation(&mut self) {
        self.effort.spend(self.graph.nodes.len() as u64);
    }

    /// Splits boxes until none is left, a point is found, or no more than this effort is left.
    fn branch(&mut self, reserve: u64) -> Option<Found> {
        while self.effort.left() > reserve {
            let Some(pending) = self.pending.pop() else {
                return Some(if self.open { Found::Open } else { Found::Nothing });
            };
            self.boxes += 1;
            if let Some(point) = self.visit(&pending.cell, pending.turn) {
                return Some(Found::Point(point));
            }
        }
        None
    }

    /// Contracts a box and splits what is left.
    fn visit(&mut self, cell: &Cell, turn: usize) -> Option<Vec<u128>> {
        let mut cell = self.contracted(cell)?;
        if self.tactics.filtering == Filtering::BothEnds {
            cell = self.without_empty_ends(cell)?;
        }
        let domains: Vec<Domain> = cell[..self.variables].iter().map(|values| values.domain()).collect();
        let points = Points::of(&domains).filter(|points| points.count <= FEW_POINTS);
        if let Some(mut points) = points {
            self.effort.spend(points.count as u64 * self.graph.nodes.len() as u64);
            return points.find(|point| self.evaluation.satisfies(self.graph, point));
        }
        if self.boxes.is_multiple_of(BOXES_PER_LABELLING)
            && let Some(point) = self.label(&cell)
        {
            return Some(point);
        }
        if let Some(pivot) = (self.variables..cell.len()).find(|&pivot| cell[pivot].crosses_zero()) {
            return self.push_parts(&cell, pivot, cell[pivot].signs(), turn);
        }
        let Some(split) = self.next_split(&cell[..self.variables], turn) else {
            // Only NaN are left, of which one stands for all.
            self.open = true;
            let point = self.middle(&cell);
            return self.evaluation.satisfies(self.graph, &point).then_some(point);
        };
        self.push_parts(&cell, split, cell[split].halves(), split + 1)
    }

    fn next_split(&self, cell: &[Values], turn: usize) -> Option<usize> {
        match self.tactics.split {
            SplittingOrder::Widest => widest(cell),
            SplittingOrder::Heaviest => {
                let open = (0..cell.len()).filter(|&variable| cell[variable].size() >= 0.0);
                let weight = |variable: usize| cell[variable].size() * f64::from(self.uses[variable]);
                open.max_by(|&a, &b| weight(a).total_cmp(&weight(b)).then(b.cmp(&a)))
            }
            SplittingOrder::InTurn => {
                let count = cell.len();
                (turn..turn + count).map(|variable| variable % count).find(|&variable| cell[variable].size() >= 0.0)
            }
            SplittingOrder::MostUsed => {
                let open = (0..cell.len()).filter(|&variable| cell[variable].size() >= 0.0);
                let by_size = |a: usize, b: usize| cell[a].size().total_cmp(&cell[b].size());
                open.max_by(|&a, &b| self.uses[a].cmp(&self.uses[b]).then(by_size(a, b)).then(b.cmp(&a)))
            }
        }
    }

    /// The box without ends of its variables in which contraction finds nothing.
    fn without_empty_ends(&mut self, mut cell: Cell) -> Option<Cell> {
        for variable in 0..self.variables {
            for end in [End::Low, End::High] {
                while let Some([outer, rest]) = cell[variable].end_and_rest(end) {
                    let mut tried = cell.clone();
                    tried[variable] = outer;
                    if self.effort.left() == 0 || self.contracted(&tried).is_some() {
                        break;
                    }
                    tried[variable] = rest;
                    cell = self.contracted(&tried)?;
                }
            }
        }
        Some(cell)
    }

    fn push_parts(
        &mut self,
        cell: &Cell,
        split: usize,
        parts: impl Iterator<Item = Values>,
        turn: usize,
    ) -> Option<Vec<u128>> {
        let mut parts = parts.map(|part| {
            let mut child = cell.clone();
            child[split] = part;
            child
        });
        parts.find_map(|child| self.push(child, turn))
    }

    /// The box without what the constraints exclude; none if that is everything.
    fn contracted(&mut self, cell: &Cell) -> Option<Cell> {
        self.present.ranges.clone_from(&self.root.ranges);
        self.present.floats.clone_from(&self.root.floats);
        let mut result = Some(());
        for (&node, &values) in self.nodes.iter().zip(cell) {
            result = result.and_then(|()| self.present.assume(node, values.range, values.float));
        }
        let result = result.and_then(|()| self.present.contract());
        let result = result.and_then(|()| self.contract_by_ratios());
        self.spend_rounds();
        result?;
        Some(self.nodes.iter().map(|&node| Values::of(&self.present, node)).collect())
    }

    fn contract_by_ratios(&mut self) -> Option<()> {
        self.present.changed = false;
        contract_by_ratios(&mut self.present, &self.bases)?;
        self.effort.spend(self.bases.len() as u64 * self.graph.nodes.len() as u64);
        if self.present.changed { self.present.contract() } else { Some(()) }
    }

    /// Keeps a box for later, unless its middle satisfies the constraints.
    fn push(&mut self, cell: Cell, turn: usize) -> Option<Vec<u128>> {
        let point = self.middle(&cell);
        let distance = self.evaluation.distance(self.graph, &point);
        self.spend_evaluation();
        if distance == 0.0 && self.evaluation.satisfies(self.graph, &point) {
            return Some(point);
        }
        let distance = if self.tactics.traversal == Traversal::Nearest { distance } else { 0.0 };
        let number = self.boxes;
        self.pending.push(Pending { distance, number, cell, turn });
        None
    }

    /// The hint with one float, or all, at a value that no range leads to: a NaN makes comparisons false, and infinite and
    /// greatest numbers overflow. So few points are tried whatever contraction has left of the effort.
    fn special_point(&mut self, cell: &Cell) -> Option<Vec<u128>> {
        let cell = &cell[..self.variables];
        let hint: Vec<u128> = cell.iter().zip(self.hint).map(|(values, &hint)| values.nearest(hint)).collect();
        for value in SPECIALS {
            let special: Vec<Option<u128>> = cell.iter().map(|values| values.special(value)).collect();
            let with = |chosen: &dyn Fn(usize) -> bool| -> Vec<u128> {
                let value = |variable: usize| special[variable].filter(|_| chosen(variable)).unwrap_or(hint[variable]);
                (0..hint.len()).map(value).collect()
            };
            let single = (0..hint.len()).filter(|&variable| special[variable].is_some());
            let points: Vec<Vec<u128>> =
                single.map(|only| with(&|variable| variable == only)).chain([with(&|_| true)]).collect();
            for point in points {
                self.spend_evaluation();
                if self.evaluation.satisfies(self.graph, &point) {
                    return Some(point);
                }
            }
        }
        None
    }

    /// Fixes one variable after the other, at the first of its labels that contraction does not exclude.
    fn label(&mut self, cell: &Cell) -> Option<Vec<u128>> {
        let mut cell = cell.clone();
        while let Some(variable) = narrowest(&cell[..self.variables]) {
            let fixed = cell[variable].labels(self.hint[variable]).into_iter().find_map(|label| {
                let mut tried = cell.clone();
                tried[variable] = tried[variable].only(label);
                if self.effort.left() > 0 { self.contracted(&tried) } else { None }
            });
            cell = fixed?;
        }
        let point = self.middle(&cell);
        self.spend_evaluation();
        self.evaluation.satisfies(self.graph, &point).then_some(point)
    }
}

/// In operations of about the same time: an operand of a library function is bisected in a hundred calls.
fn node_cost(node: &GraphNode) -> u64 {
    if matches!(node.kind, TermKind::Float(FloatOp::Library(_), ..)) { 200 } else { 2 }
}

fn uses(graph: &Graph, variables: &[TermId]) -> Vec<u32> {
    let mut uses = vec![0_u32; graph.nodes.len()];
    for node in &graph.nodes {
        node.kind.operands().for_each(|operand| uses[operand.index()] += 1);
    }
    variables.iter().map(|variable| uses[variable.index()]).collect()
}

/// Most variables that terms are multiples of: each costs a look at all nodes for each box.
const MOST_BASES: usize = 4;

/// The floats among the variables that occur more than once.
fn bases(uses: &[u32], variables: &[TermId], root: &Propagation<'_>) -> Vec<TermId> {
    let is_base = |&(&variable, &uses): &(&TermId, &u32)| uses > 1 && root.floats[variable.index()].is_some();
    variables.iter().zip(uses).filter(is_base).map(|(&variable, _)| variable).take(MOST_BASES).collect()
}

/// The variable with the most values.
fn widest(cell: &[Values]) -> Option<usize> {
    let open = (0..cell.len()).filter(|&variable| cell[variable].size() >= 0.0);
    open.max_by(|&a, &b| cell[a].size().total_cmp(&cell[b].size()).then(b.cmp(&a)))
}

/// The variable with the fewest values, of those that have several.
fn narrowest(cell: &[Values]) -> Option<usize> {
    let open = (0..cell.len()).filter(|&variable| cell[variable].size() >= 0.0);
    open.min_by(|&a, &b| cell[a].size().total_cmp(&cell[b].size()).then(a.cmp(&b)))
}

/// The nearest first; among equals the newest, which is the smallest.
impl Ord for Pending {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pending {}
