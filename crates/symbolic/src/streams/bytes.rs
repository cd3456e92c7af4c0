//! Classes of bytes, as conditions on a term of 8 bits, in the C locale.

use branchwise_constraints::{CompareOp, TermId};

use crate::executor::Executor;
use crate::streams::pieces::Digits;

impl Executor<'_, '_> {
    pub(crate) fn is_byte(&mut self, byte: TermId, value: u8) -> TermId {
        let value = self.session.terms.constant(u128::from(value), 8);
        self.session.terms.compare(CompareOp::Eq, byte, value)
    }

    pub(crate) fn is_between(&mut self, byte: TermId, low: u8, high: u8) -> TermId {
        if low == high {
            return self.is_byte(byte, low);
        }
        let terms = &mut self.session.terms;
        let (low, high) = (terms.constant(u128::from(low), 8), terms.constant(u128::from(high), 8));
        let (above, below) = (terms.compare(CompareOp::Ule, low, byte), terms.compare(CompareOp::Ule, byte, high));
        terms.and(above, below)
    }

    pub(crate) fn is_space(&mut self, byte: TermId) -> TermId {
        let blank = self.is_byte(byte, b' ');
        let other = self.is_between(byte, b'\t', b'\r');
        self.session.terms.or(blank, other)
    }

    pub(crate) fn is_digit_of(&mut self, byte: TermId, digits: Digits) -> TermId {
        match digits {
            Digits::Octal => self.is_between(byte, b'0', b'7'),
            Digits::Decimal => self.is_between(byte, b'0', b'9'),
            Digits::Hexadecimal => {
                let parts =
                    [(b'0', b'9'), (b'a', b'f'), (b'A', b'F')].map(|(low, high)| self.is_between(byte, low, high));
                self.session.terms.disjunction(&parts)
            }
        }
    }

    /// The byte or, in any case, the letter.
    pub(crate) fn is_letter(&mut self, byte: TermId, lower: u8) -> TermId {
        let (small, large) = (self.is_byte(byte, lower), self.is_byte(byte, lower.to_ascii_uppercase()));
        self.session.terms.or(small, large)
    }
}
