//! A suite as data: what `replay` and `explain` need to know of an earlier run.

use std::path::{Path, PathBuf};

use branchwise_generate::Test;
use branchwise_goals::TestId;
use branchwise_program::map::{ChangedPlace, Map};
use branchwise_program::{FunctionId, Id, TypeId};
use branchwise_replay::{Blob, Call, Change, FunctionAt, Object, PointerAt, Register, StreamContents, TestCase};
use branchwise_tools::read_limited;
use serde::{Deserialize, Serialize};

use crate::file_report::FileReport;
use crate::suite::{Origin, SuiteError};

/// The test cases of a run, independent of ids, which another run may number differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suite {
    pub version: u32,
    pub files: Vec<StoredFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    pub source: PathBuf,
    /// The folder in which Branchwise was started: the source and the flags may be relative to it.
    pub folder: PathBuf,
    pub flags: Vec<String>,
    /// The configuration that the tests were generated with; it may be relative to the folder, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// The tests set static variables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub set_statics: bool,
    /// Instances of templates that were tested on their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<String>,
    /// Functions that act on the world and yet ran, beside those that the configuration names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_calls: Vec<String>,
    pub functions: Vec<StoredFunction>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFunction {
    pub name: String,
    /// The inputs that the tests provide, to notice when the function has changed since.
    pub inputs: Vec<String>,
    pub tests: Vec<StoredTest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTest {
    pub id: u32,
    /// The function that is called, where a test cannot call the one whose goals it covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<StoredCall>,
    pub inputs: Vec<StoredBlob>,
    pub objects: Vec<StoredObject>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<StoredFeed>,
    /// What stubs write beside that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<StoredChange>,
    /// Two hexadecimal digits for each byte.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdin: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<StoredRegister>,
}

/// Memory at a fixed address; two hexadecimal digits for each byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRegister {
    pub address: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub holds: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
}

/// A call before the one under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCall {
    pub function: String,
    pub inputs: Vec<StoredBlob>,
}

/// The values of one feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFeed {
    pub name: String,
    pub values: Vec<StoredBlob>,
}

/// A write of a stub: to a variable, to what one of its arguments leads to, or to errno.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredChange {
    pub stub: String,
    pub calls_before: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<u64>,
    /// Where inside; behind an argument, one for each pointer on the way too.
    pub offsets: Vec<i64>,
    /// Two hexadecimal digits for each byte.
    pub bytes: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredObject {
    pub element: String,
    pub count: u64,
    pub blob: StoredBlob,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StoredStream>,
}

/// What a stream of a test is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredStream {
    /// Two hexadecimal digits for each byte.
    pub bytes: String,
    pub reading_fails: bool,
    pub at_end: bool,
    pub room: Option<u64>,
    pub closing_fails: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBlob {
    /// Two hexadecimal digits for each byte.
    pub bytes: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pointers: Vec<StoredPointer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<StoredFunctionPointer>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFunctionPointer {
    pub at: u64,
    pub function: String,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPointer {
    pub at: u64,
    pub object: usize,
    pub offset: u64,
}

/// The most that `suite.json` may hold.
const LARGEST_SUITE: u64 = 4 << 30;

impl Suite {
    pub fn new(files: &[FileReport], origin: Origin<'_>) -> Self {
        Suite { version: 1, files: files.iter().map(|file| stored_file(file, origin)).collect() }
    }

    /// Reads `suite.json` of a folder that [`crate::write_suite`] wrote.
    pub fn load(folder: &Path) -> Result<Self, SuiteError> {
        let path = folder.join("suite.json");
        let text = read_limited(&path, LARGEST_SUITE).map_err(|cause| SuiteError::cannot_read(&path, &cause))?;
        let suite: Suite = serde_json::from_slice(&text).map_err(|cause| SuiteError::not_a_suite(&path, &cause))?;
        match suite.version {
            1 => Ok(suite),
            version => Err(SuiteError::not_a_suite(&path, &format!("version {version} is not known"))),
        }
    }
}

impl StoredFile {
    /// The test cases in terms of a map of the same source.
    pub fn cases(&self, map: &Map) -> Result<Vec<(FunctionId, TestId, TestCase)>, SuiteError> {
        let mut cases = Vec::new();
        for stored in &self.functions {
            let function = map.function_named(&stored.name).ok_or_else(|| self.changed(stored, "it is gone"))?;
            let inputs = map.functions[function].inputs.iter().map(|input| &input.name);
            if !inputs.eq(&stored.inputs) {
                return Err(self.changed(stored, "its inputs are others now"));
            }
            for test in &stored.tests {
                let case = test_case(map, function, test).ok_or_else(|| self.changed(stored, "a type is gone"))?;
                cases.push((function, TestId(test.id), case));
            }
        }
        Ok(cases)
    }

    fn changed(&self, function: &StoredFunction, what: &str) -> SuiteError {
        SuiteError::changed(&self.source, &function.name, what)
    }
}

fn stored_file(file: &FileReport, origin: Origin<'_>) -> StoredFile {
    let functions = file.report.functions.iter().filter_map(|unit| {
        let function = file.map.functions.get(unit.function)?;
        Some(StoredFunction {
            name: function.name.clone(),
            inputs: function.inputs.iter().map(|input| input.name.clone()).collect(),
            tests: unit.tests.iter().map(|test| stored_test(file.map, unit.function, test)).collect(),
        })
    });
    StoredFile {
        source: file.source.to_owned(),
        folder: origin.folder.to_owned(),
        flags: file.flags.to_vec(),
        config: origin.config.map(Path::to_owned),
        set_statics: origin.set_statics,
        instances: origin.instances.to_vec(),
        allow_calls: origin.allow_calls.to_vec(),
        functions: functions.collect(),
    }
}

fn stored_test(map: &Map, unit: FunctionId, test: &Test) -> StoredTest {
    let spelling = |element: TypeId| map.types.get(element).map_or(String::new(), |of| of.spelling.clone());
    let blobs = |blobs: &[Blob]| blobs.iter().map(|blob| stored_blob(map, blob)).collect();
    let object = |object: &Object| StoredObject {
        element: spelling(object.element),
        count: object.count,
        blob: stored_blob(map, &object.blob),
        stream: object.stream.as_ref().map(stored_stream),
    };
    let call =
        |call: &Call| StoredCall { function: map.functions[call.function].name.clone(), inputs: blobs(&call.inputs) };
    let feeds = map.feeds.values().zip(&test.case.feeds).filter(|(_, values)| !values.is_empty());
    StoredTest {
        id: test.id.0,
        calls: (test.case.function != unit).then(|| map.functions[test.case.function].name.clone()),
        before: test.case.before.iter().map(call).collect(),
        inputs: blobs(&test.case.inputs),
        objects: test.case.objects.iter().map(object).collect(),
        feeds: feeds.map(|(feed, values)| StoredFeed { name: feed.name.clone(), values: blobs(values) }).collect(),
        changes: test.case.changes.iter().map(|change| stored_change(map, change)).collect(),
        stdin: hexadecimal(&test.case.stdin),
        registers: test.case.registers.iter().map(stored_register).collect(),
    }
}

fn stored_change(map: &Map, change: &Change) -> StoredChange {
    let (variable, argument, offsets) = match &change.place {
        ChangedPlace::Variable { number, offset } => (Some(map.variables[*number].name.clone()), None, vec![*offset]),
        ChangedPlace::Errno => (None, None, vec![0]),
        ChangedPlace::Argument { number, offsets } => (None, Some(*number), offsets.clone()),
    };
    let (stub, bytes) = (change.stub.clone(), hexadecimal(&change.bytes));
    StoredChange { stub, calls_before: change.calls_before, variable, argument, offsets, bytes }
}

fn change(map: &Map, stored: &StoredChange) -> Option<Change> {
    let place = match (&stored.variable, stored.argument) {
        (Some(name), _) => {
            let number = map.variables.iter().position(|variable| variable.name == *name)?;
            ChangedPlace::Variable { number, offset: *stored.offsets.first()? }
        }
        (None, Some(number)) => ChangedPlace::Argument { number, offsets: stored.offsets.clone() },
        (None, None) => ChangedPlace::Errno,
    };
    let (stub, bytes) = (stored.stub.clone(), bytes(&stored.bytes)?);
    Some(Change { stub, calls_before: stored.calls_before, place, bytes })
}

fn stored_register(register: &Register) -> StoredRegister {
    StoredRegister {
        address: register.address,
        holds: hexadecimal(&register.holds),
        reads: register.reads.iter().map(|value| hexadecimal(value)).collect(),
    }
}

fn register(stored: &StoredRegister) -> Option<Register> {
    let reads = stored.reads.iter().map(|value| bytes(value)).collect::<Option<_>>()?;
    Some(Register { address: stored.address, holds: bytes(&stored.holds)?, reads })
}

fn stored_stream(stream: &StreamContents) -> StoredStream {
    StoredStream {
        bytes: hexadecimal(&stream.bytes),
        reading_fails: stream.reading_fails,
        at_end: stream.at_end,
        room: stream.room,
        closing_fails: stream.closing_fails,
    }
}

fn stream_contents(stored: &StoredStream) -> Option<StreamContents> {
    Some(StreamContents {
        bytes: bytes(&stored.bytes)?,
        reading_fails: stored.reading_fails,
        at_end: stored.at_end,
        room: stored.room,
        closing_fails: stored.closing_fails,
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn stored_blob(map: &Map, blob: &Blob) -> StoredBlob {
    let pointer =
        |pointer: &PointerAt| StoredPointer { at: pointer.at, object: pointer.object, offset: pointer.offset };
    let function = |pointer: &FunctionAt| StoredFunctionPointer {
        at: pointer.at,
        function: map.callables[pointer.callable].name.clone(),
    };
    StoredBlob {
        bytes: hexadecimal(&blob.bytes),
        pointers: blob.pointers.iter().map(pointer).collect(),
        functions: blob.functions.iter().map(function).collect(),
    }
}

fn test_case(map: &Map, function: FunctionId, test: &StoredTest) -> Option<TestCase> {
    let blobs = |stored: &[StoredBlob]| stored.iter().map(|stored| blob(map, stored)).collect::<Option<Vec<_>>>();
    let object = |stored: &StoredObject| {
        let (element, _) = map.types.iter().find(|(_, of)| of.spelling == stored.element)?;
        let stream = match &stored.stream {
            Some(stream) => Some(stream_contents(stream)?),
            None => None,
        };
        Some(Object { element, count: stored.count, blob: blob(map, &stored.blob)?, stream })
    };
    let call = |stored: &StoredCall| {
        Some(Call { function: map.function_named(&stored.function)?, inputs: blobs(&stored.inputs)? })
    };
    let mut feeds = vec![Vec::new(); if test.feeds.is_empty() { 0 } else { map.feeds.len() }];
    for stored in &test.feeds {
        let (feed, _) = map.feeds.iter().find(|(_, feed)| feed.name == stored.name)?;
        feeds[feed.index()] = blobs(&stored.values)?;
    }
    let function = match &test.calls {
        Some(name) => {
            map.function_named(name).filter(|&other| map.functions[other].inputs.len() == test.inputs.len())?
        }
        None => function,
    };
    Some(TestCase {
        before: test.before.iter().map(call).collect::<Option<_>>()?,
        feeds,
        changes: test.changes.iter().map(|stored| change(map, stored)).collect::<Option<_>>()?,
        stdin: bytes(&test.stdin)?,
        registers: test.registers.iter().map(register).collect::<Option<_>>()?,
        ..TestCase::new(function, blobs(&test.inputs)?, test.objects.iter().map(object).collect::<Option<_>>()?)
    })
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(byte).collect()
}

fn blob(map: &Map, stored: &StoredBlob) -> Option<Blob> {
    let pointer =
        |pointer: &StoredPointer| PointerAt { at: pointer.at, object: pointer.object, offset: pointer.offset };
    let function = |pointer: &StoredFunctionPointer| {
        let (callable, _) = map.callables.iter().find(|(_, callable)| callable.name == pointer.function)?;
        Some(FunctionAt { at: pointer.at, callable })
    };
    Some(Blob {
        bytes: bytes(&stored.bytes)?,
        pointers: stored.pointers.iter().map(pointer).collect(),
        functions: stored.functions.iter().map(function).collect::<Option<_>>()?,
    })
}
