//! What follows for a goal that no test reached.

use branchwise_goals::{Bound, Evidence, TestId, UnknownReason, Verdict};
use branchwise_program::Program;
use branchwise_program::code::Location;

use crate::explore::{Counters, Limitations};

/// The verdict for every goal that no test of the exploration reached.
pub(crate) fn unreached(
    program: &Program,
    limitations: &Limitations,
    counters: &Counters,
    closest: Option<TestId>,
) -> Verdict {
    if let Some((reason, blocking)) = what_stopped_us(program, limitations) {
        let solver_calls = counters.solver_calls.values().sum();
        return Verdict::Unknown(UnknownReason { reason, blocking, paths: counters.paths, solver_calls, closest });
    }
    let evidence = evidence(counters);
    let bounds = bounds(limitations);
    if bounds.is_empty() { Verdict::Infeasible(evidence) } else { Verdict::InfeasibleWithinBounds { bounds, evidence } }
}

/// A reason for which nothing follows from the exploration, with the condition that blocks.
fn what_stopped_us(program: &Program, limitations: &Limitations) -> Option<(String, Option<String>)> {
    if limitations.interrupted {
        return Some(("interrupted".to_string(), None));
    }
    if let Some((what, location)) = limitations.unsupported.first() {
        return Some((format!("not supported yet: {what}{}", place(program, *location)), None));
    }
    if let Some((condition, reason)) = limitations.unsolved.first() {
        let count = limitations.unsolved_count;
        return Some((format!("{count} conditions not decided by the solver: {reason}"), Some(condition.clone())));
    }
    if limitations.diverged > 0 {
        return Some(("execution did not follow its model".to_string(), None));
    }
    if limitations.out_of_budget {
        return Some(("the time for this function was used up before all paths were explored".to_string(), None));
    }
    if limitations.looks_at_addresses {
        return Some(("a path depends on the numbers of addresses".to_string(), None));
    }
    None
}

fn place(program: &Program, location: Option<Location>) -> String {
    let Some(location) = location else { return String::new() };
    let file = program.code.files.get(location.file as usize).map_or("", String::as_str);
    format!(" at {file}:{}", location.line)
}

fn evidence(counters: &Counters) -> Evidence {
    Evidence {
        proof: "every path that could lead there was executed or its condition refuted".to_string(),
        paths: counters.paths,
        refuted_prefixes: counters.refuted,
        assumptions: vec![
            "integer arithmetic wraps around as the machine's does".to_string(),
            "a path ends at an access outside an object, through a null pointer, and at a division by zero".to_string(),
            "pointers point to the start of an object".to_string(),
        ],
    }
}

fn bounds(limitations: &Limitations) -> Vec<Bound> {
    let mut bounds: Vec<Bound> = limitations.cuts.iter().cloned().collect();
    if limitations.reads_state {
        bounds.push(Bound { what: "calls in one test".to_string(), limit: 1 });
    }
    for (left, right) in &limitations.may_alias {
        bounds.push(Bound { what: format!("objects shared by '{left}' and '{right}'"), limit: 0 });
    }
    bounds
}
