//! Every kind of finding, with what confirms it.

use std::path::Path;

use serde_json::Value as Json;

#[path = "support/tool.rs"]
mod tool;

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
    ("never", "uninitialised_read", false, "neither the native run nor these sanitizers"),
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

#[test]
fn each_kind_is_found_with_an_input_and_says_what_confirms_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("faults.c");
    std::fs::write(&file, PROGRAM).expect("a writable folder");
    let json = generate(&file, folder.path());
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

fn generate(file: &Path, folder: &Path) -> Json {
    tool::generate(file, &["--steps", "1000"], &[], folder).json().expect("a report")
}
