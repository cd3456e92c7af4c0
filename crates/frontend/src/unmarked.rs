//! Functions whose conditions get no markers.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use clang_sys::*;

use crate::clang::{Cursor, file_offset};
use crate::conditions::Conditions;
use crate::functions::Named;
use crate::syntax::{Kind, SyntaxTree};

/// Why a function of C++ with conditions has no markers.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Unmarked {
    /// `= default`: the compiler wrote its conditions, the text has none.
    Defaulted,
    /// `consteval`: it runs in the compiler, where there is nobody to tell.
    Consteval,
    /// It stops and goes on, and who resumes it decides where.
    Coroutine,
    /// A lambda that gives a variable outside functions its initial value.
    BeforeTests,
}

impl Unmarked {
    /// `None`: its conditions get markers, or it has none.
    pub fn of(named: &Named<'_>, preprocessed: &str) -> Option<Unmarked> {
        let function = named.cursor;
        if !function.is_cpp() {
            return None;
        }
        let body = function.children().into_iter().rev().find(|child| child.is_statement())?;
        let why = match () {
            () if is_coroutine(body) => Unmarked::Coroutine,
            () if named.keeper.is_some_and(|keeper| keeper.calls_it) => Unmarked::BeforeTests,
            () if is_defaulted(function, body) => Unmarked::Defaulted,
            () if is_consteval(function, body, preprocessed) => Unmarked::Consteval,
            () => return None,
        };
        let Some(tree) = SyntaxTree::of_function(function) else { return Some(why) };
        let decides = !Conditions::find(&tree, preprocessed).points.is_empty();
        (decides || tree.ids().any(|id| tree[id].kind == Kind::Catch)).then_some(why)
    }

    /// `None`: nothing is missing.
    pub fn why_untested(self) -> Option<&'static str> {
        match self {
            Unmarked::Defaulted => None,
            Unmarked::Consteval => {
                Some("a consteval function runs in the compiler only: no test can reach its conditions")
            }
            Unmarked::BeforeTests => Some("it runs before every test: nothing is known of its conditions"),
            Unmarked::Coroutine => Some("a coroutine is not supported yet: nothing is known of its conditions"),
        }
    }
}

/// The body that the compiler writes lies at one token of the text, where the shortest written one has two.
fn is_defaulted(function: Cursor<'_>, body: Cursor<'_>) -> bool {
    function.is_defaulted() || file_offset(body.end()) <= file_offset(body.start()) + 1
}

/// libclang has no kind of its own for the body of a coroutine.
fn is_coroutine(body: Cursor<'_>) -> bool {
    body.kind() == CXCursor_UnexposedStmt
}

fn is_consteval(function: Cursor<'_>, body: Cursor<'_>, preprocessed: &str) -> bool {
    let offset = |location| file_offset(location) as usize;
    let (name, end) = (offset(function.location()), offset(body.start()));
    // The template that `auto` as a parameter makes has no start.
    let before = preprocessed.get(..name).and_then(|before| before.rfind([';', '{', '}'])).map_or(0, |at| at + 1);
    preprocessed.get(before.min(end)..end).is_some_and(|head| head.contains("consteval"))
}
