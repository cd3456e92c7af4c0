//! The exit codes, all in one place.

use std::io::Write;
use std::panic::PanicHookInfo;
use std::process::ExitCode;

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Done = 0,
    /// `--require PERCENT` was missed, or a native run disagrees with a result.
    Unsatisfied = 1,
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

/// How a run of `generate` ended.
#[derive(Debug, Default)]
pub struct Ending {
    pub interrupted: bool,
    /// A function was given up.
    pub our_fault: bool,
    /// The worst of what stopped whole files.
    pub failed: Option<Exit>,
    /// Something that the user gave for a function.
    pub unusable: bool,
    pub disagrees: bool,
    /// Less is covered than the user requires.
    pub missed: bool,
}

impl Ending {
    /// The first of these that happened tells most.
    pub fn exit(&self) -> Exit {
        match *self {
            Ending { interrupted: true, .. } => Exit::Interrupted,
            Ending { our_fault: true, .. } => Exit::OurFault,
            Ending { failed: Some(exit), .. } => exit,
            Ending { unusable: true, .. } => Exit::InputUnusable,
            Ending { disagrees: true, .. } | Ending { missed: true, .. } => Exit::Unsatisfied,
            _ => Exit::Done,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disagreement_ends_with_status_1() {
        let disagrees = Ending { disagrees: true, ..Ending::default() };
        assert_eq!(disagrees.exit(), Exit::Unsatisfied);
        assert_eq!(Exit::Unsatisfied as u8, 1);
        assert_eq!(Ending::default().exit(), Exit::Done);
    }

    #[test]
    fn what_stops_functions_or_files_comes_before_a_disagreement() {
        let disagrees = || Ending { disagrees: true, ..Ending::default() };
        assert_eq!(Ending { our_fault: true, ..disagrees() }.exit(), Exit::OurFault);
        assert_eq!(Ending { failed: Some(Exit::InputUnusable), ..disagrees() }.exit(), Exit::InputUnusable);
        assert_eq!(Ending { unusable: true, ..disagrees() }.exit(), Exit::InputUnusable);
        assert_eq!(Ending { interrupted: true, ..disagrees() }.exit(), Exit::Interrupted);
    }
}
