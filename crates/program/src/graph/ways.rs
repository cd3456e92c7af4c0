//! The ways through a decision with several conditions, and which of them leave the same state behind.

use std::collections::HashMap;

use crate::code::{BinaryOp, CastOp, CompareOp, Edge, Function, Instruction, Operand, Terminator};
use crate::map::{Event, Formula};
use crate::{BlockId, MarkerId, RegisterId};

use super::influence::{deciding_marker, is_plain};

/// The conditions that are evaluated, with their outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    pub events: Vec<Event>,
    /// Ways of one class end at the same place with the same value of the decision, and what is relevant is the same.
    pub class: usize,
}

/// A decision with more ways than this is left alone.
const MOST_WAYS: usize = 24;

/// Blocks between two conditions.
const MOST_JUMPS: usize = 16;

/// What the end of a way is known by.
#[derive(PartialEq, Eq)]
struct End {
    block: BlockId,
    value: bool,
    /// Relevant registers that are set on the way; `None` if they depend on which way it is.
    set: Option<Vec<(RegisterId, Setting)>>,
}

#[derive(PartialEq, Eq)]
enum Setting {
    Constant(u128),
    Register(RegisterId),
}

/// The ways through a decision, by its first leaf; `None` where no two of them are of one class.
pub(super) fn ways(
    function: &Function,
    formula: &Formula,
    is_relevant: &dyn Fn(RegisterId) -> bool,
    faults: bool,
) -> Option<(MarkerId, Vec<Way>)> {
    let leaves = formula.leaves();
    if leaves.len() < 2 {
        return None;
    }
    let forks: HashMap<MarkerId, (BlockId, usize)> = function
        .blocks
        .ids()
        .filter_map(|block| deciding_marker(function, block).map(|(index, marker)| (marker, (block, index))))
        .filter(|(marker, _)| leaves.contains(marker))
        .collect();
    let mut search = Search { function, formula, forks, is_relevant, faults, ends: Vec::new(), ways: Vec::new() };
    search.follow(leaves[0], &mut Vec::new(), &mut Vec::new())?;
    let shared = search.ways.len() > search.ends.len();
    shared.then_some((leaves[0], search.ways))
}

struct Search<'a> {
    function: &'a Function,
    formula: &'a Formula,
    /// The block that each leaf decides, and the index of its marker there.
    forks: HashMap<MarkerId, (BlockId, usize)>,
    is_relevant: &'a dyn Fn(RegisterId) -> bool,
    faults: bool,
    ends: Vec<End>,
    ways: Vec<Way>,
}

impl Search<'_> {
    /// Adds all ways from a leaf on; `None` if they do more than evaluate conditions.
    fn follow(
        &mut self,
        leaf: MarkerId,
        events: &mut Vec<Event>,
        copies: &mut Vec<(RegisterId, Operand)>,
    ) -> Option<()> {
        let &(block, index) = self.forks.get(&leaf)?;
        let begun = if events.is_empty() { index } else { 0 };
        let instructions = &self.function.blocks[block].instructions[begun..];
        let plain = instructions.iter().all(|instruction| is_plain(instruction, self.faults));
        if !plain || events.iter().any(|event| event.marker == leaf) {
            return None;
        }
        for outcome in [0, 1] {
            let edge = edge_of(self.function, block, outcome)?;
            let (event, set) = (Event { marker: leaf, outcome }, copies.len());
            events.push(event);
            let target = self.arrive(edge, copies)?;
            match self.formula.value_after(leaf, outcome == 1) {
                Some(value) => self.end(target, value, events, copies)?,
                None => {
                    let (_, next) = deciding_marker(self.function, target)?;
                    self.follow(next, events, copies)?;
                }
            }
            events.pop();
            copies.truncate(set);
        }
        Some(())
    }

    /// The first block behind an edge that does something.
    fn arrive(&self, edge: &Edge, copies: &mut Vec<(RegisterId, Operand)>) -> Option<BlockId> {
        let mut edge = edge;
        for _ in 0..MOST_JUMPS {
            if edge.back {
                return None;
            }
            copies.extend(edge.copies.iter().copied());
            let block = &self.function.blocks[edge.target];
            match &block.terminator {
                Terminator::Jump(next) if block.instructions.is_empty() && !next.back => edge = next,
                _ => return Some(edge.target),
            }
        }
        None
    }

    fn end(&mut self, block: BlockId, value: bool, events: &[Event], copies: &[(RegisterId, Operand)]) -> Option<()> {
        let end = End { block, value, set: self.set(copies) };
        let known = self.ends.iter().position(|other| end.set.is_some() && *other == end);
        let class = known.unwrap_or(self.ends.len());
        if known.is_none() {
            self.ends.push(end);
        }
        self.ways.push(Way { events: events.to_vec(), class });
        (self.ways.len() <= MOST_WAYS).then_some(())
    }

    fn set(&self, copies: &[(RegisterId, Operand)]) -> Option<Vec<(RegisterId, Setting)>> {
        let relevant = copies.iter().filter(|(register, _)| (self.is_relevant)(*register));
        let setting = |(register, operand): &(RegisterId, Operand)| match operand {
            Operand::Constant(value) => Some((*register, Setting::Constant(*value))),
            Operand::Register(from) if self.is_from_outside(*from) => Some((*register, Setting::Register(*from))),
            _ => None,
        };
        relevant.map(setting).collect()
    }

    /// Not set between the conditions of the decision.
    fn is_from_outside(&self, register: RegisterId) -> bool {
        let first = self.formula.leaves()[0];
        self.forks.values().all(|&(block, index)| {
            let from = if deciding_marker(self.function, block).is_some_and(|(_, it)| it == first) { index } else { 0 };
            let code = &self.function.blocks[block];
            let set = code.instructions[from..].iter().any(|instruction| instruction.outs().contains(&register));
            let copied = code.terminator.edges().iter().any(|edge| edge.copies.iter().any(|(to, _)| *to == register));
            !set && !copied
        })
    }
}

/// The edge that a block takes where its marker has this outcome.
fn edge_of(function: &Function, block: BlockId, outcome: u32) -> Option<&Edge> {
    let code = &function.blocks[block];
    let Terminator::Branch { condition, then, otherwise } = &code.terminator else { return None };
    let mut known: HashMap<RegisterId, u128> = HashMap::new();
    for instruction in &code.instructions {
        let value = |operand: &Operand| match operand {
            Operand::Constant(value) => Some(*value),
            Operand::Register(register) => known.get(register).copied(),
            _ => None,
        };
        let result = match instruction {
            Instruction::MarkCondition { out, .. } => Some((*out, u128::from(outcome))),
            Instruction::Compare(compare) => match (compare.op, value(&compare.left), value(&compare.right)) {
                (CompareOp::Ne, Some(left), Some(right)) => Some((compare.out, u128::from(left != right))),
                (CompareOp::Eq, Some(left), Some(right)) => Some((compare.out, u128::from(left == right))),
                _ => None,
            },
            Instruction::Cast(cast) if matches!(cast.op, CastOp::Copy | CastOp::ZeroExtend) => {
                value(&cast.value).map(|value| (cast.out, value))
            }
            Instruction::Binary(binary) if binary.op == BinaryOp::Xor => {
                value(&binary.left).zip(value(&binary.right)).map(|(left, right)| (binary.out, left ^ right))
            }
            _ => None,
        };
        known.extend(result);
    }
    match condition {
        Operand::Register(register) => known.get(register).map(|&value| if value & 1 == 1 { then } else { otherwise }),
        _ => None,
    }
}
