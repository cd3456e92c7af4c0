//! Which objects a program may access as another type: where two pointers of different types may lead to one object.

use serde::{Deserialize, Serialize};

use crate::TypeId;
use crate::types::{Type, TypeKind, TypeTable};

/// The rules that the compiler was told to go by.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aliasing {
    /// An object of C is accessed as its own type, with the other sign, or as characters.
    #[default]
    C,
    /// The same in C++, where an enumeration is no integer.
    Cpp,
    /// Any object may be accessed as any type (`-fno-strict-aliasing`, `may_alias`).
    Any,
}

/// An object: elements of one type.
#[derive(Debug, Copy, Clone)]
pub struct Extent {
    pub element: TypeId,
    pub element_size: u64,
    /// Bytes of all elements.
    pub size: u64,
}

impl Extent {
    fn one(types: &TypeTable, element: TypeId) -> Extent {
        let size = types[element].size;
        Extent { element, element_size: size, size }
    }
}

impl Aliasing {
    /// Where in an object something may be accessed as an `inner`, in bytes from its start, in order; of more than `most`
    /// places `most + 1`.
    pub fn places(self, types: &TypeTable, outer: Extent, inner: TypeId, most: usize) -> Vec<u64> {
        let mut found = Vec::new();
        if self == Aliasing::Any || self.is_bytes(&types[inner]) {
            found.extend(aligned(outer.size, &types[inner]).take(most + 1));
            return found;
        }
        for start in (0..outer.size).step_by(outer.element_size.max(1) as usize) {
            self.members(types, outer.element, inner, start, &mut Found { places: &mut found, most });
        }
        // Members of a union begin at the same place.
        found.sort_unstable();
        found.dedup();
        found.truncate(most + 1);
        found
    }

    /// Tells whether an object of one type may hold something that is accessed as the other.
    pub fn may_share(self, types: &TypeTable, left: TypeId, right: TypeId) -> bool {
        let holds = |outer, inner| !self.places(types, Extent::one(types, outer), inner, 0).is_empty();
        // A stream is an object of the C library, of which no other pointer knows.
        if [left, right].iter().any(|id| types[*id].kind == TypeKind::Stream) {
            return left == right;
        }
        let any = [left, right].iter().any(|id| self == Aliasing::Any || self.is_bytes(&types[*id]));
        any || holds(left, right) || holds(right, left)
    }

    /// Tells whether accesses as an `inner` may go from one element of an object to the next.
    pub fn goes_on(self, types: &TypeTable, outer: TypeId, inner: TypeId) -> bool {
        self == Aliasing::Any || self.is_bytes(&types[inner]) || self.is_same(types, outer, inner)
    }

    /// Tells whether one object may be accessed as either type, where neither is a part of the other.
    pub fn is_same(self, types: &TypeTable, left: TypeId, right: TypeId) -> bool {
        let (left, right) = (&types[left], &types[right]);
        if left == right {
            return true;
        }
        if left.size != right.size {
            return false;
        }
        match (&left.kind, &right.kind) {
            (TypeKind::Integer { .. }, TypeKind::Integer { .. }) => {
                without_sign(&left.spelling) == without_sign(&right.spelling)
            }
            (TypeKind::Enumeration { .. }, TypeKind::Integer { bits, .. })
            | (TypeKind::Integer { bits, .. }, TypeKind::Enumeration { .. }) => {
                // The compiler takes the narrowest type from `int` on, or another where it is told to.
                self == Aliasing::C && *bits > 1
            }
            (TypeKind::Pointer { target: left, .. }, TypeKind::Pointer { target: right, .. }) => left == right,
            _ => false,
        }
    }

    /// Accesses to characters reach into every object.
    fn is_bytes(self, of: &Type) -> bool {
        match &of.kind {
            TypeKind::Void => true,
            TypeKind::Integer { character, .. } => {
                *character && (self != Aliasing::Cpp || of.spelling != "signed char")
            }
            TypeKind::Enumeration { .. } => of.spelling == "std::byte",
            _ => false,
        }
    }

    fn members(self, types: &TypeTable, outer: TypeId, inner: TypeId, at: u64, found: &mut Found<'_>) {
        if found.is_full() {
            return;
        }
        if outer == inner || self.is_same(types, outer, inner) {
            return found.places.push(at);
        }
        match &types[outer].kind {
            TypeKind::Array { element, count } => {
                let starts = (0..count.unwrap_or(0)).map(|index| at + index * types[*element].size);
                starts.for_each(|start| self.members(types, *element, inner, start, found));
            }
            TypeKind::Record { fields: Some(fields), .. } => {
                let whole = fields.iter().filter(|field| field.bit_field.is_none());
                whole.for_each(|field| self.members(types, field.type_id, inner, at + field.offset_bits / 8, found));
            }
            _ => {}
        }
    }
}

struct Found<'a> {
    places: &'a mut Vec<u64>,
    most: usize,
}

impl Found<'_> {
    fn is_full(&self) -> bool {
        self.places.len() > self.most
    }
}

/// All places of an object of so many bytes where something of a type may begin.
fn aligned(outer: u64, inner: &Type) -> impl Iterator<Item = u64> + use<> {
    let step = if inner.kind == TypeKind::Void { 1 } else { inner.alignment.max(1) };
    let last = outer.checked_sub(inner.size.max(1));
    last.into_iter().flat_map(move |last| (0..=last).step_by(step as usize))
}

/// An integer type without its sign; all characters are alike.
fn without_sign(spelling: &str) -> &str {
    let plain = spelling.strip_prefix("unsigned ").or(spelling.strip_prefix("signed "));
    plain.unwrap_or(spelling)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IdVec;
    use crate::types::Field;

    fn scalar(spelling: &str, kind: TypeKind, size: u64) -> Type {
        Type { kind, spelling: spelling.to_owned(), size, alignment: size }
    }

    fn integer(spelling: &str, size: u64) -> Type {
        let kind = TypeKind::Integer { bits: 8 * size as u32, signed: true, character: size == 1 };
        scalar(spelling, kind, size)
    }

    /// `int`, `unsigned int`, `long`, `long long`, `float`, `char`, `enum e`, and a structure of two integers and a float.
    fn table() -> (TypeTable, Vec<TypeId>) {
        let mut types: TypeTable = IdVec::new();
        let constants = Vec::new();
        let enumeration = TypeKind::Enumeration { bits: 32, signed: false, constants };
        let mut ids: Vec<TypeId> = [
            integer("int", 4),
            integer("unsigned int", 4),
            integer("long", 8),
            integer("long long", 8),
            scalar("float", TypeKind::Float { bits: 32 }, 4),
            integer("char", 1),
            scalar("enum e", enumeration, 4),
        ]
        .into_iter()
        .map(|one| types.push(one))
        .collect();
        let member = |index: usize, at: u64| Field {
            name: format!("m{at}"),
            type_id: ids[index],
            offset_bits: 8 * at,
            bit_field: None,
        };
        let fields = Some(vec![member(0, 0), member(4, 4), member(1, 8)]);
        let kind = TypeKind::Record { union: false, fields };
        ids.push(types.push(Type { kind, spelling: "struct s".to_owned(), size: 12, alignment: 4 }));
        (types, ids)
    }

    #[test]
    fn the_sign_and_the_enumeration_make_no_other_object() {
        let (types, ids) = table();
        assert!(Aliasing::C.may_share(&types, ids[0], ids[1]) && Aliasing::C.may_share(&types, ids[6], ids[1]));
        assert!(!Aliasing::Cpp.may_share(&types, ids[6], ids[1]));
        assert!(!Aliasing::C.may_share(&types, ids[0], ids[4]) && !Aliasing::C.may_share(&types, ids[2], ids[3]));
        assert!(Aliasing::Any.may_share(&types, ids[0], ids[4]));
    }

    #[test]
    fn members_and_bytes_are_places_of_a_structure() {
        let (types, ids) = table();
        let whole = Extent::one(&types, ids[7]);
        assert_eq!(Aliasing::C.places(&types, whole, ids[1], 10), [0, 8]);
        assert_eq!(Aliasing::C.places(&types, whole, ids[5], 20).len(), 12);
        assert_eq!(Aliasing::Any.places(&types, whole, ids[4], 20), [0, 4, 8]);
        assert!(Aliasing::C.places(&types, whole, ids[2], 20).is_empty());
    }
}
