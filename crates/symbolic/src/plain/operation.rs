//! The decoded form of a function's instructions.

use branchwise_program::{BlockId, MarkerId};

/// A register or a constant of a frame.
pub(super) type Slot = u32;

/// What one instruction, or several that belong together, do to plain bits. `unused` is 64 less the width.
#[derive(Debug, Copy, Clone)]
#[repr(align(16))]
pub(super) enum Operation {
    /// Always for the general step.
    General,
    Move {
        out: Slot,
        from: Slot,
    },
    Add(Three),
    Sub(Three),
    Mul(Three),
    /// Where signed overflow is undefined.
    AddSigned(Three),
    SubSigned(Three),
    MulSigned(Three),
    UDiv(Three),
    URem(Three),
    SDiv(Three),
    SRem(Three),
    And(Three),
    Or(Three),
    Xor(Three),
    Shl(Three),
    LShr(Three),
    AShr(Three),
    Eq(Three),
    Ne(Three),
    Ult(Three),
    Ule(Three),
    Slt(Three),
    Sle(Three),
    ZeroExtend {
        out: Slot,
        from: Slot,
    },
    Truncate {
        out: Slot,
        from: Slot,
        unused: u8,
    },
    SignExtend {
        out: Slot,
        from: Slot,
        unused_from: u8,
        unused_to: u8,
    },
    Select {
        out: Slot,
        condition: Slot,
        then: Slot,
        otherwise: Slot,
    },
    Offset {
        out: Slot,
        base: Slot,
        constant: i32,
    },
    Index {
        out: Slot,
        address: Indexed,
    },
    Load1 {
        out: Slot,
        address: Slot,
    },
    Load2 {
        out: Slot,
        address: Slot,
    },
    Load4 {
        out: Slot,
        address: Slot,
    },
    Load8 {
        out: Slot,
        address: Slot,
    },
    Store1 {
        value: Slot,
        address: Slot,
    },
    Store2 {
        value: Slot,
        address: Slot,
    },
    Store4 {
        value: Slot,
        address: Slot,
    },
    Store8 {
        value: Slot,
        address: Slot,
    },
    /// An address and the only access through it.
    LoadIndexed1 {
        out: Slot,
        address: Indexed,
    },
    LoadIndexed2 {
        out: Slot,
        address: Indexed,
    },
    LoadIndexed4 {
        out: Slot,
        address: Indexed,
    },
    LoadIndexed8 {
        out: Slot,
        address: Indexed,
    },
    StoreIndexed1 {
        value: Slot,
        address: Indexed,
    },
    StoreIndexed2 {
        value: Slot,
        address: Indexed,
    },
    StoreIndexed4 {
        value: Slot,
        address: Indexed,
    },
    StoreIndexed8 {
        value: Slot,
        address: Indexed,
    },
    Mark {
        out: Slot,
        value: Slot,
        marker: MarkerId,
    },
    Jump {
        edge: u32,
    },
    /// To the first edge if the condition is false, to the second if it is true.
    Branch {
        condition: Slot,
        edges: u32,
    },
    BranchEq(Test),
    BranchNe(Test),
    BranchUlt(Test),
    BranchUle(Test),
    BranchSlt(Test),
    BranchSle(Test),
}

const _: () = assert!(size_of::<Operation>() == 32);

#[derive(Debug, Copy, Clone)]
pub(super) struct Three {
    pub out: Slot,
    pub left: Slot,
    pub right: Slot,
    pub unused: u8,
}

/// `base + constant + index·scale`
#[derive(Debug, Copy, Clone)]
pub(super) struct Indexed {
    pub base: Slot,
    pub index: Slot,
    pub scale: i32,
    pub constant: i32,
    pub unused: u8,
}

/// A comparison, its marker and the branch on it.
#[derive(Debug, Copy, Clone)]
pub(super) struct Test {
    pub left: Slot,
    pub right: Slot,
    pub marker: MarkerId,
    /// Of the false edge; the true one follows.
    pub edges: u32,
    pub unused: u8,
    /// Of two numbers of 64 bits, which may be pointers, for equality.
    pub equality: bool,
}

/// A jump with its copies in an order that needs no buffer.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// Operation.
    pub target: u32,
    pub block: BlockId,
    /// Instructions since the last ones that were counted.
    pub cost: u32,
    pub first_move: u32,
    pub end_move: u32,
    /// The target is the head of a loop.
    pub enters_loop: bool,
    pub back: bool,
}

/// Which instructions of the code an operation stands for.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Place {
    pub block: BlockId,
    pub first: u32,
    /// Behind the last instruction; one more if the terminator is among them.
    pub end: u32,
    /// What executing them adds to the count: a call and a terminator count all since the last one.
    pub cost: u32,
}
