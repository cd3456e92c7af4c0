//! What llvm-cov measures.

use crate::support;

use branchwise_replay::{FunctionCoverage, Limits};
use support::*;

const TWO: &str = "\
extern void abort(void);
static int inner(int a) {
    if (a > 5)
        return 1;
    return 0;
}
int outer(int a) {
    if (a == 100) { volatile int *p = 0; *p = 1; }
    while (a == 200) {}
    return inner(a) + inner(a + 1);
}
";

fn counts(function: &FunctionCoverage) -> Vec<(u32, u32, u64, u64)> {
    function.branches.iter().map(|at| (at.line, at.column, at.true_count, at.false_count)).collect()
}

fn two() -> (Sample, branchwise_program::FunctionId, branchwise_program::FunctionId) {
    let (mut sample, types) = Sample::new(TWO);
    let inner = sample.int_function("inner", &types);
    let outer = sample.int_function("outer", &types);
    (sample, inner, outer)
}

#[test]
fn counts_are_exact_also_for_tests_that_crash_or_hang() {
    let (sample, inner, outer) = two();
    let mut harness = sample.try_build(Limits { milliseconds: 50, ..Limits::default() }).unwrap();
    let cases = [100, 200, 5, 1].map(|a| case(outer, vec![int(a)], vec![]));
    let coverage = harness.measure(&cases).unwrap();
    let measured = coverage.function_named("outer").unwrap();
    assert_eq!(measured.entries, 4);
    assert_eq!(measured.filenames, [sample.user_file()]);
    assert_eq!((counts(measured)[0]), (8, 9, 1, 3));
    let (line, column, again, done) = counts(measured)[1];
    // llvm-cov derives this false count from the entries, so it credits the two tests that never left the loop's head
    // (one crashed before it); that is why coverage is claimed by the marker log and only compared with llvm-cov.
    assert_eq!((line, column, done), (9, 12, 4));
    assert!(again > 1000, "{again}");
    assert_eq!(counts(coverage.function_named("inner").unwrap()), [(3, 9, 1, 3)]);
    assert_eq!(coverage.functions.len(), 2);
    let alone = harness.measure(&[case(inner, vec![int(9)], vec![])]).unwrap();
    assert_eq!(counts(alone.function_named("inner").unwrap()), [(3, 9, 1, 0)]);
    assert_eq!(alone.function_named("outer").unwrap().entries, 0);
}

#[test]
fn suites_of_units_do_not_count_for_each_other() {
    let (sample, inner, outer) = two();
    let mut harness = sample.build();
    let suite = |function, values: &[i32]| {
        (function, values.iter().map(|&value| case(function, vec![int(value)], vec![])).collect::<Vec<_>>())
    };
    let units = [suite(inner, &[9, 8]), suite(outer, &[1, 2, 3, 100])];
    let coverage = harness.measure_units(&units).unwrap();
    assert_eq!(counts(coverage.function_named("inner").unwrap()), [(3, 9, 2, 0)]);
    assert_eq!(counts(coverage.function_named("outer").unwrap()), [(8, 9, 1, 3), (9, 12, 0, 4)]);
    let suites = units.map(|(_, suite)| suite);
    let each = harness.measure_many(&suites).unwrap();
    assert_eq!(each[0].function_named("inner"), coverage.function_named("inner"));
    assert_eq!(each[1].function_named("outer"), coverage.function_named("outer"));
    assert_eq!(each[1].function_named("inner").unwrap().entries, 6);
}

#[test]
fn a_record_that_is_not_found_by_name_is_measured_alone() {
    let (mut sample, inner, outer) = two();
    // As if the front end had the linkage wrong: the hash then names no record.
    sample.map.functions[inner].internal = false;
    let mut harness = sample.build();
    let suite = |function, value| (function, vec![case(function, vec![int(value)], vec![])]);
    let coverage = harness.measure_units(&[suite(inner, 9), suite(outer, 1)]).unwrap();
    assert_eq!(counts(coverage.function_named("inner").unwrap()), [(3, 9, 1, 0)]);
    assert_eq!(counts(coverage.function_named("outer").unwrap()), [(8, 9, 0, 1), (9, 12, 0, 1)]);
}

#[test]
fn instances_of_a_template_are_one_function() {
    let (mut sample, types) = Sample::new(
        "#include <stdexcept>
template <class T> T most(T a, T b) {
    if (a > b) throw std::runtime_error(\"most\");
    return b;
}
int f(int a) { try { return most(a, 3) + (int)most((double)a, 9.0); } catch (const std::exception &) { return -1; } }
",
    );
    sample.language = branchwise_program::map::Language::Cpp;
    let body = "int a; __bw_input(&a, 0); int r = f(a); __bw_output(&r, 0, sizeof r);";
    let f = sample.function("f", types.int, &[types.int], body);
    sample.map.functions[f].symbol = "_Z1fi".to_string();
    let mut harness = sample.build_plain_only();
    let suite = [1, 3, 4].map(|a| case(f, vec![int(a)], vec![])).to_vec();
    let coverage = harness.measure_units(&[(f, suite.clone())]).unwrap();
    assert_eq!(coverage.function_named("_Z1fi").unwrap().entries, 3);
    let all = harness.measure(&suite).unwrap();
    let most: Vec<_> = all.functions.iter().filter(|function| !function.branches.is_empty()).collect();
    assert_eq!((most.len(), counts(most[0])), (1, vec![(3, 9, 1, 4)]));
}
