//! The functions of `fixtures/kinds.c` with what they do for some inputs.

use std::path::Path;

use branchwise_generate::FindingKind;
use branchwise_goals::GoalId;
use branchwise_program::types::{Field, TypeKind};
use branchwise_program::{FunctionId, TypeId};
use branchwise_replay::{Blob, NativeEnd, Observation, PointerAt, TestCase};

use crate::common::*;

/// The report that the emitted-code tests start from: 30 tests.
pub fn kinds(source: &Path) -> Unit {
    let (mut unit, basic) = Unit::new(source);
    trityp(&mut unit, basic);
    next_colour(&mut unit, basic);
    swap_and_globals(&mut unit, basic);
    length(&mut unit, basic);
    characters(&mut unit, basic);
    arrays(&mut unit, basic);
    untyped(&mut unit, basic);
    floats(&mut unit, basic);
    mixed(&mut unit, basic);
    overlay(&mut unit, basic);
    ends(&mut unit, basic);
    release(&mut unit, basic);
    main_function(&mut unit, basic);
    unit
}

fn with_objects(function: FunctionId, inputs: Vec<Blob>, objects: Vec<(TypeId, u64, Blob)>) -> TestCase {
    let objects = objects.into_iter().map(|(element, count, blob)| object(element, count, blob));
    TestCase::new(function, inputs, objects.collect())
}

fn pointing(mut blob: Blob, at: u64, object: usize, offset: u64) -> Blob {
    blob.pointers.push(PointerAt { at, object, offset });
    blob
}

fn changing(result: Option<Blob>, objects_after: Vec<Blob>) -> Observation {
    Observation { objects_after, ..returned(result) }
}

fn trityp(unit: &mut Unit, basic: Basic) {
    let inputs = ["i", "j", "k"].iter().enumerate().map(|(index, name)| parameter(index, name, basic.int)).collect();
    let trityp = unit.add_function("trityp", 20, basic.int, inputs);
    unit.add_condition(trityp, (21, 9), "i <= 0", [covered(&[2]), covered(&[1])]);
    unit.add_condition(trityp, (21, 19), "j <= 0", [covered(&[2]), covered(&[1])]);
    let test =
        unit.add_test(trityp, case(trityp, vec![ints(&[3]), ints(&[4]), ints(&[5])]), returned(Some(ints(&[1]))));
    test.kept_for = vec![GoalId(1), GoalId(3)];
    let smallest = vec![ints(&[i32::MIN]), ints(&[-1]), ints(&[i32::MAX])];
    let test = unit.add_test(trityp, case(trityp, smallest), returned(Some(ints(&[4]))));
    test.kept_for = vec![GoalId(0)];
}

fn next_colour(unit: &mut Unit, basic: Basic) {
    let constants = [("RED", 0), ("GREEN", 5), ("BLUE", 6)].map(|(name, value)| (name.to_owned(), value)).to_vec();
    let kind = TypeKind::Enumeration { bits: 32, signed: false, constants };
    let colour = unit.add_type("enum colour", kind, 4);
    let inputs = vec![parameter(0, "colour", colour), parameter(1, "letter", basic.char)];
    let next = unit.add_function("next_colour", 25, colour, inputs);
    for (from, letter, to) in [(0, b'a', 5), (0, b'\n', 6), (9, 0xff, 0)] {
        unit.add_test(next, case(next, vec![ints(&[from]), blob([letter])]), returned(Some(ints(&[to]))));
    }
}

fn swap_and_globals(unit: &mut Unit, basic: Basic) {
    let pair = unit.record("struct pair", 8, vec![field("first", basic.int, 0), field("second", basic.int, 4)]);
    let swap = unit.add_function("swap", 27, pair, vec![parameter(0, "pair", pair)]);
    unit.add_test(swap, case(swap, vec![ints(&[1, -2])]), returned(Some(ints(&[-2, 1]))));

    let table = unit.array(basic.int, 4);
    let node = unit.add_type("struct node", TypeKind::Void, 16);
    let node_pointer = unit.pointer(node, false);
    let fields = vec![field("value", basic.int, 0), field("next", node_pointer, 8)];
    unit.map.types[node].kind = TypeKind::Record { union: false, fields: Some(fields) };
    let mut inputs = vec![parameter(0, "step", basic.int), global("limit", basic.int), global("window", pair)];
    inputs.extend([global("table", table), global("head", node_pointer)]);
    let function = unit.add_function("use_globals", 49, basic.int, inputs);
    let values = vec![ints(&[5]), ints(&[8]), ints(&[0, 2]), ints(&[0, 0, 0, 4]), to_object(0)];
    let mut observation = changing(Some(ints(&[8])), vec![ints(&[5, 0, 0, 0])]);
    let after = [None, Some(ints(&[9])), Some(ints(&[0, 7])), Some(ints(&[0, 0, 8, 4])), Some(to_object(0))];
    observation.inputs_after = after.to_vec();
    unit.add_test(function, with_objects(function, values, vec![(node, 1, ints(&[1, 0, 0, 0]))]), observation);
}

fn length(unit: &mut Unit, basic: Basic) {
    let (node, _) = unit.map.types.iter().find(|(_, of)| of.spelling == "struct node").expect("added before");
    let pointer = unit.pointer(node, true);
    let length = unit.add_function("length", 29, basic.int, vec![parameter(0, "list", pointer)]);
    let node_at = |value: i32, next: usize| pointing(ints(&[value, 0, 0, 0]), 8, next, 0);
    unit.add_test(length, case(length, vec![blob([0; 8])]), returned(Some(ints(&[0]))));
    let chain = vec![(node, 1, node_at(1, 1)), (node, 1, ints(&[2, 0, 0, 0]))];
    unit.add_test(length, with_objects(length, vec![to_object(0)], chain), returned(Some(ints(&[2]))));
    let cycle = vec![(node, 1, node_at(1, 1)), (node, 1, node_at(2, 0))];
    unit.add_test(length, with_objects(length, vec![to_object(0)], cycle), returned(Some(ints(&[-2]))));
    let itself = vec![(node, 1, node_at(7, 0))];
    unit.add_test(length, with_objects(length, vec![to_object(0)], itself), returned(Some(ints(&[-1]))));
}

fn characters(unit: &mut Unit, basic: Basic) {
    let text = unit.pointer(basic.char, false);
    let inputs = vec![parameter(0, "text", text), parameter(1, "copy", text)];
    let capitals = unit.add_function("capitals", 36, basic.void, inputs);
    let objects = vec![(basic.char, 4, blob(*b"ab\0\0")), (basic.char, 6, blob(*b"-\x01----"))];
    let after = vec![blob(*b"ab\0\0"), blob(*b"AB\0---")];
    let inputs = vec![to_object(0), to_object(1)];
    unit.add_test(capitals, with_objects(capitals, inputs, objects), changing(None, after));
}

fn arrays(unit: &mut Unit, basic: Basic) {
    let int_pointer = unit.pointer(basic.int, false);
    let inputs = vec![parameter(0, "out", int_pointer), parameter(1, "n", basic.unsigned)];
    let count_up = unit.add_function("count_up", 38, basic.void, inputs);
    let one = with_objects(count_up, vec![to_object(0), ints(&[2])], vec![(basic.int, 3, ints(&[9, 9, 9]))]);
    unit.add_test(count_up, one, changing(None, vec![ints(&[0, 1, 9])]));
    let mut before = [0; 20];
    before[15] = 7;
    let mut after = before;
    (0..9).for_each(|index| after[index] = index as i32);
    let many = with_objects(count_up, vec![to_object(0), ints(&[9])], vec![(basic.int, 20, ints(&before))]);
    unit.add_test(count_up, many, changing(None, vec![ints(&after)]));

    let inputs = vec![parameter(0, "from", int_pointer), parameter(1, "to", int_pointer)];
    let largest = unit.add_function("largest", 40, int_pointer, inputs);
    let row = vec![(basic.int, 3, ints(&[1, 5, 2]))];
    let ends = vec![to_object(0), pointing(blob([0; 8]), 0, 0, 12)];
    let best = pointing(blob([0; 8]), 0, 0, 4);
    unit.add_test(largest, with_objects(largest, ends, row), returned(Some(best)));

    let rows = unit.pointer(int_pointer, true);
    let sum_two = unit.add_function("sum_two", 57, basic.int, vec![parameter(0, "rows", rows)]);
    let both = pointing(pointing(blob([0; 16]), 0, 1, 0), 8, 1, 4);
    let objects = vec![(int_pointer, 2, both), (basic.int, 3, ints(&[1, 2, 3]))];
    unit.add_test(sum_two, with_objects(sum_two, vec![to_object(0)], objects), returned(Some(ints(&[4]))));
}

fn untyped(unit: &mut Unit, basic: Basic) {
    let anything = unit.pointer(basic.void, false);
    let name = unit.pointer(basic.char, true);
    let inputs = vec![parameter(0, "anything", anything), parameter(1, "size", basic.int)];
    let name_of = unit.add_function("name_of", 42, name, inputs);
    let bytes = vec![(basic.void, 3, blob([1, 0, 255]))];
    let foreign = blob([1, 2, 3, 4, 5, 6, 0, 0]);
    unit.add_test(name_of, with_objects(name_of, vec![to_object(0), ints(&[3])], bytes), returned(Some(foreign)));
}

fn floats(unit: &mut Unit, basic: Basic) {
    let float = unit.add_type("float", TypeKind::Float { bits: 32 }, 4);
    let long_double = unit.add_type("long double", TypeKind::Float { bits: 80 }, 16);
    let inputs = vec![parameter(0, "x", basic.double), parameter(1, "y", float), parameter(2, "z", long_double)];
    let half = unit.add_function("half", 44, basic.double, inputs);
    let mut two = (1u64 << 63).to_le_bytes().to_vec();
    two.extend([0x00, 0x40, 0, 0, 0, 0, 0, 0]);
    let inputs = |x: f64, y: f32| vec![blob(x.to_le_bytes()), blob(y.to_le_bytes()), blob(two.clone())];
    let sum = blob((0.5f64 + f64::from(0.1f32) + 2.0).to_le_bytes());
    unit.add_test(half, case(half, inputs(1.0, 0.1)), returned(Some(sum)));
    let nan = blob(f64::NAN.to_le_bytes());
    unit.add_test(half, case(half, inputs(f64::INFINITY, f32::NEG_INFINITY)), returned(Some(nan)));
}

fn mixed(unit: &mut Unit, basic: Basic) {
    let float = unit.map.types.iter().find(|(_, of)| of.spelling == "float").expect("added before").0;
    let members = vec![field("number", basic.int, 0), field("real", float, 0)];
    let either = unit.add_type("union (unnamed)", TypeKind::Record { union: true, fields: Some(members) }, 4);
    let name = unit.array(basic.char, 8);
    let bits = |name: &str, type_id, offset_bits, width| Field {
        name: name.to_owned(),
        type_id,
        offset_bits,
        bit_field: Some(width),
    };
    let fields = vec![
        bits("flag", basic.unsigned, 0, 1),
        bits("small", basic.int, 1, 5),
        field("", either, 4),
        field("name", name, 8),
    ];
    let mixed = unit.record("mixed", 16, fields);
    let pointer = unit.pointer(mixed, false);
    let inputs = vec![parameter(0, "m", mixed), parameter(1, "out", pointer)];
    let describe = unit.add_function("describe", 51, basic.int, inputs);
    let of = |first: u8, number: u8, name: &[u8; 8]| blob([&[first, 0, 0, 0, number, 0, 0, 0], &name[..]].concat());
    let before = vec![(mixed, 1, of(0, 0, &[0; 8]))];
    let input = vec![of(0b111110, 9, b"xyz\0\0\0\0\0"), to_object(0)];
    let after = vec![of(0b111011, 7, b"ab\0\0\0\0\0\0")];
    unit.add_test(describe, with_objects(describe, input, before), changing(Some(ints(&[9])), after));
}

fn overlay(unit: &mut Unit, basic: Basic) {
    let tags = unit.array(basic.char, 3);
    let left = vec![field("tag", basic.char, 0), field("wide", basic.int, 4)];
    let left = unit.record("struct (unnamed left)", 8, left);
    let right = unit.record("struct (unnamed right)", 8, vec![field("wide", basic.int, 0), field("tag", tags, 4)]);
    let members = vec![field("left", left, 0), field("right", right, 0)];
    let overlay = unit.add_type("union overlay", TypeKind::Record { union: true, fields: Some(members) }, 8);
    let peek = unit.add_function("peek", 53, basic.int, vec![parameter(0, "o", overlay)]);
    unit.add_test(peek, case(peek, vec![blob([1, 0, 0, 0, 0, 0, 2, 0])]), returned(Some(ints(&[3]))));
    unit.add_test(peek, case(peek, vec![blob([1, 1, 1, 1, 0, 0, 2, 9])]), returned(Some(ints(&[3]))));
}

fn ends(unit: &mut Unit, basic: Basic) {
    let pointer = unit.pointer(basic.int, false);
    let how_often = unit.add_function("how_often", 55, basic.int, vec![parameter(0, "result", basic.int)]);
    unit.add_test(how_often, case(how_often, vec![ints(&[41])]), returned(Some(ints(&[42]))));
    let leave = unit.add_function("leave", 59, basic.void, vec![parameter(0, "status", basic.int)]);
    unit.add_test(leave, case(leave, vec![ints(&[0])]), ended(NativeEnd::Exited(0), None));
    let follow = unit.add_function("follow", 61, basic.int, vec![parameter(0, "p", pointer)]);
    let null = case(follow, vec![blob([0; 8])]);
    unit.add_test(follow, null.clone(), ended(NativeEnd::Signal(11), None));
    unit.add_finding(follow, FindingKind::NullDereference, "reads through a null pointer", null);
    let forever = unit.add_function("forever", 63, basic.int, vec![parameter(0, "go", basic.int)]);
    unit.add_test(forever, case(forever, vec![ints(&[1])]), ended(NativeEnd::TimeLimit, None));
    let inputs = vec![parameter(0, "p", pointer), parameter(1, "i", basic.int)];
    let beyond = unit.add_function("beyond", 65, basic.int, inputs);
    let outside = with_objects(beyond, vec![to_object(0), ints(&[5])], vec![(basic.int, 2, ints(&[1, 2]))]);
    unit.add_test(beyond, outside.clone(), returned(Some(ints(&[77]))));
    unit.add_finding(beyond, FindingKind::OutOfBounds, "reads 4 bytes at 20 of an object of 8 bytes", outside);
}

fn release(unit: &mut Unit, basic: Basic) {
    let (node, _) = unit.map.types.iter().find(|(_, of)| of.spelling == "struct node").expect("added before");
    let pointer = unit.pointer(node, false);
    let release = unit.add_function("release", 67, basic.int, vec![parameter(0, "list", pointer)]);
    let chain = vec![(node, 1, pointing(ints(&[1, 0, 0, 0]), 8, 1, 0)), (node, 1, ints(&[2, 0, 0, 0]))];
    let mut observation = changing(Some(ints(&[1])), vec![blob([]), ints(&[1, 0, 0, 0])]);
    observation.freed = vec![0];
    unit.add_test(release, with_objects(release, vec![to_object(0)], chain), observation);
    let single = vec![(node, 1, ints(&[2, 0, 0, 0]))];
    let observation = changing(Some(ints(&[0])), vec![ints(&[0, 0, 0, 0])]);
    unit.add_test(release, with_objects(release, vec![to_object(0)], single), observation);
}

fn main_function(unit: &mut Unit, basic: Basic) {
    let text = unit.pointer(basic.char, false);
    let texts = unit.pointer(text, false);
    let inputs = vec![parameter(0, "argc", basic.int), parameter(1, "argv", texts)];
    let main = unit.add_function("main", 69, basic.int, inputs);
    let arguments = pointing(pointing(blob([0; 24]), 0, 1, 0), 8, 2, 0);
    let objects = vec![(text, 3, arguments), (basic.char, 2, blob(*b"t\0")), (basic.char, 3, blob(*b"hi\0"))];
    unit.add_test(main, with_objects(main, vec![ints(&[2]), to_object(0)], objects), returned(Some(ints(&[0]))));
}
