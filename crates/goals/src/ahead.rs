//! Which arcs of an abstract tree can follow a partial path, as far as the graphs say.

use std::collections::{BTreeMap, HashSet};

use branchwise_program::map::Event;
use branchwise_program::{FunctionId, Id, MarkerId, NodeId};

use crate::abstraction::{Abstraction, Decisions, TreeArc};
use crate::graphs::{Callee, Graphs, Next};

/// Where the activations of a run stand, the innermost last: a node, and how many of its calls have returned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Point {
    pub stack: Vec<(FunctionId, NodeId, usize)>,
}

/// What a run comes to next.
enum Arrival {
    Marker(MarkerId),
    End,
    /// The graphs do not tell.
    Unknown,
}

/// More points than this are not looked at: then anything may follow.
const MOST_POINTS: usize = 2_000;
const MOST_SILENT_STEPS: usize = 10_000;

/// The abstract paths that are covered, as a tree.
#[derive(Debug, Clone)]
pub(crate) struct Covered {
    nodes: Vec<CoveredNode>,
}

#[derive(Debug, Clone, Default)]
struct CoveredNode {
    arcs: BTreeMap<TreeArc, usize>,
    /// A path ends here.
    ends: bool,
}

impl Default for Covered {
    fn default() -> Self {
        Covered { nodes: vec![CoveredNode::default()] }
    }
}

impl Covered {
    /// Adds a path; `false` if it was there.
    pub fn add(&mut self, path: &[TreeArc]) -> bool {
        let mut at = 0;
        for &arc in path {
            let fresh = self.nodes.len();
            let next = *self.nodes[at].arcs.entry(arc).or_insert(fresh);
            if next == fresh {
                self.nodes.push(CoveredNode::default());
            }
            at = next;
        }
        !std::mem::replace(&mut self.nodes[at].ends, true)
    }

    fn node(&self, path: &[TreeArc]) -> Option<usize> {
        path.iter().try_fold(0, |at, arc| self.nodes[at].arcs.get(arc).copied())
    }
}

/// Looks for a path that is not covered.
pub(crate) struct Outlook<'a> {
    pub graphs: &'a Graphs,
    pub decisions: &'a Decisions,
    pub abstraction: Abstraction,
    pub covered: &'a Covered,
}

impl Outlook<'_> {
    /// Whether an abstract path that begins with these arcs and goes on from one of these points may be uncovered; no
    /// point: it ends there.
    pub fn may_be_new(&self, path: &[TreeArc], from: Option<Point>) -> bool {
        let Some(node) = self.covered.node(path) else { return true };
        let mut budget = MOST_POINTS;
        match from {
            None => !self.covered.nodes[node].ends,
            Some(point) => self.leads_elsewhere(node, vec![point], &mut budget),
        }
    }

    fn leads_elsewhere(&self, node: usize, mut open: Vec<Point>, budget: &mut usize) -> bool {
        let mut by_arc: BTreeMap<TreeArc, Vec<Point>> = BTreeMap::new();
        let mut seen: HashSet<Point> = HashSet::new();
        while let Some(mut point) = open.pop() {
            if *budget == 0 {
                return true;
            }
            *budget -= 1;
            let marker = match self.arrive(&mut point) {
                Arrival::Unknown => return true,
                Arrival::End if !self.covered.nodes[node].ends => return true,
                Arrival::End => continue,
                Arrival::Marker(marker) => marker,
            };
            for (event, next) in self.outcomes(&point, marker) {
                match self.decisions.arc(self.abstraction, event, point.stack.len() - 1) {
                    Some(arc) => by_arc.entry(arc).or_default().push(next),
                    None if seen.insert(next.clone()) => open.push(next),
                    None => {}
                }
            }
        }
        by_arc.into_iter().any(|(arc, points)| match self.covered.nodes[node].arcs.get(&arc) {
            None => true,
            Some(&child) => self.leads_elsewhere(child, points, budget),
        })
    }

    /// The outcomes of the marker at which a point stands, and where they lead.
    fn outcomes(&self, point: &Point, marker: MarkerId) -> Vec<(Event, Point)> {
        let Some((&(function, ..), waiting)) = point.stack.split_last() else { return Vec::new() };
        let targets = self.graphs.functions[function].targets.iter().filter(|(event, _)| event.marker == marker);
        let mut outcomes: Vec<(Event, Point)> = targets
            .map(|(&event, &target)| {
                let stack = waiting.iter().copied().chain([(function, target, 0)]).collect();
                (event, Point { stack })
            })
            .collect();
        outcomes.sort_by_key(|(event, _)| *event);
        outcomes
    }

    /// Goes on to the next marker.
    fn arrive(&self, point: &mut Point) -> Arrival {
        for _ in 0..MOST_SILENT_STEPS {
            let Some(top) = point.stack.last_mut() else { return Arrival::End };
            let vertex = &self.graphs.functions[top.0].nodes[top.1.index()];
            if let Some(callee) = vertex.calls.get(top.2) {
                match *callee {
                    Callee::Function(function) => {
                        let entry = self.graphs.functions[function].entry;
                        point.stack.push((function, entry, 0));
                    }
                    Callee::Returns => top.2 += 1,
                    Callee::MayEnd | Callee::Opaque | Callee::Jumps | Callee::Throws | Callee::MayThrow => {
                        return Arrival::Unknown;
                    }
                }
                continue;
            }
            match vertex.next {
                Next::Node(node) => (top.1, top.2) = (node, 0),
                Next::Marker(marker) => return Arrival::Marker(marker),
                Next::Return => {
                    point.stack.pop();
                    point.stack.last_mut().into_iter().for_each(|caller| caller.2 += 1);
                }
                Next::Unknown => return Arrival::Unknown,
            }
        }
        Arrival::Unknown
    }
}
