//! Puts the markers into the preprocessed text. Only insertions, sorted once and copied in one pass.

use crate::conditions::Conditions;
use crate::ctypes::is_arithmetic;
use crate::plan::{Leaf, Plan};
use crate::syntax::{Kind, SyntaxId, SyntaxTree};

/// Text to insert at a byte offset.
pub(crate) struct Insertion {
    offset: u32,
    /// What ends at an offset comes before what begins there; ends go from the inside out, beginnings from the outside
    /// in. Numbers are in preorder, so the outer of two nested nodes has the smaller one.
    order: (bool, i64),
    text: String,
}

impl Insertion {
    pub fn offset(&self) -> u32 {
        self.offset
    }

    pub fn is_opening(&self) -> bool {
        self.order.0
    }

    /// On one line, so that line markers stay true.
    pub fn text(&self) -> &str {
        &self.text
    }
}

pub(crate) fn opening(offset: u32, rank: i64, text: String) -> Insertion {
    Insertion { offset, order: (true, rank), text }
}

pub(crate) fn closing(offset: u32, rank: i64, text: String) -> Insertion {
    Insertion { offset, order: (false, -rank), text }
}

/// A leaf and the `?:` that it consists of are one node; the leaf is outside.
fn outer_rank(id: SyntaxId) -> i64 {
    2 * i64::from(id.0)
}

pub(crate) fn inner_rank(id: SyntaxId) -> i64 {
    2 * i64::from(id.0) + 1
}

/// How markers are written in a function.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Dialect {
    C,
    Cpp,
    /// It may run in the compiler, where there is nobody to tell.
    Constexpr,
}

impl Dialect {
    fn open_condition(self, marker: u32) -> String {
        match self {
            Dialect::C => format!("__bw_condition({marker}, !!("),
            Dialect::Cpp => format!("__bw_condition({marker}, static_cast<bool>("),
            Dialect::Constexpr => format!("__bw_constexpr_condition({marker}, static_cast<bool>("),
        }
    }
}

/// The insertions for one function.
pub(crate) fn insertions(
    tree: &SyntaxTree<'_>,
    conditions: &Conditions,
    plan: &Plan,
    text: &str,
    dialect: Dialect,
) -> Vec<Insertion> {
    if dialect != Dialect::C {
        return cpp_insertions(tree, conditions, plan, text, dialect);
    }
    let mut edits = Vec::new();
    let mut found = Vec::new();
    tree.ids().next().into_iter().for_each(|root| constant_questions(tree, root, &mut found));
    for id in found {
        let (node, rank) = (&tree[id], inner_rank(id));
        edits.push(opening(node.start, rank, "(".into()));
        edits.push(closing(node.end, rank, " || __bw_otherwise(\"optimiser-knows-nothing\"))".into()));
    }
    let mut common_operands = std::collections::HashSet::new();
    for id in tree.ids().filter(|&id| tree[id].kind == Kind::Elvis) {
        if let &[common, _] = tree.children(id) {
            common_operands.insert(common);
            elvis(tree, id, plan, text, &mut edits);
        }
    }
    // In the tree's order, so that the result does not depend on hashing.
    for id in tree.ids().filter(|id| !common_operands.contains(id)) {
        if let Some(Leaf::Marker(marker)) = plan.leaves.get(&id) {
            let node = &tree[id];
            edits.push(opening(node.start, outer_rank(id), dialect.open_condition(marker.0)));
            edits.push(closing(node.end, outer_rank(id), "))".into()));
        }
    }
    for site in &conditions.switches {
        if let Some(marker) = plan.switches.get(&site.statement) {
            let (node, rank, n) = (&tree[site.condition], outer_rank(site.statement), marker.0);
            // `+` promotes like the switch itself does.
            edits.push(opening(node.start, rank, format!("({{ __auto_type __bw_s{n} = +(")));
            let close = format!("); __bw_switch({n}, (long long)__bw_s{n}); __bw_s{n}; }})");
            edits.push(closing(node.end, rank, close));
        }
    }
    edits
}

/// Where the text asks whether something is a constant, and it is not: an optimiser may know otherwise. Not where only a constant may
/// stand.
fn constant_questions(tree: &SyntaxTree<'_>, id: SyntaxId, found: &mut Vec<SyntaxId>) {
    let (node, children) = (&tree[id], tree.children(id));
    let open = match node.kind {
        Kind::Unevaluated => {
            let asks = node.cursor.spelling() == "__builtin_constant_p" && node.cursor.evaluate() != Some(1);
            found.extend(asks.then_some(id));
            &[]
        }
        Kind::StaticVariable | Kind::Choose | Kind::Generic | Kind::ConstantCondition => &[],
        Kind::Variable if node.cursor.clang_type().canonical().array_count().is_some() => &[],
        Kind::Case => &children[children.len().saturating_sub(1)..],
        Kind::OtherStatement if node.cursor.is_assembly() => &[],
        _ => children,
    };
    open.iter().for_each(|&child| constant_questions(tree, child, found));
}

/// The same in C++, where headers declare variables, loops hide their conditions and `switch` takes scoped enumerations.
fn cpp_insertions(
    tree: &SyntaxTree<'_>,
    conditions: &Conditions,
    plan: &Plan,
    text: &str,
    dialect: Dialect,
) -> Vec<Insertion> {
    let mut edits = Vec::new();
    for id in tree.ids() {
        let children = tree.children(id);
        match (tree[id].kind, children) {
            (Kind::If, _) => declared_if(tree, id, plan, dialect, &mut edits),
            (Kind::While, &[condition, body]) => {
                declared_while(tree, condition, body, plan, text, dialect, &mut edits);
            }
            (Kind::RangeFor, &[variable, range, _]) => range_for(tree, variable, range, plan, text, &mut edits),
            (Kind::Catch, &[.., block]) => handler(tree, (id, block), plan, &mut edits),
            _ => {}
        }
        let declared = matches!(tree[id].kind, Kind::ConditionVariable | Kind::LoopVariable);
        if let (Some(Leaf::Marker(marker)), false) = (plan.leaves.get(&id), declared) {
            edits.push(opening(tree[id].start, outer_rank(id), dialect.open_condition(marker.0)));
            edits.push(closing(tree[id].end, outer_rank(id), "))".into()));
        }
    }
    for site in &conditions.switches {
        if let Some(marker) = plan.switches.get(&site.statement) {
            let (node, rank) = (&tree[site.condition], outer_rank(site.statement));
            if let (Kind::ConditionVariable, &[variable, _]) = (node.kind, tree.children(site.condition)) {
                let name = tree[variable].cursor.spelling();
                let ask = format!("; __bw_switched({}, {name})", marker.0);
                edits.push(closing(tree[variable].end, rank, ask));
                continue;
            }
            edits.push(opening(node.start, rank, format!("__bw_switched({}, ", marker.0)));
            edits.push(closing(node.end, rank, ")".into()));
        }
    }
    edits
}

/// `catch (T name) { … }` becomes `catch (T name) { marker; … }`.
fn handler(tree: &SyntaxTree<'_>, (id, block): (SyntaxId, SyntaxId), plan: &Plan, edits: &mut Vec<Insertion>) {
    if let Some(marker) = plan.handlers.get(&id) {
        let text = format!(" __bw_switch({}, 0);", marker.0);
        edits.push(opening(tree[block].start + 1, outer_rank(block), text));
    }
}

/// `if (T name = value)` becomes `if (T name = value; marker(name))`.
fn declared_if(tree: &SyntaxTree<'_>, id: SyntaxId, plan: &Plan, dialect: Dialect, edits: &mut Vec<Insertion>) {
    let Some((variable, truth)) =
        tree.children(id).first().and_then(|&condition| declared(tree, condition, plan, dialect))
    else {
        return;
    };
    edits.push(closing(tree[variable].end, outer_rank(id), format!("; {truth}")));
}

/// `while (T name = value) body` becomes `while (true) if (T name = value; marker(name)) { body } else break;`.
fn declared_while(
    tree: &SyntaxTree<'_>,
    condition: SyntaxId,
    body: SyntaxId,
    plan: &Plan,
    text: &str,
    dialect: Dialect,
    edits: &mut Vec<Insertion>,
) {
    let Some((variable, truth)) = declared(tree, condition, plan, dialect) else { return };
    let Some(end) = statement_end(tree, body, text) else { return };
    edits.push(opening(tree[variable].start, outer_rank(condition), "true) if (".into()));
    edits.push(closing(tree[variable].end, outer_rank(condition), format!("; {truth}")));
    edits.push(opening(tree[body].start, outer_rank(body), "{ ".into()));
    edits.push(closing(end, outer_rank(condition), " } else break;".into()));
}

/// The variable that a condition declares, and the marker on its truth.
fn declared(tree: &SyntaxTree<'_>, condition: SyntaxId, plan: &Plan, dialect: Dialect) -> Option<(SyntaxId, String)> {
    let (Kind::ConditionVariable, &[variable, _]) = (tree[condition].kind, tree.children(condition)) else {
        return None;
    };
    let Some(Leaf::Marker(marker)) = plan.leaves.get(&condition) else { return None };
    let name = tree[variable].cursor.spelling();
    Some((variable, format!("{}{name}))", dialect.open_condition(marker.0))))
}

/// Behind the semicolon of an expression statement.
fn statement_end(tree: &SyntaxTree<'_>, id: SyntaxId, text: &str) -> Option<u32> {
    if tree[id].kind == Kind::Compound {
        return Some(tree[id].end);
    }
    let rest = text.get(tree[id].end as usize..)?;
    let blank = rest.len() - rest.trim_start().len();
    rest[blank..].starts_with(';').then(|| tree[id].end + blank as u32 + 1)
}

/// `for (v : range)` asks a range that tells whether there is another element. Temporaries live as long as before.
fn range_for(
    tree: &SyntaxTree<'_>,
    variable: SyntaxId,
    range: SyntaxId,
    plan: &Plan,
    text: &str,
    edits: &mut Vec<Insertion>,
) {
    let Some(Leaf::Marker(marker)) = plan.leaves.get(&variable) else { return };
    let node = &tree[range];
    let written = text.get(node.start as usize..node.end as usize).unwrap_or_default();
    let kept: String = written.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ");
    edits.push(opening(node.start, outer_rank(range), format!("__bw_range<{}, decltype(({kept}))>{{", marker.0)));
    edits.push(closing(node.end, outer_rank(range), "}".into()));
}

/// `a ?: b` becomes `({ __auto_type g = (a); __bw_condition(N, !!g) ? g : (b); })`; the user's `?` and `:` stay.
fn elvis(tree: &SyntaxTree<'_>, id: SyntaxId, plan: &Plan, text: &str, edits: &mut Vec<Insertion>) {
    let &[common, other] = tree.children(id) else { return };
    let Some(Leaf::Marker(marker)) = plan.leaves.get(&common) else { return };
    let (n, rank) = (marker.0, inner_rank(id));
    let (common, other) = (&tree[common], &tree[other]);
    // A bit-field initialises no `__auto_type`; `+` promotes it, as `?:` does anyway.
    let plus = if is_arithmetic(common.cursor.clang_type()) { "+" } else { "" };
    let Some(colon) = colon_between(text, common.end, other.start) else { return };
    edits.push(opening(tree[id].start, rank, format!("({{ __auto_type __bw_g{n} = {plus}(")));
    edits.push(closing(common.end, rank, format!("); __bw_condition({n}, !!__bw_g{n})")));
    edits.push(opening(colon, rank, format!(" __bw_g{n} ")));
    edits.push(opening(other.start, rank, " (".into()));
    edits.push(closing(tree[id].end, rank, "); })".into()));
}

/// The colon after the question mark; line markers in between may quote anything.
fn colon_between(text: &str, from: u32, to: u32) -> Option<u32> {
    let mut position = from as usize;
    for line in text.get(from as usize..to as usize)?.split_inclusive('\n') {
        if let Some(colon) = line.find(':').filter(|_| !line.starts_with('#')) {
            return u32::try_from(position + colon).ok();
        }
        position += line.len();
    }
    None
}

/// Brings the insertions of all functions into the order in which they are applied.
pub(crate) fn sort(insertions: &mut [Insertion]) {
    insertions.sort_by_key(|insertion| (insertion.offset, insertion.order));
}

/// The text with all insertions, which are sorted.
pub(crate) fn apply(text: &str, insertions: &[Insertion]) -> String {
    let added: usize = insertions.iter().map(|insertion| insertion.text.len()).sum();
    let mut marked = String::with_capacity(text.len() + added);
    let mut copied = 0;
    for insertion in insertions {
        let offset = insertion.offset as usize;
        marked.push_str(text.get(copied..offset).unwrap_or_default());
        marked.push_str(&insertion.text);
        copied = offset;
    }
    marked.push_str(text.get(copied..).unwrap_or_default());
    marked
}
