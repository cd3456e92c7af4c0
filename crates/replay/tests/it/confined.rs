//! docs/reliability.md, row by row: programs that try what they may not do, with all layers and with those of an old kernel,
//! as root and as an ordinary user; and without confinement, to see that they try in earnest.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::support::*;
use branchwise_replay::{Harness, Layers, Limits, Mode, NativeEnd, Observation, Sandbox, Sanitizers};
use tempfile::TempDir;

const PROGRAMS: &str = include_str!("../canaries/canaries.c");
const NOBODY: u32 = 65534;

/// What must not be touched, and who must not be reached.
struct Canaries {
    folder: TempDir,
    victim: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    abstract_: UnixListener,
    /// A name for processes that try to stay.
    daemon: String,
    confined: Layers,
}

impl Canaries {
    fn new(confined: Layers) -> Canaries {
        let folder = tempfile::tempdir().unwrap();
        let daemon = format!("bw{:x}", std::ptr::from_ref(folder.path()).cast::<u8>() as usize & 0xffff_ffff);
        for name in named("").chain(["constructor", "constructor_writes"]) {
            fs::write(folder.path().join(name), "canary").unwrap();
            fs::create_dir(folder.path().join(format!("{name}.d"))).unwrap();
            fs::write(folder.path().join(format!("{name}.d/inside")), "canary").unwrap();
        }
        let listening = SocketAddr::from_abstract_name(&daemon).unwrap();
        let canaries = Canaries {
            victim: Command::new("sleep").arg("1000").spawn().unwrap(),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            unix: UnixListener::bind(folder.path().join("socket")).unwrap(),
            abstract_: UnixListener::bind_addr(&listening).unwrap(),
            folder,
            daemon,
            confined,
        };
        canaries.tcp.set_nonblocking(true).unwrap();
        canaries.udp.set_nonblocking(true).unwrap();
        canaries.unix.set_nonblocking(true).unwrap();
        canaries.abstract_.set_nonblocking(true).unwrap();
        canaries
    }

    /// The programs, preprocessed, as the front end gives them.
    fn code(&self) -> String {
        let define = |name: &str, value: String| format!("-D{name}={value}");
        let scoped = self.confined.namespaces || self.confined.landlock >= 6;
        // SAFETY: it only reads.
        let user = unsafe { libc::geteuid() };
        let output = Command::new("clang-19")
            .args(["-E", "-P", "-x", "c", "-std=gnu11"])
            .arg(define("FOLDER", format!("{:?}", self.folder.path())))
            .arg(define("VICTIM", self.victim.id().to_string()))
            .arg(define("TCP_PORT", self.tcp.local_addr().unwrap().port().to_string()))
            .arg(define("UDP_PORT", self.udp.local_addr().unwrap().port().to_string()))
            .arg(define("ABSTRACT", format!("{:?}", self.daemon)))
            .arg(define("DAEMON", format!("{:?}", self.daemon)))
            .arg(define("SIGNALS_ARE_SCOPED", i32::from(scoped).to_string()))
            .arg(define("USER", user.to_string()))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/canaries/canaries.c"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn state(&self) -> BTreeMap<PathBuf, (u32, u32, i64, u64, Vec<u8>)> {
        let mut state = BTreeMap::new();
        let mut waiting = vec![self.folder.path().to_owned()];
        while let Some(path) = waiting.pop() {
            let status = fs::symlink_metadata(&path).unwrap();
            let bytes = if status.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            if status.is_dir() {
                waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            state.insert(path, (status.mode(), status.uid(), status.mtime_nsec(), status.nlink(), bytes));
        }
        state
    }

    fn assert_nobody_reached(&mut self) {
        assert!(self.victim.try_wait().unwrap().is_none(), "the other process was ended");
        let status = fs::read_to_string(format!("/proc/{}/stat", self.victim.id())).unwrap();
        assert!(status.contains(") S "), "the other process was stopped: {status}");
        // SAFETY: it only reads.
        let priority = unsafe { libc::getpriority(libc::PRIO_PROCESS, self.victim.id()) };
        assert_ne!(priority, 19, "the other process was put back");
        assert!(self.tcp.accept().is_err(), "a TCP connection arrived");
        assert!(self.udp.recv(&mut [0; 9]).is_err(), "a datagram arrived");
        assert!(self.unix.accept().is_err(), "a local connection arrived");
        assert!(self.abstract_.accept().is_err(), "a connection to an abstract name arrived");
        let begin = Instant::now();
        // Whoever is killed may take a moment to go.
        while !self.daemons().is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(5), "processes stayed: {:?}", self.daemons());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn daemons(&self) -> Vec<u32> {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_daemon = |process: &u32| {
            fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim() == self.daemon)
        };
        numbers.filter(is_daemon).collect()
    }

    fn end_daemons(&self) {
        for process in self.daemons() {
            // SAFETY: only numbers go in; the process bears a name that this test gave.
            unsafe { libc::kill(process as i32, libc::SIGKILL) };
        }
    }

    /// Each program in a test of its own, and one harmless test behind them.
    fn run(&self, names: &[&str]) -> Vec<Observation> {
        let (mut sample, types) = Sample::new(&format!("{}\nint harmless(int a) {{ return a + 1; }}\n", self.code()));
        let functions: Vec<_> = names.iter().map(|name| sample.int_function(name, &types)).collect();
        let last = sample.int_function("harmless", &types);
        let sandbox = Sandbox { mode: Mode::Auto, layers: self.confined };
        let limits = Limits { milliseconds: 1500, sandbox, ..Limits::default() };
        let mut harness = sample.try_build(limits).unwrap();
        let mut cases: Vec<_> = functions.iter().map(|&function| case(function, vec![int(0)], vec![])).collect();
        cases.push(case(last, vec![int(41)], vec![]));
        if self.confined != Layers::NONE {
            harness.measure(&cases).unwrap();
        }
        let mut seen = harness.run(&cases).unwrap();
        let last = seen.pop().unwrap();
        assert_eq!(last.result, Some(int(42)), "tests behind go on: {last:?}, {:?}", ends(names, &seen));
        seen
    }
}

impl Drop for Canaries {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        self.end_daemons();
    }
}

/// The programs of a kind; all of them for "".
fn named(kind: &'static str) -> impl Iterator<Item = &'static str> {
    PROGRAMS.lines().filter_map(move |line| {
        let (found, rest) = line.split_once('(')?;
        let is_one = ["ACTS", "HOSTILE", "NEEDED"].contains(&found) && (kind.is_empty() || found == kind);
        is_one.then(|| rest.split(')').next())?
    })
}

fn ends<'a>(names: &[&'a str], seen: &[Observation]) -> Vec<(&'a str, NativeEnd, Option<i32>)> {
    names.iter().zip(seen).map(|(name, seen)| (*name, seen.end, result(seen))).collect()
}

fn result(seen: &Observation) -> Option<i32> {
    let bytes = &seen.result.as_ref()?.bytes;
    Some(i32::from_le_bytes(bytes[..].try_into().ok()?))
}

fn assert_confined(layers: Layers) {
    let mut canaries = Canaries::new(layers);
    let before = canaries.state();
    let hostile: Vec<_> = named("ACTS").chain(named("HOSTILE")).collect();
    let seen = canaries.run(&hostile);
    for (name, seen) in hostile.iter().zip(&seen) {
        assert_ne!(result(seen), Some(0), "{name} could");
        let refused = [
            libc::EPERM,
            libc::EACCES,
            libc::ENOSYS,
            libc::EXDEV,
            libc::EROFS,
            libc::ENOENT,
            libc::ENOTTY,
            libc::ENOMEM,
        ];
        let end_is_fine = match seen.end {
            NativeEnd::Returned => result(seen).is_some_and(|error| refused.contains(&error) || error == 255),
            NativeEnd::Exited(7) => name.contains("handler") || name.contains("destructor"),
            end => end == NativeEnd::Signal(libc::SIGSYS) && name.contains("assembly"),
        };
        assert!(end_is_fine, "{name}: {:?} {:?}", seen.end, result(seen));
    }
    assert_eq!(canaries.state(), before);
    canaries.assert_nobody_reached();
    let needed: Vec<_> = named("NEEDED").collect();
    for (name, seen) in needed.iter().zip(canaries.run(&needed)) {
        assert_eq!((result(&seen), seen.end), (Some(0), NativeEnd::Returned), "{name} is needed");
    }
}

fn all_layers() -> Layers {
    let layers = Layers::of_this_machine();
    assert_eq!(layers.missing(), [], "this machine cannot confine, so nothing can be tested here");
    layers
}

#[test]
fn nothing_is_touched_with_all_layers() {
    assert_confined(all_layers());
}

#[test]
fn nothing_is_touched_with_the_layers_of_an_old_kernel() {
    assert_confined(all_layers().as_on_an_old_kernel());
}

/// Without confinement each of them can, or the tests above show nothing.
#[test]
fn without_confinement_they_act() {
    let canaries = Canaries::new(Layers::NONE);
    let before = canaries.state();
    let names: Vec<_> = named("ACTS").collect();
    for (name, seen) in names.iter().zip(canaries.run(&names)) {
        assert_eq!((result(&seen), seen.end), (Some(0), NativeEnd::Returned), "{name} cannot even without confinement");
    }
    assert_ne!(canaries.state(), before);
    assert!(canaries.tcp.accept().is_ok() && canaries.unix.accept().is_ok() && canaries.abstract_.accept().is_ok());
    let constructor = canaries.folder.path().join("constructor");
    assert!(!constructor.exists(), "the constructor ran");
}

/// Runs the tests above once more, as somebody else.
#[test]
fn an_ordinary_user_is_held_alike() {
    // SAFETY: it only reads.
    let is_root = unsafe { libc::geteuid() } == 0;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (program, room) = (folder.path().join("tests"), folder.path().join("room"));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::create_dir(&room).unwrap();
    let mut command = match is_root {
        true => {
            chown(&room, Some(NOBODY), Some(NOBODY)).unwrap();
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program);
            command
        }
        false => Command::new(&program),
    };
    let output = command.arg("nothing_is_touched").env("TMPDIR", &room).current_dir(&room).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("2 passed"), "{text}");
}

fn harness_of(code: &str, limits: Limits) -> (Harness, branchwise_program::FunctionId) {
    let (mut sample, types) = Sample::new(code);
    let function = sample.int_function("f", &types);
    (sample.try_build(limits).unwrap(), function)
}

const FILLING: &str =
    "int open(const char *, int, ...); long write(int, const void *, unsigned long); int unlink(const char *);
    static char block[1 << 20];
    int f(int a) {
        for (int i = 0; i < 100; i++) {
            char name[] = \"00\"; name[0] += i / 10; name[1] += i % 10;
            int file = open(name, 0101, 0600);
            if (a) unlink(name);
            for (int j = 0; j < 60; j++) if (write(file, block, sizeof block) < 0) return 1;
        }
        return 0;
    }";

#[test]
fn gigabytes_of_output_are_stopped_also_in_removed_files() {
    for layers in [all_layers(), all_layers().as_on_an_old_kernel()] {
        let sandbox = Sandbox { mode: Mode::Auto, layers };
        let limits = Limits { milliseconds: 60_000, sandbox, ..Limits::default() };
        let (mut harness, f) = harness_of(FILLING, limits);
        let seen = harness.run(&[0, 1].map(|a| case(f, vec![int(a)], vec![]))).unwrap();
        assert_eq!([seen[0].end, seen[1].end], [NativeEnd::Signal(libc::SIGKILL); 2]);
    }
}

/// Writes into a chain of folders, or keeps removed files by mapping them.
const HIDING: &str =
    "int open(const char *, int, ...); long write(int, const void *, unsigned long); int unlink(const char *);
    int mkdir(const char *, unsigned); int chdir(const char *); int close(int);
    void *mmap(void *, unsigned long, int, int, int, long); unsigned sleep(unsigned);
    static char block[1 << 20], name[201];
    int f(int a) {
        for (int i = 0; i < 200; i++) name[i] = 'n';
        for (int i = 0; i < 40; i++) {
            if (!a && (mkdir(name, 0700) || chdir(name))) return 1;
            if (!a && i < 30) continue;
            int file = open(\"f\", 0102, 0600);
            for (int j = 0; j < 60; j++) if (write(file, block, sizeof block) < 0) return 2;
            if (a && mmap(0, 4096, 1, 1, file, 0) == (void *)-1) return 3;
            close(file);
            if (a) unlink(\"f\");
        }
        for (;;) sleep(1);
    }";

#[test]
fn gigabytes_of_output_are_stopped_where_no_path_leads_to_them() {
    let (mut harness, f) = harness_of(HIDING, Limits { milliseconds: 60_000, ..Limits::default() });
    let seen = harness.run(&[0, 1].map(|a| case(f, vec![int(a)], vec![]))).unwrap();
    assert_eq!([seen[0].end, seen[1].end], [NativeEnd::Signal(libc::SIGKILL); 2]);
    let again = harness.run(&[case(f, vec![int(0)], vec![])]).unwrap();
    assert_eq!(again[0].end, NativeEnd::Signal(libc::SIGKILL), "it finds an empty folder, where it can make its own");
}

#[test]
fn memory_is_limited_also_with_sanitizers() {
    let code = "void *malloc(unsigned long); void *memset(void *, int, unsigned long);
        int f(int a) { for (int i = 0; i < a; i++) { char *p = malloc(64 << 20); if (!p) return 1; memset(p, 1, 64 << 20); } return 0; }";
    let (mut harness, f) = harness_of(code, Limits { milliseconds: 10_000, ..Limits::default() });
    let cases = [2, 160].map(|a| case(f, vec![int(a)], vec![]));
    let seen = harness.run_sanitized(Sanitizers::Usual, &cases).unwrap();
    assert_eq!([seen[0].end, seen[1].end], [NativeEnd::Returned, NativeEnd::Signal(libc::SIGKILL)]);
}

#[test]
fn a_constructor_that_does_not_end_is_stopped_like_a_test() {
    let code = "__attribute__((constructor)) static void begin(void) { for (;;) {} }
        int f(int a) { return a; }";
    let (mut harness, f) = harness_of(code, Limits { milliseconds: 10, ..Limits::default() });
    assert_eq!(harness.run(&[case(f, vec![int(0)], vec![])]).unwrap()[0].end, NativeEnd::TimeLimit);
}

#[test]
fn code_before_constructors_that_does_not_end_is_an_error_and_no_wait() {
    let code = "static void begin(void) { for (;;) {} }
        __attribute__((section(\".preinit_array\"), used)) static void (*const first)(void) = begin;
        int f(int a) { return a; }";
    let (mut harness, f) = harness_of(code, Limits { milliseconds: 10, ..Limits::default() });
    let error = harness.run(&[case(f, vec![int(0)], vec![])]).unwrap_err().to_string();
    assert!(error.contains("does a constructor of the file not end?"), "{error}");
}

#[test]
fn open_files_of_the_caller_are_closed() {
    let mut ends = [0; 2];
    // SAFETY: there is room for two numbers. Both are open on execution, as those that a shell leaves.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    let code = "int fcntl(int, int, ...); int f(int a) {
        int open = 0; for (int i = 3; i < 1024; i++) open += fcntl(i, 1) >= 0; return open; }";
    let (mut harness, f) = harness_of(code, Limits::default());
    let seen = harness.run(&[case(f, vec![int(0)], vec![])]).unwrap();
    assert_eq!(result(&seen[0]), Some(0));
    // SAFETY: they were opened above.
    assert_eq!(ends.map(|end| unsafe { libc::close(end) }), [0; 2]);
}

#[test]
fn nothing_of_the_callers_environment_is_there() {
    let code = "char *getenv(const char *); int f(int a) { return getenv(\"HOME\") != 0 || getenv(\"CARGO\") != 0; }";
    let (mut harness, f) = harness_of(code, Limits::default());
    assert_eq!(result(&harness.run(&[case(f, vec![int(0)], vec![])]).unwrap()[0]), Some(0));
}
