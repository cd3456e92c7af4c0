//! How an emitted file reaches the file under test: it includes it, so static functions can be called too.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use branchwise_program::map::Map;

use super::allocations;
use super::declare::declaration;
use super::stubs;
use super::symbols::own_symbols;
use crate::file_report::FileReport;

/// More steps up than this read worse than an absolute path.
const MOST_STEPS_UP: usize = 4;

/// The lines before the tests; the matching [`END`] stands at the end of the file. `foreign` are symbols that the tests
/// or their framework need for themselves.
pub fn unit_include(file: &FileReport, folder: &Path, file_name: &str, foreign: &[&str]) -> String {
    let map = file.map;
    let path = path_from(folder, file.source);
    let (renamed, forgotten) = allocations::renamings(file);
    let symbols = match file.is_cpp() {
        true => [main_label(map), stubs::symbols(map)].concat(),
        false => [main_label(map), own_symbols(map, foreign), stubs::symbols(map), defined_elsewhere(map)].concat(),
    };
    let include = format!("{symbols}{renamed}#include \"{}\"{forgotten}", path.display());
    format!(
        "\
#if defined(__clang__) || defined(BRANCHWISE_FILE_UNDER_TEST)
/* The file under test, whose warnings are not the matter here. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored \"-Weverything\"
#else
#pragma GCC system_header
#endif
{include}
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#else
/* GCC gives no warnings for a system header, and only an included file can be one: this file itself. */
#define BRANCHWISE_FILE_UNDER_TEST
#include \"{file_name}\"
#undef BRANCHWISE_FILE_UNDER_TEST
#endif

#ifndef BRANCHWISE_FILE_UNDER_TEST
"
    )
}

/// Functions that the unit calls and does not define: weak, so that the tests link with them and without.
fn defined_elsewhere(map: &Map) -> String {
    let calls = map.functions.values().flat_map(|function| &function.calls).filter(|call| call.declared_by_user);
    let names: BTreeSet<&str> = calls.filter_map(|call| call.callee.as_deref()).collect();
    let is_elsewhere = |name: &&str| map.function_named(name).is_none() && !stubs::is_stubbed(map, name);
    let elsewhere = names.into_iter().filter(|name| !name.starts_with("__")).filter(is_elsewhere);
    elsewhere.map(|name| format!("#pragma weak {name}\n")).collect()
}

/// Variables that the unit only declares: weak, so that the tests link with their definitions and without.
pub fn undefined_variables(map: &Map) -> String {
    let mut text = String::new();
    for variable in &map.undefined_variables {
        let (name, storage) = (&variable.name, if variable.thread_local { "_Thread_local " } else { "" });
        text += &match variable.elements {
            Some(elements) => format!("{storage}__typeof__({name}[0]) {name}[{elements}] __attribute__((weak));\n"),
            None => format!("{storage}__typeof__({name}) {name} __attribute__((weak));\n"),
        };
    }
    if text.is_empty() { text } else { format!("\n/* Defined here in case that nobody else does. */\n{text}") }
}

pub const END: &str = "#endif /* BRANCHWISE_FILE_UNDER_TEST */\n";

/// The user's `main` stays `main` for the compiler, so that it returns 0 where it says nothing, but its symbol makes room
/// for the `main` of the tests.
fn main_label(map: &Map) -> String {
    let Some(main) = map.function_named("main").map(|id| &map.functions[id]) else { return String::new() };
    let parameters: Vec<String> =
        main.parameters.iter().map(|parameter| declaration(&map.types, parameter.type_id, "")).collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let declared = declaration(&map.types, main.result, &format!("main({parameters})"));
    format!("{declared} __asm__(\"branchwise_user_main\");\n")
}

/// The way from a folder to a file, as `#include` may write it.
pub fn path_from(folder: &Path, file: &Path) -> PathBuf {
    let (Ok(folder), Ok(file)) = (std::path::absolute(folder), std::path::absolute(file)) else {
        return file.to_owned();
    };
    let (folder, file) = (normal(&folder), normal(&file));
    let common = folder.components().zip(file.components()).take_while(|(left, right)| left == right).count();
    let up = folder.components().count() - common;
    if up > MOST_STEPS_UP {
        return file;
    }
    let steps = std::iter::repeat_n(PathBuf::from(".."), up);
    steps.chain(file.components().skip(common).map(|part| PathBuf::from(part.as_os_str()))).collect()
}

/// Without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_files_are_reached_relatively() {
        let path = |folder, file| path_from(Path::new(folder), Path::new(file)).display().to_string();
        assert_eq!(path("/home/me/out", "/home/me/src/shape.c"), "../src/shape.c");
        assert_eq!(path("/home/me", "/home/me/shape.c"), "shape.c");
        assert_eq!(path("/a/b/c/d/e/f", "/x/shape.c"), "/x/shape.c");
        assert_eq!(path("/home/me/./out/../out", "/home/me/shape.c"), "../shape.c");
    }
}
