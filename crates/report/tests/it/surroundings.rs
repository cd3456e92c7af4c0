//! The functions of `fixtures/surroundings.c`: stubs, standard input, earlier calls, function pointers.

use std::path::Path;

use branchwise_program::map::{CallSite, Callable, Feed, FeedOrigin, Stub, StubAct, StubParameter, UndefinedVariable};
use branchwise_program::types::TypeKind;
use branchwise_program::{CallableId, FeedId, FunctionId, NodeId, TypeId};
use branchwise_replay::{Blob, Call, FunctionAt, NativeEnd, Observation, PointerAt, TestCase};

use crate::common::*;

/// The report of a file with everything that a test may have to give: 26 tests.
pub fn surroundings(source: &Path) -> Unit {
    let (mut unit, basic) = Unit::new(source);
    unit.keeps_state = true;
    names(&mut unit, basic);
    stack(&mut unit, basic);
    sensors(&mut unit, basic);
    library(&mut unit, basic);
    nodes(&mut unit, basic);
    function_pointers(&mut unit, basic);
    standard_input(&mut unit, basic);
    pointers(&mut unit, basic);
    late_exits(&mut unit, basic);
    main_function(&mut unit, basic);
    unit
}

fn names(unit: &mut Unit, basic: Basic) {
    let alarm = unit.add_function("alarm", 25, basic.int, vec![parameter(0, "level", basic.int)]);
    unit.map.functions[alarm].internal = true;
    unit.add_test(alarm, case(alarm, vec![ints(&[4])]), returned(Some(ints(&[1]))));
    let inputs = vec![parameter(0, "left", basic.int), parameter(1, "right", basic.int)];
    let fork = unit.add_function("fork", 26, basic.int, inputs);
    unit.add_test(fork, case(fork, vec![ints(&[4]), ints(&[3])]), returned(Some(ints(&[3]))));
    let pipe = unit.add_function("pipe", 27, basic.int, vec![parameter(0, "n", basic.int)]);
    unit.add_test(pipe, case(pipe, vec![ints(&[4])]), returned(Some(ints(&[5]))));
    let mapped = unit.add_function("mapped", 29, basic.int, vec![global("mmap", basic.int)]);
    let after = Observation { inputs_after: vec![Some(ints(&[10]))], ..returned(Some(ints(&[9]))) };
    unit.add_test(mapped, case(mapped, vec![ints(&[9])]), after);
}

fn stack(unit: &mut Unit, basic: Basic) {
    let pointer = unit.pointer(basic.int, false);
    let push = unit.add_function("push", 30, basic.int, vec![parameter(0, "value", basic.int)]);
    let pop = unit.add_function("pop", 31, basic.int, vec![parameter(0, "value", pointer)]);
    let pushed = |value: i32| Call { function: push, inputs: vec![ints(&[value])] };
    let mut full = case(push, vec![ints(&[5])]);
    full.before = (1..5).map(pushed).collect();
    unit.add_test(push, full, returned(Some(ints(&[-1]))));
    let mut two = TestCase::new(
        pop,
        vec![to_object(0)],
        vec![object(basic.int, 1, ints(&[0])), object(basic.int, 1, ints(&[0]))],
    );
    two.before = vec![pushed(8), pushed(9), Call { function: pop, inputs: vec![to_object(1)] }];
    let mut observation = returned(Some(ints(&[0])));
    observation.objects_after = vec![ints(&[8]), ints(&[9])];
    unit.add_test(pop, two, observation);
}

fn stub(unit: &mut Unit, name: &str, result: &str, parameters: &[(&str, &str)], act: StubAct) {
    let parameter = |(name, spelling): &(&str, &str)| StubParameter {
        name: (*name).to_owned(),
        spelling: (*spelling).to_owned(),
        buffer: false,
        calls: None,
    };
    unit.map.stubs.push(Stub {
        internal: false,
        name: name.to_owned(),
        symbol: name.to_owned(),
        definition: String::new(),
        result: result.to_owned(),
        parameters: parameters.iter().map(parameter).collect(),
        variadic: name == "record",
        pure: false,
        act,
    });
}

fn result_feed(unit: &mut Unit, function: &str, type_id: TypeId) -> FeedId {
    let origin = FeedOrigin::StubResult { function: function.to_owned() };
    unit.map.feeds.push(Feed { name: format!("{function}()"), type_id, origin })
}

/// Values of one feed, and nothing of the others before it.
fn fed(mut case: TestCase, feed: FeedId, values: Vec<Blob>) -> TestCase {
    case.feeds.resize(feed.0 as usize + 1, Vec::new());
    case.feeds[feed.0 as usize] = values;
    case
}

fn sensors(unit: &mut Unit, basic: Basic) {
    unit.map.undefined_variables.push(UndefinedVariable {
        name: "verbosity".to_owned(),
        type_id: basic.int,
        tentative: false,
        thread_local: false,
        elements: None,
    });
    stub(unit, "read_sensor", "int", &[("channel", "int"), ("value", "int *")], StubAct::Feeds);
    stub(unit, "record", "void", &[("", "const char *")], StubAct::Feeds);
    stub(unit, "read_all", "struct reading", &[], StubAct::Feeds);
    stub(unit, "give_up", "void", &[("status", "int")], StubAct::Ends);
    let origin = FeedOrigin::StubParameter { function: "read_sensor".to_owned(), parameter: 1 };
    let value = unit.map.feeds.push(Feed { name: "*value of read_sensor()".to_owned(), type_id: basic.int, origin });
    let result = result_feed(unit, "read_sensor", basic.int);
    let inputs = vec![parameter(0, "channels", basic.int), global("verbosity", basic.int)];
    let average = unit.add_function("average", 33, basic.int, inputs);
    let three = case(average, vec![ints(&[3]), ints(&[2])]);
    let three =
        fed(fed(three, value, vec![ints(&[10]), ints(&[-20]), ints(&[70])]), result, vec![ints(&[0]), ints(&[1])]);
    unit.add_test(average, three, returned(Some(ints(&[80]))));
    // Nothing is left of what the test before gave.
    unit.add_test(average, case(average, vec![ints(&[2]), ints(&[0])]), returned(Some(ints(&[0]))));

    let reading =
        unit.record("struct reading", 16, vec![field("channel", basic.int, 0), field("value", basic.double, 8)]);
    let all = result_feed(unit, "read_all", reading);
    let latest = unit.add_function("latest", 39, basic.double, vec![]);
    let second = blob([&[2, 0, 0, 0, 0, 0, 0, 0], &0.1f64.to_le_bytes()[..]].concat());
    unit.add_test(latest, fed(case(latest, vec![]), all, vec![second]), returned(Some(blob(0.1f64.to_le_bytes()))));
    unit.add_test(latest, case(latest, vec![]), returned(Some(blob((-0.0f64).to_le_bytes()))));

    let strict = unit.add_function("strict", 42, basic.int, vec![parameter(0, "x", basic.int)]);
    unit.add_test(strict, case(strict, vec![ints(&[-1])]), ended(NativeEnd::Exited(1), None));
}

fn library(unit: &mut Unit, basic: Basic) {
    let long = unit.add_type("long", TypeKind::Integer { bits: 64, signed: true, character: false }, 8);
    stub(unit, "rand", "int", &[], StubAct::Feeds);
    stub(unit, "time", "time_t", &[("", "time_t *")], StubAct::Feeds);
    let rand = result_feed(unit, "rand", basic.int);
    let time = result_feed(unit, "time", long);
    let draw = unit.add_function("draw", 40, basic.int, vec![]);
    let lucky = fed(fed(case(draw, vec![]), rand, vec![ints(&[13])]), time, vec![blob(77i64.to_le_bytes())]);
    unit.add_test(draw, lucky, returned(Some(ints(&[4]))));
}

fn nodes(unit: &mut Unit, basic: Basic) {
    let node = unit.add_type("struct node", TypeKind::Void, 16);
    let pointer = unit.pointer(node, false);
    let fields = vec![field("value", basic.int, 0), field("next", pointer, 8)];
    unit.map.types[node].kind = TypeKind::Record { union: false, fields: Some(fields) };
    stub(unit, "find", "struct node *", &[("key", "int")], StubAct::Feeds);
    let find = result_feed(unit, "find", pointer);
    let walk = unit.add_function("walk", 41, basic.int, vec![parameter(0, "key", basic.int)]);
    let mut first = ints(&[1, 0, 0, 0]);
    first.pointers.push(PointerAt { at: 8, object: 1, offset: 0 });
    let objects = vec![object(node, 1, first), object(node, 1, ints(&[6, 0, 0, 0]))];
    let found = fed(TestCase::new(walk, vec![ints(&[3])], objects), find, vec![to_object(0)]);
    unit.add_test(walk, found, returned(Some(ints(&[6]))));
}

fn to_function(callable: CallableId, at: u64) -> FunctionAt {
    FunctionAt { at, callable }
}

fn function_pointers(unit: &mut Unit, basic: Basic) {
    let function = unit.add_type("int (int)", TypeKind::Function, 0);
    let pointer = TypeKind::Pointer { target: function, constant: false, declared_count: None };
    let pointer = unit.add_type("int (*)(int)", pointer, 8);
    let twice = unit.add_function("twice", 44, basic.int, vec![parameter(0, "x", basic.int)]);
    unit.add_test(twice, case(twice, vec![ints(&[4])]), returned(Some(ints(&[8]))));
    let callable =
        |name: &str, stub| Callable { name: name.to_owned(), symbol: name.to_owned(), type_id: function, stub };
    let user = unit.map.callables.push(callable("twice", false));
    let generated = unit.map.callables.push(callable("__bw_function_1", true));
    stub(unit, "__bw_function_1", "int", &[("", "int")], StubAct::Feeds);
    let feed = result_feed(unit, "__bw_function_1", basic.int);
    let apply = unit.add_function(
        "apply",
        45,
        basic.int,
        vec![parameter(0, "function", pointer), parameter(1, "x", basic.int)],
    );
    let to = |callable| Blob { functions: vec![to_function(callable, 0)], ..blob([0; 8]) };
    unit.add_test(apply, case(apply, vec![to(user), ints(&[21])]), returned(Some(ints(&[42]))));
    let stubbed = fed(case(apply, vec![to(generated), ints(&[21])]), feed, vec![ints(&[-9])]);
    unit.add_test(apply, stubbed, returned(Some(ints(&[-9]))));
    dispatch(unit, basic, pointer, user);
}

fn dispatch(unit: &mut Unit, basic: Basic, function: TypeId, user: CallableId) {
    let text = unit.pointer(basic.char, true);
    let range = unit.record("struct (unnamed range)", 8, vec![field("low", basic.int, 0), field("high", basic.int, 4)]);
    let fields = vec![field("name", text, 0), field("handle", function, 8), field("range", range, 16)];
    let handler = unit.record("struct handler", 24, fields);
    let handlers = unit.pointer(handler, true);
    let inputs = vec![parameter(0, "handlers", handlers), parameter(1, "n", basic.int), parameter(2, "x", basic.int)];
    let dispatch = unit.add_function("dispatch", 46, basic.int, inputs);
    let mut table = ints(&[0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 7, 9]);
    table.functions = vec![to_function(user, 8), to_function(user, 32)];
    let case = TestCase::new(dispatch, vec![to_object(0), ints(&[2]), ints(&[8])], vec![object(handler, 2, table)]);
    unit.add_test(dispatch, case, returned(Some(ints(&[16]))));
}

fn standard_input(unit: &mut Unit, basic: Basic) {
    let sum = unit.add_function("sum_input", 52, basic.int, vec![]);
    let place = place(52, 60);
    unit.map.functions[sum].calls.push(CallSite {
        callee: Some("scanf".to_owned()),
        declared_by_user: false,
        returns: true,
        certain: true,
        place,
        node: NodeId(0),
    });
    let reading = |function: FunctionId, text: &[u8]| TestCase { stdin: text.to_vec(), ..case(function, vec![]) };
    unit.add_test(sum, reading(sum, b"12 7\n-9\nend\n"), returned(Some(ints(&[10]))));
    unit.add_test(sum, reading(sum, b""), returned(Some(ints(&[0]))));
    let line = unit.pointer(basic.char, false);
    let first = unit.add_function("first_line", 53, basic.int, vec![parameter(0, "line", line)]);
    let mut read = TestCase::new(first, vec![to_object(0)], vec![object(basic.char, 8, blob([0; 8]))]);
    read.stdin = b"a?\n\xff".to_vec();
    let observation = Observation { objects_after: vec![blob(*b"a?\n\0\0\0\0\0")], ..returned(Some(ints(&[255]))) };
    unit.add_test(first, read, observation);
}

fn pointers(unit: &mut Unit, basic: Basic) {
    let int_pointer = unit.pointer(basic.int, true);
    let inputs = vec![parameter(0, "left", int_pointer), parameter(1, "right", int_pointer)];
    let same = unit.add_function("same", 55, basic.int, inputs);
    let one = TestCase::new(same, vec![to_object(0), to_object(0)], vec![object(basic.int, 1, ints(&[0]))]);
    unit.add_test(same, one, returned(Some(ints(&[1]))));
    let opaque = unit.add_type("struct opaque", TypeKind::Record { union: false, fields: None }, 0);
    let opaque_pointer = unit.pointer(opaque, false);
    let known = unit.add_function("known", 56, basic.int, vec![parameter(0, "o", opaque_pointer)]);
    let some = TestCase::new(known, vec![to_object(0)], vec![object(opaque, 64, blob([0; 64]))]);
    unit.add_test(known, some, returned(Some(ints(&[1]))));
    let long = unit.map.types.iter().find(|(_, of)| of.spelling == "long").expect("added before").0;
    let bytes = unit.pointer(basic.void, true);
    let inputs = vec![parameter(0, "bytes", bytes), parameter(1, "n", basic.int)];
    let sum = unit.add_function("sum_bytes", 57, long, inputs);
    let zeros = TestCase::new(sum, vec![to_object(0), ints(&[9])], vec![object(basic.void, 9, blob([0; 9]))]);
    unit.add_test(sum, zeros, returned(Some(blob([0; 8]))));
}

fn late_exits(unit: &mut Unit, basic: Basic) {
    let leave = unit.add_function("leave_late", 60, basic.int, vec![parameter(0, "how", basic.int)]);
    unit.add_test(leave, case(leave, vec![ints(&[0])]), ended(NativeEnd::Exited(3), None));
    unit.add_test(leave, case(leave, vec![ints(&[1])]), ended(NativeEnd::Exited(7), None));
}

fn main_function(unit: &mut Unit, basic: Basic) {
    let text = unit.pointer(basic.char, false);
    let texts = unit.pointer(text, false);
    let main =
        unit.add_function("main", 62, basic.int, vec![parameter(0, "argc", basic.int), parameter(1, "argv", texts)]);
    let mut arguments = blob([0; 24]);
    arguments.pointers = vec![PointerAt { at: 0, object: 1, offset: 0 }, PointerAt { at: 8, object: 2, offset: 0 }];
    let objects =
        vec![object(text, 3, arguments), object(basic.char, 2, blob(*b"t\0")), object(basic.char, 3, blob(*b"x1\0"))];
    unit.add_test(main, TestCase::new(main, vec![ints(&[2]), to_object(0)], objects), returned(Some(ints(&[1]))));
}
