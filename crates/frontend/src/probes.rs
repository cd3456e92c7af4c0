//! Probes in the marked text: how the operands of a comparison lie to each other, and whether a label of the user holds.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use branchwise_program::map::{CallSite, Marker, Probe, ProbeKind};
use branchwise_program::{FunctionId, IdVec, MarkerId, NodeId, ProbeId};
use clang_sys::*;

use crate::clang::ClangType;
use crate::ctypes::{is_arithmetic, promoted_integer};
use crate::marking::{Insertion, closing, inner_rank, opening};
use crate::places::{Files, Shown, Views};
use crate::plan::{Leaf, Plan};
use crate::syntax::{Kind, SyntaxId, SyntaxTree};

/// The function whose argument is a label: a goal of the user's own.
pub(crate) const LABEL: &str = "branchwise_label";

/// A place that gets a probe.
pub(crate) enum Site {
    /// A leaf condition that compares two numbers.
    Relation { marker: MarkerId, comparison: SyntaxId, left: SyntaxId, right: SyntaxId, neighbours: Neighbours },
    /// A call of the label function.
    Label { call: SyntaxId, argument: SyntaxId },
}

/// Which values lie next to each other.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Neighbours {
    /// They differ by one; compared in an unsigned type of this name.
    Integers(&'static str),
    /// There is no float in between.
    Floats,
    Doubles,
}

/// The sites of one function, in the order of its tree.
pub(crate) fn sites(tree: &SyntaxTree<'_>, plan: &Plan, relations: bool) -> Vec<Site> {
    let mut sites = Vec::new();
    for id in tree.ids() {
        if let (true, Some(&Leaf::Marker(marker))) = (relations, plan.leaves.get(&id)) {
            sites.extend(relation(tree, id, marker));
        }
        let callee = || tree[id].cursor.referenced().map(|callee| callee.spelling());
        if let (Kind::Call, &[_, argument]) = (tree[id].kind, tree.children(id))
            && callee().as_deref() == Some(LABEL)
        {
            sites.push(Site::Label { call: id, argument });
        }
    }
    sites
}

/// The comparison that a leaf is, behind parentheses and negations.
fn relation(tree: &SyntaxTree<'_>, leaf: SyntaxId, marker: MarkerId) -> Option<Site> {
    let mut comparison = leaf;
    while let (Kind::Parentheses | Kind::Not, &[inner]) = (tree[comparison].kind, tree.children(comparison)) {
        comparison = inner;
    }
    let cursor = tree[comparison].cursor;
    let is_comparison = cursor.kind() == CXCursor_BinaryOperator
        && (CXBinaryOperator_LT..=CXBinaryOperator_NE).contains(&cursor.binary_operator());
    let &[left, right] = tree.children(comparison) else { return None };
    let types = [left, right].map(|operand| tree[operand].cursor.clang_type());
    let neighbours = is_comparison.then(|| neighbours(types))??;
    Some(Site::Relation { marker, comparison, left, right, neighbours })
}

/// `None` for what is no number of up to 64 bits.
fn neighbours(types: [ClangType<'_>; 2]) -> Option<Neighbours> {
    let kinds = types.map(|operand| operand.canonical().kind());
    let any = |kind| kinds.contains(&kind);
    if !types.into_iter().all(is_arithmetic) || any(CXType_LongDouble) {
        return None;
    }
    if any(CXType_Double) {
        return Some(Neighbours::Doubles);
    }
    if any(CXType_Float) {
        return Some(Neighbours::Floats);
    }
    match types.map(|operand| promoted_integer(operand).0).into_iter().max() {
        Some(..=32) => Some(Neighbours::Integers("unsigned")),
        Some(..=64) => Some(Neighbours::Integers("unsigned long long")),
        _ => None,
    }
}

/// `a < b` becomes `({ __auto_type l = +(a); l < ({ __auto_type r = +(b); __bw_probe(N, …); r; }); })`; the user's
/// operator stays. `+` promotes as the comparison does.
pub(crate) fn insertions(tree: &SyntaxTree<'_>, sites: &[Site], first: ProbeId) -> Vec<Insertion> {
    let mut edits = Vec::new();
    for (site, n) in sites.iter().zip(first.0..) {
        match *site {
            Site::Relation { comparison, left, right, neighbours, .. } => {
                let rank = inner_rank(comparison);
                let answer = answer(neighbours, n);
                edits.push(opening(tree[comparison].start, rank, format!("({{ __auto_type __bw_l{n} = +(")));
                edits.push(closing(tree[left].end, rank, format!("); __bw_l{n}")));
                edits.push(opening(tree[right].start, rank, format!("({{ __auto_type __bw_r{n} = +(")));
                let asked = format!("); __bw_probe({n}, {answer}); __bw_r{n}; }}); }})");
                edits.push(closing(tree[right].end, rank, asked));
            }
            Site::Label { argument, .. } => {
                let (node, rank) = (&tree[argument], inner_rank(argument));
                edits.push(opening(node.start, rank, format!("__bw_probe({n}, !!(")));
                edits.push(closing(node.end, rank, "))".into()));
            }
        }
    }
    edits
}

/// The answer in C, without a branch and without an overflow.
fn answer(neighbours: Neighbours, n: u32) -> String {
    let (left, right) = (format!("__bw_l{n}"), format!("__bw_r{n}"));
    let (left_number, right_number) = match neighbours {
        Neighbours::Integers(unsigned) => (format!("({unsigned}){left}"), format!("({unsigned}){right}")),
        Neighbours::Floats => (ordered("float", "int", 31, &left), ordered("float", "int", 31, &right)),
        Neighbours::Doubles => (ordered("double", "long long", 63, &left), ordered("double", "long long", 63, &right)),
    };
    let (equal, below, above) = (Probe::EQUAL, Probe::BELOW, Probe::ABOVE);
    debug_assert_eq!((equal, below, above), (1, 2, 4), "the shifts below");
    format!(
        "(int)((unsigned)({left} == {right}) | (unsigned)(({left} < {right}) & ({right_number} - {left_number} == 1)) << 1 \
         | (unsigned)(({left} > {right}) & ({left_number} - {right_number} == 1)) << 2)"
    )
}

/// The number of a float among all floats in their order, both zeros being one: its bits without the sign, negated below
/// zero.
fn ordered(float: &str, integer: &str, sign: u32, value: &str) -> String {
    let bits = format!("((union {{ {float} f; {integer} i; }}){{ ({float}){value} }}).i");
    let negative = format!("(unsigned {integer})({bits} >> {sign})");
    format!("((((unsigned {integer}){bits} << 1 >> 1) ^ {negative}) - {negative})")
}

/// What the map says of the probes, once the graph is there.
pub(crate) fn probes(
    views: &Views<'_, '_>,
    files: &mut Files,
    sites: &[Site],
    function: FunctionId,
    (markers, calls): (&IdVec<MarkerId, Marker>, &[CallSite]),
) -> Vec<Probe> {
    let probe = |site: &Site| match *site {
        Site::Relation { marker, comparison, .. } => Probe {
            function,
            node: markers[marker].node,
            kind: ProbeKind::Relation,
            text: views.text(files, comparison, Shown::MacroBody),
            place: views.place(files, comparison),
        },
        Site::Label { call, argument } => {
            let place = views.place(files, call);
            let is_it = |found: &&CallSite| found.callee.as_deref() == Some(LABEL) && found.place == place;
            Probe {
                function,
                // One in an operand that never runs has no node of its own.
                node: calls.iter().find(is_it).map_or(NodeId(0), |found| found.node),
                kind: ProbeKind::Label,
                text: views.text(files, argument, Shown::MacroBody),
                place,
            }
        }
    };
    sites.iter().map(probe).collect()
}
