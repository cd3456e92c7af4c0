//! Fewer crossings: each rank sorted by the mean position of its neighbours, downwards and upwards in turn.

use super::slots::Slots;

const SWEEPS: usize = 12;
/// Beyond this many slots a drawing is too large to be read at once anyway, and a sweep takes noticeable time.
const LARGE: usize = 100_000;

pub(super) fn reduce_crossings(slots: &mut Slots) {
    let mut best = slots.ranks.clone();
    let mut fewest = crossings(slots);
    let mut position = slots.positions();
    let sweeps = if slots.rank.len() > LARGE { 2 } else { SWEEPS };
    for sweep in 0..sweeps {
        if fewest == 0 {
            break;
        }
        let count = slots.ranks.len();
        if sweep % 2 == 0 {
            (1..count).for_each(|rank| sort_rank(slots, &mut position, rank, Neighbours::Above));
        } else {
            (0..count - 1).rev().for_each(|rank| sort_rank(slots, &mut position, rank, Neighbours::Below));
        }
        let now = crossings(slots);
        if now < fewest {
            fewest = now;
            best.clone_from(&slots.ranks);
        }
    }
    slots.ranks = best;
}

#[derive(Copy, Clone)]
enum Neighbours {
    Above,
    Below,
}

/// `position` holds for the rank that this one is sorted by, and is brought up to date for this one.
fn sort_rank(slots: &mut Slots, position: &mut [usize], rank: usize, neighbours: Neighbours) {
    let links = match neighbours {
        Neighbours::Above => &slots.up,
        Neighbours::Below => &slots.down,
    };
    let mean = |slot: usize| {
        let sum: f64 = links[slot].iter().map(|neighbour| position[*neighbour] as f64).sum();
        (!links[slot].is_empty()).then(|| sum / links[slot].len() as f64)
    };
    let current = std::mem::take(&mut slots.ranks[rank]);
    let mut movable: Vec<(f64, usize)> = current.iter().filter_map(|&slot| Some((mean(slot)?, slot))).collect();
    movable.sort_by(|left, right| left.0.total_cmp(&right.0));
    // A slot without neighbours on that side keeps its place.
    let mut sorted = movable.into_iter().map(|(_, slot)| slot);
    let keep_or_next = |slot: usize| if links[slot].is_empty() { Some(slot) } else { sorted.next() };
    slots.ranks[rank] = current.into_iter().filter_map(keep_or_next).collect();
    for (index, &slot) in slots.ranks[rank].iter().enumerate() {
        position[slot] = index;
    }
}

fn crossings(slots: &Slots) -> usize {
    let position = slots.positions();
    slots.ranks.windows(2).map(|pair| crossings_between(slots, &position, &pair[0], pair[1].len())).sum()
}

/// Inversions of the lower ends, counted with a Fenwick tree (Barth, Jünger, Mutzel 2002).
fn crossings_between(slots: &Slots, position: &[usize], upper: &[usize], lower: usize) -> usize {
    let mut tree = vec![0usize; lower + 1];
    let (mut inserted, mut crossings) = (0, 0);
    for &slot in upper {
        let mut ends: Vec<usize> = slots.down[slot].iter().map(|below| position[*below]).collect();
        ends.sort_unstable();
        for &end in &ends {
            let mut index = end + 1;
            let mut not_right = 0;
            while index > 0 {
                not_right += tree[index];
                index &= index - 1;
            }
            crossings += inserted - not_right;
        }
        for &end in &ends {
            let mut index = end + 1;
            while index <= lower {
                tree[index] += 1;
                index += index & index.wrapping_neg();
            }
        }
        inserted += ends.len();
    }
    crossings
}
