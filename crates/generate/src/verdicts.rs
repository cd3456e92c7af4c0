//! What follows for a goal that no test reached.

use std::collections::BTreeSet;

use branchwise_goals::catalogue::{self, PRECONDITION};
use branchwise_goals::{
    Assumption, Bound, Evidence, Goal, GoalId, GoalKind, KnownAssumption, Ledger, Needs, Notation, TestId,
    UnknownReason, Verdict,
};
use branchwise_program::code::Location;
use branchwise_program::library::{self, Facts};
use branchwise_program::map::{Event, FeedOrigin, MarkerKind};
use branchwise_program::types::TypeKind;
use branchwise_program::{FunctionId, Program, TypeId};
use branchwise_search::{Guidance, Routes};

use crate::explore::{Counters, Limitations, Obstacle, ObstacleKind};
use crate::result::PathConstraint;

/// The assumptions of every verdict, whatever its inputs and paths.
const ALWAYS: [KnownAssumption; 3] =
    [catalogue::ARITHMETIC_WRAPS, catalogue::FAULTS_END_PATHS, catalogue::POINTERS_TO_STARTS];

/// Everything that the verdicts of one function rest on.
pub(crate) struct Judge<'a> {
    pub program: &'a Program,
    pub routes: &'a Routes,
    pub function: FunctionId,
    /// Of every round, the last one with the largest bounds.
    pub rounds: &'a [Limitations],
    pub counters: &'a Counters,
    pub closest: Option<TestId>,
}

impl Judge<'_> {
    /// The verdict for a goal that no test of the exploration reached. Where the last round was not finished, what the
    /// one before it showed within its own bounds still holds.
    pub(crate) fn unreached(&self, id: GoalId, goal: &Goal) -> Verdict {
        if self.never_runs(goal) {
            return Verdict::Infeasible(Evidence {
                proof: "it stands in code that never runs: no way of the control-flow graph leads there".to_string(),
                paths: 0,
                refuted_prefixes: 0,
                assumptions: Vec::new(),
                infeasible_prefix: None,
            });
        }
        if let Some(reason) = self.why_unseen(id, goal) {
            return self.unknown(reason.to_string(), None);
        }
        if let Needs::Prefix(events) = &goal.needs {
            return self.untaken(id, events);
        }
        let guidance = Guidance::new(self.routes, self.function, &Ledger::new(vec![goal.clone()]));
        // Following all ways at once looks at events only.
        let fits = |round: &&Limitations| match goal.kind {
            GoalKind::OtherPaths => round.followed_paths,
            _ => goal.is_an_event() || !round.united,
        };
        let in_the_way = |obstacle: &Obstacle| {
            goal.kind == GoalKind::OtherPaths || guidance.after(&obstacle.branch, &obstacle.positions).is_some()
        };
        let verdicts = self.rounds.iter().rev().filter(fits).map(|round| {
            self.after_round(round, &round.obstacles.iter().filter(|it| in_the_way(it)).collect::<Vec<_>>())
        });
        self.strongest(verdicts)
    }

    /// The verdict for a path that no test takes, with its shortest prefix that none can take.
    fn untaken(&self, id: GoalId, events: &[Event]) -> Verdict {
        let followed = || self.rounds.iter().rev().filter_map(|round| Some((round, round.along.get(&id)?)));
        let longest = followed().map(|(_, along)| along.longest).max().unwrap_or(0);
        let prefix = Notation::of(&self.program.map).path(&events[..events.len().min(longest + 1)]);
        let explained = |evidence: Evidence| Evidence {
            proof: format!("no input takes '{prefix}': every way along it was executed or its condition refuted"),
            infeasible_prefix: Some(prefix.clone()),
            ..evidence
        };
        let verdicts = followed().map(|(round, along)| {
            let obstacles: Vec<&Obstacle> = along.obstacles.iter().collect();
            match self.after_round(round, &obstacles) {
                Verdict::Infeasible(evidence) => Verdict::Infeasible(explained(evidence)),
                Verdict::InfeasibleWithinBounds { bounds, evidence } => {
                    Verdict::InfeasibleWithinBounds { bounds, evidence: explained(evidence) }
                }
                other => other,
            }
        });
        self.strongest(verdicts)
    }

    /// The condition of the longest way along a path that was refuted, where no input takes the path.
    pub(crate) fn refuted(&self, id: GoalId) -> Option<PathConstraint> {
        let refuted = self.rounds.iter().filter_map(|round| round.along.get(&id)?.refuted.as_ref());
        refuted.max_by_key(|(before, _)| *before).map(|(_, constraint)| constraint.clone())
    }

    fn strongest(&self, verdicts: impl Iterator<Item = Verdict>) -> Verdict {
        // Of equally strong verdicts the first, which is that of the last round.
        let strongest = verdicts.min_by_key(|verdict| match verdict {
            Verdict::Covered { .. } | Verdict::Infeasible(_) => 0,
            Verdict::InfeasibleWithinBounds { .. } => 1,
            Verdict::Unknown(_) => 2,
        });
        strongest.unwrap_or_else(|| self.unknown("nothing was explored".to_string(), None))
    }

    /// The verdict for a goal that a fact about all executions excludes.
    pub(crate) fn excluded(&self, reason: &str) -> Verdict {
        let round = self.rounds.last().cloned().unwrap_or_default();
        let proof = format!("no execution takes it, after any number of iterations: {reason}");
        Verdict::Infeasible(Evidence { proof, ..self.evidence(&round) })
    }

    /// Behind a `return`, or in the operand of `sizeof`. Nothing is said of a graph that an execution has refuted.
    fn never_runs(&self, goal: &Goal) -> bool {
        goal.never_runs(&self.program.map) && !self.rounds.iter().any(|round| round.caveats.off_the_map.is_some())
    }

    fn after_round(&self, round: &Limitations, obstacles: &[&Obstacle]) -> Verdict {
        if let Some((reason, blocking)) = self.what_stopped_us(round, obstacles) {
            return self.unknown(reason, blocking);
        }
        let bounds = bounds(round, obstacles);
        let evidence = self.evidence(round);
        if bounds.is_empty() {
            Verdict::Infeasible(evidence)
        } else {
            Verdict::InfeasibleWithinBounds { bounds, evidence }
        }
    }

    /// Why a path may have reached a goal unnoticed, where whole traces tell and not events.
    fn why_unseen(&self, id: GoalId, goal: &Goal) -> Option<&'static str> {
        if goal.is_an_event() || goal.reading().is_some() || matches!(goal.needs, Needs::Prefix(_)) {
            return None;
        }
        let any = |what: &dyn Fn(&Limitations) -> bool| self.rounds.iter().any(what);
        if any(&|round| round.doubtful.contains(&id)) {
            return Some("only runs that were stopped on their way may have reached it");
        }
        if any(&|round| round.lost) {
            return Some("a path could not be followed from condition to condition");
        }
        let elsewhere = goal.function != self.function && any(&|round| round.unseen);
        elsewhere.then_some("a call through a pointer, or into code without markers, may run it without a trace")
    }

    /// Why no input was accepted, where all were rejected; `None` if the preconditions cannot be satisfied.
    pub(crate) fn why_all_rejected(&self) -> Option<String> {
        let round = self.rounds.last()?;
        let obstacles: Vec<&Obstacle> = round.obstacles.iter().collect();
        let stopped = self.what_stopped_us(round, &obstacles).map(|(reason, _)| reason);
        stopped.or_else(|| {
            let bound = bounds(round, &obstacles).into_iter().next()?;
            Some(format!("{} at most {}", bound.what, bound.limit))
        })
    }

    fn unknown(&self, reason: String, blocking: Option<String>) -> Verdict {
        let solver_calls = self.counters.solver_calls.values().sum();
        Verdict::Unknown(UnknownReason {
            reason,
            blocking,
            paths: self.counters.paths,
            solver_calls,
            closest: self.closest,
        })
    }

    /// A reason for which nothing follows from the round, with the condition that blocks.
    fn what_stopped_us(&self, round: &Limitations, obstacles: &[&Obstacle]) -> Option<(String, Option<String>)> {
        if round.interrupted {
            return Some(("interrupted".to_string(), None));
        }
        if round.caveats.off_the_map.is_some() {
            return Some(("a path is not in the control-flow graph (a fault of Branchwise)".to_string(), None));
        }
        let reasons = obstacles.iter().filter_map(|obstacle| self.reason(obstacle));
        // Of equal reasons one that says where.
        let worst = reasons
            .min_by_key(|(rank, _, blocking)| (*rank, blocking.is_none()))
            .map(|(_, reason, blocking)| (reason, blocking));
        let addresses =
            round.caveats.looks_at_addresses.then(|| ("a path depends on the numbers of addresses".to_string(), None));
        worst.or(addresses)
    }

    /// Why an obstacle leaves a goal unknown, the most telling reason with the smallest rank; `None` for a bound.
    fn reason(&self, obstacle: &Obstacle) -> Option<(u32, String, Option<String>)> {
        match &obstacle.kind {
            ObstacleKind::Cut(_) => None,
            ObstacleKind::Unsupported { what, location } => {
                Some((0, format!("not supported yet: {what}{}", self.place(*location)), None))
            }
            ObstacleKind::Unsolved { condition, reason } => {
                let reason = format!("a condition was not decided{}: {reason}", self.outcome(obstacle));
                Some((1, reason, Some(condition.clone())))
            }
            ObstacleKind::Uninitialised { location } => {
                Some((2, format!("a value that was never written decides{}", self.place(*location)), None))
            }
            ObstacleKind::Diverged => Some((3, "execution did not follow its model".to_string(), None)),
            ObstacleKind::OutOfMemory { megabytes } => {
                let reason = format!("memory limit: exploration ended at {megabytes} megabytes (see --memory)");
                Some((4, reason, self.not_tried(obstacle)))
            }
            ObstacleKind::OutOfBudget => {
                let reason = "the budget of this function was used up before all paths were explored".to_string();
                Some((5, reason, self.not_tried(obstacle)))
            }
        }
    }

    /// The outcome that an obstacle stands at, or behind.
    fn outcome(&self, obstacle: &Obstacle) -> String {
        let behind = || Some((" behind", obstacle.positions.last()?.after?));
        let found = obstacle.branch.event.map(|event| (",", event)).or_else(behind);
        found.map_or(String::new(), |(word, event)| format!("{word} {}", self.outcome_text(event)))
    }

    /// The outcome that was not tried, or the one behind which something else was not.
    fn not_tried(&self, obstacle: &Obstacle) -> Option<String> {
        let behind = || {
            let position = obstacle.positions.last()?;
            Some(match position.after {
                Some(event) => format!("what follows {}", self.outcome_text(event)),
                None => format!("the entry of {}", self.program.map.functions.get(position.function)?.name),
            })
        };
        obstacle.branch.event.map(|event| self.outcome_text(event)).or_else(behind)
    }

    fn outcome_text(&self, event: Event) -> String {
        let map = &self.program.map;
        let Some(marker) = map.markers.get(event.marker) else { return String::new() };
        let file = map.files.get(marker.place.file).map_or(String::new(), |file| file.path.display().to_string());
        let outcome = match &marker.kind {
            MarkerKind::Condition { .. } => (event.outcome == 1).to_string(),
            MarkerKind::Handler => "taken".to_string(),
            MarkerKind::Switch { labels, .. } => {
                labels.get(event.outcome as usize).map_or("no label".to_string(), |label| label.text.clone())
            }
        };
        format!("{file}:{}:{} '{}' {outcome}", marker.place.line, marker.place.column, marker.text)
    }

    fn place(&self, location: Option<Location>) -> String {
        let Some(location) = location else { return String::new() };
        let file = self.program.code.files.get(location.file as usize).map_or("", String::as_str);
        format!(" at {file}:{}", location.line)
    }

    fn takes_void_for_objects(&self) -> bool {
        let types = &self.program.map.types;
        let is_object = |target: &TypeId| types[*target].kind != TypeKind::Void;
        types.values().any(
            |of| matches!(&of.kind, TypeKind::Pointer { target, .. } if of.spelling == "void *" && is_object(target)),
        )
    }

    /// Every assumption that a verdict of this round rests on.
    fn assumptions(&self, round: &Limitations) -> Vec<Assumption> {
        let Program { map, code } = self.program;
        let mut assumptions: Vec<Assumption> = ALWAYS.map(KnownAssumption::assumed).to_vec();
        assumptions.extend(map.demands(self.function).into_iter().map(|demand| PRECONDITION.about(&demand)));
        let may_fail = map.feeds.values().any(|feed| feed.origin == FeedOrigin::AllocationFails);
        let mut registering = library::rows().filter(|row| row.facts == Facts::Registers);
        let needed = [
            (catalogue::CALLEES_LEAVE_GLOBALS, round.caveats.calls_stubs),
            (catalogue::OPAQUE_POINTERS_HAVE_ONE_TYPE, self.takes_void_for_objects()),
            (catalogue::ALLOCATION_SUCCEEDS, !may_fail && code.function_named("__bw_allocate").is_some()),
            (catalogue::NOTHING_AFTER_RETURN, registering.any(|row| code.function_named(row.name).is_some())),
        ];
        assumptions.extend(needed.into_iter().filter(|(_, is_needed)| *is_needed).map(|(known, _)| known.assumed()));
        assumptions
    }

    fn evidence(&self, round: &Limitations) -> Evidence {
        Evidence {
            proof: match round.united {
                false => "every path that could lead there was executed or its condition refuted".to_string(),
                true => "the condition under which any path leads there, one formula over all paths, was refuted"
                    .to_string(),
            },
            paths: self.counters.paths,
            refuted_prefixes: self.counters.refuted,
            assumptions: self.assumptions(round),
            infeasible_prefix: None,
        }
    }
}

/// A verdict that names more pairs than this is not read.
const MOST_NAMED_PAIRS: usize = 4;

fn shared_objects(round: &Limitations) -> Vec<String> {
    match round.caveats.may_alias.len() {
        0..=MOST_NAMED_PAIRS => round
            .caveats
            .may_alias
            .iter()
            .map(|(left, right)| format!("objects shared by '{left}' and '{right}'"))
            .collect(),
        _ => vec!["objects shared by two pointers".to_string()],
    }
}

fn bounds(round: &Limitations, obstacles: &[&Obstacle]) -> Vec<Bound> {
    let cut = |obstacle: &&Obstacle| match &obstacle.kind {
        ObstacleKind::Cut(bound) => Some(bound.clone()),
        _ => None,
    };
    let mut bounds: BTreeSet<Bound> = obstacles.iter().filter_map(cut).collect();
    if round.caveats.reads_state {
        bounds.insert(Bound { what: "calls in one test".to_string(), limit: u64::from(round.calls) });
    }
    if round.caveats.reads_volatile {
        bounds.insert(Bound { what: "values of a volatile object in one test".to_string(), limit: 1 });
    }
    bounds.extend(shared_objects(round).into_iter().map(|what| Bound { what, limit: 0 }));
    if round.caveats.plain_numbers {
        bounds.insert(Bound { what: "ways to write a number of a stream".to_string(), limit: 1 });
    }
    bounds.extend(round.caveats.streams.iter().map(|what| Bound { what: (*what).to_string(), limit: 0 }));
    if round.caveats.no_files {
        bounds.insert(Bound { what: "files that the program can read".to_string(), limit: 0 });
    }
    if let Some(limits) = round.caveats.arguments_of_main {
        bounds.insert(Bound { what: "arguments of main".to_string(), limit: limits.arguments });
        bounds.insert(Bound { what: "characters of an argument of main".to_string(), limit: limits.characters });
    }
    for stub in &round.caveats.left_alone {
        bounds.insert(Bound { what: format!("more that '{stub}' does through its parameters"), limit: 0 });
    }
    bounds.extend(made_objects(round));
    for name in &round.caveats.always_null {
        bounds.insert(Bound { what: format!("objects behind '{name}'"), limit: 0 });
    }
    bounds.into_iter().collect()
}

/// What the objects of the tests were not.
fn made_objects(round: &Limitations) -> Vec<Bound> {
    let caveats = &round.caveats;
    let calls = |class: &String| format!("public calls on an object of class {class} before the tested one");
    let fixed = caveats.fixed_objects.iter().filter(|class| !caveats.made_objects.contains(*class));
    let mut bounds: Vec<Bound> = fixed.map(|class| Bound { what: calls(class), limit: 0 }).collect();
    let limit = u64::from(round.object_calls);
    bounds.extend(caveats.made_objects.iter().map(|class| Bound { what: calls(class), limit }));
    let method = |method: &String| Bound { what: format!("calls of {method} before the tested one"), limit: 0 };
    bounds.extend(caveats.left_out_methods.iter().map(method));
    if caveats.cut_containers {
        bounds.push(Bound { what: "elements of a container".to_string(), limit: round.elements });
    }
    bounds
}
