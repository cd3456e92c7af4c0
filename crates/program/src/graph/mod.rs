//! Analyses of a control-flow graph, each a value computed from an immutable [`Cfg`](crate::map::Cfg): dominators and
//! post-dominators of nodes and of edges, the edge graph, unconstrained edges (of a function and of a
//! program), the graph in which a node is a statement, control dependence (of a function and across calls), natural loops; and of the code: what outcomes influence.
//!
//! The words are those of Lapierre et al., "Advantages of Unconstrained Edges Analysis to Automatic Test Data
//! Generation" (annex C of Lapierre 1998).

mod control;
mod digraph;
mod dominators;
mod edges;
mod icdg;
mod icfg;
mod influence;
mod interprocedural;
mod loops;
mod order;
#[cfg(test)]
mod program_tests;
mod statements;
mod supergraph;
#[cfg(test)]
mod tests;
mod ways;

pub use control::{
    ControlDependence, EndlessLoops, control_dependence, final_nodes, node_dominators, node_postdominators,
    reachable_nodes,
};
pub use digraph::Digraph;
pub use dominators::{DominatorTree, immediate_dominators};
pub use edges::{EdgeGraph, edge_dominators, edge_graph, edge_postdominators, unconstrained_edges};
pub use icdg::{
    Dependence, Dependences, MOST_VERTICES, decision_graph, each_dependence, interprocedural_dependences,
    intraprocedural_dependences,
};
pub use icfg::{Icfg, IcfgArc, IcfgArcKind, IcfgKind, IcfgVertex};
pub use influence::{CodeIndex, Influence, Interest};
pub use interprocedural::{Implications, ProgramEdge};
pub use loops::{NaturalLoop, back_edges, natural_loops};
pub use order::BlockOrder;
pub use statements::statement_map;
pub use ways::Way;
