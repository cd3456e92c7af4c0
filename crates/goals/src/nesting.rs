//! The abstract nodes of a function (Williams 2010, section 3) and how they contain each other.

use std::collections::{BTreeSet, HashMap};

use branchwise_program::graph::{EndlessLoops, node_postdominators};
use branchwise_program::map::{Decision, DecisionKind, Formula, Function, Map, Place};
use branchwise_program::{FunctionId, MarkerId, NodeId};

use crate::abstraction::Decisions;
use crate::fragments::between;
use crate::loops::LoopShape;

/// An abstract node, or a condition inside of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbstractNode {
    pub kind: AbstractKind,
    /// As paths name it, and the text of the source.
    pub name: String,
    pub text: String,
    pub place: Place,
    /// The node that contains it; `None`: the function does.
    pub parent: Option<usize>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum AbstractKind {
    /// If-then-else.
    Choice,
    Loop,
    Call,
    And,
    Or,
    Condition,
    Switch,
}

impl AbstractKind {
    pub fn name(self) -> &'static str {
        match self {
            AbstractKind::Choice => "ITE",
            AbstractKind::Loop => "LOOP",
            AbstractKind::Call => "CALL",
            AbstractKind::And => "AND",
            AbstractKind::Or => "OR",
            AbstractKind::Condition => "condition",
            AbstractKind::Switch => "switch",
        }
    }
}

/// Everything in a function that an abstract tree can have as one node, with its conditions; containers come before
/// what they contain.
pub fn abstract_nodes(map: &Map, function: FunctionId) -> Vec<AbstractNode> {
    let mut nesting = Nesting {
        map,
        function: &map.functions[function],
        names: Decisions::of(map),
        nodes: Vec::new(),
        regions: Vec::new(),
    };
    nesting.add_regions();
    nesting.add_decisions();
    nesting.add_calls();
    nesting.nodes
}

/// A loop or a conditional: what it is made of.
struct Region {
    nodes: BTreeSet<NodeId>,
    /// The first node of the decision that it belongs to.
    decided_at: Option<NodeId>,
    index: usize,
}

struct Nesting<'a> {
    map: &'a Map,
    function: &'a Function,
    names: Decisions,
    nodes: Vec<AbstractNode>,
    regions: Vec<Region>,
}

impl Nesting<'_> {
    fn first_node(&self, decision: &Decision) -> Option<NodeId> {
        decision.formula.leaves().first().map(|&leaf| self.map.markers[leaf].node)
    }

    /// Loops and conditionals, the larger ones first.
    fn add_regions(&mut self) {
        let shapes: Vec<LoopShape> =
            self.function.loops.iter().map(|found| LoopShape::of(self.map, self.function, found)).collect();
        let mut found: Vec<(BTreeSet<NodeId>, Option<NodeId>, AbstractKind, Place)> = Vec::new();
        for (shape, found_loop) in shapes.iter().zip(&self.function.loops) {
            let condition = shape.condition.as_ref().and_then(|events| events.first());
            let leaf_node = condition.and_then(|event| {
                let mut decisions = self.function.decisions.iter();
                let own = decisions.find(|decision| decision.formula.leaves().contains(&event.marker));
                own.and_then(|decision| self.first_node(decision))
            });
            found.push((shape.body.clone(), leaf_node, AbstractKind::Loop, found_loop.place));
        }
        for decision in &self.function.decisions {
            if let (DecisionKind::If | DecisionKind::Conditional, Some(first)) =
                (decision.kind, self.first_node(decision))
            {
                found.push((self.choice(first, &shapes), Some(first), AbstractKind::Choice, decision.place));
            }
        }
        found.sort_by_key(|(nodes, _, kind, place)| (usize::MAX - nodes.len(), *kind == AbstractKind::Choice, *place));
        for (nodes, decided_at, kind, place) in found {
            let parent = self.innermost(|region| region.is_superset(&nodes));
            let name = place.line.to_string();
            self.regions.push(Region { nodes, decided_at, index: self.nodes.len() });
            self.nodes.push(AbstractNode { kind, name, text: String::new(), place, parent });
        }
    }

    /// The nodes of a conditional, up to where both sides meet again, or its loop begins anew.
    fn choice(&self, first: NodeId, loops: &[LoopShape]) -> BTreeSet<NodeId> {
        let mut successors: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for edge in self.function.cfg.edges.values() {
            successors.entry(edge.from).or_default().push(edge.to);
        }
        let after = node_postdominators(&self.function.cfg, EndlessLoops::StopAtHeads);
        let join = after.immediate(first).unwrap_or(self.function.cfg.exit);
        let mut nodes: BTreeSet<NodeId> = between(&successors, first, join).into_iter().collect();
        let around = loops.iter().filter(|shape| shape.body.contains(&first)).min_by_key(|shape| shape.body.len());
        if let Some(around) = around {
            nodes.retain(|node| around.body.contains(node) && (*node != around.head || *node == first));
        }
        nodes
    }

    /// The smallest region that fits, of those that are known.
    fn innermost(&self, fits: impl Fn(&BTreeSet<NodeId>) -> bool) -> Option<usize> {
        self.regions.iter().rev().find(|region| fits(&region.nodes)).map(|region| region.index)
    }

    fn add_decisions(&mut self) {
        let function = self.function;
        for decision in &function.decisions {
            let Some(first) = self.first_node(decision) else { continue };
            let own = self.regions.iter().find(|region| region.decided_at == Some(first)).map(|region| region.index);
            let parent = own.or_else(|| self.innermost(|nodes| nodes.contains(&first)));
            self.add_formula(&decision.formula, decision, parent);
        }
    }

    fn add_formula(&mut self, formula: &Formula, decision: &Decision, parent: Option<usize>) {
        let (kind, left, right) = match formula {
            Formula::Leaf(marker) => return self.add_condition(*marker, decision, parent),
            Formula::Constant(_) => return,
            Formula::Not(inner) => return self.add_formula(inner, decision, parent),
            Formula::And(left, right) => (AbstractKind::And, left, right),
            Formula::Or(left, right) => (AbstractKind::Or, left, right),
        };
        let index = self.nodes.len();
        let place = formula.leaves().first().map_or(decision.place, |&leaf| self.map.markers[leaf].place);
        self.nodes.push(AbstractNode { kind, name: String::new(), text: String::new(), place, parent });
        self.add_formula(left, decision, Some(index));
        self.add_formula(right, decision, Some(index));
    }

    fn add_condition(&mut self, marker: MarkerId, decision: &Decision, parent: Option<usize>) {
        let kind = match decision.kind {
            DecisionKind::Switch => AbstractKind::Switch,
            _ => AbstractKind::Condition,
        };
        let (text, place) = (self.map.markers[marker].text.clone(), self.map.markers[marker].place);
        let name = self.names.name(marker).to_string();
        self.nodes.push(AbstractNode { kind, name, text, place, parent });
    }

    fn add_calls(&mut self) {
        let function = self.function;
        for call in &function.calls {
            let parent = self.innermost(|nodes| nodes.contains(&call.node));
            let text = call.callee.clone().map_or("through a pointer".to_string(), |name| name + "()");
            let name = call.place.line.to_string();
            self.nodes.push(AbstractNode { kind: AbstractKind::Call, name, text, place: call.place, parent });
        }
    }
}
