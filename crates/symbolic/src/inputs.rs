//! The space of inputs: which variables a test has to give values to. Shapes are made when the code first looks at
//! them, so recursive structures are as deep as the code looks, and they are the same for all paths of a session.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use branchwise_constraints::{CompareOp, TermId, Terms, VariableId};
use branchwise_program::map::{Input, InputOrigin, Map, PointerDomain};
use branchwise_program::types::{Field, TypeKind, TypeTable};
use branchwise_program::{CallableId, FeedId, FunctionId, TypeId};

/// Position in [`InputSpace`].
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeId(pub u32);

/// Everything that an input can vary.
#[derive(Debug, Clone, Default)]
pub struct InputSpace {
    shapes: Vec<Shape>,
    roots: BTreeMap<InputKey, ShapeId>,
    /// By feed and position in its sequence.
    fed: BTreeMap<(FeedId, u32), ShapeId>,
    /// By address, bytes and the number of the volatile read; without a number, what plain reads find.
    registers: BTreeMap<(u64, u64, Option<usize>), TermId>,
    /// Names of shapes that may be one object: the pointer to the later one may point to the earlier one.
    pub shared: BTreeSet<(String, String)>,
    /// Those of them of which one may also point behind the last element of the other.
    pub compared: BTreeSet<(String, String)>,
    /// Whether a type leads back to itself through pointers, as far as that was asked.
    recursive: HashMap<TypeId, bool>,
}

/// An input of one of the calls of a test.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputKey {
    /// How many calls follow: 0 is the call under test.
    pub call: u32,
    pub function: FunctionId,
    /// Among the inputs of the function.
    pub index: u32,
}

/// An input variable, or what a pointer input points to.
#[derive(Debug, Clone)]
pub struct Shape {
    /// As C would name it: `a`, `*p`, `p->next`.
    pub name: String,
    pub element: TypeId,
    /// How many elements it may have at most.
    pub capacity: u64,
    /// How many it has at least.
    pub least: u64,
    /// Nobody declared the capacity: it is a bound of ours, and larger objects exist.
    pub bounded: bool,
    /// Bytes of one element.
    pub element_size: u64,
    /// The number of elements above the least (16 bits), where it is not fixed.
    pub extra_elements: Option<TermId>,
    /// 1 bit: the pointer to this object is null instead. `None`: it never is.
    pub is_null: Option<TermId>,
    /// Earlier objects that the pointer may point to instead; the first that is chosen counts.
    pub instead: Vec<Instead>,
    /// An input variable itself, not what a pointer points to.
    pub variable: bool,
    /// The pointer says nothing of the type of the object: the program converts it.
    pub opaque: bool,
    /// What the user declared of the pointers of the function whose input this is.
    pub(crate) declared: Rc<[PointerDomain]>,
    /// `None` until the code looks.
    pub cells: Option<Vec<Cell>>,
}

/// An object that a pointer may point to instead of one of its own.
#[derive(Debug, Clone)]
pub struct Instead {
    /// 1 bit: it does.
    pub chosen: TermId,
    pub other: ShapeId,
    /// Where inside of it, if not at its start.
    pub members: Option<Members>,
}

/// The members of one type in an object.
#[derive(Debug, Clone)]
pub struct Members {
    /// Which of them (16 bits).
    pub number: TermId,
    pub offsets: Rc<[u64]>,
    /// Bytes of one.
    pub size: u64,
}

#[derive(Debug, Clone)]
pub struct Cell {
    pub offset: u64,
    pub content: Content,
}

#[derive(Debug, Clone)]
pub enum Content {
    /// A variable of 8 times `bytes` bits (or a narrower one, zero-extended).
    Scalar {
        bytes: u64,
        term: TermId,
    },
    Pointer(ShapeId),
    /// Null where the choice is 0, otherwise the function with this number less one.
    FunctionPointer {
        choice: TermId,
        functions: Rc<[CallableId]>,
    },
    /// The pointer with this name is always null: its target's type is not an input yet.
    NullPointer(String),
}

impl InputSpace {
    pub fn shape(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }

    /// Whether it is the number of elements of some object, above the least.
    pub fn counts_elements(&self, terms: &Terms, variable: VariableId) -> bool {
        let term = Some(terms.variable_term(variable));
        self.shapes.iter().any(|shape| shape.extra_elements == term)
    }

    /// Whether it says that a pointer is null.
    pub fn says_null(&self, terms: &Terms, variable: VariableId) -> bool {
        let term = Some(terms.variable_term(variable));
        self.shapes.iter().any(|shape| shape.is_null == term)
    }

    /// The shape of an input variable, if it was looked at.
    pub fn root(&self, key: InputKey) -> Option<ShapeId> {
        self.roots.get(&key).copied()
    }

    /// The shape of an input variable; made on first use.
    pub(crate) fn root_for(
        &mut self,
        terms: &mut Terms,
        map: &Map,
        key: InputKey,
        input: &Input,
        bound: u64,
    ) -> ShapeId {
        if let Some(id) = self.root(key) {
            return id;
        }
        let declared = map.domain(key.function).map_or(&[][..], |domain| &domain.pointers).into();
        let id = self.push(Shape { variable: true, declared, ..variable_shape(map, input) });
        self.materialise(terms, map, id, bound);
        self.set_root(key, id);
        id
    }

    pub(crate) fn set_root(&mut self, key: InputKey, shape: ShapeId) {
        self.roots.insert(key, shape);
    }

    /// The shape of a value of a feed, if it was looked at.
    pub fn fed(&self, feed: FeedId, nth: u32) -> Option<ShapeId> {
        self.fed.get(&(feed, nth)).copied()
    }

    /// The shape of the value that the `nth` request of a feed gets; made on first use.
    pub(crate) fn feed_for(&mut self, terms: &mut Terms, map: &Map, feed: FeedId, nth: u32, bound: u64) -> ShapeId {
        if let Some(id) = self.fed(feed, nth) {
            return id;
        }
        let asked = &map.feeds[feed];
        let name = format!("{} #{}", asked.name, nth + 1);
        let shape = Shape::new(name, asked.type_id, 1, map.types[asked.type_id].size);
        let id = self.push(Shape { variable: true, ..shape });
        self.materialise(terms, map, id, bound);
        self.fed.insert((feed, nth), id);
        id
    }

    /// What a read at a fixed address gets; made on first use.
    pub(crate) fn register_for(&mut self, terms: &mut Terms, address: u64, bytes: u64, nth: Option<usize>) -> TermId {
        let name = match nth {
            Some(nth) => format!("register {address:#x} #{}", nth + 1),
            None => format!("memory at {address:#x}"),
        };
        let made = self.registers.entry((address, bytes, nth));
        *made.or_insert_with(|| terms.variable(&name, 8 * bytes as u32))
    }

    /// Gives the object its cells if it has none yet. `bound`: elements that its own pointers may point to.
    pub(crate) fn materialise(&mut self, terms: &mut Terms, map: &Map, id: ShapeId, bound: u64) {
        if self.shape(id).cells.is_some() {
            return;
        }
        let shape = self.shape(id).clone();
        let mut cells = Vec::new();
        for index in 0..shape.capacity {
            let name = if shape.capacity == 1 { shape.name.clone() } else { format!("{}[{index}]", shape.name) };
            let declared = shape.declared.clone();
            let inside = shape.element;
            let mut filler = Filler { space: self, terms, map, bound, declared, inside, cells: &mut cells };
            filler.fill(&name, shape.element, index * shape.element_size);
        }
        self.shapes[id.0 as usize].cells = Some(cells);
    }

    /// Whether a test may let the pointer to the later shape point to the earlier one, or into it.
    pub(crate) fn can_share(&self, types: &TypeTable, earlier: ShapeId, later: ShapeId) -> bool {
        self.shared_offsets(types, earlier, later).is_some()
    }

    /// Where in the earlier shape the pointer to the later one may point to: its start, its elements and behind the last of
    /// them, or members of its type.
    fn shared_offsets(&self, types: &TypeTable, earlier: ShapeId, later: ShapeId) -> Option<Vec<u64>> {
        let (earlier, later) = (self.shape(earlier), self.shape(later));
        if earlier.variable || later.variable {
            return None;
        }
        if earlier.element == later.element {
            let long_enough = later.extra_elements.is_some()
                || earlier.extra_elements.is_none() && earlier.capacity == later.capacity;
            let anywhere = later.extra_elements.is_some() && later.least <= 1 && later.element_size > 0;
            let places = match anywhere {
                true => earlier.capacity + u64::from(self.is_compared(&earlier.name, &later.name)),
                false => 1,
            };
            let places = places.min(MOST_MEMBERS as u64);
            return long_enough.then(|| (0..places).map(|index| index * later.element_size).collect());
        }
        if later.extra_elements.is_none() || later.least > 1 {
            return None;
        }
        let mut offsets = Vec::new();
        for index in 0..earlier.capacity {
            members(types, earlier.element, later.element, index * earlier.element_size, &mut offsets);
            if offsets.len() > MOST_MEMBERS {
                return None;
            }
        }
        // Members of a union begin at the same place.
        offsets.sort_unstable();
        offsets.dedup();
        (!offsets.is_empty()).then_some(offsets)
    }

    pub(crate) fn is_shared(&self, left: &str, right: &str) -> bool {
        has_pair(&self.shared, left, right)
    }

    pub(crate) fn is_compared(&self, left: &str, right: &str) -> bool {
        has_pair(&self.compared, left, right)
    }

    /// Lets the pointer to a new shape point to what it may share.
    fn add_shared(&mut self, terms: &mut Terms, types: &TypeTable, id: ShapeId) {
        if self.shared.is_empty() {
            return;
        }
        let name = self.shape(id).name.clone();
        for other in (0..id.0).map(ShapeId) {
            if !self.is_shared(&self.shape(other).name, &name) {
                continue;
            }
            let Some(offsets) = self.shared_offsets(types, other, id) else { continue };
            let chosen = terms.variable(&format!("{name}.is {}", self.shape(other).name), 1);
            let same = self.shape(other).element == self.shape(id).element;
            let behind = same && self.is_compared(&self.shape(other).name, &name);
            let members = (offsets != [0]).then(|| Members {
                number: terms.variable(&format!("{name}.in {}", self.shape(other).name), 16),
                offsets: offsets.into(),
                size: if behind { 0 } else { self.shape(id).element_size },
            });
            self.shapes[id.0 as usize].instead.push(Instead { chosen, other, members });
        }
    }

    pub(crate) fn push(&mut self, shape: Shape) -> ShapeId {
        self.shapes.push(shape);
        ShapeId(self.shapes.len() as u32 - 1)
    }
}

impl Shape {
    pub(crate) fn new(name: String, element: TypeId, capacity: u64, element_size: u64) -> Self {
        Shape {
            name,
            element,
            capacity,
            least: 1,
            bounded: false,
            element_size,
            extra_elements: None,
            is_null: None,
            instead: Vec::new(),
            variable: false,
            opaque: false,
            declared: Rc::default(),
            cells: None,
        }
    }

    /// Bytes at most.
    pub fn size(&self) -> u64 {
        self.capacity * self.element_size
    }

    /// What limits its variables for all inputs.
    pub(crate) fn domain(&self, terms: &mut Terms) -> Option<TermId> {
        let extra = self.extra_elements?;
        let most = terms.constant(u128::from(self.capacity - self.least), 16);
        Some(terms.compare(CompareOp::Ule, extra, most))
    }

    /// Its size in bytes as a term of 64 bits, where it is not fixed.
    pub(crate) fn symbolic_size(&self, terms: &mut Terms) -> Option<TermId> {
        let extra = terms.zero_extend(self.extra_elements?, 64);
        let least = terms.constant(u128::from(self.least), 64);
        let count = terms.binary(branchwise_constraints::BinaryOp::Add, extra, least);
        let element = terms.constant(u128::from(self.element_size), 64);
        Some(terms.binary(branchwise_constraints::BinaryOp::Mul, count, element))
    }
}

fn has_pair(pairs: &BTreeSet<(String, String)>, left: &str, right: &str) -> bool {
    let pair = |left: &str, right: &str| pairs.contains(&(left.to_string(), right.to_string()));
    pair(left, right) || pair(right, left)
}

/// The offsets of everything of type `inner` in an object of type `outer` at this offset.
fn members(types: &TypeTable, outer: TypeId, inner: TypeId, at: u64, found: &mut Vec<u64>) {
    if outer == inner {
        found.push(at);
        return;
    }
    match &types[outer].kind {
        TypeKind::Array { element, count } => {
            for index in 0..count.unwrap_or(0) {
                if found.len() > MOST_MEMBERS {
                    return;
                }
                members(types, *element, inner, at + index * types[*element].size, found);
            }
        }
        TypeKind::Record { fields: Some(fields), .. } => {
            let whole = fields.iter().filter(|field| field.bit_field.is_none());
            whole.for_each(|field| members(types, field.type_id, inner, at + field.offset_bits / 8, found));
        }
        _ => {}
    }
}

/// The shape of an input variable. Of an array whose length nobody says, so many elements are a bound.
fn variable_shape(map: &Map, input: &Input) -> Shape {
    let name = input.name.clone();
    let mut unknown = map.undefined_variables.iter().filter(|variable| variable.elements.is_some());
    match map.types[input.type_id].kind {
        TypeKind::Array { element, count: Some(count) }
            if input.origin == InputOrigin::Global && unknown.any(|variable| variable.name == input.name) =>
        {
            let shape = Shape::new(name, element, count, map.types[element].size);
            Shape { least: count, bounded: true, ..shape }
        }
        _ => Shape::new(name, input.type_id, 1, map.types[input.type_id].size),
    }
}

/// How C spells a pointer whose type says nothing of the object.
const OPAQUE_POINTER: &str = "void *";

/// What a `void *` points to has this many bytes where others have one element.
const BYTES_PER_ELEMENT: u64 = 8;

/// A pointer into an object with more members of its type than this is not tried.
const MOST_MEMBERS: usize = 256;

/// Walks a type and makes a cell for each scalar in it.
struct Filler<'a> {
    space: &'a mut InputSpace,
    terms: &'a mut Terms,
    map: &'a Map,
    bound: u64,
    declared: Rc<[PointerDomain]>,
    /// The type of the object whose cells these are.
    inside: TypeId,
    cells: &'a mut Vec<Cell>,
}

impl Filler<'_> {
    fn fill(&mut self, name: &str, type_id: TypeId, offset: u64) {
        let ty = &self.map.types[type_id];
        match &ty.kind {
            TypeKind::Integer { bits, .. } if u64::from(*bits) < 8 * ty.size => {
                self.narrow(name, *bits, ty.size, offset)
            }
            TypeKind::Integer { .. } | TypeKind::Enumeration { .. } | TypeKind::Float { .. } => {
                self.scalar(name, ty.size, offset)
            }
            TypeKind::Pointer { target, declared_count, .. } => {
                self.pointer(name, *target, *declared_count, offset);
                self.note_opaque(&ty.spelling);
            }
            TypeKind::Array { element, count } => self.array(name, *element, count.unwrap_or(0), offset),
            TypeKind::Record { union: true, .. } => self.raw(name, ty.size, offset),
            TypeKind::Record { fields: Some(fields), .. } if fields.iter().any(|field| field.bit_field.is_some()) => {
                self.with_bit_fields(name, fields, ty.size, offset)
            }
            TypeKind::Record { fields: Some(fields), .. } => self.record(name, fields, offset),
            TypeKind::Void => self.scalar(name, 1, offset),
            TypeKind::Record { fields: None, .. }
            | TypeKind::Function
            | TypeKind::Stream
            | TypeKind::Unsupported(_) => self.raw(name, ty.size, offset),
        }
    }

    fn scalar(&mut self, name: &str, bytes: u64, offset: u64) {
        let term = self.terms.variable(name, 8 * bytes as u32);
        self.cells.push(Cell { offset, content: Content::Scalar { bytes, term } });
    }

    /// `_Bool`: 1 bit in a byte.
    fn narrow(&mut self, name: &str, bits: u32, bytes: u64, offset: u64) {
        let variable = self.terms.variable(name, bits);
        let term = self.terms.zero_extend(variable, 8 * bytes as u32);
        self.cells.push(Cell { offset, content: Content::Scalar { bytes, term } });
    }

    fn raw(&mut self, name: &str, size: u64, offset: u64) {
        for byte in 0..size {
            self.scalar(&format!("{name}.byte{byte}"), 1, offset + byte);
        }
    }

    fn array(&mut self, name: &str, element: TypeId, count: u64, offset: u64) {
        let size = self.map.types[element].size;
        for index in 0..count {
            self.fill(&format!("{name}[{index}]"), element, offset + index * size);
        }
    }

    fn record(&mut self, name: &str, fields: &[Field], offset: u64) {
        for field in fields {
            let field_name = if field.name.is_empty() { name.to_string() } else { format!("{name}.{}", field.name) };
            self.fill(&field_name, field.type_id, offset + field.offset_bits / 8);
        }
    }

    /// Bytes that hold bit-fields are variables as a whole; the other fields keep their own.
    fn with_bit_fields(&mut self, name: &str, fields: &[Field], size: u64, offset: u64) {
        let (packed, plain): (Vec<&Field>, Vec<&Field>) = fields.iter().partition(|field| field.bit_field.is_some());
        let holds_bits = |byte: u64| packed.iter().any(|field| covers(field, byte));
        for byte in (0..size).filter(|&byte| holds_bits(byte)) {
            self.scalar(&format!("{name}.byte{byte}"), 1, offset + byte);
        }
        let plain: Vec<Field> = plain.into_iter().cloned().collect();
        self.record(name, &plain, offset);
    }

    fn pointer(&mut self, name: &str, target: TypeId, declared_count: Option<u64>, offset: u64) {
        let pointed = &self.map.types[target];
        let content = match &pointed.kind {
            TypeKind::Function => self.function_pointer(name, target),
            TypeKind::Void => Content::Pointer(self.bytes(name, target)),
            TypeKind::Record { fields: None, .. } | TypeKind::Stream => Content::Pointer(self.opaque(name, target)),
            _ if pointed.size == 0 => Content::NullPointer(name.to_string()),
            _ => Content::Pointer(self.target(name, target, declared_count, pointed.size)),
        };
        self.cells.push(Cell { offset, content });
    }

    /// Marks the object of the last cell, a pointer, where its type as it is written does not name the object's.
    fn note_opaque(&mut self, spelling: &str) {
        if let (OPAQUE_POINTER, Some(Cell { content: Content::Pointer(shape), .. })) = (spelling, self.cells.last()) {
            self.space.shapes[shape.0 as usize].opaque = true;
        }
    }

    fn target(&mut self, name: &str, target: TypeId, declared_count: Option<u64>, size: u64) -> ShapeId {
        let capacity = declared_count.unwrap_or_else(|| self.capacity(target));
        let mut shape = Shape::new(format!("(*{name})"), target, capacity, size);
        shape.declared = self.declared.clone();
        let declared = self.declared.iter().find(|domain| path(&domain.name) == path(name)).cloned();
        match (declared_count, declared) {
            (Some(count), None) => {
                shape.name = name.to_string();
                shape.least = count;
            }
            (None, None) => {
                shape.is_null = Some(self.is_null(name, target));
                shape.bounded = true;
            }
            (_, Some(domain)) => {
                shape.is_null = domain.may_be_null.then(|| self.is_null(name, target));
                shape.bounded = domain.elements.is_none() && declared_count.is_none();
                let default = declared_count.map_or((1, capacity), |count| (count, count));
                (shape.least, shape.capacity) = domain.elements.unwrap_or(default);
            }
        }
        if shape.bounded || shape.least < shape.capacity {
            shape.extra_elements = Some(self.terms.variable(&format!("{name}.extra"), 16));
        }
        self.pointed(shape)
    }

    /// Where nothing is known of its variable, a pointer points to an object, but lists and trees end: a test has only the
    /// nodes that its path needs.
    fn is_null(&mut self, name: &str, target: TypeId) -> TermId {
        if self.is_recursive(target) && self.is_recursive(self.inside) {
            let exists = self.terms.variable(&format!("{name}.exists"), 1);
            let no = self.terms.constant(0, 1);
            return self.terms.compare(CompareOp::Eq, exists, no);
        }
        self.terms.variable(&format!("{name}.null"), 1)
    }

    /// Nodes of lists and trees come one by one; arrays of them are tried when something needs them.
    fn capacity(&mut self, target: TypeId) -> u64 {
        if self.is_recursive(target) { (self.bound / 8).max(1) } else { self.bound }
    }

    fn is_recursive(&mut self, type_id: TypeId) -> bool {
        let map = self.map;
        *self.space.recursive.entry(type_id).or_insert_with(|| leads_back(map, type_id))
    }

    fn pointed(&mut self, shape: Shape) -> ShapeId {
        let id = self.space.push(shape);
        self.space.add_shared(self.terms, &self.map.types, id);
        id
    }

    /// `void *`: bytes, enough for a structure that the program may see in them.
    fn bytes(&mut self, name: &str, target: TypeId) -> ShapeId {
        let mut shape = Shape::new(format!("(*{name})"), target, BYTES_PER_ELEMENT * self.bound, 1);
        shape.bounded = true;
        shape.is_null = Some(self.terms.variable(&format!("{name}.null"), 1));
        shape.extra_elements = Some(self.terms.variable(&format!("{name}.extra"), 16));
        self.pointed(shape)
    }

    /// A structure that this file does not define, or a stream: it has an address and nothing else to look at.
    fn opaque(&mut self, name: &str, target: TypeId) -> ShapeId {
        let mut shape = Shape::new(format!("(*{name})"), target, 1, 0);
        shape.is_null = Some(self.terms.variable(&format!("{name}.null"), 1));
        self.pointed(shape)
    }

    fn function_pointer(&mut self, name: &str, target: TypeId) -> Content {
        let fits = self.map.callables.iter().filter(|(_, callable)| callable.type_id == target);
        let functions: Rc<[CallableId]> = fits.map(|(id, _)| id).collect();
        if functions.is_empty() {
            return Content::NullPointer(name.to_string());
        }
        Content::FunctionPointer { choice: self.terms.variable(&format!("{name}.function"), 16), functions }
    }
}

/// Whether an object of this type holds pointers through which one gets to an object of the same type.
fn leads_back(map: &Map, start: TypeId) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(type_id) = open.pop() {
        let next: Vec<TypeId> = match &map.types[type_id].kind {
            TypeKind::Pointer { target, .. } => vec![*target],
            TypeKind::Array { element, .. } => vec![*element],
            TypeKind::Record { fields: Some(fields), .. } => fields.iter().map(|field| field.type_id).collect(),
            _ => Vec::new(),
        };
        if next.contains(&start) {
            return true;
        }
        open.extend(next.into_iter().filter(|next| seen.insert(*next)));
    }
    false
}

/// The name of an input without dereferences and indices: `(*p)[2].next` and `p->next` are both `p.next`.
fn path(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    let mut inside_index = false;
    for character in name.replace("->", ".").chars() {
        inside_index = character == '[' || (inside_index && character != ']');
        if !inside_index && !"(*)] ".contains(character) {
            path.push(character);
        }
    }
    path
}

fn covers(field: &Field, byte: u64) -> bool {
    let width = u64::from(field.bit_field.unwrap_or(0));
    width > 0 && field.offset_bits / 8 <= byte && byte <= (field.offset_bits + width - 1) / 8
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn the_names_of_shapes_and_of_users_are_one_path() {
        assert_eq!(path("(*(*p)[2].next)[0].name"), "p.next.name");
        assert_eq!(path("p->next->name"), "p.next.name");
        assert_eq!(path("table.rows[3]"), "table.rows");
    }
}
