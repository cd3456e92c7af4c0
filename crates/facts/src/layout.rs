//! What is known of a function before it is interpreted.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_program::code::{Callee, Code, Function, Instruction, Operand, Terminator};
use branchwise_program::graph::BlockOrder;
use branchwise_program::{BlockId, IdVec, RegisterId};

use crate::thresholds::Thresholds;

pub(crate) struct Layout {
    pub order: BlockOrder,
    /// Blocks by their position.
    pub blocks: Vec<BlockId>,
    /// Registers that somebody reads before they are written again, at the start of each block.
    pub live: IdVec<BlockId, BTreeSet<RegisterId>>,
    /// Where each register is written, if it is not by edges.
    pub definitions: BTreeMap<RegisterId, (BlockId, usize)>,
    /// Constants of the function.
    pub thresholds: Thresholds,
    /// Registers whose constants are worth a state each: results of calls, and what edges write.
    pub telling: BTreeSet<RegisterId>,
}

impl Layout {
    pub(crate) fn of(code: &Code, function: &Function) -> Self {
        let order = BlockOrder::of(function);
        let mut blocks: Vec<BlockId> = function.blocks.ids().collect();
        blocks.sort_by_key(|&block| order.position[block]);
        let mut definitions = BTreeMap::new();
        for (id, block) in function.blocks.iter() {
            for (index, instruction) in block.instructions.iter().enumerate() {
                definitions.extend(instruction.outs().into_iter().map(|out| (out, (id, index))));
            }
        }
        Layout {
            live: liveness(function, &blocks),
            definitions,
            thresholds: Thresholds::of(function),
            telling: telling(code, function, &order),
            order,
            blocks,
        }
    }

    pub(crate) fn is_head(&self, block: BlockId) -> bool {
        self.order.around[block].last() == Some(&block)
    }
}

/// Backwards over the blocks until nothing changes.
fn liveness(function: &Function, blocks: &[BlockId]) -> IdVec<BlockId, BTreeSet<RegisterId>> {
    let mut live: IdVec<BlockId, BTreeSet<RegisterId>> = function.blocks.ids().map(|_| BTreeSet::new()).collect();
    loop {
        let mut changed = false;
        for &id in blocks.iter().rev() {
            let now = live_before(function, id, &live);
            changed |= now != live[id];
            live[id] = now;
        }
        if !changed {
            return live;
        }
    }
}

fn live_before(function: &Function, id: BlockId, live: &IdVec<BlockId, BTreeSet<RegisterId>>) -> BTreeSet<RegisterId> {
    let block = &function.blocks[id];
    let mut now = BTreeSet::new();
    for edge in block.terminator.edges() {
        let copied: BTreeSet<RegisterId> = edge.copies.iter().map(|(out, _)| *out).collect();
        now.extend(live[edge.target].difference(&copied));
        let wanted = edge.copies.iter().filter(|(out, _)| live[edge.target].contains(out));
        now.extend(wanted.filter_map(|(_, operand)| register(operand)));
    }
    let decides = match &block.terminator {
        Terminator::Branch { condition, .. } => std::slice::from_ref(condition),
        Terminator::Switch { value, .. } => std::slice::from_ref(value),
        Terminator::Return(values) => values,
        Terminator::Jump(_) | Terminator::Unreachable => &[],
    };
    now.extend(decides.iter().filter_map(register));
    for instruction in block.instructions.iter().rev() {
        let written = instruction.outs();
        now.retain(|register| !written.contains(register));
        instruction.for_each_operand(&mut |operand| now.extend(register(operand)));
    }
    now
}

fn register(operand: &Operand) -> Option<RegisterId> {
    match operand {
        Operand::Register(register) => Some(*register),
        _ => None,
    }
}

/// Not what a loop changes: that would be a state for each iteration.
fn telling(code: &Code, function: &Function, order: &BlockOrder) -> BTreeSet<RegisterId> {
    let mut telling = BTreeSet::new();
    for block in function.blocks.values() {
        for instruction in &block.instructions {
            if let Instruction::Call(call) = instruction
                && !matches!(call.callee, Callee::Direct(callee) if code.functions[callee].is_declaration())
            {
                telling.extend(&call.outs);
            }
        }
        for edge in block.terminator.edges() {
            if order.around[edge.target].last() != Some(&edge.target) {
                telling.extend(edge.copies.iter().map(|(out, _)| *out));
            }
        }
    }
    telling
}
