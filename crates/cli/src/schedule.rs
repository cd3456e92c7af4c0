//! Several functions at a time, over all files. A thread takes what comes next: a function of a file that is read, or else
//! the next file. Which thread does what does not show in the result.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use branchwise_frontend::{LinkedFile, Neighbours, Source};
use branchwise_generate::{
    Progress, ReplaySummary, Report, Routes, Settings, Subject, UnitReport, Workers, Workplace, conclude,
    conclude_at_once,
};
use branchwise_goals::{Criterion, Structure};
use branchwise_program::FunctionId;
use branchwise_program::assumption::catalogue::ALLOCATION_SUCCEEDS;
use branchwise_program::map::Map;
use branchwise_replay::Harness;
use branchwise_report::Key;

use crate::config::Config;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::keeper::Keeper;
use crate::pipeline::{Loaded, Member, Workshop, meant, replay_error, selected};
use crate::sources::SourceFile;

/// Deep terms make deep recursion; the memory is only reserved.
const STACK_BYTES: usize = 1 << 28;

/// What was found in one file, with everything that the report needs of it.
#[derive(Debug)]
pub struct GeneratedFile {
    pub source: SourceFile,
    pub map: Map,
    pub report: Report,
    /// See [`branchwise_report::keeps_state`].
    pub keeps_state: bool,
    /// The other files that it is linked with, and the symbols that are missing all the same.
    pub linked: Vec<LinkedFile>,
    pub missing: Vec<String>,
    /// The SHA-256 of the file, and a hash of all that the results rest on.
    pub sha256: String,
    pub fingerprint: String,
}

/// What to do.
pub struct Work<'a> {
    pub workshop: &'a Workshop,
    pub sources: &'a [SourceFile],
    /// The functions that the user names; empty: all.
    pub names: &'a [String],
    pub config: &'a Config,
    pub settings: &'a Settings,
    pub interrupt: &'a Interrupt,
    /// Where each function goes as soon as it is finished.
    pub keeper: &'a Keeper,
    /// Functions that are not in the journal are searched.
    pub searches: bool,
    /// First line of the compiler's `--version`.
    pub compiler: &'a str,
    /// Static variables are inputs too.
    pub set_statics: bool,
    /// Instances of templates that are units of their own.
    pub instances: &'a [String],
    pub jobs: NonZeroUsize,
}

impl Work<'_> {
    fn named<'s>(&'s self, source: &'s SourceFile) -> Source<'s> {
        Source { path: &source.path, flags: &source.flags, set_statics: self.set_statics, instances: self.instances }
    }
}

/// How progress is shown, from any thread.
pub type Show<'a> = dyn Fn(&Progress) + Sync + 'a;

/// What is done with the results so far where a second signal wants no more of them, in any thread.
pub type Salvage<'a> = dyn Fn(Results) + Sync + 'a;

/// What came out of it.
pub struct Found {
    pub files: Results,
    /// What is not linked, and what the configuration names and no file has; it may belong to other files.
    pub remarks: Vec<String>,
}

/// The results in the order of the sources; `None` for a file that an interrupt left unread.
pub type Results = Vec<Option<Result<GeneratedFile, CliError>>>;

/// Analyses each file, generates tests for its functions and replays them. Stops early, with what was found, when the
/// interrupt is raised. A file that cannot be used does not stop the others.
pub fn run(work: &Work<'_>, show: &Show<'_>, salvage: &Salvage<'_>) -> Result<Found, CliError> {
    let sources: Vec<Source<'_>> = work.sources.iter().map(|source| work.named(source)).collect();
    let neighbours = work.workshop.neighbours(&sources, work.jobs.get())?;
    let notes = neighbours.notes();
    let schedule = Schedule {
        work,
        show,
        neighbours,
        state: Mutex::new(State::new(work.sources.len())),
        changed: Condvar::new(),
        remarks: Mutex::default(),
    };
    work.interrupt.during(|| schedule.treat_all(), || salvage(schedule.known()))?;
    if let Some(error) = work.keeper.failure() {
        return Err(error);
    }
    let (files, names) = {
        let mut state = schedule.state();
        (std::mem::take(&mut state.files), std::mem::replace(&mut state.names, Names::Unchecked))
    };
    let remarks = match names {
        Names::Wrong(error) => return Err(error),
        Names::Right { remarks } => remarks,
        Names::Unchecked => Vec::new(),
    };
    let remarks = notes.into_iter().chain(std::mem::take(&mut *lock(&schedule.remarks))).chain(remarks).collect();
    Ok(Found { files: files.into_iter().map(|stage| schedule.result(stage)).collect(), remarks })
}

struct Schedule<'a> {
    work: &'a Work<'a>,
    show: &'a Show<'a>,
    /// All files, as each may need the others.
    neighbours: Neighbours,
    state: Mutex<State>,
    /// A file was read, or could not be.
    changed: Condvar,
    /// Why what an earlier run found is not used.
    remarks: Mutex<Vec<String>>,
}

struct State {
    files: Vec<Stage>,
    /// The first file that nobody has started to read.
    next_file: usize,
    loading: usize,
    names: Names,
}

/// Whether the names that the user gives are those of something in the files; known when all files are read.
enum Names {
    Unchecked,
    Right { remarks: Vec<String> },
    Wrong(CliError),
}

enum Stage {
    Waiting,
    Open(Arc<OpenFile>),
    Done(Result<Box<GeneratedFile>, CliError>),
}

impl State {
    fn new(files: usize) -> Self {
        let files = (0..files).map(|_| Stage::Waiting).collect();
        State { files, next_file: 0, loading: 0, names: Names::Unchecked }
    }
}

/// A file between reading and reporting.
struct OpenFile {
    index: usize,
    loaded: Loaded,
    routes: Routes,
    structure: Option<Arc<Structure>>,
    functions: Vec<FunctionId>,
    /// What entries of the journal bear.
    key: Key,
    /// What an earlier run found.
    earlier: BTreeMap<FunctionId, UnitReport>,
    /// Symbols that nobody defines.
    missing: Vec<String>,
    /// The first function that no thread has taken.
    next: AtomicUsize,
    /// `None` where there is nothing to do.
    harness: Option<Mutex<Harness>>,
    /// In the order of `functions`.
    units: Mutex<Vec<Option<UnitReport>>>,
    left: AtomicUsize,
}

impl OpenFile {
    /// A function that no other thread treats, by its place in the list.
    fn take(&self) -> Option<usize> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.functions.len()).then_some(index)
    }

    fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.functions.len()
    }
}

enum Task {
    Read(usize),
    Treat(Arc<OpenFile>),
}

impl Schedule<'_> {
    fn treat_all(&self) -> Result<(), CliError> {
        std::thread::scope(|scope| {
            for _ in 0..self.work.jobs.get() {
                let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
                let spawned = thread.spawn_scoped(scope, || self.take_part());
                spawned.map_err(|cause| CliError::input("cannot start a thread").with_cause(cause))?;
            }
            Ok(())
        })
    }

    /// The life of one thread.
    fn take_part(&self) {
        let workers = self.work.settings.worker.as_deref().map(Workers::new);
        while let Some(task) = self.next_task() {
            match task {
                Task::Read(index) => self.read(index),
                Task::Treat(file) => self.treat(&file, workers.as_ref()),
            }
        }
    }

    /// Functions of files that are read come first, so that few files are open at a time. Only where the user names
    /// functions, here or in the configuration, must all files be read before it is known whether each name is one.
    fn next_task(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            let all_read = state.next_file >= state.files.len() && state.loading == 0;
            if all_read && matches!(state.names, Names::Unchecked) {
                state.names = self.check_names(&state);
            }
            let may_treat = match state.names {
                Names::Unchecked => {
                    let named = !self.work.names.is_empty() || !self.work.instances.is_empty();
                    !named && !self.work.config.names_functions()
                }
                Names::Right { .. } => true,
                Names::Wrong(_) => false,
            };
            if let Some(file) = state.files.iter().find_map(open_with_more).filter(|_| may_treat) {
                return Some(Task::Treat(file));
            }
            if state.next_file < state.files.len() && !self.interrupted() {
                let index = state.next_file;
                state.next_file += 1;
                state.loading += 1;
                return Some(Task::Read(index));
            }
            if state.loading == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn interrupted(&self) -> bool {
        self.work.interrupt.is_raised()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Every name that the user gives must be a function of some file; one of the configuration may belong to a file
    /// that is not treated.
    fn check_names(&self, state: &State) -> Names {
        let open: Vec<&Arc<OpenFile>> = state.files.iter().filter_map(open).collect();
        let functions = open.iter().flat_map(|file| file.loaded.program.map.functions.values());
        let known: Vec<&str> = functions.map(|function| function.name.as_str()).collect();
        let candidates =
            |name: &str| -> Vec<&str> { open.iter().flat_map(|file| meant(&file.loaded.program.map, name)).collect() };
        let is_wrong = |name: &&String| !known.contains(&name.as_str()) && candidates(name).len() != 1;
        let wrong = self.work.names.iter().find(|name| is_wrong(name) && !open.is_empty());
        if let Some(name) = wrong {
            let path = |file: &&Arc<OpenFile>| self.work.sources[file.index].path.display().to_string();
            let files: Vec<String> = open.iter().map(path).collect();
            return Names::Wrong(match candidates(name).as_slice() {
                [] => CliError::no_such_function(name, &files.join(", "), known.iter().copied()),
                several => CliError::usage(format!("'{name}' may be several functions of {}", files.join(", ")))
                    .with_hint(format!("name one of '{}'", several.join("', '"))),
            });
        }
        let maps: Vec<&Map> = open.iter().map(|file| &file.loaded.program.map).collect();
        if let Some(instance) = self.work.instances.iter().find(|text| !maps.is_empty() && !is_tested(&maps, text)) {
            let hint = "name a template of the file with its arguments, such as 'clamp<double>' or 'Stack<int>'";
            return Names::Wrong(CliError::usage(format!("there is no '{instance}' to test")).with_hint(hint));
        }
        match self.work.config.check(&maps) {
            _ if maps.is_empty() => Names::Right { remarks: Vec::new() },
            Ok(remarks) => Names::Right { remarks },
            Err(error) => Names::Wrong(error),
        }
    }

    /// Reads, lowers and builds one file.
    fn read(&self, index: usize) {
        let source = &self.work.sources[index];
        let opened = std::panic::catch_unwind(AssertUnwindSafe(|| self.open(index)));
        let opened = opened.unwrap_or_else(|_| {
            Err(CliError::our_fault(format!("a fault of Branchwise ended the reading of {}", source.path.display())))
        });
        let functions = opened.as_ref().map_or(0, |file| file.functions.len());
        if functions > 0 {
            (self.show)(&Progress::FileLoaded { functions });
        }
        let stage = match opened {
            Ok(file) => Stage::Open(Arc::new(file)),
            // An interrupt ends the compilers too: what they say then is about nothing.
            Err(_) if self.interrupted() => Stage::Waiting,
            Err(error) => Stage::Done(Err(error)),
        };
        let mut state = self.state();
        state.files[index] = stage;
        state.loading -= 1;
        drop(state);
        self.changed.notify_all();
    }

    fn open(&self, index: usize) -> Result<OpenFile, CliError> {
        let Work { workshop, sources, names, config, .. } = self.work;
        let source = &sources[index];
        let member = Member { neighbours: &self.neighbours, index };
        let mut loaded = workshop.load(self.work.named(source), config, member)?;
        if loaded.allocates() && !self.work.settings.accepted.accepts_all(ALLOCATION_SUCCEEDS) {
            loaded = loaded.with_failing_allocations();
        }
        if loaded.program.map.functions.is_empty() {
            let message = format!("{} defines no function", source.path.display());
            return Err(CliError::input(message).with_hint("name a file with function bodies"));
        }
        let functions = selected(&loaded.program.map, names, config);
        let harness = if functions.is_empty() { None } else { Some(workshop.harness(&loaded)?) };
        let key = self.work.keeper.key(source, &loaded);
        let (earlier, remark) = self.work.keeper.earlier(&key);
        lock(&self.remarks).extend(remark);
        Ok(OpenFile {
            index,
            routes: Routes::of(&loaded.program.map),
            structure: self.structure(&loaded.program.map),
            next: AtomicUsize::new(0),
            missing: harness.as_ref().map(|harness| harness.missing().to_vec()).unwrap_or_default(),
            harness: harness.map(Mutex::new),
            units: Mutex::new(functions.iter().map(|_| None).collect()),
            left: AtomicUsize::new(functions.len()),
            functions,
            key,
            earlier,
            loaded,
        })
    }

    /// Branches are seen in the marker log itself.
    fn structure(&self, map: &Map) -> Option<Arc<Structure>> {
        let branches_only = self.work.settings.criteria.iter().all(|&criterion| criterion == Criterion::Branch);
        (!branches_only).then(|| Arc::new(Structure::of(map)))
    }

    /// Treats functions of a file until none is left, or none that another thread has not taken.
    fn treat(&self, file: &OpenFile, workers: Option<&Workers>) {
        let treated = std::panic::catch_unwind(AssertUnwindSafe(|| self.treat_functions(file, workers)));
        let path = self.work.sources[file.index].path.display();
        let treated =
            treated.unwrap_or_else(|_| Err(CliError::our_fault(format!("a fault of Branchwise ended {path}"))));
        if let Err(error) = treated {
            file.next.store(file.functions.len(), Ordering::Relaxed);
            self.state().files[file.index] = Stage::Done(Err(error));
        }
    }

    fn treat_functions(&self, file: &OpenFile, workers: Option<&Workers>) -> Result<(), CliError> {
        let Some(harness) = &file.harness else { return Ok(()) };
        let own = lock(harness).share().map_err(|error| replay_error(&error))?;
        let settings = self.work.settings;
        let (routes, structure) = (file.routes.clone(), file.structure.clone());
        let subject = Subject { program: &file.loaded.program, settings, routes, structure };
        let mut place = Workplace::new(&subject, own, workers.cloned());
        while let Some(index) = file.take() {
            let unit = self.unit(file, &mut place, file.functions[index]);
            lock(&file.units)[index] = Some(unit);
            // The last one to be done sees what all the others have left.
            if file.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.finish(file, &subject, &mut lock(harness));
            }
        }
        Ok(())
    }

    /// From the journal, from a search, or from neither where an interrupt came first or the user wants no search.
    fn unit(&self, file: &OpenFile, place: &mut Workplace<'_>, function: FunctionId) -> UnitReport {
        let name = &file.loaded.program.map.functions[function].name;
        if let Some(found) = file.earlier.get(&function) {
            let (reached, goals) = found.goals();
            (self.show)(&Progress::FunctionFinished { name: name.clone(), reached, goals });
            return found.clone();
        }
        if self.interrupted() || !self.work.searches {
            return place.skip(function);
        }
        let unit = place.generate(function, &mut |event| (self.show)(&event));
        if self.interrupted() {
            return unit.cut_by_interrupt();
        }
        if unit.is_final() && !self.work.keeper.keep(&file.key, name, &unit) {
            // Nothing that is found from now on could be kept either.
            self.work.interrupt.raise();
        }
        unit
    }

    fn finish(&self, file: &OpenFile, subject: &Subject<'_>, harness: &mut Harness) {
        let units = lock(&file.units).iter().flatten().cloned().collect();
        let compiler = self.work.compiler.to_owned();
        let report = conclude(subject, harness, units, compiler, &mut |event| (self.show)(&event));
        let generated = self.generated(file, report);
        self.state().files[file.index] = Stage::Done(Ok(Box::new(generated)));
    }

    fn generated(&self, file: &OpenFile, report: Report) -> GeneratedFile {
        let program = &file.loaded.program;
        GeneratedFile {
            source: self.work.sources[file.index].clone(),
            map: program.map.clone(),
            report,
            keeps_state: branchwise_report::keeps_state(program),
            linked: file.loaded.linked.clone(),
            missing: file.missing.clone(),
            sha256: file.loaded.sha256.clone(),
            fingerprint: file.loaded.fingerprint().to_string(),
        }
    }

    /// The results so far. Nobody needs the others any more: the process is about to end.
    fn known(&self) -> Results {
        let mut state = self.state();
        let stages = state.files.iter_mut().map(|stage| std::mem::replace(stage, Stage::Waiting));
        let known = |stage| match stage {
            Stage::Done(result) => Some(result.map(|file| *file)),
            Stage::Open(file) => Some(Ok(self.so_far(&file))),
            Stage::Waiting => None,
        };
        stages.map(known).collect()
    }

    fn so_far(&self, file: &OpenFile) -> GeneratedFile {
        let units = lock(&file.units).iter().flatten().cloned().collect();
        let report = conclude_at_once(self.work.settings, units, self.work.compiler.to_owned());
        self.generated(file, report)
    }

    /// A file without a function that the user names has a report without functions.
    fn result(&self, stage: Stage) -> Option<Result<GeneratedFile, CliError>> {
        match stage {
            Stage::Done(result) => Some(result.map(|file| *file)),
            Stage::Open(file) if file.functions.is_empty() => {
                let replay = ReplaySummary { compiler: self.work.compiler.to_owned(), ..ReplaySummary::default() };
                let report = Report {
                    functions: Vec::new(),
                    replay,
                    lists_findings: true,
                    criteria: self.work.settings.criteria.clone(),
                };
                Some(Ok(self.generated(&file, report)))
            }
            Stage::Waiting | Stage::Open(_) => None,
        }
    }
}

fn open(stage: &Stage) -> Option<&Arc<OpenFile>> {
    match stage {
        Stage::Open(file) => Some(file),
        Stage::Waiting | Stage::Done(_) => None,
    }
}

fn open_with_more(stage: &Stage) -> Option<Arc<OpenFile>> {
    open(stage).filter(|file| file.has_more()).cloned()
}

/// A thread that panicked while it held a lock left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a function of these files is tested at this instance.
fn is_tested(maps: &[&Map], instance: &str) -> bool {
    let mut functions = maps.iter().flat_map(|map| map.functions.values());
    functions.any(|function| function.usage.as_ref().is_some_and(|usage| usage.instance.as_deref() == Some(instance)))
}
