//! The loop: goals, search, execution, replay. What it finds comes out as a [`Report`]; how it goes on, as
//! [`Progress`] events.

mod case;
mod confirm;
mod explore;
mod measure;
mod replayed;
mod result;
mod settings;
mod suite;
mod unit;
mod verdicts;

pub use result::*;
pub use settings::{FunctionSettings, Scope, Settings};
pub use unit::{Generation, generate};
