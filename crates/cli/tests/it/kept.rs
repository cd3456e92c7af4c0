//! Nothing found is lost: runs that are killed, interrupted or out of room, and what the next run makes of them.

use crate::support::folder::{self, Folder};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::tree;

/// Functions that are searched in a moment each.
const QUICK: &str = "int f1(int x) { if (x > 10 && x < 20) return 1; return 0; }\n\
    int f2(unsigned x) { if (x * 3 == 42) return 1; return x > 7; }\n\
    int f3(const char *s) { if (s && s[0] == 'k' && s[1] == 'e') return 1; return 0; }\n\
    int f4(int a, int b) { switch (a) { case 1: return b > 2; case 2: return b < 2; default: return 0; } }\n\
    int f5(double d) { return d > 2.5 ? 1 : 2; }\n\
    int f6(int *p) { if (p && *p == 1234) return 2; return 0; }\n";

/// Results of every kind: findings, stubs, standard input, streams, calls before, function pointers.
const RICH: &str = "#include <stdio.h>\n\
    int sensor(int *value);\n\
    static int state;\n\
    int step(int x) { if (x == 3) state++; return state > 1; }\n\
    int read_one(void) { int v; if (sensor(&v) && v == 77) return 1; return 0; }\n\
    int from_input(void) { int n; if (scanf(\"%d\", &n) == 1 && n == 12) return 1; return 0; }\n\
    int from_stream(FILE *f) { if (f && fgetc(f) == 'x') return 1; return 0; }\n\
    int last(int *marks, int n) { if (n > 0 && marks[n] == 5) return 1; return 0; }\n\
    int apply(int (*g)(int), int x) { if (g && g(x) == 9) return 1; return 0; }\n";

const OBJECTS: &str = "#include <string>\n#include <vector>\n\
    class Shelf { std::vector<int> items; public: void put(int i) { items.push_back(i); }\n\
    int total() const { int t = 0; for (int i : items) t += i; return t; }\n\
    bool full(unsigned n) { if (items.size() > 1 && n == 3) throw std::string(\"n\"); return items.size() > n; } };\n";

/// A folder with sources, and another one for the temporary folders of what runs there.
struct Place {
    folder: Folder,
    temporary: Folder,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = folder::temporary();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).expect("a writable folder"));
        Place { folder, temporary: folder::temporary() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
        command.arg("generate").args(arguments).current_dir(self.folder.path());
        command.env("NO_COLOR", "1").env("TMPDIR", self.temporary.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("branchwise runs")
    }

    /// Starts a run whose standard error goes to a file.
    fn start(&self, arguments: &[&str]) -> Running {
        let errors = self.path("errors.txt");
        let to = File::create(&errors).expect("a writable folder");
        // A process group of its own, as a shell gives to each command.
        let mut command = self.command(arguments);
        let child = command.process_group(0).stdout(Stdio::null()).stderr(to).spawn().expect("branchwise starts");
        Running { child, errors }
    }

    fn report(&self, name: &str) -> Json {
        let text = fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        serde_json::from_str(&text).expect("a whole report")
    }

    /// The whole lines of the journal.
    fn kept(&self) -> usize {
        let text = fs::read(self.path("out/journal.jsonl")).unwrap_or_default();
        text.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// Runs so that all functions are finished and the report cannot be written. Returns the journal that stays.
    fn leave_journal(&self, arguments: &[&str]) -> Vec<u8> {
        let _ = fs::remove_dir_all(self.path("out"));
        fs::create_dir_all(self.path("out/report.json/in the way")).expect("a writable folder");
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
        assert!(errors(&output).contains("Error: cannot write out/report.json: "), "{}", errors(&output));
        fs::read(self.path("out/journal.jsonl")).expect("the journal stays")
    }

    fn unblock(&self) {
        fs::remove_dir_all(self.path("out/report.json")).expect("it is there");
    }

    fn temporary_folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.temporary.path()).expect("it is there").flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    }

    /// All files of the out folder without the times, and no file that is not meant to stay.
    fn files(&self) -> BTreeMap<String, String> {
        tree::texts(&self.path("out")).into_iter().map(|(name, text)| (name, without_times(&text))).collect()
    }
}

/// A run that is going on; it is killed where the test ends early.
struct Running {
    child: Child,
    errors: PathBuf,
}

impl Running {
    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// As a terminal does: to all processes of the group.
    fn signal_group(&self, name: &str) {
        let group = format!("-{}", self.child.id());
        let sent = Command::new("kill").args([name, "--", &group]).status().expect("kill runs");
        assert!(sent.success());
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Waits until something is so.
    fn until(&mut self, what: &str, is_so: impl Fn(&Running) -> bool) {
        let started = Instant::now();
        while !is_so(self) {
            let ended = self.child.try_wait().expect("it can be asked");
            assert!(ended.is_none() || is_so(self), "it ended before: {what}\n{}", self.said());
            assert!(started.elapsed() < Duration::from_secs(120), "too long for: {what}\n{}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn without_times(text: &str) -> String {
    let is_time = |line: &&str| !line.trim_start().starts_with("\"seconds\":");
    text.lines().filter(is_time).collect::<Vec<_>>().join("\n")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn functions_of(report: &Json) -> &[Json] {
    report["functions"].as_array().expect("functions")
}

fn names(report: &Json) -> BTreeSet<&str> {
    functions_of(report).iter().filter_map(|function| function["name"].as_str()).collect()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id runs");
    output.stdout == b"0\n"
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

const STEPS: [&str; 9] = ["--steps", "30", "--findings", "none", "--json", "--quiet", "--out", "out", "--jobs=2"];

/// A run is killed so often before it is let go on to its end.
const KILLS_BEFORE_THE_END: u32 = 4;

/// `BRANCHWISE_KILLS=200` kills more often.
pub fn killed_at_any_moment_and_resumed_it_is_as_if_nothing_had_been() {
    let kills = std::env::var("BRANCHWISE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10_u32);
    let place = Place::new(&[("quick.c", QUICK)]);
    let arguments = [&["quick.c"], &STEPS[..]].concat();
    let started = Instant::now();
    let whole = place.run(&arguments);
    let lasts = started.elapsed().as_millis() as u64;
    assert_eq!(whole.status.code(), Some(0), "{}", errors(&whole));
    let expected = (without_times(&String::from_utf8_lossy(&whole.stdout)), place.files());
    let resumed = [arguments.as_slice(), &["--resume"]].concat();
    let (mut numbers, mut killed, mut torn, mut finished) = (Numbers(7), 0_u32, 0, 0);
    // Within this time a run does not end: it shrinks where one did.
    let mut lasts = lasts;
    while killed < kills {
        fs::remove_dir_all(place.path("out")).expect("it is there");
        let mut kept = 0;
        for _ in 0..KILLS_BEFORE_THE_END.min(kills - killed) {
            let mut command = place.command(&resumed);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("branchwise starts");
            std::thread::sleep(Duration::from_millis(numbers.below(lasts)));
            if child.try_wait().expect("it can be asked").is_some() {
                lasts = lasts * 4 / 5;
                break;
            }
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
            killed += 1;
            assert!(place.kept() >= kept || place.path("out/report.json").exists(), "nothing that was kept is lost");
            kept = place.kept();
            torn += usize::from(!place.temporary_folders().is_empty());
            assert!(place.temporary_folders().len() <= 1, "only that of the run which was just killed");
            whole_or_absent(&place);
        }
        let output = place.run(&resumed);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        let found = (without_times(&String::from_utf8_lossy(&output.stdout)), place.files());
        assert_eq!(found, expected, "after {killed} kills");
        assert_eq!(place.temporary_folders(), Vec::<PathBuf>::new(), "no temporary folder survives");
        finished += 1;
    }
    assert!(torn > 0, "some were killed while they had temporary folders");
    println!("{killed} kills, {torn} of them with a temporary folder; {finished} times resumed to the end");
}

/// Whatever file has its final name is whole, and so are all that the index names.
fn whole_or_absent(place: &Place) {
    if let Ok(text) = fs::read_to_string(place.path("out/suite.json")) {
        assert!(serde_json::from_str::<Json>(&text).is_ok(), "suite.json is half a file");
    }
    if place.path("out/report.json").exists() {
        branchwise_results::load(&place.path("out")).expect("the files that the index names");
    }
}

pub fn results_of_every_kind_come_back_from_the_journal() {
    let place = Place::new(&[("rich.c", RICH), ("objects.cpp", OBJECTS)]);
    let arguments = ["rich.c", "objects.cpp", "--steps", "40", "--out", "out", "--json"];
    let whole = place.run(&arguments);
    assert_eq!(whole.status.code(), Some(0), "{}", errors(&whole));
    let files = place.files();
    assert!(files["report.json"].contains("\"out_of_bounds\""), "there is a finding");
    let count = names(&place.report("out/report.json")).len();
    let journal = place.leave_journal(&arguments);
    let resumed = place.run(&[arguments.as_slice(), &["--resume"]].concat());
    assert_eq!(resumed.status.code(), Some(3), "the report cannot be written yet: {}", errors(&resumed));
    assert_eq!(fs::read(place.path("out/journal.jsonl")).expect("it stays"), journal, "nothing is searched again");
    place.unblock();
    let resumed = place.run(&[arguments.as_slice(), &["--resume"]].concat());
    assert_eq!(place.files(), files);
    let output = |output: &Output| without_times(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(output(&resumed), output(&whole));
    let said = errors(&resumed);
    assert!(said.contains(&format!("resuming with the {count} functions")), "{said}");
}

pub fn what_was_found_under_other_conditions_is_not_used() {
    let place = Place::new(&[("f.c", "int f(int x) { return x > 3 ? 1 : 2; }\n")]);
    let base = ["f.c", "--steps", "20", "--out", "out", "--findings", "none", "--json"];
    place.leave_journal(&base);
    assert_eq!(place.kept(), 1);
    let said = |arguments: &[&str]| errors(&place.run(arguments));
    let other_seed = [&base[..], &["--resume", "--seed", "5"]].concat();
    assert!(said(&other_seed).contains("f.c: what an earlier run found is not used, because options"));
    assert_eq!(place.kept(), 2, "it is searched again");
    fs::write(place.path("f.c"), "int f(int x) { return x > 4 ? 1 : 2; }\n").expect("a writable folder");
    let resumed = [&base[..], &["--resume"]].concat();
    assert!(said(&resumed).contains("not used, because the file, what it includes or its flags have changed"));
    assert_eq!(place.kept(), 3, "it is searched again");
    assert!(!said(&resumed).contains("not used"), "now it is used");
    assert_eq!(place.kept(), 3);
    let fresh = said(&base);
    assert!(fresh.contains("journal.previous.jsonl (rename it"), "{fresh}");
    assert_eq!(place.kept(), 1);
}

/// Its search takes as long as it may.
const LONG: &str = "int slow(unsigned a, unsigned b)\n{\n    if (a > 5)\n        a = 5;\n    unsigned long long p = (unsigned long long)a * b;\n    \
    for (unsigned i = 0; i < b; i++)\n        if (p * p + i == 0x123456789abcdefull * (i + 3))\n            return 1;\n    return 0;\n}\n";

pub fn two_runs_on_one_folder_do_not_mix() {
    let place = Place::new(&[("quick.c", &format!("{QUICK}{LONG}"))]);
    let mut first = place.start(&["quick.c", "--time", "100", "--out", "out"]);
    first.until("it has the folder", |_| place.path("out/.branchwise-lock").exists() && place.kept() > 0);
    let second = place.run(&["quick.c", "--out", "out"]);
    let said = errors(&second);
    assert_eq!(second.status.code(), Some(3), "{said}");
    let expected = format!("another run of Branchwise (process {}) is writing to out", first.child.id());
    assert!(said.contains(&expected) && said.contains("Hint: "), "{said}");
    first.signal("-KILL");
    first.wait();
    let kept = place.kept();
    let salvaged = place.run(&["quick.c", "--time", "100", "--out", "out", "--salvage"]);
    assert_eq!(salvaged.status.code(), Some(0), "{}", errors(&salvaged));
    let report = place.report("out/report.json");
    let functions = functions_of(&report);
    let finished = functions.iter().filter(|function| function.get("interrupted").is_none());
    assert!(finished.clone().all(|function| function["summary"]["unknown"] == 0), "{report:#}");
    assert_eq!((functions.len(), finished.count(), place.kept()), (7, kept, kept));
    let third = place.run(&["quick.c", "--out", "out", "--function", "f1", "--steps", "10", "--findings", "none"]);
    assert_eq!(third.status.code(), Some(0), "a killed run holds no lock: {}", errors(&third));
    assert!(!place.path("out/.branchwise-lock").exists());
}

pub fn a_folder_that_cannot_be_written_is_named_before_the_search() {
    let place = Place::new(&[("quick.c", QUICK), ("file", "")]);
    let refused = |out: &str| {
        let started = Instant::now();
        let output = place.run(&["quick.c", "--time", "100", "--out", out]);
        assert!(started.elapsed() < Duration::from_secs(50), "nothing is searched");
        assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
        errors(&output)
    };
    assert!(refused("file").starts_with("Error: file is no folder\nHint: "));
    assert!(refused("file/below").starts_with("Error: cannot make the folder file/below\nCaused by: "));
    assert!(refused("/proc/branchwise").starts_with("Error: cannot make the folder /proc/branchwise\n"));
    assert!(refused("/proc").starts_with("Error: cannot write to the folder /proc\nCaused by: "));
    if !is_root() {
        let folder = place.path("closed");
        fs::create_dir(&folder).expect("a writable folder");
        let mut permissions = fs::metadata(&folder).expect("it is there").permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o555);
        fs::set_permissions(&folder, permissions).expect("it is ours");
        assert!(refused("closed").starts_with("Error: cannot write to the folder closed\nCaused by: "));
    }
}

pub fn nothing_is_written_through_links_in_the_folder() {
    let place = Place::new(&[("quick.c", QUICK), ("victim", "canary")]);
    let link = |target: &str, name: &str| {
        fs::create_dir_all(place.path("real")).expect("a writable folder");
        std::os::unix::fs::symlink(place.path(target), place.path("real").join(name)).expect("a writable folder");
    };
    fs::create_dir(place.path("elsewhere")).expect("a writable folder");
    std::os::unix::fs::symlink(place.path("real"), place.path("out")).expect("a writable folder");
    let untouched = || {
        assert_eq!(fs::read_to_string(place.path("victim")).expect("it is there"), "canary");
        assert_eq!(fs::read_dir(place.path("elsewhere")).expect("it is there").count(), 0);
    };
    let run = || place.run(&["quick.c", "--function", "f1", "--out", "out"]);
    for (target, name) in
        [("victim", "journal.jsonl"), ("new", "journal.jsonl"), ("elsewhere", "partial"), ("elsewhere", "report")]
    {
        link(target, name);
        let output = run();
        assert_eq!(output.status.code(), Some(3), "{name}: {}", errors(&output));
        let said = errors(&output);
        assert!(said.starts_with(&format!("Error: out/{name} is a link")) && said.contains("\nHint: "), "{said}");
        untouched();
        assert!(!place.path("new").exists());
        fs::remove_file(place.path("real").join(name)).expect("it is still a link");
    }
    for name in ["report.json", "suite.json", "quick_test.c"] {
        link("victim", name);
    }
    let output = run();
    assert_eq!(output.status.code(), Some(0), "the folder itself may be a link: {}", errors(&output));
    untouched();
    assert!(!place.path("real/suite.json").is_symlink());
}

pub fn a_run_that_fails_leaves_no_folder() {
    let place = Place::new(&[("quick.c", QUICK)]);
    let output = place.run(&["quick.c", "--function", "nobody", "--out", "out"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(!place.path("out").exists());
    assert_eq!(place.temporary_folders(), Vec::<PathBuf>::new());
}

/// Natively each of its tests runs until it is stopped, so the end takes some seconds.
const ENDLESS: &str = "int quick(int x) { return x > 3 ? 1 : 2; }\n\
    int endless(unsigned x, unsigned y) {\n    for (;;) {\n        if (x == 7) y++;\n        if (x == 9) y += 2;\n        \
    if (x > 70 && y == 3) y = 5;\n        x = x * 1664525u + 1013904223u;\n    }\n}\n";

pub fn one_signal_ends_the_search_and_a_second_ends_sooner() {
    let place = Place::new(&[("endless.c", ENDLESS)]);
    let mut running = place.start(&["endless.c", "--time", "100", "--jobs", "1", "--out", "out"]);
    running.until("the first function is finished", |_| place.kept() > 0);
    std::thread::sleep(Duration::from_millis(200));
    running.signal("-TERM");
    let acknowledged = "stopping; finishing what is running; press Ctrl-C again to stop sooner";
    running.until("the signal is acknowledged", |running| running.said().contains(acknowledged));
    running.signal("-INT");
    let second = Instant::now();
    assert_eq!(running.wait().code(), Some(130), "{}", running.said());
    assert!(second.elapsed() < Duration::from_secs(20), "it ends sooner");
    assert!(running.said().contains("stopping now; writing what is known"), "{}", running.said());
    let report = place.report("out/report.json");
    assert!(names(&report).contains("quick"), "{report:#}");
    assert!(place.path("out/endless_test.c").exists());
    assert_eq!(place.kept(), 1, "--resume goes on from there");
    assert_eq!(place.temporary_folders(), Vec::<PathBuf>::new());
}

pub fn a_lesser_result_goes_beside_a_fuller_one() {
    let place = Place::new(&[("quick.c", QUICK), ("other.c", "int g(int x) { return x > 3; }\n")]);
    let base = ["--steps", "10", "--findings", "none", "--out", "out"];
    let run = |arguments: &[&str]| {
        let output = place.run(&[arguments, &base].concat());
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        errors(&output)
    };
    run(&["quick.c"]);
    let said = run(&["quick.c", "--function", "f1"]);
    assert!(said.contains("out holds a fuller result, so this one is in out/partial"), "{said}");
    assert_eq!(names(&place.report("out/report.json")).len(), 6);
    assert_eq!(names(&place.report("out/partial/report.json")), BTreeSet::from(["f1"]));
    assert!(place.path("out/partial/quick_test.c").exists());
    // A function that is gone is not missed.
    let shorter = QUICK.lines().take(5).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(place.path("quick.c"), shorter).expect("a writable folder");
    run(&["quick.c"]);
    assert_eq!(names(&place.report("out/report.json")).len(), 5);
    run(&["quick.c", "--function", "f2", "--replace"]);
    assert_eq!(names(&place.report("out/report.json")), BTreeSet::from(["f2"]));
    // Another file is another matter.
    run(&["other.c"]);
    assert_eq!(names(&place.report("out/report.json")), BTreeSet::from(["g"]));
}

pub fn an_interrupted_result_does_not_replace_a_fuller_one() {
    let place = Place::new(&[("endless.c", ENDLESS)]);
    let first = place.run(&["endless.c", "--steps", "3", "--out", "out"]);
    assert_eq!(first.status.code(), Some(0), "{}", errors(&first));
    let report = place.report("out/report.json");
    let mut running = place.start(&["endless.c", "--time", "100", "--jobs", "1", "--out", "out"]);
    running.until("the first function is finished", |_| place.kept() > 0);
    running.signal_group("-HUP");
    assert_eq!(running.wait().code(), Some(130), "{}", running.said());
    assert_eq!(place.report("out/report.json"), report);
    let partial = place.report("out/partial/report.json");
    assert!(functions_of(&partial).iter().all(|function| function.get("trouble").is_none()), "{partial:#}");
    let cut = |function: &Json| (function["name"].clone(), function.get("interrupted").is_some());
    let expected = vec![(Json::from("quick"), false), (Json::from("endless"), true)];
    assert_eq!(functions_of(&partial).iter().map(cut).collect::<Vec<_>>(), expected);
    assert!(running.said().contains("the same command with --resume goes on from here"), "{}", running.said());
}

pub fn a_full_disk_loses_nothing() {
    if !is_root() {
        eprintln!("left out: only root can mount a small disk");
        return;
    }
    let place = Place::new(&[("quick.c", QUICK)]);
    let disk = Disk::mount(&place.path("disk"));
    let out = place.path("disk/out");
    let base = ["quick.c", "--steps", "30", "--findings", "none", "--jobs", "1", "--out", "disk/out"];
    let mut running = place.start(&base);
    running.until("the first function is finished", |_| {
        fs::metadata(out.join("journal.jsonl")).is_ok_and(|it| it.len() > 0)
    });
    disk.fill();
    let status = running.wait();
    let said = running.said();
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("Error: cannot write disk/out/") && said.contains("No space left on device"), "{said}");
    assert!(said.contains("Hint: make room"), "{said}");
    let journal = fs::read_to_string(out.join("journal.jsonl")).expect("the journal stays");
    assert!(journal.ends_with("}\n"), "no half line");
    assert!(!out.join("report.json").exists());
    let full = place.run(&base);
    assert_eq!(full.status.code(), Some(3), "without room nothing is begun: {}", errors(&full));
    assert!(errors(&full).contains("cannot write to the folder disk/out"), "{}", errors(&full));
    disk.empty();
    let resumed = place.run(&[&base[..], &["--resume"]].concat());
    assert_eq!(resumed.status.code(), Some(0), "{}", errors(&resumed));
    assert!(errors(&resumed).contains("resuming with the"), "{}", errors(&resumed));
    assert_eq!(names(&place.report("disk/out/report.json")).len(), 6);
}

/// A file system of two megabytes.
struct Disk(PathBuf);

impl Disk {
    fn mount(path: &Path) -> Self {
        fs::create_dir(path).expect("a writable folder");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=2m", "none"]).arg(path).status();
        assert!(mounted.expect("mount runs").success(), "root can mount");
        Disk(path.to_owned())
    }

    /// Leaves no room at all.
    fn fill(&self) {
        let mut file = File::create(self.0.join("filler")).expect("it can be made");
        while std::io::Write::write_all(&mut file, &[0; 512]).is_ok() {}
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("filler")).expect("it is there");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

pub fn temporary_folders_without_an_owner_go_and_nothing_else() {
    let place = Place::new(&[("quick.c", QUICK)]);
    let make = |name: &str, lock: bool| {
        let folder = place.temporary.path().join(name);
        fs::create_dir(&folder).expect("a writable folder");
        fs::write(folder.join("file"), "").expect("a writable folder");
        if lock {
            fs::write(folder.join("lock"), "").expect("a writable folder");
        }
        folder
    };
    let precious = make("precious", true);
    let orphan = make("branchwise-process-orphan", true);
    std::os::unix::fs::symlink(&precious, orphan.join("link")).expect("a writable folder");
    let owned = make("branchwise-process-owned", true);
    let lock = File::open(owned.join("lock")).expect("it is there");
    lock.lock().expect("it can be locked");
    let abandoned = make("branchwise-abandoned-half", false);
    let foreign = make("branchwise-process-foreign", false);
    let link = place.temporary.path().join("branchwise-process-link");
    std::os::unix::fs::symlink(&precious, &link).expect("a writable folder");
    let trap = make("branchwise-process-trap", false);
    std::os::unix::fs::symlink(precious.join("lock"), trap.join("lock")).expect("a writable folder");
    let output = place.run(&["quick.c", "--function", "f1", "--steps", "5", "--findings", "none", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(!orphan.exists(), "its owner is gone");
    assert!(!abandoned.exists(), "somebody was killed who removed it");
    for kept in [&precious, &owned, &foreign, &link, &trap] {
        assert!(kept.join("file").exists(), "{} stays", kept.display());
    }
    assert_eq!(place.temporary_folders().len(), 5, "{:?}", place.temporary_folders());
}
