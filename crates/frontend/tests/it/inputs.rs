//! The inputs of functions, their types and their drivers.

use std::fmt::Write;

use branchwise_frontend::{Source, Toolchain, Unit, analyse, compile_bitcode};
use branchwise_program::TypeId;
use branchwise_program::types::TypeKind;
use expect_test::{Expect, expect};

fn unit_of(text: &str) -> Unit {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.c");
    std::fs::write(&path, text).unwrap();
    let toolchain = Toolchain::find().unwrap();
    let unit = analyse(&toolchain, &Source { path: &path, flags: &[], set_statics: false, instances: &[] }).unwrap();
    compile_bitcode(&toolchain, &unit, &folder.path().join("marked.bc")).unwrap();
    unit
}

fn check_inputs(text: &str, expected: Expect) {
    let unit = unit_of(text);
    let mut found = String::new();
    for function in unit.map.functions.values() {
        let inputs = function.inputs.iter().map(|input| format!("{}: {}", input.name, type_text(&unit, input.type_id)));
        let driver =
            function.driver.as_ref().err().map_or(String::new(), |reason| format!(" no driver: {}", reason.reason()));
        writeln!(found, "{}({}){driver}", function.name, inputs.collect::<Vec<_>>().join(", ")).unwrap();
    }
    expected.assert_eq(&without_places(&found));
}

/// clang names types without a name by their place in the file, which is a temporary one here.
fn without_places(text: &str) -> String {
    let mut pieces = text.split(" at /");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |kept, piece| kept + piece.find(')').map_or(piece, |end| &piece[end..]))
}

fn type_text(unit: &Unit, id: TypeId) -> String {
    let found = &unit.map.types[id];
    match &found.kind {
        TypeKind::Pointer { declared_count: Some(count), constant, .. } => {
            format!("{}{} of {count}", if *constant { "constant " } else { "" }, found.spelling)
        }
        _ => found.spelling.clone(),
    }
}

#[test]
fn parameters_come_first_then_the_globals_that_are_read() {
    check_inputs(
        "int counter, written, table[4]; static int hidden; const int fixed = 3;\n\
         extern int declared; extern _Thread_local int local; struct { int x; } record;\n\
         static int deep(void) { return counter + hidden + fixed + declared + local; }\n\
         int direct(int x) { written = x; return counter > x; }\n\
         int through(void) { return deep() && record.x; }\n\
         void writes(int i) { table[i] = 1; record.x = 2; written = 3; }\n\
         int *address(void) { return &table[1]; }\n\
         int unread(int x) { return (int)sizeof(table) + x; }\n\
         int updates(void) { return counter++; }\n",
        expect![[r#"
            deep(counter: int, declared: int, local: int)
            direct(x: int, counter: int)
            through(counter: int, declared: int, local: int, record: __typeof__(record))
            writes(i: int)
            address(table: int[4])
            unread(x: int)
            updates(counter: int)
        "#]],
    );
}

#[test]
fn arrays_keep_their_declared_size() {
    check_inputs(
        "typedef int vec[3];\n\
         int f(int a[4], int b[], int *c, const vec d, int e[2][3], int g[static 5], char *const h, char **i) {\n\
         return a[0] + b[0] + c[0] + d[0] + e[0][0] + g[0] + *h + **i; }\n",
        expect![[r#"
            f(a: int * of 4, b: int *, c: int *, d: constant const int * of 3, e: int (*)[3] of 2, g: int * of 5, h: char *, i: char **)
        "#]],
    );
}

#[test]
fn types_that_cannot_be_written_have_no_driver() {
    check_inputs(
        "typedef struct { int x; } named;\n\
         struct { int q; } result(void) { __typeof__(result()) r = {1}; return r; }\n\
         int grid(int n, int a[n][n]) { return a[0][0]; }\n\
         int fine(named n, union { int i; } *u) { return n.x + u->i; }\n\
         int variadic(int n, ...) { return n; }\n\
         long double wide(long double x, _Complex double z) { return x; }\n\
         int callback(int f(int), int (*g)(void)) { return f(g()); }\n",
        expect![[r#"
            result() no driver: its result type `struct (unnamed struct)` has no name
            grid(n: int, a: void *)
            fine(n: named, u: union (unnamed) *) no driver: the type `union (unnamed union) *` of parameter `u` cannot be written in a driver
            variadic(n: int)
            wide(x: long double, z: _Complex double)
            callback(f: int (*)(int), g: int (*)(void))
        "#]],
    );
}

#[test]
fn drivers_ask_call_and_hand_out() {
    let unit = unit_of(
        "int limit;\nint f(const int x, char *s[2]) { return x > limit && s[1]; }\nvoid g(int x) { limit = x; }\n",
    );
    let drivers = &unit.plain[unit.plain.find("void __bw_drive_0").unwrap()..];
    expect![[r#"
        void __bw_drive_0(void) {
          __typeof__(int) __bw_a0; __bw_input(&__bw_a0, 0);
          __typeof__(char *) *__bw_a1; __bw_input(&__bw_a1, 1);
          __bw_input((void *)&limit, 2);
          __typeof__(int) __bw_r = f(__bw_a0, __bw_a1);
          __bw_output(&__bw_r, 0, sizeof __bw_r);
          __bw_output((const void *)&limit, 3, sizeof limit);
        }
        void __bw_drive_1(void) {
          __typeof__(int) __bw_a0; __bw_input(&__bw_a0, 0);
          g(__bw_a0);
        }
    "#]]
    .assert_eq(drivers);
}

#[test]
fn records_have_the_layout_of_the_compiler() {
    let unit = unit_of(
        "struct list { struct list *next; union { float f; char bytes[4]; }; unsigned a : 3, : 2, b : 7; int rest[]; };\n\
         int f(struct list *l) { return l->a; }\n",
    );
    let mut found = String::new();
    for (id, kind) in unit.map.types.iter() {
        if let TypeKind::Record { fields: Some(fields), .. } = &kind.kind {
            writeln!(found, "{id} size {} alignment {}", kind.size, kind.alignment).unwrap();
            for field in fields {
                let spelling = &unit.map.types[field.type_id].spelling;
                let spelling = spelling.split(" at ").next().unwrap();
                writeln!(found, "  {}: {spelling} at {} {:?}", field.name, field.offset_bits, field.bit_field).unwrap();
            }
        }
    }
    expect![[r#"
        type2 size 16 alignment 8
          next: struct list * at 0 None
          : union list::(anonymous at 64 None
          a: unsigned int at 96 Some(3)
          : unsigned int at 99 Some(2)
          b: unsigned int at 101 Some(7)
          rest: int[] at 128 None
        type4 size 4 alignment 4
          f: float at 0 None
          bytes: char[4] at 0 None
    "#]]
    .assert_eq(&found);
}
