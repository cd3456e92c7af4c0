//! What the end of a path leaves unexplored.

use branchwise_goals::Bound;
use branchwise_program::code::Location;
use branchwise_search::Position;
use branchwise_symbolic::{FaultKind, PathEnd};

use super::{Budget, Exploration, ObstacleKind, position};

impl Exploration<'_, '_> {
    /// From where the rest is open that the end of a path left unexplored.
    pub(super) fn positions_left_by(
        &self,
        end: &PathEnd,
        positions: &[branchwise_symbolic::Position],
    ) -> Vec<Position> {
        match self.outgrows_a_variable(end) {
            // As no test was made of it, what it reached on its way there is as open as what lies behind.
            true => vec![Position { function: self.session.function, after: None }],
            false => positions.iter().map(position).collect(),
        }
    }

    /// What was left unexplored behind the end of a path.
    pub(super) fn obstacle_at_end(&self, end: &PathEnd, budget: &Budget<'_>) -> Option<ObstacleKind> {
        let cut = |what: String, limit: u64| Some(ObstacleKind::Cut(Bound { what, limit }));
        match end {
            PathEnd::Returned | PathEnd::Exited { .. } | PathEnd::Rejected => None,
            PathEnd::Interrupted => Some(ObstacleKind::OutOfBudget),
            PathEnd::MemoryLimit => Some(ObstacleKind::OutOfMemory { megabytes: budget.settings.memory_megabytes }),
            PathEnd::Fault(fault) if fault.kind == FaultKind::UninitialisedRead => {
                Some(ObstacleKind::Uninitialised { location: fault.location })
            }
            PathEnd::Fault(fault) => fault.assumption.clone().map(ObstacleKind::Assumed),
            PathEnd::LoopBound { location, bound } => cut(format!("iterations of the loop{}", at(*location)), *bound),
            PathEnd::CallDepth { location, bound } => cut(format!("depth of the calls{}", at(*location)), *bound),
            PathEnd::InstructionLimit { bound, .. } => cut("instructions of one path".to_string(), *bound),
            PathEnd::ObjectBound { bound, .. } => cut("bytes of an object that new makes".to_string(), *bound),
            PathEnd::StreamBound { shape: None, bound, .. } => {
                cut("bytes and numbers of standard input".to_string(), *bound)
            }
            PathEnd::StreamBound { shape: Some(shape), bound, .. } => {
                let name = &self.session.inputs.shape(*shape).name;
                cut(format!("bytes and numbers of stream '{name}'"), *bound)
            }
            PathEnd::SizeBound { shape, elements, .. } => {
                cut(format!("elements of '{}'", self.session.inputs.shape(*shape).name), *elements)
            }
            PathEnd::Unsupported { what, location } => {
                Some(ObstacleKind::Unsupported { what: what.clone(), location: *location })
            }
        }
    }
}

fn at(location: Option<Location>) -> String {
    location.map_or(String::new(), |location| format!(" at line {}", location.line))
}
