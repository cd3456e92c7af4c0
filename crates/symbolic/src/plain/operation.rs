//! The decoded form of a function's instructions.

use branchwise_program::code::CompareOp;
use branchwise_program::{BlockId, CodeFunctionId, MarkerId, RegisterId};

use crate::value::Value;

/// A register or a constant of a frame. Two bytes, so that every one of them is inside of a [`Window`].
pub(super) type Slot = u16;

/// What a frame and the room behind it span: reading a slot of it needs no check.
pub(super) type Window = [Value; WINDOW];

/// As many slots as there are numbers for them.
pub(crate) const WINDOW: usize = 1 << Slot::BITS;

/// What one instruction, or several that belong together, do to plain bits. `unused` is 64 less the width.
#[derive(Debug, Copy, Clone)]
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
    /// A number and the extension of it to 4 or 8 bytes, which alone is used.
    LoadUnsigned1 {
        out: Slot,
        address: Indexed,
    },
    LoadUnsigned2 {
        out: Slot,
        address: Indexed,
    },
    LoadUnsigned4 {
        out: Slot,
        address: Indexed,
    },
    LoadSigned1To4 {
        out: Slot,
        address: Indexed,
    },
    LoadSigned2To4 {
        out: Slot,
        address: Indexed,
    },
    LoadSigned1To8 {
        out: Slot,
        address: Indexed,
    },
    LoadSigned2To8 {
        out: Slot,
        address: Indexed,
    },
    LoadSigned4To8 {
        out: Slot,
        address: Indexed,
    },
    /// A number, what is computed from it and another one, and that written back: `counts[i]++`.
    Update1 {
        step: Step,
        right: Slot,
        address: Indexed,
    },
    Update2 {
        step: Step,
        right: Slot,
        address: Indexed,
    },
    Update4 {
        step: Step,
        right: Slot,
        address: Indexed,
    },
    Update8 {
        step: Step,
        right: Slot,
        address: Indexed,
    },
    CopyMemory {
        to: Slot,
        from: Slot,
        size: Slot,
    },
    SetMemory {
        to: Slot,
        byte: Slot,
        size: Slot,
    },
    Mark {
        out: Slot,
        value: Slot,
        marker: MarkerId,
    },
    /// A comparison and its marker.
    MarkCompare {
        op: CompareOp,
        three: Three,
        marker: MarkerId,
    },
    MarkSwitch {
        value: Slot,
        marker: MarkerId,
        /// Of the outcomes.
        table: u32,
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
    /// Stands for no instructions: before those of a loop that looks for a byte, iterations that can be done at once.
    Scan {
        scan: u32,
    },
    /// Each entry of the table is an edge.
    Switch {
        value: Slot,
        table: u32,
    },
    /// A switch and its marker: each entry of the table is an outcome and an edge.
    SwitchMarked {
        value: Slot,
        marker: MarkerId,
        table: u32,
    },
    /// The last operation of a block and its jump, after whose copies the result is written.
    AddJump {
        three: Three,
        edge: u32,
    },
    AddSignedJump {
        three: Three,
        edge: u32,
    },
    OffsetJump {
        out: Slot,
        base: Slot,
        constant: i32,
        edge: u32,
    },
    /// Of a function with a body and a fixed number of arguments.
    Call {
        call: u32,
    },
    Return {
        results: u32,
        cost: u32,
    },
}

const _: () = assert!(size_of::<Operation>() == 20);

#[derive(Debug, Copy, Clone)]
pub(super) struct Three {
    pub out: Slot,
    pub left: Slot,
    pub right: Slot,
    pub unused: u8,
}

/// What an update does with the number in memory and another one.
#[derive(Debug, Copy, Clone)]
pub(super) enum Step {
    Add,
    Sub,
    /// Where signed overflow is undefined.
    AddSigned,
    SubSigned,
    And,
    Or,
    Xor,
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

/// A comparison, its marker, if it has one, and the branch on it.
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
    /// There is a marker.
    pub marked: bool,
}

/// A jump with its copies in an order that needs no buffer.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// Operation.
    pub target: u32,
    pub block: BlockId,
    /// Instructions since the last ones that were counted.
    pub cost: u32,
    /// To and from.
    pub moves: Box<[(Slot, Slot)]>,
    /// The target is the head of a loop.
    pub enters_loop: bool,
    pub back: bool,
}

#[derive(Debug)]
pub(super) struct Call {
    pub callee: CodeFunctionId,
    /// Places in the callee's frame, and what they get.
    pub arguments: Box<[(RegisterId, Slot)]>,
    pub cost: u32,
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
