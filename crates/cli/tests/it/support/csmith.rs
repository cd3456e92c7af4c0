//! Programs of csmith, which have no inputs, no undefined behaviour and a checksum over all their globals at the end:
//! executed, they must do what they do when they are compiled.

use crate::support::folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use branchwise_constraints::Model;
use branchwise_facts::Facts;
use branchwise_generate::{disagreement, test_case};
use branchwise_symbolic::{Output, PathEnd, RunLimits, Session};

use super::native::Subject;
use super::reading::Options;
use super::tool;

/// Where Debian's libcsmith-dev has the headers of the programs.
const HEADERS: &str = "/usr/include/csmith";

/// csmith does not promise that its programs end. The executor stops after so many instructions, which a native run has
/// long done when its time is over: what was decided until then is compared.
const INSTRUCTIONS: u64 = 20_000_000;

/// A checksum for the driver to hand out: what is printed is not observed.
const CHECKSUM: &str = "#undef main
unsigned checksum(void) {
    char *arguments[] = {\"program\", 0};
    (csmith_main)(1, arguments);
    return crc32_context;
}
";

/// What came of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Both ended in the same way, with the same decisions and the same checksum.
    Same,
    /// It made more instructions than the executor may; up to there, both decided the same.
    Endless,
    /// The executor cannot do something; up to there, both decided the same.
    Unsupported(String),
    Different(String),
}

/// Options that every program is made with. All that csmith can do is on, but for what would leave C (`--lang-cpp`), give
/// up that everything is defined (`--no-safe-math`; `--builtins`, which takes `__builtin_ctz` of zero), or leave nothing to
/// compare (`--no-checksum`).
fn options(seed: u64) -> Vec<&'static str> {
    let mut options = vec!["--inline-function"];
    if !seed.is_multiple_of(4) {
        // Smaller than csmith's defaults: what most costs is to compile, and many small programs show more.
        options.extend(["--max-funcs", "5", "--max-block-depth", "4"]);
    }
    match seed % 8 {
        1 => options.push("--float"),
        2 => options.push("--paranoid"),
        3 => options.push("--no-argc"),
        5 => options.extend(["--max-pointer-depth", "4"]),
        _ => {}
    }
    options
}

/// Writes the program of a seed, with a function `checksum` that runs it.
pub fn write(seed: u64, folder: &Path) -> Result<PathBuf, String> {
    let made = folder.join("made.c");
    let mut csmith = Command::new("csmith");
    csmith.args(options(seed)).args(["--seed", &seed.to_string(), "--output"]).arg(&made);
    let run = tool::run(csmith, folder);
    if run.status != Some(0) {
        return Err(format!("csmith failed (package csmith): {}", run.errors));
    }
    let text = fs::read_to_string(&made).map_err(|error| error.to_string())?;
    let checksum = if seed % 8 == 3 { CHECKSUM.replace("1, arguments", "") } else { CHECKSUM.to_string() };
    let path = folder.join("program.c");
    fs::write(&path, format!("#define main csmith_main\n{text}{checksum}")).map_err(|error| error.to_string())?;
    Ok(path)
}

/// With markers in csmith's headers too, whose functions check every operation.
fn flags() -> Vec<String> {
    vec!["-w".to_string(), format!("-I{HEADERS}")]
}

/// Without csmith's own functions among the units: they are the same in every program.
pub fn flags_of_units() -> Vec<String> {
    vec!["-w".to_string(), format!("-isystem{HEADERS}")]
}

/// Executes the program of a seed and runs it natively.
pub fn compare(seed: u64) -> Outcome {
    compared(seed).unwrap_or_else(Outcome::Different)
}

fn compared(seed: u64) -> Result<Outcome, String> {
    let folder = folder::temporary();
    let path = write(seed, folder.path())?;
    let options = Options { flags: &flags(), allocations_fail: false, set_statics: false };
    let mut subject = Subject::load(&path, &options)?;
    let function = subject.function("checksum").ok_or("no function 'checksum'")?;
    let mut session = Session::new(&subject.program, function, 1).ok_or("no driver")?;
    let interrupt = AtomicBool::new(false);
    let limits = RunLimits {
        instructions: INSTRUCTIONS,
        loop_iterations: u64::MAX,
        call_depth: 1 << 12,
        terms: 1 << 22,
        standard_input: 0,
        interrupt: &interrupt,
    };
    let predicted = session.run(&Model::new(), &limits);
    let case = test_case(&session, &Model::new(), &predicted);
    let native = subject.harness.run(&[case]).map_err(|error| error.to_string())?.remove(0);
    let difference = disagreement(&predicted, &native);
    // The assertions of `--paranoid` ask whether a pointer lies between two others, and change nothing.
    if let Some(difference) = difference.filter(|_| !predicted.notes.caveats.looks_at_addresses) {
        return Ok(Outcome::Different(difference));
    }
    let facts = Facts::new(&subject.program).of_unit(function, &interrupt);
    if let Some(event) = facts.and_then(|facts| predicted.events.iter().find(|event| facts.excludes(**event)).copied())
    {
        return Ok(Outcome::Different(format!("{event:?} happens, although it was proved to be impossible")));
    }
    if let Some(fault) = predicted.notes.undefined.first() {
        return Ok(Outcome::Different(format!("{:?} in a program that is defined: {fault:?}", fault.kind)));
    }
    Ok(match predicted.end {
        PathEnd::Returned => checksums(&predicted.outputs, native.result.map(|result| result.bytes)),
        PathEnd::InstructionLimit { .. } => Outcome::Endless,
        PathEnd::Unsupported { what, .. } => Outcome::Unsupported(what),
        end => Outcome::Different(format!("a defined program ends with {end:?}")),
    })
}

/// Equal and known: a checksum of which nothing is predicted would agree with every other.
fn checksums(predicted: &[Output], native: Option<Vec<u8>>) -> Outcome {
    let predicted = predicted.iter().find(|output| output.index == 0);
    let predicted: Option<Vec<u8>> = predicted.and_then(|output| output.bytes.iter().copied().collect());
    match (predicted, native) {
        (Some(predicted), Some(native)) if predicted == native && native.len() == 4 => Outcome::Same,
        (predicted, native) => Outcome::Different(format!("checksum {predicted:?}, native {native:?}")),
    }
}
