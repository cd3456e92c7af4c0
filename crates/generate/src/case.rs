//! From a model of the inputs to a test case.

use std::collections::BTreeMap;

use branchwise_constraints::{Evaluator, Model, TermId};
use branchwise_program::types::TypeKind;
use branchwise_program::{FunctionId, Id};
use branchwise_replay::{Blob, Call, Change, FunctionAt, Object, PointerAt, Register, StreamContents, TestCase};
use branchwise_symbolic::{Cell, Content, InputKey, Path, RegisterValue, Session, ShapeId};

use crate::stream_text::stream_text;

/// The inputs that the model describes, as far as this path asked for them.
pub fn test_case(session: &Session<'_>, model: &Model, path: &Path) -> TestCase {
    let (objects, placed) = (Vec::new(), BTreeMap::new());
    let mut builder = Builder { session, model, path, evaluator: Evaluator::new(), objects, placed };
    let calls = path.calls.iter().zip((0..=session.calls_before() - path.skipped_calls).rev());
    let before = calls.map(|(&function, call)| Call { function, inputs: builder.inputs(call, function) }).collect();
    let inputs = builder.inputs(0, session.function);
    let feeds = builder.feeds(path);
    let changes = builder.changes(path);
    let stdin = stream_text(&path.standard_input, |term| builder.value(term), &session.terms);
    let registers = builder.registers(path);
    let objects = builder.objects;
    TestCase { before, feeds, changes, stdin, registers, ..TestCase::new(session.function, inputs, objects) }
}

struct Builder<'a, 'p> {
    session: &'a Session<'p>,
    model: &'a Model,
    path: &'a Path,
    /// Shared by all cells: what one of them needed, the next need not compute again.
    evaluator: Evaluator,
    objects: Vec<Object>,
    placed: BTreeMap<ShapeId, usize>,
}

impl Builder<'_, '_> {
    /// What a function gets in the call that this many others follow.
    fn inputs(&mut self, call: u32, function: FunctionId) -> Vec<Blob> {
        let map = &self.session.program.map;
        let sizes = map.functions[function].inputs.iter().map(|input| map.types[input.type_id].size);
        let blob = |(index, size): (usize, u64)| {
            let root = self.session.inputs.root(InputKey { call, function, index: index as u32 });
            root.map_or(Blob::of_bytes(vec![0; size as usize]), |shape| self.blob(shape, size))
        };
        sizes.enumerate().map(blob).collect()
    }

    fn feeds(&mut self, path: &Path) -> Vec<Vec<Blob>> {
        let count = path.feeds_taken.keys().next_back().map_or(0, |feed| feed.index() + 1);
        let mut feeds = vec![Vec::new(); count];
        for (&feed, &taken) in &path.feeds_taken {
            let size = self.session.program.map.types[self.session.program.map.feeds[feed].type_id].size;
            let shapes = (0..taken).filter_map(|nth| self.session.inputs.fed(feed, nth));
            feeds[feed.index()] = shapes.map(|shape| self.blob(shape, size)).collect();
        }
        feeds
    }

    /// What stubs write beside that, where it is not what was there.
    fn changes(&mut self, path: &Path) -> Vec<Change> {
        let mut changes = Vec::new();
        for change in &path.changes {
            if change.happens.is_some_and(|happens| self.value(happens) == 0) {
                continue;
            }
            let bytes = self.value(change.value).to_le_bytes()[..change.bytes as usize].to_vec();
            let stub = self.session.program.map.stubs[change.call.stub].name.clone();
            changes.push(Change { stub, calls_before: change.call.calls_before, place: change.place.clone(), bytes });
        }
        changes
    }

    fn registers(&mut self, path: &Path) -> Vec<Register> {
        let used = &path.registers;
        let mut registers: BTreeMap<u64, Register> = BTreeMap::new();
        let addresses = used.written.iter().chain(used.read.keys()).chain(used.found.keys());
        for &address in addresses {
            registers.insert(address, Register { address, ..Register::default() });
        }
        for (address, register) in &mut registers {
            register.holds = used.found.get(address).map_or(Vec::new(), |value| self.register_value(value));
            let read = used.read.get(address).into_iter().flatten();
            register.reads = read.map(|value| self.register_value(value)).collect();
        }
        registers.into_values().collect()
    }

    fn register_value(&mut self, value: &RegisterValue) -> Vec<u8> {
        self.value(value.term).to_le_bytes()[..value.bytes as usize].to_vec()
    }

    fn blob(&mut self, shape: ShapeId, size: u64) -> Blob {
        let mut blob = Blob::of_bytes(vec![0; size as usize]);
        // A shape that the code never looked at has no cells: its contents do not matter.
        let cells = self.session.inputs.shape(shape).cells.as_deref().unwrap_or(&[]);
        for cell in cells.iter().filter(|cell| cell.offset < size) {
            self.cell(cell, &mut blob);
        }
        blob.pointers.sort_by_key(|pointer| pointer.at);
        blob.functions.sort_by_key(|pointer| pointer.at);
        blob
    }

    fn value(&mut self, term: TermId) -> u128 {
        self.evaluator.evaluate(&self.session.terms, self.model, term)
    }

    fn cell(&mut self, cell: &Cell, blob: &mut Blob) {
        match &cell.content {
            &Content::Scalar { bytes, term } => {
                let value = self.value(term).to_le_bytes();
                let at = cell.offset as usize;
                blob.bytes[at..at + bytes as usize].copy_from_slice(&value[..bytes as usize]);
            }
            Content::NullPointer(_) => {}
            &Content::Pointer(target) => {
                if let Some((object, offset)) = self.pointed(target) {
                    blob.pointers.push(PointerAt { at: cell.offset, object, offset });
                }
            }
            Content::FunctionPointer { choice, functions } => {
                let number = (self.value(*choice) as usize).checked_sub(1);
                if let Some(&callable) = number.and_then(|number| functions.get(number)) {
                    blob.functions.push(FunctionAt { at: cell.offset, callable });
                }
            }
        }
    }

    /// The index of the object that the pointer points to, and where inside of it; `None` if it is null.
    fn pointed(&mut self, id: ShapeId) -> Option<(usize, u64)> {
        let shape = self.session.inputs.shape(id);
        if shape.is_null.is_some_and(|is_null| self.value(is_null) == 1) {
            return None;
        }
        let Some(instead) = shape.instead.iter().find(|instead| self.value(instead.chosen) == 1) else {
            let before = shape.before.map_or(0, |(_, before)| self.value(before) as u64);
            return Some((self.object(id), before * shape.element_size));
        };
        let offset = instead.members.as_ref().and_then(|members| {
            let number = self.value(members.number) as usize;
            members.offsets.get(number).copied()
        });
        Some((self.object(instead.other), offset.unwrap_or(0)))
    }

    /// A stream that nobody looked at is empty.
    fn stream_contents(&mut self, id: ShapeId) -> StreamContents {
        let Some(stream) = self.path.streams.get(&id) else { return StreamContents::default() };
        let session = self.session;
        StreamContents {
            bytes: stream_text(&stream.pieces, |term| self.value(term), &session.terms),
            reading_fails: stream.reading_fails,
            at_end: stream.at_end,
            room: stream.room.map(|room| self.value(room) as u64),
            closing_fails: stream.closing_fails,
        }
    }

    fn object(&mut self, id: ShapeId) -> usize {
        let shape = self.session.inputs.shape(id);
        if let Some(&index) = self.placed.get(&id) {
            return index;
        }
        let before = shape.before.map_or(0, |(_, before)| self.value(before) as u64);
        let count =
            shape.extra_elements.map_or(shape.capacity, |extra| shape.least + before + self.value(extra) as u64);
        let index = self.objects.len();
        self.placed.insert(id, index);
        if self.session.program.map.types[shape.element].kind == TypeKind::Stream {
            let contents = self.stream_contents(id);
            self.objects.push(Object::stream(shape.element, contents));
            return index;
        }
        self.objects.push(Object::array(shape.element, count, Blob::default()));
        self.objects[index].blob = self.blob(id, count * shape.element_size);
        index
    }
}
