//! How far a point of the program is from an open goal, over the map's control-flow graphs and calls.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use branchwise_goals::Ledger;
use branchwise_program::map::{CallSite, EdgeLabel, Event, Function, Map};
use branchwise_program::{FunctionId, Id, IdVec, NodeId};

use crate::tree::{Branch, Position};

/// Returning to a caller costs this many steps, so that goals in reach of the current function come first.
const RETURN_COST: u32 = 4;
/// From a function that no call leads to: whatever happens there, it may lead to a goal.
const FAR: u32 = 1 << 20;
const NONE: u32 = u32::MAX;

/// The edges and calls of a program, as distances need them: the same for all its units, so made once. Clones share it.
#[derive(Debug, Clone)]
pub struct Routes {
    functions: Arc<IdVec<FunctionId, FunctionRoutes>>,
    /// The node to which an outcome leads.
    targets: Arc<HashMap<Event, (FunctionId, NodeId)>>,
}

#[derive(Debug)]
struct FunctionRoutes {
    entry: NodeId,
    /// Of every node, those before it.
    predecessors: Vec<Vec<NodeId>>,
    /// The edges that are outcomes, by the node that they leave.
    outcomes: Vec<(Event, NodeId)>,
    /// Where it is called by name.
    callers: Vec<(FunctionId, NodeId)>,
    callees: Vec<FunctionId>,
    /// Calls through a pointer, or into code that is not here: they may come back into any function.
    calls_anywhere: Vec<NodeId>,
    calls_through_pointer: bool,
}

impl Routes {
    pub fn of(map: &Map) -> Self {
        let mut functions: IdVec<FunctionId, FunctionRoutes> = map.functions.values().map(FunctionRoutes::of).collect();
        let by_name: HashMap<&str, FunctionId> =
            map.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
        let mut targets = HashMap::new();
        for (id, function) in map.functions.iter() {
            for edge in function.cfg.edges.values() {
                if let EdgeLabel::Outcome(event) = edge.label {
                    targets.insert(event, (id, edge.to));
                }
            }
            for call in &function.calls {
                match call.callee.as_deref().and_then(|name| by_name.get(name)) {
                    Some(&callee) => {
                        functions[id].callees.push(callee);
                        functions[callee].callers.push((id, call.node));
                    }
                    None if is_closed(map, call) => {}
                    None => functions[id].calls_anywhere.push(call.node),
                }
                functions[id].calls_through_pointer |= call.callee.is_none();
            }
        }
        Routes { functions: Arc::new(functions), targets: Arc::new(targets) }
    }

    /// The functions that call a function by name.
    pub fn callers(&self, of: FunctionId) -> impl Iterator<Item = FunctionId> + '_ {
        self.functions[of].callers.iter().map(|(caller, _)| *caller)
    }

    /// The functions with a call of which the map does not know where it leads: through a pointer, or one that depends on
    /// what a template is instantiated with.
    pub fn calling_anything(&self) -> impl Iterator<Item = FunctionId> + '_ {
        self.functions.iter().filter(|(_, routes)| routes.calls_through_pointer).map(|(id, _)| id)
    }

    /// The functions that a function can reach by calls, itself first. A call through a pointer may reach any; what code
    /// that is not here calls, nobody knows.
    pub fn reachable(&self, from: FunctionId) -> Vec<FunctionId> {
        self.reachable_from(vec![from])
    }

    fn reachable_from(&self, from: Vec<FunctionId>) -> Vec<FunctionId> {
        let mut seen: IdVec<FunctionId, bool> = self.functions.ids().map(|_| false).collect();
        from.iter().for_each(|&function| seen[function] = true);
        let (mut order, mut next) = (from, 0);
        let mut everything = false;
        while let Some(&function) = order.get(next) {
            next += 1;
            let routes = &self.functions[function];
            let callees = routes.callees.iter().copied();
            order.extend(callees.filter(|&callee| !std::mem::replace(&mut seen[callee], true)));
            if routes.calls_through_pointer && !std::mem::replace(&mut everything, true) {
                order.extend(self.functions.ids().filter(|&callee| !std::mem::replace(&mut seen[callee], true)));
            }
        }
        order
    }
}

/// A call of a library function that never calls back.
fn is_closed(map: &Map, call: &CallSite) -> bool {
    call.callee.as_ref().is_some_and(|name| map.closed_functions.contains(name))
}

impl FunctionRoutes {
    fn of(function: &Function) -> Self {
        let mut predecessors = vec![Vec::new(); function.cfg.nodes.len()];
        let mut outcomes = Vec::new();
        for edge in function.cfg.edges.values() {
            predecessors[edge.to.index()].push(edge.from);
            if let EdgeLabel::Outcome(event) = edge.label {
                outcomes.push((event, edge.from));
            }
        }
        FunctionRoutes {
            entry: function.cfg.entry,
            predecessors,
            outcomes,
            callers: Vec::new(),
            callees: Vec::new(),
            calls_anywhere: Vec::new(),
            calls_through_pointer: false,
        }
    }
}

/// Distances to the goals that were open when it was made. What it calls unreachable, no execution reaches.
#[derive(Debug, Clone)]
pub struct Guidance {
    routes: Routes,
    /// To all open goals.
    open: Distances,
    /// To those that are aimed at, where that makes a difference.
    aimed: Option<Distances>,
}

#[derive(Debug, Clone)]
struct Distances {
    /// Of every node of the functions in reach: steps to the nearest goal, in it or in what it calls.
    nodes: HashMap<FunctionId, Vec<u32>>,
    /// The outcomes that are goals themselves.
    goals: HashSet<Event>,
}

impl Guidance {
    /// Distances for paths of this unit under test. Only what it can reach is looked at: the cost does not grow with
    /// the rest of the program.
    pub fn new(routes: &Routes, unit: FunctionId, ledger: &Ledger) -> Self {
        let goal_functions: BTreeSet<FunctionId> = ledger.goals().map(|(_, goal)| goal.function).collect();
        let mut starts = vec![unit];
        starts.extend(goal_functions.iter().copied().filter(|&function| function != unit));
        let near = routes.reachable_from(starts);
        let towards = |wanted: &dyn Fn(Event) -> bool, nodes: &[(FunctionId, NodeId)]| {
            Distances::new(routes, &near, &Wanted { functions: &goal_functions, outcome: wanted, nodes })
        };
        let nodes: Vec<(FunctionId, NodeId)> = ledger.open_nodes().collect();
        let open = towards(&|event| ledger.would_help(event), &nodes);
        let all = open.goals.iter().all(|&event| ledger.is_aimed_at(event));
        let aimed = (!all).then(|| towards(&|event| ledger.is_aimed_at(event), &[]));
        Guidance { routes: routes.clone(), open, aimed }
    }

    /// Steps to an open goal by going this way, 0 if it is one; `None` if none can be reached any more.
    pub fn after(&self, branch: &Branch, positions: &[Position]) -> Option<u32> {
        self.open.after(&self.routes, branch, positions)
    }

    /// The same for the goals that are aimed at.
    pub fn towards_aim(&self, branch: &Branch, positions: &[Position]) -> Option<u32> {
        self.aimed.as_ref().unwrap_or(&self.open).after(&self.routes, branch, positions)
    }
}

/// What distances are measured to.
struct Wanted<'a> {
    /// Those whose outcomes may be wanted.
    functions: &'a BTreeSet<FunctionId>,
    outcome: &'a dyn Fn(Event) -> bool,
    nodes: &'a [(FunctionId, NodeId)],
}

impl Distances {
    fn new(routes: &Routes, near: &[FunctionId], wanted: &Wanted<'_>) -> Self {
        let unknown = |&function: &FunctionId| (function, vec![NONE; routes.functions[function].predecessors.len()]);
        let mut distances = Distances { nodes: near.iter().map(unknown).collect(), goals: HashSet::new() };
        distances.propagate(&routes.functions, near, wanted);
        distances
    }

    /// Breadth first from the goals against the edges; a call carries the distance of its callee's entry to its node.
    fn propagate(&mut self, routes: &IdVec<FunctionId, FunctionRoutes>, near: &[FunctionId], wanted: &Wanted<'_>) {
        let mut queue: VecDeque<(FunctionId, NodeId)> = VecDeque::new();
        for &(function, node) in wanted.nodes {
            self.improve(function, node, 0, &mut queue);
        }
        for &function in wanted.functions {
            for &(event, from) in &routes[function].outcomes {
                if (wanted.outcome)(event) {
                    self.goals.insert(event);
                    self.improve(function, from, 0, &mut queue);
                }
            }
        }
        let mut anywhere = false;
        while let Some((function, node)) = queue.pop_front() {
            let distance = self.nodes[&function][node.index()];
            let own = &routes[function];
            for &before in &own.predecessors[node.index()] {
                self.improve(function, before, distance + 1, &mut queue);
            }
            if own.entry != node {
                continue;
            }
            for &(caller, call) in &own.callers {
                self.improve(caller, call, distance + 1, &mut queue);
            }
            // Distances only grow from here on: the first entry is the nearest for calls that may go anywhere.
            if !std::mem::replace(&mut anywhere, true) {
                for &caller in near {
                    for &call in &routes[caller].calls_anywhere {
                        self.improve(caller, call, distance + 1, &mut queue);
                    }
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
        let Some(known) = self.nodes.get_mut(&function).and_then(|nodes| nodes.get_mut(node.index())) else {
            return;
        };
        if distance < *known {
            *known = distance;
            queue.push_back((function, node));
        }
    }

    fn distance(&self, function: FunctionId, node: NodeId) -> Option<u32> {
        let distance = match self.nodes.get(&function) {
            Some(nodes) => nodes.get(node.index()).copied().unwrap_or(NONE),
            None => FAR,
        };
        (distance != NONE).then_some(distance)
    }

    /// Steps from a position to a goal, `None` if none can be reached before the function returns.
    fn distance_from(&self, routes: &Routes, position: &Position) -> Option<u32> {
        match position.after.and_then(|event| routes.targets.get(&event)) {
            Some(&(function, node)) => self.distance(function, node),
            None => self.distance(position.function, routes.functions.get(position.function)?.entry),
        }
    }

    fn after(&self, routes: &Routes, branch: &Branch, positions: &[Position]) -> Option<u32> {
        if branch.fault {
            return None;
        }
        if branch.event.is_some_and(|event| self.goals.contains(&event)) {
            return Some(0);
        }
        let Some((innermost, outer)) = positions.split_last() else { return Some(u32::MAX) };
        let innermost = Position { after: branch.event.or(innermost.after), ..*innermost };
        let here = self.distance_from(routes, &innermost);
        let later = outer.iter().rev().filter_map(|position| self.distance_from(routes, position)).min();
        [here, later.map(|distance| distance + RETURN_COST)].into_iter().flatten().min()
    }
}
