//! Random C functions over integers of all widths, without undefined behaviour: sums and products are taken in unsigned
//! types or of operands too narrow to overflow, divisors are positive, shift distances and indices are masked, loops end.

use std::fmt::Write;

use branchwise_generate::Random;

const TYPES: [&str; 8] =
    ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long"];
const CONSTANTS: [&str; 12] = ["0", "1", "2", "3", "7", "10", "31", "100", "255", "1000", "40000", "123456789"];
const LOCALS: u64 = 3;

/// A function `f` of these parameters and an array `out[4]`, which it writes.
#[derive(Debug)]
pub struct Program {
    pub parameters: Vec<&'static str>,
    pub text: String,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Size {
    /// Two parameters of 8 bits, and paths few enough to explore them all.
    Small,
    /// Parameters of any width, and more paths than anybody explores.
    Large,
}

/// The same seed gives the same program.
pub fn program(seed: u64, size: Size) -> Program {
    let mut random = Random::new(seed);
    let (count, types) = match size {
        Size::Small => (2, &TYPES[..2]),
        Size::Large => (2 + random.below(2), &TYPES[..]),
    };
    let parameters: Vec<&str> = (0..count).map(|_| random.pick(types)).collect();
    let mut writer =
        Writer { random, size, parameters: count, text: String::new(), indent: 1, loops: 0, open_loops: 0 };
    writer.function(&parameters);
    Program { parameters, text: writer.text }
}

impl Size {
    fn deepest_statement(self) -> u32 {
        if self == Size::Small { 2 } else { 3 }
    }

    fn deepest_expression(self) -> u32 {
        if self == Size::Small { 2 } else { 3 }
    }
}

struct Writer {
    random: Random,
    size: Size,
    parameters: u64,
    text: String,
    indent: usize,
    /// How many loop variables there are so far.
    loops: u64,
    open_loops: u64,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 4 * self.indent);
    }

    fn function(&mut self, parameters: &[&str]) {
        let list: Vec<String> = parameters.iter().enumerate().map(|(at, ty)| format!("{ty} p{at}")).collect();
        let _ = writeln!(self.text, "struct s {{ short a; unsigned char b; long c; }};");
        let _ = writeln!(self.text, "long f({}, int out[4]) {{", list.join(", "));
        for local in 0..LOCALS {
            let (ty, value) = (self.random.pick(&TYPES), self.expression(2));
            // A local may only look at earlier ones, so its first value is made of parameters.
            let value = value.replace('v', "p");
            self.line(&format!("{ty} v{local} = ({ty}){};", within(&value, self.parameters)));
        }
        self.line("int a[8] = { 1, -2, 30, 4, 0, 1000, -70000, 8 };");
        self.line("struct s s = { 3, 200, -5 };");
        for _ in 0..4 {
            self.statement(0);
        }
        self.line("out[0] = (int)v0; out[1] = a[(unsigned)v1 & 7]; out[2] = s.a ^ s.b; out[3] = (int)s.c;");
        self.line(
            "return (long)((unsigned long)v0 * 31 + (unsigned long)v1 * 7 + (unsigned long)v2 + (unsigned)a[2]);",
        );
        self.text.push_str("}\n");
    }

    fn statement(&mut self, depth: u32) {
        match self.random.below(if depth < self.size.deepest_statement() { 8 } else { 4 }) {
            0 | 1 => self.assign_local(),
            2 => self.assign_element(),
            3 => self.assign_member(),
            4 | 5 => self.if_statement(depth),
            6 if self.open_loops == 0 => self.loop_statement(depth),
            _ => self.switch_statement(depth),
        }
    }

    fn assign_local(&mut self) {
        let (local, value) = (self.random.below(LOCALS), self.expression(0));
        self.line(&format!("v{local} = (__typeof__(v{local}))({value});"));
    }

    fn assign_element(&mut self) {
        let (index, value) = (self.expression(1), self.expression(1));
        self.line(&format!("a[(unsigned)({index}) & 7] = (int)({value});"));
    }

    fn assign_member(&mut self) {
        let (member, ty) = self.random.pick(&[("a", "short"), ("b", "unsigned char"), ("c", "long")]);
        let value = self.expression(0);
        self.line(&format!("s.{member} = ({ty})({value});"));
    }

    fn if_statement(&mut self, depth: u32) {
        let condition = self.condition(0);
        self.line(&format!("if ({condition}) {{"));
        self.block(depth);
        if self.random.below(2) == 0 {
            self.line("} else {");
            self.block(depth);
        }
        self.line("}");
    }

    fn block(&mut self, depth: u32) {
        self.indent += 1;
        for _ in 0..1 + self.random.below(2) {
            self.statement(depth + 1);
        }
        self.indent -= 1;
    }

    fn loop_statement(&mut self, depth: u32) {
        let (variable, limit) = (self.loops, self.expression(1));
        self.loops += 1;
        self.open_loops += 1;
        self.line(&format!(
            "for (unsigned i{variable} = 0; i{variable} < ((unsigned)({limit}) & 3); i{variable}++) {{"
        ));
        self.block(depth);
        if self.random.below(2) == 0 {
            let (condition, jump) = (self.condition(1), self.random.pick(&["break", "continue"]));
            self.indent += 1;
            self.line(&format!("if ({condition})"));
            self.line(&format!("    {jump};"));
            self.line("v0 ^= 5;");
            self.indent -= 1;
        }
        self.line("}");
        self.open_loops -= 1;
    }

    fn switch_statement(&mut self, depth: u32) {
        let value = self.expression(1);
        self.line(&format!("switch ((int)({value}) % 5) {{"));
        let mut labels = vec!["case -4:", "case 0:", "case 1:", "case 3:", "case 4:", "default:"];
        for _ in 0..2 + self.random.below(3) {
            let at = self.random.below(labels.len() as u64) as usize;
            self.line(labels.remove(at));
            self.block(depth);
            if self.random.below(3) > 0 {
                self.line("    break;");
            }
        }
        self.line("}");
    }

    fn condition(&mut self, depth: u32) -> String {
        if depth < 2 && self.random.below(3) == 0 {
            let (left, right) = (self.condition(depth + 1), self.condition(depth + 1));
            let operator = self.random.pick(&["&&", "||"]);
            let not = self.random.pick(&["", "", "!"]);
            return format!("{not}(({left}) {operator} ({right}))");
        }
        let (left, right) = (self.expression(1), self.expression(2));
        let operator = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        format!("({left}) {operator} ({right})")
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth >= self.size.deepest_expression() || self.random.below(4) == 0 {
            return self.leaf();
        }
        let (left, right) = (self.expression(depth + 1), self.expression(depth + 1));
        match self.random.below(10) {
            0 => format!("((unsigned long)({left}) {} (unsigned long)({right}))", self.random.pick(&["+", "-"])),
            1 => format!("((short)({left}) {} (short)({right}))", self.random.pick(&["+", "-"])),
            2 => format!("((signed char)({left}) * (unsigned char)({right}))"),
            3 => format!("(({left}) {} ({right}))", self.random.pick(&["&", "|", "^"])),
            4 => format!("((short)({left}) {} (((unsigned char)({right}) & 7) + 1))", self.random.pick(&["/", "%"])),
            5 => format!("((unsigned)({left}) << ((unsigned)({right}) & 31))"),
            6 => format!("(({left}) >> ((unsigned)({right}) & 7))"),
            7 => format!("(({}) ? ({left}) : ({right}))", self.condition(2)),
            8 => format!("(({}) + ({}({left}) {} ({right})))", self.condition(1), self.random.pick(&["~", "!"]), "&"),
            _ => format!("(({})({left}))", self.random.pick(&TYPES)),
        }
    }

    fn leaf(&mut self) -> String {
        match self.random.below(5) {
            0 => self.random.pick(&CONSTANTS).to_string(),
            1 | 2 => format!("p{}", self.random.below(self.parameters)),
            _ => format!("v{}", self.random.below(LOCALS)),
        }
    }
}

/// Replaces parameters that do not exist by the first.
fn within(expression: &str, parameters: u64) -> String {
    (parameters..LOCALS).fold(expression.to_string(), |text, missing| text.replace(&format!("p{missing}"), "p0"))
}
