//! Reading and compiling files that nobody vouches for: the compiler's limits, its confinement, and its flags.

use crate::support::folder::{self, Folder};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const GOOD: &str = "int good(int x) { if (x > 3) return 1; return 0; }\n";

fn scene(files: &[(&str, &str)]) -> Folder {
    let folder = folder::temporary();
    fs::write(folder.path().join("good.c"), GOOD).unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

fn branchwise(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Generates for a bad file and a good one: the first is named with the reason, and the second is treated all the same.
#[track_caller]
fn ends_alone(folder: &Folder, bad: &str, more: &[&str], reason: &str) {
    let arguments = ["generate", bad, "good.c", "--steps", "200"].iter().chain(more).copied().collect::<Vec<_>>();
    let output = branchwise(folder.path(), &arguments);
    let said = errors(&output);
    assert!(said.contains(bad) && said.contains(reason), "{said}");
    assert_eq!(output.status.code(), Some(3), "{said}");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("2 of 2 branch outcomes covered"), "{table}\n{said}");
}

pub fn one_file_that_crashes_the_compiler_ends_alone() {
    let nested = format!("int f(int x) {{\n{}x++;\nreturn x; }}\n", "if (x > 1)\n".repeat(10_000));
    ends_alone(&scene(&[("nested.c", &nested)]), "nested.c", &[], "the compiler crashed on nested.c");
    let template =
        "template <int N> struct A { static const int v = A<N + 1>::v; };\nint f(int x) { return x > A<0>::v; }\n";
    ends_alone(&scene(&[("endless.cpp", template)]), "endless.cpp", &[], "endless.cpp does not compile");
}

pub fn files_without_end_are_named() {
    let zero = scene(&[("zero.c", "#include \"/dev/zero\"\nint f(int x) { return x > 1; }\n")]);
    ends_alone(&zero, "zero.c", &["--read-memory", "1024"], "zero.c");
    let pipe = scene(&[("pipe.c", "#include \"fifo.h\"\nint f(int x) { return x > 1; }\n")]);
    make_pipe(&pipe.path().join("fifo.h"));
    ends_alone(&pipe, "pipe.c", &[], "it waited 10 s for something");
    make_pipe(&pipe.path().join("fifo.c"));
    ends_alone(&pipe, "fifo.c", &[], "no file but a device, a pipe or a socket");
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

pub fn too_much_memory_and_time_are_named() {
    let mut laughs = "#define A0 x +\n".to_owned();
    for level in 1..10 {
        laughs += &format!("#define A{level} {}\n", format!("A{} ", level - 1).repeat(10));
    }
    let laughs = laughs + "int f(int x) { return A9 1; }\n";
    ends_alone(&scene(&[("laughs.c", &laughs)]), "laughs.c", &["--read-memory", "512"], "laughs.c");
    let bomb = "template <int A, long B> struct F { static const long v = F<A - 1, B * 2>::v + F<A - 1, B * 2 + 1>::v; };\n\
                template <long B> struct F<0, B> { static const long v = B; };\n\
                int f(int x) { return x > F<30, 0>::v; }\n";
    ends_alone(&scene(&[("bomb.cpp", bomb)]), "bomb.cpp", &["--read-time", "2"], "it took more than 2 s");
}

/// A library that leaves a file behind when it is loaded.
fn plugin(folder: &Path) -> String {
    let source = folder.join("plugin_source.cc");
    let act = "#include <cstdio>\n__attribute__((constructor)) static void act() {\n\
               if (FILE *f = fopen(CANARY, \"w\")) fclose(f); }\n";
    fs::write(&source, act).unwrap();
    let library = folder.join("plugin.so");
    let canary = format!("-DCANARY=\"{}\"", folder.join("canary").display());
    let made = Command::new("g++").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(canary).arg(&source).status();
    assert!(made.unwrap().success());
    library.display().to_string()
}

pub fn flags_that_load_code_are_refused() {
    let folder = scene(&[]);
    let library = plugin(folder.path());
    for flags in [
        vec![format!("-fplugin={library}")],
        vec![format!("-fpass-plugin={library}")],
        vec!["-Xclang".to_owned(), "-load".to_owned(), "-Xclang".to_owned(), library.clone()],
        vec!["-Xclang=-load".to_owned(), format!("-Xclang={library}")],
        vec!["--nvptx-arch-tool=/bin/true".to_owned()],
        vec!["-B".to_owned(), folder.path().display().to_string()],
    ] {
        let mut arguments = vec!["generate", "good.c", "--steps", "100", "--"];
        arguments.extend(flags.iter().map(String::as_str));
        let output = branchwise(folder.path(), &arguments);
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(3), "{flags:?}: {said}");
        assert!(said.contains(&flags[0]) && said.contains("--trust-flags"), "{flags:?}: {said}");
        assert!(!folder.path().join("canary").exists(), "{flags:?}");
    }
    let commands = format!(
        r#"[{{"directory": "{0}", "file": "bad.c", "arguments": ["cc", "-fplugin={library}", "-c", "bad.c"]}},
            {{"directory": "{0}", "file": "good.c", "command": "cc -c good.c"}}]"#,
        folder.path().display()
    );
    fs::write(folder.path().join("compile_commands.json"), commands).unwrap();
    fs::write(folder.path().join("bad.c"), "int bad(int x) { return x > 1 ? 1 : 0; }\n").unwrap();
    let output = branchwise(folder.path(), &["generate", "-p", ".", "--steps", "100"]);
    assert!(errors(&output).contains("bad.c is not read: the flag '-fplugin="), "{}", errors(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("2 of 2 branch outcomes covered"));
    assert!(!folder.path().join("canary").exists());
    // Who trusts the flag gets what it does.
    let trusted = format!("-fpass-plugin={library}");
    branchwise(folder.path(), &["generate", "good.c", "--steps", "100", "--trust-flags", "--", &trusted]);
    assert!(folder.path().join("canary").exists(), "the canary shows that the flag would have worked");
}

pub fn flags_that_write_are_left_out() {
    let folder = scene(&[]);
    let canary = folder.path().join("canary").display().to_string();
    let map = format!("-Wl,-Map={canary}");
    let trace = format!("-ftime-trace={canary}");
    let output = branchwise(
        folder.path(),
        &[
            "generate",
            "good.c",
            "--steps",
            "100",
            "--",
            &map,
            "-save-stats",
            &trace,
            "--serialize-diagnostics",
            &canary,
        ],
    );
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for flag in [map.as_str(), "-save-stats", trace.as_str(), "--serialize-diagnostics"] {
        assert!(said.contains(&format!("the flag '{flag}")), "{flag}: {said}");
    }
    assert!(!folder.path().join("canary").exists());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 2, "the source and the folder of results: {left:?}");
}

pub fn a_stored_suite_is_no_more_trusted() {
    let folder = scene(&[]);
    let library = plugin(folder.path());
    let output = branchwise(folder.path(), &["generate", "good.c", "--steps", "100", "--", "-DHARMLESS"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let suite = folder.path().join("branchwise-out/suite.json");
    let text = fs::read_to_string(&suite).unwrap();
    fs::write(&suite, text.replace("-DHARMLESS", &format!("-fplugin={library}"))).unwrap();
    let output = branchwise(folder.path(), &["replay", "branchwise-out"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(errors(&output).contains("the flag '-fplugin="), "{}", errors(&output));
    assert!(!folder.path().join("canary").exists());
}

/// A program in the compiler's place that tries to act and then calls the compiler: as if a file had taken the compiler over.
struct TakenOver {
    folder: Folder,
    listener: std::net::TcpListener,
}

impl TakenOver {
    /// `and_signal` names a process that the program tries to end.
    fn new(and_signal: Option<u32>) -> TakenOver {
        let folder = scene(&[("kept", "canary"), ("mode", "canary")]);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let at = folder.path().display();
        let script = format!(
            "#!/bin/bash\nexec 2>/dev/null\necho x > {at}/new\nrm -f {at}/kept\nchmod 777 {at}/mode\n\
             (echo hello > /dev/tcp/127.0.0.1/{port})\n(setsid sleep {port}.5 > /dev/null &)\n{kill}\nexec {clang} \"$@\"\n",
            port = listener.local_addr().unwrap().port(),
            kill = and_signal.map_or(String::new(), |victim| format!("kill -9 {victim}")),
            clang = branchwise_tools::find_tool("clang").unwrap().display(),
        );
        let tools = folder.path().join("tools");
        fs::create_dir(&tools).unwrap();
        fs::write(tools.join("clang-19"), script).unwrap();
        fs::set_permissions(tools.join("clang-19"), fs::Permissions::from_mode(0o755)).unwrap();
        TakenOver { folder, listener }
    }

    fn generate(&self, more: &[&str]) {
        let path = format!("{}/tools:{}", self.folder.path().display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
        command.args(["generate", "good.c", "--steps", "100"]).args(more).current_dir(self.folder.path());
        // Nothing that an undisturbed run has made is to stand in for what the program does.
        command.env("PATH", path).env_remove("BRANCHWISE_CACHE").output().unwrap();
    }

    /// Returns what the program has reached.
    fn reached(&self) -> Vec<&'static str> {
        let at = |name: &str| self.folder.path().join(name);
        let mode = fs::metadata(at("mode")).unwrap().permissions().mode() & 0o777;
        let sleeper = format!("^sleep {}.5$", self.listener.local_addr().unwrap().port());
        let ended = Command::new("pkill").args(["-f", &sleeper]).status().unwrap().success();
        let all = [
            ("a new file", at("new").exists()),
            ("a removed file", !at("kept").exists()),
            ("a changed mode", mode == 0o777),
            ("a connection", self.listener.accept().is_ok()),
            ("a process that stays", ended),
        ];
        all.into_iter().filter(|(_, reached)| *reached).map(|(what, _)| what).collect()
    }
}

pub fn a_compiler_that_was_taken_over_reaches_nothing() {
    let confined = TakenOver::new(Some(std::process::id()));
    confined.generate(&[]);
    assert_eq!(confined.reached(), [""; 0]);
    confined.generate(&["--old-kernel"]);
    assert_eq!(confined.reached(), [""; 0]);
    // Without confinement it reaches all of it, so the canaries can be touched.
    let free = TakenOver::new(None);
    free.generate(&["--trust-flags"]);
    assert_eq!(free.reached().len(), 5, "{:?}", free.reached());
}

pub fn links_that_a_compiler_leaves_are_not_followed() {
    let folder = scene(&[("text", "canary"), ("mode", "canary")]);
    let at = folder.path().display();
    // It makes what it is asked for, and beside it links where its caller will write next, or in place of the program.
    let script = format!(
        "#!/bin/bash\nprevious=; for word; do [ \"$previous\" = -o ] && made=$word; previous=$word; done\n\
         {clang} \"$@\" || exit\n\
         case $made in\n\
         *-tests) rm -f $made; ln -s {at}/mode $made;;\n\
         *.o) for name in runtime.o drivers.o missing.o symbols-0.txt; do ln -sf {at}/text ${{made%.o}}-$name; done;;\n\
         esac\ntrue\n",
        clang = branchwise_tools::find_tool("clang").unwrap().display(),
    );
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    fs::write(tools.join("clang-19"), script).unwrap();
    fs::set_permissions(tools.join("clang-19"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(folder.path().join("mode"), fs::Permissions::from_mode(0o640)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    command.args(["generate", "good.c", "--steps", "100"]).current_dir(folder.path());
    let output = command.env("PATH", path).env_remove("BRANCHWISE_CACHE").output().unwrap();
    assert!(errors(&output).contains("make the harness executable"), "{}", errors(&output));
    assert_eq!(fs::read_to_string(folder.path().join("text")).unwrap(), "canary");
    let mode = fs::metadata(folder.path().join("mode")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

pub fn files_with_flags_are_refused() {
    let commands = |name: &str| {
        format!(r#"[{{"directory": ".", "file": "good.c", "arguments": ["cc", "@{name}", "-c", "good.c"]}}]"#)
    };
    let folder = scene(&[("flags", "-DX"), ("compile_commands.json", &commands("/dev/zero"))]);
    let generate = |more: &[&str]| {
        let arguments = ["generate", "-p", ".", "--steps", "100"].iter().chain(more).copied().collect::<Vec<_>>();
        let output = branchwise(folder.path(), &arguments);
        (output.status.code(), errors(&output))
    };
    let (status, said) = generate(&[]);
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("the flag '@/dev/zero' is refused") && said.contains("--trust-flags"), "{said}");
    let (status, said) = generate(&["--trust-flags"]);
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("cannot read its response file /dev/zero"), "{said}");
    fs::write(folder.path().join("compile_commands.json"), commands("flags")).unwrap();
    let (status, said) = generate(&[]);
    assert_eq!(status, Some(3), "{said}");
    let (status, said) = generate(&["--trust-flags"]);
    assert_eq!(status, Some(0), "{said}");
}

pub fn a_line_marker_may_name_a_device() {
    let marked = |name: &str| format!("#line 1 \"{name}\"\nint f(int x) {{ if (x > 1) return 1; return 0; }}\n");
    let folder = scene(&[("pipe.c", &marked("pipe")), ("zero.c", &marked("/dev/zero"))]);
    make_pipe(&folder.path().join("pipe"));
    for file in ["pipe.c", "zero.c"] {
        let output =
            branchwise(folder.path(), &["generate", file, "good.c", "--steps", "200", "--read-memory", "1024"]);
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(table.contains("4 of 4 branch outcomes covered"), "{file}: {table}\n{}", errors(&output));
    }
}
