//! The dispatch: one line for each instruction and terminator.

use std::sync::atomic::Ordering;

use branchwise_constraints::{CompareOp as TermCompare, TermId};
use branchwise_program::assumption::catalogue::{
    NO_SIGNALS, NO_SPURIOUS_FAILURE, ONE_THREAD, VOLATILE_HOLDS, WEAK_REFERENCES_RESOLVE,
};
use branchwise_program::code::{Changes, Edge, Instruction, Operand, Terminator};
use branchwise_program::map::{Event, Label, LabelValues};
use branchwise_program::{MarkerId, RegisterId};

use crate::address::{Access, Spot};
use crate::executor::{Executor, Step};
use crate::frames::Switched;
use crate::inputs::InputKey;
use crate::memory::{Contents, Origin};
use crate::path::{Alternative, AlternativeKind, FaultKind, Output, PathEnd};
use crate::plain::Place;
use crate::value::{Pointer, Value, signed, truncate};

/// Larger stack objects end the path: no machine has that much stack.
const LARGEST_STACK_OBJECT: u64 = 64 << 20;

/// Where a copy goes.
pub(crate) enum Range {
    Within(Pointer),
    Fixed(u64),
}

impl<'p> Executor<'_, 'p> {
    /// Runs what is plain, then one operation that is not.
    pub(crate) fn advance(&mut self) -> Step<()> {
        let (place, next) = self.run_plain();
        self.general_step(place, next)
    }

    /// Executes the instructions that an operation stands for, whatever their operands are.
    pub(crate) fn general_step(&mut self, place: Place, next: usize) -> Step<()> {
        let frame = self.frame();
        (frame.block, frame.next) = (place.block, next);
        let function = frame.function;
        let code = self.code;
        let block = &code.functions[function].blocks[place.block];
        let end = block.instructions.len().min(place.end as usize);
        for index in place.first as usize..end {
            self.instruction = index as u32;
            self.execute(&block.instructions[index])?;
        }
        self.instructions += u64::from(place.cost);
        if place.end as usize <= block.instructions.len() {
            return Ok(());
        }
        self.instruction = block.instructions.len() as u32;
        self.check_limits()?;
        self.terminate(&block.terminator)
    }

    fn check_limits(&mut self) -> Step<()> {
        if self.instructions > self.limits.instructions {
            return Err(Box::new(PathEnd::InstructionLimit {
                location: self.location(),
                bound: self.limits.instructions,
            }));
        }
        if self.limits.interrupt.load(Ordering::Relaxed) {
            return Err(Box::new(PathEnd::Interrupted));
        }
        if self.session.terms.len() > self.limits.terms {
            return Err(Box::new(PathEnd::MemoryLimit));
        }
        Ok(())
    }

    fn execute(&mut self, instruction: &'p Instruction) -> Step<()> {
        match instruction {
            Instruction::Binary(binary) => self.binary(binary)?,
            Instruction::Compare(compare) => self.compare(compare)?,
            Instruction::Cast(cast) => self.cast(cast)?,
            Instruction::Float(float) => self.float(float)?,
            Instruction::Select { out, width, condition, then, otherwise } => {
                let value = self.select(*width, condition, then, otherwise)?;
                self.set(*out, value);
            }
            Instruction::StackObject { out, size, count, alignment } => {
                let value = self.stack_object(*out, *size, count, *alignment)?;
                self.set(*out, value);
            }
            Instruction::Load { out, width, address } => {
                let value = self.load(*width, address)?;
                self.set(*out, value);
            }
            Instruction::Store { width, value, address } => self.store(*width, value, address)?,
            Instruction::Address(address) => self.address(address)?,
            Instruction::Call(call) => self.call(call)?,
            Instruction::CopyMemory { to, from, size } => self.copy_memory(to, from, size)?,
            Instruction::SetMemory { to, byte, size } => self.set_memory(to, byte, size)?,
            Instruction::MarkCondition { out, marker, value } => {
                let outcome = self.mark_condition(*marker, value)?;
                self.set(*out, Value::Bits(outcome));
            }
            Instruction::MarkSwitch { marker, value } => self.mark_switch(*marker, value)?,
            Instruction::Probe { probe, value } => self.probe(*probe, value)?,
            Instruction::Input { index, address } => self.input(*index, address)?,
            Instruction::Feed { feed, address, .. } => self.feed(*feed, address)?,
            Instruction::Assume { condition } => self.assume(condition)?,
            Instruction::Output { index, address, size } => self.output(*index, address, *size)?,
            Instruction::VariadicStart { list } => self.variadic_start(list)?,
            Instruction::VolatileRead { address, by } => self.note_volatile(address, *by),
            Instruction::VolatileWrite { .. } => {}
            Instruction::WeakReference { out, symbol } => self.weak_reference(*out, symbol),
            Instruction::Unsupported { what } => return self.unsupported(what.clone()),
        }
        Ok(())
    }

    fn terminate(&mut self, terminator: &'p Terminator) -> Step<()> {
        match terminator {
            Terminator::Jump(edge) => self.jump(edge),
            Terminator::Branch { condition, then, otherwise } => {
                let taken = self.branch(condition)?;
                self.jump(if taken { then } else { otherwise })
            }
            Terminator::Switch { value, width, cases, default } => {
                let edge = self.switch(value, *width, cases, default)?;
                self.jump(edge)
            }
            Terminator::Return(values) => {
                self.note_tried_lock(values);
                self.leave(values)
            }
            Terminator::Unreachable => {
                self.fail(FaultKind::Abort, "execution reached a point that the compiler took for unreachable")
            }
        }
    }

    fn jump(&mut self, edge: &'p Edge) -> Step<()> {
        match edge.copies.as_slice() {
            [] => {}
            [(register, operand)] => {
                let value = self.copied(*register, operand);
                self.set(*register, value);
            }
            copies => {
                let mut values = std::mem::take(&mut self.copy_buffer);
                values.extend(copies.iter().map(|(register, operand)| self.copied(*register, operand)));
                copies.iter().zip(values.drain(..)).for_each(|((register, _), value)| self.set(*register, value));
                self.copy_buffer = values;
            }
        }
        let bound = self.limits.loop_iterations;
        let frame = self.frame();
        if frame.enter_loop(edge.target, edge.back, bound).is_none() {
            return Err(Box::new(PathEnd::LoopBound { location: self.location(), bound }));
        }
        frame.block = edge.target;
        frame.next = frame.decoded.start(edge.target);
        Ok(())
    }

    fn copied(&mut self, register: branchwise_program::RegisterId, operand: &Operand) -> Value {
        let function = self.frame().function;
        let width = self.code.functions[function].registers[register];
        self.wide_value(operand, width)
    }

    fn branch(&mut self, condition: &Operand) -> Step<bool> {
        match self.value(condition) {
            Value::Bits(bits) => Ok(bits & 1 == 1),
            Value::Undefined => {
                self.fail(FaultKind::UninitialisedRead, "a value that was never written decides a branch")
            }
            value => {
                let term = self.as_term(&value, 1);
                self.decide(term, [AlternativeKind::Continue; 2])
            }
        }
    }

    fn switch(&mut self, value: &Operand, width: u32, cases: &'p [(u128, Edge)], default: &'p Edge) -> Step<&'p Edge> {
        let value = self.value(value);
        let chosen = match &value {
            Value::Bits(bits) => *bits,
            Value::Undefined => {
                return self.fail(FaultKind::UninitialisedRead, "a value that was never written decides a switch");
            }
            _ => {
                let term = self.as_term(&value, width);
                match self.switched(term) {
                    Some(Switched { value: Some(value), .. }) if self.unites() => truncate(value, width),
                    Some(_) if self.unites() => return Ok(default),
                    Some(_) => self.evaluate(term) as u64,
                    None => self.concretise(&value, width)?,
                }
            }
        };
        Ok(cases.iter().find(|(case, _)| *case == u128::from(chosen)).map_or(default, |(_, edge)| edge))
    }

    /// What the marker of this switch has just decided of the value: then its label, and so the edge, is known.
    fn switched(&mut self, term: TermId) -> Option<Switched> {
        let marked = self.frame().switched.take()?;
        let extended = [self.session.terms.sign_extend(term, 64), self.session.terms.zero_extend(term, 64)];
        extended.contains(&marked.term).then_some(marked)
    }

    fn select(&mut self, width: u32, condition: &Operand, then: &Operand, otherwise: &Operand) -> Step<Value> {
        let (then, otherwise) = (self.wide_value(then, width), self.wide_value(otherwise, width));
        let condition = match self.value(condition) {
            Value::Bits(bits) => return Ok(if bits & 1 == 1 { then } else { otherwise }),
            Value::Undefined => return Ok(Value::Undefined),
            value => self.as_term(&value, 1),
        };
        self.either(condition, width, &then, &otherwise)
    }

    fn either(&mut self, condition: TermId, width: u32, then: &Value, otherwise: &Value) -> Step<Value> {
        let hard = |value: &Value| matches!(value, Value::Function(_) | Value::Undefined);
        if hard(then) || hard(otherwise) {
            let taken = self.decide(condition, [AlternativeKind::Continue; 2])?;
            return Ok(if taken { *then } else { *otherwise });
        }
        if Self::is_pointer(then) || Self::is_pointer(otherwise) {
            return Ok(self.pointer_choice(condition, then, otherwise));
        }
        let (then, otherwise) = (self.as_term(then, width), self.as_term(otherwise, width));
        let term = self.session.terms.if_then_else(condition, then, otherwise);
        Ok(self.term_value(term))
    }

    fn stack_object(&mut self, out: RegisterId, size: u64, count: &Operand, alignment: u64) -> Step<Value> {
        let count = self.value(count);
        let count = self.concretise(&count, 64)?;
        let Some(size) = size.checked_mul(count).filter(|&size| size <= LARGEST_STACK_OBJECT) else {
            return self.unsupported("a stack object of more than 64 MiB");
        };
        let object = self.memory.allocate(size, alignment, Origin::Stack, Contents::Uninitialised);
        let function = self.frame().function;
        if let Some(padding) = self.code.functions[function].padding.get(&out) {
            self.memory.set_padding(object, padding);
        }
        self.frame().stack_objects.push(object);
        Ok(Value::Pointer(Pointer { object, offset: 0 }))
    }

    pub(crate) fn load(&mut self, width: u32, address: &Operand) -> Step<Value> {
        let address = self.value(address);
        let size = u64::from(width.div_ceil(8));
        let value = match self.resolve(&address, size, Access::Read)? {
            Spot::At(pointer) => self.memory.read(self.session, pointer.object, pointer.offset, size),
            Spot::OneOf { object, offset, places } => self.read_one_of(object, offset, &places, size)?,
            Spot::Fixed(address) => self.read_register(address, size)?,
        };
        Ok(match value {
            Value::Bits(bits) => Value::Bits(truncate(bits, width)),
            Value::Term(term) if !width.is_multiple_of(8) => {
                let term = self.session.terms.extract(term, 0, width);
                self.term_value(term)
            }
            value => value,
        })
    }

    /// In a test there is a function; a program may be linked without it.
    fn weak_reference(&mut self, out: RegisterId, symbol: &Operand) {
        let value = self.value(symbol);
        if let Some(function) = symbol.function().filter(|function| self.session.shared.stubs[*function]) {
            self.rest_on(WEAK_REFERENCES_RESOLVE.about(&self.code.functions[function].name));
        }
        self.set(out, value);
    }

    /// What the hardware may change by itself, or other threads and handlers of signals. Of the function's own objects that
    /// nobody else was given, only the hardware changes any.
    fn note_volatile(&mut self, address: &Operand, by: Changes) {
        let address = self.value(address);
        if by == Changes::ThreadsOrChance && !self.repeats_exchange() {
            self.rest_on(NO_SPURIOUS_FAILURE.assumed());
        }
        let by_hardware = by == Changes::Hardware;
        // Each read of a register is an input of its own.
        if by_hardware && matches!(address, Value::Bits(_) | Value::Term(_)) {
            return;
        }
        match self.is_own_place(&address) {
            true if by_hardware => self.rest_on(VOLATILE_HOLDS.about("locals")),
            true => {}
            false => {
                self.rest_on(if by_hardware { VOLATILE_HOLDS } else { ONE_THREAD }.assumed());
                if self.session.shared.handles_signals {
                    self.rest_on(NO_SIGNALS.assumed());
                }
            }
        }
    }

    /// Whether the standard library makes an exchange for itself: it repeats one that failed.
    fn repeats_exchange(&self) -> bool {
        const OF_LIBRARY: [&str; 4] = ["_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx"];
        let names = self.frames.iter().rev().map(|frame| self.code.functions[frame.function].name.as_str());
        let mut callers = names.skip_while(|name| name.contains("compare_exchange"));
        callers.next().is_some_and(|name| OF_LIBRARY.iter().any(|prefix| name.starts_with(prefix)))
    }

    /// Whether an address leads to an object that the program made and that nobody else was given.
    pub(crate) fn is_own_place(&self, address: &Value) -> bool {
        let Value::Pointer(pointer) = address else { return false };
        let object = pointer.object;
        let origin = self.memory.get(object).map(|object| object.origin);
        let made = matches!(origin, Some(Origin::Stack | Origin::Heap));
        made && self.memory.known_outside(object).is_none() && !self.is_of_driver(object)
    }

    pub(crate) fn is_at(&mut self, offset: TermId, place: u64) -> TermId {
        let place = self.session.terms.constant(u128::from(place), 64);
        self.session.terms.compare(TermCompare::Eq, offset, place)
    }

    fn store(&mut self, width: u32, value: &Operand, address: &Operand) -> Step<()> {
        let mut value = self.wide_value(value, width);
        let address = self.value(address);
        let size = u64::from(width.div_ceil(8));
        if let (Value::Term(term), false) = (&value, width.is_multiple_of(8)) {
            value = Value::Term(self.session.terms.zero_extend(*term, 8 * size as u32));
        }
        self.write(&address, size, value)
    }

    pub(crate) fn write(&mut self, address: &Value, size: u64, value: Value) -> Step<()> {
        match self.resolve(address, size, Access::Write)? {
            Spot::At(pointer) => self.memory.write(self.session, pointer.object, pointer.offset, size, value),
            Spot::OneOf { object, offset, places } => self.write_one_of(object, offset, &places, size, value)?,
            Spot::Fixed(address) => self.write_register(address, size, value)?,
        }
        Ok(())
    }

    fn write_one_of(
        &mut self,
        object: crate::value::ObjectId,
        offset: TermId,
        places: &[u64],
        size: u64,
        value: Value,
    ) -> Step<()> {
        let plain = |value: &Value| matches!(value, Value::Bits(_) | Value::Term(_));
        let old: Vec<Value> = places.iter().map(|&place| self.memory.read(self.session, object, place, size)).collect();
        let apart = places.windows(2).all(|pair| pair[1] - pair[0] >= size);
        if !plain(&value) || !old.iter().all(plain) || !apart {
            let offset = self.concretise(&Value::Term(offset), 64)?;
            self.memory.write(self.session, object, offset, size, value);
            return Ok(());
        }
        let width = 8 * size as u32;
        let value = self.as_term(&value, width);
        for (&place, old) in places.iter().zip(&old) {
            let here = self.is_at(offset, place);
            let old = self.as_term(old, width);
            let new = self.session.terms.if_then_else(here, value, old);
            let new = self.term_value(new);
            self.memory.write(self.session, object, place, size, new);
        }
        Ok(())
    }

    /// The place of a whole range; a symbolic start is made concrete.
    pub(crate) fn range(&mut self, address: &Operand, size: u64, access: Access) -> Step<Range> {
        let address = self.value(address);
        match self.resolve(&address, size, access)? {
            Spot::At(pointer) => Ok(Range::Within(pointer)),
            Spot::OneOf { object, offset, .. } => {
                let offset = self.concretise(&Value::Term(offset), 64)?;
                Ok(Range::Within(Pointer { object, offset }))
            }
            Spot::Fixed(address) => Ok(Range::Fixed(address)),
        }
    }

    fn copy_memory(&mut self, to: &Operand, from: &Operand, size: &Operand) -> Step<()> {
        let size = self.value(size);
        let size = self.concretise(&size, 64)?;
        if size == 0 {
            return Ok(());
        }
        let from = self.range(from, size, Access::Read)?;
        let to = self.range(to, size, Access::Write)?;
        self.instructions += size / 8;
        match (to, from) {
            (Range::Within(to), Range::Within(from)) => {
                self.memory.copy(self.session, to, from, size);
                Ok(())
            }
            (Range::Within(to), Range::Fixed(from)) => self.read_registers(from, to, size),
            (Range::Fixed(to), Range::Within(from)) => self.write_registers(to, from, size),
            (Range::Fixed(_), Range::Fixed(_)) => self.unsupported("a copy between fixed addresses"),
        }
    }

    fn set_memory(&mut self, to: &Operand, byte: &Operand, size: &Operand) -> Step<()> {
        let size = self.value(size);
        let size = self.concretise(&size, 64)?;
        if size == 0 {
            return Ok(());
        }
        let byte = self.value(byte);
        let to = match self.range(to, size, Access::Write)? {
            Range::Within(to) => to,
            Range::Fixed(to) => return self.set_registers(to, byte, size),
        };
        match byte {
            Value::Bits(bits) => self.memory.set(self.session, to, size, bits as u8),
            value => (0..size).for_each(|at| self.memory.write(self.session, to.object, to.offset + at, 1, value)),
        }
        self.instructions += size / 8;
        Ok(())
    }

    fn mark_condition(&mut self, marker: MarkerId, value: &Operand) -> Step<u64> {
        let outcome = match self.value(value) {
            Value::Bits(bits) => bits != 0,
            Value::Undefined => {
                return self.fail(FaultKind::UninitialisedRead, "a value that was never written decides a condition");
            }
            value => {
                let term = self.as_term(&value, 32);
                let zero = self.session.terms.constant(0, 32);
                let is_false = self.session.terms.compare(TermCompare::Eq, term, zero);
                let condition = self.session.terms.not(is_false);
                self.decide(condition, [0, 1].map(|outcome| AlternativeKind::Event(Event { marker, outcome })))?
            }
        };
        self.event(Event { marker, outcome: u32::from(outcome) });
        Ok(u64::from(outcome))
    }

    fn mark_switch(&mut self, marker: MarkerId, value: &Operand) -> Step<()> {
        let program = self.session.program;
        let Some((labels, is_signed)) = program.map.markers[marker].kind.labels() else {
            return self.unsupported("a switch marker that the map does not know");
        };
        let outcome = match self.value(value) {
            Value::Bits(bits) => {
                let value = if is_signed { i128::from(signed(bits, 64)) } else { i128::from(bits) };
                program.map.markers[marker].switch_outcome(value).unwrap_or(0)
            }
            Value::Undefined => {
                return self.fail(FaultKind::UninitialisedRead, "a value that was never written decides a switch");
            }
            value => {
                let term = self.as_term(&value, 64);
                let outcome = self.decide_switch(marker, term, labels, is_signed)?;
                let value = match labels.get(outcome as usize).map(|label| label.values) {
                    Some(LabelValues::Range { low, .. }) => Some(low as u64),
                    _ => None,
                };
                self.frame().switched = Some(Switched { term, value });
                outcome
            }
        };
        self.event(Event { marker, outcome });
        Ok(())
    }

    fn decide_switch(&mut self, marker: MarkerId, term: TermId, labels: &[Label], is_signed: bool) -> Step<u32> {
        let constraints = self.label_constraints(term, labels, is_signed);
        let possible =
            constraints.into_iter().filter(|(_, constraint)| self.session.terms.as_boolean(*constraint) != Some(false));
        let alternatives: Vec<Alternative> = possible
            .map(|(outcome, constraint)| Alternative {
                constraint,
                kind: AlternativeKind::Event(Event { marker, outcome }),
            })
            .collect();
        let outcomes: Vec<AlternativeKind> = alternatives.iter().map(|alternative| alternative.kind).collect();
        let taken = if alternatives.len() == 1 { 0 } else { self.choose(alternatives)? };
        match outcomes.get(taken) {
            Some(AlternativeKind::Event(event)) => Ok(event.outcome),
            _ => self.unsupported("a switch without labels"),
        }
    }

    /// For each outcome of a switch, what its value must satisfy.
    fn label_constraints(&mut self, term: TermId, labels: &[Label], is_signed: bool) -> Vec<(u32, TermId)> {
        let mut constraints = Vec::new();
        let mut elsewhere = self.session.terms.boolean(true);
        let mut default = labels.len() as u32;
        for (index, label) in labels.iter().enumerate() {
            let LabelValues::Range { low, high } = label.values else {
                default = index as u32;
                continue;
            };
            let here = self.in_range(term, low, high, is_signed);
            let elsewhere_too = self.session.terms.not(here);
            elsewhere = self.session.terms.and(elsewhere, elsewhere_too);
            constraints.push((index as u32, here));
        }
        constraints.push((default, elsewhere));
        constraints
    }

    fn in_range(&mut self, term: TermId, low: i128, high: i128, is_signed: bool) -> TermId {
        let terms = &mut self.session.terms;
        let (from, to) = (terms.constant(low as u128, 64), terms.constant(high as u128, 64));
        if low == high {
            return terms.compare(TermCompare::Eq, term, from);
        }
        let order = if is_signed { TermCompare::Sle } else { TermCompare::Ule };
        let (above, below) = (terms.compare(order, from, term), terms.compare(order, term, to));
        terms.and(above, below)
    }

    fn input(&mut self, index: u32, address: &Operand) -> Step<()> {
        let program = self.session.program;
        let inputs = &program.map.functions[self.calling].inputs;
        let Some(input) = inputs.get(index as usize) else {
            return self.unsupported("an input that the map does not know");
        };
        let Value::Pointer(to) = self.value(address) else { return self.unsupported("an input at a symbolic address") };
        let key = InputKey { call: self.calls_to_come, function: self.calling, index };
        let shape = match self.argument_of_main(key, input)? {
            Some(shape) => shape,
            None => {
                let bound = self.session.pointer_elements;
                self.session.inputs.root_for(&mut self.session.terms, &program.map, key, input, bound)
            }
        };
        self.filled.insert(shape);
        self.fill(shape, to.object, to.offset);
        if let Some(object) = self.memory.get_mut(to.object)
            && matches!(object.origin, Origin::Global { .. })
        {
            object.origin = Origin::Input(shape);
            self.memory.forget_touches(to.object);
        }
        Ok(())
    }

    /// What the test shows of an object. Padding is left out: a program that copies the object may lose it.
    fn output(&mut self, index: u32, address: &Operand, size: u64) -> Step<()> {
        let Value::Pointer(from) = self.value(address) else { return Ok(()) };
        let mut bytes = vec![None; size as usize];
        for (at, size, value) in self.memory.pieces(self.session, from.object, from.offset, size) {
            let bits = match value {
                Value::Bits(bits) => u128::from(bits),
                Value::Term(term) if !self.session.is_garbage(term) => self.evaluate(term),
                _ => continue,
            };
            for byte in (0..size).filter(|byte| !self.memory.is_padding(from.object, from.offset + at + byte, 1)) {
                bytes[(at + byte) as usize] = Some((bits >> (8 * byte)) as u8);
            }
        }
        self.outputs.push(Output { index, bytes });
        Ok(())
    }
}
