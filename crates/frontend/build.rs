//! Compiles the models of library functions (`library/*.c`) to one bitcode file, which the crate embeds.

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "src/find_tool.rs"]
mod find_tool;

fn main() {
    println!("cargo:rerun-if-changed=library");
    println!("cargo:rerun-if-changed=src/find_tool.rs");
    println!("cargo:rerun-if-env-changed=PATH");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let clang = find_tool::find_tool("clang").unwrap_or_else(|error| {
        panic!("the library models need clang {}: {error}\nHint: apt install clang-19", find_tool::VERSION)
    });
    let (source, text, bitcode) = (folder.join("models.c"), folder.join("models.ll"), folder.join("models.bc"));
    write(&source, &all_models());
    // Without optimisation, like the user's code: a null pointer that is handed to a model must be dereferenced there.
    run(Command::new(&clang)
        .args(["-std=gnu11", "-O0", "-Xclang", "-disable-O0-optnone", "-ffreestanding", "-fno-builtin", "-g0"])
        .args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-S", "-emit-llvm", "-o"])
        .args([&text, &source]));
    write(&text, &without_module_flags(&read(&text)));
    run(Command::new(&clang)
        .args(["-Xclang", "-disable-llvm-passes", "-Wno-override-module", "-c", "-emit-llvm", "-o"])
        .args([&bitcode, &text]));
}

/// One text that includes every file, so that models may use each other's helpers.
fn all_models() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files.iter().map(|path| format!("#include \"{}\"\n", path.display())).collect()
}

/// The user's flags (`-fshort-wchar`, `-fPIC`) may contradict ours; the models depend on none of them.
fn without_module_flags(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("!llvm.module.flags")).map(|line| format!("{line}\n")).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
