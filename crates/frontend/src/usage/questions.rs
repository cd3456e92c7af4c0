//! What the text of a function tells: questions to the library whose answers a test could bring about otherwise, or another
//! library give, and the variables that it mentions.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::BTreeSet;

use clang_sys::*;

use crate::clang::Cursor;
use crate::functions::{is_function, qualified};

/// What tells a program who else owns an object.
const OF_OWNERS: [&str; 7] =
    ["use_count", "unique", "expired", "lock", "owner_before", "shared_from_this", "weak_from_this"];

/// Methods and functions of the library with results that the standard leaves open.
const LEFT_OPEN: [&str; 11] = [
    "std::vector::capacity",
    "std::basic_string::capacity",
    "std::__cxx11::basic_string::capacity",
    "std::unordered_map::bucket_count",
    "std::unordered_set::bucket_count",
    "std::unordered_map::bucket",
    "std::unordered_set::bucket",
    "std::hash::operator()",
    "std::type_info::name",
    "std::type_info::hash_code",
    "std::exception::what",
];

/// What the functions of a unit ask and mention.
pub(crate) struct Questions<'u> {
    /// Some function asks for owners.
    asks: bool,
    /// The end of the last owner runs code of the unit.
    destroys: bool,
    /// What some function asks that the standard leaves open.
    left_open: BTreeSet<String>,
    /// Variables that outlive calls and that some function mentions.
    variables: Vec<Cursor<'u>>,
}

impl<'u> Questions<'u> {
    pub fn of_unit(declarations: &[Cursor<'u>]) -> Self {
        let (mut asks, mut destroys, mut left_open) = (false, false, BTreeSet::new());
        let mut variables = Vec::new();
        let own: Vec<Cursor<'_>> = declarations.iter().copied().filter(|one| !one.in_system_header()).collect();
        visit(&own, &mut |cursor| {
            asks |= asks_for_owners(cursor);
            destroys |= cursor.kind() == CXCursor_Destructor && cursor.is_definition();
            left_open.extend(open_question(cursor));
            add_variable(cursor, &mut variables);
        });
        Questions { asks, destroys, left_open, variables }
    }

    /// Variables that outlive calls and that a function may change or look at: it mentions them, or calls a function of the unit.
    pub fn variables(&self, function: Cursor<'u>) -> Vec<Cursor<'u>> {
        let (mut own, mut calls) = (Vec::new(), false);
        visit(&function.children(), &mut |cursor| {
            add_variable(cursor, &mut own);
            calls |= calls_unit(cursor);
        });
        if calls { self.variables.clone() } else { own }
    }

    /// Whether a function can tell how many owners an object has: it asks, or calls a function of the unit, where one does.
    pub fn sees_owners(&self, function: Cursor<'_>) -> bool {
        let (mut asks, mut calls) = (false, false);
        visit(&function.children(), &mut |cursor| {
            asks |= asks_for_owners(cursor);
            calls |= calls_unit(cursor);
        });
        self.destroys || self.asks && (asks || calls)
    }

    /// What a function asks that the standard leaves open, itself or perhaps in a function of the unit that it calls.
    pub fn left_open(&self, function: Cursor<'_>) -> BTreeSet<String> {
        let (mut own, mut calls) = (BTreeSet::new(), false);
        visit(&function.children(), &mut |cursor| {
            own.extend(open_question(cursor));
            calls |= calls_unit(cursor);
        });
        if calls { self.left_open.clone() } else { own }
    }
}

fn add_variable<'u>(cursor: Cursor<'u>, variables: &mut Vec<Cursor<'u>>) {
    let refers = matches!(cursor.kind(), CXCursor_DeclRefExpr | CXCursor_MemberRefExpr);
    let variable = cursor.referenced().filter(|it| refers && it.kind() == CXCursor_VarDecl && outlives_calls(*it));
    let is_new = |variable: &Cursor<'u>| !variables.iter().any(|known| known.usr() == variable.usr());
    let variable = variable.map(Cursor::canonical).filter(is_new);
    variables.extend(variable);
}

fn outlives_calls(variable: Cursor<'_>) -> bool {
    let is_local = variable.semantic_parent().is_some_and(|scope| is_function(scope.kind()));
    let is_static = !is_local || variable.storage_class() == CX_SC_Static;
    is_static && !variable.in_system_header() && !variable.clang_type().canonical().is_const()
}

fn asks_for_owners(cursor: Cursor<'_>) -> bool {
    cursor.kind() == CXCursor_MemberRefExpr && OF_OWNERS.contains(&cursor.spelling().as_str())
}

fn calls_unit(cursor: Cursor<'_>) -> bool {
    cursor.kind() == CXCursor_CallExpr && cursor.referenced().is_some_and(|callee| !callee.in_system_header())
}

/// The name of what a call asks, without the namespace of the library's version.
fn open_question(cursor: Cursor<'_>) -> Option<String> {
    let is_call = matches!(cursor.kind(), CXCursor_CallExpr | CXCursor_MemberRefExpr | CXCursor_DeclRefExpr);
    let callee = cursor.referenced().filter(|callee| is_call && callee.in_system_header())?;
    let name = qualified(callee);
    LEFT_OPEN.contains(&name.as_str()).then(|| name.replace("__cxx11::", ""))
}

fn visit<'u>(cursors: &[Cursor<'u>], see: &mut dyn FnMut(Cursor<'u>)) {
    for &cursor in cursors {
        see(cursor);
        visit(&cursor.children(), see);
    }
}
