//! The control-flow graphs and calls of a program, as following a trace needs them.

use std::collections::{HashMap, HashSet};

use branchwise_program::library::{is_stream_function, jumps};
use branchwise_program::map::{CAST, CallSite, EdgeLabel, Event, Function, Map, NEW, NodeKind, StubAct, THROW};
use branchwise_program::{FunctionId, Id, IdVec, MarkerId, NodeId};

/// Made once for all units of a program.
#[derive(Debug)]
pub struct Graphs {
    pub(crate) functions: IdVec<FunctionId, Graph>,
    pub(crate) function_of: IdVec<MarkerId, FunctionId>,
}

#[derive(Debug)]
pub(crate) struct Graph {
    pub entry: NodeId,
    pub nodes: Vec<Vertex>,
    pub targets: HashMap<Event, NodeId>,
    /// Where handlers begin, and the nodes from which an exception can come there.
    pub handlers: HashMap<MarkerId, Handler>,
    /// The markers that can be the first of an activation.
    pub first: Vec<MarkerId>,
    pub callees: HashSet<FunctionId>,
}

#[derive(Debug)]
pub(crate) struct Handler {
    pub node: NodeId,
    pub guarded: HashSet<NodeId>,
}

#[derive(Debug)]
pub(crate) struct Vertex {
    pub next: Next,
    /// In the order of evaluation.
    pub calls: Vec<Callee>,
}

/// What comes after a node, once its calls have returned.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Node(NodeId),
    /// Its marker reports where it goes.
    Marker(MarkerId),
    Return,
    /// Nothing, or no marker tells what.
    Unknown,
}

/// What is called, as far as a trace shows it.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Callee {
    Function(FunctionId),
    /// Comes back, and calls none of our functions.
    Returns,
    /// Calls none of our functions, but may end the run.
    MayEnd,
    /// May call any function, or end the run.
    Opaque,
    /// Control may come back to another place than this.
    Jumps,
    /// Control goes to a handler.
    Throws,
    /// Calls none of our functions, but may throw.
    MayThrow,
}

impl Graphs {
    pub fn of(map: &Map) -> Self {
        let by_name: HashMap<&str, FunctionId> =
            map.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
        let functions = map.functions.values().map(|function| Graph::of(map, function, &by_name)).collect();
        Graphs { functions, function_of: map.markers.values().map(|marker| marker.function).collect() }
    }

    pub(crate) fn is_handler(&self, marker: MarkerId) -> bool {
        self.functions[self.function_of[marker]].handlers.contains_key(&marker)
    }

    /// Whether an activation can begin with this event.
    pub(crate) fn can_begin(&self, event: Event) -> bool {
        self.functions[self.function_of[event.marker]].first.contains(&event.marker)
    }
}

impl Graph {
    fn of(map: &Map, function: &Function, by_name: &HashMap<&str, FunctionId>) -> Self {
        let cfg = &function.cfg;
        let mut nodes: Vec<Vertex> =
            cfg.nodes.ids().map(|_| Vertex { next: Next::Unknown, calls: Vec::new() }).collect();
        let mut targets = HashMap::new();
        let mut always: Vec<Vec<NodeId>> = vec![Vec::new(); nodes.len()];
        for edge in cfg.edges.values() {
            match edge.label {
                EdgeLabel::Outcome(event) => drop(targets.insert(event, edge.to)),
                EdgeLabel::Always => always[edge.from.index()].push(edge.to),
            }
        }
        let handlers = handlers(function);
        let is_handler = |node: NodeId| matches!(cfg.nodes[node].kind, NodeKind::Handler(_));
        for (id, node) in cfg.nodes.iter() {
            let ways: Vec<NodeId> = always[id.index()].iter().copied().filter(|&to| !is_handler(to)).collect();
            nodes[id.index()].next = match (node.kind, ways.as_slice()) {
                (NodeKind::Condition(marker) | NodeKind::Switch(marker) | NodeKind::Handler(marker), _) => {
                    Next::Marker(marker)
                }
                (NodeKind::Exit, _) => Next::Return,
                (_, &[only]) => Next::Node(only),
                _ => Next::Unknown,
            };
        }
        let mut callees = HashSet::new();
        for call in &function.calls {
            let callee = callee(map, call, by_name);
            // What runs without standing in the text may not run at all, and elsewhere than where it is noted.
            let followed = if call.certain { callee } else { Callee::Opaque };
            nodes[call.node.index()].calls.push(followed);
            if let Callee::Function(callee) = callee {
                callees.insert(callee);
            }
        }
        let mut graph = Graph { entry: cfg.entry, nodes, targets, handlers, first: Vec::new(), callees };
        graph.first = graph.first_markers(&always);
        graph
    }

    fn first_markers(&self, always: &[Vec<NodeId>]) -> Vec<MarkerId> {
        let mut seen = vec![false; self.nodes.len()];
        let (mut open, mut markers) = (vec![self.entry], Vec::new());
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node.index()], true) {
                continue;
            }
            match self.nodes[node.index()].next {
                Next::Marker(marker) => markers.push(marker),
                _ => open.extend(&always[node.index()]),
            }
        }
        markers
    }
}

fn handlers(function: &Function) -> HashMap<MarkerId, Handler> {
    let cfg = &function.cfg;
    let mut handlers = HashMap::new();
    for (id, node) in cfg.nodes.iter() {
        if let NodeKind::Handler(marker) = node.kind {
            handlers.insert(marker, Handler { node: id, guarded: HashSet::new() });
        }
    }
    for edge in cfg.edges.values() {
        if let NodeKind::Handler(marker) = cfg.nodes[edge.to].kind {
            handlers.entry(marker).and_modify(|handler| {
                handler.guarded.insert(edge.from);
            });
        }
    }
    handlers
}

fn callee(map: &Map, call: &CallSite, by_name: &HashMap<&str, FunctionId>) -> Callee {
    let Some(name) = &call.callee else { return Callee::Opaque };
    match name.as_str() {
        name if jumps(name) => return Callee::Jumps,
        THROW if !call.declared_by_user => return Callee::Throws,
        NEW | CAST if !call.declared_by_user => return Callee::MayThrow,
        _ => {}
    }
    if let Some(&function) = by_name.get(name.as_str()) {
        return Callee::Function(function);
    }
    let stub = map.stubs.iter().find(|stub| stub.name == *name);
    match stub {
        Some(stub) if stub.act == StubAct::Feeds => Callee::Returns,
        Some(_) => Callee::MayEnd,
        None if !call.declared_by_user && is_stream_function(name) => Callee::Returns,
        None if map.closed_functions.contains(name) && call.returns => Callee::Returns,
        None if map.closed_functions.contains(name) => Callee::MayEnd,
        None => Callee::Opaque,
    }
}
