//! Which functions of the unit a call may reach: by name, through virtual tables, and where C++ calls without being told
//! to (constructors and destructors of locals, temporaries, members and bases).

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{BTreeSet, HashMap, HashSet};

use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::functions::{Named, is_function, qualified};
use crate::syntax::{Kind, SyntaxTree};

#[derive(Default)]
pub(crate) struct Callees {
    /// The name of each definition, by key.
    names: HashMap<String, String>,
    /// The definitions that redefine a virtual method, directly or not, by the method's key.
    overriding: HashMap<String, Vec<String>>,
    /// Constructors, destructors and operators of classes, by the key of the class: who handles objects may call them, be it
    /// only in the library's templates.
    special: HashMap<String, Vec<String>>,
    /// Classes derived from a class, directly, by keys.
    derived: HashMap<String, Vec<String>>,
    /// The classes among the bases and members of a class.
    parts: HashMap<String, Vec<String>>,
    /// By place, because a lambda has no key.
    lambdas: Vec<(u32, String)>,
    /// Those in the initial values of variables outside functions and of members, by the key of these.
    kept: HashMap<String, Vec<String>>,
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A function by its unique name, or by the name of one that the unit does not define.
    Named(String),
    /// Through a pointer.
    Anything,
}

impl Callees {
    pub fn of_unit(functions: &[Named<'_>], declarations: &[Cursor<'_>]) -> Callees {
        let mut callees = Callees::default();
        for Named { cursor, name, keeper } in functions {
            match cursor.kind() {
                CXCursor_LambdaExpr => {
                    callees.lambdas.push((crate::clang::file_offset(cursor.start()), name.clone()));
                    let key = keeper.map(|keeper| keeper.cursor.usr()).filter(|key| !key.is_empty());
                    key.into_iter().for_each(|key| callees.kept.entry(key).or_default().push(name.clone()));
                }
                _ => drop(callees.names.insert(cursor.usr(), name.clone())),
            }
        }
        for Named { cursor, name, .. } in functions.iter().filter(|function| function.cursor.is_cpp()) {
            callees.add_overriding(*cursor, name);
            callees.add_special(*cursor, name);
        }
        declarations.iter().for_each(|&declaration| callees.add_classes(declaration));
        callees
    }

    /// As the map names a function, or as its scopes do where it has no body here.
    pub fn name_of(&self, function: Cursor<'_>) -> String {
        self.names.get(&self.key(function)).cloned().unwrap_or_else(|| qualified_if_cpp(function))
    }

    /// Everything that a call expression may call.
    pub fn of_call(&self, call: Cursor<'_>) -> Vec<Target> {
        let Some(callee) = call.referenced().filter(|callee| is_function(callee.kind())) else {
            return vec![Target::Anything];
        };
        let (key, own) = (self.key(callee), self.name_of(callee));
        let overriding = self.overriding.get(&key).filter(|_| callee.is_virtual_method());
        let others = overriding.into_iter().flatten().cloned();
        [own].into_iter().chain(others).map(Target::Named).collect()
    }

    /// What runs in a function without standing in it, and the lambdas that it makes, which somebody may call.
    pub fn implicit(&self, function: Cursor<'_>, tree: &SyntaxTree<'_>) -> BTreeSet<String> {
        let mut open = Vec::new();
        let mut called = BTreeSet::new();
        for id in tree.ids() {
            let node = &tree[id];
            self.add_type(node.cursor.clang_type(), &mut open);
            if node.cursor.kind() == CXCursor_CXXDeleteExpr {
                let pointers = node.children.iter().map(|&child| tree[child].cursor.clang_type().canonical().pointee());
                pointers.for_each(|target| self.add_deleted(target, &mut open));
            }
            if !self.kept.is_empty() && matches!(node.kind, Kind::Reference | Kind::Member) {
                let keeper = node.cursor.referenced().map(Cursor::usr);
                called.extend(keeper.and_then(|key| self.kept.get(&key)).into_iter().flatten().cloned());
            }
            if node.kind == Kind::Lambda {
                let start = crate::clang::file_offset(node.cursor.start());
                called.extend(self.lambdas.iter().filter(|(at, _)| *at == start).map(|(_, name)| name.clone()));
            }
        }
        if let Some(class) = function.semantic_parent() {
            open.extend(self.parts.get(&class.usr()).into_iter().flatten().cloned());
        }
        let mut seen = HashSet::new();
        while let Some(class) = open.pop() {
            if seen.insert(class.clone()) {
                called.extend(self.special.get(&class).into_iter().flatten().cloned());
                open.extend(self.parts.get(&class).into_iter().flatten().cloned());
            }
        }
        called
    }

    /// What is called by name anywhere in a function, and what ends its objects.
    pub fn anywhere_in(&self, function: Cursor<'_>) -> BTreeSet<String> {
        let tree = SyntaxTree::of_function(function);
        let mut called = tree.map(|tree| self.implicit(function, &tree)).unwrap_or_default();
        let mut open = function.children();
        while let Some(cursor) = open.pop() {
            if cursor.kind() == CXCursor_CallExpr {
                let named = self.of_call(cursor).into_iter().filter_map(|target| match target {
                    Target::Named(name) => Some(name),
                    Target::Anything => None,
                });
                called.extend(named);
            }
            open.extend(cursor.children());
        }
        called
    }

    /// An instance is keyed by its template.
    fn key(&self, callee: Cursor<'_>) -> String {
        let key = callee.usr();
        match callee.template() {
            Some(template) if !self.names.contains_key(&key) => template.usr(),
            _ => key,
        }
    }

    fn add_special(&mut self, function: Cursor<'_>, name: &str) {
        let operator = function.spelling().starts_with("operator");
        let mut classes = Vec::new();
        match function.kind() {
            CXCursor_Constructor | CXCursor_Destructor => {}
            CXCursor_CXXMethod if operator => {}
            CXCursor_FunctionDecl if operator => {
                function.arguments().iter().for_each(|parameter| self.add_type(parameter.clang_type(), &mut classes));
            }
            _ => return,
        }
        classes.extend(function.semantic_parent().map(|class| class.usr()));
        classes.into_iter().for_each(|class| self.special.entry(class).or_default().push(name.to_owned()));
    }

    fn add_overriding(&mut self, method: Cursor<'_>, name: &str) {
        let mut open = method.overridden();
        while let Some(base) = open.pop() {
            self.overriding.entry(base.usr()).or_default().push(name.to_owned());
            open.extend(base.overridden());
        }
    }

    fn add_classes(&mut self, cursor: Cursor<'_>) {
        if !is_class(cursor.kind()) && !matches!(cursor.kind(), CXCursor_Namespace | CXCursor_LinkageSpec) {
            return;
        }
        let key = cursor.usr();
        for child in cursor.children() {
            match child.kind() {
                CXCursor_CXXBaseSpecifier => {
                    let base = class_key(child.clang_type());
                    self.derived.entry(base).or_default().push(key.clone());
                    self.add_part(&key, child.clang_type());
                }
                CXCursor_FieldDecl => self.add_part(&key, child.clang_type()),
                _ => self.add_classes(child),
            }
        }
    }

    fn add_part(&mut self, class: &str, part: ClangType<'_>) {
        let mut parts = Vec::new();
        self.add_type(part, &mut parts);
        self.parts.entry(class.to_owned()).or_default().extend(parts);
    }

    /// The classes that a value of this type consists of, or holds.
    fn add_type(&self, of: ClangType<'_>, open: &mut Vec<String>) {
        let mut of = of.canonical();
        while matches!(of.kind(), CXType_ConstantArray | CXType_LValueReference | CXType_RValueReference) {
            of = if of.kind() == CXType_ConstantArray { of.element() } else { of.pointee() }.canonical();
        }
        if of.kind() == CXType_Record {
            // A specialisation that the user wrote has a key of its own.
            open.extend([class_key(of), of.declaration().usr()]);
            of.template_arguments().into_iter().for_each(|argument| self.add_held(argument, open));
        }
    }

    /// What a container or a pointer that owns may destroy: derived classes as well.
    fn add_held(&self, held: ClangType<'_>, open: &mut Vec<String>) {
        let held = held.canonical();
        if held.kind() == CXType_Pointer {
            self.add_deleted(held.pointee(), open)
        } else {
            self.add_deleted(held, open)
        }
    }

    fn add_deleted(&self, target: ClangType<'_>, open: &mut Vec<String>) {
        self.add_type(target, open);
        let mut classes = vec![class_key(target.canonical())];
        let mut seen = HashSet::new();
        while let Some(class) = classes.pop() {
            if seen.insert(class.clone()) {
                classes.extend(self.derived.get(&class).into_iter().flatten().cloned());
                open.push(class);
            }
        }
    }
}

fn is_class(kind: CXCursorKind) -> bool {
    matches!(kind, CXCursor_StructDecl | CXCursor_ClassDecl | CXCursor_UnionDecl | CXCursor_ClassTemplate)
}

/// Of an instance: that of its template.
fn class_key(of: ClangType<'_>) -> String {
    let declaration = of.canonical().declaration();
    declaration.template().unwrap_or(declaration).usr()
}

fn qualified_if_cpp(callee: Cursor<'_>) -> String {
    // Functions of the C library have C's names in C++ too: their models are known by these.
    if callee.is_cpp() && !callee.is_extern_c() { qualified(callee) } else { callee.spelling() }
}
