//! Bytes of an object that belong to no member: they may hold anything, whatever the program writes to the members.

use serde::{Deserialize, Serialize};

/// The padding of an object, which repeats for each element of an array.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Padding {
    /// Bytes of one element; 0 where there is no padding.
    period: u64,
    /// First byte and the one behind the last, within an element, in order.
    gaps: Vec<(u64, u64)>,
}

impl Padding {
    /// The padding of elements of so many bytes, whose members take up these places (offset and size).
    pub fn between(period: u64, mut members: Vec<(u64, u64)>) -> Padding {
        members.sort_unstable();
        let mut gaps = Vec::new();
        let mut end = 0;
        for (offset, size) in members {
            if offset > end {
                gaps.push((end, offset));
            }
            end = end.max(offset + size);
        }
        if end < period {
            gaps.push((end, period));
        }
        if gaps.is_empty() { Padding::default() } else { Padding { period, gaps } }
    }

    pub fn is_empty(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Bytes after which the padding repeats.
    pub fn period(&self) -> u64 {
        self.period
    }

    /// Tells whether an access of so many bytes at an offset sees padding and nothing else.
    pub fn covers(&self, offset: u64, size: u64) -> bool {
        let Some(at) = offset.checked_rem(self.period) else { return false };
        self.gaps.iter().any(|&(start, end)| start <= at && at.saturating_add(size) <= end)
    }

    /// Tells whether some of these bytes are padding.
    pub fn touches(&self, offset: u64, size: u64) -> bool {
        let Some(at) = offset.checked_rem(self.period) else { return false };
        let overlaps = |shift: u64| {
            let hit = |&(start, end): &(u64, u64)| start + shift < at.saturating_add(size) && at < end + shift;
            self.gaps.iter().any(hit)
        };
        size > self.period || overlaps(0) || overlaps(self.period)
    }

    /// The same padding, where the object begins so many bytes later, as far as an object of `size` bytes holds it.
    pub fn moved(&self, from: u64, to: u64, size: u64) -> Padding {
        let inside = (from..from.saturating_add(size)).filter(|&at| self.covers(at, 1)).take(MOST_MOVED);
        let gaps = inside.map(|at| (at - from + to, at - from + to + 1)).collect::<Vec<_>>();
        let end = gaps.last().map_or(0, |gap| gap.1);
        if gaps.is_empty() { Padding::default() } else { Padding { period: end.max(to + size), gaps } }
    }
}

/// Of what is copied, so many bytes are followed.
const MOST_MOVED: usize = 4096;

#[cfg(test)]
mod tests {
    use super::Padding;

    #[test]
    fn padding_is_what_members_leave() {
        let padding = Padding::between(8, vec![(4, 4), (0, 1)]);
        assert!(padding.covers(1, 3) && padding.covers(10, 1) && !padding.covers(0, 1) && !padding.covers(3, 2));
        assert!(padding.touches(3, 2) && padding.touches(0, 8) && !padding.touches(4, 4) && padding.touches(6, 4));
        assert!(Padding::between(8, vec![(0, 4), (4, 4)]).is_empty());
    }

    #[test]
    fn copies_take_padding_along() {
        let padding = Padding::between(8, vec![(0, 1), (4, 4)]);
        let moved = padding.moved(8, 2, 8);
        assert!(moved.covers(3, 1) && moved.covers(5, 1) && !moved.covers(2, 1) && !moved.covers(6, 1));
    }
}
