//! The graphs across calls: the interprocedural control-flow graph, control dependence, decision graphs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use branchwise_program::FunctionId;
use branchwise_program::graph::{
    Dependence, Dependences, Icfg, IcfgArc, IcfgArcKind, IcfgKind, decision_graph, each_dependence,
    interprocedural_dependences, intraprocedural_dependences,
};
use branchwise_program::map::{Event, Map, NodeKind};
use serde_json::{Value, json};

use super::picture::{Arc, Line, Picture, Shape, Tone, Vertex};
use super::{dot, svg, words};

/// Which of them.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum AcrossGraph {
    Icfg,
    Dependence,
    /// Of what stands on this line.
    Decision {
        line: u32,
    },
}

/// One of the graphs of a function and all it calls, ready to be shown.
pub struct Across<'m> {
    map: &'m Map,
    root: FunctionId,
    what: AcrossGraph,
    graph: Icfg,
    names: Vec<String>,
    within: Dependences,
    across: Dependences,
    /// Arcs of the graph that was asked for.
    decisions: Vec<Dependence>,
}

/// Why there is no such graph.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum NoGraph {
    TooLarge { vertices: usize },
    NothingOnLine { line: u32 },
}

impl<'m> Across<'m> {
    pub fn of(map: &'m Map, root: FunctionId, what: AcrossGraph) -> Result<Self, NoGraph> {
        let graph = Icfg::of(map, root);
        let names = graph.names();
        let (mut within, mut across) = (Dependences::new(), Dependences::new());
        if what != AcrossGraph::Icfg {
            let too_large = NoGraph::TooLarge { vertices: graph.vertices.len() };
            within = intraprocedural_dependences(&graph).ok_or(too_large)?;
            across = interprocedural_dependences(&graph).ok_or(too_large)?;
        }
        let decisions = match what {
            AcrossGraph::Icfg => Vec::new(),
            AcrossGraph::Dependence => each_dependence(&across).collect(),
            AcrossGraph::Decision { line } => {
                let goal = *graph.on_line(map, line).first().ok_or(NoGraph::NothingOnLine { line })?;
                decision_graph(&graph, &across, goal)
            }
        };
        Ok(Across { map, root, what, graph, names, within, across, decisions })
    }

    pub fn dot(&self) -> String {
        dot::of_picture(self.picture())
    }

    pub fn svg(&self) -> String {
        svg::of_picture(self.picture())
    }

    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.title());
        // Writing to a string cannot fail.
        if self.what == AcrossGraph::Icfg {
            let successors = self.graph.successors();
            for (vertex, arcs) in successors.iter().enumerate() {
                let to = |arc: &IcfgArc| match self.arc_label(vertex, arc.kind) {
                    Some(label) => format!("{label} → {}", self.names[arc.to]),
                    None => format!("→ {}", self.names[arc.to]),
                };
                let to: Vec<String> = arcs.iter().map(to).collect();
                let _ = writeln!(out, "  {:>4}  {:40}  {}", self.names[vertex], self.described(vertex), to.join(", "));
            }
            return out;
        }
        if self.what == AcrossGraph::Dependence {
            self.table(&mut out, "within functions", &self.within);
            self.table(&mut out, "across calls", &self.across);
        } else {
            self.table(&mut out, "decisions", &rows(&self.decisions));
        }
        out
    }

    /// Rows as in the tables of Sy and Deville: the vertices that depend on an outcome.
    fn table(&self, out: &mut String, heading: &str, rows: &Dependences) {
        let _ = writeln!(out, "  {heading}");
        for (&(on, outcome), vertices) in rows {
            let names: Vec<&str> = vertices.iter().map(|&vertex| self.names[vertex].as_str()).collect();
            let label = self.outcome_label(on, outcome);
            let _ = writeln!(out, "    ({}, {label})  {}  ← {}", self.names[on], names.join(", "), self.described(on));
        }
    }

    pub fn json(&self) -> Value {
        let vertex = |vertex: usize| {
            let at = self.graph.vertices[vertex].node.map(|(function, node)| {
                let place = self.map.functions[function].cfg.nodes[node].place;
                (self.map.functions[function].name.clone(), place.line, place.column)
            });
            json!({
                "name": self.names[vertex],
                "kind": kind(self.graph.vertices[vertex].kind),
                "function": at.as_ref().map(|(function, ..)| function),
                "line": at.as_ref().map(|(_, line, _)| line),
                "column": at.as_ref().map(|(.., column)| column),
                "text": self.described(vertex),
            })
        };
        let table = |rows: &Dependences| -> Vec<Value> {
            let row = |(&(on, outcome), vertices): (&(usize, Option<u32>), &BTreeSet<usize>)| {
                let nodes: Vec<&str> = vertices.iter().map(|&vertex| self.names[vertex].as_str()).collect();
                json!({ "on": self.names[on], "outcome": self.outcome_label(on, outcome), "nodes": nodes })
            };
            rows.iter().map(row).collect()
        };
        let mut value = json!({
            "function": self.map.functions[self.root].name,
            "nodes": (0..self.graph.vertices.len()).map(vertex).collect::<Vec<_>>(),
        });
        match self.what {
            AcrossGraph::Icfg => {
                let arc = |arc: &IcfgArc| {
                    let label = self.arc_label(arc.from, arc.kind);
                    json!({ "from": self.names[arc.from], "to": self.names[arc.to], "label": label })
                };
                value["edges"] = self.graph.arcs.iter().map(arc).collect();
            }
            AcrossGraph::Dependence => {
                value["within_functions"] = table(&self.within).into();
                value["across_calls"] = table(&self.across).into();
            }
            AcrossGraph::Decision { .. } => value["decisions"] = table(&rows(&self.decisions)).into(),
        }
        value
    }

    fn title(&self) -> String {
        let function = &self.map.functions[self.root];
        let place = format!("{}:{}", words::file(self.map, function.place.file), function.place.line);
        let what = match self.what {
            AcrossGraph::Icfg => "interprocedural control-flow graph".to_string(),
            AcrossGraph::Dependence => "control dependence".to_string(),
            AcrossGraph::Decision { line } => format!("decision graph of line {line}"),
        };
        format!("{} — {place} — {what}", function.name)
    }

    fn described(&self, vertex: usize) -> String {
        let Some((function, node)) = self.graph.vertices[vertex].node else {
            let begins = self.graph.vertices[vertex].kind == IcfgKind::GlobalEntry;
            return (if begins { "begin" } else { "end" }).to_string();
        };
        let name = &self.map.functions[function].name;
        let text = &self.map.functions[function].cfg.nodes[node].text;
        let decision = self.graph.vertices[vertex].decision.map(|at| &self.map.functions[function].decisions[at]);
        match self.graph.vertices[vertex].kind {
            IcfgKind::Entry => format!("{name}()"),
            IcfgKind::Exit => format!("end of {name}()"),
            IcfgKind::Call { callee, .. } => format!("call of {}(): {text}", self.map.functions[callee].name),
            IcfgKind::Return => format!("return to: {text}"),
            IcfgKind::Predicate => decision.map_or(text.clone(), |of| self.map.formula_text(&of.formula)),
            _ => text.clone(),
        }
    }

    fn outcome_label(&self, vertex: usize, outcome: Option<u32>) -> String {
        match outcome {
            None => "true".to_string(),
            Some(outcome) => self
                .arc_label(vertex, IcfgArcKind::Outcome(outcome))
                .map_or(outcome.to_string(), |label| format!("{label}{}", self.names[vertex])),
        }
    }

    fn arc_label(&self, vertex: usize, kind: IcfgArcKind) -> Option<String> {
        let IcfgArcKind::Outcome(outcome) = kind else {
            return match kind {
                IcfgArcKind::Call => Some("call".to_string()),
                IcfgArcKind::Return => Some("return".to_string()),
                IcfgArcKind::Halt => Some("halt".to_string()),
                IcfgArcKind::Endless => Some("endless".to_string()),
                _ => None,
            };
        };
        let (function, node) = self.graph.vertices[vertex].node?;
        match self.map.functions[function].cfg.nodes[node].kind {
            NodeKind::Switch(marker) | NodeKind::Handler(marker) => {
                Some(words::outcome(self.map, Event { marker, outcome }))
            }
            _ => Some((if outcome == 1 { "T" } else { "F" }).to_string()),
        }
    }

    fn picture(&self) -> Picture {
        let arcs: Vec<(usize, usize, Option<String>, bool)> = match self.what {
            AcrossGraph::Icfg => {
                let across = |kind| matches!(kind, IcfgArcKind::Call | IcfgArcKind::Return);
                let arcs = self.graph.arcs.iter();
                arcs.map(|arc| (arc.from, arc.to, self.arc_label(arc.from, arc.kind), across(arc.kind))).collect()
            }
            _ => {
                let label = |on, outcome: Option<u32>| outcome.map(|_| self.outcome_label(on, outcome));
                let arc = |&Dependence { on, outcome, vertex }: &Dependence| (on, vertex, label(on, outcome), false);
                self.decisions.iter().map(arc).collect()
            }
        };
        let mut place_of: BTreeMap<usize, usize> = BTreeMap::new();
        let mut vertices = Vec::new();
        let used = |vertex: &usize| {
            self.what == AcrossGraph::Icfg || arcs.iter().any(|(from, to, ..)| from == vertex || to == vertex)
        };
        for vertex in (0..self.graph.vertices.len()).filter(used) {
            place_of.insert(vertex, vertices.len());
            vertices.push(self.drawn(vertex));
        }
        let arc = |(from, to, label, marked): (usize, usize, Option<String>, bool)| {
            let tone = match label.as_deref().and_then(|label| label.chars().next()) {
                Some('T') => Tone::True,
                Some('F') => Tone::False,
                Some(_) => Tone::Case,
                None => Tone::Plain,
            };
            Arc { from: place_of[&from], to: place_of[&to], label, tone, marked }
        };
        let root = self.graph.functions.first().and_then(|(_, entry, _)| place_of.get(entry).copied()).unwrap_or(0);
        let root = if self.what == AcrossGraph::Icfg { 0 } else { root };
        Picture { title: self.title(), arcs: arcs.into_iter().map(arc).collect(), vertices, root }
    }

    fn drawn(&self, vertex: usize) -> Vertex {
        let shape = match self.graph.vertices[vertex].kind {
            IcfgKind::Predicate => Shape::Hexagon,
            IcfgKind::Statement | IcfgKind::Call { .. } | IcfgKind::Return => Shape::Box,
            _ => Shape::Rounded,
        };
        let line = self.graph.vertices[vertex]
            .node
            .map(|(function, node)| self.map.functions[function].cfg.nodes[node].place.line);
        let text = format!("{}: {}", self.names[vertex], self.described(vertex));
        let lines = vec![Line { number: line, text }];
        Vertex { name: format!("v{vertex}"), shape, lines, marked: false, faded: false }
    }
}

fn kind(kind: IcfgKind) -> &'static str {
    match kind {
        IcfgKind::GlobalEntry => "global_entry",
        IcfgKind::GlobalExit => "global_exit",
        IcfgKind::Entry => "entry",
        IcfgKind::Exit => "exit",
        IcfgKind::Statement => "statement",
        IcfgKind::Predicate => "predicate",
        IcfgKind::Call { .. } => "call",
        IcfgKind::Return => "return",
    }
}

fn rows(arcs: &[Dependence]) -> Dependences {
    let mut rows = Dependences::new();
    for &Dependence { on, outcome, vertex } in arcs {
        rows.entry((on, outcome)).or_default().insert(vertex);
    }
    rows
}
