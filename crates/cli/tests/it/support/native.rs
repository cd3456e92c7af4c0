//! A C file as the executor sees it and as the machine runs it.

use std::path::Path;

use branchwise_program::map::Language;
use branchwise_program::{FunctionId, Program};
use branchwise_replay::{Harness, Limits, Sources, Tools};

use super::reading::{Options, read};

pub struct Subject {
    pub program: Program,
    pub harness: Harness,
}

impl Subject {
    pub fn load(file: &Path, options: &Options<'_>) -> Result<Self, String> {
        let tools = Tools::find().map_err(|error| error.to_string())?;
        let (unit, program) = read(file, options)?;
        let sources = Sources {
            marked: &unit.marked,
            plain: &unit.plain,
            flags: &unit.flags,
            language: Language::C,
            map: &program.map,
            others: &[],
        };
        let harness = Harness::build(&tools, &sources, Limits::default()).map_err(|error| error.to_string())?;
        Ok(Subject { program, harness })
    }

    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.program.map.functions.iter().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }
}
