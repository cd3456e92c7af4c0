//! How far outcomes are from goals along decision graphs (Sy and Deville 2003, section 5): in decisions that must still be
//! taken, across calls, and not in statements on the way.

use std::collections::{BTreeMap, HashMap, VecDeque};

use branchwise_goals::Ledger;
use branchwise_program::FunctionId;
use branchwise_program::NodeId;
use branchwise_program::graph::{Dependence, Icfg, each_dependence, interprocedural_dependences};
use branchwise_program::map::{Event, Map};

/// The interprocedural control dependences of a unit under test. Calls through pointers are not in them, so they say what
/// to try first and never what to leave out.
#[derive(Debug, Clone)]
pub struct DecisionGraph {
    arcs: Vec<Dependence>,
    /// The predicate that an outcome belongs to, and its value there; `None` where more conditions of it follow.
    outcomes: BTreeMap<Event, (usize, Option<u32>)>,
    vertices: HashMap<(FunctionId, NodeId), Vec<usize>>,
}

impl DecisionGraph {
    /// `None` where the program is too large for it.
    pub fn of(map: &Map, unit: FunctionId) -> Option<Self> {
        let graph = Icfg::of(map, unit);
        let dependences = interprocedural_dependences(&graph)?;
        let mut vertices: HashMap<(FunctionId, NodeId), Vec<usize>> = HashMap::new();
        for (index, vertex) in graph.vertices.iter().enumerate() {
            vertex.node.into_iter().for_each(|node| vertices.entry(node).or_default().push(index));
        }
        let arcs = each_dependence(&dependences).filter(|arc| arc.on != arc.vertex).collect();
        Some(DecisionGraph { arcs, outcomes: graph.outcomes(map), vertices })
    }

    /// For each outcome from which an open goal can follow: how many decisions lie between them at least.
    pub fn distances(&self, ledger: &Ledger) -> HashMap<Event, u32> {
        let mut decided_by: HashMap<usize, Vec<&Dependence>> = HashMap::new();
        self.arcs.iter().for_each(|arc| decided_by.entry(arc.vertex).or_default().push(arc));
        let helping = self.outcomes.iter().filter(|(event, _)| ledger.would_help(**event)).map(|(_, (at, _))| *at);
        let nodes = ledger.open_nodes().filter_map(|node| self.vertices.get(&node)).flatten().copied();
        let mut distance: HashMap<usize, u32> = helping.chain(nodes).map(|vertex| (vertex, 0)).collect();
        let mut starts: Vec<usize> = distance.keys().copied().collect();
        starts.sort_unstable();
        let mut queue: VecDeque<usize> = starts.into();
        let mut of_outcome: HashMap<(usize, Option<u32>), u32> = HashMap::new();
        while let Some(vertex) = queue.pop_front() {
            let steps = distance[&vertex];
            for arc in decided_by.get(&vertex).into_iter().flatten() {
                of_outcome.entry((arc.on, arc.outcome)).or_insert(steps);
                distance.entry(arc.on).or_insert_with(|| {
                    queue.push_back(arc.on);
                    steps + 1
                });
            }
        }
        let nearest = |at: usize| of_outcome.iter().filter(|((on, _), _)| *on == at).map(|(_, steps)| *steps).min();
        let of_event = |(&event, &(at, value)): (&Event, &(usize, Option<u32>))| {
            let steps = match value {
                Some(_) => of_outcome.get(&(at, value)).copied(),
                None => nearest(at),
            };
            steps.map(|steps| (event, steps))
        };
        self.outcomes.iter().filter_map(of_event).collect()
    }
}
