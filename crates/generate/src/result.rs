//! What generation hands to reports.

use branchwise_goals::{Criterion, Goal, GoalId, TestId, Verdict};
use branchwise_program::FunctionId;
use branchwise_program::map::{Event, Place};
use branchwise_replay::{Observation, Sandbox, TestCase};
use serde::{Deserialize, Serialize};

/// The result for one file.
#[derive(Debug, Clone)]
pub struct Report {
    pub functions: Vec<FunctionReport>,
    pub replay: ReplaySummary,
    /// Whether the user wants to see findings. What tests of the suite show is known in any case.
    pub lists_findings: bool,
    /// What the tests were made to cover.
    pub criteria: Vec<Criterion>,
}

/// The result for one unit under test.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FunctionReport {
    pub function: FunctionId,
    pub goals: Vec<GoalReport>,
    pub tests: Vec<Test>,
    pub findings: Vec<Finding>,
    pub work: Work,
    /// Where the user wants to know how long tests take.
    pub timing: Option<Timing>,
    /// Why nothing could be done, e.g. a parameter type that cannot be an input yet. All goals are unknown then.
    pub trouble: Option<Trouble>,
    /// An interrupt ended the search, or came before it.
    pub interrupted: bool,
}

/// How long the tests of the longest paths take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Executed by the call under test, with all that it calls; `None` for a test that does not return in time.
    pub instructions: Vec<(TestId, Option<u64>)>,
    /// Why nothing was counted.
    pub trouble: Option<String>,
}

impl Timing {
    /// The first of the tests that execute most.
    pub fn slowest(&self) -> Option<(TestId, u64)> {
        let counted = self.instructions.iter().filter_map(|&(test, count)| Some((test, count?)));
        counted.rev().max_by_key(|(_, count)| *count)
    }
}

/// What kept a whole function from being treated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub what: String,
    /// A fault of Branchwise, not a limit that it knows of.
    pub fault_of_ours: bool,
    /// What the user wrote about the function cannot be used.
    pub fault_of_input: bool,
}

impl Trouble {
    pub(crate) fn of_ours(what: String) -> Self {
        Trouble { what, fault_of_ours: true, fault_of_input: false }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GoalReport {
    pub id: GoalId,
    pub goal: Goal,
    pub verdict: Verdict,
    /// The two evaluations of a decision that show it together, where that is how it is shown.
    pub pair: Option<[String; 2]>,
    /// What was refuted, where a single path could not be taken.
    pub refuted: Option<PathConstraint>,
    /// How many native executions the verdict survived, where it is infeasible and was attacked.
    pub attacked: Option<u64>,
}

/// What an input must satisfy to take a path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathConstraint {
    /// The inputs that it speaks of.
    pub inputs: Vec<String>,
    /// What holds for them whatever the path is.
    pub domain: Vec<String>,
    pub branches: Vec<BranchConstraint>,
    /// How many branches follow that are not listed.
    pub more: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchConstraint {
    /// The outcome that demands it; `None` where no condition of the source does.
    pub event: Option<Event>,
    pub condition: String,
}

/// A test of the minimised suite.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Test {
    pub id: TestId,
    pub case: TestCase,
    pub observation: Observation,
    /// It shows a fault, and C does not say what happens behind that.
    pub undefined: bool,
    /// All that it is kept for lies behind undefined behaviour: it is no part of the suite that must pass.
    pub reproducer: bool,
    pub source: TestSource,
    /// The goals that this test reaches natively.
    pub covers: Vec<GoalId>,
    /// The goals for which it is in the suite: covered by no earlier test of it.
    pub kept_for: Vec<GoalId>,
    /// The decisions it takes (the native trace).
    pub path: Vec<Event>,
    /// How many of them come before the call under test.
    pub before_unit: usize,
    pub constraint: PathConstraint,
}

impl Test {
    /// The decisions from the call under test on.
    pub fn unit_path(&self) -> &[Event] {
        self.path.get(self.before_unit..).unwrap_or_default()
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TestSource {
    /// The first input, before anything was solved.
    Initial,
    Concolic,
}

impl TestSource {
    pub fn name(self) -> &'static str {
        match self {
            TestSource::Initial => "initial",
            TestSource::Concolic => "concolic",
        }
    }
}

/// A bad end with an input that shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    pub place: Option<Place>,
    pub message: String,
    pub case: TestCase,
    /// The test of the suite with this input, where it is one.
    pub test: Option<TestId>,
    pub observation: Option<Observation>,
    pub confirmation: Confirmation,
}

/// Whether something other than our own execution shows a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confirmation {
    /// By the native run or a sanitizer, in its words.
    Confirmed {
        by: String,
    },
    NotConfirmed {
        why: String,
    },
}

impl Default for Confirmation {
    fn default() -> Self {
        Confirmation::NotConfirmed { why: "nobody tried".to_string() }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FindingKind {
    OutOfBounds,
    NullDereference,
    InvalidPointer,
    DivisionByZero,
    SignedOverflow,
    WriteToConstant,
    UninitialisedRead,
    UseAfterReturn,
    UseAfterFree,
    DoubleFree,
    InvalidFree,
    ShiftTooFar,
    /// A float was converted to an integer type that cannot hold it.
    FloatOutOfRange,
    AssertFailed,
    Abort,
    Terminate,
    UncaughtException,
    ExceptionWhileUnwinding,
    PureVirtualCall,
    LeakOnUnwinding,
    DoesNotReturn,
}

impl FindingKind {
    /// As the JSON names it.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::OutOfBounds => "out_of_bounds",
            FindingKind::NullDereference => "null_dereference",
            FindingKind::InvalidPointer => "invalid_pointer",
            FindingKind::DivisionByZero => "division_by_zero",
            FindingKind::SignedOverflow => "signed_overflow",
            FindingKind::WriteToConstant => "write_to_constant",
            FindingKind::UninitialisedRead => "uninitialised_read",
            FindingKind::UseAfterReturn => "use_after_return",
            FindingKind::UseAfterFree => "use_after_free",
            FindingKind::DoubleFree => "double_free",
            FindingKind::InvalidFree => "invalid_free",
            FindingKind::ShiftTooFar => "shift_too_far",
            FindingKind::FloatOutOfRange => "float_out_of_range",
            FindingKind::AssertFailed => "assert_failed",
            FindingKind::Abort => "abort",
            FindingKind::Terminate => "terminate",
            FindingKind::UncaughtException => "uncaught_exception",
            FindingKind::ExceptionWhileUnwinding => "exception_while_unwinding",
            FindingKind::PureVirtualCall => "pure_virtual_call",
            FindingKind::LeakOnUnwinding => "leak_on_unwinding",
            FindingKind::DoesNotReturn => "does_not_return",
        }
    }
}

/// The work done for one unit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Work {
    pub paths: u64,
    pub redundant_tests: u64,
    pub infeasible_prefixes: u64,
    /// Alternatives that cannot affect any goal that others do not.
    pub skipped_alternatives: u64,
    /// Layer name and how many queries it settled, in the order of the chain.
    pub solver_calls: Vec<(String, u64)>,
    pub instructions: u64,
    /// Conditions of faults that were asked for.
    pub fault_queries: u64,
    /// The edges of the control-flow graphs whose outcomes are goals, and the unconstrained ones among them.
    pub edges: u64,
    pub unconstrained_edges: u64,
    /// Goals that the search aimed at first.
    pub aimed: u64,
    pub suite: SuiteWork,
    pub trees: TreeWork,
    pub seconds: f64,
}

/// How the suite was chosen.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteWork {
    /// The tests that it was chosen from.
    pub candidates: u64,
    /// No smaller choice of them covers as much.
    pub smallest: bool,
}

/// What execution trees cost and gave.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeWork {
    pub grown: u64,
    /// Those that a limit kept from having all their ways.
    pub partial: u64,
    /// Ways to goals, and the lines of the program on them, shared ones once.
    pub paths: u64,
    pub lines: u64,
    pub nodes: u64,
    /// Inputs in the conditions of the ways.
    pub symbols: u64,
    /// Conditions of whole trees that the linear layer decided, those that only the chain of solvers did, and those that
    /// nobody did.
    pub linear: u64,
    pub smt: u64,
    pub undecided: u64,
    /// Decided ones that no input satisfies.
    pub refuted: u64,
    /// Inputs that did not come where they were solved to lead.
    pub missed: u64,
}

/// What the native replay measured over all units.
#[derive(Debug, Clone, Default)]
pub struct ReplaySummary {
    /// First line of the compiler's `--version`.
    pub compiler: String,
    /// How native runs were confined; nothing where none was made.
    pub sandbox: Option<Sandbox>,
    /// As llvm-cov counts them in the functions under test.
    pub branch_outcomes: u64,
    /// By the native marker log.
    pub covered: u64,
    pub covered_llvm_cov: u64,
    pub disagreements: Vec<Disagreement>,
}

impl ReplaySummary {
    /// Adds what was measured for another function.
    pub(crate) fn add(&mut self, other: ReplaySummary) {
        self.branch_outcomes += other.branch_outcomes;
        self.covered += other.covered;
        self.covered_llvm_cov += other.covered_llvm_cov;
        self.disagreements.extend(other.disagreements);
    }
}

/// A difference between what was predicted, what ran and what was measured: a bug of ours.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Disagreement {
    pub function: String,
    pub test: Option<TestId>,
    pub what: String,
    /// The input that shows it, where it is none of a test.
    pub case: Option<TestCase>,
}

/// What happens while generation runs; terminal and logs only read these.
#[derive(Debug, Clone)]
pub enum Progress {
    FileLoaded { functions: usize },
    FunctionStarted { name: String, goals: usize },
    GoalsReached { name: String, reached: usize, goals: usize },
    FunctionFinished { name: String, reached: usize, goals: usize },
    Replaying { tests: usize },
}
