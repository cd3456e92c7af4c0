//! Bounds in the order of floats, beside those of the bit patterns. A term has them if some operator takes it for a
//! float; the two kinds of bounds narrow each other.

use super::float_range::FloatRange;
use super::propagation::Propagation;
use super::range::Range;
use super::{float_backward, float_forward};
use crate::floats::FloatOp;
use crate::semantics;
use crate::smt::wire::{Graph, GraphNode};
use crate::terms::{BinaryOp, TermId, TermKind};

/// The full range for each node that is a float: operands and results of float operators, and what those are chosen from
/// or get their sign from.
pub(super) fn float_roles(graph: &Graph) -> Vec<Option<FloatRange>> {
    let mut floats = vec![None; graph.nodes.len()];
    for (place, node) in graph.nodes.iter().enumerate().rev() {
        let is_float = floats[place].is_some();
        let mut mark = |term: TermId| {
            let width = graph.nodes[term.index()].width;
            if matches!(width, 32 | 64) {
                floats[term.index()] = Some(FloatRange::full(width));
            }
        };
        match node.kind {
            TermKind::Float(op, ..) => {
                if has_float_operands(op) {
                    node.kind.operands().for_each(&mut mark);
                }
                if has_float_result(op) {
                    mark(TermId(place as u32));
                }
            }
            _ if !is_float => {}
            TermKind::IfThenElse { then, otherwise, .. } => [then, otherwise].into_iter().for_each(mark),
            kind => {
                if let Some(Signed::Negated(a) | Signed::Magnitude(a)) = signed(graph, kind, node.width) {
                    mark(a);
                }
            }
        }
    }
    floats
}

fn has_float_operands(op: FloatOp) -> bool {
    !matches!(op, FloatOp::FromSigned | FloatOp::FromUnsigned)
}

fn has_float_result(op: FloatOp) -> bool {
    !op.is_comparison() && !matches!(op, FloatOp::ToSigned | FloatOp::ToUnsigned)
}

/// A change of the sign, which is made on the bits.
pub(super) enum Signed {
    Negated(TermId),
    Magnitude(TermId),
}

pub(super) fn signed(graph: &Graph, kind: TermKind, width: u32) -> Option<Signed> {
    let constant = |term: TermId| match graph.nodes[term.index()].kind {
        TermKind::Constant(value) => Some(value),
        _ => None,
    };
    match kind {
        TermKind::Binary(BinaryOp::Xor, a, b) if constant(b) == Some(semantics::signed_minimum(width)) => {
            Some(Signed::Negated(a))
        }
        TermKind::ZeroExtend(inner) => match graph.nodes[inner.index()] {
            GraphNode { kind: TermKind::Extract { term, low: 0 }, width: bits }
                if bits == width - 1 && graph.nodes[term.index()].width == width =>
            {
                Some(Signed::Magnitude(term))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The operation that rounds to an integer and its operand, if the term is one.
fn rounding_of(graph: &Graph, term: TermId) -> Option<(FloatOp, TermId)> {
    use FloatOp::{Ceil, Floor, RoundAway, RoundEven, Trunc};
    match graph.nodes[term.index()].kind {
        TermKind::Float(op @ (Floor | Ceil | Trunc | RoundEven | RoundAway), a, ..) => Some((op, a)),
        _ => None,
    }
}

/// The two numbers and the factor of `from + part * (to - from)`, if the sum is one.
fn interpolation(graph: &Graph, a: TermId, b: Option<TermId>) -> Option<(TermId, TermId, TermId)> {
    let operands = |op: FloatOp, term: TermId| match graph.nodes[term.index()].kind {
        TermKind::Float(found, x, Some(y), None) if found == op => Some((x, y)),
        _ => None,
    };
    let b = b?;
    for (from, scaled) in [(a, b), (b, a)] {
        let Some((x, y)) = operands(FloatOp::Mul, scaled) else { continue };
        for (part, distance) in [(x, y), (y, x)] {
            if let Some((to, subtracted)) = operands(FloatOp::Sub, distance)
                && subtracted == from
            {
                return Some((from, to, part));
            }
        }
    }
    None
}

impl Propagation<'_> {
    fn float(&self, term: TermId) -> FloatRange {
        let width = self.graph.nodes[term.index()].width;
        self.floats[term.index()].unwrap_or(FloatRange::full(if width == 32 { 32 } else { 64 }))
    }

    /// The bounds of an operand; the first one stands for a second that is not there.
    fn operands(&self, a: TermId, b: Option<TermId>) -> (FloatRange, FloatRange, bool) {
        (self.float(a), self.float(b.unwrap_or(a)), b == Some(a))
    }

    /// Bounds from outside, of both kinds.
    pub(super) fn assume(&mut self, term: TermId, range: Range, float: Option<FloatRange>) -> Option<()> {
        self.narrow(term, range)?;
        float.map_or(Some(()), |float| self.narrow_float(term, float))
    }

    pub(super) fn narrow_float(&mut self, term: TermId, range: FloatRange) -> Option<()> {
        let Some(known) = self.floats[term.index()] else { return Some(()) };
        let met = known.meet(range)?;
        self.changed |= met != known;
        self.floats[term.index()] = Some(met);
        self.narrow(term, met.to_bits()?)
    }

    /// Bounds of the bits of a node, from its float bounds and the other way round.
    pub(super) fn forward_float(&mut self, place: usize, node: &GraphNode) -> Option<()> {
        if self.floats[place].is_none() {
            return Some(());
        }
        let term = TermId(place as u32);
        let range = match node.kind {
            TermKind::Constant(value) => float_forward::constant(value, node.width),
            // An integer whose bits are read as a float elsewhere.
            TermKind::Float(op, ..) if !has_float_result(op) => FloatRange::full(node.width),
            TermKind::Float(FloatOp::Convert, a, ..) => float_forward::convert(self.float(a), node.width),
            TermKind::Float(op @ (FloatOp::FromSigned | FloatOp::FromUnsigned), a, ..) => {
                float_forward::from_integer(op, self.range(a), node.width)
            }
            TermKind::Float(_, a, Some(b), Some(c)) => {
                float_forward::multiply_add(self.float(a), self.float(b), self.float(c))
            }
            TermKind::Float(op, a, b, _) => {
                let (left, right, same) = self.operands(a, b);
                let range = float_forward::arithmetic(op, left, right, same);
                match (op, b.and_then(|b| rounding_of(self.graph, b))) {
                    (FloatOp::Sub, Some((rounding, rounded))) if rounded == a => {
                        range.meet(float_forward::fraction(rounding, left))?
                    }
                    (FloatOp::Add, _) => match interpolation(self.graph, a, b) {
                        Some((from, to, part)) => {
                            let between =
                                float_forward::interpolated(self.float(from), self.float(to), self.float(part));
                            range.meet(between)?
                        }
                        None => range,
                    },
                    _ => range,
                }
            }
            TermKind::IfThenElse { condition, then, otherwise } => match self.range(condition).as_point() {
                Some(1) => self.float(then),
                Some(_) => self.float(otherwise),
                None => self.float(then).hull(self.float(otherwise)),
            },
            kind => match signed(self.graph, kind, node.width) {
                Some(Signed::Negated(a)) => self.float(a).negated_numbers(),
                Some(Signed::Magnitude(a)) => self.float(a).magnitude(),
                None => FloatRange::full(node.width),
            },
        };
        self.narrow_float(term, range)?;
        self.narrow_float(term, FloatRange::of_bits(self.range(term))?)
    }

    pub(super) fn backward_float(&mut self, place: usize, node: &GraphNode) -> Option<()> {
        if self.floats[place].is_none() {
            return Some(());
        }
        let term = TermId(place as u32);
        self.narrow_float(term, FloatRange::of_bits(self.range(term))?)?;
        let result = self.float(term);
        match node.kind {
            TermKind::Float(op, ..) if !has_float_result(op) => Some(()),
            TermKind::Float(FloatOp::Convert, a, ..) => {
                self.narrow_float(a, float_backward::convert(result, self.float(a))?)
            }
            TermKind::Float(op @ (FloatOp::FromSigned | FloatOp::FromUnsigned), a, ..) => {
                self.narrow(a, float_backward::from_integer(op, result, self.range(a))?)
            }
            TermKind::Float(op, a, b, None) => {
                let (left, right, same) = self.operands(a, b);
                self.narrow_floats(a, b, float_backward::arithmetic(op, result, left, right, same))
            }
            TermKind::IfThenElse { condition, then, otherwise } => {
                self.choose_float(result, condition, then, otherwise)
            }
            kind => match signed(self.graph, kind, node.width) {
                Some(Signed::Negated(a)) => self.narrow_float(a, result.negated_numbers()),
                Some(Signed::Magnitude(a)) => self.narrow_float(a, float_backward::magnitude(result, self.float(a))?),
                None => Some(()),
            },
        }
    }

    fn narrow_floats(&mut self, a: TermId, b: Option<TermId>, ranges: Option<float_backward::FloatPair>) -> Option<()> {
        let (left, right) = ranges?;
        self.narrow_float(a, left)?;
        match b {
            Some(b) => self.narrow_float(b, right),
            None => Some(()),
        }
    }

    pub(super) fn narrow_ordered(&mut self) -> Option<()> {
        for pair in 0..self.ordered.len() {
            let (a, b) = self.ordered[pair];
            let narrowed = float_backward::compare(FloatOp::LessOrEqual, true, self.float(a), self.float(b), false);
            self.narrow_floats(a, Some(b), narrowed)?;
        }
        Some(())
    }

    fn choose_float(&mut self, result: FloatRange, condition: TermId, then: TermId, otherwise: TermId) -> Option<()> {
        if result.meet(self.float(then)).is_none() {
            self.narrow(condition, Range::boolean(false))?;
        }
        if result.meet(self.float(otherwise)).is_none() {
            self.narrow(condition, Range::boolean(true))?;
        }
        match self.range(condition).as_point() {
            Some(1) => self.narrow_float(then, result),
            Some(_) => self.narrow_float(otherwise, result),
            None => Some(()),
        }
    }

    /// The bits of a result that is no float, or of one whose float bounds follow.
    pub(super) fn float_result(&self, op: FloatOp, a: TermId, b: Option<TermId>, width: u32) -> Range {
        let (left, right, same) = self.operands(a, b);
        match op {
            _ if op.is_comparison() => float_forward::compare(op, left, right, same),
            FloatOp::ToSigned | FloatOp::ToUnsigned => float_forward::to_integer(op, left, width),
            _ => Range::full(width),
        }
    }

    /// The operands of a comparison or of a conversion to an integer, from the bounds of its result.
    pub(super) fn narrow_converted(&mut self, op: FloatOp, result: Range, a: TermId, b: Option<TermId>) -> Option<()> {
        let (left, right, same) = self.operands(a, b);
        match op {
            FloatOp::ToSigned | FloatOp::ToUnsigned => {
                self.narrow_float(a, float_backward::to_integer(op, result, left)?)
            }
            _ if op.is_comparison() => match result.as_point() {
                Some(truth) => self.narrow_floats(a, b, float_backward::compare(op, truth == 1, left, right, same)),
                None => Some(()),
            },
            _ => Some(()),
        }
    }
}
