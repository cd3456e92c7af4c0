//! What the map counts is what llvm-cov counts: function by function, the same places the same number of times.

use crate::common;

use std::collections::BTreeMap;
use std::path::Path;

use branchwise_frontend::{Toolchain, Unit};
use branchwise_program::Id;
use branchwise_program::map::{Marker, MarkerKind, Place};
use common::{analyse_sample, run, samples};

/// Function, file name, line and column, with how often llvm-cov has it.
type Regions = BTreeMap<(String, String, u64, u64), i64>;

fn measured(toolchain: &Toolchain, unit: &Unit, folder: &Path) -> Regions {
    if unit.map.functions.is_empty() {
        return Regions::new(); // llvm-cov refuses an object without coverage data
    }
    let (plain, object) = (folder.join("plain.c"), folder.join("plain.o"));
    std::fs::write(&plain, &unit.plain).unwrap();
    let clang = toolchain.clang.to_str().unwrap();
    let mut arguments: Vec<&str> = vec![clang, "-w", "-fprofile-instr-generate", "-fcoverage-mapping", "-c", "-o"];
    arguments.extend([object.to_str().unwrap(), plain.to_str().unwrap()]);
    arguments.extend(unit.flags.iter().map(String::as_str));
    run(&arguments);
    let (empty, profile) = (folder.join("empty.proftext"), folder.join("empty.profdata"));
    std::fs::write(&empty, "").unwrap();
    let profdata = toolchain.llvm_profdata.to_str().unwrap();
    run(&[profdata, "merge", empty.to_str().unwrap(), "-o", profile.to_str().unwrap()]);
    let instr_profile = format!("--instr-profile={}", profile.display());
    let json = run(&[toolchain.llvm_cov.to_str().unwrap(), "export", &instr_profile, object.to_str().unwrap()]);
    regions_of(&serde_json::from_str(&json).unwrap())
}

fn regions_of(export: &serde_json::Value) -> Regions {
    let mut regions = Regions::new();
    for function in export["data"][0]["functions"].as_array().unwrap() {
        let name = function["name"].as_str().unwrap().rsplit(':').next().unwrap();
        for branch in function["branches"].as_array().unwrap() {
            let number = |index: usize| branch[index].as_u64().unwrap();
            let file = function["filenames"][number(6) as usize].as_str().unwrap();
            *regions.entry((name.into(), file_name(Path::new(file)), number(0), number(1))).or_default() += 1;
        }
    }
    regions
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn counted(unit: &Unit) -> Regions {
    let mut regions = Regions::new();
    for marker in unit.map.markers.values() {
        let function = &unit.map.functions[marker.function].symbol;
        for place in counted_places(marker) {
            let file = file_name(&unit.map.files[place.file].path);
            let key = (function.clone(), file, u64::from(place.line), u64::from(place.column));
            *regions.entry(key).or_default() += 1;
        }
    }
    regions
}

fn counted_places(marker: &Marker) -> Vec<Place> {
    match &marker.kind {
        MarkerKind::Condition { counted: true } => vec![marker.spelled],
        MarkerKind::Condition { counted: false } | MarkerKind::Handler => Vec::new(),
        MarkerKind::Switch { labels, default_counted, .. } => {
            let implicit = (*default_counted && marker.outcomes() as usize > labels.len()).then_some(marker.spelled);
            labels.iter().map(|label| label.spelled).chain(implicit).collect()
        }
    }
}

#[test]
fn markers_are_the_branches_of_llvm_cov() {
    let toolchain = Toolchain::find().unwrap();
    let mut differences = Vec::new();
    let mut total = 0;
    for sample in samples() {
        let folder = tempfile::tempdir().unwrap();
        let unit = analyse_sample(&toolchain, &sample);
        let (ours, theirs) = (counted(&unit), measured(&toolchain, &unit, folder.path()));
        total += theirs.values().sum::<i64>();
        for key in ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(key))) {
            let (our, their) = (ours.get(key).unwrap_or(&0), theirs.get(key).unwrap_or(&0));
            if our != their {
                differences.push(format!("{}: {key:?} ours {our}, llvm-cov {their}", sample.display()));
            }
        }
    }
    println!("{total} branch regions compared");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_marker_stands_in_the_graph_of_its_function() {
    let toolchain = Toolchain::find().unwrap();
    for sample in samples() {
        let unit = analyse_sample(&toolchain, &sample);
        for (id, marker) in unit.map.markers.iter() {
            let function = &unit.map.functions[marker.function];
            let leaving = function.cfg.edges.values().filter(|edge| edge.from == marker.node).count();
            assert_eq!(leaving, marker.outcomes() as usize, "{}: {id} `{}`", sample.display(), marker.text);
            assert!(function.markers.contains(&id));
        }
        for function in unit.map.functions.values() {
            for edge in function.cfg.edges.values() {
                assert!(edge.to.index() < function.cfg.nodes.len());
            }
        }
    }
}

#[test]
fn marked_text_compiles_to_bitcode() {
    let toolchain = Toolchain::find().unwrap();
    for sample in samples() {
        let folder = tempfile::tempdir().unwrap();
        let unit = analyse_sample(&toolchain, &sample);
        let bitcode = folder.path().join("marked.bc");
        branchwise_frontend::compile_bitcode(&toolchain, &unit, &bitcode)
            .unwrap_or_else(|e| panic!("{}: {e}", sample.display()));
        assert!(bitcode.metadata().unwrap().len() > 0);
    }
}
