//! Natural loops of a code function: which blocks decide whether a loop goes on.

use branchwise_program::code::Function;
use branchwise_program::{BlockId, Id, IdVec};

/// For each block, the heads of the loops that one of its edges leaves.
#[derive(Debug, Clone)]
pub(crate) struct LoopExits {
    exits: IdVec<BlockId, Vec<BlockId>>,
}

impl LoopExits {
    pub(crate) fn of(function: &Function) -> Self {
        let mut exits: IdVec<BlockId, Vec<BlockId>> = function.blocks.ids().map(|_| Vec::new()).collect();
        let predecessors = predecessors(function);
        for (head, sources) in heads(function) {
            let body = natural_loop(function, &predecessors, head, &sources);
            for block in function.blocks.ids().filter(|block| body[block.index()]) {
                let leaves = function.blocks[block].terminator.edges().iter().any(|edge| !body[edge.target.index()]);
                if leaves {
                    exits[block].push(head);
                }
            }
        }
        LoopExits { exits }
    }

    pub(crate) fn left_by(&self, block: BlockId) -> &[BlockId] {
        &self.exits[block]
    }
}

fn predecessors(function: &Function) -> IdVec<BlockId, Vec<BlockId>> {
    let mut predecessors: IdVec<BlockId, Vec<BlockId>> = function.blocks.ids().map(|_| Vec::new()).collect();
    for (id, block) in function.blocks.iter() {
        for edge in block.terminator.edges() {
            predecessors[edge.target].push(id);
        }
    }
    predecessors
}

/// Loop heads with the blocks that jump back to them.
fn heads(function: &Function) -> Vec<(BlockId, Vec<BlockId>)> {
    let mut sources: IdVec<BlockId, Vec<BlockId>> = function.blocks.ids().map(|_| Vec::new()).collect();
    for (id, block) in function.blocks.iter() {
        for edge in block.terminator.edges().into_iter().filter(|edge| edge.back) {
            sources[edge.target].push(id);
        }
    }
    let heads: Vec<BlockId> = sources.iter().filter(|(_, from)| !from.is_empty()).map(|(head, _)| head).collect();
    heads.into_iter().map(|head| (head, sources[head].clone())).collect()
}

fn natural_loop(
    function: &Function,
    predecessors: &IdVec<BlockId, Vec<BlockId>>,
    head: BlockId,
    sources: &[BlockId],
) -> Vec<bool> {
    let mut body = vec![false; function.blocks.len()];
    body[head.index()] = true;
    let mut open = sources.to_vec();
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut body[block.index()], true) {
            open.extend(&predecessors[block]);
        }
    }
    body
}
