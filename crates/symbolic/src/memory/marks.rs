//! What functions that nobody defines may have done to an object.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;

use branchwise_program::CodeFunctionId;
use branchwise_program::padding::Padding;

use super::{MAY_READ, MAY_WRITE, Memory, TOUCHED_BY_READ, TOUCHED_BY_WRITE};
use crate::changes::Access;
use crate::outside::Mark;
use crate::value::{ObjectId, Pointer, Value};

#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    /// Bytes that they may have written since the program did, apart from each other.
    outdated: Vec<Range<u64>>,
    /// Those that may have.
    by: BTreeSet<Mark>,
    /// Those of the bytes that a test can let one of them write, and how that comes there.
    changeable: Vec<Range<u64>>,
    access: Option<Rc<Access>>,
    /// One of them may know where it is.
    known_outside: Option<CodeFunctionId>,
    /// Bytes that may hold anything, whatever the program wrote there.
    padding: Option<Rc<Padding>>,
    /// It may be the same object as another.
    other_names: bool,
    /// The call that is under way has written it; of variables only.
    pub(super) half_written: bool,
}

impl Marks {
    pub(super) fn is_outdated(&self) -> bool {
        !self.outdated.is_empty()
    }

    /// Whether reads are to be looked at.
    pub(super) fn is_read_with_care(&self) -> bool {
        self.padding.is_some() || self.other_names
    }

    /// The program writes bytes.
    pub(super) fn clear(&mut self, offset: u64, size: u64) {
        if self.outdated.is_empty() {
            return;
        }
        without(&mut self.outdated, offset, size);
        without(&mut self.changeable, offset, size);
        if self.outdated.is_empty() {
            self.by.clear();
        }
    }

    /// What holds where either was so.
    pub(crate) fn join(&mut self, other: &Marks) {
        for range in &other.outdated {
            if !self.outdated.contains(range) {
                self.outdated.push(range.clone());
            }
        }
        self.by.extend(&other.by);
        // Where they differ, no test can do what both say.
        if self.access != other.access || self.changeable != other.changeable {
            (self.changeable, self.access) = (Vec::new(), None);
        }
        self.known_outside = self.known_outside.or(other.known_outside);
        self.half_written |= other.half_written;
        self.other_names |= other.other_names;
        self.padding = self.padding.take().or_else(|| other.padding.clone());
    }
}

/// Takes a range out of others.
fn without(ranges: &mut Vec<Range<u64>>, offset: u64, size: u64) {
    let end = offset.saturating_add(size);
    let parts = |range: Range<u64>| [range.start..range.end.min(offset), range.start.max(end)..range.end];
    let rest = std::mem::take(ranges).into_iter().flat_map(parts).filter(|range| !range.is_empty());
    *ranges = rest.collect();
}

impl Memory {
    /// Some bytes of an object belong to no member.
    pub(crate) fn set_padding(&mut self, id: ObjectId, padding: &Padding) {
        let entry = &mut self.objects[id.0 as usize];
        let Some(object) = entry.object.as_mut().filter(|_| !padding.is_empty()) else { return };
        entry.permits &= !MAY_READ;
        Rc::make_mut(object).marks.padding = Some(Rc::new(padding.clone()));
    }

    /// A variable may be another name of one that no file defines either.
    pub(crate) fn set_other_names(&mut self, id: ObjectId) {
        let entry = &mut self.objects[id.0 as usize];
        let Some(object) = entry.object.as_mut() else { return };
        entry.permits &= !MAY_READ;
        Rc::make_mut(object).marks.other_names = true;
    }

    pub(crate) fn has_other_names(&self, id: ObjectId) -> bool {
        self.get(id).is_some_and(|object| object.marks.other_names)
    }

    /// Tells whether an access sees nothing but padding.
    pub(crate) fn is_padding(&self, id: ObjectId, offset: u64, size: u64) -> bool {
        let padding = self.get(id).and_then(|object| object.marks.padding.as_ref());
        padding.is_some_and(|padding| padding.covers(offset, size))
    }

    /// Bytes were copied: what was padding is no better defined in the copy.
    pub(crate) fn copy_padding(&mut self, to: Pointer, from: Pointer, size: u64) {
        let copied = self.get(from.object).and_then(|object| object.marks.padding.as_ref());
        let copied = copied.filter(|padding| padding.touches(from.offset, size));
        let Some(moved) = copied.map(|padding| padding.moved(from.offset, to.offset, size)) else { return };
        if self.get(to.object).is_some_and(|object| object.marks.padding.is_none()) {
            self.set_padding(to.object, &moved);
        }
    }

    /// Somebody may have written the whole object.
    pub(crate) fn outdate(&mut self, id: ObjectId, mark: Mark) {
        let entry = &mut self.objects[id.0 as usize];
        let Some(object) = entry.object.as_mut().filter(|object| object.writable) else { return };
        entry.permits &= !(MAY_READ | MAY_WRITE);
        let object = Rc::make_mut(object);
        object.marks.outdated.clear();
        object.marks.outdated.push(0..object.size);
        object.marks.by.insert(mark);
    }

    /// Who may have written some of these bytes.
    pub(crate) fn outdated(&self, id: ObjectId, offset: u64, size: u64) -> impl Iterator<Item = Mark> {
        let marks = self.get(id).map(|object| &object.marks).filter(|marks| {
            let end = offset.saturating_add(size);
            marks.outdated.iter().any(|range| range.start < end && offset < range.end)
        });
        marks.into_iter().flat_map(|marks| &marks.by).copied()
    }

    pub(crate) fn is_marked(&self, id: ObjectId, mark: Mark) -> bool {
        self.get(id).is_some_and(|object| object.marks.by.contains(&mark))
    }

    /// A call that a test can say it of may have written all bytes that are marked.
    pub(crate) fn let_change(&mut self, id: ObjectId, access: &Rc<Access>) {
        if let Some(object) = self.get_mut(id) {
            object.marks.changeable = object.marks.outdated.clone();
            object.marks.access = Some(Rc::clone(access));
        }
    }

    /// Who has written last, no test can say.
    pub(crate) fn forget_change(&mut self, id: ObjectId) {
        if let Some(object) = self.get_mut(id) {
            (object.marks.changeable, object.marks.access) = (Vec::new(), None);
        }
    }

    /// How a test can write all these bytes, which somebody may have written.
    pub(crate) fn access(&self, id: ObjectId, offset: u64, size: u64) -> Option<Rc<Access>> {
        let marks = &self.get(id)?.marks;
        let end = offset.checked_add(size)?;
        let whole = marks.changeable.iter().any(|range| range.start <= offset && end <= range.end);
        marks.access.clone().filter(|_| whole)
    }

    /// A function that nobody defines is given the object.
    pub(crate) fn make_known_outside(&mut self, id: ObjectId, callee: CodeFunctionId) {
        self.gave_objects = true;
        if let Some(object) = self.get_mut(id) {
            object.marks.known_outside = Some(callee);
        }
    }

    /// The function that nobody defines and that was given the object last.
    pub(crate) fn known_outside(&self, id: ObjectId) -> Option<CodeFunctionId> {
        self.get(id)?.marks.known_outside
    }

    /// Whether functions that nobody defines were given objects.
    pub(crate) fn gave_objects(&self) -> bool {
        self.gave_objects
    }

    pub(crate) fn is_half_written(&self, id: ObjectId) -> bool {
        self.get(id).is_some_and(|object| object.marks.half_written)
    }

    /// A call begins: nothing of the variable is half done.
    pub(crate) fn forget_writes(&mut self, id: ObjectId) {
        if self.is_half_written(id)
            && let Some(object) = self.get_mut(id)
        {
            object.marks.half_written = false;
            // The next write is to be seen.
            self.objects[id.0 as usize].permits &= !(MAY_WRITE | TOUCHED_BY_WRITE);
        }
    }

    /// Whether the path has looked at the object or written it.
    pub(crate) fn is_used(&self, id: ObjectId) -> bool {
        self.objects[id.0 as usize].permits & (TOUCHED_BY_READ | TOUCHED_BY_WRITE) != 0
    }

    /// All objects, also those that are gone.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ObjectId> {
        (0..self.objects.len() as u32).map(ObjectId)
    }

    /// The objects that a value may point to.
    pub(crate) fn pointees(&self, value: &Value) -> Vec<ObjectId> {
        match value {
            Value::Pointer(pointer) => vec![pointer.object],
            Value::Choice(choice) => self.targets(*choice).iter().filter_map(|target| target.object).collect(),
            Value::Bits(bits) => self.object_at(*bits).map(|(object, _)| object).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// All objects that can be come to from some of them, these among it.
    pub(crate) fn reached_from(&self, roots: impl Iterator<Item = ObjectId>) -> BTreeSet<ObjectId> {
        let mut open: Vec<ObjectId> = roots.collect();
        let mut reached: HashSet<ObjectId> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            let Some(object) = self.get(id) else { continue };
            for value in object.pointers() {
                open.extend(self.pointees(&value).into_iter().filter(|object| reached.insert(*object)));
            }
        }
        reached.into_iter().collect()
    }

    pub(crate) fn marks(&self, id: ObjectId) -> Marks {
        self.get(id).map(|object| object.marks.clone()).unwrap_or_default()
    }

    pub(crate) fn set_marks(&mut self, id: ObjectId, marks: Marks) {
        if let Some(object) = self.get_mut(id) {
            object.marks = marks;
        }
    }
}
