//! Every kind of finding, with what confirms it.

use crate::support::folder;
use crate::support::tool;
use serde_json::Value as Json;

const PROGRAM: &str = "\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
int overflow(int x) { if (x > 2147483000 && x + 900 < 0) return 1; return 0; }
int shift(int x, int n) { if (n > 40 && x << n) return 1; return 0; }
int divide(int x, int y) { if (x / y > 3) return 1; return 0; }
int null(int *p) { if (*p > 3) return 1; return 0; }
int behind(int *p, int n) { if (n > 2 && p[n] == 3) return 1; return 0; }
int local(int i) { int a[4] = {1, 2, 3, 4}; if (a[i] == 3) return 1; return 0; }
int never(int x) { int y; if (x > 3) y = 2; if (y == 3) return 1; return 0; }
int asserts(int x) { assert(x < 4); return x; }
int aborts(int x) { if (x == 9) abort(); return x; }
int recurse(int x) { if (x == 3) return recurse(3) + 1; return 0; }
static int *dangle(int x) { int l = x; return &l; }
int after(int x) { int *p = dangle(x); if (*p == 3) return 1; return 0; }
int freed(int x) { int *p = malloc(4); *p = x; free(p); if (x == 5 && *p == 5) return 1; return 0; }
int twice(int x) { char *p = malloc(4); free(p); if (x == 7) free(p); return x; }
int inside(int x) { char *p = malloc(8); if (x == 7) p++; free(p); return x; }
int given(int *p, int x) { free(p); if (x == 3 && p) return *p; return x; }
int heap(int n) { char *p = malloc(8); if (n == 8) p[n] = 1; free(p); return 0; }
int converts(double d) { if (d > 1e10 && (int)d < 0) return 1; return 0; }
static int state; void set(int x) { state = x; }
int later(int i) { int a[4] = {0}; if (state == 9) return a[i & 15]; return 0; }
int reads(void) { int a[4] = {0}; int c = getchar(); if (c > '3' && c <= '9') return a[c - '0']; return 0; }
int sensor(void);
int senses(void) { int a[4] = {0}; int c = sensor(); if (c > 3 && c < 9) return a[c]; return 0; }
";

/// Function, kind, and how what confirms it (or why nothing does) begins.
const EXPECTED: [(&str, &str, bool, &str); 20] = [
    ("overflow", "signed_overflow", true, "UndefinedBehaviorSanitizer: signed integer overflow"),
    ("shift", "shift_too_far", true, "UndefinedBehaviorSanitizer: shift exponent"),
    ("divide", "division_by_zero", true, "signal SIGFPE"),
    ("null", "null_dereference", true, "signal SIGSEGV"),
    ("behind", "out_of_bounds", true, "signal SIGSEGV"),
    ("local", "out_of_bounds", true, "UndefinedBehaviorSanitizer: index"),
    ("never", "uninitialised_read", true, "MemorySanitizer: use-of-uninitialized-value"),
    ("asserts", "assert_failed", true, "signal SIGABRT"),
    ("aborts", "abort", true, "signal SIGABRT"),
    ("recurse", "does_not_return", true, "signal SIGSEGV"),
    ("after", "use_after_return", true, "AddressSanitizer: stack-use-after-return"),
    ("freed", "use_after_free", true, "AddressSanitizer: heap-use-after-free"),
    ("twice", "double_free", true, "signal SIGABRT"),
    ("inside", "invalid_free", true, "signal SIGABRT"),
    ("given", "use_after_free", true, "signal SIGSEGV"),
    ("heap", "out_of_bounds", true, "AddressSanitizer: heap-buffer-overflow"),
    ("converts", "float_out_of_range", true, "UndefinedBehaviorSanitizer:"),
    // An earlier call, standard input and a stub are given to the sanitized run as well.
    ("later", "out_of_bounds", true, "UndefinedBehaviorSanitizer: index"),
    ("reads", "out_of_bounds", true, "UndefinedBehaviorSanitizer: index"),
    ("senses", "out_of_bounds", true, "UndefinedBehaviorSanitizer: index"),
];

pub fn each_kind_is_found_with_an_input_and_says_what_confirms_it() {
    let json = generate(PROGRAM);
    let findings = json["findings"].as_array().expect("findings");
    for (function, kind, confirmed, text) in EXPECTED {
        let found = findings.iter().find(|found| found["function"] == function && found["kind"] == kind);
        let found = found.unwrap_or_else(|| panic!("no {kind} in {function}"));
        assert_eq!(found["confirmed"], confirmed, "{found}");
        let key = if confirmed { "confirmed_by" } else { "not_confirmed_because" };
        assert!(found[key].as_str().is_some_and(|got| got.starts_with(text)), "{function}: {found}");
        assert!(found["inputs"].is_object(), "{found}");
    }
}

/// No branch tells the inputs apart that show these: only who looks for them finds them.
const ONLY_LOOKED_FOR: &str = "\
int add(int a) { return a + 1; }
int subtract(int a, int b) { return a - b; }
int multiply(long a, long b) { return (int)(a * b); }
int negate(int a) { return -a; }
int shift(int n) { return 1 << n; }
int right(unsigned x, unsigned n) { return x >> n; }
int divide(int x, int y) { return x / y; }
int smallest(int x, int y) { if (y != 0) return x % y; return 0; }
int index(int *p, int i) { return p[i]; }
int table(unsigned char i) { static const int t[200] = {1}; return t[i]; }
int convert(double d) { return (int)d; }
int sum(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) { s += a[i]; } return s; }
int many(int a, int b) { return a * a +
    b * b; }
static int helper(int a, int b) { return a + b; }
int first(int a) { return helper(a, 5) > 7; }
int second(int a) { return helper(a, 7) > 5; }
";

/// Function, kind and line.
const LOOKED_FOR: [(&str, &str, u64); 18] = [
    ("add", "signed_overflow", 1),
    ("subtract", "signed_overflow", 2),
    ("multiply", "signed_overflow", 3),
    ("negate", "signed_overflow", 4),
    ("shift", "shift_too_far", 5),
    ("right", "shift_too_far", 6),
    ("divide", "division_by_zero", 7),
    ("divide", "signed_overflow", 7),
    ("smallest", "signed_overflow", 8),
    ("index", "null_dereference", 9),
    ("index", "out_of_bounds", 9),
    ("table", "out_of_bounds", 10),
    ("convert", "float_out_of_range", 11),
    ("sum", "null_dereference", 12),
    ("sum", "signed_overflow", 12),
    ("many", "signed_overflow", 13),
    ("many", "signed_overflow", 14),
    ("helper", "signed_overflow", 15),
];

pub fn what_no_branch_tells_apart_is_looked_for() {
    let json = generate(ONLY_LOOKED_FOR);
    let findings = json["findings"].as_array().expect("findings");
    for (function, kind, line) in LOOKED_FOR {
        let same = |found: &&Json| found["function"] == function && found["kind"] == kind && found["line"] == line;
        let found = findings.iter().find(same).unwrap_or_else(|| panic!("no {kind} in {function}: {findings:#?}"));
        assert_eq!(found["confirmed"], true, "{found}");
    }
    let helper = findings.iter().find(|found| found["function"] == "helper").expect("one in helper");
    assert_eq!(helper["also_in"], serde_json::json!(["first", "second"]), "each line is named once");
    let lines: Vec<_> = findings.iter().map(|found| (found["line"].as_u64(), found["kind"].as_str())).collect();
    assert!(lines.is_sorted_by_key(|(line, _)| *line), "{lines:?}");
    let mut once = lines.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), lines.len(), "every line once for each kind: {lines:?}");
    assert!(
        findings
            .iter()
            .all(|found| LOOKED_FOR.iter().any(|(_, kind, line)| found["kind"] == *kind && found["line"] == *line)
                || found["function"] == "sum"),
        "{findings:#?}"
    );
}

/// Everything here is defined for all inputs.
const GUARDED: &str = "\
#include <limits.h>
int add(int a) { if (a < INT_MAX) return a + 1; return a; }
int subtract(int a, int b) { if (a >= 0 && b >= 0) return a - b; return 0; }
int multiply(int a, int b) { if (a > 0 && a < 100 && b > -100 && b < 100) return a * b; return 0; }
int negate(int a) { return a == INT_MIN ? INT_MAX : -a; }
int shift(unsigned n) { if (n < 31) return 1 << n; return 0; }
int divide(int a, int b) { if (b != 0 && b != -1) return a / b; return 0; }
int index(int i) { int t[4] = {0}; if (i >= 0 && i < 4) return t[i]; return 0; }
int convert(double d) { if (d > -1000.0 && d < 1000.0) return (int)d; return 0; }
int null(int *p) { if (p) return *p; return 0; }
unsigned wraps(unsigned a, unsigned b) { return a * b + a - b; }
short narrows(int a) { return a; }
char counts(char c) { c++; return c; }
";

pub fn what_is_guarded_is_no_finding_and_few_conditions_are_asked_for() {
    let json = generate(GUARDED);
    assert_eq!(json["findings"], serde_json::json!([]));
    for function in json["functions"].as_array().expect("functions") {
        let asked = function["work"]["fault_queries"].as_u64().expect("a number");
        assert!(asked <= 24, "{asked} for {}", function["name"]);
    }
}

/// A loop meets its instructions on every iteration of every path, and no condition of theirs can be true.
const LOOP: &str = "\
int count(const int *a, int n) {
    int high = 0;
    for (int i = 0; i < n && i < 30; i++)
        if (a && a[i] > 5 && a[i] < 1000) high += a[i] + a[i];
    return high > 300;
}
";

pub fn the_number_of_conditions_asked_for_is_bounded() {
    let folder = folder::temporary();
    let file = folder.path().join("loop.c");
    std::fs::write(&file, LOOP).expect("a writable folder");
    let asked = |options: &[&str]| {
        let json = tool::generate(&file, options, &[], folder.path()).json().expect("a report");
        let function = &json["functions"][0];
        let asked = function["work"]["fault_queries"].as_u64().expect("a number");
        (asked, function["summary"].clone(), json["findings"].as_array().map_or(0, Vec::len))
    };
    let (all, summary, found) = asked(&["--steps", "100000"]);
    assert!(all > 0 && all <= 100, "{all}");
    assert!(found > 0, "what lies behind the object is found");
    let (none, same, met) = asked(&["--steps", "100000", "--findings", "met"]);
    assert_eq!((none, same), (0, summary.clone()), "the branches do not depend on it");
    assert!(met <= found);
    let (none, same, listed) = asked(&["--steps", "100000", "--findings", "none"]);
    assert_eq!((none, same, listed), (0, summary, 0));
}

/// Each of their branches is first reached by a text that nobody ends, or by an index that is too large.
const READERS: &str = "\
int brackets(const char *s) {
    int open = 0;
    for (; *s; s++) {
        if (*s == '(') open++;
        else if (*s == ')') { if (open == 0) return -1; open--; }
        else if (*s == '[') { if (s[1] != ']') return -2; s++; }
    }
    return open;
}
int median(const int *t, int low, int high) {
    int middle = low / 2 + high / 2;
    if (t[middle] < t[low]) return t[high] > 5;
    return t[high] > t[middle];
}
";

pub fn tests_return_where_there_are_inputs_that_do() {
    let json = generate(READERS);
    for function in json["functions"].as_array().expect("functions") {
        assert_eq!(function["summary"]["covered"], function["summary"]["goals"], "{}", function["name"]);
        for test in function["tests"].as_array().expect("tests") {
            assert_eq!(test["observed"]["end"], "returned", "{}: {}", function["name"], test["inputs"]);
        }
    }
    let places: Vec<u64> = json["findings"].as_array().expect("findings").iter().filter_map(line).collect();
    assert!(places.contains(&3) && places.contains(&12), "what goes wrong is listed all the same: {places:?}");
}

/// Nobody says that the lengths are those of the arrays, and some runs are longer than the first arrays that are tried.
const RUNS: &str = "unsigned unpack(const void *data, unsigned length, unsigned char *out, unsigned room)
{
    const unsigned char *in = (const unsigned char *)data;
    const unsigned char *end = in + length;
    unsigned char *to = out;
    do {
        unsigned run = *in++;
        if (run > 24 || to + run > out + room || in + run > end) {
            return 0;
        }
        switch (run) {
        case 24: *to++ = *in++; *to++ = *in++; *to++ = *in++; *to++ = *in++;
        case 20: *to++ = *in++; *to++ = *in++; *to++ = *in++; *to++ = *in++;
        case 16: *to++ = *in++; *to++ = *in++; *to++ = *in++; *to++ = *in++; *to++ = *in++; *to++ = *in++;
                 *to++ = *in++; *to++ = *in++; *to++ = *in++; *to++ = *in++; *to++ = *in++; *to++ = *in++;
        case 4: *to++ = *in++; *to++ = *in++; *to++ = *in++;
        case 1: *to++ = *in++;
        }
    } while (in < end);
    return to - out;
}
";

pub fn tests_have_arrays_that_are_long_enough_where_some_are() {
    let json = generate(RUNS);
    let function = &json["functions"][0];
    assert_eq!(function["summary"]["covered"], function["summary"]["goals"]);
    for test in function["tests"].as_array().expect("tests") {
        assert_eq!(test["observed"]["end"], "returned", "{}", test["inputs"]);
    }
}

fn line(finding: &Json) -> Option<u64> {
    finding["line"].as_u64()
}

fn generate(text: &str) -> Json {
    let folder = folder::temporary();
    let file = folder.path().join("faults.c");
    std::fs::write(&file, text).expect("a writable folder");
    tool::generate(&file, &["--steps", "1000"], &[], folder.path()).json().expect("a report")
}
