//! A function that no test can call (a lambda, a private method, a template) is tested through those that call it.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_goals::{Bound, GoalId, UnknownReason, Verdict};
use branchwise_program::FunctionId;
use branchwise_program::assumption::catalogue::{
    LIBRARY_AS_HERE, NO_OTHER_CLASSES, ONE_INSTANCE, PRIVATE_STATE_BY_PUBLIC_CALLS,
};
use branchwise_program::assumption::{Accepted, Assumption, KnownAssumption};
use branchwise_program::map::{Function, Map, NoDriver};
use branchwise_search::Routes;

/// More would take the time of as many functions.
const MOST_HOSTS: usize = 4;

/// The functions with drivers that call a function, directly or through others without, the nearest first; where none does
/// by name, those that may.
pub(crate) fn hosts(map: &Map, routes: &Routes, of: FunctionId) -> Vec<FunctionId> {
    let mut found = callable_callers(map, routes, vec![of]);
    if found.is_empty() {
        let anything: Vec<FunctionId> = routes.calling_anything().filter(|&function| function != of).collect();
        let (callable, others) = anything.into_iter().partition(|&function| map.functions[function].driver.is_ok());
        found = callable;
        found.extend(callable_callers(map, routes, others));
    }
    found.truncate(MOST_HOSTS);
    found
}

fn callable_callers(map: &Map, routes: &Routes, of: Vec<FunctionId>) -> Vec<FunctionId> {
    let mut seen: BTreeSet<FunctionId> = of.iter().copied().collect();
    let (mut found, mut open, mut next) = (Vec::new(), of, 0);
    while let Some(&function) = open.get(next) {
        next += 1;
        for caller in routes.callers(function).filter(|&caller| seen.insert(caller)) {
            let callable = map.functions[caller].driver.is_ok();
            if callable { &mut found } else { &mut open }.push(caller);
        }
    }
    found
}

/// What is said of goals that were not reached from any host so far.
#[derive(Debug, Default)]
pub(crate) struct Unreached {
    verdicts: BTreeMap<GoalId, Verdict>,
    /// Why there is no test of the function, which others than its hosts could call: nothing follows for its goals.
    lacking: Option<String>,
}

impl Unreached {
    pub fn of(function: &Function) -> Self {
        let lacking = match &function.driver {
            Err(NoDriver::Lacking(why) | NoDriver::Unwatched(why)) => Some(why.clone()),
            Ok(_) | Err(NoDriver::Hidden(_)) => None,
        };
        Unreached { verdicts: BTreeMap::new(), lacking }
    }

    /// The weaker one of what was said before and now counts. A call that is not in this file, or that a pointer makes,
    /// may reach what no host does: that is a bound.
    pub fn add(&mut self, id: GoalId, verdict: Verdict, hosted: &Bound) {
        if let Some(why) = &self.lacking {
            self.verdicts.insert(id, Verdict::Unknown(UnknownReason::trouble(why.clone())));
            return;
        }
        let verdict = verdict.resting_on(std::slice::from_ref(hosted), &[]);
        let said = match (self.verdicts.remove(&id), verdict) {
            (Some(before @ Verdict::Unknown(_)), _) => before,
            (Some(Verdict::InfeasibleWithinBounds { bounds, evidence }), now) => {
                now.resting_on(&bounds, &evidence.assumptions)
            }
            (_, now) => now,
        };
        self.verdicts.insert(id, said);
    }

    pub fn get(&self, id: GoalId) -> Option<&Verdict> {
        self.verdicts.get(&id)
    }
}

/// The limits of how tests use a function: another instance of a template may reach more, and so may functions of the test
/// that do what these never do.
pub(crate) struct Usage {
    bounds: Vec<Bound>,
    assumptions: Vec<Assumption>,
}

impl Usage {
    pub(crate) fn of(map: &Map, function: FunctionId, accepted: &Accepted) -> Self {
        let Function { usage, .. } = &map.functions[function];
        let instance = usage.as_ref().and_then(|usage| usage.instance.as_ref());
        let never_done = usage.iter().flat_map(|usage| usage.never_done.iter().cloned());
        let mut assumptions: Vec<Assumption> =
            instance.map(|instance| ONE_INSTANCE.about(instance)).into_iter().collect();
        if let Some(usage) = usage {
            let about = |known: KnownAssumption| move |subject: &String| known.about(subject);
            assumptions.extend(usage.not_public.iter().map(about(PRIVATE_STATE_BY_PUBLIC_CALLS)));
            assumptions.extend(usage.open.iter().map(about(NO_OTHER_CLASSES)));
            assumptions.extend(usage.left_open.iter().map(about(LIBRARY_AS_HERE)));
        }
        Usage {
            bounds: never_done.map(|what| Bound { what, limit: 0 }).collect(),
            assumptions: assumptions.into_iter().map(|assumption| accepted.judged(assumption)).collect(),
        }
    }

    /// The verdict within these limits too.
    pub(crate) fn limit(&self, verdict: Verdict) -> Verdict {
        verdict.resting_on(&self.bounds, &self.assumptions)
    }
}

/// What its name and those of its hosts bound.
pub(crate) fn bound(map: &Map, of: FunctionId, hosts: &[FunctionId]) -> Bound {
    let names: Vec<&str> = hosts.iter().map(|&host| map.functions[host].name.as_str()).collect();
    Bound { what: format!("calls of {} that {} does not make", map.functions[of].name, names.join(" or ")), limit: 0 }
}
