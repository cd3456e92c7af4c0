//! Decides for one function which conditions get markers, with which numbers, and which are constants.

use std::collections::HashMap;

use branchwise_program::map::{Decision, DecisionKind, Formula, Label, LabelValues, Marker, MarkerKind, Place};
use branchwise_program::{FunctionId, IdVec, MarkerId, NodeId};

use crate::conditions::{Conditions, DecisionSite, Operand, Point, PointKind, SwitchSite, operand};
use crate::coverage::{self, Branch, Expected, FunctionRegions};
use crate::macros::MacroTable;
use crate::places::{Files, Shown, Views};
use crate::syntax::{Kind, SyntaxId, SyntaxTree};

/// What a leaf condition is for the rest of the analysis.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Leaf {
    Marker(MarkerId),
    Constant(bool),
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub leaves: HashMap<SyntaxId, Leaf>,
    /// By switch statement.
    pub switches: HashMap<SyntaxId, MarkerId>,
    /// By `catch`.
    pub handlers: HashMap<SyntaxId, MarkerId>,
    /// By `case` or `default` statement: the outcome of its switch.
    pub labels: HashMap<SyntaxId, (MarkerId, u32)>,
    pub decisions: Vec<Decision>,
    pub markers: Vec<MarkerId>,
}

/// What all functions of the unit share.
pub(crate) struct Shared<'s> {
    pub files: &'s mut Files,
    pub markers: &'s mut IdVec<MarkerId, Marker>,
    pub macros: &'s MacroTable,
}

/// Where llvm-cov sees a point, and whether it folds it.
struct Seen {
    spelled: Place,
    folded: bool,
}

pub(crate) fn plan(
    function: FunctionId,
    views: &Views<'_, '_>,
    conditions: &Conditions,
    regions: Option<&FunctionRegions>,
    shared: &mut Shared<'_>,
) -> Plan {
    let seen = look_up(views, conditions, regions, shared);
    let mut planner = Planner { function, views, seen, shared, plan: Plan::default() };
    planner.number(conditions);
    for site in &conditions.decisions {
        planner.decision(site);
    }
    for site in &conditions.switches {
        planner.switch_decision(site);
    }
    planner.plan
}

fn look_up(
    views: &Views<'_, '_>,
    conditions: &Conditions,
    regions: Option<&FunctionRegions>,
    shared: &mut Shared<'_>,
) -> HashMap<(SyntaxId, bool), Seen> {
    let Some(regions) = regions else { return HashMap::new() };
    let expected: Vec<Expected> = conditions.points.iter().map(|point| expect(views, point)).collect();
    let paired = coverage::pair(regions, &expected);
    let mut seen = HashMap::new();
    for (point, branch) in conditions.points.iter().zip(paired) {
        let Some(branch) = branch else { continue };
        let spelled = spelled_place(views, point.node, regions, &branch, shared);
        seen.insert((point.node, point.kind == PointKind::Leaf), Seen { spelled, folded: branch.folded });
    }
    seen
}

fn expect(views: &Views<'_, '_>, point: &Point) -> Expected {
    let constant = point.kind != PointKind::Label && views.tree[point.node].cursor.evaluate().is_some();
    Expected { outermost: views.outermost(point.node), constant }
}

/// The coverage mapping numbers files per function and names none; the places of the tree and of the macro definitions
/// tell which file it speaks of.
fn spelled_place(
    views: &Views<'_, '_>,
    node: SyntaxId,
    regions: &FunctionRegions,
    branch: &Branch,
    shared: &mut Shared<'_>,
) -> Place {
    let (line, column) = branch.start;
    let stands = views.place(shared.files, node);
    let file = match views.original {
        Some(original) => shared.macros.file_of(original[node].cursor, regions, branch, shared.files),
        None => None,
    };
    Place { file: file.map_or(stands.file, |path| shared.files.id(&path)), line, column }
}

struct Planner<'p, 'v, 't, 'u, 's> {
    function: FunctionId,
    views: &'v Views<'t, 'u>,
    seen: HashMap<(SyntaxId, bool), Seen>,
    shared: &'p mut Shared<'s>,
    plan: Plan,
}

impl Planner<'_, '_, '_, '_, '_> {
    /// Numbers follow the source; what starts at the same byte is numbered from the outside in.
    fn number(&mut self, conditions: &Conditions) {
        let tree = self.views.tree;
        let unmarked = self.unmarked_leaves(conditions);
        let leaves = conditions.points.iter().filter(|point| point.kind == PointKind::Leaf).map(|point| point.node);
        let mut items: Vec<(u32, SyntaxId, Option<&SwitchSite>)> =
            leaves.map(|leaf| (tree[leaf].start, leaf, None)).collect();
        items.extend(conditions.switches.iter().map(|site| (tree[site.condition].start, site.statement, Some(site))));
        let handlers = tree.ids().filter(|&id| tree[id].kind == Kind::Catch);
        items.extend(handlers.map(|handler| (tree[handler].start, handler, None)));
        items.sort_by_key(|&(start, id, _)| (start, id));
        for (_, id, switch) in items {
            match switch {
                Some(site) => self.number_switch(site),
                None if tree[id].kind == Kind::Catch => self.number_handler(id),
                None if unmarked.contains(&id) => {}
                None => self.number_leaf(id, conditions.frozen.contains(&id)),
            }
        }
    }

    /// Leaves of values in places that are not code (`typeof (a && b)`): the coverage mapping does not know them.
    fn unmarked_leaves(&self, conditions: &Conditions) -> std::collections::HashSet<SyntaxId> {
        let statement =
            |kind| matches!(kind, DecisionKind::If | DecisionKind::While | DecisionKind::Do | DecisionKind::For);
        let unknown = |site: &&DecisionSite| {
            !self.seen.is_empty()
                && !statement(site.kind)
                && site.leaves.iter().any(|leaf| !self.seen.contains_key(&(*leaf, true)))
        };
        conditions.decisions.iter().filter(unknown).flat_map(|site| site.leaves.iter().copied()).collect()
    }

    fn number_leaf(&mut self, id: SyntaxId, frozen: bool) {
        let value = self.views.tree[id].cursor.evaluate();
        let seen = self.seen.get(&(id, true));
        // Without a region (which should not happen) what the compiler can evaluate counts as folded.
        let folded = seen.map_or(value.is_some(), |seen| seen.folded);
        let meaning = match value {
            _ if frozen => Leaf::Constant(value.unwrap_or(0) != 0),
            Some(value) if folded => Leaf::Constant(value != 0),
            _ => Leaf::Marker(self.condition_marker(id, !folded)),
        };
        self.plan.leaves.insert(id, meaning);
    }

    fn condition_marker(&mut self, id: SyntaxId, counted: bool) -> MarkerId {
        let place = self.views.place(self.shared.files, id);
        let spelled = self.seen.get(&(id, true)).map_or(place, |seen| seen.spelled);
        let text = self.views.text(self.shared.files, id, Shown::MacroBody);
        self.push_marker(text, place, spelled, MarkerKind::Condition { counted })
    }

    fn push_marker(&mut self, text: String, place: Place, spelled: Place, kind: MarkerKind) -> MarkerId {
        // The control-flow graph sets the node when it places the marker.
        let marker = Marker { function: self.function, text, place, spelled, kind, node: NodeId(0) };
        let id = self.shared.markers.push(marker);
        self.plan.markers.push(id);
        id
    }

    fn number_switch(&mut self, site: &SwitchSite) {
        let labels: Vec<Label> = site.labels.iter().map(|&label| self.label(label)).collect();
        let place = self.views.place(self.shared.files, site.condition);
        let seen = self.seen.get(&(site.condition, false));
        let spelled = seen.map_or(place, |seen| seen.spelled);
        let default_counted = seen.is_some_and(|seen| !seen.folded);
        let text = self.views.text(self.shared.files, site.condition, Shown::MacroBody);
        let (bits, signed) = crate::ctypes::promoted_integer(self.views.tree[site.condition].cursor.clang_type());
        let marker =
            self.push_marker(text, place, spelled, MarkerKind::Switch { labels, bits, signed, default_counted });
        self.plan.switches.insert(site.statement, marker);
        for (outcome, &label) in site.labels.iter().enumerate() {
            self.plan.labels.insert(label, (marker, outcome as u32));
        }
    }

    fn number_handler(&mut self, id: SyntaxId) {
        let place = self.views.place(self.shared.files, id);
        let parameter = match *self.views.tree.children(id) {
            [parameter, _] => self.views.text(self.shared.files, parameter, Shown::MacroUse),
            _ => "...".to_owned(),
        };
        let marker = self.push_marker(format!("catch ({parameter})"), place, place, MarkerKind::Handler);
        self.plan.handlers.insert(id, marker);
    }

    fn label(&mut self, id: SyntaxId) -> Label {
        let place = self.views.place(self.shared.files, id);
        let spelled = self.seen.get(&(id, false)).map_or(place, |seen| seen.spelled);
        Label { values: label_values(self.views.tree, id), text: self.label_text(id), place, spelled }
    }

    fn label_text(&mut self, id: SyntaxId) -> String {
        let mut value = |id| self.views.text(self.shared.files, id, Shown::MacroUse);
        match (self.views.tree[id].kind, self.views.tree.children(id)) {
            (Kind::Case, &[low, high, _]) => format!("case {} ... {}", value(low), value(high)),
            (Kind::Case, &[low, ..]) => format!("case {}", value(low)),
            _ => "default".into(),
        }
    }

    fn decision(&mut self, site: &DecisionSite) {
        let Some(formula) = self.formula(site) else { return };
        // Constants in values and static initialisers decide nothing.
        if site.kind == DecisionKind::Value && formula.leaves().is_empty() {
            return;
        }
        let place = self.views.place(self.shared.files, site.root);
        self.plan.decisions.push(Decision { kind: site.kind, place, formula });
    }

    fn formula(&self, site: &DecisionSite) -> Option<Formula> {
        match site.leaves.as_slice() {
            // `a ?: b` has one leaf even where `a` is a connective.
            &[leaf] if leaf == site.root => self.leaf_formula(leaf),
            _ => self.operand_formula(site.root),
        }
    }

    fn operand_formula(&self, id: SyntaxId) -> Option<Formula> {
        let Operand::Connective { inner, negated } = operand(self.views.tree, id) else { return self.leaf_formula(id) };
        let &[left, right] = self.views.tree.children(inner) else { return None };
        let (left, right) = (Box::new(self.operand_formula(left)?), Box::new(self.operand_formula(right)?));
        let connective = match self.views.tree[inner].kind {
            Kind::And => Formula::And(left, right),
            _ => Formula::Or(left, right),
        };
        Some(if negated { Formula::Not(Box::new(connective)) } else { connective })
    }

    fn leaf_formula(&self, id: SyntaxId) -> Option<Formula> {
        match self.plan.leaves.get(&id)? {
            Leaf::Marker(marker) => Some(Formula::Leaf(*marker)),
            Leaf::Constant(value) => Some(Formula::Constant(*value)),
        }
    }

    fn switch_decision(&mut self, site: &SwitchSite) {
        let Some(&marker) = self.plan.switches.get(&site.statement) else { return };
        let place = self.views.place(self.shared.files, site.condition);
        self.plan.decisions.push(Decision { kind: DecisionKind::Switch, place, formula: Formula::Leaf(marker) });
    }
}

fn label_values(tree: &SyntaxTree<'_>, id: SyntaxId) -> LabelValues {
    // The compiler accepted the labels, so they are integer constants.
    let value = |id: SyntaxId| tree[id].cursor.evaluate().unwrap_or(0);
    match (tree[id].kind, tree.children(id)) {
        (Kind::Case, &[low, high, _]) => LabelValues::Range { low: value(low), high: value(high) },
        (Kind::Case, &[low, ..]) => LabelValues::Range { low: value(low), high: value(low) },
        _ => LabelValues::Default,
    }
}
