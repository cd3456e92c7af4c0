//! Files that cannot be analysed, and the smallest that can.

use std::path::Path;

use branchwise_frontend::{FrontendError, Source, Toolchain, Unit, analyse};

fn analyse_text(text: &str, flags: &[&str]) -> Result<Unit, FrontendError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.c");
    std::fs::write(&path, text).unwrap();
    let flags: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
    analyse(&Toolchain::find().unwrap(), &Source { path: &path, flags: &flags, set_statics: false, instances: &[] })
}

#[test]
fn a_missing_file_is_named() {
    let toolchain = Toolchain::find().unwrap();
    let error =
        analyse(&toolchain, &Source { path: Path::new("no/such.c"), flags: &[], set_statics: false, instances: &[] })
            .unwrap_err();
    assert_eq!(error.to_string(), "cannot read no/such.c: No such file or directory (os error 2)");
}

#[test]
fn a_folder_is_not_a_file() {
    let toolchain = Toolchain::find().unwrap();
    let error = analyse(&toolchain, &Source { path: Path::new("."), flags: &[], set_statics: false, instances: &[] })
        .unwrap_err();
    assert!(matches!(error, FrontendError::CannotRead { .. }), "{error}");
}

#[test]
fn a_syntax_error_is_told_in_the_words_of_clang() {
    let error = analyse_text("int f(int x) {\n  return x +;\n}\n", &[]).unwrap_err();
    assert!(matches!(error, FrontendError::DoesNotCompile { .. }));
    assert!(error.to_string().contains("sample.c:2:13: error: expected expression"), "{error}");
    assert!(error.hint().is_none());
}

#[test]
fn a_missing_header_comes_with_a_hint() {
    let error = analyse_text("#include \"no_such.h\"\n", &[]).unwrap_err();
    assert!(error.to_string().contains("'no_such.h' file not found"), "{error}");
    assert!(error.hint().unwrap().contains("-I"), "{error}");
}

#[test]
fn an_unknown_flag_is_told_in_the_words_of_clang() {
    let error = analyse_text("int x;\n", &["-fno-such-flag"]).unwrap_err();
    assert!(error.to_string().contains("-fno-such-flag"), "{error}");
}

#[test]
fn an_empty_file_has_no_functions() {
    for text in ["", "\n\n", "/* nothing */", "int declared(int);", "int variable = 3;"] {
        let unit = analyse_text(text, &[]).unwrap();
        assert_eq!(unit.map.functions.len(), 0);
        assert_eq!(unit.map.markers.len(), 0);
    }
}

#[test]
fn flags_reach_every_stage() {
    let text = "#ifndef LIMIT\n#error no limit\n#endif\nint f(int x) { return x > LIMIT ? 1 : 0; }\n";
    let unit = analyse_text(text, &["-DLIMIT=3", "-c", "-Werror", "-O2", "-std=c89", "-o", "x.o"]).unwrap();
    assert_eq!(unit.flags, ["-DLIMIT=3", "-std=c89", "-D__OPTIMIZE__=1", "-D_FORTIFY_SOURCE=0"]);
    assert_eq!(unit.map.markers.len(), 1);
}

#[test]
fn bytes_that_are_not_utf8_keep_their_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latin.c");
    std::fs::write(&path, b"/* \xe9t\xe9 */\nchar *f(int x) { return x ? \"\xe9\" : \"e\"; }\n").unwrap();
    let unit =
        analyse(&Toolchain::find().unwrap(), &Source { path: &path, flags: &[], set_statics: false, instances: &[] })
            .unwrap();
    assert!(unit.marked.contains("\"\\351\""));
}

#[test]
fn every_standard_from_c89_compiles() {
    let text = "int f(int x) { switch (x) { case 1: return x && 2; } return x ? 1 : 0; }\n";
    for standard in ["-std=c89", "-ansi", "-std=c99", "-std=c11", "-std=c17", "-std=gnu89", "-std=gnu17", "-std=c23"] {
        let unit = analyse_text(text, &[standard, "-pedantic-errors"]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let bitcode = folder.path().join("f.bc");
        branchwise_frontend::compile_bitcode(&Toolchain::find().unwrap(), &unit, &bitcode).unwrap();
    }
}
