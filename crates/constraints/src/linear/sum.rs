//! Integer linear sums over columns. What does not fit 128 bits is `None`, never wrapped.

use super::program::{Column, ColumnId};

/// `Σ factor · column + constant`: columns ascending, no factor zero.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Sum {
    pub terms: Vec<(ColumnId, i128)>,
    pub constant: i128,
}

impl Sum {
    pub(super) fn constant(constant: i128) -> Self {
        Self { terms: Vec::new(), constant }
    }

    pub(super) fn column(column: ColumnId) -> Self {
        Self { terms: vec![(column, 1)], constant: 0 }
    }

    /// `self + factor · other`.
    pub(super) fn plus(&self, other: &Sum, factor: i128) -> Option<Sum> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let terms = combination((&self.terms, 1), (&other.terms, factor))?;
        Some(Sum { terms, constant })
    }

    /// The least and the greatest value within the bounds of the columns.
    pub(super) fn range(&self, columns: &[Column]) -> Option<(i128, i128)> {
        let (low, high) = range_of(&self.terms, columns)?;
        Some((low.checked_add(self.constant)?, high.checked_add(self.constant)?))
    }
}

/// The sum of two lists of factors, each times a number. Both ascending, as is the result, in which no factor is zero.
pub(super) fn combination<Id: Copy + Ord>(
    (left, times_left): (&[(Id, i128)], i128),
    (right, times_right): (&[(Id, i128)], i128),
) -> Option<Vec<(Id, i128)>> {
    let mut sum = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (None, None) => return Some(sum),
            (Some((a, _)), Some((b, _))) => (*a).min(*b),
            (Some((only, _)), None) | (None, Some((only, _))) => *only,
        };
        let mut factor = 0_i128;
        if let Some((_, own)) = left.next_if(|(id, _)| *id == next) {
            factor = own.checked_mul(times_left)?;
        }
        if let Some((_, other)) = right.next_if(|(id, _)| *id == next) {
            factor = factor.checked_add(other.checked_mul(times_right)?)?;
        }
        if factor != 0 {
            sum.push((next, factor));
        }
    }
}

pub(super) fn range_of(terms: &[(ColumnId, i128)], columns: &[Column]) -> Option<(i128, i128)> {
    let (mut low, mut high) = (0_i128, 0_i128);
    for &(column, factor) in terms {
        let column = &columns[column.index()];
        let (least, most) = if factor > 0 { (column.low, column.high) } else { (column.high, column.low) };
        low = low.checked_add(factor.checked_mul(least)?)?;
        high = high.checked_add(factor.checked_mul(most)?)?;
    }
    Some((low, high))
}

pub(super) fn greatest_common_divisor(a: i128, b: i128) -> u128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Towards minus infinity, by a positive divisor.
pub(super) fn floor_division(a: i128, b: i128) -> i128 {
    a.div_euclid(b)
}

/// Towards plus infinity, by a positive divisor.
pub(super) fn ceiling_division(a: i128, b: i128) -> i128 {
    let quotient = a.div_euclid(b);
    if a.rem_euclid(b) == 0 { quotient } else { quotient + 1 }
}
