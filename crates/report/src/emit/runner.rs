//! The part of a plain C file that runs the tests and counts.

use std::collections::BTreeSet;

use super::signal_name;
use super::test_function::{End, TestFunction};

/// What the runner consists of.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Runs a test in this process.
    Here,
    /// Runs a test in a process of its own.
    InChild,
}

/// The declarations and counters that come before the tests.
pub fn counters(parts: &BTreeSet<Part>, any_check: bool) -> String {
    let mut text = PRINT.to_owned();
    if parts.contains(&Part::InChild) {
        text += PROCESSES;
    }
    text += COUNTERS;
    if any_check {
        text += CHECK;
    }
    text
}

/// The functions that come after the tests. `begins`: there is something to do before each test.
pub fn functions(parts: &BTreeSet<Part>, begins: bool) -> String {
    let mut text = String::new();
    for part in parts {
        text += &match (part, begins) {
            (Part::Here, true) => RUN.replace(CALL, &format!("    branchwise_begin();\n{CALL}")),
            (Part::InChild, true) => RUN_IN_CHILD.replace(CALL, &format!("    branchwise_begin();\n    {CALL}")),
            (Part::Here, false) => RUN.to_owned(),
            (Part::InChild, false) => RUN_IN_CHILD.to_owned(),
        };
    }
    text
}

/// The line of a runner that calls the test.
const CALL: &str = "    test();\n";

/// The statement of `main` that runs a test.
pub fn statement(test: &TestFunction, part: Part) -> String {
    let name = &test.name;
    match part {
        Part::Here => format!("branchwise_run(\"{name}\", {name});"),
        Part::InChild => format!("branchwise_run_in_child(\"{name}\", {name}, {});", end_text(test.end)),
    }
}

pub fn end_text(end: End) -> String {
    match end {
        End::Returns => "branchwise_returns, 0".to_owned(),
        End::Exits(status) => format!("branchwise_exits_with, {}", status & 0xff),
        End::EndsBySignal(number) => format!("branchwise_ends_with_signal, {number} /* {} */", signal_name(number)),
        End::RunsOn => "branchwise_runs_on, 0".to_owned(),
        End::EndsAnyhow => "branchwise_ends_anyhow, 0".to_owned(),
    }
}

const PRINT: &str = "
/* Functions of the C library have names of their own here: a header could clash with the file under test. */
extern int branchwise_print(const char *format, ...) __asm__(\"printf\");
";

const PROCESSES: &str = "\
extern int branchwise_flush(void *stream) __asm__(\"fflush\");
extern int branchwise_fork(void) __asm__(\"fork\");
extern int branchwise_wait(int child, int *status, int options) __asm__(\"waitpid\");
extern unsigned branchwise_alarm(unsigned seconds) __asm__(\"alarm\");
extern void branchwise_exit(int status) __asm__(\"_exit\") __attribute__((noreturn));
extern void *branchwise_map(void *at, unsigned long size, int access, int flags, int file, long offset) __asm__(\"mmap\");
";

const COUNTERS: &str = "
static int branchwise_passed, branchwise_failed, branchwise_failures;
";

const CHECK: &str = r#"
static void branchwise_check(int holds, const char *file, int line, const char *expectation)
{
    if (!holds) {
        branchwise_failures++;
        branchwise_print("%s:%d: failed: %s\n", file, line, expectation);
    }
}

/* It counts instead of aborting, so that one failure does not hide the next, and NDEBUG does not switch it off. */
#undef assert
#define assert(expectation) branchwise_check((expectation) ? 1 : 0, __FILE__, __LINE__, #expectation)
"#;

const RUN: &str = r#"
static void branchwise_run(const char *name, void (*test)(void))
{
    branchwise_failures = 0;
    test();
    if (branchwise_failures == 0) {
        branchwise_passed++;
    } else {
        branchwise_failed++;
        branchwise_print("FAILED: %s\n", name);
    }
}
"#;

const RUN_IN_CHILD: &str = r#"
enum branchwise_end {
    branchwise_returns,
    branchwise_exits_with,
    branchwise_ends_with_signal,
    branchwise_runs_on,
    branchwise_ends_anyhow
};

/* What a child tells its parent. */
struct branchwise_news {
    int returned, failures;
};

static struct branchwise_news *branchwise_shared_news(void)
{
    /* readable and writable; shared and anonymous */
    void *memory = branchwise_map(0, sizeof(struct branchwise_news), 1 | 2, 1 | 0x20, -1, 0);
    if (memory == (void *)-1) {
        branchwise_print("no shared memory\n");
        branchwise_flush(0);
        branchwise_exit(2);
    }
    return (struct branchwise_news *)memory;
}

/* Runs a test in a process of its own and compares how it ends. */
static void branchwise_run_in_child(const char *name, void (*test)(void), enum branchwise_end end, int detail)
{
    static volatile struct branchwise_news *news;
    int status = 0, as_observed = 0;
    int child, signal, exit_status;

    if (!news)
        news = branchwise_shared_news();
    news->returned = 0;
    news->failures = 0;
    branchwise_flush(0);
    child = branchwise_fork();
    if (child == 0) {
        branchwise_alarm(end == branchwise_runs_on ? 1 : 10);
        branchwise_failures = 0;
        test();
        /* Only a test that returns gets here. What the program registered with atexit is no part of the test. */
        news->failures = branchwise_failures;
        news->returned = 1;
        branchwise_flush(0);
        branchwise_exit(0);
    }
    if (child < 0 || branchwise_wait(child, &status, 0) != child) {
        branchwise_print("no process for %s\n", name);
        branchwise_flush(0);
        branchwise_exit(2);
    }
    signal = status & 0x7f;
    exit_status = status >> 8 & 0xff;
    switch (end) {
    case branchwise_returns:
        as_observed = news->returned && news->failures == 0;
        break;
    case branchwise_exits_with:
        as_observed = !news->returned && signal == 0 && exit_status == detail;
        break;
    case branchwise_ends_with_signal:
        as_observed = signal == detail;
#ifdef __OPTIMIZE__
        /* The optimiser may have removed the access or the division that raised the signal; 6 is SIGABRT. */
        as_observed = as_observed || detail != 6;
#endif
        break;
    case branchwise_runs_on:
        as_observed = signal == 14 /* SIGALRM */;
        break;
    case branchwise_ends_anyhow:
        as_observed = 1;
        break;
    }
    if (as_observed) {
        branchwise_passed++;
    } else {
        branchwise_failed++;
        if (news->returned)
            branchwise_print("FAILED: %s (returned)\n", name);
        else if (signal != 0)
            branchwise_print("FAILED: %s (ended by signal %d)\n", name, signal);
        else
            branchwise_print("FAILED: %s (exited with status %d)\n", name, exit_status);
    }
}
"#;
