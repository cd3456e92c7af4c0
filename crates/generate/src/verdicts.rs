//! What follows for a goal that no test reached.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use branchwise_goals::{
    Bound, Evidence, Goal, GoalId, GoalKind, Ledger, Needs, Notation, TestId, UnknownReason, Verdict,
};
use branchwise_program::assumption::catalogue::{self, PRECONDITION};
use branchwise_program::assumption::{Accepted, Assumption};
use branchwise_program::code::{Instruction, Location};
use branchwise_program::library::{self, Facts};
use branchwise_program::map::{Event, FeedOrigin, MarkerKind};
use branchwise_program::{FunctionId, Program};
use branchwise_search::{Guidance, Position, Routes};

use crate::explore::{Counters, Limitations, Obstacle, ObstacleKind, can_follow, position};
use crate::result::PathConstraint;

const BUDGET_USED_UP: &str = "the budget of this function was used up before all paths were explored";

/// Everything that the verdicts of one function rest on.
pub(crate) struct Judge<'a> {
    pub program: &'a Program,
    pub routes: &'a Routes,
    pub function: FunctionId,
    /// Of every round, the last one with the largest bounds.
    pub rounds: &'a [Limitations],
    pub counters: &'a Counters,
    pub closest: Option<TestId>,
    /// The assumptions that the user accepts.
    pub accepted: &'a Accepted,
    /// Filled when it is first asked for.
    pub order_of_calls: OnceCell<Vec<Assumption>>,
    /// Outcomes can be taken, or the program goes on otherwise, because of an exception.
    pub exceptions_matter: bool,
}

impl Judge<'_> {
    /// The verdict for a goal that no test of the exploration reached. Where the last round was not finished, what the
    /// one before it showed within its own bounds still holds.
    pub(crate) fn unreached(&self, id: GoalId, goal: &Goal) -> Verdict {
        if self.has_unknown_jumps(goal) {
            return self.unknown("not supported yet: inline assembly that jumps".to_string(), None);
        }
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
        let may_follow =
            |positions: &[Position]| goal.kind == GoalKind::OtherPaths || can_follow(&guidance, None, positions);
        // Of two rounds that leave it open, the one with the least bounds says more.
        let (least, others): (Vec<_>, Vec<_>) = self.rounds.iter().rev().filter(fits).partition(|round| round.least);
        let verdicts = least.into_iter().chain(others).map(|round| {
            let obstacles: Vec<&Obstacle> = round.obstacles.iter().filter(|it| in_the_way(it)).collect();
            self.after_round(round, &obstacles, &may_follow)
        });
        let verdict = self.strongest(verdicts).resting_on(&[], &self.after_return(goal));
        let verdict = verdict.resting_on(&[], self.order_of_calls());
        // Of what other functions do, the user asks how it is seen from this one.
        match goal.function == self.function {
            true => verdict,
            false => verdict.given(catalogue::MAIN_STARTS_THE_PROGRAM),
        }
    }

    /// The verdict for a path that no test takes, with its shortest prefix that none can take.
    fn untaken(&self, id: GoalId, events: &[Event]) -> Verdict {
        let followed = || self.rounds.iter().rev().filter_map(|round| Some((round, round.along.get(&id)?)));
        let longest = followed().map(|(_, along)| along.longest).max().unwrap_or(0);
        let before = &events[..events.len().min(longest)];
        let prefix = Notation::of(&self.program.map).path(&events[..events.len().min(longest + 1)]);
        // What the path rests on lies on its way there.
        let functions = &self.program.map.functions;
        let is_told = |function: FunctionId| events.iter().any(|it| functions[function].markers.contains(&it.marker));
        let on_the_way = |positions: &[Position]| {
            let is_off = |event: Event| !before.contains(&event);
            !positions.iter().any(|position| position.after.is_some_and(is_off) && is_told(position.function))
        };
        let explained = |evidence: Evidence| Evidence {
            proof: format!("no input takes '{prefix}': every way along it was executed or its condition refuted"),
            infeasible_prefix: Some(prefix.clone()),
            ..evidence
        };
        let verdicts = followed().map(|(round, along)| {
            let obstacles: Vec<&Obstacle> = along.obstacles.iter().collect();
            match self.after_round(round, &obstacles, &on_the_way) {
                Verdict::Infeasible(evidence) => Verdict::excluded(explained(evidence), Vec::new()),
                Verdict::InfeasibleWithinBounds { bounds, evidence } => Verdict::excluded(explained(evidence), bounds),
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
        // Of equally strong verdicts the first, which is that of the last round. Where it only began before the budget ended,
        // an earlier one may say which condition took the time.
        let strongest = verdicts.min_by_key(|verdict| match verdict {
            Verdict::Covered { .. } | Verdict::Infeasible(_) => (0, 0),
            Verdict::InfeasibleWithinBounds { bounds, evidence } if bounds.is_empty() => {
                (1, evidence.open_assumptions().count())
            }
            Verdict::InfeasibleWithinBounds { .. } => (2, 0),
            Verdict::Unknown(reason) => (3, usize::from(reason.reason == BUDGET_USED_UP)),
        });
        strongest.unwrap_or_else(|| self.unknown("nothing was explored".to_string(), None))
    }

    /// The verdict for a goal that a fact about all executions excludes.
    pub(crate) fn excluded(&self, goal: &Goal, reason: &str) -> Verdict {
        let proof = format!("no execution takes it, after any number of iterations: {reason}");
        let evidence = Evidence { proof, ..self.evidence(&Limitations::default(), &[], &|_| true) };
        Verdict::excluded(evidence, Vec::new())
            .resting_on(&[], &self.of_facts())
            .resting_on(&[], self.order_of_calls())
            .resting_on(&[], &self.after_return(goal))
    }

    /// What facts rest on: where no test makes allocations fail, the user has said that none does; and in functions that
    /// nobody defines no exceptions begin.
    fn of_facts(&self) -> Vec<Assumption> {
        let Program { map, code } = self.program;
        let may_fail = map.feeds.values().any(|feed| feed.origin == FeedOrigin::AllocationFails);
        let allocates = code.function_named("__bw_allocation_fails").is_some();
        let succeeds = (allocates && !may_fail).then(|| catalogue::ALLOCATION_SUCCEEDS.assumed());
        let throwing = map.stubs.iter().filter(|stub| self.exceptions_matter && map.may_interfere(stub));
        let quiet = throwing.map(|stub| catalogue::CALLEES_DO_NOT_THROW.about(stub.subject()));
        succeeds.into_iter().chain(quiet).map(|assumption| self.accepted.judged(assumption)).collect()
    }

    /// Where calls in one expression see what others of it do, this compiler chose the order.
    fn order_of_calls(&self) -> &[Assumption] {
        self.order_of_calls.get_or_init(|| {
            let pairs = self.program.order_of_calls_in(self.function).into_iter();
            pairs.map(|pair| self.accepted.judged(catalogue::EVALUATION_ORDER_AS_HERE.about(pair))).collect()
        })
    }

    /// The assumption of a goal in code that may run when the tested call is over: handlers that the program registers, and
    /// what they call.
    fn after_return(&self, goal: &Goal) -> Vec<Assumption> {
        let Program { map, code } = self.program;
        let mut registering = library::rows().filter(|row| row.facts == Facts::Registers);
        let registers = registering.any(|row| code.function_named(row.name).is_some());
        let function = &map.functions[goal.function];
        let runs_later = || {
            let own = code.function_named(&function.symbol);
            own.is_some_and(|id| code.reachable_through_addresses().contains(&id))
        };
        match registers && runs_later() {
            true => vec![self.accepted.judged(catalogue::NOTHING_AFTER_RETURN.about(&function.name))],
            false => Vec::new(),
        }
    }

    /// Behind a `return`, or in the operand of `sizeof`. Nothing is said of a graph that an execution has refuted.
    fn never_runs(&self, goal: &Goal) -> bool {
        goal.never_runs(&self.program.map) && !self.rounds.iter().any(|round| round.caveats.off_the_map.is_some())
    }

    /// Inline assembly with labels jumps where the control-flow graph has no edge.
    fn has_unknown_jumps(&self, goal: &Goal) -> bool {
        let code = &self.program.code;
        let Some(own) = code.function_named(&self.program.map.functions[goal.function].symbol) else { return false };
        let mut instructions = code.functions[own].blocks.values().flat_map(|block| &block.instructions);
        instructions.any(|it| matches!(it, Instruction::Unsupported { what } if what == "asm goto"))
    }

    fn after_round(
        &self,
        round: &Limitations,
        obstacles: &[&Obstacle],
        may_follow: &dyn Fn(&[Position]) -> bool,
    ) -> Verdict {
        if let Some((reason, blocking)) = self.what_stopped_us(round, obstacles) {
            return self.unknown(reason, blocking);
        }
        let bounds = bounds(round, obstacles);
        if let Some(first) = bounds.first().filter(|_| round.least) {
            return self.unknown(format!("time ran out at {} {}", first.limit, first.what), None);
        }
        Verdict::excluded(self.evidence(round, obstacles, may_follow), bounds)
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
            ObstacleKind::Cut(_) | ObstacleKind::Assumed(_) => None,
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
            ObstacleKind::OutOfBudget => Some((5, BUDGET_USED_UP.to_string(), self.not_tried(obstacle))),
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

    /// Every assumption that a verdict of this round rests on, where these obstacles are in the way, and the goal may follow
    /// such positions.
    fn assumptions(
        &self,
        round: &Limitations,
        obstacles: &[&Obstacle],
        may_follow: &dyn Fn(&[Position]) -> bool,
    ) -> Vec<Assumption> {
        let map = &self.program.map;
        let may_follow = |place: &Rc<[branchwise_symbolic::Position]>| {
            may_follow(&place.iter().map(position).collect::<Vec<Position>>())
        };
        let matters = round.caveats.assumed.iter().filter(|(_, places)| places.any(may_follow));
        let mut assumptions: BTreeSet<Assumption> = matters.map(|(assumption, _)| assumption.clone()).collect();
        let assumed = |obstacle: &&Obstacle| match &obstacle.kind {
            ObstacleKind::Assumed(assumption) => Some(assumption.clone()),
            _ => None,
        };
        assumptions.extend(obstacles.iter().filter_map(assumed));
        assumptions.extend(shared_objects(round));
        let demands = map.demands(self.function);
        let preconditions = demands.iter().map(|demand| PRECONDITION.about(demand).stated());
        preconditions.chain(assumptions.into_iter().map(|assumption| self.accepted.judged(assumption))).collect()
    }

    fn evidence(
        &self,
        round: &Limitations,
        obstacles: &[&Obstacle],
        may_follow: &dyn Fn(&[Position]) -> bool,
    ) -> Evidence {
        Evidence {
            proof: match round.united {
                false => "every path that could lead there was executed or its condition refuted".to_string(),
                true => "the condition under which any path leads there, one formula over all paths, was refuted"
                    .to_string(),
            },
            paths: self.counters.paths,
            refuted_prefixes: self.counters.refuted,
            assumptions: self.assumptions(round, obstacles, may_follow),
            infeasible_prefix: None,
        }
    }
}

/// A verdict that names more pairs than this is not read.
const MOST_NAMED_PAIRS: usize = 4;

fn shared_objects(round: &Limitations) -> Vec<Assumption> {
    let pairs = &round.caveats.may_alias;
    match pairs.len() {
        0..=MOST_NAMED_PAIRS => {
            let pair = |(left, right): &(String, String)| format!("'{left}' and '{right}'");
            pairs.iter().map(|both| catalogue::INPUTS_DO_NOT_OVERLAP.about(&pair(both))).collect()
        }
        _ => vec![catalogue::INPUTS_DO_NOT_OVERLAP.about("two pointers among the inputs")],
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
    if let Some(limit) = round.caveats.cut_callers {
        bounds.insert(Bound { what: "functions that a test calls before the tested one".to_string(), limit });
    }
    if round.caveats.plain_numbers {
        bounds.insert(Bound { what: "ways to write a number of a stream".to_string(), limit: 1 });
    }
    if let Some(limits) = round.caveats.arguments_of_main {
        bounds.insert(Bound { what: "arguments of main".to_string(), limit: limits.arguments });
        bounds.insert(Bound { what: "characters of an argument of main".to_string(), limit: limits.characters });
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
