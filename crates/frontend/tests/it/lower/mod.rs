//! C sources, compiled by clang, and the register code that they become. Every one passes the verifier.

mod snapshots;

use std::path::Path;
use std::process::Command;

use branchwise_frontend::lower::lower_bitcode;
use branchwise_program::code::{Code, Instruction};
use branchwise_program::map::{
    Cfg, Function, Language, Map, Marker, MarkerKind, NoDriver, Node, NodeKind, Place, SourceFile,
};
use branchwise_program::types::{Type, TypeKind};
use branchwise_program::{FileId, FunctionId, Id, IdVec, MarkerId, NodeId, Program, TypeId, verify};
use expect_test::Expect;

/// The functions of the marked source.
const PRELUDE: &str = "int __bw_condition(int, int); void __bw_switch(int, long long);
    void __bw_input(void *, int); void __bw_output(const void *, int, unsigned long);\n#line 1 \"input.c\"\n";

fn compile_in(folder: &Path, source: &str) -> std::path::PathBuf {
    let (c, bitcode) = (folder.join("input.c"), folder.join("input.bc"));
    std::fs::write(&c, format!("{PRELUDE}{source}")).expect("the source can be written");
    let status = Command::new("clang-19")
        .args(["-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only", "-w", "-emit-llvm", "-c", "-o"])
        .arg(&bitcode)
        .arg(&c)
        .status();
    assert!(status.expect("clang-19 starts").success(), "clang rejects:\n{source}");
    bitcode
}

/// Compiles, lowers and verifies.
fn lower(source: &str) -> Code {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let code = lower_bitcode(&compile_in(folder.path(), source)).expect("clang's bitcode can be read");
    verified(code)
}

fn verified(code: Code) -> Code {
    let program = Program { map: map_for(&code), code };
    if let Err(error) = verify(&program) {
        panic!("{error}\n{}", program.code);
    }
    program.code
}

fn check(source: &str, expect: Expect) {
    expect.assert_eq(&lower(source).to_string());
}

/// A map with just the markers that the code mentions.
fn map_for(code: &Code) -> Map {
    let mut kinds: Vec<MarkerKind> = Vec::new();
    let blocks = code.functions.values().flat_map(|function| function.blocks.values());
    for instruction in blocks.flat_map(|block| &block.instructions) {
        let (marker, kind) = match instruction {
            Instruction::MarkCondition { marker, .. } => (marker, MarkerKind::Condition { counted: true }),
            Instruction::MarkSwitch { marker, .. } => {
                (marker, MarkerKind::Switch { labels: Vec::new(), bits: 32, signed: true, default_counted: true })
            }
            _ => continue,
        };
        kinds.resize((marker.index() + 1).max(kinds.len()), MarkerKind::Condition { counted: true });
        kinds[marker.index()] = kind;
    }
    let place = Place { file: FileId(0), line: 1, column: 1 };
    let marker =
        |kind| Marker { function: FunctionId(0), text: String::new(), place, spelled: place, kind, node: NodeId(0) };
    Map {
        files: IdVec::from_iter([SourceFile { path: "input.c".into() }]),
        types: IdVec::from_iter([Type { kind: TypeKind::Void, spelling: "void".into(), size: 0, alignment: 1 }]),
        functions: IdVec::from_iter([map_function(place)]),
        markers: kinds.into_iter().map(marker).collect::<IdVec<MarkerId, _>>(),
        ..Map::default()
    }
}

fn map_function(place: Place) -> Function {
    let node = Node { kind: NodeKind::Entry, place, text: String::new() };
    Function {
        name: "any".into(),
        symbol: "any".into(),
        variants: Vec::new(),
        place,
        end: place,
        language: Language::C,
        internal: false,
        variadic: false,
        result: TypeId(0),
        parameters: Vec::new(),
        inputs: Vec::new(),
        driver: Err(NoDriver::Lacking("not needed".into())),
        usage: None,
        markers: Vec::new(),
        decisions: Vec::new(),
        cfg: Cfg { nodes: IdVec::from_iter([node]), edges: IdVec::new(), entry: NodeId(0), exit: NodeId(0) },
        loops: Vec::new(),
        calls: Vec::new(),
    }
}

#[test]
fn a_file_that_is_no_bitcode_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("text.bc");
    std::fs::write(&path, "not bitcode").expect("the file can be written");
    let error = lower_bitcode(&path).expect_err("text is no bitcode");
    assert!(error.to_string().contains("text.bc"), "{error}");
    assert!(lower_bitcode(&folder.path().join("missing.bc")).is_err());
}
