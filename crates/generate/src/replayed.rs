//! Attempts after their native run, and whether it was as predicted.

use branchwise_goals::{GoalId, Ledger};
use branchwise_replay::{Blob, Harness, NativeEnd, Observation, ReplayError};
use branchwise_symbolic::{Output, PathEnd};

use crate::explore::Attempt;

#[derive(Debug, Clone)]
pub(crate) struct Replayed {
    pub attempt: Attempt,
    pub observation: Observation,
    /// The goals that the native marker log shows.
    pub covers: Vec<GoalId>,
}

/// Runs the attempts natively.
pub(crate) fn replay(
    harness: &mut Harness,
    attempts: Vec<Attempt>,
    ledger: &Ledger,
) -> Result<Vec<Replayed>, ReplayError> {
    let cases: Vec<_> = attempts.iter().map(|attempt| attempt.case.clone()).collect();
    let observations = harness.run(&cases)?;
    let replayed = attempts.into_iter().zip(observations).map(|(attempt, observation)| {
        let mut covers: Vec<GoalId> = observation.events.iter().flat_map(|&event| ledger.reached_by(event)).collect();
        covers.sort();
        covers.dedup();
        Replayed { attempt, observation, covers }
    });
    Ok(replayed.collect())
}

impl Replayed {
    /// It returned, as predicted, and C defines everything it did.
    pub(crate) fn is_clean(&self) -> bool {
        self.observation.end == NativeEnd::Returned
            && self.attempt.path.end == PathEnd::Returned
            && self.attempt.path.notes.undefined.is_empty()
    }

    /// How the native run differs from the prediction, if it does.
    pub(crate) fn disagreement(&self) -> Option<String> {
        let predicted = &self.attempt.path;
        let ended = matches!(predicted.end, PathEnd::Returned | PathEnd::Exited { .. }) && !self.observation.truncated;
        self.map_disagreement()
            .or_else(|| self.event_disagreement(ended))
            .or_else(|| self.end_disagreement())
            .or_else(|| self.output_disagreement())
    }

    fn map_disagreement(&self) -> Option<String> {
        let event = self.attempt.path.notes.off_the_map?;
        Some(format!("the control-flow graph knows no way to {event:?}"))
    }

    fn event_disagreement(&self, complete: bool) -> Option<String> {
        let (predicted, native) = (&self.attempt.path.events, &self.observation.events);
        let differs = predicted.iter().zip(native).position(|(left, right)| left != right);
        if let Some(at) = differs {
            return Some(format!("decision {}: predicted {:?}, native {:?}", at + 1, predicted[at], native[at]));
        }
        let lengths = format!("predicted {} decisions, native {}", predicted.len(), native.len());
        let fits = if complete {
            predicted.len() == native.len()
        } else {
            predicted.len() <= native.len() || self.observation.truncated
        };
        (!fits).then_some(lengths)
    }

    fn end_disagreement(&self) -> Option<String> {
        let native = self.observation.end;
        let fits = match &self.attempt.path.end {
            PathEnd::Returned => native == NativeEnd::Returned,
            PathEnd::Exited { status: Some(status) } => {
                native == NativeEnd::Exited(status & 0xff) || native == NativeEnd::Exited(*status)
            }
            PathEnd::Exited { status: None } => matches!(native, NativeEnd::Exited(_)),
            _ => native != NativeEnd::Rejected,
        };
        (!fits).then(|| format!("predicted end {:?}, native {native:?}", self.attempt.path.end))
    }

    fn output_disagreement(&self) -> Option<String> {
        if self.observation.end != NativeEnd::Returned || self.attempt.path.end != PathEnd::Returned {
            return None;
        }
        self.attempt.path.outputs.iter().find_map(|output| self.output_differs(output))
    }

    fn output_differs(&self, output: &Output) -> Option<String> {
        let native: &Blob = match output.index {
            0 => self.observation.result.as_ref()?,
            index => self.observation.inputs_after.get(index as usize - 1)?.as_ref()?,
        };
        let differs = |(&predicted, &native): (&Option<u8>, &u8)| predicted.is_some_and(|byte| byte != native);
        let at = output.bytes.iter().zip(&native.bytes).position(differs)?;
        Some(format!("output {}: byte {at} is {:?}, native {}", output.index, output.bytes[at], native.bytes[at]))
    }
}
