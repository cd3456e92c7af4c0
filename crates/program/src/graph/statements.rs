//! Annex C's own control-flow graph, in which a node is a statement.

use std::collections::{BTreeMap, BTreeSet};

use crate::map::{
    Decision, DecisionKind, Edge, EdgeLabel, Event, Function, Map, Marker, MarkerKind, Node, NodeKind, node_text,
};
use crate::{EdgeId, FunctionId, IdVec, MarkerId, NodeId};

/// The map with annex C's control-flow graphs (2.1.1, `CFG_nodes`): a node for each statement, where the map has one for
/// each leaf condition too. A decision of several conditions is one node with two ways out, as node 10 of figure 1
/// (`c == '\n' || c == '\t' || c == ' '`), and the conditions of a value (`v = a || b`) belong to what uses it. What chooses
/// between expressions (`c ? a : b`) and what a switch does keep their nodes: annexes A and C do not say what these are.
///
/// Conditions stay apart where something between them has a node of its own (`a || (b ? f() : g())`), and where one of them
/// calls what never returns.
///
/// The new nodes have markers of their own, behind those of the map. They are for drawings and numbers: nothing in the code
/// stands for them.
pub fn statement_map(map: &Map) -> Map {
    let mut stated = map.clone();
    for id in map.functions.ids() {
        Contraction::of(&mut stated, id).finish();
    }
    stated
}

struct Contraction<'m> {
    map: &'m mut Map,
    id: FunctionId,
    /// The node that each node is part of.
    whole: IdVec<NodeId, NodeId>,
    /// What belongs to each node that is no part of another.
    parts: IdVec<NodeId, Parts>,
    /// What became of the edges: the label that each has now, `None` for those inside a node.
    labels: IdVec<EdgeId, Option<EdgeLabel>>,
    out: IdVec<NodeId, Vec<EdgeId>>,
    /// The markers of this function, with those of its new nodes.
    markers: Vec<MarkerId>,
}

#[derive(Debug, Default)]
struct Parts {
    nodes: Vec<NodeId>,
    into: Vec<EdgeId>,
    /// Numbers of the function's calls.
    calls: Vec<usize>,
}

/// Where the evaluation of a decision leads.
struct Exits {
    /// Its leaf conditions in the order of their evaluation, those first that are always evaluated.
    nodes: Vec<NodeId>,
    /// The edges that leave it, with its value.
    edges: Vec<(EdgeId, bool)>,
    /// The edges between its conditions.
    inner: Vec<EdgeId>,
}

impl<'m> Contraction<'m> {
    fn of(map: &'m mut Map, id: FunctionId) -> Self {
        let function = &map.functions[id];
        let cfg = &function.cfg;
        let mut out: IdVec<NodeId, Vec<EdgeId>> = cfg.nodes.ids().map(|_| Vec::new()).collect();
        let alone = |node| Parts { nodes: vec![node], ..Parts::default() };
        let mut parts: IdVec<NodeId, Parts> = cfg.nodes.ids().map(alone).collect();
        for (edge, ends) in cfg.edges.iter() {
            out[ends.from].push(edge);
            parts[ends.to].into.push(edge);
        }
        function.calls.iter().enumerate().for_each(|(number, call)| parts[call.node].calls.push(number));
        let whole = cfg.nodes.ids().collect();
        let labels = cfg.edges.values().map(|edge| Some(edge.label)).collect();
        let markers = function.markers.clone();
        let mut contraction = Contraction { map, id, whole, parts, labels, out, markers };
        contraction.join_all();
        contraction
    }

    fn function(&self) -> &Function {
        &self.map.functions[self.id]
    }

    /// A decision inside a condition of another one has to come first, and is not told apart beforehand.
    fn join_all(&mut self) {
        let is_wide = |decision: &Decision| match decision.kind {
            DecisionKind::Switch => false,
            DecisionKind::Value => true,
            _ => decision.formula.leaves().len() > 1,
        };
        let mut left: Vec<Decision> = self.function().decisions.iter().filter(|it| is_wide(it)).cloned().collect();
        loop {
            let before = left.len();
            left.retain(|decision| !self.join(decision));
            if left.len() == before {
                return;
            }
        }
    }

    /// Whether the conditions of a decision are one node now.
    fn join(&mut self, decision: &Decision) -> bool {
        let Some(exits) = self.exits(decision) else { return false };
        match decision.kind {
            DecisionKind::Value => self.join_to_user(&exits),
            _ => self.join_to_decision(decision, &exits),
        }
    }

    /// `None` where something between its conditions has a node of its own, or where one of them ends the run.
    fn exits(&self, decision: &Decision) -> Option<Exits> {
        let leaves = decision.formula.leaves();
        let nodes: Vec<NodeId> = leaves.iter().map(|leaf| self.map.markers[*leaf].node).collect();
        let inside: BTreeSet<NodeId> = nodes.iter().map(|&node| self.whole[node]).collect();
        let mut calls = inside.iter().flat_map(|&node| &self.parts[node].calls);
        if nodes.is_empty() || calls.any(|&call| !self.function().calls[call].returns) {
            return None;
        }
        let mut exits = Exits { nodes, edges: Vec::new(), inner: Vec::new() };
        for (&leaf, &node) in leaves.iter().zip(&exits.nodes) {
            for &edge in &self.out[node] {
                let Edge { to, label: EdgeLabel::Outcome(event), .. } = self.function().cfg.edges[edge] else {
                    continue;
                };
                match decision.formula.value_after(leaf, event.outcome == 1) {
                    Some(value) => exits.edges.push((edge, value)),
                    None if inside.contains(&self.whole[to]) => exits.inner.push(edge),
                    None => return None,
                }
            }
        }
        Some(exits)
    }

    /// `v = a || b`: both values lead to what uses them.
    fn join_to_user(&mut self, exits: &Exits) -> bool {
        let targets: BTreeSet<NodeId> =
            exits.edges.iter().map(|(edge, _)| self.whole[self.function().cfg.edges[*edge].to]).collect();
        let inside: BTreeSet<NodeId> = exits.nodes.iter().map(|&node| self.whole[node]).collect();
        let Some(&user) = targets.first().filter(|user| targets.len() == 1 && !inside.contains(user)) else {
            return false;
        };
        let edges = &self.function().cfg.edges;
        let only_way = self.parts[user].into.iter().all(|edge| inside.contains(&self.whole[edges[*edge].from]));
        self.put_together(&exits.nodes, user, only_way);
        for edge in exits.inner.iter().chain(exits.edges.iter().map(|(edge, _)| edge)) {
            self.labels[*edge] = None;
        }
        true
    }

    /// `if (a || b)`: one node with two ways out.
    fn join_to_decision(&mut self, decision: &Decision, exits: &Exits) -> bool {
        let target = |edge: EdgeId| self.whole[self.function().cfg.edges[edge].to];
        let ways: BTreeSet<(bool, NodeId)> = exits.edges.iter().map(|&(edge, value)| (value, target(edge))).collect();
        if ways.iter().filter(|way| way.0).count() > 1 || ways.iter().filter(|way| !way.0).count() > 1 {
            return false;
        }
        let node = self.whole[exits.nodes[0]];
        self.put_together(&exits.nodes, node, true);
        let text = node_text(&self.map.formula_text(&decision.formula));
        let kind = MarkerKind::Condition { counted: true };
        let (function, place) = (self.id, decision.place);
        let marker = Marker { function, text: text.clone(), place, spelled: place, kind, node };
        let marker = self.map.markers.push(marker);
        self.markers.push(marker);
        self.map.functions[function].cfg.nodes[node] = Node { kind: NodeKind::Condition(marker), place, text };
        exits.inner.iter().for_each(|edge| self.labels[*edge] = None);
        for &(edge, value) in &exits.edges {
            self.labels[edge] = Some(EdgeLabel::Outcome(Event { marker, outcome: u32::from(value) }));
        }
        true
    }

    /// Makes conditions part of a node. What is called behind the first of them, which is `always` evaluated or not, may not
    /// be called at all.
    fn put_together(&mut self, conditions: &[NodeId], node: NodeId, always: bool) {
        for (place, &condition) in conditions.iter().enumerate() {
            let part = self.whole[condition];
            if place > 0 || !always {
                for &call in &self.parts[part].calls {
                    self.map.functions[self.id].calls[call].certain = false;
                }
            }
            if part != node {
                let Parts { nodes, into, calls } = std::mem::take(&mut self.parts[part]);
                nodes.iter().for_each(|&of| self.whole[of] = node);
                self.parts[node].nodes.extend(nodes);
                self.parts[node].into.extend(into);
                self.parts[node].calls.extend(calls);
            }
        }
    }

    /// Numbers what is left.
    fn finish(self) {
        let function = &mut self.map.functions[self.id];
        let cfg = &mut function.cfg;
        let mut nodes = IdVec::new();
        let mut new_node = BTreeMap::new();
        for (id, node) in cfg.nodes.iter().filter(|(id, _)| self.whole[*id] == *id) {
            new_node.insert(id, nodes.push(node.clone()));
        }
        let node = |old: NodeId| new_node[&self.whole[old]];
        let mut edges: IdVec<EdgeId, Edge> = IdVec::new();
        let mut new_edge: BTreeMap<EdgeId, EdgeId> = BTreeMap::new();
        let mut same = BTreeMap::new();
        for (id, edge) in cfg.edges.iter() {
            let Some(label) = self.labels[id] else { continue };
            let edge = Edge { from: node(edge.from), to: node(edge.to), label };
            let event = match label {
                EdgeLabel::Always => None,
                EdgeLabel::Outcome(event) => Some((event.marker, event.outcome)),
            };
            let found = *same.entry((edge.from, edge.to, event)).or_insert_with(|| edges.push(edge));
            new_edge.insert(id, found);
        }
        (cfg.entry, cfg.exit) = (node(cfg.entry), node(cfg.exit));
        (cfg.nodes, cfg.edges) = (nodes, edges);
        for it in &mut function.loops {
            it.head = node(it.head);
            it.back_edges = it.back_edges.iter().filter_map(|edge| new_edge.get(edge).copied()).collect();
            it.back_edges.dedup();
        }
        function.calls.iter_mut().for_each(|call| call.node = node(call.node));
        self.markers.iter().for_each(|&marker| {
            let old = self.map.markers[marker].node;
            self.map.markers[marker].node = node(old);
        });
    }
}
