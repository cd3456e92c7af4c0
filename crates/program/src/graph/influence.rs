//! Which outcomes of conditions can influence what a run does later, by control and by data.
//!
//! Everything but registers counts as used: what is stored, passed to a call, returned to somebody who looks at it, an
//! address, a divisor. So nothing is claimed of memory, calls, ends of a run or loops.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::code::{Binary, BinaryOp, Code, Edge, Float, FloatOp, Function, Instruction, Operand, Terminator};
use crate::map::Formula;
use crate::{BlockId, CodeFunctionId, Id, MarkerId, RegisterId};

use super::ways::{Way, ways};
use super::{Digraph, immediate_dominators};

/// Where markers stand in the code, and who calls which function.
#[derive(Debug, Default)]
pub struct CodeIndex {
    /// `None` for a marker that stands at several places.
    places: HashMap<MarkerId, Option<CodeFunctionId>>,
    callers: HashMap<CodeFunctionId, BTreeSet<CodeFunctionId>>,
    /// Functions that somebody may call through a pointer.
    addressed: HashSet<CodeFunctionId>,
}

impl CodeIndex {
    pub fn of(code: &Code) -> Self {
        let mut index = CodeIndex::default();
        for (id, function) in code.functions.iter() {
            for block in function.blocks.values() {
                block.instructions.iter().for_each(|instruction| index.add(id, instruction));
                block.terminator.for_each_operand(&mut |operand| index.add_address(operand));
            }
        }
        for global in code.globals.values() {
            let addresses = global.initializer.iter().flat_map(|initializer| &initializer.addresses);
            addresses.for_each(|(_, operand)| index.add_address(operand));
        }
        index
    }

    fn add(&mut self, function: CodeFunctionId, instruction: &Instruction) {
        match instruction {
            Instruction::MarkCondition { marker, .. } | Instruction::MarkSwitch { marker, .. } => {
                self.places.entry(*marker).and_modify(|place| *place = None).or_insert(Some(function));
            }
            Instruction::Call(call) => {
                if let crate::code::Callee::Direct(callee) = call.callee {
                    self.callers.entry(callee).or_default().insert(function);
                }
                call.arguments.iter().for_each(|operand| self.add_address(operand));
                return;
            }
            _ => {}
        }
        instruction.for_each_operand(&mut |operand| self.add_address(operand));
    }

    fn add_address(&mut self, operand: &Operand) {
        if let Operand::Function(function) = operand {
            self.addressed.insert(*function);
        }
    }

    /// The function in which a marker stands, if it stands nowhere else.
    pub fn function_of(&self, marker: MarkerId) -> Option<CodeFunctionId> {
        self.places.get(&marker).copied().flatten()
    }

    /// Whether nobody but this function calls the other one.
    pub fn only_caller(&self, caller: CodeFunctionId, of: CodeFunctionId) -> bool {
        let callers = self.callers.get(&of);
        !self.addressed.contains(&of) && callers.is_none_or(|callers| callers.iter().all(|&it| it == caller))
    }
}

/// What shall not be lost.
pub struct Interest<'a> {
    /// Outcomes of this marker are looked for.
    pub wanted: &'a dyn Fn(MarkerId) -> bool,
    /// Somebody looks at what the function returns.
    pub results: bool,
    /// Undefined behaviour is looked for.
    pub faults: bool,
}

/// What the outcomes of one function's markers influence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Influence {
    /// Whichever outcome a marker has, the same wanted outcomes follow.
    idle: HashSet<MarkerId>,
    /// By first leaf: the ways through a decision.
    ways: HashMap<MarkerId, Vec<Way>>,
}

impl Influence {
    /// `decisions` are the formulas of the function's decisions.
    pub fn of<'a>(
        function: &Function,
        decisions: impl Iterator<Item = &'a Formula>,
        interest: &Interest<'_>,
    ) -> Influence {
        let mut slice = Slice::of(function, interest);
        slice.grow();
        let idle = slice.idle();
        let is_relevant = |register: RegisterId| slice.relevant.contains(&register);
        let ways = decisions.filter_map(|formula| ways(function, formula, &is_relevant, interest.faults));
        Influence { idle, ways: ways.collect() }
    }

    pub fn is_idle(&self, marker: MarkerId) -> bool {
        self.idle.contains(&marker)
    }

    /// The ways through the decision that begins with this leaf, where some of them leave the same state behind.
    pub fn ways(&self, first_leaf: MarkerId) -> Option<&[Way]> {
        self.ways.get(&first_leaf).map(Vec::as_slice)
    }

    /// Every outcome may influence everything.
    pub fn is_empty(&self) -> bool {
        self.idle.is_empty() && self.ways.is_empty()
    }
}

/// What a run does later can be told from registers alone: it neither touches memory, nor ends there, nor asks anybody.
pub(super) fn is_plain(instruction: &Instruction, faults: bool) -> bool {
    match instruction {
        Instruction::Binary(Binary { op, no_signed_wrap, .. }) => {
            let divides = matches!(op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem);
            let shifts = matches!(op, BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr);
            !divides && !(faults && (*no_signed_wrap || shifts))
        }
        Instruction::Float(Float { op, .. }) => !(faults && matches!(op, FloatOp::ToSigned | FloatOp::ToUnsigned)),
        Instruction::Compare(_)
        | Instruction::Cast(_)
        | Instruction::Select { .. }
        | Instruction::Address(_)
        | Instruction::MarkCondition { .. }
        | Instruction::MarkSwitch { .. } => true,
        _ => false,
    }
}

/// The marker that decides how a block is left, if there is one and no other.
pub(super) fn deciding_marker(function: &Function, block: BlockId) -> Option<(usize, MarkerId)> {
    let instructions = function.blocks[block].instructions.iter().enumerate();
    let mut markers = instructions.filter_map(|(index, instruction)| match instruction {
        Instruction::MarkCondition { marker, .. } | Instruction::MarkSwitch { marker, .. } => Some((index, *marker)),
        _ => None,
    });
    let only = markers.next().filter(|_| markers.next().is_none())?;
    matches!(function.blocks[block].terminator, Terminator::Branch { .. } | Terminator::Switch { .. }).then_some(only)
}

/// A backward slice: the registers that what is wanted may depend on.
struct Slice<'f> {
    function: &'f Function,
    faults: bool,
    results: bool,
    /// Blocks whose outcomes join again without having done anything but set these registers.
    joining: HashMap<BlockId, Vec<RegisterId>>,
    definitions: HashMap<RegisterId, Vec<Operand>>,
    relevant: HashSet<RegisterId>,
    waiting: Vec<RegisterId>,
}

impl<'f> Slice<'f> {
    fn of(function: &'f Function, interest: &Interest<'_>) -> Self {
        let joins = Joins::of(function, interest);
        let joining = function.blocks.ids().filter_map(|block| joins.of_block(block).map(|set| (block, set))).collect();
        let mut definitions: HashMap<RegisterId, Vec<Operand>> = HashMap::new();
        for block in function.blocks.values() {
            for instruction in &block.instructions {
                for out in instruction.outs() {
                    instruction.for_each_operand(&mut |operand| definitions.entry(out).or_default().push(*operand));
                }
            }
            for (target, operand) in block.terminator.edges().into_iter().flat_map(|edge| &edge.copies) {
                definitions.entry(*target).or_default().push(*operand);
            }
        }
        let Interest { faults, results, .. } = *interest;
        Slice { function, faults, results, joining, definitions, relevant: HashSet::new(), waiting: Vec::new() }
    }

    fn grow(&mut self) {
        let function = self.function;
        for (id, block) in function.blocks.iter() {
            for instruction in &block.instructions {
                let is_marker =
                    matches!(instruction, Instruction::MarkCondition { .. } | Instruction::MarkSwitch { .. });
                if !is_plain(instruction, self.faults) || is_marker && !self.joining.contains_key(&id) {
                    instruction.for_each_operand(&mut |operand| self.need(operand));
                }
            }
            self.need_terminator(id);
        }
        while let Some(register) = self.waiting.pop() {
            let definitions = self.definitions.get(&register).cloned().unwrap_or_default();
            definitions.iter().for_each(|operand| self.need(operand));
            let deciding: Vec<BlockId> =
                self.joining.iter().filter(|(_, set)| set.contains(&register)).map(|(block, _)| *block).collect();
            deciding.into_iter().for_each(|block| self.decide(block));
        }
    }

    /// Which way it leaves its block matters.
    fn decide(&mut self, block: BlockId) {
        self.joining.remove(&block);
        for instruction in &self.function.blocks[block].instructions {
            if matches!(instruction, Instruction::MarkCondition { .. } | Instruction::MarkSwitch { .. }) {
                instruction.for_each_operand(&mut |operand| self.need(operand));
            }
        }
        self.need_terminator(block);
    }

    fn need_terminator(&mut self, block: BlockId) {
        match &self.function.blocks[block].terminator {
            Terminator::Return(values) if self.results => values.iter().for_each(|operand| self.need(operand)),
            Terminator::Branch { condition: operand, .. } | Terminator::Switch { value: operand, .. }
                if !self.joining.contains_key(&block) =>
            {
                self.need(operand);
            }
            _ => {}
        }
    }

    fn need(&mut self, operand: &Operand) {
        if let Operand::Register(register) = operand
            && self.relevant.insert(*register)
        {
            self.waiting.push(*register);
        }
    }

    fn idle(&self) -> HashSet<MarkerId> {
        self.joining.keys().filter_map(|&block| deciding_marker(self.function, block).map(|(_, it)| it)).collect()
    }
}

/// Where the ways that leave a block come together again.
struct Joins<'f> {
    function: &'f Function,
    postdominators: Vec<Option<usize>>,
    /// Blocks through which a run passes without doing anything but set registers.
    plain: Vec<bool>,
    faults: bool,
    wanted: Vec<bool>,
}

impl<'f> Joins<'f> {
    fn of(function: &'f Function, interest: &Interest<'_>) -> Self {
        let end = function.blocks.len();
        let mut edges = Vec::new();
        for (id, block) in function.blocks.iter() {
            let targets = block.terminator.edges();
            edges.extend(targets.iter().map(|edge| (id.index(), edge.target.index())));
            if targets.is_empty() {
                edges.push((id.index(), end));
            }
        }
        let graph = Digraph::new(end + 1, &edges);
        let plain = |block: &crate::code::Block| {
            block.instructions.iter().all(|instruction| is_plain(instruction, interest.faults))
        };
        let is_wanted = |instruction: &Instruction| match instruction {
            Instruction::MarkCondition { marker, .. } | Instruction::MarkSwitch { marker, .. } => {
                (interest.wanted)(*marker)
            }
            _ => false,
        };
        Joins {
            function,
            postdominators: immediate_dominators(&graph.reversed(), end),
            plain: function.blocks.values().map(plain).collect(),
            faults: interest.faults,
            wanted: function.blocks.values().map(|block| block.instructions.iter().any(is_wanted)).collect(),
        }
    }

    /// The registers that depend on which way a block is left, if that is all that does.
    fn of_block(&self, block: BlockId) -> Option<Vec<RegisterId>> {
        let (marker, _) = deciding_marker(self.function, block)?;
        let code = &self.function.blocks[block];
        let behind = &code.instructions[marker..];
        if self.wanted[block.index()] || !behind.iter().all(|instruction| is_plain(instruction, self.faults)) {
            return None;
        }
        let join = self.postdominators[block.index()].filter(|&join| join < self.function.blocks.len())?;
        let mut set = Vec::new();
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<&Edge> = code.terminator.edges();
        while let Some(edge) = waiting.pop() {
            if edge.back {
                return None;
            }
            if edge.target.index() == join {
                let defined = edge.copies.iter().all(|(_, operand)| *operand != Operand::Undefined);
                set.extend(defined.then_some(&edge.copies)?.iter().map(|(register, _)| *register));
                continue;
            }
            if !self.plain[edge.target.index()] || self.wanted[edge.target.index()] || edge.target == block {
                return None;
            }
            if seen.insert(edge.target) {
                waiting.extend(self.function.blocks[edge.target].terminator.edges());
            }
        }
        Some(set)
    }
}
