//! Inputs and outputs of a test as JSON values that read like the C values.

use branchwise_program::TypeId;
use branchwise_program::map::{Function, InputOrigin};
use branchwise_program::types::TypeKind;
use branchwise_replay::{Blob, NativeEnd, Object, Observation, TestCase};
use serde_json::{Map as JsonMap, Number, Value as Json, json};

use crate::emit::signal_name;
use crate::values::{Decoder, FloatValue, Value, same};

/// The inputs by name. A pointer shows its object where it is first met and refers to it by number afterwards.
pub fn inputs(decoder: Decoder, function: &Function, case: &TestCase) -> Json {
    let mut writer = Writer { decoder, objects: &case.objects, shown: vec![false; case.objects.len()], expand: true };
    let mut named = JsonMap::new();
    for (input, blob) in function.inputs.iter().zip(&case.inputs) {
        let value = writer.value(&decoder.value(input.type_id, blob, 0));
        named.insert(input.name.clone(), value);
    }
    if !case.stdin.is_empty() {
        named.insert("stdin".to_owned(), Json::String(text_of(&case.stdin)));
    }
    Json::Object(named)
}

/// One character for each byte: what is not ASCII has the number of its byte.
fn text_of(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// How the call ended, its result, and what it changed.
pub fn observed(decoder: Decoder, function: &Function, case: &TestCase, observation: &Observation) -> Json {
    let mut writer = Writer { decoder, objects: &case.objects, shown: Vec::new(), expand: false };
    let mut observed = end(observation.end);
    if let Some(blob) = &observation.result {
        observed.insert("result".to_owned(), writer.value(&decoder.value(function.result, blob, 0)));
    }
    observed.insert("changed_globals".to_owned(), writer.changed_globals(function, case, observation));
    observed.insert("changed_objects".to_owned(), writer.changed_objects(observation));
    if observation.truncated {
        observed.insert("trace_truncated".to_owned(), Json::Bool(true));
    }
    Json::Object(observed)
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
    decoder: Decoder<'a>,
    objects: &'a [Object],
    shown: Vec<bool>,
    /// Show an object where the first pointer to it stands.
    expand: bool,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> Json {
        match value {
            Value::Integer(value) => integer(*value),
            Value::Float(value) => float(*value),
            Value::Null => Json::Null,
            Value::Pointer { object, offset } => self.pointer(*object, *offset),
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
        let Some(target) = self.objects.get(object).filter(|_| first) else {
            return json!({ "object": object, "offset": offset });
        };
        self.shown[object] = true;
        let mut shown = self.object(object, target, &target.blob);
        if offset != 0 {
            shown.insert("offset".to_owned(), json!(offset));
        }
        Json::Object(shown)
    }

    fn object(&mut self, number: usize, object: &Object, blob: &Blob) -> JsonMap<String, Json> {
        let mut shown = JsonMap::new();
        shown.insert("object".to_owned(), json!(number));
        if let Some(text) = self.text(object.element, blob) {
            shown.insert("text".to_owned(), Json::String(text));
        }
        let elements = self.decoder.elements(object, blob);
        let elements = elements.iter().map(|element| self.value(element)).collect();
        shown.insert("elements".to_owned(), Json::Array(elements));
        shown
    }

    /// The characters before the first NUL, where they are all ASCII.
    fn text(&self, element: TypeId, blob: &Blob) -> Option<String> {
        let is_character = |kind: &TypeKind| matches!(kind, TypeKind::Integer { character: true, .. });
        self.decoder.types.get(element).filter(|element| is_character(&element.kind))?;
        let end = blob.bytes.iter().position(|byte| *byte == 0)?;
        let readable = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        blob.bytes[..end].iter().all(readable).then(|| String::from_utf8_lossy(&blob.bytes[..end]).into_owned())
    }

    fn changed_globals(&mut self, function: &Function, case: &TestCase, observation: &Observation) -> Json {
        let mut changed = JsonMap::new();
        for ((input, before), after) in function.inputs.iter().zip(&case.inputs).zip(&observation.inputs_after) {
            let (InputOrigin::Global, Some(after)) = (input.origin, after) else { continue };
            let after = self.decoder.value(input.type_id, after, 0);
            if !same(&after, &self.decoder.value(input.type_id, before, 0)) {
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
            let before = Value::Array(self.decoder.elements(object, &object.blob));
            if !same(&before, &Value::Array(self.decoder.elements(object, after))) {
                changed.push(Json::Object(self.object(number, object, after)));
            }
        }
        Json::Array(changed)
    }
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
