//! What a solver says, who said it, and at what cost.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::model::Model;
use crate::terms::TermId;

/// The answer to "is there a model of this conjunction?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Evaluated on the whole query before it is returned.
    Sat(Model),
    Unsat(Evidence),
    Unknown(Reason),
}

impl Answer {
    pub fn model(&self) -> Option<&Model> {
        match self {
            Answer::Sat(model) => Some(model),
            Answer::Unsat(_) | Answer::Unknown(_) => None,
        }
    }

    pub fn is_sat(&self) -> bool {
        matches!(self, Answer::Sat(_))
    }

    pub fn is_unsat(&self) -> bool {
        matches!(self, Answer::Unsat(_))
    }
}

/// Why a conjunction has no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub layer: Layer,
    /// Constraints of the query that already contradict each other, ascending.
    pub core: Vec<TermId>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The wall-clock limit passed; the solver was stopped.
    TimeLimit {
        milliseconds: u64,
    },
    /// The solver's own count of steps passed its limit.
    ResourceLimit {
        steps: u32,
    },
    MemoryLimit {
        megabytes: u64,
    },
    /// The worker process ended in the middle of a query.
    SolverCrashed,
    /// The worker process cannot be started.
    WorkerUnavailable {
        message: String,
    },
    /// A layer gave a model that does not satisfy this constraint: a fault of ours or of the SMT solver.
    ModelRejected {
        layer: Layer,
        constraint: TermId,
    },
    /// A condition on floats, which only the layers before the SMT solver can decide.
    FloatingPoint,
    /// The interrupt flag was raised.
    Interrupted,
    /// The SMT solver gave up in its own words.
    GaveUp {
        message: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::TimeLimit { milliseconds } => {
                write!(f, "the solver passed its limit of {milliseconds} ms")
            }
            Reason::ResourceLimit { steps } => {
                write!(f, "the solver passed its limit of {steps} steps")
            }
            Reason::MemoryLimit { megabytes } => {
                write!(f, "the solver passed its limit of {megabytes} MB")
            }
            Reason::SolverCrashed => write!(f, "the solver process crashed"),
            Reason::WorkerUnavailable { message } => {
                write!(f, "the solver process cannot be started: {message}")
            }
            Reason::ModelRejected { layer, .. } => {
                write!(f, "the model of layer {layer} failed its check")
            }
            Reason::FloatingPoint => write!(f, "a floating-point condition was not decided"),
            Reason::Interrupted => write!(f, "interrupted"),
            Reason::GaveUp { message } => write!(f, "the solver gave up: {message}"),
        }
    }
}

/// The layers of the chain, cheapest first.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum Layer {
    /// A constraint is the constant false, or all are true, or two are complements.
    Constants,
    /// The caller's hint, or a model of an earlier query, satisfies it.
    RecentModels,
    /// The same slice, or a contradictory part of it, was answered before.
    Cache,
    /// Bounds on the terms exclude each other, or the hint moved within them satisfies it.
    Intervals,
    /// The hint satisfies it after a few small changes.
    Repair,
    /// No box of the inputs is left, or a point of one satisfies it.
    Boxes,
    Smt,
    /// A solver that reads SMT-LIB text, where one is installed.
    External,
}

impl Layer {
    pub fn name(self) -> &'static str {
        match self {
            Layer::Constants => "constants",
            Layer::RecentModels => "recent_models",
            Layer::Cache => "cache",
            Layer::Intervals => "intervals",
            Layer::Repair => "repair",
            Layer::Boxes => "boxes",
            Layer::Smt => "smt",
            Layer::External => "external",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An answer and the layer that gave it. For a query of several slices that is the costliest layer among them,
/// or the one that refuted a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    pub answer: Answer,
    pub layer: Layer,
}

impl Solved {
    pub(crate) fn sat(model: Model, layer: Layer) -> Self {
        Self { answer: Answer::Sat(model), layer }
    }

    pub(crate) fn unsat(core: Vec<TermId>, layer: Layer) -> Self {
        Self { answer: Answer::Unsat(Evidence { layer, core }), layer }
    }

    pub(crate) fn unknown(reason: Reason, layer: Layer) -> Self {
        Self { answer: Answer::Unknown(reason), layer }
    }
}

/// Counts since the solver was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Whole queries, by the layer of [`Solved`].
    pub queries: BTreeMap<Layer, u64>,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    /// Calls of the SMT solver, one per slice.
    pub smt_calls: u64,
    pub smt_time: Duration,
    pub slowest_smt_call: Duration,
}

impl Statistics {
    pub fn total(&self) -> u64 {
        self.queries.values().sum()
    }

    pub(crate) fn count(&mut self, solved: &Solved) {
        *self.queries.entry(solved.layer).or_default() += 1;
        match solved.answer {
            Answer::Sat(_) => self.sat += 1,
            Answer::Unsat(_) => self.unsat += 1,
            Answer::Unknown(_) => self.unknown += 1,
        }
    }

    pub(crate) fn count_smt_call(&mut self, time: Duration) {
        self.smt_calls += 1;
        self.smt_time += time;
        self.slowest_smt_call = self.slowest_smt_call.max(time);
    }
}
