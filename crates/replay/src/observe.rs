//! From what the native side reports to an [`Observation`].

use std::collections::BTreeMap;

use branchwise_program::map::{Event, Marker, MarkerKind, Reading};
use branchwise_program::{MarkerId, ProbeId};

use crate::Harness;
use crate::batch::{EntryKind, RawEntry, RawOutput, RawPlace, RawResult, le_word};
use crate::case::{Blob, ForeignPointer, NativeEnd, Observation, TestCase, Within};
use crate::layout::{Placement, Shape};

impl Harness {
    pub(crate) fn observation(&mut self, case: &TestCase, placement: &Placement, raw: RawResult) -> Observation {
        let (events, readings, damaged) = self.log(&raw.log);
        let mut observation = Observation {
            end: raw.end,
            events,
            readings,
            truncated: raw.truncated || damaged,
            result: None,
            threw: None,
            state: BTreeMap::new(),
            inputs_after: vec![None; case.inputs.len()],
            objects_after: Vec::new(),
            foreign: Vec::new(),
            freed: Vec::new(),
        };
        if raw.end == NativeEnd::Returned {
            self.add_outputs(&mut observation, case, placement, raw.outputs);
        }
        observation
    }

    /// An entry that no marker writes is the work of a wild pointer: the log is good up to there.
    fn log(&self, log: &[RawEntry]) -> (Vec<Event>, Vec<Reading>, bool) {
        let (mut events, mut readings) = (Vec::with_capacity(log.len()), Vec::new());
        for entry in log {
            if entry.kind == EntryKind::Probe && entry.number < self.probes {
                readings.push(Reading { probe: ProbeId(entry.number), value: entry.value as u32 });
                continue;
            }
            let id = MarkerId(entry.number);
            let Some(outcome) = self.markers.get(id).and_then(|marker| outcome_of(marker, entry)) else {
                return (events, readings, true);
            };
            events.push(Event { marker: id, outcome });
        }
        (events, readings, false)
    }

    fn add_outputs(
        &mut self,
        observation: &mut Observation,
        case: &TestCase,
        placement: &Placement,
        outputs: Vec<RawOutput>,
    ) {
        let mut objects = vec![None; case.objects.len()];
        let stream = |output: &RawOutput| match output.what {
            RawPlace::Stream(object) => Some((usize::try_from(object).ok()?, le_word(&output.bytes))),
            _ => None,
        };
        let streams: Vec<(usize, u64)> = outputs.iter().filter_map(stream).collect();
        for output in outputs {
            match output.what {
                RawPlace::Output(THREW) => {
                    observation.threw = Some(String::from_utf8_lossy(&output.bytes).into_owned());
                }
                RawPlace::Output(number @ OBSERVED..) => {
                    observation.state.entry((number - OBSERVED) as usize).or_default().push(output.bytes.clone());
                }
                _ => {}
            }
            let Some(within) = place_of(output.what) else { continue };
            let Some(shape) = self.shape(case, within) else { continue };
            let (blob, foreign) = placement.settled(output.bytes, shape, &streams);
            match within {
                Within::Result => observation.result = Some(blob),
                Within::Input(index) => put(&mut observation.inputs_after, index, blob),
                Within::Object(index) => put(&mut objects, index, blob),
            }
            observation.foreign.extend(foreign.into_iter().map(|at| ForeignPointer { within, at }));
        }
        observation.foreign.sort_unstable();
        observation.freed = (0..objects.len()).filter(|&index| objects[index].is_none()).collect();
        observation.objects_after = objects.into_iter().map(Option::unwrap_or_default).collect();
    }

    fn shape(&mut self, case: &TestCase, within: Within) -> Option<&Shape> {
        let unit = self.units.get(case.function)?;
        let type_id = match within {
            Within::Result => unit.result,
            Within::Input(index) => *unit.inputs.get(index)?,
            Within::Object(index) => case.objects.get(index)?.element,
        };
        Some(self.shapes.of(&self.types, type_id))
    }
}

fn put(blobs: &mut [Option<Blob>], index: usize, blob: Blob) {
    if let Some(place) = blobs.get_mut(index) {
        *place = Some(blob);
    }
}

/// The number under which the native side says what the call threw.
const THREW: u64 = 1 << 30;
/// From here on, what objects show.
const OBSERVED: u64 = THREW + 1;

fn place_of(what: RawPlace) -> Option<Within> {
    match what {
        RawPlace::Output(THREW..) => None,
        RawPlace::Output(0) => Some(Within::Result),
        RawPlace::Output(index) => Some(Within::Input(usize::try_from(index).ok()? - 1)),
        RawPlace::Object(index) => Some(Within::Object(usize::try_from(index).ok()?)),
        RawPlace::Stream(_) => None,
    }
}

fn outcome_of(marker: &Marker, entry: &RawEntry) -> Option<u32> {
    match &marker.kind {
        MarkerKind::Condition { .. } if entry.kind == EntryKind::Condition => Some(u32::from(entry.value != 0)),
        MarkerKind::Switch { bits, signed, .. } if entry.kind == EntryKind::Switch => {
            marker.switch_outcome(switch_value(entry.value, *bits, *signed))
        }
        MarkerKind::Handler if entry.kind == EntryKind::Switch => Some(0),
        _ => None,
    }
}

/// The marker hands every switch value on as a `long long`; an `unsigned long long` has lost its sign on the way.
fn switch_value(value: i64, bits: u32, signed: bool) -> i128 {
    match (signed, bits) {
        (true, _) => i128::from(value),
        (false, 0 | 64..) => i128::from(value as u64),
        (false, bits) => i128::from(value as u64 & ((1 << bits) - 1)),
    }
}
