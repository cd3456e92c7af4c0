use std::fmt::{Display, Write};

use branchwise_goals::Notation;
use branchwise_program::EdgeId;
use branchwise_program::graph::{control_dependence, natural_loops, reachable_nodes};
use branchwise_program::map::{EdgeLabel, Function, Map};

use super::{Graph, Selection, words};

/// The map for people to read in a terminal.
pub fn text(map: &Map, selection: impl Into<Selection>) -> String {
    let selection = selection.into();
    let shown = selection.shown(map, Graph::Cfg);
    let marks = selection.marks(&shown);
    let own = Own { map, notation: Notation::of(map) };
    let one = |(id, function)| one(&shown, function, (&marks[id], map.functions[id].mccabe()), &own);
    selection.functions(&shown).into_iter().map(one).collect::<Vec<_>>().join("\n")
}

/// What the user's conditions are called.
struct Own<'m> {
    map: &'m Map,
    notation: Notation,
}

impl Own<'_> {
    /// Nothing where the conditions of a decision are one node.
    fn outcome(&self, label: EdgeLabel) -> String {
        match label {
            EdgeLabel::Outcome(event) if self.map.markers.get(event.marker).is_some() => self.notation.outcome(event),
            _ => String::new(),
        }
    }
}

fn one(map: &Map, function: &Function, (marked, mccabe): (&[EdgeId], i64), own: &Own) -> String {
    let mut lines = Lines::default();
    let place = format!("{}:{}", words::file(map, function.place.file), function.place.line);
    lines.put(0, format_args!("{}  {place}", words::signature(map, function)));
    lines.put(1, format_args!("McCabe {mccabe}"));
    nodes(map, function, &mut lines);
    edges(map, function, (marked, own), &mut lines);
    loops(map, function, &mut lines);
    decisions(map, function, own, &mut lines);
    dependences(map, function, &mut lines);
    calls(map, function, &mut lines);
    lines.text
}

#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn put(&mut self, depth: usize, line: impl Display) {
        let line = line.to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:width$}{}", "", line.trim_end(), width = 2 * depth);
    }

    /// Rows below a heading, columns aligned; nothing at all without rows.
    fn table<const N: usize>(&mut self, heading: &str, rows: &[[String; N]]) {
        if rows.is_empty() {
            return;
        }
        self.put(1, heading);
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..N).map(width).collect();
        for row in rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            self.put(2, cells.collect::<Vec<_>>().join("  "));
        }
    }
}

fn nodes(map: &Map, function: &Function, lines: &mut Lines) {
    let reachable = reachable_nodes(&function.cfg);
    let row = |(id, node): (_, &branchwise_program::map::Node)| {
        let note = if reachable[id] { "" } else { "  (unreachable)" };
        let place = words::place(map, function, node.place);
        [format!("{id}"), words::node_kind(node.kind).to_string(), place, format!("{}{note}", node.text)]
    };
    lines.table("nodes", &function.cfg.nodes.iter().map(row).collect::<Vec<_>>());
}

fn edges(map: &Map, function: &Function, (marked, own): (&[EdgeId], &Own), lines: &mut Lines) {
    let row = |(id, edge): (_, &branchwise_program::map::Edge)| {
        let mark = if marked.binary_search(&id).is_ok() { "*" } else { "" };
        let condition = words::edge_condition(map, edge.label).unwrap_or_default();
        let outcome = own.outcome(edge.label);
        [format!("{id}"), format!("{} -> {}", edge.from, edge.to), mark.to_string(), outcome, condition]
    };
    let rows: Vec<_> = function.cfg.edges.iter().map(row).collect();
    lines.table("edges (* unconstrained: covering these covers all)", &rows);
}

fn loops(map: &Map, function: &Function, lines: &mut Lines) {
    let natural = natural_loops(&function.cfg);
    let row = |it: &branchwise_program::map::Loop| {
        let body = natural.iter().find(|natural| natural.head == it.head).map(|natural| list(&natural.body));
        [
            words::loop_kind(it.kind).to_string(),
            words::place(map, function, it.place),
            format!("head {}", it.head),
            format!("back {}", list(&it.back_edges)),
            body.map(|body| format!("body {body}")).unwrap_or_default(),
        ]
    };
    lines.table("loops", &function.loops.iter().map(row).collect::<Vec<_>>());
}

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

fn decisions(map: &Map, function: &Function, own: &Own, lines: &mut Lines) {
    if !function.decisions.is_empty() {
        lines.put(1, "decisions");
    }
    for decision in &function.decisions {
        let place = words::place(map, function, decision.place);
        let formula = map.formula_text(&decision.formula);
        lines.put(2, format_args!("{} {place}  {formula}", words::decision_kind(decision.kind)));
        let leaves = decision.formula.leaves();
        for &leaf in leaves.iter().filter(|_| leaves.len() > 1) {
            let (name, marker) = (own.notation.name(leaf), &map.markers[leaf]);
            lines.put(3, format_args!("{name}  {}  {}", words::place(map, function, marker.place), marker.text));
        }
    }
}

fn dependences(map: &Map, function: &Function, lines: &mut Lines) {
    let row = |dependence: &branchwise_program::graph::ControlDependence| {
        let label = function.cfg.edges[dependence.edge].label;
        let condition = words::edge_condition(map, label).unwrap_or_default();
        [format!("{} on {}", dependence.node, dependence.on), condition]
    };
    lines.table("control dependence", &control_dependence(&function.cfg).iter().map(row).collect::<Vec<_>>());
}

fn calls(map: &Map, function: &Function, lines: &mut Lines) {
    let row = |call: &branchwise_program::map::CallSite| {
        let callee = call.callee.clone().unwrap_or_else(|| "(through a pointer)".to_string());
        [callee, words::place(map, function, call.place), format!("in {}", call.node)]
    };
    lines.table("calls", &function.calls.iter().map(row).collect::<Vec<_>>());
}
