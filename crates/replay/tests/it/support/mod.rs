//! Hand-made units in the form that the front end gives: one C text with `BW(n, condition)` and `SW(n, value)`, and
//! drivers. Only the parts of the map that a replay reads are filled in.
#![allow(dead_code)]

use std::fs;
use std::path::PathBuf;

use branchwise_program::library;
use branchwise_program::map::{
    Cfg, Function, Input, InputOrigin, Label, LabelValues, Language, Map, Marker, MarkerKind, Place, SourceFile,
};
use branchwise_program::types::{Field, Type, TypeKind};
use branchwise_program::{FileId, FunctionId, IdVec, MarkerId, NodeId, TypeId};
use branchwise_replay::{Blob, Harness, Limits, Object, PointerAt, ReplayError, Sources, TestCase, Tools};
use tempfile::TempDir;

const PRELUDE: &str = "\
int __bw_condition(unsigned marker, int value);
void __bw_switch(unsigned marker, long long value);
void __bw_input(void *where, unsigned index);
void __bw_output(const void *from, unsigned index, unsigned long size);
";

const HERE: Place = Place { file: FileId(0), line: 1, column: 1 };

pub struct Sample {
    pub map: Map,
    code: String,
    drivers: String,
    flags: Vec<String>,
    pub language: Language,
    pub folder: TempDir,
}

pub struct Types {
    pub void: TypeId,
    pub int: TypeId,
    pub character: TypeId,
    pub int_pointer: TypeId,
    pub char_pointer: TypeId,
}

impl Sample {
    pub fn new(code: &str) -> (Sample, Types) {
        let mut map = Map::default();
        // What calls of the library do natively is up to the confinement here, not to stubs.
        map.allowed_calls =
            library::rows().filter(|row| row.acts != library::Acts::No).map(|row| row.name.to_owned()).collect();
        map.files.push(SourceFile { path: "user.c".into() });
        let types = basic_types(&mut map);
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample {
            map,
            code: code.to_string(),
            drivers: String::new(),
            flags: Vec::new(),
            language: Language::C,
            folder,
        };
        (sample, types)
    }

    pub fn flag(&mut self, flag: &str) {
        self.flags.push(flag.to_string());
    }

    pub fn add_type(&mut self, kind: TypeKind, spelling: &str, size: u64, alignment: u64) -> TypeId {
        self.map.types.push(Type { kind, spelling: spelling.to_string(), size, alignment })
    }

    pub fn record(&mut self, spelling: &str, size: u64, fields: &[(TypeId, u64)]) -> TypeId {
        let fields = fields.iter().map(|&(type_id, offset)| Field {
            name: String::new(),
            type_id,
            offset_bits: offset * 8,
            bit_field: None,
        });
        let kind = TypeKind::Record { union: false, fields: Some(fields.collect()) };
        self.add_type(kind, spelling, size, 8)
    }

    pub fn pointer(&mut self, target: TypeId) -> TypeId {
        let kind = TypeKind::Pointer { target, constant: false, declared_count: None };
        self.add_type(kind, "pointer", 8, 8)
    }

    /// A driver with this body; inputs are asked for as the body says.
    pub fn function(&mut self, name: &str, result: TypeId, inputs: &[TypeId], body: &str) -> FunctionId {
        let driver = format!("__bw_drive_{}", self.map.functions.len());
        self.drivers.push_str(&format!("void {driver}(void) {{ {body} }}\n"));
        let inputs = inputs.iter().enumerate().map(|(index, &type_id)| Input {
            name: format!("input{index}"),
            type_id,
            origin: InputOrigin::Parameter(index),
        });
        self.map.functions.push(Function {
            variants: Vec::new(),
            usage: None,
            name: name.to_string(),
            symbol: name.to_string(),
            place: HERE,
            end: HERE,
            language: self.language,
            internal: self.code.contains(&format!("static int {name}(")),
            variadic: false,
            result,
            parameters: Vec::new(),
            inputs: inputs.collect(),
            driver: Ok(driver),
            markers: Vec::new(),
            decisions: Vec::new(),
            cfg: Cfg { nodes: IdVec::new(), edges: IdVec::new(), entry: NodeId(0), exit: NodeId(0) },
            loops: Vec::new(),
            calls: Vec::new(),
        })
    }

    /// `int NAME(int)`
    pub fn int_function(&mut self, name: &str, types: &Types) -> FunctionId {
        let body = format!("int a; __bw_input(&a, 0); int r = {name}(a); __bw_output(&r, 0, sizeof r);");
        self.function(name, types.int, &[types.int], &body)
    }

    pub fn conditions(&mut self, count: usize) {
        for _ in 0..count {
            self.marker(MarkerKind::Condition { counted: true });
        }
    }

    pub fn switch(&mut self, values: &[i128], bits: u32, signed: bool) -> MarkerId {
        let labels = values.iter().map(|&value| Label {
            values: LabelValues::Range { low: value, high: value },
            text: value.to_string(),
            place: HERE,
            spelled: HERE,
        });
        self.marker(MarkerKind::Switch { labels: labels.collect(), bits, signed, default_counted: true })
    }

    fn marker(&mut self, kind: MarkerKind) -> MarkerId {
        let function = FunctionId(0);
        self.map.markers.push(Marker {
            function,
            text: String::new(),
            place: HERE,
            spelled: HERE,
            kind,
            node: NodeId(0),
        })
    }

    pub fn user_file(&self) -> PathBuf {
        self.folder.path().join("user.c")
    }

    pub fn build(&self) -> Harness {
        self.try_build(Limits { milliseconds: 200, ..Limits::default() }).unwrap()
    }

    /// For C++ with headers: the marked text must be preprocessed, so this one has drivers that do nothing.
    pub fn build_plain_only(&self) -> Harness {
        fs::write(self.user_file(), &self.code).unwrap();
        let drivers: Vec<_> = self.map.functions.values().map(|function| function.driver.clone().unwrap()).collect();
        let marked: String = drivers.iter().map(|name| format!("extern \"C\" void {name}() {{}}\n")).collect();
        let (include, drivers) = (self.user_file().display().to_string(), &self.drivers);
        let plain = format!("#include \"{include}\"\nextern \"C\" {{\n{PRELUDE}{drivers}\n}}\n");
        let (flags, map, language) = (&self.flags[..], &self.map, self.language);
        let sources = Sources { marked: &marked, plain: &plain, flags, language, map, others: &[] };
        Harness::build(&Tools::find().unwrap(), &sources, Limits::default()).unwrap()
    }

    pub fn try_build(&self, limits: Limits) -> Result<Harness, ReplayError> {
        fs::write(self.user_file(), rewrite(&self.code, |_, inner| inner.to_string())).unwrap();
        let marked = rewrite(&self.code, |call, inner| match call {
            "BW" => format!("__bw_condition({inner})"),
            _ => format!("(__bw_switch({inner}), {})", inner.split_once(", ").unwrap().1),
        });
        let plain = format!("#include \"{}\"\n{PRELUDE}{}", self.user_file().display(), self.drivers);
        let marked = format!("{PRELUDE}{marked}\n{}", self.drivers);
        let tools = Tools::find()?;
        let (flags, map, language) = (&self.flags[..], &self.map, self.language);
        Harness::build(&tools, &Sources { marked: &marked, plain: &plain, flags, language, map, others: &[] }, limits)
    }
}

/// Replaces the marker calls from left to right; without markers (the replacement is the argument list) the number goes.
fn rewrite(code: &str, replace: impl Fn(&str, &str) -> String + Copy) -> String {
    let found = ["BW", "SW"].iter().filter_map(|call| Some((code.find(&format!("{call}("))?, *call))).min();
    let Some((at, call)) = found else { return code.to_string() };
    let begin = at + call.len() + 1;
    let mut depth = 1;
    let length = code[begin..].find(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth == 0
    });
    let end = begin + length.unwrap();
    let replaced = replace(call, &code[begin..end]);
    let replaced =
        if replaced == code[begin..end] { replaced.split_once(", ").unwrap().1.to_string() } else { replaced };
    format!("{}{replaced}{}", &code[..at], rewrite(&code[end + 1..], replace))
}

fn basic_types(map: &mut Map) -> Types {
    let mut add = |kind, spelling: &str, size, alignment| {
        map.types.push(Type { kind, spelling: spelling.to_string(), size, alignment })
    };
    let void = add(TypeKind::Void, "void", 0, 1);
    let int = add(TypeKind::Integer { bits: 32, signed: true, character: false }, "int", 4, 4);
    let character = add(TypeKind::Integer { bits: 8, signed: true, character: true }, "char", 1, 1);
    let pointer = |target| TypeKind::Pointer { target, constant: false, declared_count: None };
    let int_pointer = add(pointer(int), "int *", 8, 8);
    let char_pointer = add(pointer(character), "char *", 8, 8);
    Types { void, int, character, int_pointer, char_pointer }
}

pub fn bytes(bytes: impl Into<Vec<u8>>) -> Blob {
    Blob::of_bytes(bytes.into())
}

pub fn int(value: i32) -> Blob {
    bytes(value.to_le_bytes())
}

pub fn ints(values: &[i32]) -> Blob {
    bytes(values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

pub fn null() -> Blob {
    bytes([0; 8])
}

pub fn pointer(object: usize, offset: u64) -> Blob {
    Blob { pointers: vec![PointerAt { at: 0, object, offset }], ..Blob::of_bytes(vec![0; 8]) }
}

pub fn case(function: FunctionId, inputs: Vec<Blob>, objects: Vec<Object>) -> TestCase {
    TestCase::new(function, inputs, objects)
}

pub fn object(element: TypeId, count: u64, blob: Blob) -> Object {
    Object::array(element, count, blob)
}
