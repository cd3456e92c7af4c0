//! How far a point of the program is from an open goal, over the map's control-flow graphs and calls.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use branchwise_goals::Ledger;
use branchwise_program::map::{EdgeLabel, Event, Map};
use branchwise_program::{EdgeId, FunctionId, Id, NodeId};

use crate::tree::{Branch, Position};

/// Returning to a caller costs this many steps, so that goals in reach of the current function come first.
const RETURN_COST: u32 = 4;

/// Distances to the goals that were open when it was made. What it calls unreachable, no execution reaches.
#[derive(Debug, Clone)]
pub struct Guidance {
    /// Of every node of every function: steps to the nearest open goal, in it or in what it calls.
    distances: BTreeMap<FunctionId, Vec<Option<u32>>>,
    entries: BTreeMap<FunctionId, NodeId>,
    /// The node to which an outcome leads.
    targets: HashMap<Event, (FunctionId, NodeId)>,
    /// The outcomes that are open goals themselves.
    goals: HashSet<Event>,
}

impl Guidance {
    pub fn new(map: &Map, ledger: &Ledger) -> Self {
        let mut guidance = Guidance {
            distances: BTreeMap::new(),
            entries: BTreeMap::new(),
            targets: HashMap::new(),
            goals: HashSet::new(),
        };
        for (id, function) in map.functions.iter() {
            guidance.entries.insert(id, function.cfg.entry);
            guidance.distances.insert(id, vec![None; function.cfg.nodes.len()]);
            for edge in function.cfg.edges.values() {
                if let EdgeLabel::Outcome(event) = edge.label {
                    guidance.targets.insert(event, (id, edge.to));
                }
            }
        }
        guidance.propagate(map, ledger);
        guidance
    }

    /// Breadth first from the goals against the edges; a call carries the distance of its callee's entry to its node.
    fn propagate(&mut self, map: &Map, ledger: &Ledger) {
        let predecessors = Predecessors::of(map);
        let mut queue: VecDeque<(FunctionId, NodeId)> = VecDeque::new();
        for (id, function) in map.functions.iter() {
            for edge in function.cfg.edges.values() {
                let EdgeLabel::Outcome(event) = edge.label else { continue };
                if ledger.would_help(event) {
                    self.goals.insert(event);
                    self.improve(id, edge.from, 0, &mut queue);
                }
            }
        }
        while let Some((function, node)) = queue.pop_front() {
            let Some(distance) = self.distance(function, node) else { continue };
            for &before in predecessors.nodes(function, node) {
                self.improve(function, before, distance + 1, &mut queue);
            }
            if self.entries.get(&function) == Some(&node) {
                for &(caller, call) in predecessors.calls(function) {
                    self.improve(caller, call, distance + 1, &mut queue);
                }
            }
        }
    }

    fn improve(
        &mut self,
        function: FunctionId,
        node: NodeId,
        distance: u32,
        queue: &mut VecDeque<(FunctionId, NodeId)>,
    ) {
        let Some(known) = self.distances.get_mut(&function).and_then(|nodes| nodes.get_mut(node.index())) else {
            return;
        };
        if known.is_none_or(|known| distance < known) {
            *known = Some(distance);
            queue.push_back((function, node));
        }
    }

    fn distance(&self, function: FunctionId, node: NodeId) -> Option<u32> {
        self.distances.get(&function)?.get(node.index()).copied().flatten()
    }

    /// Steps from a position to an open goal, `None` if none can be reached before the function returns.
    fn distance_from(&self, position: &Position) -> Option<u32> {
        match position.after.and_then(|event| self.targets.get(&event)) {
            Some(&(function, node)) => self.distance(function, node),
            None => self.distance(position.function, *self.entries.get(&position.function)?),
        }
    }

    /// Steps to an open goal by going this way, 0 if it is one; `None` if none can be reached any more.
    pub fn after(&self, branch: &Branch, positions: &[Position]) -> Option<u32> {
        if branch.fault.is_some() {
            return None;
        }
        if branch.event.is_some_and(|event| self.goals.contains(&event)) {
            return Some(0);
        }
        let Some((innermost, outer)) = positions.split_last() else { return Some(u32::MAX) };
        let innermost = Position { after: branch.event.or(innermost.after), ..*innermost };
        let here = self.distance_from(&innermost);
        let later = outer.iter().rev().filter_map(|position| self.distance_from(position)).min();
        [here, later.map(|distance| distance + RETURN_COST)].into_iter().flatten().min()
    }
}

/// The reverse of the edges and of the calls.
struct Predecessors {
    nodes: BTreeMap<FunctionId, Vec<Vec<NodeId>>>,
    calls: BTreeMap<FunctionId, Vec<(FunctionId, NodeId)>>,
}

impl Predecessors {
    fn of(map: &Map) -> Self {
        let mut predecessors = Predecessors { nodes: BTreeMap::new(), calls: BTreeMap::new() };
        let by_name: HashMap<&str, FunctionId> =
            map.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
        for (id, function) in map.functions.iter() {
            let mut nodes = vec![Vec::new(); function.cfg.nodes.len()];
            for edge in function.cfg.edges.ids().map(|edge: EdgeId| function.cfg.edges[edge]) {
                nodes[edge.to.index()].push(edge.from);
            }
            predecessors.nodes.insert(id, nodes);
            for call in &function.calls {
                let closed = call.callee.as_ref().is_some_and(|name| map.closed_functions.contains(name));
                if !closed || by_name.contains_key(call.callee.as_deref().unwrap_or_default()) {
                    predecessors.add_call((id, call.node), call.callee.as_deref(), &by_name);
                }
            }
        }
        predecessors
    }

    /// A call through a pointer, or into code that is not here, may come back into any function.
    fn add_call(&mut self, from: (FunctionId, NodeId), callee: Option<&str>, by_name: &HashMap<&str, FunctionId>) {
        match callee.and_then(|name| by_name.get(name)) {
            Some(&callee) => self.calls.entry(callee).or_default().push(from),
            None => by_name.values().for_each(|&callee| self.calls.entry(callee).or_default().push(from)),
        }
    }

    fn nodes(&self, function: FunctionId, node: NodeId) -> &[NodeId] {
        self.nodes.get(&function).and_then(|nodes| nodes.get(node.index())).map_or(&[], Vec::as_slice)
    }

    fn calls(&self, function: FunctionId) -> &[(FunctionId, NodeId)] {
        self.calls.get(&function).map_or(&[], Vec::as_slice)
    }
}
