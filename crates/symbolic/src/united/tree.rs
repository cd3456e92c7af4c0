//! Partial execution trees (Lapierre 1998, annex A, 3.1): all ways from the entry that end where a goal is taken, without
//! joining any two of them. What lies on a common prefix is executed once.
//!
//! *How often* (`max_loops`, equation 6, counts for a node how many others on the path are the same one): k limits how
//! often a marker is decided anew. A way is cut where a marker would be decided by the inputs for more than k + 1 times in
//! the activations that are still open at that point. So k = 0 is every decision once, and `wc`'s figure 6 needs k = 1. Two
//! things do not count: decisions that all inputs on the way take alike, which unrolls loops of a fixed length without
//! asking, and those of calls that have returned, whose paths are paths of their own (`SubPathLeaves`). Library functions
//! have no markers, so what they decide (whether a stream goes on) does not count either; bounds on loops and inputs end
//! such ways. A tree for k has the ways of the trees for all smaller k, where equation 7 has only those that need k.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use branchwise_constraints::{Formula, Model, TermId};
use branchwise_program::code::Location;
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, MarkerId};

use super::{Asked, Quest, STEPS_BETWEEN_LOOKS, State, Stop, Uniter, Way};
use crate::path::{Alternative, AlternativeKind, Caveats, FaultKind, PathEnd};
use crate::session::Session;
use crate::united::UnionLimits;

/// How much one tree may cost.
#[derive(Debug, Copy, Clone)]
pub struct TreeLimits<'a> {
    /// Of all its ways together.
    pub ways: UnionLimits<'a>,
    pub nodes: usize,
    pub reach: Reach,
}

/// How far the ways of a tree go.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Reach {
    /// They end where a watched outcome is taken: the tree of one goal.
    Goal,
    /// They go on while another watched outcome may follow: the trees of many goals in one.
    Beyond,
}

/// All ways to a goal, or to several.
#[derive(Debug)]
pub struct ExecutionTree {
    /// The root first, every other node behind its parent.
    pub nodes: Vec<TreeNode>,
    /// What holds for all inputs.
    pub domain: Vec<TermId>,
    /// The outcomes that it leads to.
    pub goals: HashSet<Event>,
    pub k: u32,
    pub caveats: Caveats,
    /// No way was left because of a limit on the size of the tree, or of the time.
    pub whole: bool,
    pub steps: u64,
}

/// A decision on the way, and what follows it up to the next.
#[derive(Debug)]
pub struct TreeNode {
    pub parent: Option<usize>,
    /// What an input that came to the parent must satisfy to come here; `None`: all do.
    pub condition: Option<TermId>,
    /// The outcome that is taken here.
    pub event: Option<Event>,
    pub fate: Fate,
    /// Lines of the program that are entered before the next node, callees included.
    pub lines: u32,
}

/// What becomes of a way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Others go on from here.
    Inner,
    /// The goal is taken here.
    Goal,
    /// It would repeat a decision too often.
    Repeated,
    /// No input comes here.
    Refuted,
    /// No way from here leads to the goal.
    Left,
    /// Behind the bounds of an object: a fault, or an input larger than those that are tried.
    Bounded,
    /// It ended before it came to the goal.
    Ended(PathEnd),
    /// A limit of the tree stopped it.
    Unfinished,
}

impl TreeNode {
    /// Whether one of these outcomes is taken here, on a way that was followed so far.
    fn takes_any(&self, outcomes: &HashSet<Event>) -> bool {
        let followed = matches!(self.fate, Fate::Inner | Fate::Goal | Fate::Ended(_) | Fate::Unfinished);
        followed && self.event.is_some_and(|event| outcomes.contains(&event))
    }
}

impl ExecutionTree {
    /// How many ways reach the goal.
    pub fn paths(&self) -> usize {
        self.paths_to(&self.goals)
    }

    /// How many nodes take one of these outcomes.
    pub fn paths_to(&self, outcomes: &HashSet<Event>) -> usize {
        self.nodes.iter().filter(|node| node.takes_any(outcomes)).count()
    }

    /// Whether a larger k could add a way.
    pub fn could_grow(&self) -> bool {
        self.nodes.iter().any(|node| node.fate == Fate::Repeated)
    }

    /// Lines of the program on the ways to the goal, shared ones once: the nodes of ETN'.
    pub fn lines(&self) -> u64 {
        self.lines_to(&self.goals)
    }

    /// The same for these outcomes, in a tree that goes beyond its goals.
    pub fn lines_to(&self, outcomes: &HashSet<Event>) -> u64 {
        let mut leads: Vec<bool> = self.nodes.iter().map(|node| node.takes_any(outcomes)).collect();
        let mut lines = 0;
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if leads[index] {
                lines += u64::from(node.lines);
                node.parent.into_iter().for_each(|parent| leads[parent] = true);
            }
        }
        lines
    }

    /// The partial branch coverability condition (equation 14): what an input must satisfy to reach the goal on one of the
    /// tree's ways. Alternatives where ways part, conjunctions along them.
    pub fn condition(&self) -> Formula {
        self.condition_of(&self.goals)
    }

    /// The same for these outcomes, in a tree that goes beyond its goals.
    pub fn condition_of(&self, outcomes: &HashSet<Event>) -> Formula {
        let mut below: Vec<Vec<Formula>> = self.nodes.iter().map(|_| Vec::new()).collect();
        let mut root = Formula::falsehood();
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let mut alternatives = std::mem::take(&mut below[index]);
            // They were found last to first.
            alternatives.reverse();
            let rest = match node.takes_any(outcomes) {
                true => Formula::truth(),
                false => Formula::Any(alternatives),
            };
            if matches!(&rest, Formula::Any(none) if none.is_empty()) {
                continue;
            }
            let here = match node.condition {
                Some(condition) => Formula::All(vec![Formula::Condition(condition), rest]),
                None => rest,
            };
            match node.parent {
                Some(parent) => below[parent].push(here),
                None => root = here,
            }
        }
        root
    }
}

impl<'p> Session<'p> {
    /// All ways of the unit to the watched outcomes, none of which decides anything for more than k + 1 times. `None` where a test consists of several calls.
    pub fn execution_tree(&mut self, quest: Quest<'_>, k: u32, limits: &TreeLimits<'_>) -> Option<ExecutionTree> {
        self.with_uniter(quest, &limits.ways, |uniter| {
            let root = TreeNode { parent: None, condition: None, event: None, fate: Fate::Inner, lines: 0 };
            let (most_nodes, reach) = (limits.nodes, limits.reach);
            let mut grower =
                Grower { uniter, k, most_nodes, reach, nodes: vec![root], shoots: VecDeque::new(), whole: true };
            grower.grow();
            let Grower { nodes, whole, .. } = grower;
            let domain = uniter.executor.union.as_ref().map_or(Vec::new(), |union| union.domain.clone());
            let (caveats, steps) = (std::mem::take(&mut uniter.union.caveats), uniter.union.work.steps);
            let goals = std::mem::take(&mut uniter.quest.watched);
            ExecutionTree { nodes, domain, goals, k, caveats, whole, steps }
        })
    }
}

/// How often a marker was decided by the inputs in the activation at this depth.
#[derive(Debug, Clone)]
struct Visits {
    depth: usize,
    marker: MarkerId,
    times: u32,
}

/// What is to know of a way beside its state.
#[derive(Clone)]
struct Trail {
    /// Where it is in the tree.
    node: usize,
    /// Outcomes that have nodes and are still to be executed.
    announced: Vec<Event>,
    visits: Vec<Visits>,
    line: Option<(CodeFunctionId, u32)>,
}

struct Grower<'u, 'e, 's, 'p> {
    uniter: &'u mut Uniter<'e, 's, 'p>,
    k: u32,
    most_nodes: usize,
    reach: Reach,
    nodes: Vec<TreeNode>,
    /// Ways that go on, those with the fewest decisions first.
    shoots: VecDeque<(Trail, State<'p>)>,
    whole: bool,
}

impl<'p> Grower<'_, '_, '_, 'p> {
    fn grow(&mut self) {
        let state = self.uniter.executor.set_aside(Some(Rc::new(Model::new())));
        let trail = Trail { node: 0, announced: Vec::new(), visits: Vec::new(), line: None };
        self.shoots.push_back((trail, state));
        while let Some((trail, state)) = self.next() {
            if self.is_over() {
                self.shoots.push_front((trail, state));
                break;
            }
            self.follow(trail, state);
        }
        for (trail, _) in std::mem::take(&mut self.shoots) {
            self.nodes[trail.node].fate = Fate::Unfinished;
            self.whole = false;
        }
    }

    /// Breadth first as long as there is room for the states, which then depth first gets along with.
    fn next(&mut self) -> Option<(Trail, State<'p>)> {
        match self.shoots.len() < self.uniter.limits.states {
            true => self.shoots.pop_front(),
            false => self.shoots.pop_back(),
        }
    }

    fn is_over(&self) -> bool {
        let UnionLimits { run, states, steps, .. } = self.uniter.limits;
        run.interrupt.load(std::sync::atomic::Ordering::Relaxed)
            || self.shoots.len() >= states.saturating_mul(2)
            || self.nodes.len() > self.most_nodes
            || self.uniter.union.work.steps > *steps
            || self.uniter.executor.session.terms.len() > run.terms
    }

    fn follow(&mut self, mut trail: Trail, state: State<'p>) {
        let mut witness = self.uniter.executor.go_on_with(state);
        self.uniter.lineages += 1;
        self.uniter.executor.memory.begin_lineage(self.uniter.lineages);
        loop {
            self.note_line(&mut trail);
            let (stop, undo) = self.uniter.step();
            self.uniter.take_in_domain(&mut witness);
            if let Some(Stop::Fork(alternatives)) = stop {
                return self.fork(trail, undo, witness, &alternatives);
            }
            if self.reaches_goal(&mut trail) {
                return self.close(trail.node, Fate::Goal);
            }
            if let Some(Stop::End(end)) = stop {
                let end = self.uniter.executor.judged(end);
                return self.close(trail.node, Fate::Ended(end));
            }
            let depth = self.uniter.executor.frames.len();
            trail.visits.retain(|visits| visits.depth <= depth);
            if self.uniter.union.work.steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && self.is_over() {
                let state = self.uniter.executor.set_aside(witness);
                self.shoots.push_front((trail, state));
                return;
            }
        }
    }

    fn close(&mut self, node: usize, fate: Fate) {
        self.uniter.take_in_caveats();
        self.nodes[node].fate = fate;
    }

    fn note_line(&mut self, trail: &mut Trail) {
        let executor = &mut self.uniter.executor;
        let code = executor.code;
        let frame = executor.frame();
        if frame.map_function.is_none() {
            return;
        }
        let (function, place) = (frame.function, frame.decoded.place(frame.next));
        let locations = &code.functions[function].blocks[place.block].locations;
        let Some(Location { line, .. }) = locations.get(place.first as usize).copied().flatten() else { return };
        if trail.line.replace((function, line)) != Some((function, line)) {
            self.nodes[trail.node].lines += 1;
        }
    }

    /// Outcomes that nobody had to decide get nodes too.
    fn reaches_goal(&mut self, trail: &mut Trail) -> bool {
        for event in std::mem::take(&mut self.uniter.executor.events) {
            match trail.announced.iter().position(|announced| *announced == event) {
                Some(index) => {
                    trail.announced.remove(index);
                }
                None => trail.node = self.add(trail.node, None, Some(event), Fate::Inner),
            }
            if self.reach == Reach::Goal && self.uniter.quest.watched.contains(&event) {
                return true;
            }
        }
        false
    }

    fn add(&mut self, parent: usize, condition: Option<TermId>, event: Option<Event>, fate: Fate) -> usize {
        self.nodes.push(TreeNode { parent: Some(parent), condition, event, fate, lines: 0 });
        self.nodes.len() - 1
    }

    /// The step is to be repeated for each of these.
    fn fork(
        &mut self,
        trail: Trail,
        undo: Option<Box<State<'p>>>,
        witness: Option<Rc<Model>>,
        alternatives: &[Alternative],
    ) {
        self.uniter.take_in_caveats();
        if let Some(state) = undo {
            self.uniter.executor.go_on_with(*state);
        }
        let positions = self.uniter.executor.positions();
        let depth = self.uniter.executor.frames.len();
        self.uniter.executor.note_open_loops();
        let mut base = self.uniter.executor.set_aside(None);
        base.decided.extend(alternatives.iter().map(|alternative| (alternative.constraint, false)));
        let asked: Vec<Asked> = alternatives
            .iter()
            .map(|alternative| {
                let matters = !is_bounded(alternative.kind) && self.uniter.matters(alternative.kind, &positions);
                Asked { constraint: alternative.constraint, matters, must_know: false }
            })
            .collect();
        let ways = self.uniter.ways(&base.condition, &asked, witness.as_ref());
        let implied = ways.iter().filter(|way| matches!(way, Way::Refuted)).count() + 1 == ways.len();
        for (way, alternative) in ways.into_iter().zip(alternatives) {
            let event = match alternative.kind {
                AlternativeKind::Event(event) => Some(event),
                _ => None,
            };
            let mut trail = trail.clone();
            let (fate, witness) = match way {
                Way::Refuted => (Fate::Refuted, None),
                Way::Left if is_bounded(alternative.kind) => (Fate::Bounded, None),
                Way::Left => (Fate::Left, None),
                Way::Open(_) if !implied && event.is_some_and(|event| trail.is_full(depth, event, self.k)) => {
                    (Fate::Repeated, None)
                }
                Way::Open(witness) => (Fate::Inner, witness),
            };
            let condition = (!implied || fate == Fate::Refuted).then_some(alternative.constraint);
            trail.node = self.add(trail.node, condition, event, fate.clone());
            if fate != Fate::Inner {
                continue;
            }
            trail.announced.extend(event);
            let mut state = base.clone();
            state.decided.insert(alternative.constraint, true);
            state.condition.extend(condition);
            state.witness = witness;
            self.shoots.push_back((trail, state));
        }
    }
}

fn is_bounded(kind: AlternativeKind) -> bool {
    matches!(kind, AlternativeKind::Cut(_) | AlternativeKind::Fault(_, FaultKind::OutOfBounds | FaultKind::BeforeStart))
}

impl Trail {
    /// Counts one more decision of the marker in the activation at this depth; whether that is one too many.
    fn is_full(&mut self, depth: usize, event: Event, k: u32) -> bool {
        match self.visits.iter_mut().find(|visits| visits.depth == depth && visits.marker == event.marker) {
            Some(visits) => visits.times += 1,
            None => self.visits.push(Visits { depth, marker: event.marker, times: 1 }),
        }
        let times: u32 = self.visits.iter().filter(|visits| visits.marker == event.marker).map(|one| one.times).sum();
        times > k + 1
    }
}
