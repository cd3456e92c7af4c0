//! Where conditions stand and where they are spelled.

use branchwise_frontend::{Source, Toolchain, Unit, analyse};
use branchwise_program::map::{Marker, MarkerKind, Place};

fn unit_of(text: &str) -> Unit {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.c");
    std::fs::write(&path, text).unwrap();
    analyse(&Toolchain::find().unwrap(), &Source { path: &path, flags: &[], set_statics: false, instances: &[] })
        .unwrap()
}

fn places(unit: &Unit) -> Vec<String> {
    let text = |place: Place| format!("{}:{}", place.line, place.column);
    let markers = unit.map.markers.values();
    markers.map(|marker| format!("{} {} {}", marker.text, text(marker.place), text(marker.spelled))).collect()
}

#[test]
fn outside_macros_both_places_are_the_condition() {
    let unit = unit_of("int f(int a,\n  int b) { return a > 1 &&\n    !b; }\n");
    assert_eq!(places(&unit), ["a > 1 2:19 2:19", "!b 3:5 3:5"]);
}

#[test]
fn a_condition_of_a_macro_stands_at_the_use_and_is_spelled_in_the_definition() {
    let unit = unit_of("#define MAX(a, b) ((a) > (b) ? (a) : (b))\nint f(int x) {\n  return MAX(x, 3);\n}\n");
    assert_eq!(places(&unit), ["(x) > (3) 3:10 1:20"]);
}

#[test]
fn a_condition_in_an_argument_stands_there_and_is_spelled_at_the_parameter() {
    let unit = unit_of("#define IF(c) if (c)\nint f(int x) {\n  IF(x > 3 && x) return 1;\n  return 0;\n}\n");
    assert_eq!(places(&unit), ["x > 3 3:6 1:19", "x 3:15 1:19"]);
}

#[test]
fn labels_are_where_their_keyword_is() {
    let unit = unit_of("int f(int x) {\n  switch (x) {\n  case 3:\n    return 1;\n  default: ;\n  }\n  return 0;\n}\n");
    let marker = unit.map.markers.values().next().unwrap();
    let MarkerKind::Switch { labels, bits: 32, signed: true, .. } = &marker.kind else { panic!("{marker:?}") };
    let found: Vec<_> =
        labels.iter().map(|label| (label.text.as_str(), label.spelled.line, label.spelled.column)).collect();
    assert_eq!(found, [("case 3", 3, 3), ("default", 5, 3)]);
}

#[test]
fn an_implicit_default_that_llvm_cov_does_not_count_is_no_goal() {
    for condition in ["x && y", "3"] {
        let unit =
            unit_of(&format!("int f(int x, int y) {{ switch ({condition}) {{ case 1: return 1; }} return 0; }}"));
        let counted = |marker: &Marker| match marker.kind {
            MarkerKind::Switch { default_counted, .. } => Some(default_counted),
            MarkerKind::Condition { .. } | MarkerKind::Handler => None,
        };
        assert_eq!(unit.map.markers.values().filter_map(counted).collect::<Vec<_>>(), [false]);
    }
}
