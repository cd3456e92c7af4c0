//! Which global variables a function reads, itself or through what it calls.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{BTreeSet, HashMap};

use clang_sys::*;

use crate::clang::Cursor;
use crate::ctypes::is_arithmetic;
use crate::drivers::{has_no_length, unknown_length};
use crate::syntax::{Kind, SyntaxId, SyntaxTree};

/// The variables that can be inputs, in the order of their first declaration.
pub(crate) struct Globals<'u> {
    pub variables: Vec<Cursor<'u>>,
    numbers: HashMap<String, usize>,
}

/// What one function mentions: globals by number, functions by their key.
#[derive(Debug, Default, Clone)]
pub(crate) struct Mentions {
    pub globals: BTreeSet<usize>,
    pub functions: BTreeSet<String>,
}

impl<'u> Globals<'u> {
    /// Non-const variables of the user's files with a complete type, and static ones where those are set, too.
    /// Arrays of a length that only another file (`provided`) knows are left to it.
    pub fn of_unit(declarations: &[Cursor<'u>], set_statics: bool, provided: &BTreeSet<String>) -> Globals<'u> {
        let mut globals = Globals { variables: Vec::new(), numbers: HashMap::new() };
        for &cursor in declarations.iter().filter(|cursor| cursor.kind() == CXCursor_VarDecl) {
            let settable = set_statics || !cursor.has_internal_linkage();
            let known = unknown_length(cursor).is_none() || !provided.contains(&cursor.spelling());
            let plain = !cursor.is_cpp() || is_settable_in_cpp(cursor);
            if settable && known && plain && !cursor.in_system_header() && can_be_input(cursor) {
                globals.add(cursor);
            }
        }
        globals
    }

    fn add(&mut self, cursor: Cursor<'u>) {
        let next = self.variables.len();
        match self.numbers.get(&cursor.usr()) {
            // A definition knows the whole type (`extern int a[]; int a[4];`), and so may another declaration.
            Some(&known)
                if cursor.is_definition() || has_no_length(self.variables[known]) && !has_no_length(cursor) =>
            {
                self.variables[known] = cursor;
            }
            Some(_) => {}
            None => {
                self.numbers.insert(cursor.usr(), next);
                self.variables.push(cursor);
            }
        }
    }

    /// What the body reads or takes the address of.
    pub fn mentions(&self, tree: &SyntaxTree<'u>) -> Mentions {
        let mut mentions = Mentions::default();
        self.visit(tree, SyntaxTree::BODY, &mut mentions);
        mentions
    }

    fn visit(&self, tree: &SyntaxTree<'u>, id: SyntaxId, mentions: &mut Mentions) {
        match (tree[id].kind, tree.children(id)) {
            (Kind::Unevaluated, _) => {}
            (Kind::Assignment, &[target, value]) => {
                self.visit_target(tree, target, mentions);
                self.visit(tree, value, mentions);
            }
            (Kind::Reference, _) => self.mention(tree[id].cursor, mentions),
            (Kind::Member, children) => {
                self.mention(tree[id].cursor, mentions);
                children.iter().for_each(|&child| self.visit(tree, child, mentions));
            }
            (_, children) => children.iter().for_each(|&child| self.visit(tree, child, mentions)),
        }
    }

    /// The left side of `=`: writing a variable, a member of it or an element of an array does not read it.
    fn visit_target(&self, tree: &SyntaxTree<'u>, id: SyntaxId, mentions: &mut Mentions) {
        let children = tree.children(id);
        match (tree[id].kind, children) {
            (Kind::Reference, _) => {}
            (Kind::Parentheses, &[inner]) => self.visit_target(tree, inner, mentions),
            (Kind::Member, &[record]) if tree[record].cursor.clang_type().canonical().kind() == CXType_Record => {
                self.visit_target(tree, record, mentions);
            }
            (Kind::Subscript, &[array, index]) => {
                match decayed_array(tree, array) {
                    Some(array) => self.visit_target(tree, array, mentions),
                    None => self.visit(tree, array, mentions),
                }
                self.visit(tree, index, mentions);
            }
            _ => self.visit(tree, id, mentions),
        }
    }

    fn mention(&self, reference: Cursor<'u>, mentions: &mut Mentions) {
        let Some(declaration) = reference.referenced() else { return };
        match declaration.kind() {
            CXCursor_FunctionDecl => drop(mentions.functions.insert(declaration.usr())),
            CXCursor_VarDecl => mentions.globals.extend(self.numbers.get(&declaration.usr())),
            _ => {}
        }
    }
}

/// The array under the implicit conversion to a pointer; `None` for a real pointer.
fn decayed_array(tree: &SyntaxTree<'_>, id: SyntaxId) -> Option<SyntaxId> {
    let mut inner = id;
    while let (Kind::OtherExpression | Kind::Parentheses, &[child]) = (tree[inner].kind, tree.children(inner)) {
        inner = child;
    }
    let kind = tree[inner].cursor.clang_type().canonical().kind();
    matches!(kind, CXType_ConstantArray | CXType_IncompleteArray).then_some(inner)
}

/// Numbers and arrays of them: what pointers and objects hold is made by the program. Not what is private.
fn is_settable_in_cpp(cursor: Cursor<'_>) -> bool {
    let mut element = cursor.clang_type().canonical();
    while element.kind() == CXType_ConstantArray {
        element = element.element().canonical();
    }
    let member = cursor
        .semantic_parent()
        .is_some_and(|scope| matches!(scope.kind(), CXCursor_StructDecl | CXCursor_ClassDecl | CXCursor_ClassTemplate));
    is_arithmetic(element) && cursor.definition().is_some() && (!member || cursor.is_public())
}

fn can_be_input(cursor: Cursor<'_>) -> bool {
    let mut element = cursor.clang_type().canonical();
    let unknown_length = element.kind() == CXType_IncompleteArray;
    let complete =
        if unknown_length { element.element().canonical().size().is_some() } else { element.size().is_some() };
    // A canonical array type carries the qualifiers of its elements itself.
    let mut constant = element.is_const();
    while matches!(element.kind(), CXType_ConstantArray | CXType_IncompleteArray) {
        element = element.element();
        constant |= element.is_const();
    }
    complete && !constant
}

/// Adds to every function what the functions it mentions mention, until nothing changes.
pub(crate) fn close_over_calls(mentions: &HashMap<String, Mentions>, start: &str) -> BTreeSet<usize> {
    let mut globals = BTreeSet::new();
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(function) = open.pop() {
        let Some(own) = mentions.get(function) else { continue };
        globals.extend(&own.globals);
        open.extend(own.functions.iter().map(String::as_str).filter(|callee| seen.insert(callee)));
    }
    globals
}
