//! `branchwise map`: the map of the user's files as text, JSON, DOT and SVG.
//!
//! Each view takes all functions, or the one that is asked for, and gives the same bytes for the same map.

mod dot;
#[cfg(test)]
mod fixtures;
mod json;
mod layout;
mod picture;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod words;

use branchwise_program::FunctionId;
use branchwise_program::map::{Function, Map};

pub use dot::dot;
pub use json::json;
pub use svg::svg;
pub use text::text;

/// What a drawing shows.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Graph {
    /// The control-flow graph, straight runs of statements in one box.
    Cfg,
    /// The edge graph: a vertex for each edge of the control-flow graph.
    Edges,
    /// The dominator tree of the edges.
    Dominators,
    /// The post-dominator tree of the edges.
    Postdominators,
}

fn chosen(map: &Map, function: Option<FunctionId>) -> Vec<(FunctionId, &Function)> {
    map.functions.iter().filter(|(id, _)| function.is_none_or(|chosen| chosen == *id)).collect()
}
