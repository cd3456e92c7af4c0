//! What the native run of a test reports.

use crate::support;

use branchwise_program::MarkerId;
use branchwise_program::map::Event;
use branchwise_replay::{Limits, NativeEnd, Observation, PointerAt, ReplayError, SanitizedRun, Sanitizers, Within};
use support::*;

fn outcomes(observation: &Observation) -> Vec<(u32, u32)> {
    observation.events.iter().map(|Event { marker: MarkerId(marker), outcome }| (*marker, *outcome)).collect()
}

#[test]
fn integers_conditions_and_a_switch() {
    let (mut sample, types) = Sample::new(
        "int f(int a) {
            if (BW(0, a > 3) && BW(1, a < 9)) return a * 2;
            switch (SW(2, a)) { case -1: return 5; case 3: return 6; }
            return 0;
        }",
    );
    sample.conditions(2);
    sample.switch(&[-1, 3], 32, true);
    let f = sample.int_function("f", &types);
    let mut harness = sample.build();
    let cases: Vec<_> = [5, 9, 3, -1].map(|value| case(f, vec![int(value)], vec![])).into();
    let observations = harness.run(&cases).unwrap();
    let results: Vec<_> = observations.iter().map(|seen| seen.result.clone().unwrap()).collect();
    assert_eq!(results, [int(10), int(0), int(6), int(5)]);
    assert_eq!(outcomes(&observations[0]), [(0, 1), (1, 1)]);
    assert_eq!(outcomes(&observations[1]), [(0, 1), (1, 0), (2, 2)]);
    assert_eq!(outcomes(&observations[2]), [(0, 0), (2, 1)]);
    assert_eq!(outcomes(&observations[3]), [(0, 0), (2, 0)]);
    assert!(observations.iter().all(|seen| seen.end == NativeEnd::Returned && !seen.truncated));
    assert_eq!(harness.run(&cases).unwrap(), observations);
}

#[test]
fn a_switch_over_unsigned_64_bits() {
    let (mut sample, types) = Sample::new(
        "int f(int a) { unsigned long long wide = (unsigned long long)a;
            switch (SW(0, wide)) { case 18446744073709551615ull: return 1; } return 0; }",
    );
    sample.switch(&[i128::from(u64::MAX)], 64, false);
    let f = sample.int_function("f", &types);
    let seen = sample.build().run(&[case(f, vec![int(-1)], vec![]), case(f, vec![int(1)], vec![])]).unwrap();
    assert_eq!((outcomes(&seen[0]), outcomes(&seen[1])), (vec![(0, 0)], vec![(0, 1)]));
}

#[test]
fn a_structure_by_value_with_padding() {
    let (mut sample, types) = Sample::new(
        "struct pair { char tag; int value; int *where; };
         struct pair f(struct pair p) { struct pair q; __builtin_memset(&q, 0x77, sizeof q);
            q.tag = p.tag; q.value = *p.where; q.where = p.where + 1; return q; }",
    );
    let pair = sample.record("struct pair", 16, &[(types.character, 0), (types.int, 4), (types.int_pointer, 8)]);
    let body = "struct pair p; __bw_input(&p, 0); struct pair r = f(p); __bw_output(&r, 0, sizeof r);";
    let f = sample.function("f", pair, &[pair], body);
    let mut input = bytes([7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    input.pointers.push(PointerAt { at: 8, object: 0, offset: 0 });
    let test = case(f, vec![input], vec![object(types.int, 1, ints(&[258]))]);
    let seen = sample.build().run(&[test]).unwrap().remove(0);
    let result = seen.result.unwrap();
    assert_eq!(result.bytes, [7, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(result.pointers, [PointerAt { at: 8, object: 0, offset: 4 }]);
}

#[test]
fn overruns_and_null_end_in_a_signal_and_keep_the_log() {
    let (mut sample, types) = Sample::new(
        "int sum(int *a, int n) { int s = 0; for (int i = 0; BW(0, i < n); i++) s += a[i]; return s; }
         int length(char *s) { int n = 0; while (BW(1, s[n] != 0)) n++; return n; }",
    );
    sample.conditions(2);
    let body = "int *a; int n; __bw_input(&a, 0); __bw_input(&n, 1); int r = sum(a, n); __bw_output(&r, 0, sizeof r);";
    let sum = sample.function("sum", types.int, &[types.int_pointer, types.int], body);
    let body = "char *s; __bw_input(&s, 0); int r = length(s); __bw_output(&r, 0, sizeof r);";
    let length = sample.function("length", types.int, &[types.char_pointer], body);
    let three = || vec![object(types.int, 3, ints(&[1, 2, 4]))];
    let text = |text: &str| vec![object(types.character, text.len() as u64, bytes(text))];
    let seen = sample.build().run(&[
        case(sum, vec![pointer(0, 0), int(3)], three()),
        case(sum, vec![pointer(0, 0), int(4)], three()),
        case(sum, vec![null(), int(1)], vec![]),
        case(sum, vec![null(), int(0)], vec![]),
        case(length, vec![pointer(0, 0)], text("abc\0")),
        case(length, vec![pointer(0, 0)], text("abc")),
        case(length, vec![pointer(0, 0)], text("")),
    ]);
    let seen = seen.unwrap();
    let crash = NativeEnd::Signal(libc::SIGSEGV);
    let ends: Vec<_> = seen.iter().map(|seen| seen.end).collect();
    let back = NativeEnd::Returned;
    assert_eq!(ends, [back, crash, crash, back, back, crash, crash]);
    assert_eq!(seen[0].result, Some(int(7)));
    assert_eq!(seen[0].objects_after, [ints(&[1, 2, 4])]);
    assert_eq!(outcomes(&seen[1]), [(0, 1); 4]);
    assert_eq!((&seen[1].result, seen[1].objects_after.len()), (&None, 0));
    assert_eq!(seen[4].result, Some(int(3)));
    assert_eq!(outcomes(&seen[5]), [(1, 1); 3]);
}

#[test]
fn every_way_to_end() {
    let (mut sample, types) = Sample::new(
        "void exit(int); void _exit(int); void abort(void); int raise(int); int missing(int); unsigned sleep(unsigned);
         typedef void (*handler)(int); handler signal(int, handler); int getppid(void); int kill(int, int);
         int sigfillset(void *); int sigprocmask(int, void *, void *); int fork(void);
         int deep(int a) { volatile char room[1000]; room[a % 1000] = 1; return deep(a + 1) + room[0]; }
         int loop(void) { for (;;) if (BW(0, 1)) continue; }
         int stubborn(void) { long set[16]; sigfillset(set); sigprocmask(0, set, 0);
            for (int i = 1; i < 32; i++) signal(i, (handler)1); return loop(); }
         int f(int a) {
            switch (a) {
            case 0: exit(3);
            case 1: abort();
            case 2: return loop();
            case 3: return deep(0);
            case 4: return stubborn();
            case 5: return missing(1);
            case 6: return 1 / (a - 6);
            case 7: _exit(300);
            case 8: sleep(100);
            case 9: kill(getppid(), 9); for (;;) {}
            case 10: if (fork() == 0) for (;;) {} return 10;
            }
            return a;
         }",
    );
    sample.conditions(1);
    let f = sample.int_function("f", &types);
    let limits = Limits { milliseconds: 100, log_entries: 1000, ..Limits::default() };
    let cases: Vec<_> = (0..12).map(|value| case(f, vec![int(value)], vec![])).collect();
    let seen = sample.try_build(limits).unwrap().run(&cases).unwrap();
    let ends: Vec<_> = seen.iter().map(|seen| seen.end).collect();
    let expected = [
        NativeEnd::Exited(3),
        NativeEnd::Signal(libc::SIGABRT),
        NativeEnd::TimeLimit,
        NativeEnd::Signal(libc::SIGSEGV),
        NativeEnd::TimeLimit,
        NativeEnd::Signal(libc::SIGSEGV),
        NativeEnd::Signal(libc::SIGFPE),
        NativeEnd::Exited(44),
        NativeEnd::TimeLimit,
        NativeEnd::TimeLimit,
        NativeEnd::Returned,
        NativeEnd::Returned,
    ];
    assert_eq!(ends, expected);
    assert_eq!((outcomes(&seen[2]), seen[2].truncated), (vec![(0, 1); 1000], true));
    assert_eq!(seen[4].events.len(), 1000);
    assert_eq!(seen[11].result, Some(int(11)));
}

#[test]
fn pointers_into_objects_resolve_and_others_are_foreign() {
    let (mut sample, types) = Sample::new(
        "void *malloc(unsigned long); static char word[] = \"word\";
         char *f(char *s, int a) { return a == 0 ? s + 1 : a == 1 ? s + 3 : a == 2 ? word : a == 3 ? malloc(9) : 0; }",
    );
    let body = "char *s; int a; __bw_input(&s, 0); __bw_input(&a, 1);
        char *r = f(s, a); __bw_output(&r, 0, sizeof r); __bw_output(&s, 1, sizeof s);";
    let f = sample.function("f", types.char_pointer, &[types.char_pointer, types.int], body);
    let test = |a| case(f, vec![pointer(0, 0), int(a)], vec![object(types.character, 3, bytes("abc"))]);
    let mut harness = sample.build();
    let seen = harness.run(&[0, 1, 2, 3, 4].map(test)).unwrap();
    assert_eq!(seen[0].result, Some(pointer(0, 1)));
    assert_eq!(seen[0].inputs_after, [Some(pointer(0, 0)), None]);
    assert_eq!(seen[1].result, Some(pointer(0, 3)));
    for foreign in [&seen[2], &seen[3]] {
        assert!(foreign.is_foreign(Within::Result, 0));
        assert_eq!(foreign.result, Some(bytes([0xff; 8])));
    }
    assert_eq!((seen[4].result.clone(), seen[4].foreign.len()), (Some(null()), 0));
}

#[test]
fn a_cyclic_list_is_built_changed_and_read_back() {
    let (mut sample, types) = Sample::new(
        "struct node { int value; struct node *next; };
         void f(struct node *n) { struct node *second = n->next; if (BW(0, second->next == n)) { n->value += second->value;
            n->next = n; second->next = 0; } }",
    );
    sample.conditions(1);
    let node = sample.add_type(branchwise_program::types::TypeKind::Void, "struct node", 16, 8);
    let node_pointer = sample.pointer(node);
    let record = sample.record("struct node", 16, &[(types.int, 0), (node_pointer, 8)]);
    sample.map.types[node] = sample.map.types[record].clone();
    let body = "struct node *n; __bw_input(&n, 0); f(n);";
    let f = sample.function("f", types.void, &[node_pointer], body);
    let link = |value: u8, next| {
        let mut blob = bytes([value, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        blob.pointers.push(PointerAt { at: 8, object: next, offset: 0 });
        blob
    };
    let objects = vec![object(node, 1, link(3, 1)), object(node, 1, link(4, 0))];
    let seen = sample.build().run(&[case(f, vec![pointer(0, 0)], objects)]).unwrap().remove(0);
    assert_eq!((seen.end, seen.result), (NativeEnd::Returned, None));
    let mut last = link(4, 0);
    last.pointers.clear();
    assert_eq!(seen.objects_after, [link(7, 0), last]);
}

#[test]
fn globals_go_in_and_out_and_do_not_leak_into_the_next_test() {
    let (mut sample, types) =
        Sample::new("int total = 5; static int calls; int f(int a) { total += a; return ++calls; }");
    let body = "int a; __bw_input(&a, 0); __bw_input(&total, 1); int r = f(a); __bw_output(&r, 0, sizeof r);
        __bw_output(&total, 2, sizeof total);";
    let f = sample.function("f", types.int, &[types.int, types.int], body);
    let test = |a, total| case(f, vec![int(a), int(total)], vec![]);
    let seen = sample.build().run(&[test(1, 10), test(2, 20)]).unwrap();
    assert_eq!(seen[0].inputs_after, [None, Some(int(11))]);
    assert_eq!(seen[1].inputs_after, [None, Some(int(22))]);
    assert_eq!(seen[1].result, Some(int(1)));
}

#[test]
fn variables_of_other_files_can_be_inputs() {
    let (mut sample, types) =
        Sample::new("extern int elsewhere; int away(void); int f(int a) { return a ? away() : ++elsewhere; }");
    let body = "int a; __bw_input(&a, 0); __bw_input(&elsewhere, 1); int r = f(a); __bw_output(&r, 0, sizeof r);";
    let f = sample.function("f", types.int, &[types.int, types.int], body);
    let seen = sample.build().run(&[0, 1].map(|a| case(f, vec![int(a), int(41)], vec![]))).unwrap();
    assert_eq!((seen[0].result.clone(), seen[1].end), (Some(int(42)), NativeEnd::Signal(libc::SIGSEGV)));
}

#[test]
fn files_of_one_test_are_not_there_for_the_next() {
    let (mut sample, types) = Sample::new(
        "int mkdir(const char *, unsigned); int creat(const char *, unsigned);
         int f(int a) { return mkdir(\"d\", 0755) == 0 && creat(\"d/f\", 0644) >= 0; }",
    );
    let f = sample.int_function("f", &types);
    let seen = sample.build().run(&[1, 2].map(|a| case(f, vec![int(a)], vec![]))).unwrap();
    assert_eq!((seen[0].result.clone(), seen[1].result.clone()), (Some(int(1)), Some(int(1))));
}

#[test]
fn sanitizers_report_natively() {
    let (mut sample, types) = Sample::new("int f(int a) { int room[4] = {0}; return room[a]; }");
    sample.flag("-fsanitize=address,undefined");
    let f = sample.int_function("f", &types);
    let mut harness = sample.try_build(Limits::default()).unwrap();
    let cases = [3, 4].map(|a| case(f, vec![int(a)], vec![]));
    let seen = harness.run(&cases).unwrap();
    assert_eq!((seen[0].end, seen[1].end), (NativeEnd::Returned, NativeEnd::Exited(1)));
    assert_eq!(harness.measure(&cases).unwrap().function_named("f").unwrap().entries, 2);
}

/// Inputs, what the C library writes and what the harness returns are known; only what nobody wrote is reported.
#[test]
fn the_memory_sanitizer_reports_what_nobody_wrote_and_nothing_else() {
    let (mut sample, types) = Sample::new(
        "void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); int getchar(void);
         struct pair { char tag; int value; };
         int f(int *p, int a) {
            struct pair s = {(char)a, *p}, t = s; int local; int *fresh = a == 2 ? malloc(4) : calloc(1, 4);
            if (BW(0, t.tag == 1) && BW(0, getchar() == 'x')) local = t.value;
            else if (BW(0, a == 3)) local = p[1];
            if (BW(0, *fresh == 7)) return 1;
            return
               BW(0, local == 7) ? 2 : 3;
         }",
    );
    sample.conditions(1);
    let body = "int *p; int a; __bw_input(&p, 0); __bw_input(&a, 1); int r = f(p, a); __bw_output(&r, 0, sizeof r);";
    let f = sample.function("f", types.int, &[types.int_pointer, types.int], body);
    let test = |a| {
        let mut test = case(f, vec![pointer(0, 0), int(a)], vec![object(types.int, 2, ints(&[6, 7]))]);
        test.stdin = b"x".to_vec();
        test
    };
    let runs = sample.build().run_sanitized(Sanitizers::Memory, &[1, 3, 4, 2].map(test)).unwrap();
    let lines = |run: &SanitizedRun| -> Vec<u32> {
        assert!(run.reports.iter().all(|report| report.what == "use-of-uninitialized-value"), "{run:?}");
        run.reports.iter().filter_map(|report| report.line).collect()
    };
    let [first, ..] = lines(&runs[2])[..] else { panic!("no report: {:?}", runs[2]) };
    assert_eq!(runs.iter().map(lines).collect::<Vec<_>>(), [vec![], vec![], vec![first], vec![first - 2, first]]);
}

#[test]
fn input_objects_can_be_freed_and_then_trap() {
    let (mut sample, types) = Sample::new(
        "void free(void *); void *realloc(void *, unsigned long);
         int f(int *p, int a) { int v = *p; if (a == 4) { p = realloc(p, 400); return p[1]; }
            if (a < 4) free(p + (a == 3)); if (a == 1) v = *p; if (a == 2) free(p); return v; }",
    );
    let body = "int *p; int a; __bw_input(&p, 0); __bw_input(&a, 1); int r = f(p, a); __bw_output(&r, 0, sizeof r);";
    let f = sample.function("f", types.int, &[types.int_pointer, types.int], body);
    let test = |a| case(f, vec![pointer(0, 0), int(a)], vec![object(types.int, 2, ints(&[6, 7]))]);
    let seen = sample.build().run(&[0, 1, 2, 3, 4].map(test)).unwrap();
    assert_eq!((seen[0].result.clone(), seen[0].freed.clone()), (Some(int(6)), vec![0]));
    assert_eq!(seen[0].objects_after, [bytes([])]);
    assert_eq!(seen[1].end, NativeEnd::Signal(libc::SIGSEGV));
    assert_eq!(seen[2].end, NativeEnd::Signal(libc::SIGABRT));
    assert_eq!(seen[3].end, NativeEnd::Signal(libc::SIGABRT));
    assert_eq!((seen[4].result.clone(), seen[4].freed.clone()), (Some(int(7)), vec![0]));
}

#[test]
fn the_unit_may_define_main_and_functions_of_the_c_library() {
    let (mut sample, types) = Sample::new(
        "int fork(void) { return -1; } void *memcpy(void *to, const void *from, unsigned long n) { return 0; }
         long write(int file, const void *from, unsigned long n) { return -1; }
         int main(int argc, char **argv) { return argc == 7; }
         int f(int a) { return main(a, 0) + fork(); }",
    );
    let f = sample.int_function("f", &types);
    let mut harness = sample.build();
    let cases = [case(f, vec![int(7)], vec![])];
    assert_eq!(harness.run(&cases).unwrap()[0].result, Some(int(0)));
    assert_eq!(harness.measure(&cases).unwrap().function_named("main").unwrap().entries, 1);
}

#[test]
fn what_is_not_initialised_does_not_depend_on_earlier_tests() {
    let (mut sample, types) = Sample::new(
        "void *malloc(unsigned long); void free(void *);
         int f(int a) { volatile int on_stack[64]; volatile int *on_heap = malloc(256); int sum = 0;
            for (int i = 0; i < 64; i++) { sum += on_stack[i] + on_heap[i]; on_stack[i] = on_heap[i] = a + i; }
            free((void *)on_heap); return sum; }",
    );
    let f = sample.int_function("f", &types);
    let mut harness = sample.build();
    let cases = [1, 2, 3].map(|a| case(f, vec![int(a)], vec![]));
    let seen = harness.run(&cases).unwrap();
    assert!(seen.iter().all(|each| each == &seen[0]), "{seen:?}");
    assert_eq!(harness.run(&cases[2..]).unwrap()[0], seen[0]);
}

#[test]
fn memory_is_limited() {
    let (mut sample, types) =
        Sample::new("void *malloc(unsigned long); int f(int a) { return malloc((long)a << 20) != 0; }");
    let f = sample.int_function("f", &types);
    let seen = sample.build().run(&[100, 2000].map(|a| case(f, vec![int(a)], vec![]))).unwrap();
    assert_eq!((seen[0].result.clone(), seen[1].result.clone()), (Some(int(1)), Some(int(0))));
}

#[test]
fn code_that_does_not_compile_or_link_is_explained() {
    let (mut sample, types) = Sample::new("int f(int a) { return b; }");
    sample.int_function("f", &types);
    let error = sample.try_build(Limits::default()).unwrap_err();
    assert!(matches!(error, ReplayError::Compile { .. }));
    assert!(error.to_string().contains("use of undeclared identifier 'b'"), "{error}");
    assert!(error.hint().is_some());

    let (mut sample, types) = Sample::new("int f(int a) { return a; }");
    sample.int_function("f", &types);
    sample.flag("-lnosuchlibrary");
    let error = sample.try_build(Limits::default()).unwrap_err();
    assert!(matches!(error, ReplayError::Link { .. }));
    assert!(error.to_string().contains("nosuchlibrary"), "{error}");
}

#[test]
fn cases_that_do_not_fit_are_refused() {
    let (mut sample, types) = Sample::new("int f(int a) { return a; }");
    let f = sample.int_function("f", &types);
    let mut harness = sample.build();
    let mut refusal = |inputs| harness.run(&[case(f, inputs, vec![])]).unwrap_err().to_string();
    assert_eq!(refusal(vec![]), "test case 0 does not fit: 'f' has 1 inputs, not 0");
    assert_eq!(refusal(vec![null()]), "test case 0 does not fit: input 0 of 'f' is 'int' of 4 bytes, not 8");
    let mut dangling = int(0);
    dangling.pointers.push(PointerAt { at: 0, object: 0, offset: 0 });
    assert_eq!(refusal(vec![dangling]), "test case 0 does not fit: a pointer leads to object 0, but there are 0");
}

/// A function whose file runs `code` before everything else in the process, the dynamic loader's part excepted.
fn with_code_before_all(code: &str, tests: i32) -> Result<Vec<Observation>, ReplayError> {
    let (mut sample, types) = Sample::new(&format!(
        "long write(int, const void *, unsigned long);
         int close(int);
         int usleep(unsigned);
         static void first(int count, char **arguments, char **environment) {{
             static long words[1 << 12], started = 5;
             {code}
         }}
         __attribute__((section(\".preinit_array\"), used)) static void (*const entry)(int, char **, char **) = first;
         int f(int a) {{ return a; }}"
    ));
    let f = sample.int_function("f", &types);
    let cases: Vec<_> = (0..tests).map(|value| case(f, vec![int(value)], vec![])).collect();
    sample.build().run(&cases)
}

#[test]
fn forged_answers_are_not_believed() {
    let endless = "for (;;) if (write(1, words, sizeof words) <= 0) break;";
    let head = |words: &str| format!("write(1, &started, 8); long head[6] = {{{words}}}; write(1, head, sizeof head);");
    for code in [
        head("1, 0, 0, 0, 1l << 50, 0") + endless,
        head("1, 0, 0, 0, 0, 1l << 50") + endless,
        format!("write(1, &started, 8); for (int i = 0; i + 6 < 1 << 12; i += 6) words[i] = 1; {endless}"),
        format!("for (int i = 0; i < 1 << 12; i++) words[i] = 5; {endless}"),
        format!("write(1, &started, 8); for (int i = 0; i + 2 < 1 << 12; i += 2) words[i] = 2; {endless}"),
    ] {
        let begin = std::time::Instant::now();
        let error = with_code_before_all(&code, 4).expect_err(&code).to_string();
        assert!(error.contains("its answers do not match the tests"), "{code}: {error}");
        assert!(begin.elapsed().as_secs() < 20, "{code}: {:?}", begin.elapsed());
    }
}

#[test]
fn answers_that_never_end_are_not_waited_for() {
    let begin = std::time::Instant::now();
    let drips = "write(1, &started, 8); long head[6] = {1, 0, 0, 0, 1l << 20, 0}; write(1, head, sizeof head);
                 for (;;) { if (write(1, words, 1) <= 0) break; usleep(200000); }";
    let hangs = "write(1, &started, 8); close(1); for (;;) usleep(200000);";
    let (dripped, hung) = std::thread::scope(|scope| {
        let dripped = scope.spawn(|| with_code_before_all(drips, 1));
        let hung = with_code_before_all(hangs, 4);
        (dripped.join().expect("it ends"), hung)
    });
    assert_eq!(dripped.expect("it counts as the end of the test")[0].end, NativeEnd::Signal(9));
    let error = hung.expect_err("nothing is answered").to_string();
    assert!(error.contains("does not answer in time"), "{error}");
    assert!(begin.elapsed().as_secs() < 100, "{:?}", begin.elapsed());
}
