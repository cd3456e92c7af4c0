use std::path::Path;

use super::fixtures::Code::*;
use super::fixtures::{Code, map};
use super::layout::{Layout, Point, Rectangle, Step};
use super::picture::picture;
use super::*;
use expect_test::{Expect, expect};

fn samples() -> Vec<(&'static str, Vec<Code>)> {
    vec![
        ("if_else", vec![If("x > 10", vec![Do("y = 1;")], vec![Do("y = 2;")]), IfAnd("y > 0", "y < x", vec![Return])]),
        ("loop", vec![Do("c = getc(stdin);"), While("c != EOF", vec![Do("n++;"), Do("c = getc(stdin);")]), Return]),
        (
            "nested",
            vec![
                Do("i = 0;"),
                While(
                    "i < n",
                    vec![
                        Do("j = 0;"),
                        While("j < i", vec![If("a[j] > a[i]", vec![Call("swap")], vec![]), Do("j++;")]),
                        If("done", vec![Break], vec![]),
                        Do("i++;"),
                    ],
                ),
                Return,
            ],
        ),
        (
            "fallthrough",
            vec![
                Switch(
                    "x",
                    vec![vec![Do("y = 0;"), Break], vec![Do("y++;")], vec![Do("y += 2;"), Break], vec![Return]],
                    true,
                ),
                Switch("y & 3", vec![vec![], vec![Call("puts"), Break]], false),
                Return,
            ],
        ),
        (
            "jumps",
            vec![
                Label("again"),
                Do("x = next(\"<&>\");"),
                If("x < 0", vec![Goto("out")], vec![]),
                DoWhile(vec![Do("x /= 2;"), If("x == 3", vec![Continue], vec![]), Do("x--;")], "x > 1"),
                If("x", vec![Goto("again")], vec![]),
                Label("out"),
                Return,
                Do("never();"),
            ],
        ),
        ("server", vec![Do("open();"), Endless(vec![If("ready()", vec![Call("serve")], vec![]), Do("rest();")])]),
    ]
}

/// Set BRANCHWISE_DRAWINGS to a folder to look at them.
#[test]
fn drawings_to_look_at() {
    let Ok(folder) = std::env::var("BRANCHWISE_DRAWINGS") else { return };
    for (name, body) in samples() {
        let map = map(vec![(name, body)]);
        for (graph, what) in
            [(Graph::Cfg, "cfg"), (Graph::Edges, "edges"), (Graph::Dominators, "dom"), (Graph::Postdominators, "pdom")]
        {
            let path = Path::new(&folder).join(format!("{name}-{what}.svg"));
            std::fs::write(path, svg(&map, None, graph)).expect("the folder can be written");
        }
    }
    for size in [80, 1500] {
        let map = map(vec![("random", random_body(5, size))]);
        let start = std::time::Instant::now();
        let drawing = svg(&map, None, Graph::Cfg);
        let nodes = map.functions[FunctionId(0)].cfg.nodes.len();
        println!("{nodes} nodes: {:?}", start.elapsed());
        let path = Path::new(&folder).join(format!("random-{size}.svg"));
        std::fs::write(path, drawing).expect("the folder can be written");
    }
    let path = Path::new(&folder).join("all-cfg.svg");
    std::fs::write(path, svg(&map(samples()), None, Graph::Cfg)).expect("the folder can be written");
    std::fs::write(Path::new(&folder).join("all.txt"), text(&map(samples()), None)).expect("the folder can be written");
}

const ALL: [Graph; 4] = [Graph::Cfg, Graph::Edges, Graph::Dominators, Graph::Postdominators];

/// Structured programs of about `size` statements with jumps; the same for the same seed.
fn random_body(seed: u64, size: usize) -> Vec<Code> {
    Random { state: seed.wrapping_mul(2).wrapping_add(1), left: size }.block(0, 0)
}

struct Random {
    state: u64,
    left: usize,
}

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        // Knuth's MMIX constants.
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.state >> 33) % bound
    }

    fn block(&mut self, depth: usize, loops: usize) -> Vec<Code> {
        let mut block = Vec::new();
        while self.left > 0 && (depth == 0 || self.below(4) > 0) {
            self.left -= 1;
            block.push(self.code(depth + 1, loops));
        }
        block
    }

    fn code(&mut self, depth: usize, loops: usize) -> Code {
        let choice = if depth > 6 { self.below(4) } else { self.below(13) };
        match choice {
            0 if loops > 0 => If("stop", vec![Break], vec![]),
            1 if loops > 0 => If("x & 1", vec![Continue], vec![]),
            2 if depth > 2 => If("x == 77", vec![Return], vec![]),
            4 => If("x > 10", self.block(depth, loops), self.block(depth, loops)),
            5 | 6 => If("a[i] < limit", self.block(depth, loops), vec![]),
            7 => IfAnd("p != NULL", "p->next == q", self.block(depth, loops)),
            8 => While("i < n", self.block(depth, loops + 1)),
            9 => DoWhile(self.block(depth, loops + 1), "--i > 0"),
            10 => {
                Switch("x", (0..self.below(6)).map(|_| self.block(depth, loops + 1)).collect(), depth.is_multiple_of(2))
            }
            11 if depth > 3 => Endless(vec![If("ready", vec![Break], vec![]), Do("wait();")]),
            _ => Do("y = y + 1;"),
        }
    }
}

fn layouts(body: Vec<Code>) -> Vec<Layout> {
    let map = map(vec![("f", body)]);
    let function = &map.functions[FunctionId(0)];
    ALL.iter()
        .map(|graph| svg::place(&picture(&map, FunctionId(0), *graph, (&unconstrained_edges(&function.cfg), 1))))
        .collect()
}

fn overlap(left: &Rectangle, right: &Rectangle) -> bool {
    left.left() < right.right()
        && right.left() < left.right()
        && left.top() < right.bottom()
        && right.top() < left.bottom()
}

/// Points along a route; the ends themselves are on boxes.
fn along(route: &layout::Route) -> Vec<Point> {
    let mut points = vec![route.start];
    for step in &route.steps {
        let from = points[points.len() - 1];
        let at = |t: f64| match step {
            Step::Line(to) => Point { x: from.x + t * (to.x - from.x), y: from.y + t * (to.y - from.y) },
            Step::Curve(first, second, to) => {
                let (a, b, c, d) = ((1.0 - t).powi(3), 3.0 * t * (1.0 - t).powi(2), 3.0 * t * t * (1.0 - t), t.powi(3));
                let mix = |p: fn(&Point) -> f64| a * p(&from) + b * p(first) + c * p(second) + d * p(to);
                Point { x: mix(|p| p.x), y: mix(|p| p.y) }
            }
        };
        points.extend((1..=12).map(|part| at(f64::from(part) / 12.0)));
    }
    points
}

fn inside(point: &Point, of: &Rectangle) -> bool {
    let edge = 0.01;
    (of.left() + edge..of.right() - edge).contains(&point.x) && (of.top() + edge..of.bottom() - edge).contains(&point.y)
}

fn check_layout(layout: &Layout) {
    let labels = layout.routes.iter().filter_map(|route| route.label.as_ref());
    let things: Vec<&Rectangle> = layout.boxes.iter().chain(labels).collect();
    for (index, thing) in things.iter().enumerate() {
        assert!(thing.left() >= 0.0 && thing.right() <= layout.size.width, "{thing:?} leaves the page");
        assert!(thing.top() >= 0.0 && thing.bottom() <= layout.size.height, "{thing:?} leaves the page");
        for other in &things[index + 1..] {
            assert!(!overlap(thing, other), "{thing:?} overlaps {other:?}");
        }
    }
    for route in &layout.routes {
        for point in along(route) {
            assert!((0.0..=layout.size.width).contains(&point.x), "{point:?} leaves the page");
            assert!((0.0..=layout.size.height).contains(&point.y), "{point:?} leaves the page");
            assert!(!layout.boxes.iter().any(|it| inside(&point, it)), "a line passes a box at {point:?}");
        }
    }
}

#[test]
fn nothing_overlaps_and_no_line_passes_a_box() {
    for (_, body) in samples() {
        layouts(body).iter().for_each(check_layout);
    }
    for seed in 0..60 {
        layouts(random_body(seed, 5 + seed as usize)).iter().for_each(check_layout);
    }
}

#[test]
fn drawings_are_the_same_every_time() {
    let map = map(vec![("f", random_body(7, 60))]);
    assert!(ALL.iter().all(|graph| svg(&map, None, *graph) == svg(&map, None, *graph)));
}

/// Text of the user cannot end an element, and every element that is opened is closed.
#[test]
fn drawings_are_well_formed() {
    let map = map(samples());
    for graph in ALL {
        let drawing = svg(&map, None, graph);
        let mut open = Vec::new();
        for piece in drawing.split('<').skip(1) {
            let (tag, text) = piece.split_once('>').expect("a tag ends");
            assert!(!text.contains('>'));
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if tag.ends_with('/') => {}
                None => open.extend(tag.split_whitespace().next()),
            }
        }
        assert!(open.is_empty());
    }
    assert!(svg(&map, None, Graph::Cfg).contains("next(&quot;&lt;&amp;&gt;&quot;)"));
}

#[test]
fn a_title_for_each_function_that_is_asked_for() {
    let map = map(samples());
    let titles = |drawing: String| drawing.matches("class=\"title\"").count();
    assert_eq!(titles(svg(&map, None, Graph::Cfg)), samples().len());
    assert_eq!(titles(svg(&map, map.function_named("loop"), Graph::Cfg)), 1);
}

fn sample(name: &str) -> branchwise_program::map::Map {
    map(samples().into_iter().filter(|(it, _)| *it == name).collect())
}

fn check(actual: String, expected: Expect) {
    expected.assert_eq(&actual);
}

#[test]
fn text_of_jumps() {
    check(
        text(&sample("jumps"), None),
        expect![[r#"
        int jumps(int x)  sample.c:1
          McCabe 5
          nodes
            n0   entry      1:1
            n1   exit       14:1
            n2   statement  2:5   again:
            n3   statement  3:5   x = next("<&>");
            n4   condition  4:5   x < 0
            n5   statement  5:5   do
            n6   statement  6:5   x /= 2;
            n7   condition  7:5   x == 3
            n8   statement  8:5   x--;
            n9   condition  9:5   x > 1
            n10  condition  10:5  x
            n11  statement  11:5  out:
            n12  statement  12:5  return x;
            n13  statement  13:5  never();  (unreachable)
          edges (* unconstrained: covering these covers all)
            e0   n0 -> n2
            e1   n2 -> n3
            e2   n3 -> n4
            e3   n4 -> n5       4-   x < 0: false
            e4   n5 -> n6
            e5   n6 -> n7
            e6   n7 -> n8       7-   x == 3: false
            e7   n8 -> n9    *
            e8   n7 -> n9    *  7+   x == 3: true
            e9   n9 -> n5    *  9+   x > 1: true
            e10  n9 -> n10      9-   x > 1: false
            e11  n10 -> n11  *  10-  x: false
            e12  n11 -> n12
            e13  n12 -> n1
            e14  n13 -> n1
            e15  n4 -> n11   *  4+   x < 0: true
            e16  n10 -> n2   *  10+  x: true
          loops
            do  5:5  head n5  back e9  body n5 n6 n7 n8 n9
          decisions
            if 4:5  x < 0
            if 7:5  x == 3
            do 9:5  x > 1
            if 10:5  x
          control dependence
            n2 on n10  x: true
            n3 on n10  x: true
            n4 on n10  x: true
            n5 on n4   x < 0: false
            n5 on n9   x > 1: true
            n6 on n4   x < 0: false
            n6 on n9   x > 1: true
            n7 on n4   x < 0: false
            n7 on n9   x > 1: true
            n8 on n7   x == 3: false
            n9 on n4   x < 0: false
            n9 on n9   x > 1: true
            n10 on n4  x < 0: false
    "#]],
    );
}

#[test]
fn text_of_an_endless_loop() {
    check(
        text(&sample("server"), None),
        expect![[r#"
        int server(int x)  sample.c:1
          McCabe 2
          nodes
            n0  entry      1:1
            n1  exit       7:1    (unreachable)
            n2  statement  2:5  open();
            n3  statement  3:5  for (;;)
            n4  condition  4:5  ready()
            n5  statement  5:5  serve(x);
            n6  statement  6:5  rest();
          edges (* unconstrained: covering these covers all)
            e0  n0 -> n2
            e1  n2 -> n3
            e2  n3 -> n4
            e3  n4 -> n5     4+  ready(): true
            e4  n5 -> n6  *
            e5  n4 -> n6  *  4-  ready(): false
            e6  n6 -> n3  *
          loops
            for  3:5  head n3  back e6  body n3 n4 n5 n6
          decisions
            if 4:5  ready()
          control dependence
            n5 on n4  ready(): true
          calls
            serve  5:5  in n5
    "#]],
    );
}

/// The complexity is that of the conditions all the same.
#[test]
fn a_decision_is_one_node_among_statements() {
    let sample = sample("if_else");
    let statements = Selection { nodes: Nodes::Statements, ..Selection::from(None) };
    check(
        text(&sample, statements),
        expect![[r#"
        int if_else(int x)  sample.c:1
          McCabe 4
          nodes
            n0  entry      1:1
            n1  exit       8:1
            n2  condition  2:5  x > 10
            n3  statement  3:5  y = 1;
            n4  statement  4:5  y = 2;
            n5  condition  6:5  y > 0 && y < x
            n6  statement  7:5  return x;
          edges (* unconstrained: covering these covers all)
            e0  n0 -> n2
            e1  n2 -> n3     2+  x > 10: true
            e2  n2 -> n4     2-  x > 10: false
            e3  n3 -> n5  *
            e4  n4 -> n5  *
            e5  n5 -> n6         y > 0 && y < x: true
            e6  n6 -> n1  *
            e7  n5 -> n1  *      y > 0 && y < x: false
          decisions
            if 2:5  x > 10
            if 6:5  y > 0 && y < x
              5  5:9  y > 0
              6  6:9  y < x
          control dependence
            n3 on n2  x > 10: true
            n4 on n2  x > 10: false
            n6 on n5  y > 0 && y < x: true
    "#]],
    );
    let counts = |selection: Selection| {
        let value = json(&sample, selection);
        let count = |key: &str| value["functions"][0][key].as_array().map(Vec::len);
        (count("nodes"), count("edges"), count("unconstrained_edges"), value["functions"][0]["mccabe"].as_i64())
    };
    assert_eq!(counts(statements), (Some(7), Some(8), Some(4), Some(4)));
    assert_eq!(counts(Selection::from(None)), (Some(8), Some(10), Some(5), Some(4)));
    let drawn = |selection: Selection| dot(&sample, selection, Graph::Edges).matches("shape=box, label").count();
    assert_eq!([drawn(statements), drawn(Selection::from(None))], [8, 10]);
    let abstract_nodes = |selection: Selection| dot(&sample, selection, Graph::Abstract);
    assert_eq!(abstract_nodes(statements), abstract_nodes(Selection::from(None)));
}

#[test]
fn json_of_short_circuit() {
    let value = json(&sample("if_else"), None);
    let mut lines = String::new();
    for (key, value) in value["functions"][0].as_object().expect("an object") {
        match value.as_array() {
            Some(items) => {
                lines.push_str(&format!("{key}:\n"));
                items.iter().for_each(|item| lines.push_str(&format!("  {item}\n")));
            }
            None => lines.push_str(&format!("{key}: {value}\n")),
        }
    }
    check(
        lines,
        expect![[r#"
        name: "if_else"
        file: "sample.c"
        line: 1
        nodes:
          {"id":0,"kind":"entry","line":1,"column":1,"text":""}
          {"id":1,"kind":"exit","line":8,"column":1,"text":""}
          {"id":2,"kind":"condition","line":2,"column":5,"text":"x > 10"}
          {"id":3,"kind":"statement","line":3,"column":5,"text":"y = 1;"}
          {"id":4,"kind":"statement","line":4,"column":5,"text":"y = 2;"}
          {"id":5,"kind":"condition","line":5,"column":5,"text":"y > 0"}
          {"id":6,"kind":"condition","line":6,"column":5,"text":"y < x"}
          {"id":7,"kind":"statement","line":7,"column":5,"text":"return x;"}
        edges:
          {"id":0,"from":0,"to":2,"condition":null}
          {"id":1,"from":2,"to":3,"condition":{"text":"x > 10","outcome":"true"}}
          {"id":2,"from":2,"to":4,"condition":{"text":"x > 10","outcome":"false"}}
          {"id":3,"from":3,"to":5,"condition":null}
          {"id":4,"from":4,"to":5,"condition":null}
          {"id":5,"from":5,"to":6,"condition":{"text":"y > 0","outcome":"true"}}
          {"id":6,"from":6,"to":7,"condition":{"text":"y < x","outcome":"true"}}
          {"id":7,"from":7,"to":1,"condition":null}
          {"id":8,"from":5,"to":1,"condition":{"text":"y > 0","outcome":"false"}}
          {"id":9,"from":6,"to":1,"condition":{"text":"y < x","outcome":"false"}}
        unconstrained_edges:
          3
          4
          7
          8
          9
        mccabe: 4
        loops:
        decisions:
          {"kind":"if","line":2,"column":5,"conditions":[{"text":"x > 10","line":2,"column":9}],"formula":"x > 10"}
          {"kind":"if","line":6,"column":5,"conditions":[{"text":"y > 0","line":5,"column":9},{"text":"y < x","line":6,"column":9}],"formula":"y > 0 && y < x"}
        control_dependence:
          {"node":3,"on":2,"outcome":"true"}
          {"node":4,"on":2,"outcome":"false"}
          {"node":6,"on":5,"outcome":"true"}
          {"node":7,"on":6,"outcome":"true"}
        calls:
    "#]],
    );
    assert_eq!(value["version"], 1);
}

#[test]
fn json_of_loops_and_calls() {
    let value = json(&sample("nested"), None);
    check(
        format!("{}\n{}\n", value["functions"][0]["loops"], value["functions"][0]["calls"]),
        expect![[r#"
        [{"kind":"while","line":5,"column":5,"head":5,"back_edges":[8],"body":[5,6,7,8]},{"kind":"while","line":3,"column":5,"head":3,"back_edges":[11],"body":[3,4,5,6,7,8,9,10]}]
        [{"callee":"swap","line":7,"column":5,"node":7}]
    "#]],
    );
}

#[test]
fn dot_of_a_switch() {
    check(
        dot(&sample("fallthrough"), None, Graph::Cfg),
        expect![[r#"
        digraph map {
          node [fontname="monospace", fontsize=11];
          edge [fontname="monospace", fontsize=10];
          subgraph cluster_f0 {
            label="fallthrough — sample.c:1 — control-flow graph, McCabe 6, 7 unconstrained edges (heavy)";
            f0_n0 [shape=box, style=rounded, label="1: fallthrough"];
            f0_n1 [shape=box, style=rounded, label="exit"];
            f0_n2 [shape=hexagon, label="2: x"];
            f0_n3 [shape=box, label="3: y = 0;"];
            f0_n4 [shape=box, label="4: y++;"];
            f0_n5 [shape=box, label="5: y += 2;"];
            f0_n6 [shape=box, label="6: return x;"];
            f0_n7 [shape=hexagon, label="7: y & 3"];
            f0_n8 [shape=box, label="8: puts(x);"];
            f0_n9 [shape=box, label="9: return x;"];
            f0_n0 -> f0_n2;
            f0_n2 -> f0_n3 [label="case 0", color=navy, fontcolor=navy];
            f0_n2 -> f0_n4 [label="case 1", color=navy, fontcolor=navy];
            f0_n2 -> f0_n5 [label="case 2", color=navy, fontcolor=navy, penwidth=3];
            f0_n2 -> f0_n6 [label="default", color=navy, fontcolor=navy];
            f0_n3 -> f0_n7 [penwidth=3];
            f0_n4 -> f0_n5 [penwidth=3];
            f0_n5 -> f0_n7;
            f0_n6 -> f0_n1 [penwidth=3];
            f0_n7 -> f0_n8 [label="case 0", color=navy, fontcolor=navy, penwidth=3];
            f0_n7 -> f0_n8 [label="case 1", color=navy, fontcolor=navy, penwidth=3];
            f0_n7 -> f0_n9 [label="no case", color=navy, fontcolor=navy, penwidth=3];
            f0_n8 -> f0_n9;
            f0_n9 -> f0_n1;
          }
        }
    "#]],
    );
}

#[test]
fn dot_of_a_dominator_tree() {
    check(
        dot(&sample("loop"), None, Graph::Dominators),
        expect![[r#"
        digraph map {
          node [fontname="monospace", fontsize=11];
          edge [fontname="monospace", fontsize=10];
          subgraph cluster_f0 {
            label="loop — sample.c:1 — dominator tree of edges, McCabe 2, 1 unconstrained edge (heavy)";
            f0_root [shape=box, style=rounded, label="entry edge"];
            f0_e0 [shape=box, label="1: e0: n0 → n2"];
            f0_e1 [shape=box, label="2: e1: n2 → n3"];
            f0_e2 [shape=box, label="3: e2: n3 → n4\lc != EOF: true\l"];
            f0_e3 [shape=box, label="4: e3: n4 → n5"];
            f0_e4 [shape=box, label="5: e4: n5 → n3", penwidth=3];
            f0_e5 [shape=box, label="3: e5: n3 → n6\lc != EOF: false\l"];
            f0_e6 [shape=box, label="6: e6: n6 → n1"];
            f0_root -> f0_e0;
            f0_e0 -> f0_e1;
            f0_e1 -> f0_e2;
            f0_e2 -> f0_e3;
            f0_e3 -> f0_e4;
            f0_e1 -> f0_e5;
            f0_e5 -> f0_e6;
          }
        }
    "#]],
    );
}

#[test]
fn formulas_have_the_parentheses_that_they_need() {
    use branchwise_program::map::Formula::{And, Constant, Not, Or};
    let map = sample("if_else");
    let leaf = |index| Box::new(branchwise_program::map::Formula::Leaf(branchwise_program::MarkerId(index)));
    let or = Or(leaf(0), leaf(1));
    assert_eq!(map.formula_text(&And(Box::new(or.clone()), leaf(2))), "(x > 10 || y > 0) && y < x");
    assert_eq!(map.formula_text(&Or(Box::new(And(leaf(0), leaf(1))), leaf(2))), "x > 10 && y > 0 || y < x");
    assert_eq!(map.formula_text(&Not(Box::new(or))), "!(x > 10 || y > 0)");
    assert_eq!(map.formula_text(&And(leaf(0), Box::new(Constant(true)))), "x > 10 && 1");
}
