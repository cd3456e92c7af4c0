//! The interprocedural control-flow graph of a function and of all it calls, with the words of Sy and Deville 2003: a call
//! is two vertices, one before and one after it; a decision is one predicate, whatever its conditions; everything begins at
//! one vertex and ends at one.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{EndlessLoops, final_nodes, reachable_nodes};
use crate::map::{EdgeLabel, Event, Formula, Function, Map, Node, NodeKind};
use crate::{FunctionId, Id, MarkerId, NodeId};

/// Numbers of vertices count from 0; people's from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Icfg {
    pub vertices: Vec<IcfgVertex>,
    pub arcs: Vec<IcfgArc>,
    /// Of each function, in the order of first calls: its entry and its exit, its first vertex and its last.
    pub functions: Vec<(FunctionId, usize, usize)>,
    places: HashMap<FunctionId, usize>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct IcfgVertex {
    pub kind: IcfgKind,
    /// `None` for the global entry and exit. Of a decision the node of its first condition.
    pub node: Option<(FunctionId, NodeId)>,
    /// The number of the decision, in its function, that the predicate stands for with all its conditions.
    pub decision: Option<usize>,
}

impl IcfgVertex {
    fn new(kind: IcfgKind, node: Option<(FunctionId, NodeId)>) -> Self {
        IcfgVertex { kind, node, decision: None }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum IcfgKind {
    GlobalEntry,
    GlobalExit,
    Entry,
    Exit,
    Statement,
    /// A condition, a decision or a switch; its arcs have labels.
    Predicate,
    /// Before a call; behind it is the vertex with this number.
    Call {
        callee: FunctionId,
        back: usize,
    },
    /// After a call.
    Return,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IcfgArc {
    pub from: usize,
    pub to: usize,
    pub kind: IcfgArcKind,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum IcfgArcKind {
    Flow,
    /// An outcome of a predicate: 0 and 1 are false and true, except of a switch, where it is the number of the label.
    Outcome(u32),
    Call,
    Return,
    /// `exit()` and the like.
    Halt,
    /// Nowhere but into an endless loop: as good an end as any.
    Endless,
}

impl Icfg {
    /// Of `root` and what it calls, directly or through others, by name.
    pub fn of(map: &Map, root: FunctionId) -> Self {
        let by_name: HashMap<&str, FunctionId> =
            map.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
        let order = order_of_first_calls(map, &by_name, root);
        let mut builder = Builder { map, by_name, vertices: Vec::new(), arcs: Vec::new(), functions: Vec::new() };
        builder.vertices.push(IcfgVertex::new(IcfgKind::GlobalEntry, None));
        let parts: Vec<Part> = order.iter().map(|&function| builder.add_vertices(function)).collect();
        let exit = builder.vertices.len();
        builder.vertices.push(IcfgVertex::new(IcfgKind::GlobalExit, None));
        for (function, part) in order.iter().zip(&parts) {
            builder.add_arcs(*function, part, exit);
        }
        builder.add_calls();
        let (_, first, last) = builder.functions[0];
        builder.arc(0, first, IcfgArcKind::Flow);
        builder.arc(last, exit, IcfgArcKind::Flow);
        let mut arcs = builder.arcs;
        arcs.sort();
        arcs.dedup();
        let functions = builder.functions;
        let places = functions.iter().enumerate().map(|(place, (function, ..))| (*function, place)).collect();
        Icfg { vertices: builder.vertices, arcs, functions, places }
    }

    /// The place of a function in the order of first calls.
    pub fn place_of(&self, function: FunctionId) -> Option<usize> {
        self.places.get(&function).copied()
    }

    /// The names that people see: numbers from 1, the same for what is before and after a call, with `a` and `b`.
    pub fn names(&self) -> Vec<String> {
        let mut number = 0;
        let name = |vertex: &IcfgVertex| {
            number += u32::from(vertex.kind != IcfgKind::Return);
            match vertex.kind {
                IcfgKind::Call { .. } => format!("{number}a"),
                IcfgKind::Return => format!("{number}b"),
                _ => number.to_string(),
            }
        };
        self.vertices.iter().map(name).collect()
    }

    /// The arcs that leave each vertex.
    pub fn successors(&self) -> Vec<Vec<IcfgArc>> {
        let mut successors = vec![Vec::new(); self.vertices.len()];
        for arc in &self.arcs {
            successors[arc.from].push(*arc);
        }
        successors
    }

    /// Every outcome with the predicate that it belongs to and the predicate's value then; `None` where more conditions of
    /// it follow.
    pub fn outcomes(&self, map: &Map) -> BTreeMap<Event, (usize, Option<u32>)> {
        let mut outcomes = BTreeMap::new();
        let predicates = self.vertices.iter().enumerate().filter(|(_, vertex)| vertex.kind == IcfgKind::Predicate);
        for (index, vertex) in predicates {
            let Some((function, node)) = vertex.node else { continue };
            let of_function = &map.functions[function];
            let formula = vertex.decision.map(|number| &of_function.decisions[number].formula);
            let markers = match (formula, of_function.cfg.nodes[node].kind) {
                (Some(formula), _) => formula.leaves(),
                (None, NodeKind::Condition(marker) | NodeKind::Switch(marker) | NodeKind::Handler(marker)) => {
                    vec![marker]
                }
                _ => Vec::new(),
            };
            for (marker, outcome) in
                markers.iter().flat_map(|&marker| (0..map.markers[marker].outcomes()).map(move |it| (marker, it)))
            {
                let value = match formula {
                    Some(formula) => outcome_behind(formula, marker, outcome == 1).map(u32::from),
                    None => Some(outcome),
                };
                outcomes.insert(Event { marker, outcome }, (index, value));
            }
        }
        outcomes
    }

    /// The vertices of a statement, decision or call on this line, of `root` first.
    pub fn on_line(&self, map: &Map, line: u32) -> Vec<usize> {
        let is_there = |vertex: &IcfgVertex| {
            vertex.node.is_some_and(|(function, node)| map.functions[function].cfg.nodes[node].place.line == line)
        };
        (0..self.vertices.len()).filter(|&vertex| is_there(&self.vertices[vertex])).collect()
    }
}

/// The functions that `root` reaches by calls, each before those that it calls first.
fn order_of_first_calls(map: &Map, by_name: &HashMap<&str, FunctionId>, root: FunctionId) -> Vec<FunctionId> {
    let (mut order, mut waiting) = (Vec::new(), vec![root]);
    let mut seen = HashSet::new();
    while let Some(function) = waiting.pop() {
        if !seen.insert(function) {
            continue;
        }
        order.push(function);
        let callees = map.functions[function].calls.iter().filter_map(|call| call.callee.as_deref());
        waiting.extend(callees.filter_map(|name| by_name.get(name)).rev());
    }
    order
}

/// The vertices of one function.
struct Part {
    /// By node: where ways come in and where they go on. `None` for what has no vertex of its own.
    ends: Vec<Option<(usize, usize)>>,
    /// By node: the decision that its condition belongs to, where that is one predicate.
    decision: Vec<Option<Whole>>,
    /// By node: the program ends here.
    halts: Vec<bool>,
}

/// A decision that is one predicate: its number, and the node of its first condition.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
struct Whole {
    number: usize,
    first: NodeId,
}

struct Builder<'m> {
    map: &'m Map,
    by_name: HashMap<&'m str, FunctionId>,
    vertices: Vec<IcfgVertex>,
    arcs: Vec<IcfgArc>,
    functions: Vec<(FunctionId, usize, usize)>,
}

impl Builder<'_> {
    fn arc(&mut self, from: usize, to: usize, kind: IcfgArcKind) {
        self.arcs.push(IcfgArc { from, to, kind });
    }

    fn add_vertices(&mut self, id: FunctionId) -> Part {
        let function = &self.map.functions[id];
        let (cfg, reachable) = (&function.cfg, reachable_nodes(&function.cfg));
        let (calls, halts) = self.calls(function);
        let decision = collapsed(function, &calls);
        let mut ends = vec![None; cfg.nodes.len()];
        let inner = cfg.nodes.ids().filter(|&node| node != cfg.entry && node != cfg.exit && reachable[node]);
        for node in [cfg.entry].into_iter().chain(inner).chain([cfg.exit]) {
            if decision[node.index()].is_some_and(|whole| whole.first != node) {
                continue;
            }
            let first = self.vertices.len();
            for &callee in &calls[node.index()] {
                let back = self.vertices.len() + 1;
                self.vertices.push(IcfgVertex::new(IcfgKind::Call { callee, back }, Some((id, node))));
                self.vertices.push(IcfgVertex::new(IcfgKind::Return, Some((id, node))));
            }
            let kind = match cfg.nodes[node].kind {
                _ if node == cfg.entry => Some(IcfgKind::Entry),
                _ if node == cfg.exit => Some(IcfgKind::Exit),
                NodeKind::Condition(_) | NodeKind::Switch(_) | NodeKind::Handler(_) => Some(IcfgKind::Predicate),
                _ => (self.vertices.len() == first).then_some(IcfgKind::Statement),
            };
            let decision = decision[node.index()].map(|whole| whole.number);
            self.vertices.extend(kind.map(|kind| IcfgVertex { kind, node: Some((id, node)), decision }));
            ends[node.index()] = Some((first, self.vertices.len() - 1));
        }
        let vertex = |node: NodeId| ends[node.index()].map_or(0, |(first, _)| first);
        let (entry, exit) = (vertex(cfg.entry), vertex(cfg.exit));
        self.functions.push((id, entry, exit));
        Part { ends, decision, halts }
    }

    /// By node: the functions that it calls, in order, and whether it calls something else that never returns.
    fn calls(&self, function: &Function) -> (Vec<Vec<FunctionId>>, Vec<bool>) {
        let nodes = function.cfg.nodes.len();
        let (mut calls, mut halts) = (vec![Vec::new(); nodes], vec![false; nodes]);
        for call in &function.calls {
            match call.callee.as_deref().and_then(|name| self.by_name.get(name)) {
                Some(&callee) => calls[call.node.index()].push(callee),
                None => halts[call.node.index()] |= !call.returns,
            }
        }
        (calls, halts)
    }

    fn add_arcs(&mut self, id: FunctionId, part: &Part, global_exit: usize) {
        let function = &self.map.functions[id];
        let cfg = &function.cfg;
        let halts = |node: NodeId| part.halts[node.index()];
        for edge in cfg.edges.values().filter(|edge| !halts(edge.from)) {
            let decision = part.decision[edge.from.index()];
            let within = decision.is_some() && decision == part.decision[edge.to.index()];
            let from = part.ends[decision.map_or(edge.from, |whole| whole.first).index()];
            let (Some((_, from)), Some((to, _)), false) = (from, part.ends[edge.to.index()], within) else { continue };
            let kind = match edge.label {
                EdgeLabel::Always => IcfgArcKind::Flow,
                EdgeLabel::Outcome(event) => {
                    let of_decision = decision.and_then(|whole| {
                        outcome_behind(&function.decisions[whole.number].formula, event.marker, event.outcome == 1)
                    });
                    IcfgArcKind::Outcome(of_decision.map_or(event.outcome, u32::from))
                }
            };
            self.arc(from, to, kind);
        }
        for (node, _) in cfg.nodes.iter() {
            let Some((first, last)) = part.ends[node.index()] else { continue };
            for call in (first..last).step_by(2) {
                if call + 2 <= last {
                    self.arc(call + 1, call + 2, IcfgArcKind::Flow);
                }
            }
        }
        let halting = cfg.nodes.ids().filter(|&node| halts(node)).map(|node| (node, IcfgArcKind::Halt));
        let endless = final_nodes(cfg, EndlessLoops::StopAtHeads).into_iter();
        let endless = endless.filter(|&node| node != cfg.exit && !halts(node));
        let ends: Vec<_> = halting.chain(endless.map(|node| (node, IcfgArcKind::Endless))).collect();
        for (node, kind) in ends {
            if let Some((_, last)) = part.ends[node.index()] {
                self.arc(last, global_exit, kind);
            }
        }
    }

    fn add_calls(&mut self) {
        for call in 0..self.vertices.len() {
            let IcfgKind::Call { callee, back } = self.vertices[call].kind else { continue };
            let ends = self.functions.iter().find(|(function, ..)| *function == callee);
            if let Some(&(_, entry, exit)) = ends {
                self.arc(call, entry, IcfgArcKind::Call);
                self.arc(exit, back, IcfgArcKind::Return);
            }
        }
    }
}

/// By node: the decision that it is a part of, where ways come in at its first condition only and the others call nobody.
fn collapsed(function: &Function, calls: &[Vec<FunctionId>]) -> Vec<Option<Whole>> {
    let cfg = &function.cfg;
    let condition = |(id, node): (NodeId, &Node)| match node.kind {
        NodeKind::Condition(marker) => Some((marker, id)),
        _ => None,
    };
    let node_of: HashMap<MarkerId, NodeId> = cfg.nodes.iter().filter_map(condition).collect();
    let mut predecessors = vec![Vec::new(); cfg.nodes.len()];
    cfg.edges.values().for_each(|edge| predecessors[edge.to.index()].push(edge.from));
    let mut decision_of = vec![None; cfg.nodes.len()];
    for (number, decision) in function.decisions.iter().enumerate() {
        let nodes: Vec<NodeId> =
            decision.formula.leaves().iter().filter_map(|marker| node_of.get(marker).copied()).collect();
        let [first, others @ ..] = &nodes[..] else { continue };
        let plain = |node: &NodeId| {
            let inside = predecessors[node.index()].iter().all(|from| nodes.contains(from));
            inside && calls[node.index()].is_empty()
        };
        if !others.is_empty() && others.iter().all(plain) {
            let whole = Whole { number, first: *first };
            nodes.iter().for_each(|node| decision_of[node.index()] = Some(whole));
        }
    }
    decision_of
}

/// What the formula is where the condition with this marker is the last that decides it; `None` where others follow.
fn outcome_behind(formula: &Formula, marker: MarkerId, value: bool) -> Option<bool> {
    match formula {
        Formula::Leaf(leaf) => (*leaf == marker).then_some(value),
        Formula::Constant(constant) => Some(*constant),
        Formula::Not(inner) => outcome_behind(inner, marker, value).map(|value| !value),
        Formula::And(left, right) | Formula::Or(left, right) => {
            let decides = matches!(formula, Formula::Or(..));
            if !left.leaves().contains(&marker) {
                return outcome_behind(right, marker, value);
            }
            match (outcome_behind(left, marker, value)?, &**right) {
                (left, _) if left == decides => Some(decides),
                (_, Formula::Constant(constant)) => Some(*constant),
                _ => None,
            }
        }
    }
}
