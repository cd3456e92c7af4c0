//! Which functions observe, and what could be claimed: guesses, all of which have to be proved.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_program::code::{Call, Callee, Function, Instruction, Operand};
use branchwise_program::{CodeFunctionId, GlobalId, RegisterId};

use crate::calls::called;
use crate::claims::Claim;
use crate::observers::{Holds, Mark, Observer};
use crate::proof::Unit;
use crate::regions::{Field, Target};

/// More would be more than it is worth.
const MOST_OBSERVERS: usize = 6;

/// Counters that elements of the array are given out by: the number of the element whose address is taken.
pub(crate) fn marks(unit: Unit<'_>, array: GlobalId) -> Vec<Mark> {
    let mut marks = BTreeSet::new();
    for &id in unit.regions.functions() {
        let function = &unit.code.functions[id];
        for instruction in instructions(function) {
            if let Instruction::Address(address) = instruction
                && address.base == Operand::Global(array, 0)
                && let [scaled] = &address.scaled[..]
                && u64::try_from(scaled.scale) == Ok(unit.regions.stride(array))
                && let Operand::Register(index) = scaled.index
                && let Some(counter) = read_from(unit, id, index)
            {
                marks.insert(Mark { counter });
            }
        }
    }
    marks.into_iter().collect()
}

/// The cell that a register was read from, perhaps extended.
fn read_from(unit: Unit<'_>, id: CodeFunctionId, register: RegisterId) -> Option<Field> {
    let function = &unit.code.functions[id];
    let made = instructions(function).find(|instruction| instruction.outs().contains(&register))?;
    match made {
        Instruction::Load { address, .. } => match unit.regions.target(id, address) {
            Target::Cell(field) => Some(field),
            Target::Element(_) | Target::Other => None,
        },
        Instruction::Cast(cast) => match cast.value {
            Operand::Register(register) => read_from(unit, id, register),
            _ => None,
        },
        _ => None,
    }
}

fn instructions(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.blocks.values().flat_map(|block| &block.instructions)
}

/// Values at the program's start.
pub(crate) fn initial_cells(unit: Unit<'_>) -> BTreeMap<Field, u128> {
    let cells = unit.regions.all_fields().filter(|(field, _)| unit.regions.stride(field.object) == 0);
    let values = cells.filter_map(|(field, width)| {
        let image = unit.code.globals[field.object].initializer.as_ref()?;
        let at = usize::try_from(field.offset).ok()?;
        let end = at + width.div_ceil(8) as usize;
        let is_plain =
            image.addresses.iter().all(|(address, _)| *address + 8 <= field.offset || end as u64 <= *address);
        let bytes = image.bytes.get(at..end).filter(|bytes| is_plain && bytes.len() <= 16)?;
        Some((field, bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte))))
    });
    values.collect()
}

/// Fields of the array that lead to elements of it.
pub(crate) fn links(unit: Unit<'_>, array: GlobalId) -> Vec<Field> {
    let fields = unit.regions.fields_of(array).map(|(field, _)| field);
    fields.filter(|field| unit.regions.leads_to_own_array(*field)).collect()
}

/// Whether the order holds in the image that the program starts with.
pub(crate) fn starts_in_order(unit: Unit<'_>, field: Field) -> bool {
    starts_with(unit, field, |from, to| to > from)
}

/// Whether the field is null or leads to an element everywhere in that image.
pub(crate) fn starts_linked(unit: Unit<'_>, field: Field) -> bool {
    starts_with(unit, field, |_, _| true)
}

/// Whether a field is null or leads to an element everywhere in the image, and the offsets of both are as they should.
fn starts_with(unit: Unit<'_>, field: Field, fits: impl Fn(u64, u64) -> bool) -> bool {
    let global = &unit.code.globals[field.object];
    let Some(image) = &global.initializer else { return false };
    let stride = unit.regions.stride(field.object);
    (0..global.size / stride).all(|number| {
        let at = number * stride + field.offset;
        let address = image.addresses.iter().find(|(offset, _)| *offset < at + 8 && at < *offset + 8);
        match address {
            Some((offset, Operand::Global(id, to))) => {
                let inside = |to: &u64| *to < global.size && to.is_multiple_of(stride);
                let to = u64::try_from(*to).ok().filter(inside);
                *offset == at && *id == field.object && to.is_some_and(|to| fits(number * stride, to))
            }
            Some(_) => false,
            None => image.bytes.iter().skip(at as usize).take(8).all(|byte| *byte == 0),
        }
    })
}

/// The recursive functions that look at a structure and change nothing of it: those that answer yes or no first.
pub(crate) fn observers(
    unit: Unit<'_>,
    array: GlobalId,
    marks: &[Mark],
    initial: &BTreeMap<Field, u128>,
) -> Vec<Observer> {
    let shapes: Vec<Observer> =
        unit.recursive.iter().filter_map(|function| shape(unit, array, *function, initial)).collect();
    let (asking, telling): (Vec<_>, Vec<_>) = shapes.into_iter().partition(|shape| !shape.says_value());
    let mut observers: Vec<Observer> = Vec::new();
    for shape in &asking {
        observers.push(Observer { exact: Vec::new(), any: shape.exact.clone(), ..shape.clone() });
    }
    let conditions: Vec<usize> = (0..observers.len()).collect();
    for shape in asking {
        observers.extend(marks.iter().map(|mark| Observer { mark: Some(*mark), ..shape.clone() }));
    }
    observers.extend(telling.into_iter().map(|shape| Observer { conditions: conditions.clone(), ..shape }));
    if observers.len() > MOST_OBSERVERS { Vec::new() } else { observers }
}

fn shape(unit: Unit<'_>, array: GlobalId, id: CodeFunctionId, initial: &BTreeMap<Field, u128>) -> Option<Observer> {
    let function = &unit.code.functions[id];
    let below = called(unit.code, id);
    let changes = unit.regions.changes(id);
    let alone = below.iter().filter(|callee| unit.recursive.contains(callee)).count() == 1;
    let bodies = below.iter().all(|callee| is_determined(&unit.code.functions[*callee]));
    if !alone || !bodies || !changes.fields.is_empty() || changes.other {
        return None;
    }
    let &[width] = &function.results[..] else { return None };
    let is_structure = |index: &usize| unit.regions.is_element(id, function.parameters[*index], array);
    let all = 0..function.parameters.len();
    let structures: Vec<usize> = all.clone().filter(is_structure).collect();
    let &[structure] = &structures[..] else { return None };
    let others = all.filter(|index| *index != structure);
    let (constant, exact) = others.partition(|index| is_handed_on(function, id, *index));
    let keeps: Option<Vec<(Field, u128)>> =
        changes.cells.iter().map(|cell| Some((*cell, *initial.get(cell)?))).collect();
    let keeps = keeps?;
    let holds = if keeps.is_empty() { Holds::NotZero } else { Holds::Keeps(keeps) };
    let cells = read_cells(unit, &below).difference(&changes.cells).copied().collect();
    let (any, mark, conditions) = (Vec::new(), None, Vec::new());
    Some(Observer { function: id, structure, exact, constant, any, mark, holds, conditions, width, cells })
}

/// Whether what the function does follows from its arguments and from memory.
fn is_determined(function: &Function) -> bool {
    let determined = |instruction: &Instruction| {
        let mut undefined = false;
        instruction.for_each_operand(&mut |operand| undefined |= *operand == Operand::Undefined);
        let plain = matches!(
            instruction,
            Instruction::Binary(_)
                | Instruction::Compare(_)
                | Instruction::Cast(_)
                | Instruction::Select { .. }
                | Instruction::Load { .. }
                | Instruction::Store { .. }
                | Instruction::Address(_)
                | Instruction::Call(_)
                | Instruction::MarkCondition { .. }
                | Instruction::MarkSwitch { .. }
                | Instruction::Probe { .. }
        );
        plain && !undefined
    };
    let mut undefined = false;
    for block in function.blocks.values() {
        block.terminator.for_each_operand(&mut |operand| undefined |= *operand == Operand::Undefined);
    }
    !function.is_declaration() && !undefined && instructions(function).all(determined)
}

/// Whether all calls of itself pass the parameter on.
fn is_handed_on(function: &Function, id: CodeFunctionId, index: usize) -> bool {
    let parameter = Operand::Register(function.parameters[index]);
    calls_of(function, id).all(|call| call.arguments.get(index) == Some(&parameter))
}

fn calls_of(function: &Function, callee: CodeFunctionId) -> impl Iterator<Item = &Call> {
    instructions(function).filter_map(move |instruction| match instruction {
        Instruction::Call(call) if call.callee == Callee::Direct(callee) => Some(call),
        _ => None,
    })
}

fn read_cells(unit: Unit<'_>, functions: &BTreeSet<CodeFunctionId>) -> BTreeSet<Field> {
    let mut cells = BTreeSet::new();
    for &id in functions {
        for instruction in instructions(&unit.code.functions[id]) {
            if let Instruction::Load { address, .. } = instruction
                && let Target::Cell(cell) = unit.regions.target(id, address)
            {
                cells.insert(cell);
            }
        }
    }
    cells
}

/// What may be true of a function whatever the observers say.
pub(crate) fn structural(
    unit: Unit<'_>,
    array: GlobalId,
    marks: &[Mark],
    initial: &BTreeMap<Field, u128>,
    id: CodeFunctionId,
) -> BTreeSet<Claim> {
    let changes = unit.regions.changes(id);
    let changed: Vec<Field> = changes.cells.iter().copied().filter(|cell| initial.contains_key(cell)).collect();
    let mut claims: BTreeSet<Claim> = changed.iter().map(|cell| Claim::Sticky(*cell)).collect();
    let given_out: Vec<Mark> = marks.iter().copied().filter(|mark| changed.contains(&mark.counter)).collect();
    claims.extend(given_out.iter().map(|mark| Claim::Grows(mark.counter)));
    let elements: Vec<usize> = elements(unit, array, id);
    if unit.regions.returns_element(id, array) {
        let counts = |cell: &Field| marks.iter().any(|mark| mark.counter == *cell);
        claims.extend(changed.iter().filter(|cell| !counts(cell)).map(|cell| Claim::NotNull(*cell)));
        claims.extend(given_out.iter().map(|mark| Claim::AboveMark(*mark)));
        claims.extend(elements.iter().map(|index| Claim::AboveParameter(*index)));
    }
    if changes.fields.iter().any(|field| field.object == array) {
        claims.extend(given_out.iter().map(|mark| Claim::FrameOfMark(*mark)));
        claims.extend(elements.iter().map(|index| Claim::FrameOfParameter(*index)));
    }
    claims
}

/// Parameters that point to elements of the array.
fn elements(unit: Unit<'_>, array: GlobalId, id: CodeFunctionId) -> Vec<usize> {
    let parameters = &unit.code.functions[id].parameters;
    let is_element = |index: &usize| unit.regions.is_element(id, parameters[*index], array);
    (0..parameters.len()).filter(is_element).collect()
}

/// What may be true of a function and what an observer says.
pub(crate) fn observed(
    unit: Unit<'_>,
    array: GlobalId,
    marks: &[Mark],
    (index, observer): (usize, &Observer),
    id: CodeFunctionId,
) -> BTreeSet<Claim> {
    let mut claims = BTreeSet::new();
    let elements = elements(unit, array, id);
    let changes = unit.regions.changes(id);
    let returns_element = unit.regions.returns_element(id, array);
    // Who gives out elements writes to those that were not given out before, about which only an observer with a mark is silent.
    let gives_out = marks.iter().any(|mark| changes.cells.contains(&mark.counter));
    let fits = gives_out == observer.mark.is_some();
    if changes.fields.iter().any(|field| field.object == array) && !fits {
        return claims;
    }
    if changes.fields.iter().any(|field| field.object == array) {
        claims.insert(Claim::Preserves(index));
        if returns_element && observer.exact.is_empty() && observer.mark.is_none() {
            claims.extend(elements.iter().map(|parameter| Claim::Like(index, *parameter)));
        }
        if returns_element && observer.any.is_empty() && !observer.says_value() {
            let function = &unit.code.functions[id];
            let widths: Vec<_> = parameter_widths(function);
            let wanted = parameter_widths(&unit.code.functions[observer.function]);
            let wanted: Vec<_> = observer.exact.iter().map(|parameter| wanted[*parameter]).collect();
            claims.extend(choices(&widths, &wanted).into_iter().map(|chosen| Claim::Makes(index, chosen)));
        }
    } else if observer.says_value() && observer.exact.is_empty() && unit.code.functions[id].results.len() == 1 {
        let pairs =
            elements.iter().enumerate().flat_map(|(at, left)| elements[..at].iter().map(move |right| (*right, *left)));
        claims.extend(pairs.map(|(left, right)| Claim::Compares(index, left, right)));
    }
    claims
}

fn parameter_widths(function: &Function) -> Vec<u32> {
    function.parameters.iter().map(|parameter| function.registers[*parameter]).collect()
}

/// All ways to choose parameters of the wanted widths.
fn choices(widths: &[u32], wanted: &[u32]) -> Vec<Vec<usize>> {
    let Some((first, rest)) = wanted.split_first() else { return vec![Vec::new()] };
    let fitting = (0..widths.len()).filter(|index| widths[*index] == *first);
    let extended = fitting.flat_map(|index| {
        choices(widths, rest).into_iter().map(move |tail| std::iter::once(index).chain(tail).collect())
    });
    extended.collect()
}
