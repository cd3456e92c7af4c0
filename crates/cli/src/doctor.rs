//! `branchwise doctor`: is everything here that Branchwise needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use branchwise_replay::{Layers, MissingLayer};

use crate::error::CliError;
use crate::exit::Exit;
use crate::generate::print_text;

/// Something that must, or may, be installed.
struct Need {
    name: &'static str,
    package: &'static str,
    use_of_it: &'static str,
    required: bool,
    how: Probe,
}

enum Probe {
    /// A program on the PATH or in LLVM's folder; it prints its version.
    Program(&'static str),
    /// A shared library or file in one of these folders whose name starts so.
    File(&'static [&'static str], &'static str),
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Checked {
    name: &'static str,
    package: &'static str,
    use_of_it: &'static str,
    required: bool,
    /// Version or path; `None` when it is missing.
    found: Option<String>,
}

const LIBRARY_FOLDERS: &[&str] =
    &["/usr/lib/llvm-19/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"];
const RUNTIME_FOLDERS: &[&str] = &["/usr/lib/llvm-19/lib/clang/19/lib/linux", "/usr/lib/clang/19/lib/linux"];
const PROFILE_RUNTIME: &str =
    if cfg!(target_arch = "aarch64") { "libclang_rt.profile-aarch64" } else { "libclang_rt.profile-x86_64" };
const CATCH2_FOLDERS: &[&str] = &["/usr/include/catch2", "/usr/local/include/catch2"];
const HEADER_FOLDERS: &[&str] = &["/usr/include/gtest", "/usr/local/include/gtest"];

const NEEDS: [Need; 12] = [
    need("clang-19", "clang-19", "reads and compiles C", Probe::Program("clang-19")),
    need("libclang-19", "libclang1-19", "conditions, types and places", Probe::File(LIBRARY_FOLDERS, "libclang-19.so")),
    need("llvm-cov-19", "llvm-19", "measures coverage", Probe::Program("llvm-cov-19")),
    need("llvm-profdata-19", "llvm-19", "measures coverage", Probe::Program("llvm-profdata-19")),
    need("llvm-objcopy-19", "llvm-19", "prepares the replay", Probe::Program("llvm-objcopy-19")),
    need("profile runtime", "libclang-rt-19-dev", "measures coverage", Probe::File(RUNTIME_FOLDERS, PROFILE_RUNTIME)),
    need("libz3", "libz3-4", "solves path conditions", Probe::File(LIBRARY_FOLDERS, "libz3.so")),
    optional("llvm-symbolizer-19", "llvm-19", "confirms findings", Probe::Program("llvm-symbolizer-19")),
    optional("cvc5", "cvc5", "decides some conditions on floats that are left open", Probe::Program("cvc5")),
    optional("gcc", "gcc", "compiles emitted tests", Probe::Program("gcc")),
    optional("GoogleTest", "libgtest-dev", "runs --emit gtest", Probe::File(HEADER_FOLDERS, "gtest.h")),
    optional("Catch2", "catch2", "runs --emit catch2", Probe::File(CATCH2_FOLDERS, "catch")),
];

const fn need(name: &'static str, package: &'static str, use_of_it: &'static str, how: Probe) -> Need {
    Need { name, package, use_of_it, required: true, how }
}

const fn optional(name: &'static str, package: &'static str, use_of_it: &'static str, how: Probe) -> Need {
    Need { name, package, use_of_it, required: false, how }
}

const NAMESPACES_HINT: &str =
    "optional: a second wall around tests (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0)";

/// Prints what is there and what is not; fails when something is missing that is not optional.
pub fn doctor() -> Result<Exit, CliError> {
    let checked: Vec<Checked> = NEEDS.iter().map(check).collect();
    print_text(&(table(&checked) + &layer_table(Layers::of_this_machine())))?;
    let missing = |checked: &&Checked| checked.required && checked.found.is_none();
    match checked.iter().find(missing) {
        None => Ok(Exit::Done),
        Some(first) => Err(CliError::input(format!("{} is missing", first.name)).with_hint(install_line(&checked))),
    }
}

fn check(need: &Need) -> Checked {
    let found = match need.how {
        Probe::Program(program) => program_version(program),
        Probe::File(folders, start) => find_file(folders, start).map(|path| path.display().to_string()),
    };
    let Need { name, package, use_of_it, required, .. } = *need;
    Checked { name, package, use_of_it, required, found }
}

/// The first line of `--version`, of the program on the PATH or of the one in LLVM's own folder.
fn program_version(program: &str) -> Option<String> {
    let in_llvm = Path::new("/usr/lib/llvm-19/bin").join(program.trim_end_matches("-19"));
    [PathBuf::from(program), in_llvm].iter().find_map(|program| {
        let output = Command::new(program).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find(|line| line.contains("version")).or(text.lines().next())?;
        Some(line.trim().to_owned())
    })
}

fn find_file(folders: &[&str], start: &str) -> Option<PathBuf> {
    folders.iter().find_map(|folder| {
        let entries = std::fs::read_dir(folder).ok()?;
        let fits = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
        // The order of a folder's entries is no order: take the first by name.
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(fits).min()
    })
}

fn table(checked: &[Checked]) -> String {
    let width = checked.iter().map(|checked| checked.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Checked { name, package, use_of_it, required, found } in checked {
        text += &match (found, required) {
            (Some(found), _) => format!("ok       {name:<width$}  {found}\n"),
            (None, true) => format!("MISSING  {name:<width$}  {use_of_it} (package {package})\n"),
            (None, false) => format!("absent   {name:<width$}  optional: {use_of_it} (package {package})\n"),
        };
    }
    text
}

/// Says which layers confine native runs here, and what to do about those that do not.
fn layer_table(layers: Layers) -> String {
    let line = |name: &str, found: Option<String>, hint: &str| match found {
        Some(found) => format!("ok       {name:<18}  {found}\n"),
        None => format!("absent   {name:<18}  {hint}\n"),
    };
    let landlock = (layers.landlock > 0).then(|| format!("version {}: confines the files of tests", layers.landlock));
    let filter = layers.filter.then(|| "confines the system calls of tests".to_owned());
    let kinds = layers.namespace_kinds().join(", ");
    let namespaces = (!kinds.is_empty()).then(|| format!("{kinds}: on top of both"));
    line("Landlock", landlock, MissingLayer::Landlock.hint())
        + &line("seccomp", filter, MissingLayer::Filter.hint())
        + &line("namespaces", namespaces, NAMESPACES_HINT)
}

fn install_line(checked: &[Checked]) -> String {
    let mut packages: Vec<&str> = Vec::new();
    for missing in checked.iter().filter(|checked| checked.required && checked.found.is_none()) {
        if !packages.contains(&missing.package) {
            packages.push(missing.package);
        }
    }
    format!("on Debian or Ubuntu: apt-get install {}", packages.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn checked(name: &'static str, package: &'static str, required: bool, found: Option<&str>) -> Checked {
        Checked { name, package, use_of_it: "does its work", required, found: found.map(str::to_owned) }
    }

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let all = [
            checked("clang-19", "clang-19", true, Some("Debian clang version 19.1.7")),
            checked("llvm-cov-19", "llvm-19", true, None),
            checked("llvm-profdata-19", "llvm-19", true, None),
            checked("GoogleTest", "libgtest-dev", false, None),
        ];
        expect![[r#"
            ok       clang-19          Debian clang version 19.1.7
            MISSING  llvm-cov-19       does its work (package llvm-19)
            MISSING  llvm-profdata-19  does its work (package llvm-19)
            absent   GoogleTest        optional: does its work (package libgtest-dev)
        "#]]
        .assert_eq(&table(&all));
        expect!["on Debian or Ubuntu: apt-get install llvm-19"].assert_eq(&install_line(&all));
    }

    #[test]
    fn each_layer_of_confinement_has_a_line() {
        let all = Layers { landlock: 7, filter: true, namespaces: true };
        expect![[r#"
            ok       Landlock            version 7: confines the files of tests
            ok       seccomp             confines the system calls of tests
            ok       namespaces          user, pid, net, ipc: on top of both
        "#]]
        .assert_eq(&layer_table(all));
        expect![[r#"
            absent   Landlock            Landlock needs Linux 5.19 or later with 'landlock' in /sys/kernel/security/lsm (boot parameter lsm=landlock,…)
            absent   seccomp             seccomp needs a kernel with CONFIG_SECCOMP_FILTER
            absent   namespaces          optional: a second wall around tests (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0)
        "#]]
        .assert_eq(&layer_table(Layers::NONE));
    }
}
