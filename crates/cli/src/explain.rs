//! `branchwise explain`: why a goal has its verdict.

use branchwise_results::Folder;

use crate::arguments::ExplainArguments;
use crate::error::CliError;
use crate::exit::Exit;
use crate::generate::print_text;

pub fn explain(arguments: &ExplainArguments) -> Result<Exit, CliError> {
    let report = Folder::open(&arguments.folder)?;
    print_text(&branchwise_report::explain(&report, &arguments.goal)?)?;
    Ok(Exit::Done)
}
