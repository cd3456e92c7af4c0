//! A file as the executor sees it.

use std::path::Path;

use branchwise_frontend::{Source, Toolchain, analyse, compile_bitcode, lower};
use branchwise_program::Program;

pub fn load(file: &Path) -> Program {
    let toolchain = Toolchain::find().expect("clang-19");
    let unit = analyse(&toolchain, &Source { path: file, flags: &[], set_statics: false, instances: &[] })
        .expect("it compiles");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bitcode = folder.path().join("unit.bc");
    compile_bitcode(&toolchain, &unit, &bitcode).expect("it compiles with markers");
    let code = lower::lower_bitcode(&bitcode).expect("bitcode of this LLVM");
    Program { map: unit.map, code }
}
