//! What registers and memory cells hold.

use std::rc::Rc;

use branchwise_constraints::TermId;
use branchwise_program::CodeFunctionId;

/// An object of one path's memory.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub u32);

/// Constants are immediate and take the fast path; everything else is a term or a pointer.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// Up to 64 bits, the bits above the width are zero. Also a pointer that points nowhere (null).
    Bits(u64),
    Term(TermId),
    Pointer(Pointer),
    /// A pointer with a symbolic offset, or one of several pointers.
    Choice(Rc<Vec<Target>>),
    Function(CodeFunctionId),
    /// Never written.
    Undefined,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub object: ObjectId,
    pub offset: u64,
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
