//! The abstract nodes of a function, as an outline and as a tree.

use std::fmt::Write;

use branchwise_goals::{AbstractKind, AbstractNode, abstract_nodes};
use branchwise_program::FunctionId;
use branchwise_program::map::{Function, Map};

use super::picture::{Arc, Line, Picture, Shape, Tone, Vertex};
use super::{Selection, words};

/// What contains what, indented.
pub fn abstract_text(map: &Map, selection: impl Into<Selection>) -> String {
    let functions = selection.into().functions(map).into_iter();
    functions.map(|(id, function)| outline(map, id, function)).collect::<Vec<_>>().join("\n")
}

fn outline(map: &Map, id: FunctionId, function: &Function) -> String {
    let nodes = abstract_nodes(map, id);
    let mut out = format!("{}  {}:{}\n", function.name, words::file(map, function.place.file), function.place.line);
    let mut pending: Vec<(usize, usize)> = children(&nodes, None).into_iter().rev().map(|child| (child, 1)).collect();
    // Writing to a string cannot fail.
    while let Some((index, depth)) = pending.pop() {
        let _ = writeln!(out, "{}{}", "  ".repeat(depth), words_of(&nodes[index]));
        pending.extend(children(&nodes, Some(index)).into_iter().rev().map(|child| (child, depth + 1)));
    }
    out
}

/// In the order of the source.
fn children(nodes: &[AbstractNode], parent: Option<usize>) -> Vec<usize> {
    let mut children: Vec<usize> = (0..nodes.len()).filter(|&index| nodes[index].parent == parent).collect();
    children.sort_by_key(|&index| (nodes[index].place, index));
    children
}

fn words_of(node: &AbstractNode) -> String {
    let kind = match node.kind {
        AbstractKind::Condition => "",
        kind => kind.name(),
    };
    [kind, &node.name, &node.text].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

pub(super) fn picture(map: &Map, id: FunctionId, function: &Function) -> Picture {
    let nodes = abstract_nodes(map, id);
    let vertex = |(index, node): (usize, &AbstractNode)| Vertex {
        name: format!("a{index}"),
        shape: match node.kind {
            AbstractKind::Condition | AbstractKind::Switch => Shape::Hexagon,
            _ => Shape::Box,
        },
        lines: vec![Line { number: Some(node.place.line), text: words_of(node) }],
        marked: false,
        faded: false,
    };
    let root = Vertex {
        name: "root".to_string(),
        shape: Shape::Rounded,
        lines: vec![Line { number: Some(function.place.line), text: function.name.clone() }],
        marked: false,
        faded: false,
    };
    let arc = |(index, node): (usize, &AbstractNode)| Arc {
        from: node.parent.map_or(0, |parent| parent + 1),
        to: index + 1,
        label: None,
        tone: Tone::Plain,
        marked: false,
    };
    let file = words::file(map, function.place.file);
    Picture {
        title: format!("{} — {file}:{} — abstract nodes", function.name, function.place.line),
        arcs: nodes.iter().enumerate().map(arc).collect(),
        vertices: std::iter::once(root).chain(nodes.iter().enumerate().map(vertex)).collect(),
        root: 0,
    }
}
