//! Pointers: arithmetic, comparison, and the check of every access.

use branchwise_constraints::{BinaryOp as TermOp, CompareOp as TermCompare, TermId, TermKind, Terms, bounds};
use branchwise_program::GlobalId;
use branchwise_program::assumption::Assumption;
use branchwise_program::assumption::catalogue::{
    EXTERNALS_START_INITIALISED, INITIALISED_BEFORE_CALLED, MAIN_STARTS_THE_PROGRAM, NAMES_ARE_NOT_ALIASES,
    OPAQUE_POINTERS_HAVE_ONE_TYPE, OTHER_FILES_START_INITIALISED, POINTERS_TO_STARTS, TRAILING_ARRAYS_END,
    WEAK_DEFINITIONS_STAY,
};
use branchwise_program::code::{Address, Binary, BinaryOp, CompareOp, Global};
use branchwise_program::library::readable;

use crate::executor::{Executor, Step, Touchable};
use crate::inputs::{Content, Instead, Members, ShapeId};
use crate::memory::{Contents, Origin};
use crate::path::{AlternativeKind, Fault, FaultKind, PathEnd};
use crate::registers::{END_OF_REGISTERS, NULL_PAGE};
use crate::session::global_object;
use crate::value::{OBJECT_BASE, ObjectId, Pointer, Target, Value, signed};

/// Above this many places, a symbolic index is made concrete, one value a path.
const MOST_READ_PLACES: usize = 256;
/// Of an object of plain bytes, whose neighbours often share a value.
const MOST_TABLE_PLACES: usize = 4096;
const MOST_WRITTEN_PLACES: usize = 64;

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Where an access goes, after its check.
pub(crate) enum Spot {
    At(Pointer),
    /// One of these offsets, as the term (64 bits) says.
    OneOf {
        object: ObjectId,
        offset: TermId,
        places: Vec<u64>,
    },
    /// A number that is the address of no object.
    Fixed(u64),
}

impl<'p> Executor<'_, 'p> {
    pub(crate) fn address(&mut self, address: &Address) -> Step<()> {
        let mut constant = address.constant as u64;
        let mut symbolic = None;
        for scaled in &address.scaled {
            match self.value(&scaled.index) {
                Value::Bits(bits) => {
                    constant =
                        constant.wrapping_add((signed(bits, scaled.width) as u64).wrapping_mul(scaled.scale as u64))
                }
                Value::Undefined => return self.fail(FaultKind::UninitialisedRead, "an index that was never written"),
                value => symbolic = Some(self.add_scaled(symbolic, &value, scaled.width, scaled.scale)),
            }
        }
        let base = self.value(&address.base);
        let value = self.displaced(base, constant, symbolic)?;
        self.set(address.out, value);
        Ok(())
    }

    fn add_scaled(&mut self, sum: Option<TermId>, index: &Value, width: u32, scale: i64) -> TermId {
        let index = self.as_term(index, width);
        let terms = &mut self.session.terms;
        let index = terms.sign_extend(index, 64);
        let scale = terms.constant(u128::from(scale as u64), 64);
        let product = terms.binary(TermOp::Mul, index, scale);
        sum.map_or(product, |sum| terms.binary(TermOp::Add, sum, product))
    }

    pub(crate) fn displaced(&mut self, base: Value, constant: u64, symbolic: Option<TermId>) -> Step<Value> {
        match (base, symbolic) {
            (Value::Bits(bits), None) => Ok(Value::Bits(bits.wrapping_add(constant))),
            (Value::Pointer(pointer), None) => {
                Ok(Value::Pointer(Pointer { offset: pointer.offset.wrapping_add(constant), ..pointer }))
            }
            (Value::Undefined, _) => Ok(Value::Undefined),
            (Value::Function(_), _) => self.unsupported("arithmetic on the address of a function"),
            (base, symbolic) => {
                let terms = &mut self.session.terms;
                let mut displacement = terms.constant(u128::from(constant), 64);
                if let Some(symbolic) = symbolic {
                    displacement = terms.binary(TermOp::Add, displacement, symbolic);
                }
                Ok(self.shifted(&base, displacement))
            }
        }
    }

    /// A pointer moved by a term of 64 bits.
    fn shifted(&mut self, base: &Value, displacement: TermId) -> Value {
        let mut targets = self.targets(base);
        for target in &mut targets {
            target.offset = self.session.terms.binary(TermOp::Add, target.offset, displacement);
        }
        self.pointer_of(targets)
    }

    fn targets(&mut self, value: &Value) -> Vec<Target> {
        let always = self.session.terms.boolean(true);
        match value {
            Value::Choice(choice) => self.memory.targets(*choice).to_vec(),
            Value::Pointer(pointer) => {
                let offset = self.session.terms.constant(u128::from(pointer.offset), 64);
                vec![Target { guard: always, object: Some(pointer.object), offset }]
            }
            Value::Function(function) => {
                let (object, offset) = (self.function_object(*function), self.session.terms.constant(0, 64));
                vec![Target { guard: always, object: Some(object), offset }]
            }
            other => {
                let offset = self.as_term(other, 64);
                vec![Target { guard: always, object: None, offset }]
            }
        }
    }

    /// The simplest value with these targets.
    pub(crate) fn pointer_of(&mut self, mut targets: Vec<Target>) -> Value {
        targets.retain(|target| self.session.terms.as_boolean(target.guard) != Some(false));
        if let [Target { object, offset, .. }] = targets[..] {
            match (object, self.session.terms.as_constant(offset)) {
                (Some(object), Some(offset)) => return self.pointer_or_function(object, offset as u64),
                (None, _) => return self.term_value(offset),
                (Some(_), None) => {}
            }
        }
        Value::Choice(self.memory.add_choice(&targets))
    }

    /// One of two pointers.
    pub(crate) fn pointer_choice(&mut self, condition: TermId, then: &Value, otherwise: &Value) -> Value {
        let targets = self.targets_of_either(condition, then, otherwise);
        self.pointer_of(targets)
    }

    fn targets_of_either(&mut self, condition: TermId, then: &Value, otherwise: &Value) -> Vec<Target> {
        let negation = self.session.terms.not(condition);
        let mut targets = Vec::new();
        for (guard, value) in [(condition, then), (negation, otherwise)] {
            for mut target in self.targets(value) {
                target.guard = self.session.terms.and(guard, target.guard);
                targets.push(target);
            }
        }
        targets
    }

    /// The same, each place once.
    pub(crate) fn one_of_two(&mut self, condition: TermId, then: &Value, otherwise: &Value) -> Value {
        let mut targets: Vec<Target> = Vec::new();
        for target in self.targets_of_either(condition, then, otherwise) {
            let place = |known: &&mut Target| (known.object, known.offset) == (target.object, target.offset);
            match targets.iter_mut().find(place) {
                Some(known) => known.guard = self.session.terms.or(known.guard, target.guard),
                None => targets.push(target),
            }
        }
        self.pointer_of(targets)
    }

    pub(crate) fn is_pointer(value: &Value) -> bool {
        matches!(value, Value::Pointer(_) | Value::Choice(_))
    }

    /// Sums and differences of pointers, and masks on their low bits; `None` for all other operations.
    pub(crate) fn pointer_binary(&mut self, binary: &Binary, left: &Value, right: &Value) -> Step<Option<Value>> {
        if binary.width != 64 || !(Self::is_pointer(left) || Self::is_pointer(right)) {
            return Ok(None);
        }
        Ok(match (binary.op, Self::is_pointer(left), Self::is_pointer(right)) {
            (BinaryOp::Add, true, false) => Some(self.moved(left, right, false)),
            (BinaryOp::Add, false, true) => Some(self.moved(right, left, false)),
            (BinaryOp::Sub, true, false) => Some(self.moved(left, right, true)),
            (BinaryOp::Sub, true, true) => self.difference(left, right)?,
            (BinaryOp::And, true, false) => self.low_bits(left, right),
            _ => None,
        })
    }

    fn moved(&mut self, pointer: &Value, by: &Value, back: bool) -> Value {
        let by = self.as_term(by, 64);
        let by = if back { self.session.terms.neg(by) } else { by };
        self.shifted(pointer, by)
    }

    /// The distance of two pointers into one object; `None` if they point to different ones.
    fn difference(&mut self, left: &Value, right: &Value) -> Step<Option<Value>> {
        let (left, right) = (self.targets(left), self.targets(right));
        let (Some(left), Some(right)) = (self.settled_target(&left)?, self.settled_target(&right)?) else {
            return Ok(None);
        };
        if left.object != right.object {
            if let (Some(left), Some(right)) = (left.object, right.object) {
                self.note_compared(left, right, true);
            }
            return Ok(None);
        }
        let term = self.session.terms.binary(TermOp::Sub, left.offset, right.offset);
        Ok(Some(self.term_value(term)))
    }

    /// Which of these targets a pointer has on this path.
    pub(crate) fn settled_target(&mut self, targets: &[Target]) -> Step<Option<Target>> {
        let Some((last, others)) = targets.split_last() else { return Ok(None) };
        for target in others {
            if self.decide(target.guard, [AlternativeKind::Continue; 2])? {
                return Ok(Some(*target));
            }
        }
        Ok(Some(*last))
    }

    /// Alignment tests: objects are aligned to 16 bytes, so the low bits come from the offset alone.
    fn low_bits(&mut self, pointer: &Value, mask: &Value) -> Option<Value> {
        let (Value::Bits(mask), [target]) = (mask, &self.targets(pointer)[..]) else { return None };
        if *mask > 15 || target.object.is_none() {
            return None;
        }
        let mask = self.session.terms.constant(u128::from(*mask), 64);
        let term = self.session.terms.binary(TermOp::And, target.offset, mask);
        Some(self.term_value(term))
    }

    /// Compares pointers by object and offset; `None` where their addresses as numbers decide.
    pub(crate) fn pointer_compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> Option<TermId> {
        if let (Value::Function(left), Value::Function(right)) = (left, right) {
            let equal = self.session.terms.boolean((left == right) == (op == CompareOp::Eq));
            return matches!(op, CompareOp::Eq | CompareOp::Ne).then_some(equal);
        }
        if let (Value::Function(_), Value::Bits(0)) | (Value::Bits(0), Value::Function(_)) = (left, right) {
            return matches!(op, CompareOp::Eq | CompareOp::Ne)
                .then(|| self.session.terms.boolean(op == CompareOp::Ne));
        }
        if !Self::is_pointer(left) && !Self::is_pointer(right) {
            return None;
        }
        let (mut left, mut right) = (self.targets(left), self.targets(right));
        // What the path has decided against is no possibility: a pointer that was used is not null.
        left.retain(|target| self.decided.get(&target.guard) != Some(&false));
        right.retain(|target| self.decided.get(&target.guard) != Some(&false));
        let mut holds = self.session.terms.boolean(false);
        for l in &left {
            for r in &right {
                let guard = self.session.terms.and(l.guard, r.guard);
                if self.session.terms.as_boolean(guard) == Some(false) {
                    continue;
                }
                let this = self.compare_targets(op, l, r)?;
                let this = self.session.terms.and(guard, this);
                holds = self.session.terms.or(holds, this);
            }
        }
        Some(holds)
    }

    fn compare_targets(&mut self, op: CompareOp, left: &Target, right: &Target) -> Option<TermId> {
        if left.object == right.object {
            let (left, right) = match left.object {
                Some(_) if !matches!(op, CompareOp::Eq | CompareOp::Ne) => self.addresses(left.offset, right.offset),
                _ => (left.offset, right.offset),
            };
            return Some(self.compare_terms(op, left, right));
        }
        let starts = [left, right].iter().all(|target| self.session.terms.as_constant(target.offset) == Some(0));
        let walks = !starts || !matches!(op, CompareOp::Eq | CompareOp::Ne);
        let (left_offset, right_offset) = (left.offset, right.offset);
        if let (Some(left), Some(right)) = (left.object, right.object) {
            self.note_compared(left, right, walks);
            self.note_separate(left, right);
            if matches!(op, CompareOp::Eq | CompareOp::Ne) {
                self.note_neighbours((left, left_offset), (right, right_offset));
            }
            // A later allocation may be where a freed object was.
            self.session.looks_at_addresses |= self.is_freed(left) || self.is_freed(right);
        }
        let null =
            |target: &Target| target.object.is_none() && self.session.terms.as_constant(target.offset) == Some(0);
        let different_objects = left.object.is_some() && right.object.is_some();
        match op {
            CompareOp::Eq | CompareOp::Ne if different_objects || null(left) || null(right) => {
                Some(self.session.terms.boolean(op == CompareOp::Ne))
            }
            _ => None,
        }
    }

    /// Two places of one object as numbers that are ordered as the addresses are: what lies before its beginning is below,
    /// and what is far behind its end does not come out below it.
    fn addresses(&mut self, left: TermId, right: TermId) -> (TermId, TermId) {
        let terms = &mut self.session.terms;
        let is_small = |terms: &Terms, offset| {
            bounds(terms, &[], offset).is_some_and(|bounds| bounds.unsigned.1 < u128::from(u64::MAX - OBJECT_BASE))
        };
        if is_small(terms, left) && is_small(terms, right) {
            return (left, right);
        }
        let base = terms.constant(u128::from(OBJECT_BASE), 64);
        (terms.binary(TermOp::Add, left, base), terms.binary(TermOp::Add, right, base))
    }

    /// Checks an access of `size` bytes and says where it goes.
    pub(crate) fn resolve(&mut self, address: &Value, size: u64, access: Access) -> Step<Spot> {
        match address {
            Value::Pointer(pointer) => self.resolve_pointer(*pointer, size, access),
            Value::Choice(choice) => {
                let targets = self.memory.targets(*choice).to_vec();
                let target = self.choose_target(&targets)?;
                self.resolve_target(target, size, access)
            }
            Value::Bits(bits) => self.resolve_number(*bits, size, access),
            Value::Undefined => self.fail(FaultKind::UninitialisedRead, "a pointer that was never written"),
            Value::Function(_) => self.fail(FaultKind::InvalidPointer, "access to the code of a function"),
            // A number that is made of no object's address leads to none.
            Value::Term(term) if !self.session.looks_at_addresses || self.is_fixed(*term) => {
                let bits = self.concretise(address, 64)?;
                self.resolve_number(bits, size, access)
            }
            Value::Term(_) => self.unsupported("access through a pointer made from a symbolic integer"),
        }
    }

    fn resolve_number(&mut self, bits: u64, size: u64, access: Access) -> Step<Spot> {
        match self.memory.object_at(bits) {
            Some((object, offset)) => self.resolve_pointer(Pointer { object, offset }, size, access),
            None if bits == 0 => self.fail(FaultKind::NullDereference, "null pointer dereferenced"),
            None => Ok(Spot::Fixed(bits)),
        }
    }

    /// Whether a target is null, or an element or member behind it.
    fn is_null(&self, target: &Target) -> bool {
        let offset = self.session.terms.as_constant(target.offset);
        target.object.is_none() && offset.map_or(!self.is_fixed(target.offset), |offset| offset < u128::from(NULL_PAGE))
    }

    /// Whether a number is the address of a register, whatever the inputs are.
    fn is_fixed(&self, term: TermId) -> bool {
        let registers = u128::from(NULL_PAGE)..u128::from(END_OF_REGISTERS);
        bounds(&self.session.terms, &[], term)
            .is_some_and(|bounds| registers.contains(&bounds.unsigned.0) && registers.contains(&bounds.unsigned.1))
    }

    /// Which of its targets a pointer has; null comes first.
    pub(crate) fn choose_target(&mut self, targets: &[Target]) -> Step<Target> {
        let (nowhere, somewhere): (Vec<Target>, Vec<Target>) = targets.iter().partition(|target| self.is_null(target));
        for target in nowhere {
            if self.decide_fault(target.guard, FaultKind::NullDereference)? {
                return self.fail(FaultKind::NullDereference, "null pointer dereferenced");
            }
        }
        match self.settled_target(&somewhere)? {
            Some(target) => Ok(target),
            None => self.fail(FaultKind::NullDereference, "null pointer dereferenced"),
        }
    }

    fn resolve_target(&mut self, target: Target, size: u64, access: Access) -> Step<Spot> {
        let Some(object) = target.object else {
            let bits = self.concretise(&Value::Term(target.offset), 64)?;
            return self.resolve_number(bits, size, access);
        };
        if let Some(offset) = self.session.terms.as_constant(target.offset) {
            return self.resolve_pointer(Pointer { object, offset: offset as u64 }, size, access);
        }
        self.touch(object, access)?;
        self.note_beyond(object, u64::MAX);
        // A write at one of several places keeps what stands at the others.
        self.note_outdated(object, 0, u64::MAX)?;
        self.check_symbolic_bounds(object, target.offset, size)?;
        let plain = self.memory.get(object).is_some_and(|object| object.is_plain());
        let most = match access {
            Access::Read if plain => MOST_TABLE_PLACES,
            Access::Read => MOST_READ_PLACES,
            // On many ways at once there is no value to settle for.
            Access::Write if self.unites() => MOST_READ_PLACES,
            Access::Write => MOST_WRITTEN_PLACES,
        };
        let Some(places) = self.places(object, target.offset, size, most) else {
            let offset = self.concretise(&Value::Term(target.offset), 64)?;
            return Ok(Spot::At(Pointer { object, offset }));
        };
        Ok(Spot::OneOf { object, offset: target.offset, places })
    }

    fn resolve_pointer(&mut self, pointer: Pointer, size: u64, access: Access) -> Step<Spot> {
        self.touch(pointer.object, access)?;
        let end = pointer.offset.checked_add(size);
        self.note_beyond(pointer.object, end.unwrap_or(u64::MAX));
        let Some(object) = self.memory.get(pointer.object) else { unreachable!("touch ends the path") };
        let inside = end.is_some_and(|end| end <= object.size);
        let overwrites = access == Access::Write && matches!(object.origin, Origin::Global { state: true, .. });
        if overwrites && pointer.offset == 0 && size == object.size && !self.starts(pointer.object) {
            self.overwritten.insert(pointer.object);
        }
        let symbolic_size = object.symbolic_size;
        if !inside {
            return self.out_of_bounds(pointer.object, pointer.offset);
        }
        if let (Some(limit), Some(end)) = (symbolic_size, end) {
            let end = self.session.terms.constant(u128::from(end), 64);
            let outside = self.session.terms.compare(TermCompare::Ult, limit, end);
            if self.decide_fault(outside, FaultKind::OutOfBounds)? {
                return self.out_of_bounds(pointer.object, pointer.offset);
            }
        }
        if access == Access::Read {
            self.note_outdated(pointer.object, pointer.offset, size)?;
            self.note_padding(pointer.object, pointer.offset, size);
        }
        Ok(Spot::At(pointer))
    }

    /// Whether constructors run and make the first value of a variable of the program's own: other functions may have
    /// written it again before the test.
    fn starts(&self, object: ObjectId) -> bool {
        let Some(Origin::Global { id, .. }) = self.memory.get(object).map(|object| object.origin) else { return false };
        let of_library = |name: &str| is_library_data(name) || name.starts_with("_ZSt") || name.starts_with("_ZNSt");
        let runs = |start| self.frames.iter().any(|frame| frame.function == start);
        !of_library(&self.code.globals[id].name) && self.session.shared.start.is_some_and(runs)
    }

    fn check_symbolic_bounds(&mut self, id: ObjectId, offset: TermId, size: u64) -> Step<()> {
        self.check_capacity(id, offset, size)?;
        self.check_start(id, offset)?;
        let Some(object) = self.memory.get(id) else { unreachable!("touch ends the path") };
        let (object_size, symbolic_size) = (object.size, object.symbolic_size);
        let last = self.session.terms.constant(u128::from(object_size.saturating_sub(size)), 64);
        let mut outside = self.session.terms.compare(TermCompare::Ult, last, offset);
        if object_size < size {
            outside = self.session.terms.boolean(true);
        }
        if let Some(limit) = symbolic_size {
            let size = self.session.terms.constant(u128::from(size), 64);
            let end = self.session.terms.binary(TermOp::Add, offset, size);
            let beyond = self.session.terms.compare(TermCompare::Ult, limit, end);
            outside = self.session.terms.or(outside, beyond);
        }
        if self.decide_fault(outside, FaultKind::OutOfBounds)? {
            // In a precondition no fault is looked for: that some index lies behind the bound must count at once.
            // Of many ways at once, those behind the bound are apart already.
            let offset = match (self.in_precondition(), self.unites()) {
                (true, _) => object_size,
                (false, true) => u64::MAX,
                (false, false) => self.evaluate(offset) as u64,
            };
            return self.out_of_bounds(id, offset);
        }
        Ok(())
    }

    /// An index that a larger object than the bound allows would hold is no fault: what follows it stays open, so this
    /// alternative is apart from that of the fault.
    fn check_capacity(&mut self, id: ObjectId, offset: TermId, size: u64) -> Step<()> {
        let Some(object) = self.memory.get(id) else { unreachable!("touch ends the path") };
        let Origin::Input(shape) = object.origin else { return Ok(()) };
        let (bounded, capacity) = (self.session.inputs.shape(shape).bounded, self.session.inputs.shape(shape).capacity);
        if !bounded {
            return Ok(());
        }
        let last = i128::from(object.size) - i128::from(size);
        let last = self.session.terms.constant(last as u128, 64);
        // As many bytes as may lie before it may be missing behind it.
        let reached = self.reached_from_first(id, offset);
        let beyond = self.session.terms.compare(TermCompare::Slt, last, reached);
        let cut = AlternativeKind::Cut(self.site());
        if !self.decide(beyond, [AlternativeKind::Continue, cut])? {
            return Ok(());
        }
        let at = self.evaluate(offset) as i64;
        let message = format!("access at byte {at} of {}", self.describe(id));
        let fault = self.fault(FaultKind::OutOfBounds, message);
        Err(Box::new(PathEnd::SizeBound { fault, shape, elements: capacity }))
    }

    /// Before the start of an object that a pointer input points to, more may lie: this alternative is apart from that of the
    /// fault. Tests give such a pointer the start of an object.
    fn check_start(&mut self, id: ObjectId, offset: TermId) -> Step<()> {
        let starts = self.starts_at_pointer(id);
        let negative =
            |terms: &Terms| bounds(terms, &[], offset).is_none_or(|bounds| bounds.unsigned.1 > i64::MAX as u128);
        if !starts || !negative(&self.session.terms) {
            return Ok(());
        }
        let zero = self.session.terms.constant(0, 64);
        // Before all elements that tests can put there.
        let reached = self.reached_from_first(id, offset);
        let before = self.session.terms.compare(TermCompare::Slt, reached, zero);
        if self.decide_fault(before, FaultKind::BeforeStart)? {
            let offset = if self.unites() { -1 } else { self.evaluate(offset) as i64 };
            let message = format!("access at byte {offset} of {}", self.describe(id));
            let fault = self.fault(FaultKind::OutOfBounds, message);
            return Err(Box::new(PathEnd::Fault(self.before_start(id, fault))));
        }
        Ok(())
    }

    /// Bytes that tests can put before the element that a pointer points to.
    fn room_before(&self, id: ObjectId) -> u64 {
        let Some(Origin::Input(shape)) = self.memory.get(id).map(|object| object.origin) else { return 0 };
        let shape = self.session.inputs.shape(shape);
        shape.before.map_or(0, |(room, _)| room * shape.element_size)
    }

    /// An offset from the first of all elements that tests can put before the one that the pointer points to.
    fn reached_from_first(&mut self, id: ObjectId, offset: TermId) -> TermId {
        let Some(Origin::Input(shape)) = self.memory.get(id).map(|object| object.origin) else { return offset };
        let shape = self.session.inputs.shape(shape).clone();
        let Some((room, _)) = shape.before else { return offset };
        let start = shape.start(&mut self.session.terms);
        let terms = &mut self.session.terms;
        let room = terms.constant(u128::from(room * shape.element_size), 64);
        let from_pointer = terms.binary(TermOp::Sub, offset, start);
        terms.binary(TermOp::Add, from_pointer, room)
    }

    /// Tells whether an object begins where a pointer input points to. Variables begin where they begin.
    fn starts_at_pointer(&self, id: ObjectId) -> bool {
        let origin = self.memory.get(id).map(|object| object.origin);
        matches!(origin, Some(Origin::Input(shape)) if !self.session.inputs.shape(shape).variable)
    }

    pub(crate) fn out_of_bounds<T>(&mut self, id: ObjectId, offset: u64) -> Step<T> {
        let message = format!("access at byte {} of {}", offset as i64, self.describe(id));
        let fault = self.fault(FaultKind::OutOfBounds, message);
        if (offset as i64) < 0 && self.starts_at_pointer(id) && self.room_before(id) == 0 {
            return Err(Box::new(PathEnd::Fault(self.before_start(id, fault))));
        }
        let Some(object) = self.memory.get(id) else { unreachable!("touch ends the path") };
        match object.origin {
            // A larger object might have been large enough: the bound ends this path, not the program.
            Origin::Input(shape)
                if self.session.inputs.shape(shape).bounded && (offset as i64) >= object.size as i64 =>
            {
                let elements = self.session.inputs.shape(shape).capacity;
                Err(Box::new(PathEnd::SizeBound { fault, shape, elements }))
            }
            _ => {
                let assumption = self.longer_elsewhere(id, offset);
                Err(Box::new(PathEnd::Fault(Fault { assumption, ..fault })))
            }
        }
    }

    /// The assumption by which an access behind a variable is undefined.
    fn longer_elsewhere(&self, id: ObjectId, offset: u64) -> Option<Assumption> {
        let global = self.global_of(id).filter(|global| global.outside.goes_on && (offset as i64) >= 0)?;
        Some(TRAILING_ARRAYS_END.about(&global.name))
    }

    /// The variable that an object is, whatever a test puts there.
    fn global_of(&self, id: ObjectId) -> Option<&'p Global> {
        self.code.globals.get(GlobalId(id.0))
    }

    /// The path reads a variable: it may be another name of one that it has written.
    fn note_other_names(&mut self, id: ObjectId) {
        let Some(global) = self.global_of(id).filter(|global| !global.outside.may_be.is_empty()) else { return };
        for &other in &global.outside.may_be {
            if self.memory.is_touched(global_object(other), Access::Write) {
                let mut names = [&global.name, &self.code.globals[other].name];
                names.sort_unstable();
                self.rest_on(NAMES_ARE_NOT_ALIASES.about(&format!("'{}' and '{}'", names[0], names[1])));
            }
        }
    }

    fn before_start(&mut self, id: ObjectId, fault: Fault) -> Fault {
        let Some(Origin::Input(shape)) = self.memory.get(id).map(|object| object.origin) else { return fault };
        let made = self.session.inputs.shape(shape);
        if made.before.is_none() && made.may_begin_earlier() {
            self.notes.caveats.could.before.insert(made.name.clone());
        }
        let assumption = Some(POINTERS_TO_STARTS.about(&self.pointer_to(shape)));
        Fault { kind: FaultKind::BeforeStart, assumption, ..fault }
    }

    /// The name of the pointer input that points to an object, which is called after it.
    fn pointer_to(&self, shape: ShapeId) -> String {
        let name = self.session.inputs.shape(shape).name.as_str();
        let pointer = name.strip_prefix("(*").and_then(|name| name.strip_suffix(')'));
        pointer.or(name.strip_prefix('*')).unwrap_or(name).to_owned()
    }

    pub(crate) fn describe(&mut self, id: ObjectId) -> String {
        let Some(object) = self.memory.get(id) else { return "an object whose lifetime is over".to_string() };
        let (size, symbolic) = (object.size, object.symbolic_size);
        let size = symbolic.map_or(size, |term| self.evaluate(term) as u64);
        let Some(object) = self.memory.get(id) else { return String::new() };
        match object.origin {
            Origin::Stack => format!("a local object of {size} bytes"),
            Origin::Heap => format!("an allocated object of {size} bytes"),
            Origin::Global { id, .. } if is_library_data(&self.code.globals[id].name) => {
                format!("data of the C library of {size} bytes")
            }
            Origin::Global { id, .. } => format!("'{}' of {size} bytes", self.code.globals[id].name),
            Origin::Input(shape) => format!("'{}' of {size} bytes", self.session.inputs.shape(shape).name),
            Origin::Function(id) => format!("the code of '{}'", self.code.functions[id].name),
        }
    }

    /// Notes that an object from outside is used up to some byte. Of one whose size is fixed, not every use is seen here.
    fn note_beyond(&mut self, id: ObjectId, end: u64) {
        let Some(Origin::Input(shape)) = self.memory.get(id).map(|object| object.origin) else { return };
        let made = self.session.inputs.shape(shape);
        let several = made.extra_elements.is_none() && made.capacity > 1;
        if several || end > made.element_size {
            self.touched.entry(Touchable::Input(shape)).or_default().beyond = true;
        }
    }

    /// Notes that an object is used; ends the path if it cannot be.
    pub(crate) fn touch(&mut self, object_id: ObjectId, access: Access) -> Step<()> {
        let Some(object) = self.memory.get(object_id) else {
            if self.is_freed(object_id) {
                self.note_missing_owners();
                return self.fail(FaultKind::UseAfterFree, "access to an object that was freed");
            }
            return self.fail(FaultKind::UseAfterReturn, "access to a local object after its function returned");
        };
        if access == Access::Write && !object.writable {
            return self.fail(FaultKind::WriteToConstant, "write to constant data");
        }
        let origin = object.origin;
        if access == Access::Write && self.memory.gave_objects() {
            self.outdate_given(object_id);
        }
        if access == Access::Read && self.memory.has_other_names(object_id) {
            self.note_other_names(object_id);
        }
        if matches!(origin, Origin::Stack | Origin::Heap) || self.memory.is_touched(object_id, access) {
            return Ok(());
        }
        match origin {
            Origin::Stack | Origin::Heap => {}
            Origin::Global { id, state } => {
                if state && access == Access::Read {
                    // A sequence that is shorter than others begins with the initial state.
                    let unknown = self.skipped_calls == 0 && !self.overwritten.contains(&object_id);
                    self.notes.caveats.reads_state |= unknown;
                    self.notes.caveats.cut_callers = self.session.cut_callers;
                }
                if state && !is_library_data(&self.code.globals[id].name) {
                    self.touched.entry(Touchable::Global(id)).or_default().written |= access == Access::Write;
                }
                if access == Access::Read && !self.overwritten.contains(&object_id) {
                    self.note_initial_value(id);
                }
                if access == Access::Read && self.session.shared.computed_at_start.contains(&id) {
                    self.rest_on(INITIALISED_BEFORE_CALLED.about(&readable(&self.code.globals[id].name)));
                }
                if self.code.globals[id].weak && self.code.globals[id].constant {
                    self.rest_on(WEAK_DEFINITIONS_STAY.about(&self.code.globals[id].name));
                }
                if self.code.globals[id].initializer.is_none() {
                    return self
                        .unsupported(format!("variable '{}', which is defined elsewhere", self.code.globals[id].name));
                }
            }
            Origin::Function(_) => return self.fail(FaultKind::InvalidPointer, "access to the code of a function"),
            Origin::Input(shape) if self.is_stream_shape(shape) => {
                return self.unsupported("access to the inside of a stream");
            }
            Origin::Input(shape) if self.session.inputs.shape(shape).element_size == 0 => {
                return self.unsupported("access to an object whose type this file does not define");
            }
            Origin::Input(shape) => {
                self.touched.entry(Touchable::Input(shape)).or_default().written |= access == Access::Write;
                if self.session.inputs.shape(shape).opaque {
                    self.rest_on(OPAQUE_POINTERS_HAVE_ONE_TYPE.about(&self.pointer_to(shape)));
                }
                if self.filled.insert(shape) {
                    self.fill(shape, object_id, 0);
                }
            }
        }
        self.memory.touch(object_id, access);
        Ok(())
    }

    /// Notes that the path rests on the value that a variable has when the program starts, where the test does not choose it.
    fn note_initial_value(&mut self, id: GlobalId) {
        let global = &self.code.globals[id];
        if global.constant || is_library_data(&global.name) {
            return;
        }
        if global.elsewhere {
            self.rest_on(OTHER_FILES_START_INITIALISED.about(&global.name));
        } else if self.session.program.map.functions[self.session.function].name == "main" {
            self.rest_on(MAIN_STARTS_THE_PROGRAM.assumed());
        } else if !global.internal && !global.name.starts_with("__") {
            self.rest_on(EXTERNALS_START_INITIALISED.about(&readable(&global.name)));
        }
    }

    /// Writes the initial contents of an input object at an offset of an object.
    pub(crate) fn fill(&mut self, shape: ShapeId, object: ObjectId, offset: u64) {
        let bound = self.session.pointer_elements;
        let map = &self.session.program.map;
        self.session.inputs.materialise(&mut self.session.terms, map, shape, bound);
        let cells = self.session.inputs.shape(shape).cells.clone().unwrap_or_default();
        for cell in cells {
            let (size, value) = match cell.content {
                Content::Scalar { bytes, term } => (bytes, Value::Term(term)),
                Content::NullPointer(name) => {
                    self.notes.caveats.always_null.insert(name);
                    (8, Value::Bits(0))
                }
                Content::Pointer(target) => (8, self.input_pointer(target)),
                Content::FunctionPointer { choice, functions } => (8, self.input_function(choice, &functions)),
            };
            self.memory.write(self.session, object, offset + cell.offset, size, value);
        }
    }

    /// A pointer input: null, or the start of its own object, or of one that it shares.
    fn input_pointer(&mut self, shape: ShapeId) -> Value {
        let zero = self.session.terms.constant(0, 64);
        let mut rest = self.session.terms.boolean(true);
        let mut targets = Vec::new();
        if let Some(is_null) = self.session.inputs.shape(shape).is_null {
            targets.push(Target { guard: is_null, object: None, offset: zero });
            rest = self.session.terms.not(is_null);
        }
        for Instead { chosen, other, members } in self.session.inputs.shape(shape).instead.clone() {
            let object = self.input_object(other);
            let guard = self.session.terms.and(rest, chosen);
            let offset = members.map_or(zero, |members| self.member_offset(&members, object));
            targets.push(Target { guard, object: Some(object), offset });
            let not_chosen = self.session.terms.not(chosen);
            rest = self.session.terms.and(rest, not_chosen);
        }
        let object = self.input_object(shape);
        let start = self.session.inputs.shape(shape).clone().start(&mut self.session.terms);
        targets.push(Target { guard: rest, object: Some(object), offset: start });
        self.pointer_of(targets)
    }

    /// Where the chosen member begins; all inputs choose one that is there.
    fn member_offset(&mut self, members: &Members, object: ObjectId) -> TermId {
        let size = self.memory.get(object).and_then(|object| object.symbolic_size);
        let terms = &mut self.session.terms;
        let last = terms.constant(members.offsets.len() as u128 - 1, 16);
        self.domain.push(terms.compare(TermCompare::Ule, members.number, last));
        let offset = offset_of_member(terms, members);
        if let Some(size) = size {
            let member = terms.constant(u128::from(members.size), 64);
            let end = terms.binary(TermOp::Add, offset, member);
            self.domain.push(terms.compare(TermCompare::Ule, end, size));
        }
        offset
    }

    pub(crate) fn input_object(&mut self, id: ShapeId) -> ObjectId {
        if let Some(&object) = self.shape_objects.get(&id) {
            return object;
        }
        let shape = self.session.inputs.shape(id).clone();
        let alignment = self.session.program.map.types[shape.element].alignment;
        let object = self.memory.allocate(shape.size(), alignment, Origin::Input(id), Contents::Zero);
        let symbolic_size = shape.symbolic_size(&mut self.session.terms);
        if let Some(object) = self.memory.get_mut(object) {
            object.symbolic_size = symbolic_size;
        }
        self.domain.extend(shape.domain(&mut self.session.terms));
        self.shape_objects.insert(id, object);
        object
    }

    /// The offsets inside an object that the term may have, as far as its form tells; `None` for more than `most`.
    fn places(&self, id: ObjectId, offset: TermId, size: u64, most: usize) -> Option<Vec<u64>> {
        let object_size = self.memory.get(id).map_or(0, |object| object.size);
        let Some(last) = object_size.checked_sub(size) else { return Some(Vec::new()) };
        let (first, step, last) = self.bounded_places(offset, last).unwrap_or_else(|| {
            let stride = self.stride(offset, 16);
            (stride.residue % stride.modulus, stride.modulus, last)
        });
        let (low, high) = self.known_bounds(offset).unwrap_or((0, u64::MAX));
        // The first place that is not below the bound.
        let first = first + low.saturating_sub(first).div_ceil(step) * step;
        let places: Vec<u64> = (first..=last.min(high)).step_by(step as usize).take(most + 1).collect();
        (places.len() <= most).then_some(places)
    }

    /// Bounds of an offset that the condition of the present way implies. A single path is not worth it: its condition
    /// grows with every decision.
    fn known_bounds(&self, offset: TermId) -> Option<(u64, u64)> {
        let union = self.union.as_ref()?;
        let facts: Vec<TermId> = union.domain.iter().chain(&union.condition).copied().collect();
        let bounds = branchwise_constraints::bounds(&self.session.terms, &facts, offset)?;
        Some((u64::try_from(bounds.unsigned.0).ok()?, u64::try_from(bounds.unsigned.1).ok()?))
    }

    /// The term is `residue` modulo `modulus`.
    fn stride(&self, term: TermId, depth: u32) -> Stride {
        let terms = &self.session.terms;
        if let Some(value) = terms.as_constant(term) {
            return Stride { modulus: 0, residue: value as u64 };
        }
        if depth == 0 {
            return Stride::ANY;
        }
        match terms.kind(term) {
            TermKind::Binary(TermOp::Add, left, right) => {
                self.stride(*left, depth - 1).plus(self.stride(*right, depth - 1))
            }
            TermKind::Binary(TermOp::Mul, left, right) => self.product_stride(*left, *right),
            TermKind::Binary(TermOp::Shl, _, by) => match terms.as_constant(*by) {
                Some(by) if by < 32 => Stride { modulus: 1 << by, residue: 0 },
                _ => Stride::ANY,
            },
            _ => Stride::ANY,
        }
    }

    /// A factor that is no power of two divides the product only where the product cannot wrap around.
    fn product_stride(&self, left: TermId, right: TermId) -> Stride {
        let terms = &self.session.terms;
        let (factor, other) = match (terms.as_constant(left), terms.as_constant(right)) {
            (Some(factor), _) => (factor as u64, right),
            (_, Some(factor)) => (factor as u64, left),
            _ => return Stride::ANY,
        };
        let narrow = match terms.kind(other) {
            TermKind::SignExtend(inner) | TermKind::ZeroExtend(inner) => terms.width(*inner) <= 32,
            _ => false,
        };
        let modulus = if narrow && factor < 1 << 31 { factor } else { 1 << factor.trailing_zeros().min(31) };
        Stride { modulus: modulus.max(1), residue: 0 }
    }
}

/// Elements of an array stand at equal distances, which accesses make use of.
fn offset_of_member(terms: &mut Terms, members: &Members) -> TermId {
    let offsets = &members.offsets;
    let first = terms.constant(u128::from(offsets[0]), 64);
    let step = offsets.get(1).map_or(0, |second| second - offsets[0]);
    if offsets.windows(2).all(|pair| pair[1] - pair[0] == step) {
        let (number, step) = (terms.zero_extend(members.number, 64), terms.constant(u128::from(step), 64));
        let distance = terms.binary(TermOp::Mul, number, step);
        return terms.binary(TermOp::Add, first, distance);
    }
    let mut offset = first;
    for (index, &at) in offsets.iter().enumerate().skip(1) {
        let (index, at) = (terms.constant(index as u128, 16), terms.constant(u128::from(at), 64));
        let here = terms.compare(TermCompare::Eq, members.number, index);
        offset = terms.if_then_else(here, at, offset);
    }
    offset
}

/// Data of the library models, which no input points to.
fn is_library_data(name: &str) -> bool {
    name.starts_with("__bw_")
}

/// A modulus of 0 means exactly `residue`.
#[derive(Debug, Copy, Clone)]
struct Stride {
    modulus: u64,
    residue: u64,
}

impl Stride {
    const ANY: Stride = Stride { modulus: 1, residue: 0 };

    fn plus(self, other: Stride) -> Stride {
        let modulus = greatest_common_divisor(self.modulus, other.modulus);
        let residue = self.residue.wrapping_add(other.residue);
        if modulus == 0 {
            return Stride { modulus, residue };
        }
        // Negative constants are numbers modulo 2^64, which is a multiple of the modulus only for powers of two.
        let residue = if modulus.is_power_of_two() {
            residue % modulus
        } else {
            (residue as i64).rem_euclid(modulus as i64) as u64
        };
        Stride { modulus, residue }
    }
}

fn greatest_common_divisor(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
}
