//! A call with its inputs on one line, for messages.

use branchwise_program::map::{Feed, FeedOrigin, InputOrigin, Map};
use branchwise_program::{FunctionId, TypeId};
use branchwise_replay::{Blob, StreamContents, TestCase};

use super::body::made;
use super::initializer::Initializers;
use super::literal::{hexadecimal, lines_of_text};
use crate::values::{Decoder, Value};

/// Longer inputs are cut.
const LONGEST: usize = 200;

/// Objects behind objects behind objects are not shown.
const DEEPEST: usize = 3;

/// `find(key = 3, table = {1, 2})`, after the calls that come first and before what else the test gives.
pub fn input_line(map: &Map, case: &TestCase) -> String {
    let mut calls: Vec<String> =
        case.before.iter().map(|call| call_text(map, case, call.function, &call.inputs)).collect();
    let made = made(map, case);
    calls.push(made.unwrap_or_else(|| call_text(map, case, case.function, &case.inputs)));
    let mut given = Vec::new();
    let shown = |feed: &Feed, blobs: &[Blob]| !blobs.is_empty() && feed.origin != FeedOrigin::Object;
    for (feed, blobs) in map.feeds.values().zip(&case.feeds).filter(|(feed, blobs)| shown(feed, blobs)) {
        let values = blobs.iter().map(|blob| blob_text(map, case, feed.type_id, blob));
        given.push(format!("{} = {}", feed.name, values.collect::<Vec<_>>().join(", ")));
    }
    if !case.stdin.is_empty() {
        given.push(format!("standard input {}", lines_of_text(&case.stdin).join(" ")));
    }
    for register in &case.registers {
        let name = format!("{:#x}", register.address);
        if !register.holds.is_empty() {
            given.push(format!("memory at {name} = {}", number_text(&register.holds)));
        }
        if !register.reads.is_empty() {
            let values: Vec<String> = register.reads.iter().map(|value| number_text(value)).collect();
            given.push(format!("register {name} = {}", values.join(", ")));
        }
    }
    let given = if given.is_empty() { String::new() } else { format!(", given {}", given.join("; ")) };
    shortened(calls.join(", then ") + &given)
}

fn number_text(bytes: &[u8]) -> String {
    hexadecimal(bytes.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn call_text(map: &Map, case: &TestCase, function: FunctionId, blobs: &[Blob]) -> String {
    let Some(function) = map.functions.get(function) else { return String::new() };
    let text = |origin_is: fn(InputOrigin) -> bool| {
        let inputs = function.inputs.iter().zip(blobs).filter(|(input, _)| origin_is(input.origin));
        let named =
            inputs.map(|(input, blob)| format!("{} = {}", input.name, blob_text(map, case, input.type_id, blob)));
        named.collect::<Vec<_>>().join(", ")
    };
    let globals = text(|origin| origin == InputOrigin::Global);
    let parameters = text(|origin| origin != InputOrigin::Global);
    let globals = if globals.is_empty() { globals } else { format!(" and {globals}") };
    format!("{}({parameters}){globals}", function.name)
}

fn blob_text(map: &Map, case: &TestCase, type_id: TypeId, blob: &Blob) -> String {
    let value = Decoder { types: &map.types }.value(type_id, blob, 0);
    value_text(map, case, type_id, &value, 0)
}

fn value_text(map: &Map, case: &TestCase, type_id: TypeId, value: &Value, depth: usize) -> String {
    let mut pointer = |_: TypeId, object: usize, offset: u64, _: &str| object_text(map, case, object, offset, depth);
    Initializers::new(map, &mut pointer).value(type_id, value, "")
}

fn object_text(map: &Map, case: &TestCase, object: usize, offset: u64, depth: usize) -> String {
    let behind = if offset == 0 { String::new() } else { format!(" + {offset} bytes") };
    let Some(target) = case.objects.get(object).filter(|_| depth < DEEPEST) else { return format!("...{behind}") };
    if let Some(stream) = &target.stream {
        return stream_text(stream);
    }
    let elements = Decoder { types: &map.types }.elements(target, &target.blob);
    let element = map.types.get(target.element).filter(|element| element.size > 0).map(|_| target.element);
    let mut pointer =
        |_: TypeId, object: usize, offset: u64, _: &str| object_text(map, case, object, offset, depth + 1);
    let mut writer = Initializers::new(map, &mut pointer);
    let text = match (element, elements.as_slice()) {
        (Some(element), [single]) => format!("&{}", writer.value(element, single, "")),
        _ => writer.array(element, &elements, ""),
    };
    text + &behind
}

/// `a stream of "12\n" that fails at its end`
fn stream_text(stream: &StreamContents) -> String {
    let mut text = format!("a stream of {}", lines_of_text(&stream.bytes).join(" "));
    let ends = [
        (stream.reading_fails, " that fails at its end".to_owned()),
        (stream.at_end, " that was read".to_owned()),
        (stream.room.is_some(), format!(" with room for {} bytes", stream.room.unwrap_or(0))),
        (stream.closing_fails, " that cannot be closed".to_owned()),
    ];
    text.extend(ends.into_iter().filter(|(set, _)| *set).map(|(_, end)| end));
    text
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
