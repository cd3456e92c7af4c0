use crate::{Id, IdVec};

use super::Digraph;

/// The immediate dominator of each vertex on the paths from `root`; `None` for the root and for what it cannot reach.
///
/// Semi-NCA (Georgiadis, Tarjan, Werneck, "Finding Dominators in Practice", 2006): semi-dominators as in Lengauer and
/// Tarjan's algorithm with path compression, then each immediate dominator as a nearest common ancestor.
pub fn immediate_dominators(graph: &Digraph, root: usize) -> Vec<Option<usize>> {
    let (order, parents) = graph.depth_first(root);
    let mut position = vec![usize::MAX; graph.vertex_count()];
    for (index, &vertex) in order.iter().enumerate() {
        position[vertex] = index;
    }
    let semidominators = semidominators(&graph.reversed(), &order, &position, &parents);
    let mut immediate = parents;
    for index in 1..order.len() {
        let mut candidate = immediate[index];
        while candidate > semidominators[index] {
            candidate = immediate[candidate];
        }
        immediate[index] = candidate;
    }
    let mut result = vec![None; graph.vertex_count()];
    for index in 1..order.len() {
        result[order[index]] = Some(order[immediate[index]]);
    }
    result
}

/// All in preorder positions; `position` is `usize::MAX` for what the search did not reach.
fn semidominators(predecessors: &Digraph, order: &[usize], position: &[usize], parents: &[usize]) -> Vec<usize> {
    let mut forest = Forest {
        ancestor: parents.to_vec(),
        label: (0..order.len()).collect(),
        semidominator: (0..order.len()).collect(),
        path: Vec::new(),
    };
    for index in (1..order.len()).rev() {
        forest.semidominator[index] = parents[index];
        for &predecessor in predecessors.successors(order[index]) {
            let from = position[predecessor];
            if from != usize::MAX {
                let best = forest.evaluate(from, index + 1);
                forest.semidominator[index] = forest.semidominator[index].min(forest.semidominator[best]);
            }
        }
    }
    forest.semidominator
}

/// The part of the depth-first tree at positions from `linked` on, with compressed paths.
struct Forest {
    ancestor: Vec<usize>,
    /// The vertex with the smallest semi-dominator on the compressed path.
    label: Vec<usize>,
    semidominator: Vec<usize>,
    path: Vec<usize>,
}

impl Forest {
    fn evaluate(&mut self, vertex: usize, linked: usize) -> usize {
        let mut top = vertex;
        while self.ancestor[top] >= linked {
            self.path.push(top);
            top = self.ancestor[top];
        }
        let (mut above, mut best) = (top, self.label[top]);
        while let Some(vertex) = self.path.pop() {
            self.ancestor[vertex] = self.ancestor[above];
            if self.semidominator[best] < self.semidominator[self.label[vertex]] {
                self.label[vertex] = best;
            } else {
                best = self.label[vertex];
            }
            above = vertex;
        }
        self.label[vertex]
    }
}

/// A tree of immediate dominators or post-dominators over nodes or edges of a control-flow graph.
///
/// Its root stands outside: it is annex C's unique entry edge (or exit edge) for edges, and the place before the entry
/// (or after all ends of the function) for nodes. What cannot be reached from the entry is not in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DominatorTree<I> {
    positions: IdVec<I, Position<I>>,
    children: IdVec<I, Vec<I>>,
    roots: Vec<I>,
    /// Preorder number, and the highest one in the subtree.
    intervals: IdVec<I, (u32, u32)>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Position<I> {
    Outside,
    Root,
    Below(I),
}

impl<I: Id> DominatorTree<I> {
    pub(super) fn new(positions: IdVec<I, Position<I>>) -> Self {
        let mut children: IdVec<I, Vec<I>> = positions.ids().map(|_| Vec::new()).collect();
        let mut roots = Vec::new();
        for (id, position) in positions.iter() {
            match position {
                Position::Outside => {}
                Position::Root => roots.push(id),
                Position::Below(above) => children[*above].push(id),
            }
        }
        let intervals = intervals(&children, &roots);
        DominatorTree { positions, children, roots, intervals }
    }

    /// Whether it is in the tree, that is, reachable from the entry.
    pub fn contains(&self, item: I) -> bool {
        !matches!(self.positions[item], Position::Outside)
    }

    /// `None` for what is directly below the outer root, and for what is not in the tree.
    pub fn immediate(&self, item: I) -> Option<I> {
        match self.positions[item] {
            Position::Below(above) => Some(above),
            Position::Outside | Position::Root => None,
        }
    }

    /// What it immediately dominates, in the order of ids.
    pub fn children(&self, item: I) -> &[I] {
        &self.children[item]
    }

    /// What is directly below the outer root.
    pub fn roots(&self) -> &[I] {
        &self.roots
    }

    pub fn ids(&self) -> impl Iterator<Item = I> {
        self.positions.ids().filter(|id| self.contains(*id))
    }

    /// Every item in the tree dominates itself.
    pub fn dominates(&self, above: I, below: I) -> bool {
        let (first, last) = self.intervals[above];
        self.contains(above) && self.contains(below) && (first..=last).contains(&self.intervals[below].0)
    }

    pub fn is_leaf(&self, item: I) -> bool {
        self.contains(item) && self.children[item].is_empty()
    }
}

fn intervals<I: Id>(children: &IdVec<I, Vec<I>>, roots: &[I]) -> IdVec<I, (u32, u32)> {
    let mut intervals: IdVec<I, (u32, u32)> = children.ids().map(|_| (0, 0)).collect();
    let mut number = 0;
    for &root in roots {
        let mut stack = vec![(root, 0)];
        while let Some((item, next)) = stack.last_mut() {
            let item = *item;
            if *next == 0 {
                intervals[item].0 = number;
                number += 1;
            }
            match children[item].get(*next) {
                Some(&child) => {
                    *next += 1;
                    stack.push((child, 0));
                }
                None => {
                    intervals[item].1 = number - 1;
                    stack.pop();
                }
            }
        }
    }
    intervals
}
