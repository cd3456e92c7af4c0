//! Whole traces as goals see them, and the search for goals that are paths: depth first where any path is one, along the
//! path where it is given. Depth first belongs to the first round alone: larger bounds would only repeat loops more often.

use std::rc::Rc;

use branchwise_goals::{GoalId, Ledger};
use branchwise_search::{
    Branch, Candidate, DecisionGraph, DepthFirst, Directed, Executed, Frontier, Guidance, Inserted, Routes,
};
use branchwise_symbolic::{Path, Session};

use super::{Budget, Exploration, GOING_ON, Obstacle, ObstacleKind};
use crate::replayed::{called, predicted_trace};
use crate::result::PathConstraint;
use crate::settings::{Settings, Strategy};

/// How paths are looked for that are goals.
pub(super) struct PathSearch {
    depth_first: Option<DepthFirst>,
    directed: Directed,
}

/// What a round found out about a path that is a goal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Along {
    /// Its longest prefix that an input takes.
    pub longest: usize,
    /// What was refuted last on the longest way along it, and how many of its events come before.
    pub refuted: Option<(usize, PathConstraint)>,
    /// What was not explored of the ways along it.
    pub obstacles: Vec<Obstacle>,
}

impl PathSearch {
    pub(super) fn of(ledger: &Ledger, settings: &Settings) -> Self {
        let plain = (settings.strategy == Strategy::DepthFirst).then(DepthFirst::plain);
        PathSearch { depth_first: plain, directed: Directed::of(ledger) }
    }

    /// An alternative that was handed out is open again.
    pub(super) fn again(&mut self, candidate: Candidate) {
        self.depth_first.iter_mut().for_each(|paths| paths.again(candidate));
    }
}

impl Exploration<'_, '_> {
    /// Makes this round look for paths, if they are goals.
    pub(crate) fn follow_paths(&mut self) {
        if self.ledger.wants_paths() {
            self.paths.depth_first.get_or_insert_default();
            self.limitations.followed_paths = true;
        }
    }

    /// The goals that the path reaches first.
    pub(super) fn note_trace(&mut self, path: &Path) -> Vec<GoalId> {
        let calls = called(path, self.session.function);
        let noted = self.ledger.note_trace(&predicted_trace(path, &calls));
        self.limitations.lost |= noted.lost;
        self.limitations.unseen |= noted.unseen;
        self.limitations.doubtful.extend(noted.doubtful);
        noted.fresh
    }

    pub(super) fn add_path(&mut self, path: &Path, inserted: &Inserted, budget: &Budget<'_>) {
        self.add_along(path, inserted, budget);
        let Some(paths) = &mut self.paths.depth_first else { return };
        let calls = called(path, self.session.function);
        let executed = Rc::new(Executed { calls, events: path.events.clone() });
        let events_before: Vec<usize> = path.decisions.iter().map(|decision| decision.events_before).collect();
        self.footprint.add_events(executed.events.len());
        paths.add(&self.tree, inserted, &executed, &events_before);
    }

    /// What a run means for the paths that are followed.
    fn add_along(&mut self, path: &Path, inserted: &Inserted, budget: &Budget<'_>) {
        if self.paths.directed.is_empty() {
            return;
        }
        let events = &path.events[path.events_before_unit..];
        let before: Vec<Option<usize>> = path
            .decisions
            .iter()
            .map(|it| match it.in_earlier_call || it.positions.is_empty() {
                true => None,
                false => it.events_before.checked_sub(path.events_before_unit),
            })
            .collect();
        self.paths.directed.add(&self.tree, inserted, events, &before);
        let is_test = !self.is_no_test(path);
        let end = self.obstacle_at_end(&path.end, budget);
        for (goal, shared) in self.paths.directed.shared(events) {
            let along = self.limitations.along.entry(goal).or_default();
            if is_test {
                along.longest = along.longest.max(shared.length);
            }
            let kind = end.clone().filter(|_| !shared.leaves);
            along.obstacles.extend(kind.map(|kind| Obstacle { kind, branch: GOING_ON, positions: Rc::new([]) }));
        }
    }

    /// What was not explored at an alternative matters for the paths that do not leave there.
    pub(super) fn note_obstacle_along(&mut self, kind: &ObstacleKind, branch: Branch, candidate: Candidate) {
        for (goal, _) in self.paths.directed.along(candidate) {
            let obstacle = Obstacle { kind: kind.clone(), branch, positions: Rc::new([]) };
            self.limitations.along.entry(goal).or_default().obstacles.push(obstacle);
        }
    }

    pub(super) fn note_refuted_along(&mut self, candidate: Candidate) {
        let along: Vec<(GoalId, usize)> = self.paths.directed.along(candidate).collect();
        for (goal, before) in along {
            let constraint = self.constraint_of_candidate(candidate);
            let known = &mut self.limitations.along.entry(goal).or_default().refuted;
            if known.as_ref().is_none_or(|(longest, _)| *longest <= before) {
                *known = Some((before, constraint));
            }
        }
    }

    /// Whether it lies on a path that is followed.
    pub(super) fn is_along(&self, candidate: Candidate) -> bool {
        self.paths.directed.along(candidate).next().is_some()
    }

    /// What to try next: towards single goals first, then along given paths, then towards new ones.
    pub(super) fn next_candidate(&mut self) -> Option<Candidate> {
        loop {
            // Where the graphs do not tell what can follow, as in a callback, anything might: also where nothing is open.
            let over = !self.has_open_goals();
            let PathSearch { depth_first, directed } = &mut self.paths;
            let plain = depth_first.as_ref().is_some_and(DepthFirst::is_plain);
            let towards_goal = if plain || over { None } else { self.frontier.next(&self.tree, self.ledger) };
            let along = || directed.next(&self.tree, self.ledger);
            let next = towards_goal.or_else(along).or_else(|| depth_first.as_mut()?.next(&self.tree, self.ledger));
            match next {
                Some(candidate) if self.is_left_out(candidate) => {}
                None if self.reopen_stale() => {}
                _ => return next,
            }
        }
    }

    /// The alternatives that nobody took and that could matter.
    pub(super) fn remaining(&self) -> Vec<Candidate> {
        let PathSearch { depth_first, directed } = &self.paths;
        let mut remaining = self.frontier.remaining(&self.tree);
        remaining.extend(depth_first.iter().flat_map(|paths| paths.remaining(&self.tree, self.ledger)));
        remaining.extend(directed.remaining(&self.tree, self.ledger));
        remaining.sort();
        remaining.dedup();
        remaining
    }

    /// Whether what the solver could not decide still matters.
    pub(super) fn has_open_goals(&self) -> bool {
        self.ledger.open() > 0 || self.ledger.wants_paths() && self.paths.depth_first.is_some()
    }
}

/// Breadth first where all criteria ask for that, along decision graphs where the strategy does.
pub(super) fn frontier(routes: &Routes, session: &Session<'_>, ledger: &Ledger, settings: &Settings) -> Frontier {
    let frontier = Frontier::new(Guidance::new(routes, session.function, ledger), settings.seed);
    if settings.criteria.iter().all(|criterion| criterion.is_minimal_on_arcs()) {
        return frontier.breadth_first();
    }
    let wants_decisions = settings.strategy == Strategy::Dependence;
    match wants_decisions.then(|| DecisionGraph::of(&session.program.map, session.function)).flatten() {
        Some(graph) => frontier.along_decisions(graph, ledger),
        None => frontier,
    }
}
