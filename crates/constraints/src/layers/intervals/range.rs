//! Sets of values that are an interval in the unsigned order and one in the signed order.

use crate::semantics;

/// Values of one width between bounds in both orders. Never empty: what would be is `None`. Each bound is as tight
/// as the other order makes it when the values have one sign.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub width: u32,
    pub low: u128,
    pub high: u128,
    pub least: i128,
    pub most: i128,
}

impl Range {
    pub(super) fn full(width: u32) -> Self {
        let (least, most) = signed_limits(width);
        Self { width, low: 0, high: semantics::mask(width), least, most }
    }

    pub(super) fn point(value: u128, width: u32) -> Self {
        let signed = semantics::signed(value, width);
        Self { width, low: value, high: value, least: signed, most: signed }
    }

    pub(super) fn boolean(value: bool) -> Self {
        Self::point(u128::from(value), 1)
    }

    /// The values from `low` to `high` that fit the width.
    pub(super) fn unsigned(low: u128, high: u128, width: u32) -> Option<Self> {
        let high = high.min(semantics::mask(width));
        Self { low, high, ..Self::full(width) }.tightened()
    }

    /// The values from `least` to `most` that fit the width.
    pub(super) fn signed(least: i128, most: i128, width: u32) -> Option<Self> {
        let (smallest, greatest) = signed_limits(width);
        Self { least: least.max(smallest), most: most.min(greatest), ..Self::full(width) }.tightened()
    }

    pub(super) fn as_point(&self) -> Option<u128> {
        (self.low == self.high).then_some(self.low)
    }

    pub(super) fn is_true(&self) -> bool {
        self.low == 1
    }

    pub(super) fn is_false(&self) -> bool {
        self.high == 0
    }

    pub(super) fn contains(&self, value: u128) -> bool {
        let signed = semantics::signed(value, self.width);
        self.low <= value && value <= self.high && self.least <= signed && signed <= self.most
    }

    /// Whether the other range leaves nothing of this one out, so that it would be what they have in common.
    pub(super) fn is_within(&self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high && other.least <= self.least && self.most <= other.most
    }

    pub(super) fn meet(self, other: Self) -> Option<Self> {
        let met = Self {
            width: self.width,
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            least: self.least.max(other.least),
            most: self.most.min(other.most),
        };
        met.tightened()
    }

    /// The smallest range that holds both.
    pub(super) fn hull(self, other: Self) -> Self {
        Self {
            width: self.width,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    /// Without a value that is the bound of the range in one of the orders.
    pub(super) fn without(self, value: u128) -> Option<Self> {
        let signed = semantics::signed(value, self.width);
        let mut left = self;
        if left.as_point() == Some(value) {
            return None;
        }
        // A range of several values has an inner neighbour for each bound, so that none of these overflows.
        left.low += u128::from(left.low == value);
        left.high -= u128::from(left.high == value);
        if left.least < left.most {
            left.least += i128::from(left.least == signed);
            left.most -= i128::from(left.most == signed);
        }
        left.tightened()
    }

    /// The value of the range that is nearest to this one, going down or up; the least in the worst case.
    pub(super) fn nearest(&self, value: u128) -> u128 {
        let signed = semantics::signed(value, self.width).clamp(self.least, self.most);
        let clamped = semantics::truncate(signed as u128, self.width).clamp(self.low, self.high);
        if self.contains(clamped) { clamped } else { self.low }
    }

    /// Carries bounds from each order to the other while all values have one sign.
    fn tightened(mut self) -> Option<Self> {
        for _ in 0..2 {
            if self.low > self.high || self.least > self.most {
                return None;
            }
            self = self.signed_from_unsigned().unsigned_from_signed();
        }
        (self.low <= self.high && self.least <= self.most).then_some(self)
    }

    fn signed_from_unsigned(mut self) -> Self {
        let half = semantics::signed_minimum(self.width);
        if self.high < half || self.low >= half {
            self.least = self.least.max(semantics::signed(self.low, self.width));
            self.most = self.most.min(semantics::signed(self.high, self.width));
        }
        self
    }

    fn unsigned_from_signed(mut self) -> Self {
        if self.least >= 0 || self.most < 0 {
            self.low = self.low.max(semantics::truncate(self.least as u128, self.width));
            self.high = self.high.min(semantics::truncate(self.most as u128, self.width));
        }
        self
    }
}

pub(super) fn signed_limits(width: u32) -> (i128, i128) {
    let least = semantics::signed(semantics::signed_minimum(width), width);
    (least, -1 - least)
}

#[cfg(test)]
pub(super) fn all_ranges(width: u32) -> Vec<Range> {
    let (least, most) = signed_limits(width);
    let mask = semantics::mask(width);
    let unsigned = (0..=mask).flat_map(|low| (low..=mask).filter_map(move |high| Range::unsigned(low, high, width)));
    let signed = (least..=most).flat_map(|low| (low..=most).filter_map(move |high| Range::signed(low, high, width)));
    unsigned.chain(signed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_within_another_is_what_they_have_in_common() {
        let ranges = all_ranges(3);
        let met: Vec<Range> = ranges.iter().flat_map(|a| ranges.iter().filter_map(|b| a.meet(*b))).collect();
        for a in &met {
            for b in ranges.iter().filter(|b| a.is_within(**b)) {
                assert_eq!(a.meet(*b), Some(*a));
            }
        }
    }

    /// What a meeting, a hull, a removal keeps, by enumeration.
    #[test]
    fn operations_lose_no_value() {
        let ranges = all_ranges(3);
        for &a in &ranges {
            for &b in &ranges {
                for value in 0..8 {
                    let both = a.contains(value) && b.contains(value);
                    assert!(!both || a.meet(b).is_some_and(|met| met.contains(value)), "{a:?} {b:?} {value}");
                    assert!(!a.contains(value) || a.hull(b).contains(value));
                }
            }
            for gone in 0..8 {
                assert!(a.contains(a.nearest(gone)) || a.least < 0 && a.most >= 0);
                for value in (0..8).filter(|&value| value != gone && a.contains(value)) {
                    assert!(a.without(gone).is_some_and(|left| left.contains(value)), "{a:?} {gone} {value}");
                }
            }
        }
    }
}
