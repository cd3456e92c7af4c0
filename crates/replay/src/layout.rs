//! Where input objects stand in the child's memory, and where pointers stand within them.

use std::collections::HashMap;

use branchwise_program::TypeId;
use branchwise_program::types::{Field, TypeKind, TypeTable};

use crate::case::{Blob, Object, PointerAt};

/// The same in every run, so that a unit that compares addresses is repeatable. Nothing else is mapped there: not the
/// program, the heap or the stack, nor what the sanitizers keep for themselves: on x86-64 the address sanitizer's heap ends
/// at 0x5400_0000_0000, and for the memory sanitizer a program's memory is from 0x5100_0000_0000 to 0x6000_0000_0000.
pub(crate) const REGION_BASE: u64 = 0x5480_0000_0000;
const PAGE: u64 = 4096;
/// By-value nesting deeper than this is a damaged type table.
const DEEPEST_NESTING: u32 = 64;

/// The addresses of a test's objects. Each ends where a page begins that nobody may touch (as closely as its alignment
/// permits), and such a page lies before it, too: an overrun traps at the first byte.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    spans: Vec<Span>,
    /// Which of them are streams: their addresses are known only where the test runs.
    streams: Vec<bool>,
    bytes: u64,
}

#[derive(Debug, Copy, Clone)]
pub(crate) struct Span {
    pub address: u64,
    pub size: u64,
}

impl Placement {
    pub fn of(objects: &[Object], types: &TypeTable) -> Placement {
        let mut placement = Placement::default();
        for object in objects {
            let size = object.blob.bytes.len() as u64;
            let alignment = types.get(object.element).map_or(1, |element| element.alignment).clamp(1, PAGE);
            placement.add(size, alignment);
            placement.streams.push(object.stream.is_some());
        }
        placement.bytes += PAGE;
        placement
    }

    fn add(&mut self, size: u64, alignment: u64) {
        let aligned = size.next_multiple_of(alignment);
        self.bytes += PAGE + aligned.next_multiple_of(PAGE);
        self.spans.push(Span { address: REGION_BASE + self.bytes - aligned, size });
    }

    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Whether an object is a stream.
    pub fn is_stream(&self, object: usize) -> bool {
        self.streams.get(object) == Some(&true)
    }

    /// Bytes of address space from [`REGION_BASE`] on, guard pages included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The object that this address points into or just past, and the offset there; `streams` are the addresses that
    /// streams had.
    fn resolve(&self, address: u64, streams: &[(usize, u64)]) -> Option<(usize, u64)> {
        if let Some(&(object, _)) = streams.iter().find(|(_, stream)| *stream == address) {
            return Some((object, 0));
        }
        let index = self.spans.partition_point(|span| span.address <= address).checked_sub(1)?;
        let offset = address - self.spans[index].address;
        (offset <= self.spans[index].size).then_some((index, offset))
    }

    /// Writes the addresses of a blob's pointers into its bytes, but for those of streams.
    pub fn relocated(&self, blob: &Blob) -> Result<Vec<u8>, String> {
        let mut bytes = blob.bytes.clone();
        for pointer in blob.pointers.iter().filter(|pointer| !self.is_stream(pointer.object)) {
            let span = self.spans.get(pointer.object).ok_or_else(|| {
                format!("a pointer leads to object {}, but there are {}", pointer.object, self.spans.len())
            })?;
            let place = range(pointer.at)
                .and_then(|range| bytes.get_mut(range))
                .ok_or_else(|| format!("a pointer stands at byte {} of only {}", pointer.at, blob.bytes.len()))?;
            place.copy_from_slice(&span.address.wrapping_add(pointer.offset).to_le_bytes());
        }
        Ok(bytes)
    }

    /// The inverse of [`Placement::relocated`]: takes addresses out of bytes again, and with them everything else
    /// that may differ between runs. Also gives the offsets of pointers that lead elsewhere.
    pub fn settled(&self, mut bytes: Vec<u8>, shape: &Shape, streams: &[(usize, u64)]) -> (Blob, Vec<u64>) {
        let mut pointers = Vec::new();
        let mut foreign = Vec::new();
        shape.clear_padding(&mut bytes);
        for place in shape.pointers_within(bytes.len() as u64) {
            let Some(slot) = range(place.at).and_then(|range| bytes.get_mut(range)) else { continue };
            let address = slot.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            match self.resolve(address, streams) {
                _ if address == 0 => {}
                Some((object, offset)) => {
                    slot.fill(0);
                    pointers.push(PointerAt { at: place.at, object, offset });
                }
                None if place.certain => {
                    slot.fill(0xff);
                    foreign.push(place.at);
                }
                None => {}
            }
        }
        (Blob { bytes, pointers, functions: Vec::new() }, foreign)
    }
}

fn range(at: u64) -> Option<std::ops::Range<usize>> {
    let begin = usize::try_from(at).ok()?;
    Some(begin..begin.checked_add(8)?)
}

/// Which bytes of a type are pointers and which are padding; repeats for the elements of an array.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    size: u64,
    /// Sorted by offset.
    pointers: Vec<PointerPlace>,
    /// One for each byte: does it belong to a value?
    occupied: Vec<bool>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
struct PointerPlace {
    at: u64,
    /// Not inside a union, where the bytes may as well be another member's.
    certain: bool,
}

impl Shape {
    fn pointers_within(&self, size: u64) -> impl Iterator<Item = PointerPlace> {
        let repeats = size.checked_div(self.size).unwrap_or(0);
        (0..repeats).flat_map(move |element| {
            let begin = element * self.size;
            self.pointers.iter().map(move |place| PointerPlace { at: begin + place.at, ..*place })
        })
    }

    fn clear_padding(&self, bytes: &mut [u8]) {
        if self.occupied.iter().all(|occupied| *occupied) {
            return;
        }
        for element in bytes.chunks_exact_mut(self.occupied.len()) {
            for (byte, occupied) in element.iter_mut().zip(&self.occupied) {
                *byte = if *occupied { *byte } else { 0 };
            }
        }
    }

    fn occupy(&mut self, begin: u64, size: u64) {
        let end = (begin + size).min(self.size);
        for byte in begin.min(end)..end {
            self.occupied[byte as usize] = true;
        }
    }
}

/// The shapes of types, each worked out once.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    known: HashMap<TypeId, Shape>,
}

impl Shapes {
    pub fn of(&mut self, types: &TypeTable, type_id: TypeId) -> &Shape {
        self.known.entry(type_id).or_insert_with(|| {
            let size = types.get(type_id).map_or(0, |kind| kind.size);
            let mut shape = Shape { size, pointers: Vec::new(), occupied: vec![false; size as usize] };
            add_type(&mut shape, types, type_id, Corner { begin: 0, certain: true, depth: 0 });
            shape.pointers.sort_by_key(|place| place.at);
            shape.pointers.dedup_by_key(|place| place.at);
            shape
        })
    }
}

/// Where in the outermost type we are.
#[derive(Debug, Copy, Clone)]
struct Corner {
    begin: u64,
    certain: bool,
    depth: u32,
}

fn add_type(shape: &mut Shape, types: &TypeTable, type_id: TypeId, corner: Corner) {
    let Some(part) = types.get(type_id) else { return };
    match &part.kind {
        _ if corner.depth > DEEPEST_NESTING => shape.occupy(corner.begin, part.size),
        TypeKind::Pointer { .. } => {
            shape.occupy(corner.begin, part.size);
            shape.pointers.push(PointerPlace { at: corner.begin, certain: corner.certain });
        }
        TypeKind::Array { element, count } => add_elements(shape, types, *element, count.unwrap_or(0), corner),
        TypeKind::Record { union, fields: Some(fields) } => {
            let inside = Corner { certain: corner.certain && !union, depth: corner.depth + 1, ..corner };
            fields.iter().for_each(|field| add_field(shape, types, field, inside));
        }
        // x87: 10 bytes of value in 16 of storage.
        TypeKind::Float { bits: 80 } => shape.occupy(corner.begin, 10),
        _ => shape.occupy(corner.begin, part.size),
    }
}

fn add_elements(shape: &mut Shape, types: &TypeTable, element: TypeId, count: u64, corner: Corner) {
    let size = types.get(element).map_or(0, |element| element.size);
    if size == 0 {
        return;
    }
    for index in 0..count.min(shape.size / size) {
        let begin = corner.begin + index * size;
        add_type(shape, types, element, Corner { begin, depth: corner.depth + 1, ..corner });
    }
}

fn add_field(shape: &mut Shape, types: &TypeTable, field: &Field, corner: Corner) {
    let begin = corner.begin + field.offset_bits / 8;
    match field.bit_field {
        None => add_type(shape, types, field.type_id, Corner { begin, ..corner }),
        Some(width) => shape.occupy(begin, (field.offset_bits % 8 + u64::from(width)).div_ceil(8)),
    }
}

#[cfg(test)]
mod tests {
    use branchwise_program::types::Type;

    use super::*;

    fn types() -> TypeTable {
        let void = TypeId(0);
        let pointer = TypeKind::Pointer { target: void, constant: false, declared_count: None };
        let field = |type_id, offset_bits, bit_field| Field { name: String::new(), type_id, offset_bits, bit_field };
        let either = vec![field(TypeId(1), 0, None), field(TypeId(2), 0, None)];
        let mixed = vec![field(TypeId(1), 0, Some(3)), field(TypeId(4), 64, None), field(TypeId(3), 192, None)];
        [
            (TypeKind::Void, 0, 1),
            (TypeKind::Integer { bits: 32, signed: true, character: false }, 4, 4),
            (pointer, 8, 8),
            (TypeKind::Record { union: true, fields: Some(either) }, 8, 8),
            (TypeKind::Array { element: TypeId(2), count: Some(2) }, 16, 8),
            (TypeKind::Record { union: false, fields: Some(mixed) }, 32, 8),
        ]
        .into_iter()
        .map(|(kind, size, alignment)| Type { kind, spelling: String::new(), size, alignment })
        .collect()
    }

    fn object(element: u32, size: usize) -> Object {
        Object::array(TypeId(element), 1, Blob::of_bytes(vec![0; size]))
    }

    #[test]
    fn objects_end_at_a_page_and_never_touch() {
        let objects = [object(0, 0), object(0, 3), object(1, 6), object(2, 8192), object(0, 0)];
        let placement = Placement::of(&objects, &types());
        let spans = placement.spans();
        let to_guard: Vec<_> = spans
            .iter()
            .map(|span| (span.address + span.size).next_multiple_of(PAGE) - span.address - span.size)
            .collect();
        // Six bytes of four-byte alignment leave two that cannot be guarded.
        assert_eq!(to_guard, [0, 0, 2, 0, 0]);
        for pair in spans.windows(2) {
            let end = (pair[0].address + pair[0].size).next_multiple_of(PAGE);
            assert!(end + PAGE <= pair[1].address);
        }
        let last = spans[spans.len() - 1];
        assert!(last.address + last.size + PAGE <= REGION_BASE + placement.bytes());
        for (index, span) in spans.iter().enumerate() {
            assert_eq!(placement.resolve(span.address, &[]), Some((index, 0)));
            assert_eq!(placement.resolve(span.address + span.size, &[]), Some((index, span.size)));
            assert_eq!(placement.resolve(span.address + span.size + 1, &[]), None);
        }
        assert_eq!(placement.resolve(0, &[]), None);
    }

    #[test]
    fn settling_undoes_relocation_and_clears_padding() {
        let types = types();
        let objects = [object(1, 4)];
        let placement = Placement::of(&objects, &types);
        let at = |at, offset| PointerAt { at, object: 0, offset };
        let blob = Blob { pointers: vec![at(8, 0), at(16, 4), at(24, 1)], ..Blob::of_bytes(vec![0; 32]) };
        let mut bytes = placement.relocated(&blob).unwrap();
        bytes[0..8].fill(0xaa);
        let mut shapes = Shapes::default();
        let (settled, foreign) = placement.settled(bytes.clone(), shapes.of(&types, TypeId(5)), &[]);
        assert_eq!((settled.pointers, foreign), (blob.pointers, vec![]));
        assert_eq!(settled.bytes[0..8], [0xaa, 0, 0, 0, 0, 0, 0, 0]);
        // A pointer that leads elsewhere is foreign, but in a union it may as well be a number.
        bytes[16..32].fill(0x11);
        let (settled, foreign) = placement.settled(bytes, shapes.of(&types, TypeId(5)), &[]);
        assert_eq!((settled.pointers, foreign), (vec![at(8, 0)], vec![16]));
        assert_eq!(settled.bytes[16..32], [[0xff; 8], [0x11; 8]].concat());
        // A stream is where the run had it.
        let (settled, foreign) =
            placement.settled(vec![0x22; 8], shapes.of(&types, TypeId(2)), &[(7, 0x2222_2222_2222_2222)]);
        assert_eq!((settled.pointers, foreign), (vec![PointerAt { at: 0, object: 7, offset: 0 }], vec![]));
    }
}
