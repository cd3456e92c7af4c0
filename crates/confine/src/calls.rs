//! System calls, by seccomp: what is not in a list fails with EPERM, and the program goes on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::OnceLock;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use crate::layers::{Layers, SCOPES, TRUNCATING};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Stands for the number of the process; greater than any that Linux gives.
pub(crate) const OWN_PROCESS: u32 = 0x7fff_4257;

/// Calls that act on nothing but the process, its open files and files that Landlock guards.
const HARMLESS: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_pkey_mprotect,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_msync,
    libc::SYS_mincore,
    libc::SYS_madvise,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_munlock,
    libc::SYS_mlockall,
    libc::SYS_munlockall,
    libc::SYS_membarrier,
    libc::SYS_brk,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_copy_file_range,
    libc::SYS_readahead,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_flock,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_signalfd4,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_memfd_create,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mknodat,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_umask,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    libc::SYS_times,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_capget,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrusage,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_prlimit64,
    libc::SYS_getpriority,
    libc::SYS_setpriority,
    libc::SYS_sched_yield,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_getcpu,
    libc::SYS_getrandom,
    libc::SYS_futex,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_personality,
    libc::SYS_prctl,
    libc::SYS_seccomp,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Older forms of the same.
#[cfg(target_arch = "x86_64")]
const HARMLESS_OLD: &[c_long] = &[
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_access,
    libc::SYS_pipe,
    libc::SYS_dup2,
    libc::SYS_pause,
    libc::SYS_alarm,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_rename,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_unlink,
    libc::SYS_symlink,
    libc::SYS_readlink,
    libc::SYS_mknod,
    libc::SYS_getpgrp,
    libc::SYS_time,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_signalfd,
    libc::SYS_getdents,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const HARMLESS_OLD: &[c_long] = &[];

/// Of `fcntl`: all but those that make the kernel signal others, hold up others who open a file, or widen a pipe.
const FCNTL: &[c_int] = &[
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
    libc::F_GETOWN,
    libc::F_GETLEASE,
    libc::F_GETPIPE_SZ,
    libc::F_ADD_SEALS,
    libc::F_GET_SEALS,
];

/// Of `ioctl`: those that ask.
const IOCTL: &[libc::Ioctl] =
    &[libc::TCGETS, libc::TIOCGWINSZ, libc::TIOCGPGRP, libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX];

/// Calls that signal processes.
const SIGNALS: &[c_long] =
    &[libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo];

/// Calls that change modes and owners of files, which Landlock does not guard.
#[cfg(target_arch = "x86_64")]
const PRETENDED: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
];
#[cfg(not(target_arch = "x86_64"))]
const PRETENDED: &[c_long] = &[libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_fchown, libc::SYS_fchownat];

/// Calls whose arguments are in memory, where no filter can see them. Programs know what to do where they are missing.
const ABSENT: &[c_long] = &[libc::SYS_clone3, libc::SYS_openat2];

const NEW_NAMESPACES: c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// The flags with which the leak sanitizer starts the process that stops the others.
const LEAK_SANITIZER: c_int = libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_UNTRACED;

/// Returns what is made once for the whole process.
fn kept<T>(place: &'static OnceLock<T>, make: impl FnOnce() -> io::Result<T>) -> io::Result<&'static T> {
    match place.get() {
        Some(kept) => Ok(kept),
        None => make().map(|made| place.get_or_init(|| made)),
    }
}

/// Returns the filters of a program, in the order in which they are set.
pub(crate) fn filters(layers: Layers, traces: bool) -> io::Result<&'static [BpfProgram]> {
    static KEPT: [OnceLock<Vec<BpfProgram>>; 4] = [const { OnceLock::new() }; 4];
    let truncates = layers.landlock == 0 || layers.landlock >= TRUNCATING;
    let place = &KEPT[usize::from(truncates) * 2 + usize::from(traces)];
    kept(place, || make_filters(truncates, traces)).map(Vec::as_slice)
}

fn make_filters(truncates: bool, traces: bool) -> io::Result<Vec<BpfProgram>> {
    let mut allowed: Rules = HARMLESS.iter().chain(HARMLESS_OLD).map(|&call| (call, Vec::new())).collect();
    allowed.insert(libc::SYS_fcntl, one_of(1, FCNTL.iter().map(|&command| command as u64))?);
    allowed.insert(libc::SYS_ioctl, one_of(1, IOCTL.iter().copied())?);
    allowed.insert(libc::SYS_clone, vec![rule(&[bits(0, NEW_NAMESPACES, 0)])?]);
    allowed.insert(libc::SYS_openat, opening(2)?);
    #[cfg(target_arch = "x86_64")]
    allowed.insert(libc::SYS_open, opening(1)?);
    if truncates {
        allowed.insert(libc::SYS_truncate, Vec::new());
    }
    if traces {
        allowed.insert(libc::SYS_ptrace, Vec::new());
    }
    let absent = ABSENT.iter().map(|&call| (call, Vec::new())).collect();
    // Where two filters refuse a call, the error is that of the later one.
    Ok(vec![
        compiled(allowed, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow)?,
        compiled(absent, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32))?,
    ])
}

/// Returns the filters of a tool, in the order in which they are set. It believes that it changes modes and owners of files, which
/// linkers do with what they have made, and nothing is changed.
pub(crate) fn tool_filters(layers: Layers) -> io::Result<&'static [BpfProgram]> {
    static KEPT: [OnceLock<Vec<BpfProgram>>; 4] = [const { OnceLock::new() }; 4];
    let truncates = layers.landlock == 0 || layers.landlock >= TRUNCATING;
    let scoped = layers.landlock >= SCOPES;
    let place = &KEPT[usize::from(truncates) * 2 + usize::from(scoped)];
    kept(place, || make_tool_filters(truncates, scoped)).map(Vec::as_slice)
}

fn make_tool_filters(truncates: bool, scoped: bool) -> io::Result<Vec<BpfProgram>> {
    let any = |calls: &[c_long]| -> Rules { calls.iter().map(|&call| (call, Vec::new())).collect() };
    let others = || -> io::Result<Vec<SeccompRule>> { Ok(vec![rule(&[is_not(0, 0)])?]) };
    // Without a scope of Landlock nothing tells others from itself. Who aborts then ends by another signal.
    let mut refused = if scoped { Rules::new() } else { any(SIGNALS) };
    refused.insert(libc::SYS_prlimit64, others()?);
    refused.insert(libc::SYS_sched_setaffinity, others()?);
    refused.insert(libc::SYS_setpriority, vec![rule(&[is_not(0, 0)])?, rule(&[is_not(1, 0)])?]);
    let mut filters = make_filters(truncates, false)?;
    filters.push(compiled(refused, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32))?);
    filters.push(compiled(any(PRETENDED), SeccompAction::Allow, SeccompAction::Errno(0))?);
    Ok(filters)
}

/// Truncates only what is opened for writing: opened otherwise, a file may be truncated that Landlock lets nobody write.
fn opening(flags: u8) -> io::Result<Vec<SeccompRule>> {
    let both = libc::O_TRUNC | libc::O_ACCMODE;
    Ok(vec![
        rule(&[bits(flags, libc::O_TRUNC, 0)])?,
        rule(&[bits(flags, both, libc::O_TRUNC | libc::O_WRONLY)])?,
        rule(&[bits(flags, both, libc::O_TRUNC | libc::O_RDWR)])?,
    ])
}

/// Returns the filter of a single test: no process but threads, no other program, no signal to others.
fn test_filter(traces: bool) -> io::Result<BpfProgram> {
    let others = [is_not(0, OWN_PROCESS)];
    let others_by_number = [is_not(0, 0), is_not(0, OWN_PROCESS)];
    let refused = |call: c_long| (call, Vec::new());
    let mut rules: Rules = [
        refused(libc::SYS_execve),
        refused(libc::SYS_execveat),
        refused(libc::SYS_memfd_create),
        (libc::SYS_clone, vec![processes(traces)?]),
        (libc::SYS_kill, vec![rule(&others)?]),
        (libc::SYS_tkill, vec![rule(&others)?]),
        (libc::SYS_tgkill, vec![rule(&others)?]),
        (libc::SYS_rt_sigqueueinfo, vec![rule(&others)?]),
        (libc::SYS_rt_tgsigqueueinfo, vec![rule(&others)?]),
        (libc::SYS_prlimit64, vec![rule(&others_by_number)?]),
        (libc::SYS_sched_setaffinity, vec![rule(&others_by_number)?]),
        (libc::SYS_setpriority, vec![rule(&[is_not(0, 0)])?, rule(&[is_not(1, 0)])?]),
    ]
    .into();
    #[cfg(target_arch = "x86_64")]
    rules.extend([refused(libc::SYS_fork), refused(libc::SYS_vfork)]);
    if !traces {
        rules.extend([refused(libc::SYS_ptrace)]);
    }
    compiled(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32))
}

fn processes(traces: bool) -> io::Result<SeccompRule> {
    let thread = bits(0, libc::CLONE_THREAD, 0);
    if traces { rule(&[thread, is_not(0, LEAK_SANITIZER as u32)]) } else { rule(&[thread]) }
}

/// Returns a file with the filter of a single test, as `struct sock_filter` has it. Nobody can change it.
pub(crate) fn test_filter_file(traces: bool) -> io::Result<&'static File> {
    static KEPT: [OnceLock<File>; 2] = [const { OnceLock::new() }; 2];
    kept(&KEPT[usize::from(traces)], || make_test_filter_file(traces))
}

fn make_test_filter_file(traces: bool) -> io::Result<File> {
    let mut bytes = Vec::new();
    for step in test_filter(traces)? {
        bytes.extend(step.code.to_ne_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
    }
    // SAFETY: the name is a string that ends with a null character.
    let file = unsafe { libc::memfd_create(c"filter".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the file was opened just now, and nobody else has it.
    let mut file = unsafe { File::from_raw_fd(file) };
    file.write_all(&bytes)?;
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: only numbers go in.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(file),
    }
}

fn compiled(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> io::Result<BpfProgram> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, otherwise, matched, architecture).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}

/// A condition on an argument: its number, how it compares, and with what.
type Condition = (u8, SeccompCmpOp, u64);

fn bits(argument: u8, mask: c_int, value: c_int) -> Condition {
    (argument, SeccompCmpOp::MaskedEq(u64::from(mask as u32)), u64::from(value as u32))
}

fn is_not(argument: u8, value: u32) -> Condition {
    (argument, SeccompCmpOp::Ne, u64::from(value))
}

/// Matches where all conditions do. The kernel looks at the lower half of these arguments only.
fn rule(conditions: &[Condition]) -> io::Result<SeccompRule> {
    let condition = |(argument, how, value): &Condition| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, how.clone(), *value)
    };
    let conditions = conditions.iter().map(condition).collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    SeccompRule::new(conditions).map_err(io::Error::other)
}

fn one_of(argument: u8, values: impl Iterator<Item = u64>) -> io::Result<Vec<SeccompRule>> {
    values.map(|value| rule(&[(argument, SeccompCmpOp::Eq, value)])).collect()
}
