//! How the views spell what the map holds.

use branchwise_program::map::{
    DecisionKind, EdgeLabel, Event, Function, Label, LabelValues, LoopKind, Map, MarkerKind, NodeKind, Place,
};
use branchwise_program::{FileId, MarkerId, TypeId};

pub(super) fn node_kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Entry => "entry",
        NodeKind::Exit => "exit",
        NodeKind::Statement => "statement",
        NodeKind::Condition(_) => "condition",
        NodeKind::Switch(_) => "switch",
        NodeKind::Handler(_) => "catch",
    }
}

pub(super) fn decision_kind(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::If => "if",
        DecisionKind::While => "while",
        DecisionKind::Do => "do",
        DecisionKind::For => "for",
        DecisionKind::Switch => "switch",
        DecisionKind::Conditional => "conditional",
        DecisionKind::Value => "value",
    }
}

pub(super) fn loop_kind(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::While => "while",
        LoopKind::Do => "do",
        LoopKind::For => "for",
        LoopKind::Goto => "goto",
    }
}

pub(super) fn file(map: &Map, file: FileId) -> String {
    map.files.get(file).map_or_else(|| file.to_string(), |source| source.path.display().to_string())
}

/// `LINE:COLUMN`, with the file in front where it is not the function's own.
pub(super) fn place(map: &Map, function: &Function, place: Place) -> String {
    let here = format!("{}:{}", place.line, place.column);
    if place.file == function.place.file { here } else { format!("{}:{here}", file(map, place.file)) }
}

pub(super) fn signature(map: &Map, function: &Function) -> String {
    let spelling = |id: TypeId| map.types.get(id).map_or("?", |it| it.spelling.as_str());
    let mut parameters: Vec<String> =
        function.parameters.iter().map(|parameter| declaration(spelling(parameter.type_id), &parameter.name)).collect();
    if function.variadic {
        parameters.push("...".to_string());
    } else if parameters.is_empty() {
        parameters.push("void".to_string());
    }
    let head = declaration(spelling(function.result), &function.name);
    let storage = if function.internal { "static " } else { "" };
    format!("{storage}{head}({})", parameters.join(", "))
}

fn declaration(spelling: &str, name: &str) -> String {
    let space = if spelling.ends_with('*') || name.is_empty() { "" } else { " " };
    format!("{spelling}{space}{name}")
}

pub(super) fn condition(map: &Map, marker: MarkerId) -> &str {
    map.markers.get(marker).map_or("?", |marker| marker.text.as_str())
}

/// `true`, `false`, `case 3`, `default`, or `no case` for the default that a switch does not write.
pub(super) fn outcome(map: &Map, event: Event) -> String {
    match map.markers.get(event.marker).map(|marker| &marker.kind) {
        Some(MarkerKind::Switch { labels, .. }) => {
            labels.get(event.outcome as usize).map_or_else(|| "no case".to_string(), label)
        }
        Some(MarkerKind::Handler) => "taken".to_string(),
        Some(MarkerKind::Condition { .. }) if event.outcome == 0 => "false".to_string(),
        Some(MarkerKind::Condition { .. }) => "true".to_string(),
        None => event.outcome.to_string(),
    }
}

fn label(label: &Label) -> String {
    let text = label.text.trim().trim_end_matches(':').trim_end();
    match label.values {
        LabelValues::Default => "default".to_string(),
        LabelValues::Range { .. } if text.starts_with("case") => text.to_string(),
        LabelValues::Range { .. } => format!("case {text}"),
    }
}

/// `x > 10: true`; `None` where control always passes.
pub(super) fn edge_condition(map: &Map, label: EdgeLabel) -> Option<String> {
    match label {
        EdgeLabel::Always => None,
        EdgeLabel::Outcome(event) => Some(format!("{}: {}", condition(map, event.marker), outcome(map, event))),
    }
}
