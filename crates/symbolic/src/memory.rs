//! Objects with base, size and bytes. Concrete bytes lie in a plain buffer; what is symbolic, a pointer or
//! uninitialised lies above it in cells that never overlap.

use std::collections::BTreeMap;
use std::rc::Rc;

use branchwise_constraints::{BinaryOp, TermId};
use branchwise_program::{CodeFunctionId, GlobalId};

use crate::inputs::ShapeId;
use crate::session::Session;
use crate::value::{ObjectId, Pointer, Target, Value};

#[derive(Debug, Clone)]
pub(crate) struct Memory {
    /// `None`: its lifetime is over. Ids are never used again, so a dangling pointer is recognised.
    objects: Vec<Option<Rc<Object>>>,
    /// The number that the program sees when it looks at the address of an object; kept when its lifetime is over.
    addresses: Vec<u64>,
    next_address: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// Bytes.
    pub size: u64,
    /// Its size as a term of 64 bits, where an input decides it; at most `size`.
    pub symbolic_size: Option<TermId>,
    pub origin: Origin,
    pub writable: bool,
    bytes: Vec<u8>,
    cells: BTreeMap<u64, MemoryCell>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Stack,
    /// Until it is freed.
    Heap,
    Global {
        id: GlobalId,
        state: bool,
    },
    Input(ShapeId),
    /// The address of a function: nothing can be read there.
    Function(CodeFunctionId),
}

#[derive(Debug, Clone)]
struct MemoryCell {
    size: u64,
    value: Value,
}

/// Addresses start here: far from null, and no object ends where the next begins.
const FIRST_ADDRESS: u64 = 0x10_0000;
const GAP: u64 = 64;
/// Functions have addresses that no object has.
const FIRST_FUNCTION: u128 = 0x7f00_0000_0000;

impl Memory {
    pub(crate) fn new() -> Self {
        Memory { objects: Vec::new(), addresses: Vec::new(), next_address: FIRST_ADDRESS }
    }

    pub(crate) fn allocate(&mut self, size: u64, alignment: u64, origin: Origin, contents: Contents) -> ObjectId {
        let address = self.next_address.next_multiple_of(alignment.max(16));
        self.next_address = address.saturating_add(size).saturating_add(GAP);
        let mut object = Object {
            size,
            symbolic_size: None,
            origin,
            writable: true,
            bytes: vec![0; size as usize],
            cells: BTreeMap::new(),
        };
        if contents == Contents::Uninitialised && size > 0 {
            object.cells.insert(0, MemoryCell { size, value: Value::Undefined });
        }
        self.objects.push(Some(Rc::new(object)));
        self.addresses.push(address);
        ObjectId(self.objects.len() as u32 - 1)
    }

    pub(crate) fn get(&self, id: ObjectId) -> Option<&Object> {
        self.objects[id.0 as usize].as_deref()
    }

    pub(crate) fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.objects[id.0 as usize].as_mut().map(Rc::make_mut)
    }

    pub(crate) fn end_lifetime(&mut self, id: ObjectId) {
        self.objects[id.0 as usize] = None;
    }

    /// The object that holds this address, or whose end it is.
    pub(crate) fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        let after = self.addresses.partition_point(|&start| start <= address);
        let index = after.checked_sub(1)?;
        let offset = address - self.addresses[index];
        let object = self.objects[index].as_deref()?;
        (offset <= object.size).then_some((ObjectId(index as u32), offset))
    }

    /// The bits at a place of a living local object that holds plain bytes there: the case that needs no check but this.
    pub(crate) fn read_plain_local(&self, pointer: Pointer, size: u64) -> Option<u64> {
        let object = self.get(pointer.object)?;
        let end = pointer.offset.checked_add(size)?;
        if object.origin != Origin::Stack || end > object.size || size > 8 || object.overlaps_cell(pointer.offset, size)
        {
            return None;
        }
        let mut bytes = [0; 8];
        bytes[..size as usize].copy_from_slice(&object.bytes[pointer.offset as usize..end as usize]);
        Some(u64::from_le_bytes(bytes))
    }

    /// Reads `size` bytes at an offset inside a living object.
    pub(crate) fn read(&self, session: &mut Session<'_>, id: ObjectId, offset: u64, size: u64) -> Value {
        let mut context = TermContext { session, addresses: &self.addresses };
        self.objects[id.0 as usize]
            .as_deref()
            .map_or(Value::Undefined, |object| object.read(&mut context, offset, size))
    }

    /// Writes `size` bytes at an offset inside a living object.
    pub(crate) fn write(&mut self, session: &mut Session<'_>, id: ObjectId, offset: u64, size: u64, value: Value) {
        let mut context = TermContext { session, addresses: &self.addresses };
        if let Some(object) = self.objects[id.0 as usize].as_mut() {
            Rc::make_mut(object).write(&mut context, offset, size, value);
        }
    }

    /// What lies in a range of a living object, as pieces (offset from its start, size, value) that can be written elsewhere.
    pub(crate) fn pieces(
        &self,
        session: &mut Session<'_>,
        id: ObjectId,
        offset: u64,
        size: u64,
    ) -> Vec<(u64, u64, Value)> {
        let mut context = TermContext { session, addresses: &self.addresses };
        self.objects[id.0 as usize].as_deref().map_or(Vec::new(), |object| object.pieces(&mut context, offset, size))
    }

    /// The value as a term of this width.
    pub(crate) fn as_term(&self, session: &mut Session<'_>, value: &Value, width: u32) -> TermId {
        TermContext { session, addresses: &self.addresses }.as_term(value, width)
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Contents {
    Zero,
    Uninitialised,
}

/// What it takes to turn a value that is no plain bits into a term.
struct TermContext<'a, 'p> {
    session: &'a mut Session<'p>,
    addresses: &'a [u64],
}

impl TermContext<'_, '_> {
    fn as_term(&mut self, value: &Value, width: u32) -> TermId {
        match value {
            Value::Bits(bits) => self.session.terms.constant(u128::from(*bits), width),
            Value::Term(term) => *term,
            Value::Pointer(pointer) => {
                let address = self.addresses[pointer.object.0 as usize].wrapping_add(pointer.offset);
                self.looked_at(u128::from(address), width)
            }
            Value::Function(function) => self.looked_at(FIRST_FUNCTION + 16 * u128::from(function.0), width),
            Value::Choice(targets) => self.choice(targets),
            Value::Undefined => self.session.garbage(width),
        }
    }

    fn looked_at(&mut self, address: u128, width: u32) -> TermId {
        self.session.looks_at_addresses = true;
        self.session.terms.constant(address, width)
    }

    fn choice(&mut self, targets: &[Target]) -> TermId {
        self.session.looks_at_addresses = true;
        let mut whole = None;
        for target in targets {
            let base = target.object.map_or(0, |object| self.addresses[object.0 as usize]);
            let base = self.session.terms.constant(u128::from(base), 64);
            let address = self.session.terms.binary(BinaryOp::Add, base, target.offset);
            whole = Some(match whole {
                None => address,
                Some(rest) => self.session.terms.if_then_else(target.guard, address, rest),
            });
        }
        whole.unwrap_or_else(|| self.session.terms.constant(0, 64))
    }
}

impl Object {
    /// Holds bytes only: nothing symbolic, no pointers.
    pub(crate) fn is_plain(&self) -> bool {
        self.cells.is_empty()
    }

    pub(crate) fn write_bytes(&mut self, offset: u64, bytes: &[u8]) {
        self.bytes[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
    }

    /// Puts a pointer where no cell is yet.
    pub(crate) fn put_pointer(&mut self, offset: u64, value: Value) {
        self.cells.insert(offset, MemoryCell { size: 8, value });
    }

    fn read(&self, context: &mut TermContext<'_, '_>, offset: u64, size: u64) -> Value {
        if !self.overlaps_cell(offset, size) {
            return self.read_plain(context, offset, size);
        }
        match self.cells.range(..=offset).next_back() {
            Some((&start, cell)) if start == offset && cell.size == size => cell.value.clone(),
            Some((&start, cell)) if matches!(cell.value, Value::Undefined) && start + cell.size >= offset + size => {
                Value::Undefined
            }
            _ => self.assemble(context, offset, size),
        }
    }

    fn overlaps_cell(&self, offset: u64, size: u64) -> bool {
        if self.cells.is_empty() {
            return false;
        }
        match self.cells.range(..offset + size).next_back() {
            Some((&start, cell)) => start + cell.size > offset,
            None => false,
        }
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
        match self.cells.range(..=at).next_back() {
            Some((&start, cell)) if start + cell.size > at => {
                let value = if matches!(cell.value, Value::Undefined) {
                    context.as_term(&Value::Undefined, 8)
                } else {
                    context.as_term(&cell.value, 8 * cell.size as u32)
                };
                if context.session.terms.width(value) == 8 {
                    value
                } else {
                    context.session.terms.extract(value, 8 * (at - start) as u32, 8)
                }
            }
            _ => context.session.terms.constant(u128::from(self.bytes[at as usize]), 8),
        }
    }

    fn write(&mut self, context: &mut TermContext<'_, '_>, offset: u64, size: u64, value: Value) {
        if self.overlaps_cell(offset, size) {
            self.carve(context, offset, size);
        }
        match value {
            Value::Bits(bits) if size <= 8 => {
                let bytes = bits.to_le_bytes();
                self.write_bytes(offset, &bytes[..size as usize]);
            }
            value => {
                self.cells.insert(offset, MemoryCell { size, value });
            }
        }
    }

    /// Removes the cells in a range; what of them lies outside it stays.
    fn carve(&mut self, context: &mut TermContext<'_, '_>, offset: u64, size: u64) {
        let end = offset + size;
        let first = self
            .cells
            .range(..=offset)
            .next_back()
            .filter(|(start, cell)| **start + cell.size > offset)
            .map(|(&start, _)| start);
        let starts: Vec<u64> =
            first.into_iter().chain(self.cells.range(offset + 1..end).map(|(&start, _)| start)).collect();
        for start in starts {
            let Some(cell) = self.cells.remove(&start) else { continue };
            self.keep_part(context, &cell, start, start, offset);
            self.keep_part(context, &cell, start, end, start + cell.size);
        }
    }

    /// Puts back the bytes `from..to` of a cell that began at `start`.
    fn keep_part(&mut self, context: &mut TermContext<'_, '_>, cell: &MemoryCell, start: u64, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let value = match &cell.value {
            Value::Undefined => Value::Undefined,
            other => {
                let term = context.as_term(other, 8 * cell.size as u32);
                Value::Term(context.session.terms.extract(term, 8 * (from - start) as u32, 8 * (to - from) as u32))
            }
        };
        self.cells.insert(from, MemoryCell { size: to - from, value });
    }

    fn pieces(&self, context: &mut TermContext<'_, '_>, offset: u64, size: u64) -> Vec<(u64, u64, Value)> {
        let end = offset + size;
        let mut pieces = Vec::new();
        let mut at = offset;
        while at < end {
            let piece = self.piece_at(context, at, end);
            at = piece.0 + piece.1;
            pieces.push((piece.0 - offset, piece.1, piece.2));
        }
        pieces
    }

    fn piece_at(&self, context: &mut TermContext<'_, '_>, at: u64, end: u64) -> (u64, u64, Value) {
        if let Some((&start, cell)) = self.cells.range(..=at).next_back()
            && start + cell.size > at
        {
            let to = end.min(start + cell.size);
            let undefined = matches!(cell.value, Value::Undefined);
            let value = if undefined { Value::Undefined } else { self.read_piece(context, at, to - at) };
            return (at, to - at, value);
        }
        let next = self.cells.range(at..end).next().map_or(end, |(&start, _)| start);
        let size = (next - at).min(8);
        (at, size, self.read(context, at, size))
    }

    /// Part of one cell; a whole cell keeps its value as it is.
    fn read_piece(&self, context: &mut TermContext<'_, '_>, at: u64, size: u64) -> Value {
        match self.cells.get(&at) {
            Some(cell) if cell.size == size => cell.value.clone(),
            _ => self.assemble(context, at, size.min(16)),
        }
    }
}
