//! docs/reliability.md from outside: programs that act on files, through `generate` and `replay`.

use crate::support::folder::{self, Folder};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value as Json;

const ACTS_IN_CPP: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <sys/syscall.h>
int stream(int a) { if (a == 5) { std::ofstream out(AT "stream"); return 1; } return 0; }
int tree(int a) { if (a == 5) return (int)std::filesystem::remove_all(AT "tree"); return 0; }
int removed(int a) { if (a == 5) return std::remove(AT "removed"); return 0; }
int shell(int a) { if (a == 5) return std::system("rm " AT "shell"); return 0; }
int piped(int a) { if (a == 5) return popen("rm " AT "piped", "r") != nullptr; return 0; }
int executed(int a) { if (a == 5) return execl("/bin/rm", "rm", AT "executed", (char *)0); return 0; }
int raw(int a) { if (a == 5) return (int)syscall(SYS_unlinkat, -100, AT "raw", 0); return 0; }
int plain(int a) { if (a > 5) return 1; return 0; }
"#;

const ACTS_IN_C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void) { remove(AT "constructor"); }
static void late(void) { remove(AT "late"); }
int at_end(int a) { if (a == 5) { atexit(late); exit(3); } return 0; }
int plain(int a) { if (a > 5) return 1; return 0; }
"#;

const FILES: [&str; 8] = ["stream", "removed", "shell", "piped", "executed", "raw", "constructor", "late"];

/// A file to generate tests for, and files that nobody is to touch.
struct Scene {
    folder: Folder,
    source: &'static str,
}

impl Scene {
    fn new(source: &'static str, code: &str) -> Scene {
        let folder = folder::temporary();
        let at = format!("#define AT \"{}/canaries/\"\n", folder.path().display());
        fs::write(folder.path().join(source), at + code).unwrap();
        Scene { folder, source }
    }

    fn restore(&self) {
        let canaries = self.folder.path().join("canaries");
        fs::create_dir_all(canaries.join("tree/inside")).unwrap();
        FILES.iter().for_each(|name| fs::write(canaries.join(name), "canary").unwrap());
    }

    fn touched(&self) -> Vec<&'static str> {
        let canaries = self.folder.path().join("canaries");
        let is_there = |name: &str| fs::read(canaries.join(name)).is_ok_and(|bytes| bytes == b"canary");
        let mut touched: Vec<_> = FILES.into_iter().filter(|name| !is_there(name)).collect();
        touched.extend((!canaries.join("tree/inside").is_dir()).then_some("tree"));
        touched
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.restore();
        let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
        command.args(arguments).current_dir(self.folder.path()).output().unwrap()
    }

    fn generate(&self, mode: &[&str]) -> (Json, Vec<&'static str>) {
        // Else a stub stands for each of these calls, and nothing would be left to hold back.
        let allowed = "remove,std::filesystem::remove_all,system,popen,execl,syscall,fopen64";
        let arguments = ["generate", self.source, "--steps", "200", "--json", "--out", "out", "--allow-calls", allowed];
        (json(&self.run(&[&arguments[..], mode].concat())), self.touched())
    }

    fn replay(&self, mode: &[&str]) -> (Json, Vec<&'static str>) {
        (json(&self.run(&[&["replay", "out", "--json"][..], mode].concat())), self.touched())
    }
}

fn json(output: &Output) -> Json {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn covered(json: &Json) -> Vec<(String, u64)> {
    let functions = json["functions"].as_array().unwrap();
    let covered = |function: &Json| function["summary"]["covered"].as_u64().or(function["covered"].as_u64());
    let all = functions.iter().map(|found| (found["name"].to_string(), covered(found).unwrap()));
    // A replay does not name functions without tests.
    all.filter(|(_, covered)| *covered > 0).collect()
}

/// What acts without confinement must not with it, and all functions are covered alike.
fn assert_held_back(scene: &Scene, acting: &[&str]) {
    let (free, touched) = scene.generate(&["--sandbox", "off"]);
    // What else acts depends on which process is first.
    assert!(acting.iter().all(|name| touched.contains(name)), "without confinement only {touched:?}");
    let (_, touched) = scene.replay(&["--sandbox", "off"]);
    assert!(acting.iter().all(|name| touched.contains(name)), "replayed without confinement only {touched:?}");
    for mode in [&[][..], &["--sandbox", "require"], &["--old-kernel"]] {
        let (held, touched) = scene.generate(mode);
        assert_eq!((touched, covered(&held)), (Vec::new(), covered(&free)), "generate {mode:?}");
        let (replayed, touched) = scene.replay(mode);
        assert_eq!((touched, covered(&replayed)), (Vec::new(), covered(&free)), "replay {mode:?}");
        assert_eq!(held["replay"]["sandbox"], replayed["sandbox"]);
        assert_eq!(held["replay"]["sandbox"]["missing"], serde_json::json!([]));
        assert_eq!(held["replay"]["sandbox"]["calls"], "seccomp");
    }
}

pub fn programs_of_cpp_are_held_back() {
    let acting = ["removed", "executed", "raw", "tree"];
    let scene = Scene::new("unit.cpp", ACTS_IN_CPP);
    assert_held_back(&scene, &acting);
}

pub fn constructors_and_handlers_at_the_end_are_held_back() {
    assert_held_back(&Scene::new("unit.c", ACTS_IN_C), &["constructor"]);
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn a_summary_speaks_of_confinement_only_where_it_is_off() {
    let scene = Scene::new("unit.c", "int plain(int a) { if (a > 5) return 1; return 0; }");
    let note = "Note: tests ran without confinement (--sandbox off)";
    let generate = ["generate", "unit.c", "--steps", "50"];
    let replay = ["replay", "branchwise-out"];
    for command in [&generate[..], &replay] {
        assert!(!text_of(&scene.run(command)).contains("Note:"));
        assert!(text_of(&scene.run(&[command, &["--sandbox", "off"]].concat())).contains(note));
    }
    let report = Path::new("branchwise-out/report.json");
    let report: Json = serde_json::from_slice(&fs::read(scene.folder.path().join(report)).unwrap()).unwrap();
    assert_eq!(report["replay"]["sandbox"]["mode"], "off");
}

pub fn doctor_has_a_line_for_each_layer() {
    let scene = Scene::new("unit.c", "");
    let text = text_of(&scene.run(&["doctor"]));
    for layer in ["Landlock", "seccomp", "namespaces"] {
        assert!(text.lines().any(|line| line.split_whitespace().nth(1) == Some(layer)), "{layer}: {text}");
    }
}
