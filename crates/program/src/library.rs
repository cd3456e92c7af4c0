//! The functions of libc and POSIX that real code calls, one row for each, and the names of all others as people write
//! them. What has no body and no row is a stub.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use cpp_demangle::{DemangleOptions, Symbol};

/// A list of rows; the columns are the fields of [`Row`].
macro_rules! rows {
    ($($name:ident $model:ident $native:ident $facts:ident $acts:ident $fails:ident;)*) => {
        pub(super) const ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            model: super::Model::$model,
            native: super::Native::$native,
            facts: super::Facts::$facts,
            acts: super::Acts::$acts,
            fails: super::Fails::$fails,
        },)*];
    };
}

pub mod cpp;
mod files;
mod general;
pub mod left_open;
mod machine;
mod mathematics;
mod network;
pub mod otherwise;
mod processes;
mod streams;
mod text;

/// What is known of one function.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Row {
    pub name: &'static str,
    pub model: Model,
    pub native: Native,
    pub facts: Facts,
    pub acts: Acts,
    pub fails: Fails,
}

/// How a symbolic execution treats a call.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Model {
    /// C code stands for the function (`frontend/library`).
    Code,
    /// The executor has streams.
    Stream,
    /// The executor knows the name.
    Executor,
    /// The result is a term over floating-point numbers.
    Term,
    /// The test chooses the results.
    Stub,
    /// The path ends there: nothing is concluded from it.
    Nothing,
}

/// What a call does in a native run.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Native {
    /// The C library's own function runs.
    Library,
    /// A function of the harness runs.
    Harness,
    /// The same stub runs as in the model. Where none can be made, or another file calls the function, the test ends.
    Stub,
}

/// What abstract interpretation and graphs may assume of a call.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Facts {
    /// It comes back and calls none of the unit's functions.
    Returns,
    /// It comes back and may call functions that the unit gave it.
    CallsBack,
    /// It returns, and what it was given runs at the end of the program.
    Registers,
    /// It does not come back.
    Ends,
    /// It does not come back, but calls what was registered.
    LeavesByHandlers,
    /// It may come back twice.
    Jumps,
    /// It goes to another place.
    JumpsAway,
}

/// What a call has to do with the world outside of the test.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Acts {
    /// Nothing.
    No,
    /// It tells something that differs from machine to machine, or from run to run.
    Reads,
    /// It may change files, processes, the machine, or what others see of it.
    Acts,
}

/// Whether a call may fail.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Fails {
    No,
    Yes,
    /// Then it returns a pointer with all bits set, and it never returns null.
    AllOnes,
}

impl Row {
    /// Whether the function never returns to its caller.
    pub fn never_returns(&self) -> bool {
        matches!(self.facts, Facts::Ends | Facts::LeavesByHandlers | Facts::JumpsAway)
    }

    /// Whether control may come back to another place, or twice.
    pub fn jumps(&self) -> bool {
        matches!(self.facts, Facts::Jumps | Facts::JumpsAway)
    }

    /// Whether a call may lead back into the unit.
    pub fn calls_back(&self) -> bool {
        matches!(self.facts, Facts::CallsBack | Facts::LeavesByHandlers)
    }
}

/// All rows, family by family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let families = [
        text::ROWS,
        mathematics::ROWS,
        general::ROWS,
        streams::ROWS,
        files::ROWS,
        processes::ROWS,
        network::ROWS,
        machine::ROWS,
    ];
    families.into_iter().flatten()
}

/// The row of a function.
pub fn row(name: &str) -> Option<&'static Row> {
    static ROWS: OnceLock<HashMap<&'static str, &'static Row>> = OnceLock::new();
    ROWS.get_or_init(|| rows().map(|row| (row.name, row)).collect()).get(name).copied()
}

/// Whether the execution knows what this function does to streams.
pub fn is_stream_function(name: &str) -> bool {
    row(name).is_some_and(|row| row.model == Model::Stream)
}

/// Whether no test may run the function with this symbol: it acts on the world, or tells what differs from run to run.
pub fn is_worldly(symbol: &str) -> bool {
    match row(symbol) {
        Some(row) => row.acts != Acts::No,
        None => symbol.starts_with("_Z") && cpp::acts(&readable(symbol)) != Acts::No,
    }
}

/// Whether this function tells a failure by a pointer with all bits set instead of null.
pub fn fails_with_all_ones(name: &str) -> bool {
    row(name).is_some_and(|row| row.fails == Fails::AllOnes)
}

/// Whether control may come back from this function to another place, or twice.
pub fn jumps(name: &str) -> bool {
    row(name).is_some_and(Row::jumps)
}

/// Functions after which other threads' writes are to be seen: they lock, wait or join.
const ACQUIRING: [&str; 34] = [
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_timedwrlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_barrier_wait",
    "pthread_join",
    "pthread_tryjoin_np",
    "pthread_timedjoin_np",
    "pthread_once",
    "sem_wait",
    "sem_trywait",
    "sem_timedwait",
    "sem_clockwait",
    "sem_getvalue",
    "mtx_lock",
    "mtx_trylock",
    "mtx_timedlock",
    "cnd_wait",
    "cnd_timedwait",
    "thrd_join",
    "call_once",
    "sigwait",
    "flockfile",
];

/// Tells whether a function takes a lock only where it is free.
pub fn is_try_lock(name: &str) -> bool {
    acquires(name) && name.ends_with("trylock")
}

/// Functions after which other threads may go on: they unlock, wait or begin a thread.
const RELEASING: [&str; 22] = [
    "pthread_mutex_unlock",
    "pthread_rwlock_unlock",
    "pthread_spin_unlock",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_barrier_wait",
    "pthread_once",
    "pthread_create",
    "sem_post",
    "sem_wait",
    "sem_trywait",
    "sem_timedwait",
    "sem_clockwait",
    "mtx_unlock",
    "cnd_wait",
    "cnd_timedwait",
    "call_once",
    "thrd_create",
    "thrd_yield",
    "funlockfile",
    "sigwait",
];

/// Tells whether other threads may write plain memory after a call of this function.
pub fn releases(name: &str) -> bool {
    RELEASING.contains(&name)
}

/// Tells whether other threads' writes to plain memory may be seen after a call of this function.
pub fn acquires(name: &str) -> bool {
    ACQUIRING.contains(&name)
}

/// The name of a function as its source has it, without parameters, where its symbol is of C++.
pub fn readable(symbol: &str) -> Cow<'_, str> {
    let parsed = symbol.starts_with("_Z").then(|| Symbol::new(symbol).ok()).flatten();
    let options = DemangleOptions::new().no_params().no_return_type();
    match parsed.and_then(|parsed| parsed.demangle(&options).ok()) {
        Some(name) => Cow::Owned(name.replace("std::__cxx11::", "std::")),
        None => Cow::Borrowed(symbol),
    }
}

/// What the symbol of a function template's instance says that it returns, and its parameters in parentheses.
pub fn signature(symbol: &str) -> Option<(String, String)> {
    let parsed = Symbol::new(symbol).ok()?;
    let full = parsed.demangle(&DemangleOptions::new()).ok()?.replace("std::__cxx11::", "std::");
    let (result, parameters) = full.split_once(&*readable(symbol))?;
    Some((result.trim().to_owned(), parameters.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn symbols_of_cpp_are_shown_as_written() {
        assert_eq!(readable("_ZNSt12out_of_rangeC1EPKc"), "std::out_of_range::out_of_range");
        assert_eq!(readable("strlen"), "strlen");
    }

    #[test]
    fn a_function_has_one_row() {
        let mut seen = BTreeSet::new();
        let twice: Vec<&str> = rows().map(|row| row.name).filter(|name| !seen.insert(*name)).collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert!(is_stream_function("printf") && !is_stream_function("fopen"));
        assert_eq!(row("system").map(|row| row.acts), Some(Acts::Acts));
        assert_eq!(row("an_other_function"), None);
    }

    #[test]
    fn no_row_lets_a_native_run_reach_the_world() {
        let reaching = |row: &&Row| is_worldly(row.name) && ((row.model, row.native) != (Model::Stub, Native::Stub));
        let reaching: Vec<&Row> = rows().filter(reaching).collect();
        assert!(reaching.is_empty(), "{reaching:?}");
        assert!(is_worldly("_ZNSt10filesystem10remove_allERKNS_7__cxx114pathE"));
        assert!(is_worldly("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"));
        assert!(is_worldly("_ZNSt6chrono3_V212system_clock3nowEv"));
        assert!(!is_worldly("_ZNSt10filesystem7__cxx114path14_M_split_cmptsEv") && !is_worldly("_ZNSolsEi"));
    }

    #[test]
    fn model_and_native_run_of_a_row_fit_each_other() {
        let unlike = |row: &&Row| (row.model == Model::Stub) != (row.native == Native::Stub);
        assert_eq!(rows().find(unlike), None);
    }
}
