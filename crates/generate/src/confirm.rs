//! Findings confirmed natively: by the signal that ended the run, or by what the sanitizers say of it.

use std::time::Instant;

use branchwise_replay::{Harness, NativeEnd, ReplayError, SanitizedRun, SanitizerReport, Sanitizers, TestCase};

use crate::deadline::Deadline;
use crate::result::{Confirmation, Finding, FindingKind};

/// Confirms what can be confirmed. A sanitized build is made only if a native end does not tell enough.
pub(crate) fn confirm(harness: &mut Harness, findings: &mut [Finding], deadline: Deadline) {
    let [mut open, mut uninitialised, mut leaks]: [Vec<&mut Finding>; 3] = Default::default();
    for finding in findings {
        match by_native_end(finding) {
            Some(by) => finding.confirmation = Confirmation::Confirmed { by },
            None if finding.kind == FindingKind::UninitialisedRead => uninitialised.push(finding),
            None if finding.kind == FindingKind::LeakOnUnwinding => leaks.push(finding),
            None => open.push(finding),
        }
    }
    let deadline = confirm_with(harness, Sanitizers::Usual, open, deadline);
    let deadline = confirm_with(harness, Sanitizers::Memory, uninitialised, deadline);
    confirm_with(harness, Sanitizers::Leaks, leaks, deadline);
}

/// Confirms what one build can confirm. Making it takes none of the function's time, as all functions use it: the deadline
/// that is handed back is the later for that.
fn confirm_with(
    harness: &mut Harness,
    sanitizers: Sanitizers,
    findings: Vec<&mut Finding>,
    deadline: Deadline,
) -> Deadline {
    if findings.is_empty() {
        return deadline;
    }
    let begun = Instant::now();
    let built = harness.prepare_sanitized(sanitizers);
    let deadline = deadline.later_by(begun.elapsed());
    let cases: Vec<TestCase> = findings.iter().map(|finding| finding.case.clone()).collect();
    let goes_on = || !deadline.is_over();
    let run = |harness: &mut Harness| harness.run_sanitized_while(sanitizers, &cases, &goes_on);
    let runs = built.and_then(|()| deadline.within(harness, 4, run));
    for (index, finding) in findings.into_iter().enumerate() {
        finding.confirmation = match runs.as_ref().map(|runs| runs.get(index)) {
            Ok(None) => Confirmation::NotConfirmed { why: NO_TIME.to_string() },
            Ok(Some(run)) => by_sanitizers(finding, Ok(run)),
            Err(error) => by_sanitizers(finding, Err(error)),
        };
    }
    deadline
}

const NO_TIME: &str = "no time was left to run it with sanitizers";

/// The ends that are what the finding says.
fn by_native_end(finding: &Finding) -> Option<String> {
    let signal = match finding.observation.as_ref()?.end {
        NativeEnd::Signal(signal) => signal,
        NativeEnd::TimeLimit if finding.kind == FindingKind::DoesNotReturn => {
            return Some("the native run, which was stopped at its time limit".to_string());
        }
        _ => return None,
    };
    let expected: &[(i32, &str)] = match finding.kind {
        FindingKind::DivisionByZero => &[(SIGFPE, "SIGFPE")],
        FindingKind::OutOfBounds
        | FindingKind::NullDereference
        | FindingKind::InvalidPointer
        | FindingKind::WriteToConstant
        | FindingKind::UseAfterReturn
        | FindingKind::UseAfterFree
        | FindingKind::DoesNotReturn => &[(SIGSEGV, "SIGSEGV"), (SIGBUS, "SIGBUS")],
        FindingKind::AssertFailed
        | FindingKind::Abort
        | FindingKind::Terminate
        | FindingKind::UncaughtException
        | FindingKind::ExceptionWhileUnwinding
        | FindingKind::PureVirtualCall => &[(SIGABRT, "SIGABRT"), (SIGILL, "SIGILL")],
        // The C library's checks abort; what it takes for a piece of the heap may also lie nowhere.
        FindingKind::DoubleFree | FindingKind::InvalidFree => &[(SIGABRT, "SIGABRT"), (SIGSEGV, "SIGSEGV")],
        // The division of the smallest number by -1 traps; other overflows do not.
        FindingKind::SignedOverflow => &[(SIGFPE, "SIGFPE")],
        FindingKind::ShiftTooFar
        | FindingKind::FloatOutOfRange
        | FindingKind::UninitialisedRead
        | FindingKind::LeakOnUnwinding => &[],
    };
    let (_, name) = expected.iter().find(|(number, _)| *number == signal)?;
    Some(format!("signal {name} of the native run"))
}

const SIGILL: i32 = 4;
const SIGABRT: i32 = 6;
const SIGBUS: i32 = 7;
const SIGFPE: i32 = 8;
const SIGSEGV: i32 = 11;

fn by_sanitizers(finding: &Finding, run: Result<&SanitizedRun, &ReplayError>) -> Confirmation {
    let run = match run {
        Ok(run) => run,
        Err(error) => {
            return Confirmation::NotConfirmed { why: format!("the sanitized build could not be used: {error}") };
        }
    };
    match run.reports.iter().find(|report| fits(finding, report)) {
        Some(SanitizerReport { sanitizer, what, .. }) => Confirmation::Confirmed { by: format!("{sanitizer}: {what}") },
        None if run.reports.is_empty() => {
            Confirmation::NotConfirmed { why: "the sanitizers report nothing for this input".to_string() }
        }
        None => {
            let first = &run.reports[0];
            let why = format!("the sanitizers report something else: {}: {}", first.sanitizer, first.what);
            Confirmation::NotConfirmed { why }
        }
    }
}

/// Whether a report speaks of this finding: at its line, where the sanitizer knows lines, and of its kind.
fn fits(finding: &Finding, report: &SanitizerReport) -> bool {
    let same_line = match (report.line, finding.place) {
        (Some(line), Some(place)) => line == place.line,
        // Values that were never written may decide a branch elsewhere too.
        _ => finding.kind != FindingKind::UninitialisedRead,
    };
    let words: &[&str] = match finding.kind {
        FindingKind::SignedOverflow => &["signed integer overflow", "negation of", "division of"],
        FindingKind::ShiftTooFar => &["shift exponent"],
        FindingKind::DivisionByZero => &["division by zero", "FPE"],
        FindingKind::NullDereference => &["null pointer", "SEGV"],
        FindingKind::OutOfBounds => {
            &["out of bounds", "buffer-overflow", "buffer-underflow", "negative-size", "overflowed to", "SEGV"]
        }
        FindingKind::InvalidPointer => &["SEGV", "out of bounds", "wild", "misaligned"],
        FindingKind::WriteToConstant => &["SEGV"],
        FindingKind::UseAfterReturn => &["use-after-return", "use-after-scope", "null pointer", "SEGV"],
        FindingKind::UseAfterFree => &["use-after-free", "SEGV"],
        FindingKind::DoubleFree => &["double-free", "ABRT"],
        FindingKind::InvalidFree => &["attempting free", "bad-free", "ABRT"],
        FindingKind::FloatOutOfRange => &["outside the range of representable values"],
        FindingKind::AssertFailed
        | FindingKind::Abort
        | FindingKind::Terminate
        | FindingKind::UncaughtException
        | FindingKind::ExceptionWhileUnwinding
        | FindingKind::PureVirtualCall => &["ABRT", "ILL"],
        FindingKind::DoesNotReturn => &["stack-overflow"],
        FindingKind::UninitialisedRead => &["use-of-uninitialized-value"],
        FindingKind::LeakOnUnwinding => &["memory leak"],
    };
    let integer_overflow = report.what.contains("integer overflow");
    same_line
        && words.iter().any(|word| report.what.contains(word))
        && (!integer_overflow || finding.kind == FindingKind::SignedOverflow)
}
