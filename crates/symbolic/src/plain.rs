//! Execution on plain bits: the common case, at the speed of an interpreter.
//!
//! Each function is decoded once into operations on the slots of its frame. The loop here runs them while their operands
//! are plain bits or pointers to known places and nothing remarkable happens. Where an operation meets anything else (a
//! term, undefined behaviour, a limit, a call) it changes nothing and stops; the instructions it stands for are then
//! executed by the general step, which alone knows the meaning of everything. So this loop may give up, but never differ.

use std::sync::atomic::Ordering;

use branchwise_program::map::Event;
use branchwise_program::{FunctionId, MarkerId};

use crate::executor::{Executor, Frame};
use crate::memory::Memory;
use crate::path::Notes;
use crate::session::{RunLimits, Session};
use crate::value::{Pointer, Value};

mod bits;
mod decode;
mod fuse;
mod operation;

pub(crate) use decode::Decoded;
pub(crate) use operation::Place;
use operation::{Edge, Indexed, Operation, Slot, Test, Three};

impl<'p> Executor<'_, 'p> {
    /// Runs the innermost frame from an operation on; hands back the operation that needs the general step.
    pub(crate) fn run_plain(&mut self, decoded: &Decoded, from: usize) -> usize {
        let frame = self.frames.last_mut().expect("a path without frames has ended");
        let mut machine = Machine {
            decoded,
            slots: &mut self.registers[self.base..],
            memory: &mut self.memory,
            map_function: frame.map_function,
            last_event: frame.last_event,
            frame,
            session: self.session,
            events: &mut self.events,
            notes: &mut self.notes,
            limits: self.limits,
            instructions: self.instructions,
            pause: 0,
        };
        let stopped = machine.run(from);
        machine.frame.last_event = machine.last_event;
        self.instructions = machine.instructions;
        stopped
    }
}

struct Machine<'a, 's, 'p> {
    decoded: &'a Decoded,
    /// Those of the innermost frame.
    slots: &'a mut [Value],
    memory: &'a mut Memory,
    frame: &'a mut Frame<'p>,
    map_function: Option<FunctionId>,
    last_event: Option<Event>,
    session: &'a mut Session<'p>,
    events: &'a mut Vec<Event>,
    notes: &'a mut Notes,
    limits: &'a RunLimits<'s>,
    instructions: u64,
    /// The limits are looked at when this many instructions have been executed.
    pause: u64,
}

const INSTRUCTIONS_BETWEEN_LOOKS: u64 = 10_000;

impl Machine<'_, '_, '_> {
    /// One arm for each operation. `None` from an arm: not plain.
    fn run(&mut self, from: usize) -> usize {
        let decoded = self.decoded;
        let operations = decoded.operations.as_slice();
        let mut at = from;
        loop {
            let next = match &operations[at] {
                Operation::General => None,
                Operation::Move { out, from } => self.copy(at, *out, *from),
                Operation::Add(three) => self.compute(at, three, bits::add),
                Operation::Sub(three) => self.compute(at, three, bits::sub),
                Operation::Mul(three) => self.compute(at, three, bits::mul),
                Operation::AddSigned(three) => self.compute(at, three, bits::add_signed),
                Operation::SubSigned(three) => self.compute(at, three, bits::sub_signed),
                Operation::MulSigned(three) => self.compute(at, three, bits::mul_signed),
                Operation::UDiv(three) => self.compute(at, three, |l, r, _| l.checked_div(r)),
                Operation::URem(three) => self.compute(at, three, |l, r, _| l.checked_rem(r)),
                Operation::SDiv(three) => self.compute(at, three, bits::divide_signed),
                Operation::SRem(three) => self.compute(at, three, bits::remainder_signed),
                Operation::And(three) => self.compute(at, three, |l, r, _| Some(l & r)),
                Operation::Or(three) => self.compute(at, three, |l, r, _| Some(l | r)),
                Operation::Xor(three) => self.compute(at, three, |l, r, _| Some(l ^ r)),
                Operation::Shl(three) => self.compute(at, three, bits::shift_left),
                Operation::LShr(three) => self.compute(at, three, bits::shift_right),
                Operation::AShr(three) => self.compute(at, three, bits::shift_right_signed),
                Operation::Eq(three) => self.compare(at, three, |l, r| l == r),
                Operation::Ne(three) => self.compare(at, three, |l, r| l != r),
                Operation::Ult(three) => self.compare(at, three, |l, r| l < r),
                Operation::Ule(three) => self.compare(at, three, |l, r| l <= r),
                Operation::Slt(three) => self.compare_signed(at, three, |l, r| l < r),
                Operation::Sle(three) => self.compare_signed(at, three, |l, r| l <= r),
                Operation::ZeroExtend { out, from } => self.cast(at, *out, *from, |bits| bits),
                Operation::Truncate { out, from, unused } => {
                    self.cast(at, *out, *from, |bits| bits << unused >> unused)
                }
                Operation::SignExtend { out, from, unused_from, unused_to } => {
                    self.cast(at, *out, *from, |bits| bits::sign_extend(bits, *unused_from, *unused_to))
                }
                Operation::Select { out, condition, then, otherwise } => {
                    self.select(at, *out, *condition, [*otherwise, *then])
                }
                Operation::Offset { out, base, constant } => self.offset(at, *out, *base, *constant),
                Operation::Index { out, address } => self.index(at, *out, address),
                Operation::Load1 { out, address } => self.load::<1>(at, *out, self.pointer(*address)),
                Operation::Load2 { out, address } => self.load::<2>(at, *out, self.pointer(*address)),
                Operation::Load4 { out, address } => self.load::<4>(at, *out, self.pointer(*address)),
                Operation::Load8 { out, address } => self.load::<8>(at, *out, self.pointer(*address)),
                Operation::Store1 { value, address } => self.store::<1>(at, *value, self.pointer(*address)),
                Operation::Store2 { value, address } => self.store::<2>(at, *value, self.pointer(*address)),
                Operation::Store4 { value, address } => self.store::<4>(at, *value, self.pointer(*address)),
                Operation::Store8 { value, address } => self.store::<8>(at, *value, self.pointer(*address)),
                Operation::LoadIndexed1 { out, address } => self.load::<1>(at, *out, self.indexed(address)),
                Operation::LoadIndexed2 { out, address } => self.load::<2>(at, *out, self.indexed(address)),
                Operation::LoadIndexed4 { out, address } => self.load::<4>(at, *out, self.indexed(address)),
                Operation::LoadIndexed8 { out, address } => self.load::<8>(at, *out, self.indexed(address)),
                Operation::StoreIndexed1 { value, address } => self.store::<1>(at, *value, self.indexed(address)),
                Operation::StoreIndexed2 { value, address } => self.store::<2>(at, *value, self.indexed(address)),
                Operation::StoreIndexed4 { value, address } => self.store::<4>(at, *value, self.indexed(address)),
                Operation::StoreIndexed8 { value, address } => self.store::<8>(at, *value, self.indexed(address)),
                Operation::Mark { out, value, marker } => self.mark(at, *out, *value, *marker),
                Operation::Jump { edge } => self.jump(&decoded.edges[*edge as usize]),
                Operation::Branch { condition, edges } => self.branch(*condition, *edges),
                Operation::BranchEq(test) => self.test(test, |l, r| l == r),
                Operation::BranchNe(test) => self.test(test, |l, r| l != r),
                Operation::BranchUlt(test) => self.test(test, |l, r| l < r),
                Operation::BranchUle(test) => self.test(test, |l, r| l <= r),
                Operation::BranchSlt(test) => self.test_signed(test, |l, r| l < r),
                Operation::BranchSle(test) => self.test_signed(test, |l, r| l <= r),
            };
            match next {
                Some(next) => at = next,
                None => return at,
            }
        }
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

    /// Copies a slot. Bits part by part: a processor waits for parts that were just written when it reads them as one.
    #[inline(always)]
    fn transfer(&mut self, to: Slot, from: Slot) {
        match self.slots[from as usize] {
            Value::Bits(bits) => self.set(to, Value::Bits(bits)),
            value => self.set(to, value),
        }
    }

    #[inline(always)]
    fn compute(&mut self, at: usize, three: &Three, result: impl Fn(u64, u64, u32) -> Option<u64>) -> Option<usize> {
        let result = result(self.bits(three.left)?, self.bits(three.right)?, u32::from(three.unused))?;
        self.set(three.out, Value::Bits(result));
        Some(at + 1)
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
        let object = self.memory.readable(pointer?.object)?;
        let offset = pointer?.offset as usize;
        match object.read_bits::<N>(offset) {
            Some(bits) => self.set(out, Value::Bits(bits)),
            None => self.set(out, object.read_piece::<N>(offset)?),
        }
        Some(at + 1)
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, at: usize, value: Slot, pointer: Option<Pointer>) -> Option<usize> {
        let object = self.memory.writable(pointer?.object)?;
        object.write_piece::<N>(pointer?.offset as usize, self.slots[value as usize]).then_some(at + 1)
    }

    #[inline(always)]
    fn mark(&mut self, at: usize, out: Slot, value: Slot, marker: MarkerId) -> Option<usize> {
        let outcome = u32::from(self.bits(value)? != 0);
        self.event(Event { marker, outcome });
        self.set(out, Value::Bits(u64::from(outcome)));
        Some(at + 1)
    }

    #[inline(always)]
    fn event(&mut self, event: Event) {
        let after = self.last_event.replace(event);
        if self.map_function.is_none_or(|function| !self.session.map_allows(function, after, event.marker)) {
            self.notes.caveats.off_the_map.get_or_insert(event);
        }
        self.events.push(event);
    }

    #[inline(always)]
    fn branch(&mut self, condition: Slot, edges: u32) -> Option<usize> {
        let taken = self.bits(condition)? & 1;
        self.jump(&self.decoded.edges[edges as usize + taken as usize])
    }

    /// A condition with its marker and the branch on it.
    #[inline(always)]
    fn test(&mut self, test: &Test, holds: impl Fn(u64, u64) -> bool) -> Option<usize> {
        let (left, right) = match self.comparable(test.left, test.right) {
            Some(pair) => pair,
            None => self.null_test(test)?,
        };
        let outcome = holds(left, right);
        let target = self.jump(&self.decoded.edges[test.edges as usize + usize::from(outcome)])?;
        self.event(Event { marker: test.marker, outcome: u32::from(outcome) });
        Some(target)
    }

    #[inline(always)]
    fn test_signed(&mut self, test: &Test, holds: impl Fn(i64, i64) -> bool) -> Option<usize> {
        let unused = u32::from(test.unused);
        self.test(test, |left, right| holds(bits::signed(left, unused), bits::signed(right, unused)))
    }

    /// A pointer that is compared with null: as equal as 1 and 0. Only equality asks that, so the order is nobody's.
    #[cold]
    fn null_test(&self, test: &Test) -> Option<(u64, u64)> {
        let null = |slot: Slot| matches!(self.slot(slot), Value::Bits(0));
        let pointer = |slot: Slot| matches!(self.slot(slot), Value::Pointer(_));
        let apart = null(test.left) && pointer(test.right) || pointer(test.left) && null(test.right);
        (test.equality && apart).then_some((1, 0))
    }

    /// Whether no limit is reached; then the next look is due some instructions later.
    #[cold]
    fn may_go_on(&mut self, instructions: u64) -> bool {
        self.pause = self.limits.instructions.min(instructions + INSTRUCTIONS_BETWEEN_LOOKS);
        instructions <= self.limits.instructions && !self.limits.interrupt.load(Ordering::Relaxed)
    }

    /// Goes along an edge; `None`, and nothing done, where a limit is reached.
    #[inline(always)]
    fn jump(&mut self, edge: &Edge) -> Option<usize> {
        let instructions = self.instructions + u64::from(edge.cost);
        if instructions > self.pause && !self.may_go_on(instructions) {
            return None;
        }
        if edge.enters_loop && !self.frame.loops.is_empty() {
            self.frame.enter_loop(edge.block, edge.back, self.limits.loop_iterations)?;
        }
        self.instructions = instructions;
        for &(to, from) in &self.decoded.moves[edge.first_move as usize..edge.end_move as usize] {
            self.transfer(to, from);
        }
        Some(edge.target as usize)
    }
}
