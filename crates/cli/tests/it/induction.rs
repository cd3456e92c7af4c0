//! Proofs by induction over calls: what is excluded of a program, and that nothing is where a change makes it possible.

use crate::support::folder;
use crate::support::{reading, share};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use branchwise_constraints::{Limits, SolverSettings};
use branchwise_induction::{Question, applies, excluded};
use branchwise_program::map::Event;

use reading::Options;

const PROGRAM: &str = include_str!("../../../../tests/fixtures/induction_tree.c");

const CHECK_FAILS: &str = "!check(root, 0)";
const FAILS: &str = "failure != 0";
const DIFFERS: &str = "after != before";

/// The conditions of `grade` that are proved never to hold in a program.
fn never_true(program: &str) -> BTreeSet<String> {
    never_true_beside(program, None)
}

/// The same if it is known that one of them was seen to hold.
fn never_true_beside(program: &str, seen: Option<&str>) -> BTreeSet<String> {
    let folder = folder::temporary();
    let path = folder.path().join("program.c");
    fs::write(&path, program).expect("the program is written");
    let options = Options { flags: &[], allocations_fail: false, set_statics: false };
    let (_, program) = reading::read(Path::new(&path), &options).expect("the program is read");
    let (id, function) = program.map.functions.iter().find(|(_, function)| function.name == "grade").expect("grade");
    let texts: BTreeMap<Event, String> = function
        .markers
        .iter()
        .map(|&marker| (Event { marker, outcome: 1 }, program.map.markers[marker].text.clone()))
        .collect();
    let limits = Limits { milliseconds: 600_000, resource: 40_000_000, memory_megabytes: 4096, ..Limits::DEFAULT };
    let settings = SolverSettings { limits, ..SolverSettings::default() };
    let witness = texts.iter().find(|(_, text)| Some(text.as_str()) == seen).map(|(event, _)| *event);
    let question = Question { function: id, outcomes: texts.keys().copied().collect(), witness };
    let found = excluded(&program, &question, &settings);
    assert!(found.outcomes.is_empty() || applies(&program, id));
    found.outcomes.keys().map(|event| texts[event].clone()).collect()
}

fn all() -> BTreeSet<String> {
    [CHECK_FAILS, FAILS, DIFFERS].map(str::to_string).into()
}

pub fn what_is_built_passes_and_simplifying_preserves_the_value() {
    assert_eq!(never_true(PROGRAM), all());
}

pub fn a_proof_against_what_was_seen_is_none() {
    assert_eq!(never_true_beside(PROGRAM, Some("root == NULL")), all());
    assert_eq!(never_true_beside(PROGRAM, Some(DIFFERS)), BTreeSet::new());
}

/// A text of the program, what stands there instead, and which conditions can be true then.
type Change = (&'static str, &'static str, &'static [&'static str]);

/// Each makes the conditions possible, or takes away what the proof rests on.
const CHANGES: [Change; 16] = [
    // -x1 becomes x.
    ("n->right->value == 0)\n        return n->left;", "n->right->value <= 1)\n        return n->left;", &[DIFFERS]),
    // /xx becomes 0.
    ("if (n->kind == SUBTRACT && same", "if (n->kind >= SUBTRACT && same", &[DIFFERS]),
    // --x1-1x becomes 0.
    ("if (a->kind == ADD && same", "if (a->kind == SUBTRACT && same", &[DIFFERS]),
    // ~~x becomes ~x.
    ("n->left->kind == NEGATE ? n->left->left : n", "n->left->kind == NEGATE ? n->left : n", &[DIFFERS]),
    // -xx becomes 1.
    (
        "        n->value = 0;\n        n->left = n->right = NULL;",
        "        n->value = 1;\n        n->left = n->right = NULL;",
        &[DIFFERS],
    ),
    // +x1 becomes +xx.
    ("n->right = simplify(n->right);", "n->right = simplify(n->left);", &[DIFFERS]),
    // -xx becomes a sum of nothing.
    ("        n->kind = NUMBER;\n        n->value = 0;", "        n->kind = ADD;\n        n->value = 0;", &[FAILS]),
    // ~~/x0 has a value, and /x0 has none.
    ("        return -x;", "{\n        failure = 0;\n        return -x;\n    }", &[FAILS]),
    // ~~~~x is deeper than the check allows.
    ("if (n == NULL || depth > DEPTH)", "if (n == NULL || depth >= DEPTH)", &[CHECK_FAILS]),
    // A negation without anything to negate.
    ("if (n->kind >= NEGATE)\n        n->left", "if (n->kind > NEGATE)\n        n->left", &[CHECK_FAILS]),
    // A node is its own part in ~~x.
    ("used = used + 1;", "used = depth == 1 ? used : used + 1;", &[CHECK_FAILS]),
    // What an earlier call left there is taken for a part.
    ("    n->left = n->right = NULL;\n    n->value = 0;", "    n->right = NULL;\n    n->value = 0;", &[CHECK_FAILS]),
    // Somebody else gets a pointer to a node.
    ("    root = build(&text, 0);", "    root = build(&text, 0);\n    shown = root;", &[CHECK_FAILS, DIFFERS, FAILS]),
    ("    root = build(&text, 0);", "    root = build(&text, 0);\n    look_at(root);", &[CHECK_FAILS, DIFFERS, FAILS]),
    // A node is written as bytes.
    (
        "    plain = simplify(root);",
        "    plain = simplify(root);\n    ((char *)pool)[input & 31] = 1;",
        &[CHECK_FAILS, DIFFERS, FAILS],
    ),
    // Another function that a test may call first breaks the order of the nodes.
    ("int grade(", "void tie(void)\n{\n    pool[1].left = &pool[0];\n}\n\nint grade(", &[DIFFERS, FAILS]),
];

/// Each change has its turn once in so many.
const PERIOD: u64 = 4;

pub fn nothing_is_excluded_that_a_change_makes_possible() {
    let excluded = |(from, to, possible): &(&str, &str, &[&str])| {
        assert_eq!(PROGRAM.matches(from).count(), 1, "{from}");
        let declared = "struct node *shown;\nvoid look_at(struct node *n);\n\nstatic struct node pool";
        let changed = PROGRAM.replace(from, to).replace("static struct node pool", declared);
        let proved = never_true(&changed);
        let wrong: Vec<&str> = possible.iter().copied().filter(|text| proved.contains(*text)).collect();
        (!wrong.is_empty()).then(|| format!("{to}: {wrong:?}"))
    };
    let chosen = CHANGES.iter().filter(|(_, to, _)| share::has_turn(to, PERIOD));
    let wrong: Vec<String> = chosen.filter_map(excluded).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stays true is proved all the same: the other outcomes do not depend on what was changed.
pub fn what_a_change_leaves_true_is_still_proved() {
    let shallow = PROGRAM.replace("if (n == NULL || depth > DEPTH)", "if (n == NULL || depth >= DEPTH)");
    assert_eq!(never_true(&shallow), [FAILS, DIFFERS].map(str::to_string).into());
    let wrong_rule =
        PROGRAM.replace("n->left->kind == NEGATE ? n->left->left : n", "n->left->kind == NEGATE ? n->left : n");
    assert_eq!(never_true(&wrong_rule), [CHECK_FAILS].map(str::to_string).into());
}
