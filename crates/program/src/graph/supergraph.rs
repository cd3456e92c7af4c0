//! The control-flow graphs of a program's functions in one graph, joined at calls.
//!
//! Every node is two vertices, before and after its calls; every edge is a vertex; every call that may come back to
//! its node is a vertex that stands for its completion. An execution that calls and returns goes over that vertex; one
//! that ends inside the callee, or is inside it now, goes from the node to the callee's entry. So no path comes back
//! to another call than it left from.

use std::collections::HashMap;

use super::Digraph;
use crate::map::{EdgeLabel, Function, Map};
use crate::{EdgeId, FunctionId, Id, IdVec, NodeId};

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Callee {
    Here(FunctionId),
    /// Through a pointer, or into code that is not here and may call back: any function, any number of times.
    Anywhere,
}

#[derive(Debug, Copy, Clone)]
pub(super) struct Call {
    pub callee: Callee,
    /// The vertex of its completion. None in a node that also calls what never returns: which comes first is not known.
    pub completion: Option<usize>,
    /// Whoever passes the node makes it.
    pub certain: bool,
}

/// The vertices of one function.
pub(super) struct Part {
    first: usize,
    nodes: usize,
    pub entry: NodeId,
    pub exit: NodeId,
    /// By node: the calls that matter here.
    pub calls: Vec<Vec<Call>>,
    /// By node: it calls something that never returns, so that the run ends behind it.
    pub ends: Vec<bool>,
}

impl Part {
    pub fn before(&self, node: NodeId) -> usize {
        self.first + 2 * node.index()
    }

    pub fn after(&self, node: NodeId) -> usize {
        self.before(node) + 1
    }

    pub fn edge(&self, edge: EdgeId) -> usize {
        self.first + 2 * self.nodes + edge.index()
    }
}

pub(super) struct Supergraph<'m> {
    pub map: &'m Map,
    pub parts: IdVec<FunctionId, Part>,
    /// The number of vertices of all functions.
    pub vertices: usize,
    /// Whether a path leads from a function's entry to its exit, over calls that return.
    pub returns: IdVec<FunctionId, bool>,
    /// By vertex: reached from its function's entry, over calls that return.
    within: Vec<bool>,
    /// The arcs inside functions, over calls that return.
    pub own: Vec<(usize, usize)>,
    /// Whether a run that enters the function may never leave it: it ends the program, or loops for ever.
    pub keeps: IdVec<FunctionId, bool>,
}

impl<'m> Supergraph<'m> {
    pub fn of(map: &'m Map) -> Self {
        let by_name: HashMap<&str, FunctionId> =
            map.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
        let mut vertices = 0;
        let mut parts = IdVec::new();
        for function in map.functions.values() {
            parts.push(part(map, &by_name, function, &mut vertices));
        }
        let none = || map.functions.ids().map(|_| false).collect();
        let (returns, keeps) = (none(), none());
        let mut graph =
            Supergraph { map, parts, vertices, returns, within: vec![false; vertices], own: Vec::new(), keeps };
        graph.find_returns();
        graph.find_keepers();
        graph
    }

    pub fn function_parts(&self) -> impl Iterator<Item = (FunctionId, &'m Function, &Part)> {
        self.map.functions.iter().map(|(id, function)| (id, function, &self.parts[id]))
    }

    pub fn may_keep(&self, callee: Callee) -> bool {
        match callee {
            Callee::Here(function) => self.keeps[function] || !self.returns[function],
            Callee::Anywhere => self.keeps.values().any(|keeps| *keeps),
        }
    }

    /// The arcs inside functions, each with the call that must return for it.
    fn own_arcs(&self) -> Vec<(usize, usize, Option<FunctionId>)> {
        let mut arcs = Vec::new();
        for (_, function, part) in self.function_parts() {
            for node in function.cfg.nodes.ids() {
                // Where a run can be before the next call: at the last one that it made.
                let mut at = vec![part.before(node)];
                for call in &part.calls[node.index()] {
                    let Some(completion) = call.completion else { continue };
                    let awaited = match call.callee {
                        Callee::Here(callee) => Some(callee),
                        Callee::Anywhere => None,
                    };
                    arcs.extend(at.iter().map(|&at| (at, completion, awaited)));
                    at.retain(|_| !call.certain);
                    at.push(completion);
                }
                arcs.extend(at.iter().map(|&at| (at, part.after(node), None)));
            }
            for (id, edge) in function.cfg.edges.iter() {
                let ends = part.ends[edge.from.index()];
                if !ends || edge.label == EdgeLabel::Always {
                    arcs.push((part.after(edge.from), part.edge(id), None));
                }
                if !ends {
                    arcs.push((part.edge(id), part.before(edge.to), None));
                }
            }
        }
        arcs
    }

    /// From all entries at once; an arc that awaits a return is followed when the callee's exit has been reached.
    fn find_returns(&mut self) {
        let arcs = self.own_arcs();
        let graph = Digraph::new(self.vertices, &arcs.iter().map(|arc| (arc.0, arc.1)).collect::<Vec<_>>());
        let awaited: HashMap<usize, FunctionId> = arcs.iter().filter_map(|arc| Some((arc.1, arc.2?))).collect();
        let exits: HashMap<usize, FunctionId> =
            self.parts.iter().map(|(id, part)| (part.after(part.exit), id)).collect();
        let mut waiting: IdVec<FunctionId, Vec<usize>> = self.parts.ids().map(|_| Vec::new()).collect();
        let mut open: Vec<usize> = self.parts.values().map(|part| part.before(part.entry)).collect();
        while let Some(vertex) = open.pop() {
            if std::mem::replace(&mut self.within[vertex], true) {
                continue;
            }
            if let Some(&function) = exits.get(&vertex) {
                self.returns[function] = true;
                open.append(&mut waiting[function]);
            }
            for &next in graph.successors(vertex) {
                match awaited.get(&next) {
                    Some(&callee) if !self.returns[callee] => waiting[callee].push(next),
                    _ => open.push(next),
                }
            }
        }
        let passable = |arc: &&(usize, usize, Option<FunctionId>)| arc.2.is_none_or(|callee| self.returns[callee]);
        self.own = arcs.iter().filter(passable).map(|arc| (arc.0, arc.1)).collect();
    }

    /// A function keeps a run if some vertex of it does not lead to its exit, or if it calls one that does.
    fn find_keepers(&mut self) {
        let root = self.vertices;
        let exits = self.parts.values().map(|part| (root, part.after(part.exit)));
        let turned: Vec<_> = self.own.iter().map(|&(from, to)| (to, from)).chain(exits).collect();
        let leads_out = Digraph::new(root + 1, &turned).reachable_from(root);
        let mut callers: IdVec<FunctionId, Vec<FunctionId>> = self.parts.ids().map(|_| Vec::new()).collect();
        let mut anywhere = Vec::new();
        let mut open = Vec::new();
        for (id, function, part) in self.function_parts() {
            let end = part.first + 2 * part.nodes + function.cfg.edges.len();
            if (part.first..end).any(|vertex| self.within[vertex] && !leads_out[vertex]) {
                open.push(id);
            }
            for node in function.cfg.nodes.ids().filter(|&node| self.within[part.before(node)]) {
                for call in &part.calls[node.index()] {
                    match call.callee {
                        Callee::Here(callee) => callers[callee].push(id),
                        Callee::Anywhere => anywhere.push(id),
                    }
                }
            }
        }
        while let Some(function) = open.pop() {
            if !std::mem::replace(&mut self.keeps[function], true) {
                open.append(&mut callers[function]);
                open.append(&mut anywhere);
            }
        }
    }
}

fn part(map: &Map, by_name: &HashMap<&str, FunctionId>, function: &Function, vertices: &mut usize) -> Part {
    let cfg = &function.cfg;
    let (first, nodes) = (*vertices, cfg.nodes.len());
    let mut completion = first + 2 * nodes + cfg.edges.len();
    let mut calls = vec![Vec::new(); nodes];
    let mut ends = vec![false; nodes];
    function.calls.iter().for_each(|call| ends[call.node.index()] |= !call.returns);
    for call in &function.calls {
        let returns = !ends[call.node.index()];
        let callee = match call.callee.as_deref() {
            Some(name) => match by_name.get(name) {
                Some(&here) => Some(Callee::Here(here)),
                None => (!map.closed_functions.contains(name)).then_some(Callee::Anywhere),
            },
            None => Some(Callee::Anywhere),
        };
        if let Some(callee) = callee {
            calls[call.node.index()].push(Call {
                callee,
                completion: returns.then_some(completion),
                certain: call.certain,
            });
            completion += usize::from(returns);
        }
    }
    *vertices = completion;
    Part { first, nodes, entry: cfg.entry, exit: cfg.exit, calls, ends }
}
