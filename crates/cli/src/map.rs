//! `branchwise map`: the graphs of a file's functions.

use crate::arguments::MapArguments;
use crate::error::CliError;
use crate::exit::Exit;

pub fn map(arguments: &MapArguments) -> Result<Exit, CliError> {
    let files: Vec<String> = arguments.files.iter().map(|file| file.display().to_string()).collect();
    Err(CliError::input(format!("cannot show the map of {} yet", files.join(", "))))
}
