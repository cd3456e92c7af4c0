//! What the bytes of one object may hold.

use std::collections::BTreeMap;

use branchwise_program::GlobalId;
use branchwise_program::code::{Code, Initializer, Operand};

use crate::number::Number;
use crate::thresholds::Thresholds;
use crate::value::{ObjectId, Targets, Value};

/// So many elements of an initial image are joined to one.
const MOST_ELEMENTS: u64 = 4096;

/// Pieces of memory that do not overlap, and what holds for all other bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Bytes.
    pub size: u64,
    /// By offset.
    cells: BTreeMap<u64, Cell>,
    base: Base,
    /// What any byte outside the cells may be a part of the address of.
    stray: Targets,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cell {
    /// Bytes.
    size: u64,
    value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Base {
    Unknown,
    Zero,
    /// As the program's image has it.
    Image(GlobalId),
    /// Elements of `size` bytes at offsets that are `phase` modulo `size`; each is within the value.
    Elements {
        size: u64,
        phase: u64,
        value: Value,
    },
}

/// Offsets that an access of some bytes may have, inside the object.
struct Span<'a> {
    offset: &'a Number,
    low: u64,
    high: u64,
    size: u64,
}

impl Span<'_> {
    /// The accesses are elements side by side, so that a cell of their size is one of them or has no byte in common.
    fn phase(&self) -> Option<u64> {
        let (modulus, _) = self.offset.congruence();
        modulus.is_multiple_of(self.size).then_some(self.low % self.size)
    }

    fn is_single(&self) -> bool {
        self.low == self.high
    }

    fn count(&self) -> u64 {
        let (modulus, _) = self.offset.congruence();
        (self.high - self.low) / modulus.max(1) + 1
    }
}

impl Contents {
    pub(crate) fn unknown(size: u64) -> Self {
        Contents { size, cells: BTreeMap::new(), base: Base::Unknown, stray: Targets::default() }
    }

    pub(crate) fn image(size: u64, global: GlobalId) -> Self {
        Contents { base: Base::Image(global), ..Contents::unknown(size) }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.cells.is_empty() && self.base == Base::Unknown
    }

    /// Everything that stands in it may be the address of these.
    pub(crate) fn targets(&self, code: &Code) -> Targets {
        let mut targets = self.stray.clone();
        self.cells.values().for_each(|cell| targets.add(&cell.value.targets));
        targets.add(&self.base_targets(code));
        targets.anywhere()
    }

    fn base_targets(&self, code: &Code) -> Targets {
        match &self.base {
            Base::Unknown => Targets::unknown(),
            Base::Zero => Targets::default(),
            Base::Elements { value, .. } => value.targets.clone(),
            Base::Image(global) => {
                let mut targets = Targets::default();
                let initializer = code.globals[*global].initializer.as_ref();
                let addresses = initializer.into_iter().flat_map(|initializer| &initializer.addresses);
                addresses.for_each(|(_, operand)| targets.add(&image_address(code, operand).targets));
                targets
            }
        }
    }

    /// `None` if no offset lies inside.
    fn span<'a>(&self, offset: &'a Number, size: u64) -> Option<Span<'a>> {
        let last = self.size.checked_sub(size)?;
        let (low, high) = offset.unsigned_bounds();
        (low <= last).then(|| Span { offset, low, high: high.min(last), size })
    }

    /// What an access of so many bytes reads; `None` if it is never inside.
    pub(crate) fn load(&self, code: &Code, offset: &Number, size: u64) -> Option<Value> {
        let span = self.span(offset, size)?;
        if span.is_single()
            && let Some(cell) = self.cells.get(&span.low).filter(|cell| cell.size == size)
        {
            return Some(cell.value.clone());
        }
        let (mut exact, mut loaded) = (0, None);
        for (at, cell) in self.touching(&span) {
            let aligned = cell.size == size && span.phase().is_some_and(|phase| at % size == phase);
            if !aligned {
                return Some(self.smeared(code, size));
            }
            if offset.contains(at) && at >= span.low && at <= span.high {
                exact += 1;
                join_into(&mut loaded, &cell.value);
            }
        }
        if exact < span.count() {
            join_into(&mut loaded, &self.base_value(code, &span));
        }
        loaded
    }

    /// Some of the bytes, in no known order.
    fn smeared(&self, code: &Code, size: u64) -> Value {
        let mut value = Value::any(8 * size as u32);
        value.targets.add(&self.targets(code));
        value
    }

    fn touching(&self, span: &Span<'_>) -> impl Iterator<Item = (u64, &Cell)> {
        let (low, end) = (span.low, span.high + span.size);
        let before = self.cells.range(..low).next_back().filter(|(at, cell)| *at + cell.size > low);
        before.into_iter().chain(self.cells.range(low..end)).map(|(at, cell)| (*at, cell))
    }

    fn base_value(&self, code: &Code, span: &Span<'_>) -> Value {
        let width = 8 * span.size as u32;
        let mut value = match &self.base {
            Base::Unknown => Value::any(width),
            Base::Zero => Value::plain(Number::constant(width, 0)),
            Base::Elements { size, phase, value } if *size == span.size && span.phase() == Some(*phase) => {
                value.clone()
            }
            Base::Elements { .. } => return self.smeared(code, span.size),
            Base::Image(global) => {
                let step = span.offset.congruence().0.max(1);
                match image_elements(code, *global, span.low, span.high, step, span.size) {
                    Some(value) => value,
                    None => return self.smeared(code, span.size),
                }
            }
        };
        value.targets.add(&self.stray);
        value
    }

    /// Writes a value of so many bytes: at one place if there is only one and `strong`, else at some of them. `false` if
    /// none is inside.
    pub(crate) fn store(&mut self, code: &Code, offset: &Number, size: u64, value: &Value, strong: bool) -> bool {
        let Some(span) = self.span(offset, size) else { return false };
        if strong && span.is_single() {
            self.clear(code, span.low, size);
            self.cells.insert(span.low, Cell { size, value: value.clone() });
            return true;
        }
        let phase = span.phase();
        let touched: Vec<u64> = self.touching(&span).map(|(at, _)| at).collect();
        let mut exact = 0;
        for at in touched {
            let Some(cell) = self.cells.get_mut(&at) else { continue };
            let aligned = cell.size == size && phase.is_some_and(|phase| at % size == phase);
            if aligned && offset.contains(at) && at >= span.low && at <= span.high {
                exact += 1;
                cell.value = cell.value.join(value);
            } else if !aligned {
                let mut smeared = Value::any(8 * cell.size as u32);
                smeared.targets.add(&cell.value.targets.anywhere());
                smeared.targets.add(&value.targets.anywhere());
                cell.value = smeared;
            }
        }
        if exact < span.count() {
            self.absorb(code, size, phase, value);
        }
        true
    }

    /// Some of the bytes outside the cells may be a part of this value.
    fn absorb(&mut self, code: &Code, size: u64, phase: Option<u64>, value: &Value) {
        let elements = phase.and_then(|phase| self.base_as_elements(code, size, phase).map(|base| (phase, base)));
        match elements {
            Some((phase, base)) => self.base = Base::Elements { size, phase, value: base.join(value) },
            None => {
                self.forget_base(code);
                self.stray.add(&value.targets.anywhere());
            }
        }
    }

    fn base_as_elements(&self, code: &Code, size: u64, phase: u64) -> Option<Value> {
        match &self.base {
            Base::Unknown => None,
            Base::Zero => Some(Value::plain(Number::constant(8 * size as u32, 0))),
            Base::Elements { size: own, phase: at, value } => (*own == size && *at == phase).then(|| value.clone()),
            Base::Image(global) => {
                let last = self.size.checked_sub(size)?;
                image_elements(code, *global, phase, last, size, size)
            }
        }
    }

    fn forget_base(&mut self, code: &Code) {
        let targets = self.base_targets(code).anywhere();
        self.stray.add(&targets);
        self.base = Base::Unknown;
    }

    /// Makes room for a new cell.
    fn clear(&mut self, code: &Code, at: u64, size: u64) {
        let offset = Number::constant(64, at.into());
        let span = Span { offset: &offset, low: at, high: at, size };
        let touched: Vec<(u64, u64)> = self.touching(&span).map(|(at, cell)| (at, cell.size)).collect();
        for (start, length) in touched {
            let Some(cell) = self.cells.remove(&start) else { continue };
            if start < at || start + length > at + size {
                // The bytes that are left belong to the rest now.
                self.stray.add(&cell.value.targets.anywhere());
                self.forget_base(code);
            }
        }
    }

    /// Anything may stand anywhere, these addresses among it.
    pub(crate) fn smear(&mut self, code: &Code, targets: &Targets) {
        let mut all = self.targets(code);
        all.add(&targets.anywhere());
        *self = Contents { stray: all, ..Contents::unknown(self.size) };
    }

    /// All bytes are zero.
    pub(crate) fn set_zero(&mut self) {
        *self = Contents { base: Base::Zero, ..Contents::unknown(self.size) };
    }

    pub(crate) fn join(&self, code: &Code, other: &Contents) -> Contents {
        self.merge(code, other, Value::join)
    }

    pub(crate) fn widen(&self, code: &Code, next: &Contents, thresholds: &Thresholds) -> Contents {
        self.merge(code, next, |old, new| old.widen(new, thresholds))
    }

    fn merge(&self, code: &Code, other: &Contents, merge: impl Fn(&Value, &Value) -> Value) -> Contents {
        let mut merged = Contents::unknown(self.size);
        merged.stray = self.stray.clone();
        merged.stray.add(&other.stray);
        let offsets = self.cells.keys().chain(other.cells.keys()).copied();
        let offsets: std::collections::BTreeSet<u64> = offsets.collect();
        let (mut end, mut split) = (0, false);
        for at in offsets {
            let sizes = [self, other].map(|side| side.cells.get(&at).map(|cell| cell.size));
            let size = sizes.into_iter().flatten().max().unwrap_or(0);
            if at < end {
                split = true;
                continue;
            }
            let offset = Number::constant(64, at.into());
            let [Some(left), Some(right)] = [self, other].map(|side| side.load(code, &offset, size)) else { continue };
            merged.cells.insert(at, Cell { size, value: merge(&left, &right) });
            end = at + size;
        }
        merged.base = self.merged_base(code, other, &merge);
        if split || merged.base == Base::Unknown {
            merged.base = Base::Unknown;
            merged.stray.add(&self.targets(code));
            merged.stray.add(&other.targets(code));
        }
        merged
    }

    fn merged_base(&self, code: &Code, other: &Contents, merge: &impl Fn(&Value, &Value) -> Value) -> Base {
        if self.base == other.base {
            return self.base.clone();
        }
        let shape = [self, other].into_iter().find_map(|side| match side.base {
            Base::Elements { size, phase, .. } => Some((size, phase)),
            _ => None,
        });
        let Some((size, phase)) = shape else { return Base::Unknown };
        let values = [self, other].map(|side| side.base_as_elements(code, size, phase));
        match values {
            [Some(left), Some(right)] => Base::Elements { size, phase, value: merge(&left, &right) },
            _ => Base::Unknown,
        }
    }

    /// Writes `size` bytes from `from` in another object's contents to `at`; `false` if that is not inside.
    pub(crate) fn copy(&mut self, code: &Code, at: u64, source: &Contents, from: u64, size: u64) -> bool {
        let ends = (at.checked_add(size), from.checked_add(size));
        if !matches!(ends, (Some(to), Some(end)) if to <= self.size && end <= source.size) {
            return false;
        }
        if at == 0 && from == 0 && size == self.size && size == source.size {
            *self = source.clone();
            return true;
        }
        let offset = Number::constant(64, from.into());
        let span = Span { offset: &offset, low: from, high: from, size };
        let inside = |(start, cell): &(u64, &Cell)| *start >= from && start + cell.size <= from + size;
        let pieces: Vec<(u64, Cell)> =
            source.touching(&span).filter(inside).map(|(start, cell)| (start - from + at, cell.clone())).collect();
        self.clear(code, at, size);
        if pieces.iter().map(|(_, cell)| cell.size).sum::<u64>() < size {
            self.forget_base(code);
            self.stray.add(&source.targets(code));
        }
        self.cells.extend(pieces);
        true
    }

    /// A number that the cell at a place was compared with.
    pub(crate) fn restrict(&mut self, at: u64, size: u64, number: &Number) {
        if let Some(cell) = self.cells.get_mut(&at).filter(|cell| cell.size == size)
            && let Some(met) = cell.value.number.meet(number)
        {
            cell.value.number = met;
        }
    }

    pub(crate) fn has_cell(&self, at: u64, size: u64) -> bool {
        self.cells.get(&at).is_some_and(|cell| cell.size == size)
    }

    /// Makes a cell of what stands at a place, so that it can be restricted.
    pub(crate) fn keep_cell(&mut self, at: u64, size: u64, value: &Value) {
        let offset = Number::constant(64, at.into());
        let free = self.touching(&Span { offset: &offset, low: at, high: at, size }).next().is_none();
        if free && at + size <= self.size {
            self.cells.insert(at, Cell { size, value: value.clone() });
        }
    }

    /// Replaces the targets that are not wanted by unknown ones.
    pub(crate) fn keep_targets(&mut self, wanted: impl Fn(&ObjectId) -> bool) {
        let reduce = |targets: &mut Targets| {
            let before = targets.known.len();
            targets.known.retain(|object, _| wanted(object));
            targets.unknown |= targets.known.len() < before;
        };
        self.cells.values_mut().for_each(|cell| reduce(&mut cell.value.targets));
        reduce(&mut self.stray);
        if let Base::Elements { value, .. } = &mut self.base {
            reduce(&mut value.targets);
        }
    }
}

fn join_into(joined: &mut Option<Value>, value: &Value) {
    *joined = Some(joined.as_ref().map_or_else(|| value.clone(), |old| old.join(value)));
}

fn image_address(code: &Code, operand: &Operand) -> Value {
    match operand {
        Operand::Global(id, offset) => Value::address(code, ObjectId::Global(*id), *offset),
        Operand::Function(id) => Value::address(code, ObjectId::Function(*id), 0),
        Operand::Register(_) | Operand::Constant(_) | Operand::Undefined => Value::any(64),
    }
}

/// What stands in the image at `low`, `low + step`, … up to `high`; `None` if that cannot be told.
fn image_elements(code: &Code, global: GlobalId, low: u64, high: u64, step: u64, size: u64) -> Option<Value> {
    let initializer = code.globals[global].initializer.as_ref()?;
    if high.checked_sub(low)? / step >= MOST_ELEMENTS || size > 8 {
        return None;
    }
    let mut joined = None;
    let mut at = low;
    while at <= high {
        join_into(&mut joined, &image_value(code, initializer, at, size)?);
        at += step;
    }
    joined
}

fn image_value(code: &Code, initializer: &Initializer, at: u64, size: u64) -> Option<Value> {
    let touches = |(offset, _): &&(u64, Operand)| *offset < at + size && at < *offset + 8;
    if let Some((offset, operand)) = initializer.addresses.iter().find(touches) {
        return (*offset == at && size == 8).then(|| image_address(code, operand));
    }
    let bytes = initializer.bytes.get(at as usize..(at + size) as usize)?;
    let bits = bytes.iter().rev().fold(0_u128, |bits, &byte| bits << 8 | u128::from(byte));
    Some(Value::plain(Number::constant(8 * size as u32, bits)))
}
