//! What the layers of the solver are worth: the whole tool with some of them left out, and the queries of its runs by layer
//! and beside cvc5 alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::floats::{FILES, Row};
use super::{PROGRAMS, report};

const USUAL: [&str; 8] = ["--time", "5", "--findings", "none", "--seed", "1", "--jobs", "1"];

const LEFT_OUT: [(&str, &[&str]); 5] = [
    ("all layers and cvc5", &["--external-solver", "cvc5"]),
    ("all layers", &[]),
    ("without boxes", &["--without", "boxes"]),
    ("without intervals and boxes", &["--without", "intervals", "--without", "boxes"]),
    ("SMT alone", &["--without", "intervals", "--without", "boxes", "--without", "repair"]),
];

/// Queries of each group that cvc5 gets, and seconds for each.
const SAMPLE: usize = 60;
const SECONDS: u32 = 2;

pub fn solvers_table() {
    println!("| layers | outcomes | covered | infeasible | unknown | seconds | solver calls |");
    println!("|---|---|---|---|---|---|---|");
    for (name, options) in LEFT_OUT {
        let mut total = Row::default();
        for file in FILES {
            total.add(Row::of(&report(file, &with(options))));
        }
        println!("| {name} {}", total.text_without_functions());
    }
    println!("\n| queries | floats: number | share | per second | integers: number | share | per second |");
    println!("|---|---|---|---|---|---|---|");
    let floats = queries(&FILES);
    let integers = queries(&PROGRAMS.map(|(program, _)| program));
    shares(&floats, &integers);
    println!("\n| queries | number | ours: decided | seconds | cvc5: decided | seconds | contradictions |");
    println!("|---|---|---|---|---|---|---|");
    for (name, queries) in [("floats", &floats), ("integers", &integers)] {
        beside_cvc5(name, queries);
    }
}

fn with<'a>(options: &[&'a str]) -> Vec<&'a str> {
    let external = if options.contains(&"--external-solver") { &[][..] } else { &["--external-solver", "none"] };
    [&USUAL[..], external, options].concat()
}

/// A query as the tool wrote it down; the folder lives as long as the list.
struct Queries {
    _folder: tempfile::TempDir,
    all: Vec<Asked>,
}

struct Asked {
    file: PathBuf,
    answer: String,
    layer: String,
    seconds: f64,
    /// A model of the text is one of the query.
    exact: bool,
}

fn queries(programs: &[&str]) -> Queries {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut all = Vec::new();
    for program in programs {
        let own = folder.path().join(program);
        std::fs::create_dir(&own).expect("a new folder");
        let own_name = own.to_str().expect("a name in UTF-8");
        report(program, &with(&["--queries", own_name]));
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&own).expect("a folder").flatten().map(|entry| entry.path()).collect();
        files.sort();
        all.extend(files.into_iter().filter_map(asked));
    }
    Queries { _folder: folder, all }
}

fn asked(file: PathBuf) -> Option<Asked> {
    let text = std::fs::read_to_string(&file).ok()?;
    let words: Vec<String> = text.lines().next()?.split_whitespace().map(str::to_owned).collect();
    let [_, answer, layer, microseconds, _, exact] = &words[..] else { return None };
    let seconds = microseconds.parse::<f64>().ok()? / 1e6;
    Some(Asked { file, answer: answer.clone(), layer: layer.clone(), seconds, exact: exact == "exact" })
}

/// By the layer that answered; a query that nobody decided counts for itself.
fn shares(floats: &Queries, integers: &Queries) {
    let counted = [floats, integers].map(|queries| {
        let mut by_layer: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
        for query in &queries.all {
            let name = if query.answer == "unknown" { "undecided" } else { &query.layer };
            let entry = by_layer.entry(name).or_default();
            *entry = (entry.0 + 1, entry.1 + query.seconds);
        }
        by_layer
    });
    for layer in ["intervals", "repair", "boxes", "smt", "undecided"] {
        let cells = counted.iter().zip([floats, integers]).map(|(by_layer, queries)| {
            let (count, seconds) = by_layer.get(layer).copied().unwrap_or_default();
            let share = count as f64 / queries.all.len().max(1) as f64 * 100.0;
            format!("{count} | {share:.0} % | {:.0}", count as f64 / seconds.max(1e-9))
        });
        println!("| {layer} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

fn beside_cvc5(name: &str, queries: &Queries) {
    let step = queries.all.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&Asked> = queries.all.iter().step_by(step).collect();
    let (mut ours, mut our_seconds, mut theirs, mut their_seconds, mut contradictions) = (0, 0.0, 0, 0.0, 0);
    for query in &sample {
        our_seconds += query.seconds;
        ours += u32::from(query.answer != "unknown");
        let start = Instant::now();
        let answer = cvc5(&query.file);
        their_seconds += start.elapsed().as_secs_f64();
        let decided = answer == "unsat" || answer == "sat" && query.exact;
        theirs += u32::from(decided);
        contradictions += u32::from(decided && query.answer != "unknown" && answer != query.answer);
    }
    println!(
        "| {name} | {} | {ours} | {our_seconds:.2} | {theirs} | {their_seconds:.2} | {contradictions} |",
        sample.len()
    );
}

fn cvc5(file: &Path) -> String {
    let output = Command::new("cvc5").arg("--quiet").arg(format!("--tlimit={}", SECONDS * 1000)).arg(file).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}
