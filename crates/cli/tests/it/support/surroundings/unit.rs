//! Random C units with surroundings: statics with several writers, callees without bodies, pointers that may overlap, callbacks,
//! a weak definition, output and allocations that may fail. Everything that they do is defined, whatever a legal environment does.

use branchwise_generate::Random;

use super::environment::{Capability, environment};

/// Stands where the text that logs outcomes has `L(` and `)`.
pub(super) const OPEN: char = '§';
pub(super) const CLOSE: char = '¤';

/// A parameter of an entry function.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Parameter {
    Number,
    /// `int *`
    Pointer,
    /// `struct node *`
    Node,
}

/// A function without a body.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Callee {
    /// `int get(void)`
    Get,
    /// `void fill(int *p)`
    Fill,
    /// `void visit(struct node *n)`
    Visit,
    /// `int look(const int *p)`
    Look,
    /// `void each(void (*callback)(int))`
    Each,
    /// `int *borrow(int *p)`
    Borrow,
    /// `void note(void)`
    Note,
}

impl Callee {
    pub const ALL: [Callee; 7] =
        [Callee::Get, Callee::Fill, Callee::Visit, Callee::Look, Callee::Each, Callee::Borrow, Callee::Note];

    pub fn declaration(self) -> &'static str {
        match self {
            Callee::Get => "int get(void)",
            Callee::Fill => "void fill(int *p)",
            Callee::Visit => "void visit(struct node *n)",
            Callee::Look => "int look(const int *p)",
            Callee::Each => "void each(void (*callback)(int))",
            Callee::Borrow => "int *borrow(int *p)",
            Callee::Note => "void note(void)",
        }
    }
}

/// A unit, as the tool reads it and as it logs its outcomes, with the same lines; and the file of its environments.
#[derive(Debug)]
pub struct Unit {
    pub plain: String,
    pub logged: String,
    /// What the unit and the environment include, without conditions.
    pub header: String,
    pub environment: String,
    /// What an environment can do to it.
    pub capabilities: Vec<Capability>,
    /// Of its file.
    pub extension: &'static str,
}

/// The same seed gives the same C unit.
pub fn unit(seed: u64) -> Unit {
    let mut random = Random::new(seed);
    let mut callees: Vec<Callee> = Callee::ALL.into_iter().filter(|_| random.below(3) == 0).collect();
    if callees.is_empty() {
        callees.push(random.pick(&Callee::ALL));
    }
    let mut writer =
        Writer { random, text: String::new(), indent: 0, callees, parameters: Vec::new(), locals: 0, loops: 0 };
    writer.head();
    let count = 2 + writer.random.below(2);
    let entries: Vec<Vec<Parameter>> = (0..count).map(|number| writer.entry(number)).collect();
    let witness = writer.planted();
    let (plain, logged) = texts(&writer.text);
    let callees = &writer.callees;
    Unit {
        plain,
        logged,
        header: HEADER.to_owned(),
        environment: environment(&entries, callees, &witness),
        capabilities: Capability::ALL.into_iter().filter(|capability| capability.fits(callees)).collect(),
        extension: "c",
    }
}

const HEADER: &str = "struct node { int a; int b; int *q; struct node *next; };\n";

/// Returns the text as the tool reads it, and the one that logs.
pub(super) fn texts(text: &str) -> (String, String) {
    let logged = text.replace(OPEN, "L(").replace(CLOSE, ")").replace("malloc(", "environment_malloc(");
    (text.replace([OPEN, CLOSE], "").replace("#include \"log.h\"", "/* logs nothing */"), logged)
}

struct Writer {
    random: Random,
    text: String,
    indent: usize,
    callees: Vec<Callee>,
    parameters: Vec<Parameter>,
    locals: u64,
    loops: u64,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += line;
        self.text.push('\n');
    }

    fn head(&mut self) {
        self.line("#include \"log.h\"");
        self.line("#include <stdio.h>");
        self.line("#include <stdlib.h>");
        self.line("#include \"unit.h\"");
        self.line("static int s0, s1;");
        self.line("int g0;");
        self.line("extern int x0;");
        for callee in self.callees.clone() {
            self.line(&format!("{};", callee.declaration()));
        }
        let (even, odd) = (self.random.below(3), self.random.below(3));
        self.line(&format!("__attribute__((weak)) int weak(int a) {{ return §a & 1¤ ? {odd} : {even}; }}"));
        let set = self.random.pick(&["s0 = v & 3;", "s1 = v & 3;", "s1 = 2;", "g0 = v;"]);
        self.line(&format!("static void callback(int v) {{ {set} (void)v; }}"));
        self.line("static void (*use_callback)(int) = callback;");
    }

    fn entry(&mut self, number: u64) -> Vec<Parameter> {
        let count = self.random.below(3);
        let kinds = [Parameter::Number, Parameter::Number, Parameter::Pointer, Parameter::Pointer, Parameter::Node];
        self.parameters = (0..count).map(|_| self.random.pick(&kinds)).collect();
        (self.locals, self.loops) = (0, 0);
        let declared = |(at, kind): (usize, &Parameter)| match kind {
            Parameter::Number => format!("int a{at}"),
            Parameter::Pointer => format!("int *p{at}"),
            Parameter::Node => format!("struct node *n{at}"),
        };
        let list: Vec<String> = self.parameters.iter().enumerate().map(declared).collect();
        let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
        self.line(&format!("int f{number}({list}) {{"));
        self.indent += 1;
        for (at, kind) in self.parameters.clone().into_iter().enumerate() {
            match kind {
                Parameter::Number => {}
                Parameter::Pointer => self.line(&format!("if (§p{at} == NULL¤) return -1;")),
                Parameter::Node => {
                    self.line(&format!("if (§n{at} == NULL¤) return -2;"));
                    self.line(&format!("if (§n{at}->q == NULL¤) return -3;"));
                    self.line(&format!("if (§n{at}->next == NULL¤) return -4;"));
                    self.line(&format!("if (§n{at}->next->q == NULL¤) return -5;"));
                }
            }
        }
        self.line("int v0 = 1, v1 = 0;");
        for _ in 0..2 + self.random.below(3) {
            self.statement(0);
        }
        self.line("return (v0 & 255) + (v1 & 255);");
        self.indent -= 1;
        self.line("}");
        std::mem::take(&mut self.parameters)
    }

    fn statement(&mut self, depth: u64) {
        match self.random.below(if depth < 2 { 10 } else { 5 }) {
            0 | 1 => self.assignment(),
            2 => self.event(),
            3 | 4 => self.watched_event(),
            5 => self.flag(),
            6 | 7 => self.conditional(depth),
            8 => self.service(),
            _ => self.repetition(depth),
        }
    }

    /// Plants an outcome that one sequence of calls takes, which hardly anybody finds by chance. Returns the calls.
    fn planted(&mut self) -> String {
        let (rest, number) = (self.random.below(1000), self.random.below(1 << 30));
        let (stages, thousand) = (1 + self.random.below(3), self.random.below(1000));
        self.line("static unsigned stage;");
        self.line(&format!("void advance(int a) {{ if (§(unsigned)a % 1000 == {rest}¤) stage++; else stage = 0; }}"));
        self.line("int planted(int a)");
        self.line("{");
        self.line(&format!("    if (§stage == {stages}¤)"));
        self.line(&format!("        if (§a == {number}¤) return 1;"));
        self.line("    return 0;");
        self.line("}");
        let advance = format!("advance({}); ", thousand * 1000 + rest);
        format!("{}planted({number});", advance.repeat(stages as usize))
    }

    /// Something of type `int` that can be assigned to.
    fn place(&mut self) -> String {
        let mut places =
            vec!["s0", "s1", "s0", "s1", "g0", "x0", "v0", "v1"].into_iter().map(str::to_owned).collect::<Vec<_>>();
        for (at, kind) in self.parameters.iter().enumerate() {
            match kind {
                Parameter::Number => {}
                Parameter::Pointer => places.extend([format!("*p{at}"), format!("*p{at}")]),
                Parameter::Node => places.extend([
                    format!("n{at}->a"),
                    format!("n{at}->b"),
                    format!("*n{at}->q"),
                    format!("*n{at}->next->q"),
                ]),
            }
        }
        places.swap_remove(self.random.below(places.len() as u64) as usize)
    }

    fn value(&mut self) -> String {
        let numbers: Vec<usize> =
            (0..self.parameters.len()).filter(|&at| self.parameters[at] == Parameter::Number).collect();
        match self.random.below(6) {
            0 | 1 => self.random.below(4).to_string(),
            2 if !numbers.is_empty() => format!("a{}", self.random.pick(&numbers)),
            3 => {
                let place = self.place();
                format!("({place} & {})", self.random.pick(&[1, 3, 7]))
            }
            4 => {
                let (one, other) = (self.place(), self.place());
                format!("({one} & 3) + ({other} & 1)")
            }
            _ => self.place(),
        }
    }

    fn condition(&mut self) -> String {
        let (place, operator) = (self.place(), self.random.pick(&["==", "!=", ">", "<", "=="]));
        match self.random.below(4) {
            0 | 1 => format!("§{place} {operator} {}¤", self.random.below(4)),
            2 => format!("§{place} {operator} {}¤", self.place()),
            _ => format!("§(weak({}) & 3) {operator} {}¤", self.random.below(4), self.random.below(4)),
        }
    }

    fn assignment(&mut self) {
        let (place, value) = (self.place(), self.value());
        self.line(&format!("{place} = {value};"));
    }

    /// Something that the environment takes part in.
    fn event(&mut self) {
        let event = self.call();
        self.line(&event);
    }

    fn call(&mut self) -> String {
        let callee = self.random.pick(&self.callees.clone());
        let node = self.parameters.iter().position(|kind| *kind == Parameter::Node);
        match callee {
            Callee::Get => format!("{} = get();", self.random.pick(&["v0", "v1", "s0"])),
            Callee::Fill => format!("fill(&{});", self.place()),
            Callee::Visit => match node {
                Some(at) => format!("visit(n{at});"),
                None => format!("struct node k{0} = {{ 1, 2, &v1, NULL }}; visit(&k{0}); v0 = k{0}.a;", self.fresh()),
            },
            Callee::Look => format!("v1 = look(&{});", self.place()),
            Callee::Each => format!("each({});", self.random.pick(&["callback", "use_callback"])),
            Callee::Borrow => {
                let (number, place) = (self.fresh(), self.place());
                format!("int *b{number} = borrow(&{place}); *b{number} = {};", self.random.below(4))
            }
            Callee::Note => "note();".to_owned(),
        }
    }

    fn fresh(&mut self) -> u64 {
        self.locals += 1;
        self.locals
    }

    /// Does a place that nobody in the unit writes change all the same?
    fn watched_event(&mut self) {
        let (place, event, number) = (self.place(), self.call(), self.fresh());
        self.line(&format!("int w{number} = {place};"));
        self.line(&event);
        self.line(&format!("if (§{place} != w{number}¤) v1 = {number};"));
    }

    /// A static that is set while something else runs.
    fn flag(&mut self) {
        let (flag, set) = (self.random.pick(&["s0", "s1"]), 1 + self.random.below(3));
        let event = self.call();
        self.line(&format!("if (§{flag} == {set}¤) return 3;"));
        self.line(&format!("int r{0} = {flag}; {flag} = {set};", self.locals + 1));
        let number = self.fresh();
        self.line(&event);
        self.line(&format!("{flag} = r{number};"));
    }

    fn conditional(&mut self, depth: u64) {
        let condition = self.condition();
        self.line(&format!("if ({condition}) {{"));
        self.block(depth);
        if self.random.below(3) == 0 {
            self.line("} else {");
            self.block(depth);
        }
        self.line("}");
    }

    fn block(&mut self, depth: u64) {
        self.indent += 1;
        for _ in 0..1 + self.random.below(2) {
            self.statement(depth + 1);
        }
        self.indent -= 1;
    }

    /// A service of the library that may fail.
    fn service(&mut self) {
        let number = self.fresh();
        match self.random.below(3) {
            0 => self.line("if (§putchar('.') == EOF¤) v1 = 5;"),
            1 => self.line("if (§fflush(stdout) != 0¤) v0 = 6;"),
            _ => {
                self.line(&format!("int *m{number} = malloc(sizeof(int));"));
                self.line(&format!("if (§m{number} == NULL¤) return 9;"));
                let value = self.random.below(4);
                self.line(&format!("*m{number} = {value}; v1 = *m{number}; free(m{number});"));
            }
        }
    }

    fn repetition(&mut self, depth: u64) {
        let (number, limit) = (self.loops, self.random.pick(&["2", "(v0 & 3)", "(s0 & 1)"]));
        self.loops += 1;
        self.line(&format!("for (int i{number} = 0; §i{number} < {limit}¤; i{number}++) {{"));
        self.block(depth + 1);
        self.line("}");
    }
}
