//! The built binary, run on one file.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

/// No run that a step budget bounds takes this long; one that does is stuck.
const STUCK_AFTER: Duration = Duration::from_secs(300);

/// What a run of the tool left behind.
#[derive(Debug)]
pub struct Run {
    pub status: Option<i32>,
    pub output: String,
    pub errors: String,
}

/// Runs `branchwise generate FILE --json --out FOLDER/out` with more arguments; its output is kept in `folder`.
pub fn generate(file: &Path, arguments: &[&str], flags: &[String], folder: &Path) -> Run {
    generate_files(file, &[&["--json"], arguments].concat(), flags, folder)
}

/// Runs the same without `--json`: standard output is what people see, and the report is in `FOLDER/out`.
pub fn generate_files(file: &Path, arguments: &[&str], flags: &[String], folder: &Path) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    command.arg("generate").arg(file).args(["--seed", "1", "--out"]).arg(folder.join("out")).args(arguments);
    if !flags.is_empty() {
        command.arg("--").args(flags);
    }
    run(command, folder)
}

/// Runs a command to its end, or until it is stuck.
pub fn run(mut command: Command, folder: &Path) -> Run {
    let (output, errors) = (folder.join("stdout"), folder.join("stderr"));
    let create = |path: &Path| File::create(path).expect("the folder of a run can be written");
    command.stdin(Stdio::null()).stdout(create(&output)).stderr(create(&errors));
    let status = wait(command);
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Run {
        status: status.and_then(|status| status.code()),
        output: read(&output).unwrap_or_default(),
        errors: read(&errors).unwrap_or_default(),
    }
}

fn wait(mut command: Command) -> Option<ExitStatus> {
    let started = Instant::now();
    let mut child = command.spawn().ok()?;
    while started.elapsed() < STUCK_AFTER {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Returns the whole report that a run left in `FOLDER/out`, as `--json` prints it.
pub fn stored(folder: &Path) -> Result<Json, String> {
    let report = branchwise_results::load(&folder.join("out")).map_err(|error| error.message)?;
    serde_json::to_value(report).map_err(|error| error.to_string())
}

impl Run {
    /// Returns the report that [`generate_files`] left in the folder of a run that ended well.
    pub fn report(&self, folder: &Path) -> Result<Json, String> {
        if self.status != Some(0) {
            return self.json();
        }
        stored(folder)
    }

    /// The JSON object on standard output of a run that ended well.
    pub fn json(&self) -> Result<Json, String> {
        let errors = self.errors.trim();
        match self.status {
            Some(0) => serde_json::from_str(&self.output).map_err(|error| format!("no valid JSON: {error}")),
            Some(status) => Err(format!("exit status {status}: {errors}")),
            None => Err(format!("ended by a signal, or stuck: {errors}")),
        }
    }
}
