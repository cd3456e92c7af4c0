//! Environments for random units: a C file that calls the unit and defines what the unit only declares. Everything that it does
//! is decided at run time, by a seed and by the one capability that is switched on.

use std::fmt::Write;

use super::unit::{Callee, Parameter};

/// Something that the outside may do and that no test does unless an assumption is dropped.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Any caller, and callees that return anything and write what they are given.
    Nothing,
    WritesGlobals,
    WritesDeep,
    CastsConstAway,
    KeepsPointers,
    CallsBack,
    CallsIn,
    LeavesHalfWay,
    SharesInputs,
    ReturnsWhatItGot,
    OutputFails,
    /// Another definition of what is weak. It is linked into a program of its own.
    ReplacesWeak,
    FriendsWrite,
    DerivedWrite,
    DerivedOverride,
    Throws,
}

impl Capability {
    pub const ALL: [Capability; 16] = [
        Capability::Nothing,
        Capability::WritesGlobals,
        Capability::WritesDeep,
        Capability::CastsConstAway,
        Capability::KeepsPointers,
        Capability::CallsBack,
        Capability::CallsIn,
        Capability::LeavesHalfWay,
        Capability::SharesInputs,
        Capability::ReturnsWhatItGot,
        Capability::OutputFails,
        Capability::ReplacesWeak,
        Capability::FriendsWrite,
        Capability::DerivedWrite,
        Capability::DerivedOverride,
        Capability::Throws,
    ];

    /// Returns the assumptions that it breaks. A verdict that names one of them speaks of no execution with this capability.
    pub fn breaks(self) -> &'static [&'static str] {
        match self {
            Capability::Nothing => &[],
            Capability::WritesGlobals => &["callees-leave-globals"],
            Capability::WritesDeep => &["callees-write-one-level"],
            Capability::CastsConstAway => &["callees-respect-const"],
            // The callee that writes was not given the pointer.
            Capability::KeepsPointers => &["callees-keep-no-pointers", "callees-leave-globals"],
            Capability::CallsBack => &["callees-do-not-call-back"],
            // What a function of the file writes while another is half-way, the callee that called it writes.
            Capability::CallsIn => &["calls-do-not-nest", "callees-leave-globals", "callees-respect-const"],
            Capability::LeavesHalfWay => &["earlier-calls-returned"],
            Capability::SharesInputs => &["inputs-do-not-overlap"],
            // What it returns is an input, and so is what it returned before.
            Capability::ReturnsWhatItGot => &["results-are-separate", "inputs-do-not-overlap"],
            Capability::OutputFails => &["output-succeeds"],
            Capability::ReplacesWeak => &["weak-definitions-stay"],
            Capability::Throws => &["callees-do-not-throw", "earlier-calls-returned"],
            Capability::FriendsWrite | Capability::DerivedWrite | Capability::DerivedOverride => &[],
        }
    }

    /// Returns whether it is about objects of C++ that the outside makes or knows. Verdicts within bounds name these bounds in
    /// more ways than one.
    pub fn concerns_objects(self) -> bool {
        matches!(self, Capability::FriendsWrite | Capability::DerivedWrite | Capability::DerivedOverride)
    }

    /// Returns whether a C unit that calls these leaves room for it.
    pub(super) fn fits(self, callees: &[Callee]) -> bool {
        let calls = |callee: Callee| callees.contains(&callee);
        match self {
            Capability::WritesDeep => calls(Callee::Visit),
            Capability::CastsConstAway => calls(Callee::Look),
            Capability::KeepsPointers => calls(Callee::Fill) || calls(Callee::Borrow) || calls(Callee::Visit),
            Capability::CallsBack => calls(Callee::Each),
            Capability::ReturnsWhatItGot => calls(Callee::Borrow),
            Capability::FriendsWrite | Capability::DerivedWrite | Capability::DerivedOverride | Capability::Throws => {
                false
            }
            _ => true,
        }
    }

    fn number(self) -> usize {
        Capability::ALL.iter().position(|one| *one == self).unwrap_or(0)
    }
}

/// How many bytes of the log a capability has: two for each line. The lowest bits say after how many calls an outcome was taken.
pub const LOG: usize = 4096;

/// What the logged unit includes.
pub const LOGGING: &str = r#"#ifndef LOG_H
#define LOG_H
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((weak)) unsigned char *logged_outcomes;
/* A bit for each number of calls so far. */
__attribute__((weak)) unsigned char logged_calls = 1;
static int log_outcome(int line, int taken)
{
    if (logged_outcomes == NULL) {
        int file = open(getenv("OUTCOMES"), O_RDWR);
        logged_outcomes = (unsigned char *)mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    }
    logged_outcomes[2 * line + !!taken] |= logged_calls;
    return taken;
}
#define L(condition) log_outcome(__LINE__, condition)
#ifndef ENVIRONMENT
#define environment_malloc malloc
#else
void *environment_malloc(size_t size);
#endif
#endif
"#;

/// Returns the C file: its program runs so many seeds of each capability, each in a process of its own.
pub(super) fn environment(entries: &[Vec<Parameter>], callees: &[Callee], witness: &str) -> String {
    let mut text = String::from(HEAD);
    let _ = writeln!(text, "enum {{ ENTRIES = {} }};", entries.len());
    for (number, capability) in Capability::ALL.iter().enumerate() {
        let _ = writeln!(text, "enum {{ {capability:?} = {number} }};");
    }
    for (number, parameters) in entries.iter().enumerate() {
        let list: Vec<&str> = parameters.iter().map(|kind| kind.c()).collect();
        let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
        let _ = writeln!(text, "int f{number}({list});");
    }
    text += MIDDLE;
    for callee in callees {
        let _ = writeln!(text, "{}\n{}", callee.declaration(), body(*callee));
    }
    text += "static void enter(unsigned which)\n{\n    switch (which) {\n";
    for (number, parameters) in entries.iter().enumerate() {
        let arguments: Vec<String> =
            parameters.iter().enumerate().map(|(at, kind)| format!("{}({at})", kind.maker())).collect();
        let _ = writeln!(text, "    case {number}: f{number}({}); break;", arguments.join(", "));
    }
    text += "    }\n}\n";
    text += REPLACED;
    let _ = writeln!(
        text,
        "void advance(int a);\nint planted(int a);\nstatic void take_planted(void)\n{{\n    {witness}\n}}"
    );
    text += SESSIONS;
    text
}

/// Returns the arguments of the environment's program: the numbers of the capabilities.
pub fn arguments(capabilities: &[Capability]) -> Vec<String> {
    capabilities.iter().map(|one| one.number().to_string()).collect()
}

/// Returns where the log of a capability begins.
pub fn place(capability: Capability) -> usize {
    capability.number() * LOG
}

impl Parameter {
    fn c(self) -> &'static str {
        match self {
            Parameter::Number => "int",
            Parameter::Pointer => "int *",
            Parameter::Node => "struct node *",
        }
    }

    fn maker(self) -> &'static str {
        match self {
            Parameter::Number => "number",
            Parameter::Pointer => "pointer",
            Parameter::Node => "node",
        }
    }
}

fn body(callee: Callee) -> &'static str {
    match callee {
        Callee::Get => "{\n    act();\n    return number(0);\n}",
        Callee::Fill => "{\n    keep(p);\n    if (below(3)) *p = number(0);\n    act();\n}",
        Callee::Visit => {
            "{
    if (is_kept_alive(n)) keep(&n->b);
    if (below(3)) n->a = number(0);
    if (below(3)) n->b = number(0);
    if (capability == WritesDeep && n->q && below(3)) *n->q = number(0);
    if (capability == WritesDeep && n->next && below(3)) *n->next->q = n->next->a = number(0);
    act();
}"
        }
        Callee::Look => {
            "{\n    if (capability == CastsConstAway && below(3)) *(int *)p = number(0);\n    constant = p;\n    act();\n    constant = NULL;\n    return number(0);\n}"
        }
        Callee::Each => {
            "{
    for (unsigned times = capability == CallsBack ? below(3) : 0; times > 0; times--) callback(number(0));
    act();
}"
        }
        Callee::Borrow => {
            "{
    keep(p);
    if (below(3)) *p = number(0);
    act();
    if (capability == ReturnsWhatItGot) return kept_count > 0 ? kept[below(kept_count)].p : p;
    if (capability == SharesInputs && below(2)) return below(2) ? &g0 : &x0;
    return &lent[below(8)][0];
}"
        }
        Callee::Note => "{\n    act();\n}",
    }
}

const HEAD: &str = r#"#define ENVIRONMENT
#include "log.h"
#include <limits.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "unit.h"
extern int g0;
int x0;
"#;

/// A table of what is alive is not needed: what the environment keeps is either its own, or of a call that still runs.
const MIDDLE: &str = r#"
static unsigned capability, depth;
static unsigned long state;
static unsigned below(unsigned limit)
{
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return (unsigned)(state >> 20) % limit;
}
static int number(unsigned unused)
{
    static const int numbers[] = { -1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 100, INT_MIN, INT_MAX };
    (void)unused;
    return numbers[below(below(4) ? 9 : sizeof numbers / sizeof *numbers)];
}
/* Enough for all calls of a session: nothing is used twice. */
enum { OBJECTS = 512 };
static int arrays[OBJECTS][4], of_nodes[OBJECTS], lent[8][4];
static struct node nodes[OBJECTS];
static unsigned arrays_used, nodes_used;
static int *pointer(unsigned at)
{
    if (below(16) == 0) return NULL;
    if (capability == SharesInputs && below(2)) {
        int *const shared[] = { &g0, &x0, &arrays[0][0], &arrays[0][0], &nodes[0].a, &nodes[0].b, &of_nodes[0] };
        return shared[below(7)];
    }
    (void)at;
    int *fresh = arrays[arrays_used++ % OBJECTS];
    for (unsigned i = 0; i < 4; i++) fresh[i] = number(0);
    return fresh;
}
static struct node *node(unsigned at)
{
    (void)at;
    if (below(16) == 0) return NULL;
    if (capability == SharesInputs && below(2)) return &nodes[0];
    unsigned first = nodes_used++ % (OBJECTS / 2), second = first + OBJECTS / 2;
    nodes[second] = (struct node){ number(0), number(0), &of_nodes[second], NULL };
    nodes[first] = (struct node){ number(0), number(0), below(16) ? &of_nodes[first] : NULL, below(8) ? &nodes[second] : NULL };
    of_nodes[first] = number(0), of_nodes[second] = number(0);
    if (capability == SharesInputs && below(2)) nodes[first].q = below(2) ? &g0 : below(2) ? &nodes[first].a : &arrays[0][0];
    return &nodes[first];
}
static int is_kept_alive(const void *p)
{
    return (const char *)p >= (const char *)nodes && (const char *)p < (const char *)(nodes + OBJECTS);
}
static struct { int *p; unsigned depth; } kept[16];
static unsigned kept_count;
static void keep(int *p)
{
    if ((capability == KeepsPointers || capability == ReturnsWhatItGot) && kept_count < 16) {
        kept[kept_count].p = p;
        kept[kept_count++].depth = depth;
    }
}
static void forget(void)
{
    unsigned left = 0;
    for (unsigned i = 0; i < kept_count; i++) {
        uintptr_t at = (uintptr_t)kept[i].p, here = (uintptr_t)&left;
        int on_stack = at + (1 << 20) > here && here + (1 << 20) > at;
        if (kept[i].depth < depth || !on_stack) kept[left++] = kept[i];
    }
    kept_count = left;
}
static void enter(unsigned which);
static jmp_buf outside;
static void call(unsigned which)
{
    if (logged_calls < 64) logged_calls = logged_calls ? logged_calls << 1 : 1;
    if (++depth == 1) {
        if (setjmp(outside) == 0) enter(which);
        depth = 1;
    } else {
        enter(which);
    }
    forget();
    depth--;
}
/* What is constant for the callee that runs. */
static const int *constant;
/* Whatever a callee may do besides what its parameters are for. */
static void act(void)
{
    if (capability == WritesGlobals) {
        if (constant != &g0 && below(3) == 0) g0 = number(0);
        if (constant != &x0 && below(3) == 0) x0 = number(0);
    }
    if (capability == KeepsPointers && kept_count > 0 && below(2)) *kept[below(kept_count)].p = number(0);
    if (capability == CallsIn && depth < 3 && below(3) == 0) call(below(ENTRIES));
    if (capability == LeavesHalfWay && below(4) == 0) longjmp(outside, 1);
}
void *environment_malloc(size_t size)
{
    return below(4) ? malloc(size) : NULL;
}
"#;

const REPLACED: &str = r#"
#ifdef REPLACE_WEAK
int weak(int a)
{
    (void)a;
    return number(0);
}
#endif
static void before_a_call(void)
{
    if (below(2)) g0 = number(0);
    if (below(2)) x0 = number(0);
}
"#;

/// Runs the sessions: so many seeds of each capability, each in a process of its own.
pub(super) const SESSIONS: &str = r#"
enum { MANY_CALLS = 128 };
static void session(unsigned seed)
{
    struct rlimit limit = { 2, 2 };
    setrlimit(RLIMIT_CPU, &limit);
    state = (seed + 1) * 0x9E3779B97F4A7C15ul | 1;
    freopen(capability == OutputFails ? "/dev/full" : "/dev/null", "w", stdout);
    if (below(2)) setvbuf(stdout, NULL, _IONBF, 0);
    logged_calls = 0;
    for (unsigned calls = 1 + below(5); calls > 0; calls--) {
        before_a_call();
        call(below(ENTRIES));
    }
    logged_calls = MANY_CALLS;
    take_planted();
    _exit(0);
}
int main(int count, char **arguments)
{
    unsigned seeds = (unsigned)atoi(arguments[1]), bad = 0;
    int file = open(getenv("OUTCOMES"), O_RDWR);
    unsigned char *all = (unsigned char *)mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (int at = 2; at < count; at++) {
        capability = (unsigned)atoi(arguments[at]);
        logged_outcomes = all + 4096 * capability;
        for (unsigned seed = 0; seed < seeds; seed++) {
            pid_t child = fork();
            if (child == 0) session(seed);
            int status;
            waitpid(child, &status, 0);
            if (status != 0 && bad++ < 3) fprintf(stderr, "capability %u seed %u: status %d\n", capability, seed, status);
        }
    }
    return bad > 0;
}
"#;
