//! Execution on plain bits: the common case, at the speed of an interpreter.
//!
//! Each function is decoded once into operations on the slots of its frame. The loop here runs them while their operands
//! are plain bits or pointers to known places and nothing remarkable happens. Where an operation meets anything else (a
//! term, undefined behaviour, a limit) it changes nothing that anybody reads and stops; the instructions it stands for are
//! then executed by the general step, which alone knows the meaning of everything. So this loop may give up, but never
//! differ.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use branchwise_program::code::CompareOp;

use crate::executor::Executor;
use crate::session::Successors;
use crate::value::{Pointer, Value};

mod access;
mod bits;
mod calls;
mod condition;
mod data;
mod decode;
mod fuse;
mod operation;
mod scan;
mod settle;
mod table;

pub(crate) use bits::compare_bits;
pub(crate) use decode::Decoded;
use operation::{Edge, Exit, Fork, NO_MARKER, Operation, Slot, Test, TestLoaded, Three, Window};
pub(crate) use operation::{Place, WINDOW};

impl<'p> Executor<'_, 'p> {
    /// Runs what is plain; hands back the instructions that need the general step, and the operation after them.
    pub(crate) fn run_plain(&mut self) -> (Place, usize) {
        let successors = Rc::clone(&self.session.shared.successors);
        // Apart from the rest while it is worked on.
        let mut registers = std::mem::take(&mut self.registers);
        let stopped = loop {
            let frame = self.frames.last().expect("a path without frames has ended");
            let decoded = Rc::clone(&frame.decoded);
            let window = registers[self.base..].first_chunk_mut().expect("there is a window behind every frame");
            let stopped = self.run_frame(&decoded, window, &successors);
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
    fn run_frame(&mut self, decoded: &Decoded, window: &mut Window, successors: &RefCell<Successors>) -> usize {
        let frame = self.frame();
        let from = frame.next;
        let counts_loops = !frame.loops.is_empty();
        let events_before = self.events.len();
        let pause = self.pause;
        if counts_loops {
            // Every edge is looked at.
            self.pause = 0;
        }
        let mut machine = Machine { decoded, slots: window, counts_loops, successors, executor: self };
        let stopped = machine.run(from);
        if counts_loops {
            self.pause = pause;
        }
        if self.events.len() > events_before {
            let looked_at = if decoded.strays.get() { self.events.len() } else { events_before + 1 };
            self.check_map(events_before..looked_at, &mut successors.borrow_mut());
        }
        stopped
    }

    /// Checks that the map lets the innermost frame's events follow each other, those with these numbers; the others are
    /// known to do so.
    fn check_map(&mut self, unsettled: Range<usize>, successors: &mut Successors) {
        let Some(frame) = self.frames.last_mut() else { return };
        let events = &self.events[unsettled];
        let map = &self.session.program.map;
        let before = std::mem::replace(&mut frame.last_event, self.events.last().copied());
        let Some(function) = frame.map_function else {
            self.notes.caveats.off_the_map = self.notes.caveats.off_the_map.or(events.first().copied());
            return;
        };
        let mut last = before;
        for &event in events {
            if !successors.allows(map, function, last, event.marker) {
                self.notes.caveats.off_the_map.get_or_insert(event);
            }
            last = Some(event);
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
    successors: &'a RefCell<Successors>,
}

/// An edge and the operation that it leads to.
type Road<'a> = (&'a Edge, u32);

/// How it goes on after an operation. Each arm of the loop says it by itself, so that it costs nothing to tell.
enum Way<'a> {
    /// To the next operation.
    On,
    /// Along an edge.
    Along(Road<'a>),
    /// To an operation, along an edge that is left behind.
    To(usize),
    /// The operation is not plain.
    Nowhere,
}

#[inline(always)]
fn on<'a>(done: Option<()>) -> Way<'a> {
    done.map_or(Way::Nowhere, |()| Way::On)
}

#[inline(always)]
fn along(road: Option<Road<'_>>) -> Way<'_> {
    road.map_or(Way::Nowhere, Way::Along)
}

#[inline(always)]
fn to<'a>(target: Option<usize>) -> Way<'a> {
    target.map_or(Way::Nowhere, Way::To)
}

const INSTRUCTIONS_BETWEEN_LOOKS: u64 = 10_000;

impl<'a> Machine<'a, '_, '_, '_> {
    /// Runs from an operation on; hands back the one that is not plain.
    fn run(&mut self, from: usize) -> usize {
        let operations = self.decoded.operations.as_slice();
        let mut at = from;
        while let Some(operation) = operations.get(at) {
            let way = match operation {
                Operation::General | Operation::Call { .. } | Operation::Return { .. } => Way::Nowhere,
                Operation::Move { out, from } => on(self.copy(*out, *from)),
                Operation::Add(three) => on(self.compute(three, bits::add)),
                Operation::Sub(three) => on(self.compute(three, bits::sub)),
                Operation::Mul(three) => on(self.compute(three, bits::mul)),
                Operation::AddSigned(three) => on(self.compute(three, bits::add_signed)),
                Operation::SubSigned(three) => on(self.compute(three, bits::sub_signed)),
                Operation::MulSigned(three) => on(self.compute(three, bits::mul_signed)),
                Operation::UDiv(three) => on(self.compute(three, |l, r, _| l.checked_div(r))),
                Operation::URem(three) => on(self.compute(three, |l, r, _| l.checked_rem(r))),
                Operation::SDiv(three) => on(self.compute(three, bits::divide_signed)),
                Operation::SRem(three) => on(self.compute(three, bits::remainder_signed)),
                Operation::And(three) => on(self.compute(three, |l, r, _| Some(l & r))),
                Operation::Or(three) => on(self.compute(three, |l, r, _| Some(l | r))),
                Operation::Xor(three) => on(self.compute(three, |l, r, _| Some(l ^ r))),
                Operation::Shl(three) => on(self.compute(three, bits::shift_left)),
                Operation::LShr(three) => on(self.compute(three, bits::shift_right)),
                Operation::AShr(three) => on(self.compute(three, bits::shift_right_signed)),
                Operation::Eq(three) => on(self.compare(three, |l, r| l == r)),
                Operation::Ne(three) => on(self.compare(three, |l, r| l != r)),
                Operation::Ult(three) => on(self.compare(three, |l, r| l < r)),
                Operation::Ule(three) => on(self.compare(three, |l, r| l <= r)),
                Operation::Slt(three) => on(self.compare_signed(three, |l, r| l < r)),
                Operation::Sle(three) => on(self.compare_signed(three, |l, r| l <= r)),
                Operation::ZeroExtend { out, from } => on(self.cast(*out, *from, |bits| bits)),
                Operation::Truncate { out, from, unused } => {
                    on(self.cast(*out, *from, |bits| bits << unused >> unused))
                }
                Operation::SignExtend { out, from, unused_from, unused_to } => {
                    on(self.cast(*out, *from, |bits| bits::sign_extend(bits, *unused_from, *unused_to)))
                }
                Operation::Select { out, condition, then, otherwise } => {
                    on(self.select(*out, *condition, [*otherwise, *then]))
                }
                Operation::Offset { out, base, constant } => on(self.offset(*out, *base, *constant)),
                Operation::Index { out, address } => on(self.index(*out, address)),
                Operation::Load1 { out, address } => on(self.load::<1>(*out, self.pointer(*address))),
                Operation::Load2 { out, address } => on(self.load::<2>(*out, self.pointer(*address))),
                Operation::Load4 { out, address } => on(self.load::<4>(*out, self.pointer(*address))),
                Operation::Load8 { out, address } => on(self.load::<8>(*out, self.pointer(*address))),
                Operation::Store1 { value, address } => on(self.store::<1>(*value, self.pointer(*address))),
                Operation::Store2 { value, address } => on(self.store::<2>(*value, self.pointer(*address))),
                Operation::Store4 { value, address } => on(self.store::<4>(*value, self.pointer(*address))),
                Operation::Store8 { value, address } => on(self.store::<8>(*value, self.pointer(*address))),
                Operation::LoadIndexed1 { out, address } => on(self.load::<1>(*out, self.indexed(address))),
                Operation::LoadIndexed2 { out, address } => on(self.load::<2>(*out, self.indexed(address))),
                Operation::LoadIndexed4 { out, address } => on(self.load::<4>(*out, self.indexed(address))),
                Operation::LoadIndexed8 { out, address } => on(self.load::<8>(*out, self.indexed(address))),
                Operation::StoreIndexed1 { value, address } => on(self.store::<1>(*value, self.indexed(address))),
                Operation::StoreIndexed2 { value, address } => on(self.store::<2>(*value, self.indexed(address))),
                Operation::StoreIndexed4 { value, address } => on(self.store::<4>(*value, self.indexed(address))),
                Operation::StoreIndexed8 { value, address } => on(self.store::<8>(*value, self.indexed(address))),
                Operation::LoadUnsigned1 { out, address } => on(self.load_number::<1>(*out, address, |bits| bits)),
                Operation::LoadUnsigned2 { out, address } => on(self.load_number::<2>(*out, address, |bits| bits)),
                Operation::LoadUnsigned4 { out, address } => on(self.load_number::<4>(*out, address, |bits| bits)),
                Operation::LoadSigned1To4 { out, address } => {
                    on(self.load_number::<1>(*out, address, |bits| i32::from(bits as i8) as u32 as u64))
                }
                Operation::LoadSigned2To4 { out, address } => {
                    on(self.load_number::<2>(*out, address, |bits| i32::from(bits as i16) as u32 as u64))
                }
                Operation::LoadSigned1To8 { out, address } => {
                    on(self.load_number::<1>(*out, address, |bits| bits as i8 as u64))
                }
                Operation::LoadSigned2To8 { out, address } => {
                    on(self.load_number::<2>(*out, address, |bits| bits as i16 as u64))
                }
                Operation::LoadSigned4To8 { out, address } => {
                    on(self.load_number::<4>(*out, address, |bits| bits as i32 as u64))
                }
                Operation::Update1 { step, right, address } => on(self.update::<1>(*step, *right, address)),
                Operation::Update2 { step, right, address } => on(self.update::<2>(*step, *right, address)),
                Operation::Update4 { step, right, address } => on(self.update::<4>(*step, *right, address)),
                Operation::Update8 { step, right, address } => on(self.update::<8>(*step, *right, address)),
                Operation::CopyMemory { to, from, size } => on(self.copy_memory(*to, *from, *size)),
                Operation::SetMemory { to, byte, size } => on(self.set_memory(*to, *byte, *size)),
                Operation::Mark { out, value, fork } => along(self.mark(*out, *value, fork)),
                Operation::MarkCompare { op, three, fork } => along(self.mark_compare(*op, three, fork)),
                Operation::Scan { scan } => on(self.scan(*scan).or(Some(()))),
                Operation::Jump { exit } => to(self.jump(exit)),
                Operation::Branch { condition, fork } => along(self.branch(*condition, fork)),
                Operation::BranchEq(test) => along(self.test(test, |l, r| l == r)),
                Operation::BranchNe(test) => along(self.test(test, |l, r| l != r)),
                Operation::BranchUlt(test) => along(self.test(test, |l, r| l < r)),
                Operation::BranchUle(test) => along(self.test(test, |l, r| l <= r)),
                Operation::BranchSlt(test) => along(self.test_signed(test, |l, r| l < r)),
                Operation::BranchSle(test) => along(self.test_signed(test, |l, r| l <= r)),
                Operation::TestLoaded1(test) => along(self.test_loaded::<1>(test)),
                Operation::TestLoaded2(test) => along(self.test_loaded::<2>(test)),
                Operation::TestLoaded4(test) => along(self.test_loaded::<4>(test)),
                Operation::Switch { value, table } => along(self.switch(*value, *table)),
                Operation::AddJump { three, exit } => to(self.step(three, exit, bits::add)),
                Operation::AddSignedJump { three, exit } => to(self.step(three, exit, bits::add_signed)),
                Operation::OffsetJump { out, base, constant, exit } => {
                    to(self.offset_step(*out, *base, *constant, exit))
                }
            };
            let next = match way {
                Way::On => Some(at + 1),
                Way::Along(road) => self.along(road),
                Way::To(target) => Some(target),
                Way::Nowhere => None,
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// An operation and a jump whose copies come before the result is written.
    #[inline(always)]
    fn step(&mut self, three: &Three, exit: &Exit, result: impl Fn(u64, u64, u32) -> Option<u64>) -> Option<usize> {
        let result = result(self.bits(three.left)?, self.bits(three.right)?, u32::from(three.unused))?;
        let target = self.jump(exit)?;
        self.set(three.out, Value::Bits(result));
        Some(target)
    }

    #[inline(always)]
    fn offset_step(&mut self, out: Slot, base: Slot, constant: i32, exit: &Exit) -> Option<usize> {
        let Pointer { object, offset } = self.pointer(base)?;
        let target = self.jump(exit)?;
        let offset = offset.wrapping_add(i64::from(constant) as u64);
        self.set(out, Value::Pointer(Pointer { object, offset }));
        Some(target)
    }

    /// One of two edges. A branch, and not a number that is added: what comes after must not wait for the condition, which
    /// the processor predicts.
    #[inline(always)]
    fn either(&self, fork: &Fork, second: bool) -> Road<'a> {
        let Fork { edges, targets } = fork;
        let decoded = self.decoded;
        if second {
            (&decoded.edges[*edges as usize + 1], targets[1])
        } else {
            (&decoded.edges[*edges as usize], targets[0])
        }
    }

    #[inline(always)]
    fn branch(&self, condition: Slot, fork: &Fork) -> Option<Road<'a>> {
        Some(self.either(fork, self.bits(condition)? & 1 != 0))
    }

    #[inline(always)]
    fn switch(&self, value: Slot, table: u32) -> Option<Road<'a>> {
        let decoded = self.decoded;
        let [edge, target] = decoded.tables[table as usize].entry(self.bits(value)?);
        Some((&decoded.edges[edge as usize], target))
    }

    /// A marker; the edge tells what it reports.
    #[inline(always)]
    fn mark(&mut self, out: Slot, value: Slot, fork: &Fork) -> Option<Road<'a>> {
        let outcome = self.bits(value)? != 0;
        self.set(out, Value::Bits(u64::from(outcome)));
        Some(self.either(fork, outcome))
    }

    /// A comparison and its marker.
    #[inline(always)]
    fn mark_compare(&mut self, op: CompareOp, three: &Three, fork: &Fork) -> Option<Road<'a>> {
        let (left, right) = self.comparable(three.left, three.right)?;
        let outcome = bits::compare_bits(op, left, right, u32::from(three.unused));
        self.set(three.out, Value::Bits(u64::from(outcome)));
        Some(self.either(fork, outcome))
    }

    /// A condition and the branch on it.
    #[inline(always)]
    fn test(&self, test: &Test, holds: impl Fn(u64, u64) -> bool) -> Option<Road<'a>> {
        let (left, right) = match self.comparable(test.left, test.right) {
            Some(pair) => pair,
            None => self.null_test(test)?,
        };
        Some(self.either(&test.fork, holds(left, right)))
    }

    #[inline(always)]
    fn test_signed(&self, test: &Test, holds: impl Fn(i64, i64) -> bool) -> Option<Road<'a>> {
        let unused = u32::from(test.unused);
        self.test(test, |left, right| holds(bits::signed(left, unused), bits::signed(right, unused)))
    }

    /// A condition on a number in memory and the branch on it.
    #[inline(always)]
    fn test_loaded<const N: usize>(&mut self, test: &TestLoaded) -> Option<Road<'a>> {
        let (Pointer { object, offset }, right) = (self.pointer(test.base)?, self.bits(test.right)?);
        let offset = offset.wrapping_add(i64::from(test.constant) as u64);
        let loaded = self.executor.memory.readable(object)?.read_bits::<N>(offset as usize)?;
        let left = if test.sign_extended { bits::sign_extend(loaded, 64 - 8 * N as u8, test.unused) } else { loaded };
        self.set(test.out, Value::Bits(left));
        let holds = match test.op {
            CompareOp::Eq => left == right,
            CompareOp::Ne => left != right,
            op => bits::compare_bits(op, left, right, u32::from(test.unused)),
        };
        Some(self.either(&test.fork, holds))
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

    /// Goes along an edge after a condition or a switch; `None`, and nothing done, where a limit is reached.
    #[inline(always)]
    fn along(&mut self, (edge, target): Road<'_>) -> Option<usize> {
        self.count(edge)?;
        if edge.event.marker != NO_MARKER {
            if self.executor.events.len() == self.executor.events.capacity() {
                self.make_room();
            }
            self.executor.events.push(edge.event);
        }
        self.pass(edge);
        Some(target as usize)
    }

    /// Goes along an edge that no marker tells of.
    #[inline(always)]
    fn jump(&mut self, exit: &Exit) -> Option<usize> {
        let decoded = self.decoded;
        let edge = &decoded.edges[exit.edge as usize];
        self.count(edge)?;
        self.pass(edge);
        Some(exit.target as usize)
    }

    #[inline(always)]
    fn count(&mut self, edge: &Edge) -> Option<()> {
        let mut instructions = self.executor.instructions + u64::from(edge.cost.get());
        if instructions > self.executor.pause {
            instructions = self.take_care(edge)?;
        }
        self.executor.instructions = instructions;
        Some(())
    }

    #[inline(always)]
    fn pass(&mut self, edge: &Edge) {
        match &edge.moves[..] {
            [] => {}
            [(to, from)] => self.transfer(*to, *from),
            moves => moves.iter().for_each(|&(to, from)| self.transfer(to, from)),
        }
    }

    /// Not where an event is added, as a call there would cost all of them.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        self.executor.events.reserve(1);
    }

    /// What there may be to do on an edge beside going along it. The count of instructions behind it; `None`, and nothing
    /// done: a limit is reached.
    #[cold]
    #[inline(never)]
    fn take_care(&mut self, edge: &Edge) -> Option<u64> {
        self.settle(edge);
        let instructions = self.executor.instructions + u64::from(edge.cost.get());
        if instructions <= self.executor.pause {
            return Some(instructions);
        }
        let limits = self.executor.limits;
        if instructions > limits.instructions || limits.interrupt.load(Ordering::Relaxed) {
            return None;
        }
        if !self.counts_loops {
            self.executor.pause = limits.instructions.min(instructions + INSTRUCTIONS_BETWEEN_LOOKS);
            return Some(instructions);
        }
        if edge.enters_loop {
            self.executor.frame().enter_loop(edge.block, edge.back, limits.loop_iterations)?;
        }
        Some(instructions)
    }
}
