//! How the user's files are read: which flags are used, and what the compiler may take.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use branchwise_frontend::{Harm, RefusedFlag, check_flags};
use branchwise_replay::Layers;
use branchwise_tools::ToolRules;
use clap::Args;

use crate::error::CliError;
use crate::sources::SourceFile;

#[derive(Debug, Args)]
pub struct ReadArguments {
    /// Seconds to read and compile one file, at most
    #[arg(long, value_name = "SECONDS", default_value_t = ToolRules::TIME.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    pub read_time: u64,

    /// Megabytes for each process that reads or compiles a file
    #[arg(long, value_name = "MEGABYTES", default_value_t = ToolRules::MEGABYTES, value_parser = clap::value_parser!(u64).range(128..))]
    pub read_memory: u64,

    /// Use flags that load code into the compiler or write files, and do not confine the compiler
    #[arg(long)]
    pub trust_flags: bool,
}

impl ReadArguments {
    /// Returns how compilers run where programs are confined by these layers.
    pub fn rules(&self, layers: Layers) -> ToolRules {
        let layers = if self.trust_flags { Layers::NONE } else { layers };
        ToolRules::new(layers, Duration::from_secs(self.read_time), self.read_memory)
    }

    /// Returns the flags of one file that are used; an error names one without which it cannot be read. Notes get the others.
    pub fn usable(&self, file: SourceFile, notes: &mut FlagNotes) -> Result<SourceFile, CliError> {
        if self.trust_flags {
            return Ok(file);
        }
        let checked = check_flags(&file.flags);
        if let Some(refused) = checked.obstacle() {
            return Err(not_read(&file.path, refused));
        }
        checked.refused.into_iter().for_each(|refused| *notes.files.entry(refused.flag).or_default() += 1);
        Ok(SourceFile { flags: checked.kept, ..file })
    }
}

/// The error for a file that has a flag without which it cannot be read.
pub fn not_read(path: &Path, refused: &RefusedFlag) -> CliError {
    let error = CliError::input(format!("{} is not read: {refused}", path.display()));
    error.with_hint("remove the flag, or give --trust-flags if you trust whoever wrote it")
}

/// Flags that are not used, with the number of files that have them.
#[derive(Debug, Default)]
pub struct FlagNotes {
    files: BTreeMap<String, usize>,
}

impl FlagNotes {
    /// Returns a sentence for each flag.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        self.files.iter().map(|(flag, &files)| {
            let without = if files == 1 { "a file is".to_owned() } else { format!("{files} files are") };
            let harm = Harm::WritesElsewhere.words();
            format!("the flag '{flag}' is refused: {harm}; {without} read without it (--trust-flags uses it)")
        })
    }
}
