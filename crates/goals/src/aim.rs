//! Which outcomes a search has to aim at so that tests cover all.

use std::collections::BTreeSet;

use branchwise_program::graph::{Implications, ProgramEdge, edge_dominators, edge_postdominators, unconstrained_edges};
use branchwise_program::map::{Cfg, EdgeLabel, Event, Map};
use branchwise_program::{EdgeId, FunctionId};

/// The outcomes that are unconstrained edges: whoever takes them takes all others too, as far as the graphs say. An
/// outcome is implied only for runs that end, and may be feasible where what implies it is not: this is what to try
/// first, not what there is to reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aim {
    /// The edges that can be reached.
    pub edges: usize,
    pub unconstrained_edges: usize,
    pub outcomes: BTreeSet<Event>,
}

impl Aim {
    /// For the edges of one function, whatever calls it.
    pub fn in_function(map: &Map, function: FunctionId) -> Self {
        let cfg = &map.functions[function].cfg;
        let (dominators, postdominators) = (edge_dominators(cfg), edge_postdominators(cfg));
        let unconstrained = unconstrained_edges(cfg);
        // The edges that imply it and are implied by it are those right above it in the tree of dominators.
        let of_class = |&last: &EdgeId| {
            let above = std::iter::successors(Some(last), |&edge| dominators.immediate(edge));
            let mut class = above.take_while(|&edge| postdominators.dominates(last, edge));
            class.find_map(|edge| outcome(cfg, edge))
        };
        let outcomes = unconstrained.iter().filter_map(of_class).collect();
        Aim { edges: dominators.ids().count(), unconstrained_edges: unconstrained.len(), outcomes }
    }

    /// For the edges of everything that a function can reach.
    pub fn in_program(map: &Map, root: FunctionId) -> Self {
        let implications = Implications::of(map, &[root]);
        let classes = implications.unconstrained_classes();
        let of_class = |class: &Vec<ProgramEdge>| {
            class.iter().rev().find_map(|edge| outcome(&map.functions[edge.function].cfg, edge.edge))
        };
        Aim {
            edges: implications.reachable().len(),
            unconstrained_edges: classes.len(),
            outcomes: classes.iter().filter_map(of_class).collect(),
        }
    }
}

fn outcome(cfg: &Cfg, edge: EdgeId) -> Option<Event> {
    match cfg.edges[edge].label {
        EdgeLabel::Outcome(event) => Some(event),
        EdgeLabel::Always => None,
    }
}
