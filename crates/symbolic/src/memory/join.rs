//! Two memories that have a beginning in common, side by side.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::{Birth, Entry, Memory, Object};
use crate::value::ObjectId;

/// An object of another memory here.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Counterpart {
    /// The same object, of which both may have written.
    Same(ObjectId),
    /// One that only the other memory had; it was added.
    Added(ObjectId),
}

impl Counterpart {
    pub(crate) fn id(self) -> ObjectId {
        match self {
            Counterpart::Same(id) | Counterpart::Added(id) => id,
        }
    }
}

impl Memory {
    /// What is allocated from now on belongs to this lineage.
    pub(crate) fn begin_lineage(&mut self, lineage: u32) {
        if self.births.lineage == 0 {
            self.births.first = self.objects.len();
        }
        self.births.lineage = lineage;
    }

    fn birth(&self, index: usize) -> Birth {
        match index.checked_sub(self.births.first) {
            Some(place) if self.births.lineage > 0 => self.births.known[place],
            _ => (0, index as u32),
        }
    }

    /// Finds or adds a place for every object of another memory. `known` says which object here stands for the same
    /// input or function.
    pub(crate) fn accommodate(
        &mut self,
        other: &Memory,
        known: impl Fn(&Object) -> Option<ObjectId>,
    ) -> Vec<Counterpart> {
        self.gave_objects |= other.gave_objects;
        self.released |= other.released;
        let both = self.objects.len().min(other.objects.len());
        let common = (0..both).take_while(|&index| self.birth(index) == other.birth(index)).count();
        let by_birth: HashMap<Birth, ObjectId> =
            (common..self.objects.len()).map(|index| (self.birth(index), ObjectId(index as u32))).collect();
        let mut places: Vec<Counterpart> = (0..common as u32).map(|index| Counterpart::Same(ObjectId(index))).collect();
        for (index, entry) in other.objects.iter().enumerate().skip(common) {
            let birth = other.birth(index);
            let known = by_birth.get(&birth).copied().or_else(|| known(entry.object.as_deref()?));
            places.push(match known {
                Some(id) => Counterpart::Same(id),
                None => Counterpart::Added(self.add(entry, birth)),
            });
        }
        places
    }

    fn add(&mut self, entry: &Entry, birth: Birth) -> ObjectId {
        let size = entry.object.as_ref().map_or(0, |object| object.size);
        let address = self.next_address.next_multiple_of(16);
        self.next_address = address.saturating_add(size).saturating_add(super::GAP);
        self.births.known.push(birth);
        self.objects.push(entry.clone());
        self.addresses.push(address);
        ObjectId(self.objects.len() as u32 - 1)
    }

    /// Neither memory has written it since they had it in common.
    pub(crate) fn shares(&self, id: ObjectId, other: &Memory, there: ObjectId) -> bool {
        match (&self.objects[id.0 as usize].object, &other.objects[there.0 as usize].object) {
            (Some(here), Some(there)) => Rc::ptr_eq(here, there),
            (here, there) => here.is_none() && there.is_none(),
        }
    }

    /// The next range that may differ; see [`Object::next_difference`].
    pub(crate) fn next_difference(
        &self,
        id: ObjectId,
        other: &Memory,
        there: ObjectId,
        from: u64,
    ) -> Option<Range<u64>> {
        self.get(id)?.next_difference(other.get(there)?, from)
    }

    /// The ranges of an object that hold something symbolic or a pointer.
    pub(crate) fn cell_ranges(&self, id: ObjectId) -> Vec<Range<u64>> {
        self.get(id).map_or(Vec::new(), Object::cell_ranges)
    }

    /// Both memories must have used an object before it counts as used.
    pub(crate) fn limit_permits(&mut self, id: ObjectId, other: &Memory, there: ObjectId) {
        self.objects[id.0 as usize].permits &= other.objects[there.0 as usize].permits;
    }

    /// Whether the objects are alike in all but their contents.
    pub(crate) fn is_alike(&self, id: ObjectId, other: &Memory, there: ObjectId) -> bool {
        match (self.get(id), other.get(there)) {
            (Some(here), Some(there)) => {
                (here.size, here.symbolic_size, here.writable) == (there.size, there.symbolic_size, there.writable)
                    && here.origin == there.origin
            }
            (here, there) => here.is_none() && there.is_none(),
        }
    }
}
