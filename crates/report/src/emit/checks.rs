//! Expectations: what the call was observed to return and to change.

use branchwise_program::TypeId;
use branchwise_program::map::{Function, InputOrigin, Map};
use branchwise_program::types::{TypeKind, TypeTable};
use branchwise_replay::{Blob, Observation, TestCase};

use super::declare::constant_declaration;
use super::dialect::Dialect;
use super::initializer::{Initializers, string};
use super::literal;
use super::names::Names;
use super::needs::{Need, Needs};
use super::objects::{Objects, Shape};
use crate::values::{Decoder, FloatValue, Value, same};

/// With more changed elements, the whole array is compared at once.
const MOST_SINGLE_ELEMENTS: usize = 4;

/// Collects the expectations of one test.
pub struct Checks<'a> {
    map: &'a Map,
    objects: &'a Objects<'a>,
    types: &'a TypeTable,
    names: &'a mut Names,
    dialect: Dialect,
    lines: Vec<String>,
    needs: Needs,
}

impl<'a> Checks<'a> {
    pub fn new(map: &'a Map, objects: &'a Objects<'a>, names: &'a mut Names, dialect: Dialect) -> Self {
        Checks { map, objects, types: &map.types, names, dialect, lines: Vec::new(), needs: Needs::new() }
    }

    /// Expects that an expression equals another one.
    pub fn equal(&mut self, actual: &str, expected: &str) {
        self.lines.push(self.dialect.equal(actual, expected, None));
    }

    pub fn finish(self) -> (Vec<String>, Needs) {
        (self.lines, self.needs)
    }

    /// The globals among the inputs that the call changed.
    pub fn globals(&mut self, function: &Function, case: &TestCase, observation: &Observation) {
        let decoder = Decoder { types: self.types };
        let inputs = function.inputs.iter().zip(&case.inputs).zip(&observation.inputs_after);
        for ((input, before), after) in inputs {
            if let (InputOrigin::Global, Some(after)) = (input.origin, after) {
                let before = decoder.value(input.type_id, before, 0);
                let after = decoder.value(input.type_id, after, 0);
                self.value(&input.name, input.type_id, Some(&before), &after);
            }
        }
    }

    /// The objects that the call changed.
    pub fn objects(&mut self, observation: &Observation) {
        let decoder = Decoder { types: self.types };
        let alive = |(index, _): &(usize, &Blob)| !observation.freed.contains(index);
        for (index, after) in observation.objects_after.iter().enumerate().filter(alive) {
            let (Some(Some(named)), Some(object)) =
                (self.objects.named.get(index), self.objects.case.objects.get(index))
            else {
                continue;
            };
            let before = decoder.elements(object, &object.blob);
            let after = decoder.elements(object, after);
            match (named.shape, before.first(), after.first()) {
                (Shape::Single, Some(before), Some(after)) => {
                    self.value(&named.name, object.element, Some(before), after);
                }
                (Shape::Array, ..) => self.array(&named.name, Some(object.element), Some(&before), &after),
                (Shape::Bytes, ..) => self.array(&named.name, None, Some(&before), &after),
                _ => {}
            }
        }
    }

    /// Expects `after` of an lvalue, as far as it differs from `before`.
    pub fn value(&mut self, lvalue: &str, type_id: TypeId, before: Option<&Value>, after: &Value) {
        match after {
            Value::Array(elements) => {
                let before =
                    before.and_then(|before| if let Value::Array(old) = before { Some(&old[..]) } else { None });
                self.array(lvalue, self.element_type(type_id), before, elements);
            }
            Value::Record { fields, raw: None } => {
                for field in fields {
                    let before = before.and_then(|before| field_of(before, &field.name));
                    self.value(&format!("{lvalue}.{}", field.name), field.type_id, before, &field.value);
                }
            }
            // A union that no member shows in full: its bytes may hold padding, so nothing can be expected of them.
            Value::Record { raw: Some(_), .. } | Value::Opaque => {}
            _ if before.is_some_and(|before| same(before, after)) => {}
            scalar => self.scalar(lvalue, type_id, scalar),
        }
    }

    fn scalar(&mut self, lvalue: &str, type_id: TypeId, after: &Value) {
        let line = match after {
            Value::Float(number) if is_nan(*number) => {
                self.needs.insert(Need::IsNan);
                self.dialect.holds(&format!("branchwise_is_nan({lvalue})"))
            }
            Value::Float(number) if number.is_negative_zero() => {
                self.needs.insert(Need::IsNegativeZero);
                self.dialect.holds(&format!("branchwise_is_negative_zero({lvalue})"))
            }
            Value::Foreign => {
                let null = self.text(|writer| writer.null());
                self.dialect.holds(&format!("{lvalue} != {null}"))
            }
            _ => {
                let text = self.text(|writer| writer.value(type_id, after, lvalue));
                self.dialect.equal(lvalue, &text, self.types.get(type_id))
            }
        };
        self.lines.push(line);
    }

    fn array(&mut self, lvalue: &str, element: Option<TypeId>, before: Option<&[Value]>, after: &[Value]) {
        let old = |index: usize| before.and_then(|before| before.get(index));
        let differs = |index: usize| old(index).is_none_or(|before| !same(before, &after[index]));
        let changed: Vec<usize> = (0..after.len()).filter(|index| differs(*index)).collect();
        if changed.is_empty() || self.string(lvalue, element, &changed, after) {
            return;
        }
        if changed.len() > MOST_SINGLE_ELEMENTS && self.comparable_as_bytes(element) {
            return self.whole_array(lvalue, element, after);
        }
        for index in changed {
            let lvalue = format!("{lvalue}[{index}]");
            match (element, &after[index]) {
                (Some(element), value) => self.value(&lvalue, element, old(index), value),
                (None, Value::Integer(byte)) => self.lines.push(self.dialect.equal(&lvalue, &byte.to_string(), None)),
                (None, _) => {}
            }
        }
    }

    /// Text that ends with the last character changed is compared as text.
    fn string(&mut self, lvalue: &str, element: Option<TypeId>, changed: &[usize], after: &[Value]) -> bool {
        let Some(of) = element.and_then(|element| self.types.get(element)) else { return false };
        let Some(end) = after.iter().position(Value::is_zero) else { return false };
        let last_changed = changed.last().copied().unwrap_or(0);
        // The comparison takes plain characters only; what lies behind the end must be as it was.
        if of.spelling != "char" || last_changed > end {
            return false;
        }
        let Some(text) = string(of, &after[..=end]) else { return false };
        self.needs.insert(Need::SameText);
        self.lines.push(self.dialect.holds(&format!("branchwise_same_text({lvalue}, {text})")));
        true
    }

    fn whole_array(&mut self, lvalue: &str, element: Option<TypeId>, after: &[Value]) {
        let expected = self.names.fresh(&format!("{lvalue}_after"));
        let sized = format!("{expected}[{}]", after.len());
        let text = self.text(|writer| writer.array(element, after, lvalue));
        let declared = match element {
            Some(element) => constant_declaration(self.types, element, &sized),
            None => format!("const unsigned char {sized}"),
        };
        self.needs.insert(Need::SameBytes);
        self.lines.push(format!("{declared} = {text};"));
        let same = format!("branchwise_same_bytes({lvalue}, {expected}, sizeof {expected})");
        self.lines.push(self.dialect.holds(&same));
    }

    /// No padding, no pointers, and equal values have equal bytes.
    fn comparable_as_bytes(&self, element: Option<TypeId>) -> bool {
        let Some(element) = element else { return true };
        self.types.get(element).is_some_and(|of| of.as_integer().is_some())
    }

    fn text(&mut self, write: impl FnOnce(&mut Initializers) -> String) -> String {
        let objects = self.objects;
        let mut pointer =
            |type_id: TypeId, object: usize, offset: u64, _: &str| objects.address(type_id, object, offset);
        let mut writer = Initializers::new(self.map, &mut pointer);
        let text = write(&mut writer);
        let (needs, _) = writer.finish();
        self.needs.extend(needs);
        text
    }

    fn element_type(&self, type_id: TypeId) -> Option<TypeId> {
        match self.types.get(type_id)?.kind {
            TypeKind::Array { element, .. } => Some(element),
            _ => None,
        }
    }
}

fn field_of<'v>(record: &'v Value, name: &str) -> Option<&'v Value> {
    let Value::Record { fields, raw: None } = record else { return None };
    fields.iter().find(|field| field.name == name).map(|field| &field.value)
}

fn is_nan(number: FloatValue) -> bool {
    literal::float(number) == "NAN"
}
