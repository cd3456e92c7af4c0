//! Reverse postorder and dominators of one function's blocks (Cooper, Harvey and Kennedy 2001).

/// Computed once from the successors of every block; block 0 is the entry.
pub struct Dominators {
    /// The reachable blocks in reverse postorder.
    pub order: Vec<usize>,
    /// Preorder number and last preorder number in the subtree of the dominator tree; `None` for unreachable blocks.
    span: Vec<Option<(usize, usize)>>,
}

impl Dominators {
    pub fn new(successors: &[Vec<usize>]) -> Self {
        let order = reverse_postorder(successors);
        let parents = immediate_dominators(successors, &order);
        let span = preorder_spans(&order, &parents, successors.len());
        Dominators { order, span }
    }

    pub fn is_reachable(&self, block: usize) -> bool {
        self.span.get(block).is_some_and(Option::is_some)
    }

    /// Every way from the entry to `below` leads through `above`.
    pub fn dominates(&self, above: usize, below: usize) -> bool {
        match (self.span[above], self.span[below]) {
            (Some((first, last)), Some((below, _))) => first <= below && below <= last,
            _ => false,
        }
    }
}

fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    if successors.is_empty() {
        return Vec::new();
    }
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, next)) = stack.last_mut() {
        match successors[*block].get(*next) {
            Some(&target) => {
                *next += 1;
                if !seen[target] {
                    seen[target] = true;
                    stack.push((target, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// For each position in the order, the position of its immediate dominator; the entry is its own.
fn immediate_dominators(successors: &[Vec<usize>], order: &[usize]) -> Vec<usize> {
    let mut position = vec![usize::MAX; successors.len()];
    for (index, &block) in order.iter().enumerate() {
        position[block] = index;
    }
    let mut predecessors = vec![Vec::new(); order.len()];
    for (index, &block) in order.iter().enumerate() {
        for &target in &successors[block] {
            predecessors[position[target]].push(index);
        }
    }
    const UNKNOWN: usize = usize::MAX;
    let mut parents = vec![UNKNOWN; order.len()];
    if let Some(entry) = parents.first_mut() {
        *entry = 0;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for index in 1..order.len() {
            let known = predecessors[index].iter().copied().filter(|&from| parents[from] != UNKNOWN);
            let Some(parent) = known.reduce(|left, right| common_dominator(&parents, left, right)) else { continue };
            changed |= parents[index] != parent;
            parents[index] = parent;
        }
    }
    parents
}

fn common_dominator(parents: &[usize], mut left: usize, mut right: usize) -> usize {
    while left != right {
        if left > right {
            left = parents[left];
        } else {
            right = parents[right];
        }
    }
    left
}

fn preorder_spans(order: &[usize], parents: &[usize], blocks: usize) -> Vec<Option<(usize, usize)>> {
    let mut sizes = vec![1; order.len()];
    for index in (1..order.len()).rev() {
        sizes[parents[index]] += sizes[index];
    }
    // A parent precedes its children in the order, so each child takes the next free range of its parent.
    let mut span = vec![None; blocks];
    let mut free = vec![0; order.len()];
    for (index, &block) in order.iter().enumerate() {
        let first = if index == 0 { 0 } else { free[parents[index]] };
        if index > 0 {
            free[parents[index]] += sizes[index];
        }
        free[index] = first + 1;
        span[block] = Some((first, first + sizes[index] - 1));
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above dominates below if below cannot be reached without above.
    fn naive(successors: &[Vec<usize>], above: usize, below: usize) -> bool {
        let reach = |without: Option<usize>| {
            let mut seen = vec![false; successors.len()];
            let mut stack = vec![0];
            while let Some(block) = stack.pop() {
                if Some(block) == without || std::mem::replace(&mut seen[block], true) {
                    continue;
                }
                stack.extend(&successors[block]);
            }
            seen
        };
        reach(None)[below] && !reach(Some(above))[below]
    }

    #[test]
    fn agrees_with_the_definition_on_random_graphs() {
        let mut state = 1u64;
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % bound
        };
        for _ in 0..300 {
            let count = 1 + random(10);
            let graph: Vec<Vec<usize>> = (0..count).map(|_| (0..random(4)).map(|_| random(count)).collect()).collect();
            let dominators = Dominators::new(&graph);
            for above in 0..count {
                for below in 0..count {
                    assert_eq!(dominators.dominates(above, below), naive(&graph, above, below), "{graph:?}");
                }
            }
        }
    }
}
