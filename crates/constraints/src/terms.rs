//! Hash-consed bit-vector terms.
//!
//! Invariants:
//! - two terms with the same shape are the same [`TermId`], so equality of ids is equality of shapes;
//! - an operand has a smaller id than the term that uses it, so ascending ids are a topological order;
//! - a width is between 1 and 128, and a boolean is a term of width 1 (1 is true);
//! - a term is only made by the constructors in `simplify`, so what is stored is already simplified.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use crate::display::Displayed;
use crate::floats::FloatOp;
use crate::hash::FastMap;
use crate::operators::operators;

/// A term of one [`Terms`] arena.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct TermId(pub(crate) u32);

/// A variable of one [`Terms`] arena, numbered in order of creation.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct VariableId(pub(crate) u32);

impl TermId {
    /// The position in the arena: dense, from 0, for tables beside the terms.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl VariableId {
    /// The position among the variables: dense, from 0, for tables beside the variables.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 variables"))
    }
}

impl fmt::Display for TermId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl fmt::Display for VariableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

operators! {
    UnaryOp,
    ALL {
        /// Bitwise complement; the logical negation at width 1.
        Not,
        /// Two's complement.
        Neg,
    }
}

operators! {
    BinaryOp,
    ALL {
        Add,
        Sub,
        Mul,
        UDiv,
        SDiv,
        URem,
        SRem,
        And,
        Or,
        Xor,
        Shl,
        LShr,
        AShr,
    }
}

impl BinaryOp {
    pub fn is_commutative(self) -> bool {
        use BinaryOp::{Add, And, Mul, Or, Xor};
        matches!(self, Add | Mul | And | Or | Xor)
    }
}

operators! {
    /// `≠`, `>` and `≥` are built from these by negation and by swapping, so that each has one form only.
    CompareOp,
    ALL {
        Eq,
        Ult,
        Ule,
        Slt,
        Sle,
    }
}

#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum TermKind {
    Constant(u128),
    Variable(VariableId),
    Unary(UnaryOp, TermId),
    Binary(BinaryOp, TermId, TermId),
    Compare(CompareOp, TermId, TermId),
    IfThenElse {
        condition: TermId,
        then: TermId,
        otherwise: TermId,
    },
    /// Bits `low .. low + width` of the operand, where `width` is that of this term.
    Extract {
        term: TermId,
        low: u32,
    },
    Concat {
        high: TermId,
        low: TermId,
    },
    ZeroExtend(TermId),
    SignExtend(TermId),
    /// On IEEE bit patterns; as many operands as [`FloatOp::arity`] says, all of one width.
    Float(FloatOp, TermId, Option<TermId>, Option<TermId>),
}

impl TermKind {
    /// The operands, left to right. At most three, so no allocation.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = TermId> + use<> {
        let operands = match *self {
            TermKind::Constant(_) | TermKind::Variable(_) => [None; 3],
            TermKind::Unary(_, a) | TermKind::ZeroExtend(a) | TermKind::SignExtend(a) => [Some(a), None, None],
            TermKind::Extract { term, .. } => [Some(term), None, None],
            TermKind::Binary(_, a, b) | TermKind::Compare(_, a, b) => [Some(a), Some(b), None],
            TermKind::Concat { high, low } => [Some(high), Some(low), None],
            TermKind::Float(_, a, b, c) => [Some(a), b, c],
            TermKind::IfThenElse { condition, then, otherwise } => [Some(condition), Some(then), Some(otherwise)],
        };
        operands.into_iter().flatten()
    }
}

/// The variables of a term, kept beside it when they are few.
#[derive(Clone, Debug)]
enum VariableSet {
    Small(Arc<[VariableId]>),
    /// More than [`SMALL_SET`]: computed when asked for, because a sum over ten thousand cells would
    /// otherwise keep ten thousand long lists.
    Large,
}

const SMALL_SET: usize = 32;

#[derive(Clone, Debug)]
struct Node {
    kind: TermKind,
    width: u32,
    variables: VariableSet,
    /// A float operator occurs in it.
    floats: bool,
}

#[derive(Clone, Debug)]
struct VariableInfo {
    name: String,
    term: TermId,
}

/// The arena. See the invariants at the top of this file.
#[derive(Clone, Debug)]
pub struct Terms {
    nodes: Vec<Node>,
    index: FastMap<(TermKind, u32), TermId>,
    variables: Vec<VariableInfo>,
    no_variables: Arc<[VariableId]>,
    large_sets: RefCell<FastMap<TermId, Arc<[VariableId]>>>,
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

impl Terms {
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            index: FastMap::default(),
            variables: Vec::new(),
            no_variables: Arc::from([]),
            large_sets: RefCell::default(),
        }
    }

    /// A fresh variable at each call, also when the name is not new: names are for people.
    pub fn variable(&mut self, name: &str, width: u32) -> TermId {
        assert_width(width);
        let id = VariableId::from_index(self.variables.len());
        let term = self.push(TermKind::Variable(id), width, VariableSet::Small(Arc::from([id])));
        self.variables.push(VariableInfo { name: name.to_owned(), term });
        term
    }

    pub fn variable_id(&self, term: TermId) -> Option<VariableId> {
        match self.kind(term) {
            TermKind::Variable(id) => Some(*id),
            _ => None,
        }
    }

    pub fn variable_name(&self, variable: VariableId) -> &str {
        &self.variables[variable.index()].name
    }

    pub fn variable_width(&self, variable: VariableId) -> u32 {
        self.width(self.variable_term(variable))
    }

    pub fn variable_term(&self, variable: VariableId) -> TermId {
        self.variables[variable.index()].term
    }

    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// How many terms there are; every [`TermId::index`] is below it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn width(&self, term: TermId) -> u32 {
        self.nodes[term.index()].width
    }

    pub fn kind(&self, term: TermId) -> &TermKind {
        &self.nodes[term.index()].kind
    }

    pub fn as_constant(&self, term: TermId) -> Option<u128> {
        match self.kind(term) {
            TermKind::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// The constant of a width-1 term.
    pub fn as_boolean(&self, term: TermId) -> Option<bool> {
        self.as_constant(term).filter(|_| self.width(term) == 1).map(|value| value == 1)
    }

    /// The roots and what they are made of, each once; ascending, which is operands first.
    pub(crate) fn reachable(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut seen = FastMap::default();
        let mut pending = roots.to_vec();
        let mut found = Vec::new();
        while let Some(term) = pending.pop() {
            if seen.insert(term, ()).is_none() {
                found.push(term);
                pending.extend(self.kind(term).operands());
            }
        }
        found.sort_unstable();
        found
    }

    /// The variables that the term depends on, ascending.
    pub fn variables(&self, term: TermId) -> Arc<[VariableId]> {
        match &self.nodes[term.index()].variables {
            VariableSet::Small(set) => set.clone(),
            VariableSet::Large => self.large_set(term),
        }
    }

    /// Whether a float operator occurs in the term.
    pub fn has_floats(&self, term: TermId) -> bool {
        self.nodes[term.index()].floats
    }

    /// A readable infix form such as `(i + j) <=s k`, cut off with `…` when it gets long.
    pub fn display(&self, term: TermId) -> Displayed<'_> {
        Displayed::new(self, term)
    }

    /// The term of this shape. The caller has simplified: nothing is looked at here.
    pub(crate) fn intern(&mut self, kind: TermKind, width: u32) -> TermId {
        assert_width(width);
        if let Some(&term) = self.index.get(&(kind, width)) {
            return term;
        }
        let variables = self.variables_of_operands(&kind);
        let term = self.push(kind, width, variables);
        self.index.insert((kind, width), term);
        term
    }

    fn push(&mut self, kind: TermKind, width: u32, variables: VariableSet) -> TermId {
        let term = TermId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms"));
        let own = matches!(kind, TermKind::Float(..));
        let floats = own || kind.operands().any(|operand| self.has_floats(operand));
        self.nodes.push(Node { kind, width, variables, floats });
        term
    }

    fn variables_of_operands(&self, kind: &TermKind) -> VariableSet {
        let mut union = VariableSet::Small(self.no_variables.clone());
        for operand in kind.operands() {
            union = united(union, &self.nodes[operand.index()].variables);
        }
        union
    }

    fn large_set(&self, root: TermId) -> Arc<[VariableId]> {
        if let Some(set) = self.large_sets.borrow().get(&root) {
            return set.clone();
        }
        let set: Arc<[VariableId]> = self.collect_variables(root).into();
        self.large_sets.borrow_mut().insert(root, set.clone());
        set
    }

    fn collect_variables(&self, root: TermId) -> Vec<VariableId> {
        let mut seen = FastMap::default();
        let mut found = Vec::new();
        let mut pending = vec![root];
        while let Some(term) = pending.pop() {
            if seen.insert(term, ()).is_some() {
                continue;
            }
            match &self.nodes[term.index()].variables {
                VariableSet::Small(set) => found.extend_from_slice(set),
                VariableSet::Large => pending.extend(self.kind(term).operands()),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn assert_width(width: u32) {
    assert!((1..=128).contains(&width), "a term of width {width}; widths are 1 to 128");
}

/// The union; one of the two lists is shared again when it holds the other, which is the usual case.
fn united(a: VariableSet, b: &VariableSet) -> VariableSet {
    let (VariableSet::Small(left), VariableSet::Small(right)) = (&a, b) else {
        return VariableSet::Large;
    };
    if Arc::ptr_eq(left, right) || is_subset(right, left) {
        return a;
    }
    if is_subset(left, right) {
        return b.clone();
    }
    let mut union: Vec<VariableId> = left.iter().chain(right.iter()).copied().collect();
    union.sort_unstable();
    union.dedup();
    if union.len() > SMALL_SET { VariableSet::Large } else { VariableSet::Small(union.into()) }
}

/// Both ascending.
pub(crate) fn is_subset<T: Ord>(part: &[T], whole: &[T]) -> bool {
    if part.len() > whole.len() {
        return false;
    }
    let mut rest = whole.iter();
    part.iter().all(|wanted| rest.by_ref().find(|have| *have >= wanted) == Some(wanted))
}
