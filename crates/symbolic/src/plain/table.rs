//! Switches as tables: one look for every value.

/// What a switch does for each value of a width.
#[derive(Debug)]
pub(super) struct Table<E = u32> {
    /// The value that the first entry is for.
    low: u64,
    /// 64 less the width.
    unused: u32,
    entries: Box<[E]>,
    /// For all other values.
    otherwise: E,
}

/// Numbers and what a switch does for them.
#[derive(Debug, Copy, Clone)]
pub(super) struct Range {
    pub first: i128,
    pub last: i128,
    pub entry: u32,
}

/// Switches over values that lie further apart are left to the general step.
const LARGEST_TABLE: i128 = 4096;

impl Table {
    /// Where ranges overlap, the first one counts. `None` if they lie too far apart. All of them must be numbers of the
    /// width, all signed or all unsigned: then no two of them have the same bits.
    pub(super) fn of(ranges: &[Range], unused: u32, otherwise: u32) -> Option<Self> {
        let low = ranges.iter().map(|range| range.first).min()?;
        let last = ranges.iter().map(|range| range.last).max()?;
        let size = last.checked_sub(low)?.checked_add(1).filter(|size| (1..=LARGEST_TABLE).contains(size))?;
        let mut entries = vec![otherwise; size as usize];
        for range in ranges.iter().rev() {
            let places = (range.first - low) as usize..(range.last + 1 - low) as usize;
            entries.get_mut(places)?.fill(range.entry);
        }
        Some(Table { low: low as u64, unused, entries: entries.into(), otherwise })
    }

    /// What two tables say at once, if they are for the same values.
    pub(super) fn with(&self, other: &Self) -> Option<Table<[u32; 2]>> {
        let low = |table: &Self| table.low << table.unused;
        if low(self) != low(other) || self.unused != other.unused || self.entries.len() != other.entries.len() {
            return None;
        }
        let entries = self.entries.iter().zip(&other.entries).map(|(&first, &second)| [first, second]).collect();
        let otherwise = [self.otherwise, other.otherwise];
        Some(Table { low: self.low, unused: self.unused, entries, otherwise })
    }
}

impl<E: Copy> Table<E> {
    /// All entries, some of them several times.
    pub(super) fn all(&self) -> impl Iterator<Item = E> {
        self.entries.iter().copied().chain([self.otherwise])
    }

    /// The same with other entries.
    pub(super) fn map<F>(&self, mut entry: impl FnMut(E) -> F) -> Table<F> {
        let entries = self.entries.iter().map(|&of| entry(of)).collect();
        Table { low: self.low, unused: self.unused, entries, otherwise: entry(self.otherwise) }
    }

    #[inline(always)]
    pub(super) fn entry(&self, value: u64) -> E {
        let distance = value.wrapping_sub(self.low) << self.unused >> self.unused;
        self.entries.get(distance as usize).copied().unwrap_or(self.otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERWISE: u32 = 99;

    fn range(first: i128, last: i128, entry: u32) -> Range {
        Range { first, last, entry }
    }

    #[test]
    fn a_table_finds_the_first_range_that_holds_a_value() {
        let ranges = [range(-3, -2, 0), range(5, 9, 1), range(7, 11, 2), range(0, 0, 3)];
        for width in [8, 16, 32, 64] {
            let unused = 64 - width;
            let table = Table::of(&ranges, unused, OTHERWISE).expect("near each other");
            for number in -128..128_i128 {
                let holds = |range: &&Range| range.first <= number && number <= range.last;
                let expected = ranges.iter().find(holds).map_or(OTHERWISE, |range| range.entry);
                let bits = (number as u64) << unused >> unused;
                assert_eq!(table.entry(bits), expected, "{number} of {width} bits");
            }
        }
    }

    #[test]
    fn two_tables_for_the_same_values_are_one() {
        let table = |low: i128, entry, otherwise, unused| {
            Table::of(&[range(low, low, entry), range(low + 3, low + 3, entry + 1)], unused, otherwise).expect("near")
        };
        let outcomes = table(254, 0, 5, 56);
        let both = outcomes.with(&table(-2, 10, 15, 56)).expect("the same eight bits");
        for value in 0..=255 {
            let expected = [outcomes.entry(value), table(-2, 10, 15, 56).entry(value)];
            assert_eq!(both.entry(value), expected, "{value}");
        }
        assert_eq!([254, 1, 255].map(|value| both.entry(value)), [[0, 10], [1, 11], [5, 15]]);
        assert!(outcomes.with(&table(-1, 10, 15, 56)).is_none());
        assert!(outcomes.with(&table(254, 10, 15, 0)).is_none());
        let longer = Table::of(&[range(254, 258, 0)], 56, 5).expect("near");
        assert!(outcomes.with(&longer).is_none());
    }

    #[test]
    fn values_at_both_ends_of_a_width_are_told_apart() {
        let table = Table::of(&[range(i128::from(u64::MAX) - 1, i128::from(u64::MAX), 1)], 0, OTHERWISE);
        let table = table.expect("near each other");
        assert_eq!([0, 1, u64::MAX - 2].map(|value| table.entry(value)), [OTHERWISE; 3]);
        assert_eq!([u64::MAX - 1, u64::MAX].map(|value| table.entry(value)), [1; 2]);
    }

    #[test]
    fn what_lies_too_far_apart_or_upside_down_has_no_table() {
        assert!(Table::of(&[range(0, 0, 0), range(LARGEST_TABLE, LARGEST_TABLE, 1)], 0, OTHERWISE).is_none());
        assert!(Table::of(&[range(0, 5, 0), range(4, 2, 1)], 0, OTHERWISE).is_none());
        assert!(Table::of(&[range(i128::MIN, i128::MAX, 0)], 0, OTHERWISE).is_none());
        assert!(Table::of(&[], 0, OTHERWISE).is_none());
    }
}
