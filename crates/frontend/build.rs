//! Compiles the models of library functions (`library/*.c`, `library/cpp/*.cpp`, `library/cpp/std/*.cpp`) to a bitcode file each, which the crate embeds.

use std::path::{Path, PathBuf};
use std::process::Command;

/// All code that decides how a file is read: the crate's own, what it makes, and what it runs clang with.
const FOLDERS: [&str; 4] = ["src", "library", "../program/src", "../tools/src"];

fn main() {
    FOLDERS.iter().for_each(|folder| println!("cargo:rerun-if-changed={folder}"));
    println!("cargo:rustc-env=HOW_FILES_ARE_READ={}", branchwise_tools::fingerprint(&FOLDERS));
    println!("cargo:rerun-if-env-changed=PATH");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let clang = branchwise_tools::find_tool("clang").unwrap_or_else(|error| {
        panic!("the library models need clang {}: {error}\nHint: apt install clang-19", branchwise_tools::VERSION)
    });
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let source = folder.join("models.c");
    write(&source, &all_models(&library, "c"));
    compile(&clang, &["-std=gnu11", "-ffreestanding"], &source);
    let source = folder.join("models_cpp.cpp");
    write(&source, &all_models(&library.join("cpp"), "cpp"));
    compile(&clang, &["-std=gnu++17", "-ffreestanding"], &source);
    write_bucket_counts(&clang, &folder);
    let source = folder.join("models_std.cpp");
    write(&source, &all_models(&library.join("cpp").join("std"), "cpp"));
    compile(&clang, &["-std=gnu++17"], &source);
}

/// What the installed libstdc++ answers for all requests up to 2^40 buckets, as a list.
fn write_bucket_counts(clang: &Path, folder: &Path) {
    let (source, program) = (folder.join("bucket_counts.cpp"), folder.join("bucket_counts"));
    write(&source, BUCKET_COUNTS);
    run(Command::new(clang).args(["-std=gnu++17", "-w"]).arg(&source).args(["-lstdc++", "-o"]).arg(&program));
    let counts = run(&mut Command::new(&program));
    write(&folder.join("bucket_counts.h"), &String::from_utf8_lossy(&counts));
}

const BUCKET_COUNTS: &str = r#"
#include <cstdio>
#include <unordered_map>
int main() {
    std::__detail::_Prime_rehash_policy policy;
    for (std::size_t count = 0; count < std::size_t(1) << 40;) printf("%zuu,\n", count = policy._M_next_bkt(count + 1));
}
"#;

/// To bitcode beside the source.
fn compile(clang: &Path, kind: &[&str], source: &Path) {
    let (text, bitcode) = (source.with_extension("ll"), source.with_extension("bc"));
    // Without optimisation, like the user's code: a null pointer that is handed to a model must be dereferenced there.
    run(Command::new(clang)
        .args(kind)
        .arg("-I")
        .args(source.parent())
        .args(["-O0", "-Xclang", "-disable-O0-optnone", "-fno-builtin", "-g0"])
        .args(["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-S", "-emit-llvm", "-o"])
        .args([text.as_path(), source]));
    write(&text, &without_module_flags(&read(&text)));
    run(Command::new(clang)
        .args(["-Xclang", "-disable-llvm-passes", "-Wno-override-module", "-c", "-emit-llvm", "-o"])
        .args([&bitcode, &text]));
}

/// One text that includes every file, so that models may use each other's helpers.
fn all_models(folder: &Path, ending: &str) -> String {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == ending));
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

/// What it printed.
fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
