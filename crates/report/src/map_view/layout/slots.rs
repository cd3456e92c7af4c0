//! Boxes, bends and labels as slots in ranks, in a first order from left to right.

use super::rank::Ranks;
use super::{Input, Size};

#[derive(Debug)]
pub(super) struct Slots {
    pub sizes: Vec<Size>,
    pub rank: Vec<usize>,
    /// Slots 0, 1, … are the boxes; the others belong to arcs.
    pub boxes: usize,
    /// For each arc the slots that it passes, from its source to its target (upwards for an upward arc).
    pub of_arc: Vec<Vec<usize>>,
    pub upward: Vec<bool>,
    /// For each arc the slot of its label.
    pub label: Vec<Option<usize>>,
    /// From left to right.
    pub ranks: Vec<Vec<usize>>,
    /// Lines to the next rank and to the one before.
    pub down: Vec<Vec<usize>>,
    pub up: Vec<Vec<usize>>,
}

impl Slots {
    pub fn is_bend(&self, slot: usize) -> bool {
        slot >= self.boxes
    }
    pub fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.rank.len()];
        for rank in &self.ranks {
            for (position, &slot) in rank.iter().enumerate() {
                positions[slot] = position;
            }
        }
        positions
    }
}

const BEND: Size = Size { width: 4.0, height: 0.0 };

pub(super) fn slots(input: &Input, ranks: &Ranks) -> Slots {
    let count = ranks.of_box.iter().max().map_or(0, |rank| rank + 1);
    let mut slots = Slots {
        sizes: input.boxes.clone(),
        rank: ranks.of_box.clone(),
        boxes: input.boxes.len(),
        of_arc: Vec::new(),
        upward: ranks.upward.clone(),
        label: Vec::new(),
        ranks: vec![Vec::new(); count],
        down: Vec::new(),
        up: Vec::new(),
    };
    for index in 0..input.arcs.len() {
        add_arc(input, &mut slots, index);
    }
    link(input, &mut slots);
    first_order(input, &mut slots);
    slots
}

fn add_arc(input: &Input, slots: &mut Slots, index: usize) {
    let arc = &input.arcs[index];
    let (from, to) = (slots.rank[arc.from], slots.rank[arc.to]);
    // An upward arc passes the ranks of its two ends too: it goes round them.
    let passed: Vec<usize> = if slots.upward[index] { (to..=from).rev().collect() } else { (from + 1..to).collect() };
    let mut of_arc = Vec::new();
    for rank in passed {
        of_arc.push(slots.sizes.len());
        slots.sizes.push(BEND);
        slots.rank.push(rank);
    }
    let label = arc.label.and_then(|size| {
        let slot = *of_arc.first()?;
        slots.sizes[slot] = size;
        Some(slot)
    });
    slots.of_arc.push(of_arc);
    slots.label.push(label);
}

fn link(input: &Input, slots: &mut Slots) {
    slots.down = vec![Vec::new(); slots.rank.len()];
    slots.up = vec![Vec::new(); slots.rank.len()];
    for (index, arc) in input.arcs.iter().enumerate() {
        let mut stations = slots.of_arc[index].clone();
        if slots.upward[index] {
            stations.reverse();
        } else {
            stations.insert(0, arc.from);
            stations.push(arc.to);
        }
        for pair in stations.windows(2) {
            slots.down[pair[0]].push(pair[1]);
            slots.up[pair[1]].push(pair[0]);
        }
    }
}

/// Depth-first from the root, arcs from left to right, upward arcs at the left of the loop that they close: for
/// structured programs this order has hardly a crossing.
fn first_order(input: &Input, slots: &mut Slots) {
    let mut out = vec![Vec::new(); slots.boxes];
    let mut closing = vec![Vec::new(); slots.boxes];
    for (index, arc) in input.arcs.iter().enumerate() {
        if slots.upward[index] { closing[arc.to].push(index) } else { out[arc.from].push(index) }
    }
    for arcs in &mut closing {
        arcs.sort_by_key(|arc| (std::cmp::Reverse(slots.of_arc[*arc].len()), *arc));
    }
    let mut placed = vec![false; slots.boxes];
    for root in std::iter::once(input.root).chain(0..slots.boxes) {
        let mut waiting = vec![(root, None)];
        while let Some((vertex, along)) = waiting.pop() {
            if let Some(arc) = along {
                place_arc(slots, arc);
            }
            if std::mem::replace(&mut placed[vertex], true) {
                continue;
            }
            closing[vertex].iter().for_each(|arc| place_arc(slots, *arc));
            slots.ranks[slots.rank[vertex]].push(vertex);
            waiting.extend(out[vertex].iter().rev().map(|arc| (input.arcs[*arc].to, Some(*arc))));
        }
    }
}

fn place_arc(slots: &mut Slots, arc: usize) {
    for &slot in &slots.of_arc[arc] {
        slots.ranks[slots.rank[slot]].push(slot);
    }
}
