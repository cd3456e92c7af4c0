//! A test case as bytes with pointers, and what was observed when it ran.

use std::collections::BTreeMap;

use branchwise_program::map::{ChangedPlace, Event, Reading};
use branchwise_program::{CallableId, FunctionId, TypeId};
use serde::{Deserialize, Serialize};

/// A call of a unit under test, after the calls that lead to the state it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCase {
    pub function: FunctionId,
    /// Calls that come first, in order.
    pub before: Vec<Call>,
    /// One for each of the function's inputs, in order.
    pub inputs: Vec<Blob>,
    /// What pointers point to; all calls share them.
    pub objects: Vec<Object>,
    /// By feed of the map: the values that its calls take, in order. Missing ones are zeros.
    pub feeds: Vec<Vec<Blob>>,
    /// What stubs write beside that, in order.
    pub changes: Vec<Change>,
    /// What standard input holds, to its end.
    pub stdin: Vec<u8>,
    /// Memory at fixed addresses, sorted by address.
    pub registers: Vec<Register>,
}

impl TestCase {
    /// One call without feeds and with empty standard input.
    pub fn new(function: FunctionId, inputs: Vec<Blob>, objects: Vec<Object>) -> TestCase {
        TestCase {
            function,
            before: Vec::new(),
            inputs,
            objects,
            feeds: Vec::new(),
            changes: Vec::new(),
            stdin: Vec::new(),
            registers: Vec::new(),
        }
    }
}

/// A write of a stub to something that no feed is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The name of the stub.
    pub stub: String,
    /// So many calls of the stub come first.
    pub calls_before: u32,
    pub place: ChangedPlace,
    pub bytes: Vec<u8>,
}

/// A call before the one under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub function: FunctionId,
    /// One for each of the function's inputs, in order.
    pub inputs: Vec<Blob>,
}

/// Bytes of a C object; 8-byte pointers that are not null stand in `pointers` and `functions`, their bytes here are zero.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Blob {
    pub bytes: Vec<u8>,
    /// Sorted by `at`.
    pub pointers: Vec<PointerAt>,
    /// Function pointers, sorted by `at`.
    pub functions: Vec<FunctionAt>,
}

impl Blob {
    /// Bytes without pointers.
    pub fn of_bytes(bytes: Vec<u8>) -> Blob {
        Blob { bytes, ..Blob::default() }
    }
}

/// A pointer to a function of the map's table.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionAt {
    /// Byte offset of the pointer within its blob.
    pub at: u64,
    pub callable: CallableId,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointerAt {
    /// Byte offset of the pointer within its blob.
    pub at: u64,
    /// Index into [`TestCase::objects`].
    pub object: usize,
    /// Byte offset within that object.
    pub offset: u64,
}

/// An array of `count` elements that an input points to, or a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    pub element: TypeId,
    pub count: u64,
    pub blob: Blob,
    /// What a `FILE` is made of; it has no bytes that anybody could look at.
    pub stream: Option<StreamContents>,
}

impl Object {
    /// An array.
    pub fn array(element: TypeId, count: u64, blob: Blob) -> Object {
        Object { element, count, blob, stream: None }
    }

    pub fn stream(element: TypeId, contents: StreamContents) -> Object {
        Object { element, count: 1, blob: Blob::default(), stream: Some(contents) }
    }
}

/// Memory at a fixed address: the register of a device, or what else lies there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Register {
    pub address: u64,
    /// What stands there when the test begins.
    pub holds: Vec<u8>,
    /// What volatile reads get, in order. Where there are none, the test may still write there.
    pub reads: Vec<Vec<u8>>,
}

impl Register {
    /// The values of its reads, in parts of one size each.
    pub fn parts(&self) -> impl Iterator<Item = &[Vec<u8>]> {
        self.reads.chunk_by(|left, right| left.len() == right.len())
    }
}

/// A stream of a test: what can be read from it, and what happens at its ends.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StreamContents {
    pub bytes: Vec<u8>,
    /// Reading behind the last byte fails, instead of finding the end.
    pub reading_fails: bool,
    /// That was tried once before the call.
    pub at_end: bool,
    /// How many bytes can be written; `None`: any number.
    pub room: Option<u64>,
    pub closing_fails: bool,
}

/// By the number of an observer: the parts of what it shows, in order.
pub type State = BTreeMap<usize, Vec<Vec<u8>>>;

/// What the native run of a test case did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    pub end: NativeEnd,
    /// The marker log.
    pub events: Vec<Event>,
    /// The answers of probes, from the same log.
    pub readings: Vec<Reading>,
    /// The log was full: `events` is a prefix of what happened.
    pub truncated: bool,
    /// The function's result (`None` for `void` or when it did not return). Pointers into input objects are resolved,
    /// others stand in `foreign`. Padding is zero.
    pub result: Option<Blob>,
    /// The type of the exception by which the call ended; empty where it has no name.
    pub threw: Option<String>,
    /// What the observers of the call's usage show after it; see [`crate::Harness::states`].
    pub state: State,
    /// The inputs' variables after the call, where the driver hands them out (globals).
    pub inputs_after: Vec<Option<Blob>>,
    /// The objects after the call; empty when it did not return. An object that was freed has no bytes.
    pub objects_after: Vec<Blob>,
    /// Pointers that are not null and point to none of the input objects (to memory of `malloc`, to static data): what
    /// they point to is not observed. Their 8 bytes are 0xff, so that no address of this run shows.
    pub foreign: Vec<ForeignPointer>,
    /// Input objects that the program gave to `free` or `realloc`, by index.
    pub freed: Vec<usize>,
}

/// Where a pointer of unknown target stands.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ForeignPointer {
    pub within: Within,
    /// Byte offset of the pointer.
    pub at: u64,
}

/// One of the blobs of an [`Observation`].
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Within {
    Result,
    /// [`Observation::inputs_after`] with this index.
    Input(usize),
    /// [`Observation::objects_after`] with this index.
    Object(usize),
}

impl Observation {
    /// Is there a pointer of unknown target at this offset?
    pub fn is_foreign(&self, within: Within, at: u64) -> bool {
        self.foreign.contains(&ForeignPointer { within, at })
    }
}

/// How the native run ended.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NativeEnd {
    Returned,
    /// `exit` with this status.
    Exited(i32),
    /// A signal such as SIGSEGV or SIGABRT.
    Signal(i32),
    /// Stopped at the limit.
    TimeLimit,
    /// The inputs do not satisfy a precondition.
    Rejected,
}
