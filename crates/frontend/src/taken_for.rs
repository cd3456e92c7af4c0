//! What pointers to `void` are taken for, and those to structures that a file does not define. A handle, a context of a
//! callback and an element to compare are declared as pointers to anything; the program says what they are where it converts
//! them.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{BTreeSet, HashMap};

use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::ctypes::is_arithmetic;

/// By declarations of parameters, members and variables that are such pointers: what they are converted to.
#[derive(Default)]
pub(crate) struct TakenFor<'u> {
    declared: HashMap<String, Taken<'u>>,
}

#[derive(Default, Clone)]
struct Taken<'u> {
    /// What it is converted to beside bytes.
    object: Option<ClangType<'u>>,
    /// Bytes are looked at too, or objects of several types.
    bytes: bool,
    several: bool,
    /// What else gets its value.
    given_to: BTreeSet<String>,
}

impl<'u> TakenFor<'u> {
    pub fn of_functions(functions: impl Iterator<Item = Cursor<'u>>) -> TakenFor<'u> {
        let mut taken = TakenFor::default();
        functions.for_each(|function| taken.visit(function));
        taken
    }

    /// What the pointer points to, if there is one answer. Numbers may be read from bytes as well, one after the other:
    /// where both happen, bytes are what there is.
    pub fn object(&self, declaration: Cursor<'_>) -> Option<ClangType<'u>> {
        is_opaque_pointer(declaration.clang_type()).then_some(())?;
        let taken = self.everywhere(declaration.usr());
        let object = taken.object.filter(|_| !taken.several)?;
        (!taken.bytes || object.canonical().kind() == CXType_Record).then_some(object)
    }

    /// What it is taken for itself, and by whatever gets its value.
    fn everywhere(&self, declaration: String) -> Taken<'u> {
        let mut all = Taken::default();
        let mut seen = BTreeSet::new();
        let mut open = vec![declaration];
        while let Some(name) = open.pop() {
            let Some(taken) = self.declared.get(&name).filter(|_| seen.insert(name.clone())) else { continue };
            all.bytes |= taken.bytes;
            all.several |= taken.several;
            taken.object.into_iter().for_each(|object| all.add(object));
            open.extend(taken.given_to.iter().cloned());
        }
        all
    }

    fn visit(&mut self, cursor: Cursor<'u>) {
        let children = cursor.children();
        match (cursor.kind(), &children[..]) {
            (CXCursor_CStyleCastExpr | CXCursor_UnexposedExpr, [.., operand]) => {
                self.note_conversion(*operand, cursor.clang_type());
            }
            (CXCursor_VarDecl, [.., value]) => self.note_given(*value, &[cursor]),
            (CXCursor_BinaryOperator, [target, value]) if cursor.binary_operator() == CXBinaryOperator_Assign => {
                self.note_given(*value, &declared(*target));
            }
            (CXCursor_CallExpr, [_, values @ ..]) => {
                let parameters = called(cursor).map_or(Vec::new(), Cursor::arguments);
                for (value, parameter) in values.iter().zip(parameters) {
                    self.note_given(*value, &[parameter]);
                }
            }
            _ => {}
        }
        children.into_iter().for_each(|child| self.visit(child));
    }

    fn note_conversion(&mut self, operand: Cursor<'u>, to: ClangType<'u>) {
        let to = to.canonical();
        if to.kind() != CXType_Pointer || is_opaque_pointer(to) {
            return;
        }
        let object = to.pointee();
        for declaration in declared(operand) {
            let taken = self.declared.entry(declaration.usr()).or_default();
            match object.canonical().size() {
                Some(1) => taken.bytes = true,
                _ if !can_be_object(object) => taken.several = true,
                _ => taken.add(object),
            }
        }
    }

    /// Each of `to` gets the value.
    fn note_given(&mut self, value: Cursor<'u>, to: &[Cursor<'u>]) {
        let names: Vec<String> = to.iter().filter(|to| is_opaque_pointer(to.clang_type())).map(|to| to.usr()).collect();
        if names.is_empty() {
            return;
        }
        for from in declared(value) {
            self.declared.entry(from.usr()).or_default().given_to.extend(names.iter().cloned());
        }
    }
}

impl<'u> Taken<'u> {
    fn add(&mut self, object: ClangType<'u>) {
        match self.object {
            None => self.object = Some(object),
            Some(known) => self.several |= !are_same(known, object),
        }
    }
}

/// The function that is called, as it is defined here.
fn called(call: Cursor<'_>) -> Option<Cursor<'_>> {
    call.referenced()?.definition()
}

/// The parameters, members and variables whose values an expression may have, if it is such a pointer.
fn declared(expression: Cursor<'_>) -> Vec<Cursor<'_>> {
    if !is_opaque_pointer(expression.clang_type()) {
        return Vec::new();
    }
    let children = expression.children();
    match (expression.kind(), &children[..]) {
        (CXCursor_UnexposedExpr | CXCursor_ParenExpr, [.., inner]) => declared(*inner),
        (CXCursor_ConditionalOperator, [_, then, otherwise]) => [declared(*then), declared(*otherwise)].concat(),
        (CXCursor_DeclRefExpr | CXCursor_MemberRefExpr, _) => {
            let holds = |declaration: &Cursor<'_>| {
                matches!(declaration.kind(), CXCursor_ParmDecl | CXCursor_FieldDecl | CXCursor_VarDecl)
            };
            expression.referenced().filter(holds).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A pointer to `void`, or to a structure that this file does not define.
fn is_opaque_pointer(of: ClangType<'_>) -> bool {
    let canonical = of.canonical();
    let target = canonical.pointee().canonical();
    let unknown = || target.kind() == CXType_Record && target.size().is_none();
    canonical.kind() == CXType_Pointer && (target.kind() == CXType_Void || unknown())
}

fn can_be_object(of: ClangType<'_>) -> bool {
    let canonical = of.canonical();
    let known = matches!(canonical.kind(), CXType_Record | CXType_Pointer) || is_arithmetic(canonical);
    known && canonical.size().is_some_and(|size| size > 0)
}

fn are_same(one: ClangType<'_>, other: ClangType<'_>) -> bool {
    let (one, other) = (one.canonical().unqualified(), other.canonical().unqualified());
    one.spelling() == other.spelling() && one.declaration().usr() == other.declaration().usr()
}
