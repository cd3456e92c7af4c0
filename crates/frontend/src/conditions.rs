//! Finds the decisions of a function and takes them apart at `&&`, `||`, `!` and parentheses down to leaf conditions.
//!
//! A leaf is what llvm-cov counts: the whole operand of a connective or of a statement, `!` included, so that its
//! outcomes are those of llvm-cov. `!` is taken apart only in front of a connective.

use branchwise_program::map::DecisionKind;

use crate::syntax::{Kind, SyntaxId, SyntaxTree};

/// A decision as it stands in the tree.
#[derive(Debug)]
pub(crate) struct DecisionSite {
    pub kind: DecisionKind,
    pub root: SyntaxId,
    pub leaves: Vec<SyntaxId>,
}

#[derive(Debug)]
pub(crate) struct SwitchSite {
    pub statement: SyntaxId,
    pub condition: SyntaxId,
    /// `case` and `default` statements in source order.
    pub labels: Vec<SyntaxId>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum PointKind {
    Leaf,
    Label,
    /// The implicit default of the switch with this condition.
    ImplicitDefault,
}

/// A place that llvm-cov may report as a branch.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Point {
    pub node: SyntaxId,
    pub kind: PointKind,
}

#[derive(Debug, Default)]
pub(crate) struct Conditions {
    pub decisions: Vec<DecisionSite>,
    pub switches: Vec<SwitchSite>,
    /// In source order, what starts at the same byte from the outside in.
    pub points: Vec<Point>,
    /// Leaves in initialisers of static variables, where nothing runs and no call is allowed.
    pub frozen: std::collections::HashSet<SyntaxId>,
}

/// What an operand is, once parentheses and negations in front of a connective are looked through.
pub(crate) enum Operand {
    Leaf,
    Connective { inner: SyntaxId, negated: bool },
}

pub(crate) fn operand(tree: &SyntaxTree<'_>, id: SyntaxId) -> Operand {
    let (mut inner, mut negated) = (id, false);
    loop {
        match (tree[inner].kind, tree.children(inner)) {
            (Kind::And | Kind::Or, [_, _]) => return Operand::Connective { inner, negated },
            (Kind::Not, &[child]) => (inner, negated) = (child, !negated),
            (Kind::Parentheses, &[child]) => inner = child,
            _ => return Operand::Leaf,
        }
    }
}

impl Conditions {
    pub fn find(tree: &SyntaxTree<'_>, text: &str) -> Conditions {
        let mut finder = Finder { tree, text, found: Conditions::default(), open_switches: Vec::new(), frozen: false };
        finder.visit(SyntaxTree::BODY);
        let mut found = finder.found;
        found.points.sort_by_key(|point| (tree[point.node].start, point.node));
        found.switches.sort_by_key(|switch| switch.statement);
        found.decisions.sort_by_key(|decision| (tree[decision.root].start, decision.root));
        found
    }
}

struct Finder<'t, 'u> {
    tree: &'t SyntaxTree<'u>,
    text: &'t str,
    found: Conditions,
    open_switches: Vec<SwitchSite>,
    frozen: bool,
}

impl Finder<'_, '_> {
    fn visit(&mut self, id: SyntaxId) {
        let children = self.tree.children(id);
        match (self.tree[id].kind, children) {
            (Kind::If, _) => self.if_statement(id),
            (Kind::While, &[condition, _]) => self.decision(DecisionKind::While, condition, children),
            (Kind::Do, &[_, condition]) => self.decision(DecisionKind::Do, condition, children),
            (Kind::For, _) => self.for_statement(id),
            (Kind::Conditional, &[condition, ..]) => self.decision(DecisionKind::Conditional, condition, children),
            (Kind::Elvis, &[common, other]) => self.elvis(common, other),
            (Kind::And | Kind::Or, _) => self.decision(DecisionKind::Value, id, &[id]),
            (Kind::Switch, &[condition, body]) => self.switch(id, condition, body),
            (Kind::RangeFor, &[variable, range, body]) => self.range_for(variable, range, body),
            (Kind::Case | Kind::Default, _) => self.label(id),
            (Kind::StaticVariable, _) => self.static_variable(id),
            _ => self.visit_all(children),
        }
    }

    fn visit_all(&mut self, ids: &[SyntaxId]) {
        for &id in ids {
            self.visit(id);
        }
    }

    /// `parts` are the children of the statement; the condition among them is taken apart, the others are visited.
    fn decision(&mut self, kind: DecisionKind, root: SyntaxId, parts: &[SyntaxId]) {
        for &part in parts {
            match part == root {
                true => {
                    let mut leaves = Vec::new();
                    self.take_apart(root, &mut leaves);
                    self.found.decisions.push(DecisionSite { kind, root, leaves });
                }
                false => self.visit(part),
            }
        }
    }

    fn take_apart(&mut self, id: SyntaxId, leaves: &mut Vec<SyntaxId>) {
        match operand(self.tree, id) {
            Operand::Connective { inner, .. } => {
                for &side in self.tree.children(inner) {
                    self.take_apart(side, leaves);
                }
            }
            Operand::Leaf => {
                self.leaf(id);
                leaves.push(id);
                self.visit(id);
            }
        }
    }

    fn leaf(&mut self, node: SyntaxId) {
        self.found.points.push(Point { node, kind: PointKind::Leaf });
        if self.frozen {
            self.found.frozen.insert(node);
        }
    }

    /// The condition of `a ?: b` is one leaf whatever `a` is, because its value is used as well.
    fn elvis(&mut self, common: SyntaxId, other: SyntaxId) {
        self.leaf(common);
        let site = DecisionSite { kind: DecisionKind::Conditional, root: common, leaves: vec![common] };
        self.found.decisions.push(site);
        self.visit(common);
        self.visit(other);
    }

    fn if_statement(&mut self, id: SyntaxId) {
        let parts = IfParts::of(self.tree, id);
        let Some(condition) = parts.condition else { return self.visit_all(self.tree.children(id)) };
        if self.tree[condition].kind != Kind::ConstantCondition {
            return self.decision(DecisionKind::If, condition, self.tree.children(id));
        }
        for part in [parts.initial, parts.taken(self.tree), parts.other(self.tree)].into_iter().flatten() {
            self.visit(part);
        }
    }

    /// Whether there is another element is one leaf, which stands for the loop's hidden condition.
    fn range_for(&mut self, variable: SyntaxId, range: SyntaxId, body: SyntaxId) {
        self.visit(range);
        self.leaf(variable);
        let site = DecisionSite { kind: DecisionKind::For, root: variable, leaves: vec![variable] };
        self.found.decisions.push(site);
        self.visit(body);
    }

    fn for_statement(&mut self, id: SyntaxId) {
        let parts = ForParts::of(self.tree, id, self.text);
        match parts.condition {
            Some(condition) => self.decision(DecisionKind::For, condition, self.tree.children(id)),
            None => self.visit_all(self.tree.children(id)),
        }
    }

    fn switch(&mut self, statement: SyntaxId, condition: SyntaxId, body: SyntaxId) {
        self.visit(condition);
        self.open_switches.push(SwitchSite { statement, condition, labels: Vec::new() });
        self.visit(body);
        let Some(site) = self.open_switches.pop() else { return };
        let has_default = site.labels.iter().any(|&label| self.tree[label].kind == Kind::Default);
        // llvm-cov reports the implicit default only where the condition is not itself a connective.
        if !has_default && matches!(operand(self.tree, condition), Operand::Leaf) {
            self.found.points.push(Point { node: condition, kind: PointKind::ImplicitDefault });
        }
        self.found.switches.push(site);
    }

    /// The values of a label are constants: only the statement behind it is visited.
    fn label(&mut self, id: SyntaxId) {
        self.found.points.push(Point { node: id, kind: PointKind::Label });
        if let Some(open) = self.open_switches.last_mut() {
            open.labels.push(id);
        }
        if let Some(&statement) = self.tree.children(id).last() {
            self.visit(statement);
        }
    }

    fn static_variable(&mut self, id: SyntaxId) {
        let outer = std::mem::replace(&mut self.frozen, true);
        self.visit_all(self.tree.children(id));
        self.frozen = outer;
    }
}

/// The parts of `if (initial; condition) then else otherwise`.
#[derive(Debug, Default)]
pub(crate) struct IfParts {
    pub initial: Option<SyntaxId>,
    pub condition: Option<SyntaxId>,
    pub then: Option<SyntaxId>,
    pub otherwise: Option<SyntaxId>,
}

impl IfParts {
    pub fn of(tree: &SyntaxTree<'_>, id: SyntaxId) -> IfParts {
        let children = tree.children(id);
        let declares = children.first().is_some_and(|&first| tree[first].kind == Kind::Declaration);
        let (initial, rest) = children.split_at(usize::from(declares));
        let part = |index: usize| rest.get(index).copied();
        IfParts { initial: initial.first().copied(), condition: part(0), then: part(1), otherwise: part(2) }
    }

    /// What `if constexpr` keeps; both ways where an instance decides.
    pub fn taken(&self, tree: &SyntaxTree<'_>) -> Option<SyntaxId> {
        if self.value(tree) == Some(false) { None } else { self.then }
    }

    pub fn other(&self, tree: &SyntaxTree<'_>) -> Option<SyntaxId> {
        if self.value(tree) == Some(true) { None } else { self.otherwise }
    }

    pub fn value(&self, tree: &SyntaxTree<'_>) -> Option<bool> {
        tree[self.condition?].cursor.evaluate().map(|value| value != 0)
    }
}

/// The parts of `for (initial; condition; step) body`; libclang leaves out those that are not there.
#[derive(Debug, Default)]
pub(crate) struct ForParts {
    pub initial: Option<SyntaxId>,
    pub condition: Option<SyntaxId>,
    pub step: Option<SyntaxId>,
    pub body: Option<SyntaxId>,
}

impl ForParts {
    pub fn of(tree: &SyntaxTree<'_>, id: SyntaxId, text: &str) -> ForParts {
        let mut parts = ForParts::default();
        let Some((&body, header)) = tree.children(id).split_last() else { return parts };
        parts.body = Some(body);
        let mut position = tree[id].start;
        let mut semicolons = 0;
        for &part in header {
            // What stands between the parts is punctuation only, so counting semicolons there is safe.
            semicolons += semicolons_between(text, position, tree[part].start);
            position = tree[part].end;
            match semicolons {
                0 => {
                    parts.initial = Some(part);
                    semicolons += usize::from(tree[part].kind == Kind::Declaration);
                }
                1 => parts.condition = Some(part),
                _ => parts.step = Some(part),
            }
        }
        parts
    }
}

/// Line markers may stand in between and quote file names, which may contain anything.
fn semicolons_between(text: &str, from: u32, to: u32) -> usize {
    let between = text.get(from as usize..to as usize).unwrap_or_default();
    between.lines().filter(|line| !line.starts_with('#')).map(|line| line.matches(';').count()).sum()
}
