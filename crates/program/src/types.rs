//! C types with the sizes and offsets that the compiler gave them.

use crate::{IdVec, TypeId};
use serde::{Deserialize, Serialize};

/// All types that inputs and results mention; recursive structures refer to themselves by id.
pub type TypeTable = IdVec<TypeId, Type>;

/// Tells whether objects of a type may be longer than the type: a structure with a flexible array at its end.
pub fn is_flexible(types: &TypeTable, id: TypeId) -> bool {
    match &types[id].kind {
        TypeKind::Record { union: false, fields: Some(fields) } => fields.last().is_some_and(|last| {
            matches!(types[last.type_id].kind, TypeKind::Array { count: None | Some(0), .. })
                || is_flexible(types, last.type_id)
        }),
        _ => false,
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Type {
    pub kind: TypeKind,
    /// As C writes it without qualifiers at the top, e.g. `struct pair`, `unsigned char`, `int *`.
    pub spelling: String,
    /// Bytes; 0 for incomplete types.
    pub size: u64,
    /// Bytes; at least 1.
    pub alignment: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeKind {
    Void,
    /// `_Bool` is `Integer { bits: 1, signed: false, character: false }` with size 1.
    Integer {
        bits: u32,
        signed: bool,
        /// `char`, `signed char` and `unsigned char`: written as characters where that reads better.
        character: bool,
    },
    Enumeration {
        bits: u32,
        signed: bool,
        constants: Vec<(String, i128)>,
    },
    Float {
        bits: u32,
    },
    Pointer {
        target: TypeId,
        /// The target is declared `const`.
        constant: bool,
        /// A parameter written `T name[N]`: an array of exactly N elements, never null.
        declared_count: Option<u64>,
    },
    Array {
        element: TypeId,
        /// `None` for a flexible array member or an incomplete array.
        count: Option<u64>,
    },
    /// A structure, or a union where all fields start at 0.
    Record {
        union: bool,
        /// `None` until the definition is seen (an incomplete type).
        fields: Option<Vec<Field>>,
    },
    Function,
    /// `FILE`: what a pointer to it points to is a stream, and nobody looks into it.
    Stream,
    /// A type that inputs cannot have yet; the text says which.
    Unsupported(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Empty for an unnamed bit-field or an anonymous structure.
    pub name: String,
    pub type_id: TypeId,
    pub offset_bits: u64,
    /// The width of a bit-field.
    pub bit_field: Option<u32>,
}

impl Type {
    /// The number of bits and the sign of an integer-like type.
    pub fn as_integer(&self) -> Option<(u32, bool)> {
        match &self.kind {
            TypeKind::Integer { bits, signed, .. } | TypeKind::Enumeration { bits, signed, .. } => {
                Some((*bits, *signed))
            }
            _ => None,
        }
    }
}
