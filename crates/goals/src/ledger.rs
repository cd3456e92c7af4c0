//! The ledger: which goals there are and what is known of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use branchwise_program::map::{Event, Map, Reading};
use branchwise_program::{FunctionId, MarkerId, NodeId, ProbeId};

use crate::course::Trace;
use crate::observer::Observer;
use crate::paths::{Paths, Structure};
use crate::{Criterion, Goal, GoalId, GoalKind, Needs};

/// The goals of one unit under test and which of them a trace has reached.
#[derive(Debug, Clone)]
pub struct Ledger {
    goals: Vec<Goal>,
    reached: Vec<bool>,
    /// Those of them that a trace has reached before anything undefined happened.
    defined: Vec<bool>,
    /// What no execution can reach; nobody need look for it.
    excluded: Vec<bool>,
    /// What a search tries first; all, unless it is told otherwise.
    aimed: Vec<bool>,
    by_marker: BTreeMap<MarkerId, Vec<GoalId>>,
    by_reading: BTreeMap<Reading, Vec<GoalId>>,
    open: usize,
    observer: Option<Observer>,
    paths: Vec<Paths>,
    /// Goals that two others show together.
    effects: Vec<Effect>,
    /// Parts of goals that are reached: nobody needs them any more.
    retired: Vec<bool>,
}

/// A goal that is reached where both goals of one pair are.
#[derive(Debug, Clone)]
pub struct Effect {
    pub goal: GoalId,
    pub pairs: Vec<(GoalId, GoalId)>,
}

/// What a trace added to a ledger.
#[derive(Debug, Default)]
pub struct Noted {
    /// The goals that it reaches first, or first without undefined behaviour before.
    pub fresh: Vec<GoalId>,
    /// Those that it may have reached before something stopped it.
    pub doubtful: BTreeSet<GoalId>,
    /// It could not be followed to its end: it may have reached more goals than events tell of.
    pub lost: bool,
    /// It may have run functions without leaving a trace.
    pub unseen: bool,
}

impl Ledger {
    /// Events alone tell whether these goals are reached; what needs more is never.
    pub fn new(goals: Vec<Goal>) -> Self {
        let mut by_marker: BTreeMap<MarkerId, Vec<GoalId>> = BTreeMap::new();
        let mut by_reading: BTreeMap<Reading, Vec<GoalId>> = BTreeMap::new();
        for (index, goal) in goals.iter().enumerate() {
            goal.reading().into_iter().for_each(|it| by_reading.entry(it).or_default().push(GoalId(index as u32)));
            for marker in goal.markers() {
                by_marker.entry(marker).or_default().push(GoalId(index as u32));
            }
        }
        Ledger {
            reached: vec![false; goals.len()],
            defined: vec![false; goals.len()],
            excluded: vec![false; goals.len()],
            aimed: vec![true; goals.len()],
            open: goals.len(),
            goals,
            by_marker,
            by_reading,
            observer: None,
            paths: Vec::new(),
            effects: Vec::new(),
            retired: Vec::new(),
        }
    }

    /// A ledger that looks at whole traces where a goal needs that. Criteria on paths find their goals on the way; `k`
    /// is the most iterations of a loop for those that limit them.
    pub fn observing(
        mut goals: Vec<Goal>,
        map: &Map,
        unit: FunctionId,
        (criteria, k): (&[Criterion], u64),
        structure: &Arc<Structure>,
    ) -> Self {
        let paths: Vec<Paths> =
            criteria.iter().filter_map(|&criterion| Paths::of(map, unit, criterion, k, structure)).collect();
        goals.extend(paths.iter().map(Paths::others));
        let observer = Observer::of(map, &structure.graphs, &goals);
        let effects = effects(&goals);
        let ledger = Ledger { retired: vec![false; goals.len()], effects, ..Ledger::new(goals) };
        // That no other path is left is nothing to reach.
        Ledger { observer, open: ledger.open - paths.len(), paths, ..ledger }
    }

    /// Whether paths are goals: then every one that may be new is worth trying.
    pub fn wants_paths(&self) -> bool {
        !self.paths.is_empty()
    }

    /// Whether a run that begins with these events can take a path that is a goal and not covered.
    pub fn may_be_new(&self, calls: &[FunctionId], events: &[Event]) -> bool {
        self.paths.iter().any(|paths| paths.may_be_new(calls, events))
    }

    /// Goals that turned out to be none: their criterion asks for the longest paths only.
    pub fn dropped(&self) -> BTreeSet<GoalId> {
        self.paths.iter().flat_map(Paths::shorter).collect()
    }

    pub fn goals(&self) -> impl Iterator<Item = (GoalId, &Goal)> {
        self.goals.iter().enumerate().map(|(index, goal)| (GoalId(index as u32), goal))
    }

    pub fn goal(&self, id: GoalId) -> &Goal {
        &self.goals[id.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.goals.len()
    }

    pub fn is_empty(&self) -> bool {
        self.goals.is_empty()
    }

    /// How many goals no trace has reached and nothing excludes.
    pub fn open(&self) -> usize {
        self.open
    }

    pub fn is_reached(&self, id: GoalId) -> bool {
        self.reached[id.0 as usize]
    }

    /// How many goals a trace has reached.
    pub fn reached(&self) -> usize {
        self.reached.iter().filter(|reached| **reached).count()
    }

    /// Whether it is neither reached nor excluded.
    pub fn is_open(&self, id: GoalId) -> bool {
        !self.is_reached(id) && !self.excluded[id.0 as usize]
    }

    /// Notes a proof that nothing reaches a goal.
    pub fn exclude(&mut self, id: GoalId) {
        if !self.is_closed(id) {
            self.open -= 1;
        }
        self.excluded[id.0 as usize] = true;
    }

    /// The goals that this event reaches.
    pub fn reached_by(&self, event: Event) -> impl Iterator<Item = GoalId> {
        let candidates = self.by_marker.get(&event.marker).map_or(&[][..], Vec::as_slice);
        candidates.iter().copied().filter(move |&id| self.goal(id).reached_by(event))
    }

    /// The goals that this answer of a probe reaches.
    fn answered_by(&self, reading: Reading) -> impl Iterator<Item = GoalId> {
        self.by_reading.get(&reading).into_iter().flatten().copied()
    }

    /// The answers of a probe that would reach goals which are open.
    pub fn wanted_of(&self, probe: ProbeId) -> Vec<u32> {
        let readings = self.by_reading.range(Reading { probe, value: 0 }..=Reading { probe, value: u32::MAX });
        let wanted = readings.filter(|(_, goals)| goals.iter().any(|&id| !self.is_closed(id)));
        wanted.map(|(reading, _)| reading.value).collect()
    }

    /// What two goals show together.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Nothing is to be done for it any more.
    fn is_closed(&self, id: GoalId) -> bool {
        !self.is_open(id) || self.retired.get(id.0 as usize).is_some_and(|retired| *retired)
    }

    /// The open goals that this event reaches or may be a part of.
    fn helped_by(&self, event: Event) -> impl Iterator<Item = GoalId> {
        let candidates = self.by_marker.get(&event.marker).map_or(&[][..], Vec::as_slice);
        let open = candidates.iter().copied().filter(|&id| !self.is_closed(id));
        open.filter(move |&id| self.goal(id).helped_by(event))
    }

    /// Whether this event would reach a goal that is still open, or may be a part of what does.
    pub fn would_help(&self, event: Event) -> bool {
        self.helped_by(event).next().is_some()
    }

    /// The same for a goal that is aimed at.
    pub fn is_aimed_at(&self, event: Event) -> bool {
        self.helped_by(event).any(|id| self.aimed[id.0 as usize])
    }

    /// Whether an outcome of this marker would reach a goal that is still open, or may be a part of what does.
    pub fn wants_marker(&self, marker: MarkerId) -> bool {
        self.by_marker.get(&marker).is_some_and(|goals| goals.iter().any(|&id| !self.is_closed(id)))
    }

    /// Whether nothing but how decisions end tells of the open goals: whichever way a decision took to its value, the same
    /// is left to reach behind it.
    pub fn looks_at_decisions_alone(&self) -> bool {
        let told = |goal: &Goal| {
            matches!(
                goal.needs,
                Needs::Outcome(_) | Needs::AnyOf(_) | Needs::Evaluation(_) | Needs::Pairs(_) | Needs::Path
            )
        };
        self.goals().all(|(id, goal)| self.is_closed(id) || told(goal)) && self.paths.iter().all(Paths::hides_decisions)
    }

    /// The nodes that lead to open goals beside their events.
    pub fn open_nodes(&self) -> impl Iterator<Item = (FunctionId, NodeId)> {
        let open = self.goals().filter(|(id, _)| !self.is_closed(*id));
        open.flat_map(|(_, goal)| goal.nodes().iter().map(|&node| (goal.function, node)))
    }

    /// Whether a single event tells of each goal that is still open.
    pub fn open_are_events(&self) -> bool {
        self.goals().all(|(id, goal)| self.is_closed(id) || goal.is_an_event())
    }

    /// Aims at the goals that are these outcomes, and no longer at the others. That a switch goes elsewhere than to one
    /// label is what its other outcomes reach.
    pub fn aim_at(&mut self, outcomes: &BTreeSet<Event>) {
        for (goal, aimed) in self.goals.iter().zip(&mut self.aimed) {
            let is_outcome = goal.outcome == Some(true) || goal.kind == GoalKind::Condition;
            *aimed = is_outcome && outcomes.iter().any(|&event| goal.reached_by(event));
        }
    }

    /// How many goals are aimed at, reached or not.
    pub fn aimed(&self) -> usize {
        self.aimed.iter().filter(|aimed| **aimed).count()
    }

    /// Notes events; returns the goals that they reach first.
    pub fn note(&mut self, events: &[Event]) -> Vec<GoalId> {
        let mut fresh = Vec::new();
        for &event in events {
            let reached: Vec<GoalId> = self.reached_by(event).filter(|&id| !self.is_reached(id)).collect();
            for id in reached {
                self.reach(id);
                fresh.push(id);
            }
        }
        fresh
    }

    fn reach(&mut self, id: GoalId) {
        if !self.is_closed(id) {
            self.open -= 1;
        }
        self.reached[id.0 as usize] = true;
    }

    /// Returns whether traces have reached a goal, each behind undefined behaviour.
    pub fn is_only_undefined(&self, id: GoalId) -> bool {
        self.reached[id.0 as usize] && !self.defined[id.0 as usize]
    }

    /// Returns a ledger in which the goals are open that traces have reached behind undefined behaviour alone, and no others; `None`
    /// if there are none. `events_of` knows the events of paths that are such goals.
    pub fn reopened(&self, events_of: impl Fn(GoalId) -> Option<Vec<Event>>) -> Option<Ledger> {
        let mut ledger = Ledger { paths: Vec::new(), open: 0, ..self.clone() };
        for (index, goal) in ledger.goals.iter_mut().enumerate() {
            let id = GoalId(index as u32);
            let path = matches!(goal.needs, Needs::Path).then(|| events_of(id));
            let is_open = self.is_only_undefined(id) && path.as_ref().is_none_or(Option::is_some);
            goal.needs = path.flatten().map_or_else(|| goal.needs.clone(), Needs::Prefix);
            (ledger.reached[index], ledger.defined[index]) = (!is_open, !is_open);
            (ledger.excluded[index], ledger.aimed[index]) = (false, true);
            ledger.open += usize::from(is_open);
        }
        ledger.retired.fill(false);
        (ledger.open > 0).then_some(ledger)
    }

    /// Notes what was reached without undefined behaviour in a ledger that [`Ledger::reopened`] made of this one.
    pub fn note_reopened(&mut self, other: &Ledger) {
        for (defined, other) in self.defined.iter_mut().zip(&other.defined) {
            *defined |= other;
        }
    }

    /// Notes a whole trace.
    pub fn note_trace(&mut self, trace: &Trace<'_>) -> Noted {
        let mut noted = self.note_whole(trace);
        let waits = (0..self.goals.len()).any(|index| self.is_only_undefined(GoalId(index as u32)));
        if !waits {
            return noted;
        }
        for id in self.reached_by_trace(&trace.defined()) {
            self.define(id, &mut noted.fresh);
        }
        let shown = |(left, right): &(GoalId, GoalId)| self.is_defined(*left) && self.is_defined(*right);
        let effects = self.effects.iter().filter(|effect| effect.pairs.iter().any(shown));
        for id in effects.map(|effect| effect.goal).collect::<Vec<_>>() {
            self.define(id, &mut noted.fresh);
        }
        noted
    }

    /// Notes events of which so many come before all undefined behaviour; returns the goals that they reach first, or first so.
    pub fn note_events(&mut self, events: &[Event], defined: usize) -> Vec<GoalId> {
        let mut fresh = self.note(events);
        let defined = events.iter().take(defined).flat_map(|&event| self.reached_by(event)).collect::<BTreeSet<_>>();
        defined.into_iter().for_each(|id| self.define(id, &mut fresh));
        fresh
    }

    fn define(&mut self, id: GoalId, fresh: &mut Vec<GoalId>) {
        if self.is_only_undefined(id) {
            self.defined[id.0 as usize] = true;
            if !fresh.contains(&id) {
                fresh.push(id);
            }
        }
    }

    fn is_defined(&self, id: GoalId) -> bool {
        self.defined[id.0 as usize]
    }

    /// The same without regard to undefined behaviour.
    fn note_whole(&mut self, trace: &Trace<'_>) -> Noted {
        let mut noted = Noted { fresh: self.note(trace.events), ..Noted::default() };
        for &reading in trace.readings {
            let fresh: Vec<GoalId> = self.answered_by(reading).filter(|&id| !self.is_reached(id)).collect();
            fresh.iter().for_each(|&id| self.reach(id));
            noted.fresh.extend(fresh);
        }
        if let Some(observed) = self.observer.as_ref().map(|observer| observer.observe(trace)) {
            (noted.lost, noted.unseen, noted.doubtful) = (observed.lost, observed.unseen, observed.doubtful);
            for id in observed.goals {
                if !self.is_closed(id) {
                    self.reach(id);
                    noted.fresh.push(id);
                }
            }
        }
        let begun: Vec<GoalId> = self.begun_with(trace).filter(|&id| !self.is_reached(id)).collect();
        begun.iter().for_each(|&id| self.reach(id));
        noted.fresh.extend(begun);
        if !noted.fresh.is_empty() {
            noted.fresh.extend(self.note_effects());
        }
        for paths in &mut self.paths {
            let id = GoalId(self.goals.len() as u32);
            if let Some(goal) = paths.note(trace, id) {
                self.goals.push(goal);
                self.reached.push(true);
                self.defined.push(false);
                self.excluded.push(false);
                self.aimed.push(false);
                noted.fresh.push(id);
            }
        }
        noted
    }

    /// Reaches goals that pairs show; parts that no other goal needs are no longer looked for.
    fn note_effects(&mut self) -> Vec<GoalId> {
        let shown = |effect: &&Effect| {
            let both = |(left, right): &(GoalId, GoalId)| self.is_reached(*left) && self.is_reached(*right);
            !self.is_reached(effect.goal) && effect.pairs.iter().any(both)
        };
        let fresh: Vec<GoalId> = self.effects.iter().filter(shown).map(|effect| effect.goal).collect();
        fresh.iter().for_each(|&id| self.reach(id));
        let open = self.effects.iter().filter(|effect| !self.is_reached(effect.goal));
        let needed: BTreeSet<GoalId> =
            open.flat_map(|effect| &effect.pairs).flat_map(|&(left, right)| [left, right]).collect();
        for index in 0..self.retired.len() {
            let id = GoalId(index as u32);
            if self.goals[index].is_part() && !self.is_closed(id) && !needed.contains(&id) {
                self.retired[index] = true;
                self.open -= 1;
            }
        }
        fresh
    }

    /// The goals that are paths of the unit under test, and their events.
    pub fn prefixes(&self) -> impl Iterator<Item = (GoalId, &[Event])> {
        self.goals().filter_map(|(id, goal)| match &goal.needs {
            Needs::Prefix(events) => Some((id, events.as_slice())),
            _ => None,
        })
    }

    /// Those of them with which a trace begins.
    fn begun_with<'a>(&'a self, trace: &Trace<'a>) -> impl Iterator<Item = GoalId> + 'a {
        let of_unit = trace.events.get(trace.before_unit..).unwrap_or_default();
        self.prefixes().filter(move |(_, events)| of_unit.starts_with(events)).map(|(id, _)| id)
    }

    /// All goals that a trace reaches.
    pub fn reached_by_trace(&self, trace: &Trace<'_>) -> BTreeSet<GoalId> {
        let mut reached: BTreeSet<GoalId> = trace.events.iter().flat_map(|&event| self.reached_by(event)).collect();
        reached.extend(trace.readings.iter().flat_map(|&reading| self.answered_by(reading)));
        let observed = self.observer.as_ref().map(|observer| observer.observe(trace));
        reached.extend(self.begun_with(trace));
        reached.extend(observed.into_iter().flat_map(|observed| observed.goals));
        reached.extend(self.paths.iter().filter_map(|paths| paths.reached(trace)));
        reached
    }
}

/// The pairs that show effects, as goals.
fn effects(goals: &[Goal]) -> Vec<Effect> {
    let mut parts: BTreeMap<(Criterion, &[Event]), GoalId> = BTreeMap::new();
    for (index, goal) in goals.iter().enumerate() {
        if let Needs::Evaluation(events) = &goal.needs {
            parts.insert((goal.criterion, events), GoalId(index as u32));
        }
    }
    let effect = |(index, goal): (usize, &Goal)| {
        let Needs::Pairs(pairs) = &goal.needs else { return None };
        let part = |events: &Vec<Event>| parts.get(&(goal.criterion, events.as_slice())).copied();
        let pairs = pairs.iter().filter_map(|(left, right)| part(left).zip(part(right))).collect();
        Some(Effect { goal: GoalId(index as u32), pairs })
    };
    goals.iter().enumerate().filter_map(effect).collect()
}
