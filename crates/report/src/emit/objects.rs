//! The objects of a test case as named locals, and C expressions that point into them.

use std::collections::VecDeque;

use branchwise_program::TypeId;
use branchwise_program::types::{TypeKind, TypeTable};
use branchwise_replay::{Object, TestCase};

use super::declare::type_name;
use super::names::Names;
use crate::values::{Decoder, Value};

/// How one object of a test case is declared.
#[derive(Debug, Clone)]
pub struct NamedObject {
    pub name: String,
    pub shape: Shape,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Shape {
    /// `T name`
    Single,
    /// `T name[count]`
    Array,
    /// `unsigned char name[count]`: the pointer says nothing of what it points to.
    Bytes,
    /// `FILE *name`: the name is the pointer.
    Stream,
}

/// Where the objects live.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Storage {
    Automatic,
    /// A global keeps the address of an object, and would outlive an automatic one.
    Static,
    /// The function gives objects to `free`; all are behind pointers and have the shape of arrays.
    Heap,
}

/// The objects of one test case; those that no input leads to have no name.
#[derive(Debug)]
pub struct Objects<'a> {
    pub types: &'a TypeTable,
    pub case: &'a TestCase,
    pub named: Vec<Option<NamedObject>>,
    pub storage: Storage,
}

impl<'a> Objects<'a> {
    /// Names every object after the value (its wished name comes first) that leads to it by the shortest way.
    pub fn new(
        types: &'a TypeTable,
        roots: &[(String, Value)],
        case: &'a TestCase,
        storage: Storage,
        names: &mut Names,
    ) -> Self {
        let decoder = Decoder { types };
        let mut objects = Objects { types, case, named: vec![None; case.objects.len()], storage };
        let mut queue = VecDeque::new();
        for (wish, value) in roots {
            pointers_of(value, wish, &mut |object, wish| queue.push_back((object, wish)));
        }
        while let Some((index, wish)) = queue.pop_front() {
            let Some(object) = case.objects.get(index).filter(|_| objects.named[index].is_none()) else { continue };
            let name = names.fresh(&wish);
            let shape = shape(types, object, storage);
            objects.named[index] = Some(NamedObject { name: name.clone(), shape });
            for (position, value) in decoder.elements(object, &object.blob).iter().enumerate() {
                let wish = if object.count == 1 { name.clone() } else { format!("{name}_{position}") };
                pointers_of(value, &wish, &mut |object, wish| queue.push_back((object, wish)));
            }
        }
        objects
    }

    /// Every object after those it points to, as far as cycles allow.
    pub fn in_order_of_declaration(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.named.len()];
        for index in 0..self.named.len() {
            self.declare_after_targets(index, &mut seen, &mut order);
        }
        order
    }

    fn declare_after_targets(&self, index: usize, seen: &mut [bool], order: &mut Vec<usize>) {
        if self.named[index].is_none() || std::mem::replace(&mut seen[index], true) {
            return;
        }
        for pointer in &self.case.objects[index].blob.pointers {
            if pointer.object < self.named.len() {
                self.declare_after_targets(pointer.object, seen, order);
            }
        }
        order.push(index);
    }

    /// The C expression for a pointer of type `pointer_type` to byte `offset` of an object.
    pub fn address(&self, pointer_type: TypeId, object: usize, offset: u64) -> String {
        let (Some(Some(named)), Some(target)) = (self.named.get(object), self.case.objects.get(object)) else {
            return "NULL".to_owned();
        };
        let wanted = match self.types.get(pointer_type).map(|of| &of.kind) {
            Some(TypeKind::Pointer { target, .. }) => *target,
            _ => target.element,
        };
        let typed = self.typed_address(named, target, wanted, offset).map(|address| {
            // The parameter is a pointer to arrays of a length that only the call knows.
            let any = self.types.get(pointer_type).is_some_and(|of| of.spelling == "void *") && !self.is_void(wanted);
            if any { format!("(void *){address}") } else { address }
        });
        typed.unwrap_or_else(|| {
            let start = if named.shape == Shape::Single { format!("&{}", named.name) } else { named.name.clone() };
            let cast = type_name(self.types, pointer_type);
            if offset == 0 { format!("({cast}){start}") } else { format!("({cast})((char *){start} + {offset})") }
        })
    }

    /// Without a cast, where the pointed-to type allows.
    fn typed_address(&self, named: &NamedObject, object: &Object, wanted: TypeId, offset: u64) -> Option<String> {
        let name = &named.name;
        let step = if named.shape == Shape::Bytes { 1 } else { self.types.get(object.element)?.size };
        let (index, rest) = (offset / step.max(1), offset % step.max(1));
        let fits = self.is_void(wanted) || named.shape != Shape::Bytes && self.same_type(wanted, object.element);
        if named.shape == Shape::Stream {
            return Some(name.clone());
        }
        if rest == 0 && fits {
            return match (named.shape, index) {
                (Shape::Single, 0) => Some(format!("&{name}")),
                (Shape::Single, 1) => Some(format!("&{name} + 1")),
                (Shape::Single, _) => None,
                (_, 0) => Some(name.clone()),
                (_, index) if index < object.count => Some(format!("&{name}[{index}]")),
                (_, index) => Some(format!("{name} + {index}")),
            };
        }
        if named.shape == Shape::Bytes || index >= object.count {
            return None;
        }
        let path = self.path_to(object.element, rest, wanted)?;
        let element = if named.shape == Shape::Single { name.clone() } else { format!("{name}[{index}]") };
        Some(format!("&{element}{path}"))
    }

    /// `.items[2]`: the member of type `wanted` at byte `offset`.
    fn path_to(&self, within: TypeId, offset: u64, wanted: TypeId) -> Option<String> {
        if offset == 0 && self.same_type(within, wanted) {
            return Some(String::new());
        }
        match &self.types.get(within)?.kind {
            TypeKind::Array { element, count } => {
                let step = self.types.get(*element)?.size.max(1);
                let index = offset / step;
                (index < count.unwrap_or(0)).then_some(())?;
                Some(format!("[{index}]{}", self.path_to(*element, offset % step, wanted)?))
            }
            TypeKind::Record { fields, .. } => fields.iter().flatten().find_map(|field| {
                let start = field.offset_bits / 8;
                let size = self.types.get(field.type_id)?.size;
                (field.bit_field.is_none() && start <= offset && offset < start + size).then_some(())?;
                let rest = self.path_to(field.type_id, offset - start, wanted)?;
                Some(if field.name.is_empty() { rest } else { format!(".{}{rest}", field.name) })
            }),
            _ => None,
        }
    }

    fn is_void(&self, type_id: TypeId) -> bool {
        self.types.get(type_id).is_none_or(|of| of.kind == TypeKind::Void)
    }

    /// The table may hold one type several times, e.g. with and without a declared count.
    fn same_type(&self, left: TypeId, right: TypeId) -> bool {
        left == right || self.types.get(left).map(|of| &of.spelling) == self.types.get(right).map(|of| &of.spelling)
    }
}

fn shape(types: &TypeTable, object: &Object, storage: Storage) -> Shape {
    match types.get(object.element) {
        _ if object.stream.is_some() => Shape::Stream,
        Some(element) if element.size > 0 && element.kind != TypeKind::Void => {
            if object.count == 1 && storage != Storage::Heap { Shape::Single } else { Shape::Array }
        }
        _ => Shape::Bytes,
    }
}

/// Calls `found` for each pointer in a value, with the name that its target may have.
fn pointers_of(value: &Value, wish: &str, found: &mut impl FnMut(usize, String)) {
    match value {
        Value::Pointer { object, .. } => found(*object, wish.to_owned()),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                pointers_of(element, &format!("{wish}_{index}"), found);
            }
        }
        Value::Record { fields, .. } => {
            for field in fields {
                pointers_of(&field.value, &member_wish(wish, &field.name), found);
            }
        }
        _ => {}
    }
}

/// `list_next`; behind that `list_next_2`, `list_next_3`.
fn member_wish(owner: &str, member: &str) -> String {
    let (path, number) = match owner.rsplit_once('_').map(|(path, last)| (path, last.parse::<u32>())) {
        Some((path, Ok(number))) => (path, number),
        _ => (owner, 1),
    };
    match path.ends_with(&format!("_{member}")) {
        true => format!("{path}_{}", number + 1),
        false => format!("{owner}_{member}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_members_are_numbered() {
        assert_eq!(member_wish("list", "next"), "list_next");
        assert_eq!(member_wish("list_next", "next"), "list_next_2");
        assert_eq!(member_wish("list_next_2", "next"), "list_next_3");
        assert_eq!(member_wish("list_next_2", "left"), "list_next_2_left");
        assert_eq!(member_wish("rows_0", "next"), "rows_0_next");
    }
}
