//! Operations that compute, read, write and report, and then go on to the next one.

use super::operation::{Indexed, Slot, Step, Three};
use super::{Machine, bits};
use crate::value::{OBJECT_BASE, Pointer, Value};

/// `None` from an operation: it is not plain, and has done nothing.
impl Machine<'_, '_, '_, '_> {
    #[inline(always)]
    pub(super) fn slot(&self, slot: Slot) -> Value {
        self.slots[slot as usize]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, slot: Slot, value: Value) {
        self.slots[slot as usize] = value;
    }

    #[inline(always)]
    pub(super) fn bits(&self, slot: Slot) -> Option<u64> {
        if let Value::Bits(bits) = self.slot(slot) { Some(bits) } else { None }
    }

    #[inline(always)]
    pub(super) fn copy(&mut self, out: Slot, from: Slot) -> Option<()> {
        self.transfer(out, from);
        Some(())
    }

    #[inline(always)]
    pub(super) fn transfer(&mut self, to: Slot, from: Slot) {
        match self.slots[from as usize] {
            Value::Bits(bits) => self.set(to, Value::Bits(bits)),
            Value::Pointer(Pointer { object, offset }) => self.set(to, Value::Pointer(Pointer { object, offset })),
            value => self.set(to, value),
        }
    }

    #[inline(always)]
    pub(super) fn compute(&mut self, three: &Three, result: impl Fn(u64, u64, u32) -> Option<u64>) -> Option<()> {
        let result = result(self.bits(three.left)?, self.bits(three.right)?, u32::from(three.unused))?;
        self.set(three.out, Value::Bits(result));
        Some(())
    }

    #[inline(always)]
    pub(super) fn compare(&mut self, three: &Three, holds: impl Fn(u64, u64) -> bool) -> Option<()> {
        let (left, right) = self.comparable(three.left, three.right)?;
        self.set(three.out, Value::Bits(u64::from(holds(left, right))));
        Some(())
    }

    #[inline(always)]
    pub(super) fn compare_signed(&mut self, three: &Three, holds: impl Fn(i64, i64) -> bool) -> Option<()> {
        let unused = u32::from(three.unused);
        self.compare(three, |left, right| holds(bits::signed(left, unused), bits::signed(right, unused)))
    }

    /// Two numbers that compare as the values do.
    #[inline(always)]
    pub(super) fn comparable(&self, left: Slot, right: Slot) -> Option<(u64, u64)> {
        match (self.slot(left), self.slot(right)) {
            (Value::Bits(left), Value::Bits(right)) => Some((left, right)),
            (Value::Pointer(left), Value::Pointer(right)) if left.object == right.object => {
                Some((left.offset.wrapping_add(OBJECT_BASE), right.offset.wrapping_add(OBJECT_BASE)))
            }
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn cast(&mut self, out: Slot, from: Slot, result: impl Fn(u64) -> u64) -> Option<()> {
        let bits = self.bits(from)?;
        self.set(out, Value::Bits(result(bits)));
        Some(())
    }

    #[inline(always)]
    pub(super) fn select(&mut self, out: Slot, condition: Slot, values: [Slot; 2]) -> Option<()> {
        let condition = self.bits(condition)?;
        self.copy(out, values[condition as usize & 1])
    }

    #[inline(always)]
    pub(super) fn pointer(&self, slot: Slot) -> Option<Pointer> {
        if let Value::Pointer(pointer) = self.slot(slot) { Some(pointer) } else { None }
    }

    #[inline(always)]
    pub(super) fn indexed(&self, address: &Indexed) -> Option<Pointer> {
        let base = self.pointer(address.base)?;
        let index = bits::signed(self.bits(address.index)?, u32::from(address.unused));
        let displacement = index.wrapping_mul(i64::from(address.scale)).wrapping_add(i64::from(address.constant));
        Some(Pointer { object: base.object, offset: base.offset.wrapping_add(displacement as u64) })
    }

    #[inline(always)]
    pub(super) fn index(&mut self, out: Slot, address: &Indexed) -> Option<()> {
        let pointer = self.indexed(address)?;
        self.set(out, Value::Pointer(pointer));
        Some(())
    }

    #[inline(always)]
    pub(super) fn offset(&mut self, out: Slot, base: Slot, constant: i32) -> Option<()> {
        let base = self.pointer(base)?;
        let offset = base.offset.wrapping_add(i64::from(constant) as u64);
        self.set(out, Value::Pointer(Pointer { object: base.object, offset }));
        Some(())
    }

    #[inline(always)]
    pub(super) fn load<const N: usize>(&mut self, out: Slot, pointer: Option<Pointer>) -> Option<()> {
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
        Some(())
    }

    /// A number and its extension.
    #[inline(always)]
    pub(super) fn load_number<const N: usize>(
        &mut self,
        out: Slot,
        address: &Indexed,
        extended: impl Fn(u64) -> u64,
    ) -> Option<()> {
        let Pointer { object, offset } = self.indexed(address)?;
        let bits = self.executor.memory.readable(object)?.read_bits::<N>(offset as usize)?;
        self.set(out, Value::Bits(extended(bits)));
        Some(())
    }

    #[inline(always)]
    pub(super) fn store<const N: usize>(&mut self, value: Slot, pointer: Option<Pointer>) -> Option<()> {
        let object = self.executor.memory.writable(pointer?.object)?;
        let offset = pointer?.offset;
        match self.slots[value as usize] {
            Value::Bits(bits) => object.write_bits::<N>(offset as usize, bits)?,
            value => object.write_piece(offset, N as u64, value)?,
        }
        Some(())
    }

    #[inline(always)]
    pub(super) fn update<const N: usize>(&mut self, step: Step, right: Slot, address: &Indexed) -> Option<()> {
        let (Pointer { object, offset }, right) = (self.indexed(address)?, self.bits(right)?);
        let unused = 64 - 8 * N as u32;
        self.executor.memory.updatable(object)?.update_bits::<N>(offset as usize, |left| match step {
            Step::AddSigned => bits::add_signed(left, right, unused),
            step => bits::stepped(step, left, right, unused),
        })
    }

    #[inline(never)]
    pub(super) fn copy_memory(&mut self, to: Slot, from: Slot, size: Slot) -> Option<()> {
        let size = self.bits(size)?;
        if size > 0 {
            self.executor.memory.copy_plain(self.pointer(to)?, self.pointer(from)?, size)?;
        }
        self.executor.instructions += size / 8;
        Some(())
    }

    #[inline(never)]
    pub(super) fn set_memory(&mut self, to: Slot, byte: Slot, size: Slot) -> Option<()> {
        let (size, byte) = (self.bits(size)?, self.bits(byte)?);
        if size > 0 {
            let Pointer { object, offset } = self.pointer(to)?;
            let range = offset as usize..offset.checked_add(size)? as usize;
            self.executor.memory.writable(object)?.fill_whole(range, byte as u8)?;
        }
        self.executor.instructions += size / 8;
        Some(())
    }
}
