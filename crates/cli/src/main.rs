//! The command line of Branchwise.

mod arguments;
mod config;
mod doctor;
mod error;
mod exit;
mod explain;
mod generate;
mod how_made;
mod interrupt;
mod keeper;
mod map;
mod out_folder;
mod pipeline;
mod reading;
mod replay;
mod sandbox;
mod schedule;
mod seed_test;
mod sources;
mod temporary;

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
    if matches!(arguments.command, Command::SmtWorker) {
        return branchwise_constraints::smt_worker_main();
    }
    if matches!(arguments.command, Command::ReadWorker) {
        return branchwise_frontend::worker_main();
    }
    match std::panic::catch_unwind(|| run(arguments.command)) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(error)) => {
            error.tell();
            error.kind.exit().into()
        }
        Err(_) => Exit::OurFault.into(),
    }
}

fn run(command: Command) -> Result<Exit, CliError> {
    let needs_folder = matches!(command, Command::Generate(_) | Command::Map(_) | Command::Replay(_));
    let _folder = if needs_folder { Some(temporary::enter()?) } else { None };
    match command {
        Command::Generate(arguments) => generate::generate(&arguments),
        Command::Map(arguments) => map::map(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Doctor => doctor::doctor(),
        Command::SmtWorker | Command::ReadWorker => unreachable!("answered before"),
    }
}

/// Prints clap's text: help and version are answers, everything else is wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    let exit = if error.use_stderr() { Exit::WrongUsage } else { Exit::Done };
    exit.into()
}
