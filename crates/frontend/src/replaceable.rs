//! Definitions that callers may not get: inline functions of C, of which another file may have its own.

use std::collections::BTreeSet;

use branchwise_program::map::Language;
use clang_sys::{CX_SC_None, CXCursor_FunctionDecl};

use crate::clang::Cursor;

/// Flags with which `inline` means what it meant before C99: the definition is one for all files.
const OLD_INLINE: [&str; 7] =
    ["-fgnu89-inline", "-ansi", "-std=c89", "-std=c90", "-std=gnu89", "-std=gnu90", "-std=iso9899:1990"];

/// Inline functions of C that no declaration makes external.
pub(crate) fn inline_functions(language: Language, flags: &[String], declarations: &[Cursor<'_>]) -> BTreeSet<String> {
    if language != Language::C || flags.iter().any(|flag| OLD_INLINE.contains(&flag.as_str())) {
        return BTreeSet::new();
    }
    let functions =
        || declarations.iter().filter(|it| it.kind() == CXCursor_FunctionDecl && !it.has_internal_linkage());
    let is_plain = |it: &&Cursor<'_>| it.is_inline() && it.storage_class() == CX_SC_None && !it.in_system_header();
    // Clang takes every declaration of an inline function for one, so only the storage class tells.
    let external: BTreeSet<String> =
        functions().filter(|it| it.storage_class() != CX_SC_None).map(|it| it.spelling()).collect();
    let names = functions().filter(is_plain).map(|it| it.spelling());
    names.filter(|name| !external.contains(name)).collect()
}

/// Whether the loader may replace external definitions of a shared library.
pub(crate) fn is_interposable(flags: &[String]) -> bool {
    let last = flags.iter().rev().find(|flag| flag.ends_with("semantic-interposition"));
    let shared = flags.iter().any(|flag| ["-fPIC", "-fpic"].contains(&flag.as_str()));
    shared && last.is_some_and(|flag| flag == "-fsemantic-interposition")
}
