//! Which goals a whole trace reaches, where no single event tells.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use branchwise_program::map::Map;
use branchwise_program::{FunctionId, NodeId};

use crate::course::{Course, Step, Trace};
use crate::graphs::Graphs;
use crate::loops::LoopShape;
use crate::{Goal, GoalId, GoalKind, Iterations};

/// Knows the goals of one ledger that need it.
#[derive(Debug, Clone)]
pub(crate) struct Observer {
    graphs: Arc<Graphs>,
    /// Statements and functions, by the node that shows them.
    nodes: HashMap<(FunctionId, NodeId), Vec<GoalId>>,
    /// Calls by their node and their index there.
    calls: HashMap<(FunctionId, NodeId, usize), GoalId>,
    loops: HashMap<FunctionId, Vec<WatchedLoop>>,
}

#[derive(Debug, Clone)]
struct WatchedLoop {
    shape: LoopShape,
    goals: HashMap<Iterations, GoalId>,
}

/// What a trace shows beside the goals of its events.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub goals: BTreeSet<GoalId>,
    /// Those that it may have reached before something stopped it.
    pub doubtful: BTreeSet<GoalId>,
    /// More may have happened than the log shows.
    pub lost: bool,
    pub unseen: bool,
}

/// A function that runs, with the loops that it is in.
struct Activation {
    function: FunctionId,
    node: Option<NodeId>,
    /// Iterations begun so far, of every watched loop that it is in.
    iterations: Vec<Option<u64>>,
}

impl Observer {
    /// `None` where events alone tell of every goal.
    pub fn of(map: &Map, graphs: &Arc<Graphs>, goals: &[Goal]) -> Option<Self> {
        if goals.iter().all(Goal::is_an_event) {
            return None;
        }
        let (nodes, calls, loops) = Default::default();
        let mut observer = Observer { graphs: Arc::clone(graphs), nodes, calls, loops };
        let mut calls_at: HashMap<(FunctionId, NodeId), usize> = HashMap::new();
        for (index, goal) in goals.iter().enumerate() {
            let id = GoalId(index as u32);
            match (goal.kind, goal.nodes().first()) {
                (GoalKind::Loop(index, count), _) => observer.watch_loop(map, goal.function, index, count, id),
                (GoalKind::Call, Some(&node)) => {
                    let nth = calls_at.entry((goal.function, node)).or_default();
                    observer.calls.insert((goal.function, node, *nth), id);
                    *nth += 1;
                }
                (_, Some(&node)) => observer.nodes.entry((goal.function, node)).or_default().push(id),
                (_, None) => {}
            }
        }
        Some(observer)
    }

    fn watch_loop(&mut self, map: &Map, function: FunctionId, index: usize, count: Iterations, id: GoalId) {
        let of_function = &map.functions[function];
        let watched = self.loops.entry(function).or_insert_with(|| {
            let shape = |found| WatchedLoop { shape: LoopShape::of(map, of_function, found), goals: HashMap::new() };
            of_function.loops.iter().map(shape).collect()
        });
        watched[index].goals.insert(count, id);
    }

    pub fn observe(&self, trace: &Trace<'_>) -> Observed {
        let Course { steps, certain, lost, unseen } = self.graphs.follow(trace);
        let mut observed = Observed { lost, unseen, ..Observed::default() };
        let mut known = None;
        let mut stack: Vec<Activation> = Vec::new();
        for (index, step) in steps.into_iter().enumerate() {
            if index == certain {
                known = Some(observed.goals.clone());
            }
            match step {
                Step::Enter(function) => {
                    let loops = self.loops.get(&function).map_or(0, Vec::len);
                    stack.push(Activation { function, node: None, iterations: vec![None; loops] });
                }
                Step::Leave => {
                    let ended = stack.pop();
                    ended.into_iter().for_each(|mut activation| self.end_loops(&mut activation, None, &mut observed));
                }
                _ => {
                    let Some(activation) = stack.last_mut() else { continue };
                    self.step(activation, step, &mut observed);
                }
            }
        }
        if let Some(known) = known {
            observed.doubtful = observed.goals.difference(&known).copied().collect();
            observed.goals = known;
        }
        observed
    }

    fn step(&self, activation: &mut Activation, step: Step, observed: &mut Observed) {
        let function = activation.function;
        match step {
            Step::Node(node) => {
                observed.goals.extend(self.nodes.get(&(function, node)).into_iter().flatten());
                self.end_loops(activation, Some(node), observed);
                self.arrive(activation, node, observed);
                activation.node = Some(node);
            }
            Step::Call(nth) => {
                let call = activation.node.and_then(|node| self.calls.get(&(function, node, nth)));
                observed.goals.extend(call);
            }
            Step::Take(event) => {
                let loops = self.loops.get(&function).into_iter().flatten().zip(&mut activation.iterations);
                for (watched, iterations) in loops {
                    let begins = watched.shape.condition.as_ref().is_some_and(|begins| begins.contains(&event));
                    if let (true, Some(count)) = (begins, iterations) {
                        *count += 1;
                        watched.note_many(*count, observed);
                    }
                }
            }
            Step::Enter(_) | Step::Leave => {}
        }
    }

    /// Arriving at a head enters its loop, or repeats it.
    fn arrive(&self, activation: &mut Activation, node: NodeId, observed: &mut Observed) {
        let loops = self.loops.get(&activation.function).into_iter().flatten().zip(&mut activation.iterations);
        for (watched, iterations) in loops.filter(|(watched, _)| watched.shape.head == node) {
            let repeats = activation.node.is_some_and(|from| watched.shape.back.contains(&from));
            let without_condition = u64::from(watched.shape.condition.is_none());
            match iterations {
                Some(count) if repeats => *count += without_condition,
                Some(_) => {}
                None => *iterations = Some(without_condition),
            }
            iterations.iter().for_each(|&count| watched.note_many(count, observed));
        }
    }

    /// Loops that do not contain the next node, or all, are left.
    fn end_loops(&self, activation: &mut Activation, next: Option<NodeId>, observed: &mut Observed) {
        let loops = self.loops.get(&activation.function).into_iter().flatten().zip(&mut activation.iterations);
        for (watched, iterations) in loops {
            if next.is_some_and(|node| watched.shape.body.contains(&node)) {
                continue;
            }
            let goal = match iterations.take() {
                Some(0) => Iterations::Zero,
                Some(1) => Iterations::One,
                _ => continue,
            };
            observed.goals.extend(watched.goals.get(&goal));
        }
    }
}

impl WatchedLoop {
    fn note_many(&self, count: u64, observed: &mut Observed) {
        if count > 1 {
            observed.goals.extend(self.goals.get(&Iterations::Many));
        }
    }
}
