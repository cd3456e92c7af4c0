//! Table 4 of Sy and Deville 2003: every node of a program asked for as a single goal, criterion statement.

use serde_json::Value;

use super::report;

/// What the document says of a program.
struct Theirs {
    nodes: usize,
    average: f64,
    most: f64,
    total: f64,
}

const PROGRAMS: [(&str, &str, &str, Theirs); 6] = [
    ("Program-1", "sy_program1", "M", Theirs { nodes: 29, average: 0.003, most: 0.056, total: 0.11 }),
    (
        "NthRootBisect",
        "nth_root_bisect",
        "nth_root_bisect",
        Theirs { nodes: 11, average: 0.037, most: 0.312, total: 0.41 },
    ),
    ("Sample-1", "sy_sample1", "sample1", Theirs { nodes: 18, average: 0.036, most: 0.328, total: 0.66 }),
    ("Sample-2", "sy_sample2", "sample2", Theirs { nodes: 26, average: 0.029, most: 0.338, total: 0.74 }),
    ("BSearch", "sy_bsearch", "bsearch_int", Theirs { nodes: 12, average: 0.109, most: 0.854, total: 1.32 }),
    ("Gaujac", "gaujac", "gaujac", Theirs { nodes: 67, average: 4.589, most: 152.6, total: 307.0 }),
];

pub fn consistency_table() {
    println!("| program | nodes | average | max | total | coverage | theirs: nodes | average | max | total |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, file, function, theirs) in PROGRAMS {
        let asked: Vec<(f64, bool)> = nodes(file, function).iter().map(|node| ask(file, function, node)).collect();
        let total: f64 = asked.iter().map(|(seconds, _)| seconds).sum();
        let most = asked.iter().map(|(seconds, _)| *seconds).fold(0.0, f64::max);
        let covered = asked.iter().filter(|(_, covered)| *covered).count();
        let count = asked.len().max(1) as f64;
        println!(
            "| {name} | {} | {:.3} | {most:.3} | {total:.2} | {:.0} % | {} | {} | {} | {} |",
            asked.len(),
            total / count,
            100.0 * covered as f64 / count,
            theirs.nodes,
            theirs.average,
            theirs.most,
            theirs.total,
        );
    }
}

/// The statements and decisions of the function and of all it runs, as the command line names them.
fn nodes(file: &str, function: &str) -> Vec<String> {
    let all = report(
        file,
        &[
            "--function",
            function,
            "--criterion",
            "statement",
            "--scope",
            "reachable",
            "--steps",
            "1",
            "--findings",
            "none",
        ],
    );
    let goals = all["functions"][0]["goals"].as_array().into_iter().flatten();
    goals.map(|goal: &Value| format!("{}:{}", goal["line"], goal["column"])).collect()
}

/// Seconds for one node, exploration and native replay, and whether it is covered.
fn ask(file: &str, function: &str, node: &str) -> (f64, bool) {
    let arguments =
        ["--function", function, "--goal", node, "--strategy", "dependence", "--findings", "none", "--seed", "1"];
    let report = report(file, &arguments);
    let unit = &report["functions"][0];
    (unit["work"]["seconds"].as_f64().unwrap_or(0.0), unit["summary"]["covered"] == unit["summary"]["goals"])
}
