//! A short text form of the map, for snapshots.

use std::fmt::Write;

use branchwise_frontend::Unit;
use branchwise_program::map::{Edge, EdgeLabel, Formula, Function, NodeKind};

pub fn function_text(unit: &Unit, name: &str) -> String {
    let function = &unit.map.functions[unit.map.function_named(name).unwrap()];
    let mut text = String::new();
    for (id, node) in function.cfg.nodes.iter() {
        let kind = match node.kind {
            NodeKind::Condition(marker) | NodeKind::Switch(marker) => format!(" [{marker}]"),
            _ => String::new(),
        };
        let leaving = function.cfg.edges.values().filter(|edge| edge.from == id).map(edge_text);
        let leaving = leaving.collect::<Vec<_>>().join(", ");
        writeln!(text, "{id} {}: {}{kind} -> {leaving}", node.place.line, node.text).unwrap();
    }
    text + &details(function)
}

fn details(function: &Function) -> String {
    let mut text = String::new();
    for found in &function.loops {
        let back = found.back_edges.iter().map(|&edge| function.cfg.edges[edge].from.to_string());
        let back = back.collect::<Vec<_>>().join(" ");
        writeln!(text, "loop {:?} line {} head {} from {back}", found.kind, found.place.line, found.head).unwrap();
    }
    for decision in &function.decisions {
        writeln!(text, "decision {:?} line {}: {}", decision.kind, decision.place.line, formula(&decision.formula))
            .unwrap();
    }
    for call in &function.calls {
        let maybe = if call.certain { "" } else { ", perhaps" };
        writeln!(text, "call {} at {}{maybe}", call.callee.as_deref().unwrap_or("?"), call.node).unwrap();
    }
    text
}

fn edge_text(edge: &Edge) -> String {
    match edge.label {
        EdgeLabel::Always => edge.to.to_string(),
        EdgeLabel::Outcome(event) => format!("{}:{}", event.outcome, edge.to),
    }
}

fn formula(formula: &Formula) -> String {
    match formula {
        Formula::Leaf(marker) => marker.to_string(),
        Formula::Constant(value) => value.to_string(),
        Formula::Not(inner) => format!("!{}", self::formula(inner)),
        Formula::And(left, right) => format!("({} && {})", self::formula(left), self::formula(right)),
        Formula::Or(left, right) => format!("({} || {})", self::formula(left), self::formula(right)),
    }
}
