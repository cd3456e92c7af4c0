//! Initialisers: braces, designators, strings.

use branchwise_program::TypeId;
use branchwise_program::map::Map;
use branchwise_program::types::{Type, TypeKind, TypeTable};

use super::literal;
use super::needs::{Need, Needs};
use super::stubs::callable_name;
use crate::values::{FieldValue, Value};

/// Shorter runs of zeros are written out.
const ZEROS_WORTH_A_DESIGNATOR: usize = 8;

/// The C expression for a pointer: its type, the object, the byte offset, and the lvalue that shall hold it.
pub type PointerText<'a> = dyn FnMut(TypeId, usize, u64, &str) -> String + 'a;

/// Writes values of one unit. Pointers are the caller's: it knows the names of the objects.
pub struct Initializers<'a> {
    map: &'a Map,
    types: &'a TypeTable,
    pointer: &'a mut PointerText<'a>,
    needs: Needs,
    raw: Vec<RawBytes>,
}

/// Bytes that no initialiser can give: the lvalue and what to copy there.
pub type RawBytes = (String, Vec<u8>);

impl<'a> Initializers<'a> {
    pub fn new(map: &'a Map, pointer: &'a mut PointerText<'a>) -> Self {
        Initializers { map, types: &map.types, pointer, needs: Needs::new(), raw: Vec::new() }
    }

    /// What the values need, and what must be copied after the declarations.
    pub fn finish(self) -> (Needs, Vec<RawBytes>) {
        (self.needs, self.raw)
    }

    /// The initialiser, or scalar expression, of a value that is held by `lvalue`.
    pub fn value(&mut self, type_id: TypeId, value: &Value, lvalue: &str) -> String {
        match value {
            Value::Integer(number) => self.integer(type_id, *number),
            Value::Float(number) => self.float(literal::float(*number)),
            Value::Null => self.null(),
            Value::Pointer { object, offset } => (self.pointer)(type_id, *object, *offset, lvalue),
            Value::Function(callable) => callable_name(self.map, *callable),
            // Tests are built from inputs, which never hold foreign addresses.
            Value::Foreign => self.null(),
            Value::Array(elements) => self.array(self.element_type(type_id), elements, lvalue),
            Value::Record { fields, raw } => self.record(fields, raw.as_deref(), lvalue),
            Value::Opaque => self.zeros(),
        }
    }

    /// The elements of an array, or of an object that is declared as one. `None` as element type: bytes.
    pub fn array(&mut self, element: Option<TypeId>, values: &[Value], lvalue: &str) -> String {
        let of = element.and_then(|element| self.types.get(element));
        if let Some(text) = of.and_then(|of| string(of, values)) {
            return text;
        }
        let used = values.len() - values.iter().rev().take_while(|value| value.is_zero()).count();
        if used == 0 {
            return self.zeros();
        }
        let mut written = Vec::new();
        let mut zeros = 0;
        for (index, value) in values[..used].iter().enumerate() {
            if value.is_zero() {
                zeros += 1;
                continue;
            }
            let zero_element = |writer: &mut Self| writer.element(element, &values[index - 1], lvalue, index - 1);
            let designated = zeros >= ZEROS_WORTH_A_DESIGNATOR && !self.map.is_cpp();
            if !designated {
                for _ in 0..zeros {
                    written.push(zero_element(self));
                }
            }
            zeros = 0;
            let text = self.element(element, value, lvalue, index);
            written.push(if designated { format!("[{index}] = {text}") } else { text });
        }
        // The null pointer that ends a list of pointers is part of the list.
        if values.get(used) == Some(&Value::Null) {
            written.push(self.null());
        }
        format!("{{{}}}", written.join(", "))
    }

    fn element(&mut self, element: Option<TypeId>, value: &Value, lvalue: &str, index: usize) -> String {
        match element {
            Some(element) => self.value(element, value, &format!("{lvalue}[{index}]")),
            None => match value {
                Value::Integer(byte) => byte.to_string(),
                _ => "0".to_owned(),
            },
        }
    }

    fn record(&mut self, fields: &[FieldValue], raw: Option<&[u8]>, lvalue: &str) -> String {
        if let Some(raw) = raw {
            self.needs.insert(Need::Copy);
            self.raw.push((lvalue.to_owned(), raw.to_vec()));
            return self.zeros();
        }
        if fields.iter().all(|field| field.value.is_zero()) {
            return self.zeros();
        }
        // Zero scalars are shown, so that a reader need not know the structure; zero aggregates only take up room. In C++
        // the compiler warns of every member that is left out.
        let all = self.map.is_cpp();
        let aggregate = |value: &Value| matches!(value, Value::Array(_) | Value::Record { .. } | Value::Opaque);
        let shown = fields.iter().filter(|field| all || !(aggregate(&field.value) && field.value.is_zero()));
        let shown: Vec<String> = shown.map(|field| self.field(field, lvalue)).collect();
        format!("{{ {} }}", shown.join(", "))
    }

    /// What makes everything zero.
    fn zeros(&self) -> String {
        if self.map.is_cpp() { "{}" } else { "{0}" }.to_owned()
    }

    fn field(&mut self, field: &FieldValue, lvalue: &str) -> String {
        let text = self.value(field.type_id, &field.value, &format!("{lvalue}.{}", field.name));
        format!(".{} = {text}", field.name)
    }

    pub fn integer(&mut self, type_id: TypeId, number: i128) -> String {
        let text = self.types.get(type_id).map_or_else(|| number.to_string(), |of| literal::integer(of, number));
        if text.ends_with("_MAX") || text.ends_with("_MIN") {
            self.needs.insert(Need::Limits);
        }
        text
    }

    pub fn float(&mut self, text: String) -> String {
        if text.ends_with("NAN") || text.ends_with("INFINITY") {
            self.needs.insert(Need::SpecialFloats);
        }
        text
    }

    pub fn null(&mut self) -> String {
        if self.map.is_cpp() {
            return "nullptr".to_owned();
        }
        self.needs.insert(Need::StandardDefinitions);
        "NULL".to_owned()
    }

    fn element_type(&self, type_id: TypeId) -> Option<TypeId> {
        match self.types.get(type_id)?.kind {
            TypeKind::Array { element, .. } => Some(element),
            _ => None,
        }
    }
}

/// A string literal for characters that are a readable string, a NUL, and zeros to the end.
pub fn string(element: &Type, values: &[Value]) -> Option<String> {
    let TypeKind::Integer { character: true, .. } = element.kind else { return None };
    let byte = |value: &Value| match value {
        Value::Integer(byte) => Some(*byte as u8),
        _ => None,
    };
    let bytes: Vec<u8> = values.iter().map(byte).collect::<Option<_>>()?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    // Bytes that happen to be empty are more likely numbers than text.
    let is_text = element.spelling == "char" || end > 0;
    (is_text && bytes[end..].iter().all(|byte| *byte == 0)).then(|| literal::string(&bytes[..end]))?
}
