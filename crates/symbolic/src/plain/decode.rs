//! From a function's code to operations on the slots of its frame.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use branchwise_constraints::FastMap;
use branchwise_program::code::{
    self, Binary, BinaryOp, Block, Callee, Cast, CastOp, Compare, CompareOp, Function, Instruction, Operand, Terminator,
};
use branchwise_program::library::otherwise::LibraryCall;
use branchwise_program::library::{acquires, is_try_lock, releases};
use branchwise_program::map::{Event, LabelValues};
use branchwise_program::{BlockId, CodeFunctionId, Id, IdVec, MarkerId, Program, RegisterId};

use super::access;
use super::condition::Reload;
use super::fuse::{self, MarkedSwitch};
use super::operation::{Call, Edge, Ends, Exit, Fork, NO_MARKER, Operation, Place, Slot, Three, UNSETTLED};
use super::scan::Scan;
use super::table::{Range as Cases, Table};
use crate::loops::LoopExits;
use crate::session::global_object;
use crate::value::{Pointer, Value};

/// A function as it is executed.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(super) operations: Vec<Operation>,
    pub(super) edges: Vec<Edge>,
    /// Those of switches and of their markers.
    pub(super) tables: Vec<Table<[u32; 2]>>,
    pub(super) calls: Vec<Call>,
    pub(super) scans: Vec<Scan>,
    /// What each return hands back.
    pub(super) results: Vec<Box<[Slot]>>,
    /// By operation.
    places: Vec<Place>,
    /// The first operation of each block.
    starts: IdVec<BlockId, u32>,
    /// What the slots hold when the function is entered: registers nobody wrote, one slot for copies that go round in a
    /// circle, then constants.
    frame: Vec<Value>,
    pub(crate) exits: LoopExits,
    /// The map may not let all events follow each other that follow here: each is to be looked at.
    pub(super) strays: Cell<bool>,
}

/// The start of a block that is not decoded yet.
const NOWHERE: u32 = u32::MAX;
/// Edges through more empty blocks than this are left as they are.
pub(super) const LONGEST_CHAIN: usize = 8;

impl Decoded {
    #[cfg(test)]
    pub(crate) fn of(program: &Program, function: CodeFunctionId) -> Self {
        Decoded::with(program, &BTreeMap::new(), function)
    }

    /// `library_calls` are the functions whose calls are more than what their code does.
    pub(crate) fn with(
        program: &Program,
        library_calls: &BTreeMap<CodeFunctionId, LibraryCall>,
        function: CodeFunctionId,
    ) -> Self {
        let function = &program.code.functions[function];
        let mut decoder = Decoder {
            function,
            program,
            library_calls,
            uses: fuse::uses(function),
            is_head: function.blocks.ids().map(|_| false).collect(),
            constants: FastMap::default(),
            counted: 0,
            predecessors: function.blocks.ids().map(|_| 0).collect(),
            reloads: Vec::new(),
            decoded: Decoded {
                operations: Vec::new(),
                edges: Vec::new(),
                tables: Vec::new(),
                calls: Vec::new(),
                scans: Vec::new(),
                results: Vec::new(),
                places: Vec::new(),
                starts: function.blocks.ids().map(|_| NOWHERE).collect(),
                frame: vec![Value::Undefined; function.registers.len() + 1],
                exits: LoopExits::of(function),
                strays: Cell::new(false),
            },
        };
        decoder.function();
        decoder.decoded
    }

    pub(crate) fn frame(&self) -> &[Value] {
        &self.frame
    }

    pub(crate) fn place(&self, operation: usize) -> Place {
        self.places[operation]
    }

    pub(crate) fn start(&self, block: BlockId) -> usize {
        self.starts[block] as usize
    }
}

pub(super) struct Decoder<'f> {
    pub(super) function: &'f Function,
    program: &'f Program,
    library_calls: &'f BTreeMap<CodeFunctionId, LibraryCall>,
    /// How often each register is read.
    pub(super) uses: IdVec<RegisterId, u32>,
    is_head: IdVec<BlockId, bool>,
    constants: FastMap<(u8, u128), Slot>,
    /// The end of the instructions that are counted already, in the current block: its last call. Negative: so many of
    /// the blocks before are not counted yet.
    counted: isize,
    /// How many edges lead to each block.
    pub(super) predecessors: IdVec<BlockId, u32>,
    /// Edges of tests of what is in memory, which may lead to a block that begins with reading the same.
    pub(super) reloads: Vec<Reload>,
    pub(super) decoded: Decoded,
}

impl<'f> Decoder<'f> {
    fn function(&mut self) {
        let function = self.function;
        for block in function.blocks.values() {
            for edge in block.terminator.edges() {
                self.is_head[edge.target] |= edge.back;
                self.predecessors[edge.target] += 1;
            }
        }
        for id in function.blocks.ids() {
            self.counted = 0;
            let mut open = (self.decoded.starts[id] == NOWHERE).then_some(id);
            while let Some(block) = open {
                open = self.block(block, &function.blocks[block]);
            }
        }
        for edge in self.decoded.edges.iter_mut().filter(|edge| edge.target == NOWHERE) {
            edge.target = self.decoded.starts[edge.block];
        }
        for reload in std::mem::take(&mut self.reloads) {
            self.join_loads(&reload);
        }
        let Decoded { operations, edges, tables, .. } = &mut self.decoded;
        let target = |edge: u32| edges[edge as usize].target;
        for operation in operations {
            match operation.ends() {
                Ends::One(exit) => exit.target = target(exit.edge),
                Ends::Two(fork) => fork.targets = [target(fork.edges), target(fork.edges + 1)],
                Ends::Table(table) => {
                    tables[table as usize] = tables[table as usize].map(|[edge, _]| [edge, target(edge)]);
                }
                Ends::Next | Ends::Nothing => {}
            }
        }
    }

    /// Decodes a block; hands back the one to which it only leads on, to be decoded right behind it.
    fn block(&mut self, id: BlockId, block: &'f Block) -> Option<BlockId> {
        self.decoded.starts[id] = self.decoded.operations.len() as u32;
        let count = block.instructions.len();
        if let Some(next) = self.continuation(block) {
            self.instructions(id, 0..count);
            self.counted -= count as isize + 1;
            return Some(next);
        }
        if self.is_head[id]
            && let Some(scan) = self.scan(id, block)
        {
            self.decoded.scans.push(scan);
            self.push(id, 0, 0, Operation::Scan { scan: self.decoded.scans.len() as u32 - 1 });
        }
        let tail = self.tail(block);
        self.instructions(id, 0..tail);
        if tail < count
            && let Some(operation) = self.fused_tail(block, tail)
        {
            self.push(id, tail, count + 1, operation);
            return None;
        }
        self.instructions(id, tail..count);
        let operation = self.terminator(block).unwrap_or(Operation::General);
        self.push(id, count, count + 1, operation);
        None
    }

    /// The first of the instructions that may be one operation with the block's terminator.
    fn tail(&self, block: &Block) -> usize {
        let count = block.instructions.len();
        match &block.terminator {
            Terminator::Branch { .. } => fuse::condition(block, &self.uses).map_or(count, |condition| {
                fuse::loaded(block, &condition, &self.uses).map_or(condition.first, |loaded| loaded.first)
            }),
            Terminator::Switch { .. } => fuse::marked_switch(block, &self.uses).map_or(count, |switch| switch.first),
            Terminator::Jump(_) => match block.instructions.last() {
                Some(Instruction::Binary(Binary { op: BinaryOp::Add, .. })) => count - 1,
                Some(Instruction::Address(address)) if address.scaled.is_empty() => count - 1,
                _ => count,
            },
            Terminator::Return(_) | Terminator::Unreachable => count,
        }
    }

    fn fused_tail(&mut self, block: &'f Block, first: usize) -> Option<Operation> {
        match &block.terminator {
            Terminator::Branch { .. } => {
                let condition = fuse::condition(block, &self.uses)?;
                match fuse::loaded(block, &condition, &self.uses) {
                    Some(loaded) => self.test_loaded(block, &condition, &loaded),
                    None => self.test(block, &condition),
                }
            }
            Terminator::Switch { .. } => {
                let MarkedSwitch { marker, zero_extended, .. } = fuse::marked_switch(block, &self.uses)?;
                self.switch(block, Some((marker, zero_extended)))
            }
            Terminator::Jump(edge) => self.step(block, &block.instructions[first], edge),
            Terminator::Return(_) | Terminator::Unreachable => None,
        }
    }

    /// The last step of a block, whose result only the jump hands on.
    fn step(&mut self, block: &'f Block, step: &Instruction, edge: &'f code::Edge) -> Option<Operation> {
        let step = self.instruction(step)?;
        let edge = self.edges(block, &[edge])?;
        let exit = exit(edge);
        let operation = match step {
            Operation::Add(three) => {
                self.handed_on(three.out, edge).map(|out| Operation::AddJump { three: Three { out, ..three }, exit })
            }
            Operation::AddSigned(three) => self
                .handed_on(three.out, edge)
                .map(|out| Operation::AddSignedJump { three: Three { out, ..three }, exit }),
            Operation::Offset { out, base, constant } => {
                self.handed_on(out, edge).map(|out| Operation::OffsetJump { out, base, constant, exit })
            }
            _ => None,
        };
        if operation.is_none() {
            self.decoded.edges.truncate(edge as usize);
        }
        operation
    }

    /// Where an edge copies a register to that nothing else reads. Then the edge does not, and whoever goes along it
    /// writes there afterwards.
    fn handed_on(&mut self, from: Slot, edge: u32) -> Option<Slot> {
        let edge = self.decoded.edges.get_mut(edge as usize)?;
        let at = edge.moves.iter().position(|&(_, moved)| moved == from)?;
        let to = edge.moves[at].0;
        let later = edge.moves[at + 1..].iter().any(|&(next, read)| next == to || read == to);
        if later || self.uses[RegisterId::new(usize::from(from))] != 1 {
            return None;
        }
        let mut moves = edge.moves.to_vec();
        moves.remove(at);
        edge.moves = moves.into();
        Some(to)
    }

    /// The block to which a block jumps, if nothing else does and there is nothing to do on the way.
    fn continuation(&self, block: &Block) -> Option<BlockId> {
        let Terminator::Jump(edge) = &block.terminator else { return None };
        let first = edge.target.index() == 0 || self.decoded.starts[edge.target] != NOWHERE;
        (self.predecessors[edge.target] == 1 && edge.copies.is_empty() && !edge.back && !first).then_some(edge.target)
    }

    fn instructions(&mut self, id: BlockId, range: Range<usize>) {
        let instructions = &self.function.blocks[id].instructions[..range.end];
        let mut at = range.start;
        while let Some(instruction) = instructions.get(at) {
            let (operation, length) = match self.group(&instructions[at..]) {
                Some((operation, length)) => (Some(operation), length),
                None => (self.instruction(instruction), 1),
            };
            let end = at + length;
            let operation = match instruction {
                Instruction::Call(call) => self.call(call, (end as isize - self.counted) as u32),
                _ => operation,
            };
            self.push(id, at, end, operation.unwrap_or(Operation::General));
            if matches!(instruction, Instruction::Call(_)) {
                self.counted = end as isize;
            }
            at = end;
        }
    }

    fn push(&mut self, block: BlockId, first: usize, end: usize, operation: Operation) {
        let instructions = &self.function.blocks[block].instructions;
        let counts = end > instructions.len() || matches!(instructions[first], Instruction::Call(_));
        let cost = if counts { (end as isize - self.counted) as u32 } else { 0 };
        self.decoded.places.push(Place { block, first: first as u32, end: end as u32, cost });
        self.decoded.operations.push(operation);
    }

    pub(super) fn block_of(&self, id: BlockId) -> &'f Block {
        &self.function.blocks[id]
    }

    /// The slot of an operand of at most 64 bits.
    pub(super) fn slot(&mut self, operand: &Operand) -> Option<Slot> {
        let (key, value) = match *operand {
            Operand::Register(register) => return slot_of(register),
            Operand::Constant(bits) => ((0, bits), Value::Bits(u64::try_from(bits).ok()?)),
            Operand::Global(id, offset) => {
                let pointer = Pointer { object: global_object(id), offset: offset as u64 };
                ((1, u128::from(id.0) << 64 | u128::from(offset as u64)), Value::Pointer(pointer))
            }
            Operand::Function(id) => ((2, u128::from(id.0)), Value::Function(id)),
            Operand::Undefined => ((3, 0), Value::Undefined),
        };
        if let Some(&known) = self.constants.get(&key) {
            return Some(known);
        }
        let slot = numbered(self.decoded.frame.len())?;
        self.decoded.frame.push(value);
        self.constants.insert(key, slot);
        Some(slot)
    }

    pub(super) fn three(&mut self, out: RegisterId, left: &Operand, right: &Operand, width: u32) -> Option<Three> {
        let unused = unused(width)?;
        Some(Three { out: slot_of(out)?, left: self.slot(left)?, right: self.slot(right)?, unused })
    }

    fn instruction(&mut self, instruction: &Instruction) -> Option<Operation> {
        match instruction {
            Instruction::Binary(binary) => self.binary(binary),
            Instruction::Compare(compare) => self.compare(compare),
            Instruction::Cast(cast) => self.cast(cast),
            Instruction::Select { out, width, condition, then, otherwise } => {
                unused(*width)?;
                let (condition, then, otherwise) = (self.slot(condition)?, self.slot(then)?, self.slot(otherwise)?);
                Some(Operation::Select { out: slot_of(*out)?, condition, then, otherwise })
            }
            Instruction::Load { out, width, address } => {
                let (out, address) = (slot_of(*out)?, self.slot(address)?);
                access::load(*width, out, address)
            }
            Instruction::Store { width, value, address } => {
                let (value, address) = (self.slot(value)?, self.slot(address)?);
                access::store(*width, value, address)
            }
            Instruction::Address(address) => self.address(address),
            Instruction::MarkCondition { out, marker, value } => {
                let (out, value) = (slot_of(*out)?, self.slot(value)?);
                Some(Operation::Mark { out, value, fork: fork(self.reports(*marker, 2)) })
            }
            Instruction::CopyMemory { to, from, size } => {
                let (to, from, size) = (self.slot(to)?, self.slot(from)?, self.slot(size)?);
                Some(Operation::CopyMemory { to, from, size })
            }
            Instruction::SetMemory { to, byte, size } => {
                let (to, byte, size) = (self.slot(to)?, self.slot(byte)?, self.slot(size)?);
                Some(Operation::SetMemory { to, byte, size })
            }
            Instruction::MarkSwitch { marker, value } => {
                let (value, outcomes) = (self.slot(value)?, self.labels(*marker, 64, false)?);
                let first = self.reports(*marker, outcomes.all().fold(0, u32::max) + 1);
                Some(Operation::Switch { value, table: self.table(outcomes.map(|outcome| first + outcome)) })
            }
            _ => None,
        }
    }

    fn binary(&mut self, binary: &Binary) -> Option<Operation> {
        let three = self.three(binary.out, &binary.left, &binary.right, binary.width)?;
        Some(match (binary.op, binary.no_signed_wrap) {
            (BinaryOp::Add, false) => Operation::Add(three),
            (BinaryOp::Sub, false) => Operation::Sub(three),
            (BinaryOp::Mul, false) => Operation::Mul(three),
            (BinaryOp::Add, true) => Operation::AddSigned(three),
            (BinaryOp::Sub, true) => Operation::SubSigned(three),
            (BinaryOp::Mul, true) => Operation::MulSigned(three),
            (BinaryOp::UDiv, _) => Operation::UDiv(three),
            (BinaryOp::URem, _) => Operation::URem(three),
            (BinaryOp::SDiv, _) => Operation::SDiv(three),
            (BinaryOp::SRem, _) => Operation::SRem(three),
            (BinaryOp::And, _) => Operation::And(three),
            (BinaryOp::Or, _) => Operation::Or(three),
            (BinaryOp::Xor, _) => Operation::Xor(three),
            (BinaryOp::Shl, _) => Operation::Shl(three),
            (BinaryOp::LShr, _) => Operation::LShr(three),
            (BinaryOp::AShr, _) => Operation::AShr(three),
        })
    }

    fn compare(&mut self, compare: &Compare) -> Option<Operation> {
        let three = self.three(compare.out, &compare.left, &compare.right, compare.width)?;
        let swapped = Three { left: three.right, right: three.left, ..three };
        Some(match compare.op {
            CompareOp::Eq => Operation::Eq(three),
            CompareOp::Ne => Operation::Ne(three),
            CompareOp::Ult => Operation::Ult(three),
            CompareOp::Ule => Operation::Ule(three),
            CompareOp::Ugt => Operation::Ult(swapped),
            CompareOp::Uge => Operation::Ule(swapped),
            CompareOp::Slt => Operation::Slt(three),
            CompareOp::Sle => Operation::Sle(three),
            CompareOp::Sgt => Operation::Slt(swapped),
            CompareOp::Sge => Operation::Sle(swapped),
        })
    }

    fn cast(&mut self, cast: &Cast) -> Option<Operation> {
        let (unused_from, unused_to) = (unused(cast.from)?, unused(cast.to)?);
        let (out, from) = (slot_of(cast.out)?, self.slot(&cast.value)?);
        Some(match cast.op {
            CastOp::Copy => Operation::Move { out, from },
            CastOp::ZeroExtend => Operation::ZeroExtend { out, from },
            CastOp::Truncate => Operation::Truncate { out, from, unused: unused_to },
            CastOp::SignExtend => Operation::SignExtend { out, from, unused_from, unused_to },
        })
    }

    fn terminator(&mut self, block: &'f Block) -> Option<Operation> {
        match &block.terminator {
            Terminator::Jump(edge) => {
                let edge = self.edges(block, &[edge])?;
                Some(Operation::Jump { exit: exit(edge) })
            }
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.slot(condition)?;
                let edges = self.edges(block, &[otherwise, then])?;
                Some(Operation::Branch { condition, fork: fork(edges) })
            }
            Terminator::Switch { .. } => self.switch(block, None),
            Terminator::Return(_) if is_try_lock(&self.function.name) => None,
            Terminator::Return(values) => {
                let results: Option<Box<[Slot]>> = values.iter().map(|value| self.slot(value)).collect();
                let cost = self.cost_of(block);
                self.decoded.results.push(results?);
                Some(Operation::Return { results: self.decoded.results.len() as u32 - 1, cost })
            }
            _ => None,
        }
    }

    /// A call that only moves values; others do more when they are made.
    fn call(&mut self, call: &code::Call, cost: u32) -> Option<Operation> {
        let Callee::Direct(callee) = call.callee else { return None };
        let function = &self.program.code.functions[callee];
        if function.is_declaration()
            || function.variadic
            || self.program.stub(callee).is_some()
            || self.program.is_replaceable(callee)
            || self.library_calls.contains_key(&callee)
            || acquires(&function.name)
            || releases(&function.name)
        {
            return None;
        }
        let arguments = function.parameters.iter().zip(&call.arguments);
        let arguments: Option<_> =
            arguments.map(|(parameter, argument)| Some((*parameter, self.slot(argument)?))).collect();
        self.decoded.calls.push(Call { callee, arguments: arguments?, cost });
        Some(Operation::Call { call: self.decoded.calls.len() as u32 - 1 })
    }

    /// A switch, with its marker if that is said: and whether the marker sees the value extended by zeros.
    fn switch(&mut self, block: &'f Block, marked: Option<(MarkerId, bool)>) -> Option<Operation> {
        let Terminator::Switch { value, width, cases, default } = &block.terminator else { return None };
        let (unused, value) = (u32::from(unused(*width)?), self.slot(value)?);
        let outcomes = match marked {
            Some((marker, zero_extended)) => Some((marker, self.labels(marker, *width, zero_extended)?)),
            None => None,
        };
        let number = |bits: u128| Some(i128::from((u64::try_from(bits).ok()? << unused) as i64 >> unused));
        let edges: Vec<&code::Edge> = cases.iter().map(|(_, edge)| edge).chain([default]).collect();
        let first = self.decoded.edges.len() as u32;
        let ranges: Option<Vec<Cases>> = (first..)
            .zip(cases)
            .map(|(entry, (case, _))| Some(Cases { first: number(*case)?, last: number(*case)?, entry }))
            .collect();
        let table = Table::of(&ranges?, unused, first + cases.len() as u32)?;
        let joined = match outcomes {
            Some((marker, outcomes)) => Some((marker, outcomes.with(&table)?)),
            None => None,
        };
        self.edges(block, &edges)?;
        let table = match joined {
            Some((marker, joined)) => self.marked_table(marker, &joined),
            None => table,
        };
        Some(Operation::Switch { value, table: self.table(table) })
    }

    /// The table of edges that report the outcomes with which they stand.
    fn marked_table(&mut self, marker: MarkerId, joined: &Table<[u32; 2]>) -> Table {
        let mut known = FastMap::default();
        joined.map(|pair| {
            let [outcome, edge] = pair;
            *known.entry(pair).or_insert_with(|| self.reporting(edge, Event { marker, outcome }))
        })
    }

    /// The table from the values of a switch, of a width and extended for the marker, to the marker's outcomes.
    fn labels(&self, marker: MarkerId, width: u32, zero_extended: bool) -> Option<Table> {
        let (labels, signed) = self.program.map.markers[marker].kind.labels()?;
        let numbers = match (zero_extended || !signed, width) {
            (false, _) => -(1_i128 << (width - 1))..1_i128 << (width - 1),
            (true, _) if zero_extended || width == 64 => 0..1_i128 << width,
            (true, _) => return None,
        };
        let mut otherwise = labels.len() as u32;
        let mut ranges = Vec::new();
        for (label, entry) in labels.iter().zip(0..) {
            match label.values {
                LabelValues::Range { low, high } if numbers.contains(&low) && numbers.contains(&high) => {
                    ranges.push(Cases { first: low, last: high, entry });
                }
                LabelValues::Range { .. } => return None,
                LabelValues::Default => otherwise = otherwise.min(entry),
            }
        }
        Table::of(&ranges, u32::from(unused(width)?), otherwise)
    }

    fn table(&mut self, table: Table) -> u32 {
        self.decoded.tables.push(table.map(|edge| [edge, NOWHERE]));
        self.decoded.tables.len() as u32 - 1
    }

    /// What the end of a block adds to the count of instructions.
    fn cost_of(&self, block: &Block) -> u32 {
        (block.instructions.len() as isize + 1 - self.counted) as u32
    }

    /// Decodes edges that leave a block, one after the other; the index of the first.
    pub(super) fn edges(&mut self, block: &Block, edges: &[&'f code::Edge]) -> Option<u32> {
        let first = self.decoded.edges.len();
        let cost = self.cost_of(block);
        for edge in edges {
            let Some(edge) = self.edge(edge, cost) else {
                self.decoded.edges.truncate(first);
                return None;
            };
            self.decoded.edges.push(edge);
        }
        Some(first as u32)
    }

    /// Edges from the operation that is decoded to the next one, for what a marker reports; the first of them.
    pub(super) fn reports(&mut self, marker: MarkerId, outcomes: u32) -> u32 {
        let first = self.decoded.edges.len() as u32;
        let target = self.decoded.operations.len() as u32 + 1;
        for outcome in 0..outcomes {
            self.decoded.edges.push(Edge {
                event: Event { marker, outcome },
                target,
                cost: Cell::new(UNSETTLED),
                moves: Box::default(),
                block: BlockId::new(0),
                enters_loop: false,
                back: false,
            });
        }
        first
    }

    /// An edge that does what this one does and reports an event: itself, if it reports none yet.
    pub(super) fn reporting(&mut self, edge: u32, event: Event) -> u32 {
        let edges = &mut self.decoded.edges;
        if edges[edge as usize].event.marker == NO_MARKER {
            edges[edge as usize].event = event;
            return edge;
        }
        edges.push(Edge { event, ..edges[edge as usize].clone() });
        edges.len() as u32 - 1
    }

    /// Goes on through blocks that only jump, and does the copies of one edge after the other. That is not seen: where a
    /// limit ends the path among them, the general step takes them one by one.
    fn edge(&mut self, edge: &'f code::Edge, mut cost: u32) -> Option<Edge> {
        let mut last = edge;
        let mut moves = self.moves(&edge.copies)?;
        for _ in 0..LONGEST_CHAIN {
            let between = &self.function.blocks[last.target];
            let Terminator::Jump(next) = &between.terminator else { break };
            if !between.instructions.is_empty() || self.is_head[last.target] {
                break;
            }
            moves.extend(self.moves(&next.copies)?);
            last = next;
            cost += 1;
        }
        self.shorten(&mut moves);
        Some(Edge {
            event: Event { marker: NO_MARKER, outcome: 0 },
            target: NOWHERE,
            cost: Cell::new(cost | UNSETTLED),
            moves: moves.into(),
            block: last.target,
            enters_loop: self.is_head[last.target],
            back: last.back,
        })
    }

    /// Leaves out copies to registers that only a later one of these copies reads: it reads what they do.
    fn shorten(&self, moves: &mut Vec<(Slot, Slot)>) {
        let mut at = 0;
        while let Some(&(to, from)) = moves.get(at) {
            let rest = &moves[at + 1..];
            let reader = rest.iter().position(|&(_, read)| read == to);
            let once = usize::from(to) < self.uses.len() && self.uses[RegisterId::new(usize::from(to))] == 1;
            match reader {
                Some(reader) if once && rest[..reader].iter().all(|&(written, _)| written != from) => {
                    moves[at + 1 + reader].1 = from;
                    moves.remove(at);
                }
                _ => at += 1,
            }
        }
    }

    /// The copies of an edge, in the order in which they are done.
    fn moves(&mut self, copies: &[(RegisterId, Operand)]) -> Option<Vec<(Slot, Slot)>> {
        let mut moves = Vec::new();
        for (register, operand) in copies {
            let wide = self.function.registers[*register] > 64 && !matches!(operand, Operand::Register(_));
            moves.push((slot_of(*register)?, self.slot(operand).filter(|_| !wide)?));
        }
        Some(one_by_one(moves, numbered(self.function.registers.len())?))
    }
}

/// Copies that are meant to be done all at once, in an order in which they can be done one by one. `circle` is the slot
/// that opens circles.
fn one_by_one(mut open: Vec<(Slot, Slot)>, circle: Slot) -> Vec<(Slot, Slot)> {
    open.retain(|(to, from)| to != from);
    let mut ordered = Vec::new();
    while !open.is_empty() {
        let free = open.iter().position(|(to, _)| open.iter().all(|(_, from)| from != to));
        let next = free.unwrap_or_else(|| {
            let to = open[0].0;
            ordered.push((circle, to));
            open.iter_mut().filter(|(_, from)| *from == to).for_each(|(_, from)| *from = circle);
            0
        });
        ordered.push(open.remove(next));
    }
    ordered
}

/// An edge whose target is still to be said.
fn exit(edge: u32) -> Exit {
    Exit { edge, target: NOWHERE }
}

/// Two edges whose targets are still to be said.
pub(super) fn fork(edges: u32) -> Fork {
    Fork { edges, targets: [NOWHERE; 2] }
}

/// The slot of a register; the frame begins with them.
pub(super) fn slot_of(register: RegisterId) -> Option<Slot> {
    numbered(register.index())
}

/// The slot with this place in the frame. Nobody writes functions with more than there are numbers for, but machines may.
pub(super) fn numbered(index: usize) -> Option<Slot> {
    Slot::try_from(index).ok()
}

/// 64 less the width, for what fits into plain bits.
pub(super) fn unused(width: u32) -> Option<u8> {
    (1..=64).contains(&width).then(|| (64 - width) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds 1 to one register, writes another, and returns that.
    fn successor(registers: usize, from: u32, out: u32) -> Program {
        let (from, out) = (Operand::Register(RegisterId(from)), RegisterId(out));
        let right = Operand::Constant(1);
        let add = Binary { op: BinaryOp::Add, width: 32, out, left: from, right, no_signed_wrap: false };
        let block = Block {
            instructions: vec![Instruction::Binary(add)],
            locations: vec![None; 2],
            terminator: Terminator::Return(vec![Operand::Register(out)]),
        };
        let function = Function {
            name: "successor".to_owned(),
            parameters: Vec::new(),
            registers: (0..registers).map(|_| 32).collect(),
            results: vec![32],
            variadic: false,
            library: false,
            weak: false,
            padding: Default::default(),
            blocks: [block].into_iter().collect(),
        };
        let mut program = Program { map: Default::default(), code: Default::default() };
        program.code.functions.push(function);
        program
    }

    #[test]
    fn what_has_no_number_as_a_slot_is_for_the_general_step() {
        let operations =
            |registers, from, out| Decoded::of(&successor(registers, from, out), CodeFunctionId(0)).operations;
        let plain = |operations: &[Operation]| {
            operations.iter().map(|operation| !matches!(operation, Operation::General)).collect::<Vec<_>>()
        };
        assert_eq!(plain(&operations(2, 0, 1)), [true, true]);
        assert_eq!(plain(&operations(70_000, 0, 65_537)), [false, false]);
        assert_eq!(plain(&operations(70_000, 65_537, 0)), [false, true]);
        // The constant comes behind all registers.
        assert_eq!(plain(&operations(65_536, 0, 1)), [false, true]);
    }

    /// All ways to copy four slots into each other, circles among them.
    #[test]
    fn copies_one_by_one_do_what_they_do_at_once() {
        for choice in 0..4_u32.pow(4) {
            let copies: Vec<(Slot, Slot)> =
                (0..4).map(|to| (to, (choice / 4_u32.pow(to.into()) % 4) as Slot)).collect();
            let mut slots = [10, 11, 12, 13, 0];
            let expected: Vec<u32> = copies.iter().map(|(_, from)| slots[*from as usize]).collect();
            for (to, from) in one_by_one(copies, 4) {
                slots[to as usize] = slots[from as usize];
            }
            assert_eq!(slots[..4], expected);
        }
    }

    /// Through an empty block, whose copy goes on to the next one.
    fn chain(returned: u32) -> Decoded {
        let edge = |target, to, from| {
            Terminator::Jump(code::Edge { target: BlockId(target), copies: vec![(RegisterId(to), from)], back: false })
        };
        let register = |number| Operand::Register(RegisterId(number));
        let mut program = successor(3, 0, 0);
        let function = &mut program.code.functions[CodeFunctionId(0)];
        let terminators = [
            edge(1, 1, register(0)),
            edge(2, 2, register(1)),
            Terminator::Return(vec![register(2), register(returned)]),
        ];
        let block = |terminator| Block { instructions: Vec::new(), locations: vec![None], terminator };
        function.blocks = terminators.into_iter().map(block).collect();
        Decoded::of(&program, CodeFunctionId(0))
    }

    #[test]
    fn a_copy_that_only_the_next_copy_reads_is_left_out() {
        assert_eq!(*chain(2).edges[0].moves, [(2, 0)]);
        assert_eq!(*chain(1).edges[0].moves, [(1, 0), (2, 1)]);
    }
}
