//! The functions that a unit defines, in C and in C++, and the names by which people call them.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::HashMap;

use clang_sys::*;

use crate::clang::Cursor;
use crate::preconditions;

/// A function definition; a lambda is one of its own, inside functions and in the initial values of variables and members.
#[derive(Clone)]
pub(crate) struct Named<'u> {
    pub cursor: Cursor<'u>,
    /// Unique in its unit: `Stack::push`, with the types of its parameters where it is overloaded.
    pub name: String,
    /// Of a lambda outside functions.
    pub keeper: Option<Keeper<'u>>,
}

/// The variable or member in whose initial value a lambda stands.
#[derive(Copy, Clone)]
pub(crate) struct Keeper<'u> {
    pub cursor: Cursor<'u>,
    /// The initial value of a variable is what the lambda returns: it runs before every test.
    pub calls_it: bool,
}

/// Function definitions outside system headers, in source order.
pub(crate) fn user_functions<'u>(declarations: &[Cursor<'u>]) -> Vec<Named<'u>> {
    let mut found = Vec::new();
    for &declaration in declarations.iter().filter(|cursor| !cursor.in_system_header()) {
        collect(declaration, &mut found);
    }
    let mut named = Vec::with_capacity(found.len());
    let mut uses: HashMap<String, usize> = HashMap::new();
    for found in &found {
        *uses.entry(found.qualified.clone()).or_default() += 1;
    }
    for Found { cursor, qualified, keeper } in found {
        let overloaded = uses[&qualified] > 1 && cursor.kind() != CXCursor_LambdaExpr;
        let name = if overloaded { format!("{qualified}{}", signature(cursor)) } else { qualified };
        named.push(Named { cursor, name, keeper });
    }
    tell_apart(&mut named);
    named
}

/// All declarations, those inside namespaces and classes too.
pub(crate) fn flattened<'u>(declarations: &[Cursor<'u>]) -> Vec<Cursor<'u>> {
    let mut all = Vec::new();
    for &declaration in declarations {
        match is_scope(declaration.kind()) {
            true => all.extend(flattened(&declaration.children())),
            false => all.push(declaration),
        }
    }
    all
}

/// `ns::Class::name`; what has no name of its own is left out.
pub(crate) fn qualified(cursor: Cursor<'_>) -> String {
    let mut parts = vec![cursor.spelling()];
    let mut parent = cursor.semantic_parent();
    while let Some(scope) = parent.filter(|scope| scope.kind() != CXCursor_TranslationUnit) {
        let name = scope.spelling();
        if !name.is_empty() && !name.contains('(') && scope.kind() != CXCursor_LinkageSpec {
            parts.push(name);
        }
        parent = scope.semantic_parent();
    }
    parts.reverse();
    parts.join("::")
}

/// A name as part of a C identifier.
pub(crate) fn identifier(name: &str) -> String {
    let part = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => character.to_string(),
        other => format!("_{:x}", u32::from(other)),
    };
    name.chars().map(part).collect()
}

pub(crate) fn is_method(kind: CXCursorKind) -> bool {
    matches!(kind, CXCursor_CXXMethod | CXCursor_Constructor | CXCursor_Destructor | CXCursor_ConversionFunction)
}

pub(crate) fn is_function(kind: CXCursorKind) -> bool {
    matches!(kind, CXCursor_FunctionDecl | CXCursor_FunctionTemplate) || is_method(kind)
}

/// The class that defines a function which is no member of it: only who passes an object of the class finds its name.
pub(crate) fn befriended_by(function: Cursor<'_>) -> Option<Cursor<'_>> {
    let free = matches!(function.kind(), CXCursor_FunctionDecl | CXCursor_FunctionTemplate);
    function.lexical_parent().filter(|scope| free && is_class(scope.kind()))
}

struct Found<'u> {
    cursor: Cursor<'u>,
    qualified: String,
    keeper: Option<Keeper<'u>>,
}

fn collect<'u>(cursor: Cursor<'u>, found: &mut Vec<Found<'u>>) {
    let kind = cursor.kind();
    if is_scope(kind) || kind == CXCursor_FriendDecl {
        cursor.children().into_iter().for_each(|child| collect(child, found));
    } else if matches!(kind, CXCursor_VarDecl | CXCursor_FieldDecl | CXCursor_UnexposedDecl) && cursor.is_cpp() {
        inside(cursor, &qualified(cursor), Some(Keeper { cursor, calls_it: false }), found);
    } else if is_function(kind) && cursor.is_definition() && !preconditions::is_check(&cursor.spelling()) {
        let name = qualified(cursor);
        found.push(Found { cursor, qualified: name.clone(), keeper: None });
        if cursor.is_cpp() {
            inside(cursor, &name, None, found);
        }
    }
}

/// Lambdas and methods of local classes.
fn inside<'u>(cursor: Cursor<'u>, outer: &str, keeper: Option<Keeper<'u>>, found: &mut Vec<Found<'u>>) {
    let calls = cursor.kind() == CXCursor_CallExpr
        && cursor.referenced().is_none_or(|called| called.kind() != CXCursor_Constructor);
    let keeper = keeper.map(|keeper| Keeper {
        calls_it: keeper.calls_it || calls && keeper.cursor.kind() != CXCursor_FieldDecl,
        ..keeper
    });
    for child in cursor.children() {
        match child.kind() {
            CXCursor_LambdaExpr => {
                let number = 1 + found.iter().filter(|known| is_lambda_of(known, outer)).count();
                let name = format!("{outer}::lambda#{number}");
                found.push(Found { cursor: child, qualified: name.clone(), keeper });
                inside(child, &name, None, found);
            }
            CXCursor_DeclStmt | CXCursor_StructDecl | CXCursor_ClassDecl => inside(child, outer, keeper, found),
            kind if is_method(kind) => collect(child, found),
            _ => inside(child, outer, keeper, found),
        }
    }
}

fn is_lambda_of(found: &Found<'_>, outer: &str) -> bool {
    found.qualified.strip_prefix(outer).is_some_and(|rest| {
        rest.strip_prefix("::lambda#").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

fn is_scope(kind: CXCursorKind) -> bool {
    matches!(kind, CXCursor_Namespace | CXCursor_LinkageSpec) || is_class(kind)
}

fn is_class(kind: CXCursorKind) -> bool {
    matches!(
        kind,
        CXCursor_StructDecl
            | CXCursor_ClassDecl
            | CXCursor_UnionDecl
            | CXCursor_ClassTemplate
            | CXCursor_ClassTemplatePartialSpecialization
    )
}

/// `(int, const char *) const`
fn signature(cursor: Cursor<'_>) -> String {
    let types: Vec<String> = match cursor.kind() {
        // A template has no argument list of its own in libclang.
        CXCursor_FunctionTemplate => {
            let parameters = cursor.children().into_iter().filter(|child| child.kind() == CXCursor_ParmDecl);
            parameters.map(|parameter| parameter.clang_type().spelling()).collect()
        }
        _ => cursor.arguments().into_iter().map(|parameter| parameter.clang_type().spelling()).collect(),
    };
    let constant = if cursor.is_const_method() { " const" } else { "" };
    format!("({}){constant}", types.join(", "))
}

/// What still has the same name (in two unnamed namespaces, specialisations) is numbered.
fn tell_apart(named: &mut [Named<'_>]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for function in named.iter_mut().filter(|function| function.cursor.is_cpp()) {
        let count = uses.entry(function.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            function.name = format!("{}#{count}", function.name);
        }
    }
}
