//! Inputs and outputs of a test as JSON values that read like the C values.

use std::collections::VecDeque;

use branchwise_program::TypeId;
use branchwise_program::map::{Function, InputOrigin, Map};
use branchwise_program::types::TypeKind;
use branchwise_replay::{Blob, Call, NativeEnd, Object, Observation, StreamContents, TestCase};
use serde_json::{Map as JsonMap, Number, Value as Json, json};

use crate::emit::{callable_name, signal_name};
use crate::values::{Decoder, FloatValue, Value, same};

/// More pointers in a row are not shown inside each other: readers of JSON limit how deep they go.
const DEEPEST_POINTER: usize = 8;

/// The inputs by name, and what else the test gives. A pointer shows its object where it is first met and refers to it by
/// number afterwards; objects at the end of a long chain of pointers stand under `objects`.
pub fn inputs(map: &Map, function: &Function, case: &TestCase) -> JsonMap<String, Json> {
    let mut writer = Writer::new(map, case, true);
    let mut named = writer.inputs(function, &case.inputs);
    for (feed, blobs) in map.feeds.values().zip(&case.feeds).filter(|(_, blobs)| !blobs.is_empty()) {
        let values = blobs.iter().map(|blob| writer.decoded(feed.type_id, blob)).collect();
        insert(&mut named, &feed.name, Json::Array(values));
    }
    if !case.stdin.is_empty() {
        // A character for each byte, whatever it is.
        insert(&mut named, "stdin", Json::String(case.stdin.iter().map(|byte| char::from(*byte)).collect()));
    }
    for register in &case.registers {
        let number = |bytes: &[u8]| bytes.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        if !register.holds.is_empty() {
            insert(&mut named, &format!("memory at {:#x}", register.address), json!(number(&register.holds)));
        }
        if !register.reads.is_empty() {
            let values: Vec<u64> = register.reads.iter().map(|value| number(value)).collect();
            insert(&mut named, &format!("register {:#x}", register.address), json!(values));
        }
    }
    if !case.before.is_empty() {
        let calls = case.before.iter().map(|call| writer.call(call)).collect();
        insert(&mut named, "before", Json::Array(calls));
    }
    let deferred = writer.deferred_objects();
    if !deferred.is_empty() {
        insert(&mut named, "objects", Json::Array(deferred));
    }
    named
}

/// Parentheses tell it from an input of the same name.
fn insert(named: &mut JsonMap<String, Json>, name: &str, value: Json) {
    let name = if named.contains_key(name) { format!("({name})") } else { name.to_owned() };
    named.insert(name, value);
}

/// How the call ended, its result, and what it changed.
pub fn observed(map: &Map, function: &Function, case: &TestCase, observation: &Observation) -> JsonMap<String, Json> {
    let mut writer = Writer::new(map, case, false);
    let mut observed = end(observation.end);
    if let Some(blob) = &observation.result {
        observed.insert("result".to_owned(), writer.decoded(function.result, blob));
    }
    if let Some(thrown) = &observation.threw {
        observed.insert("threw".to_owned(), Json::String(thrown.clone()));
    }
    observed.insert("changed_globals".to_owned(), writer.changed_globals(function, case, observation));
    observed.insert("changed_objects".to_owned(), writer.changed_objects(observation));
    if observation.truncated {
        observed.insert("trace_truncated".to_owned(), Json::Bool(true));
    }
    observed
}

fn end(end: NativeEnd) -> JsonMap<String, Json> {
    let object = match end {
        NativeEnd::Returned => json!({ "end": "returned" }),
        NativeEnd::Exited(status) => json!({ "end": "exited", "status": status }),
        NativeEnd::Signal(number) => json!({ "end": "signal", "signal": signal_name(number) }),
        NativeEnd::TimeLimit => json!({ "end": "time_limit" }),
        NativeEnd::Rejected => json!({ "end": "rejected" }),
    };
    if let Json::Object(object) = object { object } else { JsonMap::new() }
}

struct Writer<'a> {
    map: &'a Map,
    objects: &'a [Object],
    shown: Vec<bool>,
    /// Show an object where the first pointer to it stands.
    expand: bool,
    /// How many pointers lead to what is being written.
    depth: usize,
    /// Objects that are too deep to be shown where they are met.
    deferred: VecDeque<usize>,
}

impl<'a> Writer<'a> {
    fn new(map: &'a Map, case: &'a TestCase, expand: bool) -> Self {
        let shown = vec![false; case.objects.len()];
        Writer { map, objects: &case.objects, shown, expand, depth: 0, deferred: VecDeque::new() }
    }

    fn deferred_objects(&mut self) -> Vec<Json> {
        let mut shown = Vec::new();
        while let Some(number) = self.deferred.pop_front() {
            if !std::mem::replace(&mut self.shown[number], true) {
                let object = &self.objects[number];
                shown.push(Json::Object(self.object(number, object, &object.blob)));
            }
        }
        shown
    }

    fn decoder(&self) -> Decoder<'a> {
        Decoder { types: &self.map.types }
    }

    fn decoded(&mut self, type_id: TypeId, blob: &Blob) -> Json {
        self.value(&self.decoder().value(type_id, blob, 0))
    }

    fn inputs(&mut self, function: &Function, blobs: &[Blob]) -> JsonMap<String, Json> {
        let inputs = function.inputs.iter().zip(blobs);
        inputs.map(|(input, blob)| (input.name.clone(), self.decoded(input.type_id, blob))).collect()
    }

    fn call(&mut self, call: &Call) -> Json {
        let Some(function) = self.map.functions.get(call.function) else { return Json::Null };
        json!({ "function": function.name, "inputs": self.inputs(function, &call.inputs) })
    }

    fn value(&mut self, value: &Value) -> Json {
        match value {
            Value::Integer(value) => integer(*value),
            Value::Float(value) => float(*value),
            Value::Null => Json::Null,
            Value::Pointer { object, offset } => self.pointer(*object, *offset),
            Value::Function(callable) => json!({ "function": callable_name(self.map, *callable) }),
            // The address itself differs from run to run.
            Value::Foreign => json!({ "address": "not an input" }),
            Value::Array(elements) => Json::Array(elements.iter().map(|element| self.value(element)).collect()),
            Value::Record { fields, raw } => {
                let named = fields.iter().map(|field| (field.name.clone(), self.value(&field.value)));
                let mut record: JsonMap<String, Json> = named.collect();
                if let Some(raw) = raw {
                    record.insert("bytes".to_owned(), json!(raw));
                }
                Json::Object(record)
            }
            Value::Opaque => json!({}),
        }
    }

    fn pointer(&mut self, object: usize, offset: u64) -> Json {
        let first = self.expand && self.shown.get(object) == Some(&false);
        let too_deep = self.depth >= DEEPEST_POINTER;
        if first && too_deep {
            self.deferred.push_back(object);
        }
        let Some(target) = self.objects.get(object).filter(|_| first && !too_deep) else {
            return json!({ "object": object, "offset": offset });
        };
        self.shown[object] = true;
        self.depth += 1;
        let mut shown = self.object(object, target, &target.blob);
        self.depth -= 1;
        if offset != 0 {
            shown.insert("offset".to_owned(), json!(offset));
        }
        Json::Object(shown)
    }

    fn object(&mut self, number: usize, object: &Object, blob: &Blob) -> JsonMap<String, Json> {
        let mut shown = JsonMap::new();
        shown.insert("object".to_owned(), json!(number));
        if let Some(stream) = &object.stream {
            shown.insert("stream".to_owned(), json_stream(stream));
            return shown;
        }
        if let Some(text) = self.text(object.element, blob) {
            shown.insert("text".to_owned(), Json::String(text));
        }
        let elements = self.decoder().elements(object, blob);
        let elements = elements.iter().map(|element| self.value(element)).collect();
        shown.insert("elements".to_owned(), Json::Array(elements));
        shown
    }

    /// The characters before the first NUL, where they are all ASCII.
    fn text(&self, element: TypeId, blob: &Blob) -> Option<String> {
        let is_character = |kind: &TypeKind| matches!(kind, TypeKind::Integer { character: true, .. });
        self.map.types.get(element).filter(|element| is_character(&element.kind))?;
        let end = blob.bytes.iter().position(|byte| *byte == 0)?;
        let readable = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        blob.bytes[..end].iter().all(readable).then(|| String::from_utf8_lossy(&blob.bytes[..end]).into_owned())
    }

    fn changed_globals(&mut self, function: &Function, case: &TestCase, observation: &Observation) -> Json {
        let mut changed = JsonMap::new();
        for ((input, before), after) in function.inputs.iter().zip(&case.inputs).zip(&observation.inputs_after) {
            let (InputOrigin::Global, Some(after)) = (input.origin, after) else { continue };
            let after = self.decoder().value(input.type_id, after, 0);
            if !same(&after, &self.decoder().value(input.type_id, before, 0)) {
                changed.insert(input.name.clone(), self.value(&after));
            }
        }
        Json::Object(changed)
    }

    fn changed_objects(&mut self, observation: &Observation) -> Json {
        let mut changed = Vec::new();
        for (number, (object, after)) in self.objects.iter().zip(&observation.objects_after).enumerate() {
            if observation.freed.contains(&number) {
                changed.push(json!({ "object": number, "freed": true }));
                continue;
            }
            let before = Value::Array(self.decoder().elements(object, &object.blob));
            if !same(&before, &Value::Array(self.decoder().elements(object, after))) {
                changed.push(Json::Object(self.object(number, object, after)));
            }
        }
        Json::Array(changed)
    }
}

/// A character for each byte, whatever it is.
fn json_stream(stream: &StreamContents) -> Json {
    let text: String = stream.bytes.iter().map(|byte| char::from(*byte)).collect();
    json!({
        "text": text,
        "reading_fails": stream.reading_fails,
        "at_end": stream.at_end,
        "room": stream.room,
        "closing_fails": stream.closing_fails,
    })
}

/// JSON numbers are 64 bits wide here; wider ones become text rather than lose digits.
fn integer(value: i128) -> Json {
    let number = i64::try_from(value).map(Number::from).or_else(|_| u64::try_from(value).map(Number::from));
    number.map_or_else(|_| Json::String(value.to_string()), Json::Number)
}

fn float(value: FloatValue) -> Json {
    let wide = match value {
        // By way of the decimal form, so that 0.1f reads 0.1.
        FloatValue::Single(value) => value.to_string().parse().unwrap_or(f64::from(value)),
        FloatValue::Double(value) => value,
        FloatValue::Extended { .. } => return Json::String(crate::emit::float_text(value)),
    };
    Number::from_f64(wide).map_or_else(|| Json::String(wide.to_string()), Json::Number)
}
