//! What the functions of a unit can write, and where: static objects that nobody outside can reach, taken apart into cells
//! and fields.
//!
//! Flow-insensitive: every register and every field has one set of places that it may point to, at any time. An object is
//! kept apart only while each access to it is to one whole field of it, and no pointer to it is given away.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use branchwise_program::code::{
    Address, Call, Callee, CastOp, Code, Function, Instruction, Operand, Terminator, Width,
};
use branchwise_program::{CodeFunctionId, GlobalId, RegisterId};

use crate::calls::{called, direct_callees, size};

/// Of all roots together; larger programs are left alone.
const MOST_INSTRUCTIONS: usize = 20_000;

/// Variables of library models.
const MODEL_PREFIX: &str = "__bw_";

/// Offsets that are `residue` plus multiples of `stride`; exactly `residue` where the stride is 0.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Offsets {
    stride: u64,
    residue: i64,
}

impl Offsets {
    fn exact(residue: i64) -> Self {
        Offsets { stride: 0, residue }
    }

    fn new(stride: u64, residue: i64) -> Self {
        match i64::try_from(stride) {
            Ok(modulus) if modulus > 0 => Offsets { stride, residue: residue.rem_euclid(modulus) },
            _ => Offsets { stride: 0, residue },
        }
    }

    fn join(self, other: Offsets) -> Self {
        let apart = self.residue.abs_diff(other.residue);
        Offsets::new(greatest_common_divisor(greatest_common_divisor(self.stride, other.stride), apart), self.residue)
    }

    fn moved(self, address: &Address) -> Self {
        let scales = address.scaled.iter().map(|scaled| scaled.scale.unsigned_abs());
        let stride = scales.fold(self.stride, greatest_common_divisor);
        Offsets::new(stride, self.residue.wrapping_add(address.constant))
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// What a value may point to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Pointees {
    known: BTreeMap<GlobalId, Offsets>,
    /// Something that is not followed.
    other: bool,
}

impl Pointees {
    fn other() -> Self {
        Pointees { known: BTreeMap::new(), other: true }
    }

    /// Whether anything is new.
    fn add(&mut self, more: &Pointees) -> bool {
        let before = self.clone();
        self.other |= more.other;
        for (object, offsets) in &more.known {
            let joined = self.known.get(object).map_or(*offsets, |old| old.join(*offsets));
            self.known.insert(*object, joined);
        }
        *self != before
    }
}

/// A part of every element of an object: of the object itself, if it has one element.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Field {
    pub object: GlobalId,
    pub offset: u64,
}

/// Where a load or a store goes.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A field of an object with one element.
    Cell(Field),
    /// A field of some element of an array.
    Element(Field),
    /// Memory that is not followed.
    Other,
}

/// What a function may change, its callees included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub cells: BTreeSet<Field>,
    pub fields: BTreeSet<Field>,
    pub other: bool,
}

impl Changes {
    pub(crate) fn add(&mut self, more: &Changes) {
        self.cells.extend(&more.cells);
        self.fields.extend(&more.fields);
        self.other |= more.other;
    }

    fn note(&mut self, target: Target) {
        match target {
            Target::Cell(field) => {
                self.cells.insert(field);
            }
            Target::Element(field) => {
                self.fields.insert(field);
            }
            Target::Other => self.other = true,
        }
    }
}

/// The state that all roots share.
#[derive(Debug, Clone, Default)]
struct Statics {
    /// Size of the elements of each object that is followed; 0 for one that is no array.
    strides: BTreeMap<GlobalId, u64>,
    widths: BTreeMap<Field, Width>,
    contents: BTreeMap<Field, Pointees>,
}

/// What one root leads to.
#[derive(Debug, Default)]
struct Region {
    functions: BTreeSet<CodeFunctionId>,
    registers: BTreeMap<(CodeFunctionId, RegisterId), Pointees>,
    results: BTreeMap<CodeFunctionId, Vec<Pointees>>,
    changes: BTreeMap<CodeFunctionId, Changes>,
}

/// What the functions that a root leads to access.
#[derive(Debug)]
pub(crate) struct Regions {
    statics: Rc<Statics>,
    region: Region,
}

impl Regions {
    /// One for each root, all of which may have been called before any other. `None` for what is not understood: calls
    /// through pointers, and whatever `is_known` does not know of functions without body.
    pub(crate) fn of(code: &Code, roots: &[CodeFunctionId], is_known: &dyn Fn(&str) -> bool) -> Option<Vec<Self>> {
        let functions = reachable(code, roots, is_known)?;
        let is_own = |id: &GlobalId| {
            let global = &code.globals[*id];
            let image = global.initializer.is_some() && !global.name.starts_with(MODEL_PREFIX);
            global.internal && !global.constant && !global.elsewhere && image
        };
        let mut followed: BTreeMap<GlobalId, u64> = code.globals.ids().filter(is_own).map(|id| (id, 0)).collect();
        loop {
            let statics = Statics { strides: followed.clone(), ..Statics::default() };
            let mut flow = Flow {
                code,
                statics,
                given_away: BTreeSet::new(),
                strides: BTreeMap::new(),
                region: Region::default(),
            };
            let found = flow.run(roots, &functions);
            let Flow { given_away, strides, statics, .. } = flow;
            if given_away.is_empty() && strides.is_empty() {
                let statics = Rc::new(statics);
                let of_root = |region: Region| Regions { statics: Rc::clone(&statics), region }.with_changes(code);
                return Some(found.into_iter().map(of_root).collect());
            }
            match strides.is_empty() {
                true => followed.retain(|id, _| !given_away.contains(id)),
                // What was found with the wrong elements does not count.
                false => followed.extend(strides),
            }
        }
    }

    pub(crate) fn functions(&self) -> &BTreeSet<CodeFunctionId> {
        &self.region.functions
    }

    /// Where an access through this address goes.
    pub(crate) fn target(&self, function: CodeFunctionId, address: &Operand) -> Target {
        let pointees = pointees(&self.statics, &self.region, function, address);
        match pointees.known.first_key_value() {
            Some((object, offsets)) => self.statics.place(*object, *offsets),
            None => Target::Other,
        }
    }

    pub(crate) fn stride(&self, object: GlobalId) -> u64 {
        self.statics.strides[&object]
    }

    /// The arrays that are followed.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = GlobalId> {
        self.statics.strides.iter().filter(|(_, stride)| **stride > 0).map(|(id, _)| *id)
    }

    pub(crate) fn fields_of(&self, object: GlobalId) -> impl Iterator<Item = (Field, Width)> {
        self.statics.fields_of(object)
    }

    pub(crate) fn width(&self, field: Field) -> Width {
        self.statics.widths[&field]
    }

    pub(crate) fn all_fields(&self) -> impl Iterator<Item = (Field, Width)> {
        self.statics.widths.iter().map(|(field, width)| (*field, *width))
    }

    /// Whether all values in these functions point to the same in both.
    pub(crate) fn agree_on(&self, other: &Regions, functions: &BTreeSet<CodeFunctionId>) -> bool {
        let of = |regions: &Regions| {
            let region = &regions.region;
            let registers = region.registers.iter().filter(|((function, _), _)| functions.contains(function));
            let results = region.results.iter().filter(|(function, _)| functions.contains(function));
            let registers: Vec<_> = registers.map(|(key, value)| (*key, value.clone())).collect();
            (registers, results.map(|(key, value)| (*key, value.clone())).collect::<Vec<_>>())
        };
        of(self) == of(other)
    }

    pub(crate) fn changes(&self, function: CodeFunctionId) -> &Changes {
        &self.region.changes[&function]
    }

    /// Whether all that the field ever holds is null or the start of an element of the same array.
    pub(crate) fn leads_to_own_array(&self, field: Field) -> bool {
        self.statics.contents.get(&field).is_some_and(|pointees| self.are_elements(pointees, field.object))
    }

    /// Whether a register is null or the start of an element of the array.
    pub(crate) fn is_element(&self, function: CodeFunctionId, register: RegisterId, array: GlobalId) -> bool {
        self.region.registers.get(&(function, register)).is_some_and(|pointees| self.are_elements(pointees, array))
    }

    /// Whether the first result is null or the start of an element of the array.
    pub(crate) fn returns_element(&self, function: CodeFunctionId, array: GlobalId) -> bool {
        let first = self.region.results.get(&function).and_then(|results| results.first());
        first.is_some_and(|pointees| self.are_elements(pointees, array))
    }

    fn are_elements(&self, pointees: &Pointees, array: GlobalId) -> bool {
        let start = Target::Element(Field { object: array, offset: 0 });
        let mut known = pointees.known.iter();
        !pointees.other
            && pointees.known.len() == 1
            && known.all(|(object, offsets)| *object == array && self.statics.place(*object, *offsets) == start)
    }

    fn with_changes(mut self, code: &Code) -> Self {
        let mut changes: BTreeMap<CodeFunctionId, Changes> = BTreeMap::new();
        for &function in &self.region.functions {
            changes.insert(function, self.own_changes(code, function));
        }
        loop {
            let before = changes.clone();
            for &function in &self.region.functions {
                for callee in direct_callees(code, function) {
                    let more = before.get(&callee).cloned().unwrap_or(Changes { other: true, ..Changes::default() });
                    changes.entry(function).or_default().add(&more);
                }
            }
            if changes == before {
                break;
            }
        }
        self.region.changes = changes;
        self
    }

    fn own_changes(&self, code: &Code, function: CodeFunctionId) -> Changes {
        let mut changes = Changes { other: code.functions[function].is_declaration(), ..Changes::default() };
        for instruction in code.functions[function].blocks.values().flat_map(|block| &block.instructions) {
            changes.add(&self.changed_by(function, instruction));
        }
        changes
    }

    /// What an instruction writes itself; of a call nothing.
    pub(crate) fn changed_by(&self, function: CodeFunctionId, instruction: &Instruction) -> Changes {
        let mut changes = Changes::default();
        match instruction {
            Instruction::Store { address, .. } => changes.note(self.target(function, address)),
            Instruction::CopyMemory { .. }
            | Instruction::SetMemory { .. }
            | Instruction::Input { .. }
            | Instruction::Feed { .. }
            | Instruction::VariadicStart { .. } => changes.other = true,
            _ => {}
        }
        changes
    }
}

impl Statics {
    fn place(&self, object: GlobalId, offsets: Offsets) -> Target {
        let stride = self.strides[&object];
        let offset = Offsets::new(stride, offsets.residue).residue;
        let field = Field { object, offset: u64::try_from(offset).unwrap_or(u64::MAX) };
        if stride == 0 { Target::Cell(field) } else { Target::Element(field) }
    }

    fn fields_of(&self, object: GlobalId) -> impl Iterator<Item = (Field, Width)> {
        self.widths.iter().filter(move |(field, _)| field.object == object).map(|(field, width)| (*field, *width))
    }
}

fn pointees(statics: &Statics, region: &Region, function: CodeFunctionId, operand: &Operand) -> Pointees {
    match operand {
        Operand::Register(register) => region.registers.get(&(function, *register)).cloned().unwrap_or_default(),
        Operand::Constant(0) => Pointees::default(),
        Operand::Constant(_) => Pointees::other(),
        Operand::Global(id, offset) if statics.strides.contains_key(id) => {
            Pointees { known: BTreeMap::from([(*id, Offsets::exact(*offset))]), other: false }
        }
        Operand::Global(..) | Operand::Function(_) | Operand::Undefined => Pointees::other(),
    }
}

/// Of each root the functions that it leads to.
fn reachable(
    code: &Code,
    roots: &[CodeFunctionId],
    is_known: &dyn Fn(&str) -> bool,
) -> Option<Vec<BTreeSet<CodeFunctionId>>> {
    let understood = |instruction: &Instruction| match instruction {
        Instruction::Call(call) => matches!(call.callee, Callee::Direct(_)),
        Instruction::Unsupported { .. } => false,
        _ => true,
    };
    let is_fine = |id: &CodeFunctionId| match code.functions[*id].is_declaration() {
        true => is_known(&code.functions[*id].name),
        false => code.functions[*id].blocks.values().flat_map(|block| &block.instructions).all(understood),
    };
    let mut left = MOST_INSTRUCTIONS;
    let of_root = |root: &CodeFunctionId| {
        let reached = called(code, *root);
        left = left.checked_sub(size(code, &reached))?;
        reached.iter().all(is_fine).then_some(reached)
    };
    roots.iter().map(of_root).collect()
}

/// Whether the address is that of a stack object that is written and handed out, and never read: a driver's for a result,
/// which no later call gets.
fn only_handed_out(function: &Function, address: &Operand) -> bool {
    let is_object = |instruction: &Instruction| matches!(instruction, Instruction::StackObject { .. });
    let instructions = || function.blocks.values().flat_map(|block| &block.instructions);
    let Operand::Register(register) = address else { return false };
    let made = instructions().find(|instruction| instruction.outs().contains(register));
    let hands_out = |instruction: &Instruction| {
        let mut mentions = 0;
        instruction.for_each_operand(&mut |operand| mentions += usize::from(operand == address));
        match instruction {
            Instruction::Store { value, .. } => value != address,
            Instruction::Output { .. } => true,
            _ => mentions == 0,
        }
    };
    let mut leaves = false;
    for block in function.blocks.values() {
        block.terminator.for_each_operand(&mut |operand| leaves |= operand == address);
    }
    !leaves && made.is_some_and(is_object) && instructions().all(hands_out)
}

/// One pass of the analysis: until nothing changes, or something about an object turns out to be different.
struct Flow<'a> {
    code: &'a Code,
    statics: Statics,
    /// The root that is looked at.
    region: Region,
    /// Objects that are not followed after all.
    given_away: BTreeSet<GlobalId>,
    /// Objects whose elements are smaller than was thought.
    strides: BTreeMap<GlobalId, u64>,
}

impl Flow<'_> {
    fn run(&mut self, roots: &[CodeFunctionId], functions: &[BTreeSet<CodeFunctionId>]) -> Vec<Region> {
        self.images();
        let new = |functions: &BTreeSet<CodeFunctionId>| Region { functions: functions.clone(), ..Region::default() };
        let mut regions: Vec<Region> = functions.iter().map(new).collect();
        for (region, root) in regions.iter_mut().zip(roots) {
            let parameters = self.code.functions[*root].parameters.iter();
            region.registers.extend(parameters.map(|parameter| ((*root, *parameter), Pointees::other())));
        }
        loop {
            let mut changed = false;
            for region in &mut regions {
                std::mem::swap(region, &mut self.region);
                for function in self.region.functions.clone() {
                    changed |= self.function(function);
                }
                std::mem::swap(region, &mut self.region);
            }
            if !changed || !self.given_away.is_empty() || !self.strides.is_empty() {
                break;
            }
        }
        self.check_layouts();
        regions
    }

    /// What stands in the objects at the beginning.
    fn images(&mut self) {
        for object in self.statics.strides.keys().copied().collect::<Vec<_>>() {
            let initializer = self.code.globals[object].initializer.as_ref();
            for (at, operand) in initializer.into_iter().flat_map(|image| &image.addresses) {
                let pointees = self.value(CodeFunctionId(0), operand);
                let at = i64::try_from(*at).unwrap_or(i64::MAX);
                if let Target::Cell(field) | Target::Element(field) = self.statics.place(object, Offsets::exact(at)) {
                    self.statics.contents.entry(field).or_default().add(&pointees);
                }
            }
        }
    }

    fn function(&mut self, id: CodeFunctionId) -> bool {
        let function = &self.code.functions[id];
        let mut changed = false;
        for block in function.blocks.values() {
            for instruction in &block.instructions {
                changed |= self.instruction(id, instruction);
            }
            for edge in block.terminator.edges() {
                for (out, operand) in &edge.copies {
                    let value = self.value(id, operand);
                    changed |= self.set(id, *out, &value);
                }
            }
            if let Terminator::Return(values) = &block.terminator {
                let values: Vec<Pointees> = values.iter().map(|value| self.value(id, value)).collect();
                let results = self.region.results.entry(id).or_default();
                results.resize(values.len().max(results.len()), Pointees::default());
                for (result, value) in results.iter_mut().zip(&values) {
                    changed |= result.add(value);
                }
            }
        }
        changed
    }

    fn value(&self, function: CodeFunctionId, operand: &Operand) -> Pointees {
        pointees(&self.statics, &self.region, function, operand)
    }

    fn set(&mut self, function: CodeFunctionId, register: RegisterId, value: &Pointees) -> bool {
        if self.code.functions[function].registers[register] != 64 {
            self.give_away(value);
            return false;
        }
        self.region.registers.entry((function, register)).or_default().add(value)
    }

    /// Nobody knows any longer who has a pointer to these objects.
    fn give_away(&mut self, value: &Pointees) {
        self.given_away.extend(value.known.keys());
    }

    fn instruction(&mut self, id: CodeFunctionId, instruction: &Instruction) -> bool {
        match instruction {
            Instruction::Address(address) => self.address(id, address),
            Instruction::Load { out, width, address } => self.load(id, *out, *width, address),
            Instruction::Store { width, value, address } => self.store(id, *width, value, address),
            Instruction::Call(call) => self.call(id, call),
            Instruction::Cast(cast) if cast.op == CastOp::Copy => {
                let value = self.value(id, &cast.value);
                self.set(id, cast.out, &value)
            }
            Instruction::Select { out, then, otherwise, .. } => {
                let mut value = self.value(id, then);
                value.add(&self.value(id, otherwise));
                self.set(id, *out, &value)
            }
            // Comparing tells nobody where an object is.
            Instruction::Compare(_) | Instruction::MarkCondition { .. } | Instruction::MarkSwitch { .. } => false,
            Instruction::StackObject { out, .. } => self.set(id, *out, &Pointees::other()),
            other => {
                let mut read = Vec::new();
                other.for_each_operand(&mut |operand| read.push(*operand));
                read.iter().for_each(|operand| {
                    let value = self.value(id, operand);
                    self.give_away(&value);
                });
                let registers = &self.code.functions[id].registers;
                let wide = other.outs().into_iter().filter(|out| registers[*out] == 64).collect::<Vec<_>>();
                wide.into_iter().fold(false, |changed, out| self.set(id, out, &Pointees::other()) | changed)
            }
        }
    }

    fn address(&mut self, id: CodeFunctionId, address: &Address) -> bool {
        for scaled in &address.scaled {
            let index = self.value(id, &scaled.index);
            self.give_away(&index);
        }
        let base = self.value(id, &address.base);
        let known = base.known.iter().map(|(object, offsets)| (*object, offsets.moved(address))).collect();
        self.set(id, address.out, &Pointees { known, other: base.other })
    }

    /// The place of an access; objects with accesses that may also go elsewhere are not followed.
    fn access(&mut self, id: CodeFunctionId, width: Width, address: &Operand) -> Option<Field> {
        let pointees = self.value(id, address);
        if pointees.other || pointees.known.len() > 1 {
            self.give_away(&pointees);
            return None;
        }
        let (object, offsets) = pointees.known.first_key_value().map(|(object, offsets)| (*object, *offsets))?;
        let stride = self.statics.strides[&object];
        let smaller = greatest_common_divisor(stride, offsets.stride);
        if smaller != stride {
            self.strides.insert(object, smaller);
            return None;
        }
        match self.statics.place(object, offsets) {
            Target::Cell(field) | Target::Element(field) => {
                let known = *self.statics.widths.entry(field).or_insert(width);
                if known != width || field.offset == u64::MAX {
                    self.given_away.insert(object);
                }
                Some(field)
            }
            Target::Other => None,
        }
    }

    fn load(&mut self, id: CodeFunctionId, out: RegisterId, width: Width, address: &Operand) -> bool {
        let field = self.access(id, width, address);
        if width != 64 {
            return false;
        }
        let value = match field {
            Some(field) => self.statics.contents.get(&field).cloned().unwrap_or_default(),
            None if self.value(id, address).other => Pointees::other(),
            None => return false,
        };
        self.set(id, out, &value)
    }

    fn store(&mut self, id: CodeFunctionId, width: Width, value: &Operand, address: &Operand) -> bool {
        if only_handed_out(&self.code.functions[id], address) {
            return false;
        }
        let value = self.value(id, value);
        match self.access(id, width, address) {
            Some(field) if width == 64 => self.statics.contents.entry(field).or_default().add(&value),
            _ => {
                self.give_away(&value);
                false
            }
        }
    }

    fn call(&mut self, id: CodeFunctionId, call: &Call) -> bool {
        let Callee::Direct(callee) = call.callee else { return false };
        let function = &self.code.functions[callee];
        let arguments: Vec<Pointees> = call.arguments.iter().map(|argument| self.value(id, argument)).collect();
        let mut changed = false;
        let named = if function.is_declaration() { 0 } else { function.parameters.len() };
        for (index, argument) in arguments.iter().enumerate() {
            match function.parameters.get(index).filter(|_| index < named) {
                Some(parameter) if function.registers[*parameter] == 64 => {
                    changed |= self.set(callee, *parameter, argument);
                }
                _ => self.give_away(argument),
            }
        }
        let results = self.region.results.get(&callee).cloned().unwrap_or_default();
        for (index, &out) in call.outs.iter().enumerate() {
            let result = match function.is_declaration() {
                true => Pointees::other(),
                false => results.get(index).cloned().unwrap_or_default(),
            };
            if self.code.functions[id].registers[out] == 64 {
                changed |= self.set(id, out, &result);
            }
        }
        changed
    }

    /// Fields do not overlap and end within the elements.
    fn check_layouts(&mut self) {
        for (object, stride) in self.statics.strides.clone() {
            let size = self.code.globals[object].size;
            let end = if stride == 0 { size } else { stride };
            let fields: Vec<(Field, Width)> = self.statics.fields_of(object).collect();
            let bytes = |width: Width| u64::from(width.div_ceil(8));
            let ends = fields.iter().map(|(field, width)| field.offset.saturating_add(bytes(*width)));
            let next = fields.iter().skip(1).map(|(field, _)| field.offset).chain([end]);
            let apart = ends.zip(next).all(|(end, next)| end <= next);
            let whole = stride == 0 || size.is_multiple_of(stride);
            if !apart || !whole || fields.iter().any(|(_, width)| !width.is_multiple_of(8)) {
                self.given_away.insert(object);
            }
        }
    }
}
