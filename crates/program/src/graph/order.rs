//! In which order the blocks of a function are visited, so that ways that will meet wait for each other.

use std::collections::BTreeSet;

use super::Digraph;
use crate::code::{Block, Function, Operand, Terminator};
use crate::{BlockId, Id, IdVec, RegisterId};

/// A weak topological order (Bourdoncle 1993): the blocks of a loop stand together, its head first, and apart from the
/// jumps to heads every jump leads forward.
pub struct BlockOrder {
    pub position: IdVec<BlockId, u64>,
    /// The heads of the loops around each block, outermost first; a head is in its own loop.
    pub around: IdVec<BlockId, Vec<BlockId>>,
    /// Blocks that several jumps lead to.
    pub joins: IdVec<BlockId, bool>,
    /// Of each block, the registers that it gets from the jump which leads to it and that decide what becomes of it: what it
    /// returns, or how it goes on.
    pub deciding: IdVec<BlockId, Vec<RegisterId>>,
}

/// What is nested deeper is ordered as if it had no loops: correct, but ways meet less often there.
const DEEPEST: usize = 64;

impl BlockOrder {
    pub fn of(function: &Function) -> Self {
        let mut ways_in: IdVec<BlockId, u32> = function.blocks.ids().map(|_| 0).collect();
        let mut edges = Vec::new();
        for (from, block) in function.blocks.iter() {
            for edge in block.terminator.edges() {
                ways_in[edge.target] += 1;
                edges.push((from.index(), edge.target.index()));
            }
        }
        let graph = Digraph::new(function.blocks.len(), &edges);
        let mut ordering = Ordering {
            graph: &graph,
            position: function.blocks.ids().map(|_| 0).collect(),
            around: function.blocks.ids().map(|_| Vec::new()).collect(),
            next: 0,
        };
        ordering.visit(&(0..function.blocks.len()).collect::<Vec<_>>(), &mut Vec::new());
        let joins = ways_in.values().map(|&ways| ways > 1).collect();
        BlockOrder { position: ordering.position, around: ordering.around, joins, deciding: deciding(function) }
    }
}

fn deciding(function: &Function) -> IdVec<BlockId, Vec<RegisterId>> {
    let mut passed: IdVec<BlockId, BTreeSet<RegisterId>> = function.blocks.ids().map(|_| BTreeSet::new()).collect();
    for edge in function.blocks.values().flat_map(|block| block.terminator.edges()) {
        passed[edge.target].extend(edge.copies.iter().map(|(register, _)| *register));
    }
    let decides = |terminator: &Terminator| match terminator {
        Terminator::Return(values) => values.clone(),
        Terminator::Branch { condition, .. } => vec![*condition],
        _ => Vec::new(),
    };
    let of_block = |(id, block): (BlockId, &Block)| {
        let register = |value: Operand| match value {
            Operand::Register(register) if passed[id].contains(&register) => Some(register),
            _ => None,
        };
        decides(&block.terminator).into_iter().filter_map(register).collect()
    };
    function.blocks.iter().map(of_block).collect()
}

struct Ordering<'g> {
    graph: &'g Digraph,
    position: IdVec<BlockId, u64>,
    around: IdVec<BlockId, Vec<BlockId>>,
    next: u64,
}

impl Ordering<'_> {
    /// Orders these blocks, whose loops' heads outside of them are cut.
    fn visit(&mut self, members: &[usize], heads: &mut Vec<BlockId>) {
        let mut local = vec![usize::MAX; self.graph.vertex_count()];
        members.iter().enumerate().for_each(|(index, &member)| local[member] = index);
        let inside = |(from, to): (usize, usize)| {
            (local[from] != usize::MAX && local[to] != usize::MAX).then(|| (local[from], local[to]))
        };
        let edges: Vec<(usize, usize)> = self.graph.edges().filter_map(inside).collect();
        let components = Digraph::new(members.len(), &edges).components();
        let count = components.iter().max().map_or(0, |&last| last + 1);
        let mut grouped: Vec<Vec<usize>> = vec![Vec::new(); count];
        members.iter().enumerate().for_each(|(index, &member)| grouped[components[index]].push(member));
        let repeating: BTreeSet<usize> = edges.iter().filter(|(from, to)| from == to).map(|(from, _)| *from).collect();
        let repeats = |member: usize| repeating.contains(&local[member]);
        // An edge never leads to a component with a higher number.
        for component in grouped.iter().rev() {
            match component[..] {
                [single] if !repeats(single) => self.place(single, heads),
                _ if heads.len() >= DEEPEST => component.iter().for_each(|&member| self.place(member, heads)),
                _ => self.visit_loop(component, heads),
            }
        }
    }

    fn visit_loop(&mut self, component: &[usize], heads: &mut Vec<BlockId>) {
        let head = self.head(component);
        heads.push(BlockId::new(head));
        self.place(head, heads);
        let body: Vec<usize> = component.iter().copied().filter(|&member| member != head).collect();
        self.visit(&body, heads);
        heads.pop();
    }

    /// Where the loop is entered: a member that a block outside leads to.
    fn head(&self, component: &[usize]) -> usize {
        let mut inside = vec![false; self.graph.vertex_count()];
        component.iter().for_each(|&member| inside[member] = true);
        let entered = self.graph.edges().filter(|(from, to)| !inside[*from] && inside[*to]);
        entered.map(|(_, to)| to).min().unwrap_or(component[0])
    }

    fn place(&mut self, block: usize, heads: &[BlockId]) {
        let block = BlockId::new(block);
        self.position[block] = self.next;
        self.around[block] = heads.to_vec();
        self.next += 1;
    }
}
