use std::fmt::Write;

use branchwise_program::map::Map;

use super::picture::{Arc, Picture, Shape, Tone, Vertex, pictures};
use super::{Graph, Selection};

/// For Graphviz: one cluster for each function.
pub fn dot(map: &Map, selection: impl Into<Selection>, graph: Graph) -> String {
    let pictures = pictures(map, selection.into(), graph).into_iter();
    clusters(pictures.map(|(id, picture)| (format!("f{}", id.0), picture)))
}

pub(super) fn of_picture(picture: Picture) -> String {
    clusters([("tree".to_string(), picture)].into_iter())
}

fn clusters(pictures: impl Iterator<Item = (String, Picture)>) -> String {
    let mut out = String::from("digraph map {\n  node [fontname=\"monospace\", fontsize=11];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=10];\n");
    for (prefix, picture) in pictures {
        cluster(&mut out, &prefix, &picture);
    }
    out.push_str("}\n");
    out
}

// Writing to a string cannot fail.
fn cluster(out: &mut String, prefix: &str, picture: &Picture) {
    let _ = writeln!(out, "  subgraph cluster_{prefix} {{\n    label={};", quoted(&picture.title));
    for vertex in &picture.vertices {
        let _ = writeln!(out, "    {prefix}_{} [{}];", vertex.name, vertex_attributes(vertex));
    }
    for arc in &picture.arcs {
        let (from, to) = (&picture.vertices[arc.from].name, &picture.vertices[arc.to].name);
        let _ = writeln!(out, "    {prefix}_{from} -> {prefix}_{to}{};", arc_attributes(arc));
    }
    out.push_str("  }\n");
}

fn vertex_attributes(vertex: &Vertex) -> String {
    let shape = match vertex.shape {
        Shape::Rounded => "shape=box, style=rounded",
        Shape::Box => "shape=box",
        Shape::Hexagon => "shape=hexagon",
    };
    let line = |line: &super::picture::Line| match line.number {
        Some(number) => escaped(&format!("{number}: {}", line.text)),
        None => escaped(&line.text),
    };
    let label: String = match &vertex.lines[..] {
        [only] => line(only),
        lines => lines.iter().map(|it| format!("{}\\l", line(it))).collect(),
    };
    let marked = if vertex.marked { ", penwidth=3" } else { "" };
    let faded = if vertex.faded { ", color=gray, fontcolor=gray" } else { "" };
    format!("{shape}, label=\"{label}\"{marked}{faded}")
}

fn arc_attributes(arc: &Arc) -> String {
    let colour = match arc.tone {
        Tone::Plain => None,
        Tone::True => Some("darkgreen"),
        Tone::False => Some("firebrick"),
        Tone::Case => Some("navy"),
    };
    let mut attributes = Vec::new();
    attributes.extend(arc.label.as_ref().map(|label| format!("label={}", quoted(label))));
    attributes.extend(colour.map(|colour| format!("color={colour}, fontcolor={colour}")));
    attributes.extend(arc.marked.then(|| "penwidth=3".to_string()));
    if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Inside a quoted string of DOT.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}
