//! Calls in one expression of which the language does not say which comes first.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::BTreeSet;

use clang_sys::*;

use crate::clang::Cursor;
use crate::functions::is_function;

/// Two functions by their symbols, and how a report names both.
pub(crate) struct Pair {
    pub symbols: [String; 2],
    pub text: String,
}

/// The pairs of functions that one expression of a function calls in an order that is the compiler's.
pub(crate) fn pairs(function: Cursor<'_>) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    let mut open = vec![function];
    while let Some(cursor) = open.pop() {
        let parts = cursor.children();
        if is_unordered(cursor) {
            let called: Vec<BTreeSet<(String, String)>> = parts.iter().map(|&part| calls(part)).collect();
            for (index, earlier) in called.iter().enumerate() {
                let later = called[index + 1..].iter().flatten();
                for right in later {
                    earlier.iter().for_each(|left| add(&mut found, left, right));
                }
            }
        }
        open.extend(parts);
    }
    found
}

fn add(found: &mut Vec<Pair>, left: &(String, String), right: &(String, String)) {
    let symbols = [left.0.clone(), right.0.clone()];
    if !found.iter().any(|pair| pair.symbols == symbols) {
        found.push(Pair { symbols, text: format!("{} and {}", left.1, right.1) });
    }
}

/// Whether the parts of an expression are evaluated in any order.
fn is_unordered(cursor: Cursor<'_>) -> bool {
    let cpp = cursor.is_cpp();
    match cursor.kind() {
        CXCursor_CallExpr => !cursor.referenced().is_some_and(|callee| callee.spelling().starts_with("operator")),
        CXCursor_BinaryOperator => match cursor.binary_operator() {
            CXBinaryOperator_LAnd | CXBinaryOperator_LOr | CXBinaryOperator_Comma => false,
            CXBinaryOperator_Assign | CXBinaryOperator_Shl | CXBinaryOperator_Shr => !cpp,
            _ => true,
        },
        CXCursor_CompoundAssignOperator | CXCursor_ArraySubscriptExpr | CXCursor_InitListExpr => !cpp,
        _ => false,
    }
}

/// Symbols and names of all functions that are called by name in an expression.
fn calls(expression: Cursor<'_>) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut open = vec![expression];
    while let Some(cursor) = open.pop() {
        if cursor.kind() == CXCursor_CallExpr
            && let Some(callee) = cursor.referenced().filter(|callee| is_function(callee.kind()))
            && !only_looks(callee)
        {
            found.insert((callee.mangled().trim_start_matches('\u{1}').to_owned(), callee.spelling()));
        }
        open.extend(cursor.children());
    }
    found
}

/// Members of containers that count as constant ones although they are not (C++ standard, container data races).
const CONSTANT_IN_EFFECT: [&str; 13] = [
    "begin",
    "end",
    "rbegin",
    "rend",
    "front",
    "back",
    "data",
    "at",
    "find",
    "lower_bound",
    "upper_bound",
    "equal_range",
    "get",
];

/// Tells whether a function of the library of C++ changes nothing that another call could see.
fn only_looks(callee: Cursor<'_>) -> bool {
    let is_method = callee.kind() == CXCursor_CXXMethod && callee.in_system_header();
    is_method && (callee.is_const_method() || CONSTANT_IN_EFFECT.contains(&callee.spelling().as_str()))
}
