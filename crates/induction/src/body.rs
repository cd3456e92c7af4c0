//! One function as one formula: all its ways at once, joined where they meet.
//!
//! A loop is one iteration from any state that it may have reached: what it changes is unknown at its head. Functions that
//! lead to themselves are not entered; [`Calls`] says what such a call does.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_constraints::{BinaryOp, CompareOp, TermId};
use branchwise_program::code::{
    self, Address, Binary, Call, Callee, Cast, CastOp, Compare, Edge, Function, Instruction, Operand, Terminator, Width,
};
use branchwise_program::map::Event;
use branchwise_program::{BlockId, CodeFunctionId, MarkerId, RegisterId};

use crate::memory::Memory;
use crate::observers::{Ghost, Unfolding};
use crate::proof::Proof;
use crate::regions::{Changes, Field, Target};

/// Instructions of one proof, with all that is entered.
const MOST_STEPS: usize = 400_000;

/// Versions of fields and ghosts: values are looked up through all of them.
const MOST_MAPS: usize = 4_000;

/// The body changes an array in a loop, is too long, or has something that nobody follows.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct NotUnderstood;

pub(crate) type Understood<T> = Result<T, NotUnderstood>;

/// Where the executions that come to one point may be.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// Whether it is reached.
    pub guard: TermId,
    pub registers: BTreeMap<RegisterId, TermId>,
    pub memory: Memory,
    /// Of each observer.
    pub ghosts: Vec<Ghost>,
    /// The memory that the ghosts are of.
    pub observed: Memory,
}

/// How a function returns.
#[derive(Debug, Clone)]
pub(crate) struct Exit {
    pub state: State,
    pub results: Vec<TermId>,
}

/// What calls of functions do that lead to themselves.
pub(crate) enum Calls<'u> {
    /// What their contracts say.
    Contracts,
    /// The function that is unfolded calls itself.
    Ghosts(&'u mut Unfolding),
}

impl Proof<'_> {
    /// Executes a function; `None` if it never returns.
    pub(crate) fn run(
        &mut self,
        function: CodeFunctionId,
        arguments: &[TermId],
        mut state: State,
        calls: &mut Calls<'_>,
    ) -> Understood<Option<Exit>> {
        let body = &self.unit.code.functions[function];
        let outside = std::mem::take(&mut state.registers);
        state.registers = body.parameters.iter().copied().zip(arguments.iter().copied()).collect();
        let layout = Layout::of(body)?;
        let mut arriving: BTreeMap<BlockId, Vec<State>> = BTreeMap::from([(BlockId(0), vec![state])]);
        let mut exits = Vec::new();
        for &block in &layout.order {
            let Some(state) = arriving.remove(&block).and_then(|states| self.joined(states)) else { continue };
            let state = self.at_head(function, block, &layout, state)?;
            let Some(state) = self.instructions(function, block, state, calls)? else { continue };
            match &body.blocks[block].terminator {
                Terminator::Return(values) => exits.push(self.exit(function, values, state)),
                terminator => {
                    for (target, state) in self.leave(function, terminator, state) {
                        arriving.entry(target).or_default().push(state);
                    }
                }
            }
        }
        let exit = exits.into_iter().reduce(|first, second| self.joined_exits(first, second));
        Ok(exit.map(|mut exit| {
            exit.state.registers = outside;
            exit
        }))
    }

    fn exit(&mut self, function: CodeFunctionId, values: &[Operand], state: State) -> Exit {
        let widths = &self.unit.code.functions[function].results;
        let results = values.iter().zip(widths).map(|(value, width)| self.operand(&state, value, *width)).collect();
        Exit { state, results }
    }

    fn joined_exits(&mut self, first: Exit, second: Exit) -> Exit {
        let condition = first.state.guard;
        let both = first.results.iter().zip(&second.results);
        let results = both.map(|(a, b)| self.theory.terms.if_then_else(condition, *a, *b)).collect();
        Exit { state: self.join(first.state, second.state), results }
    }

    fn joined(&mut self, states: Vec<State>) -> Option<State> {
        let possible = states.into_iter().filter(|state| self.theory.terms.as_boolean(state.guard) != Some(false));
        let possible: Vec<State> = possible.collect();
        possible.into_iter().reduce(|first, second| self.join(first, second))
    }

    /// At most one of the guards holds.
    fn join(&mut self, mut first: State, mut second: State) -> State {
        if !self.sees_the_same(&first, &second) {
            self.observe(&mut first);
            self.observe(&mut second);
        }
        let condition = first.guard;
        let guard = self.theory.terms.or(first.guard, second.guard);
        let both =
            first.registers.iter().filter_map(|(register, a)| Some((*register, *a, *second.registers.get(register)?)));
        let registers =
            both.map(|(register, a, b)| (register, self.theory.terms.if_then_else(condition, a, b))).collect();
        let memory = first.memory.choice(&mut self.theory, condition, &second.memory);
        let ghosts = first.ghosts.iter().zip(&second.ghosts);
        let ghosts = ghosts.map(|(a, b)| a.choice(&mut self.theory, condition, b)).collect();
        let observed = first.observed.choice(&mut self.theory, condition, &second.observed);
        State { guard, registers, observed, memory, ghosts }
    }

    /// What a loop changes may be anything where an iteration begins.
    fn at_head(&mut self, id: CodeFunctionId, block: BlockId, layout: &Layout, mut state: State) -> Understood<State> {
        let Some(inside) = layout.loops.get(&block) else { return Ok(state) };
        let function = &self.unit.code.functions[id];
        let mut changes = Changes::default();
        for member in inside {
            for instruction in &function.blocks[*member].instructions {
                changes.add(&self.unit.regions.changed_by(id, instruction));
                if let Instruction::Call(call) = instruction {
                    changes.add(&self.changed_by_call(call));
                }
            }
            for edge in function.blocks[*member].terminator.edges().into_iter().filter(|edge| edge.target == block) {
                for (out, _) in &edge.copies {
                    let unknown = self.theory.fresh("loop", function.registers[*out]);
                    state.registers.insert(*out, unknown);
                }
            }
        }
        if !changes.fields.is_empty() {
            return Err(NotUnderstood);
        }
        state.memory.forget(&mut self.theory, self.unit, self.array, &changes);
        Ok(state)
    }

    fn changed_by_call(&self, call: &Call) -> Changes {
        match call.callee {
            Callee::Direct(callee) if !self.unit.code.functions[callee].is_declaration() => {
                self.unit.regions.changes(callee).clone()
            }
            _ => Changes { other: true, ..Changes::default() },
        }
    }

    fn leave(&mut self, id: CodeFunctionId, terminator: &Terminator, state: State) -> Vec<(BlockId, State)> {
        let function = &self.unit.code.functions[id];
        let forward = |edge: &&Edge| !edge.back;
        match terminator {
            Terminator::Jump(edge) => {
                [edge].into_iter().filter(forward).map(|edge| self.along(function, edge, state.clone())).collect()
            }
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.operand(&state, condition, 1);
                let opposite = self.theory.terms.not(condition);
                let ways = [(then, condition), (otherwise, opposite)].into_iter();
                let ways: Vec<_> = ways.filter(|(edge, _)| forward(edge)).collect();
                ways.into_iter().map(|(edge, taken)| self.taken(function, edge, taken, &state)).collect()
            }
            Terminator::Switch { value, width, cases, default } => {
                let value = self.operand(&state, value, *width);
                let mut rest = self.theory.terms.boolean(true);
                let mut ways = Vec::new();
                for (case, edge) in cases {
                    let case = self.theory.terms.constant(*case, *width);
                    let equal = self.theory.terms.equal(value, case);
                    let different = self.theory.terms.not(equal);
                    rest = self.theory.terms.and(rest, different);
                    ways.push((edge, equal));
                }
                ways.push((default, rest));
                ways.retain(|(edge, _)| forward(edge));
                ways.into_iter().map(|(edge, taken)| self.taken(function, edge, taken, &state)).collect()
            }
            Terminator::Return(_) | Terminator::Unreachable => Vec::new(),
        }
    }

    fn taken(&mut self, function: &Function, edge: &Edge, condition: TermId, state: &State) -> (BlockId, State) {
        let guard = self.theory.terms.and(state.guard, condition);
        self.along(function, edge, State { guard, ..state.clone() })
    }

    fn along(&mut self, function: &Function, edge: &Edge, mut state: State) -> (BlockId, State) {
        let brought =
            edge.copies.iter().map(|(out, operand)| (*out, self.operand(&state, operand, function.registers[*out])));
        let brought: Vec<(RegisterId, TermId)> = brought.collect();
        state.registers.extend(brought);
        (edge.target, state)
    }

    /// `None` if no execution gets to the end of the block.
    fn instructions(
        &mut self,
        id: CodeFunctionId,
        block: BlockId,
        mut state: State,
        calls: &mut Calls<'_>,
    ) -> Understood<Option<State>> {
        let mut volatile = false;
        for instruction in &self.unit.code.functions[id].blocks[block].instructions {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.theory.map_count() > MOST_MAPS {
                return Err(NotUnderstood);
            }
            match instruction {
                Instruction::Call(call) => match self.call(id, call, state, calls)? {
                    Some(after) => state = after,
                    None => return Ok(None),
                },
                Instruction::Load { out, width, .. } if volatile => {
                    let unknown = self.theory.fresh("volatile", *width);
                    state.registers.insert(*out, unknown);
                }
                Instruction::Load { out, width, address } => {
                    let value = self.load(id, &mut state, *width, address);
                    state.registers.insert(*out, value);
                }
                Instruction::Store { width, value, address } => self.store(id, &mut state, *width, value, address),
                other => self.step(&mut state, id, other)?,
            }
            volatile = matches!(instruction, Instruction::VolatileRead { .. });
        }
        Ok(Some(state))
    }

    fn step(&mut self, state: &mut State, id: CodeFunctionId, instruction: &Instruction) -> Understood<()> {
        match instruction {
            Instruction::Binary(binary) => self.binary(state, binary),
            Instruction::Compare(compare) => self.compare(state, compare),
            Instruction::Cast(cast) => self.cast(state, cast),
            Instruction::Select { out, width, condition, then, otherwise } => {
                let condition = self.operand(state, condition, 1);
                let (then, otherwise) = (self.operand(state, then, *width), self.operand(state, otherwise, *width));
                let value = self.theory.terms.if_then_else(condition, then, otherwise);
                state.registers.insert(*out, value);
            }
            Instruction::Address(address) => self.address(state, id, address),
            Instruction::MarkCondition { out, marker, value } => self.mark_condition(state, *out, *marker, value),
            Instruction::Assume { condition } => {
                let condition = self.operand(state, condition, 32);
                self.require_not_zero(state, condition);
            }
            Instruction::Float(float) => self.forget_register(state, float.out, float.to),
            Instruction::StackObject { out, .. } | Instruction::WeakReference { out, .. } => {
                self.forget_register(state, *out, 64)
            }
            Instruction::CopyMemory { .. }
            | Instruction::SetMemory { .. }
            | Instruction::Input { .. }
            | Instruction::Feed { .. }
            | Instruction::VariadicStart { .. } => state.memory.forget_other(&mut self.theory),
            Instruction::MarkSwitch { .. }
            | Instruction::Probe { .. }
            | Instruction::Output { .. }
            | Instruction::VolatileRead { .. }
            | Instruction::VolatileWrite { .. } => {}
            Instruction::Unsupported { .. } => return Err(NotUnderstood),
            Instruction::Call(_) | Instruction::Load { .. } | Instruction::Store { .. } => {}
        }
        Ok(())
    }

    fn forget_register(&mut self, state: &mut State, out: RegisterId, width: Width) {
        let unknown = self.theory.fresh("unknown", width);
        state.registers.insert(out, unknown);
    }

    pub(crate) fn operand(&mut self, state: &State, operand: &Operand, width: Width) -> TermId {
        match operand {
            Operand::Register(register) => match state.registers.get(register) {
                Some(value) => *value,
                None => self.theory.fresh("unwritten", width),
            },
            Operand::Constant(value) => self.theory.terms.constant(*value, width),
            Operand::Global(id, offset) => {
                let base = self.address_of(*id);
                let offset = self.theory.terms.constant(*offset as u64 as u128, 64);
                self.theory.terms.add(base, offset)
            }
            Operand::Function(_) | Operand::Undefined => self.theory.fresh("unknown", width),
        }
    }

    fn binary(&mut self, state: &mut State, binary: &Binary) {
        let left = self.operand(state, &binary.left, binary.width);
        let right = self.operand(state, &binary.right, binary.width);
        if divides(binary.op) {
            self.require_not_zero(state, right);
        }
        let constant = self.theory.terms.as_constant(right);
        let value = match constant.filter(|by| shifts(binary.op) && *by >= u128::from(binary.width)) {
            Some(_) => self.theory.fresh("shifted", binary.width),
            None if self.silent => self.theory.abstract_binary(operator(binary.op), left, right),
            None => self.theory.binary(operator(binary.op), left, right),
        };
        state.registers.insert(binary.out, value);
    }

    fn require_not_zero(&mut self, state: &mut State, value: TermId) {
        let zero = self.theory.terms.constant(0, self.theory.terms.width(value));
        let fine = self.theory.terms.not_equal(value, zero);
        state.guard = self.theory.terms.and(state.guard, fine);
    }

    fn compare(&mut self, state: &mut State, compare: &Compare) {
        let left = self.operand(state, &compare.left, compare.width);
        let right = self.operand(state, &compare.right, compare.width);
        let (op, turned, negated) = match compare.op {
            code::CompareOp::Eq => (CompareOp::Eq, false, false),
            code::CompareOp::Ne => (CompareOp::Eq, false, true),
            code::CompareOp::Ult => (CompareOp::Ult, false, false),
            code::CompareOp::Ule => (CompareOp::Ule, false, false),
            code::CompareOp::Ugt => (CompareOp::Ult, true, false),
            code::CompareOp::Uge => (CompareOp::Ule, true, false),
            code::CompareOp::Slt => (CompareOp::Slt, false, false),
            code::CompareOp::Sle => (CompareOp::Sle, false, false),
            code::CompareOp::Sgt => (CompareOp::Slt, true, false),
            code::CompareOp::Sge => (CompareOp::Sle, true, false),
        };
        let (left, right) = if turned { (right, left) } else { (left, right) };
        let value = match self.silent {
            true => self.theory.abstract_compare(op, left, right),
            false => self.theory.terms.compare(op, left, right),
        };
        let value = if negated { self.theory.terms.not(value) } else { value };
        state.registers.insert(compare.out, value);
    }

    fn cast(&mut self, state: &mut State, cast: &Cast) {
        let value = self.operand(state, &cast.value, cast.from);
        let terms = &mut self.theory.terms;
        let value = match cast.op {
            CastOp::Copy => value,
            CastOp::Truncate => terms.truncate(value, cast.to),
            CastOp::ZeroExtend => terms.zero_extend(value, cast.to),
            CastOp::SignExtend => terms.sign_extend(value, cast.to),
        };
        state.registers.insert(cast.out, value);
    }

    fn address(&mut self, state: &mut State, id: CodeFunctionId, address: &Address) {
        let mut sum = self.operand(state, &address.base, 64);
        for scaled in &address.scaled {
            let index = self.operand(state, &scaled.index, scaled.width);
            let index = match scaled.width {
                64 => index,
                0..64 => self.theory.terms.sign_extend(index, 64),
                _ => self.theory.terms.truncate(index, 64),
            };
            let scale = self.theory.terms.constant(scaled.scale as u64 as u128, 64);
            let part = self.theory.terms.mul(index, scale);
            sum = self.theory.terms.add(sum, part);
        }
        let constant = self.theory.terms.constant(address.constant as u64 as u128, 64);
        let sum = self.theory.terms.add(sum, constant);
        if self.unit.regions.is_element(id, address.out, self.array) {
            self.note_pointer(sum);
        }
        state.registers.insert(address.out, sum);
    }

    fn mark_condition(&mut self, state: &mut State, out: RegisterId, marker: MarkerId, value: &Operand) {
        let value = self.operand(state, value, 32);
        let zero = self.theory.terms.constant(0, 32);
        let holds = self.theory.terms.not_equal(value, zero);
        let fails = self.theory.terms.not(holds);
        for (outcome, condition) in [(0, fails), (1, holds)] {
            let taken = self.theory.terms.and(state.guard, condition);
            self.note_event(Event { marker, outcome }, taken);
        }
        let truth = self.theory.terms.zero_extend(holds, 32);
        state.registers.insert(out, truth);
    }

    /// The element that an access to a field goes to; executions that leave the array end.
    fn element(&mut self, state: &mut State, field: Field, address: TermId) -> TermId {
        let offset = self.theory.terms.constant(u128::from(field.offset), 64);
        let element = self.theory.terms.sub(address, offset);
        let inside = self.is_inside(field.object, element);
        state.guard = self.theory.terms.and(state.guard, inside);
        element
    }

    fn load(&mut self, id: CodeFunctionId, state: &mut State, width: Width, address: &Operand) -> TermId {
        let target = self.unit.regions.target(id, address);
        let address = self.operand(state, address, 64);
        match target {
            Target::Cell(field) => state.memory.cells[&field],
            Target::Element(field) => {
                let element = self.element(state, field, address);
                let value = self.field(&state.memory, field, element);
                if self.is_link_field(field) {
                    self.note_link(state.guard, value);
                }
                value
            }
            Target::Other => state.memory.other(&mut self.theory, address, width),
        }
    }

    /// What a field of an element holds.
    pub(crate) fn field(&mut self, memory: &Memory, field: Field, element: TermId) -> TermId {
        let value = self.theory.value(memory.fields[&field], &[element]);
        if self.is_link_field(field) { self.widened(value) } else { value }
    }

    fn store(&mut self, id: CodeFunctionId, state: &mut State, width: Width, value: &Operand, address: &Operand) {
        let target = self.unit.regions.target(id, address);
        let address = self.operand(state, address, 64);
        let value = self.operand(state, value, width);
        match target {
            Target::Cell(field) => {
                state.memory.cells.insert(field, value);
            }
            Target::Element(field) => {
                let element = self.element(state, field, address);
                let value = match self.is_link_field(field) {
                    true => {
                        self.owe_link(state.guard, value);
                        self.narrow(value)
                    }
                    false => value,
                };
                let map = self.theory.stored(state.memory.fields[&field], element, value);
                state.memory.fields.insert(field, map);
            }
            Target::Other => state.memory.forget_other(&mut self.theory),
        }
    }

    fn call(
        &mut self,
        id: CodeFunctionId,
        call: &Call,
        mut state: State,
        calls: &mut Calls<'_>,
    ) -> Understood<Option<State>> {
        let Callee::Direct(callee) = call.callee else { return Err(NotUnderstood) };
        let widths = call.argument_widths.iter().copied().chain(std::iter::repeat(64));
        let operands = call.arguments.iter().zip(widths);
        let arguments: Vec<TermId> = operands.map(|(argument, width)| self.operand(&state, argument, width)).collect();
        let function = &self.unit.code.functions[callee];
        if !function.is_declaration() && !self.fits_parameters(function, &arguments) {
            return Err(NotUnderstood);
        }
        let exit = if function.is_declaration() {
            state.memory.forget_other(&mut self.theory);
            Some(Exit { state, results: Vec::new() })
        } else if self.unit.recursive.contains(&callee) {
            match calls {
                Calls::Contracts => Some(self.by_contract(callee, &arguments, state)?),
                Calls::Ghosts(unfolding) => Some(self.by_ghost(callee, &arguments, state, unfolding)?),
            }
        } else {
            self.run(callee, &arguments, state, calls)?
        };
        Ok(exit.map(|exit| {
            let mut state = exit.state;
            for (index, &out) in call.outs.iter().enumerate() {
                let width = self.unit.code.functions[id].registers[out];
                let result =
                    exit.results.get(index).copied().filter(|result| self.theory.terms.width(*result) == width);
                let result = result.unwrap_or_else(|| self.theory.fresh("result", width));
                state.registers.insert(out, result);
            }
            state
        }))
    }
}

impl Proof<'_> {
    /// Whether the arguments are those that the function has parameters for; a declaration without a prototype promises nothing.
    fn fits_parameters(&self, function: &Function, arguments: &[TermId]) -> bool {
        let widths = function.parameters.iter().map(|parameter| function.registers[*parameter]);
        arguments.iter().map(|argument| self.theory.terms.width(*argument)).eq(widths)
    }
}

fn divides(op: code::BinaryOp) -> bool {
    matches!(op, code::BinaryOp::UDiv | code::BinaryOp::SDiv | code::BinaryOp::URem | code::BinaryOp::SRem)
}

fn shifts(op: code::BinaryOp) -> bool {
    matches!(op, code::BinaryOp::Shl | code::BinaryOp::LShr | code::BinaryOp::AShr)
}

fn operator(op: code::BinaryOp) -> BinaryOp {
    match op {
        code::BinaryOp::Add => BinaryOp::Add,
        code::BinaryOp::Sub => BinaryOp::Sub,
        code::BinaryOp::Mul => BinaryOp::Mul,
        code::BinaryOp::UDiv => BinaryOp::UDiv,
        code::BinaryOp::SDiv => BinaryOp::SDiv,
        code::BinaryOp::URem => BinaryOp::URem,
        code::BinaryOp::SRem => BinaryOp::SRem,
        code::BinaryOp::And => BinaryOp::And,
        code::BinaryOp::Or => BinaryOp::Or,
        code::BinaryOp::Xor => BinaryOp::Xor,
        code::BinaryOp::Shl => BinaryOp::Shl,
        code::BinaryOp::LShr => BinaryOp::LShr,
        code::BinaryOp::AShr => BinaryOp::AShr,
    }
}

/// The blocks of a function such that each comes after those that lead to it, but for the ends of loops.
struct Layout {
    order: Vec<BlockId>,
    /// By the head of each loop the blocks in it.
    loops: BTreeMap<BlockId, BTreeSet<BlockId>>,
}

impl Layout {
    fn of(function: &Function) -> Understood<Self> {
        let mut before: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        let mut waiting: BTreeMap<BlockId, usize> = BTreeMap::new();
        let mut ends = Vec::new();
        for (id, block) in function.blocks.iter() {
            for edge in block.terminator.edges() {
                before.entry(edge.target).or_default().push(id);
                match edge.back {
                    true => ends.push((id, edge.target)),
                    false => *waiting.entry(edge.target).or_default() += 1,
                }
            }
        }
        let mut ready: Vec<BlockId> = function.blocks.ids().filter(|id| !waiting.contains_key(id)).collect();
        let mut order = Vec::new();
        while let Some(id) = ready.pop() {
            order.push(id);
            for edge in function.blocks[id].terminator.edges().into_iter().filter(|edge| !edge.back) {
                let left = waiting.get_mut(&edge.target).expect("it was counted");
                *left -= 1;
                if *left == 0 {
                    ready.push(edge.target);
                }
            }
        }
        if order.len() != function.blocks.len() {
            return Err(NotUnderstood);
        }
        let mut loops: BTreeMap<BlockId, BTreeSet<BlockId>> = BTreeMap::new();
        for (end, head) in ends {
            let inside = loops.entry(head).or_insert_with(|| BTreeSet::from([head]));
            let mut open = vec![end];
            while let Some(block) = open.pop() {
                if inside.insert(block) {
                    open.extend(before.get(&block).into_iter().flatten());
                }
            }
        }
        Ok(Layout { order, loops })
    }
}
