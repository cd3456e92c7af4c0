//! What the program asks for while it runs: the values of feeds, and inputs that satisfy its preconditions.

use branchwise_constraints::{CompareOp, TermId};
use branchwise_program::FeedId;
use branchwise_program::code::Operand;

use crate::executor::{Executor, Step};
use crate::path::{AlternativeKind, FaultKind, PathEnd};
use crate::value::{Pointer, Value};

impl Executor<'_, '_> {
    /// The next value of a feed, at an address of the program's own.
    pub(crate) fn feed(&mut self, feed: FeedId, address: &Operand) -> Step<()> {
        let Value::Pointer(to) = self.value(address) else { return self.unsupported("a feed at a symbolic address") };
        self.feed_into(feed, to);
        Ok(())
    }

    pub(crate) fn feed_into(&mut self, feed: FeedId, to: Pointer) {
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
    }

    /// A precondition: inputs that break it are never generated.
    pub(crate) fn assume(&mut self, condition: &Operand) -> Step<()> {
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

    fn is_not_zero(&mut self, value: &Value) -> TermId {
        let term = self.as_term(value, 32);
        let zero = self.session.terms.constant(0, 32);
        let is_zero = self.session.terms.compare(CompareOp::Eq, term, zero);
        self.session.terms.not(is_zero)
    }
}
