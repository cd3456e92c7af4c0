//! Which rank each box sits in, and which arcs go up.

use super::Input;

#[derive(Debug)]
pub(super) struct Ranks {
    pub of_box: Vec<usize>,
    /// For each arc: it closes a cycle and is drawn upwards.
    pub upward: Vec<bool>,
}

pub(super) fn ranks(input: &Input) -> Ranks {
    let upward = upward_arcs(input);
    let downward: Vec<Constraint> = (0..input.arcs.len())
        .filter(|arc| !upward[*arc])
        .map(|arc| {
            let arc = &input.arcs[arc];
            // A label needs a rank between.
            Constraint { above: arc.from, below: arc.to, distance: if arc.label.is_some() { 2 } else { 1 } }
        })
        .collect();
    let with_loops: Vec<Constraint> = downward.iter().copied().chain(loop_exits(input, &upward)).collect();
    // Jumps into and out of loops can make the wishes for loops contradict each other; the arcs alone never do.
    let of_box = longest_paths(input.boxes.len(), &with_loops)
        .or_else(|| longest_paths(input.boxes.len(), &downward))
        .unwrap_or_else(|| vec![0; input.boxes.len()]);
    let mut ranks = Ranks { of_box, upward };
    lower_loose_boxes(input, &downward, &mut ranks.of_box);
    ranks
}

#[derive(Debug, Copy, Clone)]
struct Constraint {
    above: usize,
    below: usize,
    distance: usize,
}

fn arcs_out_of(input: &Input) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); input.boxes.len()];
    for (index, arc) in input.arcs.iter().enumerate() {
        out[arc.from].push(index);
    }
    out
}

/// The arcs to a box that the depth-first search is still inside of.
fn upward_arcs(input: &Input) -> Vec<bool> {
    #[derive(Copy, Clone, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let out = arcs_out_of(input);
    let mut upward = vec![false; input.arcs.len()];
    let mut state = vec![State::New; input.boxes.len()];
    for root in std::iter::once(input.root).chain(0..input.boxes.len()) {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        let mut stack = vec![(root, 0)];
        while let Some((vertex, next)) = stack.last_mut() {
            let Some(&arc) = out[*vertex].get(*next) else {
                state[*vertex] = State::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            let to = input.arcs[arc].to;
            upward[arc] = state[to] == State::Open;
            if state[to] == State::New {
                state[to] = State::Open;
                stack.push((to, 0));
            }
        }
    }
    upward
}

/// What follows a loop shall stand below all of it, as in the source.
fn loop_exits(input: &Input, upward: &[bool]) -> Vec<Constraint> {
    let mut into = vec![Vec::new(); input.boxes.len()];
    for arc in &input.arcs {
        into[arc.to].push(arc.from);
    }
    let out = arcs_out_of(input);
    let mut constraints = Vec::new();
    let mut inside_of = vec![usize::MAX; input.boxes.len()];
    for (index, back) in input.arcs.iter().enumerate().filter(|(index, _)| upward[*index]) {
        inside_of[back.to] = index;
        let mut body = vec![back.to];
        let mut waiting = vec![back.from];
        while let Some(vertex) = waiting.pop() {
            if inside_of[vertex] != index {
                inside_of[vertex] = index;
                body.push(vertex);
                waiting.extend(&into[vertex]);
            }
        }
        for &arc in body.iter().flat_map(|vertex| &out[*vertex]) {
            let (from, to) = (input.arcs[arc].from, input.arcs[arc].to);
            let regular = from == back.to || from == back.from || !is_return(input, &out, into[to].len(), to);
            if !upward[arc] && inside_of[to] != index && regular {
                constraints.push(Constraint { above: back.from, below: to, distance: 1 });
            }
        }
    }
    constraints
}

/// A way out of the function rather than what follows the loop, unless the loop's own condition leads to it: it stays
/// beside its condition.
fn is_return(input: &Input, out: &[Vec<usize>], entrances: usize, vertex: usize) -> bool {
    match out[vertex][..] {
        [only] => entrances == 1 && out[input.arcs[only].to].is_empty(),
        _ => false,
    }
}

/// The smallest ranks that keep all constraints; `None` if they form a cycle.
fn longest_paths(boxes: usize, constraints: &[Constraint]) -> Option<Vec<usize>> {
    let mut below = vec![Vec::new(); boxes];
    let mut waiting_for = vec![0usize; boxes];
    for constraint in constraints {
        below[constraint.above].push(constraint);
        waiting_for[constraint.below] += 1;
    }
    let mut ready: Vec<usize> = (0..boxes).filter(|vertex| waiting_for[*vertex] == 0).collect();
    let mut rank = vec![0; boxes];
    let mut done = 0;
    while let Some(vertex) = ready.pop() {
        done += 1;
        for constraint in &below[vertex] {
            let to = constraint.below;
            rank[to] = rank[to].max(rank[vertex] + constraint.distance);
            waiting_for[to] -= 1;
            if waiting_for[to] == 0 {
                ready.push(to);
            }
        }
    }
    (done == boxes).then_some(rank)
}

/// A box that nothing leads to (unreachable code) stands just above what it leads to, and one without any arcs (an
/// exit that is never reached) at the bottom.
fn lower_loose_boxes(input: &Input, downward: &[Constraint], rank: &mut [usize]) {
    let lowest = rank.iter().copied().max().unwrap_or(0);
    let mut entered = vec![false; rank.len()];
    let mut room: Vec<Option<usize>> = vec![None; rank.len()];
    for arc in &input.arcs {
        entered[arc.to] = true;
    }
    for constraint in downward {
        let above = rank[constraint.below].saturating_sub(constraint.distance);
        let room = &mut room[constraint.above];
        *room = Some(room.map_or(above, |room| room.min(above)));
    }
    for vertex in (0..rank.len()).filter(|vertex| *vertex != input.root && !entered[*vertex]) {
        rank[vertex] = room[vertex].unwrap_or(lowest);
    }
}
