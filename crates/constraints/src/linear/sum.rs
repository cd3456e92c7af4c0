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
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (column, sum) = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(&&(a, x)), Some(&&(b, y))) if a == b => {
                    (left.next(), right.next());
                    (a, x.checked_add(y.checked_mul(factor)?)?)
                }
                (Some(&&(a, x)), later) if later.is_none_or(|&&(b, _)| a < b) => {
                    left.next();
                    (a, x)
                }
                (_, Some(&&(b, y))) => {
                    right.next();
                    (b, y.checked_mul(factor)?)
                }
                (Some(_), None) => unreachable!("the arm before takes it"),
            };
            if sum != 0 {
                terms.push((column, sum));
            }
        }
        Some(Sum { terms, constant })
    }

    /// The least and the greatest value within the bounds of the columns.
    pub(super) fn range(&self, columns: &[Column]) -> Option<(i128, i128)> {
        let (low, high) = range_of(&self.terms, columns)?;
        Some((low.checked_add(self.constant)?, high.checked_add(self.constant)?))
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
