//! What the program asks for while it runs: the values of feeds, and inputs that satisfy its preconditions.

use branchwise_constraints::{CompareOp, TermId};
use branchwise_program::FeedId;
use branchwise_program::code::Operand;
use branchwise_program::map::FeedOrigin;

use crate::executor::{Executor, Step};
use crate::inputs::{Cell, Content, ShapeId};
use crate::path::{AlternativeKind, FaultKind, PathEnd};
use crate::value::{Pointer, Value};

impl Executor<'_, '_> {
    /// The next value of a feed, at an address of the program's own.
    pub(crate) fn feed(&mut self, feed: FeedId, address: &Operand) -> Step<()> {
        let Value::Pointer(to) = self.value(address) else { return self.unsupported("a feed at a symbolic address") };
        self.feed_into(feed, to)
    }

    pub(crate) fn feed_into(&mut self, feed: FeedId, to: Pointer) -> Step<()> {
        let taken = self.feeds_taken.entry(feed).or_insert(0);
        let nth = *taken;
        *taken += 1;
        let program = self.session.program;
        let shape = self.session.inputs.feed_for(
            &mut self.session.terms,
            &program.map,
            feed,
            nth,
            self.session.pointer_elements,
        );
        self.filled.insert(shape);
        self.fill(shape, to.object, to.offset);
        match std::mem::take(&mut self.ends_sequence) {
            true => self.assume_end(shape),
            false => self.assume_result(feed, shape),
        }
    }

    /// The value of a feed is the zero that ends a sequence.
    fn assume_end(&mut self, shape: ShapeId) -> Step<()> {
        let cells = self.session.inputs.shape(shape).cells.as_deref().unwrap_or(&[]);
        let &[Cell { content: Content::Scalar { term, .. }, .. }] = cells else {
            return self.unsupported("a sequence that no number ends");
        };
        let ends = self.within(term, &[(0, 0)], false);
        self.require(ends)
    }

    /// A stub returns only what is declared of it.
    fn assume_result(&mut self, feed: FeedId, shape: ShapeId) -> Step<()> {
        let map = &self.session.program.map;
        let FeedOrigin::StubResult { function } = &map.feeds[feed].origin else { return Ok(()) };
        let Some(domain) = map.stub_results.get(function) else { return Ok(()) };
        let cells = self.session.inputs.shape(shape).cells.as_deref().unwrap_or(&[]);
        let integer = map.types[map.feeds[feed].type_id].as_integer();
        let (Some((_, signed)), &[Cell { content: Content::Scalar { term, .. }, .. }]) = (integer, cells) else {
            return self.unsupported(format!("declared results of '{function}', which returns no integer"));
        };
        let within = self.within(term, &domain.ranges, signed);
        self.require(within)
    }

    /// Whether the value of a term lies in one of these ranges.
    pub(crate) fn within(&mut self, term: TermId, ranges: &[(i128, i128)], signed: bool) -> TermId {
        let terms = &mut self.session.terms;
        let width = terms.width(term);
        let (at_most, least, most) = match signed {
            true => (CompareOp::Sle, -1 << (width - 1), !(-1 << (width - 1))),
            false => (CompareOp::Ule, 0, if width >= 127 { i128::MAX } else { (1 << width) - 1 }),
        };
        let mut within = terms.boolean(false);
        for (low, high) in ranges.iter().map(|&(low, high)| (low.max(least), high.min(most))) {
            if low > high {
                continue;
            }
            let (low, high) = (terms.constant(low as u128, width), terms.constant(high as u128, width));
            let (above, below) = (terms.compare(at_most, low, term), terms.compare(at_most, term, high));
            let inside = terms.and(above, below);
            within = terms.or(within, inside);
        }
        within
    }

    /// A precondition: inputs that break it are never generated.
    pub(crate) fn assume(&mut self, condition: &Operand) -> Step<()> {
        if self.frames.len() == 1 && self.calls_to_come == 0 {
            self.events_before_unit = self.events.len();
        }
        let holds = match self.value(condition) {
            Value::Bits(bits) => bits != 0,
            Value::Undefined => {
                return self
                    .fail(FaultKind::UninitialisedRead, "a value that was never written decides a precondition");
            }
            value => {
                let condition = self.is_not_zero(&value);
                self.decide(condition, [AlternativeKind::Rejected, AlternativeKind::Continue])?
            }
        };
        if holds { Ok(()) } else { Err(Box::new(PathEnd::Rejected)) }
    }

    /// Whether the path is evaluating a precondition; the driver calls the functions that check them.
    pub(crate) fn in_precondition(&self) -> bool {
        self.frames.get(1).is_some_and(|frame| self.session.shared.preconditions[frame.function])
    }

    /// What the end of a path means: an input for which a precondition cannot be evaluated does not satisfy it.
    pub(crate) fn judged(&mut self, end: PathEnd) -> PathEnd {
        self.notes.ended_in_precondition = self.in_precondition();
        match end {
            PathEnd::Fault(fault) if fault.kind != FaultKind::UninitialisedRead && self.in_precondition() => {
                PathEnd::Rejected
            }
            PathEnd::Exited { .. } if self.in_precondition() => PathEnd::Rejected,
            end => end,
        }
    }

    fn is_not_zero(&mut self, value: &Value) -> TermId {
        let term = self.as_term(value, 32);
        let zero = self.session.terms.constant(0, 32);
        let is_zero = self.session.terms.compare(CompareOp::Eq, term, zero);
        self.session.terms.not(is_zero)
    }
}
