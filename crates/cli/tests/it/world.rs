//! No test acts on the world: canaries that the functions of a program would touch.

use crate::support::folder::{self, Folder};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value as Json;

use crate::support::tool;

const HEADERS: &str = "\
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>
";

/// Statements that touch a canary: `FILE` is one, `NEW` a name beside it, `DIR` their folder, `PORT` listens and `PID` is
/// a process.
const ACTS: [&str; 62] = [
    "return remove(FILE);",
    "return rename(FILE, NEW);",
    "return renameat(AT_FDCWD, FILE, AT_FDCWD, NEW);",
    "return unlink(FILE);",
    "return unlinkat(AT_FDCWD, FILE, 0);",
    "return rmdir(EMPTY);",
    "return mkdir(NEW, 0777);",
    "return mkdirat(AT_FDCWD, NEW, 0777);",
    "return mkfifo(NEW, 0666);",
    "return mknod(NEW, S_IFREG | 0666, 0);",
    "return link(FILE, NEW);",
    "return linkat(AT_FDCWD, FILE, AT_FDCWD, NEW, 0);",
    "return symlink(FILE, NEW);",
    "return symlinkat(FILE, AT_FDCWD, NEW);",
    "return chmod(FILE, 0777);",
    "return fchmodat(AT_FDCWD, FILE, 0777, 0);",
    "return chown(FILE, 12345, 12345);",
    "return lchown(FILE, 12345, 12345);",
    "return truncate(FILE, 0);",
    "return utime(FILE, 0);",
    "return utimes(FILE, 0);",
    "return setxattr(FILE, \"user.a\", \"b\", 1, 0);",
    "int fd = open(FILE, O_WRONLY | O_TRUNC); if (fd < 0) return 1; return write(fd, \"x\", 1);",
    "int fd = open(NEW, O_WRONLY | O_CREAT, 0666); return ftruncate(fd, 9);",
    "return openat(AT_FDCWD, NEW, O_WRONLY | O_CREAT, 0666) < 0;",
    "return creat(FILE, 0666) < 0;",
    "FILE *f = fopen(FILE, \"w\"); if (!f) return 1; fputs(\"x\", f); return fclose(f);",
    "FILE *f = fopen64(FILE, \"a\"); if (!f) return 1; fputs(\"x\", f); return fclose(f);",
    "FILE *f = freopen(FILE, \"w\", stderr); return !f;",
    "FILE *f = popen(\"touch \" NEW, \"r\"); return f ? pclose(f) : 1;",
    "return system(\"rm \" FILE);",
    "char name[] = DIR \"/XXXXXX\"; return mkstemp(name) < 0;",
    "char name[] = DIR \"/XXXXXX\"; return mkdtemp(name) == 0;",
    "return execl(\"/bin/rm\", \"rm\", FILE, (char *)0);",
    "return execlp(\"rm\", \"rm\", FILE, (char *)0);",
    "char *const a[] = {\"rm\", FILE, 0}; return execv(\"/bin/rm\", a);",
    "char *const a[] = {\"rm\", FILE, 0}; return execve(\"/bin/rm\", a, a + 2);",
    "char *const a[] = {\"rm\", FILE, 0}; return execvp(\"rm\", a);",
    "char *const a[] = {\"rm\", FILE, 0}; pid_t p; return posix_spawn(&p, \"/bin/rm\", 0, 0, a, a + 2);",
    "pid_t p = fork(); if (p == 0) { unlink(FILE); _exit(0); } return waitpid(p, 0, 0) < 0;",
    "pid_t p = vfork(); if (p == 0) _exit(3); return p < 0;",
    "return syscall(SYS_unlink, FILE) < 0;",
    "return kill(PID, SIGKILL);",
    "return kill(-PID, SIGKILL);",
    "return killpg(PID, SIGKILL);",
    "return daemon(0, 0);",
    "struct sockaddr_in a; memset(&a, 0, sizeof a); a.sin_family = AF_INET; a.sin_port = htons(PORT); \
     a.sin_addr.s_addr = htonl(0x7f000001); int s = socket(AF_INET, SOCK_STREAM, 0); if (s < 0) return 1; \
     return connect(s, (struct sockaddr *)&a, sizeof a);",
    "int p[2]; if (pipe(p)) return 1; return p[0] > p[1];",
    "return chdir(\"/\");",
    "return chroot(DIR);",
    "return mount(DIR, DIR, \"tmpfs\", 0, 0);",
    "return umount(DIR);",
    "return reboot(RB_DISABLE_CAD);",
    "return setuid(12345);",
    "return setgid(12345);",
    "return prctl(PR_SET_NAME, \"x\") != 0;",
    "return ioctl(0, TIOCSTI, \"x\") != 0;",
    "return mmap(0, 4096, PROT_WRITE, MAP_SHARED, 3, 0) == MAP_FAILED;",
    "return shm_open(\"/branchwise-canary\", O_CREAT | O_RDWR, 0666) < 0;",
    "return sem_open(\"/branchwise-canary\", O_CREAT, 0666, 1) == SEM_FAILED;",
    "return fcntl(1, F_SETFL, O_NONBLOCK);",
    "return settimeofday(0, 0);",
];

/// A folder with a file, a listener and a process.
struct Canaries {
    folder: Folder,
    listener: TcpListener,
    process: Child,
}

impl Canaries {
    fn new() -> Canaries {
        let folder = folder::temporary();
        fs::create_dir(folder.path().join("empty")).expect("a writable folder");
        fs::write(folder.path().join("file"), "canary").expect("a writable folder");
        let mode = fs::Permissions::from_mode(0o640);
        fs::set_permissions(folder.path().join("file"), mode).expect("an own file");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        let process = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("a process");
        Canaries { folder, listener, process }
    }

    /// What a program says before its functions.
    fn definitions(&self) -> String {
        let folder = self.folder.path().display();
        let port = self.listener.local_addr().expect("an address").port();
        let process = self.process.id();
        format!(
            "#define DIR \"{folder}\"\n#define FILE_NAME \"{folder}/file\"\n#define NEW \"{folder}/new\"\n\
             #define EMPTY \"{folder}/empty\"\n#define PORT {port}\n#define PID {process}\n"
        )
    }

    /// Fails where something has touched one of them.
    fn assert_untouched(&mut self, after: &str) {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .expect("the folder is there")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["empty", "file"], "after {after}");
        let file = self.folder.path().join("file");
        assert_eq!(fs::read_to_string(&file).expect("the file"), "canary", "after {after}");
        let mode = fs::metadata(&file).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "after {after}");
        assert!(self.listener.accept().is_err(), "somebody has connected after {after}");
        assert!(self.process.try_wait().expect("a child").is_none(), "the process has ended after {after}");
        for name in ["branchwise-canary", "sem.branchwise-canary"] {
            assert!(!Path::new("/dev/shm").join(name).exists(), "{name} is there after {after}");
        }
    }
}

impl Drop for Canaries {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn branchwise(arguments: &[&str], folder: &Path) -> tool::Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    command.current_dir(folder).args(arguments);
    tool::run(command, folder)
}

/// Compiles emitted tests as their first lines say, and runs them; what they print.
fn compiled_and_run(compiler: &str, tests: &Path, libraries: &[&str], folder: &Path) -> String {
    let program = folder.join("tests");
    let mut command = Command::new(compiler);
    command.arg("-w").arg(tests).args(libraries).arg("-o").arg(&program).current_dir(folder);
    let compiled = tool::run(command, folder);
    assert_eq!(compiled.status, Some(0), "{}", compiled.errors);
    let empty = folder.join("run");
    let _ = fs::create_dir(&empty);
    let mut command = Command::new(&program);
    command.current_dir(&empty);
    let run = tool::run(command, folder);
    let left: Vec<PathBuf> =
        fs::read_dir(&empty).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    assert!(left.is_empty(), "the tests have written {left:?}");
    assert_eq!(run.status, Some(0), "{}{}", run.output, run.errors);
    run.output
}

/// Generates tests for a program, replays them and runs what was emitted; the report.
fn exercised(name: &str, text: &str, compilers: &[&str], canaries: &mut Canaries) -> Json {
    let folder = folder::temporary();
    fs::write(folder.path().join(name), text).expect("a writable folder");
    let options = ["--steps", "60", "--jobs", "2", "--findings", "met"];
    let run = tool::generate(&folder.path().join(name), &options, &[], folder.path());
    let json = run.json().unwrap_or_else(|error| panic!("{error}"));
    canaries.assert_untouched("generate");
    let again = branchwise(&["replay", "out"], folder.path());
    assert_eq!(again.status, Some(0), "{}{}", again.output, again.errors);
    canaries.assert_untouched("replay");
    let (stem, ending) = name.split_once('.').expect("a name with an ending");
    let tests = folder.path().join("out").join(format!("{stem}_test.{ending}"));
    for compiler in compilers {
        compiled_and_run(compiler, &tests, &["-lm"], folder.path());
        canaries.assert_untouched(compiler);
    }
    json
}

fn covered(json: &Json, name: &str) -> (u64, u64) {
    let functions = json["functions"].as_array().expect("functions");
    let function = functions.iter().find(|function| function["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let count = |key: &str| function["summary"][key].as_u64().expect("a number");
    (count("covered"), count("goals"))
}

pub fn no_function_of_c_touches_a_canary() {
    let mut canaries = Canaries::new();
    let mut text = HEADERS.to_owned() + &canaries.definitions();
    for (index, act) in ACTS.iter().enumerate() {
        // The type `FILE` and the name of the file.
        let act = act
            .replace("FILE *f", "struct _IO_FILE *f")
            .replace("FILE", "FILE_NAME")
            .replace("_IO_FILE_NAME", "_IO_FILE");
        text += &format!("static int act_{index}(void) {{ {act} }}\n");
        text += &format!("int f_{index}(int x) {{ if (x > 3 && act_{index}() == 0) return 1; return 0; }}\n");
    }
    text += "int other(int x) { if (x > 3) return 1; if (x > 5) return 2; return 0; }\n";
    let json = exercised("unit.c", &text, &["clang-19", "gcc"], &mut canaries);
    assert_eq!(json["replay"]["disagreements"].as_array().map(Vec::len), Some(0), "{:#}", json["replay"]);
    for (index, act) in ACTS.iter().enumerate() {
        let (covered, goals) = covered(&json, &format!("f_{index}"));
        assert_eq!(covered, goals, "the test does not choose what this returns: {act}");
    }
    let (covered, goals) = covered(&json, "other");
    assert_eq!((covered, goals), (3, 4));
}

/// Statements of C++ that touch a canary.
const CPP_ACTS: [&str; 13] = [
    "std::ofstream f(FILE_NAME); if (!f) return 1; f << \"x\"; f.close(); return f.good();",
    "std::ofstream f(NEW, std::ios::app); f << \"x\" << std::endl; return f.good() ? 2 : 3;",
    "std::fstream f; f.open(NEW, std::ios::out); return f.is_open();",
    "std::ifstream f(FILE_NAME); int c = f.get(); return c == 'c';",
    "return std::remove(FILE_NAME);",
    "return std::rename(FILE_NAME, NEW);",
    "return std::system(\"rm \" FILE_NAME);",
    "std::FILE *f = std::fopen(NEW, \"w\"); if (!f) return 1; return std::fclose(f);",
    "return unlink(FILE_NAME);",
    "return std::filesystem::remove_all(DIR) > 0;",
    "std::filesystem::create_directory(NEW); return 0;",
    "std::filesystem::copy_file(FILE_NAME, NEW); return 0;",
    "int n = 0; std::thread t([&n] { unlink(FILE_NAME); n = 1; }); t.join(); return n;",
];

pub fn no_function_of_cpp_touches_a_canary() {
    let mut canaries = Canaries::new();
    let mut text =
        "#include <chrono>\n#include <cstdio>\n#include <cstdlib>\n#include <filesystem>\n#include <fstream>\n\
                    #include <thread>\n#include <unistd.h>\n"
            .to_owned();
    text += &canaries.definitions();
    for (index, act) in CPP_ACTS.iter().enumerate() {
        text += &format!("static int act_{index}() {{ {act} }}\n");
        text += &format!("int f_{index}(int x) {{ if (x > 3 && act_{index}() == 0) return 1; return 0; }}\n");
    }
    text += "long now(int x) { if (x < 3) return 1; return std::chrono::system_clock::now().time_since_epoch().count(); }\n";
    let json = exercised("unit.cpp", &text, &["clang++-19", "g++"], &mut canaries);
    assert_eq!(json["replay"]["disagreements"].as_array().map(Vec::len), Some(0), "{:#}", json["replay"]);
    for (index, act) in CPP_ACTS.iter().enumerate() {
        let (covered, goals) = covered(&json, &format!("f_{index}"));
        // What is behind a call of the shared library is open, and what needs a file to read.
        let least = if act.contains("std::filesystem") || act.contains("std::thread") { 2 } else { goals - 1 };
        assert!(covered >= least, "{covered} of {goals} outcomes: {act}");
    }
    assert_eq!(covered(&json, "now"), (2, 2));
}

/// Functions whose own instructions call the system: in a function, in a section of its own, outside all functions.
const INSTRUCTIONS: &str = r#"
static long raw(long number, const char *name, long mode) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(name), "S"(mode) : "rcx", "r11", "memory");
    return result;
}
__attribute__((section("fast"))) long hidden(long number, const char *name) {
    long result;
    __asm__ volatile(".byte 0x0f, 0x05" : "=a"(result) : "0"(number), "D"(name), "S"(0) : "rcx", "r11", "memory");
    return result;
}
__asm__(".text\n.globl outside\noutside: movl $87, %eax\nsyscall\nret\n");
long outside(const char *name);
int f(int x) { if (x > 3) { raw(83, NEW, 0777); return 1; } return 0; }
int g(int x) { if (x > 3) { hidden(87, FILE_NAME); return 1; } return 0; }
int h(int x) { if (x > 3) { outside(FILE_NAME); return 1; } return 0; }
int other(int x) { if (x > 3) return 1; return 0; }
"#;

pub fn instructions_that_call_the_system_touch_no_canary() {
    let mut canaries = Canaries::new();
    let text = canaries.definitions() + INSTRUCTIONS;
    let json = exercised("unit.c", &text, &["clang-19", "gcc"], &mut canaries);
    for name in ["f", "g", "h"] {
        let function = json["functions"].as_array().into_iter().flatten().find(|it| it["name"] == name);
        let tests = function.map(|function| &function["tests"]).and_then(Json::as_array).expect("tests");
        let refused = libc::SIGSYS.to_string();
        let stopped = tests.iter().filter(|test| test["observed"]["signal"] == refused.as_str()).count();
        assert!(name == "h" || stopped == 1, "{name}: {tests:#?}");
    }
    assert_eq!(covered(&json, "other"), (2, 2));
}

pub fn values_of_the_machine_are_never_expected() {
    let mut canaries = Canaries::new();
    let text = "#include <stdlib.h>\n#include <sys/stat.h>\n#include <sys/utsname.h>\n#include <time.h>\n#include <unistd.h>\n\
        long f_0(void) { return time(0); }\nlong f_1(void) { return getpid(); }\nchar *f_2(void) { return getenv(\"HOME\"); }\n\
        long f_3(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); return t.tv_nsec; }\n\
        long f_4(void) { struct stat s; return stat(\"/\", &s) ? -1 : (long)s.st_ino; }\n\
        int f_5(void) { struct utsname u; uname(&u); return u.sysname[0]; }\nlong f_6(void) { return sysconf(_SC_PAGESIZE); }\n\
        int f_7(void) { char n[64]; gethostname(n, sizeof n); return n[0]; }\nlong f_8(void) { return (long)clock() + rand(); }\n";
    let json = exercised("unit.c", text, &["clang-19", "gcc"], &mut canaries);
    for function in json["functions"].as_array().expect("functions") {
        for test in function["tests"].as_array().expect("tests") {
            let result = &test["observed"]["result"];
            let chosen = result.is_null() || result == 0 || result == -1 || result == "NULL";
            assert!(chosen, "{}: {result}", function["name"]);
        }
    }
}

pub fn files_that_are_linked_touch_no_canary() {
    let mut canaries = Canaries::new();
    let folder = folder::temporary();
    let unit = "#include <stdio.h>\nint help(int x);\nint made(int x);\n\
                int f(int x) { if (x > 3 && help(x) == 0) return 1; return 0; }\n\
                int g(int x) { if (x > 3 && made(x) == 0) return 1; return x == 2 && remove(\"x\") == 0; }\n";
    let other = "#include <stdio.h>\n#include <unistd.h>\n".to_owned()
        + &canaries.definitions()
        + "int help(int x) { return x > 9 ? unlink(FILE_NAME) : remove(FILE_NAME); }\n\
           int made(int x) { FILE *f = fopen(NEW, \"w\"); if (!f) return x; return fclose(f); }\n";
    fs::write(folder.path().join("unit.c"), unit).expect("a writable folder");
    fs::write(folder.path().join("other.c"), other).expect("a writable folder");
    let run = branchwise(&["generate", "unit.c", "other.c", "--steps", "60", "--json", "--out", "out"], folder.path());
    let json = run.json().unwrap_or_else(|error| panic!("{error}"));
    canaries.assert_untouched("generate");
    assert_eq!(branchwise(&["replay", "out"], folder.path()).status, Some(0));
    canaries.assert_untouched("replay");
    let (tests, other) = (folder.path().join("out/unit_test.c"), folder.path().join("other.c"));
    compiled_and_run("gcc", &tests, &[&other.display().to_string()], folder.path());
    canaries.assert_untouched("gcc");
    // The other file shares the stub of remove(); its fopen() is not supported.
    assert_eq!((covered(&json, "f"), covered(&json, "g")), ((4, 4), (6, 8)));
}

pub fn an_allowed_call_runs_and_others_do_not() {
    let folder = folder::temporary();
    let text = "#include <stdio.h>\n#include <unistd.h>\n\
                int f(int x) { if (x > 3) { FILE *file = fopen(\"made\", \"w\"); if (file) fclose(file); }\n\
                if (access(\"/\", F_OK) == 0) return 1; return 0; }\n";
    fs::write(folder.path().join("unit.c"), text).expect("a writable folder");
    let generate = |more: &[&str]| {
        let run = branchwise(
            &[&["generate", "unit.c", "--steps", "50", "--json", "--out", "out"], more].concat(),
            folder.path(),
        );
        let emitted = fs::read_to_string(folder.path().join("out/unit_test.c")).unwrap_or_default();
        (run, emitted)
    };
    let (run, emitted) = generate(&[]);
    assert!(
        run.json().is_ok() && emitted.contains("branchwise_stub_fopen") && emitted.contains("branchwise_stub_access")
    );
    let (run, emitted) = generate(&["--allow-calls", "access,fopen"]);
    assert!(run.json().is_ok() && !emitted.contains("branchwise_stub_"), "{}{emitted}", run.errors);
    // The folder of the test has no such file: the call is real, natively, and nothing is concluded from it.
    assert!(emitted.contains("assert(result == 1)"), "{emitted}");
    let again = branchwise(&["replay", "out"], folder.path());
    assert_eq!(again.status, Some(0), "{}", again.errors);
    let (run, _) = generate(&["--allow-calls", "acess"]);
    assert_eq!(run.status, Some(3));
    assert!(
        run.errors.contains("no call of 'acess'") && run.errors.contains("did you mean 'access'?"),
        "{}",
        run.errors
    );
    fs::write(folder.path().join("branchwise.toml"), "allow_calls = [\"access\"]\n").expect("a writable folder");
    let (run, emitted) = generate(&[]);
    assert!(
        run.json().is_ok() && !emitted.contains("branchwise_stub_access") && emitted.contains("branchwise_stub_fopen")
    );
}
