//! A small report with every kind of verdict, for the table and the JSON.

use std::path::Path;

use branchwise_generate::{Disagreement, FindingKind};
use branchwise_goals::{Bound, Evidence, GoalId, TestId, UnknownReason, Verdict};
use branchwise_replay::NativeEnd;

use crate::common::*;

fn evidence() -> Evidence {
    Evidence {
        proof: "every path was explored".to_owned(),
        paths: 3,
        refuted_prefixes: 2,
        assumptions: vec![branchwise_program::assumption::Assumption {
            name: "any-int".to_owned(),
            subject: None,
            text: "'n' is any int".to_owned(),
            accepted: false,
        }],
        infeasible_prefix: None,
    }
}

/// `classify(int n)` and `sum(const int *p, int n)`.
pub fn shape() -> Unit {
    let (mut unit, basic) = Unit::new(Path::new("shape.c"));
    classify(&mut unit, basic);
    sum(&mut unit, basic);
    unit.report.replay.branch_outcomes = 8;
    unit.report.replay.covered = 5;
    unit.report.replay.covered_llvm_cov = 5;
    unit
}

fn classify(unit: &mut Unit, basic: Basic) {
    let classify = unit.add_function("classify", 1, basic.int, vec![parameter(0, "n", basic.int)]);
    let first = unit.add_condition(classify, (2, 9), "n > 10", [covered(&[1]), covered(&[2])]);
    let infeasible = [Verdict::Infeasible(evidence()), covered(&[2])];
    let second = unit.add_condition(classify, (4, 9), "n > 20", infeasible);
    let test = unit.add_test(classify, case(classify, vec![ints(&[11])]), returned(Some(ints(&[1]))));
    test.kept_for = vec![GoalId(0)];
    test.covers = vec![GoalId(0)];
    test.path = vec![event(first, 1)];
    let test = unit.add_test(classify, case(classify, vec![ints(&[i32::MIN])]), returned(Some(ints(&[0]))));
    test.kept_for = vec![GoalId(1), GoalId(3)];
    test.covers = vec![GoalId(1), GoalId(3)];
    test.path = vec![event(first, 0), event(second, 0)];
}

fn sum(unit: &mut Unit, basic: Basic) {
    let pointer = unit.pointer(basic.int, true);
    let inputs = vec![parameter(0, "p", pointer), parameter(1, "n", basic.int)];
    let sum = unit.add_function("sum", 9, basic.int, inputs);
    let unknown = Verdict::Unknown(UnknownReason {
        reason: "time ran out".to_owned(),
        blocking: Some("total * total == 7".to_owned()),
        paths: 40,
        solver_calls: 12,
        closest: Some(TestId(1)),
    });
    let bounds = vec![Bound { what: "elements behind pointer 'p'".to_owned(), limit: 16 }];
    let bounded = Verdict::InfeasibleWithinBounds { bounds, evidence: evidence() };
    unit.add_condition(sum, (11, 12), "i < n", [covered(&[1]), covered(&[1])]);
    unit.add_condition(sum, (13, 9), "total * total == 7", [unknown, bounded]);
    let mut input = case(sum, vec![to_object(0), ints(&[2])]);
    input.objects.push(object(basic.int, 2, ints(&[3, -4])));
    let mut observation = returned(Some(ints(&[-1])));
    observation.objects_after = vec![ints(&[3, -4])];
    unit.add_test(sum, input.clone(), observation).kept_for = vec![GoalId(0), GoalId(1)];
    let mut null = case(sum, vec![blob([0; 8]), ints(&[1])]);
    unit.add_test(sum, null.clone(), ended(NativeEnd::Signal(11), None));
    unit.add_finding(sum, FindingKind::NullDereference, "reads through a null pointer", null.clone());
    null.inputs[1] = ints(&[2]);
    unit.report.replay.disagreements.push(Disagreement {
        function: "sum".to_owned(),
        test: Some(TestId(2)),
        what: "llvm-cov misses 11:12 true".to_owned(),
        case: None,
    });
}
