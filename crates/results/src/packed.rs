//! Long runs of equal elements, written once. A buffer of a thousand zeros in each of a hundred tests would else be most of
//! a report.

use serde_json::{Map, Value, json};

use crate::FunctionFile;

/// Shorter runs stay as they are, because people read them.
const LEAST_RUN: usize = 8;

/// No array of a test is longer; a file that says so is not believed.
const MOST_TIMES: u64 = 1 << 24;

/// No name in C or C++ has parentheses.
const TIMES: &str = "(times)";
const VALUE: &str = "(value)";

/// Writes runs of equal elements in all inputs and results once.
pub(crate) fn pack(file: &mut FunctionFile) {
    change(file, packed);
}

/// Undoes [`pack`].
pub(crate) fn unpack(file: &mut FunctionFile) {
    change(file, unpacked);
}

fn change(file: &mut FunctionFile, how: fn(Value) -> Value) {
    for test in &mut file.function.tests {
        change_entries(&mut test.inputs, how);
        change_entries(&mut test.observed, how);
    }
    for finding in &mut file.findings {
        change_entries(&mut finding.inputs, how);
        finding.observed.iter_mut().for_each(|observed| change_entries(observed, how));
    }
}

fn change_entries(entries: &mut Map<String, Value>, how: fn(Value) -> Value) {
    for value in entries.values_mut() {
        *value = how(value.take());
    }
}

fn packed(value: Value) -> Value {
    match value {
        Value::Array(elements) => Value::Array(packed_elements(elements)),
        Value::Object(mut entries) => {
            change_entries(&mut entries, packed);
            Value::Object(entries)
        }
        other => other,
    }
}

fn packed_elements(elements: Vec<Value>) -> Vec<Value> {
    let mut packed_elements = Vec::new();
    for run in elements.chunk_by(is_same) {
        let element = packed(run[0].clone());
        // An element that looks like a run would be taken for one.
        if run.len() >= LEAST_RUN || run_of(&element).is_some() {
            packed_elements.push(json!({ TIMES: run.len(), VALUE: element }));
        } else {
            packed_elements.extend(run.iter().map(|_| element.clone()));
        }
    }
    packed_elements
}

/// Tells whether two values have the same text. Minus zero equals zero, and is not the same.
fn is_same(left: &Value, right: &Value) -> bool {
    left == right && text(left) == text(right)
}

fn text(value: &Value) -> String {
    value.to_string()
}

/// Returns how often an element stands for which one.
fn run_of(element: &Value) -> Option<(usize, &Value)> {
    let entries = element.as_object().filter(|entries| entries.len() == 2)?;
    let times = entries.get(TIMES)?.as_u64().filter(|times| *times <= MOST_TIMES)?;
    Some((usize::try_from(times).ok()?, entries.get(VALUE)?))
}

fn unpacked(value: Value) -> Value {
    match value {
        Value::Array(elements) => Value::Array(elements.into_iter().flat_map(unpacked_element).collect()),
        Value::Object(mut entries) => {
            change_entries(&mut entries, unpacked);
            Value::Object(entries)
        }
        other => other,
    }
}

fn unpacked_element(element: Value) -> Vec<Value> {
    match run_of(&element) {
        Some((times, value)) => vec![unpacked(value.clone()); times],
        None => vec![unpacked(element)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_written_once_and_comes_back() {
        let pair = json!({ "a": 0, "b": [0, 0] });
        let text = json!([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, vec![pair.clone(); 573]]);
        let short = packed(text.clone());
        assert_eq!(short, json!([1, { TIMES: 9, VALUE: 0 }, 2, [{ TIMES: 573, VALUE: pair }]]));
        assert_eq!(unpacked(short), text);
    }

    #[test]
    fn runs_within_runs_and_what_looks_like_one_come_back() {
        let row = json!(vec![0; 20]);
        let odd = json!({ TIMES: 3, VALUE: 7 });
        let values = [json!(vec![row; 20]), json!([odd]), json!(vec![odd.clone(); 10]), json!({ "x": [odd] }), odd];
        for value in values {
            assert_eq!(unpacked(packed(value.clone())), value);
        }
    }

    #[test]
    fn signs_of_zero_and_order_of_keys_are_kept() {
        let zeros = Value::from([0.0, -0.0].repeat(8));
        assert_eq!(unpacked(packed(zeros.clone())).to_string(), zeros.to_string());
        let objects: Vec<Value> =
            (0..20).map(|n| if n == 9 { json!({"b": 1, "a": 2}) } else { json!({"a": 2, "b": 1}) }).collect();
        let objects = Value::from(objects);
        assert_eq!(unpacked(packed(objects.clone())).to_string(), objects.to_string());
    }

    #[test]
    fn a_length_that_cannot_be_is_left_alone() {
        let bomb = json!([{ TIMES: 1_u64 << 60, VALUE: 0 }]);
        assert_eq!(unpacked(bomb.clone()), bomb);
    }
}
