//! The body of one emitted test: inputs, call, expectations.

use std::collections::BTreeSet;

use branchwise_generate::Test;
use branchwise_program::TypeId;
use branchwise_program::map::{Function, Input, InputOrigin, Map};
use branchwise_program::types::TypeKind;
use branchwise_replay::{NativeEnd, TestCase};

use super::checks::Checks;
use super::declare::{declaration, pointer_declaration, type_name};
use super::initializer::Initializers;
use super::names::Names;
use super::objects::{NamedObject, Objects, Shape, Storage};
use crate::values::{Decoder, Value};

/// Statements of a test, and the headers they need.
#[derive(Debug, Default)]
pub struct Body {
    pub lines: Vec<String>,
    pub headers: BTreeSet<&'static str>,
}

/// Whether what was observed may be expected again.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Expected {
    Observed,
    /// The input leads to undefined behaviour, so another compiler may give another result.
    Nothing,
}

/// Writes inputs, call and expectations.
pub fn body(map: &Map, function: &Function, test: &Test, expected: Expected) -> Body {
    let mut names = Names::new(map, function);
    // An input may be called `result` too, and the user's own names come first.
    let wish = if function.inputs.iter().any(|input| input.name == "result") { "returned" } else { "result" };
    let result = names.fresh(wish);
    let values = value_parameters(map, function, &mut names);
    let objects = Objects::new(&map.types, function, &test.case, storage(map, function, test), &mut names);
    let mut writer =
        Writer { map, function, case: &test.case, objects, names, result, body: Body::default(), later: Vec::new() };
    writer.declare_objects();
    writer.declare_values(&values);
    writer.set_globals();
    let later = std::mem::take(&mut writer.later);
    writer.body.lines.extend(later);
    writer.call(test, &values, expected);
    writer.body
}

fn storage(map: &Map, function: &Function, test: &Test) -> Storage {
    let mut inputs = function.inputs.iter().zip(&test.case.inputs);
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

/// The parameters that are locals of their own: all but pointers, which stand as expressions in the call.
fn value_parameters(map: &Map, function: &Function, names: &mut Names) -> Vec<Option<String>> {
    let mut local = |input: &Input| match input.origin {
        InputOrigin::Parameter(_) if !is_pointer(map, input.type_id) => Some(names.fresh(&input.name)),
        _ => None,
    };
    function.inputs.iter().map(&mut local).collect()
}

fn is_pointer(map: &Map, type_id: TypeId) -> bool {
    map.types.get(type_id).is_some_and(|of| matches!(of.kind, TypeKind::Pointer { .. }))
}

struct Writer<'a> {
    map: &'a Map,
    function: &'a Function,
    case: &'a TestCase,
    objects: Objects<'a>,
    names: Names,
    /// The local that takes what the call returns.
    result: String,
    body: Body,
    /// Statements that must wait until all objects are declared.
    later: Vec<String>,
}

impl Writer<'_> {
    fn declare_objects(&mut self) {
        let storage = if self.objects.storage == Storage::Static { "static " } else { "" };
        let on_heap = self.objects.storage == Storage::Heap;
        let mut declared = vec![false; self.case.objects.len()];
        for index in self.objects.in_order_of_declaration() {
            // Its own address may stand in an object's initialiser, unless that is computed first.
            declared[index] = !on_heap;
            let Some(named) = self.objects.named[index].clone() else { continue };
            let line = self.object_declaration(index, &named, &declared);
            self.body.lines.push(format!("{storage}{line};"));
            declared[index] = true;
        }
    }

    fn object_declaration(&mut self, index: usize, named: &NamedObject, declared: &[bool]) -> String {
        let decoder = Decoder { types: &self.map.types };
        let object = &self.case.objects[index];
        let name = &named.name;
        let elements = decoder.elements(object, &object.blob);
        let count = elements.len().max(1);
        match named.shape {
            Shape::Array if self.objects.storage == Storage::Heap => {
                self.heap_declaration(object.element, name, &elements, declared)
            }
            Shape::Bytes if self.objects.storage == Storage::Heap => {
                let text = self.array_initializer(None, &elements, name, declared);
                self.body.headers.extend(["stdlib.h", "string.h"]);
                format!("unsigned char *{name} = branchwise_heap((unsigned char[{count}]){text}, {count})")
            }
            Shape::Single => {
                let value = elements.first().cloned().unwrap_or(Value::Opaque);
                let text = self.initializer(object.element, &value, name, declared);
                format!("{} = {text}", declaration(&self.map.types, object.element, name))
            }
            Shape::Array => {
                let text = self.array_initializer(Some(object.element), &elements, name, declared);
                format!("{} = {text}", declaration(&self.map.types, object.element, &format!("{name}[{count}]")))
            }
            Shape::Bytes => {
                let text = self.array_initializer(None, &elements, name, declared);
                format!("unsigned char {name}[{count}] = {text}")
            }
        }
    }

    /// `struct node *list = branchwise_heap(&(struct node){ .value = 1 }, sizeof *list)`
    fn heap_declaration(&mut self, element: TypeId, name: &str, values: &[Value], declared: &[bool]) -> String {
        self.body.headers.extend(["stdlib.h", "string.h"]);
        let types = &self.map.types;
        let pointer = pointer_declaration(types, element, name);
        let braced = |text: String| if text.starts_with('{') { text } else { format!("{{{text}}}") };
        if let [value] = values {
            let text = braced(self.initializer(element, value, &format!("{name}[0]"), declared));
            return format!("{pointer} = branchwise_heap(&({}){text}, sizeof *{name})", type_name(types, element));
        }
        let text = braced(self.array_initializer(Some(element), values, name, declared));
        let count = values.len().max(1);
        let array = declaration(types, element, &format!("[{count}]"));
        format!("{pointer} = branchwise_heap(({array}){text}, {count} * sizeof *{name})")
    }

    fn declare_values(&mut self, values: &[Option<String>]) {
        let declared = vec![true; self.case.objects.len()];
        let decoder = Decoder { types: &self.map.types };
        for ((input, blob), name) in self.function.inputs.iter().zip(&self.case.inputs).zip(values) {
            let Some(name) = name else { continue };
            let value = decoder.value(input.type_id, blob, 0);
            let text = self.initializer(input.type_id, &value, name, &declared);
            let line = format!("{} = {text};", declaration(&self.map.types, input.type_id, name));
            self.body.lines.push(line);
        }
    }

    fn set_globals(&mut self) {
        let declared = vec![true; self.case.objects.len()];
        let decoder = Decoder { types: &self.map.types };
        for (input, blob) in self.function.inputs.iter().zip(&self.case.inputs) {
            if input.origin == InputOrigin::Global {
                let value = decoder.value(input.type_id, blob, 0);
                self.set_global(input, &value, &declared);
            }
        }
    }

    fn set_global(&mut self, input: &Input, value: &Value, declared: &[bool]) {
        let name = &input.name;
        match value {
            Value::Array(_) => {
                let local = self.names.fresh(&format!("{name}_before"));
                let text = self.initializer(input.type_id, value, name, declared);
                let declaration = self.declaration_like(input, &local);
                self.body.lines.push(format!("{declaration} = {text};"));
                self.body.headers.insert("string.h");
                self.body.lines.push(format!("memcpy({name}, {local}, sizeof {name});"));
            }
            Value::Record { .. } => {
                let type_name = self.declaration_like(input, "");
                let text = self.initializer(input.type_id, value, name, declared);
                self.body.lines.push(format!("{name} = ({type_name}){text};"));
            }
            Value::Opaque => {}
            _ => {
                let text = self.initializer(input.type_id, value, name, declared);
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

    fn call(&mut self, test: &Test, values: &[Option<String>], expected: Expected) {
        let call = format!("{}({})", self.function.name, self.arguments(values).join(", "));
        let returned = test.observation.end == NativeEnd::Returned && expected == Expected::Observed;
        let result = test.observation.result.as_ref().filter(|_| returned);
        let decoder = Decoder { types: &self.map.types };
        let result = result.map(|blob| decoder.value(self.function.result, blob, 0));
        let is_void = self.map.types.get(self.function.result).is_none_or(|of| of.kind == TypeKind::Void);
        let mut checks = Checks::new(&self.objects, &mut self.names);
        match result.filter(|value| *value != Value::Opaque) {
            Some(value) => {
                checks.value(&self.result, self.function.result, None, &value);
                let declared = declaration(&self.map.types, self.function.result, &self.result);
                self.body.lines.push(format!("{declared} = {call};"));
            }
            None if is_void => self.body.lines.push(format!("{call};")),
            None => self.body.lines.push(format!("(void){call};")),
        }
        if returned {
            checks.globals(self.function, &test.case, &test.observation);
            checks.objects(&test.observation);
        }
        let (lines, headers) = checks.finish();
        if !lines.is_empty() {
            self.body.lines.push("/* observed */".to_owned());
        }
        self.body.lines.extend(lines);
        self.body.headers.extend(headers);
    }

    fn arguments(&mut self, values: &[Option<String>]) -> Vec<String> {
        let declared = vec![true; self.case.objects.len()];
        let decoder = Decoder { types: &self.map.types };
        let inputs = self.function.inputs.iter().zip(&self.case.inputs).zip(values);
        let mut arguments = Vec::new();
        for ((input, blob), local) in inputs {
            match (input.origin, local) {
                (InputOrigin::Global, _) => {}
                (InputOrigin::Parameter(_), Some(local)) => arguments.push(local.clone()),
                (InputOrigin::Parameter(_), None) => {
                    let value = decoder.value(input.type_id, blob, 0);
                    arguments.push(self.initializer(input.type_id, &value, "", &declared));
                }
            }
        }
        arguments
    }

    fn initializer(&mut self, type_id: TypeId, value: &Value, lvalue: &str, declared: &[bool]) -> String {
        self.with_initializers(declared, |writer| writer.value(type_id, value, lvalue))
    }

    fn array_initializer(&mut self, of: Option<TypeId>, values: &[Value], lvalue: &str, declared: &[bool]) -> String {
        self.with_initializers(declared, |writer| writer.array(of, values, lvalue))
    }

    /// A pointer to an object that is not declared yet starts as null and is set as soon as it can be.
    fn with_initializers(&mut self, declared: &[bool], write: impl FnOnce(&mut Initializers) -> String) -> String {
        let objects = &self.objects;
        let later = &mut self.later;
        let mut pointer = |type_id: TypeId, object: usize, offset: u64, lvalue: &str| {
            let address = objects.address(type_id, object, offset);
            if declared.get(object) == Some(&true) {
                return address;
            }
            later.push(format!("{lvalue} = {address};"));
            "NULL".to_owned()
        };
        let mut writer = Initializers::new(&self.map.types, &mut pointer);
        let text = write(&mut writer);
        let (headers, raw) = writer.finish();
        self.body.headers.extend(headers);
        if text.contains("NULL") {
            self.body.headers.insert("stddef.h");
        }
        for (lvalue, bytes) in raw {
            let count = bytes.len();
            let bytes = bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
            self.later.push(format!("memcpy(&{lvalue}, (const unsigned char[]){{{bytes}}}, {count});"));
        }
        text
    }
}
