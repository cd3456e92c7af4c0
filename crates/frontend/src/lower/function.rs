//! One function: its blocks, its phis and its edges.

use std::collections::{BTreeMap, HashMap};

use branchwise_program::code::{BinaryOp, Block, Edge, Function, Instruction, Operand, Terminator, Width};
use branchwise_program::padding::Padding;
use branchwise_program::{BlockId, Id, IdVec, RegisterId};

use super::Unsupported;
use super::dominators::Dominators;
use super::emit::{Emitter, PendingAddress, PendingIndex};
use super::library::is_model;
use super::llvm::{BasicBlock, Opcode, Value};
use super::module::ModuleLowering;
use super::shape::Shape;

pub fn lower<'m>(module: &mut ModuleLowering<'m>, value: Value<'m>) -> Function {
    let ty = value.value_type();
    let mut lowering = FunctionLowering::new(module, value);
    lowering.fuses = value.target_features().split(',').any(|feature| feature == "+fma");
    let signature = lowering.signature(value);
    let blocks = match (&signature, value.blocks()) {
        (_, blocks) if blocks.is_empty() => IdVec::new(),
        (Ok(_), blocks) => lowering.body(value, &blocks),
        (Err(reason), _) => IdVec::from_iter([unsupported_body(reason)]),
    };
    let (parameters, results) = signature.unwrap_or_default();
    Function {
        name: value.name(),
        parameters,
        registers: lowering.emit.registers,
        results,
        variadic: ty.is_variadic(),
        library: is_model(value),
        weak: lowering.module.is_replaceable(value),
        padding: lowering.padding,
        blocks,
    }
}

/// The state while one function is lowered.
pub struct FunctionLowering<'a, 'm> {
    pub module: &'a mut ModuleLowering<'m>,
    pub emit: Emitter,
    /// Of the stack objects.
    pub padding: BTreeMap<RegisterId, Padding>,
    /// The registers or other operands that stand for each value.
    values: HashMap<Value<'m>, Vec<Operand>>,
    /// Addresses whose only use is a further address computation; they are folded into it.
    pub pending_addresses: HashMap<Value<'m>, PendingAddress>,
    function: Value<'m>,
    /// Some computed goto needs a block for addresses that are no labels.
    jumps_nowhere: bool,
    /// Whether `a * b + c` is one operation, because the function was compiled for a machine that has it.
    pub fuses: bool,
    /// Sign extensions whose only use is an index of an address, which extends by itself.
    pub pending_indices: HashMap<Value<'m>, PendingIndex>,
}

/// A block before its terminator is known.
struct OpenBlock {
    instructions: Vec<Instruction>,
    locations: Vec<Option<branchwise_program::code::Location>>,
}

/// What an edge has to copy: a phi's registers and the value that comes along this edge.
type EdgeCopies<'m> = HashMap<(BasicBlock<'m>, BasicBlock<'m>), Vec<(Value<'m>, Value<'m>)>>;

/// What is known of a function's blocks before they are lowered.
struct Graph<'m> {
    blocks: Vec<BasicBlock<'m>>,
    index: HashMap<BasicBlock<'m>, usize>,
    dominators: Dominators,
    /// Numbers of the reachable blocks, in the order in which they stand.
    ids: Vec<BlockId>,
    copies: EdgeCopies<'m>,
}

impl<'a, 'm> FunctionLowering<'a, 'm> {
    pub fn new(module: &'a mut ModuleLowering<'m>, function: Value<'m>) -> Self {
        FunctionLowering {
            module,
            emit: Emitter::default(),
            padding: BTreeMap::new(),
            values: HashMap::new(),
            pending_addresses: HashMap::new(),
            pending_indices: HashMap::new(),
            function,
            jumps_nowhere: false,
            fuses: false,
        }
    }

    pub fn shape(&mut self, value: Value<'m>) -> Result<Shape, Unsupported> {
        self.module.shapes.of(value.ty())
    }

    /// New registers for a value of this shape.
    pub fn registers(&mut self, shape: &Shape) -> Vec<RegisterId> {
        shape.iter().map(|part| self.emit.register(part.width)).collect()
    }

    /// The operands of a value: what an instruction produced, or a constant.
    pub fn parts(&mut self, value: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        match self.values.get(&value) {
            Some(parts) => Ok(parts.clone()),
            None => self.constant(value),
        }
    }

    /// The operand of a value that fits one register.
    pub fn scalar(&mut self, value: Value<'m>) -> Result<Operand, Unsupported> {
        if let Some([operand]) = self.values.get(&value).map(Vec::as_slice) {
            return Ok(*operand);
        }
        match self.parts(value)?.as_slice() {
            [operand] => Ok(*operand),
            _ => Err(Unsupported(format!("a value of type {} as one register", value.ty().spelling()))),
        }
    }

    /// The width of a value that fits one register.
    pub fn width(&mut self, value: Value<'m>) -> Result<Width, Unsupported> {
        match *self.shape(value)? {
            [part] => Ok(part.width),
            _ => Err(Unsupported(format!("a value of type {} as one register", value.ty().spelling()))),
        }
    }

    pub fn bind(&mut self, value: Value<'m>, parts: Vec<Operand>) {
        self.values.insert(value, parts);
    }

    /// Parameter registers and result widths.
    fn signature(&mut self, function: Value<'m>) -> Result<(Vec<RegisterId>, Vec<Width>), Unsupported> {
        let results = self.module.shapes.of(function.value_type().result())?;
        let mut registers = Vec::new();
        for parameter in function.parameters() {
            let shape = self.shape(parameter)?;
            let own = self.registers(&shape);
            self.bind(parameter, own.iter().copied().map(Operand::Register).collect());
            registers.extend(own);
        }
        Ok((registers, results.iter().map(|part| part.width).collect()))
    }

    fn body(&mut self, function: Value<'m>, blocks: &[BasicBlock<'m>]) -> IdVec<BlockId, Block> {
        let graph = Graph::new(blocks);
        self.name_phis(&graph);
        let mut open: Vec<Option<OpenBlock>> = (0..blocks.len()).map(|_| None).collect();
        // In reverse postorder every definition precedes its uses, but for phis, which have their registers already.
        for &index in &graph.dominators.order {
            if index == 0 {
                self.copy_parameters_by_value(function);
            }
            self.block(graph.blocks[index]);
            open[index] = Some(self.close());
        }
        let lowered = open.into_iter().enumerate().filter_map(|(index, block)| Some((index, block?)));
        let mut lowered: IdVec<BlockId, Block> =
            lowered.map(|(index, block)| self.terminate(&graph, index, block)).collect();
        if self.jumps_nowhere {
            let terminator = Terminator::Unreachable;
            lowered.push(Block { instructions: Vec::new(), locations: vec![None], terminator });
        }
        lowered
    }

    fn name_phis(&mut self, graph: &Graph<'m>) {
        for &index in &graph.dominators.order {
            for phi in phis(graph.blocks[index]) {
                let Ok(shape) = self.shape(phi) else { continue };
                let registers = self.registers(&shape);
                self.bind(phi, registers.into_iter().map(Operand::Register).collect());
            }
        }
    }

    fn block(&mut self, block: BasicBlock<'m>) {
        let terminator = block.terminator();
        for instruction in block.instructions() {
            if instruction.opcode() == Some(Opcode::LLVMPHI) || Some(instruction) == terminator {
                continue;
            }
            self.locate(instruction);
            let parts = self.instruction(instruction).unwrap_or_else(|reason| self.give_up(instruction, reason));
            if !instruction.ty().is_void() {
                self.bind(instruction, parts);
            }
        }
    }

    fn locate(&mut self, instruction: Value<'m>) {
        let location = instruction.debug_location();
        self.emit.location = location.map(|(directory, file, line, column)| branchwise_program::code::Location {
            file: self.module.files.number(directory, file),
            line,
            column,
        });
    }

    /// Ends the path here by name; the value, which nobody can use any more, is undefined.
    fn give_up(&mut self, instruction: Value<'m>, Unsupported(what): Unsupported) -> Vec<Operand> {
        self.emit.push(Instruction::Unsupported { what });
        self.shape(instruction).map(|shape| vec![Operand::Undefined; shape.len()]).unwrap_or_default()
    }

    fn close(&mut self) -> OpenBlock {
        OpenBlock {
            instructions: std::mem::take(&mut self.emit.instructions),
            locations: std::mem::take(&mut self.emit.locations),
        }
    }

    fn terminate(&mut self, graph: &Graph<'m>, index: usize, block: OpenBlock) -> Block {
        self.emit.instructions = block.instructions;
        self.emit.locations = block.locations;
        self.emit.location = None;
        let terminator = match graph.blocks[index].terminator() {
            Some(instruction) => {
                self.locate(instruction);
                self.terminator(graph, index, instruction).unwrap_or_else(|reason| {
                    self.give_up(instruction, reason);
                    Terminator::Unreachable
                })
            }
            None => Terminator::Unreachable,
        };
        let mut closed = self.close();
        closed.locations.push(self.emit.location);
        Block { instructions: closed.instructions, locations: closed.locations, terminator }
    }

    fn terminator(&mut self, graph: &Graph<'m>, from: usize, value: Value<'m>) -> Result<Terminator, Unsupported> {
        match value.opcode() {
            Some(Opcode::LLVMBr) => self.branch(graph, from, value),
            Some(Opcode::LLVMSwitch) => self.switch(graph, from, value),
            Some(Opcode::LLVMRet) => self.ret(value),
            Some(Opcode::LLVMUnreachable) => Ok(Terminator::Unreachable),
            Some(Opcode::LLVMIndirectBr) => self.computed_goto(graph, from, value),
            Some(Opcode::LLVMCallBr) => Err(Unsupported::new("asm goto")),
            Some(Opcode::LLVMInvoke) => Err(Unsupported::new("a call that may throw")),
            _ => Err(Unsupported::new("exception handling")),
        }
    }

    fn branch(&mut self, graph: &Graph<'m>, from: usize, value: Value<'m>) -> Result<Terminator, Unsupported> {
        match value.successors().as_slice() {
            [target] => Ok(Terminator::Jump(self.edge(graph, from, *target)?)),
            [then, otherwise] => {
                let condition = value.operand(0).ok_or_else(|| Unsupported::new("a branch without a condition"))?;
                Ok(Terminator::Branch {
                    condition: self.scalar(condition)?,
                    then: self.edge(graph, from, *then)?,
                    otherwise: self.edge(graph, from, *otherwise)?,
                })
            }
            _ => Err(Unsupported::new("a branch with many targets")),
        }
    }

    fn switch(&mut self, graph: &Graph<'m>, from: usize, value: Value<'m>) -> Result<Terminator, Unsupported> {
        let malformed = || Unsupported::new("a switch without constant cases");
        let condition = value.operand(0).ok_or_else(malformed)?;
        // Operands are the value, the default block, then pairs of case and block; successor 0 is the default.
        let successors = value.successors();
        let default = self.edge(graph, from, *successors.first().ok_or_else(malformed)?)?;
        let mut cases = Vec::with_capacity(successors.len() - 1);
        for (position, &target) in successors.iter().enumerate().skip(1) {
            let label = value.operand(2 * position as u32).and_then(Value::integer).ok_or_else(malformed)?;
            cases.push((label, self.edge(graph, from, target)?));
        }
        Ok(Terminator::Switch { width: self.width(condition)?, value: self.scalar(condition)?, cases, default })
    }

    /// A switch over the number of the label; an address that is none of the labels leads to a block without a way on.
    fn computed_goto(&mut self, graph: &Graph<'m>, from: usize, value: Value<'m>) -> Result<Terminator, Unsupported> {
        let address = value.operand(0).ok_or_else(|| Unsupported::new("a computed goto without a target"))?;
        let address = self.scalar(address)?;
        let labels = Operand::Global(self.module.labels(self.function), 0);
        let number = self.emit.arithmetic(BinaryOp::Sub, 64, address, labels, false);
        let mut cases = Vec::new();
        for target in value.successors() {
            let label = graph.index[&target] as u128;
            if cases.iter().all(|(known, _)| *known != label) {
                cases.push((label, self.edge(graph, from, target)?));
            }
        }
        self.jumps_nowhere = true;
        let nowhere = BlockId::new(graph.dominators.order.len());
        let default = Edge { target: nowhere, copies: Vec::new(), back: false };
        Ok(Terminator::Switch { value: number, width: 64, cases, default })
    }

    fn ret(&mut self, value: Value<'m>) -> Result<Terminator, Unsupported> {
        let parts = value.operand(0).map(|result| self.parts(result)).transpose()?;
        Ok(Terminator::Return(parts.unwrap_or_default()))
    }

    fn edge(&mut self, graph: &Graph<'m>, from: usize, target: BasicBlock<'m>) -> Result<Edge, Unsupported> {
        let to = graph.index[&target];
        let mut copies = Vec::new();
        for &(phi, incoming) in graph.copies.get(&(graph.blocks[from], target)).into_iter().flatten() {
            let values = self.parts(incoming)?;
            for (out, value) in self.parts(phi)?.into_iter().zip(values) {
                if let Operand::Register(out) = out {
                    copies.push((out, value));
                }
            }
        }
        Ok(Edge { target: graph.ids[to], copies, back: graph.dominators.dominates(to, from) })
    }
}

impl<'m> Graph<'m> {
    fn new(blocks: &[BasicBlock<'m>]) -> Self {
        let index: HashMap<_, _> = blocks.iter().enumerate().map(|(index, &block)| (block, index)).collect();
        let successors: Vec<Vec<usize>> =
            blocks.iter().map(|&block| followed(block).iter().map(|target| index[target]).collect()).collect();
        let dominators = Dominators::new(&successors);
        let mut next = 0;
        let number = |block| {
            let id = BlockId::new(next);
            next += usize::from(dominators.is_reachable(block));
            id
        };
        let ids = (0..blocks.len()).map(number).collect();
        let copies = edge_copies(dominators.order.iter().map(|&index| blocks[index]));
        Graph { blocks: blocks.to_vec(), index, dominators, ids, copies }
    }
}

fn phis<'m>(block: BasicBlock<'m>) -> impl Iterator<Item = Value<'m>> {
    block.instructions().take_while(|value| value.opcode() == Some(Opcode::LLVMPHI))
}

/// The successors that the executor can follow.
fn followed(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    match block.terminator() {
        Some(value) if matches!(value.opcode(), Some(Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMIndirectBr)) => {
            value.successors()
        }
        _ => Vec::new(),
    }
}

fn edge_copies<'m>(blocks: impl Iterator<Item = BasicBlock<'m>>) -> EdgeCopies<'m> {
    let mut copies: EdgeCopies<'m> = HashMap::new();
    for block in blocks {
        for phi in phis(block) {
            for (from, value) in phi.incoming() {
                let edge = copies.entry((from, block)).or_default();
                // A switch with two cases to one block gives its phis two equal entries.
                if edge.last().is_none_or(|&(last, _)| last != phi) {
                    edge.push((phi, value));
                }
            }
        }
    }
    copies
}

fn unsupported_body(Unsupported(what): &Unsupported) -> Block {
    Block {
        instructions: vec![Instruction::Unsupported { what: format!("a function with {what} in its signature") }],
        locations: vec![None, None],
        terminator: Terminator::Unreachable,
    }
}
