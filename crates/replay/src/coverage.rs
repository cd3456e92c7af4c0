//! What llvm-cov says was covered.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use branchwise_tools::{KeyBuilder, ToolRun};
use serde::Deserialize;

use crate::tools::joined;
use crate::{ReplayError, Tools};

/// The functions of llvm-cov's export, in its order; drivers are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    pub functions: Vec<FunctionCoverage>,
}

/// One function; instances of a template, and copies of an inline function, are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCoverage {
    /// As in the object code, without the file that llvm-cov puts before the name of a static function.
    pub name: String,
    /// The names of other instances.
    pub instances: Vec<String>,
    /// How often it was entered.
    pub entries: u64,
    /// The first is the file of its body, the others those of its macros.
    pub filenames: Vec<PathBuf>,
    pub branches: Vec<BranchCount>,
    /// Code whose statements run equally often, as far as llvm-cov knows; a part may be another region.
    pub regions: Vec<RegionCount>,
}

/// A piece of code and how often it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionCount {
    pub file: PathBuf,
    /// Line and column of the first character, and behind the last.
    pub start: (u32, u32),
    pub end: (u32, u32),
    pub count: u64,
}

/// A branch region and how often each of its outcomes was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchCount {
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    pub true_count: u64,
    pub false_count: u64,
}

impl Coverage {
    pub fn function_named(&self, name: &str) -> Option<&FunctionCoverage> {
        self.functions.iter().find(|function| function.is_named(name))
    }

    /// Adds what another run of the same executable showed.
    pub fn add(&mut self, other: Coverage) {
        if self.functions.is_empty() {
            self.functions = other.functions;
            return;
        }
        for (own, function) in self.functions.iter_mut().zip(other.functions) {
            own.merge(function);
        }
    }
}

impl FunctionCoverage {
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name || self.instances.iter().any(|instance| instance == name)
    }

    /// Adds the counts of another instance of the same function.
    fn merge(&mut self, other: FunctionCoverage) {
        if !self.is_named(&other.name) {
            self.instances.push(other.name);
        }
        self.entries += other.entries;
        for (index, branch) in other.branches.into_iter().enumerate() {
            match self.branches.get_mut(index) {
                Some(same) if same.is_at_place_of(&branch) => {
                    same.true_count += branch.true_count;
                    same.false_count += branch.false_count;
                }
                _ => self.merge_branch(branch),
            }
        }
        for (index, region) in other.regions.into_iter().enumerate() {
            match self.regions.get_mut(index) {
                Some(same) if same.is_at_place_of(&region) => same.count += region.count,
                _ => self.merge_region(region),
            }
        }
    }

    fn merge_region(&mut self, region: RegionCount) {
        let is_same = |own: &&mut RegionCount| own.is_at_place_of(&region);
        match self.regions.iter_mut().find(is_same) {
            Some(same) => same.count += region.count,
            None => self.regions.push(region),
        }
    }

    /// How often the code at a place of a file, by its absolute path, ran: what its innermost region says.
    pub fn count_at(&self, file: &Path, place: (u32, u32)) -> Option<u64> {
        let is_there = |region: &RegionCount| region.file == file || absolute(&region.file) == file;
        let around = |region: &&RegionCount| region.start <= place && place < region.end && is_there(region);
        let innermost = |region: &&RegionCount| (region.start, std::cmp::Reverse(region.end));
        self.regions.iter().filter(around).max_by_key(innermost).map(|region| region.count)
    }

    /// Instances may differ in which conditions are constant, so that places do not line up.
    fn merge_branch(&mut self, branch: BranchCount) {
        match self.branches.iter_mut().find(|same| same.is_at_place_of(&branch)) {
            Some(same) => {
                same.true_count += branch.true_count;
                same.false_count += branch.false_count;
            }
            None => self.branches.push(branch),
        }
    }
}

impl RegionCount {
    fn is_at_place_of(&self, other: &RegionCount) -> bool {
        self.file == other.file && (self.start, self.end) == (other.start, other.end)
    }
}

/// A path that can be compared with those that llvm-cov prints.
pub fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

impl BranchCount {
    fn is_at_place_of(&self, other: &BranchCount) -> bool {
        let place = |branch: &BranchCount| (branch.line, branch.column, branch.end_line, branch.end_column);
        self.file == other.file && place(self) == place(other)
    }
}

/// llvm-profdata and llvm-cov over one raw profile.
pub(crate) fn measure_profile(tools: &Tools, executable: &Path, raw: &Path) -> Result<Coverage, ReplayError> {
    let key = || {
        let key = KeyBuilder::new("coverage").with_installed(&tools.profdata).with_installed(&tools.cov);
        key.with_file(executable).with_file(raw).finish()
    };
    read_export(&tools.kept(key, || export(tools, executable, raw))?)
}

fn export(tools: &Tools, executable: &Path, raw: &Path) -> Result<Vec<u8>, ReplayError> {
    let indexed = raw.with_extension("profdata");
    let mut command = ToolRun::new(&tools.profdata);
    command.args(["merge", "-o"]).arg(&indexed).arg(raw).writes_to(raw.parent().unwrap_or(Path::new(".")));
    tools.succeed("llvm-profdata", &command)?;
    let mut command = ToolRun::new(&tools.cov);
    command.args(["export", "--format=text", "--skip-expansions", "--num-threads=1"]);
    command.arg(joined("--instr-profile=", &indexed)).arg(executable);
    Ok(tools.succeed("llvm-cov", &command)?.stdout)
}

#[derive(Deserialize)]
struct Export {
    data: Vec<ExportData>,
}

#[derive(Deserialize)]
struct ExportData {
    #[serde(default)]
    functions: Vec<ExportFunction>,
}

#[derive(Deserialize)]
struct ExportFunction {
    name: String,
    count: u64,
    filenames: Vec<PathBuf>,
    /// Line, column, end line, end column, true count, false count, file, expanded file, kind.
    #[serde(default)]
    branches: Vec<[u64; 9]>,
    /// Line, column, end line, end column, count, file, expanded file, kind.
    regions: Vec<[u64; 8]>,
}

fn read_export(text: &[u8]) -> Result<Coverage, ReplayError> {
    let export: Export = serde_json::from_slice(text).map_err(|error| ReplayError::Tool {
        tool: "llvm-cov",
        message: format!("its export is not as known: {error}"),
    })?;
    let mut coverage = Coverage::default();
    let mut known = HashMap::new();
    for function in export.data.into_iter().flat_map(|data| data.functions) {
        let (identity, function) = (function.identity(), function.convert());
        if function.name.starts_with("__bw_") {
            continue;
        }
        match known.get(&identity) {
            Some(&index) => merge_at(&mut coverage, index, function),
            None => {
                known.insert(identity, coverage.functions.len());
                coverage.functions.push(function);
            }
        }
    }
    Ok(coverage)
}

fn merge_at(coverage: &mut Coverage, index: usize, function: FunctionCoverage) {
    if let Some(same) = coverage.functions.get_mut(index) {
        same.merge(function);
    }
}

/// Two records with equal identities are the same function of the source.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    /// `None` in C++, where instances of one template have different names but one place. In C the name decides:
    /// functions that a macro defines share a place.
    name: Option<String>,
    file: Option<PathBuf>,
    place: Option<[u64; 4]>,
}

impl ExportFunction {
    fn identity(&self) -> Identity {
        let name = plain_name(&self.name);
        let place = self.regions.first().map(|region| [region[0], region[1], region[2], region[3]]);
        let name = (!name.starts_with("_Z")).then(|| name.to_string());
        Identity { name, file: self.filenames.first().cloned(), place }
    }

    fn convert(self) -> FunctionCoverage {
        let filenames = self.filenames;
        let branches = self.branches.iter().filter_map(|branch| convert_branch(branch, &filenames)).collect();
        let (name, instances) = (plain_name(&self.name).to_string(), Vec::new());
        let regions = self.regions.iter().filter_map(|region| convert_region(region, &filenames)).collect();
        FunctionCoverage { name, instances, entries: self.count, branches, regions, filenames }
    }
}

/// Regions of other kinds are expansions of macros, code that was skipped, and gaps between statements.
const CODE: u64 = 0;

fn convert_region(region: &[u64; 8], filenames: &[PathBuf]) -> Option<RegionCount> {
    let [line, column, end_line, end_column, times, file, _, kind] = *region;
    let file = filenames.get(file as usize).filter(|_| kind == CODE)?.clone();
    let (start, end) = ((line as u32, column as u32), (end_line as u32, end_column as u32));
    Some(RegionCount { file, start, end, count: count(times) })
}

fn convert_branch(branch: &[u64; 9], filenames: &[PathBuf]) -> Option<BranchCount> {
    let [line, column, end_line, end_column, true_count, false_count, file, _, _] = *branch;
    Some(BranchCount {
        file: filenames.get(file as usize)?.clone(),
        line: line as u32,
        column: column as u32,
        end_line: end_line as u32,
        end_column: end_column as u32,
        true_count: count(true_count),
        false_count: count(false_count),
    })
}

/// llvm-cov derives counts by subtraction, and one below zero (a run that did not end where it should, a `longjmp`) comes
/// out as a huge number: that outcome was not counted.
fn count(derived: u64) -> u64 {
    if i64::try_from(derived).is_ok() { derived } else { 0 }
}

/// `file.c:name` is how llvm-cov writes a static function.
fn plain_name(name: &str) -> &str {
    name.rsplit([':', ';']).next().unwrap_or(name)
}
