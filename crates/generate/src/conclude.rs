//! From the functions of a file to its report: all suites are measured together.

use branchwise_goals::Verdict;
use branchwise_program::FunctionId;
use branchwise_replay::{Harness, ReplayError};
use serde::{Deserialize, Serialize};

use crate::measure::{measure, observe_states};
use crate::result::{Disagreement, FunctionReport, Progress, ReplaySummary, Report};
use crate::settings::{FindingsMode, Settings};
use crate::timing::time;
use crate::unit::Subject;

/// What was found for one function, before its suite was measured together with the others'.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UnitReport {
    pub(crate) report: FunctionReport,
    pub(crate) disagreements: Vec<Disagreement>,
}

impl UnitReport {
    pub fn function(&self) -> FunctionId {
        self.report.function
    }

    /// How many goals it has, and how many of them tests reach.
    pub fn goals(&self) -> (usize, usize) {
        let reached = self.report.goals.iter().filter(|goal| matches!(goal.verdict, Verdict::Covered { .. }));
        (reached.count(), self.report.goals.len())
    }

    /// Says that an interrupt cut the search.
    pub fn cut_by_interrupt(mut self) -> Self {
        self.report.interrupted = true;
        self
    }

    /// Returns true if another run may take it as it is. What a fault of ours ended is worth another try.
    pub fn is_final(&self) -> bool {
        !self.report.interrupted && !self.report.trouble.as_ref().is_some_and(|trouble| trouble.fault_of_ours)
    }
}

/// Measures the suites of all functions of a program, in the order in which they are given.
pub fn conclude(
    subject: &Subject<'_>,
    harness: &mut Harness,
    units: Vec<UnitReport>,
    compiler: String,
    on_progress: &mut dyn FnMut(Progress),
) -> Report {
    let (mut functions, disagreements) = parts(units);
    on_progress(Progress::Replaying { tests: functions.iter().map(|report| report.tests.len()).sum() });
    if subject.settings.measure {
        functions.iter_mut().for_each(|report| report.timing = Some(time(harness, report)));
    }
    let observed = observe_states(&subject.program.map, harness, &mut functions);
    let measured = observed.and_then(|()| measure(subject, harness, &functions));
    let replay = measured.unwrap_or_else(|error| unmeasured(&error));
    let replay = ReplaySummary { compiler, sandbox: Some(harness.sandbox()), ..replay };
    report(subject.settings, functions, disagreements, replay)
}

/// Reports the functions of a program without measuring their suites: there is no time left.
pub fn conclude_at_once(settings: &Settings, units: Vec<UnitReport>, compiler: String) -> Report {
    let (functions, disagreements) = parts(units);
    report(settings, functions, disagreements, ReplaySummary { compiler, ..ReplaySummary::default() })
}

fn parts(units: Vec<UnitReport>) -> (Vec<FunctionReport>, Vec<Disagreement>) {
    let (functions, disagreements): (_, Vec<_>) =
        units.into_iter().map(|unit| (unit.report, unit.disagreements)).unzip();
    (functions, disagreements.into_iter().flatten().collect())
}

fn report(
    settings: &Settings,
    functions: Vec<FunctionReport>,
    mut disagreements: Vec<Disagreement>,
    mut replay: ReplaySummary,
) -> Report {
    disagreements.append(&mut replay.disagreements);
    replay.disagreements = disagreements;
    Report {
        functions,
        replay,
        lists_findings: settings.findings != FindingsMode::None,
        criteria: settings.criteria.clone(),
    }
}

/// The suites could not be measured: what was found is kept, and the report says so.
fn unmeasured(error: &ReplayError) -> ReplaySummary {
    let what = format!("the suites could not be measured: {error}");
    ReplaySummary {
        disagreements: vec![Disagreement { function: String::new(), test: None, what, case: None }],
        ..ReplaySummary::default()
    }
}
