//! Control-flow graphs, loops, decisions and calls of small functions.

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;

use branchwise_frontend::{Source, Toolchain, Unit, analyse};
use branchwise_program::graph::{
    Implications, edge_dominators, edge_postdominators, statement_map, unconstrained_edges,
};
use branchwise_program::map::{EdgeLabel, NodeKind};
use branchwise_program::{EdgeId, NodeId};
use common::text::function_text;
use expect_test::{Expect, expect};

fn unit(path: &Path) -> Unit {
    analyse(&Toolchain::find().unwrap(), &Source { path, flags: &[], set_statics: false, instances: &[] }).unwrap()
}

fn sample(text: &str) -> Unit {
    sample_in("sample.c", text)
}

fn sample_in(name: &str, text: &str) -> Unit {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    unit(&path)
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&function_text(&sample(text), "f"));
}

/// With a node for each statement.
fn check_statements(text: &str, expected: Expect) {
    let mut unit = sample(text);
    unit.map = statement_map(&unit.map);
    expected.assert_eq(&function_text(&unit, "f"));
}

#[test]
fn decisions_branch_at_every_leaf() {
    check(
        "int f(int a, int b) {\n int v = 0;\n if (a > 0 && !(b || a == 3))\n  v = 1;\n else\n  v = 2;\n return v ? a : b;\n}",
        expect![[r#"
            n0 1: f -> n1
            n1 2: int v = 0 -> n2
            n2 3: a > 0 [m0] -> 1:n3, 0:n6
            n3 3: b [m1] -> 0:n4, 1:n6
            n4 3: a == 3 [m2] -> 0:n5, 1:n6
            n5 4: v = 1 -> n7
            n6 6: v = 2 -> n7
            n7 7: v [m3] -> 1:n8, 0:n8
            n8 7: return v ? a : b -> n9
            n9 8: } -> 
            decision If line 3: (m0 && !(m1 || m2))
            decision Conditional line 7: m3
        "#]],
    );
}

#[test]
fn loops_have_heads_and_back_edges() {
    check(
        "int f(int n) {\n for (int i = 0; i < n; i++) {\n  if (i == 3) continue;\n  if (i == 5) break;\n }\n while (1) {\n  if (n-- < 0) break;\n }\n do n++; while (n < 4);\n do { n--; } while (0);\n return n;\n}",
        expect![[r#"
            n0 1: f -> n1
            n1 2: int i = 0 -> n2
            n2 2: i < n [m0] -> 1:n3, 0:n8
            n3 3: i == 3 [m1] -> 1:n4, 0:n5
            n4 3: continue -> n7
            n5 4: i == 5 [m2] -> 1:n6, 0:n7
            n6 4: break -> n8
            n7 2: i++ -> n2
            n8 6: while (1) -> n9
            n9 7: n-- < 0 [m3] -> 1:n10, 0:n8
            n10 7: break -> n11
            n11 9: n++ -> n12
            n12 9: n < 4 [m4] -> 0:n13, 1:n11
            n13 10: n-- -> n14
            n14 11: return n -> n15
            n15 12: } -> 
            loop For line 2 head n2 from n7
            loop While line 6 head n8 from n9
            loop Do line 9 head n11 from n12
            decision For line 2: m0
            decision If line 3: m1
            decision If line 4: m2
            decision While line 6: true
            decision If line 7: m3
            decision Do line 9: m4
            decision Do line 10: false
        "#]],
    );
}

#[test]
fn switches_fall_through() {
    check(
        "int f(int x) {\n switch (x) {\n case 1:\n  x++;\n case 2: case 3:\n  break;\n default:\n  x = 7;\n case 4 ... 6:\n  x--;\n }\n switch (x) { case 9: return 1; }\n return x;\n}",
        expect![[r#"
            n0 1: f -> n1
            n1 2: switch (x) [m0] -> 0:n2, 1:n3, 2:n3, 3:n4, 4:n5
            n2 4: x++ -> n3
            n3 6: break -> n6
            n4 8: x = 7 -> n5
            n5 10: x-- -> n6
            n6 12: switch (x) [m1] -> 0:n7, 1:n8
            n7 12: return 1 -> n9
            n8 13: return x -> n9
            n9 14: } -> 
            decision Switch line 2: m0
            decision Switch line 12: m1
        "#]],
    );
}

#[test]
fn gotos_make_loops_and_lead_into_them() {
    check(
        "int f(int x) {\nagain:\n x--;\n if (x > 9) goto again;\n if (x < 0) goto inside;\n while (x) {\ninside:\n  x++;\n }\n goto end;\n x = 99;\nend:\n return x;\n}",
        expect![[r#"
            n0 1: f -> n1
            n1 3: x-- -> n2
            n2 4: x > 9 [m0] -> 1:n3, 0:n4
            n3 4: goto again -> n1
            n4 5: x < 0 [m1] -> 1:n5, 0:n6
            n5 5: goto inside -> n7
            n6 6: x [m2] -> 1:n7, 0:n8
            n7 8: x++ -> n6
            n8 10: goto end -> n10
            n9 11: x = 99 -> n10
            n10 13: return x -> n11
            n11 14: } -> 
            loop While line 6 head n6 from n7
            loop Goto line 2 head n1 from n3
            decision If line 4: m0
            decision If line 5: m1
            decision While line 6: m2
        "#]],
    );
}

#[test]
fn calls_know_their_node_and_some_do_not_return() {
    check(
        "#include <stdlib.h>\n#include <assert.h>\nint g(int);\nint f(int x, int (*h)(int)) {\n assert(x);\n if (g(x) > 0)\n  abort();\n return x ? g(1) : h(g(2));\n}",
        expect![[r#"
            n0 4: f -> n2
            n1 5: (x) [m0] -> 1:n2, 0:n2
            n2 5: x [m1] -> 0:n3, 1:n4
            n3 5: assert(x) -> n11
            n4 5: assert(x) -> n5
            n5 6: g(x) > 0 [m2] -> 1:n6, 0:n7
            n6 7: abort() -> n11
            n7 8: x [m3] -> 1:n8, 0:n9
            n8 8: g(1) -> n10
            n9 8: h(g(2)) -> n10
            n10 8: return x ? g(1) : h(g(2)) -> n11
            n11 9: } -> 
            decision Conditional line 5: m0
            decision If line 5: m1
            decision If line 6: m2
            decision Conditional line 8: m3
            call __assert_fail at n3
            call g at n5
            call abort at n6
            call g at n8
            call g at n9
            call ? at n9
        "#]],
    );
}

#[test]
fn a_loop_without_statements_has_a_node() {
    check(
        "void f(void) {\n for (;;) ;\n}",
        expect![[r#"
        n0 1: f -> n1
        n1 2: for (;;) -> n1
        n2 3: } -> 
        loop For line 2 head n1 from n1
    "#]],
    );
}

/// Annex B, figure 1: the unconstrained edges are 6→5, 6→7 and 13→14 there, which are these lines here. We name a straight
/// run of edges by its last one, annex B by its first.
#[test]
fn unconstrained_edges_are_those_of_annex_b() {
    let unit = unit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/paper_climb.c"));
    let map = &unit.map;
    let mut found = Vec::new();
    for function in map.functions.values() {
        let cfg = &function.cfg;
        let (dominators, postdominators) = (edge_dominators(cfg), edge_postdominators(cfg));
        let line = |node| cfg.nodes[node].place.line;
        for last in unconstrained_edges(cfg) {
            let same_run =
                |first: &EdgeId| dominators.dominates(*first, last) && postdominators.dominates(last, *first);
            let run: Vec<_> = cfg.edges.ids().filter(same_run).map(|edge| &cfg.edges[edge]).collect();
            let run: Vec<_> = run.iter().map(|edge| (line(edge.from), line(edge.to))).collect();
            found.push((function.name.as_str(), run));
        }
    }
    let climb = map.function_named("climb").unwrap();
    found.sort();
    assert_eq!(
        found,
        [("climb", vec![(14, 13)]), ("climb", vec![(14, 15), (15, 13)]), ("main", vec![(18, 20), (20, 21), (21, 22)]),]
    );
    let of_program = Implications::of(map, &[map.function_named("main").unwrap()]);
    assert!(of_program.unconstrained().iter().all(|edge| edge.function == climb));
    assert_eq!(of_program.unconstrained().len(), 2);
}

/// Where a destructor runs the text does not say, and whether it does depends on the way.
#[test]
fn destructors_are_called_perhaps() {
    let text = "int g(int);\nstruct S { int v; ~S() { g(v); } };\nint f(int x) {\n if (x) { S s{x}; return s.v; }\n return 0;\n}";
    let calls: Vec<_> = function_text(&sample_in("sample.cpp", text), "f").lines().map(str::to_owned).collect();
    let calls: Vec<_> = calls.iter().filter(|line| line.starts_with("call")).collect();
    assert!(!calls.is_empty() && calls.iter().all(|call| call.ends_with(", perhaps")), "{calls:?}");
}

/// Annex C, figure 1: line 10 is one node there.
const WORD_COUNT: &str = "#include <stdio.h>
void f(void)
{ int inword, nl, nw, nc, c;
 inword = 0;
 nl = 0;
 nw = 0;
 nc = 0;
 c = getc(stdin);
 while (c != EOF) {
  nc = nc + 1;
  if (c == '\\n')
   nl = nl + 1;
  if (c == '\\n' || c == '\\t' || c == ' ')
   inword = 0;
  else if (inword == 0) {
   inword = 1;
   nw = nw + 1;
  }
  c = getc(stdin);
  printf(\"value of nl : %d\", nl);
  printf(\"value of nw : %d\", nw);
  printf(\"value of nc : %d\", nc);
 }
}";

#[test]
fn a_statement_is_one_node_in_annex_c() {
    let unit = sample(WORD_COUNT);
    let map = statement_map(&unit.map);
    let cfg = &map.functions[map.function_named("f").unwrap()].cfg;
    let conditions = cfg.nodes.values().filter(|node| matches!(node.kind, NodeKind::Condition(_)));
    assert_eq!(conditions.map(|node| node.place.line).collect::<Vec<_>>(), [9, 11, 13, 15]);
    // The nodes of the figure, entry and exit; a way more than nodes for each of the four decisions.
    assert_eq!((cfg.nodes.len(), cfg.edges.len()), (18 + 2, 18 + 1 + 4));
    let lines = |edge: EdgeId| [cfg.edges[edge].from, cfg.edges[edge].to].map(|node| cfg.nodes[node].place.line);
    let unconstrained: BTreeSet<_> = unconstrained_edges(cfg).into_iter().map(lines).collect();
    assert_eq!(unconstrained, BTreeSet::from([[11, 13], [12, 13], [14, 19], [15, 19], [17, 19]]));
    let own = &unit.map.functions[unit.map.function_named("f").unwrap()].cfg;
    assert_eq!((own.nodes.len(), unconstrained_edges(own).len()), (22, 7));
}

#[test]
fn the_conditions_of_a_decision_are_one_node() {
    check_statements(
        "int g(int);\nint f(int a, int b) {\n int v = 0;\n if (a > 0 && !(b || g(a)))\n  v = 1;\n while (g(1) && g(2))\n  ;\n do v++; while (v < a || v < b);\n if (a || b) ;\n return a && b ? v : 0;\n}",
        expect![[r#"
            n0 2: f -> n1
            n1 3: int v = 0 -> n2
            n2 4: a > 0 && !(b || g(a)) [m11] -> 1:n3, 0:n4
            n3 5: v = 1 -> n4
            n4 6: g(1) && g(2) [m12] -> 0:n5, 1:n4
            n5 8: v++ -> n6
            n6 8: v < a || v < b [m13] -> 0:n7, 1:n5
            n7 9: a || b [m14] -> 1:n8, 0:n8
            n8 10: a && b [m15] -> 1:n9, 0:n9
            n9 10: return a && b ? v : 0 -> n10
            n10 11: } -> 
            loop While line 6 head n4 from n4
            loop Do line 8 head n5 from n6
            decision If line 4: (m0 && !(m1 || m2))
            decision While line 6: (m3 && m4)
            decision Do line 8: (m5 || m6)
            decision If line 9: (m7 || m8)
            decision Conditional line 10: (m9 && m10)
            call g at n2, perhaps
            call g at n4
            call g at n4, perhaps
        "#]],
    );
}

#[test]
fn the_conditions_of_a_value_belong_to_its_statement() {
    check_statements(
        "int g(int);\nint f(int a, int b, int c) {\n int v = g(a) || g(b);\n v += a ? b && c : 0;\n if (((a && b) == c) || ((b || g(c)) == a))\n  v = 0;\n return g(a && g(1));\n}",
        expect![[r#"
            n0 2: f -> n1
            n1 3: int v = g(a) || g(b) -> n2
            n2 4: a [m2] -> 1:n3, 0:n3
            n3 4: v += a ? b && c : 0 -> n4
            n4 5: ((a && b) == c) || ((b || g(c)) == a) [m13] -> 1:n5, 0:n6
            n5 6: v = 0 -> n6
            n6 7: return g(a && g(1)) -> n7
            n7 8: } -> 
            decision Value line 3: (m0 || m1)
            decision Conditional line 4: m2
            decision Value line 4: (m3 && m4)
            decision If line 5: (m5 || m8)
            decision Value line 5: (m6 && m7)
            decision Value line 5: (m9 || m10)
            decision Value line 7: (m11 && m12)
            call g at n1
            call g at n1, perhaps
            call g at n4, perhaps
            call g at n6, perhaps
            call g at n6
        "#]],
    );
}

#[test]
fn conditions_with_other_nodes_between_them_stay_apart() {
    check_statements(
        "#include <stdlib.h>\nint g(int);\nint f(int a, int b) {\n if (a || (b ? g(a) : g(b)))\n  a = 1;\n if (b || (exit(1), 0))\n  a = 2;\n return a;\n}",
        expect![[r#"
            n0 3: f -> n1
            n1 4: a [m0] -> 0:n2, 1:n6
            n2 4: b [m2] -> 1:n3, 0:n4
            n3 4: g(a) -> n5
            n4 4: g(b) -> n5
            n5 4: (b ? g(a) : g(b)) [m1] -> 1:n6, 0:n7
            n6 5: a = 1 -> n7
            n7 6: b [m3] -> 0:n8, 1:n9
            n8 6: (exit(1), 0) [m4] -> 1:n9, 0:n10
            n9 7: a = 2 -> n10
            n10 8: return a -> n11
            n11 9: } -> 
            decision If line 4: (m0 || m1)
            decision Conditional line 4: m2
            decision If line 6: (m3 || m4)
            call g at n3
            call g at n4
            call exit at n8
        "#]],
    );
}

/// A node leads one way for each outcome of its own marker, or one way; all that is left of the conditions is in a node.
#[test]
fn statements_make_a_graph() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut joined = 0;
    for name in
        ["logic_long", "logic_nested", "logic_over_lines", "logic_values", "call_in_condition", "constant_operand"]
    {
        let unit = unit(&folder.join(name).with_extension("c"));
        let map = statement_map(&unit.map);
        for (id, function) in map.functions.iter() {
            let cfg = &function.cfg;
            let ways = |node: NodeId| cfg.edges.values().filter(move |edge| edge.from == node).map(|edge| edge.label);
            for (node, of) in cfg.nodes.iter() {
                match of.kind {
                    NodeKind::Condition(marker) | NodeKind::Switch(marker) => {
                        assert_eq!(map.markers[marker].node, node);
                        let outcome = |label| match label {
                            EdgeLabel::Outcome(event) if event.marker == marker => event.outcome,
                            other => panic!("{name} {node}: {other:?}"),
                        };
                        let outcomes: Vec<u32> = ways(node).map(outcome).collect();
                        assert_eq!(outcomes.iter().collect::<BTreeSet<_>>().len(), outcomes.len(), "{name} {node}");
                    }
                    _ => assert!(ways(node).all(|label| label == EdgeLabel::Always) && ways(node).count() <= 1),
                }
            }
            let own = &unit.map.functions[id].cfg;
            joined += own.nodes.len() - cfg.nodes.len();
            assert!(unconstrained_edges(cfg).len() <= unconstrained_edges(own).len(), "{name}");
        }
    }
    assert!(joined > 20, "{joined}");
}
