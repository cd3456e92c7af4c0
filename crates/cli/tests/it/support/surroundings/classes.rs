//! Random C++ units with surroundings: a class with private, protected and static members, friends that are defined elsewhere and
//! virtual methods; functions that take several objects of it; callees without bodies that may throw. With their environments.

use std::fmt::Write;

use branchwise_generate::Random;

use super::environment::{Capability, SESSIONS};
use super::unit::{CLOSE, OPEN, Unit, texts};

/// The same seed gives the same unit.
pub fn classes(seed: u64) -> Unit {
    let mut random = Random::new(seed ^ 0x0C1A_55E5);
    let [peer, poke] = [random.below(2) == 0, random.below(2) == 0];
    let mut writer =
        Writer { random, text: String::new(), indent: 0, places: Vec::new(), objects: Vec::new(), names: 0 };
    writer.head();
    writer.methods();
    let count = 2 + writer.random.below(2);
    let entries: Vec<Vec<&str>> = (0..count).map(|number| writer.entry(number)).collect();
    let (plain, logged) = texts(&writer.text);
    let fitting = |capability: &Capability| match capability {
        Capability::FriendsWrite => peer || poke,
        Capability::Nothing
        | Capability::DerivedWrite
        | Capability::DerivedOverride
        | Capability::SharesInputs
        | Capability::Throws
        | Capability::WritesGlobals
        | Capability::CallsIn => true,
        _ => false,
    };
    Unit {
        plain,
        logged,
        header: header(peer, poke),
        environment: environment(&entries, peer, poke),
        capabilities: Capability::ALL.into_iter().filter(fitting).collect(),
        extension: "cpp",
    }
}

/// The class, without a condition: the unit and the environment include it.
fn header(peer: bool, poke: bool) -> String {
    let friends = [
        if peer { "    friend class Peer;\n" } else { "" },
        if poke { "    friend void poke(Box &box);\n" } else { "" },
    ];
    format!(
        "#ifndef UNIT_H
#define UNIT_H
class Box {{
public:
    Box() {{}}
    virtual ~Box() {{}}
    void set(int v);
    virtual int turn(int v);
    int value() const {{ return a; }}
    int inner() const {{ return p; }}
    int open = 3;
protected:
    int p = 1;
private:
    int a = 0;
    static int made;
{}}};
int get();
void note();
void touch(Box &box);
extern int g0;
#endif
",
        friends.concat()
    )
}

struct Writer {
    random: Random,
    text: String,
    indent: usize,
    /// What can be assigned to.
    places: Vec<String>,
    /// The objects of the class.
    objects: Vec<String>,
    names: u64,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += line;
        self.text.push('\n');
    }

    fn head(&mut self) {
        self.line("#include \"log.h\"");
        self.line("#include \"unit.h\"");
        self.line("int Box::made = 0;");
        self.line("int g0;");
        self.line("static int s0;");
    }

    fn methods(&mut self) {
        for (signature, result) in [("void Box::set(int v)", ""), ("int Box::turn(int v)", "return v0 & 3;")] {
            self.places = ["a", "p", "open", "made", "a", "p", "s0"].map(str::to_owned).into();
            self.objects.clear();
            self.line(signature);
            self.line("{");
            self.indent = 1;
            self.line("int v0 = v & 7;");
            self.places.push("v0".to_owned());
            for _ in 0..2 {
                self.statement(0);
            }
            self.line(result);
            self.indent = 0;
            self.line("}");
        }
    }

    fn entry(&mut self, number: u64) -> Vec<&'static str> {
        let kinds: Vec<&str> =
            (0..1 + self.random.below(3)).map(|_| self.random.pick(&["Box &", "Box &", "int "])).collect();
        let list: Vec<String> = kinds.iter().enumerate().map(|(at, kind)| format!("{kind}x{at}")).collect();
        self.objects = (0..kinds.len()).filter(|&at| kinds[at] != "int ").map(|at| format!("x{at}")).collect();
        self.places = ["s0", "g0", "v0", "v1"].map(str::to_owned).into();
        let opened: Vec<String> = self.objects.iter().map(|object| format!("{object}.open")).collect();
        self.places.extend(opened);
        self.line(&format!("int f{number}({})", list.join(", ")));
        self.line("{");
        self.indent = 1;
        self.line("int v0 = 1, v1 = 0;");
        for _ in 0..3 {
            self.statement(0);
        }
        self.line("return (v0 & 255) + (v1 & 255);");
        self.indent = 0;
        self.line("}");
        kinds
    }

    fn statement(&mut self, depth: u64) {
        match self.random.below(if depth < 2 { 7 } else { 4 }) {
            0 | 1 => {
                let (place, value) = (self.place(), self.value());
                self.line(&format!("{place} = {value};"));
            }
            2 | 3 => self.watched(),
            4 | 5 => {
                let (value, operator) = (self.variable(), self.random.pick(&["==", "!=", "<", ">"]));
                let limit = self.random.below(4);
                self.line(&format!("if ({OPEN}{value} {operator} {limit}{CLOSE}) {{"));
                self.indent += 1;
                self.statement(depth + 1);
                self.indent -= 1;
                self.line("}");
            }
            _ => {
                let event = self.call_outside();
                self.line(&format!("try {{ {event} }} catch (int caught) {{ if ({OPEN}caught == 3{CLOSE}) s0 = 2; }}"));
            }
        }
    }

    fn place(&mut self) -> String {
        self.places[self.random.below(self.places.len() as u64) as usize].clone()
    }

    fn value(&mut self) -> String {
        if self.random.below(4) == 0 { self.random.below(4).to_string() } else { self.variable() }
    }

    fn variable(&mut self) -> String {
        let object = self.object();
        match (self.random.below(4), object) {
            (0, Some(object)) => format!("{object}.value()"),
            (1, Some(object)) => format!("{object}.inner()"),
            (2, _) => format!("({} & 3)", self.place()),
            _ => self.place(),
        }
    }

    fn object(&mut self) -> Option<String> {
        (!self.objects.is_empty()).then(|| self.objects[self.random.below(self.objects.len() as u64) as usize].clone())
    }

    fn event(&mut self) -> String {
        let value = self.random.below(5);
        match (self.random.below(4), self.object()) {
            (0, Some(object)) => format!("{object}.set({value});"),
            (1, Some(object)) => format!("g0 = {object}.turn({value});"),
            _ => self.call_outside(),
        }
    }

    /// A call that may throw. Behind a try statement that cannot, clang counts nothing for llvm-cov.
    fn call_outside(&mut self) -> String {
        match (self.random.below(3), self.object()) {
            (0, Some(object)) => format!("touch({object});"),
            (1, _) => "s0 = get() & 3;".to_owned(),
            _ => "note();".to_owned(),
        }
    }

    /// Does something change that this unit does not write?
    fn watched(&mut self) {
        let (value, event) = (self.variable(), self.event());
        self.names += 1;
        let number = self.names;
        self.line(&format!("int w{number} = {value};"));
        self.line(&event);
        self.line(&format!("if ({OPEN}{value} != w{number}{CLOSE}) s0 = {};", number & 3));
    }
}

fn environment(entries: &[Vec<&str>], peer: bool, poke: bool) -> String {
    let mut text = String::from("#define ENVIRONMENT\n#include \"log.h\"\n#include \"unit.h\"\n");
    text +=
        "#include <climits>\n#include <cstdint>\n#include <cstdio>\n#include <sys/resource.h>\n#include <sys/wait.h>\n";
    let _ = writeln!(text, "enum {{ ENTRIES = {} }};", entries.len());
    for (number, capability) in Capability::ALL.iter().enumerate() {
        let _ = writeln!(text, "enum {{ {capability:?} = {number} }};");
    }
    for (number, kinds) in entries.iter().enumerate() {
        let _ = writeln!(text, "int f{number}({});", kinds.join(", "));
    }
    text += BEFORE;
    let writes = |on: bool| {
        if on {
            "b.a = number(); if (below(2)) b.p = number(); if (below(2)) Box::made = number();"
        } else {
            "(void)b;"
        }
    };
    let _ = writeln!(text, "class Peer {{ public: static void write(Box &b) {{ {} }} }};", writes(peer));
    let _ = writeln!(text, "void poke(Box &b) {{ {} }}", writes(poke));
    text += AFTER;
    text += "static void enter(unsigned which)\n{\n    switch (which) {\n";
    for (number, kinds) in entries.iter().enumerate() {
        let given: Vec<&str> = kinds.iter().map(|kind| if *kind == "int " { "number()" } else { "box()" }).collect();
        let _ = writeln!(text, "    case {number}: f{number}({}); break;", given.join(", "));
    }
    text += "    }\n}\n";
    text += CALLING;
    text += SESSIONS;
    text
}

const BEFORE: &str = r#"
static unsigned capability, depth;
static unsigned long state;
static unsigned below(unsigned limit)
{
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return (unsigned)(state >> 20) % limit;
}
static int number()
{
    static const int numbers[] = { -1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 100, INT_MIN, INT_MAX };
    return numbers[below(below(4) ? 9 : sizeof numbers / sizeof *numbers)];
}
"#;

const AFTER: &str = r#"
class Derived : public Box {
public:
    int turn(int v) override
    {
        if (capability != DerivedOverride) return Box::turn(v);
        if (below(2)) open = number();
        if (below(2)) p = number();
        return number();
    }
    void write() { p = number(); }
};
static Box *last;
/* What any code may do with an object that it has. */
static void use(Box &b)
{
    if (below(3) == 0) b.set(number());
    if (below(3) == 0) b.open = number();
    if (below(4) == 0) b.turn(number());
    if (capability == FriendsWrite && below(2)) below(2) ? Peer::write(b) : poke(b);
    if (capability == DerivedWrite && below(2)) static_cast<Derived &>(b).write();
}
static Box &box()
{
    if (capability == SharesInputs && last && below(2)) return *last;
    int derived = capability == DerivedWrite || capability == DerivedOverride;
    Box *made = derived ? new Derived : new Box;
    for (unsigned times = below(4); times > 0; times--) use(*made);
    return *(last = made);
}
"#;

const CALLING: &str = r#"
static void call(unsigned which)
{
    if (logged_calls < 64) logged_calls = logged_calls ? logged_calls << 1 : 1;
    depth++;
    try { enter(which); } catch (int) { }
    depth--;
}
static void act()
{
    if (capability == WritesGlobals && below(3) == 0) g0 = number();
    if (capability == CallsIn && depth < 3 && below(3) == 0) call(below(ENTRIES));
    if (capability == Throws && depth > 0 && below(4) == 0) throw number();
}
int get() { act(); return number(); }
void note() { act(); }
void touch(Box &b) { use(b); act(); }
static void take_planted() {}
static void before_a_call()
{
    if (below(2)) g0 = number();
}
"#;
