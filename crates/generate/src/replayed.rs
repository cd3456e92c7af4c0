//! Attempts after their native run, and whether it was as predicted.

use std::collections::{BTreeSet, HashMap};

use branchwise_goals::{GoalId, Ledger, Trace, TraceEnd};
use branchwise_program::FunctionId;
use branchwise_program::code::Location;
use branchwise_replay::{Blob, Harness, NativeEnd, Observation, ReplayError};
use branchwise_symbolic::{FaultKind, Output, Path, PathEnd};

use crate::deadline::Deadline;
use crate::explore::Attempt;
use crate::settings::FindingsMode;

#[derive(Debug, Clone)]
pub(crate) struct Replayed {
    pub attempt: Attempt,
    pub observation: Observation,
    /// The goals that the native marker log shows.
    pub covers: Vec<GoalId>,
    /// Those of them that it shows before anything undefined happens.
    pub defined: BTreeSet<GoalId>,
}

/// So many runs that had to be stopped, of paths that were cut at the same place, show what there is to see: each costs as
/// long as a run may take.
const MOST_STOPPED: usize = 4;

/// So many attempts that are predicted to end run between two looks at the clock.
const RUN_TOGETHER: usize = 64;

/// What the native runs showed.
#[derive(Debug, Default)]
pub(crate) struct Replays {
    pub replayed: Vec<Replayed>,
    /// The goals of attempts for which no time was left.
    pub left_out: BTreeSet<GoalId>,
}

/// Runs the attempts natively. Those whose paths were cut come last, as they may run until they are stopped, and only where
/// they can still show something: goals that the others leave, or findings.
pub(crate) fn replay(
    harness: &mut Harness,
    attempts: Vec<Attempt>,
    ledger: &Ledger,
    findings: FindingsMode,
    deadline: Deadline,
) -> Result<Replays, ReplayError> {
    let is_cut = |attempt: &Attempt| !has_ended(&attempt.path);
    let (cut, ended): (Vec<_>, Vec<_>) = (0..).zip(attempts).partition(|(_, attempt)| is_cut(attempt));
    let (mut replayed, mut left_out) = run_ended(harness, ended, ledger, deadline)?;
    if findings != FindingsMode::None || !is_covered(ledger, &replayed) {
        left_out.extend(run_cut(harness, cut, ledger, &mut replayed, deadline)?);
        replayed.sort_by_key(|(number, _)| *number);
    }
    Ok(Replays { replayed: replayed.into_iter().map(|(_, replayed)| replayed).collect(), left_out })
}

/// Attempts that ran, with their places in the order of the search.
type Numbered = Vec<(usize, Replayed)>;

/// Runs what is predicted to end, and says which goals were left out.
fn run_ended(
    harness: &mut Harness,
    mut ended: Vec<(usize, Attempt)>,
    ledger: &Ledger,
    deadline: Deadline,
) -> Result<(Numbered, BTreeSet<GoalId>), ReplayError> {
    if !deadline.is_limited() {
        return Ok((run(harness, ended, ledger)?, BTreeSet::new()));
    }
    let mut replayed = Vec::new();
    while !ended.is_empty() && !deadline.is_over() {
        let rest = ended.split_off(ended.len().min(RUN_TOGETHER));
        let next = std::mem::replace(&mut ended, rest);
        replayed.extend(deadline.within(harness, 2, |harness| run(harness, next, ledger))?);
    }
    Ok((replayed, ended.iter().flat_map(|(_, attempt)| predicted_goals(attempt, ledger)).collect()))
}

/// The same for those that were cut, one by one: what one shows the next one need not. Where time is limited, those come
/// first that are to show something new, and of these the ones that may well return.
fn run_cut(
    harness: &mut Harness,
    mut cut: Vec<(usize, Attempt)>,
    ledger: &Ledger,
    replayed: &mut Vec<(usize, Replayed)>,
    deadline: Deadline,
) -> Result<BTreeSet<GoalId>, ReplayError> {
    let mut covered = all_covered(replayed);
    let mut left_out = BTreeSet::new();
    let mut stopped: HashMap<Option<Location>, usize> = HashMap::new();
    let shows_nothing_new = |attempt: &Attempt| predicted_goals(attempt, ledger).is_subset(&covered);
    let mut wanted = cut.iter().filter(|(_, attempt)| !shows_nothing_new(attempt)).count();
    if deadline.is_limited() {
        cut.sort_by_cached_key(|(number, attempt)| {
            (shows_nothing_new(attempt), may_go_on_for_ever(&attempt.path), *number)
        });
    }
    for (number, attempt) in cut {
        if deadline.is_over() {
            left_out.extend(predicted_goals(&attempt, ledger));
            continue;
        }
        let place = cut_at(&attempt.path);
        let enough = stopped.get(&place).is_some_and(|&times| times >= MOST_STOPPED);
        if enough && predicted_goals(&attempt, ledger).is_subset(&covered) {
            continue;
        }
        let shown = deadline.within(harness, wanted, |harness| run(harness, vec![(number, attempt)], ledger))?;
        wanted = wanted.saturating_sub(1);
        if shown.iter().any(|(_, one)| one.observation.end == NativeEnd::TimeLimit) {
            *stopped.entry(place).or_default() += 1;
        }
        covered.extend(all_covered(&shown));
        replayed.extend(shown);
    }
    Ok(left_out)
}

/// Whether what cut a path is how often it repeated something.
fn may_go_on_for_ever(path: &Path) -> bool {
    matches!(path.end, PathEnd::LoopBound { .. } | PathEnd::InstructionLimit { .. } | PathEnd::Interrupted)
}

/// The loop that did not end. Where the instructions of a path are counted, the last one is anywhere.
fn cut_at(path: &Path) -> Option<Location> {
    match path.end {
        PathEnd::LoopBound { location, .. } | PathEnd::CallDepth { location, .. } => location,
        _ => None,
    }
}

pub(crate) fn predicted_goals(attempt: &Attempt, ledger: &Ledger) -> BTreeSet<GoalId> {
    let calls = called(&attempt.path, attempt.case.function);
    ledger.reached_by_trace(&predicted_trace(&attempt.path, &calls))
}

fn all_covered(replayed: &[(usize, Replayed)]) -> BTreeSet<GoalId> {
    replayed.iter().flat_map(|(_, replayed)| replayed.covers.iter().copied()).collect()
}

/// Whether there is nothing more to reach.
fn is_covered(ledger: &Ledger, replayed: &[(usize, Replayed)]) -> bool {
    let covered = all_covered(replayed);
    ledger.open() == 0 && ledger.goals().all(|(id, _)| !ledger.is_reached(id) || covered.contains(&id))
}

fn run(
    harness: &mut Harness,
    attempts: Vec<(usize, Attempt)>,
    ledger: &Ledger,
) -> Result<Vec<(usize, Replayed)>, ReplayError> {
    let cases: Vec<_> = attempts.iter().map(|(_, attempt)| attempt.case.clone()).collect();
    let observations = harness.run(&cases)?;
    let replayed = attempts.into_iter().zip(observations).map(|((number, attempt), observation)| {
        let calls = called(&attempt.path, attempt.case.function);
        let trace = native_trace(&attempt.path, &calls, &observation);
        let covers = ledger.reached_by_trace(&trace).into_iter().collect();
        let defined = ledger.reached_by_trace(&trace.defined());
        (number, Replayed { attempt, observation, covers, defined })
    });
    Ok(replayed.filter(|(_, replayed)| !replayed.is_no_test()).collect())
}

/// The functions that a test calls on this path, the one under test last.
pub(crate) fn called(path: &Path, unit: FunctionId) -> Vec<FunctionId> {
    path.calls.iter().copied().chain([unit]).collect()
}

/// The marker log that a path predicts.
pub(crate) fn predicted_trace<'a>(path: &'a Path, calls: &'a [FunctionId]) -> Trace<'a> {
    let end = match path.end {
        PathEnd::Returned if path.notes.threw => TraceEnd::Threw,
        PathEnd::Returned => TraceEnd::Returned,
        PathEnd::Exited { .. } => TraceEnd::Exited,
        _ => TraceEnd::Stopped,
    };
    let (before_unit, up_to_end) = (path.events_before_unit, path.events_up_to_end);
    let undefined_from = undefined_from(path);
    Trace { calls, events: &path.events, readings: &path.readings, before_unit, up_to_end, end, undefined_from }
}

/// The marker log of a native run, as far as it counts.
pub(crate) fn native_trace<'a>(path: &Path, calls: &'a [FunctionId], native: &'a Observation) -> Trace<'a> {
    let events = &native.events[..native.events.len().min(defined_events(path))];
    let end = match native.end {
        _ if native.truncated || events.len() < native.events.len() => TraceEnd::Stopped,
        NativeEnd::Returned if native.threw.is_some() => TraceEnd::Threw,
        NativeEnd::Returned => TraceEnd::Returned,
        NativeEnd::Exited(_) => TraceEnd::Exited,
        _ => TraceEnd::Stopped,
    };
    // What is behind the last event that counts may not count either.
    let readings = match events.len() < native.events.len() {
        true => &native.readings[..native.readings.len().min(path.readings.len())],
        false => &native.readings,
    };
    let (before_unit, up_to_end) = (path.events_before_unit, path.events_up_to_end);
    Trace { calls, events, readings, before_unit, up_to_end, end, undefined_from: undefined_from(path) }
}

fn undefined_from(path: &Path) -> Option<(usize, usize)> {
    path.undefined_behaviour().map(|undefined| (undefined.events, undefined.readings))
}

/// How many events of a native run count: where a value that was never written decides, another build takes other ways.
fn defined_events(path: &Path) -> usize {
    match &path.end {
        PathEnd::Fault(fault) if fault.kind == FaultKind::UninitialisedRead => path.events.len(),
        _ => usize::MAX,
    }
}

/// Whether a path was cut while the objects of its test were made: whether a test comes of them is open.
fn is_cut_before_unit(path: &Path) -> bool {
    !path.called_unit && !has_ended(path) && path.end != PathEnd::Rejected
}

/// Whether no bound cut it.
pub(crate) fn has_ended(path: &Path) -> bool {
    matches!(path.end, PathEnd::Returned | PathEnd::Exited { .. } | PathEnd::Fault(_))
}

impl Replayed {
    /// Its objects cannot be made, which was open where its path was cut.
    fn is_no_test(&self) -> bool {
        self.observation.end == NativeEnd::Rejected && is_cut_before_unit(&self.attempt.path)
    }

    /// It ends in a fault, or C leaves something undefined that it does. Where the native run goes on, nobody can expect what it
    /// does.
    pub(crate) fn is_undefined(&self) -> bool {
        let path = &self.attempt.path;
        matches!(path.end, PathEnd::Fault(_)) || path.undefined_behaviour().is_some()
    }

    /// Counts only what lies before all undefined behaviour.
    pub(crate) fn forget_undefined(&mut self) {
        self.covers.retain(|goal| self.defined.contains(goal));
    }

    /// What a test may expect.
    pub(crate) fn expected(&self) -> Observation {
        let mut expected = self.observation.clone();
        if self.is_undefined() {
            expected.result = None;
            expected.inputs_after.fill(None);
        }
        expected
    }

    /// It returned, as predicted, and C defines everything it did.
    pub(crate) fn is_clean(&self) -> bool {
        self.observation.end == NativeEnd::Returned
            && self.attempt.path.end == PathEnd::Returned
            && self.attempt.path.notes.undefined.is_empty()
    }

    /// How the native run differs from the prediction, if it does. Nobody promises the order of two objects in memory:
    /// where a path asks for it, the prediction is a guess.
    pub(crate) fn disagreement(&self) -> Option<String> {
        let comparison = Comparison { predicted: &self.attempt.path, native: &self.observation };
        match self.attempt.path.notes.caveats.is_guess() {
            true => comparison.map_disagreement(),
            false => comparison.disagreement(),
        }
    }
}

/// How a native run differs from the path that was predicted for its inputs, if it does.
pub fn disagreement(predicted: &Path, native: &Observation) -> Option<String> {
    Comparison { predicted, native }.disagreement()
}

struct Comparison<'a> {
    predicted: &'a Path,
    native: &'a Observation,
}

impl Comparison<'_> {
    fn disagreement(&self) -> Option<String> {
        let ended = matches!(self.predicted.end, PathEnd::Returned | PathEnd::Exited { .. }) && !self.native.truncated;
        self.map_disagreement()
            .or_else(|| self.event_disagreement(ended))
            .or_else(|| self.reading_disagreement(ended))
            .or_else(|| self.end_disagreement())
            .or_else(|| self.output_disagreement())
    }

    fn map_disagreement(&self) -> Option<String> {
        let event = self.predicted.notes.caveats.off_the_map?;
        Some(format!("the control-flow graph knows no way to {event:?}"))
    }

    fn event_disagreement(&self, complete: bool) -> Option<String> {
        let (predicted, native) = (&self.predicted.events, &self.native.events);
        let differs = predicted.iter().zip(native).position(|(left, right)| left != right);
        if let Some(at) = differs {
            return Some(format!("decision {}: predicted {:?}, native {:?}", at + 1, predicted[at], native[at]));
        }
        let lengths = format!("predicted {} decisions, native {}", predicted.len(), native.len());
        let fits = if complete {
            predicted.len() == native.len()
        } else {
            predicted.len() <= native.len() || self.native.truncated
        };
        (!fits).then_some(lengths)
    }

    fn reading_disagreement(&self, complete: bool) -> Option<String> {
        let (predicted, native) = (&self.predicted.readings, &self.native.readings);
        let both = predicted.len().min(native.len());
        let fits = predicted[..both] == native[..both] && (!complete || predicted.len() == native.len());
        (!fits).then(|| format!("predicted answers of probes {predicted:?}, native {native:?}"))
    }

    fn end_disagreement(&self) -> Option<String> {
        let native = self.native.end;
        let fits = match &self.predicted.end {
            PathEnd::Returned => {
                native == NativeEnd::Returned && self.predicted.notes.threw == self.native.threw.is_some()
            }
            PathEnd::Exited { status: Some(status) } => {
                native == NativeEnd::Exited(status & 0xff) || native == NativeEnd::Exited(*status)
            }
            PathEnd::Exited { status: None } => matches!(native, NativeEnd::Exited(_)),
            _ => native != NativeEnd::Rejected || is_cut_before_unit(self.predicted),
        };
        let threw = |threw: bool| if threw { " by an exception" } else { "" };
        let (predicted, observed) = (threw(self.predicted.notes.threw), threw(self.native.threw.is_some()));
        (!fits).then(|| format!("predicted end {:?}{predicted}, native {native:?}{observed}", self.predicted.end))
    }

    fn output_disagreement(&self) -> Option<String> {
        if self.native.end != NativeEnd::Returned || self.predicted.end != PathEnd::Returned {
            return None;
        }
        self.predicted.outputs.iter().find_map(|output| self.output_differs(output))
    }

    fn output_differs(&self, output: &Output) -> Option<String> {
        let native: &Blob = match output.index {
            0 => self.native.result.as_ref()?,
            index => self.native.inputs_after.get(index as usize - 1)?.as_ref()?,
        };
        let differs = |(&predicted, &native): (&Option<u8>, &u8)| predicted.is_some_and(|byte| byte != native);
        let at = output.bytes.iter().zip(&native.bytes).position(differs)?;
        Some(format!("output {}: byte {at} is {:?}, native {}", output.index, output.bytes[at], native.bytes[at]))
    }
}
