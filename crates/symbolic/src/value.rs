//! What registers and memory cells hold.

use branchwise_constraints::TermId;
use branchwise_program::CodeFunctionId;

/// An address as objects have: the order of two places of one object depends on it only where one of them is so far away
/// that its address wraps around. Replays put the objects of tests behind this one.
pub(crate) const OBJECT_BASE: u64 = 0x5480_0000_0000;

/// An object of one path's memory.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub u32);

/// Constants are immediate and take the fast path; everything else is a term or a pointer. Two machine words that are
/// copied freely: a register file full of them needs no reference counts.
#[derive(Debug, Copy, Clone)]
pub(crate) enum Value {
    /// Up to 64 bits, the bits above the width are zero. Also a pointer that points nowhere (null).
    Bits(u64),
    Term(TermId),
    Pointer(Pointer),
    /// A pointer with a symbolic offset, or one of several pointers.
    Choice(Choice),
    Function(CodeFunctionId),
    /// Never written.
    Undefined,
}

const _: () = assert!(size_of::<Value>() == 16);

impl Value {
    /// The same value, read part by part: a processor waits for parts that were just written when it reads them as one.
    #[inline(always)]
    pub(crate) fn by_parts(&self) -> Value {
        match *self {
            Value::Bits(bits) => Value::Bits(bits),
            Value::Pointer(Pointer { object, offset }) => Value::Pointer(Pointer { object, offset }),
            ref other => *other,
        }
    }
}

/// Packed, so that a value's tag fits beside it in two words; its fields are aligned there nevertheless.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(crate) struct Pointer {
    pub object: ObjectId,
    pub offset: u64,
}

/// The targets of a symbolic pointer, as a range of the path's [`Memory::targets`](crate::memory::Memory::targets).
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub first: u32,
    pub count: u32,
}

/// One possibility of a symbolic pointer. The guards of a choice exclude each other and one of them holds.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Target {
    pub guard: TermId,
    /// `None`: `offset` is a plain address, 0 for null.
    pub object: Option<ObjectId>,
    /// 64 bits.
    pub offset: TermId,
}

/// The low `width` bits of `bits`.
pub(crate) fn truncate(bits: u64, width: u32) -> u64 {
    if width >= 64 { bits } else { bits & ((1 << width) - 1) }
}

/// The low `width` bits of `bits`, read as a signed number.
pub(crate) fn signed(bits: u64, width: u32) -> i64 {
    if width >= 64 { bits as i64 } else { ((bits << (64 - width)) as i64) >> (64 - width) }
}
