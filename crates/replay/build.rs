//! Compiles the harness's runtime once for each kind of build; the crate embeds the objects.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Name of the object, and the flags that make this build's runtime differ.
const RUNTIMES: [(&str, &[&str]); 4] = [
    ("runtime", &[]),
    ("runtime-profile", &["-DBW_PROFILE"]),
    ("runtime-counting", &["-include", "src/counting.c"]),
    // The memory sanitizer knows nothing of what code without its instructions writes or returns.
    ("runtime-memory", &["-fsanitize=memory", "-fsanitize-recover=memory"]),
];

fn main() {
    println!("cargo:rerun-if-changed=src/runtime.c");
    println!("cargo:rerun-if-changed=src/counting.c");
    println!("cargo:rerun-if-env-changed=PATH");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let clang = branchwise_tools::find_tool("clang").unwrap_or_else(|error| {
        panic!("the harness's runtime needs clang {}: {error}\nHint: apt install clang-19", branchwise_tools::VERSION)
    });
    for (name, flags) in RUNTIMES {
        compile(&clang, flags, &folder.join(format!("{name}.o")));
    }
}

fn compile(clang: &Path, flags: &[&str], object: &Path) {
    let mut command = Command::new(clang);
    command.args(["-x", "c", "-std=gnu11", "-O1", "-w"]).args(flags);
    command.args(["-c", "src/runtime.c", "-o"]).arg(object);
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
