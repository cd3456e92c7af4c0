//! What Branchwise tells people and tools: views of its results, each a pure function to text.

pub mod map_view;
