//! What we say of decisions against what two compilers' own coverage tools say, for the written suites of all fixtures and
//! programs that combine conditions: MC/DC against llvm-cov, the outcomes of conditions against gcov (C only: C++ has branches
//! for exceptions).

use crate::support::case;
use crate::support::fixture;
use crate::support::folder;
use crate::support::share;
use crate::support::tool;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use libtest_mimic::{Failed, Trial};
use serde_json::Value as Json;

use fixture::Fixture;

/// The clang that has MC/DC, with its tools.
const VERSION: &str = "19";

/// More conditions need an option of clang's, and fewer are none that it reports.
const CONDITIONS: std::ops::RangeInclusive<usize> = 2..=6;

/// So many decisions, conditions of these and outcomes can be compared at least; a comparison of nothing shows nothing.
const LEAST: [usize; 3] = [250, 550, 1500];

/// Where something stands, as (line, column).
type Place = (u64, u64);

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["tests/fixtures", "benches/programs"].map(|folder| root.join(folder));
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("the folder can be read").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"))
        .filter(|path| fs::read_to_string(path).is_ok_and(|text| combines_conditions(&text)))
        .collect();
    paths.sort();
    paths
}

/// Whether some line has a connective in front of its comment.
fn combines_conditions(text: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.into_iter().any(|code| code.contains("&&") || code.contains("||"))
}

fn is_cpp(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cpp")
}

/// A child of the suite ends by `_exit`, which leaves no profile by itself.
const ENDS: &str = "
#ifdef __cplusplus
extern \"C\" {
#endif
void __real__exit(int status);
#ifdef __clang__
int __llvm_profile_write_file(void);
#else
void __gcov_dump(void);
#endif
void __wrap__exit(int status)
{
#ifdef __clang__
    __llvm_profile_write_file();
#else
    __gcov_dump();
#endif
    __real__exit(status);
}
#ifdef __cplusplus
}
#endif
";

/// A suite for both criteria, written as C or C++, and what the tool says of it.
struct Suite {
    json: Json,
    test: PathBuf,
    flags: Vec<String>,
}

impl Suite {
    /// Or why there is none to compare.
    fn of(path: &Path, folder: &Path) -> Result<Suite, &'static str> {
        let fixture = Fixture::read(path).ok();
        let mut arguments =
            vec!["--criterion", "mcdc,condition", "--steps", "200", "--findings", "none", "--jobs", "1"];
        if let Some(fixture) = &fixture {
            if fixture.trouble.is_some() {
                return Err(NO_SUITE);
            }
            arguments.extend(["--function", &fixture.entry]);
            arguments.extend(fixture.options.iter().map(String::as_str));
        }
        let flags = fixture.as_ref().map_or(Vec::new(), |fixture| fixture.flags.clone());
        let json = tool::generate(path, &arguments, &flags, folder).json().map_err(|_| NO_SUITE)?;
        let stem = path.file_stem().unwrap_or_default().display();
        let test = folder.join("out").join(format!("{stem}_test.{}", if is_cpp(path) { "cpp" } else { "c" }));
        let functions = || json["functions"].as_array().into_iter().flatten();
        let mut tests = functions().flat_map(|function| function["tests"].as_array().expect("tests"));
        // What a test that does not return has done, the other tools need not see.
        if !tests.all(|test| test["observed"]["end"] == "returned") {
            return Err("a test does not return");
        }
        let tested = functions().all(|function| function["tests"].as_array().is_some_and(|tests| !tests.is_empty()));
        if tested && test.exists() { Ok(Suite { json, test, flags }) } else { Err(NO_SUITE) }
    }

    /// Compiles and runs it; `false` where that does not work with the fixture's flags alone. Tests in processes of their own
    /// leave a profile too.
    fn run(&self, compiler: &str, more: &[&str], folder: &Path) -> bool {
        let ends = folder.join("ends.c");
        fs::write(&ends, ENDS).expect("the temporary folder can be written");
        let mut compile = Command::new(compiler);
        compile.current_dir(folder).args(["-w", "-Wl,--wrap=_exit", "-o", "suite"]).args(more).args(&self.flags);
        compile.arg(&self.test).arg(ends).arg("-lm");
        let runs = |mut command: Command| command.output().is_ok_and(|output| output.status.success());
        let mut suite = Command::new(folder.join("suite"));
        suite.current_dir(folder).env("LLVM_PROFILE_FILE", folder.join("suite-%p.raw"));
        runs(compile) && runs(suite)
    }

    /// The goals of one kind in a file, by place.
    fn goals(&self, file: &str, kind: &str) -> BTreeMap<Place, Vec<&Json>> {
        let mut goals: BTreeMap<Place, Vec<&Json>> = BTreeMap::new();
        let functions = self.json["functions"].as_array().into_iter().flatten();
        let there = |goal: &&Json| goal["kind"] == kind && goal["file"].as_str().is_some_and(|it| same_file(it, file));
        for goal in functions.flat_map(|it| it["goals"].as_array().expect("goals")).filter(there) {
            if let (Some(line), Some(column)) = (goal["line"].as_u64(), goal["column"].as_u64()) {
                goals.entry((line, column)).or_default().push(goal);
            }
        }
        goals
    }
}

const NO_SUITE: &str = "no suite";

/// Test, fixture and report may name one file by different ways to it.
fn same_file(one: &str, other: &str) -> bool {
    Path::new(one).file_name() == Path::new(other).file_name()
}

/// What was compared, what differs, and what is not comparable and why.
#[derive(Default)]
struct Compared {
    decisions: usize,
    /// Of these decisions.
    conditions: usize,
    /// Of conditions, whatever their decision.
    outcomes: usize,
    differences: Vec<String>,
    left_out: BTreeMap<&'static str, usize>,
}

impl Compared {
    fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }

    fn add(&mut self, other: Compared) {
        self.decisions += other.decisions;
        self.conditions += other.conditions;
        self.outcomes += other.outcomes;
        self.differences.extend(other.differences);
        for (reason, count) in other.left_out {
            *self.left_out.entry(reason).or_default() += count;
        }
    }
}

fn compare(path: &Path) -> Compared {
    let folder = folder::temporary();
    let folder = folder.path();
    let mut compared = Compared::default();
    let suite = match Suite::of(path, folder) {
        Ok(suite) => suite,
        Err(reason) => {
            compared.leave_out(reason);
            return compared;
        }
    };
    let flags = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"];
    let clang = if is_cpp(path) { "clang++" } else { "clang" };
    match suite.run(&format!("{clang}-{VERSION}"), &flags, folder) {
        true => compare_mcdc(path, &suite, &export(folder), &mut compared),
        false => compared.leave_out("the suite needs more than its flags"),
    }
    // Without the option gcc takes conditions for granted that hold unless a sum overflows.
    if !is_cpp(path) && suite.run("gcc", &["-O0", "-fwrapv", "--coverage"], folder) {
        compare_branches(path, &suite, folder, &mut compared);
    }
    compared
}

/// The programs that have their turn, one in so many.
const PERIOD: u64 = 40;

/// All comparisons of this run.
static ALL: Mutex<Option<Compared>> = Mutex::new(None);

/// Returns a case for each program whose turn it is.
pub fn cases() -> Vec<Trial> {
    let name = |path: &Path| format!("coverage_tools::{}", fixture::file_name(path));
    let chosen = programs().into_iter().filter(|path| share::has_turn(&name(path), PERIOD));
    chosen.map(|path| case::case(name(&path), move || decisions_are_what_other_tools_say(&path))).collect()
}

fn decisions_are_what_other_tools_say(path: &Path) -> Result<(), Failed> {
    let compared = compare(path);
    let differences = compared.differences.join("\n");
    ALL.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().add(compared);
    if differences.is_empty() { Ok(()) } else { Err(differences.into()) }
}

/// Returns what is wrong with the comparison of all programs together.
pub fn of_all() -> Result<(), String> {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    let Compared { decisions, conditions, outcomes, left_out, .. } = all;
    let found = format!("{decisions} decisions, {conditions} conditions, {outcomes} outcomes; left out: {left_out:?}");
    println!("compared with other coverage tools: {found}");
    let enough = decisions >= LEAST[0] && conditions >= LEAST[1] && outcomes >= LEAST[2];
    if enough { Ok(()) } else { Err(format!("too few comparisons with other coverage tools: {found}")) }
}

fn export(folder: &Path) -> Json {
    let run = |tool: &str, arguments: &[&str], files: &[PathBuf]| {
        let mut command = Command::new(format!("{tool}-{VERSION}"));
        let output = command.current_dir(folder).args(arguments).args(files).output();
        output.expect("LLVM's tools are installed").stdout
    };
    run("llvm-profdata", &["merge", "-o", "suite.data"], &files_in(folder, "raw"));
    serde_json::from_slice(&run("llvm-cov", &["export", "-instr-profile=suite.data", "suite"], &[])).unwrap_or_default()
}

fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|it| it == extension)).collect()
}

fn compare_mcdc(path: &Path, suite: &Suite, export: &Json, compared: &mut Compared) {
    for function in export["data"][0]["functions"].as_array().into_iter().flatten() {
        for record in function["mcdc_records"].as_array().into_iter().flatten() {
            let at = |index: usize| record[index].as_u64().unwrap_or_default();
            let (from, to) = ((at(0), at(1)), (at(2), at(3)));
            let theirs: Vec<bool> = record[6].as_array().into_iter().flatten().filter_map(Json::as_bool).collect();
            let goals = suite.goals(function["filenames"][at(4) as usize].as_str().unwrap_or_default(), "effect");
            let inside: Vec<&Json> = goals.range(from..to).flat_map(|(_, goals)| goals.iter().copied()).collect();
            if inside.is_empty() || !CONDITIONS.contains(&theirs.len()) {
                continue;
            }
            // Inside a macro they count otherwise; a fold or a nested decision leaves other conditions.
            if inside.len() != theirs.len() {
                compared.leave_out("other conditions");
                continue;
            }
            compared.decisions += 1;
            let decided = |(goal, _): &(&&Json, &bool)| verdict(goal) != "unknown";
            let known: Vec<(&&Json, &bool)> = inside.iter().zip(&theirs).filter(decided).collect();
            compared.conditions += known.len();
            (known.len()..theirs.len()).for_each(|_| compared.leave_out("a condition unknown to us"));
            if known.iter().any(|(goal, shown)| (verdict(goal) == "covered") != **shown) {
                let ours: Vec<&str> = inside.iter().map(|goal| verdict(goal)).collect();
                let place = format!("{}:{}:{}", path.display(), from.0, from.1);
                compared.differences.push(format!("{place}: ours {ours:?}, llvm-cov {theirs:?}"));
            }
        }
    }
}

/// The verdict of a goal for the tests of the suite. Those that lead through undefined behaviour are no part of it.
fn verdict(goal: &Json) -> &str {
    match goal["through"].is_string() {
        true => "unknown",
        false => goal["verdict"].as_str().unwrap_or_default(),
    }
}

/// gcov numbers the branches of a line in an order of its own, so the taken ones are counted. A line is compared where
/// it has as many branches as our conditions have outcomes.
fn compare_branches(path: &Path, suite: &Suite, folder: &Path, compared: &mut Compared) {
    let of_suite = |path: &PathBuf| path.to_str().is_some_and(|path| !path.ends_with("ends.gcda"));
    let data = files_in(folder, "gcda").into_iter().find(of_suite).unwrap_or_default();
    let output = Command::new("gcov").current_dir(folder).args(["--json-format", "--stdout", "-b"]).arg(data).output();
    let Ok(json) = serde_json::from_slice::<Json>(&output.expect("gcov is installed").stdout) else { return };
    let file_name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let files = json["files"].as_array().into_iter().flatten();
    let functions = files.clone().flat_map(|file| file["functions"].as_array().into_iter().flatten());
    let ran: Vec<&str> = functions
        .filter(|function| function["execution_count"].as_u64() > Some(0))
        .filter_map(|function| function["name"].as_str())
        .collect();
    let own = files.filter(|file| file["file"].as_str().is_some_and(|name| name.ends_with(file_name)));
    for line in own.flat_map(|file| file["lines"].as_array().into_iter().flatten()) {
        let name = line["function_name"].as_str().unwrap_or_default();
        if !ran.contains(&name) {
            continue;
        }
        let goals = suite.goals(file_name, "condition");
        let number = line["line_number"].as_u64().unwrap_or_default();
        let ours: Vec<&Json> = goals.range((number, 0)..(number + 1, 0)).flat_map(|(_, goals)| goals.clone()).collect();
        let theirs = line["branches"].as_array().map_or(&[][..], Vec::as_slice);
        let decided = ours.iter().all(|goal| matches!(verdict(goal), "covered" | "infeasible"));
        if ours.is_empty() || ours.len() != theirs.len() || !decided {
            continue;
        }
        compared.outcomes += ours.len();
        let covered = ours.iter().filter(|goal| verdict(goal) == "covered").count();
        let taken = theirs.iter().filter(|branch| branch["count"].as_u64() > Some(0)).count();
        if covered != taken {
            compared.differences.push(format!("{file_name}:{number} in {name}: ours {covered}, gcov {taken}"));
        }
    }
}
