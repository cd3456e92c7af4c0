//! How a confined process begins.
//!
//! It shares the memory of its parent, whose thread waits, until it executes the program: copying the page tables of a large
//! process would cost more than everything else. So nothing here but system calls runs between.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_void};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use libc::{c_int, c_long, c_ulong};
use seccompiler::BpfProgram;

use crate::tool::{ToolDomain, ToolLaunch, ToolPipes};
use crate::{Confinement, Launch, Layers, TestDomain};

const STACK_BYTES: usize = 1 << 17;
/// `SECBIT_NOROOT` and `SECBIT_NOROOT_LOCKED`.
const NO_PRIVILEGED_ROOT: c_int = 3;
/// Version 3 of Linux's capabilities.
const CAPABILITIES: u32 = 0x2008_0522;

/// A started process. It is ended and reaped when this goes, with all that it has started where it is confined.
#[derive(Debug)]
pub struct Started {
    process: i32,
    has_group: bool,
    status: Option<c_int>,
}

impl Started {
    /// Returns its number.
    pub fn id(&self) -> i32 {
        self.process
    }

    /// Ends it. Does nothing if it has ended and was waited for.
    pub fn kill(&self) {
        if self.status.is_none() {
            let target = if self.has_group { -self.process } else { self.process };
            // SAFETY: only numbers go in, and the process is not reaped yet, so nobody else has its number.
            unsafe { libc::kill(target, libc::SIGKILL) };
        }
    }

    /// Waits until it has ended, and leaves it to be reaped: until then nobody else gets its number.
    pub fn wait_for_end(&self) {
        // SAFETY: the pointer is to a variable that lives until the call returns.
        unsafe {
            let mut info = std::mem::zeroed();
            let process = self.process.unsigned_abs();
            while libc::waitid(libc::P_PID, process, &raw mut info, libc::WEXITED | libc::WNOWAIT) != 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
    }

    /// Waits for its end, but no longer than this. Returns whether it has ended.
    pub fn ends_within(&self, time: Duration) -> bool {
        let begin = Instant::now();
        while self.is_running() {
            if begin.elapsed() > time {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    fn is_running(&self) -> bool {
        if self.status.is_some() {
            return false;
        }
        // SAFETY: the pointer is to a variable that lives until the call returns.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
            let asked = libc::waitid(libc::P_PID, self.process.unsigned_abs(), &raw mut info, flags);
            asked == 0 && info.si_pid() == 0
        }
    }

    /// Waits for its end and returns its status.
    pub fn wait(&mut self) -> io::Result<std::process::ExitStatus> {
        use std::os::unix::process::ExitStatusExt;
        if self.status.is_none() && self.has_group {
            self.wait_for_end();
            self.kill();
        }
        while self.status.is_none() {
            let mut status = 0;
            // SAFETY: the pointer is to a variable that lives until the call returns.
            match unsafe { libc::waitpid(self.process, &raw mut status, 0) } {
                -1 => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error => return Err(error),
                },
                _ => self.status = Some(status),
            }
        }
        Ok(std::process::ExitStatus::from_raw(self.status.unwrap_or_default()))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
        let _ = self.wait();
    }
}

/// All that the new process needs, ready for system calls.
struct Plan<'a> {
    /// Arguments, the program first, and environment; nothing where it only tries whether it can begin.
    execute: Option<[*const *const c_char; 2]>,
    folder: Option<&'a CString>,
    /// Open files, and the numbers that they get.
    open: Vec<(RawFd, RawFd)>,
    /// Of namespaces.
    flags: c_int,
    /// Of user and group, where there are namespaces.
    maps: Option<[CString; 2]>,
    /// It begins a group of processes, which is ended with it.
    own_group: bool,
    /// Its addresses are the same in every run.
    fixed_addresses: bool,
    confined: bool,
    /// The privileges that it keeps, as bits of Linux's capabilities.
    privileges: u32,
    limits: Vec<(libc::__rlimit_resource_t, u64)>,
    rules: Option<RawFd>,
    filters: Vec<libc::sock_fprog>,
    failure: Option<Failure>,
}

impl Plan<'_> {
    /// Returns the plan of a process that tries only whether it can begin.
    fn empty() -> Self {
        Plan {
            execute: None,
            folder: None,
            open: Vec::new(),
            flags: 0,
            maps: None,
            own_group: false,
            fixed_addresses: false,
            confined: false,
            privileges: 0,
            limits: Vec::new(),
            rules: None,
            filters: Vec::new(),
            failure: None,
        }
    }
}

/// Where it stopped and why.
#[derive(Debug, Copy, Clone)]
struct Failure {
    doing: &'static str,
    errno: c_int,
}

/// Starts the program; returns it with what it writes.
pub(crate) fn start(
    confinement: &Confinement,
    launch: &Launch<'_>,
    rules: Option<OwnedFd>,
    filters: &[BpfProgram],
) -> io::Result<(Started, File)> {
    let (output, input) = io::pipe()?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let [arguments, environment] = [arguments(launch)?, environment(launch)?];
    let (argument_list, variable_list) = (list(&arguments), list(&environment));
    let folder = text(launch.folder.as_os_str())?;
    let layers = confinement.layers;
    let flags = if layers.namespaces { namespaces(confinement.own_numbers) } else { 0 };
    let mut plan = Plan {
        execute: Some([argument_list.as_ptr(), variable_list.as_ptr()]),
        folder: Some(&folder),
        open: opened(launch, &null, input.as_raw_fd()),
        flags,
        maps: if flags == 0 { None } else { Some(maps()?) },
        own_group: true,
        fixed_addresses: true,
        confined: layers.landlock > 0 || layers.filter,
        limits: confinement.limits(),
        rules: rules.as_ref().map(AsRawFd::as_raw_fd),
        filters: filters.iter().map(program_of).collect(),
        ..Plan::empty()
    };
    Ok((begin(&mut plan)?, File::from(OwnedFd::from(output))))
}

/// Starts a tool; returns it with the other ends of what it reads and writes.
pub(crate) fn start_tool(
    launch: &ToolLaunch<'_>,
    rules: Option<OwnedFd>,
    filters: &[BpfProgram],
) -> io::Result<(Started, ToolPipes)> {
    let ((input, to_input), (from_output, output), (from_errors, errors)) = (io::pipe()?, io::pipe()?, io::pipe()?);
    let arguments = launch.words().map(text).collect::<io::Result<Vec<_>>>()?;
    let environment = launch.variables().map(|variable| text(&variable)).collect::<io::Result<Vec<_>>>()?;
    let (argument_list, variable_list) = (list(&arguments), list(&environment));
    let mut plan = Plan {
        execute: Some([argument_list.as_ptr(), variable_list.as_ptr()]),
        open: vec![(input.as_raw_fd(), 0), (output.as_raw_fd(), 1), (errors.as_raw_fd(), 2)],
        own_group: launch.domain != ToolDomain::Inherited,
        confined: matches!(launch.domain, ToolDomain::New(layers, _) if layers != Layers::NONE),
        privileges: permitted_privileges() & READ_ALL,
        limits: launch.limits(),
        rules: rules.as_ref().map(AsRawFd::as_raw_fd),
        filters: filters.iter().map(program_of).collect(),
        ..Plan::empty()
    };
    let started = begin(&mut plan)?;
    let pipes = [OwnedFd::from(to_input), OwnedFd::from(from_output), OwnedFd::from(from_errors)].map(File::from);
    let [input, output, errors] = pipes;
    Ok((started, ToolPipes { input, output, errors }))
}

/// `CAP_DAC_READ_SEARCH`: root reads files of others, such as those of a folder that a container shares.
const READ_ALL: u32 = 1 << 2;

/// Returns the privileges that this process may use.
fn permitted_privileges() -> u32 {
    let (header, mut sets) = ([CAPABILITIES, 0], [0u32; 6]);
    // SAFETY: the header and the sets have the sizes that this version demands.
    let asked = unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()) };
    if asked == 0 { sets[1] } else { 0 }
}

/// Returns whether a process can begin in namespaces of its own.
pub(crate) fn namespaces_work() -> bool {
    let Ok(maps) = maps() else { return false };
    let mut plan = Plan { flags: namespaces(true), maps: Some(maps), ..Plan::empty() };
    begin(&mut plan).and_then(|mut tried| tried.wait()).is_ok_and(|status| status.success())
}

fn namespaces(own_numbers: bool) -> c_int {
    let numbers = if own_numbers { libc::CLONE_NEWPID } else { 0 };
    libc::CLONE_NEWUSER | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | numbers
}

fn text(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(io::Error::from)
}

fn arguments(launch: &Launch<'_>) -> io::Result<Vec<CString>> {
    let program = std::iter::once(launch.program.as_os_str());
    program.chain(launch.arguments.iter().map(OsString::as_os_str)).map(text).collect()
}

fn environment(launch: &Launch<'_>) -> io::Result<Vec<CString>> {
    launch.environment.iter().map(|(name, value)| text(OsStr::new(&format!("{name}={value}")))).collect()
}

/// Returns the pointers, with a null pointer behind them.
fn list(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

fn opened(launch: &Launch<'_>, null: &File, input: RawFd) -> Vec<(RawFd, RawFd)> {
    let null = null.as_raw_fd();
    let reports = launch.reports.as_ref().map(|file| (file.as_raw_fd(), Launch::REPORTS));
    let rules = launch.tests.and_then(|tests| Some((tests.rules.as_ref()?.as_raw_fd(), TestDomain::RULES)));
    let filter = launch.tests.and_then(|tests| Some((tests.filter.as_ref()?.as_raw_fd(), TestDomain::FILTER)));
    [(null, 0), (input, 1), (null, 2)].into_iter().chain(reports).chain(rules).chain(filter).collect()
}

/// Returns what makes user and group the same numbers in a namespace as outside.
fn maps() -> io::Result<[CString; 2]> {
    // SAFETY: both only read.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let map = |number: u32| CString::new(format!("{number} {number} 1\n")).map_err(io::Error::from);
    Ok([map(user)?, map(group)?])
}

fn program_of(filter: &BpfProgram) -> libc::sock_fprog {
    // Both structures are the kernel's.
    libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut().cast() }
}

fn begin(plan: &mut Plan<'_>) -> io::Result<Started> {
    let mut stack = vec![0u128; STACK_BYTES / size_of::<u128>()];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | plan.flags;
    let before = block_signals();
    // SAFETY: the stack is large enough for what `enter` calls and lives until the new process executes or ends, because
    // this thread waits for that. The plan is used by nobody else in between.
    let process = unsafe {
        let top = stack.as_mut_ptr_range().end.cast::<c_void>();
        libc::clone(enter, top, flags, std::ptr::from_mut(plan).cast())
    };
    let error = io::Error::last_os_error();
    restore_signals(&before);
    if process < 0 {
        return Err(io::Error::new(error.kind(), format!("cannot make a process: {error}")));
    }
    let started = Started { process, has_group: plan.own_group, status: None };
    match plan.failure {
        None => Ok(started),
        Some(Failure { doing, errno }) => {
            let error = io::Error::from_raw_os_error(errno);
            Err(io::Error::new(error.kind(), format!("cannot {doing}: {error}")))
        }
    }
}

fn block_signals() -> libc::sigset_t {
    // SAFETY: sets of signals are plain data, and the pointers live until the calls return.
    unsafe {
        let (mut all, mut before) = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    }
}

fn restore_signals(before: &libc::sigset_t) {
    // SAFETY: the pointer lives until the call returns.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
}

/// Runs in the new process. Only system calls from here on: it has its parent's memory, locks included.
extern "C" fn enter(plan: *mut c_void) -> c_int {
    // SAFETY: `begin` passes its plan, and waits.
    let plan = unsafe { &mut *plan.cast::<Plan<'_>>() };
    match prepare(plan) {
        Ok(()) => 0,
        Err(failure) => {
            plan.failure = Some(failure);
            127
        }
    }
}

fn check(doing: &'static str, result: c_long) -> Result<c_long, Failure> {
    match result {
        -1 => Err(Failure { doing, errno: io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }),
        _ => Ok(result),
    }
}

fn prepare(plan: &mut Plan<'_>) -> Result<(), Failure> {
    if let Some(maps) = &plan.maps {
        write_maps(maps)?;
    }
    let Some([arguments, environment]) = plan.execute else { return Ok(()) };
    reset_signals();
    unblock_signals();
    // No filtered program leaves this group, so that all it has started can be ended with it. And Ctrl-C is for the parent
    // alone: a test that is running ends as it would without.
    if plan.own_group {
        // SAFETY: only numbers go in.
        check("begin a group of processes", c_long::from(unsafe { libc::setpgid(0, 0) }))?;
    }
    hand_over(plan)?;
    if let Some(folder) = plan.folder {
        // SAFETY: the text ends with a null character.
        check("enter the folder of tests", c_long::from(unsafe { libc::chdir(folder.as_ptr()) }))?;
    }
    if plan.fixed_addresses {
        fix_addresses();
    }
    plan.limits.iter().try_for_each(|&(resource, most)| set_limit(resource, most))?;
    if plan.confined {
        confine(plan)?;
    }
    // SAFETY: both lists end with a null pointer, and the first entry of the first is the program.
    check("execute it", c_long::from(unsafe { libc::execve(*arguments, arguments, environment) }))?;
    Ok(())
}

/// Makes a program that looks at its own addresses repeatable. Where a container forbids it, so be it.
fn fix_addresses() {
    // SAFETY: only numbers go in.
    unsafe {
        let now = libc::personality(0xffff_ffff);
        if now != -1 {
            libc::personality(now as c_ulong | libc::ADDR_NO_RANDOMIZE as c_ulong);
        }
    }
}

fn write_maps([user, group]: &[CString; 2]) -> Result<(), Failure> {
    write_file(c"/proc/self/setgroups", c"deny")?;
    write_file(c"/proc/self/uid_map", user)?;
    write_file(c"/proc/self/gid_map", group)
}

fn write_file(path: &CStr, text: &CStr) -> Result<(), Failure> {
    let doing = "name the user in a namespace";
    // SAFETY: both texts end with a null character; the length is that of the text.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(doing, c_long::from(file))?;
        let written = check(doing, libc::write(file, text.as_ptr().cast(), text.count_bytes()) as c_long);
        libc::close(file);
        written.map(|_| ())
    }
}

/// Takes back handlers of the parent, which must not run here.
fn reset_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: an action is plain data, and the pointers live until the calls return.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if action.sa_sigaction != libc::SIG_IGN || signal == libc::SIGPIPE {
                action = std::mem::zeroed();
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
    }
}

fn unblock_signals() {
    // SAFETY: a set of signals is plain data, and the pointers live until the calls return.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Gives open files their numbers, and marks all others to be closed.
fn hand_over(plan: &mut Plan<'_>) -> Result<(), Failure> {
    let doing = "hand over open files";
    // Above all numbers that are given, so that none is overwritten before it is used.
    let aside = |file: RawFd| check(doing, c_long::from(unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 200) }));
    for (file, _) in &mut plan.open {
        *file = aside(*file)? as RawFd;
    }
    if let Some(rules) = &mut plan.rules {
        *rules = aside(*rules)? as RawFd;
    }
    close_on_execution(3);
    for &(file, number) in &plan.open {
        // SAFETY: only numbers go in.
        check(doing, c_long::from(unsafe { libc::dup2(file, number) }))?;
    }
    Ok(())
}

fn close_on_execution(first: c_int) {
    const CLOSE_ON_EXECUTION: c_long = 4;
    // SAFETY: only numbers go in. Kernels before 5.11 do not know the flag.
    unsafe {
        if libc::syscall(libc::SYS_close_range, c_long::from(first), c_long::from(u32::MAX), CLOSE_ON_EXECUTION) != 0 {
            for file in first..=65535 {
                libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}

/// In this order: what comes later needs what earlier steps forbid.
fn confine(plan: &Plan<'_>) -> Result<(), Failure> {
    let privileges = "give up privileges";
    // SAFETY: the pointers live until the calls return; everything else is a number.
    unsafe {
        check(privileges, c_long::from(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)))?;
        check(privileges, c_long::from(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))?;
        // Root would get them back by executing. Who may not set this has none.
        libc::prctl(libc::PR_SET_SECUREBITS, NO_PRIVILEGED_ROOT);
        let kept = plan.privileges;
        let (header, sets) = ([CAPABILITIES, 0], [kept, kept, kept, 0, 0, 0]);
        check(privileges, libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()))?;
        if kept & READ_ALL != 0 {
            // Where a container forbids it, so be it.
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, c_ulong::from(READ_ALL.ilog2()), 0, 0);
        }
        if let Some(rules) = plan.rules {
            check("confine files", libc::syscall(libc::SYS_landlock_restrict_self, rules, 0))?;
        }
        for filter in &plan.filters {
            let program = std::ptr::from_ref(filter) as c_ulong;
            let set = libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, program, 0, 0);
            check("filter system calls", c_long::from(set))?;
        }
    }
    Ok(())
}

fn set_limit(resource: libc::__rlimit_resource_t, most: u64) -> Result<(), Failure> {
    // SAFETY: limits are plain data, and the pointers live until the calls return.
    unsafe {
        let mut limits: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(resource, &raw mut limits);
        limits.rlim_max = limits.rlim_max.min(most);
        limits.rlim_cur = limits.rlim_cur.min(most);
        check("limit its resources", c_long::from(libc::setrlimit(resource, &raw const limits))).map(|_| ())
    }
}
