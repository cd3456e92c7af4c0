use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Digraph;
use super::dominators::immediate_dominators;
use super::supergraph::{Call, Callee, Part, Supergraph};
use crate::map::Map;
use crate::{EdgeId, FunctionId, Id, IdVec, NodeId};

/// An edge of a program.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramEdge {
    pub function: FunctionId,
    pub edge: EdgeId,
}

/// Which edges of a program are taken wherever others are: annex C's relation across calls.
///
/// An edge e implies an edge d if every execution from a root through e takes d, and that follows from these rules:
/// d *dominates* e (it is on every path from the roots to e), d *post-dominates* e (it is on every path from e to an
/// end), the run completes a call whose callee has passed d by then, or it makes a call that d follows. Paths match returns with calls: behind a call of a function that was entered elsewhere nothing is concluded.
///
/// Dominance holds for every execution that takes e, however it goes on. Post-dominance is a claim about executions
/// that end as the graphs say: a root returns, something is called that never returns (`exit()`), or, from where
/// neither can be reached any more, the run is stopped anywhere. Nothing is claimed behind a call in which the program
/// may end like that. A fault, a `longjmp()` or `exit()` in code that is not here, and a loop that could be left but is
/// not end an execution before: of such a one only what dominates is certain.
///
/// Calls through pointers, and into code that may call back, lead to every function. What is certain only because two
/// ways call the same function, or two targets of a pointer do, or functions that call each other must stop at some
/// time (but not a function that calls itself), is not found.
#[derive(Debug, Clone)]
pub struct Implications {
    /// Of each function the vertex of its first edge.
    first_edges: IdVec<FunctionId, usize>,
    reachable: Vec<ProgramEdge>,
    classes: Vec<Vec<ProgramEdge>>,
    /// From each vertex to what it implies immediately.
    graph: Digraph,
}

/// Behind the vertices of the functions: the one from which any function may be entered, the one to which any may return,
/// and the root of a dominator tree.
const ENTERED: usize = 0;
const RETURNED: usize = 1;
const OUTER: usize = 2;

impl Implications {
    /// For the executions that begin in one of `roots`.
    pub fn of(map: &Map, roots: &[FunctionId]) -> Self {
        let program = Supergraph::of(map);
        let before = Before::of(&program, roots);
        let immediate_after = immediate_postdominators(&program, roots, &before.reached);
        let mut arcs = completed_calls(&program, &before.reached);
        arcs.extend(innermost_calls(&program, &before.reached));
        let order = arcs.clone();
        arcs.extend(entered_calls(&program, &before.reached));
        let outer = program.vertices + OUTER;
        for (vertex, above) in before.immediate.iter().zip(&immediate_after).enumerate().take(outer) {
            let above = [above.0, above.1].into_iter().flatten().filter(|&&above| above < outer);
            arcs.extend(above.map(|&above| (vertex, above)));
        }
        let first_edges = program.parts.values().map(|part| part.edge(EdgeId(0))).collect();
        let graph = Digraph::new(outer, &arcs);
        let reachable = reachable_edges(&program, &before.reached);
        let mut found = Implications { first_edges, reachable, classes: Vec::new(), graph };
        found.classes = found.find_classes(&ages(&before, &order));
        found
    }

    /// The edges that some path from a root reaches, in order.
    pub fn reachable(&self) -> &[ProgramEdge] {
        &self.reachable
    }

    /// The interprocedurally unconstrained edges: a smallest set that implies every edge that can be reached. In order.
    ///
    /// Of edges that imply each other this takes the one that comes last, because a run that stops half-way has taken the
    /// others.
    pub fn unconstrained(&self) -> Vec<ProgramEdge> {
        self.classes.iter().filter_map(|class| class.last().copied()).collect()
    }

    /// Each unconstrained edge, last, behind the edges that imply it and are implied by it.
    pub fn unconstrained_classes(&self) -> &[Vec<ProgramEdge>] {
        &self.classes
    }

    /// What an edge implies, itself included, in order.
    pub fn implied(&self, edge: ProgramEdge) -> Vec<ProgramEdge> {
        let implied = self.graph.reachable_from(self.vertex(edge));
        self.reachable.iter().copied().filter(|other| implied[self.vertex(*other)]).collect()
    }

    fn vertex(&self, edge: ProgramEdge) -> usize {
        self.first_edges[edge.function] + edge.edge.index()
    }

    /// The classes of edges that imply each other and that no other edge implies.
    fn find_classes(&self, ages: &[usize]) -> Vec<Vec<ProgramEdge>> {
        let component = self.graph.components();
        let components = component.iter().max().map_or(0, |last| last + 1);
        let mut classes: Vec<Vec<ProgramEdge>> = vec![Vec::new(); components];
        for &edge in &self.reachable {
            classes[component[self.vertex(edge)]].push(edge);
        }
        let mut arcs: Vec<_> = self.graph.edges().map(|(from, to)| (component[from], component[to])).collect();
        arcs.sort_unstable();
        let mut implied = vec![false; components];
        // An arc never leads to a component with a higher number.
        for &(from, to) in arcs.iter().rev().filter(|(from, to)| from != to) {
            implied[to] |= implied[from] || !classes[from].is_empty();
        }
        let free = classes.into_iter().zip(implied).filter(|(class, implied)| !class.is_empty() && !implied);
        let mut free: Vec<_> = free.map(|(class, _)| class).collect();
        free.iter_mut().for_each(|class| class.sort_by_key(|edge| (ages[self.vertex(*edge)], Reverse(*edge))));
        free.sort_by_key(|class| class.last().copied());
        free
    }
}

fn reachable_edges(program: &Supergraph<'_>, reached: &[bool]) -> Vec<ProgramEdge> {
    let mut edges = Vec::new();
    for (function, of, part) in program.function_parts() {
        let reachable = of.cfg.edges.ids().filter(|&edge| reached[part.edge(edge)]);
        edges.extend(reachable.map(|edge| ProgramEdge { function, edge }));
    }
    edges
}

/// A call that is completed has passed the exit of what it called.
fn completed_calls(program: &Supergraph<'_>, reached: &[bool]) -> Vec<(usize, usize)> {
    let mut arcs = Vec::new();
    for call in call_nodes(program, reached).flat_map(|(.., calls)| calls) {
        if let (Callee::Here(callee), Some(completion)) = (call.callee, call.completion.filter(|&it| reached[it])) {
            arcs.push((completion, program.parts[callee].after(program.parts[callee].exit)));
        }
    }
    arcs
}

/// A call that is made enters its callee. Of several calls in one node the order is not known, and one that does not come
/// back may keep the others from being made.
fn entered_calls(program: &Supergraph<'_>, reached: &[bool]) -> Vec<(usize, usize)> {
    let mut arcs = Vec::new();
    for (_, node, part, calls) in call_nodes(program, reached) {
        if let ([Call { callee: Callee::Here(callee), certain: true, .. }], false) = (calls, part.ends[node.index()]) {
            arcs.push((part.before(node), program.parts[*callee].before(program.parts[*callee].entry)));
        }
    }
    arcs
}

/// A function that calls itself and has returned has also returned without doing so: the innermost time.
fn innermost_calls(program: &Supergraph<'_>, reached: &[bool]) -> Vec<(usize, usize)> {
    let mut inner = vec![false; program.vertices];
    let mut recursive = BTreeSet::new();
    for (function, .., calls) in call_nodes(program, reached) {
        for call in calls.iter().filter(|call| call.callee == Callee::Here(function)) {
            call.completion.into_iter().for_each(|completion| inner[completion] = true);
            recursive.insert(function);
        }
    }
    let root = program.vertices;
    let mut own: Vec<_> = program.own.iter().copied().filter(|(_, to)| !inner[*to]).collect();
    own.extend(recursive.iter().map(|&function| (root, program.parts[function].before(program.parts[function].entry))));
    let immediate = immediate_dominators(&Digraph::new(root + 1, &own), root);
    let mut arcs = Vec::new();
    for function in recursive {
        let exit = program.parts[function].after(program.parts[function].exit);
        let above = std::iter::successors(immediate[exit], |&above| immediate[above]);
        arcs.extend(above.filter(|&above| above != root).map(|above| (exit, above)));
    }
    arcs
}

/// How many of the vertices that are certainly passed before each other come before a vertex: later is older.
fn ages(before: &Before, order: &[(usize, usize)]) -> Vec<usize> {
    let dominators = before.immediate.iter().enumerate().filter_map(|(vertex, above)| Some((vertex, (*above)?)));
    let arcs: Vec<_> = dominators.chain(order.iter().copied()).collect();
    let graph = Digraph::new(before.immediate.len(), &arcs);
    let component = graph.components();
    let mut vertices: Vec<usize> = (0..graph.vertex_count()).collect();
    vertices.sort_by_key(|&vertex| component[vertex]);
    let mut ages = vec![0; graph.vertex_count()];
    for vertex in vertices {
        ages[vertex] = graph.successors(vertex).iter().map(|&earlier| ages[earlier] + 1).max().unwrap_or(0);
    }
    ages
}

type CallNode<'p> = (FunctionId, NodeId, &'p Part, &'p [Call]);

/// The nodes with calls that are reached.
fn call_nodes<'p>(program: &'p Supergraph<'_>, reached: &'p [bool]) -> impl Iterator<Item = CallNode<'p>> {
    program.parts.iter().flat_map(move |(id, part)| {
        let nodes = part.calls.iter().enumerate().filter(|(_, calls)| !calls.is_empty());
        let nodes = nodes.map(move |(node, calls)| (id, NodeId::new(node), part, &calls[..]));
        nodes.filter(|(_, node, part, _)| reached[part.before(*node)])
    })
}

/// The paths from the roots.
struct Before {
    reached: Vec<bool>,
    immediate: Vec<Option<usize>>,
}

impl Before {
    fn of(program: &Supergraph<'_>, roots: &[FunctionId]) -> Self {
        let (start, anywhere) = (program.vertices + OUTER, program.vertices + ENTERED);
        let entry = |function: FunctionId| program.parts[function].before(program.parts[function].entry);
        let mut arcs = program.own.clone();
        arcs.extend(roots.iter().map(|&root| (start, entry(root))));
        arcs.extend(program.parts.ids().map(|function| (anywhere, entry(function))));
        let everywhere = vec![true; program.vertices];
        for (_, node, part, calls) in call_nodes(program, &everywhere) {
            for call in calls {
                let to = match call.callee {
                    Callee::Here(callee) => entry(callee),
                    Callee::Anywhere => anywhere,
                };
                arcs.push((part.before(node), to));
            }
        }
        let graph = Digraph::new(start + 1, &arcs);
        let reached = graph.reachable_from(start);
        let immediate = immediate_dominators(&graph, start);
        Before { reached, immediate }
    }
}

/// On the paths to the ends, over what is reached. A function returns to all calls of it.
fn immediate_postdominators(program: &Supergraph<'_>, roots: &[FunctionId], reached: &[bool]) -> Vec<Option<usize>> {
    let (end, anywhere) = (program.vertices + OUTER, program.vertices + RETURNED);
    let exit = |function: FunctionId| program.parts[function].after(program.parts[function].exit);
    let mut arcs: Vec<(usize, usize)> = program.own.iter().copied().filter(|(from, _)| reached[*from]).collect();
    arcs.extend(roots.iter().map(|&root| (exit(root), end)));
    let mut called_anywhere = false;
    for (_, node, part, calls) in call_nodes(program, reached) {
        let kept = calls.iter().any(|call| program.may_keep(call.callee));
        arcs.extend(kept.then_some((part.before(node), end)));
        for call in calls {
            let returned = match call.callee {
                Callee::Here(callee) => exit(callee),
                Callee::Anywhere => {
                    called_anywhere = true;
                    anywhere
                }
            };
            let next = match call.completion {
                None => end,
                Some(completion) if calls.len() == 1 => completion,
                // Which of the others have been made by then is not known.
                Some(_) => part.after(node),
            };
            arcs.push((returned, next));
            arcs.extend((calls.len() > 1 && kept).then_some((returned, end)));
        }
    }
    if called_anywhere {
        arcs.extend(program.parts.ids().map(|function| (exit(function), anywhere)));
        arcs.extend(program.may_keep(Callee::Anywhere).then_some((anywhere, end)));
    }
    for (_, function, part) in program.function_parts() {
        for (id, edge) in function.cfg.edges.iter() {
            arcs.extend((part.ends[edge.from.index()] && reached[part.edge(id)]).then_some((part.edge(id), end)));
        }
    }
    let kept = |vertex: usize| vertex >= program.vertices || reached[vertex];
    arcs.retain(|&(from, to)| kept(from) && kept(to));
    let graph = Digraph::new(end + 1, &arcs);
    let mut turned: Vec<(usize, usize)> = arcs.iter().map(|&(from, to)| (to, from)).collect();
    let stopped = never_left(&graph).into_iter().filter(|&vertex| vertex < program.vertices && reached[vertex]);
    turned.extend(stopped.map(|vertex| (end, vertex)));
    immediate_dominators(&Digraph::new(end + 1, &turned), end)
}

/// The vertices of components that no arc leaves.
fn never_left(graph: &Digraph) -> Vec<usize> {
    let component = graph.components();
    let mut left = vec![false; graph.vertex_count()];
    for (from, to) in graph.edges() {
        left[component[from]] |= component[from] != component[to];
    }
    (0..graph.vertex_count()).filter(|&vertex| !left[component[vertex]]).collect()
}
