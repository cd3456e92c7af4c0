//! What people and programs read: the table on the terminal, the results as data, the emitted test code, and the stored suite.
//!
//! This crate only reads what generation found; it runs nothing and decides no verdict.

mod edit_distance;
mod emit;
mod explain;
mod file_report;
mod findings;
mod journal;
mod json_values;
mod layout;
pub mod map_view;
mod published;
mod results;
mod standing;
mod suite;
mod suite_data;
mod terminal;
mod values;
mod whole;

pub use edit_distance::did_you_mean;
pub use emit::{EmittedFile, emit_c, emit_gtest};
pub use explain::{ExplainError, explain};
pub use file_report::{FileReport, LinkedSource, Totals, keeps_state};
pub use journal::{Entry, Fingerprint, JOURNAL, Journal, Key, Recovered};
pub use results::{results, sandbox_results};
pub use standing::place_of;
pub use suite::{EmitFormat, Origin, SuiteError, WrittenSuite, link_in, write_suite};
pub use suite_data::{StoredFile, StoredFunction, StoredTest, Suite};
pub use terminal::{ProgressView, Style, TableTime, summary};
pub use whole::remove_unfinished;
