//! How an emitted file reaches the file under test: it includes it, so static functions can be called too.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use branchwise_program::map::Map;

use super::declare::declaration;
use super::test_function::TestFunction;

/// More steps up than this read worse than an absolute path.
const MOST_STEPS_UP: usize = 4;

/// The lines before the tests; the matching [`END`] stands at the end of the file.
pub fn unit_include(map: &Map, source: &Path, folder: &Path, file_name: &str) -> String {
    let path = path_from(folder, source);
    let include = format!("{}{}#include \"{}\"", main_label(map), defined_elsewhere(map), path.display());
    format!(
        "\
#ifdef BRANCHWISE_FILE_UNDER_TEST
/* GCC: as a system header, the file under test gives no warnings. */
#pragma GCC system_header
{include}
#else
#define BRANCHWISE_FILE_UNDER_TEST
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored \"-Weverything\"
{include}
#pragma clang diagnostic pop
#else
#include \"{file_name}\" /* this file: the lines above */
#endif
"
    )
}

/// Functions that the unit calls and does not define: weak, so that the tests link with them and without.
fn defined_elsewhere(map: &Map) -> String {
    let calls = map.functions.values().flat_map(|function| &function.calls).filter(|call| call.declared_by_user);
    let names: BTreeSet<&str> = calls.filter_map(|call| call.callee.as_deref()).collect();
    let elsewhere = names.into_iter().filter(|name| map.function_named(name).is_none() && !name.starts_with("__"));
    elsewhere.map(|name| format!("#pragma weak {name}\n")).collect()
}

pub const END: &str = "#endif /* BRANCHWISE_FILE_UNDER_TEST */\n";

/// Copies an object to where `free` may be called on it.
pub const HEAP: &str = r#"
/* The function under test may free this. */
static void *branchwise_heap(const void *bytes, size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        abort();
    return memcpy(memory, bytes, size);
}
"#;

/// Whether a test needs [`HEAP`].
pub fn uses_heap(tests: &[TestFunction]) -> bool {
    tests.iter().any(|test| test.text.contains("branchwise_heap("))
}

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
