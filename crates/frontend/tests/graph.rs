//! Control-flow graphs, loops, decisions and calls of small functions.

mod common;

use branchwise_frontend::{Source, Toolchain, analyse};
use branchwise_program::EdgeId;
use branchwise_program::graph::{Implications, edge_dominators, edge_postdominators, unconstrained_edges};
use common::text::function_text;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.c");
    std::fs::write(&path, text).unwrap();
    let unit =
        analyse(&Toolchain::find().unwrap(), &Source { path: &path, flags: &[], set_statics: false, instances: &[] })
            .unwrap();
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
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/paper_climb.c");
    let unit =
        analyse(&Toolchain::find().unwrap(), &Source { path: &path, flags: &[], set_statics: false, instances: &[] })
            .unwrap();
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
