//! The space of inputs: which variables a test has to give values to. Shapes are made when the code first looks at
//! them, so recursive structures are as deep as the code looks, and they are the same for all paths of a session.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use branchwise_constraints::{CompareOp, TermId, Terms, VariableId};
use branchwise_program::aliasing::Extent;
use branchwise_program::map::{Input, InputOrigin, Map, PointerDomain};
use branchwise_program::types::{Field, TypeKind};
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
    /// Which objects its pointers may share.
    pub sharing: Sharing,
    /// What drivers may do in other ways than the first.
    pub varied: BTreeSet<(String, String)>,
    /// Shared pointers whose objects others could own too.
    pub(crate) owned: BTreeSet<String>,
    /// Whether a type leads back to itself through pointers, as far as that was asked.
    recursive: HashMap<TypeId, bool>,
}

/// Two names of shapes.
pub type SharedPair = (String, String);

/// What pointers among the inputs may point to beside objects of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Names of shapes that may be one object: the pointer to the later one may point to the earlier one.
    pub shared: BTreeSet<SharedPair>,
    /// Those of them of which one may also point behind the last element of the other.
    pub compared: BTreeSet<SharedPair>,
    /// Inputs whose shapes come before those of others, so that these may point into them.
    pub first: BTreeSet<String>,
    /// Names of shapes that may have elements before the one that their pointer points to.
    pub before: BTreeSet<String>,
}

impl Sharing {
    /// Of this many pairs at most, tests may let objects be shared.
    const MOST: usize = 16;

    /// Adds what could be tried too, of pairs those first that are reached through the fewest pointers. Tells whether there
    /// is anything new.
    pub fn grow(&mut self, could: &Sharing) -> bool {
        let before = self.clone();
        add_pairs(&mut self.shared, &could.shared);
        add_pairs(&mut self.compared, &could.compared);
        self.first.extend(could.first.iter().cloned());
        self.before.extend(could.before.iter().cloned());
        *self != before
    }

    /// Adds everything.
    pub(crate) fn add(&mut self, other: &Sharing) {
        let Sharing { shared, compared, first, before } = other;
        self.shared.extend(shared.iter().cloned());
        self.compared.extend(compared.iter().cloned());
        self.first.extend(first.iter().cloned());
        self.before.extend(before.iter().cloned());
    }

    pub fn is_empty(&self) -> bool {
        *self == Sharing::default()
    }
}

fn add_pairs(pairs: &mut BTreeSet<SharedPair>, could: &BTreeSet<SharedPair>) {
    let mut more: Vec<SharedPair> = could.difference(pairs).cloned().collect();
    more.sort_by_key(|pair| (pair.0.len() + pair.1.len(), pair.clone()));
    more.truncate(Sharing::MOST.saturating_sub(pairs.len()));
    pairs.extend(more);
}

/// Where in an object a pointer to another may point.
pub(crate) struct Offsets {
    places: Vec<u64>,
    /// There are no others.
    complete: bool,
    /// The last place is behind the last element.
    behind: bool,
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
    /// Elements before the one that the pointer points to: how many there may be, and how many there are (16 bits).
    pub before: Option<(u64, TermId)>,
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
        if !self.sharing.first.contains(&input.name) {
            self.make_first(terms, map, key, bound);
        }
        let declared = map.domain(key.function).map_or(&[][..], |domain| &domain.pointers).into();
        let id = self.push(Shape { variable: true, declared, ..variable_shape(map, input) });
        self.materialise(terms, map, id, bound);
        self.set_root(key, id);
        id
    }

    /// Makes the shapes of those inputs of a call that shall come before others.
    fn make_first(&mut self, terms: &mut Terms, map: &Map, key: InputKey, bound: u64) {
        let function = &map.functions[key.function];
        let own_kind = function.name == "main";
        let is_first = |(_, input): &(usize, &Input)| !own_kind && self.sharing.first.contains(&input.name);
        let first: Vec<(usize, &Input)> = function.inputs.iter().enumerate().filter(is_first).collect();
        for (index, input) in first {
            self.root_for(terms, map, InputKey { index: index as u32, ..key }, input, bound);
        }
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

    /// Where in the earlier shape a test may let the pointer to the later one point to: its start, its elements and behind the
    /// last of them, members of its type, and whatever else may be accessed as its type.
    pub(crate) fn shared_offsets(&self, map: &Map, earlier: ShapeId, later: ShapeId) -> Option<Offsets> {
        let (earlier, later) = (self.shape(earlier), self.shape(later));
        if earlier.variable || later.variable {
            return None;
        }
        let is_one = later.extra_elements.is_none() && later.capacity == 1;
        let open = later.extra_elements.is_some() && later.least <= 1;
        let anywhere = later.element_size > 0 && (open || is_one);
        if !anywhere {
            let long_enough = later.extra_elements.is_some()
                || earlier.extra_elements.is_none() && earlier.capacity == later.capacity;
            let same = map.aliasing.is_same(&map.types, earlier.element, later.element);
            return (same && long_enough).then(|| Offsets { places: vec![0], complete: true, behind: false });
        }
        let outer = Extent { element: earlier.element, element_size: earlier.element_size, size: earlier.size() };
        let mut places = map.aliasing.places(&map.types, outer, later.element, MOST_ELEMENTS);
        let most = if are_even(&places) { MOST_ELEMENTS } else { MOST_MEMBERS };
        let complete = places.len() <= most;
        places.truncate(most);
        let behind = complete && !is_one && self.is_compared(&earlier.name, &later.name);
        places.extend(behind.then_some(earlier.size()));
        (!places.is_empty()).then_some(Offsets { places, complete, behind })
    }

    /// Whether the earlier object may be a part of the later one, other than in the ways in which tests let both be one.
    pub(crate) fn may_begin_inside(&self, map: &Map, earlier: ShapeId, later: ShapeId) -> bool {
        let (earlier, later) = (self.shape(earlier), self.shape(later));
        earlier.before.is_none() && map.aliasing.goes_on(&map.types, earlier.element, later.element)
    }

    pub(crate) fn is_shared(&self, left: &str, right: &str) -> bool {
        has_pair(&self.sharing.shared, left, right)
    }

    pub(crate) fn is_compared(&self, left: &str, right: &str) -> bool {
        has_pair(&self.sharing.compared, left, right)
    }

    /// Lets the pointer to a new shape point to what it may share.
    fn add_shared(&mut self, terms: &mut Terms, map: &Map, id: ShapeId) {
        if self.sharing.shared.is_empty() {
            return;
        }
        let name = self.shape(id).name.clone();
        for other in (0..id.0).map(ShapeId) {
            if !self.is_shared(&self.shape(other).name, &name) {
                continue;
            }
            let Some(Offsets { places, behind, .. }) = self.shared_offsets(map, other, id) else { continue };
            let chosen = terms.variable(&format!("{name}.is {}", self.shape(other).name), 1);
            let members = (places != [0]).then(|| Members {
                number: terms.variable(&format!("{name}.in {}", self.shape(other).name), 16),
                offsets: places.into(),
                size: if behind { 0 } else { self.shape(id).element_size },
            });
            self.shapes[id.0 as usize].instead.push(Instead { chosen, other, members });
        }
    }

    /// The input from which a shape is reached, by its name.
    pub(crate) fn input_of(&self, id: ShapeId) -> String {
        path(&self.shape(id).name).split('.').next().unwrap_or_default().to_owned()
    }

    pub(crate) fn push(&mut self, shape: Shape) -> ShapeId {
        self.shapes.push(shape);
        ShapeId(self.shapes.len() as u32 - 1)
    }
}

impl Offsets {
    /// Whether a test can let the pointer point to whatever it might point to there.
    pub fn is_complete(&self) -> bool {
        self.complete
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
            before: None,
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
        let room = self.before.map_or(0, |(room, _)| room);
        let most = terms.constant(u128::from(self.capacity - room - self.least), 16);
        let few = terms.compare(CompareOp::Ule, extra, most);
        let Some((room, before)) = self.before else { return Some(few) };
        let room = terms.constant(u128::from(room), 16);
        let reachable = terms.compare(CompareOp::Ule, before, room);
        Some(terms.and(few, reachable))
    }

    /// Where the element begins that the pointer points to, as a term of 64 bits.
    pub(crate) fn start(&self, terms: &mut Terms) -> TermId {
        let Some((_, before)) = self.before else { return terms.constant(0, 64) };
        let (before, element) = (terms.zero_extend(before, 64), terms.constant(u128::from(self.element_size), 64));
        terms.binary(branchwise_constraints::BinaryOp::Mul, before, element)
    }

    /// Whether tests can put elements before the one that the pointer points to.
    pub(crate) fn may_begin_earlier(&self) -> bool {
        self.bounded && self.extra_elements.is_some() && self.least <= 1 && !self.variable && !self.opaque
    }

    /// Its size in bytes as a term of 64 bits, where it is not fixed.
    pub(crate) fn symbolic_size(&self, terms: &mut Terms) -> Option<TermId> {
        let extra = terms.zero_extend(self.extra_elements?, 64);
        let least = terms.constant(u128::from(self.least), 64);
        let mut count = terms.binary(branchwise_constraints::BinaryOp::Add, extra, least);
        if let Some((_, before)) = self.before {
            let before = terms.zero_extend(before, 64);
            count = terms.binary(branchwise_constraints::BinaryOp::Add, count, before);
        }
        let element = terms.constant(u128::from(self.element_size), 64);
        Some(terms.binary(branchwise_constraints::BinaryOp::Mul, count, element))
    }
}

fn has_pair(pairs: &BTreeSet<(String, String)>, left: &str, right: &str) -> bool {
    let pair = |left: &str, right: &str| pairs.contains(&(left.to_string(), right.to_string()));
    pair(left, right) || pair(right, left)
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

/// So many elements may lie before the one that a pointer points to, and no more than behind it.
const MOST_BEFORE: u64 = 8;

/// Of an object with more members of a type than this, pointers lead to the first.
const MOST_MEMBERS: usize = 256;
/// The same where the members stand at equal distances.
const MOST_ELEMENTS: usize = 4096;

fn are_even(places: &[u64]) -> bool {
    places.windows(3).all(|three| three[1] - three[0] == three[2] - three[1])
}

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
            TypeKind::Record { fields: Some(fields), .. } => {
                self.record(name, fields, offset);
                self.padding(name, fields, ty.size, offset);
            }
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
        self.padding(name, fields, size, offset);
    }

    /// Bytes that belong to no member are any bytes.
    fn padding(&mut self, name: &str, fields: &[Field], size: u64, offset: u64) {
        let types = &self.map.types;
        let in_field = |byte: u64, field: &Field| match field.bit_field {
            Some(_) => covers(field, byte),
            None => (field.offset_bits / 8..field.offset_bits / 8 + types[field.type_id].size).contains(&byte),
        };
        let is_free = |&byte: &u64| !fields.iter().any(|field| in_field(byte, field));
        for byte in (0..size).filter(is_free).collect::<Vec<_>>() {
            self.scalar(&format!("{name}.padding{byte}"), 1, offset + byte);
        }
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
        if shape.may_begin_earlier() && self.space.sharing.before.contains(&shape.name) {
            let room = capacity.min(MOST_BEFORE);
            shape.capacity += room;
            shape.before = Some((room, self.terms.variable(&format!("{name}.before"), 16)));
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
        self.space.add_shared(self.terms, self.map, id);
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
