//! What the instructions of a block make of states.

use branchwise_program::code::{
    Address, BinaryOp, Block, Cast, CastOp, Changes, Compare, CompareOp, Edge, Float, FloatOp, Instruction, Operand,
    Terminator, Width,
};
use branchwise_program::map::{Event, LabelValues};
use branchwise_program::{BlockId, MarkerId, RegisterId};

use crate::calls::widen_to_truth;
use crate::contents::Contents;
use crate::interpreter::{Exit, Found, Run, Stop};
use crate::memory::{padding, points_elsewhere};
use crate::number::Number;
use crate::observed::Compared;
use crate::state::{Place, State};
use crate::value::{ObjectId, Targets, Value, not_null};

/// Larger copies are not followed cell by cell.
const LARGEST_COPY: u64 = 1 << 16;

/// States with the number of the edge that they leave by.
type Leaving = Vec<(usize, State)>;

impl Run<'_, '_> {
    pub(crate) fn block(&mut self, id: BlockId, mut states: Vec<State>) -> Found<(Leaving, Vec<Exit>)> {
        let block = &self.function.blocks[id];
        for index in 0..block.instructions.len() {
            if states.is_empty() {
                break;
            }
            self.interpreter.spend(states.len() as u64)?;
            states = self.instruction(block, id, index, states)?;
        }
        let mut leaving = Vec::new();
        let mut exits = Vec::new();
        for state in states {
            match &block.terminator {
                Terminator::Return(values) => exits.push(self.exit(values, state)),
                Terminator::Unreachable => {}
                other => self.leave(other, &state, &mut leaving),
            }
        }
        Ok((leaving, exits))
    }

    fn exit(&self, values: &[Operand], state: State) -> Exit {
        let widths = self.function.results.iter();
        let results = values.iter().zip(widths).map(|(value, &width)| self.value(&state, value, width)).collect();
        Exit { results, memory: state.memory }
    }

    fn leave(&self, terminator: &Terminator, state: &State, leaving: &mut Leaving) {
        match terminator {
            Terminator::Jump(edge) => leaving.push((0, self.copied(edge, state.clone()))),
            Terminator::Branch { condition, then, otherwise } => {
                for (index, (edge, truth)) in [(then, 1), (otherwise, 0)].into_iter().enumerate() {
                    let mut state = state.clone();
                    if self.restrict(&mut state, condition, &Number::constant(1, truth)) {
                        leaving.push((index, self.copied(edge, state)));
                    }
                }
            }
            Terminator::Switch { value, width, cases, default } => {
                let mut rest = state.clone();
                let mut goes_on = true;
                for (index, (case, edge)) in cases.iter().enumerate() {
                    let case = Number::constant(*width, *case);
                    let mut taken = state.clone();
                    if self.restrict(&mut taken, value, &case) {
                        leaving.push((index, self.copied(edge, taken)));
                    }
                    goes_on = goes_on && self.exclude(&mut rest, value, &case);
                }
                if goes_on {
                    leaving.push((cases.len(), self.copied(default, rest)));
                }
            }
            Terminator::Return(_) | Terminator::Unreachable => {}
        }
    }

    fn copied(&self, edge: &Edge, mut state: State) -> State {
        let brought = edge.copies.iter().map(|(out, operand)| {
            let value = self.value(&state, operand, self.function.registers[*out]);
            (*out, value, state.parameter(self.function, operand))
        });
        let brought: Vec<_> = brought.collect();
        state.leave_block();
        for (out, value, parameter) in brought {
            state.set(out, value);
            parameter.into_iter().for_each(|parameter| state.copy(out, parameter));
        }
        if let [(out, Operand::Register(from))] = edge.copies[..] {
            state.bring(out, from);
        }
        state
    }

    pub(crate) fn value(&self, state: &State, operand: &Operand, width: Width) -> Value {
        state.value(self.code, self.function, operand, width)
    }

    fn instruction(&mut self, block: &Block, id: BlockId, index: usize, states: Vec<State>) -> Found<Vec<State>> {
        let instruction = &block.instructions[index];
        if let Instruction::Unsupported { .. } = instruction {
            return Err(Stop::Unsupported);
        }
        let volatile = index > 0 && matches!(block.instructions[index - 1], Instruction::VolatileRead { .. });
        let mut after = Vec::with_capacity(states.len());
        for mut state in states {
            match instruction {
                Instruction::Call(call) => after.extend(self.call(call, state)?),
                Instruction::Load { out, width, address } => {
                    if self.load(&mut state, *out, *width, address, volatile) {
                        after.push(state);
                    }
                }
                Instruction::StackObject { out, size, count, .. } => {
                    self.stack_object(&mut state, *out, *size, count, id);
                    after.push(state);
                }
                Instruction::VolatileRead { address, by } if *by != Changes::Hardware => {
                    self.synchronise(&mut state, address);
                    after.push(state);
                }
                other => {
                    if self.step(&mut state, other) {
                        after.push(state);
                    }
                }
            }
        }
        Ok(after)
    }

    /// `false` if no execution goes on.
    fn step(&mut self, state: &mut State, instruction: &Instruction) -> bool {
        match instruction {
            Instruction::Binary(binary) => {
                let left = self.value(state, &binary.left, binary.width);
                let right = self.value(state, &binary.right, binary.width);
                let Some(number) = Number::binary(binary.op, &left.number, &right.number) else { return false };
                state.set(binary.out, Value { number, targets: mixed(&left, &right) });
                if self.interpreter.subject.left_open.is_answer(self.id, binary.out) {
                    widen_to_truth(state, binary.out);
                }
            }
            Instruction::Compare(compare) => self.compare(state, compare),
            Instruction::Cast(cast) => self.cast(state, cast),
            Instruction::Float(float) => self.float(state, float),
            Instruction::Select { out, width, condition, then, otherwise } => {
                let value = self.select(state, *width, condition, [then, otherwise]);
                state.set(*out, value);
            }
            Instruction::Store { width, value, address } => return self.store(state, *width, value, address),
            Instruction::Address(address) => self.address(state, address),
            Instruction::CopyMemory { to, from, size } => self.copy_memory(state, [to, from], size),
            Instruction::SetMemory { to, byte, size } => self.set_memory(state, to, byte, size),
            Instruction::MarkCondition { out, marker, value } => self.mark_condition(state, *out, *marker, value),
            Instruction::MarkSwitch { marker, value } => self.mark_switch(state, *marker, value),
            Instruction::Probe { .. } => {}
            Instruction::Input { address, .. } | Instruction::VariadicStart { list: address } => {
                self.smear(state, address);
            }
            Instruction::Feed { address, size, .. } => {
                let to = self.value(state, address, 64);
                let fits = u32::try_from(8 * size).ok().filter(|_| *size > 0);
                state.forget_mirrors(&to, *size);
                return fits.is_none_or(|width| state.memory.store(self.code, &to, *size, &Value::any(width)));
            }
            Instruction::Assume { condition } => {
                return self.exclude(state, condition, &Number::constant(32, 0));
            }
            Instruction::Output { address, .. } => {
                let from = self.value(state, address, 64);
                let targets = state.memory.targets_behind(self.code, &from);
                state.memory.escape(self.code, &targets);
                // Whoever gets a reference may write there.
                state.memory.escape(self.code, &from.targets);
            }
            // A device that was given an object may have written it since.
            Instruction::VolatileRead { address, .. } => {
                if points_elsewhere(&self.value(state, address, 64)) {
                    state.forget_all_mirrors();
                    state.memory.havoc(self.code);
                }
            }
            Instruction::VolatileWrite { .. } => {}
            Instruction::WeakReference { out, symbol } => {
                let mut value = self.value(state, symbol, 64);
                if symbol.function().is_some_and(|function| self.interpreter.program.stub(function).is_some()) {
                    value = value.join(&Value::plain(Number::constant(64, 0)));
                }
                state.set(*out, value);
            }
            Instruction::Call(_)
            | Instruction::Load { .. }
            | Instruction::StackObject { .. }
            | Instruction::Unsupported { .. } => {}
        }
        true
    }

    fn compare(&self, state: &mut State, compare: &Compare) {
        let left = self.value(state, &compare.left, compare.width);
        let right = self.value(state, &compare.right, compare.width);
        let truth = match state.are_equal(self.function, &compare.left, &compare.right) {
            true => Number::constant(1, u128::from(holds_for_equals(compare.op))),
            false => Number::compare(compare.op, &left.number, &right.number),
        };
        state.set(compare.out, Value::plain(truth));
    }

    fn cast(&self, state: &mut State, cast: &Cast) {
        let value = self.value(state, &cast.value, cast.from);
        let cast_value = match cast.op {
            CastOp::Copy => value,
            op => Value { number: value.number.cast(op, cast.to), targets: value.targets.anywhere() },
        };
        let parameter = state.parameter(self.function, &cast.value).filter(|_| cast.op == CastOp::Copy);
        state.set(cast.out, cast_value);
        parameter.into_iter().for_each(|parameter| state.copy(cast.out, parameter));
    }

    /// Each alternative with what its condition says.
    fn select(&self, state: &State, width: Width, condition: &Operand, sides: [&Operand; 2]) -> Value {
        let mut joined: Option<Value> = None;
        for (operand, truth) in sides.into_iter().zip([1, 0]) {
            let mut under = state.clone();
            if self.restrict(&mut under, condition, &Number::constant(1, truth)) {
                let value = self.value(&under, operand, width);
                joined = Some(joined.map_or_else(|| value.clone(), |old| old.join(&value)));
            }
        }
        joined.unwrap_or_else(|| Value::any(width))
    }

    fn address(&self, state: &mut State, address: &Address) {
        let base = self.value(state, &address.base, 64);
        let mut by = Number::constant(64, u128::from(address.constant as u64));
        for scaled in &address.scaled {
            let index = self.value(state, &scaled.index, scaled.width).number;
            let index = match scaled.width {
                64 => index,
                0..64 => index.cast(CastOp::SignExtend, 64),
                _ => index.cast(CastOp::Truncate, 64),
            };
            let scale = Number::constant(64, u128::from(scaled.scale as u64));
            by = sum(&by, &product(&index, &scale));
        }
        let mut targets = Targets { unknown: base.targets.unknown, ..Targets::default() };
        let mut inside = !base.targets.unknown && !base.targets.known.is_empty() && !base.number.contains(0);
        for (object, offset) in &base.targets.known {
            let offset = sum(offset, &by);
            let size = state.memory.contents(self.code, *object).map(|contents| contents.size);
            inside &= size.is_some_and(|size| offset.unsigned_bounds().1 <= size);
            targets.known.insert(*object, offset);
        }
        let number = if inside { not_null() } else { sum(&base.number, &by) };
        let indices = address.scaled.iter().map(|scaled| self.value(state, &scaled.index, scaled.width));
        indices.for_each(|index| targets.add(&index.targets.anywhere()));
        state.set(address.out, Value { number, targets });
    }

    /// Only an object that is made once while its function runs is followed.
    fn stack_object(&self, state: &mut State, out: RegisterId, size: u64, count: &Operand, block: BlockId) {
        let object = ObjectId::Stack(self.id, out);
        let followed = match count {
            Operand::Constant(count) if block == BlockId(0) => size.checked_mul(*count as u64),
            _ => None,
        };
        match followed {
            Some(size) => {
                state.memory.put(object, Contents::unknown(size));
                state.set(out, Value::address(self.code, object, 0));
            }
            None => state.set(out, Value { number: not_null(), targets: Targets::unknown() }),
        }
    }

    fn load(&self, state: &mut State, out: RegisterId, width: Width, address: &Operand, volatile: bool) -> bool {
        let from = self.value(state, address, 64);
        let size = u64::from(width.div_ceil(8));
        let Some(mut value) = state.memory.load(self.code, &from, size) else { return false };
        if volatile || !width.is_multiple_of(8) {
            value = Value { number: Number::any(width), targets: Targets { unknown: true, ..value.targets } };
        }
        if !self.exclude(state, address, &Number::constant(64, 0)) {
            return false;
        }
        state.set(out, value.clone());
        if let Some((object, offset)) = from.single_target()
            && let Some(at) = offset.as_constant().filter(|_| !volatile && width.is_multiple_of(8))
            && !self.is_constant(object)
            && let Some(contents) = state.memory.contents(self.code, object)
        {
            if !contents.has_cell(at, size) {
                let mut contents = Contents::clone(&contents);
                contents.keep_cell(at, size, &value);
                state.memory.put(object, contents);
            }
            state.mirror(out, Place { object, at, size });
        }
        true
    }

    fn is_constant(&self, object: ObjectId) -> bool {
        matches!(object, ObjectId::Global(id) if self.code.globals[id].constant)
    }

    fn store(&self, state: &mut State, width: Width, value: &Operand, address: &Operand) -> bool {
        let to = self.value(state, address, 64);
        let size = u64::from(width.div_ceil(8));
        let stored = match width.is_multiple_of(8) {
            true => self.value(state, value, width),
            false => Value::any(8 * size as u32),
        };
        state.forget_mirrors(&to, size);
        self.outdate_other_names(state, &to);
        if !state.memory.store(self.code, &to, size, &stored) {
            return false;
        }
        if let (Operand::Register(register), Some((object, offset))) = (value, to.single_target())
            && let Some(at) = offset.as_constant().filter(|_| width.is_multiple_of(8))
        {
            state.mirror(*register, Place { object, at, size });
        }
        self.exclude(state, address, &Number::constant(64, 0))
    }

    /// Variables are written that may have other names.
    fn outdate_other_names(&self, state: &mut State, to: &Value) {
        let has_names = |object: &ObjectId| match object {
            ObjectId::Global(id) => !self.code.globals[*id].outside.may_be.is_empty(),
            ObjectId::Stack(..) | ObjectId::Function(_) => false,
        };
        for object in to.targets.known.keys().copied().filter(has_names) {
            state.forget_all_mirrors();
            state.memory.outdate_other_names(self.code, object);
        }
    }

    /// Anything may stand there now.
    fn smear(&self, state: &mut State, address: &Operand) {
        let to = self.value(state, address, 64);
        state.forget_mirrors(&Value { targets: to.targets.anywhere(), ..to.clone() }, 1);
        self.outdate_other_names(state, &to);
        state.memory.smear(self.code, &to, &Targets::unknown());
    }

    fn copy_memory(&self, state: &mut State, [to, from]: [&Operand; 2], size: &Operand) {
        let (to, from) = (self.value(state, to, 64), self.value(state, from, 64));
        let size = self.value(state, size, 64).number.as_constant();
        if size == Some(0) {
            return;
        }
        state.forget_mirrors(&Value { targets: to.targets.anywhere(), ..to.clone() }, 1);
        self.outdate_other_names(state, &to);
        if let Some(size) = size.filter(|size| *size <= LARGEST_COPY)
            && self.copy_exactly(state, &to, &from, size)
        {
            return;
        }
        let mut targets = state.memory.targets_behind(self.code, &from);
        targets.unknown |= points_elsewhere(&from);
        state.memory.smear(self.code, &to, &targets);
    }

    fn copy_exactly(&self, state: &mut State, to: &Value, from: &Value, size: u64) -> bool {
        let (Some((to, at)), Some((from, start))) = (to.single_target(), from.single_target()) else { return false };
        let (Some(at), Some(start)) = (at.as_constant(), start.as_constant()) else { return false };
        let memory = &mut state.memory;
        let (Some(target), Some(source)) = (memory.contents(self.code, to), memory.contents(self.code, from)) else {
            return false;
        };
        let loses_padding = padding(self.code, from).is_some_and(|padding| padding.touches(start, size));
        if loses_padding && padding(self.code, to).is_none() {
            return false;
        }
        let mut target = Contents::clone(&target);
        if !target.copy(self.code, at, &source, start, size) {
            return false;
        }
        let targets = source.targets(self.code);
        memory.put(to, target);
        if memory.has_escaped(to) {
            memory.escape(self.code, &targets);
        }
        true
    }

    fn set_memory(&self, state: &mut State, to: &Operand, byte: &Operand, size: &Operand) {
        let to_value = self.value(state, to, 64);
        let byte = self.value(state, byte, 8);
        let size = self.value(state, size, 64).number.as_constant();
        if size == Some(0) {
            return;
        }
        state.forget_mirrors(&Value { targets: to_value.targets.anywhere(), ..to_value.clone() }, 1);
        self.outdate_other_names(state, &to_value);
        if let (Some(size), Some(0), Some((object, offset))) =
            (size, byte.number.as_constant(), to_value.single_target())
            && offset.as_constant() == Some(0)
            && let Some(contents) = state.memory.contents(self.code, object).filter(|all| all.size == size)
        {
            let mut contents = Contents::clone(&contents);
            contents.set_zero();
            state.memory.put(object, contents);
            return;
        }
        state.memory.smear(self.code, &to_value, &byte.targets);
    }

    fn mark_condition(&mut self, state: &mut State, out: RegisterId, marker: MarkerId, value: &Operand) {
        let number = self.value(state, value, 32).number;
        let truths = Number::compare(branchwise_program::code::CompareOp::Ne, &number, &Number::constant(32, 0));
        if self.observed.is_some() {
            let compared = self.compared(state, value);
            if let Some(observed) = &mut self.observed {
                let outcomes = truths.few().unwrap_or(&[0, 1]).iter();
                observed.events.extend(outcomes.map(|&outcome| Event { marker, outcome: outcome as u32 }));
                observed.note_compared(marker, compared);
            }
        }
        state.set(out, Value::plain(truths.cast(CastOp::ZeroExtend, 32)));
    }

    /// The sides of the comparison that a condition is, or the condition itself.
    fn compared(&self, state: &State, value: &Operand) -> Compared {
        let mut operand = *value;
        while let Operand::Register(register) = operand {
            match self.definition(register) {
                Some(Instruction::Cast(cast)) if cast.op == CastOp::ZeroExtend && cast.from == 1 => {
                    operand = cast.value;
                }
                // A condition is made 0 or 1 by negating it twice.
                Some(Instruction::Binary(binary))
                    if binary.width == 1 && binary.op == BinaryOp::Xor && binary.right == Operand::Constant(1) =>
                {
                    operand = binary.left;
                }
                Some(Instruction::Compare(compare)) => {
                    let side = |operand| self.value(state, operand, compare.width).number;
                    return Compared { left: side(&compare.left), right: Some(side(&compare.right)) };
                }
                Some(Instruction::Float(Float { op: FloatOp::Compare(_), from, operands, .. })) => {
                    let side = |operand| self.value(state, operand, *from).number.taken_for_float();
                    return Compared { left: side(&operands[0]), right: operands.get(1).map(side) };
                }
                _ => break,
            }
        }
        Compared { left: self.value(state, value, 32).number, right: None }
    }

    fn mark_switch(&mut self, state: &State, marker: MarkerId, value: &Operand) {
        let number = self.value(state, value, 64).number;
        let Some(observed) = &mut self.observed else { return };
        let Some((labels, signed)) = self.interpreter.program.map.markers[marker].kind.labels() else { return };
        let mut default = labels.len() as u32;
        let mut ranges = Vec::new();
        for (label, outcome) in labels.iter().zip(0..) {
            match label.values {
                LabelValues::Default => default = outcome,
                LabelValues::Range { low, high } => {
                    ranges.push((low, high));
                    if reaches(&number, signed, low, high) {
                        observed.events.insert(Event { marker, outcome });
                    }
                }
            }
        }
        if leaves_out(&number, signed, &mut ranges) {
            observed.events.insert(Event { marker, outcome: default });
        }
        observed.note_compared(marker, Compared { left: number, right: None });
    }

    pub(crate) fn definition(&self, register: RegisterId) -> Option<&Instruction> {
        let (block, index) = self.layout.definitions.get(&register)?;
        self.function.blocks[*block].instructions.get(*index)
    }
}

/// Whether a member may lie in a range.
fn reaches(number: &Number, signed: bool, low: i128, high: i128) -> bool {
    let all = Number::any(64);
    let range = match signed {
        true => {
            let (least, most) = all.signed_bounds();
            let (low, high) = (low.max(least.into()), high.min(most.into()));
            if low > high { None } else { Number::signed_range(64, low as i64, high as i64) }
        }
        false => {
            let (low, high) = (low.max(0), high.min(u64::MAX.into()));
            if low > high { None } else { Number::unsigned_range(64, low as u64, high as u64) }
        }
    };
    range.is_some_and(|range| number.meet(&range).is_some())
}

/// Whether a member may lie outside all ranges.
fn leaves_out(number: &Number, signed: bool, ranges: &mut [(i128, i128)]) -> bool {
    let reading = |bits: u64| if signed { i128::from(bits as i64) } else { i128::from(bits) };
    if let Some(few) = number.few() {
        let inside = |value: i128| ranges.iter().any(|&(low, high)| low <= value && value <= high);
        return few.iter().any(|&bits| !inside(reading(bits)));
    }
    let (mut low, high) = match signed {
        true => (i128::from(number.signed_bounds().0), i128::from(number.signed_bounds().1)),
        false => (i128::from(number.unsigned_bounds().0), i128::from(number.unsigned_bounds().1)),
    };
    ranges.sort_unstable();
    for &(from, to) in ranges.iter() {
        if from <= low {
            low = low.max(to + 1);
        }
    }
    low <= high
}

fn sum(left: &Number, right: &Number) -> Number {
    Number::binary(BinaryOp::Add, left, right).unwrap_or_else(|| Number::any(64))
}

fn product(left: &Number, right: &Number) -> Number {
    Number::binary(BinaryOp::Mul, left, right).unwrap_or_else(|| Number::any(64))
}

/// What a comparison of a value with itself says.
fn holds_for_equals(op: CompareOp) -> bool {
    match op {
        CompareOp::Eq | CompareOp::Ule | CompareOp::Uge | CompareOp::Sle | CompareOp::Sge => true,
        CompareOp::Ne | CompareOp::Ult | CompareOp::Ugt | CompareOp::Slt | CompareOp::Sgt => false,
    }
}

/// A computation with addresses may make an address of the same objects.
fn mixed(left: &Value, right: &Value) -> Targets {
    let mut targets = left.targets.anywhere();
    targets.add(&right.targets.anywhere());
    targets
}
