//! The tree, the guidance and the frontier, without a solver: a hand-made map and hand-made paths.

use std::path::PathBuf;

use branchwise_goals::{Aim, Ledger, branch_goals};
use branchwise_program::map::{
    Cfg, Edge, EdgeLabel, Event, Function, Language, Map, Marker, MarkerKind, Node, NodeKind, Place, SourceFile,
};
use branchwise_program::types::{Type, TypeKind};
use branchwise_program::{FileId, FunctionId, MarkerId, NodeId};
use branchwise_search::{Branch, Choice, Frontier, Guidance, Position, Routes, Status, Tree};

const PLACE: Place = Place { file: FileId(0), line: 1, column: 1 };
const UNIT: FunctionId = FunctionId(0);

/// `if (m0) { if (m1) …; } else return;  if (m2) …;`: m2 follows m0 only where m0 is true.
fn map() -> Map {
    let mut map = Map::default();
    map.files.push(SourceFile { path: PathBuf::from("unit.c") });
    for (marker, node) in [(0, 2), (1, 3), (2, 4)] {
        let kind = MarkerKind::Condition { counted: true };
        let text = format!("m{marker}");
        map.markers.push(Marker { function: UNIT, text, place: PLACE, spelled: PLACE, kind, node: NodeId(node) });
    }
    let void = Type { kind: TypeKind::Void, spelling: "void".to_string(), size: 0, alignment: 1 };
    map.functions.push(Function {
        variants: Vec::new(),
        usage: None,
        name: "unit".to_string(),
        symbol: "unit".to_string(),
        place: PLACE,
        end: PLACE,
        language: Language::C,
        internal: false,
        variadic: false,
        result: map.types.push(void),
        parameters: Vec::new(),
        inputs: Vec::new(),
        driver: Ok("drive".to_string()),
        markers: vec![MarkerId(0), MarkerId(1), MarkerId(2)],
        decisions: Vec::new(),
        cfg: cfg(),
        loops: Vec::new(),
        calls: Vec::new(),
    });
    map
}

fn cfg() -> Cfg {
    let conditions = (0..3).map(|marker| NodeKind::Condition(MarkerId(marker)));
    let kinds = [NodeKind::Entry, NodeKind::Exit].into_iter().chain(conditions);
    let nodes = kinds.map(|kind| Node { kind, place: PLACE, text: String::new() }).collect();
    let outcome = |from: u32, to: u32, marker: u32, outcome: u32| Edge {
        from: NodeId(from),
        to: NodeId(to),
        label: EdgeLabel::Outcome(event(marker, outcome)),
    };
    let edges = [
        Edge { from: NodeId(0), to: NodeId(2), label: EdgeLabel::Always },
        outcome(2, 3, 0, 1),
        outcome(2, 1, 0, 0),
        outcome(3, 4, 1, 1),
        outcome(3, 4, 1, 0),
        outcome(4, 1, 2, 1),
        outcome(4, 1, 2, 0),
    ];
    Cfg { nodes, edges: edges.into_iter().collect(), entry: NodeId(0), exit: NodeId(1) }
}

fn event(marker: u32, outcome: u32) -> Event {
    Event { marker: MarkerId(marker), outcome }
}

/// A decision at a marker, after the event before it.
fn choice(marker: u32, taken: usize, after: Option<Event>) -> Choice {
    let branches = [0, 1].map(|outcome| Branch {
        event: Some(event(marker, outcome)),
        fault: false,
        cut: false,
        mixed: false,
        hard: false,
    });
    Choice { taken, branches: branches.to_vec(), positions: [Position { function: UNIT, after }].into() }
}

/// A path through the markers in order.
fn path(outcomes: &[usize]) -> (Vec<Choice>, Vec<Event>) {
    let mut choices = Vec::new();
    let mut events: Vec<Event> = Vec::new();
    for (marker, &taken) in outcomes.iter().enumerate() {
        choices.push(choice(marker as u32, taken, events.last().copied()));
        events.push(event(marker as u32, taken as u32));
    }
    (choices, events)
}

#[test]
fn a_shared_prefix_is_one_branch_of_the_tree() {
    let mut tree = Tree::new();
    let first = tree.insert(&path(&[1, 1, 1]).0);
    let second = tree.insert(&path(&[1, 0, 1]).0);
    assert_eq!((first.first_new, second.first_new), (0, 2));
    assert_eq!(first.nodes[..2], second.nodes[..2]);
    assert_eq!(tree.len(), 4);
    assert_eq!(tree.status(first.nodes[1], 0), Status::Explored);
    assert_eq!(tree.status(first.nodes[0], 0), Status::Open);
}

#[test]
fn a_way_that_misses_every_open_goal_is_no_way() {
    let map = map();
    let mut ledger = Ledger::new(branch_goals(&map, UNIT));
    ledger.note(&[event(0, 0), event(0, 1), event(1, 0), event(1, 1), event(2, 0)]);
    let guidance = Guidance::new(&Routes::of(&map), UNIT, &ledger);
    let start = [Position { function: UNIT, after: None }];
    let branch = |event| Branch { event, fault: false, cut: false, mixed: false, hard: false };
    assert_eq!(guidance.after(&branch(Some(event(0, 0))), &start), None, "the function returns");
    assert_eq!(guidance.after(&branch(Some(event(0, 1))), &start), Some(1), "m2 comes after m1");
    let before_goal = [Position { function: UNIT, after: Some(event(1, 0)) }];
    assert_eq!(guidance.after(&branch(Some(event(2, 1))), &before_goal), Some(0), "it is the goal itself");
    assert_eq!(guidance.after(&branch(Some(event(2, 0))), &before_goal), None, "the goal's other side");
    let fault = Branch { fault: true, ..branch(None) };
    assert_eq!(guidance.after(&fault, &start), None, "a fault ends the path");
}

#[test]
fn every_open_goal_is_tried_and_what_leads_nowhere_never() {
    let map = map();
    let mut ledger = Ledger::new(branch_goals(&map, UNIT));
    let (choices, events) = path(&[1, 1, 1]);
    ledger.note(&events);
    assert_eq!(tried(&map, &ledger, &choices), [(0, 0), (1, 0), (2, 0)], "each is an open goal");
    ledger.note(&[event(0, 0), event(1, 0), event(2, 0)]);
    assert_eq!(tried(&map, &ledger, &choices), [], "nothing is open");
}

/// What the frontier hands out after one path, when all of it is refuted; in a fixed order.
fn tried(map: &Map, ledger: &Ledger, choices: &[Choice]) -> Vec<(u32, usize)> {
    let mut tried = in_turn(map, ledger, choices);
    tried.sort_unstable();
    tried
}

/// The same in the order in which it is handed out.
fn in_turn(map: &Map, ledger: &Ledger, choices: &[Choice]) -> Vec<(u32, usize)> {
    let mut tree = Tree::new();
    let inserted = tree.insert(choices);
    let mut frontier = Frontier::new(Guidance::new(&Routes::of(map), UNIT, ledger), 0);
    frontier.add(&tree, ledger, &inserted);
    let mut tried = Vec::new();
    while let Some(candidate) = frontier.next(&tree, ledger) {
        tried.push((candidate.node.0, candidate.branch));
        tree.set_status(candidate.node, candidate.branch, Status::Refuted);
    }
    tried
}

/// Only the way into m1 is implied by others.
#[test]
fn the_unconstrained_outcomes_are_aimed_at() {
    let map = map();
    let aim = Aim::in_function(&map, UNIT);
    assert_eq!((aim.edges, aim.unconstrained_edges), (7, 5));
    let outcomes = [event(0, 0), event(1, 0), event(1, 1), event(2, 0), event(2, 1)];
    assert_eq!(aim.outcomes, outcomes.into());
    assert_eq!(Aim::in_program(&map, UNIT), aim);
    let mut ledger = Ledger::new(branch_goals(&map, UNIT));
    ledger.aim_at(&aim.outcomes);
    assert_eq!((ledger.aimed(), ledger.open()), (5, 6));
    assert!(ledger.would_help(event(0, 1)) && !ledger.is_aimed_at(event(0, 1)));
}

/// What is aimed at, then what leads there, then what is open besides: nothing is left out.
#[test]
fn goals_that_are_not_aimed_at_come_last() {
    let map = map();
    let mut ledger = Ledger::new(branch_goals(&map, UNIT));
    let (choices, events) = path(&[1, 1, 1]);
    ledger.note(&events);
    ledger.aim_at(&[event(2, 0)].into());
    assert_eq!(in_turn(&map, &ledger, &choices), [(2, 0), (1, 0), (0, 0)]);
}

#[test]
fn the_same_seed_tries_in_the_same_order() {
    let order = |seed| {
        let map = map();
        let ledger = Ledger::new(branch_goals(&map, UNIT));
        let mut tree = Tree::new();
        let mut frontier = Frontier::new(Guidance::new(&Routes::of(&map), UNIT, &ledger), seed);
        for outcomes in [[1, 1, 1], [1, 0, 1], [1, 1, 0]] {
            let inserted = tree.insert(&path(&outcomes).0);
            frontier.add(&tree, &ledger, &inserted);
        }
        let mut handed_out = Vec::new();
        while let Some(candidate) = frontier.next(&tree, &ledger) {
            handed_out.push(candidate);
            tree.set_status(candidate.node, candidate.branch, Status::Refuted);
        }
        handed_out
    };
    assert_eq!(order(3), order(3));
}

#[test]
fn a_path_is_found_in_the_tree_as_far_as_it_is_there() {
    let mut tree = Tree::new();
    assert_eq!(tree.nodes_along([0]), []);
    let nodes = tree.insert(&[choice(0, 0, None), choice(1, 1, None)]).nodes;
    assert_eq!(tree.nodes_along([0, 1]), nodes);
    assert_eq!(tree.nodes_along([0, 0]), nodes, "the branch that is taken last leads to no node yet");
    assert_eq!(tree.nodes_along([1, 0]), nodes[..1], "nobody went there");
    assert_eq!(tree.nodes_along([0, 1, 7]), nodes);
}
