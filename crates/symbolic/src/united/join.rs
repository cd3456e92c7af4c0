//! Two states at the same point of the program become one: where they differ, a condition decides which value holds.

use std::collections::HashSet;

use branchwise_constraints::TermId;
use branchwise_program::{Id, RegisterId};

use super::state::State;
use crate::executor::Executor;
use crate::memory::{Counterpart, Origin};
use crate::value::{Choice, ObjectId, Pointer, Target, Value};

/// They cannot be one state.
pub(super) struct Apart;

type Joined<T> = Result<T, Apart>;

/// A pointer with more targets costs more at every access than following its states apart.
const MOST_TARGETS: usize = 32;

impl<'p> Executor<'_, 'p> {
    /// One state for both, or both again.
    pub(super) fn join(&mut self, first: State<'p>, second: State<'p>) -> Result<State<'p>, Box<[State<'p>; 2]>> {
        if !are_alike(&first, &second) {
            return Err(Box::new([first, second]));
        }
        let second = self.filled_like(second, &first);
        let first = self.filled_like(first, &second);
        let kept = first.clone();
        let Some(split) = self.split(&first.condition, &second.condition) else {
            return Err(Box::new([first, second]));
        };
        let looked = self.session.looks_at_addresses;
        let witness = self.go_on_with(first).or_else(|| second.witness.clone());
        let joined = Joining { executor: self, second: &second, guard: split.guard, places: Vec::new() }.run();
        if joined.is_err() || self.session.looks_at_addresses != looked {
            self.session.looks_at_addresses = looked;
            return Err(Box::new([kept, second]));
        }
        let mut state = State { deciding: kept.deciding, again: kept.again, ..self.set_aside(witness) };
        state.condition.truncate(split.common);
        if self.session.terms.as_boolean(split.either) != Some(true) {
            state.condition.push(split.either);
        }
        Ok(state)
    }

    /// What two states that exclude each other have in common, and what tells them apart.
    fn split(&mut self, first: &[TermId], second: &[TermId]) -> Option<Split> {
        let common = first.iter().zip(second).take_while(|(here, there)| here == there).count();
        let (first, second) = (&first[common..], &second[common..]);
        let terms = &mut self.session.terms;
        let (&here, &there) = (first.first()?, second.first()?);
        if terms.not(here) == there {
            let (rest, other_rest) = (terms.conjunction(&first[1..]), terms.conjunction(&second[1..]));
            return Some(Split { common, guard: here, either: terms.if_then_else(here, rest, other_rest) });
        }
        let (only_first, only_second) = (terms.conjunction(first), terms.conjunction(second));
        let guard = if first.len() <= second.len() { only_first } else { terms.not(only_second) };
        Some(Split { common, guard, either: terms.or(only_first, only_second) })
    }

    /// An input that the other state has looked at, and this one has not, is there all the same.
    fn filled_like(&mut self, state: State<'p>, other: &State<'p>) -> State<'p> {
        let mut missing: Vec<_> = other.filled.difference(&state.filled).copied().collect();
        missing.retain(|shape| other.shape_objects.contains_key(shape));
        if missing.is_empty() {
            return state;
        }
        missing.sort();
        let witness = self.go_on_with(state);
        for shape in missing {
            let object = self.input_object(shape);
            if self.filled.insert(shape) {
                self.fill(shape, object, 0);
            }
        }
        self.set_aside(witness)
    }
}

struct Split {
    /// How many conditions both begin with.
    common: usize,
    /// Holds for the inputs of the first and not for those of the second.
    guard: TermId,
    /// What the inputs of either satisfy beyond that.
    either: TermId,
}

/// Whether what cannot be one of two things is the same in both.
fn are_alike(first: &State<'_>, second: &State<'_>) -> bool {
    let frames = first.frames.len() == second.frames.len()
        && first.frames.iter().zip(&second.frames).all(|(here, there)| {
            (here.function, here.block, here.next, here.base) == (there.function, there.block, there.next, there.base)
        });
    let feeds = first.feeds_taken == second.feeds_taken && first.stub_calls == second.stub_calls;
    let feeds = feeds && first.calls == second.calls;
    let registers = first.registers_used.is_like(&second.registers_used);
    let streams = first.input == second.input && first.wrote_files == second.wrote_files;
    let variadic = first.variable_arguments.is_empty() && second.variable_arguments.is_empty();
    frames && feeds && registers && streams && variadic && first.registers.len() == second.registers.len()
}

struct Joining<'e, 's, 'p, 'o> {
    /// Works on the first state.
    executor: &'e mut Executor<'s, 'p>,
    second: &'o State<'p>,
    /// Holds for the inputs of the first state and not for those of the second.
    guard: TermId,
    /// Where the objects of the second state are in the first.
    places: Vec<Counterpart>,
}

impl Joining<'_, '_, '_, '_> {
    fn run(&mut self) -> Joined<()> {
        self.accommodate();
        self.join_frames()?;
        self.join_sets()?;
        self.join_memory()?;
        self.join_registers()
    }

    fn accommodate(&mut self) {
        let Executor { memory, shape_objects, function_objects, .. } = &mut *self.executor;
        let known = |object: &crate::memory::Object| match object.origin {
            Origin::Input(shape) => shape_objects.get(&shape).copied(),
            Origin::Function(function) => function_objects.get(&function).copied(),
            _ => None,
        };
        self.places = memory.accommodate(&self.second.memory, known);
    }

    fn place(&self, object: ObjectId) -> ObjectId {
        self.places[object.0 as usize].id()
    }

    fn join_frames(&mut self) -> Joined<()> {
        for (index, there) in self.second.frames.iter().enumerate() {
            let objects: Vec<ObjectId> = there.stack_objects.iter().map(|&object| self.place(object)).collect();
            let here = &mut self.executor.frames[index];
            if here.stack_objects != objects || here.passes != there.passes {
                return Err(Apart);
            }
            for count in &there.loops {
                match here.loops.iter_mut().find(|known| known.head == count.head) {
                    Some(known) => {
                        known.iterations = known.iterations.max(count.iterations);
                        known.open |= count.open;
                    }
                    None => here.loops.push(count.clone()),
                }
            }
            here.switched = None;
            for event in there.other_events.iter().copied().chain([there.last_event]) {
                if event != here.last_event && !here.other_events.contains(&event) {
                    here.other_events.push(event);
                }
            }
        }
        Ok(())
    }

    fn join_sets(&mut self) -> Joined<()> {
        let placed =
            |objects: &HashSet<ObjectId>| objects.iter().map(|&object| self.place(object)).collect::<HashSet<_>>();
        let placed_list = |objects: &[ObjectId]| objects.iter().map(|&object| self.place(object)).collect::<Vec<_>>();
        let second = self.second;
        let alike = self.executor.freed == placed(&second.freed)
            && self.executor.opened == placed_list(&second.opened)
            && self.executor.closed == placed_list(&second.closed);
        if !alike {
            return Err(Apart);
        }
        let overwritten = placed(&second.overwritten);
        let shapes: Vec<_> = second.shape_objects.iter().map(|(&shape, &object)| (shape, self.place(object))).collect();
        let functions: Vec<_> =
            second.function_objects.iter().map(|(&function, &object)| (function, self.place(object))).collect();
        let executor = &mut *self.executor;
        executor.overwritten.retain(|object| overwritten.contains(object));
        executor.filled.extend(&second.filled);
        executor.shape_objects.extend(shapes);
        executor.function_objects.extend(functions);
        executor.decided.retain(|condition, holds| second.decided.get(condition) == Some(holds));
        for (&what, touched) in &second.touched {
            let entry = executor.touched.entry(what).or_default();
            entry.written |= touched.written;
            entry.beyond |= touched.beyond;
        }
        executor.registers_used.join(&second.registers_used);
        executor.notes.caveats.add(&second.notes.caveats);
        executor.instructions = executor.instructions.max(second.instructions);
        executor.asked = executor.asked.max(second.asked);
        Ok(())
    }

    fn join_memory(&mut self) -> Joined<()> {
        for index in 0..self.places.len() {
            let there = ObjectId(index as u32);
            match self.places[index] {
                Counterpart::Added(here) => {
                    let marks = self.executor.memory.marks(here);
                    self.translate_object(here, there)?;
                    self.executor.memory.set_marks(here, marks);
                }
                Counterpart::Same(here) => {
                    let Executor { memory, .. } = &mut *self.executor;
                    memory.limit_permits(here, &self.second.memory, there);
                    if memory.shares(here, &self.second.memory, there) {
                        continue;
                    }
                    if !memory.is_alike(here, &self.second.memory, there) {
                        return Err(Apart);
                    }
                    let mut marks = self.executor.memory.marks(here);
                    marks.join(&self.second.memory.marks(there));
                    self.join_object(here, there)?;
                    self.executor.memory.set_marks(here, marks);
                }
            }
        }
        Ok(())
    }

    /// An object that only the second state has: what it points to may have other numbers here.
    fn translate_object(&mut self, here: ObjectId, there: ObjectId) -> Joined<()> {
        for range in self.second.memory.cell_ranges(there) {
            let (offset, size) = (range.start, range.end - range.start);
            let value = self.second.memory.read(self.executor.session, there, offset, size);
            let value = self.translated(value);
            self.executor.memory.write(self.executor.session, here, offset, size, value);
        }
        Ok(())
    }

    fn join_object(&mut self, here: ObjectId, there: ObjectId) -> Joined<()> {
        let mut from = 0;
        while let Some(range) = self.executor.memory.next_difference(here, &self.second.memory, there, from) {
            from = range.end;
            let (offset, size) = (range.start, range.end - range.start);
            if size > 8 {
                return Err(Apart);
            }
            let first = self.executor.memory.read(self.executor.session, here, offset, size);
            let second = self.second.memory.read(self.executor.session, there, offset, size);
            let second = self.translated(second);
            if self.is_same(&first, &second) {
                continue;
            }
            let value = self.either(8 * size as u32, &first, &second)?;
            self.executor.memory.write(self.executor.session, here, offset, size, value);
        }
        Ok(())
    }

    fn join_registers(&mut self) -> Joined<()> {
        for index in 0..self.second.frames.len() {
            let (base, function) = (self.second.frames[index].base, self.second.frames[index].function);
            let widths = &self.executor.code.functions[function].registers;
            for register in 0..widths.len() {
                let at = base + register;
                let first = self.executor.registers[at];
                let second = self.translated(self.second.registers[at]);
                if self.is_same(&first, &second) {
                    continue;
                }
                // A register that is read later was written on all ways to the point where they meet: what cannot be
                // joined is one that nobody reads any more.
                let value = self.either(widths[RegisterId::new(register)], &first, &second);
                self.executor.registers[at] = value.unwrap_or(Value::Undefined);
            }
        }
        Ok(())
    }

    /// A value of the second state as one of the first.
    fn translated(&mut self, value: Value) -> Value {
        match value {
            Value::Pointer(Pointer { object, offset }) => {
                Value::Pointer(Pointer { object: self.place(object), offset })
            }
            Value::Choice(choice) => Value::Choice(self.translated_choice(choice)),
            other => other,
        }
    }

    fn translated_choice(&mut self, choice: Choice) -> Choice {
        let targets: Vec<Target> = self
            .second
            .memory
            .targets(choice)
            .iter()
            .map(|target| Target { object: target.object.map(|object| self.place(object)), ..*target })
            .collect();
        let memory = &mut self.executor.memory;
        if memory.has_targets(choice) && same_targets(memory.targets(choice), &targets) {
            return choice;
        }
        memory.add_choice(&targets)
    }

    fn is_same(&self, first: &Value, second: &Value) -> bool {
        match (first, second) {
            (Value::Bits(first), Value::Bits(second)) => first == second,
            (Value::Term(first), Value::Term(second)) => first == second,
            (Value::Pointer(first), Value::Pointer(second)) => first == second,
            (Value::Function(first), Value::Function(second)) => first == second,
            (Value::Choice(first), Value::Choice(second)) => {
                let memory = &self.executor.memory;
                first == second || same_targets(memory.targets(*first), memory.targets(*second))
            }
            (Value::Undefined, Value::Undefined) => true,
            _ => false,
        }
    }

    fn either(&mut self, width: u32, first: &Value, second: &Value) -> Joined<Value> {
        if matches!((first, second), (Value::Undefined, _) | (_, Value::Undefined)) {
            // Whoever lets it decide anything stops there.
            return Ok(Value::Undefined);
        }
        let points = |value: &Value| matches!(value, Value::Pointer(_) | Value::Choice(_) | Value::Function(_));
        let may_point = |value: &Value| points(value) || matches!(value, Value::Bits(0));
        let executor = &mut *self.executor;
        if points(first) || points(second) {
            if width != 64 || !may_point(first) || !may_point(second) {
                return Err(Apart);
            }
            let value = executor.one_of_two(self.guard, first, second);
            return match value {
                Value::Choice(choice) if executor.memory.targets(choice).len() > MOST_TARGETS => Err(Apart),
                value => Ok(value),
            };
        }
        let (first, second) = (executor.as_term(first, width), executor.as_term(second, width));
        let term = executor.session.terms.if_then_else(self.guard, first, second);
        Ok(executor.term_value(term))
    }
}

fn same_targets(first: &[Target], second: &[Target]) -> bool {
    let same = |(first, second): (&Target, &Target)| {
        (first.guard, first.object, first.offset) == (second.guard, second.object, second.offset)
    };
    first.len() == second.len() && first.iter().zip(second).all(same)
}
