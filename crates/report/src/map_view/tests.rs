use std::path::Path;

use super::fixtures::Code::*;
use super::fixtures::{Code, map};
use super::*;

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
    let path = Path::new(&folder).join("all-cfg.svg");
    std::fs::write(path, svg(&map(samples()), None, Graph::Cfg)).expect("the folder can be written");
    std::fs::write(Path::new(&folder).join("all.txt"), text(&map(samples()), None)).expect("the folder can be written");
}
