//! The exit codes, all in one place.

use std::io::Write;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Done = 0,
    /// `--require PERCENT` was missed.
    RequirementMissed = 1,
    WrongUsage = 2,
    InputUnusable = 3,
    OurFault = 4,
    /// By Ctrl-C: 128 + SIGINT, as shells count.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// A panic is a fault of ours: say so and ask for a report. Whoever catches it decides what it ends.
pub fn report_our_faults() {
    std::panic::set_hook(Box::new(|info| {
        let _ = write!(std::io::stderr(), "{}", fault_text(info));
    }));
}

fn fault_text(info: &PanicHookInfo) -> String {
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "Error: a fault of Branchwise, not of your code: {message}{place}\n\
         Hint: please report it with the command, the file and this text (version {version})\n"
    )
}
