//! Definitions of variables and the uses that they can reach in the graph of their function.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_program::map::{Access, EdgeLabel, Event, Function, Map, NodeKind};
use branchwise_program::{FunctionId, Id, NodeId};

/// A definition that some way of the graph leads from to a use, without another definition of the variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub variable: u32,
    pub definition: NodeId,
    pub usage: Usage,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Usage {
    /// A computation.
    Node(NodeId),
    /// A condition, with this outcome.
    Outcome(Event),
}

/// The pairs of one function, in the order of variables, definitions and uses.
pub(crate) fn pairs(map: &Map, id: FunctionId) -> Vec<Pair> {
    let function = &map.functions[id];
    let Some(accesses) = map.accesses.get(&id) else { return Vec::new() };
    let reached = function.cfg.reached_from_entry();
    let mut successors: Vec<Vec<NodeId>> = vec![Vec::new(); function.cfg.nodes.len()];
    for edge in function.cfg.edges.values() {
        successors[edge.from.index()].push(edge.to);
    }
    let mut pairs = Vec::new();
    for variable in 0..accesses.variables.len() as u32 {
        let of_variable: BTreeMap<NodeId, Access> =
            accesses.all.iter().filter(|access| access.variable == variable).map(|&it| (it.node, it)).collect();
        let definitions = of_variable.values().filter(|access| access.defines && reached[access.node.index()]);
        for definition in definitions.map(|access| access.node) {
            let uses = uses_behind(definition, &successors, &of_variable);
            let usages = uses.into_iter().flat_map(|node| usages(function, node));
            pairs.extend(usages.map(|usage| Pair { variable, definition, usage }));
        }
    }
    pairs
}

/// The nodes that use a variable behind a definition and before the next one.
fn uses_behind(
    definition: NodeId,
    successors: &[Vec<NodeId>],
    accesses: &BTreeMap<NodeId, Access>,
) -> BTreeSet<NodeId> {
    let (mut uses, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut open = successors[definition.index()].clone();
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        let access = accesses.get(&node).copied().unwrap_or_default();
        if access.uses {
            uses.insert(node);
        }
        if !access.defines {
            open.extend(&successors[node.index()]);
        }
    }
    uses
}

fn usages(function: &Function, node: NodeId) -> Vec<Usage> {
    if matches!(function.cfg.nodes[node].kind, NodeKind::Condition(_) | NodeKind::Switch(_) | NodeKind::Handler(_)) {
        let outcome = |label| match label {
            EdgeLabel::Outcome(event) => Some(Usage::Outcome(event)),
            EdgeLabel::Always => None,
        };
        let edges = function.cfg.edges.values().filter(|edge| edge.from == node);
        let mut outcomes: Vec<Usage> = edges.filter_map(|edge| outcome(edge.label)).collect();
        outcomes.sort();
        return outcomes;
    }
    vec![Usage::Node(node)]
}
