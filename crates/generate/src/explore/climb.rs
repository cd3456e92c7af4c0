//! Conditions that come out by themselves. Whether a table is full depends on how often the program has come there, and on
//! no input directly: there is nothing to solve for. The inputs that come there more often than any before are varied, with
//! room for much longer ones, until one comes there often enough; and then, for a while, those that take the outcome most
//! often, for what lies behind it and has never been seen.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

use branchwise_constraints::{Model, holds};
use branchwise_program::MarkerId;
use branchwise_program::map::Event;
use branchwise_search::{Candidate, Status};
use branchwise_symbolic::{AlternativeKind, Decision, Path};

use super::seeds::{Named, by_name};
use super::{Budget, Exploration, Found, Means, OnGoals, Part};

/// The part of what is left of the budget that all such goals together may take.
const SHARE: f64 = 0.1;

/// So much less after a round in which it was in vain, and so many such rounds are enough.
const LESS: f64 = 0.2;
const MOST_IN_VAIN: i32 = 2;

/// So many tries in a row that came there no more often than others before.
const MOST_FRUITLESS: usize = 96;

/// Random values that are tried for one condition.
const MOST_DRAWS: usize = 4;

/// How often a path took the outcome, and how often it came to the condition.
type Height = (usize, usize);

/// An alternative, by the height of its path before it and by how soon after that it is.
type Rung = (Height, Reverse<usize>, Candidate);

/// What one climb knows.
struct Ladder {
    to: Event,
    rungs: BinaryHeap<Rung>,
    highest: Height,
    fruitless: usize,
    random: u64,
}

impl Exploration<'_, '_> {
    pub(super) fn should_climb(&self, budget: &Budget<'_>) -> bool {
        let path_by_path = budget.settings.strategy.is_path_by_path();
        let hopeless = self.counters.climbs_in_vain >= MOST_IN_VAIN;
        !self.climbed && !path_by_path && !hopeless && self.is_stalled(budget) && self.has_open_outcomes()
    }

    /// Looks for such outcomes with room for longer inputs.
    pub(super) fn climb(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        self.climbed = true;
        let starts = self.starts();
        if starts.is_empty() {
            return;
        }
        let open = self.ledger.open();
        let part = budget.part(SHARE * LESS.powi(self.counters.climbs_in_vain));
        let enough = budget.steps.saturating_add(part.steps());
        self.with_more_room(budget, |above, budget| {
            for (to, start) in starts {
                if part.is_raised() || budget.steps >= enough {
                    break;
                }
                above.climb_to((to, &start), (&part, enough), budget, on_goals);
            }
            above.look_for_returns(budget);
        });
        if self.ledger.open() < open {
            self.goals_changed(budget);
        } else {
            self.counters.climbs_in_vain += 1;
        }
    }

    /// Works apart from the round, whose conclusions are those within its bounds, with room for much longer inputs. What is
    /// found is kept.
    pub(super) fn with_more_room(
        &mut self,
        budget: &mut Budget<'_>,
        work: impl FnOnce(&mut Exploration<'_, '_>, &mut Budget<'_>),
    ) {
        let bounds = self.bounds.far();
        let Some(session) = self.session.afresh(bounds.pointer_elements) else { return };
        let means = Means { routes: self.routes, workers: self.workers.clone() };
        let found = Found { counters: self.counters, faults: self.record };
        let mut above = Exploration::new(session, &means, self.ledger, found, bounds, budget);
        work(&mut above, budget);
        above.count_solver_calls();
        let mut attempts = above.take_attempts();
        self.foreign.append(&mut attempts);
    }

    /// Remembers the inputs that come most often to conditions whose outcomes are wanted.
    pub(super) fn note_visits(&mut self, path: &Path, model: &Rc<Model>) {
        if self.climbed {
            return;
        }
        let mut visits: HashMap<MarkerId, usize> = HashMap::new();
        for event in path.events.iter().filter(|event| self.ledger.wants_marker(event.marker)) {
            *visits.entry(event.marker).or_default() += 1;
        }
        for (marker, all) in visits {
            let (most, with) = self.visitors.entry(marker).or_insert_with(|| (0, Rc::clone(model)));
            let undecided = if all > *most { all.saturating_sub(decided(path, marker)) } else { 0 };
            if undecided > *most {
                (*most, *with) = (undecided, Rc::clone(model));
            }
        }
    }

    /// The outcomes that could be reached so, each with the input that comes to its condition most often. Where none comes
    /// there twice, how often it comes is hardly what counts.
    fn starts(&self) -> Vec<(Event, Named)> {
        let mut open: Vec<Event> = self.open_outcomes().into_iter().collect();
        open.sort();
        let start = |to: Event| {
            let (most, model) = self.visitors.get(&to.marker)?;
            (*most > 1).then(|| (to, self.named(model)))
        };
        open.into_iter().filter_map(start).collect()
    }

    fn climb_to(
        &mut self,
        (to, start): (Event, &Named),
        (part, enough): (&Part, u64),
        budget: &mut Budget<'_>,
        on_goals: &mut OnGoals<'_>,
    ) {
        let mut ladder =
            Ladder { to, rungs: BinaryHeap::new(), highest: (0, 0), fruitless: 0, random: budget.settings.seed };
        self.execute_named(start, budget, on_goals);
        let model = self.model_of(&by_name(start));
        self.step_up(model, &mut ladder, budget, on_goals);
        while let Some((_, _, candidate)) = ladder.rungs.pop() {
            let over = part.is_raised() || budget.steps >= enough || self.must_stop(budget);
            if over || ladder.fruitless >= MOST_FRUITLESS || !self.has_open_outcomes() {
                break;
            }
            if self.tree.status(candidate.node, candidate.branch) != Status::Open {
                continue;
            }
            budget.steps += 1;
            let Some(model) = self.solve(candidate) else {
                ladder.fruitless += 1;
                continue;
            };
            let varied = self.varied(candidate, &model, &mut ladder.random);
            if !self.step_up(model, &mut ladder, budget, on_goals)
                && let Some(varied) = varied
            {
                self.step_up(varied, &mut ladder, budget, on_goals);
            }
        }
    }

    /// The input with random values for what its last condition is about, if it goes the same way with some. Solvers give the
    /// same values again and again, and what counts different ones sees nothing new.
    fn varied(&self, candidate: Candidate, model: &Model, random: &mut u64) -> Option<Model> {
        let (terms, constraints) = (&self.session.terms, self.constraints(candidate));
        let variables = terms.variables(*constraints.last()?);
        let mut one = || {
            let mut varied = model.clone();
            for &variable in variables.iter() {
                *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                varied.set(variable, u128::from(*random >> 16) & (u128::MAX >> (128 - terms.variable_width(variable))));
            }
            holds(terms, &varied, &constraints).then_some(varied)
        };
        (0..MOST_DRAWS).find_map(|_| one())
    }

    /// Executes an input and remembers what can be varied of it; whether it came there more often than all before.
    fn step_up(
        &mut self,
        model: Model,
        ladder: &mut Ladder,
        budget: &mut Budget<'_>,
        on_goals: &mut OnGoals<'_>,
    ) -> bool {
        let path = self.run_path(&model, budget);
        let (height, open) = (height(&path, ladder.to), self.ledger.open());
        let places = places(&path, ladder.to);
        let inserted = self.take_in(path, Rc::new(model), true, budget, on_goals);
        for (&node, (before, since)) in inserted.nodes.iter().zip(places) {
            let branches = self.tree.branches(node).iter().enumerate();
            let goes_on = branches.filter(|(_, branch)| !branch.fault && !branch.cut);
            let rungs = goes_on.map(|(branch, _)| (before, Reverse(since), Candidate { node, branch }));
            ladder.rungs.extend(rungs.filter(|(_, _, it)| self.tree.status(it.node, it.branch) == Status::Open));
        }
        let higher = height > ladder.highest && self.ledger.would_help(ladder.to) || self.ledger.open() < open;
        ladder.highest = ladder.highest.max(height);
        ladder.fruitless = if higher { 0 } else { ladder.fruitless + 1 };
        higher
    }
}

/// Of each decision of a path, the height before it, and how many decisions there were since that was reached.
fn places(path: &Path, to: Event) -> Vec<(Height, usize)> {
    let (mut before, mut last, mut seen) = ((0, 0), 0, 0);
    let place = |(number, decision): (usize, &Decision)| {
        let new = counted(&path.events[seen..decision.events_before], to);
        seen = decision.events_before;
        if new.1 > 0 {
            (before, last) = ((before.0 + new.0, before.1 + new.1), number);
        }
        (before, number - last)
    };
    path.decisions.iter().enumerate().map(place).collect()
}

fn counted(events: &[Event], to: Event) -> Height {
    let visits = events.iter().filter(|event| event.marker == to.marker);
    (visits.clone().filter(|event| event.outcome == to.outcome).count(), visits.count())
}

/// The same for a whole path, where only those times count at which no input decides.
fn height(path: &Path, to: Event) -> Height {
    let (taken, all) = counted(&path.events, to);
    (taken, all.saturating_sub(decided(path, to.marker)))
}

/// How often inputs decide a condition on a path.
fn decided(path: &Path, marker: MarkerId) -> usize {
    let is_one = |kind: &AlternativeKind| matches!(kind, AlternativeKind::Event(event) if event.marker == marker);
    path.decisions.iter().filter(|decision| decision.alternatives.iter().any(|way| is_one(&way.kind))).count()
}
