//! What the command line says of C++ beyond the verdicts of fixtures: classes, views, findings.

use crate::support::folder;
use std::process::Command;

use expect_test::{Expect, expect};

/// Runs the tool on a file of this text: exit status, and what it printed without progress.
fn run(text: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = folder::temporary();
    std::fs::write(folder.path().join("unit.cpp"), text).expect("a writable folder");
    let output = Command::new(env!("CARGO_BIN_EXE_branchwise"))
        .current_dir(folder.path())
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary");
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("text");
    let progress = |line: &&str| !line.starts_with('[') && !line.starts_with("replaying");
    (output.status.code(), text.lines().filter(progress).map(|line| format!("{line}\n")).collect())
}

fn shows(text: &str, arguments: &[&str], expected: &Expect) {
    let (code, text) = run(text, arguments);
    assert_eq!(code, Some(0), "{text}");
    expected.assert_eq(&text);
}

const SHAPES: &str = "namespace draw {
class Shape {
public:
    virtual ~Shape() {}
    virtual int area() const = 0;
    virtual int edges() const { return 0; }
};
class Square : public Shape {
public:
    explicit Square(int side) : side_(side) {}
    int area() const override { return side_ * side_; }
    int edges() const override { return 4; }
    int edges(int more) const { return 4 + more; }
private:
    int side_;
};
class Painted {};
class Tile : public virtual Square, private Painted {
public:
    Tile() : Square(2) {}
    int area() const override { return 7; }
};
}
template <class T> struct Holder : draw::Square {
    Holder() : Square(3) {}
    int edges() const override { return 9; }
};
int total(const draw::Shape &shape) {
    if (shape.area() > 5) return shape.edges();
    return 0;
}
int main() {
    Holder<int> holder;
    draw::Tile tile;
    return total(holder) + total(tile) + tile.area();
}
";

pub fn the_class_hierarchy_is_shown() {
    shows(
        SHAPES,
        &["map", "unit.cpp", "--graph", "classes"],
        &expect![[r#"
        class draw::Shape (abstract) — unit.cpp:2
          virtual draw::Shape::~Shape
          virtual draw::Shape::area = 0             redefined by draw::Square::area, draw::Tile::area
          virtual draw::Shape::edges                redefined by Holder::edges, draw::Square::edges() const
        class draw::Square : draw::Shape — unit.cpp:8
          draw::Square::Square
          virtual draw::Square::area                redefines draw::Shape::area; redefined by draw::Tile::area
          virtual draw::Square::edges() const       redefines draw::Shape::edges; redefined by Holder::edges
          draw::Square::edges(int) const
        class draw::Painted — unit.cpp:17
        class draw::Tile : virtual draw::Square, not public draw::Painted — unit.cpp:18
          draw::Tile::Tile
          virtual draw::Tile::area                  redefines draw::Square::area
        class Holder<…> : draw::Square — unit.cpp:24
          Holder::Holder<T>
          virtual Holder::edges                     redefines draw::Square::edges() const
        calls that may reach several methods
          29:9 in total(): draw::Shape::area, draw::Square::area, draw::Tile::area
          29:34 in total(): Holder::edges, draw::Shape::edges, draw::Square::edges() const
    "#]],
    );
    let (_, json) = run(SHAPES, &["map", "unit.cpp", "--graph", "classes", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["classes"][3]["bases"][0]["virtual"], true);
    assert_eq!(json["calls"][1]["methods"].as_array().map(Vec::len), Some(3));
    for form in ["--dot", "--svg"] {
        let (code, text) = run(SHAPES, &["map", "unit.cpp", "--graph", "classes", form]);
        assert!(code == Some(0) && text.contains("draw::Tile::area") && text.contains("total()"), "{text}");
    }
    shows(
        "int f() { return 1; }\n",
        &["map", "unit.cpp", "--graph", "classes"],
        &expect![[r#"
        no classes
    "#]],
    );
}

/// The example of annex B: as a unit the base's method is tested, from main no object of the base is there.
const VIEWS: &str = "class base {
public:
    virtual ~base() {}
    virtual int step(int x) {
        if (x > 10) return 1;
        return 0;
    }
};
class derived : public base {
public:
    int step(int x) override {
        if (x > 20) return 2;
        return base_step(x);
    }
    int base_step(int x) { return x; }
};
int main() {
    derived object;
    base *used = &object;
    return used->step(21);
}
";

pub fn a_verdict_says_for_which_view_it_speaks() {
    let from_main = ["generate", "unit.cpp", "--function", "main", "--scope", "reachable", "--steps", "50"];
    let (_, text) = run(VIEWS, &from_main);
    let open = text.lines().filter(|line| line.contains("infeasible from"));
    let open: String = open.map(|line| format!("{}\n", line.trim())).collect();
    expect![[r#"
          unit.cpp:5:13: 'x > 10' true: infeasible from main(): every path that could lead there was executed or its condition refuted
          unit.cpp:5:13: 'x > 10' false: infeasible from main(): every path that could lead there was executed or its condition refuted
          unit.cpp:12:13: 'x > 20' false: infeasible from main(): every path that could lead there was executed or its condition refuted
    "#]].assert_eq(&open);
    let (_, json) = run(VIEWS, &[&from_main[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let goal = &json["functions"][0]["goals"][0];
    assert_eq!((&goal["view"], &goal["from"]), (&"integration".into(), &"main".into()));
    let (_, json) = run(VIEWS, &["generate", "unit.cpp", "--function", "base::step", "--steps", "50", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let goals = json["functions"][0]["goals"].as_array().cloned().unwrap_or_default();
    assert!(goals.len() == 2 && goals.iter().all(|goal| goal["view"] == "unit" && goal["verdict"] == "covered"));
}

const BAD_ENDS: &str = "#include <exception>
void noexcepts(int x) noexcept { if (x == 3) throw 7; }
struct shape {
    shape() { call(); }
    virtual ~shape() {}
    void call() { work(); }
    virtual int work() = 0;
};
struct square : shape { int work() override { return 1; } };
int pure(int x) { if (x == 9) { square made; return made.work(); } return 0; }
struct thrower {
    int n;
    ~thrower() noexcept(false) { if (n > 4) throw n; }
};
int unwinds(int x) {
    try {
        thrower made{x};
        if (x == 12) throw 1.5;
    } catch (...) { return 1; }
    return 0;
}
int ends(int x) { if (x == 77) std::terminate(); return 0; }
int main(int argc, char **) { if (argc == 3) throw 5; return 0; }
";

pub fn what_ends_a_program_of_cpp_is_a_finding_of_its_kind() {
    let (_, json) = run(BAD_ENDS, &["generate", "unit.cpp", "--steps", "200", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let findings = json["findings"].as_array().cloned().unwrap_or_default();
    let line = |finding: &serde_json::Value| {
        format!("{} line {}: confirmed {}", finding["kind"], finding["line"], finding["confirmed"])
    };
    let lines: Vec<String> = findings.iter().map(line).collect();
    expect![[r#"
        "uncaught_exception" line null: confirmed true
        "pure_virtual_call" line 6: confirmed true
        "exception_while_unwinding" line null: confirmed true
        "terminate" line 22: confirmed true
        "uncaught_exception" line null: confirmed true"#]]
    .assert_eq(&lines.join("\n"));
}

const LEAKS: &str = "#include <memory>
#include <vector>
struct buffer {
    int *data;
    explicit buffer(int n) : data(new int[4]) { if (n > 3) throw n; }
    ~buffer() { delete[] data; }
};
void check(int n) { if (n < 0) throw n; }
int careless(int n) { int *p = new int(n); check(n); n = *p; delete p; return n; }
int handled(int n) { try { return careless(n); } catch (int) { return -1; } }
int careful(int n) { std::unique_ptr<int> p(new int(n)); check(n); return *p; }
int *kept;
int keeps(int n) { kept = new int(n); check(n); return 1; }
int outside(int n) { int *p = nullptr, r = 0; try { p = new int(n); check(n); r = *p; } catch (int) {} delete p; return r; }
int inner(int n) { auto *v = new std::vector<int>(3);
    check(n); delete v; return n; }
";

pub fn what_an_exception_puts_out_of_reach_is_a_finding() {
    let (_, json) = run(LEAKS, &["generate", "unit.cpp", "--steps", "200", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let findings = json["findings"].as_array().cloned().unwrap_or_default();
    let line = |finding: &serde_json::Value| {
        format!("{} line {}: confirmed by {}", finding["kind"], finding["line"], finding["confirmed_by"])
    };
    let lines: Vec<String> = findings.iter().map(line).collect();
    expect![[r#"
        "leak_on_unwinding" line 5: confirmed by "LeakSanitizer: memory leak"
        "leak_on_unwinding" line 9: confirmed by "LeakSanitizer: memory leak"
        "leak_on_unwinding" line 15: confirmed by "LeakSanitizer: memory leak""#]]
    .assert_eq(&lines.join("\n"));
}

const THROWN: &str = "#include <stdexcept>
#include <vector>
int check(int n) {
    if (n < 0) throw std::invalid_argument(\"n\");
    if (n > 9) throw n;
    return n;
}
int handled(int n) {
    int r = 0;
    try {
        r = check(n);
        r = r + 1;
    } catch (const std::exception &) {
        r = -1;
    } catch (int v) {
        if (v < 5)
            r = 4;
    }
    return r;
}
int leaves(int n) {
    std::vector<int> three(3);
    if (n > 5) {
        n = three.at(n);
        n = n + 1;
    }
    return n;
}
int deeper(int n) {
    int r = 0;
    if (n > 7) {
        r = leaves(n);
        r = r + 2;
    }
    return r;
}
struct shape { virtual ~shape() {} };
struct square : shape { int side = 3; };
int side(int n) {
    square made;
    shape plain;
    shape &one = n > 3 ? plain : made;
    square &seen = dynamic_cast<square &>(one);
    return seen.side;
}
";

/// No statement behind a call that always throws is covered, and every one of a handler is. Which of several calls threw is
/// not known, so that what lies between them is not infeasible.
pub fn statements_behind_what_throws_are_not_covered_and_those_of_handlers_are() {
    let arguments = ["generate", "unit.cpp", "--criterion", "statement", "--steps", "200", "--json"];
    let (_, json) = run(THROWN, &arguments);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["replay"]["disagreements"], serde_json::json!([]));
    let goals = json["functions"].as_array().into_iter().flatten().flat_map(|function| function["goals"].as_array());
    let open = goals.flatten().filter(|goal| goal["verdict"] != "covered");
    let open: Vec<String> = open.map(|goal| format!("{} {}", goal["line"], goal["verdict"])).collect();
    assert_eq!(open, [r#"17 "infeasible""#, r#"25 "unknown""#, r#"33 "unknown""#]);
}

/// Operators run between the conditions, and the graphs do not tell how: what was evaluated stands in the log all the same.
pub fn pairs_of_evaluations_are_seen_around_operators() {
    let operators = include_str!("../../../../tests/fixtures/cpp_operators.cpp");
    let arguments = ["generate", "unit.cpp", "--function", "compare", "--criterion", "mcdc", "--steps", "500"];
    let (code, text) = run(operators, &arguments);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("mcdc: complete: every goal is covered or infeasible"), "{text}");
}

const UNWATCHED: &str = "#include <coroutine>
struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_value(int) {}
        void unhandled_exception() {}
    };
};
Task task(int k) {
    if (k == 3) co_return 1;
    co_return 2;
}
consteval int limit(int k) { return k == 8 ? 1 : 0; }
int first = [] { return limit(8) ? 4 : 3; }();
int main() { return first; }
";

/// What has conditions and no goals is named with the reason.
pub fn functions_without_markers_are_named() {
    let (code, text) = run(UNWATCHED, &["generate", "unit.cpp", "--", "-std=c++20"]);
    assert_eq!(code, Some(0), "{text}");
    let open = text.split("Not covered:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let open: Vec<&str> = open.lines().map(str::trim).collect();
    expect![[r#"
        task: a coroutine is not supported yet: nothing is known of its conditions
        limit: a consteval function runs in the compiler only: no test can reach its conditions
        first::lambda#1: it runs before every test: nothing is known of its conditions"#]]
    .assert_eq(&open.join("\n"));
    assert!(!text.contains("Disagreements"), "{text}");
}

const DEFAULTED: &str = "#include <compare>
struct Point {
    int x;
    int y;
    bool operator==(const Point &) const = default;
    auto operator<=>(const Point &) const = default;
};
struct Size {
    int width;
    int height;
    friend bool operator==(const Size &, const Size &) = default;
};
int points(const Point &left, const Point &right) { return left == right ? 1 : left < right ? 2 : 3; }
int sizes(const Size &left, const Size &right) { return left == right ? 1 : 0; }
";

/// The compiler writes the conditions of a defaulted comparison: the text has none.
pub fn defaulted_comparisons_have_no_goals() {
    let (code, text) = run(DEFAULTED, &["generate", "unit.cpp", "--", "-std=c++20"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("6 of 6 branch outcomes covered (100 %)"), "{text}");
    assert!(!text.contains("Disagreements"), "{text}");
}
