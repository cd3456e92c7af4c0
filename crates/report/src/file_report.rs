//! What was found in one file, beside the map that gives it meaning.

use std::path::Path;

use branchwise_generate::{FunctionReport, GoalReport, Report};
use branchwise_goals::{Criterion, GoalId, Verdict};
use branchwise_program::Program;
use branchwise_program::map::{InputOrigin, Language, Map, Place};

/// One translation unit: its map, how it is compiled and what generation found.
#[derive(Debug, Copy, Clone)]
pub struct FileReport<'a> {
    pub map: &'a Map,
    pub report: &'a Report,
    /// The file as the user named it.
    pub source: &'a Path,
    /// The compiler flags that the user gave.
    pub flags: &'a [String],
    /// A call may leave traces that a later call sees, so each emitted test needs a process of its own.
    pub keeps_state: bool,
    /// Other files of the user's that the tests must be linked with.
    pub linked: &'a [LinkedSource<'a>],
    /// Symbols that none of these files defines, nor any library.
    pub missing: &'a [String],
}

/// Whose calls a verdict speaks for.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum View<'a> {
    /// Any call of the function, with any arguments.
    Unit,
    /// What happens in calls from this function.
    From(&'a str),
    /// The calls that functions of the file make, because a test can make none.
    ThroughCallers,
}

/// Another file of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedSource<'a> {
    pub path: &'a Path,
    pub flags: &'a [String],
    pub language: Language,
    /// What it defines and others define as well, each with a name that is its own.
    pub renamed: Vec<(&'a str, &'a str)>,
}

/// Functions of the C library and of POSIX that may read standard input.
const READERS: [&str; 20] = [
    "fgetc",
    "fgets",
    "fgetwc",
    "fread",
    "fscanf",
    "getc",
    "getchar",
    "getchar_unlocked",
    "getdelim",
    "getline",
    "gets",
    "getwc",
    "getwchar",
    "read",
    "readv",
    "scanf",
    "ungetc",
    "vfscanf",
    "vscanf",
    "wscanf",
];

impl<'a> FileReport<'a> {
    pub fn view(&self, unit: &FunctionReport, found: &GoalReport) -> View<'a> {
        let Some(function) = self.map.functions.get(unit.function) else { return View::Unit };
        if function.driver.is_err() {
            View::ThroughCallers
        } else if found.goal.function == unit.function {
            View::Unit
        } else {
            View::From(&function.name)
        }
    }

    pub fn is_cpp(&self) -> bool {
        self.map.is_cpp()
    }

    /// How the names of its test files end.
    pub fn ending(&self) -> &'static str {
        if self.is_cpp() { "cpp" } else { "c" }
    }

    /// Whether a test may read standard input, so that each must say what there is to read.
    pub fn reads_standard_input(&self) -> bool {
        let calls = self.map.functions.values().flat_map(|function| &function.calls);
        let mut callees = calls.filter(|call| !call.declared_by_user).filter_map(|call| call.callee.as_deref());
        let mut tests = self.report.functions.iter().flat_map(|unit| &unit.tests);
        tests.any(|test| !test.case.stdin.is_empty()) || callees.any(|callee| READERS.contains(&callee))
    }

    /// Whether each emitted test needs a process of its own.
    pub fn needs_processes(&self) -> bool {
        self.keeps_state || self.reads_standard_input()
    }

    /// A file of the map as the user named it.
    pub fn file_name(&self, place: Place) -> String {
        match self.map.files.get(place.file) {
            Some(file) => file.path.display().to_string(),
            None => self.source.display().to_string(),
        }
    }

    /// `file:line:column`.
    pub fn place(&self, place: Place) -> String {
        format!("{}:{}:{}", self.file_name(place), place.line, place.column)
    }

    pub fn function_name(&self, function: &FunctionReport) -> &str {
        self.map.functions.get(function.function).map_or("?", |function| function.name.as_str())
    }
}

/// Whether the unit has variables that outlive a call and that tests do not set themselves.
pub fn keeps_state(program: &Program) -> bool {
    let set_by_every_test = |name: &str| {
        program.map.functions.values().all(|function| {
            let mut inputs = function.inputs.iter();
            inputs.any(|input| input.origin == InputOrigin::Global && input.name == name)
        })
    };
    let of_library = |name: &str| OF_LIBRARY.iter().any(|head| name.starts_with(head));
    let mut globals = program.code.globals.values().filter(|global| !of_library(&global.name));
    globals.any(|global| !global.constant && global.initializer.is_some() && !set_by_every_test(&global.name))
}

/// How the symbols of variables begin that belong to models and to the headers of the standard library of C++.
const OF_LIBRARY: [&str; 10] =
    ["__bw_", "_ZSt", "_ZNSt", "_ZZNSt", "_ZZNKSt", "_ZGVSt", "_ZGVNSt", "_ZGVZNSt", "_ZGVZNKSt", "_ZN9__gnu_cxx"];

/// How many goals ended how.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    pub goals: usize,
    pub covered: usize,
    /// Those of them that tests reach only behind undefined behaviour.
    pub through_undefined: usize,
    pub infeasible: usize,
    pub infeasible_within_bounds: usize,
    /// Those of them that no bound in numbers limits, but assumptions alone.
    pub under_assumptions_alone: usize,
    pub unknown: usize,
    pub tests: usize,
    /// Those of them that are kept for nothing but what lies behind undefined behaviour.
    pub reproducers: usize,
}

impl Totals {
    pub fn of_function(function: &FunctionReport) -> Self {
        let reproducers = function.tests.iter().filter(|test| test.reproducer).count();
        let (goals, tests) = (function.goals.len(), function.tests.len());
        let mut totals = Totals { goals, tests, reproducers, ..Totals::default() };
        for goal in &function.goals {
            *totals.slot(&goal.verdict) += 1;
            totals.through_undefined += usize::from(goal.verdict.is_only_undefined());
            totals.under_assumptions_alone += usize::from(goal.verdict.is_under_assumptions_alone());
        }
        totals
    }

    pub fn of_files(files: &[FileReport]) -> Self {
        let functions = files.iter().flat_map(|file| &file.report.functions);
        functions.map(Totals::of_function).fold(Totals::default(), Totals::plus)
    }

    pub fn plus(self, other: Totals) -> Totals {
        Totals {
            goals: self.goals + other.goals,
            covered: self.covered + other.covered,
            through_undefined: self.through_undefined + other.through_undefined,
            infeasible: self.infeasible + other.infeasible,
            infeasible_within_bounds: self.infeasible_within_bounds + other.infeasible_within_bounds,
            under_assumptions_alone: self.under_assumptions_alone + other.under_assumptions_alone,
            unknown: self.unknown + other.unknown,
            tests: self.tests + other.tests,
            reproducers: self.reproducers + other.reproducers,
        }
    }

    /// Goals that a bound in numbers leaves open.
    pub fn bounded(&self) -> usize {
        self.infeasible_within_bounds - self.under_assumptions_alone
    }

    /// Goals that tests reach without undefined behaviour.
    pub fn covered_defined(&self) -> usize {
        self.covered - self.through_undefined
    }

    /// Covered goals in percent of all goals; 100 when there are none. Goals that only undefined behaviour reaches are left out.
    pub fn percent(&self) -> f64 {
        percent(self.covered_defined(), self.goals - self.through_undefined)
    }

    /// The same in percent of those that are not proven infeasible: what a suite can reach at best is 100.
    pub fn percent_of_feasible(&self) -> f64 {
        percent(self.covered_defined(), self.goals - self.through_undefined - self.infeasible)
    }

    fn slot(&mut self, verdict: &Verdict) -> &mut usize {
        match verdict {
            Verdict::Covered { .. } => &mut self.covered,
            Verdict::Infeasible(_) => &mut self.infeasible,
            Verdict::InfeasibleWithinBounds { .. } => &mut self.infeasible_within_bounds,
            Verdict::Unknown(_) => &mut self.unknown,
        }
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// How far the tests of a function satisfy a criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completeness {
    pub criterion: Criterion,
    pub goals: usize,
    /// What is infeasible within bounds only.
    pub within_bounds: Vec<GoalId>,
    pub open: Vec<GoalId>,
}

impl Completeness {
    /// Every goal is covered or proved infeasible.
    pub fn is_complete(&self) -> bool {
        self.within_bounds.is_empty() && self.open.is_empty()
    }
}

/// One for each criterion.
pub fn completeness(criteria: &[Criterion], unit: &FunctionReport) -> Vec<Completeness> {
    let of_criterion = |&criterion: &Criterion| {
        let goals = || unit.goals.iter().filter(|goal| goal.goal.criterion == criterion);
        let ids = |fits: fn(&Verdict) -> bool| goals().filter(|it| fits(&it.verdict)).map(|it| it.id).collect();
        Completeness {
            criterion,
            goals: goals().count(),
            within_bounds: ids(|verdict| matches!(verdict, Verdict::InfeasibleWithinBounds { .. })),
            open: ids(|verdict| matches!(verdict, Verdict::Unknown(_))),
        }
    };
    criteria.iter().map(of_criterion).collect()
}
