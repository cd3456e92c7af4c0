//! A suite as data: what `replay` and `explain` need to know of an earlier run.

use std::path::{Path, PathBuf};

use branchwise_generate::Test;
use branchwise_goals::TestId;
use branchwise_program::map::Map;
use branchwise_program::{FunctionId, TypeId};
use branchwise_replay::{Blob, Object, PointerAt, TestCase};
use serde::{Deserialize, Serialize};

use crate::file_report::FileReport;
use crate::suite::SuiteError;

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
    pub inputs: Vec<StoredBlob>,
    pub objects: Vec<StoredObject>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredObject {
    pub element: String,
    pub count: u64,
    pub blob: StoredBlob,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBlob {
    /// Two hexadecimal digits for each byte.
    pub bytes: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pointers: Vec<StoredPointer>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPointer {
    pub at: u64,
    pub object: usize,
    pub offset: u64,
}

impl Suite {
    pub fn new(files: &[FileReport], folder: &Path) -> Self {
        Suite { version: 1, files: files.iter().map(|file| stored_file(file, folder)).collect() }
    }

    /// Reads `suite.json` of a folder that [`crate::write_suite`] wrote.
    pub fn load(folder: &Path) -> Result<Self, SuiteError> {
        let path = folder.join("suite.json");
        let text = std::fs::read_to_string(&path).map_err(|cause| SuiteError::cannot_read(&path, &cause))?;
        let suite: Suite = serde_json::from_str(&text).map_err(|cause| SuiteError::not_a_suite(&path, &cause))?;
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

fn stored_file(file: &FileReport, folder: &Path) -> StoredFile {
    let functions = file.report.functions.iter().filter_map(|unit| {
        let function = file.map.functions.get(unit.function)?;
        Some(StoredFunction {
            name: function.name.clone(),
            inputs: function.inputs.iter().map(|input| input.name.clone()).collect(),
            tests: unit.tests.iter().map(|test| stored_test(file.map, test)).collect(),
        })
    });
    StoredFile {
        source: file.source.to_owned(),
        folder: folder.to_owned(),
        flags: file.flags.to_vec(),
        functions: functions.collect(),
    }
}

fn stored_test(map: &Map, test: &Test) -> StoredTest {
    let spelling = |element: TypeId| map.types.get(element).map_or(String::new(), |of| of.spelling.clone());
    let object = |object: &Object| StoredObject {
        element: spelling(object.element),
        count: object.count,
        blob: stored_blob(&object.blob),
    };
    StoredTest {
        id: test.id.0,
        inputs: test.case.inputs.iter().map(stored_blob).collect(),
        objects: test.case.objects.iter().map(object).collect(),
    }
}

fn stored_blob(blob: &Blob) -> StoredBlob {
    let pointer =
        |pointer: &PointerAt| StoredPointer { at: pointer.at, object: pointer.object, offset: pointer.offset };
    StoredBlob {
        bytes: blob.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        pointers: blob.pointers.iter().map(pointer).collect(),
    }
}

fn test_case(map: &Map, function: FunctionId, test: &StoredTest) -> Option<TestCase> {
    let inputs = test.inputs.iter().map(blob).collect::<Option<_>>()?;
    let object = |stored: &StoredObject| {
        let (element, _) = map.types.iter().find(|(_, of)| of.spelling == stored.element)?;
        Some(Object { element, count: stored.count, blob: blob(&stored.blob)? })
    };
    Some(TestCase { function, inputs, objects: test.objects.iter().map(object).collect::<Option<_>>()? })
}

fn blob(stored: &StoredBlob) -> Option<Blob> {
    let digits = stored.bytes.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes = digits.map(byte).collect::<Option<_>>()?;
    let pointer =
        |pointer: &StoredPointer| PointerAt { at: pointer.at, object: pointer.object, offset: pointer.offset };
    Some(Blob { bytes, pointers: stored.pointers.iter().map(pointer).collect() })
}
