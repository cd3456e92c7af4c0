//! One object: bytes, for each of them what it is, and above them cells for what is symbolic or a pointer.

use std::ops::Range;

use branchwise_constraints::{FastMap, TermId};

use super::marks::Marks;
use super::{Contents, Origin, TermContext};
use crate::value::{ObjectId, Pointer, Value};

#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// Bytes.
    pub size: u64,
    /// Its size as a term of 64 bits, where an input decides it; at most `size`.
    pub symbolic_size: Option<TermId>,
    pub origin: Origin,
    pub writable: bool,
    /// What functions that nobody defines may have done to it.
    pub(super) marks: Marks,
    bytes: Vec<u8>,
    /// What each byte is; empty while all of them are plain.
    kinds: Vec<u8>,
    /// By the offset of their first byte, but for pointers that fit into their own bytes. Never walked in its own order, which is not decided.
    cells: FastMap<u64, Cell>,
}

#[derive(Debug, Copy, Clone)]
struct Cell {
    size: u64,
    value: Value,
}

/// Kinds of bytes. Nobody wrote it: the zero that new memory is made of.
const UNDEFINED: u8 = 0;
/// `bytes` holds it.
const PLAIN: u8 = 1;
/// The first of a cell.
const FIRST: u8 = 2;
/// Another one of a cell.
const INNER: u8 = 3;
/// The first of a cell with a pointer that `bytes` holds: its object, then its offset, 32 bits each.
const POINTER: u8 = 4;

impl Default for Object {
    fn default() -> Self {
        Object::new(0, Origin::Stack, Contents::Zero)
    }
}

impl Object {
    pub(super) fn new(size: u64, origin: Origin, contents: Contents) -> Self {
        let uninitialised = contents == Contents::Uninitialised;
        Object {
            size,
            symbolic_size: None,
            origin,
            writable: true,
            marks: Marks::default(),
            bytes: vec![0; size as usize],
            kinds: if uninitialised { vec![UNDEFINED; size as usize] } else { Vec::new() },
            cells: FastMap::default(),
        }
    }

    /// Makes it what `new` would, in the buffers that it has.
    pub(super) fn reset(&mut self, size: u64, origin: Origin, contents: Contents) {
        if size as usize > self.bytes.capacity() {
            *self = Object::new(size, origin, contents);
            return;
        }
        (self.size, self.symbolic_size, self.origin, self.writable) = (size, None, origin, true);
        self.marks = Marks::default();
        self.bytes.clear();
        self.bytes.resize(size as usize, 0);
        self.kinds.clear();
        if contents == Contents::Uninitialised {
            self.kinds.resize(size as usize, UNDEFINED);
        }
        self.cells.clear();
    }

    /// Holds bytes only: nothing symbolic, no pointers, and all of them written.
    pub(crate) fn is_plain(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Puts bytes where no cell is yet.
    pub(crate) fn write_bytes(&mut self, offset: u64, bytes: &[u8]) {
        self.bytes[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
        self.mark(offset, bytes.len() as u64, PLAIN);
    }

    /// Puts a pointer where no cell is yet.
    pub(crate) fn put_pointer(&mut self, offset: u64, value: Value) {
        self.put_cell(offset, 8, value);
    }

    fn put_cell(&mut self, offset: u64, size: u64, value: Value) {
        self.mark(offset, size, INNER);
        if let Value::Pointer(pointer) = value
            && let (8, Ok(into)) = (size, u32::try_from(pointer.offset))
        {
            self.kinds[offset as usize] = POINTER;
            let bytes = u64::from(pointer.object.0) | u64::from(into) << 32;
            self.bytes[offset as usize..][..8].copy_from_slice(&bytes.to_le_bytes());
            return;
        }
        self.kinds[offset as usize] = FIRST;
        self.cells.insert(offset, Cell { size, value });
    }

    /// The cell that begins here.
    #[inline(always)]
    fn cell_at(&self, offset: u64) -> Option<Cell> {
        match self.kind(offset) {
            FIRST => self.cells.get(&offset).copied(),
            POINTER => Some(Cell { size: 8, value: Value::Pointer(self.read_pointer(offset as usize)?) }),
            _ => None,
        }
    }

    /// What it holds that may be a pointer, in no order.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = Value> {
        let own = self.kinds.iter().enumerate().filter(|(_, kind)| **kind == POINTER);
        let own = own.filter_map(|(at, _)| self.read_pointer(at).map(Value::Pointer));
        own.chain(self.cells.values().map(|cell| cell.value))
    }

    /// The pointers to one place that it holds, in order, each with where it stands.
    pub(crate) fn pointer_places(&self) -> Vec<(u64, Pointer)> {
        let own = self.kinds.iter().enumerate().filter(|(_, kind)| **kind == POINTER);
        own.filter_map(|(at, _)| Some((at as u64, self.read_pointer(at)?))).collect()
    }

    fn mark(&mut self, offset: u64, size: u64, kind: u8) {
        if self.kinds.is_empty() && kind == PLAIN {
            return;
        }
        self.spell_out_kinds();
        self.kinds[offset as usize..(offset + size) as usize].fill(kind);
    }

    fn kind(&self, at: u64) -> u8 {
        self.kinds.get(at as usize).copied().unwrap_or(PLAIN)
    }

    /// The kinds in a range; empty if the object is plain everywhere.
    fn kinds(&self, offset: u64, size: u64) -> &[u8] {
        if self.kinds.is_empty() { &[] } else { &self.kinds[offset as usize..(offset + size) as usize] }
    }

    /// `N` bytes inside the object, all of them plain.
    #[inline(always)]
    pub(crate) fn read_bits<const N: usize>(&self, offset: usize) -> Option<u64> {
        let bytes = self.bytes.get(offset..)?.first_chunk::<N>()?;
        if !self.kinds.is_empty() && self.kinds.get(offset..)?.first_chunk::<N>()? != &[PLAIN; N] {
            return None;
        }
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    }

    /// How many bytes from here on are plain and not this one, at most so many.
    pub(crate) fn plain_before(&self, offset: usize, stop: u8, most: usize) -> usize {
        let Some(bytes) = self.bytes.get(offset..) else { return 0 };
        let bytes = &bytes[..bytes.len().min(most)];
        let count = bytes.iter().position(|&byte| byte == stop).unwrap_or(bytes.len());
        let kinds = self.kinds(offset as u64, count as u64);
        kinds.iter().position(|&kind| kind != PLAIN).unwrap_or(count)
    }

    /// The pointer in the eight bytes here, if they hold it.
    #[inline(always)]
    pub(crate) fn read_pointer(&self, offset: usize) -> Option<Pointer> {
        if *self.kinds.get(offset)? != POINTER {
            return None;
        }
        let bytes = u64::from_le_bytes(*self.bytes.get(offset..)?.first_chunk()?);
        Some(Pointer { object: ObjectId(bytes as u32), offset: bytes >> 32 })
    }

    /// `N` bytes inside the object that are one cell, or that nobody wrote.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_piece<const N: usize>(&self, offset: usize) -> Option<Value> {
        let kinds = self.kinds.get(offset..)?.first_chunk::<N>()?;
        if kinds[0] >= FIRST {
            return self.cell_at(offset as u64).filter(|cell| cell.size == N as u64).map(|cell| cell.value);
        }
        (*kinds == [UNDEFINED; N]).then_some(Value::Undefined)
    }

    /// Writes bits over `N` bytes inside the object that are no cell; else does nothing.
    #[inline(always)]
    pub(crate) fn write_bits<const N: usize>(&mut self, offset: usize, bits: u64) -> Option<()> {
        let bytes = self.bytes.get_mut(offset..)?.first_chunk_mut::<N>()?;
        if !self.kinds.is_empty() {
            let kinds = self.kinds.get_mut(offset..)?.first_chunk_mut::<N>()?;
            if *kinds != [PLAIN; N] {
                if kinds.iter().any(|&kind| kind >= FIRST) {
                    return None;
                }
                *kinds = [PLAIN; N];
            }
        }
        bytes.copy_from_slice(&bits.to_le_bytes()[..N]);
        Some(())
    }

    /// Writes what becomes of `N` bytes inside the object, all of them plain; else does nothing.
    #[inline(always)]
    pub(crate) fn update_bits<const N: usize>(
        &mut self,
        offset: usize,
        update: impl Fn(u64) -> Option<u64>,
    ) -> Option<()> {
        let bytes = self.bytes.get_mut(offset..)?.first_chunk_mut::<N>()?;
        if !self.kinds.is_empty() && self.kinds.get(offset..)?.first_chunk::<N>()? != &[PLAIN; N] {
            return None;
        }
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(bytes);
        let updated = update(u64::from_le_bytes(wide))?;
        bytes.copy_from_slice(&updated.to_le_bytes()[..N]);
        Some(())
    }

    /// Writes what is no bits over bytes inside the object that are no cell, or exactly one; else does nothing.
    #[inline(never)]
    pub(crate) fn write_piece(&mut self, offset: u64, size: u64, value: Value) -> Option<()> {
        match value {
            Value::Bits(_) | Value::Undefined => None,
            value => self.write_cell(offset, size, value),
        }
    }

    fn write_cell(&mut self, offset: u64, size: u64, value: Value) -> Option<()> {
        if offset >= self.size || size > self.size - offset {
            return None;
        }
        let exact = self.cell_at(offset).is_some_and(|cell| cell.size == size);
        if !exact && self.kinds(offset, size).iter().any(|&kind| kind >= FIRST) {
            return None;
        }
        if self.kind(offset) == FIRST {
            self.cells.remove(&offset);
        }
        self.put_cell(offset, size, value);
        Some(())
    }

    /// Whether a range lies inside the object and the bytes alone say what it holds: no part of it is a cell elsewhere,
    /// and no pointer is cut.
    fn is_whole(&self, range: &Range<usize>) -> bool {
        if self.kinds.is_empty() {
            return range.end <= self.bytes.len();
        }
        let inner = |at: usize| self.kinds.get(at) == Some(&INNER);
        let inside = |kinds: &[u8]| kinds.iter().fold(true, |all, &kind| all & (kind != FIRST));
        self.kinds.get(range.clone()).is_some_and(inside) && !inner(range.start) && !inner(range.end)
    }

    /// Copies a range of another object, if the bytes alone say what both ranges hold; else does nothing.
    pub(super) fn copy_whole(&mut self, at: usize, other: &Object, range: Range<usize>) -> Option<()> {
        let here = at..at.checked_add(range.len())?;
        if self.is_overwritten(&here) || !self.is_whole(&here) || !other.is_whole(&range) {
            return None;
        }
        self.bytes[here.clone()].copy_from_slice(&other.bytes[range.clone()]);
        if !other.kinds.is_empty() {
            self.spell_out_kinds();
            self.kinds[here].copy_from_slice(&other.kinds[range]);
        } else if !self.kinds.is_empty() {
            self.kinds[here].fill(PLAIN);
        }
        Some(())
    }

    /// The same within one object.
    pub(super) fn move_whole(&mut self, at: usize, range: Range<usize>) -> Option<()> {
        let here = at..at.checked_add(range.len())?;
        if self.is_overwritten(&here) || !self.is_whole(&here) || !self.is_whole(&range) {
            return None;
        }
        self.bytes.copy_within(range.clone(), at);
        if !self.kinds.is_empty() {
            self.kinds.copy_within(range, at);
        }
        Some(())
    }

    /// Writes one byte everywhere in a range in which no cell is cut or lies elsewhere; else does nothing.
    pub(crate) fn fill_whole(&mut self, range: Range<usize>, byte: u8) -> Option<()> {
        if self.is_overwritten(&range) || !self.is_whole(&range) {
            return None;
        }
        if range == (0..self.size as usize) {
            self.kinds.clear();
        } else if !self.kinds.is_empty() {
            self.kinds[range.clone()].fill(PLAIN);
        }
        self.bytes[range].fill(byte);
        Some(())
    }

    /// Whether writing a range leaves nothing of what a variable of the program held: paths remember that.
    fn is_overwritten(&self, range: &Range<usize>) -> bool {
        *range == (0..self.size as usize) && matches!(self.origin, Origin::Global { .. })
    }

    fn spell_out_kinds(&mut self) {
        if self.kinds.is_empty() {
            self.kinds = vec![PLAIN; self.size as usize];
        }
    }

    pub(super) fn read(&self, context: &mut TermContext<'_, '_>, offset: u64, size: u64) -> Value {
        let kinds = self.kinds(offset, size);
        if kinds.iter().all(|&kind| kind == PLAIN) {
            return self.read_plain(context, offset, size);
        }
        if let Some(cell) = self.cell_at(offset).filter(|cell| cell.size == size) {
            return cell.value;
        }
        if kinds.iter().all(|&kind| kind == UNDEFINED) {
            return Value::Undefined;
        }
        self.assemble(context, offset, size)
    }

    fn read_plain(&self, context: &mut TermContext<'_, '_>, offset: u64, size: u64) -> Value {
        let bytes = &self.bytes[offset as usize..(offset + size) as usize];
        let mut wide = [0; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u128::from_le_bytes(wide);
        if size <= 8 {
            Value::Bits(bits as u64)
        } else {
            Value::Term(context.session.terms.constant(bits, 8 * size as u32))
        }
    }

    /// The bytes of a range in which all are plain.
    pub(super) fn plain_bytes(&self, offset: u64, size: u64) -> Option<&[u8]> {
        let plain = self.kinds(offset, size).iter().all(|&kind| kind == PLAIN);
        plain.then(|| &self.bytes[offset as usize..(offset + size) as usize])
    }

    /// Byte by byte, lowest address in the lowest bits.
    fn assemble(&self, context: &mut TermContext<'_, '_>, offset: u64, size: u64) -> Value {
        let mut whole = None;
        for at in offset..offset + size {
            let byte = self.byte_term(context, at);
            whole = Some(match whole {
                None => byte,
                Some(low) => context.session.terms.concat(byte, low),
            });
        }
        let whole = whole.expect("reads have at least one byte");
        match context.session.terms.as_constant(whole) {
            Some(bits) if size <= 8 => Value::Bits(bits as u64),
            _ => Value::Term(whole),
        }
    }

    fn byte_term(&self, context: &mut TermContext<'_, '_>, at: u64) -> TermId {
        let Some((start, cell)) = self.cell_over(at) else {
            return match self.kind(at) {
                UNDEFINED => context.as_term(&Value::Undefined, 8),
                _ => context.session.terms.constant(u128::from(self.bytes[at as usize]), 8),
            };
        };
        let value = context.as_term(&cell.value, 8 * cell.size as u32);
        if context.session.terms.width(value) == 8 {
            value
        } else {
            context.session.terms.extract(value, 8 * (at - start) as u32, 8)
        }
    }

    /// The cell that a byte belongs to, with its first offset. Cells are a few bytes long.
    fn cell_over(&self, at: u64) -> Option<(u64, Cell)> {
        if self.kind(at) < FIRST {
            return None;
        }
        let start = (0..=at).rev().find(|&start| self.kind(start) != INNER)?;
        self.cell_at(start).map(|cell| (start, cell))
    }

    pub(super) fn write(&mut self, context: &mut TermContext<'_, '_>, offset: u64, size: u64, value: Value) {
        self.marks.clear(offset, size);
        self.carve(context, offset, size);
        match value {
            Value::Bits(bits) if size <= 8 => self.write_bytes(offset, &bits.to_le_bytes()[..size as usize]),
            Value::Undefined => self.mark(offset, size, UNDEFINED),
            value => self.put_cell(offset, size, value),
        }
    }

    /// Writes plain bytes over whatever is there.
    pub(super) fn write_run(&mut self, context: &mut TermContext<'_, '_>, offset: u64, bytes: &[u8]) {
        self.marks.clear(offset, bytes.len() as u64);
        self.carve(context, offset, bytes.len() as u64);
        self.write_bytes(offset, bytes);
    }

    /// Removes the cells in a range; what of them lies outside it stays.
    fn carve(&mut self, context: &mut TermContext<'_, '_>, offset: u64, size: u64) {
        let end = offset + size;
        if self.kinds(offset, size).iter().all(|&kind| kind < FIRST) {
            return;
        }
        let mut at = offset;
        while at < end {
            let Some((start, cell)) = self.cell_over(at) else {
                at += 1;
                continue;
            };
            self.cells.remove(&start);
            self.mark(start, cell.size, UNDEFINED);
            self.keep_part(context, &cell, start, start, offset);
            self.keep_part(context, &cell, start, end, start + cell.size);
            at = start + cell.size;
        }
    }

    /// Puts back the bytes `from..to` of a cell that began at `start`.
    fn keep_part(&mut self, context: &mut TermContext<'_, '_>, cell: &Cell, start: u64, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let term = context.as_term(&cell.value, 8 * cell.size as u32);
        let part = context.session.terms.extract(term, 8 * (from - start) as u32, 8 * (to - from) as u32);
        self.put_cell(from, to - from, Value::Term(part));
    }

    pub(super) fn pieces(&self, context: &mut TermContext<'_, '_>, offset: u64, size: u64) -> Vec<(u64, u64, Value)> {
        let end = offset + size;
        let mut pieces = Vec::new();
        let mut at = offset;
        while at < end {
            let (size, value) = self.piece_at(context, at, end);
            pieces.push((at - offset, size, value));
            at += size;
        }
        pieces
    }

    /// The next range from here on of which the bytes do not tell that both objects hold the same. It cuts no cell of
    /// either.
    pub(super) fn next_difference(&self, other: &Object, from: u64) -> Option<Range<u64>> {
        let size = self.size.min(other.size);
        let same = |at: u64| {
            let kind = self.kind(at);
            let equal = kind == PLAIN && self.bytes[at as usize] == other.bytes[at as usize];
            kind == other.kind(at) && (kind == UNDEFINED || equal)
        };
        let start = (from..size).find(|&at| !same(at))?;
        // A number of four bytes is the most frequent thing to differ in some of them.
        let word = start & !3;
        let uniform = |object: &Object| {
            let kind = object.kind(word);
            kind < FIRST && (word..word + 4).all(|at| object.kind(at) == kind)
        };
        if word >= from && word + 4 <= size && uniform(self) && uniform(other) {
            return Some(word..word + 4);
        }
        let inner = |at: u64| self.kind(at) == INNER || other.kind(at) == INNER;
        let end = (start + 1..size).find(|&at| !inner(at)).unwrap_or(size);
        Some(start..end)
    }

    /// The ranges of its cells, in order.
    pub(super) fn cell_ranges(&self) -> Vec<Range<u64>> {
        let starts = (0..self.kinds.len() as u64).filter(|&at| self.kind(at) >= FIRST && self.kind(at) != INNER);
        starts.filter_map(|start| Some(start..start + self.cell_at(start)?.size)).collect()
    }

    fn piece_at(&self, context: &mut TermContext<'_, '_>, at: u64, end: u64) -> (u64, Value) {
        if let Some((start, cell)) = self.cell_over(at) {
            let size = end.min(start + cell.size) - at;
            let whole = start == at && size == cell.size;
            return (size, if whole { cell.value } else { self.assemble(context, at, size) });
        }
        let kind = self.kind(at);
        let run = |end: u64| (at..end).take_while(|&next| self.kind(next) == kind).count() as u64;
        if kind == UNDEFINED {
            return (run(end), Value::Undefined);
        }
        let size = run(end.min(at + 8));
        (size, self.read(context, at, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(object: u32, offset: u64) -> Value {
        Value::Pointer(Pointer { object: ObjectId(object), offset })
    }

    /// Plain bytes, a pointer at 8, a cell at 16, bytes that nobody wrote from 24 on.
    fn mixed() -> Object {
        let mut object = Object::new(32, Origin::Stack, Contents::Uninitialised);
        object.write_bytes(0, &[1, 2, 3, 4, 5, 6, 7, 8]);
        object.put_cell(8, 8, pointer(3, 5));
        object.put_cell(16, 8, Value::Function(branchwise_program::CodeFunctionId(1)));
        object
    }

    #[test]
    fn a_copy_takes_numbers_pointers_and_what_nobody_wrote() {
        let from = mixed();
        let mut to = Object::new(32, Origin::Stack, Contents::Zero);
        assert!(to.copy_whole(4, &from, 4..16).is_some());
        assert!(to.copy_whole(24, &from, 24..32).is_some());
        assert_eq!(to.read_bits::<4>(0), Some(0));
        assert_eq!(to.read_bits::<4>(4), Some(0x0807_0605));
        assert_eq!(to.read_pointer(8), Some(Pointer { object: ObjectId(3), offset: 5 }));
        assert!(matches!(to.read_piece::<8>(24), Some(Value::Undefined)));
    }

    #[test]
    fn a_scan_ends_at_the_byte_at_what_is_not_plain_and_at_the_end() {
        let object = mixed();
        assert_eq!(object.plain_before(0, 4, 100), 3);
        assert_eq!(object.plain_before(1, 4, 2), 2);
        assert_eq!(object.plain_before(2, 1, 100), 6);
        assert_eq!([8, 16, 24, 32, 33, usize::MAX].map(|at| object.plain_before(at, 1, 100)), [0; 6]);
        let mut text = Object::new(4, Origin::Stack, Contents::Zero);
        text.write_bytes(0, b"text");
        assert_eq!([0, 3, 4, 5].map(|at| text.plain_before(at, 0, 100)), [4, 1, 0, 0]);
    }

    #[test]
    fn nothing_is_copied_that_is_cut_or_lies_elsewhere() {
        let from = mixed();
        let mut to = Object::new(32, Origin::Stack, Contents::Zero);
        for range in [0..12, 12..16, 16..24, 8..24, 28..33] {
            assert!(to.copy_whole(0, &from, range.clone()).is_none(), "{range:?}");
        }
        assert!(to.copy_whole(usize::MAX, &from, 0..4).is_none());
        assert!(to.is_plain());
        let plain = Object::new(8, Origin::Stack, Contents::Zero);
        for at in [4, 12, 16, 20, 28] {
            assert!(mixed().copy_whole(at, &plain, 0..8).is_none(), "{at}");
            assert!(mixed().fill_whole(at..at + 8, 0).is_none(), "{at}");
        }
        let mut over = mixed();
        assert!(over.copy_whole(8, &plain, 0..8).is_some());
        assert_eq!(over.read_bits::<8>(8), Some(0));
    }

    #[test]
    fn ranges_of_one_object_may_overlap() {
        let mut object = mixed();
        assert!(object.move_whole(2, 0..6).is_some());
        assert_eq!(object.read_bits::<8>(0), Some(0x0605_0403_0201_0201));
        assert!(object.move_whole(24, 8..16).is_some());
        assert_eq!(object.read_pointer(24), Some(Pointer { object: ObjectId(3), offset: 5 }));
        assert!(object.move_whole(0, 12..20).is_none());
    }

    #[test]
    fn a_variable_that_is_written_as_a_whole_is_left_to_the_general_step() {
        let origin = Origin::Global { id: branchwise_program::GlobalId(0), state: true };
        let mut variable = Object::new(8, origin, Contents::Zero);
        let other = Object::new(8, Origin::Stack, Contents::Zero);
        assert!(variable.copy_whole(0, &other, 0..8).is_none());
        assert!(variable.fill_whole(0..8, 1).is_none());
        assert!(variable.fill_whole(0..7, 1).is_some());
    }

    #[test]
    fn what_is_filled_as_a_whole_is_plain() {
        let mut object = Object::new(8, Origin::Stack, Contents::Uninitialised);
        assert!(object.fill_whole(0..4, 0).is_some());
        assert!(!object.is_plain());
        assert!(object.fill_whole(0..8, 0).is_some());
        assert!(object.is_plain());
    }

    #[test]
    fn only_plain_bytes_are_updated() {
        let mut object = mixed();
        assert!(object.update_bits::<4>(4, |bits| bits.checked_add(1)).is_some());
        assert_eq!(object.read_bits::<8>(0), Some(0x0807_0606_0403_0201));
        for at in [6, 8, 12, 16, 24, 29, usize::MAX] {
            assert!(object.update_bits::<4>(at, Some).is_none(), "{at}");
        }
        assert!(object.update_bits::<4>(4, |_| None).is_none());
        assert_eq!(object.read_bits::<4>(4), Some(0x0807_0606));
    }
}
