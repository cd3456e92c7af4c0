//! What the tests of this crate share.
#![allow(dead_code)]

pub mod text;

use std::path::{Path, PathBuf};
use std::process::Command;

use branchwise_frontend::{Source, Toolchain, Unit, analyse};

/// The sample programs, and those of a further folder that `BRANCHWISE_SAMPLES` names.
pub fn samples() -> Vec<PathBuf> {
    let mut samples = own_samples();
    if let Some(folder) = std::env::var_os("BRANCHWISE_SAMPLES") {
        samples.extend(c_files(Path::new(&folder)));
    }
    samples
}

pub fn own_samples() -> Vec<PathBuf> {
    c_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples")))
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let mut samples: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    samples.sort();
    assert!(!samples.is_empty());
    samples
}

pub fn analyse_sample(toolchain: &Toolchain, path: &Path) -> Unit {
    analyse(toolchain, &Source { path, flags: &[], set_statics: false, instances: &[] })
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a program and gives its output; its failure fails the test with what it said.
pub fn run(command: &[&str]) -> String {
    let output = Command::new(command[0]).args(&command[1..]).output().unwrap();
    let said = [&output.stderr, &output.stdout].map(|said| String::from_utf8_lossy(said).into_owned());
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, said.concat());
    String::from_utf8(output.stdout).unwrap()
}

type Counts = std::collections::BTreeMap<(String, String, u64, u64), Vec<(u64, u64)>>;

/// Compiles a text of the unit with a runtime, runs it and gives its output. Plain C is measured for llvm-cov.
pub fn compile_and_run(
    toolchain: &Toolchain,
    unit: &Unit,
    text: &str,
    name: &str,
    runtime: &str,
    folder: &Path,
) -> String {
    let (source, runtime_source) = (folder.join(name), folder.join("runtime.c"));
    std::fs::write(&source, text).unwrap();
    std::fs::write(&runtime_source, runtime).unwrap();
    let (object, program) = (source.with_extension("o"), source.with_extension("run"));
    let plain = name.ends_with(".c");
    let (language, measure) = if plain { ("c", "-fcoverage-mapping") } else { ("cpp-output", "-w") };
    let instrument = if plain { "-fprofile-instr-generate" } else { "-w" };
    let clang = toolchain.clang.to_str().unwrap();
    let mut compile = vec![clang, "-w", "-c", measure, instrument, "-x", language, source.to_str().unwrap(), "-o"];
    compile.push(object.to_str().unwrap());
    compile.extend(unit.flags.iter().map(String::as_str));
    run(&compile);
    let (object, program) = (object.to_str().unwrap(), program.to_str().unwrap());
    run(&[clang, "-w", instrument, runtime_source.to_str().unwrap(), object, "-lm", "-o", program]);
    let output = Command::new(program).env("LLVM_PROFILE_FILE", folder.join("plain.profraw")).output().unwrap();
    assert!(output.status.success(), "{program}: {:?}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// What llvm-cov says of the program that `compile_and_run` measured.
pub fn branch_counts(toolchain: &Toolchain, folder: &Path) -> Counts {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (raw, profile) = (path("plain.profraw"), path("plain.profdata"));
    run(&[toolchain.llvm_profdata.to_str().unwrap(), "merge", &raw, "-o", &profile]);
    let profile = format!("--instr-profile={profile}");
    let json = run(&[toolchain.llvm_cov.to_str().unwrap(), "export", &profile, &path("plain.run")]);
    let export: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut counts = Counts::new();
    for function in export["data"][0]["functions"].as_array().unwrap() {
        let name = function["name"].as_str().unwrap().rsplit(':').next().unwrap();
        for branch in function["branches"].as_array().unwrap() {
            let number = |index: usize| branch[index].as_u64().unwrap();
            let file = Path::new(function["filenames"][number(6) as usize].as_str().unwrap());
            let file = file.file_name().unwrap().to_string_lossy().into_owned();
            counts.entry((name.into(), file, number(0), number(1))).or_default().push((number(4), number(5)));
        }
    }
    counts.values_mut().for_each(|regions| regions.sort());
    counts
}
