//! A report, cut into an index and a file for each function.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::ser::Error;
use sha2::{Digest, Sha256};

use crate::index::{FunctionFormat, IndexFormat};
use crate::packed::pack;
use crate::{DETAILS, Finding, Function, FunctionFile, Index, IndexedFinding, IndexedFunction, Report, VERSION};

/// The most characters of a function's name in the name of its file.
const MOST_OF_NAME: usize = 60;

/// How many digits of its hash stand in the name of a file: enough that no two contents meet.
const DIGITS_OF_NAME: usize = 16;

/// The texts of all files that hold a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Pieces {
    pub index: Index,
    /// Each once.
    pub details: Vec<Details>,
}

/// One function's file. Its name has a hash of its text, so a file never changes: another text has another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// Relative to the folder of the index.
    pub path: String,
    pub text: String,
}

impl Pieces {
    /// Cuts a report. That is an error only where a finding names a function that the report does not have.
    pub fn of(report: &Report) -> Result<Self, serde_json::Error> {
        let owners = owners(report)?;
        let mut own: Vec<Vec<Finding>> = vec![Vec::new(); report.functions.len()];
        for (finding, &owner) in report.findings.iter().zip(&owners) {
            own[owner].push(finding.clone());
        }
        let mut details = BTreeMap::new();
        let mut functions = Vec::new();
        for (function, findings) in report.functions.iter().zip(own) {
            let text = details_text(function, findings)?;
            let hash = sha256(text.as_bytes());
            let path = details_path(&function.name, &hash);
            functions.push(IndexedFunction::new(function, path.clone(), hash));
            details.insert(path, text);
        }
        let Report { run, replay, .. } = report.clone();
        let findings = indexed_findings(report, &owners, &functions);
        let index = Index { version: VERSION, format: IndexFormat::Index, run, functions, findings, replay };
        let details = details.into_iter().map(|(path, text)| Details { path, text }).collect();
        Ok(Pieces { index, details })
    }
}

/// Returns the function whose file holds a finding, for each finding: the first of its name and file.
fn owners(report: &Report) -> Result<Vec<usize>, serde_json::Error> {
    let mut functions = BTreeMap::new();
    for (number, Function { name, file, .. }) in report.functions.iter().enumerate() {
        functions.entry((name, file)).or_insert(number);
    }
    let mut owners = Vec::new();
    for Finding { function, function_file, .. } in &report.findings {
        let unknown =
            || Error::custom(format!("a finding names '{function}' of {function_file}, which is not in the report"));
        owners.push(*functions.get(&(function, function_file)).ok_or_else(unknown)?);
    }
    Ok(owners)
}

fn indexed_findings(report: &Report, owners: &[usize], functions: &[IndexedFunction]) -> Vec<IndexedFinding> {
    let mut counts = vec![0; functions.len()];
    let mut indexed = Vec::new();
    for (finding, &owner) in report.findings.iter().zip(owners) {
        indexed.push(IndexedFinding::new(finding, functions[owner].details.clone(), counts[owner]));
        counts[owner] += 1;
    }
    indexed
}

fn details_text(function: &Function, findings: Vec<Finding>) -> Result<String, serde_json::Error> {
    let mut function = function.clone();
    function.work.seconds = None;
    let mut file = FunctionFile { version: VERSION, format: FunctionFormat::Function, function, findings };
    pack(&mut file);
    Ok(serde_json::to_string(&file)? + "\n")
}

/// Returns the SHA-256 of some bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a text cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Returns the path of a function's file. The hash tells apart what the name alone does not: overloads, functions of one
/// name in several files, and names that differ only in their case.
fn details_path(name: &str, hash: &str) -> String {
    format!("{DETAILS}/{}-{}.json", plain(name), &hash[..DIGITS_OF_NAME.min(hash.len())])
}

/// Returns the name in letters, digits and `_` alone, with `-` for a run of others.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for character in name.chars() {
        match character {
            letter if letter.is_ascii_alphanumeric() || letter == '_' => plain.push(letter),
            _ if plain.ends_with('-') => {}
            _ => plain.push('-'),
        }
    }
    plain.truncate(MOST_OF_NAME);
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "function".to_owned() } else { plain.to_owned() }
}

/// Tells whether an index of ours may give a path to a function's file: no other file is read or removed.
pub fn is_details_path(path: &str) -> bool {
    let Some(name) = path.strip_prefix(DETAILS).and_then(|path| path.strip_prefix('/')) else { return false };
    let Some(stem) = name.strip_suffix(".json") else { return false };
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_' || letter == b'-';
    !stem.is_empty() && stem.bytes().all(is_plain)
}
