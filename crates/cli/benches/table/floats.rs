//! Functions whose decisions are about floats: our own by subject, and those of Sy and Deville.

use std::collections::BTreeMap;

use serde_json::Value;

use super::report;

pub const FILES: [&str; 7] =
    ["floats_numeric", "floats_control", "floats_geometry", "inves", "nth_root_bisect", "sy_program1", "gaujac"];

const COUNTS: [&str; 4] = ["goals", "covered", "infeasible", "unknown"];

#[derive(Default)]
pub struct Row {
    functions: usize,
    counts: [u64; 4],
    seconds: f64,
    calls: BTreeMap<String, u64>,
    open: Vec<String>,
}

pub fn floats_table() {
    println!("| file | functions | outcomes | covered | infeasible | unknown | seconds | solver calls |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut total = Row::default();
    for file in FILES {
        let row = Row::of(&report(file, &["--time", "5", "--findings", "none", "--seed", "1", "--jobs", "1"]));
        println!("| {file} {}", row.text());
        total.add(row);
    }
    println!("| all {}", total.text());
    println!("\nWith unknown outcomes: {}.", total.open.join(", "));
}

impl Row {
    pub fn of(report: &Value) -> Self {
        let mut row = Row::default();
        for function in report["functions"].as_array().into_iter().flatten() {
            let (summary, work) = (&function["summary"], &function["work"]);
            let counts = COUNTS.map(|count| summary[count].as_u64().unwrap_or(0));
            let calls = work["solver_calls"].as_object().into_iter().flatten();
            row.add(Row {
                functions: 1,
                counts,
                seconds: work["seconds"].as_f64().unwrap_or(0.0),
                calls: calls.map(|(layer, count)| (layer.clone(), count.as_u64().unwrap_or(0))).collect(),
                open: (counts[3] > 0)
                    .then(|| format!("{} {}", function["name"].as_str().unwrap_or(""), counts[3]))
                    .into_iter()
                    .collect(),
            });
        }
        row
    }

    pub fn add(&mut self, other: Row) {
        self.functions += other.functions;
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.seconds += other.seconds;
        other.calls.into_iter().for_each(|(layer, count)| *self.calls.entry(layer).or_default() += count);
        self.open.extend(other.open);
    }

    fn text(&self) -> String {
        format!("| {} {}", self.functions, self.text_without_functions())
    }

    pub fn text_without_functions(&self) -> String {
        let [goals, covered, infeasible, unknown] = self.counts;
        let calls: Vec<String> = self.calls.iter().map(|(layer, count)| format!("{layer} {count}")).collect();
        format!("| {goals} | {covered} | {infeasible} | {unknown} | {:.2} | {} |", self.seconds, calls.join(", "))
    }
}
