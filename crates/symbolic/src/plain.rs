//! Execution on plain bits: the common case, at the speed of an interpreter.
//!
//! Each function is decoded once into operations on the slots of its frame. The loop here runs them while their operands
//! are plain bits or pointers to known places and nothing remarkable happens. Where an operation meets anything else (a
//! term, undefined behaviour, a limit) it changes nothing and stops; the instructions it stands for are then
//! executed by the general step, which alone knows the meaning of everything. So this loop may give up, but never differ.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use branchwise_program::MarkerId;
use branchwise_program::code::CompareOp;
use branchwise_program::map::Event;

use crate::executor::Executor;
use crate::session::Successors;
use crate::value::{Pointer, Value};

mod access;
mod bits;
mod calls;
mod decode;
mod fuse;
mod operation;
mod scan;
mod table;

pub(crate) use bits::compare_bits;
pub(crate) use decode::Decoded;
use operation::{Edge, Indexed, Operation, Slot, Step, Test, Three, Window};
pub(crate) use operation::{Place, WINDOW};

impl<'p> Executor<'_, 'p> {
    /// Runs what is plain; hands back the instructions that need the general step, and the operation after them.
    pub(crate) fn run_plain(&mut self) -> (Place, usize) {
        let successors = Rc::clone(&self.session.shared.successors);
        let mut successors = successors.borrow_mut();
        // Apart from the rest while it is worked on.
        let mut registers = std::mem::take(&mut self.registers);
        let stopped = loop {
            let frame = self.frames.last().expect("a path without frames has ended");
            let decoded = Rc::clone(&frame.decoded);
            let window = registers[self.base..].first_chunk_mut().expect("there is a window behind every frame");
            let stopped = self.run_frame(&decoded, window, &mut successors);
            let done = match decoded.operations[stopped] {
                Operation::Call { call } => self.call_plain(&mut registers, &decoded, stopped, call),
                Operation::Return { results, cost } => self.return_plain(&mut registers, &decoded, results, cost),
                _ => None,
            };
            if done.is_none() {
                break (decoded.place(stopped), stopped + 1);
            }
        };
        self.registers = registers;
        stopped
    }

    /// Runs the innermost frame; hands back the operation that it does not do.
    fn run_frame(&mut self, decoded: &Decoded, window: &mut Window, successors: &mut Successors) -> usize {
        let frame = self.frame();
        let from = frame.next;
        let counts_loops = !frame.loops.is_empty();
        let events_before = self.events.len();
        let mut machine = Machine { decoded, slots: window, counts_loops, executor: self };
        let stopped = machine.run(from);
        if self.events.len() > events_before {
            self.check_map(events_before, successors);
        }
        stopped
    }

    /// Checks that the map lets the innermost frame's events follow each other, from the one with this number on.
    fn check_map(&mut self, first: usize, successors: &mut Successors) {
        let Some(frame) = self.frames.last_mut() else { return };
        let events = &self.events[first..];
        let map = &self.session.program.map;
        let before = std::mem::replace(&mut frame.last_event, events.last().copied());
        let Some(function) = frame.map_function else {
            self.notes.caveats.off_the_map = self.notes.caveats.off_the_map.or(events.first().copied());
            return;
        };
        let mut last = before;
        let mut rest = events;
        while let Some(unusual) = successors.unusual(function, last, rest) {
            last = unusual.checked_sub(1).map_or(last, |before| Some(rest[before]));
            let event = rest[unusual];
            if !successors.allows(map, function, last, event.marker) {
                self.notes.caveats.off_the_map.get_or_insert(event);
            }
            (last, rest) = (Some(event), &rest[unusual + 1..]);
        }
    }
}

struct Machine<'a, 'e, 's, 'p> {
    executor: &'e mut Executor<'s, 'p>,
    decoded: &'a Decoded,
    /// Those of the innermost frame, which the executor does without meanwhile.
    slots: &'a mut Window,
    /// Iterations of some loop are counted.
    counts_loops: bool,
}

/// No operation. Each arm says it by itself, so that one comparison tells it and every other end of the loop.
const STOP: usize = usize::MAX;

#[inline(always)]
fn or_stop(next: Option<usize>) -> usize {
    next.unwrap_or(STOP)
}

const INSTRUCTIONS_BETWEEN_LOOKS: u64 = 10_000;

impl Machine<'_, '_, '_, '_> {
    /// One arm for each operation. `None` from an arm: not plain.
    fn run(&mut self, from: usize) -> usize {
        let decoded = self.decoded;
        let operations = decoded.operations.as_slice();
        let (mut at, mut next) = (from, from);
        while let Some(operation) = operations.get(next) {
            at = next;
            next = match operation {
                Operation::General | Operation::Call { .. } | Operation::Return { .. } => return at,
                Operation::Move { out, from } => or_stop(self.copy(at, *out, *from)),
                Operation::Add(three) => or_stop(self.compute(at, three, bits::add)),
                Operation::Sub(three) => or_stop(self.compute(at, three, bits::sub)),
                Operation::Mul(three) => or_stop(self.compute(at, three, bits::mul)),
                Operation::AddSigned(three) => or_stop(self.compute(at, three, bits::add_signed)),
                Operation::SubSigned(three) => or_stop(self.compute(at, three, bits::sub_signed)),
                Operation::MulSigned(three) => or_stop(self.compute(at, three, bits::mul_signed)),
                Operation::UDiv(three) => or_stop(self.compute(at, three, |l, r, _| l.checked_div(r))),
                Operation::URem(three) => or_stop(self.compute(at, three, |l, r, _| l.checked_rem(r))),
                Operation::SDiv(three) => or_stop(self.compute(at, three, bits::divide_signed)),
                Operation::SRem(three) => or_stop(self.compute(at, three, bits::remainder_signed)),
                Operation::And(three) => or_stop(self.compute(at, three, |l, r, _| Some(l & r))),
                Operation::Or(three) => or_stop(self.compute(at, three, |l, r, _| Some(l | r))),
                Operation::Xor(three) => or_stop(self.compute(at, three, |l, r, _| Some(l ^ r))),
                Operation::Shl(three) => or_stop(self.compute(at, three, bits::shift_left)),
                Operation::LShr(three) => or_stop(self.compute(at, three, bits::shift_right)),
                Operation::AShr(three) => or_stop(self.compute(at, three, bits::shift_right_signed)),
                Operation::Eq(three) => or_stop(self.compare(at, three, |l, r| l == r)),
                Operation::Ne(three) => or_stop(self.compare(at, three, |l, r| l != r)),
                Operation::Ult(three) => or_stop(self.compare(at, three, |l, r| l < r)),
                Operation::Ule(three) => or_stop(self.compare(at, three, |l, r| l <= r)),
                Operation::Slt(three) => or_stop(self.compare_signed(at, three, |l, r| l < r)),
                Operation::Sle(three) => or_stop(self.compare_signed(at, three, |l, r| l <= r)),
                Operation::ZeroExtend { out, from } => or_stop(self.cast(at, *out, *from, |bits| bits)),
                Operation::Truncate { out, from, unused } => {
                    or_stop(self.cast(at, *out, *from, |bits| bits << unused >> unused))
                }
                Operation::SignExtend { out, from, unused_from, unused_to } => {
                    or_stop(self.cast(at, *out, *from, |bits| bits::sign_extend(bits, *unused_from, *unused_to)))
                }
                Operation::Select { out, condition, then, otherwise } => {
                    or_stop(self.select(at, *out, *condition, [*otherwise, *then]))
                }
                Operation::Offset { out, base, constant } => or_stop(self.offset(at, *out, *base, *constant)),
                Operation::Index { out, address } => or_stop(self.index(at, *out, address)),
                Operation::Load1 { out, address } => or_stop(self.load::<1>(at, *out, self.pointer(*address))),
                Operation::Load2 { out, address } => or_stop(self.load::<2>(at, *out, self.pointer(*address))),
                Operation::Load4 { out, address } => or_stop(self.load::<4>(at, *out, self.pointer(*address))),
                Operation::Load8 { out, address } => or_stop(self.load::<8>(at, *out, self.pointer(*address))),
                Operation::Store1 { value, address } => or_stop(self.store::<1>(at, *value, self.pointer(*address))),
                Operation::Store2 { value, address } => or_stop(self.store::<2>(at, *value, self.pointer(*address))),
                Operation::Store4 { value, address } => or_stop(self.store::<4>(at, *value, self.pointer(*address))),
                Operation::Store8 { value, address } => or_stop(self.store::<8>(at, *value, self.pointer(*address))),
                Operation::LoadIndexed1 { out, address } => or_stop(self.load::<1>(at, *out, self.indexed(address))),
                Operation::LoadIndexed2 { out, address } => or_stop(self.load::<2>(at, *out, self.indexed(address))),
                Operation::LoadIndexed4 { out, address } => or_stop(self.load::<4>(at, *out, self.indexed(address))),
                Operation::LoadIndexed8 { out, address } => or_stop(self.load::<8>(at, *out, self.indexed(address))),
                Operation::StoreIndexed1 { value, address } => {
                    or_stop(self.store::<1>(at, *value, self.indexed(address)))
                }
                Operation::StoreIndexed2 { value, address } => {
                    or_stop(self.store::<2>(at, *value, self.indexed(address)))
                }
                Operation::StoreIndexed4 { value, address } => {
                    or_stop(self.store::<4>(at, *value, self.indexed(address)))
                }
                Operation::StoreIndexed8 { value, address } => {
                    or_stop(self.store::<8>(at, *value, self.indexed(address)))
                }
                Operation::LoadUnsigned1 { out, address } => {
                    or_stop(self.load_number::<1>(at, *out, address, |bits| bits))
                }
                Operation::LoadUnsigned2 { out, address } => {
                    or_stop(self.load_number::<2>(at, *out, address, |bits| bits))
                }
                Operation::LoadUnsigned4 { out, address } => {
                    or_stop(self.load_number::<4>(at, *out, address, |bits| bits))
                }
                Operation::LoadSigned1To4 { out, address } => {
                    or_stop(self.load_number::<1>(at, *out, address, |bits| i32::from(bits as i8) as u32 as u64))
                }
                Operation::LoadSigned2To4 { out, address } => {
                    or_stop(self.load_number::<2>(at, *out, address, |bits| i32::from(bits as i16) as u32 as u64))
                }
                Operation::LoadSigned1To8 { out, address } => {
                    or_stop(self.load_number::<1>(at, *out, address, |bits| bits as i8 as u64))
                }
                Operation::LoadSigned2To8 { out, address } => {
                    or_stop(self.load_number::<2>(at, *out, address, |bits| bits as i16 as u64))
                }
                Operation::LoadSigned4To8 { out, address } => {
                    or_stop(self.load_number::<4>(at, *out, address, |bits| bits as i32 as u64))
                }
                Operation::Update1 { step, right, address } => or_stop(self.update::<1>(at, *step, *right, address)),
                Operation::Update2 { step, right, address } => or_stop(self.update::<2>(at, *step, *right, address)),
                Operation::Update4 { step, right, address } => or_stop(self.update::<4>(at, *step, *right, address)),
                Operation::Update8 { step, right, address } => or_stop(self.update::<8>(at, *step, *right, address)),
                Operation::CopyMemory { to, from, size } => or_stop(self.copy_memory(at, *to, *from, *size)),
                Operation::SetMemory { to, byte, size } => or_stop(self.set_memory(at, *to, *byte, *size)),
                Operation::Mark { out, value, marker } => or_stop(self.mark(at, *out, *value, *marker)),
                Operation::MarkCompare { op, three, marker } => or_stop(self.mark_compare(at, *op, three, *marker)),
                Operation::MarkSwitch { value, marker, table } => {
                    or_stop(self.mark_switch(at, *value, *marker, *table))
                }
                Operation::Jump { edge } => self.jump(*edge),
                Operation::Branch { condition, edges } => or_stop(self.branch(*condition, *edges)),
                Operation::BranchEq(test) => or_stop(self.test(test, |l, r| l == r)),
                Operation::BranchNe(test) => or_stop(self.test(test, |l, r| l != r)),
                Operation::BranchUlt(test) => or_stop(self.test(test, |l, r| l < r)),
                Operation::BranchUle(test) => or_stop(self.test(test, |l, r| l <= r)),
                Operation::BranchSlt(test) => or_stop(self.test_signed(test, |l, r| l < r)),
                Operation::BranchSle(test) => or_stop(self.test_signed(test, |l, r| l <= r)),
                Operation::Scan { scan } => {
                    self.scan(*scan);
                    at + 1
                }
                Operation::Switch { value, table } => or_stop(self.switch(*value, *table)),
                Operation::SwitchMarked { value, marker, table } => self.switch_marked(*value, *marker, *table),
                Operation::AddJump { three, edge } => or_stop(self.step(three, *edge, bits::add)),
                Operation::AddSignedJump { three, edge } => or_stop(self.step(three, *edge, bits::add_signed)),
                Operation::OffsetJump { out, base, constant, edge } => {
                    or_stop(self.offset_step(*out, *base, *constant, *edge))
                }
            };
        }
        at
    }

    #[inline(always)]
    fn slot(&self, slot: Slot) -> Value {
        self.slots[slot as usize]
    }

    #[inline(always)]
    fn set(&mut self, slot: Slot, value: Value) {
        self.slots[slot as usize] = value;
    }

    #[inline(always)]
    fn bits(&self, slot: Slot) -> Option<u64> {
        if let Value::Bits(bits) = self.slot(slot) { Some(bits) } else { None }
    }

    #[inline(always)]
    fn copy(&mut self, at: usize, out: Slot, from: Slot) -> Option<usize> {
        self.transfer(out, from);
        Some(at + 1)
    }

    #[inline(always)]
    fn transfer(&mut self, to: Slot, from: Slot) {
        match self.slots[from as usize] {
            Value::Bits(bits) => self.set(to, Value::Bits(bits)),
            Value::Pointer(Pointer { object, offset }) => self.set(to, Value::Pointer(Pointer { object, offset })),
            value => self.set(to, value),
        }
    }

    #[inline(always)]
    fn compute(&mut self, at: usize, three: &Three, result: impl Fn(u64, u64, u32) -> Option<u64>) -> Option<usize> {
        let result = result(self.bits(three.left)?, self.bits(three.right)?, u32::from(three.unused))?;
        self.set(three.out, Value::Bits(result));
        Some(at + 1)
    }

    /// An operation and a jump whose copies come before the result is written.
    #[inline(always)]
    fn step(&mut self, three: &Three, edge: u32, result: impl Fn(u64, u64, u32) -> Option<u64>) -> Option<usize> {
        let result = result(self.bits(three.left)?, self.bits(three.right)?, u32::from(three.unused))?;
        let target = self.jump(edge);
        if target != STOP {
            self.set(three.out, Value::Bits(result));
        }
        Some(target)
    }

    #[inline(always)]
    fn offset_step(&mut self, out: Slot, base: Slot, constant: i32, edge: u32) -> Option<usize> {
        let Pointer { object, offset } = self.pointer(base)?;
        let target = self.jump(edge);
        if target != STOP {
            let offset = offset.wrapping_add(i64::from(constant) as u64);
            self.set(out, Value::Pointer(Pointer { object, offset }));
        }
        Some(target)
    }

    #[inline(always)]
    fn compare(&mut self, at: usize, three: &Three, holds: impl Fn(u64, u64) -> bool) -> Option<usize> {
        let (left, right) = self.comparable(three.left, three.right)?;
        self.set(three.out, Value::Bits(u64::from(holds(left, right))));
        Some(at + 1)
    }

    #[inline(always)]
    fn compare_signed(&mut self, at: usize, three: &Three, holds: impl Fn(i64, i64) -> bool) -> Option<usize> {
        let unused = u32::from(three.unused);
        self.compare(at, three, |left, right| holds(bits::signed(left, unused), bits::signed(right, unused)))
    }

    /// Two numbers that compare as the values do.
    #[inline(always)]
    fn comparable(&self, left: Slot, right: Slot) -> Option<(u64, u64)> {
        match (self.slot(left), self.slot(right)) {
            (Value::Bits(left), Value::Bits(right)) => Some((left, right)),
            (Value::Pointer(left), Value::Pointer(right)) if left.object == right.object => {
                Some((left.offset, right.offset))
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn cast(&mut self, at: usize, out: Slot, from: Slot, result: impl Fn(u64) -> u64) -> Option<usize> {
        let bits = self.bits(from)?;
        self.set(out, Value::Bits(result(bits)));
        Some(at + 1)
    }

    #[inline(always)]
    fn select(&mut self, at: usize, out: Slot, condition: Slot, values: [Slot; 2]) -> Option<usize> {
        let condition = self.bits(condition)?;
        self.copy(at, out, values[condition as usize & 1])
    }

    #[inline(always)]
    fn pointer(&self, slot: Slot) -> Option<Pointer> {
        if let Value::Pointer(pointer) = self.slot(slot) { Some(pointer) } else { None }
    }

    #[inline(always)]
    fn indexed(&self, address: &Indexed) -> Option<Pointer> {
        let base = self.pointer(address.base)?;
        let index = bits::signed(self.bits(address.index)?, u32::from(address.unused));
        let displacement = index.wrapping_mul(i64::from(address.scale)).wrapping_add(i64::from(address.constant));
        Some(Pointer { object: base.object, offset: base.offset.wrapping_add(displacement as u64) })
    }

    #[inline(always)]
    fn index(&mut self, at: usize, out: Slot, address: &Indexed) -> Option<usize> {
        let pointer = self.indexed(address)?;
        self.set(out, Value::Pointer(pointer));
        Some(at + 1)
    }

    #[inline(always)]
    fn offset(&mut self, at: usize, out: Slot, base: Slot, constant: i32) -> Option<usize> {
        let base = self.pointer(base)?;
        let offset = base.offset.wrapping_add(i64::from(constant) as u64);
        self.set(out, Value::Pointer(Pointer { object: base.object, offset }));
        Some(at + 1)
    }

    #[inline(always)]
    fn load<const N: usize>(&mut self, at: usize, out: Slot, pointer: Option<Pointer>) -> Option<usize> {
        let object = self.executor.memory.readable(pointer?.object)?;
        let offset = pointer?.offset as usize;
        if let Some(bits) = object.read_bits::<N>(offset) {
            self.set(out, Value::Bits(bits));
        } else if N == 8
            && let Some(Pointer { object, offset }) = object.read_pointer(offset)
        {
            self.set(out, Value::Pointer(Pointer { object, offset }));
        } else {
            let value = object.read_piece::<N>(offset)?;
            self.set(out, value);
        }
        Some(at + 1)
    }

    /// A number and its extension.
    #[inline(always)]
    fn load_number<const N: usize>(
        &mut self,
        at: usize,
        out: Slot,
        address: &Indexed,
        extended: impl Fn(u64) -> u64,
    ) -> Option<usize> {
        let Pointer { object, offset } = self.indexed(address)?;
        let bits = self.executor.memory.readable(object)?.read_bits::<N>(offset as usize)?;
        self.set(out, Value::Bits(extended(bits)));
        Some(at + 1)
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, at: usize, value: Slot, pointer: Option<Pointer>) -> Option<usize> {
        let object = self.executor.memory.writable(pointer?.object)?;
        let offset = pointer?.offset;
        match self.slots[value as usize] {
            Value::Bits(bits) => object.write_bits::<N>(offset as usize, bits)?,
            value => object.write_piece(offset, N as u64, value)?,
        }
        Some(at + 1)
    }

    /// What may be written may not always be read.
    #[inline(always)]
    fn update<const N: usize>(&mut self, at: usize, step: Step, right: Slot, address: &Indexed) -> Option<usize> {
        let (Pointer { object, offset }, right) = (self.indexed(address)?, self.bits(right)?);
        self.executor.memory.readable(object)?;
        let object = self.executor.memory.writable(object)?;
        let (left, unused) = (object.read_bits::<N>(offset as usize)?, 64 - 8 * N as u32);
        let result = match step {
            Step::Add => bits::add(left, right, unused),
            Step::Sub => bits::sub(left, right, unused),
            Step::AddSigned => bits::add_signed(left, right, unused),
            Step::SubSigned => bits::sub_signed(left, right, unused),
            Step::And => Some(left & right),
            Step::Or => Some(left | right),
            Step::Xor => Some(left ^ right),
        };
        object.write_bits::<N>(offset as usize, result?)?;
        Some(at + 1)
    }

    #[inline(never)]
    fn copy_memory(&mut self, at: usize, to: Slot, from: Slot, size: Slot) -> Option<usize> {
        let size = self.bits(size)?;
        if size > 0 {
            self.executor.memory.copy_plain(self.pointer(to)?, self.pointer(from)?, size)?;
        }
        self.executor.instructions += size / 8;
        Some(at + 1)
    }

    #[inline(never)]
    fn set_memory(&mut self, at: usize, to: Slot, byte: Slot, size: Slot) -> Option<usize> {
        let (size, byte) = (self.bits(size)?, self.bits(byte)?);
        if size > 0 {
            let Pointer { object, offset } = self.pointer(to)?;
            let range = offset as usize..offset.checked_add(size)? as usize;
            self.executor.memory.writable(object)?.fill_whole(range, byte as u8)?;
        }
        self.executor.instructions += size / 8;
        Some(at + 1)
    }

    #[inline(never)]
    fn mark(&mut self, at: usize, out: Slot, value: Slot, marker: MarkerId) -> Option<usize> {
        let outcome = u32::from(self.bits(value)? != 0);
        self.executor.events.push(Event { marker, outcome });
        self.set(out, Value::Bits(u64::from(outcome)));
        Some(at + 1)
    }

    /// A comparison whose outcome a marker reports.
    #[inline(never)]
    fn mark_compare(&mut self, at: usize, op: CompareOp, three: &Three, marker: MarkerId) -> Option<usize> {
        let (left, right) = self.comparable(three.left, three.right)?;
        let outcome = bits::compare_bits(op, left, right, u32::from(three.unused));
        self.executor.events.push(Event { marker, outcome: u32::from(outcome) });
        self.set(three.out, Value::Bits(u64::from(outcome)));
        Some(at + 1)
    }

    /// The marker of a switch.
    #[inline(never)]
    fn mark_switch(&mut self, at: usize, value: Slot, marker: MarkerId, table: u32) -> Option<usize> {
        let value = self.bits(value)?;
        self.executor.events.push(Event { marker, outcome: self.decoded.tables[table as usize].entry(value) });
        Some(at + 1)
    }

    #[inline(always)]
    fn branch(&mut self, condition: Slot, edges: u32) -> Option<usize> {
        let taken = self.bits(condition)? & 1;
        Some(self.jump(edges + taken as u32))
    }

    #[inline(always)]
    fn switch(&mut self, value: Slot, table: u32) -> Option<usize> {
        let edge = self.decoded.tables[table as usize].entry(self.bits(value)?);
        Some(self.jump(edge))
    }

    #[inline(never)]
    fn switch_marked(&mut self, value: Slot, marker: MarkerId, table: u32) -> usize {
        let decoded = self.decoded;
        let Some(value) = self.bits(value) else { return STOP };
        let [outcome, edge] = decoded.marked_tables[table as usize].entry(value);
        self.report(&decoded.edges[edge as usize], Event { marker, outcome })
    }

    /// A condition with its marker and the branch on it.
    #[inline(always)]
    fn test(&mut self, test: &Test, holds: impl Fn(u64, u64) -> bool) -> Option<usize> {
        let (left, right) = match self.comparable(test.left, test.right) {
            Some(pair) => pair,
            None => self.null_test(test)?,
        };
        Some(self.follow(test, holds(left, right)))
    }

    /// Not inline, as little of what the loop needs shall be kept in memory for the sake of the rest.
    #[inline(never)]
    fn follow(&mut self, test: &Test, outcome: bool) -> usize {
        let edge = &self.decoded.edges[test.edges as usize + usize::from(outcome)];
        if !test.marked {
            return self.along(edge);
        }
        self.report(edge, Event { marker: test.marker, outcome: u32::from(outcome) })
    }

    /// Goes along an edge after an event; [`STOP`], and nothing done, where a limit is reached.
    #[inline(always)]
    fn report(&mut self, edge: &Edge, event: Event) -> usize {
        if self.is_remarkable(edge) || self.executor.events.len() == self.executor.events.capacity() {
            return self.report_with_care(edge, event);
        }
        self.executor.events.push(event);
        self.pass(edge)
    }

    #[cold]
    #[inline(never)]
    fn report_with_care(&mut self, edge: &Edge, event: Event) -> usize {
        let target = self.along_with_care(edge);
        if target != STOP {
            self.executor.events.push(event);
        }
        target
    }

    #[inline(never)]
    fn jump(&mut self, edge: u32) -> usize {
        self.along(&self.decoded.edges[edge as usize])
    }

    #[inline(always)]
    fn test_signed(&mut self, test: &Test, holds: impl Fn(i64, i64) -> bool) -> Option<usize> {
        let unused = u32::from(test.unused);
        self.test(test, |left, right| holds(bits::signed(left, unused), bits::signed(right, unused)))
    }

    /// A pointer that is compared with null: as equal as 1 and 0. Only equality asks that, so the order is nobody's.
    #[cold]
    #[inline(never)]
    fn null_test(&self, test: &Test) -> Option<(u64, u64)> {
        let null = |slot: Slot| matches!(self.slot(slot), Value::Bits(0));
        let pointer = |slot: Slot| matches!(self.slot(slot), Value::Pointer(_));
        let apart = null(test.left) && pointer(test.right) || pointer(test.left) && null(test.right);
        (test.equality && apart).then_some((1, 0))
    }

    /// Whether no limit is reached; then the next look is due some instructions later.
    fn may_go_on(&mut self, instructions: u64) -> bool {
        self.executor.pause = self.executor.limits.instructions.min(instructions + INSTRUCTIONS_BETWEEN_LOOKS);
        instructions <= self.executor.limits.instructions && !self.executor.limits.interrupt.load(Ordering::Relaxed)
    }

    /// Goes along an edge; [`STOP`], and nothing done, where a limit is reached. What hardly ever happens is apart and comes
    /// last, so that the rest needs no registers but those that a function may use freely.
    #[inline(always)]
    fn along(&mut self, edge: &Edge) -> usize {
        if self.is_remarkable(edge) {
            return self.along_with_care(edge);
        }
        self.pass(edge)
    }

    /// Whether there may be more to do on an edge than to go along it.
    #[inline(always)]
    fn is_remarkable(&self, edge: &Edge) -> bool {
        let limit = self.executor.instructions + u64::from(edge.cost) > self.executor.pause;
        limit | (edge.enters_loop & self.counts_loops)
    }

    #[cold]
    #[inline(never)]
    fn along_with_care(&mut self, edge: &Edge) -> usize {
        let instructions = self.executor.instructions + u64::from(edge.cost);
        if instructions > self.executor.pause && !self.may_go_on(instructions) {
            return STOP;
        }
        if edge.enters_loop && self.counts_loops {
            let bound = self.executor.limits.loop_iterations;
            if self.executor.frame().enter_loop(edge.block, edge.back, bound).is_none() {
                return STOP;
            }
        }
        self.pass(edge)
    }

    #[inline(always)]
    fn pass(&mut self, edge: &Edge) -> usize {
        self.executor.instructions += u64::from(edge.cost);
        for &(to, from) in &edge.moves {
            self.transfer(to, from);
        }
        edge.target as usize
    }
}
