//! Columns: Brandes and Köpf, "Fast and Simple Horizontal Coordinate Assignment" (2002). Four drawings, each pushing
//! everything to one corner while keeping lines straight; every slot then takes the mean of its two middle columns.

use super::slots::Slots;

/// Free space between neighbours in a rank.
pub(super) const GAP: f64 = 18.0;

/// The centre of each slot.
pub(super) fn columns(slots: &Slots) -> Vec<f64> {
    let position = slots.positions();
    let conflicts = conflicts(slots, &position);
    let mut drawings = Vec::new();
    for from_below in [false, true] {
        for from_right in [false, true] {
            let side = Side { slots, position: &position, conflicts: &conflicts, from_below, from_right };
            drawings.push(side.columns());
        }
    }
    middle(slots, drawings)
}

/// For each slot the slots above to which a line is in conflict.
type Conflicts = Vec<Vec<usize>>;

/// The lines that cross a line between two bends (type 1 conflicts): the bends stay straight and the others give way.
fn conflicts(slots: &Slots, position: &[usize]) -> Conflicts {
    let mut conflicts = vec![Vec::new(); slots.rank.len()];
    for pair in slots.ranks.windows(2) {
        let (upper, lower) = (&pair[0], &pair[1]);
        let inner =
            |slot: usize| slots.up[slot].iter().copied().find(|above| slots.is_bend(slot) && slots.is_bend(*above));
        let (mut start, mut bound) = (0, 0);
        for (index, &slot) in lower.iter().enumerate() {
            let inner_above = inner(slot);
            if inner_above.is_none() && index + 1 < lower.len() {
                continue;
            }
            let next = inner_above.map_or(upper.len(), |above| position[above]);
            for &scanned in &lower[start..=index] {
                for &above in &slots.up[scanned] {
                    let at = position[above];
                    let is_inner = slots.is_bend(scanned) && slots.is_bend(above);
                    if !is_inner && (at < bound || at > next) {
                        conflicts[scanned].push(above);
                    }
                }
            }
            start = index + 1;
            bound = next;
        }
    }
    conflicts
}

/// One of the four drawings.
struct Side<'s> {
    slots: &'s Slots,
    position: &'s [usize],
    conflicts: &'s Conflicts,
    from_below: bool,
    from_right: bool,
}

impl Side<'_> {
    fn columns(&self) -> Vec<f64> {
        let block = self.blocks();
        let mut columns = self.compact(&block);
        if self.from_right {
            columns.iter_mut().for_each(|column| *column = -*column);
        }
        columns
    }

    fn ranks(&self) -> Vec<Vec<usize>> {
        let mut ranks = self.slots.ranks.clone();
        if self.from_below {
            ranks.reverse();
        }
        if self.from_right {
            ranks.iter_mut().for_each(|rank| rank.reverse());
        }
        ranks
    }

    fn conflict(&self, slot: usize, neighbour: usize) -> bool {
        let (above, below) = if self.from_below { (slot, neighbour) } else { (neighbour, slot) };
        self.conflicts[below].contains(&above)
    }

    /// Vertical alignment: each slot joins the block of a median neighbour, unless that would cross another block.
    fn blocks(&self) -> Vec<usize> {
        let count = self.position.len();
        let mut block: Vec<usize> = (0..count).collect();
        let mut taken = vec![false; count];
        let links = if self.from_below { &self.slots.down } else { &self.slots.up };
        let at = |slot: usize| if self.from_right { -(self.position[slot] as i64) } else { self.position[slot] as i64 };
        let mut neighbours = Vec::new();
        for rank in self.ranks() {
            let mut last = i64::MIN;
            for slot in rank {
                neighbours.clone_from(&links[slot]);
                neighbours.sort_by_key(|neighbour| at(*neighbour));
                let middle = neighbours.len().saturating_sub(1);
                let medians = neighbours.get(middle / 2..=middle.div_ceil(2)).unwrap_or_default();
                for &neighbour in medians {
                    if block[slot] == slot
                        && !taken[neighbour]
                        && at(neighbour) > last
                        && !self.conflict(slot, neighbour)
                    {
                        taken[neighbour] = true;
                        block[slot] = block[neighbour];
                        last = at(neighbour);
                    }
                }
            }
        }
        block
    }

    /// Horizontal compaction: every block as far to the one side as its neighbours allow, then back towards what it
    /// touches at the other, so that no gap stays wider than it must.
    fn compact(&self, block: &[usize]) -> Vec<f64> {
        let beside = Beside::new(self, block);
        let order = beside.left_to_right();
        let mut columns = vec![0.0f64; block.len()];
        for &root in &order {
            for &(next, distance) in beside.right_of(root) {
                columns[next] = columns[next].max(columns[root] + distance);
            }
        }
        for &root in order.iter().rev() {
            let room = beside.right_of(root).iter().map(|(next, distance)| columns[*next] - distance).reduce(f64::min);
            columns[root] = columns[root].max(room.unwrap_or(columns[root]));
        }
        block.iter().map(|root| columns[*root]).collect()
    }
}

/// Which blocks stand directly to the right of which, and how far their centres must be apart, in one array.
struct Beside {
    starts: Vec<usize>,
    next: Vec<(usize, f64)>,
}

impl Beside {
    fn new(side: &Side<'_>, block: &[usize]) -> Self {
        let ranks = side.ranks();
        let pairs = || ranks.iter().flat_map(|rank| rank.windows(2)).map(|pair| (pair[0], pair[1]));
        let mut starts = vec![0; block.len() + 1];
        pairs().for_each(|(left, _)| starts[block[left] + 1] += 1);
        for root in 0..block.len() {
            starts[root + 1] += starts[root];
        }
        let mut free = starts.clone();
        let mut next = vec![(0, 0.0); starts[block.len()]];
        for (left, right) in pairs() {
            let half_widths = (side.slots.sizes[left].width + side.slots.sizes[right].width) / 2.0;
            next[free[block[left]]] = (block[right], half_widths + GAP);
            free[block[left]] += 1;
        }
        Beside { starts, next }
    }

    fn right_of(&self, root: usize) -> &[(usize, f64)] {
        &self.next[self.starts[root]..self.starts[root + 1]]
    }

    /// A topological order; blocks do not cross, so there is one.
    fn left_to_right(&self) -> Vec<usize> {
        let count = self.starts.len() - 1;
        let mut waiting_for = vec![0usize; count];
        self.next.iter().for_each(|(next, _)| waiting_for[*next] += 1);
        let mut order: Vec<usize> = (0..count).filter(|root| waiting_for[*root] == 0).collect();
        let mut done = 0;
        while let Some(&root) = order.get(done) {
            done += 1;
            for &(next, _) in self.right_of(root) {
                waiting_for[next] -= 1;
                if waiting_for[next] == 0 {
                    order.push(next);
                }
            }
        }
        order
    }
}

/// The drawings side by side with the narrowest, then for each slot the mean of the two middle columns. As every
/// drawing keeps the distances within ranks, so does the mean.
fn middle(slots: &Slots, mut drawings: Vec<Vec<f64>>) -> Vec<f64> {
    let extent = |columns: &Vec<f64>| {
        let half = |slot: usize| slots.sizes[slot].width / 2.0;
        let left = (0..columns.len()).map(|slot| columns[slot] - half(slot)).fold(f64::INFINITY, f64::min);
        let right = (0..columns.len()).map(|slot| columns[slot] + half(slot)).fold(f64::NEG_INFINITY, f64::max);
        (left, right)
    };
    let extents: Vec<(f64, f64)> = drawings.iter().map(extent).collect();
    let narrowest = extents.iter().copied().min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))).unwrap_or((0.0, 0.0));
    for (index, columns) in drawings.iter_mut().enumerate() {
        let from_right = index % 2 == 1;
        let shift = if from_right { narrowest.1 - extents[index].1 } else { narrowest.0 - extents[index].0 };
        columns.iter_mut().for_each(|column| *column += shift);
    }
    let mut result = Vec::with_capacity(slots.rank.len());
    for slot in 0..slots.rank.len() {
        let mut four: Vec<f64> = drawings.iter().map(|columns| columns[slot]).collect();
        four.sort_by(f64::total_cmp);
        result.push((four[1] + four[2]) / 2.0);
    }
    result
}
