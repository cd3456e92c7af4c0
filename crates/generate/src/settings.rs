//! What a run may spend.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use branchwise_constraints::{ExternalSolver, Layer, QueryLog};
use branchwise_goals::Criterion;
use branchwise_program::assumption::Accepted;
use branchwise_symbolic::Undefined;

use crate::wanted::WantedGoals;

/// Limits and choices of a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Time for each function.
    pub time: Duration,
    /// Paths executed and prefixes refuted for each function; `None`: time alone decides. With a step limit the same
    /// seed gives the same result.
    pub steps: Option<u64>,
    pub seed: u64,
    /// Values of the input whose path is the first, by the names that C gives them: `x`, `a[1]`, `*p`. What it does not name
    /// is zero, and arrays have as many elements as it names.
    pub seed_test: Vec<(String, i128)>,
    /// Memory for each function.
    pub memory_megabytes: u64,
    /// The program that serves as SMT worker; `None`: solve in this process.
    pub worker: Option<PathBuf>,
    /// Another solver, for conditions that are still undecided when nothing else is left to do.
    pub external_solver: Option<ExternalSolver>,
    /// Layers of the solver that are left out.
    pub without: Vec<Layer>,
    /// Where the solver's queries are written to.
    pub query_log: Option<Arc<QueryLog>>,
    pub interrupt: Arc<AtomicBool>,
    pub scope: Scope,
    /// What tests shall cover.
    pub criteria: Vec<Criterion>,
    /// The only goals among these, in whatever the function runs.
    pub wanted: WantedGoals,
    pub findings: FindingsMode,
    pub undefined: Undefined,
    pub strategy: Strategy,
    pub aim: AimAt,
    /// The instructions of tests of longest paths are counted.
    pub measure: bool,
    /// Prefixes whose alternatives cannot affect any open goal are not explored.
    pub data_dependence: bool,
    /// How often the ways of execution trees may repeat a decision.
    pub k: u32,
    /// Assumptions that are preconditions of every verdict.
    pub accepted: Accepted,
    /// The share of a function's time, in percent, in which its outcomes that are called infeasible are attacked.
    pub attack: f64,
    /// What single functions may spend instead, by name.
    pub functions: BTreeMap<String, FunctionSettings>,
}

/// What one function may spend, where it differs from the others.
#[derive(Debug, Copy, Clone, Default, PartialEq)]
pub struct FunctionSettings {
    pub time: Option<Duration>,
    pub steps: Option<u64>,
    pub seed: Option<u64>,
    pub strategy: Option<Strategy>,
}

impl Settings {
    /// The settings of one function. A time of its own is a budget instead of steps for all.
    pub(crate) fn of_function(&self, name: &str) -> Settings {
        let mut settings = Settings { functions: BTreeMap::new(), ..self.clone() };
        if let Some(own) = self.functions.get(name) {
            settings.time = own.time.unwrap_or(self.time);
            settings.steps = own.steps.or(if own.time.is_some() { None } else { self.steps });
            settings.seed = own.seed.unwrap_or(self.seed);
            settings.strategy = own.strategy.unwrap_or(self.strategy);
        }
        settings
    }
}

/// Whose goals a unit under test has.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
pub enum Scope {
    /// Its own; its callees run along.
    #[default]
    Unit,
    /// Its own and those of every function that it can reach.
    Reachable,
}

impl Scope {
    /// Returns the name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Unit => "unit",
            Scope::Reachable => "reachable",
        }
    }
}

/// How ways through a function are chosen.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
pub enum Strategy {
    /// One path after the other, and all ways at once where that does not get on.
    #[default]
    Hybrid,
    /// A tree of the short ways to each goal first, then as hybrid for what these leave.
    Tree,
    /// One path after the other.
    Concolic,
    /// One path after the other, along the decision graphs of the goals.
    Dependence,
    /// One path after the other, the latest alternative first, whether a goal can follow it or not: what others are compared
    /// with.
    DepthFirst,
}

impl Strategy {
    /// Returns the name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Hybrid => "hybrid",
            Strategy::Tree => "tree",
            Strategy::Concolic => "concolic",
            Strategy::Dependence => "dependence",
            Strategy::DepthFirst => "depth-first",
        }
    }

    /// Nothing but single paths.
    pub(crate) fn is_path_by_path(self) -> bool {
        matches!(self, Strategy::Concolic | Strategy::Dependence | Strategy::DepthFirst)
    }
}

/// Which goals are tried first. All get their verdict.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
pub enum AimAt {
    /// Those that are unconstrained edges: reaching them reaches the others on the way.
    Unconstrained,
    #[default]
    All,
}

impl AimAt {
    /// Returns the name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            AimAt::Unconstrained => "unconstrained",
            AimAt::All => "all",
        }
    }
}

/// What is done about bad ends and undefined behaviour.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
pub enum FindingsMode {
    /// They are not listed.
    None,
    /// Those that inputs show which were made for goals.
    Met,
    /// They are looked for as well.
    #[default]
    Search,
}

impl FindingsMode {
    /// Returns the name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            FindingsMode::None => "none",
            FindingsMode::Met => "met",
            FindingsMode::Search => "search",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            time: Duration::from_secs(10),
            steps: None,
            seed: 0,
            seed_test: Vec::new(),
            memory_megabytes: 1024,
            worker: None,
            external_solver: None,
            without: Vec::new(),
            query_log: None,
            interrupt: Arc::default(),
            scope: Scope::Unit,
            criteria: vec![Criterion::Branch],
            wanted: WantedGoals::default(),
            findings: FindingsMode::Search,
            undefined: Undefined::default(),
            strategy: Strategy::Hybrid,
            aim: AimAt::default(),
            measure: false,
            data_dependence: true,
            k: 2,
            accepted: Accepted::default(),
            attack: 3.0,
            functions: BTreeMap::new(),
        }
    }
}

/// A test with more calls than this is none that people read.
const MOST_CALLS: u32 = 64;

/// Bounds on the shape of paths and inputs. They grow from round to round.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub loop_iterations: u64,
    pub pointer_elements: u64,
    pub instructions: u64,
    pub call_depth: u64,
    /// Calls of one test, the one under test included.
    pub calls: u32,
    /// Calls on an object that a test gives, before anybody else sees it.
    pub object_calls: u32,
    /// Bytes and numbers of standard input.
    pub standard_input: u64,
}

impl Bounds {
    pub(crate) const FIRST: Bounds = Bounds {
        loop_iterations: 8,
        pointer_elements: 8,
        instructions: 500_000,
        call_depth: 64,
        calls: 1,
        object_calls: 0,
        standard_input: 16,
    };

    /// What can be followed to all ends where nothing larger can.
    pub(crate) const LEAST: Bounds =
        Bounds { loop_iterations: 4, pointer_elements: 2, standard_input: 2, ..Bounds::FIRST };

    /// Small ones for a round in which arguments may lead into each other.
    pub(crate) fn for_other_ways(self) -> Bounds {
        Bounds { calls: self.calls, object_calls: self.object_calls.min(2), ..Bounds::LEAST }
    }

    /// Twice as much of everything, up to what one machine can do.
    pub(crate) fn grown(self) -> Bounds {
        Bounds {
            loop_iterations: (self.loop_iterations * 2).min(1 << 16),
            pointer_elements: (self.pointer_elements * 2).min(1 << 10),
            instructions: (self.instructions * 4).min(32_000_000),
            call_depth: (self.call_depth * 2).min(1 << 12),
            standard_input: (self.standard_input * 2).min(1 << 12),
            ..self
        }
    }

    /// Larger inputs and more iterations, as some growing would give, on paths of no more instructions.
    pub(crate) fn far(self) -> Bounds {
        Bounds { instructions: self.instructions, ..self.grown().grown().grown() }
    }

    /// Longer sequences of calls, half as long again.
    pub(crate) fn with_more_calls(self) -> Bounds {
        Bounds { calls: (self.calls + self.calls.div_ceil(2)).min(MOST_CALLS), ..self }
    }

    /// The same for calls on objects: 0, 1, 2, 3, 5, 8 and so on.
    pub(crate) fn with_more_object_calls(self) -> Bounds {
        Bounds { object_calls: (self.object_calls + self.object_calls.div_ceil(2).max(1)).min(MOST_CALLS), ..self }
    }
}
