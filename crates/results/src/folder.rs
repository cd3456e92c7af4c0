//! Reads the folder of a report.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::packed::unpack;
use crate::report::ReportFormat;
use crate::{
    Finding, Function, FunctionFile, INDEX, Index, IndexedFunction, LoadError, Report, VERSION, is_details_path, sha256,
};

/// The most that a file of a report may hold.
const LARGEST_FILE: u64 = 2 << 30;

/// A folder with a report, of which the index is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Folder {
    path: PathBuf,
    pub index: Index,
}

/// The name of a function in an index, and whether its search came to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub file: String,
    pub name: String,
    pub finished: bool,
}

/// Reads the whole report of a folder, as `--json` printed it.
pub fn load(folder: &Path) -> Result<Report, LoadError> {
    Folder::open(folder)?.report()
}

impl Folder {
    /// Reads the index alone.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let file = path.join(INDEX);
        let value = read_index(&file)?;
        if let Some(other) = other_format(&value) {
            return Err(LoadError::not_an_index(&file, &other));
        }
        let index = serde_json::from_value(value).map_err(|cause| LoadError::not_an_index(&file, &cause))?;
        Ok(Folder { path: path.to_owned(), index })
    }

    /// Reads the file of one function.
    pub fn function(&self, function: &IndexedFunction) -> Result<FunctionFile, LoadError> {
        let mut file = self.details(&function.details, &function.sha256)?;
        file.function.work.seconds = function.seconds;
        Ok(file)
    }

    /// Reads the files of all functions.
    pub fn report(&self) -> Result<Report, LoadError> {
        let files = self.index.functions.iter().map(|function| self.function(function));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let findings = self.findings(&files)?;
        let Index { run, replay, .. } = self.index.clone();
        let functions: Vec<Function> = files.into_iter().map(|file| file.function).collect();
        Ok(Report { version: VERSION, format: ReportFormat::Report, run, functions, findings, replay })
    }

    /// Returns the whole findings in the order of the index.
    fn findings(&self, files: &[FunctionFile]) -> Result<Vec<Finding>, LoadError> {
        let paths = self.index.functions.iter().map(|function| &function.details);
        let files: BTreeMap<&String, &FunctionFile> = paths.zip(files).collect();
        let mut findings = Vec::new();
        for indexed in &self.index.findings {
            let file = files.get(&indexed.details);
            let finding = file.and_then(|file| file.findings.get(indexed.position)).ok_or_else(|| {
                let cause = format!("its finding {} of {} is not there", indexed.position, indexed.details);
                LoadError::not_an_index(&self.path.join(INDEX), &cause)
            })?;
            findings.push(finding.clone());
        }
        Ok(findings)
    }

    fn details(&self, relative: &str, hash: &str) -> Result<FunctionFile, LoadError> {
        if !is_details_path(relative) {
            let cause = format!("'{relative}' is no path of a function's file");
            return Err(LoadError::not_an_index(&self.path.join(INDEX), &cause));
        }
        let path = self.path.join(relative);
        let text = read_limited(&path).map_err(|cause| LoadError::no_details(&path, &cause))?;
        if sha256(&text) != hash {
            return Err(LoadError::other_details(&path, &"its SHA-256 is another one"));
        }
        let mut file = serde_json::from_slice(&text).map_err(|cause| LoadError::other_details(&path, &cause))?;
        unpack(&mut file);
        Ok(file)
    }
}

/// Reads an ordinary file of at most [`LARGEST_FILE`] bytes. A folder of results may come from anybody.
fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for somebody to write to it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 <= LARGEST_FILE {
        true => Ok(bytes),
        false => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {LARGEST_FILE} bytes"))),
    }
}

fn read_index(path: &Path) -> Result<Value, LoadError> {
    let text = read_limited(path).map_err(|cause| LoadError::no_index(path, &cause))?;
    serde_json::from_slice(&text).map_err(|cause| LoadError::not_an_index(path, &cause))
}

/// Says why an object is no index that this version reads.
fn other_format(value: &Value) -> Option<String> {
    let format = value["format"].as_str();
    match (format, value["version"].as_u64()) {
        (Some("index"), Some(version)) if version == u64::from(VERSION) => None,
        (Some("index"), Some(version)) => Some(format!("version {version} is not known")),
        (Some("report"), _) => Some("it is a whole report, as --json prints it".to_owned()),
        (None, Some(1)) if value["functions"].is_array() => {
            Some("an earlier version of Branchwise wrote it, with all functions in one file".to_owned())
        }
        _ => Some("Branchwise did not write it".to_owned()),
    }
}

/// The part of an index that earlier versions wrote in the same way.
#[derive(Deserialize)]
struct Headings {
    functions: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    file: String,
    #[serde(default)]
    interrupted: bool,
    trouble: Option<String>,
}

/// Reads the names in the index of a folder, also where an earlier version of Branchwise wrote it.
pub fn headings(folder: &Path) -> Result<Vec<Heading>, LoadError> {
    let path = folder.join(INDEX);
    let read = Headings::deserialize(read_index(&path)?).map_err(|cause| LoadError::not_an_index(&path, &cause))?;
    let heading = |entry: Entry| {
        let finished = !entry.interrupted && entry.trouble.is_none();
        Heading { file: entry.file, name: entry.name, finished }
    };
    Ok(read.functions.into_iter().map(heading).collect())
}
