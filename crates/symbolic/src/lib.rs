//! Bit-precise execution of the register code on values that are terms.
//!
//! A [`Session`] holds what all paths of one unit under test share: the terms, the space of its inputs and the initial
//! memory. [`Session::run`] executes one path, led at every undecided point by a model (the concolic guide), and hands
//! back the [`Path`]: its decisions with their alternatives, its marker events and how it ended.
//!
//! This crate knows no strategy, no process and no file.

mod address;
mod aliases;
mod arguments;
mod arithmetic;
mod calls;
mod changes;
mod executor;
mod floats;
mod frames;
mod functions;
mod heap;
mod inputs;
mod leaks;
mod library;
mod loops;
mod making;
mod memory;
mod outside;
mod path;
mod plain;
mod possible;
mod probes;
mod registers;
mod requests;
mod sequence;
mod session;
mod step;
mod streams;
mod tables;
mod united;
mod value;
mod varargs;

pub use arguments::ArgumentLimits;
pub use changes::{Change, StubCall};
pub use inputs::{Cell, Content, InputKey, InputSpace, Instead, Members, Shape, ShapeId, SharedPair, Sharing};
pub use path::{
    Alternative, AlternativeKind, Caveats, Decision, Fault, FaultKind, Notes, Output, Path, PathEnd, Places, Position,
    Site, UndefinedFrom,
};
pub use possible::{PossibleFault, Undefined};
pub use probes::Probed;
pub use registers::{RegisterValue, Registers};
pub use session::{Prepared, RunLimits, Session};
pub use streams::{GivenStream, Notation, StreamPiece};
pub use united::{
    ExecutionTree, Fate, PendingUnion, Quest, Reach, TreeLimits, TreeNode, Union, UnionLimits, UnionObstacle,
    UnionObstacleKind, UnionWork,
};
