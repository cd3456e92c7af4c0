//! The marked text does what the plain text does, and its markers report exactly the outcomes that llvm-cov counts.

use crate::common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use branchwise_frontend::{Toolchain, Unit};
use branchwise_program::MarkerId;
use branchwise_program::map::{Function, Marker, MarkerKind, Place};
use branchwise_program::types::TypeKind;
use common::{analyse_sample, branch_counts, compile_and_run, own_samples};

/// These do not come back.
const ENDLESS: &[&str] = &["empty", "empty_goto", "fatal", "computed", "after_return"];

/// Functions over `int` only, which any values can be given to.
fn drivable(unit: &Unit) -> Vec<&Function> {
    let is_int = |function: &Function| function.inputs.iter().all(|input| is_plain_int(unit, input.type_id));
    let comes_back = |function: &Function| !ENDLESS.contains(&function.name.as_str());
    unit.map.functions.values().filter(|&function| is_int(function) && comes_back(function)).collect()
}

fn is_plain_int(unit: &Unit, id: branchwise_program::TypeId) -> bool {
    matches!(unit.map.types[id].kind, TypeKind::Integer { bits: 32, .. })
}

/// A program that drives the functions with small values and prints the results and what the markers saw.
fn runtime(unit: &Unit) -> String {
    let mut text = String::from(
        "#include <stdio.h>\n\
         static int values[3]; static unsigned long counts[100000][2];\n\
         void __bw_feed(void *to, unsigned n, unsigned long size) { __builtin_memset(to, 0, size); }\n\
         void __bw_act(const char *stub, const void *const *arguments) {}\n\
         void __bw_assume(int holds) {}\n\
         int __bw_otherwise(const char *name) { return 0; }\n\
         void __bw_input(void *to, unsigned number) { *(int *)to = values[number % 3]; }\n\
         int __bw_condition(unsigned n, int value) { counts[n][value]++; return value; }\n\
         void __bw_switch(unsigned n, long long value) { printf(\"switch %u %lld\\n\", n, value); }\n\
         void __bw_output(const void *from, unsigned n, unsigned long size)\n\
         { printf(\"output %u %d\\n\", n, size == 4 ? *(const int *)from : *(const char *)from); }\n",
    );
    let functions = drivable(unit);
    for function in &functions {
        writeln!(text, "void {}(void);", function.driver.as_ref().unwrap()).unwrap();
    }
    text += "int main(void) {\n for (int i = 0; i < 343; i++) {\n";
    text += "  values[0] = i % 7 - 2; values[1] = i / 7 % 7 - 2; values[2] = i / 49 - 2;\n";
    for function in &functions {
        writeln!(text, "  {}();", function.driver.as_ref().unwrap()).unwrap();
    }
    text += " }\n for (unsigned n = 0; n < 100000; n++) if (counts[n][0] || counts[n][1])\n";
    text + "  printf(\"condition %u %lu %lu\\n\", n, counts[n][1], counts[n][0]);\n return 0; }\n"
}

/// Function, file name, line and column, with the counts (true, false) of each region there.
type Counts = BTreeMap<(String, String, u64, u64), Vec<(u64, u64)>>;

fn marker_counts(unit: &Unit, output: &str) -> Counts {
    let mut conditions: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut switches: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    for line in output.lines() {
        let mut words = line.split(' ');
        let kind = words.next().unwrap();
        let numbers: Vec<i128> = words.map(|word| word.parse().unwrap()).collect();
        match kind {
            "condition" => drop(conditions.insert(numbers[0] as u32, (numbers[1] as u64, numbers[2] as u64))),
            "switch" => {
                let marker = &unit.map.markers[MarkerId(numbers[0] as u32)];
                let outcome = marker.switch_outcome(numbers[1]).unwrap();
                *switches.entry(numbers[0] as u32).or_default().entry(outcome).or_default() += 1;
            }
            _ => {}
        }
    }
    let mut counts = Counts::new();
    for (id, marker) in unit.map.markers.iter() {
        let mut add = |place: Place, count| counts.entry(key(unit, marker, place)).or_default().push(count);
        match &marker.kind {
            MarkerKind::Condition { .. } => add(marker.spelled, conditions.get(&id.0).copied().unwrap_or_default()),
            MarkerKind::Switch { labels, .. } => {
                let taken = switches.remove(&id.0).unwrap_or_default();
                let total: u64 = taken.values().sum();
                let mut places: Vec<Place> = labels.iter().map(|label| label.spelled).collect();
                places.extend((marker.outcomes() as usize > labels.len()).then_some(marker.spelled));
                for (outcome, place) in places.into_iter().enumerate() {
                    let count = taken.get(&(outcome as u32)).copied().unwrap_or(0);
                    add(place, (count, total - count));
                }
            }
            MarkerKind::Handler => {}
        }
    }
    counts.values_mut().for_each(|regions| regions.sort());
    counts
}

/// Where conditions stand that nothing leads to. llvm-cov derives counts for those that never run (`sizeof (a && b)`,
/// as `assert` has it) from the code around them.
fn unevaluated(unit: &Unit) -> Vec<(String, String, u64, u64)> {
    let leads_to = |marker: &Marker| {
        let function = &unit.map.functions[marker.function];
        function.cfg.edges.values().any(|edge| edge.to == marker.node)
    };
    unit.map
        .markers
        .values()
        .filter(|marker| !leads_to(marker))
        .map(|marker| key(unit, marker, marker.spelled))
        .collect()
}

fn key(unit: &Unit, marker: &Marker, place: Place) -> (String, String, u64, u64) {
    let function = unit.map.functions[marker.function].symbol.clone();
    let file = unit.map.files[place.file].path.file_name().unwrap().to_string_lossy().into_owned();
    (function, file, u64::from(place.line), u64::from(place.column))
}

fn outputs(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("output")).collect()
}

fn check(toolchain: &Toolchain, unit: &Unit, sample: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(unit);
    let marked = compile_and_run(toolchain, unit, &unit.marked, "marked.i", &runtime, folder.path());
    let plain = compile_and_run(toolchain, unit, &unit.plain, "plain.c", &runtime, folder.path());
    assert_eq!(outputs(&marked), outputs(&plain), "{}", sample.display());
    let (mut ours, theirs) = (marker_counts(unit, &marked), branch_counts(toolchain, folder.path()));
    for key in unevaluated(unit) {
        ours.remove(&key);
    }
    let compared: Vec<_> = ours.iter().filter(|(key, counts)| theirs.get(key) != Some(counts)).collect();
    let difference =
        compared.iter().map(|(key, counts)| format!("{key:?}: {counts:?}, llvm-cov {:?}", theirs.get(key)));
    assert!(compared.is_empty(), "{}\n{}", sample.display(), difference.collect::<Vec<_>>().join("\n"));
    ours.values().map(Vec::len).sum()
}

#[test]
fn markers_report_what_llvm_cov_counts() {
    let toolchain = Toolchain::find().unwrap();
    let mut total = 0;
    for sample in own_samples() {
        let unit = analyse_sample(&toolchain, &sample);
        if unit.map.function_named("main").is_none() {
            total += check(&toolchain, &unit, &sample);
        }
    }
    println!("counts of {total} branch regions compared");
    assert!(total > 100);
}
