use super::{Decide, Query};
use crate::answer::{Answer, Layer, Solved, Statistics};
use crate::hash::FastMap;
use crate::model::Model;
use crate::terms::TermId;

/// When full the cache starts anew: simple, and the same on every machine.
const MOST_ENTRIES: usize = 50_000;

/// How many cores with the same newest constraint are compared with a query, the latest first.
const MOST_CORES_TRIED: usize = 64;

/// Remembers the answer for each slice. A slice that contains the core of one refuted before is refuted by it: the
/// other side of a condition that an early part of the path decides is asked for on every path through that part.
/// "Unknown" is not remembered: it costs as much again, but a limit may have struck by bad luck.
pub(crate) struct Cache<Inner> {
    inner: Inner,
    models: FastMap<Vec<TermId>, Model>,
    /// Cores by their newest constraint, each ascending.
    cores: FastMap<TermId, Vec<Vec<TermId>>>,
    entries: usize,
}

impl<Inner> Cache<Inner> {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner, models: FastMap::default(), cores: FastMap::default(), entries: 0 }
    }

    fn core_within(&self, constraints: &[TermId]) -> Option<&Vec<TermId>> {
        let cores = |newest| self.cores.get(newest).into_iter().flatten().rev().take(MOST_CORES_TRIED);
        constraints.iter().flat_map(cores).find(|core| is_within(core, constraints))
    }

    fn remember(&mut self, constraints: &[TermId], answer: &Answer) {
        if self.entries >= MOST_ENTRIES {
            self.models.clear();
            self.cores.clear();
            self.entries = 0;
        }
        match answer {
            Answer::Sat(model) => drop(self.models.insert(constraints.to_vec(), model.clone())),
            Answer::Unsat(evidence) => self.remember_core(&evidence.core),
            Answer::Unknown(_) => return,
        }
        self.entries += 1;
    }

    fn remember_core(&mut self, core: &[TermId]) {
        if let Some(&newest) = core.last() {
            self.cores.entry(newest).or_default().push(core.to_vec());
        }
    }
}

impl<Inner: Decide> Decide for Cache<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        if let Some(model) = self.models.get(query.constraints) {
            return Solved::sat(model.clone(), Layer::Cache);
        }
        if let Some(core) = self.core_within(query.constraints) {
            return Solved::unsat(core.clone(), Layer::Cache);
        }
        let solved = self.inner.decide(query, statistics);
        self.remember(query.constraints, &solved.answer);
        solved
    }
}

/// The constraints ascending. A core is far shorter than a slice, so each of its members is looked up.
fn is_within(core: &[TermId], constraints: &[TermId]) -> bool {
    core.len() <= constraints.len() && core.iter().all(|member| constraints.binary_search(member).is_ok())
}
