//! Control dependence within functions and across them, and decision graphs (Sy and Deville 2003, section 5).
//!
//! A vertex depends on an outcome of a predicate if every way that begins with it comes to the vertex, while some way from
//! the predicate does not. Ways return to where they were called from. So what a predicate decides depends on who has called
//! its function: a dependence holds if it holds for one of the callers. A vertex stands for all calls of its function.

use std::collections::{BTreeMap, BTreeSet};

use super::icfg::{Icfg, IcfgArcKind, IcfgKind};

/// Larger graphs are not analysed: the time is in proportion to the square.
pub const MOST_VERTICES: usize = 8192;

/// Different continuations of one function that are told apart.
const MOST_CONTINUATIONS: usize = 32;

/// What depends on which outcome: the vertices by the predicate and its outcome. The entry of a function decides with the
/// outcome `None`.
pub type Dependences = BTreeMap<(usize, Option<u32>), BTreeSet<usize>>;

/// A set of vertices.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Set(Vec<u64>);

impl Set {
    fn all(size: usize) -> Set {
        Set(vec![u64::MAX; size.div_ceil(64)])
    }

    fn none(size: usize) -> Set {
        Set(vec![0; size.div_ceil(64)])
    }

    fn with(mut self, vertex: usize) -> Set {
        self.0[vertex / 64] |= 1 << (vertex % 64);
        self
    }

    fn and(mut self, other: &Set) -> Set {
        self.0.iter_mut().zip(&other.0).for_each(|(left, right)| *left &= right);
        self
    }

    fn or(mut self, other: &Set) -> Set {
        self.0.iter_mut().zip(&other.0).for_each(|(left, right)| *left |= right);
        self
    }

    fn has(&self, vertex: usize) -> bool {
        self.0[vertex / 64] >> (vertex % 64) & 1 == 1
    }
}

/// What lies on every way from a vertex on that ends the program inside its function or a callee, and on every way to the
/// function's exit.
struct Passed {
    to_end: Vec<Set>,
    to_exit: Vec<Set>,
}

impl Passed {
    /// What lies on every way to the end, where that goes on with `behind` after the function's exit.
    fn must(&self, vertex: usize, behind: &Set) -> Set {
        self.to_exit[vertex].clone().or(behind).and(&self.to_end[vertex])
    }
}

/// Those of each function alone: a call is a step to what is behind it, and an end of the program is one of the function.
pub fn intraprocedural_dependences(graph: &Icfg) -> Option<Dependences> {
    let passed = passed(graph, false)?;
    let nothing = Set::none(graph.vertices.len());
    let continuations: BTreeMap<usize, BTreeSet<Set>> =
        (0..graph.functions.len()).map(|at| (at, BTreeSet::from([nothing.clone()]))).collect();
    let mut found = dependences(graph, &passed, &continuations);
    for &(_, entry, exit) in &graph.functions {
        let decided: BTreeSet<usize> =
            found.iter().filter(|((on, _), _)| (entry..=exit).contains(on)).flat_map(|(_, all)| all.clone()).collect();
        let must = passed.must(entry, &nothing);
        let always = (entry + 1..=exit).filter(|&vertex| must.has(vertex) || !decided.contains(&vertex));
        found.insert((entry, None), always.collect());
    }
    Some(found)
}

/// Those of the whole graph.
pub fn interprocedural_dependences(graph: &Icfg) -> Option<Dependences> {
    let passed = passed(graph, true)?;
    let continuations = continuations(graph, &passed);
    let mut found = dependences(graph, &passed, &continuations);
    let (_, entry, _) = *graph.functions.first()?;
    let must = passed.must(entry, &Set::none(graph.vertices.len()));
    let always = (0..graph.vertices.len()).filter(|&vertex| vertex != entry && must.has(vertex));
    found.insert((entry, None), always.collect());
    Some(found)
}

/// One dependence: of `vertex` on an outcome of `on`.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Dependence {
    pub on: usize,
    pub outcome: Option<u32>,
    pub vertex: usize,
}

/// All dependences one by one.
pub fn each_dependence(dependences: &Dependences) -> impl Iterator<Item = Dependence> + '_ {
    dependences
        .iter()
        .flat_map(|(&(on, outcome), vertices)| vertices.iter().map(move |&vertex| Dependence { on, outcome, vertex }))
}

/// The smallest part of the dependences that has all ways from the root to the vertex.
pub fn decision_graph(graph: &Icfg, dependences: &Dependences, goal: usize) -> Vec<Dependence> {
    let Some(&(_, root, _)) = graph.functions.first() else { return Vec::new() };
    let mut decided_by = vec![Vec::new(); graph.vertices.len()];
    let mut decides = vec![Vec::new(); graph.vertices.len()];
    let arcs: Vec<Dependence> = each_dependence(dependences).filter(|arc| arc.on != arc.vertex).collect();
    for arc in &arcs {
        decides[arc.on].push(arc.vertex);
        decided_by[arc.vertex].push(arc.on);
    }
    let (from_root, to_goal) = (reached(root, &decides), reached(goal, &decided_by));
    let leads = |arc: &Dependence| from_root[arc.on] && to_goal[arc.vertex] && arc.on != goal;
    arcs.into_iter().filter(leads).collect()
}

fn reached(from: usize, next: &[Vec<usize>]) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut waiting = vec![from];
    while let Some(at) = waiting.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            waiting.extend(&next[at]);
        }
    }
    seen
}

/// The greatest solution: sets only lose what some way goes around.
fn passed(graph: &Icfg, across_calls: bool) -> Option<Passed> {
    let size = graph.vertices.len();
    if size > MOST_VERTICES {
        return None;
    }
    let all = || vec![Set::all(size); size];
    let mut passed = Passed { to_end: all(), to_exit: all() };
    let successors = graph.successors();
    let mut changed = true;
    while changed {
        changed = false;
        for vertex in (0..size).rev() {
            let (to_end, to_exit) = step(graph, &successors[vertex], &passed, vertex, across_calls);
            changed |= to_end != passed.to_end[vertex] || to_exit != passed.to_exit[vertex];
            (passed.to_end[vertex], passed.to_exit[vertex]) = (to_end, to_exit);
        }
    }
    Some(passed)
}

fn step(
    graph: &Icfg,
    successors: &[super::icfg::IcfgArc],
    passed: &Passed,
    vertex: usize,
    across_calls: bool,
) -> (Set, Set) {
    let size = graph.vertices.len();
    let only = || Set::none(size).with(vertex);
    match graph.vertices[vertex].kind {
        IcfgKind::Exit => return (Set::all(size), only()),
        IcfgKind::GlobalExit => return (only(), Set::all(size)),
        IcfgKind::Call { callee, back } => {
            let (behind_end, behind_exit) = (&passed.to_end[back], &passed.to_exit[back]);
            if !across_calls {
                return (behind_end.clone().with(vertex), behind_exit.clone().with(vertex));
            }
            let entry = graph.place_of(callee).map_or(back, |place| graph.functions[place].1);
            let (inside_end, inside_exit) = (&passed.to_end[entry], &passed.to_exit[entry]);
            let to_end = behind_end.clone().or(inside_exit).and(inside_end);
            return (to_end.with(vertex), behind_exit.clone().or(inside_exit).with(vertex));
        }
        _ => {}
    }
    let (mut to_end, mut to_exit) = (Set::all(size), Set::all(size));
    for arc in successors {
        match arc.kind {
            // Seen from the function alone, the program's end is its own.
            IcfgArcKind::Halt | IcfgArcKind::Endless if across_calls => to_end = to_end.and(&only()),
            IcfgArcKind::Halt | IcfgArcKind::Endless => to_exit = to_exit.and(&exit_of(graph, vertex, only())),
            _ => {
                to_end = to_end.and(&passed.to_end[arc.to]);
                to_exit = to_exit.and(&passed.to_exit[arc.to]);
            }
        }
    }
    (to_end.with(vertex), to_exit.with(vertex))
}

/// With the exit of the vertex's function.
fn exit_of(graph: &Icfg, vertex: usize, set: Set) -> Set {
    let function = graph.vertices[vertex].node.and_then(|(function, _)| graph.place_of(function));
    match function {
        Some(place) => set.with(graph.functions[place].2),
        None => set,
    }
}

/// By function: what lies on every way behind its exit, for those who may have called it.
fn continuations(graph: &Icfg, passed: &Passed) -> BTreeMap<usize, BTreeSet<Set>> {
    let nothing = Set::none(graph.vertices.len());
    let mut known: BTreeMap<usize, BTreeSet<Set>> = BTreeMap::from([(0, BTreeSet::from([nothing.clone()]))]);
    let mut waiting = vec![(0, nothing)];
    while let Some((caller, behind)) = waiting.pop() {
        let (_, entry, exit) = graph.functions[caller];
        for vertex in entry..=exit {
            let IcfgKind::Call { callee, back } = graph.vertices[vertex].kind else { continue };
            let Some(at) = graph.place_of(callee) else { continue };
            let after = passed.must(back, &behind);
            let of_callee = known.entry(at).or_default();
            if of_callee.len() < MOST_CONTINUATIONS && of_callee.insert(after.clone()) {
                waiting.push((at, after));
            }
        }
    }
    known
}

fn dependences(graph: &Icfg, passed: &Passed, continuations: &BTreeMap<usize, BTreeSet<Set>>) -> Dependences {
    let successors = graph.successors();
    let mut found = Dependences::new();
    for (at, behind) in continuations.iter().flat_map(|(at, all)| all.iter().map(move |behind| (*at, behind))) {
        let (_, entry, exit) = graph.functions[at];
        for predicate in (entry..=exit).filter(|&vertex| graph.vertices[vertex].kind == IcfgKind::Predicate) {
            let mut on_ways: BTreeMap<u32, Set> = BTreeMap::new();
            for arc in &successors[predicate] {
                let IcfgArcKind::Outcome(outcome) = arc.kind else { continue };
                let must = passed.must(arc.to, behind);
                let of_outcome = on_ways.remove(&outcome);
                on_ways.insert(outcome, of_outcome.map_or(must.clone(), |set| set.and(&must)));
            }
            let whatever = on_ways.values().fold(Set::all(graph.vertices.len()), Set::and);
            for (outcome, set) in &on_ways {
                let decided = (0..graph.vertices.len()).filter(|&vertex| set.has(vertex) && !whatever.has(vertex));
                found.entry((predicate, Some(*outcome))).or_default().extend(decided);
            }
        }
    }
    found.retain(|_, vertices| !vertices.is_empty());
    found
}
