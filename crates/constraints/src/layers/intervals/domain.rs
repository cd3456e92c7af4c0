//! The values of one variable of a box, and of all of them.

use super::float_range::{self, FloatRange};
use super::range::Range;

/// The values of one variable, numbered.
#[derive(Copy, Clone)]
pub(super) enum Domain {
    Bits(Range),
    /// Without NaN, of which there are many.
    Floats(FloatRange),
}

impl Domain {
    /// The smaller one.
    pub(super) fn of(range: Range, float: Option<FloatRange>) -> Self {
        let bits = Domain::Bits(range);
        match float.filter(|float| !float.nan).map(Domain::Floats) {
            Some(floats) if floats.size() <= bits.size() => floats,
            _ => bits,
        }
    }

    /// One less than the number of values.
    pub(super) fn size(self) -> u128 {
        match self {
            Domain::Bits(range) => range.high - range.low,
            Domain::Floats(range) => (i128::from(range.high) - i128::from(range.low)) as u128,
        }
    }

    fn value(self, number: u128) -> u128 {
        match self {
            Domain::Bits(range) => range.low + number,
            Domain::Floats(range) => float_range::bits(range.low + number as i64, range.width),
        }
    }
}

/// All points of a box, one after the other: a value for each variable.
pub(super) struct Points<'a> {
    domains: &'a [Domain],
    pub count: u128,
    next: u128,
}

impl<'a> Points<'a> {
    /// `None` if there are too many to count.
    pub(super) fn of(domains: &'a [Domain]) -> Option<Self> {
        let sizes = domains.iter().map(|domain| domain.size().checked_add(1));
        let count = sizes.into_iter().try_fold(1_u128, |product, size| product.checked_mul(size?))?;
        Some(Points { domains, count, next: 0 })
    }
}

impl Iterator for Points<'_> {
    type Item = Vec<u128>;

    fn next(&mut self) -> Option<Vec<u128>> {
        if self.next == self.count {
            return None;
        }
        let mut rest = self.next;
        self.next += 1;
        let digit = |domain: &Domain| {
            let size = domain.size() + 1;
            let value = domain.value(rest % size);
            rest /= size;
            value
        };
        Some(self.domains.iter().map(digit).collect())
    }
}
