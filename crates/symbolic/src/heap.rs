//! Dynamic memory: objects that live until the program gives them back.

use branchwise_constraints::{CompareOp, TermId};
use branchwise_program::assumption::catalogue::ALLOCATION_SUCCEEDS;
use branchwise_program::map::FeedOrigin;

use crate::address::Access;
use crate::executor::{Executor, Step};
use crate::memory::{Contents, Origin};
use crate::path::{AlternativeKind, FaultKind};
use crate::value::{ObjectId, Pointer, Target, Value};

/// An object whose size is symbolic has room for the first of these that its size does not exceed: what the code then
/// does with it is cheaper in a small one. The last is the largest that an allocation may ask for; room that nobody
/// writes to costs nothing.
const ROOMS: [u64; 3] = [128, 4096, 256 << 20];

/// How large a heap object is.
struct HeapSize {
    /// Bytes of room.
    room: u64,
    /// Its size as a term, where the room is only an upper bound.
    symbolic: Option<TermId>,
}

impl Executor<'_, '_> {
    /// `__bw_allocate(size, alignment, contents)`
    pub(crate) fn allocate(&mut self, size: &Value, alignment: &Value, contents: &Value) -> Step<Value> {
        let size = self.heap_size(size)?;
        let alignment = self.concretise(alignment, 64)?;
        let contents = if matches!(contents, Value::Bits(0)) { Contents::Uninitialised } else { Contents::Zero };
        Ok(self.heap_object(&size, alignment, contents))
    }

    /// `__bw_release(object)`
    pub(crate) fn release(&mut self, object: &Value) -> Step<()> {
        if let Some(object) = self.releasable(object)? {
            self.end_heap_lifetime(object);
        }
        Ok(())
    }

    /// `__bw_resize(object, size)`: what lies in both the old and the new object is the same.
    pub(crate) fn resize(&mut self, object: &Value, size: &Value) -> Step<Value> {
        let size = self.heap_size(size)?;
        let Some(old) = self.releasable(object)? else {
            return Ok(self.heap_object(&size, 16, Contents::Uninitialised));
        };
        self.touch(old, Access::Read)?;
        self.note_outdated(old, 0, u64::MAX)?;
        let old_size = self.known_size(old)?;
        let moved = self.heap_object(&size, 16, Contents::Uninitialised);
        let Value::Pointer(to) = moved else { return Ok(moved) };
        for (at, size, value) in self.memory.pieces(self.session, old, 0, old_size.min(size.room)) {
            self.memory.write(self.session, to.object, at, size, value);
        }
        self.end_heap_lifetime(old);
        Ok(moved)
    }

    /// Whether an object was given back; pointers to it may not even be compared.
    pub(crate) fn is_freed(&self, object: ObjectId) -> bool {
        self.freed.contains(&object)
    }

    /// `__bw_allocation_fails()`: the next value of a feed says whether the allocation does, unless the user states that
    /// none fails.
    pub(crate) fn allocation_fails(&mut self) -> Step<Value> {
        let feeds = &self.session.program.map.feeds;
        let Some((feed, _)) = feeds.iter().find(|(_, feed)| feed.origin == FeedOrigin::AllocationFails) else {
            self.rest_on(ALLOCATION_SUCCEEDS.assumed());
            return Ok(Value::Bits(0));
        };
        let object = self.memory.allocate(1, 1, Origin::Stack, Contents::Zero);
        self.feed_into(feed, Pointer { object, offset: 0 })?;
        let value = self.memory.read(self.session, object, 0, 1);
        self.memory.end_lifetime(object);
        let term = self.as_term(&value, 8);
        let zero = self.session.terms.constant(0, 8);
        let succeeds = self.session.terms.compare(CompareOp::Eq, term, zero);
        let succeeds = self.decide(succeeds, [AlternativeKind::Continue; 2])?;
        Ok(Value::Bits(u64::from(!succeeds)))
    }

    /// `__bw_new_fails()`: no test makes `new` fail. That matters where code runs because of the exception.
    pub(crate) fn new_fails(&mut self) -> Value {
        // Where an object of the test cannot be made, there is no test.
        if self.makes_objects() {
            return Value::Bits(0);
        }
        self.let_allocator_act();
        if self.session.shared.reacts_to_exceptions() {
            self.rest_on(ALLOCATION_SUCCEEDS.about("operator new"));
        }
        Value::Bits(0)
    }

    fn heap_size(&mut self, size: &Value) -> Step<HeapSize> {
        if let Value::Undefined = size {
            return self.fail(FaultKind::UninitialisedRead, "a size that was never written");
        }
        if !matches!(size, Value::Bits(_)) {
            let term = self.as_term(size, 64);
            for room in ROOMS {
                let most = self.session.terms.constant(u128::from(room), 64);
                let fits = self.session.terms.compare(CompareOp::Ule, term, most);
                if self.decide(fits, [AlternativeKind::Continue; 2])? {
                    return Ok(HeapSize { room, symbolic: Some(term) });
                }
            }
        }
        Ok(HeapSize { room: self.concretise(size, 64)?, symbolic: None })
    }

    fn heap_object(&mut self, size: &HeapSize, alignment: u64, contents: Contents) -> Value {
        let object = self.memory.allocate(size.room, alignment, Origin::Heap, contents);
        if let Some(made) = self.memory.get_mut(object) {
            made.symbolic_size = size.symbolic;
        }
        self.note_allocation(object);
        Value::Pointer(Pointer { object, offset: 0 })
    }

    fn known_size(&mut self, object: ObjectId) -> Step<u64> {
        let Some(found) = self.memory.get(object) else { return Ok(0) };
        match (found.size, found.symbolic_size) {
            (size, None) => Ok(size),
            (_, Some(term)) => self.concretise(&Value::Term(term), 64),
        }
    }

    fn end_heap_lifetime(&mut self, object: ObjectId) {
        self.memory.end_lifetime(object);
        self.freed.insert(object);
    }

    /// The object that a pointer given to `free` means; `None` for null.
    fn releasable(&mut self, pointer: &Value) -> Step<Option<ObjectId>> {
        match pointer {
            Value::Bits(0) => Ok(None),
            Value::Pointer(pointer) => self.releasable_object(*pointer).map(Some),
            Value::Choice(choice) => {
                let targets = self.memory.targets(*choice).to_vec();
                self.releasable_target(&targets)
            }
            Value::Bits(bits) => match self.memory.object_at(*bits) {
                Some((object, offset)) => self.releasable_object(Pointer { object, offset }).map(Some),
                None => self.fail(FaultKind::InvalidFree, format!("address {bits:#x}, where no object is, is freed")),
            },
            Value::Undefined => self.fail(FaultKind::UninitialisedRead, "a pointer that was never written is freed"),
            Value::Function(_) => self.fail(FaultKind::InvalidFree, "the address of a function is freed"),
            Value::Term(_) => self.unsupported("free() of a pointer made from a symbolic integer"),
        }
    }

    fn releasable_target(&mut self, targets: &[Target]) -> Step<Option<ObjectId>> {
        let Some(chosen) = self.settled_target(targets)? else { return Ok(None) };
        let offset = self.term_value(chosen.offset);
        let offset = self.concretise(&offset, 64)?;
        match chosen.object {
            Some(object) => self.releasable_object(Pointer { object, offset }).map(Some),
            None => self.releasable(&Value::Bits(offset)),
        }
    }

    fn releasable_object(&mut self, pointer: Pointer) -> Step<ObjectId> {
        let Some(object) = self.memory.get(pointer.object) else {
            return match self.is_freed(pointer.object) {
                true => self.fail(FaultKind::DoubleFree, "an object that was freed before is freed again"),
                false => self.fail(FaultKind::InvalidFree, "a local object of a function that returned is freed"),
            };
        };
        if matches!(object.origin, Origin::Input(shape) if self.is_stream_shape(shape)) {
            return self.unsupported("free() of a stream");
        }
        let from_heap = match object.origin {
            Origin::Heap => true,
            // An input stands for what the caller may have allocated.
            Origin::Input(shape) => !self.session.inputs.shape(shape).variable,
            Origin::Stack | Origin::Global { .. } | Origin::Function(_) => false,
        };
        let what = self.describe(pointer.object);
        match pointer.offset {
            _ if !from_heap => {
                self.fail(FaultKind::InvalidFree, format!("{what}, which malloc() did not give, is freed"))
            }
            0 => Ok(pointer.object),
            offset => {
                self.fail(FaultKind::InvalidFree, format!("byte {} of {what} is freed, not its start", offset as i64))
            }
        }
    }
}
