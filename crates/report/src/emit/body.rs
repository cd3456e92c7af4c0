//! The body of one emitted test: inputs, calls, expectations.

use branchwise_generate::Test;
use branchwise_program::map::{Function, Input, InputOrigin, Map};
use branchwise_program::types::TypeKind;
use branchwise_program::usage::{Observer, RESULT, Shown};
use branchwise_program::{FunctionId, TypeId};
use branchwise_replay::{Blob, NativeEnd, State, TestCase};

use super::changes;
use super::checks::Checks;
use super::declare::{constant_declaration, declaration};
use super::dialect::Dialect;
use super::initializer::Initializers;
use super::literal;
use super::names::Names;
use super::needs::{Need, Needs};
use super::objects::{Objects, Storage};
use super::state::{Seen, is_of_result};
use super::stubs::{feed_variable, feed_wish, given, given_to_objects};
use super::usage::Made;
use crate::values::{Decoder, Value};

/// Statements of a test, and what they need.
#[derive(Debug, Default)]
pub struct Body {
    pub lines: Vec<String>,
    pub needs: Needs,
}

/// Whether what was observed may be expected again.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Expected {
    Observed,
    /// The input leads to undefined behaviour, so another compiler may give another result.
    Nothing,
}

/// Writes inputs, calls and expectations.
pub fn body(map: &Map, function: &Function, test: &Test, expected: Expected, dialect: Dialect) -> Body {
    let mut names = Names::new(map, called(map, &test.case).chain([function]));
    // An input may be called `result` too, and the user's own names come first.
    let constructed = function.usage.as_ref().and_then(|usage| usage.constructs.as_deref());
    let wish = match constructed.and_then(|class| class.rsplit("::").next()) {
        Some(class) => class.to_lowercase(),
        None if function.inputs.iter().any(|input| input.name == "result") => "returned".to_owned(),
        None => "result".to_owned(),
    };
    let result = names.fresh(&wish);
    let usages = called(map, &test.case).chain([function]).filter_map(|function| function.usage.as_ref());
    let classes = usages.flat_map(|usage| usage.called.iter().chain(&usage.constructed));
    classes.for_each(|class| names.reserve(class));
    let calls = calls(map, function, &test.case, &mut names);
    let storage = storage(map, &calls, test);
    let objects = Objects::new(&map.types, &roots(map, &calls, &test.case), &test.case, storage, &mut names);
    let (body, later, made) = (Body::default(), Vec::new(), Made::default());
    let (case, state) = (&test.case, test.observation.state.clone());
    let mut writer = Writer { map, function, case, objects, names, result, body, later, made, dialect, state };
    writer.declare_objects();
    writer.write_later();
    writer.give_to_stubs();
    writer.change_by_stubs();
    writer.give_standard_input();
    writer.give_registers();
    writer.calls(&calls, test, expected);
    writer.drop_passed_over();
    writer.body
}

/// The statements that make the objects of a test, and the call, with its other inputs as they are.
pub fn made(map: &Map, case: &TestCase) -> Option<String> {
    let function = function_of(map, case.function)?;
    let usage = function.usage.as_ref().filter(|usage| !usage.steps.is_empty())?;
    let mut names = Names::new(map, [function].into_iter());
    let result = names.fresh("result");
    let roots = roots(map, &calls(map, function, case, &mut names), case);
    let objects = Objects::new(&map.types, &roots, case, Storage::Automatic, &mut names);
    let (body, later, made) = (Body::default(), Vec::new(), Made::default());
    let (dialect, state) = (Dialect::Assert, State::new());
    let mut writer = Writer { map, function, case, objects, names, result, body, later, made, dialect, state };
    writer.declare_objects();
    writer.write_later();
    let decoder = Decoder { types: &map.types };
    let inputs = function.inputs.iter().zip(&case.inputs).filter(|(input, _)| input.origin != InputOrigin::Global);
    let text = |(input, blob): (&Input, &Blob)| {
        writer.initializer(input.type_id, &decoder.value(input.type_id, blob, 0), &input.name)
    };
    let arguments: Vec<String> = inputs.map(text).collect();
    let call = writer.prepare(usage, &arguments);
    let call = call.strip_prefix('(').and_then(|call| call.strip_suffix(')')).unwrap_or(&call);
    Some(format!("{} {call}", writer.body.lines.join(" ")))
}

/// What is thrown that no header declares.
const PLAIN_EXCEPTIONS: [&str; 8] = ["int", "unsigned int", "long", "unsigned long", "char", "bool", "float", "double"];
const TEXT_EXCEPTION: &str = "const char *";

/// Whether an expression can be an argument of a macro, and leaves room for another one.
fn fits_a_macro(call: &str) -> bool {
    let parts = call.contains(['{', '<']) && call.contains(',');
    !parts && call.len() <= LONGEST_CALL
}

const LONGEST_CALL: usize = 70;

/// One of the calls of a test.
struct Call<'a> {
    function: &'a Function,
    inputs: &'a [Blob],
    /// By input: the local that holds it. Pointers are expressions in the call, and globals have their own names.
    locals: Vec<Option<String>>,
    /// What stands behind the names of its inputs.
    suffix: String,
}

/// The functions called before the one under test.
fn called<'a>(map: &'a Map, case: &'a TestCase) -> impl Iterator<Item = &'a Function> {
    case.before.iter().filter_map(|call| function_of(map, call.function))
}

fn function_of(map: &Map, function: FunctionId) -> Option<&Function> {
    map.functions.get(function)
}

/// All calls in order. The tested one, which is the last, has the plain names.
fn calls<'a>(map: &'a Map, function: &'a Function, case: &'a TestCase, names: &mut Names) -> Vec<Call<'a>> {
    let tested = call(map, function, &case.inputs, String::new(), names);
    let before = case.before.iter().enumerate().filter_map(|(index, earlier)| {
        let function = function_of(map, earlier.function)?;
        Some(call(map, function, &earlier.inputs, format!("_{}", index + 1), names))
    });
    let mut calls: Vec<Call> = before.collect();
    calls.push(tested);
    calls
}

fn call<'a>(map: &Map, function: &'a Function, inputs: &'a [Blob], suffix: String, names: &mut Names) -> Call<'a> {
    let mut local = |input: &Input| match input.origin {
        InputOrigin::Parameter(_) if !is_pointer(map, input.type_id) => {
            Some(names.fresh(&format!("{}{suffix}", input_wish(input))))
        }
        _ => None,
    };
    let locals = function.inputs.iter().map(&mut local).collect();
    Call { function, inputs, locals, suffix }
}

/// A number with which an object is made stands where it is made.
fn is_part(function: &Function, index: usize, value: &Value) -> bool {
    let argument = format!("{{{index}}}");
    let scalar = matches!(value, Value::Integer(_) | Value::Float(_));
    scalar && function.usage.as_ref().is_some_and(|usage| !usage.call.contains(&argument))
}

fn is_pointer(map: &Map, type_id: TypeId) -> bool {
    map.types.get(type_id).is_some_and(|of| matches!(of.kind, TypeKind::Pointer { .. }))
}

fn input_wish(input: &Input) -> String {
    match (input.origin, input.name.as_str()) {
        (InputOrigin::Global, name) => format!("{name}_object"),
        (InputOrigin::Parameter(index), "") => format!("argument_{}", index + 1),
        (InputOrigin::Parameter(_), name) => name.to_owned(),
    }
}

/// All values that may lead to objects, with the names that these may have.
fn roots(map: &Map, calls: &[Call], case: &TestCase) -> Vec<(String, Value)> {
    let decoder = Decoder { types: &map.types };
    let mut roots = Vec::new();
    let tested_first = calls.last().into_iter().chain(&calls[..calls.len() - 1]);
    for call in tested_first {
        for (input, blob) in call.function.inputs.iter().zip(call.inputs) {
            roots.push((format!("{}{}", input_wish(input), call.suffix), decoder.value(input.type_id, blob, 0)));
        }
    }
    for (feed, values) in given(map, case).chain(given_to_objects(map, case)) {
        let value = |blob: &Blob| decoder.value(map.feeds[feed].type_id, blob, 0);
        roots.push((feed_wish(map, feed), Value::Array(values.iter().map(value).collect())));
    }
    roots
}

fn storage(map: &Map, calls: &[Call], test: &Test) -> Storage {
    let mut inputs = calls.iter().flat_map(|call| call.function.inputs.iter().zip(call.inputs));
    let observation = &test.observation;
    // What a run that did not return has freed is not known.
    let may_have_freed = observation.end != NativeEnd::Returned && calls_free(map);
    if !observation.freed.is_empty() || may_have_freed {
        Storage::Heap
    } else if inputs.any(|(input, blob)| input.origin == InputOrigin::Global && !blob.pointers.is_empty()) {
        Storage::Static
    } else {
        Storage::Automatic
    }
}

fn calls_free(map: &Map) -> bool {
    let mut callees =
        map.functions.values().flat_map(|function| &function.calls).filter_map(|call| call.callee.as_deref());
    callees.any(|callee| matches!(callee, "free" | "realloc"))
}

/// Writes one test. Its objects are declared by [`super::object_text`].
pub(super) struct Writer<'a> {
    pub map: &'a Map,
    pub function: &'a Function,
    pub case: &'a TestCase,
    pub objects: Objects<'a>,
    pub names: Names,
    /// The local that takes what the call returns.
    pub result: String,
    pub body: Body,
    /// Statements that must wait until all objects are declared.
    pub later: Vec<String>,
    /// Objects of C++.
    pub made: Made,
    pub dialect: Dialect,
    /// What objects of C++ show after the call.
    pub state: State,
}

impl Writer<'_> {
    /// `const int read_sensor_results[] = {1, 7};` and who takes them.
    fn give_to_stubs(&mut self) {
        let decoder = Decoder { types: &self.map.types };
        for (feed, blobs) in given(self.map, self.case) {
            let type_id = self.map.feeds[feed].type_id;
            let values: Vec<Value> = blobs.iter().map(|blob| decoder.value(type_id, blob, 0)).collect();
            let name = self.names.fresh(&feed_wish(self.map, feed));
            let list = self.all_declared(|writer| {
                let written = values.iter().enumerate();
                let written = written.map(|(index, value)| writer.value(type_id, value, &format!("{name}[{index}]")));
                written.collect::<Vec<_>>().join(", ")
            });
            // What no initialiser can give is copied there.
            let declare = if self.later.is_empty() { constant_declaration } else { declaration };
            let declared = declare(&self.map.types, type_id, &format!("{name}[{}]", values.len()));
            self.body.lines.push(format!("{declared} = {{{list}}};"));
            let (variable, count) = (feed_variable(self.map, feed), values.len());
            self.body.lines.push(format!("{variable} = (struct branchwise_feed){{{name}, {count}}};"));
            self.write_later();
        }
    }

    /// What stubs write beside that: a constant for each value, and a list for each stub.
    fn change_by_stubs(&mut self) {
        for stub in self.map.stubs.iter().filter(|stub| changes::of_test(self.case, stub).next().is_some()) {
            let mut list = Vec::new();
            for change in changes::of_test(self.case, stub) {
                let name = self.names.fresh(&changes::value_wish(self.map, change));
                let declared = match changes::value_type(self.map, change) {
                    Some(type_id) => {
                        let value = Decoder { types: &self.map.types };
                        let value = value.value(type_id, &Blob::of_bytes(change.bytes.clone()), 0);
                        let text = self.initializer(type_id, &value, "");
                        format!("{} = {text};", constant_declaration(&self.map.types, type_id, &name))
                    }
                    None => {
                        let bytes: Vec<String> = change.bytes.iter().map(u8::to_string).collect();
                        format!("const unsigned char {name}[{}] = {{{}}};", bytes.len(), bytes.join(", "))
                    }
                };
                self.body.lines.push(declared);
                list.push(changes::entry(self.map, change, &name));
            }
            let (name, count) = (self.names.fresh(&format!("{}_changes", changes::called(stub))), list.len());
            self.body.lines.push(format!("struct branchwise_change {name}[{count}] = {{{}}};", list.join(", ")));
            let variable = changes::variable(stub);
            self.body.lines.push(format!("{variable} = (struct branchwise_changes){{{name}, {count}}};"));
            self.body.needs.insert(Need::StandardDefinitions);
        }
    }

    /// The statements that had to wait.
    pub fn write_later(&mut self) {
        let later = std::mem::take(&mut self.later);
        self.body.lines.extend(later);
    }

    fn give_standard_input(&mut self) {
        if self.case.stdin.is_empty() {
            return;
        }
        self.body.needs.insert(Need::StandardInput);
        let name = self.names.fresh("standard_input");
        let literals = literal::lines_of_text(&self.case.stdin);
        match literals.as_slice() {
            [line] => self.body.lines.push(format!("const char {name}[] = {line};")),
            lines => {
                self.body.lines.push(format!("const char {name}[] ="));
                self.body.lines.extend(lines.iter().map(|line| format!("    {line}")));
                self.body.lines.last_mut().expect("text has lines").push(';');
            }
        }
        self.body.lines.push(format!("branchwise_standard_input({name}, sizeof {name} - 1);"));
    }

    /// `const unsigned int register_40021000[2] = {0, 1};` and where these are read.
    fn give_registers(&mut self) {
        if self.case.registers.is_empty() {
            return;
        }
        self.body.needs.insert(Need::Registers);
        self.body.lines.push("branchwise_forget_registers();".to_owned());
        for register in &self.case.registers {
            let address = format!("0x{:x}", register.address);
            if !register.holds.is_empty() {
                let name =
                    self.declare_words(&format!("memory_{}", &address[2..]), std::slice::from_ref(&register.holds));
                self.body.lines.push(format!("branchwise_memory({address}, {name}, sizeof {name});"));
            }
            for part in register.parts() {
                let name = self.declare_words(&format!("register_{}", &address[2..]), part);
                let count = part.len();
                self.body
                    .lines
                    .push(format!("branchwise_register({address}, {name}, sizeof {name} / {count}, {count});"));
            }
            if register.holds.is_empty() && register.reads.is_empty() {
                self.body.lines.push(format!("branchwise_register({address}, NULL, 1, 0);"));
            }
        }
    }

    /// Declares an array of numbers of one size, and returns its name.
    fn declare_words(&mut self, wish: &str, values: &[Vec<u8>]) -> String {
        let name = self.names.fresh(wish);
        let whole = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let (kind, width) = match values.first().map_or(0, Vec::len) {
            2 => ("short", 2),
            4 => ("int", 4),
            8 => ("long", 8),
            _ => ("char", 1),
        };
        let words = values.iter().flat_map(|bytes| bytes.chunks(width));
        let words: Vec<String> = words.map(|word| literal::hexadecimal(whole(word))).collect();
        self.body.lines.push(format!("const unsigned {kind} {name}[{}] = {{{}}};", words.len(), words.join(", ")));
        name
    }

    fn calls(&mut self, calls: &[Call], test: &Test, expected: Expected) {
        let Some((tested, before)) = calls.split_last() else { return };
        if !before.is_empty() {
            self.body.lines.push("/* calls that lead to the state in which the tested one begins */".to_owned());
        }
        for call in before {
            let text = self.prepared_call(call);
            self.body.lines.push(if self.is_void(call.function) {
                format!("{text};")
            } else {
                format!("(void){text};")
            });
        }
        if !before.is_empty() {
            self.body.lines.push("/* the tested call */".to_owned());
        }
        let text = self.prepared_call(tested);
        self.tested_call(text, test, expected);
    }

    fn is_void(&self, function: &Function) -> bool {
        self.map.types.get(function.result).is_none_or(|of| of.kind == TypeKind::Void)
    }

    /// Declares the locals of a call and sets its globals; returns the call.
    fn prepared_call(&mut self, call: &Call) -> String {
        let decoder = Decoder { types: &self.map.types };
        let mut arguments = Vec::new();
        for ((input, blob), local) in call.function.inputs.iter().zip(call.inputs).zip(&call.locals) {
            let value = decoder.value(input.type_id, blob, 0);
            match (input.origin, local) {
                (InputOrigin::Global, _) => self.set_global(input, &value),
                (InputOrigin::Parameter(index), Some(_)) if is_part(call.function, index, &value) => {
                    arguments.push(self.initializer(input.type_id, &value, ""));
                }
                (InputOrigin::Parameter(_), Some(local)) => {
                    let text = self.initializer(input.type_id, &value, local);
                    let line = format!("{} = {text};", declaration(&self.map.types, input.type_id, local));
                    self.body.lines.push(line);
                    arguments.push(local.clone());
                }
                (InputOrigin::Parameter(_), None) => {
                    arguments.push(self.initializer(input.type_id, &value, ""));
                }
            }
            self.write_later();
        }
        let Some(usage) = &call.function.usage else {
            return format!("{}({})", call.function.name, arguments.join(", "));
        };
        self.prepare(usage, &arguments)
    }

    fn set_global(&mut self, input: &Input, value: &Value) {
        let name = &input.name;
        match value {
            Value::Array(_) => {
                let local = self.names.fresh(&format!("{name}_before"));
                let text = self.initializer(input.type_id, value, name);
                let declaration = self.declaration_like(input, &local);
                self.body.lines.push(format!("{declaration} = {text};"));
                self.body.needs.insert(Need::Copy);
                self.body.lines.push(format!("branchwise_copy({name}, {local}, sizeof {name});"));
            }
            Value::Record { .. } => {
                let type_name = self.declaration_like(input, "");
                let text = self.initializer(input.type_id, value, name);
                self.body.lines.push(format!("{name} = ({type_name}){text};"));
            }
            Value::Opaque => {}
            _ => {
                let text = self.initializer(input.type_id, value, name);
                self.body.lines.push(format!("{name} = {text};"));
            }
        }
    }

    /// A structure without a name can only be named by what has its type.
    fn declaration_like(&self, input: &Input, name: &str) -> String {
        let spelling = self.map.types.get(input.type_id).map_or("", |of| of.spelling.as_str());
        if spelling.contains("(unnamed") || spelling.contains("(anonymous") {
            return format!("__typeof__({}) {name}", input.name).trim_end().to_owned();
        }
        declaration(&self.map.types, input.type_id, name)
    }

    /// A call that was observed to throw must throw again.
    fn throwing_call(&mut self, call: &str, thrown: &str) {
        let class = self.nameable(thrown);
        let used = self.function.usage.as_ref().is_some_and(|usage| usage.must_be_used || usage.constructs.is_some());
        let plain = self.is_void(self.function) && !used;
        let call = if plain { call.to_owned() } else { format!("static_cast<void>({call})") };
        if let Some(line) = self.dialect.throws(&call, class.as_deref()) {
            self.body.lines.push(line);
            return;
        }
        let threw = self.names.fresh("threw");
        self.body.lines.push(format!("bool {threw} = false;"));
        self.body.lines.push("try {".to_owned());
        self.body.lines.push(format!("    {call};"));
        if let Some(class) = class {
            let by_value = PLAIN_EXCEPTIONS.contains(&class.as_str()) || class == TEXT_EXCEPTION;
            let caught = if by_value { class } else { format!("const {class} &") };
            self.body.lines.push(format!("}} catch ({caught}) {{"));
            self.body.lines.push(format!("    {threw} = true;"));
            self.body.lines.push("} catch (...) {".to_owned());
        } else {
            self.body.lines.push("} catch (...) {".to_owned());
            self.body.lines.push(format!("    {threw} = true;"));
        }
        self.body.lines.push("}".to_owned());
        self.body.lines.push("/* observed */".to_owned());
        self.body.lines.push(self.dialect.holds(&threw));
    }

    /// The type of an exception as a test can write it.
    fn nameable(&self, thrown: &str) -> Option<String> {
        let name = thrown.replace("(anonymous namespace)::", "");
        if name.starts_with("std::__cxx11::basic_string<char,") && name.ends_with('>') {
            return Some("std::string".to_owned());
        }
        if name == "char const*" {
            return Some(TEXT_EXCEPTION.to_owned());
        }
        let of_library = name.starts_with("std::") && !name.contains('<') && !name.contains("::_");
        (of_library || self.map.nameable_classes.contains(&name) || PLAIN_EXCEPTIONS.contains(&name.as_str()))
            .then_some(name)
    }

    fn tested_call(&mut self, call: String, test: &Test, expected: Expected) {
        if let (Some(thrown), Expected::Observed) = (&test.observation.threw, expected) {
            return self.throwing_call(&call, thrown);
        }
        let returned = test.observation.end == NativeEnd::Returned && expected == Expected::Observed;
        let result = test.observation.result.as_ref().filter(|_| returned);
        let decoder = Decoder { types: &self.map.types };
        let result = result.map(|blob| decoder.value(self.function.result, blob, 0));
        let observers = self.function.usage.as_ref().map(|usage| usage.observers.as_slice()).unwrap_or_default();
        let seen = if returned { self.seen(observers) } else { Vec::new() };
        let mut lines = Vec::new();
        match result.filter(|value| *value != Value::Opaque) {
            Some(value) => {
                let actual = self.called_for(&call, &value);
                lines
                    .extend(self.checked(|checks, writer| checks.value(&actual, writer.function.result, None, &value)));
            }
            None => lines.extend(self.call_shown(&call, &seen)),
        }
        if returned {
            lines.extend(self.checked(|checks, writer| {
                checks.globals(writer.function, &test.case, &test.observation);
                checks.objects(&test.observation);
            }));
        }
        for (observer, shown) in seen.iter().filter(|(observer, _)| !is_of_result(observer)) {
            let actual = self.observed_expression(&observer.text);
            lines.extend(self.checked(|checks, _| match (shown, &observer.shown) {
                (Seen::Value(value), Shown::Value(type_id)) => checks.value(&actual, *type_id, None, value),
                (Seen::Text(text), _) => checks.equal(&actual, text),
                (Seen::Value(_), _) => {}
            }));
        }
        if !lines.is_empty() && self.dialect == Dialect::Assert {
            self.body.lines.push("/* observed */".to_owned());
        }
        self.body.lines.extend(lines);
    }

    /// Where the value of a call is looked at: the call itself where that reads well, or else a variable.
    fn called_for(&mut self, call: &str, value: &Value) -> String {
        let simple = match value {
            Value::Integer(_) => true,
            Value::Float(number) => !number.is_negative_zero() && literal::float(*number) != "NAN",
            _ => false,
        };
        if simple && self.dialect != Dialect::Assert && fits_a_macro(call) {
            return call.to_owned();
        }
        let declared = declaration(&self.map.types, self.function.result, &self.result);
        self.body.lines.push(format!("{declared} = {call};"));
        self.result.clone()
    }

    /// A call whose value no bytes show; what is expected of it as a whole.
    fn call_shown(&mut self, call: &str, seen: &[(&Observer, Seen)]) -> Vec<String> {
        let whole = seen.iter().find(|(observer, _)| is_of_result(observer));
        if let Some((_, Seen::Text(text))) = whole {
            if self.dialect != Dialect::Assert && fits_a_macro(call) {
                return self.checked(|checks, _| checks.equal(call, text));
            }
            self.body.lines.push(format!("auto {} = {call};", self.result));
            let result = self.result.clone();
            return self.checked(|checks, _| checks.equal(&result, text));
        }
        let must_be_used = self.function.usage.as_ref().is_some_and(|usage| usage.must_be_used);
        let looked_at = seen.iter().any(|(observer, _)| observer.text.contains(RESULT));
        let line = match self.function.usage.as_ref().and_then(|usage| usage.constructs.as_deref()) {
            Some(class) if looked_at => {
                let arguments = call.strip_prefix('(').and_then(|call| call.strip_prefix(class)).unwrap_or_default();
                let arguments = arguments.strip_suffix(')').filter(|arguments| *arguments != "()").unwrap_or("{}");
                format!("{class} {}{arguments};", self.result)
            }
            Some(_) => format!("static_cast<void>{call};"),
            None if looked_at => format!("auto &&{} = {call};", self.result),
            None if self.is_void(self.function) && !must_be_used => format!("{call};"),
            None => format!("(void){call};"),
        };
        self.body.lines.push(line);
        Vec::new()
    }

    /// The expectations that `write` collects.
    fn checked(&mut self, write: impl FnOnce(&mut Checks<'_>, &Self)) -> Vec<String> {
        let mut names = self.names.clone();
        let mut checks = Checks::new(self.map, &self.objects, &mut names, self.dialect);
        write(&mut checks, self);
        let (lines, needs) = checks.finish();
        self.names = names;
        self.body.needs.extend(needs);
        lines
    }

    /// The initialiser of a value, when all objects are declared.
    pub fn initializer(&mut self, type_id: TypeId, value: &Value, lvalue: &str) -> String {
        self.all_declared(|writer| writer.value(type_id, value, lvalue))
    }

    fn all_declared(&mut self, write: impl FnOnce(&mut Initializers) -> String) -> String {
        let declared = vec![true; self.case.objects.len()];
        self.with_initializers(&declared, write)
    }

    /// A pointer to an object that is not declared yet starts as null and is set as soon as it can be.
    pub fn with_initializers(&mut self, declared: &[bool], write: impl FnOnce(&mut Initializers) -> String) -> String {
        let objects = &self.objects;
        let later = &mut self.later;
        let mut pointer = |type_id: TypeId, object: usize, offset: u64, lvalue: &str| {
            let address = objects.address(type_id, object, offset);
            if declared.get(object) == Some(&true) {
                return address;
            }
            later.push(format!("{lvalue} = {address};"));
            if self.map.is_cpp() { "nullptr" } else { "NULL" }.to_owned()
        };
        let mut writer = Initializers::new(self.map, &mut pointer);
        let text = write(&mut writer);
        let (needs, raw) = writer.finish();
        self.body.needs.extend(needs);
        if text.contains("NULL") {
            self.body.needs.insert(Need::StandardDefinitions);
        }
        for (lvalue, bytes) in raw {
            let count = bytes.len();
            let text = match self.map.is_cpp() {
                true => literal::bytes(&bytes),
                false => {
                    let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                    format!("(const unsigned char[]){{{}}}", bytes.join(", "))
                }
            };
            self.later.push(format!("branchwise_copy(&{lvalue}, {text}, {count});"));
        }
        text
    }
}
