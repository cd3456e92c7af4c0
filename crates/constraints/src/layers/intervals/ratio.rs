//! Terms as multiples of one float. `(x / 2 + x) / 2 == x` is refuted at once for all `x` whose sums do not overflow, because the
//! left side is `x` times a number near 0.75; bounds of single terms show that only for one power of two after the other.

use super::float_propagation::{Signed, signed};
use super::float_range::{FloatRange, after, before, bottom, infinity, number, place_of};
use super::propagation::Propagation;
use super::range::Range;
use crate::floats::FloatOp;
use crate::smt::wire::GraphNode;
use crate::terms::{TermId, TermKind};

/// Real numbers between two bounds, which are finite.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    /// Bounds that were rounded to nearest, moved outwards.
    fn around(ends: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for end in ends {
            if !end.is_finite() {
                return None;
            }
            (low, high) = (low.min(end), high.max(end));
        }
        let (low, high) = (low.next_down(), high.next_up());
        (low.is_finite() && high.is_finite()).then_some(Self { low, high })
    }

    fn plus(self, other: Self) -> Option<Self> {
        Self::around([self.low + other.low, self.high + other.high])
    }

    fn minus(self, other: Self) -> Option<Self> {
        Self::around([self.low - other.high, self.high - other.low])
    }

    fn times(self, other: Self) -> Option<Self> {
        let Self { low, high } = other;
        Self::around([self.low * low, self.low * high, self.high * low, self.high * high])
    }

    fn over(self, other: Self) -> Option<Self> {
        let Self { low, high } = other;
        if low <= 0.0 && high >= 0.0 {
            return None;
        }
        Self::around([self.low / low, self.low / high, self.high / low, self.high / high])
    }

    /// What the numbers may be rounded to, where the error is at most half a unit in the last place of a normal number.
    fn rounded(self, width: u32) -> Option<Self> {
        let unit = if width == 64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
        self.times(Self { low: 1.0 - unit, high: 1.0 + unit })
    }

    fn meet(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// The numbers of a float; none if it may be a NaN or infinite.
fn numbers(float: Option<FloatRange>) -> Option<Interval> {
    let float = float.filter(|float| !float.nan && float.has_numbers())?;
    let finite = float.low > bottom(float.width) && float.high < infinity(float.width);
    finite.then(|| Interval { low: number(float.low, float.width), high: number(float.high, float.width) })
}

/// Whether a product or a quotient is normal, so that rounding changed it by a factor near 1.
fn is_normal(float: Option<FloatRange>) -> bool {
    float.is_some_and(|float| {
        let least =
            place_of(if float.width == 64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) }, float.width);
        float.low >= least || float.high < -least
    })
}

/// Takes from the bounds what multiples of each of these floats exclude; `None` if that is everything.
pub(super) fn contract_by_ratios(propagation: &mut Propagation<'_>, bases: &[TermId]) -> Option<()> {
    for &base in bases {
        let Some(unit) = numbers(propagation.floats[base.index()]) else { continue };
        if unit.low <= 0.0 && unit.high >= 0.0 {
            continue;
        }
        let ratios = Ratios::new(propagation, base, unit);
        ratios.narrow(propagation)?;
    }
    Some(())
}

struct Ratios {
    unit: Interval,
    /// By node: it is a finite number, the base times a number between these bounds.
    ratios: Vec<Option<Interval>>,
}

impl Ratios {
    fn new(propagation: &Propagation<'_>, base: TermId, unit: Interval) -> Self {
        let mut ratios = Self { unit, ratios: Vec::with_capacity(propagation.graph.nodes.len()) };
        for (place, node) in propagation.graph.nodes.iter().enumerate() {
            let ratio = if place == base.index() {
                Some(Interval { low: 1.0, high: 1.0 })
            } else {
                ratios.of_node(propagation, place, node)
            };
            ratios.ratios.push(ratio);
        }
        ratios
    }

    fn of_node(&self, propagation: &Propagation<'_>, place: usize, node: &GraphNode) -> Option<Interval> {
        let own = numbers(propagation.floats[place])?;
        let by_bounds = own.over(self.unit);
        let by_operands = self.of_result(propagation, place, node);
        match (by_bounds, by_operands) {
            (Some(one), Some(other)) => Some(one.meet(other)),
            (one, other) => one.or(other),
        }
    }

    fn of_result(&self, propagation: &Propagation<'_>, place: usize, node: &GraphNode) -> Option<Interval> {
        let ratio = |term: TermId| self.ratios[term.index()];
        let bounds = |term: TermId| numbers(propagation.floats[term.index()]);
        let normal = is_normal(propagation.floats[place]);
        match node.kind {
            // Sums that are not normal are exact.
            TermKind::Float(FloatOp::Add, a, Some(b), _) => ratio(a)?.plus(ratio(b)?)?.rounded(node.width),
            TermKind::Float(FloatOp::Sub, a, Some(b), _) => ratio(a)?.minus(ratio(b)?)?.rounded(node.width),
            TermKind::Float(FloatOp::Mul, a, Some(b), _) if normal => {
                let by = |a: TermId, b: TermId| ratio(a)?.times(bounds(b)?)?.rounded(node.width);
                match (by(a, b), by(b, a)) {
                    (Some(one), Some(other)) => Some(one.meet(other)),
                    (one, other) => one.or(other),
                }
            }
            TermKind::Float(FloatOp::Div, a, Some(b), _) if normal => ratio(a)?.over(bounds(b)?)?.rounded(node.width),
            TermKind::Float(FloatOp::Convert, a, ..) if normal => ratio(a)?.rounded(node.width),
            TermKind::IfThenElse { condition, then, otherwise } => match propagation.range(condition).as_point() {
                Some(1) => ratio(then),
                Some(_) => ratio(otherwise),
                None => Some(ratio(then)?.hull(ratio(otherwise)?)),
            },
            kind => match signed(propagation.graph, kind, node.width)? {
                Signed::Negated(a) => ratio(a).map(|Interval { low, high }| Interval { low: -high, high: -low }),
                Signed::Magnitude(_) => None,
            },
        }
    }

    fn narrow(&self, propagation: &mut Propagation<'_>) -> Option<()> {
        let graph = propagation.graph;
        for (place, node) in graph.nodes.iter().enumerate() {
            let TermKind::Float(op, a, Some(b), _) = node.kind else { continue };
            let term = TermId(place as u32);
            if matches!(op, FloatOp::Add | FloatOp::Sub) {
                if let Some(range) = self.ratios[place].and_then(|ratio| self.multiples(ratio, node.width)) {
                    propagation.narrow_float(term, range)?;
                }
            } else if let (Some(left), Some(right)) = (self.ratios[a.index()], self.ratios[b.index()])
                && let Some(truth) = self.compared(op, left, right)
            {
                propagation.narrow(term, Range::boolean(truth))?;
            }
        }
        Some(())
    }

    /// The floats that are the base times such a number.
    fn multiples(&self, ratio: Interval, width: u32) -> Option<FloatRange> {
        let Interval { low, high } = ratio.times(self.unit)?;
        let (low, high) = (before(place_of(low, width), width), after(place_of(high, width), width));
        Some(FloatRange::numbers(low, high, width).with_both_zeros())
    }

    /// A comparison, if the ratios decide it.
    fn compared(&self, op: FloatOp, left: Interval, right: Interval) -> Option<bool> {
        let (left, right) = if self.unit.low > 0.0 { (left, right) } else { (right, left) };
        let (less, greater) = (left.high < right.low, right.high < left.low);
        match op {
            FloatOp::Less if less => Some(true),
            FloatOp::Less if right.high <= left.low => Some(false),
            FloatOp::LessOrEqual if left.high <= right.low => Some(true),
            FloatOp::LessOrEqual if greater => Some(false),
            FloatOp::Equal if less || greater => Some(false),
            _ => None,
        }
    }
}
