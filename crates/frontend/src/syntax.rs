//! The statements and expressions of one function body, copied out of libclang into a tree of our own. The same copy is
//! made from the preprocessed and from the original file, so equal trees have equal numbering.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use clang_sys::*;

use crate::clang::{Cursor, file_offset};

/// A node of one tree, numbered in preorder: a parent comes before its children, the left before the right.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SyntaxId(pub u32);

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Compound,
    If,
    While,
    Do,
    For,
    Switch,
    Case,
    Default,
    Label,
    Goto,
    ComputedGoto,
    Continue,
    Break,
    Return,
    Null,
    Declaration,
    /// `static` in a function: initialised once, by constants.
    StaticVariable,
    Variable,
    OtherStatement,
    And,
    Or,
    Not,
    /// Parentheses and `__extension__`.
    Parentheses,
    /// `c ? a : b`
    Conditional,
    /// GNU `a ?: b`; its children are a and b.
    Elvis,
    /// `__builtin_choose_expr(c, a, b)`
    Choose,
    /// `sizeof`, `_Alignof`, `__builtin_constant_p`: their operands never run. `sizeof` of a variable-length array does run.
    Unevaluated,
    /// `_Generic(c, ...)`: its first child is c, which never runs.
    Generic,
    Call,
    StatementExpression,
    Assignment,
    /// `a += b` and the like.
    CompoundAssignment,
    Reference,
    Member,
    Subscript,
    OtherExpression,
}

pub(crate) struct SyntaxNode<'u> {
    pub kind: Kind,
    /// Byte offsets in the file; `end` is one past the last byte.
    pub start: u32,
    pub end: u32,
    pub children: Vec<SyntaxId>,
    pub cursor: Cursor<'u>,
}

pub(crate) struct SyntaxTree<'u> {
    nodes: Vec<SyntaxNode<'u>>,
}

impl<'u> SyntaxTree<'u> {
    /// The body of a function definition.
    pub fn of_function(function: Cursor<'u>) -> Option<SyntaxTree<'u>> {
        let body = function.children().into_iter().rev().find(|child| child.kind() == CXCursor_CompoundStmt)?;
        let mut tree = SyntaxTree { nodes: Vec::new() };
        tree.copy(body);
        Some(tree)
    }

    pub const BODY: SyntaxId = SyntaxId(0);

    pub fn ids(&self) -> impl Iterator<Item = SyntaxId> + use<> {
        (0..self.nodes.len() as u32).map(SyntaxId)
    }

    pub fn children(&self, id: SyntaxId) -> &[SyntaxId] {
        &self[id].children
    }

    /// Whether both trees have the same shape, so that equal numbers mean the same piece of the program.
    pub fn matches(&self, other: &SyntaxTree<'_>) -> bool {
        let same = |(a, b): (&SyntaxNode<'_>, &SyntaxNode<'_>)| {
            a.cursor.kind() == b.cursor.kind() && a.children.len() == b.children.len()
        };
        self.nodes.len() == other.nodes.len() && self.nodes.iter().zip(&other.nodes).all(same)
    }

    fn copy(&mut self, cursor: Cursor<'u>) -> SyntaxId {
        let id = SyntaxId(self.nodes.len() as u32);
        let mut children = cursor.children();
        let kind = classify(cursor, &children);
        if kind == Kind::Elvis {
            // libclang shows the common operand three times: as itself, as the condition and as the value.
            children.drain(1..3);
        }
        let (start, end) = (file_offset(cursor.start()), file_offset(cursor.end()));
        self.nodes.push(SyntaxNode { kind, start, end, children: Vec::new(), cursor });
        let copied = children.into_iter().filter(|child| is_code(*child)).map(|child| self.copy(child)).collect();
        self.nodes[id.0 as usize].children = copied;
        id
    }
}

impl<'u> std::ops::Index<SyntaxId> for SyntaxTree<'u> {
    type Output = SyntaxNode<'u>;
    fn index(&self, id: SyntaxId) -> &SyntaxNode<'u> {
        &self.nodes[id.0 as usize]
    }
}

/// Expressions, statements and variables; not the types, attributes and nested declarations around them.
fn is_code(cursor: Cursor<'_>) -> bool {
    cursor.is_expression() || cursor.is_statement() || cursor.kind() == CXCursor_VarDecl
}

fn classify(cursor: Cursor<'_>, children: &[Cursor<'_>]) -> Kind {
    match cursor.kind() {
        CXCursor_CompoundStmt => Kind::Compound,
        CXCursor_IfStmt => Kind::If,
        CXCursor_WhileStmt => Kind::While,
        CXCursor_DoStmt => Kind::Do,
        CXCursor_ForStmt => Kind::For,
        CXCursor_SwitchStmt => Kind::Switch,
        CXCursor_CaseStmt => Kind::Case,
        CXCursor_DefaultStmt => Kind::Default,
        CXCursor_LabelStmt => Kind::Label,
        CXCursor_GotoStmt => Kind::Goto,
        CXCursor_IndirectGotoStmt => Kind::ComputedGoto,
        CXCursor_ContinueStmt => Kind::Continue,
        CXCursor_BreakStmt => Kind::Break,
        CXCursor_ReturnStmt => Kind::Return,
        CXCursor_NullStmt => Kind::Null,
        CXCursor_DeclStmt => Kind::Declaration,
        CXCursor_VarDecl if cursor.storage_class() == CX_SC_Static => Kind::StaticVariable,
        CXCursor_VarDecl => Kind::Variable,
        CXCursor_BinaryOperator => binary_kind(cursor.binary_operator()),
        CXCursor_CompoundAssignOperator => Kind::CompoundAssignment,
        CXCursor_UnaryOperator => unary_kind(cursor.unary_operator()),
        CXCursor_ParenExpr => Kind::Parentheses,
        CXCursor_ConditionalOperator => Kind::Conditional,
        CXCursor_UnaryExpr if !has_variable_length(children) => Kind::Unevaluated,
        CXCursor_GenericSelectionExpr => Kind::Generic,
        CXCursor_CallExpr if cursor.spelling() == "__builtin_constant_p" => Kind::Unevaluated,
        CXCursor_CallExpr => Kind::Call,
        CXCursor_StmtExpr => Kind::StatementExpression,
        CXCursor_DeclRefExpr => Kind::Reference,
        CXCursor_MemberRefExpr => Kind::Member,
        CXCursor_ArraySubscriptExpr => Kind::Subscript,
        CXCursor_UnexposedExpr => unexposed_kind(children),
        _ if cursor.is_statement() => Kind::OtherStatement,
        _ => Kind::OtherExpression,
    }
}

/// Whether the operand of `sizeof` is a variable-length array, whose size only its evaluation tells.
fn has_variable_length(operands: &[Cursor<'_>]) -> bool {
    operands.iter().any(|operand| operand.clang_type().canonical().kind() == CXType_VariableArray)
}

fn binary_kind(operator: CXBinaryOperatorKind) -> Kind {
    match operator {
        CXBinaryOperator_LAnd => Kind::And,
        CXBinaryOperator_LOr => Kind::Or,
        CXBinaryOperator_Assign => Kind::Assignment,
        _ => Kind::OtherExpression,
    }
}

fn unary_kind(operator: CXUnaryOperatorKind) -> Kind {
    match operator {
        CXUnaryOperator_LNot => Kind::Not,
        CXUnaryOperator_Extension => Kind::Parentheses,
        _ => Kind::OtherExpression,
    }
}

/// libclang has no kind of its own for GNU `a ?: b` and `__builtin_choose_expr`; their children tell them apart.
fn unexposed_kind(children: &[Cursor<'_>]) -> Kind {
    match children {
        [common, condition, _, _] if common.same_as(*condition) => Kind::Elvis,
        [condition, _, _] if condition.evaluate().is_some() => Kind::Choose,
        _ => Kind::OtherExpression,
    }
}
