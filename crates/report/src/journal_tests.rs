//! What a journal gives back after every accident that its last line can have.

use serde_json::json;

use super::*;

fn entry(number: u32) -> Entry {
    let unit = json!({
        "report": {
            "function": number, "goals": [], "tests": [], "findings": [], "timing": null, "trouble": null,
            "interrupted": false,
            "work": {
                "paths": number, "redundant_tests": 0, "infeasible_prefixes": 0, "skipped_alternatives": 0,
                "solver_calls": [["smt", 3]], "instructions": 7, "fault_queries": 0, "edges": 0,
                "unconstrained_edges": 0, "aimed": 0, "suite": { "candidates": 0, "smallest": true },
                "trees": {
                    "grown": 0, "partial": 0, "paths": 0, "lines": 0, "nodes": 0, "symbols": 0, "linear": 0,
                    "smt": 0, "undecided": 0, "refuted": 0, "missed": 0
                },
                "seconds": 0.25
            }
        },
        "disagreements": []
    });
    let key = Key { file: "a b\n.c".into(), program: "p".into(), options: "o".into(), source: "s".into() };
    let unit = serde_json::from_value(unit).expect("a report of a function");
    Entry { key, function: format!("f{number}"), unit }
}

fn names(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.function.as_str()).collect()
}

fn lines(entries: &[u32]) -> Vec<u8> {
    entries.iter().flat_map(|&number| line_of(&entry(number)).expect("JSON")).collect()
}

#[test]
fn entries_come_back_in_their_order() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut journal, moved) = Journal::begin(folder.path()).expect("a journal");
    assert_eq!(moved, None);
    [1, 2].iter().for_each(|&number| journal.append(&entry(number)).expect("room"));
    drop(journal);
    let (mut journal, recovered) = Journal::resume(folder.path()).expect("a journal");
    assert_eq!(names(&recovered.entries), ["f1", "f2"]);
    assert_eq!(recovered.entries[1].key, entry(2).key);
    journal.append(&entry(3)).expect("room");
    let (_, recovered) = Journal::resume(folder.path()).expect("a journal");
    assert_eq!(names(&recovered.entries), ["f1", "f2", "f3"]);
    assert_eq!((recovered.foreign, recovered.damaged), (0, 0));
}

#[test]
fn a_torn_last_entry_is_dropped_wherever_it_is_torn() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(JOURNAL);
    let (whole, last) = (lines(&[1, 2]), lines(&[3]));
    for length in 0..last.len() {
        fs::write(&path, [&whole, &last[..length]].concat()).expect("a writable folder");
        let (mut journal, recovered) = Journal::resume(folder.path()).expect("a journal");
        assert_eq!(names(&recovered.entries), ["f1", "f2"], "torn behind {length} bytes");
        journal.append(&entry(4)).expect("room");
        let (_, recovered) = Journal::resume(folder.path()).expect("a journal");
        assert_eq!(names(&recovered.entries), ["f1", "f2", "f4"], "torn behind {length} bytes");
        assert_eq!((recovered.foreign, recovered.damaged), (0, 0), "nothing of it is left");
    }
}

#[test]
fn an_entry_with_a_wrong_byte_is_never_taken() {
    let text = lines(&[1, 2, 3]);
    let (begin, end) = (lines(&[1]).len(), lines(&[1, 2]).len());
    for at in begin..end {
        let mut damaged = text.clone();
        damaged[at] ^= 1;
        let found = recovered(&damaged);
        let names = names(&found.entries);
        assert!(names == ["f1", "f3"] || (at + 1 == end && names == ["f1"]), "byte {at}: {names:?}");
        assert!(found.damaged > 0, "byte {at}");
    }
}

#[test]
fn what_another_version_wrote_is_counted_and_not_taken() {
    let text = br#"{"function":"f"}"#;
    let sum = Fingerprint::of(text).to_string();
    let line = [BEFORE_SUM, sum.as_bytes(), BEFORE_ENTRY, text, BEHIND_ENTRY].concat();
    let found = recovered(&[line, lines(&[1])].concat());
    assert_eq!((names(&found.entries), found.foreign, found.damaged), (vec!["f1"], 1, 0));
}

#[test]
fn a_new_run_moves_the_journal_of_one_that_did_not_finish() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut journal, _) = Journal::begin(folder.path()).expect("a journal");
    journal.append(&entry(1)).expect("room");
    drop(journal);
    let (mut journal, moved) = Journal::begin(folder.path()).expect("a journal");
    let moved = moved.expect("it was moved");
    assert_eq!(names(&recovered(&fs::read(moved).expect("it is there")).entries), ["f1"]);
    journal.append(&entry(2)).expect("room");
    journal.remove().expect("it is there");
    assert!(!folder.path().join(JOURNAL).exists());
}

#[test]
fn an_empty_journal_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(Journal::begin(folder.path()).expect("a journal"));
    assert!(!folder.path().join(JOURNAL).exists());
}

#[test]
fn keys_say_what_differs() {
    let key = entry(1).key;
    let other = |program: &str, options: &str, source: &str| {
        let other =
            Key { file: key.file.clone(), program: program.into(), options: options.into(), source: source.into() };
        key.difference(&other)
    };
    assert_eq!(other("q", "q", "q"), Difference::Program);
    assert_eq!(other("p", "q", "q"), Difference::Options);
    assert_eq!(other("p", "o", "q"), Difference::Source);
}
