//! What objects of C++ show after a call, as expectations.

use branchwise_program::usage::{Observer, RESULT, Shown};
use branchwise_replay::Blob;

use super::body::Writer;
use super::literal;
use crate::values::{Decoder, Value};

/// Longer lists tell a reader nothing.
const MOST_ELEMENTS: u64 = 16;

/// What an observer showed.
pub enum Seen {
    Value(Value),
    /// An expression for the same.
    Text(String),
}

/// The parts of what was shown, as they come.
struct Parts<'p> {
    rest: std::slice::Iter<'p, Vec<u8>>,
}

impl<'p> Parts<'p> {
    fn next(&mut self) -> Option<&'p [u8]> {
        self.rest.next().map(Vec::as_slice)
    }

    fn count(&mut self) -> Option<u64> {
        let bytes: [u8; 8] = self.next()?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes)).filter(|count| *count <= MOST_ELEMENTS)
    }
}

impl Writer<'_> {
    /// What each observer of the call showed, where its object is there and tests can write it.
    pub fn seen<'o>(&mut self, observers: &'o [Observer]) -> Vec<(&'o Observer, Seen)> {
        let mut seen = Vec::new();
        for (number, observer) in observers.iter().enumerate() {
            let Some(parts) = self.state.remove(&number) else { continue };
            let mut parts = Parts { rest: parts.iter() };
            let shown = match &observer.shown {
                Shown::Value(type_id) => parts.next().map(|bytes| {
                    let blob = Blob::of_bytes(bytes.to_vec());
                    Seen::Value(Decoder { types: &self.map.types }.value(*type_id, &blob, 0))
                }),
                shown => self.written(shown, &mut parts, true).map(Seen::Text),
            };
            seen.extend(shown.map(|shown| (observer, shown)));
        }
        seen
    }

    /// An expression for what was shown; `named`: with its class, as nothing around it says it.
    fn written(&mut self, shown: &Shown, parts: &mut Parts<'_>, named: bool) -> Option<String> {
        let class_of = |class: &str| if named { class.to_owned() } else { String::new() };
        match shown {
            Shown::Value(type_id) => {
                let blob = Blob::of_bytes(parts.next()?.to_vec());
                let value = Decoder { types: &self.map.types }.value(*type_id, &blob, 0);
                let special = matches!(value, Value::Float(number) if number.is_negative_zero() || literal::float(number) == "NAN");
                (!special).then(|| self.initializer(*type_id, &value, ""))
            }
            Shown::Text => parts.next().map(text),
            Shown::Sequence { class, element } => {
                let count = parts.count()?;
                let elements: Vec<String> =
                    (0..count).map(|_| self.written(element, parts, false)).collect::<Option<_>>()?;
                let list = format!("{{{}}}", elements.join(", "));
                // An array is a list in a structure.
                let list = if class.starts_with("std::array") { format!("{{{list}}}") } else { list };
                Some(class_of(class) + &list)
            }
            Shown::Optional { class, value } => match parts.next()? {
                [0] => Some("std::nullopt".to_owned()),
                _ => Some(format!("{class}({})", self.written(value, parts, true)?)),
            },
            Shown::Parts { class, parts: all } => {
                let texts: Vec<String> =
                    all.iter().map(|part| self.written(part, parts, named)).collect::<Option<_>>()?;
                Some(format!("{}{{{}}}", class_of(class), texts.join(", ")))
            }
        }
    }
}

/// Whether it shows the whole result.
pub fn is_of_result(observer: &Observer) -> bool {
    observer.text == RESULT
}

/// A string as an expression: null characters need the length.
fn text(bytes: &[u8]) -> String {
    match bytes {
        [] => "\"\"".to_owned(),
        _ if bytes.contains(&0) => format!("std::string({}, {})", literal::bytes(bytes), bytes.len()),
        _ => literal::bytes(bytes),
    }
}
