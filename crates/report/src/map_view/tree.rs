//! The execution tree of one goal.

use std::fmt::Write;

use branchwise_generate::{DrawnNode, DrawnWay, TreeDrawing};
use branchwise_program::map::{Event, Map, MarkerKind};

use super::picture::{Arc, Line, Picture, Shape, Tone, Vertex};
use super::{dot, svg, words};

/// The tree with its condition, indented.
pub fn tree_text(map: &Map, tree: &TreeDrawing) -> String {
    let mut depths: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate() {
        depths.push(node.parent.map_or(0, |parent| depths[parent] + 1));
        node.parent.into_iter().for_each(|parent| children[parent].push(index));
    }
    let mut out = format!("{}\ncondition: {}\n", title(map, tree), tree.condition);
    let mut pending = vec![0];
    // Writing to a string cannot fail.
    while let Some(index) = pending.pop() {
        let node = &tree.nodes[index];
        let condition = node.condition.as_ref().map_or(String::new(), |condition| format!("  [{condition}]"));
        let end = end(node.way).map_or(String::new(), |end| format!("  → {end}"));
        let _ = writeln!(out, "{}{}{condition}{end}", "  ".repeat(depths[index]), name(map, node));
        pending.extend(children[index].iter().rev());
    }
    out
}

pub fn tree_dot(map: &Map, tree: &TreeDrawing) -> String {
    dot::of_picture(picture(map, tree))
}

pub fn tree_svg(map: &Map, tree: &TreeDrawing) -> String {
    svg::of_picture(picture(map, tree))
}

fn title(map: &Map, tree: &TreeDrawing) -> String {
    let paths = tree.nodes.iter().filter(|node| node.way == DrawnWay::Feasible).count();
    let feasible = if paths == 1 { "1 feasible way".to_string() } else { format!("{paths} feasible ways") };
    let whole = if tree.whole { "" } else { ", not whole" };
    let place =
        format!("{}:{}:{}", words::file(map, tree.goal.place.file), tree.goal.place.line, tree.goal.place.column);
    let outcome = tree.goal.outcome.map_or(String::new(), |outcome| format!(" {outcome}"));
    format!("{}{outcome} at {place}, k = {}: {feasible}{whole}", tree.goal.text, tree.k)
}

/// Ways to the goal are heavy, what no input does is faded.
fn picture(map: &Map, tree: &TreeDrawing) -> Picture {
    let mut arrives: Vec<bool> = tree.nodes.iter().map(|node| node.way == DrawnWay::Feasible).collect();
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        node.parent.filter(|_| arrives[index]).into_iter().for_each(|parent| arrives[parent] = true);
    }
    let vertex = |(index, node): (usize, &DrawnNode)| {
        let mut lines = vec![Line { number: line_number(map, node.event), text: name(map, node) }];
        lines.extend(end(node.way).map(|end| Line { number: None, text: end.to_string() }));
        Vertex {
            name: format!("n{index}"),
            shape: match node.way {
                DrawnWay::GoesOn if node.event.is_some() => Shape::Hexagon,
                DrawnWay::GoesOn => Shape::Box,
                _ => Shape::Rounded,
            },
            lines,
            marked: arrives[index],
            faded: node.way == DrawnWay::Infeasible,
        }
    };
    let arc = |(to, node): (usize, &DrawnNode)| {
        let tone = match (node.way, node.event) {
            (DrawnWay::Infeasible, _) | (_, None) => Tone::Plain,
            (_, Some(event)) => tone(map, event),
        };
        let arc = |from| Arc { from, to, label: node.condition.clone(), tone, marked: arrives[to] };
        node.parent.map(arc)
    };
    Picture {
        title: title(map, tree),
        vertices: tree.nodes.iter().enumerate().map(vertex).collect(),
        arcs: tree.nodes.iter().enumerate().filter_map(arc).collect(),
        root: 0,
    }
}

fn tone(map: &Map, event: Event) -> Tone {
    match (map.markers.get(event.marker).map(|marker| &marker.kind), event.outcome) {
        (Some(MarkerKind::Condition { .. }), 0) => Tone::False,
        (Some(MarkerKind::Condition { .. }), _) => Tone::True,
        _ => Tone::Case,
    }
}

fn line_number(map: &Map, event: Option<Event>) -> Option<u32> {
    event.and_then(|event| map.markers.get(event.marker)).map(|marker| marker.place.line)
}

fn name(map: &Map, node: &DrawnNode) -> String {
    match (node.event, node.parent) {
        (Some(event), _) => {
            let text = map.markers.get(event.marker).map_or("?", |marker| marker.text.as_str());
            format!("{text}: {}", words::outcome(map, event))
        }
        (None, None) => "entry".to_string(),
        (None, Some(_)) => "·".to_string(),
    }
}

fn end(way: DrawnWay) -> Option<&'static str> {
    match way {
        DrawnWay::GoesOn => None,
        DrawnWay::Feasible => Some("goal"),
        DrawnWay::Infeasible => Some("infeasible"),
        DrawnWay::Undecided => Some("goal, not decided"),
        DrawnWay::Repeats => Some("cut: repeats too often"),
        DrawnWay::Elsewhere => Some("leads elsewhere"),
        DrawnWay::Unfinished => Some("cut: limit of the tree"),
    }
}
