//! Maps of small programs, written as statements and turned into the graphs that a front end would make.

use std::collections::BTreeMap;

use branchwise_program::map::*;
use branchwise_program::types::{Type, TypeKind};
use branchwise_program::{EdgeId, FileId, FunctionId, IdVec, MarkerId, NodeId};

#[derive(Debug, Clone)]
pub(super) enum Code {
    Do(&'static str),
    Call(&'static str),
    If(&'static str, Vec<Code>, Vec<Code>),
    /// `if (a && b)`
    IfAnd(&'static str, &'static str, Vec<Code>),
    While(&'static str, Vec<Code>),
    DoWhile(Vec<Code>, &'static str),
    Endless(Vec<Code>),
    /// Cases fall through unless they break; the flag says whether there is a `default`, which is then the last.
    Switch(&'static str, Vec<Vec<Code>>, bool),
    Break,
    Continue,
    Return,
    Label(&'static str),
    Goto(&'static str),
}

/// One file `sample.c` with these functions.
pub(super) fn map(functions: Vec<(&'static str, Vec<Code>)>) -> Map {
    let mut map = Map::default();
    map.files.push(SourceFile { path: "sample.c".into() });
    let kind = TypeKind::Integer { bits: 32, signed: true, character: false };
    map.types.push(Type { kind, spelling: "int".to_string(), size: 4, alignment: 4 });
    let mut line = 1;
    for (name, body) in functions {
        Builder::function(&mut map, name, &body, &mut line);
    }
    map
}

/// What leads to the next statement.
type Loose = Vec<(NodeId, EdgeLabel)>;

struct Builder<'m> {
    map: &'m mut Map,
    function: FunctionId,
    line: &'m mut u32,
    nodes: IdVec<NodeId, Node>,
    edges: IdVec<EdgeId, Edge>,
    decisions: Vec<Decision>,
    loops: Vec<Loop>,
    calls: Vec<CallSite>,
    exit: NodeId,
    breaks: Vec<Loose>,
    continues: Vec<Loose>,
    labels: BTreeMap<&'static str, NodeId>,
    gotos: Vec<(Loose, &'static str)>,
}

impl Builder<'_> {
    fn function(map: &mut Map, name: &str, body: &[Code], line: &mut u32) {
        let function = map.functions.next_id();
        let place = Place { file: FileId(0), line: *line, column: 1 };
        let end = |kind, text: &str| Node { kind, place, text: text.to_string() };
        let nodes: IdVec<NodeId, Node> = [end(NodeKind::Entry, ""), end(NodeKind::Exit, "")].into_iter().collect();
        let (decisions, loops, calls, exit) = (Vec::new(), Vec::new(), Vec::new(), NodeId(1));
        let (breaks, continues, labels, gotos) = (Vec::new(), Vec::new(), BTreeMap::new(), Vec::new());
        let edges = IdVec::new();
        let mut builder = Builder {
            map,
            function,
            line,
            nodes,
            edges,
            decisions,
            loops,
            calls,
            exit,
            breaks,
            continues,
            labels,
            gotos,
        };
        let last = builder.block(body, vec![(NodeId(0), EdgeLabel::Always)]);
        builder.connect(last, NodeId(1));
        for (loose, label) in std::mem::take(&mut builder.gotos) {
            let target = builder.labels[label];
            builder.connect(loose, target);
        }
        builder.finish(name, place);
    }

    fn finish(mut self, name: &str, place: Place) {
        *self.line += 1;
        let end = self.place(1);
        self.nodes[self.exit].place = end;
        *self.line += 1;
        let markers = self.map.markers.iter().filter(|(_, marker)| marker.function == self.function);
        let markers = markers.map(|(id, _)| id).collect();
        let type_id = branchwise_program::TypeId(0);
        self.map.functions.push(Function {
            name: name.to_string(),
            symbol: name.to_string(),
            place,
            end,
            variants: Vec::new(),
            usage: None,
            language: Language::C,
            internal: false,
            variadic: false,
            result: type_id,
            parameters: vec![Parameter { name: "x".to_string(), type_id }],
            inputs: Vec::new(),
            driver: Ok(format!("drive_{name}")),
            markers,
            decisions: self.decisions,
            cfg: Cfg { nodes: self.nodes, edges: self.edges, entry: NodeId(0), exit: self.exit },
            loops: self.loops,
            calls: self.calls,
        });
    }

    fn place(&self, column: u32) -> Place {
        Place { file: FileId(0), line: *self.line, column }
    }

    fn connect(&mut self, loose: Loose, to: NodeId) {
        for (from, label) in loose {
            self.edges.push(Edge { from, to, label });
        }
    }

    fn node(&mut self, kind: NodeKind, text: &str, before: Loose) -> NodeId {
        *self.line += 1;
        let node = self.nodes.push(Node { kind, place: self.place(5), text: text.to_string() });
        self.connect(before, node);
        node
    }

    fn marker(&mut self, text: &str, kind: MarkerKind) -> MarkerId {
        let (place, node) = (Place { line: *self.line + 1, ..self.place(9) }, self.nodes.next_id());
        let function = self.function;
        self.map.markers.push(Marker { function, text: text.to_string(), place, spelled: place, kind, node })
    }

    /// A condition node and its two ways: true, false.
    fn condition(&mut self, text: &str, before: Loose) -> (NodeId, MarkerId, Loose, Loose) {
        let marker = self.marker(text, MarkerKind::Condition { counted: true });
        let node = self.node(NodeKind::Condition(marker), text, before);
        let way = |outcome| vec![(node, EdgeLabel::Outcome(Event { marker, outcome }))];
        (node, marker, way(1), way(0))
    }

    fn decision(&mut self, kind: DecisionKind, formula: Formula) {
        let place = self.place(5);
        self.decisions.push(Decision { kind, place, formula });
    }

    fn block(&mut self, code: &[Code], before: Loose) -> Loose {
        code.iter().fold(before, |before, code| self.code(code, before))
    }

    fn code(&mut self, code: &Code, before: Loose) -> Loose {
        match code {
            Code::Do(text) => vec![(self.node(NodeKind::Statement, text, before), EdgeLabel::Always)],
            Code::Call(callee) => self.call(callee, before),
            Code::If(condition, then, otherwise) => self.branch(condition, then, otherwise, before),
            Code::IfAnd(left, right, then) => self.branch_and(left, right, then, before),
            Code::While(condition, body) => self.while_loop(condition, body, before),
            Code::DoWhile(body, condition) => self.do_loop(body, condition, before),
            Code::Endless(body) => self.endless_loop(body, before),
            Code::Switch(on, cases, default) => self.switch(on, cases, *default, before),
            Code::Break => self.leave(before, |builder| &mut builder.breaks),
            Code::Continue => self.leave(before, |builder| &mut builder.continues),
            Code::Return => {
                let node = self.node(NodeKind::Statement, "return x;", before);
                self.connect(vec![(node, EdgeLabel::Always)], self.exit);
                Vec::new()
            }
            Code::Label(name) => {
                let node = self.node(NodeKind::Statement, &format!("{name}:"), before);
                self.labels.insert(name, node);
                vec![(node, EdgeLabel::Always)]
            }
            Code::Goto(name) => {
                self.gotos.push((before, name));
                Vec::new()
            }
        }
    }

    fn leave(&mut self, before: Loose, targets: fn(&mut Self) -> &mut Vec<Loose>) -> Loose {
        if let Some(target) = targets(self).last_mut() {
            target.extend(before);
        }
        Vec::new()
    }

    fn call(&mut self, callee: &str, before: Loose) -> Loose {
        let node = self.node(NodeKind::Statement, &format!("{callee}(x);"), before);
        self.calls.push(CallSite {
            callee: Some(callee.to_string()),
            declared_by_user: true,
            returns: true,
            certain: true,
            place: self.place(5),
            node,
        });
        vec![(node, EdgeLabel::Always)]
    }

    fn branch(&mut self, condition: &str, then: &[Code], otherwise: &[Code], before: Loose) -> Loose {
        let (_, marker, yes, no) = self.condition(condition, before);
        self.decision(DecisionKind::If, Formula::Leaf(marker));
        let mut after = self.block(then, yes);
        after.extend(self.block(otherwise, no));
        after
    }

    fn branch_and(&mut self, left: &str, right: &str, then: &[Code], before: Loose) -> Loose {
        let (_, first, yes, mut no) = self.condition(left, before);
        let (_, second, yes, no_too) = self.condition(right, yes);
        let leaves = [first, second].map(|marker| Box::new(Formula::Leaf(marker)));
        let [first, second] = leaves;
        self.decision(DecisionKind::If, Formula::And(first, second));
        no.extend(no_too);
        let mut after = self.block(then, yes);
        after.extend(no);
        after
    }

    /// Records the loop whose head is `head`; its back edges are those from here on that lead to it.
    fn close_loop(&mut self, kind: LoopKind, head: NodeId, place: Place, back: Loose) {
        let first = self.edges.len();
        self.connect(back, head);
        let back_edges = self.edges.ids().skip(first).collect();
        self.loops.push(Loop { kind, place, head, back_edges });
    }

    fn while_loop(&mut self, condition: &str, body: &[Code], before: Loose) -> Loose {
        let (head, marker, yes, mut no) = self.condition(condition, before);
        let place = self.place(5);
        self.decision(DecisionKind::While, Formula::Leaf(marker));
        let (mut back, breaks, continues) = self.body(body, yes);
        back.extend(continues);
        self.close_loop(LoopKind::While, head, place, back);
        no.extend(breaks);
        no
    }

    fn body(&mut self, body: &[Code], before: Loose) -> (Loose, Loose, Loose) {
        self.breaks.push(Vec::new());
        self.continues.push(Vec::new());
        let after = self.block(body, before);
        (after, self.breaks.pop().unwrap_or_default(), self.continues.pop().unwrap_or_default())
    }

    fn do_loop(&mut self, body: &[Code], condition: &str, before: Loose) -> Loose {
        let head = self.node(NodeKind::Statement, "do", before);
        let place = self.place(5);
        let (mut after, breaks, continues) = self.body(body, vec![(head, EdgeLabel::Always)]);
        after.extend(continues);
        let (_, marker, yes, mut no) = self.condition(condition, after);
        self.decision(DecisionKind::Do, Formula::Leaf(marker));
        self.close_loop(LoopKind::Do, head, place, yes);
        no.extend(breaks);
        no
    }

    fn endless_loop(&mut self, body: &[Code], before: Loose) -> Loose {
        let head = self.node(NodeKind::Statement, "for (;;)", before);
        let place = self.place(5);
        let (mut back, breaks, continues) = self.body(body, vec![(head, EdgeLabel::Always)]);
        back.extend(continues);
        self.close_loop(LoopKind::For, head, place, back);
        breaks
    }

    fn switch(&mut self, on: &str, cases: &[Vec<Code>], default: bool, before: Loose) -> Loose {
        let place = self.place(5);
        let label = |index: usize| {
            let last = default && index + 1 == cases.len();
            let value = index as i128;
            let values = if last { LabelValues::Default } else { LabelValues::Range { low: value, high: value } };
            let text = if last { "default".to_string() } else { format!("case {index}") };
            Label { values, text, place, spelled: place }
        };
        let labels = (0..cases.len()).map(label).collect();
        let marker = self.marker(on, MarkerKind::Switch { labels, bits: 32, signed: true, default_counted: true });
        let node = self.node(NodeKind::Switch(marker), on, before);
        self.decision(DecisionKind::Switch, Formula::Leaf(marker));
        let way = |outcome: usize| (node, EdgeLabel::Outcome(Event { marker, outcome: outcome as u32 }));
        self.breaks.push(Vec::new());
        let mut falling = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            falling.push(way(index));
            falling = self.block(case, falling);
        }
        falling.extend((!default).then(|| way(cases.len())));
        falling.extend(self.breaks.pop().unwrap_or_default());
        falling
    }
}
