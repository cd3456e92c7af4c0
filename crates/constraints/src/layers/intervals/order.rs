//! Which floats of a query are never greater than which others. Rounding is monotone, so that `x <= y` gives
//! `x + z <= y + z`, `1 / y <= 1 / x` and the like for the rounded results too; bounds of single terms do not show that.

use std::collections::BTreeMap;

use super::float_propagation::{Signed, signed};
use super::float_range::{FloatRange, bits, infinity, number, place_of};
use super::propagation::Propagation;
use super::range::Range;
use crate::floats::FloatOp;
use crate::smt::wire::GraphNode;
use crate::terms::{TermId, TermKind};

/// Most floats that are compared with each other.
const MOST_FLOATS: usize = 256;

/// How often what follows from narrower bounds is looked for.
const MOST_PASSES: usize = 4;

type Set = [u64; MOST_FLOATS / 64];

fn has(set: &Set, index: usize) -> bool {
    set[index / 64] >> (index % 64) & 1 == 1
}

fn insert(set: &mut Set, index: usize) {
    set[index / 64] |= 1 << (index % 64);
}

fn members(set: Set) -> impl Iterator<Item = usize> {
    (0..MOST_FLOATS).filter(move |&index| has(&set, index))
}

/// A transitive relation: `a <= b`, and neither is a NaN, in every model.
pub(super) struct Order {
    /// By node, the number of a float.
    numbers: Vec<Option<usize>>,
    terms: Vec<TermId>,
    /// By float, which are not less, and which are not greater.
    above: Vec<Set>,
    below: Vec<Set>,
    /// What follows from two results of one operator, without what follows from that.
    results: Vec<(TermId, TermId)>,
    grown: bool,
    looks: u64,
}

/// Takes from the bounds what the order of the floats excludes, and leaves in `propagation` what helps to contract smaller boxes.
/// Returns how many pairs were looked at, or nothing if no model is left.
pub(super) fn contract_by_order(propagation: &mut Propagation<'_>) -> Option<u64> {
    let mut order = Order::new(propagation);
    for _ in 0..MOST_PASSES {
        order.grown = false;
        order.learn(propagation);
        order.narrow(propagation)?;
        propagation.ordered.clone_from(&order.results);
        propagation.contract()?;
        if !order.grown {
            break;
        }
    }
    Some(order.looks)
}

impl Order {
    fn new(propagation: &Propagation<'_>) -> Self {
        let mut order = Order {
            numbers: vec![None; propagation.floats.len()],
            terms: Vec::new(),
            above: Vec::new(),
            below: Vec::new(),
            results: Vec::new(),
            grown: false,
            looks: 0,
        };
        let floats = propagation.floats.iter().enumerate().filter(|(_, float)| float.is_some());
        for (place, _) in floats.take(MOST_FLOATS) {
            order.numbers[place] = Some(order.terms.len());
            order.terms.push(TermId(place as u32));
        }
        order.above = vec![Set::default(); order.terms.len()];
        order.below = order.above.clone();
        order
    }

    /// Adds a pair and all that follow from it by transitivity; whether it is new.
    fn add(&mut self, propagation: &Propagation<'_>, a: TermId, b: TermId) -> bool {
        let (Some(low), Some(high)) = (self.numbers[a.index()], self.numbers[b.index()]) else { return false };
        let is_number = |term: TermId| propagation.floats[term.index()].is_some_and(|float| !float.nan);
        if low == high || has(&self.above[low], high) || !is_number(a) || !is_number(b) {
            return false;
        }
        let mut lower = self.below[low];
        insert(&mut lower, low);
        let mut upper = self.above[high];
        insert(&mut upper, high);
        for one in members(lower) {
            for other in members(upper) {
                insert(&mut self.above[one], other);
                insert(&mut self.below[other], one);
            }
        }
        self.grown = true;
        true
    }

    /// Whether `a <= b` is known, from the order or from the bounds. Floats of two widths have no common order here, also
    /// where the same operator gave them.
    fn holds(&self, propagation: &Propagation<'_>, a: TermId, b: TermId) -> bool {
        let (Some(left), Some(right)) = (propagation.floats[a.index()], propagation.floats[b.index()]) else {
            return false;
        };
        if left.nan || right.nan || left.width != right.width {
            return false;
        }
        let ordered = match (self.numbers[a.index()], self.numbers[b.index()]) {
            (Some(a), Some(b)) => a == b || has(&self.above[a], b),
            _ => a == b,
        };
        ordered || left.high <= right.low || (left.high == 0 && right.low == -1)
    }

    fn learn(&mut self, propagation: &Propagation<'_>) {
        let nodes = &propagation.graph.nodes;
        for (place, node) in nodes.iter().enumerate() {
            self.learn_compared(propagation, place, node);
            self.learn_of_result(propagation, TermId(place as u32), node);
        }
        self.learn_opposites(propagation);
        let mut groups: BTreeMap<FloatOp, Vec<TermId>> = BTreeMap::new();
        for &term in &self.terms {
            if let TermKind::Float(op, ..) = nodes[term.index()].kind {
                groups.entry(op).or_default().push(term);
            }
        }
        for group in groups.values() {
            for (&first, &second) in group.iter().flat_map(|first| group.iter().map(move |second| (first, second))) {
                self.looks += 1;
                if first != second
                    && self.is_monotone(propagation, first, second)
                    && self.add(propagation, first, second)
                {
                    self.results.push((first, second));
                }
            }
        }
    }

    /// From a comparison whose truth is known.
    fn learn_compared(&mut self, propagation: &Propagation<'_>, place: usize, node: &GraphNode) {
        let TermKind::Float(op, a, Some(b), _) = node.kind else { return };
        let Some(truth) = propagation.ranges[place].as_point() else { return };
        match (op, truth == 1) {
            (FloatOp::Equal, true) => {
                self.add(propagation, a, b);
                self.add(propagation, b, a);
            }
            (FloatOp::Less | FloatOp::LessOrEqual, true) => {
                self.add(propagation, a, b);
            }
            (FloatOp::Less | FloatOp::LessOrEqual, false) => {
                self.add(propagation, b, a);
            }
            _ => {}
        }
    }

    /// A result beside its own operands.
    fn learn_of_result(&mut self, propagation: &Propagation<'_>, result: TermId, node: &GraphNode) {
        let size = |term: TermId| Size::of(propagation, term);
        let mut relate = |a: TermId, [greater, less]: [bool; 2]| {
            if greater {
                self.add(propagation, a, result);
            }
            if less {
                self.add(propagation, result, a);
            }
        };
        match node.kind {
            TermKind::Float(FloatOp::Add, a, Some(b), _) => {
                relate(a, [size(b).not_negative, size(b).not_positive]);
                relate(b, [size(a).not_negative, size(a).not_positive]);
            }
            TermKind::Float(FloatOp::Sub, a, Some(b), _) => relate(a, [size(b).not_positive, size(b).not_negative]),
            TermKind::Float(FloatOp::Mul, a, Some(b), _) => {
                relate(a, scaled(size(a), size(b)));
                relate(b, scaled(size(b), size(a)));
                self.learn_mean(propagation, result, a, b, 0.5);
                self.learn_mean(propagation, result, b, a, 0.5);
            }
            TermKind::Float(FloatOp::Div, a, Some(b), _) => {
                // A divisor may be zero, but not a negative one.
                let [greater, less] = scaled(size(a), size(b));
                relate(a, [less && size(b).plus, greater && size(b).plus]);
                self.learn_mean(propagation, result, a, b, 2.0);
            }
            TermKind::Float(FloatOp::Floor, a, ..) => relate(a, [false, true]),
            TermKind::Float(FloatOp::Ceil, a, ..) => relate(a, [true, false]),
            TermKind::IfThenElse { condition, then, otherwise } => match propagation.range(condition).as_point() {
                Some(1) => relate(then, [true, true]),
                Some(_) => relate(otherwise, [true, true]),
                None => {}
            },
            kind => {
                if let Some(Signed::Magnitude(a)) = signed(propagation.graph, kind, node.width) {
                    relate(a, [true, size(a).not_negative]);
                }
            }
        }
    }

    /// Numbers that are others with the sign changed: what is above those is below these.
    fn learn_opposites(&mut self, propagation: &Propagation<'_>) {
        let opposites: Vec<(TermId, TermId)> =
            self.terms.iter().filter_map(|&term| Some((term, opposite(propagation, term)?))).collect();
        for &(first, first_of) in &opposites {
            for &(second, second_of) in &opposites {
                self.looks += 1;
                if self.holds(propagation, first_of, second_of) {
                    self.add(propagation, second, first);
                }
                if self.holds(propagation, first_of, second) {
                    self.add(propagation, second_of, first);
                }
                if self.holds(propagation, second, first_of) {
                    self.add(propagation, first, second_of);
                }
            }
        }
    }

    /// Half of a sum of two numbers lies between them, because twice a number is exact, unless that is infinite.
    fn learn_mean(&mut self, propagation: &Propagation<'_>, mean: TermId, sum: TermId, by: TermId, constant: f64) {
        let nodes = &propagation.graph.nodes;
        let (TermKind::Float(FloatOp::Add, a, Some(b), _), TermKind::Constant(value)) =
            (nodes[sum.index()].kind, nodes[by.index()].kind)
        else {
            return;
        };
        let width = nodes[by.index()].width;
        if value != bits(place_of(constant, width), width) {
            return;
        }
        let half = place_of(number(infinity(width) - 1, width) / 2.0, width);
        for (low, high) in [(a, b), (b, a)] {
            if !self.holds(propagation, low, high) {
                continue;
            }
            if propagation.floats[low.index()].is_some_and(|float| float.low >= -1 - half) {
                self.add(propagation, low, mean);
            }
            if propagation.floats[high.index()].is_some_and(|float| float.high <= half) {
                self.add(propagation, mean, high);
            }
        }
    }

    /// Whether the first of two results of one operator is not greater because of their operands.
    fn is_monotone(&self, propagation: &Propagation<'_>, first: TermId, second: TermId) -> bool {
        use FloatOp::{Add, Ceil, Convert, Div, Floor, Mul, RoundAway, RoundEven, Sqrt, Sub, Trunc};
        let nodes = &propagation.graph.nodes;
        let le = |a: TermId, b: TermId| self.holds(propagation, a, b);
        match (nodes[first.index()].kind, nodes[second.index()].kind) {
            (TermKind::Float(Add, a, Some(b), _), TermKind::Float(_, x, Some(y), _)) => {
                (le(a, x) && le(b, y)) || (le(a, y) && le(b, x))
            }
            (TermKind::Float(Sub, a, Some(b), _), TermKind::Float(_, x, Some(y), _)) => le(a, x) && le(y, b),
            (TermKind::Float(Mul, a, Some(b), _), TermKind::Float(_, x, Some(y), _)) => {
                [([a, b], [x, y]), ([a, b], [y, x]), ([b, a], [x, y]), ([b, a], [y, x])]
                    .into_iter()
                    .any(|(first, second)| self.products_ordered(propagation, first, second))
            }
            (TermKind::Float(Div, a, Some(b), _), TermKind::Float(_, x, Some(y), _)) => {
                self.quotients_ordered(propagation, [a, b], [x, y])
            }
            (
                TermKind::Float(Sqrt | Floor | Ceil | Trunc | RoundEven | RoundAway | Convert, a, ..),
                TermKind::Float(_, x, ..),
            ) => le(a, x),
            _ => false,
        }
    }

    /// `a * b <= x * y`.
    fn products_ordered(&self, propagation: &Propagation<'_>, [a, b]: [TermId; 2], [x, y]: [TermId; 2]) -> bool {
        let size = |term: TermId| Size::of(propagation, term);
        let le = |a: TermId, b: TermId| self.holds(propagation, a, b);
        let growing = le(a, x) && le(b, y) && size(b).not_negative && size(x).not_negative;
        let by_one = b == y && (size(b).not_negative && le(a, x) || size(b).not_positive && le(x, a));
        growing || by_one
    }

    /// `a / b <= x / y`. A divisor may be zero if its sign is known.
    fn quotients_ordered(&self, propagation: &Propagation<'_>, [a, b]: [TermId; 2], [x, y]: [TermId; 2]) -> bool {
        let size = |term: TermId| Size::of(propagation, term);
        let le = |a: TermId, b: TermId| self.holds(propagation, a, b);
        let (plus, minus) = (size(b).plus && size(y).plus, size(b).minus && size(y).minus);
        let by_one = b == y && (plus && le(a, x) || minus && le(x, a));
        let growing = plus && size(a).not_negative && le(a, x) && le(y, b);
        let of_one =
            a == x && (plus || minus) && (size(a).not_negative && le(y, b) || size(a).not_positive && le(b, y));
        by_one || growing || of_one
    }

    /// Comparisons, differences and quotients whose operands are in order.
    fn narrow(&self, propagation: &mut Propagation<'_>) -> Option<()> {
        let graph = propagation.graph;
        for (place, node) in graph.nodes.iter().enumerate() {
            let TermKind::Float(op, a, Some(b), _) = node.kind else { continue };
            let term = TermId(place as u32);
            let (up, down) = (self.holds(propagation, a, b), self.holds(propagation, b, a));
            match op {
                FloatOp::Less if down => propagation.narrow(term, Range::boolean(false))?,
                FloatOp::LessOrEqual if up => propagation.narrow(term, Range::boolean(true))?,
                FloatOp::Equal if up && down => propagation.narrow(term, Range::boolean(true))?,
                FloatOp::Sub if up || down => {
                    propagation.narrow_float(term, difference(propagation, a, b, up, down))?
                }
                FloatOp::Div if up || down => {
                    let (size, by) = (Size::of(propagation, a), Size::of(propagation, b));
                    if size.not_negative && by.plus {
                        let one = place_of(1.0, node.width);
                        let whole = FloatRange::full(node.width);
                        let low = if down { one } else { whole.low };
                        let high = if up { one } else { whole.high };
                        propagation.narrow_float(term, FloatRange { low, high, ..whole })?;
                    }
                }
                _ => {}
            }
        }
        Some(())
    }
}

/// The number that this one is with the sign changed: of a magnitude, if it is not positive.
fn opposite(propagation: &Propagation<'_>, term: TermId) -> Option<TermId> {
    let node = &propagation.graph.nodes[term.index()];
    match signed(propagation.graph, node.kind, node.width)? {
        Signed::Negated(a) => Some(a),
        Signed::Magnitude(a) => Size::of(propagation, a).not_positive.then_some(a),
    }
}

/// `a - b`, where `a <= b` or `b <= a`: a negative zero only if it is `-0 - 0`, since equal numbers differ by the positive one.
fn difference(propagation: &Propagation<'_>, a: TermId, b: TermId, up: bool, down: bool) -> FloatRange {
    let zeros = |term: TermId| propagation.floats[term.index()].map_or((-1, 0), |float| (float.low, float.high));
    let ((a_low, a_high), (b_low, b_high)) = (zeros(a), zeros(b));
    let negative_zero = a_low <= -1 && a_high >= -1 && b_low <= 0 && b_high >= 0;
    let whole = FloatRange::full(propagation.graph.nodes[a.index()].width);
    let low = if down { -i64::from(negative_zero) } else { whole.low };
    let high = if up { 0 } else { whole.high };
    FloatRange { low, high, ..whole }
}

/// What the bounds of a float say of its sign and size; nothing of one that may be a NaN.
#[derive(Copy, Clone, Default)]
struct Size {
    /// Zeros of both signs are neither positive nor negative.
    not_negative: bool,
    not_positive: bool,
    /// The sign, also that of a zero.
    plus: bool,
    minus: bool,
    at_least_one: bool,
    at_most_one: bool,
}

impl Size {
    fn of(propagation: &Propagation<'_>, term: TermId) -> Self {
        match propagation.floats[term.index()] {
            Some(float) if !float.nan => {
                let one = place_of(1.0, float.width);
                Self {
                    not_negative: float.low >= -1,
                    not_positive: float.high <= 0,
                    plus: float.low >= 0,
                    minus: float.high <= -1,
                    at_least_one: float.low >= one,
                    at_most_one: float.high <= one,
                }
            }
            _ => Self::default(),
        }
    }
}

/// Whether a number times a factor that is not negative is never less than the number, and whether it is never greater.
fn scaled(number: Size, factor: Size) -> [bool; 2] {
    let (away, towards) = (factor.at_least_one, factor.not_negative && factor.at_most_one);
    [
        number.not_negative && away || number.not_positive && towards,
        number.not_negative && towards || number.not_positive && away,
    ]
}
