//! The two executables of a translation unit, and how tests run on them.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use branchwise_confine::Sandbox;
use branchwise_program::map::{Language, Marker, NoDriver};
use branchwise_program::types::TypeTable;
use branchwise_program::{FunctionId, IdVec, MarkerId, TypeId};
use tempfile::TempDir;

use crate::batch::{Answer, Batch, Counters, Filling, Purpose, RawResult, out_of_step};
use crate::case::{Blob, NativeEnd, Observation, State, TestCase};
use crate::compile::{Executables, build_executables, is_sanitized, plain_name, write};
use crate::coverage::{Coverage, measure_profile};
use crate::layout::Shapes;
use crate::process::{Build, Process, Written};
use crate::sanitize::Sanitizer;
use crate::{ReplayError, Sources, Tools, md5};

/// What one test may use.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Processor time; a test that sleeps is stopped after three times as long by the clock. Default 1000.
    pub milliseconds: u64,
    /// Address space beyond what the harness itself needs; not enforced under sanitizers. Default 1024.
    pub memory_megabytes: u64,
    /// Marker events kept; later ones are dropped and the observation says so. Default 2^20.
    pub log_entries: usize,
    /// Files that it may leave, together. Not enforced without confinement. Default 256.
    pub output_megabytes: u64,
    /// How it is confined. Default: with the best that this machine has.
    pub sandbox: Sandbox,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            milliseconds: 1000,
            memory_megabytes: 1024,
            log_entries: 1 << 20,
            output_megabytes: 256,
            sandbox: Sandbox::auto(),
        }
    }
}

/// A test may stop the process that runs it, but hardly again and again: each time costs seconds.
const MOST_SILENCES: u32 = 3;

/// A translation unit compiled for replay; lives in a temporary folder that goes with the last that uses it.
#[derive(Debug)]
pub struct Harness {
    pub(crate) tools: Tools,
    pub(crate) limits: Limits,
    executables: Arc<Executables>,
    pub(crate) types: Arc<TypeTable>,
    pub(crate) markers: Arc<IdVec<MarkerId, Marker>>,
    /// How many there are.
    pub(crate) probes: u32,
    pub(crate) units: Arc<IdVec<FunctionId, Unit>>,
    /// The type of each feed.
    feeds: Arc<[TypeId]>,
    /// How many functions the table of callables has.
    callables: u32,
    pub(crate) shapes: Shapes,
    pub(crate) batches: u64,
    /// How many processes did not answer in time.
    silences: u32,
    pub(crate) sanitizer: Arc<Sanitizer>,
    pub(crate) counting: Arc<OnceLock<Result<PathBuf, String>>>,
    /// For the batches of this one; inside `folder`.
    pub(crate) own: TempDir,
    pub(crate) folder: Arc<TempDir>,
}

/// What a replay needs to know of a function.
#[derive(Debug)]
pub(crate) struct Unit {
    pub name: String,
    pub symbol: String,
    pub result: TypeId,
    pub inputs: Vec<TypeId>,
    /// Index into the table of drivers, or why there is none.
    pub driver: Result<u64, NoDriver>,
    /// What names its profile record.
    pub record: u64,
    /// It may have instances, each with a record of its own: a template, or what is tested through others.
    pub has_instances: bool,
}

impl Harness {
    /// Compiles and links both texts, once per translation unit.
    pub fn build(tools: &Tools, sources: &Sources, mut limits: Limits) -> Result<Harness, ReplayError> {
        let folder = tempfile::Builder::new()
            .prefix("branchwise-")
            .tempdir()
            .map_err(ReplayError::io("make a temporary folder"))?;
        let mut drivers = Vec::new();
        let units = sources.map.functions.values().map(|function| unit_of(function, &mut drivers)).collect();
        fs::create_dir(built_in(&folder)).map_err(ReplayError::io("make a temporary folder"))?;
        let executables = build_executables(tools, sources, &drivers, &built_in(&folder))?;
        if is_sanitized(sources.flags) {
            // Sanitizers reserve terabytes of address space.
            limits.memory_megabytes = 0;
        }
        Ok(Harness {
            tools: tools.clone(),
            limits,
            executables: Arc::new(executables),
            types: Arc::new(sources.map.types.clone()),
            markers: Arc::new(sources.map.markers.clone()),
            probes: sources.map.probes.len() as u32,
            units: Arc::new(units),
            feeds: sources.map.feeds.values().map(|feed| feed.type_id).collect(),
            callables: sources.map.callables.len() as u32,
            shapes: Shapes::default(),
            batches: 0,
            silences: 0,
            sanitizer: Arc::new(Sanitizer::new(sources, drivers)),
            counting: Arc::default(),
            own: own_folder(&folder)?,
            folder: Arc::new(folder),
        })
    }

    /// Returns how its tests are confined.
    pub fn sandbox(&self) -> Sandbox {
        self.limits.sandbox
    }

    /// How long one test may run.
    pub fn milliseconds(&self) -> u64 {
        self.limits.milliseconds
    }

    /// Lets tests run so long from now on.
    pub fn set_milliseconds(&mut self, milliseconds: u64) {
        self.limits.milliseconds = milliseconds;
    }

    /// Symbols that neither the unit nor the files that it is linked with define, nor any library.
    pub fn missing(&self) -> &[String] {
        &self.executables.missing
    }

    /// Another harness over the same executables, with a folder of its own: for use in another thread at the same time.
    pub fn share(&self) -> Result<Harness, ReplayError> {
        Ok(Harness {
            tools: self.tools.clone(),
            limits: self.limits,
            executables: Arc::clone(&self.executables),
            types: Arc::clone(&self.types),
            markers: Arc::clone(&self.markers),
            probes: self.probes,
            units: Arc::clone(&self.units),
            feeds: Arc::clone(&self.feeds),
            callables: self.callables,
            shapes: Shapes::default(),
            batches: 0,
            silences: 0,
            sanitizer: Arc::clone(&self.sanitizer),
            counting: Arc::clone(&self.counting),
            own: own_folder(&self.folder)?,
            folder: Arc::clone(&self.folder),
        })
    }

    /// Runs each case natively in a forked child of its own; observations come in the order of the cases.
    pub fn run(&mut self, cases: &[TestCase]) -> Result<Vec<Observation>, ReplayError> {
        self.run_for(Purpose::Observe, cases)
    }

    /// What the observers of each case show after the call. What depends on memory that nobody has written is left out.
    pub fn states(&mut self, cases: &[TestCase]) -> Result<Vec<State>, ReplayError> {
        let one = self.run_for(Purpose::State(Filling::One), cases)?;
        let other = self.run_for(Purpose::State(Filling::Other), cases)?;
        let state = |(mut one, other): (Observation, Observation)| {
            let both_returned = one.end == NativeEnd::Returned && other.end == NativeEnd::Returned;
            one.state.retain(|number, parts| both_returned && other.state.get(number) == Some(parts));
            one.state
        };
        Ok(one.into_iter().zip(other).map(state).collect())
    }

    fn run_for(&mut self, purpose: Purpose, cases: &[TestCase]) -> Result<Vec<Observation>, ReplayError> {
        let mut observations = Vec::with_capacity(cases.len());
        while observations.len() < cases.len() {
            self.run_from(purpose, cases, &mut observations)?;
        }
        Ok(observations)
    }

    /// Runs the cases on the unmarked build and measures with llvm-cov.
    pub fn measure(&mut self, cases: &[TestCase]) -> Result<Coverage, ReplayError> {
        let mut batch = Batch::new();
        self.add_group(&mut batch, Counters::All, cases, 0)?;
        let profiled = self.profile(batch, Purpose::Profile)?;
        self.coverage_of(&profiled, 0)
    }

    /// One coverage for each suite. Every suite costs a run of llvm-cov over the whole file; see
    /// [`Harness::measure_units`] for many functions of one file.
    pub fn measure_many(&mut self, suites: &[Vec<TestCase>]) -> Result<Vec<Coverage>, ReplayError> {
        let mut batch = Batch::new();
        let mut first = 0;
        for suite in suites {
            self.add_group(&mut batch, Counters::All, suite, first)?;
            first += suite.len();
        }
        let profiled = self.profile(batch, Purpose::ProfilePerGroup)?;
        (0..suites.len()).map(|index| self.coverage_of(&profiled, index)).collect()
    }

    /// Measures all suites with one run of llvm-cov: the counts of a function under test are those of its own suite
    /// only, those of other functions are zero.
    pub fn measure_units(&mut self, units: &[(FunctionId, Vec<TestCase>)]) -> Result<Coverage, ReplayError> {
        let mut batch = Batch::new();
        let mut first = 0;
        for (function, suite) in units {
            let record = self.unit(*function, first)?.record;
            self.add_group(&mut batch, Counters::Record(record), suite, first)?;
            first += suite.len();
        }
        let profiled = self.profile(batch, Purpose::Profile)?;
        let mut coverage = self.coverage_of(&profiled, 0)?;
        let missed: Vec<_> = units
            .iter()
            .zip(&profiled.groups)
            .filter(|((function, _), group)| {
                let several = self.units.get(*function).is_some_and(|unit| unit.has_instances);
                several || group.records == 0 || group.returned && !self.was_entered(*function, &coverage)
            })
            .map(|(unit, _)| unit)
            .collect();
        for (function, suite) in missed {
            self.measure_alone(*function, suite, &mut coverage)?;
        }
        Ok(coverage)
    }

    /// A test returned, so its function was entered: if the profile does not show that, its record was not found by
    /// name, and the slow way is the right one.
    fn was_entered(&self, function: FunctionId, coverage: &Coverage) -> bool {
        let Some(unit) = self.units.get(function) else { return false };
        coverage.function_named(&unit.symbol).is_some_and(|function| function.entries > 0)
    }

    fn measure_alone(
        &mut self,
        function: FunctionId,
        suite: &[TestCase],
        coverage: &mut Coverage,
    ) -> Result<(), ReplayError> {
        let symbol = self.unit(function, 0)?.symbol.clone();
        let alone = self.measure(suite)?;
        let measured = alone.functions.into_iter().find(|measured| measured.is_named(&symbol));
        let place = coverage.functions.iter_mut().find(|measured| measured.is_named(&symbol));
        if let (Some(measured), Some(place)) = (measured, place) {
            *place = measured;
        }
        Ok(())
    }

    pub(crate) fn unit(&self, function: FunctionId, case: usize) -> Result<&Unit, ReplayError> {
        self.units
            .get(function)
            .ok_or_else(|| ReplayError::Case { case, message: format!("the map has no function {function}") })
    }

    /// `first` is the number of the group's first case, for messages.
    pub(crate) fn add_group(
        &self,
        batch: &mut Batch,
        counters: Counters,
        cases: &[TestCase],
        first: usize,
    ) -> Result<(), ReplayError> {
        batch.begin_group(counters, cases.len());
        for (index, case) in cases.iter().enumerate() {
            self.add_case(batch, case, first + index)?;
        }
        Ok(())
    }

    fn add_case(&self, batch: &mut Batch, case: &TestCase, index: usize) -> Result<(), ReplayError> {
        let wrong = |message| ReplayError::Case { case: index, message };
        let before = case.before.iter().map(|call| (call.function, call.inputs.as_slice()));
        let mut calls = Vec::with_capacity(case.before.len() + 1);
        let mut result_bytes = 0;
        for (function, inputs) in before.chain([(case.function, case.inputs.as_slice())]) {
            let unit = self.unit(function, index)?;
            let driver = unit.driver.clone().map_err(|reason| ReplayError::NoDriver {
                function: unit.name.clone(),
                reason: reason.reason().to_owned(),
            })?;
            self.check_inputs(unit, inputs).map_err(wrong)?;
            result_bytes = self.types.get(unit.result).map_or(0, |result| result.size).max(result_bytes);
            calls.push((driver, inputs));
        }
        self.check_feeds(case).map_err(wrong)?;
        batch.add(&calls, case, result_bytes, &self.types).map_err(wrong)
    }

    /// A stub's variable has the size of its type, too, and only what is in the table can be called.
    fn check_feeds(&self, case: &TestCase) -> Result<(), String> {
        if case.feeds.len() > self.feeds.len() {
            return Err(format!("there are {} feeds, not {}", self.feeds.len(), case.feeds.len()));
        }
        for (index, (type_id, value)) in self
            .feeds
            .iter()
            .zip(&case.feeds)
            .flat_map(|(feed, values)| values.iter().map(move |value| (feed, value)))
            .enumerate()
        {
            let expected = self.types.get(*type_id).map_or(0, |expected| expected.size);
            if expected != value.bytes.len() as u64 {
                return Err(format!("fed value {index} has {} bytes, not {expected}", value.bytes.len()));
            }
        }
        let blobs = case.inputs.iter().chain(case.before.iter().flat_map(|call| &call.inputs));
        let blobs = blobs.chain(case.objects.iter().map(|object| &object.blob)).chain(case.feeds.iter().flatten());
        match blobs.flat_map(|blob| &blob.functions).find(|pointer| pointer.callable.0 >= self.callables) {
            Some(pointer) => Err(format!("there is no {}", pointer.callable)),
            None => Ok(()),
        }
    }

    /// The driver's variables have the size of their types: more bytes would be written over something else.
    fn check_inputs(&self, unit: &Unit, inputs: &[Blob]) -> Result<(), String> {
        if unit.inputs.len() != inputs.len() {
            return Err(format!("'{}' has {} inputs, not {}", unit.name, unit.inputs.len(), inputs.len()));
        }
        for (index, (type_id, blob)) in unit.inputs.iter().zip(inputs).enumerate() {
            let Some(expected) = self.types.get(*type_id) else { continue };
            if expected.size != blob.bytes.len() as u64 {
                let (spelling, size, given) = (&expected.spelling, expected.size, blob.bytes.len());
                return Err(format!("input {index} of '{}' is '{spelling}' of {size} bytes, not {given}", unit.name));
            }
        }
        Ok(())
    }

    /// Runs the cases that have no observation yet. Adds at least one observation.
    fn run_from(
        &mut self,
        purpose: Purpose,
        cases: &[TestCase],
        observations: &mut Vec<Observation>,
    ) -> Result<(), ReplayError> {
        let mut batch = Batch::new();
        let done = observations.len();
        self.add_group(&mut batch, Counters::All, &cases[done..], done)?;
        let mut process = self.start(&mut batch, purpose)?;
        loop {
            match process.next()? {
                Answer::Started | Answer::Group(_) => {}
                Answer::Test(raw) => {
                    let index = observations.len();
                    let (Some(case), Some(placement)) = (cases.get(index), batch.placements().get(index - done)) else {
                        return Err(out_of_step());
                    };
                    observations.push(self.observation(case, placement, raw));
                }
                Answer::End if observations.len() == cases.len() => return Ok(()),
                Answer::End => return Err(out_of_step()),
                Answer::Died => break,
            }
        }
        // The unit can do that, with kill(getppid(), …): it counts as the end of that test.
        let signal = self.signal_of_death(&mut process)?;
        let Some(case) = cases.get(observations.len()) else { return Ok(()) };
        let raw = RawResult { end: NativeEnd::Signal(signal), truncated: true, log: Vec::new(), outputs: Vec::new() };
        observations.push(self.observation(case, &Default::default(), raw));
        Ok(())
    }

    /// The same as [`Process::signal_of_death`]; an error if too many processes did not answer in time.
    pub(crate) fn signal_of_death(&mut self, process: &mut Process) -> Result<i32, ReplayError> {
        let signal = process.signal_of_death()?;
        self.silences += u32::from(process.is_silenced());
        if !process.is_silenced() || self.silences < MOST_SILENCES {
            return Ok(signal);
        }
        let message = "it does not answer in time (does code of the file run before its tests?)".to_string();
        Err(ReplayError::Harness { message })
    }

    fn profile(&mut self, mut batch: Batch, purpose: Purpose) -> Result<Profiled, ReplayError> {
        let mut process = self.start(&mut batch, purpose)?;
        let mut groups = Vec::new();
        let mut returned = false;
        loop {
            match process.next()? {
                Answer::Started => {}
                Answer::Test(raw) => returned |= raw.end == NativeEnd::Returned,
                Answer::Group(records) => {
                    groups.push(ProfiledGroup { returned: std::mem::take(&mut returned), records })
                }
                Answer::End => return Ok(Profiled { prefix: process.prefix.clone(), groups }),
                Answer::Died => {
                    let signal = process.signal_of_death()?;
                    let message = format!("a test ended it with signal {signal} while coverage was measured");
                    return Err(ReplayError::Harness { message });
                }
            }
        }
    }

    fn coverage_of(&self, profiled: &Profiled, group: usize) -> Result<Coverage, ReplayError> {
        let raw = profiled.file(group);
        let coverage = measure_profile(&self.tools, &self.executables.plain, &raw);
        for file in [raw.with_extension("profdata"), raw] {
            // Only to save room: the folder goes at the end anyway.
            let _ = fs::remove_file(file);
        }
        coverage
    }

    fn start(&mut self, batch: &mut Batch, purpose: Purpose) -> Result<Process, ReplayError> {
        let written = self.write_batch(batch, purpose)?;
        let executable = match purpose {
            Purpose::Observe | Purpose::Sanitize | Purpose::FindLeaks | Purpose::State(_) => &self.executables.marked,
            Purpose::Profile | Purpose::ProfilePerGroup | Purpose::Count => &self.executables.plain,
        };
        Process::start(self, executable, written, &Build::Ordinary)
    }

    /// Returns the folders in which the loader looks for libraries because the user's flags say so.
    pub(crate) fn library_folders(&self) -> Vec<PathBuf> {
        let parts = self.sanitizer.sources.flags.iter().filter_map(|flag| flag.strip_prefix("-Wl,-rpath"));
        let folders = parts.filter_map(|part| part.strip_prefix([',', '=']));
        folders.flat_map(|folders| folders.split([':', ','])).map(PathBuf::from).collect()
    }

    /// Writes the file with the batch.
    pub(crate) fn write_batch(&mut self, batch: &mut Batch, purpose: Purpose) -> Result<Written, ReplayError> {
        self.batches += 1;
        let prefix = self.own.path().join(RESULTS).join(format!("batch{}-", self.batches));
        let file = self.own.path().join("batch");
        // Sanitizers reserve terabytes of address space and make everything slower.
        let limits = match purpose {
            Purpose::Sanitize | Purpose::FindLeaks => {
                Limits { memory_megabytes: 0, milliseconds: 4 * self.limits.milliseconds, ..self.limits }
            }
            // By the clock; a step takes some thousand times as long as the instruction.
            Purpose::Count => Limits { milliseconds: 30 * self.limits.milliseconds, ..self.limits },
            _ => self.limits,
        };
        write(&file, batch.finish(&limits, purpose))?;
        Ok(Written { file, prefix, milliseconds: limits.milliseconds, bounds: batch.bounds(&limits, purpose) })
    }
}

/// Returns the folder that compilers write to. Nothing but what they make is in it: they could replace it.
pub(crate) fn built_in(folder: &TempDir) -> PathBuf {
    folder.path().join("built")
}

/// Where tests run.
pub(crate) const WORK: &str = "work";
/// Where the harness writes profiles, and tests do not.
pub(crate) const RESULTS: &str = "results";

fn own_folder(folder: &TempDir) -> Result<TempDir, ReplayError> {
    let made = tempfile::Builder::new().prefix("run-").tempdir_in(folder.path());
    let own = made.map_err(ReplayError::io("make a temporary folder"))?;
    for folder in [WORK, RESULTS] {
        fs::create_dir(own.path().join(folder)).map_err(ReplayError::io("make a temporary folder"))?;
    }
    Ok(own)
}

fn unit_of(function: &branchwise_program::map::Function, drivers: &mut Vec<String>) -> Unit {
    let driver = function.driver.clone().map(|name| {
        drivers.push(name);
        drivers.len() as u64 - 1
    });
    let instance = function.usage.as_ref().and_then(|usage| usage.instance.as_ref());
    Unit {
        has_instances: function.driver.is_err() || instance.is_some(),
        name: function.name.clone(),
        symbol: function.symbol.clone(),
        result: function.result,
        inputs: function.inputs.iter().map(|input| input.type_id).collect(),
        driver,
        record: record_of(&function.symbol, function.internal, function.language),
    }
}

/// LLVM's name of the profile record: a static function has the file that was compiled before its name.
fn record_of(symbol: &str, internal: bool, language: Language) -> u64 {
    match internal {
        true => md5::low_64_bits(format!("{};{symbol}", plain_name(language)).as_bytes()),
        false => md5::low_64_bits(symbol.as_bytes()),
    }
}

/// What a batch left for llvm-profdata.
#[derive(Debug)]
struct Profiled {
    prefix: PathBuf,
    groups: Vec<ProfiledGroup>,
}

#[derive(Debug)]
struct ProfiledGroup {
    /// At least one of its tests came back.
    returned: bool,
    /// How many profile records the runtime found for its function.
    records: u64,
}

impl Profiled {
    fn file(&self, group: usize) -> PathBuf {
        let mut name = self.prefix.clone().into_os_string();
        name.push(group.to_string());
        PathBuf::from(name)
    }
}
