//! The decoded form of a function's instructions.

use std::cell::Cell;

use branchwise_program::code::CompareOp;
use branchwise_program::map::Event;
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
    /// A marker: edges to the next operation tell what it reports.
    Mark {
        out: Slot,
        value: Slot,
        fork: Fork,
    },
    /// A comparison and its marker.
    MarkCompare {
        op: CompareOp,
        three: Three,
        fork: Fork,
    },
    Jump {
        exit: Exit,
    },
    /// To the first edge if the condition is false, to the second if it is true.
    Branch {
        condition: Slot,
        fork: Fork,
    },
    BranchEq(Test),
    BranchNe(Test),
    BranchUlt(Test),
    BranchUle(Test),
    BranchSlt(Test),
    BranchSle(Test),
    /// A number in memory, a comparison of it and the branch on that.
    TestLoaded1(TestLoaded),
    TestLoaded2(TestLoaded),
    TestLoaded4(TestLoaded),
    /// Stands for no instructions: before those of a loop that looks for a byte, iterations that can be done at once.
    Scan {
        scan: u32,
    },
    /// Each entry of the table is an edge and the operation that it leads to. Also the marker of a switch, whose edges lead to the next operation.
    Switch {
        value: Slot,
        table: u32,
    },
    /// The last operation of a block and its jump, after whose copies the result is written.
    AddJump {
        three: Three,
        exit: Exit,
    },
    AddSignedJump {
        three: Three,
        exit: Exit,
    },
    OffsetJump {
        out: Slot,
        base: Slot,
        constant: i32,
        exit: Exit,
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

const _: () = assert!(size_of::<Operation>() == 32);

/// An edge, and the operation that it leads to: said here once more, so that nobody waits for the edge to go on.
#[derive(Debug, Copy, Clone)]
pub(super) struct Exit {
    pub edge: u32,
    pub target: u32,
}

/// Two edges, one after the other, and the operations that they lead to.
#[derive(Debug, Copy, Clone)]
pub(super) struct Fork {
    pub edges: u32,
    pub targets: [u32; 2],
}

/// What comes after an operation.
pub(super) enum Ends<'o> {
    /// The next one.
    Next,
    One(&'o mut Exit),
    Two(&'o mut Fork),
    Table(u32),
    /// What the loop does not do.
    Nothing,
}

impl Operation {
    pub(super) fn ends(&mut self) -> Ends<'_> {
        match self {
            Operation::General | Operation::Call { .. } | Operation::Return { .. } => Ends::Nothing,
            Operation::Jump { exit }
            | Operation::AddJump { exit, .. }
            | Operation::AddSignedJump { exit, .. }
            | Operation::OffsetJump { exit, .. } => Ends::One(exit),
            Operation::Mark { fork, .. } | Operation::MarkCompare { fork, .. } | Operation::Branch { fork, .. } => {
                Ends::Two(fork)
            }
            Operation::BranchEq(test)
            | Operation::BranchNe(test)
            | Operation::BranchUlt(test)
            | Operation::BranchUle(test)
            | Operation::BranchSlt(test)
            | Operation::BranchSle(test) => Ends::Two(&mut test.fork),
            Operation::TestLoaded1(test) | Operation::TestLoaded2(test) | Operation::TestLoaded4(test) => {
                Ends::Two(&mut test.fork)
            }
            Operation::Switch { table, .. } => Ends::Table(*table),
            _ => Ends::Next,
        }
    }
}

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

/// A comparison and the branch on it.
#[derive(Debug, Copy, Clone)]
pub(super) struct Test {
    pub left: Slot,
    pub right: Slot,
    /// To the second edge if it holds.
    pub fork: Fork,
    pub unused: u8,
    /// Of two numbers of 64 bits, which may be pointers, for equality.
    pub equality: bool,
}

/// A comparison of the number at `base + constant`, extended, and the branch on it.
#[derive(Debug, Copy, Clone)]
pub(super) struct TestLoaded {
    pub op: CompareOp,
    pub sign_extended: bool,
    /// Of the comparison.
    pub unused: u8,
    /// Where the number is wanted once more.
    pub out: Slot,
    pub base: Slot,
    pub right: Slot,
    pub constant: i32,
    /// To the second edge if it holds.
    pub fork: Fork,
}

/// A jump with its copies in an order that needs no buffer.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// What the marker of the branch or switch reports for this edge; that of [`NO_MARKER`] is nothing.
    pub event: Event,
    /// Operation.
    pub target: u32,
    /// Instructions since the last ones that were counted, and [`UNSETTLED`].
    pub cost: Cell<u32>,
    /// To and from.
    pub moves: Box<[(Slot, Slot)]>,
    pub block: BlockId,
    /// The target is the head of a loop.
    pub enters_loop: bool,
    pub back: bool,
}

/// Added to the cost of an edge of which it is not known yet whether the map lets follow what can follow there: so many
/// instructions that every limit is reached, so that it needs no check of its own.
pub(super) const UNSETTLED: u32 = 1 << 31;

pub(super) const NO_MARKER: MarkerId = MarkerId(u32::MAX);

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
