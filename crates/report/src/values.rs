//! The bytes of a test case as the C values they stand for.

use branchwise_program::types::{Field, Type, TypeKind, TypeTable};
use branchwise_program::{CallableId, TypeId};
use branchwise_replay::{Blob, Object};

use crate::emit::float_text;
use crate::layout::{Leaf, leaves};

/// A C value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Integer(i128),
    Float(FloatValue),
    Null,
    /// Into an object of the test case; the offset in bytes.
    Pointer {
        object: usize,
        offset: u64,
    },
    /// To a function of the map's table.
    Function(CallableId),
    /// Not null and not into an object of the test case.
    Foreign,
    Array(Vec<Value>),
    Record {
        fields: Vec<FieldValue>,
        /// The whole in bytes, where no member of the union shows all of it, or no member of the structure.
        raw: Option<Vec<u8>>,
    },
    /// A type that has no value form.
    Opaque,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FieldValue {
    pub name: String,
    pub type_id: TypeId,
    pub value: Value,
}

/// A floating-point value, by the width of its type.
#[derive(Debug, Copy, Clone, PartialEq)]
pub enum FloatValue {
    Single(f32),
    Double(f64),
    /// x87: sign, exponent and 64-bit significand as they lie in memory.
    Extended {
        significand: u64,
        sign_and_exponent: u16,
    },
}

impl FloatValue {
    /// `==` does not tell it from the other zero.
    pub fn is_negative_zero(self) -> bool {
        match self {
            FloatValue::Single(value) => value.to_bits() == (-0.0f32).to_bits(),
            FloatValue::Double(value) => value.to_bits() == (-0.0f64).to_bits(),
            FloatValue::Extended { significand, sign_and_exponent } => significand == 0 && sign_and_exponent == 0x8000,
        }
    }
}

impl Value {
    /// What `= {0}` gives.
    pub fn is_zero(&self) -> bool {
        match self {
            Value::Integer(value) => *value == 0,
            Value::Float(FloatValue::Single(value)) => value.to_bits() == 0,
            Value::Float(FloatValue::Double(value)) => value.to_bits() == 0,
            Value::Float(FloatValue::Extended { significand, sign_and_exponent }) => {
                *significand == 0 && *sign_and_exponent == 0
            }
            Value::Null => true,
            Value::Pointer { .. } | Value::Function(_) | Value::Foreign => false,
            Value::Array(elements) => elements.iter().all(Value::is_zero),
            Value::Record { fields, raw } => raw.is_none() && fields.iter().all(|field| field.value.is_zero()),
            Value::Opaque => true,
        }
    }
}

/// Reads values of the types of one unit.
#[derive(Debug, Copy, Clone)]
pub struct Decoder<'a> {
    pub types: &'a TypeTable,
}

impl Decoder<'_> {
    /// The value of this type in the blob from byte `at` on.
    pub fn value(&self, type_id: TypeId, blob: &Blob, at: u64) -> Value {
        let Some(of) = self.types.get(type_id) else { return Value::Opaque };
        match &of.kind {
            TypeKind::Integer { .. } | TypeKind::Enumeration { .. } => integer(of, blob, at),
            TypeKind::Float { bits } => float(*bits, of.size, blob, at),
            TypeKind::Pointer { .. } => pointer(of.size, blob, at),
            TypeKind::Array { element, count } => self.array(*element, count.unwrap_or(0), blob, at),
            TypeKind::Record { union: true, fields: Some(fields) } => self.union(of.size, fields, blob, at),
            TypeKind::Record { union: false, fields: Some(fields) } => {
                Value::Record { fields: self.structure(fields, blob, at), raw: self.padded(type_id, of.size, blob, at) }
            }
            _ => Value::Opaque,
        }
    }

    /// The elements of an object; single bytes where the element type has no size.
    pub fn elements(&self, object: &Object, blob: &Blob) -> Vec<Value> {
        let step = self.types.get(object.element).map_or(0, |element| element.size);
        let is_void = self.types.get(object.element).is_none_or(|element| element.kind == TypeKind::Void);
        if step == 0 || is_void {
            return blob.bytes.iter().map(|byte| Value::Integer(i128::from(*byte))).collect();
        }
        (0..object.count).map(|index| self.value(object.element, blob, index * step)).collect()
    }

    fn array(&self, element: TypeId, count: u64, blob: &Blob, at: u64) -> Value {
        let step = self.types.get(element).map_or(0, |element| element.size);
        Value::Array((0..count).map(|index| self.value(element, blob, at + index * step)).collect())
    }

    fn structure(&self, fields: &[Field], blob: &Blob, at: u64) -> Vec<FieldValue> {
        let mut values = Vec::new();
        for field in fields {
            self.field(field, blob, at, &mut values);
        }
        values
    }

    /// All bytes of a structure, where those between its members are not zero. One with pointers has none that a test could
    /// copy.
    fn padded(&self, type_id: TypeId, size: u64, blob: &Blob, at: u64) -> Option<Vec<u8>> {
        let places = at..at + size;
        let pointers = blob.pointers.iter().map(|it| it.at).chain(blob.functions.iter().map(|it| it.at));
        if pointers.into_iter().any(|pointer| places.contains(&pointer)) {
            return None;
        }
        let bytes: Vec<u8> = places.map(|place| byte(blob, place)).collect();
        let mut rest = bytes.clone();
        let mut scalars = Vec::new();
        leaves(self.types, type_id, 0, &mut scalars);
        for leaf in scalars {
            let end = (leaf.at + leaf.size).min(size) as usize;
            rest.get_mut(leaf.at as usize..end).into_iter().flatten().for_each(|byte| *byte = 0);
        }
        rest.iter().any(|&byte| byte != 0).then_some(bytes)
    }

    /// Members of anonymous structures and unions stand beside those of the enclosing one, as C names them.
    fn field(&self, field: &Field, blob: &Blob, at: u64, values: &mut Vec<FieldValue>) {
        let value = match (field.bit_field, self.types.get(field.type_id)) {
            (Some(_), _) if field.name.is_empty() => return,
            (Some(width), Some(of)) => bit_field(of, width, field.offset_bits, blob, at),
            _ => self.value(field.type_id, blob, at + field.offset_bits / 8),
        };
        match value {
            Value::Record { fields, .. } if field.name.is_empty() => values.extend(fields),
            _ if field.name.is_empty() => {}
            value => values.push(FieldValue { name: field.name.clone(), type_id: field.type_id, value }),
        }
    }

    fn union(&self, size: u64, fields: &[Field], blob: &Blob, at: u64) -> Value {
        let chosen = fields.iter().find(|field| self.shows_everything(field, size, blob, at));
        let mut values = Vec::new();
        if let Some(field) = chosen.or(fields.first()) {
            self.field(field, blob, at, &mut values);
        }
        let raw = chosen.is_none().then(|| (0..size).map(|index| byte(blob, at + index)).collect());
        Value::Record { fields: values, raw }
    }

    /// Whether writing this member of a union restores all its bytes that are not zero, and all its pointers.
    fn shows_everything(&self, member: &Field, size: u64, blob: &Blob, at: u64) -> bool {
        let mut scalars: Vec<Leaf> = Vec::new();
        match member.bit_field {
            Some(_) => return (0..size).all(|index| byte(blob, at + index) == 0),
            None => leaves(self.types, member.type_id, at, &mut scalars),
        }
        let shown = |place: u64| scalars.iter().any(|leaf| leaf.at <= place && place < leaf.at + leaf.size);
        let bytes_shown = (at..at + size).all(|place| byte(blob, place) == 0 || shown(place));
        let inside = |place: u64| (at..at + size).contains(&place);
        let objects = blob.pointers.iter().map(|pointer| pointer.at);
        let mut pointers = objects.chain(blob.functions.iter().map(|pointer| pointer.at)).filter(|at| inside(*at));
        bytes_shown && pointers.all(|at| scalars.iter().any(|leaf| leaf.pointer && leaf.at == at))
    }
}

fn byte(blob: &Blob, at: u64) -> u8 {
    usize::try_from(at).ok().and_then(|at| blob.bytes.get(at)).copied().unwrap_or(0)
}

fn unsigned(blob: &Blob, at: u64, size: u64) -> u128 {
    (0..size.min(16)).rev().fold(0, |value, index| value << 8 | u128::from(byte(blob, at + index)))
}

fn integer(of: &Type, blob: &Blob, at: u64) -> Value {
    let (bits, signed) = of.as_integer().unwrap_or((64, false));
    Value::Integer(extend(unsigned(blob, at, of.size), bits, signed))
}

fn bit_field(of: &Type, width: u32, offset_bits: u64, blob: &Blob, at: u64) -> Value {
    let signed = of.as_integer().is_some_and(|(_, signed)| signed);
    let first = offset_bits / 8;
    let size = (offset_bits % 8 + u64::from(width)).div_ceil(8);
    Value::Integer(extend(unsigned(blob, at + first, size) >> (offset_bits % 8), width, signed))
}

fn extend(value: u128, bits: u32, signed: bool) -> i128 {
    let unused = 128 - bits.clamp(1, 128);
    let shifted = value << unused;
    if signed { (shifted as i128) >> unused } else { (shifted >> unused) as i128 }
}

fn float(bits: u32, size: u64, blob: &Blob, at: u64) -> Value {
    match (bits, size) {
        (32, _) => Value::Float(FloatValue::Single(f32::from_bits(unsigned(blob, at, 4) as u32))),
        (64, _) => Value::Float(FloatValue::Double(f64::from_bits(unsigned(blob, at, 8) as u64))),
        (80 | 128, 16) => Value::Float(FloatValue::Extended {
            significand: unsigned(blob, at, 8) as u64,
            sign_and_exponent: unsigned(blob, at + 8, 2) as u16,
        }),
        _ => Value::Opaque,
    }
}

fn pointer(size: u64, blob: &Blob, at: u64) -> Value {
    if let Ok(index) = blob.pointers.binary_search_by_key(&at, |pointer| pointer.at) {
        let pointer = blob.pointers[index];
        return Value::Pointer { object: pointer.object, offset: pointer.offset };
    }
    if let Ok(index) = blob.functions.binary_search_by_key(&at, |pointer| pointer.at) {
        return Value::Function(blob.functions[index].callable);
    }
    if unsigned(blob, at, size) == 0 { Value::Null } else { Value::Foreign }
}

/// Equal as far as a test can tell: a NaN is like another, and of a pointer to a function only its being not null is
/// observed.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Function(_), Value::Foreign) | (Value::Foreign, Value::Function(_)) => true,
        (Value::Float(left), Value::Float(right)) => float_text(*left) == float_text(*right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Record { fields: left, raw: left_raw }, Value::Record { fields: right, raw: right_raw }) => {
            let mut pairs = left.iter().zip(right);
            let equal = pairs.all(|(left, right)| left.name == right.name && same(&left.value, &right.value));
            equal && left_raw == right_raw && left.len() == right.len()
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_keep_their_sign() {
        assert_eq!(extend(0xff, 8, true), -1);
        assert_eq!(extend(0xff, 8, false), 255);
        assert_eq!(extend(0b101, 3, true), -3);
        assert_eq!(extend(u128::MAX, 128, true), -1);
    }
}
