//! Declarations of the objects that a test's pointers point to.

use branchwise_program::TypeId;
use branchwise_program::types::TypeTable;
use branchwise_replay::StreamContents;

use super::body::Writer;
use super::declare::{declaration, pointer_declaration, type_name};
use super::initializer::Initializers;
use super::literal::lines_of_text;
use super::needs::Need;
use super::objects::{NamedObject, Shape, Storage};
use crate::values::{Decoder, Value};

/// Bytes of which the type says nothing may be read as anything.
const ALIGNED: &str = "__attribute__((aligned(16)))";

impl Writer<'_> {
    pub fn declare_objects(&mut self) {
        let storage = if self.objects.storage == Storage::Static { "static " } else { "" };
        let on_heap = self.objects.storage == Storage::Heap;
        let mut declared = vec![false; self.case.objects.len()];
        for index in self.objects.in_order_of_declaration() {
            // Its own address may stand in an object's initialiser, unless that is computed first.
            declared[index] = !on_heap;
            let Some(named) = self.objects.named[index].clone() else { continue };
            if let Some(stream) = &self.case.objects[index].stream {
                let line = self.stream_declaration(&named.name, stream);
                self.body.lines.push(line);
                // What is opened has no address that an object of static storage could begin with.
                declared[index] = storage.is_empty();
                continue;
            }
            let line = self.object_declaration(index, &named, &declared);
            self.body.lines.push(format!("{storage}{line};"));
            declared[index] = true;
        }
    }

    fn object_declaration(&mut self, index: usize, named: &NamedObject, declared: &[bool]) -> String {
        let object = &self.case.objects[index];
        let name = &named.name;
        let types: &TypeTable = &self.map.types;
        let elements = Decoder { types }.elements(object, &object.blob);
        let count = elements.len().max(1);
        match named.shape {
            Shape::Array if self.objects.storage == Storage::Heap => {
                self.heap_declaration(object.element, name, &elements, declared)
            }
            Shape::Bytes if self.objects.storage == Storage::Heap => {
                let text = self.array_initializer(None, &elements, name, declared);
                self.body.needs.insert(Need::Heap);
                let array = |name: &str| format!("unsigned char {name}[{count}]");
                self.copied_to_heap(&format!("unsigned char *{name}"), name, array, &text)
            }
            Shape::Single => {
                let value = elements.first().cloned().unwrap_or(Value::Opaque);
                let text = self.with_initializers(declared, |writer| writer.value(object.element, &value, name));
                format!("{} = {text}", declaration(types, object.element, name))
            }
            Shape::Array => {
                let text = self.array_initializer(Some(object.element), &elements, name, declared);
                format!("{} = {text}", declaration(types, object.element, &format!("{name}[{count}]")))
            }
            Shape::Bytes | Shape::Stream => {
                let text = self.array_initializer(None, &elements, name, declared);
                format!("unsigned char {name}[{count}] {ALIGNED} = {text}")
            }
        }
    }

    /// `FILE *in = branchwise_stream((struct branchwise_stream){.text = "12\n", .size = 3});`
    fn stream_declaration(&mut self, name: &str, stream: &StreamContents) -> String {
        self.body.needs.insert(Need::Stream);
        let mut fields = Vec::new();
        if !stream.bytes.is_empty() {
            fields.push(format!(".text = {}", lines_of_text(&stream.bytes).join(" ")));
            fields.push(format!(".size = {}", stream.bytes.len()));
        }
        if let Some(room) = stream.room {
            fields.push(".writing_fails = 1".to_owned());
            fields.push(format!(".room = {room}"));
        }
        let flags = [
            (stream.reading_fails, ".reading_fails = 1"),
            (stream.at_end, ".at_end = 1"),
            (stream.closing_fails, ".closing_fails = 1"),
        ];
        fields.extend(flags.iter().filter(|(set, _)| *set).map(|(_, field)| (*field).to_owned()));
        let fields = if fields.is_empty() { "0".to_owned() } else { fields.join(", ") };
        format!("FILE *{name} = branchwise_stream((struct branchwise_stream){{{fields}}});")
    }

    /// `struct node *list = branchwise_heap(&(struct node){ .value = 1 }, sizeof *list)`
    fn heap_declaration(&mut self, element: TypeId, name: &str, values: &[Value], declared: &[bool]) -> String {
        self.body.needs.insert(Need::Heap);
        let types = &self.map.types;
        let pointer = pointer_declaration(types, element, name);
        let braced = |text: String| if text.starts_with('{') { text } else { format!("{{{text}}}") };
        if let ([value], false) = (values, self.map.is_cpp()) {
            let lvalue = format!("{name}[0]");
            let text = braced(self.with_initializers(declared, |writer| writer.value(element, value, &lvalue)));
            return format!("{pointer} = branchwise_heap(&({}){text}, sizeof *{name})", type_name(types, element));
        }
        let text = braced(self.array_initializer(Some(element), values, name, declared));
        let count = values.len().max(1);
        let array = |name: &str| declaration(&self.map.types, element, &format!("{name}[{count}]"));
        self.copied_to_heap(&pointer, name, array, &text)
    }

    /// C++ has no literals of arrays.
    fn copied_to_heap(&self, pointer: &str, name: &str, array: impl Fn(&str) -> String, text: &str) -> String {
        if self.map.is_cpp() {
            let bytes = format!("{name}_bytes");
            let made = format!("static_cast<decltype({name})>(branchwise_heap({bytes}, sizeof {bytes}))");
            return format!("{} = {text};\n    {pointer} = {made}", array(&bytes));
        }
        let array = array("");
        format!("{pointer} = branchwise_heap(({array}){text}, sizeof ({array}))")
    }

    fn array_initializer(&mut self, of: Option<TypeId>, values: &[Value], lvalue: &str, declared: &[bool]) -> String {
        self.with_initializers(declared, |writer: &mut Initializers| writer.array(of, values, lvalue))
    }
}
