//! The standing attack: what is called infeasible is attacked with native runs on inputs that nobody solved for.
//!
//! Inputs are random, or those of earlier tests with some values changed, with and without calls before the tested one. The
//! executor says for each whether it is a test, and up to where C defines what it does. A native run that takes an excluded
//! outcome up to there is a witness, if it did what the executor predicts, or if the sanitizers find nothing wrong with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use branchwise_goals::{GoalId, Ledger, Trace, UnknownReason, Verdict};
use branchwise_program::FunctionId;
use branchwise_replay::{Harness, NativeEnd, Observation, ReplayError, Sanitizers, TestCase};
use branchwise_symbolic::{Path, PathEnd, Prepared, Session, Sharing, Undefined};

use crate::case::test_case;
use crate::deadline::Deadline;
use crate::drawing::Drawing;
use crate::explore::Named;
use crate::replayed::{called, disagreement, has_ended, native_trace};
use crate::result::{Disagreement, FunctionReport};
use crate::settings::Settings;

/// So many executions a function has at the least, unless they take longer than this; and as many run in one process.
const LEAST: u64 = 16;
const LEAST_TIME: Duration = Duration::from_millis(50);

/// So many inputs are drawn for one that is a test.
const TRIES: u64 = 4;

/// Runs that had to be stopped cost as long as a run may take: no more than so many.
const MOST_STOPPED: usize = 2;

/// The longest sequence of calls before the tested one, and of calls on an object.
const CALLS: u32 = 4;

const POINTER_ELEMENTS: u64 = 8;

/// How many executions there are.
#[derive(Debug, Copy, Clone)]
pub(crate) enum Extent {
    /// So many: where steps are counted.
    Executions(u64),
    /// As many as begin by then, and some in any case.
    Until(Instant),
}

impl Extent {
    /// The extent that is a share of what a function has taken so far, in percent; `None` where none is wanted.
    pub(crate) fn of(settings: &Settings, steps: u64, spent: Duration) -> Option<Self> {
        let share = settings.attack / 100.0;
        (share > 0.0).then(|| match settings.steps {
            Some(_) => Extent::Executions(LEAST + (steps as f64 * share) as u64),
            None => Extent::Until(Instant::now() + spent.mul_f64(share).max(LEAST_TIME)),
        })
    }

    fn is_over(self) -> bool {
        matches!(self, Extent::Until(end) if Instant::now() >= end)
    }

    fn leaves(self, drawn: u64) -> u64 {
        match self {
            Extent::Executions(all) => all.saturating_sub(drawn).min(LEAST),
            Extent::Until(_) if drawn > 0 && self.is_over() => 0,
            Extent::Until(_) => LEAST,
        }
    }
}

/// What is attacked.
pub(crate) struct Attack<'u, 'a> {
    pub prepared: &'u Prepared<'a>,
    pub function: FunctionId,
    pub ledger: &'u Ledger,
    /// Goals that no execution is said to reach.
    pub targets: BTreeSet<GoalId>,
    pub plan: Plan,
    pub drawing: Drawing,
    /// What executions do where arithmetic is undefined.
    pub undefined: Undefined,
}

/// How much is done, and on what inputs.
pub(crate) struct Plan {
    pub extent: Extent,
    pub deadline: Deadline,
    /// The inputs of earlier tests.
    pub earlier: Vec<Named>,
    /// Names of inputs that may share objects.
    pub shared: Sharing,
}

impl Plan {
    /// So many executions with random inputs alone.
    pub(crate) fn of_executions(count: u64) -> Self {
        let (earlier, shared) = (Vec::new(), Sharing::default());
        Plan { extent: Extent::Executions(count), deadline: Deadline::none(), earlier, shared }
    }
}

/// What the executions showed.
#[derive(Debug, Default)]
pub(crate) struct Attacked {
    pub executions: u64,
    /// Targets that an execution took, each with its input.
    pub taken: BTreeMap<GoalId, TestCase>,
}

/// An input that a native run took to targets.
struct Hit {
    case: TestCase,
    goals: BTreeSet<GoalId>,
    /// The run was as predicted.
    predicted: bool,
}

impl<'a> Attack<'_, 'a> {
    /// Runs until the extent is reached, the deadline is over, or every target was taken.
    pub(crate) fn run(mut self, harness: &mut Harness) -> Result<Attacked, ReplayError> {
        let mut attacked = Attacked::default();
        let (mut drawn, mut stopped) = (0, 0);
        while stopped < MOST_STOPPED && attacked.taken.len() < self.targets.len() && !self.plan.deadline.is_over() {
            let count = self.plan.extent.leaves(drawn);
            if count == 0 {
                break;
            }
            let inputs = self.draw(drawn, count);
            drawn += count;
            let cases: Vec<TestCase> = inputs.iter().map(|(case, _)| case.clone()).collect();
            let observed = self.plan.deadline.within(harness, 4, |harness| harness.run(&cases))?;
            attacked.executions += observed.iter().filter(|one| one.end != NativeEnd::Rejected).count() as u64;
            stopped += observed.iter().filter(|one| one.end == NativeEnd::TimeLimit).count();
            let hits =
                inputs.into_iter().zip(observed).filter_map(|((case, path), native)| self.hit(case, &path, native));
            for hit in hits.collect::<Vec<Hit>>() {
                if hit.predicted || has_no_fault(harness, &hit.case)? {
                    hit.goals.into_iter().for_each(|goal| {
                        attacked.taken.entry(goal).or_insert_with(|| hit.case.clone());
                    });
                }
            }
        }
        Ok(attacked)
    }

    /// Draws so many inputs, half of them with calls before the tested one. Those whose paths have no end within the executor's
    /// limits are left out, as their runs may have none either.
    fn draw(&mut self, first: u64, count: u64) -> Vec<(TestCase, Path)> {
        let mut inputs = Vec::new();
        for calls in [0, CALLS] {
            let Some(mut session) = self.session(calls) else { return inputs };
            let mut wanted = count / 2 + if calls == 0 { count % 2 } else { 0 };
            for number in 0..wanted * TRIES {
                if wanted == 0 || (number > 0 && self.plan.extent.is_over()) {
                    break;
                }
                let drawn = self.input(&mut session, first + number).filter(|(_, path)| has_ended(path));
                wanted -= u64::from(drawn.is_some());
                inputs.extend(drawn);
            }
        }
        inputs
    }

    fn session(&self, calls: u32) -> Option<Session<'a>> {
        let mut session = self.prepared.session(self.function, POINTER_ELEMENTS)?.with_calls_before(calls);
        session.inputs.sharing = self.plan.shared.clone();
        (session.object_calls, session.undefined) = (calls, self.undefined);
        Some(session)
    }

    /// Every third input is like none before.
    fn input(&mut self, session: &mut Session<'_>, number: u64) -> Option<(TestCase, Path)> {
        let like = match self.plan.earlier.len() as u64 {
            0 => HashMap::new(),
            _ if number.is_multiple_of(3) => HashMap::new(),
            earlier => self.plan.earlier[(number % earlier) as usize]
                .iter()
                .map(|(name, value)| (name.as_str(), *value))
                .collect(),
        };
        let (model, path) = self.drawing.input(session, &like)?;
        Some((test_case(session, &model, &path), path))
    }

    /// Returns what an execution takes of that which it must not.
    fn taken_of(&self, trace: &Trace<'_>) -> BTreeSet<GoalId> {
        self.ledger.reached_by_trace(trace).intersection(&self.targets).copied().collect()
    }

    fn hit(&self, case: TestCase, path: &Path, mut native: Observation) -> Option<Hit> {
        let differs = disagreement(path, &native).is_some();
        // Behind a fault anything may happen.
        if matches!(path.end, PathEnd::Fault(_)) {
            native.events.truncate(path.events.len());
            native.readings.truncate(path.readings.len());
        }
        let calls = called(path, case.function);
        let trace = native_trace(path, &calls, &native);
        let mut goals = self.taken_of(&trace);
        // Other functions may be called by others too: a verdict on them is about the call under test.
        if goals.iter().any(|&id| self.ledger.goal(id).function != case.function) {
            let of_call = self.taken_of(&trace.of_unit());
            goals.retain(|id| self.ledger.goal(*id).function == case.function || of_call.contains(id));
        }
        let predicted = !differs && !path.notes.caveats.looks_at_addresses;
        (!goals.is_empty() && native.end != NativeEnd::Rejected).then_some(Hit { case, goals, predicted })
    }
}

/// Returns what is attacked: the outcomes that the report calls infeasible, and of an effect its parts.
pub(crate) fn targets(ledger: &Ledger, report: &FunctionReport) -> BTreeSet<GoalId> {
    let infeasible = report.goals.iter().filter(|found| matches!(found.verdict, Verdict::Infeasible(_)));
    let mut targets: BTreeSet<GoalId> = infeasible.map(|found| found.id).collect();
    let effects = ledger.effects().iter().filter(|effect| targets.contains(&effect.goal));
    let parts: Vec<GoalId> = effects.flat_map(|effect| &effect.pairs).flat_map(|&(one, other)| [one, other]).collect();
    targets.extend(parts.into_iter().filter(|&part| !ledger.is_reached(part)));
    targets
}

impl Attacked {
    /// Writes to the report how many executions each verdict survived; what one took is unknown. Returns what was taken as
    /// disagreements.
    pub(crate) fn judge(&self, ledger: &Ledger, report: &mut FunctionReport, name: &str) -> Vec<Disagreement> {
        let mut disagreements = Vec::new();
        let infeasible = report.goals.iter_mut().filter(|found| matches!(found.verdict, Verdict::Infeasible(_)));
        for found in infeasible {
            let Some(case) = self.witness(ledger, found.id) else {
                found.attacked = Some(self.executions);
                continue;
            };
            let what = format!("{} is called infeasible, but a native run takes it", found.goal.title());
            disagreements.push(Disagreement { function: name.to_owned(), test: None, what, case: Some(case.clone()) });
            found.verdict = Verdict::Unknown(UnknownReason::trouble(TAKEN.to_owned()));
        }
        disagreements
    }

    /// Returns the input that takes a goal, or together with others shows an effect.
    fn witness(&self, ledger: &Ledger, goal: GoalId) -> Option<&TestCase> {
        let taken = |id: &GoalId| self.taken.get(id);
        let part = |(one, other): &(GoalId, GoalId)| match (taken(one), taken(other)) {
            (Some(case), None) => ledger.is_reached(*other).then_some(case),
            (None, Some(case)) => ledger.is_reached(*one).then_some(case),
            (one, _) => one,
        };
        let of_effect = || ledger.effects().iter().find(|effect| effect.goal == goal)?.pairs.iter().find_map(part);
        taken(&goal).or_else(of_effect)
    }
}

const TAKEN: &str = "a proof excludes it, but a native run takes it (a fault of Branchwise)";

/// Tells whether the sanitizers find nothing wrong with a run.
fn has_no_fault(harness: &mut Harness, case: &TestCase) -> Result<bool, ReplayError> {
    harness.prepare_sanitized(Sanitizers::Usual)?;
    let runs = harness.run_sanitized_while(Sanitizers::Usual, std::slice::from_ref(case), &|| true)?;
    Ok(runs.iter().all(|run| run.reports.is_empty()))
}

#[cfg(test)]
mod tests {
    use branchwise_goals::{Criterion, Evidence, Goal, GoalKind, Needs};
    use branchwise_program::map::Place;
    use branchwise_program::{FileId, MarkerId};

    use super::*;
    use crate::result::{GoalReport, Work};

    fn goal(outcome: bool) -> Goal {
        let place = Place { file: FileId(0), line: 3, column: 9 };
        Goal {
            function: FunctionId(0),
            criterion: Criterion::Branch,
            kind: GoalKind::Condition,
            outcome: Some(outcome),
            place,
            spelled: place,
            text: "x > 3".to_owned(),
            needs: Needs::Outcome(MarkerId(0)),
        }
    }

    /// A function with one condition, of which both outcomes are called infeasible.
    fn report(ledger: &Ledger) -> FunctionReport {
        let evidence = Evidence {
            proof: "a wrong one".to_owned(),
            paths: 1,
            refuted_prefixes: 1,
            assumptions: Vec::new(),
            infeasible_prefix: None,
        };
        let goal = |(id, goal): (GoalId, &Goal)| GoalReport {
            id,
            goal: goal.clone(),
            verdict: Verdict::excluded(evidence.clone(), Vec::new()),
            pair: None,
            refuted: None,
            attacked: None,
        };
        FunctionReport {
            function: FunctionId(0),
            goals: ledger.goals().map(goal).collect(),
            tests: Vec::new(),
            findings: Vec::new(),
            work: Work::default(),
            timing: None,
            trouble: None,
            interrupted: false,
        }
    }

    #[test]
    fn what_a_run_took_is_unknown_and_a_disagreement() {
        let ledger = Ledger::new(vec![goal(true), goal(false)]);
        let mut report = report(&ledger);
        assert_eq!(targets(&ledger, &report), BTreeSet::from([GoalId(0), GoalId(1)]));
        let case = TestCase::new(FunctionId(0), Vec::new(), Vec::new());
        let attacked = Attacked { executions: 48, taken: BTreeMap::from([(GoalId(0), case.clone())]) };
        let disagreements = attacked.judge(&ledger, &mut report, "f");
        let [found] = disagreements.as_slice() else { panic!("one disagreement: {disagreements:?}") };
        assert_eq!(found.what, "'x > 3' true is called infeasible, but a native run takes it");
        assert_eq!(found.case, Some(case));
        assert!(matches!(&report.goals[0].verdict, Verdict::Unknown(reason) if reason.reason == TAKEN));
        assert!(matches!(report.goals[1].verdict, Verdict::Infeasible(_)));
        assert_eq!([&report.goals[0], &report.goals[1]].map(|found| found.attacked), [None, Some(48)]);
    }

    #[test]
    fn steps_decide_the_extent_and_a_share_of_nothing_is_none() {
        let of = |attack: f64, steps: Option<u64>| {
            let settings = Settings { attack, steps, ..Settings::default() };
            Extent::of(&settings, 1000, Duration::from_secs(1))
        };
        assert!(of(0.0, Some(800)).is_none() && of(0.0, None).is_none());
        let extent = of(3.0, Some(800)).expect("an extent");
        assert_eq!([extent.leaves(0), extent.leaves(32), extent.leaves(46)], [LEAST, 14, 0]);
        let timed = of(3.0, None).expect("an extent");
        assert_eq!(timed.leaves(0), LEAST);
        assert_eq!(Extent::Until(Instant::now()).leaves(LEAST), 0);
    }
}
