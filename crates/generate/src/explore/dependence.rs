//! Data dependence: prefixes whose alternatives cannot affect any goal that is open are not explored.
//!
//! A *history* is what of a prefix can influence the open goals. Conditions that influence none of them leave no mark in it
//! ([`Influence::is_idle`]), and ways through a decision that leave the same state behind leave the same one. For an alternative
//! behind such a decision, the solver is asked for all inputs with the same history at once: the condition is that *any* of the
//! known ways is taken. So a refutation holds for all of them, and what one path tried no other has to try again.
//!
//! Paths with the same history must come to the same conditions; where they do not, where an input does not arrive, or where a
//! path repeats its decisions too often to tell of all of them, nothing is concluded from histories any more, and all that was
//! left out is tried.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use branchwise_constraints::TermId;
use branchwise_goals::Ledger;
use branchwise_program::graph::{CodeIndex, Influence, Interest, Way};
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, MarkerId};
use branchwise_search::{Candidate, Inserted, Status, TreeNodeId};
use branchwise_symbolic::{Decision, Path};

use super::{Bounds, Exploration};
use crate::settings::{FindingsMode, Settings, Strategy};

/// Decisions of one path that repeat others, at most: each is a node of the tree and a question of its own. A loop that
/// never ends can repeat one as often as it has iterations.
const MOST_REPEATED: usize = 256;

/// Position of a history among those that paths have had; 0 is the empty one.
type History = u32;

/// What leaves a mark in a history.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Mark {
    /// This outcome, or going on without one, under this condition.
    Took(Option<Event>, TermId),
    /// A way of this class through the decision that begins with this leaf.
    Through(MarkerId, usize),
}

/// What a point of the tree has behind it.
#[derive(Debug, Clone, Default)]
struct Behind {
    history: History,
    /// Conditions of a decision that is being evaluated.
    evaluated: Vec<(Event, TermId)>,
    /// Its next one, and how many events come before it.
    next: Option<(MarkerId, usize)>,
}

/// What is left of a step in the condition of a prefix.
enum Left {
    /// These conditions, as they are.
    Conditions(Vec<TermId>),
    /// Any way of the class through the decision.
    AnyWay { history: History, first: MarkerId, class: usize },
}

/// An alternative and what it has behind it: the same for all inputs with the same history.
type Question = (History, Vec<Event>, Option<Event>, TermId);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Settled {
    /// A path went there.
    Reached,
    /// No input satisfies these of its conditions.
    Refuted(Vec<TermId>),
}

/// What must hold to take an alternative.
pub(super) struct Query {
    pub constraints: Vec<TermId>,
    question: Option<Question>,
    /// It does not say which of several ways is taken.
    pub widened: bool,
    /// Decisions of whose ways some are not known yet, by history and first leaf.
    partial: Vec<(History, MarkerId)>,
}

impl Query {
    fn contains(&self, core: &[TermId]) -> bool {
        core.iter().all(|condition| self.constraints.contains(condition))
    }
}

/// What all inputs with the history of a point of the tree have in common.
#[derive(Default)]
struct Prefix {
    behind: Behind,
    constraints: Vec<TermId>,
    widened: bool,
    partial: Vec<(History, MarkerId)>,
}

impl Prefix {
    /// The conditions that hold, the current decision's among them.
    fn held(&self) -> impl Iterator<Item = TermId> {
        self.constraints.iter().copied().chain(self.behind.evaluated.iter().map(|(_, condition)| *condition))
    }
}

#[derive(Default)]
pub(super) struct Dependence {
    active: bool,
    /// There is something that influences nothing, or ways that leave the same behind.
    useful: bool,
    /// Of the functions that paths have come to.
    influences: BTreeMap<CodeFunctionId, Rc<Influence>>,
    histories: HashMap<(History, Mark), History>,
    /// For each node of the tree what it has behind it, and how many events come before.
    nodes: Vec<(Behind, usize)>,
    /// Under which condition a path with this history has this outcome.
    conditions: HashMap<(History, Event), TermId>,
    /// Classes of ways that paths have taken.
    passed: HashSet<(History, MarkerId, usize)>,
    settled: HashMap<Question, Settled>,
    /// What was refuted, and the conditions that contradict each other.
    refuted: BTreeMap<Candidate, Vec<TermId>>,
    /// What was refuted without knowing all ways.
    partial: BTreeMap<(History, MarkerId), Vec<Candidate>>,
    /// What was refuted, and more ways have become known for since. Other paths with the same history may settle it before
    /// its turn.
    stale: Vec<Candidate>,
    skipped: Vec<Candidate>,
    /// Alternatives that the same path decided before, and the condition that held then.
    repeated: BTreeMap<Candidate, TermId>,
}

impl Dependence {
    /// Not for plain depth-first search, not for goals that whole paths decide, and not for tests of several calls.
    pub(super) fn of(ledger: &Ledger, settings: &Settings, bounds: &Bounds) -> Self {
        let single = bounds.calls == 1 && bounds.object_calls == 0;
        let plain = settings.strategy == Strategy::DepthFirst;
        let active = settings.data_dependence && !plain && single && ledger.looks_at_decisions_alone();
        Dependence { active, ..Dependence::default() }
    }

    /// Decisions that repeat others and that paths shall tell of.
    pub(super) fn most_repeated(&self) -> usize {
        if self.active { MOST_REPEATED } else { 0 }
    }

    fn influence_of(&self, index: &CodeIndex, marker: MarkerId) -> Option<&Influence> {
        self.influences.get(&index.function_of(marker)?).map(Rc::as_ref)
    }

    fn marked(&mut self, history: History, mark: Mark) -> History {
        let next = self.histories.len() as History + 1;
        *self.histories.entry((history, mark)).or_insert(next)
    }

    /// The conditions of a decision that turned out to be of no known way count one by one.
    fn leave_decision(&mut self, behind: &mut Behind) -> Vec<TermId> {
        behind.next = None;
        let evaluated = std::mem::take(&mut behind.evaluated);
        for &(event, condition) in &evaluated {
            behind.history = self.marked(behind.history, Mark::Took(Some(event), condition));
        }
        evaluated.into_iter().map(|(_, condition)| condition).collect()
    }

    /// Comes to the next undecided point.
    fn arrive(&mut self, behind: &mut Behind, marker: Option<MarkerId>, events_before: usize) -> Vec<TermId> {
        match behind.next {
            Some((next, before)) if (marker, events_before) != (Some(next), before) => self.leave_decision(behind),
            _ => Vec::new(),
        }
    }

    /// Takes an alternative there.
    fn take(
        &mut self,
        behind: &mut Behind,
        (event, condition): (Option<Event>, TermId),
        events_before: usize,
        index: &CodeIndex,
    ) -> Left {
        let influence = event.and_then(|event| self.influence_of(index, event.marker));
        if let (Some(event), Some(influence)) = (event, influence) {
            if influence.is_idle(event.marker) {
                return Left::Conditions(self.leave_decision(behind));
            }
            let first = behind.evaluated.first().map_or(event, |(first, _)| *first).marker;
            if let Some(ways) = influence.ways(first) {
                behind.evaluated.push((event, condition));
                let found = follow(ways, &behind.evaluated);
                return self.go_on(behind, first, found, events_before);
            }
        }
        let mut conditions = self.leave_decision(behind);
        behind.history = self.marked(behind.history, Mark::Took(event, condition));
        conditions.push(condition);
        Left::Conditions(conditions)
    }

    fn go_on(&mut self, behind: &mut Behind, first: MarkerId, found: Followed, events_before: usize) -> Left {
        match found {
            Followed::Through(class) => {
                let history = behind.history;
                behind.history = self.marked(history, Mark::Through(first, class));
                (behind.evaluated, behind.next) = (Vec::new(), None);
                Left::AnyWay { history, first, class }
            }
            Followed::Until(next) => {
                behind.next = Some((next, events_before + 1));
                Left::Conditions(Vec::new())
            }
            Followed::Nowhere => Left::Conditions(self.leave_decision(behind)),
        }
    }
}

/// The conditions of ways, as far as they are known.
struct KnownWays {
    known: Vec<Vec<TermId>>,
    all: bool,
}

enum Followed {
    Through(usize),
    Until(MarkerId),
    Nowhere,
}

fn follow(ways: &[Way], evaluated: &[(Event, TermId)]) -> Followed {
    let begins = |way: &&Way| {
        way.events.len() >= evaluated.len() && way.events.iter().zip(evaluated).all(|(event, (it, _))| event == it)
    };
    match ways.iter().find(begins) {
        None => Followed::Nowhere,
        Some(way) => match way.events.get(evaluated.len()) {
            Some(event) => Followed::Until(event.marker),
            None => Followed::Through(way.class),
        },
    }
}

impl Exploration<'_, '_> {
    /// What must hold to take an alternative, for all inputs with the same history.
    pub(super) fn query(&mut self, candidate: Candidate) -> Query {
        if !self.dependence.active || !self.dependence.useful {
            let constraints = self.constraints(candidate);
            return Query { constraints, question: None, widened: false, partial: Vec::new() };
        }
        let mut chain = vec![(candidate.node, candidate.branch)];
        while let Some(above) = self.tree.parent(chain[chain.len() - 1].0) {
            chain.push(above);
        }
        chain.reverse();
        let mut prefix = Prefix::default();
        for &(node, branch) in &chain {
            self.come_to(&mut prefix, node);
            if node != candidate.node {
                self.go_on_from(&mut prefix, node, branch);
            }
        }
        let mut constraints: Vec<TermId> = prefix.held().collect();
        constraints.push(self.knowledge[candidate.node.0 as usize].branches[candidate.branch]);
        let Prefix { widened, partial, .. } = prefix;
        Query { constraints, question: Some(self.question_of(candidate)), widened, partial }
    }

    /// Adds what holds for all that come to a node.
    fn come_to(&mut self, prefix: &mut Prefix, node: TreeNodeId) {
        prefix.constraints.extend(&self.knowledge[node.0 as usize].domain);
        let events_before = self.dependence.nodes[node.0 as usize].1;
        let marker = self.marker_of(node);
        prefix.constraints.extend(self.dependence.arrive(&mut prefix.behind, marker, events_before));
    }

    /// Adds what holds for all that leave the node by this branch, or by another one that leaves the same history.
    fn go_on_from(&mut self, prefix: &mut Prefix, node: TreeNodeId, branch: usize) {
        let index = Rc::clone(self.session.code_index());
        let step = (self.tree.branches(node)[branch].event, self.knowledge[node.0 as usize].branches[branch]);
        let events_before = self.dependence.nodes[node.0 as usize].1;
        match self.dependence.take(&mut prefix.behind, step, events_before, &index) {
            Left::Conditions(conditions) => {
                prefix.widened |= step.0.is_some_and(|event| self.is_idle(event.marker, &index));
                prefix.constraints.extend(conditions);
            }
            Left::AnyWay { history, first, class } => {
                let ways = self.known_ways(history, first, class, &index);
                prefix.widened |= ways.known.len() > 1;
                prefix.partial.extend((!ways.all).then_some((history, first)));
                prefix.constraints.extend(self.any_of(ways.known));
            }
        }
    }

    fn is_idle(&self, marker: MarkerId, index: &CodeIndex) -> bool {
        self.dependence.influence_of(index, marker).is_some_and(|influence| influence.is_idle(marker))
    }

    fn marker_of(&self, node: TreeNodeId) -> Option<MarkerId> {
        self.tree.branches(node).iter().find_map(|branch| branch.event).map(|event| event.marker)
    }

    fn question_of(&self, candidate: Candidate) -> Question {
        let node = candidate.node.0 as usize;
        let behind = &self.dependence.nodes[node].0;
        let evaluated = behind.evaluated.iter().map(|(event, _)| *event).collect();
        let event = self.tree.branches(candidate.node)[candidate.branch].event;
        (behind.history, evaluated, event, self.knowledge[node].branches[candidate.branch])
    }

    /// The conditions of the ways of a class, as far as paths have shown what their conditions are.
    fn known_ways(&mut self, history: History, first: MarkerId, class: usize, index: &CodeIndex) -> KnownWays {
        let ways = self.dependence.influence_of(index, first).and_then(|influence| influence.ways(first));
        let of_class: Vec<&Way> = ways.into_iter().flatten().filter(|way| way.class == class).collect();
        let conditions = |way: &Way| -> Option<Vec<TermId>> {
            way.events.iter().map(|&event| self.dependence.conditions.get(&(history, event)).copied()).collect()
        };
        let known: Vec<Vec<TermId>> = of_class.iter().copied().filter_map(conditions).collect();
        let all = known.len() == of_class.len();
        KnownWays { known, all }
    }

    /// What holds where one of these ways is taken.
    fn any_of(&mut self, ways: Vec<Vec<TermId>>) -> Vec<TermId> {
        if let [only] = ways.as_slice() {
            return only.clone();
        }
        let terms = &mut self.session.terms;
        let ways: Vec<TermId> = ways.iter().map(|conditions| terms.conjunction(conditions)).collect();
        vec![terms.disjunction(&ways)]
    }

    /// Whether trying an alternative can show nothing that is not known, or that other alternatives do not show.
    pub(super) fn is_left_out(&mut self, candidate: Candidate) -> bool {
        if !self.dependence.active {
            return false;
        }
        let query = self.query(candidate);
        self.is_excluded(candidate, &query) || self.can_skip(candidate, &query)
    }

    /// What a path has decided before excludes the alternative, unless the history does not tell of that decision.
    fn is_excluded(&mut self, candidate: Candidate, query: &Query) -> bool {
        let Some(core) = self.excluding(candidate, |condition| query.constraints.contains(&condition)) else {
            return false;
        };
        self.tree.set_status(candidate.node, candidate.branch, Status::Refuted);
        self.note_refuted(candidate, query, &core);
        true
    }

    /// The alternative's condition and one that holds and excludes it, where the path has decided it before.
    fn excluding(&mut self, candidate: Candidate, holds: impl Fn(TermId) -> bool) -> Option<[TermId; 2]> {
        let before = *self.dependence.repeated.get(&candidate)?;
        let condition = self.knowledge[candidate.node.0 as usize].branches[candidate.branch];
        let deciding = [before, self.session.terms.not(condition)];
        deciding.into_iter().find(|&other| holds(other)).map(|other| [condition, other])
    }

    fn can_skip(&mut self, candidate: Candidate, query: &Query) -> bool {
        let Some(question) = &query.question else { return false };
        let known = match self.dependence.settled.get(question) {
            Some(Settled::Reached) => true,
            Some(Settled::Refuted(core)) if query.contains(core) => {
                let core = core.clone();
                self.note_rounded(candidate, &core);
                true
            }
            Some(Settled::Refuted(_)) => false,
            None => self.leads_to_passed_ways(question),
        };
        if known {
            self.tree.set_status(candidate.node, candidate.branch, Status::Skipped);
            self.dependence.skipped.push(candidate);
            self.counters.skipped += 1;
        }
        known
    }

    /// It influences nothing, or all ways through its decision that begin with it are among those that are asked for behind
    /// the decision.
    fn leads_to_passed_ways(&self, (history, evaluated, event, _): &Question) -> bool {
        let Some(event) = event else { return false };
        let index = self.session.code_index();
        let Some(influence) = self.dependence.influence_of(index, event.marker) else { return false };
        if influence.is_idle(event.marker) {
            return true;
        }
        let first = evaluated.first().unwrap_or(event).marker;
        let begun: Vec<Event> = evaluated.iter().chain([event]).copied().collect();
        let mut ways =
            influence.ways(first).into_iter().flatten().filter(|way| way.events.starts_with(&begun)).peekable();
        let is_asked_for = |way: &Way| {
            let known = |event: &Event| self.dependence.conditions.contains_key(&(*history, *event));
            let wanted = way.events[evaluated.len()..].iter().any(|&event| self.ledger.would_help(event));
            !wanted && way.events.iter().all(known) && self.dependence.passed.contains(&(*history, first, way.class))
        };
        ways.peek().is_some() && ways.all(is_asked_for)
    }

    /// No input satisfies these conditions of the query.
    pub(super) fn note_refuted(&mut self, candidate: Candidate, query: &Query, core: &[TermId]) {
        if let Some(question) = query.question.clone() {
            self.note_core(candidate, question, &query.partial, core);
        }
    }

    fn note_core(
        &mut self,
        candidate: Candidate,
        question: Question,
        partial: &[(History, MarkerId)],
        core: &[TermId],
    ) {
        for &decision in partial {
            self.dependence.partial.entry(decision).or_default().push(candidate);
        }
        self.footprint.add_query(2 * core.len());
        self.dependence.refuted.insert(candidate, core.to_vec());
        self.dependence.settled.insert(question, Settled::Refuted(core.to_vec()));
    }

    /// Takes in a path that was added to the tree.
    pub(super) fn note_histories(&mut self, inserted: &Inserted, path: &Path) {
        if !self.dependence.active {
            return;
        }
        if path.decisions.iter().filter(|decision| decision.repeats.is_some()).count() >= MOST_REPEATED {
            return self.distrust();
        }
        let new = &inserted.nodes[inserted.first_new..];
        let decisions = path.decisions.iter().skip(inserted.first_new);
        self.dependence.nodes.extend(decisions.map(|decision| (Behind::default(), decision.events_before)));
        let known = self.dependence.useful;
        new.iter().for_each(|&node| self.prepare(node));
        if known != self.dependence.useful {
            self.rebuild();
        } else if self.dependence.useful {
            new.iter().for_each(|&node| self.note_node(node));
            inserted.nodes.iter().for_each(|&node| self.note_explored(node));
        }
        self.exclude_repeated(inserted, path);
    }

    /// Excludes what the new part of a path has decided before.
    fn exclude_repeated(&mut self, inserted: &Inserted, path: &Path) {
        let Some(&first) = inserted.nodes.get(inserted.first_new) else { return };
        let new = Candidate { node: first, branch: 0 }..;
        let repeated: Vec<Candidate> = self.dependence.repeated.range(new).map(|(candidate, _)| *candidate).collect();
        if !self.dependence.useful {
            // A query has all conditions of its path, that of the earlier decision among them.
            let mut refute = |it: Candidate| self.tree.set_status(it.node, it.branch, Status::Refuted);
            return repeated.into_iter().for_each(&mut refute);
        }
        let mut repeated = repeated.into_iter().peekable();
        let (mut prefix, mut known, mut counted) = (Prefix::default(), HashSet::new(), 0);
        for (&node, decision) in inserted.nodes.iter().zip(&path.decisions) {
            self.come_to(&mut prefix, node);
            known.extend(prefix.constraints[counted..].iter().copied());
            counted = prefix.constraints.len();
            while let Some(candidate) = repeated.next_if(|candidate| candidate.node == node) {
                let evaluated = |term| prefix.behind.evaluated.iter().any(|(_, condition)| *condition == term);
                if let Some(core) = self.excluding(candidate, |term| known.contains(&term) || evaluated(term)) {
                    self.tree.set_status(candidate.node, candidate.branch, Status::Refuted);
                    self.note_core(candidate, self.question_of(candidate), &prefix.partial, &core);
                }
            }
            self.go_on_from(&mut prefix, node, decision.taken);
        }
    }

    /// Finds out what the outcomes of a node's function influence.
    fn prepare(&mut self, node: TreeNodeId) {
        let function = self.marker_of(node).and_then(|marker| self.session.code_index().function_of(marker));
        if let Some(function) = function.filter(|function| !self.dependence.influences.contains_key(function)) {
            let influence = Rc::new(self.influence(function));
            self.dependence.useful |= !influence.is_empty();
            self.dependence.influences.insert(function, influence);
        }
    }

    fn influence(&self, function: CodeFunctionId) -> Influence {
        let every = self.ledger.wants_paths();
        let wanted = |marker: MarkerId| every || self.ledger.wants_marker(marker);
        let faults = self.findings == FindingsMode::Search;
        let interest = Interest { wanted: &wanted, results: self.session.results_matter(function), faults };
        let map = &self.session.program.map;
        let decisions = self.session.map_function(function).into_iter().flat_map(|id| &map.functions[id].decisions);
        let formulas = decisions.map(|decision| &decision.formula);
        Influence::of(&self.session.program.code.functions[function], formulas, &interest)
    }

    /// Finds out what a node has behind it. Those above it are known.
    fn note_node(&mut self, node: TreeNodeId) {
        if !self.dependence.active {
            return;
        }
        let index = Rc::clone(self.session.code_index());
        let mut behind = Behind::default();
        if let Some((above, taken)) = self.tree.parent(node) {
            let before;
            (behind, before) = self.dependence.nodes[above.0 as usize].clone();
            let step = (self.tree.branches(above)[taken].event, self.knowledge[above.0 as usize].branches[taken]);
            self.dependence.take(&mut behind, step, before, &index);
        }
        let marker = self.marker_of(node);
        let events_before = self.dependence.nodes[node.0 as usize].1;
        self.dependence.arrive(&mut behind, marker, events_before);
        let history = behind.history;
        let first = behind.evaluated.first().map(|(event, _)| event.marker).or(marker);
        self.dependence.nodes[node.0 as usize].0 = behind;
        if let (Some(marker), Some(first)) = (marker, first)
            && !self.is_idle(marker, &index)
            && self.note_conditions(node, history)
        {
            self.ask_again((history, first));
        }
    }

    /// Whether conditions of a node were not known before, of paths with this history.
    fn note_conditions(&mut self, node: TreeNodeId, history: History) -> bool {
        let mut grown = false;
        let conditions = self.knowledge[node.0 as usize].branches.clone();
        for (branch, condition) in self.tree.branches(node).to_vec().into_iter().zip(conditions) {
            let Some(event) = branch.event else { continue };
            match self.dependence.conditions.insert((history, event), condition) {
                None => grown = true,
                Some(known) if known != condition => {
                    self.distrust();
                    return false;
                }
                Some(_) => {}
            }
        }
        grown
    }

    /// What is known of the ways that paths took from a node.
    fn note_explored(&mut self, node: TreeNodeId) {
        if !self.dependence.active {
            return;
        }
        let index = Rc::clone(self.session.code_index());
        for branch in 0..self.tree.branches(node).len() {
            if self.tree.status(node, branch) != Status::Explored {
                continue;
            }
            let question = self.question_of(Candidate { node, branch });
            let (mut behind, before) = self.dependence.nodes[node.0 as usize].clone();
            let left = self.dependence.take(&mut behind, (question.2, question.3), before, &index);
            if let Left::AnyWay { history, first, class } = left {
                self.dependence.passed.insert((history, first, class));
            }
            self.dependence.settled.insert(question, Settled::Reached);
        }
    }

    /// More is known of the ways through a decision: what was refuted for fewer is tried for all.
    fn ask_again(&mut self, decision: (History, MarkerId)) {
        let candidates = self.dependence.partial.remove(&decision).unwrap_or_default();
        self.try_widened(candidates);
    }

    /// Notes what was refuted for fewer inputs than the same history has now.
    fn try_widened(&mut self, candidates: Vec<Candidate>) {
        for candidate in candidates {
            if self.tree.status(candidate.node, candidate.branch) != Status::Refuted {
                continue;
            }
            let query = self.query(candidate);
            match self.dependence.refuted.get(&candidate).cloned() {
                Some(core) if query.contains(&core) => self.note_refuted(candidate, &query, &core),
                None if !query.widened => {}
                _ => self.dependence.stale.push(candidate),
            }
        }
    }

    /// Opens what was refuted for fewer ways than are known now; whether there was any.
    pub(super) fn reopen_stale(&mut self) -> bool {
        let stale = std::mem::take(&mut self.dependence.stale);
        let any = !stale.is_empty();
        stale.into_iter().for_each(|candidate| self.reopen(candidate));
        any
    }

    fn reopen(&mut self, candidate: Candidate) {
        self.tree.set_status(candidate.node, candidate.branch, Status::Open);
        self.frontier.again(&self.tree, self.ledger, candidate);
        self.paths.again(candidate);
    }

    /// Something was not as the history said: nothing rests on histories any more.
    pub(super) fn distrust(&mut self) {
        let Dependence { skipped, stale, .. } = self.end_dependence();
        skipped.into_iter().chain(stale).for_each(|candidate| self.reopen(candidate));
    }

    /// From here on each alternative stands for itself.
    pub(super) fn end_dependence(&mut self) -> Dependence {
        let mut ended = std::mem::take(&mut self.dependence);
        for candidate in ended.repeated.keys() {
            self.tree.set_status(candidate.node, candidate.branch, Status::Refuted);
        }
        let Dependence { skipped, stale, repeated, .. } = &mut ended;
        skipped.retain(|candidate| !repeated.contains_key(candidate));
        stale.retain(|candidate| !repeated.contains_key(candidate));
        ended
    }

    /// Alternatives of a decision that the path has made before: faults cannot happen there, and others only if the history
    /// does not tell of it.
    pub(super) fn close_repeated(&mut self, decision: &Decision, node: TreeNodeId) {
        let Some(before) = decision.repeats else { return };
        for branch in (0..decision.alternatives.len()).filter(|&branch| branch != decision.taken) {
            match self.dependence.active && !self.tree.branches(node)[branch].fault {
                true => _ = self.dependence.repeated.insert(Candidate { node, branch }, before),
                false => self.tree.set_status(node, branch, Status::Refuted),
            }
        }
    }

    /// An input was found for several ways, and went none of them to the alternative.
    pub(super) fn distrust_from(&mut self, candidate: Candidate) {
        self.dependence.skipped.push(candidate);
        self.distrust();
    }

    /// Whether the alternative was solved for several ways at once.
    pub(super) fn has_widened(&mut self, candidate: Candidate) -> bool {
        self.query(candidate).widened
    }

    /// Whether a path with the history of the alternative took it.
    pub(super) fn has_arrived(&mut self, candidate: Candidate) -> bool {
        let reached = self.dependence.active
            && self.dependence.useful
            && self.dependence.settled.get(&self.question_of(candidate)) == Some(&Settled::Reached);
        if reached {
            self.tree.set_status(candidate.node, candidate.branch, Status::Skipped);
            self.dependence.skipped.push(candidate);
        }
        reached
    }

    /// Goals were reached: less may matter than before.
    pub(super) fn goals_changed_for_dependence(&mut self) {
        if !self.dependence.active {
            return;
        }
        let functions = self.dependence.influences.keys();
        let influences: BTreeMap<_, _> =
            functions.map(|&function| (function, Rc::new(self.influence(function)))).collect();
        if influences != self.dependence.influences {
            self.dependence.useful = influences.values().any(|influence| !influence.is_empty());
            self.dependence.influences = influences;
            self.rebuild();
        }
    }

    /// Histories of the whole tree. What was refuted is refuted only for the inputs that were asked for.
    fn rebuild(&mut self) {
        let Dependence { histories, conditions, passed, settled, partial, .. } = &mut self.dependence;
        histories.clear();
        conditions.clear();
        passed.clear();
        settled.clear();
        partial.clear();
        let nodes = (0..self.tree.len() as u32).map(TreeNodeId);
        for node in nodes.clone() {
            self.note_node(node);
            self.note_explored(node);
        }
        let alternatives =
            nodes.flat_map(|node| (0..self.tree.branches(node).len()).map(move |branch| Candidate { node, branch }));
        let refuted = alternatives.collect();
        self.try_widened(refuted);
    }
}
