//! The search for faults, after that for goals: over the paths that were executed, for inputs that go the same way and do
//! what C leaves undefined. Every place is asked for until one input shows it, a few times at most: what is found is a
//! finding, and from what is not found nothing follows.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::rc::Rc;

use branchwise_constraints::{Answer, Limits, Model, TermId};
use branchwise_program::map::Event;
use branchwise_search::{Candidate, Inserted, Status, TreeNodeId};
use branchwise_symbolic::{AlternativeKind, Decision, Fault, FaultKind, Path, PossibleFault, Site};

use super::{Budget, Exploration, OnGoals};
use crate::settings::FindingsMode;

/// An instruction and what may go wrong there; `None`: that nothing goes wrong, where no path got past it.
pub(super) type FaultSite = (Site, Option<FaultKind>);

/// So often one instruction is asked for, on different ways to it, ...
const MOST_QUERIES_AT_SITE: u32 = 8;
/// ... and so often all of them together, in all rounds.
const MOST_QUERIES: u64 = 512;
/// Of one instruction, so many ways to it are remembered: the first ones, and the last.
const MOST_SUSPECTS_AT_SITE: usize = 32;
/// Where every goal is reached after a few paths, so many more are executed, such as one iteration more of a loop, and each
/// outcome is taken so often at a new place.
const MOST_NEW_WAYS: u32 = 16;
const MOST_NEW_WAYS_BY_OUTCOME: u32 = 3;
/// The part of a function's budget that all searches for faults may take, ...
const MOST_SPENT: f64 = 0.2;
/// ... and each of those after which another round begins.
const MOST_SPENT_BETWEEN_ROUNDS: f64 = 0.05;

/// Less than goals get: one hard condition shall not take the time of many easy ones.
pub(super) const QUICK: Limits = Limits { milliseconds: 500, resource: 500_000, ..Limits::DEFAULT };

/// What is known of faults, over all rounds.
#[derive(Debug, Default)]
pub(crate) struct FaultRecord {
    /// Those that an input shows, and the places that one got past: once is enough.
    shown: BTreeSet<FaultSite>,
    asked: BTreeMap<FaultSite, u32>,
    /// How often an outcome was taken at a new place, in order to meet more; `None`: that of no fault.
    new_ways: BTreeMap<Option<Event>, u32>,
    /// The part of the budget that went into it.
    spent: f64,
}

impl FaultRecord {
    /// Whether nobody has seen it before.
    pub(super) fn note_shown(&mut self, fault: &Fault) -> bool {
        self.shown.insert((fault.site, Some(fault.kind)))
    }

    /// Conditions that were asked for.
    pub(crate) fn queries(&self) -> u64 {
        self.asked.values().chain(self.new_ways.values()).map(|&queries| u64::from(queries)).sum()
    }

    fn ways_by(&self, outcome: Option<Event>) -> u32 {
        self.new_ways.get(&outcome).copied().unwrap_or(0)
    }

    fn queries_at(&self, site: &FaultSite) -> u32 {
        self.asked.get(site).copied().unwrap_or(0)
    }
}

/// A way to an instruction at which something may go wrong.
#[derive(Debug, Clone)]
pub(super) enum Suspect {
    /// An alternative that ends the path.
    Ending(Candidate),
    /// The path would go on.
    Passing { behind: Option<(TreeNodeId, usize)>, domain: Vec<TermId>, fault: PossibleFault, model: Rc<Model> },
}

/// The ways of one round to each instruction.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    at: BTreeMap<FaultSite, VecDeque<Suspect>>,
    known: HashSet<(Option<(TreeNodeId, usize)>, PossibleFault)>,
}

impl Suspects {
    fn add(&mut self, site: FaultSite, suspect: Suspect) {
        let suspects = self.at.entry(site).or_default();
        if suspects.len() == MOST_SUSPECTS_AT_SITE {
            suspects.pop_back();
        }
        suspects.push_back(suspect);
    }

    /// The next one to ask for: of an instruction that was asked for least, in turn the way that was found first and the
    /// one that was found last.
    fn next(&mut self, record: &FaultRecord) -> Option<(FaultSite, Suspect)> {
        let wanted = |site: &FaultSite| !record.shown.contains(site) && record.queries_at(site) < MOST_QUERIES_AT_SITE;
        self.at.retain(|site, suspects| wanted(site) && !suspects.is_empty());
        let (&site, suspects) = self.at.iter_mut().min_by_key(|(site, _)| (record.queries_at(site), **site))?;
        let first = record.queries_at(&site).is_multiple_of(2);
        let suspect = if first { suspects.pop_front() } else { suspects.pop_back() };
        suspect.map(|suspect| (site, suspect))
    }
}

impl Exploration<'_, '_> {
    /// Notes where a path that is in the tree now could have gone wrong.
    pub(super) fn suspect(&mut self, path: &Path, inserted: &Inserted, model: &Rc<Model>) {
        if self.findings != FindingsMode::Search || !path.called_unit {
            return;
        }
        for (decision, &node) in path.decisions.iter().zip(&inserted.nodes).skip(inserted.first_new) {
            if !decision.in_earlier_call && decision.repeats.is_none() {
                self.suspect_alternatives(decision, node);
            }
        }
        // What lies before the first new node was suspected when that part of the path was executed first.
        for fault in path.possible.iter().filter(|fault| fault.decisions >= inserted.first_new) {
            let decided = fault.decisions.checked_sub(1);
            let behind = decided.map(|last| (inserted.nodes[last], path.decisions[last].taken));
            if self.suspects.known.insert((behind, *fault)) {
                let active = path.decisions.get(fault.decisions).map_or(&path.domain, |decision| &decision.domain);
                let domain = active[..fault.domain].to_vec();
                let suspect = Suspect::Passing { behind, domain, fault: *fault, model: model.clone() };
                self.suspects.add((fault.site, Some(fault.kind)), suspect);
                self.footprint.add_suspect();
            }
        }
    }

    /// The ways to end with a fault; or the way past it, if that is how this path ended.
    fn suspect_alternatives(&mut self, decision: &Decision, node: TreeNodeId) {
        for (branch, alternative) in decision.alternatives.iter().enumerate() {
            let AlternativeKind::Fault(site, kind) = alternative.kind else { continue };
            if branch != decision.taken {
                self.record.shown.insert((site, None));
                self.suspects.add((site, Some(kind)), Suspect::Ending(Candidate { node, branch }));
            } else if let Some(past) = (0..decision.alternatives.len()).find(|&other| other != branch) {
                self.suspects.add((site, None), Suspect::Ending(Candidate { node, branch: past }));
            }
        }
    }

    /// Asks for the suspects until all are settled or their part of the budget is spent.
    pub(super) fn look_for_faults(&mut self, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        if self.findings != FindingsMode::Search {
            return;
        }
        let (before, out_of_memory) = (budget.spent_of_all(), self.limitations.out_of_memory);
        let another_round = self.ledger.open() > 0 && self.limitations.could_go_further() && budget.spent() < 1.0;
        let share = if another_round { MOST_SPENT_BETWEEN_ROUNDS } else { MOST_SPENT };
        let end = (before + share.min(MOST_SPENT - self.record.spent)).min(1.0);
        while budget.spent_of_all() < end && !self.must_stop(budget) && self.record.queries() < MOST_QUERIES {
            let Some((site, suspect)) = self.suspects.next(self.record) else {
                match self.new_way() {
                    Some(candidate) => self.take_new_way(candidate, budget, on_goals),
                    None => break,
                }
                continue;
            };
            for (constraints, hint) in self.questions(&suspect) {
                *self.record.asked.entry(site).or_default() += 1;
                budget.steps += 1;
                if let Some(model) = self.solve_quickly(&constraints, &hint, budget) {
                    self.try_out(model, budget, on_goals);
                    break;
                }
            }
        }
        self.record.spent += budget.spent_of_all() - before;
        // What this search holds does not limit what the other one says.
        self.limitations.out_of_memory = out_of_memory;
    }

    /// An outcome at a place where no path went that way, or the way past a fault that paths ended with, near the entry.
    /// Only if no goal is open: the search for goals has executed enough paths otherwise.
    fn new_way(&self) -> Option<Candidate> {
        if self.ledger.open() > 0 || self.record.new_ways.values().sum::<u32>() >= MOST_NEW_WAYS {
            return None;
        }
        let nodes = (0..self.tree.len() as u32).map(TreeNodeId);
        let candidates = nodes.flat_map(|node| {
            let branches = self.tree.branches(node);
            let faults = branches.iter().any(|way| way.fault);
            let ways =
                branches.iter().enumerate().filter(move |(_, way)| !way.fault && (faults || way.event.is_some()));
            ways.map(move |(branch, way)| (Candidate { node, branch }, way.event))
        });
        let open = candidates.filter_map(|(candidate, outcome)| {
            let ways = self.record.ways_by(outcome);
            let status = self.tree.status(candidate.node, candidate.branch);
            let open = matches!(status, Status::Open | Status::Skipped);
            (open && ways < MOST_NEW_WAYS_BY_OUTCOME).then_some((ways, self.tree.depth(candidate.node), candidate))
        });
        open.min().map(|(_, _, candidate)| candidate)
    }

    fn take_new_way(&mut self, candidate: Candidate, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let Candidate { node, branch } = candidate;
        *self.record.new_ways.entry(self.tree.branches(node)[branch].event).or_default() += 1;
        budget.steps += 1;
        let (constraints, hint) = (self.constraints(candidate), self.knowledge[node.0 as usize].model.clone());
        let solved = self.solve_quickly(&constraints, &hint, budget);
        self.tree.set_status(node, branch, Status::Unsolved);
        if let Some(model) = solved {
            self.try_out(model, budget, on_goals);
        }
    }

    /// What an input may satisfy to show it, easiest first, and a model that comes near. Nothing: no input can, or it is
    /// settled.
    fn questions(&mut self, suspect: &Suspect) -> Vec<(Vec<TermId>, Rc<Model>)> {
        match suspect {
            Suspect::Ending(candidate) => {
                let open = self.tree.status(candidate.node, candidate.branch) == Status::Open;
                let hint = self.knowledge[candidate.node.0 as usize].model.clone();
                open.then(|| (self.constraints(*candidate), hint)).into_iter().collect()
            }
            Suspect::Passing { behind, domain, fault, model } => {
                let before = behind.map(|(node, branch)| self.constraints(Candidate { node, branch }));
                let before: Vec<TermId> = before.into_iter().flatten().chain(domain.iter().copied()).collect();
                let conditions = self.session.conditions_of(fault).into_iter();
                conditions.map(|condition| ([before.as_slice(), &[condition]].concat(), model.clone())).collect()
            }
        }
    }

    fn solve_quickly(&mut self, constraints: &[TermId], hint: &Model, budget: &Budget<'_>) -> Option<Model> {
        self.footprint.add_query(constraints.len());
        let quick = self.quick.get_or_insert_with(|| budget.solver(self.workers.clone(), QUICK));
        match quick.check(&self.session.terms, constraints, hint).answer {
            Answer::Sat(model) => Some(model),
            Answer::Unsat(_) | Answer::Unknown(_) => None,
        }
    }

    /// Executes an input that shall show a fault. Its path joins the tree, so that what it meets can be suspected too,
    /// but no conclusion about goals rests on it: the search for them is over.
    fn try_out(&mut self, model: Model, budget: &mut Budget<'_>, on_goals: &mut OnGoals<'_>) {
        let path = self.run_path(&model, budget);
        let model = Rc::new(model);
        self.insert(&path, &model);
        if self.is_no_test(&path) {
            return;
        }
        self.counters.accepted += 1;
        let defined = path.undefined_behaviour().map_or(path.events.len(), |undefined| undefined.events);
        let fresh = self.ledger.note_events(&path.events, defined);
        if !fresh.is_empty() {
            on_goals(self.ledger.reached(), self.ledger.len());
        }
        if self.shows_new_fault(&path) || !fresh.is_empty() {
            self.keep(path, &model, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use branchwise_program::{BlockId, CodeFunctionId};

    use super::*;

    fn site(instruction: u32) -> FaultSite {
        let site = Site { function: CodeFunctionId(0), block: BlockId(0), instruction };
        (site, Some(FaultKind::OutOfBounds))
    }

    fn node(suspect: &Suspect) -> u32 {
        match suspect {
            Suspect::Ending(candidate) => candidate.node.0,
            Suspect::Passing { .. } => unreachable!("these tests have none"),
        }
    }

    fn suspects(sites: u32, ways: u32) -> Suspects {
        let mut suspects = Suspects::default();
        for (at, way) in (0..sites).flat_map(|at| (0..ways).map(move |way| (at, way))) {
            suspects.add(site(at), Suspect::Ending(Candidate { node: TreeNodeId(way), branch: 1 }));
        }
        suspects
    }

    /// What is asked for, if no input is ever found.
    fn asked(mut suspects: Suspects, record: &mut FaultRecord) -> Vec<(u32, u32)> {
        let mut asked = Vec::new();
        while let Some((site, suspect)) = suspects.next(record) {
            *record.asked.entry(site).or_default() += 1;
            asked.push((site.0.instruction, node(&suspect)));
        }
        asked
    }

    #[test]
    fn every_instruction_has_its_turn_and_a_bound() {
        let mut record = FaultRecord::default();
        let asked_for = asked(suspects(2, 100), &mut record);
        assert_eq!(asked_for[..4], [(0, 0), (1, 0), (0, 99), (1, 99)]);
        assert_eq!(asked_for.len() as u32, 2 * MOST_QUERIES_AT_SITE);
        assert_eq!(asked(suspects(2, 100), &mut record), [], "another round does not ask again");
        assert_eq!(record.queries(), u64::from(2 * MOST_QUERIES_AT_SITE));
    }

    #[test]
    fn what_an_input_shows_is_not_asked_for() {
        let mut record = FaultRecord::default();
        let (site, kind) = (site(0).0, FaultKind::OutOfBounds);
        let fault = Fault { kind, site, location: None, message: String::new(), assumption: None };
        assert!(record.note_shown(&fault) && !record.note_shown(&fault));
        assert_eq!(asked(suspects(2, 1), &mut record), [(1, 0)]);
    }
}
