//! Worst-case execution times: how many instructions the tests of the longest paths execute.

use branchwise_goals::Criterion;
use branchwise_replay::{Harness, TestCase};

use crate::result::{FunctionReport, Test, Timing};

/// Runs the tests that cover goals of criteria on longest paths, and counts their instructions.
pub(crate) fn time(harness: &mut Harness, report: &FunctionReport) -> Timing {
    let is_longest = |test: &&Test| {
        let covered = report.goals.iter().filter(|found| test.covers.contains(&found.id));
        covered.into_iter().any(|found| is_on_longest_paths(found.goal.criterion))
    };
    let tests: Vec<&Test> = report.tests.iter().filter(is_longest).collect();
    let cases: Vec<TestCase> = tests.iter().map(|test| test.case.clone()).collect();
    if cases.is_empty() {
        return Timing::default();
    }
    match harness.count_instructions(report.function, &cases) {
        Ok(counts) => {
            let instructions = tests.iter().zip(counts).map(|(test, count)| (test.id, count)).collect();
            Timing { instructions, trouble: None }
        }
        Err(error) => Timing { instructions: Vec::new(), trouble: Some(error.to_string()) },
    }
}

/// Whether a criterion asks for the paths that may take longest.
pub fn is_on_longest_paths(criterion: Criterion) -> bool {
    matches!(criterion, Criterion::MaxIterations | Criterion::EmptyElse)
}
