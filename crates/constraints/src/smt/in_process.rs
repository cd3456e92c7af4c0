use super::translate::{in_new_timed_context, solve};
use super::wire::{self, Reply};
use super::{Backend, Verdict, limits_for};
use crate::answer::Reason;
use crate::model::Model;
use crate::solver::Limits;
use crate::terms::{TermId, Terms, VariableId};

/// Z3 in this process. Its own time limit is all there is to stop it, and that is only looked at now and then:
/// for tests and small tools.
pub(crate) struct InProcess {
    limits: Limits,
}

impl InProcess {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits }
    }
}

impl Backend for InProcess {
    fn solve(&mut self, terms: &Terms, constraints: &[TermId]) -> Verdict {
        let (graph, variables) = wire::graph(terms, constraints);
        let Some(limits) = limits_for(&graph, &self.limits) else { return Verdict::Unknown(Reason::FloatingPoint) };
        let reply = in_new_timed_context(&limits, || solve(&graph, &limits));
        verdict(reply, constraints, &variables, &limits)
    }
}

/// A reply in the caller's variables and limits.
pub(crate) fn verdict(reply: Reply, constraints: &[TermId], variables: &[VariableId], limits: &Limits) -> Verdict {
    match reply {
        Reply::Sat(values) => Verdict::Sat(model(&values, variables)),
        Reply::Unsat(places) => Verdict::Unsat(core(&places, constraints)),
        Reply::TimeLimit => Verdict::Unknown(Reason::TimeLimit { milliseconds: limits.milliseconds }),
        Reply::ResourceLimit => Verdict::Unknown(Reason::ResourceLimit { steps: limits.resource }),
        Reply::MemoryLimit => Verdict::Unknown(Reason::MemoryLimit { megabytes: limits.memory_megabytes }),
        Reply::GaveUp(message) => Verdict::Unknown(Reason::GaveUp { message }),
    }
}

/// All constraints when the places say nothing, or something that makes no sense: that is a core too.
fn core(places: &[u32], constraints: &[TermId]) -> Vec<TermId> {
    let ours: Option<Vec<TermId>> = places.iter().map(|&place| constraints.get(place as usize).copied()).collect();
    ours.filter(|core| !core.is_empty()).unwrap_or_else(|| constraints.to_vec())
}

/// A value for a variable that we did not ask about is dropped; the check of the model decides.
fn model(values: &[(u32, u128)], variables: &[VariableId]) -> Model {
    let ours = |&(number, value): &(u32, u128)| Some((*variables.get(number as usize)?, value));
    values.iter().filter_map(ours).collect()
}
