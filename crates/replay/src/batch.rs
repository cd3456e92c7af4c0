//! The binary form in which tests go to the native side and results come back; `runtime.c` is its other half. All
//! numbers are 64-bit little-endian words, bytes are padded to whole words.

use std::io::Read;

use branchwise_program::map::ChangedPlace;
use branchwise_program::types::TypeTable;

use crate::case::{Blob, Change, NativeEnd, Object, Register, TestCase};
use crate::layout::{Placement, REGION_BASE};
use crate::{Limits, ReplayError};

const MAGIC: u64 = 0x3179_7061_706c_7762;
const HEADER_WORDS: usize = 12;

const FLAG_DETAILS: u64 = 1;
const FLAG_PROFILE_PER_GROUP: u64 = 2;
const FLAG_STATE: u64 = 4;
const FLAG_OTHER_FILLING: u64 = 8;
const FLAG_FIND_LEAKS: u64 = 16;

/// Room for what objects show after a call.
const STATE_BYTES: u64 = 1 << 16;
/// Room for the name of what a call throws.
const THROWN_BYTES: u64 = 256;

/// Beside the number of an object, where the number of a function could stand.
const STREAM_POINTER: u64 = 1 << 32;

const CHANGE_VARIABLE: u64 = 0;
const CHANGE_ERRNO: u64 = 1;
const CHANGE_ARGUMENT: u64 = 2;

const STREAM_READING_FAILS: u64 = 1;
const STREAM_AT_END: u64 = 2;
const STREAM_LIMITED: u64 = 4;
const STREAM_CLOSING_FAILS: u64 = 8;

/// Tests in order, in groups that share a profile.
#[derive(Debug)]
pub(crate) struct Batch {
    words: Vec<u8>,
    placements: Vec<Placement>,
    output_bytes: u64,
    region_bytes: u64,
    object_count: u64,
    group_count: u64,
    feed_count: u64,
    change_count: u64,
}

/// Whose counters a group adds to the profile.
#[derive(Debug, Copy, Clone)]
pub(crate) enum Counters {
    All,
    /// Those of the function whose profile record bears this hash of its name.
    Record(u64),
}

/// What a batch is run for.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Markers, outputs and objects.
    Observe,
    /// One profile for all groups together.
    Profile,
    ProfilePerGroup,
    /// Run on the sanitized build; only the end counts.
    Sanitize,
    /// The same, on the build that finds leaks.
    FindLeaks,
    /// Run on the build that counts instructions.
    Count,
    /// What objects show after the call too.
    State(Filling),
}

/// What memory holds that nobody has written.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Filling {
    One,
    Other,
}

impl Batch {
    pub fn new() -> Batch {
        Batch {
            words: vec![0; HEADER_WORDS * 8],
            placements: Vec::new(),
            output_bytes: 0,
            region_bytes: 0,
            object_count: 0,
            group_count: 0,
            feed_count: 0,
            change_count: 0,
        }
    }

    pub fn begin_group(&mut self, counters: Counters, test_count: usize) {
        let (only_record, record) = match counters {
            Counters::All => (0, 0),
            Counters::Record(hash) => (1, hash),
        };
        [only_record, record, test_count as u64].into_iter().for_each(|word| self.word(word));
        self.group_count += 1;
    }

    /// `calls` are the drivers with their inputs, the one under test last; `result_bytes` is room for the largest
    /// result of theirs; the error says why the case does not fit.
    pub fn add(
        &mut self,
        calls: &[(u64, &[Blob])],
        case: &TestCase,
        result_bytes: u64,
        types: &TypeTable,
    ) -> Result<(), String> {
        let placement = Placement::of(&case.objects, types);
        let mut output_bytes = 0;
        self.word(calls.len() as u64);
        for &(driver, inputs) in calls {
            let mut call_bytes = room(result_bytes) + room(THROWN_BYTES);
            [driver, inputs.len() as u64].into_iter().for_each(|word| self.word(word));
            for input in inputs {
                self.blob(&placement, input)?;
                call_bytes += room(input.bytes.len() as u64);
            }
            output_bytes = output_bytes.max(call_bytes);
        }
        self.word(case.objects.len() as u64);
        for (object, span) in case.objects.iter().zip(placement.spans()) {
            output_bytes += room(span.size);
            self.word(span.address);
            self.blob(&placement, &object.blob)?;
        }
        self.streams(&case.objects);
        output_bytes += room(8) * case.objects.iter().filter(|object| object.stream.is_some()).count() as u64;
        self.word(case.feeds.len() as u64);
        for values in &case.feeds {
            self.word(values.len() as u64);
            values.iter().try_for_each(|value| self.blob(&placement, value))?;
        }
        self.word(case.changes.len() as u64);
        case.changes.iter().for_each(|change| self.change(change));
        self.bytes(&case.stdin);
        self.registers(&case.registers);
        self.feed_count = self.feed_count.max(case.feeds.len() as u64);
        self.change_count = self.change_count.max(case.changes.len() as u64);
        self.output_bytes = self.output_bytes.max(output_bytes);
        self.region_bytes = self.region_bytes.max(placement.bytes());
        self.object_count = self.object_count.max(case.objects.len() as u64);
        self.placements.push(placement);
        Ok(())
    }

    /// The file's bytes.
    pub fn finish(&mut self, limits: &Limits, purpose: Purpose) -> &[u8] {
        let flags = match purpose {
            Purpose::Observe | Purpose::Sanitize => FLAG_DETAILS,
            Purpose::FindLeaks => FLAG_DETAILS | FLAG_FIND_LEAKS,
            Purpose::Profile | Purpose::Count => 0,
            Purpose::ProfilePerGroup => FLAG_PROFILE_PER_GROUP,
            Purpose::State(Filling::One) => FLAG_DETAILS | FLAG_STATE,
            Purpose::State(Filling::Other) => FLAG_DETAILS | FLAG_STATE | FLAG_OTHER_FILLING,
        };
        let header: [u64; HEADER_WORDS] = [
            MAGIC,
            flags,
            limits.milliseconds.max(1),
            limits.memory_megabytes << 20,
            limits.log_entries as u64,
            self.room_for_outputs(purpose),
            REGION_BASE,
            self.region_bytes,
            self.object_count,
            self.group_count,
            self.feed_count,
            self.change_count,
        ];
        for (place, word) in self.words.chunks_exact_mut(8).zip(header) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        &self.words
    }

    /// Returns the most that the answer to it may say.
    pub fn bounds(&self, limits: &Limits, purpose: Purpose) -> Bounds {
        Bounds {
            tests: self.placements.len() as u64,
            groups: self.group_count,
            log_entries: limits.log_entries as u64,
            output_words: self.room_for_outputs(purpose) / 8,
        }
    }

    fn room_for_outputs(&self, purpose: Purpose) -> u64 {
        let shows_state = matches!(purpose, Purpose::State(_));
        self.output_bytes + if shows_state { STATE_BYTES } else { 0 }
    }

    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    fn word(&mut self, word: u64) {
        self.words.extend_from_slice(&word.to_le_bytes());
    }

    /// What the streams among the objects are made of.
    fn streams(&mut self, objects: &[Object]) {
        let streams =
            || objects.iter().enumerate().filter_map(|(index, object)| Some((index, object.stream.as_ref()?)));
        self.word(streams().count() as u64);
        for (index, stream) in streams() {
            let flag = |set: bool, flag: u64| if set { flag } else { 0 };
            let flags = flag(stream.reading_fails, STREAM_READING_FAILS)
                | flag(stream.at_end, STREAM_AT_END)
                | flag(stream.room.is_some(), STREAM_LIMITED)
                | flag(stream.closing_fails, STREAM_CLOSING_FAILS);
            [index as u64, flags, stream.room.unwrap_or(0)].into_iter().for_each(|word| self.word(word));
            self.bytes(&stream.bytes);
        }
    }

    fn change(&mut self, change: &Change) {
        let (kind, number, offsets) = match &change.place {
            ChangedPlace::Variable { number, offset } => {
                (CHANGE_VARIABLE, *number as u64, std::slice::from_ref(offset))
            }
            ChangedPlace::Errno => (CHANGE_ERRNO, 0, &[0][..]),
            ChangedPlace::Argument { number, offsets } => (CHANGE_ARGUMENT, *number, offsets.as_slice()),
        };
        [u64::from(change.calls_before), kind, number, offsets.len() as u64]
            .into_iter()
            .for_each(|word| self.word(word));
        offsets.iter().for_each(|offset| self.word(*offset as u64));
        self.bytes(&[change.stub.as_bytes(), b"\0"].concat());
        self.bytes(&change.bytes);
    }

    /// What stands at fixed addresses at first (its size is 0 here), then what reads get there.
    fn registers(&mut self, registers: &[Register]) {
        let mut parts: Vec<(u64, u64, u64, Vec<u8>)> = Vec::new();
        for register in registers {
            // A size without values maps the page.
            parts.push(match register.holds.as_slice() {
                [] => (register.address, 1, 0, Vec::new()),
                holds => (register.address, 0, 1, holds.to_vec()),
            });
            for part in register.parts() {
                parts.push((register.address, part[0].len() as u64, part.len() as u64, part.concat()));
            }
        }
        self.word(parts.len() as u64);
        for (address, size, count, bytes) in parts {
            [address, size, count].into_iter().for_each(|word| self.word(word));
            self.bytes(&bytes);
        }
    }

    /// Bytes with the addresses of objects in them, then where addresses belong that only the native side knows: those of
    /// functions and of streams.
    fn blob(&mut self, placement: &Placement, blob: &Blob) -> Result<(), String> {
        let bytes = placement.relocated(blob)?;
        let streams = blob.pointers.iter().filter(|pointer| placement.is_stream(pointer.object));
        let mut places = blob.functions.iter().map(|pointer| pointer.at).chain(streams.map(|pointer| pointer.at));
        if let Some(at) = places.find(|at| at + 8 > bytes.len() as u64) {
            return Err(format!("a pointer stands at byte {at} of only {}", bytes.len()));
        }
        self.bytes(&bytes);
        let streams = || blob.pointers.iter().filter(|pointer| placement.is_stream(pointer.object));
        self.word((blob.functions.len() + streams().count()) as u64);
        for pointer in &blob.functions {
            self.word(pointer.at);
            self.word(u64::from(pointer.callable.0));
        }
        for pointer in streams() {
            self.word(pointer.at);
            self.word(STREAM_POINTER | pointer.object as u64);
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        self.words.extend_from_slice(bytes);
        self.words.resize(self.words.len().next_multiple_of(8), 0);
    }
}

/// What `size` bytes take as an output: kind, index, size, bytes.
fn room(size: u64) -> u64 {
    24 + size.next_multiple_of(8)
}

/// One item of the native side's answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Everything is set up; tests follow.
    Started,
    Test(RawResult),
    /// A group is complete; so many profile records were its function's.
    Group(u64),
    End,
    /// The answer stops without an end.
    Died,
}

#[derive(Debug)]
pub(crate) struct RawResult {
    pub end: NativeEnd,
    pub truncated: bool,
    pub log: Vec<RawEntry>,
    pub outputs: Vec<RawOutput>,
}

#[derive(Debug, Copy, Clone)]
pub(crate) struct RawEntry {
    /// Of the marker or probe.
    pub number: u32,
    pub kind: EntryKind,
    pub value: i64,
}

/// Who wrote an entry of the log.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Condition,
    Switch,
    Probe,
    /// A wild pointer.
    Damaged,
}

#[derive(Debug)]
pub(crate) struct RawOutput {
    pub what: RawPlace,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum RawPlace {
    /// As the driver numbers it: 0 is the result, 1 + k input k.
    Output(u64),
    Object(u64),
    /// The address of the stream that this object is.
    Stream(u64),
}

/// The most that the native side answers to a batch. What runs before its first instruction may say anything.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub tests: u64,
    pub groups: u64,
    /// Entries of the log of one test.
    pub log_entries: u64,
    /// Words of the outputs of one test.
    pub output_words: u64,
}

/// Reads the next item; an error if a test says more than `bounds` allow.
pub(crate) fn read_answer(from: &mut impl Read, bounds: &Bounds) -> Result<Answer, ReplayError> {
    let Some(tag) = read_words::<1>(from) else { return Ok(Answer::Died) };
    match tag {
        [1] => Ok(read_test(from, bounds)?.map_or(Answer::Died, Answer::Test)),
        [2] => Ok(read_words(from).map_or(Answer::Died, |[found]| Answer::Group(found))),
        [3] => Ok(Answer::End),
        [4] => Err(ReplayError::Harness {
            message: read_words(from).map_or("for an unknown reason", |[why]| failure_text(why)).to_string(),
        }),
        [5] => Ok(Answer::Started),
        [other] => Err(ReplayError::Harness { message: format!("it answers with an unknown item {other}") }),
    }
}

fn failure_text(why: u64) -> &'static str {
    match why {
        1 => "it cannot map the memory of the input objects at their fixed addresses",
        2 => "a driver hands out more bytes than the map says",
        3 => "it cannot fork (is there a limit on processes?)",
        4 => "it cannot use its batch of tests, or a driver asks for more inputs than the map says",
        5 => "there is not enough memory for the marker log",
        6 => "it cannot write the coverage profile",
        9 => "it cannot confine a test",
        8 => "it cannot open the stream of a test",
        7 => "it cannot enter the folder in which tests run",
        _ => "for an unknown reason",
    }
}

/// Returns `None` if the answer stops in the middle.
fn read_test(from: &mut impl Read, bounds: &Bounds) -> Result<Option<RawResult>, ReplayError> {
    let Some([end, detail, truncated, log_count, output_words]) = read_words(from) else { return Ok(None) };
    if log_count > bounds.log_entries || output_words > bounds.output_words {
        return Err(out_of_step());
    }
    let Some(log) = read_bytes(from, log_count * 16) else { return Ok(None) };
    let Some(outputs) = read_bytes(from, output_words * 8) else { return Ok(None) };
    let end = match end {
        0 => NativeEnd::Returned,
        1 => NativeEnd::Exited(detail as i32),
        2 => NativeEnd::Signal(detail as i32),
        4 => NativeEnd::Rejected,
        _ => NativeEnd::TimeLimit,
    };
    let log = log.chunks_exact(16).map(read_entry).collect();
    Ok(Some(RawResult { end, truncated: truncated != 0, log, outputs: read_outputs(&outputs) }))
}

/// An answer that no harness gives.
pub(crate) fn out_of_step() -> ReplayError {
    ReplayError::Harness { message: "its answers do not match the tests".to_string() }
}

fn read_entry(bytes: &[u8]) -> RawEntry {
    let (head, value) = (le_word(&bytes[..8]), le_word(&bytes[8..16]));
    let kind = match head >> 32 {
        0 => EntryKind::Condition,
        1 => EntryKind::Switch,
        2 => EntryKind::Probe,
        _ => EntryKind::Damaged,
    };
    RawEntry { number: head as u32, kind, value: value as i64 }
}

/// A wild write of the unit may have damaged the outputs; what follows the damage is dropped.
fn read_outputs(mut bytes: &[u8]) -> Vec<RawOutput> {
    let mut outputs = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(24) {
        let (kind, index, size) = (le_word(&head[..8]), le_word(&head[8..16]), le_word(&head[16..]));
        let Some(data) = usize::try_from(size).ok().and_then(|size| rest.get(..size)) else { break };
        let what = match kind {
            0 => RawPlace::Output(index),
            1 => RawPlace::Object(index),
            _ => RawPlace::Stream(index),
        };
        outputs.push(RawOutput { what, bytes: data.to_vec() });
        let Some(next) = rest.get(data.len().next_multiple_of(8)..) else { break };
        bytes = next;
    }
    outputs
}

fn read_words<const N: usize>(from: &mut impl Read) -> Option<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes).ok()?;
        *word = u64::from_le_bytes(bytes);
    }
    Some(words)
}

fn read_bytes(from: &mut impl Read, size: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(size).read_to_end(&mut bytes).ok()?;
    (read as u64 == size).then_some(bytes)
}

pub(crate) fn le_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
