//! Shorter lines: what stands straight above each other moves together towards what it is connected with, as far as its
//! neighbours leave room. The drawing before this keeps lines straight but lets them swing out wherever there is space.

use super::Input;
use super::position::GAP;
use super::slots::Slots;

const PASSES: usize = 12;
/// Closer than this counts as straight.
const STRAIGHT: f64 = 0.5;

/// Afterwards the leftmost border is at 0.
pub(super) fn tighten(input: &Input, slots: &Slots, columns: &mut [f64]) {
    let pulls = pulls(input, slots);
    let position = slots.positions();
    for pass in 0..PASSES {
        let mut groups = groups(slots, columns);
        groups.sort_by(|left, right| columns[left[0]].total_cmp(&columns[right[0]]));
        if pass % 2 == 1 {
            groups.reverse();
        }
        let mut moved = 0.0f64;
        for group in &groups {
            let shift = room(slots, &position, columns, group, wish(&pulls, columns, group));
            group.iter().for_each(|slot| columns[*slot] += shift);
            moved = moved.max(shift.abs());
        }
        if moved < STRAIGHT {
            break;
        }
    }
    let left = (0..columns.len()).map(|slot| columns[slot] - slots.sizes[slot].width / 2.0).reduce(f64::min);
    columns.iter_mut().for_each(|column| *column -= left.unwrap_or(0.0));
}

/// For each slot what it is drawn to. The line of an upward arc is drawn to its two boxes, but does not draw them.
fn pulls(input: &Input, slots: &Slots) -> Vec<Vec<usize>> {
    let mut pulls: Vec<Vec<usize>> =
        slots.up.iter().zip(&slots.down).map(|(up, down)| up.iter().chain(down).copied().collect()).collect();
    for (index, arc) in input.arcs.iter().enumerate().filter(|(index, _)| slots.upward[*index]) {
        if let [first, .., last] | [first @ last] = slots.of_arc[index][..] {
            pulls[first].push(arc.from);
            pulls[last].push(arc.to);
        }
    }
    pulls
}

/// Slots that lines without a bend connect.
fn groups(slots: &Slots, columns: &[f64]) -> Vec<Vec<usize>> {
    let mut group = vec![usize::MAX; columns.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for root in 0..columns.len() {
        if group[root] != usize::MAX {
            continue;
        }
        group[root] = groups.len();
        let mut members = vec![root];
        let mut next = 0;
        while let Some(&slot) = members.get(next) {
            next += 1;
            for &other in slots.up[slot].iter().chain(&slots.down[slot]) {
                if group[other] == usize::MAX && (columns[other] - columns[slot]).abs() < STRAIGHT {
                    group[other] = groups.len();
                    members.push(other);
                }
            }
        }
        groups.push(members);
    }
    groups
}

/// The median of the ways to what the group is drawn to. What is in the group already pulls by nothing.
fn wish(pulls: &[Vec<usize>], columns: &[f64], group: &[usize]) -> f64 {
    let ways = group.iter().flat_map(|slot| pulls[*slot].iter().map(move |other| columns[*other] - columns[*slot]));
    let mut ways: Vec<f64> = ways.filter(|way| way.abs() >= STRAIGHT).collect();
    ways.sort_by(f64::total_cmp);
    match ways.len() {
        0 => 0.0,
        count => (ways[(count - 1) / 2] + ways[count / 2]) / 2.0,
    }
}

/// So much of the wish as the neighbours in all ranks of the group allow.
fn room(slots: &Slots, position: &[usize], columns: &[f64], group: &[usize], wish: f64) -> f64 {
    let mut shift = wish;
    for &slot in group {
        let rank = &slots.ranks[slots.rank[slot]];
        let beside = if wish < 0.0 { position[slot].checked_sub(1) } else { Some(position[slot] + 1) };
        let Some(&other) = beside.and_then(|beside| rank.get(beside)) else { continue };
        let apart = (slots.sizes[slot].width + slots.sizes[other].width) / 2.0 + GAP;
        let room = ((columns[other] - columns[slot]).abs() - apart).max(0.0);
        shift = shift.clamp(-room, room);
    }
    shift
}
