//! What we say of decisions against what two compilers' own coverage tools say, for the written suites of programs
//! that combine conditions: MC/DC against llvm-cov, the outcomes of conditions against gcov.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;

#[allow(dead_code)]
#[path = "support/fixture.rs"]
mod fixture;
#[path = "support/tool.rs"]
mod tool;

use fixture::Fixture;

/// The clang that has MC/DC, with its tools.
const VERSION: &str = "19";

/// More conditions need an option of clang's, and fewer are none that it reports.
const CONDITIONS: std::ops::RangeInclusive<usize> = 2..=6;

/// So many decisions, conditions of these and outcomes can be compared at least; a comparison of nothing shows nothing.
const LEAST: [usize; 3] = [15, 35, 100];

/// Where something stands, as (line, column).
type Place = (u64, u64);

/// The programs of the papers; `BRANCHWISE_FIXTURES=TEXT` takes all programs and fixtures whose path contains the text instead.
fn programs() -> Vec<PathBuf> {
    let wanted = std::env::var("BRANCHWISE_FIXTURES").unwrap_or("benches/programs".to_string());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["tests/fixtures", "benches/programs"].map(|folder| root.join(folder));
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("the folder can be read").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .filter(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("&&") || text.contains("||")))
        .collect();
    paths.retain(|path| path.to_str().is_some_and(|path| path.contains(&wanted)));
    paths.sort();
    paths
}

/// A suite for both criteria, written as C, and what the tool says of it.
struct Suite {
    json: Json,
    test: PathBuf,
    flags: Vec<String>,
}

impl Suite {
    fn of(path: &Path, folder: &Path) -> Option<Suite> {
        let fixture = Fixture::read(path).ok();
        let mut arguments = vec!["--criterion", "mcdc,condition", "--steps", "200", "--findings", "none"];
        if let Some(fixture) = &fixture {
            arguments.extend(["--function", &fixture.entry]);
            arguments.extend(fixture.options.iter().map(String::as_str));
        }
        let flags = fixture.as_ref().map_or(Vec::new(), |fixture| fixture.flags.clone());
        let json = tool::generate(path, &arguments, &flags, folder).json().ok()?;
        let stem = path.file_stem()?.to_str()?;
        let test = folder.join("out").join(format!("{stem}_test.c"));
        let returns = |function: &Json| {
            let tests = function["tests"].as_array().expect("tests").iter();
            tests.clone().count() > 0 && tests.clone().all(|test| test["observed"]["end"] == "returned")
        };
        // What a test that does not return has done, the other tools need not see.
        let all_return = json["functions"].as_array()?.iter().all(returns);
        (all_return && test.exists()).then_some(Suite { json, test, flags })
    }

    /// Compiles and runs it; `false` where that does not work with the fixture's flags alone.
    fn run(&self, compiler: &str, more: &[&str], folder: &Path) -> bool {
        let mut compile = Command::new(compiler);
        compile.current_dir(folder).args(["-w", "-o", "suite"]).args(more).args(&self.flags).arg(&self.test).arg("-lm");
        let runs = |mut command: Command| command.output().is_ok_and(|output| output.status.success());
        let mut suite = Command::new(folder.join("suite"));
        suite.current_dir(folder).env("LLVM_PROFILE_FILE", folder.join("suite.raw"));
        runs(compile) && runs(suite)
    }

    /// The goals of a function of one kind, by place.
    fn goals(&self, function: &str, kind: &str) -> BTreeMap<Place, Vec<&Json>> {
        let mut goals: BTreeMap<Place, Vec<&Json>> = BTreeMap::new();
        let functions = self.json["functions"].as_array().into_iter().flatten();
        for goal in functions.filter(|it| it["name"] == function).flat_map(|it| it["goals"].as_array().expect("goals"))
        {
            if let (true, Some(line), Some(column)) =
                (goal["kind"] == kind, goal["line"].as_u64(), goal["column"].as_u64())
            {
                goals.entry((line, column)).or_default().push(goal);
            }
        }
        goals
    }
}

/// What was compared, and what differs.
#[derive(Default)]
struct Compared {
    decisions: usize,
    /// Of these decisions.
    conditions: usize,
    /// Of conditions, whatever their decision.
    outcomes: usize,
    differences: Vec<String>,
}

/// Compares all programs on all processors.
fn compare_all(compare: impl Fn(&Path, &Path) -> Compared + Sync) -> Compared {
    let (programs, next, all) = (programs(), AtomicUsize::new(0), Mutex::new(Compared::default()));
    let work = || {
        while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            let compared = compare(path, folder.path());
            let mut all = all.lock().expect("no comparison panics while it holds this");
            all.decisions += compared.decisions;
            all.conditions += compared.conditions;
            all.outcomes += compared.outcomes;
            all.differences.extend(compared.differences);
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..threads).map(|_| scope.spawn(work)).collect::<Vec<_>>().into_iter().for_each(|thread| {
            thread.join().expect("a comparison ends");
        });
    });
    all.into_inner().expect("no comparison panics")
}

#[test]
fn decisions_are_what_other_tools_say() {
    let compared = compare_all(|path, folder| {
        let mut compared = Compared::default();
        let Some(suite) = Suite::of(path, folder) else { return compared };
        let flags = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"];
        if suite.run(&format!("clang-{VERSION}"), &flags, folder) {
            compare_mcdc(path, &suite, &export(folder), &mut compared);
        }
        if suite.run("gcc", &["-O0", "--coverage"], folder) {
            compare_branches(path, &suite, folder, &mut compared);
        }
        compared
    });
    assert_eq!(compared.differences, Vec::<String>::new());
    let Compared { decisions, conditions, outcomes, .. } = compared;
    assert!(
        decisions >= LEAST[0] && conditions >= LEAST[1] && outcomes >= LEAST[2],
        "{decisions} {conditions} {outcomes}"
    );
}

fn export(folder: &Path) -> Json {
    let run = |tool: &str, arguments: &[&str]| {
        let output = Command::new(format!("{tool}-{VERSION}")).current_dir(folder).args(arguments).output();
        output.expect("LLVM's tools are installed").stdout
    };
    run("llvm-profdata", &["merge", "-o", "suite.data", "suite.raw"]);
    serde_json::from_slice(&run("llvm-cov", &["export", "-instr-profile=suite.data", "suite"])).unwrap_or_default()
}

fn compare_mcdc(path: &Path, suite: &Suite, export: &Json, compared: &mut Compared) {
    for function in export["data"][0]["functions"].as_array().into_iter().flatten() {
        let name = function["name"].as_str().unwrap_or_default();
        let name = name.rsplit(':').next().unwrap_or_default();
        // A test with standard input runs in a process of its own, which leaves no profile.
        if function["count"].as_u64() == Some(0) {
            continue;
        }
        let goals = suite.goals(name, "effect");
        for record in function["mcdc_records"].as_array().into_iter().flatten() {
            let at = |index: usize| record[index].as_u64().unwrap_or_default();
            let (from, to) = ((at(0), at(1)), (at(2), at(3)));
            let theirs: Vec<bool> = record[6].as_array().into_iter().flatten().filter_map(Json::as_bool).collect();
            let inside: Vec<&Json> = goals.range(from..to).flat_map(|(_, goals)| goals.iter().copied()).collect();
            // Inside a macro they count otherwise; a fold or a nested decision leaves other conditions.
            let comparable = CONDITIONS.contains(&theirs.len())
                && inside.len() == theirs.len()
                && inside.iter().all(|goal| matches!(goal["verdict"].as_str(), Some("covered" | "infeasible")));
            if comparable {
                compared.decisions += 1;
                compared.conditions += theirs.len();
                let ours: Vec<bool> = inside.iter().map(|goal| goal["verdict"] == "covered").collect();
                if ours != theirs {
                    let place = format!("{}:{}:{}", path.display(), from.0, from.1);
                    compared.differences.push(format!("{place} in {name}: ours {ours:?}, llvm-cov {theirs:?}"));
                }
            }
        }
    }
}

/// gcov numbers the branches of a line in an order of its own, so the taken ones are counted. A line is compared where
/// it has as many branches as our conditions have outcomes.
fn compare_branches(path: &Path, suite: &Suite, folder: &Path, compared: &mut Compared) {
    let output =
        Command::new("gcov").current_dir(folder).args(["--json-format", "--stdout", "-b"]).arg(data(folder)).output();
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
        let goals = suite.goals(name, "condition");
        let number = line["line_number"].as_u64().unwrap_or_default();
        let ours: Vec<&Json> = goals.range((number, 0)..(number + 1, 0)).flat_map(|(_, goals)| goals.clone()).collect();
        let theirs = line["branches"].as_array().map_or(&[][..], Vec::as_slice);
        let decided = ours.iter().all(|goal| matches!(goal["verdict"].as_str(), Some("covered" | "infeasible")));
        if ours.is_empty() || ours.len() != theirs.len() || !decided {
            continue;
        }
        compared.outcomes += ours.len();
        let covered = ours.iter().filter(|goal| goal["verdict"] == "covered").count();
        let taken = theirs.iter().filter(|branch| branch["count"].as_u64() > Some(0)).count();
        if covered != taken {
            compared.differences.push(format!("{file_name}:{number} in {name}: ours {covered}, gcov {taken}"));
        }
    }
}

/// What the run of an instrumented suite left behind.
fn data(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "gcda")).min().unwrap_or_default()
}
