//! Random programs with surroundings, and environments that do whatever the language lets them do.

pub mod classes;
pub mod environment;
pub mod judged;
pub mod unit;
