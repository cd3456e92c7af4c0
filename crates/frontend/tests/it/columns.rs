//! Locations of the code are the user's, whatever markers and macros do to the columns of the text that is compiled.

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;

use branchwise_frontend::lower::lower_bitcode;
use branchwise_frontend::{Source, Toolchain, Unit, analyse, compile_bitcode, with_user_columns};
use branchwise_program::code::{Callee, Code, Instruction};
use expect_test::{Expect, expect};

fn unit_in(folder: &Path, text: &str) -> Unit {
    let path = folder.join("sample.c");
    std::fs::write(&path, text).unwrap();
    analyse(&Toolchain::find().unwrap(), &Source { path: &path, flags: &[], set_statics: false, instances: &[] })
        .unwrap()
}

fn code_of(folder: &Path, unit: &Unit) -> Code {
    let bitcode = folder.join("marked.bc");
    compile_bitcode(&Toolchain::find().unwrap(), unit, &bitcode).unwrap();
    with_user_columns(lower_bitcode(&bitcode).unwrap(), &unit.columns, &unit.map)
}

/// What the compiler says of a text without markers.
fn plain_code(file: &Path) -> Code {
    let (clang, bitcode) = (Toolchain::find().unwrap().clang, file.with_extension("bc"));
    let flags = ["-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only", "-w", "-emit-llvm", "-c"];
    let ends = ["-o", bitcode.to_str().unwrap(), file.to_str().unwrap()];
    common::run(&[&[clang.to_str().unwrap()], &flags[..], &ends].concat());
    lower_bitcode(&bitcode).unwrap()
}

/// Memory accesses, calls and arithmetic that may overflow, in sample.c.
fn located(code: &Code) -> BTreeSet<(u32, u32, String)> {
    let mut found = BTreeSet::new();
    for block in code.functions.values().flat_map(|function| function.blocks.values()) {
        for (instruction, location) in block.instructions.iter().zip(&block.locations) {
            let Some(location) = location.filter(|at| code.files[at.file as usize].ends_with("sample.c")) else {
                continue;
            };
            let what = match instruction {
                Instruction::Binary(binary) if binary.no_signed_wrap => format!("{:?}", binary.op),
                Instruction::Load { .. } => "Load".into(),
                Instruction::Store { .. } => "Store".into(),
                Instruction::Call(call) => match call.callee {
                    Callee::Direct(function) => format!("Call {}", code.functions[function].name),
                    Callee::Indirect(_) => "Call".into(),
                },
                _ => continue,
            };
            found.insert((location.line, location.column, what));
        }
    }
    found
}

/// Each operation under the line of the source that it belongs to, with a mark where it stands.
fn shown(text: &str, code: &Code) -> String {
    let mut shown = String::new();
    for (line, column, what) in located(code) {
        let rest = &text.lines().nth(line as usize - 1).unwrap()[column as usize - 1..];
        shown += &format!("{line}:{column} {what}: {}\n", rest.chars().take(12).collect::<String>().trim_end());
    }
    shown
}

fn check(text: &str, expect: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let unit = unit_in(folder.path(), text);
    expect.assert_eq(&shown(text, &code_of(folder.path(), &unit)));
}

#[track_caller]
fn check_as_without_markers(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let unit = unit_in(folder.path(), text);
    assert_eq!(located(&code_of(folder.path(), &unit)), located(&plain_code(&folder.path().join("sample.c"))));
}

#[test]
fn without_macros_the_columns_are_those_of_the_text_without_markers() {
    check_as_without_markers(
        "struct s { int b; int *p; struct s *next; };
int g(int);
int f(struct s *a, int *c, int i, int d, int (*h)(int)) {
  if (a && c && i > 2 && (d + i > 3 || !a->next)) return a->b + c[i] * d;
  int z = (d + 1) * g(i - 1), *q = &z; if (z > c[z * 2]) { z += c[i]; } else z -= a->next->b;
  while (i < d && c[i] /* + */ + 1 > 0) i++, (*q)++, --z, c[i]--;
  for (int k = 0; k < d * 2 && a; k += 3) a = a->next, z = -c[k]; switch (z + c[1]) { case 1: return h(d - 1); }
  return *a->p + (i && c[0] ? d * i : d - i)
    + (a->next && a->next->b == 3 && h(i) ? (z * 2
       - i) : a->b);
}
",
    );
}

#[test]
fn an_omitted_operand_does_not_shift_what_follows() {
    check(
        "int f(int *c, int d) { return (c[0] ?: d + 1) + c[d] * 2; }\n",
        expect![[r#"
            1:32 Load: c[0] ?: d +
            1:42 Add: + 1) + c[d]
            1:47 Add: + c[d] * 2;
            1:49 Load: c[d] * 2; }
            1:54 Mul: * 2; }
        "#]],
    );
}

#[test]
fn an_operation_of_a_macro_stands_at_its_use_and_one_of_an_argument_where_it_is_written() {
    check(
        "#define SQUARE(x) ((x) * (x))
#define PLUS +
#define BOTH(a, b) ((a) > 0 && (b) > 0)
int f(int *c, int d) {
  if (BOTH(c[0], c[d - 1]) && SQUARE(d) * 3 > 4) return SQUARE(c[1]) - d;
  return BOTH(d + 1, SQUARE(d)) ? c[2] PLUS d : SQUARE(SQUARE(d)) + c[3];
}
",
        expect![[r#"
            5:12 Load: c[0], c[d -
            5:18 Load: c[d - 1]) &&
            5:22 Sub: - 1]) && SQU
            5:31 Mul: SQUARE(d) *
            5:41 Mul: * 3 > 4) ret
            5:57 Mul: SQUARE(c[1])
            5:64 Load: c[1]) - d;
            5:70 Sub: - d;
            6:17 Add: + 1, SQUARE(
            6:22 Mul: SQUARE(d)) ?
            6:35 Add: c[2] PLUS d
            6:35 Load: c[2] PLUS d
            6:49 Mul: SQUARE(SQUAR
            6:56 Mul: SQUARE(d)) +
            6:67 Add: + c[3];
            6:69 Load: c[3];
        "#]],
    );
}

#[test]
fn places_follow_the_file_and_not_line_directives() {
    check(
        "int f(int *c, int d) {\n#line 70 \"other.y\"\n  return d > 1 && c[d] > 2 ? d * 2 : d + 3;\n}\n",
        expect![[r#"
            3:19 Load: c[d] > 2 ? d
            3:32 Mul: * 2 : d + 3;
            3:40 Add: + 3;
        "#]],
    );
}

#[test]
fn every_operation_of_the_samples_has_a_place_within_its_line() {
    let toolchain = Toolchain::find().unwrap();
    for path in common::own_samples() {
        let folder = tempfile::tempdir().unwrap();
        let unit = common::analyse_sample(&toolchain, &path);
        let code = code_of(folder.path(), &unit);
        for function in unit.map.functions.values() {
            let id = code.function_named(&function.symbol).unwrap();
            let blocks = code.functions[id].blocks.values();
            for location in blocks.flat_map(|block| &block.locations).flatten().filter(|location| location.line > 0) {
                let text = std::fs::read_to_string(&code.files[location.file as usize]).unwrap();
                let line = text.lines().nth(location.line as usize - 1).unwrap_or_default();
                assert!(location.column as usize <= line.len(), "{}: {location:?}: {line}", path.display());
            }
        }
    }
}
