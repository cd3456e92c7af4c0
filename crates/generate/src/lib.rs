//! The loop: goals, search, execution, replay. What it finds comes out as a [`Report`]; how it goes on, as
//! [`Progress`] events.

mod alarm;
mod attack;
mod case;
mod conclude;
mod confirm;
mod deadline;
mod drawing;
mod effects;
mod explore;
mod footprint;
mod goal_tree;
mod hosts;
mod measure;
mod replayed;
mod result;
mod settings;
mod stream_text;
mod suite;
mod timing;
mod unit;
mod verdicts;
mod wanted;

pub use branchwise_constraints::Workers;
pub use branchwise_search::Routes;
pub use branchwise_symbolic::Undefined;
pub use case::test_case;
pub use conclude::{UnitReport, conclude, conclude_at_once};
pub use drawing::{Drawing, Random};
pub use goal_tree::{DrawnNode, DrawnWay, GoalTrees, TreeDrawing};
pub use replayed::disagreement;
pub use result::*;
pub use settings::{AimAt, FindingsMode, FunctionSettings, Scope, Settings, Strategy};
pub use timing::is_on_longest_paths;
pub use unit::{Subject, Workplace};
pub use wanted::{WantedGoals, WantedPlace};
