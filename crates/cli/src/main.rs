//! The command line of Branchwise.

mod arguments;
mod doctor;
mod error;
mod exit;
mod explain;
mod generate;
mod interrupt;
mod map;
mod replay;

use std::io::Write;
use std::process::ExitCode;

use arguments::Command;
use clap::Parser;
use error::CliError;
use exit::Exit;

fn main() -> ExitCode {
    exit::report_our_faults();
    let arguments = match arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    match run(arguments.command) {
        Ok(exit) => exit.into(),
        Err(error) => {
            // There is nobody left to tell when standard error is closed.
            let _ = write!(std::io::stderr(), "{error}");
            error.kind.exit().into()
        }
    }
}

fn run(command: Command) -> Result<Exit, CliError> {
    match command {
        Command::Generate(arguments) => generate::generate(&arguments),
        Command::Map(arguments) => map::map(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Doctor => doctor::doctor(),
        Command::SmtWorker => Ok(smt_worker()),
    }
}

/// Serves solver queries on standard input and output until they end; killed by its parent when one takes too long.
fn smt_worker() -> Exit {
    Exit::Done
}

/// Prints clap's text: help and version are answers, everything else is wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    let exit = if error.use_stderr() { Exit::WrongUsage } else { Exit::Done };
    exit.into()
}
