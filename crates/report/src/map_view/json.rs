use branchwise_program::graph::{Implications, control_dependence, natural_loops, unconstrained_edges};
use branchwise_program::map::{Decision, Edge, EdgeLabel, Function, Loop, Map, Place};
use branchwise_program::{EdgeId, FunctionId, NodeId};
use serde_json::{Map as Object, Value, json};

use super::{Graph, Selection, words};

/// The map for tools. Version 1: keys may be added, never renamed. Ids are numbers that hold within one function.
pub fn json(map: &Map, selection: impl Into<Selection>) -> Value {
    let selection = selection.into();
    let own = map;
    let map: &Map = &selection.shown(own, Graph::Cfg);
    let functions = selection.functions(map).into_iter();
    let functions: Vec<Value> =
        functions.map(|(id, function)| one(map, function, own.functions[id].mccabe())).collect();
    let roots = selection.roots(map);
    let name = |function: FunctionId| map.functions[function].name.as_str();
    let implications = Implications::of(map, &roots);
    let unconstrained = implications.unconstrained().into_iter();
    let unconstrained = unconstrained.map(|edge| json!({ "function": name(edge.function), "edge": edge.edge.0 }));
    json!({
        "version": 1,
        "functions": functions,
        "roots": roots.iter().map(|&root| name(root)).collect::<Vec<_>>(),
        "interprocedural_edges": implications.reachable().len(),
        "interprocedural_unconstrained_edges": unconstrained.collect::<Vec<_>>(),
    })
}

fn one(map: &Map, function: &Function, mccabe: i64) -> Value {
    let cfg = &function.cfg;
    json!({
        "name": function.name,
        "file": words::file(map, function.place.file),
        "line": function.place.line,
        "nodes": cfg.nodes.ids().map(|id| node(map, function, id)).collect::<Vec<_>>(),
        "edges": cfg.edges.iter().map(|(id, edge)| self::edge(map, id, edge)).collect::<Vec<_>>(),
        "unconstrained_edges": edge_ids(&unconstrained_edges(cfg)),
        "mccabe": mccabe,
        "loops": loops(map, function),
        "decisions": function.decisions.iter().map(|it| decision(map, function, it)).collect::<Vec<_>>(),
        "control_dependence": dependences(map, function),
        "calls": calls(map, function),
    })
}

fn edge_ids(edges: &[EdgeId]) -> Vec<u32> {
    edges.iter().map(|edge| edge.0).collect()
}

fn node_ids(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.0).collect()
}

/// `line` and `column`, and `file` where it is not the function's own.
fn put_place(map: &Map, function: &Function, place: Place, object: &mut Object<String, Value>) {
    if place.file != function.place.file {
        object.insert("file".to_string(), words::file(map, place.file).into());
    }
    object.insert("line".to_string(), place.line.into());
    object.insert("column".to_string(), place.column.into());
}

/// The fields of `front`, the place, the fields of `back`.
fn placed<const F: usize, const B: usize>(
    map: &Map,
    function: &Function,
    front: [(&str, Value); F],
    place: Place,
    back: [(&str, Value); B],
) -> Value {
    let mut object = Object::new();
    object.extend(front.map(|(key, value)| (key.to_string(), value)));
    put_place(map, function, place, &mut object);
    object.extend(back.map(|(key, value)| (key.to_string(), value)));
    Value::Object(object)
}

fn node(map: &Map, function: &Function, id: NodeId) -> Value {
    let node = &function.cfg.nodes[id];
    let front = [("id", json!(id.0)), ("kind", words::node_kind(node.kind).into())];
    placed(map, function, front, node.place, [("text", node.text.as_str().into())])
}

fn edge(map: &Map, id: EdgeId, edge: &Edge) -> Value {
    let condition = match edge.label {
        EdgeLabel::Always => Value::Null,
        EdgeLabel::Outcome(event) => {
            json!({ "text": words::condition(map, event.marker), "outcome": words::outcome(map, event) })
        }
    };
    json!({ "id": id.0, "from": edge.from.0, "to": edge.to.0, "condition": condition })
}

fn loops(map: &Map, function: &Function) -> Vec<Value> {
    let natural = natural_loops(&function.cfg);
    let one = |it: &Loop| {
        let body = natural.iter().find(|natural| natural.head == it.head).map(|natural| node_ids(&natural.body));
        let back = [("head", json!(it.head.0)), ("back_edges", json!(edge_ids(&it.back_edges))), ("body", json!(body))];
        placed(map, function, [("kind", words::loop_kind(it.kind).into())], it.place, back)
    };
    function.loops.iter().map(one).collect()
}

fn decision(map: &Map, function: &Function, decision: &Decision) -> Value {
    let leaves = decision.formula.leaves();
    let condition = |marker: &branchwise_program::map::Marker| {
        placed(map, function, [("text", marker.text.as_str().into())], marker.place, [])
    };
    let conditions: Vec<Value> = leaves.iter().filter_map(|leaf| map.markers.get(*leaf)).map(condition).collect();
    let back = [("conditions", json!(conditions)), ("formula", map.formula_text(&decision.formula).into())];
    placed(map, function, [("kind", words::decision_kind(decision.kind).into())], decision.place, back)
}

fn dependences(map: &Map, function: &Function) -> Vec<Value> {
    let one = |dependence: branchwise_program::graph::ControlDependence| {
        let outcome = match function.cfg.edges[dependence.edge].label {
            EdgeLabel::Always => Value::Null,
            EdgeLabel::Outcome(event) => words::outcome(map, event).into(),
        };
        json!({ "node": dependence.node.0, "on": dependence.on.0, "outcome": outcome })
    };
    control_dependence(&function.cfg).into_iter().map(one).collect()
}

fn calls(map: &Map, function: &Function) -> Vec<Value> {
    let one = |call: &branchwise_program::map::CallSite| {
        placed(map, function, [("callee", json!(call.callee))], call.place, [("node", json!(call.node.0))])
    };
    function.calls.iter().map(one).collect()
}
