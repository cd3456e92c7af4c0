//! What a test can do with the classes of a unit: construct their objects and change them by public methods.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::BTreeSet;

use clang_sys::*;

use crate::clang::Cursor;

/// More ways to change an object than this make more sequences than anyone can try.
const MOST_METHODS: usize = 24;

/// A name for an object: `Account` is `account`, `HTTPServer` is `http_server`.
pub(crate) fn variable(class: Cursor<'_>) -> String {
    let name = class.spelling();
    let characters: Vec<char> = name.chars().collect();
    let mut variable = String::new();
    for (at, &character) in characters.iter().enumerate() {
        let after_word = at > 0 && (characters[at - 1].is_lowercase() || characters[at - 1].is_ascii_digit());
        let before_word = at > 0 && characters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if character.is_uppercase() && (after_word || before_word) && !variable.ends_with('_') {
            variable.push('_');
        }
        variable.extend(character.to_lowercase());
    }
    if variable == name || variable.is_empty() { "object".to_owned() } else { variable }
}

/// The classes that a unit defines outside of functions and templates, in source order.
pub(crate) fn defined<'u>(declarations: &[Cursor<'u>]) -> Vec<Cursor<'u>> {
    let mut classes = Vec::new();
    for &declaration in declarations.iter().filter(|cursor| !cursor.in_system_header()) {
        let is_class = matches!(declaration.kind(), CXCursor_StructDecl | CXCursor_ClassDecl);
        if is_class && declaration.is_definition() && !declaration.spelling().is_empty() {
            classes.push(declaration);
        }
        if is_class || matches!(declaration.kind(), CXCursor_Namespace | CXCursor_LinkageSpec) {
            classes.extend(defined(&declaration.children()));
        }
    }
    classes
}

/// The classes of which an object may be that is known as one of this class: itself and those that are publicly derived.
pub(crate) fn concrete<'u>(class: Cursor<'u>, all: &[Cursor<'u>]) -> Vec<Cursor<'u>> {
    let derived = all.iter().copied().filter(|other| !other.same_as(class) && is_derived(*other, class));
    let candidates = [class].into_iter().chain(derived.filter(|_| is_polymorphic(class)));
    candidates.filter(|candidate| !candidate.is_abstract_record()).collect()
}

fn bases<'u>(class: Cursor<'u>) -> impl Iterator<Item = Cursor<'u>> {
    let all = class.children().into_iter().filter(|child| child.kind() == CXCursor_CXXBaseSpecifier);
    all.filter(|base| base.is_public()).filter_map(|base| base.clang_type().declaration().definition())
}

fn is_derived(class: Cursor<'_>, from: Cursor<'_>) -> bool {
    bases(class).any(|base| base.usr() == from.usr() || is_derived(base, from))
}

pub(crate) fn is_polymorphic(class: Cursor<'_>) -> bool {
    class.children().into_iter().any(Cursor::is_virtual_method) || bases(class).any(is_polymorphic)
}

/// The public constructors that do not copy, those with the most parameters first; `None` is the one that nobody
/// declares.
pub(crate) fn constructors(class: Cursor<'_>) -> Vec<Option<Cursor<'_>>> {
    if class.is_abstract_record() {
        return Vec::new();
    }
    let all = class.children().into_iter().filter(|child| child.kind() == CXCursor_Constructor);
    let declared: Vec<Cursor<'_>> = all.filter(|one| !one.is_copy_or_move()).collect();
    if declared.is_empty() {
        return vec![None];
    }
    let mut usable: Vec<Cursor<'_>> = declared.into_iter().filter(|one| one.is_public() && !one.is_deleted()).collect();
    usable.sort_by_key(|one| std::cmp::Reverse(one.arguments().len()));
    usable.into_iter().map(Some).collect()
}

/// Public methods that are not constant, its own first and then those of its public bases that it does not hide.
pub(crate) fn changing_methods(class: Cursor<'_>) -> Vec<Cursor<'_>> {
    let mut methods = Vec::new();
    collect(class, &mut BTreeSet::new(), &mut methods);
    methods.truncate(MOST_METHODS);
    methods
}

fn collect<'u>(class: Cursor<'u>, hidden: &mut BTreeSet<String>, methods: &mut Vec<Cursor<'u>>) {
    let own: Vec<Cursor<'u>> =
        class.children().into_iter().filter(|child| child.kind() == CXCursor_CXXMethod).collect();
    let changes = |method: &Cursor<'u>| {
        let instance = !method.is_static_method() && !method.is_const_method();
        instance && method.is_public() && !method.is_deleted() && method.spelling() != "operator="
    };
    let visible = own.iter().copied().filter(|method| !hidden.contains(&method.spelling()) && changes(method));
    methods.extend(visible);
    hidden.extend(own.iter().map(|method| method.spelling()));
    bases(class).for_each(|base| collect(base, hidden, methods));
}

/// A call as people write it; `None` for operators that change nothing by themselves.
pub(crate) fn call_text(method: Cursor<'_>, object: &str, arguments: &str) -> Option<String> {
    let name = method.spelling();
    let Some(operator) = name.strip_prefix("operator").filter(|rest| !rest.starts_with(['_', ' '])) else {
        return Some(format!("{object}.{name}({arguments})"));
    };
    let unary = method.arguments().is_empty();
    match operator {
        "++" | "--" if unary => Some(format!("{operator}{object}")),
        "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | "<<" if !unary => {
            Some(format!("{object} {operator} {arguments}"))
        }
        _ => None,
    }
}
