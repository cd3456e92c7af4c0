//! The objects of one path. The initial image is shared by all paths; an object is copied when a path first writes it.

use std::collections::HashSet;
use std::rc::Rc;

use branchwise_constraints::{BinaryOp, TermId};
use branchwise_program::{CodeFunctionId, GlobalId};

use crate::address::Access;
use crate::inputs::ShapeId;
use crate::registers::END_OF_REGISTERS;
use crate::session::Session;
use crate::value::{Choice, ObjectId, Pointer, Target, Value};

mod join;
mod marks;
mod object;

pub(crate) use join::Counterpart;
pub(crate) use object::Object;

#[derive(Debug, Clone)]
pub(crate) struct Memory {
    /// Ids are never used again, so a dangling pointer is recognised.
    objects: Vec<Entry>,
    /// The number that the program sees when it looks at the address of an object; kept when its lifetime is over.
    addresses: Vec<u64>,
    next_address: u64,
    /// What the symbolic pointers of this path may point to.
    targets: Vec<Target>,
    /// Stack objects whose lifetime is over, for their buffers.
    spare: Vec<Rc<Object>>,
    /// Where many ways are followed at once, what tells their objects apart.
    births: Births,
    /// Functions that nobody defines were given objects.
    gave_objects: bool,
    /// Other threads may have gone on since the test began.
    pub released: bool,
}

/// A lineage that made an object and the object's number there: the same in all ways that have it in common.
type Birth = (u32, u32);

/// The births of objects, from the first one on that belongs to a lineage.
#[derive(Debug, Clone, Default)]
struct Births {
    /// 0: none.
    lineage: u32,
    first: usize,
    known: Vec<Birth>,
}

#[derive(Debug, Clone)]
struct Entry {
    /// `None`: its lifetime is over.
    object: Option<Rc<Object>>,
    /// Whether this path has read and written it, and which accesses need no check but that of the bounds. Zero when its
    /// lifetime is over.
    permits: u8,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Stack,
    /// Until it is freed.
    Heap,
    Global {
        id: GlobalId,
        state: bool,
    },
    Input(ShapeId),
    /// The address of a function: nothing can be read there.
    Function(CodeFunctionId),
}

/// Addresses start here: far from null and from registers, and no object ends where the next begins.
const FIRST_ADDRESS: u64 = END_OF_REGISTERS;
const GAP: u64 = 64;
/// Functions have addresses that no object has.
const FIRST_FUNCTION: u128 = 0x7f00_0000_0000;
/// Bits of a permit.
const MAY_READ: u8 = 1;
const MAY_WRITE: u8 = 2;
const TOUCHED_BY_READ: u8 = 4;
const TOUCHED_BY_WRITE: u8 = 8;
/// Buffers that are kept for later stack objects, and their largest size in bytes.
const MOST_SPARE: usize = 64;
const LARGEST_SPARE: u64 = 1 << 16;
/// Bytes of the largest object that is searched for pointers.
const LARGEST_SEARCHED: u64 = 1 << 20;

impl Memory {
    pub(crate) fn new() -> Self {
        Memory {
            objects: Vec::new(),
            addresses: Vec::new(),
            next_address: FIRST_ADDRESS,
            targets: Vec::new(),
            spare: Vec::new(),
            births: Births::default(),
            gave_objects: false,
            released: false,
        }
    }

    pub(crate) fn allocate(&mut self, size: u64, alignment: u64, origin: Origin, contents: Contents) -> ObjectId {
        let address = self.next_address.next_multiple_of(alignment.max(16));
        self.next_address = address.saturating_add(size).saturating_add(GAP);
        let mut object = self.spare.pop().unwrap_or_default();
        match Rc::get_mut(&mut object) {
            Some(spare) => spare.reset(size, origin, contents),
            None => object = Rc::new(Object::new(size, origin, contents)),
        }
        let permits = if origin == Origin::Stack { MAY_READ | MAY_WRITE } else { 0 };
        if self.births.lineage > 0 {
            self.births.known.push((self.births.lineage, self.objects.len() as u32));
        }
        self.objects.push(Entry { object: Some(object), permits });
        self.addresses.push(address);
        ObjectId(self.objects.len() as u32 - 1)
    }

    pub(crate) fn get(&self, id: ObjectId) -> Option<&Object> {
        self.objects[id.0 as usize].object.as_deref()
    }

    pub(crate) fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.objects[id.0 as usize].object.as_mut().map(Rc::make_mut)
    }

    pub(crate) fn end_lifetime(&mut self, id: ObjectId) {
        let entry = &mut self.objects[id.0 as usize];
        entry.permits = 0;
        if let Some(object) =
            entry.object.take().filter(|object| object.size <= LARGEST_SPARE && self.spare.len() < MOST_SPARE)
        {
            self.spare.push(object);
        }
    }

    /// Whether the path has used the object this way before.
    pub(crate) fn is_touched(&self, id: ObjectId, access: Access) -> bool {
        let bit = if access == Access::Read { TOUCHED_BY_READ } else { TOUCHED_BY_WRITE };
        self.objects[id.0 as usize].permits & bit != 0
    }

    /// Notes that the path uses an object it may use. If its size is fixed, later uses of this kind need no check but
    /// that of the bounds.
    pub(crate) fn touch(&mut self, id: ObjectId, access: Access) {
        let Entry { object: Some(object), permits } = &mut self.objects[id.0 as usize] else { return };
        if access == Access::Write && matches!(object.origin, Origin::Global { .. }) {
            Rc::make_mut(object).marks.half_written = true;
        }
        let watched = self.gave_objects && matches!(object.origin, Origin::Input(_));
        let fixed = object.symbolic_size.is_none() && !object.marks.is_outdated() && !watched;
        let readable = fixed && !object.marks.is_read_with_care();
        *permits |= match access {
            Access::Read if readable => TOUCHED_BY_READ | MAY_READ,
            Access::Read => TOUCHED_BY_READ,
            Access::Write if fixed => {
                // A permitted write finds the path's own copy.
                Rc::make_mut(object);
                TOUCHED_BY_WRITE | MAY_WRITE
            }
            Access::Write => TOUCHED_BY_WRITE,
        };
    }

    /// The object becomes another one in the path's eyes: every kind of use counts as its first.
    pub(crate) fn forget_touches(&mut self, id: ObjectId) {
        self.objects[id.0 as usize].permits = 0;
    }

    /// The object that holds this address, or whose end it is.
    pub(crate) fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        let after = self.addresses.partition_point(|&start| start <= address);
        let index = after.checked_sub(1)?;
        let offset = address - self.addresses[index];
        let object = self.objects[index].object.as_deref()?;
        (offset <= object.size).then_some((ObjectId(index as u32), offset))
    }

    /// An object that can be read without a check but that of the bounds.
    #[inline(always)]
    pub(crate) fn readable(&self, id: ObjectId) -> Option<&Object> {
        let entry = &self.objects[id.0 as usize];
        if entry.permits & MAY_READ == 0 { None } else { entry.object.as_deref() }
    }

    /// An object that can be written without a check but that of the bounds.
    #[inline(always)]
    pub(crate) fn writable(&mut self, id: ObjectId) -> Option<&mut Object> {
        let entry = &mut self.objects[id.0 as usize];
        if entry.permits & MAY_WRITE == 0 { None } else { entry.object.as_mut().and_then(Rc::get_mut) }
    }

    /// An object that can be read and written without a check but that of the bounds.
    #[inline(always)]
    pub(crate) fn updatable(&mut self, id: ObjectId) -> Option<&mut Object> {
        let entry = &mut self.objects[id.0 as usize];
        let permitted = entry.permits & (MAY_READ | MAY_WRITE) == MAY_READ | MAY_WRITE;
        if permitted { entry.object.as_mut().and_then(Rc::get_mut) } else { None }
    }

    /// Copies between objects that need no check but that of the bounds, if their bytes alone say what the ranges hold.
    pub(crate) fn copy_plain(&mut self, to: Pointer, from: Pointer, size: u64) -> Option<()> {
        let range = from.offset as usize..from.offset.checked_add(size)? as usize;
        let at = to.offset as usize;
        self.readable(from.object)?;
        if to.object == from.object {
            return self.writable(to.object)?.move_whole(at, range);
        }
        self.writable(to.object)?;
        let places = [to.object.0 as usize, from.object.0 as usize];
        let [to, from] = self.objects.get_disjoint_mut(places).ok()?;
        Rc::get_mut(to.object.as_mut()?)?.copy_whole(at, from.object.as_deref()?, range)
    }

    /// Reads `size` bytes at an offset inside a living object.
    pub(crate) fn read(&self, session: &mut Session<'_>, id: ObjectId, offset: u64, size: u64) -> Value {
        let mut context = TermContext { session, addresses: &self.addresses, targets: &self.targets };
        self.objects[id.0 as usize]
            .object
            .as_deref()
            .map_or(Value::Undefined, |object| object.read(&mut context, offset, size))
    }

    /// Writes `size` bytes at an offset inside a living object.
    pub(crate) fn write(&mut self, session: &mut Session<'_>, id: ObjectId, offset: u64, size: u64, value: Value) {
        let mut context = TermContext { session, addresses: &self.addresses, targets: &self.targets };
        if let Some(object) = self.objects[id.0 as usize].object.as_mut() {
            Rc::make_mut(object).write(&mut context, offset, size, value);
        }
    }

    /// Writes one byte everywhere in a range of a living object.
    pub(crate) fn set(&mut self, session: &mut Session<'_>, to: Pointer, size: u64, byte: u8) {
        let mut context = TermContext { session, addresses: &self.addresses, targets: &self.targets };
        if let Some(object) = self.objects[to.object.0 as usize].object.as_mut() {
            Rc::make_mut(object).write_run(&mut context, to.offset, &vec![byte; size as usize]);
        }
    }

    /// Copies between ranges of living objects, which may overlap.
    pub(crate) fn copy(&mut self, session: &mut Session<'_>, to: Pointer, from: Pointer, size: u64) {
        self.copy_padding(to, from, size);
        let plain = self.get(from.object).and_then(|object| object.plain_bytes(from.offset, size)).map(<[u8]>::to_vec);
        let Some(bytes) = plain else {
            for (at, size, value) in self.pieces(session, from.object, from.offset, size) {
                self.write(session, to.object, to.offset + at, size, value);
            }
            return;
        };
        let mut context = TermContext { session, addresses: &self.addresses, targets: &self.targets };
        if let Some(object) = self.objects[to.object.0 as usize].object.as_mut() {
            Rc::make_mut(object).write_run(&mut context, to.offset, &bytes);
        }
    }

    /// What lies in a range of a living object, as pieces (offset from its start, size, value) that can be written elsewhere.
    pub(crate) fn pieces(
        &self,
        session: &mut Session<'_>,
        id: ObjectId,
        offset: u64,
        size: u64,
    ) -> Vec<(u64, u64, Value)> {
        let mut context = TermContext { session, addresses: &self.addresses, targets: &self.targets };
        self.objects[id.0 as usize]
            .object
            .as_deref()
            .map_or(Vec::new(), |object| object.pieces(&mut context, offset, size))
    }

    /// The value as a term of this width.
    pub(crate) fn as_term(&self, session: &mut Session<'_>, value: &Value, width: u32) -> TermId {
        TermContext { session, addresses: &self.addresses, targets: &self.targets }.as_term(value, width)
    }

    /// A symbolic pointer with these targets.
    pub(crate) fn add_choice(&mut self, targets: &[Target]) -> Choice {
        let first = u32::try_from(self.targets.len()).expect("fewer than 2^32 targets on one path");
        self.targets.extend_from_slice(targets);
        Choice { first, count: targets.len() as u32 }
    }

    /// Whether there are targets with these numbers.
    pub(crate) fn has_targets(&self, choice: Choice) -> bool {
        choice.first as usize + choice.count as usize <= self.targets.len()
    }

    pub(crate) fn targets(&self, choice: Choice) -> &[Target] {
        choice.of(&self.targets)
    }

    /// The living objects to which chains of pointers lead from these values and from objects that were not allocated on
    /// the heap. `None`: there is too much to look through.
    pub(crate) fn reachable(&self, values: &[Value]) -> Option<HashSet<ObjectId>> {
        let ids = (0..self.objects.len() as u32).map(ObjectId);
        let mut open: Vec<ObjectId> =
            ids.filter(|id| self.get(*id).is_some_and(|object| object.origin != Origin::Heap)).collect();
        let mut found: HashSet<ObjectId> = open.iter().copied().collect();
        let mut reach = |value: Value, open: &mut Vec<ObjectId>| match value {
            Value::Pointer(pointer) => open.extend(found.insert(pointer.object).then_some(pointer.object)),
            Value::Choice(choice) => {
                let objects = self.targets(choice).iter().filter_map(|target| target.object);
                open.extend(objects.filter(|object| found.insert(*object)));
            }
            _ => {}
        };
        values.iter().for_each(|value| reach(*value, &mut open));
        while let Some(id) = open.pop() {
            let Some(object) = self.get(id) else { continue };
            if !object.is_plain() && object.size > LARGEST_SEARCHED {
                return None;
            }
            object.pointers().for_each(|value| reach(value, &mut open));
        }
        Some(found)
    }
}

impl Choice {
    fn of(self, targets: &[Target]) -> &[Target] {
        &targets[self.first as usize..][..self.count as usize]
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Contents {
    Zero,
    Uninitialised,
}

/// What it takes to turn a value that is no plain bits into a term.
struct TermContext<'a, 'p> {
    session: &'a mut Session<'p>,
    addresses: &'a [u64],
    targets: &'a [Target],
}

impl TermContext<'_, '_> {
    fn as_term(&mut self, value: &Value, width: u32) -> TermId {
        match value {
            Value::Bits(bits) => self.session.terms.constant(u128::from(*bits), width),
            Value::Term(term) => *term,
            Value::Pointer(pointer) => {
                let address = self.addresses[pointer.object.0 as usize].wrapping_add(pointer.offset);
                self.looked_at(u128::from(address), width)
            }
            Value::Function(function) => self.looked_at(FIRST_FUNCTION + 16 * u128::from(function.0), width),
            Value::Choice(choice) => self.choice(choice.of(self.targets)),
            Value::Undefined => self.session.garbage(width),
        }
    }

    fn looked_at(&mut self, address: u128, width: u32) -> TermId {
        self.session.looks_at_addresses = true;
        self.session.terms.constant(address, width)
    }

    fn choice(&mut self, targets: &[Target]) -> TermId {
        self.session.looks_at_addresses = true;
        let mut whole = None;
        for target in targets {
            let base = target.object.map_or(0, |object| self.addresses[object.0 as usize]);
            let base = self.session.terms.constant(u128::from(base), 64);
            let address = self.session.terms.binary(BinaryOp::Add, base, target.offset);
            whole = Some(match whole {
                None => address,
                Some(rest) => self.session.terms.if_then_else(target.guard, address, rest),
            });
        }
        whole.unwrap_or_else(|| self.session.terms.constant(0, 64))
    }
}
