//! What a test can do with the classes of a unit: construct their objects and change them by public methods.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::BTreeSet;

use clang_sys::*;

use crate::clang::Cursor;
use crate::containers::is_copied_within;
use crate::functions::qualified;
use crate::instances::is_declared_here;
use crate::objects::Factory;

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

/// As everybody can write it: an instance of a template with its arguments.
pub(crate) fn name(class: Cursor<'_>) -> String {
    match class.template() {
        Some(_) => class.clang_type().canonical().spelling(),
        None => qualified(class),
    }
}

/// The classes that a unit defines outside of functions and templates, in source order.
pub(crate) fn defined<'u>(declarations: &[Cursor<'u>]) -> Vec<Cursor<'u>> {
    let mut classes = Vec::new();
    collect_classes(declarations, &[CXCursor_StructDecl, CXCursor_ClassDecl], &mut classes);
    classes
}

/// The same, with templates of classes and what they define.
pub(crate) fn with_templates<'u>(declarations: &[Cursor<'u>]) -> Vec<Cursor<'u>> {
    let mut classes = Vec::new();
    collect_classes(declarations, &[CXCursor_StructDecl, CXCursor_ClassDecl, CXCursor_ClassTemplate], &mut classes);
    classes
}

fn collect_classes<'u>(declarations: &[Cursor<'u>], kinds: &[CXCursorKind], classes: &mut Vec<Cursor<'u>>) {
    let written = |cursor: &&Cursor<'u>| !cursor.in_system_header() && !is_declared_here(**cursor);
    for &declaration in declarations.iter().filter(written) {
        let is_class = kinds.contains(&declaration.kind());
        if is_class && declaration.is_definition() && !declaration.spelling().is_empty() {
            classes.push(declaration);
        }
        if is_class || matches!(declaration.kind(), CXCursor_Namespace | CXCursor_LinkageSpec) {
            collect_classes(&declaration.children(), kinds, classes);
        }
    }
}

/// The classes of which an object may be that is known as one of this class: itself and those that are publicly derived.
pub(crate) fn concrete<'u>(class: Cursor<'u>, all: &[Cursor<'u>]) -> Vec<Cursor<'u>> {
    let derived = all.iter().copied().filter(|other| !other.same_as(class) && is_derived(*other, class));
    if is_base_of_its_argument(class) {
        return derived.filter(|candidate| !candidate.is_abstract_record()).collect();
    }
    let candidates = [class].into_iter().chain(derived.filter(|_| is_polymorphic(class)));
    candidates.filter(|candidate| !candidate.is_abstract_record()).collect()
}

/// Whether it is an instance of a template for a class that is derived from it, as `Base<Meter>` is of `struct Meter : Base<Meter>`.
/// Its methods take their object for one of that class, so there is none of this class alone.
pub(crate) fn is_base_of_its_argument(class: Cursor<'_>) -> bool {
    let arguments = class.clang_type().canonical().template_arguments().into_iter();
    arguments.filter_map(|argument| argument.declaration().definition()).any(|argument| has_base(argument, class))
}

fn has_base(class: Cursor<'_>, wanted: Cursor<'_>) -> bool {
    all_bases(class).any(|base| base.usr() == wanted.usr() || has_base(base, wanted))
}

fn bases<'u>(class: Cursor<'u>) -> impl Iterator<Item = Cursor<'u>> {
    let all = class.children().into_iter().filter(|child| child.kind() == CXCursor_CXXBaseSpecifier);
    all.filter(|base| base.is_public()).filter_map(|base| base.clang_type().declaration().definition())
}

/// Those that are not public too.
pub(crate) fn all_bases<'u>(class: Cursor<'u>) -> impl Iterator<Item = Cursor<'u>> {
    let all = class.children().into_iter().filter(|child| child.kind() == CXCursor_CXXBaseSpecifier);
    all.filter_map(|base| base.clang_type().declaration().definition())
}

/// Whether it or a class from which it is derived has a virtual base.
pub(crate) fn has_virtual_base(class: Cursor<'_>) -> bool {
    let mut specifiers = class.children().into_iter().filter(|child| child.kind() == CXCursor_CXXBaseSpecifier);
    specifiers.any(|base| {
        base.is_virtual_base() || base.clang_type().declaration().definition().is_some_and(has_virtual_base)
    })
}

/// Whether a class is publicly derived from another.
pub(crate) fn is_derived(class: Cursor<'_>, from: Cursor<'_>) -> bool {
    let class = class.definition().unwrap_or(class);
    bases(class).any(|base| base.usr() == from.usr() || is_derived(base, from))
}

pub(crate) fn is_polymorphic(class: Cursor<'_>) -> bool {
    class.children().into_iter().any(Cursor::is_virtual_method) || bases(class).any(is_polymorphic)
}

/// The public constructors that do not copy, those with the most parameters first; `None` is the one that nobody
/// declares.
pub(crate) fn constructors(class: Cursor<'_>) -> Vec<Option<Cursor<'_>>> {
    match class.is_abstract_record() {
        true => Vec::new(),
        false => constructors_that(class, |one| one.is_public()),
    }
}

/// Public static methods that return objects of their class: a test calls them for want of a constructor.
pub(crate) fn factories(class: Cursor<'_>) -> Vec<Cursor<'_>> {
    let methods = class.children().into_iter().filter(|child| child.kind() == CXCursor_CXXMethod);
    methods.filter(|one| one.is_public() && !one.is_deleted() && Factory::of(*one, class).is_some()).collect()
}

/// Whether objects of a class of the program can be copied.
pub(crate) fn is_copied(class: Cursor<'_>, depth: usize) -> bool {
    let Some(class) = class.definition() else { return true };
    let own = class.children();
    let mut copies = own.iter().filter(|child| child.kind() == CXCursor_Constructor && child.is_copy()).peekable();
    if copies.peek().is_some() {
        return copies.all(|copy| !copy.is_deleted() && copy.is_public());
    }
    let moves = |child: &Cursor<'_>| match child.kind() {
        CXCursor_Constructor => child.is_copy_or_move(),
        CXCursor_CXXMethod => child.is_move_assignment(),
        _ => false,
    };
    let member = |field: &Cursor<'_>| {
        let of = field.clang_type().canonical();
        of.kind() != CXType_Record || is_copied_within(of, depth)
    };
    let bases = || all_bases(class).all(|base| is_copied(base, depth));
    !own.iter().any(moves) && class.clang_type().fields().iter().all(member) && bases()
}

/// Those that a derived class can use.
pub(crate) fn constructors_for_derived(class: Cursor<'_>) -> Vec<Option<Cursor<'_>>> {
    constructors_that(class, |one| !one.is_private())
}

fn constructors_that(class: Cursor<'_>, is_usable: impl Fn(Cursor<'_>) -> bool) -> Vec<Option<Cursor<'_>>> {
    let all = class.children().into_iter().filter(|child| child.kind() == CXCursor_Constructor);
    let declared: Vec<Cursor<'_>> = all.filter(|one| !one.is_copy_or_move()).collect();
    if declared.is_empty() {
        return vec![None];
    }
    let mut usable: Vec<Cursor<'_>> = declared.into_iter().filter(|one| is_usable(*one) && !one.is_deleted()).collect();
    usable.sort_by_key(|one| std::cmp::Reverse(one.arguments().len()));
    usable.into_iter().map(Some).collect()
}

/// Public methods that are not constant, its own first and then those of its public bases that it does not hide.
pub(crate) fn changing_methods(class: Cursor<'_>) -> Vec<Cursor<'_>> {
    let mut methods = Vec::new();
    let changes = |method: &Cursor<'_>| {
        !method.is_static_method() && !method.is_const_method() && method.spelling() != "operator="
    };
    collect(class, &changes, &mut BTreeSet::new(), &mut methods);
    methods.truncate(MOST_METHODS);
    methods
}

/// The same that are templates, its own; a constructor is none of them.
pub(crate) fn changing_templates(class: Cursor<'_>) -> Vec<Cursor<'_>> {
    let changes = |member: &Cursor<'_>| {
        let changing = !member.is_static_method() && !member.is_const_method();
        let named = ![class.spelling().as_str(), "operator="].contains(&member.spelling().as_str());
        member.kind() == CXCursor_FunctionTemplate && member.is_public() && changing && named
    };
    class.children().into_iter().filter(changes).collect()
}

/// Public methods of a kind that nothing hides.
fn collect<'u>(
    class: Cursor<'u>,
    is_wanted: &impl Fn(&Cursor<'_>) -> bool,
    hidden: &mut BTreeSet<String>,
    methods: &mut Vec<Cursor<'u>>,
) {
    let own: Vec<Cursor<'u>> =
        class.children().into_iter().filter(|child| child.kind() == CXCursor_CXXMethod).collect();
    let usable = |method: &Cursor<'u>| method.is_public() && !method.is_deleted() && is_wanted(method);
    let visible = own.iter().copied().filter(|method| !hidden.contains(&method.spelling()) && usable(method));
    methods.extend(visible);
    hidden.extend(own.iter().map(|method| method.spelling()));
    bases(class).for_each(|base| collect(base, is_wanted, hidden, methods));
}

/// Public constant methods without parameters, its own first and then those of its public bases that it does not hide.
pub(crate) fn showing_methods(class: Cursor<'_>) -> Vec<Cursor<'_>> {
    let mut methods = Vec::new();
    let shows = |method: &Cursor<'_>| {
        let instance = !method.is_static_method() && method.is_const_method() && method.arguments().is_empty();
        let named = method.kind() == CXCursor_CXXMethod && !method.spelling().starts_with("operator");
        let defined = method.definition().is_some() || method.is_virtual_method();
        instance && named && defined && !method.is_variadic()
    };
    collect(class, &shows, &mut BTreeSet::new(), &mut methods);
    methods
}

/// A call as people write it; `None` for operators that change nothing by themselves.
/// `member` is what stands before the name of a member.
pub(crate) fn call_text(method: Cursor<'_>, object: &str, member: &str, arguments: &str) -> Option<String> {
    let name = method.spelling();
    let Some(operator) = name.strip_prefix("operator").filter(|rest| !rest.starts_with(['_', ' '])) else {
        return Some(format!("{member}{name}({arguments})"));
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

/// Whether code elsewhere may change members that are not public: friends, derived classes, methods that are defined there.
pub(crate) fn has_hidden_state(class: Cursor<'_>) -> bool {
    let own = class.children();
    let hidden = own.iter().any(|child| child.kind() == CXCursor_FieldDecl && !child.is_public());
    (hidden || all_bases(class).any(has_hidden_state)) && is_seen_elsewhere(class)
}

/// Whether other files may define classes that are derived from a class with virtual methods.
pub(crate) fn can_be_derived_from(class: Cursor<'_>) -> bool {
    let is_final = class.children().into_iter().any(|child| child.kind() == CXCursor_CXXFinalAttr);
    is_polymorphic(class) && !is_final && is_seen_elsewhere(class)
}

/// Whether a class has linkage: it stands in no unnamed namespace and no function.
fn is_seen_elsewhere(class: Cursor<'_>) -> bool {
    let mut scope = class.semantic_parent();
    while let Some(inner) = scope {
        let unnamed = inner.kind() == CXCursor_Namespace && inner.spelling().is_empty();
        if unnamed || crate::functions::is_function(inner.kind()) {
            return false;
        }
        scope = inner.semantic_parent();
    }
    true
}
