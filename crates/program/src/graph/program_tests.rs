//! Implication across calls: against the definition where calls can be written out, and against executions.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::tests::{NaiveEdges, cfg, random_cfg};
use super::*;
use crate::map::{CallSite, Cfg, EdgeLabel, Function, Language, Map, NoDriver, Place};
use crate::{EdgeId, FileId, FunctionId, Id, NodeId, TypeId};

/// What a node of a test program calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Calls {
    Function(usize),
    /// In an operand that may not be evaluated.
    Maybe(usize),
    Pointer,
    /// `exit()`.
    Ends,
}

/// The functions are called `f0`, `f1`, …
fn program(functions: &[(Cfg, Vec<(usize, Calls)>)]) -> Map {
    let place = Place { file: FileId(0), line: 1, column: 1 };
    let site = |&(node, calls): &(usize, Calls)| CallSite {
        callee: match calls {
            Calls::Function(index) | Calls::Maybe(index) => Some(format!("f{index}")),
            Calls::Pointer => None,
            Calls::Ends => Some("exit".to_string()),
        },
        declared_by_user: true,
        returns: calls != Calls::Ends,
        certain: !matches!(calls, Calls::Maybe(_)),
        place,
        node: NodeId::new(node),
    };
    let mut map = Map::default();
    map.closed_functions.insert("exit".to_string());
    for (index, (cfg, calls)) in functions.iter().enumerate() {
        map.functions.push(Function {
            name: format!("f{index}"),
            symbol: format!("f{index}"),
            place,
            end: place,
            variants: Vec::new(),
            usage: None,
            language: Language::C,
            internal: false,
            variadic: false,
            result: TypeId(0),
            parameters: Vec::new(),
            inputs: Vec::new(),
            driver: Err(NoDriver::Lacking("none".to_string())),
            markers: Vec::new(),
            decisions: Vec::new(),
            cfg: cfg.clone(),
            loops: Vec::new(),
            calls: calls.iter().map(site).collect(),
        });
    }
    map
}

const ROOT: FunctionId = FunctionId(0);

fn edge(function: u32, edge: u32) -> ProgramEdge {
    ProgramEdge { function: FunctionId(function), edge: EdgeId(edge) }
}

fn unconstrained(functions: &[(Cfg, Vec<(usize, Calls)>)]) -> Vec<ProgramEdge> {
    Implications::of(&program(functions), &[ROOT]).unconstrained()
}

fn straight(middle: usize) -> Cfg {
    let nodes: Vec<usize> = std::iter::once(0).chain(2..2 + middle).chain([1]).collect();
    cfg(2 + middle, &nodes.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>())
}

/// Functions with calls, and exits among them; a node calls at most two things.
fn random_program() -> impl Strategy<Value = Map> {
    let calls = |nodes: usize, functions: usize| {
        let what = prop_oneof![
            8 => (0..functions).prop_map(Calls::Function),
            4 => (0..functions).prop_map(Calls::Maybe),
            1 => Just(Calls::Pointer),
            1 => Just(Calls::Ends)
        ];
        prop::collection::vec((2..nodes.max(3), what), 0..4)
    };
    let function = move |functions: usize| {
        random_cfg().prop_flat_map(move |cfg| (Just(cfg.clone()), calls(cfg.nodes.len(), functions))).prop_map(
            |(cfg, mut calls)| {
                calls.retain(|(node, _)| *node < cfg.nodes.len());
                (cfg, calls)
            },
        )
    };
    (1usize..5)
        .prop_flat_map(move |functions| prop::collection::vec(function(functions), functions))
        .prop_map(|functions| program(&functions))
}

/// Functions from which every node leads to the exit, each called from one node of an earlier one.
fn random_tree() -> impl Strategy<Value = Vec<(Cfg, Vec<(usize, Calls)>)>> {
    let leaves = |cfg: &Cfg| {
        cfg.nodes.len() > 3 && reachable_nodes(cfg)[cfg.exit] && {
            let ends = final_nodes(cfg, EndlessLoops::StopAnywhere);
            ends.iter().all(|node| *node == cfg.exit || !reachable_nodes(cfg)[*node])
        }
    };
    let one = (random_cfg().prop_filter("every node leads to the exit", leaves), any::<u32>(), any::<u32>());
    prop::collection::vec(one, 1..5).prop_map(|functions| {
        let places: Vec<_> = functions.iter().map(|it| (it.1 as usize, it.2 as usize)).collect();
        let mut functions: Vec<_> = functions.into_iter().map(|(cfg, ..)| (cfg, Vec::new())).collect();
        for callee in 1..functions.len() {
            let (caller, calls) = &mut functions[places[callee].0 % callee];
            let node = 2 + places[callee].1 % (caller.nodes.len() - 2);
            if calls.iter().all(|(taken, _)| *taken != node) {
                calls.push((node, Calls::Function(callee)));
            }
        }
        functions
    })
}

/// By function and node, the nodes of the graph with every call written out before and after the calls, and their number.
type WrittenNodes = (Vec<Vec<usize>>, Vec<Vec<usize>>, usize);

fn written_nodes(functions: &[(Cfg, Vec<(usize, Calls)>)]) -> WrittenNodes {
    let mut nodes = 2;
    let mut before = Vec::new();
    let mut after = Vec::new();
    for (cfg, calls) in functions {
        let first = if before.is_empty() { 0 } else { nodes };
        let own: Vec<usize> = (first..first + cfg.nodes.len()).collect();
        nodes = nodes.max(first + cfg.nodes.len());
        let mut behind = own.clone();
        for (node, _) in calls {
            behind[*node] = nodes;
            nodes += 1;
        }
        before.push(own);
        after.push(behind);
    }
    (before, after, nodes)
}

/// One graph with every call written out, and the edges of the functions in it.
fn written_out(functions: &[(Cfg, Vec<(usize, Calls)>)]) -> (Cfg, BTreeMap<ProgramEdge, EdgeId>) {
    let (before, after, nodes) = written_nodes(functions);
    let (mut pairs, mut edges) = (Vec::new(), BTreeMap::new());
    for (index, (cfg, calls)) in functions.iter().enumerate() {
        for (id, edge) in cfg.edges.iter() {
            edges.insert(ProgramEdge { function: FunctionId::new(index), edge: id }, EdgeId::new(pairs.len()));
            pairs.push((after[index][edge.from.index()], before[index][edge.to.index()]));
        }
        for (node, calls) in calls {
            let Calls::Function(callee) = calls else { unreachable!("trees call functions only") };
            pairs.push((before[index][*node], before[*callee][0]));
            pairs.push((before[*callee][1], after[index][*node]));
        }
    }
    (cfg(nodes, &pairs), edges)
}

/// A random execution: which edges it takes until it ends, `None` if it does not within the steps.
struct Walk<'m> {
    map: &'m Map,
    decide: Box<dyn FnMut(usize) -> usize + 'm>,
    steps: usize,
    taken: BTreeSet<ProgramEdge>,
}

enum Left {
    Returned,
    Ended,
    StepsOver,
}

impl Walk<'_> {
    fn function(&mut self, function: FunctionId) -> Left {
        let cfg = &self.map.functions[function].cfg;
        let mut node = cfg.entry;
        loop {
            if self.steps == 0 {
                return Left::StepsOver;
            }
            self.steps -= 1;
            let out: Vec<_> = cfg.edges.iter().filter(|(_, edge)| edge.from == node).collect();
            match self.calls(function, node) {
                Left::Returned => {}
                other => return other,
            }
            if node == cfg.exit {
                return Left::Returned;
            }
            if out.is_empty() {
                return Left::StepsOver;
            }
            let (id, edge) = out[(self.decide)(out.len())];
            self.taken.insert(ProgramEdge { function, edge: id });
            node = edge.to;
        }
    }

    /// The calls of a node, in any order.
    fn calls(&mut self, function: FunctionId, node: NodeId) -> Left {
        let of = &self.map.functions[function];
        let mut calls: Vec<_> = of.calls.iter().filter(|call| call.node == node).collect();
        if calls.iter().any(|call| !call.returns) {
            let last = of.cfg.edges.iter().filter(|(_, it)| it.from == node && it.label == EdgeLabel::Always);
            self.taken.extend(last.map(|(edge, _)| ProgramEdge { function, edge }));
        }
        while !calls.is_empty() {
            let call = calls.remove((self.decide)(calls.len()));
            if !call.certain && (self.decide)(2) == 0 {
                continue;
            }
            let callee = match call.callee.as_deref() {
                Some("exit") => return Left::Ended,
                Some(name) => self.map.function_named(name),
                None => Some((self.decide)(self.map.functions.len() + 1))
                    .filter(|chosen| *chosen < self.map.functions.len())
                    .map(FunctionId::new),
            };
            match callee.map_or(Left::Returned, |callee| self.function(callee)) {
                Left::Returned => {}
                other => return other,
            }
        }
        Left::Returned
    }
}

/// The edges that a run takes, if it ends.
fn random_run(map: &Map, mut seed: u64) -> Option<BTreeSet<ProgramEdge>> {
    let decide = move |ways: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % ways
    };
    let mut walk = Walk { map, decide: Box::new(decide), steps: 200, taken: BTreeSet::new() };
    match walk.function(ROOT) {
        Left::Returned | Left::Ended => Some(walk.taken),
        Left::StepsOver => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn calls_written_out_imply_the_same(functions in random_tree()) {
        let found = Implications::of(&program(&functions), &[ROOT]);
        let (flat, edges) = written_out(&functions);
        let naive = NaiveEdges::new(&flat);
        for (edge, flat_edge) in &edges {
            let reachable = naive.reachable.contains(flat_edge);
            prop_assert_eq!(found.reachable().contains(edge), reachable);
            if reachable {
                let implied = |other: &&ProgramEdge| naive.implies(*flat_edge, edges[*other]);
                let expected: Vec<_> = found.reachable().iter().filter(implied).copied().collect();
                prop_assert_eq!(found.implied(*edge), expected);
            }
        }
    }

    #[test]
    fn without_calls_it_is_the_definition_of_one_function(cfg in random_cfg()) {
        let of_function = unconstrained_edges(&cfg).into_iter().map(|edge| ProgramEdge { function: ROOT, edge });
        prop_assert_eq!(unconstrained(&[(cfg.clone(), Vec::new())]), of_function.collect::<Vec<_>>());
    }

    #[test]
    fn the_unconstrained_imply_everything_and_none_is_spare(map in random_program()) {
        let found = Implications::of(&map, &[ROOT]);
        let covered = |goals: &[ProgramEdge]| -> BTreeSet<ProgramEdge> {
            goals.iter().flat_map(|goal| found.implied(*goal)).collect()
        };
        let all: BTreeSet<_> = found.reachable().iter().copied().collect();
        prop_assert_eq!(&covered(&found.unconstrained()), &all);
        for dropped in found.unconstrained() {
            let rest: Vec<_> = found.unconstrained().into_iter().filter(|edge| *edge != dropped).collect();
            prop_assert!(covered(&rest).len() < all.len());
        }
    }

    #[test]
    fn every_run_takes_what_its_edges_imply(map in random_program(), seed in any::<u64>()) {
        let found = Implications::of(&map, &[ROOT]);
        for run in 0..50 {
            let Some(taken) = random_run(&map, seed.wrapping_add(run)) else { continue };
            for edge in &taken {
                prop_assert!(found.reachable().contains(edge), "{edge:?} is taken");
                for implied in found.implied(*edge) {
                    prop_assert!(taken.contains(&implied), "{edge:?} without {implied:?}: {taken:?}");
                }
            }
        }
    }
}

/// Annex B, figure 1: the method's two edges cover `main` as well.
#[test]
fn what_is_called_implies_its_caller() {
    let main = straight(2);
    let method = cfg(5, &[(0, 2), (2, 3), (2, 1), (3, 4), (3, 2), (4, 2)]);
    assert_eq!(unconstrained(&[(main, vec![(3, Calls::Function(1))]), (method, Vec::new())]), [edge(1, 4), edge(1, 5)]);
}

/// `f1(); if (c) …; else …;`: both ways have completed the call.
#[test]
fn what_follows_a_call_implies_what_is_certain_in_it() {
    let main = cfg(6, &[(0, 2), (2, 3), (3, 4), (3, 5), (4, 1), (5, 1)]);
    let functions = [(main, vec![(2, Calls::Function(1))]), (straight(1), Vec::new())];
    assert_eq!(unconstrained(&functions), [edge(0, 4), edge(0, 5)]);
}

/// `if (c) f1(); rest;` where `f1` ends the program: taking the call does not cover the rest.
#[test]
fn nothing_is_implied_behind_a_call_that_may_end_the_program() {
    let main = cfg(5, &[(0, 2), (2, 3), (2, 4), (3, 4), (4, 1)]);
    let ends = (straight(1), vec![(2, Calls::Ends)]);
    let functions = [(main.clone(), vec![(3, Calls::Function(1))]), ends];
    assert_eq!(unconstrained(&functions), [edge(0, 4), edge(1, 1)]);
    let found = Implications::of(&program(&functions), &[ROOT]);
    assert!(!found.reachable().contains(&edge(0, 3)), "nothing returns from the call");
    let returns = [(main, vec![(3, Calls::Function(1))]), (straight(1), Vec::new())];
    assert_eq!(unconstrained(&returns), [edge(0, 2), edge(0, 3)]);
}

/// Where a callee may end the program on one way, the rest is implied by neither.
#[test]
fn a_call_that_may_or_may_not_return_separates() {
    let main = straight(2);
    let check = cfg(4, &[(0, 2), (2, 3), (2, 1), (3, 1)]);
    let functions = [(main, vec![(2, Calls::Function(1))]), (check, vec![(3, Calls::Ends)])];
    assert_eq!(unconstrained(&functions), [edge(0, 2), edge(1, 3)]);
}

/// A function that always calls itself comes back to nobody; one that may stop does.
#[test]
fn recursion_returns_only_if_it_can_stop() {
    let for_ever = [(straight(2), vec![(2, Calls::Function(1))]), (straight(1), vec![(2, Calls::Function(1))])];
    let found = Implications::of(&program(&for_ever), &[ROOT]);
    assert_eq!(found.reachable(), [edge(0, 0), edge(1, 0)]);
    let stops = cfg(4, &[(0, 2), (2, 3), (2, 1), (3, 1)]);
    let functions = [(straight(2), vec![(2, Calls::Function(1))]), (stops, vec![(3, Calls::Function(1))])];
    let found = Implications::of(&program(&functions), &[ROOT]);
    assert_eq!(found.reachable().len(), 7);
    assert_eq!(found.unconstrained(), [edge(1, 3)], "the innermost call has not called again");
}

/// Two calls of one function: the second is not skipped by a return to the wrong place.
#[test]
fn returns_go_back_to_their_call() {
    let functions = [(straight(3), vec![(2, Calls::Function(1)), (4, Calls::Function(1))]), (straight(1), Vec::new())];
    let found = Implications::of(&program(&functions), &[ROOT]);
    assert_eq!(found.unconstrained().len(), 1);
    assert_eq!(found.implied(edge(0, 3)).len(), 6);
    assert_eq!(found.implied(edge(0, 1)).len(), 6);
}

/// A loop that is never left may be stopped anywhere: what called it implies nothing behind it.
#[test]
fn an_endless_callee_keeps_what_follows() {
    let waits = cfg(4, &[(0, 2), (2, 3), (3, 2)]);
    let functions = [(straight(2), vec![(2, Calls::Function(1))]), (waits, Vec::new())];
    let found = Implications::of(&program(&functions), &[ROOT]);
    assert_eq!(found.reachable(), [edge(0, 0), edge(1, 0), edge(1, 1), edge(1, 2)]);
    assert_eq!(found.unconstrained(), [edge(1, 2)]);
}

/// The dependences by nodes of the graph with every call written out.
fn of_written_nodes(
    functions: &[(Cfg, Vec<(usize, Calls)>)],
    graph: &Icfg,
    found: &Dependences,
) -> BTreeSet<(usize, u32, usize)> {
    let (before, after, _) = written_nodes(functions);
    let written = |vertex: usize| {
        let (function, node) = graph.vertices[vertex].node?;
        let places = match graph.vertices[vertex].kind {
            IcfgKind::Return | IcfgKind::Predicate => &after,
            _ => &before,
        };
        Some(places[function.index()][node.index()])
    };
    let row = |(&(on, outcome), vertices): (&(usize, Option<u32>), &BTreeSet<usize>)| {
        let on = written(on).zip(outcome);
        let vertices: Vec<usize> = vertices.iter().filter_map(|&vertex| written(vertex)).collect();
        on.into_iter().flat_map(move |(on, outcome)| vertices.clone().into_iter().map(move |at| (on, outcome, at)))
    };
    found.iter().flat_map(row).collect()
}

fn begins_straight(cfg: &Cfg) -> bool {
    cfg.edges.values().filter(|edge| edge.from == cfg.entry).count() == 1
}

proptest! {
    /// Where each function has one caller, dependence across calls is that of the graph with the calls written out.
    #[test]
    fn dependence_across_calls_is_that_of_calls_written_out(
        functions in random_tree().prop_filter("no entry decides", |all| all.iter().all(|(cfg, _)| begins_straight(cfg)))
    ) {
        let map = program(&functions);
        let graph = Icfg::of(&map, ROOT);
        let found = interprocedural_dependences(&graph).expect("a small graph");
        let (flat, _) = written_out(&functions);
        let outcome = |edge: EdgeId| match flat.edges[edge].label {
            EdgeLabel::Outcome(event) => event.outcome,
            EdgeLabel::Always => unreachable!("only outcomes decide"),
        };
        let expected: BTreeSet<(usize, u32, usize)> = control_dependence(&flat)
            .into_iter()
            .map(|one| (one.on.index(), outcome(one.edge), one.node.index()))
            .collect();
        prop_assert_eq!(of_written_nodes(&functions, &graph, &found), expected);
    }
}
