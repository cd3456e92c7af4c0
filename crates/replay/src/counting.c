/* Counts the instructions that a child executes from the entry of one function to its return, by single steps: exactly,
 * in every run the same, and without the machine's counters, which a container may not give. Stands before runtime.c in the
 * build that counts; argv[7] is the address of the function. */
#define BW_COUNT
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#define BREAKPOINT 0xccul

/* What the last test executed. */
static uint64_t counted_instructions;

/* Of the function whose instructions count. */
static unsigned long unit_entry;
static long original;

/* Waits for the next stop; a child that has ended is left to whoever reaps it. Returns its signal, -1 at the end. */
static int next_stop(pid_t child) {
    siginfo_t info = {0};
    int status;
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WSTOPPED | WNOWAIT) != 0)
        if (errno != EINTR) return -1;
    if (info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED) return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WSTOPSIG(status);
}

static void arm(pid_t child) {
    ptrace(PTRACE_POKETEXT, child, (void *)unit_entry, (void *)((original & ~0xfful) | BREAKPOINT));
}

/* Goes on until the child ends, or comes to the entry; passes its signals on. Returns whether it came there. */
static int reach_entry(pid_t child, struct user_regs_struct *registers) {
    for (int signal = 0;;) {
        if (ptrace(PTRACE_CONT, child, NULL, (void *)(long)signal) != 0) return 0;
        signal = next_stop(child);
        if (signal < 0) return 0;
        if (signal != SIGTRAP) continue;
        ptrace(PTRACE_GETREGS, child, NULL, registers);
        if (registers->rip == unit_entry + 1) return 1;
    }
}

/* Single steps from the entry to the return. Returns 1 there, -1 where the child has ended, 0 where the time has. */
static int step_to_return(pid_t child, unsigned long stack, time_t until) {
    struct user_regs_struct registers;
    int signal = 0;
    counted_instructions = 0;
    while (time(NULL) < until) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)signal) != 0) return -1;
        signal = next_stop(child);
        if (signal < 0) return -1;
        if (signal == SIGTRAP) signal = 0;
        if (!signal) counted_instructions++;
        ptrace(PTRACE_GETREGS, child, NULL, &registers);
        if (registers.rsp > stack) return 1;
    }
    counted_instructions = 0;
    return 0;
}

static void be_counted(void) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
}

/* Waits for the end without reaping; of several calls the last one counts. Returns whether the time was over first. */
static int count_until_end(pid_t child, uint64_t milliseconds) {
    struct user_regs_struct registers;
    time_t until = time(NULL) + (time_t)(milliseconds / 1000) + 1;
    counted_instructions = 0;
    if (next_stop(child) < 0) return 0;
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL);
    original = ptrace(PTRACE_PEEKTEXT, child, (void *)unit_entry, NULL);
    arm(child);
    while (reach_entry(child, &registers)) {
        registers.rip = unit_entry;
        ptrace(PTRACE_POKETEXT, child, (void *)unit_entry, (void *)original);
        ptrace(PTRACE_SETREGS, child, NULL, &registers);
        int stepped = step_to_return(child, registers.rsp, until);
        if (stepped <= 0) return stepped == 0;
        arm(child);
    }
    return 0;
}
