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

/// All code that decides how a harness is built: the crate's own, and the table of what is renamed.
const FOLDERS: [&str; 2] = ["src", "../program/src/library"];

fn main() {
    println!("cargo:rerun-if-env-changed=PATH");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let clang = branchwise_tools::find_tool("clang").unwrap_or_else(|error| {
        panic!("the harness's runtime needs clang {}: {error}\nHint: apt install clang-19", branchwise_tools::VERSION)
    });
    FOLDERS.iter().for_each(|folder| println!("cargo:rerun-if-changed={folder}"));
    println!("cargo:rustc-env=HOW_HARNESSES_ARE_BUILT={}", branchwise_tools::fingerprint(&FOLDERS));
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
