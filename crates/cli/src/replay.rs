//! `branchwise replay`: a stored suite, run and measured again.

use branchwise_report::Suite;

use crate::arguments::ReplayArguments;
use crate::error::CliError;
use crate::exit::Exit;

pub fn replay(arguments: &ReplayArguments) -> Result<Exit, CliError> {
    let suite = Suite::load(&arguments.folder)?;
    let functions: usize = suite.files.iter().map(|file| file.functions.len()).sum();
    Err(CliError::input(format!("cannot replay the tests of {functions} functions yet")))
}
