//! The control-flow graph of one function, built in one walk over its syntax.
//!
//! The walk carries the loose ends: the edges that lead to whatever comes next. A place that jumps can lead to before
//! its first node exists (a loop's head, a label) is a target; it travels among the loose ends and is settled by the
//! node that takes them.

use std::collections::{BTreeSet, HashMap};

use branchwise_program::library::{self, Model, Row};
use branchwise_program::map::{
    CAST, CallSite, Cfg, Edge, EdgeLabel, Event, Loop, LoopKind, Marker, MarkerKind, NEW, Node, NodeKind, Place, THROW,
};
use branchwise_program::{EdgeId, IdVec, MarkerId, NodeId};

use crate::callees::{Callees, Target};
use crate::conditions::{ForParts, IfParts, Operand, operand};
use crate::functions::{is_function, qualified};
use crate::places::{Files, Shown, Views};
use crate::plan::{Leaf, Plan};
use crate::syntax::{Kind, SyntaxId, SyntaxTree};

mod exceptions;

/// Everything the graph of a function consists of.
pub(crate) struct Flow {
    pub cfg: Cfg,
    pub loops: Vec<Loop>,
    pub calls: Vec<CallSite>,
    /// The nodes of the expressions and statements that have one.
    pub owners: HashMap<SyntaxId, NodeId>,
}

#[derive(Debug, Copy, Clone)]
enum End {
    Edge(NodeId, EdgeLabel),
    Target(usize),
}

type Ends = Vec<End>;

/// Where a target turned out to be.
#[derive(Debug, Copy, Clone)]
enum Settled {
    Node(NodeId),
    /// Nothing stands between this target and another one.
    SameAs(usize),
}

/// Loose ends that lead to a target.
struct Jump {
    ends: Ends,
    target: usize,
    /// The loop that the jump repeats.
    repeats: Option<usize>,
}

struct OpenLoop {
    kind: LoopKind,
    place: Place,
    target: usize,
}

/// Where `break` and `continue` lead.
#[derive(Default)]
struct Enclosing {
    breaks: Ends,
    /// `None` in a switch: `continue` belongs to the loop around it.
    continues: Option<Ends>,
}

struct Call {
    callee: Option<String>,
    declared_by_user: bool,
    place: Place,
    returns: bool,
}

pub(crate) struct Builder<'b, 't, 'u> {
    pub views: &'b Views<'t, 'u>,
    pub plan: &'b Plan,
    pub files: &'b mut Files,
    pub markers: &'b mut IdVec<MarkerId, Marker>,
    callees: &'b Callees,
    state: State,
}

#[derive(Default)]
struct State {
    nodes: IdVec<NodeId, Node>,
    edges: IdVec<EdgeId, Edge>,
    targets: Vec<Option<Settled>>,
    jumps: Vec<Jump>,
    loops: Vec<OpenLoop>,
    enclosing: Vec<Enclosing>,
    switches: Vec<NodeId>,
    labels: HashMap<String, usize>,
    label_order: Vec<(String, u32, Place)>,
    gotos: Vec<(String, NodeId, u32)>,
    computed_gotos: Vec<NodeId>,
    returns: Ends,
    open_calls: Vec<Call>,
    /// For each open `try`, the nodes from which its handlers can be reached.
    tries: Vec<Ends>,
    calls: Vec<CallSite>,
    owners: HashMap<SyntaxId, NodeId>,
}

impl<'b, 't, 'u> Builder<'b, 't, 'u> {
    pub fn new(
        views: &'b Views<'t, 'u>,
        plan: &'b Plan,
        files: &'b mut Files,
        markers: &'b mut IdVec<MarkerId, Marker>,
        callees: &'b Callees,
    ) -> Self {
        Builder { views, plan, files, markers, callees, state: State::default() }
    }

    /// `implicit`: what else the function may call, anywhere.
    pub fn build(mut self, name: &str, start: Place, end: Place, implicit: BTreeSet<String>) -> Flow {
        let entry = self.state.nodes.push(Node { kind: NodeKind::Entry, place: start, text: name.to_owned() });
        let ends = self.statement(SyntaxTree::BODY, vec![End::Edge(entry, EdgeLabel::Always)]);
        let mut last = std::mem::take(&mut self.state.returns);
        last.extend(ends);
        let exit = self.node(Node { kind: NodeKind::Exit, place: end, text: "}".into() }, last);
        for callee in implicit {
            let callee = Some(callee);
            let call =
                CallSite { callee, declared_by_user: true, returns: true, certain: false, place: end, node: exit };
            self.state.calls.push(call);
        }
        self.state.connect_jumps(exit)
    }

    fn tree(&self) -> &'t SyntaxTree<'u> {
        self.views.tree
    }

    fn node(&mut self, node: Node, incoming: Ends) -> NodeId {
        let throws = node.kind == NodeKind::Statement;
        let id = self.state.nodes.push(node);
        // Whatever a statement does may throw.
        self.state.tries.iter_mut().filter(|_| throws).for_each(|ends| ends.push(End::Edge(id, EdgeLabel::Always)));
        for end in incoming {
            match end {
                End::Edge(from, label) => drop(self.state.edges.push(Edge { from, to: id, label })),
                End::Target(target) => self.state.targets[target] = Some(Settled::Node(id)),
            }
        }
        id
    }

    fn target(&mut self) -> usize {
        self.state.targets.push(None);
        self.state.targets.len() - 1
    }

    fn place(&mut self, id: SyntaxId) -> Place {
        self.views.place(self.files, id)
    }

    fn text(&mut self, id: SyntaxId) -> String {
        self.views.text(self.files, id, Shown::MacroUse)
    }

    fn statement(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let tree = self.tree();
        match (tree[id].kind, tree.children(id)) {
            (Kind::Compound, children) => children.iter().fold(incoming, |ends, &child| self.statement(child, ends)),
            (Kind::If, _) => self.if_statement(id, incoming),
            (Kind::While, &[condition, body]) => self.while_loop(id, condition, body, incoming),
            (Kind::Do, &[body, condition]) => self.do_loop(id, body, condition, incoming),
            (Kind::For, _) => self.for_loop(id, incoming),
            (Kind::Switch, &[condition, body]) => self.switch(id, condition, body, incoming),
            (Kind::Case | Kind::Default, _) => self.case(id, incoming),
            (Kind::Label, _) => self.label(id, incoming),
            (Kind::Goto, _) => self.goto(id, incoming),
            (Kind::Break, _) => self.break_statement(id, incoming),
            (Kind::Continue, _) => self.continue_statement(id, incoming),
            (Kind::Return, _) => self.return_statement(id, incoming),
            (Kind::ComputedGoto, _) => self.computed_goto(id, incoming),
            (Kind::Null, _) => incoming,
            (Kind::Declaration, _) => self.declaration(id, incoming),
            (Kind::RangeFor, &[variable, range, body]) => self.range_for(id, [variable, range, body], incoming),
            (Kind::Try, _) => self.try_statement(id, incoming),
            // An attribute in front of a statement.
            (Kind::OtherStatement, &[inner]) => self.statement(inner, incoming),
            _ => self.simple(id, incoming),
        }
    }

    /// A statement with a node of its own, after the conditions inside it.
    fn simple_node(&mut self, id: SyntaxId, incoming: Ends) -> (NodeId, bool) {
        let first_call = self.state.open_calls.len();
        let children = self.tree().children(id);
        let incoming = match self.tree()[id].kind {
            Kind::Return | Kind::ComputedGoto | Kind::Declaration => self.expressions(children, incoming),
            _ => self.expression(id, incoming),
        };
        let (place, text) = (self.place(id), self.text(id));
        let node = self.node(Node { kind: NodeKind::Statement, place, text }, incoming);
        self.state.owners.insert(id, node);
        let returns = self.attach_calls(first_call, node);
        (node, returns)
    }

    fn simple(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let (node, returns) = self.simple_node(id, incoming);
        self.continue_after(node, returns)
    }

    fn continue_after(&mut self, node: NodeId, returns: bool) -> Ends {
        let end = End::Edge(node, EdgeLabel::Always);
        if returns {
            return vec![end];
        }
        self.state.returns.push(end);
        Vec::new()
    }

    /// Gives the calls found since `first` their node; says whether all of them return.
    fn attach_calls(&mut self, first: usize, node: NodeId) -> bool {
        let mut returns = true;
        for call in self.state.open_calls.drain(first..) {
            returns &= call.returns;
            self.state.calls.push(CallSite {
                callee: call.callee,
                declared_by_user: call.declared_by_user,
                returns: call.returns,
                certain: true,
                place: call.place,
                node,
            });
        }
        returns
    }

    /// Declarations do something only where they initialise, or compute the size of an array.
    fn declaration(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let tree = self.tree();
        let initialises = |&&variable: &&SyntaxId| {
            tree[variable].kind == Kind::Variable && tree[variable].cursor.initializer().is_some()
                || tree[variable].cursor.clang_type().canonical().kind() == clang_sys::CXType_VariableArray
        };
        match tree.children(id).iter().find(initialises) {
            Some(_) => self.simple(id, incoming),
            None => incoming,
        }
    }

    fn if_statement(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let tree = self.tree();
        let parts = IfParts::of(tree, id);
        let (Some(condition), Some(then)) = (parts.condition, parts.then) else { return self.simple(id, incoming) };
        let otherwise = parts.otherwise;
        let incoming = match parts.initial {
            Some(initial) => self.statement(initial, incoming),
            None => incoming,
        };
        if tree[condition].kind == Kind::ConstantCondition {
            return self.constant_if(&parts, incoming);
        }
        let (when_true, when_false) = self.condition(condition, incoming);
        let mut ends = self.statement(then, when_true);
        ends.extend(match otherwise {
            Some(otherwise) => self.statement(otherwise, when_false),
            None => when_false,
        });
        ends
    }

    /// `if constexpr`: the compiler goes one way; where an instance decides, either.
    fn constant_if(&mut self, parts: &IfParts, incoming: Ends) -> Ends {
        let tree = self.tree();
        let ways = [(parts.taken(tree), true), (parts.other(tree), false)];
        let mut ends = Vec::new();
        for (way, value) in ways {
            match way {
                Some(statement) => ends.extend(self.statement(statement, incoming.clone())),
                None if parts.value(tree) != Some(!value) => ends.extend(incoming.clone()),
                None => {}
            }
        }
        ends
    }

    fn range_for(&mut self, id: SyntaxId, [variable, range, body]: [SyntaxId; 3], incoming: Ends) -> Ends {
        let mut incoming = self.simple(range, incoming);
        let number = self.open_loop(LoopKind::For, id, &mut incoming);
        let place = self.place(variable);
        let first_call = self.state.open_calls.len();
        if has_own_iterators(self.tree()[range].cursor.clang_type()) {
            self.state.open_calls.push(Call { callee: None, declared_by_user: true, place, returns: true });
        }
        let incoming = self.may_throw(range, first_call, incoming);
        let (when_true, when_false) = self.leaf(variable, incoming);
        let mut ends = self.statement(body, when_true);
        ends.extend(self.take_continues());
        self.repeat(number, ends);
        self.close_loop(when_false)
    }

    fn open_loop(&mut self, kind: LoopKind, id: SyntaxId, incoming: &mut Ends) -> usize {
        let (place, target) = (self.place(id), self.target());
        incoming.push(End::Target(target));
        self.state.loops.push(OpenLoop { kind, place, target });
        self.state.enclosing.push(Enclosing { breaks: Vec::new(), continues: Some(Vec::new()) });
        self.state.loops.len() - 1
    }

    fn repeat(&mut self, number: usize, ends: Ends) {
        let target = self.state.loops[number].target;
        self.state.jumps.push(Jump { ends, target, repeats: Some(number) });
    }

    fn take_continues(&mut self) -> Ends {
        self.state
            .enclosing
            .last_mut()
            .and_then(|enclosing| enclosing.continues.as_mut())
            .map(std::mem::take)
            .unwrap_or_default()
    }

    fn close_loop(&mut self, mut ends: Ends) -> Ends {
        ends.extend(self.state.enclosing.pop().unwrap_or_default().breaks);
        ends
    }

    fn while_loop(&mut self, id: SyntaxId, condition: SyntaxId, body: SyntaxId, mut incoming: Ends) -> Ends {
        let number = self.open_loop(LoopKind::While, id, &mut incoming);
        let incoming = self.head_if_constant(Some(condition), id, "while", incoming);
        let (when_true, when_false) = self.condition(condition, incoming);
        let mut ends = self.statement(body, when_true);
        ends.extend(self.take_continues());
        self.repeat(number, ends);
        self.close_loop(when_false)
    }

    fn do_loop(&mut self, id: SyntaxId, body: SyntaxId, condition: SyntaxId, mut incoming: Ends) -> Ends {
        let number = self.open_loop(LoopKind::Do, id, &mut incoming);
        let mut ends = self.statement(body, incoming);
        ends.extend(self.take_continues());
        if self.constant(condition) == Some(true) {
            ends = self.head_if_constant(Some(condition), condition, "while", ends);
        }
        let (when_true, when_false) = self.condition(condition, ends);
        self.repeat(number, when_true);
        self.close_loop(when_false)
    }

    fn for_loop(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let parts = ForParts::of(self.tree(), id, self.views.preprocessed);
        let mut incoming = match parts.initial {
            Some(initial) => self.statement(initial, incoming),
            None => incoming,
        };
        let number = self.open_loop(LoopKind::For, id, &mut incoming);
        let incoming = self.head_if_constant(parts.condition, id, "for", incoming);
        let (when_true, when_false) = match parts.condition {
            Some(condition) => self.condition(condition, incoming),
            None => (incoming, Vec::new()),
        };
        let mut ends = match parts.body {
            Some(body) => self.statement(body, when_true),
            None => when_true,
        };
        ends.extend(self.take_continues());
        if let Some(step) = parts.step {
            ends = self.simple(step, ends);
        }
        self.repeat(number, ends);
        self.close_loop(when_false)
    }

    /// A loop whose condition has no node (`while (1)`) gets a node to come back to, even if its body is empty.
    fn head_if_constant(&mut self, condition: Option<SyntaxId>, id: SyntaxId, word: &str, incoming: Ends) -> Ends {
        if condition.is_some_and(|condition| self.constant(condition).is_none()) {
            return incoming;
        }
        let text = match condition {
            Some(condition) if word == "while" => format!("while ({})", self.text(condition)),
            Some(condition) => format!("for (; {};)", self.text(condition)),
            None => "for (;;)".into(),
        };
        let place = self.place(id);
        let node = self.node(Node { kind: NodeKind::Statement, place, text }, incoming);
        vec![End::Edge(node, EdgeLabel::Always)]
    }

    /// The value of a condition that is a single constant leaf.
    fn constant(&self, condition: SyntaxId) -> Option<bool> {
        match self.plan.leaves.get(&condition) {
            Some(Leaf::Constant(value)) => Some(*value),
            _ => None,
        }
    }

    fn switch(&mut self, id: SyntaxId, condition: SyntaxId, body: SyntaxId, incoming: Ends) -> Ends {
        let Some(&marker) = self.plan.switches.get(&id) else { return self.simple(id, incoming) };
        let first_call = self.state.open_calls.len();
        let incoming = self.expression(condition, incoming);
        let incoming = self.may_throw(condition, first_call, incoming);
        let (place, text) = (self.place(condition), self.text(condition));
        let node =
            self.node(Node { kind: NodeKind::Switch(marker), place, text: format!("switch ({text})") }, incoming);
        self.attach_calls(first_call, node);
        self.state.owners.insert(condition, node);
        self.markers[marker].node = node;
        self.state.switches.push(node);
        self.state.enclosing.push(Enclosing::default());
        let mut ends = self.statement(body, Vec::new());
        self.state.switches.pop();
        ends.extend(self.state.enclosing.pop().unwrap_or_default().breaks);
        if let MarkerKind::Switch { labels, .. } = &self.markers[marker].kind {
            let outcome = labels.len() as u32;
            if self.markers[marker].outcomes() > outcome {
                ends.push(End::Edge(node, EdgeLabel::Outcome(Event { marker, outcome })));
            }
        }
        ends
    }

    fn case(&mut self, id: SyntaxId, mut incoming: Ends) -> Ends {
        if let (Some(&node), Some(&(marker, outcome))) = (self.state.switches.last(), self.plan.labels.get(&id)) {
            incoming.push(End::Edge(node, EdgeLabel::Outcome(Event { marker, outcome })));
        }
        match self.tree().children(id).last() {
            Some(&statement) => self.statement(statement, incoming),
            None => incoming,
        }
    }

    fn label_target(&mut self, name: &str) -> usize {
        if let Some(&target) = self.state.labels.get(name) {
            return target;
        }
        let target = self.target();
        self.state.labels.insert(name.to_owned(), target);
        target
    }

    fn label(&mut self, id: SyntaxId, mut incoming: Ends) -> Ends {
        let name = self.tree()[id].cursor.spelling();
        let (target, place) = (self.label_target(&name), self.place(id));
        self.state.label_order.push((name, self.tree()[id].start, place));
        incoming.push(End::Target(target));
        match self.tree().children(id).last() {
            Some(&statement) => self.statement(statement, incoming),
            None => incoming,
        }
    }

    fn jump_node(&mut self, id: SyntaxId, incoming: Ends) -> NodeId {
        let (place, text) = (self.place(id), self.text(id));
        self.node(Node { kind: NodeKind::Statement, place, text }, incoming)
    }

    fn goto(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let node = self.jump_node(id, incoming);
        let name = self.goto_label(id);
        let target = self.label_target(&name);
        self.state.jumps.push(Jump { ends: vec![End::Edge(node, EdgeLabel::Always)], target, repeats: None });
        self.state.gotos.push((name, node, self.tree()[id].start));
        Vec::new()
    }

    /// `goto name` in the preprocessed text.
    fn goto_label(&self, id: SyntaxId) -> String {
        let node = &self.tree()[id];
        let text = self.views.preprocessed.get(node.start as usize..node.end as usize).unwrap_or_default();
        text.split_whitespace().next_back().unwrap_or_default().to_owned()
    }

    fn computed_goto(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let (node, _) = self.simple_node(id, incoming);
        self.state.computed_gotos.push(node);
        Vec::new()
    }

    fn break_statement(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let node = self.jump_node(id, incoming);
        if let Some(enclosing) = self.state.enclosing.last_mut() {
            enclosing.breaks.push(End::Edge(node, EdgeLabel::Always));
        }
        Vec::new()
    }

    fn continue_statement(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let node = self.jump_node(id, incoming);
        let continues = self.state.enclosing.iter_mut().rev().find_map(|enclosing| enclosing.continues.as_mut());
        if let Some(continues) = continues {
            continues.push(End::Edge(node, EdgeLabel::Always));
        }
        Vec::new()
    }

    fn return_statement(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let (node, _) = self.simple_node(id, incoming);
        self.state.returns.push(End::Edge(node, EdgeLabel::Always));
        Vec::new()
    }

    /// A condition: where it leads when true and when false.
    fn condition(&mut self, id: SyntaxId, incoming: Ends) -> (Ends, Ends) {
        let Operand::Connective { inner, negated } = operand(self.tree(), id) else { return self.leaf(id, incoming) };
        let &[left, right] = self.tree().children(inner) else { return self.leaf(id, incoming) };
        let (left_true, left_false) = self.condition(left, incoming);
        let (when_true, when_false) = match self.tree()[inner].kind {
            Kind::And => {
                let (right_true, right_false) = self.condition(right, left_true);
                (right_true, joined(left_false, right_false))
            }
            _ => {
                let (right_true, right_false) = self.condition(right, left_false);
                (joined(left_true, right_true), right_false)
            }
        };
        if negated { (when_false, when_true) } else { (when_true, when_false) }
    }

    fn leaf(&mut self, id: SyntaxId, incoming: Ends) -> (Ends, Ends) {
        let first_call = self.state.open_calls.len();
        let incoming = self.expression(id, incoming);
        let incoming = self.may_throw(id, first_call, incoming);
        match self.plan.leaves.get(&id) {
            Some(&Leaf::Marker(marker)) => {
                let (place, text) = (self.markers[marker].place, self.markers[marker].text.clone());
                let node = self.node(Node { kind: NodeKind::Condition(marker), place, text }, incoming);
                self.attach_calls(first_call, node);
                self.state.owners.insert(id, node);
                self.markers[marker].node = node;
                let outcome = |outcome| vec![End::Edge(node, EdgeLabel::Outcome(Event { marker, outcome }))];
                (outcome(1), outcome(0))
            }
            Some(Leaf::Constant(true)) => (incoming, Vec::new()),
            Some(Leaf::Constant(false)) => (Vec::new(), incoming),
            // Not code after all (an operand of typeof): nothing branches here.
            None => (incoming, Vec::new()),
        }
    }

    fn expressions(&mut self, ids: &[SyntaxId], incoming: Ends) -> Ends {
        ids.iter().fold(incoming, |ends, &id| self.expression(id, ends))
    }

    /// The conditions inside an expression, in the order of evaluation.
    fn expression(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        let tree = self.tree();
        match (tree[id].kind, tree.children(id)) {
            (Kind::And | Kind::Or, _) => {
                let (when_true, when_false) = self.condition(id, incoming);
                joined(when_true, when_false)
            }
            (Kind::Conditional, &[condition, yes, no]) => {
                let (when_true, when_false) = self.condition(condition, incoming);
                joined(self.arm(yes, when_true), self.arm(no, when_false))
            }
            (Kind::Elvis, &[common, other]) => {
                let (when_true, when_false) = self.leaf(common, incoming);
                joined(when_true, self.arm(other, when_false))
            }
            (Kind::Choose, &[condition, yes, no]) => self.choose(condition, yes, no, incoming),
            (Kind::Unevaluated, children) => self.unevaluated(children, incoming),
            (Kind::Generic, &[control, ref choices @ ..]) => {
                let ends = self.unevaluated(&[control], incoming);
                self.expressions(choices, ends)
            }
            (Kind::StatementExpression, children) => {
                children.iter().fold(incoming, |ends, &child| self.statement(child, ends))
            }
            (Kind::StaticVariable, _) => incoming,
            (Kind::Assignment | Kind::CompoundAssignment, &[target, value]) if self.is_scalar(id) => {
                self.expressions(&[value, target], incoming)
            }
            // How the range hands out its elements is not the user's text.
            (Kind::LoopVariable, _) => incoming,
            (Kind::Throw, children) => self.with_hidden_call(id, THROW, children, incoming),
            (Kind::New, children) => self.with_hidden_call(id, NEW, children, incoming),
            (Kind::DynamicCast, children) => self.with_hidden_call(id, CAST, children, incoming),
            (Kind::Call, children) => {
                let ends = self.expressions(children, incoming);
                self.call(id);
                ends
            }
            (_, children) => self.expressions(children, incoming),
        }
    }

    /// clang evaluates the value of a scalar assignment before its target, and that of a structure after it.
    fn is_scalar(&self, id: SyntaxId) -> bool {
        self.tree()[id].cursor.clang_type().canonical().kind() != clang_sys::CXType_Record
    }

    /// An operand that only sometimes runs gets a node of its own if it calls something.
    fn arm(&mut self, id: SyntaxId, incoming: Ends) -> Ends {
        match self.has_call(id) {
            true => self.simple(id, incoming),
            false => self.expression(id, incoming),
        }
    }

    fn has_call(&self, id: SyntaxId) -> bool {
        self.tree()[id].kind == Kind::Call || self.tree().children(id).iter().any(|&child| self.has_call(child))
    }

    fn choose(&mut self, condition: SyntaxId, yes: SyntaxId, no: SyntaxId, incoming: Ends) -> Ends {
        let chosen_first = self.tree()[condition].cursor.evaluate() != Some(0);
        let (chosen, other) = if chosen_first { (yes, no) } else { (no, yes) };
        let ends = self.expression(chosen, incoming);
        self.unevaluated(&[other], ends)
    }

    /// llvm-cov counts conditions that never run (`sizeof (a && b)`); they are nodes that no edge leads to.
    fn unevaluated(&mut self, ids: &[SyntaxId], incoming: Ends) -> Ends {
        let first_call = self.state.open_calls.len();
        let loose = self.expressions(ids, Vec::new());
        self.state.open_calls.truncate(first_call);
        joined(incoming, loose)
    }

    fn call(&mut self, id: SyntaxId) {
        let cursor = self.tree()[id].cursor;
        let callee = cursor.referenced().filter(|callee| is_function(callee.kind()));
        let returns = !callee.is_some_and(|callee| never_returns(callee, self.views.preprocessed));
        let place = self.place(id);
        let declared_by_user = callee.is_some_and(|callee| !callee.in_system_header());
        for target in self.callees.of_call(cursor) {
            let callee = match target {
                Target::Named(name) => Some(name),
                Target::Anything => None,
            };
            self.state.open_calls.push(Call { callee, declared_by_user, place, returns });
        }
    }
}

/// Whether the user wrote how a range hands out its elements.
fn has_own_iterators(range: crate::clang::ClangType<'_>) -> bool {
    let of = range.canonical();
    of.kind() != clang_sys::CXType_ConstantArray && !of.declaration().in_system_header()
}

fn joined(mut first: Ends, second: Ends) -> Ends {
    first.extend(second);
    first
}

/// Functions of the compiler that end the run.
const NEVER_RETURNS: [&str; 4] = ["__builtin_unreachable", "__builtin_trap", "__builtin_abort", "__builtin_exit"];

/// Library functions that end the run, for declarations that do not say so. A function that the user defines is not one
/// because of its name, nor is a method or what stands in a namespace.
fn is_known_to_end(callee: crate::clang::Cursor<'_>, name: &str) -> bool {
    let defined = callee.definition().is_some_and(|definition| !definition.in_system_header());
    let own = || callee.is_cpp() && ![name.to_owned(), format!("std::{name}")].contains(&qualified(callee));
    if defined || own() {
        return false;
    }
    let executed = |row: &Row| matches!(row.model, Model::Code | Model::Executor) || callee.in_system_header();
    library::row(name).is_some_and(|row| row.never_returns() && executed(row))
}

/// GNU attributes are part of the type; `_Noreturn` only stands in the declaration.
pub(crate) fn never_returns(callee: crate::clang::Cursor<'_>, text: &str) -> bool {
    let name = callee.spelling();
    let known = NEVER_RETURNS.contains(&name.as_str()) || is_known_to_end(callee, &name);
    if known || callee.clang_type().spelling().contains("noreturn") {
        return true;
    }
    let start = crate::clang::file_offset(callee.start()) as usize;
    let name = crate::clang::file_offset(callee.location()) as usize;
    text.get(start..name).is_some_and(|specifiers| specifiers.contains("_Noreturn"))
}

impl State {
    /// Draws the edges of all jumps, now that every target has its node.
    fn connect_jumps(mut self, exit: NodeId) -> Flow {
        self.add_computed_gotos();
        self.settle_aliases();
        let mut back_edges: Vec<Vec<EdgeId>> = vec![Vec::new(); self.loops.len()];
        for jump in std::mem::take(&mut self.jumps) {
            let Some(to) = self.settled(jump.target) else { continue };
            for end in jump.ends {
                let End::Edge(from, label) = end else { continue };
                let edge = self.edges.push(Edge { from, to, label });
                if let Some(number) = jump.repeats {
                    back_edges[number].push(edge);
                }
            }
        }
        let loops = self.finished_loops(back_edges);
        let cfg = Cfg { nodes: self.nodes, edges: self.edges, entry: NodeId(0), exit };
        Flow { cfg, loops, calls: self.calls, owners: self.owners }
    }

    /// A computed goto may lead to every label: their addresses may be taken where this walk does not look, such as in
    /// the initialiser of a static table.
    fn add_computed_gotos(&mut self) {
        let mut labels: Vec<usize> = self.labels.values().copied().collect();
        labels.sort_unstable();
        for node in std::mem::take(&mut self.computed_gotos) {
            for &target in &labels {
                self.jumps.push(Jump { ends: vec![End::Edge(node, EdgeLabel::Always)], target, repeats: None });
            }
        }
    }

    /// A target that reaches a jump without a node in between (a label at the end of a loop's body) is the jump's target.
    fn settle_aliases(&mut self) {
        for jump in &self.jumps {
            for end in &jump.ends {
                if let End::Target(target) = end {
                    self.targets[*target] = Some(Settled::SameAs(jump.target));
                }
            }
        }
    }

    fn settled(&self, target: usize) -> Option<NodeId> {
        let mut target = target;
        for _ in 0..=self.targets.len() {
            match self.targets[target]? {
                Settled::Node(node) => return Some(node),
                Settled::SameAs(other) => target = other,
            }
        }
        None
    }

    fn finished_loops(&self, back_edges: Vec<Vec<EdgeId>>) -> Vec<Loop> {
        let mut loops = Vec::new();
        for (open, back_edges) in self.loops.iter().zip(back_edges) {
            // `do … while (0)` and a body that always leaves repeat nothing.
            if let (false, Some(head)) = (back_edges.is_empty(), self.settled(open.target)) {
                loops.push(Loop { kind: open.kind, place: open.place, head, back_edges });
            }
        }
        for (name, start, place) in &self.label_order {
            let backward = self.gotos.iter().filter(|(label, _, from)| label == name && from > start);
            let nodes: Vec<NodeId> = backward.map(|&(_, node, _)| node).collect();
            let Some(head) = self.labels.get(name).and_then(|&target| self.settled(target)) else { continue };
            let back_edges = self.goto_edges(head, &nodes);
            if !back_edges.is_empty() {
                loops.push(Loop { kind: LoopKind::Goto, place: *place, head, back_edges });
            }
        }
        loops
    }

    /// The edges from backward gotos that the head reaches: only those make a loop.
    fn goto_edges(&self, head: NodeId, gotos: &[NodeId]) -> Vec<EdgeId> {
        if gotos.is_empty() {
            return Vec::new();
        }
        let mut successors: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        for edge in self.edges.values() {
            successors[edge.from.0 as usize].push(edge.to);
        }
        let mut reached = vec![false; self.nodes.len()];
        let mut open = vec![head];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node.0 as usize], true) {
                open.extend(&successors[node.0 as usize]);
            }
        }
        let repeats = |edge: &Edge| edge.to == head && gotos.contains(&edge.from) && reached[edge.from.0 as usize];
        self.edges.iter().filter(|(_, edge)| repeats(edge)).map(|(id, _)| id).collect()
    }
}
