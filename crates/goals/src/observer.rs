//! Which goals a whole trace reaches, where no single event tells.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use branchwise_program::map::{Access, Event, Formula, Map};
use branchwise_program::{FunctionId, MarkerId, NodeId};

use crate::course::{Course, Step, Trace};
use crate::definitions::{Pair, Usage, pairs};
use crate::graphs::Graphs;
use crate::loops::{Laps, LoopShape};
use crate::{Goal, GoalId, GoalKind, Iterations, Needs};

/// Knows the goals of one ledger that need it.
#[derive(Debug, Clone)]
pub(crate) struct Observer {
    graphs: Arc<Graphs>,
    /// Statements and functions, by the node that shows them.
    nodes: HashMap<(FunctionId, NodeId), Vec<GoalId>>,
    /// Calls by their node and their index there.
    calls: HashMap<(FunctionId, NodeId, usize), GoalId>,
    loops: HashMap<FunctionId, WatchedLoops>,
    variables: HashMap<FunctionId, WatchedVariables>,
    /// By the outcomes of the evaluation.
    evaluations: HashMap<Vec<Event>, Vec<GoalId>>,
    /// The decisions that are watched, by leaf.
    formulas: HashMap<MarkerId, Arc<Formula>>,
}

/// The loops of a function.
#[derive(Debug, Clone, Default)]
struct WatchedLoops {
    shapes: Vec<LoopShape>,
    goals: HashMap<(usize, Iterations), GoalId>,
}

/// The variables of a function.
#[derive(Debug, Clone, Default)]
struct WatchedVariables {
    accesses: HashMap<NodeId, Vec<Access>>,
    /// By variable, definition and use.
    goals: HashMap<(u32, NodeId, Usage), GoalId>,
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
#[derive(Clone)]
struct Activation {
    function: FunctionId,
    node: Option<NodeId>,
    laps: Laps,
    /// The evaluations that go on, by the first leaf of their decision.
    evaluating: HashMap<MarkerId, Vec<Event>>,
    /// Where each variable got its value, and the variables that the condition which runs uses, with theirs.
    defined: HashMap<u32, NodeId>,
    decides: Vec<(u32, NodeId)>,
}

impl Activation {
    fn of(function: FunctionId, laps: Laps) -> Self {
        let (evaluating, defined, decides) = Default::default();
        Activation { function, node: None, laps, evaluating, defined, decides }
    }
}

impl Observer {
    /// `None` where events alone tell of every goal.
    pub fn of(map: &Map, graphs: &Arc<Graphs>, goals: &[Goal]) -> Option<Self> {
        if goals.iter().all(|goal| goal.is_an_event() || goal.reading().is_some()) {
            return None;
        }
        let (nodes, calls, loops, variables, evaluations, formulas) = Default::default();
        let mut observer =
            Observer { graphs: Arc::clone(graphs), nodes, calls, loops, variables, evaluations, formulas };
        let mut pairs_of: HashMap<FunctionId, Vec<Pair>> = HashMap::new();
        let mut calls_at: HashMap<(FunctionId, NodeId), usize> = HashMap::new();
        for (index, goal) in goals.iter().enumerate() {
            let id = GoalId(index as u32);
            if let Needs::Evaluation(events) = &goal.needs {
                observer.evaluations.entry(events.clone()).or_default().push(id);
                observer.watch_decision(map, goal.function, events);
                continue;
            }
            if goal.reading().is_some() {
                continue;
            }
            match (goal.kind, goal.nodes().first()) {
                (GoalKind::Loop(index, count), _) => observer.watch_loop(map, goal.function, index, count, id),
                (GoalKind::DefUse(index), _) => {
                    let pairs = pairs_of.entry(goal.function).or_insert_with(|| pairs(map, goal.function));
                    observer.watch_pair(map, goal.function, &pairs[index], id);
                }
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
            let shapes = of_function.loops.iter().map(|found| LoopShape::of(map, of_function, found));
            WatchedLoops { shapes: shapes.collect(), goals: HashMap::new() }
        });
        watched.goals.insert((index, count), id);
    }

    fn watch_pair(&mut self, map: &Map, function: FunctionId, pair: &Pair, id: GoalId) {
        let watched = self.variables.entry(function).or_insert_with(|| {
            let mut watched = WatchedVariables::default();
            for access in map.accesses.get(&function).into_iter().flat_map(|accesses| &accesses.all) {
                watched.accesses.entry(access.node).or_default().push(*access);
            }
            watched
        });
        watched.goals.insert((pair.variable, pair.definition, pair.usage), id);
    }

    fn watch_decision(&mut self, map: &Map, function: FunctionId, events: &[Event]) {
        let Some(first) = events.first().map(|event| event.marker) else { return };
        if self.formulas.contains_key(&first) {
            return;
        }
        let decisions = map.functions[function].decisions.iter();
        for decision in decisions.filter(|decision| decision.formula.leaves().first() == Some(&first)) {
            let formula = Arc::new(decision.formula.clone());
            self.formulas.extend(formula.leaves().into_iter().map(|leaf| (leaf, Arc::clone(&formula))));
        }
    }

    fn loops(&self, function: FunctionId) -> (&[LoopShape], Option<&WatchedLoops>) {
        let watched = self.loops.get(&function);
        (watched.map_or(&[], |watched| &watched.shapes), watched)
    }

    pub fn observe(&self, trace: &Trace<'_>) -> Observed {
        let Course { steps, certain, lost, unseen, doubts } = self.graphs.follow(trace);
        // Where a variable may have got another value meanwhile, nobody knows which definition a use sees.
        let lost = lost || !doubts.is_empty() && !self.variables.is_empty();
        let mut observed = Observed { lost, unseen, ..Observed::default() };
        let (mut known, mut doubtful) = (None, BTreeSet::new());
        let mut stack: Vec<Activation> = Vec::new();
        for index in 0..=steps.len() {
            if index == certain {
                known = Some(observed.goals.clone());
            }
            for (_, doubted) in doubts.iter().filter(|(behind, _)| *behind == index) {
                let (mut others, mut meanwhile) = (stack.clone(), Observed::default());
                doubted.iter().for_each(|&step| self.happen(&mut others, step, &mut meanwhile));
                doubtful.append(&mut meanwhile.goals);
            }
            if let Some(&step) = steps.get(index) {
                self.happen(&mut stack, step, &mut observed);
            }
        }
        if let Some(known) = known {
            doubtful.extend(observed.goals.difference(&known));
            observed.goals = known;
        }
        observed.doubtful = doubtful;
        if observed.lost {
            self.evaluate_log(trace.events, &mut observed);
        }
        observed
    }

    fn happen(&self, stack: &mut Vec<Activation>, step: Step, observed: &mut Observed) {
        match step {
            Step::Enter(function) => {
                let laps = Laps::of(self.loops(function).0);
                stack.push(Activation::of(function, laps));
            }
            Step::Leave => {
                if let Some(mut ended) = stack.pop() {
                    let left = ended.laps.end();
                    self.note_left(ended.function, &left, observed);
                }
            }
            _ => {
                let Some(activation) = stack.last_mut() else { return };
                self.step(activation, step, observed);
            }
        }
    }

    /// What the log tells of evaluations without the graphs. Where a decision begins anew before it had a value, an exception
    /// left it or its function called itself: which outcomes belong together is not known from there on.
    fn evaluate_log(&self, events: &[Event], observed: &mut Observed) {
        let mut evaluating: HashMap<MarkerId, Vec<Event>> = HashMap::new();
        let mut tangled = HashSet::new();
        for &event in events {
            let formula = self.formulas.get(&event.marker);
            let Some(first) = formula.and_then(|formula| formula.leaves().first().copied()) else { continue };
            if event.marker == first && evaluating.get(&first).is_some_and(|before| !self.has_value(before)) {
                tangled.insert(first);
            }
            if !tangled.contains(&first) {
                self.evaluate(&mut evaluating, event, observed);
            }
        }
    }

    /// Whether an evaluation has come to its end.
    fn has_value(&self, evaluation: &[Event]) -> bool {
        let value = |last: &Event| self.formulas.get(&last.marker)?.value_after(last.marker, last.outcome == 1);
        evaluation.last().and_then(value).is_some()
    }

    fn step(&self, activation: &mut Activation, step: Step, observed: &mut Observed) {
        let function = activation.function;
        match step {
            Step::Node(node) => {
                observed.goals.extend(self.nodes.get(&(function, node)).into_iter().flatten());
                let left = activation.laps.arrive(self.loops(function).0, node);
                self.note_left(function, &left, observed);
                self.note_many(activation, observed);
                activation.node = Some(node);
                self.access(activation, node, observed);
            }
            Step::Call(nth) => {
                let call = activation.node.and_then(|node| self.calls.get(&(function, node, nth)));
                observed.goals.extend(call);
            }
            Step::Take(event) => {
                activation.laps.take(self.loops(function).0, event);
                self.note_many(activation, observed);
                self.evaluate(&mut activation.evaluating, event, observed);
                self.decide(activation, event, observed);
            }
            Step::Enter(_) | Step::Leave => {}
        }
    }

    /// What a node does with variables.
    fn access(&self, activation: &mut Activation, node: NodeId, observed: &mut Observed) {
        activation.decides.clear();
        let Some(watched) = self.variables.get(&activation.function) else { return };
        for access in watched.accesses.get(&node).into_iter().flatten() {
            let definition = activation.defined.get(&access.variable).copied().filter(|_| access.uses);
            if let Some(definition) = definition {
                observed.goals.extend(watched.goals.get(&(access.variable, definition, Usage::Node(node))));
                activation.decides.push((access.variable, definition));
            }
            if access.defines {
                activation.defined.insert(access.variable, node);
            }
        }
    }

    /// The variables that a condition uses decide its outcome.
    fn decide(&self, activation: &mut Activation, event: Event, observed: &mut Observed) {
        let Some(watched) = self.variables.get(&activation.function) else { return };
        for (variable, definition) in activation.decides.drain(..) {
            observed.goals.extend(watched.goals.get(&(variable, definition, Usage::Outcome(event))));
        }
    }

    /// An outcome begins, continues or ends the evaluation of its decision.
    fn evaluate(&self, evaluating: &mut HashMap<MarkerId, Vec<Event>>, event: Event, observed: &mut Observed) {
        let Some(formula) = self.formulas.get(&event.marker) else { return };
        let Some(&first) = formula.leaves().first() else { return };
        let evaluation = evaluating.entry(first).or_default();
        if event.marker == first {
            evaluation.clear();
        }
        evaluation.push(event);
        if self.has_value(evaluation) {
            observed.goals.extend(self.evaluations.get(evaluation).into_iter().flatten());
        }
    }

    /// The loops that were left after these iterations.
    fn note_left(&self, function: FunctionId, left: &[(usize, u64)], observed: &mut Observed) {
        let Some(watched) = self.loops(function).1 else { return };
        for &(index, count) in left {
            let iterations = match count {
                0 => Iterations::Zero,
                1 => Iterations::One,
                _ => Iterations::Many,
            };
            observed.goals.extend(watched.goals.get(&(index, iterations)));
        }
    }

    /// That there are two iterations or more is known before the loop ends.
    fn note_many(&self, activation: &Activation, observed: &mut Observed) {
        let Some(watched) = self.loops(activation.function).1 else { return };
        let many = activation.laps.running().filter(|(_, count)| *count > 1);
        observed.goals.extend(many.filter_map(|(index, _)| watched.goals.get(&(index, Iterations::Many))));
    }
}
