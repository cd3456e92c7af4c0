//! Execution trees and what they demand of the inputs: on the example of the paper that they come from, and on programs
//! that show what counts as a repetition.

use crate::support::folder;
use crate::support::load;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use branchwise_constraints::linear::{LinearAnswer, LinearLimits, LinearQuery, decide, program as linear_program};
use branchwise_constraints::{Answer, Formula, Model, Solver, SolverSettings};
use branchwise_generate::{GoalTrees, Routes};
use branchwise_goals::{Goal, branch_goals};
use branchwise_program::Program;
use branchwise_symbolic::{ExecutionTree, Fate, RunLimits};
use expect_test::expect;
use load::load;

fn text(text: &str) -> Program {
    let folder = folder::temporary();
    let file = folder.path().join("unit.c");
    std::fs::write(&file, text).expect("a writable folder");
    load(&file)
}

/// Looks at the trees for one outcome of a function.
fn with_trees<T>(
    program: &Program,
    function: &str,
    (condition, outcome): (&str, bool),
    look: impl FnOnce(&mut GoalTrees<'_>, &Goal) -> T,
) -> T {
    let routes = Routes::of(&program.map);
    let function = program.map.function_named(function).expect("the function");
    let never = AtomicBool::new(false);
    let mut trees = GoalTrees::of(program, &routes, function, &never).expect("a driver");
    let goals = branch_goals(&program.map, function);
    let goal = goals.iter().find(|goal| goal.text == condition && goal.outcome == Some(outcome)).expect("the goal");
    look(&mut trees, goal)
}

/// How many ways lead to the outcome, for k = 0, 1, 2.
fn paths(program: &Program, function: &str, outcome: (&str, bool)) -> [usize; 3] {
    with_trees(program, function, outcome, |trees, goal| {
        [0, 1, 2].map(|k| {
            let tree = trees.tree(goal, k).expect("one call");
            assert!(tree.whole);
            tree.paths()
        })
    })
}

/// An input for the tree, from the linear layer; it must go where the tree's ways go.
fn linear_model(trees: &mut GoalTrees<'_>, tree: &ExecutionTree, goal: &Goal) -> Model {
    let formula = tree.condition();
    let hint = Model::new();
    let query = LinearQuery { terms: trees.terms(), formula: &formula, domain: &tree.domain, hint: &hint };
    let LinearAnswer::Model(model) = decide(&query, &LinearLimits::default()).answer else { panic!("a model") };
    let never = AtomicBool::new(false);
    let limits = RunLimits {
        instructions: 100_000,
        loop_iterations: 100,
        call_depth: 100,
        terms: usize::MAX,
        standard_input: 100,
        interrupt: &never,
    };
    let path = trees.session.run(&model, &limits);
    assert!(path.events.iter().any(|&event| goal.reached_by(event)), "the input arrives");
    model
}

/// Lapierre 1998, annex A: a word that goes on needs two characters, neither of them blank nor the end.
pub fn figure_6() {
    let program = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/programs/wc.c"));
    with_trees(&program, "wc", ("inside == 0", false), |trees, goal| {
        let first = trees.tree(goal, 0).expect("one call");
        assert!(first.whole && first.could_grow());
        assert_eq!((first.paths(), first.condition()), (0, Formula::falsehood()));

        let tree = trees.tree(goal, 1).expect("one call");
        assert!(tree.whole);
        assert_eq!(tree.paths(), 1);
        let condition = tree.condition().simplified(trees.terms());
        assert_eq!(
            condition.display(trees.terms()).to_string(),
            "stdin.more0 ∧ stdin.byte0 != 10 ∧ stdin.byte0 != 32 ∧ stdin.byte0 != 9 ∧ \
             stdin.more1 ∧ stdin.byte1 != 10 ∧ stdin.byte1 != 32 ∧ stdin.byte1 != 9"
        );
        let model = linear_model(trees, &tree, goal);
        for name in ["stdin.byte0", "stdin.byte1"] {
            let byte = trees.terms().variable(name, 8);
            let byte = trees.terms().variable_id(byte).expect("a variable");
            assert!(![9, 10, 32].contains(&model.get(byte)));
        }
        let hint = Model::new();
        let query = LinearQuery { terms: trees.terms(), formula: &condition, domain: &tree.domain, hint: &hint };
        let exported = linear_program(&query).expect("bounds that allow an input").lp_text().expect("rows");
        assert!(exported.contains("stdin.byte0") && exported.contains("stdin.byte1"), "{exported}");
    });
}

/// All prefixes are there, each once, with what became of them.
pub fn ways_are_cut_where_they_cannot_arrive() {
    let program = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/programs/wc.c"));
    with_trees(&program, "wc", ("c == '\\t'", true), |trees, goal| {
        let tree = trees.tree(goal, 1).expect("one call");
        let count = |fate: &Fate| tree.nodes.iter().filter(|node| node.fate == *fate).count();
        assert_eq!((tree.paths(), count(&Fate::Goal)), (4, 4));
        assert!(count(&Fate::Repeated) > 0 && count(&Fate::Refuted) > 0);
        assert!(tree.nodes.iter().enumerate().skip(1).all(|(index, node)| node.parent.is_some_and(|p| p < index)));
        let mut prefixes: Vec<_> = tree.nodes.iter().map(|node| (node.parent, node.condition, node.event)).collect();
        prefixes.sort_by_key(|prefix| format!("{prefix:?}"));
        prefixes.dedup();
        assert_eq!(prefixes.len(), tree.nodes.len());
        assert!(tree.lines() > 10);
    });
    let program = text("int f(int x, int y) { if (x > 0) return 0; if (y > 0) return 1; return 2; }\n");
    with_trees(&program, "f", ("y > 0", true), |trees, goal| {
        let tree = trees.tree(goal, 0).expect("one call");
        let fates: Vec<&Fate> = tree.nodes.iter().map(|node| &node.fate).collect();
        assert_eq!(fates, [&Fate::Inner, &Fate::Inner, &Fate::Left, &Fate::Left, &Fate::Goal]);
    });
}

pub fn what_no_input_decides_is_no_repetition() {
    let program = text(
        "int f(int x) { int s = 0; for (int i = 0; i < 5; i++) s += x; if (s == 35) return 1; return 0; }\n\
         int g(int n) { int s = 0; for (int i = 0; i < n; i++) s++; if (s == 2) return 1; return 0; }\n",
    );
    assert_eq!(paths(&program, "f", ("s == 35", true)), [1, 1, 1]);
    // The loop is left after the test was decided for the third time.
    assert_eq!(paths(&program, "g", ("s == 2", true)), [0, 0, 1]);
}

pub fn calls_that_have_returned_do_not_count_and_open_ones_do() {
    let program = text(
        "static int positive(int a) { if (a > 0) return 1; return 0; }\n\
         int f(int x, int y) { if (2 * positive(x) + positive(y) == 3) return 1; return 0; }\n\
         static int depth(int n) { if (n <= 0) return 0; return 1 + depth(n - 1); }\n\
         int g(int n) { if (depth(n) == 2) return 1; return 0; }\n",
    );
    assert_eq!(paths(&program, "f", ("2 * positive(x) + positive(y) == 3", true)), [1, 1, 1]);
    assert_eq!(paths(&program, "g", ("depth(n) == 2", true)), [0, 0, 1]);
}

pub fn linear_and_smt_say_the_same_of_a_contradiction() {
    let program = text(
        "int f(int x, int y) { int s = 0; if (x > 10) s = 1; if (y < x) s += 2; if (s == 3 && y > 2000000000 && x < 9) \
         return 1; return 0; }\n",
    );
    with_trees(&program, "f", ("x < 9", true), |trees, goal| {
        let tree = trees.tree(goal, 0).expect("one call");
        let condition = tree.condition();
        let hint = Model::new();
        let query = LinearQuery { terms: trees.terms(), formula: &condition, domain: &tree.domain, hint: &hint };
        let answer = decide(&query, &LinearLimits::default()).answer;
        assert!(matches!(answer, LinearAnswer::Infeasible(_)), "{answer:?}");
        let whole = condition.term(trees.terms());
        let constraints: Vec<_> = tree.domain.iter().copied().chain([whole]).collect();
        let smt = Solver::new(SolverSettings::default()).check(trees.terms(), &constraints, &hint).answer;
        assert!(matches!(smt, Answer::Unsat(_)), "{smt:?}");
    });
}

/// 2^24 ways: the tree stays within its limits, says that it is not whole, and what it has is still of use.
pub fn a_tree_that_explodes_is_cut() {
    let parameters: Vec<String> = (0..24).map(|index| format!("int a{index}")).collect();
    let tests: String = (0..24).map(|index| format!("if (a{index} > 3) s++; ")).collect();
    let body = format!("int s = 0; {tests}if (s < 25) return 1; return 0;");
    let program = text(&format!("int f({}) {{ {body} }}\n", parameters.join(", ")));
    with_trees(&program, "f", ("s < 25", true), |trees, goal| {
        let tree = trees.tree(goal, 0).expect("one call");
        assert!(!tree.whole && tree.nodes.len() < 10_000, "{}", tree.nodes.len());
        assert!(tree.nodes.iter().any(|node| node.fate == Fate::Unfinished));
        assert!(tree.paths() > 0);
        linear_model(trees, &tree, goal);
    });
}

fn map(arguments: &[&str]) -> (String, String) {
    let folder = folder::temporary();
    let file = folder.path().join("unit.c");
    let lines = "int f(int x, int y)\n{\n    int s = x > 5 ? 1 : 0;\n    if (y > 0) return 0;\n    \
                 while (s < 9 && x > s) s++;\n    return s == 2;\n}\n";
    std::fs::write(&file, lines).expect("a writable folder");
    let output = Command::new(env!("CARGO_BIN_EXE_branchwise"))
        .current_dir(folder.path())
        .args(["map", "unit.c", "--function", "f"])
        .args(arguments)
        .output()
        .expect("branchwise runs");
    (String::from_utf8(output.stdout).expect("text"), String::from_utf8(output.stderr).expect("text"))
}

/// `s < 9 && x > s` is one node of the control-flow graph, as in the paper, unless its conditions are asked for.
pub fn nodes_are_statements_or_conditions() {
    let conditions = |arguments: &[&str]| -> Vec<String> {
        let (text, _) = map(arguments);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let nodes = json["functions"][0]["nodes"].as_array().expect("nodes");
        let conditions = nodes.iter().filter(|node| node["kind"] == "condition");
        conditions.filter_map(|node| node["text"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(conditions(&["--json"]), ["x > 5", "y > 0", "s < 9 && x > s"]);
    assert_eq!(conditions(&["--json", "--nodes", "conditions"]), ["x > 5", "y > 0", "s < 9", "x > s"]);
}

pub fn the_tree_of_an_outcome_is_drawn() {
    let (text, _) = map(&["--tree", "5:21:false", "-k", "0"]);
    expect![[r#"
        x > s false at unit.c:5:21, k = 0: 2 feasible ways
        condition: (x <s 6 ∧ y <s 1 ∧ x <s 1) ∨ (x >s 5 ∧ y <s 1 ∧ x <s 7)
        entry
          x > 5: false  [x <s 6]
            y > 0: false  [y <s 1]
              s < 9: true
                x > s: false  [x <s 1]  → goal
                x > s: true  [x >s 0]
                  s < 9: true
                    x > s: false  [x <s 2]  → cut: repeats too often
                    x > s: true  [x >s 1]  → cut: repeats too often
            y > 0: true  [y >s 0]  → leads elsewhere
          x > 5: true  [x >s 5]
            y > 0: false  [y <s 1]
              s < 9: true
                x > s: false  [x <s 2]  → infeasible
                x > s: true
                  s < 9: true
                    x > s: false  [x <s 3]  → infeasible
                    x > s: true
                      s < 9: true
                        x > s: false  [x <s 4]  → infeasible
                        x > s: true
                          s < 9: true
                            x > s: false  [x <s 5]  → infeasible
                            x > s: true
                              s < 9: true
                                x > s: true
                                  s < 9: true
                                    x > s: false  [x <s 7]  → goal
                                    x > s: true  [x >s 6]
                                      s < 9: true
                                        x > s: false  [x <s 8]  → cut: repeats too often
                                        x > s: true  [x >s 7]  → cut: repeats too often
            y > 0: true  [y >s 0]  → leads elsewhere
    "#]]
    .assert_eq(&text);

    let (svg, _) = map(&["--tree", "5:21:false", "-k", "0", "--svg"]);
    assert!(svg.starts_with("<svg") && svg.contains("infeasible") && svg.contains(">goal<"), "{svg}");
    let (dot, _) = map(&["--tree", "5:21:false", "-k", "0", "--dot"]);
    assert!(dot.starts_with("digraph") && dot.contains("tree_n0 -> tree_n1"), "{dot}");

    let (_, error) = map(&["--tree", "9:9:true"]);
    assert!(error.contains("no outcome 9:9:true in f()") && error.contains("4:9"), "{error}");
    let (_, error) = map(&["--tree", "9:true"]);
    assert!(error.contains("such as 12:9:true"), "{error}");
}
