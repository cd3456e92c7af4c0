//! `branchwise map`: the map of the user's files as text, JSON, DOT and SVG.
//!
//! Each view takes all functions, or the one that is asked for, and gives the same bytes for the same map.

mod abstraction;
mod across;
mod classes;
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
mod tree;
mod words;

use std::borrow::Cow;

use branchwise_program::graph::{Implications, statement_map, unconstrained_edges};
use branchwise_program::map::{Function, Map};
use branchwise_program::{EdgeId, FunctionId, IdVec};

pub use abstraction::abstract_text;
pub use across::{Across, AcrossGraph, NoGraph};
pub use classes::Classes;
pub use dot::dot;
pub use json::json;
pub use svg::svg;
pub use text::text;
pub use tree::{tree_dot, tree_svg, tree_text};

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
    /// The abstract nodes, from each to what it contains.
    Abstract,
}

/// What has a node of its own.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Nodes {
    /// Every statement; the conditions of a decision are one node. So annex C has it.
    Statements,
    /// Every leaf condition too.
    Conditions,
}

/// Which functions a view shows, and which of their edges it marks.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Selection {
    /// `None`: all.
    pub function: Option<FunctionId>,
    /// Mark the edges that are unconstrained in the program instead of those of each function alone.
    pub interprocedural: bool,
    pub nodes: Nodes,
}

impl From<Option<FunctionId>> for Selection {
    fn from(function: Option<FunctionId>) -> Self {
        Selection { function, interprocedural: false, nodes: Nodes::Conditions }
    }
}

impl Selection {
    /// The map whose graphs are shown. Abstract nodes are those of conditions.
    fn shown(self, map: &Map, graph: Graph) -> Cow<'_, Map> {
        match self.nodes {
            Nodes::Statements if graph != Graph::Abstract => Cow::Owned(statement_map(map)),
            _ => Cow::Borrowed(map),
        }
    }

    fn functions(self, map: &Map) -> Vec<(FunctionId, &Function)> {
        map.functions.iter().filter(|(id, _)| self.function.is_none_or(|chosen| chosen == *id)).collect()
    }

    /// Where executions begin: in the function that is asked for, or in `main`, or in every function that no other
    /// calls by name, and then in the first of those that are not reached yet.
    fn roots(self, map: &Map) -> Vec<FunctionId> {
        if let Some(root) = self.function.or_else(|| map.function_named("main")) {
            return vec![root];
        }
        let called = |callee: &str| {
            let mut others = map.functions.values().filter(|function| function.name != callee);
            others.any(|function| function.calls.iter().any(|call| call.callee.as_deref() == Some(callee)))
        };
        let mut roots: Vec<_> =
            map.functions.iter().filter(|(_, function)| !called(&function.name)).map(|(id, _)| id).collect();
        loop {
            let found = Implications::of(map, &roots);
            let reached = |id: FunctionId| found.reachable().iter().any(|edge| edge.function == id);
            match map.functions.ids().find(|&id| !roots.contains(&id) && !reached(id)) {
                Some(unreached) => roots.push(unreached),
                None => return roots,
            }
        }
    }

    /// The edges to mark, of every function in order.
    fn marks(self, map: &Map) -> IdVec<FunctionId, Vec<EdgeId>> {
        if !self.interprocedural {
            return map.functions.values().map(|function| unconstrained_edges(&function.cfg)).collect();
        }
        let mut marks: IdVec<FunctionId, Vec<EdgeId>> = map.functions.ids().map(|_| Vec::new()).collect();
        for edge in Implications::of(map, &self.roots(map)).unconstrained() {
            marks[edge.function].push(edge.edge);
        }
        marks
    }
}
