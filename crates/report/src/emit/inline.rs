//! A call with its inputs on one line, for messages.

use branchwise_program::TypeId;
use branchwise_program::map::{InputOrigin, Map};
use branchwise_program::types::TypeTable;
use branchwise_replay::TestCase;

use super::initializer::Initializers;
use crate::values::{Decoder, Value};

/// Longer inputs are cut.
const LONGEST: usize = 200;

/// Objects behind objects behind objects are not shown.
const DEEPEST: usize = 3;

/// `find(key = 3, table = {1, 2})`
pub fn input_line(map: &Map, case: &TestCase) -> String {
    let Some(function) = map.functions.get(case.function) else { return String::new() };
    let decoder = Decoder { types: &map.types };
    let text = |origin_is: fn(InputOrigin) -> bool| {
        let inputs = function.inputs.iter().zip(&case.inputs).filter(|(input, _)| origin_is(input.origin));
        let named = inputs.map(|(input, blob)| {
            let value = decoder.value(input.type_id, blob, 0);
            format!("{} = {}", input.name, value_text(&map.types, case, input.type_id, &value, 0))
        });
        named.collect::<Vec<_>>().join(", ")
    };
    let globals = text(|origin| origin == InputOrigin::Global);
    let parameters = text(|origin| origin != InputOrigin::Global);
    let globals = if globals.is_empty() { globals } else { format!(" and {globals}") };
    shortened(format!("{}({parameters}){globals}", function.name))
}

fn value_text(types: &TypeTable, case: &TestCase, type_id: TypeId, value: &Value, depth: usize) -> String {
    let mut pointer = |_: TypeId, object: usize, offset: u64, _: &str| object_text(types, case, object, offset, depth);
    Initializers::new(types, &mut pointer).value(type_id, value, "")
}

fn object_text(types: &TypeTable, case: &TestCase, object: usize, offset: u64, depth: usize) -> String {
    let behind = if offset == 0 { String::new() } else { format!(" + {offset} bytes") };
    let Some(target) = case.objects.get(object).filter(|_| depth < DEEPEST) else { return format!("...{behind}") };
    let elements = Decoder { types }.elements(target, &target.blob);
    let element = types.get(target.element).filter(|element| element.size > 0).map(|_| target.element);
    let mut pointer =
        |_: TypeId, object: usize, offset: u64, _: &str| object_text(types, case, object, offset, depth + 1);
    let mut writer = Initializers::new(types, &mut pointer);
    let text = match (element, elements.as_slice()) {
        (Some(element), [single]) => format!("&{}", writer.value(element, single, "")),
        _ => writer.array(element, &elements, ""),
    };
    text + &behind
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
