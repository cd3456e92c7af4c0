//! Pieces that several tests use.

pub mod case;
pub mod csmith;
pub mod facts;
pub mod fixture;
pub mod folder;
pub mod goals;
pub mod golden;
pub mod judge;
pub mod load;
pub mod native;
pub mod random_c;
pub mod random_inputs;
pub mod reading;
pub mod schema;
pub mod share;
pub mod surroundings;
pub mod tool;
pub mod tree;
