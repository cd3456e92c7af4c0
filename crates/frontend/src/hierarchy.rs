//! The classes of a unit, as the map shows them.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use branchwise_program::hierarchy::{Base, Class, Method};
use clang_sys::*;

use crate::callees::Callees;
use crate::clang::Cursor;
use crate::classes;
use crate::functions::{is_method, qualified};
use crate::places::{Files, presumed_place};

/// All classes with names that the user's files define outside of functions, in source order.
pub(crate) fn hierarchy(declarations: &[Cursor<'_>], callees: &Callees, files: &mut Files) -> Vec<Class> {
    let classes = classes::with_templates(declarations).into_iter().filter(|class| class.is_cpp());
    classes.map(|found| class(found, callees, files)).collect()
}

fn class(class: Cursor<'_>, callees: &Callees, files: &mut Files) -> Class {
    let children = class.children();
    let bases = children.iter().filter(|child| child.kind() == CXCursor_CXXBaseSpecifier);
    let methods = children.iter().filter(|child| is_method(child.kind()));
    let template = if class.kind() == CXCursor_ClassTemplate { "<…>" } else { "" };
    Class {
        name: format!("{}{template}", qualified(class)),
        place: presumed_place(files, class),
        is_abstract: class.is_abstract_record(),
        bases: bases.map(|base| self::base(*base)).collect(),
        methods: methods.map(|method| self::method(*method, callees)).collect(),
    }
}

fn base(base: Cursor<'_>) -> Base {
    let of = base.clang_type().canonical();
    let declared = of.declaration();
    let name = match declared.kind() {
        CXCursor_StructDecl | CXCursor_ClassDecl if declared.template().is_none() => qualified(declared),
        _ => of.spelling(),
    };
    Base { name, is_virtual: base.is_virtual_base(), is_public: base.is_public() }
}

fn method(method: Cursor<'_>, callees: &Callees) -> Method {
    Method {
        name: callees.name_of(method),
        is_virtual: method.is_virtual_method(),
        is_pure: method.is_pure_virtual(),
        redefines: method.overridden().into_iter().map(|base| callees.name_of(base)).collect(),
    }
}
