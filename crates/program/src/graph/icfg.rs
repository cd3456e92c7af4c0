//! The interprocedural control-flow graph of a function and of all it calls, with the words of Sy and Deville 2003: a call
//! is two vertices, one before and one after it; a decision is one predicate, whatever its conditions; everything begins at
//! one vertex and ends at one.

use std::collections::{HashMap, HashSet};

use super::{EndlessLoops, final_nodes, reachable_nodes};
use crate::map::{CallSite, Decision, EdgeLabel, Formula, Function, Map, NodeKind};
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
        let mut builder = Builder { map, vertices: Vec::new(), arcs: Vec::new(), functions: Vec::new() };
        builder.vertices.push(IcfgVertex::new(IcfgKind::GlobalEntry, None));
        let order = order_of_first_calls(map, root);
        let parts: Vec<Part> = order.iter().map(|&function| builder.add_vertices(function, &order)).collect();
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

    /// The vertices of a statement, decision or call on this line, of `root` first.
    pub fn on_line(&self, map: &Map, line: u32) -> Vec<usize> {
        let is_there = |vertex: &IcfgVertex| {
            vertex.node.is_some_and(|(function, node)| map.functions[function].cfg.nodes[node].place.line == line)
        };
        (0..self.vertices.len()).filter(|&vertex| is_there(&self.vertices[vertex])).collect()
    }
}

/// The functions that `root` reaches by calls, each before those that it calls first.
fn order_of_first_calls(map: &Map, root: FunctionId) -> Vec<FunctionId> {
    let by_name: HashMap<&str, FunctionId> =
        map.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
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
    decision: Vec<Option<usize>>,
}

struct Builder<'m> {
    map: &'m Map,
    vertices: Vec<IcfgVertex>,
    arcs: Vec<IcfgArc>,
    functions: Vec<(FunctionId, usize, usize)>,
}

impl Builder<'_> {
    fn arc(&mut self, from: usize, to: usize, kind: IcfgArcKind) {
        self.arcs.push(IcfgArc { from, to, kind });
    }

    fn add_vertices(&mut self, id: FunctionId, known: &[FunctionId]) -> Part {
        let function = &self.map.functions[id];
        let (cfg, reachable) = (&function.cfg, reachable_nodes(&function.cfg));
        let calls = |node: NodeId| calls_of(self.map, function, node, known);
        let decision = collapsed(function, &|node| !calls(node).is_empty());
        let mut ends = vec![None; cfg.nodes.len()];
        let inner = cfg.nodes.ids().filter(|&node| node != cfg.entry && node != cfg.exit && reachable[node]);
        for node in [cfg.entry].into_iter().chain(inner).chain([cfg.exit]) {
            let is_first = |at: usize| first_node(function, &function.decisions[at]) == Some(node);
            if decision[node.index()].is_some_and(|at| !is_first(at)) {
                continue;
            }
            let first = self.vertices.len();
            for callee in calls_of(self.map, function, node, known) {
                let back = self.vertices.len() + 1;
                self.vertices.push(IcfgVertex::new(IcfgKind::Call { callee, back }, Some((id, node))));
                self.vertices.push(IcfgVertex::new(IcfgKind::Return, Some((id, node))));
            }
            let kind = match cfg.nodes[node].kind {
                _ if node == cfg.entry => Some(IcfgKind::Entry),
                _ if node == cfg.exit => Some(IcfgKind::Exit),
                NodeKind::Condition(_) | NodeKind::Switch(_) => Some(IcfgKind::Predicate),
                _ => (self.vertices.len() == first).then_some(IcfgKind::Statement),
            };
            let decision = decision[node.index()];
            self.vertices.extend(kind.map(|kind| IcfgVertex { kind, node: Some((id, node)), decision }));
            ends[node.index()] = Some((first, self.vertices.len() - 1));
        }
        let vertex = |node: NodeId| ends[node.index()].map_or(0, |(first, _)| first);
        let (entry, exit) = (vertex(cfg.entry), vertex(cfg.exit));
        self.functions.push((id, entry, exit));
        Part { ends, decision }
    }

    fn add_arcs(&mut self, id: FunctionId, part: &Part, global_exit: usize) {
        let function = &self.map.functions[id];
        let cfg = &function.cfg;
        let halts = |node: NodeId| halts(self.map, function, node);
        for edge in cfg.edges.values().filter(|edge| !halts(edge.from)) {
            let decision = part.decision[edge.from.index()];
            let within = decision.is_some() && decision == part.decision[edge.to.index()];
            let from = match decision.and_then(|at| first_node(function, &function.decisions[at])) {
                Some(first) => part.ends[first.index()],
                None => part.ends[edge.from.index()],
            };
            let (Some((_, from)), Some((to, _)), false) = (from, part.ends[edge.to.index()], within) else { continue };
            let kind = match edge.label {
                EdgeLabel::Always => IcfgArcKind::Flow,
                EdgeLabel::Outcome(event) => {
                    let of_decision = decision.and_then(|at| {
                        outcome_behind(&function.decisions[at].formula, event.marker, event.outcome == 1)
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

/// The functions of the map that a node calls, in order.
fn calls_of(map: &Map, function: &Function, node: NodeId, known: &[FunctionId]) -> Vec<FunctionId> {
    let callee = |call: &CallSite| map.function_named(call.callee.as_deref()?);
    let calls = function.calls.iter().filter(|call| call.node == node);
    calls.filter_map(callee).filter(|callee| known.contains(callee)).collect()
}

/// The program ends here: in what never returns and is not a function of the map.
fn halts(map: &Map, function: &Function, node: NodeId) -> bool {
    let is_here = |call: &CallSite| call.callee.as_deref().is_some_and(|name| map.function_named(name).is_some());
    function.calls.iter().any(|call| call.node == node && !call.returns && !is_here(call))
}

/// By node: the decision that it is a part of, where all conditions behind the first only look at values.
fn collapsed(function: &Function, calls: &dyn Fn(NodeId) -> bool) -> Vec<Option<usize>> {
    let mut decision_of = vec![None; function.cfg.nodes.len()];
    for (at, decision) in function.decisions.iter().enumerate() {
        let nodes = nodes_of(function, decision);
        let plain = nodes.len() > 1 && nodes[1..].iter().all(|&node| !calls(node)) && is_closed(function, &nodes);
        if plain {
            nodes.iter().for_each(|node| decision_of[node.index()] = Some(at));
        }
    }
    decision_of
}

/// Ways come in at the first condition only.
fn is_closed(function: &Function, nodes: &[NodeId]) -> bool {
    let enters = |from: NodeId, to: NodeId| !nodes.contains(&from) && nodes[1..].contains(&to);
    !function.cfg.edges.values().any(|edge| enters(edge.from, edge.to))
}

fn nodes_of(function: &Function, decision: &Decision) -> Vec<NodeId> {
    let node_of = |marker: &MarkerId| {
        let is_it = |kind: NodeKind| kind == NodeKind::Condition(*marker);
        function.cfg.nodes.iter().find(|(_, node)| is_it(node.kind)).map(|(id, _)| id)
    };
    decision.formula.leaves().iter().filter_map(node_of).collect()
}

fn first_node(function: &Function, decision: &Decision) -> Option<NodeId> {
    nodes_of(function, decision).first().copied()
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
