//! Which node of a function's graph defines which variable by its name, and which uses it.
//!
//! Counted are numbers and pointers that are parameters, locals or variables of the file. What stands in an operand of `?:`
//! that has no node of its own is not a use, because nothing tells whether it ran; a variable that is defined there is
//! left out.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use branchwise_program::NodeId;
use branchwise_program::map::{Access, Accesses};
use clang_sys::*;

use crate::clang::{Cursor, file_offset};
use crate::ctypes::is_arithmetic;
use crate::syntax::{Kind, SyntaxId, SyntaxTree};

/// Where a variable is declared first.
type Declared = u32;

struct Walk<'w, 'u> {
    tree: &'w SyntaxTree<'u>,
    owners: &'w HashMap<SyntaxId, NodeId>,
    /// What each node does with each variable, up to where the walk is.
    found: BTreeMap<(NodeId, Declared), Access>,
    names: BTreeMap<Declared, String>,
    /// Their definitions are not all known.
    irregular: BTreeSet<Declared>,
}

/// `owners`: the node of the graph that evaluates an expression or statement, and what is inside it without one.
pub(crate) fn accesses(
    function: Cursor<'_>,
    tree: &SyntaxTree<'_>,
    owners: &HashMap<SyntaxId, NodeId>,
    entry: NodeId,
) -> Accesses {
    let (found, names, irregular) = Default::default();
    let mut walk = Walk { tree, owners, found, names, irregular };
    walk.visit(SyntaxTree::BODY, None);
    let Walk { mut found, names, irregular, .. } = walk;
    let defined_before: BTreeSet<Declared> = function.arguments().into_iter().map(declared).collect();
    let is_local = |variable: &Declared| is_automatic(tree, *variable);
    for &variable in names.keys().filter(|variable| defined_before.contains(variable) || !is_local(variable)) {
        found.insert((entry, variable), Access { node: entry, variable: 0, uses: false, defines: true });
    }
    let regular: Vec<(Declared, String)> =
        names.into_iter().filter(|(variable, _)| !irregular.contains(variable)).collect();
    let numbered = found.into_iter().filter_map(|((_, variable), access)| {
        let number = regular.iter().position(|(declared, _)| *declared == variable)?;
        Some(Access { variable: number as u32, ..access })
    });
    let all = numbered.collect();
    Accesses { variables: regular.into_iter().map(|(_, name)| name).collect(), all }
}

fn declared(variable: Cursor<'_>) -> Declared {
    file_offset(variable.canonical().location())
}

/// Declared in the body, and not static.
fn is_automatic(tree: &SyntaxTree<'_>, variable: Declared) -> bool {
    let declares = |id: SyntaxId| tree[id].kind == Kind::Variable && declared(tree[id].cursor) == variable;
    tree.ids().any(declares)
}

impl<'u> Walk<'_, 'u> {
    fn visit(&mut self, id: SyntaxId, outer: Option<NodeId>) {
        let node = self.owners.get(&id).copied().or(outer);
        let children = self.tree.children(id);
        match (self.tree[id].kind, children) {
            (Kind::Unevaluated | Kind::StaticVariable, _) => {}
            (Kind::Reference, _) => self.uses(id, node),
            (Kind::Variable, _) => {
                self.visit_all(children, node);
                if self.tree[id].cursor.initializer().is_some() {
                    self.note(self.tree[id].cursor, node, Access::define);
                }
            }
            (Kind::Assignment, &[target, value]) => {
                self.visit(value, node);
                self.assigned(target, node, Access::define);
            }
            (Kind::CompoundAssignment, &[target, value]) => {
                self.visit(value, node);
                self.assigned(target, node, Access::change);
            }
            (Kind::Conditional, &[condition, yes, no]) => {
                self.visit(condition, node);
                self.visit_all(&[yes, no], None);
            }
            (Kind::Elvis, &[common, other]) => {
                self.visit(common, node);
                self.visit(other, None);
            }
            (Kind::And | Kind::Or | Kind::Choose | Kind::Generic, _) => self.visit_all(children, None),
            (Kind::OtherExpression, &[operand]) if self.is_unary(id) => match self.tree[id].cursor.unary_operator() {
                CXUnaryOperator_PreInc..=CXUnaryOperator_PreDec | CXUnaryOperator_PostInc | CXUnaryOperator_PostDec => {
                    self.assigned(operand, node, Access::change);
                }
                CXUnaryOperator_AddrOf if self.variable(operand).is_some() => {}
                _ => self.visit(operand, node),
            },
            _ => self.visit_all(children, node),
        }
    }

    fn visit_all(&mut self, ids: &[SyntaxId], node: Option<NodeId>) {
        ids.iter().for_each(|&id| self.visit(id, node));
    }

    fn is_unary(&self, id: SyntaxId) -> bool {
        self.tree[id].cursor.kind() == CXCursor_UnaryOperator
    }

    /// The variable that an operand is, behind parentheses.
    fn variable(&self, operand: SyntaxId) -> Option<SyntaxId> {
        let mut inner = operand;
        while let (Kind::Parentheses, &[child]) = (self.tree[inner].kind, self.tree.children(inner)) {
            inner = child;
        }
        (self.tree[inner].kind == Kind::Reference).then_some(inner)
    }

    fn assigned(&mut self, target: SyntaxId, node: Option<NodeId>, how: fn(&mut Access)) {
        match self.variable(target).and_then(|reference| self.tree[reference].cursor.referenced()) {
            Some(variable) => self.note(variable, node, how),
            None => self.visit(target, node),
        }
    }

    fn uses(&mut self, id: SyntaxId, node: Option<NodeId>) {
        if let Some(variable) = self.tree[id].cursor.referenced() {
            self.note(variable, node, Access::read);
        }
    }

    fn note(&mut self, variable: Cursor<'u>, node: Option<NodeId>, how: fn(&mut Access)) {
        let kind = variable.clang_type().canonical().kind();
        let is_variable = matches!(variable.kind(), CXCursor_VarDecl | CXCursor_ParmDecl);
        if !is_variable || !(is_arithmetic(variable.clang_type()) || kind == CXType_Pointer) {
            return;
        }
        let id = declared(variable);
        self.names.entry(id).or_insert_with(|| variable.spelling());
        let mut nowhere = Access::default();
        let access = match node {
            Some(node) => self.found.entry((node, id)).or_insert(Access { node, ..Access::default() }),
            None => &mut nowhere,
        };
        how(access);
        if nowhere.defines {
            self.irregular.insert(id);
        }
    }
}
