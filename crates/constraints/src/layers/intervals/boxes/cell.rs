//! A box: a domain for each variable. Halves cover it, and labels are points of a domain that are worth trying.

use crate::layers::intervals::domain::Domain;
use crate::layers::intervals::float_range::{FloatRange, bits, number, place_of};
use crate::layers::intervals::propagation::Propagation;
use crate::layers::intervals::range::Range;
use crate::smt::wire::Graph;
use crate::terms::{TermId, TermKind};

/// What one variable may be; both kinds of bounds hold.
#[derive(Copy, Clone, Debug)]
pub(super) struct Values {
    pub range: Range,
    pub float: Option<FloatRange>,
}

pub(super) type Cell = Vec<Values>;

/// An end of the values in their order.
#[derive(Copy, Clone, Debug)]
pub(super) enum End {
    Low,
    High,
}

/// The nodes of the variables, in the order of their numbers.
pub(in crate::layers::intervals) fn variable_nodes(graph: &Graph) -> Vec<TermId> {
    let nodes = graph.nodes.iter().enumerate();
    let variables = nodes.filter(|(_, node)| matches!(node.kind, TermKind::Variable(_)));
    variables.map(|(place, _)| TermId(place as u32)).collect()
}

/// Most nodes beside the variables that are split: each doubles the boxes.
const MOST_PIVOTS: usize = 6;

/// Floats that are used more than once: their sign decides that of products in which they occur twice, which the
/// variables show only when they are nearly points.
pub(super) fn pivots(graph: &Graph, propagation: &Propagation<'_>) -> Vec<TermId> {
    let mut uses = vec![0_u32; graph.nodes.len()];
    for node in &graph.nodes {
        node.kind.operands().for_each(|operand| uses[operand.index()] += 1);
    }
    let is_pivot = |place: &usize| {
        let used = uses[*place] > 1 && matches!(graph.nodes[*place].kind, TermKind::Float(..));
        used && propagation.floats[*place].is_some_and(crosses_zero)
    };
    (0..graph.nodes.len()).filter(is_pivot).take(MOST_PIVOTS).map(|place| TermId(place as u32)).collect()
}

fn crosses_zero(float: FloatRange) -> bool {
    float.low < 0 && float.high >= 0
}

impl Values {
    pub(super) fn crosses_zero(self) -> bool {
        self.float.is_some_and(crosses_zero)
    }

    /// On both sides of zero; a NaN is on one of them.
    pub(super) fn signs(self) -> impl Iterator<Item = Self> {
        let part = |float: FloatRange| Self { float: Some(float), ..self };
        let sides = self
            .float
            .map(|float| [part(FloatRange { low: 0, ..float }), part(FloatRange { high: -1, nan: false, ..float })]);
        sides.into_iter().flatten()
    }

    pub(super) fn of(propagation: &Propagation<'_>, node: TermId) -> Self {
        Self { range: propagation.ranges[node.index()], float: propagation.floats[node.index()] }
    }

    pub(super) fn domain(self) -> Domain {
        Domain::of(self.range, self.float)
    }

    /// Nothing but NaN, whose many bit patterns are not told apart.
    pub(super) fn is_nan(self) -> bool {
        self.float.is_some_and(|float| float.nan && !float.has_numbers())
    }

    /// The logarithm of the number of values; less than 0 if there is nothing to split.
    pub(super) fn size(self) -> f64 {
        match self.domain().size() {
            _ if self.is_nan() => -1.0,
            0 => -1.0,
            size => (size as f64).log2(),
        }
    }

    pub(super) fn only(self, value: u128) -> Self {
        let range = Range::point(value, self.range.width);
        Self { range, float: self.float.and_then(|_| FloatRange::of_bits(range)) }
    }

    /// Parts that cover it, two at most; the one that is tried first comes first.
    pub(super) fn halves(self) -> impl Iterator<Item = Self> {
        let floats = |float: FloatRange| Some(Self { float: Some(float), ..self });
        let bits = |part: Option<Range>| Some(Self { range: self.range.meet(part?)?, ..self });
        let halves = match (self.float, self.domain()) {
            (Some(float), _) if float.nan && float.has_numbers() => {
                [floats(FloatRange { nan: false, ..float }), floats(FloatRange::nothing_but_nan(float.width))]
            }
            (_, Domain::Floats(float)) => {
                let middle = middle_place(float);
                [floats(FloatRange { high: middle, ..float }), floats(FloatRange { low: middle + 1, ..float })]
            }
            (_, Domain::Bits(range)) if range.least < 0 && range.most >= 0 => {
                [bits(Range::signed(0, range.most, range.width)), bits(Range::signed(range.least, -1, range.width))]
            }
            (_, Domain::Bits(Range { low, high, width, .. })) => {
                let middle = low + (high - low) / 2;
                [bits(Range::unsigned(low, middle, width)), bits(Range::unsigned(middle + 1, high, width))]
            }
        };
        halves.into_iter().flatten()
    }

    /// An eighth at the lower or upper end, and the rest; none for few values and for those without one order.
    pub(super) fn end_and_rest(self, end: End) -> Option<[Self; 2]> {
        let eighth = self.domain().size() / 8;
        if eighth == 0 {
            return None;
        }
        match self.domain() {
            Domain::Floats(float) => {
                let part = |low, high| Self { float: Some(FloatRange { low, high, ..float }), ..self };
                let eighth = eighth as i64;
                Some(match end {
                    End::Low => [part(float.low, float.low + eighth), part(float.low + eighth + 1, float.high)],
                    End::High => [part(float.high - eighth, float.high), part(float.low, float.high - eighth - 1)],
                })
            }
            Domain::Bits(_) if self.float.is_some() => None,
            Domain::Bits(Range { low, high, width, .. }) => {
                let part =
                    |low, high| Some(Self { range: self.range.meet(Range::unsigned(low, high, width)?)?, ..self });
                Some(match end {
                    End::Low => [part(low, low + eighth)?, part(low + eighth + 1, high)?],
                    End::High => [part(high - eighth, high)?, part(low, high - eighth - 1)?],
                })
            }
        }
    }

    pub(super) fn nearest(self, hint: u128) -> u128 {
        match self.float {
            Some(float) => float.nearest(hint),
            None => self.range.nearest(hint),
        }
    }

    /// The middle in the order of the numbers.
    pub(super) fn middle(self) -> u128 {
        match (self.is_nan(), self.domain()) {
            (true, _) => self.nearest(0),
            (_, Domain::Floats(range)) => bits(middle_place(range), range.width),
            (_, Domain::Bits(range)) if self.float.is_some() || range.least < 0 && range.most >= 0 => self.nearest(0),
            (_, Domain::Bits(range)) => range.low + (range.high - range.low) / 2,
        }
    }

    /// The float of this kind (for the narrower floats, the greatest of theirs), if it is inside.
    pub(super) fn special(self, value: f64) -> Option<u128> {
        let float = self.float?;
        let value = match (float.width, value.is_finite()) {
            (32, true) => f64::from(f32::MAX).copysign(value),
            _ => value,
        };
        let special = if value.is_nan() {
            FloatRange::nothing_but_nan(float.width).nearest(0)
        } else {
            bits(place_of(value, float.width), float.width)
        };
        (float.contains(special) && self.range.contains(special)).then_some(special)
    }

    /// Points to try, the nicest first: the hint or what is nearest, small and round numbers, ends, middles.
    pub(super) fn labels(self, hint: u128) -> Vec<u128> {
        let mut labels = vec![self.nearest(hint)];
        match self.float {
            Some(float) if float.has_numbers() => labels.extend(float_labels(float)),
            Some(_) => {}
            None => labels.extend(integer_labels(self.range)),
        }
        labels.push(self.middle());
        let mut seen: Vec<u128> = Vec::new();
        labels.retain(|&label| self.range.contains(label) && !seen.contains(&label) && (seen.push(label), true).1);
        labels
    }
}

fn middle_place(range: FloatRange) -> i64 {
    (i128::from(range.low) + i128::from(range.high)).div_euclid(2) as i64
}

fn float_labels(range: FloatRange) -> Vec<u128> {
    let (low, high) = (number(range.low, range.width), number(range.high, range.width));
    let middle = low / 2.0 + high / 2.0;
    let round = [0.0, 1.0, middle.round(), middle, low.ceil(), high.floor()];
    let places = round.into_iter().filter(|value| !value.is_nan()).map(|value| place_of(value, range.width));
    let ends = [range.low, range.high, range.low.saturating_add(1), range.high.saturating_sub(1)];
    let inside = |place: &i64| (range.low..=range.high).contains(place);
    places.chain(ends).filter(inside).map(|place| bits(place, range.width)).collect()
}

fn integer_labels(range: Range) -> Vec<u128> {
    let middle = crate::semantics::truncate((range.least / 2 + range.most / 2) as u128, range.width);
    vec![0, 1, middle, range.low, range.high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::intervals::library_tests::Random;

    /// Every value is in one of the halves, and each of them is smaller.
    #[test]
    fn halves_cover_and_labels_are_inside() {
        let mut random = Random(7);
        for _ in 0..20_000 {
            let width = [8, 32, 64][random.below(3) as usize];
            let is_float = width != 8 && random.below(2) == 0;
            let value =
                if is_float { random.float(width) } else { u128::from(random.next()) & crate::semantics::mask(width) };
            let float = is_float.then(|| random.around(value, width));
            let range = match float {
                Some(float) => float.to_bits().expect("not empty"),
                None => {
                    let other = u128::from(random.next()) & crate::semantics::mask(width);
                    Range::point(value, width).hull(Range::point(other, width))
                }
            };
            let values = Values { range, float };
            let holds =
                |values: Values| values.range.contains(value) && values.float.is_none_or(|float| float.contains(value));
            assert!(holds(values));
            assert!(values.labels(value).iter().all(|&label| range.contains(label)));
            if values.size() >= 0.0 {
                let halves: Vec<Values> = values.halves().collect();
                assert!(halves.iter().copied().any(holds), "{values:?} {halves:?} {value:#x}");
                assert!(halves.iter().all(|half| half.size() < values.size()), "{values:?} {halves:?}");
            }
            for parts in [End::Low, End::High].into_iter().filter_map(|end| values.end_and_rest(end)) {
                assert!(parts.into_iter().any(holds), "{values:?} {parts:?} {value:#x}");
                assert!(parts.iter().all(|part| part.size() < values.size()), "{values:?} {parts:?}");
            }
        }
    }
}
