//! `branchwise explain`: why a goal has its verdict.

use crate::arguments::ExplainArguments;
use crate::error::CliError;
use crate::exit::Exit;
use crate::generate::print_text;

pub fn explain(arguments: &ExplainArguments) -> Result<Exit, CliError> {
    let report = branchwise_report::load_report(&arguments.folder)?;
    print_text(&branchwise_report::explain(&report, &arguments.goal)?)?;
    Ok(Exit::Done)
}
