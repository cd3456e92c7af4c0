//! Where the scalars of a type lie.

use branchwise_program::TypeId;
use branchwise_program::types::{TypeKind, TypeTable};

/// A scalar within a larger object.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Bytes from the start of the whole.
    pub at: u64,
    pub size: u64,
    pub pointer: bool,
}

/// All scalars of a type that lies at byte `at`; of a union, those of every member.
pub fn leaves(types: &TypeTable, type_id: TypeId, at: u64, found: &mut Vec<Leaf>) {
    let Some(of) = types.get(type_id) else { return };
    match &of.kind {
        TypeKind::Integer { .. } | TypeKind::Enumeration { .. } | TypeKind::Float { .. } => {
            found.push(Leaf { at, size: of.size, pointer: false });
        }
        TypeKind::Pointer { .. } => found.push(Leaf { at, size: of.size, pointer: true }),
        TypeKind::Array { element, count } => {
            let step = types.get(*element).map_or(0, |element| element.size);
            for index in 0..count.unwrap_or(0) {
                leaves(types, *element, at + index * step, found);
            }
        }
        TypeKind::Record { fields, .. } => {
            for field in fields.iter().flatten() {
                match field.bit_field {
                    Some(width) => found.push(bit_field_leaf(at, field.offset_bits, width)),
                    None => leaves(types, field.type_id, at + field.offset_bits / 8, found),
                }
            }
        }
        TypeKind::Void | TypeKind::Function | TypeKind::Stream | TypeKind::Unsupported(_) => {}
    }
}

fn bit_field_leaf(at: u64, offset_bits: u64, width: u32) -> Leaf {
    let first = offset_bits / 8;
    let end = (offset_bits + u64::from(width)).div_ceil(8);
    Leaf { at: at + first, size: end - first, pointer: false }
}
