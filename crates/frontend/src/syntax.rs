//! The statements and expressions of one function body, copied out of libclang into a tree of our own. The same copy is
//! made from the preprocessed and from the original file, so equal trees have equal numbering.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::BTreeSet;

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
    /// `for (variable : range) body`; its children are those.
    RangeFor,
    /// The variable of such a loop, which stands for its condition; it begins at the colon, where llvm-cov sees it.
    LoopVariable,
    /// `if (T name = value)`: its children are the variable and its conversion to a truth.
    ConditionVariable,
    /// The condition of `if constexpr`.
    ConstantCondition,
    Try,
    Catch,
    Throw,
    New,
    DynamicCast,
    /// A function of its own.
    Lambda,
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
    /// Numbers of nodes, as they would be without what is around any, that get another node around them.
    around: BTreeSet<u32>,
    /// How many of them have it.
    added: u32,
}

impl<'u> SyntaxTree<'u> {
    /// The body of a function definition.
    pub fn of_function(function: Cursor<'u>) -> Option<SyntaxTree<'u>> {
        SyntaxTree::with_nodes_around(function, BTreeSet::new())
    }

    /// The same with nodes around some: expressions that are more than they seem. In an instance of a template, an expression may
    /// have temporary objects to end, of which the template knows nothing.
    pub fn with_nodes_around(function: Cursor<'u>, around: BTreeSet<u32>) -> Option<SyntaxTree<'u>> {
        let children = function.children();
        let is_body = |child: &&Cursor<'u>| matches!(child.kind(), CXCursor_CompoundStmt | CXCursor_CXXTryStmt);
        let body = *children.iter().rev().find(is_body)?;
        let mut tree = SyntaxTree { nodes: Vec::new(), around, added: 0 };
        match function.kind() {
            CXCursor_Constructor => tree.copy_constructor(body, &children),
            _ => drop(tree.copy(body)),
        }
        Some(tree)
    }

    /// A body of which nothing is known.
    pub fn without_code(function: Cursor<'u>) -> Option<SyntaxTree<'u>> {
        let cursor = *function.children().iter().rev().find(|child| child.is_statement())?;
        let (start, end) = (file_offset(cursor.start()), file_offset(cursor.end()));
        let nodes = vec![SyntaxNode { kind: Kind::Compound, start, end, children: Vec::new(), cursor }];
        Some(SyntaxTree { nodes, around: BTreeSet::new(), added: 0 })
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

    /// Initialisers run before the body, as its first statements.
    fn copy_constructor(&mut self, body: Cursor<'u>, parts: &[Cursor<'u>]) {
        let initialisers = parts.iter().take_while(|part| !part.same_as(body)).filter(|part| part.is_expression());
        let initialisers: Vec<Cursor<'u>> = initialisers.copied().collect();
        if body.kind() != CXCursor_CXXTryStmt {
            self.copy_initialised(body, initialisers.into_iter().chain([body]));
            return;
        }
        // What the initialisers throw the handlers of the body catch.
        let whole = self.push(Kind::Try, body);
        let mut children = Vec::new();
        for part in body.children() {
            children.push(match part.kind() {
                CXCursor_CXXCatchStmt => self.copy(part),
                _ => self.copy_initialised(part, initialisers.iter().copied().chain([part])),
            });
        }
        self.nodes[whole.0 as usize].children = children;
    }

    /// A statement that stands for several parts.
    fn copy_initialised(&mut self, body: Cursor<'u>, parts: impl Iterator<Item = Cursor<'u>>) -> SyntaxId {
        let id = self.push(Kind::Compound, body);
        let children = parts.map(|part| self.copy(part)).collect();
        self.nodes[id.0 as usize].children = children;
        id
    }

    fn push(&mut self, kind: Kind, cursor: Cursor<'u>) -> SyntaxId {
        let (start, end) = (file_offset(cursor.start()), file_offset(cursor.end()));
        self.nodes.push(SyntaxNode { kind, start, end, children: Vec::new(), cursor });
        SyntaxId(self.nodes.len() as u32 - 1)
    }

    fn copy(&mut self, cursor: Cursor<'u>) -> SyntaxId {
        let id = SyntaxId(self.nodes.len() as u32);
        if self.around.remove(&(id.0 - self.added)) {
            let (start, end) = (file_offset(cursor.start()), file_offset(cursor.end()));
            let children = vec![SyntaxId(id.0 + 1)];
            self.nodes.push(SyntaxNode { kind: Kind::OtherExpression, start, end, children, cursor });
            self.added += 1;
            self.copy(cursor);
            return id;
        }
        let mut children = cursor.children();
        let kind = classify(cursor, &children);
        if kind == Kind::Lambda {
            children.clear();
        }
        if kind == Kind::Elvis {
            // libclang shows the common operand three times: as itself, as the condition and as the value.
            children.drain(1..3);
        }
        let (start, end) = (file_offset(cursor.start()), file_offset(cursor.end()));
        self.nodes.push(SyntaxNode { kind, start, end, children: Vec::new(), cursor });
        children.retain(|child| is_code(*child));
        let copied = match has_header(kind) {
            true => self.copy_header(kind, &children),
            false => children.into_iter().map(|child| self.copy(child)).collect(),
        };
        self.nodes[id.0 as usize].children = copied;
        id
    }

    /// The parts of a statement whose condition may be a declaration: that and its truth become one node.
    fn copy_header(&mut self, kind: Kind, parts: &[Cursor<'u>]) -> Vec<SyntaxId> {
        let mut copied = Vec::new();
        let mut rest = parts.iter().copied().peekable();
        while let Some(part) = rest.next() {
            let declares = is_variable(part);
            copied.push(match rest.peek().copied() {
                Some(truth) if declares && kind != Kind::RangeFor => {
                    rest.next();
                    self.copy_condition_variable(part, truth)
                }
                _ => self.copy(part),
            });
            if declares && kind == Kind::RangeFor {
                self.turn_into_loop_variable(copied.last().copied());
            }
        }
        copied
    }

    fn copy_condition_variable(&mut self, variable: Cursor<'u>, truth: Cursor<'u>) -> SyntaxId {
        let id = SyntaxId(self.nodes.len() as u32);
        let (start, end) = (file_offset(truth.start()), file_offset(truth.end()));
        let kind = Kind::ConditionVariable;
        self.nodes.push(SyntaxNode { kind, start, end, children: Vec::new(), cursor: truth });
        let children = vec![self.copy(variable), self.copy(truth)];
        self.nodes[id.0 as usize].children = children;
        id
    }

    fn turn_into_loop_variable(&mut self, variable: Option<SyntaxId>) {
        let Some(node) = variable.and_then(|id| self.nodes.get_mut(id.0 as usize)) else { return };
        node.kind = Kind::LoopVariable;
        node.start = node.end.saturating_sub(1);
    }

    /// Conditions of `if constexpr` are no decisions at run time.
    pub fn note_constant_conditions(&mut self, text: &str) {
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let declares = |id: &&SyntaxId| self[**id].kind == Kind::Declaration;
            let condition = node.children.iter().find(|id| !declares(id));
            let (Kind::If, Some(&condition)) = (node.kind, condition) else { continue };
            let head = text.get(node.start as usize..self[condition].start as usize).unwrap_or_default();
            if head.contains("constexpr") {
                self.nodes[condition.0 as usize].kind = Kind::ConstantCondition;
            }
        }
    }
}

impl<'u> std::ops::Index<SyntaxId> for SyntaxTree<'u> {
    type Output = SyntaxNode<'u>;
    fn index(&self, id: SyntaxId) -> &SyntaxNode<'u> {
        &self.nodes[id.0 as usize]
    }
}

/// Statements whose condition may declare a variable.
fn has_header(kind: Kind) -> bool {
    matches!(kind, Kind::If | Kind::While | Kind::For | Kind::Switch | Kind::RangeFor)
}

/// Expressions, statements and variables; not the types, attributes and nested declarations around them.
fn is_code(cursor: Cursor<'_>) -> bool {
    cursor.is_expression() || cursor.is_statement() || is_variable(cursor)
}

/// A variable, or several names for the parts of an object, which libclang has no kind for.
fn is_variable(cursor: Cursor<'_>) -> bool {
    match cursor.kind() {
        CXCursor_VarDecl => true,
        CXCursor_UnexposedDecl => cursor.children().iter().any(|child| child.is_expression()),
        _ => false,
    }
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
        // In C++ a static variable may be initialised by what runs.
        CXCursor_VarDecl if cursor.storage_class() == CX_SC_Static && !cursor.is_cpp() => Kind::StaticVariable,
        CXCursor_VarDecl | CXCursor_UnexposedDecl => Kind::Variable,
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
        CXCursor_CXXForRangeStmt => Kind::RangeFor,
        CXCursor_CXXTryStmt => Kind::Try,
        CXCursor_CXXCatchStmt => Kind::Catch,
        CXCursor_CXXThrowExpr => Kind::Throw,
        CXCursor_CXXNewExpr => Kind::New,
        CXCursor_CXXDynamicCastExpr => Kind::DynamicCast,
        CXCursor_LambdaExpr => Kind::Lambda,
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
