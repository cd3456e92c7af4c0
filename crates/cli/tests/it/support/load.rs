//! A file as the executor sees it.

use std::path::Path;

use branchwise_program::Program;

use super::reading::{Options, read};

pub fn load(file: &Path) -> Program {
    let options = Options { flags: &[], allocations_fail: false, set_statics: false };
    read(file, &options).expect("the program is read").1
}
